// SPDX-License-Identifier: GPL-2.0
/*
 * Batches: where the entries of a program become work requests.
 *
 * A batch is in use only while a call posts, so a session has as many as were in use at the same
 * time, and not one for each ring.  A call has its batch while it reads the program's memory, which
 * another thread of the program may have to provide first (userfaultfd), and that one may post.  So
 * no call waits for the batch of another one as long as there is memory.  Beyond what the account
 * can have, a batch is not charged, and not kept either: there is at most one for each ring, whose
 * submit_lock the call holds.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "core/objects.h"
#include "user/batch.h"
#include "user/limits.h"
#include "user/user.h"
#include "user/ring.h"

/* A call without a batch tries again after so many jiffies. */
#define KRDMA_USER_BATCH_RETRY	max(HZ / 100, 1)

static struct krdma_user_account *krdma_user_batches_account(struct krdma_user_batches *batches)
{
	return container_of(batches, struct krdma_user_session, batches)->account;
}

/* What kmalloc() takes for a batch. */
static u64 krdma_user_batch_bytes(void)
{
	return roundup_pow_of_two(sizeof(struct krdma_user_batch));
}

static void krdma_user_batch_uncharge(struct krdma_user_batches *batches)
{
	krdma_user_account_uncharge(krdma_user_batches_account(batches), KRDMA_ACCOUNT_MEMORY,
				    krdma_user_batch_bytes());
}

static void krdma_user_batch_free(struct krdma_user_batches *batches,
				  struct krdma_user_batch *batch)
{
	if (!batch)
		return;
	if (batch->is_charged)
		krdma_user_batch_uncharge(batches);
	kvfree(krdma_object_uncount(KRDMA_OBJECT_USER_BATCH, batch));
}

/**
 * krdma_user_batches_init() - Initialize the batches of a session
 * @batches: batches of the session
 *
 * Context: any.
 */
void krdma_user_batches_init(struct krdma_user_batches *batches)
{
	spin_lock_init(&batches->lock);
	init_waitqueue_head(&batches->wait);
}

/**
 * krdma_user_batches_destroy() - Free the batches of a session
 * @batches: batches of the session; none is in use
 *
 * Context: process context.
 */
void krdma_user_batches_destroy(struct krdma_user_batches *batches)
{
	struct krdma_user_batch *batch = batches->spare;

	while (batch) {
		struct krdma_user_batch *next = batch->next;

		krdma_user_batch_free(batches, batch);
		batch = next;
	}
	krdma_user_batch_free(batches, batches->idle);
}

/* Never frees the last batch: other callers may be waiting for it. */
static bool krdma_user_batch_keep(struct krdma_user_batches *batches,
				  struct krdma_user_batch *batch)
{
	bool keep;

	spin_lock(&batches->lock);
	keep = batches->spare_count < num_possible_cpus();
	if (keep) {
		batch->next = batches->spare;
		batches->spare = batch;
		batches->spare_count++;
	}
	spin_unlock(&batches->lock);

	return keep;
}

/**
 * krdma_user_batches_reserve() - Make sure that a session has a batch
 * @batches: batches of the session
 *
 * Context: process context; may sleep.
 * Return: 0, -EDQUOT or -ENOMEM.
 */
int krdma_user_batches_reserve(struct krdma_user_batches *batches)
{
	struct krdma_user_batch *batch;
	int ret;

	if (READ_ONCE(batches->prepared))
		return 0;
	ret = krdma_user_account_charge(krdma_user_batches_account(batches), KRDMA_ACCOUNT_MEMORY,
					krdma_user_batch_bytes());
	if (ret)
		return ret;
	batch = krdma_object_count(KRDMA_OBJECT_USER_BATCH,
				   kvzalloc_obj(*batch, GFP_KERNEL_ACCOUNT));
	if (!batch) {
		krdma_user_batch_uncharge(batches);
		return -ENOMEM;
	}
	batch->is_charged = true;
	/* Another thread may have done the same: then there are two. */
	krdma_user_batch_give(batches, batch);
	WRITE_ONCE(batches->prepared, true);
	return 0;
}

static struct krdma_user_batch *krdma_user_batch_find(struct krdma_user_batches *batches)
{
	struct krdma_user_batch *batch;

	spin_lock(&batches->lock);
	batch = batches->spare;
	if (batch) {
		batches->spare = batch->next;
		batches->spare_count--;
	}
	spin_unlock(&batches->lock);

	return batch ?: xchg(&batches->idle, NULL);
}

static bool krdma_user_batch_found(struct krdma_user_batches *batches,
				   struct krdma_user_batch **batch)
{
	*batch = krdma_user_batch_find(batches);
	return *batch;
}

/* With retries: a batch that is in use stays so for as long as the program likes. */
static struct krdma_user_batch *krdma_user_batch_another(struct krdma_user_batches *batches)
{
	struct krdma_user_batch *batch;
	bool is_charged;

	is_charged = krdma_user_account_try(krdma_user_batches_account(batches),
					    KRDMA_ACCOUNT_MEMORY, krdma_user_batch_bytes());
	batch = krdma_object_count(KRDMA_OBJECT_USER_BATCH,
				   kvzalloc_obj(*batch, GFP_KERNEL_ACCOUNT | __GFP_NOWARN));
	if (batch)
		batch->is_charged = is_charged;
	else if (is_charged)
		krdma_user_batch_uncharge(batches);
	return batch;
}

/**
 * krdma_user_batch_take_late() - Take a batch when @idle is in use
 * @batches: batches of the session, prepared
 *
 * Context: process context of the program; may sleep.
 * Return: the batch, for krdma_user_batch_give(), or NULL: a signal came first.
 */
struct krdma_user_batch *krdma_user_batch_take_late(struct krdma_user_batches *batches)
{
	struct krdma_user_batch *batch;
	long ret;

	do {
		batch = krdma_user_batch_find(batches) ?: krdma_user_batch_another(batches);
		if (batch)
			return batch;
		/* Until one is free, or there is memory again: whichever comes first. */
		ret = wait_event_interruptible_timeout(batches->wait,
						       krdma_user_batch_found(batches, &batch),
						       KRDMA_USER_BATCH_RETRY);
	} while (!ret);
	return batch;
}

/**
 * krdma_user_batch_give_late() - Give back a batch that does not become the idle one
 * @batches: batches of the session
 * @batch: the batch
 *
 * Context: process context; may sleep.
 */
void krdma_user_batch_give_late(struct krdma_user_batches *batches,
				struct krdma_user_batch *batch)
{
	if (!batch->is_charged || !krdma_user_batch_keep(batches, batch))
		krdma_user_batch_free(batches, batch);
}
