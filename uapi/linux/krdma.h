/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: RDMA as a kernel service.  What programs and the kernel agree on.
 */
#ifndef _UAPI_LINUX_KRDMA_H
#define _UAPI_LINUX_KRDMA_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: General ioctl format
 *
 * Opening ``/dev/krdma`` makes a session.  Every request is an ioctl whose
 * argument points to a structure that begins with its own size, ``__u32
 * size``, set by the caller to the sizeof() it was compiled with.
 *
 *  - A structure shorter than the kernel's is read as if the rest were zero,
 *    and only the caller's length is written back.
 *  - A structure longer than the kernel's is accepted when the part that the
 *    kernel does not know is zero, and that part is left as it is.
 *  - A structure shorter than the first published version of the request is
 *    refused.
 *
 * Fields marked "in" are the caller's, and the kernel leaves them as they were.
 *
 * So old programs run on new modules and new programs on old ones, as long as
 * they do not ask for what the module does not have.  Flags that the module
 * does not know and reserved fields that are not zero are refused, never
 * ignored.  All structures have the same layout for 32-bit and 64-bit callers.
 *
 * errno means the same for every request:
 *
 *  - ENOTTY: the module does not have this request
 *  - EFAULT: the structure, or memory that it points to, cannot be accessed
 *  - EINVAL: the size is below the request's first version or above one page,
 *    or a field of the structure is out of range
 *  - E2BIG: the part of the structure that the module does not know is not zero
 *  - EOPNOTSUPP: an unknown flag or a non-zero reserved field; or the device
 *    cannot do what was asked
 *  - ENOENT: no such object: it never was, or the caller may not see it
 *  - ENODEV: the object's RDMA device has been removed
 *  - ENOMEM: out of memory
 *  - EINTR: a signal came first
 *  - EIO: the device's driver failed to answer
 *
 * What a request adds to this is said in its own comment.
 */
#define KRDMA_IOCTL_TYPE	0xBC

/*
 * The numbers of the requests.  A number is never used again for another
 * meaning.
 */
enum {
	KRDMA_CMD_INFO = 0x00,
	KRDMA_CMD_DEVICE_QUERY = 0x01,
	KRDMA_CMD_PORT_QUERY = 0x02,
};

/*
 * The version of this interface.  It grows by new requests, longer structures
 * and feature bits without a change of this number; the number would change
 * only if something that worked stopped working.
 */
#define KRDMA_ABI_VERSION	1

/* The longest device or interface name, with its terminating zero. */
#define KRDMA_NAME_MAX		64

/**
 * enum krdma_feature - bits of &struct krdma_info.features
 * @KRDMA_FEATURE_DEVICES: devices and ports can be listed and queried
 */
enum krdma_feature {
	KRDMA_FEATURE_DEVICES = 1 << 0,
};

/**
 * struct krdma_info - ioctl(KRDMA_INFO): what is this module?
 * @size: sizeof(struct krdma_info)
 * @flags: in: must be 0
 * @abi_version: out: KRDMA_ABI_VERSION of the module
 * @max_struct_size: out: the longest structure that any request takes
 * @features: out: what the module can do, &enum krdma_feature
 * @device_count: out: RDMA devices that the session can see now
 * @max_devices: out: RDMA devices that the module can serve at a time; the
 *	numbers are the only bound that it sets
 * @module_version: out: the module's version as text, zero-terminated
 *
 * Never fails for a caller whose structure is right.
 */
struct krdma_info {
	__u32 size;
	__u32 flags;
	__u32 abi_version;
	__u32 max_struct_size;
	__aligned_u64 features;
	__u32 device_count;
	__u32 max_devices;
	char module_version[32];
};

#define KRDMA_INFO	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_INFO)

/**
 * enum krdma_device_query_flags - bits of &struct krdma_device_query.flags
 * @KRDMA_DEVICE_QUERY_NEXT: the device with the lowest number that is not
 *	below the one given, so that ``id = last + 1`` walks through all
 * @KRDMA_DEVICE_QUERY_NAME: the device with the name given
 */
enum krdma_device_query_flags {
	KRDMA_DEVICE_QUERY_NEXT = 1 << 0,
	KRDMA_DEVICE_QUERY_NAME = 1 << 1,
};

/**
 * enum krdma_transport - &struct krdma_device_query.transport
 * @KRDMA_TRANSPORT_OTHER: none of the others
 * @KRDMA_TRANSPORT_IB: InfiniBand, or RoCE if the port's link layer is Ethernet
 * @KRDMA_TRANSPORT_IWARP: iWARP
 */
enum krdma_transport {
	KRDMA_TRANSPORT_OTHER = 0,
	KRDMA_TRANSPORT_IB = 1,
	KRDMA_TRANSPORT_IWARP = 2,
};

/**
 * enum krdma_device_cap - bits of &struct krdma_device_query.caps
 * @KRDMA_DEVICE_CAP_ATOMIC: compare-and-swap, fetch-and-add
 * @KRDMA_DEVICE_CAP_IMM: immediate data with sends and writes
 * @KRDMA_DEVICE_CAP_SRQ: shared receive queues
 * @KRDMA_DEVICE_CAP_FAST_REG: memory registration on a queue pair, and with
 *	it remote and local invalidation
 * @KRDMA_DEVICE_CAP_ODP: registration of memory that is not resident
 */
enum krdma_device_cap {
	KRDMA_DEVICE_CAP_ATOMIC = 1 << 0,
	KRDMA_DEVICE_CAP_IMM = 1 << 1,
	KRDMA_DEVICE_CAP_SRQ = 1 << 2,
	KRDMA_DEVICE_CAP_FAST_REG = 1 << 3,
	KRDMA_DEVICE_CAP_ODP = 1 << 4,
};

/**
 * struct krdma_device_query - ioctl(KRDMA_DEVICE_QUERY): one RDMA device
 * @size: sizeof(struct krdma_device_query)
 * @flags: in: &enum krdma_device_query_flags, at most one of them; 0 asks for
 *	exactly the device with number @id
 * @id: in: a device number (not with KRDMA_DEVICE_QUERY_NAME, then 0);
 *	out: the device's number, never 0.  A number is not used again before
 *	four thousand million devices have come and gone.
 * @port_count: out: its ports, numbered from 1
 * @name: in: with KRDMA_DEVICE_QUERY_NAME the name to look for,
 *	zero-terminated; otherwise ignored.  out: the device's name
 * @node_guid: out: its GUID, as a number
 * @caps: out: &enum krdma_device_cap
 * @max_mr_size: out: the largest region of memory, in bytes
 * @transport: out: &enum krdma_transport
 * @max_qp: out: queue pairs that the device has
 * @max_send_wr: out: the deepest send queue, what krdma needs for itself
 *	taken off
 * @max_recv_wr: out: the deepest receive queue, likewise
 * @max_send_sge: out: scatter/gather entries of a send or write
 * @max_recv_sge: out: scatter/gather entries of a receive
 * @max_read_sge: out: scatter/gather entries of a read
 * @max_cqe: out: the deepest completion queue, likewise
 * @max_srq_wr: out: the deepest shared receive queue, 0 without
 *	KRDMA_DEVICE_CAP_SRQ
 * @max_read_depth: out: reads and atomics that a connection can have under way
 * @max_read_depth_in: out: reads and atomics that a connection can serve at a
 *	time
 * @max_fast_reg_pages: out: pages in one fast registration, 0 without
 *	KRDMA_DEVICE_CAP_FAST_REG
 *
 * A session sees the devices of the network namespace in which it was opened.
 * No device has the number 0xffffffff, so walking through all of them by
 * ``id = last + 1`` ends.
 *
 * ENOENT: no such device, or one that is just being removed; with
 * KRDMA_DEVICE_QUERY_NEXT: no further device.  Never ENODEV.
 * EINVAL: both flags at once; an @id together with a name; a name that is
 * empty or not zero-terminated.
 */
struct krdma_device_query {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 port_count;
	char name[KRDMA_NAME_MAX];
	__aligned_u64 node_guid;
	__aligned_u64 caps;
	__aligned_u64 max_mr_size;
	__u32 transport;
	__u32 max_qp;
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_read_sge;
	__u32 max_cqe;
	__u32 max_srq_wr;
	__u32 max_read_depth;
	__u32 max_read_depth_in;
	__u32 max_fast_reg_pages;
};

#define KRDMA_DEVICE_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_DEVICE_QUERY)

/**
 * enum krdma_port_state - &struct krdma_port_query.state
 * @KRDMA_PORT_DOWN: no link
 * @KRDMA_PORT_INIT: link, not configured
 * @KRDMA_PORT_ARMED: configured, not yet in use
 * @KRDMA_PORT_ACTIVE: in use
 */
enum krdma_port_state {
	KRDMA_PORT_DOWN = 1,
	KRDMA_PORT_INIT = 2,
	KRDMA_PORT_ARMED = 3,
	KRDMA_PORT_ACTIVE = 4,
};

/**
 * enum krdma_link_layer - &struct krdma_port_query.link_layer
 * @KRDMA_LINK_OTHER: neither of the others
 * @KRDMA_LINK_INFINIBAND: InfiniBand
 * @KRDMA_LINK_ETHERNET: Ethernet: RoCE or iWARP, by the device's transport
 */
enum krdma_link_layer {
	KRDMA_LINK_OTHER = 0,
	KRDMA_LINK_INFINIBAND = 1,
	KRDMA_LINK_ETHERNET = 2,
};

/**
 * struct krdma_port_query - ioctl(KRDMA_PORT_QUERY): one port of a device
 * @size: sizeof(struct krdma_port_query)
 * @flags: in: must be 0
 * @device_id: in: the device's number
 * @port: in: the port, from 1
 * @state: out: &enum krdma_port_state
 * @link_layer: out: &enum krdma_link_layer
 * @max_mtu: out: the largest path MTU that the port can have, in bytes
 * @active_mtu: out: the largest that it has now, in bytes
 * @max_msg_size: out: the longest message, in bytes
 * @gid_count: out: entries in the port's table of addresses
 * @speed_mbps: out: the link's nominal speed in Mbit/s (4 lanes of EDR: 100000),
 *	0 if the device does not say
 * @netdev_ifindex: out: the network interface behind the port, 0 if none or
 *	if it is in another network namespace than the session
 * @netdev_name: out: its name, empty if @netdev_ifindex is 0
 *
 * ENOENT: no such device, or one that is just being removed, or the device has
 * no such port.  Never ENODEV.
 */
struct krdma_port_query {
	__u32 size;
	__u32 flags;
	__u32 device_id;
	__u32 port;
	__u32 state;
	__u32 link_layer;
	__u32 max_mtu;
	__u32 active_mtu;
	__u32 max_msg_size;
	__u32 gid_count;
	__u32 speed_mbps;
	__u32 netdev_ifindex;
	char netdev_name[KRDMA_NAME_MAX];
};

#define KRDMA_PORT_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_PORT_QUERY)

#endif /* _UAPI_LINUX_KRDMA_H */
