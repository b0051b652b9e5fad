// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Connections.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "ring.h"

int conn_adopt(int fd, uint32_t id, struct krdma_conn **conn)
{
	struct krdma_conn *new;

	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->id = id;
	*conn = new;
	return 0;
}

static int create_with(struct krdma *session, uint32_t flags, struct krdma_conn **conn)
{
	struct krdma_conn_create_args create = { .size = sizeof(create), .flags = flags };
	int err;

	if (!session || !conn)
		return -EINVAL;
	err = request_issue(session->fd, KRDMA_CONN_CREATE, &create);
	return err ? err : object_made(create.fd, conn_adopt(create.fd, create.id, conn));
}

KRDMA_PUBLIC int krdma_conn_create(struct krdma *session, struct krdma_conn **conn)
{
	return create_with(session, 0, conn);
}

KRDMA_PUBLIC int krdma_conn_create_lane(struct krdma *session, struct krdma_conn **conn)
{
	return create_with(session, KRDMA_CONN_CREATE_LANE, conn);
}

KRDMA_PUBLIC int krdma_conn_resolve(struct krdma_conn *conn, const struct sockaddr *remote,
				    const struct krdma_conn_resolve_args *options)
{
	struct krdma_conn_resolve_args resolve;
	int err;

	if (!conn)
		return -EINVAL;
	err = request_options(&resolve, sizeof(resolve), options);
	if (!err)
		err = request_address(&resolve.remote, remote);
	return err ? err : request_issue(conn->fd, KRDMA_CONN_RESOLVE, &resolve);
}

KRDMA_PUBLIC int krdma_conn_create_qp(struct krdma_conn *conn, struct krdma_ring *ring,
				      struct krdma_ring *recv_ring, struct krdma_srq *srq,
				      const struct krdma_conn_create_qp_args *options)
{
	struct krdma_conn_create_qp_args args;
	int err;

	if (!conn || !ring)
		return -EINVAL;
	err = request_options(&args, sizeof(args), options);
	if (err)
		return err;
	args.flags &= ~(__u32)(KRDMA_CREATE_QP_RECV_RING | KRDMA_CREATE_QP_SRQ);
	args.ring_fd = ring->fd;
	if (recv_ring) {
		args.flags |= KRDMA_CREATE_QP_RECV_RING;
		args.recv_ring_fd = recv_ring->fd;
	}
	if (srq) {
		args.flags |= KRDMA_CREATE_QP_SRQ;
		args.srq_fd = srq->fd;
	}
	return request_issue(conn->fd, KRDMA_CONN_CREATE_QP, &args);
}

static int agree(struct krdma_conn *conn, unsigned long request,
		 const struct krdma_conn_param_args *options, const void *data, size_t length)
{
	struct krdma_conn_param_args param;
	int err;

	if (!conn || (length && !data))
		return -EINVAL;
	if (length > UINT32_MAX)
		return -EMSGSIZE;
	err = request_options(&param, sizeof(param), options);
	if (err)
		return err;
	param.private_data = (uintptr_t)data;
	param.private_data_len = (__u32)length;
	return request_issue(conn->fd, request, &param);
}

KRDMA_PUBLIC int krdma_conn_connect(struct krdma_conn *conn,
				    const struct krdma_conn_param_args *param,
				    const void *data, size_t length)
{
	return agree(conn, KRDMA_CONN_CONNECT, param, data, length);
}

KRDMA_PUBLIC int krdma_conn_accept(struct krdma_conn *conn,
				   const struct krdma_conn_param_args *param,
				   const void *data, size_t length)
{
	return agree(conn, KRDMA_CONN_ACCEPT, param, data, length);
}

KRDMA_PUBLIC int krdma_conn_reject(struct krdma_conn *conn, const void *data, size_t length)
{
	struct krdma_conn_reject_args reject = { .size = sizeof(reject) };

	if (!conn || (length && !data))
		return -EINVAL;
	if (length > UINT32_MAX)
		return -EMSGSIZE;
	reject.private_data = (uintptr_t)data;
	reject.private_data_len = (__u32)length;
	return request_issue(conn->fd, KRDMA_CONN_REJECT, &reject);
}

KRDMA_PUBLIC int krdma_conn_disconnect(struct krdma_conn *conn, uint32_t flags)
{
	struct krdma_conn_disconnect_args disconnect = { .size = sizeof(disconnect),
							 .flags = flags };

	return conn ? request_issue(conn->fd, KRDMA_CONN_DISCONNECT, &disconnect) : -EINVAL;
}

KRDMA_PUBLIC int krdma_conn_wait(struct krdma_conn *conn, uint64_t deadline, uint32_t *state)
{
	struct krdma_conn_wait_args wait = { .size = sizeof(wait), .deadline_ns = deadline };
	int err;

	if (!conn)
		return -EINVAL;
	err = request_wait(conn->fd, KRDMA_CONN_WAIT, &wait);
	if (state && !err)
		*state = wait.state;
	return err;
}

KRDMA_PUBLIC int krdma_conn_await_closed(struct krdma_conn *conn, uint64_t deadline)
{
	int err;

	if (!conn)
		return -EINVAL;
	/* Wait only for POLLHUP: the connection is closed. POLLERR never comes without it. */
	err = request_await(conn->fd, 0, deadline);
	return err == -EAGAIN ? -EINPROGRESS : err;
}

KRDMA_PUBLIC int krdma_conn_query(struct krdma_conn *conn, struct krdma_conn_query_args *query,
				  size_t size)
{
	int err = conn ? request_prepare(query, size, KRDMA_CONN_QUERY_MIN_SIZE) : -EINVAL;

	return err ? err : request_issue(conn->fd, KRDMA_CONN_QUERY, query);
}

KRDMA_PUBLIC int krdma_conn_private_data(struct krdma_conn *conn, void *data, size_t *length)
{
	struct krdma_conn_query_args query = { .size = sizeof(query) };
	int err;

	if (!conn || !length || (*length && !data))
		return -EINVAL;
	query.private_data = (uintptr_t)data;
	query.private_data_len = *length < UINT32_MAX ? (__u32)*length : UINT32_MAX;
	err = request_issue(conn->fd, KRDMA_CONN_QUERY, &query);
	if (!err)
		*length = query.private_data_len;
	return err;
}

KRDMA_PUBLIC int krdma_conn_trunk(struct krdma_conn *conn, uint64_t *trunk)
{
	struct krdma_conn_query_args query = { .size = sizeof(query) };
	int err;

	if (!conn || !trunk)
		return -EINVAL;
	err = request_issue(conn->fd, KRDMA_CONN_QUERY, &query);
	if (!err)
		*trunk = query.kind == KRDMA_CONN_LANE ? query.trunk : 0;
	return err;
}

KRDMA_PUBLIC int krdma_conn_find_mr(struct krdma_conn *conn, const char *name, uint64_t offset,
				    uint64_t deadline, struct krdma_remote_mr *remote,
				    uint64_t *length)
{
	struct krdma_conn_find_mr_args find = {
		.size = sizeof(find),
		.deadline_ns = deadline,
		.offset = offset,
	};
	int err;

	if (!conn || !name || !*name || !remote)
		return -EINVAL;
	err = request_name(find.name, name);
	if (!err)
		err = request_wait(conn->fd, KRDMA_CONN_FIND_MR, &find);
	if (err)
		return err;
	*remote = (struct krdma_remote_mr) {
		.addr = find.remote_addr,
		.length = find.reach,
		.key = find.rkey,
		/* As in a memory descriptor, only the rights of peers. */
		.access = find.access & (KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE |
					 KRDMA_ACCESS_REMOTE_ATOMIC),
	};
	if (length)
		*length = find.length;
	return 0;
}

KRDMA_PUBLIC int krdma_conn_next_event(struct krdma_conn *conn, uint64_t deadline,
				       struct krdma_event_record *record, size_t size)
{
	if (!conn || !record || size < KRDMA_RECORD_MIN_SIZE)
		return -EINVAL;
	return request_read(conn->fd, deadline, record, size);
}

KRDMA_PUBLIC uint32_t krdma_conn_id(const struct krdma_conn *conn)
{
	return conn ? conn->id : 0;
}

KRDMA_PUBLIC int krdma_conn_fd(const struct krdma_conn *conn)
{
	return conn ? conn->fd : -EINVAL;
}

KRDMA_PUBLIC int krdma_conn_open_fd(int fd, struct krdma_conn **conn)
{
	struct krdma_conn_query_args query = { .size = sizeof(query) };
	int err;

	if (!conn)
		return -EINVAL;
	err = request_issue(fd, KRDMA_CONN_QUERY, &query);
	return err ? err : conn_adopt(fd, query.id, conn);
}

KRDMA_PUBLIC int krdma_conn_close(struct krdma_conn *conn)
{
	return conn ? object_close(conn, conn->fd) : 0;
}
