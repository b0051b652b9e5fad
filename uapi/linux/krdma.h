/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* krdma: RDMA as a kernel service.  The interface between programs and the kernel. */
#ifndef _UAPI_LINUX_KRDMA_H
#define _UAPI_LINUX_KRDMA_H

#include <linux/ioctl.h>
#include <linux/socket.h>
#include <linux/types.h>

/**
 * DOC: Objects
 *
 * Opening ``/dev/krdma`` creates a session.  An ioctl on the session, or on a listener, creates
 * a listener, connection, ring or shared receive queue (SRQ).  Each of these is a file
 * descriptor of its own, always close-on-exec.  Any process that has the descriptor may use the
 * object; closing the last descriptor destroys it; and it keeps its session alive.  A memory
 * region (MR) is registered in the session and has a number there.
 *
 * Any thread of any process that has a descriptor may use it at any time.
 *
 * poll() and epoll:
 *
 *  - session: EPOLLIN: device records can be read
 *  - listener: EPOLLIN: a connection request waits; EPOLLERR | EPOLLHUP: the device was removed
 *  - connection: EPOLLIN: event records can be read, or the end of the records was reached;
 *    EPOLLOUT: work requests can be posted; EPOLLRDHUP: the peer has disconnected or is lost;
 *    EPOLLHUP: the connection is closed; EPOLLERR: it has ended with an error, not because either
 *    side disconnected
 *  - ring: EPOLLIN: there are completions; EPOLLOUT: none of the ring's connections has refused
 *    an entry because its queue was full, or one of those that did has free entries again;
 *    EPOLLERR | EPOLLHUP: the device was removed
 *  - SRQ: EPOLLOUT: receives can be posted; EPOLLERR | EPOLLHUP: the device was removed, or the
 *    SRQ has ended with a process whose memory was in its receives
 *
 * read() of a session returns &struct krdma_device_record, read() of a connection
 * &struct krdma_event_record.  A call returns as many whole records as exist and fit; each
 * record goes to one reader.  The call waits for the first record unless the file has
 * O_NONBLOCK.  It fails with EINVAL if not even one record fits.  On a connection, 0 means that
 * the last record was read.
 *
 * A record begins with its own size, a multiple of 8, and new fields are added at its end: the
 * next record starts that many bytes further on.  If a newer module's first record is longer
 * than the whole buffer, and the buffer holds the fields that this header knows, the record is
 * truncated to the buffer.
 *
 * A child of fork() inherits the descriptors, and they refer to the same objects.  It does not
 * inherit the MRs of its parent, which stay the parent's and end with it, nor the parent's
 * mappings of rings.  The child can register memory and map rings itself.
 */

/**
 * DOC: General ioctl format
 *
 * The argument of every ioctl points to a structure that begins with its own size,
 * ``__u32 size``, which the caller sets to the sizeof() it was compiled with.
 *
 *  - If the structure is shorter than the kernel's, the kernel reads the missing fields as zero
 *    and writes back only the caller's length.
 *  - If the structure is longer than the kernel's, the part that the kernel does not know must
 *    be zero; the kernel leaves that part unchanged.
 *  - A structure that is shorter than the first published version of the ioctl, or longer than
 *    KRDMA_STRUCT_SIZE_MAX, is refused.
 *
 * The kernel does not change fields marked "in".
 *
 * Old programs therefore run on new modules, and new programs on old modules as long as they do
 * not ask for features that the module does not have.  Unknown flags and non-zero reserved
 * fields are refused, never ignored.  All structures have the same layout for 32-bit and 64-bit
 * callers.
 *
 * errno has the same meaning for every ioctl:
 *
 *  - ENOTTY: the module does not have this ioctl
 *  - EFAULT: the structure, or memory that it points to, cannot be accessed, and nothing has
 *    happened.  The structure must be writable if the ioctl has output: the kernel checks that
 *    first.  If the program unmaps the structure while the ioctl runs, an ioctl that cannot be
 *    undone succeeds and its output is lost.
 *  - EINVAL: the size is below the ioctl's first version, or a field of the structure is out of
 *    range
 *  - E2BIG: the part of the structure that the module does not know is not zero, or the size is
 *    above KRDMA_STRUCT_SIZE_MAX
 *  - EOPNOTSUPP: an unknown flag or a non-zero reserved field; or the device does not support
 *    the operation
 *  - ENOENT: the object does not exist, or the caller may not see it
 *  - ENODEV: the object's RDMA device was removed
 *  - ENOMEM: out of memory
 *  - EINTR: a signal arrived first, and its handler does not restart system calls
 *  - EIO: the device's driver failed to answer
 *  - EBADF: the session was opened with O_RDONLY, and the ioctl is none of KRDMA_INFO,
 *    KRDMA_DEVICE_NOTIFY and those that query or find; or a descriptor in the structure is not
 *    open
 *  - EPROTOTYPE: a descriptor in the structure is of another kind than needed
 *  - EXDEV: a descriptor in the structure belongs to another session or device
 *  - EMFILE, ENFILE: no file descriptor is available
 *  - EDQUOT: one of the module's limits refuses the ioctl, or the control group uses as much of
 *    the device as it may; KRDMA_LIMIT_QUERY reports which
 *  - ETIMEDOUT: the deadline has passed
 *
 * The comment of each ioctl lists its further errors.
 *
 * An ioctl that waits has a deadline, in nanoseconds of CLOCK_MONOTONIC as the caller reads it
 * in its time namespace.  0 is always in the past, so the ioctl does not wait; KRDMA_FOREVER
 * never expires.  A deadline is absolute, so the caller can repeat an ioctl unchanged after a
 * signal has interrupted it.
 *
 * In a socket address, the kernel ignores the bytes behind the family's own fields and returns
 * them as zero.  An address that is not known yet is all zero.  If a flag says that a field is
 * given, the kernel ignores the field without the flag.
 */
#define KRDMA_IOCTL_TYPE	0xBC

/* The numbers of the ioctls.  A number is never reused with another meaning. */
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
	KRDMA_CMD_LIMIT_QUERY = 0x0d,
	KRDMA_CMD_CONNS_OPEN = 0x0e,
	KRDMA_CMD_CONNS_TAKE = 0x0f,
	KRDMA_CMD_CONNS_ACCEPT = 0x10,
	KRDMA_CMD_CONNS_CLOSE = 0x11,
	KRDMA_CMD_CONNS_FD = 0x12,
	KRDMA_CMD_MR_SET_NAME = 0x13,
	/* On a listener. */
	KRDMA_CMD_LISTENER_QUERY = 0x20,
	KRDMA_CMD_LISTENER_NEXT = 0x21,
	/* On a connection. */
	KRDMA_CMD_CONN_RESOLVE = 0x30,
	KRDMA_CMD_CONN_CREATE_QP = 0x31,
	KRDMA_CMD_CONN_CONNECT = 0x32,
	KRDMA_CMD_CONN_ACCEPT = 0x33,
	KRDMA_CMD_CONN_REJECT = 0x34,
	KRDMA_CMD_CONN_DISCONNECT = 0x35,
	KRDMA_CMD_CONN_WAIT = 0x36,
	KRDMA_CMD_CONN_QUERY = 0x37,
	KRDMA_CMD_CONN_FIND_MR = 0x38,
	/* On a ring. */
	KRDMA_CMD_RING_ENTER = 0x40,
	KRDMA_CMD_RING_POST = 0x41,
	KRDMA_CMD_RING_REAP = 0x42,
	KRDMA_CMD_RING_QUERY = 0x43,
	KRDMA_CMD_RING_CONFINE = 0x44,
	/* On a shared receive queue. */
	KRDMA_CMD_SRQ_QUERY = 0x50,
	KRDMA_CMD_SRQ_POST = 0x51,
};

/* The longest ioctl structure that any module accepts, on every architecture. */
#define KRDMA_STRUCT_SIZE_MAX	4096

/* A deadline that never expires. */
#define KRDMA_FOREVER		(~0ULL)

/*
 * The version of this interface.  New ioctls, longer structures and feature bits do not change
 * this number.  It changes only if something that worked stops working.
 */
#define KRDMA_ABI_VERSION	1

/* For keepalive_ms of a connection: an idle peer is not probed. */
#define KRDMA_KEEPALIVE_NEVER	0xffffffff

/* For request_timeout_ms of a listener: a connection request waits for as long as the peer does. */
#define KRDMA_REQUEST_TIMEOUT_NEVER	0xffffffff

/* The longest name of a device, an interface or an MR, in bytes with the terminating zero. */
#define KRDMA_NAME_MAX		64

/**
 * enum krdma_feature - bits of &struct krdma_info_args.features
 * @KRDMA_FEATURE_DEVICES: devices and ports can be listed and queried
 * @KRDMA_FEATURE_TRANSFERS: listeners, connections, memory regions and rings: all ioctls up to
 *	KRDMA_SRQ_POST
 */
enum krdma_feature {
	KRDMA_FEATURE_DEVICES = 1 << 0,
	KRDMA_FEATURE_TRANSFERS = 1 << 1,
};

/**
 * struct krdma_info_args - ioctl(KRDMA_INFO): query the module's version and features
 * @size: sizeof(struct krdma_info_args)
 * @flags: in: must be 0
 * @abi_version: out: KRDMA_ABI_VERSION of the module
 * @max_struct_size: out: bytes of the longest structure that the module knows completely
 * @features: out: features of the module, &enum krdma_feature
 * @device_count: out: number of RDMA devices that the session can see now
 * @max_devices: out: number of RDMA devices that the module can serve at a time; only the range
 *	of device numbers limits it
 * @module_version: out: the module's version as text, zero-terminated
 *
 * Never fails if the structure is valid.
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
 * @KRDMA_DEVICE_QUERY_NEXT: query the device with the lowest number that is not below @id, so
 *	that ``id = last + 1`` iterates over all devices
 * @KRDMA_DEVICE_QUERY_NAME: query the device named @name
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
 * @KRDMA_DEVICE_CAP_ATOMIC: compare-and-swap, fetch-and-add.  mlx5 executes those of peers only:
 *	it does not have this, but memory with KRDMA_ACCESS_REMOTE_ATOMIC.
 * @KRDMA_DEVICE_CAP_IMM: immediate data with sends and writes
 * @KRDMA_DEVICE_CAP_SRQ: shared receive queues
 * @KRDMA_DEVICE_CAP_FAST_REG: fast registration of memory by work requests on a queue pair
 *	(FRWR), and with it remote and local invalidation
 * @KRDMA_DEVICE_CAP_ODP: on-demand paging: registration of memory that is not resident
 * @KRDMA_DEVICE_CAP_READ_LOCAL: the local memory of an RDMA read needs no
 *	KRDMA_ACCESS_REMOTE_WRITE.  Without this capability, as on iWARP devices, a read into
 *	memory that lacks that right is refused with EACCES, and KRDMA_OP_FLUSH and reads of 0
 *	bytes are refused with EOPNOTSUPP.  A read of one byte into memory with that right
 *	replaces a flush.
 * @KRDMA_DEVICE_CAP_ATOMIC_WRITE: the device supports KRDMA_OP_ATOMIC_WRITE natively; without
 *	this capability, it is carried out as a fenced write
 * @KRDMA_DEVICE_CAP_FLUSH_GLOBAL: the device supports KRDMA_OP_FLUSH with KRDMA_FLUSH_GLOBAL
 *	natively; without this capability, it is carried out as a read of one byte
 * @KRDMA_DEVICE_CAP_FLUSH_PERSISTENT: the device supports KRDMA_OP_FLUSH with
 *	KRDMA_FLUSH_PERSISTENT natively; without this capability, it is refused
 *
 * The last three say what the device does for krdma.  No kernel up to 7.2 lets an in-kernel
 * consumer request these operations, whatever the device offers to programs through its
 * user-space provider.  On those kernels the three are never set.
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
 * struct krdma_device_query_args - ioctl(KRDMA_DEVICE_QUERY): query an RDMA device
 * @size: sizeof(struct krdma_device_query_args)
 * @flags: in: &enum krdma_device_query_flags, at most one of them; 0 selects the device with
 *	exactly the number @id
 * @id: in: a device number, 0 with KRDMA_DEVICE_QUERY_NAME; out: the device's number, never 0.
 *	A number is not reused before about 2^32 devices have come and gone.
 * @port_count: out: number of ports; ports are numbered from 1
 * @name: in: with KRDMA_DEVICE_QUERY_NAME the name to look for, zero-terminated; otherwise
 *	ignored.  out: the device's name
 * @node_guid: out: the node GUID, as a number
 * @caps: out: &enum krdma_device_cap
 * @max_mr_size: out: the largest memory region, in bytes
 * @transport: out: &enum krdma_transport
 * @max_qp: out: number of queue pairs that the device has
 * @max_send_wr: out: the maximum send queue depth, in work requests, less those that krdma
 *	reserves for itself
 * @max_recv_wr: out: the maximum receive queue depth, in work requests, less those that krdma
 *	reserves for itself
 * @max_send_sge: out: SGEs in a send or write
 * @max_recv_sge: out: SGEs in a receive
 * @max_read_sge: out: SGEs in a read
 * @max_cqe: out: the maximum completion queue depth, in completions, less those that krdma
 *	reserves for itself
 * @max_srq_wr: out: the maximum depth of a shared receive queue, 0 without KRDMA_DEVICE_CAP_SRQ
 * @max_read_depth: out: reads and atomics that a connection can have in flight as initiator
 * @max_read_depth_in: out: reads and atomics of the peer that a connection can serve at a time
 * @max_fast_reg_pages: out: pages in one fast registration, 0 without KRDMA_DEVICE_CAP_FAST_REG
 *
 * A session sees the devices of the network namespace in which it was opened.  No device has
 * the number 0xffffffff, so an iteration by ``id = last + 1`` ends.
 *
 * ENOENT: no such device, or the device is being removed; with KRDMA_DEVICE_QUERY_NEXT: no
 * further device.  Never ENODEV.
 * EINVAL: both flags at once; an @id together with a name; a name that is empty or not
 * zero-terminated.
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
 * @KRDMA_PORT_INIT: the link is up, the port is not configured
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
 * struct krdma_port_query_args - ioctl(KRDMA_PORT_QUERY): query a port of a device
 * @size: sizeof(struct krdma_port_query_args)
 * @flags: in: must be 0
 * @device_id: in: the device's number
 * @port: in: the port, from 1
 * @state: out: &enum krdma_port_state
 * @link_layer: out: &enum krdma_link_layer
 * @max_mtu: out: the largest path MTU that the port supports, in bytes
 * @active_mtu: out: the largest path MTU that the port can use now, in bytes
 * @max_msg_size: out: the longest message, in bytes
 * @gid_count: out: entries in the port's GID table
 * @speed_mbps: out: the link's nominal speed in Mbit/s (4 lanes of EDR: 100000), 0 if the
 *	device does not report it
 * @netdev_ifindex: out: the network interface behind the port, 0 if there is none or if it is
 *	in another network namespace than the session
 * @netdev_name: out: its name, empty if @netdev_ifindex is 0
 *
 * ENOENT: no such device, or the device is being removed, or it has no such port.  Never
 * ENODEV.
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
 * enum krdma_opcode - operation of a work request
 * @KRDMA_OP_SEND: send a message, which consumes a receive of the peer
 * @KRDMA_OP_SEND_IMM: send with 32 bits of immediate data
 * @KRDMA_OP_SEND_INVALIDATE: send, and invalidate an rkey of the peer
 * @KRDMA_OP_RECV: receive a message
 * @KRDMA_OP_WRITE: RDMA write to memory of the peer
 * @KRDMA_OP_WRITE_IMM: RDMA write that also completes a receive of the peer with 32 bits of
 *	immediate data
 * @KRDMA_OP_READ: RDMA read of memory of the peer
 * @KRDMA_OP_COMPARE_SWAP: 64-bit compare-and-swap on memory of the peer
 * @KRDMA_OP_FETCH_ADD: 64-bit fetch-and-add on memory of the peer
 * @KRDMA_OP_ATOMIC_WRITE: write 8 aligned bytes, after the earlier reads and atomics have
 *	completed.  With KRDMA_DEVICE_CAP_ATOMIC_WRITE the 8 bytes become visible at once.
 *	Without it this is a fenced write of 8 bytes, for which the transport promises no more
 *	than for other writes.
 * @KRDMA_OP_FLUSH: flush: when it completes, the earlier writes of this connection have got as
 *	far as &enum krdma_flush says.  Without KRDMA_DEVICE_CAP_FLUSH_GLOBAL this is a read of
 *	one byte at the given address, which cannot overtake the earlier writes: the peer's
 *	memory must be readable, and KRDMA_DEVICE_CAP_READ_LOCAL is needed.  It then promises
 *	that the peer's device answers reads with the written data.
 * @KRDMA_OP_EVENT: not an operation: a completion that reports an event of a connection without a
 *	descriptor, see KRDMA_CONNS_OPEN
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
	/* 12 and 13 had names in version 1, and have always been refused: they are not reused. */
	KRDMA_OP_EVENT = 14,
};

/**
 * enum krdma_flush - scope of KRDMA_OP_FLUSH, with the bits of the wire
 * @KRDMA_FLUSH_GLOBAL: every reader of the peer's memory sees the written data
 * @KRDMA_FLUSH_PERSISTENT: the written data survive a power failure; needs
 *	KRDMA_DEVICE_CAP_FLUSH_PERSISTENT
 * @KRDMA_FLUSH_MEMORY: flush all memory that the rkey covers; the address is any address in it,
 *	and the length is 0.  Without this flag, flush the given range.
 *
 * At least one of the first two must be set.
 */
enum krdma_flush {
	KRDMA_FLUSH_GLOBAL = 1 << 0,
	KRDMA_FLUSH_PERSISTENT = 1 << 1,
	KRDMA_FLUSH_MEMORY = 1 << 8,
};

/**
 * enum krdma_wc_status - completion status of a work request
 * @KRDMA_WC_SUCCESS: success
 * @KRDMA_WC_LOC_LEN_ERR: a message longer than its receive, or a length that the device does
 *	not support
 * @KRDMA_WC_LOC_QP_OP_ERR: the work request was invalid
 * @KRDMA_WC_LOC_PROT_ERR: local memory is not registered for this operation
 * @KRDMA_WC_WR_FLUSH_ERR: the connection ended before the work request was executed
 * @KRDMA_WC_MW_BIND_ERR: binding a memory window failed
 * @KRDMA_WC_BAD_RESP_ERR: the peer sent an unexpected response
 * @KRDMA_WC_LOC_ACCESS_ERR: local memory was not writable for the peer's data
 * @KRDMA_WC_REM_INV_REQ_ERR: the peer refused the operation as invalid
 * @KRDMA_WC_REM_ACCESS_ERR: the peer refused access to its memory
 * @KRDMA_WC_REM_OP_ERR: the peer could not complete the operation
 * @KRDMA_WC_RETRY_EXC_ERR: retry exceeded: the peer does not answer
 * @KRDMA_WC_RNR_RETRY_EXC_ERR: RNR retry exceeded: the peer has posted no receive
 * @KRDMA_WC_GENERAL_ERR: any other error; see the vendor error
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
 * enum krdma_access - access rights of a memory region
 * @KRDMA_ACCESS_LOCAL_WRITE: local receives, reads and atomics may store their data there;
 *	sending from it needs no right
 * @KRDMA_ACCESS_REMOTE_READ: the peer may read it
 * @KRDMA_ACCESS_REMOTE_WRITE: the peer may write it; needs KRDMA_ACCESS_LOCAL_WRITE
 * @KRDMA_ACCESS_REMOTE_ATOMIC: the peer may do atomics on it; needs KRDMA_ACCESS_LOCAL_WRITE
 */
enum krdma_access {
	KRDMA_ACCESS_LOCAL_WRITE = 1 << 0,
	KRDMA_ACCESS_REMOTE_READ = 1 << 1,
	KRDMA_ACCESS_REMOTE_WRITE = 1 << 2,
	KRDMA_ACCESS_REMOTE_ATOMIC = 1 << 3,
};

/**
 * enum krdma_conn_state - state of a connection
 * @KRDMA_CONN_NEW: created, nothing requested yet
 * @KRDMA_CONN_RESOLVING_ADDRESS: resolving the peer's address to a device
 * @KRDMA_CONN_RESOLVING_ROUTE: resolving the route to the peer
 * @KRDMA_CONN_RESOLVED: ready to connect
 * @KRDMA_CONN_REQUESTED: a peer has sent a connection request; the program can accept or reject
 *	it
 * @KRDMA_CONN_CONNECTING: the connection request was sent to the peer
 * @KRDMA_CONN_ACCEPTING: accepted here, not yet confirmed by the peer
 * @KRDMA_CONN_CONNECTED: connected
 * @KRDMA_CONN_DISCONNECTING: the disconnect was sent to the peer
 * @KRDMA_CONN_CLOSING: being torn down
 * @KRDMA_CONN_CLOSED: everything was released
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
 * enum krdma_event_type - type of a connection's event record
 * @KRDMA_EVENT_ADDR_RESOLVED: the address was resolved, the device is known
 * @KRDMA_EVENT_ADDR_ERROR: no device has a route to that address
 * @KRDMA_EVENT_ROUTE_RESOLVED: the route was resolved, the connection can connect
 * @KRDMA_EVENT_ROUTE_ERROR: there is no route to the peer
 * @KRDMA_EVENT_ESTABLISHED: connected
 * @KRDMA_EVENT_CONNECT_ERROR: connecting failed
 * @KRDMA_EVENT_UNREACHABLE: the peer does not answer
 * @KRDMA_EVENT_REJECTED: the peer rejected the connection, or nothing listens at that address
 * @KRDMA_EVENT_DISCONNECTED: the connection was connected, and either side has ended it: this
 *	side with ENOTCONN or ECONNABORTED, the peer's disconnect request with EPIPE, the peer
 *	with ECONNRESET if the transport has no disconnect request
 * @KRDMA_EVENT_LOST: the connection was connected and has failed
 * @KRDMA_EVENT_DEVICE_REMOVAL: the device is being removed
 * @KRDMA_EVENT_ADDR_CHANGE: the network has moved the connection's address
 * @KRDMA_EVENT_CLOSED: the last event: every work request has completed, the completions are in the
 *	CQ, unless they do not fit or the ring is one with KRDMA_RING_POLLED, and the connection's
 *	resources are released
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
 * enum krdma_device_event_type - type of a device record
 * @KRDMA_DEVICE_EVENT_ADDED: the device is present
 * @KRDMA_DEVICE_EVENT_REMOVED: the device was removed
 * @KRDMA_DEVICE_EVENT_PORT_ACTIVE: a port came up
 * @KRDMA_DEVICE_EVENT_PORT_ERROR: a port went down
 * @KRDMA_DEVICE_EVENT_ADDRESS_CHANGED: a port's GID table changed
 * @KRDMA_DEVICE_EVENT_FATAL: the device has failed and no longer works
 * @KRDMA_DEVICE_EVENT_MISSED: belongs to no device: records were not read in time and are lost;
 *	query all devices again
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
 * struct krdma_device_record - record returned by read() of a session
 * @size: bytes of the record
 * @type: &enum krdma_device_event_type
 * @device_id: the device's number
 * @port: the port, 0 for the whole device
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
 * struct krdma_device_find_args - ioctl(KRDMA_DEVICE_FIND): find the device for an address
 * @size: sizeof(struct krdma_device_find_args)
 * @flags: in: &enum krdma_device_find_flags, at least one
 * @deadline_ns: in: deadline of the search for a route to @remote; unused without @remote.  The
 *	search takes time: it fails with ETIMEDOUT if the deadline has already passed
 * @id: out: the device's number
 * @reserved: must be 0
 * @local: in: a local address: find the device that has it, or from which the route to @remote
 *	starts
 * @remote: in: find the device that the connection manager would use to reach this address
 *
 * ENOENT: no device has the local address; EHOSTUNREACH: there is no route to the remote
 * address; EAFNOSUPPORT: neither IPv4 nor IPv6; EINVAL: no flag, an invalid address, or
 * addresses of two families.
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
 * struct krdma_device_notify_args - ioctl(KRDMA_DEVICE_NOTIFY): enable device records
 * @size: sizeof(struct krdma_device_notify_args)
 * @flags: in: must be 0
 *
 * From then on read() of the session returns device records, beginning with one
 * KRDMA_DEVICE_EVENT_ADDED for each device that is present, which can be read at once.
 * EALREADY: device records are already enabled.
 */
struct krdma_device_notify_args {
	__u32 size;
	__u32 flags;
};

#define KRDMA_DEVICE_NOTIFY		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_DEVICE_NOTIFY)

#include <linux/krdma_mr.h>

#endif /* _UAPI_LINUX_KRDMA_H */
