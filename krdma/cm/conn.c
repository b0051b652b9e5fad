// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: the object, its way through the states, and its end.
 *
 * krdma_conn_advance() is the one place where the state changes, by the table of
 * cm/conn_state.c.  What a step entails and may sleep is done by the connection's
 * work; so is the end: the step into CLOSING is taken once, and whoever causes it
 * leaves the taking down to the work.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/cm_id.h"
#include "cm/conn.h"
#include "cm/listen.h"
#include "core/objects.h"
#include "io/qp.h"
#include "core/session.h"
#include "trace.h"

/*
 * How long the end waits for the peer's answer, which only says that the peer has
 * heard of it.  A peer that lives answers within a round trip; one that does not
 * must not hold up the one who closes.
 */
#define KRDMA_CONN_REPLY_MS	1000

/*
 * How long a connection whose requests are flushed waits for somebody who knows why: for
 * the peer's goodbye, say, however busy the machines are.  Its consumer has been told of
 * the flush, so nobody is in a hurry.
 */
#define KRDMA_CONN_UNSAID_MS	3000

/*
 * When the peer did what it must not, its device hears of it from ours, in its own
 * time.  Our goodbye must not overtake that: the operation would then be flushed,
 * and its owner would not know why.
 */
#define KRDMA_CONN_GRACE_MS	20

/*
 * The state
 */

static void krdma_conn_schedule(struct krdma_conn *conn)
{
	krdma_conn_get(conn);
	if (!queue_work(conn->workqueue, &conn->work))
		krdma_conn_put(conn);
}

static bool krdma_conn_is_on_its_way(enum krdma_conn_state state)
{
	switch (state) {
	case KRDMA_CONN_RESOLVING_ADDRESS:
	case KRDMA_CONN_RESOLVING_ROUTE:
	case KRDMA_CONN_CONNECTING:
	case KRDMA_CONN_ACCEPTING:
	case KRDMA_CONN_DISCONNECTING:
		return true;
	default:
		return false;
	}
}

/* Takes a step that fits. */
static void krdma_conn_apply(struct krdma_conn *conn, const struct krdma_conn_step *step,
			     int error)
{
	lockdep_assert_held(&conn->state_lock);

	if (step->verdict == KRDMA_STEP_MOVE)
		WRITE_ONCE(conn->state, step->next);

	if (!(step->actions & KRDMA_ACTION_REASON) || !error)
		error = step->error;
	/* Those who were refused look at it without the lock. */
	if (step->actions & KRDMA_ACTION_END)
		WRITE_ONCE(conn->error, error);
	if (step->actions & KRDMA_ACTION_KEEP)
		krdma_conn_get(conn);
	if (step->actions & KRDMA_ACTION_OWE)
		conn->owes_peer = true;
	if (step->actions & KRDMA_ACTION_OPEN)
		krdma_qp_open(conn->qp);
	if ((step->actions & KRDMA_ACTION_CLOSE) && conn->qp)
		krdma_qp_close(conn->qp);
	if (step->event)
		krdma_conn_add_event(conn, step->event);
	if (step->actions & KRDMA_ACTION_KICK)
		krdma_conn_schedule(conn);

	/* Who waits for the end of a step, or for a failure, need not see what it consists of. */
	if (step->verdict == KRDMA_STEP_MOVE && !krdma_conn_is_on_its_way(step->next))
		wake_up_all(&conn->wait);
}

/**
 * krdma_conn_advance - something has happened to a connection
 * @conn: the connection; kept by the caller, or by what the caller speaks for
 * @input: what
 * @error: the reason, a negative errno, for an input that has one of its own; or 0
 *
 * Context: any but NMI, also with interrupts off.
 * Return: 0, also for what came too late to matter; the negative errno with
 * which a call is refused in this state.
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
		/* With somebody to tell, the end is over when he knows, and a work says so. */
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
 * The work: what sleeps.  It never runs twice at a time, so its parts need not
 * look out for one another.
 */

static void krdma_conn_grace_expired(struct work_struct *work)
{
	struct krdma_conn *conn = container_of(work, struct krdma_conn, grace_work.work);

	krdma_conn_advance(conn, KRDMA_INPUT_GRACE_EXPIRED, 0);
	krdma_conn_put_sync(conn);
}

/**
 * krdma_conn_flushed - a request was flushed, or the device flushes them all
 * @conn: the connection; the caller keeps it
 *
 * If nobody here has ended the connection, its queue pair is in error by itself, and no
 * message will come or go any more.  Such as after the peer has asked for what it may
 * not have, which can overtake word that the connection stands: a device can say so by an
 * event, and rxe has none.  Mostly somebody else is about to tell why: another completion,
 * the connection manager.  If not, that is the end.
 *
 * rxe says it under the lock that its posting takes, which is inside @conn->state_lock: so
 * the work looks at the state, and this only guesses whether it need.
 *
 * Context: any but NMI, also with interrupts off, and under locks of the device's.
 */
void krdma_conn_flushed(struct krdma_conn *conn)
{
	enum krdma_conn_state state = READ_ONCE(conn->state);

	if (state >= KRDMA_CONN_DISCONNECTING || READ_ONCE(conn->flushed))
		return;
	WRITE_ONCE(conn->flushed, true);
	krdma_conn_schedule(conn);
}

static void krdma_conn_await_reason(struct krdma_conn *conn)
{
	if (!READ_ONCE(conn->flushed))
		return;
	krdma_conn_get(conn);
	if (!queue_delayed_work(conn->workqueue, &conn->grace_work,
				msecs_to_jiffies(KRDMA_CONN_UNSAID_MS)))
		krdma_conn_put(conn);
}

/*
 * Tells the peer of the end, as soon as the connection manager knows that there was
 * a beginning.  A message of the peer's can be here before its word that the
 * connection stands, and until that has come, a farewell would not be sent.
 *
 * rdma_notify() would have the connection manager believe us instead.  But if the
 * peer's own farewell comes before it has done so, it goes on sending its last
 * message for minutes, and rdma_destroy_id() waits for that.
 */
static void krdma_conn_notify_peer(struct krdma_conn *conn)
{
	int ret;

	if (!conn->grace_pending) {
		conn->grace_pending = true;
		krdma_conn_get(conn);
		/* From now on, also if something was flushed before. */
		if (mod_delayed_work(conn->workqueue, &conn->grace_work,
				     msecs_to_jiffies(KRDMA_CONN_REPLY_MS)))
			krdma_conn_put(conn);
	}
	if (conn->peer_told || !READ_ONCE(conn->confirmed))
		return;

	conn->peer_told = true;
	mutex_lock(&conn->cm_lock);
	ret = rdma_disconnect(conn->cm_id);
	mutex_unlock(&conn->cm_lock);

	/* Nothing was said, so there will be no answer. */
	if (ret)
		krdma_conn_advance(conn, KRDMA_INPUT_GRACE_EXPIRED, 0);
}

/*
 * The end.  Every call that comes now finds the state CLOSING, and those that came
 * before are waited for by cm_lock.
 */
static void krdma_conn_tear_down(struct krdma_conn *conn)
{
	struct krdma_pd *pd;
	struct rdma_cm_id *cm_id;

	if (cancel_delayed_work(&conn->grace_work))
		krdma_conn_put(conn);

	mutex_lock(&conn->cm_lock);
	cm_id = conn->cm_id;
	conn->cm_id = NULL;
	pd = conn->pd;
	conn->pd = NULL;
	mutex_unlock(&conn->cm_lock);

	/* First of all: the peer shall not have to find out by itself. */
	if (conn->owes_peer && !conn->peer_told) {
		if (conn->error == -EIO)
			msleep(KRDMA_CONN_GRACE_MS);
		rdma_disconnect(cm_id);
	}
	if (conn->qp)
		krdma_qp_end(conn->qp);
	if (pd)
		krdma_pd_put(pd);
	/* Waits for the handlers, so nothing comes from there any more. */
	if (cm_id)
		krdma_cm_id_destroy(cm_id);
	krdma_port_uncharge(&conn->port);
	krdma_listener_forget(conn);
	if (conn->dev)
		krdma_device_unuse(conn->dev, &conn->use);

	krdma_conn_advance(conn, KRDMA_INPUT_TORN_DOWN, 0);
}

/*
 * Each run does what the state of the moment wants: a run that was meant for a
 * state that is over finds another one queued, or nothing to do.
 */
static void krdma_conn_work(struct work_struct *work)
{
	struct krdma_conn *conn = container_of(work, struct krdma_conn, work);
	/* Memory may be what the end of the connection has to be waited for. */
	unsigned int noio = memalloc_noio_save();

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
		krdma_conn_tear_down(conn);
		break;
	default:
		break;
	}
	/* Here, not in a work item that would need a thread. */
	krdma_conn_put_sync(conn);
	memalloc_noio_restore(noio);
}

/**
 * krdma_conn_closed - the end is over, and the consumer knows
 * @conn: the connection; the caller has a reference of his own
 *
 * Context: any but NMI.
 */
void krdma_conn_closed(struct krdma_conn *conn)
{
	complete_all(&conn->closed);
	/* The RDMA part's. */
	krdma_conn_put(conn);
}

/*
 * The object
 */

static const struct krdma_conn_ops krdma_conn_no_ops;

static void krdma_conn_free(struct krdma_conn *conn)
{
	krdma_qp_free(conn->qp);
	krdma_device_put(conn->dev);
	krdma_session_put(conn->session);
	mutex_destroy(&conn->cm_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_CONN, conn));
}

static void krdma_conn_free_work(struct work_struct *work)
{
	krdma_conn_free(container_of(work, struct krdma_conn, free_work));
}

/**
 * krdma_conn_alloc - make the object
 * @session: whose
 * @ops: the consumer's, or NULL as long as there is none
 * @context: the consumer's
 *
 * Context: process context; may sleep.
 * Return: the connection with one reference, in NEW, or NULL.
 */
struct krdma_conn *krdma_conn_alloc(struct krdma_session *session,
				    const struct krdma_conn_ops *ops, void *context)
{
	struct krdma_conn *conn;

	conn = krdma_object_count(KRDMA_OBJECT_CONN, kzalloc_obj(*conn, GFP_KERNEL_ACCOUNT));
	if (!conn)
		return NULL;

	krdma_session_get(session);
	conn->session = session;
	conn->workqueue = session->reclaim ? krdma_reclaim_workqueue : krdma_workqueue;
	conn->ops = ops;
	conn->context = context;
	refcount_set(&conn->refs, 1);
	spin_lock_init(&conn->state_lock);
	conn->state = KRDMA_CONN_NEW;
	init_waitqueue_head(&conn->wait);
	mutex_init(&conn->cm_lock);
	INIT_WORK(&conn->work, krdma_conn_work);
	INIT_DELAYED_WORK(&conn->grace_work, krdma_conn_grace_expired);
	INIT_WORK(&conn->event_work, krdma_conn_event_work);
	INIT_WORK(&conn->free_work, krdma_conn_free_work);
	init_completion(&conn->closed);
	INIT_LIST_HEAD(&conn->pending);

	return conn;
}

/**
 * krdma_conn_create - make a connection, to be resolved and connected
 * @session: whose
 * @ops: how it tells its consumer; must stay until krdma_conn_close() has
 *	returned.  NULL: it does not.
 * @context: the consumer's, see krdma_conn_context()
 *
 * Context: process context; may sleep.
 * Return: the connection, for krdma_conn_put(), or ERR_PTR(-ENOMEM).
 */
struct krdma_conn *krdma_conn_create(struct krdma_session *session,
				     const struct krdma_conn_ops *ops, void *context)
{
	struct krdma_conn *conn;

	conn = krdma_conn_alloc(session, ops ?: &krdma_conn_no_ops, context);
	return conn ?: ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_create, "KRDMA");

/**
 * krdma_conn_get - one more reference to a connection
 * @conn: the connection; the caller holds one
 *
 * Context: any.
 */
void krdma_conn_get(struct krdma_conn *conn)
{
	refcount_inc(&conn->refs);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_get, "KRDMA");

/**
 * krdma_conn_put - give back a reference to a connection
 * @conn: the connection, or NULL
 *
 * The last one frees the object, and that alone: a connection that was begun goes
 * on, calls its consumer, and keeps itself, until it is closed or ends by
 * itself.  krdma_conn_close() comes first.
 *
 * Context: any but NMI.
 */
void krdma_conn_put(struct krdma_conn *conn)
{
	/* Freeing large queues sleeps, and whoever puts may not. */
	if (conn && refcount_dec_and_test(&conn->refs))
		queue_work(krdma_event_workqueue, &conn->free_work);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_put, "KRDMA");

/**
 * krdma_conn_put_sync - give back a reference, and free the object here
 * @conn: the connection, or NULL
 *
 * krdma_conn_put() for those who may sleep: without a work, if it was the last one.
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
 * krdma_conn_take_device - the connection manager has found the device
 * @conn: the connection; not in a state that tells of the device yet
 * @cm_id: its id, in a handler
 *
 * Context: process context.
 * Return: 0; -ENODEV if krdma does not serve the device, or it is going;
 * -EHOSTUNREACH if it is in another network namespace.
 */
int krdma_conn_take_device(struct krdma_conn *conn, struct rdma_cm_id *cm_id)
{
	struct krdma_device *dev;
	unsigned long flags;
	int ret;

	/* For a loopback address, rdma_cm takes any device, wherever that is. */
	if (!rdma_dev_access_netns(cm_id->device, conn->session->net))
		return -EHOSTUNREACH;
	dev = krdma_device_of(cm_id->device);
	if (!dev)
		return -ENODEV;

	/*
	 * From here on the end may come, which looks for the device.  But it cannot
	 * get past krdma_cm_id_destroy(), which waits for this handler.
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
 * krdma_conn_give - a request gets its consumer
 * @conn: the connection
 * @ops: the consumer's, or NULL
 * @context: the consumer's
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
		/* What has happened while there was nobody to tell. */
		krdma_conn_schedule_events(conn);
	}
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return there;
}
