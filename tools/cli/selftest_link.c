// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: sessions and connections of a check.
 */
#include <errno.h>
#include <string.h>

#include "peer_stop.h"
#include "selftest.h"

bool is_iwarp(const struct selftest *test)
{
	return test->device.transport == KRDMA_TRANSPORT_IWARP;
}

/*
 * Sessions and memory
 */

static int far_reset(struct selftest *test)
{
	struct wire_words in = { .word = { FAR_RESET } }, out;
	int err = far_call(test, &in, &out);

	if (err)
		return err;
	err = (int)(int64_t)out.word[0];
	if (err == -EADDRNOTAVAIL || err == -ENOENT)
		return check_fail(test, "the far end's address is not one of an RDMA device there");
	if (err)
		return check_fail(test, "the far end cannot listen: %s", krdma_error_name(err));
	address_set_port(&test->far_address, (uint16_t)out.word[1]);
	test->far_caps = out.word[2];
	test->far_recv_wr = wire_low(out.word[3]);
	test->far_recv_sge = wire_high(out.word[3]);
	test->far_send_wr = wire_low(out.word[4]);
	test->far_srq_wr = wire_high(out.word[4]);
	test->far_mr_size = out.word[5];
	test->far_transport = wire_high(out.word[6]);
	return 0;
}

static uint32_t all_rights(const struct selftest *test)
{
	uint32_t access = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
			  KRDMA_ACCESS_REMOTE_WRITE;

	if (test->far_caps & KRDMA_DEVICE_CAP_ATOMIC)
		access |= KRDMA_ACCESS_REMOTE_ATOMIC;
	return access;
}

/* A device may post atomics, and yet execute none of its peers: to the checks it has none. */
static int register_far_area(struct selftest *test, int *result)
{
	try(far_register(test, FAR_AREA, AREA, 0, all_rights(test), &test->far_area, result));
	if (*result != -EOPNOTSUPP || !(test->far_caps & KRDMA_DEVICE_CAP_ATOMIC))
		return 0;
	test->far_caps &= ~(uint64_t)KRDMA_DEVICE_CAP_ATOMIC;
	return far_register(test, FAR_AREA, AREA, 0, all_rights(test), &test->far_area, result);
}

int near_begin(struct selftest *test)
{
	int err, result;

	/*
	 * The far end may have died in the previous check.  A new child must have no descriptor of
	 * the session, which would outlive near_end() in it.
	 */
	try(far_start(test));
	err = krdma_open(&test->session);
	if (err)
		return check_errno(test, "open a session", err);
	try(far_reset(test));
	if (test->check->bare)
		return 0;
	err = krdma_mr_alloc(test->session, test->device.id, AREA, KRDMA_ACCESS_LOCAL_WRITE,
			     &test->area);
	if (err)
		return check_errno(test, "register memory", err);
	try(register_far_area(test, &result));
	if (result)
		return check_errno(test, "register memory at the far end", result);
	return link_open(test, &test->link, 0, NULL);
}

void near_end(struct selftest *test)
{
	link_close(&test->link);
	krdma_mr_deregister(test->area, KRDMA_DEREGISTER_LATER);
	krdma_close(test->session);
	test->area = NULL;
	test->session = NULL;
}

/*
 * Connections
 */

/* Wait until the current step is done or times out.  -EINTR if a stop is requested. */
static int await_conn(const struct selftest *test, struct krdma_conn *conn)
{
	uint64_t deadline = clock_ns() + test->settings->timeout;
	int err;

	do {
		if (stop_wanted())
			return -EINTR;
		err = krdma_conn_wait(conn, stop_slice(deadline), NULL);
	} while (err == -EINTR || (err == -ETIMEDOUT && clock_ns() < deadline &&
				   krdma_conn_await_closed(conn, 0)));
	return err;
}

static int resolve(struct selftest *test, struct link *link)
{
	struct krdma_conn_resolve_args options = { .size = sizeof(options) };
	struct krdma_conn_query_args query;
	int err = krdma_conn_create(test->session, &link->conn);

	if (err)
		return check_errno(test, "create a connection", err);
	/*
	 * With a peer of the same address family, connect from the address of the device.  To this
	 * machine there is only one route.  For another family the kernel chooses, and the device
	 * is checked below.
	 */
	if (test->settings->peer && test->far_address.ss_family == test->address.ss_family) {
		options.flags = KRDMA_RESOLVE_LOCAL;
		memcpy(&options.local, &test->address, sizeof(options.local));
	}
	err = krdma_conn_resolve(link->conn, (const struct sockaddr *)&test->far_address,
				 &options);
	if (!err)
		err = await_conn(test, link->conn);
	if (err)
		return check_errno(test, "find a route to the far end", err);
	err = krdma_conn_query(link->conn, &query, sizeof(query));
	if (err)
		return check_errno(test, "query the connection", err);
	if (query.device_id != test->device.id)
		return check_fail(test, "the route to the far end uses another device");
	return 0;
}

/* Create the ring and the QP.  Returns 0, or the error of the interface. */
static int create_qp(struct selftest *test, struct link *link, const struct link_options *options)
{
	uint32_t send_depth = options->send_depth ? options->send_depth : 64;
	uint32_t recv_depth = options->recv_depth ? options->recv_depth : 64;
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.flags = options->polled ? KRDMA_RING_POLLED : 0,
		.device_id = test->device.id,
		.sq_entries = 64,
		.cq_entries = send_depth + recv_depth + KRDMA_RING_EXTRA,
	};
	struct krdma_conn_create_qp_args args = {
		.size = sizeof(args),
		.send_depth = options->send_depth,
		.recv_depth = options->recv_depth,
		.max_send_sge = options->send_sge,
		.max_recv_sge = options->recv_sge,
		.max_inline = options->max_inline,
	};
	int err = krdma_ring_create(test->session, &ring, &link->ring);

	return err ? err : krdma_conn_create_qp(link->conn, link->ring, NULL, NULL, &args);
}

/* Check the private data with which the far end accepted: the complement of the nonce. */
static int check_answer(struct selftest *test, struct link *link, uint64_t nonce)
{
	uint8_t wanted[WIRE_PRIVATE], data[WIRE_PRIVATE];
	size_t length = sizeof(data);
	int err = krdma_conn_private_data(link->conn, data, &length);

	if (err)
		return check_errno(test, "read the private data", err);
	wire_private(wanted, nonce, 1);
	if (length != sizeof(wanted) || memcmp(data, wanted, sizeof(wanted)))
		return check_fail(test, "the far end's private data differ from those it has sent");
	return 0;
}

static int connect_link(struct selftest *test, struct link *link,
			const struct link_options *options, uint64_t nonce)
{
	struct krdma_conn_param_args param = {
		.size = sizeof(param),
		.flags = options->no_rnr ? KRDMA_CONN_PARAM_NO_RNR_RETRY : 0,
	};
	uint8_t data[WIRE_PRIVATE];
	int err;

	wire_private(data, nonce, 0);
	err = krdma_conn_connect(link->conn, &param, data, sizeof(data));
	return err ? err : await_conn(test, link->conn);
}

static int ask_far(struct selftest *test, const struct link *link,
		   const struct link_options *options, uint64_t nonce)
{
	struct wire_words in = {
		.word = {
			FAR_ACCEPT, link->far, nonce,
			wire_pair(options->send_depth ? options->send_depth : 64,
				  options->recv_depth ? options->recv_depth : 64),
			wire_pair(options->send_sge, options->recv_sge),
			options->far_flags,
		},
	};

	/* The far end's device may allow fewer SGEs. */
	if (wire_high(in.word[4]) > test->far_recv_sge)
		in.word[4] = wire_pair(options->send_sge, test->far_recv_sge);
	return far_ask(test, &in);
}

/* End the FAR_ACCEPT that waits, as the near end does not connect; discard both answers. */
static int call_off(struct selftest *test)
{
	struct wire_words nothing = { .word = { FAR_NOTHING } }, out;
	int err = far_ask(test, &nothing);

	if (!err)
		err = far_answer(test, &out);
	return err ? err : far_answer(test, &out);
}

static int take_answer(struct selftest *test, struct link *link)
{
	struct wire_words out;
	int err = far_answer(test, &out);

	if (err)
		return err;
	err = (int)(int64_t)out.word[0];
	if (err)
		return check_errno(test, "accept the connection at the far end", err);
	link->far_send_depth = wire_low(out.word[1]);
	link->far_recv_depth = wire_high(out.word[1]);
	link->far_send_sge = wire_low(out.word[2]);
	link->far_recv_sge = wire_high(out.word[2]);
	/* iWARP reports the length of private data, and krdma adds nothing to them. */
	if (!out.word[4] && !is_iwarp(test))
		return check_fail(test, "the far end does not recognize this end as krdma");
	return 0;
}

int link_try(struct selftest *test, struct link *link, unsigned int far,
	     const struct link_options *options, int *result)
{
	static const struct link_options defaults;
	uint64_t nonce = ++test->next_nonce * UINT64_C(0x9e3779b97f4a7c15) ^ test->settings->seed;
	int err;

	*result = 0;
	memset(link, 0, sizeof(*link));
	link->far = far;
	if (!options)
		options = &defaults;
	try(resolve(test, link));
	*result = create_qp(test, link, options);
	if (*result)
		return 0;
	try(ask_far(test, link, options, nonce));
	err = connect_link(test, link, options, nonce);
	*result = err;
	if (err && options->far_flags & FAR_ACCEPT_REJECT)
		return far_answer(test, &(struct wire_words){ 0 });
	if (err == -EINTR)
		return err;
	if (err)
		return call_off(test);
	try(take_answer(test, link));
	err = krdma_conn_query(link->conn, &link->is, sizeof(link->is));
	if (err)
		return check_errno(test, "query the connection", err);
	if (!link->is.peer_is_krdma && !is_iwarp(test))
		return check_fail(test, "the far end is not recognized as krdma");
	return check_answer(test, link, nonce);
}

int link_open(struct selftest *test, struct link *link, unsigned int far,
	      const struct link_options *options)
{
	int result;

	try(link_try(test, link, far, options, &result));
	return result ? check_errno(test, "connect", result) : 0;
}

void link_close(struct link *link)
{
	krdma_conn_close(link->conn);
	krdma_ring_close(link->ring);
	link->conn = NULL;
	link->ring = NULL;
}

/* Wait until the near end is closed; set *@why to its errno. */
static int await_near_end(struct selftest *test, struct link *link, int *why)
{
	uint64_t deadline = clock_ns() + test->settings->timeout;
	int err;

	do {
		if (stop_wanted())
			return -EINTR;
		err = krdma_conn_await_closed(link->conn, stop_slice(deadline));
	} while ((err == -ETIMEDOUT || err == -EINTR) && clock_ns() < deadline);
	if (err == -ETIMEDOUT)
		return check_fail(test, "the connection does not end");
	if (err)
		return check_errno(test, "wait for the end of the connection", err);
	*why = krdma_conn_wait(link->conn, 0, NULL);
	return 0;
}

int link_await_end(struct selftest *test, struct link *link, int *near, int *far)
{
	struct wire_words in = { .word = { FAR_AWAIT_CLOSED, link->far } }, out;

	try(await_near_end(test, link, near));
	try(far_call(test, &in, &out));
	if ((int)(int64_t)out.word[0] == -ETIMEDOUT)
		return check_fail(test, "the connection does not end at the far end");
	if (out.word[0])
		return check_errno(test, "wait for the end at the far end",
				   (int)(int64_t)out.word[0]);
	*far = (int)(int64_t)out.word[1];
	return 0;
}

int link_end(struct selftest *test, struct link *link)
{
	struct wire_words in = { .word = { FAR_CLOSE, link->far } }, out;
	int near = 0, far = 0, err = krdma_conn_disconnect(link->conn, 0);

	if (err)
		return check_errno(test, "disconnect", err);
	try(link_await_end(test, link, &near, &far));
	if (near != -ENOTCONN)
		return check_refused(test, "the end that disconnects", -ENOTCONN, near);
	if (far != peer_ended(test))
		return check_refused(test, "the peer of a disconnect", peer_ended(test), far);
	link_close(link);
	return far_call(test, &in, &out);
}
