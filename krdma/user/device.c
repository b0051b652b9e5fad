// SPDX-License-Identifier: GPL-2.0
/*
 * Ioctls for the module, devices and ports.
 */
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/socket.h>
#include <linux/string.h>

#include <krdma/krdma.h>

#include "user/device.h"
#include "user/ioctl.h"
#include "user/limits.h"
#include "user/user.h"
#include "version.h"

static_assert(sizeof(KRDMA_VERSION) <= sizeof_field(struct krdma_info_args, module_version));

/**
 * krdma_user_info() - Handle KRDMA_INFO
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_info(struct krdma_ucmd *ucmd)
{
	struct krdma_info_args *info = &ucmd->buffer->info;

	if (info->flags)
		return -EOPNOTSUPP;

	info->abi_version = KRDMA_ABI_VERSION;
	info->max_struct_size = sizeof(*ucmd->buffer);
	info->features = KRDMA_FEATURE_DEVICES | KRDMA_FEATURE_TRANSFERS;
	info->device_count = krdma_device_count(ucmd->session->net);
	info->max_devices = KRDMA_DEVICE_ID_MAX;
	strscpy_pad(info->module_version, KRDMA_VERSION, sizeof(info->module_version));

	return krdma_ucmd_respond(ucmd);
}

/* Checks how the program selects a device. */
static int krdma_device_query_check(const struct krdma_device_query_args *query)
{
	const u32 known = KRDMA_DEVICE_QUERY_NEXT | KRDMA_DEVICE_QUERY_NAME;
	size_t length;

	if (query->flags & ~known)
		return -EOPNOTSUPP;
	if (query->flags == known)
		return -EINVAL;

	if (query->flags & KRDMA_DEVICE_QUERY_NAME) {
		if (query->id)
			return -EINVAL;
		length = strnlen(query->name, sizeof(query->name));
		if (!length || length == sizeof(query->name))
			return -EINVAL;
	}
	return 0;
}

static struct krdma_device *krdma_device_query_find(const struct net *net,
						    const struct krdma_device_query_args *query)
{
	if (query->flags & KRDMA_DEVICE_QUERY_NAME)
		return krdma_device_get_by_name(net, query->name);
	if (query->flags & KRDMA_DEVICE_QUERY_NEXT)
		return krdma_device_next(net, query->id);
	return krdma_device_get_by_id(net, query->id);
}

/**
 * krdma_user_device_query() - Handle KRDMA_DEVICE_QUERY
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_device_query(struct krdma_ucmd *ucmd)
{
	struct krdma_device_query_args *query = &ucmd->buffer->device_query;
	struct krdma_device_attr attr;
	struct krdma_device *dev;
	int ret;

	ret = krdma_device_query_check(query);
	if (ret)
		return ret;

	/*
	 * A device that is removed between the two calls is handled like one removed before: look
	 * again.  It is not found a second time, so the loop ends.
	 */
	do {
		dev = krdma_device_query_find(ucmd->session->net, query);
		if (!dev)
			return -ENOENT;
		ret = krdma_device_query_attr(dev, &attr);
		krdma_device_put(dev);
	} while (ret == -ENODEV);
	if (ret)
		return ret;

	query->id = attr.id;
	query->port_count = attr.port_count;
	BUILD_BUG_ON(sizeof(query->name) != sizeof(attr.name));
	memcpy(query->name, attr.name, sizeof(query->name));
	query->node_guid = attr.node_guid;
	query->caps = attr.caps;
	query->max_mr_size = attr.limits.max_mr_size;
	query->transport = attr.transport;
	query->max_qp = attr.limits.max_qp;
	query->max_send_wr = attr.limits.max_send_wr;
	query->max_recv_wr = attr.limits.max_recv_wr;
	query->max_send_sge = attr.limits.max_send_sge;
	query->max_recv_sge = attr.limits.max_recv_sge;
	query->max_read_sge = attr.limits.max_read_sge;
	query->max_cqe = attr.limits.max_cqe;
	query->max_srq_wr = attr.limits.max_srq_wr;
	query->max_read_depth = attr.limits.max_read_depth;
	query->max_read_depth_in = attr.limits.max_read_depth_in;
	query->max_fast_reg_pages = attr.limits.max_fast_reg_pages;

	return krdma_ucmd_respond(ucmd);
}

/**
 * krdma_user_port_query() - Handle KRDMA_PORT_QUERY
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_port_query(struct krdma_ucmd *ucmd)
{
	struct krdma_port_query_args *query = &ucmd->buffer->port_query;
	struct net *net = ucmd->session->net;
	struct krdma_port_attr attr;
	struct krdma_device *dev;
	int ret;

	if (query->flags)
		return -EOPNOTSUPP;

	dev = krdma_device_get_by_id(net, query->device_id);
	if (!dev)
		return -ENOENT;
	ret = krdma_device_query_port(dev, net, query->port, &attr);
	krdma_device_put(dev);

	/* IDs are not reused: the device has just been removed, and is not found any more. */
	if (ret == -ENODEV)
		return -ENOENT;
	if (ret)
		return ret;

	query->state = attr.state;
	query->link_layer = attr.link_layer;
	query->max_mtu = attr.max_mtu;
	query->active_mtu = attr.active_mtu;
	query->max_msg_size = attr.max_msg_size;
	query->gid_count = attr.gid_count;
	query->speed_mbps = attr.speed_mbps;
	query->netdev_ifindex = attr.netdev_ifindex;
	BUILD_BUG_ON(sizeof(query->netdev_name) != sizeof(attr.netdev_name));
	memcpy(query->netdev_name, attr.netdev_name, sizeof(query->netdev_name));

	return krdma_ucmd_respond(ucmd);
}

/* Checks and converts the addresses by which the program looks for a device. */
static int krdma_device_find_addresses(const struct krdma_device_find_args *find,
				       struct sockaddr_storage *local,
				       struct sockaddr_storage *remote)
{
	const u32 known = KRDMA_DEVICE_FIND_LOCAL | KRDMA_DEVICE_FIND_REMOTE;
	int ret;

	if ((find->flags & ~known) || find->reserved)
		return -EOPNOTSUPP;
	if (!find->flags)
		return -EINVAL;

	if (find->flags & KRDMA_DEVICE_FIND_LOCAL) {
		ret = krdma_address_from_user(&find->local, local);
		if (ret)
			return ret;
	}
	if (find->flags & KRDMA_DEVICE_FIND_REMOTE) {
		ret = krdma_address_from_user(&find->remote, remote);
		if (ret)
			return ret;
	}
	if (find->flags == known && local->ss_family != remote->ss_family)
		return -EINVAL;
	return 0;
}

static struct krdma_device *krdma_device_find_towards(struct net *net,
						      const struct sockaddr *local,
						      const struct sockaddr *remote,
						      u64 deadline_ns)
{
	struct krdma_device *dev;
	u32 left_ms;

	for (;;) {
		left_ms = krdma_deadline_ms(deadline_ns);
		if (!left_ms)
			return ERR_PTR(-ETIMEDOUT);
		dev = krdma_device_towards(net, local, remote, min_t(u32, left_ms, INT_MAX));
		if (dev != ERR_PTR(-ETIMEDOUT))
			return dev;
		/* Returned early, or the remaining time is more than one call can wait. */
		if (signal_pending(current))
			return ERR_PTR(-EINTR);
	}
}

/* Converts the errno of the core for a program. */
static int krdma_device_find_error(int error, bool remote)
{
	switch (error) {
	case -EADDRNOTAVAIL:
		return -ENOENT;
	/* The device is being removed, and is not found any more. */
	case -ENODEV:
		return remote ? -EHOSTUNREACH : -ENOENT;
	case -EINTR:
		return -ERESTARTSYS;
	default:
		return error;
	}
}

/**
 * krdma_user_device_find() - Handle KRDMA_DEVICE_FIND
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; sleeps, until a signal.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_device_find(struct krdma_ucmd *ucmd)
{
	struct krdma_device_find_args *find = &ucmd->buffer->device_find;
	bool has_remote = find->flags & KRDMA_DEVICE_FIND_REMOTE;
	bool has_local = find->flags & KRDMA_DEVICE_FIND_LOCAL;
	struct net *net = ucmd->session->net;
	struct sockaddr_storage local, remote;
	struct krdma_device_attr attr;
	struct krdma_device *dev;
	int ret;

	ret = krdma_device_find_addresses(find, &local, &remote);
	if (ret)
		return ret;

	/* The search holds a port for as long as the caller waits. */
	ret = krdma_user_account_charge(ucmd->session->account, KRDMA_ACCOUNT_PORTS, 1);
	if (ret)
		return ret;
	if (has_remote)
		dev = krdma_device_find_towards(net, has_local ? (struct sockaddr *)&local : NULL,
						(struct sockaddr *)&remote,
						krdma_deadline_of_caller(find->deadline_ns));
	else
		dev = krdma_device_at(net, (struct sockaddr *)&local);
	krdma_user_account_uncharge(ucmd->session->account, KRDMA_ACCOUNT_PORTS, 1);
	if (IS_ERR(dev))
		return krdma_device_find_error(PTR_ERR(dev), has_remote);
	ret = krdma_device_query_attr(dev, &attr);
	krdma_device_put(dev);
	if (ret)
		return krdma_device_find_error(ret, has_remote);

	find->id = attr.id;
	return krdma_ucmd_respond(ucmd);
}
