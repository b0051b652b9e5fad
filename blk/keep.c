// SPDX-License-Identifier: GPL-2.0
/*
 * The data of an export, kept in a file while it is disabled.
 *
 * Enabling reads the file and truncates it: from then on only the memory has the data.  If the
 * host stops before the export is disabled, the file is empty, so that old data cannot be
 * mistaken for what was written last.
 *
 * If it stops while the file is being written, the file may have any part of the data, and a file
 * system may set the size earlier than it writes the data.  So until all data are on stable
 * storage, the file is longer than the data, and enabling refuses it.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "memory.h"

/* How much longer a file is that is not complete.  A multiple of no export's block size. */
#define KRDMA_BLK_INCOMPLETE	1

/**
 * krdma_blk_memory_save() - Write the data to a file
 * @memory: the memory, to which no peer writes
 * @size: bytes to write
 * @path: path of the file; created if it does not exist, accessible for root only
 *
 * The data is on stable storage when this has returned 0.
 *
 * Context: process context; sleeps, uninterruptibly.
 * Return: 0, or an error of opening, writing or syncing the file.
 */
int krdma_blk_memory_save(const struct krdma_blk_memory *memory, u64 size, const char *path)
{
	struct file *file = filp_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_LARGEFILE | O_NOFOLLOW,
				      0600);
	loff_t at = 0;
	int ret = 0;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = vfs_truncate(&file->f_path, size + KRDMA_BLK_INCOMPLETE);
	while (!ret && at < size) {
		size_t length = size - at;
		void *from = krdma_blk_memory_at(memory, at, &length);
		ssize_t done = kernel_write(file, from, length, &at);

		if (done <= 0)
			ret = done ?: -ENOSPC;
		cond_resched();
	}
	if (!ret)
		ret = vfs_fsync(file, 0);
	if (!ret)
		ret = vfs_truncate(&file->f_path, size);
	if (!ret)
		ret = vfs_fsync(file, 0);
	/* Incomplete data is useless. */
	if (ret)
		vfs_truncate(&file->f_path, 0);
	filp_close(file, NULL);
	return ret;
}

/*
 * Truncates the file whose data the memory has.  After an error the file has the data again.  If
 * they cannot be written either, this is no error, because only the memory has them.
 */
static int krdma_blk_memory_empty(const struct krdma_blk_memory *memory, u64 size,
				  const char *path, struct file *file)
{
	int ret;

	ret = vfs_truncate(&file->f_path, 0);
	if (ret)
		return ret;
	ret = vfs_fsync(file, 0);
	if (!ret || !krdma_blk_memory_save(memory, size, path))
		return ret;
	pr_err("krdma_blk: after a crash %s may have old data: error %d\n", path, ret);
	return 0;
}

/**
 * krdma_blk_memory_load() - Read the data from a file, and truncate it
 * @memory: the memory, zeroed
 * @size: bytes to read
 * @path: path of the file; no data is read if it does not exist, or is empty
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0, and only the memory has the data; -EFBIG: the file has another size; -EINTR: a signal;
 * -EIO: the file became shorter meanwhile; an error of opening, reading or truncating it.
 */
int krdma_blk_memory_load(struct krdma_blk_memory *memory, u64 size, const char *path)
{
	struct file *file = filp_open(path, O_RDWR | O_LARGEFILE | O_NOFOLLOW, 0);
	loff_t at = 0;
	int ret = 0;

	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOENT ? 0 : PTR_ERR(file);
	if (!S_ISREG(file_inode(file)->i_mode))
		ret = -EINVAL;
	else if (i_size_read(file_inode(file)) && i_size_read(file_inode(file)) != size)
		ret = -EFBIG;
	else if (!i_size_read(file_inode(file)))
		goto out;
	while (!ret && at < size) {
		size_t length = size - at;
		void *to = krdma_blk_memory_at(memory, at, &length);
		ssize_t done = kernel_read(file, to, length, &at);

		if (done <= 0)
			ret = done ?: -EIO;
		else if (signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	if (!ret)
		ret = krdma_blk_memory_empty(memory, size, path, file);
out:
	filp_close(file, NULL);
	return ret;
}
