// SPDX-License-Identifier: GPL-2.0
/*
 * The MRs that the entries of a ring may use.
 *
 * The descriptor of a ring can be passed to another process, whose entries use MRs by their ID in
 * the session: without a restriction, all MRs of the session, which are memory of the process
 * that passed the descriptor.  So a ring can be confined to a set of MRs first, permanently.
 *
 * IDs are used again, after a long time.  So a set has only MRs that were registered before it.
 *
 * The set is replaced under the ring's bind_lock and read under RCU.
 */
#include <linux/bsearch.h>
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "core/pure.h"
#include "user/confine.h"
#include "user/limits.h"
#include "user/mr.h"
#include "user/user.h"
#include "user/ring.h"

/**
 * struct krdma_user_confinement - the MRs that the entries of a ring may use
 * @rcu: for freeing
 * @last: the greatest &struct krdma_user_mr.serial of the session before them
 * @count: number of IDs
 * @ids: the IDs, ascending
 */
struct krdma_user_confinement {
	struct rcu_head rcu;
	u64 last;
	u32 count;
	u32 ids[] __counted_by(count);
};

static int krdma_user_compare_ids(const void *one, const void *other)
{
	u32 a = *(const u32 *)one;
	u32 b = *(const u32 *)other;

	return a < b ? -1 : a > b;
}

static bool krdma_user_confinement_has_id(const struct krdma_user_confinement *confinement, u32 id)
{
	return bsearch(&id, confinement->ids, confinement->count, sizeof(id),
		       krdma_user_compare_ids);
}

/**
 * krdma_user_confinement_has() - Check whether entries may use an MR
 * @confinement: the set of the ring
 * @umr: the MR
 *
 * Context: under rcu_read_lock(), which keeps @confinement and @umr valid.
 * Return: true if the MR is in the set.
 */
bool krdma_user_confinement_has(const struct krdma_user_confinement *confinement,
				const struct krdma_user_mr *umr)
{
	return umr->serial <= confinement->last &&
	       krdma_user_confinement_has_id(confinement, umr->id);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_user_confinement_has);

/* Bytes to charge for a set: what kmalloc() takes for it, which vmalloc() does not exceed. */
static u64 krdma_user_confinement_bytes(u32 count)
{
	struct krdma_user_confinement *confinement;

	return roundup_pow_of_two(struct_size(confinement, ids, count));
}

/* Sorts IDs and drops duplicates.  Returns how many are left. */
static u32 krdma_user_confinement_sort(u32 *ids, u32 count)
{
	u32 left = 0;

	sort(ids, count, sizeof(*ids), krdma_user_compare_ids, NULL);
	for (u32 i = 0; i < count; i++) {
		if (!left || ids[left - 1] != ids[i])
			ids[left++] = ids[i];
	}
	return left;
}

/* Each ID must be that of an MR of the session at this moment. */
static bool krdma_user_confinement_exists(struct krdma_user_session *session, const u32 *ids,
					  u32 count, u64 last)
{
	const struct krdma_user_mr *umr;
	bool found = true;

	rcu_read_lock();
	for (u32 i = 0; i < count && found; i++) {
		umr = krdma_user_mr_find(session, ids[i]);
		found = umr && umr->serial <= last;
	}
	rcu_read_unlock();
	return found;
}

/**
 * krdma_user_confinement_create() - Create a set
 * @ids: IDs of the MRs, ascending
 * @count: number of @ids
 * @last: the greatest &struct krdma_user_mr.serial of the session, before the IDs were looked up
 *
 * Context: process context; may sleep.
 * Return: the set, or ERR_PTR of -ENOMEM.
 */
struct krdma_user_confinement *krdma_user_confinement_create(const u32 *ids, u32 count, u64 last)
{
	struct krdma_user_confinement *confinement;

	confinement = kvmalloc(struct_size(confinement, ids, count),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!confinement)
		return ERR_PTR(-ENOMEM);
	confinement->last = last;
	confinement->count = count;
	memcpy(confinement->ids, ids, array_size(count, sizeof(*ids)));
	return confinement;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_user_confinement_create);

static struct krdma_user_confinement *
krdma_user_confinement_read(struct krdma_user_session *session,
			    const struct krdma_ring_confine_args *in)
{
	size_t size = array_size(in->count, sizeof(u32));
	struct krdma_user_confinement *confinement;
	u32 *ids, count;
	u64 last;

	ids = kvmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!ids)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(ids, u64_to_user_ptr(in->mr), size)) {
		kvfree(ids);
		return ERR_PTR(-EFAULT);
	}
	count = krdma_user_confinement_sort(ids, in->count);
	/*
	 * Whatever gets one of the IDs later gets it when the MR that is found here is gone, and
	 * its serial after that.
	 */
	last = atomic64_read(&session->mrs_made);
	/* Pairs with the increment in krdma_user_mr_reserve(). */
	smp_rmb();
	if (krdma_user_confinement_exists(session, ids, count, last))
		confinement = krdma_user_confinement_create(ids, count, last);
	else
		confinement = ERR_PTR(-ENOENT);
	kvfree(ids);
	return confinement;
}

static bool krdma_user_confinement_is_within(const struct krdma_user_confinement *inner,
					     const struct krdma_user_confinement *outer)
{
	for (u32 i = 0; i < inner->count; i++) {
		if (!krdma_user_confinement_has_id(outer, inner->ids[i]))
			return false;
	}
	return true;
}

/*
 * The first set of a ring is charged.  A further one is within it, needs no more, and takes over
 * its charge: a program can take rights away at its limit, too.
 */
static int krdma_user_confinement_charge(struct krdma_user_session *session,
					 const struct krdma_user_confinement *made,
					 const struct krdma_user_confinement *old)
{
	if (!old)
		return krdma_user_account_charge(session->account, KRDMA_ACCOUNT_MEMORY,
						 krdma_user_confinement_bytes(made->count));
	if (!krdma_user_confinement_is_within(made, old))
		return -EPERM;
	krdma_user_account_uncharge(session->account, KRDMA_ACCOUNT_MEMORY,
				    krdma_user_confinement_bytes(old->count) -
				    krdma_user_confinement_bytes(made->count));
	return 0;
}

/**
 * krdma_user_ring_confine() - Handle KRDMA_RING_CONFINE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_ring.h>.
 */
int krdma_user_ring_confine(struct krdma_ucmd *ucmd)
{
	const struct krdma_ring_confine_args *in = &ucmd->buffer->ring_confine;
	struct krdma_user_ring *ring = ucmd->ring;
	struct krdma_user_confinement *made, *old;
	int ret;

	if (in->flags || in->reserved)
		return -EOPNOTSUPP;
	if (in->count > KRDMA_CONFINE_MAX)
		return -E2BIG;

	made = krdma_user_confinement_read(ring->session, in);
	if (IS_ERR(made))
		return PTR_ERR(made);

	mutex_lock(&ring->bind_lock);
	old = rcu_dereference_protected(ring->confinement, lockdep_is_held(&ring->bind_lock));
	ret = krdma_user_confinement_charge(ring->session, made, old);
	if (!ret) {
		/* The same ID can be that of a later MR by now. */
		if (old)
			made->last = min(made->last, old->last);
		rcu_assign_pointer(ring->confinement, made);
	}
	mutex_unlock(&ring->bind_lock);

	if (ret)
		kvfree(made);
	else if (old)
		kvfree_rcu(old, rcu);
	return ret;
}

/**
 * krdma_user_ring_unconfine() - Free the set of a ring
 * @ring: the ring, without references; with its session, if it has a set
 *
 * Context: process context; may sleep.
 */
void krdma_user_ring_unconfine(struct krdma_user_ring *ring)
{
	struct krdma_user_confinement *confinement;

	/* A call that posts has a reference to the ring, so none is reading the set. */
	confinement = rcu_dereference_protected(ring->confinement, true);
	if (!confinement)
		return;
	krdma_user_account_uncharge(ring->session->account, KRDMA_ACCOUNT_MEMORY,
				    krdma_user_confinement_bytes(confinement->count));
	kvfree(confinement);
}
