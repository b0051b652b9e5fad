// SPDX-License-Identifier: GPL-2.0
/* Functions by which a test controls and observes the connections of the fake device. */
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_private.h"

/* The port of imagined peers. */
#define FAKE_PEER_PORT	54321

/*
 * Observing
 */

static struct fake_endpoint *fake_cm_find(struct fake_device *fake, enum fake_cm_state state)
{
	struct fake_endpoint *endpoint, *found = NULL;
	unsigned long flags;

	flags = fake_begin();
	list_for_each_entry(endpoint, &fake->endpoints, entry) {
		if (endpoint->state != state)
			continue;
		found = endpoint;
		kref_get(&found->refs);
		break;
	}
	fake_end(flags);

	return found;
}

struct fake_endpoint *fake_cm_await(struct fake_device *fake, enum fake_cm_state state,
				    unsigned int timeout_ms)
{
	struct fake_endpoint *found;

	wait_event_timeout(fake_cm_changed, (found = fake_cm_find(fake, state)),
			   msecs_to_jiffies(timeout_ms));
	return found;
}

struct fake_endpoint *fake_cm_of_qp(struct ib_qp *qp)
{
	struct fake_endpoint *endpoint;
	unsigned long flags;

	flags = fake_begin();
	endpoint = to_fake_qp(qp)->endpoint;
	if (endpoint)
		kref_get(&endpoint->refs);
	fake_end(flags);

	return endpoint;
}

bool fake_cm_reaches(struct fake_endpoint *endpoint, enum fake_cm_state state,
		     unsigned int timeout_ms)
{
	return wait_event_timeout(fake_cm_changed, fake_cm_state_of(endpoint) == state,
				  msecs_to_jiffies(timeout_ms));
}

const void *fake_cm_private_data(struct fake_endpoint *endpoint, u16 *length)
{
	*length = endpoint->length;
	return endpoint->data;
}

void fake_cm_flush(struct fake_device *fake)
{
	/* The end of one side causes that of the other. */
	flush_workqueue(fake->cm_work);
	flush_workqueue(fake->cm_work);
	fake_flush_iw_cm(fake);
}

/*
 * Controlling
 */

int fake_cm_go_on(struct fake_endpoint *endpoint)
{
	unsigned long flags = fake_begin();
	int ret = -EINVAL;

	if (endpoint->state == FAKE_CM_CONNECTING && !endpoint->peer) {
		fake_cm_seek(endpoint);
		ret = 0;
	}
	fake_end(flags);

	return ret;
}

int fake_cm_reply(struct fake_endpoint *endpoint, int status, const void *data, u8 length)
{
	unsigned long flags = fake_begin();
	int ret = 0;

	if (endpoint->state != FAKE_CM_CONNECTING) {
		ret = -EINVAL;
	} else if (status) {
		fake_cm_abandon(endpoint, status, data, length);
	} else if (endpoint->peer) {
		/* The peer is a real endpoint, which acts for itself. */
		ret = -EINVAL;
	} else {
		fake_cm_stand(endpoint);
		fake_cm_tell(endpoint, IW_CM_EVENT_CONNECT_REPLY, 0, data, length, false);
	}
	fake_end(flags);

	return ret;
}

int fake_cm_establish(struct fake_endpoint *endpoint)
{
	unsigned long flags = fake_begin();
	int ret = -EINVAL;

	if (endpoint->state == FAKE_CM_ACCEPTED) {
		fake_cm_link(endpoint);
		ret = 0;
	}
	fake_end(flags);

	return ret;
}

int fake_cm_disconnect(struct fake_endpoint *endpoint)
{
	unsigned long flags = fake_begin();
	int ret = -EINVAL;

	if (endpoint->state == FAKE_CM_CONNECTED) {
		fake_cm_tell(endpoint, IW_CM_EVENT_DISCONNECT, 0, NULL, 0, false);
		ret = 0;
	}
	fake_end(flags);

	return ret;
}

int fake_cm_close(struct fake_endpoint *endpoint)
{
	unsigned long flags = fake_begin();
	int ret = 0;

	if (endpoint->state == FAKE_CM_CONNECTED) {
		fake_cm_end(endpoint, false);
	} else if (endpoint->state == FAKE_CM_ACCEPTED) {
		endpoint->abandoned = true;
		fake_cm_link(endpoint);
	} else {
		ret = -EINVAL;
	}
	fake_end(flags);

	return ret;
}

int fake_cm_close_again(struct fake_endpoint *endpoint)
{
	struct iw_cm_event event = { .event = IW_CM_EVENT_CLOSE };
	struct iw_cm_id *cm_id = endpoint->cm_id;

	if (fake_cm_state_of(endpoint) != FAKE_CM_CLOSED || !cm_id)
		return -EINVAL;
	/* iw_cm does the same when a consumer's handler returns an error. */
	if (cm_id->cm_handler(cm_id, &event))
		iw_destroy_cm_id(cm_id);
	return 0;
}

struct fake_endpoint *fake_cm_request(struct fake_device *fake, u16 port, const void *data,
				      u8 length)
{
	struct fake_endpoint *endpoint = ERR_PTR(-ECONNREFUSED);
	struct fake_listener *listener;
	struct fake_endpoint *peer;
	unsigned long flags;

	peer = kzalloc_obj(*peer, GFP_KERNEL);
	if (!peer)
		return ERR_PTR(-ENOMEM);
	*(struct sockaddr_in *)&peer->local = fake_address(FAKE_PEER_PORT);
	*(struct sockaddr_in *)&peer->remote = fake_address(port);
	peer->ird = 1;
	peer->ord = 1;
	peer->length = length;
	memcpy(peer->data, data, length);

	flags = fake_begin();
	listener = fake_find_listener(fake, &peer->remote, false);
	if (listener) {
		endpoint = fake_cm_ask(listener, peer);
		if (endpoint)
			kref_get(&endpoint->refs);
		else
			endpoint = ERR_PTR(-ENOMEM);
	}
	fake_end(flags);
	kfree(peer);

	return endpoint;
}

void fake_cm_let_go(struct fake_device *fake)
{
	struct fake_endpoint *endpoint, *next;
	unsigned long flags;

	flags = fake_begin();
	list_for_each_entry_safe(endpoint, next, &fake->endpoints, entry) {
		if (endpoint->state == FAKE_CM_CONNECTING &&
		    !(endpoint->peer && endpoint->peer->state == FAKE_CM_ACCEPTED))
			fake_cm_abandon(endpoint, -ETIMEDOUT, NULL, 0);
		else if (endpoint->state == FAKE_CM_ACCEPTED)
			fake_cm_link(endpoint);
		else if (endpoint->state == FAKE_CM_CONNECTED &&
			 endpoint->qp->state != IB_QPS_RTS)
			fake_cm_qp_left(endpoint->qp);
	}
	fake_end(flags);
}
