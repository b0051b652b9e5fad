/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory, as the data path sees it.
 */
#ifndef _KRDMA_MR_H
#define _KRDMA_MR_H

#include <linux/atomic.h>
#include <linux/overflow.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/private.h"
#include "core/resource.h"
#include "mr/split.h"

struct ib_mr;
struct krdma_pd;
struct krdma_mem;
struct krdma_qp;

/**
 * struct krdma_mr_keys - the keys of a region that has several
 * @rcu: frees it
 * @span: bytes that a key covers, but for the last one; the first one covers as much less
 *	as the region begins behind the beginning of its page
 * @count: how many
 * @key: the keys, in the order of the memory: for local operations, and for peers
 */
struct krdma_mr_keys {
	struct rcu_head rcu;
	u64 span;
	unsigned int count;
	struct {
		u32 local;
		u32 remote;
	} key[] __counted_by(count);
};

/**
 * struct krdma_mr - a region of memory
 * @res: the device's part, which is @mem
 * @refs: keep the object: the consumer's, and the part's
 * @uses: operations in flight; negative from the moment of its release
 * @session: whose
 * @pd: where; kept by the part, later a value to compare with
 * @mem: what the device reaches; the part's
 * @access: &enum krdma_access
 * @by_key: operations go through @lkey with addresses of the region, not
 *	through the addresses for DMA
 * @lkey: for local operations; 0 if there are several
 * @rkey: for peers, 0 without remote rights or if there are several
 * @keys: several keys; NULL: there is one for all of it, or none.  Stays as long as the
 *	region.
 * @addr: its first address, for local operations
 * @peer_addr: the same for peers, and for the device where a key stands for it
 * @length: bytes
 * @fast: the device sees all of it in one place: from @fast_addr on, by
 *	@fast_lkey
 * @fast_addr: see @fast
 * @fast_lkey: likewise
 * @revoke: takes the peers' key away while operations are in flight
 * @condemned: its users are to be ended: see krdma_mr_end_users(); never false again
 * @ended: called when @mem has been let go; NULL: nobody is
 * @context: what for
 * @rcu: frees it
 *
 * All but the counts and @condemned is set before others see it.
 */
struct krdma_mr {
	struct krdma_resource res;
	refcount_t refs;
	atomic_t uses;
	struct krdma_session *session;
	struct krdma_pd *pd;
	struct krdma_mem *mem;
	u32 access;
	bool by_key;
	u32 lkey;
	u32 rkey;
	struct krdma_mr_keys *keys;
	u64 addr;
	u64 peer_addr;
	u64 length;
	bool fast;
	u32 fast_lkey;
	u64 fast_addr;
	bool condemned;
	struct work_struct revoke;
	void (*ended)(void *context);
	void *context;
	struct rcu_head rcu;
};

/* Described at its definition: an operation is about to use memory.  Any context. */
int krdma_mr_begin_use(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr,
		       u32 length, u32 access, struct krdma_segment *segments,
		       unsigned int room);

/*
 * An operation has ended: for each krdma_mr_begin_use() that succeeded, once the
 * operation has completed or was not posted, and before the consumer is told, who may
 * release the region then.  It may be gone when this returns.  Any context but NMI.
 */
static inline void krdma_mr_end_uses(struct krdma_mr *mr, int count)
{
	/* First, and fully ordered: whoever sees 0 may take the memory. */
	atomic_sub_return(count, &mr->uses);
	krdma_resource_put_many(&mr->res, count);
}

static inline void krdma_mr_end_use(struct krdma_mr *mr)
{
	krdma_mr_end_uses(mr, 1);
}

/* Some more, by who has one that does not end meanwhile. */
static inline void krdma_mr_use_more(struct krdma_mr *mr, int count)
{
	atomic_add(count, &mr->uses);
	refcount_add(count, &mr->res.refs);
}

/* The part of krdma_mr_use_fast() that is about the memory, not about its end. */
static inline bool krdma_mr_point_to(const struct krdma_mr *mr, u64 addr, u32 length,
				     u32 access, struct krdma_segment *segment)
{
	u64 offset = addr - mr->addr;
	u64 room;

	/* An address before the first is far behind the last. */
	if ((access & ~mr->access) ||
	    check_sub_overflow(mr->length, offset, &room) || length > room)
		return false;
	segment->addr = mr->fast_addr + offset;
	segment->length = length;
	segment->key = mr->fast_lkey;
	return true;
}

/*
 * krdma_mr_begin_use() for the usual case: all of the region is in one place, and
 * nothing is wrong.  Otherwise false, and that one does it, or says why not.
 */
static inline bool krdma_mr_use_fast(struct krdma_mr *mr,
				     struct krdma_pd *pd, u64 addr, u32 length,
				     u32 access, struct krdma_segment *segment)
{
	if (!mr->fast || mr->pd != pd)
		return false;
	if (!krdma_mr_point_to(mr, addr, length, access, segment))
		return false;
	if (!atomic_inc_unless_negative(&mr->uses))
		return false;
	if (!krdma_resource_tryget(&mr->res)) {
		atomic_dec(&mr->uses);
		return false;
	}
	return true;
}

/* For KRDMA_OP_REG_MR; the access is that of ib_reg_wr. */
struct ib_mr *krdma_frmr_ib(struct krdma_frmr *frmr);
int krdma_access_ib(u32 access);
int krdma_access_check(struct krdma_device *dev, u32 access);

/*
 * The pool of a queue pair; process context.  Made by krdma_qp_create(), ended by
 * krdma_qp_end(), and destroyed by krdma_qp_free(): krdma_frmr_get() may come as long
 * as the connection is referred to.
 */
struct krdma_frmr_pool;
struct krdma_frmr_pool *krdma_frmr_pool_create(struct krdma_pd *pd, u32 count, u32 pages);
void krdma_frmr_pool_fail(struct krdma_frmr_pool *pool);
void krdma_frmr_pool_end(struct krdma_frmr_pool *pool);
void krdma_frmr_pool_destroy(struct krdma_frmr_pool *pool);
int krdma_frmr_check(const struct krdma_frmr *frmr, const struct krdma_frmr_pool *pool);
struct krdma_frmr_pool *krdma_qp_frmr_pool(struct krdma_qp *qp);

/* The domain's work: io/revoke.c. */
void krdma_pd_end_users(struct work_struct *work);

/* A queue pair that a peer can use begins and ends; process context. */
void krdma_pd_connected(struct krdma_pd *pd, struct krdma_qp *qp);
void krdma_pd_disconnected(struct krdma_pd *pd, struct krdma_qp *qp);

#endif /* _KRDMA_MR_H */
