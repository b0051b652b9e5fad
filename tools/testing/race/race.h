/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Delays where threads can meet: KRDMA_RACES=y includes this file in every file of krdma.ko.
 *
 * The compiler calls a hook before each access to memory (-fsanitize=thread, as for KCSAN), and
 * race.c provides the hooks.  Operations that are not accesses of the file itself are wrapped here:
 * taking and releasing a lock, a wake-up, the registration of a poll, queueing work, reference
 * counts.
 *
 * The headers of the wrapped functions are included first, so that the macros below do not change
 * them.
 */
#ifndef _KRDMA_RACE_H
#define _KRDMA_RACE_H

#include <linux/completion.h>
#include <linux/irq_poll.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

/* Any context; delays now and then, reproducibly for the same seed and the same path to here. */
void krdma_race_point(void);
/* Process context; may sleep, so that other threads of this processor run, too. */
void krdma_race_point_sleeping(void);

/*
 * The inline functions are defined before the macros, so they call what they wrap, be it a function
 * or a macro.  A thread is delayed before it takes a lock, and after it has released the lock, so
 * that others pass.
 */
static __always_inline void krdma_race_spin_lock(spinlock_t *lock)
{
	krdma_race_point();
	spin_lock(lock);
}

static __always_inline void krdma_race_spin_unlock(spinlock_t *lock)
{
	spin_unlock(lock);
	krdma_race_point();
}

static __always_inline void krdma_race_spin_lock_bh(spinlock_t *lock)
{
	krdma_race_point();
	spin_lock_bh(lock);
}

static __always_inline void krdma_race_spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock_bh(lock);
	krdma_race_point();
}

static __always_inline void krdma_race_spin_lock_irq(spinlock_t *lock)
{
	krdma_race_point();
	spin_lock_irq(lock);
}

static __always_inline void krdma_race_spin_unlock_irq(spinlock_t *lock)
{
	spin_unlock_irq(lock);
	krdma_race_point();
}

static __always_inline unsigned long krdma_race_spin_lock_irqsave(spinlock_t *lock)
{
	unsigned long flags;

	krdma_race_point();
	spin_lock_irqsave(lock, flags);
	return flags;
}

static __always_inline void krdma_race_spin_unlock_irqrestore(spinlock_t *lock,
							      unsigned long flags)
{
	spin_unlock_irqrestore(lock, flags);
	krdma_race_point();
}

static __always_inline void krdma_race_mutex_lock(struct mutex *lock)
{
	krdma_race_point_sleeping();
	mutex_lock(lock);
}

static __always_inline int krdma_race_mutex_lock_interruptible(struct mutex *lock)
{
	krdma_race_point_sleeping();
	return mutex_lock_interruptible(lock);
}

static __always_inline void krdma_race_mutex_unlock(struct mutex *lock)
{
	mutex_unlock(lock);
	krdma_race_point_sleeping();
}

static __always_inline void krdma_race_rcu_read_unlock(void)
{
	krdma_race_point();
	rcu_read_unlock();
}

/* Delays on both sides: after the caller's earlier checks, and before its later ones. */
static __always_inline void krdma_race_poll_wait(struct file *file, wait_queue_head_t *wait,
						 poll_table *table)
{
	krdma_race_point_sleeping();
	poll_wait(file, wait, table);
	krdma_race_point_sleeping();
}

/* All forms of wake_up() are macros that use it. */
static __always_inline int krdma_race_wake_up(wait_queue_head_t *wait, unsigned int mode,
					      int count, void *key)
{
	krdma_race_point();
	__wake_up(wait, mode, count, key);
	krdma_race_point();
	return 0;
}

static __always_inline bool krdma_race_wq_has_sleeper(wait_queue_head_t *wait)
{
	krdma_race_point();
	return wq_has_sleeper(wait);
}

static __always_inline void krdma_race_complete_all(struct completion *completion)
{
	krdma_race_point();
	complete_all(completion);
	krdma_race_point();
}

static __always_inline bool krdma_race_queue_work(struct workqueue_struct *workqueue,
						  struct work_struct *work)
{
	bool queued;

	krdma_race_point();
	queued = queue_work(workqueue, work);
	krdma_race_point();
	return queued;
}

static __always_inline void krdma_race_irq_poll_sched(struct irq_poll *iop)
{
	krdma_race_point();
	irq_poll_sched(iop);
}

static __always_inline void krdma_race_refcount_inc(refcount_t *refs)
{
	krdma_race_point();
	refcount_inc(refs);
}

static __always_inline bool krdma_race_refcount_inc_not_zero(refcount_t *refs)
{
	krdma_race_point();
	return refcount_inc_not_zero(refs);
}

/* The second delay finds callers that use the object after they have put their reference. */
static __always_inline bool krdma_race_refcount_dec_and_test(refcount_t *refs)
{
	bool last;

	krdma_race_point();
	last = refcount_dec_and_test(refs);
	krdma_race_point();
	return last;
}

static __always_inline void *krdma_race_xa_load(struct xarray *xa, unsigned long index)
{
	void *entry = xa_load(xa, index);

	krdma_race_point();
	return entry;
}

#undef spin_lock_irqsave
#undef mutex_lock
#undef mutex_lock_interruptible

#define spin_lock(lock)			krdma_race_spin_lock(lock)
#define spin_unlock(lock)		krdma_race_spin_unlock(lock)
#define spin_lock_bh(lock)		krdma_race_spin_lock_bh(lock)
#define spin_unlock_bh(lock)		krdma_race_spin_unlock_bh(lock)
#define spin_lock_irq(lock)		krdma_race_spin_lock_irq(lock)
#define spin_unlock_irq(lock)		krdma_race_spin_unlock_irq(lock)
#define spin_lock_irqsave(lock, flags)	((flags) = krdma_race_spin_lock_irqsave(lock))
#define spin_unlock_irqrestore(lock, flags) \
					krdma_race_spin_unlock_irqrestore(lock, flags)
#define mutex_lock(lock)		krdma_race_mutex_lock(lock)
#define mutex_lock_interruptible(lock)	krdma_race_mutex_lock_interruptible(lock)
#define mutex_unlock(lock)		krdma_race_mutex_unlock(lock)
#define rcu_read_unlock()		krdma_race_rcu_read_unlock()
#define poll_wait(file, wait, table)	krdma_race_poll_wait(file, wait, table)
#define __wake_up(wait, mode, count, key) \
					krdma_race_wake_up(wait, mode, count, key)
#define wq_has_sleeper(wait)		krdma_race_wq_has_sleeper(wait)
#define complete_all(completion)	krdma_race_complete_all(completion)
#define queue_work(workqueue, work)	krdma_race_queue_work(workqueue, work)
#define irq_poll_sched(iop)		krdma_race_irq_poll_sched(iop)
#define refcount_inc(refs)		krdma_race_refcount_inc(refs)
#define refcount_inc_not_zero(refs)	krdma_race_refcount_inc_not_zero(refs)
#define refcount_dec_and_test(refs)	krdma_race_refcount_dec_and_test(refs)
#define xa_load(xa, index)		krdma_race_xa_load(xa, index)

#endif /* _KRDMA_RACE_H */
