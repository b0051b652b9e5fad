/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of every structure of <linux/krdma.h>, pinned: what is published
 * stays where it is.  A structure grows at its end, by lines added here.
 */
#ifndef _KRDMA_USER_LAYOUT_H
#define _KRDMA_USER_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/krdma.h>
#include <linux/stddef.h>

#define KRDMA_PIN(type, member, offset)	\
	static_assert(offsetof(struct type, member) == (offset))

KRDMA_PIN(krdma_info, size, 0);
KRDMA_PIN(krdma_info, flags, 4);
KRDMA_PIN(krdma_info, abi_version, 8);
KRDMA_PIN(krdma_info, max_struct_size, 12);
KRDMA_PIN(krdma_info, features, 16);
KRDMA_PIN(krdma_info, device_count, 24);
KRDMA_PIN(krdma_info, max_devices, 28);
KRDMA_PIN(krdma_info, module_version, 32);
static_assert(sizeof(struct krdma_info) == 64);

KRDMA_PIN(krdma_device_query, size, 0);
KRDMA_PIN(krdma_device_query, flags, 4);
KRDMA_PIN(krdma_device_query, id, 8);
KRDMA_PIN(krdma_device_query, port_count, 12);
KRDMA_PIN(krdma_device_query, name, 16);
KRDMA_PIN(krdma_device_query, node_guid, 80);
KRDMA_PIN(krdma_device_query, caps, 88);
KRDMA_PIN(krdma_device_query, max_mr_size, 96);
KRDMA_PIN(krdma_device_query, transport, 104);
KRDMA_PIN(krdma_device_query, max_qp, 108);
KRDMA_PIN(krdma_device_query, max_send_wr, 112);
KRDMA_PIN(krdma_device_query, max_recv_wr, 116);
KRDMA_PIN(krdma_device_query, max_send_sge, 120);
KRDMA_PIN(krdma_device_query, max_recv_sge, 124);
KRDMA_PIN(krdma_device_query, max_read_sge, 128);
KRDMA_PIN(krdma_device_query, max_cqe, 132);
KRDMA_PIN(krdma_device_query, max_srq_wr, 136);
KRDMA_PIN(krdma_device_query, max_read_depth, 140);
KRDMA_PIN(krdma_device_query, max_read_depth_in, 144);
KRDMA_PIN(krdma_device_query, max_fast_reg_pages, 148);
static_assert(sizeof(struct krdma_device_query) == 152);

KRDMA_PIN(krdma_port_query, size, 0);
KRDMA_PIN(krdma_port_query, flags, 4);
KRDMA_PIN(krdma_port_query, device_id, 8);
KRDMA_PIN(krdma_port_query, port, 12);
KRDMA_PIN(krdma_port_query, state, 16);
KRDMA_PIN(krdma_port_query, link_layer, 20);
KRDMA_PIN(krdma_port_query, max_mtu, 24);
KRDMA_PIN(krdma_port_query, active_mtu, 28);
KRDMA_PIN(krdma_port_query, max_msg_size, 32);
KRDMA_PIN(krdma_port_query, gid_count, 36);
KRDMA_PIN(krdma_port_query, speed_mbps, 40);
KRDMA_PIN(krdma_port_query, netdev_ifindex, 44);
KRDMA_PIN(krdma_port_query, netdev_name, 48);
static_assert(sizeof(struct krdma_port_query) == 112);

/* Numbers are for ever too: requests carry no size in them. */
static_assert(KRDMA_INFO == 0xbc00);
static_assert(KRDMA_DEVICE_QUERY == 0xbc01);
static_assert(KRDMA_PORT_QUERY == 0xbc02);

#undef KRDMA_PIN

#endif /* _KRDMA_USER_LAYOUT_H */
