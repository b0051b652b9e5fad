// SPDX-License-Identifier: GPL-2.0
/*
 * Counts of the objects of each kind, for tests.  The tests check that every object was freed,
 * also on kernels without a leak detector.
 *
 * An object is counted from its allocation until it is freed, or handed to RCU to be freed.
 * The data path does not allocate, so one counter for all CPUs is enough.
 */
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "core/objects.h"
#include "core/pure.h"

atomic_t krdma_object_counts[KRDMA_OBJECT_KINDS];

static const char *const krdma_object_names[] = {
	[KRDMA_OBJECT_DEVICE] = "device",
	[KRDMA_OBJECT_NOTIFIER_DEVICE] = "notifier_device",
	[KRDMA_OBJECT_DEVICE_USE] = "device_use",
	[KRDMA_OBJECT_SESSION] = "session",
	[KRDMA_OBJECT_PD] = "pd",
	[KRDMA_OBJECT_LISTENER] = "listener",
	[KRDMA_OBJECT_CONN] = "conn",
	[KRDMA_OBJECT_LANE] = "lane",
	[KRDMA_OBJECT_TRUNK] = "trunk",
	[KRDMA_OBJECT_WINDOW] = "window",
	[KRDMA_OBJECT_QP] = "qp",
	[KRDMA_OBJECT_CQ] = "cq",
	[KRDMA_OBJECT_SRQ] = "srq",
	[KRDMA_OBJECT_TEMPLATE] = "template",
	[KRDMA_OBJECT_MR] = "mr",
	[KRDMA_OBJECT_MR_MEMORY] = "mr_memory",
	[KRDMA_OBJECT_FRWR_QP] = "frwr_qp",
	[KRDMA_OBJECT_DEVICE_NOTIFIER] = "device_notifier",
	[KRDMA_OBJECT_NOTIFIER_LINK] = "notifier_link",
	[KRDMA_OBJECT_USER_FILE] = "user_file",
	[KRDMA_OBJECT_USER_ACCOUNT] = "user_account",
	[KRDMA_OBJECT_USER_UCOUNT] = "user_ucount",
	[KRDMA_OBJECT_USER_SESSION] = "user_session",
	[KRDMA_OBJECT_USER_LISTENER] = "user_listener",
	[KRDMA_OBJECT_USER_CONN] = "user_conn",
	[KRDMA_OBJECT_USER_RING] = "user_ring",
	[KRDMA_OBJECT_USER_SRQ] = "user_srq",
	[KRDMA_OBJECT_USER_MR] = "user_mr",
	[KRDMA_OBJECT_USER_MM] = "user_mm",
	[KRDMA_OBJECT_USER_NOTIFIER] = "user_notifier",
	[KRDMA_OBJECT_USER_BATCH] = "user_batch",
	[KRDMA_OBJECT_BLK_DEV] = "blk_dev",
	[KRDMA_OBJECT_BLK_DISK] = "blk_disk",
	[KRDMA_OBJECT_BLK_EXPORT] = "blk_export",
	[KRDMA_OBJECT_BLK_CLIENT] = "blk_client",
	[KRDMA_OBJECT_BLK_CONN] = "blk_conn",
	[KRDMA_OBJECT_BLK_WINDOW] = "blk_window",
};

static_assert(ARRAY_SIZE(krdma_object_names) == KRDMA_OBJECT_KINDS);

static struct dentry *krdma_debugfs;

/**
 * krdma_object_name() - Get the name of a kind
 * @kind: below KRDMA_OBJECT_KINDS
 *
 * Context: any.
 * Return: the name, one word.
 */
const char *krdma_object_name(enum krdma_object_kind kind)
{
	return krdma_object_names[kind];
}
EXPORT_SYMBOL_IF_KUNIT(krdma_object_name);

/**
 * krdma_object_add() - Change the count of a kind, for a module that uses krdma
 * @kind: one of that module's kinds
 * @count: number of objects by which the count grows; may be negative
 *
 * Context: any.
 */
void krdma_object_add(enum krdma_object_kind kind, int count)
{
	atomic_add(count, &krdma_object_counts[kind]);
}
EXPORT_SYMBOL_NS_GPL(krdma_object_add, "KRDMA");

/**
 * krdma_object_read() - Read the count of a kind
 * @kind: below KRDMA_OBJECT_KINDS
 *
 * Context: any.
 * Return: the count.
 */
int krdma_object_read(enum krdma_object_kind kind)
{
	return atomic_read(&krdma_object_counts[kind]);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_object_read);

static int krdma_objects_show(struct seq_file *seq, void *unused)
{
	int kind;

	for (kind = 0; kind < KRDMA_OBJECT_KINDS; kind++)
		seq_printf(seq, "%s %d\n", krdma_object_name(kind), krdma_object_read(kind));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(krdma_objects);

/**
 * krdma_objects_init() - Show the counts in debugfs
 *
 * Without debugfs they are not shown.
 *
 * Context: process context; may sleep.
 * Return: the module's folder in debugfs.
 */
struct dentry *krdma_objects_init(void)
{
	krdma_debugfs = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("objects", 0400, krdma_debugfs, NULL, &krdma_objects_fops);
	return krdma_debugfs;
}

/**
 * krdma_objects_exit() - Warn about objects that are left when the module exits
 *
 * The caller has waited for RCU's grace period, so objects freed after it are freed.
 *
 * Context: process context; may sleep.
 */
void krdma_objects_exit(void)
{
	int kind;

	debugfs_remove_recursive(krdma_debugfs);
	for (kind = 0; kind < KRDMA_OBJECT_KINDS; kind++)
		WARN(krdma_object_read(kind), KBUILD_MODNAME ": objects are left: %s %d\n",
		     krdma_object_name(kind), krdma_object_read(kind));
}
