/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: RDMA as a kernel service.  What programs and the kernel agree on.
 */
#ifndef _UAPI_LINUX_KRDMA_H
#define _UAPI_LINUX_KRDMA_H

#include <linux/ioctl.h>
#include <linux/socket.h>
#include <linux/types.h>

/**
 * DOC: Objects
 *
 * Opening ``/dev/krdma`` makes a session.  Listeners, connections, queues and
 * shared receive queues are made by requests to the session, or to a listener, and
 * each is a file descriptor of its own, always close-on-exec: who has it may use
 * it, closing the last one ends it, and it keeps the session that it was made in.
 * Memory is registered in the session and has a number there.
 *
 * Any thread of any process that has a descriptor may use it at any time.
 *
 * poll() and epoll:
 *
 *  - session: EPOLLIN: there are records of devices to be read
 *  - listener: EPOLLIN: a request waits; EPOLLERR | EPOLLHUP: its device has gone
 *  - connection: EPOLLIN: there are records to be read, or the end of them;
 *    EPOLLOUT: operations can be posted; EPOLLRDHUP: the peer has ended it, or is
 *    gone; EPOLLHUP: it is at its end; EPOLLERR: and not because either side
 *    wanted it
 *  - queue: EPOLLIN: there are completions; EPOLLOUT: none of its connections has
 *    refused anything for want of room, or one of those has room again;
 *    EPOLLERR | EPOLLHUP: its device has gone
 *  - shared receive queue: EPOLLOUT: receives can be posted; EPOLLERR | EPOLLHUP:
 *    its device has gone
 *
 * read() of a session gives &struct krdma_device_record, of a connection &struct
 * krdma_event_record: as many whole ones as there are and as fit, each to one
 * reader.  It waits for the first unless the file has O_NONBLOCK.  EINVAL: not
 * even one fits.  Of a connection, 0 means that the last one has been read.
 *
 * A record begins with its own size, a multiple of 8, and grows at its end: the next
 * one is so many bytes further on.  If a module's first record is longer than all the
 * room, and the room holds what this header knows of it, then it is cut to the room.
 *
 * A child of fork() has the descriptors, and they mean the same objects.  It has
 * neither the memory that its parent has registered, which stays the parent's and
 * ends with it, nor the parent's mappings of rings: it can register and map for
 * itself.
 */

/**
 * DOC: General ioctl format
 *
 * Every request is an ioctl whose
 * argument points to a structure that begins with its own size, ``__u32
 * size``, set by the caller to the sizeof() it was compiled with.
 *
 *  - A structure shorter than the kernel's is read as if the rest were zero,
 *    and only the caller's length is written back.
 *  - A structure longer than the kernel's is accepted when the part that the
 *    kernel does not know is zero, and that part is left as it is.
 *  - A structure shorter than the first published version of the request is
 *    refused, and so is one longer than KRDMA_STRUCT_SIZE_MAX.
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
 *  - EFAULT: the structure, or memory that it points to, cannot be accessed, and
 *    nothing has happened.  Who gets an answer must be able to write the structure:
 *    that is tried first.  If the program takes it away while the request runs, a
 *    request that cannot be undone succeeds, and its answer is lost.
 *  - EINVAL: the size is below the request's first version, or a field of the
 *    structure is out of range
 *  - E2BIG: the part of the structure that the module does not know is not zero, or
 *    the size is above KRDMA_STRUCT_SIZE_MAX
 *  - EOPNOTSUPP: an unknown flag or a non-zero reserved field; or the device
 *    cannot do what was asked
 *  - ENOENT: no such object: it never was, or the caller may not see it
 *  - ENODEV: the object's RDMA device has been removed
 *  - ENOMEM: out of memory
 *  - EINTR: a signal came first, and its handler does not restart calls
 *  - EIO: the device's driver failed to answer
 *  - EBADF: the session was opened with O_RDONLY, and the request is none of
 *    KRDMA_INFO, KRDMA_DEVICE_NOTIFY and those that query or find; or a descriptor in the
 *    structure is none; EPROTOTYPE: it is of another kind than needed; EXDEV: of
 *    another session or device
 *  - EMFILE, ENFILE: no descriptor is to be had
 *  - EDQUOT: the user has as many sessions, objects or as much memory as the
 *    module's parameters allow, or the control group as much of the device as it may
 *  - ETIMEDOUT: the deadline has passed
 *
 * What a request adds to this is said in its own comment.
 *
 * Requests that wait have a deadline, in nanoseconds of CLOCK_MONOTONIC as the caller
 * reads it, in its time namespace: 0 is always past, so the request does not wait,
 * KRDMA_FOREVER never comes.  As it is absolute, a request that a signal has
 * interrupted can be repeated as it is.
 *
 * Of addresses, what lies behind the family's own fields is not looked at, and comes
 * back as zero; an address that is not known yet is all zero.  What a flag says is
 * given is not looked at without the flag.
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
	KRDMA_CMD_DEVICE_FIND = 0x03,
	KRDMA_CMD_DEVICE_NOTIFY = 0x04,
	KRDMA_CMD_LISTEN = 0x05,
	KRDMA_CMD_CONN_CREATE = 0x06,
	KRDMA_CMD_RING_CREATE = 0x07,
	KRDMA_CMD_SRQ_CREATE = 0x08,
	KRDMA_CMD_MR_REGISTER = 0x09,
	KRDMA_CMD_MR_DEREGISTER = 0x0a,
	KRDMA_CMD_MR_QUERY = 0x0b,
	KRDMA_CMD_MR_ADVISE = 0x0c,
	/* Of a listener. */
	KRDMA_CMD_LISTENER_QUERY = 0x20,
	KRDMA_CMD_LISTENER_NEXT = 0x21,
	/* Of a connection. */
	KRDMA_CMD_CONN_RESOLVE = 0x30,
	KRDMA_CMD_CONN_CREATE_QP = 0x31,
	KRDMA_CMD_CONN_CONNECT = 0x32,
	KRDMA_CMD_CONN_ACCEPT = 0x33,
	KRDMA_CMD_CONN_REJECT = 0x34,
	KRDMA_CMD_CONN_DISCONNECT = 0x35,
	KRDMA_CMD_CONN_WAIT = 0x36,
	KRDMA_CMD_CONN_QUERY = 0x37,
	/* Of a queue. */
	KRDMA_CMD_RING_ENTER = 0x40,
	KRDMA_CMD_RING_POST = 0x41,
	KRDMA_CMD_RING_REAP = 0x42,
	KRDMA_CMD_RING_QUERY = 0x43,
	KRDMA_CMD_RING_CONFINE = 0x44,
	/* Of a shared receive queue. */
	KRDMA_CMD_SRQ_QUERY = 0x50,
	KRDMA_CMD_SRQ_POST = 0x51,
};

/* The longest structure of a request that any module takes, on every architecture. */
#define KRDMA_STRUCT_SIZE_MAX	4096

/* A deadline that never comes. */
#define KRDMA_FOREVER		(~0ULL)

/*
 * The version of this interface.  It grows by new requests, longer structures
 * and feature bits without a change of this number; the number would change
 * only if something that worked stopped working.
 */
#define KRDMA_ABI_VERSION	1

/* The longest device or interface name, with its terminating zero. */
#define KRDMA_NAME_MAX		64

/**
 * enum krdma_feature - bits of &struct krdma_info_args.features
 * @KRDMA_FEATURE_DEVICES: devices and ports can be listed and queried
 * @KRDMA_FEATURE_TRANSFERS: listeners, connections, memory, queues: all requests
 *	up to KRDMA_SRQ_POST
 */
enum krdma_feature {
	KRDMA_FEATURE_DEVICES = 1 << 0,
	KRDMA_FEATURE_TRANSFERS = 1 << 1,
};

/**
 * struct krdma_info_args - ioctl(KRDMA_INFO): what is this module?
 * @size: sizeof(struct krdma_info_args)
 * @flags: in: must be 0
 * @abi_version: out: KRDMA_ABI_VERSION of the module
 * @max_struct_size: out: the longest structure that the module knows all of
 * @features: out: what the module can do, &enum krdma_feature
 * @device_count: out: RDMA devices that the session can see now
 * @max_devices: out: RDMA devices that the module can serve at a time; the
 *	numbers are the only bound that it sets
 * @module_version: out: the module's version as text, zero-terminated
 *
 * Never fails for a caller whose structure is right.
 */
struct krdma_info_args {
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
 * enum krdma_device_query_flags - bits of &struct krdma_device_query_args.flags
 * @KRDMA_DEVICE_QUERY_NEXT: the device with the lowest number that is not
 *	below the one given, so that ``id = last + 1`` walks through all
 * @KRDMA_DEVICE_QUERY_NAME: the device with the name given
 */
enum krdma_device_query_flags {
	KRDMA_DEVICE_QUERY_NEXT = 1 << 0,
	KRDMA_DEVICE_QUERY_NAME = 1 << 1,
};

/**
 * enum krdma_transport - &struct krdma_device_query_args.transport
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
 * enum krdma_device_cap - bits of &struct krdma_device_query_args.caps
 * @KRDMA_DEVICE_CAP_ATOMIC: compare-and-swap, fetch-and-add
 * @KRDMA_DEVICE_CAP_IMM: immediate data with sends and writes
 * @KRDMA_DEVICE_CAP_SRQ: shared receive queues
 * @KRDMA_DEVICE_CAP_FAST_REG: memory registration on a queue pair, and with
 *	it remote and local invalidation
 * @KRDMA_DEVICE_CAP_ODP: registration of memory that is not resident
 * @KRDMA_DEVICE_CAP_READ_LOCAL: the memory that a read fills needs no
 *	KRDMA_ACCESS_REMOTE_WRITE.  Without it, as with iWARP cards, a read into other
 *	memory is refused with EACCES, and KRDMA_OP_FLUSH and reads of 0 bytes with
 *	EOPNOTSUPP: a read of one byte into memory with that right does for a flush.
 * @KRDMA_DEVICE_CAP_ATOMIC_WRITE: KRDMA_OP_ATOMIC_WRITE is an operation of the device's
 *	own; without it, it is carried out as a fenced write
 * @KRDMA_DEVICE_CAP_FLUSH_GLOBAL: KRDMA_OP_FLUSH with KRDMA_FLUSH_GLOBAL is an operation of
 *	the device's own; without it, it is carried out as a read of one byte
 * @KRDMA_DEVICE_CAP_FLUSH_PERSISTENT: likewise with KRDMA_FLUSH_PERSISTENT, which is
 *	refused without it
 *
 * The last three say what the device does for krdma.  No kernel up to 7.2 lets a consumer
 * in the kernel ask a device for these operations, whatever the device offers to
 * programs of its own library: there they are never set.
 */
enum krdma_device_cap {
	KRDMA_DEVICE_CAP_ATOMIC = 1 << 0,
	KRDMA_DEVICE_CAP_IMM = 1 << 1,
	KRDMA_DEVICE_CAP_SRQ = 1 << 2,
	KRDMA_DEVICE_CAP_FAST_REG = 1 << 3,
	KRDMA_DEVICE_CAP_ODP = 1 << 4,
	KRDMA_DEVICE_CAP_READ_LOCAL = 1 << 5,
	KRDMA_DEVICE_CAP_ATOMIC_WRITE = 1 << 6,
	KRDMA_DEVICE_CAP_FLUSH_GLOBAL = 1 << 7,
	KRDMA_DEVICE_CAP_FLUSH_PERSISTENT = 1 << 8,
};

/**
 * struct krdma_device_query_args - ioctl(KRDMA_DEVICE_QUERY): one RDMA device
 * @size: sizeof(struct krdma_device_query_args)
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
struct krdma_device_query_args {
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
 * enum krdma_port_state - &struct krdma_port_query_args.state
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
 * enum krdma_link_layer - &struct krdma_port_query_args.link_layer
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
 * struct krdma_port_query_args - ioctl(KRDMA_PORT_QUERY): one port of a device
 * @size: sizeof(struct krdma_port_query_args)
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
struct krdma_port_query_args {
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

/**
 * enum krdma_opcode - what an operation does
 * @KRDMA_OP_SEND: a message into a receive of the peer's
 * @KRDMA_OP_SEND_IMM: the same, with 32 bits of immediate data
 * @KRDMA_OP_SEND_INVALIDATE: the same, and a key of the peer's is invalidated
 * @KRDMA_OP_RECV: room for a message
 * @KRDMA_OP_WRITE: write to memory of the peer's
 * @KRDMA_OP_WRITE_IMM: the same, and a receive of the peer's completes with 32
 *	bits of immediate data
 * @KRDMA_OP_READ: read memory of the peer's
 * @KRDMA_OP_COMPARE_SWAP: 64-bit atomic on memory of the peer's
 * @KRDMA_OP_FETCH_ADD: likewise
 * @KRDMA_OP_ATOMIC_WRITE: 8 aligned bytes are written, after the reads and atomics
 *	before it have ended.  They become visible at once with
 *	KRDMA_DEVICE_CAP_ATOMIC_WRITE.  Without it this is a fenced write of 8 bytes, of
 *	which the transport promises no more than of other writes.
 * @KRDMA_OP_FLUSH: when it has completed, what this connection wrote before it has got
 *	as far as &enum krdma_flush says.  Without KRDMA_DEVICE_CAP_FLUSH_GLOBAL this is a
 *	read of one byte at the address given, which cannot overtake the writes before it:
 *	the peer's memory must be readable, and KRDMA_DEVICE_CAP_READ_LOCAL is needed.  It
 *	promises that the peer's device answers reads with what was written.
 * @KRDMA_OP_LOCAL_INV: the end of a key of one's own; for modules of the kernel
 * @KRDMA_OP_REG_MR: the beginning of one; for modules of the kernel
 */
enum krdma_opcode {
	KRDMA_OP_SEND = 1,
	KRDMA_OP_SEND_IMM = 2,
	KRDMA_OP_SEND_INVALIDATE = 3,
	KRDMA_OP_RECV = 4,
	KRDMA_OP_WRITE = 5,
	KRDMA_OP_WRITE_IMM = 6,
	KRDMA_OP_READ = 7,
	KRDMA_OP_COMPARE_SWAP = 8,
	KRDMA_OP_FETCH_ADD = 9,
	KRDMA_OP_ATOMIC_WRITE = 10,
	KRDMA_OP_FLUSH = 11,
	KRDMA_OP_LOCAL_INV = 12,
	KRDMA_OP_REG_MR = 13,
};

/**
 * enum krdma_flush - how far KRDMA_OP_FLUSH goes, and for what; as the wire has it
 * @KRDMA_FLUSH_GLOBAL: everybody who reads the peer's memory sees what was written
 * @KRDMA_FLUSH_PERSISTENT: it outlasts a power cut; with
 *	KRDMA_DEVICE_CAP_FLUSH_PERSISTENT
 * @KRDMA_FLUSH_MEMORY: of all the memory that the key is for; the address is any in it,
 *	and the length 0.  Without this flag, of the range given.
 *
 * At least one of the first two.
 */
enum krdma_flush {
	KRDMA_FLUSH_GLOBAL = 1 << 0,
	KRDMA_FLUSH_PERSISTENT = 1 << 1,
	KRDMA_FLUSH_MEMORY = 1 << 8,
};

/**
 * enum krdma_wc_status - how an operation ended
 * @KRDMA_WC_SUCCESS: done
 * @KRDMA_WC_LOC_LEN_ERR: a message longer than its receive, or a length
 *	that the device does not take
 * @KRDMA_WC_LOC_QP_OP_ERR: the request itself was wrong
 * @KRDMA_WC_LOC_PROT_ERR: local memory that is not registered for this
 * @KRDMA_WC_WR_FLUSH_ERR: the connection was over before its turn came
 * @KRDMA_WC_MW_BIND_ERR: binding a memory window failed
 * @KRDMA_WC_BAD_RESP_ERR: the peer answered nonsense
 * @KRDMA_WC_LOC_ACCESS_ERR: local memory was not writable for the peer's data
 * @KRDMA_WC_REM_INV_REQ_ERR: the peer refused the request as invalid
 * @KRDMA_WC_REM_ACCESS_ERR: the peer refused access to its memory
 * @KRDMA_WC_REM_OP_ERR: the peer could not do it
 * @KRDMA_WC_RETRY_EXC_ERR: the peer does not answer
 * @KRDMA_WC_RNR_RETRY_EXC_ERR: the peer has posted no receive
 * @KRDMA_WC_GENERAL_ERR: something that has no name here; see the vendor's error
 */
enum krdma_wc_status {
	KRDMA_WC_SUCCESS = 0,
	KRDMA_WC_LOC_LEN_ERR = 1,
	KRDMA_WC_LOC_QP_OP_ERR = 2,
	KRDMA_WC_LOC_PROT_ERR = 3,
	KRDMA_WC_WR_FLUSH_ERR = 4,
	KRDMA_WC_MW_BIND_ERR = 5,
	KRDMA_WC_BAD_RESP_ERR = 6,
	KRDMA_WC_LOC_ACCESS_ERR = 7,
	KRDMA_WC_REM_INV_REQ_ERR = 8,
	KRDMA_WC_REM_ACCESS_ERR = 9,
	KRDMA_WC_REM_OP_ERR = 10,
	KRDMA_WC_RETRY_EXC_ERR = 11,
	KRDMA_WC_RNR_RETRY_EXC_ERR = 12,
	KRDMA_WC_GENERAL_ERR = 13,
};

/**
 * enum krdma_access - what a region of memory may be used for
 * @KRDMA_ACCESS_LOCAL_WRITE: receives, reads and atomics of one's own put their
 *	data there; sending from it needs no right
 * @KRDMA_ACCESS_REMOTE_READ: the peer may read it
 * @KRDMA_ACCESS_REMOTE_WRITE: the peer may write it; needs
 *	KRDMA_ACCESS_LOCAL_WRITE
 * @KRDMA_ACCESS_REMOTE_ATOMIC: the peer may do atomics on it; needs
 *	KRDMA_ACCESS_LOCAL_WRITE
 */
enum krdma_access {
	KRDMA_ACCESS_LOCAL_WRITE = 1 << 0,
	KRDMA_ACCESS_REMOTE_READ = 1 << 1,
	KRDMA_ACCESS_REMOTE_WRITE = 1 << 2,
	KRDMA_ACCESS_REMOTE_ATOMIC = 1 << 3,
};

/**
 * enum krdma_conn_state - where a connection is
 * @KRDMA_CONN_NEW: nothing was asked of it
 * @KRDMA_CONN_RESOLVING_ADDRESS: its device is being looked for
 * @KRDMA_CONN_RESOLVING_ROUTE: its way to the peer is being looked for
 * @KRDMA_CONN_RESOLVED: it can connect
 * @KRDMA_CONN_REQUESTED: a peer asks for it; it can be accepted or rejected
 * @KRDMA_CONN_CONNECTING: the peer has been asked
 * @KRDMA_CONN_ACCEPTING: accepted, and the peer has not confirmed
 * @KRDMA_CONN_CONNECTED: operations run
 * @KRDMA_CONN_DISCONNECTING: the peer has been told of the end
 * @KRDMA_CONN_CLOSING: it is being taken down
 * @KRDMA_CONN_CLOSED: nothing is left of it
 */
enum krdma_conn_state {
	KRDMA_CONN_NEW = 0,
	KRDMA_CONN_RESOLVING_ADDRESS = 1,
	KRDMA_CONN_RESOLVING_ROUTE = 2,
	KRDMA_CONN_RESOLVED = 3,
	KRDMA_CONN_REQUESTED = 4,
	KRDMA_CONN_CONNECTING = 5,
	KRDMA_CONN_ACCEPTING = 6,
	KRDMA_CONN_CONNECTED = 7,
	KRDMA_CONN_DISCONNECTING = 8,
	KRDMA_CONN_CLOSING = 9,
	KRDMA_CONN_CLOSED = 10,
};

/**
 * enum krdma_event_type - what a connection tells
 * @KRDMA_EVENT_ADDR_RESOLVED: its device is known
 * @KRDMA_EVENT_ADDR_ERROR: there is no device with a way to that address
 * @KRDMA_EVENT_ROUTE_RESOLVED: it can connect
 * @KRDMA_EVENT_ROUTE_ERROR: there is no way to the peer
 * @KRDMA_EVENT_ESTABLISHED: it is connected
 * @KRDMA_EVENT_CONNECT_ERROR: connecting failed
 * @KRDMA_EVENT_UNREACHABLE: the peer does not answer
 * @KRDMA_EVENT_REJECTED: the peer, or nobody at that address, does not want it
 * @KRDMA_EVENT_DISCONNECTED: it was connected and has been ended by either side: with
 *	ENOTCONN or ECONNABORTED by this one, with EPIPE by the peer's goodbye, with
 *	ECONNRESET by the peer, where the transport does not know a goodbye
 * @KRDMA_EVENT_LOST: it was connected and broke
 * @KRDMA_EVENT_DEVICE_REMOVAL: its device is being removed
 * @KRDMA_EVENT_ADDR_CHANGE: the network has moved its address
 * @KRDMA_EVENT_CLOSED: the last event: every operation has completed, and
 *	nothing is left of the connection
 */
enum krdma_event_type {
	KRDMA_EVENT_ADDR_RESOLVED = 1,
	KRDMA_EVENT_ADDR_ERROR = 2,
	KRDMA_EVENT_ROUTE_RESOLVED = 3,
	KRDMA_EVENT_ROUTE_ERROR = 4,
	KRDMA_EVENT_ESTABLISHED = 5,
	KRDMA_EVENT_CONNECT_ERROR = 6,
	KRDMA_EVENT_UNREACHABLE = 7,
	KRDMA_EVENT_REJECTED = 8,
	KRDMA_EVENT_DISCONNECTED = 9,
	KRDMA_EVENT_LOST = 10,
	KRDMA_EVENT_DEVICE_REMOVAL = 11,
	KRDMA_EVENT_ADDR_CHANGE = 12,
	KRDMA_EVENT_CLOSED = 13,
};

/**
 * enum krdma_device_event_type - what a device tells
 * @KRDMA_DEVICE_EVENT_ADDED: it is there
 * @KRDMA_DEVICE_EVENT_REMOVED: it is gone
 * @KRDMA_DEVICE_EVENT_PORT_ACTIVE: a port came up
 * @KRDMA_DEVICE_EVENT_PORT_ERROR: a port went down
 * @KRDMA_DEVICE_EVENT_ADDRESS_CHANGED: a port's table of addresses changed
 * @KRDMA_DEVICE_EVENT_FATAL: it does not work any more
 * @KRDMA_DEVICE_EVENT_MISSED: of no device: records were not read in time and are
 *	lost; look at all devices again
 */
enum krdma_device_event_type {
	KRDMA_DEVICE_EVENT_ADDED = 1,
	KRDMA_DEVICE_EVENT_REMOVED = 2,
	KRDMA_DEVICE_EVENT_PORT_ACTIVE = 3,
	KRDMA_DEVICE_EVENT_PORT_ERROR = 4,
	KRDMA_DEVICE_EVENT_ADDRESS_CHANGED = 5,
	KRDMA_DEVICE_EVENT_FATAL = 6,
	KRDMA_DEVICE_EVENT_MISSED = 7,
};

/**
 * struct krdma_device_record - what read() of a session gives
 * @size: how long the record is
 * @type: &enum krdma_device_event_type
 * @device_id: the device's number
 * @port: the port, 0: the device as a whole
 */
struct krdma_device_record {
	__u32 size;
	__u32 type;
	__u32 device_id;
	__u32 port;
};

/**
 * enum krdma_device_find_flags - bits of &struct krdma_device_find_args.flags
 * @KRDMA_DEVICE_FIND_LOCAL: @local is given
 * @KRDMA_DEVICE_FIND_REMOTE: @remote is given
 */
enum krdma_device_find_flags {
	KRDMA_DEVICE_FIND_LOCAL = 1 << 0,
	KRDMA_DEVICE_FIND_REMOTE = 1 << 1,
};

/**
 * struct krdma_device_find_args - ioctl(KRDMA_DEVICE_FIND): which device?
 * @size: sizeof(struct krdma_device_find_args)
 * @flags: in: &enum krdma_device_find_flags, at least one
 * @deadline_ns: in: how long to look for the way to @remote; without it, not used.
 *	Looking takes time: ETIMEDOUT if it has passed before
 * @id: out: the device's number
 * @reserved: must be 0
 * @local: in: one's own address: the device that has it, or from which the way to
 *	@remote begins
 * @remote: in: the device from which the connection manager would go there
 *
 * ENOENT: no device has the local address; EHOSTUNREACH: there is no way to the
 * remote one; EAFNOSUPPORT: neither IPv4 nor IPv6; EINVAL: no flag, or an address
 * that makes no sense, or one of each kind.
 */
struct krdma_device_find_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 deadline_ns;
	__u32 id;
	__u32 reserved;
	struct __kernel_sockaddr_storage local;
	struct __kernel_sockaddr_storage remote;
};

#define KRDMA_DEVICE_FIND	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_DEVICE_FIND)

/**
 * struct krdma_device_notify_args - ioctl(KRDMA_DEVICE_NOTIFY): tell me of devices
 * @size: sizeof(struct krdma_device_notify_args)
 * @flags: in: must be 0
 *
 * From here on the session's read() gives records; first one
 * KRDMA_DEVICE_EVENT_ADDED for each device that is there.  EALREADY: it does so
 * already.
 */
struct krdma_device_notify_args {
	__u32 size;
	__u32 flags;
};

#define KRDMA_DEVICE_NOTIFY		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_DEVICE_NOTIFY)

#include <linux/krdma_mr.h>

#endif /* _UAPI_LINUX_KRDMA_H */
