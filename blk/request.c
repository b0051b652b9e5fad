// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: transferred directly between their pages and the peer's memory; or, without data or
 * for a store, sent to the server as commands.
 *
 * A request is posted, or it is held: then it is in its queue's list, until there is a connection
 * or the wait is over.  A request that was posted and completed with an error is held too,
 * because the peer may have executed it in part: it is repeated as a whole.  So the block layer
 * gets no completion too early, and always gets one:
 *
 * - A request that is posted completes, because every connection ends.  For those that the server
 *   executes, see staged.c.
 * - A request that is held is posted when the connections are established again, or fails when
 *   krdma_blk_path_gives_up(), or when it could not be completed for hold_seconds, whatever
 *   happened to the connections meanwhile.
 * - A request that fails completes to the block layer when its data cannot arrive any more: see
 *   fence.c.
 *
 * A write has arrived when it completes: InfiniBand and RoCE acknowledge what the peer's device
 * has received, and a later read of the memory through a device returns it.  The memory itself is
 * lost with its host.  So there is no cache to be flushed.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/rcupdate.h>

#include "device.h"
#include "hold.h"
#include "poll.h"
#include "request.h"
#include "staged.h"
#include "state.h"
#include "table.h"

/*
 * Posting
 */

/* Sets the work request of a request that is mapped; the rest of it is always 0. */
static void krdma_blk_request_set_wr(const struct krdma_blk_queue *queue,
				     struct krdma_blk_request *request, struct krdma_send_wr *wr)
{
	struct request *rq = blk_mq_rq_from_pdu(request);
	u64 at = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	const struct krdma_blk_chunk *chunk = &queue->chunks[at >> queue->chunk_shift];
	u64 chunk_mask = (1ULL << queue->chunk_shift) - 1;

	wr->wr_id = (uintptr_t)rq;
	wr->opcode = rq_data_dir(rq) == WRITE ? KRDMA_OP_WRITE : KRDMA_OP_READ;
	wr->flags = KRDMA_POST_UNSIGNALED;
	wr->sge_count = request->mapped;
	wr->sges = request->sges;
	wr->remote_addr = chunk->addr + (at & chunk_mask);
	wr->rkey = chunk->key;
}

static void krdma_blk_batch_add(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
				int mapped)
{
	lockdep_assert_held(&queue->lock);

	request->mapped = mapped;
	request->unmapped = false;
	list_add_tail(&request->node, &queue->batch);
	queue->batch_length++;
}

/* Posts a command: krdma_blk_command_place(). */
static int krdma_blk_request_command(struct krdma_blk_queue *queue,
				     struct krdma_blk_request *request, int mapped)
{
	int ret = krdma_blk_command_place(queue, request, mapped);

	return likely(!ret) ? 0 : krdma_blk_request_not_taken(queue, request, ret);
}

/* Adds a request that is mapped to the batch, or posts its command. */
static inline int krdma_blk_request_place(struct krdma_blk_queue *queue,
					  struct krdma_blk_request *request, int mapped)
{
	if (krdma_blk_is_stored(queue->device))
		return krdma_blk_request_command(queue, request, mapped);
	krdma_blk_batch_add(queue, request, mapped);
	return 0;
}

/*
 * Maps a request that is in no list, and places it; or posts a command.  The queue's
 * lock is held when this is called and when it returns, but not while the pages are mapped.  The
 * caller is in an RCU read-side critical section, which keeps the connection; the mapping keeps
 * the device's resources that it uses.
 *
 * Returns 0, -EAGAIN if there is no connection for requests, or an error of
 * krdma_blk_request_map() or krdma_blk_request_command().
 */
static int krdma_blk_request_send(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
				  unsigned long *flags)
{
	struct krdma_conn *conn;
	int mapped;

	for (;;) {
		lockdep_assert_held(&queue->lock);
		if (!queue->open)
			return -EAGAIN;
		if (krdma_blk_is_command(blk_mq_rq_from_pdu(request)))
			return krdma_blk_request_command(queue, request, 0);
		conn = queue->conn;
		spin_unlock_irqrestore(&queue->lock, *flags);
		mapped = krdma_blk_request_map(conn, request);
		spin_lock_irqsave(&queue->lock, *flags);
		if (queue->open && queue->conn == conn)
			break;
		/* The connection was taken down meanwhile, and there may be another one. */
		if (mapped > 0)
			krdma_blk_request_unmap(conn, request);
	}
	return mapped < 0 ? mapped : krdma_blk_request_place(queue, request, mapped);
}

/* Returns BLK_STS_OK if the server executes such requests. */
static __always_inline blk_status_t krdma_blk_check(const struct krdma_blk_device *device,
						    const struct request *rq)
{
	u8 offer = 0;

	switch (req_op(rq)) {
	case REQ_OP_READ:
		return BLK_STS_OK;
	case REQ_OP_WRITE:
		/* The block layer only warns.  The server's device would break the connection. */
		return device->geometry.read_only ? BLK_STS_IOERR : BLK_STS_OK;
	case REQ_OP_FLUSH:
		return krdma_blk_is_stored(device) ? BLK_STS_OK : BLK_STS_NOTSUPP;
	case REQ_OP_WRITE_ZEROES:
		offer = KRDMA_BLK_OFFERS_ZERO;
		break;
	case REQ_OP_DISCARD:
		offer = KRDMA_BLK_OFFERS_DISCARD;
		break;
	default:
		break;
	}
	return device->geometry.offers & offer ? BLK_STS_OK : BLK_STS_NOTSUPP;
}

/*
 * Chains
 *
 * The requests that the block layer has at hand are posted together, and only the last one is
 * signaled: a send queue completes in order, so its completion is that of all before it.  An
 * earlier one that fails completes itself, and reports those before it.
 */

/*
 * Takes the requests out of the batch, and prepares to post them.  Returns their number.  They may
 * complete before the call that posts them returns, so all that this writes is written before.
 */
static int krdma_blk_batch_take(struct krdma_blk_queue *queue,
				struct krdma_blk_request *requests[KRDMA_BLK_BATCH])
{
	struct krdma_blk_request *request, *before = queue->unreported;
	int count = 0;

	list_for_each_entry(request, &queue->batch, node) {
		struct krdma_send_wr *wr = &queue->wrs[count];

		krdma_blk_request_set_wr(queue, request, wr);
		requests[count++] = request;
		request->before = before;
		request->after = NULL;
		if (before)
			before->after = request;
		before = request;
		request->last_epoch = request->epoch;
		if (wr->opcode == KRDMA_OP_WRITE)
			request->epoch = queue->epoch;
		WRITE_ONCE(request->posted, true);
	}
	queue->wrs[count - 1].flags = 0;
	INIT_LIST_HEAD(&queue->batch);
	queue->batch_length = 0;
	return count;
}

/* Puts a request that was not posted back to the head of the batch. */
static void krdma_blk_batch_untake(struct krdma_blk_queue *queue,
				   struct krdma_blk_request *request)
{
	if (request->before)
		request->before->after = NULL;
	request->before = NULL;
	request->epoch = request->last_epoch;
	WRITE_ONCE(request->posted, false);
	list_add(&request->node, &queue->batch);
	queue->batch_length++;
}

/* Takes one request out of the batch for good. */
static void krdma_blk_batch_remove(struct krdma_blk_queue *queue,
				   struct krdma_blk_request *request, struct krdma_conn *conn)
{
	list_del(&request->node);
	queue->batch_length--;
	krdma_blk_request_unmap(conn, request);
}

/*
 * Posts the batch, and leaves it empty.  Requests that were not posted are held, or fail, or are
 * added to @refused: they go back to the block layer, see krdma_blk_refused_end().  Returns 0,
 * -EAGAIN if the SQ is full, or the error with which the connection was lost.
 */
static int krdma_blk_batch_post(struct krdma_blk_queue *queue, struct list_head *refused)
{
	struct krdma_blk_request *requests[KRDMA_BLK_BATCH];
	struct krdma_blk_request *request, *next;
	LIST_HEAD(full);
	int error = 0;

	lockdep_assert_held(&queue->lock);

	/* A batch whose queue was closed is left to krdma_blk_queue_unbatch(). */
	while (queue->open && !list_empty(&queue->batch)) {
		int count = krdma_blk_batch_take(queue, requests);
		int ret = krdma_conn_post_send(queue->conn, queue->wrs, count);
		int posted = max(ret, 0);

		if (posted)
			queue->unreported = posted < count ? requests[posted - 1] : NULL;
		while (count > posted)
			krdma_blk_batch_untake(queue, requests[--count]);
		/* The next one, posted alone, gets the reason. */
		if (posted)
			continue;

		request = list_first_entry(&queue->batch, struct krdma_blk_request, node);
		ret = krdma_blk_request_not_taken(queue, request, ret);
		error = ret == -EAGAIN || krdma_blk_is_lost(ret) ? ret : 0;
		list_for_each_entry_safe(request, next, &queue->batch, node) {
			krdma_blk_batch_remove(queue, request, queue->conn);
			if (ret == -EAGAIN)
				list_add_tail(&request->node, &full);
			else if (!krdma_blk_request_refused(queue, request, ret))
				list_add_tail(&request->node, refused);
			/* Any other error is one of this request. */
			if (!error)
				break;
		}
	}
	/* They were to be posted before those that wait. */
	list_splice(&full, &queue->held);
	return error;
}

/* Returns refused requests to the block layer; without a lock. */
static void krdma_blk_refused_end(struct list_head *refused)
{
	struct krdma_blk_request *request, *next;

	list_for_each_entry_safe(request, next, refused, node) {
		struct request *rq = blk_mq_rq_from_pdu(request);

		if (request->result == BLK_STS_RESOURCE)
			blk_mq_requeue_request(rq, true);
		else
			krdma_blk_request_complete(request);
	}
}

/* The block layer has given the request to this driver. */
static __always_inline void krdma_blk_request_begin(struct krdma_blk_request *request)
{
	struct request *rq = blk_mq_rq_from_pdu(request);

	/* Not for a request that was returned to the block layer, and is queued again. */
	if (!(rq->rq_flags & RQF_DONTPREP)) {
		rq->rq_flags |= RQF_DONTPREP;
		request->posted = false;
		request->troubled = false;
		request->unmapped = false;
		request->failures = 0;
		request->denials = 0;
		request->epoch = 0;
	}
	request->result = BLK_STS_OK;
	request->entries = krdma_blk_is_command(rq) ? 0 : blk_rq_map_sg(rq, request->sg);
	blk_mq_start_request(rq);
}

/*
 * Places a request that krdma_blk_request_enter() cannot, or holds it.  Returns as that; the lock
 * may have been released meanwhile.
 */
static noinline int krdma_blk_request_enter_slow(struct krdma_blk_queue *queue,
						 struct krdma_blk_request *request,
						 struct krdma_conn *conn, int mapped,
						 unsigned long *flags, bool *kept)
{
	int ret = 0;

	lockdep_assert_held(&queue->lock);

	if (mapped > 0)
		krdma_blk_request_unmap(conn, request);
	/* Not ahead of those that wait. */
	if (queue->open && !list_empty(&queue->held))
		krdma_blk_request_wait(queue, request);
	else
		ret = krdma_blk_request_send(queue, request, flags);
	if (ret)
		*kept = krdma_blk_request_refused(queue, request, ret);
	return ret;
}

/*
 * Places a request of which @mapped pages are mapped by @conn, or holds it.  The queue's lock is
 * held when this is called and when it returns.  Returns 0 or the error, see
 * krdma_blk_request_send(); then *@kept is set to false if the caller returns the request to the
 * block layer.
 */
static __always_inline int krdma_blk_request_enter(struct krdma_blk_queue *queue,
						   struct krdma_blk_request *request,
						   struct krdma_conn *conn, int mapped,
						   unsigned long *flags, bool *kept)
{
	int ret;

	if (unlikely(mapped <= 0 || !queue->open || queue->conn != conn ||
		     !list_empty(&queue->held)))
		return krdma_blk_request_enter_slow(queue, request, conn, mapped, flags, kept);
	ret = krdma_blk_request_place(queue, request, mapped);
	if (unlikely(ret))
		*kept = krdma_blk_request_refused(queue, request, ret);
	return ret;
}

static blk_status_t krdma_blk_queue_rq(struct blk_mq_hw_ctx *hctx,
				       const struct blk_mq_queue_data *bd)
{
	struct krdma_blk_request *request = blk_mq_rq_to_pdu(bd->rq);
	struct krdma_blk_queue *queue = hctx->driver_data;
	blk_status_t result = krdma_blk_check(queue->device, bd->rq);
	int ret, posted = 0, mapped = 0;
	struct krdma_conn *conn;
	LIST_HEAD(refused);
	unsigned long flags;
	bool kept = true;

	if (result)
		return result;

	krdma_blk_request_begin(request);
	rcu_read_lock();
	/* As a rule the connection is still the same when the lock is held. */
	conn = READ_ONCE(queue->open) ? READ_ONCE(queue->conn) : NULL;
	if (conn && request->entries)
		mapped = krdma_blk_request_map(conn, request);
	spin_lock_irqsave(&queue->lock, flags);
	ret = krdma_blk_request_enter(queue, request, conn, mapped, &flags, &kept);
	if (!kept)
		result = request->result;
	if (bd->last || queue->batch_length >= queue->batch_max)
		posted = krdma_blk_batch_post(queue, &refused);
	spin_unlock_irqrestore(&queue->lock, flags);
	rcu_read_unlock();

	if (unlikely(ret || posted) && (krdma_blk_is_lost(ret) || krdma_blk_is_lost(posted)))
		krdma_blk_path_lost(queue->device);
	krdma_blk_refused_end(&refused);
	return result;
}

/*
 * Posts @count requests of a queue together, with one lock and one signal.  If @conn is not NULL,
 * it has mapped their pages.
 */
static void krdma_blk_queue_many(struct krdma_blk_queue *queue, struct krdma_conn *conn,
				 struct krdma_blk_request *const *requests, unsigned int count)
{
	LIST_HEAD(refused);
	unsigned long flags;
	bool lost = false;
	int ret;

	spin_lock_irqsave(&queue->lock, flags);
	for (unsigned int i = 0; i < count; i++) {
		bool kept = true;

		ret = krdma_blk_request_enter(queue, requests[i], conn, requests[i]->mapped,
					      &flags, &kept);
		lost |= krdma_blk_is_lost(ret);
		if (!kept)
			list_add_tail(&requests[i]->node, &refused);
		if (queue->batch_length >= queue->batch_max || i == count - 1)
			lost |= krdma_blk_is_lost(krdma_blk_batch_post(queue, &refused));
	}
	spin_unlock_irqrestore(&queue->lock, flags);

	if (unlikely(lost))
		krdma_blk_path_lost(queue->device);
	krdma_blk_refused_end(&refused);
}

/*
 * What is left in the list the block layer issues one by one: the first request that is a command
 * or is refused, and those after it.
 */
static noinline void krdma_blk_queue_list(krdma_blk_rqs_t *rqs)
{
	struct krdma_blk_request *requests[KRDMA_BLK_BATCH];
	struct krdma_blk_queue *queue = NULL;
	struct krdma_conn *conn = NULL;
	unsigned int count = 0;
	struct request *rq;

	rcu_read_lock();
	while ((rq = rq_list_pop(rqs))) {
		struct krdma_blk_queue *next = rq->mq_hctx->driver_data;
		struct krdma_blk_request *request = blk_mq_rq_to_pdu(rq);

		if (krdma_blk_is_stored(next->device) || krdma_blk_is_command(rq) ||
		    krdma_blk_check(next->device, rq)) {
			krdma_blk_rqs_unpop(rqs, rq);
			break;
		}
		if (next != queue || count == KRDMA_BLK_BATCH) {
			if (count)
				krdma_blk_queue_many(queue, conn, requests, count);
			count = 0;
			queue = next;
			/* As a rule the connection is still the same when the lock is held. */
			conn = READ_ONCE(queue->open) ? READ_ONCE(queue->conn) : NULL;
		}
		krdma_compat_blk_enter(rq);
		krdma_blk_request_begin(request);
		request->mapped = conn ? krdma_blk_request_map(conn, request) : 0;
		requests[count++] = request;
	}
	if (count)
		krdma_blk_queue_many(queue, conn, requests, count);
	rcu_read_unlock();
}

/* The block layer has some requests at hand.  A lone one is left in the list: that costs less. */
static void krdma_blk_queue_rqs(krdma_blk_rqs_t *rqs)
{
	const struct request *first = rq_list_peek(rqs);

	if (first && first->rq_next)
		krdma_blk_queue_list(rqs);
}

/* The block layer has announced more requests than it had. */
static void krdma_blk_commit_rqs(struct blk_mq_hw_ctx *hctx)
{
	struct krdma_blk_queue *queue = hctx->driver_data;
	LIST_HEAD(refused);
	unsigned long flags;
	int ret;

	rcu_read_lock();
	spin_lock_irqsave(&queue->lock, flags);
	ret = krdma_blk_batch_post(queue, &refused);
	spin_unlock_irqrestore(&queue->lock, flags);
	rcu_read_unlock();

	if (krdma_blk_is_lost(ret))
		krdma_blk_path_lost(queue->device);
	krdma_blk_refused_end(&refused);
}

/*
 * Requests that were refused again and again come last: what is posted behind one of them is
 * flushed with it, or not posted, each time.
 */
static void krdma_blk_queue_put_off(struct krdma_blk_queue *queue)
{
	struct krdma_blk_request *request, *next;
	LIST_HEAD(last);

	lockdep_assert_held(&queue->lock);

	list_for_each_entry_safe(request, next, &queue->held, node)
		if (krdma_blk_request_is_last(request))
			list_move_tail(&request->node, &last);
	list_splice_tail(&last, &queue->held);
}

/**
 * krdma_blk_queue_push() - Post held requests, as many as fit
 * @queue: the queue
 *
 * Context: any but NMI.
 */
void krdma_blk_queue_push(struct krdma_blk_queue *queue)
{
	struct krdma_blk_request *request;
	LIST_HEAD(refused);
	unsigned long flags;
	int ret = 0;

	rcu_read_lock();
	spin_lock_irqsave(&queue->lock, flags);
	krdma_blk_queue_put_off(queue);
	while (!ret && queue->open && !list_empty(&queue->held)) {
		request = list_first_entry(&queue->held, struct krdma_blk_request, node);
		/* Alone, so that those before it are reported if it is not taken. */
		if (krdma_blk_request_is_last(request) && queue->batch_length) {
			ret = krdma_blk_batch_post(queue, &refused);
			continue;
		}
		list_del(&request->node);
		ret = krdma_blk_request_send(queue, request, &flags);
		/* The hold limit may have expired while it was in no list. */
		if (ret && !krdma_blk_request_refused(queue, request, ret))
			list_add_tail(&request->node, &refused);
		/* It was the first one of the list. */
		else if (ret && ret != -EBUSY && !request->result)
			list_move(&request->node, &queue->held);
		/* An error of this request alone. */
		if (ret != -EAGAIN && !krdma_blk_is_lost(ret))
			ret = 0;
		if (!ret && (queue->batch_length >= queue->batch_max || list_empty(&queue->held)))
			ret = krdma_blk_batch_post(queue, &refused);
	}
	/* What was mapped before an error. */
	krdma_blk_batch_post(queue, &refused);
	spin_unlock_irqrestore(&queue->lock, flags);
	rcu_read_unlock();

	if (krdma_blk_is_lost(ret))
		krdma_blk_path_lost(queue->device);
	krdma_blk_refused_end(&refused);
}

/*
 * Completing
 */

static void krdma_blk_complete_rq(struct request *rq)
{
	struct krdma_blk_request *request = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, request->result);
}

/*
 * The device has executed the request, and all that it reports: those posted before it.  The block
 * layer releases the tags of many at a time.
 */
static void krdma_blk_requests_end(struct krdma_conn *conn, struct krdma_blk_request *request)
{
	DEFINE_IO_COMP_BATCH(batch);
	struct krdma_blk_request *before;

	for (; request; request = before) {
		struct request *rq = blk_mq_rq_from_pdu(request);

		before = request->before;
		krdma_blk_request_unmap(conn, request);
		WRITE_ONCE(request->posted, false);
		request->result = BLK_STS_OK;
		if (krdma_blk_request_hand_over(rq))
			continue;
		if ((!before && !batch.complete) ||
		    !blk_mq_add_to_batch(rq, &batch, 0, blk_mq_end_request_batch))
			krdma_blk_complete_rq(rq);
	}
	if (batch.complete)
		batch.complete(&batch);
}

/* Returns the request that was posted before it, and which nothing else reports now. */
static struct krdma_blk_request *krdma_blk_request_unlink(struct krdma_blk_queue *queue,
							  struct krdma_blk_request *request)
{
	struct krdma_blk_request *before = request->before;

	lockdep_assert_held(&queue->lock);

	if (request->after)
		request->after->before = NULL;
	if (queue->unreported == request)
		queue->unreported = NULL;
	request->before = NULL;
	request->after = NULL;
	return before;
}

static void krdma_blk_request_failed(struct krdma_blk_queue *queue, struct krdma_conn *conn,
				     struct krdma_blk_request *request, u8 status)
{
	struct krdma_blk_request *before;
	unsigned long flags;
	bool kept;

	krdma_blk_request_unmap(conn, request);
	WRITE_ONCE(request->posted, false);
	krdma_blk_request_blame(queue, request, status);
	spin_lock_irqsave(&queue->lock, flags);
	before = krdma_blk_request_unlink(queue, request);
	if (request->failures < KRDMA_BLK_FAILURES_MAX)
		kept = krdma_blk_request_hold(queue, request);
	else
		kept = krdma_blk_request_fail(queue, request, BLK_STS_IOERR);
	spin_unlock_irqrestore(&queue->lock, flags);
	/* They would have failed before it. */
	krdma_blk_requests_end(conn, before);
	krdma_blk_path_lost(queue->device);
	if (!kept)
		krdma_blk_request_complete(request);
}

/**
 * krdma_blk_queue_unbatch() - Hold the requests of a queue that were still to be posted
 * @queue: the queue, not open any more
 * @conn: its connection
 *
 * Their submitter may come too late, or wait for this context.  The connection cannot end while
 * they are mapped.
 *
 * Context: process context.
 */
void krdma_blk_queue_unbatch(struct krdma_blk_queue *queue, struct krdma_conn *conn)
{
	struct krdma_blk_request *request, *next;
	LIST_HEAD(ended);
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry_safe(request, next, &queue->batch, node) {
		krdma_blk_batch_remove(queue, request, conn);
		krdma_blk_request_return(queue, request, &ended);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	krdma_blk_requests_fail(&ended);
}

/**
 * krdma_blk_queue_unreported() - Hold the requests that nothing will report
 * @queue: the queue, not open
 * @conn: its connection, aborted; the device has completed everything that was posted
 *
 * If posting was interrupted, the last requests that were posted are unsignaled.  Those that have
 * succeeded stay mapped, so that the connection cannot end.
 *
 * Context: process context; no completion of @conn is being handled.
 */
void krdma_blk_queue_unreported(struct krdma_blk_queue *queue, struct krdma_conn *conn)
{
	struct krdma_blk_request *request, *next;
	LIST_HEAD(ended);
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	for (request = queue->unreported; request; request = next) {
		next = krdma_blk_request_unlink(queue, request);
		krdma_blk_request_unmap(conn, request);
		krdma_blk_request_return(queue, request, &ended);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	krdma_blk_requests_fail(&ended);
}

/* Handles the completion of what has no request in its wr_id. */
static void krdma_blk_message_done(struct krdma_blk_queue *queue, const struct krdma_wc *completion)
{
	switch (completion->wr_id & KRDMA_BLK_WR_KIND) {
	case KRDMA_BLK_WR_DATA:
		krdma_blk_command_data_ended(queue, completion->status);
		break;
	case KRDMA_BLK_WR_COMMAND:
		krdma_blk_command_unsent(queue, completion);
		break;
	case KRDMA_BLK_WR_REPLY:
		krdma_blk_command_replied(queue, completion);
		break;
	case 0:
		krdma_blk_table_read_done(queue, completion);
		break;
	default:
		/* KRDMA_BLK_WR_LEAVE: the end of the connection reports that, too. */
		break;
	}
}

/**
 * krdma_blk_request_done() - Handle the completion of a work request
 * @completion: the completion
 *
 * Context: softirq, or the context where a connection ends; process context for a request that was
 * polled for.
 */
void krdma_blk_request_done(const struct krdma_wc *completion)
{
	struct request *rq = (struct request *)(uintptr_t)completion->wr_id;
	struct krdma_blk_queue *queue = completion->context;
	struct krdma_blk_request *request;

	if (completion->wr_id < KRDMA_BLK_WR_END) {
		krdma_blk_message_done(queue, completion);
		return;
	}
	request = blk_mq_rq_to_pdu(rq);
	if (krdma_blk_is_stored(queue->device) && rq_data_dir(rq) == WRITE)
		krdma_blk_command_sent(queue, request, completion);
	else if (completion->status)
		krdma_blk_request_failed(queue, completion->conn, request, completion->status);
	else
		krdma_blk_requests_end(completion->conn, request);
}

/*
 * A store may, unless the device is detached by force.  While the device is being attached, it
 * cannot be detached, and the process that attaches it waits in the kernel for its partitions.
 */
static bool krdma_blk_may_take_any_time(const struct krdma_blk_device *device)
{
	return krdma_blk_is_stored(device) && READ_ONCE(device->attached) &&
	       !(READ_ONCE(device->stop) && READ_ONCE(device->force));
}

/*
 * A connection whose peer does not answer breaks by itself, long before this.  If it does not,
 * its device has failed, and the end of the connection returns all requests.  Requests that are
 * held have a limit of their own.
 */
static enum blk_eh_timer_return krdma_blk_timeout(struct request *rq)
{
	struct krdma_blk_request *request = blk_mq_rq_to_pdu(rq);
	struct krdma_blk_queue *queue = rq->mq_hctx->driver_data;
	struct krdma_blk_device *device = queue->device;

	/* If its submitter does not poll any more, it may have completed long ago. */
	krdma_blk_poll_all(queue);
	if (blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT)
		return BLK_EH_DONE;
	if (krdma_blk_may_take_any_time(device) && krdma_blk_command_waits(queue, request))
		return BLK_EH_RESET_TIMER;
	if (READ_ONCE(request->posted))
		krdma_blk_path_lost(device);
	return BLK_EH_RESET_TIMER;
}

static int krdma_blk_poll_hctx(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *batch)
{
	return krdma_blk_poll(hctx->driver_data);
}

static int krdma_blk_init_hctx(struct blk_mq_hw_ctx *hctx, void *data, unsigned int index)
{
	struct krdma_blk_device *device = data;

	hctx->driver_data = &device->queues[index];
	return 0;
}

/*
 * Only once: the code that maps the pages of a request moves the end mark of the table itself, and
 * sets only a part of each SGE.
 */
static int krdma_blk_init_request(struct blk_mq_tag_set *set, struct request *rq,
				  unsigned int index, krdma_blk_node_t node)
{
	struct krdma_blk_request *request = blk_mq_rq_to_pdu(rq);

	sg_init_table(request->sg, KRDMA_BLK_SEGMENTS);
	memset(request->sges, 0, sizeof(request->sges));
	return 0;
}

const struct blk_mq_ops krdma_blk_mq_ops = {
	.queue_rq = krdma_blk_queue_rq,
	.queue_rqs = krdma_blk_queue_rqs,
	.commit_rqs = krdma_blk_commit_rqs,
	.init_request = krdma_blk_init_request,
	.complete = krdma_blk_complete_rq,
	.timeout = krdma_blk_timeout,
	.init_hctx = krdma_blk_init_hctx,
	.map_queues = krdma_blk_map_queues,
	.poll = krdma_blk_poll_hctx,
};
