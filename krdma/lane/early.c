// SPDX-License-Identifier: GPL-2.0
/*
 * The first message of a lane, which may go before the lane is accepted.
 *
 * A consumer that connects with &struct krdma_conn_param.early can post at once.  If the first work
 * request is a short message, it follows OPEN, in the same frame where there is room, and does not
 * wait for the answer: a request and its reply then take no longer than on a lane that is there.
 * To the consumer of the passive side nothing is different: the message arrives after the accept,
 * like one that was sent the moment the peer knew of that.
 *
 * The passive side keeps the message until the lane is accepted and has a receive.  OPEN says how
 * long it may be, so the memory is that of the lane, and a lane without it is rejected.  There is
 * one such message, and the peer counts it among those that use receives.  So while the peer knows
 * of no receive for it, nothing may follow that could overtake it.
 *
 * The message is done when the lane is accepted, not before: a work request of a rejected lane is
 * flushed.
 */
#include <linux/slab.h>

#include "cm/conn.h"
#include "io/srq.h"
#include "lane/ask.h"
#include "lane/early.h"
#include "lane/lane.h"
#include "lane/link.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/trunk.h"

/*
 * The active side
 */

/**
 * krdma_lane_open_early() - Let the consumer post before the lane is accepted
 * @lane: the lane, active; its OPEN is not sent
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_open_early(struct krdma_lane *lane)
{
	struct krdma_conn *conn = lane->conn;
	unsigned long flags;

	lockdep_assert_held(&lane->trunk->lock);

	lane->early_max = KRDMA_LANE_EARLY_MAX;
	/* The connection may have ended meanwhile, when there was nothing to close. */
	spin_lock_irqsave(&conn->state_lock, flags);
	spin_lock(&lane->lock);
	lane->send.open = conn->state < KRDMA_CONN_CLOSING;
	spin_unlock(&lane->lock);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/**
 * krdma_lane_has_early() - Check whether a message is to be sent before the lane is accepted
 * @lane: the lane
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: whether the next work request is one.
 */
bool krdma_lane_has_early(const struct krdma_lane *lane)
{
	const struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe;

	if (!lane->early_max || lane->stage != KRDMA_LANE_ASKED || !lane->attached ||
	    !krdma_lane_queued(queue))
		return false;
	wqe = krdma_lane_wqe_at(queue, queue->next);
	return krdma_lane_is_message(wqe) && wqe->length <= lane->early_max;
}

/**
 * krdma_lane_early_waits() - Check whether the peer may have no receive for the first message
 * @lane: the lane, open on both sides
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: true: nothing else may be sent.
 */
bool krdma_lane_early_waits(const struct krdma_lane *lane)
{
	const struct krdma_lane_asked *asked = &lane->asked;

	return (s32)(lane->peer_credits - asked->yielded - asked->messages) < 0;
}

/*
 * The passive side
 */

/**
 * krdma_lane_early_alloc() - Allocate the memory for the first message
 * @lane: the lane, passive, which no other thread knows
 * @size: bytes of the longest one that the peer may send
 * @gfp: as for the lane
 *
 * Context: process context; may sleep if @gfp says so.
 * Return: 0 or -ENOMEM.
 */
int krdma_lane_early_alloc(struct krdma_lane *lane, u32 size, gfp_t gfp)
{
	lane->early = kmalloc(struct_size(lane->early, data, size), gfp);
	if (!lane->early)
		return -ENOMEM;
	lane->early->size = size;
	lane->early->kept = false;
	return 0;
}

/* The first message has a receive, and is the last one that could be kept. */
static void krdma_lane_early_free(struct krdma_lane *lane)
{
	kfree(lane->early);
	lane->early = NULL;
}

/**
 * krdma_lane_keep_early() - Keep a message of the peer until the lane is accepted
 * @lane: the lane, passive, attached
 * @record: the record of DATA
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: 0, or -EPROTO: no message may be sent now, or not this one.
 */
int krdma_lane_keep_early(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	const u8 whole = KRDMA_LANE_FIRST | KRDMA_LANE_LAST;
	struct krdma_lane_early *early = lane->early;

	lockdep_assert_held(&lane->trunk->lock);

	if (!early || early->kept || record->type != KRDMA_LANE_DATA ||
	    (record->flags & whole) != whole || record->length > early->size)
		return -EPROTO;
	early->kept = true;
	early->flags = record->flags;
	early->imm = record->value;
	early->length = record->length;
	memcpy(early->data, record->data, record->length);
	return 0;
}

/**
 * krdma_lane_take_early() - Complete the first receive with the message that was kept
 * @lane: the lane, passive, attached and open
 *
 * Does nothing if there is none, or no receive: then the thread that posts one has the work item do
 * it.
 *
 * Context: softirqs are off, with the trunk's lock held and &struct krdma_trunk.served set,
 * or by the trunk's work item; krdma_link_send() follows.
 * Return: 0, or -EPROTO: the peer has begun something that cannot follow it.
 */
int krdma_lane_take_early(struct krdma_lane *lane)
{
	struct krdma_lane_early *early = lane->early;
	struct krdma_lane_record record;
	int ret;

	lockdep_assert_held(&lane->trunk->lock);

	if (!early || !early->kept || lane->served.refused)
		return 0;
	WRITE_ONCE(lane->early_waits, true);
	/* Pairs with the barriers in krdma_lane_post_recv() and krdma_lane_taker_given(). */
	smp_mb();
	if (!krdma_lane_queued(&lane->recv)) {
		if (krdma_lane_srq(lane))
			krdma_srq_want(&lane->share->taker, 1);
		return 0;
	}
	WRITE_ONCE(lane->early_waits, false);
	record = (struct krdma_lane_record) {
		.type = KRDMA_LANE_DATA,
		.flags = early->flags,
		.lane = lane->number,
		.value = early->imm,
		.total = early->length,
		.data = early->data,
		.length = early->length,
	};
	ret = krdma_link_message(lane, &record);
	krdma_lane_early_free(lane);
	if (krdma_lane_owes_credits(lane))
		krdma_trunk_add_ready(lane);
	return ret;
}

/**
 * krdma_lane_follow_early() - Take the first message before what follows it
 * @lane: the lane, passive, attached and open, with @early
 * @record: what follows, or the first message itself
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0: @record is the next one; -EINPROGRESS: it is the first message, and was kept; -EPROTO:
 * it cannot follow.
 */
int krdma_lane_follow_early(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	int ret;

	if (lane->early->kept)
		return krdma_lane_take_early(lane);
	/* Only a message that was sent before ACCEPT has arrived can come without a receive. */
	if (record->type != KRDMA_LANE_DATA || krdma_lane_queued(&lane->recv)) {
		krdma_lane_early_free(lane);
		return 0;
	}
	ret = krdma_lane_keep_early(lane, record);
	/* One may have been posted meanwhile. */
	return ret ?: krdma_lane_take_early(lane) ?: -EINPROGRESS;
}

/**
 * krdma_lane_early_work() - Take the first message: a receive was posted
 * @lane: the lane, passive
 *
 * Context: process context; may sleep.
 */
void krdma_lane_early_work(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	int ret;

	spin_lock_bh(&trunk->lock);
	if (lane->attached && lane->stage == KRDMA_LANE_UP) {
		/* What callbacks make ready is sent below. */
		WRITE_ONCE(trunk->served, true);
		ret = krdma_lane_take_early(lane);
		if (ret)
			krdma_trunk_fail(trunk, ret);
		krdma_link_send(trunk);
	}
	spin_unlock_bh(&trunk->lock);
}
