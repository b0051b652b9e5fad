// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: memory ends with the process that it is part of, whoever else has the
 * session then.
 *
 * More precisely with the process's memory as a whole: its address space, which
 * threads share, and which exec() replaces.  That has an end of its own, and says so:
 * a notifier of the memory management is told at the beginning of it.  There is one
 * for each address space in which memory is registered, for all sessions.  The first
 * one is made with the locks of all mappings held, so a session keeps that of the one
 * who registered last: whoever registers a piece at a time pays for it once.  Of an
 * address space that has ended that keeps the structure, and nothing that was in it.
 *
 * At that end the numbers go first, so that nothing new is posted.  Operations in
 * flight may be another process's, or wait for a peer: their connections are ended.
 * Then the end of the process waits until no device reaches the memory, which a
 * working device lets happen soon, and a broken one cannot hold up for ever.
 *
 * krdma_user_mm_lock
 *	kind:		spinlock
 *	protects:	the lists of owners, whether memory has a number, and with it
 *			that memory's session is there; whether its region has ended,
 *			and with it that the region is there; the owner that a
 *			session keeps
 *	taken in:	process context.  Inside it, that of a session's table.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mmu_notifier.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/objects.h"
#include "user/user.h"

/* Without it, nobody is told when a process ends.  InfiniBand on demand selects it. */
#ifndef CONFIG_MMU_NOTIFIER
#error "krdma needs a kernel with CONFIG_MMU_NOTIFIER"
#endif

/* A little more than a queue pair may take to be drained. */
#define KRDMA_USER_MM_PATIENCE	(6 * HZ)

/* Regions whose users are ended before the lock is let go for a moment. */
#define KRDMA_USER_MM_BATCH	64

/**
 * struct krdma_user_mm - a process's memory, part of which is registered
 * @notifier: is told of its end; each &struct krdma_user_mr has a reference, and
 *	so has each session that keeps it
 * @mr: &struct krdma_user_mr, those with numbers first
 * @held: how many of these have a region that has not ended
 * @wait: for @held to become 0
 */
struct krdma_user_mm {
	struct mmu_notifier notifier;
	struct list_head mr;
	unsigned int held;
	wait_queue_head_t wait;
};

static DEFINE_SPINLOCK(krdma_user_mm_lock);	/* see above */

/* Its number is nobody's any more, and what the caller has instead is its reference. */
static void krdma_user_mm_unnumber(struct krdma_user_mr *umr)
{
	lockdep_assert_held(&krdma_user_mm_lock);

	xa_erase(&umr->session->mrs, umr->id);
	umr->numbered = false;
	/* Behind those that have one: see below. */
	list_move_tail(&umr->of_owner, &umr->owner->mr);
}

/* The next memory that has a number still, without it from now on, or NULL. */
static struct krdma_user_mr *krdma_user_mm_take_next(struct krdma_user_mm *owner)
{
	struct krdma_user_mr *umr;

	spin_lock(&krdma_user_mm_lock);
	umr = list_first_entry_or_null(&owner->mr, struct krdma_user_mr, of_owner);
	if (umr && umr->numbered)
		krdma_user_mm_unnumber(umr);
	else
		umr = NULL;
	spin_unlock(&krdma_user_mm_lock);

	return umr;
}

/*
 * The lock is every program's, and a program has as many regions as it likes: so it is
 * let go now and then, with a mark in the list, which nothing but this and
 * krdma_user_mm_take_next() before it looks through.
 */
static void krdma_user_mm_end_users(struct krdma_user_mm *owner)
{
	struct krdma_user_mr *umr;
	unsigned int count = 0;
	LIST_HEAD(mark);

	spin_lock(&krdma_user_mm_lock);
	list_add(&mark, &owner->mr);
	while (!list_is_last(&mark, &owner->mr)) {
		umr = list_entry(mark.next, struct krdma_user_mr, of_owner);
		list_move(&mark, &umr->of_owner);
		if (umr->held)
			krdma_mr_end_users(umr->mr);
		if (++count % KRDMA_USER_MM_BATCH == 0) {
			spin_unlock(&krdma_user_mm_lock);
			cond_resched();
			spin_lock(&krdma_user_mm_lock);
		}
	}
	list_del(&mark);
	spin_unlock(&krdma_user_mm_lock);
}

/*
 * The end of an address space.  Nobody registers any more: who does is in it.  But
 * numbers may be released, and sessions end, at the same time.
 */
static void krdma_user_mm_release(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct krdma_user_mm *owner = container_of(notifier, struct krdma_user_mm, notifier);
	struct krdma_user_mr *umr;

	while ((umr = krdma_user_mm_take_next(owner))) {
		krdma_mr_drop(umr->mr);
		krdma_user_mr_put(umr);
		cond_resched();
	}
	krdma_user_mm_end_users(owner);

	if (!wait_event_timeout(owner->wait, !READ_ONCE(owner->held), KRDMA_USER_MM_PATIENCE))
		pr_warn_ratelimited("memory of %s[%d] stays registered until its device is done\n",
				    current->comm, task_pid_nr(current));
}

static struct mmu_notifier *krdma_user_mm_alloc(struct mm_struct *mm)
{
	struct krdma_user_mm *owner;

	owner = krdma_object_count(KRDMA_OBJECT_USER_MM, kzalloc_obj(*owner, GFP_KERNEL_ACCOUNT));
	if (!owner)
		return ERR_PTR(-ENOMEM);

	INIT_LIST_HEAD(&owner->mr);
	init_waitqueue_head(&owner->wait);
	return &owner->notifier;
}

static void krdma_user_mm_free(struct mmu_notifier *notifier)
{
	struct krdma_user_mm *owner = container_of(notifier, struct krdma_user_mm, notifier);

	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_MM, owner));
}

static const struct mmu_notifier_ops krdma_user_mm_ops = {
	.release = krdma_user_mm_release,
	.alloc_notifier = krdma_user_mm_alloc,
	.free_notifier = krdma_user_mm_free,
};

static void krdma_user_mm_put(struct krdma_user_mm *owner)
{
	if (owner)
		mmu_notifier_put(&owner->notifier);
}

/* With the caller's reference; what the session had goes. */
static void krdma_user_mm_swap(struct krdma_user_session *session,
			       struct krdma_user_mm *owner)
{
	spin_lock(&krdma_user_mm_lock);
	swap(session->owner, owner);
	spin_unlock(&krdma_user_mm_lock);

	krdma_user_mm_put(owner);
}

/* The owner of memory of the calling process, with a reference. */
static struct krdma_user_mm *krdma_user_mm_get(void)
{
	struct mmu_notifier *notifier;

	notifier = mmu_notifier_get(&krdma_user_mm_ops, current->mm);
	if (IS_ERR(notifier))
		return ERR_CAST(notifier);
	return container_of(notifier, struct krdma_user_mm, notifier);
}

/**
 * krdma_user_mm_join - the calling process is the owner of memory
 * @umr: new
 *
 * Context: process context; may sleep.
 * Return: 0, -ENOMEM, or -ERESTARTSYS.
 */
int krdma_user_mm_join(struct krdma_user_mr *umr)
{
	struct krdma_user_session *session = umr->session;
	struct krdma_user_mm *owner;
	bool kept;

	owner = krdma_user_mm_get();
	if (IS_ERR(owner))
		return PTR_ERR(owner) == -EINTR ? -ERESTARTSYS : PTR_ERR(owner);

	spin_lock(&krdma_user_mm_lock);
	umr->owner = owner;
	list_add_tail(&umr->of_owner, &owner->mr);
	umr->held = true;
	owner->held++;
	kept = session->owner == owner;
	spin_unlock(&krdma_user_mm_lock);

	if (!kept) {
		owner = krdma_user_mm_get();
		/* Without it, the next one takes longer. */
		if (!IS_ERR(owner))
			krdma_user_mm_swap(session, owner);
	}
	return 0;
}

/**
 * krdma_user_mm_forget - a session registers no more
 * @session: the session, at its end
 *
 * Context: process context.
 */
void krdma_user_mm_forget(struct krdma_user_session *session)
{
	krdma_user_mm_swap(session, NULL);
}

/**
 * krdma_user_mm_ended - no device reaches memory any more
 * @umr: the memory
 *
 * Context: process context.
 */
void krdma_user_mm_ended(struct krdma_user_mr *umr)
{
	struct krdma_user_mm *owner = umr->owner;

	spin_lock(&krdma_user_mm_lock);
	umr->held = false;
	WRITE_ONCE(owner->held, owner->held - 1);
	if (!owner->held)
		wake_up(&owner->wait);
	spin_unlock(&krdma_user_mm_lock);
}

/**
 * krdma_user_mm_leave - memory has no owner any more
 * @umr: the memory, which has ended
 *
 * Context: process context.
 */
void krdma_user_mm_leave(struct krdma_user_mr *umr)
{
	spin_lock(&krdma_user_mm_lock);
	list_del(&umr->of_owner);
	spin_unlock(&krdma_user_mm_lock);

	krdma_user_mm_put(umr->owner);
}

/**
 * krdma_user_mm_number - a number begins: memory can be found
 * @umr: the memory; there is room for it at its number
 *
 * Context: process context.
 */
void krdma_user_mm_number(struct krdma_user_mr *umr)
{
	void *old;

	spin_lock(&krdma_user_mm_lock);
	umr->numbered = true;
	list_move(&umr->of_owner, &umr->owner->mr);
	old = xa_store(&umr->session->mrs, umr->id, umr, GFP_ATOMIC);
	spin_unlock(&krdma_user_mm_lock);

	/* The room was reserved: nothing was allocated. */
	WARN_ON_ONCE(old);
}

/**
 * krdma_user_mm_take - a number ends
 * @session: whose; the caller keeps it
 * @id: the number
 * @later: also if operations are in flight
 * @closed: set, unless it fails: the region has been closed
 *
 * Context: process context.
 * Return: the memory, with the number's reference: the caller releases, or drops,
 * the region, and puts it.  ERR_PTR(-ENOENT): there is none, or another was first;
 * ERR_PTR(-EBUSY): operations are in flight, and nothing has changed.
 */
struct krdma_user_mr *krdma_user_mm_take(struct krdma_user_session *session, u32 id,
					 bool later, bool *closed)
{
	struct krdma_user_mr *umr;

	spin_lock(&krdma_user_mm_lock);
	umr = xa_load(&session->mrs, id);
	if (!umr) {
		umr = ERR_PTR(-ENOENT);
		goto out;
	}

	/* Under the lock, so that of several who release it one knows the outcome. */
	*closed = !krdma_mr_close(umr->mr);
	if (*closed || later)
		krdma_user_mm_unnumber(umr);
	else
		umr = ERR_PTR(-EBUSY);
out:
	spin_unlock(&krdma_user_mm_lock);
	return umr;
}

/**
 * krdma_user_mm_exit - all owners are gone
 *
 * Those that nothing refers to are freed a little later, by this module.
 *
 * Context: process context; may sleep.
 */
void krdma_user_mm_exit(void)
{
	mmu_notifier_synchronize();
}
