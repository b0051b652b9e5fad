// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions (MRs).
 *
 * An MR is in use from the moment that a work request with it is posted to the moment that the
 * work request completes.  Its memory is not released in between: krdma_mr_deregister() fails
 * with -EBUSY, and krdma_mr_drop() releases the memory after the last completion.  One counter
 * does both: "uses" says whether any work request is in flight, and as long as one is, the owner's
 * reference to the device part is not put, so that the memory stays.
 *
 * The object is freed after RCU's grace period: a caller that finds it under rcu_read_lock()
 * can post with it, and gets an error if it is already deregistered.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "core/device.h"
#include "mr/desc.h"
#include "mr/mem.h"
#include "mr/mem_user.h"
#include "mr/reach.h"
#include "mr/view.h"
#include "core/objects.h"
#include "core/quirks.h"
#include "mr/mr.h"
#include "core/resource.h"
#include "core/session.h"

/**
 * krdma_mr_put() - Put a reference to the object of an MR
 * @mr: the MR
 *
 * Context: any but NMI and hard interrupts; does not sleep.
 */
void krdma_mr_put(struct krdma_mr *mr)
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

	krdma_mr_close_reach(mr);
	if (mr->mem)
		mr->stuck = !krdma_mem_release(mr->mem);
	if (mr->pd)
		krdma_pd_put(mr->pd);
	if (mr->ended)
		mr->ended(mr->context);
}

static void krdma_mr_forget_part(struct krdma_resource *resource)
{
	krdma_mr_put(container_of(resource, struct krdma_mr, res));
}

static int krdma_mr_check(struct krdma_device *dev, u64 addr, u64 length, u32 access)
{
	int ret;

	if (!length || addr + length < addr)
		return -EINVAL;
	ret = krdma_access_check(dev, access);
	if (ret)
		return ret;
	return length > krdma_device_limits(dev)->max_mr_size ? -EFBIG : 0;
}

/* The owner's reference is put by the last use that there is at this moment. */
static bool krdma_mr_close_part(struct krdma_resource *resource)
{
	struct krdma_mr *mr = container_of(resource, struct krdma_mr, res);

	if (READ_ONCE(mr->windows))
		krdma_mr_revoke_views(mr);
	/* Either this sees a use, or the end of the use sees that it is closed. */
	return !(atomic_fetch_or(KRDMA_USES_CLOSED, &mr->uses) & ~KRDMA_USES_CLOSED);
}

static void krdma_mr_revoke_work(struct work_struct *work)
{
	struct krdma_mr *mr = container_of(work, struct krdma_mr, revoke);

	krdma_mr_close_reach(mr);
	/* A peer that knows a window by an rkey must not meet another MR with the same one. */
	if (!krdma_mr_has_views(mr))
		krdma_mem_revoke(mr->mem);
	krdma_resource_put(&mr->res);
}

/*
 * Create an MR without memory on a device, with the references of consumer, device part and
 * creator.  krdma_mr_finish() must follow in any case.
 */
static struct krdma_mr *krdma_mr_begin(struct krdma_session *session,
				       struct krdma_device *dev, u64 addr, u64 length,
				       u32 access)
{
	struct krdma_mr *mr;
	int ret;

	might_sleep();

	ret = krdma_mr_check(dev, addr, length, access);
	if (ret)
		return ERR_PTR(ret);

	mr = krdma_object_count(KRDMA_OBJECT_MR, kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT));
	if (!mr)
		return ERR_PTR(-ENOMEM);

	atomic_set(&mr->uses, 0);
	mr->res.close = krdma_mr_close_part;
	ret = krdma_resource_init(&mr->res, dev, krdma_mr_end_part,
				  krdma_mr_forget_part);
	if (ret) {
		kfree(krdma_object_uncount(KRDMA_OBJECT_MR, mr));
		return ERR_PTR(ret);
	}

	if (session->reclaim)
		krdma_resource_set_reclaim(&mr->res);
	else
		krdma_resource_set_turns(&mr->res, session);
	refcount_set(&mr->refs, 2);
	INIT_LIST_HEAD(&mr->views);
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

/* Get the PD, and create the krdma_mem to fill in there. */
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

/* The MR is complete, with its keys: enable the fast path if one SGE covers all of it. */
static void krdma_mr_set_fast(struct krdma_mr *mr)
{
	const struct krdma_mem *mem = mr->mem;

	if (mr->by_key) {
		if (mr->keys)
			return;
		mr->fast_addr = mr->peer_addr;
		mr->fast_lkey = mr->lkey;
		mr->fast_pd = mr->pd;
	} else if (mem->chunk_count == 1) {
		mr->fast_addr = mem->chunks[0].addr;
		mr->fast_lkey = mem->pd->ib->local_dma_lkey;
		mr->fast_pd = mr->pd;
	}
}

/* Copy several keys, because they can be queried until the MR is gone, after the ib_mrs. */
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

/* Return the MR to the consumer, or destroy it after an error. */
static struct krdma_mr *krdma_mr_finish(struct krdma_mr *mr, int error)
{
	if (!error)
		error = krdma_mr_note_keys(mr) ?: krdma_mr_open_reach(mr);
	if (error) {
		if (mr->mem)
			mr->mem->unknown = true;
		krdma_resource_put(&mr->res);
		/* The caller gets the memory back when the call returns, so wait. */
		krdma_resource_end(&mr->res);
		krdma_mr_put(mr);
		return ERR_PTR(error);
	}

	krdma_mr_set_fast(mr);
	krdma_pd_keep(mr->pd);
	krdma_resource_put(&mr->res);
	return mr;
}

/* Kernel memory needs an rkey only for peers, and for device operations that require one. */
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
 * krdma_mr_register() - Register a kernel buffer for a device
 * @session: the session of the MR
 * @dev: the device
 * @buffer: the buffer, from kmalloc(), vmalloc(), or pages; not on the stack.  It stays
 *	allocated until krdma_mr_deregister() has succeeded; or after krdma_mr_drop() until
 *	every work request with it has completed, and with remote rights until the callback
 *	@freed of krdma_mr_notify(): until then peers can access it.
 * @length: bytes
 * @access: &enum krdma_access
 *
 * Local SGEs use the buffer's address; peers use a separate remote address, see
 * krdma_mr_query().
 *
 * Without remote rights, a work request can use at most 128 ranges with contiguous DMA
 * addresses, which for vmalloc() are as many pages.
 *
 * With remote rights the MR gets an rkey, which krdma_mr_describe() puts into a memory
 * descriptor for peers.  If the buffer takes more pages than
 * &struct krdma_limits.max_fast_reg_pages, the MR gets several rkeys, each for a part of it:
 * see krdma_mr_rkey_at().  The first MR of a session on a device with remote rights takes the
 * time to create a queue pair, or on iWARP to establish a connection.  On iWARP devices other
 * than siw, the local memory of a read needs KRDMA_ACCESS_REMOTE_WRITE in addition to
 * KRDMA_ACCESS_LOCAL_WRITE.
 *
 * siw lets a peer that has the rkey read, whatever the rights.
 *
 * Deregistration is no fence on siw: siw may continue to answer, from the buffer, a read that a
 * peer has started before.  On siw, end the connections before the buffer gets contents that
 * their peers must not see.
 *
 * Context: process context; may sleep.
 * Return: the MR, to be released by krdma_mr_deregister() or krdma_mr_drop(), or an ERR_PTR:
 * -EINVAL: no such memory, length 0, unknown rights, or a remote write or atomic right without
 * the local write right;
 * -EOPNOTSUPP: the device lacks atomics or fast registration and the rights need it, or it
 * accesses the buffer incoherently;
 * -EFBIG: too long, see &struct krdma_limits, or with remote rights more than 4096 rkeys;
 * -ENODEV: the device was removed;
 * -EADDRNOTAVAIL: with remote rights: the device cannot be connected to itself on any port: it
 * has no GID, or as an iWARP device no network address;
 * -ETIMEDOUT: with remote rights: the device does not answer;
 * -EDQUOT: the control group has reached its limit of MRs;
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
	 * A peer need not know the kernel's address.  Nor does the range start at 0, which
	 * peers may take for no address.
	 */
	mr->peer_addr = PAGE_SIZE + offset_in_page(buffer);
	mr->buffer = buffer;
	ret = krdma_mr_enter_pd(mr);
	if (!ret)
		ret = krdma_mem_map_buffer(mr->mem, buffer);
	if (!ret)
		ret = krdma_mr_make_keys(mr);
	return krdma_mr_finish(mr, ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_register, "KRDMA");

/**
 * krdma_mr_register_sg() - Register pages of the kernel for a device
 * @session: the session of the MR
 * @dev: the device
 * @sg: the pages, not mapped for DMA.  They stay allocated as the buffer of krdma_mr_register()
 *	does; the list need not.
 * @entries: number of entries of @sg, none of them empty
 * @access: &enum krdma_access
 *
 * Local SGEs start at the first entry's offset in its page, and peers use a separate remote
 * address: see krdma_mr_query().  With remote rights, all entries but the first begin, and all
 * but the last end, at a page boundary.  Otherwise as krdma_mr_register().
 *
 * Context: process context; may sleep.
 * Return: as krdma_mr_register(); -EINVAL also for entries that do not meet at page boundaries.
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

	/* Not 0, as in krdma_mr_register(). */
	mr->peer_addr = PAGE_SIZE + mr->addr;
	ret = krdma_mr_enter_pd(mr);
	if (!ret)
		ret = krdma_mem_map_sg(mr->mem, sg, entries);
	if (!ret)
		ret = krdma_mr_make_keys(mr);
	return krdma_mr_finish(mr, ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_register_sg, "KRDMA");

/* Registers pages of the calling process, which are there. */
static struct krdma_mr *krdma_mr_create_of(struct krdma_session *session,
					   struct krdma_device *dev, unsigned long start,
					   size_t length, u32 access,
					   struct krdma_user_pages *user)
{
	struct krdma_mr *mr;
	int ret;

	mr = krdma_mr_begin(session, dev, start, length, access);
	if (IS_ERR(mr))
		return mr;

	mr->by_key = true;
	ret = krdma_mr_enter_pd(mr);
	if (!ret)
		ret = krdma_mem_map_user(mr->mem, start, user);
	return krdma_mr_finish(mr, ret);
}

static struct krdma_mr *krdma_mr_create_user(struct krdma_session *session,
					     struct krdma_device *dev, unsigned long start,
					     size_t length, u32 access, bool copied)
{
	struct krdma_user_pages user = {};
	struct krdma_mr *mr;
	int ret;

	if (!current->mm)
		return ERR_PTR(-ESRCH);

	ret = krdma_mr_check(dev, start, length, access);
	if (ret)
		return ERR_PTR(ret);

	/* First of all: from krdma_mr_begin() on, the removal of the device waits for this call. */
	ret = krdma_user_pages_get(&user, dev, start, length, access, copied);
	mr = ret ? ERR_PTR(ret) :
		   krdma_mr_create_of(session, dev, start, length, access, &user);
	krdma_user_pages_put(&user);
	return mr;
}

/**
 * krdma_mr_register_user() - Register memory of the calling process for a device
 * @session: the session of the MR
 * @dev: the device
 * @start: start address in the process
 * @length: bytes
 * @access: &enum krdma_access
 *
 * The pages are pinned and count as locked memory of the process.  The MR keeps these pages: it
 * does not include pages that the process maps at the address later, and a child does not share
 * it.  Local and remote addresses are the process's addresses.
 *
 * If the provider does not support a kernel caller, an MR that takes more pages than
 * &struct krdma_limits.max_fast_reg_pages gets several rkeys: see krdma_mr_rkey_at().
 *
 * The process decides how long it takes to bring its pages in.  The removal of the device does not
 * wait for that.
 *
 * On siw, memory that peers may access stays pinned and charged after deregistration until all
 * connections of the session on the device have ended, because the device may use it until
 * then.  Its rkey ends with deregistration.
 *
 * Context: process context of the process; may sleep.
 * Return: as krdma_mr_register(), and
 * -ESRCH: the caller has no address space of a process;
 * -EFAULT: part of the range is not mapped, or lacks the rights;
 * -ENOMEM, -EPERM: the process may not lock as much memory, or none;
 * -EAGAIN: the pages cannot be pinned now.
 */
struct krdma_mr *krdma_mr_register_user(struct krdma_session *session,
					struct krdma_device *dev, unsigned long start,
					size_t length, u32 access)
{
	return krdma_mr_create_user(session, dev, start, length, access, false);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_register_user, "KRDMA");

/**
 * krdma_mr_register_user_for_lanes() - Register memory of the calling process, also for lanes
 * @session: the session of the MR
 * @dev: the device
 * @start: start address in the process
 * @length: bytes
 * @access: &enum krdma_access
 *
 * Lanes copy messages, and plain connections use the device, so the memory serves both.  krdma pins
 * it itself, whatever the provider supports; so an MR can have several rkeys, as described at
 * krdma_mr_register_user().
 *
 * Context: process context of the process; may sleep.
 * Return: as krdma_mr_register_user(); -EOPNOTSUPP: the device has no fast registration.
 */
struct krdma_mr *krdma_mr_register_user_for_lanes(struct krdma_session *session,
						  struct krdma_device *dev, unsigned long start,
						  size_t length, u32 access)
{
	return krdma_mr_create_user(session, dev, start, length, access, true);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_register_user_for_lanes, "KRDMA");

/**
 * krdma_mr_allow_windows() - Let devices of peers' hosts access an MR over lanes
 * @mr: the MR, with remote rights, just registered and not visible to others yet
 *
 * Otherwise the processors of both hosts carry out what peers of lanes ask for, and check each
 * access.  With this, the host of a peer may get a key of the device for all of the MR that one
 * rkey covers, and its kernel checks what its programs ask for.  Writes and reads are then as fast
 * as those of a plain connection.  krdma_mr_deregister() waits until that host says that nothing
 * is in flight; if it does not answer in time, its lanes end.
 *
 * Unlike that of a plain connection, the end of a lane does not end the access: the peer's device
 * may still carry out what is in flight, and its host has the key until it has given that back, or
 * as long as another lane to that host has the window.  Only krdma_mr_deregister() ends it: call
 * that before the memory is used for anything else.
 *
 * Nothing changes for memory that lanes do not access, and on iWARP devices.
 *
 * Context: any.
 */
void krdma_mr_allow_windows(struct krdma_mr *mr)
{
	/* A peer may have guessed its rkey already. */
	WRITE_ONCE(mr->windows, mr->reaches);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_allow_windows, "KRDMA");

/**
 * krdma_mr_notify() - Set callbacks for the release of an MR's memory
 * @mr: the MR, just registered and not visible to others yet
 * @ended: called once, in process context, when the memory is released: no work request and no
 *	peer can begin to use it any more; before krdma_mr_deregister() returns.  May sleep, but
 *	deregistration and device removal wait for it.  The MR still exists, but must not be used.
 * @freed: called once, in process context, when no device accesses the memory any more and its
 *	pages are unpinned: before @ended, or for memory of a process on siw when the connections
 *	have ended that may still use it.  Not called for kernel memory of which
 *	krdma_mr_deregister() returns -EIO.  May sleep, as @ended, but must not call krdma.
 * @context: argument of both
 *
 * The memory is released after krdma_mr_deregister() or krdma_mr_drop(), or when the device is
 * removed, whichever comes first.
 *
 * Context: process context.
 * Return: 0; or -ENODEV: the device was removed, and neither is called.
 */
int krdma_mr_notify(struct krdma_mr *mr, void (*ended)(void *context),
		    void (*freed)(void *context), void *context)
{
	if (!krdma_resource_tryget(&mr->res))
		return -ENODEV;
	mr->mem->context = context;
	mr->mem->freed = freed;
	mr->context = context;
	mr->ended = ended;
	krdma_resource_put(&mr->res);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_notify, "KRDMA");

/**
 * krdma_mr_close() - Refuse new uses of an MR
 * @mr: the MR
 *
 * The first half of krdma_mr_deregister(), for callers that have to know that deregistration
 * will succeed before they make it visible to others.  From then on work requests with the MR
 * are refused, and krdma_mr_deregister() ends the MR and has to follow.  An MR of a device that has
 * been removed is closed already, and this succeeds, too.
 *
 * Context: any.
 * Return: 0; or -EBUSY: work requests with it are in flight, and nothing has changed.
 */
int krdma_mr_close(struct krdma_mr *mr)
{
	int uses = atomic_cmpxchg(&mr->uses, 0, KRDMA_USES_CLOSED);

	/* A removal of the device has closed it already. */
	return uses && uses != KRDMA_USES_CLOSED ? -EBUSY : 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_close, "KRDMA");

/**
 * krdma_mr_deregister() - Deregister an MR
 * @mr: the MR; after success only callers that have found it under rcu_read_lock() may refer to
 *	it
 *
 * After success the rkey is invalid and the caller owns the memory again.  After a removal of
 * the device it succeeds too, as soon as the work requests that the removal has flushed are
 * completed to the consumer.
 *
 * A device that is being reset, or whose firmware does not answer, may fail to end an rkey.
 *
 * Context: process context; sleeps until the device has released the memory.
 * Return: 0;
 * -EBUSY: work requests with it are in flight, and nothing has changed;
 * -EIO: the MR has ended, but its device may still do what peers with the rkey send: never free
 * the memory or use it for anything else.
 */
int krdma_mr_deregister(struct krdma_mr *mr)
{
	int ret;

	might_sleep();

	ret = krdma_mr_close(mr);
	if (ret)
		return ret;

	krdma_resource_end(&mr->res);
	ret = mr->stuck ? -EIO : 0;
	krdma_mr_put(mr);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_deregister, "KRDMA");

/**
 * krdma_mr_drop() - Deregister an MR as soon as no work request uses it
 * @mr: the MR; only callers that have found it under rcu_read_lock() may refer to it, and they
 *	are refused
 *
 * Work requests in flight continue.  When the last one has completed, the memory is released.
 * The peers' rkeys end earlier, and soon, unless work requests in flight need the keys
 * themselves, as with memory of a process, or peers have windows.  In that case the rkeys end with
 * the last of these work requests; the caller can speed this up by ending their connections.
 *
 * Context: any but NMI and hard interrupts; does not sleep.
 */
void krdma_mr_drop(struct krdma_mr *mr)
{
	bool revoke = (mr->access & KRDMA_ACCESS_REMOTE) && !mr->by_key &&
		      atomic_read(&mr->uses);

	/* Get the work's reference first: there is none after the drop. */
	if (revoke && krdma_resource_tryget(&mr->res))
		queue_work(krdma_workqueue, &mr->revoke);

	krdma_resource_drop(&mr->res);
	krdma_mr_put(mr);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_drop, "KRDMA");

/**
 * krdma_mr_query() - Query an MR
 * @mr: the MR
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

/* Find the key that covers the byte at @offset, and the bytes that it covers from there on. */
static unsigned int krdma_mr_find_key(const struct krdma_mr *mr, u64 offset,
				      u64 *reach)
{
	u64 place = offset_in_page(mr->peer_addr) + offset;
	unsigned int i = div64_u64_rem(place, mr->keys->span, &place);

	*reach = min(mr->keys->span - place, mr->length - offset);
	return i;
}

/**
 * krdma_mr_rkey_at() - Get the rkey that covers a position in an MR
 * @mr: the MR
 * @offset: bytes from the start of the MR
 * @key: filled in on success
 *
 * An MR has one rkey, which covers all of it, unless it takes more pages than
 * &struct krdma_limits.max_fast_reg_pages.  Then it has several, all of them from registration
 * to deregistration.  Each covers a part of the MR, and the parts are adjacent.
 *
 * Context: any.
 * Return: 0, or
 * -EACCES: the MR has no remote rights;
 * -ERANGE: not in the MR.
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

/* Build the device SGEs for an MR with several keys. */
static int krdma_mr_key_sges(const struct krdma_mr *mr, u64 offset, u32 length,
			     struct ib_sge *ib_sges, unsigned int room)
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
		ib_sges[count++] = (struct ib_sge) {
			.addr = mr->peer_addr + offset,
			.length = part,
			.lkey = mr->keys->key[i].local,
		};
		offset += part;
		length -= part;
	}
	return count;
}

/**
 * krdma_mr_begin_range() - Begin to use an MR, if a range is in it, with these rights
 * @mr: the MR; the caller keeps the object
 * @pd: the PD of the session
 * @addr: start of the range, in the MR's address space
 * @length: bytes
 * @access: the rights that the operation needs
 *
 * Context: any; no allocation, no sleep.
 * Return: 0, for krdma_mr_end_use(), or as krdma_mr_begin_use().
 */
int krdma_mr_begin_range(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr, u64 length,
			 u32 access)
{
	int ret;

	if (!atomic_inc_unless_negative(&mr->uses))
		return krdma_resource_error(&mr->res) == -ENODEV ? -ENODEV : -ESTALE;

	ret = -EXDEV;
	if (mr->pd != pd)
		goto err_end;
	ret = -EACCES;
	if (access & ~mr->access)
		goto err_end;
	ret = -ERANGE;
	if (addr < mr->addr || !krdma_mr_has(mr, addr - mr->addr, length))
		goto err_end;
	return 0;

err_end:
	krdma_mr_end_use(mr);
	return ret;
}

/**
 * krdma_mr_get_range() - Check a range of an MR for many work requests, and keep the object
 * @mr: the MR; the caller keeps the object
 * @pd: the PD of the QP to post on
 * @addr: start of the range, in the MR's address space
 * @length: bytes
 * @access: the rights that the operation needs
 *
 * Each work request still begins a use of its own.  After success, with 0, krdma_mr_put() must be
 * called; until then the MR may be deregistered, and then no use can begin.
 *
 * Context: any but NMI.
 * Return: 0, or as krdma_mr_begin_use().
 */
int krdma_mr_get_range(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr, u64 length,
		       u32 access)
{
	int ret;

	ret = krdma_mr_begin_range(mr, pd, addr, length, access);
	if (ret)
		return ret;
	/* The use has kept a reference of the device part. */
	refcount_inc(&mr->refs);
	krdma_mr_end_use(mr);
	return 0;
}

/**
 * krdma_mr_sges() - Build the device SGEs for memory of an MR that is in use
 * @mr: the MR; the caller has a use of it, which may be older than the end of the MR
 * @addr: start of the memory, in the MR's address space
 * @length: bytes, all of them in the MR
 * @ib_sges: filled in: the device SGEs
 * @room: maximum number of @ib_sges
 *
 * Context: any; no allocation, no sleep.
 * Return: the number of SGEs, 0 for @length 0; or -EMSGSIZE: it takes more than @room SGEs.
 */
int krdma_mr_sges(const struct krdma_mr *mr, u64 addr, u32 length, struct ib_sge *ib_sges,
		  unsigned int room)
{
	u64 offset = addr - mr->addr;

	if (!length)
		return 0;
	if (!mr->by_key)
		return krdma_mem_sges(mr->mem, offset, length, ib_sges, room);
	if (mr->keys)
		return krdma_mr_key_sges(mr, offset, length, ib_sges, room);
	if (!room)
		return -EMSGSIZE;
	ib_sges[0] = (struct ib_sge) {
		.addr = mr->peer_addr + offset,
		.length = length,
		.lkey = mr->lkey,
	};
	return 1;
}

/**
 * krdma_mr_begin_use() - Begin to use an MR for a work request
 * @mr: the MR; the caller keeps the object
 * @pd: the PD of the QP or SRQ to post on
 * @addr: start of the memory, in the MR's address space
 * @length: bytes
 * @access: the rights that the operation needs; 0: it only reads the memory
 * @ib_sges: filled in: the device SGEs
 * @room: maximum number of @ib_sges
 *
 * After success, also with 0 SGEs, the MR is kept until krdma_mr_end_use(), which must be
 * called once for each call.
 *
 * Context: any; no allocation, no sleep.
 * Return: the number of SGEs, 0 for @length 0; or
 * -EACCES: the MR lacks the right;
 * -ERANGE: the memory is not in the MR;
 * -ESTALE: the MR was deregistered;
 * -ENODEV: the device was removed;
 * -EXDEV: the MR belongs to another session or device;
 * -EMSGSIZE: it takes more than @room SGEs.
 */
int krdma_mr_begin_use(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr,
		       u32 length, u32 access, struct ib_sge *ib_sges,
		       unsigned int room)
{
	int ret;

	ret = krdma_mr_begin_range(mr, pd, addr, length, access);
	if (ret)
		return ret;
	ret = krdma_mr_sges(mr, addr, length, ib_sges, room);
	if (ret < 0)
		krdma_mr_end_use(mr);
	return ret;
}

/*
 * Memory descriptors
 */

/* Rights of an MR and of a memory descriptor that correspond to each other. */
static const struct {
	u32 access;
	u32 right;
} krdma_mr_rights[] = {
	{ KRDMA_ACCESS_REMOTE_READ, KRDMA_MR_DESC_READ },
	{ KRDMA_ACCESS_REMOTE_WRITE, KRDMA_MR_DESC_WRITE },
	{ KRDMA_ACCESS_REMOTE_ATOMIC, KRDMA_MR_DESC_ATOMIC },
};

/**
 * krdma_mr_describe() - Build a memory descriptor for a peer
 * @mr: the MR
 * @offset: start of the part to describe, in bytes from the start of the MR
 * @length: bytes of the part
 * @descriptor: filled in on success; KRDMA_MR_DESC_SIZE bytes, for a message
 *
 * The rkey lets a peer access everything that it covers, not only the described part.  That is
 * the whole MR unless it has several rkeys.
 *
 * Context: any.
 * Return: 0, or
 * -EACCES: the MR has no remote rights;
 * -ERANGE: not in the MR;
 * -EMSGSIZE: one rkey does not cover the part: see krdma_mr_rkey_at();
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
 * krdma_mr_desc_read() - Read a memory descriptor from a peer
 * @descriptor: from a message; the contents are not trusted
 * @size: bytes of the message from @descriptor on
 * @info: filled in on success: the remote address, the length, the rkey, and as access the
 *	rights that the reader has there
 *
 * Context: any.
 * Return: 0; -EPROTONOSUPPORT: a descriptor of another version; -EINVAL: not a valid
 * descriptor.
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
