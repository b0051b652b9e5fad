// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of the fake device.
 *
 * The worker of the endpoint's device reports all events to iw_cm, in order.  iw_cm has a BUG_ON
 * for an event that it does not expect in a connection's state, so this file decides which event
 * may follow which.
 */
#include <linux/delay.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <net/ipv6.h>

#include "fake_private.h"

/* Number of attempts to deliver an event to iw_cm, which may be out of memory. */
#define FAKE_ATTEMPTS		1000

/**
 * struct fake_cm_work - an event for iw_cm
 * @work: runs on the device's worker
 * @endpoint: the endpoint of the event
 * @event: the event
 * @last: no event follows this one
 * @data: private data of the event
 */
struct fake_cm_work {
	struct work_struct work;
	struct fake_endpoint *endpoint;
	struct iw_cm_event event;
	bool last;
	u8 data[FAKE_PRIVATE_DATA];
};

static LIST_HEAD(fake_listeners);
DECLARE_WAIT_QUEUE_HEAD(fake_cm_changed);

/*
 * Endpoints
 */

static void fake_listener_release(struct kref *refs)
{
	kfree(container_of(refs, struct fake_listener, refs));
}

static void fake_endpoint_release(struct kref *refs)
{
	struct fake_endpoint *endpoint = container_of(refs, struct fake_endpoint, refs);

	if (endpoint->listener)
		kref_put(&endpoint->listener->refs, fake_listener_release);
	kfree(endpoint);
}

void fake_cm_put(struct fake_endpoint *endpoint)
{
	kref_put(&endpoint->refs, fake_endpoint_release);
}

enum fake_cm_state fake_cm_state_of(struct fake_endpoint *endpoint)
{
	unsigned long flags = fake_begin();
	enum fake_cm_state state = endpoint->state;

	fake_end(flags);
	return state;
}

/* Sets which allocation of the calling thread fails, on kernels that can do that. */
static unsigned int fake_exchange_fail_nth(unsigned int nth)
{
#ifdef CONFIG_FAULT_INJECTION
	swap(current->fail_nth, nth);
	return nth;
#else
	return 0;
#endif
}

/*
 * Allocations of the fake for events must not fail: a test that lets allocations of the calling
 * thread fail means those of the code under test.
 */
#define fake_spared(allocation) ({					\
	unsigned int spared_nth = fake_exchange_fail_nth(0);		\
	typeof(allocation) spared = (allocation);			\
									\
	fake_exchange_fail_nth(spared_nth);				\
	spared;								\
})

static struct fake_endpoint *fake_endpoint_new(struct fake_device *fake, enum fake_cm_state state)
{
	struct fake_endpoint *endpoint;

	endpoint = kzalloc_obj(*endpoint, GFP_ATOMIC);
	if (!endpoint)
		return NULL;
	kref_init(&endpoint->refs);
	endpoint->fake = fake;
	endpoint->state = state;
	list_add_tail(&endpoint->entry, &fake->endpoints);
	return endpoint;
}

static void fake_cm_set_state(struct fake_endpoint *endpoint, enum fake_cm_state state)
{
	fake_assert_locked();
	endpoint->state = state;
	wake_up_all(&fake_cm_changed);
}

static void fake_cm_attach(struct fake_endpoint *endpoint, struct iw_cm_id *cm_id,
			   struct fake_qp *qp)
{
	cm_id->add_ref(cm_id);
	endpoint->cm_id = cm_id;
	fake_qp_get(qp);
	endpoint->qp = qp;
	qp->endpoint = endpoint;
}

static int fake_cm_set_param(struct fake_endpoint *endpoint, const struct iw_cm_conn_param *param)
{
	if (param->private_data_len > FAKE_PRIVATE_DATA)
		return -EINVAL;
	endpoint->ird = min_t(u32, param->ird, U8_MAX);
	endpoint->ord = min_t(u32, param->ord, U8_MAX);
	endpoint->length = param->private_data_len;
	memcpy(endpoint->data, param->private_data, param->private_data_len);
	return 0;
}

/*
 * The endpoint ends.  The caller gets the endpoint's own reference, and puts it when iw_cm has the
 * event.
 */
static void fake_cm_finish(struct fake_endpoint *endpoint, enum fake_cm_state state)
{
	struct fake_endpoint *peer = endpoint->peer;

	fake_cm_set_state(endpoint, state);
	list_del_init(&endpoint->entry);
	if (endpoint->qp) {
		endpoint->qp->endpoint = NULL;
		if (endpoint->qp->peer)
			endpoint->qp->peer->peer = NULL;
		endpoint->qp->peer = NULL;
	}
	if (!peer)
		return;
	endpoint->peer = NULL;
	peer->peer = NULL;
	fake_cm_put(peer);
	fake_cm_put(endpoint);
}

/*
 * Events to iw_cm
 */

/* If iw_cm is out of memory, a later attempt succeeds, unless a listener's backlog is full. */
static void fake_cm_give(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	int attempts = 0;

	while (cm_id->event_handler(cm_id, event) == -ENOMEM && attempts++ < FAKE_ATTEMPTS)
		usleep_range(1000, 2000);
	WARN_ON_ONCE(attempts > FAKE_ATTEMPTS);
}

/* No event follows: drop the references of iw_cm's id and of the consumer's QP. */
static void fake_cm_detach(struct fake_endpoint *endpoint)
{
	endpoint->cm_id->rem_ref(endpoint->cm_id);
	fake_qp_put(endpoint->qp);
	fake_cm_put(endpoint);
}

static void fake_cm_tell_work(struct work_struct *ws)
{
	struct fake_cm_work *work = container_of(ws, struct fake_cm_work, work);
	struct fake_endpoint *endpoint = work->endpoint;

	fake_cm_give(endpoint->cm_id, &work->event);
	if (work->last)
		fake_cm_detach(endpoint);
	fake_cm_put(endpoint);
	kfree(work);
}

/* Queues an event for iw_cm, with the private data of the other side, if any. */
void fake_cm_tell(struct fake_endpoint *endpoint, enum iw_cm_event_type type, int status,
		  const void *data, u8 length, bool last)
{
	struct fake_cm_work *work;

	fake_assert_locked();
	work = fake_spared(kzalloc_obj(*work, GFP_ATOMIC));
	if (WARN_ON_ONCE(!work))
		return;
	INIT_WORK(&work->work, fake_cm_tell_work);
	kref_get(&endpoint->refs);
	work->endpoint = endpoint;
	work->last = last;
	memcpy(work->data, data, length);
	work->event = (struct iw_cm_event) {
		.event = type,
		.status = status,
		.local_addr = endpoint->local,
		.remote_addr = endpoint->remote,
		.private_data = length ? work->data : NULL,
		.private_data_len = length,
		.ird = endpoint->ird,
		.ord = endpoint->ord,
	};
	queue_work(endpoint->fake->cm_work, &work->work);
}

/*
 * How a connection ends
 */

/* The active side gets its reply: a rejection. */
static void fake_cm_refuse(struct fake_endpoint *active, int status, const void *data, u8 length)
{
	fake_cm_finish(active, FAKE_CM_CLOSED);
	fake_cm_tell(active, IW_CM_EVENT_CONNECT_REPLY, status, data, length, true);
}

/* The passive side ends before it is accepted, and the active side gets the reason. */
static void fake_cm_turn_down(struct fake_endpoint *passive, enum fake_cm_state state, int status,
			      const void *data, u8 length)
{
	struct fake_endpoint *active = passive->peer;

	fake_cm_finish(passive, state);
	if (active)
		fake_cm_refuse(active, status, data, length);
	fake_cm_put(passive);
}

/* The active side gets a rejection, and the passive one learns that its peer is gone. */
void fake_cm_abandon(struct fake_endpoint *active, int status, const void *data, u8 length)
{
	if (active->peer)
		active->peer->abandoned = true;
	fake_cm_refuse(active, status, data, length);
}

static void fake_cm_end_work(struct work_struct *ws);

/* Ends a connection, asynchronously. */
void fake_cm_end(struct fake_endpoint *endpoint, bool disconnect)
{
	struct fake_cm_work *work;

	fake_assert_locked();
	work = fake_spared(kzalloc_obj(*work, GFP_ATOMIC));
	if (WARN_ON_ONCE(!work))
		return;
	INIT_WORK(&work->work, fake_cm_end_work);
	kref_get(&endpoint->refs);
	work->endpoint = endpoint;
	work->event.event = disconnect ? IW_CM_EVENT_DISCONNECT : IW_CM_EVENT_CLOSE;
	queue_work(endpoint->fake->cm_work, &work->work);
}

static void fake_cm_end_work(struct work_struct *ws)
{
	struct fake_cm_work *work = container_of(ws, struct fake_cm_work, work);
	bool disconnect = work->event.event == IW_CM_EVENT_DISCONNECT;
	struct fake_endpoint *endpoint = work->endpoint;
	struct fake_qp *qp = endpoint->qp;
	struct fake_endpoint *peer;
	unsigned long flags;
	bool ends;

	flags = fake_begin();
	ends = endpoint->state == FAKE_CM_CONNECTED;
	if (ends) {
		peer = endpoint->peer;
		fake_cm_finish(endpoint, FAKE_CM_CLOSED);
		if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD)
			fake_qp_to_error(qp);
		if (peer && !(READ_ONCE(peer->fake->cm_manual) & FAKE_MANUAL_CLOSE))
			fake_cm_end(peer, true);
	}
	fake_end(flags);

	if (ends) {
		if (disconnect)
			fake_cm_give(endpoint->cm_id, &work->event);
		work->event.event = IW_CM_EVENT_CLOSE;
		fake_cm_give(endpoint->cm_id, &work->event);
		fake_cm_detach(endpoint);
	}
	fake_cm_put(endpoint);
	kfree(work);
}

/* A QP has left RTS: for error or SQD, or it is about to be destroyed. */
void fake_cm_qp_left(struct fake_qp *qp)
{
	struct fake_endpoint *endpoint = qp->endpoint;

	fake_assert_locked();
	if (!endpoint)
		return;
	if (endpoint->state == FAKE_CM_CONNECTED &&
	    !(READ_ONCE(endpoint->fake->cm_manual) & FAKE_MANUAL_CLOSE))
		fake_cm_end(endpoint, true);
	else if (endpoint->state == FAKE_CM_CONNECTING &&
		 !(READ_ONCE(endpoint->fake->cm_manual) & FAKE_MANUAL_CONNECT))
		fake_cm_abandon(endpoint, -ECONNRESET, NULL, 0);
}

/*
 * How a connection begins
 */

static bool fake_same_port(const struct sockaddr_storage *one, const struct sockaddr_storage *other)
{
	/* Both families have the port in the same place. */
	return ((const struct sockaddr_in *)one)->sin_port ==
	       ((const struct sockaddr_in *)other)->sin_port;
}

static bool fake_listens_at(const struct sockaddr_storage *listener,
			    const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *listener6 = (const struct sockaddr_in6 *)listener;
	const struct sockaddr_in *listener4 = (const struct sockaddr_in *)listener;

	if (!fake_same_port(listener, address))
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

/* Finds the listener for an address: on this device, or with @others on any device. */
struct fake_listener *fake_find_listener(struct fake_device *fake,
					 const struct sockaddr_storage *address, bool others)
{
	struct fake_listener *listener, *found = NULL;

	fake_assert_locked();
	list_for_each_entry(listener, &fake_listeners, entry) {
		if (!fake_listens_at(&listener->cm_id->local_addr, address))
			continue;
		if (listener->fake == fake)
			return listener;
		if (others && !found)
			found = listener;
	}
	return found;
}

/*
 * Only now is it certain that iw_accept or iw_reject will be called.  The child has its own handler
 * afterwards; it got this one from the listener.
 */
static int fake_cm_heard(struct iw_cm_id *child, struct iw_cm_event *event)
{
	struct fake_endpoint *endpoint = event->provider_data;
	struct fake_device *fake = endpoint->fake;
	unsigned long flags;
	int ret;

	flags = fake_begin();
	endpoint->asked = true;
	fake_end(flags);

	fake_exchange_fail_nth(fake->starve_request);
	ret = endpoint->listener->handler(child, event);
	fake->starve_request = fake_exchange_fail_nth(0);

	return ret;
}

static void fake_cm_ask_work(struct work_struct *ws)
{
	struct fake_cm_work *work = container_of(ws, struct fake_cm_work, work);
	struct fake_endpoint *endpoint = work->endpoint;
	struct iw_cm_id *cm_id = NULL;
	unsigned long flags;

	flags = fake_begin();
	if (!endpoint->listener->closed) {
		cm_id = endpoint->listener->cm_id;
		cm_id->add_ref(cm_id);
	}
	fake_end(flags);

	if (!cm_id || cm_id->event_handler(cm_id, &work->event)) {
		flags = fake_begin();
		fake_cm_turn_down(endpoint, FAKE_CM_CLOSED, -ECONNRESET, NULL, 0);
		fake_end(flags);
	}
	if (cm_id)
		cm_id->rem_ref(cm_id);
	fake_cm_put(endpoint);
	kfree(work);
}

/* Creates an endpoint that sends a request to a listener.  Returns NULL without memory. */
struct fake_endpoint *fake_cm_ask(struct fake_listener *listener,
				  const struct fake_endpoint *from)
{
	struct fake_endpoint *endpoint;
	struct fake_cm_work *work;

	work = fake_spared(kzalloc_obj(*work, GFP_ATOMIC));
	endpoint = work ? fake_spared(fake_endpoint_new(listener->fake, FAKE_CM_REQUESTED)) : NULL;
	if (!endpoint) {
		kfree(work);
		return NULL;
	}
	endpoint->passive = true;
	kref_get(&listener->refs);
	endpoint->listener = listener;
	endpoint->local = from->remote;
	endpoint->remote = from->local;

	INIT_WORK(&work->work, fake_cm_ask_work);
	kref_get(&endpoint->refs);
	work->endpoint = endpoint;
	memcpy(work->data, from->data, from->length);
	work->event = (struct iw_cm_event) {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = endpoint->local,
		.remote_addr = endpoint->remote,
		.provider_data = endpoint,
		.private_data = from->length ? work->data : NULL,
		.private_data_len = from->length,
		.ird = from->ord,
		.ord = from->ird,
	};
	queue_work(listener->fake->cm_work, &work->work);
	wake_up_all(&fake_cm_changed);
	return endpoint;
}

/* Looks for a listener. */
void fake_cm_seek(struct fake_endpoint *active)
{
	struct fake_listener *listener;
	struct fake_endpoint *passive;

	listener = fake_find_listener(active->fake, &active->remote, true);
	passive = listener ? fake_cm_ask(listener, active) : NULL;
	if (!passive) {
		fake_cm_refuse(active, -ECONNREFUSED, NULL, 0);
		return;
	}
	kref_get(&active->refs);
	passive->peer = active;
	kref_get(&passive->refs);
	active->peer = passive;
}

/* One side is established.  Its QP may have failed meanwhile. */
void fake_cm_stand(struct fake_endpoint *endpoint)
{
	struct fake_qp *qp = endpoint->qp;

	fake_cm_set_state(endpoint, FAKE_CM_CONNECTED);
	if (qp->state == IB_QPS_INIT || qp->state == IB_QPS_RTR)
		qp->state = IB_QPS_RTS;
	if (endpoint->peer)
		qp->peer = endpoint->peer->qp;
}

static void fake_cm_check(struct fake_endpoint *endpoint)
{
	if (endpoint->qp->state != IB_QPS_RTS)
		fake_cm_qp_left(endpoint->qp);
}

/* Both sides are established. */
void fake_cm_link(struct fake_endpoint *passive)
{
	struct fake_endpoint *active = passive->peer;

	fake_cm_stand(passive);
	fake_cm_tell(passive, IW_CM_EVENT_ESTABLISHED, 0, NULL, 0, false);
	if (active) {
		fake_cm_stand(active);
		fake_cm_tell(active, IW_CM_EVENT_CONNECT_REPLY, 0, passive->data, passive->length,
			     false);
		fake_cm_check(active);
	}
	if (passive->abandoned)
		fake_cm_end(passive, true);
	else
		fake_cm_check(passive);
}

/*
 * Operations that iw_cm calls
 */

static int fake_iw_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct fake_device *fake = to_fake(cm_id->device);
	struct fake_endpoint *endpoint;
	struct fake_qp *qp;
	unsigned long flags;
	int ret;

	ret = fake_device_follow_script(fake, FAKE_IW_CONNECT);
	if (ret)
		return ret;

	flags = fake_begin();
	ret = -EINVAL;
	qp = fake_qp_find(fake, param->qpn);
	if (!qp || qp->endpoint || param->private_data_len > FAKE_PRIVATE_DATA)
		goto out;
	ret = -ENOMEM;
	endpoint = fake_endpoint_new(fake, FAKE_CM_CONNECTING);
	if (!endpoint)
		goto out;
	ret = 0;
	fake_cm_set_param(endpoint, param);
	fake_cm_attach(endpoint, cm_id, qp);
	endpoint->local = cm_id->m_local_addr;
	endpoint->remote = cm_id->m_remote_addr;
	wake_up_all(&fake_cm_changed);
	if (!(READ_ONCE(fake->cm_manual) & FAKE_MANUAL_CONNECT))
		fake_cm_seek(endpoint);
out:
	fake_end(flags);
	return ret;
}

static int fake_iw_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	struct fake_device *fake = to_fake(cm_id->device);
	struct fake_endpoint *endpoint = cm_id->provider_data;
	struct fake_qp *qp;
	unsigned long flags;
	int ret;

	ret = fake_device_follow_script(fake, FAKE_IW_ACCEPT);
	flags = fake_begin();
	qp = fake_qp_find(fake, param->qpn);
	if (!ret && (!qp || qp->endpoint || param->private_data_len > FAKE_PRIVATE_DATA))
		ret = -EINVAL;
	if (ret) {
		/* iw_cm does not call again. */
		fake_cm_turn_down(endpoint, FAKE_CM_CLOSED, -ECONNRESET, NULL, 0);
		goto out;
	}
	fake_cm_set_param(endpoint, param);
	fake_cm_attach(endpoint, cm_id, qp);
	fake_cm_set_state(endpoint, FAKE_CM_ACCEPTED);
	if (!(READ_ONCE(fake->cm_manual) & FAKE_MANUAL_ACCEPT))
		fake_cm_link(endpoint);
out:
	fake_end(flags);
	return ret;
}

static int fake_iw_reject(struct iw_cm_id *cm_id, const void *data, u8 length)
{
	struct fake_endpoint *endpoint = cm_id->provider_data;
	unsigned long flags;
	int ret;

	ret = fake_device_follow_script(to_fake(cm_id->device), FAKE_IW_REJECT);
	flags = fake_begin();
	endpoint->length = length;
	memcpy(endpoint->data, data, length);
	/* iw_cm does not call again, whatever the result. */
	if (ret)
		fake_cm_turn_down(endpoint, FAKE_CM_CLOSED, -ECONNRESET, NULL, 0);
	else
		fake_cm_turn_down(endpoint, FAKE_CM_REJECTED, -ECONNREFUSED, data, length);
	fake_end(flags);

	return ret;
}

static int fake_no_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	return 0;
}

/* Waits until iw_cm has handled all earlier events.  iw_cm's own flush is private. */
void fake_flush_iw_cm(struct fake_device *fake)
{
	struct iw_cm_id *cm_id;

	cm_id = iw_create_cm_id(&fake->ib, fake_no_handler, NULL);
	if (WARN_ON_ONCE(IS_ERR(cm_id)))
		return;
	/* Destroying an id that is in use flushes the workqueue. */
	cm_id->add_ref(cm_id);
	iw_destroy_cm_id(cm_id);
	cm_id->rem_ref(cm_id);
}

/* A request that its listener has not got yet. */
static struct fake_endpoint *fake_cm_unheard(struct fake_listener *listener)
{
	struct fake_endpoint *endpoint;

	list_for_each_entry(endpoint, &listener->fake->endpoints, entry)
		if (endpoint->state == FAKE_CM_REQUESTED && endpoint->listener == listener &&
		    !endpoint->asked)
			return endpoint;
	return NULL;
}

/*
 * When a listener is destroyed, iw_cm drops the requests that the listener has not got, without a
 * notification.  The connecting peers must get one.
 */
static void fake_listener_work(struct work_struct *ws)
{
	struct fake_listener *listener = container_of(ws, struct fake_listener, work);
	struct fake_endpoint *endpoint;
	unsigned long flags;
	bool unheard;

	flags = fake_begin();
	unheard = fake_cm_unheard(listener);
	fake_end(flags);
	if (unheard)
		fake_flush_iw_cm(listener->fake);

	flags = fake_begin();
	while ((endpoint = fake_cm_unheard(listener)))
		fake_cm_turn_down(endpoint, FAKE_CM_CLOSED, -ECONNRESET, NULL, 0);
	fake_end(flags);
	kref_put(&listener->refs, fake_listener_release);
}

static int fake_iw_create_listen(struct iw_cm_id *cm_id, int backlog)
{
	struct fake_device *fake = to_fake(cm_id->device);
	struct fake_listener *listener;
	unsigned long flags;
	int ret;

	ret = fake_device_follow_script(fake, FAKE_IW_LISTEN);
	if (ret)
		return ret;
	listener = kzalloc_obj(*listener, GFP_KERNEL);
	if (!listener)
		return -ENOMEM;

	kref_init(&listener->refs);
	INIT_WORK(&listener->work, fake_listener_work);
	listener->fake = fake;
	cm_id->add_ref(cm_id);
	listener->cm_id = cm_id;
	listener->handler = cm_id->cm_handler;
	cm_id->cm_handler = fake_cm_heard;
	cm_id->provider_data = listener;

	flags = fake_begin();
	list_add_tail(&listener->entry, &fake_listeners);
	fake_end(flags);
	atomic_inc(&fake->live[FAKE_LISTENER]);
	return 0;
}

static int fake_iw_destroy_listen(struct iw_cm_id *cm_id)
{
	struct fake_listener *listener = cm_id->provider_data;
	unsigned long flags;

	flags = fake_begin();
	listener->closed = true;
	list_del(&listener->entry);
	fake_end(flags);

	atomic_dec(&listener->fake->live[FAKE_LISTENER]);
	cm_id->rem_ref(cm_id);
	queue_work(listener->fake->cm_work, &listener->work);
	return 0;
}

static void fake_iw_add_ref(struct ib_qp *qp)
{
	fake_qp_get(to_fake_qp(qp));
}

static void fake_iw_rem_ref(struct ib_qp *qp)
{
	fake_qp_put(to_fake_qp(qp));
}

static struct ib_qp *fake_iw_get_qp(struct ib_device *ib, int number)
{
	unsigned long flags = fake_begin();
	struct fake_qp *qp = fake_qp_find(to_fake(ib), number);

	fake_end(flags);
	return qp ? &qp->ib : NULL;
}

const struct ib_device_ops fake_cm_ops = {
	.iw_connect = fake_iw_connect,
	.iw_accept = fake_iw_accept,
	.iw_reject = fake_iw_reject,
	.iw_create_listen = fake_iw_create_listen,
	.iw_destroy_listen = fake_iw_destroy_listen,
	.iw_add_ref = fake_iw_add_ref,
	.iw_rem_ref = fake_iw_rem_ref,
	.iw_get_qp = fake_iw_get_qp,
};
