/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queues of completions, as the core's files see them.
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

/* Completions that are taken from the device at a time. */
#define KRDMA_CQ_BATCH	16

struct krdma_credits;
struct krdma_mr;
struct krdma_wq;

/**
 * struct krdma_credits_ops - those whose credits they are
 * @get: keeps what the credits are part of
 * @put: ends that; any context
 * @space: there are credits again; in the context of the poll lock
 */
struct krdma_credits_ops {
	void (*get)(struct krdma_credits *credits);
	void (*put)(struct krdma_credits *credits);
	void (*space)(struct krdma_credits *credits);
};

/**
 * struct krdma_credits - how much of something has been used and given back
 * @depth: how much there is
 * @taken: taken so far; protected by the lock of the one who posts
 * @returned: given back so far; protected by the queue's poll lock, read by all
 * @wanted: somebody was refused and waits for more
 * @ops: whose
 *
 * Both counters run freely.  A credit is given back when the consumer is told of
 * the completion: so whatever is accepted has room in the queue.
 */
struct krdma_credits {
	u32 depth;
	u32 taken;
	u32 returned;
	bool wanted;
	const struct krdma_credits_ops *ops;
};

bool krdma_credits_take_late(struct krdma_credits *credits, u32 count);

/* How many can be taken; exact under the lock of the one who posts. */
static inline u32 krdma_credits_left(const struct krdma_credits *credits)
{
	/* Pairs with the release in krdma_credits_give(): the slot is free, too. */
	return credits->depth - (credits->taken - smp_load_acquire(&credits->returned));
}

/* Take some, or be told when there are more; under the lock of the one who posts. */
static inline bool krdma_credits_take(struct krdma_credits *credits, u32 count)
{
	if (unlikely(krdma_credits_left(credits) < count))
		return krdma_credits_take_late(credits, count);
	credits->taken += count;
	return true;
}

/* What was taken last was not used; likewise. */
static inline void krdma_credits_untake(struct krdma_credits *credits, u32 count)
{
	credits->taken -= count;
}

/*
 * Some are back: whoever is told of a completion may use what it has freed.  Under the
 * poll lock, as the next two.
 */
static inline void krdma_credits_give(struct krdma_credits *credits, u32 count)
{
	/* Pairs with the acquire in krdma_credits_left(). */
	smp_store_release(&credits->returned, credits->returned + count);
}

/* After krdma_credits_give(): tells the one who was refused. */
static inline void krdma_credits_announce(struct krdma_credits *credits)
{
	/* Pairs with the barrier in krdma_credits_take_late(): one of both sees. */
	smp_mb();
	if (unlikely(READ_ONCE(credits->wanted))) {
		WRITE_ONCE(credits->wanted, false);
		credits->ops->space(credits);
	}
}

/* Give some back, and tell the one who waits for them. */
static inline void krdma_credits_return(struct krdma_credits *credits, u32 count)
{
	krdma_credits_give(credits, count);
	krdma_credits_announce(credits);
}

/**
 * struct krdma_cq_backlog_entry - a completion that waits for krdma_cq_poll()
 * @wc: the completion
 * @credits: of what one is given back when it is taken; kept until then
 */
struct krdma_cq_backlog_entry {
	struct krdma_wc wc;
	struct krdma_credits *credits;
};

/**
 * struct krdma_cq - a queue of completions
 * @res: the device's completion queue: @ib
 * @refs: the consumer's, @res's, and one for each that completes here
 * @dev: its device
 * @where: where completions are told
 * @depth: how many it has room for
 * @reserve_lock: protects @reserved
 * @reserved: how many of @depth are spoken for
 * @ib: the device's completion queue, while @res has not been released
 * @charge: of it
 * @poll_mutex: the poll lock with KRDMA_CONTEXT_WORKQUEUE.  Whoever holds the poll
 *	lock takes completions from @ib and tells of them: so there is one at a
 *	time, and they come in order.
 * @poll_lock: the poll lock otherwise
 * @work: tells in process context
 * @iop: tells in softirq; with KRDMA_CONTEXT_POLL, calls @ready
 * @ready_lock: protects @ready; held while it is called
 * @ready: with KRDMA_CONTEXT_POLL: the consumer's, until it puts the queue; or NULL
 * @ready_context: given to it
 * @events: how often the device has told; with KRDMA_CONTEXT_POLL
 * @wait: for @events, @backlog and the end
 * @ended: @ib is going and must not be touched; protected by the poll lock
 * @ib_wcs: a batch from the device; protected by the poll lock
 * @out: where krdma_cq_poll() wants completions; protected by the poll lock
 * @out_room: how many more it takes
 * @batch: whose the operations are of which the consumer is about to be told, by
 *	krdma_cq_poll(): they are counted together; or NULL; protected by the poll lock
 * @batch_count: how many
 * @put_mr: their memory, or NULL: the uses of it end together, too; likewise
 * @put_count: how many of these
 * @spare: where a completion is made that nobody polls; protected by the poll lock
 * @backlog: completions that nobody has asked for yet: a ring with a place more than
 *	@depth.  Protected by the poll lock.
 * @backlog_head: the next to be taken
 * @backlog_tail: where the next one goes; there is none where both are the same
 * @vector: its completion vector, from when @ib is made
 * @has_vector: it has one
 * @session: whose account is charged, with a reference; or NULL
 * @charged: how many bytes; 0: nothing was
 * @rcu: softirqs may look at it until they have ended
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
	void *ready_context;
	atomic_t events;
	wait_queue_head_t wait;

	bool ended;
	struct ib_wc ib_wcs[KRDMA_CQ_BATCH];
	struct krdma_wc *out;
	int out_room;
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

/* The place of the stash that comes after one. */
static inline u32 krdma_cq_backlog_next(const struct krdma_cq *cq, u32 place)
{
	return place == cq->depth ? 0 : place + 1;
}

/* One more who completes here: room for @count, and the device part.  -ENOSPC, -ENODEV, ... */
int krdma_cq_attach(struct krdma_cq *cq, u32 count);
void krdma_cq_detach(struct krdma_cq *cq, u32 count);

/*
 * Nobody else takes completions between these two.  Process context; the flags
 * belong to the pair.  drain: all that the device has are taken and told.
 */
void krdma_cq_lock(struct krdma_cq *cq, unsigned long *flags);
void krdma_cq_unlock(struct krdma_cq *cq, unsigned long flags);
void krdma_cq_drain(struct krdma_cq *cq);
void krdma_cq_empty(struct krdma_cq *cq);

/* The caller holds the poll lock: lockdep is asked. */
static inline void krdma_cq_assert_held(struct krdma_cq *cq)
{
	if (cq->where == KRDMA_CONTEXT_WORKQUEUE)
		lockdep_assert_held(&cq->poll_mutex);
	else
		lockdep_assert_held(&cq->poll_lock);
}

/*
 * Where a completion is best made, with the poll lock held: where the consumer wants
 * it, if he polls.  Every member is to be set.
 */
static inline struct krdma_wc *krdma_cq_next_wc(struct krdma_cq *cq)
{
	return cq->out_room > 0 ? cq->out : &cq->spare;
}

void krdma_cq_complete_slow(struct krdma_cq *cq,
			    const struct krdma_wc *wc,
			    void (*complete)(const struct krdma_wc *wc),
			    struct krdma_credits *credits);

/*
 * Tells the consumer, by @complete or for krdma_cq_poll(), and gives one
 * credit back.  With the poll lock held.
 */
static inline void krdma_cq_complete(struct krdma_cq *cq,
				     const struct krdma_wc *wc,
				     void (*complete)(const struct krdma_wc *wc),
				     struct krdma_credits *credits)
{
	krdma_cq_assert_held(cq);

	if (cq->out_room <= 0) {
		krdma_cq_complete_slow(cq, wc, complete, credits);
		return;
	}
	if (wc != cq->out)
		*cq->out = *wc;
	cq->out++;
	cq->out_room--;
	krdma_credits_return(credits, 1);
}

#endif /* _KRDMA_CQ_H */
