// SPDX-License-Identifier: GPL-2.0
/*
 * Posting: from what a consumer asks to what the device is given.
 *
 * An operation takes a slot for each piece that it is cut to, and is accepted
 * when there are that many; the pieces of many operations go to the device in
 * chains.  Nothing here sleeps, allocates, or calls the consumer.
 *
 * Requests that complete silently give their slots back with the next one that
 * does not.  So that there always is one, every half a queue of silent requests
 * is interrupted by one that completes to krdma alone.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "io/bounce.h"
#include "io/wr.h"
#include "cm/conn.h"
#include "mr/mr.h"
#include "io/wq.h"
#include "core/session.h"

/*
 * The memory of requests that have none.  irdma takes the first entry of a write, a read and
 * a receive without a look at num_sge; cxgb4 looks at the length of the first one.  So there
 * is one, of length 0.
 */
static const struct ib_sge krdma_no_sge;

/*
 * Sends
 */

static int krdma_send_chain(struct krdma_work_ring *ring)
{
	union krdma_wr *wrs = ring->chain.bench->wrs;
	const struct ib_send_wr *bad = NULL;
	u32 count = ring->chain.count;
	u32 taken;
	int ret;

	if (!count)
		return 0;

	krdma_chain_count_uses(ring);
	/* The others were connected as they were made. */
	wrs[count - 1].send.next = NULL;
	ret = ib_post_send(ring->qp->ib, &wrs[0].send, &bad);
	if (!ret) {
		krdma_chain_accept(ring);
		return 0;
	}
	for (taken = 0; taken < count && &wrs[taken].send != bad; taken++)
		;
	/* One that does not say which has taken none. */
	krdma_chain_account(ring, taken == count ? 0 : taken);
	return krdma_post_error(ret);
}

/*
 * The device refused in the midst of an operation: what it has of it does not
 * complete as an operation.  It is accepted, and the connection is at its end.
 */
static void krdma_send_cut(struct krdma_work_ring *ring)
{
	struct krdma_qp *qp = ring->qp;

	ring->open = false;
	qp->cut = true;
	qp->cut_slot = *krdma_ring_slot(ring, ring->tail - 1);
	ring->chain.accepted++;
}

static bool krdma_sge_is_used(const struct krdma_request *request, u32 index)
{
	const struct krdma_sge *sge = &request->sges[index];

	return sge->region && sge->length && !(request->flags & KRDMA_POST_INLINE);
}

/* &enum krdma_access that an operation needs of its local memory. */
static u32 krdma_send_access(const struct krdma_qp *qp, const struct krdma_op *op)
{
	if (likely(!(op->traits & KRDMA_OP_READS)))
		return 0;
	return op->last == IB_WR_RDMA_READ ? qp->read_access : KRDMA_ACCESS_LOCAL_WRITE;
}

/*
 * Memory without a region, by a key: that for all memory which is mapped for DMA lets no
 * peer write.  What another key lets is the consumer's affair.
 */
static bool krdma_send_key_is_local(const struct krdma_qp *qp, u32 access, u32 key)
{
	return (access & KRDMA_ACCESS_REMOTE_WRITE) && key == qp->domain->pd->local_dma_lkey;
}

/* The segments of an operation's local memory; their number, or an errno. */
static int krdma_send_segments(struct krdma_work_ring *ring, const struct krdma_op *op,
			       const struct krdma_request *request, u64 *length)
{
	struct krdma_workbench *bench = ring->chain.bench;
	u32 access = krdma_send_access(ring->qp, op);
	const struct krdma_sge *sge;
	u32 count = 0;
	int ret;
	u32 i;

	*length = 0;
	if (request->sge_count > KRDMA_SEGMENTS)
		return -EMSGSIZE;

	for (i = 0; i < request->sge_count; i++) {
		sge = &request->sges[i];
		*length += sge->length;
		if (sge->length && count == KRDMA_SEGMENTS) {
			ret = -EMSGSIZE;
			goto err;
		}
		if (krdma_sge_is_used(request, i)) {
			ret = krdma_region_begin_use(sge->region, ring->qp->domain, sge->addr,
						     sge->length, access, &bench->segments[count],
						     KRDMA_SEGMENTS - count);
			if (ret < 0)
				goto err;
			count += ret;
		} else if (sge->length) {
			ret = -EOPNOTSUPP;
			if (krdma_send_key_is_local(ring->qp, access, sge->key))
				goto err;
			bench->segments[count++] = (struct krdma_segment) {
				.addr = sge->addr, .length = sge->length, .key = sge->key,
			};
		}
		bench->segment_ends[i] = count;
	}
	return count;

err:
	while (i--)
		if (krdma_sge_is_used(request, i))
			krdma_region_end_use(request->sges[i].region);
	return ret;
}

/* What keeps the memory in a slot: the regions of which the last byte is in it. */
static void krdma_send_keep_regions(struct krdma_work_ring *ring,
				    const struct krdma_request *request, u32 *next_sge,
				    u32 used_segments)
{
	struct krdma_slot *slot = krdma_ring_slot(ring, ring->tail);
	struct krdma_region **regions = krdma_ring_regions(ring, ring->tail);

	slot->region_count = 0;
	for (; *next_sge < request->sge_count; (*next_sge)++) {
		if (ring->chain.bench->segment_ends[*next_sge] > used_segments)
			break;
		if (krdma_sge_is_used(request, *next_sge))
			regions[slot->region_count++] = request->sges[*next_sge].region;
	}
}

static void krdma_send_forget_regions(const struct krdma_request *request, u32 next_sge)
{
	for (; next_sge < request->sge_count; next_sge++)
		if (krdma_sge_is_used(request, next_sge))
			krdma_region_end_use(request->sges[next_sge].region);
}

/* The device refused, and the rest of the operation is not built. */
static void krdma_send_leave_regions(struct krdma_work_ring *ring,
				     const struct krdma_request *request, u32 next_sge)
{
	for (; next_sge < request->sge_count; next_sge++) {
		if (!krdma_sge_is_used(request, next_sge))
			continue;
		if (ring->chain.open_pieces)
			krdma_cut_keep(ring->qp, request->sges[next_sge].region);
		else
			krdma_region_end_use(request->sges[next_sge].region);
	}
}

/* Is the request at the tail to complete in any case? */
static bool krdma_send_is_signaled(struct krdma_work_ring *ring, bool silent)
{
	if (likely(!silent) || ring->run + 1 >= (ring->credits.depth + 1) / 2) {
		ring->run = 0;
		return true;
	}
	ring->run++;
	return false;
}

/* The request for one piece, in the slot at the tail and at the end of the chain. */
static void krdma_send_build(struct krdma_work_ring *ring, const struct krdma_op *op,
			     const struct krdma_request *request, u32 length,
			     const struct krdma_split_piece *piece,
			     const struct krdma_segment *segments, bool last)
{
	struct krdma_qp *qp = ring->qp;
	struct krdma_slot *slot = krdma_ring_slot(ring, ring->tail);
	struct krdma_workbench *bench = ring->chain.bench;
	union krdma_wr *wr = &bench->wrs[ring->chain.count];
	struct ib_sge *sges = &bench->sges[ring->chain.sges];
	bool silent = request->flags & KRDMA_POST_SILENT;
	u32 count = piece->count;
	u32 i;

	for (i = 0; i < count; i++)
		sges[i] = (struct ib_sge) {
			.addr = segments[i].addr,
			.length = segments[i].length,
			.lkey = segments[i].key,
		};
	/* A read of nothing still has a place where it goes: siw insists. */
	if (!count && op->last == IB_WR_RDMA_READ)
		sges[count++] = (struct ib_sge) { .lkey = qp->domain->pd->local_dma_lkey };
	ring->chain.sges += count;

	krdma_op_fill(op, request, piece, last, wr);
	/* The device is given a copy. */
	if (length > qp->device_inline)
		wr->send.send_flags &= ~IB_SEND_INLINE;
	wr->send.wr_cqe = &slot->cqe;
	wr->send.next = &(wr + 1)->send;
	wr->send.sg_list = count ? sges : (struct ib_sge *)&krdma_no_sge;
	wr->send.num_sge = count;

	slot->cookie = request->cookie;
	slot->length = length;
	slot->opcode = request->opcode;
	slot->flags = (last ? KRDMA_SLOT_LAST : 0) | (silent ? KRDMA_SLOT_SILENT : 0);
	if (krdma_send_is_signaled(ring, silent || !last))
		wr->send.send_flags |= IB_SEND_SIGNALED;
}

/* Local memory for an operation that brings none: the 8 bytes of the slot at the tail. */
static u32 krdma_send_scratch(struct krdma_work_ring *ring, const struct krdma_op *op)
{
	struct krdma_qp *qp = ring->qp;
	u32 index = ring->tail & ring->mask;

	ring->chain.bench->segments[0] = (struct krdma_segment) {
		.addr = qp->scratch_dma + index * sizeof(u64),
		.length = op->scratch_length,
		.key = qp->domain->pd->local_dma_lkey,
	};
	return 1;
}

/* The slot is ours: what is written goes to its 8 bytes, as the processor has it. */
static void krdma_send_fill_scratch(struct krdma_work_ring *ring, const struct krdma_op *op,
				    const struct krdma_request *request)
{
	struct krdma_qp *qp = ring->qp;
	u32 index = ring->tail & ring->mask;

	if (op->last == IB_WR_RDMA_WRITE)
		qp->scratch[index] = request->operand;
	ib_dma_sync_single_for_device(qp->ib->device, ring->chain.bench->segments[0].addr,
				      sizeof(u64), DMA_BIDIRECTIONAL);
}

/* The pieces of an operation for which there are credits. */
static int krdma_send_pieces(struct krdma_work_ring *ring, const struct krdma_op *op,
			     const struct krdma_request *request, u32 length,
			     struct krdma_split *split, u32 pieces)
{
	struct krdma_segment *segments = ring->chain.bench->piece_segments;
	struct krdma_split_piece piece;
	u32 next_sge = 0;
	int ret;

	while (pieces--) {
		krdma_split_next(split, segments, &piece);
		if (!krdma_chain_has_room(&ring->chain, piece.count)) {
			ret = krdma_send_chain(ring);
			if (ret) {
				krdma_send_leave_regions(ring, request, next_sge);
				return ret;
			}
		}
		krdma_send_keep_regions(ring, request, &next_sge,
					pieces ? split->index : KRDMA_SEGMENTS);
		krdma_send_build(ring, op, request, length, &piece, segments, !pieces);
		krdma_slot_commit(ring, !pieces);
	}
	return 0;
}

/* Any operation, in as many pieces as it takes. */
static int krdma_send_any(struct krdma_work_ring *ring, const struct krdma_op *op,
			  const struct krdma_request *request)
{
	const struct krdma_segment *all = ring->chain.bench->segments;
	struct krdma_qp *qp = ring->qp;
	struct krdma_split split;
	int segments = 0;
	u64 length = 0;
	u64 pieces;
	u32 max_sge;
	int ret;

	if (op->last == IB_WR_REG_MR) {
		ret = krdma_mr_check(request->mr, qp->mr_pool) ?:
		      krdma_access_check(qp->domain->dev, request->access);
		if (ret)
			return ret;
	}
	if (op->traits & KRDMA_OP_SCRATCH)
		segments = krdma_send_scratch(ring, op);
	else if (!(op->traits & KRDMA_OP_NO_DATA))
		segments = krdma_send_segments(ring, op, request, &length);
	if (segments < 0)
		return segments;

	ret = krdma_op_check_length(op, request, length);
	if (ret)
		goto err;
	/* It would still name memory where it goes: see krdma_send_build(). */
	if (!length && op->last == IB_WR_RDMA_READ &&
	    !(qp->caps & KRDMA_DEVICE_CAP_READ_LOCAL)) {
		ret = -EOPNOTSUPP;
		goto err;
	}

	max_sge = op->traits & KRDMA_OP_READS ? qp->max_read_sge : ring->max_sge;
	pieces = krdma_split_pieces(all, segments, max_sge, qp->max_message);
	if (pieces > (op->traits & KRDMA_OP_SPLITS ? ring->credits.depth : 1) ||
	    ((request->flags & KRDMA_POST_INLINE) && (pieces > 1 || length > qp->max_inline))) {
		ret = -EMSGSIZE;
		goto err;
	}
	if (!krdma_credits_take(&ring->credits, pieces)) {
		ret = -EAGAIN;
		goto err;
	}
	if (op->traits & KRDMA_OP_SCRATCH)
		krdma_send_fill_scratch(ring, op, request);
	if ((request->flags & KRDMA_POST_INLINE) && length > qp->device_inline) {
		krdma_bounce_copy(ring, request, ring->chain.bench->segments);
		segments = 1;
	}
	ret = krdma_split_init(&split, all, segments, max_sge, qp->max_message);
	if (WARN_ON_ONCE(ret)) {
		krdma_credits_untake(&ring->credits, pieces);
		goto err;
	}
	/* An atomic write brings no memory of its own. */
	if (op->traits & KRDMA_OP_EIGHT)
		length = sizeof(u64);
	return krdma_send_pieces(ring, op, request, length, &split, pieces);

err:
	if (!(op->traits & (KRDMA_OP_SCRATCH | KRDMA_OP_NO_DATA)))
		krdma_send_forget_regions(request, 0);
	return ret;
}

/*
 * Most operations have one piece of memory, which one request carries, and nothing is
 * wrong with them.  These are made with no detour; all others, and whatever is wrong
 * with one but its memory, is left to krdma_send_any(), which knows the reasons.
 */
static bool krdma_send_is_plain(const struct krdma_qp *qp, const struct krdma_op *op,
				const struct krdma_request *request, u32 flags, u32 length)
{
	if (unlikely(flags)) {
		if ((flags & ~op->post_flags) ||
		    ((flags & KRDMA_POST_INLINE) && length > qp->device_inline))
			return false;
	}
	/* Also where it is 0. */
	if (length - 1 >= qp->max_message)
		return false;
	if ((op->traits & KRDMA_OP_EIGHT) &&
	    (length != 8 || !IS_ALIGNED(request->remote_addr, 8)))
		return false;
	return !(op->traits & KRDMA_OP_REMOTE) ||
	       request->remote_addr + (length - 1) >= request->remote_addr;
}

/* What krdma_op_fill() does, for the forms that are not KRDMA_FORM_OTHER; and the slot. */
static void krdma_send_fill_plain(struct krdma_work_ring *ring, const struct krdma_op *op,
				  const struct krdma_request *request, u32 flags,
				  struct krdma_slot *slot, union krdma_wr *wr)
{
	u32 send_flags = op->send_flags | IB_SEND_SIGNALED;
	u8 slot_flags = KRDMA_SLOT_LAST;

	if (likely(!flags)) {
		ring->run = 0;
	} else {
		if (flags & KRDMA_POST_FENCE)
			send_flags |= IB_SEND_FENCE;
		if (flags & KRDMA_POST_SOLICITED)
			send_flags |= IB_SEND_SOLICITED;
		if (flags & KRDMA_POST_INLINE)
			send_flags |= IB_SEND_INLINE;
		if (flags & KRDMA_POST_SILENT)
			slot_flags |= KRDMA_SLOT_SILENT;
		if (!krdma_send_is_signaled(ring, flags & KRDMA_POST_SILENT))
			send_flags &= ~IB_SEND_SIGNALED;
	}
	slot->flags = slot_flags;
	wr->send.opcode = op->last;
	wr->send.send_flags = send_flags;
	wr->send.ex.imm_data = 0;

	if (likely(op->form == KRDMA_FORM_RDMA)) {
		wr->rdma.remote_addr = request->remote_addr;
		wr->rdma.rkey = request->remote_key;
	} else if (op->form == KRDMA_FORM_ATOMIC) {
		wr->atomic.remote_addr = request->remote_addr;
		wr->atomic.rkey = request->remote_key;
		wr->atomic.compare_add = request->operand;
		wr->atomic.swap = request->swap;
		wr->atomic.compare_add_mask = 0;
		wr->atomic.swap_mask = 0;
	}
}

/* A segment is laid out as an entry for the device is. */
static_assert(sizeof(struct krdma_segment) == sizeof(struct ib_sge));
static_assert(offsetof(struct krdma_segment, addr) == offsetof(struct ib_sge, addr));
static_assert(offsetof(struct krdma_segment, length) == offsetof(struct ib_sge, length));
static_assert(offsetof(struct krdma_segment, key) == offsetof(struct ib_sge, lkey));

/* -EMSGSIZE: it is not plain after all, for its memory is in several places. */
static int krdma_send_plain(struct krdma_work_ring *ring, const struct krdma_op *op,
			    const struct krdma_request *request, u32 flags, u32 length)
{
	u32 access = krdma_send_access(ring->qp, op);
	const struct krdma_sge *sge = request->sges;
	struct krdma_workbench *bench = ring->chain.bench;
	struct krdma_region *used;
	struct krdma_segment *to;
	struct krdma_slot *slot;
	union krdma_wr *wr;
	u32 index;
	int ret;

	if (unlikely(ring->chain.count == KRDMA_CHAIN)) {
		ret = krdma_send_chain(ring);
		if (ret)
			return ret;
	}
	to = (struct krdma_segment *)&bench->sges[ring->chain.sges];
	used = likely(!flags) || !(flags & KRDMA_POST_INLINE) ? sge->region : NULL;
	if (unlikely(!used)) {
		if (unlikely(krdma_send_key_is_local(ring->qp, access, sge->key)))
			return -EOPNOTSUPP;
		to->addr = sge->addr;
		to->length = length;
		to->key = sge->key;
	} else {
		ret = krdma_chain_use(ring, used, sge->addr, length, access, to);
		if (unlikely(ret))
			return ret;
	}
	if (!krdma_credits_take(&ring->credits, 1)) {
		if (used)
			krdma_chain_unuse(ring, used);
		return -EAGAIN;
	}

	/* What is written may lie in the ring for all that the compiler knows: once each. */
	index = ring->tail & ring->mask;
	slot = &ring->slots[index];
	slot->cookie = request->cookie;
	slot->length = length;
	slot->opcode = request->opcode;
	slot->region_count = 0;
	if (likely(used)) {
		slot->region_count = 1;
		ring->regions[index * ring->max_sge] = used;
	}

	wr = &bench->wrs[ring->chain.count++];
	/* Found once: the compiler would do so for each member. */
	OPTIMIZER_HIDE_VAR(wr);
	wr->send.next = &(wr + 1)->send;
	wr->send.wr_cqe = &slot->cqe;
	wr->send.sg_list = (struct ib_sge *)to;
	wr->send.num_sge = 1;
	ring->chain.sges++;
	krdma_send_fill_plain(ring, op, request, flags, slot, wr);
	/* Pairs with the acquire in krdma_ring_outstanding(). */
	smp_store_release(&ring->tail, ring->tail + 1);
	return 0;
}

static int krdma_send_one(struct krdma_work_ring *ring, const struct krdma_request *request)
{
	struct krdma_qp *qp = ring->qp;
	const struct krdma_op *op;
	u32 flags, length;
	int ret;

	if (likely(request->opcode < KRDMA_OPS && (qp->plain_ops & BIT(request->opcode)) &&
		   request->sge_count == 1)) {
		op = &krdma_ops[request->opcode];
		OPTIMIZER_HIDE_VAR(op);
		flags = request->flags;
		length = request->sges->length;
		if (likely(krdma_send_is_plain(qp, op, request, flags, length))) {
			ret = krdma_send_plain(ring, op, request, flags, length);
			if (ret != -EMSGSIZE)
				return ret;
		}
	}
	op = krdma_op_find(request, qp->caps);
	return IS_ERR(op) ? PTR_ERR(op) : krdma_send_any(ring, op, request);
}

/* What the consumer is told: how many were accepted, or why none was. */
static int krdma_post_result(const struct krdma_work_ring *ring, int ret)
{
	return ring->chain.accepted ?: ret;
}

static struct krdma_qp *krdma_conn_qp(struct krdma_conn *conn)
{
	/* Pairs with the release in krdma_conn_set_qp(). */
	return smp_load_acquire(&conn->qp);
}

/* Why a closed queue pair takes nothing. */
static int krdma_conn_refusal(struct krdma_conn *conn)
{
	return READ_ONCE(conn->error) == -ENODEV ? -ENODEV : -ENOTCONN;
}

/**
 * krdma_conn_post - ask for operations
 * @conn: the connection, connected
 * @requests: what is asked; copied
 * @count: how many
 *
 * They are given to the device in their order, many at a time.  Each that is
 * accepted completes exactly once, or not at all if it is silent and succeeds.
 * If fewer are accepted than were asked for, the next one, asked for alone, says
 * why; if the queue was full, &struct krdma_conn_ops.space tells when it is not.
 *
 * Regions may be passed that were found under rcu_read_lock(), which is held until
 * this returns: one that is released meanwhile is refused.
 *
 * Context: any but NMI; does not sleep, does not call the consumer.
 * Return: how many of them were accepted, at least 1; or, if none was,
 * -EAGAIN: the queue is full;
 * -ENOTCONN: the connection is not, or no longer, connected;
 * -ENODEV: its device has been removed;
 * -EOPNOTSUPP: the device cannot do this; without KRDMA_DEVICE_CAP_READ_LOCAL also: a read
 * of 0 bytes, or by krdma_conn_local_key();
 * -EINVAL: no such operation, or not with these flags, this memory or address;
 * -EMSGSIZE: more than a message, the inline data, or the whole queue can carry, or
 * memory in more than 128 places;
 * -EOVERFLOW: beyond the end of the peer's addresses;
 * -EACCES, -ERANGE, -ESTALE, -EXDEV: local memory without that right, outside of
 * its region, of a region that was released, or of another session, device, or,
 * of a registration, connection;
 * -EIO: the provider failed.
 */
int krdma_conn_post(struct krdma_conn *conn, const struct krdma_request *requests, int count)
{
	struct krdma_qp *qp = krdma_conn_qp(conn);
	const struct krdma_request *end;
	struct krdma_work_ring *ring;
	unsigned long flags;
	bool broken = false;
	int ret;
	int sent;

	if (count <= 0)
		return -EINVAL;
	if (!qp)
		return krdma_conn_refusal(conn);

	ring = &qp->send;
	spin_lock_irqsave(&ring->lock, flags);
	if (!ring->open) {
		ret = krdma_conn_refusal(conn);
		goto out_unlock;
	}
	krdma_workbench_take(ring);
	ring->chain.accepted = 0;
	ring->chain.open_pieces = 0;
	end = requests + count;
	do {
		ret = krdma_send_one(ring, requests);
	} while (!ret && ++requests < end);
	/* Also what was built before one that cannot be. */
	sent = krdma_send_chain(ring);
	krdma_workbench_leave();
	ret = ret ?: sent;
	/* Credits for pieces that were not built, or not taken. */
	krdma_credits_untake(&ring->credits, ring->credits.taken - ring->tail);
	if (ring->chain.open_pieces) {
		krdma_send_cut(ring);
		broken = true;
	}
	WRITE_ONCE(ring->posted, ring->posted + ring->chain.accepted);
	ret = krdma_post_result(ring, ret);

out_unlock:
	spin_unlock_irqrestore(&ring->lock, flags);
	if (broken)
		krdma_conn_input(conn, KRDMA_INPUT_FATAL, -EIO);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_post, "KRDMA");

/*
 * Receives
 */

/**
 * krdma_receive_build - the request of a receive, with its memory
 * @receive: what the consumer wants
 * @domain: of the queue
 * @max_sge: entries that it can have
 * @sges: room for them
 * @regions: room for the regions that are kept
 * @region_count: how many these are
 * @wr: filled in, but for its completion and the way to the next one
 *
 * Context: any.
 * Return: 0, or the errno of krdma_region_begin_use(), or -EMSGSIZE.
 */
int krdma_receive_build(const struct krdma_receive *receive, struct krdma_domain *domain,
			u32 max_sge, struct ib_sge *sges, struct krdma_region **regions,
			u16 *region_count, struct ib_recv_wr *wr)
{
	struct krdma_segment *segment;
	const struct krdma_sge *sge;
	u32 count = 0;
	int ret;
	u32 i;

	*region_count = 0;
	for (i = 0; i < receive->sge_count; i++) {
		sge = &receive->sges[i];
		if (!sge->length)
			continue;
		ret = -EMSGSIZE;
		if (count == max_sge)
			goto err;
		segment = (struct krdma_segment *)&sges[count++];
		if (!sge->region) {
			segment->addr = sge->addr;
			segment->length = sge->length;
			segment->key = sge->key;
			continue;
		}
		/* Memory that the device sees in several places takes an entry for each. */
		if (!krdma_region_use_simply(sge->region, domain, sge->addr, sge->length,
					     KRDMA_ACCESS_LOCAL_WRITE, segment)) {
			ret = krdma_region_begin_use(sge->region, domain, sge->addr, sge->length,
						     KRDMA_ACCESS_LOCAL_WRITE, segment,
						     max_sge - count + 1);
			if (ret < 0)
				goto err;
			count += ret - 1;
		}
		regions[(*region_count)++] = sge->region;
	}
	wr->sg_list = count ? sges : (struct ib_sge *)&krdma_no_sge;
	wr->num_sge = count;
	return 0;

err:
	while (*region_count)
		krdma_region_end_use(regions[--*region_count]);
	return ret;
}

static int krdma_receive_chain(struct krdma_work_ring *ring)
{
	struct ib_recv_wr *wrs = ring->chain.bench->recv_wrs;
	const struct ib_recv_wr *bad = NULL;
	u32 count = ring->chain.count;
	u32 taken;
	int ret;

	if (!count)
		return 0;

	krdma_chain_count_uses(ring);
	wrs[count - 1].next = NULL;
	ret = ib_post_recv(ring->qp->ib, &wrs[0], &bad);
	if (!ret) {
		krdma_chain_accept(ring);
		return 0;
	}
	for (taken = 0; taken < count && &wrs[taken] != bad; taken++)
		;
	krdma_chain_account(ring, taken == count ? 0 : taken);
	return krdma_post_error(ret);
}

static int krdma_receive_one(struct krdma_work_ring *ring, const struct krdma_receive *receive)
{
	u32 max_sge = min_t(u32, ring->max_sge, KRDMA_SEGMENTS);
	struct krdma_workbench *bench = ring->chain.bench;
	struct krdma_slot *slot;
	struct ib_recv_wr *wr;
	int ret;

	if (!krdma_chain_has_room(&ring->chain, max_sge)) {
		ret = krdma_receive_chain(ring);
		if (ret)
			return ret;
	}
	if (!krdma_credits_take(&ring->credits, 1))
		return -EAGAIN;

	wr = &bench->recv_wrs[ring->chain.count];
	slot = krdma_ring_slot(ring, ring->tail);
	ret = krdma_receive_build(receive, ring->qp->domain, max_sge,
				  &bench->sges[ring->chain.sges],
				  krdma_ring_regions(ring, ring->tail), &slot->region_count, wr);
	if (ret) {
		krdma_credits_untake(&ring->credits, 1);
		return ret;
	}
	wr->next = wr + 1;
	wr->wr_cqe = &slot->cqe;
	slot->cookie = receive->cookie;
	slot->opcode = KRDMA_OP_RECEIVE;
	slot->flags = KRDMA_SLOT_LAST;
	ring->chain.sges += wr->num_sge;
	krdma_slot_commit(ring, true);
	return 0;
}

/**
 * krdma_conn_receive - give room for messages
 * @conn: the connection, as soon as krdma_conn_prepare() has made its queues: also
 *	before it is connected
 * @receives: the room; copied
 * @count: how many
 *
 * Messages take them in this order, and each completes exactly once.  Regions may be
 * passed that were found under rcu_read_lock(), as with krdma_conn_post().
 *
 * Context: any but NMI; does not sleep, does not call the consumer.
 * Return: how many of them were accepted, at least 1; or, if none was,
 * -EAGAIN: the queue is full;
 * -ENOTCONN: the connection has no queues yet, or is at its end;
 * -ENODEV: its device has been removed;
 * -EINVAL: @count is not positive, or receives come from a shared queue;
 * -EMSGSIZE: more pieces of memory than a receive can have, at most 128;
 * -EACCES, -ERANGE, -ESTALE, -EXDEV: as krdma_conn_post();
 * -EIO: the provider failed.
 */
int krdma_conn_receive(struct krdma_conn *conn, const struct krdma_receive *receives, int count)
{
	struct krdma_qp *qp = krdma_conn_qp(conn);
	struct krdma_work_ring *ring;
	unsigned long flags;
	int ret = 0;
	int sent;
	int i;

	if (count <= 0)
		return -EINVAL;
	if (!qp)
		return krdma_conn_refusal(conn);
	ring = &qp->recv;
	if (!ring->slots)
		return -EINVAL;

	spin_lock_irqsave(&ring->lock, flags);
	if (!ring->open) {
		ret = krdma_conn_refusal(conn);
		goto out_unlock;
	}
	krdma_workbench_take(ring);
	ring->chain.accepted = 0;
	ring->chain.open_pieces = 0;
	for (i = 0; i < count && !ret; i++)
		ret = krdma_receive_one(ring, &receives[i]);
	sent = krdma_receive_chain(ring);
	krdma_workbench_leave();
	ret = ret ?: sent;
	krdma_credits_untake(&ring->credits, ring->credits.taken - ring->tail);
	WRITE_ONCE(ring->posted, ring->posted + ring->chain.accepted);
	ret = krdma_post_result(ring, ret);

out_unlock:
	spin_unlock_irqrestore(&ring->lock, flags);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_receive, "KRDMA");
