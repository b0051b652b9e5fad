// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions whose memory the processor copies, not the device: those of lanes.
 */
#include <linux/errno.h>
#include <linux/highmem.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/string.h>

#include "core/session.h"
#include "mr/copy.h"
#include "mr/mem.h"
#include "mr/mr.h"

/**
 * krdma_mr_can_copy() - Check whether the processor can copy the memory of an MR
 * @mr: the MR; the caller keeps the object
 *
 * Context: any.
 * Return: false: memory of a process that was not registered for lanes.
 */
bool krdma_mr_can_copy(const struct krdma_mr *mr)
{
	/* A provider alone knows the pages that it has pinned. */
	return !mr->mem->of_user || mr->mem->pages;
}

/**
 * krdma_mr_begin_copy() - Begin to use an MR for copying
 * @mr: the MR; the caller keeps the object
 * @pd: the PD of the session
 * @addr: start of the memory, in the MR's address space
 * @length: bytes, at least 1
 * @access: the rights that the operation needs; 0: it only reads the memory
 *
 * After success, the memory is there until krdma_mr_end_use(), which must be called once for each
 * call.
 *
 * Context: any; no allocation, no sleep.
 * Return: 0; -EOPNOTSUPP: memory of a process that was not registered for lanes; -EACCES, -ERANGE,
 * -ESTALE, -ENODEV, -EXDEV: as krdma_mr_begin_use().
 */
int krdma_mr_begin_copy(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr, u32 length, u32 access)
{
	int ret = krdma_mr_begin_range(mr, pd, addr, length, access);

	if (!ret && !krdma_mr_can_copy(mr)) {
		krdma_mr_end_use(mr);
		ret = -EOPNOTSUPP;
	}
	return ret;
}

/*
 * Copies between @bytes and pages of a process, from @place on, counted in bytes from the start of
 * the first page.  The process may write them at the same time, which harms only its own message.
 */
static void krdma_mr_copy_pages(struct page **pages, u64 place, u8 *bytes, u32 length, bool out)
{
	while (length) {
		struct page *page = pages[place >> PAGE_SHIFT];
		u32 offset = offset_in_page(place);
		u32 part = min_t(u32, length, PAGE_SIZE - offset);

		if (out) {
			memcpy_from_page(bytes, page, offset, part);
		} else {
			memcpy_to_page(page, offset, bytes, part);
			flush_dcache_page(page);
		}
		bytes += part;
		place += part;
		length -= part;
	}
}

/**
 * krdma_mr_copy_from() - Copy out of an MR
 * @mr: the MR, after krdma_mr_begin_copy()
 * @addr: start of the memory
 * @to: where the bytes go
 * @length: bytes
 *
 * Context: any but NMI.
 */
void krdma_mr_copy_from(struct krdma_mr *mr, u64 addr, void *to, u32 length)
{
	const struct sg_table *table = &mr->mem->table;
	u64 offset = addr - mr->addr;

	if (mr->buffer)
		memcpy(to, mr->buffer + offset, length);
	else if (mr->mem->pages)
		krdma_mr_copy_pages(mr->mem->pages, offset_in_page(mr->addr) + offset, to, length,
				    true);
	else
		sg_pcopy_to_buffer(table->sgl, table->orig_nents, to, length, offset);
}

/**
 * krdma_mr_copy_to() - Copy into an MR
 * @mr: the MR, after krdma_mr_begin_copy() with the right to write
 * @addr: start of the memory
 * @from: where the bytes come from
 * @length: bytes
 *
 * Context: any but NMI.
 */
void krdma_mr_copy_to(struct krdma_mr *mr, u64 addr, const void *from, u32 length)
{
	const struct sg_table *table = &mr->mem->table;
	u64 offset = addr - mr->addr;

	if (mr->buffer)
		memcpy(mr->buffer + offset, from, length);
	else if (mr->mem->pages)
		krdma_mr_copy_pages(mr->mem->pages, offset_in_page(mr->addr) + offset, (u8 *)from,
				    length, false);
	else
		sg_pcopy_from_buffer(table->sgl, table->orig_nents, from, length, offset);
}

/**
 * krdma_mr_ranges() - Find the DMA addresses of the beginning of a range
 * @mr: the MR, after krdma_mr_begin_copy()
 * @addr: start of the range
 * @length: bytes
 * @lkey: the local DMA lkey of the PD where they are used
 * @sges: filled in, without an MR
 * @room: maximum number of @sges
 *
 * Context: any.
 * Return: the number of @sges, which may cover less than @length.
 */
int krdma_mr_ranges(const struct krdma_mr *mr, u64 addr, u32 length, u32 lkey,
		    struct krdma_sge *sges, unsigned int room)
{
	return krdma_mem_ranges(mr->mem, addr - mr->addr, length, lkey, sges, room);
}
