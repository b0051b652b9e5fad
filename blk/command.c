// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of clients: what the server does with its memory for them.
 *
 * Zeroes are not worth a transfer, so a client that wants them sends a command, and the server
 * writes them.  That is a write of the client, although the server executes it.  So it must obey
 * the same rules as one by RDMA:
 *
 * - It must not arrive late.  A client that connects again repeats a command without a reply, and
 *   may then write the same range.  A connection leaves the export's list, and can be replaced,
 *   only after krdma_blk_commands_close(): after that none of its commands is executed.
 * - A client that has lost the server relies on KRDMA_BLK_FENCE_MS, see fence.c.  A QP that is
 *   destroyed in time is enough against late packets, but a command has arrived already, and
 *   waits for a processor.  So a command is executed only within KRDMA_BLK_LEASE_MS after a moment
 *   at which the client still had the connection: see @expires.
 *
 * The commands of a connection are executed one after the other, but not in their order: the
 * client has not heard of the end of any of them.
 *
 * The end of a command's receive is written to memory behind all that the device has accepted
 * before.  So a write by RDMA that has completed to the client is not behind its next command.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <krdma/krdma.h>

#include "blk.h"
#include "export.h"

/* Bytes that are zeroed after each check of the time. */
#define KRDMA_BLK_ZERO_PART	SZ_64K

static int krdma_blk_command_post_recv(struct krdma_blk_commands *commands, unsigned int slot)
{
	struct krdma_sge sge = {
		.mr = commands->mr, .addr = (uintptr_t)&commands->messages[slot],
		.length = sizeof(*commands->messages),
	};
	struct krdma_recv_wr recv = { .wr_id = slot, .sges = &sge, .sge_count = 1 };

	return krdma_conn_post_recv(commands->conn, &recv, 1) == 1 ? 0 : -ENOTCONN;
}

static bool krdma_blk_commands_expired(struct krdma_blk_commands *commands)
{
	return time_after_eq(jiffies, READ_ONCE(commands->expires));
}

/*
 * A processor may do something else for long between two parts, and the client may have failed the
 * command then.  Returns an error in that case, and the rest is not executed.
 */
static int krdma_blk_command_zero(struct krdma_blk_commands *commands,
				  const struct krdma_blk_range *range)
{
	u64 end = range->offset + range->length;

	for (u64 at = range->offset; at < end; at += KRDMA_BLK_ZERO_PART) {
		if (krdma_blk_commands_expired(commands))
			return -ETIMEDOUT;
		krdma_blk_memory_zero(&commands->export->memory, at,
				      min_t(u64, end - at, KRDMA_BLK_ZERO_PART));
	}
	return 0;
}

/* Returns an error if the connection is ending, or has to. */
static int krdma_blk_command_execute(struct krdma_blk_commands *commands, unsigned int slot)
{
	struct krdma_blk_export *export = commands->export;
	struct krdma_send_wr reply = { .opcode = KRDMA_OP_SEND_IMM };
	struct krdma_blk_range range;
	int status;

	status = krdma_blk_read_command(&commands->messages[slot], export->size,
					export->block_size, &range);
	if (status == KRDMA_BLK_DONE) {
		/*
		 * Discarding does the same: the pages stay, because RDMA may write to them at any
		 * time.
		 */
		if (krdma_blk_command_zero(commands, &range))
			return -ETIMEDOUT;
	}
	/* First the receive, because the client may use it as soon as it has the reply. */
	if (krdma_blk_command_post_recv(commands, slot))
		return -ENOTCONN;
	reply.imm = KRDMA_BLK_REPLY(status, range.tag);
	atomic_inc(&commands->replies);
	return krdma_conn_post_send(commands->conn, &reply, 1) == 1 ? 0 : -ENOTCONN;
}

static void krdma_blk_commands_work(struct work_struct *work)
{
	struct krdma_blk_commands *commands = container_of(work, struct krdma_blk_commands, work);
	unsigned int slot;

	while (!bitmap_empty(commands->arrived, KRDMA_BLK_COMMAND_SLOTS)) {
		for_each_set_bit(slot, commands->arrived, KRDMA_BLK_COMMAND_SLOTS) {
			/* The SQ has space for these, and for a check of the client. */
			if (atomic_read(&commands->replies) >= KRDMA_BLK_COMMANDS_MAX)
				return;
			clear_bit(slot, commands->arrived);
			if (krdma_blk_command_execute(commands, slot)) {
				krdma_conn_abort(commands->conn);
				return;
			}
			cond_resched();
		}
	}
}

/**
 * krdma_blk_commands_init() - Initialize commands that are not open
 * @commands: the commands of a new connection
 *
 * Context: any.
 */
void krdma_blk_commands_init(struct krdma_blk_commands *commands)
{
	INIT_WORK(&commands->work, krdma_blk_commands_work);
	atomic_set(&commands->replies, 0);
}

/**
 * krdma_blk_commands_open() - Get ready to receive commands
 * @commands: the commands, initialized
 * @export: the export
 * @session: the session of the connection's QP
 * @conn: the connection; it has no QP yet
 *
 * Context: process context; may sleep.
 * Return: 0, or an error of krdma_mr_register().
 */
int krdma_blk_commands_open(struct krdma_blk_commands *commands, struct krdma_blk_export *export,
			    struct krdma_session *session, struct krdma_conn *conn)
{
	struct krdma_blk_command *messages;
	struct krdma_mr *mr;

	messages = kzalloc_objs(*messages, KRDMA_BLK_COMMAND_SLOTS, GFP_KERNEL);
	if (!messages)
		return -ENOMEM;
	mr = krdma_mr_register(session, krdma_conn_device(conn), messages,
			       array_size(KRDMA_BLK_COMMAND_SLOTS, sizeof(*messages)),
			       KRDMA_ACCESS_LOCAL_WRITE);
	if (IS_ERR(mr)) {
		kfree(messages);
		return PTR_ERR(mr);
	}
	commands->export = export;
	commands->conn = conn;
	commands->mr = mr;
	commands->messages = messages;
	return 0;
}

/**
 * krdma_blk_commands_start() - Post the receives
 * @commands: the commands, open; their connection has a QP
 *
 * Context: process context.
 * Return: 0, or a negative errno.
 */
int krdma_blk_commands_start(struct krdma_blk_commands *commands)
{
	int ret = 0;

	for (unsigned int slot = 0; slot < KRDMA_BLK_COMMAND_SLOTS && !ret; slot++)
		ret = krdma_blk_command_post_recv(commands, slot);
	return ret;
}

/**
 * krdma_blk_commands_arrived() - Execute a command that has arrived
 * @commands: the commands, started, or not open
 * @completion: the receive of a message
 *
 * What is no command, or was not offered, ends the connection.
 *
 * Context: that of completions.
 */
void krdma_blk_commands_arrived(struct krdma_blk_commands *commands,
				const struct krdma_wc *completion)
{
	if (!commands->messages || completion->length != sizeof(struct krdma_blk_command)) {
		krdma_conn_abort(completion->conn);
		return;
	}
	set_bit(completion->wr_id, commands->arrived);
	queue_work(krdma_blk_export_workqueue, &commands->work);
}

/**
 * krdma_blk_commands_replied() - Note that a reply has been sent
 * @commands: the commands, started
 *
 * Context: that of completions.
 */
void krdma_blk_commands_replied(struct krdma_blk_commands *commands)
{
	atomic_dec(&commands->replies);
	/* Some may wait for this. */
	if (!bitmap_empty(commands->arrived, KRDMA_BLK_COMMAND_SLOTS))
		queue_work(krdma_blk_export_workqueue, &commands->work);
}

/**
 * krdma_blk_commands_close() - Stop executing commands
 * @commands: the commands, open or not; their connection is closed
 *
 * When this returns, none is executed any more.
 *
 * Context: process context; sleeps until the one that is being executed has ended.
 */
void krdma_blk_commands_close(struct krdma_blk_commands *commands)
{
	cancel_work_sync(&commands->work);
	if (!commands->messages)
		return;
	/* The connection has returned all receives. */
	WARN_ON_ONCE(krdma_mr_deregister(commands->mr));
	kfree(commands->messages);
	commands->messages = NULL;
}
