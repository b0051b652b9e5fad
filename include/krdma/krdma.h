/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA for kernel modules.
 *
 * The kernel-doc of a function is at its definition, in krdma/.  A module that calls these
 * functions imports the symbol namespace KRDMA: MODULE_INFO(import_ns, "KRDMA").
 *
 * Enumerations are those of the user interface, <linux/krdma.h>: a number means the same on
 * both sides.  The structures of the user interface are not used here.
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
struct krdma_cq;
struct krdma_mr;
struct krdma_session;
struct krdma_srq;
struct krdma_template;
struct krdma_notifier;
struct net;
struct scatterlist;
struct sockaddr;
struct sockaddr_storage;

/*
 * Values of a timeout_ms argument, which is in milliseconds: this one waits without limit, and
 * 0 does not wait.
 */
#define KRDMA_FOREVER_MS	U32_MAX

/*
 * Devices
 */

/*
 * The highest number of a device.  U32_MAX is left out, so that an iteration over all devices
 * by "id = last + 1" does not wrap to the beginning.
 */
#define KRDMA_DEVICE_ID_MAX	(U32_MAX - 1)

/**
 * struct krdma_limits - what a consumer may request of a device through krdma
 * @max_mr_size: the largest memory region, in bytes
 * @max_qp: number of queue pairs that the device has
 * @max_send_wr: the maximum send queue depth, in work requests
 * @max_recv_wr: the maximum receive queue depth, in work requests
 * @max_send_sge: SGEs of a send or write
 * @max_recv_sge: SGEs of a receive
 * @max_read_sge: SGEs of a read
 * @max_cqe: the maximum depth of a completion queue
 * @max_srq_wr: the maximum depth of a shared receive queue, 0 without KRDMA_DEVICE_CAP_SRQ
 * @max_srq_sge: SGEs of one of its receives, up to @max_recv_sge, 0 without KRDMA_DEVICE_CAP_SRQ
 * @max_read_depth: reads and atomics that a connection can have in flight as initiator
 * @max_read_depth_in: reads and atomics of the peer that a connection can serve at a time
 * @max_fast_reg_pages: pages in one fast registration, 0 without KRDMA_DEVICE_CAP_FAST_REG
 *
 * The entries that krdma reserves for itself are already subtracted.
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
	u32 max_srq_sge;
	u32 max_read_depth;
	u32 max_read_depth_in;
	u32 max_fast_reg_pages;
};

/**
 * struct krdma_device_attr - attributes of a device
 * @id: its number, never 0
 * @port_count: number of ports; ports are numbered from 1
 * @name: its name at the time of the call, padded with zeroes
 * @node_guid: the node GUID, as a number
 * @caps: bits of &enum krdma_device_cap
 * @transport: the transport protocol
 * @limits: what a consumer may request
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
 * struct krdma_port_attr - attributes of a port, at the time of the call
 * @state: the port state
 * @link_layer: the link layer below the transport
 * @max_mtu: the largest path MTU that the port supports, in bytes
 * @active_mtu: the largest path MTU that the port can use now, in bytes
 * @max_msg_size: the longest message, in bytes
 * @gid_count: entries in the GID table
 * @speed_mbps: speed in Mbit/s, 0 if the device does not report it
 * @netdev_ifindex: the network interface behind the port, 0 if there is none in the given
 *	network namespace
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
 * struct krdma_device_event - event of a device
 * @type: type of the event
 * @device_id: the device's number
 * @port: the port, 0 for the whole device
 */
struct krdma_device_event {
	enum krdma_device_event_type type;
	u32 device_id;
	u32 port;
};

/**
 * struct krdma_device_notifier - callback for device events
 * @event: called in process context, may sleep, for one event at a time and in order; must not
 *	register or unregister device notifiers
 * @net: the network namespace whose devices are reported, set by
 *	krdma_device_notifier_register()
 * @state: private to krdma
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
 * Every object of a consumer belongs to a session.  The peers of a session's connections can
 * access the MRs of this session, and no others.
 */
struct krdma_session *krdma_session_create(struct net *net);
void krdma_session_put(struct krdma_session *session);
void krdma_session_set_reclaim(struct krdma_session *session);

/**
 * struct krdma_account_ops - account for the memory of a session's queues, and for its ports
 * @charge: charge bytes.  Returns 0, or a negative errno, which the call that needs the memory
 *	returns.  Runs in the context of that call, process context; may sleep.  For a connection
 *	request, it runs in a thread of the connection manager, and an errno rejects the request.
 * @uncharge: uncharge bytes, as many as were charged, after the memory was freed.  Process
 *	context.
 * @charge_port: charge one port of the connection manager, in the same context as @charge; NULL
 *	if ports are not charged
 * @uncharge_port: uncharge one port, which is free again; not NULL if @charge_port is not.
 *	Process context.
 * @charge_trunk: charge one trunk, which a lane of the session needs, in a thread of the kernel;
 *	after an errno the connection is a plain one.  NULL if trunks are not charged
 * @uncharge_trunk: uncharge one trunk, which has ended; not NULL if @charge_trunk is not.
 *	Process context.
 * @refused: the control group of the calling process has reached its limit for a device, and a
 *	call is about to fail with -EDQUOT for that reason; NULL if the account does not need
 *	this.  Process context; may sleep.
 * @put: the session is gone.  Any context but NMI.
 *
 * Memory means the queues of connections, SRQs and CQs, with an estimate of what the provider
 * allocates for them, and connection requests that wait at a listener.  A port is held by each
 * listener, by each connection from krdma_conn_resolve() to its end, and on iWARP by the
 * connection of a device with itself that krdma uses to register memory.
 */
struct krdma_account_ops {
	int (*charge)(void *account, u64 bytes);
	void (*uncharge)(void *account, u64 bytes);
	int (*charge_port)(void *account);
	void (*uncharge_port)(void *account);
	int (*charge_trunk)(void *account);
	void (*uncharge_trunk)(void *account);
	void (*refused)(void *account);
	void (*put)(void *account);
};

void krdma_session_set_account(struct krdma_session *session,
			       const struct krdma_account_ops *ops, void *account);

/*
 * Work requests and completions
 */

/**
 * struct krdma_sge - SGE: a range of local memory
 * @mr: the MR that contains it; NULL if the caller has mapped it for DMA and is responsible for
 *	the mapping
 * @addr: start address: in the MR's address space, or the DMA address without @mr
 * @length: bytes
 * @key: without @mr: the lkey, such as krdma_conn_lkey()
 *
 * With KRDMA_POST_INLINE, @addr is a kernel address, and @mr and @key are ignored.
 */
struct krdma_sge {
	struct krdma_mr *mr;
	u64 addr;
	u32 length;
	u32 key;
};

/**
 * enum krdma_post_flags - flags of a send work request
 * @KRDMA_POST_UNSIGNALED: the consumer gets a completion only if the work request fails
 * @KRDMA_POST_INLINE: the data are copied before the call returns
 * @KRDMA_POST_FENCE: the work request starts after the earlier reads and atomics have completed
 * @KRDMA_POST_SOLICITED: solicited event: wakes the peer even if it waits for solicited
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
 * struct krdma_send_wr - send work request
 * @wr_id: returned in the completion
 * @opcode: &enum krdma_opcode; not KRDMA_OP_RECV
 * @flags: &enum krdma_post_flags
 * @sge_count: number of @sges
 * @sges: the local memory; the array may be freed when the call returns
 * @remote_addr: write, read, atomics, flush: the remote address
 * @rkey: write, read, atomics, flush: the rkey
 * @imm: KRDMA_OP_SEND_IMM, KRDMA_OP_WRITE_IMM: the immediate data
 * @key: KRDMA_OP_SEND_INVALIDATE: the peer's rkey to invalidate
 * @operand: KRDMA_OP_COMPARE_SWAP: the value to compare with; KRDMA_OP_FETCH_ADD: the value to
 *	add; KRDMA_OP_ATOMIC_WRITE: the value to write; KRDMA_OP_FLUSH: the length of the range
 *	in bytes
 * @swap: KRDMA_OP_COMPARE_SWAP: the value to write if the comparison succeeds
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
		u32 flush;
	};
	const struct krdma_sge *sges;
	u64 remote_addr;
	u32 rkey;
	u64 operand;
	u64 swap;
};

/**
 * struct krdma_recv_wr - receive work request
 * @wr_id: returned in the completion
 * @sges: the local memory; the array may be freed when the call returns
 * @sge_count: number of @sges
 */
struct krdma_recv_wr {
	u64 wr_id;
	const struct krdma_sge *sges;
	u32 sge_count;
};

/**
 * enum krdma_wc_flags - valid fields of a completion
 * @KRDMA_WC_WITH_IMM: &struct krdma_wc.imm is valid
 * @KRDMA_WC_WITH_INVALIDATE: &struct krdma_wc.key is valid
 * @KRDMA_WC_WRITTEN: the peer's KRDMA_OP_WRITE_IMM consumed the receive: the data are where the
 *	peer wrote them
 */
enum krdma_wc_flags {
	KRDMA_WC_WITH_IMM = 1 << 0,
	KRDMA_WC_WITH_INVALIDATE = 1 << 1,
	KRDMA_WC_WRITTEN = 1 << 2,
};

/**
 * struct krdma_wc - work completion
 * @conn: the connection; NULL for a receive that an SRQ returns unused.  If the consumer has
 *	already closed the connection, only the pointer's value may be used.
 * @context: the consumer's context of @conn, or of the SRQ
 * @wr_id: from the work request
 * @opcode: operation of the work request, &enum krdma_opcode
 * @status: &enum krdma_wc_status
 * @flags: &enum krdma_wc_flags
 * @length: bytes received, or bytes of the operation; undefined if it failed
 * @imm: the peer's immediate data
 * @key: the rkey that the peer has invalidated
 * @vendor_error: the device's vendor error if the work request failed
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
 * Completion queues
 */

/**
 * enum krdma_context - context of completion callbacks
 * @KRDMA_CONTEXT_WORKQUEUE: process context; the consumer may sleep
 * @KRDMA_CONTEXT_SOFTIRQ: softirq
 * @KRDMA_CONTEXT_POLL: no callbacks: the consumer calls krdma_cq_poll()
 */
enum krdma_context {
	KRDMA_CONTEXT_WORKQUEUE,
	KRDMA_CONTEXT_SOFTIRQ,
	KRDMA_CONTEXT_POLL,
};

/**
 * struct krdma_cq_attr - attributes of a completion queue to create
 * @depth: number of completions that it can hold.  Each connection takes its send and its
 *	receive depth and KRDMA_CQ_OVERHEAD, an SRQ its depth.
 * @where: context of the completion callbacks
 * @vector: the device's completion vector, which determines the CPU; -1: the vector with the
 *	fewest CQs, and among several the one nearest to the calling CPU
 * @ready: with KRDMA_CONTEXT_POLL: krdma_cq_poll() or krdma_cq_arm() has something to report:
 *	called once or more after each krdma_cq_arm() that returned 0, when the device was
 *	removed, and before KRDMA_EVENT_CLOSED of a connection that completes there: what it
 *	does not take then can be polled.  Runs with softirqs off, one call at a time; it may
 *	call both.  Returns whether it is to be called again soon, so that other softirq work
 *	runs in between.  Never called after krdma_cq_put() has returned.  May be NULL.
 * @srq_ended: called when an SRQ that completes there has ended with the memory of its receives:
 *	see krdma_mr_end_users().  As @ready, which must be there, but in any context with
 *	softirqs off.  May be NULL.
 * @ready_context: argument of @ready and @srq_ended
 * @session: the session whose account is charged, see krdma_session_set_account(); kept until
 *	the CQ is gone.  May be NULL.
 */
struct krdma_cq_attr {
	u32 depth;
	enum krdma_context where;
	int vector;
	bool (*ready)(void *context);
	void (*srq_ended)(void *context);
	void *ready_context;
	struct krdma_session *session;
};

/* Entries that a connection takes besides its depths: drain markers, and keepalive. */
#define KRDMA_CQ_OVERHEAD	3

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
 * struct krdma_srq_attr - attributes of a shared receive queue to create
 * @depth: maximum number of posted receives
 * @max_sge: SGEs of a receive, 0: 1
 * @lanes: lanes can use it, too: see krdma_srq_create()
 * @cq: CQ for the completions of its receives, for every connection that uses the SRQ
 * @complete: called for receives that the SRQ returns unused, in the context of @cq; not with
 *	KRDMA_CONTEXT_POLL
 * @context: private to the consumer
 */
struct krdma_srq_attr {
	u32 depth;
	u32 max_sge;
	bool lanes;
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
 * struct krdma_event - event of a connection
 * @type: type of the event
 * @error: the cause, a negative errno; 0 if there is no error
 * @reason: with KRDMA_EVENT_REJECTED: the connection manager's reject reason
 */
struct krdma_event {
	enum krdma_event_type type;
	int error;
	int reason;
};

/**
 * struct krdma_conn_ops - callbacks of a connection
 * @event: an event, in order and one at a time, in process context; may sleep; may call
 *	anything but krdma_conn_close() of the same connection.  If it is NULL, events stay until
 *	the consumer takes them by krdma_conn_next_event().
 * @notify: replaces @event for a consumer that only wakes a thread, which may take the event, but
 *	need not: there is space for all.  It runs where the event occurs, so no work item has to
 *	run first.  Called in any context but NMI, with interrupts off and under a lock of the
 *	connection; must not sleep, and must not call krdma for this connection, except
 *	krdma_conn_context().  It must not post on another connection either, nor connect, accept
 *	or end one: a lane that sends takes along what is due of the other lanes of its trunk, for
 *	which the lock is taken again.  A lock of the consumer may be taken if nothing calls krdma
 *	under it.  Only the last event, CLOSED, comes in process context and outside the lock: a
 *	thread may have taken it already, but only the return of krdma_conn_close() says that no
 *	callback runs any more.
 * @complete: a completion, in the CQ's context.  The completions of a CQ come one at a time;
 *	those of a connection in the order in which their work requests were posted, separately
 *	for sends and receives.  Not with KRDMA_CONTEXT_POLL.
 * @space: after a post returned -EAGAIN, or accepted fewer work requests than were given: there
 *	are free entries again.  Runs in the context in which completions are delivered or
 *	polled; must not sleep.  May be NULL.
 */
struct krdma_conn_ops {
	void (*event)(struct krdma_conn *conn, const struct krdma_event *event);
	void (*notify)(struct krdma_conn *conn, const struct krdma_event *event);
	void (*complete)(const struct krdma_wc *wc);
	void (*space)(struct krdma_conn *conn);
};

/**
 * struct krdma_conn_attr - attributes of a connection's queue pair
 * @send_depth: work requests that can be in flight; 0: 64
 * @recv_depth: receives that can be posted; 0: 64.  Not with @srq.
 * @max_send_sge: SGEs of a work request to the device; 0: 4, or fewer if the device supports
 *	fewer.  A work request may have more SGEs if it can be split into parts.
 * @max_recv_sge: SGEs of a receive; 0: 1
 * @max_inline: bytes that KRDMA_POST_INLINE can carry.  If the device does not support this
 *	many bytes inline, krdma copies up to 1024 bytes itself.  A value that cannot be granted
 *	is refused.
 * @keepalive_ms: keepalive interval in milliseconds, from 100 to 3600000; 0: that of the module's
 *	parameter keepalive_ms, 5000; KRDMA_KEEPALIVE_NEVER.  If nothing is posted or completed
 *	for this long, krdma probes the peer, and repeats that after each further interval.  If
 *	the peer does not answer, the connection ends with -ETIMEDOUT.  Not supported on iWARP,
 *	where a write completes when it was sent: 0 means none there.
 * @where: without @cq: context of the completion callbacks
 * @cq: CQ for sends, on the connection's device; NULL: krdma creates a CQ for this connection
 * @recv_cq: CQ for receives; NULL: the CQ for sends.  Not with @srq, which has its own CQ.
 * @srq: SRQ to use instead of a receive queue; NULL: the connection has its own receive queue
 * @session: the session whose MRs the peer can access, in the same network namespace; NULL: the
 *	session of the listener, or of krdma_conn_create()
 */
struct krdma_conn_attr {
	u32 send_depth;
	u32 recv_depth;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_inline;
	u32 keepalive_ms;
	enum krdma_context where;
	struct krdma_cq *cq;
	struct krdma_cq *recv_cq;
	struct krdma_srq *srq;
	struct krdma_session *session;
};

/**
 * struct krdma_conn_param - connection parameters
 * @private_data: private data for the peer
 * @private_data_len: bytes of @private_data
 * @plain: send the private data without krdma's trailer; a peer that is krdma too may see them
 *	padded with zeroes
 * @read_depth: local reads and atomics in flight; 0: the device's maximum, at most 16
 * @read_depth_in: the peer's reads and atomics in flight; 0: the device's maximum, at most 16
 * @retry_count: retransmissions of an unacknowledged packet, up to 7; 0: 6
 * @rnr_retry_count: how often the peer retransmits a message that finds no receive here; 7:
 *	without limit; 0: 7
 * @no_rnr_retry: the peer does not retransmit such a message; overrides @rnr_retry_count
 * @early: krdma_conn_connect(), on a lane: send work requests can be posted at once, see there;
 *	otherwise not used
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
	bool early;
};

/**
 * struct krdma_conn_many - one of many connections that are connected or accepted at a time
 * @conn: the connection
 * @param: its parameters
 * @error: filled in: 0, or why this one is not, a negative errno
 */
struct krdma_conn_many {
	struct krdma_conn *conn;
	struct krdma_conn_param param;
	int error;
};

/**
 * struct krdma_route - addresses of a connection and parameters of the path
 * @local: the local address; NULL: chosen by the routing tables
 * @remote: the peer's address and port
 * @timeout_ms: timeout in milliseconds of each of the two steps, address and route; 0: 2000
 * @tos: type of service; 0: the default
 * @ack_timeout: ACK timeout, 4.096 us * 2^n, with n up to 31; 0: on InfiniBand the subnet
 *	manager's value for the path, but at least 14; on Ethernet 14, or 17 if there is a
 *	router on the path.  The accepting side takes over this value plus what the device adds,
 *	between 14 and 20.
 */
struct krdma_route {
	const struct sockaddr *local;
	const struct sockaddr *remote;
	u32 timeout_ms;
	u8 tos;
	u8 ack_timeout;
};

/**
 * struct krdma_conn_info - status of a connection, at the time of the call
 * @state: its state
 * @error: why the connection ended, a negative errno; 0 while it has not
 * @device_id: its device, 0 if not known yet
 * @qp_number: the QP number, 0 if there is no QP; for comparison with the output of other
 *	tools, not an identity
 * @send_depth: as granted
 * @recv_depth: as granted
 * @max_send_sge: as granted
 * @max_recv_sge: as granted
 * @max_inline: as granted
 * @settled: nothing is in progress: krdma_conn_wait() returns at once
 * @open: send work requests can be posted: it is connected, or a lane that was connected with
 *	&struct krdma_conn_param.early
 * @read_depth: as negotiated with the peer
 * @read_depth_in: as negotiated with the peer
 * @path_mtu: bytes in a packet, 0 if not known
 * @peer_is_krdma: the peer's private data identify it as krdma
 * @events: events that the consumer has not taken
 * @lane: the connection is a lane; not known before the event ROUTE_RESOLVED
 * @trunk: with @lane: number of its trunk, which is unique as long as the module is loaded
 * @request_age_ms: in state REQUESTED: for how long the peer has waited for an answer, in
 *	milliseconds; otherwise 0
 * @sends_posted: send work requests accepted
 * @sends_completed: those of them that have completed
 * @sends_direct: of a lane: those that its device carries out, not the peer's processor
 * @receives_posted: receives accepted
 * @receives_completed: those of them that have completed
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
	bool settled;
	bool open;
	u8 read_depth;
	u8 read_depth_in;
	u32 path_mtu;
	bool peer_is_krdma;
	u8 events;
	bool lane;
	u64 trunk;
	u32 request_age_ms;
	u64 sends_posted;
	u64 sends_completed;
	u64 sends_direct;
	u64 receives_posted;
	u64 receives_completed;
};

/* The longest private data that a peer can send, in bytes. */
#define KRDMA_PRIVATE_DATA_MAX	255

struct krdma_conn *krdma_conn_create(struct krdma_session *session,
				     const struct krdma_conn_ops *ops, void *context);
struct krdma_conn *krdma_conn_create_lane(struct krdma_session *session,
					  const struct krdma_conn_ops *ops, void *context);
int krdma_conn_resolve(struct krdma_conn *conn, const struct krdma_route *route);
int krdma_conn_create_qp(struct krdma_conn *conn, const struct krdma_conn_attr *attr);
int krdma_conn_connect(struct krdma_conn *conn, const struct krdma_conn_param *param);
unsigned int krdma_conn_connect_many(struct krdma_conn_many *many, unsigned int count);
int krdma_conn_wait(struct krdma_conn *conn, u32 timeout_ms);
int krdma_conn_disconnect(struct krdma_conn *conn);
void krdma_conn_abort(struct krdma_conn *conn);
void krdma_conn_end(struct krdma_conn *conn);
void krdma_conn_close(struct krdma_conn *conn);
void krdma_conn_end_many(struct krdma_conn *const *conns, unsigned int count);
void krdma_conn_get(struct krdma_conn *conn);
void krdma_conn_put(struct krdma_conn *conn);
void krdma_conn_put_sync(struct krdma_conn *conn);

void *krdma_conn_context(struct krdma_conn *conn);
struct krdma_device *krdma_conn_device(struct krdma_conn *conn);
u32 krdma_conn_lkey(struct krdma_conn *conn);
void krdma_conn_query(struct krdma_conn *conn, struct krdma_conn_info *info);
int krdma_conn_addresses(struct krdma_conn *conn, struct sockaddr_storage *local,
			 struct sockaddr_storage *remote);
int krdma_conn_private_data(struct krdma_conn *conn, void *buffer, u8 size);
int krdma_conn_next_event(struct krdma_conn *conn, struct krdma_event *event);

int krdma_conn_post_send(struct krdma_conn *conn, const struct krdma_send_wr *wrs, int count);
int krdma_conn_post_recv(struct krdma_conn *conn, const struct krdma_recv_wr *wrs, int count);
int krdma_conn_map_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
		      enum dma_data_direction direction);
void krdma_conn_unmap_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
			 enum dma_data_direction direction);

/*
 * Templates of send work requests
 */

/**
 * struct krdma_template_attr - what the work requests of a template have in common
 * @opcode: KRDMA_OP_SEND, KRDMA_OP_SEND_IMM, KRDMA_OP_WRITE, KRDMA_OP_WRITE_IMM, KRDMA_OP_READ,
 *	KRDMA_OP_COMPARE_SWAP or KRDMA_OP_FETCH_ADD
 * @flags: &enum krdma_post_flags; not KRDMA_POST_INLINE
 * @mr: the MR of the local memory
 * @addr: start of the local range, in the MR's address space
 * @length: bytes of the local range; all of it is in the MR
 * @remote_addr: write, read, atomics: start of the remote range
 * @remote_length: write, read, atomics: bytes of the remote range
 * @rkey: write, read, atomics: the rkey
 * @imm: KRDMA_OP_SEND_IMM, KRDMA_OP_WRITE_IMM: the immediate data
 * @operand: atomics: see &struct krdma_send_wr
 * @swap: KRDMA_OP_COMPARE_SWAP: see &struct krdma_send_wr
 * @batch: work requests that krdma_template_post_many() gives to the device at a time, up to 64; 0:
 *	64.  For each the template takes 104 bytes.
 *
 * Members that the operation does not have are 0.
 */
struct krdma_template_attr {
	u8 opcode;
	u8 flags;
	struct krdma_mr *mr;
	u64 addr;
	u64 length;
	u64 remote_addr;
	u64 remote_length;
	u32 rkey;
	u32 imm;
	u64 operand;
	u64 swap;
	u32 batch;
};

/**
 * struct krdma_template_wr - what a work request has besides its template
 * @wr_id: returned in the completion
 * @offset: first byte of the local memory, in bytes from the start of the template's range
 * @remote_offset: the same for the remote memory; a message: 0
 * @length: bytes
 * @flags: &enum krdma_post_flags besides those of the template; not KRDMA_POST_INLINE
 */
struct krdma_template_wr {
	u64 wr_id;
	u64 offset;
	u64 remote_offset;
	u32 length;
	u32 flags;
};

struct krdma_template *krdma_template_create(struct krdma_conn *conn,
					     const struct krdma_template_attr *attr);
void krdma_template_destroy(struct krdma_template *template);
int krdma_template_post(struct krdma_template *template, u64 wr_id, u64 offset, u64 remote_offset,
			u32 length, u32 flags);
int krdma_template_post_many(struct krdma_template *template,
			     const struct krdma_template_wr *posts, int count);

/*
 * Listeners
 */

/**
 * struct krdma_listen_attr - attributes of a listener to create
 * @local: address and port; the unspecified address means all addresses, port 0 a free port
 * @backlog: number of connection requests that may wait; 0: 128.  Further ones are rejected.
 * @v6only: an unspecified IPv6 address does not include IPv4
 * @lanes: accept lanes too, see krdma_conn_create_lane().  The host accepts trunks while one of
 *	its listeners does.
 * @keepalive_ms: keepalive interval of the accepted connections whose &struct krdma_conn_attr has
 *	none: from 100 to 3600000; 0: that of the module's parameter; KRDMA_KEEPALIVE_NEVER.
 *	Without effect on iWARP.
 * @request_timeout_ms: milliseconds after which a connection request that has not been taken is
 *	rejected, from 100 to 3600000; 0: 60000; KRDMA_REQUEST_TIMEOUT_NEVER
 * @ready: a connection request has arrived, or the listener's device was removed; in process
 *	context, may sleep, one call at a time.  May be NULL.
 * @notify: replaces @ready for a consumer that only wakes a thread.  It runs where the event
 *	occurs, under a lock of the device or the connection manager, possibly in several
 *	contexts at the same time; must not sleep, and must not call krdma, except
 *	krdma_listener_context().  May be NULL.
 * @context: private to the consumer
 */
struct krdma_listen_attr {
	const struct sockaddr *local;
	u32 backlog;
	bool v6only;
	bool lanes;
	u32 keepalive_ms;
	u32 request_timeout_ms;
	void (*ready)(struct krdma_listener *listener);
	void (*notify)(struct krdma_listener *listener);
	void *context;
};

/**
 * struct krdma_listener_info - status of a listener, at the time of the call
 * @waiting: connection requests that wait to be taken
 * @oldest_ms: for how long the oldest of them has waited, in milliseconds; 0 if none waits
 * @expired: requests that were rejected because they had waited too long
 */
struct krdma_listener_info {
	u32 waiting;
	u32 oldest_ms;
	u64 expired;
};

struct krdma_listener *krdma_listen(struct krdma_session *session,
				    const struct krdma_listen_attr *attr);
void krdma_listener_close(struct krdma_listener *listener);
void krdma_listener_get(struct krdma_listener *listener);
void krdma_listener_put(struct krdma_listener *listener);
void *krdma_listener_context(struct krdma_listener *listener);
int krdma_listener_address(struct krdma_listener *listener, struct sockaddr_storage *local);
int krdma_listener_pending(struct krdma_listener *listener);
void krdma_listener_query(struct krdma_listener *listener, struct krdma_listener_info *info);
struct krdma_conn *krdma_listener_next(struct krdma_listener *listener,
				       const struct krdma_conn_ops *ops, void *context,
				       u32 timeout_ms);
int krdma_conn_accept(struct krdma_conn *conn, const struct krdma_conn_param *param);
unsigned int krdma_conn_accept_many(struct krdma_conn_many *many, unsigned int count);
int krdma_conn_reject(struct krdma_conn *conn, const void *private_data, u8 private_data_len);

/*
 * Memory regions
 */

/**
 * struct krdma_mr_info - attributes of a memory region
 * @addr: its first address, in the address space that local SGEs use
 * @remote_addr: its first address for peers, which need not know the buffer's kernel address
 * @length: bytes
 * @rkey: the rkey; 0 without remote rights, or if there are several rkeys: see
 *	krdma_mr_rkey_at()
 * @access: &enum krdma_access
 * @key_count: number of rkeys
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
 * struct krdma_found_mr - an MR of the peer, at one of its bytes
 * @remote_addr: remote address of the byte
 * @length: bytes of the whole MR
 * @reach: bytes that @rkey covers from the byte on
 * @rkey: the rkey
 * @access: &enum krdma_access, the remote rights
 */
struct krdma_found_mr {
	u64 remote_addr;
	u64 length;
	u64 reach;
	u32 rkey;
	u32 access;
};

/**
 * struct krdma_mr_rkey_range - range that one rkey of a memory region covers
 * @remote_addr: start of the range, as an address for peers
 * @length: bytes that the rkey covers from there on
 * @rkey: the rkey
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
struct krdma_mr *krdma_mr_register_user_for_lanes(struct krdma_session *session,
						  struct krdma_device *dev, unsigned long start,
						  size_t length, u32 access);
void krdma_mr_allow_windows(struct krdma_mr *mr);
int krdma_mr_notify(struct krdma_mr *mr, void (*ended)(void *context),
		    void (*freed)(void *context), void *context);
int krdma_mr_close(struct krdma_mr *mr);
int krdma_mr_deregister(struct krdma_mr *mr);
void krdma_mr_drop(struct krdma_mr *mr);
void krdma_mr_end_users(struct krdma_mr *mr);
void krdma_mr_query(struct krdma_mr *mr, struct krdma_mr_info *info);
int krdma_mr_rkey_at(struct krdma_mr *mr, u64 offset, struct krdma_mr_rkey_range *key);
int krdma_mr_describe(struct krdma_mr *mr, u64 offset, u64 length, u8 *descriptor);
int krdma_mr_desc_read(const u8 *descriptor, size_t size, struct krdma_mr_info *info);
int krdma_mr_set_name(struct krdma_mr *mr, const char *name);
int krdma_conn_find_mr(struct krdma_conn *conn, const char *name, u64 offset,
		       struct krdma_found_mr *found, u32 timeout_ms);

#endif /* _KRDMA_KRDMA_H */
