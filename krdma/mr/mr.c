// SPDX-License-Identifier: GPL-2.0
/*
 * Regions of memory.
 *
 * A region is in use from the moment that an operation is posted to the moment
 * that it has completed, and its memory is not let go in between: whoever wants
 * to is told that it is busy, or it is done when the last one has ended.  The
 * operations count twice: "uses" says whether any is in flight, so that release
 * can refuse, and the part's references keep the memory.
 *
 * The object is freed after RCU's grace period: who finds it under rcu_read_lock()
 * can post with it, and is told when it came too late.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "mr/desc.h"
#include "mr/mem.h"
#include "core/objects.h"
#include "core/quirks.h"
#include "mr/mr.h"
#include "core/resource.h"
#include "core/session.h"

/* What @uses is from the moment of the release: nobody gets in. */
#define KRDMA_USES_CLOSED	INT_MIN

static void krdma_mr_put(struct krdma_mr *mr)
{
	if (!refcount_dec_and_test(&mr->refs))
		return;
	krdma_device_put(mr->res.dev);
	krdma_session_put(mr->session);
	krdma_object_uncount(KRDMA_OBJECT_MR, mr);
	if (mr->keys)
		kvfree_rcu(mr->keys, rcu);
	kfree_rcu(mr, rcu);
}

static void krdma_mr_end_part(struct krdma_resource *resource)
{
	struct krdma_mr *mr = container_of(resource, struct krdma_mr, res);

	if (mr->mem)
		krdma_mem_release(mr->mem);
	if (mr->pd)
		krdma_pd_put(mr->pd);
	if (mr->ended)
		mr->ended(mr->context);
}

static void krdma_mr_forget_part(struct krdma_resource *resource)
{
	krdma_mr_put(container_of(resource, struct krdma_mr, res));
}

static void krdma_mr_revoke_work(struct work_struct *work)
{
	struct krdma_mr *mr = container_of(work, struct krdma_mr, revoke);

	krdma_mem_revoke(mr->mem);
	krdma_resource_put(&mr->res);
}

/*
 * An empty region on a device, with the references of consumer, part and maker,
 * for krdma_mr_finish() in any case.
 */
static struct krdma_mr *krdma_mr_begin(struct krdma_session *session,
				       struct krdma_device *dev, u64 addr, u64 length,
				       u32 access)
{
	struct krdma_mr *mr;
	int ret;

	might_sleep();

	if (!length || addr + length < addr)
		return ERR_PTR(-EINVAL);
	ret = krdma_access_check(dev, access);
	if (ret)
		return ERR_PTR(ret);
	if (length > krdma_device_limits(dev)->max_mr_size)
		return ERR_PTR(-EFBIG);

	mr = krdma_object_count(KRDMA_OBJECT_MR, kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT));
	if (!mr)
		return ERR_PTR(-ENOMEM);

	ret = krdma_resource_init(&mr->res, dev, krdma_mr_end_part,
				  krdma_mr_forget_part);
	if (ret) {
		kfree(krdma_object_uncount(KRDMA_OBJECT_MR, mr));
		return ERR_PTR(ret);
	}

	if (session->reclaim)
		krdma_resource_set_reclaim(&mr->res);
	refcount_set(&mr->refs, 2);
	atomic_set(&mr->uses, 0);
	INIT_WORK(&mr->revoke, krdma_mr_revoke_work);
	krdma_session_get(session);
	mr->session = session;
	krdma_device_get(dev);
	mr->access = access;
	mr->addr = addr;
	mr->peer_addr = addr;
	mr->length = length;
	return mr;
}

/* Its place in a domain, and what is to be filled with memory there. */
static int krdma_mr_enter_pd(struct krdma_mr *mr)
{
	struct krdma_pd *pd;

	pd = krdma_pd_get(mr->session, mr->res.dev);
	if (IS_ERR(pd))
		return PTR_ERR(pd);

	mr->pd = pd;
	mr->mem = krdma_mem_create(pd, mr->length, mr->access);
	return mr->mem ? 0 : -ENOMEM;
}

/* Whole, with its key: does the device see it in one place? */
static void krdma_mr_set_fast(struct krdma_mr *mr)
{
	const struct krdma_mem *mem = mr->mem;

	if (mr->by_key) {
		if (mr->keys)
			return;
		mr->fast_addr = mr->peer_addr;
		mr->fast_lkey = mr->lkey;
		mr->fast = true;
	} else if (mem->chunk_count == 1) {
		mr->fast_addr = mem->chunks[0].addr;
		mr->fast_lkey = mem->pd->ib->local_dma_lkey;
		mr->fast = true;
	}
}

/* Several keys outlive the registrations: they can be asked for until the region is gone. */
static int krdma_mr_note_keys(struct krdma_mr *mr)
{
	const struct krdma_mem *mem = mr->mem;
	bool remote = mr->access & KRDMA_ACCESS_REMOTE;
	struct krdma_mr_keys *keys;

	if (mem->mr_count == 1) {
		mr->lkey = mem->mrs->ib->lkey;
		mr->rkey = remote ? mem->mrs->ib->rkey : 0;
	}
	if (mem->mr_count <= 1)
		return 0;

	keys = kvzalloc(struct_size(keys, key, mem->mr_count), GFP_KERNEL_ACCOUNT);
	if (!keys)
		return -ENOMEM;
	keys->count = mem->mr_count;
	keys->span = mem->mr_span;
	for (unsigned int i = 0; i < keys->count; i++) {
		keys->key[i].local = mem->mrs[i].ib->lkey;
		keys->key[i].remote = remote ? mem->mrs[i].ib->rkey : 0;
	}
	mr->keys = keys;
	return 0;
}

/* Hands the region to the consumer, or ends it if making it failed. */
static struct krdma_mr *krdma_mr_finish(struct krdma_mr *mr, int error)
{
	if (!error)
		error = krdma_mr_note_keys(mr);
	if (error) {
		krdma_resource_put(&mr->res);
		/* The memory is the caller's again when the call returns. */
		krdma_resource_end(&mr->res);
		krdma_mr_put(mr);
		return ERR_PTR(error);
	}

	krdma_mr_set_fast(mr);
	krdma_resource_put(&mr->res);
	return mr;
}

/* Memory of the kernel needs a key for peers only, and for what only a key can do. */
static int krdma_mr_make_keys(struct krdma_mr *mr)
{
	struct ib_device *ibdev = mr->pd->ib->device;

	if (!(mr->access & KRDMA_ACCESS_REMOTE))
		return 0;

	mr->by_key = (mr->access & KRDMA_ACCESS_REMOTE_WRITE) &&
			 krdma_quirk_reads_by_key(ibdev);
	return krdma_mem_register(mr->mem, mr->peer_addr);
}

/**
 * krdma_mr_register - let a device use a buffer of the kernel
 * @session: whose region it is to be
 * @dev: the device
 * @buffer: the buffer, by kmalloc(), vmalloc(), or as pages; not on the stack.  It
 *	stays until krdma_mr_deregister() has succeeded, or after
 *	krdma_mr_drop() until every operation with it has completed.
 * @length: its length in bytes
 * @access: &enum krdma_access
 *
 * Local pieces of it are counted from its address; peers count from an address of
 * their own, see krdma_mr_query().
 *
 * Without remote rights, one operation can use as much of it as is in 128 places
 * for the device, which for vmalloc() is as many pages.
 *
 * With remote rights it gets a key that peers are told of, by krdma_mr_describe().
 * If it takes more pages than &struct krdma_limits.max_fast_reg_pages, it gets several
 * keys, each for a part of it: see krdma_mr_rkey_at().  The first such region of a
 * session on a device takes the time of making a queue pair, or on iWARP a connection.
 * On iWARP devices other than siw, the target of a read needs KRDMA_ACCESS_REMOTE_WRITE
 * besides KRDMA_ACCESS_LOCAL_WRITE.
 *
 * siw lets a peer that has the key read, whatever the rights.
 *
 * Release is no fence on siw: it may go on answering, from the buffer, a read
 * that a peer began before.  There, end connections before a buffer gets what
 * they must not see.
 *
 * Context: process context; may sleep.
 * Return: the region, for krdma_mr_deregister() or krdma_mr_drop(), or an
 * ERR_PTR:
 * -EINVAL: no such memory, length 0, unknown rights, or a peer may write what one
 *	may not write oneself;
 * -EOPNOTSUPP: the device has no atomics or no fast registration and the rights
 *	need it, or it reaches the buffer incoherently;
 * -EFBIG: too long, see &struct krdma_limits, or with remote rights more than 4096 keys;
 * -ENODEV: the device has been removed;
 * -EADDRNOTAVAIL: with remote rights: the device cannot be connected to itself, on no
 *	port: it has no GID, or as an iWARP device no network address;
 * -ETIMEDOUT: likewise: it does not answer;
 * -EDQUOT: the control group has as many registrations as it may;
 * -EINTR: with remote rights: the caller is being killed;
 * -ENOMEM, -ERESTARTSYS, -EIO.
 */
struct krdma_mr *krdma_mr_register(struct krdma_session *session, struct krdma_device *dev,
				   void *buffer, size_t length, u32 access)
{
	struct krdma_mr *mr;
	int ret;

	mr = krdma_mr_begin(session, dev, (uintptr_t)buffer, length, access);
	if (IS_ERR(mr))
		return mr;

	/*
	 * Where the kernel has its memory is no business of a peer's.  Nor is it at 0,
	 * which peers may take for none.
	 */
	mr->peer_addr = PAGE_SIZE + offset_in_page(buffer);
	ret = krdma_mr_enter_pd(mr);
	if (!ret)
		ret = krdma_mem_map_buffer(mr->mem, buffer);
	if (!ret)
		ret = krdma_mr_make_keys(mr);
	return krdma_mr_finish(mr, ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_register, "KRDMA");

/**
 * krdma_mr_register_sg - let a device use pages of the kernel
 * @session: whose region it is to be
 * @dev: the device
 * @sg: the pages, not mapped for DMA.  They stay as the buffer of
 *	krdma_mr_register() does; the list need not.
 * @entries: how many entries it has, none of them empty
 * @access: &enum krdma_access
 *
 * Local pieces are counted from the first entry's offset in its page, and peers count
 * from an address of their own: see krdma_mr_query().  With remote rights, all
 * entries but the first begin, and all but the last end, at a page's boundary.
 * Otherwise as krdma_mr_register().
 *
 * Context: process context; may sleep.
 * Return: as krdma_mr_register(); -EINVAL also for entries that do not meet.
 */
struct krdma_mr *krdma_mr_register_sg(struct krdma_session *session, struct krdma_device *dev,
				      struct scatterlist *sg, unsigned int entries, u32 access)
{
	struct krdma_mr *mr;
	struct scatterlist *entry;
	u64 length = 0;
	unsigned int i;
	int ret;

	if (!entries)
		return ERR_PTR(-EINVAL);
	for_each_sg(sg, entry, entries, i) {
		if (!entry->length)
			return ERR_PTR(-EINVAL);
		length += entry->length;
	}

	mr = krdma_mr_begin(session, dev, offset_in_page(sg->offset), length, access);
	if (IS_ERR(mr))
		return mr;

	/* Not at 0, as in krdma_mr_register(). */
	mr->peer_addr = PAGE_SIZE + mr->addr;
	ret = krdma_mr_enter_pd(mr);
	if (!ret)
		ret = krdma_mem_map_sg(mr->mem, sg, entries);
	if (!ret)
		ret = krdma_mr_make_keys(mr);
	return krdma_mr_finish(mr, ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_register_sg, "KRDMA");

/**
 * krdma_mr_register_user - let a device use the calling process's memory
 * @session: whose region it is to be
 * @dev: the device
 * @start: where it begins, an address of the process
 * @length: bytes
 * @access: &enum krdma_access
 *
 * The pages are pinned and count as locked memory of the process.  The region
 * stays with these pages: what the process maps at the address later is not
 * reached, and a child does not share them.  Pieces are counted from the
 * process's address.
 *
 * Where the provider cannot take a kernel caller, a region that takes more pages than
 * &struct krdma_limits.max_fast_reg_pages gets several keys: see krdma_mr_rkey_at().
 *
 * On siw, memory that peers may reach stays pinned and charged after its release
 * until all connections of the session on the device have ended, because the
 * device is not finished with it before.  Its key ends with the release.
 *
 * Context: process context of the process; may sleep.
 * Return: as krdma_mr_register(), and
 * -ESRCH: the caller has no process's memory;
 * -EFAULT: the memory is not all there, or not with these rights;
 * -ENOMEM, -EPERM: the process may not lock so much memory, or none;
 * -EAGAIN: the pages cannot be pinned now.
 */
struct krdma_mr *krdma_mr_register_user(struct krdma_session *session,
					struct krdma_device *dev, unsigned long start,
					size_t length, u32 access)
{
	struct krdma_mr *mr;
	int ret;

	if (!current->mm)
		return ERR_PTR(-ESRCH);

	mr = krdma_mr_begin(session, dev, start, length, access);
	if (IS_ERR(mr))
		return mr;

	mr->by_key = true;
	ret = krdma_mr_enter_pd(mr);
	if (!ret)
		ret = krdma_mem_map_user(mr->mem, start);
	return krdma_mr_finish(mr, ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_register_user, "KRDMA");

/**
 * krdma_mr_notify - say when memory has been let go
 * @mr: the region, just mapped, that nobody else knows of
 * @ended: called once, in process context, when no device reaches the memory any
 *	more; before krdma_mr_deregister() returns.  May sleep, but releases and
 *	removals wait for it.  The region is there, but not to be used.
 * @context: what it is given
 *
 * That is after its release or its drop, or when the device is removed, whatever
 * comes first.
 *
 * Context: process context.
 * Return: 0; or -ENODEV: the device has been removed, and @ended is not called.
 */
int krdma_mr_notify(struct krdma_mr *mr, void (*ended)(void *context),
		    void *context)
{
	if (!krdma_resource_tryget(&mr->res))
		return -ENODEV;
	mr->context = context;
	mr->ended = ended;
	krdma_resource_put(&mr->res);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_notify, "KRDMA");

/**
 * krdma_mr_close - nothing new may use memory
 * @mr: the region
 *
 * The first half of krdma_mr_deregister(), for those who have to know that it will
 * succeed before others may hear of it.  From here on operations with the region are
 * refused, and krdma_mr_deregister() succeeds and has to follow.
 *
 * Context: any.
 * Return: 0; or -EBUSY: operations with it are in flight, and nothing has changed.
 */
int krdma_mr_close(struct krdma_mr *mr)
{
	return atomic_cmpxchg(&mr->uses, 0, KRDMA_USES_CLOSED) ? -EBUSY : 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_close, "KRDMA");

/**
 * krdma_mr_deregister - take memory back
 * @mr: the region; if it succeeds, nothing may refer to it any more but who has
 *	found it under rcu_read_lock()
 *
 * When it has succeeded, the key means nothing and the memory is the caller's
 * again.  It succeeds after a removal of the device too, as soon as the
 * operations that it has ended are told of.
 *
 * Context: process context; sleeps until the device has let go.
 * Return: 0; or -EBUSY: operations with it are in flight, and nothing has
 * changed.
 */
int krdma_mr_deregister(struct krdma_mr *mr)
{
	int uses;

	might_sleep();

	uses = atomic_cmpxchg(&mr->uses, 0, KRDMA_USES_CLOSED);
	if (uses && uses != KRDMA_USES_CLOSED)
		return -EBUSY;

	krdma_resource_end(&mr->res);
	krdma_mr_put(mr);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_deregister, "KRDMA");

/**
 * krdma_mr_drop - take memory back when nothing uses it any more
 * @mr: the region; nothing new may refer to it but who has found it under
 *	rcu_read_lock(), and is refused
 *
 * Operations in flight go on.  When the last one has completed, the memory is
 * let go.  The peers' keys end before, and soon, unless operations in flight
 * need them themselves, as with a process's memory: then they end with the last of
 * these, for which ending their connections is the fast way.
 *
 * Context: any but NMI and hard interrupts; does not sleep.
 */
void krdma_mr_drop(struct krdma_mr *mr)
{
	bool revoke = (mr->access & KRDMA_ACCESS_REMOTE) && !mr->by_key &&
		      atomic_read(&mr->uses);

	/* The work's reference comes first: none is to be had after the drop. */
	if (revoke && krdma_resource_tryget(&mr->res))
		queue_work(krdma_workqueue, &mr->revoke);

	krdma_resource_drop(&mr->res);
	krdma_mr_put(mr);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_drop, "KRDMA");

/**
 * krdma_mr_query - what a region is
 * @mr: the region
 * @info: filled in
 *
 * Context: any.
 */
void krdma_mr_query(struct krdma_mr *mr, struct krdma_mr_info *info)
{
	*info = (struct krdma_mr_info) {
		.addr = mr->addr,
		.remote_addr = mr->peer_addr,
		.length = mr->length,
		.rkey = mr->rkey,
		.access = mr->access,
		.key_count = mr->access & KRDMA_ACCESS_REMOTE ?
			     (mr->keys ? mr->keys->count : 1) : 0,
	};
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_query, "KRDMA");

static bool krdma_mr_has(const struct krdma_mr *mr, u64 offset, u64 length)
{
	return offset <= mr->length && length <= mr->length - offset;
}

/* Which of several keys covers the byte at @offset, and how many from there on. */
static unsigned int krdma_mr_find_key(const struct krdma_mr *mr, u64 offset,
				      u64 *reach)
{
	u64 place = offset_in_page(mr->peer_addr) + offset;
	unsigned int i = div64_u64_rem(place, mr->keys->span, &place);

	*reach = min(mr->keys->span - place, mr->length - offset);
	return i;
}

/**
 * krdma_mr_rkey_at - the key that lets peers reach a place in a region
 * @mr: the region
 * @offset: bytes from its beginning
 * @key: filled in, unless it fails
 *
 * A region has one key, which covers all of it, unless it takes more pages than
 * &struct krdma_limits.max_fast_reg_pages.  Then it has several, all of them from its
 * making to its end, and each covers a part of it; the parts are beside each other.
 *
 * Context: any.
 * Return: 0, or
 * -EACCES: the region has no remote rights;
 * -ERANGE: not in the region.
 */
int krdma_mr_rkey_at(struct krdma_mr *mr, u64 offset, struct krdma_mr_rkey_range *key)
{
	u64 reach = mr->length - offset;
	u32 remote = mr->rkey;

	if (!(mr->access & KRDMA_ACCESS_REMOTE))
		return -EACCES;
	if (offset >= mr->length)
		return -ERANGE;
	if (mr->keys)
		remote = mr->keys->key[krdma_mr_find_key(mr, offset, &reach)].remote;

	*key = (struct krdma_mr_rkey_range) {
		.remote_addr = mr->peer_addr + offset,
		.length = reach,
		.rkey = remote,
	};
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_rkey_at, "KRDMA");

/* What the device is to be given, where several keys stand for the memory. */
static int krdma_mr_key_segments(const struct krdma_mr *mr, u64 offset, u32 length,
				 struct krdma_segment *segments, unsigned int room)
{
	unsigned int count = 0;

	while (length) {
		unsigned int i;
		u64 reach;
		u32 part;

		if (count == room)
			return -EMSGSIZE;
		i = krdma_mr_find_key(mr, offset, &reach);
		part = min_t(u64, length, reach);
		segments[count++] = (struct krdma_segment) {
			.addr = mr->peer_addr + offset,
			.length = part,
			.key = mr->keys->key[i].local,
		};
		offset += part;
		length -= part;
	}
	return count;
}

/**
 * krdma_mr_begin_use - an operation is about to use memory
 * @mr: the region; the caller keeps the object
 * @pd: where the operation is to be posted
 * @addr: where the memory begins, in the region's addresses
 * @length: bytes
 * @access: the rights that the operation needs; 0: it only reads the memory
 * @segments: filled in: what the device is to be given
 * @room: how many there is room for
 *
 * If it succeeds, also with 0 segments, the region is kept until
 * krdma_mr_end_use(), which comes once for each call.
 *
 * Context: any; no allocation, no sleep.
 * Return: the number of segments, 0 for @length 0; or
 * -EACCES: the region has no such right;
 * -ERANGE: the memory is not in the region;
 * -ESTALE: the region has been released;
 * -ENODEV: the device has been removed;
 * -EXDEV: the region is of another session or device;
 * -EMSGSIZE: it takes more than @room segments.
 */
int krdma_mr_begin_use(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr,
		       u32 length, u32 access, struct krdma_segment *segments,
		       unsigned int room)
{
	u64 offset = addr - mr->addr;
	int ret;

	if (!atomic_inc_unless_negative(&mr->uses))
		return -ESTALE;
	if (!krdma_resource_tryget(&mr->res)) {
		ret = krdma_resource_error(&mr->res) == -ENODEV ? -ENODEV : -ESTALE;
		atomic_dec(&mr->uses);
		return ret;
	}

	ret = -EXDEV;
	if (mr->pd != pd)
		goto err_end;
	ret = -EACCES;
	if (access & ~mr->access)
		goto err_end;
	ret = -ERANGE;
	if (addr < mr->addr || !krdma_mr_has(mr, offset, length))
		goto err_end;
	if (!length)
		return 0;

	if (!mr->by_key || mr->keys) {
		if (mr->by_key)
			ret = krdma_mr_key_segments(mr, offset, length, segments, room);
		else
			ret = krdma_mem_segments(mr->mem, offset, length, segments, room);
		if (ret < 0)
			goto err_end;
		return ret;
	}

	ret = -EMSGSIZE;
	if (!room)
		goto err_end;
	segments[0] = (struct krdma_segment) {
		.addr = mr->peer_addr + offset,
		.length = length,
		.key = mr->lkey,
	};
	return 1;

err_end:
	krdma_mr_end_use(mr);
	return ret;
}

/*
 * Descriptors
 */

/* Rights of both, side by side. */
static const struct {
	u32 access;
	u32 right;
} krdma_mr_rights[] = {
	{ KRDMA_ACCESS_REMOTE_READ, KRDMA_MR_DESC_READ },
	{ KRDMA_ACCESS_REMOTE_WRITE, KRDMA_MR_DESC_WRITE },
	{ KRDMA_ACCESS_REMOTE_ATOMIC, KRDMA_MR_DESC_ATOMIC },
};

/**
 * krdma_mr_describe - what to tell a peer of a region
 * @mr: the region
 * @offset: where the part begins that the peer is told of
 * @length: its length in bytes
 * @descriptor: filled in, unless it fails; KRDMA_MR_DESC_SIZE bytes, for a
 *	message
 *
 * The key lets a peer reach all that the key covers, which is the whole region unless it has
 * several keys, and not only the part that is described.
 *
 * Context: any.
 * Return: 0, or
 * -EACCES: the region has no remote rights;
 * -ERANGE: not in the region;
 * -EMSGSIZE: one key does not cover it: see krdma_mr_rkey_at();
 * -EINVAL: length 0.
 */
int krdma_mr_describe(struct krdma_mr *mr, u64 offset, u64 length, u8 *descriptor)
{
	struct krdma_mr_desc_fields plain = { .length = length };
	struct krdma_mr_rkey_range key;
	int ret;

	if (!(mr->access & KRDMA_ACCESS_REMOTE))
		return -EACCES;
	if (!krdma_mr_has(mr, offset, length))
		return -ERANGE;
	if (!length)
		return -EINVAL;
	ret = krdma_mr_rkey_at(mr, offset, &key);
	if (ret)
		return ret;
	if (length > key.length)
		return -EMSGSIZE;
	plain.addr = key.remote_addr;
	plain.key = key.rkey;

	for (unsigned int i = 0; i < ARRAY_SIZE(krdma_mr_rights); i++) {
		if (mr->access & krdma_mr_rights[i].access)
			plain.rights |= krdma_mr_rights[i].right;
	}
	return krdma_mr_desc_encode(&plain, descriptor);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_describe, "KRDMA");

/**
 * krdma_mr_desc_read - what a peer tells of its region
 * @descriptor: from a message; anything may be there
 * @size: how much of the message is there
 * @info: filled in, unless it fails; the access is what one may do there oneself,
 *	and the remote address is where
 *
 * Context: any.
 * Return: 0; -EPROTONOSUPPORT: a descriptor of another version; -EINVAL: none.
 */
int krdma_mr_desc_read(const u8 *descriptor, size_t size, struct krdma_mr_info *info)
{
	struct krdma_mr_desc_fields plain;
	int ret;

	ret = krdma_mr_desc_decode(descriptor, size, &plain);
	if (ret)
		return ret;

	*info = (struct krdma_mr_info) {
		.remote_addr = plain.addr,
		.length = plain.length,
		.rkey = plain.key,
	};
	for (unsigned int i = 0; i < ARRAY_SIZE(krdma_mr_rights); i++) {
		if (plain.rights & krdma_mr_rights[i].right)
			info->access |= krdma_mr_rights[i].access;
	}
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_desc_read, "KRDMA");
