// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/krdma: sessions, and the file descriptors of the objects that are created in them.
 */
#include <linux/anon_inodes.h>
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "core/objects.h"
#include "core/session.h"
#include "user/batch.h"
#include "user/conn.h"
#include "user/conn_call.h"
#include "user/device.h"
#include "user/file.h"
#include "user/id.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/listener.h"
#include "user/many.h"
#include "user/mm.h"
#include "user/mr.h"
#include "user/notifier.h"
#include "user/ring.h"
#include "user/srq.h"
#include "user/user.h"

/*
 * Frees what closed files leave, after an RCU grace period.  Unbound, because the end of MRs
 * waits for the device.
 */
struct workqueue_struct *krdma_user_workqueue;

/*
 * Descriptors
 */

/**
 * krdma_user_fd_reserve() - Create a descriptor that is not visible yet
 * @ufd: filled in
 * @name: name of the kind of file, as /proc shows it
 * @fops: operations of the kind of file
 * @object: the object of the file, which owns the reference to it from here on
 * @mode: O_RDONLY, O_WRONLY or O_RDWR
 *
 * The program cannot use it before krdma_user_fd_install().  It is close-on-exec.
 *
 * Context: process context of the caller; may sleep.
 * Return: 0; or -EMFILE, -ENFILE, -ENOMEM, and the reference to @object is still the caller's.
 */
int krdma_user_fd_reserve(struct krdma_user_fd *ufd, const char *name,
			  const struct file_operations *fops, void *object, int mode)
{
	struct file *file;
	int fd;

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = anon_inode_getfile(name, fops, object, mode);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	file->f_mode |= FMODE_NOWAIT;
	krdma_object_count(KRDMA_OBJECT_USER_FILE, file);

	ufd->fd = fd;
	ufd->file = file;
	return 0;
}

/**
 * krdma_user_fd_install() - Make a descriptor visible
 * @ufd: the descriptor
 *
 * From here on other threads may use and close it, so this is the last step of an ioctl.
 *
 * Context: process context of the caller.
 */
void krdma_user_fd_install(struct krdma_user_fd *ufd)
{
	fd_install(ufd->fd, ufd->file);
}

/**
 * krdma_user_fd_cancel() - Discard a descriptor
 * @ufd: the descriptor, not installed
 *
 * The file is released, and with it the object, before the ioctl returns to the program.
 *
 * Context: process context of the caller.
 */
void krdma_user_fd_cancel(struct krdma_user_fd *ufd)
{
	put_unused_fd(ufd->fd);
	fput(ufd->file);
}

/**
 * krdma_user_fd_get() - Get the object behind a descriptor
 * @fd: descriptor of the program
 * @fops: operations of the kind of file that it must be
 * @file: set to the file, which keeps the object; for fput()
 *
 * Context: process context of the caller.
 * Return: the object, or ERR_PTR of -EBADF: no such descriptor; -EPROTOTYPE: another kind of
 * file.
 */
void *krdma_user_fd_get(int fd, const struct file_operations *fops, struct file **file)
{
	struct file *found;

	found = fget(fd);
	if (!found)
		return ERR_PTR(-EBADF);
	if (found->f_op != fops) {
		fput(found);
		return ERR_PTR(-EPROTOTYPE);
	}
	*file = found;
	return found->private_data;
}

/*
 * Sessions
 */

/**
 * krdma_user_session_get() - Take a reference to a session
 * @session: the session; the caller holds a reference
 *
 * Context: any.
 */
void krdma_user_session_get(struct krdma_user_session *session)
{
	refcount_inc(&session->refs);
}

/**
 * krdma_user_session_put() - Drop a reference to a session
 * @session: the session
 *
 * The last reference ends its MRs and frees it.
 *
 * Context: process context; may sleep.
 */
void krdma_user_session_put(struct krdma_user_session *session)
{
	might_sleep();

	if (!refcount_dec_and_test(&session->refs))
		return;

	krdma_user_mr_end(session);
	krdma_user_batches_destroy(&session->batches);
	krdma_session_drop_pds(session->core);
	krdma_session_put(session->core);
	krdma_user_account_uncharge(session->account, KRDMA_ACCOUNT_MEMORY, KRDMA_SESSION_BYTES);
	krdma_user_account_uncharge(session->account, KRDMA_ACCOUNT_SESSIONS, 1);
	krdma_user_account_put(session->account);
	put_net(session->net);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_SESSION, session));
}

/**
 * krdma_user_number() - Get a number that identifies a file in fdinfo
 *
 * For files that no ioctl refers to: sessions, listeners, rings.
 *
 * Context: any.
 * Return: the next number of 32 bits; it wraps around.
 */
u32 krdma_user_number(void)
{
	static atomic_t last;

	return (u32)atomic_inc_return(&last);
}

static struct krdma_user_session *krdma_user_session_create(struct net *net)
{
	struct krdma_user_session *session;
	int ret;

	session = krdma_object_count(KRDMA_OBJECT_USER_SESSION,
				     kzalloc_obj(*session, GFP_KERNEL_ACCOUNT));
	if (!session)
		return ERR_PTR(-ENOMEM);
	session->id = krdma_user_number();
	refcount_set(&session->refs, 1);
	krdma_user_mr_begin(session);
	krdma_user_batches_init(&session->batches);
	init_waitqueue_head(&session->wait);
	spin_lock_init(&session->conns_lock);
	INIT_LIST_HEAD(&session->conns);

	session->account = krdma_user_account_create();
	if (!session->account) {
		ret = -ENOMEM;
		goto err_free;
	}
	ret = krdma_user_account_charge(session->account, KRDMA_ACCOUNT_SESSIONS, 1);
	if (ret)
		goto err_account;
	ret = krdma_user_account_charge(session->account, KRDMA_ACCOUNT_MEMORY,
					KRDMA_SESSION_BYTES);
	if (ret)
		goto err_charge;
	session->core = krdma_session_create(net);
	if (IS_ERR(session->core)) {
		ret = PTR_ERR(session->core);
		goto err_memory;
	}
	krdma_user_account_pays(session->account, session->core);
	krdma_session_keep_pds(session->core);
	/* See krdma_user_batch_post(). */
	session->core->prepares = true;
	session->net = get_net(net);
	return session;

err_memory:
	krdma_user_account_uncharge(session->account, KRDMA_ACCOUNT_MEMORY, KRDMA_SESSION_BYTES);
err_charge:
	krdma_user_account_uncharge(session->account, KRDMA_ACCOUNT_SESSIONS, 1);
err_account:
	krdma_user_account_put(session->account);
err_free:
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_SESSION, session));
	return ERR_PTR(ret);
}

static int krdma_user_session_open(struct inode *inode, struct file *file)
{
	struct krdma_user_session *session;

	session = krdma_user_session_create(current->nsproxy->net_ns);
	if (IS_ERR(session))
		return PTR_ERR(session);
	file->private_data = session;
	file->f_mode |= FMODE_NOWAIT;
	krdma_object_count(KRDMA_OBJECT_USER_FILE, file);
	return 0;
}

static int krdma_user_session_release(struct inode *inode, struct file *file)
{
	struct krdma_user_session *session = file->private_data;

	krdma_object_uncount(KRDMA_OBJECT_USER_FILE, file);
	krdma_user_notifier_end(session);
	krdma_user_many_end(session);
	krdma_user_session_put(session);
	return 0;
}

static ssize_t krdma_user_session_read(struct kiocb *iocb, struct iov_iter *to)
{
	return krdma_user_notifier_read(iocb->ki_filp->private_data, iocb, to);
}

static __poll_t krdma_user_session_poll(struct file *file, struct poll_table_struct *table)
{
	return krdma_user_notifier_poll(file->private_data, file, table);
}

/* MRs that are counted before others may run: a program can register any number of MRs. */
#define KRDMA_FDINFO_BATCH	256

static void krdma_user_session_fdinfo(struct seq_file *seq, struct file *file)
{
	struct krdma_user_session *session = file->private_data;
	struct krdma_user_mr *umr;
	unsigned long index;
	u64 bytes = 0;
	u32 count = 0;

	rcu_read_lock();
	xa_for_each(&session->mrs, index, umr) {
		bytes += umr->charged;
		if (!(++count % KRDMA_FDINFO_BATCH))
			cond_resched_rcu();
	}
	rcu_read_unlock();

	krdma_user_fdinfo(seq, "session", session->id, session);
	seq_printf(seq, "mr_count:\t%u\nmr_bytes:\t%llu\n", count, bytes);
	seq_printf(seq, "conns:\t%u\n", READ_ONCE(session->conn_count));
	/* Pairs with the cmpxchg() in krdma_user_device_notify(). */
	seq_printf(seq, "device_notifier:\t%d\n", !!smp_load_acquire(&session->notifier));
}

#define KRDMA_SESSION_IOCTL(command, does, type, last, handler) \
	KRDMA_IOCTL_OP(KRDMA_CMD_INFO, command, does, type, last, handler)

static const struct krdma_ioctl_op krdma_session_ioctl_list[] = {
	KRDMA_SESSION_IOCTL(KRDMA_INFO, ASKS, krdma_info_args, module_version, krdma_user_info),
	KRDMA_SESSION_IOCTL(KRDMA_DEVICE_QUERY, ASKS, krdma_device_query_args, max_fast_reg_pages,
			    krdma_user_device_query),
	KRDMA_SESSION_IOCTL(KRDMA_PORT_QUERY, ASKS, krdma_port_query_args, netdev_name,
			    krdma_user_port_query),
	KRDMA_SESSION_IOCTL(KRDMA_DEVICE_FIND, ASKS, krdma_device_find_args, remote,
			    krdma_user_device_find),
	KRDMA_SESSION_IOCTL(KRDMA_DEVICE_NOTIFY, READS, krdma_device_notify_args, flags,
			    krdma_user_device_notify),
	KRDMA_SESSION_IOCTL(KRDMA_LISTEN, ANSWERS, krdma_listen_args, address, krdma_user_listen),
	KRDMA_SESSION_IOCTL(KRDMA_CONN_CREATE, ANSWERS, krdma_conn_create_args, id,
			    krdma_user_conn_create),
	KRDMA_SESSION_IOCTL(KRDMA_RING_CREATE, ANSWERS, krdma_ring_create_args, ring_size,
			    krdma_user_ring_create),
	KRDMA_SESSION_IOCTL(KRDMA_SRQ_CREATE, ANSWERS, krdma_srq_create_args, max_sge,
			    krdma_user_srq_create),
	KRDMA_SESSION_IOCTL(KRDMA_MR_REGISTER, ANSWERS, krdma_mr_register_args, remote_addr,
			    krdma_user_mr_register),
	KRDMA_SESSION_IOCTL(KRDMA_MR_DEREGISTER, ACTS, krdma_mr_deregister_args, reserved,
			    krdma_user_mr_deregister),
	KRDMA_SESSION_IOCTL(KRDMA_MR_QUERY, ASKS, krdma_mr_query_args, part_reach,
			    krdma_user_mr_query),
	KRDMA_SESSION_IOCTL(KRDMA_MR_ADVISE, ACTS, krdma_mr_advise_args, length,
			    krdma_user_mr_advise),
	KRDMA_SESSION_IOCTL(KRDMA_LIMIT_QUERY, ASKS, krdma_limit_query_args, refused,
			    krdma_user_limit_query),
	KRDMA_SESSION_IOCTL(KRDMA_CONNS_OPEN, ANSWERS, krdma_conns_args, keepalive_ms,
			    krdma_user_conns_open),
	KRDMA_SESSION_IOCTL(KRDMA_CONNS_TAKE, ANSWERS, krdma_conns_args, keepalive_ms,
			    krdma_user_conns_take),
	KRDMA_SESSION_IOCTL(KRDMA_CONNS_ACCEPT, ANSWERS, krdma_conns_args, keepalive_ms,
			    krdma_user_conns_accept),
	KRDMA_SESSION_IOCTL(KRDMA_CONNS_CLOSE, ANSWERS, krdma_conns_args, keepalive_ms,
			    krdma_user_conns_close),
	KRDMA_SESSION_IOCTL(KRDMA_CONNS_FD, ANSWERS, krdma_conns_fd_args, fd,
			    krdma_user_conns_fd),
	KRDMA_SESSION_IOCTL(KRDMA_MR_SET_NAME, ACTS, krdma_mr_set_name_args, name,
			    krdma_user_mr_set_name),
};

static const struct krdma_ioctl_table krdma_session_ioctl_ops = {
	.types = krdma_session_ioctl_list,
	.base = KRDMA_CMD_INFO,
	.count = ARRAY_SIZE(krdma_session_ioctl_list),
};

static long krdma_user_session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct krdma_ucmd ucmd = { .session = file->private_data };

	return krdma_ioctl_dispatch(file, &krdma_session_ioctl_ops, &ucmd, cmd, arg);
}

static const struct file_operations krdma_user_session_fops = {
	.owner = THIS_MODULE,
	.open = krdma_user_session_open,
	.release = krdma_user_session_release,
	.read_iter = krdma_user_session_read,
	.poll = krdma_user_session_poll,
	.show_fdinfo = krdma_user_session_fdinfo,
	.unlocked_ioctl = krdma_user_session_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/* Only for root.  The administrator can give access to others by a udev rule. */
static struct miscdevice krdma_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = KBUILD_MODNAME,
	.fops = &krdma_user_session_fops,
	.mode = 0600,
};

/*
 * Init and exit
 */

/**
 * krdma_user_init() - Create /dev/krdma
 *
 * Context: process context; may sleep.
 * Return: 0 or a negative errno.
 */
int krdma_user_init(void)
{
	int ret;

	ret = krdma_user_conns_init();
	if (ret)
		return ret;
	ret = -ENOMEM;
	krdma_user_workqueue = alloc_workqueue(KBUILD_MODNAME "_user", WQ_UNBOUND, 0);
	if (!krdma_user_workqueue)
		goto err_conns;
	ret = misc_register(&krdma_misc);
	if (ret)
		goto err_workqueue;
	return 0;

err_workqueue:
	destroy_workqueue(krdma_user_workqueue);
err_conns:
	krdma_user_conns_exit();
	return ret;
}

/**
 * krdma_user_shut() - Remove /dev/krdma
 *
 * No file is open any more, because each holds a reference to the module.  Connections may still
 * be ending after their file is closed.
 *
 * Context: process context; may sleep.
 */
void krdma_user_shut(void)
{
	misc_deregister(&krdma_misc);
}

/**
 * krdma_user_exit() - Free the resources of the user interface
 *
 * All connections have ended, and have raised their last event.
 *
 * Context: process context; may sleep.
 */
void krdma_user_exit(void)
{
	/* The end of an address space, in which MRs were, may be about to queue work. */
	mmu_notifier_synchronize();
	/*
	 * Work that waits for an RCU grace period is then queued, and destroy_workqueue() runs
	 * it.
	 */
	rcu_barrier();
	destroy_workqueue(krdma_user_workqueue);
	krdma_user_conns_exit();
	WARN_ON(!xa_empty(&krdma_user_dests));
	xa_destroy(&krdma_user_dests);

	/* The MRs have ended with their sessions. */
	krdma_user_mm_exit();
	/* Wait for the RCU callbacks of all of that. */
	rcu_barrier();
}
