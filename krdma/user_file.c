// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/krdma: sessions, and the way of a request to its handler.
 */
#include <linux/fs.h>
#include <linux/ioctl.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "trace.h"
#include "user.h"
#include "user_layout.h"

/*
 * Sessions
 */

static int krdma_session_open(struct inode *inode, struct file *file)
{
	struct krdma_session *session;

	session = kzalloc_obj(*session, GFP_KERNEL_ACCOUNT);
	if (!session)
		return -ENOMEM;

	session->net = get_net(current->nsproxy->net_ns);
	file->private_data = session;
	return 0;
}

static int krdma_session_release(struct inode *inode, struct file *file)
{
	struct krdma_session *session = file->private_data;

	put_net(session->net);
	kfree(session);
	return 0;
}

/*
 * Requests
 */

/**
 * struct krdma_request_type - one line of the table of requests
 * @cmd: the ioctl's whole number
 * @size: our size of its structure
 * @min_size: the end of the last field it had when the request was published
 * @handle: the handler; answers by krdma_request_respond()
 */
struct krdma_request_type {
	unsigned int cmd;
	u32 size;
	u32 min_size;
	int (*handle)(struct krdma_user_request *request);
};

static const struct krdma_request_type krdma_session_requests[] = {
	[KRDMA_CMD_INFO] = {
		.cmd = KRDMA_INFO,
		.size = sizeof(struct krdma_info),
		.min_size = offsetofend(struct krdma_info, module_version),
		.handle = krdma_user_info,
	},
	[KRDMA_CMD_DEVICE_QUERY] = {
		.cmd = KRDMA_DEVICE_QUERY,
		.size = sizeof(struct krdma_device_query),
		.min_size = offsetofend(struct krdma_device_query, max_fast_reg_pages),
		.handle = krdma_user_device_query,
	},
	[KRDMA_CMD_PORT_QUERY] = {
		.cmd = KRDMA_PORT_QUERY,
		.size = sizeof(struct krdma_port_query),
		.min_size = offsetofend(struct krdma_port_query, netdev_name),
		.handle = krdma_user_port_query,
	},
};

static const struct krdma_request_type *
krdma_request_find(const struct krdma_request_type *types, unsigned int count, unsigned int cmd)
{
	const struct krdma_request_type *type;
	unsigned int nr = _IOC_NR(cmd);

	if (nr >= count)
		return NULL;

	type = &types[array_index_nospec(nr, count)];
	/* A number that was never given out has no handler, and no command is 0. */
	return type->handle && type->cmd == cmd ? type : NULL;
}

/**
 * krdma_request_respond - hand the structure back to the caller
 * @request: the request, its buffer filled in
 *
 * As much of it as the caller knows; what else the caller has there stays.
 * Whoever has made something visible undoes it if this fails.
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or -EFAULT.
 */
int krdma_request_respond(const struct krdma_user_request *request)
{
	if (copy_to_user(request->user, request->buffer,
			 min(request->user_size, request->kernel_size)))
		return -EFAULT;
	return 0;
}

static long krdma_request_dispatch(struct krdma_session *session,
				   const struct krdma_request_type *types, unsigned int count,
				   unsigned int cmd, void __user *user)
{
	const struct krdma_request_type *type;
	union krdma_user_buffer buffer;
	struct krdma_user_request request;
	u32 user_size;
	int ret;

	type = krdma_request_find(types, count, cmd);
	if (!type)
		return -ENOTTY;

	if (get_user(user_size, (u32 __user *)user))
		return -EFAULT;
	if (user_size < type->min_size || user_size > PAGE_SIZE)
		return -EINVAL;

	ret = copy_struct_from_user(&buffer, type->size, user, user_size);
	if (ret)
		return ret;

	/* Read twice by now, and what counts is what was checked. */
	buffer.size = user_size;

	request = (struct krdma_user_request) {
		.session = session,
		.buffer = &buffer,
		.user = user,
		.user_size = user_size,
		.kernel_size = type->size,
	};
	return type->handle(&request);
}

static long krdma_session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	long ret;

	ret = krdma_request_dispatch(file->private_data, krdma_session_requests,
				     ARRAY_SIZE(krdma_session_requests), cmd, (void __user *)arg);
	trace_krdma_ioctl(cmd, ret);
	return ret;
}

static const struct file_operations krdma_session_fops = {
	.owner = THIS_MODULE,
	.open = krdma_session_open,
	.release = krdma_session_release,
	.unlocked_ioctl = krdma_session_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

/* For root alone; who else may is the administrator's decision, by a udev rule. */
static struct miscdevice krdma_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = KBUILD_MODNAME,
	.fops = &krdma_session_fops,
	.mode = 0600,
};

/**
 * krdma_user_init - open the door to programs
 *
 * Context: process context; may sleep.
 * Return: 0 or a negative errno.
 */
int krdma_user_init(void)
{
	return misc_register(&krdma_misc);
}

/**
 * krdma_user_exit - close the door to programs
 *
 * Context: process context; may sleep.
 */
void krdma_user_exit(void)
{
	misc_deregister(&krdma_misc);
}
