/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives of an SRQ that takers other than the device's QPs get: lanes.
 */
#ifndef _KRDMA_SRQ_SHARE_H
#define _KRDMA_SRQ_SHARE_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/types.h>

struct krdma_recv_wr;
struct krdma_sge;
struct krdma_srq;
struct krdma_srq_share;
struct krdma_srq_taker;
struct krdma_srq_wqe;

/* Receives that a taker holds at most, and that it holds without having asked. */
#define KRDMA_SRQ_HOLDS		8
#define KRDMA_SRQ_STANDING	4

/* A peer has at most one part of an SRQ that is divided into this number of parts. */
#define KRDMA_SRQ_PARTS		4

#define KRDMA_SRQ_SHARE_BITS	6

/**
 * struct krdma_srq_recv - a receive that changes hands
 * @wr_id: wr_id of the consumer
 * @sges: its SGEs, none of them empty, each with a use of its MR
 * @sge_count: number of @sges
 */
struct krdma_srq_recv {
	u64 wr_id;
	const struct krdma_sge *sges;
	u16 sge_count;
};

/**
 * struct krdma_srq_taker_ops - callbacks to a taker
 * @get: take a reference to the object around it
 * @put: drop that reference; any context but NMI
 * @give: give it a receive, which it copies; false: it has no room, or ends
 * @take: take back the receive that it got last, of those that it does not use; false: there is
 *	none, or it uses memory that has to go.  The SGEs are copied before the post lock is
 *	released.
 * @given: it has got some
 * @recall: others lack receives: whatever it holds and does not need is to be taken back, by
 *	krdma_srq_yielded(), which has to follow
 *
 * @give and @take are called with the SRQ's post lock, interrupts off; the others without it, in
 * the context of the call that has caused them, with a reference.
 */
struct krdma_srq_taker_ops {
	void (*get)(struct krdma_srq_taker *taker);
	void (*put)(struct krdma_srq_taker *taker);
	bool (*give)(struct krdma_srq_taker *taker, const struct krdma_srq_recv *recv);
	bool (*take)(struct krdma_srq_taker *taker, struct krdma_srq_recv *recv);
	void (*given)(struct krdma_srq_taker *taker);
	void (*recall)(struct krdma_srq_taker *taker);
};

/**
 * struct krdma_srq_taker - one that takes receives of an SRQ
 * @ops: callbacks
 * @srq: the SRQ, attached; NULL: none
 * @share: the share of its peer
 * @node: entry of @share's list of takers that want receives, or of those that lack some
 * @holder: entry of @share's list of takers that hold receives for which they have not asked
 * @held: receives that it holds
 * @want: receives that it has asked for and not got
 * @recalled: it was asked for what it holds, and has not answered
 * @stopped: it gets none any more
 *
 * Protected by the SRQ's post lock.
 */
struct krdma_srq_taker {
	const struct krdma_srq_taker_ops *ops;
	struct krdma_srq *srq;
	struct krdma_srq_share *share;
	struct list_head node;
	struct list_head holder;
	u32 held;
	u32 want;
	bool recalled;
	bool stopped;
};

/**
 * struct krdma_srq_pool - the receives of an SRQ that neither its takers nor the device have
 * @sges: SGEs of all WQEs, @max_sge of the SRQ for each
 * @head: the oldest one
 * @tail: the last one
 * @count: number of them
 * @held: receives that the takers hold
 * @on_device: receives that the device has
 * @qps: QPs that take receives from the device's SRQ
 * @takers: takers
 * @used: circular buffer, with as many entries as the SRQ: the shares of receives that were used
 *	and not replaced, the oldest first; NULL for those that a QP has used
 * @used_head: index of the oldest one
 * @used_count: number of them
 * @shares: shares, by peer
 * @wanting: shares of which a taker wants receives, and may get one
 * @full: shares of which a taker wants receives, and that are used up
 * @lacking: shares of which a taker lacks some
 * @holding: shares of which a taker holds receives for which it has not asked
 *
 * Protected by the SRQ's post lock.
 */
struct krdma_srq_pool {
	struct krdma_sge *sges;
	struct krdma_srq_wqe *head;
	struct krdma_srq_wqe *tail;
	u32 count;
	u32 held;
	u32 on_device;
	u32 qps;
	u32 takers;
	struct krdma_srq_share **used;
	u32 used_head;
	u32 used_count;
	DECLARE_HASHTABLE(shares, KRDMA_SRQ_SHARE_BITS);
	struct list_head wanting;
	struct list_head full;
	struct list_head lacking;
	struct list_head holding;
};

u64 krdma_srq_pool_bytes(u32 depth, u32 max_sge);
struct krdma_srq_pool *krdma_srq_pool_create(u32 depth, u32 max_sge, int node);
void krdma_srq_pool_free(struct krdma_srq_pool *pool);
int krdma_srq_pool_post(struct krdma_srq *srq, const struct krdma_recv_wr *wr);
void krdma_srq_pool_feed(struct krdma_srq *srq, int qps);
void krdma_srq_pool_completed(struct krdma_srq *srq);

int krdma_srq_taker_add(struct krdma_srq_taker *taker, struct krdma_srq *srq, u64 peer,
			const struct krdma_srq_taker_ops *ops);
void krdma_srq_taker_start(struct krdma_srq_taker *taker);
void krdma_srq_taker_stop(struct krdma_srq_taker *taker);
void krdma_srq_taker_remove(struct krdma_srq_taker *taker);
void krdma_srq_want(struct krdma_srq_taker *taker, u32 count);
void krdma_srq_used(struct krdma_srq_taker *taker);
void krdma_srq_yielded(struct krdma_srq_taker *taker, u32 count);
void krdma_srq_distribute(struct krdma_srq *srq);

#endif /* _KRDMA_SRQ_SHARE_H */
