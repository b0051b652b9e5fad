// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_blk: a block device in another host's memory.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "../krdma/version.h"
#include "blk.h"
#include "device.h"
#include "disk.h"
#include "export.h"
#include "listen.h"
#include "root.h"
#include "wire.h"

static ssize_t krdma_blk_root_listen_show(struct config_item *item, char *page)
{
	return krdma_blk_listen_show(page);
}

static ssize_t krdma_blk_root_listen_store(struct config_item *item, const char *page,
					   size_t count)
{
	return krdma_blk_listen_store(page, count);
}
CONFIGFS_ATTR(krdma_blk_root_, listen);

static struct configfs_attribute *krdma_blk_root_attrs[] = {
	&krdma_blk_root_attr_listen,
	NULL,
};

static const struct config_item_type krdma_blk_root_type = {
	.ct_attrs = krdma_blk_root_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_group krdma_blk_exports;
static struct config_group krdma_blk_devices;

static const struct {
	struct workqueue_struct **workqueue;
	const char *name;
	unsigned int flags;
} krdma_blk_workqueues[] = {
	{ &krdma_blk_workqueue, "krdma_blk", WQ_UNBOUND | WQ_MEM_RECLAIM },
	{ &krdma_blk_export_workqueue, "krdma_blk_export", WQ_UNBOUND },
	{ &krdma_blk_command_workqueue, "krdma_blk_command", WQ_UNBOUND },
	{ &krdma_blk_lease_workqueue, "krdma_blk_lease",
	  WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM },
};

static void krdma_blk_workqueues_destroy(void)
{
	for (unsigned int i = ARRAY_SIZE(krdma_blk_workqueues); i--;) {
		if (*krdma_blk_workqueues[i].workqueue)
			destroy_workqueue(*krdma_blk_workqueues[i].workqueue);
	}
}

static int krdma_blk_workqueues_create(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(krdma_blk_workqueues); i++) {
		struct workqueue_struct *workqueue = alloc_workqueue("%s",
				krdma_blk_workqueues[i].flags, 0, krdma_blk_workqueues[i].name);

		if (!workqueue) {
			krdma_blk_workqueues_destroy();
			return -ENOMEM;
		}
		*krdma_blk_workqueues[i].workqueue = workqueue;
	}
	return 0;
}

static int __init krdma_blk_init(void)
{
	int ret;

	ret = krdma_blk_workqueues_create();
	if (ret)
		return ret;
	ret = krdma_blk_listen_init();
	if (ret)
		goto err_workqueues;

	mutex_init(&krdma_blk_root.su_mutex);
	config_group_init_type_name(&krdma_blk_root.su_group, "krdma_blk", &krdma_blk_root_type);
	config_group_init_type_name(&krdma_blk_exports, "exports", &krdma_blk_exports_type);
	configfs_add_default_group(&krdma_blk_exports, &krdma_blk_root.su_group);
	config_group_init_type_name(&krdma_blk_devices, "devices", &krdma_blk_devices_type);
	configfs_add_default_group(&krdma_blk_devices, &krdma_blk_root.su_group);
	ret = configfs_register_subsystem(&krdma_blk_root);
	if (ret)
		goto err_listen;
	return 0;

err_listen:
	krdma_blk_listen_exit();
err_workqueues:
	krdma_blk_workqueues_destroy();
	return ret;
}
module_init(krdma_blk_init);

static void __exit krdma_blk_exit(void)
{
	/* Each export and each device has kept a reference to the module until here. */
	configfs_unregister_subsystem(&krdma_blk_root);
	krdma_blk_disks_wait();
	krdma_blk_listen_exit();
	krdma_blk_workqueues_destroy();
}
module_exit(krdma_blk_exit);

MODULE_DESCRIPTION("Block devices in another host's memory, over RDMA");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
MODULE_IMPORT_NS("KRDMA");
