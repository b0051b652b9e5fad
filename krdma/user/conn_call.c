// SPDX-License-Identifier: GPL-2.0
/*
 * Ioctls of connections.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <krdma/krdma.h>

#include "cm/conn_event.h"
#include "cm/conn_state.h"
#include "user/conn.h"
#include "user/conn_call.h"
#include "user/file.h"
#include "user/ioctl.h"
#include "user/ring.h"
#include "user/srq.h"
#include "user/user.h"

/* Limits of values that the core stores in a byte. */
#define KRDMA_ACK_TIMEOUT_MAX	31
#define KRDMA_RETRIES_MAX	7

/**
 * krdma_user_conn_create() - Handle KRDMA_CONN_CREATE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_create(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_create_args *create = &ucmd->buffer->conn_create;
	struct krdma_user_conn *conn;
	struct krdma_user_fd ufd;
	int ret;

	if (create->flags & ~KRDMA_CONN_CREATE_LANE)
		return -EOPNOTSUPP;

	conn = krdma_user_conn_new(ucmd->session, &ufd);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	ret = krdma_user_conn_create_core(conn, create->flags & KRDMA_CONN_CREATE_LANE);
	if (!ret) {
		create->fd = ufd.fd;
		create->id = conn->dest.id;
		ret = krdma_ucmd_respond(ucmd);
	}
	if (ret)
		krdma_user_fd_cancel(&ufd);
	else
		krdma_user_fd_install(&ufd);
	return ret;
}

/**
 * krdma_user_conn_resolve() - Handle KRDMA_CONN_RESOLVE
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_resolve(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_resolve_args *resolve = &ucmd->buffer->conn_resolve;
	struct sockaddr_storage local, remote;
	struct krdma_route route = {
		.remote = (struct sockaddr *)&remote,
		.timeout_ms = resolve->timeout_ms,
		.tos = resolve->tos,
		.ack_timeout = resolve->ack_timeout,
	};
	int ret;

	if ((resolve->flags & ~KRDMA_RESOLVE_LOCAL) || resolve->reserved)
		return -EOPNOTSUPP;
	if (resolve->tos > U8_MAX || resolve->ack_timeout > KRDMA_ACK_TIMEOUT_MAX)
		return -EINVAL;

	ret = krdma_address_from_user(&resolve->remote, &remote);
	if (ret)
		return ret;
	if (resolve->flags & KRDMA_RESOLVE_LOCAL) {
		ret = krdma_address_from_user(&resolve->local, &local);
		if (ret)
			return ret;
		route.local = (struct sockaddr *)&local;
	}
	return krdma_conn_resolve(ucmd->conn->core, &route);
}

/*
 * KRDMA_CONN_CREATE_QP
 */

/**
 * struct krdma_user_parts - rings and SRQ of a connection
 * @ring: ring where sends complete
 * @recv_ring: ring where receives complete; NULL with @srq
 * @srq: SRQ where receives come from, or NULL
 *
 * With a reference to each.
 */
struct krdma_user_parts {
	struct krdma_user_ring *ring;
	struct krdma_user_ring *recv_ring;
	struct krdma_user_srq *srq;
};

static void krdma_user_parts_put(struct krdma_user_parts *parts)
{
	if (parts->recv_ring)
		krdma_user_ring_put(parts->recv_ring);
	if (parts->srq)
		krdma_user_srq_put(parts->srq);
	if (parts->ring)
		krdma_user_ring_put(parts->ring);
}

/* Takes a reference to the ring behind a descriptor, which must be of @session. */
static struct krdma_user_ring *krdma_user_parts_ring(struct krdma_user_session *session, int fd)
{
	struct krdma_user_ring *ring;
	struct file *file;

	ring = krdma_user_fd_get(fd, &krdma_user_ring_fops, &file);
	if (IS_ERR(ring))
		return ring;
	if (krdma_user_ring_session(ring) == session)
		krdma_user_ring_get(ring);
	else
		ring = ERR_PTR(-EXDEV);
	fput(file);
	return ring;
}

static struct krdma_user_srq *krdma_user_parts_srq(struct krdma_user_session *session, int fd)
{
	struct krdma_user_srq *srq;
	struct file *file;

	srq = krdma_user_fd_get(fd, &krdma_user_srq_fops, &file);
	if (IS_ERR(srq))
		return srq;
	if (srq->session == session)
		krdma_user_srq_get(srq);
	else
		srq = ERR_PTR(-EXDEV);
	fput(file);
	return srq;
}

static int krdma_user_parts_get(struct krdma_user_parts *parts,
				struct krdma_user_session *session,
				const struct krdma_conn_create_qp_args *args)
{
	struct krdma_user_ring *ring;
	struct krdma_user_srq *srq;
	int ret;

	*parts = (struct krdma_user_parts) {};

	ring = krdma_user_parts_ring(session, args->ring_fd);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	parts->ring = ring;

	if (args->flags & KRDMA_CREATE_QP_SRQ) {
		srq = krdma_user_parts_srq(session, args->srq_fd);
		if (IS_ERR(srq)) {
			ret = PTR_ERR(srq);
			goto err_put;
		}
		parts->srq = srq;
		return 0;
	}
	if (args->flags & KRDMA_CREATE_QP_RECV_RING) {
		ring = krdma_user_parts_ring(session, args->recv_ring_fd);
		if (IS_ERR(ring)) {
			ret = PTR_ERR(ring);
			goto err_put;
		}
	} else {
		krdma_user_ring_get(ring);
	}
	parts->recv_ring = ring;
	return 0;

err_put:
	krdma_user_parts_put(parts);
	return ret;
}

/* Converts the attributes for the core, and binds the rings to the device if they are not yet. */
static int krdma_user_conn_attr(struct krdma_conn_attr *attr,
				const struct krdma_user_parts *parts, u32 device_id,
				const struct krdma_conn_create_qp_args *args)
{
	struct krdma_cq *cq;

	*attr = (struct krdma_conn_attr) {
		.send_depth = args->send_depth,
		.recv_depth = args->recv_depth,
		.max_send_sge = args->max_send_sge,
		.max_recv_sge = args->max_recv_sge,
		.max_inline = args->max_inline,
		.keepalive_ms = args->keepalive_ms,
		.where = KRDMA_CONTEXT_POLL,
	};

	cq = krdma_user_ring_bind(parts->ring, device_id);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	attr->cq = cq;
	if (parts->srq) {
		if (parts->srq->device_id != device_id)
			return -EXDEV;
		attr->srq = parts->srq->core;
		return 0;
	}
	cq = krdma_user_ring_bind(parts->recv_ring, device_id);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	attr->recv_cq = cq;
	return 0;
}

/* If this succeeds, the connection has the references of @parts. */
static int krdma_user_conn_create_qp_with(struct krdma_user_conn *conn,
					  const struct krdma_user_parts *parts,
					  const struct krdma_conn_create_qp_args *args)
{
	struct krdma_conn_attr attr;
	struct krdma_conn_info info;
	int ret;

	lockdep_assert_held(&conn->create_qp_lock);

	/* Check the state first, so that no ring is bound in vain. */
	krdma_conn_peek_state(conn->core, &info);
	if (!conn->ring) {
		ret = krdma_conn_call_refusal(info.state, KRDMA_INPUT_CREATE_QP) ?:
		      krdma_user_conn_attr(&attr, parts, info.device_id, args);
		if (ret)
			return ret;
	} else {
		/* The core returns the errno. */
		attr = (struct krdma_conn_attr) {};
	}
	ret = krdma_conn_create_qp(conn->core, &attr);
	if (ret)
		return ret;

	/*
	 * Contexts that find the connection by its ID can post from here on.  @ring, which tells
	 * whether there is a QP, is set last.
	 */
	conn->srq = parts->srq;
	/* Pairs with the acquire for posting receives. */
	smp_store_release(&conn->recv_ring, parts->recv_ring);
	/* Pairs with the acquire for posting, and with krdma_user_conn_has_qp(). */
	smp_store_release(&conn->ring, parts->ring);
	return 0;
}

static int krdma_user_conn_create_qp_check(const struct krdma_conn_create_qp_args *args)
{
	const u32 known = KRDMA_CREATE_QP_RECV_RING | KRDMA_CREATE_QP_SRQ;

	if (args->flags & ~known)
		return -EOPNOTSUPP;
	if (args->flags == known)
		return -EINVAL;
	if ((args->flags & KRDMA_CREATE_QP_SRQ) && args->recv_depth)
		return -EINVAL;
	return 0;
}

/**
 * krdma_user_conn_create_queues() - Create the queues of a connection
 * @conn: the connection
 * @args: attributes, with flags that are known
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented for KRDMA_CONN_CREATE_QP.
 */
int krdma_user_conn_create_queues(struct krdma_user_conn *conn,
				  const struct krdma_conn_create_qp_args *args)
{
	struct krdma_user_parts parts;
	int ret;

	ret = krdma_user_parts_get(&parts, conn->session, args);
	if (ret)
		return ret;
	if (mutex_lock_interruptible(&conn->create_qp_lock)) {
		ret = -ERESTARTSYS;
	} else {
		ret = krdma_user_conn_create_qp_with(conn, &parts, args);
		mutex_unlock(&conn->create_qp_lock);
		/* The SRQ has ended with the process whose memory was in its receives. */
		if (ret == -ESHUTDOWN)
			ret = -ENOENT;
	}
	if (ret)
		krdma_user_parts_put(&parts);
	return ret;
}

/**
 * krdma_user_conn_create_qp() - Handle KRDMA_CONN_CREATE_QP
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_create_qp(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_create_qp_args *args = &ucmd->buffer->conn_create_qp;
	struct krdma_user_conn *conn = ucmd->conn;
	struct krdma_conn_info info;
	int ret;

	ret = krdma_user_conn_create_qp_check(args) ?: krdma_user_conn_create_queues(conn, args);
	if (ret)
		return ret;

	krdma_conn_query(conn->core, &info);
	args->send_depth = info.send_depth;
	args->recv_depth = info.recv_depth;
	args->max_send_sge = info.max_send_sge;
	args->max_recv_sge = info.max_recv_sge;
	args->max_inline = info.max_inline;
	args->device_id = info.device_id;
	return krdma_ucmd_inform(ucmd);
}

/*
 * Connection parameters
 */

/**
 * krdma_user_private_data() - Copy a program's private data
 * @from: address of the data
 * @length: bytes
 * @data: filled in; has KRDMA_PRIVATE_DATA_MAX bytes
 *
 * Context: process context of the caller; may sleep.
 * Return: 0, -EMSGSIZE or -EFAULT.
 */
int krdma_user_private_data(u64 from, u32 length, u8 *data)
{
	/* No transport carries more. */
	if (length > KRDMA_PRIVATE_DATA_MAX)
		return -EMSGSIZE;
	if (copy_from_user(data, u64_to_user_ptr(from), length))
		return -EFAULT;
	return 0;
}

/* The flags of KRDMA_CONN_CONNECT and KRDMA_CONN_ACCEPT. */
#define KRDMA_USER_PARAM_FLAGS	(KRDMA_CONN_PARAM_PLAIN | KRDMA_CONN_PARAM_NO_RNR_RETRY)

static int krdma_user_conn_param(const struct krdma_conn_param_args *args, u32 known, u8 *data,
				 struct krdma_conn_param *param)
{
	if ((args->flags & ~known) || args->reserved)
		return -EOPNOTSUPP;
	if (args->read_depth > U8_MAX || args->read_depth_in > U8_MAX ||
	    args->retry_count > KRDMA_RETRIES_MAX || args->rnr_retry_count > KRDMA_RETRIES_MAX)
		return -EINVAL;
	if ((args->flags & KRDMA_CONN_PARAM_NO_RNR_RETRY) && args->rnr_retry_count)
		return -EINVAL;

	*param = (struct krdma_conn_param) {
		.private_data = data,
		.private_data_len = args->private_data_len,
		.plain = args->flags & KRDMA_CONN_PARAM_PLAIN,
		.read_depth = args->read_depth,
		.read_depth_in = args->read_depth_in,
		.retry_count = args->retry_count,
		.rnr_retry_count = args->rnr_retry_count,
		.no_rnr_retry = args->flags & KRDMA_CONN_PARAM_NO_RNR_RETRY,
		.early = args->flags & KRDMA_CONN_PARAM_EARLY,
	};
	return krdma_user_private_data(args->private_data, args->private_data_len, data);
}

/*
 * For a connection without a QP, the core would create one that the program could not use.  A QP
 * that exists stays.
 */
static bool krdma_user_conn_has_qp(struct krdma_user_conn *conn)
{
	/* Pairs with the end of krdma_user_conn_create_qp_with(). */
	return smp_load_acquire(&conn->ring);
}

/**
 * krdma_user_conn_connect() - Handle KRDMA_CONN_CONNECT
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_connect(struct krdma_ucmd *ucmd)
{
	struct krdma_user_conn *conn = ucmd->conn;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_conn_param param;
	struct krdma_conn_info info;
	int ret;

	ret = krdma_user_conn_param(&ucmd->buffer->conn_param,
				    KRDMA_USER_PARAM_FLAGS | KRDMA_CONN_PARAM_EARLY, data, &param);
	if (ret)
		return ret;
	/* In this order: if there is no QP, the state is from before its creation. */
	krdma_conn_peek_state(conn->core, &info);
	if (!krdma_user_conn_has_qp(conn))
		return krdma_conn_call_refusal(info.state, KRDMA_INPUT_CONNECT) ?: -EBUSY;
	return krdma_conn_connect(conn->core, &param);
}

/**
 * krdma_user_conn_accept() - Handle KRDMA_CONN_ACCEPT
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_accept(struct krdma_ucmd *ucmd)
{
	struct krdma_user_conn *conn = ucmd->conn;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_conn_param param;
	struct krdma_conn_info info;
	int ret;

	ret = krdma_user_conn_param(&ucmd->buffer->conn_param, KRDMA_USER_PARAM_FLAGS, data,
				    &param);
	if (ret)
		return ret;
	/*
	 * In this order, as in krdma_user_conn_connect().  In a state that does not allow the call,
	 * the core refuses it.
	 */
	krdma_conn_peek_state(conn->core, &info);
	if (!krdma_user_conn_has_qp(conn) &&
	    !krdma_conn_call_refusal(info.state, KRDMA_INPUT_ACCEPT))
		return -EBUSY;
	return krdma_conn_accept(conn->core, &param);
}

/**
 * krdma_user_conn_reject() - Handle KRDMA_CONN_REJECT
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_reject(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_reject_args *reject = &ucmd->buffer->conn_reject;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int ret;

	if (reject->flags || reject->reserved)
		return -EOPNOTSUPP;
	ret = krdma_user_private_data(reject->private_data, reject->private_data_len, data);
	if (ret)
		return ret;
	return krdma_conn_reject(ucmd->conn->core, data, reject->private_data_len);
}

/**
 * krdma_user_conn_disconnect() - Handle KRDMA_CONN_DISCONNECT
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_disconnect(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_disconnect_args *disconnect = &ucmd->buffer->conn_disconnect;

	if (disconnect->flags & ~KRDMA_DISCONNECT_ABORT)
		return -EOPNOTSUPP;
	if (disconnect->flags & KRDMA_DISCONNECT_ABORT) {
		krdma_conn_abort(ucmd->conn->core);
		return 0;
	}
	return krdma_conn_disconnect(ucmd->conn->core);
}

/*
 * Waiting and queries
 */

/**
 * krdma_user_conn_wait_until() - Wait until a connection's state does not change by itself
 * @core: the core's connection
 * @deadline_ns: deadline, converted by krdma_deadline_of_caller()
 * @state: filled in
 *
 * Context: process context of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as documented for KRDMA_CONN_WAIT; -ERESTARTSYS.
 */
int krdma_user_conn_wait_until(struct krdma_conn *core, u64 deadline_ns, u32 *state)
{
	struct krdma_conn_info info;
	u32 left_ms;
	int ret;

	for (;;) {
		krdma_conn_peek_state(core, &info);
		*state = info.state;
		/* Of these states, only a closed connection has an error. */
		if (info.settled)
			return info.error;

		left_ms = krdma_deadline_ms(deadline_ns);
		if (!left_ms)
			return deadline_ns ? -ETIMEDOUT : -EINPROGRESS;
		ret = krdma_conn_wait(core, left_ms);
		if (ret == -EINTR && signal_pending(current))
			return -ERESTARTSYS;
	}
}

/**
 * krdma_user_conn_wait() - Handle KRDMA_CONN_WAIT
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_wait(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_wait_args *wait = &ucmd->buffer->conn_wait;
	int ret;

	if (wait->flags || wait->reserved)
		return -EOPNOTSUPP;

	ret = krdma_user_conn_wait_until(ucmd->conn->core,
					 krdma_deadline_of_caller(wait->deadline_ns),
					 &wait->state);
	return ret ?: krdma_ucmd_respond(ucmd);
}

/* Copies as many bytes of the peer's private data as fit. */
static int krdma_user_conn_give_data(struct krdma_conn *core, struct krdma_conn_query_args *query)
{
	u8 room = min_t(u32, query->private_data_len, KRDMA_PRIVATE_DATA_MAX);
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int length;

	length = krdma_conn_private_data(core, data, room);
	if (copy_to_user(u64_to_user_ptr(query->private_data), data, min_t(int, length, room)))
		return -EFAULT;
	query->private_data_len = length;
	return 0;
}

/**
 * krdma_user_conn_query() - Handle KRDMA_CONN_QUERY
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_conn_query(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_query_args *query = &ucmd->buffer->conn_query;
	struct sockaddr_storage local = {}, remote = {};
	struct krdma_conn *core = ucmd->conn->core;
	struct krdma_conn_info info;
	int ret;

	if (query->flags || query->reserved)
		return -EOPNOTSUPP;
	ret = krdma_user_conn_give_data(core, query);
	if (ret)
		return ret;

	krdma_conn_query(core, &info);
	query->state = info.state;
	query->error = info.error;
	query->id = ucmd->conn->dest.id;
	query->device_id = info.device_id;
	query->qp_number = info.qp_number;
	query->send_depth = info.send_depth;
	query->recv_depth = info.recv_depth;
	query->max_send_sge = info.max_send_sge;
	query->max_recv_sge = info.max_recv_sge;
	query->max_inline = info.max_inline;
	query->read_depth = info.read_depth;
	query->read_depth_in = info.read_depth_in;
	query->path_mtu = info.path_mtu;
	query->peer_is_krdma = info.peer_is_krdma;
	query->request_age_ms = info.request_age_ms;
	query->sends_posted = info.sends_posted;
	query->sends_completed = info.sends_completed;
	query->receives_posted = info.receives_posted;
	query->receives_completed = info.receives_completed;
	query->kind = info.lane ? KRDMA_CONN_LANE : KRDMA_CONN_PLAIN;
	query->trunk = info.trunk;

	/* Addresses that are not known yet have no family. */
	krdma_conn_addresses(core, &local, &remote);
	krdma_address_to_user(&local, &query->local);
	krdma_address_to_user(&remote, &query->remote);
	return krdma_ucmd_respond(ucmd);
}

/**
 * krdma_user_conn_find_mr() - Handle KRDMA_CONN_FIND_MR
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>; -ERESTARTSYS.
 */
int krdma_user_conn_find_mr(struct krdma_ucmd *ucmd)
{
	struct krdma_conn_find_mr_args *find = &ucmd->buffer->conn_find_mr;
	u64 deadline_ns = krdma_deadline_of_caller(find->deadline_ns);
	struct krdma_found_mr found;
	int ret;

	if (find->flags)
		return -EOPNOTSUPP;
	if (!krdma_user_name_is_whole(find->name))
		return -EINVAL;
	do {
		ret = krdma_conn_find_mr(ucmd->conn->core, find->name, find->offset, &found,
					 krdma_deadline_ms(deadline_ns));
	} while (ret == -ETIMEDOUT && krdma_deadline_ms(deadline_ns));
	if (ret == -EINTR)
		return -ERESTARTSYS;
	if (ret)
		return ret;

	find->remote_addr = found.remote_addr;
	find->length = found.length;
	find->reach = found.reach;
	find->rkey = found.rkey;
	find->access = found.access;
	return krdma_ucmd_respond(ucmd);
}
