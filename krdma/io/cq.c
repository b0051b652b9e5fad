// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues (CQ).
 *
 * Each krdma_cq is one CQ of a device.  krdma polls it itself instead of using ib_core's helpers,
 * because it guarantees the following:
 *
 * - The context that takes completions holds the CQ's poll lock until the consumer has got them.
 *   So the consumer gets completions one at a time and in order, also when a teardown takes some
 *   of them.
 * - A teardown can take everything that the device has completed, and knows that no other context
 *   still processes any of it.  This allows a QP with an SRQ to end without the event
 *   IB_EVENT_QP_LAST_WQE_REACHED, which some devices never raise and others raise several times.
 * - A thread that waits can poll the device itself, without an interrupt or a context switch, and
 *   a CQ that is not polled loses nothing.  A consumer that polls without a waiting thread is
 *   notified by ready() when polling is worthwhile.
 *
 * The device's CQ has room for everything that was accepted: each connection reserves its depths
 * and its drain markers when its QP is created, and gets a credit back only when the completion
 * goes to the consumer and is not stored anywhere.
 */
#include <linux/err.h>
#include <linux/indirect_call_wrapper.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "core/device.h"
#include "core/device_query.h"
#include "io/budget.h"
#include "core/objects.h"
#include "core/quirks.h"
#include "io/cq.h"
#include "io/send_wc.h"
#include "mr/mr.h"
#include "io/wq.h"
#include "core/session.h"
#include "core/vector.h"

/* Completions that the work item takes before it lets other work run. */
#define KRDMA_CQ_WORK_BUDGET		256
/* The same for softirq; irq_poll has its own budget besides. */
#define KRDMA_CQ_SOFTIRQ_BUDGET	64
/* Completions that yield none for the consumer, which are taken with interrupts off. */
#define KRDMA_CQ_AT_A_TIME	256

/*
 * Credits
 */

/**
 * krdma_credits_take_late() - Take credits, or ask for a notification
 * @credits: the credits, of which there were too few
 * @count: number of credits to take
 *
 * Context: any, with the post lock held.
 * Return: true if there are enough by now, and they have been taken; false if not, and
 * @credits->ops->space() is called when there are some.
 */
bool krdma_credits_take_late(struct krdma_credits *credits, u32 count)
{
	WRITE_ONCE(credits->wanted, true);
	/*
	 * Pairs with the barrier in krdma_credits_announce(): at least one of the two sides sees
	 * what the other has written.
	 */
	smp_mb();
	if (krdma_credits_left(credits) < count)
		return false;
	credits->taken += count;
	return true;
}

/*
 * Taking completions and passing them to the consumer
 */

/**
 * krdma_cq_lock() - Keep other contexts from taking completions
 * @cq: the CQ; the caller is attached to it
 * @flags: for krdma_cq_unlock()
 *
 * Context: process context; may sleep with KRDMA_CONTEXT_WORKQUEUE.  Otherwise the caller must
 * not sleep before krdma_cq_unlock().  Not from a callback of the CQ.
 */
void krdma_cq_lock(struct krdma_cq *cq, unsigned long *flags)
{
	*flags = 0;
	switch (cq->where) {
	case KRDMA_CONTEXT_WORKQUEUE:
		mutex_lock(&cq->poll_mutex);
		break;
	/* sparse does not understand locks that are taken conditionally. */
	case KRDMA_CONTEXT_SOFTIRQ:
		spin_lock_bh(&cq->poll_lock);
		__release(&cq->poll_lock);
		break;
	case KRDMA_CONTEXT_POLL:
		spin_lock_irqsave(&cq->poll_lock, *flags);
		__release(&cq->poll_lock);
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(krdma_cq_lock);

/**
 * krdma_cq_unlock() - Undo krdma_cq_lock()
 * @cq: the CQ
 * @flags: set by krdma_cq_lock()
 *
 * Context: that of krdma_cq_lock().
 */
void krdma_cq_unlock(struct krdma_cq *cq, unsigned long flags)
{
	switch (cq->where) {
	case KRDMA_CONTEXT_WORKQUEUE:
		mutex_unlock(&cq->poll_mutex);
		break;
	case KRDMA_CONTEXT_SOFTIRQ:
		__acquire(&cq->poll_lock);
		spin_unlock_bh(&cq->poll_lock);
		break;
	case KRDMA_CONTEXT_POLL:
		__acquire(&cq->poll_lock);
		spin_unlock_irqrestore(&cq->poll_lock, flags);
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(krdma_cq_unlock);

/* Handles a batch from the device. */
static void krdma_cq_handle(struct krdma_cq *cq, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		if (cq->out_free > 0 && cq->ib_wcs[i].wr_cqe->done == krdma_send_done)
			i += krdma_send_complete(cq, &cq->ib_wcs[i],
						 min(count - i, cq->out_free));
		if (i == count)
			break;
		/* Nearly always one of these two; a direct call is cheaper. */
		INDIRECT_CALL_2(cq->ib_wcs[i].wr_cqe->done, krdma_send_done,
				krdma_recv_done, cq->ib, &cq->ib_wcs[i]);
	}
}

/* Takes up to @budget completions; returns fewer only if there are no more. */
static int krdma_cq_process(struct krdma_cq *cq, int budget)
{
	int taken = 0;
	int count;

	krdma_cq_assert_held(cq);

	while (taken < budget) {
		count = ib_poll_cq(cq->ib, min(budget - taken, KRDMA_CQ_BATCH), cq->ib_wcs);
		if (count <= 0)
			break;
		krdma_cq_handle(cq, count);
		taken += count;
		/* Ask the device again only after a full batch. */
		if (count < KRDMA_CQ_BATCH)
			break;
	}
	WRITE_ONCE(cq->more, taken == budget);
	return taken;
}

/**
 * krdma_cq_empty() - Take all that the device has completed
 * @cq: the CQ; the caller is attached to it, and does not hold its poll lock
 *
 * Work requests that complete meanwhile may be taken or left: a consumer that posts from its
 * completion callback could otherwise keep the caller here forever.
 *
 * The poll lock is held for a short step at a time.  A full CQ does not keep interrupts or softirqs
 * off for as long as it takes to complete all of it, and other threads of the processor have their
 * turn after each step.
 *
 * Context: process context; may sleep.
 */
void krdma_cq_empty(struct krdma_cq *cq)
{
	/*
	 * The device has no more entries than this, so everything that was there at first is
	 * taken.
	 */
	int left = max_t(int, cq->ib->cqe, cq->depth);
	unsigned long flags;
	int count;

	do {
		krdma_cq_lock(cq, &flags);
		count = krdma_cq_process(cq, min(left, KRDMA_CQ_BATCH));
		krdma_cq_unlock(cq, flags);
		left -= count;
		cond_resched();
	} while (count > 0 && left > 0);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_cq_empty);

/* Set when the CQ is created, and never changed. */
static bool krdma_cq_has_softirq(const struct krdma_cq *cq)
{
	return cq->iop.poll;
}

/* Called after the change that a waiting thread, or ready(), looks for. */
static void krdma_cq_wake(struct krdma_cq *cq)
{
	wake_up_all(&cq->wait);
	if (krdma_cq_has_softirq(cq))
		irq_poll_sched(&cq->iop);
}

static void krdma_cq_backlog_add(struct krdma_cq *cq,
				 const struct krdma_wc *wc,
				 struct krdma_credits *credits)
{
	u32 next = krdma_cq_backlog_next(cq, cq->backlog_tail);
	struct krdma_cq_backlog_entry *entry = &cq->backlog[cq->backlog_tail];

	/* What is reserved makes sure that the backlog is never full. */
	if (WARN_ON_ONCE(next == cq->backlog_head))
		return;

	entry->wc = *wc;
	entry->credits = credits;
	credits->waiting++;
	credits->ops->get(credits);
	WRITE_ONCE(cq->backlog_tail, next);
	krdma_cq_wake(cq);
}

/**
 * krdma_cq_complete_slow() - Complete to a consumer that is not polling at the moment
 * @cq: the CQ; the caller holds its poll lock
 * @wc: the completion
 * @complete: the consumer's callback; not called with KRDMA_CONTEXT_POLL
 * @credits: one credit is returned when the consumer gets the completion
 *
 * Context: that of the poll lock.
 */
void krdma_cq_complete_slow(struct krdma_cq *cq,
			    const struct krdma_wc *wc,
			    void (*complete)(const struct krdma_wc *wc),
			    struct krdma_credits *credits)
{
	if (cq->where == KRDMA_CONTEXT_POLL) {
		krdma_cq_backlog_add(cq, wc, credits);
		return;
	}
	/* The CQE and the WQE are free: the callback may already use both. */
	krdma_credits_give(credits, 1);
	if (complete)
		complete(wc);
	krdma_credits_announce(credits);
}

/*
 * The three contexts
 */

static bool krdma_cq_rearm(struct krdma_cq *cq)
{
	return ib_req_notify_cq(cq->ib, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0;
}

static void krdma_cq_work(struct work_struct *work)
{
	struct krdma_cq *cq = container_of(work, struct krdma_cq, work);
	bool again = false;

	mutex_lock(&cq->poll_mutex);
	if (!cq->ended)
		again = krdma_cq_process(cq, KRDMA_CQ_WORK_BUDGET) >=
				KRDMA_CQ_WORK_BUDGET ||
			krdma_cq_rearm(cq);
	mutex_unlock(&cq->poll_mutex);

	if (again)
		queue_work(krdma_cq_workqueue, &cq->work);
}

static int krdma_cq_softirq(struct irq_poll *iop, int budget)
{
	struct krdma_cq *cq = container_of(iop, struct krdma_cq, iop);
	int taken = 0;

	spin_lock(&cq->poll_lock);
	if (!cq->ended)
		taken = krdma_cq_process(cq, budget);
	spin_unlock(&cq->poll_lock);
	if (taken >= budget)
		return taken;

	/* In this order: an event that arrives after arming must be able to schedule the poll. */
	irq_poll_complete(iop);
	spin_lock(&cq->poll_lock);
	if (!cq->ended && krdma_cq_rearm(cq))
		irq_poll_sched(iop);
	spin_unlock(&cq->poll_lock);
	return taken;
}

static bool krdma_cq_has_backlog(struct krdma_cq *cq)
{
	return READ_ONCE(cq->backlog_head) != READ_ONCE(cq->backlog_tail);
}

/* Calls ready() if the consumer still wants it.  Returns true if ready() is to be called again. */
static bool krdma_cq_call_ready(struct krdma_cq *cq)
{
	bool again;

	spin_lock_bh(&cq->ready_lock);
	again = cq->ready && cq->ready(cq->ready_context);
	spin_unlock_bh(&cq->ready_lock);

	return again;
}

static void krdma_cq_settle_one(struct krdma_cq *cq)
{
	u32 left = cq->depth;
	bool again;

	if (cq->where != KRDMA_CONTEXT_POLL)
		return;
	/* With a backlog, each call takes one completion at least, unless the consumer is full. */
	while ((again = krdma_cq_call_ready(cq)) && krdma_cq_has_backlog(cq) && left--)
		cond_resched();
	/* What else it is to be called for is not what the caller waits for. */
	if (again)
		irq_poll_sched(&cq->iop);
}

/**
 * krdma_cq_settle() - Let the consumer take the completions of what has ended
 * @send: the CQ of its sends; the caller is attached to it, and all of its work requests there
 *	have completed
 * @recv: the CQ of its receives; may be the same
 *
 * The consumer is about to be notified that there are no more.  But completions that a teardown
 * has taken are in the backlog, until a softirq calls ready(); and a context that has polled some
 * may not have passed them on: ready() waits for that with the consumer's own lock.  What the
 * consumer has no room for stays in the backlog.
 *
 * Context: process context; may sleep.  Not from ready().
 */
void krdma_cq_settle(struct krdma_cq *send, struct krdma_cq *recv)
{
	krdma_cq_settle_one(send);
	if (recv != send)
		krdma_cq_settle_one(recv);
}

/**
 * krdma_cq_srq_ended() - Tell the consumer that an SRQ has ended by itself
 * @cq: the CQ of its receives; the caller holds a reference
 *
 * Context: process context.
 */
void krdma_cq_srq_ended(struct krdma_cq *cq)
{
	spin_lock_bh(&cq->ready_lock);
	if (cq->srq_ended)
		cq->srq_ended(cq->ready_context);
	spin_unlock_bh(&cq->ready_lock);
}

static int krdma_cq_softirq_ready(struct irq_poll *iop, int budget)
{
	struct krdma_cq *cq = container_of(iop, struct krdma_cq, iop);

	/*
	 * In this order: an event that arrives after ready() has armed must be able to schedule
	 * the poll.
	 */
	irq_poll_complete(iop);
	if (!krdma_cq_call_ready(cq))
		return 0;
	irq_poll_sched(iop);
	/* Less than the budget: irq_poll would take the full budget for an incomplete poll. */
	return budget - 1;
}

/*
 * The device's completion event.  The provider may call this from inside a post, with its own
 * locks held and interrupts off, so this only schedules or wakes.
 */
static void krdma_cq_notify(struct ib_cq *ib_cq, void *context)
{
	struct krdma_cq *cq = context;

	switch (cq->where) {
	case KRDMA_CONTEXT_WORKQUEUE:
		queue_work(krdma_cq_workqueue, &cq->work);
		break;
	case KRDMA_CONTEXT_SOFTIRQ:
		irq_poll_sched(&cq->iop);
		break;
	case KRDMA_CONTEXT_POLL:
		atomic_inc(&cq->events);
		krdma_cq_wake(cq);
		break;
	}
}

/*
 * Either an overflow, which cannot happen, or a broken device, which reports that in other ways,
 * too.
 */
static void krdma_cq_event(struct ib_event *event, void *context)
{
	struct krdma_cq *cq = context;

	dev_warn_ratelimited(&cq->ib->device->dev,
			     "krdma: cannot rely on a completion queue: %s; reset the device\n",
			     ib_event_msg(event->event));
}

static void krdma_cq_unreserve(struct krdma_cq *cq, u32 count)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->reserve_lock, flags);
	cq->reserved -= count;
	spin_unlock_irqrestore(&cq->reserve_lock, flags);
}

/* Takes the oldest completion from the backlog.  Returns false if the backlog is empty. */
static bool krdma_cq_backlog_take(struct krdma_cq *cq, struct krdma_cq_backlog_entry *entry)
{
	if (cq->backlog_head == cq->backlog_tail)
		return false;
	*entry = cq->backlog[cq->backlog_head];
	WRITE_ONCE(cq->backlog_head, krdma_cq_backlog_next(cq, cq->backlog_head));
	return true;
}

static void krdma_cq_poll_backlog(struct krdma_cq *cq)
{
	struct krdma_cq_backlog_entry entry;

	while (cq->out_free && krdma_cq_backlog_take(cq, &entry)) {
		krdma_cq_store(cq, &entry.wc);
		entry.credits->waiting--;
		if (unlikely(entry.credits->left_behind)) {
			entry.credits->left_behind--;
			krdma_cq_unreserve(cq, 1);
		}
		krdma_credits_return(entry.credits, 1);
		entry.credits->ops->put(entry.credits);
	}
}

/*
 * Takes completions of the backlog, then the @batch ones in @ib_wcs, and then as many of the device
 * as there is room for.
 */
static noinline int krdma_cq_take_more(struct krdma_cq *cq, struct krdma_wc *out,
				       struct krdma_flat_ring *ring, int count, int batch)
{
	int budget = min(count, KRDMA_CQ_BATCH);
	int left = KRDMA_CQ_AT_A_TIME;
	int taken;

	cq->out = out;
	cq->flat = ring;
	cq->out_free = count;
	if (batch) {
		krdma_cq_handle(cq, batch);
	} else {
		/* The backlog is older than what the device has. */
		krdma_cq_poll_backlog(cq);
		if (!cq->ended)
			batch = budget;
	}
	/*
	 * Unsignaled work requests yield no completion: poll until there is no room or the CQ is
	 * empty.  But not for long: interrupts are off, and there can be as many as the CQ has.
	 */
	while (batch == budget && cq->out_free > 0 && left > 0) {
		budget = cq->out_free;
		batch = krdma_cq_process(cq, budget);
		left -= batch;
	}
	krdma_wq_end_batch(cq);
	taken = count - cq->out_free;
	WRITE_ONCE(cq->more, batch == budget);
	/* Without room, no function looks at @out or @flat. */
	cq->out_free = 0;
	if (likely(taken))
		return taken;
	return cq->ended ? -ENODEV : 0;
}

/* Takes at most @count completions to @ring, or to @out if that is NULL. */
static __always_inline int krdma_cq_take(struct krdma_cq *cq, struct krdma_wc *out,
					 struct krdma_flat_ring *ring, int count)
{
	int batch;

	if (unlikely(cq->backlog_head != cq->backlog_tail || cq->ended))
		return krdma_cq_take_more(cq, out, ring, count, 0);
	batch = ib_poll_cq(cq->ib, min(count, KRDMA_CQ_BATCH), cq->ib_wcs);
	if (batch <= 0) {
		WRITE_ONCE(cq->more, 0);
		return 0;
	}
	/* A single one is mostly all that there is. */
	if (batch == 1 && cq->ib_wcs[0].wr_cqe->done == krdma_send_done &&
	    krdma_send_complete_one(cq->ib_wcs, ring, out)) {
		/* @count is 1 if this was all that was asked for.  A comparison would cost more. */
		WRITE_ONCE(cq->more, count);
		return 1;
	}
	return krdma_cq_take_more(cq, out, ring, count, batch);
}

/**
 * krdma_cq_poll() - Take completions
 * @cq: a CQ with KRDMA_CONTEXT_POLL; the caller holds a reference
 * @wcs: where the completions are stored
 * @count: size of @wcs
 *
 * Any number of threads may poll; each completion goes to exactly one of them.
 *
 * A caller that polls in a loop must let other threads run, because some providers work in
 * threads.  With lazy preemption it calls schedule() if TIF_NEED_RESCHED_LAZY is set, because
 * cond_resched() does nothing there.
 *
 * Context: any but NMI; does not sleep.
 * Return: the number of completions, 0 if there is none; or
 * -EINVAL: @count is not positive, or the CQ is not one with KRDMA_CONTEXT_POLL;
 * -ENODEV: the device has been removed, and all completions have been taken.
 */
int krdma_cq_poll(struct krdma_cq *cq, struct krdma_wc *wcs, int count)
{
	unsigned long flags;
	bool more;
	int taken;

	if (count <= 0 || cq->where != KRDMA_CONTEXT_POLL)
		return -EINVAL;

	do {
		spin_lock_irqsave(&cq->poll_lock, flags);
		taken = krdma_cq_take(cq, wcs, NULL, count);
		more = !taken && cq->more == 1;
		spin_unlock_irqrestore(&cq->poll_lock, flags);
	} while (unlikely(more));

	return taken;
}
EXPORT_SYMBOL_NS_GPL(krdma_cq_poll, "KRDMA");

/**
 * krdma_cq_poll_flat() - Take completions to a ring
 * @cq: a CQ with KRDMA_CONTEXT_POLL; the caller holds a reference
 * @ring: where the completions are stored, from its tail on
 * @count: maximum number of completions, at least 1; as many entries are free
 *
 * Context: any but NMI; does not sleep.
 * Return: as krdma_cq_poll(); but also 0 if it has taken only completions that are not for the
 * consumer, and there may be more: see krdma_cq_has_more().
 */
int krdma_cq_poll_flat(struct krdma_cq *cq, struct krdma_flat_ring *ring, int count)
{
	unsigned long flags;
	int taken;

	spin_lock_irqsave(&cq->poll_lock, flags);
	taken = krdma_cq_take(cq, NULL, ring, count);
	spin_unlock_irqrestore(&cq->poll_lock, flags);

	return taken;
}

/**
 * krdma_cq_has_more() - Check why there was no completion
 * @cq: the CQ, after krdma_cq_poll_flat() has returned 0, and no other thread polls
 *
 * Context: any.
 * Return: true if only completions that are not for the consumer were taken, and there may be more.
 */
bool krdma_cq_has_more(const struct krdma_cq *cq)
{
	return READ_ONCE(cq->more) == 1;
}

/**
 * krdma_flat_store() - Store a completion in a ring
 * @ring: the ring, with a free entry
 * @wc: the completion
 *
 * Context: any.
 */
void krdma_flat_store(struct krdma_flat_ring *ring, const struct krdma_wc *wc)
{
	struct krdma_flat_wc *flat = &ring->wcs[ring->tail++ & ring->mask];
	bool failed = wc->status != KRDMA_WC_SUCCESS;

	/* Set all members: the entry contains another completion. */
	flat->wr_id = wc->wr_id;
	flat->dest = (u32)(uintptr_t)wc->context;
	flat->opcode = wc->opcode;
	flat->status = wc->status;
	flat->flags = wc->flags;
	flat->length = failed ? 0 : wc->length;
	flat->imm = wc->flags & (KRDMA_WC_WITH_IMM | KRDMA_WC_WITH_INVALIDATE) ? wc->imm : 0;
	flat->vendor_error = failed ? wc->vendor_error : 0;
	flat->reserved = 0;
	ring->received += wc->opcode == KRDMA_OP_RECV;
}

/*
 * The CQ has been armed, and the provider reports no missed completion.  On a device where that
 * report means nothing, what is there is moved to the backlog for the next poll.  A report is
 * believed only of a CQ that was empty: a provider may have completions in a list of its own, of
 * which the last poll has taken as many as it asked for, and look only at those of the device.
 */
static bool krdma_cq_missed(struct krdma_cq *cq)
{
	if (cq->more != 1 && krdma_quirk_reports_missed(cq->ib->device))
		return false;
	/* With more than these, it is worthwhile to poll, also if they yield no completion. */
	return krdma_cq_process(cq, KRDMA_CQ_BATCH) > 0;
}

/**
 * krdma_cq_arm() - Ask for a notification of the next completion
 * @cq: a CQ with KRDMA_CONTEXT_POLL; the caller holds a reference
 *
 * Poll until the CQ is empty, then arm.  If this returns 1, a completion has arrived in between:
 * poll and arm again.
 *
 * Context: any but NMI; does not sleep.
 * Return: 0 if there is no completion: the next one wakes the threads that wait and calls &struct
 * krdma_cq_attr.ready; 1 if polling is worthwhile; or
 * -EINVAL: the CQ is not one with KRDMA_CONTEXT_POLL;
 * -ENODEV: the device has been removed, and all completions have been taken.
 */
int krdma_cq_arm(struct krdma_cq *cq)
{
	unsigned long flags;
	int ret;

	if (cq->where != KRDMA_CONTEXT_POLL)
		return -EINVAL;

	spin_lock_irqsave(&cq->poll_lock, flags);
	if (cq->backlog_head != cq->backlog_tail)
		ret = 1;
	else if (cq->ended)
		ret = -ENODEV;
	else
		ret = krdma_cq_rearm(cq) || krdma_cq_missed(cq);
	spin_unlock_irqrestore(&cq->poll_lock, flags);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_cq_arm, "KRDMA");

/**
 * krdma_cq_wait() - Wait until there may be something to poll
 * @cq: a CQ with KRDMA_CONTEXT_POLL; the caller holds a reference
 * @timeout_ms: timeout in milliseconds; 0: do not wait; KRDMA_FOREVER_MS: no limit
 *
 * Another thread may have been faster: poll, and wait again if there is nothing.
 *
 * Context: process context; sleeps.
 * Return: 0 if polling is worthwhile, or
 * -EINVAL: the CQ is not one with KRDMA_CONTEXT_POLL;
 * -ENODEV: the device has been removed, and all completions have been taken;
 * -ETIMEDOUT: the timeout has expired;
 * -EINTR: a signal arrived first.
 */
int krdma_cq_wait(struct krdma_cq *cq, u32 timeout_ms)
{
	int seen = atomic_read(&cq->events);
	long left;
	int ret;

	might_sleep();

	ret = krdma_cq_arm(cq);
	if (ret)
		return min(ret, 0);

	left = wait_event_interruptible_timeout(cq->wait,
						atomic_read(&cq->events) != seen ||
						krdma_cq_has_backlog(cq) ||
						READ_ONCE(cq->ended),
						krdma_timeout_jiffies(timeout_ms));
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}
EXPORT_SYMBOL_NS_GPL(krdma_cq_wait, "KRDMA");

/*
 * Creation and destruction
 */

static void krdma_cq_free(struct krdma_cq *cq)
{
	struct krdma_cq_backlog_entry entry;

	/* Completions that the consumer has never polled. */
	while (krdma_cq_backlog_take(cq, &entry))
		entry.credits->ops->put(entry.credits);
	kvfree(cq->backlog);
	mutex_destroy(&cq->poll_mutex);
	krdma_device_put(cq->dev);
	if (cq->session) {
		krdma_session_uncharge(cq->session, cq->charged);
		krdma_session_put(cq->session);
	}
	/*
	 * A softirq that has just completed its poll may be about to read the object once more.
	 * The module stays until then, because its removal waits for RCU.
	 */
	krdma_object_uncount(KRDMA_OBJECT_CQ, cq);
	kfree_rcu(cq, rcu);
}

static void krdma_cq_put_ref(struct krdma_cq *cq)
{
	if (refcount_dec_and_test(&cq->refs))
		krdma_cq_free(cq);
}

/* Nothing completes here any more, and no caller polls. */
static void krdma_cq_release(struct krdma_resource *res)
{
	struct krdma_cq *cq = container_of(res, struct krdma_cq, res);
	unsigned long flags;

	if (!IS_ERR_OR_NULL(cq->ib)) {
		if (krdma_cq_has_softirq(cq))
			irq_poll_disable(&cq->iop);
		/*
		 * The device may raise events until its CQ is destroyed; a context that runs then
		 * sees this.
		 */
		krdma_cq_lock(cq, &flags);
		WRITE_ONCE(cq->ended, true);
		krdma_cq_unlock(cq, flags);
		ib_destroy_cq(cq->ib);
		cancel_work_sync(&cq->work);
	}
	if (cq->has_vector)
		krdma_vector_put(krdma_device_vectors(cq->dev), cq->vector);
	krdma_uncharge_object(&cq->charge, krdma_device_ib(cq->dev));
	wake_up_all(&cq->wait);
	/*
	 * No other context calls ready() any more.  It asks to be called again only for the
	 * backlog.
	 */
	while (krdma_cq_call_ready(cq))
		cond_resched();
}

static void krdma_cq_forget(struct krdma_resource *res)
{
	krdma_cq_put_ref(container_of(res, struct krdma_cq, res));
}

static int krdma_cq_alloc_ib(struct krdma_cq *cq, int vector)
{
	struct ib_device *ibdev = krdma_device_ib(cq->dev);
	struct ib_cq_init_attr attr = { .cqe = cq->depth };
	int ret;

	ret = krdma_charge_object(&cq->charge, cq->session, ibdev);
	if (ret)
		return ret;
	cq->vector = krdma_vector_get(krdma_device_vectors(cq->dev), vector);
	cq->has_vector = true;
	attr.comp_vector = cq->vector;
	cq->ib = ib_create_cq(ibdev, krdma_cq_notify, krdma_cq_event, cq, &attr);
	if (IS_ERR(cq->ib))
		return krdma_provider_error(PTR_ERR(cq->ib));

	/* With KRDMA_CONTEXT_POLL, the consumer arms the CQ when it waits. */
	if (cq->where != KRDMA_CONTEXT_POLL)
		ib_req_notify_cq(cq->ib, IB_CQ_NEXT_COMP);
	return 0;
}

/* Charges krdma's memory and the provider's, before any of it is allocated. */
static int krdma_cq_charge(struct krdma_cq *cq, struct krdma_session *session)
{
	u64 bytes = sizeof(*cq) + krdma_budget_cq_bytes(cq->depth);
	int ret;

	if (!session)
		return 0;
	if (cq->where == KRDMA_CONTEXT_POLL)
		bytes += ((u64)cq->depth + 1) * sizeof(*cq->backlog);
	ret = krdma_session_charge(session, bytes);
	if (ret)
		return ret;
	krdma_session_get(session);
	cq->session = session;
	cq->charged = bytes;
	return 0;
}

static int krdma_cq_check(struct krdma_device *dev, const struct krdma_cq_attr *attr)
{
	if (!attr->depth || attr->depth > krdma_device_limits(dev)->max_cqe)
		return -EINVAL;
	if (attr->ready && attr->where != KRDMA_CONTEXT_POLL)
		return -EINVAL;
	if (attr->srq_ended && !attr->ready)
		return -EINVAL;

	switch (attr->where) {
	case KRDMA_CONTEXT_WORKQUEUE:
	case KRDMA_CONTEXT_SOFTIRQ:
	case KRDMA_CONTEXT_POLL:
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * krdma_cq_create() - Create a completion queue
 * @dev: the device; the caller holds a reference
 * @attr: attributes; copied
 *
 * Context: process context; may sleep.
 * Return: the CQ, to be released by krdma_cq_put(), or ERR_PTR of
 * -EINVAL: the depth is 0 or exceeds the device's max_cqe, the context is unknown, or it does not
 * allow ready();
 * -ENODEV: the device has been removed;
 * -EDQUOT: the limit of the control group is reached, or another errno of the charge;
 * -ENOMEM; -EIO: the provider failed.
 */
struct krdma_cq *krdma_cq_create(struct krdma_device *dev,
				 const struct krdma_cq_attr *attr)
{
	struct krdma_cq *cq;
	int ret;

	might_sleep();

	ret = krdma_cq_check(dev, attr);
	if (ret)
		return ERR_PTR(ret);

	cq = krdma_object_count(KRDMA_OBJECT_CQ,
				kzalloc_node(sizeof(*cq), GFP_KERNEL_ACCOUNT,
					     krdma_device_node(dev)));
	if (!cq)
		return ERR_PTR(-ENOMEM);
	refcount_set(&cq->refs, 2);
	krdma_device_get(dev);
	cq->dev = dev;
	cq->where = attr->where;
	cq->depth = attr->depth;
	spin_lock_init(&cq->reserve_lock);
	mutex_init(&cq->poll_mutex);
	spin_lock_init(&cq->poll_lock);
	spin_lock_init(&cq->ready_lock);
	cq->ready = attr->ready;
	cq->srq_ended = attr->srq_ended;
	cq->ready_context = attr->ready_context;
	if (cq->where == KRDMA_CONTEXT_SOFTIRQ)
		irq_poll_init(&cq->iop, KRDMA_CQ_SOFTIRQ_BUDGET, krdma_cq_softirq);
	else if (cq->ready)
		irq_poll_init(&cq->iop, KRDMA_CQ_SOFTIRQ_BUDGET, krdma_cq_softirq_ready);
	INIT_WORK(&cq->work, krdma_cq_work);
	init_waitqueue_head(&cq->wait);

	ret = krdma_cq_charge(cq, attr->session);
	if (ret)
		goto err_free;
	if (cq->where == KRDMA_CONTEXT_POLL) {
		cq->backlog = kvmalloc_node(array_size((size_t)cq->depth + 1,
						       sizeof(*cq->backlog)),
					    GFP_KERNEL_ACCOUNT, krdma_device_node(dev));
		if (!cq->backlog) {
			ret = -ENOMEM;
			goto err_free;
		}
	}

	ret = krdma_resource_init(&cq->res, dev, krdma_cq_release, krdma_cq_forget);
	if (ret)
		goto err_free;
	/*
	 * The provider may have a softirq pending for a completion that was polled before.  rxe
	 * of 6.1 does not wait for that softirq when it destroys the CQ.
	 */
	krdma_resource_release_late(&cq->res);
	if (cq->session && cq->session->reclaim)
		krdma_resource_set_reclaim(&cq->res);
	else if (cq->session)
		krdma_resource_set_turns(&cq->res, cq->session);
	ret = krdma_cq_alloc_ib(cq, attr->vector);
	krdma_resource_put(&cq->res);
	if (ret) {
		krdma_cq_put(cq);
		return ERR_PTR(ret);
	}
	return cq;

err_free:
	krdma_cq_free(cq);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_cq_create, "KRDMA");

/**
 * krdma_cq_put() - Release a completion queue
 * @cq: the CQ, or NULL; the caller does not use it any more
 *
 * Connections and SRQs that complete there continue, and the CQ stays as long as they do.
 * &struct krdma_cq_attr.ready is not called any more when this returns.
 *
 * Context: process context, not from ready().
 */
void krdma_cq_put(struct krdma_cq *cq)
{
	if (!cq)
		return;

	spin_lock_bh(&cq->ready_lock);
	cq->ready = NULL;
	cq->srq_ended = NULL;
	spin_unlock_bh(&cq->ready_lock);
	krdma_resource_drop(&cq->res);
	krdma_cq_put_ref(cq);
}
EXPORT_SYMBOL_NS_GPL(krdma_cq_put, "KRDMA");

/**
 * krdma_cq_attach() - Reserve entries of a CQ for a work queue
 * @cq: the CQ; the caller holds a reference
 * @count: entries to reserve
 *
 * Context: process context.
 * Return: 0, or -ENOSPC if there are not enough free entries, -ENODEV if the device has been
 * removed, -ESHUTDOWN if the consumer has released the CQ.
 */
int krdma_cq_attach(struct krdma_cq *cq, u32 count)
{
	unsigned long flags;
	int ret = 0;

	if (!krdma_resource_tryget(&cq->res))
		return krdma_resource_error(&cq->res);

	spin_lock_irqsave(&cq->reserve_lock, flags);
	if (count > cq->depth - cq->reserved)
		ret = -ENOSPC;
	else
		cq->reserved += count;
	spin_unlock_irqrestore(&cq->reserve_lock, flags);

	if (ret)
		krdma_resource_put(&cq->res);
	else
		refcount_inc(&cq->refs);
	return ret;
}

/**
 * krdma_cq_detach() - Undo krdma_cq_attach()
 * @cq: the CQ
 * @count: entries that were reserved
 * @credits: the caller's credits there
 *
 * Nothing of the caller's completes there any more.  Completions that the consumer has not taken
 * keep their entries until it does.
 *
 * Context: process context.
 */
void krdma_cq_detach(struct krdma_cq *cq, u32 count, struct krdma_credits *credits)
{
	unsigned long flags;

	/* Elsewhere no completion waits. */
	if (cq->where == KRDMA_CONTEXT_POLL) {
		spin_lock_irqsave(&cq->poll_lock, flags);
		count -= credits->waiting - credits->left_behind;
		credits->left_behind = credits->waiting;
		/* What comes back with them is of no use. */
		WRITE_ONCE(credits->wanted, false);
		spin_unlock_irqrestore(&cq->poll_lock, flags);
	}
	krdma_cq_unreserve(cq, count);

	krdma_resource_put(&cq->res);
	krdma_cq_put_ref(cq);
}
