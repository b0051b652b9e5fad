// SPDX-License-Identifier: GPL-2.0
#include "conns.h"
#include "rings.h"
#include "session.h"

int conns_request(int session, unsigned long number, uint32_t flags, int fd,
		  struct krdma_conns_entry *entries, uint32_t count, uint64_t deadline_ns,
		  uint32_t *done, int *error)
{
	bool queues = number == KRDMA_CONNS_OPEN || number == KRDMA_CONNS_ACCEPT;
	struct krdma_conns_args args = {
		.size = sizeof(args), .flags = flags, .entries = (uintptr_t)entries,
		.count = count, .fd = fd, .deadline_ns = deadline_ns,
		.send_depth = queues ? CONNS_DEPTH : 0, .recv_depth = queues ? CONNS_DEPTH : 0,
		.max_send_sge = queues ? 1 : 0, .max_inline = queues ? 16 : 0,
	};
	int ret = session_request(session, number, &args);

	if (done)
		*done = ret ? UINT32_MAX : args.done;
	if (error)
		*error = ret ? ret : args.error;
	return ret;
}

int conns_close(int session, struct krdma_conns_entry *entries, uint32_t count,
		uint32_t *done, int *error)
{
	return conns_request(session, KRDMA_CONNS_CLOSE, 0, 0, entries, count, 0, done, error);
}

int conns_fd(int session, uint32_t id, int *fd)
{
	struct krdma_conns_fd_args args = { .size = sizeof(args), .id = id };
	int ret = session_request(session, KRDMA_CONNS_FD, &args);

	*fd = ret ? -1 : args.fd;
	return ret;
}

struct krdma_sqe inline_send(uint32_t dest, uint64_t wr_id, const void *data)
{
	return (struct krdma_sqe) {
		.opcode = KRDMA_OP_SEND, .flags = KRDMA_SQE_INLINE, .sge_count = 1, .dest = dest,
		.wr_id = wr_id, .sge = { .addr = (uintptr_t)data, .length = 8 },
	};
}
