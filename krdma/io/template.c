// SPDX-License-Identifier: GPL-2.0
/*
 * Templates: send work requests of which everything is checked once, but the place and the length.
 *
 * A template names an operation, a range of an MR and a range of the peer's memory.  Its creation
 * checks the operation, the rights, the keys and both ranges, and builds the device's work request.
 * A post compares offsets and length with the ranges, and sets four members of that work request.
 *
 * A post that the prepared work request cannot express is left to krdma_qp_post_one(), which posts
 * it or finds the errno: one of 0 bytes or of more than a message, one whose memory needs several
 * SGEs, and each one that has to be refused.
 *
 * The end of memory and of connections
 *
 * A template refers to the object of its MR, not to the memory.  It is no use of the MR: these are
 * the work requests in flight, each of which begins and ends one, as without a template.  So
 * krdma_mr_deregister() does not wait for a template, krdma_mr_end_users() finds the work requests
 * in their WQEs, and an MR that has been closed refuses the next post, because a use cannot begin.
 *
 * A template also refers to the owner of its QP, whose memory is freed later then, but which ends
 * at the same time.  The QP that has been closed refuses the next post.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "core/objects.h"
#include "core/session.h"
#include "io/op.h"
#include "io/post.h"
#include "io/qp.h"
#include "io/template.h"
#include "io/wq.h"
#include "io/wr.h"
#include "mr/mr.h"

/* Operations with an MR, of which nothing but place and length differs from post to post. */
#define KRDMA_TEMPLATE_OPS	(BIT(KRDMA_OP_SEND) | BIT(KRDMA_OP_SEND_IMM) | \
				 BIT(KRDMA_OP_WRITE) | BIT(KRDMA_OP_WRITE_IMM) | \
				 BIT(KRDMA_OP_READ) | BIT(KRDMA_OP_COMPARE_SWAP) | \
				 BIT(KRDMA_OP_FETCH_ADD))

/**
 * struct krdma_template_entry - a prepared work request of the device
 * @wr: the work request; its post sets wr_cqe, the remote address and the flags
 * @sge: its SGE; its post sets address and length
 *
 * Protected by the post lock.  The device has copied what it needs when the call that posts ends.
 */
struct krdma_template_entry {
	union krdma_wr wr;
	struct ib_sge sge;
};

/**
 * struct krdma_template - a template
 * @wq: the SQ where it is posted; its QP is kept by a reference to the owner
 * @mr: the MR of the local range, with a reference to the object
 * @least: the fewest bytes that the prepared work request can have; more than a post can have: none
 *	is posted so
 * @more: number of bytes that it can have beyond @least: not more than either range
 * @length: bytes of the local range
 * @remote_length: bytes of the remote range; without one it bounds nothing
 * @remote_mask: bits that the offset in the remote range must not have
 * @local: the device's address of the first byte of the local range
 * @remote_addr: the peer's address of the first byte of the remote range, or 0
 * @flags: &enum krdma_post_flags of each post
 * @quick_flags: those that the prepared work request can have
 * @kind: &struct krdma_wqe.kind
 * @send_flags: &enum ib_send_flags of a post without flags
 * @lone: for one that is posted alone
 * @bad: where the provider stores the work request that it refuses; protected by the post lock
 * @addr: the first address of the local range, in the MR's address space
 * @post_flags: flags that the operation allows
 * @remote: the operation has a remote range
 * @wr: the consumer's work request, without memory
 * @batch: number of @entries
 * @entries: for lists; each is linked to the next one
 */
struct krdma_template {
	struct krdma_wq *wq;
	struct krdma_mr *mr;
	u64 least;
	u64 more;
	u64 length;
	u64 remote_length;
	u64 remote_mask;
	u64 local;
	u64 remote_addr;
	u32 flags;
	u32 quick_flags;
	u32 kind;
	u32 send_flags;
	struct krdma_template_entry lone;
	const struct ib_send_wr *bad;
	u64 addr;
	u32 post_flags;
	bool remote;
	struct krdma_send_wr wr;
	u32 batch;
	struct krdma_template_entry entries[] __counted_by(batch);
};

/* For @least: no post has as many bytes. */
#define KRDMA_TEMPLATE_NEVER	(U32_MAX + 1ULL)

/*
 * Creation
 */

static int krdma_template_check(const struct krdma_template_attr *attr, u64 caps,
				const struct krdma_op *op)
{
	bool imm = attr->opcode == KRDMA_OP_SEND_IMM || attr->opcode == KRDMA_OP_WRITE_IMM;
	u64 end;

	if (op->caps & ~caps)
		return -EOPNOTSUPP;
	if (attr->flags & ~(op->post_flags & ~KRDMA_POST_INLINE))
		return -EINVAL;
	if (!attr->mr || !attr->length || (attr->imm && !imm))
		return -EINVAL;
	if (attr->swap && attr->opcode != KRDMA_OP_COMPARE_SWAP)
		return -EINVAL;
	if (attr->operand && op->form != KRDMA_FORM_ATOMIC)
		return -EINVAL;
	if (!(op->traits & KRDMA_OP_REMOTE))
		return attr->remote_addr || attr->remote_length || attr->rkey ? -EINVAL : 0;
	if (!attr->remote_length)
		return -EINVAL;
	if (check_add_overflow(attr->remote_addr, attr->remote_length - 1, &end))
		return -EOVERFLOW;
	if ((op->traits & KRDMA_OP_EIGHT) && !IS_ALIGNED(attr->remote_addr, 8))
		return -EINVAL;
	return 0;
}

/* The bounds of the prepared work request, if there can be one. */
static void krdma_template_set_bounds(struct krdma_template *template, const struct krdma_qp *qp,
				      const struct krdma_op *op)
{
	u64 most = min3((u64)qp->max_message, template->length, template->remote_length);

	template->least = op->traits & KRDMA_OP_EIGHT ? sizeof(u64) : 1;
	if (op->traits & KRDMA_OP_EIGHT)
		most = most < sizeof(u64) ? 0 : sizeof(u64);
	if (template->mr->fast_pd == qp->pd && most)
		template->more = most - template->least;
	else
		template->least = KRDMA_TEMPLATE_NEVER;

	template->quick_flags = template->post_flags;
	/* krdma_send_build() removes the fence. */
	if (op->last == IB_WR_RDMA_READ && !qp->fences_reads)
		template->quick_flags &= ~KRDMA_POST_FENCE;
}

static void krdma_template_fill(struct krdma_template *template,
				const struct krdma_template_attr *attr, const struct krdma_op *op)
{
	struct krdma_wr_part part = {};

	template->remote = op->traits & KRDMA_OP_REMOTE;
	template->addr = attr->addr;
	template->length = attr->length;
	template->remote_addr = attr->remote_addr;
	template->remote_length = template->remote ? attr->remote_length : U64_MAX;
	if (!template->remote)
		template->remote_mask = U64_MAX;
	else if (op->traits & KRDMA_OP_EIGHT)
		template->remote_mask = sizeof(u64) - 1;
	template->flags = attr->flags;
	template->post_flags = op->post_flags & ~KRDMA_POST_INLINE;
	template->kind = KRDMA_WQE_KIND(attr->opcode, KRDMA_WQE_LAST, 1);
	template->send_flags = op->send_flags | IB_SEND_SIGNALED;

	template->wr = (struct krdma_send_wr) {
		.opcode = attr->opcode,
		.imm = attr->imm,
		.remote_addr = attr->remote_addr,
		.rkey = attr->rkey,
		.operand = attr->operand,
		.swap = attr->swap,
	};
	krdma_op_fill(op, &template->wr, &part, true, &template->lone.wr);
	template->lone.wr.send.num_sge = 1;
}

/* Prepares the work requests, of which @lone has all but the pointers. */
static void krdma_template_prepare(struct krdma_template *template)
{
	struct krdma_template_entry *entry;
	u32 i;

	template->lone.sge.lkey = template->mr->fast_lkey;
	for (i = 0; i < template->batch; i++) {
		entry = &template->entries[i];
		*entry = template->lone;
		entry->wr.send.sg_list = &entry->sge;
		if (i + 1 < template->batch)
			entry->wr.send.next = &template->entries[i + 1].wr.send;
	}
	template->lone.wr.send.sg_list = &template->lone.sge;
}

/* Gets what the template keeps, while the QP is open: its PD may be gone afterwards. */
static int krdma_template_bind(struct krdma_template *template, struct krdma_qp *qp,
			       const struct krdma_template_attr *attr, const struct krdma_op *op)
{
	struct krdma_wq *wq = &qp->send;
	unsigned long flags;
	int ret = -ENOTCONN;

	spin_lock_irqsave(&wq->lock, flags);
	if (!wq->open)
		goto out_unlock;
	ret = krdma_mr_get_range(attr->mr, qp->pd, attr->addr, attr->length,
				 krdma_send_access(qp, op));
	if (ret)
		goto out_unlock;
	qp->owner->ops->get(qp->owner);
	template->wq = wq;
	template->mr = attr->mr;
	template->local = attr->mr->fast_addr + (attr->addr - attr->mr->addr);
	krdma_template_set_bounds(template, qp, op);

out_unlock:
	spin_unlock_irqrestore(&wq->lock, flags);
	return ret;
}

/**
 * krdma_qp_template_create() - Create a template
 * @qp: the QP
 * @attr: attributes
 *
 * Context: process context; may sleep.
 * Return: as krdma_template_create(); -ENOTCONN: the QP is not open.
 */
struct krdma_template *krdma_qp_template_create(struct krdma_qp *qp,
						const struct krdma_template_attr *attr)
{
	u32 batch = attr->batch ?: KRDMA_WR_LIST_MAX;
	struct krdma_template *template;
	const struct krdma_op *op;
	int ret;

	might_sleep();

	if (attr->opcode >= KRDMA_OPS || !(KRDMA_TEMPLATE_OPS & BIT(attr->opcode)))
		return ERR_PTR(-EINVAL);
	if (batch > KRDMA_WR_LIST_MAX)
		return ERR_PTR(-EINVAL);
	op = &krdma_ops[attr->opcode];
	ret = krdma_template_check(attr, qp->caps, op);
	if (ret)
		return ERR_PTR(ret);

	template = krdma_object_count(KRDMA_OBJECT_TEMPLATE,
				      kvzalloc(struct_size(template, entries, batch),
					       GFP_KERNEL_ACCOUNT));
	if (!template)
		return ERR_PTR(-ENOMEM);
	template->batch = batch;
	krdma_template_fill(template, attr, op);
	ret = krdma_template_bind(template, qp, attr, op);
	if (ret) {
		kvfree(krdma_object_uncount(KRDMA_OBJECT_TEMPLATE, template));
		return ERR_PTR(ret);
	}
	krdma_template_prepare(template);
	return template;
}

/**
 * krdma_template_destroy() - Destroy a template
 * @template: the template, with which no thread posts; or NULL
 *
 * Work requests in flight continue.  The references to the connection and to the MR are put, which
 * may have been the last ones.
 *
 * Context: any but NMI and hard interrupts; does not sleep.
 */
void krdma_template_destroy(struct krdma_template *template)
{
	struct krdma_qp_owner *owner;

	if (!template)
		return;
	owner = template->wq->qp->owner;
	krdma_mr_put(template->mr);
	kvfree(krdma_object_uncount(KRDMA_OBJECT_TEMPLATE, template));
	owner->ops->put(owner);
}
EXPORT_SYMBOL_NS_GPL(krdma_template_destroy, "KRDMA");

/*
 * Posting
 */

/* Posts without the prepared work request, or finds the errno. */
static noinline int krdma_template_post_any(struct krdma_template *template, u64 wr_id, u64 offset,
					    u64 remote_offset, u32 length, u32 flags)
{
	struct krdma_send_wr wr = template->wr;
	struct krdma_sge sge = {
		.mr = template->mr,
		.addr = template->addr + offset,
		.length = length,
	};
	int ret;

	flags |= template->flags;
	if (flags & ~template->post_flags)
		return -EINVAL;
	if (offset > template->length || length > template->length - offset)
		return -ERANGE;
	if (!template->remote && remote_offset)
		return -EINVAL;
	if (remote_offset > template->remote_length ||
	    length > template->remote_length - remote_offset)
		return -ERANGE;

	wr.wr_id = wr_id;
	wr.flags = flags;
	wr.sges = &sge;
	wr.sge_count = 1;
	wr.remote_addr += remote_offset;
	ret = krdma_qp_post_one(template->wq->qp, &wr);
	return min(ret, 0);
}

/*
 * Is the prepared work request of no use?  The first comparison bounds the length by both ranges,
 * so that the differences in the others are not negative.
 */
static __always_inline bool krdma_template_is_odd(const struct krdma_template *template, u64 offset,
						  u64 remote_offset, u32 length)
{
	return length - template->least > template->more ||
	       offset > template->length - length ||
	       remote_offset > template->remote_length - length ||
	       (remote_offset & template->remote_mask);
}

/* &enum ib_send_flags of a post with flags. */
static noinline u32 krdma_template_send_flags(struct krdma_wq *wq,
					      const struct krdma_template *template, u32 flags)
{
	u32 send_flags = template->send_flags;

	if (flags & KRDMA_POST_FENCE)
		send_flags |= IB_SEND_FENCE;
	if (flags & KRDMA_POST_SOLICITED)
		send_flags |= IB_SEND_SOLICITED;
	if (!krdma_send_is_signaled(wq, flags & KRDMA_POST_UNSIGNALED))
		send_flags &= ~IB_SEND_SIGNALED;
	return send_flags;
}

/* Sets place and length of a prepared work request. */
static __always_inline void krdma_template_set(const struct krdma_template *template,
					       struct krdma_template_entry *entry,
					       struct krdma_wqe *wqe, u64 offset,
					       u64 remote_offset, u32 length)
{
	/* An atomic has it in the same place, and a message does not have it. */
	static_assert(offsetof(struct ib_rdma_wr, remote_addr) ==
		      offsetof(struct ib_atomic_wr, remote_addr));
	entry->wr.rdma.remote_addr = template->remote_addr + remote_offset;
	entry->wr.send.wr_cqe = &wqe->cqe;
	entry->sge.addr = template->local + offset;
	entry->sge.length = length;
}

/*
 * Posts the prepared work request, or else as krdma_template_post_any().  @flags: those of the
 * template and of the post; 0 unless @flagged.
 */
static __always_inline int krdma_template_post_one(struct krdma_template *template, u64 wr_id,
						   u64 offset, u64 remote_offset, u32 length,
						   u32 flags, const bool flagged)
{
	struct krdma_template_entry *entry = &template->lone;
	struct krdma_wq *wq = template->wq;
	const struct ib_send_wr **bad;
	unsigned long irq_flags;
	struct krdma_wqe *wqe;
	struct krdma_mr *mr;
	u32 index, tail;
	int ret;

	if (unlikely(krdma_template_is_odd(template, offset, remote_offset, length) ||
		     (flagged && (flags & ~template->quick_flags))))
		goto any;

	spin_lock_irqsave(&wq->lock, irq_flags);
	mr = template->mr;
	if (unlikely(!wq->open || !krdma_credits_left(&wq->credits) ||
		     !atomic_inc_unless_negative(&mr->uses)))
		goto any_unlock;

	/* As in krdma_lone_post(): read each member once. */
	tail = wq->tail;
	index = tail & wq->mask;
	wqe = &wq->wqes[index];
	wqe->wr_id = wr_id;
	wqe->length = length;
	wqe->kind = template->kind;
	wq->mrs[index * wq->max_sge] = mr;
	if (flagged) {
		if (flags & KRDMA_POST_UNSIGNALED)
			wqe->flags |= KRDMA_WQE_UNSIGNALED;
		entry->wr.send.send_flags = krdma_template_send_flags(wq, template, flags);
	} else {
		entry->wr.send.send_flags = template->send_flags;
		wq->batch = 0;
	}
	wq->credits.taken++;

	krdma_template_set(template, entry, wqe, offset, remote_offset, length);
	/* Pairs with the acquire in krdma_wq_outstanding(). */
	smp_store_release(&wq->tail, tail + 1);
	bad = &template->bad;
	/* As in krdma_lone_post(). */
	if (!bad)
		__builtin_unreachable();
	ret = ib_post_send(wq->qp->ib, &entry->wr.send, bad);
	if (likely(!ret))
		WRITE_ONCE(wq->posted, wq->posted + 1);
	else
		ret = krdma_lone_refused(wq, ret);
	spin_unlock_irqrestore(&wq->lock, irq_flags);
	return ret;

any_unlock:
	spin_unlock_irqrestore(&wq->lock, irq_flags);
any:
	return krdma_template_post_any(template, wr_id, offset, remote_offset, length, flags);
}

static noinline int krdma_template_post_flagged(struct krdma_template *template, u64 wr_id,
						u64 offset, u64 remote_offset, u32 length,
						u32 flags)
{
	flags |= template->flags;
	return krdma_template_post_one(template, wr_id, offset, remote_offset, length, flags,
				       true);
}

/**
 * krdma_template_post() - Post a work request by its template
 * @template: the template
 * @wr_id: returned in the completion
 * @offset: first byte of the local memory, in bytes from the start of the template's range
 * @remote_offset: the same for the remote memory; a message: 0
 * @length: bytes
 * @flags: &enum krdma_post_flags besides those of the template; not KRDMA_POST_INLINE
 *
 * Does what krdma_conn_post_send() does with this one work request.  Any number of threads may post
 * by a template.  The caller keeps the template.
 *
 * Context: any but NMI; does not sleep, does not call the consumer.
 * Return: 0: it was accepted; or
 * -ERANGE: beyond the local or the remote range;
 * -EAGAIN: the SQ is full, and &struct krdma_conn_ops.space is called when it is not;
 * -ENOTCONN: the connection has ended, or is ending;
 * -ENODEV: its device has been removed;
 * -ESTALE: the MR was closed or deregistered;
 * -EINVAL: flags that the operation does not allow, an atomic that is not 8 bytes long or not
 * aligned, or a message with an offset in remote memory;
 * -EMSGSIZE, -EOPNOTSUPP, -EIO: as krdma_conn_post_send().
 */
int krdma_template_post(struct krdma_template *template, u64 wr_id, u64 offset, u64 remote_offset,
			u32 length, u32 flags)
{
	if (unlikely(flags | template->flags))
		return krdma_template_post_flagged(template, wr_id, offset, remote_offset, length,
						   flags);
	return krdma_template_post_one(template, wr_id, offset, remote_offset, length, 0, false);
}
EXPORT_SYMBOL_NS_GPL(krdma_template_post, "KRDMA");

/*
 * Fills in a list of at most @count work requests, for which there are credits and entries.  Stops
 * before the first one that the prepared work request cannot express.  Returns their number.
 */
static u32 krdma_template_build(struct krdma_template *template,
				const struct krdma_template_wr *post, u32 count)
{
	struct krdma_template_entry *entry = template->entries;
	const struct krdma_template_wr *end = post + count;
	const struct krdma_template_wr *first = post;
	struct krdma_wq *wq = template->wq;
	struct krdma_mr *mr = template->mr;
	struct krdma_wqe *wqe;
	u32 flags, index, length;
	u32 tail = wq->tail;
	u64 offset, remote_offset;
	u32 built;

	if (!count || !atomic_inc_unless_negative(&mr->uses))
		return 0;

	for (; post != end; post++, entry++, tail++) {
		offset = post->offset;
		remote_offset = post->remote_offset;
		length = post->length;
		if (unlikely(krdma_template_is_odd(template, offset, remote_offset, length)))
			break;
		flags = post->flags | template->flags;
		if (unlikely(flags & ~template->quick_flags))
			break;
		index = tail & wq->mask;
		wqe = &wq->wqes[index];
		wqe->wr_id = post->wr_id;
		wqe->length = length;
		wqe->kind = template->kind;
		wq->mrs[index * wq->max_sge] = mr;
		if (likely(!flags)) {
			entry->wr.send.send_flags = template->send_flags;
			wq->batch = 0;
		} else {
			if (flags & KRDMA_POST_UNSIGNALED)
				wqe->flags |= KRDMA_WQE_UNSIGNALED;
			entry->wr.send.send_flags = krdma_template_send_flags(wq, template, flags);
		}
		krdma_template_set(template, entry, wqe, offset, remote_offset, length);
	}
	built = post - first;
	if (unlikely(!built)) {
		krdma_mr_end_use(mr);
		return 0;
	}
	/* The use of the first one has begun. */
	if (built > 1)
		krdma_mr_use_more(mr, built - 1);
	wq->credits.taken += built;
	/* Pairs with the acquire in krdma_wq_outstanding(). */
	smp_store_release(&wq->tail, tail);
	return built;
}

/*
 * Posts the list of @count entries.  Returns the number of accepted ones; sets *@error if these are
 * not all.
 */
static u32 krdma_template_post_list(struct krdma_template *template, u32 count, int *error)
{
	struct krdma_template_entry *last = &template->entries[count - 1];
	struct ib_send_wr *next = last->wr.send.next;
	struct krdma_wq *wq = template->wq;
	u32 taken;
	int ret;

	last->wr.send.next = NULL;
	template->bad = NULL;
	ret = ib_post_send(wq->qp->ib, &template->entries[0].wr.send, &template->bad);
	last->wr.send.next = next;
	*error = 0;
	if (likely(!ret))
		return count;

	*error = krdma_post_error(ret);
	for (taken = 0; taken < count; taken++)
		if (&template->entries[taken].wr.send == template->bad)
			break;
	wq->list.accepted = 0;
	wq->list.open_parts = 0;
	wq->list.count = count;
	/* A provider that does not report the failing work request has accepted none. */
	krdma_wr_list_account(wq, taken == count ? 0 : taken);
	return wq->list.accepted;
}

/*
 * Posts those at the beginning that the prepared work request can express, and for which there are
 * credits.  Returns the number of accepted ones; sets *@error if the device has refused the next.
 */
static int krdma_template_post_lists(struct krdma_template *template,
				     const struct krdma_template_wr *posts, u32 left, int *error)
{
	struct krdma_wq *wq = template->wq;
	unsigned long flags;
	u32 count, built;
	int accepted = 0;

	*error = 0;
	spin_lock_irqsave(&wq->lock, flags);
	if (!wq->open)
		goto out_unlock;
	left = min(left, krdma_credits_left(&wq->credits));
	do {
		count = min(left, template->batch);
		built = krdma_template_build(template, posts, count);
		if (!built)
			break;
		accepted += krdma_template_post_list(template, built, error);
		posts += built;
		left -= built;
	} while (left && built == count && !*error);
	/* Return the credits of those that were not accepted. */
	krdma_credits_untake(&wq->credits, wq->credits.taken - wq->tail);
	WRITE_ONCE(wq->posted, wq->posted + accepted);

out_unlock:
	spin_unlock_irqrestore(&wq->lock, flags);
	return accepted;
}

/**
 * krdma_template_post_many() - Post several work requests by their template
 * @template: the template
 * @posts: the work requests; copied
 * @count: number of work requests
 *
 * As krdma_template_post() with each of them in this order, but the device gets them in lists, of
 * &struct krdma_template_attr.batch at most.  If fewer than @count are accepted, posting the next
 * one alone returns the reason.
 *
 * Context: any but NMI; does not sleep, does not call the consumer.
 * Return: the number of work requests that were accepted, at least 1; or, if none was, the errno of
 * krdma_template_post(), or -EINVAL: @count is not positive.
 */
int krdma_template_post_many(struct krdma_template *template,
			     const struct krdma_template_wr *posts, int count)
{
	const struct krdma_template_wr *next;
	int done = 0;
	int ret;

	if (unlikely(count <= 0))
		return -EINVAL;
	do {
		done += krdma_template_post_lists(template, posts + done, count - done, &ret);
		if (likely(done == count) || ret)
			break;
		next = &posts[done];
		ret = krdma_template_post_any(template, next->wr_id, next->offset,
					      next->remote_offset, next->length, next->flags);
		if (!ret)
			done++;
	} while (!ret && done < count);
	return done ?: ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_template_post_many, "KRDMA");
