/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* krdma: memory regions.  <linux/krdma.h> includes this file. */
#ifndef _UAPI_LINUX_KRDMA_MR_H
#define _UAPI_LINUX_KRDMA_MR_H

#include <linux/krdma.h>
#include <linux/krdma_mr_desc.h>
#include <linux/types.h>

/**
 * enum krdma_mr_register_flags - bits of &struct krdma_mr_register_args.flags
 * @KRDMA_MR_REGISTER_LANES: lanes can use the memory, too, and so can the peers of lanes, with the
 *	same rkeys and rights as those of plain connections.  krdma pins it itself, whatever the
 *	device's driver supports.
 * @KRDMA_MR_REGISTER_WINDOWS: with KRDMA_MR_REGISTER_LANES: the devices of peers' hosts may access
 *	the memory over lanes, where that works, as over plain connections.  Without it, the
 *	processors of both hosts carry out what peers of lanes ask for, which takes longer, and no
 *	other host gets a key.  With it, the host of a peer gets a key for all that the rkey covers,
 *	and its kernel checks what its programs do; and deregistration waits until that host says
 *	that nothing is in flight, for five seconds at most: then its lanes end.  The end of a lane
 *	does not end the access, of what is in flight or for other lanes to that host: deregister
 *	the memory before it is used for anything else.
 */
enum krdma_mr_register_flags {
	KRDMA_MR_REGISTER_LANES = 1 << 0,
	KRDMA_MR_REGISTER_WINDOWS = 1 << 1,
};

/**
 * struct krdma_mr_register_args - ioctl(KRDMA_MR_REGISTER): register memory for a device
 * @size: sizeof(struct krdma_mr_register_args)
 * @flags: in: &enum krdma_mr_register_flags
 * @addr: in: start address in the calling process
 * @length: in: bytes
 * @device_id: in: the device
 * @access: in: &enum krdma_access
 * @id: out: the MR's number in the session
 * @rkey: out: the rkey; 0 without remote rights, or if the MR has several rkeys: see
 *	&struct krdma_mr_query_args
 * @remote_addr: out: the MR's first address for peers: @addr
 *
 * The pages that are mapped now are pinned, and count against the process's RLIMIT_MEMLOCK like
 * all pinned pages: once for each MR, and in addition to memory that the process has locked.
 * Pages that the process maps there later are not part of the MR.  The MR ends with
 * KRDMA_MR_DEREGISTER, or with the session and all objects created in it.  It also ends with
 * the process's address space, so with its exit or exec(), even if other processes have the
 * session.  When a process ends, the connections with work requests in flight that use its MRs
 * are aborted.  SRQs with posted receives in its MRs end, together with the connections that
 * use these SRQs.
 *
 * EACCES, EFAULT: part of the range is not mapped, or lacks the rights; EPERM: the process may
 * not lock memory; ENOMEM: it may not lock as much: see RLIMIT_MEMLOCK; EFBIG: longer than the
 * device supports; EOPNOTSUPP: the device does not support it, the memory cannot be pinned for
 * long, as that of a file in a DAX file system, or unknown rights; EINVAL: length 0, a remote
 * write or atomic right without KRDMA_ACCESS_LOCAL_WRITE, or KRDMA_MR_REGISTER_WINDOWS
 * without KRDMA_MR_REGISTER_LANES; EAGAIN: the pages cannot be pinned now; EADDRNOTAVAIL:
 * krdma registers the memory itself, on a queue pair that is connected to its own device, and
 * no port of the device can connect one: it has no GID, or as an iWARP device no network
 * address; ETIMEDOUT: in the same case the device does not answer; ENODEV: no such device.
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
 * @KRDMA_DEREGISTER_LATER: if work requests that use the MR are in flight, deregister it when
 *	the last of them completes
 */
enum krdma_mr_deregister_flags {
	KRDMA_DEREGISTER_LATER = 1 << 0,
};

/**
 * struct krdma_mr_deregister_args - ioctl(KRDMA_MR_DEREGISTER): deregister a memory region
 * @size: sizeof(struct krdma_mr_deregister_args)
 * @flags: in: &enum krdma_mr_deregister_flags
 * @id: in: the MR's number
 * @reserved: must be 0
 *
 * After success without KRDMA_DEREGISTER_LATER, no peer and no device accesses the memory any
 * more.  EBUSY: work requests that use it are in flight.
 */
struct krdma_mr_deregister_args {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 reserved;
};

#define KRDMA_MR_DEREGISTER	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_MR_DEREGISTER)

/**
 * struct krdma_mr_query_args - ioctl(KRDMA_MR_QUERY): query a memory region
 * @size: sizeof(struct krdma_mr_query_args)
 * @flags: in: must be 0
 * @id: in: the MR's number
 * @access: out: &enum krdma_access
 * @addr: out: start address
 * @length: out: bytes
 * @remote_addr: out: the MR's first address for peers
 * @rkey: out: the rkey; 0 without remote rights, or if the MR has several rkeys
 * @device_id: out: the device
 * @part_offset: in: start of the part that @descriptor describes, in bytes from the MR's start
 * @part_length: in: bytes of the part; 0: to the end of the MR, or as far as @part_key covers
 *	it
 * @descriptor: out: the memory descriptor of the part, to be sent to a peer; all zero without
 *	remote rights.  Its rkey lets a peer access everything that the rkey covers.
 * @part_key: out: the rkey that covers the start of the part, 0 without remote rights
 * @key_count: out: number of rkeys of the MR.  More than one if krdma registers the memory
 *	itself and it takes more pages than &struct krdma_device_query_args.max_fast_reg_pages;
 *	@remote_addr continues from one rkey to the next.
 * @part_reach: out: bytes that @part_key covers from @part_offset on, 0 without remote rights
 *
 * ERANGE: the part is not in the MR; EMSGSIZE: one rkey does not cover the part.
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
 * @KRDMA_ADVICE_READ: the memory will be read soon
 * @KRDMA_ADVICE_WRITE: the memory will be written soon
 */
enum krdma_advice {
	KRDMA_ADVICE_READ = 1,
	KRDMA_ADVICE_WRITE = 2,
};

/**
 * struct krdma_mr_advise_args - ioctl(KRDMA_MR_ADVISE): announce the use of a memory region
 * @size: sizeof(struct krdma_mr_advise_args)
 * @flags: in: must be 0
 * @id: in: the MR's number
 * @advice: in: &enum krdma_advice
 * @offset: in: start of the range, in bytes from the MR's start
 * @length: in: bytes of the range
 *
 * All MRs are resident from registration to deregistration today, so this ioctl has nothing to
 * prefetch; a program need not know that.
 *
 * ERANGE: the range is not in the MR; EACCES: the MR lacks the right; EINVAL: unknown advice.
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

/**
 * struct krdma_mr_set_name_args - ioctl(KRDMA_MR_SET_NAME): name a memory region for peers
 * @size: sizeof(struct krdma_mr_set_name_args)
 * @flags: in: must be 0
 * @id: in: the MR's number
 * @reserved: must be 0
 * @name: in: the name, with a terminating zero, and zeroes behind it; empty: no name any more
 *
 * The peer of a lane of the session finds the MR by its name, with KRDMA_CONN_FIND_MR: it gets
 * the rkey, and so can access the memory with the rights of the MR.  An MR has one name at most; a
 * new one replaces it.  The name ends with the MR.
 *
 * EEXIST: another MR of the session and the device has the name; EACCES: peers of lanes cannot
 * access the MR: it has no remote rights, or was not registered with KRDMA_MR_REGISTER_LANES;
 * EINVAL: the name has no terminating zero, or something else behind it; ENOENT: no such MR.
 */
struct krdma_mr_set_name_args {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 reserved;
	char name[KRDMA_NAME_MAX];
};

#define KRDMA_MR_SET_NAME	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_MR_SET_NAME)

#endif /* _UAPI_LINUX_KRDMA_MR_H */
