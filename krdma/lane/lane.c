// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: the lower half of a connection whose messages go over a trunk.
 *
 * A connection of krdma_conn_create_lane() resolves address and route like any other one, and
 * keeps the connection manager's ID.  Then it looks for a trunk to the peer, and asks there
 * whether a listener at the port takes lanes.  If one does, the connection is a lane.  If none
 * does, or the peer has no trunk, or does not answer, the connection goes on as a plain one, with
 * the ID that it has, and the peer notices nothing.  Where all of this has just been found for
 * another lane, nothing is asked, and the lane has no ID (lane/known.c).
 *
 * Lifetime
 *
 * The connection keeps its lane.  These keep the connection: a queued find_work, and the lane's
 * entries in the lists of the trunk and in frames that are being sent.  The end of the connection
 * cancels find_work and that of @delivery, so nothing runs for the lane afterwards.  The table of a
 * trunk holds no reference: the end of the connection removes the lane from it, under the trunk's
 * lock, and leaves there only that the lane has ended, if the peer has to know.  A lane that has
 * not answered yet is kept, without its queues, until its answer is sent.  The end waits for
 * neither.  It comes back when the device has completed what it does for the lane: the peer decides
 * how long that takes, so no thread sleeps meanwhile (lane/direct.c).
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cm.h>

#include "cm/conn.h"
#include "cm/listen.h"
#include "core/objects.h"
#include "core/session.h"
#include "lane/ask.h"
#include "lane/direct.h"
#include "lane/early.h"
#include "lane/lane.h"
#include "lane/link.h"
#include "lane/name.h"
#include "lane/port.h"
#include "lane/queue.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/share.h"
#include "lane/trunk.h"
#include "lane/window.h"
#include "trace.h"

struct workqueue_struct *krdma_lane_workqueue;
struct workqueue_struct *krdma_trunk_workqueue;
struct workqueue_struct *krdma_window_workqueue;

/* A size of its own: there may be thousands, and each is cleared. */
static struct kmem_cache *krdma_lane_cache;

/* Trunks that are tried, if each was connected and ended before it answered. */
#define KRDMA_LANE_TRIES	3

/*
 * Finding a trunk
 */

/**
 * krdma_lane_queue_find() - Have the work item look for a trunk, or do what a post could not
 * @lane: the lane
 *
 * Context: any but NMI.
 */
void krdma_lane_queue_find(struct krdma_lane *lane)
{
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	if (!lane->ending) {
		lane->searched = true;
		krdma_conn_get(lane->conn);
		if (!queue_work(krdma_lane_workqueue, &lane->find_work))
			krdma_conn_put(lane->conn);
	}
	spin_unlock_irqrestore(&lane->lock, flags);
}

static void krdma_lane_resolved(struct krdma_conn_lower *lower)
{
	krdma_lane_queue_find(krdma_lane_of(lower));
}

/**
 * krdma_lane_bind() - Have a trunk stay for a lane
 * @lane: the lane, with its trunk
 *
 * Context: any but NMI, with the trunk's lock held; krdma_lane_found() follows.
 */
void krdma_lane_bind(struct krdma_lane *lane)
{
	lockdep_assert_held(&lane->trunk->lock);

	lane->bound = true;
	lane->trunk->bound++;
	lane->lower.pads = lane->trunk->pads;
}

/**
 * krdma_lane_found() - Decide whether a connection is a lane
 * @lane: the lane
 * @found: a listener at the peer's port takes it, and it is bound
 *
 * Context: any but NMI.
 */
void krdma_lane_found(struct krdma_lane *lane, bool found)
{
	if (found) {
		/* Pairs with the acquire in krdma_conn_uses_lower(). */
		smp_store_release(&lane->lower.used, true);
	}
	trace_krdma_conn_kind(lane->conn, found, found ? lane->trunk->id : 0);
	krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_ROUTE_RESOLVED, 0);
}

/* The device is just being removed. */
static void krdma_lane_lose_path(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;

	spin_lock_bh(&trunk->lock);
	lane->bound = false;
	trunk->bound--;
	lane->trunk = NULL;
	krdma_trunk_set_timer(trunk);
	spin_unlock_bh(&trunk->lock);
	krdma_trunk_put(trunk);
}

/* A port that the consumer has chosen is one of the connection manager's. */
static bool krdma_lane_resolve(struct krdma_conn_lower *lower, const struct krdma_route *route)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	struct krdma_conn_path path = {};

	lane->routed = !route->local;
	memcpy(&path.remote, route->remote, rdma_addr_size(route->remote));
	if (route->local)
		memcpy(&path.local, route->local, rdma_addr_size(route->local));
	/* At the same place for IPv4. */
	if (path.local.sin6_port)
		return false;
	lane->port = ntohs(path.remote.sin6_port);
	if (!krdma_trunk_find_known(lane, &path))
		return false;
	if (krdma_conn_set_path(lane->conn, &path)) {
		krdma_lane_lose_path(lane);
		return false;
	}
	krdma_lane_found(lane, true);
	return true;
}

/**
 * krdma_lane_retry() - Look for another trunk, or give up
 * @lane: the lane; its trunk was connected, and has ended before it answered
 *
 * The passive side ends a trunk without lanes as soon as no listener takes lanes, which may be
 * just when this side asks.  Perhaps one does by now.
 *
 * Context: process context.
 */
void krdma_lane_retry(struct krdma_lane *lane)
{
	if (++lane->tries < KRDMA_LANE_TRIES)
		krdma_lane_queue_find(lane);
	else
		krdma_lane_found(lane, false);
}

static void krdma_lane_find(struct work_struct *work)
{
	struct krdma_lane *lane = container_of(work, struct krdma_lane, find_work);
	struct krdma_conn *conn = lane->conn;
	struct krdma_trunk_key key;
	unsigned long flags;
	u16 own;

	krdma_lane_feed(lane);
	if (lane->passive)
		krdma_lane_early_work(lane);
	/* It has its trunk. */
	if (krdma_conn_uses_lower(conn)) {
		krdma_conn_put_sync(conn);
		return;
	}
	key.net = conn->session->net;
	spin_lock_irqsave(&conn->state_lock, flags);
	key.dev = conn->dev;
	key.local = conn->local;
	key.remote = conn->remote;
	spin_unlock_irqrestore(&conn->state_lock, flags);
	/* At the same place for IPv4. */
	lane->port = ntohs(key.remote.sin6_port);
	own = ntohs(key.local.sin6_port);
	key.local.sin6_port = 0;
	key.remote.sin6_port = 0;

	/* That the program has a right to its port is for the connection manager to tell. */
	if (own < KRDMA_LANE_PORT_FREE || krdma_trunk_find(lane, &key))
		krdma_lane_found(lane, false);
	krdma_conn_put_sync(conn);
}

/*
 * The connection's calls
 */

static int krdma_lane_create(struct krdma_conn_lower *lower, const struct krdma_conn_attr *attr)
{
	return krdma_lane_queues_create(krdma_lane_of(lower), attr);
}

/* Copies private data for the record that sends them.  Most lanes have none. */
static int krdma_lane_copy_data(const void *data, u8 length, u8 **copy)
{
	*copy = length ? kmemdup(data, length, GFP_KERNEL_ACCOUNT) : NULL;
	return length && !*copy ? -ENOMEM : 0;
}

/* The lane has none so far.  They go with the record, or with the lane. */
static void krdma_lane_set_data(struct krdma_lane *lane, u8 *data, u8 length)
{
	lockdep_assert_held(&lane->trunk->lock);

	lane->data = data;
	lane->data_len = length;
}

static int krdma_lane_connect(struct krdma_conn_lower *lower,
			      const struct krdma_conn_param *param, bool more)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	struct krdma_trunk *trunk = lane->trunk;
	u8 *data;
	int ret;

	ret = krdma_lane_copy_data(param->private_data, param->private_data_len, &data);
	if (ret)
		return ret;
	spin_lock_bh(&trunk->lock);
	krdma_lane_set_data(lane, data, param->private_data_len);
	if (trunk->state != KRDMA_TRUNK_UP || trunk->link_over) {
		/* The lane is not in its table yet. */
		krdma_lane_lost(lane, trunk->error, 0);
	} else {
		krdma_lane_set_depths(lane);
		krdma_link_await_answer(lane);
		WRITE_ONCE(lane->due, lane->due | BIT(KRDMA_LANE_DUE_OPEN));
		krdma_trunk_add_ready(lane);
		if (param->early) {
			/* The message that is posted next takes it along. */
			krdma_lane_open_early(lane);
			krdma_trunk_send_later(trunk);
		} else if (!more) {
			krdma_link_send(trunk);
		}
	}
	spin_unlock_bh(&trunk->lock);
	return 0;
}

/* No third message is needed: the trunk delivers, or ends. */
static int krdma_lane_accept(struct krdma_conn_lower *lower, const void *data, u8 length,
			     bool more)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	u8 *copy;
	int ret;

	ret = krdma_lane_copy_data(data, length, &copy);
	if (ret)
		return ret;
	ret = -ENOTCONN;
	spin_lock_bh(&lane->trunk->lock);
	if (lane->attached && lane->stage == KRDMA_LANE_NEW) {
		krdma_lane_set_data(lane, copy, length);
		copy = NULL;
		lane->stage = KRDMA_LANE_UP;
		krdma_lane_set_depths(lane);
		WRITE_ONCE(lane->due, lane->due | BIT(KRDMA_LANE_DUE_ACCEPT));
		krdma_lane_share_start(lane);
		/* Before a message can arrive. */
		krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_ESTABLISHED, 0);
		if (lane->early) {
			/* What callbacks make ready is sent below, or soon by krdma_lane_send(). */
			WRITE_ONCE(lane->trunk->served, true);
			/* Of a lane that is not open yet, the peer has begun nothing. */
			WARN_ON_ONCE(krdma_lane_take_early(lane));
		}
		krdma_trunk_add_ready(lane);
		if (more)
			krdma_trunk_end_served(lane->trunk);
		else
			krdma_link_send(lane->trunk);
		ret = 0;
	}
	spin_unlock_bh(&lane->trunk->lock);
	kfree(copy);
	return ret;
}

/* The first of many lanes of a trunk sends for all of them. */
static void krdma_lane_send(struct krdma_conn_lower *lower)
{
	struct krdma_trunk *trunk = krdma_lane_of(lower)->trunk;

	if (!krdma_link_has_left(trunk))
		return;
	spin_lock_bh(&trunk->lock);
	trunk->patient = false;
	krdma_link_send(trunk);
	spin_unlock_bh(&trunk->lock);
}

static int krdma_lane_reject(struct krdma_conn_lower *lower, const void *data, u8 length)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	u8 *copy;

	/* Without memory it is rejected without them. */
	if (krdma_lane_copy_data(data, length, &copy))
		length = 0;
	/* krdma_lane_detach() has it sent. */
	spin_lock_bh(&lane->trunk->lock);
	if (lane->stage == KRDMA_LANE_NEW) {
		krdma_lane_set_data(lane, copy, length);
		copy = NULL;
	}
	spin_unlock_bh(&lane->trunk->lock);
	kfree(copy);
	return 0;
}

static void krdma_lane_open(struct krdma_conn_lower *lower)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	lane->send.open = true;
	spin_unlock_irqrestore(&lane->lock, flags);
}

static void krdma_lane_close(struct krdma_conn_lower *lower)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	lane->send.open = false;
	lane->recv.open = false;
	spin_unlock_irqrestore(&lane->lock, flags);
}

static void krdma_lane_query(struct krdma_conn_lower *lower, struct krdma_conn_info *info)
{
	const struct krdma_lane_direct *direct;
	struct krdma_lane *lane = krdma_lane_of(lower);
	unsigned long flags;

	info->lane = true;
	info->trunk = lane->trunk->id;
	spin_lock_irqsave(&lane->lock, flags);
	if (lane->made) {
		info->send_depth = lane->send.credits.depth;
		info->recv_depth = krdma_lane_srq(lane) ? 0 : lane->recv.credits.depth;
		info->max_send_sge = lane->send.max_sge;
		info->max_recv_sge = krdma_lane_srq(lane) ? 0 : lane->recv.max_sge;
		info->max_inline = lane->max_inline;
		info->open |= lane->send.open && info->state == KRDMA_CONN_CONNECTING;
		info->sends_posted = lane->send.posted;
		info->sends_completed = READ_ONCE(lane->send.completed);
		direct = READ_ONCE(lane->direct);
		info->sends_direct = direct ? READ_ONCE(direct->sent) : 0;
		info->receives_posted = lane->recv.posted;
		info->receives_completed = READ_ONCE(lane->recv.completed);
	}
	spin_unlock_irqrestore(&lane->lock, flags);
}

/*
 * The end
 */

/* The cause of a lane's end: a plain connection has none that only trunks have. */
static int krdma_lane_cause(int error)
{
	switch (error) {
	case -EPROTO:
	case -ESHUTDOWN:
		return -EIO;
	default:
		return error;
	}
}

/**
 * krdma_lane_lost() - End the connection of a lane
 * @lane: the lane; the peer expects no record of it any more
 * @error: why, a negative errno of the trunk
 * @status: status of the first send that the peer does not have, or 0
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_lost(struct krdma_lane *lane, int error, u8 status)
{
	bool closed = error == -EPIPE || error == -ECONNRESET || error == -ECONNREFUSED;
	bool rejected;

	lockdep_assert_held(&lane->trunk->lock);

	/*
	 * To a listener, a request whose trunk is gone is one that the peer has given up.  A peer
	 * ends a trunk when no listener takes lanes any more, so it rejects what was asked, as one
	 * does that takes no more lanes.
	 */
	rejected = lane->passive ? lane->stage == KRDMA_LANE_NEW :
				   lane->stage != KRDMA_LANE_UP && closed;
	/* What has ended it before has the status. */
	if (lane->stage != KRDMA_LANE_OVER)
		lane->fail_status = status;
	lane->stage = KRDMA_LANE_OVER;
	krdma_conn_advance(lane->conn, rejected ? KRDMA_INPUT_CM_REJECTED : KRDMA_INPUT_FATAL,
			   krdma_lane_cause(error));
}

/*
 * What the peer has to know at the end.  It may take no frames, so as little as possible is kept
 * for it: nothing of a lane if CLOSE alone is due, and if the peer knows which writes were carried
 * out.  If many lanes wait already to send something, others send only that they have ended, or, if
 * they were not accepted yet, that they are rejected, without private data.
 */
static void krdma_lane_queue_close(struct krdma_lane *lane)
{
	bool full;

	switch (lane->stage) {
	case KRDMA_LANE_NEW:
		WRITE_ONCE(lane->due, lane->due & ~BIT(KRDMA_LANE_DUE_OPEN));
		if (lane->passive)
			WRITE_ONCE(lane->due, lane->due | BIT(KRDMA_LANE_DUE_REJECT));
		break;
	case KRDMA_LANE_ASKED:
	case KRDMA_LANE_UP:
		WRITE_ONCE(lane->due, lane->due | BIT(KRDMA_LANE_DUE_CLOSE));
		break;
	default:
		WRITE_ONCE(lane->due, 0);
		break;
	}
	lane->stage = KRDMA_LANE_OVER;
	full = lane->trunk->unsent_answers >= KRDMA_TRUNK_UNSENT_ANSWERS;
	if (lane->due == BIT(KRDMA_LANE_DUE_CLOSE) && (!krdma_lane_owes_done(lane) || full)) {
		/* The peer cannot find the refused request without the number of those done. */
		if (krdma_lane_owes_done(lane))
			lane->close_reason = KRDMA_LANE_CLOSE_DISCONNECT;
		WRITE_ONCE(lane->due, 0);
		krdma_link_notify_closed(lane, KRDMA_LANE_CLOSE);
	} else if (lane->due && full) {
		WRITE_ONCE(lane->due, 0);
		krdma_link_notify_closed(lane, KRDMA_LANE_REJECT);
	} else if (lane->due) {
		lane->trunk->unsent_answers++;
		krdma_trunk_add_ready(lane);
	}
	krdma_trunk_end_lane(lane);
}

/**
 * krdma_lane_detach() - Remove a lane from its trunk
 * @lane: the lane, closed
 *
 * Context: any but NMI, with the trunk's lock held; krdma_trunk_send_later() follows, or, for one
 * of many lanes, krdma_lane_send().
 */
void krdma_lane_detach(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;

	lockdep_assert_held(&trunk->lock);

	if (lane->bound) {
		list_del_init(&lane->find_node);
	} else if (!list_empty(&lane->find_node)) {
		krdma_trunk_end_finder(lane);
		krdma_conn_put(lane->conn);
	}
	if (lane->direct)
		krdma_lane_forget_windows(lane);
	if (lane->given)
		krdma_lane_return_windows(lane);
	krdma_lane_queue_close(lane);
	/* The peer decides how long the rest of the lane stays. */
	kfree(lane->early);
	lane->early = NULL;
	if (lane->bound)
		trunk->bound--;
	lane->bound = false;
	if (lane->taken_back)
		trunk->taken_back--;
	lane->taken_back = false;
	if (lane->attached) {
		xa_erase(&trunk->lanes, lane->number);
		trunk->lane_count--;
		lane->attached = false;
	}
	krdma_trunk_set_timer(trunk);
}

/*
 * A peer that waits for an answer gets it now.  That a lane has ended goes with what is sent next,
 * or soon by itself.  Returns whether the work item has to send.
 */
static bool krdma_lane_needs_end_notice(struct krdma_lane *lane)
{
	lockdep_assert_held(&lane->trunk->lock);

	if (READ_ONCE(lane->conn->ends_with_others))
		return false;
	if (lane->due)
		return true;
	if (krdma_link_has_left(lane->trunk))
		krdma_trunk_send_later(lane->trunk);
	return false;
}

static void krdma_lane_end(struct krdma_conn_lower *lower)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	struct krdma_trunk *trunk;
	unsigned long flags;
	bool searched;
	bool schedule;

	spin_lock_irqsave(&lane->lock, flags);
	lane->ending = true;
	searched = lane->searched;
	spin_unlock_irqrestore(&lane->lock, flags);
	if (searched && cancel_work_sync(&lane->find_work))
		krdma_conn_put(lane->conn);

	/* No other trunk is found from now on. */
	trunk = lane->trunk;
	if (trunk) {
		/* The listener may have the lane, and krdma_listener_offer() not have returned. */
		if (lane->passive) {
			mutex_lock(&trunk->offer_lock);
			mutex_unlock(&trunk->offer_lock);
		}
		spin_lock_bh(&trunk->lock);
		krdma_lane_detach(lane);
		schedule = krdma_lane_needs_end_notice(lane) ||
			   (trunk->passive && krdma_trunk_is_empty(trunk));
		spin_unlock_bh(&trunk->lock);
		if (schedule)
			krdma_trunk_schedule(trunk);
	}
}

static bool krdma_lane_ended(struct krdma_conn_lower *lower)
{
	struct krdma_lane *lane = krdma_lane_of(lower);

	if (lane->direct && !krdma_lane_direct_ended(lane))
		return false;
	krdma_lane_queues_end(lane);
	return true;
}

/**
 * krdma_lane_free() - Free a lane
 * @lane: the lane; nothing refers to it any more
 *
 * Context: process context; may sleep.
 */
void krdma_lane_free(struct krdma_lane *lane)
{
	krdma_lane_queues_free(lane);
	krdma_lane_uncharge(lane);
	krdma_lane_names_free(lane);
	krdma_lane_share_free(lane);
	kfree(lane->data);
	kfree(lane->direct);
	kfree(lane->given);
	kfree(lane->early);
	if (lane->trunk)
		krdma_trunk_put(lane->trunk);
	kmem_cache_free(krdma_lane_cache, krdma_object_uncount(KRDMA_OBJECT_LANE, lane));
}

static void krdma_lane_free_lower(struct krdma_conn_lower *lower)
{
	krdma_lane_free(krdma_lane_of(lower));
}

static const struct krdma_conn_lower_ops krdma_lane_ops = {
	.resolve = krdma_lane_resolve,
	.resolved = krdma_lane_resolved,
	.create = krdma_lane_create,
	.connect = krdma_lane_connect,
	.accept = krdma_lane_accept,
	.send = krdma_lane_send,
	.reject = krdma_lane_reject,
	.open = krdma_lane_open,
	.close = krdma_lane_close,
	.end = krdma_lane_end,
	.ended = krdma_lane_ended,
	.post_send = krdma_lane_post_send,
	.post_recv = krdma_lane_post_recv,
	.prepare_post = krdma_lane_prepare_post,
	.find_mr = krdma_lane_find_mr,
	.query = krdma_lane_query,
	.free = krdma_lane_free_lower,
};

/**
 * krdma_lane_alloc() - Allocate a lane
 * @gfp: GFP_KERNEL_ACCOUNT, or KRDMA_GFP_OTHERS in a thread that is not its user's
 *
 * Context: process context; may sleep if @gfp says so.
 * Return: the lane, without a connection, or NULL.
 */
struct krdma_lane *krdma_lane_alloc(gfp_t gfp)
{
	struct krdma_lane *lane;

	lane = krdma_object_count(KRDMA_OBJECT_LANE,
				  kmem_cache_zalloc(krdma_lane_cache, gfp));
	if (!lane)
		return NULL;
	lane->lower.ops = &krdma_lane_ops;
	INIT_WORK(&lane->find_work, krdma_lane_find);
	INIT_LIST_HEAD(&lane->find_node);
	INIT_LIST_HEAD(&lane->ready_node);
	spin_lock_init(&lane->lock);
	return lane;
}

/**
 * krdma_lane_attach() - Set the connection of a passive lane
 * @lower: of the lane
 * @conn: its connection
 *
 * Context: any.
 */
void krdma_lane_attach(struct krdma_conn_lower *lower, struct krdma_conn *conn)
{
	struct krdma_lane *lane = krdma_lane_of(lower);

	lane->conn = conn;
	trace_krdma_conn_kind(conn, true, lane->trunk->id);
}

/**
 * krdma_conn_create_lane() - Create a connection that is a lane if the peer takes lanes
 * @session: session of the consumer
 * @ops: callbacks to the consumer; must stay valid until krdma_conn_close() has returned.  NULL:
 *	no callbacks
 * @context: context of the consumer, see krdma_conn_context()
 *
 * A lane shares a queue pair with other lanes between the same two hosts, so it takes little
 * memory and is established by one message and its answer.  It has the states, the events and
 * the calls of any other connection, and messages, reads and writes of the same lengths, with
 * immediate data on every transport.  When krdma_conn_resolve() has succeeded,
 * &struct krdma_conn_info.lane says whether the connection is a lane.  If the peer's listener does
 * not take lanes, or the peer is not krdma, it is a plain connection, and the peer does not notice
 * a difference.
 *
 * A lane differs in the following:
 *
 *  - The processors of both hosts carry out its operations, and check each access to memory.  The
 *    peer can access MRs of the session with a buffer of the kernel, and memory of a process that
 *    was registered by krdma_mr_register_user_for_lanes(); not those of a list of pages.  Atomics
 *    are atomic towards processors, not towards the device.
 *  - krdma_conn_post_send() returns -EOPNOTSUPP for KRDMA_OP_SEND_INVALIDATE, for memory without an
 *    MR, and for memory of a process that was not registered for lanes; krdma_conn_map_sg() returns
 *    -EOPNOTSUPP.
 *  - A work request has no more SGEs than the queue.  8 reads and atomics are in flight in each
 *    direction at most; others wait for their turn.
 *  - krdma_conn_create_qp() returns -EOPNOTSUPP with an SRQ without &struct krdma_srq_attr.lanes.
 *  - A send completes when the peer's kernel has the message.  If the message is longer than the
 *    receive that it meets, both connections end with the event LOST.
 *  - A message that finds no receive waits, whatever &struct krdma_conn_param.no_rnr_retry says.
 *  - The keepalive of the trunk replaces that of &struct krdma_conn_attr, which only has to be in
 *    its range.
 *
 * In a session that memory reclaim waits for, and with a local port below 1024, it is a plain
 * connection.
 *
 * Context: process context; may sleep.
 * Return: the connection, for krdma_conn_put(), or ERR_PTR(-ENOMEM).
 */
struct krdma_conn *krdma_conn_create_lane(struct krdma_session *session,
					  const struct krdma_conn_ops *ops, void *context)
{
	struct krdma_lane *lane;
	struct krdma_conn *conn;

	conn = krdma_conn_create(session, ops, context);
	if (IS_ERR(conn) || session->reclaim)
		return conn;
	lane = krdma_lane_alloc(GFP_KERNEL_ACCOUNT);
	if (!lane) {
		krdma_conn_put_sync(conn);
		return ERR_PTR(-ENOMEM);
	}
	lane->conn = conn;
	conn->lower = &lane->lower;
	return conn;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_create_lane, "KRDMA");

static const struct krdma_lane_hooks krdma_lane_hooks = {
	.listen = krdma_lane_listen,
	.unlisten = krdma_lane_unlisten,
};

/**
 * krdma_lanes_init() - Allocate what lanes of all hosts share
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int __init krdma_lanes_init(void)
{
	krdma_lane_cache = KMEM_CACHE(krdma_lane, SLAB_ACCOUNT);
	if (!krdma_lane_cache)
		return -ENOMEM;
	krdma_lane_workqueue = alloc_workqueue(KBUILD_MODNAME "_lane", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!krdma_lane_workqueue)
		goto err_cache;
	krdma_trunk_workqueue = alloc_workqueue(KBUILD_MODNAME "_trunk", WQ_UNBOUND,
						WQ_MAX_ACTIVE);
	if (!krdma_trunk_workqueue)
		goto err_lane;
	krdma_window_workqueue = alloc_workqueue(KBUILD_MODNAME "_window", WQ_UNBOUND,
						 WQ_MAX_ACTIVE);
	if (!krdma_window_workqueue)
		goto err_trunk;
	krdma_trunks_init();
	krdma_lane_ports_init();
	krdma_listener_set_lane_hooks(&krdma_lane_hooks);
	return 0;

err_trunk:
	destroy_workqueue(krdma_trunk_workqueue);
err_lane:
	destroy_workqueue(krdma_lane_workqueue);
err_cache:
	kmem_cache_destroy(krdma_lane_cache);
	return -ENOMEM;
}

/**
 * krdma_lanes_exit() - Free what krdma_lanes_init() has allocated
 *
 * No connection is left, and no trunk.
 *
 * Context: process context; may sleep.
 */
void krdma_lanes_exit(void)
{
	destroy_workqueue(krdma_window_workqueue);
	destroy_workqueue(krdma_trunk_workqueue);
	destroy_workqueue(krdma_lane_workqueue);
	kmem_cache_destroy(krdma_lane_cache);
}
