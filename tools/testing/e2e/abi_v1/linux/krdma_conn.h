/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * krdma: listeners and connections.
 */
#ifndef _UAPI_LINUX_KRDMA_CONN_H
#define _UAPI_LINUX_KRDMA_CONN_H

#include <linux/krdma.h>
#include <linux/socket.h>
#include <linux/types.h>

/**
 * struct krdma_event_record - what read() of a connection gives
 * @size: how long the record is
 * @type: &enum krdma_event_type
 * @error: why, a negative errno; 0 if nothing is wrong
 * @reason: KRDMA_EVENT_REJECTED: the connection manager's own code
 */
struct krdma_event_record {
	__u32 size;
	__u32 type;
	__s32 error;
	__s32 reason;
};

/**
 * enum krdma_listen_flags - bits of &struct krdma_listen_args.flags
 * @KRDMA_LISTEN_V6ONLY: the unspecified IPv6 address does not stand for IPv4 too
 */
enum krdma_listen_flags {
	KRDMA_LISTEN_V6ONLY = 1 << 0,
};

/**
 * struct krdma_listen_args - ioctl(KRDMA_LISTEN): wait for peers that want to connect
 * @size: sizeof(struct krdma_listen_args)
 * @flags: in: &enum krdma_listen_flags
 * @fd: out: the listener
 * @backlog: in: requests that may wait; 0: 128, and at most 4096.  Further ones are
 *	rejected.
 * @address: in: address and port; the unspecified address: all, port 0: a free
 *	one; out: with the port that it got
 *
 * EAFNOSUPPORT: neither IPv4 nor IPv6; EINVAL: a link-local address that does not
 * name its interface; EADDRNOTAVAIL: not an address of an RDMA device, or one who
 * listens at all addresses has the port; EADDRINUSE: one at the same address has it;
 * EACCES: the port is a privileged one.
 */
struct krdma_listen_args {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 backlog;
	struct __kernel_sockaddr_storage address;
};

#define KRDMA_LISTEN		_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_LISTEN)

/**
 * struct krdma_listener_query_args - ioctl(KRDMA_LISTENER_QUERY): where it listens
 * @size: sizeof(struct krdma_listener_query_args)
 * @flags: in: must be 0
 * @address: out: address and port
 */
struct krdma_listener_query_args {
	__u32 size;
	__u32 flags;
	struct __kernel_sockaddr_storage address;
};

#define KRDMA_LISTENER_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_LISTENER_QUERY)

/**
 * struct krdma_listener_next_args - ioctl(KRDMA_LISTENER_NEXT): the next request
 * @size: sizeof(struct krdma_listener_next_args)
 * @flags: in: must be 0
 * @deadline_ns: in: how long to wait for one
 * @fd: out: the connection, KRDMA_CONN_REQUESTED: to be accepted, rejected, or
 *	closed, which rejects it.  KRDMA_CONN_QUERY tells of the peer.
 * @id: out: the connection's number
 *
 * EAGAIN: there is none, and @deadline_ns is 0; ENODEV: the device has gone.
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
 * struct krdma_conn_create_args - ioctl(KRDMA_CONN_CREATE): a connection to be made
 * @size: sizeof(struct krdma_conn_create_args)
 * @flags: in: must be 0
 * @fd: out: the connection, KRDMA_CONN_NEW
 * @id: out: its number: what entries of queues know it by.  A number is not used
 *	again before two thousand million others were.
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
 * struct krdma_conn_resolve_args - ioctl(KRDMA_CONN_RESOLVE): look for the way
 * @size: sizeof(struct krdma_conn_resolve_args)
 * @flags: in: &enum krdma_resolve_flags
 * @timeout_ms: in: for each of the two steps, address and route; 0: 2000
 * @tos: in: type of service, to 255; 0: the default
 * @ack_timeout: in: how long an answer may take, 4.096 us * 2^n, to 31; 0: on InfiniBand
 *	what the subnet manager says of the path, but at least 14; on Ethernet 14, or 17 if
 *	there is a router on the way.  The end that accepts takes it over with what the
 *	device adds, between 14 and 20.
 * @reserved: must be 0
 * @local: in: one's own address
 * @remote: in: the peer's address and port
 *
 * Only begins the search: KRDMA_CONN_WAIT waits for its end.
 *
 * EAFNOSUPPORT: neither IPv4 nor IPv6; EINVAL: addresses that make no sense;
 * EALREADY, EISCONN, ENOTCONN: not in this state.  EADDRNOTAVAIL: @local is not
 * on an RDMA device, EHOSTUNREACH: there is no way from there: then, and after other
 * errors, the connection is over.
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
 * @KRDMA_CREATE_QP_SRQ: @srq_fd is given, which has a queue of its own
 */
enum krdma_conn_create_qp_flags {
	KRDMA_CREATE_QP_RECV_RING = 1 << 0,
	KRDMA_CREATE_QP_SRQ = 1 << 1,
};

/**
 * struct krdma_conn_create_qp_args - ioctl(KRDMA_CONN_CREATE_QP): what it works with
 * @size: sizeof(struct krdma_conn_create_qp_args)
 * @flags: in: &enum krdma_conn_create_qp_flags
 * @ring_fd: in: the queue where operations are asked for and complete
 * @recv_ring_fd: in: the queue where receives are asked for and complete, if it
 *	is another
 * @srq_fd: in: where receives come from, if it has none of its own
 * @send_depth: in: operations that can be under way; 0: 64; out: as granted
 * @recv_depth: in: receives that can be posted; 0: 64, and 0 with @srq_fd; out: as
 *	granted
 * @max_send_sge: in: pieces of memory of a request to the device; 0: 4, or what it
 *	can.  An operation may have more of them where it can be cut in parts.  out:
 *	as granted
 * @max_recv_sge: in: pieces of memory of a receive; 0: 1; out: as granted
 * @max_inline: in: bytes that KRDMA_SQE_INLINE can carry; out: as granted
 * @device_id: out: the device
 * @keepalive_ms: in: after so long without anything posted or completed, ask whether
 *	the peer is there, and again after as long; from 100 to 3600000; 0: never.  Who
 *	is not ends the connection with ETIMEDOUT.  Not with iWARP, whose writes complete
 *	when they were sent.
 *
 * Before KRDMA_CONN_CONNECT or KRDMA_CONN_ACCEPT, of a connection that is resolved
 * or requested.  From here on receives can be posted.  Each connection takes its
 * depths and KRDMA_RING_EXTRA of its queues' completions.
 *
 * EBUSY: not resolved yet; EALREADY, EISCONN, ENOTCONN: not in this state, or
 * done before; EINVAL: more than the device can, both flags, or @keepalive_ms beyond
 * its bounds; EOPNOTSUPP: the device has no such thing; ENOSPC: more than the queue
 * has left, where what was closed just now may still count; EXDEV: a queue of another
 * session, or of another device.  The connection is as it was after these.
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

/* What a connection takes of its queue's completions besides its depths. */
#define KRDMA_RING_EXTRA	3

/**
 * enum krdma_conn_param_flags - bits of &struct krdma_conn_param_args.flags
 * @KRDMA_CONN_PARAM_PLAIN: the private data go as they are: the peer, if it is krdma
 *	too, may see them padded with zeroes
 * @KRDMA_CONN_PARAM_NO_RNR_RETRY: the peer is not to send a message again that finds no
 *	receive here
 */
enum krdma_conn_param_flags {
	KRDMA_CONN_PARAM_PLAIN = 1 << 0,
	KRDMA_CONN_PARAM_NO_RNR_RETRY = 1 << 1,
};

/**
 * struct krdma_conn_param_args - ioctl(KRDMA_CONN_CONNECT), ioctl(KRDMA_CONN_ACCEPT)
 * @size: sizeof(struct krdma_conn_param_args)
 * @flags: in: &enum krdma_conn_param_flags
 * @private_data: in: pointer to what is given to the peer
 * @private_data_len: in: its length; what the transport takes differs
 * @read_depth: in: reads and atomics of one's own under way; 0: as many as the
 *	device can, at most 16
 * @read_depth_in: in: those of the peer's; likewise
 * @retry_count: in: how often an unanswered packet is sent again, to 7; 0: 6
 * @rnr_retry_count: in: how often the peer is to send a message again that finds no
 *	receive here; 7: for ever; 0: 7.  0 with KRDMA_CONN_PARAM_NO_RNR_RETRY
 * @reserved: must be 0
 *
 * KRDMA_CONN_CONNECT only asks; KRDMA_CONN_WAIT waits for the answer.  Of several
 * who accept at a time, one wins.
 *
 * EMSGSIZE: too much private data; EINVAL: more than the device can, or a
 * connection of the other kind; EBUSY: not resolved or not prepared yet;
 * EALREADY, EISCONN, ENOTCONN: not in this state.  The connection is as it was
 * after these.
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
 * struct krdma_conn_reject_args - ioctl(KRDMA_CONN_REJECT): refuse a request
 * @size: sizeof(struct krdma_conn_reject_args)
 * @flags: in: must be 0
 * @private_data: in: pointer to what is given to the peer
 * @private_data_len: in: its length
 * @reserved: must be 0
 *
 * EMSGSIZE: too much private data; EINVAL: nobody has asked for this connection;
 * EALREADY, EISCONN, ENOTCONN: not in this state.
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
 * @KRDMA_DISCONNECT_ABORT: at once, in any state, without waiting for the peer
 */
enum krdma_disconnect_flags {
	KRDMA_DISCONNECT_ABORT = 1 << 0,
};

/**
 * struct krdma_conn_disconnect_args - ioctl(KRDMA_CONN_DISCONNECT): end it
 * @size: sizeof(struct krdma_conn_disconnect_args)
 * @flags: in: &enum krdma_disconnect_flags
 *
 * Nothing can be posted any more, and what is under way is flushed.  The peer is
 * told.  KRDMA_CONN_WAIT waits until nothing is left.
 *
 * EALREADY: it was done before; ENOTCONN: not in this state.
 */
struct krdma_conn_disconnect_args {
	__u32 size;
	__u32 flags;
};

#define KRDMA_CONN_DISCONNECT	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_DISCONNECT)

/**
 * struct krdma_conn_wait_args - ioctl(KRDMA_CONN_WAIT): until what was begun is done
 * @size: sizeof(struct krdma_conn_wait_args)
 * @flags: in: must be 0
 * @deadline_ns: in: how long to wait
 * @state: out: &enum krdma_conn_state
 * @reserved: must be 0
 *
 * Succeeds when the connection is new, resolved, requested or connected.
 * EINPROGRESS: it is on its way, and @deadline_ns is 0.  If it is closed, the
 * error says why:
 * EHOSTUNREACH: there is no device, or no way, to the peer;
 * EADDRNOTAVAIL: what KRDMA_CONN_RESOLVE answered;
 * ECONNREFUSED: rejected by the peer, or nobody listens there;
 * EPIPE: the peer has said goodbye;
 * ECONNRESET: the peer has ended it without a goodbye, or has given it up before it
 * was connected;
 * ENOTCONN: ended here; ECONNABORTED: aborted or rejected here;
 * ENODEV: the device has gone;
 * ETIMEDOUT: the peer does not answer; also if the deadline has passed:
 * KRDMA_CONN_QUERY tells which;
 * EIO: it broke.
 *
 * The same errno is in the event that tells of the end, in &struct krdma_conn_query_args
 * and here.
 *
 * A goodbye comes from the peer's kernel: when its program disconnects, aborts, closes
 * the last descriptor, ends or is killed, and when its end of the connection has
 * failed.  So EPIPE says that the peer's machine has ended the connection itself; it
 * does not say that the peer's program is well, nor that it has taken what was sent.
 * A machine that crashes, or whose cable is pulled, says none: an operation under way
 * then ends with KRDMA_WC_RETRY_EXC_ERR and the connection with ETIMEDOUT, and
 * with a goodbye it is KRDMA_WC_WR_FLUSH_ERR and EPIPE.  iWARP has no goodbye that is
 * told apart: there each end by the peer is ECONNRESET.
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
 * struct krdma_conn_query_args - ioctl(KRDMA_CONN_QUERY): how it is
 * @size: sizeof(struct krdma_conn_query_args)
 * @flags: in: must be 0
 * @private_data: in: pointer to where the peer's private data go; may be 0 if
 *	there is no room for any
 * @private_data_len: in: how much room there is, out: how much there are
 * @state: out: &enum krdma_conn_state
 * @error: out: why it ended, a negative errno; 0 while it has not
 * @id: out: its number
 * @device_id: out: its device, 0 if not known yet
 * @qp_number: out: the number of its queue pair, 0 if there is none; for
 *	comparison with what other tools show
 * @send_depth: out: as granted
 * @recv_depth: out: as granted
 * @max_send_sge: out: as granted
 * @max_recv_sge: out: as granted
 * @max_inline: out: as granted
 * @read_depth: out: as agreed with the peer
 * @read_depth_in: out: as agreed with the peer
 * @path_mtu: out: bytes in a packet, 0 if not known
 * @peer_is_krdma: out: 1 if the peer said so in its private data
 * @reserved: must be 0
 * @sends_posted: out: operations accepted
 * @sends_completed: out: of them, those that have ended
 * @receives_posted: out: likewise
 * @receives_completed: out: likewise
 * @local: out: one's own address and port; all zero before it is known
 * @remote: out: the peer's
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
};

#define KRDMA_CONN_QUERY	_IO(KRDMA_IOCTL_TYPE, KRDMA_CMD_CONN_QUERY)

#endif /* _UAPI_LINUX_KRDMA_CONN_H */
