/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions (MRs), as the data path sees them. */
#ifndef _KRDMA_MR_H
#define _KRDMA_MR_H

#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/overflow.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/private.h"
#include "core/resource.h"
#include "mr/split.h"

struct ib_mr;
struct krdma_pd;
struct krdma_mem;
struct krdma_mr_name;
struct krdma_reaches;
struct krdma_qp;
struct krdma_sge;

/**
 * struct krdma_mr_keys - the keys of an MR that has several
 * @rcu: frees the structure
 * @span: bytes that a key covers, except the last one; the first one covers less by the offset
 *	of the MR in its first page
 * @count: number of keys
 * @key: the keys, in the order of the memory: the lkey and the rkey
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

/* Set in &struct krdma_mr.uses when no new use can begin. */
#define KRDMA_USES_CLOSED	INT_MIN

/**
 * struct krdma_mr - memory region
 * @res: the device part, which is @mem
 * @refs: keeps the object: references of the consumer, of the device part and of templates
 * @uses: number of work requests in flight, and KRDMA_USES_CLOSED once the owner has dropped @res
 *	or is about to.  The owner's reference to @res is put when there are none.
 * @session: the session
 * @pd: the PD; kept by the device part, afterwards only compared
 * @mem: the memory that the device can access; belongs to the device part
 * @access: &enum krdma_access
 * @by_key: local SGEs use @lkey with addresses of the MR, not the DMA addresses
 * @lkey: the lkey; 0 if there are several
 * @rkey: the rkey, 0 without remote rights or if there are several
 * @keys: the keys if there are several; NULL: one key covers the MR, or there is none.  Valid
 *	as long as the MR.
 * @reaches: the keys in the PD's tree, if peers of lanes can access the memory; belongs to the
 *	device part, and is reset under the lock of the tree
 * @name: its name there (mr/name.c), or NULL; protected by that lock
 * @windows: devices of peers' hosts may access it over lanes
 * @views: its keys in other PDs (mr/view.c); protected by the lock of the tree
 * @buffer: the kernel's address of the memory, if it has one; otherwise NULL
 * @addr: its first address for local SGEs
 * @peer_addr: its first address for peers, and for the device in SGEs with a key
 * @length: bytes
 * @fast_pd: @pd, if one SGE covers all of it: from @fast_addr on, with @fast_lkey; otherwise NULL
 * @fast_addr: see @fast_pd
 * @fast_lkey: see @fast_pd
 * @revoke: invalidates the rkey while work requests are in flight
 * @condemned: its users have to end: see krdma_mr_end_users(); never reset
 * @stuck: the memory is the kernel's, and its device may still access it; set at the end
 * @ended: called when @mem was released, and is freed or was put aside; NULL: no callback
 * @context: argument of @ended
 * @rcu: frees the structure
 *
 * All fields but the counts, @name, @condemned and @stuck are set before the MR is visible to
 * others.
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
	struct krdma_reaches *reaches;
	struct krdma_mr_name *name;
	bool windows;
	struct list_head views;
	void *buffer;
	u64 addr;
	u64 peer_addr;
	u64 length;
	struct krdma_pd *fast_pd;
	u64 fast_addr;
	u32 fast_lkey;
	bool condemned;
	bool stuck;
	struct work_struct revoke;
	void (*ended)(void *context);
	void *context;
	struct rcu_head rcu;
};

/* Described at its definition: begin to use an MR for a work request.  Any context. */
int krdma_mr_begin_use(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr,
		       u32 length, u32 access, struct ib_sge *ib_sges,
		       unsigned int room);

/* The device SGEs alone, of an MR that the caller uses already.  Any context. */
int krdma_mr_sges(const struct krdma_mr *mr, u64 addr, u32 length, struct ib_sge *ib_sges,
		  unsigned int room);

/* Check a range once, and keep the object, which is no use of the MR. */
int krdma_mr_get_range(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr, u64 length,
		       u32 access);
void krdma_mr_put(struct krdma_mr *mr);

/* The same for memory that the processor copies (mr/copy.c). */
int krdma_mr_begin_range(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr, u64 length,
			 u32 access);

/* After krdma_mr_reach(): the MR may be gone when this returns.  Any context but NMI. */
static inline void krdma_mr_leave(struct krdma_mr *mr)
{
	krdma_resource_put(&mr->res);
}

/*
 * Call this for each krdma_mr_begin_use() that succeeded, once the work request has completed
 * or was not posted, and before the completion is delivered: the consumer may deregister the MR
 * then.  The MR may be gone when this returns.  Any context but NMI.
 */
static inline void krdma_mr_end_uses(struct krdma_mr *mr, int count)
{
	/* Fully ordered: a task that sees 0 may deregister the MR, which may then be gone. */
	if (unlikely(atomic_sub_return(count, &mr->uses) == KRDMA_USES_CLOSED))
		krdma_resource_put(&mr->res);
}

static inline void krdma_mr_end_use(struct krdma_mr *mr)
{
	krdma_mr_end_uses(mr, 1);
}

/* Add uses; the caller has a use that does not end meanwhile. */
static inline void krdma_mr_use_more(struct krdma_mr *mr, int count)
{
	atomic_add(count, &mr->uses);
}

/* The part of krdma_mr_use_fast() that checks and translates the address range. */
static inline bool krdma_mr_point_to(const struct krdma_mr *mr, u64 addr, u32 length,
				     u32 access, struct ib_sge *ib_sge)
{
	u64 offset = addr - mr->addr;
	u64 room;

	/* For an address before the first one, @offset wraps to a value beyond the length. */
	if ((access & ~mr->access) ||
	    check_sub_overflow(mr->length, offset, &room) || length > room)
		return false;
	ib_sge->addr = mr->fast_addr + offset;
	ib_sge->length = length;
	ib_sge->lkey = mr->fast_lkey;
	return true;
}

/*
 * Fast path of krdma_mr_begin_use(): one SGE covers the whole MR, and there is no error.  If
 * this returns false, the caller calls krdma_mr_begin_use(), which does the work or returns the
 * error.
 */
static inline bool krdma_mr_use_fast(struct krdma_mr *mr,
				     struct krdma_pd *pd, u64 addr, u32 length,
				     u32 access, struct ib_sge *ib_sge)
{
	if (mr->fast_pd != pd)
		return false;
	if (!krdma_mr_point_to(mr, addr, length, access, ib_sge))
		return false;
	return atomic_inc_unless_negative(&mr->uses);
}

#endif /* _KRDMA_MR_H */
