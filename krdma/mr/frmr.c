// SPDX-License-Identifier: GPL-2.0
/*
 * Fast-registration MRs (FRMRs).  A connection's consumer registers them by work requests on
 * the connection itself, for each I/O, without waiting.
 *
 * FRMRs are allocated with the queue pair and deregistered with it.  That includes those that
 * the consumer has at that moment: it puts them later, and until then its operations on them
 * fail.
 *
 * When the connection has failed, an FRMR that the consumer puts may have an rkey that is still
 * valid, because its invalidation was flushed.  A peer of another connection in the PD could
 * use the rkey.  The memory therefore stays mapped for DMA until the rkey is invalid; otherwise
 * the device would access whatever is mapped at these addresses next.
 */
#include <linux/err.h>
#include <linux/refcount.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait_bit.h>
#include <rdma/ib_verbs.h>

#include "core/cgroup.h"
#include "core/objects.h"
#include "core/quirks.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "core/resource.h"
#include "core/session.h"

/**
 * struct krdma_frmr - fast-registration MR of a connection
 * @pool: the pool of the connection
 * @node: entry of the pool's idle list; protected by the pool's lock
 * @lock: protects the fields below.  Any context.
 * @charge: charge for @ib; used only by the code that creates and ends it
 * @busy: krdma_frmr_map() is running, without @lock: the end waits for it
 * @dying: @ib is NULL, but the rkey is still valid
 * @ib: ib_core's MR; NULL when the queue pair is gone
 * @ibdev: the device; valid as long as @ib or @sg is
 * @sg: the mapped list, NULL if none is mapped
 * @entries: number of entries of @sg
 * @mapped: number of entries of @sg for the device
 * @kept: space for a copy of @sg, used after the consumer has put the FRMR
 * @given_back: @sg is @kept, and the memory may belong to a new owner
 * @key: the rkey of the last mapping
 * @addr: the remote address of the last mapping
 */
struct krdma_frmr {
	struct krdma_frmr_pool *pool;
	struct list_head node;
	struct krdma_charge charge;
	spinlock_t lock;		/* see above */
	bool busy;
	bool dying;
	struct ib_mr *ib;
	struct ib_device *ibdev;
	struct scatterlist *sg;
	unsigned int entries;
	unsigned int mapped;
	struct scatterlist *kept;
	bool given_back;
	u32 key;
	u64 addr;
};

/**
 * struct krdma_frmr_pool - the FRMRs of a connection
 * @refs: the queue pair's reference, and one for each FRMR that the consumer has
 * @lock: protects @idle and @ended.  Any context.
 * @idle: FRMRs that the consumer does not have
 * @ended: krdma_frmr_get() returns none any more
 * @failed: the connection has failed or is being closed: rkeys may stay valid although their
 *	FRMRs are put.  Only ever set; before the consumer is notified.
 * @pd: the PD; valid until krdma_frmr_pool_destroy() has returned
 * @pages: pages that each FRMR can span
 * @count: number of FRMRs
 * @mrs: all FRMRs
 */
struct krdma_frmr_pool {
	refcount_t refs;
	spinlock_t lock;		/* see above */
	struct list_head idle;
	bool ended;
	bool failed;
	struct krdma_pd *pd;
	u32 pages;
	u32 count;
	struct krdma_frmr mrs[] __counted_by(count);
};

static void krdma_frmr_unmap(struct krdma_frmr *frmr)
{
	lockdep_assert_held(&frmr->lock);

	/* The new owner of the memory must not get the contents of a bounce buffer. */
	if (frmr->sg)
		ib_dma_unmap_sg_attrs(frmr->ibdev, frmr->sg, frmr->entries, DMA_BIDIRECTIONAL,
				      frmr->given_back ? DMA_ATTR_SKIP_CPU_SYNC : 0);
	frmr->given_back = false;
	WRITE_ONCE(frmr->sg, NULL);
}

/* The consumer gets its list and its memory back; the memory stays mapped. */
static void krdma_frmr_keep(struct krdma_frmr *frmr)
{
	struct scatterlist *entry;
	unsigned int i;

	lockdep_assert_held(&frmr->lock);

	/* The device may have written some of the data. */
	for_each_sg(frmr->sg, entry, frmr->mapped, i)
		ib_dma_sync_single_for_cpu(frmr->ibdev, sg_dma_address(entry), sg_dma_len(entry),
					   DMA_BIDIRECTIONAL);
	for_each_sg(frmr->sg, entry, frmr->entries, i) {
		frmr->kept[i] = *entry;
		sg_unmark_end(&frmr->kept[i]);
	}
	sg_mark_end(&frmr->kept[frmr->entries - 1]);
	frmr->given_back = true;
	WRITE_ONCE(frmr->sg, frmr->kept);
}

static void krdma_frmr_pool_put(struct krdma_frmr_pool *pool)
{
	if (!refcount_dec_and_test(&pool->refs))
		return;
	for (u32 i = 0; i < pool->count; i++)
		kfree(pool->mrs[i].kept);
	kfree(krdma_object_uncount(KRDMA_OBJECT_FRMR_POOL, pool));
}

/* End the device part.  The consumer may have the FRMR, and be about to map or put it. */
static void krdma_frmr_end(struct krdma_frmr *frmr)
{
	struct ib_mr *ib_mr;
	unsigned long flags;

	spin_lock_irqsave(&frmr->lock, flags);
	while (frmr->busy) {
		spin_unlock_irqrestore(&frmr->lock, flags);
		wait_var_event(&frmr->busy, !READ_ONCE(frmr->busy));
		spin_lock_irqsave(&frmr->lock, flags);
	}
	ib_mr = frmr->ib;
	frmr->ib = NULL;
	frmr->dying = ib_mr;
	spin_unlock_irqrestore(&frmr->lock, flags);
	if (!ib_mr)
		return;

	/*
	 * A peer of another connection in the PD may have the rkey, too: invalidate the rkey
	 * before the addresses behind it are unmapped.  A consumer that puts the FRMR meanwhile
	 * leaves that to this function.
	 */
	krdma_key_end(frmr->pool->pd, ib_mr);
	spin_lock_irqsave(&frmr->lock, flags);
	frmr->dying = false;
	/*
	 * Also if the rkey may still work: the memory is the consumer's, and will have other
	 * contents.  An IOMMU then refuses what peers send there.
	 */
	krdma_frmr_unmap(frmr);
	spin_unlock_irqrestore(&frmr->lock, flags);
	krdma_uncharge_object(&frmr->charge, frmr->ibdev);
}

/**
 * krdma_frmr_pool_create() - Allocate the FRMRs of a queue pair
 * @pd: the PD of the queue pair
 * @count: number of FRMRs, not 0
 * @pages: pages that each FRMR can span
 *
 * Context: process context; may sleep.
 * Return: the pool, to be released by krdma_frmr_pool_destroy(), or an ERR_PTR:
 * -EOPNOTSUPP: the device has no fast registration, or none that can be invalidated;
 * -EINVAL: 0 pages, or more than &struct krdma_limits.max_fast_reg_pages;
 * -EDQUOT: the control group has reached its limit;
 * -ENOMEM, -EINTR, -ERESTARTSYS, -EIO.
 */
struct krdma_frmr_pool *krdma_frmr_pool_create(struct krdma_pd *pd, u32 count, u32 pages)
{
	struct krdma_frmr_pool *pool;
	int ret;

	if (!(krdma_device_caps(pd->dev) & KRDMA_DEVICE_CAP_FAST_REG) ||
	    !krdma_quirk_invalidates(pd->ib->device))
		return ERR_PTR(-EOPNOTSUPP);
	if (!pages || pages > krdma_device_limits(pd->dev)->max_fast_reg_pages)
		return ERR_PTR(-EINVAL);

	/* Not kvzalloc(): the last put, in any context, frees it. */
	pool = krdma_object_count(KRDMA_OBJECT_FRMR_POOL,
				  kzalloc(struct_size(pool, mrs, count),
					  GFP_KERNEL_ACCOUNT | __GFP_NOWARN));
	if (!pool)
		return ERR_PTR(-ENOMEM);

	refcount_set(&pool->refs, 1);
	spin_lock_init(&pool->lock);
	INIT_LIST_HEAD(&pool->idle);
	pool->pd = pd;
	pool->pages = pages;
	pool->count = count;

	for (u32 i = 0; i < count; i++)
		spin_lock_init(&pool->mrs[i].lock);

	for (u32 i = 0; i < count; i++) {
		struct ib_device *ibdev = pd->ib->device;
		struct krdma_frmr *frmr = &pool->mrs[i];
		struct ib_mr *ib_mr;

		/* Allocate here, because a registration for an I/O must not wait for memory. */
		ret = -ENOMEM;
		frmr->kept = kmalloc_objs(*frmr->kept, pages, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!frmr->kept)
			goto err_destroy;
		ret = krdma_charge_object(&frmr->charge, pd->session, ibdev);
		if (ret)
			goto err_destroy;
		ib_mr = ib_alloc_mr(pd->ib, IB_MR_TYPE_MEM_REG, pages);
		if (IS_ERR(ib_mr)) {
			ret = krdma_provider_error(PTR_ERR(ib_mr));
			krdma_uncharge_object(&frmr->charge, ibdev);
			goto err_destroy;
		}
		frmr->pool = pool;
		frmr->ibdev = ibdev;
		frmr->ib = ib_mr;
		list_add_tail(&frmr->node, &pool->idle);
	}
	return pool;

err_destroy:
	krdma_frmr_pool_destroy(pool);
	return ERR_PTR(ret);
}

/**
 * krdma_frmr_pool_fail() - Mark a pool as failed when its connection fails or is closed
 * @pool: the pool of the connection, or NULL
 *
 * FRMRs that are put from then on stay mapped until they are deregistered.  Call this before
 * the consumer is notified of the failure.
 *
 * Context: any.
 */
void krdma_frmr_pool_fail(struct krdma_frmr_pool *pool)
{
	if (pool)
		WRITE_ONCE(pool->failed, true);
}

/**
 * krdma_frmr_pool_end() - Deregister the FRMRs of a queue pair that has ended
 * @pool: its pool; all posted work requests have completed
 *
 * krdma_frmr_get() returns no FRMR any more, and those that the consumer has are useless.  The
 * pool itself stays.
 *
 * Context: process context; may sleep.
 */
void krdma_frmr_pool_end(struct krdma_frmr_pool *pool)
{
	unsigned long flags;

	spin_lock_irqsave(&pool->lock, flags);
	pool->ended = true;
	spin_unlock_irqrestore(&pool->lock, flags);

	for (u32 i = 0; i < pool->count; i++)
		krdma_frmr_end(&pool->mrs[i]);
}

/**
 * krdma_frmr_pool_destroy() - Release the pool of a queue pair that is freed
 * @pool: its pool, or NULL; krdma_frmr_get() is not called with it any more.  Ended, if it was
 *	not.
 *
 * Context: process context; may sleep.
 */
void krdma_frmr_pool_destroy(struct krdma_frmr_pool *pool)
{
	if (!pool)
		return;

	krdma_frmr_pool_end(pool);
	krdma_frmr_pool_put(pool);
}

/**
 * krdma_frmr_pool_get() - Get an FRMR of a pool
 * @pool: the pool, or NULL
 *
 * Context: any but NMI.
 * Return: the FRMR, for krdma_frmr_put(), or NULL if none is left.
 */
struct krdma_frmr *krdma_frmr_pool_get(struct krdma_frmr_pool *pool)
{
	struct krdma_frmr *frmr = NULL;
	unsigned long flags;

	if (!pool)
		return NULL;

	spin_lock_irqsave(&pool->lock, flags);
	if (!pool->ended)
		frmr = list_first_entry_or_null(&pool->idle, struct krdma_frmr, node);
	if (frmr) {
		list_del_init(&frmr->node);
		refcount_inc(&pool->refs);
	}
	spin_unlock_irqrestore(&pool->lock, flags);

	return frmr;
}

/**
 * krdma_frmr_put() - Put an FRMR
 * @frmr: the FRMR.  If it was registered, either side has invalidated it and the caller has
 *	seen that completion, or its connection has ended.  After the end of the connection its
 *	peer has no access any more.  A peer of another connection of the session that knows the
 *	rkey loses access only when this connection is closed.
 *
 * The caller gets the memory and its list back.  May be called after the connection is gone.
 *
 * Context: any but NMI.
 */
void krdma_frmr_put(struct krdma_frmr *frmr)
{
	struct krdma_frmr_pool *pool = frmr->pool;
	unsigned long flags;
	bool kept;

	spin_lock_irqsave(&frmr->lock, flags);
	kept = frmr->sg && (frmr->dying || (frmr->ib && READ_ONCE(pool->failed)));
	if (kept)
		krdma_frmr_keep(frmr);
	else
		krdma_frmr_unmap(frmr);
	spin_unlock_irqrestore(&frmr->lock, flags);

	/* A kept FRMR cannot be used again until it ends. */
	if (!kept) {
		spin_lock_irqsave(&pool->lock, flags);
		list_add(&frmr->node, &pool->idle);
		spin_unlock_irqrestore(&pool->lock, flags);
	}
	krdma_frmr_pool_put(pool);
}
EXPORT_SYMBOL_NS_GPL(krdma_frmr_put, "KRDMA");

/* Map the list into the MR, with an rkey that differs from the last one. */
static int krdma_frmr_fill(struct krdma_frmr *frmr, struct scatterlist *sg, int mapped)
{
	struct ib_mr *ib_mr = frmr->ib;
	int entries;

	ib_update_fast_reg_key(ib_mr, ib_inc_rkey(ib_mr->rkey));
	entries = ib_map_mr_sg(ib_mr, sg, mapped, NULL, PAGE_SIZE);
	if (entries < 0 && entries != -EINVAL)
		return krdma_provider_error(entries);
	/* hns returns 0 if it finds no memory. */
	if (!entries)
		return -ENOMEM;
	if (entries != mapped)
		return -EMSGSIZE;

	/*
	 * Only the offset in the page matters; a peer need not know the kernel's address.  Nor
	 * does the range start at 0, which peers may take for no address: see
	 * krdma_mr_register().
	 */
	ib_mr->iova = PAGE_SIZE + offset_in_page(ib_mr->iova);
	frmr->addr = ib_mr->iova;
	frmr->key = ib_mr->rkey;
	return 0;
}

static u64 krdma_sg_pages(struct scatterlist *sg, unsigned int entries)
{
	struct scatterlist *entry;
	unsigned int i;
	u64 pages = 0;

	for_each_sg(sg, entry, entries, i)
		pages += PFN_UP(offset_in_page(entry->offset) + (u64)entry->length);
	return pages;
}

/**
 * krdma_frmr_map() - Map a scatterlist into an FRMR
 * @frmr: the FRMR, not registered
 * @sg: the memory, not mapped for DMA; memory and list stay until krdma_frmr_put() or the next
 *	krdma_frmr_map().  All entries but the first begin, and all but the last end, at a page
 *	boundary.
 * @entries: number of entries of @sg
 *
 * The FRMR gets a new rkey, which becomes valid with KRDMA_OP_REG_MR.
 *
 * A provider may allocate memory here: hns does.  If the connection ends meanwhile, its end
 * waits.
 *
 * Context: process context; may sleep.  One call for an FRMR at a time, and none at the same
 * time as krdma_frmr_put().
 * Return: 0, or
 * -EINVAL: no entries;
 * -EMSGSIZE: more pages than the FRMR can span, or the entries do not meet at page boundaries;
 * -ENOTCONN: the connection has ended;
 * -ENOMEM: the provider has no memory for it;
 * -EIO: it cannot be mapped for DMA.
 */
int krdma_frmr_map(struct krdma_frmr *frmr, struct scatterlist *sg, unsigned int entries)
{
	unsigned long flags;
	int mapped;
	int ret;

	might_sleep();

	if (!entries)
		return -EINVAL;
	/* Each valid entry has at least one page, so more entries than pages cannot fit. */
	if (entries > frmr->pool->pages || krdma_sg_pages(sg, entries) > frmr->pool->pages)
		return -EMSGSIZE;

	spin_lock_irqsave(&frmr->lock, flags);
	frmr->busy = frmr->ib && !READ_ONCE(frmr->pool->failed);
	if (frmr->busy)
		krdma_frmr_unmap(frmr);
	spin_unlock_irqrestore(&frmr->lock, flags);
	if (!frmr->busy)
		return -ENOTCONN;

	ret = -EIO;
	mapped = ib_dma_map_sg(frmr->ib->device, sg, entries, DMA_BIDIRECTIONAL);
	if (mapped) {
		ret = krdma_frmr_fill(frmr, sg, mapped);
		if (ret)
			ib_dma_unmap_sg(frmr->ib->device, sg, entries, DMA_BIDIRECTIONAL);
	}

	spin_lock_irqsave(&frmr->lock, flags);
	if (!ret) {
		frmr->entries = entries;
		frmr->mapped = mapped;
		WRITE_ONCE(frmr->sg, sg);
	}
	WRITE_ONCE(frmr->busy, false);
	spin_unlock_irqrestore(&frmr->lock, flags);
	/* wake_up_var() looks for waiters without a lock.  Pairs with prepare_to_wait(). */
	smp_mb();
	wake_up_var(&frmr->busy);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_frmr_map, "KRDMA");

/**
 * krdma_frmr_rkey() - Get the rkey of an FRMR
 * @frmr: the FRMR, mapped
 *
 * Context: any.
 * Return: the rkey, for the peer and for KRDMA_OP_LOCAL_INV.
 */
u32 krdma_frmr_rkey(const struct krdma_frmr *frmr)
{
	return frmr->key;
}
EXPORT_SYMBOL_NS_GPL(krdma_frmr_rkey, "KRDMA");

/**
 * krdma_frmr_addr() - Get the remote address of an FRMR
 * @frmr: the FRMR, mapped
 *
 * Context: any.
 * Return: the remote address of its first byte.
 */
u64 krdma_frmr_addr(const struct krdma_frmr *frmr)
{
	return frmr->addr;
}
EXPORT_SYMBOL_NS_GPL(krdma_frmr_addr, "KRDMA");

/**
 * krdma_frmr_ib() - Get ib_core's MR for the registration work request
 * @frmr: the FRMR, mapped
 *
 * Context: any; the caller keeps the queue pair.
 * Return: ib_core's MR, or NULL if the queue pair has ended.
 */
struct ib_mr *krdma_frmr_ib(struct krdma_frmr *frmr)
{
	return READ_ONCE(frmr->ib);
}

/**
 * krdma_frmr_check() - Check whether the registration of an FRMR can be posted
 * @frmr: the FRMR
 * @pool: the pool of the connection to post on, or NULL
 *
 * Context: any; the caller keeps the queue pair.
 * Return: 0; -EXDEV: the FRMR belongs to another connection; -EINVAL: it is not mapped.
 */
int krdma_frmr_check(const struct krdma_frmr *frmr, const struct krdma_frmr_pool *pool)
{
	if (frmr->pool != pool)
		return -EXDEV;
	return READ_ONCE(frmr->sg) ? 0 : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_frmr_check);
