// SPDX-License-Identifier: GPL-2.0
/*
 * The link of a trunk: its creation and its end, and the frames that arrive.  lane/send.c has those
 * that are sent.
 *
 * The peer may be hostile.  krdma_lane_frame_read() checks each frame by itself; here records are
 * checked against the state of their lanes.  A violation ends the trunk.  Nothing that a peer
 * sends, or does not take, makes this side keep more than its lanes and their ends, which are
 * limited together, its answers, and KRDMA_TRUNK_UNSENT_ANSWERS lanes that have not answered, whose
 * last writes the peer does not know of, or that the peer has taken back.
 *
 * Frames are read in softirq, by the completions of the link.  At an OPEN, which takes memory, the
 * completion stops, and the work item reads that frame and what has arrived since.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "cm/conn_cm.h"
#include "cm/listen.h"
#include "core/caps.h"
#include "core/device.h"
#include "core/quirks.h"
#include "core/resource.h"
#include "core/session.h"
#include "lane/ask.h"
#include "lane/direct.h"
#include "lane/early.h"
#include "lane/known.h"
#include "lane/lane.h"
#include "lane/link.h"
#include "lane/name.h"
#include "lane/port.h"
#include "lane/queue.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/serve.h"
#include "lane/share.h"
#include "lane/trunk.h"
#include "lane/window.h"
#include "trace.h"

#define KRDMA_TRUNK_BYTES	(2 * KRDMA_TRUNK_FRAMES * KRDMA_LANE_FRAME_SIZE)

/*
 * Creation and end
 */

static u8 *krdma_link_frame(const struct krdma_trunk *trunk, u32 index)
{
	return trunk->buffers + index * KRDMA_LANE_FRAME_SIZE;
}

/* The receives have the second half of the frames. */
static int krdma_link_post_recv(struct krdma_trunk *trunk, u32 index)
{
	struct krdma_sge sge = {
		.mr = trunk->mr,
		.addr = (uintptr_t)krdma_link_frame(trunk, KRDMA_TRUNK_FRAMES + index),
		.length = KRDMA_LANE_FRAME_SIZE,
	};
	struct krdma_recv_wr wr = { .wr_id = index, .sges = &sge, .sge_count = 1 };
	int ret;

	ret = krdma_conn_post_recv(trunk->conn, &wr, 1);
	return ret < 0 ? ret : 0;
}

static int krdma_link_alloc(struct krdma_trunk *trunk)
{
	trunk->slots = kvzalloc_objs(*trunk->slots, KRDMA_TRUNK_FRAMES, GFP_KERNEL_ACCOUNT);
	trunk->answers = kvzalloc_objs(*trunk->answers, KRDMA_TRUNK_ANSWERS, GFP_KERNEL_ACCOUNT);
	trunk->direct = kvzalloc_objs(*trunk->direct, KRDMA_TRUNK_DIRECT, GFP_KERNEL_ACCOUNT);
	trunk->buffers = kvzalloc(KRDMA_TRUNK_BYTES, GFP_KERNEL_ACCOUNT);
	if (!trunk->slots || !trunk->answers || !trunk->direct || !trunk->buffers)
		return -ENOMEM;
	for (u32 i = 0; i < KRDMA_TRUNK_FRAMES; i++) {
		trunk->slots[i].data = krdma_link_frame(trunk, i);
		list_add_tail(&trunk->slots[i].node, &trunk->free);
	}
	return 0;
}

/*
 * Can devices access the memory of the other side?  Not where one goes on with that when its key
 * has ended, and not with iWARP, where a write is complete when it was sent.
 */
static void krdma_link_read_device(struct krdma_trunk *trunk, struct krdma_device *dev)
{
	const struct krdma_limits *limits = krdma_device_limits(dev);
	u64 caps = krdma_device_caps(dev);

	trunk->write_sges = min_t(u32, limits->max_send_sge, KRDMA_DIRECT_SGES);
	trunk->read_sges = min(limits->max_read_sge, trunk->write_sges);
	trunk->windows_work = trunk->pads && (caps & KRDMA_DEVICE_CAP_FAST_REG) &&
			      !krdma_quirk_late_dma(krdma_device_ib(dev));
	trunk->reads_work = caps & KRDMA_DEVICE_CAP_READ_LOCAL;
}

/* What does not change while the trunk is up. */
static int krdma_link_read_path(struct krdma_trunk *trunk)
{
	struct krdma_conn *conn = trunk->conn;
	struct krdma_conn_info info;
	struct rdma_cm_id *cm_id;
	int ret = -ENOTCONN;

	krdma_conn_query(conn, &info);
	trunk->path_mtu = info.path_mtu;
	mutex_lock(&conn->cm_lock);
	cm_id = krdma_conn_cm_id(conn);
	if (cm_id) {
		trunk->pads = krdma_cm_pads(cm_id);
		krdma_link_read_device(trunk, conn->dev);
		ret = krdma_device_max_message(conn->dev, cm_id->port_num, false,
					       &trunk->max_message);
	}
	krdma_conn_unlock(conn);
	/*
	 * siw makes its sockets in the network namespace of the thread that calls, and that of a
	 * worker is the initial one.
	 */
	if (!ret && !trunk->pads && trunk->key.net != &init_net)
		ret = -EOPNOTSUPP;
	return ret;
}

/* Completions of lanes are passed on inside those of the link. */
static struct lock_class_key krdma_link_poll_key;

static struct krdma_cq *krdma_link_create_cq(struct krdma_trunk *trunk)
{
	struct krdma_cq_attr attr = {
		/* With the markers of the end. */
		.depth = 2 * KRDMA_TRUNK_FRAMES + KRDMA_TRUNK_DIRECT + KRDMA_SEND_WQES +
			 KRDMA_RECV_WQES,
		.where = KRDMA_CONTEXT_SOFTIRQ,
		.vector = -1,
		.session = trunk->session,
	};
	struct krdma_cq *cq;

	cq = krdma_cq_create(krdma_conn_device(trunk->conn), &attr);
	if (!IS_ERR(cq))
		lockdep_set_class(&cq->poll_lock, &krdma_link_poll_key);
	return cq;
}

/**
 * krdma_link_create() - Create the queues and the memory of a link
 * @trunk: the trunk, with a link that is resolved or requested
 *
 * Context: process context; may sleep.
 * Return: 0 or a negative errno; krdma_link_destroy() has to follow in any case.
 */
int krdma_link_create(struct krdma_trunk *trunk)
{
	struct krdma_conn_attr attr = {
		.send_depth = KRDMA_TRUNK_FRAMES + KRDMA_TRUNK_DIRECT,
		.recv_depth = KRDMA_TRUNK_FRAMES,
		.session = trunk->session,
	};
	int ret;

	ret = krdma_link_alloc(trunk) ?: krdma_link_read_path(trunk);
	if (ret)
		return ret;
	attr.max_send_sge = trunk->write_sges;
	attr.max_inline = KRDMA_DIRECT_INLINE;
	trunk->mr = krdma_mr_register(trunk->session, krdma_conn_device(trunk->conn),
				      trunk->buffers, KRDMA_TRUNK_BYTES,
				      KRDMA_ACCESS_LOCAL_WRITE);
	if (IS_ERR(trunk->mr)) {
		ret = PTR_ERR(trunk->mr);
		trunk->mr = NULL;
		return ret;
	}
	attr.cq = krdma_link_create_cq(trunk);
	if (IS_ERR(attr.cq))
		return PTR_ERR(attr.cq);
	ret = krdma_conn_create_qp(trunk->conn, &attr);
	/* The QP keeps it. */
	krdma_cq_put(attr.cq);
	for (u32 i = 0; i < KRDMA_TRUNK_FRAMES && !ret; i++)
		ret = krdma_link_post_recv(trunk, i);
	return ret;
}

/**
 * krdma_link_close() - Close the link
 * @trunk: the trunk, which is ending
 *
 * Context: process context; sleeps until no callback of the link runs.
 */
void krdma_link_close(struct krdma_trunk *trunk)
{
	if (trunk->conn)
		krdma_conn_close(trunk->conn);
}

/**
 * krdma_link_destroy() - Free the link and its memory
 * @trunk: the trunk, ended, with a closed link
 *
 * Context: process context; may sleep.
 */
void krdma_link_destroy(struct krdma_trunk *trunk)
{
	krdma_conn_put_sync(trunk->conn);
	/* All frames have completed. */
	if (trunk->mr)
		WARN_ON(krdma_mr_deregister(trunk->mr));
	INIT_LIST_HEAD(&trunk->free);
	kvfree(trunk->buffers);
	kvfree(trunk->direct);
	kvfree(trunk->answers);
	kvfree(trunk->slots);
	krdma_session_put(trunk->session);
}

/**
 * krdma_link_up() - Begin to exchange frames
 * @trunk: the trunk
 * @hello: the peer's greeting
 *
 * Context: process context, with the trunk's lock held.
 */
void krdma_link_up(struct krdma_trunk *trunk, const struct krdma_lane_hello *hello)
{
	lockdep_assert_held(&trunk->lock);

	trunk->frame_size = min_t(u32, hello->frame_size, KRDMA_LANE_FRAME_SIZE);
	trunk->peer_grant = hello->frames;
	trunk->granted = KRDMA_TRUNK_FRAMES;
	trunk->sent_grant = KRDMA_TRUNK_FRAMES;
	trunk->lanes_max = min_t(u32, hello->lanes, KRDMA_TRUNK_LANES_MAX);
	if (trunk->state == KRDMA_TRUNK_CONNECTING)
		trunk->state = KRDMA_TRUNK_UP;
	trunk->was_up = true;
	trunk->up_at = jiffies;
	trunk->unused_at = jiffies;
	trace_krdma_trunk(trunk->id, trunk->passive, true, 0);
}

/*
 * Receiving.  Each of these functions returns 0, or a negative errno that ends the trunk.
 */

static int krdma_link_take_credits(struct krdma_lane *lane, u32 credits)
{
	if ((s32)(credits - lane->peer_credits) < 0)
		return -EPROTO;
	/* If these are too few, the peer has to know again. */
	if (credits != lane->peer_credits)
		lane->asked.wanted = false;
	lane->peer_credits = credits;
	/* Threads that post later find them. */
	if (krdma_lane_queued(&lane->send))
		krdma_trunk_add_ready(lane);
	return 0;
}

static int krdma_link_find(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
{
	struct krdma_listener *listener = krdma_lane_listener_get(trunk, record->value);

	krdma_link_answer(trunk, KRDMA_LANE_FOUND, record->lane,
			  listener ? KRDMA_LANE_LISTENER : KRDMA_LANE_NO_LISTENER);
	if (listener)
		krdma_listener_put(listener);
	return 0;
}

static int krdma_link_found(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
{
	bool taken = record->value == KRDMA_LANE_LISTENER;
	struct krdma_lane *lane = xa_load(&trunk->questions, record->lane);

	/* The connection has ended meanwhile, or does not wait any more. */
	if (!lane)
		return 0;
	krdma_trunk_end_finder(lane);
	krdma_trunk_learn(trunk, lane, taken);
	if (taken)
		krdma_lane_bind(lane);
	krdma_lane_found(lane, taken);
	krdma_trunk_set_timer(trunk);
	krdma_conn_put(lane->conn);
	return 0;
}

static void krdma_link_fill_offer(struct krdma_trunk *trunk, struct krdma_lane *lane,
				  const struct krdma_lane_record *record,
				  struct krdma_conn_offer *offer)
{
	*offer = (struct krdma_conn_offer) {
		.dev = trunk->key.dev,
		.lower = &lane->lower,
		.attach = krdma_lane_attach,
		.local = trunk->key.local,
		.remote = trunk->key.remote,
		.data = record->data,
		.data_len = record->length,
		/* Never 0, as with requests of the connection manager. */
		.peer_serves = max_t(u8, record->read_depth_in, 1),
		.peer_reads = max_t(u8, record->read_depth, 1),
		.path_mtu = trunk->path_mtu,
	};
	/* At the same place for IPv4. */
	offer->local.sin6_port = htons(record->value);
	offer->remote.sin6_port = htons(record->port);
}

static struct krdma_lane *krdma_link_new_lane(struct krdma_trunk *trunk,
					      const struct krdma_lane_record *record)
{
	struct krdma_lane *lane;

	lane = krdma_lane_alloc(KRDMA_GFP_OTHERS);
	if (!lane)
		return NULL;
	lane->passive = true;
	krdma_trunk_get(trunk);
	lane->trunk = trunk;
	lane->number = record->lane;
	lane->peer_credits = record->credits;
	lane->peer_shares = record->shared;
	lane->lower.pads = trunk->pads;
	lane->lower.used = true;
	if (record->early && krdma_lane_early_alloc(lane, record->early, KRDMA_GFP_OTHERS)) {
		krdma_lane_free(lane);
		return NULL;
	}
	/* Under the trunk's lock: a thread that posts does not wait for it with interrupts off. */
	spin_lock_bh(&trunk->lock);
	if (xa_err(xa_store(&trunk->lanes, lane->number, lane, GFP_NOWAIT | __GFP_NOWARN))) {
		spin_unlock_bh(&trunk->lock);
		krdma_lane_free(lane);
		return NULL;
	}
	lane->attached = true;
	trunk->lane_count++;
	/* It is used again: see krdma_trunk_end_unused(). */
	trunk->timer_asks = false;
	spin_unlock_bh(&trunk->lock);
	return lane;
}

/* Offers a lane to a listener.  The end of a lane waits for @offer_lock. */
static bool krdma_link_offer(struct krdma_trunk *trunk, struct krdma_listener *listener,
			     const struct krdma_lane_record *record)
{
	struct krdma_conn_offer offer;
	struct krdma_lane *lane;
	struct mem_cgroup *old;
	bool offered;

	/* As for its connection, the group of the listener's creator pays. */
	old = set_active_memcg(listener->memcg);
	lane = krdma_link_new_lane(trunk, record);
	set_active_memcg(old);
	if (!lane)
		return false;
	krdma_link_fill_offer(trunk, lane, record, &offer);
	mutex_lock(&trunk->offer_lock);
	offered = !krdma_listener_offer(listener, &offer);
	mutex_unlock(&trunk->offer_lock);
	if (offered)
		return true;
	spin_lock_bh(&trunk->lock);
	xa_erase(&trunk->lanes, lane->number);
	trunk->lane_count--;
	spin_unlock_bh(&trunk->lock);
	krdma_lane_free(lane);
	return false;
}

/* Releases the trunk's lock meanwhile. */
static int krdma_link_open(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
	__must_hold(&trunk->lock)
{
	u8 reason = KRDMA_LANE_REJECT_NO_LISTENER;
	struct krdma_listener *listener;
	bool offered = false;

	if (record->lane != trunk->last_lane + 1 || !record->lane)
		return -EPROTO;
	trunk->last_lane++;
	listener = krdma_lane_listener_get(trunk, record->value);
	if (listener) {
		reason = KRDMA_LANE_REJECT_FULL;
		if (record->port >= KRDMA_LANE_PORT_FREE &&
		    trunk->lane_count < KRDMA_TRUNK_LANES_MAX &&
		    trunk->unsent_answers + trunk->taken_back < KRDMA_TRUNK_UNSENT_ANSWERS) {
			krdma_trunk_end_served(trunk);
			spin_unlock_bh(&trunk->lock);
			offered = krdma_link_offer(trunk, listener, record);
			/* The peer may ask for as long as it likes. */
			cond_resched();
			spin_lock_bh(&trunk->lock);
			WRITE_ONCE(trunk->served, true);
		}
		krdma_listener_put(listener);
	}
	if (!offered)
		krdma_link_answer(trunk, KRDMA_LANE_REJECT, record->lane, reason);
	return 0;
}

/* Has the lane, which is up now, something to send that is not listed? */
static bool krdma_link_has_more(const struct krdma_lane *lane)
{
	return krdma_lane_queued(&lane->send) || krdma_lane_owes_credits(lane) ||
	       (lane->share && READ_ONCE(lane->share->recall_due));
}

static void krdma_link_start_give_up(struct krdma_trunk *trunk, unsigned long delay)
{
	lockdep_assert_held(&trunk->lock);

	/* Its end cancels @give_up only once. */
	if (trunk->state == KRDMA_TRUNK_ENDED)
		return;
	krdma_trunk_get(trunk);
	if (!queue_delayed_work(krdma_lane_workqueue, &trunk->give_up, delay))
		krdma_trunk_put(trunk);
}

/**
 * krdma_link_await_answer() - Limit the time in which the peer answers OPEN
 * @lane: the lane, active; its answer or its end removes it from the list
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_link_await_answer(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;

	lockdep_assert_held(&trunk->lock);

	if (list_empty(&trunk->unanswered))
		krdma_link_start_give_up(trunk, msecs_to_jiffies(KRDMA_CONN_ANSWER_MS));
	lane->asked_at = jiffies;
	list_add_tail(&lane->find_node, &trunk->unanswered);
}

/**
 * krdma_link_give_up() - End the lanes that the peer has not answered in time
 * @work: give_up of the trunk; if the lane for which it was queued has left the list, it runs too
 *	early, and looks again
 *
 * Context: process context, a work item.
 */
void krdma_link_give_up(struct work_struct *work)
{
	struct krdma_trunk *trunk = container_of(work, struct krdma_trunk, give_up.work);
	struct krdma_lane *lane;
	unsigned long until;

	spin_lock_bh(&trunk->lock);
	while ((lane = list_first_entry_or_null(&trunk->unanswered, struct krdma_lane,
						find_node))) {
		until = lane->asked_at + msecs_to_jiffies(KRDMA_CONN_ANSWER_MS);
		if (time_before(jiffies, until)) {
			krdma_link_start_give_up(trunk, until - jiffies);
			break;
		}
		list_del_init(&lane->find_node);
		krdma_conn_advance(lane->conn, KRDMA_INPUT_UNANSWERED, 0);
		spin_unlock_bh(&trunk->lock);
		cond_resched();
		spin_lock_bh(&trunk->lock);
	}
	spin_unlock_bh(&trunk->lock);
	krdma_trunk_put(trunk);
}

static int krdma_link_accepted(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	if (lane->stage == KRDMA_LANE_OVER)
		return 0;
	if (lane->stage != KRDMA_LANE_ASKED)
		return -EPROTO;
	list_del_init(&lane->find_node);
	lane->stage = KRDMA_LANE_UP;
	lane->accepted = true;
	lane->peer_credits = record->credits;
	lane->peer_shares = record->shared;
	krdma_lane_share_start(lane);
	krdma_conn_limit_depths(lane->conn, record->read_depth_in, record->read_depth);
	krdma_lane_set_depths(lane);
	krdma_conn_save_answer(lane->conn, record->data, record->length);
	krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_ESTABLISHED, 0);
	krdma_lane_complete_sent(lane);
	/* What was posted meanwhile, and has had its turn in vain. */
	if (krdma_link_has_more(lane))
		krdma_trunk_add_ready(lane);
	return 0;
}

static int krdma_link_rejected(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	if (lane->stage == KRDMA_LANE_OVER)
		return 0;
	if (lane->stage != KRDMA_LANE_ASKED)
		return -EPROTO;
	list_del_init(&lane->find_node);
	lane->stage = KRDMA_LANE_OVER;
	if (record->value == KRDMA_LANE_REJECT_NO_LISTENER)
		krdma_trunk_forget_port(lane->trunk, lane->port);
	krdma_conn_save_answer(lane->conn, record->data, record->length);
	krdma_conn_save_reject(lane->conn, record->value == KRDMA_LANE_REJECT_NO_LISTENER ?
			       IB_CM_REJ_INVALID_SERVICE_ID : IB_CM_REJ_CONSUMER_DEFINED);
	krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_REJECTED, 0);
	return 0;
}

/* The status of the first work request that the peer has not carried out. */
static const u8 krdma_link_close_status[KRDMA_LANE_CLOSES] = {
	[KRDMA_LANE_CLOSE_FAILED] = KRDMA_WC_REM_INV_REQ_ERR,
	[KRDMA_LANE_CLOSE_ACCESS] = KRDMA_WC_REM_ACCESS_ERR,
};

static int krdma_link_closed(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	switch (lane->stage) {
	case KRDMA_LANE_NEW:
		/* The peer has given up. */
		lane->stage = KRDMA_LANE_OVER;
		lane->taken_back = true;
		lane->trunk->taken_back++;
		krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_REJECTED, 0);
		return 0;
	case KRDMA_LANE_ASKED:
		/* An active lane is rejected, not closed. */
		return -EPROTO;
	case KRDMA_LANE_UP:
		lane->peer_status = krdma_link_close_status[record->value];
		lane->peer_closed = true;
		/* The peer answers no question any more, and the end may take longer. */
		if (lane->lookup || lane->lookup_late)
			wake_up(&lane->conn->wait);
		krdma_link_end_closed(lane);
		return 0;
	default:
		return 0;
	}
}

static int krdma_link_begin_message(struct krdma_lane *lane,
				    const struct krdma_lane_record *record)
{
	struct krdma_lane_queue *queue = &lane->recv;
	struct krdma_lane_wqe *wqe;

	/* Each message has a credit, and so a receive. */
	if (queue->begun || lane->served.writing || !krdma_lane_queued(queue))
		return -EPROTO;
	wqe = krdma_lane_wqe_at(queue, queue->next);
	WRITE_ONCE(queue->begun, true);
	queue->offset = 0;
	queue->total = record->total;
	wqe->received = record->total;
	wqe->flags = 0;
	if (record->flags & KRDMA_LANE_IMM) {
		wqe->flags = KRDMA_WC_WITH_IMM;
		wqe->imm = record->value;
	}
	if (record->total > wqe->length) {
		krdma_lane_recv_done(lane, KRDMA_WC_LOC_LEN_ERR);
		krdma_lane_refuse(lane, KRDMA_LANE_CLOSE_FAILED);
	}
	return 0;
}

/**
 * krdma_link_message() - Handle DATA
 * @lane: the lane, attached and open, which has refused nothing so far
 * @record: the record, a part of a message
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: it does not follow what was before, or there is no receive.
 */
int krdma_link_message(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_queue *queue = &lane->recv;
	int ret = 0;

	if (record->flags & KRDMA_LANE_FIRST)
		ret = krdma_link_begin_message(lane, record);
	if (ret || lane->served.refused)
		return ret;

	if (!queue->begun || record->length > queue->total - queue->offset)
		return -EPROTO;
	/* The last part, and no other one, completes the message. */
	if ((record->length == queue->total - queue->offset) !=
	    !!(record->flags & KRDMA_LANE_LAST))
		return -EPROTO;
	krdma_lane_copy_received(lane, record->data, record->length);
	if (record->flags & KRDMA_LANE_LAST)
		krdma_lane_recv_done(lane, KRDMA_WC_SUCCESS);
	return 0;
}

/* Before the lane is accepted. */
static int krdma_link_received_early(struct krdma_lane *lane,
				     const struct krdma_lane_record *record)
{
	return krdma_lane_keep_early(lane, record) ?:
	       krdma_link_take_credits(lane, record->credits);
}

/* A record that the peer sends once both sides are open. */
static int krdma_link_received(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	int ret;

	if (lane->stage == KRDMA_LANE_OVER || lane->peer_closed || lane->broken)
		return 0;
	if (lane->stage == KRDMA_LANE_NEW)
		return krdma_link_received_early(lane, record);
	if (lane->stage != KRDMA_LANE_UP)
		return -EPROTO;
	switch (record->type) {
	case KRDMA_LANE_RESULT:
		return krdma_lane_result(lane, record);
	case KRDMA_LANE_DONE:
		return krdma_lane_writes_done(lane, record->value);
	case KRDMA_LANE_MR:
		return krdma_lane_mr_found(lane, record);
	case KRDMA_LANE_WINDOW:
		return krdma_lane_window_given(lane, record);
	case KRDMA_LANE_WANT:
		return krdma_lane_wanted(lane, record);
	case KRDMA_LANE_RECALL:
		return krdma_lane_recalled(lane);
	case KRDMA_LANE_YIELD:
		return krdma_lane_yielded(lane, record);
	case KRDMA_LANE_DATA:
	case KRDMA_LANE_WRITE:
		ret = krdma_link_take_credits(lane, record->credits);
		if (ret)
			return ret;
		break;
	default:
		break;
	}
	/* Nothing that follows what was refused is done. */
	if (lane->served.refused)
		return 0;
	if (lane->early) {
		ret = krdma_lane_follow_early(lane, record);
		if (ret || lane->served.refused)
			return ret == -EINPROGRESS ? 0 : ret;
	}
	ret = record->type == KRDMA_LANE_DATA ? krdma_link_message(lane, record) :
						krdma_lane_serve(lane, record);
	if (ret || lane->served.refused)
		return ret;
	/*
	 * The peer may have used its last credit.  Pairs with the barrier in
	 * krdma_lane_post_recv(): at least one of the two sides sees what the other has written.
	 */
	smp_mb();
	if (krdma_lane_owes_credits(lane))
		krdma_trunk_add_ready(lane);
	return 0;
}

static int krdma_link_credit(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	if (lane->stage == KRDMA_LANE_OVER || lane->peer_closed)
		return 0;
	return lane->stage == KRDMA_LANE_UP ? krdma_link_take_credits(lane, record->credits) :
					      -EPROTO;
}

/* Is the record one that this side of the link gets? */
static bool krdma_link_expects(const struct krdma_trunk *trunk, u8 type)
{
	switch (type) {
	case KRDMA_LANE_FIND:
	case KRDMA_LANE_OPEN:
		return trunk->passive;
	case KRDMA_LANE_FOUND:
	case KRDMA_LANE_ACCEPT:
	case KRDMA_LANE_REJECT:
		return !trunk->passive;
	default:
		return true;
	}
}

/* Also -EAGAIN: the record needs a caller that may sleep. */
static int krdma_link_record(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
	__must_hold(&trunk->lock)
{
	struct krdma_lane *lane;

	/* Of a later version. */
	if (record->type >= KRDMA_LANE_OPTIONAL)
		return 0;
	if (!krdma_link_expects(trunk, record->type))
		return -EPROTO;
	if (record->type == KRDMA_LANE_FIND)
		return krdma_link_find(trunk, record);
	if (record->type == KRDMA_LANE_FOUND)
		return krdma_link_found(trunk, record);
	if (record->type == KRDMA_LANE_REVOKE)
		return krdma_trunk_revoke(trunk, record);
	if (record->type == KRDMA_LANE_REVOKED)
		return krdma_trunk_revoked(trunk, record);
	if (record->type == KRDMA_LANE_OPEN)
		return trunk->reading ? krdma_link_open(trunk, record) : -EAGAIN;

	if (!record->lane || record->lane > trunk->last_lane)
		return -EPROTO;
	lane = xa_load(&trunk->lanes, record->lane);
	/* It has ended here. */
	if (!lane || xa_is_value(lane))
		return 0;
	switch (record->type) {
	case KRDMA_LANE_ACCEPT:
		return krdma_link_accepted(lane, record);
	case KRDMA_LANE_REJECT:
		return krdma_link_rejected(lane, record);
	case KRDMA_LANE_CLOSE:
		return krdma_link_closed(lane, record);
	case KRDMA_LANE_DATA:
	case KRDMA_LANE_WRITE:
	case KRDMA_LANE_READ:
	case KRDMA_LANE_ATOMIC:
	case KRDMA_LANE_RESULT:
	case KRDMA_LANE_DONE:
	case KRDMA_LANE_NAME:
	case KRDMA_LANE_MR:
	case KRDMA_LANE_WANT:
	case KRDMA_LANE_RECALL:
	case KRDMA_LANE_YIELD:
	case KRDMA_LANE_ASK:
	case KRDMA_LANE_WINDOW:
		return krdma_link_received(lane, record);
	case KRDMA_LANE_CREDIT:
		return krdma_link_credit(lane, record);
	default:
		return -EPROTO;
	}
}

static int krdma_link_begin_frame(struct krdma_trunk *trunk, const u8 *frame, u32 length)
{
	if (krdma_lane_frame_read(&trunk->reader, frame, length))
		return -EPROTO;
	if ((s32)(trunk->reader.grant - trunk->peer_grant) < 0)
		return -EPROTO;
	trunk->peer_grant = trunk->reader.grant;
	trunk->begun = true;
	return 0;
}

/* Reads the oldest frame that has arrived, or its rest. */
static int krdma_link_read(struct krdma_trunk *trunk, const struct krdma_frame_late *late)
	__must_hold(&trunk->lock)
{
	const u8 *frame = krdma_link_frame(trunk, KRDMA_TRUNK_FRAMES + late->index);
	struct krdma_lane_record record;
	struct krdma_lane_reader before;
	int ret = 0;

	if (!trunk->begun)
		ret = krdma_link_begin_frame(trunk, frame, late->length);
	while (!ret) {
		before = trunk->reader;
		if (!krdma_lane_frame_next(&trunk->reader, &record))
			break;
		ret = krdma_link_record(trunk, &record);
	}
	if (ret == -EAGAIN)
		trunk->reader = before;
	else
		trunk->begun = false;
	return ret;
}

/* A frame is read.  With a receive less, the peer would have grants for more than there are. */
static void krdma_link_receive_again(struct krdma_trunk *trunk, u32 index)
{
	int ret = krdma_link_post_recv(trunk, index);

	if (ret)
		krdma_trunk_fail(trunk, krdma_link_post_error(trunk, ret));
}

/* Reads what has arrived, up to what needs a caller that may sleep. */
static void krdma_link_read_frames(struct krdma_trunk *trunk)
	__must_hold(&trunk->lock)
{
	int ret = 0;

	while (!ret && !trunk->violated && trunk->received != trunk->arrived) {
		const struct krdma_frame_late *late;

		late = &trunk->late[trunk->received % KRDMA_TRUNK_FRAMES];
		ret = krdma_link_read(trunk, late);
		if (ret)
			break;
		trunk->received++;
		krdma_link_receive_again(trunk, late->index);
	}
	if (ret == -EAGAIN) {
		krdma_trunk_schedule(trunk);
	} else if (ret) {
		trunk->violated = true;
		krdma_trunk_fail(trunk, ret);
	}
}

/**
 * krdma_link_read_late() - Read what completions have left
 * @trunk: the trunk, in any state but the last one; krdma_link_send() follows, unless it ends
 *
 * Context: process context, the trunk's work item; may sleep.
 */
void krdma_link_read_late(struct krdma_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	trunk->reading = true;
	WRITE_ONCE(trunk->served, true);
	krdma_link_read_frames(trunk);
	trunk->reading = false;
	krdma_trunk_end_served(trunk);
	spin_unlock_bh(&trunk->lock);
}

/* A frame has arrived. */
static void krdma_link_arrived(struct krdma_trunk *trunk, const struct krdma_wc *wc)
{
	/* Flushed: the event follows. */
	if (wc->status != KRDMA_WC_SUCCESS || trunk->violated ||
	    (trunk->state != KRDMA_TRUNK_UP && trunk->state != KRDMA_TRUNK_ENDING))
		return;
	/* More than was granted: there may be no room for its answers. */
	if ((s32)(trunk->granted - trunk->arrived) <= 0) {
		trunk->violated = true;
		krdma_trunk_fail(trunk, -EPROTO);
		return;
	}
	trunk->late[trunk->arrived++ % KRDMA_TRUNK_FRAMES] = (struct krdma_frame_late) {
		.index = wc->wr_id, .length = wc->length,
	};
	/* Frames are read one after the other. */
	if (!trunk->reading && !trunk->begun)
		krdma_link_read_frames(trunk);
}

/**
 * krdma_link_complete() - Handle a completion of a link
 * @wc: the completion
 *
 * Context: softirq, or with softirqs off, with the poll lock of the link's CQ.
 */
void krdma_link_complete(const struct krdma_wc *wc)
{
	struct krdma_trunk *trunk = wc->context;

	spin_lock(&trunk->lock);
	WRITE_ONCE(trunk->served, true);
	if (wc->opcode == KRDMA_OP_RECV)
		krdma_link_arrived(trunk, wc);
	else if (wc->wr_id >= KRDMA_TRUNK_FRAMES)
		krdma_trunk_direct_done(trunk, wc);
	else
		krdma_link_sent(trunk, wc);
	krdma_link_send(trunk);
	/* It may have to end. */
	if (trunk->passive && krdma_trunk_is_empty(trunk))
		krdma_trunk_schedule(trunk);
	spin_unlock(&trunk->lock);
}
