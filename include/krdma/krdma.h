/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA for modules of the kernel.
 *
 * Functions are described where they are defined, in krdma/.  A module that
 * calls them says MODULE_IMPORT_NS("KRDMA").
 *
 * Enumerations are those of the user interface, <linux/krdma.h>: a number means
 * the same on both sides.  Its structures are not used here.
 */
#ifndef _KRDMA_KRDMA_H
#define _KRDMA_KRDMA_H

#include <linux/krdma.h>
#include <linux/limits.h>
#include <linux/types.h>

struct krdma_device;
struct net;

/*
 * The highest number of a device.  The one above is left out: whoever walks
 * through all devices by "id = last + 1" must not come round to the beginning.
 */
#define KRDMA_DEVICE_ID_MAX	(U32_MAX - 1)

/**
 * struct krdma_limits - what a consumer may ask of a device through krdma
 * @max_mr_size: largest region of memory, in bytes
 * @max_qp: queue pairs that the device has
 * @max_send_wr: deepest send queue
 * @max_recv_wr: deepest receive queue
 * @max_send_sge: scatter/gather entries of a send or write
 * @max_recv_sge: scatter/gather entries of a receive
 * @max_read_sge: scatter/gather entries of a read
 * @max_cqe: deepest completion queue
 * @max_srq_wr: deepest shared receive queue, 0 without KRDMA_DEVICE_CAP_SRQ
 * @max_read_depth: reads and atomics that a connection can have under way
 * @max_read_depth_in: reads and atomics that a connection can serve at a time
 * @max_fast_reg_pages: pages in one fast registration, 0 without
 *	KRDMA_DEVICE_CAP_FAST_REG
 *
 * What krdma needs for itself is taken off already.
 */
struct krdma_limits {
	u64 max_mr_size;
	u32 max_qp;
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_read_sge;
	u32 max_cqe;
	u32 max_srq_wr;
	u32 max_read_depth;
	u32 max_read_depth_in;
	u32 max_fast_reg_pages;
};

/**
 * struct krdma_device_attr - a device
 * @id: its number, never 0
 * @port_count: its ports, numbered from 1
 * @name: its name at the time of the call, padded with zeroes
 * @node_guid: its GUID, as a number
 * @caps: bits of &enum krdma_device_cap
 * @transport: what it speaks on the wire
 * @limits: what may be asked of it
 */
struct krdma_device_attr {
	u32 id;
	u32 port_count;
	char name[KRDMA_NAME_MAX];
	u64 node_guid;
	u64 caps;
	enum krdma_transport transport;
	struct krdma_limits limits;
};

/**
 * struct krdma_port_attr - a port, at the time of the call
 * @state: its state
 * @link_layer: what is below the transport
 * @max_mtu: the largest path MTU that it can have, in bytes
 * @active_mtu: the largest path MTU that it has, in bytes
 * @max_msg_size: the longest message, in bytes
 * @gid_count: entries in its table of addresses
 * @speed_mbps: speed in Mbit/s, 0 if the device does not say
 * @netdev_ifindex: the network interface behind it, 0 if there is none in the
 *	namespace that was given
 * @netdev_name: the interface's name, padded with zeroes
 */
struct krdma_port_attr {
	enum krdma_port_state state;
	enum krdma_link_layer link_layer;
	u32 max_mtu;
	u32 active_mtu;
	u32 max_msg_size;
	u32 gid_count;
	u32 speed_mbps;
	u32 netdev_ifindex;
	char netdev_name[KRDMA_NAME_MAX];
};

struct krdma_device *krdma_device_get(const struct net *net, u32 id);
struct krdma_device *krdma_device_next(const struct net *net, u32 id);
struct krdma_device *krdma_device_find(const struct net *net, const char *name);
void krdma_device_put(struct krdma_device *dev);
u32 krdma_device_count(const struct net *net);

int krdma_device_query_attr(struct krdma_device *dev, struct krdma_device_attr *attr);
int krdma_device_query_port(struct krdma_device *dev, const struct net *net, u32 port,
			    struct krdma_port_attr *attr);

#endif /* _KRDMA_KRDMA_H */
