// SPDX-License-Identifier: GPL-2.0
/*
 * The disk of a device: /dev/krdmabN.
 */
#include <linux/err.h>
#include <linux/idr.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/wait_bit.h>

#include "blk.h"
#include "device.h"
#include "disk.h"
#include "request.h"
#include "root.h"
#include "state.h"

/* Longer requests delay others, and are no faster. */
#define KRDMA_BLK_REQUEST_MAX	SZ_1M

#define KRDMA_BLK_TIMEOUT	(30 * HZ)

static DEFINE_IDA(krdma_blk_disks);

/* @disk changes under state_lock, because code that shows its name takes only that. */
static void krdma_blk_disk_set(struct krdma_blk_device *device, struct gendisk *gendisk)
{
	spin_lock_irq(&device->state_lock);
	device->disk = gendisk;
	spin_unlock_irq(&device->state_lock);
}

/* Sets the size of the memory, which may grow meanwhile: see krdma_blk_disk_resize(). */
static void krdma_blk_disk_set_size(struct krdma_blk_device *device, struct gendisk *gendisk)
{
	u64 size, set;

	do {
		spin_lock_irq(&device->state_lock);
		set = device->geometry.size;
		spin_unlock_irq(&device->state_lock);
		set_capacity(gendisk, set >> SECTOR_SHIFT);
		spin_lock_irq(&device->state_lock);
		size = device->geometry.size;
		spin_unlock_irq(&device->state_lock);
	} while (size != set);
}

/* Returns the disk with a reference, or NULL; another context may be removing it. */
static struct gendisk *krdma_blk_disk_get(struct krdma_blk_device *device)
{
	struct gendisk *gendisk;

	lockdep_assert_held(&device->state_lock);

	gendisk = device->disk;
	if (gendisk)
		get_device(disk_to_dev(gendisk));
	return gendisk;
}

/* Number of disks that still have references. */
static atomic_t krdma_blk_disk_count = ATOMIC_INIT(0);

/**
 * struct krdma_blk_disk - a disk, which may still exist when its device has another one
 * @device: the device, with a reference to its item
 * @index: the number in its name
 * @lock: protects the members below
 * @opens: number of openers
 * @closing: it cannot be opened any more
 */
struct krdma_blk_disk {
	struct krdma_blk_device *device;
	int index;
	spinlock_t lock;		/* see above */
	unsigned int opens;
	bool closing;
};

/*
 * Operations
 */

static int krdma_blk_open(struct gendisk *gendisk, blk_mode_t mode)
{
	struct krdma_blk_disk *disk = gendisk->private_data;
	int ret = 0;

	spin_lock(&disk->lock);
	if (disk->closing)
		ret = -ENXIO;
	else
		disk->opens++;
	spin_unlock(&disk->lock);
	return ret;
}

KRDMA_BLK_OPEN(krdma_blk_open)

static void krdma_blk_release(struct gendisk *gendisk)
{
	struct krdma_blk_disk *disk = gendisk->private_data;

	spin_lock(&disk->lock);
	disk->opens--;
	spin_unlock(&disk->lock);
}

KRDMA_BLK_RELEASE(krdma_blk_release)

static void krdma_blk_disk_free(struct krdma_blk_disk *disk)
{
	ida_free(&krdma_blk_disks, disk->index);
	kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_DISK, disk));
}

static void krdma_blk_free_disk(struct gendisk *gendisk)
{
	struct krdma_blk_disk *disk = gendisk->private_data;

	config_item_put(&disk->device->item);
	krdma_blk_disk_free(disk);
	if (atomic_dec_and_test(&krdma_blk_disk_count))
		wake_up_var(&krdma_blk_disk_count);
}

static const struct block_device_operations krdma_blk_disk_ops = {
	.owner = THIS_MODULE,
	.open = KRDMA_BLK_OPEN_OP(krdma_blk_open),
	.release = KRDMA_BLK_RELEASE_OP(krdma_blk_release),
	.free_disk = krdma_blk_free_disk,
};

/*
 * Attributes in sysfs, in the disk's directory "krdma".  The device is valid as long as they
 * exist.
 */

static struct krdma_blk_device *krdma_blk_of(struct device *dev)
{
	struct krdma_blk_disk *disk = dev_to_disk(dev)->private_data;

	return disk->device;
}

static ssize_t name_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", config_item_name(&krdma_blk_of(dev)->item));
}
static DEVICE_ATTR_RO(name);

static ssize_t export_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", krdma_blk_of(dev)->name);
}
static DEVICE_ATTR_RO(export);

/* Identifies the memory: the same wherever and by whichever name it is attached. */
static ssize_t id_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct krdma_blk_device *device = krdma_blk_of(dev);

	return sysfs_emit(page, "%s-%016llx\n", device->name, device->geometry.generation);
}
static DEVICE_ATTR_RO(id);

static ssize_t remote_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct krdma_blk_device *device = krdma_blk_of(dev);

	return sysfs_emit(page, "%pISpc\n", &device->remotes.of[READ_ONCE(device->remote)]);
}
static DEVICE_ATTR_RO(remote);

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *page)
{
	enum krdma_blk_state state = krdma_blk_path_state(krdma_blk_of(dev));

	return sysfs_emit(page, "%s\n", krdma_blk_state_name(state));
}
static DEVICE_ATTR_RO(state);

static ssize_t reconnects_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%lld\n", atomic64_read(&krdma_blk_of(dev)->reconnects));
}
static DEVICE_ATTR_RO(reconnects);

static struct attribute *krdma_blk_disk_attrs[] = {
	&dev_attr_name.attr,
	&dev_attr_export.attr,
	&dev_attr_id.attr,
	&dev_attr_remote.attr,
	&dev_attr_state.attr,
	&dev_attr_reconnects.attr,
	NULL,
};

static const struct attribute_group krdma_blk_disk_group = {
	.name = "krdma",
	.attrs = krdma_blk_disk_attrs,
};

static const struct attribute_group *krdma_blk_disk_groups[] = {
	&krdma_blk_disk_group,
	NULL,
};

/*
 * Creation and removal
 */

static struct krdma_blk_disk *krdma_blk_disk_alloc(struct krdma_blk_device *device)
{
	struct krdma_blk_disk *disk;

	disk = krdma_blk_count(KRDMA_OBJECT_BLK_DISK, kzalloc_obj(*disk, GFP_KERNEL));
	if (!disk)
		return ERR_PTR(-ENOMEM);
	disk->device = device;
	spin_lock_init(&disk->lock);
	disk->index = ida_alloc(&krdma_blk_disks, GFP_KERNEL);
	if (disk->index < 0) {
		int ret = disk->index;

		kfree(krdma_blk_uncount(KRDMA_OBJECT_BLK_DISK, disk));
		return ERR_PTR(ret);
	}
	return disk;
}

/*
 * The size that is written as a whole if the client dies meanwhile: the payload of a packet.  Of a
 * store, a block is all that is known.
 */
static unsigned int krdma_blk_whole(const struct krdma_blk_device *device)
{
	if (krdma_blk_is_stored(device))
		return device->geometry.block_size;
	return clamp(device->path_mtu, device->geometry.block_size, (u32)SZ_4K);
}

static struct gendisk *krdma_blk_gendisk_alloc(struct krdma_blk_device *device,
					       struct krdma_blk_disk *disk)
{
	const struct krdma_blk_geometry *geometry = &device->geometry;
	u32 longest = min_t(u32, geometry->chunk_size, KRDMA_BLK_REQUEST_MAX);
	struct queue_limits limits = {
		.logical_block_size = geometry->block_size,
		.physical_block_size = krdma_blk_whole(device),
		.io_min = geometry->block_size,
		/* One work request uses one rkey. */
		.chunk_sectors = geometry->chunk_size >> SECTOR_SHIFT,
		.max_segments = KRDMA_BLK_SEGMENTS,
		/* Where addresses are bounced, a longer one cannot be mapped. */
		.max_segment_size = SZ_64K,
	};
	struct gendisk *gendisk;
	int ret;

	if (krdma_blk_is_stored(device)) {
		/* Each slot begins in a chunk of its own, or has its place in one. */
		longest = min(longest, geometry->slot_size);
		limits.chunk_sectors = 0;
	}
	limits.io_opt = longest;
	limits.max_hw_sectors = longest >> SECTOR_SHIFT;
	if (geometry->offers & KRDMA_BLK_OFFERS_ZERO)
		limits.max_write_zeroes_sectors = KRDMA_BLK_ZERO_MAX >> SECTOR_SHIFT;
	if (geometry->offers & KRDMA_BLK_OFFERS_DISCARD) {
		limits.max_hw_discard_sectors = KRDMA_BLK_ZERO_MAX >> SECTOR_SHIFT;
		/* Newer kernels raise it to this. */
		limits.discard_granularity = limits.physical_block_size;
	}
	gendisk = blk_mq_alloc_disk(&device->set, &limits, NULL);
	if (IS_ERR(gendisk))
		return gendisk;
	gendisk->fops = &krdma_blk_disk_ops;
	gendisk->private_data = disk;
	snprintf(gendisk->disk_name, DISK_NAME_LEN, "krdmab%d", disk->index);
	set_disk_ro(gendisk, geometry->read_only);
	if (krdma_blk_is_stored(device) && !geometry->read_only) {
		ret = krdma_blk_set_write_cache(gendisk);
		if (ret) {
			put_disk(gendisk);
			return ERR_PTR(ret);
		}
	}
	return gendisk;
}

/**
 * krdma_blk_disk_add() - Add the disk of a device
 * @device: the device, with open queues; the caller holds its lock
 *
 * Context: process context; may sleep.
 * Return: 0, or a negative errno, and krdma_blk_disk_drop() is to be called.
 */
int krdma_blk_disk_add(struct krdma_blk_device *device)
{
	struct krdma_blk_disk *disk;
	struct gendisk *gendisk;
	int ret;

	disk = krdma_blk_disk_alloc(device);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	device->set = (struct blk_mq_tag_set) {
		.ops = &krdma_blk_mq_ops,
		.nr_hw_queues = device->conn_count,
		.nr_maps = device->poll_count ? HCTX_MAX_TYPES : 1,
		.queue_depth = KRDMA_BLK_DEPTH,
		.numa_node = NUMA_NO_NODE,
		.cmd_size = sizeof(struct krdma_blk_request),
		.timeout = KRDMA_BLK_TIMEOUT,
		/*
		 * With this, the block layer does not wait for the requests of a queue when its
		 * last processor is switched off.  That wait is for devices whose interrupts end
		 * with their processor.  Here it would last as long as the server does not answer,
		 * and keep the whole machine from being suspended.  The vectors of RDMA devices
		 * move to another processor, and all else that ends requests runs on any.
		 */
		.flags = KRDMA_BLK_MQ_FLAGS | BLK_MQ_F_STACKING,
		.driver_data = device,
	};
	ret = blk_mq_alloc_tag_set(&device->set);
	if (ret)
		goto err_disk;
	gendisk = krdma_blk_gendisk_alloc(device, disk);
	if (IS_ERR(gendisk)) {
		ret = PTR_ERR(gendisk);
		goto err_set;
	}

	/* After it is added, the release of the gendisk frees the disk. */
	config_item_get(&device->item);
	atomic_inc(&krdma_blk_disk_count);
	krdma_blk_disk_set(device, gendisk);
	/* From here on the context that reconnects finds the disk. */
	krdma_blk_disk_set_size(device, gendisk);
	return device_add_disk(NULL, gendisk, krdma_blk_disk_groups);

err_set:
	blk_mq_free_tag_set(&device->set);
err_disk:
	krdma_blk_disk_free(disk);
	return ret;
}

/**
 * krdma_blk_disk_drop() - Free a disk that could not be added
 * @device: the device, whose connections are closed, so that no context finds the disk any more
 *
 * Context: process context; may sleep.
 */
void krdma_blk_disk_drop(struct krdma_blk_device *device)
{
	struct gendisk *gendisk = device->disk;

	if (!gendisk)
		return;
	krdma_blk_disk_set(device, NULL);
	/* The release of a gendisk that was never added does not call free_disk(). */
	krdma_blk_free_disk(gendisk);
	/* The last reference: releasing it uses the tag set. */
	put_disk(gendisk);
	blk_mq_free_tag_set(&device->set);
}

/* A disk that is still being added, or is about to be removed, sends no event. */
static void krdma_blk_disk_grown(struct work_struct *work)
{
	struct krdma_blk_device *device = container_of(work, struct krdma_blk_device, grown);
	/* The last one is NULL. */
	char *environment[2] = { "RESIZE=1" };
	struct gendisk *gendisk;

	spin_lock_irq(&device->state_lock);
	gendisk = device->stop ? NULL : krdma_blk_disk_get(device);
	spin_unlock_irq(&device->state_lock);
	if (!gendisk)
		return;
	if (disk_live(gendisk)) {
		pr_info("%s: %s has %llu bytes now\n", config_item_name(&device->item),
			gendisk->disk_name, get_capacity(gendisk) << SECTOR_SHIFT);
		kobject_uevent_env(&disk_to_dev(gendisk)->kobj, KOBJ_CHANGE, environment);
	}
	put_device(disk_to_dev(gendisk));
}

/**
 * krdma_blk_disk_init() - Initialize a device for krdma_blk_disk_add()
 * @device: the device, new
 *
 * Context: any.
 */
void krdma_blk_disk_init(struct krdma_blk_device *device)
{
	INIT_WORK(&device->grown, krdma_blk_disk_grown);
}

/**
 * krdma_blk_disk_resize() - Set a new size when the memory has grown
 * @device: the device
 * @size: the new size in bytes
 *
 * The event for users is sent later, by another context than this one, which makes the
 * connections: others hold the locks for that while they allocate, and then memory may have to be
 * written to this disk.
 *
 * Context: process context; does not sleep.
 */
void krdma_blk_disk_resize(struct krdma_blk_device *device, u64 size)
{
	struct gendisk *gendisk;

	spin_lock_irq(&device->state_lock);
	device->geometry.size = size;
	gendisk = krdma_blk_disk_get(device);
	spin_unlock_irq(&device->state_lock);
	if (!gendisk)
		return;
	set_capacity(gendisk, size >> SECTOR_SHIFT);
	/* Not of the devices' workqueue, whose rescuer must not wait for memory. */
	queue_work(krdma_blk_export_workqueue, &device->grown);
	put_device(disk_to_dev(gendisk));
}

/**
 * krdma_blk_disk_shut() - Refuse further opens of a disk
 * @device: the device, attached; the caller holds its lock
 * @force: also if the disk is open
 *
 * Context: process context.
 * Return: 0; -EBUSY: the disk is open, and nothing has changed.
 */
int krdma_blk_disk_shut(struct krdma_blk_device *device, bool force)
{
	struct krdma_blk_disk *disk = device->disk->private_data;
	int ret = 0;

	spin_lock(&disk->lock);
	if (disk->opens && !force)
		ret = -EBUSY;
	else
		disk->closing = true;
	spin_unlock(&disk->lock);
	return ret;
}

/**
 * krdma_blk_disk_remove() - Remove the disk of a device
 * @device: the device; its disk was shut; the caller holds its lock
 *
 * Dirty data that was not submitted yet is written, if possible.  Processes that have the disk
 * open keep it open, but every operation on it fails.
 *
 * Context: process context; sleeps until all requests have ended.
 */
void krdma_blk_disk_remove(struct krdma_blk_device *device)
{
	struct gendisk *gendisk = device->disk;

	/*
	 * One that begins later sees @stop.  What it waits for may wait for the disk, but requests
	 * are not held any more.
	 */
	cancel_work_sync(&device->grown);
	del_gendisk(gendisk);
	blk_mq_free_tag_set(&device->set);
	krdma_blk_disk_set(device, NULL);
	put_disk(gendisk);
}

/**
 * krdma_blk_disks_wait() - Wait until all disks are freed
 *
 * Context: process context; sleeps.
 */
void krdma_blk_disks_wait(void)
{
	wait_var_event(&krdma_blk_disk_count, !atomic_read(&krdma_blk_disk_count));
}
