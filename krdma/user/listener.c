// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners of programs.
 */
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <krdma/krdma.h>

#include "core/objects.h"
#include "user/conn.h"
#include "user/file.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/listener.h"
#include "user/user.h"

/*
 * Peers create the connection requests that wait.  A request is charged to the account of the
 * listener, and each listener has a limit, so that peers cannot take all that the user may have.
 */
#define KRDMA_USER_BACKLOG	128
#define KRDMA_USER_BACKLOG_MAX	4096

/**
 * struct krdma_user_listener - the file of a listener
 * @id: krdma_user_number()
 * @session: the session, with a reference
 * @core: the core's listener, with a reference
 * @flags: &enum krdma_listen_flags, as the program has given them
 * @wait: woken for connection requests, and for the removal of the device
 */
struct krdma_user_listener {
	u32 id;
	struct krdma_user_session *session;
	struct krdma_listener *core;
	u32 flags;
	wait_queue_head_t wait;
};

static void krdma_user_listener_notify(struct krdma_listener *core)
{
	struct krdma_user_listener *listener = krdma_listener_context(core);

	/* Without a poll key, which io_uring would take as the result: the poller checks again. */
	wake_up_interruptible(&listener->wait);
}

static struct krdma_user_listener *
krdma_user_listener_create(struct krdma_user_session *session,
			   const struct krdma_listen_args *listen)
{
	struct krdma_user_listener *listener;
	struct sockaddr_storage address;
	struct krdma_listen_attr attr = {
		.local = (struct sockaddr *)&address,
		.backlog = min_t(u32, listen->backlog ?: KRDMA_USER_BACKLOG,
				 KRDMA_USER_BACKLOG_MAX),
		.v6only = listen->flags & KRDMA_LISTEN_V6ONLY,
		.lanes = listen->flags & KRDMA_LISTEN_LANES,
		.keepalive_ms = listen->keepalive_ms,
		.request_timeout_ms = listen->request_timeout_ms,
		.notify = krdma_user_listener_notify,
	};
	int ret;

	ret = krdma_address_from_user(&listen->address, &address);
	if (ret)
		return ERR_PTR(ret);
	ret = krdma_user_account_charge_object(session->account, KRDMA_LISTENER_BYTES);
	if (ret)
		return ERR_PTR(ret);
	listener = krdma_object_count(KRDMA_OBJECT_USER_LISTENER,
				      kzalloc_obj(*listener, GFP_KERNEL_ACCOUNT));
	if (!listener) {
		ret = -ENOMEM;
		goto err_charge;
	}
	listener->id = krdma_user_number();
	listener->flags = listen->flags;
	init_waitqueue_head(&listener->wait);
	attr.context = listener;

	/* It may call notify() before it returns, when no thread waits yet. */
	listener->core = krdma_listen(session->core, &attr);
	if (IS_ERR(listener->core)) {
		ret = PTR_ERR(listener->core);
		goto err_free;
	}
	krdma_user_session_get(session);
	listener->session = session;
	return listener;

err_free:
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_LISTENER, listener));
err_charge:
	krdma_user_account_uncharge_object(session->account, KRDMA_LISTENER_BYTES);
	return ERR_PTR(ret);
}

/*
 * Waits for no peer, only for krdma's own handlers of connection requests, and for the device to
 * stop listening.  So a program that has closed a listener can listen at the same address again.
 */
static void krdma_user_listener_destroy(struct krdma_user_listener *listener)
{
	struct krdma_user_session *session = listener->session;

	krdma_listener_close(listener->core);
	krdma_listener_put(listener->core);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_LISTENER, listener));
	krdma_user_account_uncharge_object(session->account, KRDMA_LISTENER_BYTES);
	krdma_user_session_put(session);
}

static int krdma_user_listener_release(struct inode *inode, struct file *file)
{
	krdma_object_uncount(KRDMA_OBJECT_USER_FILE, file);
	krdma_user_listener_destroy(file->private_data);
	return 0;
}

static __poll_t krdma_user_listener_poll(struct file *file, struct poll_table_struct *table)
{
	struct krdma_user_listener *listener = file->private_data;
	int pending;

	poll_wait(file, &listener->wait, table);
	pending = krdma_listener_pending(listener->core);
	if (pending < 0)
		return EPOLLERR | EPOLLHUP;
	return pending ? EPOLLIN | EPOLLRDNORM : 0;
}

/*
 * Ioctls
 */

static int krdma_user_listener_query(struct krdma_ucmd *ucmd)
{
	struct krdma_listener_query_args *query = &ucmd->buffer->listener_query;
	struct krdma_listener_info info;
	struct sockaddr_storage address;

	if (query->flags || query->reserved)
		return -EOPNOTSUPP;

	krdma_listener_address(ucmd->listener->core, &address);
	krdma_address_to_user(&address, &query->address);
	query->listen_flags = ucmd->listener->flags;
	krdma_listener_query(ucmd->listener->core, &info);
	query->waiting = info.waiting;
	query->oldest_ms = info.oldest_ms;
	query->expired = info.expired;
	return krdma_ucmd_respond(ucmd);
}

/* Converts the errno of the core for a program that may wait until @deadline_ns. */
static int krdma_user_listener_error(int error, u64 deadline_ns)
{
	switch (error) {
	case -EINTR:
		return -ERESTARTSYS;
	case -EAGAIN:
		return deadline_ns ? -ETIMEDOUT : -EAGAIN;
	default:
		return error;
	}
}

/**
 * krdma_user_listener_session() - Get the session of a listener
 * @listener: the listener
 *
 * Context: any.
 * Return: the session, which the listener keeps.
 */
struct krdma_user_session *krdma_user_listener_session(struct krdma_user_listener *listener)
{
	return listener->session;
}

/**
 * krdma_user_listener_pending() - Count the connection requests that wait
 * @listener: the listener
 *
 * Context: any but NMI.
 * Return: the number, or -ENODEV.
 */
int krdma_user_listener_pending(struct krdma_user_listener *listener)
{
	return krdma_listener_pending(listener->core);
}

/**
 * krdma_user_listener_wait() - Wait for a connection request
 * @listener: the listener
 * @conn: set to the request
 * @deadline_ns: deadline, converted by krdma_deadline_of_caller()
 *
 * Context: process context of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as documented for KRDMA_LISTENER_NEXT; -ERESTARTSYS.
 */
int krdma_user_listener_wait(struct krdma_user_listener *listener, struct krdma_user_conn *conn,
			     u64 deadline_ns)
{
	int ret;

	do {
		ret = krdma_user_conn_take_core(conn, listener->core,
						krdma_deadline_ms(deadline_ns));
	} while (ret == -ETIMEDOUT && krdma_deadline_ms(deadline_ns));

	return krdma_user_listener_error(ret, deadline_ns);
}

/*
 * Everything that can fail comes before the request is taken, including the answer, so that none
 * is lost.  The program cannot use the descriptor until it is installed.
 */
static int krdma_user_listener_next(struct krdma_ucmd *ucmd)
{
	struct krdma_listener_next_args *next = &ucmd->buffer->listener_next;
	struct krdma_user_listener *listener = ucmd->listener;
	u64 deadline_ns = krdma_deadline_of_caller(next->deadline_ns);
	const struct krdma_listener_next_args asked = *next;
	struct krdma_user_conn *conn;
	struct krdma_user_fd ufd;
	int ret;

	if (next->flags)
		return -EOPNOTSUPP;
	if (!krdma_deadline_ms(deadline_ns)) {
		ret = krdma_listener_pending(listener->core);
		if (ret <= 0)
			return krdma_user_listener_error(ret ?: -EAGAIN, deadline_ns);
	}

	conn = krdma_user_conn_new(listener->session, &ufd);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	next->fd = ufd.fd;
	next->id = conn->dest.id;
	ret = krdma_ucmd_respond(ucmd);
	if (ret)
		goto err_cancel;
	ret = krdma_user_listener_wait(listener, conn, deadline_ns);
	if (ret)
		goto err_answer;
	krdma_user_fd_install(&ufd);
	return 0;

err_answer:
	*next = asked;
	krdma_ucmd_inform(ucmd);
err_cancel:
	krdma_user_fd_cancel(&ufd);
	return ret;
}

#define KRDMA_LISTENER_IOCTL(command, does, type, last, handler) \
	KRDMA_IOCTL_OP(KRDMA_CMD_LISTENER_QUERY, command, does, type, last, handler)

static const struct krdma_ioctl_op krdma_listener_ioctl_ops[] = {
	KRDMA_LISTENER_IOCTL(KRDMA_LISTENER_QUERY, ASKS, krdma_listener_query_args, address,
			     krdma_user_listener_query),
	KRDMA_LISTENER_IOCTL(KRDMA_LISTENER_NEXT, ANSWERS, krdma_listener_next_args, id,
			     krdma_user_listener_next),
};

static const struct krdma_ioctl_table krdma_listener_ioctls = {
	.types = krdma_listener_ioctl_ops,
	.base = KRDMA_CMD_LISTENER_QUERY,
	.count = ARRAY_SIZE(krdma_listener_ioctl_ops),
};

static long krdma_user_listener_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct krdma_user_listener *listener = file->private_data;
	struct krdma_ucmd ucmd = {
		.session = listener->session,
		.listener = listener,
	};

	return krdma_ioctl_dispatch(file, &krdma_listener_ioctls, &ucmd, cmd, arg);
}

static void krdma_user_listener_fdinfo(struct seq_file *seq, struct file *file)
{
	struct krdma_user_listener *listener = file->private_data;
	struct sockaddr_storage address = {};
	struct krdma_listener_info info;

	krdma_user_fdinfo(seq, "listener", listener->id, listener->session);
	if (!krdma_listener_address(listener->core, &address))
		seq_printf(seq, "local:\t%pISpc\n", &address);
	seq_printf(seq, "lanes:\t%d\n", !!(listener->flags & KRDMA_LISTEN_LANES));
	krdma_listener_query(listener->core, &info);
	seq_printf(seq, "waiting:\t%u\noldest_ms:\t%u\nexpired:\t%llu\n", info.waiting,
		   info.oldest_ms, info.expired);
}

const struct file_operations krdma_user_listener_fops = {
	.owner = THIS_MODULE,
	.release = krdma_user_listener_release,
	.poll = krdma_user_listener_poll,
	.show_fdinfo = krdma_user_listener_fdinfo,
	.unlocked_ioctl = krdma_user_listener_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/**
 * krdma_user_listen() - Handle KRDMA_LISTEN
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_listen(struct krdma_ucmd *ucmd)
{
	struct krdma_listen_args *listen = &ucmd->buffer->listen;
	struct krdma_user_listener *listener;
	struct sockaddr_storage address;
	struct krdma_user_fd ufd;
	int ret;

	if (listen->flags & ~(KRDMA_LISTEN_V6ONLY | KRDMA_LISTEN_LANES))
		return -EOPNOTSUPP;

	listener = krdma_user_listener_create(ucmd->session, listen);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	ret = krdma_user_fd_reserve(&ufd, "[krdma-listener]", &krdma_user_listener_fops,
				    listener, O_RDWR);
	if (ret) {
		krdma_user_listener_destroy(listener);
		return ret;
	}

	krdma_listener_address(listener->core, &address);
	krdma_address_to_user(&address, &listen->address);
	listen->fd = ufd.fd;
	ret = krdma_ucmd_respond(ucmd);
	if (ret)
		krdma_user_fd_cancel(&ufd);
	else
		krdma_user_fd_install(&ufd);
	return ret;
}
