/* SPDX-License-Identifier: GPL-2.0 */
/* Keys of MRs in other PDs. */
#ifndef _KRDMA_VIEW_H
#define _KRDMA_VIEW_H

#include <linux/list.h>
#include <linux/types.h>

struct krdma_mem;
struct krdma_mr;
struct krdma_pd;

/**
 * struct krdma_mr_view - a key of an MR in another PD
 * @node: entry of the MR's list
 * @mr: the MR, with a reference to its device part
 * @pd: the PD of the key, with a reference; NULL: none yet
 * @mem: the key, and no pages; NULL: none yet
 * @addr: first address that the key covers
 * @length: bytes
 * @rkey: the key
 * @access: rights of peers
 * @charged: bytes charged to the session of the MR
 * @revoke: called when the MR is to end, which waits for krdma_mr_view_end().  In any context
 *	but NMI, with the lock of the PD's tree; more than once.
 */
struct krdma_mr_view {
	struct list_head node;
	struct krdma_mr *mr;
	struct krdma_pd *pd;
	struct krdma_mem *mem;
	u64 addr;
	u64 length;
	u32 rkey;
	u32 access;
	u64 charged;
	void (*revoke)(struct krdma_mr_view *view);
};

int krdma_mr_view_begin(struct krdma_mr_view *view, struct krdma_pd *of, u32 rkey);
int krdma_mr_view_register(struct krdma_mr_view *view, struct krdma_pd *pd);
void krdma_mr_view_end(struct krdma_mr_view *view);
void krdma_mr_revoke_views(struct krdma_mr *mr);
bool krdma_mr_has_views(struct krdma_mr *mr);

#endif /* _KRDMA_VIEW_H */
