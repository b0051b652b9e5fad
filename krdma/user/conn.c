// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of programs: the file, its records, and its end.
 *
 * The core's connection refers to the file's only by its ID, which is the core's context.  So an
 * event or completion that comes late finds nothing, instead of another object.
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <krdma/krdma.h>

#include "cm/conn_event.h"
#include "core/objects.h"
#include "user/conn.h"
#include "user/conn_call.h"
#include "user/cq.h"
#include "user/event.h"
#include "user/file.h"
#include "user/id.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/record.h"
#include "user/srq.h"
#include "user/user.h"
#include "user/ring.h"

/*
 * The object
 */

/* A size of its own: there may be thousands, and each is cleared. */
static struct kmem_cache *krdma_user_conn_cache;

/**
 * krdma_user_conns_init() - Allocate what all connections share
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_user_conns_init(void)
{
	krdma_user_conn_cache = KMEM_CACHE(krdma_user_conn, SLAB_ACCOUNT);
	return krdma_user_conn_cache ? 0 : -ENOMEM;
}

/**
 * krdma_user_conns_exit() - Free what krdma_user_conns_init() has allocated
 *
 * There are no connections any more.
 *
 * Context: process context; may sleep.
 */
void krdma_user_conns_exit(void)
{
	kmem_cache_destroy(krdma_user_conn_cache);
}

/* After an RCU grace period: no context that found it by its ID still uses it. */
static void krdma_user_conn_free(struct work_struct *work)
{
	struct krdma_user_conn *conn = container_of(to_rcu_work(work), struct krdma_user_conn,
						    free_work);

	if (conn->recv_ring)
		krdma_user_ring_put(conn->recv_ring);
	if (conn->srq)
		krdma_user_srq_put(conn->srq);
	if (conn->ring)
		krdma_user_ring_put(conn->ring);
	krdma_conn_put_sync(conn->core);
	krdma_user_account_uncharge(conn->session->account, KRDMA_ACCOUNT_MEMORY,
				    KRDMA_CONN_BYTES);
	krdma_user_session_put(conn->session);
	kmem_cache_free(krdma_user_conn_cache, krdma_object_uncount(KRDMA_OBJECT_USER_CONN, conn));
}

/**
 * krdma_user_conn_put() - Drop a reference to a connection
 * @conn: the connection
 *
 * Context: process context.
 */
void krdma_user_conn_put(struct krdma_user_conn *conn)
{
	if (!refcount_dec_and_test(&conn->refs))
		return;

	krdma_user_dest_remove(&conn->dest);
	/* Now, not later: a program that has reached its limit can close one and create another. */
	krdma_user_account_uncharge(conn->session->account, KRDMA_ACCOUNT_OBJECTS, 1);
	mutex_destroy(&conn->create_qp_lock);
	mutex_destroy(&conn->read_lock);
	INIT_RCU_WORK(&conn->free_work, krdma_user_conn_free);
	queue_rcu_work(krdma_user_workqueue, &conn->free_work);
}

/**
 * krdma_user_conn_alloc() - Create a connection without a descriptor
 * @session: the session
 *
 * Context: process context of the caller; may sleep.
 * Return: the connection, with one reference and without the core's connection, or ERR_PTR of
 * -EDQUOT, -ENOMEM.
 */
struct krdma_user_conn *krdma_user_conn_alloc(struct krdma_user_session *session)
{
	struct krdma_user_conn *conn;
	int ret;

	ret = krdma_user_account_charge_object(session->account, KRDMA_CONN_BYTES);
	if (ret)
		return ERR_PTR(ret);
	conn = krdma_object_count(KRDMA_OBJECT_USER_CONN,
				  kmem_cache_zalloc(krdma_user_conn_cache, GFP_KERNEL_ACCOUNT));
	if (!conn) {
		ret = -ENOMEM;
		goto err_charge;
	}
	refcount_set(&conn->refs, 1);
	mutex_init(&conn->create_qp_lock);
	mutex_init(&conn->read_lock);
	spin_lock_init(&conn->lock);
	init_waitqueue_head(&conn->wait);
	INIT_LIST_HEAD(&conn->event_node);
	INIT_LIST_HEAD(&conn->session_node);
	conn->session = session;
	conn->dest.kind = KRDMA_USER_DEST_CONN;

	ret = krdma_user_dest_add(&conn->dest);
	if (ret)
		goto err_free;
	krdma_user_session_get(session);
	return conn;

err_free:
	kmem_cache_free(krdma_user_conn_cache, krdma_object_uncount(KRDMA_OBJECT_USER_CONN, conn));
err_charge:
	krdma_user_account_uncharge_object(session->account, KRDMA_CONN_BYTES);
	return ERR_PTR(ret);
}

/**
 * krdma_user_conn_new() - Create the file of a connection
 * @session: the session
 * @ufd: filled in with its descriptor, to be installed after the core's
 *	connection was set, or
 *	cancelled; the file has the reference to the connection
 *
 * Context: process context of the caller; may sleep.
 * Return: the connection, or ERR_PTR of -EDQUOT, -EMFILE, -ENFILE, -ENOMEM.
 */
struct krdma_user_conn *krdma_user_conn_new(struct krdma_user_session *session,
					    struct krdma_user_fd *ufd)
{
	struct krdma_user_conn *conn;
	int ret;

	conn = krdma_user_conn_alloc(session);
	if (IS_ERR(conn))
		return conn;
	ret = krdma_user_fd_reserve(ufd, "[krdma-conn]", &krdma_user_conn_fops, conn, O_RDWR);
	if (ret) {
		krdma_user_conn_put(conn);
		return ERR_PTR(ret);
	}
	return conn;
}

/*
 * Callbacks from the core
 */

/* Under rcu_read_lock(); NULL: the program's connection has ended. */
static struct krdma_user_conn *krdma_user_conn_of(struct krdma_conn *core)
{
	unsigned long id = (unsigned long)krdma_conn_context(core);
	struct krdma_user_dest *dest = xa_load(&krdma_user_dests, id);

	if (!dest || dest->kind != KRDMA_USER_DEST_CONN)
		return NULL;
	return container_of(dest, struct krdma_user_conn, dest);
}

/* Has the peer ended the connection, or is it gone? */
static bool krdma_user_conn_hangs_up(const struct krdma_event *event)
{
	switch (event->type) {
	case KRDMA_EVENT_LOST:
	case KRDMA_EVENT_REJECTED:
	case KRDMA_EVENT_UNREACHABLE:
	case KRDMA_EVENT_DEVICE_REMOVAL:
		return true;
	default:
		return event->error == -EPIPE || event->error == -ECONNRESET;
	}
}

/* The event is in the core's queue. */
static void krdma_user_conn_announce(struct krdma_user_conn *conn, const struct krdma_event *event)
{
	struct krdma_user_ring *to_fill = NULL;
	unsigned long flags;

	spin_lock_irqsave(&conn->lock, flags);
	if (krdma_user_conn_hangs_up(event))
		WRITE_ONCE(conn->hangup, true);
	if (conn->event_ring && event->type != KRDMA_EVENT_CLOSED)
		to_fill = krdma_user_event_add(conn);
	spin_unlock_irqrestore(&conn->lock, flags);

	krdma_user_event_schedule(to_fill);
	wake_up_interruptible(&conn->wait);
}

/* A caller that is refused again sets the flags again. */
static void krdma_user_conn_has_space(struct krdma_user_conn *conn)
{
	struct krdma_user_ring *ring, *recv_ring;

	WRITE_ONCE(conn->full, false);
	WRITE_ONCE(conn->recv_full, false);
	/* Set if a caller was refused, because that caller had found the rings. */
	ring = READ_ONCE(conn->ring);
	recv_ring = READ_ONCE(conn->recv_ring);
	if (ring)
		krdma_user_ring_space(ring);
	if (recv_ring && recv_ring != ring)
		krdma_user_ring_space(recv_ring);
}

/* Called under the core's lock, except for the last event. */
static void krdma_user_conn_event(struct krdma_conn *core, const struct krdma_event *event)
{
	struct krdma_user_conn *conn;

	rcu_read_lock();
	conn = krdma_user_conn_of(core);
	rcu_read_unlock();
	/* The core holds a reference until the last event. */
	if (WARN_ON_ONCE(!conn))
		return;

	krdma_user_conn_announce(conn, event);
	if (event->type != KRDMA_EVENT_CLOSED)
		return;
	/* From now on the core reports no space, and refuses no caller for a full queue. */
	if (READ_ONCE(conn->full) || READ_ONCE(conn->recv_full))
		krdma_user_conn_has_space(conn);
	krdma_user_conn_put(conn);
}

/* The core does not report which queue has space. */
static void krdma_user_conn_space(struct krdma_conn *core)
{
	struct krdma_user_conn *conn;

	rcu_read_lock();
	conn = krdma_user_conn_of(core);
	if (conn) {
		krdma_user_conn_has_space(conn);
		/* Without a poll key: the connection may have ended by now. */
		wake_up_interruptible(&conn->wait);
	}
	rcu_read_unlock();
}

/* No callback for completions: they are polled. */
const struct krdma_conn_ops krdma_user_conn_ops = {
	.notify = krdma_user_conn_event,
	.space = krdma_user_conn_space,
};

/*
 * The core's reference: the core may raise the last event before its connection is set in
 * krdma_user_conn_set_core().
 */
static void *krdma_user_conn_core_get(struct krdma_user_conn *conn)
{
	refcount_inc(&conn->refs);
	return (void *)(unsigned long)conn->dest.id;
}

static int krdma_user_conn_set_core(struct krdma_user_conn *conn, struct krdma_conn *core)
{
	if (IS_ERR(core)) {
		krdma_user_conn_put(conn);
		return PTR_ERR(core);
	}

	/* Pairs with the readers that find the connection by its ID. */
	smp_store_release(&conn->core, core);
	return 0;
}

/**
 * krdma_user_conn_create_core() - Create the core's connection of a connection
 * @conn: the connection, from krdma_user_conn_new() or krdma_user_conn_alloc()
 * @lane: it is a lane if the peer takes lanes
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_user_conn_create_core(struct krdma_user_conn *conn, bool lane)
{
	struct krdma_session *session = conn->session->core;
	void *context = krdma_user_conn_core_get(conn);

	if (lane)
		return krdma_user_conn_set_core(conn, krdma_conn_create_lane(session,
									     &krdma_user_conn_ops,
									     context));
	return krdma_user_conn_set_core(conn, krdma_conn_create(session, &krdma_user_conn_ops,
								context));
}

/**
 * krdma_user_conn_take_core() - Take the core's connection of a connection from a listener
 * @conn: the connection, from krdma_user_conn_new() or krdma_user_conn_alloc()
 * @listener: the listener
 * @timeout_ms: timeout in milliseconds
 *
 * Context: process context of the caller; sleeps, until a signal, as long as there is none to
 * take.
 * Return: 0 or the negative errno of krdma_listener_next().
 */
int krdma_user_conn_take_core(struct krdma_user_conn *conn, struct krdma_listener *listener,
			      u32 timeout_ms)
{
	void *context = krdma_user_conn_core_get(conn);

	return krdma_user_conn_set_core(conn, krdma_listener_next(listener, &krdma_user_conn_ops,
								  context, timeout_ms));
}

/*
 * The file
 */

static int krdma_user_conn_release(struct inode *inode, struct file *file)
{
	struct krdma_user_conn *conn = file->private_data;

	krdma_object_uncount(KRDMA_OBJECT_USER_FILE, file);
	/* Discarded by KRDMA_CONNS_FD. */
	if (!conn)
		return 0;
	if (conn->core)
		krdma_conn_end(conn->core);
	krdma_user_conn_put(conn);
	return 0;
}

/* Also at the end of the records. */
static bool krdma_user_conn_readable(struct krdma_user_conn *conn)
{
	struct krdma_event event;

	return krdma_conn_peek_event(conn->core, &event) != -EAGAIN;
}

/* Returns 1 and the next record, which stays until it is dropped; 0 if none is left; or -EAGAIN. */
static int krdma_user_conn_peek(struct krdma_user_conn *conn, struct krdma_event_record *record)
{
	struct krdma_event event;
	int ret;

	lockdep_assert_held(&conn->read_lock);

	ret = krdma_conn_peek_event(conn->core, &event);
	if (ret)
		return ret == -EAGAIN ? ret : 0;
	*record = (struct krdma_event_record) {
		.size = sizeof(*record),
		.type = event.type,
		.error = event.error,
		.reason = event.reason,
	};
	return 1;
}

/*
 * Copies as many records as there are and as fit.  Returns bytes, 0 if none is left, or a negative
 * errno.
 */
static ssize_t krdma_user_conn_copy(struct krdma_user_conn *conn, struct iov_iter *to)
{
	struct krdma_event_record record;
	size_t done = 0;
	size_t bytes;
	int ret;

	if (mutex_lock_interruptible(&conn->read_lock))
		return -ERESTARTSYS;
	for (;;) {
		ret = 0;
		bytes = krdma_user_record_bytes(sizeof(record), iov_iter_count(to), done);
		if (!bytes)
			break;
		ret = krdma_user_conn_peek(conn, &record);
		if (ret <= 0)
			break;
		ret = -EFAULT;
		if (copy_to_iter(&record, bytes, to) != bytes)
			break;
		krdma_conn_drop_events(conn->core, BIT(record.type));
		done += bytes;
	}
	mutex_unlock(&conn->read_lock);

	return done ?: ret;
}

static ssize_t krdma_user_conn_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct krdma_user_conn *conn = iocb->ki_filp->private_data;
	ssize_t ret;

	if (iov_iter_count(to) < KRDMA_USER_RECORD_MIN)
		return -EINVAL;

	for (;;) {
		ret = krdma_user_conn_copy(conn, to);
		if (ret != -EAGAIN || krdma_user_nowait(iocb))
			return ret;
		if (wait_event_interruptible(conn->wait, krdma_user_conn_readable(conn)))
			return -ERESTARTSYS;
	}
}

/* Did the connection end because either side ended it? */
static bool krdma_user_conn_wanted(int error)
{
	switch (error) {
	case -ENOTCONN:
	case -ECONNABORTED:
	case -EPIPE:
	case -ECONNRESET:
	case -ECONNREFUSED:
		return true;
	default:
		return false;
	}
}

static __poll_t krdma_user_conn_poll(struct file *file, struct poll_table_struct *table)
{
	struct krdma_user_conn *conn = file->private_data;
	struct krdma_user_ring *ring = READ_ONCE(conn->ring);
	struct krdma_conn_info info;
	__poll_t mask = 0;

	poll_wait(file, &conn->wait, table);
	/* @ring is set before anything could be refused, and valid as long as @conn. */
	if (ring && READ_ONCE(conn->full))
		krdma_user_ring_move_backlog(ring);

	krdma_conn_query(conn->core, &info);
	if (info.events || info.state == KRDMA_CONN_CLOSED)
		mask |= EPOLLIN | EPOLLRDNORM;
	if (info.state == KRDMA_CONN_CLOSED)
		mask |= EPOLLHUP;
	if ((mask & EPOLLHUP) && !krdma_user_conn_wanted(info.error))
		mask |= EPOLLERR;
	/* After that: it is set under the lock under which the event was added. */
	if (READ_ONCE(conn->hangup))
		mask |= EPOLLRDHUP;
	if (info.open && !READ_ONCE(conn->full))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

static void krdma_user_conn_fdinfo(struct seq_file *seq, struct file *file)
{
	struct krdma_user_conn *conn = file->private_data;
	struct sockaddr_storage local = {}, remote = {};
	struct krdma_conn_info info;

	krdma_conn_query(conn->core, &info);
	krdma_conn_addresses(conn->core, &local, &remote);

	krdma_user_fdinfo(seq, "connection", conn->dest.id, conn->session);
	seq_printf(seq, "state:\t%s\nerror:\t%d\ndevice:\t%u\nqp:\t%u\n",
		   krdma_conn_state_name(info.state), info.error, info.device_id,
		   info.qp_number);
	seq_printf(seq, "lane:\t%d\ntrunk:\t%llu\n", info.lane, info.trunk);
	/* Addresses that are not known yet have no family. */
	if (local.ss_family)
		seq_printf(seq, "local:\t%pISpc\n", &local);
	if (remote.ss_family)
		seq_printf(seq, "remote:\t%pISpc\n", &remote);
	seq_printf(seq, "send_depth:\t%u\nrecv_depth:\t%u\n", info.send_depth, info.recv_depth);
	seq_printf(seq, "sends_posted:\t%llu\nsends_completed:\t%llu\n",
		   info.sends_posted, info.sends_completed);
	if (info.lane)
		seq_printf(seq, "sends_direct:\t%llu\n", info.sends_direct);
	seq_printf(seq, "receives_posted:\t%llu\nreceives_completed:\t%llu\n",
		   info.receives_posted, info.receives_completed);
	seq_printf(seq, "unread:\t%u\n", info.events);
}

#define KRDMA_CONN_IOCTL(command, does, type, last, handler) \
	KRDMA_IOCTL_OP(KRDMA_CMD_CONN_RESOLVE, command, does, type, last, handler)

static const struct krdma_ioctl_op krdma_conn_ioctl_ops[] = {
	KRDMA_CONN_IOCTL(KRDMA_CONN_RESOLVE, ACTS, krdma_conn_resolve_args, remote,
			 krdma_user_conn_resolve),
	KRDMA_CONN_IOCTL(KRDMA_CONN_CREATE_QP, ANSWERS, krdma_conn_create_qp_args, keepalive_ms,
			 krdma_user_conn_create_qp),
	KRDMA_CONN_IOCTL(KRDMA_CONN_CONNECT, ACTS, krdma_conn_param_args, reserved,
			 krdma_user_conn_connect),
	KRDMA_CONN_IOCTL(KRDMA_CONN_ACCEPT, ACTS, krdma_conn_param_args, reserved,
			 krdma_user_conn_accept),
	KRDMA_CONN_IOCTL(KRDMA_CONN_REJECT, ACTS, krdma_conn_reject_args, reserved,
			 krdma_user_conn_reject),
	KRDMA_CONN_IOCTL(KRDMA_CONN_DISCONNECT, ACTS, krdma_conn_disconnect_args, flags,
			 krdma_user_conn_disconnect),
	KRDMA_CONN_IOCTL(KRDMA_CONN_WAIT, ASKS, krdma_conn_wait_args, reserved,
			 krdma_user_conn_wait),
	KRDMA_CONN_IOCTL(KRDMA_CONN_QUERY, ASKS, krdma_conn_query_args, remote,
			 krdma_user_conn_query),
	KRDMA_CONN_IOCTL(KRDMA_CONN_FIND_MR, ASKS, krdma_conn_find_mr_args, name,
			 krdma_user_conn_find_mr),
};

static const struct krdma_ioctl_table krdma_conn_ioctls = {
	.types = krdma_conn_ioctl_ops,
	.base = KRDMA_CMD_CONN_RESOLVE,
	.count = ARRAY_SIZE(krdma_conn_ioctl_ops),
};

static long krdma_user_conn_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct krdma_user_conn *conn = file->private_data;
	struct krdma_ucmd ucmd = { .session = conn->session, .conn = conn };

	return krdma_ioctl_dispatch(file, &krdma_conn_ioctls, &ucmd, cmd, arg);
}

const struct file_operations krdma_user_conn_fops = {
	.owner = THIS_MODULE,
	.release = krdma_user_conn_release,
	.read_iter = krdma_user_conn_read,
	.poll = krdma_user_conn_poll,
	.show_fdinfo = krdma_user_conn_fdinfo,
	.unlocked_ioctl = krdma_user_conn_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};
