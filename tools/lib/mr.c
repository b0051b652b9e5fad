// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Memory regions and their memory descriptors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define HUGE_SIZE	(2ul << 20)

/**
 * struct krdma_mr - a memory region
 * @session: its session, which must outlive it
 * @maker: the process that registered it
 * @data, @length: the registered memory
 * @mapped: bytes that the library mapped there, 0: none
 * @id, @key: number and rkey from the kernel
 * @entry: the cache's entry, or NULL
 */
struct krdma_mr {
	struct krdma *session;
	pid_t maker;
	void *data;
	size_t length;
	size_t mapped;
	uint32_t id;
	uint32_t key;
	struct cache_entry *entry;
};

static int register_with(struct krdma *session, uint32_t device_id, void *data, size_t length,
			 uint32_t access, uint32_t flags, struct krdma_mr **mr)
{
	struct krdma_mr_register_args request = {
		.size = sizeof(request),
		.flags = flags,
		.addr = (uintptr_t)data,
		.length = length,
		.device_id = device_id,
		.access = access,
	};
	struct krdma_mr *new;
	int err;

	if (!session || !mr)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = request_issue(session->fd, KRDMA_MR_REGISTER, &request);
	if (err) {
		free(new);
		return err;
	}
	new->session = session;
	new->maker = getpid();
	new->data = data;
	new->length = length;
	new->id = request.id;
	new->key = request.rkey;
	*mr = new;
	return 0;
}

KRDMA_PUBLIC int krdma_mr_register(struct krdma *session, uint32_t device_id, void *data,
				   size_t length, uint32_t access,
				   struct krdma_mr **mr)
{
	return register_with(session, device_id, data, length, access, 0, mr);
}

KRDMA_PUBLIC int krdma_mr_register_for_lanes(struct krdma *session, uint32_t device_id,
					     void *data, size_t length, uint32_t access,
					     uint32_t flags, struct krdma_mr **mr)
{
	return register_with(session, device_id, data, length, access,
			     flags | KRDMA_MR_REGISTER_LANES, mr);
}

/*
 * Does not use the huge pages that an administrator reserved (hugetlb), because they are for
 * programs configured to use them. The kernel may use transparent huge pages.
 */
static void *map(size_t length)
{
	void *data = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (data != MAP_FAILED && length >= HUGE_SIZE)
		(void)madvise(data, length, MADV_HUGEPAGE);
	return data;
}

static int alloc_with(struct krdma *session, uint32_t device_id, size_t length, uint32_t access,
		      uint32_t flags, struct krdma_mr **mr)
{
	void *data;
	int err;

	if (!session || !length || !mr)
		return -EINVAL;
	data = map(length);
	if (data == MAP_FAILED)
		return -ENOMEM;
	err = register_with(session, device_id, data, length, access, flags, mr);
	if (err)
		munmap(data, length);
	else
		(*mr)->mapped = length;
	return err;
}

KRDMA_PUBLIC int krdma_mr_alloc(struct krdma *session, uint32_t device_id, size_t length,
				uint32_t access, struct krdma_mr **mr)
{
	return alloc_with(session, device_id, length, access, 0, mr);
}

KRDMA_PUBLIC int krdma_mr_alloc_for_lanes(struct krdma *session, uint32_t device_id,
					  size_t length, uint32_t access, uint32_t flags,
					  struct krdma_mr **mr)
{
	return alloc_with(session, device_id, length, access, flags | KRDMA_MR_REGISTER_LANES,
			  mr);
}

KRDMA_PUBLIC int krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags)
{
	struct krdma_mr_deregister_args request = { .size = sizeof(request), .flags = flags };
	int err = 0;

	if (!mr)
		return 0;
	request.id = mr->id;
	/* A child of fork() has a copy of the pages, but the memory region is the parent's. */
	if (object_is_own(mr->maker))
		err = request_issue(mr->session->fd, KRDMA_MR_DEREGISTER, &request);
	/* The kernel has already deregistered it if its device is gone. */
	if (err && err != -ENOENT && err != -ENODEV)
		return err;
	if (mr->mapped)
		munmap(mr->data, mr->mapped);
	free(mr);
	return 0;
}

void mr_release(struct krdma_mr *mr)
{
	if (krdma_mr_deregister(mr, 0))
		krdma_mr_deregister(mr, KRDMA_DEREGISTER_LATER);
}

KRDMA_PUBLIC void *krdma_mr_data(const struct krdma_mr *mr)
{
	return mr ? mr->data : NULL;
}

KRDMA_PUBLIC size_t krdma_mr_length(const struct krdma_mr *mr)
{
	return mr ? mr->length : 0;
}

KRDMA_PUBLIC uint32_t krdma_mr_id(const struct krdma_mr *mr)
{
	return mr ? mr->id : 0;
}

KRDMA_PUBLIC uint32_t krdma_mr_rkey(const struct krdma_mr *mr)
{
	return mr ? mr->key : 0;
}

KRDMA_PUBLIC int krdma_mr_rkey_at(struct krdma_mr *mr, size_t offset, uint32_t *key,
				  size_t *reach)
{
	struct krdma_mr_query_args query = { .size = sizeof(query), .part_offset = offset };
	int err;

	if (!mr || !key || !reach)
		return -EINVAL;
	query.id = mr->id;
	err = request_issue(mr->session->fd, KRDMA_MR_QUERY, &query);
	if (err)
		return err;
	if (!query.key_count)
		return -EACCES;
	*key = query.part_key;
	*reach = query.part_reach;
	return 0;
}

KRDMA_PUBLIC int krdma_mr_advise(struct krdma_mr *mr, uint32_t advice, size_t offset,
				 size_t length)
{
	struct krdma_mr_advise_args request = {
		.size = sizeof(request),
		.advice = advice,
		.offset = offset,
		.length = length,
	};

	if (!mr)
		return -EINVAL;
	request.id = mr->id;
	return request_issue(mr->session->fd, KRDMA_MR_ADVISE, &request);
}

KRDMA_PUBLIC int krdma_mr_set_name(struct krdma_mr *mr, const char *name)
{
	struct krdma_mr_set_name_args request = { .size = sizeof(request) };
	int err;

	if (!mr)
		return -EINVAL;
	err = request_name(request.name, name ? name : "");
	if (err)
		return err;
	request.id = mr->id;
	return request_issue(mr->session->fd, KRDMA_MR_SET_NAME, &request);
}

KRDMA_PUBLIC int krdma_mr_describe(struct krdma_mr *mr, size_t offset, size_t length,
				   void *descriptor)
{
	struct krdma_mr_query_args query = {
		.size = sizeof(query),
		.part_offset = offset,
		.part_length = length,
	};
	int err;

	if (!mr || !descriptor)
		return -EINVAL;
	query.id = mr->id;
	err = request_issue(mr->session->fd, KRDMA_MR_QUERY, &query);
	if (err)
		return err;
	if (!query.key_count)
		return -EACCES;
	memcpy(descriptor, &query.descriptor, KRDMA_MR_DESC_SIZE);
	return 0;
}

void mr_set_entry(struct krdma_mr *mr, struct cache_entry *entry)
{
	mr->entry = entry;
}

struct cache_entry *mr_entry(const struct krdma_mr *mr)
{
	return mr->entry;
}
