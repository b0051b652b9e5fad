// SPDX-License-Identifier: GPL-2.0
/*
 * The queues of a lane: posting, copying, and completing.
 *
 * A work request passes four positions of its queue, in this order:
 *
 *	tail	it is posted, under the lane's lock, in any context
 *	next	the trunk sends it, or fills it, under the trunk's lock
 *	done	its status is known, under the trunk's lock
 *	head	it completes to the consumer, under the poll lock of its CQ
 *
 * Each work request completes once: those that are not done when the lane ends are flushed.  The
 * CQ has room for all of them, as it has for those of a QP.
 *
 * The memory of small queues is allocated by the first post: most lanes of a host are idle.
 *
 * The consumer's callback runs in the context that it asked for.  In softirq context it cannot
 * sleep, and with KRDMA_CONTEXT_POLL there is none, so the completion of the link, which runs in
 * softirq, completes directly.  A work item calls a consumer that may sleep.
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "cm/conn.h"
#include "core/device.h"
#include "core/session.h"
#include "io/budget.h"
#include "io/keepalive.h"
#include "io/op.h"
#include "io/srq.h"
#include "lane/lane.h"
#include "lane/queue.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/share.h"
#include "lane/window.h"
#include "mr/copy.h"
#include "mr/mr.h"

/* Completions that are passed on with softirqs or interrupts off. */
#define KRDMA_LANE_BATCH	16

/* The longest inline data: krdma copies as much for QPs. */
#define KRDMA_LANE_INLINE_MAX	1024

/* The operations of lanes, whatever the device can do: processors carry them out. */
#define KRDMA_LANE_OPS		(BIT(KRDMA_OP_SEND) | BIT(KRDMA_OP_SEND_IMM) |		\
				 BIT(KRDMA_OP_WRITE) | BIT(KRDMA_OP_WRITE_IMM) |		\
				 BIT(KRDMA_OP_READ) | BIT(KRDMA_OP_COMPARE_SWAP) |	\
				 BIT(KRDMA_OP_FETCH_ADD) | BIT(KRDMA_OP_ATOMIC_WRITE) |	\
				 BIT(KRDMA_OP_FLUSH))

/*
 * Completing
 */

static void krdma_lane_space(struct krdma_lane *lane)
{
	if (lane->conn->ops->space)
		lane->conn->ops->space(lane->conn);
}

static struct krdma_lane *krdma_lane_of_send(struct krdma_credits *credits)
{
	return container_of(credits, struct krdma_lane, send.credits);
}

static struct krdma_lane *krdma_lane_of_recv(struct krdma_credits *credits)
{
	return container_of(credits, struct krdma_lane, recv.credits);
}

static void krdma_lane_send_get(struct krdma_credits *credits)
{
	krdma_conn_get(krdma_lane_of_send(credits)->conn);
}

static void krdma_lane_send_put(struct krdma_credits *credits)
{
	krdma_conn_put(krdma_lane_of_send(credits)->conn);
}

static void krdma_lane_send_space(struct krdma_credits *credits)
{
	krdma_lane_space(krdma_lane_of_send(credits));
}

static void krdma_lane_recv_get(struct krdma_credits *credits)
{
	krdma_conn_get(krdma_lane_of_recv(credits)->conn);
}

static void krdma_lane_recv_put(struct krdma_credits *credits)
{
	krdma_conn_put(krdma_lane_of_recv(credits)->conn);
}

static void krdma_lane_recv_space(struct krdma_credits *credits)
{
	krdma_lane_space(krdma_lane_of_recv(credits));
}

static const struct krdma_credits_ops krdma_lane_send_credits_ops = {
	.get = krdma_lane_send_get,
	.put = krdma_lane_send_put,
	.space = krdma_lane_send_space,
};

static const struct krdma_credits_ops krdma_lane_recv_credits_ops = {
	.get = krdma_lane_recv_get,
	.put = krdma_lane_recv_put,
	.space = krdma_lane_recv_space,
};

static void krdma_lane_put_mrs(const struct krdma_sge *sges, u32 count)
{
	while (count)
		krdma_mr_end_use(sges[--count].mr);
}

/* Completes the work request at the head. */
static void krdma_lane_finish(struct krdma_lane *lane, struct krdma_lane_queue *queue)
{
	u32 head = queue->completed;
	struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, head);
	struct krdma_credits *credits = &queue->credits;
	bool sent = queue == &lane->send;
	u16 count = wqe->sge_count;
	struct krdma_wc *wc;

	krdma_cq_assert_held(queue->cq);

	/* In this order: see krdma_lane_wqe_is_condemned(). */
	WRITE_ONCE(wqe->sge_count, 0);
	krdma_lane_put_mrs(krdma_lane_sges_at(queue, head), count);
	/* Before the consumer gets the completion: it may query, and it may post. */
	WRITE_ONCE(queue->completed, queue->completed + 1);
	if (sent && (wqe->flags & KRDMA_POST_UNSIGNALED) && !wqe->status) {
		krdma_credits_return(&queue->credits, 1);
		return;
	}

	wc = krdma_cq_next_wc(queue->cq);
	*wc = (struct krdma_wc) {
		.conn = lane->conn,
		.context = lane->conn->context,
		.wr_id = wqe->wr_id,
		.opcode = wqe->opcode,
		.status = wqe->status,
		.flags = sent ? 0 : wqe->flags,
		.length = sent ? wqe->length : wqe->received,
		.imm = sent ? 0 : wqe->imm,
	};
	if (!sent && krdma_lane_srq(lane)) {
		/* The consumer has posted it to the SRQ, and the lane has room for another one. */
		krdma_credits_give(credits, 1);
		krdma_srq_used(&lane->share->taker);
		credits = &krdma_lane_srq(lane)->credits;
	}
	krdma_cq_complete(queue->cq, wc, lane->conn->ops->complete, credits);
}

/* Returns whether there may be more. */
static bool krdma_lane_deliver_some(struct krdma_lane *lane, struct krdma_lane_queue *queue)
{
	unsigned long flags;
	unsigned int count;

	krdma_cq_lock(queue->cq, &flags);
	for (count = 0; count < KRDMA_LANE_BATCH; count++) {
		/* Pairs with the release in krdma_lane_done(). */
		if ((u32)queue->completed == smp_load_acquire(&queue->done))
			break;
		krdma_lane_finish(lane, queue);
	}
	krdma_cq_unlock(queue->cq, flags);
	return count == KRDMA_LANE_BATCH;
}

static void krdma_lane_deliver_all(struct krdma_lane *lane, struct krdma_lane_queue *queue)
{
	might_sleep();

	while (krdma_lane_deliver_some(lane, queue))
		cond_resched();
}

/* Does a consumer sleep in its completions? */
static bool krdma_lane_needs_work(const struct krdma_lane *lane)
{
	return lane->send.cq->where == KRDMA_CONTEXT_WORKQUEUE ||
	       lane->recv.cq->where == KRDMA_CONTEXT_WORKQUEUE;
}

/* Completes to a consumer that may sleep. */
static void krdma_lane_deliver_work(struct work_struct *work)
{
	struct krdma_lane *lane = container_of(work, struct krdma_lane_delivery, work)->lane;

	if (lane->send.cq->where == KRDMA_CONTEXT_WORKQUEUE)
		krdma_lane_deliver_all(lane, &lane->send);
	if (lane->recv.cq->where == KRDMA_CONTEXT_WORKQUEUE)
		krdma_lane_deliver_all(lane, &lane->recv);
}

/**
 * krdma_lane_deliver() - Complete what is done to the consumer, or have a work item do that
 * @lane: the lane; its queues have not ended
 * @queue: one of its queues
 *
 * A frame completes no more than KRDMA_LANE_RECORDS_MAX messages.  It has no more answers of the
 * peer, each of which completes no more than KRDMA_LANE_PENDING_MAX work requests.
 *
 * Context: softirqs are off, with the trunk's lock held.
 */
void krdma_lane_deliver(struct krdma_lane *lane, struct krdma_lane_queue *queue)
{
	lockdep_assert_held(&lane->trunk->lock);

	if (queue->cq->where == KRDMA_CONTEXT_WORKQUEUE)
		queue_work(krdma_cq_workqueue, &lane->delivery->work);
	else
		while (krdma_lane_deliver_some(lane, queue))
			;
}

/* The status of the first one that is not done yet is known. */
static void krdma_lane_done(struct krdma_lane_queue *queue, u8 status)
{
	krdma_lane_wqe_at(queue, queue->done)->status = status;
	/* Pairs with the acquire in krdma_lane_deliver_some(). */
	smp_store_release(&queue->done, queue->done + 1);
}

/**
 * krdma_lane_send_done() - The first send work request that is not done was successful
 * @lane: the lane, attached; krdma_lane_deliver() follows
 *
 * Context: softirqs are off, with the trunk's lock held.
 */
void krdma_lane_send_done(struct krdma_lane *lane)
{
	lockdep_assert_held(&lane->trunk->lock);

	krdma_lane_done(&lane->send, KRDMA_WC_SUCCESS);
}

/**
 * krdma_lane_recv_done() - The receive that is being filled is complete
 * @lane: the lane, attached
 * @status: its status
 *
 * Context: softirqs are off, with the trunk's lock held.
 */
void krdma_lane_recv_done(struct krdma_lane *lane, u8 status)
{
	struct krdma_lane_queue *queue = &lane->recv;

	lockdep_assert_held(&lane->trunk->lock);

	WRITE_ONCE(queue->next, queue->next + 1);
	queue->offset = 0;
	WRITE_ONCE(queue->begun, false);
	krdma_lane_done(queue, status);
	krdma_lane_deliver(lane, queue);
}

/*
 * Copying
 */

/* Copies between the memory of a work request, from byte @skip on, and @bytes. */
static void krdma_lane_copy(const struct krdma_lane_queue *queue, u32 position, u32 skip,
			    u8 *bytes, u32 length, bool out)
{
	const struct krdma_sge *sge = krdma_lane_sges_at(queue, position);

	for (; length; sge++) {
		u32 part;

		if (skip >= sge->length) {
			skip -= sge->length;
			continue;
		}
		part = min(length, sge->length - skip);
		if (out)
			krdma_mr_copy_from(sge->mr, sge->addr + skip, bytes, part);
		else
			krdma_mr_copy_to(sge->mr, sge->addr + skip, bytes, part);
		skip = 0;
		bytes += part;
		length -= part;
	}
}

/**
 * krdma_lane_copy_sent() - Copy the next part of the message, or write, that is being sent
 * @lane: the lane
 * @to: filled in
 * @length: bytes; not more than are left of it
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_copy_sent(struct krdma_lane *lane, u8 *to, u32 length)
{
	struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->next);

	lockdep_assert_held(&lane->trunk->lock);

	/* The device gets the operand from memory, too, in the same order of bytes. */
	if (wqe->opcode == KRDMA_OP_ATOMIC_WRITE)
		memcpy(to, (u8 *)&krdma_lane_remote_at(queue, queue->next)->operand +
		       queue->offset, length);
	else if (wqe->flags & KRDMA_POST_INLINE)
		memcpy(to, krdma_lane_inline_at(lane, queue->next) + queue->offset, length);
	else
		krdma_lane_copy(queue, queue->next, queue->offset, to, length, true);
	queue->offset += length;
}

/**
 * krdma_lane_copy_received() - Copy the next part of the message that arrives
 * @lane: the lane, with a receive that has room for it
 * @from: the part
 * @length: its length
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_copy_received(struct krdma_lane *lane, const u8 *from, u32 length)
{
	lockdep_assert_held(&lane->trunk->lock);

	krdma_lane_copy(&lane->recv, lane->recv.next, lane->recv.offset, (u8 *)from, length, false);
	lane->recv.offset += length;
}

/**
 * krdma_lane_copy_result() - Copy a part of a result
 * @lane: the lane
 * @position: the read or atomic, which is not done
 * @offset: the first byte of its memory that is filled
 * @from: the part
 * @length: its length; the memory has room for it
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_copy_result(struct krdma_lane *lane, u32 position, u32 offset, const u8 *from,
			    u32 length)
{
	lockdep_assert_held(&lane->trunk->lock);

	krdma_lane_copy(&lane->send, position, offset, (u8 *)from, length, false);
}

/*
 * Posting
 */

static u64 krdma_lane_queue_bytes(const struct krdma_lane_queue *queue)
{
	return (queue->mask + 1ULL) * (sizeof(struct krdma_lane_wqe) +
				       queue->max_sge * sizeof(struct krdma_sge));
}

static u64 krdma_lane_send_bytes(const struct krdma_lane *lane)
{
	return krdma_lane_queue_bytes(&lane->send) +
	       (lane->send.mask + 1ULL) * sizeof(struct krdma_lane_remote);
}

/* Of @queues. */
static u64 krdma_lane_bytes(const struct krdma_lane *lane)
{
	return KRDMA_LANE_READS * sizeof(*lane->queues) + krdma_lane_send_bytes(lane) +
	       krdma_lane_queue_bytes(&lane->recv) + (lane->send.mask + 1ULL) * lane->max_inline;
}

/* Each part is filled in when it is needed, and not read before. */
static void krdma_lane_set_queues(struct krdma_lane *lane, void *memory)
{
	u8 *send = memory + KRDMA_LANE_READS * sizeof(*lane->queues);

	lane->send.wqes = (struct krdma_lane_wqe *)send;
	lane->recv.wqes = (struct krdma_lane_wqe *)(send + krdma_lane_send_bytes(lane));
	WRITE_ONCE(lane->queues, memory);
}

/* Unless the queues have ended, or have got some meanwhile. */
static void krdma_lane_give_memory(struct krdma_lane *lane, void *memory)
{
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	if (!lane->queues && (lane->send.open || lane->recv.open)) {
		krdma_lane_set_queues(lane, memory);
		memory = NULL;
	}
	spin_unlock_irqrestore(&lane->lock, flags);
	kfree(memory);
}

/**
 * krdma_lane_prepare_post() - Allocate the memory of the queues, when a post returned -ENOMEM
 * @lower: of the lane, of a session with &struct krdma_session.prepares
 *
 * The control group of the caller pays.
 *
 * Context: process context; may sleep.
 * Return: 0: posting can be repeated; -ENOMEM.
 */
int krdma_lane_prepare_post(struct krdma_conn_lower *lower)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	void *memory = kmalloc(krdma_lane_bytes(lane), GFP_KERNEL_ACCOUNT);

	if (!memory)
		return -ENOMEM;
	krdma_lane_give_memory(lane, memory);
	return 0;
}

/* For a receive of the SRQ; the group of the session's creator pays.  False: krdma_lane_feed(). */
static bool krdma_lane_has_queues(struct krdma_lane *lane)
{
	struct mem_cgroup *old;
	void *memory;

	lockdep_assert_held(&lane->lock);

	if (likely(lane->queues))
		return true;
	old = set_active_memcg(lane->session->memcg);
	memory = kmalloc(krdma_lane_bytes(lane), KRDMA_GFP_OTHERS);
	set_active_memcg(old);
	if (memory)
		krdma_lane_set_queues(lane, memory);
	else
		WRITE_ONCE(lane->starved, true);
	return memory;
}

/**
 * krdma_lane_feed() - Let a lane have receives of its SRQ for which there was no memory
 * @lane: the lane; in its find_work
 *
 * This allocation can wait for memory.  No control group is charged: one at its limit would have
 * the lanes of all wait.
 *
 * Context: process context; may sleep.
 */
void krdma_lane_feed(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	void *memory;

	if (!READ_ONCE(lane->starved))
		return;
	/* A post may have got it meanwhile.  The SRQ does not try again by itself. */
	memory = kmalloc(krdma_lane_bytes(lane), GFP_NOIO | __GFP_NOWARN);
	if (!memory && !READ_ONCE(lane->queues)) {
		krdma_conn_advance(lane->conn, KRDMA_INPUT_FATAL, -ENOMEM);
		return;
	}
	krdma_lane_give_memory(lane, memory);
	WRITE_ONCE(lane->starved, false);
	spin_lock_bh(&trunk->lock);
	if (lane->attached && lane->stage == KRDMA_LANE_UP) {
		/* What that makes ready is sent below. */
		WRITE_ONCE(trunk->served, true);
		krdma_lane_share_start(lane);
		krdma_link_send(trunk);
	}
	spin_unlock_bh(&trunk->lock);
}

/*
 * Begins to use the memory of a work request.  If that fails, the WQE has no SGE, as before: see
 * krdma_lane_wqe_is_condemned().
 */
static int krdma_lane_use_sges(struct krdma_lane *lane, struct krdma_lane_queue *queue,
			       const struct krdma_sge *from, u32 count, u32 access, u32 longest,
			       struct krdma_lane_wqe *wqe)
{
	struct krdma_sge *to = krdma_lane_sges_at(queue, queue->tail);
	u64 length = 0;
	u16 used = 0;
	int ret;

	for (u32 i = 0; i < count; i++) {
		if (!from[i].length)
			continue;
		ret = -EMSGSIZE;
		if (used == queue->max_sge)
			goto err;
		ret = -EOPNOTSUPP;
		if (!from[i].mr)
			goto err;
		ret = krdma_mr_begin_copy(from[i].mr, lane->pd, from[i].addr, from[i].length,
					  access);
		if (ret)
			goto err;
		to[used++] = from[i];
		length += from[i].length;
	}
	ret = -EMSGSIZE;
	if (length > longest)
		goto err;
	wqe->length = length;
	wqe->sge_count = used;
	return 0;

err:
	krdma_lane_put_mrs(to, used);
	return ret;
}

static int krdma_lane_copy_inline(struct krdma_lane *lane, const struct krdma_send_wr *wr,
				  u32 longest, struct krdma_lane_wqe *wqe)
{
	u8 *to = krdma_lane_inline_at(lane, lane->send.tail);
	u32 length = 0;

	for (u32 i = 0; i < wr->sge_count; i++) {
		if (wr->sges[i].length > lane->max_inline - length)
			return -EMSGSIZE;
		if (wr->sges[i].length)
			memcpy(to + length, (void *)(uintptr_t)wr->sges[i].addr,
			       wr->sges[i].length);
		length += wr->sges[i].length;
	}
	if (length > longest)
		return -EMSGSIZE;
	wqe->length = length;
	wqe->sge_count = 0;
	return 0;
}

/* Finds the operation of a work request, and checks what does not depend on its memory. */
static const struct krdma_op *krdma_lane_op_find(const struct krdma_send_wr *wr)
{
	const struct krdma_op *op;
	u64 length = 0;
	int ret;

	/*
	 * The device's capabilities do not matter, but those of an operation do.  No processor
	 * makes data persistent by copying them.
	 */
	op = krdma_op_find(wr, ~(u64)KRDMA_DEVICE_CAP_FLUSH_PERSISTENT);
	if (IS_ERR(op))
		return op;
	if (!(BIT(wr->opcode) & KRDMA_LANE_OPS))
		return ERR_PTR(-EOPNOTSUPP);
	for (u32 i = 0; i < wr->sge_count; i++)
		length += wr->sges[i].length;
	ret = krdma_op_check_length(op, wr, length);
	return ret ? ERR_PTR(ret) : op;
}

static int krdma_lane_send_one(struct krdma_lane *lane, const struct krdma_send_wr *wr)
{
	struct krdma_lane_queue *queue = &lane->send;
	struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->tail);
	const struct krdma_op *op;
	u32 longest, access;
	int ret;

	op = krdma_lane_op_find(wr);
	if (IS_ERR(op))
		return PTR_ERR(op);
	if (!krdma_credits_take(&queue->credits, 1))
		return -EAGAIN;

	longest = op->traits & KRDMA_OP_REMOTE ? U32_MAX : lane->trunk->max_message;
	access = op->traits & KRDMA_OP_READS ? KRDMA_ACCESS_LOCAL_WRITE : 0;
	if (wr->flags & KRDMA_POST_INLINE)
		ret = krdma_lane_copy_inline(lane, wr, longest, wqe);
	else
		ret = krdma_lane_use_sges(lane, queue, wr->sges, wr->sge_count, access, longest,
					  wqe);
	if (ret) {
		krdma_credits_untake(&queue->credits, 1);
		return ret;
	}
	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->flags;
	wqe->imm = wr->imm;
	wqe->direct = false;
	if (op->traits & KRDMA_OP_REMOTE)
		*krdma_lane_remote_at(queue, queue->tail) = (struct krdma_lane_remote) {
			.addr = wr->remote_addr,
			.operand = wr->operand,
			.swap = wr->swap,
			.rkey = wr->rkey,
		};
	/* Pairs with the acquire in krdma_lane_queued(). */
	smp_store_release(&queue->tail, queue->tail + 1);
	return 0;
}

static int krdma_lane_recv_one(struct krdma_lane *lane, const struct krdma_recv_wr *wr)
{
	struct krdma_lane_queue *queue = &lane->recv;
	struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->tail);
	int ret;

	if (!krdma_credits_take(&queue->credits, 1))
		return -EAGAIN;
	ret = krdma_lane_use_sges(lane, queue, wr->sges, wr->sge_count, KRDMA_ACCESS_LOCAL_WRITE,
				  U32_MAX, wqe);
	if (ret) {
		krdma_credits_untake(&queue->credits, 1);
		return ret;
	}
	wqe->wr_id = wr->wr_id;
	wqe->opcode = KRDMA_OP_RECV;
	wqe->flags = 0;
	wqe->received = 0;
	wqe->imm = 0;
	/* Pairs with the acquire in krdma_lane_queued(). */
	smp_store_release(&queue->tail, queue->tail + 1);
	return 0;
}

/**
 * krdma_lane_post_send() - Post send work requests
 * @lower: of the lane
 * @wrs: the work requests; copied
 * @count: number of work requests, at least 1
 *
 * Context: any but NMI; does not sleep; may call notify() of a lane that ends.
 * Return: as krdma_conn_post_send(); -ENOTCONN: the lane is not open; -ENOMEM: see
 * krdma_lane_prepare_post().
 */
int krdma_lane_post_send(struct krdma_conn_lower *lower, const struct krdma_send_wr *wrs,
			 int count)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	unsigned long flags;
	int accepted;
	int ret = 0;

	spin_lock_irqsave(&lane->lock, flags);
	if (!lane->send.open)
		ret = -ENOTCONN;
	else if (unlikely(!lane->queues))
		ret = -ENOMEM;
	for (accepted = 0; accepted < count && !ret; accepted += !ret)
		ret = krdma_lane_send_one(lane, &wrs[accepted]);
	WRITE_ONCE(lane->send.posted, lane->send.posted + accepted);
	spin_unlock_irqrestore(&lane->lock, flags);

	if (!accepted)
		return ret;
	krdma_trunk_posted(lane);
	return accepted;
}

/**
 * krdma_lane_post_recv() - Post receive work requests
 * @lower: of the lane
 * @wrs: the work requests; copied
 * @count: number of work requests, at least 1
 *
 * Context: any but NMI; does not sleep; may call notify() of a lane that ends.
 * Return: as krdma_conn_post_recv(); -ENOTCONN: the lane has ended, or has no queues yet; -ENOMEM:
 * see krdma_lane_prepare_post().
 */
int krdma_lane_post_recv(struct krdma_conn_lower *lower, const struct krdma_recv_wr *wrs,
			 int count)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	unsigned long flags;
	int accepted;
	int ret = 0;

	if (krdma_lane_srq(lane))
		return -EINVAL;
	spin_lock_irqsave(&lane->lock, flags);
	if (!lane->recv.open)
		ret = -ENOTCONN;
	else if (unlikely(!lane->queues))
		ret = -ENOMEM;
	for (accepted = 0; accepted < count && !ret; accepted += !ret)
		ret = krdma_lane_recv_one(lane, &wrs[accepted]);
	WRITE_ONCE(lane->recv.posted, lane->recv.posted + accepted);
	spin_unlock_irqrestore(&lane->lock, flags);

	if (!accepted)
		return ret;
	/*
	 * Tells the peer, unless a message can do that.  Pairs with the barrier in
	 * krdma_link_received(): at least one of the two sides sees what the other has written.
	 */
	smp_mb();
	if (READ_ONCE(lane->early_waits))
		krdma_lane_queue_find(lane);
	if (krdma_lane_owes_credits(lane))
		krdma_trunk_ready(lane);
	return accepted;
}

/*
 * Called with the lane's lock, under RCU.  The count of a work request is lowered before the use of
 * its MRs ends, and an MR is freed an RCU grace period after its last use.  So the MRs that are
 * counted here exist.
 */
static bool krdma_lane_wqe_is_condemned(const struct krdma_lane_queue *queue, u32 position)
{
	u16 count = READ_ONCE(krdma_lane_wqe_at(queue, position)->sge_count);
	const struct krdma_sge *sges = krdma_lane_sges_at(queue, position);

	for (u16 i = 0; i < count; i++) {
		if (READ_ONCE(sges[i].mr->condemned))
			return true;
	}
	return false;
}

/**
 * krdma_lane_push_recv() - Give a lane a receive of its SRQ
 * @lane: the lane
 * @recv: the receive, with the uses of its MRs; copied
 *
 * Context: any, with the post lock of the SRQ, interrupts off.
 * Return: false: the lane has no room, or is closed.
 */
bool krdma_lane_push_recv(struct krdma_lane *lane, const struct krdma_srq_recv *recv)
{
	struct krdma_lane_queue *queue = &lane->recv;
	struct krdma_lane_wqe *wqe;
	bool room;

	spin_lock(&lane->lock);
	room = queue->open && krdma_credits_left(&queue->credits) && krdma_lane_has_queues(lane);
	if (room) {
		wqe = krdma_lane_wqe_at(queue, queue->tail);
		queue->credits.taken++;
		wqe->wr_id = recv->wr_id;
		wqe->opcode = KRDMA_OP_RECV;
		wqe->flags = 0;
		wqe->length = 0;
		wqe->received = 0;
		wqe->imm = 0;
		for (u16 i = 0; i < recv->sge_count; i++) {
			krdma_lane_sges_at(queue, queue->tail)[i] = recv->sges[i];
			wqe->length += recv->sges[i].length;
		}
		wqe->sge_count = recv->sge_count;
		WRITE_ONCE(queue->posted, queue->posted + 1);
		/* Pairs with the acquire in krdma_lane_queued(). */
		smp_store_release(&queue->tail, queue->tail + 1);
	}
	spin_unlock(&lane->lock);
	if (!room && READ_ONCE(lane->starved))
		krdma_lane_queue_find(lane);
	return room;
}

/**
 * krdma_lane_pop_recv() - Take back the last receive of a lane
 * @lane: the lane; the trunk's lock is held, or the lane is detached
 * @recv: filled in, with the uses of its MRs; the SGEs stay until the lane gets another one
 *
 * Context: any, with the post lock of the SRQ, interrupts off.
 * Return: false: all are in use, or the last one has memory that has to go, and with it the lane.
 */
bool krdma_lane_pop_recv(struct krdma_lane *lane, struct krdma_srq_recv *recv)
{
	struct krdma_lane_queue *queue = &lane->recv;
	u32 position = queue->tail - 1;
	struct krdma_lane_wqe *wqe;
	bool taken;

	spin_lock(&lane->lock);
	taken = queue->tail != queue->next + queue->begun &&
		!krdma_lane_wqe_is_condemned(queue, position);
	if (taken) {
		wqe = krdma_lane_wqe_at(queue, position);
		*recv = (struct krdma_srq_recv) {
			.wr_id = wqe->wr_id,
			.sges = krdma_lane_sges_at(queue, position),
			.sge_count = wqe->sge_count,
		};
		WRITE_ONCE(wqe->sge_count, 0);
		krdma_credits_untake(&queue->credits, 1);
		WRITE_ONCE(queue->posted, queue->posted - 1);
		WRITE_ONCE(lane->yielded, lane->yielded + 1);
		WRITE_ONCE(queue->tail, position);
	}
	spin_unlock(&lane->lock);
	return taken;
}

/*
 * The end of memory
 */

/* Work requests that are checked with interrupts off. */
#define KRDMA_LANE_SCAN		64U

/* Nothing that is posted later can use an MR that has been closed. */
static bool krdma_lane_queue_is_condemned(struct krdma_lane *lane, struct krdma_lane_queue *queue)
{
	bool found = false;
	unsigned long flags;
	u32 position, end;

	spin_lock_irqsave(&lane->lock, flags);
	position = READ_ONCE(queue->completed);
	end = queue->tail;
	spin_unlock_irqrestore(&lane->lock, flags);

	while (position != end && !found) {
		u32 stop = position + min(end - position, KRDMA_LANE_SCAN);

		spin_lock_irqsave(&lane->lock, flags);
		rcu_read_lock();
		/* The queues may have ended meanwhile, and then nothing of them uses an MR. */
		if (!queue->wqes) {
			end = position;
			stop = position;
		}
		for (; position != stop && !found; position++)
			found = krdma_lane_wqe_is_condemned(queue, position);
		rcu_read_unlock();
		spin_unlock_irqrestore(&lane->lock, flags);
		cond_resched();
	}
	return found;
}

static struct krdma_lane *krdma_lane_of_user(struct krdma_pd_user *user)
{
	return container_of(user, struct krdma_lane, pd_user);
}

/* The lane leaves the list before its connection ends, and the connection keeps it until then. */
static void krdma_lane_user_get(struct krdma_pd_user *user)
{
	krdma_conn_get(krdma_lane_of_user(user)->conn);
}

static void krdma_lane_user_put(struct krdma_pd_user *user)
{
	krdma_conn_put(krdma_lane_of_user(user)->conn);
}

static bool krdma_lane_user_is_condemned(struct krdma_pd_user *user)
{
	struct krdma_lane *lane = krdma_lane_of_user(user);
	struct krdma_srq *srq;
	unsigned long flags;
	bool condemned;

	/* As for QPs, it ends with its SRQ. */
	spin_lock_irqsave(&lane->lock, flags);
	srq = krdma_lane_srq(lane);
	condemned = srq && srq->condemned;
	spin_unlock_irqrestore(&lane->lock, flags);
	return condemned || krdma_lane_queue_is_condemned(lane, &lane->send) ||
	       krdma_lane_queue_is_condemned(lane, &lane->recv);
}

static void krdma_lane_user_abort(struct krdma_pd_user *user)
{
	krdma_conn_advance(krdma_lane_of_user(user)->conn, KRDMA_INPUT_ABORT, 0);
}

static const struct krdma_pd_user_ops krdma_lane_user_ops = {
	.get = krdma_lane_user_get,
	.put = krdma_lane_user_put,
	.is_condemned = krdma_lane_user_is_condemned,
	.abort = krdma_lane_user_abort,
};

/*
 * Creation and end
 */

static void krdma_lane_queue_init(struct krdma_lane_queue *queue, u32 depth, u32 max_sge,
				  const struct krdma_credits_ops *ops)
{
	queue->mask = roundup_pow_of_two(depth) - 1;
	queue->max_sge = max_sge;
	krdma_credits_init(&queue->credits, depth, ops);
}

/* Receives complete to @cq, or to the CQ of the SRQ. */
static int krdma_lane_attach_recv(struct krdma_lane *lane, const struct krdma_budget *budget,
				  struct krdma_srq *srq, struct krdma_cq *cq)
{
	int ret;

	ret = srq ? krdma_lane_share_create(lane, srq) : krdma_cq_attach(cq, budget->recv_cqe);
	if (ret)
		return ret;
	lane->recv.cq = srq ? srq->cq : cq;
	lane->recv.cqe = budget->recv_cqe;
	return 0;
}

/* Attaches the CQs: the consumer's, or the lane's own. */
static int krdma_lane_attach_cqs(struct krdma_lane *lane, const struct krdma_budget *budget,
				 const struct krdma_conn_attr *attr)
{
	struct krdma_device *dev = lane->conn->dev;
	struct krdma_cq *send = attr->cq;
	struct krdma_cq *recv = attr->recv_cq;
	struct krdma_cq_attr own = {
		.depth = budget->send_cqe + (recv ? 0 : budget->recv_cqe),
		.where = attr->where,
		.vector = -1,
		.session = lane->session,
	};
	struct krdma_cq *made = NULL;
	int ret;

	if (!send) {
		/* The consumer could not poll it. */
		if (attr->where == KRDMA_CONTEXT_POLL)
			return -EINVAL;
		made = krdma_cq_create(dev, &own);
		if (IS_ERR(made))
			return PTR_ERR(made);
		send = made;
	}
	if (!recv)
		recv = send;
	ret = -EXDEV;
	if (send->dev != dev || recv->dev != dev)
		goto out;
	ret = krdma_cq_attach(send, budget->send_cqe);
	if (ret)
		goto out;
	ret = krdma_lane_attach_recv(lane, budget, attr->srq, recv);
	if (ret) {
		krdma_cq_detach(send, budget->send_cqe, &lane->send.credits);
		goto out;
	}
	lane->send.cq = send;
	lane->send.cqe = budget->send_cqe;

out:
	/* The attached lane keeps it. */
	krdma_cq_put(made);
	return ret;
}

static void krdma_lane_detach_cqs(struct krdma_lane *lane)
{
	if (krdma_lane_srq(lane))
		krdma_lane_share_destroy(lane);
	else if (lane->recv.cq)
		krdma_cq_detach(lane->recv.cq, lane->recv.cqe, &lane->recv.credits);
	if (lane->send.cq)
		krdma_cq_detach(lane->send.cq, lane->send.cqe, &lane->send.credits);
	lane->recv.cq = NULL;
	lane->send.cq = NULL;
}

static int krdma_lane_make_deliver(struct krdma_lane *lane)
{
	if (!krdma_lane_needs_work(lane))
		return 0;
	lane->delivery = kmalloc_obj(*lane->delivery, GFP_KERNEL_ACCOUNT);
	if (!lane->delivery)
		return -ENOMEM;
	INIT_WORK(&lane->delivery->work, krdma_lane_deliver_work);
	lane->delivery->lane = lane;
	return 0;
}

/* Small queues can wait for the first post, if the consumer can then allocate them. */
static int krdma_lane_make_queues(struct krdma_lane *lane)
{
	void *memory;

	if (lane->session->prepares && krdma_lane_bytes(lane) <= PAGE_SIZE)
		return 0;
	memory = kvmalloc(krdma_lane_bytes(lane), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return -ENOMEM;
	krdma_lane_set_queues(lane, memory);
	return 0;
}

/*
 * Charges the memory of the queues before it is allocated, and that of the lane: a completion that
 * the consumer has not taken keeps the lane longer than its queues.  What the lane has for windows,
 * an answer to its peer and the private data are allocated where nothing can be charged.
 */
static int krdma_lane_charge(struct krdma_lane *lane)
{
	u64 bytes = krdma_lane_bytes(lane) + sizeof(*lane->delivery);
	u32 kept = sizeof(*lane) + sizeof(*lane->conn) + sizeof(*lane->conn->plain) +
		   sizeof(*lane->direct) + sizeof(*lane->given) + sizeof(*lane->named) +
		   KRDMA_PRIVATE_DATA_MAX;
	int ret;

	ret = krdma_session_charge(lane->session, bytes + kept);
	if (!ret) {
		lane->charged = bytes;
		lane->kept = kept;
	}
	return ret;
}

/**
 * krdma_lane_uncharge() - Uncharge the lane itself
 * @lane: the lane, which is freed, which no completion keeps, or for which no queues were created
 *
 * Context: any.
 */
void krdma_lane_uncharge(struct krdma_lane *lane)
{
	if (lane->kept)
		krdma_session_uncharge(lane->session, lane->kept);
	lane->kept = 0;
}

/* A second attempt begins from nothing. */
static void krdma_lane_drop_queues(struct krdma_lane *lane)
{
	krdma_lane_detach_cqs(lane);
	krdma_lane_share_free(lane);
	krdma_lane_queues_free(lane);
	krdma_lane_uncharge(lane);
	lane->send = (struct krdma_lane_queue) {};
	lane->recv = (struct krdma_lane_queue) {};
	lane->max_inline = 0;
	lane->pd = NULL;
}

/**
 * krdma_lane_queues_create() - Create the queues of a lane
 * @lane: the lane
 * @attr: attributes of the queues
 *
 * Context: process context, under cm_lock; may sleep.
 * Return: as krdma_conn_create_qp().
 */
int krdma_lane_queues_create(struct krdma_lane *lane, const struct krdma_conn_attr *attr)
{
	struct krdma_conn *conn = lane->conn;
	struct krdma_demand demand = {
		.send_depth = attr->send_depth,
		.recv_depth = attr->recv_depth,
		.send_sge = attr->max_send_sge,
		.recv_sge = attr->max_recv_sge,
		.inline_data = attr->max_inline,
		.shared_receives = attr->srq,
	};
	struct krdma_budget budget;
	unsigned long flags;
	int ret;

	if (attr->srq && attr->recv_cq)
		return -EINVAL;
	if (attr->max_inline > KRDMA_LANE_INLINE_MAX ||
	    !krdma_keepalive_may_be(attr->keepalive_ms))
		return -EINVAL;
	ret = krdma_budget_make(&demand, krdma_device_limits(conn->dev), &budget);
	if (ret)
		return ret;

	if (attr->srq) {
		budget.recv_depth = KRDMA_SRQ_HOLDS;
		budget.recv_sge = attr->srq->max_sge;
	}
	/* A WQE counts them in a byte.  Hardly a device takes as many. */
	if (max(budget.send_sge, budget.recv_sge) > U8_MAX)
		return -EINVAL;
	/* krdma_conn_join() keeps the session of @attr. */
	lane->session = attr->session ?: conn->session;
	lane->pd = conn->pd;
	lane->max_inline = budget.inline_data;
	krdma_lane_queue_init(&lane->send, budget.send_depth, budget.send_sge,
			      &krdma_lane_send_credits_ops);
	krdma_lane_queue_init(&lane->recv, budget.recv_depth, budget.recv_sge,
			      &krdma_lane_recv_credits_ops);
	ret = krdma_lane_charge(lane) ?:
	      krdma_lane_make_queues(lane) ?:
	      krdma_lane_attach_cqs(lane, &budget, attr) ?:
	      krdma_lane_make_deliver(lane);
	if (ret) {
		krdma_lane_drop_queues(lane);
		return ret;
	}

	lane->pd_user.ops = &krdma_lane_user_ops;
	krdma_pd_add_user(lane->pd, &lane->pd_user);

	/* The connection may have ended meanwhile, when there was nothing to close. */
	spin_lock_irqsave(&conn->state_lock, flags);
	spin_lock(&lane->lock);
	lane->made = true;
	lane->recv.open = conn->state < KRDMA_CONN_CLOSING;
	spin_unlock(&lane->lock);
	spin_unlock_irqrestore(&conn->state_lock, flags);
	return 0;
}

/* Those that the trunk has not completed. */
static void krdma_lane_flush(struct krdma_lane_queue *queue, u8 first)
{
	u8 status = first ?: KRDMA_WC_WR_FLUSH_ERR;

	/* Closed, so this is all. */
	while (queue->done != queue->tail) {
		krdma_lane_done(queue, status);
		status = KRDMA_WC_WR_FLUSH_ERR;
	}
	queue->next = queue->tail;
}

/* Flush what is not done.  No other thread uses the queues of a detached lane. */
static void krdma_lane_queues_flush(struct krdma_lane *lane)
{
	bool sent = lane->send.done != lane->send.next || lane->send.begun ||
		    (lane->direct && lane->direct->begun);

	krdma_lane_flush(&lane->send, sent ? lane->fail_status : 0);
	krdma_lane_flush(&lane->recv, 0);
}

/* Has the consumer not taken a completion of the lane?  There are no further ones. */
static bool krdma_lane_is_kept(const struct krdma_lane *lane)
{
	return READ_ONCE(lane->send.credits.waiting) || READ_ONCE(lane->recv.credits.waiting);
}

/* After this, no thread looks at the WQEs. */
static void krdma_lane_hide_queues(struct krdma_lane *lane)
{
	unsigned long flags;

	spin_lock_irqsave(&lane->lock, flags);
	lane->send.wqes = NULL;
	lane->recv.wqes = NULL;
	spin_unlock_irqrestore(&lane->lock, flags);
}

/**
 * krdma_lane_queues_end() - Complete everything to the consumer
 * @lane: the lane, closed and detached from its trunk
 *
 * No callback runs, or will run, when this returns.  The memory of the queues is given back, too:
 * the lane may stay until the peer has taken its last record.
 *
 * Context: process context; may sleep.
 */
void krdma_lane_queues_end(struct krdma_lane *lane)
{
	if (!lane->send.cq)
		return;
	if (lane->delivery)
		cancel_work_sync(&lane->delivery->work);
	/* Receives that no message has used go back to the SRQ, without a completion. */
	if (krdma_lane_srq(lane))
		krdma_srq_taker_stop(&lane->share->taker);
	krdma_lane_queues_flush(lane);
	krdma_lane_deliver_all(lane, &lane->send);
	krdma_lane_deliver_all(lane, &lane->recv);
	krdma_cq_settle(lane->send.cq, lane->recv.cq);
	krdma_pd_remove_user(lane->pd, &lane->pd_user);
	/* Otherwise the lane is freed when the consumer has taken them. */
	if (!krdma_lane_is_kept(lane))
		krdma_lane_uncharge(lane);
	krdma_lane_detach_cqs(lane);
	/* A pass of krdma_pd_end_users() may have found the lane before. */
	krdma_lane_hide_queues(lane);
	krdma_lane_queues_free(lane);
}

/**
 * krdma_lane_queues_free() - Free the memory of the queues
 * @lane: the lane; its queues have ended, were never created, or are freed already
 *
 * Context: process context; may sleep.
 */
void krdma_lane_queues_free(struct krdma_lane *lane)
{
	kvfree(lane->queues);
	lane->queues = NULL;
	kfree(lane->delivery);
	lane->delivery = NULL;
	if (lane->charged)
		krdma_session_uncharge(lane->session, lane->charged);
	lane->charged = 0;
}
