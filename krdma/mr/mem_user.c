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
 *
 * A program may provide its pages itself (userfaultfd, FUSE), and then decides how long it takes to
 * bring them in.  The removal of the device must not wait for that.  So krdma pins the pages before
 * it uses the device.  Those that the provider will pin are brought in before, too, if the program
 * may have to provide them, so that the provider finds them.  Two kinds of programs keep it waiting
 * nevertheless: those that take their pages away again meanwhile, and those that map a file
 * meanwhile whose server does not answer, because that holds the lock of all their mappings.
 */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/hugetlb_inline.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/userfaultfd_k.h>
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

/* Pass on errors about the process's memory.  -EOPNOTSUPP: it cannot be pinned for long. */
static int krdma_user_error(int error)
{
	switch (error) {
	case -EAGAIN:
	case -EFAULT:
	case -EOPNOTSUPP:
	case -EPERM:
		return error;
	default:
		return krdma_provider_error(error);
	}
}

/*
 * Charge the counter that ib_core charges for pages that a provider pins, by the same rule:
 * pinned_vm counts all pinned pages of a process, once for each MR.  Memory that the process
 * has locked itself is in another counter, so registering locked memory does not use up that
 * limit.
 */
static int krdma_user_pages_charge(struct krdma_user_pages *user, unsigned long pages)
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
	user->mm = current->mm;
	user->charged = pages;
	return 0;
}

static void krdma_mm_uncharge(struct mm_struct *mm, unsigned long pages)
{
	atomic64_sub(pages, &mm->pinned_vm);
	mmdrop(mm);
}

/*
 * Pin @count pages, in parts: those that are there are pinned with interrupts off.  @done is how
 * many are pinned, also on an error, which is that of the first page that cannot be pinned.
 */
static int krdma_mem_pin_pages(unsigned long start, struct page **pages, unsigned int count,
			       unsigned int flags, unsigned int *done)
{
	int pinned;

	for (*done = 0; *done < count; *done += pinned) {
		if (fatal_signal_pending(current))
			return -EINTR;
		pinned = pin_user_pages_fast(start + *done * PAGE_SIZE,
					     min(count - *done, KRDMA_PIN_PAGES), flags,
					     &pages[*done]);
		if (pinned <= 0)
			return pinned ? krdma_user_error(pinned) : -EFAULT;
		cond_resched();
	}
	return 0;
}

/* Pin the pages that krdma registers.  On an error krdma_user_pages_put() unpins those that are. */
static int krdma_user_pages_take(struct krdma_user_pages *user, unsigned long start, u64 count,
				 unsigned int flags)
{
	user->pages = kvmalloc_objs(struct page *, count, GFP_KERNEL_ACCOUNT);
	if (!user->pages)
		return -ENOMEM;
	return krdma_mem_pin_pages(start, user->pages, count, flags, &user->count);
}

static unsigned int krdma_pin_flags(u32 access)
{
	return FOLL_LONGTERM | (access & KRDMA_ACCESS_LOCAL_WRITE ? FOLL_WRITE : KRDMA_FOLL_READ);
}

/* Whether a VMA's pages depend on more than the kernel. */
static bool krdma_vma_may_wait(struct vm_area_struct *vma)
{
	return userfaultfd_armed(vma) || !(vma_is_anonymous(vma) || is_vm_hugetlb_page(vma));
}

/*
 * Look at the mappings of a range that the provider will pin: 1 if its pages have to be brought in
 * before, because they depend on more than the kernel.  @flags are those of the provider.
 */
static int krdma_user_pages_look(const struct krdma_user_pages *user, unsigned long addr,
				 u64 count, unsigned int *flags)
{
	/* A mapping is found by its plain address. */
	unsigned long start = untagged_addr(addr), end = start + count * PAGE_SIZE;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	bool may_wait = false;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	vma = find_vma(mm, start);
	if (user->pins_writable && vma &&
	    (vma->vm_start > start || vma->vm_end < end || vma->vm_flags & VM_WRITE))
		*flags |= FOLL_WRITE;
	for (; vma && vma->vm_start < end && !may_wait; vma = find_vma(mm, vma->vm_end))
		may_wait = krdma_vma_may_wait(vma);
	mmap_read_unlock(mm);
	return may_wait;
}

/* Bring the pages in that the provider pins. */
static int krdma_user_pages_bring_in(unsigned long start, u64 count, unsigned int flags)
{
	unsigned int part, pinned;
	struct page **pages;
	int ret = 0;

	pages = kmalloc_objs(struct page *, min_t(u64, count, KRDMA_PIN_PAGES), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	for (; count && !ret; count -= part, start += part * PAGE_SIZE) {
		part = min_t(u64, count, KRDMA_PIN_PAGES);
		ret = krdma_mem_pin_pages(start, pages, part, flags, &pinned);
		unpin_user_pages(pages, pinned);
	}
	kfree(pages);
	return ret;
}

/* Whether the provider registers the memory. */
static int krdma_user_pages_choose(struct krdma_user_pages *user, struct krdma_device *dev,
				   bool copied)
{
	struct ib_device *ibdev = krdma_device_get_ibdev(dev);

	if (!ibdev)
		return -ENODEV;
	user->copied = copied;
	user->by_provider = !copied && !READ_ONCE(force_pin) &&
			    krdma_quirk_registers_user(ibdev);
	user->pins_writable = krdma_quirk_pins_writable(ibdev);
	krdma_device_put_ibdev(dev);
	return 0;
}

/* Check before pinning pages that cannot be registered. */
static int krdma_user_pages_check(const struct krdma_user_pages *user, struct krdma_device *dev,
				  u64 count)
{
	if (user->by_provider)
		return 0;
	if (!(krdma_device_caps(dev) & KRDMA_DEVICE_CAP_FAST_REG))
		return -EOPNOTSUPP;
	if (count > (u64)krdma_device_limits(dev)->max_fast_reg_pages * KRDMA_MR_KEYS_MAX ||
	    count > INT_MAX / sizeof(*user->pages))
		return -EFBIG;
	return 0;
}

/**
 * krdma_user_pages_get() - Get the pages of memory of the calling process
 * @user: filled in with 0; krdma_user_pages_put() must follow, also on an error
 * @dev: the device; the caller has a reference, and should have no use
 * @start: the process's address
 * @length: bytes
 * @access: &enum krdma_access
 * @copied: the processor copies it, too: for lanes
 *
 * The pages are charged while they are brought in.  ib_core charges those that the provider pins.
 *
 * Context: process context, with the process's address space; sleeps as long as the process likes.
 * Return: 0, or
 * -ENODEV: the device was removed;
 * -EFAULT: part of the range is not mapped, or lacks the rights;
 * -ENOMEM, -EPERM: the process may not lock as much memory, or none;
 * -EFBIG: more pages than KRDMA_MR_KEYS_MAX MRs can span, with a provider that cannot register
 * the range itself;
 * -EOPNOTSUPP: the device cannot register memory at all, or this memory cannot be pinned for long;
 * -EAGAIN, -EINTR, -EIO.
 */
int krdma_user_pages_get(struct krdma_user_pages *user, struct krdma_device *dev,
			 unsigned long start, u64 length, u32 access, bool copied)
{
	u64 count = DIV_ROUND_UP_ULL(offset_in_page(start) + length, PAGE_SIZE);
	unsigned int flags = krdma_pin_flags(access);
	int ret;

	ret = krdma_user_pages_choose(user, dev, copied);
	if (!ret)
		ret = krdma_user_pages_check(user, dev, count);
	if (ret)
		return ret;
	if (user->by_provider) {
		ret = krdma_user_pages_look(user, start & PAGE_MASK, count, &flags);
		if (ret <= 0)
			return ret;
	}
	ret = krdma_user_pages_charge(user, count);
	if (ret)
		return ret;

	if (!user->by_provider)
		return krdma_user_pages_take(user, start & PAGE_MASK, count, flags);

	ret = krdma_user_pages_bring_in(start & PAGE_MASK, count, flags);
	krdma_mm_uncharge(user->mm, user->charged);
	user->mm = NULL;
	return ret;
}

/**
 * krdma_user_pages_put() - Unpin and uncharge the pages that no memory has taken over
 * @user: after krdma_user_pages_get()
 *
 * Context: process context; may sleep.
 */
void krdma_user_pages_put(struct krdma_user_pages *user)
{
	for (unsigned int done = 0; done < user->count; done += KRDMA_PIN_PAGES) {
		unpin_user_pages(&user->pages[done], min(user->count - done, KRDMA_PIN_PAGES));
		cond_resched();
	}
	kvfree(user->pages);
	if (user->mm)
		krdma_mm_uncharge(user->mm, user->charged);
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

/* Put the pages into the table, which has them and their charge from then on. */
static int krdma_mem_take_over(struct krdma_mem *mem, unsigned long start,
			       struct krdma_user_pages *user)
{
	int ret;

	ret = sg_alloc_table_from_pages_segment(&mem->table, user->pages, user->count,
						offset_in_page(start), mem->length,
						ib_dma_max_seg_size(mem->pd->ib->device),
						GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	mem->mm = user->mm;
	mem->charged = user->charged;
	user->mm = NULL;
	user->count = 0;
	if (user->copied)
		swap(mem->pages, user->pages);
	return 0;
}

static int krdma_mem_by_pinning(struct krdma_mem *mem, unsigned long start,
				struct krdma_user_pages *user)
{
	int ret;

	ret = krdma_mem_take_over(mem, start, user);
	if (ret)
		return ret;

	ret = krdma_mem_map_table(mem);
	/* A lane's device finds any byte at once, too. */
	if (!ret && user->copied)
		ret = krdma_mem_make_chunks(mem);
	return ret ? ret : krdma_mem_register(mem, start);
}

/**
 * krdma_mem_map_user() - Map and register memory of the calling process
 * @mem: new; its length and access are checked
 * @start: the process's address
 * @user: its pages, from krdma_user_pages_get(), which @mem takes over
 *
 * Context: process context, with the process's address space; may sleep.
 * Return: 0, or
 * -EFAULT: part of the range is not mapped, or lacks the rights;
 * -ENOMEM, -EPERM: the process may not lock as much memory, or none;
 * -EDQUOT: the control group has reached its limit of MRs;
 * -EAGAIN, -EINTR, -ERESTARTSYS, -EIO, and the errors of krdma_mem_register().
 */
int krdma_mem_map_user(struct krdma_mem *mem, unsigned long start, struct krdma_user_pages *user)
{
	mem->of_user = true;

	if (user->by_provider)
		return krdma_mem_by_provider(mem, start);
	return krdma_mem_by_pinning(mem, start, user);
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
	krdma_mm_uncharge(mem->mm, mem->charged);
	mem->mm = NULL;
}
