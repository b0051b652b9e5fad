// SPDX-License-Identifier: GPL-2.0
/*
 * Memory: requests about it, and its numbers.
 *
 * Registered memory has two references: its number's, which keeps the core's region
 * for those who find it there, and one until the region has ended, because until
 * then it is charged and has an owner.  It can end first, with its device.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "io/budget.h"
#include "core/objects.h"
#include "user/user.h"

/* All rights that this module knows. */
#define KRDMA_USER_ACCESS	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |	\
				 KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)

/**
 * krdma_user_memory_begin - a session without memory
 * @session: the session, new
 *
 * Context: any.
 */
void krdma_user_memory_begin(struct krdma_user_session *session)
{
	xa_init_flags(&session->memory, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	session->memory_next = 1;
}

/**
 * krdma_user_memory_put - give back a reference to memory
 * @memory: the memory; the last one comes when it has no number and its region has
 *	ended
 *
 * Context: process context.
 */
void krdma_user_memory_put(struct krdma_user_memory *memory)
{
	if (!refcount_dec_and_test(&memory->refs))
		return;

	krdma_user_owner_leave(memory);
	krdma_user_account_put(memory->account);
	krdma_object_uncount(KRDMA_OBJECT_USER_MR, memory);
	kfree_rcu(memory, rcu);
}

static void krdma_user_memory_uncharge(struct krdma_user_memory *memory)
{
	krdma_user_account_uncharge(memory->account, KRDMA_ACCOUNT_MEMORY,
				    memory->charged + memory->cost);
}

/* What krdma_region_notify() calls. */
static void krdma_user_memory_ended(void *context)
{
	struct krdma_user_memory *memory = context;

	krdma_user_memory_uncharge(memory);
	krdma_user_owner_ended(memory);
	krdma_user_memory_put(memory);
}

/* A number without anything behind it yet. */
static int krdma_user_memory_reserve(struct krdma_user_session *session, u32 *id)
{
	int ret;

	ret = xa_alloc_cyclic(&session->memory, id, NULL, XA_LIMIT(1, INT_MAX),
			      &session->memory_next, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return -ENOMEM;
	return 0;
}

/* Whole pages are pinned, and so they are charged. */
static u64 krdma_user_memory_pages(const struct krdma_memory_register *in)
{
	return PAGE_ALIGN(offset_in_page(in->addr) + in->length);
}

/*
 * Memory of the calling process, charged, with an owner, a reserved number, and
 * without a region.
 */
static struct krdma_user_memory *krdma_user_memory_new(struct krdma_user_session *session,
						       const struct krdma_memory_register *in)
{
	struct krdma_user_memory *memory;
	int ret;

	memory = krdma_object_count(KRDMA_OBJECT_USER_MR, kzalloc_obj(*memory, GFP_KERNEL_ACCOUNT));
	if (!memory)
		return ERR_PTR(-ENOMEM);
	refcount_set(&memory->refs, 2);
	memory->device_id = in->device_id;
	memory->session = session;
	memory->account = session->account;
	memory->charged = krdma_user_memory_pages(in);
	memory->cost = krdma_budget_mr_bytes(memory->charged >> PAGE_SHIFT);

	ret = krdma_user_memory_reserve(session, &memory->id);
	if (ret)
		goto err_free;
	ret = krdma_user_account_charge(memory->account, KRDMA_ACCOUNT_MEMORY,
					memory->charged + memory->cost);
	if (ret)
		goto err_number;
	ret = krdma_user_owner_join(memory);
	if (ret)
		goto err_uncharge;

	krdma_user_account_hold(memory->account);
	return memory;

err_uncharge:
	krdma_user_memory_uncharge(memory);
err_number:
	xa_erase(&session->memory, memory->id);
err_free:
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_MR, memory));
	return ERR_PTR(ret);
}

/* The undoing of krdma_user_memory_new(), when its region has ended, or never was. */
static void krdma_user_memory_discard(struct krdma_user_memory *memory)
{
	xa_erase(&memory->session->memory, memory->id);
	krdma_user_memory_put(memory);
}

static int krdma_user_memory_map(struct krdma_user_memory *memory, struct krdma_device *dev,
				 const struct krdma_memory_register *in)
{
	struct krdma_region *region;
	int ret;

	region = krdma_region_map_user(memory->session->core, dev, in->addr, in->length,
				       in->access);
	if (IS_ERR(region))
		return PTR_ERR(region);

	ret = krdma_region_notify(region, krdma_user_memory_ended, memory);
	if (ret) {
		/* Nobody has used it. */
		krdma_region_release(region);
		return ret;
	}
	memory->region = region;
	return 0;
}

static int krdma_memory_register_check(const struct krdma_memory_register *in)
{
	/* A right is a flag: a later module may have more of them. */
	if (in->flags || (in->access & ~KRDMA_USER_ACCESS))
		return -EOPNOTSUPP;
	if (!in->length)
		return -EINVAL;
	if (in->addr > ULONG_MAX || in->length > ULONG_MAX ||
	    !access_ok((void __user *)(unsigned long)in->addr, in->length))
		return -EFAULT;
	return 0;
}

/**
 * krdma_user_memory_register - KRDMA_MEMORY_REGISTER
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_memory_register(struct krdma_user_request *request)
{
	struct krdma_memory_register *in = &request->buffer->memory_register;
	struct krdma_user_session *session = request->session;
	struct krdma_region_info info;
	struct krdma_user_memory *memory;
	struct krdma_device *dev;
	int ret;

	ret = krdma_memory_register_check(in);
	if (ret)
		return ret;

	dev = krdma_device_get(session->net, in->device_id);
	if (!dev)
		return -ENODEV;
	memory = krdma_user_memory_new(session, in);
	if (IS_ERR(memory)) {
		ret = PTR_ERR(memory);
		goto out_dev;
	}
	ret = krdma_user_memory_map(memory, dev, in);
	if (ret) {
		krdma_user_memory_ended(memory);
		krdma_user_memory_discard(memory);
		goto out_dev;
	}

	krdma_region_query(memory->region, &info);
	in->id = memory->id;
	in->remote_key = info.remote_key;
	in->remote_addr = info.remote_addr;
	ret = krdma_request_respond(request);
	if (ret) {
		/* It has no number, so nobody has used it. */
		krdma_region_release(memory->region);
		krdma_user_memory_discard(memory);
		goto out_dev;
	}
	krdma_user_owner_number(memory);

out_dev:
	krdma_device_put(dev);
	return ret;
}

/**
 * krdma_user_memory_release - KRDMA_MEMORY_RELEASE
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_memory_release(struct krdma_user_request *request)
{
	const struct krdma_memory_release *in = &request->buffer->memory_release;
	struct krdma_user_memory *memory;
	bool closed;

	if ((in->flags & ~KRDMA_RELEASE_LATER) || in->reserved)
		return -EOPNOTSUPP;

	memory = krdma_user_owner_take(request->session, in->id,
				       in->flags & KRDMA_RELEASE_LATER, &closed);
	if (IS_ERR(memory))
		return PTR_ERR(memory);

	if (closed)
		krdma_region_release(memory->region);
	else
		krdma_region_drop(memory->region);
	krdma_user_memory_put(memory);
	return 0;
}

/**
 * krdma_user_memory_find - whose number is it?
 * @session: in which session
 * @id: the number
 *
 * Context: under rcu_read_lock(), until which ends the memory, and its region, can be
 * used.
 * Return: the memory or NULL.
 */
struct krdma_user_memory *krdma_user_memory_find(struct krdma_user_session *session, u32 id)
{
	return xa_load(&session->memory, id);
}

static int krdma_user_memory_look(struct krdma_user_session *session, u32 id,
				  struct krdma_region_info *info, u32 *device_id)
{
	struct krdma_user_memory *memory;

	rcu_read_lock();
	memory = krdma_user_memory_find(session, id);
	if (memory) {
		krdma_region_query(memory->region, info);
		*device_id = memory->device_id;
	}
	rcu_read_unlock();

	return memory ? 0 : -ENOENT;
}

static bool krdma_region_info_has(const struct krdma_region_info *info, u64 offset, u64 length)
{
	return offset <= info->length && length <= info->length - offset;
}

/* The part that a query is about, as krdma_region_key() and krdma_region_describe() say. */
static int krdma_memory_query_part(struct krdma_region *region, struct krdma_memory_query *query)
{
	struct krdma_region_key key;
	int ret;

	ret = krdma_region_key(region, query->part_offset, &key);
	if (ret)
		return ret;
	query->part_key = key.remote_key;
	query->part_reach = key.length;
	return krdma_region_describe(region, query->part_offset,
				     query->part_length ?: key.length,
				     (u8 *)&query->descriptor);
}

static int krdma_memory_query_describe(struct krdma_user_session *session,
				       struct krdma_memory_query *query)
{
	struct krdma_user_memory *memory;
	int ret = -ENOENT;

	query->part_key = 0;
	query->part_reach = 0;
	memset(&query->descriptor, 0, sizeof(query->descriptor));
	if (!query->key_count)
		return 0;

	rcu_read_lock();
	memory = krdma_user_memory_find(session, query->id);
	if (memory)
		ret = krdma_memory_query_part(memory->region, query);
	rcu_read_unlock();

	return ret;
}

/**
 * krdma_user_memory_query - KRDMA_MEMORY_QUERY
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_memory_query(struct krdma_user_request *request)
{
	struct krdma_memory_query *query = &request->buffer->memory_query;
	struct krdma_region_info info;
	int ret;

	if (query->flags)
		return -EOPNOTSUPP;
	ret = krdma_user_memory_look(request->session, query->id, &info, &query->device_id);
	if (ret)
		return ret;

	if (query->part_offset >= info.length)
		return -ERANGE;
	if (!krdma_region_info_has(&info, query->part_offset, query->part_length))
		return -ERANGE;

	query->access = info.access;
	query->addr = info.addr;
	query->length = info.length;
	query->remote_addr = info.remote_addr;
	query->remote_key = info.remote_key;
	query->key_count = info.key_count;
	ret = krdma_memory_query_describe(request->session, query);
	return ret ? ret : krdma_request_respond(request);
}

/**
 * krdma_user_memory_advise - KRDMA_MEMORY_ADVISE
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_memory_advise(struct krdma_user_request *request)
{
	const struct krdma_memory_advise *in = &request->buffer->memory_advise;
	struct krdma_region_info info;
	u32 device_id;
	int ret;

	if (in->flags)
		return -EOPNOTSUPP;
	if (in->advice != KRDMA_ADVICE_READ && in->advice != KRDMA_ADVICE_WRITE)
		return -EINVAL;

	ret = krdma_user_memory_look(request->session, in->id, &info, &device_id);
	if (ret)
		return ret;
	if (!krdma_region_info_has(&info, in->offset, in->length))
		return -ERANGE;
	if (in->advice == KRDMA_ADVICE_WRITE && !(info.access & KRDMA_ACCESS_LOCAL_WRITE))
		return -EACCES;
	return 0;
}

/**
 * krdma_user_memory_end - the end of a session's memory
 * @session: the session, which has no file and no object any more
 *
 * Does not wait for devices.
 *
 * Context: process context; may sleep.
 */
void krdma_user_memory_end(struct krdma_user_session *session)
{
	struct krdma_user_memory *memory;
	unsigned long id;
	bool closed;

	/* An owner may end at the same time, and be first. */
	xa_for_each(&session->memory, id, memory) {
		memory = krdma_user_owner_take(session, id, true, &closed);
		if (IS_ERR(memory))
			continue;
		krdma_region_drop(memory->region);
		krdma_user_memory_put(memory);
		cond_resched();
	}
	krdma_user_owner_forget(session);
	xa_destroy(&session->memory);
}
