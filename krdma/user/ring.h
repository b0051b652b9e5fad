/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queues of programs, as the files that work on them see them: user/ring.c makes
 * and ends them, user/cq.c brings completions to programs, user/post.c takes
 * operations from them, user/srq.c has receives of its own.
 */
#ifndef _KRDMA_USER_RING_H
#define _KRDMA_USER_RING_H

#include <linux/cache.h>
#include <linux/mm_types.h>

#include "user/user.h"
#include "user/ring_layout.h"

/* Completions that are brought to a program at a time. */
#define KRDMA_USER_CQ_BATCH	16
/* What one run brings before it lets others run. */
#define KRDMA_USER_CQ_BUDGET	128

/* Entries of one target that are posted at a time. */
#define KRDMA_USER_POST_BATCH	16
/* The pieces of all of these: the most that one can have, and one for each other. */
#define KRDMA_USER_POST_SGES	(KRDMA_RING_SGES_MAX + KRDMA_USER_POST_BATCH - 1)
/* The inline data of all of these. */
#define KRDMA_USER_POST_INLINE	4096

/**
 * struct krdma_user_entry - an entry under way
 * @sqe: a copy
 * @sges: its local memory: in @sqe, or in the batch's list
 * @inline_length: KRDMA_SQE_INLINE: of all pieces
 */
struct krdma_user_entry {
	struct krdma_sqe sqe;
	const struct krdma_ring_sge *sges;
	u32 inline_length;
};

/**
 * struct krdma_user_batch - entries that are being made requests
 * @next: while it is not in use
 * @dest: of all of them
 * @is_receive: what they are: @recv_wrs, or @wrs
 * @count: how many
 * @sge_count: of @sges, how many are used
 * @inline_used: of @inline_data
 * @first_sge: of each entry
 * @wrs: operations
 * @recv_wrs: receives
 * @sges: their local memory; until it is looked up, &struct krdma_sge.key is the
 *	number of the memory
 * @list: an entry's pieces, as the program has them
 * @inline_data: what was copied
 * @entry: the one that is looked at
 */
struct krdma_user_batch {
	struct krdma_user_batch *next;
	u32 dest;
	bool is_receive;
	u32 count;
	u32 sge_count;
	u32 inline_used;
	u16 first_sge[KRDMA_USER_POST_BATCH + 1];
	union {
		struct krdma_send_wr wrs[KRDMA_USER_POST_BATCH];
		struct krdma_recv_wr recv_wrs[KRDMA_USER_POST_BATCH];
	};
	struct krdma_sge sges[KRDMA_USER_POST_SGES];
	struct krdma_ring_sge list[KRDMA_RING_SGES_MAX];
	u8 inline_data[KRDMA_USER_POST_INLINE];
	struct krdma_user_entry entry;
};

/**
 * struct krdma_user_ring - a queue's file
 * @id: krdma_user_number()
 * @refs: the file's, and one for each connection and shared receive queue that uses it
 * @session: a reference is held
 * @layout: of the memory; ours, not the one that the program sees
 * @pages: the memory
 * @page_count: how many
 * @is_mapped: they are not next to one another, and have been mapped for @header
 * @header: the memory, as the kernel sees it.  The program may write any of it at any
 *	time: nothing there is read but @cq_head, @sq_tail and entries, once each.
 * @sqes: likewise
 * @cqes: likewise
 * @depth: completions that it has room for, as the program asked
 * @polled: KRDMA_RING_POLLED
 * @vector: the completion vector, or -1
 * @confinement: the memory that entries may name; NULL: all of the session's.  Under RCU,
 *	changed under @bind_lock.
 * @bind_lock: see user.h
 * @core: the core's, from the first use on; read without a lock
 * @device_id: of its device, set before @core
 * @submit_lock: see user.h
 * @sq_head: the next entry to be taken; protected by @submit_lock
 * @submitted: entries accepted; likewise, read by all
 * @reap_lock: see user.h
 * @cq_lock: see user.h
 * @cq_tail: where the next completion goes; protected by @cq_lock, read by all
 * @cq_flags: as they are in the ring; likewise
 * @completed: completions that went into the ring; likewise
 * @wcs: on their way there; likewise
 * @armed: the core will tell of the next completion, or is about to; likewise
 * @waiting: there are completions that did not fit, or it was not looked whether there
 *	are; the core will not tell.  Whoever makes room, or wants some, fills.
 *	Likewise, read by all.
 * @dead: the device has gone, and the core has nothing left; likewise
 * @received: of @completed, those of receives; likewise
 * @srq_full: a shared receive queue has refused a receive; read and written by all
 * @full: somebody who is used by way of this queue has refused for want of room, and
 *	nobody has said that there is some; read and written by all
 * @wait: for completions, room, and the end
 *
 * Unless the queue is polled, it is @armed, @waiting or @dead whenever @cq_lock is
 * free and @core is there.
 */
struct krdma_user_ring {
	u32 id;
	refcount_t refs;
	struct krdma_user_session *session;
	struct krdma_ring_layout layout;
	struct page **pages;
	unsigned int page_count;
	bool is_mapped;
	struct krdma_ring_header *header;
	struct krdma_sqe *sqes;
	struct krdma_cqe *cqes;
	u32 depth;
	bool polled;
	int vector;
	struct krdma_user_confinement __rcu *confinement;
	struct mutex bind_lock;		/* see above */
	struct krdma_cq *core;
	u32 device_id;

	struct mutex submit_lock ____cacheline_aligned_in_smp;	/* see above */
	u32 sq_head;
	u64 submitted;
	struct mutex reap_lock;		/* see above */

	spinlock_t cq_lock ____cacheline_aligned_in_smp;	/* see above */
	u32 cq_tail;
	bool armed;
	bool waiting;
	bool dead;
	bool srq_full;
	bool full;
	u32 cq_flags;
	u64 completed;
	u64 received;
	struct krdma_wc wcs[KRDMA_USER_CQ_BATCH];
	wait_queue_head_t wait;
};

/* user/cq.c */

/* The core says that there may be something; &struct krdma_cq_attr.ready. */
bool krdma_user_ring_ready(void *context);
void krdma_user_ring_fill(struct krdma_user_ring *ring);
int krdma_user_ring_filled(struct krdma_user_ring *ring);
int krdma_user_ring_await(struct krdma_user_ring *ring, u32 wanted, u64 deadline_ns);
void krdma_user_ring_make_room(struct krdma_user_ring *ring);
__poll_t krdma_user_ring_events(struct krdma_user_ring *ring);
/* Handler of KRDMA_RING_REAP. */
int krdma_user_ring_reap(struct krdma_ucmd *ucmd);

/* user/confine.c */

bool krdma_user_confinement_has(const struct krdma_user_confinement *confinement, u32 id);
void krdma_user_ring_unconfine(struct krdma_user_ring *ring);
/* Handler of KRDMA_RING_CONFINE. */
int krdma_user_ring_confine(struct krdma_ucmd *ucmd);

/* user/batch.c */

int krdma_user_batches_prepare(struct krdma_user_batches *batches);
struct krdma_user_batch *krdma_user_batch_take_late(struct krdma_user_batches *batches);
void krdma_user_batch_give_late(struct krdma_user_batches *batches,
				struct krdma_user_batch *batch);

/* A batch for a call that posts; process context, may sleep.  NULL: a signal came first. */
static inline struct krdma_user_batch *krdma_user_batch_take(struct krdma_user_batches *batches)
{
	struct krdma_user_batch *batch = xchg(&batches->idle, NULL);

	return likely(batch) ? batch : krdma_user_batch_take_late(batches);
}

/* The call ends. */
static inline void krdma_user_batch_give(struct krdma_user_batches *batches,
					 struct krdma_user_batch *batch)
{
	if (unlikely(cmpxchg(&batches->idle, NULL, batch)))
		krdma_user_batch_give_late(batches, batch);
	/* The exchange, or the lock, is before this: one of both sees the other. */
	if (unlikely(waitqueue_active(&batches->wait)))
		wake_up_interruptible(&batches->wait);
}

/* user/post.c */

int krdma_user_ring_submit(struct krdma_user_ring *ring, u32 count, int *error);
/* Handlers of KRDMA_RING_POST and KRDMA_SRQ_POST. */
int krdma_user_ring_post(struct krdma_ucmd *ucmd);
int krdma_user_srq_post(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_RING_H */
