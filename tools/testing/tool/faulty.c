// SPDX-License-Identifier: GPL-2.0
/*
 * A layer between the tool and libkrdma that injects faults, to test that krdma selftest detects
 * them.  The linker replaces functions of libkrdma by the __wrap_ functions (--wrap), in both
 * processes of the test.  KRDMA_FAULT names the fault; without it nothing is changed.
 *
 *	KRDMA_FAULT=write-bit faulty selftest --only write rxe0
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

#define REMOTE_ALL	(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE | \
			 KRDMA_ACCESS_REMOTE_ATOMIC)

static bool is_far;

static bool fault(const char *name)
{
	const char *chosen = getenv("KRDMA_FAULT");

	return chosen && !strcmp(chosen, name);
}

int __wrap_far_run(int fd, const struct sockaddr_storage *address, uint64_t max_memory)
{
	is_far = true;
	return __real_far_run(fd, address, max_memory);
}

/* no-death: the process that should kill itself goes on. */
int __wrap_raise(int number)
{
	return fault("no-death") ? 0 : __real_raise(number);
}

/* Flip one bit of the data of a work request. */
static void flip(const struct krdma_sqe *entry)
{
	uint8_t *data = (uint8_t *)(uintptr_t)entry->sge.addr;

	if (entry->sge_count == 1 && entry->sge.length)
		data[entry->sge.length / 2] ^= 0x10;
}

static void spoil(struct krdma_sqe *entry)
{
	switch (entry->opcode) {
	case KRDMA_OP_SEND:
		if (fault("send-bit"))
			flip(entry);
		break;
	case KRDMA_OP_SEND_IMM:
	case KRDMA_OP_WRITE_IMM:
		if (fault("immediate"))
			entry->imm ^= 1;
		break;
	case KRDMA_OP_WRITE:
		if (fault("write-bit"))
			flip(entry);
		if (fault("write-elsewhere"))
			entry->remote_addr += 4096;
		break;
	case KRDMA_OP_READ:
		if (fault("read-elsewhere") && entry->sge.length)
			entry->remote_addr++;
		break;
	case KRDMA_OP_RECV:
		/* The device writes to an address that is one too low. */
		if (fault("receive-elsewhere") && is_far && entry->sge.length)
			entry->sge.addr--;
		break;
	case KRDMA_OP_COMPARE_SWAP:
		if (fault("swap"))
			entry->swap ^= 1;
		break;
	case KRDMA_OP_FETCH_ADD:
		if (fault("add"))
			entry->operand++;
		break;
	case KRDMA_OP_ATOMIC_WRITE:
		if (fault("atomic-write"))
			entry->operand ^= UINT64_C(1) << 40;
		break;
	}
}

/* Report success for a work request that was refused, for a limit or for a missing right. */
static int hide(int err)
{
	if ((err == -EAGAIN && fault("no-depth")) || (err == -EMSGSIZE && fault("no-length")) ||
	    (err == -EACCES && fault("no-local-rights")))
		return 0;
	return err;
}

int __wrap_krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries,
			   size_t count, size_t *accepted)
{
	struct krdma_sqe *copy = calloc(count, sizeof(*copy));
	size_t i;
	int err;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, entries, count * sizeof(*copy));
	for (i = 0; i < count; i++)
		spoil(&copy[i]);
	err = hide(__real_krdma_ring_post(ring, copy, count, accepted));
	free(copy);
	return err;
}

int __wrap_krdma_srq_post(struct krdma_srq *srq, const struct krdma_sqe *entries, size_t count,
			  size_t *accepted)
{
	return hide(__real_krdma_srq_post(srq, entries, count, accepted));
}

int __wrap_krdma_ring_wait(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
			   size_t least, uint64_t deadline, size_t *taken)
{
	static unsigned int completions;
	int err = __real_krdma_ring_wait(ring, cqes, room, least, deadline, taken);

	if (err)
		return err;
	completions++;
	if (fault("status"))
		cqes[0].status = KRDMA_WC_SUCCESS;
	if (fault("length") && cqes[0].opcode == KRDMA_OP_RECV && cqes[0].length)
		cqes[0].length--;
	if (fault("order") && !is_far && completions > 20)
		cqes[0].wr_id ^= 1;
	/* Lose this completion, and return the next one. */
	if (fault("lost") && !is_far && completions == 10)
		return __wrap_krdma_ring_wait(ring, cqes, room, least, deadline, taken);
	return 0;
}

int __wrap_krdma_mr_register(struct krdma *session, uint32_t device_id, void *data,
			     size_t length, uint32_t access, struct krdma_mr **mr)
{
	if (fault("rights") && is_far)
		access |= REMOTE_ALL;
	return __real_krdma_mr_register(session, device_id, data, length, access, mr);
}

/* no-release: peers can still access the MR. */
int __wrap_krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags)
{
	if (fault("no-release") && is_far && mr)
		return 0;
	return __real_krdma_mr_deregister(mr, flags);
}

int __wrap_krdma_conn_private_data(struct krdma_conn *conn, void *data, size_t *length)
{
	size_t room = *length;
	int err = __real_krdma_conn_private_data(conn, data, length);

	if (!err && fault("private-data") && !is_far && room && *length)
		((uint8_t *)data)[0] ^= 1;
	return err;
}

int __wrap_krdma_conn_disconnect(struct krdma_conn *conn, uint32_t flags)
{
	return fault("no-disconnect") ? 0 : __real_krdma_conn_disconnect(conn, flags);
}
