// SPDX-License-Identifier: GPL-2.0
/*
 * From a program's entries to the core's requests.
 *
 * Entries come from the submission ring or from an array, and go one way from there.
 * An entry is read once, and what was read is what counts: a program that changes it
 * meanwhile fools itself.  Those for one target that follow one another are collected
 * and posted together.
 *
 * First entries are checked and everything is copied that they refer to, which may
 * sleep; then, under RCU, the target and the memory are looked up and the core is
 * asked, which does not sleep.  Nothing has to be allocated: see user/batch.c.
 */
#include <linux/bottom_half.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "user/user.h"
#include "user/ring.h"

static_assert((int)KRDMA_SQE_SILENT == (int)KRDMA_POST_SILENT);
static_assert((int)KRDMA_SQE_INLINE == (int)KRDMA_POST_INLINE);
static_assert((int)KRDMA_SQE_FENCE == (int)KRDMA_POST_FENCE);
static_assert((int)KRDMA_SQE_SOLICITED == (int)KRDMA_POST_SOLICITED);

/**
 * struct krdma_user_post - one request for operations
 * @queue: which queue was asked, its submit_lock held
 * @batch: where entries become requests
 * @only: the shared receive queue that all is for, or NULL
 * @is_array: entries come from an array, not from the ring
 * @entries: the program's array
 * @index: the next entry, of the array or the ring
 * @accepted: entries that the core has
 * @unread: not even the first of the array could be read
 */
struct krdma_user_post {
	struct krdma_user_queue *queue;
	struct krdma_user_batch *batch;
	const struct krdma_user_srq *only;
	bool is_array;
	const struct krdma_sqe __user *entries;
	u32 index;
	u32 accepted;
	bool unread;
};

/*
 * What entries may have
 */

/* The fields that an operation uses. */
enum krdma_sqe_field {
	KRDMA_SQE_FIELD_PIECES = 1 << 0,
	KRDMA_SQE_FIELD_REMOTE = 1 << 1,
	KRDMA_SQE_FIELD_IMM = 1 << 2,
	KRDMA_SQE_FIELD_OPERAND = 1 << 3,
	KRDMA_SQE_FIELD_SWAP = 1 << 4,
	/* There is such an operation. */
	KRDMA_SQE_FIELD_OPCODE = 1 << 5,
};

#define KRDMA_SQE_USES_PIECES	(KRDMA_SQE_FIELD_OPCODE | KRDMA_SQE_FIELD_PIECES)
#define KRDMA_SQE_USES_REMOTE	(KRDMA_SQE_FIELD_OPCODE | KRDMA_SQE_FIELD_REMOTE)
#define KRDMA_SQE_USES_BOTH	(KRDMA_SQE_USES_PIECES | KRDMA_SQE_USES_REMOTE)

#define KRDMA_SQE_ANY		(KRDMA_SQE_SILENT | KRDMA_SQE_FENCE)
#define KRDMA_SQE_MESSAGE	(KRDMA_SQE_ANY | KRDMA_SQE_INLINE | KRDMA_SQE_SOLICITED)

/*
 * Not KRDMA_OP_INVALIDATE and KRDMA_OP_REGISTER, which take the key of any registration
 * in the protection domain, and with some providers of any on the device: a program
 * ends its keys by KRDMA_MEMORY_RELEASE.
 */
static const struct krdma_sqe_rule {
	u8 fields;
	u8 flags;
} krdma_sqe_rules[] = {
	[KRDMA_OP_SEND] = { KRDMA_SQE_USES_PIECES, KRDMA_SQE_MESSAGE },
	[KRDMA_OP_SEND_IMM] = { KRDMA_SQE_USES_PIECES | KRDMA_SQE_FIELD_IMM, KRDMA_SQE_MESSAGE },
	[KRDMA_OP_SEND_INVALIDATE] = {
		KRDMA_SQE_USES_PIECES | KRDMA_SQE_FIELD_IMM, KRDMA_SQE_MESSAGE
	},
	[KRDMA_OP_RECEIVE] = { KRDMA_SQE_USES_PIECES, 0 },
	[KRDMA_OP_WRITE] = { KRDMA_SQE_USES_BOTH, KRDMA_SQE_ANY | KRDMA_SQE_INLINE },
	[KRDMA_OP_WRITE_IMM] = { KRDMA_SQE_USES_BOTH | KRDMA_SQE_FIELD_IMM, KRDMA_SQE_MESSAGE },
	[KRDMA_OP_READ] = { KRDMA_SQE_USES_BOTH, KRDMA_SQE_ANY },
	[KRDMA_OP_COMPARE_SWAP] = {
		KRDMA_SQE_USES_BOTH | KRDMA_SQE_FIELD_OPERAND | KRDMA_SQE_FIELD_SWAP, KRDMA_SQE_ANY
	},
	[KRDMA_OP_FETCH_ADD] = { KRDMA_SQE_USES_BOTH | KRDMA_SQE_FIELD_OPERAND, KRDMA_SQE_ANY },
	[KRDMA_OP_ATOMIC_WRITE] = {
		KRDMA_SQE_USES_REMOTE | KRDMA_SQE_FIELD_OPERAND, KRDMA_SQE_ANY
	},
	[KRDMA_OP_FLUSH] = {
		KRDMA_SQE_USES_REMOTE | KRDMA_SQE_FIELD_IMM | KRDMA_SQE_FIELD_OPERAND,
		KRDMA_SQE_ANY
	},
};

static int krdma_sqe_check(const struct krdma_sqe *sqe)
{
	const struct krdma_sqe_rule *rule;
	u8 unused;

	if (sqe->opcode >= ARRAY_SIZE(krdma_sqe_rules))
		return -EINVAL;
	rule = &krdma_sqe_rules[array_index_nospec(sqe->opcode, ARRAY_SIZE(krdma_sqe_rules))];
	unused = ~rule->fields;

	if ((unused & KRDMA_SQE_FIELD_OPCODE) || (sqe->flags & ~rule->flags))
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_PIECES) && sqe->piece_count)
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_REMOTE) && (sqe->remote_addr || sqe->remote_key))
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_IMM) && sqe->imm)
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_OPERAND) && sqe->operand)
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_SWAP) && sqe->swap)
		return -EINVAL;

	if (sqe->piece_count > KRDMA_PIECES_MAX)
		return -EMSGSIZE;
	/* Of none, all is 0, and of many, all but the address of the array. */
	if (sqe->piece_count != 1 && (sqe->piece.length || sqe->piece.memory))
		return -EINVAL;
	if (!sqe->piece_count && sqe->piece.addr)
		return -EINVAL;
	return 0;
}

/*
 * Reading
 */

/* The program may write it at any time, and each word is read once. */
static void krdma_user_sqe_read(struct krdma_sqe *sqe, const struct krdma_sqe *shared)
{
	const u64 *from = (const u64 *)shared;
	u64 *to = (u64 *)sqe;

	/* One by one: a loop costs as much again. */
	BUILD_BUG_ON(sizeof(*sqe) != 8 * sizeof(*to));
	to[0] = READ_ONCE(from[0]);
	to[1] = READ_ONCE(from[1]);
	to[2] = READ_ONCE(from[2]);
	to[3] = READ_ONCE(from[3]);
	to[4] = READ_ONCE(from[4]);
	to[5] = READ_ONCE(from[5]);
	to[6] = READ_ONCE(from[6]);
	to[7] = READ_ONCE(from[7]);
}

static int krdma_user_entry_read(struct krdma_user_post *post, struct krdma_user_entry *entry)
{
	struct krdma_user_queue *queue = post->queue;
	u32 mask = queue->layout.sq_entries - 1;

	if (!post->is_array) {
		krdma_user_sqe_read(&entry->sqe, &queue->sqes[post->index & mask]);
	} else if (copy_from_user(&entry->sqe, &post->entries[post->index], sizeof(entry->sqe))) {
		post->unread = !post->index;
		return -EFAULT;
	}
	return 0;
}

/* Only some entries are for a shared receive queue that is asked by its own file. */
static int krdma_user_entry_check(const struct krdma_user_post *post,
				  const struct krdma_user_entry *entry)
{
	int ret;

	ret = krdma_sqe_check(&entry->sqe);
	if (ret || !post->only)
		return ret;
	if (entry->sqe.opcode != KRDMA_OP_RECEIVE)
		return -EINVAL;
	return entry->sqe.target == post->only->target.id ? 0 : -ENOENT;
}

static int krdma_user_entry_check_pieces(struct krdma_user_entry *entry)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < entry->sqe.piece_count; i++) {
		if (!(entry->sqe.flags & KRDMA_SQE_INLINE)) {
			/* No memory has this number, and it means another thing here. */
			if (!entry->pieces[i].memory)
				return -ENOENT;
			continue;
		}
		if (entry->pieces[i].memory)
			return -EINVAL;
		length += entry->pieces[i].length;
	}
	if (length > KRDMA_USER_POST_INLINE)
		return -EMSGSIZE;
	entry->inline_length = length;
	return 0;
}

static int krdma_user_entry_read_pieces(struct krdma_user_batch *batch,
					struct krdma_user_entry *entry)
{
	const void __user *list = u64_to_user_ptr(entry->sqe.piece.addr);

	entry->pieces = &entry->sqe.piece;
	/* Mostly it is one. */
	if (likely(entry->sqe.piece_count == 1 && !(entry->sqe.flags & KRDMA_SQE_INLINE))) {
		entry->inline_length = 0;
		return entry->sqe.piece.memory ? 0 : -ENOENT;
	}
	if (entry->sqe.piece_count > 1) {
		if (copy_from_user(batch->list, list,
				   entry->sqe.piece_count * sizeof(*batch->list)))
			return -EFAULT;
		entry->pieces = batch->list;
	}
	return krdma_user_entry_check_pieces(entry);
}

/*
 * Collecting
 */

static void krdma_user_batch_begin(struct krdma_user_batch *batch)
{
	batch->count = 0;
	batch->piece_count = 0;
	batch->inline_used = 0;
}

/* Anything fits where there is nothing. */
static bool krdma_user_batch_fits(const struct krdma_user_batch *batch,
				  const struct krdma_user_entry *entry)
{
	if (!batch->count)
		return true;
	return batch->count < KRDMA_USER_POST_BATCH && batch->target == entry->sqe.target &&
	       batch->is_receive == (entry->sqe.opcode == KRDMA_OP_RECEIVE) &&
	       batch->piece_count + entry->sqe.piece_count <= KRDMA_USER_POST_PIECES &&
	       batch->inline_used + entry->inline_length <= KRDMA_USER_POST_INLINE;
}

/* The data themselves: in the core they are one piece. */
static int krdma_user_batch_copy(struct krdma_user_batch *batch,
				 const struct krdma_user_entry *entry)
{
	u8 *data = &batch->inline_data[batch->inline_used];
	u32 length, copied = 0;
	u32 i;

	for (i = 0; i < entry->sqe.piece_count; i++) {
		length = entry->pieces[i].length;
		if (copy_from_user(data + copied, u64_to_user_ptr(entry->pieces[i].addr), length))
			return -EFAULT;
		copied += length;
	}
	/* What has no pieces has no room for one. */
	if (!entry->sqe.piece_count)
		return 0;
	batch->inline_used += copied;
	batch->pieces[batch->piece_count++] = (struct krdma_sge) {
		.addr = (uintptr_t)data, .length = copied,
	};
	return 0;
}

static void krdma_user_batch_name(struct krdma_user_batch *batch,
				  const struct krdma_user_entry *entry)
{
	struct krdma_sge *piece = &batch->pieces[batch->piece_count];
	u32 i;

	for (i = 0; i < entry->sqe.piece_count; i++, piece++) {
		piece->region = NULL;
		piece->addr = entry->pieces[i].addr;
		piece->length = entry->pieces[i].length;
		piece->key = entry->pieces[i].memory;
	}
	batch->piece_count += entry->sqe.piece_count;
}

static void krdma_user_batch_request(struct krdma_user_batch *batch, const struct krdma_sqe *sqe,
				     const struct krdma_sge *pieces, u32 piece_count)
{
	struct krdma_request *request = &batch->requests[batch->count];

	/* All members: what was there before is another entry's. */
	request->cookie = sqe->cookie;
	request->opcode = sqe->opcode;
	request->flags = sqe->flags;
	request->sge_count = piece_count;
	request->imm = sqe->imm;
	request->sges = pieces;
	request->remote_addr = sqe->remote_addr;
	request->remote_key = sqe->remote_key;
	request->operand = sqe->operand;
	request->swap = sqe->swap;
}

/* The entry fits. */
static int krdma_user_batch_add(struct krdma_user_batch *batch,
				const struct krdma_user_entry *entry)
{
	const struct krdma_sqe *sqe = &entry->sqe;
	u32 first = batch->piece_count;
	int ret;

	if (sqe->flags & KRDMA_SQE_INLINE) {
		ret = krdma_user_batch_copy(batch, entry);
		if (ret)
			return ret;
	} else {
		krdma_user_batch_name(batch, entry);
	}

	batch->target = sqe->target;
	batch->is_receive = sqe->opcode == KRDMA_OP_RECEIVE;
	if (batch->is_receive)
		batch->receives[batch->count] = (struct krdma_receive) {
			.cookie = sqe->cookie,
			.sges = &batch->pieces[first],
			.sge_count = batch->piece_count - first,
		};
	else
		krdma_user_batch_request(batch, sqe, &batch->pieces[first],
					 batch->piece_count - first);
	batch->first_piece[batch->count++] = first;
	batch->first_piece[batch->count] = batch->piece_count;
	return 0;
}

/*
 * Posting, under RCU
 */

/**
 * struct krdma_user_door - what takes a batch
 * @conn: the connection, or NULL
 * @srq: the shared receive queue, or NULL
 * @core: of that one
 */
struct krdma_user_door {
	struct krdma_user_conn *conn;
	struct krdma_user_srq *srq;
	struct krdma_srq *core;
};

static int krdma_user_door_find(const struct krdma_user_queue *queue,
				const struct krdma_user_batch *batch, struct krdma_user_door *door)
{
	struct krdma_user_target *target = xa_load(&krdma_user_targets, batch->target);
	struct krdma_user_queue *used;
	struct krdma_user_conn *conn;
	struct krdma_user_srq *srq;

	if (!target)
		return -ENOENT;

	switch (target->kind) {
	case KRDMA_USER_TARGET_CONN:
		conn = container_of(target, struct krdma_user_conn, target);
		if (batch->is_receive)
			/* Pairs with the release by KRDMA_CONN_PREPARE: it can be posted to. */
			used = smp_load_acquire(&conn->recv_queue);
		else
			/* Likewise. */
			used = smp_load_acquire(&conn->queue);
		if (used != queue)
			return -ENOENT;
		*door = (struct krdma_user_door) { .conn = conn };
		return 0;
	case KRDMA_USER_TARGET_SRQ:
		srq = container_of(target, struct krdma_user_srq, target);
		if (!batch->is_receive || srq->queue != queue)
			return -ENOENT;
		door->conn = NULL;
		door->srq = srq;
		/* Pairs with the release in krdma_user_srq_make(). */
		door->core = smp_load_acquire(&srq->core);
		return door->core ? 0 : -ENOENT;
	}
	return -ENOENT;
}

/* Looks up the memory of a batch's entries; how many of these have all of theirs. */
static u32 krdma_user_batch_find_memory(struct krdma_user_queue *queue,
					struct krdma_user_batch *batch)
{
	const struct krdma_user_confinement *confinement = rcu_dereference(queue->confinement);
	struct krdma_user_memory *memory = NULL;
	struct krdma_sge *piece;
	u32 entry = 0;
	u32 i;

	for (i = 0; i < batch->piece_count; i++) {
		piece = &batch->pieces[i];
		/* Inline. */
		if (!piece->key)
			continue;
		/* Mostly it is the same one again. */
		if (!memory || memory->id != piece->key) {
			memory = krdma_user_memory_find(queue->session, piece->key);
			/* What a queue must not name is not there for it. */
			if (confinement && !krdma_user_confinement_has(confinement, piece->key))
				memory = NULL;
		}
		if (!memory)
			break;
		piece->region = memory->region;
	}
	if (i == batch->piece_count)
		return batch->count;
	while (batch->first_piece[entry + 1] <= i)
		entry++;
	return entry;
}

static int krdma_user_door_post(const struct krdma_user_door *door,
				const struct krdma_user_batch *batch, u32 first, u32 count)
{
	int ret;

	if (door->conn && batch->is_receive)
		return krdma_conn_receive(door->conn->core, &batch->receives[first], count);
	if (door->conn)
		return krdma_conn_post(door->conn->core, &batch->requests[first], count);

	ret = krdma_srq_receive(door->core, &batch->receives[first], count);
	/* It is just being closed. */
	return ret == -ESHUTDOWN ? -ENOENT : ret;
}

/*
 * There is no room, or there is: then EPOLLOUT says so.  What is set here is cleared by
 * whoever makes room.  That may have happened since we were refused, so the caller
 * tries once more after it has been set.
 */
static void krdma_user_door_set_full(struct krdma_user_queue *queue,
				     const struct krdma_user_door *door,
				     const struct krdma_user_batch *batch, bool full)
{
	WRITE_ONCE(queue->full, full);
	if (door->srq) {
		WRITE_ONCE(door->srq->full_since, READ_ONCE(queue->received));
		WRITE_ONCE(door->srq->full, full);
		if (full)
			WRITE_ONCE(queue->srq_full, true);
	} else if (batch->is_receive) {
		WRITE_ONCE(door->conn->recv_full, full);
	} else {
		WRITE_ONCE(door->conn->full, full);
	}
	/* Pairs with the barrier in the core between giving room back and saying so. */
	smp_mb();
}

/* The first @count of a batch; how many were accepted, and why not more. */
static u32 krdma_user_door_post_all(struct krdma_user_queue *queue,
				    const struct krdma_user_door *door,
				    const struct krdma_user_batch *batch, u32 count, int *error)
{
	bool full = false;
	u32 accepted = 0;
	int ret;

	while (accepted < count) {
		ret = krdma_user_door_post(door, batch, accepted, count - accepted);
		if (ret > 0) {
			accepted += ret;
			if (full)
				krdma_user_door_set_full(queue, door, batch, false);
			full = false;
		} else if (ret == -EAGAIN && !full) {
			krdma_user_door_set_full(queue, door, batch, true);
			full = true;
		} else {
			*error = ret;
			break;
		}
	}
	return accepted;
}

static u32 krdma_user_batch_post(struct krdma_user_queue *queue, struct krdma_user_batch *batch,
				 int *error)
{
	struct krdma_user_door door;
	u32 accepted = 0;
	u32 count;
	int ret;

	/*
	 * A provider that does its work in a softirq, as rxe of 6.1 does, would wake the thread
	 * for softirqs with each post: those are made with interrupts off.  So they run here,
	 * when everything has been posted.
	 */
	local_bh_disable();
	rcu_read_lock();
	ret = krdma_user_door_find(queue, batch, &door);
	if (!ret) {
		count = krdma_user_batch_find_memory(queue, batch);
		if (count < batch->count)
			ret = -ENOENT;
		accepted = krdma_user_door_post_all(queue, &door, batch, count, &ret);
	}
	rcu_read_unlock();
	local_bh_enable();

	*error = ret;
	return accepted;
}

/*
 * Requests
 */

/* Posts what was collected; 0 if all of it was accepted, or why the next one was not. */
static int krdma_user_post_flush(struct krdma_user_post *post)
{
	struct krdma_user_queue *queue = post->queue;
	struct krdma_user_batch *batch = post->batch;
	u32 accepted;
	int ret = 0;

	if (!batch->count)
		return 0;

	accepted = krdma_user_batch_post(queue, batch, &ret);
	krdma_user_batch_begin(batch);
	post->accepted += accepted;
	WRITE_ONCE(queue->submitted, queue->submitted + accepted);
	if (!post->is_array) {
		queue->sq_head += accepted;
		/* The program may use these entries again. */
		smp_store_release(&queue->ring->sq_head, queue->sq_head);
	}
	return ret;
}

/* One entry into the batch, after others were posted if it does not fit. */
static int krdma_user_post_one(struct krdma_user_post *post)
{
	struct krdma_user_batch *batch = post->batch;
	struct krdma_user_entry *entry = &batch->entry;
	int ret;

	ret = krdma_user_entry_read(post, entry) ?:
	      krdma_user_entry_check(post, entry) ?:
	      krdma_user_entry_read_pieces(batch, entry);
	if (ret)
		return ret;

	if (!krdma_user_batch_fits(batch, entry)) {
		ret = krdma_user_post_flush(post);
		if (ret)
			return ret;
		cond_resched();
	}
	return krdma_user_batch_add(batch, entry);
}

/* The post may begin; or a signal came first. */
static int krdma_user_post_begin(struct krdma_user_post *post)
{
	struct krdma_user_queue *queue = post->queue;

	if (mutex_lock_interruptible(&queue->submit_lock))
		return -ERESTARTSYS;
	post->batch = krdma_user_batch_take(&queue->session->batches);
	if (post->batch)
		return 0;
	mutex_unlock(&queue->submit_lock);
	return -ERESTARTSYS;
}

static void krdma_user_post_end(struct krdma_user_post *post)
{
	krdma_user_batch_give(&post->queue->session->batches, post->batch);
	mutex_unlock(&post->queue->submit_lock);
}

/* Entries in their order until one is refused; 0, or why that was. */
static int krdma_user_post_all(struct krdma_user_post *post, u32 count)
{
	int flushed;
	int ret = 0;

	lockdep_assert_held(&post->queue->submit_lock);

	krdma_user_batch_begin(post->batch);
	for (; count && !ret; count--) {
		ret = krdma_user_post_one(post);
		post->index++;
	}
	/* What came before one that was refused; its own refusals come first, too. */
	flushed = krdma_user_post_flush(post);
	return flushed ?: ret;
}

/**
 * krdma_user_queue_submit - take entries from the ring
 * @queue: the queue; the caller has a reference
 * @count: at most so many
 * @error: set to why the next one was refused, if one was
 *
 * Context: process context, of the program; may sleep.
 * Return: how many were accepted, or, when none was looked at,
 * -EBADMSG: the program's index makes no sense;
 * -ERESTARTSYS: a signal came first.
 */
int krdma_user_queue_submit(struct krdma_user_queue *queue, u32 count, int *error)
{
	struct krdma_user_post post = { .queue = queue };
	int filled;
	int ret;

	ret = krdma_user_post_begin(&post);
	if (ret)
		return ret;

	post.index = queue->sq_head;
	/* Pairs with the program's release: the entries are there. */
	filled = krdma_user_ring_filled(smp_load_acquire(&queue->ring->sq_tail), queue->sq_head,
					queue->layout.sq_entries);
	if (filled > 0)
		*error = krdma_user_post_all(&post, min_t(u32, count, filled));
	krdma_user_post_end(&post);

	return filled < 0 ? filled : post.accepted;
}

static int krdma_user_post_array(struct krdma_user_request *request,
				 struct krdma_user_queue *queue, struct krdma_user_srq *only)
{
	struct krdma_queue_post *call = &request->buffer->queue_post;
	struct krdma_user_post post = {
		.queue = queue,
		.only = only,
		.is_array = true,
		.entries = u64_to_user_ptr(call->entries),
	};
	int ret;

	if (call->flags || call->reserved)
		return -EOPNOTSUPP;
	if (call->count > KRDMA_RING_ENTRIES_MAX)
		return -EINVAL;

	ret = krdma_user_post_begin(&post);
	if (ret)
		return ret;
	ret = krdma_user_post_all(&post, call->count);
	krdma_user_post_end(&post);
	if (post.unread)
		return ret;

	call->accepted = post.accepted;
	call->error = ret;
	return krdma_request_inform(request);
}

/**
 * krdma_user_queue_post - KRDMA_QUEUE_POST
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma_ring.h> says.
 */
int krdma_user_queue_post(struct krdma_user_request *request)
{
	return krdma_user_post_array(request, request->queue, NULL);
}

/**
 * krdma_user_srq_post - KRDMA_SRQ_POST
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma_ring.h> says.
 */
int krdma_user_srq_post(struct krdma_user_request *request)
{
	return krdma_user_post_array(request, request->srq->queue, request->srq);
}
