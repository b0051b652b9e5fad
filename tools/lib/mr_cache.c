// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A cache of memory regions that stay registered for reuse.
 *
 * The entries are sorted by their start, and no entry lies within another one. They are therefore
 * also sorted by their end: if any entry contains a range, the last entry that starts at or
 * before the start of the range contains it.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define REMOTE_RIGHTS	(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE | \
			 KRDMA_ACCESS_REMOTE_ATOMIC)

/**
 * struct cache_entry - a cached memory region
 * @mr: the memory region
 * @start, @end: first and last address that it covers
 * @users: number of krdma_mr_cache_get() calls not yet put back
 * @forgotten: removed from the cache; deregistered when the last user puts it back
 * @last_use: value of the cache's clock when it was last put back
 */
struct cache_entry {
	struct krdma_mr *mr;
	uintptr_t start;
	uintptr_t end;
	unsigned int users;
	bool forgotten;
	uint64_t last_use;
};

/**
 * struct krdma_mr_cache - a cache
 * @session, @device_id, @access: parameters of all its memory regions
 * @limit: bytes that may stay registered while unused
 * @page: registered ranges are widened to multiples of this; 1: not widened
 * @lock: protects the fields below and the entries
 * @entries: sorted array
 * @count: number of entries
 * @room: allocated length of @entries
 * @idle: bytes registered and unused
 * @clock: counts the put calls
 */
struct krdma_mr_cache {
	struct krdma *session;
	uint32_t device_id;
	uint32_t access;
	size_t limit;
	size_t page;
	pthread_mutex_t lock;
	struct cache_entry **entries;
	size_t count;
	size_t room;
	size_t idle;
	uint64_t clock;
};

KRDMA_PUBLIC int krdma_mr_cache_create(struct krdma *session, uint32_t device_id, uint32_t access,
				       size_t limit, struct krdma_mr_cache **cache)
{
	struct krdma_mr_cache *new;

	if (!session || !cache)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->session = session;
	new->device_id = device_id;
	new->access = access;
	new->limit = limit;
	/* A peer with access to a buffer must not reach the memory next to it. */
	new->page = access & REMOTE_RIGHTS ? 1 : (size_t)sysconf(_SC_PAGESIZE);
	pthread_mutex_init(&new->lock, NULL);
	*cache = new;
	return 0;
}

static size_t entry_size(const struct cache_entry *entry)
{
	return entry->end - entry->start + 1;
}

/*
 * Work requests that no thread waits for may still be in flight. The kernel deregisters the
 * memory region when they have completed.
 */
static void entry_end(struct cache_entry *entry)
{
	krdma_mr_deregister(entry->mr, KRDMA_DEREGISTER_LATER);
	free(entry);
}

/* Returns the number of entries that start at or before @address. */
static size_t count_before(const struct krdma_mr_cache *cache, uintptr_t address)
{
	size_t low = 0, high = cache->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cache->entries[middle]->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct cache_entry *find(const struct krdma_mr_cache *cache, uintptr_t start, uintptr_t end)
{
	size_t before = count_before(cache, start);
	struct cache_entry *entry = before ? cache->entries[before - 1] : NULL;

	return entry && entry->end >= end ? entry : NULL;
}

/* Removes an entry from the cache, and deregisters its memory region if it is unused. */
static void forget(struct krdma_mr_cache *cache, size_t index)
{
	struct cache_entry *entry = cache->entries[index];

	cache->count--;
	memmove(cache->entries + index, cache->entries + index + 1,
		(cache->count - index) * sizeof(*cache->entries));
	entry->forgotten = true;
	if (!entry->users) {
		cache->idle -= entry_size(entry);
		entry_end(entry);
	}
}

/* Removes unused entries, least recently used first, until @most idle bytes are left. */
static void shrink(struct krdma_mr_cache *cache, size_t most)
{
	while (cache->idle > most) {
		size_t oldest = cache->count;

		for (size_t i = 0; i < cache->count; i++) {
			const struct cache_entry *entry = cache->entries[i];

			if (!entry->users && (oldest == cache->count ||
					      entry->last_use < cache->entries[oldest]->last_use))
				oldest = i;
		}
		/* Cannot happen: idle bytes imply an unused entry. */
		if (oldest == cache->count)
			break;
		forget(cache, oldest);
	}
}

static int make_room(struct krdma_mr_cache *cache)
{
	size_t room = cache->room ? 2 * cache->room : 16;
	struct cache_entry **entries;

	if (cache->count < cache->room)
		return 0;
	entries = realloc(cache->entries, room * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	cache->entries = entries;
	cache->room = room;
	return 0;
}

/*
 * Inserts an entry for its first user. Another thread may have inserted one for the same range
 * in the meantime.
 */
static int insert(struct krdma_mr_cache *cache, struct cache_entry *entry)
{
	size_t index;
	int err;

	if (find(cache, entry->start, entry->end)) {
		/* Keep this entry outside the cache: krdma_mr_cache_put() ends it. */
		entry->forgotten = true;
		return 0;
	}
	err = make_room(cache);
	if (err)
		return err;
	/*
	 * Remove the entries within the new one: one with the same start, and some after it.
	 */
	index = count_before(cache, entry->start);
	if (index && cache->entries[index - 1]->start == entry->start)
		index--;
	while (index < cache->count && cache->entries[index]->end <= entry->end)
		forget(cache, index);
	memmove(cache->entries + index + 1, cache->entries + index,
		(cache->count - index) * sizeof(*cache->entries));
	cache->entries[index] = entry;
	cache->count++;
	return 0;
}

static int entry_new(struct krdma_mr_cache *cache, uintptr_t start, uintptr_t end,
		     struct cache_entry **entry)
{
	struct cache_entry *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->start = start;
	new->end = end;
	new->users = 1;
	err = krdma_mr_register(cache->session, cache->device_id, (void *)start,
				end - start + 1, cache->access, &new->mr);
	if (err) {
		free(new);
		return err;
	}
	mr_set_entry(new->mr, new);
	*entry = new;
	return 0;
}

static struct cache_entry *reuse(struct krdma_mr_cache *cache, uintptr_t start, uintptr_t end)
{
	struct cache_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, start, end);
	if (entry && !entry->users++)
		cache->idle -= entry_size(entry);
	pthread_mutex_unlock(&cache->lock);
	return entry;
}

static bool is_limit(int err)
{
	return err == -ENOMEM || err == -EPERM || err == -EDQUOT;
}

KRDMA_PUBLIC int krdma_mr_cache_get(struct krdma_mr_cache *cache, void *data, size_t length,
				    struct krdma_mr **mr)
{
	uintptr_t start = (uintptr_t)data, end = start + length - 1;
	struct cache_entry *entry;
	int err;

	if (!cache || !length || end < start || !mr)
		return -EINVAL;
	start &= ~(uintptr_t)(cache->page - 1);
	end |= cache->page - 1;

	entry = reuse(cache, start, end);
	if (!entry) {
		/* Registering takes time, so the lock is not held. */
		err = entry_new(cache, start, end, &entry);
		if (is_limit(err)) {
			/* Unused entries count against the limit: deregister them and retry. */
			pthread_mutex_lock(&cache->lock);
			shrink(cache, 0);
			pthread_mutex_unlock(&cache->lock);
			err = entry_new(cache, start, end, &entry);
		}
		if (err)
			return err;
		pthread_mutex_lock(&cache->lock);
		err = insert(cache, entry);
		pthread_mutex_unlock(&cache->lock);
		if (err) {
			entry_end(entry);
			return err;
		}
	}
	*mr = entry->mr;
	return 0;
}

KRDMA_PUBLIC void krdma_mr_cache_put(struct krdma_mr_cache *cache, struct krdma_mr *mr)
{
	struct cache_entry *entry;

	if (!cache || !mr)
		return;
	entry = mr_entry(mr);
	pthread_mutex_lock(&cache->lock);
	if (!--entry->users) {
		if (entry->forgotten) {
			entry_end(entry);
		} else {
			entry->last_use = ++cache->clock;
			cache->idle += entry_size(entry);
			shrink(cache, cache->limit);
		}
	}
	pthread_mutex_unlock(&cache->lock);
}

KRDMA_PUBLIC void krdma_mr_cache_forget(struct krdma_mr_cache *cache, const void *data,
					size_t length)
{
	uintptr_t start = (uintptr_t)data, end = start + length - 1;
	size_t index;

	if (!cache || !length || end < start)
		return;
	pthread_mutex_lock(&cache->lock);
	/*
	 * Start at the last entry that starts before the end, and go back while entries reach
	 * @data.
	 */
	for (index = count_before(cache, end); index; index--) {
		if (cache->entries[index - 1]->end < start)
			break;
		forget(cache, index - 1);
	}
	pthread_mutex_unlock(&cache->lock);
}

KRDMA_PUBLIC void krdma_mr_cache_destroy(struct krdma_mr_cache *cache)
{
	if (!cache)
		return;
	shrink(cache, 0);
	pthread_mutex_destroy(&cache->lock);
	free(cache->entries);
	free(cache);
}
