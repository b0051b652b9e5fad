// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that the server executes: commands, and their replies.
 *
 * A command completes with the server's reply, not when it was sent.  If its connection ends
 * without a reply, it is held like a write that has failed: the server may have executed it.
 *
 * A command is a write in all other respects: it has an epoch, waits for the fence before it fails,
 * and can be repeated, because no later write of the same blocks was begun before its end.
 *
 * If the server has the data in a store, all requests are commands, and their data go through the
 * slot whose number is the request's tag:
 *
 * - A write has its data written to the slot, and then the command is sent by the same QP, so it
 *   arrives behind them.  The reply may come before the device here knows that all has arrived,
 *   and until then it may send the data again.  So the request completes when there are both: the
 *   reply, and the end of the work requests.
 * - A read is mapped when its command is sent, and read from the slot when the reply has come.
 *   Meanwhile the device does not know of its pages, so they can be unmapped at any time.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "blk.h"
#include "device.h"
#include "hold.h"
#include "serve.h"
#include "staged.h"
#include "state.h"

static bool krdma_blk_is_write(const struct krdma_blk_request *request)
{
	return request->entries && rq_data_dir(blk_mq_rq_from_pdu((void *)request)) == WRITE;
}

static bool krdma_blk_is_read(const struct krdma_blk_request *request)
{
	return request->entries && !krdma_blk_is_write(request);
}

static u8 krdma_blk_command_opcode(const struct request *rq)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		return KRDMA_BLK_READ;
	case REQ_OP_WRITE:
		return KRDMA_BLK_WRITE;
	case REQ_OP_FLUSH:
		return KRDMA_BLK_FLUSH;
	case REQ_OP_DISCARD:
		return KRDMA_BLK_DISCARD;
	default:
		return KRDMA_BLK_ZERO;
	}
}

static void krdma_blk_command_set(const struct request *rq, struct krdma_blk_command *command)
{
	*command = (struct krdma_blk_command) {
		.tag = cpu_to_le16(rq->tag), .opcode = krdma_blk_command_opcode(rq),
	};
	/* A flush has no sector. */
	if (command->opcode != KRDMA_BLK_FLUSH) {
		command->offset = cpu_to_le64((u64)blk_rq_pos(rq) << SECTOR_SHIFT);
		command->length = cpu_to_le32(blk_rq_bytes(rq));
	}
	if (command->opcode == KRDMA_BLK_WRITE && rq->cmd_flags & REQ_FUA)
		command->flags = KRDMA_BLK_STABLE;
}

/* Sets the work request that transfers the data of a request to or from its slot. */
static void krdma_blk_slot_set_wr(const struct krdma_blk_queue *queue,
				  struct krdma_blk_request *request, struct krdma_send_wr *wr)
{
	struct request *rq = blk_mq_rq_from_pdu(request);
	u64 at = (u64)rq->tag * queue->device->geometry.slot_size;
	const struct krdma_blk_chunk *chunk = &queue->chunks[at >> queue->chunk_shift];
	u64 chunk_mask = (1ULL << queue->chunk_shift) - 1;

	*wr = (struct krdma_send_wr) {
		.wr_id = (uintptr_t)rq,
		.opcode = KRDMA_OP_READ,
		.sges = request->sges,
		.sge_count = request->mapped,
		.remote_addr = chunk->addr + (at & chunk_mask),
		.rkey = chunk->key,
	};
	if (krdma_blk_is_write(request)) {
		wr->wr_id = KRDMA_BLK_WR_DATA;
		wr->flags = KRDMA_POST_UNSIGNALED;
		wr->opcode = KRDMA_OP_WRITE;
	}
}

/*
 * The data of a write were posted, and its command was not, so nothing reports their end.  The
 * connection is lost with that.
 */
static void krdma_blk_command_posted_in_part(struct krdma_blk_queue *queue,
					     struct krdma_blk_request *request)
{
	lockdep_assert_held(&queue->lock);

	list_del(&request->node);
	request->before = queue->unreported;
	if (request->before)
		request->before->after = request;
	queue->unreported = request;
	krdma_conn_abort(queue->conn);
	krdma_blk_path_lost(queue->device);
}

/* Posts a command, after the data of a write.  Returns 0, or an error of krdma_conn_post_send(). */
static int krdma_blk_command_post(struct krdma_blk_queue *queue, struct krdma_blk_request *request)
{
	struct request *rq = blk_mq_rq_from_pdu(request);
	struct krdma_blk_command command;
	struct krdma_sge sge = { .addr = (uintptr_t)&command, .length = sizeof(command) };
	struct krdma_send_wr posts[2] = {};
	struct krdma_send_wr *post = posts;
	u32 epoch = request->epoch;
	int ret;

	lockdep_assert_held(&queue->lock);

	krdma_blk_command_set(rq, &command);
	if (krdma_blk_is_write(request))
		krdma_blk_slot_set_wr(queue, request, post++);
	*post = (struct krdma_send_wr) {
		.wr_id = KRDMA_BLK_WR_COMMAND | (u64)rq->tag << KRDMA_BLK_WR_TAG_SHIFT,
		.opcode = KRDMA_OP_SEND,
		.flags = KRDMA_POST_UNSIGNALED | KRDMA_POST_INLINE,
		.sges = &sge, .sge_count = 1,
	};
	if (krdma_blk_is_write(request)) {
		post->wr_id = (uintptr_t)rq;
		post->flags = KRDMA_POST_INLINE;
	}

	WRITE_ONCE(request->posted, true);
	request->replied = false;
	request->unmapped = false;
	request->before = NULL;
	request->after = NULL;
	if (!krdma_blk_is_read(request))
		request->epoch = queue->epoch;
	list_add_tail(&request->node, &queue->commands);
	ret = krdma_conn_post_send(queue->conn, posts, post - posts + 1);
	if (ret == post - posts + 1)
		return 0;
	if (ret == 1) {
		krdma_blk_command_posted_in_part(queue, request);
		return 0;
	}
	list_del(&request->node);
	request->epoch = epoch;
	WRITE_ONCE(request->posted, false);
	return ret;
}

/**
 * krdma_blk_command_place() - Post the command of a request
 * @queue: the queue, open; the caller holds its lock
 * @request: the request, in no list
 * @mapped: number of its SGEs; 0 for one without data
 *
 * Context: any but NMI.
 * Return: 0, or an error of krdma_conn_post_send(), and the request is not mapped any more.
 */
int krdma_blk_command_place(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			    int mapped)
{
	int ret;

	lockdep_assert_held(&queue->lock);

	request->mapped = mapped;
	ret = krdma_blk_command_post(queue, request);
	if (ret && mapped) {
		krdma_blk_request_unmap(queue->conn, request);
		request->mapped = 0;
	}
	return ret;
}

/**
 * krdma_blk_command_data_ended() - Handle the end of data that were written to a slot
 * @queue: the queue
 * @status: &enum krdma_wc_status; the data of a write that succeeds are not signaled
 *
 * The end of the command behind them comes next, and says only that it was flushed.
 *
 * Context: that of completions.
 */
void krdma_blk_command_data_ended(struct krdma_blk_queue *queue, u8 status)
{
	/* What was posted behind it is flushed. */
	if (!queue->data_status)
		queue->data_status = status;
}

/**
 * krdma_blk_command_sent() - Handle the end of a write's work requests
 * @queue: the queue
 * @request: the request, posted
 * @completion: the completion of its command
 *
 * Context: that of completions.
 */
void krdma_blk_command_sent(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			    const struct krdma_wc *completion)
{
	unsigned long flags;
	bool done;

	spin_lock_irqsave(&queue->lock, flags);
	krdma_blk_request_unmap(completion->conn, request);
	request->mapped = 0;
	krdma_blk_request_blame(queue, request, queue->data_status ?: completion->status);
	queue->data_status = KRDMA_WC_SUCCESS;
	/* Otherwise it waits for the reply, or until the connection has ended. */
	done = request->replied;
	if (done)
		WRITE_ONCE(request->posted, false);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (completion->status)
		krdma_blk_path_lost(queue->device);
	if (done)
		krdma_blk_request_complete(request);
}

/**
 * krdma_blk_command_waits() - Does a request wait for the server's store, and for nothing else?
 * @queue: the queue
 * @request: the request, not completed
 *
 * Context: any but NMI.
 * Return: true if all of its work requests that were posted have completed, but perhaps that of a
 * command without data.
 */
bool krdma_blk_command_waits(struct krdma_blk_queue *queue, struct krdma_blk_request *request)
{
	unsigned long flags;
	bool waits;

	spin_lock_irqsave(&queue->lock, flags);
	waits = krdma_blk_is_write(request) ? !request->mapped : !request->replied;
	spin_unlock_irqrestore(&queue->lock, flags);
	return waits;
}

/**
 * krdma_blk_queue_unmap_commands() - Unmap reads whose data were not asked for
 * @queue: the queue, not open
 * @conn: its connection, aborted; or NULL
 *
 * The connection cannot end while they are mapped.
 *
 * Context: process context.
 */
void krdma_blk_queue_unmap_commands(struct krdma_blk_queue *queue, struct krdma_conn *conn)
{
	struct krdma_blk_request *request;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry(request, &queue->commands, node) {
		if (!krdma_blk_is_read(request) || !request->mapped)
			continue;
		krdma_blk_request_unmap(conn, request);
		request->mapped = 0;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
}

/**
 * krdma_blk_queue_return() - Hold the commands of a connection that has ended without a reply
 * @queue: the queue, not open; its connection is closed
 *
 * Context: process context.
 */
void krdma_blk_queue_return(struct krdma_blk_queue *queue)
{
	struct krdma_blk_request *request, *next;
	LIST_HEAD(ended);
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry_safe(request, next, &queue->commands, node) {
		list_del(&request->node);
		krdma_blk_request_return(queue, request, &ended);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	krdma_blk_requests_fail(&ended);
}

/* Finds the command with this tag; NULL: there is none. */
static struct krdma_blk_request *krdma_blk_queue_find(struct krdma_blk_queue *queue, u32 tag)
{
	struct krdma_blk_request *request;

	lockdep_assert_held(&queue->lock);

	list_for_each_entry(request, &queue->commands, node) {
		if (blk_mq_rq_from_pdu(request)->tag == tag)
			return request;
	}
	return NULL;
}

/**
 * krdma_blk_command_unsent() - Handle the error of a command without data from here
 * @queue: the queue
 * @completion: the completion of the command
 *
 * The connection ends with that, which returns the request: see krdma_blk_queue_return().
 *
 * Context: that of completions.
 */
void krdma_blk_command_unsent(struct krdma_blk_queue *queue, const struct krdma_wc *completion)
{
	struct krdma_blk_request *request;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	request = krdma_blk_queue_find(queue, completion->wr_id >> KRDMA_BLK_WR_TAG_SHIFT);
	/*
	 * There is none if the server has replied: then the command was to be sent once more.  The
	 * tag may have been given to another request since.  That one is blamed wrongly then, and
	 * fails too early only if it happens as often as an error of its own may.
	 */
	if (request)
		krdma_blk_request_blame(queue, request, completion->status);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* None of these is an error of the path: another one would not help. */
static blk_status_t krdma_blk_result(u32 status)
{
	switch (status) {
	case KRDMA_BLK_DONE:
		return BLK_STS_OK;
	case KRDMA_BLK_NO_SPACE:
		return BLK_STS_NOSPC;
	case KRDMA_BLK_FAILED:
		return BLK_STS_MEDIUM;
	default:
		return BLK_STS_TARGET;
	}
}

/*
 * Asks for the data that are in the slot.  If that is refused, the request is held, or fails, or is
 * added to @ended.
 */
static void krdma_blk_command_fetch(struct krdma_blk_queue *queue, struct krdma_conn *conn,
				    struct krdma_blk_request *request, struct list_head *ended)
{
	struct krdma_send_wr read;
	int ret;

	lockdep_assert_held(&queue->lock);

	/* The connection has ended: see krdma_blk_queue_unmap_commands(). */
	if (!request->mapped) {
		krdma_blk_request_return(queue, request, ended);
		return;
	}
	krdma_blk_slot_set_wr(queue, request, &read);
	request->replied = true;
	ret = krdma_conn_post_send(conn, &read, 1);
	if (ret == 1)
		return;
	krdma_blk_request_unmap(conn, request);
	request->mapped = 0;
	WRITE_ONCE(request->posted, false);
	ret = krdma_blk_request_not_taken(queue, request, ret);
	if (!krdma_blk_request_refused(queue, request, ret))
		list_add_tail(&request->node, ended);
	if (krdma_blk_is_lost(ret))
		krdma_blk_path_lost(queue->device);
}

/*
 * Goes on with a command that was executed, and is in no list.  Adds it to @ended if it completes
 * to the block layer now.
 */
static void krdma_blk_command_done(struct krdma_blk_queue *queue, struct krdma_conn *conn,
				   struct krdma_blk_request *request, struct list_head *ended)
{
	lockdep_assert_held(&queue->lock);

	if (krdma_blk_is_read(request) && !request->result) {
		krdma_blk_command_fetch(queue, conn, request, ended);
		return;
	}
	if (krdma_blk_is_write(request) && request->mapped) {
		request->replied = true;
		return;
	}
	if (request->mapped)
		krdma_blk_request_unmap(conn, request);
	request->mapped = 0;
	WRITE_ONCE(request->posted, false);
	list_add_tail(&request->node, ended);
}

/**
 * krdma_blk_command_replied() - Handle a reply of the server
 * @queue: the queue
 * @completion: the receive of the reply
 *
 * A command that was executed, or refused, is not executed later, so its error need not wait for
 * the fence.
 *
 * Context: that of completions.
 */
void krdma_blk_command_replied(struct krdma_blk_queue *queue, const struct krdma_wc *completion)
{
	static const struct krdma_recv_wr next = { .wr_id = KRDMA_BLK_WR_REPLY };
	struct krdma_blk_request *request = NULL;
	unsigned long flags;
	LIST_HEAD(ended);

	/* The connection has ended: see krdma_blk_queue_return(). */
	if (completion->status)
		return;
	spin_lock_irqsave(&queue->lock, flags);
	if (completion->flags & KRDMA_WC_WITH_IMM)
		request = krdma_blk_queue_find(queue, KRDMA_BLK_REPLY_TAG(completion->imm));
	if (request) {
		list_del(&request->node);
		/* Before another command can be sent.  If this fails, the connection is ending. */
		krdma_conn_post_recv(completion->conn, &next, 1);
		request->result = krdma_blk_result(KRDMA_BLK_REPLY_STATUS(completion->imm));
		krdma_blk_command_done(queue, completion->conn, request, &ended);
	} else {
		/* The peer does not follow the protocol. */
		krdma_conn_abort(completion->conn);
		if (completion->flags & KRDMA_WC_WITH_INVALIDATE)
			krdma_blk_serve_spoiled();
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	krdma_blk_requests_fail(&ended);
}
