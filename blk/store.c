// SPDX-License-Identifier: GPL-2.0
/*
 * A block device or a file of this host that has the data of an export.
 *
 * Data go by it directly between its device and the memory into which peers write, if it can: what
 * the page cache of this host had would be there twice.  What is written is stable after
 * krdma_blk_store_flush().
 *
 * A peer may change that memory while it is written, as a thread of a program may with O_DIRECT:
 * then the store has any mixture, of that range alone.
 */
#include <linux/blkdev.h>
#include <linux/bvec.h>
#include <linux/err.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/uio.h>

#include "memory.h"
#include "store.h"
#include "wire.h"

/* A slot may consist of single pages. */
#define KRDMA_BLK_STORE_PARTS	(KRDMA_BLK_SLOT_SIZE / PAGE_SIZE)

/* Transfers all of @iter; the position and the flags are those of @kiocb. */
static int krdma_blk_store_iterate(struct kiocb *kiocb, struct iov_iter *iter, bool write)
{
	struct file *file = kiocb->ki_filp;
	ssize_t done;

	while (iov_iter_count(iter)) {
		if (write) {
			file_start_write(file);
			done = file->f_op->write_iter(kiocb, iter);
			file_end_write(file);
		} else {
			done = file->f_op->read_iter(kiocb, iter);
		}
		/* A file that has become shorter ends too early. */
		if (done <= 0)
			return done ?: -EIO;
	}
	return 0;
}

/* Returns -EINVAL if a file cannot be used directly, but perhaps otherwise. */
static int krdma_blk_store_check(struct file *file, u32 block_size)
{
	struct inode *inode = file->f_mapping->host;
	struct block_device *bdev;

	if (!S_ISBLK(inode->i_mode) && !S_ISREG(inode->i_mode))
		return -ENOTBLK;
	/* Not every file can be written: one of hugetlbfs cannot. */
	if (!file->f_op->read_iter || (file->f_mode & FMODE_WRITE && !file->f_op->write_iter))
		return -EOPNOTSUPP;
	if (!S_ISBLK(inode->i_mode)) {
		bdev = inode->i_sb->s_bdev;
		if (file->f_flags & O_DIRECT && bdev && bdev_logical_block_size(bdev) > block_size)
			return -EINVAL;
		return 0;
	}
	if (bdev_logical_block_size(I_BDEV(inode)) > block_size)
		return -ERANGE;
	return file->f_mode & FMODE_WRITE && bdev_read_only(I_BDEV(inode)) ? -EROFS : 0;
}

/*
 * Reads the first block.  A file system can transfer directly and still need larger blocks, also
 * without a block device that says so: that shows here, by -EINVAL.
 */
static int krdma_blk_store_probe(struct file *file, u32 block_size)
{
	struct page *page = alloc_page(GFP_KERNEL);
	struct bio_vec part = { .bv_page = page, .bv_len = block_size };
	struct iov_iter iter;
	struct kiocb kiocb;
	int ret;

	if (!page)
		return -ENOMEM;
	iov_iter_bvec(&iter, READ, &part, 1, block_size);
	init_sync_kiocb(&kiocb, file);
	ret = krdma_blk_store_iterate(&kiocb, &iter, false);
	__free_page(page);
	return ret;
}

static int krdma_blk_store_try(struct krdma_blk_store *store, const char *path, u32 block_size,
			       int flags)
{
	struct file *file = filp_open(path, flags | O_EXCL | O_LARGEFILE, 0);
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = krdma_blk_store_check(file, block_size);
	if (!ret && flags & O_DIRECT && i_size_read(file->f_mapping->host) >= block_size)
		ret = krdma_blk_store_probe(file, block_size);
	/*
	 * An error of what others have written before would look like one of this export, at each
	 * flush: so it is taken here, and is the reason not to use the store.
	 */
	if (!ret && file->f_mode & FMODE_WRITE)
		ret = vfs_fsync(file, 1);
	if (ret) {
		filp_close(file, NULL);
		return ret;
	}
	store->file = file;
	store->since = filemap_sample_wb_err(file->f_mapping);
	store->lost = 0;
	return 0;
}

/**
 * krdma_blk_store_open() - Open a store
 * @store: filled in on success
 * @path: path of the block device or file
 * @block_size: in bytes
 * @read_only: it is only read
 *
 * A block device is claimed: it can be neither mounted nor claimed by another driver meanwhile.
 *
 * Context: process context; may sleep.
 * Return: 0; -EBUSY: the block device is in use; -ENOTBLK: @path is neither block device nor file;
 * -ERANGE: the blocks of the block device are larger than @block_size; -EROFS: it cannot be
 * written; -EOPNOTSUPP: nor can this file; an error of opening it, of reading the first block, or
 * of flushing what was written before.
 */
int krdma_blk_store_open(struct krdma_blk_store *store, const char *path, u32 block_size,
			 bool read_only)
{
	int flags = read_only ? O_RDONLY : O_RDWR;
	int ret;

	ret = krdma_blk_store_try(store, path, block_size, flags | O_DIRECT);
	/* Not every file system can; all block devices can. */
	if (ret == -EINVAL)
		ret = krdma_blk_store_try(store, path, block_size, flags);
	return ret;
}

/**
 * krdma_blk_store_close() - Close a store
 * @store: the store, open or not; nothing is transferred any more
 *
 * What was written last need not be stable.
 *
 * Context: process context; may sleep.
 */
void krdma_blk_store_close(struct krdma_blk_store *store)
{
	if (store->file)
		filp_close(store->file, NULL);
	store->file = NULL;
}

/**
 * krdma_blk_store_size() - Get the size of a store
 * @store: the store, open
 *
 * Context: any.
 * Return: its size in bytes at the time of the call.
 */
u64 krdma_blk_store_size(const struct krdma_blk_store *store)
{
	return i_size_read(store->file->f_mapping->host);
}

static noinline_for_stack int
krdma_blk_store_transfer(const struct krdma_blk_store *store, const struct krdma_blk_span *span,
			 bool write)
{
	struct bio_vec parts[KRDMA_BLK_STORE_PARTS];
	struct iov_iter iter;
	struct kiocb kiocb;
	u32 length = 0;
	int count = 0;

	while (length < span->length) {
		size_t part = span->length - length;
		void *at = krdma_blk_memory_at(span->memory, span->from + length, &part);

		parts[count++] = (struct bio_vec) {
			.bv_page = virt_to_page(at), .bv_offset = offset_in_page(at),
			.bv_len = part,
		};
		length += part;
	}
	iov_iter_bvec(&iter, write ? WRITE : READ, parts, count, length);
	init_sync_kiocb(&kiocb, store->file);
	kiocb.ki_pos = span->offset;
	return krdma_blk_store_iterate(&kiocb, &iter, write);
}

/**
 * krdma_blk_store_read() - Read from a store into memory
 * @store: the store, open
 * @span: what is read
 *
 * Context: process context; sleeps as long as the store takes.
 * Return: 0; -EIO: also if the store ends before; another error of the store.
 */
int krdma_blk_store_read(const struct krdma_blk_store *store, const struct krdma_blk_span *span)
{
	return krdma_blk_store_transfer(store, span, false);
}

/*
 * The kernel reports each error of writing back once, to the first call that asks.  Which data are
 * lost is not known, so nothing that asks for stable data succeeds after it: also not the same
 * request, when it is repeated.  So this compares with what was known in the beginning.  Returns 0,
 * or the error.
 */
static int krdma_blk_store_lost(const struct krdma_blk_store *store)
{
	return READ_ONCE(store->lost) ?: filemap_check_wb_err(store->file->f_mapping, store->since);
}

/*
 * Makes a part stable.  An error of a flush is one of everything that was written before, and a
 * block device does not report it again.
 */
static int krdma_blk_store_sync(struct krdma_blk_store *store, loff_t first, loff_t last)
{
	int ret = vfs_fsync_range(store->file, first, last, 1);

	if (ret)
		cmpxchg(&store->lost, 0, ret);
	return ret ?: krdma_blk_store_lost(store);
}

/**
 * krdma_blk_store_write() - Write to a store from memory
 * @store: the store, open, not only to be read
 * @span: what is written
 * @stable: it is stable when this has returned 0
 *
 * It is made stable by a call of its own, and not with IOCB_DSYNC, whose error could also be one of
 * the write alone.
 *
 * Context: process context; sleeps as long as the store takes.
 * Return: 0; -ENOSPC: also if what the store rests on is full; another error of the store, and any
 * part may have been written.
 */
int krdma_blk_store_write(struct krdma_blk_store *store, const struct krdma_blk_span *span,
			  bool stable)
{
	int ret = krdma_blk_store_transfer(store, span, true);

	if (ret || !stable)
		return ret;
	return krdma_blk_store_sync(store, span->offset, span->offset + span->length - 1);
}

/* For a store that has no other way to become zero. */
static noinline_for_stack int krdma_blk_store_write_zeroes(const struct krdma_blk_store *store,
							   u64 offset, u64 length)
{
	struct bio_vec parts[KRDMA_BLK_STORE_PARTS];
	int ret = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++)
		parts[i] = (struct bio_vec) { .bv_page = ZERO_PAGE(0), .bv_len = PAGE_SIZE };
	while (length && !ret) {
		u64 part = min_t(u64, length, KRDMA_BLK_SLOT_SIZE);
		struct iov_iter iter;
		struct kiocb kiocb;

		iov_iter_bvec(&iter, WRITE, parts, DIV_ROUND_UP(part, PAGE_SIZE), part);
		init_sync_kiocb(&kiocb, store->file);
		kiocb.ki_pos = offset;
		ret = krdma_blk_store_iterate(&kiocb, &iter, true);
		offset += part;
		length -= part;
	}
	return ret;
}

/**
 * krdma_blk_store_zero() - Fill a part of a store with zeroes
 * @store: the store, open, not only to be read
 * @offset: start of the part in bytes, a multiple of the block size
 * @length: bytes of the part, a multiple of the block size
 * @discard: the space is not needed any more
 *
 * Context: process context; sleeps as long as the store takes.
 * Return: 0, or an error of the store, and any part may be zero.
 */
int krdma_blk_store_zero(const struct krdma_blk_store *store, u64 offset, u64 length, bool discard)
{
	int ret = -EOPNOTSUPP;

	if (discard)
		ret = vfs_fallocate(store->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				    offset, length);
	/* The space stays allocated, so that a later write need not fail. */
	if (ret == -EOPNOTSUPP)
		ret = vfs_fallocate(store->file, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
				    offset, length);
	if (ret == -EOPNOTSUPP)
		ret = krdma_blk_store_write_zeroes(store, offset, length);
	return ret;
}

/**
 * krdma_blk_store_flush() - Make what was written stable
 * @store: the store, open
 *
 * Context: process context; sleeps as long as the store takes.
 * Return: 0, and what was written before is on stable storage; or an error of the store, also one
 * of an earlier flush.
 */
int krdma_blk_store_flush(struct krdma_blk_store *store)
{
	return krdma_blk_store_sync(store, 0, LLONG_MAX);
}
