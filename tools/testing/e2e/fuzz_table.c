// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's grammar: which requests there are, what their fields mean, and which
 * errors they may answer with, as <linux/krdma.h> says.
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

/* What all have that make a descriptor. */
#define NEW_FD		EMFILE, ENFILE, EDQUOT
/* And that are given one. */
#define GIVEN_FD	EBADF, EPROTOTYPE, EXDEV
#define WRONG_STATE	EALREADY, EISCONN, ENOTCONN

static const struct fuzz_field info_fields[] = {
	OF(krdma_info, flags, RESERVED, 0),
	END,
};

static const int info_errors[] = { 0 };

static const struct fuzz_field device_query_fields[] = {
	OF(krdma_device_query, flags, FLAGS, KRDMA_DEVICE_QUERY_NEXT | KRDMA_DEVICE_QUERY_NAME),
	OF(krdma_device_query, id, DEVICE, 0),
	OF(krdma_device_query, name, NAME, 0),
	END,
};

static const int device_query_errors[] = { ENOENT, EIO, 0 };

static const struct fuzz_field port_query_fields[] = {
	OF(krdma_port_query, flags, RESERVED, 0),
	OF(krdma_port_query, device_id, DEVICE, 0),
	OF(krdma_port_query, port, COUNT, 2),
	END,
};

static const int port_query_errors[] = { ENOENT, EIO, 0 };

static const struct fuzz_field device_find_fields[] = {
	OF(krdma_device_find, flags, FLAGS, KRDMA_DEVICE_FIND_LOCAL | KRDMA_DEVICE_FIND_REMOTE),
	OF(krdma_device_find, deadline_ns, DEADLINE, 0),
	OF(krdma_device_find, reserved, RESERVED, 0),
	OF(krdma_device_find, local, ADDRESS_LOCAL, 0),
	OF(krdma_device_find, remote, ADDRESS_REMOTE, 0),
	END,
};

static const int device_find_errors[] = {
	ENOENT, EHOSTUNREACH, EAFNOSUPPORT, ETIMEDOUT, EINTR, 0,
};

static const struct fuzz_field watch_fields[] = {
	OF(krdma_watch_devices, flags, RESERVED, 0),
	END,
};

static const int watch_errors[] = { EALREADY, 0 };

static const struct fuzz_field listen_fields[] = {
	OF(krdma_listen, flags, FLAGS, KRDMA_LISTEN_V6ONLY),
	OF(krdma_listen, backlog, COUNT, 8),
	OF(krdma_listen, address, ADDRESS_LISTEN, 0),
	END,
};

static const int listen_errors[] = {
	NEW_FD, EAFNOSUPPORT, EADDRNOTAVAIL, EADDRINUSE, EACCES, ENODEV, 0,
};

static const struct fuzz_field conn_create_fields[] = {
	OF(krdma_conn_create, flags, RESERVED, 0),
	END,
};

static const int conn_create_errors[] = { NEW_FD, 0 };

static const struct fuzz_field queue_create_fields[] = {
	OF(krdma_queue_create, flags, FLAGS, KRDMA_QUEUE_POLLED | KRDMA_QUEUE_VECTOR),
	OF(krdma_queue_create, device_id, DEVICE, 0),
	OF(krdma_queue_create, sq_entries, COUNT, 128),
	OF(krdma_queue_create, cq_entries, COUNT, 1024),
	OF(krdma_queue_create, vector, COUNT, 1),
	OF(krdma_queue_create, reserved, RESERVED, 0),
	END,
};

static const int queue_create_errors[] = { NEW_FD, ENOENT, ENODEV, EIO, 0 };

static const struct fuzz_field srq_create_fields[] = {
	OF(krdma_srq_create, flags, RESERVED, 0),
	OF(krdma_srq_create, queue_fd, FD_QUEUE, 0),
	OF(krdma_srq_create, device_id, DEVICE, 0),
	OF(krdma_srq_create, depth, COUNT, 64),
	OF(krdma_srq_create, max_sge, COUNT, 3),
	END,
};

static const int srq_create_errors[] = { NEW_FD, GIVEN_FD, ENOSPC, ENOENT, ENODEV, EIO, 0 };

static const struct fuzz_field memory_register_fields[] = {
	OF(krdma_memory_register, flags, RESERVED, 0),
	OF(krdma_memory_register, addr, ARENA, 0),
	OF(krdma_memory_register, length, COUNT, 32768),
	OF(krdma_memory_register, device_id, DEVICE, 0),
	OF(krdma_memory_register, access, FLAGS, 15),
	END,
};

static const int memory_register_errors[] = {
	EACCES, EPERM, EFBIG, EAGAIN, EADDRNOTAVAIL, ETIMEDOUT, ENODEV, EDQUOT, EINTR, EIO, 0,
};

static const struct fuzz_field memory_release_fields[] = {
	OF(krdma_memory_release, flags, FLAGS, KRDMA_RELEASE_LATER),
	OF(krdma_memory_release, id, MEMORY, 0),
	OF(krdma_memory_release, reserved, RESERVED, 0),
	END,
};

static const int memory_release_errors[] = { ENOENT, EBUSY, EINTR, 0 };

static const struct fuzz_field memory_query_fields[] = {
	OF(krdma_memory_query, flags, RESERVED, 0),
	OF(krdma_memory_query, id, MEMORY, 0),
	OF(krdma_memory_query, part_offset, COUNT, 4096),
	OF(krdma_memory_query, part_length, COUNT, 4096),
	END,
};

static const int memory_query_errors[] = { ENOENT, ERANGE, 0 };

static const struct fuzz_field memory_advise_fields[] = {
	OF(krdma_memory_advise, flags, RESERVED, 0),
	OF(krdma_memory_advise, id, MEMORY, 0),
	OF(krdma_memory_advise, advice, COUNT, 2),
	OF(krdma_memory_advise, offset, COUNT, 4096),
	OF(krdma_memory_advise, length, COUNT, 4096),
	END,
};

static const int memory_advise_errors[] = { ENOENT, ERANGE, EACCES, 0 };

static const struct fuzz_field limit_query_fields[] = {
	OF(krdma_limit_query, flags, FLAGS, KRDMA_LIMIT_QUERY_REFUSED),
	OF(krdma_limit_query, limit, COUNT, 6),
	END,
};

static const int limit_query_errors[] = { ENOENT, 0 };

static const struct fuzz_field listener_query_fields[] = {
	OF(krdma_listener_query, flags, RESERVED, 0),
	END,
};

static const int listener_query_errors[] = { ENODEV, 0 };

static const struct fuzz_field listener_next_fields[] = {
	OF(krdma_listener_next, flags, RESERVED, 0),
	OF(krdma_listener_next, deadline_ns, DEADLINE, 0),
	END,
};

static const int listener_next_errors[] = { NEW_FD, EAGAIN, ENODEV, ETIMEDOUT, EINTR, 0 };

static const struct fuzz_field conn_resolve_fields[] = {
	OF(krdma_conn_resolve, flags, FLAGS, KRDMA_RESOLVE_LOCAL),
	OF(krdma_conn_resolve, timeout_ms, COUNT, 200),
	OF(krdma_conn_resolve, tos, COUNT, 255),
	OF(krdma_conn_resolve, ack_timeout, COUNT, 14),
	OF(krdma_conn_resolve, reserved, RESERVED, 0),
	OF(krdma_conn_resolve, local, ADDRESS_LOCAL, 0),
	OF(krdma_conn_resolve, remote, ADDRESS_REMOTE, 0),
	END,
};

static const int conn_resolve_errors[] = {
	WRONG_STATE, EAFNOSUPPORT, EADDRNOTAVAIL, EHOSTUNREACH, ENODEV, EIO, 0,
};

static const struct fuzz_field conn_prepare_fields[] = {
	OF(krdma_conn_prepare, flags, FLAGS, KRDMA_PREPARE_RECV_QUEUE | KRDMA_PREPARE_SRQ),
	OF(krdma_conn_prepare, queue_fd, FD_QUEUE, 0),
	OF(krdma_conn_prepare, recv_queue_fd, FD_QUEUE, 0),
	OF(krdma_conn_prepare, srq_fd, FD_SRQ, 0),
	OF(krdma_conn_prepare, send_depth, COUNT, 32),
	OF(krdma_conn_prepare, recv_depth, COUNT, 32),
	OF(krdma_conn_prepare, max_send_sge, COUNT, 4),
	OF(krdma_conn_prepare, max_recv_sge, COUNT, 4),
	OF(krdma_conn_prepare, max_inline, COUNT, 256),
	OF(krdma_conn_prepare, keepalive_ms, COUNT, 200),
	END,
};

static const int conn_prepare_errors[] = {
	WRONG_STATE, GIVEN_FD, EBUSY, ENOSPC, ENODEV, EINTR, EIO, 0,
};

static const struct fuzz_field conn_terms_fields[] = {
	OF(krdma_conn_terms, flags, FLAGS, KRDMA_TERMS_PLAIN | KRDMA_TERMS_NO_RNR_RETRY),
	OF(krdma_conn_terms, private_data, ARENA, 0),
	OF(krdma_conn_terms, private_data_len, COUNT, 60),
	OF(krdma_conn_terms, read_depth, COUNT, 16),
	OF(krdma_conn_terms, read_depth_in, COUNT, 16),
	OF(krdma_conn_terms, retry_count, COUNT, 7),
	OF(krdma_conn_terms, rnr_retry_count, COUNT, 7),
	OF(krdma_conn_terms, reserved, RESERVED, 0),
	END,
};

static const int conn_terms_errors[] = { WRONG_STATE, EMSGSIZE, EBUSY, ENODEV, EIO, 0 };

static const struct fuzz_field conn_reject_fields[] = {
	OF(krdma_conn_reject, flags, RESERVED, 0),
	OF(krdma_conn_reject, private_data, ARENA, 0),
	OF(krdma_conn_reject, private_data_len, COUNT, 150),
	OF(krdma_conn_reject, reserved, RESERVED, 0),
	END,
};

static const int conn_reject_errors[] = { WRONG_STATE, EMSGSIZE, ENODEV, EIO, 0 };

static const struct fuzz_field conn_disconnect_fields[] = {
	OF(krdma_conn_disconnect, flags, FLAGS, KRDMA_DISCONNECT_ABORT),
	END,
};

static const int conn_disconnect_errors[] = { EALREADY, ENOTCONN, ENODEV, 0 };

static const struct fuzz_field conn_wait_fields[] = {
	OF(krdma_conn_wait, flags, RESERVED, 0),
	OF(krdma_conn_wait, deadline_ns, DEADLINE, 0),
	OF(krdma_conn_wait, reserved, RESERVED, 0),
	END,
};

static const int conn_wait_errors[] = {
	EINPROGRESS, EADDRNOTAVAIL, EHOSTUNREACH, ECONNREFUSED, EPIPE, ECONNRESET, ENOTCONN,
	ECONNABORTED, ENODEV, ETIMEDOUT, EIO, EINTR, 0,
};

static const struct fuzz_field conn_query_fields[] = {
	OF(krdma_conn_query, flags, RESERVED, 0),
	OF(krdma_conn_query, private_data, ARENA, 0),
	OF(krdma_conn_query, private_data_len, COUNT, 255),
	OF(krdma_conn_query, reserved, RESERVED, 0),
	END,
};

static const int conn_query_errors[] = { 0 };

static const struct fuzz_field queue_enter_fields[] = {
	OF(krdma_queue_enter, flags, RESERVED, 0),
	OF(krdma_queue_enter, to_submit, COUNT, 64),
	OF(krdma_queue_enter, min_complete, COUNT, 3),
	OF(krdma_queue_enter, deadline_ns, DEADLINE, 0),
	OF(krdma_queue_enter, reserved, RESERVED, 0),
	END,
};

static const int queue_enter_errors[] = { ETIMEDOUT, EINTR, EBADMSG, ENODEV, 0 };

static const struct fuzz_field queue_post_fields[] = {
	OF(krdma_queue_post, flags, RESERVED, 0),
	OF(krdma_queue_post, entries, ENTRIES, 0),
	OF(krdma_queue_post, count, COUNT, 20),
	OF(krdma_queue_post, reserved, RESERVED, 0),
	END,
};

static const int queue_post_errors[] = { EINTR, 0 };

static const struct fuzz_field queue_reap_fields[] = {
	OF(krdma_queue_reap, flags, RESERVED, 0),
	OF(krdma_queue_reap, entries, ROOM, 0),
	OF(krdma_queue_reap, count, COUNT, 32),
	OF(krdma_queue_reap, min_complete, COUNT, 3),
	OF(krdma_queue_reap, deadline_ns, DEADLINE, 0),
	OF(krdma_queue_reap, reserved, RESERVED, 0),
	END,
};

static const int queue_reap_errors[] = { ETIMEDOUT, EINTR, EAGAIN, EBADMSG, ENODEV, 0 };

static const struct fuzz_field queue_query_fields[] = {
	OF(krdma_queue_query, flags, RESERVED, 0),
	OF(krdma_queue_query, reserved, RESERVED, 0),
	END,
};

static const int queue_query_errors[] = { 0 };

static const struct fuzz_field queue_confine_fields[] = {
	OF(krdma_queue_confine, flags, RESERVED, 0),
	OF(krdma_queue_confine, memory, ROOM, 0),
	OF(krdma_queue_confine, count, COUNT, 4),
	OF(krdma_queue_confine, reserved, RESERVED, 0),
	END,
};

static const int queue_confine_errors[] = { EPERM, ENOENT, 0 };

static const struct fuzz_field srq_query_fields[] = {
	OF(krdma_srq_query, flags, RESERVED, 0),
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
	REQUEST(INFO, SESSION, false, krdma_info, info),
	REQUEST(DEVICE_QUERY, SESSION, false, krdma_device_query, device_query),
	REQUEST(PORT_QUERY, SESSION, false, krdma_port_query, port_query),
	REQUEST(DEVICE_FIND, SESSION, true, krdma_device_find, device_find),
	REQUEST(WATCH, SESSION, false, krdma_watch_devices, watch),
	REQUEST(LISTEN, SESSION, false, krdma_listen, listen),
	REQUEST(CONN_CREATE, SESSION, false, krdma_conn_create, conn_create),
	REQUEST(QUEUE_CREATE, SESSION, false, krdma_queue_create, queue_create),
	REQUEST(SRQ_CREATE, SESSION, false, krdma_srq_create, srq_create),
	REQUEST(MEMORY_REGISTER, SESSION, false, krdma_memory_register, memory_register),
	REQUEST(MEMORY_RELEASE, SESSION, false, krdma_memory_release, memory_release),
	REQUEST(MEMORY_QUERY, SESSION, false, krdma_memory_query, memory_query),
	REQUEST(MEMORY_ADVISE, SESSION, false, krdma_memory_advise, memory_advise),
	REQUEST(LIMIT_QUERY, SESSION, false, krdma_limit_query, limit_query),
	REQUEST(LISTENER_QUERY, LISTENER, false, krdma_listener_query, listener_query),
	REQUEST(LISTENER_NEXT, LISTENER, true, krdma_listener_next, listener_next),
	REQUEST(CONN_RESOLVE, CONN, false, krdma_conn_resolve, conn_resolve),
	REQUEST(CONN_PREPARE, CONN, false, krdma_conn_prepare, conn_prepare),
	REQUEST(CONN_CONNECT, CONN, false, krdma_conn_terms, conn_terms),
	REQUEST(CONN_ACCEPT, CONN, false, krdma_conn_terms, conn_terms),
	REQUEST(CONN_REJECT, CONN, false, krdma_conn_reject, conn_reject),
	REQUEST(CONN_DISCONNECT, CONN, false, krdma_conn_disconnect, conn_disconnect),
	REQUEST(CONN_WAIT, CONN, true, krdma_conn_wait, conn_wait),
	REQUEST(CONN_QUERY, CONN, false, krdma_conn_query, conn_query),
	REQUEST(QUEUE_ENTER, QUEUE, true, krdma_queue_enter, queue_enter),
	REQUEST(QUEUE_POST, QUEUE, true, krdma_queue_post, queue_post),
	REQUEST(QUEUE_REAP, QUEUE, true, krdma_queue_reap, queue_reap),
	REQUEST(QUEUE_QUERY, QUEUE, false, krdma_queue_query, queue_query),
	REQUEST(QUEUE_CONFINE, QUEUE, false, krdma_queue_confine, queue_confine),
	REQUEST(SRQ_QUERY, SRQ, false, krdma_srq_query, srq_query),
	REQUEST(SRQ_POST, SRQ, true, krdma_queue_post, queue_post),
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
