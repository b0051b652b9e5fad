/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: entries for queues, made from what they are about.
 *
 * Each function returns an entry to be put into an array for krdma_queue_post();
 * what it does not set is 0 and can be set afterwards, such as flags, or more pieces
 * of memory.  Local memory NULL: an operation without data.
 */
#ifndef KRDMA_ENTRY_H
#define KRDMA_ENTRY_H

#include <string.h>

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Everything that all of them have. */
static inline struct krdma_sqe krdma_entry(uint8_t opcode, uint32_t target, uint64_t cookie,
					   const struct krdma_memory *memory, size_t offset,
					   uint32_t length)
{
	struct krdma_sqe entry;

	memset(&entry, 0, sizeof(entry));
	entry.opcode = opcode;
	entry.target = target;
	entry.cookie = cookie;
	if (memory) {
		entry.piece_count = 1;
		entry.piece.addr = (uintptr_t)krdma_memory_data(memory) + offset;
		entry.piece.length = length;
		entry.piece.memory = krdma_memory_id(memory);
	}
	return entry;
}

/* Room for a message, of a connection or of a shared receive queue. */
static inline struct krdma_sqe krdma_entry_receive(const struct krdma_conn *conn, uint64_t cookie,
						   const struct krdma_memory *memory,
						   size_t offset, uint32_t length)
{
	return krdma_entry(KRDMA_OP_RECEIVE, krdma_conn_id(conn), cookie, memory, offset, length);
}

static inline struct krdma_sqe krdma_entry_srq_receive(const struct krdma_srq *srq,
						       uint64_t cookie,
						       const struct krdma_memory *memory,
						       size_t offset, uint32_t length)
{
	return krdma_entry(KRDMA_OP_RECEIVE, krdma_srq_id(srq), cookie, memory, offset, length);
}

static inline struct krdma_sqe krdma_entry_send(const struct krdma_conn *conn, uint64_t cookie,
						const struct krdma_memory *memory, size_t offset,
						uint32_t length)
{
	return krdma_entry(KRDMA_OP_SEND, krdma_conn_id(conn), cookie, memory, offset, length);
}

static inline struct krdma_sqe krdma_entry_send_imm(const struct krdma_conn *conn,
						    uint64_t cookie,
						    const struct krdma_memory *memory,
						    size_t offset, uint32_t length, uint32_t imm)
{
	struct krdma_sqe entry = krdma_entry(KRDMA_OP_SEND_IMM, krdma_conn_id(conn), cookie,
					     memory, offset, length);

	entry.imm = imm;
	return entry;
}

/* The data are copied from anywhere when the entry is posted: nothing is registered. */
static inline struct krdma_sqe krdma_entry_send_inline(const struct krdma_conn *conn,
						       uint64_t cookie, const void *data,
						       uint32_t length)
{
	struct krdma_sqe entry = krdma_entry(KRDMA_OP_SEND, krdma_conn_id(conn), cookie, NULL,
					     0, 0);

	entry.flags = KRDMA_SQE_INLINE;
	entry.piece_count = 1;
	entry.piece.addr = (uintptr_t)data;
	entry.piece.length = length;
	return entry;
}

/*
 * Local memory to or from @remote, @remote_offset bytes behind its beginning.  That it is
 * not outside of it is for the peer's device to see.
 */
static inline struct krdma_sqe krdma_entry_remote(uint8_t opcode, const struct krdma_conn *conn,
						  uint64_t cookie,
						  const struct krdma_memory *memory,
						  size_t offset, uint32_t length,
						  const struct krdma_remote *remote,
						  uint64_t remote_offset)
{
	struct krdma_sqe entry = krdma_entry(opcode, krdma_conn_id(conn), cookie, memory, offset,
					     length);

	entry.remote_addr = remote->addr + remote_offset;
	entry.remote_key = remote->key;
	return entry;
}

static inline struct krdma_sqe krdma_entry_write(const struct krdma_conn *conn, uint64_t cookie,
						 const struct krdma_memory *memory,
						 size_t offset, uint32_t length,
						 const struct krdma_remote *remote,
						 uint64_t remote_offset)
{
	return krdma_entry_remote(KRDMA_OP_WRITE, conn, cookie, memory, offset, length, remote,
				  remote_offset);
}

static inline struct krdma_sqe krdma_entry_write_imm(const struct krdma_conn *conn,
						     uint64_t cookie,
						     const struct krdma_memory *memory,
						     size_t offset, uint32_t length,
						     const struct krdma_remote *remote,
						     uint64_t remote_offset, uint32_t imm)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_WRITE_IMM, conn, cookie, memory,
						    offset, length, remote, remote_offset);

	entry.imm = imm;
	return entry;
}

static inline struct krdma_sqe krdma_entry_read(const struct krdma_conn *conn, uint64_t cookie,
						const struct krdma_memory *memory, size_t offset,
						uint32_t length,
						const struct krdma_remote *remote,
						uint64_t remote_offset)
{
	return krdma_entry_remote(KRDMA_OP_READ, conn, cookie, memory, offset, length, remote,
				  remote_offset);
}

/* 64-bit atomics: what was there before comes into the 8 bytes of local memory. */
static inline struct krdma_sqe krdma_entry_compare_swap(const struct krdma_conn *conn,
							uint64_t cookie,
							const struct krdma_memory *memory,
							size_t offset,
							const struct krdma_remote *remote,
							uint64_t remote_offset, uint64_t compare,
							uint64_t swap)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_COMPARE_SWAP, conn, cookie, memory,
						    offset, 8, remote, remote_offset);

	entry.operand = compare;
	entry.swap = swap;
	return entry;
}

static inline struct krdma_sqe krdma_entry_fetch_add(const struct krdma_conn *conn,
						     uint64_t cookie,
						     const struct krdma_memory *memory,
						     size_t offset,
						     const struct krdma_remote *remote,
						     uint64_t remote_offset, uint64_t add)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_FETCH_ADD, conn, cookie, memory,
						    offset, 8, remote, remote_offset);

	entry.operand = add;
	return entry;
}

/* Eight bytes at once, at an address that is divisible by 8. */
static inline struct krdma_sqe krdma_entry_atomic_write(const struct krdma_conn *conn,
							uint64_t cookie,
							const struct krdma_remote *remote,
							uint64_t remote_offset, uint64_t value)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_ATOMIC_WRITE, conn, cookie, NULL, 0,
						    0, remote, remote_offset);

	entry.operand = value;
	return entry;
}

/*
 * When it has completed, what was written before, anywhere in the memory of the key, is seen
 * by everybody who reads it, as far as KRDMA_OP_FLUSH promises.
 */
static inline struct krdma_sqe krdma_entry_flush(const struct krdma_conn *conn, uint64_t cookie,
						 const struct krdma_remote *remote)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_FLUSH, conn, cookie, NULL, 0, 0,
						    remote, 0);

	entry.imm = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY;
	return entry;
}

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_ENTRY_H */
