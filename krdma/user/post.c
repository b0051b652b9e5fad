// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of a program's entries to the core's work requests.
 *
 * Entries come from the SQ ring or from an array, and are handled alike.  An entry is read once,
 * and only what was read counts: a program that changes it meanwhile harms only itself.
 * Consecutive entries for the same destination are collected and posted together.
 *
 * The usual entries of the SQ ring, with one SGE in an MR, become the device's work requests in the
 * core, in one reading: see io/flat.h.  All others are copied here: first, entries are checked and
 * everything that they refer to is copied, which may sleep.  Then, under RCU, destination and MRs
 * are looked up and the work requests are posted, which does not sleep.  Nothing has to be
 * allocated: see user/batch.c.
 */
#include <linux/bottom_half.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "cm/conn_post.h"
#include "io/flat.h"
#include "io/op_flags.h"
#include "user/confine.h"
#include "user/conn.h"
#include "user/id.h"
#include "user/ioctl.h"
#include "user/mr.h"
#include "user/post.h"
#include "user/user.h"
#include "user/ring.h"

static_assert((int)KRDMA_SQE_UNSIGNALED == (int)KRDMA_POST_UNSIGNALED);
static_assert((int)KRDMA_SQE_INLINE == (int)KRDMA_POST_INLINE);
static_assert((int)KRDMA_SQE_FENCE == (int)KRDMA_POST_FENCE);
static_assert((int)KRDMA_SQE_SOLICITED == (int)KRDMA_POST_SOLICITED);

/* With the same offsets and the same size, all members have the same size. */
#define KRDMA_SQE_IS_FLAT(member, flat)						\
	static_assert(offsetof(struct krdma_sqe, member) ==			\
		      offsetof(struct krdma_flat_wr, flat))

static_assert(sizeof(struct krdma_sqe) == sizeof(struct krdma_flat_wr));
KRDMA_SQE_IS_FLAT(opcode, head.opcode);
KRDMA_SQE_IS_FLAT(flags, head.flags);
KRDMA_SQE_IS_FLAT(sge_count, head.sge_count);
KRDMA_SQE_IS_FLAT(dest, head.dest);
KRDMA_SQE_IS_FLAT(wr_id, wr_id);
KRDMA_SQE_IS_FLAT(sge.addr, addr);
KRDMA_SQE_IS_FLAT(sge.length, length);
KRDMA_SQE_IS_FLAT(sge.mr, mr);
KRDMA_SQE_IS_FLAT(remote_addr, remote_addr);
KRDMA_SQE_IS_FLAT(rkey, rkey);
KRDMA_SQE_IS_FLAT(imm, imm);
KRDMA_SQE_IS_FLAT(operand, operand);
KRDMA_SQE_IS_FLAT(swap, swap);

/**
 * struct krdma_user_post - a call that posts
 * @ring: the ring, its submit_lock held
 * @batch: where entries become work requests; NULL: not needed so far
 * @only: the SRQ that all entries must be for, or NULL
 * @is_array: entries come from an array, not from the ring
 * @entries: the program's array
 * @index: index of the next entry, of the array or the ring
 * @accepted: entries that the core has accepted
 * @unread: not even the first entry of the array could be read
 * @interrupted: a signal came before there was a batch
 */
struct krdma_user_post {
	struct krdma_user_ring *ring;
	struct krdma_user_batch *batch;
	const struct krdma_user_srq *only;
	bool is_array;
	const struct krdma_sqe __user *entries;
	u32 index;
	u32 accepted;
	bool unread;
	bool interrupted;
};

/*
 * Rules for entries
 */

/* Fields that an operation uses. */
enum krdma_sqe_field {
	KRDMA_SQE_FIELD_SGES = 1 << 0,
	KRDMA_SQE_FIELD_REMOTE = 1 << 1,
	KRDMA_SQE_FIELD_IMM = 1 << 2,
	KRDMA_SQE_FIELD_OPERAND = 1 << 3,
	KRDMA_SQE_FIELD_SWAP = 1 << 4,
	/* The operation exists. */
	KRDMA_SQE_FIELD_OPCODE = 1 << 5,
};

#define KRDMA_SQE_USES_SGES	(KRDMA_SQE_FIELD_OPCODE | KRDMA_SQE_FIELD_SGES)
#define KRDMA_SQE_USES_REMOTE	(KRDMA_SQE_FIELD_OPCODE | KRDMA_SQE_FIELD_REMOTE)
#define KRDMA_SQE_USES_BOTH	(KRDMA_SQE_USES_SGES | KRDMA_SQE_USES_REMOTE)

/* The flags are the core's: those of an entry have the same bits, see above. */
#define KRDMA_SQE_RULE(operation, uses)						\
	[KRDMA_OP_##operation] = { .fields = (uses), .flags = KRDMA_OP_##operation##_FLAGS }

static const struct krdma_sqe_rule {
	u8 fields;
	u8 flags;
} krdma_sqe_rules[] = {
	KRDMA_SQE_RULE(SEND, KRDMA_SQE_USES_SGES),
	KRDMA_SQE_RULE(SEND_IMM, KRDMA_SQE_USES_SGES | KRDMA_SQE_FIELD_IMM),
	KRDMA_SQE_RULE(SEND_INVALIDATE, KRDMA_SQE_USES_SGES | KRDMA_SQE_FIELD_IMM),
	KRDMA_SQE_RULE(RECV, KRDMA_SQE_USES_SGES),
	KRDMA_SQE_RULE(WRITE, KRDMA_SQE_USES_BOTH),
	KRDMA_SQE_RULE(WRITE_IMM, KRDMA_SQE_USES_BOTH | KRDMA_SQE_FIELD_IMM),
	KRDMA_SQE_RULE(READ, KRDMA_SQE_USES_BOTH),
	KRDMA_SQE_RULE(COMPARE_SWAP,
		       KRDMA_SQE_USES_BOTH | KRDMA_SQE_FIELD_OPERAND | KRDMA_SQE_FIELD_SWAP),
	KRDMA_SQE_RULE(FETCH_ADD, KRDMA_SQE_USES_BOTH | KRDMA_SQE_FIELD_OPERAND),
	KRDMA_SQE_RULE(ATOMIC_WRITE, KRDMA_SQE_USES_REMOTE | KRDMA_SQE_FIELD_OPERAND),
	KRDMA_SQE_RULE(FLUSH, KRDMA_SQE_USES_REMOTE | KRDMA_SQE_FIELD_IMM |
		       KRDMA_SQE_FIELD_OPERAND),
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
	if ((unused & KRDMA_SQE_FIELD_SGES) && sqe->sge_count)
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_REMOTE) && (sqe->remote_addr || sqe->rkey))
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_IMM) && sqe->imm)
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_OPERAND) && sqe->operand)
		return -EINVAL;
	if ((unused & KRDMA_SQE_FIELD_SWAP) && sqe->swap)
		return -EINVAL;

	if (sqe->sge_count > KRDMA_RING_SGES_MAX)
		return -EMSGSIZE;
	/* Without SGEs, all fields are 0; with several, all but the address of the array. */
	if (sqe->sge_count != 1 && (sqe->sge.length || sqe->sge.mr))
		return -EINVAL;
	if (!sqe->sge_count && sqe->sge.addr)
		return -EINVAL;
	return 0;
}

/*
 * Reading entries
 */

/* The program may write the entry at any time, so each word is read once. */
static void krdma_user_sqe_read(struct krdma_sqe *sqe, const struct krdma_sqe *shared)
{
	const u64 *from = (const u64 *)shared;
	u64 *to = (u64 *)sqe;

	/* Unrolled: a loop costs twice as much. */
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
	struct krdma_user_ring *ring = post->ring;
	u32 mask = ring->layout.sq_entries - 1;

	if (!post->is_array) {
		krdma_user_sqe_read(&entry->sqe, &ring->sqes[post->index & mask]);
	} else if (copy_from_user(&entry->sqe, &post->entries[post->index], sizeof(entry->sqe))) {
		post->unread = !post->index;
		return -EFAULT;
	}
	return 0;
}

/* The file of an SRQ accepts only receives for this SRQ. */
static int krdma_user_entry_check(const struct krdma_user_post *post,
				  const struct krdma_user_entry *entry)
{
	int ret;

	ret = krdma_sqe_check(&entry->sqe);
	if (ret || !post->only)
		return ret;
	if (entry->sqe.opcode != KRDMA_OP_RECV)
		return -EINVAL;
	return entry->sqe.dest == post->only->dest.id ? 0 : -ENOENT;
}

static int krdma_user_entry_check_sges(struct krdma_user_entry *entry)
{
	u64 length = 0;
	u32 i;

	for (i = 0; i < entry->sqe.sge_count; i++) {
		if (!(entry->sqe.flags & KRDMA_SQE_INLINE)) {
			/* 0 is no valid ID, and marks inline data in a batch. */
			if (!entry->sges[i].mr)
				return -ENOENT;
			continue;
		}
		if (entry->sges[i].mr)
			return -EINVAL;
		length += entry->sges[i].length;
	}
	if (length > KRDMA_USER_POST_INLINE)
		return -EMSGSIZE;
	entry->inline_length = length;
	return 0;
}

static int krdma_user_entry_read_sges(struct krdma_user_batch *batch,
				      struct krdma_user_entry *entry)
{
	const void __user *list = u64_to_user_ptr(entry->sqe.sge.addr);

	entry->sges = &entry->sqe.sge;
	/* Most entries have one SGE. */
	if (likely(entry->sqe.sge_count == 1 && !(entry->sqe.flags & KRDMA_SQE_INLINE))) {
		entry->inline_length = 0;
		return entry->sqe.sge.mr ? 0 : -ENOENT;
	}
	if (entry->sqe.sge_count > 1) {
		if (copy_from_user(batch->list, list,
				   entry->sqe.sge_count * sizeof(*batch->list)))
			return -EFAULT;
		entry->sges = batch->list;
	}
	return krdma_user_entry_check_sges(entry);
}

/*
 * Collecting entries
 */

static void krdma_user_batch_begin(struct krdma_user_batch *batch)
{
	batch->count = 0;
	batch->sge_count = 0;
	batch->inline_used = 0;
}

/* An empty batch has space for any entry. */
static bool krdma_user_batch_fits(const struct krdma_user_batch *batch,
				  const struct krdma_user_entry *entry)
{
	if (!batch->count)
		return true;
	return batch->count < KRDMA_USER_POST_BATCH && batch->dest == entry->sqe.dest &&
	       batch->is_receive == (entry->sqe.opcode == KRDMA_OP_RECV) &&
	       batch->sge_count + entry->sqe.sge_count <= KRDMA_USER_POST_SGES &&
	       batch->inline_used + entry->inline_length <= KRDMA_USER_POST_INLINE;
}

/* Copies inline data, which is one SGE for the core. */
static int krdma_user_batch_copy(struct krdma_user_batch *batch,
				 const struct krdma_user_entry *entry)
{
	u8 *data = &batch->inline_data[batch->inline_used];
	u32 length, copied = 0;
	u32 i;

	for (i = 0; i < entry->sqe.sge_count; i++) {
		length = entry->sges[i].length;
		if (copy_from_user(data + copied, u64_to_user_ptr(entry->sges[i].addr), length))
			return -EFAULT;
		copied += length;
	}
	/* Without SGEs there may be no free SGE in the batch. */
	if (!entry->sqe.sge_count)
		return 0;
	batch->inline_used += copied;
	batch->sges[batch->sge_count++] = (struct krdma_sge) {
		.addr = (uintptr_t)data, .length = copied,
	};
	return 0;
}

static void krdma_user_batch_name(struct krdma_user_batch *batch,
				  const struct krdma_user_entry *entry)
{
	struct krdma_sge *sge = &batch->sges[batch->sge_count];
	u32 i;

	for (i = 0; i < entry->sqe.sge_count; i++, sge++) {
		sge->mr = NULL;
		sge->addr = entry->sges[i].addr;
		sge->length = entry->sges[i].length;
		sge->key = entry->sges[i].mr;
	}
	batch->sge_count += entry->sqe.sge_count;
}

static void krdma_user_batch_send(struct krdma_user_batch *batch, const struct krdma_sqe *sqe,
				  const struct krdma_sge *sges, u32 sge_count)
{
	struct krdma_send_wr *wr = &batch->wrs[batch->count];

	/* Set all members: the work request contains another entry. */
	wr->wr_id = sqe->wr_id;
	wr->opcode = sqe->opcode;
	wr->flags = sqe->flags;
	wr->sge_count = sge_count;
	wr->imm = sqe->imm;
	wr->sges = sges;
	wr->remote_addr = sqe->remote_addr;
	wr->rkey = sqe->rkey;
	wr->operand = sqe->operand;
	wr->swap = sqe->swap;
}

/* The caller has checked that the entry fits. */
static int krdma_user_batch_add(struct krdma_user_batch *batch,
				const struct krdma_user_entry *entry)
{
	const struct krdma_sqe *sqe = &entry->sqe;
	u32 first = batch->sge_count;
	int ret;

	if (sqe->flags & KRDMA_SQE_INLINE) {
		ret = krdma_user_batch_copy(batch, entry);
		if (ret)
			return ret;
	} else {
		krdma_user_batch_name(batch, entry);
	}

	batch->dest = sqe->dest;
	batch->is_receive = sqe->opcode == KRDMA_OP_RECV;
	if (batch->is_receive)
		batch->recv_wrs[batch->count] = (struct krdma_recv_wr) {
			.wr_id = sqe->wr_id,
			.sges = &batch->sges[first],
			.sge_count = batch->sge_count - first,
		};
	else
		krdma_user_batch_send(batch, sqe, &batch->sges[first],
				      batch->sge_count - first);
	batch->first_sge[batch->count++] = first;
	batch->first_sge[batch->count] = batch->sge_count;
	return 0;
}

/*
 * Posting, under RCU
 */

/**
 * struct krdma_user_post_dest - destination of a batch
 * @conn: the connection, or NULL
 * @srq: the SRQ, or NULL
 * @core: the core's SRQ of @srq
 */
struct krdma_user_post_dest {
	struct krdma_user_conn *conn;
	struct krdma_user_srq *srq;
	struct krdma_srq *core;
};

static int krdma_user_post_dest_find(const struct krdma_user_ring *ring,
				     const struct krdma_user_batch *batch,
				     struct krdma_user_post_dest *to)
{
	struct krdma_user_dest *dest = xa_load(&krdma_user_dests, batch->dest);
	struct krdma_user_ring *used;
	struct krdma_user_conn *conn;
	struct krdma_user_srq *srq;

	if (!dest)
		return -ENOENT;

	switch (dest->kind) {
	case KRDMA_USER_DEST_CONN:
		conn = container_of(dest, struct krdma_user_conn, dest);
		if (batch->is_receive)
			/*
			 * Pairs with the release in krdma_user_conn_create_qp_with(): the QP
			 * exists.
			 */
			used = smp_load_acquire(&conn->recv_ring);
		else
			/* Pairs with the release in krdma_user_conn_create_qp_with(), too. */
			used = smp_load_acquire(&conn->ring);
		if (used != ring)
			return -ENOENT;
		*to = (struct krdma_user_post_dest) { .conn = conn };
		return 0;
	case KRDMA_USER_DEST_SRQ:
		srq = container_of(dest, struct krdma_user_srq, dest);
		if (!batch->is_receive || srq->ring != ring)
			return -ENOENT;
		to->conn = NULL;
		to->srq = srq;
		/* Pairs with the release in krdma_user_srq_make(). */
		to->core = smp_load_acquire(&srq->core);
		return to->core ? 0 : -ENOENT;
	}
	return -ENOENT;
}

/* The MR that an entry of the ring names; NULL also if the ring may not use it. */
static struct krdma_user_mr *
krdma_user_post_find_mr(struct krdma_user_ring *ring,
			const struct krdma_user_confinement *confinement, u32 id)
{
	struct krdma_user_mr *umr = krdma_user_mr_find(ring->session, id);

	if (!umr || (confinement && !krdma_user_confinement_has(confinement, umr)))
		return NULL;
	return umr;
}

/* Looks up the MRs of a batch.  Returns the number of entries of which all MRs were found. */
static u32 krdma_user_batch_find_mrs(struct krdma_user_ring *ring,
				     struct krdma_user_batch *batch)
{
	const struct krdma_user_confinement *confinement = rcu_dereference(ring->confinement);
	struct krdma_user_mr *umr = NULL;
	struct krdma_sge *sge;
	u32 entry = 0;
	u32 i;

	for (i = 0; i < batch->sge_count; i++) {
		sge = &batch->sges[i];
		/* Inline data. */
		if (!sge->key)
			continue;
		/* Mostly it is the same MR as before. */
		if (!umr || umr->id != sge->key)
			umr = krdma_user_post_find_mr(ring, confinement, sge->key);
		if (!umr)
			break;
		sge->mr = umr->mr;
	}
	if (i == batch->sge_count)
		return batch->count;
	while (batch->first_sge[entry + 1] <= i)
		entry++;
	return entry;
}

static int krdma_user_post_dest_post(const struct krdma_user_post_dest *to,
				     const struct krdma_user_batch *batch, u32 first, u32 count)
{
	int ret;

	if (to->conn && batch->is_receive)
		return krdma_conn_post_recv(to->conn->core, &batch->recv_wrs[first], count);
	if (to->conn)
		return krdma_conn_post_send(to->conn->core, &batch->wrs[first], count);

	ret = krdma_srq_post_recv(to->core, &batch->recv_wrs[first], count);
	/* The SRQ is just being closed. */
	return ret == -ESHUTDOWN ? -ENOENT : ret;
}

/*
 * Sets or clears the flags for EPOLLOUT.  A set flag is cleared by the completion that frees a
 * WQE.  That may have happened since the post was refused, so the caller tries once more after
 * setting it.
 */
static void krdma_user_post_dest_set_full(struct krdma_user_ring *ring,
					  const struct krdma_user_post_dest *to,
					  const struct krdma_user_batch *batch, bool full)
{
	WRITE_ONCE(ring->full, full);
	if (to->srq) {
		/* Pairs with the release in krdma_user_cq_publish(): it clears the flag first. */
		WRITE_ONCE(to->srq->full_since, smp_load_acquire(&ring->received));
		WRITE_ONCE(to->srq->full, full);
		if (full) {
			/* Pairs with the barrier there: the others are cleared after this one. */
			smp_store_release(&ring->srq_full, true);
		}
	} else if (batch->is_receive) {
		WRITE_ONCE(to->conn->recv_full, full);
	} else {
		WRITE_ONCE(to->conn->full, full);
	}
	/*
	 * Pairs with the barrier in krdma_credits_announce(), between returning credits and
	 * notifying.
	 */
	smp_mb();
}

/*
 * Another thread may have seen the flags, and sleep: the completion that has freed the WQE did not,
 * and none may follow.
 */
static void krdma_user_post_dest_has_space(struct krdma_user_ring *ring,
					   const struct krdma_user_post_dest *to,
					   const struct krdma_user_batch *batch)
{
	krdma_user_post_dest_set_full(ring, to, batch, false);
	krdma_user_ring_space(ring);
	/* Without a poll key: the connection may have ended by now. */
	if (to->conn)
		wake_up_interruptible(&to->conn->wait);
}

/*
 * Posts the first @count of a batch.  If a connection ends between the refusal and the next try,
 * its last event may have come before the flags were set, so they are cleared here.  Returns how
 * many were accepted, and sets @error if not all.
 */
static u32 krdma_user_post_dest_post_all(struct krdma_user_ring *ring,
					 const struct krdma_user_post_dest *to,
					 const struct krdma_user_batch *batch, u32 count,
					 int *error)
{
	bool full = false;
	u32 accepted = 0;
	int ret;

	while (accepted < count) {
		ret = krdma_user_post_dest_post(to, batch, accepted, count - accepted);
		if (ret > 0) {
			accepted += ret;
			if (full)
				krdma_user_post_dest_has_space(ring, to, batch);
			full = false;
		} else if (ret == -EAGAIN && !full) {
			krdma_user_post_dest_set_full(ring, to, batch, true);
			full = true;
		} else {
			if (full && ret != -EAGAIN)
				krdma_user_post_dest_has_space(ring, to, batch);
			*error = ret;
			break;
		}
	}
	return accepted;
}

/* @starved is set, with a reference, to a connection that takes memory before the first post. */
static u32 krdma_user_batch_try(struct krdma_user_ring *ring, struct krdma_user_batch *batch,
				struct krdma_user_conn **starved, int *error)
{
	struct krdma_user_post_dest to;
	u32 accepted = 0;
	u32 count;
	int ret;

	/*
	 * A provider that works in a softirq, such as rxe of 6.1, would wake ksoftirqd with each
	 * post, because posts are made with interrupts off.  With softirqs off, they run here
	 * once, when everything has been posted.
	 */
	local_bh_disable();
	rcu_read_lock();
	ret = krdma_user_post_dest_find(ring, batch, &to);
	if (!ret) {
		count = krdma_user_batch_find_mrs(ring, batch);
		if (count < batch->count)
			ret = -ENOENT;
		accepted = krdma_user_post_dest_post_all(ring, &to, batch, count, &ret);
		if (unlikely(ret == -ENOMEM) && to.conn && refcount_inc_not_zero(&to.conn->refs))
			*starved = to.conn;
	}
	rcu_read_unlock();
	local_bh_enable();

	*error = ret;
	return accepted;
}

static u32 krdma_user_batch_post(struct krdma_user_ring *ring, struct krdma_user_batch *batch,
				 int *error)
{
	struct krdma_user_conn *starved = NULL;
	u32 accepted;
	int ret;

	accepted = krdma_user_batch_try(ring, batch, &starved, error);
	if (likely(!starved))
		return accepted;
	/* Nothing was accepted.  Once more, and not again. */
	ret = krdma_conn_prepare_post(starved->core);
	krdma_user_conn_put(starved);
	if (ret)
		return 0;
	starved = NULL;
	accepted = krdma_user_batch_try(ring, batch, &starved, error);
	if (starved)
		krdma_user_conn_put(starved);
	return accepted;
}

/*
 * The usual entries
 */

/* Callback for &struct krdma_flat_post.find. */
static struct krdma_mr *krdma_user_flat_find(void *context, u32 id)
{
	struct krdma_user_ring *ring = context;
	const struct krdma_user_confinement *confinement = rcu_dereference_bh(ring->confinement);
	struct krdma_user_found *found = &ring->found;
	struct krdma_user_mr *umr;
	s64 removed;

	/* Before the table: see user.h. */
	removed = atomic64_read_acquire(&ring->session->mrs_removed);
	if (unlikely(id != found->mr_id || removed != found->mrs_removed)) {
		umr = krdma_user_mr_find(ring->session, id);
		if (!umr)
			return NULL;
		found->mr_id = id;
		found->umr = umr;
		found->mrs_removed = removed;
	}
	if (confinement && !krdma_user_confinement_has(confinement, found->umr))
		return NULL;
	return found->umr->mr;
}

/* Is this worth a try?  The program may change the entry at any time: nothing else follows. */
static bool krdma_user_flat_may(const struct krdma_sqe *sqe)
{
	return READ_ONCE(sqe->sge_count) == 1 && !(READ_ONCE(sqe->flags) & KRDMA_SQE_INLINE) &&
	       READ_ONCE(sqe->opcode) != KRDMA_OP_RECV;
}

static struct krdma_user_conn *krdma_user_flat_conn(struct krdma_user_ring *ring, u32 id)
{
	/* Before the table: see user.h. */
	s64 removed = atomic64_read_acquire(&krdma_user_dests_removed);
	struct krdma_user_found *found = &ring->found;
	struct krdma_user_dest *dest;
	struct krdma_user_conn *conn;

	if (likely(id == found->dest_id && removed == found->dests_removed))
		return found->conn;
	dest = xa_load(&krdma_user_dests, id);
	if (!dest || dest->kind != KRDMA_USER_DEST_CONN)
		return NULL;
	conn = container_of(dest, struct krdma_user_conn, dest);
	/* Pairs with the release in krdma_user_conn_create_qp_with(): the QP exists. */
	if (smp_load_acquire(&conn->ring) != ring)
		return NULL;
	found->dest_id = id;
	found->conn = conn;
	found->dests_removed = removed;
	return conn;
}

/* Posts entries of the SQ ring, one destination after the other.  Returns how many, also 0. */
static u32 krdma_user_flat_post(struct krdma_user_ring *ring, u32 count)
{
	struct krdma_flat_post flat = {
		.wrs = (const struct krdma_flat_wr *)ring->sqes,
		.mask = ring->layout.sq_entries - 1,
		.index = ring->sq_head,
		.find = krdma_user_flat_find,
		.context = ring,
	};
	struct krdma_user_conn *conn;
	u32 accepted = 0;
	int ret;

	/* Softirqs are off for the reason that krdma_user_batch_post() gives. */
	rcu_read_lock_bh();
	do {
		flat.index = ring->sq_head + accepted;
		flat.count = count - accepted;
		flat.dest = READ_ONCE(ring->sqes[flat.index & flat.mask].dest);
		conn = krdma_user_flat_conn(ring, flat.dest);
		if (!conn)
			break;
		ret = krdma_conn_post_flat(conn->core, &flat);
		accepted += ret;
	} while (ret && accepted < count);
	rcu_read_unlock_bh();

	return accepted;
}

/* Counts accepted entries, and gives those of the ring back to the program. */
static void krdma_user_post_accept(struct krdma_user_post *post, u32 accepted)
{
	struct krdma_user_ring *ring = post->ring;

	post->accepted += accepted;
	WRITE_ONCE(ring->submitted, ring->submitted + accepted);
	if (!post->is_array) {
		ring->sq_head += accepted;
		/* Pairs with the program's acquire: it may use these entries again. */
		smp_store_release(&ring->header->sq_head, ring->sq_head);
	}
}

/* Takes what is usual of the next entries.  Returns how many, also 0. */
static u32 krdma_user_post_usual(struct krdma_user_post *post, u32 count)
{
	struct krdma_user_ring *ring = post->ring;
	u32 accepted;

	if (post->is_array ||
	    !krdma_user_flat_may(&ring->sqes[ring->sq_head & (ring->layout.sq_entries - 1)]))
		return 0;
	accepted = krdma_user_flat_post(ring, min_t(u32, count, KRDMA_USER_POST_FLAT));
	if (accepted) {
		krdma_user_post_accept(post, accepted);
		post->index += accepted;
	}
	return accepted;
}

/*
 * Ioctls
 */

/* Posts the batch.  Returns 0 if all of it was accepted, or why the next entry was not. */
static int krdma_user_post_flush(struct krdma_user_post *post)
{
	struct krdma_user_ring *ring = post->ring;
	struct krdma_user_batch *batch = post->batch;
	u32 accepted;
	int ret = 0;

	if (!batch->count)
		return 0;

	accepted = krdma_user_batch_post(ring, batch, &ret);
	krdma_user_batch_begin(batch);
	krdma_user_post_accept(post, accepted);
	return ret;
}

/* Adds one entry to the batch; posts the batch first if the entry does not fit. */
static int krdma_user_post_one(struct krdma_user_post *post)
{
	struct krdma_user_batch *batch = post->batch;
	struct krdma_user_entry *entry = &batch->entry;
	int ret;

	ret = krdma_user_entry_read(post, entry) ?:
	      krdma_user_entry_check(post, entry) ?:
	      krdma_user_entry_read_sges(batch, entry);
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

/* Takes a batch when the first entry needs one.  False: a signal came first. */
static bool krdma_user_post_take_batch(struct krdma_user_post *post)
{
	if (likely(post->batch))
		return true;
	post->batch = krdma_user_batch_take(&post->ring->session->batches);
	if (!post->batch) {
		post->interrupted = true;
		return false;
	}
	krdma_user_batch_begin(post->batch);
	return true;
}

static void krdma_user_post_end(struct krdma_user_post *post)
{
	if (post->batch)
		krdma_user_batch_give(&post->ring->session->batches, post->batch);
	mutex_unlock(&post->ring->submit_lock);
}

/*
 * Handles entries in their order until one is refused, or a signal comes before there is a batch,
 * or a fatal one between batches.  Returns 0, or why one was refused.
 */
static int krdma_user_post_all(struct krdma_user_post *post, u32 count)
{
	int flushed;
	int ret = 0;
	u32 usual;

	lockdep_assert_held(&post->ring->submit_lock);

	while (count && !ret && !fatal_signal_pending(current)) {
		if (post->batch && post->batch->count == KRDMA_USER_POST_BATCH) {
			ret = krdma_user_post_flush(post);
			if (ret)
				break;
			cond_resched();
		}
		/* Entries in the batch come first. */
		usual = post->batch && post->batch->count ? 0 :
			krdma_user_post_usual(post, count);
		count -= usual;
		if (usual) {
			cond_resched();
			continue;
		}
		if (!krdma_user_post_take_batch(post))
			break;
		ret = krdma_user_post_one(post);
		post->index++;
		count--;
	}
	/* Entries before a refused one are posted, and their own refusal comes first, too. */
	flushed = post->batch ? krdma_user_post_flush(post) : 0;
	return flushed ?: ret;
}

/**
 * krdma_user_ring_submit() - Post entries of the SQ ring
 * @ring: the ring; the caller has a reference
 * @count: maximum number of entries
 * @error: set to the reason if an entry was refused
 *
 * Context: process context of the program; may sleep.
 * Return: the number of accepted entries, or, if none was handled,
 * -EBADMSG: the program's index is invalid;
 * -ERESTARTSYS: a signal came first.
 */
int krdma_user_ring_submit(struct krdma_user_ring *ring, u32 count, int *error)
{
	struct krdma_user_post post = { .ring = ring };
	int filled;

	if (mutex_lock_interruptible(&ring->submit_lock))
		return -ERESTARTSYS;

	post.index = ring->sq_head;
	/* Pairs with the program's release: the entries are written. */
	filled = krdma_ring_filled(smp_load_acquire(&ring->header->sq_tail), ring->sq_head,
				   ring->layout.sq_entries);
	if (filled > 0)
		*error = krdma_user_post_all(&post, min_t(u32, count, filled));
	krdma_user_post_end(&post);

	if (filled < 0)
		return filled;
	return post.interrupted && !post.accepted ? -ERESTARTSYS : post.accepted;
}

static int krdma_user_post_array(struct krdma_ucmd *ucmd,
				 struct krdma_user_ring *ring, struct krdma_user_srq *only)
{
	struct krdma_ring_post_args *call = &ucmd->buffer->ring_post;
	struct krdma_user_post post = {
		.ring = ring,
		.only = only,
		.is_array = true,
		.entries = u64_to_user_ptr(call->entries),
	};
	int ret = 0;

	if (call->flags || call->reserved)
		return -EOPNOTSUPP;
	if (call->count > KRDMA_RING_ENTRIES_MAX)
		return -EINVAL;

	if (mutex_lock_interruptible(&ring->submit_lock))
		return -ERESTARTSYS;
	if (krdma_user_post_take_batch(&post))
		ret = krdma_user_post_all(&post, call->count);
	krdma_user_post_end(&post);
	if (post.interrupted)
		return -ERESTARTSYS;
	if (post.unread)
		return ret;

	call->accepted = post.accepted;
	call->error = ret;
	return krdma_ucmd_inform(ucmd);
}

/**
 * krdma_user_ring_post() - Handle KRDMA_RING_POST
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_ring.h>.
 */
int krdma_user_ring_post(struct krdma_ucmd *ucmd)
{
	return krdma_user_post_array(ucmd, ucmd->ring, NULL);
}

/**
 * krdma_user_srq_post() - Handle KRDMA_SRQ_POST
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_ring.h>.
 */
int krdma_user_srq_post(struct krdma_ucmd *ucmd)
{
	return krdma_user_post_array(ucmd, ucmd->srq->ring, ucmd->srq);
}
