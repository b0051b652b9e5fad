// SPDX-License-Identifier: GPL-2.0
/*
 * Devices in configfs: devices/NAME/.
 *
 * Most settings can change only while a device is detached.  Attaching makes the connections and
 * adds the disk; detaching removes them, and first checks whether the disk is open.
 *
 * rmdir cannot be refused when configfs drops the item.  So an attached device depends on its item,
 * and configfs refuses by itself.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "blk.h"
#include "device.h"
#include "disk.h"
#include "path.h"
#include "root.h"
#include "state.h"

#define KRDMA_BLK_HOLD_SECONDS		60
#define KRDMA_BLK_HOLD_SECONDS_MAX	(24 * 60 * 60)

static struct krdma_blk_device *to_device(struct config_item *item)
{
	return container_of(item, struct krdma_blk_device, item);
}

/*
 * Attaching and detaching
 */

static int krdma_blk_device_connect(struct krdma_blk_device *device)
{
	int ret;

	if (!device->remotes.count) {
		krdma_blk_path_say(device, "remote is not set");
		return -EINVAL;
	}
	if (!*device->name) {
		krdma_blk_path_say(device, "export is not set");
		return -EINVAL;
	}
	if (device->queue_count + device->poll_count > KRDMA_BLK_QUEUES_MAX) {
		krdma_blk_path_say(device, "queues and poll_queues are more than 16 together");
		return -EINVAL;
	}
	ret = krdma_blk_path_open(device);
	if (ret)
		return ret;
	krdma_blk_path_start(device);
	ret = krdma_blk_disk_add(device);
	if (ret) {
		krdma_blk_path_close(device);
		krdma_blk_disk_drop(device);
		return ret;
	}
	return 0;
}

static int krdma_blk_device_attach(struct krdma_blk_device *device)
{
	int ret;

	lockdep_assert_held(&device->lock);

	/* The last error may not apply any more. */
	krdma_blk_path_say(device, "");
	/* Fails if rmdir has begun.  From here on it fails itself. */
	ret = configfs_depend_item_unlocked(&krdma_blk_root, &device->item);
	if (ret)
		return ret;
	ret = krdma_blk_device_connect(device);
	if (ret) {
		configfs_undepend_item(&device->item);
		return ret;
	}
	WRITE_ONCE(device->attached, true);
	device->force = false;
	return 0;
}

static void krdma_blk_device_detach(struct krdma_blk_device *device)
{
	lockdep_assert_held(&device->lock);

	krdma_blk_path_give_up(device);
	krdma_blk_disk_remove(device);
	krdma_blk_path_close(device);
	WRITE_ONCE(device->attached, false);
	configfs_undepend_item(&device->item);
}

static void krdma_blk_device_release(struct config_item *item)
{
	struct krdma_blk_device *device = to_device(item);

	mutex_destroy(&device->lock);
	kfree_sensitive(krdma_blk_uncount(KRDMA_OBJECT_BLK_DEV, device));
}

/*
 * Settings
 */

/*
 * Each setting is first parsed into a local copy; this macro changes it.  Writers wait until a
 * concurrent attach has ended; readers need not, because the settings also change under
 * state_lock.
 */
#define KRDMA_BLK_SET(device, statement) ({			\
	struct krdma_blk_device *__device = device;		\
	int __ret = -EINTR;					\
								\
	if (!mutex_lock_interruptible(&__device->lock)) {	\
		__ret = -EBUSY;					\
		if (!__device->attached) {			\
			spin_lock_irq(&__device->state_lock);	\
			statement;				\
			spin_unlock_irq(&__device->state_lock);	\
			__ret = 0;				\
		}						\
		mutex_unlock(&__device->lock);			\
	}							\
	__ret;							\
})

static ssize_t krdma_blk_device_remote_show(struct config_item *item, char *page)
{
	struct krdma_blk_device *device = to_device(item);
	ssize_t length;

	spin_lock_irq(&device->state_lock);
	length = krdma_blk_print_addresses(&device->remotes, page);
	spin_unlock_irq(&device->state_lock);
	return length;
}

static ssize_t krdma_blk_device_remote_store(struct config_item *item, const char *page,
					     size_t count)
{
	struct krdma_blk_device *device = to_device(item);
	struct krdma_blk_addresses *remotes;
	int ret;

	remotes = kzalloc_obj(*remotes, GFP_KERNEL);
	if (!remotes)
		return -ENOMEM;
	ret = krdma_blk_parse_addresses(page, count, remotes);
	if (!ret)
		ret = KRDMA_BLK_SET(device, device->remotes = *remotes);
	kfree(remotes);
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_device_, remote);

static ssize_t krdma_blk_device_export_show(struct config_item *item, char *page)
{
	struct krdma_blk_device *device = to_device(item);
	ssize_t length;

	spin_lock_irq(&device->state_lock);
	length = sysfs_emit(page, "%s\n", device->name);
	spin_unlock_irq(&device->state_lock);
	return length;
}

static ssize_t krdma_blk_device_export_store(struct config_item *item, const char *page,
					     size_t count)
{
	struct krdma_blk_device *device = to_device(item);
	size_t length = strcspn(page, "\n");
	char name[KRDMA_BLK_NAME_MAX + 1] = {};
	int ret;

	if (!length || length > KRDMA_BLK_NAME_MAX)
		return -EINVAL;
	memcpy(name, page, length);
	ret = KRDMA_BLK_SET(device, memcpy(device->name, name, sizeof(name)));
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_device_, export);

static ssize_t krdma_blk_device_secret_store(struct config_item *item, const char *page,
					     size_t count)
{
	struct krdma_blk_device *device = to_device(item);
	struct krdma_blk_secret secret;
	int ret;

	ret = krdma_blk_read_secret(page, count, &secret);
	if (!ret)
		ret = KRDMA_BLK_SET(device, device->secret = secret);
	memzero_explicit(&secret, sizeof(secret));
	return ret ?: count;
}
CONFIGFS_ATTR_WO(krdma_blk_device_, secret);

static ssize_t krdma_blk_device_read_only_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", to_device(item)->read_only);
}

static ssize_t krdma_blk_device_read_only_store(struct config_item *item, const char *page,
						size_t count)
{
	struct krdma_blk_device *device = to_device(item);
	bool value;
	int ret;

	if (kstrtobool(page, &value))
		return -EINVAL;
	ret = KRDMA_BLK_SET(device, device->read_only = value);
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_device_, read_only);

static ssize_t krdma_blk_device_set_number(struct config_item *item, const char *page,
					   size_t count, unsigned int *setting,
					   unsigned int lowest, unsigned int highest)
{
	unsigned int value;
	int ret;

	if (kstrtouint(page, 0, &value) || value < lowest || value > highest)
		return -EINVAL;
	ret = KRDMA_BLK_SET(to_device(item), *setting = value);
	return ret ?: count;
}

static ssize_t krdma_blk_device_queues_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", to_device(item)->queue_count);
}

static ssize_t krdma_blk_device_queues_store(struct config_item *item, const char *page,
					     size_t count)
{
	return krdma_blk_device_set_number(item, page, count, &to_device(item)->queue_count,
					   1, KRDMA_BLK_QUEUES_MAX);
}
CONFIGFS_ATTR(krdma_blk_device_, queues);

static ssize_t krdma_blk_device_poll_queues_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", to_device(item)->poll_count);
}

static ssize_t krdma_blk_device_poll_queues_store(struct config_item *item, const char *page,
						  size_t count)
{
	return krdma_blk_device_set_number(item, page, count, &to_device(item)->poll_count,
					   0, KRDMA_BLK_QUEUES_MAX - 1);
}
CONFIGFS_ATTR(krdma_blk_device_, poll_queues);

static ssize_t krdma_blk_device_hold_seconds_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_device(item)->hold_seconds));
}

/* The limit can be changed at any time, so that waiting requests wait longer, or no longer. */
static ssize_t krdma_blk_device_hold_seconds_store(struct config_item *item, const char *page,
						   size_t count)
{
	struct krdma_blk_device *device = to_device(item);
	unsigned int seconds;

	if (kstrtouint(page, 0, &seconds) || seconds > KRDMA_BLK_HOLD_SECONDS_MAX)
		return -EINVAL;
	krdma_blk_path_set_hold(device, seconds);
	return count;
}
CONFIGFS_ATTR(krdma_blk_device_, hold_seconds);

static ssize_t krdma_blk_device_force_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", to_device(item)->force);
}

/* This setting is for a device that is attached, so unlike the others it can be changed then. */
static ssize_t krdma_blk_device_force_store(struct config_item *item, const char *page,
					    size_t count)
{
	struct krdma_blk_device *device = to_device(item);
	bool value;

	if (kstrtobool(page, &value))
		return -EINVAL;
	if (mutex_lock_interruptible(&device->lock))
		return -EINTR;
	device->force = value;
	mutex_unlock(&device->lock);
	return count;
}
CONFIGFS_ATTR(krdma_blk_device_, force);

static ssize_t krdma_blk_device_enabled_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_device(item)->attached));
}

static ssize_t krdma_blk_device_enabled_store(struct config_item *item, const char *page,
					      size_t count)
{
	struct krdma_blk_device *device = to_device(item);
	int ret = 0;
	bool value;

	if (kstrtobool(page, &value))
		return -EINVAL;
	if (mutex_lock_interruptible(&device->lock))
		return -EINTR;
	if (value && !device->attached) {
		ret = krdma_blk_device_attach(device);
	} else if (!value && device->attached) {
		ret = krdma_blk_disk_shut(device, device->force);
		if (!ret)
			krdma_blk_device_detach(device);
	}
	mutex_unlock(&device->lock);
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_device_, enabled);

/*
 * Status
 */

static ssize_t krdma_blk_device_state_show(struct config_item *item, char *page)
{
	enum krdma_blk_state state = krdma_blk_path_state(to_device(item));

	return sysfs_emit(page, "%s\n", krdma_blk_state_name(state));
}
CONFIGFS_ATTR_RO(krdma_blk_device_, state);

static ssize_t krdma_blk_device_error_show(struct config_item *item, char *page)
{
	struct krdma_blk_device *device = to_device(item);
	ssize_t length;

	spin_lock_irq(&device->state_lock);
	length = sysfs_emit(page, "%s\n", device->error);
	spin_unlock_irq(&device->state_lock);
	return length;
}
CONFIGFS_ATTR_RO(krdma_blk_device_, error);

static ssize_t krdma_blk_device_disk_show(struct config_item *item, char *page)
{
	struct krdma_blk_device *device = to_device(item);
	ssize_t length = 0;

	spin_lock_irq(&device->state_lock);
	if (device->disk)
		length = sysfs_emit(page, "%s\n", device->disk->disk_name);
	spin_unlock_irq(&device->state_lock);
	return length;
}
CONFIGFS_ATTR_RO(krdma_blk_device_, disk);

static struct configfs_attribute *krdma_blk_device_attrs[] = {
	&krdma_blk_device_attr_remote,
	&krdma_blk_device_attr_export,
	&krdma_blk_device_attr_secret,
	&krdma_blk_device_attr_read_only,
	&krdma_blk_device_attr_queues,
	&krdma_blk_device_attr_poll_queues,
	&krdma_blk_device_attr_hold_seconds,
	&krdma_blk_device_attr_force,
	&krdma_blk_device_attr_enabled,
	&krdma_blk_device_attr_state,
	&krdma_blk_device_attr_error,
	&krdma_blk_device_attr_disk,
	NULL,
};

/*
 * Creation and destruction
 */

static struct configfs_item_operations krdma_blk_device_item_ops = {
	.release = krdma_blk_device_release,
};

static const struct config_item_type krdma_blk_device_type = {
	.ct_item_ops = &krdma_blk_device_item_ops,
	.ct_attrs = krdma_blk_device_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *krdma_blk_device_make(struct config_group *group, const char *name)
{
	struct krdma_blk_device *device;

	device = krdma_blk_count(KRDMA_OBJECT_BLK_DEV, kzalloc_obj(*device, GFP_KERNEL));
	if (!device)
		return ERR_PTR(-ENOMEM);

	mutex_init(&device->lock);
	device->queue_count = min_t(u32, num_online_cpus(), KRDMA_BLK_QUEUES_MAX);
	device->hold_seconds = KRDMA_BLK_HOLD_SECONDS;
	/* By default, the name of the export is that of the device, if an export can have it. */
	if (strlen(name) <= KRDMA_BLK_NAME_MAX)
		memcpy(device->name, name, strlen(name));
	krdma_blk_path_init(device);
	config_item_init_type_name(&device->item, name, &krdma_blk_device_type);
	return &device->item;
}

static struct configfs_group_operations krdma_blk_devices_group_ops = {
	.make_item = krdma_blk_device_make,
};

const struct config_item_type krdma_blk_devices_type = {
	.ct_group_ops = &krdma_blk_devices_group_ops,
	.ct_owner = THIS_MODULE,
};
