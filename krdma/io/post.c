// SPDX-License-Identifier: GPL-2.0
/*
 * Posting sends: convert the consumer's work requests to those of the device.
 *
 * A work request takes a WQE for each part that it is split into, and is accepted if that many are
 * free.  The parts of many work requests go to the device in lists.  Nothing here sleeps,
 * allocates, or calls the consumer.
 *
 * An unsignaled work request returns its WQE with the next signaled one.  So that there always is
 * one, a work request is signaled, to krdma only, after each half a queue of unsignaled ones.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "core/session.h"
#include "io/bounce.h"
#include "io/flat.h"
#include "io/post.h"
#include "io/qp.h"
#include "io/wq.h"
#include "io/wr.h"
#include "mr/mr.h"

static int krdma_send_post_list(struct krdma_wq *wq)
{
	union krdma_wr *wrs = wq->list.scratch->wrs;
	const struct ib_send_wr *bad = NULL;
	u32 count = wq->list.count;
	u32 taken;
	int ret;

	if (!count)
		return 0;

	krdma_wr_list_count_uses(wq);
	/* The other links were set when the work requests were built. */
	wrs[count - 1].send.next = NULL;
	ret = ib_post_send(wq->qp->ib, &wrs[0].send, &bad);
	if (!ret) {
		krdma_wr_list_accept(wq);
		return 0;
	}
	for (taken = 0; taken < count && &wrs[taken].send != bad; taken++)
		;
	/* A provider that does not report the failing work request has accepted none. */
	krdma_wr_list_account(wq, taken == count ? 0 : taken);
	return krdma_post_error(ret);
}

/*
 * The device refused a part in the middle of a work request.  The parts that it has do not
 * complete as a work request.  The work request counts as accepted, and the connection ends.
 */
static void krdma_send_partial(struct krdma_wq *wq)
{
	struct krdma_qp *qp = wq->qp;

	wq->open = false;
	qp->partial = true;
	qp->partial_wqe = *krdma_wq_wqe(wq, wq->tail - 1);
	wq->list.accepted++;
}

static bool krdma_sge_is_used(const struct krdma_send_wr *wr, u32 index)
{
	const struct krdma_sge *sge = &wr->sges[index];

	return sge->mr && sge->length && !(wr->flags & KRDMA_POST_INLINE);
}

/*
 * Memory without an MR is addressed by an lkey.  The local DMA lkey allows no remote write.  The
 * consumer is responsible for what another lkey allows.
 */
static bool krdma_send_key_is_local(const struct krdma_qp *qp, u32 access, u32 key)
{
	return (access & KRDMA_ACCESS_REMOTE_WRITE) && key == qp->pd->ib->local_dma_lkey;
}

/* Builds the SGEs for the device.  Returns their number, or a negative errno. */
static int krdma_send_sges(struct krdma_wq *wq, const struct krdma_op *op,
			   const struct krdma_send_wr *wr, u64 *length)
{
	struct krdma_wr_scratch *scratch = wq->list.scratch;
	u32 access = krdma_send_access(wq->qp, op);
	const struct krdma_sge *sge;
	u32 count = 0;
	int ret;
	u32 i;

	*length = 0;
	if (wr->sge_count > KRDMA_WR_SGES)
		return -EMSGSIZE;

	for (i = 0; i < wr->sge_count; i++) {
		sge = &wr->sges[i];
		*length += sge->length;
		if (sge->length && count == KRDMA_WR_SGES) {
			ret = -EMSGSIZE;
			goto err;
		}
		if (krdma_sge_is_used(wr, i)) {
			ret = krdma_mr_begin_use(sge->mr, wq->qp->pd, sge->addr,
						 sge->length, access, &scratch->wr_sges[count],
						 KRDMA_WR_SGES - count);
			if (ret < 0)
				goto err;
			count += ret;
		} else if (sge->length) {
			ret = -EOPNOTSUPP;
			if (krdma_send_key_is_local(wq->qp, access, sge->key))
				goto err;
			scratch->wr_sges[count++] = (struct ib_sge) {
				.addr = sge->addr, .length = sge->length, .lkey = sge->key,
			};
		}
		scratch->sge_ends[i] = count;
	}
	return count;

err:
	while (i--)
		if (krdma_sge_is_used(wr, i))
			krdma_mr_end_use(wr->sges[i].mr);
	return ret;
}

/* A WQE keeps the MRs of which the last byte is in its part. */
static void krdma_send_keep_mrs(struct krdma_wq *wq,
				const struct krdma_send_wr *wr, u32 *next_sge,
				u32 used_sges)
{
	struct krdma_wqe *wqe = krdma_wq_wqe(wq, wq->tail);
	struct krdma_mr **mrs = krdma_wq_mrs(wq, wq->tail);

	wqe->mr_count = 0;
	for (; *next_sge < wr->sge_count; (*next_sge)++) {
		if (wq->list.scratch->sge_ends[*next_sge] > used_sges)
			break;
		if (krdma_sge_is_used(wr, *next_sge))
			mrs[wqe->mr_count++] = wr->sges[*next_sge].mr;
	}
}

static void krdma_send_forget_mrs(const struct krdma_send_wr *wr, u32 next_sge)
{
	for (; next_sge < wr->sge_count; next_sge++)
		if (krdma_sge_is_used(wr, next_sge))
			krdma_mr_end_use(wr->sges[next_sge].mr);
}

/* The device refused a part, and the rest of the work request is not built. */
static void krdma_send_commit_mrs(struct krdma_wq *wq,
				  const struct krdma_send_wr *wr, u32 next_sge)
{
	for (; next_sge < wr->sge_count; next_sge++) {
		if (!krdma_sge_is_used(wr, next_sge))
			continue;
		if (wq->list.open_parts)
			krdma_partial_keep(wq->qp, wr->sges[next_sge].mr);
		else
			krdma_mr_end_use(wr->sges[next_sge].mr);
	}
}

/*
 * The credits of unsignaled work requests come back with the next signaled one.  If that needs
 * some of them itself, it would have to wait for ever.  After a refusal of the device, @batch is
 * not their number.
 */
static u32 krdma_send_parts_max(const struct krdma_wq *wq)
{
	u32 taken = wq->credits.depth - krdma_credits_left(&wq->credits);

	return wq->credits.depth - min3(wq->batch, krdma_send_unsignaled_max(wq), taken);
}

/* Does the device not accept inline data of this length with the operation? */
static bool krdma_send_bounces(const struct krdma_qp *qp, const struct krdma_op *op, u64 length)
{
	return length > qp->device_inline ||
	       (op->last == IB_WR_SEND_WITH_INV && !qp->inlines_invalidate);
}

/* Builds one part in the WQE at the tail and at the end of the list. */
static void krdma_send_build(struct krdma_wq *wq, const struct krdma_op *op,
			     const struct krdma_send_wr *wr, u32 length,
			     const struct krdma_wr_part *part,
			     const struct ib_sge *ib_sges, bool last)
{
	struct krdma_qp *qp = wq->qp;
	struct krdma_wqe *wqe = krdma_wq_wqe(wq, wq->tail);
	struct krdma_wr_scratch *scratch = wq->list.scratch;
	union krdma_wr *ib_wr = &scratch->wrs[wq->list.count];
	struct ib_sge *sges = &scratch->sges[wq->list.sges];
	bool unsignaled = wr->flags & KRDMA_POST_UNSIGNALED;
	u32 count = part->count;

	memcpy(sges, ib_sges, count * sizeof(*sges));
	/* No other SGE is of length 0: to most devices that is one of 2 GiB. */
	if (!count && op->last == IB_WR_RDMA_READ && qp->empty_read > 0)
		sges[count++] = (struct ib_sge) { .lkey = qp->pd->ib->local_dma_lkey };
	wq->list.sges += count;

	krdma_op_fill(op, wr, part, last, ib_wr);
	/* The data is copied to the bounce buffer instead. */
	if (krdma_send_bounces(qp, op, length))
		ib_wr->send.send_flags &= ~IB_SEND_INLINE;
	if (op->last == IB_WR_RDMA_READ && !qp->fences_reads)
		ib_wr->send.send_flags &= ~IB_SEND_FENCE;
	ib_wr->send.wr_cqe = &wqe->cqe;
	ib_wr->send.next = &(ib_wr + 1)->send;
	ib_wr->send.sg_list = count ? sges : (struct ib_sge *)&krdma_no_sge;
	ib_wr->send.num_sge = count;

	wqe->wr_id = wr->wr_id;
	wqe->length = length;
	wqe->opcode = wr->opcode;
	wqe->flags = (last ? KRDMA_WQE_LAST : 0) | (unsignaled ? KRDMA_WQE_UNSIGNALED : 0);
	if (krdma_send_is_signaled(wq, unsignaled || !last))
		ib_wr->send.send_flags |= IB_SEND_SIGNALED;
}

/* Local memory for an operation that brings none: the 8 bytes of the WQE at the tail. */
static u32 krdma_send_sink(struct krdma_wq *wq, const struct krdma_op *op)
{
	struct krdma_qp *qp = wq->qp;

	wq->list.scratch->wr_sges[0] = (struct ib_sge) {
		.addr = krdma_wqe_memory_dma(&qp->sink, wq->tail & wq->mask),
		.length = op->scratch_length,
		.lkey = qp->pd->ib->local_dma_lkey,
	};
	return 1;
}

/* The WQE is taken, so its 8 bytes can be written, in CPU byte order. */
static void krdma_send_fill_sink(struct krdma_wq *wq, const struct krdma_op *op,
				 const struct krdma_send_wr *wr)
{
	struct krdma_qp *qp = wq->qp;
	u64 *word = krdma_wqe_memory_data(&qp->sink, wq->tail & wq->mask);

	if (op->last == IB_WR_RDMA_WRITE)
		*word = wr->operand;
	ib_dma_sync_single_for_device(qp->ib->device, wq->list.scratch->wr_sges[0].addr,
				      sizeof(u64), DMA_BIDIRECTIONAL);
}

/* Builds the parts of a work request for which credits have been taken. */
static int krdma_send_parts(struct krdma_wq *wq, const struct krdma_op *op,
			    const struct krdma_send_wr *wr, u32 length,
			    struct krdma_wr_split *split, u32 parts)
{
	struct ib_sge *ib_sges = wq->list.scratch->part_sges;
	struct krdma_wr_part part;
	u32 next_sge = 0;
	int ret;

	while (parts--) {
		krdma_wr_split_next(split, ib_sges, &part);
		if (!krdma_wr_list_fits(&wq->list, part.count)) {
			ret = krdma_send_post_list(wq);
			if (ret) {
				krdma_send_commit_mrs(wq, wr, next_sge);
				return ret;
			}
		}
		krdma_send_keep_mrs(wq, wr, &next_sge,
				    parts ? split->index : KRDMA_WR_SGES);
		krdma_send_build(wq, op, wr, length, &part, ib_sges, !parts);
		krdma_wqe_commit(wq, !parts);
	}
	return 0;
}

/* Posts any work request, in as many parts as it needs. */
static int krdma_send_any(struct krdma_wq *wq, const struct krdma_op *op,
			  const struct krdma_send_wr *wr)
{
	const struct ib_sge *all = wq->list.scratch->wr_sges;
	struct krdma_qp *qp = wq->qp;
	struct krdma_wr_split split;
	int count = 0;
	u64 length = 0;
	u64 parts;
	u32 max_sge;
	int ret;

	if (op->traits & KRDMA_OP_SCRATCH)
		count = krdma_send_sink(wq, op);
	else
		count = krdma_send_sges(wq, op, wr, &length);
	if (count < 0)
		return count;

	ret = krdma_op_check_length(op, wr, length);
	if (ret)
		goto err;
	if (!count && op->last == IB_WR_RDMA_READ && qp->empty_read < 0) {
		ret = qp->empty_read;
		goto err;
	}

	max_sge = op->traits & KRDMA_OP_READS ? qp->max_read_sge : wq->max_sge;
	parts = krdma_wr_split_count(all, count, max_sge, qp->max_message);
	if (parts > (op->traits & KRDMA_OP_SPLITS ? krdma_send_parts_max(wq) : 1) ||
	    ((wr->flags & KRDMA_POST_INLINE) && (parts > 1 || length > qp->max_inline))) {
		ret = -EMSGSIZE;
		goto err;
	}
	if (!krdma_credits_take(&wq->credits, parts)) {
		ret = -EAGAIN;
		goto err;
	}
	if (op->traits & KRDMA_OP_SCRATCH)
		krdma_send_fill_sink(wq, op, wr);
	/* Without data there is nothing to copy. */
	if ((wr->flags & KRDMA_POST_INLINE) && length && krdma_send_bounces(qp, op, length)) {
		krdma_bounce_copy(wq, wr, wq->list.scratch->wr_sges);
		count = 1;
	}
	ret = krdma_wr_split_init(&split, all, count, max_sge, qp->max_message);
	if (WARN_ON_ONCE(ret)) {
		krdma_credits_untake(&wq->credits, parts);
		goto err;
	}
	/* An atomic write has no SGEs. */
	if (op->traits & KRDMA_OP_EIGHT)
		length = sizeof(u64);
	return krdma_send_parts(wq, op, wr, length, &split, parts);

err:
	if (!(op->traits & KRDMA_OP_SCRATCH))
		krdma_send_forget_mrs(wr, 0);
	return ret;
}

/*
 * Most work requests have one SGE, fit in one part, and are correct.  These take the fast path.
 * All others, and every error except one of the memory, are left to krdma_send_any(), which finds
 * the errno.
 */
static bool krdma_send_is_fast(const struct krdma_qp *qp, const struct krdma_op *op,
			       const struct krdma_send_wr *wr, u32 flags, u32 length)
{
	if (unlikely(flags)) {
		if ((flags & ~op->post_flags) ||
		    ((flags & KRDMA_POST_INLINE) && length > qp->device_inline))
			return false;
	}
	/* Also true if the length is 0. */
	if (length - 1 >= qp->max_message)
		return false;
	if ((op->traits & KRDMA_OP_EIGHT) &&
	    (length != 8 || !IS_ALIGNED(wr->remote_addr, 8)))
		return false;
	return !(op->traits & KRDMA_OP_REMOTE) ||
	       wr->remote_addr + (length - 1) >= wr->remote_addr;
}

/*
 * Does what krdma_op_fill() does, for forms other than KRDMA_FORM_OTHER, and sets the WQE's
 * flags.
 */
static void krdma_send_fill_fast(struct krdma_wq *wq, const struct krdma_op *op,
				 const struct krdma_send_wr *wr, u32 flags,
				 struct krdma_wqe *wqe, union krdma_wr *ib_wr)
{
	u32 send_flags = op->send_flags | IB_SEND_SIGNALED;
	u8 slot_flags = KRDMA_WQE_LAST;

	if (likely(!flags)) {
		wq->batch = 0;
	} else {
		if (flags & KRDMA_POST_FENCE)
			send_flags |= IB_SEND_FENCE;
		if (flags & KRDMA_POST_SOLICITED)
			send_flags |= IB_SEND_SOLICITED;
		if (flags & KRDMA_POST_INLINE)
			send_flags |= IB_SEND_INLINE;
		if (flags & KRDMA_POST_UNSIGNALED)
			slot_flags |= KRDMA_WQE_UNSIGNALED;
		if (!krdma_send_is_signaled(wq, flags & KRDMA_POST_UNSIGNALED))
			send_flags &= ~IB_SEND_SIGNALED;
	}
	wqe->flags = slot_flags;
	ib_wr->send.opcode = op->last;
	ib_wr->send.send_flags = send_flags;
	ib_wr->send.ex.imm_data = 0;

	if (likely(op->form == KRDMA_FORM_RDMA)) {
		ib_wr->rdma.remote_addr = wr->remote_addr;
		ib_wr->rdma.rkey = wr->rkey;
	} else if (op->form == KRDMA_FORM_ATOMIC) {
		ib_wr->atomic.remote_addr = wr->remote_addr;
		ib_wr->atomic.rkey = wr->rkey;
		ib_wr->atomic.compare_add = wr->operand;
		ib_wr->atomic.swap = wr->swap;
		ib_wr->atomic.compare_add_mask = 0;
		ib_wr->atomic.swap_mask = 0;
	}
}

/* Returns -EMSGSIZE if the fast path cannot post it, because its memory needs several SGEs. */
static int krdma_send_fast(struct krdma_wq *wq, const struct krdma_op *op,
			   const struct krdma_send_wr *wr, u32 flags, u32 length)
{
	u32 access = krdma_send_access(wq->qp, op);
	const struct krdma_sge *sge = wr->sges;
	struct krdma_wr_scratch *scratch = wq->list.scratch;
	struct krdma_mr *used;
	struct ib_sge *to;
	struct krdma_wqe *wqe;
	union krdma_wr *ib_wr;
	u32 index;
	int ret;

	if (unlikely(wq->list.count == KRDMA_WR_LIST_MAX)) {
		ret = krdma_send_post_list(wq);
		if (ret)
			return ret;
	}
	to = &scratch->sges[wq->list.sges];
	used = likely(!flags) || !(flags & KRDMA_POST_INLINE) ? sge->mr : NULL;
	if (unlikely(!used)) {
		if (unlikely(krdma_send_key_is_local(wq->qp, access, sge->key)))
			return -EOPNOTSUPP;
		to->addr = sge->addr;
		to->length = length;
		to->lkey = sge->key;
	} else {
		ret = krdma_wr_list_use(wq, used, sge->addr, length, access, to);
		if (unlikely(ret))
			return ret;
	}
	if (!krdma_credits_take(&wq->credits, 1)) {
		if (used)
			krdma_wr_list_unuse(wq, used);
		return -EAGAIN;
	}

	/*
	 * The compiler must assume that these writes alias the work queue, so read each member
	 * once.
	 */
	index = wq->tail & wq->mask;
	wqe = &wq->wqes[index];
	wqe->wr_id = wr->wr_id;
	wqe->length = length;
	wqe->opcode = wr->opcode;
	wqe->mr_count = 0;
	if (likely(used)) {
		wqe->mr_count = 1;
		wq->mrs[index * wq->max_sge] = used;
	}

	ib_wr = &scratch->wrs[wq->list.count++];
	/* Compute the address once: the compiler would do so for each member. */
	OPTIMIZER_HIDE_VAR(ib_wr);
	ib_wr->send.next = &(ib_wr + 1)->send;
	ib_wr->send.wr_cqe = &wqe->cqe;
	ib_wr->send.sg_list = (struct ib_sge *)to;
	ib_wr->send.num_sge = 1;
	wq->list.sges++;
	krdma_send_fill_fast(wq, op, wr, flags, wqe, ib_wr);
	/* Pairs with the acquire in krdma_wq_outstanding(). */
	smp_store_release(&wq->tail, wq->tail + 1);
	return 0;
}

/*
 * The usual work requests: of a plain operation, with one SGE, not inline, and correct.  The SGE of
 * a ring's entry is in an MR; a consumer in the kernel may have mapped the memory itself.  All
 * others, and every error, are left to krdma_send_one(), which posts them or finds the errno.
 */

/**
 * struct krdma_usual - the usual work requests of a call
 * @wrs: those of a consumer in the kernel, or NULL
 * @post: those of a ring, or NULL
 * @mr: MR of the last work request in the list: a use of it cannot end before the device has the
 *	list; NULL: none
 * @mr_id: number of @mr, of a ring
 * @uses: further uses of @mr, not yet counted in the MR
 * @head: first members of the last work request, which are good
 * @op: its operation; NULL: there was none
 * @access: &enum krdma_access that it needs of its local memory
 * @flags: its &enum krdma_post_flags
 * @kind: its &struct krdma_wqe.kind
 * @send_flags: &enum ib_send_flags of a signaled one
 */
struct krdma_usual {
	const struct krdma_send_wr *wrs;
	struct krdma_flat_post *post;
	struct krdma_mr *mr;
	u32 mr_id;
	int uses;
	u64 head;
	const struct krdma_op *op;
	u32 access;
	u32 flags;
	u32 kind;
	u32 send_flags;
};

/* The next work request uses another MR, or has to check the rights of this one. */
static void krdma_usual_leave(struct krdma_usual *usual)
{
	if (usual->uses)
		krdma_mr_use_more(usual->mr, usual->uses);
	usual->uses = 0;
	usual->mr = NULL;
}

/* The first members differ from those of the last work request.  False if they are not usual. */
static noinline bool krdma_usual_begin(struct krdma_qp *qp, struct krdma_usual *usual,
				       u32 opcode, u32 flags, u32 sge_count)
{
	const struct krdma_op *op;
	u32 access;

	static_assert(KRDMA_OPS <= KRDMA_OPS_SIZE);
	if (sge_count != 1 || opcode >= KRDMA_OPS || !(qp->fast_ops & BIT(opcode)))
		return false;
	op = &krdma_ops[opcode % KRDMA_OPS_SIZE];
	if (flags & ~(op->post_flags & ~KRDMA_POST_INLINE))
		return false;
	access = krdma_send_access(qp, op);
	/* The rights of an MR are checked once for an operation. */
	if (usual->mr && (access & ~usual->mr->access))
		krdma_usual_leave(usual);

	usual->op = op;
	usual->access = access;
	usual->flags = flags;
	usual->kind = KRDMA_WQE_KIND(opcode, KRDMA_WQE_LAST, 1);
	if (flags & KRDMA_POST_UNSIGNALED)
		usual->kind |= KRDMA_WQE_KIND(0, KRDMA_WQE_UNSIGNALED, 0);
	usual->send_flags = op->send_flags | IB_SEND_SIGNALED |
			    (flags & KRDMA_POST_FENCE ? IB_SEND_FENCE : 0) |
			    (flags & KRDMA_POST_SOLICITED ? IB_SEND_SOLICITED : 0);
	return true;
}

/* The MR differs from that of the last work request.  False if it cannot be used as usual. */
static noinline bool krdma_usual_use(struct krdma_usual *usual, struct krdma_pd *pd,
				     struct krdma_mr *mr, u64 addr, u32 length,
				     struct ib_sge *to)
{
	if (!mr)
		return false;
	krdma_usual_leave(usual);
	if (!krdma_mr_use_fast(mr, pd, addr, length, usual->access, to))
		return false;
	usual->mr = mr;
	return true;
}

/* Memory that the consumer has mapped itself.  False if its lkey does not allow the operation. */
static __always_inline bool krdma_usual_mapped(const struct krdma_qp *qp, u32 access,
					       const struct krdma_sge *sge, struct ib_sge *to)
{
	if (unlikely(krdma_send_key_is_local(qp, access, sge->key)))
		return false;
	to->addr = sge->addr;
	to->length = sge->length;
	to->lkey = sge->key;
	return true;
}

/* The MR with a number, which differs from that of the last work request. */
static noinline struct krdma_mr *krdma_usual_find(struct krdma_flat_post *post, u32 id)
{
	if (id != post->mr_id) {
		post->mr_id = id;
		post->mr = id ? post->find(post->context, id) : NULL;
	}
	return post->mr;
}

/* What a message or an atomic has besides its SGE.  False if it is no valid atomic. */
static noinline bool krdma_usual_fill(const struct krdma_op *op, u64 remote_addr, u32 rkey,
				      u64 operand, u64 swap, u32 length, union krdma_wr *ib_wr)
{
	if (op->form == KRDMA_FORM_MESSAGE)
		return true;
	if (length != 8 || !IS_ALIGNED(remote_addr, 8))
		return false;
	ib_wr->atomic.remote_addr = remote_addr;
	ib_wr->atomic.rkey = rkey;
	ib_wr->atomic.compare_add = operand;
	ib_wr->atomic.swap = swap;
	ib_wr->atomic.compare_add_mask = 0;
	ib_wr->atomic.swap_mask = 0;
	return true;
}

/* The same for an entry of a ring, in which members that are not used must be 0. */
static noinline bool krdma_usual_fill_flat(const struct krdma_op *op,
					   const struct krdma_flat_wr *wr, u32 length,
					   union krdma_wr *ib_wr)
{
	u64 remote_addr = READ_ONCE(wr->remote_addr);
	u32 rkey = READ_ONCE(wr->rkey);
	u32 imm = READ_ONCE(wr->imm);
	u64 operand = READ_ONCE(wr->operand);
	u64 swap = READ_ONCE(wr->swap);

	if (op->form == KRDMA_FORM_MESSAGE && (remote_addr | rkey | operand))
		return false;
	if (imm || (swap && op->last != IB_WR_ATOMIC_CMP_AND_SWP))
		return false;
	return krdma_usual_fill(op, remote_addr, rkey, operand, swap, length, ib_wr);
}

/*
 * The first members of a consumer's work request, as &union krdma_flat_head: the same three
 * members, read as one word.
 */
static __always_inline u64 krdma_usual_head(const struct krdma_send_wr *wr)
{
	union krdma_flat_head head = { .word = 0 };

	static_assert(offsetof(struct krdma_send_wr, opcode) == sizeof(u64));
	static_assert(offsetof(union krdma_flat_head, flags) ==
		      offsetof(struct krdma_send_wr, flags) - sizeof(u64));
	static_assert(offsetof(union krdma_flat_head, sge_count) ==
		      offsetof(struct krdma_send_wr, sge_count) - sizeof(u64));
	head.first = ((const u32 *)wr)[2];
	return head.word;
}

/* Of that many work requests, as many as there is room for in the list, and credits. */
static __always_inline u32 krdma_usual_max(const struct krdma_wq *wq, u32 count)
{
	return min3(count, (u32)KRDMA_WR_LIST_MAX - wq->list.count,
		    krdma_credits_left(&wq->credits));
}

/*
 * Appends at most @count work requests to the list, which has room for them, and for which there
 * are credits.  Stops before the first one that is not usual, and leaves no trace of it.  Returns
 * the number of those appended.
 */
static __always_inline u32 krdma_usual_build(struct krdma_wq *wq, struct krdma_usual *call,
					     u32 count, const bool ring)
{
	union krdma_wr *ib_wr = &wq->list.scratch->wrs[wq->list.count];
	struct ib_sge *to = &wq->list.scratch->sges[wq->list.sges];
	struct krdma_usual usual = {
		.mr = wq->list.mr,
		.uses = wq->list.uses,
		/* Of a consumer's work request, the upper half is 0. */
		.head = U64_MAX,
	};
	const struct krdma_flat_wr *flat = NULL;
	const struct krdma_send_wr *wr = call->wrs;
	struct krdma_flat_post *post = call->post;
	const u32 max_message = wq->qp->max_message;
	u32 tail = wq->tail;
	struct krdma_wqe *wqe;
	struct krdma_mr *mr;
	u32 length, index;
	u64 word, addr;
	u32 built;

	for (built = 0; built < count; built++, tail++, ib_wr++, to++, wr++) {
		if (ring) {
			flat = &post->wrs[(post->index + built) & post->mask];
			word = READ_ONCE(flat->head.word);
		} else {
			word = krdma_usual_head(wr);
		}
		if (unlikely(word != usual.head || (ring && !usual.op))) {
			union krdma_flat_head head = { .word = word };

			if (ring && head.dest != post->dest)
				break;
			if (!krdma_usual_begin(wq->qp, &usual, head.opcode, head.flags,
					       head.sge_count))
				break;
			usual.head = word;
		}
		length = ring ? READ_ONCE(flat->length) : wr->sges->length;
		/* Also true if the length is 0. */
		if (unlikely(length - 1 >= max_message))
			break;
		if (likely(usual.op->form == KRDMA_FORM_RDMA)) {
			addr = ring ? READ_ONCE(flat->remote_addr) : wr->remote_addr;
			if (unlikely(addr + (length - 1) < addr))
				break;
			ib_wr->rdma.remote_addr = addr;
			ib_wr->rdma.rkey = ring ? READ_ONCE(flat->rkey) : wr->rkey;
			if (ring && unlikely(READ_ONCE(flat->imm) | READ_ONCE(flat->operand) |
					     READ_ONCE(flat->swap)))
				break;
		} else if (ring) {
			if (!krdma_usual_fill_flat(usual.op, flat, length, ib_wr))
				break;
		} else if (!krdma_usual_fill(usual.op, wr->remote_addr, wr->rkey, wr->operand,
					     wr->swap, length, ib_wr)) {
			break;
		}
		if (ring) {
			index = READ_ONCE(flat->mr);
			mr = usual.mr;
			if (unlikely(index != usual.mr_id || !mr)) {
				mr = krdma_usual_find(post, index);
				usual.mr_id = index;
			}
			addr = READ_ONCE(flat->addr);
		} else {
			mr = wr->sges->mr;
			addr = wr->sges->addr;
		}
		if (likely(mr == usual.mr && mr)) {
			/* The rights were checked with the operation, or with the MR. */
			if (unlikely(!krdma_mr_point_to(mr, addr, length, 0, to)))
				break;
			usual.uses++;
		} else if (!ring && !mr) {
			if (unlikely(!krdma_usual_mapped(wq->qp, usual.access, wr->sges, to)))
				break;
		} else if (unlikely(!krdma_usual_use(&usual, wq->qp->pd, mr, addr, length, to))) {
			break;
		}

		index = tail & wq->mask;
		wqe = &wq->wqes[index];
		wqe->wr_id = ring ? READ_ONCE(flat->wr_id) : wr->wr_id;
		wqe->length = length;
		wqe->kind = usual.kind;
		if (!ring && !mr)
			wqe->mr_count = 0;
		wq->mrs[index * wq->max_sge] = mr;

		ib_wr->send.next = &(ib_wr + 1)->send;
		ib_wr->send.wr_cqe = &wqe->cqe;
		ib_wr->send.sg_list = to;
		ib_wr->send.num_sge = 1;
		ib_wr->send.opcode = usual.op->last;
		ib_wr->send.send_flags = usual.send_flags;
		ib_wr->send.ex.imm_data = 0;
		if (unlikely(usual.flags & KRDMA_POST_UNSIGNALED) &&
		    !krdma_send_is_signaled(wq, true))
			ib_wr->send.send_flags &= ~IB_SEND_SIGNALED;
		else
			wq->batch = 0;
	}
	wq->list.count += built;
	wq->list.sges += built;
	wq->list.mr = usual.mr;
	wq->list.uses = usual.uses;
	wq->credits.taken += built;
	/* Pairs with the acquire in krdma_wq_outstanding(). */
	smp_store_release(&wq->tail, tail);
	return built;
}

static int krdma_send_one(struct krdma_wq *wq, const struct krdma_send_wr *wr)
{
	struct krdma_qp *qp = wq->qp;
	const struct krdma_op *op;
	u32 flags, length;
	int ret;

	if (likely(wr->opcode < KRDMA_OPS && (qp->fast_ops & BIT(wr->opcode)) &&
		   wr->sge_count == 1)) {
		op = &krdma_ops[wr->opcode];
		OPTIMIZER_HIDE_VAR(op);
		flags = wr->flags;
		length = wr->sges->length;
		if (likely(krdma_send_is_fast(qp, op, wr, flags, length))) {
			ret = krdma_send_fast(wq, op, wr, flags, length);
			if (ret != -EMSGSIZE)
				return ret;
		}
	}
	op = krdma_op_find(wr, qp->caps);
	return IS_ERR(op) ? PTR_ERR(op) : krdma_send_any(wq, op, wr);
}

/*
 * A usual work request that is posted alone.  It needs no list, and nothing that a list has.
 */

/* &enum ib_send_flags of a signaled one with such flags; negative: they are not usual. */
static noinline int krdma_lone_flags(const struct krdma_op *op, u32 flags)
{
	if (flags & ~(op->post_flags & ~KRDMA_POST_INLINE))
		return -EINVAL;
	return op->send_flags | IB_SEND_SIGNALED |
	       (flags & KRDMA_POST_FENCE ? IB_SEND_FENCE : 0) |
	       (flags & KRDMA_POST_SOLICITED ? IB_SEND_SOLICITED : 0);
}

/**
 * krdma_lone_refused() - Undo the post of a work request that needed no list
 * @wq: the SQ; the caller holds its lock.  The work request is in the last WQE, and has one credit
 * @error: errno of the provider, which has refused it
 *
 * Context: any but NMI.
 * Return: the errno for the consumer.
 */
noinline int krdma_lone_refused(struct krdma_wq *wq, int error)
{
	wq->list.open_parts = 0;
	wq->list.count = 1;
	krdma_wr_list_account(wq, 0);
	krdma_credits_untake(&wq->credits, 1);
	return krdma_post_error(error);
}

/*
 * Posts a work request if it is usual: @wr, or for a ring the next one of @post.  Returns 1; 0 if
 * it is not usual, and nothing was done; or a negative errno.
 */
static __always_inline int krdma_lone_post(struct krdma_qp *qp, const struct krdma_send_wr *wr,
					   struct krdma_flat_post *post, const bool ring)
{
	const union krdma_flat_head usual = { .sge_count = 1 };
	const union krdma_flat_head ignored = { .opcode = U8_MAX, .dest = U32_MAX };
	const struct krdma_flat_wr *flat = NULL;
	struct krdma_wr_scratch *scratch;
	struct krdma_wq *wq = &qp->send;
	const struct ib_send_wr **bad;
	const struct krdma_sge *sge;
	const struct krdma_op *op;
	union krdma_flat_head head;
	union krdma_wr *ib_wr;
	struct krdma_wqe *wqe;
	struct krdma_mr *mr;
	u32 length, index;
	int send_flags;
	int ret = 0;
	bool used;
	u32 access;
	u32 tail;
	u64 addr;

	if (ring) {
		flat = &post->wrs[post->index & post->mask];
		head.word = READ_ONCE(flat->head.word);
		if (head.dest != post->dest)
			return 0;
	} else {
		head.word = krdma_usual_head(wr);
	}
	if (unlikely(head.opcode >= KRDMA_OPS || !(qp->fast_ops & BIT(head.opcode))))
		return 0;
	op = &krdma_ops[head.opcode % KRDMA_OPS_SIZE];
	/* Compute the address once: the compiler would do so for each member. */
	OPTIMIZER_HIDE_VAR(op);
	send_flags = op->send_flags | IB_SEND_SIGNALED;
	if (unlikely((head.word & ~ignored.word) != usual.word)) {
		if (head.sge_count != 1)
			return 0;
		send_flags = krdma_lone_flags(op, head.flags);
		if (send_flags < 0)
			return 0;
	}
	sge = ring ? NULL : wr->sges;
	length = ring ? READ_ONCE(flat->length) : sge->length;
	mr = ring ? krdma_usual_find(post, READ_ONCE(flat->mr)) : sge->mr;
	/* The length is also refused here if it is 0. */
	if (unlikely(length - 1 >= qp->max_message || (ring && !mr) ||
		     !krdma_credits_left(&wq->credits)))
		return 0;

	krdma_wr_scratch_enter();
	scratch = this_cpu_ptr(krdma_wr_scratches);
	ib_wr = &scratch->lone;
	if (likely(op->form == KRDMA_FORM_RDMA)) {
		addr = ring ? READ_ONCE(flat->remote_addr) : wr->remote_addr;
		if (unlikely(addr + (length - 1) < addr))
			goto out;
		ib_wr->rdma.remote_addr = addr;
		ib_wr->rdma.rkey = ring ? READ_ONCE(flat->rkey) : wr->rkey;
		if (ring && unlikely(READ_ONCE(flat->imm) | READ_ONCE(flat->operand) |
				     READ_ONCE(flat->swap)))
			goto out;
	} else if (ring) {
		if (!krdma_usual_fill_flat(op, flat, length, ib_wr))
			goto out;
	} else if (!krdma_usual_fill(op, wr->remote_addr, wr->rkey, wr->operand, wr->swap,
				     length, ib_wr)) {
		goto out;
	}
	addr = ring ? READ_ONCE(flat->addr) : sge->addr;
	/* Most operations only read local memory, for which every MR has the right. */
	access = krdma_send_access(qp, op);
	if (likely(mr))
		used = !(access & ~mr->access) &&
		       krdma_mr_use_fast(mr, qp->pd, addr, length, 0, &scratch->lone_sge);
	else
		used = krdma_usual_mapped(qp, access, sge, &scratch->lone_sge);
	if (unlikely(!used))
		goto out;

	/*
	 * The compiler must assume that these writes alias the work queue, so read each member
	 * once.
	 */
	tail = wq->tail;
	index = tail & wq->mask;
	wqe = &wq->wqes[index];
	wqe->wr_id = ring ? READ_ONCE(flat->wr_id) : wr->wr_id;
	wqe->length = length;
	wqe->kind = KRDMA_WQE_KIND(0, KRDMA_WQE_LAST, 1);
	wqe->opcode = head.opcode;
	if (!mr)
		wqe->mr_count = 0;
	wq->mrs[index * wq->max_sge] = mr;
	if (likely(!(head.flags & KRDMA_POST_UNSIGNALED))) {
		wq->batch = 0;
	} else {
		wqe->flags |= KRDMA_WQE_UNSIGNALED;
		if (!krdma_send_is_signaled(wq, true))
			send_flags &= ~IB_SEND_SIGNALED;
	}
	wq->credits.taken++;

	/* All others have been set once: see struct krdma_wr_scratch. */
	ib_wr->send.wr_cqe = &wqe->cqe;
	ib_wr->send.opcode = op->last;
	ib_wr->send.send_flags = send_flags;
	/* Pairs with the acquire in krdma_wq_outstanding(). */
	smp_store_release(&wq->tail, tail + 1);
	bad = &scratch->bad;
	/* Otherwise ib_post_send() would have one on the stack, which is cleared and guarded. */
	if (!bad)
		__builtin_unreachable();
	ret = ib_post_send(qp->ib, &ib_wr->send, bad);
	if (likely(!ret)) {
		WRITE_ONCE(wq->posted, wq->posted + 1);
		ret = 1;
	} else {
		ret = krdma_lone_refused(wq, ret);
	}
out:
	krdma_wr_scratch_unlock();
	return ret;
}

/* Posts any work requests, at least one.  Returns as krdma_qp_post_send(). */
static noinline int krdma_send_post(struct krdma_qp *qp, const struct krdma_send_wr *wrs,
				    int count)
{
	struct krdma_usual usual = { .wrs = wrs };
	struct krdma_wq *wq = &qp->send;
	int ret = 0;
	int sent;
	u32 built;

	if (!wq->open)
		return -ENOTCONN;
	krdma_wr_scratch_lock(wq);
	wq->list.accepted = 0;
	wq->list.open_parts = 0;
	do {
		/* It pays from the second work request on. */
		if (count > 1) {
			built = krdma_usual_build(wq, &usual, krdma_usual_max(wq, count),
						  false);
			usual.wrs += built;
			count -= built;
			if (built)
				continue;
		}
		ret = krdma_send_one(wq, usual.wrs++);
		count--;
	} while (count && !ret);
	/* Also posts what was built before a work request that cannot be built. */
	sent = krdma_send_post_list(wq);
	krdma_wr_scratch_unlock();
	ret = ret ?: sent;
	/* Return the credits of parts that were not built, or not accepted. */
	krdma_credits_untake(&wq->credits, wq->credits.taken - wq->tail);
	if (wq->list.open_parts)
		krdma_send_partial(wq);
	WRITE_ONCE(wq->posted, wq->posted + wq->list.accepted);
	return krdma_post_result(wq, ret);
}

/* After a post, without the lock of the SQ. */
static __always_inline int krdma_send_conclude(struct krdma_qp *qp, int ret, bool partial)
{
	/* What the device has a part of counts as accepted, and closes the SQ. */
	if (unlikely(partial))
		qp->owner->ops->failed(qp->owner, -EIO);
	/* The owner knows why the SQ is closed. */
	return unlikely(ret == -ENOTCONN) ? qp->owner->ops->refusal(qp->owner) : ret;
}

/**
 * krdma_qp_post_one() - Post a send work request
 * @qp: the QP
 * @wr: the work request; copied
 *
 * Context: as krdma_qp_post_send().
 * Return: as krdma_conn_post_send().
 */
int krdma_qp_post_one(struct krdma_qp *qp, const struct krdma_send_wr *wr)
{
	struct krdma_wq *wq = &qp->send;
	bool partial = false;
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&wq->lock, flags);
	if (likely(wq->open))
		ret = krdma_lone_post(qp, wr, NULL, false);
	if (unlikely(!ret)) {
		ret = krdma_send_post(qp, wr, 1);
		partial = ret > 0 && qp->partial;
	}
	spin_unlock_irqrestore(&wq->lock, flags);
	return krdma_send_conclude(qp, ret, partial);
}

/**
 * krdma_qp_post_send() - Post send work requests
 * @qp: the QP
 * @wrs: the work requests; copied
 * @count: number of work requests
 *
 * If the device accepts only a part of a work request, this reports to the owner that the QP has
 * failed.
 *
 * Context: any but NMI; does not sleep, does not call the consumer.
 * Return: as krdma_conn_post_send().
 */
int krdma_qp_post_send(struct krdma_qp *qp, const struct krdma_send_wr *wrs, int count)
{
	struct krdma_wq *wq = &qp->send;
	unsigned long flags;
	bool partial;
	int ret;

	if (count <= 0)
		return -EINVAL;
	spin_lock_irqsave(&wq->lock, flags);
	ret = krdma_send_post(qp, wrs, count);
	partial = ret > 0 && qp->partial;
	spin_unlock_irqrestore(&wq->lock, flags);
	return krdma_send_conclude(qp, ret, partial);
}

/*
 * Sends of a ring
 */

/* Posts several work requests.  Returns as krdma_qp_post_flat(). */
static noinline int krdma_send_post_flat(struct krdma_wq *wq, struct krdma_flat_post *post)
{
	struct krdma_usual usual = { .post = post };
	u32 left, count, built;
	int accepted;

	krdma_wr_scratch_lock(wq);
	wq->list.accepted = 0;
	wq->list.open_parts = 0;
	left = min(post->count, krdma_credits_left(&wq->credits));
	while (left) {
		count = min_t(u32, left, KRDMA_WR_LIST_MAX);
		built = krdma_usual_build(wq, &usual, count, true);
		post->index += built;
		left -= built;
		if (krdma_send_post_list(wq) || built < count)
			break;
	}
	krdma_wr_scratch_unlock();
	/* Return the credits of those that were not accepted. */
	krdma_credits_untake(&wq->credits, wq->credits.taken - wq->tail);
	accepted = wq->list.accepted;
	WRITE_ONCE(wq->posted, wq->posted + accepted);
	return accepted;
}

/**
 * krdma_qp_post_flat() - Post send work requests from a ring
 * @qp: the QP
 * @post: the work requests
 *
 * Takes those at the beginning that are usual, and that the device accepts.  The next one, if there
 * is one, is for krdma_qp_post_send(), which can post it or finds the errno.
 *
 * Context: any but NMI, under rcu_read_lock() or rcu_read_lock_bh(); does not sleep.
 * Return: number of accepted work requests.
 */
int krdma_qp_post_flat(struct krdma_qp *qp, struct krdma_flat_post *post)
{
	struct krdma_wq *wq = &qp->send;
	unsigned long flags;
	int accepted = 0;

	spin_lock_irqsave(&wq->lock, flags);
	if (unlikely(!wq->open))
		goto out_unlock;
	if (post->count == 1)
		accepted = krdma_lone_post(qp, NULL, post, true) > 0;
	else
		accepted = krdma_send_post_flat(wq, post);

out_unlock:
	spin_unlock_irqrestore(&wq->lock, flags);
	return accepted;
}
