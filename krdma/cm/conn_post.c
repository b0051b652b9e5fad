// SPDX-License-Identifier: GPL-2.0
/*
 * What a connection's consumer posts: calls that find the connection's QP, and what the QP reports
 * to the connection as its owner.
 */
#include <linux/err.h>

#include "cm/conn.h"
#include "cm/conn_post.h"
#include "cm/conn_turn.h"
#include "cm/listen.h"
#include "io/map.h"
#include "io/post.h"
#include "io/qp.h"
#include "io/recv.h"
#include "io/template.h"
#include "mr/mr.h"

/*
 * The owner of the QP
 */

static struct krdma_conn *krdma_conn_of(struct krdma_qp_owner *owner)
{
	return owner->conn;
}

static void krdma_conn_owner_get(struct krdma_qp_owner *owner)
{
	krdma_conn_get(krdma_conn_of(owner));
}

static void krdma_conn_owner_put(struct krdma_qp_owner *owner)
{
	krdma_conn_put(krdma_conn_of(owner));
}

static void krdma_conn_owner_space(struct krdma_qp_owner *owner)
{
	struct krdma_conn *conn = krdma_conn_of(owner);

	if (conn->ops->space)
		conn->ops->space(conn);
}

static void krdma_conn_owner_heard(struct krdma_qp_owner *owner)
{
	krdma_conn_advance(krdma_conn_of(owner), KRDMA_INPUT_TRAFFIC, 0);
}

static void krdma_conn_owner_flushed(struct krdma_qp_owner *owner)
{
	krdma_conn_flushed(krdma_conn_of(owner));
}

static void krdma_conn_owner_failed(struct krdma_qp_owner *owner, int error)
{
	krdma_conn_advance(krdma_conn_of(owner), KRDMA_INPUT_FATAL, error);
}

static void krdma_conn_owner_abort(struct krdma_qp_owner *owner)
{
	krdma_conn_advance(krdma_conn_of(owner), KRDMA_INPUT_ABORT, 0);
}

/* The errno with which a closed QP refuses to post. */
static int krdma_conn_refusal(struct krdma_conn *conn)
{
	return READ_ONCE(conn->error) == -ENODEV ? -ENODEV : -ENOTCONN;
}

static int krdma_conn_owner_refusal(struct krdma_qp_owner *owner)
{
	return krdma_conn_refusal(krdma_conn_of(owner));
}

/*
 * No message arrives before the peer can consider itself connected.  The connection manager
 * connects the QP before its handler says so, and an iWARP device does that itself, before the
 * connection manager knows of it: if the consumer gives up meanwhile, the connection was never
 * established, but there may be messages.
 */
static bool krdma_conn_owner_answered(struct krdma_qp_owner *owner)
{
	struct krdma_conn *conn = krdma_conn_of(owner);

	return conn->owes_peer || READ_ONCE(conn->confirmed) ||
	       (READ_ONCE(conn->asked) && !READ_ONCE(conn->replied));
}

/* The end of the connection goes on. */
static void krdma_conn_owner_unmapped(struct krdma_qp_owner *owner)
{
	struct krdma_conn *conn = krdma_conn_of(owner);

	krdma_conn_queue(conn);
	krdma_conn_put(conn);
}

static const struct krdma_qp_owner_ops krdma_conn_owner_ops = {
	.get = krdma_conn_owner_get,
	.put = krdma_conn_owner_put,
	.space = krdma_conn_owner_space,
	.heard = krdma_conn_owner_heard,
	.flushed = krdma_conn_owner_flushed,
	.failed = krdma_conn_owner_failed,
	.abort = krdma_conn_owner_abort,
	.refusal = krdma_conn_owner_refusal,
	.answered = krdma_conn_owner_answered,
	.unmapped = krdma_conn_owner_unmapped,
};

/**
 * krdma_conn_own_qp() - Make a connection the owner of its QP
 * @conn: the connection, with a consumer and without a QP
 *
 * Context: any; the caller holds cm_lock.
 * Return: the owner, for krdma_qp_create().
 */
struct krdma_qp_owner *krdma_conn_own_qp(struct krdma_conn *conn)
{
	conn->plain->owner = (struct krdma_qp_owner) {
		.ops = &krdma_conn_owner_ops,
		.workqueue = krdma_conn_work_on(conn),
		.conn = conn,
		.context = conn->context,
		.complete = conn->ops->complete,
		.keepalive_ms = conn->listener ? conn->listener->keepalive_ms : 0,
	};
	return &conn->plain->owner;
}

/*
 * Calls of the consumer
 */

static struct krdma_qp *krdma_conn_qp(struct krdma_conn *conn)
{
	/* Pairs with the release in krdma_conn_set_qp(). */
	return smp_load_acquire(&conn->qp);
}

/* The QP does not know why it is closed. */
static int krdma_conn_result(struct krdma_conn *conn, int ret)
{
	return unlikely(ret == -ENOTCONN) ? krdma_conn_refusal(conn) : ret;
}

/* A connection without a QP: a lane, or one that has no queues yet. */
static noinline int krdma_conn_post_send_lower(struct krdma_conn *conn,
					       const struct krdma_send_wr *wrs, int count)
{
	if (count <= 0)
		return -EINVAL;
	if (!krdma_conn_uses_lower(conn))
		return krdma_conn_refusal(conn);
	return krdma_conn_result(conn, conn->lower->ops->post_send(conn->lower, wrs, count));
}

static int krdma_conn_post_recv_lower(struct krdma_conn *conn, const struct krdma_recv_wr *wrs,
				      int count)
{
	if (!krdma_conn_uses_lower(conn))
		return krdma_conn_refusal(conn);
	return krdma_conn_result(conn, conn->lower->ops->post_recv(conn->lower, wrs, count));
}

/**
 * krdma_conn_post_send() - Post send work requests
 * @conn: the connection, connected; or a lane, from krdma_conn_connect() on with
 *	&struct krdma_conn_param.early
 * @wrs: the work requests; copied
 * @count: number of work requests
 *
 * The device gets them in their order, many at a time.  Each one that is accepted completes
 * exactly once, except that an unsignaled one that succeeds does not complete to the consumer.
 * If fewer than @count are accepted, posting the next one alone returns the reason.  If the SQ
 * was full, &struct krdma_conn_ops.space is called when it is not full any more.
 *
 * The caller may pass MRs that it found under rcu_read_lock(), held until this returns: an MR
 * that is released meanwhile is refused.
 *
 * Context: any but NMI; does not sleep, and does not call the consumer, except that posting on a
 * lane may call notify() of a lane that ends.
 * Return: the number of work requests that were accepted, at least 1; or, if none was,
 * -EAGAIN: the SQ is full;
 * -ENOTCONN: the connection is not, or no longer, connected;
 * -ENODEV: its device has been removed;
 * -EOPNOTSUPP: the device does not support the operation, which may be a read of 0 bytes; without
 * KRDMA_DEVICE_CAP_READ_LOCAL also: a read of 0 bytes, or into memory of krdma_conn_lkey();
 * -EINVAL: unknown opcode, or flags, memory or address that the operation does not allow;
 * -EMSGSIZE: more than a message, the inline data, or the whole SQ can carry, or memory that
 * needs more than 128 SGEs; or more work requests of the device than fit behind the unsignaled ones
 * before it: post a signaled one first;
 * -EOVERFLOW: beyond the end of the peer's address space;
 * -EACCES, -ERANGE, -ESTALE, -EXDEV: local memory without that access right, outside of its MR,
 * of an MR that was released, or of an MR of another session or device;
 * -EIO: the provider failed.
 */
int krdma_conn_post_send(struct krdma_conn *conn, const struct krdma_send_wr *wrs, int count)
{
	struct krdma_qp *qp = krdma_conn_qp(conn);

	if (unlikely(!qp))
		return krdma_conn_post_send_lower(conn, wrs, count);
	if (likely(count == 1))
		return krdma_qp_post_one(qp, wrs);
	return krdma_qp_post_send(qp, wrs, count);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_post_send, "KRDMA");

/**
 * krdma_conn_prepare_post() - Allocate what posting takes, when a post returned -ENOMEM
 * @conn: the connection, of a session with &struct krdma_session.prepares: no post returns that in
 *	another one
 *
 * Context: process context; may sleep.
 * Return: 0: posting can be repeated; -ENOMEM.
 */
int krdma_conn_prepare_post(struct krdma_conn *conn)
{
	return krdma_conn_uses_lower(conn) ? conn->lower->ops->prepare_post(conn->lower) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_conn_prepare_post);

/**
 * krdma_template_create() - Prepare work requests that differ only in place and length
 * @conn: the connection, connected
 * @attr: attributes
 *
 * Everything is checked here that need not be checked for each work request: see
 * krdma_template_post().
 *
 * The template keeps the objects of the connection and of the MR, and so some memory, but not what
 * they stand for: both end as without a template, and the template can then no longer be posted.
 * Destroy it soon afterwards.
 *
 * Context: process context; may sleep.
 * Return: the template, to be destroyed by krdma_template_destroy(), or an ERR_PTR:
 * -EINVAL: an opcode that a template cannot have, flags that the operation does not allow, an empty
 * range, no MR, too large a batch, a remote range of a message, a remote address of an atomic that
 * is not aligned, or immediate data or operands of an operation that has none;
 * -EOVERFLOW: the remote range goes beyond the end of the peer's address space;
 * -EOPNOTSUPP: the device does not support the operation, or the connection is a lane;
 * -ENOTCONN: the connection is not, or no longer, connected;
 * -ENODEV: its device has been removed;
 * -EACCES, -ERANGE, -ESTALE, -EXDEV: local memory without the access right that the operation
 * needs, outside of its MR, of an MR that was closed, or of an MR of another session or device;
 * -ENOMEM.
 */
struct krdma_template *krdma_template_create(struct krdma_conn *conn,
					     const struct krdma_template_attr *attr)
{
	struct krdma_qp *qp = krdma_conn_qp(conn);
	struct krdma_template *template;

	if (!qp && krdma_conn_uses_lower(conn))
		return ERR_PTR(-EOPNOTSUPP);
	template = qp ? krdma_qp_template_create(qp, attr) : ERR_PTR(-ENOTCONN);
	return template == ERR_PTR(-ENOTCONN) ? ERR_PTR(krdma_conn_refusal(conn)) : template;
}
EXPORT_SYMBOL_NS_GPL(krdma_template_create, "KRDMA");

/**
 * krdma_conn_post_flat() - Post send work requests from a ring
 * @conn: the connection
 * @post: the work requests
 *
 * Context: any but NMI, under rcu_read_lock() or rcu_read_lock_bh(); does not sleep, does not call
 * the consumer.
 * Return: how many of the first work requests were accepted; also 0.  If these are not all,
 * krdma_conn_post_send() can post the next one, or returns the errno.
 */
int krdma_conn_post_flat(struct krdma_conn *conn, struct krdma_flat_post *post)
{
	struct krdma_qp *qp = krdma_conn_qp(conn);

	return qp ? krdma_qp_post_flat(qp, post) : 0;
}

/**
 * krdma_conn_post_recv() - Post receive work requests
 * @conn: the connection, after krdma_conn_create_qp(): also before it is connected
 * @wrs: the work requests; copied
 * @count: number of work requests
 *
 * Messages take the receives in this order, and each receive completes exactly once.  The caller
 * may pass MRs that it found under rcu_read_lock(), as with krdma_conn_post_send().
 *
 * Context: any but NMI; does not sleep, and does not call the consumer, except that posting on a
 * lane may call notify() of a lane that ends.
 * Return: the number of work requests that were accepted, at least 1; or, if none was,
 * -EAGAIN: the RQ is full;
 * -ENOTCONN: the connection has no QP yet, or is ending;
 * -ENODEV: its device has been removed;
 * -EINVAL: @count is not positive, or receives come from an SRQ;
 * -EMSGSIZE: more SGEs than a receive can have, at most 128;
 * -EACCES, -ERANGE, -ESTALE, -EXDEV: as for krdma_conn_post_send();
 * -EIO: the provider failed.
 */
int krdma_conn_post_recv(struct krdma_conn *conn, const struct krdma_recv_wr *wrs, int count)
{
	struct krdma_qp *qp = krdma_conn_qp(conn);

	if (count <= 0)
		return -EINVAL;
	if (!qp)
		return krdma_conn_post_recv_lower(conn, wrs, count);

	return krdma_conn_result(conn, krdma_qp_post_recv(qp, wrs, count));
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_post_recv, "KRDMA");

/**
 * krdma_conn_map_sg() - Map pages for a work request that is about to be posted
 * @conn: the connection, connected
 * @sg: the pages; list and pages stay valid until krdma_conn_unmap_sg()
 * @entries: number of entries of @sg
 * @direction: DMA_TO_DEVICE for what is sent or written, DMA_FROM_DEVICE for what is read
 *
 * The SGEs of the work request are then the sg_dma_address() and sg_dma_len() of as many entries
 * as this returns, without an MR and with krdma_conn_lkey().
 *
 * The end of the connection waits until everything is unmapped.  So the caller posts without
 * sleeping after this call, and unmaps when the work request completes, or at once if it was
 * refused.
 *
 * Context: any but NMI; does not sleep.
 * Return: the number of mapped entries, or
 * -ENOTCONN: the connection is not, or no longer, connected;
 * -ENODEV: its device has been removed;
 * -EOPNOTSUPP: the connection is a lane;
 * -EIO: the pages cannot be mapped.
 */
int krdma_conn_map_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
		      enum dma_data_direction direction)
{
	struct krdma_qp *qp = krdma_conn_qp(conn);

	if (!qp)
		return krdma_conn_uses_lower(conn) ? -EOPNOTSUPP : krdma_conn_refusal(conn);

	return krdma_conn_result(conn, krdma_qp_map_sg(qp, sg, entries, direction));
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_map_sg, "KRDMA");

/**
 * krdma_conn_unmap_sg() - Unmap the pages of a work request
 * @conn: the connection for which they were mapped
 * @sg: the pages
 * @entries: as given to krdma_conn_map_sg(), not as returned by it
 * @direction: as given to krdma_conn_map_sg()
 *
 * The work request has completed, or was not posted.
 *
 * Context: any but NMI.
 */
void krdma_conn_unmap_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
			 enum dma_data_direction direction)
{
	krdma_qp_unmap_sg(conn->qp, sg, entries, direction);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_unmap_sg, "KRDMA");
