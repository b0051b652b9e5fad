// SPDX-License-Identifier: GPL-2.0
/*
 * Receives of an SRQ for lanes.
 *
 * A lane without receives of its own holds a few of an SRQ (io/srq_share.c), in its own queue, so
 * that everything else is as for any other lane: the peer knows how many there are, and sends no
 * message without one.  There are three records for what is different:
 *
 *	WANT	the peer's messages wait for receives
 *	RECALL	others lack the receives that the peer does not need
 *	YIELD	the peer gives a number of them back
 *
 * A YIELD follows the messages that were sent before it, so what it gives back is not used by one
 * of these.  The receives of both sides are counted from the lane's beginning with those that were
 * yielded, so counts only grow, and receives that are given after the RECALL are not concerned.
 */
#include <linux/slab.h>

#include "cm/conn.h"
#include "io/srq.h"
#include "lane/ask.h"
#include "lane/lane.h"
#include "lane/queue.h"
#include "lane/ready.h"
#include "lane/share.h"

static struct krdma_lane *krdma_lane_of_taker(struct krdma_srq_taker *taker)
{
	return container_of(taker, struct krdma_lane_share, taker)->lane;
}

static void krdma_lane_taker_get(struct krdma_srq_taker *taker)
{
	krdma_conn_get(krdma_lane_of_taker(taker)->conn);
}

static void krdma_lane_taker_put(struct krdma_srq_taker *taker)
{
	krdma_conn_put(krdma_lane_of_taker(taker)->conn);
}

static bool krdma_lane_taker_give(struct krdma_srq_taker *taker, const struct krdma_srq_recv *recv)
{
	return krdma_lane_push_recv(krdma_lane_of_taker(taker), recv);
}

static bool krdma_lane_taker_take(struct krdma_srq_taker *taker, struct krdma_srq_recv *recv)
{
	return krdma_lane_pop_recv(krdma_lane_of_taker(taker), recv);
}

static void krdma_lane_taker_given(struct krdma_srq_taker *taker)
{
	struct krdma_lane *lane = krdma_lane_of_taker(taker);

	/* As in krdma_lane_post_recv(). */
	smp_mb();
	if (READ_ONCE(lane->early_waits))
		krdma_lane_queue_find(lane);
	/* ACCEPT has the number of them. */
	if (READ_ONCE(lane->due) & BIT(KRDMA_LANE_DUE_ACCEPT))
		return;
	if (krdma_lane_owes_credits(lane))
		krdma_trunk_ready(lane);
}

static void krdma_lane_taker_recall(struct krdma_srq_taker *taker)
{
	struct krdma_lane_share *share = container_of(taker, struct krdma_lane_share, taker);

	WRITE_ONCE(share->recall_due, true);
	krdma_trunk_ready(share->lane);
}

static const struct krdma_srq_taker_ops krdma_lane_taker_ops = {
	.get = krdma_lane_taker_get,
	.put = krdma_lane_taker_put,
	.give = krdma_lane_taker_give,
	.take = krdma_lane_taker_take,
	.given = krdma_lane_taker_given,
	.recall = krdma_lane_taker_recall,
};

/**
 * krdma_lane_share_create() - Let a lane take receives of an SRQ
 * @lane: the lane, with its trunk
 * @srq: the SRQ; the caller has a reference
 *
 * Context: process context; may sleep.
 * Return: 0; -EOPNOTSUPP: the SRQ is not for lanes; -EINVAL: it is of another device or session;
 * -ENODEV or -ESHUTDOWN: it has ended; -ENOMEM.
 */
int krdma_lane_share_create(struct krdma_lane *lane, struct krdma_srq *srq)
{
	struct krdma_lane_share *share;
	int ret;

	if (!srq->attr.lanes)
		return -EOPNOTSUPP;
	ret = krdma_srq_attach(srq);
	if (ret)
		return ret;
	ret = -EINVAL;
	if (srq->pd != lane->pd)
		goto err_detach;
	ret = -ENOMEM;
	share = kzalloc_obj(*share, GFP_KERNEL_ACCOUNT);
	if (!share)
		goto err_detach;
	share->lane = lane;
	ret = krdma_srq_taker_add(&share->taker, srq, lane->trunk->id, &krdma_lane_taker_ops);
	if (ret)
		goto err_free;
	WRITE_ONCE(lane->share, share);
	return 0;

err_free:
	kfree(share);
err_detach:
	krdma_srq_detach(srq);
	return ret;
}

/**
 * krdma_lane_share_destroy() - Undo krdma_lane_share_create(), but for krdma_lane_share_free()
 * @lane: the lane, with an SRQ; its receives have completed or were taken back
 *
 * Context: process context; may sleep.
 */
void krdma_lane_share_destroy(struct krdma_lane *lane)
{
	struct krdma_srq_taker *taker = &lane->share->taker;
	struct krdma_srq *srq = taker->srq;
	unsigned long flags;

	krdma_srq_taker_remove(taker);
	/* A pass of krdma_pd_end_users() may have found the lane before. */
	spin_lock_irqsave(&lane->lock, flags);
	WRITE_ONCE(taker->srq, NULL);
	spin_unlock_irqrestore(&lane->lock, flags);
	krdma_srq_detach(srq);
}

/**
 * krdma_lane_share_free() - Free what a lane with an SRQ has besides
 * @lane: the lane, which is freed, or has no queues any more
 *
 * Context: any.
 */
void krdma_lane_share_free(struct krdma_lane *lane)
{
	kfree(lane->share);
	lane->share = NULL;
}

/**
 * krdma_lane_share_start() - Both sides are open
 * @lane: the lane
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_share_start(struct krdma_lane *lane)
{
	lockdep_assert_held(&lane->trunk->lock);

	/* A lane that is closed has been, or will be, stopped. */
	if (krdma_lane_srq(lane))
		krdma_srq_taker_start(&lane->share->taker);
}

/**
 * krdma_lane_wanted() - Handle WANT
 * @lane: the lane, attached and open
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: the lane has receives of its own.
 */
int krdma_lane_wanted(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	lockdep_assert_held(&lane->trunk->lock);

	if (!krdma_lane_srq(lane))
		return -EPROTO;
	krdma_srq_want(&lane->share->taker, record->value);
	return 0;
}

/**
 * krdma_lane_recalled() - Handle RECALL
 * @lane: the lane, attached and open
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: the peer has receives of its own.
 */
int krdma_lane_recalled(struct krdma_lane *lane)
{
	struct krdma_lane_asked *asked = &lane->asked;
	u32 spare = krdma_lane_credits_left(lane);

	lockdep_assert_held(&lane->trunk->lock);

	if (!lane->peer_shares)
		return -EPROTO;
	spare -= min(spare, krdma_lane_receives_needed(lane));
	spare = min(spare, KRDMA_LANE_WANT_MAX - asked->to_yield);
	asked->yielded += spare;
	asked->to_yield += spare;
	asked->yield_due = true;
	krdma_trunk_add_ready(lane);
	return 0;
}

/**
 * krdma_lane_yielded() - Handle YIELD
 * @lane: the lane, attached and open
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: it was not asked for, or is more than the peer has.
 */
int krdma_lane_yielded(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_share *share = lane->share;

	lockdep_assert_held(&lane->trunk->lock);

	if (!share || !share->recall_sent ||
	    record->value > lane->advertised - krdma_lane_recvs_used(lane))
		return -EPROTO;
	share->recall_sent = false;
	krdma_srq_yielded(&share->taker, record->value);
	/* A context that has given one meanwhile may have read only one of the two counts. */
	if (krdma_lane_owes_credits(lane))
		krdma_trunk_add_ready(lane);
	return 0;
}

/**
 * krdma_lane_add_recall() - Ask the peer for receives that it does not need, and answer it
 * @writer: the frame
 * @lane: the lane, attached and open
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_lane_add_recall(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_record recall = { .type = KRDMA_LANE_RECALL, .lane = lane->number };
	struct krdma_lane_record yield = {
		.type = KRDMA_LANE_YIELD,
		.lane = lane->number,
		.value = lane->asked.to_yield,
	};
	struct krdma_lane_share *share = lane->share;

	lockdep_assert_held(&lane->trunk->lock);

	if (share && READ_ONCE(share->recall_due)) {
		if (krdma_lane_frame_left(writer, recall.type, 0) == U32_MAX)
			return false;
		WRITE_ONCE(share->recall_due, false);
		share->recall_sent = true;
		krdma_lane_frame_add(writer, &recall);
	}
	if (lane->asked.yield_due) {
		if (krdma_lane_frame_left(writer, yield.type, 0) == U32_MAX)
			return false;
		lane->asked.yield_due = false;
		lane->asked.to_yield = 0;
		krdma_lane_frame_add(writer, &yield);
	}
	return true;
}

/**
 * krdma_lane_add_want() - Tell the peer that messages wait for its receives
 * @writer: the frame
 * @lane: the lane, attached and open, of which no more messages can be sent now
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_lane_add_want(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_record record = {
		.type = KRDMA_LANE_WANT,
		.lane = lane->number,
	};

	lockdep_assert_held(&lane->trunk->lock);

	if (!lane->peer_shares || lane->asked.wanted || !krdma_lane_lacks_receive(lane))
		return true;
	if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
		return false;
	/* What it does not need would be kept from others. */
	record.value = krdma_lane_receives_needed(lane);
	krdma_lane_frame_add(writer, &record);
	lane->asked.wanted = true;
	return true;
}
