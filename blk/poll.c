// SPDX-License-Identifier: GPL-2.0
/*
 * Queues for requests that their submitters poll for, with REQ_POLLED: the device does not
 * interrupt when they complete.
 *
 * Such a queue has a CQ of its own, which is never armed for requests.  Completions are taken by
 * who waits for a request, by a request's timeout if its submitter does not poll any more, and by
 * the context that closes the connection.  All of these are process context, and must be: the
 * block layer keeps the bios of such requests in a cache that softirqs cannot use.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>

#include "device.h"
#include "poll.h"

/* Completions that are taken at a time. */
#define KRDMA_BLK_POLL_BATCH	16

/* How long a completion that another context has handled can stay unnoticed. */
#define KRDMA_BLK_POLL_WAIT_MS	20

/**
 * krdma_blk_queue_polls() - Is a queue one for requests that are polled for?
 * @queue: the queue
 *
 * Context: any.
 * Return: whether it is.
 */
bool krdma_blk_queue_polls(const struct krdma_blk_queue *queue)
{
	return queue->index >= queue->device->queue_count;
}

/*
 * Takes some completions, and handles them.  Returns their number.  They must be handled in the
 * order in which they come: the failure of a request says that those before it have succeeded,
 * unless they have failed before.
 */
static int krdma_blk_poll_take(struct krdma_blk_queue *queue)
{
	struct krdma_wc wcs[KRDMA_BLK_POLL_BATCH];
	int taken = 0;

	lockdep_assert_held(&queue->poll_lock);

	if (queue->cq)
		taken = krdma_cq_poll(queue->cq, wcs, KRDMA_BLK_POLL_BATCH);
	for (int i = 0; i < taken; i++)
		queue->complete(&wcs[i]);
	return max(taken, 0);
}

/**
 * krdma_blk_cq_create() - Create the CQ of a queue
 * @queue: the queue, with a connection whose device is known
 * @depth: work requests of the connection
 *
 * Processor i uses queue i, if there are enough queues, and drivers bind vector i to processor i.
 * So the completions of a queue interrupt a processor that uses it, whichever one makes the
 * connection.
 *
 * Context: process context; may sleep.
 * Return: the CQ, to be released by krdma_cq_put(), or ERR_PTR.
 */
struct krdma_cq *krdma_blk_cq_create(const struct krdma_blk_queue *queue, u32 depth)
{
	const struct krdma_blk_device *device = queue->device;
	bool polls = krdma_blk_queue_polls(queue);
	const struct krdma_cq_attr attr = {
		.depth = depth + KRDMA_CQ_OVERHEAD,
		.where = polls ? KRDMA_CONTEXT_POLL : KRDMA_CONTEXT_SOFTIRQ,
		/* Modulo the number of vectors. */
		.vector = queue->index - (polls ? device->queue_count : 0),
		.session = device->session,
	};

	return krdma_cq_create(krdma_conn_device(queue->conn), &attr);
}

/**
 * krdma_blk_poll_open() - Give a queue its CQ
 * @queue: the queue, which has none; its requests are polled for
 * @cq: the CQ, which krdma_blk_poll_close() releases
 *
 * Context: process context.
 */
void krdma_blk_poll_open(struct krdma_blk_queue *queue, struct krdma_cq *cq)
{
	spin_lock(&queue->poll_lock);
	WRITE_ONCE(queue->cq, cq);
	spin_unlock(&queue->poll_lock);
}

/**
 * krdma_blk_poll_drain() - End a queue's connection, and handle what completes meanwhile
 * @queue: the queue, not open; any
 * @conn: its connection, or NULL
 *
 * The connection ends when its requests are unmapped, which is when their completions are handled.
 * Who has submitted them may have stopped polling.
 *
 * Context: process context; sleeps.
 */
void krdma_blk_poll_drain(struct krdma_blk_queue *queue, struct krdma_conn *conn)
{
	struct krdma_conn_info info;

	if (!queue->cq || !conn)
		return;
	krdma_conn_abort(conn);
	for (;;) {
		krdma_conn_query(conn, &info);
		if (info.state == KRDMA_CONN_CLOSED)
			return;
		if (!krdma_blk_poll(queue))
			usleep_range(500, 1000);
	}
}

/**
 * krdma_blk_poll_close() - Handle the last completions, and release the CQ
 * @queue: the queue, whose connection was closed; any
 *
 * When this returns, every completion was handled.
 *
 * Context: process context; may sleep.
 */
void krdma_blk_poll_close(struct krdma_blk_queue *queue)
{
	struct krdma_cq *cq;

	spin_lock(&queue->poll_lock);
	while (krdma_blk_poll_take(queue))
		;
	cq = queue->cq;
	WRITE_ONCE(queue->cq, NULL);
	spin_unlock(&queue->poll_lock);
	krdma_cq_put(cq);
}

/**
 * krdma_blk_poll() - Handle completions of a queue
 * @queue: the queue; any
 *
 * Context: process context.
 * Return: how many were handled; 0 also while another context handles them.
 */
int krdma_blk_poll(struct krdma_blk_queue *queue)
{
	int taken;

	if (!READ_ONCE(queue->cq) || !spin_trylock(&queue->poll_lock))
		return 0;
	taken = krdma_blk_poll_take(queue);
	spin_unlock(&queue->poll_lock);
	return taken;
}

/**
 * krdma_blk_poll_all() - Handle all completions of a queue
 * @queue: the queue; any
 *
 * Context: process context; waits for a context that handles them.
 */
void krdma_blk_poll_all(struct krdma_blk_queue *queue)
{
	if (!READ_ONCE(queue->cq))
		return;
	spin_lock(&queue->poll_lock);
	while (krdma_blk_poll_take(queue))
		;
	spin_unlock(&queue->poll_lock);
}

/**
 * krdma_blk_poll_wait() - Wait for a completion, and handle what has completed
 * @queue: the queue, with a connection that is used by the caller only; any
 * @end: completed by the completion
 * @timeout: jiffies
 *
 * Context: process context; sleeps.
 * Return: whether @end was completed in time.
 */
bool krdma_blk_poll_wait(struct krdma_blk_queue *queue, struct completion *end,
			 unsigned long timeout)
{
	unsigned long until = jiffies + timeout;

	if (!queue->cq)
		return wait_for_completion_timeout(end, timeout);
	while (!try_wait_for_completion(end)) {
		if (time_after_eq(jiffies, until))
			return false;
		/* Who waits for a request that is held polls, too. */
		krdma_cq_wait(queue->cq, KRDMA_BLK_POLL_WAIT_MS);
		krdma_blk_poll(queue);
	}
	return true;
}

/**
 * krdma_blk_map_queues() - Say which queue a processor uses for a request
 * @set: the tag set of a device
 *
 * Context: process context.
 */
void krdma_blk_map_queues(struct blk_mq_tag_set *set)
{
	const struct krdma_blk_device *device = set->driver_data;

	/* A kernel that writes a crash dump has one queue. */
	if (set->nr_maps == 1) {
		blk_mq_map_queues(&set->map[HCTX_TYPE_DEFAULT]);
		return;
	}
	set->map[HCTX_TYPE_DEFAULT].nr_queues = device->queue_count;
	set->map[HCTX_TYPE_DEFAULT].queue_offset = 0;
	blk_mq_map_queues(&set->map[HCTX_TYPE_DEFAULT]);
	set->map[HCTX_TYPE_READ].nr_queues = 0;
	set->map[HCTX_TYPE_POLL].nr_queues = device->poll_count;
	set->map[HCTX_TYPE_POLL].queue_offset = device->queue_count;
	blk_mq_map_queues(&set->map[HCTX_TYPE_POLL]);
}
