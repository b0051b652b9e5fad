// SPDX-License-Identifier: GPL-2.0
/*
 * Names of memory regions, by which the peers of lanes find them.
 *
 * A PD has a tree of the names of its MRs.  Only an MR that peers of lanes can access has a name:
 * its keys are in the tree of mr/reach.c, under the same lock, and its name leaves its tree before
 * they do.  An MR in the tree exists.  It may be dropped already.  Then it is not found any more,
 * and another MR can have its name.
 */
#include <linux/err.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <linux/krdma.h>

#include "core/session.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "mr/name.h"

/**
 * struct krdma_mr_name - the name of an MR
 * @node: entry of the tree
 * @mr: the MR
 * @name: the name, with a terminating zero
 */
struct krdma_mr_name {
	struct rb_node node;
	struct krdma_mr *mr;
	char name[KRDMA_NAME_MAX];
};

static bool krdma_mr_name_less(struct rb_node *node, const struct rb_node *other)
{
	return strcmp(rb_entry(node, struct krdma_mr_name, node)->name,
		      rb_entry(other, struct krdma_mr_name, node)->name) < 0;
}

static int krdma_mr_name_compare(const void *name, const struct rb_node *node)
{
	return strcmp(name, rb_entry(node, struct krdma_mr_name, node)->name);
}

/* Under the lock of the tree.  NULL: no MR has the name. */
static struct krdma_mr_name *krdma_mr_name_find(struct krdma_pd *pd, const char *name)
{
	struct rb_node *node;

	lockdep_assert_held(&pd->reach_lock);

	node = rb_find(name, &pd->names, krdma_mr_name_compare);
	return node ? rb_entry(node, struct krdma_mr_name, node) : NULL;
}

/* Under the lock of the tree.  Returns the name, for kfree(), or NULL. */
static struct krdma_mr_name *krdma_mr_name_erase(struct krdma_mr *mr)
{
	struct krdma_mr_name *name = mr->name;

	lockdep_assert_held(&mr->pd->reach_lock);

	if (name)
		rb_erase(&name->node, &mr->pd->names);
	mr->name = NULL;
	return name;
}

/**
 * krdma_mr_name_alloc() - Allocate a name for krdma_mr_rename()
 * @name: the name; empty: the MR is to have none
 *
 * Context: process context; may sleep.
 * Return: the name; NULL for an empty one; or ERR_PTR of -EINVAL: too long; -ENOMEM.
 */
struct krdma_mr_name *krdma_mr_name_alloc(const char *name)
{
	struct krdma_mr_name *made;

	if (!*name)
		return NULL;
	if (strnlen(name, KRDMA_NAME_MAX) == KRDMA_NAME_MAX)
		return ERR_PTR(-EINVAL);
	made = kzalloc_obj(*made, GFP_KERNEL_ACCOUNT);
	if (!made)
		return ERR_PTR(-ENOMEM);
	strscpy(made->name, name, sizeof(made->name));
	return made;
}

/* The same as krdma_mr_rename(), under the lock; @former is set to a name for kfree(), or NULL. */
static int krdma_mr_rename_locked(struct krdma_mr *mr, struct krdma_mr_name *name,
				  struct krdma_mr_name **former)
{
	struct krdma_mr_name *other;

	/* Peers cannot access it, or not any more. */
	if (!mr->reaches)
		return -EACCES;
	other = name ? krdma_mr_name_find(mr->pd, name->name) : NULL;
	if (other && other->mr != mr) {
		if (!krdma_resource_error(&other->mr->res))
			return -EEXIST;
		*former = krdma_mr_name_erase(other->mr);
		/* Otherwise there are two names to free. */
		if (mr->name)
			return -EAGAIN;
	} else {
		*former = krdma_mr_name_erase(mr);
	}
	if (!name)
		return 0;
	name->mr = mr;
	mr->name = name;
	rb_add(&name->node, &mr->pd->names, krdma_mr_name_less);
	return 0;
}

/**
 * krdma_mr_rename() - Give an MR a name instead of the one that it has
 * @mr: the MR; the caller may have found it under rcu_read_lock()
 * @name: of krdma_mr_name_alloc(); belongs to the MR, or is freed
 *
 * Context: any but NMI.
 * Return: as krdma_mr_set_name().
 */
int krdma_mr_rename(struct krdma_mr *mr, struct krdma_mr_name *name)
{
	struct krdma_mr_name *former;
	unsigned long flags;
	int ret;

	if (!krdma_resource_tryget(&mr->res)) {
		kfree(name);
		return krdma_resource_error(&mr->res) ?: -ESHUTDOWN;
	}
	do {
		former = NULL;
		spin_lock_irqsave(&mr->pd->reach_lock, flags);
		ret = krdma_mr_rename_locked(mr, name, &former);
		spin_unlock_irqrestore(&mr->pd->reach_lock, flags);
		kfree(former);
	} while (ret == -EAGAIN);
	/* It may have been dropped meanwhile. */
	if (ret == -EACCES)
		ret = krdma_resource_error(&mr->res) ?: ret;
	krdma_resource_put(&mr->res);
	if (ret)
		kfree(name);
	return ret;
}

/**
 * krdma_mr_set_name() - Name an MR for the peers of lanes
 * @mr: the MR
 * @name: the name, at most 63 bytes; NULL or empty: the MR has no name any more
 *
 * The peer of a lane of the MR's session finds the MR by its name, with krdma_conn_find_mr(), gets
 * its rkey, and so can access the memory with the remote rights of the MR.  An MR has one name at
 * most.  The name ends with the MR: a peer does not find it any more when krdma_mr_drop() or
 * krdma_mr_deregister() has returned.
 *
 * Context: process context; may sleep.
 * Return: 0, or
 * -EEXIST: another MR of the session and the device has the name;
 * -EACCES: peers of lanes cannot access the MR: it has no remote rights, or is one of a list of
 * pages, or of a process and not for lanes;
 * -EINVAL: the name is too long;
 * -ESHUTDOWN: it has been dropped; -ENODEV: its device has been removed; -ENOMEM.
 */
int krdma_mr_set_name(struct krdma_mr *mr, const char *name)
{
	struct krdma_mr_name *made;

	might_sleep();

	made = krdma_mr_name_alloc(name ?: "");
	return IS_ERR(made) ? PTR_ERR(made) : krdma_mr_rename(mr, made);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_set_name, "KRDMA");

/**
 * krdma_mr_unname() - The keys of an MR leave the tree of its PD, so its name ends
 * @mr: the MR; no name is given to it any more
 *
 * Context: any but NMI, with the lock of the tree held.
 * Return: the name, for kfree() without the lock, or NULL.
 */
struct krdma_mr_name *krdma_mr_unname(struct krdma_mr *mr)
{
	mr->reaches = NULL;
	return krdma_mr_name_erase(mr);
}

/**
 * krdma_mr_find_named() - Find an MR for a peer
 * @pd: the PD of the lane; NULL: nothing is found
 * @name: the name; not trusted
 * @offset: bytes from the start of the MR
 * @found: filled in on success; beyond the end of the MR, only @found->length is not 0
 *
 * Context: any but NMI.
 * Return: true if there is one.
 */
bool krdma_mr_find_named(struct krdma_pd *pd, const char *name, u64 offset,
			 struct krdma_found_mr *found)
{
	struct krdma_mr_rkey_range range = {};
	struct krdma_mr_name *named;
	struct krdma_mr *mr = NULL;
	unsigned long flags;

	if (!pd)
		return false;
	spin_lock_irqsave(&pd->reach_lock, flags);
	named = krdma_mr_name_find(pd, name);
	if (named && !krdma_resource_error(&named->mr->res))
		mr = named->mr;
	if (mr) {
		/* It has remote rights. */
		krdma_mr_rkey_at(mr, offset, &range);
		*found = (struct krdma_found_mr) {
			.remote_addr = range.remote_addr,
			.length = mr->length,
			.reach = range.length,
			.rkey = range.rkey,
			.access = range.length ? mr->access & KRDMA_ACCESS_REMOTE : 0,
		};
	}
	spin_unlock_irqrestore(&pd->reach_lock, flags);
	return mr;
}
