// SPDX-License-Identifier: GPL-2.0
/*
 * Keys of MRs in other PDs.
 *
 * A peer of a lane has an rkey of the PD of the lane's session, and the link of its trunk is a QP
 * of another PD.  A view is a second key for what one such rkey covers: the same DMA addresses,
 * registered in the PD of the link.
 *
 * A view keeps the device part of its MR, so the memory stays as long as any device knows the key.
 * Dropping the MR has its views revoked, and the last one that is destroyed lets it end.
 */
#include <linux/err.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "core/session.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "mr/reach.h"
#include "mr/view.h"

/*
 * A view that is added after the MR was dropped would not be revoked.  krdma_mr_drop() queues its
 * work item before: this closes the reach of the MR, and then revokes the rkeys, which other MRs
 * may get, if there is no view.
 */
static int krdma_mr_view_add(struct krdma_mr_view *view)
{
	struct krdma_mr *mr = view->mr;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&mr->pd->reach_lock, flags);
	ret = mr->reaches ? krdma_resource_error(&mr->res) : -ESHUTDOWN;
	if (!ret)
		list_add_tail(&view->node, &mr->views);
	spin_unlock_irqrestore(&mr->pd->reach_lock, flags);
	return ret;
}

/* What the rkey covers. */
static void krdma_mr_view_set_range(struct krdma_mr_view *view, u32 rkey)
{
	const struct krdma_mr *mr = view->mr;
	const struct krdma_mr_keys *keys = mr->keys;
	unsigned int offset = offset_in_page(mr->peer_addr);
	unsigned int i = 0;
	u64 first = 0;

	view->length = mr->length;
	if (keys) {
		while (i + 1 < keys->count && keys->key[i].remote != rkey)
			i++;
		/* The first one covers less, by the offset of the MR in its page. */
		if (i)
			first = keys->span * i - offset;
		view->length = min(keys->span - (i ? 0 : offset), mr->length - first);
	}
	view->addr = mr->peer_addr + first;
	view->access = mr->access & KRDMA_ACCESS_REMOTE;
}

/**
 * krdma_mr_view_begin() - Begin a view of what an rkey covers, without a key
 * @view: with @revoke, and otherwise filled in
 * @of: the PD of the rkey
 * @rkey: the rkey, not trusted
 *
 * Context: any but NMI; no allocation, no sleep.
 * Return: 0, for krdma_mr_view_end(); -ENOENT: there is no MR with the rkey, or it allows no
 * windows; or it is about to end.
 */
int krdma_mr_view_begin(struct krdma_mr_view *view, struct krdma_pd *of, u32 rkey)
{
	struct krdma_mr *mr;

	mr = krdma_mr_find_reach(of, rkey);
	if (!mr)
		return -ENOENT;
	view->mr = mr;
	view->pd = NULL;
	view->mem = NULL;
	view->charged = 0;
	krdma_mr_view_set_range(view, rkey);
	if (READ_ONCE(mr->windows) && !krdma_mr_view_add(view))
		return 0;
	krdma_mr_leave(mr);
	return -ENOENT;
}

/* What a device keeps for a key: at least an address for each page. */
static u64 krdma_mr_view_bytes(const struct krdma_mr_view *view)
{
	u64 pages = (offset_in_page(view->addr) + view->length + PAGE_SIZE - 1) >> PAGE_SHIFT;

	return sizeof(*view->mem) + pages * sizeof(u64);
}

/* The owner of the memory pays, because it has allowed the peer to ask for the key. */
static int krdma_mr_view_charge(struct krdma_mr_view *view)
{
	u64 bytes = krdma_mr_view_bytes(view);
	int ret = krdma_session_charge(view->mr->pd->session, bytes);

	if (!ret)
		view->charged = bytes;
	return ret;
}

/**
 * krdma_mr_view_register() - Register a view
 * @view: the view, without a key
 * @pd: the PD of the key, of the same device; takes over the caller's reference, also after an
 *	error.  The caller keeps its session until the view ends.
 *
 * Context: process context; sleeps until the device has executed it.
 * Return: 0; an errno of krdma_session_charge(); or as krdma_mem_register().
 */
int krdma_mr_view_register(struct krdma_mr_view *view, struct krdma_pd *pd)
{
	const struct krdma_mr *mr = view->mr;
	struct krdma_mem *mem;
	int ret;

	view->pd = pd;
	ret = krdma_mr_view_charge(view);
	if (ret)
		return ret;
	/* Devices want the local right beside the remote one. */
	mem = krdma_mem_create_view(pd, mr->mem, view->addr - mr->peer_addr, view->length,
				    view->access | (mr->access & KRDMA_ACCESS_LOCAL_WRITE),
				    view->addr);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	view->mem = mem;
	view->rkey = mem->one.ib->rkey;
	return 0;
}

/**
 * krdma_mr_view_end() - End a view, and its key
 * @view: the view; no peer uses its key any more, or may use it
 *
 * Context: process context; sleeps until the device has executed it.
 */
void krdma_mr_view_end(struct krdma_mr_view *view)
{
	struct krdma_mr *mr = view->mr;
	unsigned long flags;

	/* A key that the device still knows keeps the pages, as one of the MR itself would. */
	if (view->mem && !krdma_mem_release(view->mem))
		WRITE_ONCE(mr->mem->stuck, true);
	/* Before the MR, which keeps the device: it may be all that does. */
	if (view->pd)
		krdma_pd_put(view->pd);
	krdma_session_uncharge(mr->pd->session, view->charged);
	spin_lock_irqsave(&mr->pd->reach_lock, flags);
	list_del(&view->node);
	spin_unlock_irqrestore(&mr->pd->reach_lock, flags);
	krdma_mr_leave(mr);
}

/**
 * krdma_mr_revoke_views() - Have all views of an MR destroyed
 * @mr: the MR, which was dropped, so that there are no further ones
 *
 * Context: any but NMI; does not sleep.
 */
void krdma_mr_revoke_views(struct krdma_mr *mr)
{
	struct krdma_mr_view *view;
	unsigned long flags;

	spin_lock_irqsave(&mr->pd->reach_lock, flags);
	list_for_each_entry(view, &mr->views, node)
		view->revoke(view);
	spin_unlock_irqrestore(&mr->pd->reach_lock, flags);
}

/**
 * krdma_mr_has_views() - Check whether an MR has views
 * @mr: the MR, which was dropped
 *
 * Context: any but NMI.
 * Return: whether there are any left.
 */
bool krdma_mr_has_views(struct krdma_mr *mr)
{
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&mr->pd->reach_lock, flags);
	found = !list_empty(&mr->views);
	spin_unlock_irqrestore(&mr->pd->reach_lock, flags);
	return found;
}
