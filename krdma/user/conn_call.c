// SPDX-License-Identifier: GPL-2.0
/*
 * The requests to connections of programs.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <krdma/krdma.h>

#include "user/user.h"

/* What fits where the core has a byte. */
#define KRDMA_ACK_TIMEOUT_MAX	31
#define KRDMA_RETRIES_MAX	7

/**
 * krdma_user_conn_create - KRDMA_CONN_CREATE
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_create(struct krdma_user_request *request)
{
	struct krdma_conn_create *create = &request->buffer->conn_create;
	struct krdma_user_conn *conn;
	struct krdma_user_fd ufd;
	int ret;

	if (create->flags)
		return -EOPNOTSUPP;

	conn = krdma_user_conn_new(request->session, &ufd);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	ret = krdma_user_conn_begin(conn, NULL, 0);
	if (!ret) {
		create->fd = ufd.fd;
		create->id = conn->target.id;
		ret = krdma_request_respond(request);
	}
	if (ret)
		krdma_user_fd_cancel(&ufd);
	else
		krdma_user_fd_install(&ufd);
	return ret;
}

/**
 * krdma_user_conn_resolve - KRDMA_CONN_RESOLVE
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_resolve(struct krdma_user_request *request)
{
	struct krdma_conn_resolve *resolve = &request->buffer->conn_resolve;
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
	return krdma_conn_resolve(request->conn->core, &route);
}

/*
 * KRDMA_CONN_PREPARE
 */

/**
 * struct krdma_user_parts - what a connection is to work with
 * @queue: where operations complete
 * @recv_queue: where receives complete; NULL with @srq
 * @srq: where receives come from, or NULL
 *
 * With a reference to each.
 */
struct krdma_user_parts {
	struct krdma_user_queue *queue;
	struct krdma_user_queue *recv_queue;
	struct krdma_user_srq *srq;
};

static void krdma_user_parts_put(struct krdma_user_parts *parts)
{
	if (parts->recv_queue)
		krdma_user_queue_put(parts->recv_queue);
	if (parts->srq)
		krdma_user_srq_put(parts->srq);
	if (parts->queue)
		krdma_user_queue_put(parts->queue);
}

/* A reference to the queue behind a descriptor, which must be of @session. */
static struct krdma_user_queue *krdma_user_parts_queue(struct krdma_user_session *session, int fd)
{
	struct krdma_user_queue *queue;
	struct file *file;

	queue = krdma_user_fd_get(fd, &krdma_user_queue_fops, &file);
	if (IS_ERR(queue))
		return queue;
	if (krdma_user_queue_session(queue) == session)
		krdma_user_queue_get(queue);
	else
		queue = ERR_PTR(-EXDEV);
	fput(file);
	return queue;
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
				const struct krdma_conn_prepare *prepare)
{
	struct krdma_user_queue *queue;
	struct krdma_user_srq *srq;
	int ret;

	*parts = (struct krdma_user_parts) {};

	queue = krdma_user_parts_queue(session, prepare->queue_fd);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	parts->queue = queue;

	if (prepare->flags & KRDMA_PREPARE_SRQ) {
		srq = krdma_user_parts_srq(session, prepare->srq_fd);
		if (IS_ERR(srq)) {
			ret = PTR_ERR(srq);
			goto err_put;
		}
		parts->srq = srq;
		return 0;
	}
	if (prepare->flags & KRDMA_PREPARE_RECV_QUEUE) {
		queue = krdma_user_parts_queue(session, prepare->recv_queue_fd);
		if (IS_ERR(queue)) {
			ret = PTR_ERR(queue);
			goto err_put;
		}
	} else {
		krdma_user_queue_get(queue);
	}
	parts->recv_queue = queue;
	return 0;

err_put:
	krdma_user_parts_put(parts);
	return ret;
}

/*
 * Why a connection that has no queues yet cannot connect; and whether it can be given
 * some: then it is -EBUSY and @resolved.
 */
static int krdma_user_conn_unprepared(enum krdma_conn_state state, bool *resolved)
{
	*resolved = false;
	switch (state) {
	case KRDMA_CONN_RESOLVED:
	case KRDMA_CONN_REQUESTED:
		*resolved = true;
		return -EBUSY;
	case KRDMA_CONN_RESOLVING_ADDRESS:
	case KRDMA_CONN_RESOLVING_ROUTE:
		return -EBUSY;
	default:
		return -ENOTCONN;
	}
}

/* The core's words for what is asked; the queues are made on the device, if they are not yet. */
static int krdma_user_conn_attr(struct krdma_conn_attr *attr,
				const struct krdma_user_parts *parts, u32 device_id,
				const struct krdma_conn_prepare *prepare)
{
	struct krdma_queue *queue;

	*attr = (struct krdma_conn_attr) {
		.send_depth = prepare->send_depth,
		.recv_depth = prepare->recv_depth,
		.max_send_sge = prepare->max_send_sge,
		.max_recv_sge = prepare->max_recv_sge,
		.max_inline = prepare->max_inline,
		.keepalive_ms = prepare->keepalive_ms,
		.where = KRDMA_CONTEXT_POLL,
	};

	queue = krdma_user_queue_bind(parts->queue, device_id);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	attr->queue = queue;
	if (parts->srq) {
		if (parts->srq->device_id != device_id)
			return -EXDEV;
		attr->srq = parts->srq->core;
		return 0;
	}
	queue = krdma_user_queue_bind(parts->recv_queue, device_id);
	if (IS_ERR(queue))
		return PTR_ERR(queue);
	attr->recv_queue = queue;
	return 0;
}

/* Its parts' references are the connection's if this succeeds. */
static int krdma_user_conn_prepare_with(struct krdma_user_conn *conn,
					const struct krdma_user_parts *parts,
					const struct krdma_conn_prepare *prepare)
{
	struct krdma_conn_attr attr;
	struct krdma_conn_info info;
	bool resolved;
	int ret;

	lockdep_assert_held(&conn->prepare_lock);

	/* Before a queue is bound for nothing. */
	krdma_conn_query(conn->core, &info);
	if (!conn->queue) {
		ret = krdma_user_conn_unprepared(info.state, &resolved);
		if (!resolved)
			return ret;
		ret = krdma_user_conn_attr(&attr, parts, info.device_id, prepare);
		if (ret)
			return ret;
	} else {
		/* The core knows why not. */
		attr = (struct krdma_conn_attr) {};
	}
	ret = krdma_conn_prepare(conn->core, &attr);
	if (ret)
		return ret;

	/*
	 * Those who find the connection by its number can post from here on.  What is
	 * looked at to know whether it is prepared comes last.
	 */
	conn->srq = parts->srq;
	/* Pairs with those who post receives. */
	smp_store_release(&conn->recv_queue, parts->recv_queue);
	/* Pairs with those who post, and with krdma_user_conn_is_prepared(). */
	smp_store_release(&conn->queue, parts->queue);
	return 0;
}

static int krdma_user_conn_prepare_check(const struct krdma_conn_prepare *prepare)
{
	const u32 known = KRDMA_PREPARE_RECV_QUEUE | KRDMA_PREPARE_SRQ;

	if (prepare->flags & ~known)
		return -EOPNOTSUPP;
	if (prepare->flags == known)
		return -EINVAL;
	if ((prepare->flags & KRDMA_PREPARE_SRQ) && prepare->recv_depth)
		return -EINVAL;
	return 0;
}

/**
 * krdma_user_conn_prepare - KRDMA_CONN_PREPARE
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_prepare(struct krdma_user_request *request)
{
	struct krdma_conn_prepare *prepare = &request->buffer->conn_prepare;
	struct krdma_user_conn *conn = request->conn;
	struct krdma_user_parts parts;
	struct krdma_conn_info info;
	int ret;

	ret = krdma_user_conn_prepare_check(prepare);
	if (ret)
		return ret;
	ret = krdma_user_parts_get(&parts, conn->session, prepare);
	if (ret)
		return ret;

	ret = mutex_lock_interruptible(&conn->prepare_lock);
	if (ret) {
		krdma_user_parts_put(&parts);
		return -ERESTARTSYS;
	}
	ret = krdma_user_conn_prepare_with(conn, &parts, prepare);
	mutex_unlock(&conn->prepare_lock);
	if (ret) {
		krdma_user_parts_put(&parts);
		return ret;
	}

	krdma_conn_query(conn->core, &info);
	prepare->send_depth = info.send_depth;
	prepare->recv_depth = info.recv_depth;
	prepare->max_send_sge = info.max_send_sge;
	prepare->max_recv_sge = info.max_recv_sge;
	prepare->max_inline = info.max_inline;
	prepare->device_id = info.device_id;
	return krdma_request_inform(request);
}

/*
 * Terms
 */

/* A program's private data; @data has room for KRDMA_PRIVATE_DATA_MAX. */
static int krdma_user_private_data(u64 from, u32 length, u8 *data)
{
	/* No transport takes so much. */
	if (length > KRDMA_PRIVATE_DATA_MAX)
		return -EMSGSIZE;
	if (copy_from_user(data, u64_to_user_ptr(from), length))
		return -EFAULT;
	return 0;
}

static int krdma_user_terms(const struct krdma_conn_terms *terms, u8 *data,
			    struct krdma_conn_param *param)
{
	if ((terms->flags & ~(KRDMA_TERMS_PLAIN | KRDMA_TERMS_NO_RNR_RETRY)) || terms->reserved)
		return -EOPNOTSUPP;
	if (terms->read_depth > U8_MAX || terms->read_depth_in > U8_MAX ||
	    terms->retry_count > KRDMA_RETRIES_MAX || terms->rnr_retry_count > KRDMA_RETRIES_MAX)
		return -EINVAL;
	if ((terms->flags & KRDMA_TERMS_NO_RNR_RETRY) && terms->rnr_retry_count)
		return -EINVAL;

	*param = (struct krdma_conn_param) {
		.private_data = data,
		.private_data_len = terms->private_data_len,
		.plain = terms->flags & KRDMA_TERMS_PLAIN,
		.read_depth = terms->read_depth,
		.read_depth_in = terms->read_depth_in,
		.retry_count = terms->retry_count,
		.rnr_retry_count = terms->rnr_retry_count,
		.no_rnr_retry = terms->flags & KRDMA_TERMS_NO_RNR_RETRY,
	};
	return krdma_user_private_data(terms->private_data, terms->private_data_len, data);
}

/*
 * The core would make queues for a connection that has none, which a program could not
 * reach.  When they are there, they stay.
 */
static bool krdma_user_conn_is_prepared(struct krdma_user_conn *conn)
{
	/* Pairs with the end of krdma_user_conn_prepare_with(). */
	return smp_load_acquire(&conn->queue);
}

/**
 * krdma_user_conn_connect - KRDMA_CONN_CONNECT
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_connect(struct krdma_user_request *request)
{
	struct krdma_user_conn *conn = request->conn;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_conn_param param;
	struct krdma_conn_info info;
	bool resolved;
	int ret;

	ret = krdma_user_terms(&request->buffer->conn_terms, data, &param);
	if (ret)
		return ret;
	/* In this order: the state is from before it was prepared, if it is not. */
	krdma_conn_query(conn->core, &info);
	if (!krdma_user_conn_is_prepared(conn)) {
		/* That is to be accepted. */
		if (info.state == KRDMA_CONN_REQUESTED)
			return -EINVAL;
		return krdma_user_conn_unprepared(info.state, &resolved);
	}
	return krdma_conn_connect(conn->core, &param);
}

/**
 * krdma_user_conn_accept - KRDMA_CONN_ACCEPT
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_accept(struct krdma_user_request *request)
{
	struct krdma_user_conn *conn = request->conn;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_conn_param param;
	struct krdma_conn_info info;
	int ret;

	ret = krdma_user_terms(&request->buffer->conn_terms, data, &param);
	if (ret)
		return ret;
	/* As above.  In another state it is over, or one's own, and the core refuses it. */
	krdma_conn_query(conn->core, &info);
	if (!krdma_user_conn_is_prepared(conn) && info.state == KRDMA_CONN_REQUESTED)
		return -EBUSY;
	return krdma_conn_accept(conn->core, &param);
}

/**
 * krdma_user_conn_reject - KRDMA_CONN_REJECT
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_reject(struct krdma_user_request *request)
{
	struct krdma_conn_reject *reject = &request->buffer->conn_reject;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int ret;

	if (reject->flags || reject->reserved)
		return -EOPNOTSUPP;
	ret = krdma_user_private_data(reject->private_data, reject->private_data_len, data);
	if (ret)
		return ret;
	return krdma_conn_reject(request->conn->core, data, reject->private_data_len);
}

/**
 * krdma_user_conn_disconnect - KRDMA_CONN_DISCONNECT
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_disconnect(struct krdma_user_request *request)
{
	struct krdma_conn_disconnect *disconnect = &request->buffer->conn_disconnect;

	if (disconnect->flags & ~KRDMA_DISCONNECT_ABORT)
		return -EOPNOTSUPP;
	if (disconnect->flags & KRDMA_DISCONNECT_ABORT) {
		krdma_conn_abort(request->conn->core);
		return 0;
	}
	return krdma_conn_disconnect(request->conn->core);
}

/*
 * Waiting and asking
 */

/* -EINPROGRESS: it is on its way from one state to another. */
static int krdma_user_conn_outcome(const struct krdma_conn_info *info)
{
	switch (info->state) {
	case KRDMA_CONN_NEW:
	case KRDMA_CONN_RESOLVED:
	case KRDMA_CONN_REQUESTED:
	case KRDMA_CONN_CONNECTED:
		return 0;
	case KRDMA_CONN_CLOSED:
		return info->error;
	default:
		return -EINPROGRESS;
	}
}

static int krdma_user_conn_wait_until(struct krdma_conn *core, u64 deadline_ns, u32 *state)
{
	struct krdma_conn_info info;
	u32 left_ms;
	int ret;

	for (;;) {
		krdma_conn_query(core, &info);
		*state = info.state;
		ret = krdma_user_conn_outcome(&info);
		if (ret != -EINPROGRESS)
			return ret;

		left_ms = krdma_deadline_ms(deadline_ns);
		if (!left_ms)
			return deadline_ns ? -ETIMEDOUT : -EINPROGRESS;
		ret = krdma_conn_wait(core, left_ms);
		if (ret == -EINTR && signal_pending(current))
			return -ERESTARTSYS;
	}
}

/**
 * krdma_user_conn_wait - KRDMA_CONN_WAIT
 * @request: the request
 *
 * Context: process context, of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_wait(struct krdma_user_request *request)
{
	struct krdma_conn_wait *wait = &request->buffer->conn_wait;
	int ret;

	if (wait->flags || wait->reserved)
		return -EOPNOTSUPP;

	ret = krdma_user_conn_wait_until(request->conn->core,
					 krdma_deadline_of_caller(wait->deadline_ns),
					 &wait->state);
	return ret ?: krdma_request_respond(request);
}

/* The peer's private data, as much of it as there is room for. */
static int krdma_user_conn_give_data(struct krdma_conn *core, struct krdma_conn_query *query)
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
 * krdma_user_conn_query - KRDMA_CONN_QUERY
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_conn_query(struct krdma_user_request *request)
{
	struct krdma_conn_query *query = &request->buffer->conn_query;
	struct sockaddr_storage local = {}, remote = {};
	struct krdma_conn *core = request->conn->core;
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
	query->id = request->conn->target.id;
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
	query->sends_posted = info.sends_posted;
	query->sends_completed = info.sends_completed;
	query->receives_posted = info.receives_posted;
	query->receives_completed = info.receives_completed;

	/* Before they are known they stay without a family. */
	krdma_conn_addresses(core, &local, &remote);
	krdma_address_to_user(&local, &query->local);
	krdma_address_to_user(&remote, &query->remote);
	return krdma_request_respond(request);
}
