// SPDX-License-Identifier: GPL-2.0
/*
 * A process's memory.
 *
 * There are two ways to register it.  Where the provider is known to take a
 * kernel caller, it does all of it: one key for any size, pages of any size,
 * charged to the process by ib_core.  Everywhere else, krdma pins the pages,
 * charges them, maps them and registers them like its own, with as many keys as
 * that takes.  Either way the keys' addresses are the process's own, and local
 * operations go through the keys too.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "mr/mem.h"
#include "core/quirks.h"
#include "mr/mr.h"
#include "core/resource.h"
#include "core/session.h"

static bool force_pin;
module_param(force_pin, bool, 0644);
MODULE_PARM_DESC(force_pin, "Pin processes' memory itself even where the provider could");

/* What says something of the process's memory is handed on. */
static int krdma_user_error(int error)
{
	switch (error) {
	case -EAGAIN:
	case -EFAULT:
	case -EPERM:
		return error;
	default:
		return krdma_provider_error(error);
	}
}

static int krdma_mem_by_provider(struct krdma_mem *mem, unsigned long start)
{
	struct ib_mr *mr;
	int ret;

	ret = krdma_charge_object(&mem->one.charge, mem->pd->session,
				  mem->pd->ib->device);
	if (ret)
		return ret;
	/* The address where it is for peers has to be that of the process: see rxe, siw. */
	mr = ib_reg_user_mr(mem->pd->ib, start, mem->length, start,
			    krdma_access_ib(mem->access));
	if (IS_ERR(mr))
		return krdma_user_error(PTR_ERR(mr));

	krdma_mem_adopt(mem, mr);
	return 0;
}

/*
 * Where ib_core charges what a provider pins, and by its rule: one counter has all of a
 * process's pinned pages, each registration's once.  What the process has locked itself is
 * in another, so that registering locked memory takes nothing of that.
 */
static int krdma_mem_charge(struct krdma_mem *mem, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (!can_do_mlock())
		return -EPERM;

	if (atomic64_add_return(pages, &current->mm->pinned_vm) > limit &&
	    !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &current->mm->pinned_vm);
		return -ENOMEM;
	}

	/* For the end, which may come from anywhere, when the process is long gone. */
	mmgrab(current->mm);
	mem->mm = current->mm;
	mem->charged = pages;
	return 0;
}

static void krdma_mem_uncharge(struct krdma_mem *mem)
{
	atomic64_sub(mem->charged, &mem->mm->pinned_vm);
	mmdrop(mem->mm);
	mem->mm = NULL;
}

/* Pins @count pages and puts them into the table, or neither. */
static int krdma_mem_pin(struct krdma_mem *mem, unsigned long start,
			 struct page **pages, unsigned int count)
{
	unsigned int flags = FOLL_LONGTERM;
	int pinned;
	int ret;

	flags |= mem->access & KRDMA_ACCESS_LOCAL_WRITE ? FOLL_WRITE : KRDMA_FOLL_READ;
	pinned = pin_user_pages_fast(start & PAGE_MASK, count, flags, pages);
	if (pinned < 0)
		return krdma_user_error(pinned);
	if (pinned != count) {
		ret = -EFAULT;
		goto err_unpin;
	}

	ret = sg_alloc_table_from_pages_segment(&mem->table, pages, count,
						offset_in_page(start), mem->length,
						ib_dma_max_seg_size(mem->pd->ib->device),
						GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_unpin;
	return 0;

err_unpin:
	unpin_user_pages(pages, pinned);
	return ret;
}

static int krdma_mem_by_pinning(struct krdma_mem *mem, unsigned long start)
{
	u64 count = DIV_ROUND_UP_ULL(offset_in_page(start) + mem->length, PAGE_SIZE);
	struct page **pages;
	int ret;

	if (!(krdma_device_caps(mem->pd->dev) & KRDMA_DEVICE_CAP_FAST_REG))
		return -EOPNOTSUPP;
	/* Before anything is pinned that could not be registered. */
	if (count > (u64)krdma_device_limits(mem->pd->dev)->max_fast_reg_pages *
		    KRDMA_MR_KEYS_MAX || count > INT_MAX)
		return -EFBIG;

	ret = krdma_mem_charge(mem, count);
	if (ret)
		return ret;

	pages = kvmalloc_objs(struct page *, count, GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	ret = krdma_mem_pin(mem, start, pages, count);
	kvfree(pages);
	if (ret)
		return ret;

	ret = krdma_mem_map_table(mem);
	return ret ? ret : krdma_mem_register(mem, start);
}

/**
 * krdma_mem_map_user - the calling process's memory
 * @mem: new; its length and access are checked
 * @start: the process's address
 *
 * Context: process context, with the process's memory; may sleep.
 * Return: 0, or
 * -EFAULT: it is not all there, or not with these rights;
 * -ENOMEM, -EPERM: it may not lock so much memory, or none;
 * -EDQUOT: the control group has as many registrations as it may;
 * -EFBIG: more pages than KRDMA_MR_KEYS_MAX registrations can span, of a provider
 *	that cannot do it itself;
 * -EOPNOTSUPP: the device cannot do it at all;
 * -EAGAIN, -EINTR, -ERESTARTSYS, -EIO, and what krdma_mem_register() returns.
 */
int krdma_mem_map_user(struct krdma_mem *mem, unsigned long start)
{
	mem->of_user = true;

	if (!READ_ONCE(force_pin) && krdma_quirk_registers_user(mem->pd->ib->device))
		return krdma_mem_by_provider(mem, start);
	return krdma_mem_by_pinning(mem, start);
}

/**
 * krdma_mem_release_user - give pages back that were pinned
 * @mem: nothing to do with the device any more; of any kind
 *
 * Context: process context, of any process or none; may sleep.
 */
void krdma_mem_release_user(struct krdma_mem *mem)
{
	bool dirty = mem->access & KRDMA_ACCESS_LOCAL_WRITE;
	struct scatterlist *sg;
	unsigned int i;

	if (!mem->mm)
		return;

	for_each_sgtable_sg(&mem->table, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg), PFN_UP(sg->offset + sg->length),
						 dirty);
		cond_resched();
	}
	krdma_mem_uncharge(mem);
}
