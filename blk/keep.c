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
 *
 * A work item truncates and writes the file: a fatal signal ends kernel_write() and some of the
 * calls of file systems, and when the process that enables an export, or disables it by force, gets
 * one, only the memory may have the data.
 */
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include "blk.h"
#include "memory.h"

/* How much longer a file is that is not complete.  A multiple of no export's block size. */
#define KRDMA_BLK_INCOMPLETE	1

/**
 * struct krdma_blk_save - what a work item does to a file
 * @memory: the memory
 * @size: bytes to write
 * @path: path of the file
 * @root: directory where @path begins
 * @cred: credentials with which the file is opened and written
 * @file: the file, once it is open; or NULL.  The caller closes it: a work item would close it
 *	later, and until then its file system cannot be unmounted.
 * @ret: 0, or an error
 * @done: completed when @ret is set
 * @work: writes the file, or truncates it
 */
struct krdma_blk_save {
	const struct krdma_blk_memory *memory;
	u64 size;
	const char *path;
	struct path root;
	const struct cred *cred;
	struct file *file;
	int ret;
	struct completion done;
	struct work_struct work;
};

static int krdma_blk_save_open(struct krdma_blk_save *save)
{
	struct file *file = file_open_root(&save->root, save->path,
					   O_WRONLY | O_CREAT | O_TRUNC | O_LARGEFILE | O_NOFOLLOW,
					   0600);

	if (IS_ERR(file))
		return PTR_ERR(file);
	save->file = file;
	return 0;
}

static int krdma_blk_save_write(const struct krdma_blk_save *save)
{
	loff_t at = 0;

	while (at < save->size) {
		size_t length = save->size - at;
		void *from = krdma_blk_memory_at(save->memory, at, &length);
		ssize_t done = kernel_write(save->file, from, length, &at);

		if (done <= 0)
			return done ?: -ENOSPC;
		cond_resched();
	}
	return 0;
}

static void krdma_blk_save_work(struct work_struct *work)
{
	struct krdma_blk_save *save = container_of(work, struct krdma_blk_save, work);
	const struct cred *own = override_creds(save->cred);

	save->ret = krdma_blk_save_open(save);
	if (save->ret)
		goto out;
	save->ret = vfs_truncate(&save->file->f_path, save->size + KRDMA_BLK_INCOMPLETE) ?:
		    krdma_blk_save_write(save) ?:
		    vfs_fsync(save->file, 0) ?:
		    vfs_truncate(&save->file->f_path, save->size) ?:
		    vfs_fsync(save->file, 0);
	/* Incomplete data is useless. */
	if (save->ret)
		vfs_truncate(&save->file->f_path, 0);
out:
	revert_creds(own);
	complete(&save->done);
}

/* Has a work item do it: a signal of this process does not end that. */
static void krdma_blk_save_run(struct krdma_blk_save *save, work_func_t work)
{
	init_completion(&save->done);
	INIT_WORK_ONSTACK(&save->work, work);
	queue_work(krdma_blk_export_workqueue, &save->work);
	while (!wait_for_completion_timeout(&save->done, KRDMA_BLK_LONG_WAIT))
		;
	flush_work(&save->work);
	destroy_work_on_stack(&save->work);
}

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
	struct krdma_blk_save save = {
		.memory = memory, .size = size, .path = path, .cred = current_cred(),
	};

	get_fs_root(current->fs, &save.root);
	krdma_blk_save_run(&save, krdma_blk_save_work);
	path_put(&save.root);
	if (save.file)
		filp_close(save.file, NULL);
	return save.ret;
}

static void krdma_blk_empty_work(struct work_struct *work)
{
	struct krdma_blk_save *save = container_of(work, struct krdma_blk_save, work);
	const struct cred *own = override_creds(save->cred);

	save->ret = vfs_truncate(&save->file->f_path, 0) ?: vfs_fsync(save->file, 0);
	revert_creds(own);
	complete(&save->done);
}

/*
 * Truncates the file whose data the memory has.  After an error it may be empty nevertheless, so
 * they are written back.  If they cannot be, and the file does not have them, this is no error,
 * because only the memory has them.
 */
static int krdma_blk_memory_empty(const struct krdma_blk_memory *memory, u64 size,
				  const char *path, struct file *file)
{
	struct krdma_blk_save save = { .file = file, .cred = current_cred() };

	krdma_blk_save_run(&save, krdma_blk_empty_work);
	if (!save.ret || !krdma_blk_memory_save(memory, size, path) ||
	    i_size_read(file_inode(file)) == size)
		return save.ret;
	pr_err("krdma_blk: after a crash %s may have old data: error %d\n", path, save.ret);
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
