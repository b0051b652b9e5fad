// SPDX-License-Identifier: GPL-2.0
/*
 * Commands of clients: what the server does for them with its memory or its store.
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
 *   at which the client still had the connection: see @expires.  The time for which this host was
 *   suspended counts.  What a store has begun by then it ends later, and nothing can take it back.
 *   All that comes by this server is behind that: no connection and no other writer is admitted in
 *   its place before, and the other clients of a shared export do not write meanwhile.
 *
 * For memory, the commands of a connection are executed one after the other, but not in their
 * order: the client has not heard of the end of any of them.  For a store, which takes longer, each
 * is a job of its own.
 *
 * The end of a command's receive is written to memory behind all that the device has accepted
 * before.  So a write by RDMA that has completed to the client is not behind its next command, and
 * what it has written to a slot is there when the command for the slot arrives.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <krdma/krdma.h>

#include "blk.h"
#include "command.h"
#include "export.h"
#include "root.h"

/* Most bytes that are zeroed after each check of the time. */
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
	return time_after_eq(krdma_blk_now(), READ_ONCE(commands->expires));
}

/*
 * A processor may do something else for long between two parts, and the client may have failed the
 * command then.  Returns an error in that case, and the rest is not executed.
 */
static int krdma_blk_command_zero(struct krdma_blk_commands *commands,
				  const struct krdma_blk_range *range)
{
	u64 end = range->offset + range->length;
	u64 at = range->offset;
	bool expired = false;

	while (at < end && !expired) {
		size_t part = min_t(u64, end - at, KRDMA_BLK_ZERO_PART);
		void *to = krdma_blk_memory_at(&commands->export->memory, at, &part);

		preempt_disable();
		expired = krdma_blk_commands_expired(commands);
		if (!expired)
			memset(to, 0, part);
		preempt_enable();
		at += part;
		cond_resched();
	}
	return expired ? -ETIMEDOUT : 0;
}

static int krdma_blk_command_read(struct krdma_blk_commands *commands, unsigned int slot,
				  struct krdma_blk_range *range)
{
	const struct krdma_blk_bounds bounds = {
		.size = READ_ONCE(commands->export->size),
		.block_size = commands->export->block_size, .opcodes = commands->opcodes,
	};

	return krdma_blk_read_command(&commands->messages[slot], &bounds, range);
}

/* The caller has counted the reply.  Returns an error if the connection is ending. */
static int krdma_blk_command_reply(struct krdma_blk_commands *commands, unsigned int slot,
				   u16 tag, int status)
{
	struct krdma_send_wr reply = {
		.opcode = KRDMA_OP_SEND_IMM, .imm = KRDMA_BLK_REPLY(status, tag),
	};

	/* First the receive, because the client may use it as soon as it has the reply. */
	if (krdma_blk_command_post_recv(commands, slot))
		return -ENOTCONN;
	return krdma_conn_post_send(commands->conn, &reply, 1) == 1 ? 0 : -ENOTCONN;
}

/* The SQ has space for these, and for a check of the client. */
static bool krdma_blk_command_may_reply(struct krdma_blk_commands *commands)
{
	return atomic_add_unless(&commands->replies, 1, KRDMA_BLK_COMMANDS_MAX);
}

/* Returns an error if the connection is ending, or has to. */
static int krdma_blk_command_execute(struct krdma_blk_commands *commands, unsigned int slot)
{
	struct krdma_blk_range range;
	int status;

	status = krdma_blk_command_read(commands, slot, &range);
	if (status == KRDMA_BLK_DONE) {
		/*
		 * Discarding does the same: the pages stay, because RDMA may write to them at any
		 * time.
		 */
		if (krdma_blk_command_zero(commands, &range))
			return -ETIMEDOUT;
	}
	return krdma_blk_command_reply(commands, slot, range.tag, status);
}

static void krdma_blk_commands_queue(struct krdma_blk_commands *commands)
{
	queue_work(commands->jobs ? commands->export->drains : krdma_blk_command_workqueue,
		   &commands->work);
}

/*
 * Executes at most one command of each slot, and then lets other connections have their turn: a
 * client may send commands faster than they are executed.
 */
static void krdma_blk_commands_work(struct work_struct *work)
{
	struct krdma_blk_commands *commands = container_of(work, struct krdma_blk_commands, work);
	unsigned long *slots = commands->jobs ? commands->executed : commands->arrived;
	unsigned int slot;
	int ret;

	for_each_set_bit(slot, slots, KRDMA_BLK_COMMAND_SLOTS) {
		if (!krdma_blk_command_may_reply(commands))
			return;
		clear_bit(slot, slots);
		if (commands->jobs)
			ret = krdma_blk_command_reply(commands, slot,
						      commands->jobs[slot].range.tag,
						      commands->jobs[slot].status);
		else
			ret = krdma_blk_command_execute(commands, slot);
		if (ret) {
			krdma_conn_abort(commands->conn);
			return;
		}
		cond_resched();
	}
	if (!bitmap_empty(slots, KRDMA_BLK_COMMAND_SLOTS))
		krdma_blk_commands_queue(commands);
}

/*
 * Jobs
 */

static int krdma_blk_job_status(int error)
{
	switch (error) {
	case 0:
		return KRDMA_BLK_DONE;
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
		return KRDMA_BLK_NO_SPACE;
	default:
		return KRDMA_BLK_FAILED;
	}
}

static int krdma_blk_job_execute(struct krdma_blk_job *job)
{
	struct krdma_blk_commands *commands = job->commands;
	struct krdma_blk_store *store = &commands->export->store;
	const struct krdma_blk_range *range = &job->range;
	const struct krdma_blk_span span = {
		.offset = range->offset, .length = range->length, .memory = &commands->slots,
		.from = (u64)range->tag * KRDMA_BLK_SLOT_SIZE,
	};

	switch (range->opcode) {
	case KRDMA_BLK_READ:
		return krdma_blk_store_read(store, &span);
	case KRDMA_BLK_WRITE:
		return krdma_blk_store_write(store, &span, range->stable);
	case KRDMA_BLK_FLUSH:
		return krdma_blk_store_flush(store);
	default:
		return krdma_blk_store_zero(store, range->offset, range->length,
					    range->opcode == KRDMA_BLK_DISCARD);
	}
}

/* Has the connection ended, or is nothing written any more for those that ended up to @until? */
static bool krdma_blk_job_may_go(struct krdma_blk_commands *commands, u64 until)
{
	struct krdma_blk_export *export = commands->export;
	struct krdma_blk_commands *first;
	bool may;

	spin_lock(&export->drain_lock);
	first = list_first_entry_or_null(&export->draining, struct krdma_blk_commands, draining);
	may = commands->ended || !first || first->drain > until;
	spin_unlock(&export->drain_lock);
	return may;
}

/*
 * Ends the connections of others whose time is over, but which have not been checked since: this
 * host may have been suspended.  They may have failed what is still being written for them.
 * Returns whether there is none, or the connection of @commands has ended.
 */
static bool krdma_blk_job_is_alone(struct krdma_blk_commands *commands)
{
	struct krdma_blk_export *export = commands->export;
	struct krdma_blk_commands *other;
	bool alone = true;

	spin_lock(&export->drain_lock);
	list_for_each_entry(other, &export->writing, draining) {
		if (other == commands || !krdma_blk_commands_expired(other))
			continue;
		krdma_conn_abort(other->conn);
		alone = false;
	}
	if (commands->ended)
		alone = true;
	spin_unlock(&export->drain_lock);
	return alone;
}

/*
 * Waits until nothing is written any more for clients that are lost, and may have failed it: those
 * that are lost now, for others can follow for ever.  Of an export that is not shared there is no
 * other writer.  Returns false if the connection has ended.
 */
static bool krdma_blk_job_turn(struct krdma_blk_job *job)
{
	struct krdma_blk_commands *commands = job->commands;
	struct krdma_blk_export *export = commands->export;
	u64 until;

	if (export->shared && job->range.opcode != KRDMA_BLK_READ) {
		while (!wait_event_timeout(export->idle, krdma_blk_job_is_alone(commands),
					   KRDMA_BLK_LONG_WAIT))
			;
		spin_lock(&export->drain_lock);
		until = export->drain_count;
		spin_unlock(&export->drain_lock);
		while (!wait_event_timeout(export->idle, krdma_blk_job_may_go(commands, until),
					   KRDMA_BLK_LONG_WAIT))
			;
	}
	return !READ_ONCE(commands->ended);
}

static void krdma_blk_job_run(struct krdma_blk_job *job)
{
	struct krdma_blk_commands *commands = job->commands;
	unsigned int slot = job - commands->jobs;

	job->status = krdma_blk_command_read(commands, slot, &job->range);
	if (job->status == KRDMA_BLK_DONE) {
		if (!krdma_blk_job_turn(job))
			return;
		if (krdma_blk_commands_expired(commands)) {
			krdma_conn_abort(commands->conn);
			return;
		}
		job->status = krdma_blk_job_status(krdma_blk_job_execute(job));
	}
	if (krdma_blk_command_may_reply(commands)) {
		if (krdma_blk_command_reply(commands, slot, job->range.tag, job->status))
			krdma_conn_abort(commands->conn);
		return;
	}
	/* The end of a reply may have come before this. */
	set_bit(slot, commands->executed);
	krdma_blk_commands_queue(commands);
}

static void krdma_blk_job_work(struct work_struct *work)
{
	krdma_blk_job_run(container_of(work, struct krdma_blk_job, work));
}

static void krdma_blk_job_read(struct work_struct *work)
{
	krdma_blk_job_run(container_of(work, struct krdma_blk_job, read));
}

/* Those that write may all wait for their turn, and no read waits for that. */
static void krdma_blk_job_queue(struct krdma_blk_commands *commands, unsigned int slot)
{
	struct krdma_blk_export *export = commands->export;
	struct krdma_blk_job *job = &commands->jobs[slot];

	if (commands->messages[slot].opcode == KRDMA_BLK_READ)
		queue_work(export->reads, &job->read);
	else
		queue_work(export->jobs, &job->work);
}

static int krdma_blk_jobs_open(struct krdma_blk_commands *commands, enum krdma_blk_role role)
{
	struct krdma_blk_export *export = commands->export;
	struct krdma_blk_job *jobs;
	struct krdma_conn_info info;
	int ret;

	ret = krdma_blk_memory_alloc(&commands->slots, KRDMA_BLK_SLOTS * KRDMA_BLK_SLOT_SIZE);
	if (ret)
		return ret;
	krdma_conn_query(commands->conn, &info);
	commands->window = krdma_blk_window_open(&commands->slots, export->sessions[role],
						 info.device_id, role == KRDMA_BLK_READS);
	if (IS_ERR(commands->window))
		return PTR_ERR(commands->window);
	jobs = kzalloc_objs(*jobs, KRDMA_BLK_COMMAND_SLOTS, GFP_KERNEL);
	if (!jobs)
		return -ENOMEM;
	for (unsigned int slot = 0; slot < KRDMA_BLK_COMMAND_SLOTS; slot++) {
		jobs[slot].commands = commands;
		INIT_WORK(&jobs[slot].work, krdma_blk_job_work);
		INIT_WORK(&jobs[slot].read, krdma_blk_job_read);
	}
	commands->jobs = jobs;
	return 0;
}

/* The connection is closed, or has no QP. */
static void krdma_blk_jobs_close(struct krdma_blk_commands *commands)
{
	for (unsigned int slot = 0; commands->jobs && slot < KRDMA_BLK_COMMAND_SLOTS; slot++) {
		cancel_work_sync(&commands->jobs[slot].work);
		cancel_work_sync(&commands->jobs[slot].read);
	}
	/* The last of them may have queued it. */
	cancel_work_sync(&commands->work);
	kfree(commands->jobs);
	commands->jobs = NULL;
	if (!IS_ERR_OR_NULL(commands->window))
		krdma_blk_window_close(commands->window);
	commands->window = NULL;
	krdma_blk_memory_free(&commands->slots);
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
	INIT_LIST_HEAD(&commands->draining);
	atomic_set(&commands->replies, 0);
}

/**
 * krdma_blk_commands_open() - Get ready to receive commands
 * @commands: the commands, initialized
 * @export: the export, enabled
 * @role: what the client may do
 * @conn: the connection; it has no QP yet
 *
 * Context: process context; may sleep.
 * Return: 0, and krdma_blk_commands_close() is to be called once; or an error of
 * krdma_mr_register() or krdma_blk_window_open().
 */
int krdma_blk_commands_open(struct krdma_blk_commands *commands, struct krdma_blk_export *export,
			    enum krdma_blk_role role, struct krdma_conn *conn)
{
	struct krdma_blk_command *messages;
	struct krdma_mr *mr;
	int ret;

	commands->export = export;
	commands->conn = conn;
	if (role == KRDMA_BLK_WRITES)
		commands->opcodes = 1 << KRDMA_BLK_ZERO | 1 << KRDMA_BLK_DISCARD;
	if (export->store.file) {
		commands->opcodes |= 1 << KRDMA_BLK_READ;
		if (role == KRDMA_BLK_WRITES)
			commands->opcodes |= 1 << KRDMA_BLK_WRITE | 1 << KRDMA_BLK_FLUSH;
		ret = krdma_blk_jobs_open(commands, role);
		if (ret)
			goto err_jobs;
	}
	messages = kzalloc_objs(*messages, KRDMA_BLK_COMMAND_SLOTS, GFP_KERNEL);
	ret = -ENOMEM;
	if (!messages)
		goto err_jobs;
	mr = krdma_mr_register(export->sessions[role], krdma_conn_device(conn), messages,
			       array_size(KRDMA_BLK_COMMAND_SLOTS, sizeof(*messages)),
			       KRDMA_ACCESS_LOCAL_WRITE);
	if (IS_ERR(mr)) {
		kfree(messages);
		ret = PTR_ERR(mr);
		goto err_jobs;
	}
	commands->mr = mr;
	commands->messages = messages;
	return 0;

err_jobs:
	krdma_blk_jobs_close(commands);
	return ret;
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
	if (commands->jobs) {
		krdma_blk_job_queue(commands, completion->wr_id);
		return;
	}
	set_bit(completion->wr_id, commands->arrived);
	krdma_blk_commands_queue(commands);
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
	if (!bitmap_empty(commands->arrived, KRDMA_BLK_COMMAND_SLOTS) ||
	    !bitmap_empty(commands->executed, KRDMA_BLK_COMMAND_SLOTS))
		krdma_blk_commands_queue(commands);
}

/**
 * krdma_blk_commands_begin() - Set the time until which commands are begun
 * @commands: the commands, open or not; their connection is about to be accepted
 * @expires: see &struct krdma_blk_commands.expires
 *
 * Context: process context.
 */
void krdma_blk_commands_begin(struct krdma_blk_commands *commands, unsigned long expires)
{
	struct krdma_blk_export *export = commands->export;

	WRITE_ONCE(commands->expires, expires);
	if (!commands->jobs || !(commands->opcodes & 1 << KRDMA_BLK_WRITE))
		return;
	spin_lock(&export->drain_lock);
	list_add(&commands->draining, &export->writing);
	spin_unlock(&export->drain_lock);
}

/**
 * krdma_blk_commands_end() - Begin no command any more
 * @commands: the commands, open or not; their connection is closed
 *
 * Context: process context.
 * Return: true if krdma_blk_commands_close() may have to wait for a store.
 */
bool krdma_blk_commands_end(struct krdma_blk_commands *commands)
{
	struct krdma_blk_export *export = commands->export;

	if (!commands->jobs)
		return false;
	spin_lock(&export->drain_lock);
	WRITE_ONCE(commands->ended, true);
	if (commands->opcodes & 1 << KRDMA_BLK_WRITE) {
		commands->drain = ++export->drain_count;
		list_move_tail(&commands->draining, &export->draining);
	}
	spin_unlock(&export->drain_lock);
	wake_up_all(&export->idle);
	return true;
}

/**
 * krdma_blk_commands_close() - Stop executing commands
 * @commands: the commands, open or not; their connection is closed
 *
 * When this returns, none is executed any more.
 *
 * Context: process context; sleeps until those that are being executed have ended.
 */
void krdma_blk_commands_close(struct krdma_blk_commands *commands)
{
	krdma_blk_jobs_close(commands);
	if (!list_empty(&commands->draining)) {
		spin_lock(&commands->export->drain_lock);
		list_del_init(&commands->draining);
		spin_unlock(&commands->export->drain_lock);
		wake_up_all(&commands->export->idle);
	}
	if (!commands->messages)
		return;
	/* The connection has returned all receives. */
	WARN_ON_ONCE(krdma_mr_deregister(commands->mr));
	kfree(commands->messages);
	commands->messages = NULL;
}
