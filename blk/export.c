// SPDX-License-Identifier: GPL-2.0
/*
 * Exports in configfs: exports/NAME/.
 *
 * Settings can change while an export is disabled; its size can grow at any time.  Enabling
 * allocates the memory or opens the store, and disabling frees or closes it when no client is
 * connected any more.  An enabled export cannot be removed, and one with clients can only be
 * disabled by force, because the clients would lose their data.  So can one without clients whose
 * data cannot be saved.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "blk.h"
#include "client.h"
#include "export.h"
#include "grow.h"
#include "keep.h"
#include "root.h"
#include "serve.h"

/* Commands that are executed at a time for a store: those that read, and the others. */
#define KRDMA_BLK_JOBS_MAX	128
/* As many connections as it can have wait for the ends of their commands. */
#define KRDMA_BLK_DRAINS_MAX	256

static struct krdma_blk_export *to_export(struct config_item *item)
{
	return container_of(item, struct krdma_blk_export, item);
}

/*
 * Enabling and disabling
 */

static void krdma_blk_export_free(struct krdma_blk_export *export)
{
	krdma_blk_export_unclaim(export);
	if (export->drains)
		destroy_workqueue(export->drains);
	if (export->reads)
		destroy_workqueue(export->reads);
	if (export->jobs)
		destroy_workqueue(export->jobs);
	export->drains = NULL;
	export->reads = NULL;
	export->jobs = NULL;
	krdma_blk_store_close(&export->store);
	if (export->whole)
		export->size = 0;
	export->whole = false;
	krdma_blk_memory_free(&export->memory);
	for (unsigned int role = 0; role < KRDMA_BLK_ROLES; role++) {
		if (!IS_ERR_OR_NULL(export->sessions[role]))
			krdma_session_put(export->sessions[role]);
		export->sessions[role] = NULL;
	}
}

/* The largest size that the export can have. */
static u64 krdma_blk_export_max_size(const struct krdma_blk_export *export)
{
	return round_down(krdma_blk_store_size(&export->store), export->block_size);
}

static int krdma_blk_export_open_store(struct krdma_blk_export *export)
{
	u64 room;
	int ret;

	ret = krdma_blk_store_open(&export->store, export->path, export->block_size,
				   export->read_only);
	if (ret)
		return ret;
	room = krdma_blk_export_max_size(export);
	if (!room || export->size > room)
		return -EFBIG;
	export->whole = !export->size;
	if (export->whole)
		export->size = room;
	/* No longer name fits, on some kernels. */
	export->jobs = alloc_workqueue("krdma_blk_%.12s", WQ_UNBOUND, KRDMA_BLK_JOBS_MAX,
				       config_item_name(&export->item));
	export->reads = alloc_workqueue("krdma_blr_%.12s", WQ_UNBOUND, KRDMA_BLK_JOBS_MAX,
					config_item_name(&export->item));
	export->drains = alloc_workqueue("krdma_end_%.12s", WQ_UNBOUND, KRDMA_BLK_DRAINS_MAX,
					 config_item_name(&export->item));
	return export->jobs && export->reads && export->drains ? 0 : -ENOMEM;
}

static int krdma_blk_export_alloc(struct krdma_blk_export *export)
{
	for (unsigned int role = 0; role < KRDMA_BLK_ROLES; role++) {
		export->sessions[role] = krdma_session_create(&init_net);
		if (IS_ERR(export->sessions[role]))
			return PTR_ERR(export->sessions[role]);
	}
	if (*export->path)
		return krdma_blk_export_open_store(export);
	return krdma_blk_memory_check(export->size) ?:
	       krdma_blk_memory_alloc(&export->memory, export->size);
}

static int krdma_blk_export_load(struct krdma_blk_export *export)
{
	if (!*export->file)
		return 0;
	return krdma_blk_memory_load(export);
}

static int krdma_blk_export_save(struct krdma_blk_export *export)
{
	const char *where = *export->path ? export->path : export->file;
	int ret = 0;

	if (export->store.file && !export->read_only)
		ret = krdma_blk_store_flush(&export->store);
	else if (*export->file)
		ret = krdma_blk_memory_save(export);
	if (ret)
		pr_err("krdma_blk: cannot keep the data of export '%s' in %s: error %d\n",
		       config_item_name(&export->item), where, ret);
	return ret;
}

static int krdma_blk_export_check(const struct krdma_blk_export *export)
{
	if ((!export->size && !*export->path) || export->size % export->block_size)
		return -EINVAL;
	/* The store keeps the data by itself. */
	if (*export->path && *export->file)
		return -EINVAL;
	if (export->exclusive && export->shared)
		return -EINVAL;
	/* Open to all peers only if that was set explicitly. */
	if (!export->secret.length && !export->allow.count && !export->allow.any)
		return -EDESTADDRREQ;
	return 0;
}

static int krdma_blk_export_enable(struct krdma_blk_export *export)
{
	int ret;

	lockdep_assert_held(&export->lock);
	ret = krdma_blk_export_check(export);
	if (ret)
		return ret;
	ret = krdma_blk_export_alloc(export);
	if (!ret && export->store.file)
		ret = krdma_blk_export_claim(export, &export->store.file->f_path);
	if (ret)
		goto err_free;
	/* rmdir must not remove an export that holds data. */
	ret = configfs_depend_item_unlocked(&krdma_blk_root, &export->item);
	if (ret)
		goto err_free;
	ret = krdma_blk_serve_open(export);
	if (ret)
		goto err_undepend;
	/* The last step that can fail: from here on only the memory has the data. */
	ret = krdma_blk_export_load(export);
	if (ret)
		goto err_close;
	export->generation = get_random_u64();
	export->force = false;
	krdma_blk_serve_begin(export);
	export->enabled = true;
	return 0;

err_close:
	krdma_blk_serve_close(export);
err_undepend:
	configfs_undepend_item(&export->item);
err_free:
	krdma_blk_export_free(export);
	return ret;
}

/*
 * Ends the clients by force, but does not discard what they have written in the same step: the
 * administrator who allows that they end has the promise that it is saved.  Returns an error also
 * if it was discarded: then the export is disabled nevertheless.
 */
static int krdma_blk_export_disable(struct krdma_blk_export *export)
{
	bool force = export->force;
	bool clients;
	int ret;

	lockdep_assert_held(&export->lock);

	export->force = false;
	ret = krdma_blk_serve_end(export, false);
	clients = ret == -EBUSY;
	if (clients && force)
		ret = krdma_blk_serve_end(export, true);
	if (ret)
		return ret;
	ret = krdma_blk_export_save(export);
	if (ret && (clients || !force)) {
		krdma_blk_serve_begin(export);
		return ret;
	}
	krdma_blk_serve_close(export);
	krdma_blk_export_free(export);
	export->enabled = false;
	configfs_undepend_item(&export->item);
	return ret;
}

/* The clients learn the size when they connect again. */
static int krdma_blk_export_grow_stored(struct krdma_blk_export *export, u64 size)
{
	if (size > krdma_blk_export_max_size(export))
		return -EFBIG;
	krdma_blk_serve_pause(export);
	WRITE_ONCE(export->size, size);
	krdma_blk_serve_resume(export);
	return 0;
}

/*
 * After an error nothing has changed.  A client has noticed something only if the error was that of
 * a device over which the first one was connecting meanwhile.
 */
static int krdma_blk_export_grow(struct krdma_blk_export *export, u64 size)
{
	struct krdma_blk_memory more;
	int ret;

	lockdep_assert_held(&export->lock);

	if (size < export->size || size % export->block_size)
		return -EINVAL;
	if (size == export->size)
		return 0;
	if (export->store.file)
		return krdma_blk_export_grow_stored(export, size);
	ret = krdma_blk_memory_check(size) ?:
	      krdma_blk_memory_alloc_more(&export->memory, size, &more);
	if (ret)
		return ret;
	ret = krdma_blk_serve_grow(export, &more);
	if (ret)
		goto err_more;
	krdma_blk_serve_pause(export);
	ret = krdma_blk_serve_grow(export, &more);
	if (ret)
		goto err_resume;
	krdma_blk_memory_add(&export->memory, export->size, &more);
	export->size = size;
	krdma_blk_serve_grow_end(export, true);
	krdma_blk_serve_resume(export);
	return 0;

err_resume:
	krdma_blk_serve_resume(export);
err_more:
	krdma_blk_serve_grow_end(export, false);
	krdma_blk_memory_drop_more(&export->memory, &more);
	return ret;
}

static void krdma_blk_export_release(struct config_item *item)
{
	struct krdma_blk_export *export = to_export(item);

	mutex_destroy(&export->clients_lock);
	mutex_destroy(&export->windows_lock);
	mutex_destroy(&export->lock);
	kfree_sensitive(krdma_blk_uncount(KRDMA_OBJECT_BLK_EXPORT, export));
}

/*
 * Settings
 */

static ssize_t krdma_blk_export_size_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%llu\n", to_export(item)->size);
}

/*
 * Each setting is first parsed into a local copy; this macro changes it.  The lock may be held for
 * as long as a store takes.
 */
#define KRDMA_BLK_SET(export, statement) ({			\
	struct krdma_blk_export *__export = export;		\
	int __ret = -EINTR;					\
								\
	if (!mutex_lock_interruptible(&__export->lock)) {	\
		__ret = -EBUSY;					\
		if (!__export->enabled) {			\
			spin_lock(&__export->settings_lock);	\
			statement;				\
			spin_unlock(&__export->settings_lock);	\
			__ret = 0;				\
		}						\
		mutex_unlock(&__export->lock);			\
	}							\
	__ret;							\
})

/* The size of an enabled export can grow. */
static ssize_t krdma_blk_export_size_store(struct config_item *item, const char *page, size_t count)
{
	struct krdma_blk_export *export = to_export(item);
	int ret = 0;
	char *end;
	u64 size = memparse(page, &end);

	if (end == page || (*end && *end != '\n') || size > S64_MAX || size % SZ_512)
		return -EINVAL;
	if (mutex_lock_interruptible(&export->lock))
		return -EINTR;
	if (export->enabled)
		ret = krdma_blk_export_grow(export, size);
	else
		export->size = size;
	mutex_unlock(&export->lock);
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_export_, size);

static ssize_t krdma_blk_export_block_size_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", to_export(item)->block_size);
}

static ssize_t krdma_blk_export_block_size_store(struct config_item *item, const char *page,
						 size_t count)
{
	u32 block_size;
	int ret;

	if (kstrtou32(page, 0, &block_size) || (block_size != SZ_512 && block_size != SZ_4K))
		return -EINVAL;
	ret = KRDMA_BLK_SET(to_export(item), to_export(item)->block_size = block_size);
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_export_, block_size);

static ssize_t krdma_blk_export_set_bool(struct config_item *item, const char *page, size_t count,
					 bool *setting)
{
	bool value;
	int ret;

	if (kstrtobool(page, &value))
		return -EINVAL;
	ret = KRDMA_BLK_SET(to_export(item), *setting = value);
	return ret ?: count;
}

static ssize_t krdma_blk_export_read_only_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", to_export(item)->read_only);
}

static ssize_t krdma_blk_export_read_only_store(struct config_item *item, const char *page,
						size_t count)
{
	return krdma_blk_export_set_bool(item, page, count, &to_export(item)->read_only);
}
CONFIGFS_ATTR(krdma_blk_export_, read_only);

static ssize_t krdma_blk_export_exclusive_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", to_export(item)->exclusive);
}

static ssize_t krdma_blk_export_exclusive_store(struct config_item *item, const char *page,
						size_t count)
{
	return krdma_blk_export_set_bool(item, page, count, &to_export(item)->exclusive);
}
CONFIGFS_ATTR(krdma_blk_export_, exclusive);

static ssize_t krdma_blk_export_shared_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", to_export(item)->shared);
}

static ssize_t krdma_blk_export_shared_store(struct config_item *item, const char *page,
					     size_t count)
{
	return krdma_blk_export_set_bool(item, page, count, &to_export(item)->shared);
}
CONFIGFS_ATTR(krdma_blk_export_, shared);

static ssize_t krdma_blk_export_force_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", to_export(item)->force);
}

/* This setting is for an export that is enabled, so unlike the others it can be changed then. */
static ssize_t krdma_blk_export_force_store(struct config_item *item, const char *page,
					    size_t count)
{
	struct krdma_blk_export *export = to_export(item);
	bool value;

	if (kstrtobool(page, &value))
		return -EINVAL;
	if (mutex_lock_interruptible(&export->lock))
		return -EINTR;
	export->force = value;
	mutex_unlock(&export->lock);
	return count;
}
CONFIGFS_ATTR(krdma_blk_export_, force);

static ssize_t krdma_blk_export_secret_store(struct config_item *item, const char *page,
					     size_t count)
{
	struct krdma_blk_export *export = to_export(item);
	struct krdma_blk_secret secret;
	int ret;

	ret = krdma_blk_read_secret(page, count, &secret);
	if (!ret)
		ret = KRDMA_BLK_SET(export, export->secret = secret);
	memzero_explicit(&secret, sizeof(secret));
	return ret ?: count;
}
CONFIGFS_ATTR_WO(krdma_blk_export_, secret);

static ssize_t krdma_blk_export_show_path(struct config_item *item, char *page, const char *path)
{
	struct krdma_blk_export *export = to_export(item);
	ssize_t length;

	spin_lock(&export->settings_lock);
	length = sysfs_emit(page, "%s\n", path);
	spin_unlock(&export->settings_lock);
	return length;
}

static ssize_t krdma_blk_export_set_path(struct config_item *item, const char *page, size_t count,
					 char *path)
{
	size_t length = strcspn(page, "\n");
	char value[KRDMA_BLK_PATH_MAX] = {};
	int ret;

	/* Absolute paths only: the current directory of the process may be any. */
	if (length >= sizeof(value) || (length && *page != '/'))
		return -EINVAL;
	memcpy(value, page, length);
	ret = KRDMA_BLK_SET(to_export(item), memcpy(path, value, sizeof(value)));
	return ret ?: count;
}

static ssize_t krdma_blk_export_file_show(struct config_item *item, char *page)
{
	return krdma_blk_export_show_path(item, page, to_export(item)->file);
}

static ssize_t krdma_blk_export_file_store(struct config_item *item, const char *page,
					   size_t count)
{
	return krdma_blk_export_set_path(item, page, count, to_export(item)->file);
}
CONFIGFS_ATTR(krdma_blk_export_, file);

static ssize_t krdma_blk_export_store_show(struct config_item *item, char *page)
{
	return krdma_blk_export_show_path(item, page, to_export(item)->path);
}

static ssize_t krdma_blk_export_store_store(struct config_item *item, const char *page,
					    size_t count)
{
	return krdma_blk_export_set_path(item, page, count, to_export(item)->path);
}
CONFIGFS_ATTR(krdma_blk_export_, store);

static ssize_t krdma_blk_export_allow_show(struct config_item *item, char *page)
{
	struct krdma_blk_export *export = to_export(item);
	ssize_t length;

	spin_lock(&export->settings_lock);
	length = krdma_blk_print_nets(&export->allow, page);
	spin_unlock(&export->settings_lock);
	return length;
}

static ssize_t krdma_blk_export_allow_store(struct config_item *item, const char *page,
					    size_t count)
{
	struct krdma_blk_export *export = to_export(item);
	struct krdma_blk_nets *nets;
	int ret;

	nets = kzalloc_obj(*nets, GFP_KERNEL);
	if (!nets)
		return -ENOMEM;
	ret = krdma_blk_parse_nets(page, count, nets);
	if (!ret)
		ret = KRDMA_BLK_SET(export, export->allow = *nets);
	kfree(nets);
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_export_, allow);

static ssize_t krdma_blk_export_enabled_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", to_export(item)->enabled);
}

static ssize_t krdma_blk_export_enabled_store(struct config_item *item, const char *page,
					      size_t count)
{
	struct krdma_blk_export *export = to_export(item);
	int ret = 0;
	bool value;

	if (kstrtobool(page, &value))
		return -EINVAL;
	if (mutex_lock_interruptible(&export->lock))
		return -EINTR;
	if (value && !export->enabled)
		ret = krdma_blk_export_enable(export);
	else if (!value && export->enabled)
		ret = krdma_blk_export_disable(export);
	mutex_unlock(&export->lock);
	return ret ?: count;
}
CONFIGFS_ATTR(krdma_blk_export_, enabled);

/*
 * Clients
 */

static ssize_t krdma_blk_export_clients_show(struct config_item *item, char *page)
{
	return krdma_blk_clients_show(to_export(item), page);
}
CONFIGFS_ATTR_RO(krdma_blk_export_, clients);

/* Without the export's lock, because disabling holds it and waits for the same. */
static ssize_t krdma_blk_export_evict_store(struct config_item *item, const char *page,
					    size_t count)
{
	int ret;
	u64 id;

	if (kstrtou64(page, 16, &id))
		return -EINVAL;
	ret = krdma_blk_clients_evict(to_export(item), id);
	return ret ?: count;
}
CONFIGFS_ATTR_WO(krdma_blk_export_, evict);

/*
 * Counters
 */

static ssize_t krdma_blk_export_connections_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_export(item)->conn_count));
}
CONFIGFS_ATTR_RO(krdma_blk_export_, connections);

static ssize_t krdma_blk_export_print(const atomic64_t *counter, char *page)
{
	return sysfs_emit(page, "%lld\n", atomic64_read(counter));
}

static ssize_t krdma_blk_export_accepted_show(struct config_item *item, char *page)
{
	return krdma_blk_export_print(&to_export(item)->accepted, page);
}
CONFIGFS_ATTR_RO(krdma_blk_export_, accepted);

static ssize_t krdma_blk_export_refused_address_show(struct config_item *item, char *page)
{
	return krdma_blk_export_print(&to_export(item)->refused_address, page);
}
CONFIGFS_ATTR_RO(krdma_blk_export_, refused_address);

static ssize_t krdma_blk_export_refused_secret_show(struct config_item *item, char *page)
{
	return krdma_blk_export_print(&to_export(item)->refused_secret, page);
}
CONFIGFS_ATTR_RO(krdma_blk_export_, refused_secret);

static ssize_t krdma_blk_export_refused_busy_show(struct config_item *item, char *page)
{
	return krdma_blk_export_print(&to_export(item)->refused_busy, page);
}
CONFIGFS_ATTR_RO(krdma_blk_export_, refused_busy);

static ssize_t krdma_blk_export_refused_fenced_show(struct config_item *item, char *page)
{
	return krdma_blk_export_print(&to_export(item)->refused_fenced, page);
}
CONFIGFS_ATTR_RO(krdma_blk_export_, refused_fenced);

static ssize_t krdma_blk_export_refused_other_show(struct config_item *item, char *page)
{
	return krdma_blk_export_print(&to_export(item)->refused_other, page);
}
CONFIGFS_ATTR_RO(krdma_blk_export_, refused_other);

static struct configfs_attribute *krdma_blk_export_attrs[] = {
	&krdma_blk_export_attr_size,
	&krdma_blk_export_attr_block_size,
	&krdma_blk_export_attr_read_only,
	&krdma_blk_export_attr_exclusive,
	&krdma_blk_export_attr_shared,
	&krdma_blk_export_attr_force,
	&krdma_blk_export_attr_secret,
	&krdma_blk_export_attr_file,
	&krdma_blk_export_attr_store,
	&krdma_blk_export_attr_allow,
	&krdma_blk_export_attr_enabled,
	&krdma_blk_export_attr_clients,
	&krdma_blk_export_attr_evict,
	&krdma_blk_export_attr_connections,
	&krdma_blk_export_attr_accepted,
	&krdma_blk_export_attr_refused_address,
	&krdma_blk_export_attr_refused_secret,
	&krdma_blk_export_attr_refused_busy,
	&krdma_blk_export_attr_refused_fenced,
	&krdma_blk_export_attr_refused_other,
	NULL,
};

/*
 * Creation and destruction
 */

static struct configfs_item_operations krdma_blk_export_item_ops = {
	.release = krdma_blk_export_release,
};

static const struct config_item_type krdma_blk_export_type = {
	.ct_item_ops = &krdma_blk_export_item_ops,
	.ct_attrs = krdma_blk_export_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *krdma_blk_export_make(struct config_group *group, const char *name)
{
	struct krdma_blk_export *export;

	if (strlen(name) > KRDMA_BLK_NAME_MAX)
		return ERR_PTR(-ENAMETOOLONG);
	export = krdma_blk_count(KRDMA_OBJECT_BLK_EXPORT, kzalloc_obj(*export, GFP_KERNEL));
	if (!export)
		return ERR_PTR(-ENOMEM);

	mutex_init(&export->lock);
	spin_lock_init(&export->settings_lock);
	export->block_size = SZ_4K;
	memcpy(export->name, name, strlen(name));
	krdma_blk_serve_init(export);
	INIT_LIST_HEAD(&export->claims);
	config_item_init_type_name(&export->item, name, &krdma_blk_export_type);
	return &export->item;
}

static struct configfs_group_operations krdma_blk_exports_group_ops = {
	.make_item = krdma_blk_export_make,
};

const struct config_item_type krdma_blk_exports_type = {
	.ct_group_ops = &krdma_blk_exports_group_ops,
	.ct_owner = THIS_MODULE,
};
