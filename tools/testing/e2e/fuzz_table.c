// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's grammar: the ioctls, the meaning of their fields, and the errnos that
 * they may return, as documented in <linux/krdma.h>.
 */
#include <errno.h>

#include "fuzz.h"

#define OF(type, field, what, most) {					\
		.offset = offsetof(struct type, field),			\
		.width = sizeof(((struct type *)0)->field),		\
		.class = FUZZ_##what,					\
		.limit = (most),					\
	}
#define END	{ .width = 0 }

/* clang-format off */

const int fuzz_common_errors[] = { EFAULT, EINVAL, E2BIG, EOPNOTSUPP, ENOMEM, 0 };

const int fuzz_entry_errors[] = {
	EAGAIN, ENOENT, ENOTCONN, ENODEV, EOPNOTSUPP, EINVAL, EMSGSIZE, EOVERFLOW, EACCES,
	ERANGE, ESTALE, EXDEV, EFAULT, EIO, 0,
};

/* Errnos of ioctls that create a descriptor. */
#define NEW_FD		EMFILE, ENFILE, EDQUOT
/* Errnos of ioctls that take a descriptor. */
#define GIVEN_FD	EBADF, EPROTOTYPE, EXDEV
#define WRONG_STATE	EALREADY, EISCONN, ENOTCONN

static const struct fuzz_field info_fields[] = {
	OF(krdma_info_args, flags, RESERVED, 0),
	END,
};

static const int info_errors[] = { 0 };

static const struct fuzz_field device_query_fields[] = {
	OF(krdma_device_query_args, flags, FLAGS,
	   KRDMA_DEVICE_QUERY_NEXT | KRDMA_DEVICE_QUERY_NAME),
	OF(krdma_device_query_args, id, DEVICE, 0),
	OF(krdma_device_query_args, name, NAME, 0),
	END,
};

static const int device_query_errors[] = { ENOENT, EIO, 0 };

static const struct fuzz_field port_query_fields[] = {
	OF(krdma_port_query_args, flags, RESERVED, 0),
	OF(krdma_port_query_args, device_id, DEVICE, 0),
	OF(krdma_port_query_args, port, COUNT, 2),
	END,
};

static const int port_query_errors[] = { ENOENT, EIO, 0 };

static const struct fuzz_field device_find_fields[] = {
	OF(krdma_device_find_args, flags, FLAGS,
	   KRDMA_DEVICE_FIND_LOCAL | KRDMA_DEVICE_FIND_REMOTE),
	OF(krdma_device_find_args, deadline_ns, DEADLINE, 0),
	OF(krdma_device_find_args, reserved, RESERVED, 0),
	OF(krdma_device_find_args, local, ADDRESS_LOCAL, 0),
	OF(krdma_device_find_args, remote, ADDRESS_REMOTE, 0),
	END,
};

static const int device_find_errors[] = {
	ENOENT, EHOSTUNREACH, EAFNOSUPPORT, EDQUOT, ETIMEDOUT, EINTR, 0,
};

static const struct fuzz_field watch_fields[] = {
	OF(krdma_device_notify_args, flags, RESERVED, 0),
	END,
};

static const int watch_errors[] = { EALREADY, 0 };

static const struct fuzz_field listen_fields[] = {
	OF(krdma_listen_args, flags, FLAGS, KRDMA_LISTEN_V6ONLY | KRDMA_LISTEN_LANES),
	OF(krdma_listen_args, backlog, COUNT, 8),
	OF(krdma_listen_args, address, ADDRESS_LISTEN, 0),
	OF(krdma_listen_args, keepalive_ms, COUNT, 4000),
	OF(krdma_listen_args, request_timeout_ms, COUNT, 4000),
	END,
};

static const int listen_errors[] = {
	NEW_FD, EAFNOSUPPORT, EADDRNOTAVAIL, EADDRINUSE, EACCES, ENODEV, 0,
};

static const struct fuzz_field conn_create_fields[] = {
	OF(krdma_conn_create_args, flags, FLAGS, KRDMA_CONN_CREATE_LANE),
	END,
};

static const int conn_create_errors[] = { NEW_FD, 0 };

static const struct fuzz_field ring_create_fields[] = {
	OF(krdma_ring_create_args, flags, FLAGS, KRDMA_RING_POLLED | KRDMA_RING_VECTOR),
	OF(krdma_ring_create_args, device_id, DEVICE, 0),
	OF(krdma_ring_create_args, sq_entries, COUNT, 128),
	OF(krdma_ring_create_args, cq_entries, COUNT, 1024),
	OF(krdma_ring_create_args, vector, COUNT, 1),
	OF(krdma_ring_create_args, reserved, RESERVED, 0),
	END,
};

static const int ring_create_errors[] = { NEW_FD, ENOENT, ENODEV, EIO, 0 };

static const struct fuzz_field srq_create_fields[] = {
	OF(krdma_srq_create_args, flags, FLAGS, KRDMA_SRQ_CREATE_LANES),
	OF(krdma_srq_create_args, ring_fd, FD_QUEUE, 0),
	OF(krdma_srq_create_args, device_id, DEVICE, 0),
	OF(krdma_srq_create_args, depth, COUNT, 64),
	OF(krdma_srq_create_args, max_sge, COUNT, 3),
	END,
};

static const int srq_create_errors[] = { NEW_FD, GIVEN_FD, ENOSPC, ENOENT, ENODEV, EIO, 0 };

static const struct fuzz_field mr_register_fields[] = {
	OF(krdma_mr_register_args, flags, FLAGS,
	   KRDMA_MR_REGISTER_LANES | KRDMA_MR_REGISTER_WINDOWS),
	OF(krdma_mr_register_args, addr, ARENA, 0),
	OF(krdma_mr_register_args, length, COUNT, 32768),
	OF(krdma_mr_register_args, device_id, DEVICE, 0),
	OF(krdma_mr_register_args, access, FLAGS, 15),
	END,
};

static const int mr_register_errors[] = {
	EACCES, EPERM, EFBIG, EAGAIN, EADDRNOTAVAIL, ETIMEDOUT, ENODEV, EDQUOT, EINTR, EIO, 0,
};

static const struct fuzz_field mr_deregister_fields[] = {
	OF(krdma_mr_deregister_args, flags, FLAGS, KRDMA_DEREGISTER_LATER),
	OF(krdma_mr_deregister_args, id, MEMORY, 0),
	OF(krdma_mr_deregister_args, reserved, RESERVED, 0),
	END,
};

static const int mr_deregister_errors[] = { ENOENT, EBUSY, EINTR, 0 };

static const struct fuzz_field mr_query_fields[] = {
	OF(krdma_mr_query_args, flags, RESERVED, 0),
	OF(krdma_mr_query_args, id, MEMORY, 0),
	OF(krdma_mr_query_args, part_offset, COUNT, 4096),
	OF(krdma_mr_query_args, part_length, COUNT, 4096),
	END,
};

static const int mr_query_errors[] = { ENOENT, ERANGE, 0 };

static const struct fuzz_field mr_advise_fields[] = {
	OF(krdma_mr_advise_args, flags, RESERVED, 0),
	OF(krdma_mr_advise_args, id, MEMORY, 0),
	OF(krdma_mr_advise_args, advice, COUNT, 2),
	OF(krdma_mr_advise_args, offset, COUNT, 4096),
	OF(krdma_mr_advise_args, length, COUNT, 4096),
	END,
};

static const int mr_advise_errors[] = { ENOENT, ERANGE, EACCES, 0 };

static const struct fuzz_field mr_set_name_fields[] = {
	OF(krdma_mr_set_name_args, flags, RESERVED, 0),
	OF(krdma_mr_set_name_args, id, MEMORY, 0),
	OF(krdma_mr_set_name_args, reserved, RESERVED, 0),
	OF(krdma_mr_set_name_args, name, MR_NAME, 0),
	END,
};

static const int mr_set_name_errors[] = { ENOENT, ENODEV, EEXIST, EACCES, 0 };

static const struct fuzz_field limit_query_fields[] = {
	OF(krdma_limit_query_args, flags, FLAGS, KRDMA_LIMIT_QUERY_REFUSED),
	OF(krdma_limit_query_args, limit, COUNT, 6),
	END,
};

static const int limit_query_errors[] = { ENOENT, 0 };

static const struct fuzz_field listener_query_fields[] = {
	OF(krdma_listener_query_args, flags, RESERVED, 0),
	OF(krdma_listener_query_args, reserved, RESERVED, 0),
	END,
};

static const int listener_query_errors[] = { ENODEV, 0 };

static const struct fuzz_field listener_next_fields[] = {
	OF(krdma_listener_next_args, flags, RESERVED, 0),
	OF(krdma_listener_next_args, deadline_ns, DEADLINE, 0),
	END,
};

static const int listener_next_errors[] = { NEW_FD, EAGAIN, ENODEV, ETIMEDOUT, EINTR, 0 };

static const struct fuzz_field conns_fields[] = {
	OF(krdma_conns_args, flags, FLAGS, KRDMA_CONNS_LANES | KRDMA_CONNS_SRQ),
	OF(krdma_conns_args, entries, ARENA, 0),
	OF(krdma_conns_args, count, COUNT, 20),
	OF(krdma_conns_args, fd, FD_QUEUE, 0),
	OF(krdma_conns_args, deadline_ns, DEADLINE, 0),
	OF(krdma_conns_args, send_depth, COUNT, 8),
	OF(krdma_conns_args, recv_depth, COUNT, 8),
	OF(krdma_conns_args, max_send_sge, COUNT, 2),
	OF(krdma_conns_args, max_recv_sge, COUNT, 2),
	OF(krdma_conns_args, max_inline, COUNT, 64),
	OF(krdma_conns_args, keepalive_ms, COUNT, 500),
	OF(krdma_conns_args, srq_fd, FD_SRQ, 0),
	OF(krdma_conns_args, reserved, RESERVED, 0),
	END,
};

static const struct fuzz_field conns_take_fields[] = {
	OF(krdma_conns_args, flags, RESERVED, 0),
	OF(krdma_conns_args, entries, ARENA, 0),
	OF(krdma_conns_args, count, COUNT, 20),
	OF(krdma_conns_args, fd, FD_LISTENER, 0),
	OF(krdma_conns_args, deadline_ns, DEADLINE, 0),
	END,
};

static const struct fuzz_field conns_close_fields[] = {
	OF(krdma_conns_args, flags, RESERVED, 0),
	OF(krdma_conns_args, entries, ARENA, 0),
	OF(krdma_conns_args, count, COUNT, 20),
	END,
};

static const struct fuzz_field conns_fd_fields[] = {
	OF(krdma_conns_fd_args, flags, RESERVED, 0),
	OF(krdma_conns_fd_args, id, COUNT, 64),
	END,
};

static const int conns_errors[] = { GIVEN_FD, EINTR, 0 };
static const int conns_take_errors[] = { GIVEN_FD, EDQUOT, EAGAIN, ENODEV, ETIMEDOUT, EINTR, 0 };
static const int conns_close_errors[] = { 0 };
static const int conns_fd_errors[] = { EMFILE, ENFILE, ENOENT, 0 };

static const struct fuzz_field conn_resolve_fields[] = {
	OF(krdma_conn_resolve_args, flags, FLAGS, KRDMA_RESOLVE_LOCAL),
	OF(krdma_conn_resolve_args, timeout_ms, COUNT, 200),
	OF(krdma_conn_resolve_args, tos, COUNT, 255),
	OF(krdma_conn_resolve_args, ack_timeout, COUNT, 14),
	OF(krdma_conn_resolve_args, reserved, RESERVED, 0),
	OF(krdma_conn_resolve_args, local, ADDRESS_LOCAL, 0),
	OF(krdma_conn_resolve_args, remote, ADDRESS_REMOTE, 0),
	END,
};

static const int conn_resolve_errors[] = {
	WRONG_STATE, EAFNOSUPPORT, EADDRNOTAVAIL, EADDRINUSE, EACCES, EHOSTUNREACH, ENODEV, EDQUOT,
	EIO, 0,
};

static const struct fuzz_field conn_prepare_fields[] = {
	OF(krdma_conn_create_qp_args, flags, FLAGS,
	   KRDMA_CREATE_QP_RECV_RING | KRDMA_CREATE_QP_SRQ),
	OF(krdma_conn_create_qp_args, ring_fd, FD_QUEUE, 0),
	OF(krdma_conn_create_qp_args, recv_ring_fd, FD_QUEUE, 0),
	OF(krdma_conn_create_qp_args, srq_fd, FD_SRQ, 0),
	OF(krdma_conn_create_qp_args, send_depth, COUNT, 32),
	OF(krdma_conn_create_qp_args, recv_depth, COUNT, 32),
	OF(krdma_conn_create_qp_args, max_send_sge, COUNT, 4),
	OF(krdma_conn_create_qp_args, max_recv_sge, COUNT, 4),
	OF(krdma_conn_create_qp_args, max_inline, COUNT, 256),
	OF(krdma_conn_create_qp_args, keepalive_ms, COUNT, 200),
	END,
};

static const int conn_prepare_errors[] = {
	WRONG_STATE, GIVEN_FD, EBUSY, ENOSPC, ENODEV, EDQUOT, EINTR, EIO, 0,
};

static const struct fuzz_field conn_terms_fields[] = {
	OF(krdma_conn_param_args, flags, FLAGS,
	   KRDMA_CONN_PARAM_PLAIN | KRDMA_CONN_PARAM_NO_RNR_RETRY |
	   KRDMA_CONN_PARAM_EARLY),
	OF(krdma_conn_param_args, private_data, ARENA, 0),
	OF(krdma_conn_param_args, private_data_len, COUNT, 60),
	OF(krdma_conn_param_args, read_depth, COUNT, 16),
	OF(krdma_conn_param_args, read_depth_in, COUNT, 16),
	OF(krdma_conn_param_args, retry_count, COUNT, 7),
	OF(krdma_conn_param_args, rnr_retry_count, COUNT, 7),
	OF(krdma_conn_param_args, reserved, RESERVED, 0),
	END,
};

static const int conn_terms_errors[] = { WRONG_STATE, EMSGSIZE, EBUSY, ENODEV, EIO, 0 };

static const struct fuzz_field conn_reject_fields[] = {
	OF(krdma_conn_reject_args, flags, RESERVED, 0),
	OF(krdma_conn_reject_args, private_data, ARENA, 0),
	OF(krdma_conn_reject_args, private_data_len, COUNT, 150),
	OF(krdma_conn_reject_args, reserved, RESERVED, 0),
	END,
};

static const int conn_reject_errors[] = { WRONG_STATE, EMSGSIZE, ENODEV, EIO, 0 };

static const struct fuzz_field conn_disconnect_fields[] = {
	OF(krdma_conn_disconnect_args, flags, FLAGS, KRDMA_DISCONNECT_ABORT),
	END,
};

static const int conn_disconnect_errors[] = { EALREADY, ENOTCONN, ENODEV, 0 };

static const struct fuzz_field conn_wait_fields[] = {
	OF(krdma_conn_wait_args, flags, RESERVED, 0),
	OF(krdma_conn_wait_args, deadline_ns, DEADLINE, 0),
	OF(krdma_conn_wait_args, reserved, RESERVED, 0),
	END,
};

static const int conn_wait_errors[] = {
	EINPROGRESS, EADDRNOTAVAIL, EADDRINUSE, EACCES, EHOSTUNREACH, ECONNREFUSED, EPIPE,
	ECONNRESET, ENOTCONN, ECONNABORTED, ENODEV, ETIMEDOUT, EIO, EINTR, 0,
};

static const struct fuzz_field conn_query_fields[] = {
	OF(krdma_conn_query_args, flags, RESERVED, 0),
	OF(krdma_conn_query_args, private_data, ARENA, 0),
	OF(krdma_conn_query_args, private_data_len, COUNT, 255),
	OF(krdma_conn_query_args, reserved, RESERVED, 0),
	END,
};

static const int conn_query_errors[] = { 0 };

static const struct fuzz_field conn_find_mr_fields[] = {
	OF(krdma_conn_find_mr_args, flags, RESERVED, 0),
	OF(krdma_conn_find_mr_args, deadline_ns, DEADLINE, 0),
	OF(krdma_conn_find_mr_args, offset, COUNT, 4096),
	OF(krdma_conn_find_mr_args, name, MR_NAME, 0),
	END,
};

static const int conn_find_mr_errors[] = {
	ENOENT, ERANGE, EPROTONOSUPPORT, ENOTCONN, EAGAIN, ETIMEDOUT, EINTR, 0,
};

static const struct fuzz_field ring_enter_fields[] = {
	OF(krdma_ring_enter_args, flags, RESERVED, 0),
	OF(krdma_ring_enter_args, to_submit, COUNT, 64),
	OF(krdma_ring_enter_args, min_complete, COUNT, 3),
	OF(krdma_ring_enter_args, deadline_ns, DEADLINE, 0),
	OF(krdma_ring_enter_args, reserved, RESERVED, 0),
	END,
};

static const int ring_enter_errors[] = { ETIMEDOUT, EINTR, EBADMSG, ENODEV, 0 };

static const struct fuzz_field ring_post_fields[] = {
	OF(krdma_ring_post_args, flags, RESERVED, 0),
	OF(krdma_ring_post_args, entries, ENTRIES, 0),
	OF(krdma_ring_post_args, count, COUNT, 20),
	OF(krdma_ring_post_args, reserved, RESERVED, 0),
	END,
};

static const int ring_post_errors[] = { EINTR, 0 };

static const struct fuzz_field ring_reap_fields[] = {
	OF(krdma_ring_reap_args, flags, RESERVED, 0),
	OF(krdma_ring_reap_args, entries, ROOM, 0),
	OF(krdma_ring_reap_args, count, COUNT, 32),
	OF(krdma_ring_reap_args, min_complete, COUNT, 3),
	OF(krdma_ring_reap_args, deadline_ns, DEADLINE, 0),
	OF(krdma_ring_reap_args, reserved, RESERVED, 0),
	END,
};

static const int ring_reap_errors[] = { ETIMEDOUT, EINTR, EAGAIN, EBADMSG, ENODEV, 0 };

static const struct fuzz_field ring_query_fields[] = {
	OF(krdma_ring_query_args, flags, RESERVED, 0),
	OF(krdma_ring_query_args, reserved, RESERVED, 0),
	END,
};

static const int ring_query_errors[] = { 0 };

static const struct fuzz_field ring_confine_fields[] = {
	OF(krdma_ring_confine_args, flags, RESERVED, 0),
	OF(krdma_ring_confine_args, mr, ROOM, 0),
	OF(krdma_ring_confine_args, count, COUNT, 4),
	OF(krdma_ring_confine_args, reserved, RESERVED, 0),
	END,
};

static const int ring_confine_errors[] = { EPERM, ENOENT, EDQUOT, 0 };

static const struct fuzz_field srq_query_fields[] = {
	OF(krdma_srq_query_args, flags, RESERVED, 0),
	END,
};

static const int srq_query_errors[] = { 0 };

#define REQUEST(index, of, waiting, type, what)				\
	[FUZZ_##index] = {						\
		.name = #index,						\
		.cmd = KRDMA_##index,					\
		.kind = FUZZ_##of,					\
		.size = sizeof(struct type),				\
		.waits = (waiting),					\
		.fields = what##_fields,				\
		.errors = what##_errors,				\
	}

const struct fuzz_request fuzz_requests[FUZZ_REQUESTS] = {
	REQUEST(INFO, SESSION, false, krdma_info_args, info),
	REQUEST(DEVICE_QUERY, SESSION, false, krdma_device_query_args, device_query),
	REQUEST(PORT_QUERY, SESSION, false, krdma_port_query_args, port_query),
	REQUEST(DEVICE_FIND, SESSION, true, krdma_device_find_args, device_find),
	REQUEST(DEVICE_NOTIFY, SESSION, false, krdma_device_notify_args, watch),
	REQUEST(LISTEN, SESSION, false, krdma_listen_args, listen),
	REQUEST(CONN_CREATE, SESSION, false, krdma_conn_create_args, conn_create),
	REQUEST(RING_CREATE, SESSION, false, krdma_ring_create_args, ring_create),
	REQUEST(SRQ_CREATE, SESSION, false, krdma_srq_create_args, srq_create),
	REQUEST(MR_REGISTER, SESSION, false, krdma_mr_register_args, mr_register),
	REQUEST(MR_DEREGISTER, SESSION, false, krdma_mr_deregister_args, mr_deregister),
	REQUEST(MR_QUERY, SESSION, false, krdma_mr_query_args, mr_query),
	REQUEST(MR_ADVISE, SESSION, false, krdma_mr_advise_args, mr_advise),
	REQUEST(LIMIT_QUERY, SESSION, false, krdma_limit_query_args, limit_query),
	REQUEST(CONNS_OPEN, SESSION, true, krdma_conns_args, conns),
	REQUEST(CONNS_TAKE, SESSION, true, krdma_conns_args, conns_take),
	REQUEST(CONNS_ACCEPT, SESSION, false, krdma_conns_args, conns),
	REQUEST(CONNS_CLOSE, SESSION, false, krdma_conns_args, conns_close),
	REQUEST(CONNS_FD, SESSION, false, krdma_conns_fd_args, conns_fd),
	REQUEST(MR_SET_NAME, SESSION, false, krdma_mr_set_name_args, mr_set_name),
	REQUEST(LISTENER_QUERY, LISTENER, false, krdma_listener_query_args, listener_query),
	REQUEST(LISTENER_NEXT, LISTENER, true, krdma_listener_next_args, listener_next),
	REQUEST(CONN_RESOLVE, CONN, false, krdma_conn_resolve_args, conn_resolve),
	REQUEST(CONN_CREATE_QP, CONN, false, krdma_conn_create_qp_args, conn_prepare),
	REQUEST(CONN_CONNECT, CONN, false, krdma_conn_param_args, conn_terms),
	REQUEST(CONN_ACCEPT, CONN, false, krdma_conn_param_args, conn_terms),
	REQUEST(CONN_REJECT, CONN, false, krdma_conn_reject_args, conn_reject),
	REQUEST(CONN_DISCONNECT, CONN, false, krdma_conn_disconnect_args, conn_disconnect),
	REQUEST(CONN_WAIT, CONN, true, krdma_conn_wait_args, conn_wait),
	REQUEST(CONN_QUERY, CONN, false, krdma_conn_query_args, conn_query),
	REQUEST(CONN_FIND_MR, CONN, true, krdma_conn_find_mr_args, conn_find_mr),
	REQUEST(RING_ENTER, QUEUE, true, krdma_ring_enter_args, ring_enter),
	REQUEST(RING_POST, QUEUE, true, krdma_ring_post_args, ring_post),
	REQUEST(RING_REAP, QUEUE, true, krdma_ring_reap_args, ring_reap),
	REQUEST(RING_QUERY, QUEUE, false, krdma_ring_query_args, ring_query),
	REQUEST(RING_CONFINE, QUEUE, false, krdma_ring_confine_args, ring_confine),
	REQUEST(SRQ_QUERY, SRQ, false, krdma_srq_query_args, srq_query),
	REQUEST(SRQ_POST, SRQ, true, krdma_ring_post_args, ring_post),
};

/* clang-format on */

const char *fuzz_call_name(unsigned int index)
{
	static const char *const others[] = {
		[FUZZ_OPEN - FUZZ_REQUESTS] = "open()",
		[FUZZ_CLOSE - FUZZ_REQUESTS] = "close()",
		[FUZZ_READ - FUZZ_REQUESTS] = "read()",
		[FUZZ_POLL - FUZZ_REQUESTS] = "poll()",
		[FUZZ_MMAP - FUZZ_REQUESTS] = "mmap()",
		[FUZZ_UNKNOWN - FUZZ_REQUESTS] = "unknown",
		[FUZZ_ENTRY - FUZZ_REQUESTS] = "entry",
		[FUZZ_STATE - FUZZ_REQUESTS] = "state",
		[FUZZ_STATUS - FUZZ_REQUESTS] = "status",
	};

	return index < FUZZ_REQUESTS ? fuzz_requests[index].name : others[index - FUZZ_REQUESTS];
}

bool fuzz_listed(const int *errors, int error)
{
	while (*errors)
		if (*errors++ == error)
			return true;
	return false;
}
