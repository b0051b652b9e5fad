// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners, connections, and pairs of connections that are connected to each
 * other within one process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pair.h"
#include "session.h"

/* How often the end that connects is looked at while its request is waited for. */
#define PAIR_LOOK_MS	1000

int address_set(struct __kernel_sockaddr_storage *address, const char *text, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
		memcpy(address, &in, sizeof(in));
	else if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1)
		memcpy(address, &in6, sizeof(in6));
	else
		return -EINVAL;
	return 0;
}

/* The port has the same offset in both address families. */
uint16_t address_port(const struct __kernel_sockaddr_storage *address)
{
	struct sockaddr_in in;

	memcpy(&in, address, sizeof(in));
	return ntohs(in.sin_port);
}

bool address_same(const struct __kernel_sockaddr_storage *one,
		  const struct __kernel_sockaddr_storage *other)
{
	return !memcmp(one, other, sizeof(*one));
}

int boot_device(int session, uint32_t *id)
{
	struct krdma_device_query_args device;
	int ret = session_named(session, BOOT_DEVICE, &device);

	*id = ret ? 0 : device.id;
	return ret;
}

/*
 * Listeners
 */

int listener_open_with(int session, const char *text, uint16_t port, uint32_t backlog,
		       uint32_t flags, int *fd, struct __kernel_sockaddr_storage *address)
{
	struct krdma_listen_args listen = { .size = sizeof(listen), .flags = flags,
					    .backlog = backlog };
	int ret;

	if (lanes_by_default)
		listen.flags |= KRDMA_LISTEN_LANES;

	*fd = -1;
	ret = address_set(&listen.address, text, port);
	if (!ret)
		ret = session_request(session, KRDMA_LISTEN, &listen);
	if (ret)
		return ret;
	*fd = listen.fd;
	if (address)
		*address = listen.address;
	return 0;
}

int listener_open(int session, const char *text, uint16_t port, uint32_t backlog, int *fd,
		  struct __kernel_sockaddr_storage *address)
{
	return listener_open_with(session, text, port, backlog, 0, fd, address);
}

int listener_next(int listener, uint64_t deadline_ns, int *fd, uint32_t *id)
{
	struct krdma_listener_next_args next = { .size = sizeof(next), .deadline_ns = deadline_ns };
	int ret = session_request(listener, KRDMA_LISTENER_NEXT, &next);

	*fd = ret ? -1 : next.fd;
	if (id)
		*id = ret ? 0 : next.id;
	return ret;
}

/*
 * Connections
 */

int conn_create_with(int session, uint32_t flags, int *fd, uint32_t *id)
{
	struct krdma_conn_create_args create = { .size = sizeof(create), .flags = flags };
	int ret;

	if (lanes_by_default)
		create.flags |= KRDMA_CONN_CREATE_LANE;
	ret = session_request(session, KRDMA_CONN_CREATE, &create);

	*fd = ret ? -1 : create.fd;
	if (id)
		*id = ret ? 0 : create.id;
	return ret;
}

int conn_create(int session, int *fd, uint32_t *id)
{
	return conn_create_with(session, 0, fd, id);
}

static int conn_resolve_with(int conn, const struct __kernel_sockaddr_storage *remote,
			     uint32_t ack_timeout)
{
	struct krdma_conn_resolve_args resolve = {
		.size = sizeof(resolve),
		.ack_timeout = ack_timeout,
		.remote = *remote,
	};

	return session_request(conn, KRDMA_CONN_RESOLVE, &resolve);
}

int conn_resolve(int conn, const struct __kernel_sockaddr_storage *remote)
{
	return conn_resolve_with(conn, remote, 0);
}

int conn_wait(int conn, uint64_t deadline_ns, uint32_t *state)
{
	struct krdma_conn_wait_args wait = {
		.size = sizeof(wait),
		.deadline_ns = deadline_ns,
		.state = UINT32_MAX,
	};
	int ret = session_request(conn, KRDMA_CONN_WAIT, &wait);

	if (state)
		*state = wait.state;
	return ret;
}

int conn_reject(int conn, const void *data, uint32_t length)
{
	struct krdma_conn_reject_args reject = {
		.size = sizeof(reject),
		.private_data = (uintptr_t)data,
		.private_data_len = length,
	};

	return session_request(conn, KRDMA_CONN_REJECT, &reject);
}

int conn_disconnect(int conn, uint32_t flags)
{
	struct krdma_conn_disconnect_args disconnect = { .size = sizeof(disconnect),
							 .flags = flags };

	return session_request(conn, KRDMA_CONN_DISCONNECT, &disconnect);
}

int conn_query(int conn, void *data, uint32_t room, struct krdma_conn_query_args *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	query->private_data = (uintptr_t)data;
	query->private_data_len = room;
	return session_request(conn, KRDMA_CONN_QUERY, query);
}

uint64_t trunk_of(int conn)
{
	struct krdma_conn_query_args query;

	if (conn_query(conn, NULL, 0, &query))
		return UINT64_MAX;
	return query.kind == KRDMA_CONN_LANE ? query.trunk : 0;
}

uint32_t conn_state(int conn)
{
	struct krdma_conn_query_args query;

	return conn_query(conn, NULL, 0, &query) ? UINT32_MAX : query.state;
}

int conn_await_closed(int conn, unsigned int ms)
{
	uint64_t deadline = deadline_in(ms);
	uint64_t end = now_ms() + ms;
	struct krdma_conn_query_args query;

	for (;;) {
		/* conn_wait() returns at once in states in which there is nothing to wait for. */
		int ret = conn_wait(conn, deadline, NULL);

		if (ret == -EBADF || ret == -ENOTTY || ret == -EINVAL)
			return ret;
		/* On an error the call returns no state, so query it. */
		ret = conn_query(conn, NULL, 0, &query);
		if (ret)
			return ret;
		if (query.state == KRDMA_CONN_CLOSED)
			return 0;
		if (now_ms() >= end)
			return -ETIMEDOUT;
		sleep_ms(1);
	}
}

int conn_event(int conn, struct krdma_event_record *record, unsigned int ms)
{
	int ready = poll_mask(conn, POLLIN, ms);
	ssize_t size;

	if (ready < 0)
		return ready;
	if (!(ready & POLLIN))
		return -ETIMEDOUT;
	size = read(conn, record, sizeof(*record));
	if (size < 0)
		return -errno;
	if (!size)
		return -ENODATA;
	return size == sizeof(*record) ? 0 : -EPROTO;
}

bool conn_was_connected(int conn)
{
	struct krdma_event_record record;
	bool connected = false;

	while (!conn_event(conn, &record, PATIENCE_MS))
		connected |= record.type == KRDMA_EVENT_ESTABLISHED;
	return connected;
}

/*
 * Ends
 */

static const struct end_options no_options;

void end_init(struct end *end, int session)
{
	memset(end, 0, sizeof(*end));
	end->session = session;
	end->conn = -1;
	end->own[0].fd = -1;
	end->own[1].fd = -1;
}

int end_rings_create(struct end *end)
{
	return ring_create(end->session, NULL, &end->own[0]);
}

static int end_rings(struct end *end, const struct end_options *options)
{
	int ret;

	end->ring = options->ring;
	if (!end->ring) {
		ret = ring_create(end->session, &options->ring_options, &end->own[0]);
		if (ret)
			return ret;
		end->ring = &end->own[0];
	}
	end->recv_ring = options->recv_ring;
	if (!end->recv_ring && options->separate) {
		ret = ring_create(end->session, &options->ring_options, &end->own[1]);
		if (ret)
			return ret;
		end->recv_ring = &end->own[1];
	}
	return 0;
}

int end_create_qp(struct end *end, const struct end_options *options)
{
	struct krdma_conn_create_qp_args args = { .size = sizeof(args) };
	int ret;

	if (!options)
		options = &no_options;
	ret = end_rings(end, options);
	if (ret)
		return ret;
	args.ring_fd = end->ring->fd;
	if (end->recv_ring) {
		args.flags |= KRDMA_CREATE_QP_RECV_RING;
		args.recv_ring_fd = end->recv_ring->fd;
	} else {
		end->recv_ring = end->ring;
	}
	if (options->srq) {
		args.flags |= KRDMA_CREATE_QP_SRQ;
		args.srq_fd = options->srq;
	}
	args.send_depth = options->send_depth;
	args.recv_depth = options->recv_depth;
	args.max_send_sge = options->max_send_sge;
	args.max_recv_sge = options->max_recv_sge;
	args.max_inline = options->max_inline;
	args.keepalive_ms = options->keepalive_ms;
	return session_request(end->conn, KRDMA_CONN_CREATE_QP, &args);
}

static int end_terms(struct end *end, const struct end_options *options, unsigned long request)
{
	struct krdma_conn_param_args param = {};

	if (options)
		param = options->param;
	param.size = sizeof(param);
	return session_request(end->conn, request, &param);
}

int end_connect(struct end *end, const struct end_options *options)
{
	return end_terms(end, options, KRDMA_CONN_CONNECT);
}

int end_accept(struct end *end, const struct end_options *options)
{
	return end_terms(end, options, KRDMA_CONN_ACCEPT);
}

int end_ask(struct end *end, int session, const struct __kernel_sockaddr_storage *address,
	    const struct end_options *options)
{
	uint32_t ack_timeout = options ? options->ack_timeout : 0;
	int ret;

	end_init(end, session);
	ret = conn_create_with(session, options ? options->create_flags : 0, &end->conn, &end->id);
	if (!ret)
		ret = conn_resolve_with(end->conn, address, ack_timeout ?: PAIR_ACK_TIMEOUT);
	if (!ret)
		ret = conn_wait(end->conn, deadline_in(PATIENCE_MS), NULL);
	if (!ret)
		ret = end_create_qp(end, options);
	return ret ? ret : end_connect(end, options);
}

void end_close(struct end *end)
{
	if (end->conn >= 0)
		close(end->conn);
	end->conn = -1;
	ring_close(&end->own[0]);
	ring_close(&end->own[1]);
}

/*
 * Pairs
 */

static const struct pair_options no_pair_options;

static int pair_sessions(struct pair *pair, const struct pair_options *options)
{
	for (int i = 0; i < 2; i++) {
		if (options->sessions[i]) {
			pair->sessions[i] = options->sessions[i];
		} else if (i && !options->two_sessions) {
			pair->sessions[1] = pair->sessions[0];
		} else {
			pair->sessions[i] = session_open(O_CLOEXEC);
			if (pair->sessions[i] < 0)
				return pair->sessions[i];
			pair->owned[i] = true;
		}
	}
	return 0;
}

int pair_begin(struct pair *pair, const struct pair_options *options)
{
	int ret;

	if (!options)
		options = &no_pair_options;
	memset(pair, 0, sizeof(*pair));
	pair->listener = -1;
	end_init(&pair->a, -1);
	end_init(&pair->b, -1);

	ret = pair_sessions(pair, options);
	if (!ret)
		ret = boot_device(pair->sessions[0], &pair->device);
	if (!ret && !options->no_listener)
		ret = listener_open_with(pair->sessions[1], options->address ?: BOOT_ADDRESS, 0, 0,
					 options->listen_flags, &pair->listener, &pair->address);
	pair->create_flags = options->a.create_flags;
	pair->a.session = pair->sessions[0];
	pair->b.session = pair->sessions[1];
	return ret;
}

int pair_resolve(struct pair *pair)
{
	int ret = conn_create_with(pair->a.session, pair->create_flags, &pair->a.conn,
				   &pair->a.id);

	if (!ret)
		ret = conn_resolve_with(pair->a.conn, &pair->address, PAIR_ACK_TIMEOUT);
	if (!ret)
		ret = conn_wait(pair->a.conn, deadline_in(PATIENCE_MS), NULL);
	return ret;
}

/*
 * Takes the request of A.  If A has ended meanwhile, as a lane does when its link is lost, there is
 * no request any more, and why A has ended says more than that none came.
 */
static int pair_take(struct pair *pair)
{
	uint64_t until = now_ms() + PATIENCE_MS;
	uint32_t state;
	int ret, error;

	do {
		ret = listener_next(pair->listener, deadline_in(PAIR_LOOK_MS), &pair->b.conn,
				    &pair->b.id);
		if (ret != -ETIMEDOUT)
			return ret;
		error = conn_wait(pair->a.conn, 0, &state);
		if (state == KRDMA_CONN_CLOSING || state == KRDMA_CONN_CLOSED) {
			printf("# the connection ended before it was accepted: %d\n", error);
			return error;
		}
	} while (now_ms() < until);
	return ret;
}

int pair_meet(struct pair *pair, const struct pair_options *options)
{
	int ret;

	if (!options)
		options = &no_pair_options;
	ret = end_create_qp(&pair->a, &options->a);
	if (!ret)
		ret = end_connect(&pair->a, &options->a);
	if (!ret)
		ret = pair_take(pair);
	return ret;
}

int pair_established(struct pair *pair)
{
	uint64_t deadline = deadline_in(PATIENCE_MS);
	int ret = conn_wait(pair->a.conn, deadline, NULL);

	return ret ? ret : conn_wait(pair->b.conn, deadline, NULL);
}

int pair_connect(struct pair *pair, const struct pair_options *options)
{
	int ret;

	if (!options)
		options = &no_pair_options;
	ret = pair_resolve(pair);
	if (!ret)
		ret = pair_meet(pair, options);
	if (!ret)
		ret = end_create_qp(&pair->b, &options->b);
	if (!ret)
		ret = end_accept(&pair->b, &options->b);
	return ret ? ret : pair_established(pair);
}

int pair_open(struct pair *pair, const struct pair_options *options)
{
	int ret = pair_begin(pair, options);

	return ret ? ret : pair_connect(pair, options);
}

void pair_close(struct pair *pair)
{
	end_close(&pair->a);
	end_close(&pair->b);
	if (pair->listener >= 0)
		close(pair->listener);
	pair->listener = -1;
	for (int i = 0; i < 2; i++) {
		if (pair->owned[i])
			close(pair->sessions[i]);
		pair->owned[i] = false;
	}
}

int pair_operate(struct pair *pair, struct krdma_sqe entry)
{
	struct krdma_cqe cqe;
	int ret = ring_submit(pair->a.ring, &entry, 1, NULL);

	if (!ret)
		ret = ring_wait(pair->a.ring, &cqe, PATIENCE_MS);
	return ret ? ret : cqe.status;
}

int pair_write(struct pair *pair, const struct mr *local, const struct mr *remote)
{
	return pair_operate(pair, sqe_remote(KRDMA_OP_WRITE, pair->a.id, 1, local, 0,
					     local->length, remote, 0));
}

int pair_read(struct pair *pair, const struct mr *local, const struct mr *remote)
{
	return pair_operate(pair, sqe_remote(KRDMA_OP_READ, pair->a.id, 2, local, 0,
					     local->length, remote, 0));
}
