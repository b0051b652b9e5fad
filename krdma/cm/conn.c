// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: the object, its state changes, and its end.
 *
 * krdma_conn_advance() is the only place where the state changes, according to the table of
 * cm/conn_state.c.  Actions that may sleep run from the connection's work item.  The transition
 * to CLOSING happens once, whatever causes it; the work item then tears the connection down.
 */
#include <linux/errno.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn_event.h"
#include "cm/conn_turn.h"
#include "core/cm_id.h"
#include "cm/conn.h"
#include "cm/listen.h"
#include "core/device.h"
#include "core/objects.h"
#include "io/qp.h"
#include "core/session.h"
#include "trace.h"

/*
 * How long a disconnect waits for the peer's answer, which only acknowledges the disconnect.  A
 * live peer answers within a round trip; a dead one must not delay the caller that closes.
 */
#define KRDMA_CONN_REPLY_MS	1000

/*
 * How long a connection with flushed work requests waits for the cause, for example for the
 * peer's disconnect, also on busy machines.  The consumer already has the flushed completions, so
 * nothing is urgent.
 */
#define KRDMA_CONN_UNSAID_MS	3000

/*
 * After a remote access error the peer's device learns of it from ours, with some delay.  The
 * disconnect must not overtake that: the peer's work request would then be flushed, and its
 * consumer would not learn the cause.
 */
#define KRDMA_CONN_GRACE_MS	20

/*
 * The state
 */

static void krdma_conn_schedule(struct krdma_conn *conn)
{
	if (!READ_ONCE(conn->driven))
		krdma_conn_queue(conn);
}

/**
 * krdma_conn_uses_lower() - Check whether a connection uses its lower half
 * @conn: the connection
 *
 * Context: any.
 * Return: true: it is a lane; false: it has or will have a QP, or that is not decided yet.
 */
bool krdma_conn_uses_lower(const struct krdma_conn *conn)
{
	/* Pairs with the release of the lower half, which sets its members before. */
	return conn->lower && smp_load_acquire(&conn->lower->used);
}

static void krdma_conn_open(struct krdma_conn *conn)
{
	if (krdma_conn_uses_lower(conn))
		conn->lower->ops->open(conn->lower);
	else
		krdma_qp_open(conn->qp);
}

static void krdma_conn_shut(struct krdma_conn *conn)
{
	if (krdma_conn_uses_lower(conn))
		conn->lower->ops->close(conn->lower);
	else if (conn->qp)
		krdma_qp_close(conn->qp);
}

/* Performs a step of the table that moves or stays. */
static void krdma_conn_apply(struct krdma_conn *conn, const struct krdma_conn_step *step,
			     int error)
{
	lockdep_assert_held(&conn->state_lock);

	if (step->verdict == KRDMA_STEP_MOVE)
		WRITE_ONCE(conn->state, step->next);

	if (!(step->actions & KRDMA_ACTION_REASON) || !error)
		error = step->error;
	/* Calls that are refused read it without the lock. */
	if (step->actions & KRDMA_ACTION_END)
		WRITE_ONCE(conn->error, error);
	if (step->actions & KRDMA_ACTION_KEEP)
		krdma_conn_get(conn);
	if (step->actions & KRDMA_ACTION_OWE)
		conn->owes_peer = true;
	if (step->actions & KRDMA_ACTION_OPEN)
		krdma_conn_open(conn);
	if (step->actions & KRDMA_ACTION_CLOSE)
		krdma_conn_shut(conn);
	if (step->event)
		krdma_conn_add_event(conn, step->event);
	if (step->actions & KRDMA_ACTION_SCHEDULE)
		krdma_conn_schedule(conn);

	/*
	 * Threads wait for the end of a call, or for its failure, and not for the states in
	 * between.  Callers in line for an MR wake each other: there can be any number of them.
	 */
	if (step->verdict == KRDMA_STEP_MOVE &&
	    (krdma_conn_is_settled(step->next) || step->next == KRDMA_CONN_CLOSING) &&
	    wq_has_sleeper(&conn->wait))
		wake_up(&conn->wait);
}

/**
 * krdma_conn_advance() - Apply an input to the state of a connection
 * @conn: the connection; a reference is held by the caller, or by the source of the input
 * @input: what has happened
 * @error: the cause, a negative errno, for an input that has one of its own; or 0
 *
 * Context: any but NMI, also with interrupts off.
 * Return: 0, also if the input came too late to have an effect; or the negative errno with which
 * a call is refused in this state.
 */
int krdma_conn_advance(struct krdma_conn *conn, enum krdma_conn_input input, int error)
{
	const struct krdma_conn_step *step;
	enum krdma_conn_state from;
	bool complete = false;
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	from = conn->state;
	step = krdma_conn_find_step(from, input);
	if (step->verdict == KRDMA_STEP_MOVE || step->verdict == KRDMA_STEP_STAY) {
		krdma_conn_apply(conn, step, error);
		/*
		 * If the consumer gets events from a work item, the end is complete when that has
		 * run.
		 */
		complete = (step->actions & KRDMA_ACTION_COMPLETE) && !krdma_conn_has_pending(conn);
		trace_krdma_conn_step(conn, input, from, conn->state, step->event, conn->error);
	}
	spin_unlock_irqrestore(&conn->state_lock, flags);

	if (complete)
		krdma_conn_finish(conn);
	return step->verdict == KRDMA_STEP_REFUSE ? step->error : 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_conn_advance);

static enum krdma_conn_state krdma_conn_get_state(struct krdma_conn *conn)
{
	enum krdma_conn_state state;
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	state = conn->state;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return state;
}

/*
 * The work item: everything that sleeps.  It never runs concurrently with itself, so its parts
 * need no locks against each other.
 *
 * Few such items run at a time, so none waits for what a program or a peer can delay: not for a
 * call that holds cm_lock, not for a time, and not for the answer to a connection request.
 */

/*
 * Takes cm_lock for the end of the connection.  Without @wait, returns false if a call holds the
 * lock: krdma_conn_unlock() then queues the work item.
 */
static bool krdma_conn_lock_to_end(struct krdma_conn *conn, bool wait)
{
	if (wait) {
		mutex_lock(&conn->cm_lock);
	} else if (!mutex_trylock(&conn->cm_lock)) {
		WRITE_ONCE(conn->end_is_locked_out, true);
		/* Either the holder sees this after it has unlocked, or this sees it unlocked. */
		smp_mb();
		if (!mutex_trylock(&conn->cm_lock))
			return false;
	}
	WRITE_ONCE(conn->end_is_locked_out, false);
	return true;
}

/**
 * krdma_conn_unlock() - Release cm_lock
 * @conn: the connection; the caller holds a reference
 *
 * Everything that locks cm_lock unlocks it by this function: the end of the connection does not
 * wait for the lock, but continues from here.
 *
 * Context: process context.
 */
void krdma_conn_unlock(struct krdma_conn *conn)
{
	mutex_unlock(&conn->cm_lock);
	/* Pairs with krdma_conn_lock_to_end(). */
	smp_mb();
	if (READ_ONCE(conn->end_is_locked_out))
		krdma_conn_queue(conn);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_conn_unlock);

static void krdma_conn_grace_expired(struct work_struct *work)
{
	struct krdma_conn_plain *plain;
	struct krdma_conn *conn;

	plain = container_of(work, struct krdma_conn_plain, grace_work.work);
	conn = plain->conn;
	krdma_conn_advance(conn, KRDMA_INPUT_GRACE_EXPIRED, 0);
	/* The teardown may have waited for this. */
	if (krdma_conn_get_state(conn) == KRDMA_CONN_CLOSING)
		krdma_conn_schedule(conn);
	krdma_conn_put_sync(conn);
}

static void krdma_conn_unanswered(struct work_struct *work)
{
	struct krdma_conn_plain *plain;
	struct krdma_conn *conn;

	plain = container_of(work, struct krdma_conn_plain, answer_work.work);
	conn = plain->conn;
	krdma_conn_advance(conn, KRDMA_INPUT_UNANSWERED, 0);
	krdma_conn_put_sync(conn);
}

/**
 * krdma_conn_await_answer() - Limit the time in which the peer answers the connection request
 * @conn: the connection; the caller holds cm_lock, so that the teardown cancels this later
 *
 * Context: process context.
 */
void krdma_conn_await_answer(struct krdma_conn *conn)
{
	krdma_conn_get(conn);
	if (!queue_delayed_work(krdma_conn_work_on(conn), &conn->plain->answer_work,
				msecs_to_jiffies(KRDMA_CONN_ANSWER_MS)))
		krdma_conn_put(conn);
}

/**
 * krdma_conn_answered() - End what krdma_conn_await_answer() has begun, if it has
 * @conn: the connection; the caller holds a reference
 *
 * Context: any but NMI.
 */
void krdma_conn_answered(struct krdma_conn *conn)
{
	if (cancel_delayed_work(&conn->plain->answer_work))
		krdma_conn_put(conn);
}

/**
 * krdma_conn_flushed() - Note that a work request was flushed, or that the device flushes all
 * @conn: the connection; the caller holds a reference
 *
 * If the connection was not ended on this side, its QP went to the error state by itself and no
 * message can be sent or received any more.  One cause is a remote access error of the peer,
 * which can overtake the event that the connection is established: a device can report it by an
 * event, but rxe has none.  Usually the cause is about to be reported by another completion or by
 * the connection manager.  If it is not, the connection ends after KRDMA_CONN_UNSAID_MS.
 *
 * rxe calls this under the lock that its posting takes, which is inside @conn->state_lock.  So
 * the work item checks the state, and this function only guesses whether that is needed.
 *
 * Context: any but NMI, also with interrupts off, and under locks of the device.
 */
void krdma_conn_flushed(struct krdma_conn *conn)
{
	enum krdma_conn_state state = READ_ONCE(conn->state);

	if (state >= KRDMA_CONN_DISCONNECTING || READ_ONCE(conn->flushed))
		return;
	WRITE_ONCE(conn->flushed, true);
	krdma_conn_schedule(conn);
}

/* Restarts the time from now, if it runs already. */
static void krdma_conn_start_grace(struct krdma_conn *conn, unsigned int ms)
{
	krdma_conn_get(conn);
	if (mod_delayed_work(krdma_conn_work_on(conn), &conn->plain->grace_work,
			     msecs_to_jiffies(ms)))
		krdma_conn_put(conn);
}

static void krdma_conn_await_reason(struct krdma_conn *conn)
{
	if (!READ_ONCE(conn->flushed))
		return;
	krdma_conn_get(conn);
	if (!queue_delayed_work(krdma_conn_work_on(conn), &conn->plain->grace_work,
				msecs_to_jiffies(KRDMA_CONN_UNSAID_MS)))
		krdma_conn_put(conn);
}

/*
 * Disconnects from the peer as soon as the connection manager has established the connection.  A
 * message of the peer can arrive before the event that the connection is established, and until
 * that event a disconnect would not be sent.
 *
 * rdma_notify() would make the connection manager accept the message as a sign.  But if the
 * peer's own disconnect comes before that, the connection manager continues to send its last
 * message for minutes, and rdma_destroy_id() waits for that.
 */
static void krdma_conn_notify_peer(struct krdma_conn *conn)
{
	int ret;

	/* The lower half tells the peer at its end, and no answer follows. */
	if (krdma_conn_uses_lower(conn)) {
		krdma_conn_advance(conn, KRDMA_INPUT_GRACE_EXPIRED, 0);
		return;
	}
	if (!conn->grace_pending) {
		conn->grace_pending = true;
		/* From now, also if the time runs because of a flush. */
		krdma_conn_start_grace(conn, KRDMA_CONN_REPLY_MS);
	}
	if (conn->peer_notified || !READ_ONCE(conn->confirmed))
		return;
	if (!krdma_conn_lock_to_end(conn, false))
		return;

	conn->peer_notified = true;
	ret = rdma_disconnect(conn->cm_id);
	krdma_conn_unlock(conn);

	/* Nothing was sent, so there will be no answer. */
	if (ret)
		krdma_conn_advance(conn, KRDMA_INPUT_GRACE_EXPIRED, 0);
}

/*
 * Returns whether the peer's device still has the time to learn of a remote access error.  At the
 * end of that time, @grace_work schedules the work item again.
 */
static bool krdma_conn_gives_grace(struct krdma_conn *conn)
{
	if (!conn->owes_peer || conn->peer_notified || conn->error != -EIO)
		return false;
	if (!conn->grace_given) {
		conn->grace_given = true;
		krdma_conn_start_grace(conn, KRDMA_CONN_GRACE_MS);
	}
	return delayed_work_pending(&conn->plain->grace_work);
}

/*
 * Calls that come from now on find the state CLOSING.  If one that came before is still running,
 * this returns false without @wait, and is called again when the call has returned.
 */
static bool krdma_conn_take_down(struct krdma_conn *conn, bool wait)
{
	/* The lower half has no grace. */
	if (!krdma_conn_uses_lower(conn) && krdma_conn_gives_grace(conn))
		return false;

	if (!krdma_conn_lock_to_end(conn, wait))
		return false;
	conn->is_taken = true;
	krdma_conn_unlock(conn);
	/* No request can be sent any more. */
	if (conn->plain) {
		krdma_conn_answered(conn);
		if (cancel_delayed_work(&conn->plain->grace_work))
			krdma_conn_put(conn);
	}

	/* Disconnect first, so that the peer need not detect the end by itself. */
	if (conn->lower)
		conn->lower->ops->end(conn->lower);
	if (conn->owes_peer && !conn->peer_notified && !krdma_conn_uses_lower(conn))
		rdma_disconnect(conn->cm_id);
	return true;
}

/*
 * Tear down.  This waits neither for a call nor, as long as pages are mapped, for the consumer, nor
 * for what the lower half still has in use: it is called again when they are through.
 */
static void krdma_conn_tear_down(struct krdma_conn *conn, bool wait)
{
	if (!conn->is_taken && !krdma_conn_take_down(conn, wait))
		return;
	if (conn->lower && !conn->lower->ops->ended(conn->lower))
		return;
	if (conn->qp && !krdma_qp_end(conn->qp))
		return;
	if (conn->pd)
		krdma_pd_put(conn->pd);
	conn->pd = NULL;
	/* Waits for the handlers, so no event arrives after this. */
	if (conn->cm_id)
		krdma_cm_id_destroy(conn->cm_id);
	conn->cm_id = NULL;
	krdma_port_uncharge(&conn->port);
	krdma_listener_forget(conn);
	if (conn->dev)
		krdma_device_unuse(conn->dev, &conn->use);

	krdma_conn_advance(conn, KRDMA_INPUT_TORN_DOWN, 0);
}

/*
 * The end of a connection with a lower half waits for no other thread, so the thread that closes it
 * does all of it.  From here on no work item is scheduled: the caller ends the connection.
 * @always: it is about to begin the end.
 */
static void krdma_conn_drive(struct krdma_conn *conn, bool always)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	if (always || conn->state >= KRDMA_CONN_DISCONNECTING)
		WRITE_ONCE(conn->driven, true);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

static void krdma_conn_peer_work(struct work_struct *work)
{
	struct krdma_conn *conn = container_of(work, struct krdma_conn_plain, peer_work)->conn;

	if (krdma_conn_get_state(conn) == KRDMA_CONN_CLOSING)
		krdma_conn_tear_down(conn, false);
	krdma_conn_put_sync(conn);
}

/*
 * iWARP providers destroy neither the QP nor the cm_id before the peer has answered, or their own
 * time for that is over.  Returns whether another work item tears the connection down, which may
 * sleep for as long.  Reclaim waits for a session with a workqueue of its own.
 */
static bool krdma_conn_ends_by_peer(struct krdma_conn *conn)
{
	if (conn->reclaim)
		return false;
	if (READ_ONCE(conn->asked) && !READ_ONCE(conn->confirmed))
		conn->ends_by_peer = true;
	if (!conn->ends_by_peer)
		return false;
	krdma_conn_get(conn);
	if (!queue_work(krdma_peer_workqueue, &conn->plain->peer_work))
		krdma_conn_put(conn);
	return true;
}

/*
 * Each run acts on the current state.  A run that was scheduled for a state that has passed finds
 * another run queued, or nothing to do.  @wait: the caller may wait for calls on the connection.
 */
static void krdma_conn_run(struct krdma_conn *conn, bool wait)
{
	switch (krdma_conn_get_state(conn)) {
	case KRDMA_CONN_CONNECTING:
	case KRDMA_CONN_ACCEPTING:
	case KRDMA_CONN_CONNECTED:
		krdma_conn_await_reason(conn);
		break;
	case KRDMA_CONN_DISCONNECTING:
		krdma_conn_notify_peer(conn);
		break;
	case KRDMA_CONN_CLOSING:
		if (!krdma_conn_ends_by_peer(conn))
			krdma_conn_tear_down(conn, wait);
		break;
	default:
		break;
	}
}

/*
 * By the work item.  Returns false if a thread ends the connection, which may have looked before
 * the reason for the work item: then it queues the work item once more.
 */
static bool krdma_conn_trylock_end(struct krdma_conn *conn)
{
	if (mutex_trylock(&conn->end_lock))
		return true;
	WRITE_ONCE(conn->end_was_missed, true);
	/* Either the thread sees this after it has unlocked, or this sees it unlocked. */
	smp_mb();
	return mutex_trylock(&conn->end_lock);
}

/*
 * By the work item, without @wait, and by threads that close.  It is known late whether the lower
 * half is used, so the work item comes here in any case.
 */
static void krdma_conn_run_lower(struct krdma_conn *conn, bool wait)
{
	if (wait)
		mutex_lock(&conn->end_lock);
	else if (!krdma_conn_trylock_end(conn))
		return;
	WRITE_ONCE(conn->end_was_missed, false);
	krdma_conn_run(conn, wait);
	/* Nothing else does that if the end is driven. */
	if (READ_ONCE(conn->driven))
		krdma_conn_run(conn, wait);
	mutex_unlock(&conn->end_lock);
	/* Pairs with krdma_conn_trylock_end(). */
	smp_mb();
	if (READ_ONCE(conn->end_was_missed))
		krdma_conn_queue(conn);
}

/**
 * krdma_conn_end() - End a connection, without waiting for the peer
 * @conn: the connection, in any state
 *
 * Disconnects it, as krdma_conn_disconnect(), or aborts it if it is not connected.  A lane has
 * ended when this returns, and its work requests have completed, unless a device still carries out
 * some of them: then a work item ends it when the device is through.  Do not call this from a
 * callback for completions.
 *
 * Context: process context; may sleep.
 */
void krdma_conn_end(struct krdma_conn *conn)
{
	bool lower = krdma_conn_uses_lower(conn);
	unsigned int noio;
	int ret;

	/*
	 * Its consumer has got all events.  As long as that is not so, a lane has not ended: the
	 * caller waits for the work item below.
	 */
	if (smp_load_acquire(&conn->closed))
		return;
	if (lower)
		krdma_conn_drive(conn, true);
	ret = krdma_conn_advance(conn, KRDMA_INPUT_DISCONNECT, 0);
	if (ret && ret != -EALREADY)
		krdma_conn_advance(conn, KRDMA_INPUT_ABORT, 0);
	if (!lower)
		return;
	noio = memalloc_noio_save();
	krdma_conn_run_lower(conn, true);
	memalloc_noio_restore(noio);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_end, "KRDMA");

static void krdma_conn_work(struct work_struct *work)
{
	struct krdma_conn *conn = container_of(work, struct krdma_conn, work);
	/* Memory reclaim may wait for the end of this connection. */
	unsigned int noio = memalloc_noio_save();

	krdma_conn_turn_begin(conn);
	if (krdma_conn_uses_lower(conn))
		krdma_conn_drive(conn, false);
	if (conn->lower)
		krdma_conn_run_lower(conn, false);
	else
		krdma_conn_run(conn, false);
	krdma_conn_turn_end(conn);
	/* Free the object here, without a work item that would need another thread. */
	krdma_conn_put_sync(conn);
	memalloc_noio_restore(noio);
}

/**
 * krdma_conn_closed() - Finish the end of a connection, when its consumer knows of it
 * @conn: the connection; the caller holds a reference of its own
 *
 * Context: any but NMI.
 */
void krdma_conn_closed(struct krdma_conn *conn)
{
	/* Pairs with krdma_conn_await_end(). */
	smp_store_release(&conn->closed, true);
	if (wq_has_sleeper(&conn->wait))
		wake_up(&conn->wait);
	/* Drop the reference that was taken by KRDMA_ACTION_KEEP. */
	krdma_conn_put(conn);
}

/*
 * The object
 */

static const struct krdma_conn_ops krdma_conn_no_ops;

/* Sizes of their own: there may be thousands, and each is cleared. */
static struct kmem_cache *krdma_conn_cache;
static struct kmem_cache *krdma_conn_plain_cache;

/**
 * krdma_conns_init() - Allocate what all connections share
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int __init krdma_conns_init(void)
{
	krdma_conn_cache = KMEM_CACHE(krdma_conn, SLAB_ACCOUNT);
	krdma_conn_plain_cache = KMEM_CACHE(krdma_conn_plain, SLAB_ACCOUNT);
	if (krdma_conn_cache && krdma_conn_plain_cache && !krdma_conn_events_init())
		return 0;
	kmem_cache_destroy(krdma_conn_plain_cache);
	kmem_cache_destroy(krdma_conn_cache);
	return -ENOMEM;
}

/**
 * krdma_conns_exit() - Free what krdma_conns_init() has allocated
 *
 * All connections and listeners have ended.
 *
 * Context: process context; may sleep.
 */
void krdma_conns_exit(void)
{
	krdma_conn_events_exit();
	kmem_cache_destroy(krdma_conn_plain_cache);
	kmem_cache_destroy(krdma_conn_cache);
}

static void krdma_conn_free(struct krdma_conn *conn)
{
	krdma_qp_free(conn->qp);
	if (conn->lower)
		conn->lower->ops->free(conn->lower);
	krdma_device_put(conn->dev);
	krdma_conn_turn_exit(conn);
	krdma_session_put(conn->session);
	kfree(conn->peer_data);
	if (conn->plain)
		kmem_cache_free(krdma_conn_plain_cache, conn->plain);
	mutex_destroy(&conn->end_lock);
	mutex_destroy(&conn->cm_lock);
	kmem_cache_free(krdma_conn_cache, krdma_object_uncount(KRDMA_OBJECT_CONN, conn));
}

static void krdma_conn_free_work(struct work_struct *work)
{
	krdma_conn_free(container_of(work, struct krdma_conn, free_work));
}

/**
 * krdma_conn_alloc() - Allocate a connection
 * @session: session of the consumer
 * @ops: callbacks to the consumer, or NULL as long as there is no consumer
 * @context: context of the consumer
 * @gfp: GFP_KERNEL_ACCOUNT, or KRDMA_GFP_OTHERS in a thread that is not its user's
 *
 * Context: process context; may sleep if @gfp says so.
 * Return: the connection with one reference, in state NEW, or NULL.
 */
struct krdma_conn *krdma_conn_alloc(struct krdma_session *session,
				    const struct krdma_conn_ops *ops, void *context, gfp_t gfp)
{
	struct krdma_conn *conn;

	conn = krdma_object_count(KRDMA_OBJECT_CONN,
				  kmem_cache_zalloc(krdma_conn_cache, gfp));
	if (!conn)
		return NULL;

	krdma_session_get(session);
	conn->session = session;
	conn->reclaim = session->reclaim;
	krdma_conn_turn_init(conn);
	conn->ops = ops;
	conn->context = context;
	refcount_set(&conn->refs, 1);
	spin_lock_init(&conn->state_lock);
	conn->state = KRDMA_CONN_NEW;
	init_waitqueue_head(&conn->wait);
	mutex_init(&conn->cm_lock);
	mutex_init(&conn->end_lock);
	INIT_WORK(&conn->work, krdma_conn_work);
	INIT_WORK(&conn->event_work, krdma_conn_event_work);
	INIT_LIST_HEAD(&conn->pending);

	return conn;
}

/**
 * krdma_conn_make_plain() - Allocate what a connection with an ID of the connection manager needs
 * @conn: the connection, without one
 * @gfp: as for the connection
 *
 * Context: process context, under cm_lock, or where no other thread knows the connection; may sleep
 * if @gfp says so.
 * Return: 0 or -ENOMEM.
 */
int krdma_conn_make_plain(struct krdma_conn *conn, gfp_t gfp)
{
	struct krdma_conn_plain *plain;

	plain = kmem_cache_zalloc(krdma_conn_plain_cache, gfp);
	if (!plain)
		return -ENOMEM;
	plain->conn = conn;
	INIT_WORK(&plain->peer_work, krdma_conn_peer_work);
	INIT_DELAYED_WORK(&plain->grace_work, krdma_conn_grace_expired);
	INIT_DELAYED_WORK(&plain->answer_work, krdma_conn_unanswered);
	conn->plain = plain;
	return 0;
}

/**
 * krdma_conn_create() - Create a connection, to be resolved and connected
 * @session: session of the consumer
 * @ops: callbacks to the consumer; must stay valid until krdma_conn_close() has returned.  NULL:
 *	no callbacks
 * @context: context of the consumer, see krdma_conn_context()
 *
 * Context: process context; may sleep.
 * Return: the connection, for krdma_conn_put(), or ERR_PTR(-ENOMEM).
 */
struct krdma_conn *krdma_conn_create(struct krdma_session *session,
				     const struct krdma_conn_ops *ops, void *context)
{
	struct krdma_conn *conn;

	conn = krdma_conn_alloc(session, ops ?: &krdma_conn_no_ops, context, GFP_KERNEL_ACCOUNT);
	return conn ?: ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_create, "KRDMA");

/**
 * krdma_conn_get() - Take a reference to a connection
 * @conn: the connection; the caller holds a reference
 *
 * Context: any.
 */
void krdma_conn_get(struct krdma_conn *conn)
{
	refcount_inc(&conn->refs);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_get, "KRDMA");

/**
 * krdma_conn_put() - Drop a reference to a connection
 * @conn: the connection, or NULL
 *
 * The last reference frees the object, and does nothing else: a connection that was started
 * continues, calls its consumer, and holds a reference to itself until it is closed or ends by
 * itself.  Call krdma_conn_close() first.
 *
 * Context: any but NMI.
 */
void krdma_conn_put(struct krdma_conn *conn)
{
	/* Freeing large queues sleeps, which the caller may not be able to do. */
	if (conn && refcount_dec_and_test(&conn->refs)) {
		/* In the place of @event_work, which nothing queues any more. */
		INIT_WORK(&conn->free_work, krdma_conn_free_work);
		queue_work(krdma_event_workqueue, &conn->free_work);
	}
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_put, "KRDMA");

/**
 * krdma_conn_put_sync() - Drop a reference, and free the object in this context
 * @conn: the connection, or NULL
 *
 * Like krdma_conn_put() for callers that may sleep: the last reference needs no work item.
 *
 * Context: process context; may sleep.
 */
void krdma_conn_put_sync(struct krdma_conn *conn)
{
	might_sleep();
	if (conn && refcount_dec_and_test(&conn->refs))
		krdma_conn_free(conn);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_put_sync, "KRDMA");

static void krdma_conn_gone(struct krdma_use *use)
{
	struct krdma_conn *conn = container_of(use, struct krdma_conn, use);

	krdma_conn_advance(conn, KRDMA_INPUT_DEVICE_GONE, 0);
}

/**
 * krdma_conn_take_device() - Set the device that the connection manager has found
 * @conn: the connection; its state does not imply a device yet
 * @cm_id: its rdma_cm ID, in a handler
 *
 * Context: process context.
 * Return: 0; -ENODEV if krdma does not serve the device, or it is being removed; -EHOSTUNREACH if
 * it is in another network namespace.
 */
int krdma_conn_take_device(struct krdma_conn *conn, struct rdma_cm_id *cm_id)
{
	struct krdma_device *dev;

	/* For a loopback address, rdma_cm takes any device of any network namespace. */
	if (!rdma_dev_access_netns(cm_id->device, conn->session->net))
		return -EHOSTUNREACH;
	dev = krdma_device_of(cm_id->device);
	if (!dev)
		return -ENODEV;
	return krdma_conn_use_device(conn, dev);
}

/**
 * krdma_conn_use_device() - Set the device of a connection
 * @conn: the connection; its state does not imply a device yet.  Its teardown cannot complete
 *	before the caller has left the handler of its ID, or released a lock that it needs.
 * @dev: the device, with a reference that goes to the connection
 *
 * Context: process context.
 * Return: 0, or -ENODEV if the device is being removed.
 */
int krdma_conn_use_device(struct krdma_conn *conn, struct krdma_device *dev)
{
	unsigned long flags;
	int ret;

	/*
	 * From here on the connection may end, and its end uses the device.  But the teardown
	 * cannot pass krdma_cm_id_destroy(), which waits for this handler.
	 */
	ret = krdma_device_use(dev, &conn->use, krdma_conn_gone);
	if (ret) {
		krdma_device_put(dev);
		return ret;
	}
	spin_lock_irqsave(&conn->state_lock, flags);
	conn->dev = dev;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return 0;
}

/**
 * krdma_conn_set_path() - Set what the connection manager would have found
 * @conn: the connection, in state RESOLVING_ADDRESS; the caller holds its cm_lock, which the
 *	teardown needs
 * @path: the path; the reference to its device goes to the connection
 *
 * Context: process context.
 * Return: 0, or -ENODEV: the device is being removed, and nothing has changed.
 */
int krdma_conn_set_path(struct krdma_conn *conn, const struct krdma_conn_path *path)
{
	unsigned long flags;
	int ret;

	lockdep_assert_held(&conn->cm_lock);

	ret = krdma_conn_use_device(conn, path->dev);
	if (ret)
		return ret;
	spin_lock_irqsave(&conn->state_lock, flags);
	conn->local = path->local;
	conn->remote = path->remote;
	conn->path_mtu = path->path_mtu;
	spin_unlock_irqrestore(&conn->state_lock, flags);
	krdma_conn_advance(conn, KRDMA_INPUT_CM_ADDR_RESOLVED, 0);
	return 0;
}

/**
 * krdma_conn_give() - Assign a consumer to a connection request
 * @conn: the connection
 * @ops: callbacks to the consumer, or NULL
 * @context: context of the consumer
 *
 * Context: any but NMI.
 * Return: false if the peer has given up meanwhile.
 */
bool krdma_conn_give(struct krdma_conn *conn, const struct krdma_conn_ops *ops, void *context)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&conn->state_lock, flags);
	there = conn->state == KRDMA_CONN_REQUESTED;
	if (there) {
		conn->ops = ops ?: &krdma_conn_no_ops;
		conn->context = context;
		/* Events that came before there was a consumer. */
		krdma_conn_pass_events(conn);
	}
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return there;
}
