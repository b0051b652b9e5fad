// SPDX-License-Identifier: GPL-2.0
/*
 * SRQs of programs.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "core/objects.h"
#include "io/srq.h"
#include "user/cq.h"
#include "user/file.h"
#include "user/id.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/post.h"
#include "user/srq.h"
#include "user/user.h"
#include "user/ring.h"

/*
 * Creation and destruction
 */

static void krdma_user_srq_free(struct rcu_head *rcu)
{
	struct krdma_user_srq *srq = container_of(rcu, struct krdma_user_srq, rcu);

	krdma_srq_put(srq->core);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_SRQ, srq));
}

/**
 * krdma_user_srq_get() - Take a reference to an SRQ
 * @srq: the SRQ; the caller holds a reference
 *
 * Context: any.
 */
void krdma_user_srq_get(struct krdma_user_srq *srq)
{
	refcount_inc(&srq->refs);
}

/**
 * krdma_user_srq_put() - Drop a reference to an SRQ
 * @srq: the SRQ, or NULL
 *
 * Context: process context; may sleep.
 */
void krdma_user_srq_put(struct krdma_user_srq *srq)
{
	struct krdma_user_session *session;

	if (!srq || !refcount_dec_and_test(&srq->refs))
		return;

	session = srq->session;
	krdma_user_account_uncharge_object(session->account, KRDMA_RING_BYTES);
	krdma_user_ring_put(srq->ring);
	/* A context that has found it by its ID may still be posting. */
	call_rcu(&srq->rcu, krdma_user_srq_free);
	krdma_user_session_put(session);
}

/* The file is released, so no caller posts any more.  Connections that use the SRQ continue. */
static void krdma_user_srq_end(struct krdma_user_srq *srq)
{
	krdma_user_dest_remove(&srq->dest);
	if (srq->core)
		krdma_srq_close(srq->core);
	krdma_user_srq_put(srq);
}

/*
 * Ioctls
 */

/* With its ID, without the core's SRQ.  It takes its own reference to @ring. */
static struct krdma_user_srq *krdma_user_srq_new(struct krdma_user_session *session,
						 struct krdma_user_ring *ring)
{
	struct krdma_user_srq *srq;
	int ret;

	srq = krdma_object_count(KRDMA_OBJECT_USER_SRQ, kzalloc_obj(*srq, GFP_KERNEL_ACCOUNT));
	if (!srq)
		return ERR_PTR(-ENOMEM);
	refcount_set(&srq->refs, 1);
	srq->dest.kind = KRDMA_USER_DEST_SRQ;
	srq->session = session;
	srq->ring = ring;

	ret = krdma_user_account_charge_object(session->account, KRDMA_RING_BYTES);
	if (ret)
		goto err_free;
	ret = krdma_user_dest_add(&srq->dest);
	if (ret)
		goto err_uncharge;

	krdma_user_session_get(session);
	krdma_user_ring_get(ring);
	return srq;

err_uncharge:
	krdma_user_account_uncharge_object(session->account, KRDMA_RING_BYTES);
err_free:
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_SRQ, srq));
	return ERR_PTR(ret);
}

/* Creates the core's SRQ.  If this fails, the caller ends @srq. */
static int krdma_user_srq_make(struct krdma_user_srq *srq,
			       const struct krdma_srq_create_args *create)
{
	u32 device_id = create->device_id ?: READ_ONCE(srq->ring->device_id);
	struct krdma_srq_attr attr = {
		.depth = create->depth,
		.max_sge = create->max_sge,
		.lanes = create->flags & KRDMA_SRQ_CREATE_LANES,
		.context = (void *)(uintptr_t)srq->dest.id,
	};
	struct krdma_srq *core;

	if (!device_id)
		return -EINVAL;
	attr.cq = krdma_user_ring_bind(srq->ring, device_id);
	if (IS_ERR(attr.cq))
		return PTR_ERR(attr.cq);

	srq->device_id = device_id;
	srq->depth = create->depth;
	srq->max_sge = create->max_sge ?: 1;
	core = krdma_srq_create(srq->session->core, &attr);
	if (IS_ERR(core))
		return PTR_ERR(core);
	/* Pairs with the acquire of contexts that find it by its ID. */
	smp_store_release(&srq->core, core);
	return 0;
}

static struct krdma_user_srq *krdma_user_srq_begin(struct krdma_user_session *session,
						   const struct krdma_srq_create_args *create)
{
	struct krdma_user_ring *ring;
	struct krdma_user_srq *srq;
	struct file *file;
	int ret;

	ring = krdma_user_fd_get(create->ring_fd, &krdma_user_ring_fops, &file);
	if (IS_ERR(ring))
		return ERR_CAST(ring);
	srq = ring->session == session ? krdma_user_srq_new(session, ring) : ERR_PTR(-EXDEV);
	fput(file);
	if (IS_ERR(srq))
		return srq;

	ret = krdma_user_srq_make(srq, create);
	if (ret) {
		krdma_user_srq_end(srq);
		return ERR_PTR(ret);
	}
	return srq;
}

/**
 * krdma_user_srq_create() - Handle KRDMA_SRQ_CREATE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma_ring.h>.
 */
int krdma_user_srq_create(struct krdma_ucmd *ucmd)
{
	struct krdma_srq_create_args *create = &ucmd->buffer->srq_create;
	struct krdma_user_srq *srq;
	struct krdma_user_fd ufd;
	int ret;

	if (create->flags & ~(u32)KRDMA_SRQ_CREATE_LANES)
		return -EOPNOTSUPP;
	if (!create->depth)
		return -EINVAL;
	srq = krdma_user_srq_begin(ucmd->session, create);
	if (IS_ERR(srq))
		return PTR_ERR(srq);

	ret = krdma_user_fd_reserve(&ufd, "[krdma-srq]", &krdma_user_srq_fops, srq, O_RDWR);
	if (ret) {
		krdma_user_srq_end(srq);
		return ret;
	}
	create->fd = ufd.fd;
	create->id = srq->dest.id;
	ret = krdma_ucmd_respond(ucmd);
	if (ret)
		krdma_user_fd_cancel(&ufd);
	else
		krdma_user_fd_install(&ufd);
	return ret;
}

static int krdma_user_srq_query(struct krdma_ucmd *ucmd)
{
	struct krdma_srq_query_args *query = &ucmd->buffer->srq_query;
	struct krdma_user_srq *srq = ucmd->srq;

	if (query->flags)
		return -EOPNOTSUPP;

	query->id = srq->dest.id;
	query->device_id = srq->device_id;
	query->depth = srq->depth;
	query->max_sge = srq->max_sge;
	return krdma_ucmd_respond(ucmd);
}

/*
 * The file
 */

static const struct krdma_ioctl_op krdma_user_srq_ioctl_ops[] = {
	KRDMA_IOCTL_OP(KRDMA_CMD_SRQ_QUERY, KRDMA_SRQ_QUERY, ASKS, krdma_srq_query_args, max_sge,
		       krdma_user_srq_query),
	KRDMA_IOCTL_OP(KRDMA_CMD_SRQ_QUERY, KRDMA_SRQ_POST, ANSWERS, krdma_ring_post_args, reserved,
		       krdma_user_srq_post),
};

static const struct krdma_ioctl_table krdma_user_srq_table = {
	.types = krdma_user_srq_ioctl_ops,
	.base = KRDMA_CMD_SRQ_QUERY,
	.count = ARRAY_SIZE(krdma_user_srq_ioctl_ops),
};

static long krdma_user_srq_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct krdma_ucmd ucmd = { .srq = file->private_data };

	return krdma_ioctl_dispatch(file, &krdma_user_srq_table, &ucmd, cmd, arg);
}

static bool krdma_user_srq_is_full(const struct krdma_user_srq *srq)
{
	return READ_ONCE(srq->full) &&
	       READ_ONCE(srq->full_since) == READ_ONCE(srq->ring->received);
}

static __poll_t krdma_user_srq_poll(struct file *file, struct poll_table_struct *table)
{
	struct krdma_user_srq *srq = file->private_data;
	__poll_t events;

	poll_wait(file, &srq->ring->wait, table);
	/*
	 * Filling checks for waiting threads afterwards: at least one of the two sides sees the
	 * other.
	 */
	smp_mb();
	events = krdma_user_ring_events(srq->ring) & (EPOLLERR | EPOLLHUP);
	if (krdma_srq_has_ended(srq->core))
		events |= EPOLLERR | EPOLLHUP;
	else if (!krdma_user_srq_is_full(srq))
		events |= EPOLLOUT | EPOLLWRNORM;
	return events;
}

static int krdma_user_srq_release(struct inode *inode, struct file *file)
{
	krdma_object_uncount(KRDMA_OBJECT_USER_FILE, file);
	krdma_user_srq_end(file->private_data);
	return 0;
}

static void krdma_user_srq_fdinfo(struct seq_file *seq, struct file *file)
{
	struct krdma_user_srq *srq = file->private_data;

	krdma_user_fdinfo(seq, "srq", srq->dest.id, srq->session);
	seq_printf(seq, "device:\t%u\ndepth:\t%u\n", srq->device_id, srq->depth);
}

const struct file_operations krdma_user_srq_fops = {
	.owner = THIS_MODULE,
	.release = krdma_user_srq_release,
	.poll = krdma_user_srq_poll,
	.show_fdinfo = krdma_user_srq_fdinfo,
	.unlocked_ioctl = krdma_user_srq_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};
