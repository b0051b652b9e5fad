// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of an export, and its registration with devices.
 *
 * It is allocated in slabs of 2 MiB, each in blocks as large as possible, because each slab
 * should be registered at once.  A device that can register fewer pages at a time has several
 * rkeys for a slab.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "blk.h"
#include "memory.h"
#include "wire.h"

#define KRDMA_BLK_SLAB_PAGES	(KRDMA_BLK_SLAB_SIZE / PAGE_SIZE)
#define KRDMA_BLK_SLAB_ORDER	ilog2(KRDMA_BLK_SLAB_PAGES)

/*
 * Slabs
 */

static void krdma_blk_slab_free(struct krdma_blk_slab *slab)
{
	while (slab->count)
		__free_pages(slab->blocks[--slab->count], slab->order);
	kfree(slab->blocks);
	slab->blocks = NULL;
}

/* Lets nothing else have the pages when the slab is freed. */
static void krdma_blk_slab_keep(const struct krdma_blk_slab *slab)
{
	for (unsigned int i = 0; i < slab->count; i++)
		get_page(slab->blocks[i]);
}

static int krdma_blk_slab_alloc_order(struct krdma_blk_slab *slab, unsigned int order)
{
	unsigned int count = KRDMA_BLK_SLAB_PAGES >> order;
	/*
	 * Fail rather than invoke the OOM killer for the last pages: the caller gets -ENOMEM.
	 * File systems that transfer the pages directly take references of each, so the pages of a
	 * block need those of the whole.
	 */
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_COMP |
		    (order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL);

	slab->order = order;
	slab->count = 0;
	slab->blocks = kmalloc_objs(struct page *, count, GFP_KERNEL | __GFP_RETRY_MAYFAIL);
	if (!slab->blocks)
		return -ENOMEM;
	while (slab->count < count) {
		struct page *block = alloc_pages(gfp, order);

		if (!block) {
			krdma_blk_slab_free(slab);
			return -ENOMEM;
		}
		slab->blocks[slab->count++] = block;
	}
	return 0;
}

static int krdma_blk_slab_alloc(struct krdma_blk_slab *slab)
{
	static const unsigned int orders[] = {
		KRDMA_BLK_SLAB_ORDER, KRDMA_BLK_SLAB_ORDER / 2, 0,
	};
	int ret = -ENOMEM;

	for (unsigned int i = 0; i < ARRAY_SIZE(orders) && ret; i++)
		ret = krdma_blk_slab_alloc_order(slab, orders[i]);
	return ret;
}

/* Frees the slabs from @first on. */
static void krdma_blk_memory_free_from(struct krdma_blk_memory *memory, unsigned long first)
{
	while (memory->slab_count > first) {
		krdma_blk_slab_free(&memory->slabs[--memory->slab_count]);
		cond_resched();
	}
	kvfree(memory->slabs);
	memory->slabs = NULL;
	memory->slab_count = 0;
}

/*
 * Is there so much memory, in slabs?  Without this, all that there is would be taken before it is
 * known, and programs that want a page meanwhile would be killed.
 */
static bool krdma_blk_memory_is_there(u64 slabs)
{
	return slabs * KRDMA_BLK_SLAB_PAGES <= (u64)max(si_mem_available(), 0L);
}

/* Allocates the slabs from @first on.  The others are left out. */
static int krdma_blk_memory_alloc_from(struct krdma_blk_memory *memory, unsigned long first,
				       u64 size)
{
	u64 count = size / KRDMA_BLK_SLAB_SIZE + !!(size % KRDMA_BLK_SLAB_SIZE);
	int ret = 0;

	if (count > KRDMA_BLK_CHUNKS_MAX)
		return -EFBIG;
	if (!krdma_blk_memory_is_there(count - first))
		return -ENOMEM;
	memory->slabs = kvmalloc_objs(*memory->slabs, count, GFP_KERNEL);
	if (!memory->slabs)
		return -ENOMEM;

	memory->slab_count = first;
	while (memory->slab_count < count && !ret) {
		if (signal_pending(current))
			ret = -EINTR;
		else
			ret = krdma_blk_slab_alloc(&memory->slabs[memory->slab_count]);
		if (!ret)
			memory->slab_count++;
		cond_resched();
	}
	if (ret)
		krdma_blk_memory_free_from(memory, first);
	return ret;
}

/**
 * krdma_blk_memory_alloc() - Allocate memory
 * @memory: filled in on success
 * @size: in bytes
 *
 * The memory is zeroed.
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0; -ENOMEM; -EINTR: a signal; -EFBIG: more than the protocol can describe.
 */
int krdma_blk_memory_alloc(struct krdma_blk_memory *memory, u64 size)
{
	return krdma_blk_memory_alloc_from(memory, 0, size);
}

/**
 * krdma_blk_memory_alloc_more() - Allocate what is missing for a larger size
 * @memory: the memory, which does not change; peers may access it meanwhile
 * @size: the new size in bytes, not smaller
 * @more: filled in on success, for krdma_blk_memory_add()
 *
 * Context: process context; sleeps, until a signal.
 * Return: as krdma_blk_memory_alloc().
 */
int krdma_blk_memory_alloc_more(const struct krdma_blk_memory *memory, u64 size,
				struct krdma_blk_memory *more)
{
	return krdma_blk_memory_alloc_from(more, memory->slab_count, size);
}

/**
 * krdma_blk_memory_add() - Make memory larger
 * @memory: the memory; no peer can access it
 * @size: its size in bytes until now
 * @more: from krdma_blk_memory_alloc_more(); used up
 *
 * What was not part of the size until now is zeroed.  Peers had keys for whole slabs.
 *
 * Context: process context; may sleep.
 */
void krdma_blk_memory_add(struct krdma_blk_memory *memory, u64 size, struct krdma_blk_memory *more)
{
	size_t rest = memory->slab_count * (u64)KRDMA_BLK_SLAB_SIZE - size;

	krdma_blk_memory_zero(memory, size, rest);
	memcpy(more->slabs, memory->slabs, array_size(memory->slab_count, sizeof(*more->slabs)));
	kvfree(memory->slabs);
	*memory = *more;
}

/**
 * krdma_blk_memory_drop_more() - Free what krdma_blk_memory_alloc_more() has allocated
 * @memory: the memory, which does not change
 * @more: from krdma_blk_memory_alloc_more(); registered with no device
 *
 * Context: process context; may sleep.
 */
void krdma_blk_memory_drop_more(const struct krdma_blk_memory *memory,
				struct krdma_blk_memory *more)
{
	krdma_blk_memory_free_from(more, memory->slab_count);
}

/**
 * krdma_blk_memory_free() - Free memory
 * @memory: the memory, possibly incomplete; it is registered with no device
 *
 * Context: process context; may sleep.
 */
void krdma_blk_memory_free(struct krdma_blk_memory *memory)
{
	krdma_blk_memory_free_from(memory, 0);
}

/**
 * krdma_blk_memory_at() - Get the address of a part of the memory
 * @memory: the memory
 * @offset: start of the part in bytes, within the memory
 * @length: bytes of the part; limited to what is contiguous
 *
 * Context: any.
 * Return: the address.
 */
void *krdma_blk_memory_at(const struct krdma_blk_memory *memory, u64 offset, size_t *length)
{
	const struct krdma_blk_slab *slab = &memory->slabs[offset / KRDMA_BLK_SLAB_SIZE];
	size_t block_size = PAGE_SIZE << slab->order;
	size_t in_slab = offset % KRDMA_BLK_SLAB_SIZE;
	size_t in_block = in_slab % block_size;

	*length = min_t(u64, *length, block_size - in_block);
	return page_address(slab->blocks[in_slab / block_size]) + in_block;
}

/**
 * krdma_blk_memory_zero() - Fill a part of the memory with zeroes
 * @memory: the memory; peers may access it meanwhile
 * @offset: start of the part in bytes
 * @length: bytes of the part, all within the memory
 *
 * What is registered with a device is coherent, so peers that read it later get the zeroes.
 *
 * Context: process context; may sleep.
 */
void krdma_blk_memory_zero(const struct krdma_blk_memory *memory, u64 offset, size_t length)
{
	while (length) {
		size_t part = length;
		void *at = krdma_blk_memory_at(memory, offset, &part);

		memset(at, 0, part);
		offset += part;
		length -= part;
		cond_resched();
	}
}

/* Converts the part of a slab at @offset to @sg.  Returns the number of entries. */
static unsigned int krdma_blk_slab_sg(const struct krdma_blk_slab *slab, u32 offset, u32 length,
				      struct scatterlist *sg)
{
	u32 block_size = PAGE_SIZE << slab->order;
	unsigned int count = 0;

	sg_init_table(sg, max(length / block_size, 1U));
	while (length) {
		u32 at = offset % block_size;
		u32 part = min(block_size - at, length);
		struct page *page = slab->blocks[offset / block_size];

		sg_set_page(&sg[count++], page + at / PAGE_SIZE, part, 0);
		offset += part;
		length -= part;
	}
	return count;
}

/*
 * Devices
 */

static bool krdma_blk_device_serves(const struct krdma_device_attr *attr)
{
	return attr->transport == KRDMA_TRANSPORT_IB && attr->limits.max_fast_reg_pages;
}

/* Bytes that one rkey covers. */
static u32 krdma_blk_device_chunk(const struct krdma_device_attr *attr)
{
	return min_t(u64, KRDMA_BLK_SLAB_SIZE,
		     rounddown_pow_of_two(attr->limits.max_fast_reg_pages) * PAGE_SIZE);
}

/*
 * The most memory to which a device can give access.  Each of its chunks has an entry in the table,
 * and the table has only few rkeys.
 */
static u64 krdma_blk_device_room(const struct krdma_device_attr *attr)
{
	u64 table = (u64)attr->limits.max_fast_reg_pages * PAGE_SIZE * KRDMA_BLK_TABLE_KEYS_MAX;
	u64 chunks = min_t(u64, table / sizeof(struct krdma_blk_entry), KRDMA_BLK_CHUNKS_MAX);

	return chunks * krdma_blk_device_chunk(attr);
}

/* Slabs are registered as a whole. */
static bool krdma_blk_device_fits(const struct krdma_device_attr *attr, u64 size)
{
	u64 room = krdma_blk_device_room(attr);

	if (size <= round_down(room, KRDMA_BLK_SLAB_SIZE))
		return true;
	pr_warn_ratelimited("krdma_blk: %s can register at most %llu MiB of an export\n",
			    attr->name, room / SZ_1M);
	return false;
}

/**
 * krdma_blk_memory_check() - Check whether a device can give access to memory of a size
 * @size: in bytes
 *
 * The kernel's log names the devices of this host that cannot.
 *
 * Context: process context.
 * Return: 0, also if there is no device, because one may come; -EFBIG: none of them can.
 */
int krdma_blk_memory_check(u64 size)
{
	struct krdma_device_attr attr;
	struct krdma_device *dev;
	bool fits = false;
	int ret = 0;
	u32 id = 0;

	while ((dev = krdma_device_next(&init_net, id)) != NULL) {
		id++;
		/* One that has been removed will not be there in the end. */
		if (!krdma_device_query_attr(dev, &attr)) {
			id = attr.id + 1;
			if (krdma_blk_device_serves(&attr)) {
				fits |= krdma_blk_device_fits(&attr, size);
				ret = -EFBIG;
			}
		}
		krdma_device_put(dev);
	}
	return fits ? 0 : ret;
}

/*
 * Windows
 */

static int krdma_blk_chunks_add(struct krdma_blk_chunks *chunks,
				const struct krdma_blk_window *window,
				const struct krdma_blk_memory *memory,
				struct krdma_session *session, u32 access, struct scatterlist *sg)
{
	u64 offset = (u64)chunks->count * window->chunk_size;
	const struct krdma_blk_slab *slab = &memory->slabs[offset / KRDMA_BLK_SLAB_SIZE];
	struct krdma_mr_info info;
	struct krdma_mr *mr;
	unsigned int entries;

	entries = krdma_blk_slab_sg(slab, offset % KRDMA_BLK_SLAB_SIZE, window->chunk_size, sg);
	mr = krdma_mr_register_sg(session, window->dev, sg, entries, access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);

	krdma_mr_query(mr, &info);
	chunks->table[chunks->count] = (struct krdma_blk_entry) {
		.addr = cpu_to_le64(info.remote_addr),
		.key = cpu_to_le32(info.rkey),
	};
	chunks->mrs[chunks->count++] = mr;
	return 0;
}

/*
 * Deregisters an MR.  Returns false if the device may still access its memory.  This side posts no
 * work requests with it, so it cannot be busy.
 */
static bool krdma_blk_mr_end(struct krdma_mr *mr)
{
	int ret = krdma_mr_deregister(mr);

	WARN_ON_ONCE(ret && ret != -EIO);
	return !ret;
}

/*
 * Frees the chunks from @first on, which are in @memory; the MRs of the others belong to other
 * chunks.  What a device may still access is never freed.
 */
static void krdma_blk_chunks_free(const struct krdma_blk_window *window,
				  struct krdma_blk_chunks *chunks, u32 first,
				  const struct krdma_blk_memory *memory)
{
	if (IS_ERR_OR_NULL(chunks->table_mr) || krdma_blk_mr_end(chunks->table_mr))
		kvfree(chunks->table);
	while (chunks->count > first) {
		u64 offset;

		chunks->count--;
		offset = (u64)chunks->count * window->chunk_size;
		if (!krdma_blk_mr_end(chunks->mrs[chunks->count]))
			krdma_blk_slab_keep(&memory->slabs[offset / KRDMA_BLK_SLAB_SIZE]);
	}
	kvfree(chunks->mrs);
	*chunks = (struct krdma_blk_chunks) {};
}

/*
 * Fills in @chunks for all slabs of @memory.  It takes over those of the window, and registers the
 * rest, so the slabs before that may be missing.
 */
static int krdma_blk_window_fill(struct krdma_blk_window *window, struct krdma_blk_chunks *chunks,
				 const struct krdma_blk_memory *memory,
				 struct krdma_session *session, bool read_only)
{
	u32 count = memory->slab_count * (KRDMA_BLK_SLAB_SIZE / window->chunk_size);
	u32 access = KRDMA_ACCESS_REMOTE_READ;
	struct krdma_device_attr attr;
	struct krdma_mr_info info;
	struct scatterlist *sg;
	int ret;

	if (!read_only)
		access |= KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE;
	ret = krdma_device_query_attr(window->dev, &attr);
	if (ret)
		return ret;
	/* Registering takes long. */
	if (!krdma_blk_device_fits(&attr, memory->slab_count * (u64)KRDMA_BLK_SLAB_SIZE))
		return -EFBIG;
	chunks->mrs = kvzalloc_objs(*chunks->mrs, count, GFP_KERNEL);
	chunks->table = kvzalloc_objs(*chunks->table, count, GFP_KERNEL);
	sg = kmalloc_objs(*sg, KRDMA_BLK_SLAB_PAGES, GFP_KERNEL);
	if (!chunks->mrs || !chunks->table || !sg) {
		kfree(sg);
		return -ENOMEM;
	}
	for (; chunks->count < window->chunks.count; chunks->count++) {
		chunks->mrs[chunks->count] = window->chunks.mrs[chunks->count];
		chunks->table[chunks->count] = window->chunks.table[chunks->count];
	}
	while (!ret && chunks->count < count)
		ret = krdma_blk_chunks_add(chunks, window, memory, session, access, sg);
	kfree(sg);
	if (ret)
		return ret;

	chunks->table_mr = krdma_mr_register(session, window->dev, chunks->table,
					     array_size(count, sizeof(*chunks->table)),
					     KRDMA_ACCESS_REMOTE_READ);
	if (IS_ERR(chunks->table_mr))
		return PTR_ERR(chunks->table_mr);
	krdma_mr_query(chunks->table_mr, &info);
	return info.key_count <= KRDMA_BLK_TABLE_KEYS_MAX ? 0 : -EFBIG;
}

/**
 * krdma_blk_window_open() - Register an export's memory with a device
 * @memory: the memory, which stays longer than the window
 * @session: session of the peers that can access it
 * @device_id: ID of the device
 * @read_only: they can only read
 *
 * Context: process context; may sleep.
 * Return: the window, for krdma_blk_window_close(), or an ERR_PTR: -EOPNOTSUPP: the device uses
 * iWARP, where a write that has completed need not have arrived, or cannot register memory; or an
 * error of krdma_mr_register().
 */
struct krdma_blk_window *krdma_blk_window_open(const struct krdma_blk_memory *memory,
					       struct krdma_session *session, u32 device_id,
					       bool read_only)
{
	struct krdma_blk_window *window;
	struct krdma_blk_chunks chunks = {};
	struct krdma_device_attr attr;
	int ret;

	window = krdma_blk_count(KRDMA_OBJECT_BLK_WINDOW, kzalloc_obj(*window, GFP_KERNEL));
	if (!window)
		return ERR_PTR(-ENOMEM);
	window->device_id = device_id;
	window->memory = memory;
	window->dev = krdma_device_get_by_id(&init_net, device_id);
	ret = -ENODEV;
	if (!window->dev)
		goto err_close;
	ret = krdma_device_query_attr(window->dev, &attr);
	if (ret)
		goto err_close;
	ret = -EOPNOTSUPP;
	if (!krdma_blk_device_serves(&attr))
		goto err_close;
	window->chunk_size = krdma_blk_device_chunk(&attr);
	ret = krdma_blk_window_fill(window, &chunks, memory, session, read_only);
	window->chunks = chunks;
	if (ret)
		goto err_close;
	return window;

err_close:
	krdma_blk_window_close(window);
	return ERR_PTR(ret);
}

/**
 * krdma_blk_window_close() - Deregister an export's memory from a device
 * @window: the window; no peer of its device is connected, and it is in no list
 *
 * Context: process context; may sleep.
 */
void krdma_blk_window_close(struct krdma_blk_window *window)
{
	krdma_blk_window_grow_undo(window);
	krdma_blk_chunks_free(window, &window->chunks, 0, window->memory);
	if (window->dev)
		krdma_device_put(window->dev);
	kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_WINDOW, window));
}

/**
 * krdma_blk_window_grow() - Register what the memory is to grow by
 * @window: the window; peers may be connected, and notice nothing
 * @more: from krdma_blk_memory_alloc_more(), which stays until krdma_blk_window_grow_end() or
 *	krdma_blk_window_grow_undo()
 * @session: session of the peers that can access it
 * @read_only: they can only read
 *
 * Context: process context; may sleep.
 * Return: 0, also if that was done before, and krdma_blk_window_grow_end() or
 * krdma_blk_window_grow_undo() is to be called; or an error as of krdma_blk_window_open(), and
 * nothing has changed.
 */
int krdma_blk_window_grow(struct krdma_blk_window *window, const struct krdma_blk_memory *more,
			  struct krdma_session *session, bool read_only)
{
	int ret;

	if (window->grown.mrs)
		return 0;
	window->more = more;
	ret = krdma_blk_window_fill(window, &window->grown, more, session, read_only);
	if (ret)
		krdma_blk_window_grow_undo(window);
	return ret;
}

/**
 * krdma_blk_window_grow_end() - Give peers access to what the memory has grown by
 * @window: the window, after krdma_blk_window_grow(); no peer of its device is connected
 *
 * Context: process context; may sleep.
 */
void krdma_blk_window_grow_end(struct krdma_blk_window *window)
{
	/* All of its MRs but that of the table are among the new ones. */
	krdma_blk_chunks_free(window, &window->chunks, window->chunks.count, NULL);
	window->chunks = window->grown;
	window->grown = (struct krdma_blk_chunks) {};
}

/**
 * krdma_blk_window_grow_undo() - Undo krdma_blk_window_grow()
 * @window: the window; nothing happens without an earlier krdma_blk_window_grow()
 *
 * Context: process context; may sleep.
 */
void krdma_blk_window_grow_undo(struct krdma_blk_window *window)
{
	krdma_blk_chunks_free(window, &window->grown, window->chunks.count, window->more);
}

/**
 * krdma_blk_window_is_gone() - Check whether the device of a window has been removed
 * @window: the window
 *
 * Context: process context; may sleep.
 * Return: true if it has.
 */
bool krdma_blk_window_is_gone(const struct krdma_blk_window *window)
{
	struct krdma_device_attr attr;

	return krdma_device_query_attr(window->dev, &attr) == -ENODEV;
}
