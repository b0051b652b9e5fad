/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixed layout of <linux/krdma.h> and of the headers beside it: a published field keeps its
 * place, on every architecture and for every language.  This is the only list: the module does
 * not compile if it is wrong (user/ioctl.c), and neither does a 64-bit, a 32-bit or an x32
 * program (tools/testing/pure), where a test also checks that nothing is missing.  A structure
 * grows at its end, by lines added here.
 *
 *	VALUE(name, value)
 *	STRUCT(name, bytes, alignment)
 *	STRUCT_OF_ADDRESSES(name, bytes)	32-bit compilers may align it differently
 *	FIELD(structure, name, offset, bytes)
 */
VALUE(KRDMA_IOCTL_TYPE, 188);
VALUE(KRDMA_CMD_INFO, 0);
VALUE(KRDMA_CMD_DEVICE_QUERY, 1);
VALUE(KRDMA_CMD_PORT_QUERY, 2);
VALUE(KRDMA_CMD_DEVICE_FIND, 3);
VALUE(KRDMA_CMD_DEVICE_NOTIFY, 4);
VALUE(KRDMA_CMD_LISTEN, 5);
VALUE(KRDMA_CMD_CONN_CREATE, 6);
VALUE(KRDMA_CMD_RING_CREATE, 7);
VALUE(KRDMA_CMD_SRQ_CREATE, 8);
VALUE(KRDMA_CMD_MR_REGISTER, 9);
VALUE(KRDMA_CMD_MR_DEREGISTER, 10);
VALUE(KRDMA_CMD_MR_QUERY, 11);
VALUE(KRDMA_CMD_MR_ADVISE, 12);
VALUE(KRDMA_CMD_LIMIT_QUERY, 13);
VALUE(KRDMA_CMD_CONNS_OPEN, 14);
VALUE(KRDMA_CMD_CONNS_TAKE, 15);
VALUE(KRDMA_CMD_CONNS_ACCEPT, 16);
VALUE(KRDMA_CMD_CONNS_CLOSE, 17);
VALUE(KRDMA_CMD_CONNS_FD, 18);
VALUE(KRDMA_CMD_MR_SET_NAME, 19);
VALUE(KRDMA_CMD_LISTENER_QUERY, 32);
VALUE(KRDMA_CMD_LISTENER_NEXT, 33);
VALUE(KRDMA_CMD_CONN_RESOLVE, 48);
VALUE(KRDMA_CMD_CONN_CREATE_QP, 49);
VALUE(KRDMA_CMD_CONN_CONNECT, 50);
VALUE(KRDMA_CMD_CONN_ACCEPT, 51);
VALUE(KRDMA_CMD_CONN_REJECT, 52);
VALUE(KRDMA_CMD_CONN_DISCONNECT, 53);
VALUE(KRDMA_CMD_CONN_WAIT, 54);
VALUE(KRDMA_CMD_CONN_QUERY, 55);
VALUE(KRDMA_CMD_CONN_FIND_MR, 56);
VALUE(KRDMA_CMD_RING_ENTER, 64);
VALUE(KRDMA_CMD_RING_POST, 65);
VALUE(KRDMA_CMD_RING_REAP, 66);
VALUE(KRDMA_CMD_RING_QUERY, 67);
VALUE(KRDMA_CMD_RING_CONFINE, 68);
VALUE(KRDMA_CMD_SRQ_QUERY, 80);
VALUE(KRDMA_CMD_SRQ_POST, 81);
VALUE(KRDMA_FOREVER, 18446744073709551615ULL);
VALUE(KRDMA_STRUCT_SIZE_MAX, 4096);
VALUE(KRDMA_ABI_VERSION, 1);
VALUE(KRDMA_NAME_MAX, 64);
VALUE(KRDMA_FEATURE_DEVICES, 1);
VALUE(KRDMA_FEATURE_TRANSFERS, 2);

STRUCT(krdma_info_args, 64, 8);
FIELD(krdma_info_args, size, 0, 4);
FIELD(krdma_info_args, flags, 4, 4);
FIELD(krdma_info_args, abi_version, 8, 4);
FIELD(krdma_info_args, max_struct_size, 12, 4);
FIELD(krdma_info_args, features, 16, 8);
FIELD(krdma_info_args, device_count, 24, 4);
FIELD(krdma_info_args, max_devices, 28, 4);
FIELD(krdma_info_args, module_version, 32, 32);

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

STRUCT(krdma_device_query_args, 152, 8);
FIELD(krdma_device_query_args, size, 0, 4);
FIELD(krdma_device_query_args, flags, 4, 4);
FIELD(krdma_device_query_args, id, 8, 4);
FIELD(krdma_device_query_args, port_count, 12, 4);
FIELD(krdma_device_query_args, name, 16, 64);
FIELD(krdma_device_query_args, node_guid, 80, 8);
FIELD(krdma_device_query_args, caps, 88, 8);
FIELD(krdma_device_query_args, max_mr_size, 96, 8);
FIELD(krdma_device_query_args, transport, 104, 4);
FIELD(krdma_device_query_args, max_qp, 108, 4);
FIELD(krdma_device_query_args, max_send_wr, 112, 4);
FIELD(krdma_device_query_args, max_recv_wr, 116, 4);
FIELD(krdma_device_query_args, max_send_sge, 120, 4);
FIELD(krdma_device_query_args, max_recv_sge, 124, 4);
FIELD(krdma_device_query_args, max_read_sge, 128, 4);
FIELD(krdma_device_query_args, max_cqe, 132, 4);
FIELD(krdma_device_query_args, max_srq_wr, 136, 4);
FIELD(krdma_device_query_args, max_read_depth, 140, 4);
FIELD(krdma_device_query_args, max_read_depth_in, 144, 4);
FIELD(krdma_device_query_args, max_fast_reg_pages, 148, 4);

VALUE(KRDMA_DEVICE_QUERY, 48129);
VALUE(KRDMA_PORT_DOWN, 1);
VALUE(KRDMA_PORT_INIT, 2);
VALUE(KRDMA_PORT_ARMED, 3);
VALUE(KRDMA_PORT_ACTIVE, 4);
VALUE(KRDMA_LINK_OTHER, 0);
VALUE(KRDMA_LINK_INFINIBAND, 1);
VALUE(KRDMA_LINK_ETHERNET, 2);

STRUCT(krdma_port_query_args, 112, 4);
FIELD(krdma_port_query_args, size, 0, 4);
FIELD(krdma_port_query_args, flags, 4, 4);
FIELD(krdma_port_query_args, device_id, 8, 4);
FIELD(krdma_port_query_args, port, 12, 4);
FIELD(krdma_port_query_args, state, 16, 4);
FIELD(krdma_port_query_args, link_layer, 20, 4);
FIELD(krdma_port_query_args, max_mtu, 24, 4);
FIELD(krdma_port_query_args, active_mtu, 28, 4);
FIELD(krdma_port_query_args, max_msg_size, 32, 4);
FIELD(krdma_port_query_args, gid_count, 36, 4);
FIELD(krdma_port_query_args, speed_mbps, 40, 4);
FIELD(krdma_port_query_args, netdev_ifindex, 44, 4);
FIELD(krdma_port_query_args, netdev_name, 48, 64);

VALUE(KRDMA_PORT_QUERY, 48130);
VALUE(KRDMA_OP_SEND, 1);
VALUE(KRDMA_OP_SEND_IMM, 2);
VALUE(KRDMA_OP_SEND_INVALIDATE, 3);
VALUE(KRDMA_OP_RECV, 4);
VALUE(KRDMA_OP_WRITE, 5);
VALUE(KRDMA_OP_WRITE_IMM, 6);
VALUE(KRDMA_OP_READ, 7);
VALUE(KRDMA_OP_COMPARE_SWAP, 8);
VALUE(KRDMA_OP_FETCH_ADD, 9);
VALUE(KRDMA_OP_ATOMIC_WRITE, 10);
VALUE(KRDMA_OP_FLUSH, 11);
VALUE(KRDMA_OP_EVENT, 14);
VALUE(KRDMA_FLUSH_GLOBAL, 1);
VALUE(KRDMA_FLUSH_PERSISTENT, 2);
VALUE(KRDMA_FLUSH_MEMORY, 256);
VALUE(KRDMA_WC_SUCCESS, 0);
VALUE(KRDMA_WC_LOC_LEN_ERR, 1);
VALUE(KRDMA_WC_LOC_QP_OP_ERR, 2);
VALUE(KRDMA_WC_LOC_PROT_ERR, 3);
VALUE(KRDMA_WC_WR_FLUSH_ERR, 4);
VALUE(KRDMA_WC_MW_BIND_ERR, 5);
VALUE(KRDMA_WC_BAD_RESP_ERR, 6);
VALUE(KRDMA_WC_LOC_ACCESS_ERR, 7);
VALUE(KRDMA_WC_REM_INV_REQ_ERR, 8);
VALUE(KRDMA_WC_REM_ACCESS_ERR, 9);
VALUE(KRDMA_WC_REM_OP_ERR, 10);
VALUE(KRDMA_WC_RETRY_EXC_ERR, 11);
VALUE(KRDMA_WC_RNR_RETRY_EXC_ERR, 12);
VALUE(KRDMA_WC_GENERAL_ERR, 13);
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
VALUE(KRDMA_EVENT_ADDR_RESOLVED, 1);
VALUE(KRDMA_EVENT_ADDR_ERROR, 2);
VALUE(KRDMA_EVENT_ROUTE_RESOLVED, 3);
VALUE(KRDMA_EVENT_ROUTE_ERROR, 4);
VALUE(KRDMA_EVENT_ESTABLISHED, 5);
VALUE(KRDMA_EVENT_CONNECT_ERROR, 6);
VALUE(KRDMA_EVENT_UNREACHABLE, 7);
VALUE(KRDMA_EVENT_REJECTED, 8);
VALUE(KRDMA_EVENT_DISCONNECTED, 9);
VALUE(KRDMA_EVENT_LOST, 10);
VALUE(KRDMA_EVENT_DEVICE_REMOVAL, 11);
VALUE(KRDMA_EVENT_ADDR_CHANGE, 12);
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

STRUCT_OF_ADDRESSES(krdma_device_find_args, 280);
FIELD(krdma_device_find_args, size, 0, 4);
FIELD(krdma_device_find_args, flags, 4, 4);
FIELD(krdma_device_find_args, deadline_ns, 8, 8);
FIELD(krdma_device_find_args, id, 16, 4);
FIELD(krdma_device_find_args, reserved, 20, 4);
FIELD(krdma_device_find_args, local, 24, 128);
FIELD(krdma_device_find_args, remote, 152, 128);

VALUE(KRDMA_DEVICE_FIND, 48131);

STRUCT(krdma_device_notify_args, 8, 4);
FIELD(krdma_device_notify_args, size, 0, 4);
FIELD(krdma_device_notify_args, flags, 4, 4);

VALUE(KRDMA_DEVICE_NOTIFY, 48132);
VALUE(KRDMA_LISTEN_V6ONLY, 1);
VALUE(KRDMA_LISTEN_LANES, 2);

STRUCT_OF_ADDRESSES(krdma_listen_args, 152);
FIELD(krdma_listen_args, size, 0, 4);
FIELD(krdma_listen_args, flags, 4, 4);
FIELD(krdma_listen_args, fd, 8, 4);
FIELD(krdma_listen_args, backlog, 12, 4);
FIELD(krdma_listen_args, address, 16, 128);
FIELD(krdma_listen_args, keepalive_ms, 144, 4);
FIELD(krdma_listen_args, request_timeout_ms, 148, 4);

VALUE(KRDMA_LISTEN, 48133);

STRUCT_OF_ADDRESSES(krdma_listener_query_args, 160);
FIELD(krdma_listener_query_args, size, 0, 4);
FIELD(krdma_listener_query_args, flags, 4, 4);
FIELD(krdma_listener_query_args, address, 8, 128);
FIELD(krdma_listener_query_args, listen_flags, 136, 4);
FIELD(krdma_listener_query_args, reserved, 140, 4);
FIELD(krdma_listener_query_args, waiting, 144, 4);
FIELD(krdma_listener_query_args, oldest_ms, 148, 4);
FIELD(krdma_listener_query_args, expired, 152, 8);

VALUE(KRDMA_LISTENER_QUERY, 48160);

STRUCT(krdma_listener_next_args, 24, 8);
FIELD(krdma_listener_next_args, size, 0, 4);
FIELD(krdma_listener_next_args, flags, 4, 4);
FIELD(krdma_listener_next_args, deadline_ns, 8, 8);
FIELD(krdma_listener_next_args, fd, 16, 4);
FIELD(krdma_listener_next_args, id, 20, 4);

VALUE(KRDMA_LISTENER_NEXT, 48161);
VALUE(KRDMA_CONN_CREATE_LANE, 1);

STRUCT(krdma_conn_create_args, 16, 4);
FIELD(krdma_conn_create_args, size, 0, 4);
FIELD(krdma_conn_create_args, flags, 4, 4);
FIELD(krdma_conn_create_args, fd, 8, 4);
FIELD(krdma_conn_create_args, id, 12, 4);

VALUE(KRDMA_CONN_CREATE, 48134);
VALUE(KRDMA_RESOLVE_LOCAL, 1);

STRUCT_OF_ADDRESSES(krdma_conn_resolve_args, 280);
FIELD(krdma_conn_resolve_args, size, 0, 4);
FIELD(krdma_conn_resolve_args, flags, 4, 4);
FIELD(krdma_conn_resolve_args, timeout_ms, 8, 4);
FIELD(krdma_conn_resolve_args, tos, 12, 4);
FIELD(krdma_conn_resolve_args, ack_timeout, 16, 4);
FIELD(krdma_conn_resolve_args, reserved, 20, 4);
FIELD(krdma_conn_resolve_args, local, 24, 128);
FIELD(krdma_conn_resolve_args, remote, 152, 128);

VALUE(KRDMA_CONN_RESOLVE, 48176);
VALUE(KRDMA_CREATE_QP_RECV_RING, 1);
VALUE(KRDMA_CREATE_QP_SRQ, 2);

STRUCT(krdma_conn_create_qp_args, 48, 4);
FIELD(krdma_conn_create_qp_args, size, 0, 4);
FIELD(krdma_conn_create_qp_args, flags, 4, 4);
FIELD(krdma_conn_create_qp_args, ring_fd, 8, 4);
FIELD(krdma_conn_create_qp_args, recv_ring_fd, 12, 4);
FIELD(krdma_conn_create_qp_args, srq_fd, 16, 4);
FIELD(krdma_conn_create_qp_args, send_depth, 20, 4);
FIELD(krdma_conn_create_qp_args, recv_depth, 24, 4);
FIELD(krdma_conn_create_qp_args, max_send_sge, 28, 4);
FIELD(krdma_conn_create_qp_args, max_recv_sge, 32, 4);
FIELD(krdma_conn_create_qp_args, max_inline, 36, 4);
FIELD(krdma_conn_create_qp_args, device_id, 40, 4);
FIELD(krdma_conn_create_qp_args, keepalive_ms, 44, 4);

VALUE(KRDMA_CONN_CREATE_QP, 48177);
VALUE(KRDMA_RING_EXTRA, 3);
VALUE(KRDMA_KEEPALIVE_NEVER, 0xffffffff);
VALUE(KRDMA_REQUEST_TIMEOUT_NEVER, 0xffffffff);
VALUE(KRDMA_CONN_PARAM_PLAIN, 1);
VALUE(KRDMA_CONN_PARAM_NO_RNR_RETRY, 2);
VALUE(KRDMA_CONN_PARAM_EARLY, 4);

STRUCT(krdma_conn_param_args, 40, 8);
FIELD(krdma_conn_param_args, size, 0, 4);
FIELD(krdma_conn_param_args, flags, 4, 4);
FIELD(krdma_conn_param_args, private_data, 8, 8);
FIELD(krdma_conn_param_args, private_data_len, 16, 4);
FIELD(krdma_conn_param_args, read_depth, 20, 4);
FIELD(krdma_conn_param_args, read_depth_in, 24, 4);
FIELD(krdma_conn_param_args, retry_count, 28, 4);
FIELD(krdma_conn_param_args, rnr_retry_count, 32, 4);
FIELD(krdma_conn_param_args, reserved, 36, 4);

VALUE(KRDMA_CONN_CONNECT, 48178);
VALUE(KRDMA_CONN_ACCEPT, 48179);

STRUCT(krdma_conn_reject_args, 24, 8);
FIELD(krdma_conn_reject_args, size, 0, 4);
FIELD(krdma_conn_reject_args, flags, 4, 4);
FIELD(krdma_conn_reject_args, private_data, 8, 8);
FIELD(krdma_conn_reject_args, private_data_len, 16, 4);
FIELD(krdma_conn_reject_args, reserved, 20, 4);

VALUE(KRDMA_CONN_REJECT, 48180);
VALUE(KRDMA_DISCONNECT_ABORT, 1);

STRUCT(krdma_conn_disconnect_args, 8, 4);
FIELD(krdma_conn_disconnect_args, size, 0, 4);
FIELD(krdma_conn_disconnect_args, flags, 4, 4);

VALUE(KRDMA_CONN_DISCONNECT, 48181);

STRUCT(krdma_conn_wait_args, 24, 8);
FIELD(krdma_conn_wait_args, size, 0, 4);
FIELD(krdma_conn_wait_args, flags, 4, 4);
FIELD(krdma_conn_wait_args, deadline_ns, 8, 8);
FIELD(krdma_conn_wait_args, state, 16, 4);
FIELD(krdma_conn_wait_args, reserved, 20, 4);

VALUE(KRDMA_CONN_WAIT, 48182);
VALUE(KRDMA_CONN_PLAIN, 0);
VALUE(KRDMA_CONN_LANE, 1);

STRUCT_OF_ADDRESSES(krdma_conn_query_args, 384);
FIELD(krdma_conn_query_args, size, 0, 4);
FIELD(krdma_conn_query_args, flags, 4, 4);
FIELD(krdma_conn_query_args, private_data, 8, 8);
FIELD(krdma_conn_query_args, private_data_len, 16, 4);
FIELD(krdma_conn_query_args, state, 20, 4);
FIELD(krdma_conn_query_args, error, 24, 4);
FIELD(krdma_conn_query_args, id, 28, 4);
FIELD(krdma_conn_query_args, device_id, 32, 4);
FIELD(krdma_conn_query_args, qp_number, 36, 4);
FIELD(krdma_conn_query_args, send_depth, 40, 4);
FIELD(krdma_conn_query_args, recv_depth, 44, 4);
FIELD(krdma_conn_query_args, max_send_sge, 48, 4);
FIELD(krdma_conn_query_args, max_recv_sge, 52, 4);
FIELD(krdma_conn_query_args, max_inline, 56, 4);
FIELD(krdma_conn_query_args, read_depth, 60, 4);
FIELD(krdma_conn_query_args, read_depth_in, 64, 4);
FIELD(krdma_conn_query_args, path_mtu, 68, 4);
FIELD(krdma_conn_query_args, peer_is_krdma, 72, 4);
FIELD(krdma_conn_query_args, reserved, 76, 4);
FIELD(krdma_conn_query_args, sends_posted, 80, 8);
FIELD(krdma_conn_query_args, sends_completed, 88, 8);
FIELD(krdma_conn_query_args, receives_posted, 96, 8);
FIELD(krdma_conn_query_args, receives_completed, 104, 8);
FIELD(krdma_conn_query_args, local, 112, 128);
FIELD(krdma_conn_query_args, remote, 240, 128);
FIELD(krdma_conn_query_args, kind, 368, 4);
FIELD(krdma_conn_query_args, request_age_ms, 372, 4);
FIELD(krdma_conn_query_args, trunk, 376, 8);

VALUE(KRDMA_CONN_QUERY, 48183);

STRUCT(krdma_conn_find_mr_args, 120, 8);
FIELD(krdma_conn_find_mr_args, size, 0, 4);
FIELD(krdma_conn_find_mr_args, flags, 4, 4);
FIELD(krdma_conn_find_mr_args, deadline_ns, 8, 8);
FIELD(krdma_conn_find_mr_args, offset, 16, 8);
FIELD(krdma_conn_find_mr_args, remote_addr, 24, 8);
FIELD(krdma_conn_find_mr_args, length, 32, 8);
FIELD(krdma_conn_find_mr_args, reach, 40, 8);
FIELD(krdma_conn_find_mr_args, rkey, 48, 4);
FIELD(krdma_conn_find_mr_args, access, 52, 4);
FIELD(krdma_conn_find_mr_args, name, 56, 64);

VALUE(KRDMA_CONN_FIND_MR, 48184);

STRUCT_OF_ADDRESSES(krdma_conns_entry, 160);
FIELD(krdma_conns_entry, id, 0, 4);
FIELD(krdma_conns_entry, error, 4, 4);
FIELD(krdma_conns_entry, wr_id, 8, 8);
FIELD(krdma_conns_entry, private_data, 16, 8);
FIELD(krdma_conns_entry, private_data_len, 24, 4);
FIELD(krdma_conns_entry, reserved, 28, 4);
FIELD(krdma_conns_entry, remote, 32, 128);

VALUE(KRDMA_CONNS_LANES, 1);
VALUE(KRDMA_CONNS_SRQ, 2);
VALUE(KRDMA_CONNS_MAX, 65536);

STRUCT(krdma_conns_args, 72, 8);
FIELD(krdma_conns_args, size, 0, 4);
FIELD(krdma_conns_args, flags, 4, 4);
FIELD(krdma_conns_args, entries, 8, 8);
FIELD(krdma_conns_args, count, 16, 4);
FIELD(krdma_conns_args, done, 20, 4);
FIELD(krdma_conns_args, error, 24, 4);
FIELD(krdma_conns_args, fd, 28, 4);
FIELD(krdma_conns_args, deadline_ns, 32, 8);
FIELD(krdma_conns_args, send_depth, 40, 4);
FIELD(krdma_conns_args, recv_depth, 44, 4);
FIELD(krdma_conns_args, max_send_sge, 48, 4);
FIELD(krdma_conns_args, max_recv_sge, 52, 4);
FIELD(krdma_conns_args, max_inline, 56, 4);
FIELD(krdma_conns_args, keepalive_ms, 60, 4);
FIELD(krdma_conns_args, srq_fd, 64, 4);
FIELD(krdma_conns_args, reserved, 68, 4);

STRUCT(krdma_conns_fd_args, 16, 4);
FIELD(krdma_conns_fd_args, size, 0, 4);
FIELD(krdma_conns_fd_args, flags, 4, 4);
FIELD(krdma_conns_fd_args, id, 8, 4);
FIELD(krdma_conns_fd_args, fd, 12, 4);

VALUE(KRDMA_CONNS_OPEN, 48142);
VALUE(KRDMA_CONNS_TAKE, 48143);
VALUE(KRDMA_CONNS_ACCEPT, 48144);
VALUE(KRDMA_CONNS_CLOSE, 48145);
VALUE(KRDMA_CONNS_FD, 48146);
VALUE(KRDMA_MR_REGISTER_LANES, 1);
VALUE(KRDMA_MR_REGISTER_WINDOWS, 2);

STRUCT(krdma_mr_register_args, 48, 8);
FIELD(krdma_mr_register_args, size, 0, 4);
FIELD(krdma_mr_register_args, flags, 4, 4);
FIELD(krdma_mr_register_args, addr, 8, 8);
FIELD(krdma_mr_register_args, length, 16, 8);
FIELD(krdma_mr_register_args, device_id, 24, 4);
FIELD(krdma_mr_register_args, access, 28, 4);
FIELD(krdma_mr_register_args, id, 32, 4);
FIELD(krdma_mr_register_args, rkey, 36, 4);
FIELD(krdma_mr_register_args, remote_addr, 40, 8);

VALUE(KRDMA_MR_REGISTER, 48137);
VALUE(KRDMA_DEREGISTER_LATER, 1);

STRUCT(krdma_mr_deregister_args, 16, 4);
FIELD(krdma_mr_deregister_args, size, 0, 4);
FIELD(krdma_mr_deregister_args, flags, 4, 4);
FIELD(krdma_mr_deregister_args, id, 8, 4);
FIELD(krdma_mr_deregister_args, reserved, 12, 4);

VALUE(KRDMA_MR_DEREGISTER, 48138);
VALUE(KRDMA_MR_DESC_SIZE, 32);
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

STRUCT(krdma_mr_query_args, 112, 8);
FIELD(krdma_mr_query_args, size, 0, 4);
FIELD(krdma_mr_query_args, flags, 4, 4);
FIELD(krdma_mr_query_args, id, 8, 4);
FIELD(krdma_mr_query_args, access, 12, 4);
FIELD(krdma_mr_query_args, addr, 16, 8);
FIELD(krdma_mr_query_args, length, 24, 8);
FIELD(krdma_mr_query_args, remote_addr, 32, 8);
FIELD(krdma_mr_query_args, rkey, 40, 4);
FIELD(krdma_mr_query_args, device_id, 44, 4);
FIELD(krdma_mr_query_args, part_offset, 48, 8);
FIELD(krdma_mr_query_args, part_length, 56, 8);
FIELD(krdma_mr_query_args, descriptor, 64, 32);
FIELD(krdma_mr_query_args, part_key, 96, 4);
FIELD(krdma_mr_query_args, key_count, 100, 4);
FIELD(krdma_mr_query_args, part_reach, 104, 8);

VALUE(KRDMA_MR_QUERY, 48139);
VALUE(KRDMA_ADVICE_READ, 1);
VALUE(KRDMA_ADVICE_WRITE, 2);

STRUCT(krdma_mr_advise_args, 32, 8);
FIELD(krdma_mr_advise_args, size, 0, 4);
FIELD(krdma_mr_advise_args, flags, 4, 4);
FIELD(krdma_mr_advise_args, id, 8, 4);
FIELD(krdma_mr_advise_args, advice, 12, 4);
FIELD(krdma_mr_advise_args, offset, 16, 8);
FIELD(krdma_mr_advise_args, length, 24, 8);

VALUE(KRDMA_MR_ADVISE, 48140);

STRUCT(krdma_mr_set_name_args, 80, 4);
FIELD(krdma_mr_set_name_args, size, 0, 4);
FIELD(krdma_mr_set_name_args, flags, 4, 4);
FIELD(krdma_mr_set_name_args, id, 8, 4);
FIELD(krdma_mr_set_name_args, reserved, 12, 4);
FIELD(krdma_mr_set_name_args, name, 16, 64);

VALUE(KRDMA_MR_SET_NAME, 48147);

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
STRUCT(krdma_limit_query_args, 56, 8);
FIELD(krdma_limit_query_args, size, 0, 4);
FIELD(krdma_limit_query_args, flags, 4, 4);
FIELD(krdma_limit_query_args, limit, 8, 4);
FIELD(krdma_limit_query_args, scope, 12, 4);
FIELD(krdma_limit_query_args, session_used, 16, 8);
FIELD(krdma_limit_query_args, user_used, 24, 8);
FIELD(krdma_limit_query_args, owner_used, 32, 8);
FIELD(krdma_limit_query_args, max, 40, 8);
FIELD(krdma_limit_query_args, refused, 48, 8);
VALUE(KRDMA_LIMIT_UNKNOWN, 18446744073709551615ULL);
VALUE(KRDMA_LIMIT_QUERY, 48141);
VALUE(KRDMA_RING_CQ_OVERFLOW, 1);
VALUE(KRDMA_RING_DEAD, 2);

STRUCT(krdma_ring_header, 320, 4);
FIELD(krdma_ring_header, sq_entries, 0, 4);
FIELD(krdma_ring_header, cq_entries, 4, 4);
FIELD(krdma_ring_header, sqe_offset, 8, 4);
FIELD(krdma_ring_header, cqe_offset, 12, 4);
FIELD(krdma_ring_header, constant_padding, 16, 48);
FIELD(krdma_ring_header, sq_head, 64, 4);
FIELD(krdma_ring_header, sq_head_padding, 68, 60);
FIELD(krdma_ring_header, sq_tail, 128, 4);
FIELD(krdma_ring_header, sq_tail_padding, 132, 60);
FIELD(krdma_ring_header, cq_tail, 192, 4);
FIELD(krdma_ring_header, cq_flags, 196, 4);
FIELD(krdma_ring_header, cq_tail_padding, 200, 56);
FIELD(krdma_ring_header, cq_head, 256, 4);
FIELD(krdma_ring_header, cq_head_padding, 260, 60);

VALUE(KRDMA_SQE_UNSIGNALED, 1);
VALUE(KRDMA_SQE_INLINE, 2);
VALUE(KRDMA_SQE_FENCE, 4);
VALUE(KRDMA_SQE_SOLICITED, 8);

STRUCT(krdma_ring_sge, 16, 8);
FIELD(krdma_ring_sge, addr, 0, 8);
FIELD(krdma_ring_sge, length, 8, 4);
FIELD(krdma_ring_sge, mr, 12, 4);

VALUE(KRDMA_RING_SGES_MAX, 128);

STRUCT(krdma_sqe, 64, 8);
FIELD(krdma_sqe, opcode, 0, 1);
FIELD(krdma_sqe, flags, 1, 1);
FIELD(krdma_sqe, sge_count, 2, 2);
FIELD(krdma_sqe, dest, 4, 4);
FIELD(krdma_sqe, wr_id, 8, 8);
FIELD(krdma_sqe, sge, 16, 16);
FIELD(krdma_sqe, remote_addr, 32, 8);
FIELD(krdma_sqe, rkey, 40, 4);
FIELD(krdma_sqe, imm, 44, 4);
FIELD(krdma_sqe, operand, 48, 8);
FIELD(krdma_sqe, swap, 56, 8);

VALUE(KRDMA_CQE_IMM, 1);
VALUE(KRDMA_CQE_INVALIDATED, 2);
VALUE(KRDMA_CQE_WRITTEN, 4);

STRUCT(krdma_cqe, 32, 8);
FIELD(krdma_cqe, wr_id, 0, 8);
FIELD(krdma_cqe, dest, 8, 4);
FIELD(krdma_cqe, opcode, 12, 1);
FIELD(krdma_cqe, status, 13, 1);
FIELD(krdma_cqe, flags, 14, 2);
FIELD(krdma_cqe, length, 16, 4);
FIELD(krdma_cqe, imm, 20, 4);
FIELD(krdma_cqe, vendor_error, 24, 4);
FIELD(krdma_cqe, reserved, 28, 4);

VALUE(KRDMA_RING_POLLED, 1);
VALUE(KRDMA_RING_VECTOR, 2);
VALUE(KRDMA_RING_ENTRIES_MAX, 65536);

STRUCT(krdma_ring_create_args, 48, 8);
FIELD(krdma_ring_create_args, size, 0, 4);
FIELD(krdma_ring_create_args, flags, 4, 4);
FIELD(krdma_ring_create_args, fd, 8, 4);
FIELD(krdma_ring_create_args, device_id, 12, 4);
FIELD(krdma_ring_create_args, sq_entries, 16, 4);
FIELD(krdma_ring_create_args, cq_entries, 20, 4);
FIELD(krdma_ring_create_args, vector, 24, 4);
FIELD(krdma_ring_create_args, sqe_offset, 28, 4);
FIELD(krdma_ring_create_args, cqe_offset, 32, 4);
FIELD(krdma_ring_create_args, reserved, 36, 4);
FIELD(krdma_ring_create_args, ring_size, 40, 8);

VALUE(KRDMA_RING_CREATE, 48135);

STRUCT(krdma_ring_enter_args, 40, 8);
FIELD(krdma_ring_enter_args, size, 0, 4);
FIELD(krdma_ring_enter_args, flags, 4, 4);
FIELD(krdma_ring_enter_args, to_submit, 8, 4);
FIELD(krdma_ring_enter_args, min_complete, 12, 4);
FIELD(krdma_ring_enter_args, deadline_ns, 16, 8);
FIELD(krdma_ring_enter_args, submitted, 24, 4);
FIELD(krdma_ring_enter_args, error, 28, 4);
FIELD(krdma_ring_enter_args, completed, 32, 4);
FIELD(krdma_ring_enter_args, reserved, 36, 4);

VALUE(KRDMA_RING_ENTER, 48192);

STRUCT(krdma_ring_post_args, 32, 8);
FIELD(krdma_ring_post_args, size, 0, 4);
FIELD(krdma_ring_post_args, flags, 4, 4);
FIELD(krdma_ring_post_args, entries, 8, 8);
FIELD(krdma_ring_post_args, count, 16, 4);
FIELD(krdma_ring_post_args, accepted, 20, 4);
FIELD(krdma_ring_post_args, error, 24, 4);
FIELD(krdma_ring_post_args, reserved, 28, 4);

VALUE(KRDMA_RING_POST, 48193);
VALUE(KRDMA_SRQ_POST, 48209);

STRUCT(krdma_ring_reap_args, 40, 8);
FIELD(krdma_ring_reap_args, size, 0, 4);
FIELD(krdma_ring_reap_args, flags, 4, 4);
FIELD(krdma_ring_reap_args, entries, 8, 8);
FIELD(krdma_ring_reap_args, count, 16, 4);
FIELD(krdma_ring_reap_args, min_complete, 20, 4);
FIELD(krdma_ring_reap_args, deadline_ns, 24, 8);
FIELD(krdma_ring_reap_args, reaped, 32, 4);
FIELD(krdma_ring_reap_args, reserved, 36, 4);

VALUE(KRDMA_RING_REAP, 48194);

STRUCT(krdma_ring_confine_args, 24, 8);
FIELD(krdma_ring_confine_args, size, 0, 4);
FIELD(krdma_ring_confine_args, flags, 4, 4);
FIELD(krdma_ring_confine_args, mr, 8, 8);
FIELD(krdma_ring_confine_args, count, 16, 4);
FIELD(krdma_ring_confine_args, reserved, 20, 4);

VALUE(KRDMA_RING_CONFINE, 48196);
VALUE(KRDMA_CONFINE_MAX, 4096);

STRUCT(krdma_ring_query_args, 64, 8);
FIELD(krdma_ring_query_args, size, 0, 4);
FIELD(krdma_ring_query_args, flags, 4, 4);
FIELD(krdma_ring_query_args, device_id, 8, 4);
FIELD(krdma_ring_query_args, sq_entries, 12, 4);
FIELD(krdma_ring_query_args, cq_entries, 16, 4);
FIELD(krdma_ring_query_args, reserved, 20, 4);
FIELD(krdma_ring_query_args, submitted, 24, 8);
FIELD(krdma_ring_query_args, completed, 32, 8);
FIELD(krdma_ring_query_args, ring_size, 40, 8);
FIELD(krdma_ring_query_args, sqe_offset, 48, 4);
FIELD(krdma_ring_query_args, cqe_offset, 52, 4);
FIELD(krdma_ring_query_args, ring_flags, 56, 4);
FIELD(krdma_ring_query_args, vector, 60, 4);

VALUE(KRDMA_RING_QUERY, 48195);

VALUE(KRDMA_SRQ_CREATE_LANES, 1);

STRUCT(krdma_srq_create_args, 32, 4);
FIELD(krdma_srq_create_args, size, 0, 4);
FIELD(krdma_srq_create_args, flags, 4, 4);
FIELD(krdma_srq_create_args, fd, 8, 4);
FIELD(krdma_srq_create_args, id, 12, 4);
FIELD(krdma_srq_create_args, ring_fd, 16, 4);
FIELD(krdma_srq_create_args, device_id, 20, 4);
FIELD(krdma_srq_create_args, depth, 24, 4);
FIELD(krdma_srq_create_args, max_sge, 28, 4);

VALUE(KRDMA_SRQ_CREATE, 48136);

STRUCT(krdma_srq_query_args, 24, 4);
FIELD(krdma_srq_query_args, size, 0, 4);
FIELD(krdma_srq_query_args, flags, 4, 4);
FIELD(krdma_srq_query_args, id, 8, 4);
FIELD(krdma_srq_query_args, device_id, 12, 4);
FIELD(krdma_srq_query_args, depth, 16, 4);
FIELD(krdma_srq_query_args, max_sge, 20, 4);

VALUE(KRDMA_SRQ_QUERY, 48208);
