// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of the null device, between its own listeners and connectors.
 *
 * Everything that iw_cm is told comes from one worker, in order.  iw_cm stops the
 * kernel at an event that it does not expect in a connection's state, so here is
 * decided what may follow what.  What there is to be told has its place in the
 * endpoint: it must not be lost for want of memory.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ipv6.h>

#include "null.h"

/* How often an event is offered to iw_cm, which may have no memory for it. */
#define NULL_ATTEMPTS		1000

/**
 * enum null_cm_state - how far a connection is
 * @NULL_CM_CONNECTING: the active side waits for an answer
 * @NULL_CM_REQUESTED: the passive side was asked
 * @NULL_CM_CONNECTED: both stand
 * @NULL_CM_CLOSED: it is over
 */
enum null_cm_state {
	NULL_CM_CONNECTING,
	NULL_CM_REQUESTED,
	NULL_CM_CONNECTED,
	NULL_CM_CLOSED,
};

/**
 * struct null_listener - who waits for connections
 * @refs: of itself until it is closed, of endpoints and of work
 * @entry: in &struct null_device.listeners
 * @null: the device
 * @cm_id: of iw_cm; it is there until @closed
 * @handler: of the consumer
 * @closed: it listens no more
 * @work: the end of requests that nobody will have heard
 */
struct null_listener {
	struct kref refs;
	struct list_head entry;
	struct null_device *null;
	struct iw_cm_id *cm_id;
	iw_cm_handler handler;
	bool closed;
	struct work_struct work;
};

/**
 * struct null_endpoint - one side of a connection
 * @refs: of itself until it is over, of its peer and of work
 * @entry: in &struct null_device.endpoints until it is over
 * @null: the device
 * @state: how far it is
 * @heard: the listener's consumer has heard of it
 * @abandoned: its peer gave up before it was connected
 * @ending: @end_work is on its way
 * @cm_id: of iw_cm, with a reference from connecting or accepting to the last event
 * @qp: the queue pair, likewise
 * @peer: the other side
 * @listener: who is asked
 * @local: the address on this side
 * @remote: the one on the other
 * @ird: reads that it can serve
 * @ord: reads that it can have under way
 * @ask_work: tells the listener
 * @tell_work: tells that the connection stands, or why it does not
 * @end_work: tells of its end
 * @status: with @tell_work: 0, or why the connection does not stand
 * @length: bytes of @data
 * @data: the private data of the other side
 */
struct null_endpoint {
	struct kref refs;
	struct list_head entry;
	struct null_device *null;
	enum null_cm_state state;
	bool heard;
	bool abandoned;
	bool ending;
	struct iw_cm_id *cm_id;
	struct null_qp *qp;
	struct null_endpoint *peer;
	struct null_listener *listener;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	u8 ird;
	u8 ord;
	struct work_struct ask_work;
	struct work_struct tell_work;
	struct work_struct end_work;
	int status;
	u8 length;
	u8 data[NULL_PRIVATE_DATA];
};

static void null_cm_ask_work(struct work_struct *work);
static void null_cm_tell_work(struct work_struct *work);
static void null_cm_end_work(struct work_struct *work);

/*
 * Endpoints
 */

static void null_listener_release(struct kref *refs)
{
	kfree(container_of(refs, struct null_listener, refs));
}

static void null_endpoint_release(struct kref *refs)
{
	struct null_endpoint *endpoint = container_of(refs, struct null_endpoint, refs);

	if (endpoint->listener)
		kref_put(&endpoint->listener->refs, null_listener_release);
	kfree(endpoint);
}

static void null_cm_put(struct null_endpoint *endpoint)
{
	kref_put(&endpoint->refs, null_endpoint_release);
}

static struct null_endpoint *null_endpoint_new(struct null_device *null, enum null_cm_state state)
{
	struct null_endpoint *endpoint = kzalloc_obj(*endpoint, GFP_ATOMIC);

	if (!endpoint)
		return NULL;
	kref_init(&endpoint->refs);
	INIT_WORK(&endpoint->ask_work, null_cm_ask_work);
	INIT_WORK(&endpoint->tell_work, null_cm_tell_work);
	INIT_WORK(&endpoint->end_work, null_cm_end_work);
	endpoint->null = null;
	endpoint->state = state;
	list_add_tail(&endpoint->entry, &null->endpoints);
	return endpoint;
}

static void null_cm_attach(struct null_endpoint *endpoint, struct iw_cm_id *cm_id,
			   struct null_qp *qp, const struct iw_cm_conn_param *param)
{
	cm_id->add_ref(cm_id);
	endpoint->cm_id = cm_id;
	null_qp_get(qp);
	endpoint->qp = qp;
	qp->endpoint = endpoint;
	endpoint->ird = min_t(u32, param->ird, U8_MAX);
	endpoint->ord = min_t(u32, param->ord, U8_MAX);
}

/* What the other side says with its request, or with its answer. */
static void null_cm_say(struct null_endpoint *to, const void *data, u8 length)
{
	to->length = length;
	memcpy(to->data, data, length);
}

/* Each work of an endpoint comes once, and keeps it. */
static void null_cm_queue(struct null_endpoint *endpoint, struct work_struct *work)
{
	kref_get(&endpoint->refs);
	WARN_ON_ONCE(!queue_work(endpoint->null->cm_work, work));
}

/*
 * The endpoint is over.  Its own reference goes to the caller, who gives it back when
 * iw_cm has heard.
 */
static void null_cm_finish(struct null_endpoint *endpoint)
{
	struct null_endpoint *peer = endpoint->peer;
	struct null_qp *qp = endpoint->qp;

	lockdep_assert_held(&endpoint->null->lock);
	endpoint->state = NULL_CM_CLOSED;
	list_del_init(&endpoint->entry);
	if (qp) {
		qp->endpoint = NULL;
		if (qp->peer)
			qp->peer->peer = NULL;
		qp->peer = NULL;
	}
	if (!peer)
		return;
	endpoint->peer = NULL;
	peer->peer = NULL;
	null_cm_put(peer);
	null_cm_put(endpoint);
}

/* The active side has its answer, and it is no. */
static void null_cm_refuse(struct null_endpoint *active, int status)
{
	null_cm_finish(active);
	active->status = status;
	null_cm_queue(active, &active->tell_work);
}

/* The passive side is not to be, and the other one hears why. */
static void null_cm_turn_down(struct null_endpoint *passive, int status)
{
	struct null_endpoint *active = passive->peer;

	null_cm_finish(passive);
	if (active)
		null_cm_refuse(active, status);
	null_cm_put(passive);
}

/* A connection ends, soon. */
static void null_cm_end(struct null_endpoint *endpoint)
{
	if (!endpoint->ending)
		null_cm_queue(endpoint, &endpoint->end_work);
	endpoint->ending = true;
}

/* A queue pair is not what it was: error, end of sending, or about to go. */
void null_cm_qp_left(struct null_qp *qp)
{
	struct null_endpoint *endpoint = qp->endpoint;

	if (!endpoint)
		return;
	if (endpoint->state == NULL_CM_CONNECTED) {
		null_cm_end(endpoint);
	} else if (endpoint->state == NULL_CM_CONNECTING) {
		if (endpoint->peer)
			endpoint->peer->abandoned = true;
		null_cm_refuse(endpoint, -ECONNRESET);
	}
}

/*
 * Telling iw_cm
 */

/* No memory at iw_cm is a matter of time, except for a listener's backlog. */
static void null_cm_give(struct null_endpoint *endpoint, enum iw_cm_event_type type, int status)
{
	struct iw_cm_event event = {
		.event = type,
		.status = status,
		.local_addr = endpoint->local,
		.remote_addr = endpoint->remote,
		.ird = endpoint->ird,
		.ord = endpoint->ord,
	};
	int attempts = 0;

	if (type == IW_CM_EVENT_CONNECT_REPLY && endpoint->length) {
		event.private_data = endpoint->data;
		event.private_data_len = endpoint->length;
	}
	while (endpoint->cm_id->event_handler(endpoint->cm_id, &event) == -ENOMEM &&
	       attempts++ < NULL_ATTEMPTS)
		usleep_range(1000, 2000);
	WARN_ON_ONCE(attempts > NULL_ATTEMPTS);
}

/* There is nothing more to be told: iw_cm and the consumer can have their own. */
static void null_cm_detach(struct null_endpoint *endpoint)
{
	endpoint->cm_id->rem_ref(endpoint->cm_id);
	null_qp_put(endpoint->qp);
	null_cm_put(endpoint);
}

static void null_cm_tell_work(struct work_struct *work)
{
	struct null_endpoint *endpoint = container_of(work, struct null_endpoint, tell_work);

	null_cm_give(endpoint, endpoint->listener ? IW_CM_EVENT_ESTABLISHED :
						    IW_CM_EVENT_CONNECT_REPLY, endpoint->status);
	if (endpoint->status)
		null_cm_detach(endpoint);
	null_cm_put(endpoint);
}

static void null_cm_end_work(struct work_struct *work)
{
	struct null_endpoint *endpoint = container_of(work, struct null_endpoint, end_work);
	struct null_device *null = endpoint->null;
	struct null_endpoint *peer;

	spin_lock_irq(&null->lock);
	peer = endpoint->peer;
	null_cm_finish(endpoint);
	if (endpoint->qp->state == IB_QPS_RTS || endpoint->qp->state == IB_QPS_SQD)
		null_qp_to_error(endpoint->qp);
	if (peer)
		null_cm_end(peer);
	spin_unlock_irq(&null->lock);

	null_cm_give(endpoint, IW_CM_EVENT_DISCONNECT, 0);
	null_cm_give(endpoint, IW_CM_EVENT_CLOSE, 0);
	null_cm_detach(endpoint);
	null_cm_put(endpoint);
}

/* The listener's consumer is asked; its handler is called between iw_cm's and its own. */
static void null_cm_ask_work(struct work_struct *work)
{
	struct null_endpoint *endpoint = container_of(work, struct null_endpoint, ask_work);
	struct null_device *null = endpoint->null;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = endpoint->local,
		.remote_addr = endpoint->remote,
		.provider_data = endpoint,
		.private_data = endpoint->length ? endpoint->data : NULL,
		.private_data_len = endpoint->length,
		.ird = endpoint->ird,
		.ord = endpoint->ord,
	};
	struct iw_cm_id *cm_id = NULL;

	spin_lock_irq(&null->lock);
	if (!endpoint->listener->closed) {
		cm_id = endpoint->listener->cm_id;
		cm_id->add_ref(cm_id);
	}
	spin_unlock_irq(&null->lock);

	if (!cm_id || cm_id->event_handler(cm_id, &event)) {
		spin_lock_irq(&null->lock);
		null_cm_turn_down(endpoint, -ECONNRESET);
		spin_unlock_irq(&null->lock);
	}
	if (cm_id)
		cm_id->rem_ref(cm_id);
	null_cm_put(endpoint);
}

/*
 * Only now is it sure that iw_accept or iw_reject will be called.  The child has its
 * own handler afterwards; it got this one from the listener.
 */
static int null_cm_heard(struct iw_cm_id *child, struct iw_cm_event *event)
{
	struct null_endpoint *endpoint = event->provider_data;

	spin_lock_irq(&endpoint->null->lock);
	endpoint->heard = true;
	spin_unlock_irq(&endpoint->null->lock);

	return endpoint->listener->handler(child, event);
}

/*
 * How one begins
 */

/* In the same place for both families. */
static __be16 null_port(const struct sockaddr_storage *address)
{
	return ((const struct sockaddr_in *)address)->sin_port;
}

static bool null_listens_at(const struct sockaddr_storage *listener,
			    const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *listener6 = (const struct sockaddr_in6 *)listener;
	const struct sockaddr_in *listener4 = (const struct sockaddr_in *)listener;

	if (null_port(listener) != null_port(address))
		return false;
	if (listener->ss_family == AF_INET6 && ipv6_addr_any(&listener6->sin6_addr))
		return true;
	if (listener->ss_family != address->ss_family)
		return false;
	if (listener->ss_family == AF_INET6)
		return ipv6_addr_equal(&listener6->sin6_addr,
				       &((const struct sockaddr_in6 *)address)->sin6_addr);
	return !listener4->sin_addr.s_addr ||
	       listener4->sin_addr.s_addr == ((const struct sockaddr_in *)address)->sin_addr.s_addr;
}

static struct null_listener *null_find_listener(struct null_device *null,
						const struct sockaddr_storage *address)
{
	struct null_listener *listener;

	list_for_each_entry(listener, &null->listeners, entry)
		if (null_listens_at(&listener->cm_id->local_addr, address))
			return listener;
	return NULL;
}

/* A new endpoint, which asks a listener for the active one; false without memory. */
static bool null_cm_ask(struct null_listener *listener, struct null_endpoint *active,
			const struct iw_cm_conn_param *param)
{
	struct null_endpoint *passive = null_endpoint_new(listener->null, NULL_CM_REQUESTED);

	if (!passive)
		return false;
	kref_get(&listener->refs);
	passive->listener = listener;
	passive->local = active->remote;
	passive->remote = active->local;
	passive->ird = active->ord;
	passive->ord = active->ird;
	null_cm_say(passive, param->private_data, param->private_data_len);
	kref_get(&active->refs);
	passive->peer = active;
	kref_get(&passive->refs);
	active->peer = passive;
	null_cm_queue(passive, &passive->ask_work);
	return true;
}

/* One side stands; its queue pair may have failed meanwhile. */
static void null_cm_stand(struct null_endpoint *endpoint)
{
	struct null_qp *qp = endpoint->qp;

	endpoint->state = NULL_CM_CONNECTED;
	if (qp->state == IB_QPS_INIT || qp->state == IB_QPS_RTR)
		qp->state = IB_QPS_RTS;
	if (endpoint->peer)
		qp->peer = endpoint->peer->qp;
	null_cm_queue(endpoint, &endpoint->tell_work);
	if (endpoint->abandoned || qp->state != IB_QPS_RTS)
		null_cm_end(endpoint);
}

/* With the lock held; both get what they asked for by number, or nothing happens. */
static struct null_qp *null_qp_find(struct null_device *null, const struct iw_cm_conn_param *param)
{
	struct null_qp *qp = xa_load(&null->qps, param->qpn);

	return qp && !qp->endpoint && param->private_data_len <= NULL_PRIVATE_DATA ? qp : NULL;
}

static int null_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct null_device *null = to_null(cm_id->device);
	struct null_endpoint *endpoint;
	struct null_listener *listener;
	struct null_qp *qp;
	int ret = -EINVAL;

	spin_lock_irq(&null->lock);
	qp = null_qp_find(null, param);
	if (!qp)
		goto out_unlock;
	ret = -ENOMEM;
	endpoint = null_endpoint_new(null, NULL_CM_CONNECTING);
	if (!endpoint)
		goto out_unlock;
	ret = 0;
	null_cm_attach(endpoint, cm_id, qp, param);
	endpoint->local = cm_id->m_local_addr;
	endpoint->remote = cm_id->m_remote_addr;
	listener = null_find_listener(null, &endpoint->remote);
	if (!listener || !null_cm_ask(listener, endpoint, param))
		null_cm_refuse(endpoint, -ECONNREFUSED);
out_unlock:
	spin_unlock_irq(&null->lock);
	return ret;
}

static int null_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct null_device *null = to_null(cm_id->device);
	struct null_endpoint *endpoint = cm_id->provider_data;
	struct null_qp *qp;
	int ret = 0;

	spin_lock_irq(&null->lock);
	qp = null_qp_find(null, param);
	if (!qp) {
		/* iw_cm does not call again. */
		null_cm_turn_down(endpoint, -ECONNRESET);
		ret = -EINVAL;
		goto out_unlock;
	}
	null_cm_attach(endpoint, cm_id, qp, param);
	null_cm_stand(endpoint);
	if (endpoint->peer) {
		null_cm_say(endpoint->peer, param->private_data, param->private_data_len);
		null_cm_stand(endpoint->peer);
	}
out_unlock:
	spin_unlock_irq(&null->lock);
	return ret;
}

static int null_reject(struct iw_cm_id *cm_id, const void *data, u8 length)
{
	struct null_endpoint *endpoint = cm_id->provider_data;
	struct null_device *null = endpoint->null;

	spin_lock_irq(&null->lock);
	if (endpoint->peer)
		null_cm_say(endpoint->peer, data, length);
	null_cm_turn_down(endpoint, -ECONNREFUSED);
	spin_unlock_irq(&null->lock);
	return 0;
}

/*
 * Listeners
 */

static int null_no_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	return 0;
}

/* Whatever iw_cm was told before has come to its end: its own flush is private. */
static void null_flush_iw_cm(struct null_device *null)
{
	struct iw_cm_id *cm_id;

	cm_id = iw_create_cm_id(&null->ib, null_no_handler, NULL);
	if (WARN_ON_ONCE(IS_ERR(cm_id)))
		return;
	/* Destroying an id that is in use flushes the workqueue. */
	cm_id->add_ref(cm_id);
	iw_destroy_cm_id(cm_id);
	cm_id->rem_ref(cm_id);
}

/* A request that its listener has not heard yet. */
static struct null_endpoint *null_cm_unheard(struct null_listener *listener)
{
	struct null_endpoint *endpoint;

	list_for_each_entry(endpoint, &listener->null->endpoints, entry)
		if (endpoint->state == NULL_CM_REQUESTED && endpoint->listener == listener &&
		    !endpoint->heard)
			return endpoint;
	return NULL;
}

/*
 * iw_cm drops the requests that a listener has not heard when it goes, and says so to
 * nobody, but those who connect must be told.
 */
static void null_listener_work(struct work_struct *work)
{
	struct null_listener *listener = container_of(work, struct null_listener, work);
	struct null_device *null = listener->null;
	struct null_endpoint *endpoint;
	bool unheard;

	spin_lock_irq(&null->lock);
	unheard = null_cm_unheard(listener);
	spin_unlock_irq(&null->lock);
	if (unheard)
		null_flush_iw_cm(null);

	spin_lock_irq(&null->lock);
	while ((endpoint = null_cm_unheard(listener)))
		null_cm_turn_down(endpoint, -ECONNRESET);
	spin_unlock_irq(&null->lock);
	kref_put(&listener->refs, null_listener_release);
}

static int null_create_listen(struct iw_cm_id *cm_id, int backlog)
{
	struct null_device *null = to_null(cm_id->device);
	struct null_listener *listener;

	listener = kzalloc_obj(*listener, GFP_KERNEL);
	if (!listener)
		return -ENOMEM;

	kref_init(&listener->refs);
	INIT_WORK(&listener->work, null_listener_work);
	listener->null = null;
	cm_id->add_ref(cm_id);
	listener->cm_id = cm_id;
	listener->handler = cm_id->cm_handler;
	cm_id->cm_handler = null_cm_heard;
	cm_id->provider_data = listener;

	spin_lock_irq(&null->lock);
	list_add_tail(&listener->entry, &null->listeners);
	spin_unlock_irq(&null->lock);
	return 0;
}

static int null_destroy_listen(struct iw_cm_id *cm_id)
{
	struct null_listener *listener = cm_id->provider_data;
	struct null_device *null = listener->null;

	spin_lock_irq(&null->lock);
	listener->closed = true;
	list_del(&listener->entry);
	spin_unlock_irq(&null->lock);

	cm_id->rem_ref(cm_id);
	queue_work(null->cm_work, &listener->work);
	return 0;
}

static void null_add_ref(struct ib_qp *qp)
{
	null_qp_get(to_null_qp(qp));
}

static void null_rem_ref(struct ib_qp *qp)
{
	null_qp_put(to_null_qp(qp));
}

static struct ib_qp *null_get_qp(struct ib_device *ib, int number)
{
	struct null_qp *qp = xa_load(&to_null(ib)->qps, number);

	return qp ? &qp->ib : NULL;
}

const struct ib_device_ops null_cm_ops = {
	.iw_connect = null_connect,
	.iw_accept = null_accept,
	.iw_reject = null_reject,
	.iw_create_listen = null_create_listen,
	.iw_destroy_listen = null_destroy_listen,
	.iw_add_ref = null_add_ref,
	.iw_rem_ref = null_rem_ref,
	.iw_get_qp = null_get_qp,
};
