// SPDX-License-Identifier: GPL-2.0
/*
 * Cache of memory regions.
 *
 * A consumer that uses the same buffers repeatedly pays only once for registering them.  Idle
 * MRs stay registered, up to a maximum number; the least recently used one is deregistered
 * first.
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
 * struct krdma_mr_cache_entry - a cached memory region
 * @node: entry of the cache's table, by buffer
 * @idle: entry of the cache's idle list while @users is 0
 * @mr: the memory region
 * @buffer: the buffer that it registers
 * @users: callers that have got it and not put it
 * @forgotten: no further caller gets it
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
 * struct krdma_mr_cache - cache of memory regions
 * @session: the session of the MRs
 * @dev: the device of the MRs
 * @max_idle: maximum number of idle MRs
 * @lock: protects the fields below, and each entry
 * @entries: all entries, by buffer
 * @idle: entries without users, the most recently used first
 * @idle_count: number of entries in @idle
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
 * krdma_mr_cache_create() - Create a cache of memory regions
 * @session: the session of the MRs
 * @dev: the device
 * @max_idle: maximum number of idle MRs
 *
 * Context: process context; may sleep.
 * Return: the cache, to be released by krdma_mr_cache_destroy(), or ERR_PTR(-ENOMEM).
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

/* End an entry without users; work requests that use its MR may still be in flight. */
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

/* No further caller gets the entry. */
static void krdma_mr_cache_entry_forget(struct krdma_mr_cache *cache,
					struct krdma_mr_cache_entry *entry)
{
	entry->forgotten = true;
	if (!entry->users)
		krdma_mr_cache_entry_end(cache, entry);
}

/**
 * krdma_mr_cache_destroy() - Destroy a cache and its memory regions
 * @cache: the cache; no caller has an MR of it or calls a function with it
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
 * krdma_mr_cache_get() - Get a cached or new memory region of a buffer
 * @cache: the cache
 * @buffer: as for krdma_mr_register(); stays allocated until krdma_mr_cache_forget()
 * @length: bytes of the buffer
 * @access: &enum krdma_access
 *
 * Callers with the same buffer, length and rights share one MR.
 *
 * Context: process context; may sleep, also for other callers that get or put.
 * Return: the MR, to be released by krdma_mr_cache_put(), or an ERR_PTR as from
 * krdma_mr_register().
 */
struct krdma_mr *krdma_mr_cache_get(struct krdma_mr_cache *cache, void *buffer,
				    size_t length, u32 access)
{
	struct krdma_mr_cache_entry *entry;
	struct krdma_mr *mr;

	mutex_lock(&cache->lock);

	/* An MR of a removed device is useless; a new registration returns the error for that. */
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
 * krdma_mr_cache_put() - Put a memory region of a cache
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
 * krdma_mr_cache_forget() - Remove a buffer from the cache before it is freed
 * @cache: the cache
 * @buffer: start of the buffer
 * @length: bytes of the buffer
 *
 * Deregisters every MR that contains a byte of the buffer: at once if it is idle, otherwise
 * when it is put.  The buffer can be freed when all callers that have such an MR have put it
 * and their work requests have completed.
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
