/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion queues (CQ), as the other files of the core see them.
 */
#ifndef _KRDMA_CQ_H
#define _KRDMA_CQ_H

#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "core/cgroup.h"
#include "core/private.h"
#include "core/resource.h"
#include "io/flat.h"

/* Completions that one call of ib_poll_cq() takes at most. */
#define KRDMA_CQ_BATCH	16

struct krdma_credits;
struct krdma_mr;
struct krdma_wq;

/**
 * struct krdma_credits_ops - callbacks to the owner of the credits
 * @get: take a reference to the object that contains the credits
 * @put: drop that reference; any context
 * @space: credits are available again; in the context of the poll lock
 */
struct krdma_credits_ops {
	void (*get)(struct krdma_credits *credits);
	void (*put)(struct krdma_credits *credits);
	void (*space)(struct krdma_credits *credits);
};

/**
 * struct krdma_credits - count of entries that have been taken and returned
 * @depth: total number of credits
 * @taken: credits taken so far; protected by the post lock of the owner
 * @given: @depth, and credits returned so far; written under the CQ's poll lock, read without it
 * @waiting: completions in the CQ's backlog; protected by the poll lock
 * @left_behind: the oldest of them, for which the owner no longer reserves entries of the CQ,
 *	because it was detached; protected by the poll lock
 * @wanted: a caller was refused and waits for credits
 * @ops: callbacks to the owner
 *
 * Both counters run freely.  A credit is returned when the consumer gets the completion.  So the
 * CQ always has room for what was accepted.
 */
struct krdma_credits {
	u32 depth;
	u32 taken;
	u32 given;
	u32 waiting;
	u32 left_behind;
	bool wanted;
	const struct krdma_credits_ops *ops;
};

bool krdma_credits_take_late(struct krdma_credits *credits, u32 count);

static inline void krdma_credits_init(struct krdma_credits *credits, u32 depth,
				      const struct krdma_credits_ops *ops)
{
	*credits = (struct krdma_credits) { .depth = depth, .given = depth, .ops = ops };
}

/* Number of credits that can be taken; exact under the post lock. */
static inline u32 krdma_credits_left(const struct krdma_credits *credits)
{
	/* Pairs with the release in krdma_credits_give(): the WQE is free, too. */
	return smp_load_acquire(&credits->given) - credits->taken;
}

/* Take credits, or have @ops->space() called when there are some; under the post lock. */
static inline bool krdma_credits_take(struct krdma_credits *credits, u32 count)
{
	if (unlikely(krdma_credits_left(credits) < count))
		return krdma_credits_take_late(credits, count);
	credits->taken += count;
	return true;
}

/* Return credits that were taken last and not used; under the post lock. */
static inline void krdma_credits_untake(struct krdma_credits *credits, u32 count)
{
	credits->taken -= count;
}

/*
 * Return credits, before the consumer gets the completion: it may use what the completion frees.
 * With the poll lock held, as for krdma_credits_announce() and krdma_credits_return().
 */
static inline void krdma_credits_give(struct krdma_credits *credits, u32 count)
{
	/* Pairs with the acquire in krdma_credits_left(). */
	smp_store_release(&credits->given, credits->given + count);
}

/* Notify a caller that was refused; a full barrier separates this from krdma_credits_give(). */
static inline void krdma_credits_notify(struct krdma_credits *credits)
{
	if (unlikely(READ_ONCE(credits->wanted))) {
		/*
		 * Before what space() clears: a caller that is refused sets that, and then this, in
		 * krdma_credits_take_late().
		 */
		smp_store_mb(credits->wanted, false);
		credits->ops->space(credits);
	}
}

/* Notify a caller that was refused; called after krdma_credits_give(). */
static inline void krdma_credits_announce(struct krdma_credits *credits)
{
	/*
	 * Pairs with the barrier in krdma_credits_take_late(): at least one of the two sides sees
	 * what the other has written.
	 */
	smp_mb();
	krdma_credits_notify(credits);
}

/* Return credits, and notify a caller that waits for them. */
static inline void krdma_credits_return(struct krdma_credits *credits, u32 count)
{
	krdma_credits_give(credits, count);
	krdma_credits_announce(credits);
}

/**
 * struct krdma_cq_backlog_entry - a completion that waits for krdma_cq_poll()
 * @wc: the completion
 * @credits: get one credit back when the completion is taken; holds a reference until then
 */
struct krdma_cq_backlog_entry {
	struct krdma_wc wc;
	struct krdma_credits *credits;
};

/**
 * struct krdma_cq - a completion queue
 * @res: the device's part: @ib
 * @refs: references: one of the consumer, one of @res, and one for each attached work queue
 * @dev: the device
 * @where: context in which the consumer gets completions
 * @depth: entries
 * @reserve_lock: protects @reserved
 * @reserved: entries of @depth that are reserved by attached work queues, or by completions in
 *	@backlog of those that were detached
 * @ib: the device's CQ; valid until @res is released
 * @charge: charge for @ib in the RDMA control group
 * @poll_mutex: the poll lock with KRDMA_CONTEXT_WORKQUEUE.  Completions are taken from @ib and
 *	passed to the consumer only with the poll lock held: by one thread at a time, and in
 *	order.
 * @poll_lock: the poll lock in the other contexts
 * @work: completes in process context
 * @iop: completes in softirq; with KRDMA_CONTEXT_POLL it calls @ready
 * @ready_lock: protects @ready and @srq_ended; held while they are called
 * @ready: with KRDMA_CONTEXT_POLL: the consumer's callback until krdma_cq_put(), or NULL
 * @srq_ended: as @ready
 * @ready_context: argument of both
 * @events: completion events of the device; counted with KRDMA_CONTEXT_POLL
 * @wait: woken when @events, @backlog or @ended change
 * @ended: @ib is being destroyed and must not be used; protected by the poll lock
 * @ib_wcs: batch of completions from the device; protected by the poll lock
 * @out: where krdma_cq_poll() wants the next completion; protected by the poll lock
 * @flat: where krdma_cq_poll_flat() wants it, or NULL; protected by the poll lock
 * @out_free: completions that still fit there; protected by the poll lock
 * @more: 1: the last poll of the device has got as many as it asked for, so there may be more; any
 *	other value: it has not; protected by the poll lock
 * @batch: the work queue of the completions that the current krdma_cq_poll() has taken and not
 *	yet counted, or NULL; protected by the poll lock
 * @batch_count: completions of @batch; protected by the poll lock
 * @put_mr: MR that these completions used and of which the uses end together, or NULL; protected
 *	by the poll lock
 * @put_count: uses of @put_mr that are to end
 * @spare: buffer for a completion when no caller polls; protected by the poll lock
 * @backlog: completions that the consumer has not polled yet: a circular buffer with @depth + 1
 *	entries; protected by the poll lock
 * @backlog_head: index of the next completion to be taken
 * @backlog_tail: index where the next completion is stored; equal to @backlog_head if the backlog
 *	is empty
 * @vector: completion vector; valid if @has_vector
 * @has_vector: a completion vector has been taken
 * @session: session that pays for the memory, with a reference; or NULL
 * @charged: bytes charged to @session; 0 if nothing was charged
 * @rcu: for freeing: softirqs may read the object until they have ended
 */
struct krdma_cq {
	struct krdma_resource res;
	refcount_t refs;
	struct krdma_device *dev;
	enum krdma_context where;
	u32 depth;
	spinlock_t reserve_lock;	/* see above */
	u32 reserved;

	struct ib_cq *ib;
	struct krdma_charge charge;
	struct mutex poll_mutex;	/* see above */
	spinlock_t poll_lock;		/* see above */
	struct work_struct work;
	struct irq_poll iop;
	spinlock_t ready_lock;		/* see above */
	bool (*ready)(void *context);
	void (*srq_ended)(void *context);
	void *ready_context;
	atomic_t events;
	wait_queue_head_t wait;

	bool ended;
	int more;
	struct ib_wc ib_wcs[KRDMA_CQ_BATCH];
	struct krdma_wc *out;
	struct krdma_flat_ring *flat;
	int out_free;
	struct krdma_wq *batch;
	int batch_count;
	int put_count;
	struct krdma_mr *put_mr;
	struct krdma_wc spare;
	struct krdma_cq_backlog_entry *backlog;
	u32 backlog_head;
	u32 backlog_tail;
	u32 vector;
	bool has_vector;
	struct krdma_session *session;
	u64 charged;
	struct rcu_head rcu;
};

/* Index of the backlog entry that follows @place. */
static inline u32 krdma_cq_backlog_next(const struct krdma_cq *cq, u32 place)
{
	return place == cq->depth ? 0 : place + 1;
}

/*
 * Attach a work queue: reserve @count entries and keep @ib.  Returns 0, -ENOSPC, -ENODEV or
 * -ESHUTDOWN.
 */
int krdma_cq_attach(struct krdma_cq *cq, u32 count);
void krdma_cq_detach(struct krdma_cq *cq, u32 count, struct krdma_credits *credits);
void krdma_cq_settle(struct krdma_cq *send, struct krdma_cq *recv);
void krdma_cq_srq_ended(struct krdma_cq *cq);

/*
 * krdma_cq_lock() keeps other contexts from taking completions until krdma_cq_unlock().  Process
 * context; @flags belongs to the pair.  krdma_cq_empty() takes all completions that the device has,
 * and is called without the lock.
 */
void krdma_cq_lock(struct krdma_cq *cq, unsigned long *flags);
void krdma_cq_unlock(struct krdma_cq *cq, unsigned long flags);
void krdma_cq_empty(struct krdma_cq *cq);

static inline void krdma_cq_assert_held(struct krdma_cq *cq)
{
	if (cq->where == KRDMA_CONTEXT_WORKQUEUE)
		lockdep_assert_held(&cq->poll_mutex);
	else
		lockdep_assert_held(&cq->poll_lock);
}

/*
 * Where to build a completion, with the poll lock held: in the consumer's buffer if it is
 * polling, so that nothing is copied.  The caller sets every member.
 */
static inline struct krdma_wc *krdma_cq_next_wc(struct krdma_cq *cq)
{
	return cq->out_free > 0 && !cq->flat ? cq->out : &cq->spare;
}

void krdma_flat_store(struct krdma_flat_ring *ring, const struct krdma_wc *wc);

/* Stores a completion for the consumer that is polling. */
static inline void krdma_cq_store(struct krdma_cq *cq, const struct krdma_wc *wc)
{
	cq->out_free--;
	if (cq->flat) {
		krdma_flat_store(cq->flat, wc);
		return;
	}
	if (wc != cq->out)
		*cq->out = *wc;
	cq->out++;
}

void krdma_cq_complete_slow(struct krdma_cq *cq,
			    const struct krdma_wc *wc,
			    void (*complete)(const struct krdma_wc *wc),
			    struct krdma_credits *credits);

/*
 * Complete to the consumer, by @complete or for krdma_cq_poll(), and return one credit.  With the
 * poll lock held.
 */
static inline void krdma_cq_complete(struct krdma_cq *cq,
				     const struct krdma_wc *wc,
				     void (*complete)(const struct krdma_wc *wc),
				     struct krdma_credits *credits)
{
	krdma_cq_assert_held(cq);

	if (cq->out_free <= 0) {
		krdma_cq_complete_slow(cq, wc, complete, credits);
		return;
	}
	krdma_cq_store(cq, wc);
	krdma_credits_return(credits, 1);
}

#endif /* _KRDMA_CQ_H */
