// SPDX-License-Identifier: GPL-2.0
/*
 * The files of exports: that no two have the same, and the one that keeps the data of an export
 * while it is disabled.
 *
 * Enabling reads the file and truncates it: from then on only the memory has the data.  If the
 * host stops before the export is disabled, the file is empty, so that old data cannot be
 * mistaken for what was written last.  A file that does not exist is made then, so that no other
 * export gets it.
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
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/workqueue.h>

#include "blk.h"
#include "export.h"
#include "keep.h"
#include "root.h"

/* How much longer a file is that is not complete.  A multiple of no export's block size. */
#define KRDMA_BLK_INCOMPLETE	1

/*
 * Whose a file is
 */

/* Enabled exports that have a file: no two have the same. */
static DEFINE_MUTEX(claims_lock);
static LIST_HEAD(claims);

/*
 * If the file of the export was removed, another one can have its inode number since, but not the
 * time when it was made.  Not all file systems have that time, and one that puts layers over each
 * other changes it.  A file that is open as a store keeps its number.
 */
static bool krdma_blk_export_has_inode(const struct krdma_blk_export *export,
				       const struct kstat *stat)
{
	if (export->claimed_dev != stat->dev || export->claimed_ino != stat->ino)
		return false;
	return export->store.file || !export->claimed_has_birth ||
	       !(stat->result_mask & STATX_BTIME) ||
	       timespec64_equal(&export->claimed_birth, &stat->btime);
}

static bool krdma_blk_export_has_same(const struct krdma_blk_export *export,
				      const struct krdma_blk_export *other,
				      const struct kstat *stat)
{
	/* What is only read can be read by several. */
	if (export->store.file && other->store.file && export->read_only && other->read_only)
		return false;
	/* Also if the file of the other one has been removed since. */
	if (*export->file && !strcmp(export->file, other->file))
		return true;
	return S_ISREG(stat->mode) && other->claimed && krdma_blk_export_has_inode(other, stat);
}

/**
 * krdma_blk_export_claim() - Note which file an export has
 * @export: the export; its lock is held by the caller, or by the thread that waits for the caller
 * @path: its store, or the file that keeps its data: open, so that it is known by its inode
 *
 * Another export that has the same file would destroy the data of this one: what it begins with it
 * truncates, and what it ends with it overwrites.  A file that was noted before is noted no longer.
 *
 * Context: process context; may sleep.
 * Return: 0; -EBUSY: another export has it; an error of vfs_getattr().
 */
int krdma_blk_export_claim(struct krdma_blk_export *export, const struct path *path)
{
	struct krdma_blk_export *other;
	struct kstat stat;
	int ret;

	/* As stat(2) says: a subvolume has its own inode numbers, and its own device number. */
	ret = vfs_getattr(path, &stat, STATX_TYPE | STATX_INO | STATX_BTIME,
			  AT_STATX_SYNC_AS_STAT);
	if (ret)
		return ret;
	mutex_lock(&claims_lock);
	list_for_each_entry(other, &claims, claims) {
		if (other != export && krdma_blk_export_has_same(export, other, &stat))
			ret = -EBUSY;
	}
	if (!ret) {
		export->claimed = S_ISREG(stat.mode);
		export->claimed_dev = stat.dev;
		export->claimed_ino = stat.ino;
		export->claimed_has_birth = stat.result_mask & STATX_BTIME;
		export->claimed_birth = stat.btime;
		list_move(&export->claims, &claims);
	}
	mutex_unlock(&claims_lock);
	return ret;
}

/**
 * krdma_blk_export_unclaim() - Note that an export has no file any more
 * @export: the export, with a file or not; the caller holds its lock
 *
 * Context: process context; may sleep.
 */
void krdma_blk_export_unclaim(struct krdma_blk_export *export)
{
	mutex_lock(&claims_lock);
	list_del_init(&export->claims);
	mutex_unlock(&claims_lock);
}

/*
 * Writing and reading it
 */

/**
 * struct krdma_blk_save - what a work item does to a file
 * @export: the export; its size is the number of bytes to write
 * @root: directory where the path of its file begins
 * @cred: credentials with which the file is opened and written
 * @file: the file, once it is open; or NULL.  The caller closes it: a work item would close it
 *	later, and until then its file system cannot be unmounted.
 * @ret: 0, or an error
 * @done: completed when @ret is set
 * @work: writes the file, or truncates it
 */
struct krdma_blk_save {
	struct krdma_blk_export *export;
	struct path root;
	const struct cred *cred;
	struct file *file;
	int ret;
	struct completion done;
	struct work_struct work;
};

/*
 * What has the path now need not be what had it when the export was enabled: nothing is truncated
 * before it is known to be no other export's.
 */
static int krdma_blk_save_open(struct krdma_blk_save *save)
{
	struct file *file = file_open_root(&save->root, save->export->file,
					   O_WRONLY | O_CREAT | O_LARGEFILE | O_NOFOLLOW, 0600);
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	save->file = file;
	ret = krdma_blk_export_claim(save->export, &file->f_path);
	/* -EBUSY says that the export has clients. */
	if (ret == -EBUSY)
		return -EEXIST;
	return ret ?: vfs_truncate(&file->f_path, 0);
}

static int krdma_blk_save_write(const struct krdma_blk_save *save)
{
	u64 size = save->export->size;
	loff_t at = 0;

	while (at < size) {
		size_t length = size - at;
		void *from = krdma_blk_memory_at(&save->export->memory, at, &length);
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
	u64 size = save->export->size;

	save->ret = krdma_blk_save_open(save);
	if (save->ret)
		goto out;
	save->ret = vfs_truncate(&save->file->f_path, size + KRDMA_BLK_INCOMPLETE) ?:
		    krdma_blk_save_write(save) ?:
		    vfs_fsync(save->file, 0) ?:
		    vfs_truncate(&save->file->f_path, size) ?:
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
 * @export: the export, to whose memory no peer writes.  The caller holds its lock.
 *
 * The file is created if it does not exist, accessible for root only.
 * The data is on stable storage when this has returned 0.
 *
 * Context: process context; sleeps, uninterruptibly.
 * Return: 0; -EEXIST: the file is another export's by now, and nothing was written; or an error of
 * opening, writing or syncing the file.
 */
int krdma_blk_memory_save(struct krdma_blk_export *export)
{
	struct krdma_blk_save save = { .export = export, .cred = current_cred() };

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
static int krdma_blk_memory_empty(struct krdma_blk_export *export, struct file *file)
{
	struct krdma_blk_save save = { .file = file, .cred = current_cred() };

	krdma_blk_save_run(&save, krdma_blk_empty_work);
	if (!save.ret || !krdma_blk_memory_save(export) ||
	    i_size_read(file_inode(file)) == export->size)
		return save.ret;
	pr_err("krdma_blk: cannot empty %s: error %d; after a crash it may have old data\n",
	       export->file, save.ret);
	return 0;
}

static int krdma_blk_load_read(struct krdma_blk_export *export, struct file *file)
{
	loff_t at = 0;

	while (at < export->size) {
		size_t length = export->size - at;
		void *to = krdma_blk_memory_at(&export->memory, at, &length);
		ssize_t done = kernel_read(file, to, length, &at);

		if (done <= 0)
			return done ?: -EIO;
		if (signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/**
 * krdma_blk_memory_load() - Read the data from a file, and truncate it
 * @export: the export, with zeroed memory.  The caller holds its lock.
 *
 * No data is read if the file is empty.  If it does not exist, it is created, accessible for root
 * only.
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0, and only the memory has the data; -EBUSY: the file is another export's; -EFBIG: it has
 * another size; -EINTR: a signal; -EIO: it became shorter meanwhile; -EINVAL: it is no file; an
 * error of opening, reading or truncating it.
 */
int krdma_blk_memory_load(struct krdma_blk_export *export)
{
	struct file *file = filp_open(export->file, O_RDWR | O_CREAT | O_LARGEFILE | O_NOFOLLOW,
				      0600);
	u64 size;
	int ret;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = S_ISREG(file_inode(file)->i_mode) ? 0 : -EINVAL;
	ret = ret ?: krdma_blk_export_claim(export, &file->f_path);
	if (ret)
		goto out;
	size = i_size_read(file_inode(file));
	if (size && size != export->size)
		ret = -EFBIG;
	else if (size)
		ret = krdma_blk_load_read(export, file) ?: krdma_blk_memory_empty(export, file);
out:
	filp_close(file, NULL);
	return ret;
}
