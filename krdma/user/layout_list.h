/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of <linux/krdma.h> and of the headers beside it, pinned: what is published
 * stays where it is, on every architecture and for every language.  This is the one list:
 * the module does not compile if it is not true (user/ioctl.c), and neither does a
 * 64-bit, a 32-bit or an x32 program (tools/testing/pure), where it is also looked that
 * nothing is missing.  A structure grows at its end, by lines added here.
 *
 *	VALUE(name, value)
 *	STRUCT(name, bytes, alignment)
 *	STRUCT_OF_ADDRESSES(name, bytes)	32-bit compilers may align it otherwise
 *	FIELD(structure, name, offset, bytes)
 */
VALUE(KRDMA_IOCTL_TYPE, 188);
VALUE(KRDMA_CMD_INFO, 0);
VALUE(KRDMA_CMD_DEVICE_QUERY, 1);
VALUE(KRDMA_CMD_PORT_QUERY, 2);
VALUE(KRDMA_CMD_DEVICE_FIND, 3);
VALUE(KRDMA_CMD_WATCH, 4);
VALUE(KRDMA_CMD_LISTEN, 5);
VALUE(KRDMA_CMD_CONN_CREATE, 6);
VALUE(KRDMA_CMD_QUEUE_CREATE, 7);
VALUE(KRDMA_CMD_SRQ_CREATE, 8);
VALUE(KRDMA_CMD_MEMORY_REGISTER, 9);
VALUE(KRDMA_CMD_MEMORY_RELEASE, 10);
VALUE(KRDMA_CMD_MEMORY_QUERY, 11);
VALUE(KRDMA_CMD_MEMORY_ADVISE, 12);
VALUE(KRDMA_CMD_LIMIT_QUERY, 13);
VALUE(KRDMA_CMD_LISTENER_QUERY, 32);
VALUE(KRDMA_CMD_LISTENER_NEXT, 33);
VALUE(KRDMA_CMD_CONN_RESOLVE, 48);
VALUE(KRDMA_CMD_CONN_PREPARE, 49);
VALUE(KRDMA_CMD_CONN_CONNECT, 50);
VALUE(KRDMA_CMD_CONN_ACCEPT, 51);
VALUE(KRDMA_CMD_CONN_REJECT, 52);
VALUE(KRDMA_CMD_CONN_DISCONNECT, 53);
VALUE(KRDMA_CMD_CONN_WAIT, 54);
VALUE(KRDMA_CMD_CONN_QUERY, 55);
VALUE(KRDMA_CMD_QUEUE_ENTER, 64);
VALUE(KRDMA_CMD_QUEUE_POST, 65);
VALUE(KRDMA_CMD_QUEUE_REAP, 66);
VALUE(KRDMA_CMD_QUEUE_QUERY, 67);
VALUE(KRDMA_CMD_QUEUE_CONFINE, 68);
VALUE(KRDMA_CMD_SRQ_QUERY, 80);
VALUE(KRDMA_CMD_SRQ_POST, 81);
VALUE(KRDMA_FOREVER, 18446744073709551615ULL);
VALUE(KRDMA_STRUCT_SIZE_MAX, 4096);
VALUE(KRDMA_ABI_VERSION, 1);
VALUE(KRDMA_NAME_MAX, 64);
VALUE(KRDMA_FEATURE_DEVICES, 1);
VALUE(KRDMA_FEATURE_TRANSFERS, 2);

STRUCT(krdma_info, 64, 8);
FIELD(krdma_info, size, 0, 4);
FIELD(krdma_info, flags, 4, 4);
FIELD(krdma_info, abi_version, 8, 4);
FIELD(krdma_info, max_struct_size, 12, 4);
FIELD(krdma_info, features, 16, 8);
FIELD(krdma_info, device_count, 24, 4);
FIELD(krdma_info, max_devices, 28, 4);
FIELD(krdma_info, module_version, 32, 32);

VALUE(KRDMA_INFO, 48128);
VALUE(KRDMA_DEVICE_QUERY_NEXT, 1);
VALUE(KRDMA_DEVICE_QUERY_NAME, 2);
VALUE(KRDMA_TRANSPORT_OTHER, 0);
VALUE(KRDMA_TRANSPORT_IB, 1);
VALUE(KRDMA_TRANSPORT_IWARP, 2);
VALUE(KRDMA_DEVICE_CAP_ATOMIC, 1);
VALUE(KRDMA_DEVICE_CAP_IMM, 2);
VALUE(KRDMA_DEVICE_CAP_SRQ, 4);
VALUE(KRDMA_DEVICE_CAP_FAST_REG, 8);
VALUE(KRDMA_DEVICE_CAP_ODP, 16);
VALUE(KRDMA_DEVICE_CAP_READ_LOCAL, 32);
VALUE(KRDMA_DEVICE_CAP_ATOMIC_WRITE, 64);
VALUE(KRDMA_DEVICE_CAP_FLUSH_GLOBAL, 128);
VALUE(KRDMA_DEVICE_CAP_FLUSH_PERSISTENT, 256);

STRUCT(krdma_device_query, 152, 8);
FIELD(krdma_device_query, size, 0, 4);
FIELD(krdma_device_query, flags, 4, 4);
FIELD(krdma_device_query, id, 8, 4);
FIELD(krdma_device_query, port_count, 12, 4);
FIELD(krdma_device_query, name, 16, 64);
FIELD(krdma_device_query, node_guid, 80, 8);
FIELD(krdma_device_query, caps, 88, 8);
FIELD(krdma_device_query, max_mr_size, 96, 8);
FIELD(krdma_device_query, transport, 104, 4);
FIELD(krdma_device_query, max_qp, 108, 4);
FIELD(krdma_device_query, max_send_wr, 112, 4);
FIELD(krdma_device_query, max_recv_wr, 116, 4);
FIELD(krdma_device_query, max_send_sge, 120, 4);
FIELD(krdma_device_query, max_recv_sge, 124, 4);
FIELD(krdma_device_query, max_read_sge, 128, 4);
FIELD(krdma_device_query, max_cqe, 132, 4);
FIELD(krdma_device_query, max_srq_wr, 136, 4);
FIELD(krdma_device_query, max_read_depth, 140, 4);
FIELD(krdma_device_query, max_read_depth_in, 144, 4);
FIELD(krdma_device_query, max_fast_reg_pages, 148, 4);

VALUE(KRDMA_DEVICE_QUERY, 48129);
VALUE(KRDMA_PORT_DOWN, 1);
VALUE(KRDMA_PORT_INIT, 2);
VALUE(KRDMA_PORT_ARMED, 3);
VALUE(KRDMA_PORT_ACTIVE, 4);
VALUE(KRDMA_LINK_OTHER, 0);
VALUE(KRDMA_LINK_INFINIBAND, 1);
VALUE(KRDMA_LINK_ETHERNET, 2);

STRUCT(krdma_port_query, 112, 4);
FIELD(krdma_port_query, size, 0, 4);
FIELD(krdma_port_query, flags, 4, 4);
FIELD(krdma_port_query, device_id, 8, 4);
FIELD(krdma_port_query, port, 12, 4);
FIELD(krdma_port_query, state, 16, 4);
FIELD(krdma_port_query, link_layer, 20, 4);
FIELD(krdma_port_query, max_mtu, 24, 4);
FIELD(krdma_port_query, active_mtu, 28, 4);
FIELD(krdma_port_query, max_msg_size, 32, 4);
FIELD(krdma_port_query, gid_count, 36, 4);
FIELD(krdma_port_query, speed_mbps, 40, 4);
FIELD(krdma_port_query, netdev_ifindex, 44, 4);
FIELD(krdma_port_query, netdev_name, 48, 64);

VALUE(KRDMA_PORT_QUERY, 48130);
VALUE(KRDMA_OP_SEND, 1);
VALUE(KRDMA_OP_SEND_IMM, 2);
VALUE(KRDMA_OP_SEND_INVALIDATE, 3);
VALUE(KRDMA_OP_RECEIVE, 4);
VALUE(KRDMA_OP_WRITE, 5);
VALUE(KRDMA_OP_WRITE_IMM, 6);
VALUE(KRDMA_OP_READ, 7);
VALUE(KRDMA_OP_COMPARE_SWAP, 8);
VALUE(KRDMA_OP_FETCH_ADD, 9);
VALUE(KRDMA_OP_ATOMIC_WRITE, 10);
VALUE(KRDMA_OP_FLUSH, 11);
VALUE(KRDMA_OP_INVALIDATE, 12);
VALUE(KRDMA_OP_REGISTER, 13);
VALUE(KRDMA_FLUSH_GLOBAL, 1);
VALUE(KRDMA_FLUSH_PERSISTENT, 2);
VALUE(KRDMA_FLUSH_MEMORY, 256);
VALUE(KRDMA_STATUS_SUCCESS, 0);
VALUE(KRDMA_STATUS_LOCAL_LENGTH, 1);
VALUE(KRDMA_STATUS_LOCAL_OPERATION, 2);
VALUE(KRDMA_STATUS_LOCAL_PROTECTION, 3);
VALUE(KRDMA_STATUS_FLUSHED, 4);
VALUE(KRDMA_STATUS_MEMORY_WINDOW, 5);
VALUE(KRDMA_STATUS_BAD_RESPONSE, 6);
VALUE(KRDMA_STATUS_LOCAL_ACCESS, 7);
VALUE(KRDMA_STATUS_REMOTE_INVALID_REQUEST, 8);
VALUE(KRDMA_STATUS_REMOTE_ACCESS, 9);
VALUE(KRDMA_STATUS_REMOTE_OPERATION, 10);
VALUE(KRDMA_STATUS_RETRY_EXCEEDED, 11);
VALUE(KRDMA_STATUS_RNR_RETRY_EXCEEDED, 12);
VALUE(KRDMA_STATUS_OTHER, 13);
VALUE(KRDMA_ACCESS_LOCAL_WRITE, 1);
VALUE(KRDMA_ACCESS_REMOTE_READ, 2);
VALUE(KRDMA_ACCESS_REMOTE_WRITE, 4);
VALUE(KRDMA_ACCESS_REMOTE_ATOMIC, 8);
VALUE(KRDMA_CONN_NEW, 0);
VALUE(KRDMA_CONN_RESOLVING_ADDRESS, 1);
VALUE(KRDMA_CONN_RESOLVING_ROUTE, 2);
VALUE(KRDMA_CONN_RESOLVED, 3);
VALUE(KRDMA_CONN_REQUESTED, 4);
VALUE(KRDMA_CONN_CONNECTING, 5);
VALUE(KRDMA_CONN_ACCEPTING, 6);
VALUE(KRDMA_CONN_CONNECTED, 7);
VALUE(KRDMA_CONN_DISCONNECTING, 8);
VALUE(KRDMA_CONN_CLOSING, 9);
VALUE(KRDMA_CONN_CLOSED, 10);
VALUE(KRDMA_EVENT_ADDRESS_RESOLVED, 1);
VALUE(KRDMA_EVENT_ADDRESS_ERROR, 2);
VALUE(KRDMA_EVENT_ROUTE_RESOLVED, 3);
VALUE(KRDMA_EVENT_ROUTE_ERROR, 4);
VALUE(KRDMA_EVENT_ESTABLISHED, 5);
VALUE(KRDMA_EVENT_CONNECT_ERROR, 6);
VALUE(KRDMA_EVENT_UNREACHABLE, 7);
VALUE(KRDMA_EVENT_REJECTED, 8);
VALUE(KRDMA_EVENT_DISCONNECTED, 9);
VALUE(KRDMA_EVENT_LOST, 10);
VALUE(KRDMA_EVENT_DEVICE_REMOVED, 11);
VALUE(KRDMA_EVENT_ADDRESS_CHANGED, 12);
VALUE(KRDMA_EVENT_CLOSED, 13);
VALUE(KRDMA_DEVICE_EVENT_ADDED, 1);
VALUE(KRDMA_DEVICE_EVENT_REMOVED, 2);
VALUE(KRDMA_DEVICE_EVENT_PORT_ACTIVE, 3);
VALUE(KRDMA_DEVICE_EVENT_PORT_ERROR, 4);
VALUE(KRDMA_DEVICE_EVENT_ADDRESS_CHANGED, 5);
VALUE(KRDMA_DEVICE_EVENT_FATAL, 6);
VALUE(KRDMA_DEVICE_EVENT_MISSED, 7);

STRUCT(krdma_device_record, 16, 4);
FIELD(krdma_device_record, size, 0, 4);
FIELD(krdma_device_record, type, 4, 4);
FIELD(krdma_device_record, device_id, 8, 4);
FIELD(krdma_device_record, port, 12, 4);

STRUCT(krdma_event_record, 16, 4);
FIELD(krdma_event_record, size, 0, 4);
FIELD(krdma_event_record, type, 4, 4);
FIELD(krdma_event_record, error, 8, 4);
FIELD(krdma_event_record, reason, 12, 4);

VALUE(KRDMA_DEVICE_FIND_LOCAL, 1);
VALUE(KRDMA_DEVICE_FIND_REMOTE, 2);

STRUCT_OF_ADDRESSES(krdma_device_find, 280);
FIELD(krdma_device_find, size, 0, 4);
FIELD(krdma_device_find, flags, 4, 4);
FIELD(krdma_device_find, deadline_ns, 8, 8);
FIELD(krdma_device_find, id, 16, 4);
FIELD(krdma_device_find, reserved, 20, 4);
FIELD(krdma_device_find, local, 24, 128);
FIELD(krdma_device_find, remote, 152, 128);

VALUE(KRDMA_DEVICE_FIND, 48131);

STRUCT(krdma_watch_devices, 8, 4);
FIELD(krdma_watch_devices, size, 0, 4);
FIELD(krdma_watch_devices, flags, 4, 4);

VALUE(KRDMA_WATCH, 48132);
VALUE(KRDMA_LISTEN_V6ONLY, 1);

STRUCT_OF_ADDRESSES(krdma_listen, 144);
FIELD(krdma_listen, size, 0, 4);
FIELD(krdma_listen, flags, 4, 4);
FIELD(krdma_listen, fd, 8, 4);
FIELD(krdma_listen, backlog, 12, 4);
FIELD(krdma_listen, address, 16, 128);

VALUE(KRDMA_LISTEN, 48133);

STRUCT_OF_ADDRESSES(krdma_listener_query, 136);
FIELD(krdma_listener_query, size, 0, 4);
FIELD(krdma_listener_query, flags, 4, 4);
FIELD(krdma_listener_query, address, 8, 128);

VALUE(KRDMA_LISTENER_QUERY, 48160);

STRUCT(krdma_listener_next, 24, 8);
FIELD(krdma_listener_next, size, 0, 4);
FIELD(krdma_listener_next, flags, 4, 4);
FIELD(krdma_listener_next, deadline_ns, 8, 8);
FIELD(krdma_listener_next, fd, 16, 4);
FIELD(krdma_listener_next, id, 20, 4);

VALUE(KRDMA_LISTENER_NEXT, 48161);

STRUCT(krdma_conn_create, 16, 4);
FIELD(krdma_conn_create, size, 0, 4);
FIELD(krdma_conn_create, flags, 4, 4);
FIELD(krdma_conn_create, fd, 8, 4);
FIELD(krdma_conn_create, id, 12, 4);

VALUE(KRDMA_CONN_CREATE, 48134);
VALUE(KRDMA_RESOLVE_LOCAL, 1);

STRUCT_OF_ADDRESSES(krdma_conn_resolve, 280);
FIELD(krdma_conn_resolve, size, 0, 4);
FIELD(krdma_conn_resolve, flags, 4, 4);
FIELD(krdma_conn_resolve, timeout_ms, 8, 4);
FIELD(krdma_conn_resolve, tos, 12, 4);
FIELD(krdma_conn_resolve, ack_timeout, 16, 4);
FIELD(krdma_conn_resolve, reserved, 20, 4);
FIELD(krdma_conn_resolve, local, 24, 128);
FIELD(krdma_conn_resolve, remote, 152, 128);

VALUE(KRDMA_CONN_RESOLVE, 48176);
VALUE(KRDMA_PREPARE_RECV_QUEUE, 1);
VALUE(KRDMA_PREPARE_SRQ, 2);

STRUCT(krdma_conn_prepare, 48, 4);
FIELD(krdma_conn_prepare, size, 0, 4);
FIELD(krdma_conn_prepare, flags, 4, 4);
FIELD(krdma_conn_prepare, queue_fd, 8, 4);
FIELD(krdma_conn_prepare, recv_queue_fd, 12, 4);
FIELD(krdma_conn_prepare, srq_fd, 16, 4);
FIELD(krdma_conn_prepare, send_depth, 20, 4);
FIELD(krdma_conn_prepare, recv_depth, 24, 4);
FIELD(krdma_conn_prepare, max_send_sge, 28, 4);
FIELD(krdma_conn_prepare, max_recv_sge, 32, 4);
FIELD(krdma_conn_prepare, max_inline, 36, 4);
FIELD(krdma_conn_prepare, device_id, 40, 4);
FIELD(krdma_conn_prepare, keepalive_ms, 44, 4);

VALUE(KRDMA_CONN_PREPARE, 48177);
VALUE(KRDMA_QUEUE_EXTRA, 2);
VALUE(KRDMA_TERMS_PLAIN, 1);
VALUE(KRDMA_TERMS_NO_RNR_RETRY, 2);

STRUCT(krdma_conn_terms, 40, 8);
FIELD(krdma_conn_terms, size, 0, 4);
FIELD(krdma_conn_terms, flags, 4, 4);
FIELD(krdma_conn_terms, private_data, 8, 8);
FIELD(krdma_conn_terms, private_data_len, 16, 4);
FIELD(krdma_conn_terms, read_depth, 20, 4);
FIELD(krdma_conn_terms, read_depth_in, 24, 4);
FIELD(krdma_conn_terms, retry_count, 28, 4);
FIELD(krdma_conn_terms, rnr_retry_count, 32, 4);
FIELD(krdma_conn_terms, reserved, 36, 4);

VALUE(KRDMA_CONN_CONNECT, 48178);
VALUE(KRDMA_CONN_ACCEPT, 48179);

STRUCT(krdma_conn_reject, 24, 8);
FIELD(krdma_conn_reject, size, 0, 4);
FIELD(krdma_conn_reject, flags, 4, 4);
FIELD(krdma_conn_reject, private_data, 8, 8);
FIELD(krdma_conn_reject, private_data_len, 16, 4);
FIELD(krdma_conn_reject, reserved, 20, 4);

VALUE(KRDMA_CONN_REJECT, 48180);
VALUE(KRDMA_DISCONNECT_ABORT, 1);

STRUCT(krdma_conn_disconnect, 8, 4);
FIELD(krdma_conn_disconnect, size, 0, 4);
FIELD(krdma_conn_disconnect, flags, 4, 4);

VALUE(KRDMA_CONN_DISCONNECT, 48181);

STRUCT(krdma_conn_wait, 24, 8);
FIELD(krdma_conn_wait, size, 0, 4);
FIELD(krdma_conn_wait, flags, 4, 4);
FIELD(krdma_conn_wait, deadline_ns, 8, 8);
FIELD(krdma_conn_wait, state, 16, 4);
FIELD(krdma_conn_wait, reserved, 20, 4);

VALUE(KRDMA_CONN_WAIT, 48182);

STRUCT_OF_ADDRESSES(krdma_conn_query, 368);
FIELD(krdma_conn_query, size, 0, 4);
FIELD(krdma_conn_query, flags, 4, 4);
FIELD(krdma_conn_query, private_data, 8, 8);
FIELD(krdma_conn_query, private_data_len, 16, 4);
FIELD(krdma_conn_query, state, 20, 4);
FIELD(krdma_conn_query, error, 24, 4);
FIELD(krdma_conn_query, id, 28, 4);
FIELD(krdma_conn_query, device_id, 32, 4);
FIELD(krdma_conn_query, qp_number, 36, 4);
FIELD(krdma_conn_query, send_depth, 40, 4);
FIELD(krdma_conn_query, recv_depth, 44, 4);
FIELD(krdma_conn_query, max_send_sge, 48, 4);
FIELD(krdma_conn_query, max_recv_sge, 52, 4);
FIELD(krdma_conn_query, max_inline, 56, 4);
FIELD(krdma_conn_query, read_depth, 60, 4);
FIELD(krdma_conn_query, read_depth_in, 64, 4);
FIELD(krdma_conn_query, path_mtu, 68, 4);
FIELD(krdma_conn_query, peer_is_krdma, 72, 4);
FIELD(krdma_conn_query, reserved, 76, 4);
FIELD(krdma_conn_query, sends_posted, 80, 8);
FIELD(krdma_conn_query, sends_completed, 88, 8);
FIELD(krdma_conn_query, receives_posted, 96, 8);
FIELD(krdma_conn_query, receives_completed, 104, 8);
FIELD(krdma_conn_query, local, 112, 128);
FIELD(krdma_conn_query, remote, 240, 128);

VALUE(KRDMA_CONN_QUERY, 48183);

STRUCT(krdma_memory_register, 48, 8);
FIELD(krdma_memory_register, size, 0, 4);
FIELD(krdma_memory_register, flags, 4, 4);
FIELD(krdma_memory_register, addr, 8, 8);
FIELD(krdma_memory_register, length, 16, 8);
FIELD(krdma_memory_register, device_id, 24, 4);
FIELD(krdma_memory_register, access, 28, 4);
FIELD(krdma_memory_register, id, 32, 4);
FIELD(krdma_memory_register, remote_key, 36, 4);
FIELD(krdma_memory_register, remote_addr, 40, 8);

VALUE(KRDMA_MEMORY_REGISTER, 48137);
VALUE(KRDMA_RELEASE_LATER, 1);

STRUCT(krdma_memory_release, 16, 4);
FIELD(krdma_memory_release, size, 0, 4);
FIELD(krdma_memory_release, flags, 4, 4);
FIELD(krdma_memory_release, id, 8, 4);
FIELD(krdma_memory_release, reserved, 12, 4);

VALUE(KRDMA_MEMORY_RELEASE, 48138);
VALUE(KRDMA_DESCRIPTOR_SIZE, 32);
VALUE(KRDMA_MR_DESC_MAGIC, 1833194059);
VALUE(KRDMA_MR_DESC_VERSION, 1);
VALUE(KRDMA_MR_DESC_READ, 1);
VALUE(KRDMA_MR_DESC_WRITE, 2);
VALUE(KRDMA_MR_DESC_ATOMIC, 4);

STRUCT(krdma_mr_desc, 32, 8);
FIELD(krdma_mr_desc, magic, 0, 4);
FIELD(krdma_mr_desc, version, 4, 2);
FIELD(krdma_mr_desc, reserved, 6, 2);
FIELD(krdma_mr_desc, addr, 8, 8);
FIELD(krdma_mr_desc, length, 16, 8);
FIELD(krdma_mr_desc, key, 24, 4);
FIELD(krdma_mr_desc, rights, 28, 4);

STRUCT(krdma_memory_query, 112, 8);
FIELD(krdma_memory_query, size, 0, 4);
FIELD(krdma_memory_query, flags, 4, 4);
FIELD(krdma_memory_query, id, 8, 4);
FIELD(krdma_memory_query, access, 12, 4);
FIELD(krdma_memory_query, addr, 16, 8);
FIELD(krdma_memory_query, length, 24, 8);
FIELD(krdma_memory_query, remote_addr, 32, 8);
FIELD(krdma_memory_query, remote_key, 40, 4);
FIELD(krdma_memory_query, device_id, 44, 4);
FIELD(krdma_memory_query, part_offset, 48, 8);
FIELD(krdma_memory_query, part_length, 56, 8);
FIELD(krdma_memory_query, descriptor, 64, 32);
FIELD(krdma_memory_query, part_key, 96, 4);
FIELD(krdma_memory_query, key_count, 100, 4);
FIELD(krdma_memory_query, part_reach, 104, 8);

VALUE(KRDMA_MEMORY_QUERY, 48139);
VALUE(KRDMA_ADVICE_READ, 1);
VALUE(KRDMA_ADVICE_WRITE, 2);

STRUCT(krdma_memory_advise, 32, 8);
FIELD(krdma_memory_advise, size, 0, 4);
FIELD(krdma_memory_advise, flags, 4, 4);
FIELD(krdma_memory_advise, id, 8, 4);
FIELD(krdma_memory_advise, advice, 12, 4);
FIELD(krdma_memory_advise, offset, 16, 8);
FIELD(krdma_memory_advise, length, 24, 8);

VALUE(KRDMA_MEMORY_ADVISE, 48140);

VALUE(KRDMA_LIMIT_SESSIONS, 0);
VALUE(KRDMA_LIMIT_OBJECTS, 1);
VALUE(KRDMA_LIMIT_MEMORY, 2);
VALUE(KRDMA_LIMIT_PORTS, 3);
VALUE(KRDMA_LIMIT_DEVICE, 4);
VALUE(KRDMA_LIMIT_SCOPE_NONE, 0);
VALUE(KRDMA_LIMIT_SCOPE_USER, 1);
VALUE(KRDMA_LIMIT_SCOPE_OWNER, 2);
VALUE(KRDMA_LIMIT_SCOPE_GROUP, 3);
VALUE(KRDMA_LIMIT_QUERY_REFUSED, 1);
STRUCT(krdma_limit_query, 56, 8);
FIELD(krdma_limit_query, size, 0, 4);
FIELD(krdma_limit_query, flags, 4, 4);
FIELD(krdma_limit_query, limit, 8, 4);
FIELD(krdma_limit_query, scope, 12, 4);
FIELD(krdma_limit_query, session_used, 16, 8);
FIELD(krdma_limit_query, user_used, 24, 8);
FIELD(krdma_limit_query, owner_used, 32, 8);
FIELD(krdma_limit_query, max, 40, 8);
FIELD(krdma_limit_query, refused, 48, 8);
VALUE(KRDMA_LIMIT_UNKNOWN, 18446744073709551615ULL);
VALUE(KRDMA_LIMIT_QUERY, 48141);
VALUE(KRDMA_RING_MORE, 1);
VALUE(KRDMA_RING_DEAD, 2);

STRUCT(krdma_ring, 320, 4);
FIELD(krdma_ring, sq_entries, 0, 4);
FIELD(krdma_ring, cq_entries, 4, 4);
FIELD(krdma_ring, sqe_offset, 8, 4);
FIELD(krdma_ring, cqe_offset, 12, 4);
FIELD(krdma_ring, constant_padding, 16, 48);
FIELD(krdma_ring, sq_head, 64, 4);
FIELD(krdma_ring, sq_head_padding, 68, 60);
FIELD(krdma_ring, sq_tail, 128, 4);
FIELD(krdma_ring, sq_tail_padding, 132, 60);
FIELD(krdma_ring, cq_tail, 192, 4);
FIELD(krdma_ring, cq_flags, 196, 4);
FIELD(krdma_ring, cq_tail_padding, 200, 56);
FIELD(krdma_ring, cq_head, 256, 4);
FIELD(krdma_ring, cq_head_padding, 260, 60);

VALUE(KRDMA_SQE_SILENT, 1);
VALUE(KRDMA_SQE_INLINE, 2);
VALUE(KRDMA_SQE_FENCE, 4);
VALUE(KRDMA_SQE_SOLICITED, 8);

STRUCT(krdma_piece, 16, 8);
FIELD(krdma_piece, addr, 0, 8);
FIELD(krdma_piece, length, 8, 4);
FIELD(krdma_piece, memory, 12, 4);

VALUE(KRDMA_PIECES_MAX, 128);

STRUCT(krdma_sqe, 64, 8);
FIELD(krdma_sqe, opcode, 0, 1);
FIELD(krdma_sqe, flags, 1, 1);
FIELD(krdma_sqe, piece_count, 2, 2);
FIELD(krdma_sqe, target, 4, 4);
FIELD(krdma_sqe, cookie, 8, 8);
FIELD(krdma_sqe, piece, 16, 16);
FIELD(krdma_sqe, remote_addr, 32, 8);
FIELD(krdma_sqe, remote_key, 40, 4);
FIELD(krdma_sqe, imm, 44, 4);
FIELD(krdma_sqe, operand, 48, 8);
FIELD(krdma_sqe, swap, 56, 8);

VALUE(KRDMA_CQE_IMM, 1);
VALUE(KRDMA_CQE_INVALIDATED, 2);
VALUE(KRDMA_CQE_WRITTEN, 4);

STRUCT(krdma_cqe, 32, 8);
FIELD(krdma_cqe, cookie, 0, 8);
FIELD(krdma_cqe, target, 8, 4);
FIELD(krdma_cqe, opcode, 12, 1);
FIELD(krdma_cqe, status, 13, 1);
FIELD(krdma_cqe, flags, 14, 2);
FIELD(krdma_cqe, length, 16, 4);
FIELD(krdma_cqe, imm, 20, 4);
FIELD(krdma_cqe, vendor_error, 24, 4);
FIELD(krdma_cqe, reserved, 28, 4);

VALUE(KRDMA_QUEUE_POLLED, 1);
VALUE(KRDMA_QUEUE_VECTOR, 2);
VALUE(KRDMA_RING_ENTRIES_MAX, 65536);

STRUCT(krdma_queue_create, 48, 8);
FIELD(krdma_queue_create, size, 0, 4);
FIELD(krdma_queue_create, flags, 4, 4);
FIELD(krdma_queue_create, fd, 8, 4);
FIELD(krdma_queue_create, device_id, 12, 4);
FIELD(krdma_queue_create, sq_entries, 16, 4);
FIELD(krdma_queue_create, cq_entries, 20, 4);
FIELD(krdma_queue_create, vector, 24, 4);
FIELD(krdma_queue_create, sqe_offset, 28, 4);
FIELD(krdma_queue_create, cqe_offset, 32, 4);
FIELD(krdma_queue_create, reserved, 36, 4);
FIELD(krdma_queue_create, ring_size, 40, 8);

VALUE(KRDMA_QUEUE_CREATE, 48135);

STRUCT(krdma_queue_enter, 40, 8);
FIELD(krdma_queue_enter, size, 0, 4);
FIELD(krdma_queue_enter, flags, 4, 4);
FIELD(krdma_queue_enter, to_submit, 8, 4);
FIELD(krdma_queue_enter, min_complete, 12, 4);
FIELD(krdma_queue_enter, deadline_ns, 16, 8);
FIELD(krdma_queue_enter, submitted, 24, 4);
FIELD(krdma_queue_enter, error, 28, 4);
FIELD(krdma_queue_enter, completed, 32, 4);
FIELD(krdma_queue_enter, reserved, 36, 4);

VALUE(KRDMA_QUEUE_ENTER, 48192);

STRUCT(krdma_queue_post, 32, 8);
FIELD(krdma_queue_post, size, 0, 4);
FIELD(krdma_queue_post, flags, 4, 4);
FIELD(krdma_queue_post, entries, 8, 8);
FIELD(krdma_queue_post, count, 16, 4);
FIELD(krdma_queue_post, accepted, 20, 4);
FIELD(krdma_queue_post, error, 24, 4);
FIELD(krdma_queue_post, reserved, 28, 4);

VALUE(KRDMA_QUEUE_POST, 48193);
VALUE(KRDMA_SRQ_POST, 48209);

STRUCT(krdma_queue_reap, 40, 8);
FIELD(krdma_queue_reap, size, 0, 4);
FIELD(krdma_queue_reap, flags, 4, 4);
FIELD(krdma_queue_reap, entries, 8, 8);
FIELD(krdma_queue_reap, count, 16, 4);
FIELD(krdma_queue_reap, min_complete, 20, 4);
FIELD(krdma_queue_reap, deadline_ns, 24, 8);
FIELD(krdma_queue_reap, reaped, 32, 4);
FIELD(krdma_queue_reap, reserved, 36, 4);

VALUE(KRDMA_QUEUE_REAP, 48194);

STRUCT(krdma_queue_confine, 24, 8);
FIELD(krdma_queue_confine, size, 0, 4);
FIELD(krdma_queue_confine, flags, 4, 4);
FIELD(krdma_queue_confine, memory, 8, 8);
FIELD(krdma_queue_confine, count, 16, 4);
FIELD(krdma_queue_confine, reserved, 20, 4);

VALUE(KRDMA_QUEUE_CONFINE, 48196);
VALUE(KRDMA_CONFINE_MAX, 4096);

STRUCT(krdma_queue_query, 64, 8);
FIELD(krdma_queue_query, size, 0, 4);
FIELD(krdma_queue_query, flags, 4, 4);
FIELD(krdma_queue_query, device_id, 8, 4);
FIELD(krdma_queue_query, sq_entries, 12, 4);
FIELD(krdma_queue_query, cq_entries, 16, 4);
FIELD(krdma_queue_query, reserved, 20, 4);
FIELD(krdma_queue_query, submitted, 24, 8);
FIELD(krdma_queue_query, completed, 32, 8);
FIELD(krdma_queue_query, ring_size, 40, 8);
FIELD(krdma_queue_query, sqe_offset, 48, 4);
FIELD(krdma_queue_query, cqe_offset, 52, 4);
FIELD(krdma_queue_query, queue_flags, 56, 4);
FIELD(krdma_queue_query, vector, 60, 4);

VALUE(KRDMA_QUEUE_QUERY, 48195);

STRUCT(krdma_srq_create, 32, 4);
FIELD(krdma_srq_create, size, 0, 4);
FIELD(krdma_srq_create, flags, 4, 4);
FIELD(krdma_srq_create, fd, 8, 4);
FIELD(krdma_srq_create, id, 12, 4);
FIELD(krdma_srq_create, queue_fd, 16, 4);
FIELD(krdma_srq_create, device_id, 20, 4);
FIELD(krdma_srq_create, depth, 24, 4);
FIELD(krdma_srq_create, max_sge, 28, 4);

VALUE(KRDMA_SRQ_CREATE, 48136);

STRUCT(krdma_srq_query, 24, 4);
FIELD(krdma_srq_query, size, 0, 4);
FIELD(krdma_srq_query, flags, 4, 4);
FIELD(krdma_srq_query, id, 8, 4);
FIELD(krdma_srq_query, device_id, 12, 4);
FIELD(krdma_srq_query, depth, 16, 4);
FIELD(krdma_srq_query, max_sge, 20, 4);

VALUE(KRDMA_SRQ_QUERY, 48208);
