/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA for modules of the kernel.
 *
 * Functions are described where they are defined, in krdma/.  A module that
 * calls them says MODULE_IMPORT_NS("KRDMA").
 *
 * Enumerations are those of the user interface, <linux/krdma.h>: a number means
 * the same on both sides.  Its structures are not used here.
 */
#ifndef _KRDMA_KRDMA_H
#define _KRDMA_KRDMA_H

#include <linux/krdma.h>
#include <linux/limits.h>
#include <linux/types.h>

enum dma_data_direction;
struct krdma_conn;
struct krdma_device;
struct krdma_listener;
struct krdma_frmr;
struct krdma_cq;
struct krdma_mr;
struct krdma_session;
struct krdma_srq;
struct krdma_notifier;
struct net;
struct scatterlist;
struct sockaddr;
struct sockaddr_storage;

/*
 * How long a call waits, in milliseconds, where a timeout_ms is an argument: this for
 * without limit, and 0 for not at all.
 */
#define KRDMA_FOREVER_MS	U32_MAX

/*
 * Devices
 */

/*
 * The highest number of a device.  The one above is left out: whoever walks
 * through all devices by "id = last + 1" must not come round to the beginning.
 */
#define KRDMA_DEVICE_ID_MAX	(U32_MAX - 1)

/**
 * struct krdma_limits - what a consumer may ask of a device through krdma
 * @max_mr_size: largest region of memory, in bytes
 * @max_qp: queue pairs that the device has
 * @max_send_wr: deepest send queue
 * @max_recv_wr: deepest receive queue
 * @max_send_sge: scatter/gather entries of a send or write
 * @max_recv_sge: scatter/gather entries of a receive
 * @max_read_sge: scatter/gather entries of a read
 * @max_cqe: deepest completion queue
 * @max_srq_wr: deepest shared receive queue, 0 without KRDMA_DEVICE_CAP_SRQ
 * @max_read_depth: reads and atomics that a connection can have under way
 * @max_read_depth_in: reads and atomics that a connection can serve at a time
 * @max_fast_reg_pages: pages in one fast registration, 0 without
 *	KRDMA_DEVICE_CAP_FAST_REG
 *
 * What krdma needs for itself is taken off already.
 */
struct krdma_limits {
	u64 max_mr_size;
	u32 max_qp;
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_read_sge;
	u32 max_cqe;
	u32 max_srq_wr;
	u32 max_read_depth;
	u32 max_read_depth_in;
	u32 max_fast_reg_pages;
};

/**
 * struct krdma_device_attr - a device
 * @id: its number, never 0
 * @port_count: its ports, numbered from 1
 * @name: its name at the time of the call, padded with zeroes
 * @node_guid: its GUID, as a number
 * @caps: bits of &enum krdma_device_cap
 * @transport: what it speaks on the wire
 * @limits: what may be asked of it
 */
struct krdma_device_attr {
	u32 id;
	u32 port_count;
	char name[KRDMA_NAME_MAX];
	u64 node_guid;
	u64 caps;
	enum krdma_transport transport;
	struct krdma_limits limits;
};

/**
 * struct krdma_port_attr - a port, at the time of the call
 * @state: its state
 * @link_layer: what is below the transport
 * @max_mtu: the largest path MTU that it can have, in bytes
 * @active_mtu: the largest path MTU that it has, in bytes
 * @max_msg_size: the longest message, in bytes
 * @gid_count: entries in its table of addresses
 * @speed_mbps: speed in Mbit/s, 0 if the device does not say
 * @netdev_ifindex: the network interface behind it, 0 if there is none in the
 *	namespace that was given
 * @netdev_name: the interface's name, padded with zeroes
 */
struct krdma_port_attr {
	enum krdma_port_state state;
	enum krdma_link_layer link_layer;
	u32 max_mtu;
	u32 active_mtu;
	u32 max_msg_size;
	u32 gid_count;
	u32 speed_mbps;
	u32 netdev_ifindex;
	char netdev_name[KRDMA_NAME_MAX];
};

struct krdma_device *krdma_device_get_by_id(const struct net *net, u32 id);
struct krdma_device *krdma_device_next(const struct net *net, u32 id);
struct krdma_device *krdma_device_get_by_name(const struct net *net, const char *name);
void krdma_device_put(struct krdma_device *dev);
u32 krdma_device_count(const struct net *net);

int krdma_device_query_attr(struct krdma_device *dev, struct krdma_device_attr *attr);
int krdma_device_query_port(struct krdma_device *dev, const struct net *net, u32 port,
			    struct krdma_port_attr *attr);

struct krdma_device *krdma_device_at(struct net *net, const struct sockaddr *local);
struct krdma_device *krdma_device_towards(struct net *net, const struct sockaddr *local,
					  const struct sockaddr *remote, u32 timeout_ms);

/**
 * struct krdma_device_event - something happened to a device
 * @type: what
 * @device_id: to which
 * @port: to which port of it, 0: to the device
 */
struct krdma_device_event {
	enum krdma_device_event_type type;
	u32 device_id;
	u32 port;
};

/**
 * struct krdma_device_notifier - wants to hear of devices
 * @event: called in process context, may sleep, for one event at a time and in
 *	their order; must not register or unregister watches
 * @net: whose devices, set by krdma_device_notifier_register()
 * @state: krdma's
 */
struct krdma_device_notifier {
	void (*event)(struct krdma_device_notifier *notifier,
		      const struct krdma_device_event *event);
	struct net *net;
	struct krdma_notifier *state;
};

int krdma_device_notifier_register(struct krdma_device_notifier *notifier, struct net *net);
void krdma_device_notifier_unregister(struct krdma_device_notifier *notifier);

/*
 * Sessions
 *
 * A session is what a consumer's objects belong to.  Peers of its connections
 * reach the memory of this session, and of no other.
 */
struct krdma_session *krdma_session_create(struct net *net);
void krdma_session_put(struct krdma_session *session);
void krdma_session_set_reclaim(struct krdma_session *session);

/**
 * struct krdma_account_ops - who pays for the memory of a session's queues, and for ports
 * @charge: charges bytes; 0, or a negative errno, which is the error of the call that
 *	needs the memory.  In that call's context, process context; may sleep.
 * @uncharge: as many as were charged, when the memory has been freed.  Process context.
 * @charge_port: charges one port of the connection manager's, as @charge does; NULL: ports
 *	do not count
 * @uncharge_port: the port is free again; not NULL if @charge_port is not.  Process context.
 * @refused: the control group of the calling process has as much of a device as it may, and a
 *	call is about to fail with -EDQUOT for that; NULL: the account need not know.  Process
 *	context; may sleep.
 * @put: the session is gone.  Any context but NMI.
 *
 * What counts as memory: the queues of connections, shared receive queues and completion
 * queues, with an estimate of what the provider allocates for them.  What holds a port: each
 * listener, each connection from krdma_conn_resolve() to its end, and on iWARP the connection
 * of a device with itself by which krdma registers memory.
 */
struct krdma_account_ops {
	int (*charge)(void *account, u64 bytes);
	void (*uncharge)(void *account, u64 bytes);
	int (*charge_port)(void *account);
	void (*uncharge_port)(void *account);
	void (*refused)(void *account);
	void (*put)(void *account);
};

void krdma_session_set_account(struct krdma_session *session,
			       const struct krdma_account_ops *ops, void *account);

/*
 * Operations
 */

/**
 * struct krdma_sge - a piece of local memory
 * @mr: the region that it is in; NULL: it was mapped for DMA by the caller,
 *	who answers for it
 * @addr: where it begins, in the region's addresses, or for DMA
 * @length: how many bytes
 * @key: without @mr: the key, such as krdma_conn_lkey()
 *
 * With KRDMA_POST_INLINE, @addr is a kernel address, and @mr and @key are
 * not looked at.
 */
struct krdma_sge {
	struct krdma_mr *mr;
	u64 addr;
	u32 length;
	u32 key;
};

/**
 * enum krdma_post_flags - how an operation is done
 * @KRDMA_POST_UNSIGNALED: it completes towards the consumer only if it fails
 * @KRDMA_POST_INLINE: the data are copied before the call returns
 * @KRDMA_POST_FENCE: it begins after the reads and atomics before it have ended
 * @KRDMA_POST_SOLICITED: the peer is woken for it even if it waits for important
 *	messages only
 */
enum krdma_post_flags {
	KRDMA_POST_UNSIGNALED = 1 << 0,
	KRDMA_POST_INLINE = 1 << 1,
	KRDMA_POST_FENCE = 1 << 2,
	KRDMA_POST_SOLICITED = 1 << 3,
};

#define KRDMA_POST_FLAGS	(KRDMA_POST_UNSIGNALED | KRDMA_POST_INLINE | \
				 KRDMA_POST_FENCE | KRDMA_POST_SOLICITED)

/**
 * struct krdma_send_wr - an operation to be done
 * @wr_id: comes back with the completion
 * @opcode: which; not KRDMA_OP_RECV
 * @flags: &enum krdma_post_flags
 * @sge_count: how many of @sges
 * @sges: the local memory; may be gone when the call returns
 * @remote_addr: write, read, atomics, flush: the peer's address
 * @rkey: write, read, atomics, flush: its key
 * @imm: KRDMA_OP_SEND_IMM, KRDMA_OP_WRITE_IMM: the immediate data
 * @key: KRDMA_OP_SEND_INVALIDATE: the peer's key, KRDMA_OP_LOCAL_INV: one's own
 * @operand: KRDMA_OP_COMPARE_SWAP: what is compared; KRDMA_OP_FETCH_ADD: what is
 *	added; KRDMA_OP_ATOMIC_WRITE: what is written; KRDMA_OP_FLUSH: the length of the
 *	range
 * @swap: KRDMA_OP_COMPARE_SWAP: what is written if they are equal
 * @mr: KRDMA_OP_REG_MR: what was mapped by krdma_frmr_map()
 * @access: KRDMA_OP_REG_MR: &enum krdma_access
 * @flush: KRDMA_OP_FLUSH: &enum krdma_flush
 */
struct krdma_send_wr {
	u64 wr_id;
	u8 opcode;
	u8 flags;
	u16 sge_count;
	union {
		u32 imm;
		u32 key;
		u32 access;
		u32 flush;
	};
	const struct krdma_sge *sges;
	u64 remote_addr;
	u32 rkey;
	union {
		u64 operand;
		struct krdma_frmr *mr;
	};
	u64 swap;
};

/**
 * struct krdma_recv_wr - room for a message
 * @wr_id: comes back with the completion
 * @sges: the local memory; the array may be gone when the call returns
 * @sge_count: how many of them
 */
struct krdma_recv_wr {
	u64 wr_id;
	const struct krdma_sge *sges;
	u32 sge_count;
};

/**
 * enum krdma_wc_flags - what came with a completion
 * @KRDMA_WC_WITH_IMM: &struct krdma_wc.imm
 * @KRDMA_WC_WITH_INVALIDATE: &struct krdma_wc.key
 * @KRDMA_WC_WRITTEN: the receive was used up by the peer's
 *	KRDMA_OP_WRITE_IMM: the data are where the peer wrote them
 */
enum krdma_wc_flags {
	KRDMA_WC_WITH_IMM = 1 << 0,
	KRDMA_WC_WITH_INVALIDATE = 1 << 1,
	KRDMA_WC_WRITTEN = 1 << 2,
};

/**
 * struct krdma_wc - an operation has ended
 * @conn: on which connection; NULL: a receive that a shared receive queue gives
 *	back unused.  Of a connection that the consumer has let go of, only the
 *	pointer's value may be looked at.
 * @context: the consumer's context of @conn, or of the shared receive queue
 * @wr_id: which
 * @opcode: what it was, &enum krdma_opcode
 * @status: how it ended, &enum krdma_wc_status
 * @flags: &enum krdma_wc_flags
 * @length: bytes received, or of the operation; undefined if it failed
 * @imm: the peer's immediate data
 * @key: the key that the peer has invalidated
 * @vendor_error: if it failed, what the device says besides
 */
struct krdma_wc {
	struct krdma_conn *conn;
	void *context;
	u64 wr_id;
	u8 opcode;
	u8 status;
	u8 flags;
	u32 length;
	union {
		u32 imm;
		u32 key;
	};
	u32 vendor_error;
};

const char *krdma_opcode_name(enum krdma_opcode opcode);
const char *krdma_wc_status_name(enum krdma_wc_status status);
const char *krdma_conn_state_name(enum krdma_conn_state state);
const char *krdma_event_name(enum krdma_event_type type);

/*
 * Queues of completions
 */

/**
 * enum krdma_context - where completions are told
 * @KRDMA_CONTEXT_WORKQUEUE: process context; the consumer may sleep
 * @KRDMA_CONTEXT_SOFTIRQ: softirq
 * @KRDMA_CONTEXT_POLL: nowhere: the consumer asks, by krdma_cq_poll()
 */
enum krdma_context {
	KRDMA_CONTEXT_WORKQUEUE,
	KRDMA_CONTEXT_SOFTIRQ,
	KRDMA_CONTEXT_POLL,
};

/**
 * struct krdma_cq_attr - what a queue is to be
 * @depth: completions that it has room for.  Each connection takes its send and
 *	its receive depth and KRDMA_CQ_OVERHEAD, a shared receive queue its
 *	depth.
 * @where: where they are told
 * @vector: the device's completion vector, and with it the processor; -1: that with the
 *	fewest queues, and of several the one nearest to this processor
 * @ready: with KRDMA_CONTEXT_POLL: krdma_cq_poll() or krdma_cq_arm() has
 *	something to say: once or more after each krdma_cq_arm() that answered 0,
 *	and when the device has gone.  In softirq, one call at a time; it may call
 *	both.  Returns whether it is to be called again soon, so that others run
 *	in between.  Never after krdma_cq_put() has returned.  May be NULL.
 * @ready_context: given to @ready
 * @session: whose account is charged, see krdma_session_set_account(); kept as long as the
 *	queue.  May be NULL.
 */
struct krdma_cq_attr {
	u32 depth;
	enum krdma_context where;
	int vector;
	bool (*ready)(void *context);
	void *ready_context;
	struct krdma_session *session;
};

/* What a connection takes besides its depths: drain markers.  One more with keepalive_ms. */
#define KRDMA_CQ_OVERHEAD	2

struct krdma_cq *krdma_cq_create(struct krdma_device *dev,
				 const struct krdma_cq_attr *attr);
void krdma_cq_put(struct krdma_cq *cq);
int krdma_cq_poll(struct krdma_cq *cq, struct krdma_wc *wcs, int count);
int krdma_cq_wait(struct krdma_cq *cq, u32 timeout_ms);
int krdma_cq_arm(struct krdma_cq *cq);

/*
 * Shared receive queues
 */

/**
 * struct krdma_srq_attr - what a shared receive queue is to be
 * @depth: receives that it has room for
 * @max_sge: scatter/gather entries of one, 0: 1
 * @cq: where its receives complete, for every connection that uses it
 * @complete: called for receives that come back unused, in the context of @cq;
 *	not with KRDMA_CONTEXT_POLL
 * @context: the consumer's
 */
struct krdma_srq_attr {
	u32 depth;
	u32 max_sge;
	struct krdma_cq *cq;
	void (*complete)(const struct krdma_wc *wc);
	void *context;
};

struct krdma_srq *krdma_srq_create(struct krdma_session *session,
				   const struct krdma_srq_attr *attr);
void krdma_srq_close(struct krdma_srq *srq);
void krdma_srq_put(struct krdma_srq *srq);
int krdma_srq_post_recv(struct krdma_srq *srq, const struct krdma_recv_wr *wrs, int count);

/*
 * Connections
 */

/**
 * struct krdma_event - something happened to a connection
 * @type: what
 * @error: why, a negative errno; 0 if nothing is wrong
 * @reason: KRDMA_EVENT_REJECTED: the connection manager's own code
 */
struct krdma_event {
	enum krdma_event_type type;
	int error;
	int reason;
};

/**
 * struct krdma_conn_ops - how a connection tells its consumer
 * @event: an event, in their order and one at a time, in process context; may
 *	sleep; may call anything but krdma_conn_close() of the same connection.
 *	NULL, and no @notify: the consumer asks, by krdma_conn_next_event()
 * @notify: instead of @event, for a consumer who takes note of it and wakes somebody:
 *	an event, where it comes up, so nobody has to be woken to tell of it.  In
 *	any context but NMI, with interrupts off and in a lock of the connection's;
 *	must not sleep, and must not call krdma for this connection, but
 *	krdma_conn_context().  The last one alone, CLOSED, comes in process context
 *	and outside the lock.
 * @complete: an operation has ended, in the queue's context.  Completions of one
 *	queue come one at a time, those of one connection in the order in which
 *	their operations were posted, sends and receives each by themselves.
 *	Not with KRDMA_CONTEXT_POLL.
 * @space: after -EAGAIN, or less accepted than asked for: there is room again.
 *	In the context in which completions are told or polled; must not sleep.
 *	May be NULL.
 */
struct krdma_conn_ops {
	void (*event)(struct krdma_conn *conn, const struct krdma_event *event);
	void (*notify)(struct krdma_conn *conn, const struct krdma_event *event);
	void (*complete)(const struct krdma_wc *wc);
	void (*space)(struct krdma_conn *conn);
};

/**
 * struct krdma_conn_attr - the queues of a connection
 * @send_depth: operations that can be under way; 0: 64
 * @recv_depth: receives that can be posted; 0: 64.  Not with @srq.
 * @max_send_sge: scatter/gather entries of a request to the device; 0: 4, or what
 *	it can.  An operation may have more of them where it can be cut in pieces.
 * @max_recv_sge: scatter/gather entries of a receive; 0: 1
 * @max_inline: bytes that KRDMA_POST_INLINE can carry.  Of up to 1024 bytes that the
 *	device does not take inline itself, krdma gives it a copy.  What cannot be
 *	granted is refused.
 * @keepalive_ms: after so long without anything posted or completed, ask whether the
 *	peer is there, and again after as long; from 100 to 3600000; 0: never.  Who is
 *	not ends the connection with -ETIMEDOUT.  Takes one place more in @cq.  Not
 *	with iWARP, whose writes complete when they were sent.
 * @mr_count: registrations for krdma_frmr_get(), 0: none
 * @mr_pages: pages that each can span
 * @where: without @cq: where completions are told
 * @cq: where sends complete; NULL: in a queue of the connection's own.  Of the
 *	same device as the connection.
 * @recv_cq: where receives complete; NULL: as sends.  Not with @srq, which has
 *	its own.
 * @srq: where receives come from; NULL: the connection has its own
 * @session: whose memory the peer can reach, in the same network namespace; NULL:
 *	that of the listener's session, or of krdma_conn_create()
 */
struct krdma_conn_attr {
	u32 send_depth;
	u32 recv_depth;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_inline;
	u32 keepalive_ms;
	u32 mr_count;
	u32 mr_pages;
	enum krdma_context where;
	struct krdma_cq *cq;
	struct krdma_cq *recv_cq;
	struct krdma_srq *srq;
	struct krdma_session *session;
};

/**
 * struct krdma_conn_param - what is agreed with the peer
 * @private_data: given to the peer
 * @private_data_len: its length
 * @plain: the private data go as they are: the peer, if it is krdma too, may see
 *	them padded with zeroes
 * @read_depth: reads and atomics of one's own under way; 0: as many as the
 *	device can, at most 16
 * @read_depth_in: those of the peer's; likewise
 * @retry_count: how often an unanswered packet is sent again, to 7; 0: 6
 * @rnr_retry_count: how often the peer is to send a message again that finds no
 *	receive here; 7: for ever; 0: 7
 * @no_rnr_retry: never; overrides @rnr_retry_count
 */
struct krdma_conn_param {
	const void *private_data;
	u8 private_data_len;
	bool plain;
	u8 read_depth;
	u8 read_depth_in;
	u8 retry_count;
	u8 rnr_retry_count;
	bool no_rnr_retry;
};

/**
 * struct krdma_route - where a connection is to go
 * @local: one's own address; NULL: as the routing tables say
 * @remote: the peer's address and port
 * @timeout_ms: for each of the two steps, address and route; 0: 2000
 * @tos: type of service; 0: the default
 * @ack_timeout: how long an answer may take, 4.096 us * 2^n, to 31; 0: on InfiniBand what
 *	the subnet manager says of the path, but at least 14; on Ethernet 14, or 17 if
 *	there is a router on the way.  The end that accepts takes it over with what the
 *	device adds, between 14 and 20.
 */
struct krdma_route {
	const struct sockaddr *local;
	const struct sockaddr *remote;
	u32 timeout_ms;
	u8 tos;
	u8 ack_timeout;
};

/**
 * struct krdma_conn_info - a connection, at the time of the call
 * @state: where it is
 * @error: why it ended, a negative errno; 0 while it has not
 * @device_id: its device, 0 if not known yet
 * @qp_number: the number of its queue pair, 0 if there is none; for comparison
 *	with what other tools show, not its identity
 * @send_depth: as granted
 * @recv_depth: as granted
 * @max_send_sge: as granted
 * @max_recv_sge: as granted
 * @max_inline: as granted
 * @read_depth: as agreed with the peer
 * @read_depth_in: as agreed with the peer
 * @path_mtu: bytes in a packet, 0 if not known
 * @peer_is_krdma: the peer said so in its private data
 * @sends_posted: operations accepted
 * @sends_completed: of them, those that have ended
 * @receives_posted: likewise
 * @receives_completed: likewise
 */
struct krdma_conn_info {
	enum krdma_conn_state state;
	int error;
	u32 device_id;
	u32 qp_number;
	u32 send_depth;
	u32 recv_depth;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_inline;
	u8 read_depth;
	u8 read_depth_in;
	u32 path_mtu;
	bool peer_is_krdma;
	u64 sends_posted;
	u64 sends_completed;
	u64 receives_posted;
	u64 receives_completed;
};

/* The longest private data that a peer can send. */
#define KRDMA_PRIVATE_DATA_MAX	255

struct krdma_conn *krdma_conn_create(struct krdma_session *session,
				     const struct krdma_conn_ops *ops, void *context);
int krdma_conn_resolve(struct krdma_conn *conn, const struct krdma_route *route);
int krdma_conn_create_qp(struct krdma_conn *conn, const struct krdma_conn_attr *attr);
int krdma_conn_connect(struct krdma_conn *conn, const struct krdma_conn_param *param);
int krdma_conn_wait(struct krdma_conn *conn, u32 timeout_ms);
int krdma_conn_disconnect(struct krdma_conn *conn);
void krdma_conn_abort(struct krdma_conn *conn);
void krdma_conn_close(struct krdma_conn *conn);
void krdma_conn_get(struct krdma_conn *conn);
void krdma_conn_put(struct krdma_conn *conn);
void krdma_conn_put_sync(struct krdma_conn *conn);

void *krdma_conn_context(struct krdma_conn *conn);
struct krdma_device *krdma_conn_device(struct krdma_conn *conn);
u32 krdma_conn_lkey(struct krdma_conn *conn);
void krdma_conn_query(struct krdma_conn *conn, struct krdma_conn_info *info);
int krdma_conn_addresses(struct krdma_conn *conn, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote);
int krdma_conn_private_data(struct krdma_conn *conn, void *buffer, u8 room);
int krdma_conn_next_event(struct krdma_conn *conn, struct krdma_event *event);

int krdma_conn_post_send(struct krdma_conn *conn, const struct krdma_send_wr *wrs, int count);
int krdma_conn_post_recv(struct krdma_conn *conn, const struct krdma_recv_wr *wrs, int count);
int krdma_conn_map_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
		      enum dma_data_direction direction);
void krdma_conn_unmap_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
			 enum dma_data_direction direction);

/*
 * Listeners
 */

/**
 * struct krdma_listen_attr - where to listen
 * @local: address and port; the unspecified address: all, port 0: a free one
 * @backlog: requests that may wait; 0: 128.  Further ones are rejected.
 * @v6only: an unspecified IPv6 address does not stand for IPv4 too
 * @ready: a request has come, or the listener's device is gone; in process
 *	context, may sleep, one call at a time.  May be NULL.
 * @notify: instead of @ready, for who only wakes somebody: where that happens, in
 *	a lock of the device's or the connection manager's, from several contexts at
 *	a time; must not sleep, and must not call krdma, but
 *	krdma_listener_context().  May be NULL.
 * @context: the consumer's
 */
struct krdma_listen_attr {
	const struct sockaddr *local;
	u32 backlog;
	bool v6only;
	void (*ready)(struct krdma_listener *listener);
	void (*notify)(struct krdma_listener *listener);
	void *context;
};

struct krdma_listener *krdma_listen(struct krdma_session *session,
				    const struct krdma_listen_attr *attr);
void krdma_listener_close(struct krdma_listener *listener);
void krdma_listener_get(struct krdma_listener *listener);
void krdma_listener_put(struct krdma_listener *listener);
void *krdma_listener_context(struct krdma_listener *listener);
int krdma_listener_address(struct krdma_listener *listener, struct sockaddr_storage *local);
int krdma_listener_pending(struct krdma_listener *listener);
struct krdma_conn *krdma_listener_next(struct krdma_listener *listener,
				       const struct krdma_conn_ops *ops, void *context,
				       u32 timeout_ms);
int krdma_conn_accept(struct krdma_conn *conn, const struct krdma_conn_param *param);
int krdma_conn_reject(struct krdma_conn *conn, const void *private_data, u8 private_data_len);

/*
 * Memory
 */

/**
 * struct krdma_mr_info - a region
 * @addr: its first address: what local pieces count from
 * @remote_addr: the same for peers, who need not know where the kernel has a buffer
 * @length: bytes
 * @rkey: the key for peers; 0 without remote rights, or if there are several keys:
 *	see krdma_mr_rkey_at()
 * @access: &enum krdma_access
 * @key_count: how many keys it has for peers
 */
struct krdma_mr_info {
	u64 addr;
	u64 remote_addr;
	u64 length;
	u32 rkey;
	u32 access;
	u32 key_count;
};

/**
 * struct krdma_mr_rkey_range - a key of a region, from a place in it on
 * @remote_addr: the address of the place, for peers
 * @length: how many bytes the key covers from there on
 * @rkey: the key
 */
struct krdma_mr_rkey_range {
	u64 remote_addr;
	u64 length;
	u32 rkey;
};

struct krdma_mr *krdma_mr_register(struct krdma_session *session, struct krdma_device *dev,
				   void *buffer, size_t length, u32 access);
struct krdma_mr *krdma_mr_register_sg(struct krdma_session *session, struct krdma_device *dev,
				      struct scatterlist *sg, unsigned int entries, u32 access);
struct krdma_mr *krdma_mr_register_user(struct krdma_session *session,
					struct krdma_device *dev, unsigned long start,
					size_t length, u32 access);
int krdma_mr_notify(struct krdma_mr *mr, void (*ended)(void *context),
		    void *context);
int krdma_mr_close(struct krdma_mr *mr);
int krdma_mr_deregister(struct krdma_mr *mr);
void krdma_mr_drop(struct krdma_mr *mr);
void krdma_mr_end_users(struct krdma_mr *mr);
void krdma_mr_query(struct krdma_mr *mr, struct krdma_mr_info *info);
int krdma_mr_rkey_at(struct krdma_mr *mr, u64 offset, struct krdma_mr_rkey_range *key);
int krdma_mr_describe(struct krdma_mr *mr, u64 offset, u64 length, u8 *descriptor);
int krdma_mr_desc_read(const u8 *descriptor, size_t size, struct krdma_mr_info *info);

struct krdma_mr_cache;

struct krdma_mr_cache *krdma_mr_cache_create(struct krdma_session *session,
					     struct krdma_device *dev,
					     unsigned int max_idle);
void krdma_mr_cache_destroy(struct krdma_mr_cache *cache);
struct krdma_mr *krdma_mr_cache_get(struct krdma_mr_cache *cache, void *buffer,
				    size_t length, u32 access);
void krdma_mr_cache_put(struct krdma_mr_cache *cache, struct krdma_mr *mr);
void krdma_mr_cache_forget(struct krdma_mr_cache *cache, void *buffer, size_t length);

struct krdma_frmr *krdma_frmr_get(struct krdma_conn *conn);
void krdma_frmr_put(struct krdma_frmr *ib_mr);
int krdma_frmr_map(struct krdma_frmr *ib_mr, struct scatterlist *sg, unsigned int entries);
u32 krdma_frmr_rkey(const struct krdma_frmr *ib_mr);
u64 krdma_frmr_addr(const struct krdma_frmr *ib_mr);

#endif /* _KRDMA_KRDMA_H */
