// SPDX-License-Identifier: GPL-2.0
/*
 * MRs of programs: their ioctls, and their IDs.
 *
 * An MR has three references: one of its ID, which keeps the core's MR for callers that find it by
 * the ID; one until the core's MR has ended, because until then its owner waits for it; and one
 * until the memory is freed, because until then it is charged.  That can be long after the end, and
 * the core's MR can end first, with its device.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "io/budget.h"
#include "core/objects.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "mr/name.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/mm.h"
#include "user/mr.h"
#include "user/user.h"

/* All access rights that this module knows. */
#define KRDMA_USER_ACCESS	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |	\
				 KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)

#define KRDMA_USER_MR_FLAGS	(KRDMA_MR_REGISTER_LANES | KRDMA_MR_REGISTER_WINDOWS)

/**
 * krdma_user_mr_begin() - Initialize the MRs of a session
 * @session: the session, new
 *
 * Context: any.
 */
void krdma_user_mr_begin(struct krdma_user_session *session)
{
	xa_init_flags(&session->mrs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	session->mrs_next = 1;
}

/**
 * krdma_user_mr_put() - Drop a reference to an MR
 * @umr: the MR; before the last reference is dropped, its ID has been removed, the core's MR has
 *	ended, and its memory is freed
 *
 * Context: process context.
 */
void krdma_user_mr_put(struct krdma_user_mr *umr)
{
	if (!refcount_dec_and_test(&umr->refs))
		return;

	krdma_user_mm_leave(umr);
	krdma_user_account_put(umr->account);
	krdma_object_uncount(KRDMA_OBJECT_USER_MR, umr);
	kfree_rcu(umr, rcu);
}

static void krdma_user_mr_uncharge(struct krdma_user_mr *umr)
{
	krdma_user_account_uncharge(umr->account, KRDMA_ACCOUNT_MEMORY,
				    umr->charged + umr->cost);
}

/* Callbacks for krdma_mr_notify(). */
static void krdma_user_mr_ended(void *context)
{
	struct krdma_user_mr *umr = context;

	krdma_user_mm_ended(umr);
	krdma_user_mr_put(umr);
}

static void krdma_user_mr_freed(void *context)
{
	struct krdma_user_mr *umr = context;

	krdma_user_mr_uncharge(umr);
	krdma_user_mr_put(umr);
}

/* Reserves an ID in the table. */
static int krdma_user_mr_reserve(struct krdma_user_mr *umr)
{
	struct krdma_user_session *session = umr->session;
	int ret;

	ret = xa_alloc_cyclic(&session->mrs, &umr->id, NULL, XA_LIMIT(1, INT_MAX),
			      &session->mrs_next, GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return -ENOMEM;
	/* When no other MR has the ID any more: see krdma_user_confinement_read(). */
	umr->serial = atomic64_inc_return(&session->mrs_made);
	return 0;
}

/* Whole pages are pinned, so whole pages are charged. */
static u64 krdma_user_mr_pages(const struct krdma_mr_register_args *in)
{
	return PAGE_ALIGN(offset_in_page(in->addr) + in->length);
}

/*
 * An MR of the calling process, charged, with an owner and a reserved ID, and without the core's
 * MR.
 */
static struct krdma_user_mr *krdma_user_mr_new(struct krdma_user_session *session,
					       const struct krdma_mr_register_args *in)
{
	struct krdma_user_mr *umr;
	int ret;

	umr = krdma_object_count(KRDMA_OBJECT_USER_MR, kzalloc_obj(*umr, GFP_KERNEL_ACCOUNT));
	if (!umr)
		return ERR_PTR(-ENOMEM);
	refcount_set(&umr->refs, 3);
	umr->device_id = in->device_id;
	umr->session = session;
	umr->account = session->account;
	umr->charged = krdma_user_mr_pages(in);
	umr->cost = krdma_budget_mr_bytes(umr->charged >> PAGE_SHIFT);
	/* The lists of the pages, and of their DMA addresses. */
	if (in->flags & KRDMA_MR_REGISTER_LANES)
		umr->cost += (umr->charged >> PAGE_SHIFT) *
			     (sizeof(struct page *) + sizeof(struct krdma_chunk));

	ret = krdma_user_mr_reserve(umr);
	if (ret)
		goto err_free;
	ret = krdma_user_account_charge(umr->account, KRDMA_ACCOUNT_MEMORY,
					umr->charged + umr->cost);
	if (ret)
		goto err_number;
	ret = krdma_user_mm_join(umr);
	if (ret)
		goto err_uncharge;

	krdma_user_account_get(umr->account);
	return umr;

err_uncharge:
	krdma_user_mr_uncharge(umr);
err_number:
	krdma_user_mr_remove(session, umr->id);
err_free:
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_MR, umr));
	return ERR_PTR(ret);
}

/* Undoes krdma_user_mr_new() when the core's MR has ended, or never existed. */
static void krdma_user_mr_discard(struct krdma_user_mr *umr)
{
	krdma_user_mr_remove(umr->session, umr->id);
	krdma_user_mr_put(umr);
}

static int krdma_user_mr_map(struct krdma_user_mr *umr, struct krdma_device *dev,
			     const struct krdma_mr_register_args *in)
{
	struct krdma_mr *mr;
	int ret;

	if (in->flags & KRDMA_MR_REGISTER_LANES)
		mr = krdma_mr_register_user_for_lanes(umr->session->core, dev, in->addr,
						      in->length, in->access);
	else
		mr = krdma_mr_register_user(umr->session->core, dev, in->addr, in->length,
					    in->access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);

	if (in->flags & KRDMA_MR_REGISTER_WINDOWS)
		krdma_mr_allow_windows(mr);
	ret = krdma_mr_notify(mr, krdma_user_mr_ended, krdma_user_mr_freed, umr);
	if (ret) {
		/* No work request has used it. */
		krdma_mr_deregister(mr);
		return ret;
	}
	umr->mr = mr;
	return 0;
}

static int krdma_mr_register_check(const struct krdma_mr_register_args *in)
{
	/* Access rights are flags: a later module may have more of them. */
	if ((in->flags & ~KRDMA_USER_MR_FLAGS) || (in->access & ~KRDMA_USER_ACCESS))
		return -EOPNOTSUPP;
	if (!in->length)
		return -EINVAL;
	if ((in->flags & KRDMA_MR_REGISTER_WINDOWS) && !(in->flags & KRDMA_MR_REGISTER_LANES))
		return -EINVAL;
	if (in->addr > ULONG_MAX || in->length > ULONG_MAX ||
	    !access_ok((void __user *)(unsigned long)in->addr, in->length))
		return -EFAULT;
	return 0;
}

/**
 * krdma_user_mr_register() - Handle KRDMA_MR_REGISTER
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_mr_register(struct krdma_ucmd *ucmd)
{
	struct krdma_mr_register_args *in = &ucmd->buffer->mr_register;
	struct krdma_user_session *session = ucmd->session;
	struct krdma_mr_info info;
	struct krdma_user_mr *umr;
	struct krdma_device *dev;
	int ret;

	ret = krdma_mr_register_check(in);
	if (ret)
		return ret;

	dev = krdma_device_get_by_id(session->net, in->device_id);
	if (!dev)
		return -ENODEV;
	umr = krdma_user_mr_new(session, in);
	if (IS_ERR(umr)) {
		ret = PTR_ERR(umr);
		goto out_dev;
	}
	ret = krdma_user_mr_map(umr, dev, in);
	if (ret) {
		krdma_user_mr_ended(umr);
		krdma_user_mr_freed(umr);
		krdma_user_mr_discard(umr);
		goto out_dev;
	}

	krdma_mr_query(umr->mr, &info);
	in->id = umr->id;
	in->rkey = info.rkey;
	in->remote_addr = info.remote_addr;
	ret = krdma_ucmd_respond(ucmd);
	if (ret) {
		/* It was not visible, so no work request has used it. */
		krdma_mr_deregister(umr->mr);
		krdma_user_mr_discard(umr);
		goto out_dev;
	}
	krdma_user_mm_number(umr);

out_dev:
	krdma_device_put(dev);
	return ret;
}

/**
 * krdma_user_mr_deregister() - Handle KRDMA_MR_DEREGISTER
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_mr_deregister(struct krdma_ucmd *ucmd)
{
	const struct krdma_mr_deregister_args *in = &ucmd->buffer->mr_deregister;
	struct krdma_user_mr *umr;
	bool closed;

	if ((in->flags & ~KRDMA_DEREGISTER_LATER) || in->reserved)
		return -EOPNOTSUPP;

	umr = krdma_user_mm_take(ucmd->session, in->id,
				 in->flags & KRDMA_DEREGISTER_LATER, &closed);
	if (IS_ERR(umr))
		return PTR_ERR(umr);

	if (closed)
		krdma_mr_deregister(umr->mr);
	else
		krdma_mr_drop(umr->mr);
	krdma_user_mr_put(umr);
	return 0;
}

/**
 * krdma_user_mr_find() - Find an MR by its ID
 * @session: the session
 * @id: the ID
 *
 * Context: under rcu_read_lock() or rcu_read_lock_bh(), until the end of which the MR, and the
 * core's MR, can be used.
 * Return: the MR or NULL.
 */
struct krdma_user_mr *krdma_user_mr_find(struct krdma_user_session *session, u32 id)
{
	return xa_load(&session->mrs, id);
}

static int krdma_user_mr_look(struct krdma_user_session *session, u32 id,
			      struct krdma_mr_info *info, u32 *device_id)
{
	struct krdma_user_mr *umr;

	rcu_read_lock();
	umr = krdma_user_mr_find(session, id);
	if (umr) {
		krdma_mr_query(umr->mr, info);
		*device_id = umr->device_id;
	}
	rcu_read_unlock();

	return umr ? 0 : -ENOENT;
}

static bool krdma_mr_info_has(const struct krdma_mr_info *info, u64 offset, u64 length)
{
	return offset <= info->length && length <= info->length - offset;
}

/* Fills in the part of the answer for a range, by krdma_mr_rkey_at() and krdma_mr_describe(). */
static int krdma_mr_query_part(struct krdma_mr *mr, struct krdma_mr_query_args *query)
{
	struct krdma_mr_rkey_range key;
	int ret;

	ret = krdma_mr_rkey_at(mr, query->part_offset, &key);
	if (ret)
		return ret;
	query->part_key = key.rkey;
	query->part_reach = key.length;
	return krdma_mr_describe(mr, query->part_offset,
				 query->part_length ?: key.length,
				 (u8 *)&query->descriptor);
}

static int krdma_mr_query_describe(struct krdma_user_session *session,
				   struct krdma_mr_query_args *query)
{
	struct krdma_user_mr *umr;
	int ret = -ENOENT;

	query->part_key = 0;
	query->part_reach = 0;
	memset(&query->descriptor, 0, sizeof(query->descriptor));
	if (!query->key_count)
		return 0;

	rcu_read_lock();
	umr = krdma_user_mr_find(session, query->id);
	if (umr)
		ret = krdma_mr_query_part(umr->mr, query);
	rcu_read_unlock();

	return ret;
}

/**
 * krdma_user_mr_query() - Handle KRDMA_MR_QUERY
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_mr_query(struct krdma_ucmd *ucmd)
{
	struct krdma_mr_query_args *query = &ucmd->buffer->mr_query;
	struct krdma_mr_info info;
	int ret;

	if (query->flags)
		return -EOPNOTSUPP;
	ret = krdma_user_mr_look(ucmd->session, query->id, &info, &query->device_id);
	if (ret)
		return ret;

	if (query->part_offset >= info.length)
		return -ERANGE;
	if (!krdma_mr_info_has(&info, query->part_offset, query->part_length))
		return -ERANGE;

	query->access = info.access;
	query->addr = info.addr;
	query->length = info.length;
	query->remote_addr = info.remote_addr;
	query->rkey = info.rkey;
	query->key_count = info.key_count;
	ret = krdma_mr_query_describe(ucmd->session, query);
	return ret ? ret : krdma_ucmd_respond(ucmd);
}

/**
 * krdma_user_mr_advise() - Handle KRDMA_MR_ADVISE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_mr_advise(struct krdma_ucmd *ucmd)
{
	const struct krdma_mr_advise_args *in = &ucmd->buffer->mr_advise;
	struct krdma_mr_info info;
	u32 device_id;
	int ret;

	if (in->flags)
		return -EOPNOTSUPP;
	if (in->advice != KRDMA_ADVICE_READ && in->advice != KRDMA_ADVICE_WRITE)
		return -EINVAL;

	ret = krdma_user_mr_look(ucmd->session, in->id, &info, &device_id);
	if (ret)
		return ret;
	if (!krdma_mr_info_has(&info, in->offset, in->length))
		return -ERANGE;
	if (in->advice == KRDMA_ADVICE_WRITE && !(info.access & KRDMA_ACCESS_LOCAL_WRITE))
		return -EACCES;
	return 0;
}

/**
 * krdma_user_mr_end() - End the MRs of a session
 * @session: the session, which has no file and no object any more
 *
 * Does not wait for devices.
 *
 * Context: process context; may sleep.
 */
void krdma_user_mr_end(struct krdma_user_session *session)
{
	struct krdma_user_mr *umr;
	unsigned long id;
	bool closed;

	/* An owner may end at the same time, and be first. */
	xa_for_each(&session->mrs, id, umr) {
		umr = krdma_user_mm_take(session, id, true, &closed);
		if (IS_ERR(umr))
			continue;
		krdma_mr_drop(umr->mr);
		krdma_user_mr_put(umr);
		cond_resched();
	}
	krdma_user_mm_forget(session);
	xa_destroy(&session->mrs);
}

/**
 * krdma_user_mr_set_name() - Handle KRDMA_MR_SET_NAME
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_mr_set_name(struct krdma_ucmd *ucmd)
{
	const struct krdma_mr_set_name_args *in = &ucmd->buffer->mr_set_name;
	struct krdma_mr_name *name;
	struct krdma_user_mr *umr;
	int ret;

	if (in->flags || in->reserved)
		return -EOPNOTSUPP;
	if (!krdma_user_name_is_whole(in->name))
		return -EINVAL;
	name = krdma_mr_name_alloc(in->name);
	if (IS_ERR(name))
		return PTR_ERR(name);

	rcu_read_lock();
	umr = krdma_user_mr_find(ucmd->session, in->id);
	if (umr) {
		ret = krdma_mr_rename(umr->mr, name);
	} else {
		kfree(name);
		ret = -ENOENT;
	}
	rcu_read_unlock();
	/* Another caller has just deregistered it. */
	return ret == -ESHUTDOWN ? -ENOENT : ret;
}
