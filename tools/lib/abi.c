// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The layout of the interface, pinned.  There is no code here: the file
 * compiles, for 64-bit and 32-bit programs alike, or the interface has changed
 * under programs that exist.
 */
#include <assert.h>
#include <stddef.h>

#include "internal.h"

#define PIN(type, field, offset)						\
	static_assert(offsetof(struct type, field) == (offset), #type "." #field " has moved")
#define PIN_LENGTH(type, field, length)					\
	static_assert(sizeof((*(struct type *)0).field) == (length),		\
		      #type "." #field " has changed its length")
#define PIN_SIZE(type, size)							\
	static_assert(sizeof(struct type) == (size), #type " has changed its size")
#define PIN_VALUE(name, value)							\
	static_assert((name) == (value), #name " has changed")

PIN_VALUE(KRDMA_ABI_VERSION, 1);
PIN_VALUE(KRDMA_NAME_MAX, 64);

PIN_VALUE(KRDMA_INFO, _IO(0xBC, 0x00));
PIN_VALUE(KRDMA_DEVICE_QUERY, _IO(0xBC, 0x01));
PIN_VALUE(KRDMA_PORT_QUERY, _IO(0xBC, 0x02));

PIN_VALUE(KRDMA_FEATURE_DEVICES, 0x1);

PIN(krdma_info, size, 0);
PIN(krdma_info, flags, 4);
PIN(krdma_info, abi_version, 8);
PIN(krdma_info, max_struct_size, 12);
PIN(krdma_info, features, 16);
PIN(krdma_info, device_count, 24);
PIN(krdma_info, max_devices, 28);
PIN(krdma_info, module_version, 32);

PIN_LENGTH(krdma_info, size, 4);
PIN_LENGTH(krdma_info, flags, 4);
PIN_LENGTH(krdma_info, abi_version, 4);
PIN_LENGTH(krdma_info, max_struct_size, 4);
PIN_LENGTH(krdma_info, features, 8);
PIN_LENGTH(krdma_info, device_count, 4);
PIN_LENGTH(krdma_info, max_devices, 4);
PIN_LENGTH(krdma_info, module_version, 32);
PIN_SIZE(krdma_info, 64);

PIN_VALUE(KRDMA_DEVICE_QUERY_NEXT, 0x1);
PIN_VALUE(KRDMA_DEVICE_QUERY_NAME, 0x2);

PIN_VALUE(KRDMA_TRANSPORT_OTHER, 0);
PIN_VALUE(KRDMA_TRANSPORT_IB, 1);
PIN_VALUE(KRDMA_TRANSPORT_IWARP, 2);

PIN_VALUE(KRDMA_DEVICE_CAP_ATOMIC, 0x01);
PIN_VALUE(KRDMA_DEVICE_CAP_IMM, 0x02);
PIN_VALUE(KRDMA_DEVICE_CAP_SRQ, 0x04);
PIN_VALUE(KRDMA_DEVICE_CAP_FAST_REG, 0x08);
PIN_VALUE(KRDMA_DEVICE_CAP_ODP, 0x10);
PIN_VALUE(KRDMA_DEVICE_CAP_READ_LOCAL, 0x20);

PIN(krdma_device_query, size, 0);
PIN(krdma_device_query, flags, 4);
PIN(krdma_device_query, id, 8);
PIN(krdma_device_query, port_count, 12);
PIN(krdma_device_query, name, 16);
PIN(krdma_device_query, node_guid, 80);
PIN(krdma_device_query, caps, 88);
PIN(krdma_device_query, max_mr_size, 96);
PIN(krdma_device_query, transport, 104);
PIN(krdma_device_query, max_qp, 108);
PIN(krdma_device_query, max_send_wr, 112);
PIN(krdma_device_query, max_recv_wr, 116);
PIN(krdma_device_query, max_send_sge, 120);
PIN(krdma_device_query, max_recv_sge, 124);
PIN(krdma_device_query, max_read_sge, 128);
PIN(krdma_device_query, max_cqe, 132);
PIN(krdma_device_query, max_srq_wr, 136);
PIN(krdma_device_query, max_read_depth, 140);
PIN(krdma_device_query, max_read_depth_in, 144);
PIN(krdma_device_query, max_fast_reg_pages, 148);

PIN_LENGTH(krdma_device_query, size, 4);
PIN_LENGTH(krdma_device_query, flags, 4);
PIN_LENGTH(krdma_device_query, id, 4);
PIN_LENGTH(krdma_device_query, port_count, 4);
PIN_LENGTH(krdma_device_query, name, 64);
PIN_LENGTH(krdma_device_query, node_guid, 8);
PIN_LENGTH(krdma_device_query, caps, 8);
PIN_LENGTH(krdma_device_query, max_mr_size, 8);
PIN_LENGTH(krdma_device_query, transport, 4);
PIN_LENGTH(krdma_device_query, max_qp, 4);
PIN_LENGTH(krdma_device_query, max_send_wr, 4);
PIN_LENGTH(krdma_device_query, max_recv_wr, 4);
PIN_LENGTH(krdma_device_query, max_send_sge, 4);
PIN_LENGTH(krdma_device_query, max_recv_sge, 4);
PIN_LENGTH(krdma_device_query, max_read_sge, 4);
PIN_LENGTH(krdma_device_query, max_cqe, 4);
PIN_LENGTH(krdma_device_query, max_srq_wr, 4);
PIN_LENGTH(krdma_device_query, max_read_depth, 4);
PIN_LENGTH(krdma_device_query, max_read_depth_in, 4);
PIN_LENGTH(krdma_device_query, max_fast_reg_pages, 4);
PIN_SIZE(krdma_device_query, 152);

PIN_VALUE(KRDMA_PORT_DOWN, 1);
PIN_VALUE(KRDMA_PORT_INIT, 2);
PIN_VALUE(KRDMA_PORT_ARMED, 3);
PIN_VALUE(KRDMA_PORT_ACTIVE, 4);

PIN_VALUE(KRDMA_LINK_OTHER, 0);
PIN_VALUE(KRDMA_LINK_INFINIBAND, 1);
PIN_VALUE(KRDMA_LINK_ETHERNET, 2);

PIN(krdma_port_query, size, 0);
PIN(krdma_port_query, flags, 4);
PIN(krdma_port_query, device_id, 8);
PIN(krdma_port_query, port, 12);
PIN(krdma_port_query, state, 16);
PIN(krdma_port_query, link_layer, 20);
PIN(krdma_port_query, max_mtu, 24);
PIN(krdma_port_query, active_mtu, 28);
PIN(krdma_port_query, max_msg_size, 32);
PIN(krdma_port_query, gid_count, 36);
PIN(krdma_port_query, speed_mbps, 40);
PIN(krdma_port_query, netdev_ifindex, 44);
PIN(krdma_port_query, netdev_name, 48);

PIN_LENGTH(krdma_port_query, size, 4);
PIN_LENGTH(krdma_port_query, flags, 4);
PIN_LENGTH(krdma_port_query, device_id, 4);
PIN_LENGTH(krdma_port_query, port, 4);
PIN_LENGTH(krdma_port_query, state, 4);
PIN_LENGTH(krdma_port_query, link_layer, 4);
PIN_LENGTH(krdma_port_query, max_mtu, 4);
PIN_LENGTH(krdma_port_query, active_mtu, 4);
PIN_LENGTH(krdma_port_query, max_msg_size, 4);
PIN_LENGTH(krdma_port_query, gid_count, 4);
PIN_LENGTH(krdma_port_query, speed_mbps, 4);
PIN_LENGTH(krdma_port_query, netdev_ifindex, 4);
PIN_LENGTH(krdma_port_query, netdev_name, 64);
PIN_SIZE(krdma_port_query, 112);

/* The first published version of each is what callers may not fall below. */
PIN_VALUE(offsetof(struct krdma_info, module_version) + 32, KRDMA_INFO_MIN_SIZE);
PIN_VALUE(offsetof(struct krdma_device_query, max_fast_reg_pages) + 4,
	  KRDMA_DEVICE_QUERY_MIN_SIZE);
PIN_VALUE(offsetof(struct krdma_port_query, netdev_name) + 64, KRDMA_PORT_QUERY_MIN_SIZE);
PIN_VALUE(offsetof(struct krdma_conn_query, remote) + 128, KRDMA_CONN_QUERY_MIN_SIZE);
PIN_VALUE(offsetof(struct krdma_queue_query, vector) + 4, KRDMA_QUEUE_QUERY_MIN_SIZE);
PIN_VALUE(offsetof(struct krdma_srq_query, max_sge) + 4, KRDMA_SRQ_QUERY_MIN_SIZE);
