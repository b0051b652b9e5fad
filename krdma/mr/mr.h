/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory, as the data path sees it.
 */
#ifndef _KRDMA_REGION_H
#define _KRDMA_REGION_H

#include <linux/atomic.h>
#include <linux/overflow.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/private.h"
#include "core/resource.h"
#include "mr/split.h"

struct ib_mr;
struct krdma_domain;
struct krdma_memory;
struct krdma_qp;

/**
 * struct krdma_region_keys - the keys of a region that has several
 * @rcu: frees it
 * @span: bytes that a key covers, but for the last one; the first one covers as much less
 *	as the region begins behind the beginning of its page
 * @count: how many
 * @key: the keys, in the order of the memory: for local operations, and for peers
 */
struct krdma_region_keys {
	struct rcu_head rcu;
	u64 span;
	unsigned int count;
	struct {
		u32 local;
		u32 remote;
	} key[] __counted_by(count);
};

/**
 * struct krdma_region - a region of memory
 * @res: the device's part, which is @memory
 * @refs: keep the object: the consumer's, and the part's
 * @uses: operations in flight; negative from the moment of its release
 * @session: whose
 * @domain: where; kept by the part, later a value to compare with
 * @memory: what the device reaches; the part's
 * @access: &enum krdma_access
 * @by_key: operations go through @local_key with addresses of the region, not
 *	through the addresses for DMA
 * @local_key: for local operations; 0 if there are several
 * @remote_key: for peers, 0 without remote rights or if there are several
 * @keys: several keys; NULL: there is one for all of it, or none.  Stays as long as the
 *	region.
 * @addr: its first address, for local operations
 * @peer_addr: the same for peers, and for the device where a key stands for it
 * @length: bytes
 * @simple: the device sees all of it in one place: from @simple_addr on, by
 *	@simple_key
 * @simple_addr: see @simple
 * @simple_key: likewise
 * @revoke: takes the peers' key away while operations are in flight
 * @condemned: its users are to be ended: see krdma_region_end_users(); never false again
 * @ended: called when @memory has been let go; NULL: nobody is
 * @context: what for
 * @rcu: frees it
 *
 * All but the counts and @condemned is set before others see it.
 */
struct krdma_region {
	struct krdma_resource res;
	refcount_t refs;
	atomic_t uses;
	struct krdma_session *session;
	struct krdma_domain *domain;
	struct krdma_memory *memory;
	u32 access;
	bool by_key;
	u32 local_key;
	u32 remote_key;
	struct krdma_region_keys *keys;
	u64 addr;
	u64 peer_addr;
	u64 length;
	bool simple;
	u32 simple_key;
	u64 simple_addr;
	bool condemned;
	struct work_struct revoke;
	void (*ended)(void *context);
	void *context;
	struct rcu_head rcu;
};

/* Described at its definition: an operation is about to use memory.  Any context. */
int krdma_region_begin_use(struct krdma_region *region, struct krdma_domain *domain, u64 addr,
			   u32 length, u32 access, struct krdma_segment *segments,
			   unsigned int room);

/*
 * An operation has ended: for each krdma_region_begin_use() that succeeded, once the
 * operation has completed or was not posted, and before the consumer is told, who may
 * release the region then.  It may be gone when this returns.  Any context but NMI.
 */
static inline void krdma_region_end_uses(struct krdma_region *region, int count)
{
	/* First, and fully ordered: whoever sees 0 may take the memory. */
	atomic_sub_return(count, &region->uses);
	krdma_resource_put_many(&region->res, count);
}

static inline void krdma_region_end_use(struct krdma_region *region)
{
	krdma_region_end_uses(region, 1);
}

/* Some more, by who has one that does not end meanwhile. */
static inline void krdma_region_use_more(struct krdma_region *region, int count)
{
	atomic_add(count, &region->uses);
	refcount_add(count, &region->res.refs);
}

/* The part of krdma_region_use_simply() that is about the memory, not about its end. */
static inline bool krdma_region_point_to(const struct krdma_region *region, u64 addr, u32 length,
					 u32 access, struct krdma_segment *segment)
{
	u64 offset = addr - region->addr;
	u64 room;

	/* An address before the first is far behind the last. */
	if ((access & ~region->access) ||
	    check_sub_overflow(region->length, offset, &room) || length > room)
		return false;
	segment->addr = region->simple_addr + offset;
	segment->length = length;
	segment->key = region->simple_key;
	return true;
}

/*
 * krdma_region_begin_use() for the usual case: all of the region is in one place, and
 * nothing is wrong.  Otherwise false, and that one does it, or says why not.
 */
static inline bool krdma_region_use_simply(struct krdma_region *region,
					   struct krdma_domain *domain, u64 addr, u32 length,
					   u32 access, struct krdma_segment *segment)
{
	if (!region->simple || region->domain != domain)
		return false;
	if (!krdma_region_point_to(region, addr, length, access, segment))
		return false;
	if (!atomic_inc_unless_negative(&region->uses))
		return false;
	if (!krdma_resource_tryget(&region->res)) {
		atomic_dec(&region->uses);
		return false;
	}
	return true;
}

/* For KRDMA_OP_REGISTER; the access is that of ib_reg_wr. */
struct ib_mr *krdma_mr_ib(struct krdma_mr *mr);
int krdma_access_ib(u32 access);
int krdma_access_check(struct krdma_device *dev, u32 access);

/*
 * The pool of a queue pair; process context.  Made by krdma_qp_create(), ended by
 * krdma_qp_end(), and destroyed by krdma_qp_free(): krdma_mr_get() may come as long
 * as the connection is referred to.
 */
struct krdma_mr_pool;
struct krdma_mr_pool *krdma_mr_pool_create(struct krdma_domain *domain, u32 count, u32 pages);
void krdma_mr_pool_fail(struct krdma_mr_pool *pool);
void krdma_mr_pool_end(struct krdma_mr_pool *pool);
void krdma_mr_pool_destroy(struct krdma_mr_pool *pool);
int krdma_mr_check(const struct krdma_mr *mr, const struct krdma_mr_pool *pool);
struct krdma_mr_pool *krdma_qp_mr_pool(struct krdma_qp *qp);

/* The domain's work: io/revoke.c. */
void krdma_domain_end_users(struct work_struct *work);

/* A queue pair that a peer can use begins and ends; process context. */
void krdma_domain_connected(struct krdma_domain *domain, struct krdma_qp *qp);
void krdma_domain_disconnected(struct krdma_domain *domain, struct krdma_qp *qp);

#endif /* _KRDMA_REGION_H */
