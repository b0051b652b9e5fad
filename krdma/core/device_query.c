// SPDX-License-Identifier: GPL-2.0
/* Attributes of a device and its ports. */
#include <linux/build_bug.h>
#include <linux/if.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "core/device.h"
#include "core/device_query.h"
#include "core/link.h"
#include "core/private.h"
#include "core/resource.h"

/* Codes that link.c knows by number, and names that are passed on. */
static_assert(KRDMA_NAME_MAX >= IFNAMSIZ);
static_assert(IB_MTU_256 == 1 && IB_MTU_4096 == 5 && OPA_MTU_8192 == 6 && OPA_MTU_10240 == 7);
static_assert(IB_SPEED_SDR == 1 && IB_SPEED_FDR10 == 8 && IB_SPEED_FDR == 16 &&
	      IB_SPEED_NDR == 128);
static_assert(IB_WIDTH_1X == 1 && IB_WIDTH_4X == 2 && IB_WIDTH_8X == 4 && IB_WIDTH_12X == 8 &&
	      IB_WIDTH_2X == 16);
static_assert(IB_PORT_DOWN == 1 && IB_PORT_INIT == 2 && IB_PORT_ARMED == 3 &&
	      IB_PORT_ACTIVE == 4 && IB_PORT_ACTIVE_DEFER == 5);

static enum krdma_transport krdma_device_transport(const struct ib_device *ibdev)
{
	switch (rdma_node_get_transport(ibdev->node_type)) {
	case RDMA_TRANSPORT_IB:
		return KRDMA_TRANSPORT_IB;
	case RDMA_TRANSPORT_IWARP:
		return KRDMA_TRANSPORT_IWARP;
	default:
		return KRDMA_TRANSPORT_OTHER;
	}
}

/**
 * krdma_device_query_attr() - Query the attributes of a device
 * @dev: the device; the caller holds a reference
 * @attr: filled in
 *
 * Context: process context; does not sleep.
 * Return: 0, or -ENODEV if the RDMA device was removed.
 */
int krdma_device_query_attr(struct krdma_device *dev, struct krdma_device_attr *attr)
{
	struct ib_device *ibdev;

	ibdev = krdma_device_get_ibdev(dev);
	if (!ibdev)
		return -ENODEV;

	*attr = (struct krdma_device_attr) {
		.id = krdma_device_id(dev),
		.port_count = rdma_end_port(ibdev),
		.node_guid = be64_to_cpu(ibdev->node_guid),
		.caps = krdma_device_caps(dev),
		.transport = krdma_device_transport(ibdev),
		.limits = *krdma_device_limits(dev),
	};
	krdma_device_copy_name(dev, attr->name);
	krdma_device_put_ibdev(dev);

	return 0;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_query_attr, "KRDMA");

static enum krdma_link_layer krdma_device_link_layer(struct ib_device *ibdev, u32 port)
{
	switch (rdma_port_get_link_layer(ibdev, port)) {
	case IB_LINK_LAYER_INFINIBAND:
		return KRDMA_LINK_INFINIBAND;
	case IB_LINK_LAYER_ETHERNET:
		return KRDMA_LINK_ETHERNET;
	default:
		return KRDMA_LINK_OTHER;
	}
}

/**
 * krdma_provider_error() - Translate a provider's errno into one that krdma returns
 * @error: the errno, negative
 *
 * A provider returns errnos from anywhere.  One that means something else for a device that is
 * present, such as -ENODEV for an interface without a cable, is not passed on.  -ENOBUFS and
 * -ENFILE are a lack of memory: rxe passes on those of its socket.
 *
 * Context: any.
 * Return: a negative errno.
 */
int krdma_provider_error(int error)
{
	switch (error) {
	case -EINTR:
	case -ENOMEM:
	case -ERESTARTSYS:
		return error;
	case -ENOBUFS:
	case -ENFILE:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

/* Only rtnl keeps the name and the network namespace of an interface from changing. */
static void krdma_port_set_netdev(struct krdma_port_attr *attr, struct net_device *netdev,
				  const struct net *net)
{
	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED && net_eq(dev_net(netdev), net)) {
		attr->netdev_ifindex = netdev->ifindex;
		strscpy_pad(attr->netdev_name, netdev->name, sizeof(attr->netdev_name));
	}
	rtnl_unlock();
}

/**
 * krdma_device_query_port() - Query the attributes of a port
 * @dev: the device; the caller holds a reference
 * @net: the network namespace of the caller; a network interface in another one is not reported
 * @port: the port, from 1
 * @attr: filled in on success
 *
 * The function asks the provider each time, which may ask its hardware.
 *
 * Context: process context; may sleep; takes rtnl.
 * Return: 0, or
 * -ENODEV: the RDMA device was removed;
 * -ENOENT: the device has no such port;
 * -EIO: the provider failed to answer;
 * -ENOMEM, -EINTR, -ERESTARTSYS: from the provider.
 */
int krdma_device_query_port(struct krdma_device *dev, const struct net *net, u32 port,
			    struct krdma_port_attr *attr)
{
	struct net_device *netdev = NULL;
	struct ib_port_attr port_attr;
	struct ib_device *ibdev;
	int ret;

	might_sleep();

	ibdev = krdma_device_get_ibdev(dev);
	if (!ibdev)
		return -ENODEV;

	/* Port 0 of a switch is its management port; nothing can connect there. */
	if (!port || !rdma_is_port_valid(ibdev, port)) {
		ret = -ENOENT;
		goto out_leave;
	}

	ret = ib_query_port(ibdev, port, &port_attr);
	if (ret) {
		ret = krdma_provider_error(ret);
		goto out_leave;
	}

	*attr = (struct krdma_port_attr) {
		.state = krdma_link_state(port_attr.state),
		.link_layer = krdma_device_link_layer(ibdev, port),
		.max_mtu = krdma_link_mtu_bytes(port_attr.max_mtu),
		.active_mtu = krdma_link_mtu_bytes(port_attr.active_mtu),
		.max_msg_size = port_attr.max_msg_sz,
		.gid_count = max(port_attr.gid_tbl_len, 0),
		.speed_mbps = krdma_link_speed_mbps(port_attr.active_speed,
						    port_attr.active_width),
	};
	netdev = ib_device_get_netdev(ibdev, port);

out_leave:
	krdma_device_put_ibdev(dev);

	/* The holder of rtnl may wait for a removal, so do not take rtnl inside the gate. */
	if (netdev) {
		krdma_port_set_netdev(attr, netdev, net);
		dev_put(netdev);
	}
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_query_port, "KRDMA");
