// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Client side: from the name of a host to a connection.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cause.h"
#include "cli.h"
#include "peer.h"
#include "peer_hello.h"
#include "peer_stop.h"
#include "url.h"

/* An orderly disconnect takes at most a second, and longer on a busy machine. */
#define END_NS UINT64_C(3000000000)

/* A limit that is reached has a name. */
static void find_cause(struct cause *cause, const struct peer *peer, int err)
{
	if (err == -EDQUOT)
		cause_of_quota(cause, peer->session);
	else
		cause_of(cause, peer->address, err);
}

static void complain_of(const struct peer *peer, const char *what, int err)
{
	struct cause cause;

	if (err != -EDQUOT) {
		complain_request(what, err);
		return;
	}
	find_cause(&cause, peer, err);
	complain_cause(&cause, "cannot %s", what);
}

/* Wait until the current step is done or times out.  -EINTR if a stop is requested. */
static int wait_for(struct peer *peer)
{
	uint64_t deadline = clock_ns() + peer->options->timeout;
	int err;

	do {
		if (stop_wanted())
			return -EINTR;
		err = krdma_conn_wait(peer->conn, stop_slice(deadline), NULL);
	} while (err == -EINTR || (err == -ETIMEDOUT && clock_ns() < deadline &&
				   krdma_conn_await_closed(peer->conn, 0)));
	return err;
}

static void explain_way(const struct peer *peer, int err)
{
	const char *source = peer->options->source;
	struct cause cause;

	if (err == -EOPNOTSUPP && peer->options->lane) {
		complain("cannot reach %s over a lane: the loaded module has no lanes\n"
			 "'krdma info' shows its version; or leave out the option for lanes",
			 peer->name);
		return;
	}
	switch (err) {
	case -EINTR:
		break;
	case -EADDRNOTAVAIL:
		complain("cannot reach %s from %s: this is not an address of an RDMA device here\n"
			 "See the devices and their interfaces with: krdma dev", peer->name,
			 source ? source : "here");
		break;
	default:
		find_cause(&cause, peer, err);
		complain_cause(&cause, "cannot reach %s", peer->name);
		break;
	}
}

/* Resolve the address and the route to peer->remote.  Prints nothing. */
static int resolve(struct peer *peer)
{
	struct krdma_conn_resolve_args options = { .size = sizeof(options) };
	int err;

	if (peer->options->lane)
		err = krdma_conn_create_lane(peer->session, &peer->conn);
	else
		err = krdma_conn_create(peer->session, &peer->conn);

	if (err)
		return err;
	if (peer->source.ss_family) {
		options.flags = KRDMA_RESOLVE_LOCAL;
		memcpy(&options.local, &peer->source, sizeof(options.local));
	}
	/* The kernel's timeout applies to each of two steps; that of wait_for() to both. */
	err = krdma_conn_resolve(peer->conn, (const struct sockaddr *)&peer->remote, &options);
	return err ? err : wait_for(peer);
}

static int prepare_conn(struct peer *peer)
{
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options),
		.send_depth = peer->options->send_depth,
		.recv_depth = peer->options->recv_depth,
	};
	struct krdma_device_query_args device;
	struct krdma_conn_query_args query;
	int err = krdma_conn_create_qp(peer->conn, peer->ring, NULL, NULL, &options);

	if (!err)
		err = krdma_conn_query(peer->conn, &query, sizeof(query));
	if (err == -EINVAL)
		complain("cannot create the QP: the device does not allow %u operations in flight\n"
			 "See its limits with: krdma -d dev",
			 peer->options->send_depth);
	else if (err)
		complain_of(peer, "create the QP", err);
	if (err)
		return err;
	peer->device_id = query.device_id;
	peer->trunk = query.kind == KRDMA_CONN_LANE ? query.trunk : 0;
	/* Only used in messages; the device may have been removed already. */
	if (!krdma_device_query(peer->session, query.device_id, &device, sizeof(device)))
		printable(peer->device, sizeof(peer->device), device.name, KRDMA_NAME_MAX);
	return 0;
}

int peer_begin(struct peer *peer)
{
	int err = resolve(peer);

	if (err) {
		explain_way(peer, err);
		return err;
	}
	return prepare_conn(peer);
}

/* Set peer->name to the host and its address, or to one of both if they are equal. */
static void set_name(struct peer *peer)
{
	address_text(&peer->remote, false, peer->address);
	if (!strcmp(peer->options->host, peer->address))
		snprintf(peer->name, sizeof(peer->name), "%s", peer->address);
	else
		snprintf(peer->name, sizeof(peer->name), "%.1000s (%s)", peer->options->host,
			 peer->address);
}

static int look_up(const struct peer_options *options, int family, struct addrinfo **found)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };
	int result = getaddrinfo(options->host, NULL, &hints, found);

	if (!result)
		return 0;
	if (stop_wanted())
		return -EINTR;
	complain("cannot find the address of '%s'%s: %s\n"
		 "Check the name, or give the address of the host", options->host,
		 family == AF_INET ? " (IPv4)" : family == AF_INET6 ? " (IPv6)" : "",
		 url_error(result));
	return -ENOENT;
}

/* Use the first address with a route.  If there is none, report the error of the first one. */
static int resolve_first(struct peer *peer, const struct addrinfo *at)
{
	struct sockaddr_storage first_remote;
	int err, first = 0;

	do {
		memset(&peer->remote, 0, sizeof(peer->remote));
		memcpy(&peer->remote, at->ai_addr, at->ai_addrlen);
		address_set_port(&peer->remote, peer->options->port);
		set_name(peer);
		err = resolve(peer);
		if (!err || err == -EINTR)
			return err;
		krdma_conn_close(peer->conn);
		peer->conn = NULL;
		if (!first) {
			first = err;
			first_remote = peer->remote;
		}
		at = at->ai_next;
	} while (at);
	peer->remote = first_remote;
	set_name(peer);
	explain_way(peer, first);
	return first;
}

/* The session and the ring: new ones, or those of another peer. */
static int open_ring(struct peer *peer)
{
	const struct peer_options *options = peer->options;
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.flags = options->polled ? KRDMA_RING_POLLED : 0,
		/*
		 * What one connection more reserves: a connection that was just closed may
		 * still hold its entries when the QP of the next one is created.
		 */
		.cq_entries = ((options->connections ? options->connections : 1) + 1) *
			      (options->send_depth + options->recv_depth + KRDMA_RING_EXTRA),
		.sq_entries = options->send_depth,
	};
	int err;

	if (options->beside) {
		peer->session = options->beside->session;
		peer->ring = options->beside->ring;
		return 0;
	}
	err = open_session(&peer->session);
	if (err)
		return err;
	err = krdma_ring_create(peer->session, &ring, &peer->ring);
	if (err)
		complain_of(peer, "create a ring", err);
	return err;
}

int peer_open(struct peer *peer, const struct peer_options *options)
{
	int family = options->family, err;
	struct addrinfo *found;

	memset(peer, 0, sizeof(*peer));
	peer->options = options;
	if (options->source) {
		err = address_parse(options->source, family, &peer->source);
		if (err)
			return err;
		/* The local and the remote address have the same family. */
		family = peer->source.ss_family;
	}
	err = look_up(options, family, &found);
	if (err)
		return err;
	err = open_ring(peer);
	if (!err)
		err = resolve_first(peer, found);
	freeaddrinfo(found);
	return err ? err : prepare_conn(peer);
}

/* Get the peer's private data, cut to the size of @data; @length is 0 if there is none. */
static void peer_data(const struct peer *peer, uint8_t data[HELLO_ROOM], size_t *length)
{
	*length = HELLO_ROOM;
	if (krdma_conn_private_data(peer->conn, data, length))
		*length = 0;
	else if (*length > HELLO_ROOM)
		*length = HELLO_ROOM;
}

static void explain_refusal(const struct peer *peer)
{
	const struct peer_options *options = peer->options;
	struct hello_answer answer;
	uint8_t data[HELLO_ROOM];
	char size[SIZE_TEXT_MAX];
	struct cause cause;
	size_t length;

	peer_data(peer, data, &length);
	if (answer_decode(data, length, &answer)) {
		cause_of(&cause, peer->address, -ECONNREFUSED);
		complain("cannot connect to %s port %u: %s\n"
			 "Start the other side first, on %s: %s", peer->name, options->port,
			 cause.why, options->host, options->listener);
		return;
	}
	switch (answer.verdict) {
	case VERDICT_VERSION:
		complain("%s uses version %u of the protocol, this tool version %u\n"
			 "Install krdma of the same release on both sides", options->host,
			 answer.version, HELLO_VERSION);
		break;
	case VERDICT_MALFORMED:
	case VERDICT_SERVICE:
		complain("%s runs another service at port %u\n"
			 "Start there: %s; or give its port with --port", options->host,
			 options->port, options->listener);
		break;
	case VERDICT_LENGTH:
		complain("%s refuses messages longer than %s\n"
			 "Give a smaller size with -s, or raise the limit there: %s --max-size SIZE",
			 options->host, size_text(size, answer.limit), options->listener);
		break;
	case VERDICT_DEPTH:
		complain("%s refuses more than %u operations in flight", options->host,
			 answer.limit);
		break;
	case VERDICT_FULL:
		complain("%s has reached its limit of clients or memory\n"
			 "Try again later, or raise it there: %s --max-clients N --max-memory SIZE",
			 options->host, options->listener);
		break;
	case VERDICT_DEVICE:
		complain("the RDMA device of %s does not support this operation\n"
			 "See its capabilities there with: krdma dev",
			 options->host);
		break;
	case VERDICT_FAILED:
		complain("%s failed to serve this; see the output there", options->host);
		break;
	default:
		complain("%s refuses (reason %u)", options->host, answer.verdict);
		break;
	}
}

static void explain_connect(const struct peer *peer, int err)
{
	const struct peer_options *options = peer->options;
	struct cause cause;

	switch (err) {
	case -EINTR:
		break;
	case -ECONNREFUSED:
		explain_refusal(peer);
		break;
	case -EPIPE:
	case -ECONNRESET:
		complain("%s has disconnected while connecting; try again", peer->name);
		break;
	case -EIO:
		/* Its first message may arrive before the connection is established. */
		complain("cannot connect to %s port %u: the connection has failed at once\n"
			 "Start there: %s; or give its port with --port", peer->name,
			 options->port, options->listener);
		break;
	case -EMSGSIZE:
		complain("cannot connect to %s: the transport carries too little private data",
			 options->host);
		break;
	default:
		find_cause(&cause, peer, err);
		complain_cause(&cause, "cannot connect to %s port %u", peer->name, options->port);
		break;
	}
}

int peer_connect(struct peer *peer, const void *data, size_t length)
{
	struct krdma_conn_param_args param = {
		.size = sizeof(param),
		.flags = peer->options->plain ? KRDMA_CONN_PARAM_PLAIN : 0,
	};
	int err = krdma_conn_connect(peer->conn, &param, data, length);

	if (!err)
		err = wait_for(peer);
	if (err)
		explain_connect(peer, err);
	return err;
}

int peer_answer(struct peer *peer, uint64_t length, struct krdma_remote_mr *remote)
{
	struct hello_answer answer;
	uint8_t data[HELLO_ROOM];
	size_t given;
	int err;

	peer_data(peer, data, &given);
	err = answer_decode(data, given, &answer);
	if (!err && (answer.version != HELLO_VERSION || answer.verdict != VERDICT_WELCOME))
		err = -EPROTO;
	if (!err && remote)
		err = krdma_remote_mr_from_desc(answer.descriptor, sizeof(answer.descriptor),
						remote);
	if (!err && remote && remote->length < length)
		err = -EPROTO;
	if (err)
		complain("%s answers at port %u, but is another service\n"
			 "Start there: %s; or give its port with --port", peer->options->host,
			 peer->options->port, peer->options->listener);
	return err;
}

int peer_memory(struct peer *peer, size_t length, uint32_t access, struct krdma_mr **mr)
{
	int err = memory_alloc(peer->session, peer->device_id, peer->trunk, length, access, mr);

	if (err)
		explain_memory(peer->session, length, err);
	return err;
}

int memory_alloc(struct krdma *session, uint32_t device_id, bool lane, size_t length,
		 uint32_t access, struct krdma_mr **mr)
{
	if (lane)
		return krdma_mr_alloc_for_lanes(session, device_id, length, access,
						KRDMA_MR_REGISTER_WINDOWS, mr);
	return krdma_mr_alloc(session, device_id, length, access, mr);
}

void explain_memory(struct krdma *session, size_t length, int err)
{
	char size[SIZE_TEXT_MAX];
	struct cause cause;

	switch (err) {
	case -EPERM:
	case -ENOMEM:
		complain("cannot register %s of memory: more than this process may lock\n"
			 "See the limit with: ulimit -l; raise it as limits.conf(5) says",
			 size_text(size, length));
		break;
	case -EDQUOT:
		cause_of_quota(&cause, session);
		complain_cause(&cause, "cannot register %s of memory", size_text(size, length));
		break;
	case -EOPNOTSUPP:
		complain("cannot register memory: the device does not support this access by\n"
			 "peers, or no memory for lanes\n"
			 "See its capabilities, such as 'atomic' and 'fast_reg', with: krdma dev");
		break;
	case -EFBIG:
		complain("cannot register %s of memory: more than the RDMA device supports at once",
			 size_text(size, length));
		break;
	default:
		complain("cannot register %s of memory: %s", size_text(size, length),
			 strerror(-err));
		break;
	}
}

void peer_explain_end(struct peer *peer)
{
	const char *host = peer->options->host;
	int err = krdma_conn_await_closed(peer->conn, clock_ns() + END_NS);

	if (!err)
		err = krdma_conn_wait(peer->conn, 0, NULL);
	switch (err) {
	case -EPIPE:
	case -ECONNRESET:
		complain("%s has ended the connection", host);
		break;
	case -ETIMEDOUT:
		complain("the connection is lost: %s does not answer any more", host);
		break;
	case -ENODEV:
		complain("the connection is lost: the RDMA device %s has been removed",
			 peer->device);
		break;
	case -EIO:
		if (!peer->status)
			complain("the connection to %s is lost: the device reports no cause", host);
		else
			complain("the connection to %s has failed: %s\n"
				 "Start there: %s; or give its port with --port", host,
				 krdma_wc_status_name(peer->status), peer->options->listener);
		break;
	default:
		complain("the connection to %s is lost: %s", host, strerror(-err));
		break;
	}
}

void peer_failed(struct peer *peer, uint32_t status)
{
	/* Work requests after the one that failed are flushed. */
	if (!peer->status && status != KRDMA_WC_WR_FLUSH_ERR)
		peer->status = status;
}

/* Do not wait long for a peer that does not answer; the kernel completes the disconnect. */
void peer_end(struct peer *peer)
{
	if (!peer->conn)
		return;
	if (!krdma_conn_disconnect(peer->conn, 0))
		krdma_conn_await_closed(peer->conn, clock_ns() + END_NS);
	krdma_conn_close(peer->conn);
	peer->conn = NULL;
}

void peer_close(struct peer *peer)
{
	peer_end(peer);
	if (!peer->options || !peer->options->beside) {
		krdma_ring_close(peer->ring);
		krdma_close(peer->session);
	}
	peer->ring = NULL;
	peer->session = NULL;
}
