// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a process.
 *
 * There are two ways to register it.  If the provider is known to support a kernel caller, the
 * provider does everything: one rkey for any size, pages of any size, charged to the process by
 * ib_core.  Otherwise krdma pins the pages, charges them, maps them and registers them like
 * kernel memory, with as many rkeys as needed.  In both cases remote addresses are the
 * process's addresses, and local work requests use the keys, too.
 *
 * The pages that a provider has pinned are known to it alone.  So memory that lanes copy is always
 * pinned by krdma, which keeps the list of its pages: a lane finds any of them at once, however
 * long the memory is.
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

#include "core/device.h"
#include "core/device_query.h"
#include "mr/mem.h"
#include "core/quirks.h"
#include "mr/mem_user.h"
#include "mr/mr.h"
#include "core/resource.h"
#include "core/session.h"

static bool force_pin;
module_param(force_pin, bool, 0644);
MODULE_PARM_DESC(force_pin, "Pin processes' memory itself even where the provider could");

/* Pages that are pinned in one call: as many as ib_core pins in one. */
#define KRDMA_PIN_PAGES		((unsigned int)(PAGE_SIZE / sizeof(struct page *)))

/* Pass on errors about the process's memory. */
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
	/* The iova has to be the process's address: see rxe, siw. */
	mr = ib_reg_user_mr(mem->pd->ib, start, mem->length, start,
			    krdma_access_ib(mem->access));
	if (IS_ERR(mr))
		return krdma_user_error(PTR_ERR(mr));

	krdma_mem_adopt(mem, mr);
	return 0;
}

/*
 * Charge the counter that ib_core charges for pages that a provider pins, by the same rule:
 * pinned_vm counts all pinned pages of a process, once for each MR.  Memory that the process
 * has locked itself is in another counter, so registering locked memory does not use up that
 * limit.
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

	/* For the release, which may run in any context after the process is gone. */
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

/*
 * Pin @count pages, or none.  In parts: the pages that are there are pinned with interrupts off.
 * The errno is that of the first page that cannot be pinned.
 */
static int krdma_mem_pin_pages(unsigned long start, struct page **pages, unsigned int count,
			       unsigned int flags)
{
	unsigned int done = 0;
	int pinned;

	while (done < count) {
		pinned = -EINTR;
		if (!fatal_signal_pending(current))
			pinned = pin_user_pages_fast(start + done * PAGE_SIZE,
						     min(count - done, KRDMA_PIN_PAGES), flags,
						     &pages[done]);
		if (pinned <= 0) {
			unpin_user_pages(pages, done);
			return pinned ? krdma_user_error(pinned) : -EFAULT;
		}
		done += pinned;
		cond_resched();
	}
	return 0;
}

/* Pin @count pages and put them into the table; on an error do neither. */
static int krdma_mem_pin(struct krdma_mem *mem, unsigned long start,
			 struct page **pages, unsigned int count)
{
	unsigned int flags = FOLL_LONGTERM;
	int ret;

	flags |= mem->access & KRDMA_ACCESS_LOCAL_WRITE ? FOLL_WRITE : KRDMA_FOLL_READ;
	ret = krdma_mem_pin_pages(start & PAGE_MASK, pages, count, flags);
	if (ret)
		return ret;

	ret = sg_alloc_table_from_pages_segment(&mem->table, pages, count,
						offset_in_page(start), mem->length,
						ib_dma_max_seg_size(mem->pd->ib->device),
						GFP_KERNEL_ACCOUNT);
	if (ret)
		unpin_user_pages(pages, count);
	return ret;
}

static int krdma_mem_by_pinning(struct krdma_mem *mem, unsigned long start, bool copied)
{
	u64 count = DIV_ROUND_UP_ULL(offset_in_page(start) + mem->length, PAGE_SIZE);
	struct page **pages;
	int ret;

	if (!(krdma_device_caps(mem->pd->dev) & KRDMA_DEVICE_CAP_FAST_REG))
		return -EOPNOTSUPP;
	/* Check before pinning pages that cannot be registered. */
	if (count > (u64)krdma_device_limits(mem->pd->dev)->max_fast_reg_pages *
		    KRDMA_MR_KEYS_MAX || count > INT_MAX / sizeof(*pages))
		return -EFBIG;

	ret = krdma_mem_charge(mem, count);
	if (ret)
		return ret;

	pages = kvmalloc_objs(struct page *, count, GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	ret = krdma_mem_pin(mem, start, pages, count);
	if (!ret && copied)
		mem->pages = pages;
	else
		kvfree(pages);
	if (ret)
		return ret;

	ret = krdma_mem_map_table(mem);
	/* A lane's device finds any byte at once, too. */
	if (!ret && copied)
		ret = krdma_mem_make_chunks(mem);
	return ret ? ret : krdma_mem_register(mem, start);
}

/**
 * krdma_mem_map_user() - Map and register memory of the calling process
 * @mem: new; its length and access are checked
 * @start: the process's address
 * @copied: the processor copies it, too: for lanes
 *
 * Context: process context, with the process's address space; may sleep.
 * Return: 0, or
 * -EFAULT: part of the range is not mapped, or lacks the rights;
 * -ENOMEM, -EPERM: the process may not lock as much memory, or none;
 * -EDQUOT: the control group has reached its limit of MRs;
 * -EFBIG: more pages than KRDMA_MR_KEYS_MAX MRs can span, with a provider that cannot register
 * the range itself;
 * -EOPNOTSUPP: the device cannot register memory at all;
 * -EAGAIN, -EINTR, -ERESTARTSYS, -EIO, and the errors of krdma_mem_register().
 */
int krdma_mem_map_user(struct krdma_mem *mem, unsigned long start, bool copied)
{
	mem->of_user = true;

	if (!copied && !READ_ONCE(force_pin) && krdma_quirk_registers_user(mem->pd->ib->device))
		return krdma_mem_by_provider(mem, start);
	return krdma_mem_by_pinning(mem, start, copied);
}

/**
 * krdma_mem_release_user() - Unpin and uncharge pages of a process
 * @mem: memory of any kind, which no device accesses any more
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
