// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the layout that this compiler gives to everything in the ABI header,
 * one fact a line.  What it prints must be the same for every architecture and
 * language, and equal to abi_layout.expected, for ever: programs that were
 * compiled with it are out there.
 */
#include <stddef.h>
#include <stdio.h>

#include <linux/krdma.h>

#define STRUCT(type)	printf("struct %s size %lu align %lu\n", #type, \
			       (unsigned long)sizeof(struct type), \
			       (unsigned long)__alignof__(struct type))
#define FIELD(type, name) do {							\
	static struct type whole;						\
	__auto_type field = &whole.name;					\
										\
	printf("struct %s field %s at %lu size %lu\n", #type, #name,		\
	       (unsigned long)((char *)field - (char *)&whole),			\
	       (unsigned long)sizeof(*field));					\
} while (0)
#define VALUE(name)	printf("value %s %lu\n", #name, (unsigned long)(name))

int main(void)
{
	VALUE(KRDMA_ABI_VERSION);
	VALUE(KRDMA_NAME_MAX);
	VALUE(KRDMA_IOCTL_TYPE);
	VALUE(KRDMA_CMD_INFO);
	VALUE(KRDMA_CMD_DEVICE_QUERY);
	VALUE(KRDMA_CMD_PORT_QUERY);
	VALUE(KRDMA_INFO);
	VALUE(KRDMA_DEVICE_QUERY);
	VALUE(KRDMA_PORT_QUERY);

	VALUE(KRDMA_FEATURE_DEVICES);
	STRUCT(krdma_info);
	FIELD(krdma_info, size);
	FIELD(krdma_info, flags);
	FIELD(krdma_info, abi_version);
	FIELD(krdma_info, max_struct_size);
	FIELD(krdma_info, features);
	FIELD(krdma_info, device_count);
	FIELD(krdma_info, max_devices);
	FIELD(krdma_info, module_version);

	VALUE(KRDMA_DEVICE_QUERY_NEXT);
	VALUE(KRDMA_DEVICE_QUERY_NAME);
	VALUE(KRDMA_TRANSPORT_OTHER);
	VALUE(KRDMA_TRANSPORT_IB);
	VALUE(KRDMA_TRANSPORT_IWARP);
	VALUE(KRDMA_DEVICE_CAP_ATOMIC);
	VALUE(KRDMA_DEVICE_CAP_IMM);
	VALUE(KRDMA_DEVICE_CAP_SRQ);
	VALUE(KRDMA_DEVICE_CAP_FAST_REG);
	VALUE(KRDMA_DEVICE_CAP_ODP);
	STRUCT(krdma_device_query);
	FIELD(krdma_device_query, size);
	FIELD(krdma_device_query, flags);
	FIELD(krdma_device_query, id);
	FIELD(krdma_device_query, port_count);
	FIELD(krdma_device_query, name);
	FIELD(krdma_device_query, node_guid);
	FIELD(krdma_device_query, caps);
	FIELD(krdma_device_query, max_mr_size);
	FIELD(krdma_device_query, transport);
	FIELD(krdma_device_query, max_qp);
	FIELD(krdma_device_query, max_send_wr);
	FIELD(krdma_device_query, max_recv_wr);
	FIELD(krdma_device_query, max_send_sge);
	FIELD(krdma_device_query, max_recv_sge);
	FIELD(krdma_device_query, max_read_sge);
	FIELD(krdma_device_query, max_cqe);
	FIELD(krdma_device_query, max_srq_wr);
	FIELD(krdma_device_query, max_read_depth);
	FIELD(krdma_device_query, max_read_depth_in);
	FIELD(krdma_device_query, max_fast_reg_pages);

	VALUE(KRDMA_PORT_DOWN);
	VALUE(KRDMA_PORT_INIT);
	VALUE(KRDMA_PORT_ARMED);
	VALUE(KRDMA_PORT_ACTIVE);
	VALUE(KRDMA_LINK_OTHER);
	VALUE(KRDMA_LINK_INFINIBAND);
	VALUE(KRDMA_LINK_ETHERNET);
	STRUCT(krdma_port_query);
	FIELD(krdma_port_query, size);
	FIELD(krdma_port_query, flags);
	FIELD(krdma_port_query, device_id);
	FIELD(krdma_port_query, port);
	FIELD(krdma_port_query, state);
	FIELD(krdma_port_query, link_layer);
	FIELD(krdma_port_query, max_mtu);
	FIELD(krdma_port_query, active_mtu);
	FIELD(krdma_port_query, max_msg_size);
	FIELD(krdma_port_query, gid_count);
	FIELD(krdma_port_query, speed_mbps);
	FIELD(krdma_port_query, netdev_ifindex);
	FIELD(krdma_port_query, netdev_name);

	VALUE(KRDMA_OP_SEND);
	VALUE(KRDMA_OP_SEND_IMM);
	VALUE(KRDMA_OP_SEND_INVALIDATE);
	VALUE(KRDMA_OP_RECEIVE);
	VALUE(KRDMA_OP_WRITE);
	VALUE(KRDMA_OP_WRITE_IMM);
	VALUE(KRDMA_OP_READ);
	VALUE(KRDMA_OP_COMPARE_SWAP);
	VALUE(KRDMA_OP_FETCH_ADD);
	VALUE(KRDMA_OP_ATOMIC_WRITE);
	VALUE(KRDMA_OP_FLUSH);
	VALUE(KRDMA_OP_INVALIDATE);
	VALUE(KRDMA_OP_REGISTER);

	VALUE(KRDMA_STATUS_SUCCESS);
	VALUE(KRDMA_STATUS_LOCAL_LENGTH);
	VALUE(KRDMA_STATUS_LOCAL_OPERATION);
	VALUE(KRDMA_STATUS_LOCAL_PROTECTION);
	VALUE(KRDMA_STATUS_FLUSHED);
	VALUE(KRDMA_STATUS_MEMORY_WINDOW);
	VALUE(KRDMA_STATUS_BAD_RESPONSE);
	VALUE(KRDMA_STATUS_LOCAL_ACCESS);
	VALUE(KRDMA_STATUS_REMOTE_INVALID_REQUEST);
	VALUE(KRDMA_STATUS_REMOTE_ACCESS);
	VALUE(KRDMA_STATUS_REMOTE_OPERATION);
	VALUE(KRDMA_STATUS_RETRY_EXCEEDED);
	VALUE(KRDMA_STATUS_RNR_RETRY_EXCEEDED);
	VALUE(KRDMA_STATUS_OTHER);

	VALUE(KRDMA_ACCESS_LOCAL_WRITE);
	VALUE(KRDMA_ACCESS_REMOTE_READ);
	VALUE(KRDMA_ACCESS_REMOTE_WRITE);
	VALUE(KRDMA_ACCESS_REMOTE_ATOMIC);

	VALUE(KRDMA_CONN_NEW);
	VALUE(KRDMA_CONN_RESOLVING_ADDRESS);
	VALUE(KRDMA_CONN_RESOLVING_ROUTE);
	VALUE(KRDMA_CONN_RESOLVED);
	VALUE(KRDMA_CONN_REQUESTED);
	VALUE(KRDMA_CONN_CONNECTING);
	VALUE(KRDMA_CONN_ACCEPTING);
	VALUE(KRDMA_CONN_CONNECTED);
	VALUE(KRDMA_CONN_DISCONNECTING);
	VALUE(KRDMA_CONN_CLOSING);
	VALUE(KRDMA_CONN_CLOSED);

	VALUE(KRDMA_EVENT_ADDRESS_RESOLVED);
	VALUE(KRDMA_EVENT_ADDRESS_ERROR);
	VALUE(KRDMA_EVENT_ROUTE_RESOLVED);
	VALUE(KRDMA_EVENT_ROUTE_ERROR);
	VALUE(KRDMA_EVENT_ESTABLISHED);
	VALUE(KRDMA_EVENT_CONNECT_ERROR);
	VALUE(KRDMA_EVENT_UNREACHABLE);
	VALUE(KRDMA_EVENT_REJECTED);
	VALUE(KRDMA_EVENT_DISCONNECTED);
	VALUE(KRDMA_EVENT_LOST);
	VALUE(KRDMA_EVENT_DEVICE_REMOVED);
	VALUE(KRDMA_EVENT_ADDRESS_CHANGED);
	VALUE(KRDMA_EVENT_CLOSED);

	VALUE(KRDMA_DEVICE_EVENT_ADDED);
	VALUE(KRDMA_DEVICE_EVENT_REMOVED);
	VALUE(KRDMA_DEVICE_EVENT_PORT_ACTIVE);
	VALUE(KRDMA_DEVICE_EVENT_PORT_ERROR);
	VALUE(KRDMA_DEVICE_EVENT_ADDRESS_CHANGED);
	VALUE(KRDMA_DEVICE_EVENT_FATAL);
	return 0;
}
