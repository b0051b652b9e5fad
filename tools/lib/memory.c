// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Registered memory, and what peers are told of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define HUGE_SIZE	(2ul << 20)

/**
 * struct krdma_memory - registered memory
 * @session: in which; it outlives this
 * @maker: the process that has registered it
 * @data, @length: what was registered
 * @mapped: bytes that the library has mapped there, 0: none
 * @id, @key: the kernel's
 * @entry: the cache's, or NULL
 */
struct krdma_memory {
	struct krdma *session;
	pid_t maker;
	void *data;
	size_t length;
	size_t mapped;
	uint32_t id;
	uint32_t key;
	struct cache_entry *entry;
};

KRDMA_PUBLIC int krdma_memory_register(struct krdma *session, uint32_t device_id, void *data,
				       size_t length, uint32_t access,
				       struct krdma_memory **memory)
{
	struct krdma_memory_register request = {
		.size = sizeof(request),
		.addr = (uintptr_t)data,
		.length = length,
		.device_id = device_id,
		.access = access,
	};
	struct krdma_memory *new;
	int err;

	if (!session || !memory)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = request_issue(session->fd, KRDMA_MEMORY_REGISTER, &request);
	if (err) {
		free(new);
		return err;
	}
	new->session = session;
	new->maker = getpid();
	new->data = data;
	new->length = length;
	new->id = request.id;
	new->key = request.remote_key;
	*memory = new;
	return 0;
}

/*
 * Not in the huge pages that an administrator has set aside (hugetlb): they are for the
 * programs that were told to use them.  The kernel may find others.
 */
static void *map(size_t length)
{
	void *data = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (data != MAP_FAILED && length >= HUGE_SIZE)
		(void)madvise(data, length, MADV_HUGEPAGE);
	return data;
}

KRDMA_PUBLIC int krdma_memory_create(struct krdma *session, uint32_t device_id, size_t length,
				     uint32_t access, struct krdma_memory **memory)
{
	void *data;
	int err;

	if (!session || !length || !memory)
		return -EINVAL;
	data = map(length);
	if (data == MAP_FAILED)
		return -ENOMEM;
	err = krdma_memory_register(session, device_id, data, length, access, memory);
	if (err)
		munmap(data, length);
	else
		(*memory)->mapped = length;
	return err;
}

KRDMA_PUBLIC int krdma_memory_release(struct krdma_memory *memory, uint32_t flags)
{
	struct krdma_memory_release request = { .size = sizeof(request), .flags = flags };
	int err = 0;

	if (!memory)
		return 0;
	request.id = memory->id;
	/* A child has a copy of the pages; what is registered are the parent's. */
	if (object_is_own(memory->maker))
		err = request_issue(memory->session->fd, KRDMA_MEMORY_RELEASE, &request);
	/* It may have ended before, with its device. */
	if (err && err != -ENOENT && err != -ENODEV)
		return err;
	if (memory->mapped)
		munmap(memory->data, memory->mapped);
	free(memory);
	return 0;
}

KRDMA_PUBLIC void *krdma_memory_data(const struct krdma_memory *memory)
{
	return memory ? memory->data : NULL;
}

KRDMA_PUBLIC size_t krdma_memory_length(const struct krdma_memory *memory)
{
	return memory ? memory->length : 0;
}

KRDMA_PUBLIC uint32_t krdma_memory_id(const struct krdma_memory *memory)
{
	return memory ? memory->id : 0;
}

KRDMA_PUBLIC uint32_t krdma_memory_key(const struct krdma_memory *memory)
{
	return memory ? memory->key : 0;
}

KRDMA_PUBLIC int krdma_memory_key_at(struct krdma_memory *memory, size_t offset, uint32_t *key,
				     size_t *reach)
{
	struct krdma_memory_query query = { .size = sizeof(query), .part_offset = offset };
	int err;

	if (!memory || !key || !reach)
		return -EINVAL;
	query.id = memory->id;
	err = request_issue(memory->session->fd, KRDMA_MEMORY_QUERY, &query);
	if (err)
		return err;
	if (!query.key_count)
		return -EACCES;
	*key = query.part_key;
	*reach = query.part_reach;
	return 0;
}

KRDMA_PUBLIC int krdma_memory_advise(struct krdma_memory *memory, uint32_t advice, size_t offset,
				     size_t length)
{
	struct krdma_memory_advise request = {
		.size = sizeof(request),
		.advice = advice,
		.offset = offset,
		.length = length,
	};

	if (!memory)
		return -EINVAL;
	request.id = memory->id;
	return request_issue(memory->session->fd, KRDMA_MEMORY_ADVISE, &request);
}

KRDMA_PUBLIC int krdma_memory_describe(struct krdma_memory *memory, size_t offset, size_t length,
				       void *descriptor)
{
	struct krdma_memory_query query = {
		.size = sizeof(query),
		.part_offset = offset,
		.part_length = length,
	};
	int err;

	if (!memory || !descriptor)
		return -EINVAL;
	query.id = memory->id;
	err = request_issue(memory->session->fd, KRDMA_MEMORY_QUERY, &query);
	if (err)
		return err;
	if (!query.key_count)
		return -EACCES;
	memcpy(descriptor, &query.descriptor, KRDMA_DESCRIPTOR_SIZE);
	return 0;
}

void memory_set_entry(struct krdma_memory *memory, struct cache_entry *entry)
{
	memory->entry = entry;
}

struct cache_entry *memory_entry(const struct krdma_memory *memory)
{
	return memory->entry;
}
