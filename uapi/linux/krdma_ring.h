/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* krdma: rings, the submission and completion queues that programs share with the kernel. */
#ifndef _UAPI_LINUX_KRDMA_RING_H
#define _UAPI_LINUX_KRDMA_RING_H

#include <linux/krdma.h>
#include <linux/types.h>

/**
 * DOC: Rings
 *
 * A ring is a submission queue (SQ) and a completion queue (CQ) in one area of memory.  A
 * program maps it with mmap() of the ring's descriptor: at offset 0, with exactly
 * &struct krdma_ring_create_args.ring_size bytes, and MAP_SHARED.  The area begins with
 * &struct krdma_ring_header.  The program puts entries into the SQ, and KRDMA_RING_ENTER takes
 * them from there; the kernel puts completions into the CQ.
 *
 * Indices count up without end and wrap at 2^32: the entry is the index modulo the number of
 * entries, which is a power of two.  Only one side writes each index:
 *
 *  - The program fills entries, then stores @sq_tail with release semantics.  The kernel loads
 *    it with acquire semantics, copies the entries, and stores @sq_head with release semantics:
 *    entries before that belong to the program again.
 *  - The kernel fills completions, then stores @cq_tail with release semantics.  The program
 *    loads it with acquire semantics, copies the completions, and stores @cq_head with release
 *    semantics: the kernel loads that with acquire semantics before it reuses the entries.
 *
 * The kernel reads each of the program's fields once for each use and works with the copy.  If
 * the indices are invalid (more entries than the queue has), the ioctl that detects it fails
 * with EBADMSG, and takes and puts nothing.
 *
 * Completions that do not fit in the CQ stay in the kernel.  Until they are delivered they
 * count against the connection's queue depth.  KRDMA_RING_CQ_OVERFLOW in @cq_flags says that
 * there are such completions, and KRDMA_RING_ENTER moves them to the CQ.  A program that reads
 * completions at its own pace, and checks the flag when the CQ is empty, loses none.
 */

/**
 * enum krdma_ring_header_flags - bits of &struct krdma_ring_header.cq_flags
 * @KRDMA_RING_CQ_OVERFLOW: completions wait in the kernel for free CQ entries
 * @KRDMA_RING_DEAD: the device was removed, and no further completion comes
 */
enum krdma_ring_header_flags {
	KRDMA_RING_CQ_OVERFLOW = 1 << 0,
	KRDMA_RING_DEAD = 1 << 1,
};

/**
 * struct krdma_ring_header - header of a ring's memory
 * @sq_entries: written by the kernel, constant: number of SQ entries
 * @cq_entries: written by the kernel, constant: number of CQ entries
 * @sqe_offset: written by the kernel, constant: bytes from the header to the first SQ entry
 * @cqe_offset: written by the kernel, constant: bytes from the header to the first CQ entry
 * @constant_padding: 0
 * @sq_head: written by the kernel: index of the next SQ entry that it takes
 * @sq_head_padding: 0
 * @sq_tail: written by the program: index after the last SQ entry that it has filled
 * @sq_tail_padding: 0
 * @cq_tail: written by the kernel: index after the last CQ entry that it has filled
 * @cq_flags: written by the kernel: &enum krdma_ring_header_flags
 * @cq_tail_padding: 0
 * @cq_head: written by the program: index of the next CQ entry that it takes
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
 * @KRDMA_SQE_UNSIGNALED: the program gets a completion only if the work request fails
 * @KRDMA_SQE_INLINE: the data are copied when the entry is accepted, from any memory of the
 *	calling process: it need not be registered, and the program may reuse it when the ioctl
 *	returns
 * @KRDMA_SQE_FENCE: the work request starts after the earlier reads and atomics have completed
 * @KRDMA_SQE_SOLICITED: solicited event: wakes the peer even if it waits for solicited messages
 *	only
 */
enum krdma_sqe_flags {
	KRDMA_SQE_UNSIGNALED = 1 << 0,
	KRDMA_SQE_INLINE = 1 << 1,
	KRDMA_SQE_FENCE = 1 << 2,
	KRDMA_SQE_SOLICITED = 1 << 3,
};

/**
 * struct krdma_ring_sge - SGE of a ring entry: a range of local memory
 * @addr: start address, in the process that registered the memory
 * @length: bytes
 * @mr: number of the MR; 0 with KRDMA_SQE_INLINE
 */
struct krdma_ring_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 mr;
};

/* The maximum number of SGEs of an entry. */
#define KRDMA_RING_SGES_MAX	128

/**
 * struct krdma_sqe - SQ entry: a work request
 * @opcode: &enum krdma_opcode; not KRDMA_OP_EVENT
 * @flags: &enum krdma_sqe_flags; 0 for KRDMA_OP_RECV
 * @sge_count: number of SGEs, up to KRDMA_RING_SGES_MAX.  With one, @sge is the SGE.  With
 *	more, &struct krdma_ring_sge.addr in @sge points to the array, and the rest of @sge is
 *	0.  With 0, all of @sge is 0.
 * @dest: the destination: the number of a connection, or for KRDMA_OP_RECV also of an SRQ, that
 *	uses this ring for the operation
 * @wr_id: returned in the completion
 * @sge: local memory
 * @remote_addr: write, read, atomics, flush: the remote address; else 0
 * @rkey: write, read, atomics, flush: the rkey; else 0
 * @imm: KRDMA_OP_SEND_IMM, KRDMA_OP_WRITE_IMM: the immediate data; KRDMA_OP_SEND_INVALIDATE:
 *	the peer's rkey to invalidate; KRDMA_OP_FLUSH: &enum krdma_flush; else 0
 * @operand: KRDMA_OP_COMPARE_SWAP: the value to compare with; KRDMA_OP_FETCH_ADD: the value to
 *	add; KRDMA_OP_ATOMIC_WRITE: the value to write; KRDMA_OP_FLUSH: the length of the range
 *	in bytes, up to 2^32 - 1; else 0
 * @swap: KRDMA_OP_COMPARE_SWAP: the value to write if the comparison succeeds; else 0
 *
 * An entry with a non-zero field that its operation does not use is refused.
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
 * @KRDMA_CQE_INVALIDATED: @imm is the rkey that the peer has invalidated
 * @KRDMA_CQE_WRITTEN: the peer's KRDMA_OP_WRITE_IMM consumed the receive: the data are where
 *	the peer wrote them
 */
enum krdma_cqe_flags {
	KRDMA_CQE_IMM = 1 << 0,
	KRDMA_CQE_INVALIDATED = 1 << 1,
	KRDMA_CQE_WRITTEN = 1 << 2,
};

/**
 * struct krdma_cqe - CQ entry: a completion
 * @wr_id: from the work request
 * @dest: the number of the connection; for a receive that an SRQ returns unused, the number of
 *	the SRQ.  It may be closed already.
 * @opcode: operation of the work request, &enum krdma_opcode
 * @status: &enum krdma_wc_status
 * @flags: &enum krdma_cqe_flags
 * @length: bytes received, or bytes of the operation; 0 if it failed
 * @imm: see @flags
 * @vendor_error: the device's vendor error if the work request failed
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
 * @KRDMA_RING_POLLED: completions enter the CQ only inside ioctls: the waiting thread polls the
 *	device itself, and no interrupt is needed.  Without this flag, the kernel puts
 *	completions into the CQ as they arrive, and a program that reads the CQ needs no ioctl.
 * @KRDMA_RING_VECTOR: @vector is given
 */
enum krdma_ring_create_flags {
	KRDMA_RING_POLLED = 1 << 0,
	KRDMA_RING_VECTOR = 1 << 1,
};

/* The maximum number of entries of an SQ or CQ. */
#define KRDMA_RING_ENTRIES_MAX	65536

/**
 * struct krdma_ring_create_args - ioctl(KRDMA_RING_CREATE): create a ring
 * @size: sizeof(struct krdma_ring_create_args)
 * @flags: in: &enum krdma_ring_create_flags
 * @fd: out: the ring
 * @device_id: in: the device; 0: the device of the first connection or SRQ that uses the ring,
 *	from then on
 * @sq_entries: in: number of SQ entries; 0: 64; out: as granted, a power of two
 * @cq_entries: in: number of completions that the ring can hold, including those that stay in
 *	the kernel; 0: 256; out: number of CQ entries, a power of two that may be
 *	KRDMA_RING_EXTRA less
 * @vector: in: the device's completion vector, which determines the CPU; taken modulo the
 *	number of vectors of the device
 * @sqe_offset: out: see &struct krdma_ring_header
 * @cqe_offset: out: see &struct krdma_ring_header
 * @reserved: must be 0
 * @ring_size: out: bytes for mmap()
 *
 * EINVAL: more than KRDMA_RING_ENTRIES_MAX, or than the device supports; or @vector without its
 * flag.  ENODEV: no such device.
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
 * DOC: Processing of entries
 *
 * Entries are taken in order until one is refused.  The ioctl's @error is the cause, a negative
 * errno, and a second field is the number of accepted entries.  The refused entry is the next
 * one: it stays in the SQ, and the kernel does not look at the entries after it.  Each accepted
 * entry gets exactly one completion, or none if it is unsignaled and succeeds.
 *
 *  - EAGAIN: the connection's queue depth is used up: EPOLLOUT reports when it is not
 *  - ENOMEM: there was no memory for the queues of a lane, which its first entry needs: it can be
 *    submitted again
 *  - ENOENT: no such destination, or the destination does not use this ring for the operation;
 *    or no such MR
 *  - ENOTCONN: the connection is not connected, or no longer
 *  - ENODEV: the device was removed
 *  - EOPNOTSUPP: the device does not support the operation
 *  - EINVAL: no such operation, or a flag, an SGE or a field that the operation does not allow
 *  - EMSGSIZE: longer than a message, the inline data or the whole queue depth can carry, or
 *    too many SGEs; or it needs so many work requests of the device that they do not fit behind
 *    the unsignaled ones before it, whose places are free again after a signaled one: post a
 *    signaled one first
 *  - EOVERFLOW: beyond the end of the peer's address space
 *  - EACCES: the MR lacks the right; ERANGE: the SGE is outside of the MR; ESTALE: the MR is
 *    being deregistered; EXDEV: the MR belongs to another device
 *  - EFAULT: the SGE array, or inline data, cannot be read
 *  - EIO: the device's driver failed
 */

/**
 * struct krdma_ring_enter_args - ioctl(KRDMA_RING_ENTER): submit entries and wait for
 * completions
 * @size: sizeof(struct krdma_ring_enter_args)
 * @flags: in: must be 0
 * @to_submit: in: maximum number of SQ entries to take
 * @min_complete: in: wait until the CQ contains this many completions, or is full
 * @deadline_ns: in: deadline of the wait
 * @submitted: out: number of entries accepted
 * @error: out: 0, or why the next entry was refused
 * @completed: out: number of completions in the CQ
 * @reserved: must be 0
 *
 * Does not wait if an entry was refused.  Fails with ETIMEDOUT or EINTR only if nothing was
 * submitted; otherwise it succeeds, with fewer completions.
 *
 * EBADMSG: invalid indices; ENODEV: the device was removed, and no completion is left.
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
 * @count: in: number of entries, up to KRDMA_RING_ENTRIES_MAX
 * @accepted: out: number of entries accepted
 * @error: out: 0, or why the next entry was refused
 * @reserved: must be 0
 *
 * Submits entries like the SQ does, for programs that do not map the ring.  On an SRQ, all
 * entries are KRDMA_OP_RECV with the SRQ's number.  EFAULT: not even the first entry can be
 * read; if a later one cannot be read, it is refused with @error EFAULT.
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
 * @entries: in: pointer to a buffer for an array of &struct krdma_cqe
 * @count: in: maximum number of completions, from 1 to KRDMA_RING_ENTRIES_MAX
 * @min_complete: in: wait until there are this many completions, limited to @count and to the
 *	size of the CQ
 * @deadline_ns: in: deadline of the wait
 * @reaped: out: number of completions taken
 * @reserved: must be 0
 *
 * Takes completions from the CQ.  Each goes to one caller of this ioctl.  A program uses either
 * this ioctl or the mapped CQ.  If the deadline passes or a signal arrives, the ioctl succeeds
 * with fewer than @min_complete completions; with none, it fails with ETIMEDOUT or EINTR.  With
 * @min_complete 0 or @deadline_ns 0, it fails with EAGAIN if there is none.
 *
 * EBADMSG: invalid indices; ENODEV: the device was removed, and no completion is left.
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

/* The maximum number of MRs in KRDMA_RING_CONFINE. */
#define KRDMA_CONFINE_MAX	4096

/**
 * struct krdma_ring_confine_args - ioctl(KRDMA_RING_CONFINE): restrict the MRs that entries may
 * use
 * @size: sizeof(struct krdma_ring_confine_args)
 * @flags: in: must be 0
 * @mr: in: pointer to an array of __u32, the numbers of MRs of the ring's session; ignored if
 *	@count is 0
 * @count: in: number of MRs, up to KRDMA_CONFINE_MAX; 0: none, so that entries carry only
 *	inline data
 * @reserved: must be 0
 *
 * For a ring whose descriptor is passed to a process that must not access all MRs of the
 * session.  Entries that use another MR are refused with ENOENT, as if that MR did not exist:
 * entries of the SQ and of KRDMA_RING_POST, and those of an SRQ that completes on this ring.
 * The restriction cannot be undone, and a further call can only remove MRs.  The number of a
 * deregistered MR stays in the set and then refers to no MR.
 *
 * The restriction applies to ioctls that begin after this one has returned: confine a ring
 * before its descriptor is passed on.
 *
 * E2BIG: more than KRDMA_CONFINE_MAX; EFAULT: the array cannot be read; ENOENT: a number is no
 * MR of the session; EPERM: the ring is already confined to a set that does not contain all of
 * these; EDQUOT: the set, without duplicates, would exceed a memory limit.
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
 * struct krdma_ring_query_args - ioctl(KRDMA_RING_QUERY): query the ring
 * @size: sizeof(struct krdma_ring_query_args)
 * @flags: in: must be 0
 * @device_id: out: its device, 0: none yet
 * @sq_entries: out: as granted
 * @cq_entries: out: as granted
 * @reserved: must be 0
 * @submitted: out: number of entries accepted, from the SQ and by KRDMA_RING_POST
 * @completed: out: number of completions put into the CQ
 * @ring_size: out: bytes for mmap()
 * @sqe_offset: out: see &struct krdma_ring_header
 * @cqe_offset: out: see &struct krdma_ring_header
 * @ring_flags: out: the flags it was created with, &enum krdma_ring_create_flags
 * @vector: out: the completion vector that the caller of KRDMA_RING_CREATE asked for
 *
 * Returns all that a process needs to map a ring that another process has created.
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
 * enum krdma_srq_create_flags - bits of &struct krdma_srq_create_args.flags
 * @KRDMA_SRQ_CREATE_LANES: the connections that use the SRQ can be lanes, too.  Then the memory of
 *	its receives has to be registered with KRDMA_MR_REGISTER_LANES, and the lanes to one host
 *	take no more than a quarter of the depth.  At least four receives for each host should be
 *	posted that is to be served at a time.
 */
enum krdma_srq_create_flags {
	KRDMA_SRQ_CREATE_LANES = 1 << 0,
};

/**
 * struct krdma_srq_create_args - ioctl(KRDMA_SRQ_CREATE): create a shared receive queue
 * @size: sizeof(struct krdma_srq_create_args)
 * @flags: in: &enum krdma_srq_create_flags
 * @fd: out: the SRQ
 * @id: out: its number, for ring entries
 * @ring_fd: in: the ring for submissions and completions of its receives, for every connection
 *	that uses the SRQ
 * @device_id: in: the device; 0: the device of the ring
 * @depth: in: maximum number of posted receives
 * @max_sge: in: SGEs of a receive; 0: 1.  The device may have fewer for an SRQ than
 *	&struct krdma_device_query_args.max_recv_sge
 *
 * EOPNOTSUPP: the device has no SRQs; EINVAL: more than the device supports, or the ring has no
 * device yet and @device_id is 0; ENOSPC: more completions than the ring has left, where
 * recently closed objects may still count; EXDEV: the ring is of another session or device;
 * ENODEV: no such device.  After an error a ring without a device may have got @device_id.
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
 * struct krdma_srq_query_args - ioctl(KRDMA_SRQ_QUERY): query the shared receive queue
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
