// SPDX-License-Identifier: GPL-2.0
/*
 * ib_device_get_netdev() for kernels in which it is private to ib_core.
 */
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

/* The same steps as in ib_core; the caller puts the reference. */
struct net_device *krdma_compat_ib_device_get_netdev(struct ib_device *ibdev, u32 port)
{
	struct ib_port_data *port_data;
	struct net_device *netdev;

	if (!rdma_is_port_valid(ibdev, port) || !ibdev->port_data)
		return NULL;

	if (ibdev->ops.get_netdev)
		return ibdev->ops.get_netdev(ibdev, port);

	port_data = &ibdev->port_data[port];
	spin_lock(&port_data->netdev_lock);
	netdev = rcu_dereference_protected(port_data->netdev,
					   lockdep_is_held(&port_data->netdev_lock));
	dev_hold(netdev);
	spin_unlock(&port_data->netdev_lock);

	return netdev;
}
