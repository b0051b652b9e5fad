// SPDX-License-Identifier: GPL-2.0
/*
 * Completions for programs.
 *
 * Completions are moved from the core to the CQ ring when the ring has free entries.  Otherwise
 * they stay in the core, where they keep the credits of their connection.  So a ring never
 * overflows, and a program that posts too much is refused.
 *
 * If the program did not ask for polling, the core's CQ calls ready() in softirq, and before the
 * end of a connection is reported: completions are moved there, and the CQ is armed again.  When
 * the ring is full, the CQ is not armed.  The ring records that completions wait, and the next
 * caller that frees entries, or waits, moves them.
 * If the program polls, completions are moved only by callers that ask for them, and the CQ is
 * armed only for poll(), and for a thread that has to sleep although it polls.
 */
#include <linux/build_bug.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/task_work.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>

#include "io/flat.h"
#include "user/cq.h"
#include "user/event.h"
#include "user/ioctl.h"
#include "user/user.h"
#include "user/ring.h"

static_assert((int)KRDMA_CQE_IMM == (int)KRDMA_WC_WITH_IMM);
static_assert((int)KRDMA_CQE_INVALIDATED == (int)KRDMA_WC_WITH_INVALIDATE);
static_assert((int)KRDMA_CQE_WRITTEN == (int)KRDMA_WC_WRITTEN);

/* With the same offsets and the same size, all members have the same size. */
#define KRDMA_CQE_IS_FLAT(member, flat)						\
	static_assert(offsetof(struct krdma_cqe, member) ==			\
		      offsetof(struct krdma_flat_wc, flat))

static_assert(sizeof(struct krdma_cqe) == sizeof(struct krdma_flat_wc));
KRDMA_CQE_IS_FLAT(wr_id, wr_id);
KRDMA_CQE_IS_FLAT(dest, dest);
KRDMA_CQE_IS_FLAT(opcode, opcode);
KRDMA_CQE_IS_FLAT(status, status);
KRDMA_CQE_IS_FLAT(flags, flags);
KRDMA_CQE_IS_FLAT(length, length);
KRDMA_CQE_IS_FLAT(imm, imm);
KRDMA_CQE_IS_FLAT(vendor_error, vendor_error);
KRDMA_CQE_IS_FLAT(reserved, reserved);

/**
 * enum krdma_user_cq_result - why filling has stopped
 * @KRDMA_USER_CQ_DONE: there are no more completions
 * @KRDMA_USER_CQ_FULL: the ring is full, or the program's index is invalid
 * @KRDMA_USER_CQ_AGAIN: the budget is used up
 */
enum krdma_user_cq_result {
	KRDMA_USER_CQ_DONE,
	KRDMA_USER_CQ_FULL,
	KRDMA_USER_CQ_AGAIN,
};

/*
 * Filling, with cq_lock held
 */

static void krdma_user_cq_publish(struct krdma_user_ring *ring, int count, u32 received)
{
	u32 tail = ring->cq_tail + count;

	/* The entries first.  Pairs with the acquire of the program, */
	smp_store_release(&ring->header->cq_tail, tail);
	/* and with krdma_user_ring_look(). */
	smp_store_release(&ring->cq_tail, tail);
	WRITE_ONCE(ring->completed, ring->completed + count);

	/*
	 * A caller that was refused has set the flag and then tried again.  The core has a
	 * barrier between returning the credit and this point.
	 */
	if (received) {
		bool full = READ_ONCE(ring->srq_full);

		if (full) {
			/* Before what is cleared below: see krdma_user_post_dest_set_full(). */
			smp_store_mb(ring->srq_full, false);
		}
		/* After that: who sees the new number, and is refused, sets the flag again. */
		smp_store_release(&ring->received, ring->received + received);
		if (full)
			krdma_user_ring_space(ring);
	}
}

/* No completion is left in the core, or the ring is full: arm the core's CQ. */
static int krdma_user_cq_arm(struct krdma_user_ring *ring, struct krdma_cq *core)
{
	int ret;

	if (ring->armed)
		return 0;
	ret = krdma_cq_arm(core);
	ring->armed = !ret;
	return ret;
}

/*
 * Moves at most @want completions to the ring, where the core stores them itself.  Returns how
 * many, or the errno of krdma_cq_poll().
 */
static int krdma_user_cq_move(struct krdma_user_ring *ring, struct krdma_cq *core, int want)
{
	struct krdma_flat_ring flat = {
		.wcs = (struct krdma_flat_wc *)ring->cqes,
		.mask = ring->layout.cq_entries - 1,
		.tail = ring->cq_tail,
	};
	int count = krdma_cq_poll_flat(core, &flat, want);

	if (count > 0)
		krdma_user_cq_publish(ring, count, flat.received);
	return count;
}

static enum krdma_user_cq_result krdma_user_cq_end(struct krdma_user_ring *ring, bool waiting,
						   enum krdma_user_cq_result result)
{
	WRITE_ONCE(ring->waiting, waiting);
	return result;
}

/* Moves at most @want events of connections without a descriptor.  Returns the number. */
static int krdma_user_cq_events(struct krdma_user_ring *ring, int want)
{
	u32 count;

	if (likely(!krdma_user_ring_has_events(ring)) || !want)
		return 0;
	count = krdma_user_event_move(ring, want);
	if (count)
		krdma_user_cq_publish(ring, count, 0);
	return count;
}

static enum krdma_user_cq_result krdma_user_cq_some(struct krdma_user_ring *ring)
{
	/* Pairs with the release in krdma_user_ring_make(). */
	struct krdma_cq *core = smp_load_acquire(&ring->core);
	int budget = KRDMA_USER_CQ_BUDGET;
	int room, want, ret;
	u32 head;

	if (!core)
		return KRDMA_USER_CQ_DONE;

	for (; budget > 0; budget--) {
		/* Pairs with the program's release: it has copied these entries. */
		head = smp_load_acquire(&ring->header->cq_head);
		room = krdma_ring_free(ring->cq_tail, head, ring->layout.cq_entries);
		if (room < 0)
			return krdma_user_cq_end(ring, true, KRDMA_USER_CQ_FULL);

		ret = krdma_user_cq_events(ring, min(room, KRDMA_USER_CQ_BATCH));
		budget -= ret;
		room -= ret;
		if (ring->dead) {
			if (room && krdma_user_ring_has_events(ring))
				continue;
			return krdma_user_cq_end(ring, krdma_user_ring_has_events(ring),
						 KRDMA_USER_CQ_DONE);
		}
		ret = 0;
		want = min(room, KRDMA_USER_CQ_BATCH);
		if (want) {
			ret = krdma_user_cq_move(ring, core, want);
			budget -= max(ret, 0);
			/* As many as asked for, so there may be more. */
			if (ret == want)
				continue;
			if (!ret && unlikely(krdma_cq_has_more(core))) {
				budget -= KRDMA_USER_CQ_UNSIGNALED;
				continue;
			}
		}
		/* There are no more, or they do not fit: arming tells which. */
		if (ret >= 0 && (!want || !ring->polled))
			ret = krdma_user_cq_arm(ring, core);
		if (ret == -ENODEV) {
			WRITE_ONCE(ring->dead, true);
			continue;
		}
		if (!want)
			return krdma_user_cq_end(ring, ret || krdma_user_ring_has_events(ring),
						 KRDMA_USER_CQ_FULL);
		/* Events that the batch has left have no other context that moves them. */
		if (krdma_user_ring_has_events(ring))
			continue;
		if (!ret || ring->polled)
			return krdma_user_cq_end(ring, false, KRDMA_USER_CQ_DONE);
	}
	return krdma_user_cq_end(ring, true, KRDMA_USER_CQ_AGAIN);
}

/* Moves completions, and notifies the program and waiting threads. */
static enum krdma_user_cq_result krdma_user_cq_locked(struct krdma_user_ring *ring)
{
	u64 completed = ring->completed;
	enum krdma_user_cq_result result;
	bool news;
	u32 flags;

	result = krdma_user_cq_some(ring);
	news = ring->completed != completed;
	flags = (ring->waiting ? KRDMA_RING_CQ_OVERFLOW : 0) | (ring->dead ? KRDMA_RING_DEAD : 0);
	if (flags != ring->cq_flags) {
		news |= flags & ~ring->cq_flags;
		ring->cq_flags = flags;
		WRITE_ONCE(ring->header->cq_flags, flags);
	}
	/* wq_has_sleeper() orders this against threads that check and then sleep. */
	if (news && wq_has_sleeper(&ring->wait)) {
		/* io_uring takes the key as the result of its poll: no key if it could be wrong. */
		if (ring->dead)
			wake_up_interruptible(&ring->wait);
		else
			wake_up_interruptible_poll(&ring->wait, EPOLLIN | EPOLLRDNORM);
	}
	return result;
}

/**
 * krdma_user_ring_ready() - Handle the readiness of the core's CQ
 * @context: the ring
 *
 * Context: softirqs are off; see &struct krdma_cq_attr.ready.
 * Return: true if it is to be called again.
 */
bool krdma_user_ring_ready(void *context)
{
	struct krdma_user_ring *ring = context;
	enum krdma_user_cq_result result = KRDMA_USER_CQ_DONE;

	spin_lock(&ring->cq_lock);
	ring->armed = false;
	if (!ring->polled)
		result = krdma_user_cq_locked(ring);
	spin_unlock(&ring->cq_lock);

	/* Woken threads poll again, and find out what has happened. */
	if (ring->polled && wq_has_sleeper(&ring->wait))
		wake_up_interruptible(&ring->wait);
	return result == KRDMA_USER_CQ_AGAIN;
}

/**
 * krdma_user_ring_srq_ended() - Handle the end of an SRQ by itself
 * @context: the ring
 *
 * Without a key: a thread that polls the SRQ for its end alone is woken, too.
 *
 * Context: softirqs are off; see &struct krdma_cq_attr.srq_ended.
 */
void krdma_user_ring_srq_ended(void *context)
{
	struct krdma_user_ring *ring = context;

	wake_up_interruptible(&ring->wait);
}

static enum krdma_user_cq_result krdma_user_cq_once(struct krdma_user_ring *ring)
{
	enum krdma_user_cq_result result;

	spin_lock_bh(&ring->cq_lock);
	result = krdma_user_cq_locked(ring);
	spin_unlock_bh(&ring->cq_lock);

	return result;
}

/*
 * Moves completions that fit, as many as the ring has entries: a device may complete as fast as
 * another thread takes them.  If there are more, @waiting is set.  Callers that wait check for
 * signals themselves; poll() of a connection needs all that fit, because epoll may not ask again.
 */
static enum krdma_user_cq_result krdma_user_cq_fill(struct krdma_user_ring *ring)
{
	enum krdma_user_cq_result result = KRDMA_USER_CQ_AGAIN;

	for (u32 moved = 0; moved <= ring->layout.cq_entries; moved += KRDMA_USER_CQ_BUDGET) {
		result = krdma_user_cq_once(ring);
		if (result != KRDMA_USER_CQ_AGAIN || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return result;
}

/**
 * krdma_user_ring_fill() - Move completions to the ring
 * @ring: the ring; the caller has a reference
 *
 * Moves those that fit, but no more than the ring has entries.
 *
 * Context: process context.
 * Return: whether there may be more that fit.
 */
bool krdma_user_ring_fill(struct krdma_user_ring *ring)
{
	return krdma_user_cq_fill(ring) == KRDMA_USER_CQ_AGAIN;
}

/*
 * Waiting
 */

/* Number of completions in the ring from @head on, which the program writes. */
static int krdma_user_ring_look(struct krdma_user_ring *ring, u32 *head)
{
	u32 entries = ring->layout.cq_entries;
	int filled;
	u32 tail;

	/* Pairs with krdma_user_cq_publish(). */
	tail = smp_load_acquire(&ring->cq_tail);
	/* Pairs with the program's release, as in krdma_user_cq_some(). */
	*head = smp_load_acquire(&ring->header->cq_head);
	filled = krdma_ring_filled(tail, *head, entries);
	if (filled >= 0)
		return filled;

	/* Perhaps both indices moved between the two reads: read again, with the tail fixed. */
	spin_lock_bh(&ring->cq_lock);
	/* Pairs with the program's release, too. */
	*head = smp_load_acquire(&ring->header->cq_head);
	filled = krdma_ring_filled(ring->cq_tail, *head, entries);
	spin_unlock_bh(&ring->cq_lock);
	return filled;
}

/**
 * krdma_user_ring_filled() - Get the number of completions in a ring
 * @ring: the ring; the caller has a reference
 *
 * Context: any but hardirq.
 * Return: the number, or -EBADMSG: the program's index is invalid.
 */
int krdma_user_ring_filled(struct krdma_user_ring *ring)
{
	u32 head;

	return krdma_user_ring_look(ring, &head);
}

/* Number of completions if that is enough, or if there will be no more; otherwise -EAGAIN. */
static int krdma_user_ring_enough(struct krdma_user_ring *ring, u32 wanted, bool full)
{
	bool dead = READ_ONCE(ring->dead);
	int filled;

	/*
	 * In this order: completions from before the removal are in the ring.  Pairs with the
	 * lock.
	 */
	smp_rmb();
	filled = krdma_user_ring_filled(ring);
	if (dead && !filled)
		return -ENODEV;
	if (filled < 0 || filled >= wanted || full || dead)
		return filled;
	return -EAGAIN;
}

/* For a polled ring without completions: arms the core's CQ.  Returns true if there are some. */
static bool krdma_user_ring_arm(struct krdma_user_ring *ring)
{
	struct krdma_cq *core;
	bool something = false;

	spin_lock_bh(&ring->cq_lock);
	/* Pairs with the release in krdma_user_ring_make(). */
	core = smp_load_acquire(&ring->core);
	if (core && !ring->dead) {
		switch (krdma_user_cq_arm(ring, core)) {
		case 0:
			break;
		case -ENODEV:
			krdma_user_cq_locked(ring);
			break;
		default:
			something = true;
		}
	}
	spin_unlock_bh(&ring->cq_lock);

	return something;
}

static int krdma_user_ring_sleep(struct krdma_user_ring *ring, u32 wanted, u64 deadline_ns)
{
	/* Some deadlines are beyond the range of ktime_t. */
	ktime_t deadline = min_t(u64, deadline_ns, KTIME_MAX);
	ktime_t *expires = deadline == KTIME_MAX ? NULL : &deadline;
	enum krdma_user_cq_result result;
	bool expired = false;
	DEFINE_WAIT(wait);
	int ret;

	for (;;) {
		prepare_to_wait(&ring->wait, &wait, TASK_INTERRUPTIBLE);
		/* The program may have freed entries without a call that moves completions. */
		result = KRDMA_USER_CQ_DONE;
		if (ring->polled || READ_ONCE(ring->waiting))
			result = krdma_user_cq_once(ring);
		ret = krdma_user_ring_enough(ring, wanted, result == KRDMA_USER_CQ_FULL);
		if (ret != -EAGAIN)
			break;
		ret = -ETIMEDOUT;
		if (expired)
			break;
		ret = -ERESTARTSYS;
		if (signal_pending(current))
			break;
		if (result == KRDMA_USER_CQ_AGAIN ||
		    (ring->polled && krdma_user_ring_arm(ring))) {
			__set_current_state(TASK_RUNNING);
			cond_resched();
			/* A load without gaps must not extend the deadline. */
			expired = ktime_get_ns() >= deadline_ns;
			continue;
		}
		expired = !schedule_hrtimeout_range(expires, current->timer_slack_ns,
						    HRTIMER_MODE_ABS);
	}
	finish_wait(&ring->wait, &wait);
	return ret;
}

/* The program has asked to spend CPU time on polling. */
static int krdma_user_ring_spin(struct krdma_user_ring *ring, u32 wanted, u64 deadline_ns)
{
	bool full;
	int ret;

	for (;;) {
		full = krdma_user_cq_fill(ring) == KRDMA_USER_CQ_FULL;
		ret = krdma_user_ring_enough(ring, wanted, full);
		if (ret != -EAGAIN)
			return ret;
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (ktime_get_ns() >= deadline_ns)
			return -ETIMEDOUT;
		/*
		 * The kernel has work for the thread on its way to user mode.  Since 6.18 that
		 * enforces the quota of processor time, too, so do not spend more of it.
		 */
		if (task_work_pending(current))
			return krdma_user_ring_sleep(ring, wanted, deadline_ns);
		/*
		 * With lazy preemption, a thread that is due waits until the program leaves the
		 * kernel, or for a tick.  It may be a thread of the provider, for whose work this
		 * spins.
		 */
		if (test_thread_flag(TIF_NEED_RESCHED_LAZY))
			schedule();
		cond_resched();
		cpu_relax();
	}
}

/**
 * krdma_user_ring_await() - Wait for completions
 * @ring: the ring; the caller has a reference
 * @wanted: number of completions to wait for, limited to the size of the ring
 * @deadline_ns: absolute deadline in nanoseconds; 0: only move what is there
 *
 * Context: process context; sleeps, or, if the ring is polled, polls the device until there are
 * enough, or until the kernel has work for the thread: then it sleeps, too.
 * Return: the number of completions in the ring, which is less than @wanted if no more fit, or
 * there will be no more; or, if there are fewer for another reason,
 * -EBADMSG: the program's index is invalid;
 * -ENODEV: the device has been removed, and there is no completion;
 * -ETIMEDOUT: the deadline has passed; -ERESTARTSYS: a signal came first.
 */
int krdma_user_ring_await(struct krdma_user_ring *ring, u32 wanted, u64 deadline_ns)
{
	bool full = false;
	int ret;

	wanted = min(wanted, ring->layout.cq_entries);
	if (ring->polled || READ_ONCE(ring->waiting))
		full = krdma_user_cq_fill(ring) == KRDMA_USER_CQ_FULL;
	ret = krdma_user_ring_enough(ring, wanted, full);
	if (ret != -EAGAIN)
		return ret;

	/* Faster than to wait for ready(). */
	if (!ring->polled) {
		full = krdma_user_cq_fill(ring) == KRDMA_USER_CQ_FULL;
		ret = krdma_user_ring_enough(ring, wanted, full);
		if (ret != -EAGAIN)
			return ret;
	}
	if (!deadline_ns)
		return -ETIMEDOUT;
	return ring->polled ? krdma_user_ring_spin(ring, wanted, deadline_ns) :
			       krdma_user_ring_sleep(ring, wanted, deadline_ns);
}

/**
 * krdma_user_ring_move_backlog() - Move waiting completions to the ring, if some fit
 * @ring: the ring; the caller has a reference
 *
 * For callers that wait for space elsewhere: waiting completions count against the depth of their
 * connection, and a program that takes completions from the ring makes no call.
 *
 * Context: process context.
 */
void krdma_user_ring_move_backlog(struct krdma_user_ring *ring)
{
	if (!ring->polled && READ_ONCE(ring->waiting))
		krdma_user_cq_fill(ring);
}

/**
 * krdma_user_ring_events() - Get the poll() events of a ring
 * @ring: the ring; the caller has a reference
 *
 * Threads that wait at the ring are woken when there are more events.
 *
 * Context: process context.
 * Return: the events.
 */
__poll_t krdma_user_ring_events(struct krdma_user_ring *ring)
{
	__poll_t events = 0;

	krdma_user_ring_move_backlog(ring);
	/* An invalid index makes the ring readable, too, so that the program gets the errno. */
	if (krdma_user_ring_filled(ring) || READ_ONCE(ring->waiting) ||
	    (ring->polled && (krdma_user_ring_has_events(ring) || krdma_user_ring_arm(ring))))
		events |= EPOLLIN | EPOLLRDNORM;
	if (!READ_ONCE(ring->full))
		events |= EPOLLOUT | EPOLLWRNORM;
	if (READ_ONCE(ring->dead))
		events |= EPOLLERR | EPOLLHUP;
	return events;
}

/*
 * Reaping
 */

static int krdma_user_reap_copy(struct krdma_user_ring *ring,
				const struct krdma_ring_reap_args *reap, u32 head, u32 count)
{
	struct krdma_cqe __user *user = u64_to_user_ptr(reap->entries);
	u32 run = krdma_ring_contiguous(head, count, ring->layout.cq_entries);
	u32 mask = ring->layout.cq_entries - 1;

	if (copy_to_user(user, &ring->cqes[head & mask], run * sizeof(*user)) ||
	    copy_to_user(user + run, ring->cqes, (count - run) * sizeof(*user)))
		return -EFAULT;
	return 0;
}

/*
 * Takes what is there, if it is at least @least.  Returns 0 if it is not: another caller was
 * faster.
 */
static int krdma_user_reap_take(struct krdma_ucmd *ucmd, int least)
{
	struct krdma_ring_reap_args *reap = &ucmd->buffer->ring_reap;
	struct krdma_user_ring *ring = ucmd->ring;
	int count;
	u32 head;
	int ret;

	if (mutex_lock_interruptible(&ring->reap_lock))
		return -ERESTARTSYS;
	count = krdma_user_ring_look(ring, &head);
	if (count >= 0 && count < least)
		count = 0;
	if (count > 0) {
		count = min_t(u32, count, reap->count);
		reap->reaped = count;
		/* They are taken when the caller has all of them, and their number. */
		ret = krdma_user_reap_copy(ring, reap, head, count) ?:
		      krdma_ucmd_respond(ucmd);
		if (ret)
			count = ret;
		else
			/* Pairs with the acquire in krdma_user_cq_some(). */
			smp_store_release(&ring->header->cq_head, head + count);
	}
	mutex_unlock(&ring->reap_lock);

	if (count > 0 && READ_ONCE(ring->waiting))
		krdma_user_cq_fill(ring);
	return count;
}

/**
 * krdma_user_ring_reap() - Handle KRDMA_RING_REAP
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_ring.h>.
 */
int krdma_user_ring_reap(struct krdma_ucmd *ucmd)
{
	struct krdma_ring_reap_args *reap = &ucmd->buffer->ring_reap;
	u64 deadline_ns = reap->min_complete ? krdma_deadline_of_caller(reap->deadline_ns) : 0;
	u32 wanted = max(min(reap->min_complete, reap->count), 1U);
	int there;
	int ret;

	if (reap->flags || reap->reserved)
		return -EOPNOTSUPP;
	if (!reap->count || reap->count > KRDMA_RING_ENTRIES_MAX)
		return -EINVAL;
	wanted = min(wanted, ucmd->ring->layout.cq_entries);

	for (;;) {
		there = krdma_user_ring_await(ucmd->ring, wanted, deadline_ns);
		if (there == -EBADMSG || there == -ENODEV)
			return there;
		/* Fewer than wanted only if krdma_user_ring_await() returned fewer. */
		ret = krdma_user_reap_take(ucmd, there < 0 ? 1 : min_t(u32, there, wanted));
		if (ret)
			return min(ret, 0);
		if (there < 0)
			return there == -ETIMEDOUT && !deadline_ns ? -EAGAIN : there;
	}
}
