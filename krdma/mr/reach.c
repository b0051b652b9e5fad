// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions that peers of lanes access by their rkeys: the processor copies for them.
 *
 * A PD has a tree of the rkeys of its MRs.  An access takes a reference to the device part of the
 * MR, which it gets only while the MR is not dropped, and only for the time of one copy.  So no
 * peer can keep an MR from being deregistered, and nothing of it is accessed once that has
 * returned.  The device may give a key to another MR as soon as the memory is released, so the keys
 * leave the tree before.
 *
 * MRs of a list of pages are not in the tree: the way to a byte at their end is long.
 */
#include <linux/atomic.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "core/session.h"
#include "mr/copy.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "mr/name.h"
#include "mr/reach.h"

/**
 * struct krdma_reach - an rkey in the tree of its PD
 * @node: entry of the tree
 * @rkey: the key
 * @mr: its MR
 */
struct krdma_reach {
	struct rb_node node;
	u32 rkey;
	struct krdma_mr *mr;
};

/**
 * struct krdma_reaches - the rkeys of an MR in the tree of its PD
 * @count: number of keys
 * @key: the keys
 */
struct krdma_reaches {
	unsigned int count;
	struct krdma_reach key[] __counted_by(count);
};

static bool krdma_reach_less(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct krdma_reach, node)->rkey <
	       rb_entry(other, struct krdma_reach, node)->rkey;
}

static int krdma_reach_compare(const void *rkey, const struct rb_node *node)
{
	u32 other = rb_entry(node, struct krdma_reach, node)->rkey;

	return *(const u32 *)rkey < other ? -1 : *(const u32 *)rkey > other;
}

/**
 * krdma_mr_open_reach() - Let peers of lanes access an MR
 * @mr: the MR, with its keys, and not visible to others yet
 *
 * Nothing is done for an MR without remote rights, or with memory that is not copied.
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_mr_open_reach(struct krdma_mr *mr)
{
	unsigned int count = mr->keys ? mr->keys->count : 1;
	struct krdma_pd *pd = mr->pd;
	struct krdma_reaches *reaches;
	unsigned long flags;

	if (!(mr->access & KRDMA_ACCESS_REMOTE) || (!mr->buffer && !mr->mem->pages))
		return 0;
	reaches = kvzalloc(struct_size(reaches, key, count), GFP_KERNEL_ACCOUNT);
	if (!reaches)
		return -ENOMEM;
	reaches->count = count;
	for (unsigned int i = 0; i < count; i++) {
		struct krdma_reach *reach = &reaches->key[i];

		reach->rkey = mr->keys ? mr->keys->key[i].remote : mr->rkey;
		reach->mr = mr;
		spin_lock_irqsave(&pd->reach_lock, flags);
		rb_add(&reach->node, &pd->reaches, krdma_reach_less);
		spin_unlock_irqrestore(&pd->reach_lock, flags);
		cond_resched();
	}
	mr->reaches = reaches;
	return 0;
}

/**
 * krdma_mr_close_reach() - Undo krdma_mr_open_reach()
 * @mr: the MR, which ends, with its keys: its device part has no references, or the caller has one
 *
 * Context: process context; may sleep; never two calls at a time.  Nothing is done the second time.
 */
void krdma_mr_close_reach(struct krdma_mr *mr)
{
	struct krdma_reaches *reaches = mr->reaches;
	struct krdma_pd *pd = mr->pd;
	struct krdma_mr_name *name;
	unsigned long flags;

	if (!reaches)
		return;
	spin_lock_irqsave(&pd->reach_lock, flags);
	name = krdma_mr_unname(mr);
	spin_unlock_irqrestore(&pd->reach_lock, flags);
	kfree(name);
	for (unsigned int i = 0; i < reaches->count; i++) {
		spin_lock_irqsave(&pd->reach_lock, flags);
		rb_erase(&reaches->key[i].node, &pd->reaches);
		spin_unlock_irqrestore(&pd->reach_lock, flags);
		cond_resched();
	}
	kvfree(reaches);
}

/**
 * krdma_mr_find_reach() - Find an MR by a key of peers
 * @pd: the PD of the lane
 * @rkey: the peer's key, not trusted
 *
 * Context: any but NMI.
 * Return: the MR, for krdma_mr_leave(), or NULL.
 */
struct krdma_mr *krdma_mr_find_reach(struct krdma_pd *pd, u32 rkey)
{
	struct krdma_mr *mr = NULL;
	struct rb_node *node;
	unsigned long flags;

	spin_lock_irqsave(&pd->reach_lock, flags);
	node = rb_find(&rkey, &pd->reaches, krdma_reach_compare);
	if (node)
		mr = rb_entry(node, struct krdma_reach, node)->mr;
	/* Not tryget: its put, of an MR that is just dropped, would be called under the lock. */
	if (mr && (krdma_resource_error(&mr->res) || !krdma_resource_keep(&mr->res)))
		mr = NULL;
	spin_unlock_irqrestore(&pd->reach_lock, flags);
	return mr;
}

/* Does one key, which is @rkey, cover the range? */
static bool krdma_reach_covers(struct krdma_mr *mr, u32 rkey, u64 addr, u32 length)
{
	struct krdma_mr_rkey_range range;

	/* For an address before the first one, the offset wraps to a value beyond the length. */
	if (krdma_mr_rkey_at(mr, addr - mr->peer_addr, &range))
		return false;
	return range.rkey == rkey && length <= range.length;
}

/**
 * krdma_mr_reach() - Begin to access memory for a peer
 * @pd: the PD of the lane; NULL: nothing is found
 * @rkey: the peer's key
 * @addr: start of the memory, in the peer's address space of the MR; not trusted, like @rkey
 * @length: bytes, at least 1
 * @access: the remote right that the operation needs
 *
 * Context: any but NMI; no allocation, no sleep.
 * Return: the MR, which stays, with its memory, until krdma_mr_leave(); or NULL: the peer may not
 * do that.
 */
struct krdma_mr *krdma_mr_reach(struct krdma_pd *pd, u32 rkey, u64 addr, u32 length, u32 access)
{
	struct krdma_mr *mr = pd ? krdma_mr_find_reach(pd, rkey) : NULL;

	if (!mr)
		return NULL;
	/* It may have been dropped just before the reference was taken. */
	if (!krdma_resource_error(&mr->res) && !(access & ~mr->access) &&
	    krdma_reach_covers(mr, rkey, addr, length))
		return mr;
	krdma_mr_leave(mr);
	return NULL;
}

/* Calls @modify for the 8 bytes at @addr, and returns what that returns. */
static u64 krdma_reach_word(struct krdma_mr *mr, u64 addr,
			    u64 (*modify)(atomic64_t *word, u64 operand, u64 swap),
			    u64 operand, u64 swap)
{
	u64 offset = addr - mr->peer_addr;
	struct page *page;
	char *mapped;
	u64 result;

	if (mr->buffer)
		return modify(mr->buffer + offset, operand, swap);

	offset += offset_in_page(mr->peer_addr);
	page = mr->mem->pages[offset >> PAGE_SHIFT];
	mapped = kmap_local_page(page);
	result = modify((atomic64_t *)(mapped + offset_in_page(offset)), operand, swap);
	flush_dcache_page(page);
	kunmap_local(mapped);
	return result;
}

static u64 krdma_word_compare_swap(atomic64_t *word, u64 operand, u64 swap)
{
	return atomic64_cmpxchg(word, operand, swap);
}

static u64 krdma_word_add(atomic64_t *word, u64 operand, u64 swap)
{
	return atomic64_fetch_add(operand, word);
}

static u64 krdma_word_set(atomic64_t *word, u64 operand, u64 swap)
{
	/* After earlier writes, for a thread that waits for this word. */
	atomic64_set_release(word, operand);
	return 0;
}

static u64 krdma_word_read(atomic64_t *word, u64 operand, u64 swap)
{
	return atomic64_read(word);
}

/**
 * krdma_mr_reach_atomic() - Carry out an atomic operation for a peer
 * @mr: from krdma_mr_reach(), for 8 bytes
 * @addr: their address, aligned
 * @add: add @operand; otherwise, set @swap if the value is @operand
 * @operand: see @add
 * @swap: see @add
 *
 * Atomic towards other lanes, and towards processors that have 64-bit atomics; not towards the
 * device.
 *
 * Context: any but NMI.
 * Return: the value before.
 */
u64 krdma_mr_reach_atomic(struct krdma_mr *mr, u64 addr, bool add, u64 operand, u64 swap)
{
	return krdma_reach_word(mr, addr, add ? krdma_word_add : krdma_word_compare_swap, operand,
				swap);
}

/**
 * krdma_mr_reach_write() - Write memory for a peer
 * @mr: from krdma_mr_reach()
 * @addr: start of the memory
 * @from: where the bytes come from
 * @length: bytes
 *
 * 8 aligned bytes are written at once: see KRDMA_OP_ATOMIC_WRITE.
 *
 * Context: any but NMI.
 */
void krdma_mr_reach_write(struct krdma_mr *mr, u64 addr, const void *from, u32 length)
{
	u64 word;

	if (length == sizeof(word) && IS_ALIGNED(addr, sizeof(word))) {
		memcpy(&word, from, sizeof(word));
		krdma_reach_word(mr, addr, krdma_word_set, word, 0);
	} else {
		krdma_mr_copy_to(mr, mr->addr + (addr - mr->peer_addr), from, length);
	}
}

/**
 * krdma_mr_reach_read() - Read memory for a peer
 * @mr: from krdma_mr_reach()
 * @addr: start of the memory
 * @to: where the bytes go
 * @length: bytes
 *
 * 8 aligned bytes are read at once.
 *
 * Context: any but NMI.
 */
void krdma_mr_reach_read(struct krdma_mr *mr, u64 addr, void *to, u32 length)
{
	u64 word;

	if (length == sizeof(word) && IS_ALIGNED(addr, sizeof(word))) {
		word = krdma_reach_word(mr, addr, krdma_word_read, 0, 0);
		memcpy(to, &word, sizeof(word));
	} else {
		krdma_mr_copy_from(mr, mr->addr + (addr - mr->peer_addr), to, length);
	}
}
