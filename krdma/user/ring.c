// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of programs: their memory, their device, and their file.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "core/objects.h"
#include "trace.h"
#include "user/batch.h"
#include "user/confine.h"
#include "user/cq.h"
#include "user/event.h"
#include "user/file.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/post.h"
#include "user/user.h"
#include "user/ring.h"

/*
 * Memory
 */

static void krdma_user_ring_free_memory(struct krdma_user_ring *ring)
{
	unsigned int i;

	if (ring->is_mapped)
		vunmap(ring->header);
	for (i = 0; i < ring->page_count; i++)
		__free_page(ring->pages[i]);
	kvfree(ring->pages);
}

/* Sets the fields that the program reads first. */
static void krdma_user_ring_init_header(struct krdma_user_ring *ring)
{
	const struct krdma_ring_layout *layout = &ring->layout;

	ring->sqes = (void *)ring->header + layout->sqe_offset;
	ring->cqes = (void *)ring->header + layout->cqe_offset;
	ring->header->sq_entries = layout->sq_entries;
	ring->header->cq_entries = layout->cq_entries;
	ring->header->sqe_offset = layout->sqe_offset;
	ring->header->cqe_offset = layout->cqe_offset;
}

/*
 * Contiguous pages, which need no vmap(); only if they are easy to get.  The block is split, so
 * each page is freed by itself in either case.
 */
static bool krdma_user_ring_alloc_block(struct krdma_user_ring *ring, unsigned int count)
{
	unsigned int order = get_order(count * PAGE_SIZE);
	struct page *block;
	unsigned int i;

	if (order > PAGE_ALLOC_COSTLY_ORDER)
		return false;
	block = alloc_pages(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY, order);
	if (!block)
		return false;

	split_page(block, order);
	for (i = 0; i < count; i++)
		ring->pages[ring->page_count++] = block + i;
	for (; i < 1U << order; i++)
		__free_page(block + i);
	ring->header = page_address(block);
	return true;
}

static int krdma_user_ring_alloc_pages(struct krdma_user_ring *ring, unsigned int count)
{
	struct page *page;

	while (ring->page_count < count) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		ring->pages[ring->page_count++] = page;
	}
	ring->header = vmap(ring->pages, count, VM_MAP, PAGE_KERNEL);
	ring->is_mapped = ring->header;
	return ring->header ? 0 : -ENOMEM;
}

/* If this fails, the caller frees what was allocated. */
static int krdma_user_ring_alloc_memory(struct krdma_user_ring *ring)
{
	unsigned int count = DIV_ROUND_UP(ring->layout.size, PAGE_SIZE);
	int ret;

	ring->pages = kvzalloc_objs(*ring->pages, count, GFP_KERNEL_ACCOUNT);
	if (!ring->pages)
		return -ENOMEM;
	if (!krdma_user_ring_alloc_block(ring, count)) {
		ret = krdma_user_ring_alloc_pages(ring, count);
		if (ret)
			return ret;
	}
	krdma_user_ring_init_header(ring);
	return 0;
}

/* Size that the program can map: whole pages. */
static u64 krdma_user_ring_memory_size(const struct krdma_user_ring *ring)
{
	return PAGE_ALIGN((u64)ring->layout.size);
}

/* Bytes to charge: the ring, and the object. */
static u64 krdma_user_ring_bytes(const struct krdma_user_ring *ring)
{
	return krdma_user_ring_memory_size(ring) + KRDMA_RING_BYTES;
}

/*
 * Creation and destruction
 */

static void krdma_user_ring_free(struct krdma_user_ring *ring)
{
	/* Connections keep it as long as they can have events. */
	WARN_ON(!list_empty(&ring->event_conns));
	/* After this the core does not call ready() any more. */
	krdma_cq_put(ring->core);
	krdma_user_ring_free_memory(ring);
	krdma_user_ring_unconfine(ring);
	mutex_destroy(&ring->bind_lock);
	mutex_destroy(&ring->submit_lock);
	mutex_destroy(&ring->reap_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_RING, ring));
}

/**
 * krdma_user_ring_get() - Take a reference to a ring
 * @ring: the ring; the caller holds a reference
 *
 * Context: any.
 */
void krdma_user_ring_get(struct krdma_user_ring *ring)
{
	refcount_inc(&ring->refs);
}

/**
 * krdma_user_ring_put() - Drop a reference to a ring
 * @ring: the ring, or NULL
 *
 * Context: process context; may sleep.
 */
void krdma_user_ring_put(struct krdma_user_ring *ring)
{
	struct krdma_user_session *session;

	if (!ring || !refcount_dec_and_test(&ring->refs))
		return;

	session = ring->session;
	krdma_user_account_uncharge_object(session->account, krdma_user_ring_bytes(ring));
	krdma_user_ring_free(ring);
	krdma_user_session_put(session);
}

/**
 * krdma_user_ring_session() - Get the session of a ring
 * @ring: the ring; the caller has a reference
 *
 * Context: any.
 * Return: the session, which the ring keeps.
 */
struct krdma_user_session *krdma_user_ring_session(struct krdma_user_ring *ring)
{
	return ring->session;
}

/* Creates the core's CQ on a device. */
static struct krdma_cq *krdma_user_ring_make(struct krdma_user_ring *ring, u32 device_id)
{
	struct krdma_cq_attr attr = {
		.depth = ring->depth,
		.where = KRDMA_CONTEXT_POLL,
		.vector = ring->vector,
		.ready = krdma_user_ring_ready,
		.srq_ended = krdma_user_ring_srq_ended,
		.ready_context = ring,
		.session = ring->session->core,
	};
	struct krdma_device *dev;
	struct krdma_cq *core;

	dev = krdma_device_get_by_id(ring->session->net, device_id);
	if (!dev)
		return ERR_PTR(-ENODEV);
	core = krdma_cq_create(dev, &attr);
	krdma_device_put(dev);
	if (IS_ERR(core))
		return core;

	WRITE_ONCE(ring->device_id, device_id);
	/* Pairs with the acquire of readers without the lock. */
	smp_store_release(&ring->core, core);
	return core;
}

/**
 * krdma_user_ring_bind() - Bind a ring to a device
 * @ring: the ring; the caller has a reference
 * @device_id: ID of the device
 *
 * Context: process context; may sleep.
 * Return: the core's CQ, valid as long as @ring is, or ERR_PTR of
 * -EXDEV: the ring is bound to another device;
 * -ENODEV: there is no such device in the session's namespace;
 * -EINVAL: the depth exceeds the device's limit; or an errno of krdma_cq_create().
 */
struct krdma_cq *krdma_user_ring_bind(struct krdma_user_ring *ring, u32 device_id)
{
	struct krdma_cq *core;
	bool made = false;

	mutex_lock(&ring->bind_lock);
	core = ring->core;
	if (!core) {
		core = krdma_user_ring_make(ring, device_id);
		made = !IS_ERR(core);
	} else if (ring->device_id != device_id) {
		core = ERR_PTR(-EXDEV);
	}
	mutex_unlock(&ring->bind_lock);

	if (made) {
		/* A thread that polled before must arm the new CQ. */
		krdma_user_ring_fill(ring);
		wake_up_interruptible_all(&ring->wait);
	}
	return core;
}

/**
 * krdma_user_ring_space() - Notify that WQEs are free again
 * @ring: the ring where a work request was refused
 *
 * Context: any.
 */
void krdma_user_ring_space(struct krdma_user_ring *ring)
{
	WRITE_ONCE(ring->full, false);
	/* wq_has_sleeper() orders this against threads that check and then sleep. */
	if (wq_has_sleeper(&ring->wait))
		wake_up_interruptible_poll(&ring->wait, EPOLLOUT | EPOLLWRNORM);
}

/*
 * Ioctls
 */

static int krdma_user_ring_check(const struct krdma_ring_create_args *create)
{
	if (create->flags & ~(KRDMA_RING_POLLED | KRDMA_RING_VECTOR))
		return -EOPNOTSUPP;
	if (create->reserved)
		return -EOPNOTSUPP;
	if (create->vector > (create->flags & KRDMA_RING_VECTOR ? INT_MAX : 0))
		return -EINVAL;
	return 0;
}

static struct krdma_user_ring *krdma_user_ring_new(struct krdma_user_session *session,
						   const struct krdma_ring_create_args *create)
{
	struct krdma_user_ring *ring;
	int ret;

	ring = krdma_object_count(KRDMA_OBJECT_USER_RING, kzalloc_obj(*ring, GFP_KERNEL_ACCOUNT));
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->id = krdma_user_number();
	refcount_set(&ring->refs, 1);
	ring->session = session;
	ring->polled = create->flags & KRDMA_RING_POLLED;
	ring->vector = create->flags & KRDMA_RING_VECTOR ? create->vector : -1;
	mutex_init(&ring->bind_lock);
	mutex_init(&ring->submit_lock);
	mutex_init(&ring->reap_lock);
	spin_lock_init(&ring->cq_lock);
	init_waitqueue_head(&ring->wait);
	spin_lock_init(&ring->event_lock);
	INIT_LIST_HEAD(&ring->event_conns);
	INIT_WORK(&ring->event_work, krdma_user_event_work);

	ret = krdma_ring_layout_init(create->sq_entries, create->cq_entries, &ring->layout);
	if (ret)
		goto err_free;
	ring->depth = create->cq_entries ?: ring->layout.cq_entries;
	ret = krdma_user_account_charge_object(session->account, krdma_user_ring_bytes(ring));
	if (ret)
		goto err_free;

	ret = krdma_user_batches_reserve(&session->batches);
	if (ret)
		goto err_uncharge;
	ret = krdma_user_ring_alloc_memory(ring);
	if (ret)
		goto err_uncharge;

	krdma_user_session_get(session);
	return ring;

err_uncharge:
	krdma_user_account_uncharge_object(session->account, krdma_user_ring_bytes(ring));
err_free:
	krdma_user_ring_free(ring);
	return ERR_PTR(ret);
}

/**
 * krdma_user_ring_create() - Handle KRDMA_RING_CREATE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_ring.h>.
 */
int krdma_user_ring_create(struct krdma_ucmd *ucmd)
{
	struct krdma_ring_create_args *create = &ucmd->buffer->ring_create;
	struct krdma_user_ring *ring;
	struct krdma_cq *core;
	struct krdma_user_fd ufd;
	int ret;

	ret = krdma_user_ring_check(create);
	if (ret)
		return ret;
	ring = krdma_user_ring_new(ucmd->session, create);
	if (IS_ERR(ring))
		return PTR_ERR(ring);

	if (create->device_id) {
		core = krdma_user_ring_bind(ring, create->device_id);
		ret = PTR_ERR_OR_ZERO(core);
		if (ret)
			goto err_put;
	}
	ret = krdma_user_fd_reserve(&ufd, "[krdma-ring]", &krdma_user_ring_fops, ring, O_RDWR);
	if (ret)
		goto err_put;

	create->fd = ufd.fd;
	create->sq_entries = ring->layout.sq_entries;
	create->cq_entries = ring->layout.cq_entries;
	create->sqe_offset = ring->layout.sqe_offset;
	create->cqe_offset = ring->layout.cqe_offset;
	create->ring_size = krdma_user_ring_memory_size(ring);
	ret = krdma_ucmd_respond(ucmd);
	if (ret)
		krdma_user_fd_cancel(&ufd);
	else
		krdma_user_fd_install(&ufd);
	return ret;

err_put:
	krdma_user_ring_put(ring);
	return ret;
}

static int krdma_user_ring_do_enter(struct krdma_user_ring *ring,
				    struct krdma_ring_enter_args *enter)
{
	int submitted = 0;
	int error = 0;
	int ret;

	if (enter->flags || enter->reserved)
		return -EOPNOTSUPP;
	/*
	 * Check the index before anything is submitted, whose result could not be returned
	 * otherwise.
	 */
	ret = krdma_user_ring_filled(ring);
	if (ret < 0)
		return ret;

	if (enter->to_submit) {
		submitted = krdma_user_ring_submit(ring, enter->to_submit, &error);
		if (submitted < 0)
			return submitted;
	}
	ret = krdma_user_ring_await(ring, error ? 0 : enter->min_complete,
				    krdma_deadline_of_caller(enter->deadline_ns));
	if (ret < 0 && !submitted && !error)
		return ret;

	enter->submitted = submitted;
	enter->error = error;
	enter->completed = ret >= 0 ? ret : max(krdma_user_ring_filled(ring), 0);
	return 0;
}

static int krdma_user_ring_enter(struct krdma_ucmd *ucmd)
{
	int ret = krdma_user_ring_do_enter(ucmd->ring, &ucmd->buffer->ring_enter);

	return ret ? ret : krdma_ucmd_inform(ucmd);
}

static int krdma_user_ring_query(struct krdma_ucmd *ucmd)
{
	struct krdma_ring_query_args *query = &ucmd->buffer->ring_query;
	struct krdma_user_ring *ring = ucmd->ring;

	if (query->flags || query->reserved)
		return -EOPNOTSUPP;

	query->device_id = READ_ONCE(ring->device_id);
	query->sq_entries = ring->layout.sq_entries;
	query->cq_entries = ring->layout.cq_entries;
	query->submitted = READ_ONCE(ring->submitted);
	query->completed = READ_ONCE(ring->completed);
	query->ring_size = krdma_user_ring_memory_size(ring);
	query->sqe_offset = ring->layout.sqe_offset;
	query->cqe_offset = ring->layout.cqe_offset;
	query->ring_flags = ring->polled ? KRDMA_RING_POLLED : 0;
	query->vector = 0;
	if (ring->vector >= 0) {
		query->ring_flags |= KRDMA_RING_VECTOR;
		query->vector = ring->vector;
	}
	return krdma_ucmd_respond(ucmd);
}

/*
 * The file
 */

#define KRDMA_RING_IOCTL(command, does, type, last, handler) \
	KRDMA_IOCTL_OP(KRDMA_CMD_RING_ENTER, command, does, type, last, handler)

static const struct krdma_ioctl_op krdma_user_ring_ioctls[] = {
	KRDMA_RING_IOCTL(KRDMA_RING_ENTER, ANSWERS, krdma_ring_enter_args, reserved,
			 krdma_user_ring_enter),
	KRDMA_RING_IOCTL(KRDMA_RING_POST, ANSWERS, krdma_ring_post_args, reserved,
			 krdma_user_ring_post),
	KRDMA_RING_IOCTL(KRDMA_RING_REAP, ANSWERS, krdma_ring_reap_args, reserved,
			 krdma_user_ring_reap),
	KRDMA_RING_IOCTL(KRDMA_RING_QUERY, ASKS, krdma_ring_query_args, vector,
			 krdma_user_ring_query),
	KRDMA_RING_IOCTL(KRDMA_RING_CONFINE, ACTS, krdma_ring_confine_args, reserved,
			 krdma_user_ring_confine),
};

static const struct krdma_ioctl_table krdma_user_ring_table = {
	.types = krdma_user_ring_ioctls,
	.base = KRDMA_CMD_RING_ENTER,
	.count = ARRAY_SIZE(krdma_user_ring_ioctls),
};

/*
 * The structure of KRDMA_RING_ENTER as this module knows it, member by member: what
 * krdma_ioctl_dispatch() does for all structures costs more than to post and to poll.  False: it
 * has another size, or cannot be read and written, and krdma_ioctl_dispatch() finds out which.
 */
static bool krdma_user_ring_read_enter(struct krdma_ring_enter_args *enter,
				       struct krdma_ring_enter_args __user *user)
{
	if (!user_access_begin(user, sizeof(*user)))
		return false;
	unsafe_get_user(enter->size, &user->size, err);
	unsafe_get_user(enter->flags, &user->flags, err);
	unsafe_get_user(enter->to_submit, &user->to_submit, err);
	unsafe_get_user(enter->min_complete, &user->min_complete, err);
	unsafe_get_user(enter->deadline_ns, &user->deadline_ns, err);
	unsafe_get_user(enter->submitted, &user->submitted, err);
	unsafe_get_user(enter->error, &user->error, err);
	unsafe_get_user(enter->completed, &user->completed, err);
	unsafe_get_user(enter->reserved, &user->reserved, err);
	if (enter->size != sizeof(*enter))
		goto err;
	/* As for every ioctl that returns data, the memory has to be writable beforehand. */
	unsafe_put_user(enter->size, &user->size, err);
	unsafe_put_user(enter->deadline_ns, &user->deadline_ns, err);
	unsafe_put_user(enter->submitted, &user->submitted, err);
	unsafe_put_user(enter->error, &user->error, err);
	unsafe_put_user(enter->completed, &user->completed, err);
	unsafe_put_user(enter->reserved, &user->reserved, err);
	user_access_end();
	return true;

err:
	user_access_end();
	return false;
}

static void krdma_user_ring_write_enter(const struct krdma_ring_enter_args *enter,
					struct krdma_ring_enter_args __user *user)
{
	if (!user_access_begin(user, sizeof(*user)))
		return;
	unsafe_put_user(enter->submitted, &user->submitted, err);
	unsafe_put_user(enter->error, &user->error, err);
	unsafe_put_user(enter->completed, &user->completed, err);
err:
	/* As in krdma_ucmd_inform(), there is no other way to report a failure. */
	user_access_end();
}

static long krdma_user_ring_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct krdma_ring_enter_args __user *user = (void __user *)arg;
	struct krdma_ucmd ucmd = { .ring = file->private_data };
	struct krdma_ring_enter_args enter;
	long ret;

	if (likely(cmd == KRDMA_RING_ENTER && (file->f_mode & FMODE_WRITE) &&
		   krdma_user_ring_read_enter(&enter, user))) {
		ret = krdma_user_ring_do_enter(ucmd.ring, &enter);
		if (!ret)
			krdma_user_ring_write_enter(&enter, user);
		trace_krdma_ioctl(cmd, ret);
		return ret;
	}
	return krdma_ioctl_dispatch(file, &krdma_user_ring_table, &ucmd, cmd, arg);
}

static __poll_t krdma_user_ring_poll(struct file *file, struct poll_table_struct *table)
{
	struct krdma_user_ring *ring = file->private_data;

	poll_wait(file, &ring->wait, table);
	/*
	 * Filling checks for waiting threads afterwards: at least one of the two sides sees the
	 * other.
	 */
	smp_mb();
	return krdma_user_ring_events(ring);
}

/*
 * The whole ring, and shared: a private copy would not see changes.  What the process does with
 * the mapping later does not affect the kernel, which uses its own mapping.
 */
static int krdma_user_ring_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct krdma_user_ring *ring = file->private_data;

	if (vma->vm_pgoff || vma_pages(vma) != ring->page_count)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;

	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	return vm_map_pages(vma, ring->pages, ring->page_count);
}

static int krdma_user_ring_release(struct inode *inode, struct file *file)
{
	krdma_object_uncount(KRDMA_OBJECT_USER_FILE, file);
	krdma_user_ring_put(file->private_data);
	return 0;
}

static void krdma_user_ring_fdinfo(struct seq_file *seq, struct file *file)
{
	struct krdma_user_ring *ring = file->private_data;

	krdma_user_fdinfo(seq, "ring", ring->id, ring->session);
	seq_printf(seq, "device:\t%u\npolled:\t%d\nsq_entries:\t%u\ncq_entries:\t%u\n",
		   READ_ONCE(ring->device_id), ring->polled, ring->layout.sq_entries,
		   ring->layout.cq_entries);
	/* The program's index may be invalid; then 0 is shown. */
	seq_printf(seq, "submitted:\t%llu\ncompleted:\t%llu\nuntaken:\t%d\n",
		   READ_ONCE(ring->submitted), READ_ONCE(ring->completed),
		   max(krdma_user_ring_filled(ring), 0));
}

const struct file_operations krdma_user_ring_fops = {
	.owner = THIS_MODULE,
	.release = krdma_user_ring_release,
	.poll = krdma_user_ring_poll,
	.show_fdinfo = krdma_user_ring_fdinfo,
	.mmap = krdma_user_ring_mmap,
	.unlocked_ioctl = krdma_user_ring_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};
