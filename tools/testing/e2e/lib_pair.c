// SPDX-License-Identifier: GPL-2.0
/*
 * Two connections of libkrdma, connected to each other within one process.
 */
#include <errno.h>
#include <string.h>

#include <ring.h>

#include "lib_pair.h"

static int create_qp(struct krdma_conn *conn, struct krdma_ring *ring, struct krdma_srq *srq)
{
	struct krdma_conn_create_qp_args args = { .size = sizeof(args), .max_inline = 16 };

	return krdma_conn_create_qp(conn, ring, NULL, srq, &args);
}

static int resolved(struct krdma_conn *conn, uint32_t expected)
{
	uint32_t state;
	int err = krdma_conn_wait(conn, LIB_PATIENCE, &state);

	return err ? err : state == expected ? 0 : -EPROTO;
}

const struct krdma_conn_resolve_args lib_patient = {
	.size = sizeof(lib_patient),
	.ack_timeout = PAIR_ACK_TIMEOUT,
};

int lib_pair_ask(struct lib_pair *pair, struct krdma_ring *ring, struct krdma_conn **conn)
{
	struct sockaddr_storage address;
	int err;

	err = krdma_conn_create(pair->session, conn);
	if (!err)
		err = krdma_listener_address(pair->listener, &address);
	if (!err)
		err = krdma_conn_resolve(*conn, (struct sockaddr *)&address, &lib_patient);
	if (!err)
		err = resolved(*conn, KRDMA_CONN_RESOLVED);
	if (!err)
		err = create_qp(*conn, ring, NULL);
	if (!err)
		err = krdma_conn_connect(*conn, NULL, LIB_QUESTION, strlen(LIB_QUESTION));
	return err;
}

int lib_pair_connect(struct lib_pair *pair, const char *address)
{
	struct __kernel_sockaddr_storage at;
	int err;

	err = address_set(&at, address, 0);
	if (!err)
		err = krdma_listen(pair->session, (struct sockaddr *)&at, 0, 0, &pair->listener);
	if (!err)
		err = krdma_device_by_address(pair->session, (struct sockaddr *)&at, NULL,
					      LIB_PATIENCE, &pair->device);
	if (!err)
		err = lib_pair_ask(pair, pair->rings[0], &pair->a);
	if (!err)
		err = krdma_listener_next(pair->listener, LIB_PATIENCE, &pair->b);
	if (!err)
		err = create_qp(pair->b, pair->rings[1], pair->srq);
	if (!err)
		err = krdma_conn_accept(pair->b, NULL, LIB_ANSWER, strlen(LIB_ANSWER));
	if (!err)
		err = resolved(pair->a, KRDMA_CONN_CONNECTED);
	if (!err)
		err = resolved(pair->b, KRDMA_CONN_CONNECTED);
	return err;
}

int lib_pair_open_with(struct lib_pair *pair, struct krdma *session, const char *address,
		       const struct krdma_ring_create_args *options)
{
	int err = 0;

	memset(pair, 0, sizeof(*pair));
	pair->session = session;
	for (int i = 0; i < 2 && !err; i++)
		err = krdma_ring_create(session, options, &pair->rings[i]);
	return err ? err : lib_pair_connect(pair, address);
}

int lib_pair_open(struct lib_pair *pair, const char *address, uint32_t ring_flags)
{
	const struct krdma_ring_create_args options = { .size = sizeof(options),
						    .flags = ring_flags,
						    .cq_entries = 1024 };
	struct krdma *session;
	int err;

	memset(pair, 0, sizeof(*pair));
	err = krdma_open(&session);
	return err ? err : lib_pair_open_with(pair, session, address, &options);
}

void lib_pair_close(struct lib_pair *pair)
{
	krdma_conn_close(pair->a);
	krdma_conn_close(pair->b);
	krdma_listener_close(pair->listener);
	krdma_ring_close(pair->rings[0]);
	krdma_ring_close(pair->rings[1]);
}

void *lib_queue_ring(const struct krdma_ring *ring)
{
	return ring->header;
}

uint32_t lib_pair_access(const struct lib_pair *pair)
{
	return access_of_device(krdma_fd(pair->session), pair->device, ACCESS_ALL);
}
