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
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>

/* 32-bit compilers need not put these where the others do: their fields say it. */
#define STRUCT_OF_ADDRESSES(type) printf("struct %s size %lu\n", #type, \
				       (unsigned long)sizeof(struct type))
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
#define VALUE(name)	printf("value %s %llu\n", #name, (unsigned long long)(name))

static void numbers(void)
{
	VALUE(KRDMA_IOCTL_TYPE);
	VALUE(KRDMA_CMD_INFO);
	VALUE(KRDMA_CMD_DEVICE_QUERY);
	VALUE(KRDMA_CMD_PORT_QUERY);
	VALUE(KRDMA_CMD_DEVICE_FIND);
	VALUE(KRDMA_CMD_WATCH);
	VALUE(KRDMA_CMD_LISTEN);
	VALUE(KRDMA_CMD_CONN_CREATE);
	VALUE(KRDMA_CMD_QUEUE_CREATE);
	VALUE(KRDMA_CMD_SRQ_CREATE);
	VALUE(KRDMA_CMD_MEMORY_REGISTER);
	VALUE(KRDMA_CMD_MEMORY_RELEASE);
	VALUE(KRDMA_CMD_MEMORY_QUERY);
	VALUE(KRDMA_CMD_MEMORY_ADVISE);
	VALUE(KRDMA_CMD_LIMIT_QUERY);
	VALUE(KRDMA_CMD_LISTENER_QUERY);
	VALUE(KRDMA_CMD_LISTENER_NEXT);
	VALUE(KRDMA_CMD_CONN_RESOLVE);
	VALUE(KRDMA_CMD_CONN_PREPARE);
	VALUE(KRDMA_CMD_CONN_CONNECT);
	VALUE(KRDMA_CMD_CONN_ACCEPT);
	VALUE(KRDMA_CMD_CONN_REJECT);
	VALUE(KRDMA_CMD_CONN_DISCONNECT);
	VALUE(KRDMA_CMD_CONN_WAIT);
	VALUE(KRDMA_CMD_CONN_QUERY);
	VALUE(KRDMA_CMD_QUEUE_ENTER);
	VALUE(KRDMA_CMD_QUEUE_POST);
	VALUE(KRDMA_CMD_QUEUE_REAP);
	VALUE(KRDMA_CMD_QUEUE_QUERY);
	VALUE(KRDMA_CMD_QUEUE_CONFINE);
	VALUE(KRDMA_CMD_SRQ_QUERY);
	VALUE(KRDMA_CMD_SRQ_POST);
}

static void information(void)
{
	VALUE(KRDMA_FOREVER);
	VALUE(KRDMA_ABI_VERSION);
	VALUE(KRDMA_NAME_MAX);
	VALUE(KRDMA_FEATURE_DEVICES);
	VALUE(KRDMA_FEATURE_TRANSFERS);
	STRUCT(krdma_info);
	FIELD(krdma_info, size);
	FIELD(krdma_info, flags);
	FIELD(krdma_info, abi_version);
	FIELD(krdma_info, max_struct_size);
	FIELD(krdma_info, features);
	FIELD(krdma_info, device_count);
	FIELD(krdma_info, max_devices);
	FIELD(krdma_info, module_version);

	VALUE(KRDMA_INFO);
}

static void devices(void)
{
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
	VALUE(KRDMA_DEVICE_CAP_READ_LOCAL);
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

	VALUE(KRDMA_DEVICE_QUERY);
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

	VALUE(KRDMA_PORT_QUERY);
}

static void operations(void)
{
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
}

static void states_and_events(void)
{
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
	VALUE(KRDMA_DEVICE_EVENT_MISSED);
	STRUCT(krdma_device_record);
	FIELD(krdma_device_record, type);
	FIELD(krdma_device_record, device_id);
	FIELD(krdma_device_record, port);
	FIELD(krdma_device_record, reserved);

	STRUCT(krdma_event_record);
	FIELD(krdma_event_record, type);
	FIELD(krdma_event_record, error);
	FIELD(krdma_event_record, reason);
	FIELD(krdma_event_record, reserved);
}

static void finding(void)
{
	VALUE(KRDMA_DEVICE_FIND_LOCAL);
	VALUE(KRDMA_DEVICE_FIND_REMOTE);
	STRUCT_OF_ADDRESSES(krdma_device_find);
	FIELD(krdma_device_find, size);
	FIELD(krdma_device_find, flags);
	FIELD(krdma_device_find, deadline_ns);
	FIELD(krdma_device_find, id);
	FIELD(krdma_device_find, reserved);
	FIELD(krdma_device_find, local);
	FIELD(krdma_device_find, remote);

	VALUE(KRDMA_DEVICE_FIND);
	STRUCT(krdma_watch_devices);
	FIELD(krdma_watch_devices, size);
	FIELD(krdma_watch_devices, flags);

	VALUE(KRDMA_WATCH);
}

static void listeners(void)
{
	VALUE(KRDMA_LISTEN_V6ONLY);
	STRUCT_OF_ADDRESSES(krdma_listen);
	FIELD(krdma_listen, size);
	FIELD(krdma_listen, flags);
	FIELD(krdma_listen, fd);
	FIELD(krdma_listen, backlog);
	FIELD(krdma_listen, address);

	VALUE(KRDMA_LISTEN);
	STRUCT_OF_ADDRESSES(krdma_listener_query);
	FIELD(krdma_listener_query, size);
	FIELD(krdma_listener_query, flags);
	FIELD(krdma_listener_query, address);

	VALUE(KRDMA_LISTENER_QUERY);
	STRUCT(krdma_listener_next);
	FIELD(krdma_listener_next, size);
	FIELD(krdma_listener_next, flags);
	FIELD(krdma_listener_next, deadline_ns);
	FIELD(krdma_listener_next, fd);
	FIELD(krdma_listener_next, id);

	VALUE(KRDMA_LISTENER_NEXT);
}

static void making_connections(void)
{
	STRUCT(krdma_conn_create);
	FIELD(krdma_conn_create, size);
	FIELD(krdma_conn_create, flags);
	FIELD(krdma_conn_create, fd);
	FIELD(krdma_conn_create, id);

	VALUE(KRDMA_CONN_CREATE);
	VALUE(KRDMA_RESOLVE_LOCAL);
	STRUCT_OF_ADDRESSES(krdma_conn_resolve);
	FIELD(krdma_conn_resolve, size);
	FIELD(krdma_conn_resolve, flags);
	FIELD(krdma_conn_resolve, timeout_ms);
	FIELD(krdma_conn_resolve, tos);
	FIELD(krdma_conn_resolve, ack_timeout);
	FIELD(krdma_conn_resolve, reserved);
	FIELD(krdma_conn_resolve, local);
	FIELD(krdma_conn_resolve, remote);

	VALUE(KRDMA_CONN_RESOLVE);
	VALUE(KRDMA_PREPARE_RECV_QUEUE);
	VALUE(KRDMA_PREPARE_SRQ);
	STRUCT(krdma_conn_prepare);
	FIELD(krdma_conn_prepare, size);
	FIELD(krdma_conn_prepare, flags);
	FIELD(krdma_conn_prepare, queue_fd);
	FIELD(krdma_conn_prepare, recv_queue_fd);
	FIELD(krdma_conn_prepare, srq_fd);
	FIELD(krdma_conn_prepare, send_depth);
	FIELD(krdma_conn_prepare, recv_depth);
	FIELD(krdma_conn_prepare, max_send_sge);
	FIELD(krdma_conn_prepare, max_recv_sge);
	FIELD(krdma_conn_prepare, max_inline);
	FIELD(krdma_conn_prepare, device_id);
	FIELD(krdma_conn_prepare, keepalive_ms);

	VALUE(KRDMA_CONN_PREPARE);
	VALUE(KRDMA_QUEUE_EXTRA);
	VALUE(KRDMA_TERMS_PLAIN);
	VALUE(KRDMA_TERMS_NO_RNR_RETRY);
	STRUCT(krdma_conn_terms);
	FIELD(krdma_conn_terms, size);
	FIELD(krdma_conn_terms, flags);
	FIELD(krdma_conn_terms, private_data);
	FIELD(krdma_conn_terms, private_data_len);
	FIELD(krdma_conn_terms, read_depth);
	FIELD(krdma_conn_terms, read_depth_in);
	FIELD(krdma_conn_terms, retry_count);
	FIELD(krdma_conn_terms, rnr_retry_count);
	FIELD(krdma_conn_terms, reserved);

	VALUE(KRDMA_CONN_CONNECT);
	VALUE(KRDMA_CONN_ACCEPT);
}

static void using_connections(void)
{
	STRUCT(krdma_conn_reject);
	FIELD(krdma_conn_reject, size);
	FIELD(krdma_conn_reject, flags);
	FIELD(krdma_conn_reject, private_data);
	FIELD(krdma_conn_reject, private_data_len);
	FIELD(krdma_conn_reject, reserved);

	VALUE(KRDMA_CONN_REJECT);
	VALUE(KRDMA_DISCONNECT_ABORT);
	STRUCT(krdma_conn_disconnect);
	FIELD(krdma_conn_disconnect, size);
	FIELD(krdma_conn_disconnect, flags);

	VALUE(KRDMA_CONN_DISCONNECT);
	STRUCT(krdma_conn_wait);
	FIELD(krdma_conn_wait, size);
	FIELD(krdma_conn_wait, flags);
	FIELD(krdma_conn_wait, deadline_ns);
	FIELD(krdma_conn_wait, state);
	FIELD(krdma_conn_wait, reserved);

	VALUE(KRDMA_CONN_WAIT);
	STRUCT_OF_ADDRESSES(krdma_conn_query);
	FIELD(krdma_conn_query, size);
	FIELD(krdma_conn_query, flags);
	FIELD(krdma_conn_query, private_data);
	FIELD(krdma_conn_query, private_data_len);
	FIELD(krdma_conn_query, state);
	FIELD(krdma_conn_query, error);
	FIELD(krdma_conn_query, id);
	FIELD(krdma_conn_query, device_id);
	FIELD(krdma_conn_query, qp_number);
	FIELD(krdma_conn_query, send_depth);
	FIELD(krdma_conn_query, recv_depth);
	FIELD(krdma_conn_query, max_send_sge);
	FIELD(krdma_conn_query, max_recv_sge);
	FIELD(krdma_conn_query, max_inline);
	FIELD(krdma_conn_query, read_depth);
	FIELD(krdma_conn_query, read_depth_in);
	FIELD(krdma_conn_query, path_mtu);
	FIELD(krdma_conn_query, peer_is_krdma);
	FIELD(krdma_conn_query, reserved);
	FIELD(krdma_conn_query, sends_posted);
	FIELD(krdma_conn_query, sends_completed);
	FIELD(krdma_conn_query, receives_posted);
	FIELD(krdma_conn_query, receives_completed);
	FIELD(krdma_conn_query, local);
	FIELD(krdma_conn_query, remote);

	VALUE(KRDMA_CONN_QUERY);
}

static void memory(void)
{
	STRUCT(krdma_memory_register);
	FIELD(krdma_memory_register, size);
	FIELD(krdma_memory_register, flags);
	FIELD(krdma_memory_register, addr);
	FIELD(krdma_memory_register, length);
	FIELD(krdma_memory_register, device_id);
	FIELD(krdma_memory_register, access);
	FIELD(krdma_memory_register, id);
	FIELD(krdma_memory_register, remote_key);
	FIELD(krdma_memory_register, remote_addr);

	VALUE(KRDMA_MEMORY_REGISTER);
	VALUE(KRDMA_RELEASE_LATER);
	STRUCT(krdma_memory_release);
	FIELD(krdma_memory_release, size);
	FIELD(krdma_memory_release, flags);
	FIELD(krdma_memory_release, id);
	FIELD(krdma_memory_release, reserved);

	VALUE(KRDMA_MEMORY_RELEASE);
	VALUE(KRDMA_DESCRIPTOR_SIZE);
	STRUCT(krdma_memory_query);
	FIELD(krdma_memory_query, size);
	FIELD(krdma_memory_query, flags);
	FIELD(krdma_memory_query, id);
	FIELD(krdma_memory_query, access);
	FIELD(krdma_memory_query, addr);
	FIELD(krdma_memory_query, length);
	FIELD(krdma_memory_query, remote_addr);
	FIELD(krdma_memory_query, remote_key);
	FIELD(krdma_memory_query, device_id);
	FIELD(krdma_memory_query, part_offset);
	FIELD(krdma_memory_query, part_length);
	FIELD(krdma_memory_query, descriptor);
	FIELD(krdma_memory_query, part_key);
	FIELD(krdma_memory_query, key_count);
	FIELD(krdma_memory_query, part_reach);

	VALUE(KRDMA_MEMORY_QUERY);
	VALUE(KRDMA_ADVICE_READ);
	VALUE(KRDMA_ADVICE_WRITE);
	STRUCT(krdma_memory_advise);
	FIELD(krdma_memory_advise, size);
	FIELD(krdma_memory_advise, flags);
	FIELD(krdma_memory_advise, id);
	FIELD(krdma_memory_advise, advice);
	FIELD(krdma_memory_advise, offset);
	FIELD(krdma_memory_advise, length);

	VALUE(KRDMA_MEMORY_ADVISE);

	VALUE(KRDMA_LIMIT_SESSIONS);
	VALUE(KRDMA_LIMIT_OBJECTS);
	VALUE(KRDMA_LIMIT_MEMORY);
	VALUE(KRDMA_LIMIT_PORTS);
	VALUE(KRDMA_LIMIT_DEVICE);
	VALUE(KRDMA_LIMIT_SCOPE_NONE);
	VALUE(KRDMA_LIMIT_SCOPE_USER);
	VALUE(KRDMA_LIMIT_SCOPE_OWNER);
	VALUE(KRDMA_LIMIT_SCOPE_GROUP);
	VALUE(KRDMA_LIMIT_QUERY_REFUSED);
	STRUCT(krdma_limit_query);
	FIELD(krdma_limit_query, size);
	FIELD(krdma_limit_query, flags);
	FIELD(krdma_limit_query, limit);
	FIELD(krdma_limit_query, scope);
	FIELD(krdma_limit_query, session_used);
	FIELD(krdma_limit_query, user_used);
	FIELD(krdma_limit_query, owner_used);
	FIELD(krdma_limit_query, max);
	FIELD(krdma_limit_query, refused);
	VALUE(KRDMA_LIMIT_UNKNOWN);
	VALUE(KRDMA_LIMIT_QUERY);
}

static void rings(void)
{
	VALUE(KRDMA_RING_MORE);
	VALUE(KRDMA_RING_DEAD);
	STRUCT(krdma_ring);
	FIELD(krdma_ring, sq_entries);
	FIELD(krdma_ring, cq_entries);
	FIELD(krdma_ring, sqe_offset);
	FIELD(krdma_ring, cqe_offset);
	FIELD(krdma_ring, constant_padding);
	FIELD(krdma_ring, sq_head);
	FIELD(krdma_ring, sq_head_padding);
	FIELD(krdma_ring, sq_tail);
	FIELD(krdma_ring, sq_tail_padding);
	FIELD(krdma_ring, cq_tail);
	FIELD(krdma_ring, cq_flags);
	FIELD(krdma_ring, cq_tail_padding);
	FIELD(krdma_ring, cq_head);
	FIELD(krdma_ring, cq_head_padding);

	VALUE(KRDMA_SQE_SILENT);
	VALUE(KRDMA_SQE_INLINE);
	VALUE(KRDMA_SQE_FENCE);
	VALUE(KRDMA_SQE_SOLICITED);
	STRUCT(krdma_piece);
	FIELD(krdma_piece, addr);
	FIELD(krdma_piece, length);
	FIELD(krdma_piece, memory);

	VALUE(KRDMA_PIECES_MAX);
	STRUCT(krdma_sqe);
	FIELD(krdma_sqe, opcode);
	FIELD(krdma_sqe, flags);
	FIELD(krdma_sqe, piece_count);
	FIELD(krdma_sqe, target);
	FIELD(krdma_sqe, cookie);
	FIELD(krdma_sqe, piece);
	FIELD(krdma_sqe, remote_addr);
	FIELD(krdma_sqe, remote_key);
	FIELD(krdma_sqe, imm);
	FIELD(krdma_sqe, operand);
	FIELD(krdma_sqe, swap);

	VALUE(KRDMA_CQE_IMM);
	VALUE(KRDMA_CQE_INVALIDATED);
	VALUE(KRDMA_CQE_WRITTEN);
	STRUCT(krdma_cqe);
	FIELD(krdma_cqe, cookie);
	FIELD(krdma_cqe, target);
	FIELD(krdma_cqe, opcode);
	FIELD(krdma_cqe, status);
	FIELD(krdma_cqe, flags);
	FIELD(krdma_cqe, length);
	FIELD(krdma_cqe, imm);
	FIELD(krdma_cqe, vendor_error);
	FIELD(krdma_cqe, reserved);
}

static void queues(void)
{
	VALUE(KRDMA_QUEUE_POLLED);
	VALUE(KRDMA_QUEUE_VECTOR);
	VALUE(KRDMA_RING_ENTRIES_MAX);
	STRUCT(krdma_queue_create);
	FIELD(krdma_queue_create, size);
	FIELD(krdma_queue_create, flags);
	FIELD(krdma_queue_create, fd);
	FIELD(krdma_queue_create, device_id);
	FIELD(krdma_queue_create, sq_entries);
	FIELD(krdma_queue_create, cq_entries);
	FIELD(krdma_queue_create, vector);
	FIELD(krdma_queue_create, sqe_offset);
	FIELD(krdma_queue_create, cqe_offset);
	FIELD(krdma_queue_create, reserved);
	FIELD(krdma_queue_create, ring_size);

	VALUE(KRDMA_QUEUE_CREATE);
	STRUCT(krdma_queue_enter);
	FIELD(krdma_queue_enter, size);
	FIELD(krdma_queue_enter, flags);
	FIELD(krdma_queue_enter, to_submit);
	FIELD(krdma_queue_enter, min_complete);
	FIELD(krdma_queue_enter, deadline_ns);
	FIELD(krdma_queue_enter, submitted);
	FIELD(krdma_queue_enter, error);
	FIELD(krdma_queue_enter, completed);
	FIELD(krdma_queue_enter, reserved);

	VALUE(KRDMA_QUEUE_ENTER);
	STRUCT(krdma_queue_post);
	FIELD(krdma_queue_post, size);
	FIELD(krdma_queue_post, flags);
	FIELD(krdma_queue_post, entries);
	FIELD(krdma_queue_post, count);
	FIELD(krdma_queue_post, accepted);
	FIELD(krdma_queue_post, error);
	FIELD(krdma_queue_post, reserved);

	VALUE(KRDMA_QUEUE_POST);
	VALUE(KRDMA_SRQ_POST);
	STRUCT(krdma_queue_reap);
	FIELD(krdma_queue_reap, size);
	FIELD(krdma_queue_reap, flags);
	FIELD(krdma_queue_reap, entries);
	FIELD(krdma_queue_reap, count);
	FIELD(krdma_queue_reap, min_complete);
	FIELD(krdma_queue_reap, deadline_ns);
	FIELD(krdma_queue_reap, reaped);
	FIELD(krdma_queue_reap, reserved);

	VALUE(KRDMA_QUEUE_REAP);
	STRUCT(krdma_queue_confine);
	FIELD(krdma_queue_confine, size);
	FIELD(krdma_queue_confine, flags);
	FIELD(krdma_queue_confine, memory);
	FIELD(krdma_queue_confine, count);
	FIELD(krdma_queue_confine, reserved);

	VALUE(KRDMA_QUEUE_CONFINE);
	VALUE(KRDMA_CONFINE_MAX);

	STRUCT(krdma_queue_query);
	FIELD(krdma_queue_query, size);
	FIELD(krdma_queue_query, flags);
	FIELD(krdma_queue_query, device_id);
	FIELD(krdma_queue_query, sq_entries);
	FIELD(krdma_queue_query, cq_entries);
	FIELD(krdma_queue_query, reserved);
	FIELD(krdma_queue_query, submitted);
	FIELD(krdma_queue_query, completed);
	FIELD(krdma_queue_query, ring_size);
	FIELD(krdma_queue_query, sqe_offset);
	FIELD(krdma_queue_query, cqe_offset);
	FIELD(krdma_queue_query, queue_flags);
	FIELD(krdma_queue_query, vector);

	VALUE(KRDMA_QUEUE_QUERY);
}

static void shared_receive_queues(void)
{
	STRUCT(krdma_srq_create);
	FIELD(krdma_srq_create, size);
	FIELD(krdma_srq_create, flags);
	FIELD(krdma_srq_create, fd);
	FIELD(krdma_srq_create, id);
	FIELD(krdma_srq_create, queue_fd);
	FIELD(krdma_srq_create, device_id);
	FIELD(krdma_srq_create, depth);
	FIELD(krdma_srq_create, max_sge);

	VALUE(KRDMA_SRQ_CREATE);
	STRUCT(krdma_srq_query);
	FIELD(krdma_srq_query, size);
	FIELD(krdma_srq_query, flags);
	FIELD(krdma_srq_query, id);
	FIELD(krdma_srq_query, device_id);
	FIELD(krdma_srq_query, depth);
	FIELD(krdma_srq_query, max_sge);

	VALUE(KRDMA_SRQ_QUERY);
}

int main(void)
{
	numbers();
	information();
	devices();
	operations();
	states_and_events();
	finding();
	listeners();
	making_connections();
	using_connections();
	memory();
	rings();
	queues();
	shared_receive_queues();
	return 0;
}
