// SPDX-License-Identifier: GPL-2.0
/*
 * Regions that are kept for the next time.
 *
 * A consumer that uses the same buffers again and again pays for mapping them
 * once.  What nobody uses stays, the last used first, up to a number.
 */
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "core/objects.h"
#include "mr/mr.h"
#include "core/resource.h"
#include "core/session.h"

#define KRDMA_CACHE_BITS	6

/**
 * struct krdma_mr_cache_entry - a region that is kept
 * @node: in the cache's table, by buffer
 * @idle: in the cache's list while @users is 0
 * @mr: the region
 * @buffer: what it is of
 * @users: who has got it and not put it
 * @forgotten: nobody else gets it
 */
struct krdma_mr_cache_entry {
	struct hlist_node node;
	struct list_head idle;
	struct krdma_mr *mr;
	void *buffer;
	unsigned int users;
	bool forgotten;
};

/**
 * struct krdma_mr_cache - regions that are kept
 * @session: whose they are
 * @dev: on which device
 * @max_idle: how many are kept that nobody uses
 * @lock: protects what follows, and each entry
 * @entries: all, by buffer
 * @idle: those that nobody uses, the last used first
 * @idle_count: how many
 */
struct krdma_mr_cache {
	struct krdma_session *session;
	struct krdma_device *dev;
	unsigned int max_idle;
	struct mutex lock;		/* see above */
	DECLARE_HASHTABLE(entries, KRDMA_CACHE_BITS);
	struct list_head idle;
	unsigned int idle_count;
};

/**
 * krdma_mr_cache_create - begin to keep regions
 * @session: whose they are to be
 * @dev: the device
 * @max_idle: how many are kept that nobody uses
 *
 * Context: process context; may sleep.
 * Return: the cache, for krdma_mr_cache_destroy(), or ERR_PTR(-ENOMEM).
 */
struct krdma_mr_cache *krdma_mr_cache_create(struct krdma_session *session,
					     struct krdma_device *dev,
					     unsigned int max_idle)
{
	struct krdma_mr_cache *cache;

	cache = krdma_object_count(KRDMA_OBJECT_MR_CACHE, kzalloc_obj(*cache, GFP_KERNEL_ACCOUNT));
	if (!cache)
		return ERR_PTR(-ENOMEM);

	krdma_session_get(session);
	cache->session = session;
	krdma_device_get(dev);
	cache->dev = dev;
	cache->max_idle = max_idle;
	mutex_init(&cache->lock);
	hash_init(cache->entries);
	INIT_LIST_HEAD(&cache->idle);

	return cache;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_cache_create, "KRDMA");

/* Ends one that nobody uses any more; operations may still be in flight. */
static void krdma_mr_cache_entry_end(struct krdma_mr_cache *cache,
				     struct krdma_mr_cache_entry *entry)
{
	lockdep_assert_held(&cache->lock);

	if (!list_empty(&entry->idle)) {
		list_del(&entry->idle);
		cache->idle_count--;
	}
	hash_del(&entry->node);
	if (krdma_mr_deregister(entry->mr))
		krdma_mr_drop(entry->mr);
	kfree(krdma_object_uncount(KRDMA_OBJECT_MR_CACHE_ENTRY, entry));
}

/* Nobody gets it any more. */
static void krdma_mr_cache_entry_forget(struct krdma_mr_cache *cache,
					struct krdma_mr_cache_entry *entry)
{
	entry->forgotten = true;
	if (!entry->users)
		krdma_mr_cache_entry_end(cache, entry);
}

/**
 * krdma_mr_cache_destroy - let all regions go
 * @cache: the cache; nobody has a region of it, nor calls anything with it
 *
 * Context: process context; may sleep.
 */
void krdma_mr_cache_destroy(struct krdma_mr_cache *cache)
{
	struct krdma_mr_cache_entry *entry;
	struct hlist_node *next;
	unsigned int bucket;

	mutex_lock(&cache->lock);
	hash_for_each_safe(cache->entries, bucket, next, entry, node) {
		WARN_ON_ONCE(entry->users);
		krdma_mr_cache_entry_end(cache, entry);
	}
	mutex_unlock(&cache->lock);

	mutex_destroy(&cache->lock);
	krdma_device_put(cache->dev);
	krdma_session_put(cache->session);
	kfree(krdma_object_uncount(KRDMA_OBJECT_MR_CACHE, cache));
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_cache_destroy, "KRDMA");

static struct krdma_mr_cache_entry *krdma_mr_cache_entry_find(struct krdma_mr_cache *cache,
							      void *buffer,
							      size_t length, u32 access)
{
	struct krdma_mr_cache_entry *entry;

	hash_for_each_possible(cache->entries, entry, node, (unsigned long)buffer) {
		if (!entry->forgotten && entry->buffer == buffer &&
		    entry->mr->length == length && entry->mr->access == access)
			return entry;
	}
	return NULL;
}

static struct krdma_mr_cache_entry *krdma_mr_cache_entry_add(struct krdma_mr_cache *cache,
							     void *buffer,
							     size_t length, u32 access)
{
	struct krdma_mr_cache_entry *entry;
	struct krdma_mr *mr;

	entry = krdma_object_count(KRDMA_OBJECT_MR_CACHE_ENTRY,
				   kzalloc_obj(*entry, GFP_KERNEL_ACCOUNT));
	if (!entry)
		return ERR_PTR(-ENOMEM);

	mr = krdma_mr_register(cache->session, cache->dev, buffer, length, access);
	if (IS_ERR(mr)) {
		kfree(krdma_object_uncount(KRDMA_OBJECT_MR_CACHE_ENTRY, entry));
		return ERR_CAST(mr);
	}

	entry->mr = mr;
	entry->buffer = buffer;
	INIT_LIST_HEAD(&entry->idle);
	hash_add(cache->entries, &entry->node, (unsigned long)buffer);
	return entry;
}

/**
 * krdma_mr_cache_get - a region of a buffer, kept or new
 * @cache: the cache
 * @buffer: as for krdma_mr_register(); stays until krdma_mr_cache_forget()
 * @length: its length in bytes
 * @access: &enum krdma_access
 *
 * Several users of the same buffer, length and rights have the same region.
 *
 * Context: process context; may sleep, also for others who get or put.
 * Return: the region, for krdma_mr_cache_put(), or an ERR_PTR as of
 * krdma_mr_register().
 */
struct krdma_mr *krdma_mr_cache_get(struct krdma_mr_cache *cache, void *buffer,
				    size_t length, u32 access)
{
	struct krdma_mr_cache_entry *entry;
	struct krdma_mr *mr;

	mutex_lock(&cache->lock);

	/* One of a device that went is of no use, and says so when it is made anew. */
	entry = krdma_mr_cache_entry_find(cache, buffer, length, access);
	if (entry && krdma_resource_error(&entry->mr->res)) {
		krdma_mr_cache_entry_forget(cache, entry);
		entry = NULL;
	}
	if (!entry)
		entry = krdma_mr_cache_entry_add(cache, buffer, length, access);
	if (IS_ERR(entry)) {
		mr = ERR_CAST(entry);
		goto out;
	}

	if (!entry->users++ && !list_empty(&entry->idle)) {
		list_del_init(&entry->idle);
		cache->idle_count--;
	}
	mr = entry->mr;
out:
	mutex_unlock(&cache->lock);
	return mr;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_cache_get, "KRDMA");

/**
 * krdma_mr_cache_put - done with a region for now
 * @cache: the cache
 * @mr: from krdma_mr_cache_get() of the same cache
 *
 * Context: process context; may sleep.
 */
void krdma_mr_cache_put(struct krdma_mr_cache *cache, struct krdma_mr *mr)
{
	struct krdma_mr_cache_entry *entry;

	mutex_lock(&cache->lock);

	hash_for_each_possible(cache->entries, entry, node, (unsigned long)mr->addr) {
		if (entry->mr == mr)
			break;
	}
	if (WARN_ON_ONCE(!entry || !entry->users))
		goto out;
	if (--entry->users)
		goto out;
	if (entry->forgotten) {
		krdma_mr_cache_entry_end(cache, entry);
		goto out;
	}

	list_add(&entry->idle, &cache->idle);
	cache->idle_count++;
	if (cache->idle_count > cache->max_idle) {
		entry = list_last_entry(&cache->idle, struct krdma_mr_cache_entry, idle);
		krdma_mr_cache_entry_end(cache, entry);
	}
out:
	mutex_unlock(&cache->lock);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_cache_put, "KRDMA");

static bool krdma_mr_cache_entry_overlaps(const struct krdma_mr_cache_entry *entry, uintptr_t start,
					  size_t length)
{
	uintptr_t first = (uintptr_t)entry->buffer;

	return first - start < length || start - first < entry->mr->length;
}

/**
 * krdma_mr_cache_forget - a buffer is going to be freed
 * @cache: the cache
 * @buffer: where it is
 * @length: its length in bytes
 *
 * Every region that has a byte of it goes: at once if nobody uses it, otherwise
 * when it is put.  The buffer can be freed as soon as all who had it have put it
 * and their operations have completed.
 *
 * Context: process context; may sleep.
 */
void krdma_mr_cache_forget(struct krdma_mr_cache *cache, void *buffer, size_t length)
{
	struct krdma_mr_cache_entry *entry;
	struct hlist_node *next;
	unsigned int bucket;

	mutex_lock(&cache->lock);
	hash_for_each_safe(cache->entries, bucket, next, entry, node) {
		if (krdma_mr_cache_entry_overlaps(entry, (uintptr_t)buffer, length))
			krdma_mr_cache_entry_forget(cache, entry);
	}
	mutex_unlock(&cache->lock);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_cache_forget, "KRDMA");
