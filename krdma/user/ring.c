// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of programs: their memory, their device, and their file.
 */
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/objects.h"
#include "user/user.h"
#include "user/ring.h"

/*
 * Memory
 */

static void krdma_user_queue_free_ring(struct krdma_user_queue *queue)
{
	unsigned int i;

	if (queue->is_mapped)
		vunmap(queue->ring);
	for (i = 0; i < queue->page_count; i++)
		__free_page(queue->pages[i]);
	kvfree(queue->pages);
}

/* What the program sees before anything has happened. */
static void krdma_user_queue_init_ring(struct krdma_user_queue *queue)
{
	const struct krdma_user_ring_layout *layout = &queue->layout;

	queue->sqes = (void *)queue->ring + layout->sqe_offset;
	queue->cqes = (void *)queue->ring + layout->cqe_offset;
	queue->ring->sq_entries = layout->sq_entries;
	queue->ring->cq_entries = layout->cq_entries;
	queue->ring->sqe_offset = layout->sqe_offset;
	queue->ring->cqe_offset = layout->cqe_offset;
}

/*
 * Pages next to one another, for which no mapping has to be made; not where that is hard to
 * come by.  Each is one of its own, as where they are not.
 */
static bool krdma_user_queue_alloc_block(struct krdma_user_queue *queue, unsigned int count)
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
		queue->pages[queue->page_count++] = block + i;
	for (; i < 1U << order; i++)
		__free_page(block + i);
	queue->ring = page_address(block);
	return true;
}

static int krdma_user_queue_alloc_pages(struct krdma_user_queue *queue, unsigned int count)
{
	struct page *page;

	while (queue->page_count < count) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
		queue->pages[queue->page_count++] = page;
	}
	queue->ring = vmap(queue->pages, count, VM_MAP, PAGE_KERNEL);
	queue->is_mapped = queue->ring;
	return queue->ring ? 0 : -ENOMEM;
}

/* On failure the caller frees what there is. */
static int krdma_user_queue_alloc_ring(struct krdma_user_queue *queue)
{
	unsigned int count = DIV_ROUND_UP(queue->layout.size, PAGE_SIZE);
	int ret;

	queue->pages = kvzalloc_objs(*queue->pages, count, GFP_KERNEL_ACCOUNT);
	if (!queue->pages)
		return -ENOMEM;
	if (!krdma_user_queue_alloc_block(queue, count)) {
		ret = krdma_user_queue_alloc_pages(queue, count);
		if (ret)
			return ret;
	}
	krdma_user_queue_init_ring(queue);
	return 0;
}

/* What the program can map: whole pages. */
static u64 krdma_user_queue_ring_size(const struct krdma_user_queue *queue)
{
	return PAGE_ALIGN((u64)queue->layout.size);
}

/* Bytes of an account: the ring, and the object. */
static u64 krdma_user_queue_bytes(const struct krdma_user_queue *queue)
{
	return krdma_user_queue_ring_size(queue) + KRDMA_QUEUE_BYTES;
}

/*
 * Its life
 */

static void krdma_user_queue_free(struct krdma_user_queue *queue)
{
	/* After this the core does not tell any more. */
	krdma_queue_put(queue->core);
	krdma_user_queue_free_ring(queue);
	krdma_user_queue_unconfine(queue);
	mutex_destroy(&queue->bind_lock);
	mutex_destroy(&queue->submit_lock);
	mutex_destroy(&queue->reap_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_RING, queue));
}

/**
 * krdma_user_queue_get - keep a queue
 * @queue: the queue; the caller has a reference already
 *
 * Context: any.
 */
void krdma_user_queue_get(struct krdma_user_queue *queue)
{
	refcount_inc(&queue->refs);
}

/**
 * krdma_user_queue_put - give back a reference to a queue
 * @queue: the queue, or NULL
 *
 * Context: process context; may sleep.
 */
void krdma_user_queue_put(struct krdma_user_queue *queue)
{
	struct krdma_user_session *session;

	if (!queue || !refcount_dec_and_test(&queue->refs))
		return;

	session = queue->session;
	krdma_user_account_uncharge_object(session->account, krdma_user_queue_bytes(queue));
	krdma_user_queue_free(queue);
	krdma_user_session_put(session);
}

/**
 * krdma_user_queue_session - whose is it?
 * @queue: the queue; the caller has a reference
 *
 * Context: any.
 * Return: the session, which the queue keeps.
 */
struct krdma_user_session *krdma_user_queue_session(struct krdma_user_queue *queue)
{
	return queue->session;
}

/* The core's queue, on a device that was found by its number. */
static struct krdma_queue *krdma_user_queue_make(struct krdma_user_queue *queue, u32 device_id)
{
	struct krdma_queue_attr attr = {
		.depth = queue->depth,
		.where = KRDMA_CONTEXT_POLL,
		.vector = queue->vector,
		.ready = krdma_user_queue_ready,
		.ready_context = queue,
		.session = queue->session->core,
	};
	struct krdma_device *dev;
	struct krdma_queue *core;

	dev = krdma_device_get(queue->session->net, device_id);
	if (!dev)
		return ERR_PTR(-ENODEV);
	core = krdma_queue_create(dev, &attr);
	krdma_device_put(dev);
	if (IS_ERR(core))
		return core;

	WRITE_ONCE(queue->device_id, device_id);
	/* Pairs with the acquire of those who read it without the lock. */
	smp_store_release(&queue->core, core);
	return core;
}

/**
 * krdma_user_queue_bind - the device of a queue
 * @queue: the queue; the caller has a reference
 * @device_id: the device that it is to be on
 *
 * Context: process context; may sleep.
 * Return: the core's queue, kept as long as @queue is, or ERR_PTR of
 * -EXDEV: the queue is on another device;
 * -ENODEV: there is no such device in the session's namespace;
 * -EINVAL: the queue is deeper than the device can;
 * or as krdma_queue_create().
 */
struct krdma_queue *krdma_user_queue_bind(struct krdma_user_queue *queue, u32 device_id)
{
	struct krdma_queue *core;
	bool made = false;

	mutex_lock(&queue->bind_lock);
	core = queue->core;
	if (!core) {
		core = krdma_user_queue_make(queue, device_id);
		made = !IS_ERR(core);
	} else if (queue->device_id != device_id) {
		core = ERR_PTR(-EXDEV);
	}
	mutex_unlock(&queue->bind_lock);

	if (made) {
		/* Who has polled before has to ask the device to tell, too. */
		krdma_user_queue_fill(queue);
		wake_up_interruptible_all(&queue->wait);
	}
	return core;
}

/**
 * krdma_user_queue_space - there is room for operations again
 * @queue: by way of which somebody was refused
 *
 * Context: any.
 */
void krdma_user_queue_space(struct krdma_user_queue *queue)
{
	WRITE_ONCE(queue->full, false);
	/* wq_has_sleeper() orders this against those who look and then sleep. */
	if (wq_has_sleeper(&queue->wait))
		wake_up_interruptible_poll(&queue->wait, EPOLLOUT | EPOLLWRNORM);
}

/*
 * Requests
 */

static int krdma_user_queue_check(const struct krdma_queue_create *create)
{
	if (create->flags & ~(KRDMA_QUEUE_POLLED | KRDMA_QUEUE_VECTOR))
		return -EOPNOTSUPP;
	if (create->reserved)
		return -EOPNOTSUPP;
	if (create->vector > (create->flags & KRDMA_QUEUE_VECTOR ? INT_MAX : 0))
		return -EINVAL;
	return 0;
}

static struct krdma_user_queue *krdma_user_queue_new(struct krdma_user_session *session,
						     const struct krdma_queue_create *create)
{
	struct krdma_user_queue *queue;
	int ret;

	queue = krdma_object_count(KRDMA_OBJECT_USER_RING, kzalloc_obj(*queue, GFP_KERNEL_ACCOUNT));
	if (!queue)
		return ERR_PTR(-ENOMEM);
	queue->id = krdma_user_number();
	refcount_set(&queue->refs, 1);
	queue->session = session;
	queue->polled = create->flags & KRDMA_QUEUE_POLLED;
	queue->vector = create->flags & KRDMA_QUEUE_VECTOR ? create->vector : -1;
	mutex_init(&queue->bind_lock);
	mutex_init(&queue->submit_lock);
	mutex_init(&queue->reap_lock);
	spin_lock_init(&queue->fill_lock);
	init_waitqueue_head(&queue->wait);

	ret = krdma_user_ring_layout(create->sq_entries, create->cq_entries, &queue->layout);
	if (ret)
		goto err_free;
	queue->depth = create->cq_entries ?: queue->layout.cq_entries;
	ret = krdma_user_account_charge_object(session->account, krdma_user_queue_bytes(queue));
	if (ret)
		goto err_free;

	ret = krdma_user_batches_prepare(&session->batches);
	if (ret)
		goto err_uncharge;
	ret = krdma_user_queue_alloc_ring(queue);
	if (ret)
		goto err_uncharge;

	krdma_user_session_get(session);
	return queue;

err_uncharge:
	krdma_user_account_uncharge_object(session->account, krdma_user_queue_bytes(queue));
err_free:
	krdma_user_queue_free(queue);
	return ERR_PTR(ret);
}

/**
 * krdma_user_queue_create - KRDMA_QUEUE_CREATE
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma_ring.h> says.
 */
int krdma_user_queue_create(struct krdma_user_request *request)
{
	struct krdma_queue_create *create = &request->buffer->queue_create;
	struct krdma_user_queue *queue;
	struct krdma_queue *core;
	struct krdma_user_fd ufd;
	int ret;

	ret = krdma_user_queue_check(create);
	if (ret)
		return ret;
	queue = krdma_user_queue_new(request->session, create);
	if (IS_ERR(queue))
		return PTR_ERR(queue);

	if (create->device_id) {
		core = krdma_user_queue_bind(queue, create->device_id);
		ret = PTR_ERR_OR_ZERO(core);
		if (ret)
			goto err_put;
	}
	ret = krdma_user_fd_reserve(&ufd, "[krdma-queue]", &krdma_user_queue_fops, queue, O_RDWR);
	if (ret)
		goto err_put;

	create->fd = ufd.fd;
	create->sq_entries = queue->layout.sq_entries;
	create->cq_entries = queue->layout.cq_entries;
	create->sqe_offset = queue->layout.sqe_offset;
	create->cqe_offset = queue->layout.cqe_offset;
	create->ring_size = krdma_user_queue_ring_size(queue);
	ret = krdma_request_respond(request);
	if (ret)
		krdma_user_fd_cancel(&ufd);
	else
		krdma_user_fd_install(&ufd);
	return ret;

err_put:
	krdma_user_queue_put(queue);
	return ret;
}

static int krdma_user_queue_enter(struct krdma_user_request *request)
{
	struct krdma_queue_enter *enter = &request->buffer->queue_enter;
	struct krdma_user_queue *queue = request->queue;
	int submitted = 0;
	int error = 0;
	int ret;

	if (enter->flags || enter->reserved)
		return -EOPNOTSUPP;
	/* Before anything is submitted of which the program could not be told. */
	ret = krdma_user_queue_filled(queue);
	if (ret < 0)
		return ret;

	if (enter->to_submit) {
		submitted = krdma_user_queue_submit(queue, enter->to_submit, &error);
		if (submitted < 0)
			return submitted;
	}
	ret = krdma_user_queue_await(queue, error ? 0 : enter->min_complete,
				     krdma_deadline_of_caller(enter->deadline_ns));
	if (ret < 0 && !submitted && !error)
		return ret;

	enter->submitted = submitted;
	enter->error = error;
	enter->completed = ret >= 0 ? ret : max(krdma_user_queue_filled(queue), 0);
	return krdma_request_inform(request);
}

static int krdma_user_queue_query(struct krdma_user_request *request)
{
	struct krdma_queue_query *query = &request->buffer->queue_query;
	struct krdma_user_queue *queue = request->queue;

	if (query->flags || query->reserved)
		return -EOPNOTSUPP;

	query->device_id = READ_ONCE(queue->device_id);
	query->sq_entries = queue->layout.sq_entries;
	query->cq_entries = queue->layout.cq_entries;
	query->submitted = READ_ONCE(queue->submitted);
	query->completed = READ_ONCE(queue->completed);
	query->ring_size = krdma_user_queue_ring_size(queue);
	query->sqe_offset = queue->layout.sqe_offset;
	query->cqe_offset = queue->layout.cqe_offset;
	query->queue_flags = queue->polled ? KRDMA_QUEUE_POLLED : 0;
	query->vector = 0;
	if (queue->vector >= 0) {
		query->queue_flags |= KRDMA_QUEUE_VECTOR;
		query->vector = queue->vector;
	}
	return krdma_request_respond(request);
}

/*
 * The file
 */

#define KRDMA_QUEUE_REQUEST(command, does, type, last, handler) \
	KRDMA_REQUEST_TYPE(KRDMA_CMD_QUEUE_ENTER, command, does, type, last, handler)

static const struct krdma_request_type krdma_user_queue_requests[] = {
	KRDMA_QUEUE_REQUEST(KRDMA_QUEUE_ENTER, ANSWERS, krdma_queue_enter, reserved,
			    krdma_user_queue_enter),
	KRDMA_QUEUE_REQUEST(KRDMA_QUEUE_POST, ANSWERS, krdma_queue_post, reserved,
			    krdma_user_queue_post),
	KRDMA_QUEUE_REQUEST(KRDMA_QUEUE_REAP, ANSWERS, krdma_queue_reap, reserved,
			    krdma_user_queue_reap),
	KRDMA_QUEUE_REQUEST(KRDMA_QUEUE_QUERY, ASKS, krdma_queue_query, vector,
			    krdma_user_queue_query),
	KRDMA_QUEUE_REQUEST(KRDMA_QUEUE_CONFINE, ACTS, krdma_queue_confine, reserved,
			    krdma_user_queue_confine),
};

static const struct krdma_request_table krdma_user_queue_table = {
	.types = krdma_user_queue_requests,
	.base = KRDMA_CMD_QUEUE_ENTER,
	.count = ARRAY_SIZE(krdma_user_queue_requests),
};

static long krdma_user_queue_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct krdma_user_request request = { .queue = file->private_data };

	return krdma_request_dispatch(file, &krdma_user_queue_table, &request, cmd, arg);
}

static __poll_t krdma_user_queue_poll(struct file *file, struct poll_table_struct *table)
{
	struct krdma_user_queue *queue = file->private_data;

	poll_wait(file, &queue->wait, table);
	/* Who fills looks for sleepers after it: one of both sees the other. */
	smp_mb();
	return krdma_user_queue_events(queue);
}

/*
 * All of it, at once, and shared: a copy would see nothing.  What the process does
 * with the mapping later is its own affair: the kernel uses its own.
 */
static int krdma_user_queue_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct krdma_user_queue *queue = file->private_data;

	if (vma->vm_pgoff || vma_pages(vma) != queue->page_count)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;

	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	return vm_map_pages(vma, queue->pages, queue->page_count);
}

static int krdma_user_queue_release(struct inode *inode, struct file *file)
{
	krdma_object_uncount(KRDMA_OBJECT_USER_FILE, file);
	krdma_user_queue_put(file->private_data);
	return 0;
}

static void krdma_user_queue_fdinfo(struct seq_file *seq, struct file *file)
{
	struct krdma_user_queue *queue = file->private_data;

	krdma_user_fdinfo(seq, "queue", queue->id, queue->session);
	seq_printf(seq, "device:\t%u\npolled:\t%d\nsq_entries:\t%u\ncq_entries:\t%u\n",
		   READ_ONCE(queue->device_id), queue->polled, queue->layout.sq_entries,
		   queue->layout.cq_entries);
	/* The program's own index may be nonsense: then nothing is told of it. */
	seq_printf(seq, "submitted:\t%llu\ncompleted:\t%llu\nuntaken:\t%d\n",
		   READ_ONCE(queue->submitted), READ_ONCE(queue->completed),
		   max(krdma_user_queue_filled(queue), 0));
}

const struct file_operations krdma_user_queue_fops = {
	.owner = THIS_MODULE,
	.release = krdma_user_queue_release,
	.poll = krdma_user_queue_poll,
	.show_fdinfo = krdma_user_queue_fdinfo,
	.mmap = krdma_user_queue_mmap,
	.unlocked_ioctl = krdma_user_queue_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};
