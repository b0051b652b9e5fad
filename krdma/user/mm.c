// SPDX-License-Identifier: GPL-2.0
/*
 * Owners: an MR ends with the process whose memory it is, whichever process has the session then.
 *
 * More precisely, it ends with the process's address space, which threads share and which exec()
 * replaces.  An MMU notifier is called at the beginning of the end of an address space.  There is
 * one notifier for each address space in which memory is registered, for all sessions.  The first
 * one is registered with the locks of all mappings held.  So a session keeps that of the last
 * registration, and a process that registers one MR at a time pays for it once.  If the address
 * space has ended, this keeps only the structure, and nothing that was in it.
 *
 * After the end of an address space the IDs are removed first, so that nothing new is posted.  Work
 * requests in flight may be another process's, or wait for a peer: their connections are aborted.
 * Then the exit of the process, or its exec(), waits until no device can access the memory.  A
 * working device lets that happen soon, and a broken one cannot delay it forever.
 *
 * Nothing of that is done in the notifier.  It is called within an SRCU section for which the end
 * of every address space with notifiers waits, those of other users and of virtual machines too,
 * and a program may have any number of MRs.  So it makes a file and puts it: the last close of a
 * file runs when the process has left that section, and has closed its own files.  If there is no
 * memory for that, a work item ends the MRs, and the process does not wait.  The pages are pinned
 * anyway, and given to nobody else until the device is done.
 *
 * krdma_user_mm_lock
 *	kind:		spinlock
 *	protects:	the lists of owners; whether an MR has an ID, and with that, that the
 *			MR's session exists; whether the core's MR has ended, and with that,
 *			that it exists; the owner that a session keeps
 *	taken in:	process context.  Inside it, the lock of a session's table, and the core's
 *			krdma_turns_lock.
 */
#include <linux/anon_inodes.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "core/objects.h"
#include "user/file.h"
#include "user/mm.h"
#include "user/mr.h"
#include "user/user.h"

/*
 * Without it, the module would not learn of the exit of a process.  InfiniBand on-demand paging
 * selects it.
 */
#ifndef CONFIG_MMU_NOTIFIER
#error "krdma needs a kernel with CONFIG_MMU_NOTIFIER"
#endif

/* A little more than the drain of a QP may take. */
#define KRDMA_USER_MM_PATIENCE	(6 * HZ)

/* MRs whose users are ended before the lock is released for a moment. */
#define KRDMA_USER_MM_BATCH	64

/**
 * struct krdma_user_mm - an address space in which memory is registered
 * @notifier: called at its end; each &struct krdma_user_mr has a reference, and so has each
 *	session that keeps it
 * @mrs: list of &struct krdma_user_mr, those with IDs first
 * @held: number of these of which the core's MR has not ended
 * @wait: woken when @held becomes 0
 * @work: ends the MRs, if the process does not
 * @refs: one of the notifier, until it is freed, and one of the process that ends the MRs, or @work
 */
struct krdma_user_mm {
	struct mmu_notifier notifier;
	struct list_head mrs;
	unsigned int held;
	wait_queue_head_t wait;
	struct work_struct work;
	refcount_t refs;
};

static DEFINE_SPINLOCK(krdma_user_mm_lock);	/* see above */

/* Number of owners that are not freed; woken when it becomes 0. */
static atomic_t krdma_user_mms = ATOMIC_INIT(0);

/* Removes the ID; the reference of the ID is the caller's afterwards. */
static void krdma_user_mm_unnumber(struct krdma_user_mr *umr)
{
	lockdep_assert_held(&krdma_user_mm_lock);

	krdma_user_mr_remove(umr->session, umr->id);
	umr->numbered = false;
	/* Behind those that have one, see krdma_user_mm_take_next(). */
	list_move_tail(&umr->mm_node, &umr->umm->mrs);
}

/* Takes the ID from the next MR that has one, and returns it, or NULL. */
static struct krdma_user_mr *krdma_user_mm_take_next(struct krdma_user_mm *umm)
{
	struct krdma_user_mr *umr;

	spin_lock(&krdma_user_mm_lock);
	umr = list_first_entry_or_null(&umm->mrs, struct krdma_user_mr, mm_node);
	if (umr && umr->numbered)
		krdma_user_mm_unnumber(umr);
	else
		umr = NULL;
	spin_unlock(&krdma_user_mm_lock);

	return umr;
}

/*
 * The lock is shared by all programs, and a program can have any number of MRs.  So the lock is
 * released from time to time, with a mark in the list.  Only this function and, before it,
 * krdma_user_mm_take_next() walk the list.
 */
static void krdma_user_mm_end_users(struct krdma_user_mm *umm)
{
	struct krdma_user_mr *umr;
	unsigned int count = 0;
	LIST_HEAD(mark);

	spin_lock(&krdma_user_mm_lock);
	list_add(&mark, &umm->mrs);
	while (!list_is_last(&mark, &umm->mrs)) {
		umr = list_entry(mark.next, struct krdma_user_mr, mm_node);
		list_move(&mark, &umr->mm_node);
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

static void krdma_user_mm_unref(struct krdma_user_mm *umm)
{
	if (!refcount_dec_and_test(&umm->refs))
		return;
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_MM, umm));
	if (atomic_dec_and_test(&krdma_user_mms))
		wake_up_var(&krdma_user_mms);
}

/*
 * No caller registers any more, because it would run in this address space.  But IDs may be
 * released, and sessions end, at the same time.
 */
static void krdma_user_mm_end(struct krdma_user_mm *umm)
{
	struct krdma_user_mr *umr;

	while ((umr = krdma_user_mm_take_next(umm))) {
		krdma_mr_drop(umr->mr);
		krdma_user_mr_put(umr);
		cond_resched();
	}
	krdma_user_mm_end_users(umm);
}

static void krdma_user_mm_work(struct work_struct *work)
{
	struct krdma_user_mm *umm = container_of(work, struct krdma_user_mm, work);

	krdma_user_mm_end(umm);
	krdma_user_mm_unref(umm);
}

/* In the process that exits, or calls exec(), except that a kernel thread may have to close it. */
static int krdma_user_mm_close(struct inode *inode, struct file *file)
{
	struct krdma_user_mm *umm = file->private_data;

	krdma_user_mm_end(umm);
	if (!(current->flags & PF_KTHREAD) &&
	    !wait_event_timeout(umm->wait, !READ_ONCE(umm->held), KRDMA_USER_MM_PATIENCE))
		pr_warn_ratelimited("cannot release memory of %s[%d] yet: its device uses it\n",
				    current->comm, task_pid_nr(current));
	krdma_user_mm_unref(umm);
	return 0;
}

static const struct file_operations krdma_user_mm_fops = {
	.owner = THIS_MODULE,
	.release = krdma_user_mm_close,
};

/*
 * Lets the process end the MRs, and wait.  Another process that drops the last reference to the
 * address space, such as a reader of /proc/PID/maps, does not: the process whose memory it was has
 * ended before.
 */
static bool krdma_user_mm_end_later(struct krdma_user_mm *umm)
{
	struct file *file;

	if ((current->flags & PF_KTHREAD) ||
	    (!(current->flags & PF_EXITING) && !current->in_execve))
		return false;
	file = anon_inode_getfile("[krdma-exit]", &krdma_user_mm_fops, umm, O_RDONLY);
	if (IS_ERR(file)) {
		pr_warn_ratelimited("cannot wait for the release of memory of %s[%d]: %pe\n",
				    current->comm, task_pid_nr(current), file);
		return false;
	}
	fput(file);
	return true;
}

/* The end of an address space. */
static void krdma_user_mm_release(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct krdma_user_mm *umm = container_of(notifier, struct krdma_user_mm, notifier);
	bool empty;

	spin_lock(&krdma_user_mm_lock);
	empty = list_empty(&umm->mrs);
	spin_unlock(&krdma_user_mm_lock);
	if (empty)
		return;

	refcount_inc(&umm->refs);
	if (!krdma_user_mm_end_later(umm))
		queue_work(krdma_user_workqueue, &umm->work);
}

static struct mmu_notifier *krdma_user_mm_alloc(struct mm_struct *mm)
{
	struct krdma_user_mm *umm;

	umm = krdma_object_count(KRDMA_OBJECT_USER_MM, kzalloc_obj(*umm, GFP_KERNEL_ACCOUNT));
	if (!umm)
		return ERR_PTR(-ENOMEM);

	INIT_LIST_HEAD(&umm->mrs);
	init_waitqueue_head(&umm->wait);
	INIT_WORK(&umm->work, krdma_user_mm_work);
	refcount_set(&umm->refs, 1);
	atomic_inc(&krdma_user_mms);
	return &umm->notifier;
}

static void krdma_user_mm_free(struct mmu_notifier *notifier)
{
	krdma_user_mm_unref(container_of(notifier, struct krdma_user_mm, notifier));
}

static const struct mmu_notifier_ops krdma_user_mm_ops = {
	.release = krdma_user_mm_release,
	.alloc_notifier = krdma_user_mm_alloc,
	.free_notifier = krdma_user_mm_free,
};

static void krdma_user_mm_put(struct krdma_user_mm *umm)
{
	if (umm)
		mmu_notifier_put(&umm->notifier);
}

/* Takes over the caller's reference; the session's old one is dropped. */
static void krdma_user_mm_swap(struct krdma_user_session *session,
			       struct krdma_user_mm *umm)
{
	spin_lock(&krdma_user_mm_lock);
	swap(session->umm, umm);
	spin_unlock(&krdma_user_mm_lock);

	krdma_user_mm_put(umm);
}

/* The owner for the calling process, with a reference. */
static struct krdma_user_mm *krdma_user_mm_get(void)
{
	struct mmu_notifier *notifier;

	notifier = mmu_notifier_get(&krdma_user_mm_ops, current->mm);
	if (IS_ERR(notifier))
		return ERR_CAST(notifier);
	return container_of(notifier, struct krdma_user_mm, notifier);
}

/**
 * krdma_user_mm_join() - Make the calling process the owner of an MR
 * @umr: the MR, new
 *
 * Context: process context; may sleep.
 * Return: 0, -ENOMEM, or -ERESTARTSYS.
 */
int krdma_user_mm_join(struct krdma_user_mr *umr)
{
	struct krdma_user_session *session = umr->session;
	struct krdma_user_mm *umm;
	bool kept;

	umm = krdma_user_mm_get();
	if (IS_ERR(umm))
		return PTR_ERR(umm) == -EINTR ? -ERESTARTSYS : PTR_ERR(umm);

	spin_lock(&krdma_user_mm_lock);
	umr->umm = umm;
	list_add_tail(&umr->mm_node, &umm->mrs);
	umr->held = true;
	umm->held++;
	kept = session->umm == umm;
	spin_unlock(&krdma_user_mm_lock);

	if (!kept) {
		umm = krdma_user_mm_get();
		/* Without it, only the next registration takes longer. */
		if (!IS_ERR(umm))
			krdma_user_mm_swap(session, umm);
	}
	return 0;
}

/**
 * krdma_user_mm_forget() - Drop the owner that a session keeps
 * @session: the session, which is ending
 *
 * Context: process context.
 */
void krdma_user_mm_forget(struct krdma_user_session *session)
{
	krdma_user_mm_swap(session, NULL);
}

/**
 * krdma_user_mm_ended() - Note that no device can access an MR any more
 * @umr: the MR
 *
 * Context: process context.
 */
void krdma_user_mm_ended(struct krdma_user_mr *umr)
{
	struct krdma_user_mm *umm = umr->umm;

	spin_lock(&krdma_user_mm_lock);
	umr->held = false;
	WRITE_ONCE(umm->held, umm->held - 1);
	if (!umm->held)
		wake_up(&umm->wait);
	spin_unlock(&krdma_user_mm_lock);
}

/**
 * krdma_user_mm_leave() - Remove an MR from its owner
 * @umr: the MR, which has ended
 *
 * Context: process context.
 */
void krdma_user_mm_leave(struct krdma_user_mr *umr)
{
	spin_lock(&krdma_user_mm_lock);
	list_del(&umr->mm_node);
	spin_unlock(&krdma_user_mm_lock);

	krdma_user_mm_put(umr->umm);
}

/**
 * krdma_user_mm_number() - Make an MR visible at its ID
 * @umr: the MR; its ID is reserved in the table
 *
 * Context: process context.
 */
void krdma_user_mm_number(struct krdma_user_mr *umr)
{
	void *old;

	spin_lock(&krdma_user_mm_lock);
	umr->numbered = true;
	list_move(&umr->mm_node, &umr->umm->mrs);
	old = xa_store(&umr->session->mrs, umr->id, umr, GFP_ATOMIC);
	spin_unlock(&krdma_user_mm_lock);

	/* The entry was reserved, so nothing was allocated. */
	WARN_ON_ONCE(old);
}

/**
 * krdma_user_mm_take() - Remove the ID of an MR
 * @session: the session; the caller holds a reference
 * @id: the ID
 * @later: remove it also if work requests are in flight
 * @closed: set on success: whether the core's MR has been closed
 *
 * Context: process context.
 * Return: the MR, with the reference of the ID: the caller deregisters, or drops, the core's MR,
 * and puts it.  ERR_PTR(-ENOENT): there is none, or another caller was first; ERR_PTR(-EBUSY):
 * work requests are in flight, and nothing has changed.
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

	/* Under the lock, so that of several callers only one gets the outcome. */
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
 * krdma_user_mm_exit() - Wait until all owners are freed
 *
 * Owners without references are freed a little later, by code of this module.
 *
 * Context: process context; may sleep.
 */
void krdma_user_mm_exit(void)
{
	/* Waits for readers, and not always for callbacks of other processors. */
	mmu_notifier_synchronize();
	wait_var_event(&krdma_user_mms, !atomic_read(&krdma_user_mms));
	/* The last callback returns. */
	synchronize_rcu();
}
