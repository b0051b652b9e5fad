/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* krdma: listeners and connections. */
#ifndef _UAPI_LINUX_KRDMA_CONN_H
#define _UAPI_LINUX_KRDMA_CONN_H

#include <linux/krdma.h>
#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct krdma_event_record - record returned by read() of a connection
 * @size: bytes of the record
 * @type: &enum krdma_event_type
 * @error: the cause, a negative errno; 0 if there is no error
 * @reason: with KRDMA_EVENT_REJECTED: the connection manager's reject reason
 */
struct krdma_event_record {
	__u32 size;
	__u32 type;
	__s32 error;
	__s32 reason;
};

/**
 * enum krdma_listen_flags - bits of &struct krdma_listen_args.flags
 * @KRDMA_LISTEN_V6ONLY: the unspecified IPv6 address does not include IPv4
 * @KRDMA_LISTEN_LANES: take lanes, too: see KRDMA_CONN_CREATE_LANE.  A connection that is taken may
 *	be a lane or a plain one; KRDMA_CONN_QUERY says which.
 */
enum krdma_listen_flags {
	KRDMA_LISTEN_V6ONLY = 1 << 0,
	KRDMA_LISTEN_LANES = 1 << 1,
};

/**
 * struct krdma_listen_args - ioctl(KRDMA_LISTEN): listen for connection requests
 * @size: sizeof(struct krdma_listen_args)
 * @flags: in: &enum krdma_listen_flags
 * @fd: out: the listener
 * @backlog: in: number of connection requests that may wait; 0: 128, and at most 4096.  Further
 *	requests are rejected.
 * @address: in: address and port; the unspecified address means all addresses, port 0 a free
 *	port; out: the same with the assigned port
 * @keepalive_ms: in: for accepted connections that do not set @keepalive_ms of &struct
 *	krdma_conn_create_qp_args; the same values.  Without effect on iWARP.
 * @request_timeout_ms: in: milliseconds after which a connection request that has not been
 *	taken is rejected, from 100 to 3600000; 0: 60000; KRDMA_REQUEST_TIMEOUT_NEVER
 *
 * EAFNOSUPPORT: neither IPv4 nor IPv6; EINVAL: a link-local address without its interface, or
 * @keepalive_ms or @request_timeout_ms out of range;
 * EADDRNOTAVAIL: not an address of an RDMA device, or a listener at all addresses has the port;
 * EADDRINUSE: a listener or a connection at the same address has the port, or with
 * KRDMA_LISTEN_LANES another listener has port 1019, where krdma takes the trunks of lanes; EACCES:
 * the port is privileged.
 */
struct krdma_listen_args {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 backlog;
	struct __kernel_sockaddr_storage address;
	__u32 keepalive_ms;
	__u32 request_timeout_ms;
};

#define KRDMA_LISTEN		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_LISTEN)

/**
 * struct krdma_listener_query_args - ioctl(KRDMA_LISTENER_QUERY): query the listener
 * @size: sizeof(struct krdma_listener_query_args)
 * @flags: in: must be 0
 * @address: out: address and port
 * @listen_flags: out: &enum krdma_listen_flags, as given to KRDMA_LISTEN
 * @reserved: must be 0
 * @waiting: out: connection requests that wait to be taken
 * @oldest_ms: out: for how long the oldest of them has waited, in milliseconds; 0 if none waits
 * @expired: out: connection requests that were rejected because they had waited too long
 */
struct krdma_listener_query_args {
	__u32 size;
	__u32 flags;
	struct __kernel_sockaddr_storage address;
	__u32 listen_flags;
	__u32 reserved;
	__u32 waiting;
	__u32 oldest_ms;
	__aligned_u64 expired;
};

#define KRDMA_LISTENER_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_LISTENER_QUERY)

/**
 * struct krdma_listener_next_args - ioctl(KRDMA_LISTENER_NEXT): get the next connection request
 * @size: sizeof(struct krdma_listener_next_args)
 * @flags: in: must be 0
 * @deadline_ns: in: deadline of the wait
 * @fd: out: the connection, in state KRDMA_CONN_REQUESTED.  The program accepts it, rejects it,
 *	or closes it, which rejects it.  KRDMA_CONN_QUERY describes the peer.
 * @id: out: the connection's number
 *
 * EAGAIN: no connection request waits, and @deadline_ns is 0; ENODEV: the device was removed.
 */
struct krdma_listener_next_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 deadline_ns;
	__s32 fd;
	__u32 id;
};

#define KRDMA_LISTENER_NEXT	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_LISTENER_NEXT)

/**
 * enum krdma_conn_create_flags - bits of &struct krdma_conn_create_args.flags
 * @KRDMA_CONN_CREATE_LANE: the connection is a lane, if the peer takes lanes; otherwise it is a
 *	plain connection, and the peer notices no difference.  So it is with a local port below
 *	1024.  From KRDMA_CONN_RESOLVE's end on, KRDMA_CONN_QUERY says which.
 *
 * A lane shares a queue pair with other lanes between the same two hosts.  It has the states, event
 * records, ioctls and errnos of a plain connection, and differs in the following:
 *
 *  - The processors of both hosts carry out its operations, with immediate data on every transport.
 *    The devices carry out writes and reads in memory of KRDMA_MR_REGISTER_WINDOWS.  Atomics are
 *    atomic towards those of other lanes and towards the peer's processors, and not towards those
 *    of plain connections.  Entries with KRDMA_OP_SEND_INVALIDATE are refused with EOPNOTSUPP, and
 *    so are those with memory that was not registered with KRDMA_MR_REGISTER_LANES.  A peer's
 *    access to such memory is refused.
 *  - An entry has no more SGEs than the work requests of its queue, and is not split into parts.
 *  - 8 reads and atomics are in flight in each direction at most; others wait for their turn.
 *  - KRDMA_CONN_CREATE_QP with KRDMA_CREATE_QP_SRQ fails with EOPNOTSUPP unless the SRQ was created
 *    with KRDMA_SRQ_CREATE_LANES.  Its keepalive_ms is checked and not used, because krdma probes
 *    the peer once for all lanes.
 *  - A send completes when the peer's kernel has the message.  If the message is longer than the
 *    receive that it meets, both connections end with KRDMA_EVENT_LOST.
 *  - A message that finds no receive waits, whatever &struct krdma_conn_param_args says about
 *    retransmissions.  That structure's KRDMA_CONN_PARAM_PLAIN has no effect either, nor has
 *    ack_timeout or tos of &struct krdma_conn_resolve_args.
 */
enum krdma_conn_create_flags {
	KRDMA_CONN_CREATE_LANE = 1 << 0,
};

/**
 * struct krdma_conn_create_args - ioctl(KRDMA_CONN_CREATE): create a connection
 * @size: sizeof(struct krdma_conn_create_args)
 * @flags: in: &enum krdma_conn_create_flags
 * @fd: out: the connection, in state KRDMA_CONN_NEW
 * @id: out: its number, which ring entries refer to.  A number is not reused before 2^31 other
 *	numbers were used.
 */
struct krdma_conn_create_args {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 id;
};

#define KRDMA_CONN_CREATE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_CREATE)

/**
 * enum krdma_resolve_flags - bits of &struct krdma_conn_resolve_args.flags
 * @KRDMA_RESOLVE_LOCAL: @local is given
 */
enum krdma_resolve_flags {
	KRDMA_RESOLVE_LOCAL = 1 << 0,
};

/**
 * struct krdma_conn_resolve_args - ioctl(KRDMA_CONN_RESOLVE): resolve address and route
 * @size: sizeof(struct krdma_conn_resolve_args)
 * @flags: in: &enum krdma_resolve_flags
 * @timeout_ms: in: timeout in milliseconds of each of the two steps, address and route; 0: 2000
 * @tos: in: type of service, up to 255; 0: the default
 * @ack_timeout: in: ACK timeout, 4.096 us * 2^n, with n up to 31; 0: on InfiniBand the subnet
 *	manager's value for the path, but at least 14; on Ethernet 14, or 17 if there is a
 *	router on the path.  The accepting side takes over this value plus what the device adds,
 *	between 14 and 20.
 * @reserved: must be 0
 * @local: in: the local address; port 0: a free port
 * @remote: in: the peer's address and port
 *
 * Only starts the resolution: KRDMA_CONN_WAIT waits for its end.
 *
 * EAFNOSUPPORT: neither IPv4 nor IPv6; EINVAL: invalid addresses; EALREADY, EISCONN, ENOTCONN:
 * not possible in this state.  After these, EDQUOT, and errors of the structure itself the
 * connection is unchanged.  EADDRNOTAVAIL: @local is not on an RDMA device, or a listener at all
 * addresses has its port; EADDRINUSE: a connection or a listener at the same address has its port;
 * EACCES: the port is privileged, or a rule of the host forbids the route; EHOSTUNREACH: there is
 * no route from there: after these four, and after other errors, the connection is closed.
 */
struct krdma_conn_resolve_args {
	__u32 size;
	__u32 flags;
	__u32 timeout_ms;
	__u32 tos;
	__u32 ack_timeout;
	__u32 reserved;
	struct __kernel_sockaddr_storage local;
	struct __kernel_sockaddr_storage remote;
};

#define KRDMA_CONN_RESOLVE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_RESOLVE)

/**
 * enum krdma_conn_create_qp_flags - bits of &struct krdma_conn_create_qp_args.flags
 * @KRDMA_CREATE_QP_RECV_RING: @recv_ring_fd is given
 * @KRDMA_CREATE_QP_SRQ: @srq_fd is given; the SRQ has its own ring
 */
enum krdma_conn_create_qp_flags {
	KRDMA_CREATE_QP_RECV_RING = 1 << 0,
	KRDMA_CREATE_QP_SRQ = 1 << 1,
};

/**
 * struct krdma_conn_create_qp_args - ioctl(KRDMA_CONN_CREATE_QP): create the queue pair
 * @size: sizeof(struct krdma_conn_create_qp_args)
 * @flags: in: &enum krdma_conn_create_qp_flags
 * @ring_fd: in: the ring for submissions and completions
 * @recv_ring_fd: in: the ring for submissions and completions of receives, if that is another
 *	ring
 * @srq_fd: in: the SRQ to use instead of a receive queue
 * @send_depth: in: work requests that can be in flight; 0: 64; out: as granted
 * @recv_depth: in: receives that can be posted; 0: 64, and 0 with @srq_fd; out: as granted
 * @max_send_sge: in: SGEs of a work request to the device; 0: 4, or fewer if the device
 *	supports fewer.  An entry may have more SGEs if it can be split into parts.  out: as
 *	granted
 * @max_recv_sge: in: SGEs of a receive; 0: 1; out: as granted
 * @max_inline: in: bytes that KRDMA_SQE_INLINE can carry; out: as granted
 * @device_id: out: the device
 * @keepalive_ms: in: keepalive interval in milliseconds, from 100 to 3600000; 0: that of the
 *	module's parameter keepalive_ms, 5000; KRDMA_KEEPALIVE_NEVER.  If nothing is posted or
 *	completed for this long, krdma probes the peer, and repeats that after each further
 *	interval.  If the peer does not answer, the connection ends with ETIMEDOUT.  Not
 *	supported on iWARP, where a write completes when it was sent: 0 means none there.
 *
 * Valid before KRDMA_CONN_CONNECT or KRDMA_CONN_ACCEPT, on a connection that is resolved or
 * requested.  From then on receives can be posted.  Each connection takes its depths and
 * KRDMA_RING_EXTRA of its rings' completions.
 *
 * EBUSY: not resolved yet; EALREADY, EISCONN, ENOTCONN: not possible in this state, or already
 * done; EINVAL: more than the device supports, both flags, @recv_depth or @max_recv_sge together
 * with an SRQ, or @keepalive_ms out of range; EOPNOTSUPP: the device, or a lane, does not support
 * it; ENOSPC: more completions than the ring has left, where recently closed connections may still
 * count; EXDEV: a ring of another session or device; ENOENT: the SRQ has ended with a process whose
 * memory was in its receives.  These errors leave the connection unchanged.  A ring without a
 * device may have got that of the connection.
 */
struct krdma_conn_create_qp_args {
	__u32 size;
	__u32 flags;
	__s32 ring_fd;
	__s32 recv_ring_fd;
	__s32 srq_fd;
	__u32 send_depth;
	__u32 recv_depth;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline;
	__u32 device_id;
	__u32 keepalive_ms;
};

#define KRDMA_CONN_CREATE_QP	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_CREATE_QP)

/* Completions that a connection takes of its ring besides its depths. */
#define KRDMA_RING_EXTRA	3

/**
 * enum krdma_conn_param_flags - bits of &struct krdma_conn_param_args.flags
 * @KRDMA_CONN_PARAM_PLAIN: send the private data without krdma's trailer; a peer that is krdma
 *	too may see them padded with zeroes
 * @KRDMA_CONN_PARAM_NO_RNR_RETRY: the peer does not retransmit a message that finds no receive
 *	here
 * @KRDMA_CONN_PARAM_EARLY: KRDMA_CONN_CONNECT of a lane: entries can be submitted at once.  If the
 *	first one is a message of at most 992 bytes, it goes with the connection request, and is
 *	received when the peer has accepted.  What follows, and a longer message, goes then.  A
 *	message completes when the connection is accepted.  If it is not, all are flushed.  A plain
 *	connection ignores the flag: on it, entries can be submitted when it is connected.
 */
enum krdma_conn_param_flags {
	KRDMA_CONN_PARAM_PLAIN = 1 << 0,
	KRDMA_CONN_PARAM_NO_RNR_RETRY = 1 << 1,
	KRDMA_CONN_PARAM_EARLY = 1 << 2,
};

/**
 * struct krdma_conn_param_args - ioctl(KRDMA_CONN_CONNECT), ioctl(KRDMA_CONN_ACCEPT)
 * @size: sizeof(struct krdma_conn_param_args)
 * @flags: in: &enum krdma_conn_param_flags
 * @private_data: in: pointer to the private data for the peer
 * @private_data_len: in: bytes of it; the maximum depends on the transport
 * @read_depth: in: local reads and atomics in flight; 0: the device's maximum, at most 16
 * @read_depth_in: in: the peer's reads and atomics in flight; 0: the device's maximum, at most
 *	16
 * @retry_count: in: retransmissions of an unacknowledged packet, up to 7; 0: 6
 * @rnr_retry_count: in: how often the peer retransmits a message that finds no receive here; 7:
 *	without limit; 0: 7.  Must be 0 with KRDMA_CONN_PARAM_NO_RNR_RETRY
 * @reserved: must be 0
 *
 * KRDMA_CONN_CONNECT only sends the connection request; KRDMA_CONN_WAIT waits for the answer.
 * On some iWARP devices it also waits until TCP is connected, or cannot be.
 * If several threads accept at the same time, one succeeds.
 *
 * EMSGSIZE: too much private data; EINVAL: more than the device supports, or a connection of
 * the other kind; EBUSY: not resolved yet, or it has no QP yet; EALREADY, EISCONN, ENOTCONN:
 * not possible in this state.  These errors leave the connection unchanged.  After others the
 * connection is closed, and KRDMA_CONN_WAIT returns the same: ECONNREFUSED, ECONNRESET, ETIMEDOUT,
 * EHOSTUNREACH, EADDRNOTAVAIL, EADDRINUSE, EACCES, EIO: as there; ECONNABORTED: a signal has ended
 * the wait for TCP.
 */
struct krdma_conn_param_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 private_data;
	__u32 private_data_len;
	__u32 read_depth;
	__u32 read_depth_in;
	__u32 retry_count;
	__u32 rnr_retry_count;
	__u32 reserved;
};

#define KRDMA_CONN_CONNECT	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_CONNECT)
#define KRDMA_CONN_ACCEPT	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_ACCEPT)

/**
 * struct krdma_conn_reject_args - ioctl(KRDMA_CONN_REJECT): reject a connection request
 * @size: sizeof(struct krdma_conn_reject_args)
 * @flags: in: must be 0
 * @private_data: in: pointer to the private data for the peer
 * @private_data_len: in: bytes of it
 * @reserved: must be 0
 *
 * EMSGSIZE: too much private data; EINVAL: the connection does not come from a connection
 * request; EALREADY, EISCONN, ENOTCONN: not possible in this state.
 */
struct krdma_conn_reject_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 private_data;
	__u32 private_data_len;
	__u32 reserved;
};

#define KRDMA_CONN_REJECT	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_REJECT)

/**
 * enum krdma_disconnect_flags - bits of &struct krdma_conn_disconnect_args.flags
 * @KRDMA_DISCONNECT_ABORT: end the connection at once, in any state, without waiting for the
 *	peer
 */
enum krdma_disconnect_flags {
	KRDMA_DISCONNECT_ABORT = 1 << 0,
};

/**
 * struct krdma_conn_disconnect_args - ioctl(KRDMA_CONN_DISCONNECT): disconnect
 * @size: sizeof(struct krdma_conn_disconnect_args)
 * @flags: in: &enum krdma_disconnect_flags
 *
 * No work request can be posted afterwards, and those in flight are flushed.  The peer is
 * notified.  KRDMA_CONN_WAIT waits until the connection is closed.
 *
 * EALREADY: already disconnected; ENOTCONN: not possible in this state.
 */
struct krdma_conn_disconnect_args {
	__u32 size;
	__u32 flags;
};

#define KRDMA_CONN_DISCONNECT	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_DISCONNECT)

/**
 * struct krdma_conn_wait_args - ioctl(KRDMA_CONN_WAIT): wait for a state change to finish
 * @size: sizeof(struct krdma_conn_wait_args)
 * @flags: in: must be 0
 * @deadline_ns: in: deadline of the wait
 * @state: out: &enum krdma_conn_state
 * @reserved: must be 0
 *
 * Succeeds when the connection is new, resolved, requested or connected.  EINPROGRESS: the
 * change is in progress, and @deadline_ns is 0.  If the connection is closed, the error is the
 * cause:
 *
 *  - EHOSTUNREACH: there is no device for the peer, or no route to it
 *  - EADDRNOTAVAIL, EADDRINUSE, EACCES, ENOMEM: the error of KRDMA_CONN_RESOLVE,
 *    KRDMA_CONN_CONNECT or KRDMA_CONN_ACCEPT
 *  - ECONNREFUSED: the peer has rejected it, or nothing listens there
 *  - EPIPE: the peer has sent a disconnect request (DREQ)
 *  - ECONNRESET: the peer has ended it without a disconnect request, or has abandoned it before
 *    it was connected
 *  - ENOTCONN: disconnected by this side
 *  - ECONNABORTED: aborted or rejected by this side, or by a signal: see KRDMA_CONN_CONNECT
 *  - ENODEV: the device was removed
 *  - ETIMEDOUT: the peer does not answer.  The same errno means that the deadline has passed:
 *    KRDMA_CONN_QUERY distinguishes the two.
 *  - EIO: the connection has failed
 *
 * The event record of the end and &struct krdma_conn_query_args carry the same errno.
 *
 * The peer's kernel sends the disconnect request: when its program disconnects, aborts, closes
 * the last descriptor, exits or is killed, and when its side of the connection has failed.  EPIPE
 * therefore means that the peer's machine has ended the connection itself.  It does not mean
 * that the peer's program is alive, nor that it has processed the messages sent.  A machine
 * that crashes, or loses its cable, sends none: a work request in flight then completes with
 * KRDMA_WC_RETRY_EXC_ERR and the connection ends with ETIMEDOUT.  With a disconnect request
 * these are KRDMA_WC_WR_FLUSH_ERR and EPIPE.  iWARP has no disconnect request: every end by the
 * peer is ECONNRESET.
 */
struct krdma_conn_wait_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 deadline_ns;
	__u32 state;
	__u32 reserved;
};

#define KRDMA_CONN_WAIT		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_WAIT)

/**
 * enum krdma_conn_kind - &struct krdma_conn_query_args.kind
 * @KRDMA_CONN_PLAIN: a connection with a queue pair; also before it is known whether it is a lane
 * @KRDMA_CONN_LANE: a lane
 */
enum krdma_conn_kind {
	KRDMA_CONN_PLAIN = 0,
	KRDMA_CONN_LANE = 1,
};

/**
 * struct krdma_conn_query_args - ioctl(KRDMA_CONN_QUERY): query the connection
 * @size: sizeof(struct krdma_conn_query_args)
 * @flags: in: must be 0
 * @private_data: in: pointer to a buffer for the peer's private data; may be 0 if
 *	@private_data_len is 0
 * @private_data_len: in: bytes of the buffer; out: bytes of private data
 * @state: out: &enum krdma_conn_state
 * @error: out: why the connection ended, a negative errno; 0 while it has not
 * @id: out: its number
 * @device_id: out: its device, 0 if not known yet
 * @qp_number: out: the QP number, 0 if there is no QP; for comparison with the output of other
 *	tools
 * @send_depth: out: as granted
 * @recv_depth: out: as granted
 * @max_send_sge: out: as granted
 * @max_recv_sge: out: as granted
 * @max_inline: out: as granted
 * @read_depth: out: as negotiated with the peer
 * @read_depth_in: out: as negotiated with the peer
 * @path_mtu: out: bytes in a packet, 0 if not known
 * @peer_is_krdma: out: 1 if the peer's private data identify it as krdma
 * @reserved: must be 0
 * @sends_posted: out: send work requests accepted
 * @sends_completed: out: those of them that have completed
 * @receives_posted: out: receives accepted
 * @receives_completed: out: those of them that have completed
 * @local: out: the local address and port; all zero before it is known
 * @remote: out: the peer's address and port
 * @kind: out: &enum krdma_conn_kind
 * @request_age_ms: out: in state KRDMA_CONN_REQUESTED, for how long the peer has waited for the
 *	answer, in milliseconds; otherwise 0
 * @trunk: out: number of the trunk that carries the lane, 0 for a plain connection.  Lanes with the
 *	same number share a queue pair.
 */
struct krdma_conn_query_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 private_data;
	__u32 private_data_len;
	__u32 state;
	__s32 error;
	__u32 id;
	__u32 device_id;
	__u32 qp_number;
	__u32 send_depth;
	__u32 recv_depth;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline;
	__u32 read_depth;
	__u32 read_depth_in;
	__u32 path_mtu;
	__u32 peer_is_krdma;
	__u32 reserved;
	__aligned_u64 sends_posted;
	__aligned_u64 sends_completed;
	__aligned_u64 receives_posted;
	__aligned_u64 receives_completed;
	struct __kernel_sockaddr_storage local;
	struct __kernel_sockaddr_storage remote;
	__u32 kind;
	__u32 request_age_ms;
	__aligned_u64 trunk;
};

#define KRDMA_CONN_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_QUERY)

/**
 * struct krdma_conn_find_mr_args - ioctl(KRDMA_CONN_FIND_MR): find an MR of the peer by its name
 * @size: sizeof(struct krdma_conn_find_mr_args)
 * @flags: in: must be 0
 * @deadline_ns: in: deadline of the wait for the answer of the peer's kernel
 * @offset: in: a byte of the MR, counted from its first one
 * @remote_addr: out: the remote address of that byte
 * @length: out: bytes of the whole MR
 * @reach: out: bytes that @rkey covers from @offset on
 * @rkey: out: the rkey for that byte
 * @access: out: the rights of peers, &enum krdma_access
 * @name: in: the name, with a terminating zero, and zeroes behind it
 *
 * The connection is a lane, and connected.  The peer has given the name with KRDMA_MR_SET_NAME, in
 * the session of its end of the lane.  An MR with several rkeys takes a call for each of them: the
 * next one begins @reach bytes behind @offset.
 *
 * ENOENT: no MR has the name; ERANGE: the MR ends before @offset; EINVAL: the name is empty, has
 * no terminating zero, or something else behind it; EPROTONOSUPPORT: the connection is not a
 * lane; ENOTCONN: it is not connected, or has ended meanwhile; EAGAIN: the peer has no memory
 * for the answer now; ETIMEDOUT: the deadline has passed.
 */
struct krdma_conn_find_mr_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 deadline_ns;
	__aligned_u64 offset;
	__aligned_u64 remote_addr;
	__aligned_u64 length;
	__aligned_u64 reach;
	__u32 rkey;
	__u32 access;
	char name[KRDMA_NAME_MAX];
};

#define KRDMA_CONN_FIND_MR	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_FIND_MR)

/**
 * DOC: Connections without a descriptor
 *
 * KRDMA_CONNS_OPEN, KRDMA_CONNS_TAKE, KRDMA_CONNS_ACCEPT and KRDMA_CONNS_CLOSE open, take, accept
 * and close many connections in one ioctl on the session.  These connections have no descriptors.
 * Each has a number, for the entries of rings and for these ioctls, and ends with
 * KRDMA_CONNS_CLOSE, or when the last descriptor of the session is closed.  They count in the same
 * limits as connections with a descriptor.  KRDMA_CONNS_FD gives one of them a descriptor.
 *
 * An event of such a connection is a completion in its ring with the opcode KRDMA_OP_EVENT:
 *
 *  - &struct krdma_cqe.dest: the number
 *  - &struct krdma_cqe.wr_id: that of the connection's entry in KRDMA_CONNS_OPEN or
 *    KRDMA_CONNS_ACCEPT
 *  - &struct krdma_cqe.length: &enum krdma_event_type
 *  - &struct krdma_cqe.imm: the cause, a negative errno; 0 if there is no error
 *  - &struct krdma_cqe.vendor_error: with KRDMA_EVENT_REJECTED: the reject reason
 *
 * There is one completion for each event from KRDMA_EVENT_ESTABLISHED on, in their order.  An
 * event and the completions of the connection's work requests have no order.  A connection that
 * KRDMA_CONNS_OPEN returns is connected, so its KRDMA_EVENT_ESTABLISHED is left out, and so is
 * KRDMA_EVENT_CLOSED of every connection.  After KRDMA_CONNS_CLOSE there are no further events;
 * completions of work requests that were posted before still come.  Events take no part of the
 * completions that connections reserve: if the CQ is full, they wait.
 */

/**
 * struct krdma_conns_entry - one of many connections
 * @id: KRDMA_CONNS_OPEN, KRDMA_CONNS_TAKE: out: the connection's number, 0: there is none;
 *	KRDMA_CONNS_ACCEPT, KRDMA_CONNS_CLOSE: in
 * @error: out: 0, or why this one failed, a negative errno
 * @wr_id: KRDMA_CONNS_OPEN, KRDMA_CONNS_ACCEPT: in: returned in the completions of its events
 * @private_data: KRDMA_CONNS_OPEN, KRDMA_CONNS_ACCEPT: in: pointer to the private data for the
 *	peer; KRDMA_CONNS_TAKE: in: pointer to a buffer for those of the peer
 * @private_data_len: in: bytes of the data, or of the buffer; KRDMA_CONNS_TAKE: out: bytes of the
 *	peer's private data
 * @reserved: must be 0
 * @remote: KRDMA_CONNS_OPEN: in: the peer's address and port; KRDMA_CONNS_TAKE: out
 *
 * An ioctl ignores the members that it does not name.
 */
struct krdma_conns_entry {
	__u32 id;
	__s32 error;
	__aligned_u64 wr_id;
	__aligned_u64 private_data;
	__u32 private_data_len;
	__u32 reserved;
	struct __kernel_sockaddr_storage remote;
};

/**
 * enum krdma_conns_flags - bits of &struct krdma_conns_args.flags
 * @KRDMA_CONNS_LANES: KRDMA_CONNS_OPEN: see KRDMA_CONN_CREATE_LANE
 * @KRDMA_CONNS_SRQ: KRDMA_CONNS_OPEN, KRDMA_CONNS_ACCEPT: @srq_fd is given: see
 *	KRDMA_CREATE_QP_SRQ
 */
enum krdma_conns_flags {
	KRDMA_CONNS_LANES = 1 << 0,
	KRDMA_CONNS_SRQ = 1 << 1,
};

/* The maximum number of entries of KRDMA_CONNS_OPEN and the others. */
#define KRDMA_CONNS_MAX		65536

/**
 * struct krdma_conns_args - ioctl(KRDMA_CONNS_OPEN), ioctl(KRDMA_CONNS_TAKE),
 * ioctl(KRDMA_CONNS_ACCEPT), ioctl(KRDMA_CONNS_CLOSE): many connections at a time
 * @size: sizeof(struct krdma_conns_args)
 * @flags: in: &enum krdma_conns_flags
 * @entries: in: pointer to an array of &struct krdma_conns_entry
 * @count: in: number of entries, from 1 to KRDMA_CONNS_MAX
 * @done: out: number of entries that succeeded
 * @error: out: 0, or the error of the first entry that did not
 * @fd: in: KRDMA_CONNS_OPEN, KRDMA_CONNS_ACCEPT: the ring for submissions, completions and events;
 *	KRDMA_CONNS_TAKE: the listener; KRDMA_CONNS_CLOSE: 0
 * @deadline_ns: in: KRDMA_CONNS_OPEN: deadline of connecting; KRDMA_CONNS_TAKE: deadline of the
 *	wait for the first request; otherwise 0
 * @send_depth: in: KRDMA_CONNS_OPEN, KRDMA_CONNS_ACCEPT: as in &struct krdma_conn_create_qp_args,
 *	like the members that follow; otherwise 0
 * @recv_depth: in: see @send_depth
 * @max_send_sge: in: see @send_depth
 * @max_recv_sge: in: see @send_depth
 * @max_inline: in: see @send_depth
 * @keepalive_ms: in: see @send_depth
 * @srq_fd: in: KRDMA_CONNS_OPEN, KRDMA_CONNS_ACCEPT, with KRDMA_CONNS_SRQ: the SRQ to use instead
 *	of receive queues
 * @reserved: must be 0
 *
 * KRDMA_CONNS_OPEN creates, resolves and connects, and waits until each connection is connected
 * or has failed.  What is not connected by the deadline fails with ETIMEDOUT.  A failed entry has
 * the number 0 and leaves nothing.  A signal ends the wait: entries that are not connected fail
 * with EINTR.  All entries are tried, in groups.
 *
 * KRDMA_CONNS_TAKE takes connection requests of the listener: it waits for the first one, and then
 * takes those that are there, up to @count.  Entries behind @done are unchanged.  The program
 * accepts a request, or closes it, which rejects it.  EAGAIN: no request waits, and @deadline_ns is
 * 0; ETIMEDOUT.  Private data that cannot be written are lost, with EFAULT in the entry, which
 * has its number nevertheless and counts as done.
 *
 * KRDMA_CONNS_ACCEPT creates the queues and accepts.  It does not wait for the peers.  A message
 * that arrives before a receive is posted waits.  A failed entry is unchanged, and can be accepted
 * again; its queues may exist then, and they and the wr_id are those of the first time.
 *
 * KRDMA_CONNS_CLOSE ends connections.  A number is unused when the ioctl returns.
 *
 * An entry's error is an errno of the ioctls for one connection, or ENOENT: the session has no
 * connection with this number that has no descriptor; EOPNOTSUPP: its reserved member is not 0.
 *
 * EINVAL: @count or another member is out of range, or not 0 although the ioctl does not use it;
 * EBADF, EPROTOTYPE, EXDEV: of @fd; EFAULT: the first entries cannot be read and written, and
 * nothing has happened; if later ones cannot, @error is EFAULT, and they are untouched.  EINTR: a
 * signal came before any entry succeeded.  ENOMEM: nothing has happened.
 */
struct krdma_conns_args {
	__u32 size;
	__u32 flags;
	__aligned_u64 entries;
	__u32 count;
	__u32 done;
	__s32 error;
	__s32 fd;
	__aligned_u64 deadline_ns;
	__u32 send_depth;
	__u32 recv_depth;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline;
	__u32 keepalive_ms;
	__s32 srq_fd;
	__u32 reserved;
};

/**
 * struct krdma_conns_fd_args - ioctl(KRDMA_CONNS_FD): give one of many connections a descriptor
 * @size: sizeof(struct krdma_conns_fd_args)
 * @flags: must be 0
 * @id: in: the connection's number
 * @fd: out: its descriptor
 *
 * From then on the connection is like one of KRDMA_CONN_CREATE or KRDMA_LISTENER_NEXT: it ends when
 * its last descriptor is closed, and &struct krdma_cqe.dest of its completions is still @id.
 * Events that have not become completions yet are read from the descriptor, like all that follow,
 * KRDMA_EVENT_CLOSED included.  A request that KRDMA_CONNS_TAKE has returned can be accepted with
 * KRDMA_CONN_CREATE_QP and KRDMA_CONN_ACCEPT.  KRDMA_CONNS_ACCEPT and KRDMA_CONNS_CLOSE do not find
 * the connection any more.
 *
 * EOPNOTSUPP: @flags is not 0; ENOENT: the session has no connection with this number that has no
 * descriptor; EMFILE; ENFILE; ENOMEM.  If the ioctl fails, nothing has changed.
 */
struct krdma_conns_fd_args {
	__u32 size;
	__u32 flags;
	__u32 id;
	__s32 fd;
};

#define KRDMA_CONNS_OPEN	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONNS_OPEN)
#define KRDMA_CONNS_TAKE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONNS_TAKE)
#define KRDMA_CONNS_ACCEPT	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONNS_ACCEPT)
#define KRDMA_CONNS_CLOSE	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONNS_CLOSE)
#define KRDMA_CONNS_FD		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONNS_FD)

#endif /* _UAPI_LINUX_KRDMA_CONN_H */
