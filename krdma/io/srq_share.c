// SPDX-License-Identifier: GPL-2.0
/*
 * Sharing an SRQ between lanes, and between these and queue pairs.
 *
 * The receives of an SRQ for lanes are in a pool.  The device gets at most half of them, and none
 * before a queue pair uses the SRQ: it would not give them back.  A lane, here a taker, holds a few
 * of the rest, since its peer must not send without a receive.  Two rules keep a peer from taking
 * what is meant for others:
 *
 *  - A peer has a share, for all of its takers: no more than one of KRDMA_SRQ_PARTS parts of the
 *    SRQ.  What its takers hold counts, and what they have used and the consumer has not replaced.
 *    Each receive that is posted replaces the oldest one that was used.
 *  - Takers that want receives come first, one peer after the other, and one taker of a peer after
 *    the other.  Without being asked for, no more receives are held than the pool keeps, and a peer
 *    gets only half of its share.
 *
 * If a taker wants a receive and the pool has none, the pool asks all takers that hold receives
 * without having asked for them to give them back; if the share of the taker is used up, only the
 * takers of this share.  So what a consumer has posted is never out of reach because of lanes that
 * are idle.  A peer that does not answer keeps no more than its share.
 *
 * The costs do not grow with the number of takers: each of them is in one list of its share, and
 * each share in one list of the pool.
 */
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "core/session.h"
#include "io/recv.h"
#include "io/srq.h"
#include "io/srq_share.h"
#include "io/wq.h"
#include "io/wr.h"
#include "mr/copy.h"
#include "mr/mr.h"

/* Takers that are notified at a time. */
#define KRDMA_SRQ_NOTIFY_BATCH		8

/**
 * struct krdma_srq_share - what a peer has of an SRQ
 * @node: entry of the pool's shares
 * @peer: number of the peer
 * @takers: takers of the peer
 * @count: receives that they hold, or have used and the consumer has not replaced
 * @wanting: takers that want receives
 * @lacking: takers that lack some
 * @holders: takers that hold some for which they have not asked
 * @want_node: entry of the pool's list @wanting, or with @is_full @full
 * @is_full: see @want_node
 * @lack_node: entry of the pool's list, while a taker that lacks some may get one
 * @hold_node: entry of the pool's list
 *
 * Protected by the SRQ's post lock.  Freed when it has no taker, and none of the receives counts.
 */
struct krdma_srq_share {
	struct hlist_node node;
	u64 peer;
	u32 takers;
	u32 count;
	struct list_head wanting;
	struct list_head lacking;
	struct list_head holders;
	struct list_head want_node;
	bool is_full;
	struct list_head lack_node;
	struct list_head hold_node;
};

/*
 * Shares
 */

static u32 krdma_srq_share_max(const struct krdma_srq *srq)
{
	return max(srq->credits.depth / KRDMA_SRQ_PARTS, 1U);
}

/* How much of its share a peer gets without asking. */
static u32 krdma_srq_standing_max(const struct krdma_srq *srq)
{
	return max(krdma_srq_share_max(srq) / 2, 1U);
}

static void krdma_srq_share_list(struct krdma_srq *srq, struct krdma_srq_share *share)
{
	bool is_full = share->count >= krdma_srq_share_max(srq);
	struct krdma_srq_pool *pool = srq->pool;

	lockdep_assert_held(&srq->lock);

	/* Otherwise it keeps its place. */
	if (!list_empty(&share->wanting) &&
	    (list_empty(&share->want_node) || is_full != share->is_full)) {
		list_move_tail(&share->want_node, is_full ? &pool->full : &pool->wanting);
		share->is_full = is_full;
	}
	if (!list_empty(&share->lacking) && share->count < krdma_srq_standing_max(srq) &&
	    list_empty(&share->lack_node))
		list_add_tail(&share->lack_node, &pool->lacking);
}

static void krdma_srq_share_check(struct krdma_srq_share *share)
{
	if (share->takers || share->count)
		return;
	hash_del(&share->node);
	list_del(&share->want_node);
	list_del(&share->lack_node);
	list_del(&share->hold_node);
	kfree(share);
}

/* A receive does not count any more. */
static void krdma_srq_share_less(struct krdma_srq *srq, struct krdma_srq_share *share)
{
	share->count--;
	krdma_srq_share_list(srq, share);
	krdma_srq_share_check(share);
}

static struct krdma_srq_share *krdma_srq_share_find(struct krdma_srq_pool *pool, u64 peer)
{
	struct krdma_srq_share *share;

	hash_for_each_possible(pool->shares, share, node, peer) {
		if (share->peer == peer)
			return share;
	}
	return NULL;
}

/* A receive was used, by @share or, if that is NULL, by a QP. */
static void krdma_srq_note_used(struct krdma_srq *srq, struct krdma_srq_share *share)
{
	struct krdma_srq_pool *pool = srq->pool;
	u32 depth = srq->credits.depth;

	/* There are no more than receives that can be posted. */
	if (WARN_ON_ONCE(pool->used_count == depth)) {
		if (share)
			krdma_srq_share_less(srq, share);
		return;
	}
	pool->used[(pool->used_head + pool->used_count++) % depth] = share;
}

/* A receive was posted. */
static void krdma_srq_note_posted(struct krdma_srq *srq)
{
	struct krdma_srq_pool *pool = srq->pool;
	struct krdma_srq_share *share;

	if (!pool->used_count)
		return;
	share = pool->used[pool->used_head];
	pool->used_head = (pool->used_head + 1) % srq->credits.depth;
	pool->used_count--;
	if (share)
		krdma_srq_share_less(srq, share);
}

/*
 * The pool
 */

static struct krdma_sge *krdma_srq_pool_sges(const struct krdma_srq *srq,
					     const struct krdma_srq_wqe *wqe)
{
	return &srq->pool->sges[(wqe - srq->wqes) * srq->max_sge];
}

static void krdma_srq_pool_add(struct krdma_srq_pool *pool, struct krdma_srq_wqe *wqe)
{
	wqe->next = NULL;
	if (pool->head)
		pool->tail->next = wqe;
	else
		pool->head = wqe;
	pool->tail = wqe;
	pool->count++;
}

static struct krdma_srq_wqe *krdma_srq_pool_pop(struct krdma_srq_pool *pool)
{
	struct krdma_srq_wqe *wqe = pool->head;

	pool->head = wqe->next;
	pool->count--;
	return wqe;
}

/* The receive that the device gets, if it can be given to a lane, too. */
static int krdma_srq_pool_fill(struct krdma_srq *srq, struct krdma_srq_wqe *wqe,
			       const struct krdma_recv_wr *wr)
{
	struct krdma_sge *to = krdma_srq_pool_sges(srq, wqe);
	struct ib_recv_wr ib_wr;
	u16 count = 0;
	int ret;

	ret = krdma_recv_build(wr, srq->pd, srq->max_sge, srq->sges, krdma_srq_mrs(srq, wqe),
			       &wqe->mr_count, &ib_wr);
	if (ret)
		return ret;
	wqe->wr_id = wr->wr_id;
	for (u32 i = 0; i < wr->sge_count; i++) {
		const struct krdma_sge *sge = &wr->sges[i];

		if (!sge->length)
			continue;
		if (!sge->mr || !krdma_mr_can_copy(sge->mr))
			goto err_uses;
		to[count++] = *sge;
	}
	return 0;

err_uses:
	krdma_srq_wqe_put_mrs(srq, wqe);
	return -EOPNOTSUPP;
}

/*
 * The device's SGEs of a receive of the pool.  The receive has begun to use its MRs when it was
 * posted: nothing can refuse that now, also if one has been dropped since.  Returns their number,
 * or a negative errno.
 */
static int krdma_srq_pool_build(struct krdma_srq *srq, const struct krdma_srq_wqe *wqe)
{
	const struct krdma_sge *sge = krdma_srq_pool_sges(srq, wqe);
	int count = 0;
	int ret;

	for (u16 i = 0; i < wqe->mr_count; i++, sge++) {
		ret = krdma_mr_sges(sge->mr, sge->addr, sge->length, &srq->sges[count],
				    srq->max_sge - count);
		if (ret < 0)
			return ret;
		count += ret;
	}
	return count;
}

/* Gives the device the oldest receive of the pool.  Returns whether it has taken it. */
static bool krdma_srq_pool_feed_one(struct krdma_srq *srq)
{
	struct krdma_srq_pool *pool = srq->pool;
	struct krdma_srq_wqe *wqe = pool->head;
	int count = krdma_srq_pool_build(srq, wqe);
	struct ib_recv_wr ib_wr = {
		.wr_cqe = &wqe->cqe,
		.sg_list = count ? srq->sges : (struct ib_sge *)&krdma_no_sge,
		.num_sge = count,
	};
	const struct ib_recv_wr *bad;

	/* They fitted when the receive was posted. */
	if (WARN_ON_ONCE(count < 0) || ib_post_srq_recv(srq->ib, &ib_wr, &bad))
		return false;
	krdma_srq_pool_pop(pool);
	pool->on_device++;
	return true;
}

/*
 * May the device have one more?  With takers it has no more than the pool: what the pool keeps can
 * still go to the device, but not the other way.
 */
static bool krdma_srq_pool_feeds(const struct krdma_srq *srq)
{
	const struct krdma_srq_pool *pool = srq->pool;

	if (!pool->qps || pool->on_device >= max(srq->credits.depth / 2, 1U))
		return false;
	return pool->takers ? pool->on_device + 1 < pool->count : pool->count;
}

static void krdma_srq_pool_feed_some(struct krdma_srq *srq)
{
	lockdep_assert_held(&srq->lock);

	while (krdma_srq_pool_feeds(srq) && krdma_srq_pool_feed_one(srq))
		;
}

/**
 * krdma_srq_pool_post() - Add a receive to the pool
 * @srq: the SRQ, with a pool
 * @wr: the receive
 *
 * Context: any, with the post lock held; krdma_srq_distribute() follows.
 * Return: 0, -EAGAIN, -EOPNOTSUPP: memory that lanes cannot use, or the errno of
 * krdma_recv_build().
 */
int krdma_srq_pool_post(struct krdma_srq *srq, const struct krdma_recv_wr *wr)
{
	struct krdma_srq_wqe *wqe;
	int ret;

	lockdep_assert_held(&srq->lock);

	if (!krdma_credits_take(&srq->credits, 1))
		return -EAGAIN;
	wqe = krdma_srq_wqe_pop(srq);
	ret = krdma_srq_pool_fill(srq, wqe, wr);
	if (ret) {
		krdma_srq_wqe_push(srq, wqe);
		krdma_credits_untake(&srq->credits, 1);
		return ret;
	}
	krdma_srq_pool_add(srq->pool, wqe);
	krdma_srq_note_posted(srq);
	krdma_srq_pool_feed_some(srq);
	return 0;
}

/**
 * krdma_srq_pool_feed() - A QP begins, or stops, to take receives of the device's SRQ
 * @srq: the SRQ, with a pool
 * @qps: 1 or -1
 *
 * Context: process context.
 */
void krdma_srq_pool_feed(struct krdma_srq *srq, int qps)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	srq->pool->qps += qps;
	krdma_srq_pool_feed_some(srq);
	spin_unlock_irqrestore(&srq->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_pool_feed);

/**
 * krdma_srq_pool_completed() - A receive of the device has completed
 * @srq: the SRQ, with a pool
 *
 * Context: any.
 */
void krdma_srq_pool_completed(struct krdma_srq *srq)
{
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	srq->pool->on_device--;
	krdma_srq_note_used(srq, NULL);
	krdma_srq_pool_feed_some(srq);
	spin_unlock_irqrestore(&srq->lock, flags);
}

/**
 * krdma_srq_pool_bytes() - Get the memory of a pool
 * @depth: depth of the SRQ
 * @max_sge: SGEs of a receive
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_srq_pool_bytes(u32 depth, u32 max_sge)
{
	return sizeof(struct krdma_srq_pool) +
	       (u64)depth * (max_sge * sizeof(struct krdma_sge) +
			     sizeof(struct krdma_srq_share *));
}

/**
 * krdma_srq_pool_create() - Create the pool of an SRQ
 * @depth: depth of the SRQ
 * @max_sge: SGEs of a receive
 * @node: NUMA node
 *
 * Context: process context; may sleep.
 * Return: the pool, for krdma_srq_pool_free(), or NULL.
 */
struct krdma_srq_pool *krdma_srq_pool_create(u32 depth, u32 max_sge, int node)
{
	struct krdma_srq_pool *pool;

	pool = kzalloc_obj(*pool, GFP_KERNEL_ACCOUNT);
	if (!pool)
		return NULL;
	pool->sges = kvzalloc_node(array3_size(depth, max_sge, sizeof(*pool->sges)),
				   GFP_KERNEL_ACCOUNT, node);
	pool->used = kvzalloc_node(array_size(depth, sizeof(*pool->used)), GFP_KERNEL_ACCOUNT,
				   node);
	if (!pool->sges || !pool->used) {
		krdma_srq_pool_free(pool);
		return NULL;
	}
	hash_init(pool->shares);
	INIT_LIST_HEAD(&pool->wanting);
	INIT_LIST_HEAD(&pool->full);
	INIT_LIST_HEAD(&pool->lacking);
	INIT_LIST_HEAD(&pool->holding);
	return pool;
}

/**
 * krdma_srq_pool_free() - Free the pool of an SRQ
 * @pool: the pool, without takers, or NULL
 *
 * Context: process context; may sleep.
 */
void krdma_srq_pool_free(struct krdma_srq_pool *pool)
{
	struct krdma_srq_share *share;
	struct hlist_node *next;
	int bucket;

	if (!pool)
		return;
	/* Those of receives that the consumer has not replaced. */
	hash_for_each_safe(pool->shares, bucket, next, share, node) {
		hash_del(&share->node);
		kfree(share);
	}
	kvfree(pool->used);
	kvfree(pool->sges);
	kfree(pool);
}

/*
 * Takers
 */

/* Puts a taker into the list in which it belongs, as the last one. */
static void krdma_srq_taker_list(struct krdma_srq_taker *taker)
{
	struct krdma_srq_share *share = taker->share;

	list_del_init(&taker->node);
	if (taker->stopped)
		return;
	if (taker->want)
		list_add_tail(&taker->node, &share->wanting);
	else if (taker->held < KRDMA_SRQ_STANDING)
		list_add_tail(&taker->node, &share->lacking);
	krdma_srq_share_list(taker->srq, share);
}

static void krdma_srq_note_holder(struct krdma_srq_taker *taker)
{
	struct krdma_srq_share *share = taker->share;

	list_move_tail(&taker->holder, &share->holders);
	if (list_empty(&share->hold_node))
		list_add_tail(&share->hold_node, &taker->srq->pool->holding);
}

static void krdma_srq_forget_holder(struct krdma_srq_taker *taker)
{
	list_del_init(&taker->holder);
	if (list_empty(&taker->share->holders))
		list_del_init(&taker->share->hold_node);
}

/* The taker that gets the next receive, or NULL; out of its list. */
static struct krdma_srq_taker *krdma_srq_next_taker(struct krdma_srq *srq)
{
	struct krdma_srq_pool *pool = srq->pool;
	struct krdma_srq_taker *taker = NULL;
	struct krdma_srq_share *share;

	while (!taker && !list_empty(&pool->wanting)) {
		share = list_first_entry(&pool->wanting, struct krdma_srq_share, want_node);
		list_del_init(&share->want_node);
		if (share->count < krdma_srq_share_max(srq))
			taker = list_first_entry_or_null(&share->wanting, struct krdma_srq_taker,
							 node);
	}
	while (!taker && pool->count > pool->held && !list_empty(&pool->lacking)) {
		share = list_first_entry(&pool->lacking, struct krdma_srq_share, lack_node);
		list_del_init(&share->lack_node);
		if (share->count < krdma_srq_standing_max(srq))
			taker = list_first_entry_or_null(&share->lacking, struct krdma_srq_taker,
							 node);
	}
	if (taker)
		list_del_init(&taker->node);
	return taker;
}

/* Gives a receive to the taker that has its turn.  Returns the taker, or NULL. */
static struct krdma_srq_taker *krdma_srq_give_one(struct krdma_srq *srq)
{
	struct krdma_srq_pool *pool = srq->pool;
	struct krdma_srq_taker *taker;
	struct krdma_srq_recv recv;
	bool given = false;

	lockdep_assert_held(&srq->lock);

	while (pool->count && !given) {
		taker = krdma_srq_next_taker(srq);
		if (!taker)
			return NULL;
		recv = (struct krdma_srq_recv) {
			.wr_id = pool->head->wr_id,
			.sges = krdma_srq_pool_sges(srq, pool->head),
			.sge_count = pool->head->mr_count,
		};
		/* Without room, it is listed again when it has used one. */
		given = taker->held < KRDMA_SRQ_HOLDS && taker->ops->give(taker, &recv);
		krdma_srq_share_list(srq, taker->share);
	}
	if (!given)
		return NULL;

	/* The taker has the uses of its MRs. */
	pool->head->mr_count = 0;
	krdma_srq_wqe_push(srq, krdma_srq_pool_pop(pool));
	pool->held++;
	taker->held++;
	taker->share->count++;
	if (taker->want)
		taker->want--;
	else if (!taker->recalled)
		krdma_srq_note_holder(taker);
	krdma_srq_taker_list(taker);
	return taker;
}

/* Returns the share with takers that have to give back what they do not need, or NULL. */
static struct krdma_srq_share *krdma_srq_recall_from(struct krdma_srq_pool *pool)
{
	struct krdma_srq_share *share;

	while ((share = list_first_entry_or_null(&pool->full, struct krdma_srq_share, want_node))) {
		if (!list_empty(&share->wanting) && !list_empty(&share->holders))
			return share;
		/* It is listed again with the next taker that wants some. */
		list_del_init(&share->want_node);
	}
	/* Nothing is held without having been asked for while a share is listed there in vain. */
	if (pool->count || list_empty(&pool->wanting))
		return NULL;
	return list_first_entry_or_null(&pool->holding, struct krdma_srq_share, hold_node);
}

/* A taker that holds receives while others lack them, or NULL. */
static struct krdma_srq_taker *krdma_srq_recall_one(struct krdma_srq *srq)
{
	struct krdma_srq_taker *taker;
	struct krdma_srq_share *share;

	lockdep_assert_held(&srq->lock);

	share = krdma_srq_recall_from(srq->pool);
	if (!share)
		return NULL;
	taker = list_first_entry(&share->holders, struct krdma_srq_taker, holder);
	krdma_srq_forget_holder(taker);
	taker->recalled = true;
	return taker;
}

static u32 krdma_srq_collect(struct krdma_srq *srq, struct krdma_srq_taker **takers,
			     struct krdma_srq_taker *(*next)(struct krdma_srq *srq))
{
	struct krdma_srq_taker *taker;
	unsigned long flags;
	u32 count = 0;

	spin_lock_irqsave(&srq->lock, flags);
	while (count < KRDMA_SRQ_NOTIFY_BATCH) {
		taker = next(srq);
		if (!taker)
			break;
		/* A taker that gets several receives is notified once. */
		if (count && takers[count - 1] == taker)
			continue;
		taker->ops->get(taker);
		takers[count++] = taker;
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	return count;
}

/**
 * krdma_srq_distribute() - Give the receives of the pool to the takers that may have them
 * @srq: the SRQ; the caller keeps it
 *
 * Context: any but NMI, without the post lock.
 */
void krdma_srq_distribute(struct krdma_srq *srq)
{
	struct krdma_srq_taker *takers[KRDMA_SRQ_NOTIFY_BATCH];
	u32 count;

	do {
		count = krdma_srq_collect(srq, takers, krdma_srq_give_one);
		for (u32 i = 0; i < count; i++) {
			takers[i]->ops->given(takers[i]);
			takers[i]->ops->put(takers[i]);
		}
	} while (count == KRDMA_SRQ_NOTIFY_BATCH);
	do {
		count = krdma_srq_collect(srq, takers, krdma_srq_recall_one);
		for (u32 i = 0; i < count; i++) {
			takers[i]->ops->recall(takers[i]);
			takers[i]->ops->put(takers[i]);
		}
	} while (count == KRDMA_SRQ_NOTIFY_BATCH);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_distribute);

/**
 * krdma_srq_taker_add() - Add a taker to an SRQ
 * @taker: the taker; filled in
 * @srq: the SRQ, with a pool; the taker is attached to it, and stays so until
 *	krdma_srq_taker_remove()
 * @peer: number of its peer, with which it has a share in common
 * @ops: callbacks
 *
 * It gets receives from krdma_srq_taker_start() on.
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_srq_taker_add(struct krdma_srq_taker *taker, struct krdma_srq *srq, u64 peer,
			const struct krdma_srq_taker_ops *ops)
{
	struct krdma_srq_share *share, *fresh;
	unsigned long flags;

	fresh = kzalloc_obj(*fresh, GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return -ENOMEM;
	fresh->peer = peer;
	INIT_LIST_HEAD(&fresh->wanting);
	INIT_LIST_HEAD(&fresh->lacking);
	INIT_LIST_HEAD(&fresh->holders);
	INIT_LIST_HEAD(&fresh->want_node);
	INIT_LIST_HEAD(&fresh->lack_node);
	INIT_LIST_HEAD(&fresh->hold_node);
	*taker = (struct krdma_srq_taker) { .ops = ops, .srq = srq, .stopped = true };
	INIT_LIST_HEAD(&taker->node);
	INIT_LIST_HEAD(&taker->holder);

	spin_lock_irqsave(&srq->lock, flags);
	share = krdma_srq_share_find(srq->pool, peer);
	if (!share) {
		share = fresh;
		fresh = NULL;
		hash_add(srq->pool->shares, &share->node, peer);
	}
	share->takers++;
	srq->pool->takers++;
	taker->share = share;
	spin_unlock_irqrestore(&srq->lock, flags);
	kfree(fresh);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_taker_add);

/**
 * krdma_srq_taker_start() - Let a taker have receives
 * @taker: the taker
 *
 * Context: any but NMI.
 */
void krdma_srq_taker_start(struct krdma_srq_taker *taker)
{
	struct krdma_srq *srq = taker->srq;
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	taker->stopped = false;
	krdma_srq_taker_list(taker);
	spin_unlock_irqrestore(&srq->lock, flags);
	krdma_srq_distribute(srq);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_taker_start);

/* Takes back what a taker got last.  Returns false if there is nothing to take. */
static bool krdma_srq_take_one(struct krdma_srq_taker *taker)
{
	struct krdma_srq *srq = taker->srq;
	struct krdma_srq_recv recv;
	struct krdma_srq_wqe *wqe;

	lockdep_assert_held(&srq->lock);

	if (!taker->held || !taker->ops->take(taker, &recv))
		return false;
	/* There is one for each receive that was posted and has not completed. */
	wqe = krdma_srq_wqe_pop(srq);
	wqe->wr_id = recv.wr_id;
	wqe->mr_count = recv.sge_count;
	for (u16 i = 0; i < recv.sge_count; i++) {
		krdma_srq_pool_sges(srq, wqe)[i] = recv.sges[i];
		krdma_srq_mrs(srq, wqe)[i] = recv.sges[i].mr;
	}
	krdma_srq_pool_add(srq->pool, wqe);
	srq->pool->held--;
	taker->held--;
	krdma_srq_share_less(srq, taker->share);
	return true;
}

/**
 * krdma_srq_taker_stop() - Take back what a taker does not use
 * @taker: the taker, which ends
 *
 * It gets none any more.  What it still holds it uses: krdma_srq_used() follows for each.
 *
 * Context: process context.
 */
void krdma_srq_taker_stop(struct krdma_srq_taker *taker)
{
	struct krdma_srq *srq = taker->srq;
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	taker->stopped = true;
	taker->want = 0;
	list_del_init(&taker->node);
	krdma_srq_forget_holder(taker);
	/* No more than KRDMA_SRQ_HOLDS. */
	while (krdma_srq_take_one(taker))
		;
	krdma_srq_pool_feed_some(srq);
	spin_unlock_irqrestore(&srq->lock, flags);
	krdma_srq_distribute(srq);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_taker_stop);

/**
 * krdma_srq_taker_remove() - Remove a taker
 * @taker: the taker, stopped, which holds no receive any more
 *
 * Context: process context.
 */
void krdma_srq_taker_remove(struct krdma_srq_taker *taker)
{
	struct krdma_srq *srq = taker->srq;
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	WARN_ON_ONCE(taker->held);
	taker->share->takers--;
	krdma_srq_share_check(taker->share);
	srq->pool->takers--;
	krdma_srq_pool_feed_some(srq);
	spin_unlock_irqrestore(&srq->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_taker_remove);

/**
 * krdma_srq_want() - Ask for receives
 * @taker: the taker
 * @count: number of receives that it needs, besides those that it holds
 *
 * Context: any but NMI.
 */
void krdma_srq_want(struct krdma_srq_taker *taker, u32 count)
{
	struct krdma_srq *srq = taker->srq;
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	taker->want = min_t(u32, count, KRDMA_SRQ_HOLDS);
	/* It needs what it holds. */
	krdma_srq_forget_holder(taker);
	krdma_srq_taker_list(taker);
	spin_unlock_irqrestore(&srq->lock, flags);
	krdma_srq_distribute(srq);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_want);

/* Is there something to distribute, or do takers want what others may hold? */
static bool krdma_srq_is_wanted(const struct krdma_srq_pool *pool)
{
	return pool->count || !list_empty(&pool->wanting) || !list_empty(&pool->full);
}

/**
 * krdma_srq_used() - A taker has used a receive
 * @taker: the taker
 *
 * Context: any but NMI; the completion of the receive follows.
 */
void krdma_srq_used(struct krdma_srq_taker *taker)
{
	struct krdma_srq *srq = taker->srq;
	unsigned long flags;
	bool more;

	spin_lock_irqsave(&srq->lock, flags);
	taker->held--;
	srq->pool->held--;
	krdma_srq_note_used(srq, taker->share);
	if (!taker->held)
		krdma_srq_forget_holder(taker);
	else if (!taker->want && !taker->recalled && !taker->stopped)
		/* A receive that it got unasked may have been in transit when it asked. */
		krdma_srq_note_holder(taker);
	krdma_srq_taker_list(taker);
	more = !taker->stopped && krdma_srq_is_wanted(srq->pool);
	spin_unlock_irqrestore(&srq->lock, flags);
	if (more)
		krdma_srq_distribute(srq);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_used);

/**
 * krdma_srq_yielded() - A taker that was asked for what it holds gives it back
 * @taker: the taker
 * @count: number of receives, and no more than it does not use; may be 0
 *
 * Context: any but NMI.
 */
void krdma_srq_yielded(struct krdma_srq_taker *taker, u32 count)
{
	struct krdma_srq *srq = taker->srq;
	unsigned long flags;

	spin_lock_irqsave(&srq->lock, flags);
	taker->recalled = false;
	while (count && krdma_srq_take_one(taker))
		count--;
	/* It needs the rest, and is not asked again before it gets more. */
	krdma_srq_taker_list(taker);
	spin_unlock_irqrestore(&srq->lock, flags);
	krdma_srq_distribute(srq);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_srq_yielded);
