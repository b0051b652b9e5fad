// SPDX-License-Identifier: GPL-2.0
/* The MRs of the fake device, and how work requests access memory. */
#include <linux/io.h>
#include <linux/iommu.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "fake_private.h"

/*
 * Keys are an index and a byte of the consumer.  No index is used twice, on any fake device, so
 * that an old key is never valid.
 */
#define FAKE_KEY_INDEX	0x100
#define FAKE_KEY_SHIFT	8

static atomic_t fake_key_index = ATOMIC_INIT(FAKE_KEY_INDEX);

struct fake_mr *fake_mr_find(struct fake_device *fake, u32 key)
{
	struct fake_mr *mr;

	fake_assert_locked();
	list_for_each_entry(mr, &fake->mrs, entry)
		if (mr->valid && mr->key == key)
			return mr;
	return NULL;
}

static struct fake_mr *fake_new_mr(struct ib_pd *pd, unsigned int max_pages)
{
	struct fake_mr *mr;

	mr = kzalloc_obj(*mr, GFP_KERNEL);
	if (!mr)
		return NULL;
	mr->pages = kvcalloc(max_pages, sizeof(*mr->pages), GFP_KERNEL);
	mr->mapped = kvcalloc(max_pages, sizeof(*mr->mapped), GFP_KERNEL);
	if (!mr->pages || !mr->mapped) {
		kvfree(mr->mapped);
		kvfree(mr->pages);
		kfree(mr);
		return NULL;
	}

	mr->pd = pd;
	mr->max_pages = max_pages;
	mr->key = (u32)atomic_inc_return(&fake_key_index) << FAKE_KEY_SHIFT;
	mr->ib.lkey = mr->key;
	mr->ib.rkey = mr->key;
	return mr;
}

static struct ib_mr *fake_mr_publish(struct fake_mr *mr)
{
	struct fake_device *fake = to_fake(mr->pd->device);
	unsigned long flags;

	flags = fake_begin();
	list_add_tail(&mr->entry, &fake->mrs);
	fake_end(flags);
	atomic_inc(&fake->live[FAKE_MR]);
	return &mr->ib;
}

static struct ib_mr *fake_get_dma_mr(struct ib_pd *pd, int access)
{
	struct fake_mr *mr;
	int ret;

	might_sleep();
	ret = fake_device_follow_script(to_fake(pd->device), FAKE_ALLOC_MR);
	if (ret)
		return ERR_PTR(ret);
	mr = fake_new_mr(pd, 0);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->all = true;
	mr->valid = true;
	mr->access = access;
	return fake_mr_publish(mr);
}

static struct ib_mr *fake_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_pages)
{
	struct fake_device *fake = to_fake(pd->device);
	struct fake_mr *mr;
	int ret;

	might_sleep();
	if (type != IB_MR_TYPE_MEM_REG || (fake->personality->lacks & FAKE_LACKS_FAST_REG))
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_pages || max_pages > fake->attr.max_fast_reg_page_list_len)
		return ERR_PTR(-EINVAL);
	ret = fake_device_follow_script(fake, FAKE_ALLOC_MR);
	if (ret)
		return ERR_PTR(ret);
	mr = fake_new_mr(pd, max_pages);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	return fake_mr_publish(mr);
}

static struct ib_mr *fake_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
				      int access, KRDMA_COMPAT_DMAH struct ib_udata *udata)
{
	struct fake_device *fake = to_fake(pd->device);
	struct ib_block_iter block;
	struct ib_umem *umem;
	struct fake_mr *mr;
	int ret;

	might_sleep();
	fake->user_mr = (struct fake_user_mr) {
		.start = start,
		.length = length,
		.virt_addr = virt_addr,
		.access = access,
	};
	ret = fake_device_follow_script(fake, FAKE_REG_USER_MR);
	if (ret)
		return ERR_PTR(ret);
	umem = krdma_compat_umem_get(&fake->ib, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = fake_new_mr(pd, ib_umem_num_pages(umem));
	if (!mr) {
		ib_umem_release(umem);
		return ERR_PTR(-ENOMEM);
	}

	rdma_umem_for_each_dma_block(umem, &block, PAGE_SIZE)
		mr->pages[mr->mapped_count++] = rdma_block_iter_dma_address(&block);
	mr->umem = umem;
	mr->valid = true;
	mr->access = access;
	mr->iova = virt_addr;
	mr->length = length;
	mr->offset = offset_in_page(start);
	mr->page_size = PAGE_SIZE;
	return fake_mr_publish(mr);
}

static int fake_dereg_mr(struct ib_mr *ib_mr, struct ib_udata *udata)
{
	struct fake_device *fake = to_fake(ib_mr->device);
	struct fake_mr *mr = to_fake_mr(ib_mr);
	unsigned long flags;
	int ret;

	might_sleep();
	fake_device_stop_at(fake, &fake->dereg_pause);
	ret = fake_device_follow_script(fake, FAKE_DEREG_MR);
	if (ret)
		return ret;

	flags = fake_begin();
	list_del(&mr->entry);
	fake_end(flags);

	if (mr->umem)
		ib_umem_release(mr->umem);
	kvfree(mr->mapped);
	kvfree(mr->pages);
	kfree(mr);
	atomic_dec(&fake->live[FAKE_MR]);
	return 0;
}

static int fake_set_page(struct ib_mr *ib_mr, u64 address)
{
	struct fake_mr *mr = to_fake_mr(ib_mr);

	if (mr->mapped_count == mr->max_pages)
		return -ENOMEM;
	mr->mapped[mr->mapped_count++] = address;
	return 0;
}

static int fake_map_mr_sg(struct ib_mr *ib_mr, struct scatterlist *list, int entries,
			  unsigned int *offset)
{
	struct fake_device *fake = to_fake(ib_mr->device);
	const struct fake_personality *personality = fake->personality;
	int ret;

	/* Counted, not a warning: a test that does it on purpose must not taint the kernel. */
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT) && personality->map_sleeps && !preemptible())
		atomic_inc(&fake->wrongs);
	ret = fake_device_follow_script(fake, FAKE_MAP_MR_SG);
	if (!ret) {
		to_fake_mr(ib_mr)->mapped_count = 0;
		to_fake_mr(ib_mr)->posts = 0;
		ret = ib_sg_to_pages(ib_mr, list, entries,
				     personality->map_offset_lost ? NULL : offset,
				     fake_set_page);
	}
	return ret < 0 && personality->map_fails_with_0 ? 0 : ret;
}

/*
 * Accesses
 */

/* The driver's own lkey for all memory; no peer can use it. */
static bool fake_is_reserved(struct fake_qp *qp, u32 key, int access)
{
	const struct fake_personality *personality = fake_personality_of(&qp->ib);

	return personality->reserved_lkey && key == personality->local_dma_lkey &&
	       !(access & ~IB_ACCESS_LOCAL_WRITE);
}

/* Adds memory, if the key is valid for it. */
static bool fake_spans_add(struct fake_spans *spans, struct fake_qp *qp, u64 address, u32 length,
			   u32 key, int access, bool local)
{
	struct fake_mr *mr = fake_mr_find(to_fake(qp->ib.device), key);

	if (local && fake_is_reserved(qp, key, access)) {
		spans->span[spans->count++] = (struct fake_span) {
			.fake = to_fake(qp->ib.device),
			.address = address,
			.length = length,
		};
		spans->length += length;
		return true;
	}
	if (!mr || mr->pd != qp->ib.pd || (mr->access & access) != access)
		return false;
	if (!mr->all && (address < mr->iova || address - mr->iova > mr->length ||
			 length > mr->length - (address - mr->iova)))
		return false;

	spans->span[spans->count++] = (struct fake_span) {
		.fake = to_fake(qp->ib.device),
		.mr = mr->all ? NULL : mr,
		.address = address,
		.length = length,
	};
	spans->length += length;
	return true;
}

bool fake_spans_local(struct fake_spans *spans, struct fake_qp *qp,
		      const struct ib_sge *sge, int count, int access)
{
	int i;

	spans->count = 0;
	spans->length = 0;
	for (i = 0; i < count; i++)
		if (sge[i].length && !fake_spans_add(spans, qp, sge[i].addr, sge[i].length,
						     sge[i].lkey, access, true))
			return false;
	return true;
}

/* An access of length 0 is not checked. */
bool fake_spans_remote(struct fake_spans *spans, struct fake_qp *qp, u64 address, u32 length,
		       u32 rkey, int access)
{
	spans->count = 0;
	spans->length = 0;
	return !length || fake_spans_add(spans, qp, address, length, rkey, access, false);
}

void fake_spans_kernel(struct fake_spans *spans, const void *data, u32 length)
{
	spans->span[0] = (struct fake_span) { .address = (uintptr_t)data, .length = length };
	spans->count = 1;
	spans->length = length;
}

/* What is at a DMA address; @length shrinks to what is contiguous there. */
static void *fake_dma_memory(const struct fake_device *fake, u64 address, u32 *length)
{
	if (!fake || !fake->domain)
		return (void *)(uintptr_t)address;
	*length = min_t(u64, *length, PAGE_SIZE - offset_in_page(address));
	return phys_to_virt(iommu_iova_to_phys(fake->domain, address));
}

/* Returns the start of the span, and in @length how many bytes are contiguous there. */
void *fake_span_memory(const struct fake_span *span, u32 *length)
{
	const struct fake_mr *mr = span->mr;
	u64 offset;

	*length = span->length;
	if (!mr)
		return fake_dma_memory(span->fake, span->address, length);

	offset = mr->offset + (span->address - mr->iova);
	*length = min_t(u64, span->length, mr->page_size - offset % mr->page_size);
	return fake_dma_memory(span->fake,
			       mr->pages[offset / mr->page_size] + offset % mr->page_size, length);
}

static struct fake_span *fake_span_skip(struct fake_span *span, u32 length)
{
	span->address += length;
	span->length -= length;
	return span->length ? span : span + 1;
}

/* Uses up both; @to has room. */
void fake_spans_copy(struct fake_spans *to, struct fake_spans *from)
{
	struct fake_span *target = to->span, *source = from->span;
	u32 left = from->length;

	while (left) {
		u32 room, piece;
		void *destination;
		const void *origin;

		destination = fake_span_memory(target, &room);
		origin = fake_span_memory(source, &piece);
		piece = min(piece, room);
		memmove(destination, origin, piece);
		target = fake_span_skip(target, piece);
		source = fake_span_skip(source, piece);
		left -= piece;
	}
}

const struct ib_device_ops fake_mr_ops = {
	.get_dma_mr = fake_get_dma_mr,
	.reg_user_mr = fake_reg_user_mr,
	.alloc_mr = fake_alloc_mr,
	.dereg_mr = fake_dereg_mr,
	.map_mr_sg = fake_map_mr_sg,
};
