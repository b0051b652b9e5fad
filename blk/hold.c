// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that are not posted: mapped, held, refused, or failed.
 *
 * A request that cannot be posted, or whose connection has ended, is in one of its queue's lists
 * until there is a connection, or the wait is over.  See request.c for when that is, and fence.c
 * for when an error may be reported.
 */
#include <linux/err.h>
#include <linux/jiffies.h>

#include "device.h"
#include "hold.h"
#include "state.h"

/* How long a request waits until its pages can be mapped, while there is a connection. */
#define KRDMA_BLK_MAP_WAIT	(30 * HZ)

/*
 * Mapping
 */

/**
 * krdma_blk_request_map() - Map the pages of a request
 * @conn: the connection by whose device they are transferred
 * @request: the request, with data; its SGEs are filled in
 *
 * Context: any but NMI; without a lock, because it may take long.
 * Return: the number of SGEs; -ENOMEM if the pages cannot be mapped now; -ENOTCONN or -ENODEV if
 * the connection has ended.
 */
int krdma_blk_request_map(struct krdma_conn *conn, struct krdma_blk_request *request)
{
	struct request *rq = blk_mq_rq_from_pdu(request);
	int mapped;
	u32 key;

	mapped = krdma_conn_map_sg(conn, request->sg, request->entries, krdma_blk_direction(rq));
	if (mapped < 0)
		return mapped == -EIO ? -ENOMEM : mapped;
	key = krdma_conn_lkey(conn);
	/* The table is in no batch, and the SGEs have no MR: see krdma_blk_init_request(). */
	for (int i = 0; i < mapped; i++) {
		request->sges[i].addr = sg_dma_address(&request->sg[i]);
		request->sges[i].length = sg_dma_len(&request->sg[i]);
		request->sges[i].key = key;
	}
	return mapped;
}

/*
 * Holding and failing
 */

/* Records since when the request could not be completed. */
static void krdma_blk_request_note_trouble(struct krdma_blk_request *request)
{
	if (request->troubled)
		return;
	request->troubled = true;
	request->since = jiffies;
}

static bool krdma_blk_request_is_overdue(const struct krdma_blk_request *request,
					 unsigned long limit)
{
	return request->troubled && time_after_eq(jiffies, request->since + limit);
}

/*
 * Records that the pages of a request cannot be mapped.  Returns true if that has lasted for too
 * long; the time for which it was held does not count.
 */
static bool krdma_blk_request_note_unmapped(struct krdma_blk_request *request)
{
	if (!request->unmapped) {
		request->unmapped = true;
		request->unmapped_at = jiffies;
	}
	return (u32)jiffies - request->unmapped_at >= KRDMA_BLK_MAP_WAIT;
}

/* Can the request not reach the server's memory by any connection any more? */
static bool krdma_blk_request_is_fenced(struct krdma_blk_queue *queue,
					const struct krdma_blk_request *request)
{
	lockdep_assert_held(&queue->lock);

	return request->epoch != queue->epoch ||
	       (!queue->open && krdma_blk_fence_is_up(queue->device));
}

/**
 * krdma_blk_request_fail() - Fail a request
 * @queue: its queue; the caller holds its lock
 * @request: the request, in no list
 * @result: the error
 *
 * Context: any but NMI.
 * Return: false if the caller completes it to the block layer; true if it is too early for that.
 */
bool krdma_blk_request_fail(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			    blk_status_t result)
{
	lockdep_assert_held(&queue->lock);

	request->result = result;
	if (krdma_blk_request_is_fenced(queue, request))
		return false;
	list_add_tail(&request->node, &queue->failed);
	return true;
}

/* The error of a request that may not wait for a connection; BLK_STS_OK if it may. */
static blk_status_t krdma_blk_request_verdict(struct krdma_blk_queue *queue,
					      struct krdma_blk_request *request)
{
	struct request *rq = blk_mq_rq_from_pdu(request);
	struct krdma_blk_device *device = queue->device;

	/*
	 * Multipath and similar users have another path, and need the error at once, but none when
	 * the device is moving to an address that answers.  A request that the block layer has
	 * merged with others has the flags of the first one.
	 */
	if (blk_noretry_request(rq) && !(rq->rq_flags & RQF_MIXED_MERGE) &&
	    !krdma_blk_path_is_moving(device))
		return BLK_STS_TRANSPORT;
	if (krdma_blk_path_gives_up(device))
		return BLK_STS_IOERR;
	/* Connections that come and go must not make it wait forever, but this is no loss. */
	if (!krdma_blk_path_is_moving(device) &&
	    krdma_blk_request_is_overdue(request, READ_ONCE(device->hold_seconds) * HZ))
		return BLK_STS_IOERR;
	return BLK_STS_OK;
}

/**
 * krdma_blk_request_wait() - Let a request wait until it can be posted
 * @queue: its queue; the caller holds its lock
 * @request: the request, in no list
 *
 * Context: any but NMI.
 */
void krdma_blk_request_wait(struct krdma_blk_queue *queue, struct krdma_blk_request *request)
{
	lockdep_assert_held(&queue->lock);

	request->result = BLK_STS_OK;
	list_add_tail(&request->node, &queue->held);
}

/**
 * krdma_blk_request_hold() - Hold a request without a connection
 * @queue: its queue; the caller holds its lock
 * @request: the request, in no list
 *
 * Context: any but NMI.
 * Return: false if it has failed, and the caller completes it to the block layer.
 */
bool krdma_blk_request_hold(struct krdma_blk_queue *queue, struct krdma_blk_request *request)
{
	blk_status_t result = krdma_blk_request_verdict(queue, request);

	lockdep_assert_held(&queue->lock);

	krdma_blk_request_note_trouble(request);
	request->unmapped = false;
	if (result)
		return krdma_blk_request_fail(queue, request, result);
	krdma_blk_request_wait(queue, request);
	return true;
}

/**
 * krdma_blk_request_refused() - Handle a request that could not be posted
 * @queue: its queue; the caller holds its lock
 * @request: the request, in no list
 * @error: why it could not; see krdma_blk_request_not_taken()
 *
 * Context: any but NMI.
 * Return: true if it is in a list now; false if the caller returns it to the block layer with its
 * result.
 */
bool krdma_blk_request_refused(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			       int error)
{
	lockdep_assert_held(&queue->lock);

	if (error == -EAGAIN && queue->open) {
		krdma_blk_request_wait(queue, request);
		return true;
	}
	/* Others are carried out before it is posted again. */
	if (error == -EBUSY) {
		bool kept = krdma_blk_request_hold(queue, request);

		if (kept && !request->result && queue->open)
			list_move_tail(&request->node, &queue->denied);
		return kept;
	}
	if (error == -EAGAIN || krdma_blk_is_lost(error))
		return krdma_blk_request_hold(queue, request);
	if (error != -ENOMEM)
		return krdma_blk_request_fail(queue, request, BLK_STS_IOERR);

	krdma_blk_request_note_trouble(request);
	if (krdma_blk_request_note_unmapped(request))
		return krdma_blk_request_fail(queue, request, BLK_STS_IOERR);
	request->result = BLK_STS_RESOURCE;
	return false;
}

/**
 * krdma_blk_request_is_last() - Was a request refused again and again, so that others come first?
 * @request: the request
 *
 * Context: any; the caller holds its queue's lock.
 * Return: true if it was.
 */
bool krdma_blk_request_is_last(const struct krdma_blk_request *request)
{
	return request->denials == KRDMA_BLK_DENIALS_FAST;
}

/**
 * krdma_blk_request_not_taken() - Count that this side's device did not take a work request
 * @queue: the queue; the caller holds its lock
 * @request: the request
 * @error: an error of krdma_conn_post_send()
 *
 * If that has happened again and again, the connections stay for a moment, for other requests.
 *
 * Context: any but NMI.
 * Return: @error, which may mean that the connections are lost; -EBUSY if they stay, and it waits
 * for the next ones.
 */
int krdma_blk_request_not_taken(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
				int error)
{
	lockdep_assert_held(&queue->lock);

	/* The others say that the connection has ended, or that there is no space. */
	if (error != -EIO && error != -EINVAL)
		return error;
	if (krdma_blk_request_is_last(request)) {
		krdma_blk_path_lost_soon(queue->device);
		return -EBUSY;
	}
	request->denials++;
	return error;
}

/**
 * krdma_blk_request_blame() - Count an error, if it is one of the request and not of the connection
 * @queue: its queue
 * @request: the request
 * @status: &enum krdma_wc_status
 *
 * What is wrong with a request stays wrong.  But the server's key was right when it was read.  Who
 * can send to the server can have invalidated it since, and then the server has another one soon:
 * see krdma_blk_exports_spoil().  So a refused key is an error of the connection, as long as the
 * request may wait for one.  So is a request that this side's device cannot carry out, whatever the
 * error is called: rxe says that if it has no memory for a packet, or its address has gone.
 *
 * Context: any but NMI; only one for each request at a time.
 */
void krdma_blk_request_blame(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			     u8 status)
{
	switch (status) {
	case KRDMA_WC_REM_ACCESS_ERR:
	case KRDMA_WC_LOC_QP_OP_ERR:
		if (request->denials < KRDMA_BLK_DENIALS_FAST)
			request->denials++;
		break;
	case KRDMA_WC_LOC_LEN_ERR:
	case KRDMA_WC_LOC_PROT_ERR:
	case KRDMA_WC_LOC_ACCESS_ERR:
	case KRDMA_WC_REM_INV_REQ_ERR:
	case KRDMA_WC_REM_OP_ERR:
		request->failures++;
		break;
	default:
		break;
	}
}

/**
 * krdma_blk_request_return() - Hold a request that is not posted any more
 * @queue: its queue; the caller holds its lock
 * @request: the request, in no list; it fails if it was refused too often
 * @ended: list to which it is added if it has failed, for krdma_blk_requests_fail()
 *
 * Context: any but NMI.
 */
void krdma_blk_request_return(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			      struct list_head *ended)
{
	lockdep_assert_held(&queue->lock);

	bool kept;

	WRITE_ONCE(request->posted, false);
	if (request->failures < KRDMA_BLK_FAILURES_MAX)
		kept = krdma_blk_request_hold(queue, request);
	else
		kept = krdma_blk_request_fail(queue, request, BLK_STS_IOERR);
	if (!kept)
		list_add_tail(&request->node, ended);
}

/**
 * krdma_blk_request_complete() - Complete a request to the block layer, with its result
 * @request: the request, in no list
 *
 * Context: any but NMI; without a lock.
 */
void krdma_blk_request_complete(struct krdma_blk_request *request)
{
	struct request *rq = blk_mq_rq_from_pdu(request);

	if (!krdma_blk_request_hand_over(rq))
		rq->q->mq_ops->complete(rq);
}

/**
 * krdma_blk_requests_fail() - Complete requests to the block layer, with their results
 * @ended: list of them
 *
 * Context: any but NMI; without a lock.
 */
void krdma_blk_requests_fail(struct list_head *ended)
{
	struct krdma_blk_request *request, *next;

	list_for_each_entry_safe(request, next, ended, node)
		krdma_blk_request_complete(request);
}

/**
 * krdma_blk_queue_fail() - Complete failed requests to the block layer
 * @queue: the queue
 *
 * Unless the queue is open, requests that may not wait any longer fail.  Those whose writes could
 * still arrive complete when the fence is up, or when the queue has been opened again: then the
 * server has ended the earlier connections.
 *
 * Context: any but NMI.
 */
void krdma_blk_queue_fail(struct krdma_blk_queue *queue)
{
	struct krdma_blk_request *request, *next;
	LIST_HEAD(ended);
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	if (!queue->open) {
		list_for_each_entry_safe(request, next, &queue->held, node) {
			request->result = krdma_blk_request_verdict(queue, request);
			if (request->result)
				list_move_tail(&request->node, &queue->failed);
		}
	}
	list_for_each_entry_safe(request, next, &queue->failed, node) {
		if (krdma_blk_request_is_fenced(queue, request))
			list_move_tail(&request->node, &ended);
	}
	spin_unlock_irqrestore(&queue->lock, flags);

	krdma_blk_requests_fail(&ended);
}
