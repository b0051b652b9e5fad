// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that a device can access: pages, their DMA addresses, and keys.
 *
 * Kernel memory is mapped for DMA, and local work requests use these addresses and the PD's
 * local DMA lkey.  If peers may access it, it is also registered, with an rkey that was not
 * another MR's rkey shortly before: each memory has its own ib_mr, which is allocated and
 * deregistered with it.
 *
 * The memory of a process is in mr/mem_user.c; the common part is here.
 */
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/iommu.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>

#include "core/device.h"
#include "core/device_query.h"
#include "mr/mem.h"
#include "core/objects.h"
#include "core/quirks.h"
#include "mr/mem_user.h"
#include "mr/mr.h"
#include "mr/frwr.h"
#include "core/resource.h"
#include "core/session.h"

/**
 * krdma_access_check() - Check access rights
 * @dev: the device; the caller holds a reference
 * @access: &enum krdma_access
 *
 * Context: any.
 * Return: 0, or
 * -EINVAL: an unknown right, or a remote write or atomic right without the local write right;
 * -EOPNOTSUPP: atomics on a device without them.
 */
int krdma_access_check(struct krdma_device *dev, u32 access)
{
	const u32 writes = KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC;

	if (access & ~(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE))
		return -EINVAL;
	if ((access & writes) && !(access & KRDMA_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	/* The device may execute those of peers only: see krdma_quirk_posts_atomics(). */
	if ((access & KRDMA_ACCESS_REMOTE_ATOMIC) && !krdma_device_serves_atomics(dev))
		return -EOPNOTSUPP;
	return 0;
}

/**
 * krdma_access_ib() - Convert access rights to those of ib_core
 * @access: &enum krdma_access, checked
 *
 * Context: any.
 * Return: bits of enum ib_access_flags.
 */
int krdma_access_ib(u32 access)
{
	int ib = 0;

	if (access & KRDMA_ACCESS_LOCAL_WRITE)
		ib |= IB_ACCESS_LOCAL_WRITE;
	if (access & KRDMA_ACCESS_REMOTE_READ)
		ib |= IB_ACCESS_REMOTE_READ;
	if (access & KRDMA_ACCESS_REMOTE_WRITE)
		ib |= IB_ACCESS_REMOTE_WRITE;
	if (access & KRDMA_ACCESS_REMOTE_ATOMIC)
		ib |= IB_ACCESS_REMOTE_ATOMIC;
	return ib;
}

static struct ib_device *krdma_mem_ibdev(const struct krdma_mem *mem)
{
	return mem->pd->ib->device;
}

/**
 * krdma_mem_create() - Allocate a krdma_mem
 * @pd: the PD; kept by the caller
 * @length: bytes
 * @access: &enum krdma_access, checked
 *
 * Context: process context; may sleep.
 * Return: the memory, to be filled in by a krdma_mem_map_...() and freed by
 * krdma_mem_release(), also if that failed; or NULL.
 */
struct krdma_mem *krdma_mem_create(struct krdma_pd *pd, u64 length, u32 access)
{
	struct krdma_mem *mem;

	mem = krdma_object_count(KRDMA_OBJECT_MR_MEMORY,
				 kzalloc_obj(*mem, GFP_KERNEL_ACCOUNT));
	if (!mem)
		return NULL;

	mem->pd = pd;
	INIT_LIST_HEAD(&mem->node);
	mem->access = access;
	mem->length = length;
	mem->direction = access & KRDMA_ACCESS_LOCAL_WRITE ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;

	return mem;
}

/* Does an IOMMU translate the device's addresses? */
static bool krdma_mem_translated(struct device *dev)
{
#ifdef CONFIG_IOMMU_API
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && iommu_is_dma_domain(domain);
#else
	return false;
#endif
}

/*
 * Memory stays mapped across work requests, and nothing copies or flushes it in between.
 * Memory that needs this cannot be used.
 */
static bool krdma_mem_coherent(const struct krdma_mem *mem)
{
	struct ib_device *ibdev = krdma_mem_ibdev(mem);
	struct device *dev = ibdev->dma_device;
	struct scatterlist *sg;
	unsigned int i;

	if (ib_uses_virt_dma(ibdev))
		return true;

	/*
	 * Behind an IOMMU dma_need_sync() is true for every address in older kernels, and in all of
	 * them with CONFIG_DMA_API_DEBUG.  The IOMMU reaches all memory, so the kernel copies only
	 * that of a device that it does not trust.
	 */
	if (krdma_mem_translated(dev))
		return dev_is_dma_coherent(dev) &&
		       !(dev_is_pci(dev) && to_pci_dev(dev)->untrusted);

	for_each_sgtable_dma_sg(&mem->table, sg, i) {
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return false;
		cond_resched();
	}
	return true;
}

/**
 * krdma_mem_map_table() - Map pages for DMA
 * @mem: its table contains the pages
 *
 * Context: process context; may sleep.
 * Return: 0, or
 * -EIO: the pages cannot be mapped;
 * -EOPNOTSUPP: the device accesses them through bounce buffers or incoherently.
 */
int krdma_mem_map_table(struct krdma_mem *mem)
{
	unsigned int mapped;

	mapped = ib_dma_map_sg(krdma_mem_ibdev(mem), mem->table.sgl,
			       mem->table.orig_nents, mem->direction);
	if (!mapped)
		return -EIO;

	mem->table.nents = mapped;
	mem->mapped = true;
	return krdma_mem_coherent(mem) ? 0 : -EOPNOTSUPP;
}

/**
 * krdma_mem_make_chunks() - Merge contiguous DMA addresses
 * @mem: mapped
 *
 * Fewer chunks mean fewer SGEs to post.
 *
 * Context: process context; may sleep.
 * Return: 0, -ENOMEM, or -EIO: the addresses do not cover the memory.
 */
int krdma_mem_make_chunks(struct krdma_mem *mem)
{
	struct krdma_chunk *chunk = NULL;
	struct scatterlist *sg;
	u64 offset = 0;
	unsigned int i;

	mem->chunks = kvmalloc_objs(struct krdma_chunk, mem->table.nents, GFP_KERNEL_ACCOUNT);
	if (!mem->chunks)
		return -ENOMEM;

	for_each_sgtable_dma_sg(&mem->table, sg, i) {
		u64 addr = sg_dma_address(sg);

		if (!chunk || chunk->addr + (offset - chunk->offset) != addr) {
			chunk = &mem->chunks[mem->chunk_count++];
			*chunk = (struct krdma_chunk) { .offset = offset, .addr = addr };
		}
		offset += sg_dma_len(sg);
		cond_resched();
	}
	return offset == mem->length ? 0 : -EIO;
}

static int krdma_mem_map_kernel(struct krdma_mem *mem)
{
	int ret;

	ret = krdma_mem_map_table(mem);
	return ret ? ret : krdma_mem_make_chunks(mem);
}

/* The page behind a kernel address; NULL if there is none that can be mapped. */
static struct page *krdma_buffer_page(void *address)
{
	if (is_vmalloc_addr(address))
		return vmalloc_to_page(address);
	return virt_addr_valid(address) ? virt_to_page(address) : NULL;
}

static int krdma_buffer_pages(void *buffer, struct page **pages, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		pages[i] = krdma_buffer_page(buffer + (size_t)i * PAGE_SIZE);
		if (!pages[i])
			return -EINVAL;
	}
	return 0;
}

/**
 * krdma_mem_map_buffer() - Map a kernel buffer
 * @mem: new
 * @buffer: address of the buffer, from kmalloc(), vmalloc() or pages; stays allocated until
 *	krdma_mem_release()
 *
 * Context: process context; may sleep.
 * Return: 0, or
 * -EINVAL: no such memory, or the stack;
 * -EFBIG: more pages than can be counted;
 * -ENOMEM, and the errors of krdma_mem_map_table().
 */
int krdma_mem_map_buffer(struct krdma_mem *mem, void *buffer)
{
	unsigned int offset = offset_in_page(buffer);
	unsigned int max_segment = ib_dma_max_seg_size(krdma_mem_ibdev(mem));
	struct page **pages;
	u64 count;
	int ret;

	/* Pages of a vmalloc'ed stack could be found, but the stack frame ends with the call. */
	if (object_is_on_stack(buffer))
		return -EINVAL;

	count = DIV_ROUND_UP_ULL(offset + mem->length, PAGE_SIZE);
	if (count > INT_MAX)
		return -EFBIG;

	pages = kvmalloc_objs(struct page *, count, GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;

	ret = krdma_buffer_pages(PTR_ALIGN_DOWN(buffer, PAGE_SIZE), pages, count);
	if (!ret)
		ret = sg_alloc_table_from_pages_segment(&mem->table, pages, count, offset,
							mem->length, max_segment,
							GFP_KERNEL_ACCOUNT);
	kvfree(pages);
	return ret ? ret : krdma_mem_map_kernel(mem);
}

/**
 * krdma_mem_map_sg() - Map pages of the kernel
 * @mem: new
 * @sg: the pages, which stay allocated until krdma_mem_release(); the list itself need not
 * @entries: number of entries of @sg
 *
 * Context: process context; may sleep.
 * Return: 0, -ENOMEM, or the errors of krdma_mem_map_table().
 */
int krdma_mem_map_sg(struct krdma_mem *mem, struct scatterlist *sg,
		     unsigned int entries)
{
	struct scatterlist *to, *from = sg;
	unsigned int i;
	int ret;

	/* Copy the list, because mapping writes into it, and unmapping reads it. */
	ret = sg_alloc_table(&mem->table, entries, GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;

	for_each_sgtable_sg(&mem->table, to, i) {
		sg_set_page(to, sg_page(from), from->length, from->offset);
		from = sg_next(from);
	}
	return krdma_mem_map_kernel(mem);
}

/*
 * Registration
 */

/* Allocate the array of ib_mrs; @span as in &struct krdma_mem.mr_span. */
static int krdma_mem_alloc_mrs(struct krdma_mem *mem, unsigned int count, u64 span)
{
	mem->mrs = &mem->one;
	if (count > 1)
		mem->mrs = kvzalloc_objs(*mem->mrs, count, GFP_KERNEL_ACCOUNT);
	if (!mem->mrs)
		return -ENOMEM;

	mem->mr_count = count;
	mem->mr_span = count > 1 ? span : 0;
	return 0;
}

/* Map a list into an ib_mr that was never registered. */
static int krdma_mem_fill_mr(struct ib_mr *mr, struct scatterlist *sg, unsigned int entries,
			     u64 length, u64 iova)
{
	int mapped;

	mapped = ib_map_mr_sg(mr, sg, entries, NULL, PAGE_SIZE);
	if (mapped < 0)
		return krdma_provider_error(mapped);
	/* hns returns 0 if it finds no memory. */
	if (!mapped)
		return -ENOMEM;
	/* ib_map_mr_sg() stops where two entries do not meet at a page boundary. */
	if (mapped != entries || mr->length != length)
		return -EINVAL;
	/*
	 * krdma chooses the remote address, but the offset in the page must match: otherwise
	 * rxe accesses memory beside the buffer.
	 */
	if (offset_in_page(mr->iova) != offset_in_page(iova))
		return -EIO;

	mr->iova = iova;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	return 0;
}

/* -ECANCELED: it was flushed, and may be tried once more, which maps the list again. */
static int krdma_mem_post_mr(struct krdma_mem *mem, struct ib_mr *ib, struct scatterlist *sg,
			     unsigned int entries, u64 length, u64 iova)
{
	int ret = krdma_mem_fill_mr(ib, sg, entries, length, iova);

	return ret ? ret : krdma_frwr_register(mem->pd, ib, krdma_access_ib(mem->access));
}

/* Register @entries of a list with DMA addresses, @length bytes. */
static int krdma_mem_register_sg(struct krdma_mem *mem, struct krdma_mem_key *mr,
				 struct scatterlist *sg, unsigned int entries, u64 length,
				 u64 iova)
{
	u32 pages = PFN_UP(offset_in_page(iova) + length);
	struct krdma_pd *pd = mem->pd;
	struct ib_mr *ib;
	int ret;

	ret = krdma_charge_object(&mr->charge, pd->session, pd->ib->device);
	if (ret)
		return ret;
	ib = ib_alloc_mr(pd->ib, IB_MR_TYPE_MEM_REG, pages);
	if (IS_ERR(ib))
		return krdma_provider_error(PTR_ERR(ib));

	mr->ib = ib;
	ret = krdma_mem_post_mr(mem, ib, sg, entries, length, iova);
	if (ret == -ECANCELED)
		ret = krdma_mem_post_mr(mem, ib, sg, entries, length, iova);
	return ret == -ECANCELED ? -EIO : ret;
}

/**
 * struct krdma_sg_place - position in a list with DMA addresses
 * @sg: the entry
 * @offset: bytes of the entry before the position
 */
struct krdma_sg_place {
	struct scatterlist *sg;
	u64 offset;
};

/*
 * Copy the addresses of @length bytes from @place on, and advance @place.  Returns the number
 * of entries.  Drivers get such a list instead of an offset into the first entry, which siw
 * ignores.
 */
static unsigned int krdma_sg_slice(struct krdma_sg_place *place, u64 length,
				   struct scatterlist *slice, unsigned int max)
{
	unsigned int count = 0;

	while (length && count < max && place->sg) {
		u64 left = sg_dma_len(place->sg) - place->offset;
		u32 part = min(left, length);

		sg_dma_address(&slice[count]) = sg_dma_address(place->sg) + place->offset;
		sg_dma_len(&slice[count++]) = part;
		length -= part;
		place->offset += part;
		if (part == left)
			*place = (struct krdma_sg_place) { .sg = sg_next(place->sg) };
	}
	return count;
}

/* Register one ib_mr after the other, each with as many bytes as it can span. */
static int krdma_mem_register_slices(struct krdma_mem *mem, u64 iova,
				     struct scatterlist *slice, unsigned int max)
{
	struct krdma_sg_place place = { .sg = mem->table.sgl };
	u64 end = iova + mem->length;

	for (unsigned int i = 0; i < mem->mr_count; i++) {
		/* The first span is shortened by the offset of the memory in its page. */
		u64 room = mem->mr_span - (i ? 0 : offset_in_page(iova));
		u64 length = min(room, end - iova);
		unsigned int entries;
		int ret;

		/* The entries must meet at a page boundary also at the start of a slice. */
		if (!place.sg || (i && offset_in_page(sg_dma_address(place.sg) + place.offset)))
			return -EINVAL;
		sg_init_table(slice, max);
		entries = krdma_sg_slice(&place, length, slice, max);
		ret = krdma_mem_register_sg(mem, &mem->mrs[i], slice, entries, length,
					    iova);
		if (ret)
			return ret;
		iova += length;
	}
	return 0;
}

/**
 * krdma_mem_register() - Register mapped memory
 * @mem: mapped, not registered; on an error the caller releases it
 * @iova: its first address for peers
 *
 * Allocates as many ib_mrs as needed, each with its own rkey: see &struct krdma_mem.mrs.
 *
 * Context: process context; sleeps until the device has executed it; returns if the caller is
 * killed.
 * Return: 0, or
 * -EOPNOTSUPP: the device has no fast registration, or none with these rights;
 * -EFBIG: more than KRDMA_MR_KEYS_MAX ib_mrs;
 * -EINVAL: the entries do not meet at page boundaries;
 * -EDQUOT: the control group has reached its limit;
 * -ENOMEM, -EINTR, -ERESTARTSYS, -EIO, and the errors of krdma_frwr_register().
 */
int krdma_mem_register(struct krdma_mem *mem, u64 iova)
{
	u32 max = krdma_device_limits(mem->pd->dev)->max_fast_reg_pages;
	u64 pages = PFN_UP(offset_in_page(iova) + mem->length);
	struct scatterlist *slice;
	u64 count;
	int ret;

	if (!(krdma_device_caps(mem->pd->dev) & KRDMA_DEVICE_CAP_FAST_REG) || !max)
		return -EOPNOTSUPP;
	count = DIV_ROUND_UP_ULL(pages, max);
	if (count > KRDMA_MR_KEYS_MAX)
		return -EFBIG;
	ret = krdma_mem_alloc_mrs(mem, count, (u64)max * PAGE_SIZE);
	if (ret)
		return ret;
	if (count == 1)
		return krdma_mem_register_sg(mem, mem->mrs, mem->table.sgl,
					     mem->table.nents, mem->length, iova);

	max = min(max, mem->table.nents);
	slice = kvmalloc_objs(*slice, max, GFP_KERNEL_ACCOUNT);
	if (!slice)
		return -ENOMEM;
	ret = krdma_mem_register_slices(mem, iova, slice, max);
	kvfree(slice);
	return ret;
}

/* Registers @length bytes of the memory of @of from @offset on. */
static int krdma_mem_register_view(struct krdma_mem *mem, const struct krdma_mem *of, u64 offset,
				   u64 iova)
{
	struct krdma_sg_place place = { .sg = of->table.sgl };
	u32 max = min_t(u64, PFN_UP(offset_in_page(iova) + mem->length), of->table.nents);
	struct scatterlist *slice;
	unsigned int entries;
	int ret;

	while (place.sg && offset >= sg_dma_len(place.sg)) {
		offset -= sg_dma_len(place.sg);
		place.sg = sg_next(place.sg);
	}
	place.offset = offset;
	slice = kvmalloc_objs(*slice, max, GFP_KERNEL_ACCOUNT);
	if (!slice)
		return -ENOMEM;
	sg_init_table(slice, max);
	entries = krdma_sg_slice(&place, mem->length, slice, max);
	ret = krdma_mem_alloc_mrs(mem, 1, 0) ?:
	      krdma_mem_register_sg(mem, mem->mrs, slice, entries, mem->length, iova);
	kvfree(slice);
	return ret;
}

/**
 * krdma_mem_create_view() - Register a part of memory in another PD, too
 * @pd: the other PD, of the same device; kept by the caller
 * @of: the memory, mapped, which stays longer
 * @offset: start of the part
 * @length: its bytes, not more than one key covers
 * @access: its rights
 * @iova: its first address for peers
 *
 * The view has a key and no pages: those are @of's.
 *
 * Context: process context; sleeps until the device has executed it.
 * Return: the view, for krdma_mem_release(), or an ERR_PTR as krdma_mem_register().
 */
struct krdma_mem *krdma_mem_create_view(struct krdma_pd *pd, const struct krdma_mem *of, u64 offset,
					u64 length, u32 access, u64 iova)
{
	struct krdma_mem *mem;
	int ret;

	mem = krdma_mem_create(pd, length, access);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	ret = krdma_mem_register_view(mem, of, offset, iova);
	if (!ret)
		return mem;
	mem->unknown = true;
	krdma_mem_release(mem);
	return ERR_PTR(ret);
}

/**
 * krdma_mem_adopt() - Take over an ib_mr that a provider has registered for all of the memory
 * @mem: charged in @mem->one, without an ib_mr
 * @ib: the ib_mr; owned by @mem from now on
 *
 * Context: any.
 */
void krdma_mem_adopt(struct krdma_mem *mem, struct ib_mr *ib)
{
	mem->one.ib = ib;
	mem->mrs = &mem->one;
	mem->mr_count = 1;
}

/* The last chunk that starts at @offset or before it. */
static unsigned int krdma_mem_find_chunk(const struct krdma_mem *mem, u64 offset)
{
	unsigned int low = 0;
	unsigned int high = mem->chunk_count;

	while (high - low > 1) {
		unsigned int middle = low + (high - low) / 2;

		if (mem->chunks[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/**
 * krdma_mem_sges() - Build the device SGEs for a range of memory
 * @mem: kernel memory
 * @offset: start of the range, in bytes from the start of @mem
 * @length: bytes, all of them in @mem
 * @ib_sges: filled in on success
 * @room: maximum number of @ib_sges
 *
 * Context: any.
 * Return: number of SGEs, or -EMSGSIZE if there are more than @room.
 */
int krdma_mem_sges(const struct krdma_mem *mem, u64 offset, u32 length,
		   struct ib_sge *ib_sges, unsigned int room)
{
	unsigned int i = krdma_mem_find_chunk(mem, offset);
	unsigned int count = 0;

	for (; length; i++) {
		const struct krdma_chunk *chunk = &mem->chunks[i];
		u64 end = i + 1 < mem->chunk_count ? chunk[1].offset : mem->length;
		u32 part = min_t(u64, length, end - offset);

		if (count == room)
			return -EMSGSIZE;
		ib_sges[count++] = (struct ib_sge) {
			.addr = chunk->addr + (offset - chunk->offset),
			.length = part,
			.lkey = mem->pd->ib->local_dma_lkey,
		};
		offset += part;
		length -= part;
	}
	return count;
}

/**
 * krdma_mem_ranges() - Find the DMA addresses of the beginning of a range of memory
 * @mem: memory with chunks
 * @offset: start of the range, in bytes from the start of @mem
 * @length: bytes, all of them in @mem
 * @lkey: the local DMA lkey of the PD where they are used
 * @sges: filled in, without an MR
 * @room: maximum number of @sges
 *
 * Context: any.
 * Return: the number of @sges, which may cover less than @length.
 */
int krdma_mem_ranges(const struct krdma_mem *mem, u64 offset, u32 length, u32 lkey,
		     struct krdma_sge *sges, unsigned int room)
{
	unsigned int i = krdma_mem_find_chunk(mem, offset);
	unsigned int count;

	for (count = 0; count < room && length; i++) {
		const struct krdma_chunk *chunk = &mem->chunks[i];
		u64 end = i + 1 < mem->chunk_count ? chunk[1].offset : mem->length;
		u32 part = min_t(u64, length, end - offset);

		sges[count++] = (struct krdma_sge) {
			.addr = chunk->addr + (offset - chunk->offset),
			.length = part,
			.key = lkey,
		};
		offset += part;
		length -= part;
	}
	return count;
}

/*
 * Deregister an ib_mr; false: the device may still know the rkey, and the PD is not freed.
 *
 * A driver may not be able to: irdma, once it has asked for a reset of its device, and bnxt_re, if
 * the firmware does not answer.  Until the reset the device may execute what peers send, so the
 * caller keeps the memory behind the rkey from others, as far as it can.
 */
static bool krdma_key_end(struct krdma_pd *pd, struct ib_mr *ib_mr)
{
	struct ib_device *ibdev = ib_mr->device;
	u32 rkey = ib_mr->rkey;
	int ret;

	ret = ib_dereg_mr(ib_mr);
	if (!ret)
		return true;
	set_bit(KRDMA_PD_STUCK, &pd->flags);
	dev_err_ratelimited(&ibdev->dev,
			    "rkey %#x could not be ended (%d): peers may use it until a reset\n",
			    rkey, ret);
	return false;
}

/**
 * krdma_mem_revoke() - Deregister the ib_mrs of memory
 * @mem: the memory; no other task revokes or releases it at the same time
 *
 * Fast registrations are deregistered without an invalidation first: the device refuses a
 * deregistered rkey, too.  If that fails, the pages of a process stay pinned, the owner of kernel
 * memory is notified, and all stay mapped.
 *
 * Context: process context; sleeps until the device has executed it.
 */
void krdma_mem_revoke(struct krdma_mem *mem)
{
	struct ib_device *ibdev = krdma_mem_ibdev(mem);

	for (unsigned int i = 0; i < mem->mr_count; i++) {
		struct krdma_mem_key *mr = &mem->mrs[i];

		if (mr->ib && !krdma_key_end(mem->pd, mr->ib))
			mem->stuck = true;
		mr->ib = NULL;
		krdma_uncharge_object(&mr->charge, ibdev);
		cond_resched();
	}
	/* Charged for an ib_mr that the provider then failed to register. */
	krdma_uncharge_object(&mem->one.charge, ibdev);
}

/* Returns false if it is kernel memory that the device may still access: then it is not free. */
static bool krdma_mem_free(struct krdma_mem *mem)
{
	bool free;

	/* First the keys, then the DMA addresses, then the pages. */
	krdma_mem_revoke(mem);
	if (mem->mapped && !mem->stuck)
		ib_dma_unmap_sg(krdma_mem_ibdev(mem), mem->table.sgl,
				mem->table.orig_nents, mem->direction);
	if (!mem->stuck)
		krdma_mem_release_user(mem);
	sg_free_table(&mem->table);
	kvfree(mem->pages);
	kvfree(mem->chunks);
	if (mem->mrs != &mem->one)
		kvfree(mem->mrs);
	free = mem->of_user || !mem->stuck;
	if (mem->freed && free)
		mem->freed(mem->context);
	kfree(krdma_object_uncount(KRDMA_OBJECT_MR_MEMORY, mem));
	return free;
}

/* Retire memory until no peer is connected any more; false if none is. */
static bool krdma_mem_retire(struct krdma_mem *mem)
{
	struct krdma_pd *pd = mem->pd;
	bool retired;

	spin_lock(&pd->lock);
	retired = !list_empty(&pd->qps);
	if (retired)
		list_add_tail(&mem->node, &pd->retired);
	spin_unlock(&pd->lock);

	return retired;
}

/*
 * Free memory if no peer is connected.  A queue pair that is created meanwhile waits, so that no
 * peer can use a key that is just going.
 */
static bool krdma_mem_free_unconnected(struct krdma_mem *mem)
{
	struct krdma_pd *pd = mem->pd;
	bool connected;

	down_read(&pd->connect_lock);
	spin_lock(&pd->lock);
	connected = !list_empty(&pd->qps);
	spin_unlock(&pd->lock);
	if (!connected)
		krdma_mem_free(mem);
	up_read(&pd->connect_lock);

	return !connected;
}

/*
 * Release memory of a device that uses it after its deregistration.  The owner of kernel memory
 * takes it back at once, so only the pages of a process come here.
 */
static void krdma_mem_release_late(struct krdma_mem *mem)
{
	/*
	 * The completion of a local work request is delivered in softirq, or with preemption
	 * disabled, before the device puts its reference to the memory: wait for that.
	 */
	synchronize_rcu_expedited();

	if (!(mem->access & KRDMA_ACCESS_REMOTE)) {
		krdma_mem_free(mem);
		return;
	}

	/*
	 * The rkey must not work any longer: only then it is certain which peers may still use it.
	 * For a fast registration siw keeps no pages, so the ib_mr can be deregistered.  An ib_mr
	 * that has its own pages must stay with them, and is only invalidated, which siw supports
	 * for any kind.  That takes the PD's registering QP, so it is not done for nothing.
	 */
	if (mem->mapped)
		krdma_mem_revoke(mem);
	else if (krdma_mem_free_unconnected(mem))
		return;
	else if (mem->one.ib && krdma_frwr_invalidate(mem->pd, mem->one.ib->rkey))
		dev_warn_ratelimited(&krdma_mem_ibdev(mem)->dev,
				     "a released key works until its connections end\n");

	if (!krdma_mem_retire(mem))
		krdma_mem_free(mem);
}

/**
 * krdma_mem_release() - Release memory
 * @mem: no work request uses it; its PD exists.  Freed.
 *
 * Context: process context; may sleep.
 * Return: true; false: it is kernel memory that the device may still access.
 */
bool krdma_mem_release(struct krdma_mem *mem)
{
	if (!mem->of_user || mem->unknown || !krdma_quirk_late_dma(krdma_mem_ibdev(mem)))
		return krdma_mem_free(mem);
	krdma_mem_release_late(mem);
	return true;
}

/**
 * krdma_pd_connected() - Add a queue pair that a peer can use
 * @pd: the PD
 * @node: entry of the queue pair in @pd's list
 *
 * Context: process context; sleeps until memory that is freed because there is none is free.
 */
void krdma_pd_connected(struct krdma_pd *pd, struct list_head *node)
{
	down_write(&pd->connect_lock);
	spin_lock(&pd->lock);
	list_add_tail(node, &pd->qps);
	spin_unlock(&pd->lock);
	up_write(&pd->connect_lock);
}

/**
 * krdma_pd_disconnected() - Remove a destroyed queue pair
 * @pd: the PD; the caller holds a reference
 * @node: entry of the queue pair in @pd's list
 *
 * With the last queue pair this frees the retired memory.
 *
 * Context: process context; may sleep.
 */
void krdma_pd_disconnected(struct krdma_pd *pd, struct list_head *node)
{
	struct krdma_mem *mem, *next;
	LIST_HEAD(retired);

	spin_lock(&pd->lock);
	list_del(node);
	if (list_empty(&pd->qps))
		list_splice_init(&pd->retired, &retired);
	spin_unlock(&pd->lock);

	list_for_each_entry_safe(mem, next, &retired, node)
		krdma_mem_free(mem);
}
