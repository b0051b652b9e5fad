/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings of programs, as the files that work on them see them: user/ring.c creates and destroys
 * them, user/cq.c moves completions to programs, user/post.c posts entries from them, user/srq.c
 * has SRQs that use them.
 */
#ifndef _KRDMA_USER_RING_H
#define _KRDMA_USER_RING_H

#include <linux/cache.h>
#include <linux/mm_types.h>

#include "user/batch.h"
#include "user/user.h"
#include "user/ring_layout.h"

struct file_operations;
struct krdma_ucmd;

/* Completions that are moved to a program at a time. */
#define KRDMA_USER_CQ_BATCH	64
/* Completions that are moved before others may run. */
#define KRDMA_USER_CQ_BUDGET	128
/* What a poll counts that has found many completions, and none for the program. */
#define KRDMA_USER_CQ_UNSIGNALED	32

/* Entries that are posted at a time straight from the ring. */
#define KRDMA_USER_POST_FLAT	64

/* Entries for one destination that are posted at a time otherwise. */
#define KRDMA_USER_POST_BATCH	16
/* SGEs of all of these: the maximum of one entry, and one for each of the others. */
#define KRDMA_USER_POST_SGES	(KRDMA_RING_SGES_MAX + KRDMA_USER_POST_BATCH - 1)
/* Bytes of inline data of all of these. */
#define KRDMA_USER_POST_INLINE	4096

/**
 * struct krdma_user_entry - an entry that is being handled
 * @sqe: a copy of the entry
 * @sges: its SGEs: in @sqe, or in the batch's list
 * @inline_length: with KRDMA_SQE_INLINE: bytes of all SGEs
 */
struct krdma_user_entry {
	struct krdma_sqe sqe;
	const struct krdma_ring_sge *sges;
	u32 inline_length;
};

/**
 * struct krdma_user_batch - entries that are being converted to work requests
 * @next: next batch of the list, while it is not in use
 * @is_charged: the session's account is charged for it
 * @dest: destination of all entries
 * @is_receive: @recv_wrs is used, not @wrs
 * @count: number of work requests
 * @sge_count: number of used entries of @sges
 * @inline_used: used bytes of @inline_data
 * @first_sge: index of the first SGE of each entry
 * @wrs: send work requests
 * @recv_wrs: receive work requests
 * @sges: SGEs; until the MRs are looked up, &struct krdma_sge.key is the ID of the MR
 * @list: SGEs of an entry, as the program has them
 * @inline_data: copies of inline data
 * @entry: the entry that is being handled
 */
struct krdma_user_batch {
	struct krdma_user_batch *next;
	bool is_charged;
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
 * struct krdma_user_found - what a ring has found for its last entries: see user.h
 * @dest_id: ID of @conn; 0: none was found
 * @mr_id: ID of @umr; 0: none was found
 * @conn: the connection
 * @umr: the MR
 * @dests_removed: krdma_user_dests_removed before @conn was looked up
 * @mrs_removed: &struct krdma_user_session.mrs_removed before @umr was looked up
 */
struct krdma_user_found {
	u32 dest_id;
	u32 mr_id;
	struct krdma_user_conn *conn;
	struct krdma_user_mr *umr;
	s64 dests_removed;
	s64 mrs_removed;
};

/**
 * struct krdma_user_ring - the file of a ring
 * @id: krdma_user_number()
 * @refs: references: one of the file, and one for each connection and SRQ that uses the ring
 * @session: the session, with a reference
 * @layout: layout of the memory; the kernel's copy, not the one that the program sees
 * @pages: pages of the memory
 * @page_count: number of entries of @pages
 * @is_mapped: the pages are not contiguous, and @header is a mapping of them
 * @header: the memory, as the kernel sees it.  The program may write any of it at any time: the
 *	kernel only reads @cq_head, @sq_tail and entries, once each.
 * @sqes: entries of the SQ ring, in the same memory
 * @cqes: entries of the CQ ring, in the same memory
 * @depth: depth of @core, as the program asked
 * @polled: KRDMA_RING_POLLED
 * @vector: the completion vector, or -1
 * @confinement: MRs that entries may use; NULL: all of the session's.  Under RCU, changed under
 *	@bind_lock.
 * @bind_lock: see user.h
 * @core: the core's CQ, from the first bind on; read without a lock
 * @device_id: ID of its device, set before @core
 * @submit_lock: see user.h
 * @sq_head: index of the next entry to be taken; protected by @submit_lock
 * @submitted: number of accepted entries; written under @submit_lock, read without it
 * @found: what was found for the last entries; protected by @submit_lock
 * @reap_lock: see user.h
 * @cq_lock: see user.h
 * @cq_tail: index where the next completion is stored; written under @cq_lock, read without it
 * @cq_flags: flags as they are in the ring; written under @cq_lock
 * @completed: number of completions that were stored; written under @cq_lock, read without it
 * @armed: the core calls ready() for the next completion, or is about to; protected by @cq_lock
 * @waiting: completions did not fit, or it is not known whether there are more, and the core does
 *	not call ready().  A caller that frees entries, or waits for completions, moves them.
 *	Written under @cq_lock, read without it.
 * @dead: the device has been removed, and the core has no completions left; written under
 *	@cq_lock, read without it
 * @received: number of completions of receives among @completed; written under @cq_lock, read
 *	without it
 * @srq_full: an SRQ has refused a receive; written and read without a lock
 * @full: a connection or SRQ that uses this ring has refused a work request because it was full,
 *	and no space was reported since; written and read without a lock
 * @wait: woken for completions, space, and the removal of the device
 * @event_lock: see user.h
 * @event_conns: connections without a descriptor that have events for the CQ ring
 * @event_work: fills the CQ ring after an event; queued with a reference
 *
 * Unless the ring is polled, it is @armed, @waiting or @dead whenever @cq_lock is free and @core
 * is set.
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
	struct krdma_user_found found;
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
	wait_queue_head_t wait;

	spinlock_t event_lock;		/* see above */
	struct list_head event_conns;
	struct work_struct event_work;
};

/* Is there a connection with events for the CQ ring?  A guess, without a lock. */
static inline bool krdma_user_ring_has_events(const struct krdma_user_ring *ring)
{
	return !list_empty_careful(&ring->event_conns);
}

/* Takes a batch for a call that posts; process context, may sleep.  NULL: a signal came first. */
static inline struct krdma_user_batch *krdma_user_batch_take(struct krdma_user_batches *batches)
{
	struct krdma_user_batch *batch = xchg(&batches->idle, NULL);

	return likely(batch) ? batch : krdma_user_batch_take_late(batches);
}

/* Gives the batch back at the end of the call. */
static inline void krdma_user_batch_give(struct krdma_user_batches *batches,
					 struct krdma_user_batch *batch)
{
	if (unlikely(!batch->is_charged || cmpxchg(&batches->idle, NULL, batch)))
		krdma_user_batch_give_late(batches, batch);
	/*
	 * The cmpxchg(), or the lock, comes before this: at least one of the two sides sees the
	 * other.
	 */
	if (unlikely(waitqueue_active(&batches->wait)))
		wake_up_interruptible(&batches->wait);
}

extern const struct file_operations krdma_user_ring_fops;
void krdma_user_ring_get(struct krdma_user_ring *ring);
void krdma_user_ring_put(struct krdma_user_ring *ring);
struct krdma_user_session *krdma_user_ring_session(struct krdma_user_ring *ring);

/*
 * The core's CQ, on @device_id, created by the first call; valid as long as @ring is.  ERR_PTR:
 * -EXDEV if it is on another device, or why it cannot be created.
 */
struct krdma_cq *krdma_user_ring_bind(struct krdma_user_ring *ring, u32 device_id);

/* A connection that uses the ring has free WQEs again.  Any context. */
void krdma_user_ring_space(struct krdma_user_ring *ring);
int krdma_user_ring_create(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_RING_H */
