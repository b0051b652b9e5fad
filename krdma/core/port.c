// SPDX-License-Identifier: GPL-2.0
/*
 * Port attributes that connections need.
 *
 * For a port's attributes many providers ask the network stack under rtnl, or the hardware.
 * That is too expensive for each connection: the attribute is cached until an event of the port
 * says that it may have changed.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "core/device_query.h"
#include "core/port.h"
#include "core/private.h"

/* The longest message, whatever a device reports: lengths are added up in 32 bits. */
#define KRDMA_MESSAGE_MAX	SZ_1G

/**
 * struct krdma_port - cached attributes of a port
 * @changes: number of events of the port so far
 * @asked: @changes when the provider was asked for @max_message
 * @max_message: the longest message in bytes; 0: not known
 */
struct krdma_port {
	u32 changes;
	u32 asked;
	u32 max_message;
};

/**
 * struct krdma_ports - the ports of a device
 * @lock: protects @of.  Any context, interrupts off; nothing is called under it.
 * @count: number of ports, which are numbered from 1
 * @of: the attributes of port N at index N - 1
 */
struct krdma_ports {
	spinlock_t lock;		/* see above */
	u32 count;
	struct krdma_port of[] __counted_by(count);
};

/**
 * krdma_ports_alloc() - Allocate an empty cache for a device's ports
 * @ibdev: the device
 *
 * Context: process context; may sleep.
 * Return: the ports, to be released by kfree(), or NULL.
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
 * krdma_ports_changed() - Invalidate the cached attributes of a port
 * @ports: the ports
 * @port: the port, from 1; a number out of range is ignored
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
	spin_unlock_irqrestore(&ports->lock, flags);
}

/* 0: not known, or, unless @old, not since the last event. */
static u32 krdma_port_read(struct krdma_ports *ports, u32 port, bool old, u32 *changes)
{
	struct krdma_port *this = &ports->of[port - 1];
	unsigned long flags;
	u32 max_message;

	spin_lock_irqsave(&ports->lock, flags);
	*changes = this->changes;
	max_message = old || this->asked == this->changes ? this->max_message : 0;
	spin_unlock_irqrestore(&ports->lock, flags);
	return max_message;
}

/**
 * krdma_ports_max_message() - Get the longest message that a port accepts
 * @ports: the ports of @ibdev
 * @ibdev: the device; the caller has a use of it
 * @port: the port, from 1
 * @reclaim: memory reclaim may wait for the caller
 * @bytes: filled in on success; at least 1, and at most KRDMA_MESSAGE_MAX
 *
 * The function asks the provider only once after each event of the port, and with @reclaim only if
 * it does not know an earlier value: the provider may wait for rtnl, whose holder may wait for
 * memory.
 *
 * Context: process context; may sleep, and may take rtnl.
 * Return: 0; -EINVAL: there is no such port; or the provider's errno after
 * krdma_provider_error().
 */
int krdma_ports_max_message(struct krdma_ports *ports, struct ib_device *ibdev, u32 port,
			    bool reclaim, u32 *bytes)
{
	struct ib_port_attr attr;
	unsigned long flags;
	u32 changes;
	int ret;

	if (!port || port > ports->count)
		return -EINVAL;
	*bytes = krdma_port_read(ports, port, reclaim, &changes);
	if (*bytes)
		return 0;
	ret = ib_query_port(ibdev, port, &attr);
	if (ret)
		return krdma_provider_error(ret);

	*bytes = clamp_t(u32, attr.max_msg_sz, 1, KRDMA_MESSAGE_MAX);
	spin_lock_irqsave(&ports->lock, flags);
	/* An event that has come meanwhile invalidates the value. */
	ports->of[port - 1].asked = changes;
	ports->of[port - 1].max_message = *bytes;
	spin_unlock_irqrestore(&ports->lock, flags);
	return 0;
}
