/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: memory.  <linux/krdma.h> includes it.
 */
#ifndef _UAPI_LINUX_KRDMA_MR_H
#define _UAPI_LINUX_KRDMA_MR_H

#include <linux/krdma.h>
#include <linux/krdma_mr_desc.h>
#include <linux/types.h>

/**
 * struct krdma_mr_register_args - ioctl(KRDMA_MR_REGISTER): for a device to use
 * @size: sizeof(struct krdma_mr_register_args)
 * @flags: in: must be 0
 * @addr: in: where it begins, in the calling process
 * @length: in: bytes
 * @device_id: in: which device
 * @access: in: &enum krdma_access
 * @id: out: the memory's number in the session
 * @rkey: out: the key for peers; 0 without remote rights, or if it has several
 *	keys: see &struct krdma_mr_query_args
 * @remote_addr: out: its first address for peers: @addr
 *
 * The pages that are there now are pinned, and count for the process's RLIMIT_MEMLOCK
 * as all pinned pages do: each registration once, and beside what the process has
 * locked itself.  What the process maps there later is not reached.  It
 * ends with KRDMA_MR_DEREGISTER, with the session and all that was made in it,
 * or with the process, whoever else has the session then: with its address space,
 * so also with exec().  Connections with operations in flight that use the memory
 * of a process that ends are aborted, and shared receive queues in which it is room
 * for messages end, with the connections that take from there.
 *
 * EACCES, EFAULT: it is not all there, or not with these rights; EPERM: the process
 * may not lock memory; ENOMEM: nor so much of it: see RLIMIT_MEMLOCK; EFBIG: too
 * long for the device; EOPNOTSUPP: the device cannot do it, or unknown rights;
 * EINVAL: length 0, or a peer may write what one may not write oneself; EAGAIN: the
 * pages cannot be pinned now; EADDRNOTAVAIL: krdma registers the memory itself, on a
 * queue pair that is connected to its own device, and no port of the device takes one:
 * it has no GID, or as an iWARP device no network address; ETIMEDOUT: likewise, and the
 * device does not answer; ENODEV: no such device.
 */
struct krdma_mr_register_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 device_id;
	__u32 access;
	__u32 id;
	__u32 rkey;
	__aligned_u64 remote_addr;
};

#define KRDMA_MR_REGISTER	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_MR_REGISTER)

/**
 * enum krdma_mr_deregister_flags - bits of &struct krdma_mr_deregister_args.flags
 * @KRDMA_DEREGISTER_LATER: if operations with it are under way, with the last of them
 */
enum krdma_mr_deregister_flags {
	KRDMA_DEREGISTER_LATER = 1 << 0,
};

/**
 * struct krdma_mr_deregister_args - ioctl(KRDMA_MR_DEREGISTER): take it back
 * @size: sizeof(struct krdma_mr_deregister_args)
 * @flags: in: &enum krdma_mr_deregister_flags
 * @id: in: the memory's number
 * @reserved: must be 0
 *
 * When it has succeeded without KRDMA_DEREGISTER_LATER, no peer and no device reaches
 * the memory any more.  EBUSY: operations with it are under way.
 */
struct krdma_mr_deregister_args {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 reserved;
};

#define KRDMA_MR_DEREGISTER	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_MR_DEREGISTER)

/**
 * struct krdma_mr_query_args - ioctl(KRDMA_MR_QUERY): what it is
 * @size: sizeof(struct krdma_mr_query_args)
 * @flags: in: must be 0
 * @id: in: the memory's number
 * @access: out: &enum krdma_access
 * @addr: out: where it begins
 * @length: out: bytes
 * @remote_addr: out: its first address for peers
 * @rkey: out: the key for peers; 0 without remote rights, or if it has several
 *	keys
 * @device_id: out: the device
 * @part_offset: in: where the part begins that @descriptor is to tell of
 * @part_length: in: its length; 0: to the end, or as far as @part_key covers it
 * @descriptor: out: what to tell a peer of the part, for a message; all zero without
 *	remote rights.  The key lets a peer reach all that it covers.
 * @part_key: out: the key for peers that covers the beginning of the part, 0 without
 *	remote rights
 * @key_count: out: how many keys it has for peers.  More than one if krdma registers
 *	the memory itself and it takes more pages than
 *	&struct krdma_device_query_args.max_fast_reg_pages; @remote_addr goes on from one to
 *	the next.
 * @part_reach: out: how many bytes @part_key covers from @part_offset on, 0 without
 *	remote rights
 *
 * ERANGE: the part is not in the memory; EMSGSIZE: one key does not cover it.
 */
struct krdma_mr_query_args {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 access;
	__aligned_u64 addr;
	__aligned_u64 length;
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 device_id;
	__aligned_u64 part_offset;
	__aligned_u64 part_length;
	struct krdma_mr_desc descriptor;
	__u32 part_key;
	__u32 key_count;
	__aligned_u64 part_reach;
};

#define KRDMA_MR_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_MR_QUERY)

/**
 * enum krdma_advice - &struct krdma_mr_advise_args.advice
 * @KRDMA_ADVICE_READ: it will be read soon
 * @KRDMA_ADVICE_WRITE: it will be written soon
 */
enum krdma_advice {
	KRDMA_ADVICE_READ = 1,
	KRDMA_ADVICE_WRITE = 2,
};

/**
 * struct krdma_mr_advise_args - ioctl(KRDMA_MR_ADVISE): what it is needed for
 * @size: sizeof(struct krdma_mr_advise_args)
 * @flags: in: must be 0
 * @id: in: the memory's number
 * @advice: in: &enum krdma_advice
 * @offset: in: where in it
 * @length: in: how much of it
 *
 * Memory that is registered today is resident from its registration to its end, so
 * this has nothing to fetch; a program need not know that.
 *
 * ERANGE: not in the memory; EACCES: it was registered without the right;
 * EINVAL: no such advice.
 */
struct krdma_mr_advise_args {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 advice;
	__aligned_u64 offset;
	__aligned_u64 length;
};

#define KRDMA_MR_ADVISE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_MR_ADVISE)

#endif /* _UAPI_LINUX_KRDMA_MR_H */
