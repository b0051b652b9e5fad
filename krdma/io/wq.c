// SPDX-License-Identifier: GPL-2.0
/*
 * The two queues of a queue pair, from the post to the completion.
 *
 * A ring has a slot for each request that the device has.  Requests of a
 * reliable connection complete in the order in which they were posted, so one
 * completion also stands for all requests before it that complete silently.
 *
 * Each slot is given back once: by its completion, or, when the queue pair is
 * gone, by krdma_ring_flush().  A completion for a slot that the device does not
 * have, because it completed already, is none.
 */
#include <linux/slab.h>

#include "cm/conn.h"
#include "mr/mr.h"
#include "io/wq.h"

static struct krdma_work_ring *krdma_ring_of(struct krdma_credits *credits)
{
	return container_of(credits, struct krdma_work_ring, credits);
}

static void krdma_ring_get(struct krdma_credits *credits)
{
	krdma_conn_get(krdma_ring_of(credits)->qp->conn);
}

static void krdma_ring_put(struct krdma_credits *credits)
{
	krdma_conn_put(krdma_ring_of(credits)->qp->conn);
}

static void krdma_ring_space(struct krdma_credits *credits)
{
	struct krdma_conn *conn = krdma_ring_of(credits)->qp->conn;

	if (conn->ops->space)
		conn->ops->space(conn);
}

static const struct krdma_credits_ops krdma_ring_credits_ops = {
	.get = krdma_ring_get,
	.put = krdma_ring_put,
	.space = krdma_ring_space,
};

/**
 * krdma_ring_bytes - what the slots of a ring take
 * @depth: how many requests; 0: none
 * @max_sge: of a request
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_ring_bytes(u32 depth, u32 max_sge)
{
	u64 count = depth ? roundup_pow_of_two(depth) : 0;

	return count * (sizeof(struct krdma_slot) + max_sge * sizeof(struct krdma_region *));
}

/**
 * krdma_ring_init - make the slots of a ring
 * @ring: the ring, zeroed; krdma_ring_free() may be called before this and after
 *	its failure
 * @qp: whose
 * @queue: where it completes
 * @depth: how many requests; 0: none
 * @max_sge: of a request
 * @done: what takes their completions
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_ring_init(struct krdma_work_ring *ring, struct krdma_qp *qp, struct krdma_queue *queue,
		    u32 depth, u32 max_sge, void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	u32 count = depth ? roundup_pow_of_two(depth) : 0;
	int node = krdma_device_node(queue->dev);
	u32 i;

	ring->qp = qp;
	ring->queue = queue;
	spin_lock_init(&ring->lock);
	ring->credits.depth = depth;
	ring->credits.ops = &krdma_ring_credits_ops;
	ring->max_sge = max_sge;
	init_completion(&ring->drained);
	if (!count)
		return 0;

	ring->mask = count - 1;
	ring->slots = kvzalloc_node(array_size(count, sizeof(*ring->slots)), GFP_KERNEL_ACCOUNT,
				    node);
	ring->regions = kvzalloc_node(array3_size(count, max_sge, sizeof(*ring->regions)),
				      GFP_KERNEL_ACCOUNT, node);
	if (!ring->slots || !ring->regions)
		return -ENOMEM;

	for (i = 0; i < count; i++) {
		ring->slots[i].cqe.done = done;
		ring->slots[i].ring = ring;
	}
	return 0;
}

/**
 * krdma_ring_free - the end of the slots
 * @ring: the ring
 *
 * Context: process context; may sleep.
 */
void krdma_ring_free(struct krdma_work_ring *ring)
{
	kvfree(ring->regions);
	kvfree(ring->slots);
}

/**
 * krdma_ring_close - from here on nothing is posted
 * @ring: the ring
 *
 * Context: any.
 */
void krdma_ring_close(struct krdma_work_ring *ring)
{
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	ring->open = false;
	spin_unlock_irqrestore(&ring->lock, flags);
}

/**
 * krdma_ring_drop_regions - the device does not use the memory of a slot any more
 * @ring: the ring
 * @position: of the slot
 *
 * Context: any.
 */
void krdma_ring_drop_regions(struct krdma_work_ring *ring, u32 position)
{
	struct krdma_region **regions = krdma_ring_regions(ring, position);
	struct krdma_slot *slot = krdma_ring_slot(ring, position);

	while (slot->region_count)
		krdma_region_end_use(regions[--slot->region_count]);
}

/* Slots that the device has, from @ring->head on. */
static u32 krdma_ring_outstanding(const struct krdma_work_ring *ring)
{
	/* Pairs with the release in krdma_chain_commit(). */
	return smp_load_acquire(&ring->tail) - ring->head;
}

/* Does the device have this slot?  If so, how far is it from the head? */
static bool krdma_ring_has(const struct krdma_work_ring *ring, u32 index, u32 *distance)
{
	*distance = (index - ring->head) & ring->mask;

	return *distance < krdma_ring_outstanding(ring);
}

/*
 * Sends
 */

/* The slot at the head has ended. */
static void krdma_send_finish(struct krdma_work_ring *ring, u8 status, u32 vendor_error)
{
	struct krdma_slot *slot = krdma_ring_slot(ring, ring->head);
	struct krdma_conn *conn = ring->qp->conn;
	struct krdma_completion *completion;

	if (slot->region_count)
		krdma_ring_drop_regions(ring, ring->head);
	if (unlikely(status))
		krdma_mr_pool_fail(ring->qp->mr_pool);
	if (unlikely(status) && !ring->failed) {
		ring->failed = status;
		ring->vendor_error = vendor_error;
	}
	/* Before the consumer is told: it may look, and it may post. */
	ring->head++;
	if (!(slot->flags & KRDMA_SLOT_LAST)) {
		krdma_credits_return(&ring->credits, 1);
		return;
	}
	WRITE_ONCE(ring->completed, ring->completed + 1);
	if ((slot->flags & KRDMA_SLOT_SILENT) && !ring->failed) {
		krdma_credits_return(&ring->credits, 1);
		return;
	}

	completion = krdma_queue_place(ring->queue);
	completion->conn = conn;
	completion->context = conn->context;
	completion->cookie = slot->cookie;
	completion->opcode = slot->opcode;
	completion->status = ring->failed;
	completion->flags = 0;
	completion->length = slot->length;
	completion->imm = 0;
	completion->vendor_error = ring->vendor_error;
	ring->failed = KRDMA_STATUS_SUCCESS;
	ring->vendor_error = 0;
	krdma_queue_tell(ring->queue, completion, conn->ops->complete, &ring->credits);
}

/* What one ring has of the run. */
static void krdma_ring_count_run(struct krdma_queue *queue)
{
	struct krdma_work_ring *ring = queue->run;

	WRITE_ONCE(ring->completed, ring->completed + queue->run_count);
	krdma_credits_return(&ring->credits, queue->run_count);
}

/**
 * krdma_ring_end_run - count what krdma_queue_poll() has just taken
 * @queue: the queue
 *
 * Before the consumer knows of the completions: he may release the memory then, and post.
 *
 * Context: that of the poll lock.
 */
void krdma_ring_end_run(struct krdma_queue *queue)
{
	if (queue->leaving)
		krdma_region_end_uses(queue->leaving, queue->leaving_count);
	queue->leaving = NULL;
	if (queue->run)
		krdma_ring_count_run(queue);
	queue->run = NULL;
}

/* The memory of a slot that has at most one piece of it, or NULL. */
static struct krdma_region *krdma_slot_region(const struct krdma_work_ring *ring,
					      const struct krdma_slot *slot, u32 index)
{
	return slot->region_count ? ring->regions[index * ring->max_sge] : NULL;
}

/*
 * The usual case of krdma_send_finish(): one request at the head, with at most one region,
 * which ended well, of a consumer who is just polling; and the run is that of its ring and
 * of its memory.
 */
static void krdma_send_told(struct krdma_work_ring *ring, struct krdma_queue *queue,
			    struct krdma_slot *slot)
{
	struct krdma_completion *completion = queue->out;
	struct krdma_conn *conn = ring->qp->conn;

	queue->leaving_count += slot->region_count;
	slot->region_count = 0;
	queue->run_count++;
	ring->head++;
	queue->out = completion + 1;
	queue->out_room--;

	completion->conn = conn;
	completion->context = conn->context;
	completion->cookie = slot->cookie;
	completion->opcode = slot->opcode;
	completion->status = KRDMA_STATUS_SUCCESS;
	completion->flags = 0;
	completion->length = slot->length;
	completion->imm = 0;
	completion->vendor_error = 0;
}

static void krdma_ring_begin_run(struct krdma_queue *queue, struct krdma_work_ring *ring)
{
	queue->run = ring;
	queue->run_count = 0;
}

static void krdma_region_begin_leaving(struct krdma_queue *queue, struct krdma_region *region)
{
	queue->leaving = region;
	queue->leaving_count = 0;
}

static noinline void krdma_send_told_anew(struct krdma_work_ring *ring, struct krdma_queue *queue,
					  struct krdma_slot *slot, struct krdma_region *region)
{
	if (queue->run != ring) {
		krdma_ring_count_run(queue);
		krdma_ring_begin_run(queue, ring);
	}
	if (region && queue->leaving != region) {
		if (queue->leaving)
			krdma_region_end_uses(queue->leaving, queue->leaving_count);
		krdma_region_begin_leaving(queue, region);
	}
	krdma_send_told(ring, queue, slot);
}

static noinline void krdma_send_finish_many(struct krdma_work_ring *ring, u32 distance,
					    const struct ib_wc *wc)
{
	u8 status = krdma_status_from_ib(wc->status);

	/* Those before it ended well, silently: otherwise they would have said so. */
	while (distance--)
		krdma_send_finish(ring, KRDMA_STATUS_SUCCESS, 0);
	krdma_send_finish(ring, status, wc->vendor_err);

	if (status == KRDMA_STATUS_FLUSHED)
		krdma_conn_flushed(ring->qp->conn);
	else if (status)
		krdma_conn_input(ring->qp->conn, KRDMA_INPUT_FATAL,
				 status == KRDMA_STATUS_RETRY_EXCEEDED ? -ETIMEDOUT : -EIO);
}

/**
 * krdma_send_done - a request of a send queue has completed
 * @cq: where
 * @wc: how
 *
 * Context: that of the queue's poll lock.
 */
void krdma_send_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_slot *slot = container_of(wc->wr_cqe, struct krdma_slot, cqe);
	struct krdma_work_ring *ring = slot->ring;
	struct krdma_queue *queue = ring->queue;
	u32 index = slot - ring->slots;
	struct krdma_region *region;
	u32 distance;

	krdma_queue_assert_held(queue);

	if (!krdma_ring_has(ring, index, &distance)) {
		WRITE_ONCE(ring->qp->stray, ring->qp->stray + 1);
		return;
	}
	if (likely(!distance && !wc->status && slot->flags == KRDMA_SLOT_LAST && !ring->failed &&
		   queue->out_room > 0 && slot->region_count <= 1)) {
		region = krdma_slot_region(ring, slot, index);
		/* Mostly it is of the same ring as that before it, with the same memory. */
		if (unlikely(queue->run != ring || (region && queue->leaving != region))) {
			if (queue->run) {
				krdma_send_told_anew(ring, queue, slot, region);
				return;
			}
			krdma_ring_begin_run(queue, ring);
			krdma_region_begin_leaving(queue, region);
		}
		krdma_send_told(ring, queue, slot);
		return;
	}
	krdma_send_finish_many(ring, distance, wc);
}

/*
 * Receives
 */

/**
 * krdma_qp_received - a receive has completed
 * @qp: the queue pair that took it
 * @queue: where it completes; the caller holds its poll lock
 * @credits: of what it was one
 * @cookie: the consumer's
 * @wc: how
 *
 * Context: that of the queue's poll lock.
 */
void krdma_qp_received(struct krdma_qp *qp, struct krdma_queue *queue,
		       struct krdma_credits *credits, u64 cookie, const struct ib_wc *wc)
{
	u8 status = wc->status ? krdma_status_from_ib(wc->status) : KRDMA_STATUS_SUCCESS;
	struct krdma_conn *conn = qp->conn;
	struct krdma_completion *completion;

	completion = krdma_queue_place(queue);
	completion->conn = conn;
	completion->context = conn->context;
	completion->cookie = cookie;
	completion->opcode = KRDMA_OP_RECEIVE;
	completion->status = status;
	completion->flags = 0;
	completion->length = 0;
	completion->imm = 0;
	completion->vendor_error = 0;
	if (unlikely(status)) {
		krdma_mr_pool_fail(qp->mr_pool);
		completion->vendor_error = wc->vendor_err;
	} else {
		completion->length = wc->byte_len;
		if (wc->wc_flags & IB_WC_WITH_IMM) {
			completion->flags |= KRDMA_COMPLETION_IMM;
			completion->imm = be32_to_cpu(wc->ex.imm_data);
		} else if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
			completion->flags |= KRDMA_COMPLETION_INVALIDATED;
			completion->key = wc->ex.invalidate_rkey;
		}
		if (wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
			completion->flags |= KRDMA_COMPLETION_WRITTEN;
		/* The first message may overtake what says that it may come. */
		if (unlikely(!qp->heard)) {
			qp->heard = true;
			krdma_conn_input(conn, KRDMA_INPUT_TRAFFIC, 0);
		}
	}

	krdma_queue_tell(queue, completion, conn->ops->complete, credits);

	if (unlikely(status == KRDMA_STATUS_FLUSHED))
		krdma_conn_flushed(conn);
	else if (unlikely(status))
		krdma_conn_input(conn, KRDMA_INPUT_FATAL, -EIO);
}

static void krdma_receive_finish(struct krdma_work_ring *ring, const struct ib_wc *wc)
{
	u64 cookie = krdma_ring_slot(ring, ring->head)->cookie;

	if (krdma_ring_slot(ring, ring->head)->region_count)
		krdma_ring_drop_regions(ring, ring->head);
	ring->head++;
	WRITE_ONCE(ring->completed, ring->completed + 1);
	krdma_qp_received(ring->qp, ring->queue, &ring->credits, cookie, wc);
}

/**
 * krdma_receive_done - a request of a receive queue has completed
 * @cq: where
 * @wc: how
 *
 * Context: that of the queue's poll lock.
 */
void krdma_receive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	static const struct ib_wc lost = { .status = IB_WC_WR_FLUSH_ERR };
	struct krdma_slot *slot = container_of(wc->wr_cqe, struct krdma_slot, cqe);
	struct krdma_work_ring *ring = slot->ring;
	u32 distance;

	krdma_queue_assert_held(ring->queue);

	if (!krdma_ring_has(ring, slot - ring->slots, &distance)) {
		WRITE_ONCE(ring->qp->stray, ring->qp->stray + 1);
		return;
	}
	/* A receive that was passed over has nothing in it, and will not complete. */
	while (unlikely(distance--))
		krdma_receive_finish(ring, &lost);
	krdma_receive_finish(ring, wc);
}

/*
 * The end
 */

static void krdma_ring_flush_cut(struct krdma_work_ring *ring)
{
	struct krdma_qp *qp = ring->qp;
	struct krdma_conn *conn = qp->conn;
	struct krdma_completion completion = {
		.conn = conn,
		.context = conn->context,
		.cookie = qp->cut_slot.cookie,
		.opcode = qp->cut_slot.opcode,
		.status = ring->failed ?: KRDMA_STATUS_FLUSHED,
		.length = qp->cut_slot.length,
		.vendor_error = ring->vendor_error,
	};

	qp->cut = false;
	while (qp->cut_region_count)
		krdma_region_end_use(qp->cut_regions[--qp->cut_region_count]);
	WRITE_ONCE(ring->completed, ring->completed + 1);
	krdma_queue_tell(ring->queue, &completion, conn->ops->complete, &ring->credits);
}

/**
 * krdma_ring_flush - what the device did not complete will not complete
 * @ring: the ring, closed; the device has let go of its requests, and the caller
 *	holds the poll lock
 * @budget: slots, at most
 *
 * Context: that of the poll lock.
 * Return: true if there are more slots.
 */
bool krdma_ring_flush(struct krdma_work_ring *ring, u32 budget)
{
	static const struct ib_wc lost = { .status = IB_WC_WR_FLUSH_ERR };
	bool sends = ring == &ring->qp->send;

	krdma_queue_assert_held(ring->queue);

	while (krdma_ring_outstanding(ring)) {
		if (!budget--)
			return true;
		if (sends)
			krdma_send_finish(ring, KRDMA_STATUS_FLUSHED, 0);
		else
			krdma_receive_finish(ring, &lost);
	}
	if (sends && ring->qp->cut)
		krdma_ring_flush_cut(ring);
	return false;
}
