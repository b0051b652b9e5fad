/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections, as the other files of the core see them.
 */
#ifndef _KRDMA_CONN_H
#define _KRDMA_CONN_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "cm/conn_state.h"
#include "cm/lower.h"
#include "core/private.h"
#include "core/resource.h"
#include "core/session.h"
#include "core/turn.h"
#include "io/qp.h"

struct krdma_pd;
struct krdma_qp;
struct rdma_cm_event;
struct rdma_cm_id;
struct rdma_conn_param;
struct krdma_conn_path;

/*
 * How long a connection request waits for its answer.  A listener rejects a request after 60
 * seconds by default, and the connection manager gives up after 70 if the peer does not answer at
 * all.  Without this limit it waits for a peer that has the request, and has vanished since, for
 * some 18 minutes.
 */
#define KRDMA_CONN_ANSWER_MS	90000

/* Size of the queue of events that the consumer has not taken; it holds each type at most once. */
#define KRDMA_CONN_EVENTS	KRDMA_EVENT_CLOSED

/**
 * enum krdma_conn_turn - where the work item of a connection is
 * @KRDMA_TURN_NONE: it is not queued
 * @KRDMA_TURN_WAITS: it waits in the list of its session, or in the workqueue
 * @KRDMA_TURN_RUNS: it runs
 * @KRDMA_TURN_RUNS_AGAIN: it runs, and waits again afterwards
 */
enum krdma_conn_turn {
	KRDMA_TURN_NONE,
	KRDMA_TURN_WAITS,
	KRDMA_TURN_RUNS,
	KRDMA_TURN_RUNS_AGAIN,
};

/**
 * struct krdma_conn_plain - what a connection with an rdma_cm ID has besides
 * @conn: the connection
 * @owner: the connection as the owner of its QP; set before that
 * @timeout_ms: timeout in milliseconds to resolve the route
 * @ack_timeout: ACK timeout that the consumer asked for; 0: one that suits the route
 * @peer_work: the teardown if it may wait for the peer's answer; queued by the connection's work
 *	item, with a reference
 * @grace_work: the peer did not answer the disconnect, the cause of a flush was not reported, or
 *	the peer's device has had the time to learn of an error; queued with a reference, which it
 *	drops
 * @answer_work: the peer did not answer the connection request; queued with a reference, which it
 *	drops
 */
struct krdma_conn_plain {
	struct krdma_conn *conn;
	struct krdma_qp_owner owner;
	u32 timeout_ms;
	u8 ack_timeout;
	struct work_struct peer_work;
	struct delayed_work grace_work;
	struct delayed_work answer_work;
};

/**
 * struct krdma_conn - a connection
 * @refs: references: one of the consumer (until there is one, of the listener), one from the
 *	start of the connection to its end, and one for each queued work item
 * @session: session of the consumer
 * @passive: a peer has asked for the connection
 * @state_lock: protects the members from here to @wait.  Any context.
 * @state: current state; changed by krdma_conn_advance() only
 * @error: why the connection ended, a negative errno; set once
 * @ops: callbacks to the consumer; NULL while the connection waits at its listener, and set
 *	before any code can call them
 * @context: context of the consumer; valid when @ops is
 * @events: types of the events that the consumer has not taken, in their order: see
 *	cm/conn_event.c
 * @event_count: number of them
 * @local: local address, valid when @dev is known; family 0 until then.  IPv4 or IPv6; the type
 *	is that of IPv6, the larger one.
 * @remote: address of the peer; as @local
 * @peer_data: private data of the peer; set once, before the state that implies it.  NULL: there
 *	are none.  The memory of an answer is there before the peer is asked.
 * @peer_data_len: bytes of @peer_data; 0 until it is set
 * @peer_is_krdma: the private data show that the peer is krdma
 * @reject_reason: the connection manager's code for KRDMA_EVENT_REJECTED
 * @read_depth: own reads and atomics in flight at most, when that has been negotiated
 * @read_depth_in: the peer's reads and atomics in flight at most, when that has been negotiated
 * @owes_peer: the peer has to be disconnected at the end
 * @path_mtu: path MTU in bytes, 0 if not known
 * @wait: woken when any of these changes
 * @cm_lock: held around calls that use @cm_id, which have found a state before CLOSING, or get it
 *	by krdma_conn_cm_id(); and while @cm_id, @port, @pd or @qp are set.
 *	Released by krdma_conn_unlock().  Never taken in a handler of the connection manager: the
 *	manager's own lock is inside it, and destroying the ID waits for the handlers.
 * @cm_id: the rdma_cm ID; NULL before the start and after the end
 * @port: the port that @cm_id holds, of a connection that was resolved; changed with @cm_lock, and
 *	uncharged by @work after @cm_id was destroyed
 * @pd: the PD of the QP; NULL before the QP is created and after the end
 * @qp: the QP; set once, under @state_lock too, and valid until the object is freed; read without
 *	a lock
 * @plain: what a connection needs for @cm_id; NULL: a lane that never had one.  Set before @cm_id,
 *	with @cm_lock, and valid until the object is freed.
 * @lkey: local DMA lkey of the PD, set before @qp
 * @dev: the device; set under @state_lock before the state that implies it, and valid until the
 *	object is freed
 * @use: registration as a user of @dev, from then until the end
 * @peer_serves: reads and atomics that the peer serves at a time; 0: unknown.  Set before the
 *	connection is visible to others, and with @passive only.
 * @peer_reads: reads and atomics that the peer issues at a time; as @peer_serves
 * @replied: the peer has answered; set by the connection manager's handler alone, which never runs
 *	concurrently with itself
 * @confirmed: the connection manager has reported that the connection is established
 * @patient: others depend on the connection: on Ethernet, the ACK timeout of a path with a router.
 *	Set before krdma_conn_resolve().
 * @asked: iWARP connects or accepts: until @confirmed, the end waits for a result, which the peer
 *	can delay
 * @ends_by_peer: @peer_work of @plain tears the connection down; for @work alone
 * @is_taken: the teardown has begun: @cm_id, @port and @pd are for @work alone.  Set with @cm_lock.
 * @peer_notified: the peer has been sent a disconnect; for @work alone
 * @grace_pending: @grace_work of @plain waits for the peer's answer; for @work alone
 * @grace_given: @grace_work of @plain has been queued for the teardown; for @work alone
 * @flushed: work requests were flushed before this side ended the connection
 * @end_was_missed: @work has found @end_lock locked, and is queued when it is released
 * @end_is_locked_out: @work has found @cm_lock locked, and is queued when it is released
 * @driven: the end of a connection that uses @lower is done by a thread that holds @end_lock, and
 *	@work is not scheduled any more; set once, under @state_lock
 * @ends_with_others: the thread that ends it ends others, and then calls the @send of @lower
 * @turn: &enum krdma_conn_turn: whether @work waits for its turn among those of @turn_session, or
 *	runs.  Protected by krdma_turns_lock, as @turn_session.
 * @end_lock: of a connection with @lower: held by @work, and by threads that do what it would
 * @reclaim: memory reclaim waits for the session: all its work items run in
 *	krdma_reclaim_workqueue.  Set when the connection is allocated.
 * @work: does what sleeps: disconnect and teardown; queued by krdma_conn_queue(), with a reference
 * @turn_item: @work, among the connections of @turn_session that wait for a turn
 * @turn_session: @session, or the session before, if @turn was in use when it joined @session; with
 *	a reference
 * @event_work: calls the consumer for events; queued with a reference
 * @free_work: frees the object after the last reference, so in the place of @event_work
 * @closed: the teardown is over, and the consumer has got all events; set once, with @wait woken
 * @lower: lower half that a lane has instead of a QP, or NULL.  Set before the connection is
 *	visible to others.
 * @pending: entry of the listener's list of requests; protected by the listener's lock
 * @requested: when the request arrived, in jiffies; set before it is in that list, valid with
 *	@listener
 * @listener: listener where the request arrived, or NULL.  Set before the connection is visible
 *	to others, and valid until the end of the teardown.
 */
struct krdma_conn {
	refcount_t refs;
	bool passive;
	struct krdma_session *session;

	spinlock_t state_lock;		/* see above */
	enum krdma_conn_state state;
	int error;
	int reject_reason;
	const struct krdma_conn_ops *ops;
	void *context;
	u8 events[KRDMA_CONN_EVENTS];
	u8 event_count;
	struct sockaddr_in6 local;
	struct sockaddr_in6 remote;
	u8 *peer_data;
	u8 peer_data_len;
	bool peer_is_krdma;
	u8 read_depth;
	u8 read_depth_in;
	bool owes_peer;
	u32 path_mtu;
	wait_queue_head_t wait;

	struct mutex cm_lock;		/* see above */
	struct rdma_cm_id *cm_id;
	struct krdma_charged_port port;
	struct krdma_pd *pd;
	struct krdma_qp *qp;
	struct krdma_conn_plain *plain;
	u32 lkey;

	struct krdma_device *dev;
	struct krdma_use use;

	u8 peer_serves;
	u8 peer_reads;
	bool replied;
	bool confirmed;
	bool patient;
	bool asked;
	bool ends_by_peer;
	bool is_taken;
	bool peer_notified;
	bool grace_pending;
	bool grace_given;
	bool flushed;
	/* Under several locks; together, so that there are no holes: a host may have many lanes. */
	bool end_is_locked_out;
	bool end_was_missed;
	bool driven;
	bool closed;
	bool ends_with_others;
	bool reclaim;
	u8 turn;

	struct mutex end_lock;		/* see above */
	struct work_struct work;
	struct krdma_turn_item turn_item;
	struct krdma_session *turn_session;
	union {
		struct work_struct event_work;
		struct work_struct free_work;
	};

	struct krdma_conn_lower *lower;

	struct list_head pending;
	unsigned long requested;
	struct krdma_listener *listener;
};

/*
 * Applies an input to the state.  @error is the cause if the input ends the connection and has
 * one of its own.  Any context but NMI, also with interrupts off; the caller holds no lock of the
 * core except cm_lock, a CQ's poll lock, the device's uses_lock or a listener's lock.  The
 * caller, or the source of the input, holds a reference.  Returns 0, or the negative errno with
 * which a call is refused in this state.
 */
int krdma_conn_advance(struct krdma_conn *conn, enum krdma_conn_input input, int error);
void krdma_conn_unlock(struct krdma_conn *conn);

/* Where the delayed works of @plain run. */
static inline struct workqueue_struct *krdma_conn_work_on(const struct krdma_conn *conn)
{
	return conn->reclaim ? krdma_reclaim_workqueue : krdma_workqueue;
}

/* The rdma_cm ID, for a caller that holds cm_lock; NULL: there is none yet, or no longer. */
static inline struct rdma_cm_id *krdma_conn_cm_id(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->cm_lock);
	return conn->is_taken ? NULL : conn->cm_id;
}

void krdma_conn_flushed(struct krdma_conn *conn);
void krdma_conn_await_answer(struct krdma_conn *conn);
void krdma_conn_answered(struct krdma_conn *conn);

/* Allocation and references (cm/conn.c). */
int krdma_conns_init(void);
void krdma_conns_exit(void);
struct krdma_conn *krdma_conn_alloc(struct krdma_session *session,
				    const struct krdma_conn_ops *ops, void *context, gfp_t gfp);
int krdma_conn_make_plain(struct krdma_conn *conn, gfp_t gfp);
int krdma_conn_take_device(struct krdma_conn *conn, struct rdma_cm_id *cm_id);
int krdma_conn_use_device(struct krdma_conn *conn, struct krdma_device *dev);
bool krdma_conn_give(struct krdma_conn *conn, const struct krdma_conn_ops *ops, void *context);
void krdma_conn_closed(struct krdma_conn *conn);

/* The connection uses its lower half.  Any context. */
bool krdma_conn_uses_lower(const struct krdma_conn *conn);
int krdma_conn_set_path(struct krdma_conn *conn, const struct krdma_conn_path *path);

#endif /* _KRDMA_CONN_H */
