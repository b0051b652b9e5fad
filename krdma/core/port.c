// SPDX-License-Identifier: GPL-2.0
/*
 * What connections need to know of a port.
 *
 * Many providers ask the network stack under rtnl, or the hardware, when they are asked for
 * a port's attributes.  That is too much for each connection: the answer is kept, until an
 * event of the port says that it may have changed.
 */
#include <linux/errno.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "core/port.h"
#include "core/private.h"

/**
 * struct krdma_port - what is kept of a port
 * @changes: events of the port so far
 * @max_message: the largest message in bytes; 0: not known
 */
struct krdma_port {
	u32 changes;
	u32 max_message;
};

/**
 * struct krdma_ports - the ports of a device
 * @lock: protects @of.  Any context, interrupts off; nothing is called under it.
 * @count: ports are numbered from 1 to this
 * @of: the port with the number N + 1
 */
struct krdma_ports {
	spinlock_t lock;		/* see above */
	u32 count;
	struct krdma_port of[] __counted_by(count);
};

/**
 * krdma_ports_alloc - nothing is known of a device's ports yet
 * @ibdev: the device
 *
 * Context: process context; may sleep.
 * Return: the ports, for kfree(), or NULL.
 */
struct krdma_ports *krdma_ports_alloc(struct ib_device *ibdev)
{
	u32 count = rdma_end_port(ibdev);
	struct krdma_ports *ports;

	ports = kzalloc(struct_size(ports, of, count), GFP_KERNEL);
	if (!ports)
		return NULL;
	spin_lock_init(&ports->lock);
	ports->count = count;
	return ports;
}

/**
 * krdma_ports_changed - what is known of a port may not be true any more
 * @ports: the ports
 * @port: which, from 1; another number is none of them
 *
 * Context: any but NMI.
 */
void krdma_ports_changed(struct krdma_ports *ports, u32 port)
{
	unsigned long flags;

	if (!port || port > ports->count)
		return;
	spin_lock_irqsave(&ports->lock, flags);
	ports->of[port - 1].changes++;
	ports->of[port - 1].max_message = 0;
	spin_unlock_irqrestore(&ports->lock, flags);
}

static u32 krdma_port_read(struct krdma_ports *ports, u32 port, u32 *changes)
{
	struct krdma_port *this = &ports->of[port - 1];
	unsigned long flags;
	u32 max_message;

	spin_lock_irqsave(&ports->lock, flags);
	*changes = this->changes;
	max_message = this->max_message;
	spin_unlock_irqrestore(&ports->lock, flags);
	return max_message;
}

/**
 * krdma_ports_max_message - the largest message that a port takes
 * @ports: the ports of @ibdev
 * @ibdev: the device; the caller has a use of it
 * @port: which, from 1
 * @bytes: filled in, unless it fails; at least 1
 *
 * The provider is asked if it has not been since the last event of the port.
 *
 * Context: process context; may sleep, and may take rtnl.
 * Return: 0; -EINVAL: there is no such port; or what krdma_provider_error() makes of the
 * provider's errno.
 */
int krdma_ports_max_message(struct krdma_ports *ports, struct ib_device *ibdev, u32 port,
			    u32 *bytes)
{
	struct ib_port_attr attr;
	unsigned long flags;
	u32 changes;
	int ret;

	if (!port || port > ports->count)
		return -EINVAL;
	*bytes = krdma_port_read(ports, port, &changes);
	if (*bytes)
		return 0;
	ret = ib_query_port(ibdev, port, &attr);
	if (ret)
		return krdma_provider_error(ret);

	*bytes = max(attr.max_msg_sz, 1U);
	spin_lock_irqsave(&ports->lock, flags);
	/* An event may have come meanwhile. */
	if (ports->of[port - 1].changes == changes)
		ports->of[port - 1].max_message = *bytes;
	spin_unlock_irqrestore(&ports->lock, flags);
	return 0;
}
