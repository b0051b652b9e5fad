/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: constructors for the entries of rings.
 *
 * Each function returns an entry for the array passed to krdma_ring_post(). Fields that the
 * function does not set are 0. The caller can set them afterwards, for example flags or more
 * SGEs. If the local memory region is NULL, the work request carries no data.
 */
#ifndef KRDMA_ENTRY_H
#define KRDMA_ENTRY_H

#include <string.h>

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the fields that all operations have. */
static inline struct krdma_sqe krdma_entry(uint8_t opcode, uint32_t dest, uint64_t wr_id,
					   const struct krdma_mr *mr, size_t offset,
					   uint32_t length)
{
	struct krdma_sqe entry;

	memset(&entry, 0, sizeof(entry));
	entry.opcode = opcode;
	entry.dest = dest;
	entry.wr_id = wr_id;
	if (mr) {
		entry.sge_count = 1;
		entry.sge.addr = (uintptr_t)krdma_mr_data(mr) + offset;
		entry.sge.length = length;
		entry.sge.mr = krdma_mr_id(mr);
	}
	return entry;
}

/* A receive buffer, of a connection or of an SRQ. */
static inline struct krdma_sqe krdma_entry_recv(const struct krdma_conn *conn, uint64_t wr_id,
						const struct krdma_mr *mr,
						size_t offset, uint32_t length)
{
	return krdma_entry(KRDMA_OP_RECV, krdma_conn_id(conn), wr_id, mr, offset, length);
}

static inline struct krdma_sqe krdma_entry_srq_recv(const struct krdma_srq *srq,
						    uint64_t wr_id,
						    const struct krdma_mr *mr,
						    size_t offset, uint32_t length)
{
	return krdma_entry(KRDMA_OP_RECV, krdma_srq_id(srq), wr_id, mr, offset, length);
}

static inline struct krdma_sqe krdma_entry_send(const struct krdma_conn *conn, uint64_t wr_id,
						const struct krdma_mr *mr, size_t offset,
						uint32_t length)
{
	return krdma_entry(KRDMA_OP_SEND, krdma_conn_id(conn), wr_id, mr, offset, length);
}

static inline struct krdma_sqe krdma_entry_send_imm(const struct krdma_conn *conn,
						    uint64_t wr_id,
						    const struct krdma_mr *mr,
						    size_t offset, uint32_t length, uint32_t imm)
{
	struct krdma_sqe entry = krdma_entry(KRDMA_OP_SEND_IMM, krdma_conn_id(conn), wr_id,
					     mr, offset, length);

	entry.imm = imm;
	return entry;
}

/* The kernel copies @data while it posts the entry, so @data needs no memory region. */
static inline struct krdma_sqe krdma_entry_send_inline(const struct krdma_conn *conn,
						       uint64_t wr_id, const void *data,
						       uint32_t length)
{
	struct krdma_sqe entry = krdma_entry(KRDMA_OP_SEND, krdma_conn_id(conn), wr_id, NULL,
					     0, 0);

	entry.flags = KRDMA_SQE_INLINE;
	entry.sge_count = 1;
	entry.sge.addr = (uintptr_t)data;
	entry.sge.length = length;
	return entry;
}

/*
 * Transfers between local memory and @remote, at @remote_offset bytes from its start. The
 * function does not check bounds: the peer's device refuses an access outside its memory
 * region.
 */
static inline struct krdma_sqe krdma_entry_remote(uint8_t opcode, const struct krdma_conn *conn,
						  uint64_t wr_id,
						  const struct krdma_mr *mr,
						  size_t offset, uint32_t length,
						  const struct krdma_remote_mr *remote,
						  uint64_t remote_offset)
{
	struct krdma_sqe entry = krdma_entry(opcode, krdma_conn_id(conn), wr_id, mr, offset,
					     length);

	entry.remote_addr = remote->addr + remote_offset;
	entry.rkey = remote->key;
	return entry;
}

static inline struct krdma_sqe krdma_entry_write(const struct krdma_conn *conn, uint64_t wr_id,
						 const struct krdma_mr *mr,
						 size_t offset, uint32_t length,
						 const struct krdma_remote_mr *remote,
						 uint64_t remote_offset)
{
	return krdma_entry_remote(KRDMA_OP_WRITE, conn, wr_id, mr, offset, length, remote,
				  remote_offset);
}

static inline struct krdma_sqe krdma_entry_write_imm(const struct krdma_conn *conn,
						     uint64_t wr_id,
						     const struct krdma_mr *mr,
						     size_t offset, uint32_t length,
						     const struct krdma_remote_mr *remote,
						     uint64_t remote_offset, uint32_t imm)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_WRITE_IMM, conn, wr_id, mr,
						    offset, length, remote, remote_offset);

	entry.imm = imm;
	return entry;
}

static inline struct krdma_sqe krdma_entry_read(const struct krdma_conn *conn, uint64_t wr_id,
						const struct krdma_mr *mr, size_t offset,
						uint32_t length,
						const struct krdma_remote_mr *remote,
						uint64_t remote_offset)
{
	return krdma_entry_remote(KRDMA_OP_READ, conn, wr_id, mr, offset, length, remote,
				  remote_offset);
}

/* 64-bit atomics: the 8 bytes of local memory receive the previous value. */
static inline struct krdma_sqe krdma_entry_compare_swap(const struct krdma_conn *conn,
							uint64_t wr_id,
							const struct krdma_mr *mr,
							size_t offset,
							const struct krdma_remote_mr *remote,
							uint64_t remote_offset, uint64_t compare,
							uint64_t swap)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_COMPARE_SWAP, conn, wr_id, mr,
						    offset, 8, remote, remote_offset);

	entry.operand = compare;
	entry.swap = swap;
	return entry;
}

static inline struct krdma_sqe krdma_entry_fetch_add(const struct krdma_conn *conn,
						     uint64_t wr_id,
						     const struct krdma_mr *mr,
						     size_t offset,
						     const struct krdma_remote_mr *remote,
						     uint64_t remote_offset, uint64_t add)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_FETCH_ADD, conn, wr_id, mr,
						    offset, 8, remote, remote_offset);

	entry.operand = add;
	return entry;
}

/*
 * Writes 8 bytes at once, to the extent that KRDMA_OP_ATOMIC_WRITE guarantees. The remote
 * address must be a multiple of 8.
 */
static inline struct krdma_sqe krdma_entry_atomic_write(const struct krdma_conn *conn,
							uint64_t wr_id,
							const struct krdma_remote_mr *remote,
							uint64_t remote_offset, uint64_t value)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_ATOMIC_WRITE, conn, wr_id, NULL, 0,
						    0, remote, remote_offset);

	entry.operand = value;
	return entry;
}

/*
 * Once the flush completes, the data that earlier work requests wrote, anywhere in the memory
 * of the rkey, are visible to every reader, to the extent that KRDMA_OP_FLUSH guarantees.
 */
static inline struct krdma_sqe krdma_entry_flush(const struct krdma_conn *conn, uint64_t wr_id,
						 const struct krdma_remote_mr *remote)
{
	struct krdma_sqe entry = krdma_entry_remote(KRDMA_OP_FLUSH, conn, wr_id, NULL, 0, 0,
						    remote, 0);

	entry.imm = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY;
	return entry;
}

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_ENTRY_H */
