// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners, where connection requests arrive and wait.
 */
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn_cm.h"
#include "cm/conn_event.h"
#include "core/cm_id.h"
#include "cm/conn.h"
#include "cm/listen.h"
#include "core/device.h"
#include "core/objects.h"
#include "core/session.h"
#include "io/keepalive.h"

#define KRDMA_BACKLOG	128

/* How long a connection request may wait to be taken: the range, and the default. */
#define KRDMA_REQUEST_TIMEOUT_MIN_MS	100
#define KRDMA_REQUEST_TIMEOUT_MAX_MS	3600000
#define KRDMA_REQUEST_TIMEOUT_MS	60000

static const struct krdma_lane_hooks *krdma_lane_hooks __ro_after_init;

void __init krdma_listener_set_lane_hooks(const struct krdma_lane_hooks *hooks)
{
	krdma_lane_hooks = hooks;
}

static void krdma_listener_schedule(struct krdma_listener *listener)
{
	krdma_listener_get(listener);
	if (!queue_work(krdma_workqueue, &listener->work))
		krdma_listener_put(listener);
}

static void krdma_listener_schedule_ready(struct krdma_listener *listener)
{
	krdma_listener_get(listener);
	if (!queue_work(krdma_event_workqueue, &listener->ready_work))
		krdma_listener_put(listener);
}

/* Notifies a consumer that does not wait in krdma_listener_next(). */
static void krdma_listener_notify(struct krdma_listener *listener)
{
	if (listener->notify)
		listener->notify(listener);
	else if (listener->ready)
		krdma_listener_schedule_ready(listener);
}

/*
 * Connection requests
 */

/*
 * Approximate kernel memory of a request that waits: the connection, and the connection manager's
 * IDs of it.
 */
#define KRDMA_REQUEST_BYTES	4096

static void krdma_listener_uncharge(struct krdma_listener *listener)
{
	krdma_session_uncharge(listener->session, KRDMA_REQUEST_BYTES);
}

/*
 * Counts one more request, unless the listener is full or ending, and charges it to the session
 * for as long as it waits.
 */
static int krdma_listener_reserve(struct krdma_listener *listener)
{
	unsigned long flags;
	bool room;
	int ret;

	ret = krdma_session_charge(listener->session, KRDMA_REQUEST_BYTES);
	if (ret)
		return ret;

	spin_lock_irqsave(&listener->lock, flags);
	room = !listener->closing && !listener->dead && listener->waiting < listener->backlog;
	if (room) {
		listener->waiting++;
		listener->creating++;
	}
	spin_unlock_irqrestore(&listener->lock, flags);

	if (!room)
		krdma_listener_uncharge(listener);
	return room ? 0 : -ECONNREFUSED;
}

/* Mostly no thread waits.  The barrier there is one between the change and the look for waiters. */
static void krdma_listener_wake(struct krdma_listener *listener)
{
	if (wq_has_sleeper(&listener->wait))
		wake_up_all(&listener->wait);
}

static void krdma_listener_unreserve(struct krdma_listener *listener)
{
	unsigned long flags;

	spin_lock_irqsave(&listener->lock, flags);
	listener->waiting--;
	listener->creating--;
	spin_unlock_irqrestore(&listener->lock, flags);

	krdma_listener_wake(listener);
	krdma_listener_uncharge(listener);
}

/* Looks again after @delay jiffies, or earlier. */
static void krdma_listener_expire_later(struct krdma_listener *listener, unsigned long delay)
{
	lockdep_assert_held(&listener->lock);

	krdma_listener_get(listener);
	if (!queue_delayed_work(krdma_workqueue, &listener->expire_work, delay))
		krdma_listener_put(listener);
}

static void krdma_listener_add(struct krdma_listener *listener, struct krdma_conn *conn)
{
	unsigned long flags;

	spin_lock_irqsave(&listener->lock, flags);
	list_add_tail(&conn->pending, &listener->requests);
	if (listener->request_timeout)
		krdma_listener_expire_later(listener, listener->request_timeout);
	spin_unlock_irqrestore(&listener->lock, flags);

	krdma_listener_wake(listener);
	krdma_listener_notify(listener);

	/* Only now can the consumer's part be freed. */
	spin_lock_irqsave(&listener->lock, flags);
	listener->creating--;
	spin_unlock_irqrestore(&listener->lock, flags);
	krdma_listener_wake(listener);
}

/* The list's reference goes to the caller, who uncharges the request without the lock. */
static struct krdma_conn *krdma_listener_take(struct krdma_listener *listener)
{
	struct krdma_conn *conn;

	lockdep_assert_held(&listener->lock);

	conn = list_first_entry_or_null(&listener->requests, struct krdma_conn, pending);
	if (conn) {
		list_del_init(&conn->pending);
		listener->waiting--;
	}
	return conn;
}

/**
 * krdma_listener_forget() - Detach a connection that ends from its listener
 * @conn: the connection; its rdma_cm ID has been destroyed
 *
 * Context: process context.
 */
void krdma_listener_forget(struct krdma_conn *conn)
{
	struct krdma_listener *listener = conn->listener;
	unsigned long flags;
	bool waits;

	if (!listener)
		return;

	spin_lock_irqsave(&listener->lock, flags);
	waits = !list_empty(&conn->pending);
	if (waits) {
		list_del_init(&conn->pending);
		listener->waiting--;
	}
	spin_unlock_irqrestore(&listener->lock, flags);

	if (waits) {
		krdma_listener_uncharge(listener);
		krdma_conn_put(conn);
	}
	krdma_listener_put(listener);
}

/*
 * If this fails, so does the handler, and the connection manager rejects the request and destroys
 * the new ID.  This is the only place where an ID is destroyed like that, because no other code
 * has seen it.  With -ENOMEM, InfiniBand's connection manager sends no answer, and the peer asks
 * again.
 */
static int krdma_listener_request(struct krdma_listener *listener, struct rdma_cm_id *cm_id,
				  const struct rdma_cm_event *event)
{
	struct krdma_conn *conn;
	struct mem_cgroup *old;
	int ret;

	ret = krdma_listener_reserve(listener);
	if (ret)
		return ret;

	/* The connection's reference to the listener. */
	krdma_listener_get(listener);
	/* The current task is a thread of the connection manager. */
	old = set_active_memcg(listener->memcg);
	conn = krdma_conn_from_request(listener, listener->session, cm_id, event);
	set_active_memcg(old);
	if (IS_ERR(conn)) {
		krdma_listener_put(listener);
		krdma_listener_unreserve(listener);
		return PTR_ERR(conn);
	}
	/* The connection may have ended; then krdma_listener_forget() waits for this handler. */
	krdma_listener_add(listener, conn);
	return 0;
}

static struct krdma_conn *krdma_conn_from_offer(struct krdma_listener *listener,
						const struct krdma_conn_offer *offer)
{
	struct krdma_conn *conn;

	conn = krdma_conn_alloc(listener->session, NULL, NULL, KRDMA_GFP_OTHERS);
	if (!conn)
		return NULL;
	if (offer->data_len) {
		conn->peer_data = kmemdup(offer->data, offer->data_len, KRDMA_GFP_OTHERS);
		if (!conn->peer_data) {
			krdma_conn_put_sync(conn);
			return NULL;
		}
	}
	conn->passive = true;
	conn->state = KRDMA_CONN_REQUESTED;
	conn->requested = jiffies;
	conn->listener = listener;
	conn->local = offer->local;
	conn->remote = offer->remote;
	conn->path_mtu = offer->path_mtu;
	conn->peer_data_len = offer->data_len;
	conn->peer_is_krdma = true;
	conn->peer_serves = offer->peer_serves;
	conn->peer_reads = offer->peer_reads;
	return conn;
}

/**
 * krdma_listener_offer() - Give a listener a connection request that has come by another way
 * @listener: the listener; the caller holds a reference
 * @offer: the request; copied
 *
 * The teardown of the connection waits for a lock that the caller holds, before it calls
 * &struct krdma_conn_lower_ops.end, so the connection exists until this returns.
 *
 * Context: process context; may sleep.
 * Return: 0; or an error after which the caller still owns @offer->lower: -ECONNREFUSED: the
 * listener is full or ending; -ENODEV: the device is being removed; an errno of the charge, or
 * -ENOMEM.
 */
int krdma_listener_offer(struct krdma_listener *listener, const struct krdma_conn_offer *offer)
{
	struct krdma_conn *conn;
	struct mem_cgroup *old;
	int ret;

	ret = krdma_listener_reserve(listener);
	if (ret)
		return ret;

	/* The connection's reference to the listener. */
	krdma_listener_get(listener);
	old = set_active_memcg(listener->memcg);
	conn = krdma_conn_from_offer(listener, offer);
	set_active_memcg(old);
	ret = -ENOMEM;
	if (!conn)
		goto err_put;

	offer->attach(offer->lower, conn);
	conn->lower = offer->lower;
	/* The connection's own reference.  The connection may end as soon as the device is set. */
	krdma_conn_get(conn);
	krdma_device_get(offer->dev);
	ret = krdma_conn_use_device(conn, offer->dev);
	if (ret) {
		conn->lower = NULL;
		krdma_conn_put(conn);
		goto err_put;
	}
	krdma_listener_add(listener, conn);
	return 0;

err_put:
	krdma_conn_put(conn);
	krdma_listener_put(listener);
	krdma_listener_unreserve(listener);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_listener_offer);

/*
 * A device that is being removed raises no more requests, and its removal waits for this
 * listener.
 */
static void krdma_listener_die(struct krdma_listener *listener)
{
	unsigned long flags;

	spin_lock_irqsave(&listener->lock, flags);
	/* krdma_lane_listener_get() reads it without the lock. */
	WRITE_ONCE(listener->dead, true);
	spin_unlock_irqrestore(&listener->lock, flags);

	wake_up_all(&listener->wait);
	krdma_listener_schedule(listener);
	krdma_listener_notify(listener);
}

/*
 * For example, a bond has another active interface, which may be on another device.  The ID still
 * listens where the address was.
 */
static void krdma_listener_moves(struct krdma_listener *listener)
{
	unsigned long flags;

	spin_lock_irqsave(&listener->lock, flags);
	listener->moved = true;
	spin_unlock_irqrestore(&listener->lock, flags);
	krdma_listener_schedule(listener);
}

static void krdma_listener_gone(struct krdma_use *use)
{
	krdma_listener_die(container_of(use, struct krdma_listener, use));
}

/* Handler of the listener's own ID, and of each new ID until it has its connection. */
static int krdma_listener_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event)
{
	struct krdma_listener *listener = cm_id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return krdma_listener_request(listener, cm_id, event);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		krdma_listener_die(listener);
		return 0;
	case RDMA_CM_EVENT_ADDR_CHANGE:
		krdma_listener_moves(listener);
		return 0;
	default:
		return 0;
	}
}

/* Aborts the requests that @take returns, called with the lock, until there is none. */
static void krdma_listener_abort_each(struct krdma_listener *listener,
				      struct krdma_conn *(*take)(struct krdma_listener *listener))
{
	struct krdma_conn *conn;
	unsigned long flags;

	do {
		spin_lock_irqsave(&listener->lock, flags);
		conn = take(listener);
		spin_unlock_irqrestore(&listener->lock, flags);

		if (conn) {
			krdma_listener_uncharge(listener);
			krdma_conn_abort(conn);
			krdma_conn_put(conn);
		}
	} while (conn);
}

/*
 * Requests that expire.  A peer that gives up says so, unless it has vanished: then its request
 * would wait until a consumer takes it, and an answer to it would fail only after a minute.
 */

/* As krdma_listener_take(), if the oldest request has expired. */
static struct krdma_conn *krdma_listener_take_expired(struct krdma_listener *listener)
{
	struct krdma_conn *conn;
	unsigned long age;

	lockdep_assert_held(&listener->lock);

	conn = list_first_entry_or_null(&listener->requests, struct krdma_conn, pending);
	if (!conn)
		return NULL;
	age = jiffies - conn->requested;
	if (age < listener->request_timeout) {
		krdma_listener_expire_later(listener, listener->request_timeout - age);
		return NULL;
	}
	listener->expired++;
	return krdma_listener_take(listener);
}

static void krdma_listener_expire_work(struct work_struct *work)
{
	struct krdma_listener *listener = container_of(work, struct krdma_listener,
						       expire_work.work);

	krdma_listener_abort_each(listener, krdma_listener_take_expired);
	krdma_listener_put(listener);
}

/* After the last request has left the list. */
static void krdma_listener_expire_stop(struct krdma_listener *listener)
{
	if (cancel_delayed_work(&listener->expire_work))
		krdma_listener_put(listener);
}

/*
 * The end
 */

/*
 * Start and stop
 */

static int krdma_listener_use_device(struct krdma_listener *listener, struct ib_device *ibdev)
{
	int ret;

	listener->dev = krdma_device_of(ibdev);
	if (!listener->dev)
		return -ENODEV;
	ret = krdma_device_use(listener->dev, &listener->use, krdma_listener_gone);
	listener->in_use = !ret;

	return ret;
}

static int krdma_listener_start(struct krdma_listener *listener)
{
	struct rdma_cm_id *cm_id;
	int ret;

	/* Also keeps the work item from running if the device is removed meanwhile. */
	lockdep_assert_held(&listener->cm_lock);

	cm_id = rdma_create_id(listener->session->net, krdma_listener_handler, listener,
			       RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(cm_id))
		return krdma_cm_error(PTR_ERR(cm_id));
	listener->cm_id = cm_id;

	if (listener->local.ss_family == AF_INET6) {
		ret = rdma_set_afonly(cm_id, listener->v6only);
		if (ret)
			return krdma_cm_error(ret);
	}
	ret = krdma_cm_id_bind(cm_id, (struct sockaddr *)&listener->local);
	if (ret)
		return ret == -ENODEV ? -EADDRNOTAVAIL : krdma_cm_error(ret);
	if (cm_id->device) {
		ret = krdma_listener_use_device(listener, cm_id->device);
		if (ret)
			return ret;
	}
	/* Now with a port, and before a request can arrive.  It does not change later. */
	if (memcmp(&listener->local, &cm_id->route.addr.src_addr, sizeof(listener->local)))
		listener->local = cm_id->route.addr.src_addr;

	ret = krdma_cm_id_listen(cm_id, listener->backlog);
	if (!ret)
		return 0;
	/* An interface is being removed. */
	return ret == -ENODEV ? -EADDRNOTAVAIL : krdma_cm_error(ret);
}

/* When this returns, no more requests arrive. */
static void krdma_listener_stop(struct krdma_listener *listener)
{
	struct rdma_cm_id *cm_id;

	mutex_lock(&listener->cm_lock);
	cm_id = listener->cm_id;
	listener->cm_id = NULL;
	mutex_unlock(&listener->cm_lock);

	/* Waits for the handlers. */
	if (cm_id)
		krdma_cm_id_destroy(cm_id);
}

static void krdma_listener_unuse_device(struct krdma_listener *listener)
{
	if (listener->in_use)
		krdma_device_unuse(listener->dev, &listener->use);
	listener->in_use = false;
}

static bool krdma_listener_is_creating(struct krdma_listener *listener)
{
	unsigned long flags;
	bool creating;

	spin_lock_irqsave(&listener->lock, flags);
	creating = listener->creating;
	spin_unlock_irqrestore(&listener->lock, flags);

	return creating;
}

/* Has the listener to end?  If not, @moved is set if its address has moved. */
static bool krdma_listener_ends(struct krdma_listener *listener, bool *moved)
{
	unsigned long flags;
	bool ends;

	spin_lock_irqsave(&listener->lock, flags);
	ends = listener->closing || listener->dead;
	*moved = listener->moved;
	listener->moved = false;
	spin_unlock_irqrestore(&listener->lock, flags);

	return ends;
}

/*
 * Listens again, where the address is now.  Waiting requests and connections stay.  If no device
 * has the address any more, this is handled like the removal of the device.
 */
static void krdma_listener_move(struct krdma_listener *listener)
{
	int ret;

	krdma_listener_stop(listener);
	krdma_listener_unuse_device(listener);
	krdma_device_put(listener->dev);
	listener->dev = NULL;

	mutex_lock(&listener->cm_lock);
	ret = krdma_listener_start(listener);
	mutex_unlock(&listener->cm_lock);
	if (ret)
		krdma_listener_die(listener);
}

/* The device is being removed, the consumer has closed the listener, or the address has moved. */
static void krdma_listener_work(struct work_struct *work)
{
	struct krdma_listener *listener = container_of(work, struct krdma_listener, work);
	unsigned long flags;
	bool ended, moved;

	if (!krdma_listener_ends(listener, &moved)) {
		if (moved)
			krdma_listener_move(listener);
		krdma_listener_put(listener);
		return;
	}
	krdma_listener_stop(listener);
	/* Handlers have returned, but a lane may just be offered; no further one is taken. */
	wait_event(listener->wait, !krdma_listener_is_creating(listener));
	krdma_port_uncharge(&listener->port);
	krdma_listener_abort_each(listener, krdma_listener_take);
	krdma_listener_expire_stop(listener);
	krdma_listener_unuse_device(listener);

	spin_lock_irqsave(&listener->lock, flags);
	listener->ended = listener->closing;
	ended = listener->ended;
	spin_unlock_irqrestore(&listener->lock, flags);

	if (ended)
		krdma_listener_schedule_ready(listener);
	krdma_listener_put(listener);
}

static void krdma_listener_ready_work(struct work_struct *work)
{
	struct krdma_listener *listener = container_of(work, struct krdma_listener, ready_work);
	unsigned long flags;
	bool closing, ended;

	spin_lock_irqsave(&listener->lock, flags);
	closing = listener->closing;
	ended = listener->ended;
	spin_unlock_irqrestore(&listener->lock, flags);

	if (!closing && listener->ready && !listener->notify)
		listener->ready(listener);

	/* From here on the consumer is not called any more, however often this runs. */
	if (ended && !listener->completed) {
		listener->completed = true;
		complete_all(&listener->closed);
		/* Drop the listener's own reference. */
		krdma_listener_put(listener);
	}
	krdma_listener_put(listener);
}

/**
 * krdma_listener_close() - Stop listening
 * @listener: the listener
 *
 * Waiting requests are rejected; connections that were taken continue.  When this returns, the
 * consumer is not called any more.  Any number of threads may call it, any number of times; but
 * not from the listener's ready(), for which it would wait.
 *
 * Context: process context; sleeps, uninterruptibly.
 */
void krdma_listener_close(struct krdma_listener *listener)
{
	unsigned long flags;

	might_sleep();

	/* No lane arrives afterwards. */
	if (listener->lanes)
		krdma_lane_hooks->unlisten(listener);

	spin_lock_irqsave(&listener->lock, flags);
	listener->closing = true;
	spin_unlock_irqrestore(&listener->lock, flags);

	wake_up_all(&listener->wait);
	krdma_listener_schedule(listener);

	/* A callback that waits for itself would wait forever.  The listener ends nevertheless. */
	if (WARN_ON_ONCE(current_work() == &listener->ready_work))
		return;
	wait_for_completion(&listener->closed);
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_close, "KRDMA");

/*
 * The object
 */

static int krdma_listener_check(const struct krdma_listen_attr *attr)
{
	if (!attr->local)
		return -EINVAL;
	if (attr->local->sa_family != AF_INET && attr->local->sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (!krdma_keepalive_may_be(attr->keepalive_ms))
		return -EINVAL;
	if (attr->request_timeout_ms && attr->request_timeout_ms != KRDMA_REQUEST_TIMEOUT_NEVER &&
	    (attr->request_timeout_ms < KRDMA_REQUEST_TIMEOUT_MIN_MS ||
	     attr->request_timeout_ms > KRDMA_REQUEST_TIMEOUT_MAX_MS))
		return -EINVAL;
	return krdma_address_is_bound(attr->local) ? 0 : -EINVAL;
}

static unsigned long krdma_request_timeout(u32 timeout_ms)
{
	if (timeout_ms == KRDMA_REQUEST_TIMEOUT_NEVER)
		return 0;
	return max(msecs_to_jiffies(timeout_ms ?: KRDMA_REQUEST_TIMEOUT_MS), 1UL);
}

static struct krdma_listener *krdma_listener_alloc(struct krdma_session *session,
						   const struct krdma_listen_attr *attr)
{
	struct krdma_listener *listener;

	listener = krdma_object_count(KRDMA_OBJECT_LISTENER,
				      kzalloc_obj(*listener, GFP_KERNEL_ACCOUNT));
	if (!listener)
		return NULL;

	krdma_session_get(session);
	listener->session = session;
	listener->memcg = get_mem_cgroup_from_mm(current->mm);
	listener->ready = attr->ready;
	listener->notify = attr->notify;
	listener->context = attr->context;
	listener->v6only = attr->v6only;
	listener->lanes = attr->lanes;
	listener->keepalive_ms = attr->keepalive_ms;
	listener->request_timeout = krdma_request_timeout(attr->request_timeout_ms);
	listener->backlog = min_t(u32, attr->backlog ?: KRDMA_BACKLOG, S32_MAX);
	/* One reference for the consumer, one for the listener until its end. */
	refcount_set(&listener->refs, 2);
	spin_lock_init(&listener->lock);
	INIT_LIST_HEAD(&listener->requests);
	INIT_LIST_HEAD(&listener->lane_node);
	init_waitqueue_head(&listener->wait);
	mutex_init(&listener->cm_lock);
	memcpy(&listener->local, attr->local, rdma_addr_size(attr->local));
	INIT_WORK(&listener->work, krdma_listener_work);
	INIT_WORK(&listener->ready_work, krdma_listener_ready_work);
	INIT_DELAYED_WORK(&listener->expire_work, krdma_listener_expire_work);
	init_completion(&listener->closed);

	return listener;
}

/**
 * krdma_listen() - Listen for connection requests of peers
 * @session: session of the listener and of its connections
 * @attr: address and options; not used after the call
 *
 * @attr->ready may be called before this returns.
 *
 * Context: process context; may sleep.
 * Return: the listener, for krdma_listener_put(), or an ERR_PTR: -EINVAL or -EAFNOSUPPORT: @attr
 * is invalid; -EADDRNOTAVAIL: the address is not on an RDMA device, or the port is used by a
 * listener at all addresses; -EADDRINUSE: a listener or a connection at the same address has the
 * port; -EACCES: the port is privileged; with @attr->lanes one of these also for the port of
 * trunks; -EOPNOTSUPP: @attr->lanes in a session that memory reclaim waits for; -ENODEV: the
 * device is being removed; an errno of the charge, such as -EDQUOT: no port is available; -ENOMEM;
 * -EIO.
 */
struct krdma_listener *krdma_listen(struct krdma_session *session,
				    const struct krdma_listen_attr *attr)
{
	struct krdma_listener *listener;
	int ret;

	ret = krdma_listener_check(attr);
	if (ret)
		return ERR_PTR(ret);
	listener = krdma_listener_alloc(session, attr);
	if (!listener)
		return ERR_PTR(-ENOMEM);

	ret = krdma_port_charge(&listener->port, session);
	if (!ret) {
		mutex_lock(&listener->cm_lock);
		ret = krdma_listener_start(listener);
		mutex_unlock(&listener->cm_lock);
	}
	if (!ret && listener->lanes)
		ret = krdma_lane_hooks->listen(listener);
	if (ret) {
		krdma_listener_close(listener);
		krdma_listener_put(listener);
		return ERR_PTR(ret);
	}
	return listener;
}
EXPORT_SYMBOL_NS_GPL(krdma_listen, "KRDMA");

/**
 * krdma_listener_get() - Take a reference to a listener
 * @listener: the listener; the caller holds a reference
 *
 * Context: any.
 */
void krdma_listener_get(struct krdma_listener *listener)
{
	refcount_inc(&listener->refs);
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_get, "KRDMA");

/**
 * krdma_listener_put() - Drop a reference to a listener
 * @listener: the listener, or NULL
 *
 * The last reference frees the object, and does nothing else: call krdma_listener_close() first.
 *
 * Context: any but NMI.
 */
void krdma_listener_put(struct krdma_listener *listener)
{
	if (!listener || !refcount_dec_and_test(&listener->refs))
		return;

	krdma_device_put(listener->dev);
	krdma_session_put(listener->session);
	mem_cgroup_put(listener->memcg);
	kfree(krdma_object_uncount(KRDMA_OBJECT_LISTENER, listener));
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_put, "KRDMA");

/**
 * krdma_listener_context() - Get the consumer's context of a listener
 * @listener: the listener
 *
 * Context: any.
 * Return: the context of &struct krdma_listen_attr.
 */
void *krdma_listener_context(struct krdma_listener *listener)
{
	return listener->context;
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_context, "KRDMA");

/**
 * krdma_listener_address() - Get the address of a listener
 * @listener: the listener
 * @local: filled in with the address, and the assigned port if the consumer asked for any port
 *
 * Context: any.
 * Return: 0.
 */
int krdma_listener_address(struct krdma_listener *listener, struct sockaddr_storage *local)
{
	*local = listener->local;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_address, "KRDMA");

/**
 * krdma_listener_query() - Query the connection requests of a listener
 * @listener: the listener
 * @info: filled in
 *
 * Context: any but NMI.
 */
void krdma_listener_query(struct krdma_listener *listener, struct krdma_listener_info *info)
{
	struct krdma_conn *conn;
	unsigned long flags;

	memset(info, 0, sizeof(*info));

	spin_lock_irqsave(&listener->lock, flags);
	conn = list_first_entry_or_null(&listener->requests, struct krdma_conn, pending);
	if (conn)
		info->oldest_ms = jiffies_to_msecs(jiffies - conn->requested);
	info->waiting = listener->waiting;
	info->expired = listener->expired;
	spin_unlock_irqrestore(&listener->lock, flags);
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_query, "KRDMA");

/*
 * Taking connection requests
 */

/**
 * krdma_listener_pending() - Check whether a connection request waits
 * @listener: the listener
 *
 * Context: any but NMI.
 * Return: 1 if one waits, 0 if not; -ENODEV: the listener's device has been removed.
 */
int krdma_listener_pending(struct krdma_listener *listener)
{
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&listener->lock, flags);
	ret = !list_empty(&listener->requests);
	if (!ret && listener->dead)
		ret = -ENODEV;
	spin_unlock_irqrestore(&listener->lock, flags);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_pending, "KRDMA");

/* Returns the next request, NULL if there is none yet, or an ERR_PTR if there will be none. */
static struct krdma_conn *krdma_listener_look(struct krdma_listener *listener)
{
	struct krdma_conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&listener->lock, flags);
	if (listener->closing) {
		conn = ERR_PTR(-ESHUTDOWN);
	} else {
		conn = krdma_listener_take(listener);
		if (!conn && listener->dead)
			conn = ERR_PTR(-ENODEV);
	}
	spin_unlock_irqrestore(&listener->lock, flags);

	if (!IS_ERR_OR_NULL(conn))
		krdma_listener_uncharge(listener);
	return conn;
}

static bool krdma_listener_found(struct krdma_listener *listener, struct krdma_conn **conn)
{
	*conn = krdma_listener_look(listener);
	return *conn;
}

/**
 * krdma_listener_next() - Take the next connection request
 * @listener: the listener
 * @ops: callbacks to the consumer of the connection; must stay valid until krdma_conn_close() of
 *	the connection has returned.  NULL: no callbacks
 * @context: context of the consumer, see krdma_conn_context()
 * @timeout_ms: timeout in milliseconds; 0: do not wait; KRDMA_FOREVER_MS: no limit
 *
 * Requests come in the order in which they arrived, without those that the peer has given up.
 * Each one goes to one caller, which accepts, rejects or closes it.  However many the peer gives
 * up, a signal and the timeout end the call.
 *
 * Context: process context; sleeps, until a signal, unless @timeout_ms is 0.
 * Return: the connection, for krdma_conn_put(), or an ERR_PTR: -EAGAIN: there is none, and
 * @timeout_ms is 0; -ETIMEDOUT: the timeout has expired; -EINTR: a signal; -ESHUTDOWN: the
 * listener has been closed; -ENODEV: its device has been removed.
 */
struct krdma_conn *krdma_listener_next(struct krdma_listener *listener,
				       const struct krdma_conn_ops *ops, void *context,
				       u32 timeout_ms)
{
	long left = krdma_timeout_jiffies(timeout_ms);
	unsigned long end = jiffies + left;
	struct krdma_conn *conn;

	for (;;) {
		if (!krdma_listener_found(listener, &conn)) {
			if (!timeout_ms)
				return ERR_PTR(-EAGAIN);
			left = wait_event_interruptible_timeout(listener->wait,
								krdma_listener_found(listener,
										     &conn),
								left);
			if (!conn)
				return ERR_PTR(left ? -EINTR : -ETIMEDOUT);
		}
		if (IS_ERR(conn) || krdma_conn_give(conn, ops, context))
			return conn;
		/*
		 * The peer has given up.  It can ask and give up again for as long as it likes, and
		 * where a request waits nothing sleeps.
		 */
		krdma_conn_put(conn);
		cond_resched();
		if (signal_pending(current))
			return ERR_PTR(-EINTR);
		if (!timeout_ms || timeout_ms == KRDMA_FOREVER_MS)
			continue;
		left = end - jiffies;
		if (left <= 0)
			return ERR_PTR(-ETIMEDOUT);
	}
}
EXPORT_SYMBOL_NS_GPL(krdma_listener_next, "KRDMA");
