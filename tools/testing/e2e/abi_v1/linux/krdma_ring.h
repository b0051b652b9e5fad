/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: queues, and the rings that programs share with the kernel.
 */
#ifndef _UAPI_LINUX_KRDMA_RING_H
#define _UAPI_LINUX_KRDMA_RING_H

#include <linux/krdma.h>
#include <linux/types.h>

/**
 * DOC: Rings
 *
 * A queue has two rings in one piece of memory, which mmap() of the queue's
 * descriptor gives, at offset 0, with exactly &struct krdma_ring_create_args.ring_size
 * bytes, and MAP_SHARED.  It begins with &struct krdma_ring_header.  In the submission ring
 * the program puts what it wants done and KRDMA_RING_ENTER takes it from there; in
 * the completion ring the kernel puts what has ended.
 *
 * Indices count on without end, and wrap at 2^32: the entry is the index modulo the
 * number of entries, which is a power of two.  Each index has one side that writes
 * it:
 *
 *  - The program fills entries, then stores @sq_tail with release semantics.
 *    The kernel loads it with acquire semantics, copies the entries, and stores
 *    @sq_head with release semantics: entries before that belong to the program
 *    again.
 *  - The kernel fills completions, then stores @cq_tail with release semantics.
 *    The program loads it with acquire semantics, copies the completions, and
 *    stores @cq_head with release semantics: the kernel loads that with acquire
 *    semantics before it uses the room.
 *
 * The kernel reads each of the program's fields once for each use and works with
 * the copy.  Indices that make no sense (more entries than there are) are refused
 * with EBADMSG by whichever request finds them, and nothing is taken or put.
 *
 * What has ended and does not fit in the completion ring waits in the kernel, and
 * keeps its place in its connection's depth; KRDMA_RING_CQ_OVERFLOW in @cq_flags says that
 * it does.  KRDMA_RING_ENTER brings it over.  A program that reads completions
 * in its own time and looks at the flag when the ring is empty loses nothing.
 */

/**
 * enum krdma_ring_header_flags - bits of &struct krdma_ring_header.cq_flags
 * @KRDMA_RING_CQ_OVERFLOW: completions wait in the kernel for room
 * @KRDMA_RING_DEAD: the device has gone, and no further completion comes
 */
enum krdma_ring_header_flags {
	KRDMA_RING_CQ_OVERFLOW = 1 << 0,
	KRDMA_RING_DEAD = 1 << 1,
};

/**
 * struct krdma_ring_header - the beginning of a queue's memory
 * @sq_entries: the kernel's, constant: entries of the submission ring
 * @cq_entries: the kernel's, constant: entries of the completion ring
 * @sqe_offset: the kernel's, constant: bytes from here to the first entry
 * @cqe_offset: the kernel's, constant: bytes from here to the first completion
 * @constant_padding: 0
 * @sq_head: the kernel's: the next entry that it takes
 * @sq_head_padding: 0
 * @sq_tail: the program's: the first entry that is not there yet
 * @sq_tail_padding: 0
 * @cq_tail: the kernel's: the first completion that is not there yet
 * @cq_flags: the kernel's: &enum krdma_ring_header_flags
 * @cq_tail_padding: 0
 * @cq_head: the program's: the next completion that it takes
 * @cq_head_padding: 0
 *
 * The constants are for the program's convenience: the kernel does not read them.
 */
struct krdma_ring_header {
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 sqe_offset;
	__u32 cqe_offset;
	__u32 constant_padding[12];
	__u32 sq_head;
	__u32 sq_head_padding[15];
	__u32 sq_tail;
	__u32 sq_tail_padding[15];
	__u32 cq_tail;
	__u32 cq_flags;
	__u32 cq_tail_padding[14];
	__u32 cq_head;
	__u32 cq_head_padding[15];
};

/**
 * enum krdma_sqe_flags - bits of &struct krdma_sqe.flags
 * @KRDMA_SQE_UNSIGNALED: it completes towards the program only if it fails
 * @KRDMA_SQE_INLINE: the data are copied, from anywhere in the calling process's
 *	memory: nothing need be registered, and it is the program's again
 *	when the request returns
 * @KRDMA_SQE_FENCE: it begins after the reads and atomics before it have ended
 * @KRDMA_SQE_SOLICITED: the peer is woken for it even if it waits for important
 *	messages only
 */
enum krdma_sqe_flags {
	KRDMA_SQE_UNSIGNALED = 1 << 0,
	KRDMA_SQE_INLINE = 1 << 1,
	KRDMA_SQE_FENCE = 1 << 2,
	KRDMA_SQE_SOLICITED = 1 << 3,
};

/**
 * struct krdma_ring_sge - a piece of local memory
 * @addr: where it begins, in the process that has registered it
 * @length: bytes
 * @mr: the number of the memory that it is in; 0 with KRDMA_SQE_INLINE
 */
struct krdma_ring_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 mr;
};

/* As many pieces as an entry can have. */
#define KRDMA_RING_SGES_MAX	128

/**
 * struct krdma_sqe - an operation to be done
 * @opcode: &enum krdma_opcode; not KRDMA_OP_LOCAL_INV, KRDMA_OP_REG_MR
 * @flags: &enum krdma_sqe_flags; 0 for KRDMA_OP_RECV
 * @sge_count: pieces of local memory, to KRDMA_RING_SGES_MAX.  One is @sge itself;
 *	of more, &struct krdma_ring_sge.addr in @sge points to the array, and the rest
 *	of it is 0.  With 0, all of it is 0.
 * @dest: the number of the connection, or for KRDMA_OP_RECV also of the shared
 *	receive queue, that has this queue for it
 * @wr_id: comes back with the completion
 * @sge: local memory
 * @remote_addr: write, read, atomics, flush: the peer's address; else 0
 * @rkey: write, read, atomics, flush: its key; else 0
 * @imm: KRDMA_OP_SEND_IMM, KRDMA_OP_WRITE_IMM: the immediate data;
 *	KRDMA_OP_SEND_INVALIDATE: the peer's key; KRDMA_OP_FLUSH: &enum krdma_flush;
 *	else 0
 * @operand: KRDMA_OP_COMPARE_SWAP: what is compared; KRDMA_OP_FETCH_ADD: what is
 *	added; KRDMA_OP_ATOMIC_WRITE: what is written; KRDMA_OP_FLUSH: the length of the
 *	range, to 2^32 - 1; else 0
 * @swap: KRDMA_OP_COMPARE_SWAP: what is written if they are equal; else 0
 *
 * Fields that an operation does not use and that are not 0 are refused.
 */
struct krdma_sqe {
	__u8 opcode;
	__u8 flags;
	__u16 sge_count;
	__u32 dest;
	__aligned_u64 wr_id;
	struct krdma_ring_sge sge;
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 imm;
	__aligned_u64 operand;
	__aligned_u64 swap;
};

/**
 * enum krdma_cqe_flags - bits of &struct krdma_cqe.flags
 * @KRDMA_CQE_IMM: @imm is the peer's immediate data
 * @KRDMA_CQE_INVALIDATED: @imm is the key that the peer has invalidated
 * @KRDMA_CQE_WRITTEN: the receive was used up by the peer's KRDMA_OP_WRITE_IMM:
 *	the data are where the peer wrote them
 */
enum krdma_cqe_flags {
	KRDMA_CQE_IMM = 1 << 0,
	KRDMA_CQE_INVALIDATED = 1 << 1,
	KRDMA_CQE_WRITTEN = 1 << 2,
};

/**
 * struct krdma_cqe - an operation has ended
 * @wr_id: which
 * @dest: of which connection; of a shared receive queue's receive that comes back
 *	unused, of which shared receive queue.  It may be closed meanwhile.
 * @opcode: what it was, &enum krdma_opcode
 * @status: how it ended, &enum krdma_wc_status
 * @flags: &enum krdma_cqe_flags
 * @length: bytes received, or of the operation; 0 if it failed
 * @imm: see @flags
 * @vendor_error: if it failed, what the device says besides
 * @reserved: 0
 */
struct krdma_cqe {
	__aligned_u64 wr_id;
	__u32 dest;
	__u8 opcode;
	__u8 status;
	__u16 flags;
	__u32 length;
	__u32 imm;
	__u32 vendor_error;
	__u32 reserved;
};

/**
 * enum krdma_ring_create_flags - bits of &struct krdma_ring_create_args.flags
 * @KRDMA_RING_POLLED: completions come into the ring only inside requests: the
 *	waiting thread asks the device itself, and no interrupt is needed.  Without
 *	it, the kernel puts them there as they come, and a program that looks at the
 *	ring needs no request.
 * @KRDMA_RING_VECTOR: @vector is given
 */
enum krdma_ring_create_flags {
	KRDMA_RING_POLLED = 1 << 0,
	KRDMA_RING_VECTOR = 1 << 1,
};

/* The most entries that a ring can have. */
#define KRDMA_RING_ENTRIES_MAX	65536

/**
 * struct krdma_ring_create_args - ioctl(KRDMA_RING_CREATE): where operations end
 * @size: sizeof(struct krdma_ring_create_args)
 * @flags: in: &enum krdma_ring_create_flags
 * @fd: out: the queue
 * @device_id: in: on which device; 0: on that of the first connection or shared
 *	receive queue that uses it, from then on
 * @sq_entries: in: entries of the submission ring; 0: 64; out: as granted, a power
 *	of two
 * @cq_entries: in: completions that it has room for, those that the kernel keeps
 *	included; 0: 256; out: entries of the completion ring, a power of two that may
 *	be KRDMA_RING_EXTRA less
 * @vector: in: the device's completion vector, and with it the processor; modulo as
 *	many as the device has
 * @sqe_offset: out: see &struct krdma_ring_header
 * @cqe_offset: out: see &struct krdma_ring_header
 * @reserved: must be 0
 * @ring_size: out: for mmap()
 *
 * EINVAL: more than KRDMA_RING_ENTRIES_MAX, or than the device can; or @vector
 * without its flag.  ENODEV: no such device.
 */
struct krdma_ring_create_args {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 device_id;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 vector;
	__u32 sqe_offset;
	__u32 cqe_offset;
	__u32 reserved;
	__aligned_u64 ring_size;
};

#define KRDMA_RING_CREATE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_RING_CREATE)

/**
 * DOC: What becomes of entries
 *
 * Entries are taken in their order, until one is refused.  @error of the request
 * says why, a negative errno, and how many were accepted is said besides; the
 * refused one is the next, is not taken from the ring, and what follows it is not
 * looked at.  Each that was accepted completes exactly once, or not at all
 * if it is silent and succeeds.
 *
 *  - EAGAIN: the connection's depth is used up: EPOLLOUT says when it is not
 *  - ENOENT: no such target, or one that has not this queue for it; or no such
 *    memory
 *  - ENOTCONN: the connection is not, or no longer, connected
 *  - ENODEV: its device has gone
 *  - EOPNOTSUPP: the device cannot do this
 *  - EINVAL: no such operation, or not with these flags, this memory, or a field
 *    that it does not use
 *  - EMSGSIZE: more than a message, the inline data, or the whole depth can carry,
 *    or memory in too many places
 *  - EOVERFLOW: beyond the end of the peer's addresses
 *  - EACCES: local memory without that right; ERANGE: outside of it; ESTALE:
 *    memory that is being released; EXDEV: of another device
 *  - EFAULT: pieces, or inline data, cannot be read
 *  - EIO: the device's driver failed
 */

/**
 * struct krdma_ring_enter_args - ioctl(KRDMA_RING_ENTER): submit and wait
 * @size: sizeof(struct krdma_ring_enter_args)
 * @flags: in: must be 0
 * @to_submit: in: at most so many entries of the submission ring
 * @min_complete: in: wait until so many completions are in the ring, or the ring is
 *	full
 * @deadline_ns: in: how long to wait
 * @submitted: out: entries accepted
 * @error: out: 0, or why the next one was not
 * @completed: out: completions that are in the ring
 * @reserved: must be 0
 *
 * Does not wait if an entry was refused.  ETIMEDOUT and EINTR only if nothing was
 * submitted; otherwise it succeeds, with fewer completions.
 *
 * EBADMSG: indices that make no sense; ENODEV: the device has gone, and no
 * completion is left.
 */
struct krdma_ring_enter_args {
	__u32 size;
	__u32 flags;
	__u32 to_submit;
	__u32 min_complete;
	__aligned_u64 deadline_ns;
	__u32 submitted;
	__s32 error;
	__u32 completed;
	__u32 reserved;
};

#define KRDMA_RING_ENTER	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_RING_ENTER)

/**
 * struct krdma_ring_post_args - ioctl(KRDMA_RING_POST), ioctl(KRDMA_SRQ_POST)
 * @size: sizeof(struct krdma_ring_post_args)
 * @flags: in: must be 0
 * @entries: in: pointer to an array of &struct krdma_sqe
 * @count: in: how many, to KRDMA_RING_ENTRIES_MAX
 * @accepted: out: how many were accepted
 * @error: out: 0, or why the next one was not
 * @reserved: must be 0
 *
 * The same as by the ring, for programs that want none.  To a shared receive queue,
 * entries are KRDMA_OP_RECV with its number.  EFAULT: not even the first entry
 * could be read; a later one is refused with it.
 */
struct krdma_ring_post_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 entries;
	__u32 count;
	__u32 accepted;
	__s32 error;
	__u32 reserved;
};

#define KRDMA_RING_POST	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_RING_POST)
#define KRDMA_SRQ_POST		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_SRQ_POST)

/**
 * struct krdma_ring_reap_args - ioctl(KRDMA_RING_REAP): take completions
 * @size: sizeof(struct krdma_ring_reap_args)
 * @flags: in: must be 0
 * @entries: in: pointer to room for an array of &struct krdma_cqe
 * @count: in: how many at most, from 1 to KRDMA_RING_ENTRIES_MAX
 * @min_complete: in: wait until there are so many, at most @count and what the ring
 *	holds
 * @deadline_ns: in: how long to wait
 * @reaped: out: how many
 * @reserved: must be 0
 *
 * Takes them from the completion ring.  Each goes to one caller of this request.  A
 * program uses either this or the ring.  Fewer than @min_complete, when the
 * deadline has passed or a signal has come, are a success; ETIMEDOUT and EINTR:
 * there is none.  With @min_complete 0 or @deadline_ns 0, EAGAIN: there is none.
 *
 * EBADMSG: indices that make no sense; ENODEV: the device has gone, and no
 * completion is left.
 */
struct krdma_ring_reap_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 entries;
	__u32 count;
	__u32 min_complete;
	__aligned_u64 deadline_ns;
	__u32 reaped;
	__u32 reserved;
};

#define KRDMA_RING_REAP	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_RING_REAP)

/* Numbers that a queue can be confined to. */
#define KRDMA_CONFINE_MAX	4096

/**
 * struct krdma_ring_confine_args - ioctl(KRDMA_RING_CONFINE): which memory entries may name
 * @size: sizeof(struct krdma_ring_confine_args)
 * @flags: in: must be 0
 * @mr: in: pointer to an array of __u32, the numbers of memory of the queue's
 *	session; not looked at if @count is 0
 * @count: in: how many, to KRDMA_CONFINE_MAX; 0: none, so that entries carry no data
 *	but inline ones
 * @reserved: must be 0
 *
 * For a queue whose descriptor is to be handed to a process that must not reach all
 * memory of the session.  Entries that name other memory are refused with ENOENT, as if
 * there was none of that number: those of the ring and of KRDMA_RING_POST, and those of
 * a shared receive queue that completes here.  It cannot be undone, and a further
 * request can only take numbers away.  A number that is released stays in the set, and
 * is nobody's then.
 *
 * It holds for requests that begin after this one has returned: confine a queue before
 * its descriptor is handed over.
 *
 * E2BIG: more than KRDMA_CONFINE_MAX; EFAULT: the array cannot be read; ENOENT: a number
 * is no memory of the session's; EPERM: the queue is confined already, and not to all of
 * these.
 */
struct krdma_ring_confine_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 mr;
	__u32 count;
	__u32 reserved;
};

#define KRDMA_RING_CONFINE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_RING_CONFINE)

/**
 * struct krdma_ring_query_args - ioctl(KRDMA_RING_QUERY): how it is
 * @size: sizeof(struct krdma_ring_query_args)
 * @flags: in: must be 0
 * @device_id: out: its device, 0: none yet
 * @sq_entries: out: as granted
 * @cq_entries: out: as granted
 * @reserved: must be 0
 * @submitted: out: entries accepted, by either way
 * @completed: out: completions put into the ring
 * @ring_size: out: for mmap()
 * @sqe_offset: out: see &struct krdma_ring_header
 * @cqe_offset: out: see &struct krdma_ring_header
 * @ring_flags: out: the flags that it was made with, &enum krdma_ring_create_flags
 * @vector: out: the completion vector that was asked for
 *
 * All that is needed to map a queue that another process has made.
 */
struct krdma_ring_query_args {
	__u32 size;
	__u32 flags;
	__u32 device_id;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 reserved;
	__aligned_u64 submitted;
	__aligned_u64 completed;
	__aligned_u64 ring_size;
	__u32 sqe_offset;
	__u32 cqe_offset;
	__u32 ring_flags;
	__u32 vector;
};

#define KRDMA_RING_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_RING_QUERY)

/**
 * struct krdma_srq_create_args - ioctl(KRDMA_SRQ_CREATE): receives for many connections
 * @size: sizeof(struct krdma_srq_create_args)
 * @flags: in: must be 0
 * @fd: out: the shared receive queue
 * @id: out: its number, for entries
 * @ring_fd: in: the queue where its receives are asked for and complete, for every
 *	connection that uses it
 * @device_id: in: on which device; 0: on that of the queue
 * @depth: in: receives that it has room for
 * @max_sge: in: pieces of memory of one; 0: 1
 *
 * EOPNOTSUPP: the device has none; EINVAL: more than it can, or the queue has no
 * device yet and none is named; ENOSPC: more than the queue has left, where what was
 * closed just now may still count; EXDEV: the queue is of another session or device;
 * ENODEV: no such device.
 */
struct krdma_srq_create_args {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 id;
	__s32 ring_fd;
	__u32 device_id;
	__u32 depth;
	__u32 max_sge;
};

#define KRDMA_SRQ_CREATE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_SRQ_CREATE)

/**
 * struct krdma_srq_query_args - ioctl(KRDMA_SRQ_QUERY): how it is
 * @size: sizeof(struct krdma_srq_query_args)
 * @flags: in: must be 0
 * @id: out: its number
 * @device_id: out: its device
 * @depth: out: as granted
 * @max_sge: out: as granted
 */
struct krdma_srq_query_args {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 device_id;
	__u32 depth;
	__u32 max_sge;
};

#define KRDMA_SRQ_QUERY		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_SRQ_QUERY)

#endif /* _UAPI_LINUX_KRDMA_RING_H */
