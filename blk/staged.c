// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that the server executes: commands, and their replies.
 *
 * A command completes with the server's reply, not when it was sent.  If its connection ends
 * without a reply, it is held like a write that has failed: the server may have executed it.
 *
 * A command is a write in all other respects: it has an epoch, waits for the fence before it fails,
 * and can be repeated, because no later write of the same blocks was begun before its end.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "device.h"

/**
 * krdma_blk_command_post() - Post a command, which has no pages
 * @queue: the queue, open; the caller holds its lock
 * @request: the request, in no list
 *
 * Context: any but NMI.
 * Return: 0, or an error of krdma_conn_post_send().
 */
int krdma_blk_command_post(struct krdma_blk_queue *queue, struct krdma_blk_request *request)
{
	struct request *rq = blk_mq_rq_from_pdu(request);
	struct krdma_blk_command command = {
		.offset = cpu_to_le64((u64)blk_rq_pos(rq) << SECTOR_SHIFT),
		.length = cpu_to_le32(blk_rq_bytes(rq)),
		.tag = cpu_to_le16(rq->tag),
		.opcode = req_op(rq) == REQ_OP_DISCARD ? KRDMA_BLK_DISCARD : KRDMA_BLK_ZERO,
	};
	struct krdma_sge sge = { .addr = (uintptr_t)&command, .length = sizeof(command) };
	struct krdma_send_wr post = {
		.wr_id = KRDMA_BLK_WR_COMMAND, .opcode = KRDMA_OP_SEND,
		.flags = KRDMA_POST_UNSIGNALED | KRDMA_POST_INLINE,
		.sges = &sge, .sge_count = 1,
	};
	u32 epoch = request->epoch;
	int ret;

	lockdep_assert_held(&queue->lock);

	WRITE_ONCE(request->posted, true);
	request->epoch = queue->epoch;
	list_add_tail(&request->node, &queue->commands);
	ret = krdma_conn_post_send(queue->conn, &post, 1);
	if (ret == 1)
		return 0;
	list_del(&request->node);
	request->epoch = epoch;
	WRITE_ONCE(request->posted, false);
	return ret;
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

/* Takes the command with this tag out of its list; NULL: there is none. */
static struct krdma_blk_request *krdma_blk_queue_take(struct krdma_blk_queue *queue, u32 tag)
{
	struct krdma_blk_request *request, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry(request, &queue->commands, node) {
		if (blk_mq_rq_from_pdu(request)->tag == tag) {
			found = request;
			list_del(&found->node);
			WRITE_ONCE(found->posted, false);
			break;
		}
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return found;
}

/**
 * krdma_blk_command_replied() - Handle a reply of the server
 * @queue: the queue
 * @completion: the receive of the reply
 *
 * A command that was refused was not executed, and cannot be later, so its error need not wait for
 * the fence.
 *
 * Context: that of completions.
 */
void krdma_blk_command_replied(struct krdma_blk_queue *queue, const struct krdma_wc *completion)
{
	static const struct krdma_recv_wr next = { .wr_id = KRDMA_BLK_WR_REPLY };
	struct krdma_blk_request *request = NULL;

	/* The connection has ended: see krdma_blk_queue_return(). */
	if (completion->status)
		return;
	if (completion->flags & KRDMA_WC_WITH_IMM)
		request = krdma_blk_queue_take(queue, KRDMA_BLK_REPLY_TAG(completion->imm));
	if (!request) {
		/* The peer does not follow the protocol. */
		krdma_conn_abort(completion->conn);
		return;
	}
	/* If this fails, the connection is ending. */
	krdma_conn_post_recv(completion->conn, &next, 1);
	request->result = BLK_STS_OK;
	if (KRDMA_BLK_REPLY_STATUS(completion->imm) != KRDMA_BLK_DONE)
		request->result = BLK_STS_IOERR;
	blk_mq_complete_request(blk_mq_rq_from_pdu(request));
}
