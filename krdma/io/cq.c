// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of completions.
 *
 * A queue is one completion queue of a device, and krdma polls it itself instead
 * of leaving that to ib_core's helpers, because of what it promises:
 *
 *  - Whoever takes completions holds the queue's poll lock until the consumer has
 *    been told.  So the consumer sees one at a time and in order, also when a
 *    teardown helps along.
 *  - A teardown can take everything that the device has completed, and knows that
 *    nobody still works on any of it.  That is what lets a queue pair with a
 *    shared receive queue end without the device's "last request reached", which
 *    some devices never say, and several times others.
 *  - A thread that waits can poll the device itself, with no interrupt and no
 *    switch of contexts, and a queue that nobody polls loses nothing.  Who polls
 *    without a thread that waits is told when it is worth it.
 *
 * The device's queue has room for everything that was accepted: each connection
 * reserves its depths and its drain markers when it is made, and gets a credit back
 * only when the completion is on its way to the consumer, and nowhere stored.
 */
#include <linux/err.h>
#include <linux/indirect_call_wrapper.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "io/budget.h"
#include "core/objects.h"
#include "core/quirks.h"
#include "io/cq.h"
#include "mr/mr.h"
#include "io/wq.h"
#include "core/session.h"
#include "core/vector.h"

/* What one run in process context takes before it lets others run. */
#define KRDMA_QUEUE_WORK_BUDGET		256
/* The same in softirq; irq_poll has a budget of its own besides. */
#define KRDMA_QUEUE_SOFTIRQ_BUDGET	64

/*
 * Credits
 */

/**
 * krdma_credits_take_late - there are too few: be told when there are more
 * @credits: of what
 * @count: how many
 *
 * Context: any, under the lock of the one who posts.
 * Return: whether there are enough by now; then they were taken.
 */
bool krdma_credits_take_late(struct krdma_credits *credits, u32 count)
{
	WRITE_ONCE(credits->wanted, true);
	/* Pairs with the barrier in krdma_credits_announce(): one of both sees. */
	smp_mb();
	if (krdma_credits_left(credits) < count)
		return false;
	credits->taken += count;
	return true;
}

/*
 * Taking and telling
 */

/**
 * krdma_queue_hold - keep everybody else from taking completions
 * @queue: the queue; the caller is attached to it
 * @flags: for krdma_queue_let_go()
 *
 * Context: process context; may sleep if completions are told there, and must not
 * sleep before krdma_queue_let_go() otherwise.  Not from a callback of the queue.
 */
void krdma_queue_hold(struct krdma_queue *queue, unsigned long *flags)
{
	*flags = 0;
	switch (queue->where) {
	case KRDMA_CONTEXT_WORKQUEUE:
		mutex_lock(&queue->poll_mutex);
		break;
	/* sparse does not know of locks that are taken in some cases. */
	case KRDMA_CONTEXT_SOFTIRQ:
		spin_lock_bh(&queue->poll_lock);
		__release(&queue->poll_lock);
		break;
	case KRDMA_CONTEXT_POLL:
		spin_lock_irqsave(&queue->poll_lock, *flags);
		__release(&queue->poll_lock);
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(krdma_queue_hold);

/**
 * krdma_queue_let_go - end what krdma_queue_hold() began
 * @queue: the queue
 * @flags: of krdma_queue_hold()
 *
 * Context: that of krdma_queue_hold().
 */
void krdma_queue_let_go(struct krdma_queue *queue, unsigned long flags)
{
	switch (queue->where) {
	case KRDMA_CONTEXT_WORKQUEUE:
		mutex_unlock(&queue->poll_mutex);
		break;
	case KRDMA_CONTEXT_SOFTIRQ:
		__acquire(&queue->poll_lock);
		spin_unlock_bh(&queue->poll_lock);
		break;
	case KRDMA_CONTEXT_POLL:
		__acquire(&queue->poll_lock);
		spin_unlock_irqrestore(&queue->poll_lock, flags);
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(krdma_queue_let_go);

/* Takes @budget completions, or fewer if there are no more; each knows what it is. */
static int krdma_queue_take(struct krdma_queue *queue, int budget)
{
	int taken = 0;
	int count;
	int i;

	krdma_queue_assert_held(queue);

	while (taken < budget) {
		count = ib_poll_cq(queue->cq, min(budget - taken, KRDMA_QUEUE_BATCH), queue->wcs);
		if (count <= 0)
			break;
		/* Mostly one of these two: a call that is not through a pointer is cheaper. */
		for (i = 0; i < count; i++)
			INDIRECT_CALL_2(queue->wcs[i].wr_cqe->done, krdma_send_done,
					krdma_receive_done, queue->cq, &queue->wcs[i]);
		taken += count;
		/* What the device has is asked for again only if this was a full batch. */
		if (count < KRDMA_QUEUE_BATCH)
			break;
	}
	return taken;
}

/**
 * krdma_queue_drain - take all that the device has completed
 * @queue: the queue
 *
 * What completes meanwhile is taken, too, or left: consumers that post whenever they are
 * told of a completion could keep the caller here for ever.
 *
 * Context: with krdma_queue_hold().
 */
void krdma_queue_drain(struct krdma_queue *queue)
{
	/* The device has room for so many, so nothing that was there at first comes later. */
	int left = max_t(int, queue->cq->cqe, queue->depth);
	int count;

	do {
		count = krdma_queue_take(queue, min(left, KRDMA_QUEUE_BATCH));
		left -= count;
	} while (count > 0 && left > 0);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_queue_drain);

/**
 * krdma_queue_empty - take all that the device has completed, in short steps
 * @queue: the queue; the caller is attached to it, and does not hold it
 *
 * As krdma_queue_drain(), but a full queue does not keep interrupts, or softirqs, off for as
 * long as it takes to complete all of it.
 *
 * Context: process context; as krdma_queue_hold() between the steps.
 */
void krdma_queue_empty(struct krdma_queue *queue)
{
	int left = max_t(int, queue->cq->cqe, queue->depth);
	unsigned long flags;
	int count;

	do {
		krdma_queue_hold(queue, &flags);
		count = krdma_queue_take(queue, min(left, KRDMA_QUEUE_BATCH));
		krdma_queue_let_go(queue, flags);
		left -= count;
	} while (count > 0 && left > 0);
}

/* Set when the queue is made, and stays. */
static bool krdma_queue_has_softirq(const struct krdma_queue *queue)
{
	return queue->iop.poll;
}

/* Somebody who waits for it, or is to be told, finds something when he looks. */
static void krdma_queue_announce(struct krdma_queue *queue)
{
	wake_up_all(&queue->wait);
	if (krdma_queue_has_softirq(queue))
		irq_poll_sched(&queue->iop);
}

static void krdma_queue_stash(struct krdma_queue *queue,
			      const struct krdma_completion *completion,
			      struct krdma_credits *credits)
{
	u32 next = krdma_queue_stash_next(queue, queue->stash_tail);
	struct krdma_stashed *slot = &queue->stash[queue->stash_tail];

	/* Credits see to it. */
	if (WARN_ON_ONCE(next == queue->stash_head))
		return;

	slot->completion = *completion;
	slot->credits = credits;
	credits->ops->get(credits);
	WRITE_ONCE(queue->stash_tail, next);
	krdma_queue_announce(queue);
}

/**
 * krdma_queue_tell_elsewhere - tell the consumer, who does not poll just now
 * @queue: the queue; the caller holds its poll lock
 * @completion: the operation
 * @complete: the consumer's callback; not called with KRDMA_CONTEXT_POLL
 * @credits: one of these is given back when the consumer has been told
 *
 * Context: that of the poll lock.
 */
void krdma_queue_tell_elsewhere(struct krdma_queue *queue,
				const struct krdma_completion *completion,
				void (*complete)(const struct krdma_completion *completion),
				struct krdma_credits *credits)
{
	if (queue->where == KRDMA_CONTEXT_POLL) {
		krdma_queue_stash(queue, completion, credits);
		return;
	}
	/* The device's entry and the slot are free: the callback may use both. */
	krdma_credits_give(credits, 1);
	if (complete)
		complete(completion);
	krdma_credits_announce(credits);
}

/*
 * The three contexts
 */

static bool krdma_queue_rearm(struct krdma_queue *queue)
{
	return ib_req_notify_cq(queue->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0;
}

static void krdma_queue_work(struct work_struct *work)
{
	struct krdma_queue *queue = container_of(work, struct krdma_queue, work);
	bool again = false;

	mutex_lock(&queue->poll_mutex);
	if (!queue->ended)
		again = krdma_queue_take(queue, KRDMA_QUEUE_WORK_BUDGET) >=
				KRDMA_QUEUE_WORK_BUDGET ||
			krdma_queue_rearm(queue);
	mutex_unlock(&queue->poll_mutex);

	if (again)
		queue_work(krdma_completion_workqueue, &queue->work);
}

static int krdma_queue_softirq(struct irq_poll *iop, int budget)
{
	struct krdma_queue *queue = container_of(iop, struct krdma_queue, iop);
	int taken = 0;

	spin_lock(&queue->poll_lock);
	if (!queue->ended)
		taken = krdma_queue_take(queue, budget);
	spin_unlock(&queue->poll_lock);
	if (taken >= budget)
		return taken;

	/* In this order: what comes after arming has to find us ready to be scheduled. */
	irq_poll_complete(iop);
	spin_lock(&queue->poll_lock);
	if (!queue->ended && krdma_queue_rearm(queue))
		irq_poll_sched(iop);
	spin_unlock(&queue->poll_lock);
	return taken;
}

/* Calls ready(), if the consumer still wants it; whether it wants to be called again. */
static bool krdma_queue_call_ready(struct krdma_queue *queue)
{
	bool again;

	spin_lock_bh(&queue->ready_lock);
	again = queue->ready && queue->ready(queue->ready_context);
	spin_unlock_bh(&queue->ready_lock);

	return again;
}

static int krdma_queue_softirq_ready(struct irq_poll *iop, int budget)
{
	struct krdma_queue *queue = container_of(iop, struct krdma_queue, iop);

	/* In this order: what comes after ready() has armed must find us ready, too. */
	irq_poll_complete(iop);
	if (!krdma_queue_call_ready(queue))
		return 0;
	irq_poll_sched(iop);
	/* Not all of it: that would mean that we had not completed. */
	return budget - 1;
}

/*
 * The device says that there is something.  Perhaps from inside a post, with its
 * own locks held and interrupts off: so this only wakes.
 */
static void krdma_queue_notify(struct ib_cq *cq, void *context)
{
	struct krdma_queue *queue = context;

	switch (queue->where) {
	case KRDMA_CONTEXT_WORKQUEUE:
		queue_work(krdma_completion_workqueue, &queue->work);
		break;
	case KRDMA_CONTEXT_SOFTIRQ:
		irq_poll_sched(&queue->iop);
		break;
	case KRDMA_CONTEXT_POLL:
		atomic_inc(&queue->events);
		krdma_queue_announce(queue);
		break;
	}
}

/* An overflow, which cannot happen, or a device that is broken: it says so elsewhere, too. */
static void krdma_queue_event(struct ib_event *event, void *context)
{
	struct krdma_queue *queue = context;

	dev_warn_ratelimited(&queue->cq->device->dev, "a completion queue reports: %s\n",
			     ib_event_msg(event->event));
}

/* The next one that waits, if there is one. */
static bool krdma_queue_take_stashed(struct krdma_queue *queue, struct krdma_stashed *stashed)
{
	if (queue->stash_head == queue->stash_tail)
		return false;
	*stashed = queue->stash[queue->stash_head];
	WRITE_ONCE(queue->stash_head, krdma_queue_stash_next(queue, queue->stash_head));
	return true;
}

/* What waits, at most @count; how many. */
static int krdma_queue_unstash(struct krdma_queue *queue, struct krdma_completion *completions,
			       int count)
{
	struct krdma_stashed stashed;
	int taken = 0;

	while (taken < count && krdma_queue_take_stashed(queue, &stashed)) {
		completions[taken++] = stashed.completion;
		krdma_credits_return(stashed.credits, 1);
		stashed.credits->ops->put(stashed.credits);
	}
	return taken;
}

/**
 * krdma_queue_poll - take completions
 * @queue: a queue with KRDMA_CONTEXT_POLL; the caller holds a reference
 * @completions: where they go
 * @count: how many at most
 *
 * Any number of threads may do so: each completion goes to exactly one.
 *
 * Who asks again and again lets others run in between, for some providers work in
 * threads: where preemption is lazy by schedule(), if TIF_NEED_RESCHED_LAZY is set, for
 * cond_resched() does nothing there.
 *
 * Context: any but NMI; does not sleep.
 * Return: how many, 0 if there is none; or
 * -EINVAL: @count is not positive, or completions are told elsewhere;
 * -ENODEV: the device has been removed, and everything has been taken.
 */
int krdma_queue_poll(struct krdma_queue *queue, struct krdma_completion *completions, int count)
{
	unsigned long flags;
	int taken = 0;
	int budget;

	if (count <= 0 || queue->where != KRDMA_CONTEXT_POLL)
		return -EINVAL;

	/* What waits came first. */
	spin_lock_irqsave(&queue->poll_lock, flags);
	if (unlikely(queue->stash_head != queue->stash_tail))
		taken = krdma_queue_unstash(queue, completions, count);
	if (taken < count && !queue->ended) {
		queue->out = &completions[taken];
		queue->out_room = count - taken;
		/* Some complete silently: ask until there is enough, or nothing more. */
		do {
			budget = queue->out_room;
		} while (krdma_queue_take(queue, budget) == budget && queue->out_room > 0);
		taken = count - queue->out_room;
		queue->out_room = 0;
		krdma_ring_end_run(queue);
	} else if (!taken) {
		taken = -ENODEV;
	}
	spin_unlock_irqrestore(&queue->poll_lock, flags);

	return taken;
}
EXPORT_SYMBOL_NS_GPL(krdma_queue_poll, "KRDMA");

static bool krdma_queue_has_stash(struct krdma_queue *queue)
{
	return READ_ONCE(queue->stash_head) != READ_ONCE(queue->stash_tail);
}

/*
 * A queue has been armed, and nothing was reported.  Where that means nothing, what is there is
 * taken, for who polls next.
 */
static bool krdma_queue_missed(struct krdma_queue *queue)
{
	if (krdma_provider_reports_missed(queue->cq->device))
		return false;
	while (krdma_queue_take(queue, KRDMA_QUEUE_BATCH) > 0)
		if (queue->stash_head != queue->stash_tail)
			return true;
	return false;
}

/**
 * krdma_queue_arm - be told of what comes next
 * @queue: a queue with KRDMA_CONTEXT_POLL; the caller holds a reference
 *
 * Poll until there is nothing, then arm; if that says that something has come in
 * between, both again.
 *
 * Context: any but NMI; does not sleep.
 * Return: 0: there is nothing, and when there is, whoever waits is woken and
 * &struct krdma_queue_attr.ready is called; 1: it is worth polling; or
 * -EINVAL: completions are told elsewhere;
 * -ENODEV: the device has been removed, and everything has been taken.
 */
int krdma_queue_arm(struct krdma_queue *queue)
{
	unsigned long flags;
	int ret;

	if (queue->where != KRDMA_CONTEXT_POLL)
		return -EINVAL;

	spin_lock_irqsave(&queue->poll_lock, flags);
	if (queue->stash_head != queue->stash_tail)
		ret = 1;
	else if (queue->ended)
		ret = -ENODEV;
	else
		ret = krdma_queue_rearm(queue) || krdma_queue_missed(queue);
	spin_unlock_irqrestore(&queue->poll_lock, flags);

	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_queue_arm, "KRDMA");

/**
 * krdma_queue_wait - wait until there may be something to poll
 * @queue: a queue with KRDMA_CONTEXT_POLL; the caller holds a reference
 * @timeout_ms: how long at most; 0: not at all; KRDMA_FOREVER_MS: without limit
 *
 * Another thread may have been faster: poll, and wait again if there is nothing.
 *
 * Context: process context; sleeps.
 * Return: 0 if it is worth polling, or
 * -EINVAL: completions are told elsewhere;
 * -ENODEV: the device has been removed, and everything has been taken;
 * -ETIMEDOUT;
 * -EINTR: a signal came first.
 */
int krdma_queue_wait(struct krdma_queue *queue, u32 timeout_ms)
{
	int seen = atomic_read(&queue->events);
	long left;
	int ret;

	might_sleep();

	ret = krdma_queue_arm(queue);
	if (ret)
		return min(ret, 0);

	left = wait_event_interruptible_timeout(queue->wait,
						atomic_read(&queue->events) != seen ||
						krdma_queue_has_stash(queue) ||
						READ_ONCE(queue->ended),
						krdma_timeout_jiffies(timeout_ms));
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}
EXPORT_SYMBOL_NS_GPL(krdma_queue_wait, "KRDMA");

/*
 * Its life
 */

static void krdma_queue_free(struct krdma_queue *queue)
{
	struct krdma_stashed stashed;

	/* Nobody asked for these any more. */
	while (krdma_queue_take_stashed(queue, &stashed))
		stashed.credits->ops->put(stashed.credits);
	kvfree(queue->stash);
	mutex_destroy(&queue->poll_mutex);
	krdma_device_put(queue->dev);
	if (queue->session) {
		krdma_session_uncharge(queue->session, queue->charged);
		krdma_session_put(queue->session);
	}
	/*
	 * A softirq that has just completed may be about to look at it once more.  The module
	 * does not go before it either: its removal waits for RCU.
	 */
	krdma_object_uncount(KRDMA_OBJECT_CQ, queue);
	kfree_rcu(queue, rcu);
}

static void krdma_queue_unref(struct krdma_queue *queue)
{
	if (refcount_dec_and_test(&queue->refs))
		krdma_queue_free(queue);
}

/* Nothing completes here any more, and nobody polls. */
static void krdma_queue_release(struct krdma_resource *res)
{
	struct krdma_queue *queue = container_of(res, struct krdma_queue, res);
	unsigned long flags;

	if (!IS_ERR_OR_NULL(queue->cq)) {
		if (krdma_queue_has_softirq(queue))
			irq_poll_disable(&queue->iop);
		/* The device may tell until it is gone; whoever comes then finds this. */
		krdma_queue_hold(queue, &flags);
		WRITE_ONCE(queue->ended, true);
		krdma_queue_let_go(queue, flags);
		ib_destroy_cq(queue->cq);
		cancel_work_sync(&queue->work);
	}
	if (queue->has_vector)
		krdma_vector_put(krdma_device_vectors(queue->dev), queue->vector);
	krdma_uncharge_object(&queue->charge, krdma_device_ib(queue->dev));
	wake_up_all(&queue->wait);
	/* Nobody else calls it any more: it has nothing to come back for but the stash. */
	while (krdma_queue_call_ready(queue))
		cond_resched();
}

static void krdma_queue_forget(struct krdma_resource *res)
{
	krdma_queue_unref(container_of(res, struct krdma_queue, res));
}

static int krdma_queue_make(struct krdma_queue *queue, int vector)
{
	struct ib_device *ibdev = krdma_device_ib(queue->dev);
	struct ib_cq_init_attr attr = { .cqe = queue->depth };
	int ret;

	ret = krdma_charge_object(&queue->charge, queue->session, ibdev);
	if (ret)
		return ret;
	queue->vector = krdma_vector_get(krdma_device_vectors(queue->dev), vector);
	queue->has_vector = true;
	attr.comp_vector = queue->vector;
	queue->cq = ib_create_cq(ibdev, krdma_queue_notify, krdma_queue_event, queue, &attr);
	if (IS_ERR(queue->cq))
		return krdma_provider_error(PTR_ERR(queue->cq));

	/* One that is polled is armed by who waits. */
	if (queue->where != KRDMA_CONTEXT_POLL)
		ib_req_notify_cq(queue->cq, IB_CQ_NEXT_COMP);
	return 0;
}

/* Of krdma's memory and the provider's; before any of it is allocated. */
static int krdma_queue_charge(struct krdma_queue *queue, struct krdma_session *session)
{
	u64 bytes = sizeof(*queue) + krdma_budget_cq_bytes(queue->depth);
	int ret;

	if (!session)
		return 0;
	if (queue->where == KRDMA_CONTEXT_POLL)
		bytes += ((u64)queue->depth + 1) * sizeof(*queue->stash);
	ret = krdma_session_charge(session, bytes);
	if (ret)
		return ret;
	krdma_session_get(session);
	queue->session = session;
	queue->charged = bytes;
	return 0;
}

static int krdma_queue_check(struct krdma_device *dev, const struct krdma_queue_attr *attr)
{
	if (!attr->depth || attr->depth > krdma_device_limits(dev)->max_cqe)
		return -EINVAL;
	if (attr->ready && attr->where != KRDMA_CONTEXT_POLL)
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
 * krdma_queue_create - make a queue of completions
 * @dev: on which device; the caller holds a reference
 * @attr: what it is to be; copied
 *
 * Context: process context; may sleep.
 * Return: the queue, for krdma_queue_put(), or ERR_PTR of
 * -EINVAL: no depth, one above the device's max_cqe, or an unknown context, or one
 * that does not go with ready();
 * -ENODEV: the device has been removed;
 * -EDQUOT: the control group has as many as it may, or another errno of the account's;
 * -ENOMEM; -EIO: the provider failed.
 */
struct krdma_queue *krdma_queue_create(struct krdma_device *dev,
				       const struct krdma_queue_attr *attr)
{
	struct krdma_queue *queue;
	int ret;

	might_sleep();

	ret = krdma_queue_check(dev, attr);
	if (ret)
		return ERR_PTR(ret);

	queue = krdma_object_count(KRDMA_OBJECT_CQ,
				   kzalloc_node(sizeof(*queue), GFP_KERNEL_ACCOUNT,
						krdma_device_node(dev)));
	if (!queue)
		return ERR_PTR(-ENOMEM);
	refcount_set(&queue->refs, 2);
	krdma_device_hold(dev);
	queue->dev = dev;
	queue->where = attr->where;
	queue->depth = attr->depth;
	spin_lock_init(&queue->reserve_lock);
	mutex_init(&queue->poll_mutex);
	spin_lock_init(&queue->poll_lock);
	spin_lock_init(&queue->ready_lock);
	queue->ready = attr->ready;
	queue->ready_context = attr->ready_context;
	if (queue->where == KRDMA_CONTEXT_SOFTIRQ)
		irq_poll_init(&queue->iop, KRDMA_QUEUE_SOFTIRQ_BUDGET, krdma_queue_softirq);
	else if (queue->ready)
		irq_poll_init(&queue->iop, KRDMA_QUEUE_SOFTIRQ_BUDGET, krdma_queue_softirq_ready);
	INIT_WORK(&queue->work, krdma_queue_work);
	init_waitqueue_head(&queue->wait);

	ret = krdma_queue_charge(queue, attr->session);
	if (ret)
		goto err_free;
	if (queue->where == KRDMA_CONTEXT_POLL) {
		queue->stash = kvmalloc_node(array_size((size_t)queue->depth + 1,
							sizeof(*queue->stash)),
					     GFP_KERNEL_ACCOUNT, krdma_device_node(dev));
		if (!queue->stash) {
			ret = -ENOMEM;
			goto err_free;
		}
	}

	ret = krdma_resource_init(&queue->res, dev, krdma_queue_release, krdma_queue_forget);
	if (ret)
		goto err_free;
	/*
	 * The provider may have a softirq pending that is to tell of a completion which was
	 * polled before.  That of rxe of 6.1 is not waited for by its destruction.
	 */
	krdma_resource_release_late(&queue->res);
	if (attr->session && attr->session->reclaim)
		krdma_resource_set_reclaim(&queue->res);
	ret = krdma_queue_make(queue, attr->vector);
	krdma_resource_put(&queue->res);
	if (ret) {
		krdma_queue_put(queue);
		return ERR_PTR(ret);
	}
	return queue;

err_free:
	krdma_queue_free(queue);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_queue_create, "KRDMA");

/**
 * krdma_queue_put - the consumer needs a queue no longer
 * @queue: the queue, or NULL; not used by the caller any more
 *
 * Connections and shared receive queues that complete there go on, and the queue
 * stays as long as they do.  &struct krdma_queue_attr.ready is not called any more
 * when this returns.
 *
 * Context: process context, not from ready().
 */
void krdma_queue_put(struct krdma_queue *queue)
{
	if (!queue)
		return;

	spin_lock_bh(&queue->ready_lock);
	queue->ready = NULL;
	spin_unlock_bh(&queue->ready_lock);
	krdma_resource_drop(&queue->res);
	krdma_queue_unref(queue);
}
EXPORT_SYMBOL_NS_GPL(krdma_queue_put, "KRDMA");

/**
 * krdma_queue_attach - one more who completes in a queue
 * @queue: the queue; the caller keeps it
 * @count: the room that it needs
 *
 * Context: process context.
 * Return: 0, or -ENOSPC if there is not enough room, -ENODEV if the device has
 * been removed, -ESHUTDOWN if the consumer has put the queue.
 */
int krdma_queue_attach(struct krdma_queue *queue, u32 count)
{
	int ret = 0;

	if (!krdma_resource_tryget(&queue->res))
		return krdma_resource_error(&queue->res);

	spin_lock(&queue->reserve_lock);
	if (count > queue->depth - queue->reserved)
		ret = -ENOSPC;
	else
		queue->reserved += count;
	spin_unlock(&queue->reserve_lock);

	if (ret)
		krdma_resource_put(&queue->res);
	else
		refcount_inc(&queue->refs);
	return ret;
}

/**
 * krdma_queue_detach - end what krdma_queue_attach() began
 * @queue: the queue
 * @count: the room that it needed
 *
 * Nothing of the caller's completes there any more.
 *
 * Context: process context.
 */
void krdma_queue_detach(struct krdma_queue *queue, u32 count)
{
	spin_lock(&queue->reserve_lock);
	queue->reserved -= count;
	spin_unlock(&queue->reserve_lock);

	krdma_resource_put(&queue->res);
	krdma_queue_unref(queue);
}
