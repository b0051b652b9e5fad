/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of every structure of <linux/krdma.h> and of the headers beside it, pinned:
 * what is published stays where it is.  A structure grows at its end, by lines added
 * here.
 */
#ifndef _KRDMA_USER_LAYOUT_H
#define _KRDMA_USER_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>
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

KRDMA_PIN(krdma_device_record, type, 0);
KRDMA_PIN(krdma_device_record, device_id, 4);
KRDMA_PIN(krdma_device_record, port, 8);
KRDMA_PIN(krdma_device_record, reserved, 12);
static_assert(sizeof(struct krdma_device_record) == 16);

KRDMA_PIN(krdma_event_record, type, 0);
KRDMA_PIN(krdma_event_record, error, 4);
KRDMA_PIN(krdma_event_record, reason, 8);
KRDMA_PIN(krdma_event_record, reserved, 12);
static_assert(sizeof(struct krdma_event_record) == 16);

KRDMA_PIN(krdma_device_find, size, 0);
KRDMA_PIN(krdma_device_find, flags, 4);
KRDMA_PIN(krdma_device_find, deadline_ns, 8);
KRDMA_PIN(krdma_device_find, id, 16);
KRDMA_PIN(krdma_device_find, reserved, 20);
KRDMA_PIN(krdma_device_find, local, 24);
KRDMA_PIN(krdma_device_find, remote, 152);
static_assert(sizeof(struct krdma_device_find) == 280);

KRDMA_PIN(krdma_watch_devices, size, 0);
KRDMA_PIN(krdma_watch_devices, flags, 4);
static_assert(sizeof(struct krdma_watch_devices) == 8);

KRDMA_PIN(krdma_listen, size, 0);
KRDMA_PIN(krdma_listen, flags, 4);
KRDMA_PIN(krdma_listen, fd, 8);
KRDMA_PIN(krdma_listen, backlog, 12);
KRDMA_PIN(krdma_listen, address, 16);
static_assert(sizeof(struct krdma_listen) == 144);

KRDMA_PIN(krdma_listener_query, size, 0);
KRDMA_PIN(krdma_listener_query, flags, 4);
KRDMA_PIN(krdma_listener_query, address, 8);
static_assert(sizeof(struct krdma_listener_query) == 136);

KRDMA_PIN(krdma_listener_next, size, 0);
KRDMA_PIN(krdma_listener_next, flags, 4);
KRDMA_PIN(krdma_listener_next, deadline_ns, 8);
KRDMA_PIN(krdma_listener_next, fd, 16);
KRDMA_PIN(krdma_listener_next, id, 20);
static_assert(sizeof(struct krdma_listener_next) == 24);

KRDMA_PIN(krdma_conn_create, size, 0);
KRDMA_PIN(krdma_conn_create, flags, 4);
KRDMA_PIN(krdma_conn_create, fd, 8);
KRDMA_PIN(krdma_conn_create, id, 12);
static_assert(sizeof(struct krdma_conn_create) == 16);

KRDMA_PIN(krdma_conn_resolve, size, 0);
KRDMA_PIN(krdma_conn_resolve, flags, 4);
KRDMA_PIN(krdma_conn_resolve, timeout_ms, 8);
KRDMA_PIN(krdma_conn_resolve, tos, 12);
KRDMA_PIN(krdma_conn_resolve, ack_timeout, 16);
KRDMA_PIN(krdma_conn_resolve, reserved, 20);
KRDMA_PIN(krdma_conn_resolve, local, 24);
KRDMA_PIN(krdma_conn_resolve, remote, 152);
static_assert(sizeof(struct krdma_conn_resolve) == 280);

KRDMA_PIN(krdma_conn_prepare, size, 0);
KRDMA_PIN(krdma_conn_prepare, flags, 4);
KRDMA_PIN(krdma_conn_prepare, queue_fd, 8);
KRDMA_PIN(krdma_conn_prepare, recv_queue_fd, 12);
KRDMA_PIN(krdma_conn_prepare, srq_fd, 16);
KRDMA_PIN(krdma_conn_prepare, send_depth, 20);
KRDMA_PIN(krdma_conn_prepare, recv_depth, 24);
KRDMA_PIN(krdma_conn_prepare, max_send_sge, 28);
KRDMA_PIN(krdma_conn_prepare, max_recv_sge, 32);
KRDMA_PIN(krdma_conn_prepare, max_inline, 36);
KRDMA_PIN(krdma_conn_prepare, device_id, 40);
KRDMA_PIN(krdma_conn_prepare, keepalive_ms, 44);
static_assert(sizeof(struct krdma_conn_prepare) == 48);

KRDMA_PIN(krdma_conn_terms, size, 0);
KRDMA_PIN(krdma_conn_terms, flags, 4);
KRDMA_PIN(krdma_conn_terms, private_data, 8);
KRDMA_PIN(krdma_conn_terms, private_data_len, 16);
KRDMA_PIN(krdma_conn_terms, read_depth, 20);
KRDMA_PIN(krdma_conn_terms, read_depth_in, 24);
KRDMA_PIN(krdma_conn_terms, retry_count, 28);
KRDMA_PIN(krdma_conn_terms, rnr_retry_count, 32);
KRDMA_PIN(krdma_conn_terms, reserved, 36);
static_assert(sizeof(struct krdma_conn_terms) == 40);

KRDMA_PIN(krdma_conn_reject, size, 0);
KRDMA_PIN(krdma_conn_reject, flags, 4);
KRDMA_PIN(krdma_conn_reject, private_data, 8);
KRDMA_PIN(krdma_conn_reject, private_data_len, 16);
KRDMA_PIN(krdma_conn_reject, reserved, 20);
static_assert(sizeof(struct krdma_conn_reject) == 24);

KRDMA_PIN(krdma_conn_disconnect, size, 0);
KRDMA_PIN(krdma_conn_disconnect, flags, 4);
static_assert(sizeof(struct krdma_conn_disconnect) == 8);

KRDMA_PIN(krdma_conn_wait, size, 0);
KRDMA_PIN(krdma_conn_wait, flags, 4);
KRDMA_PIN(krdma_conn_wait, deadline_ns, 8);
KRDMA_PIN(krdma_conn_wait, state, 16);
KRDMA_PIN(krdma_conn_wait, reserved, 20);
static_assert(sizeof(struct krdma_conn_wait) == 24);

KRDMA_PIN(krdma_conn_query, size, 0);
KRDMA_PIN(krdma_conn_query, flags, 4);
KRDMA_PIN(krdma_conn_query, private_data, 8);
KRDMA_PIN(krdma_conn_query, private_data_len, 16);
KRDMA_PIN(krdma_conn_query, state, 20);
KRDMA_PIN(krdma_conn_query, error, 24);
KRDMA_PIN(krdma_conn_query, id, 28);
KRDMA_PIN(krdma_conn_query, device_id, 32);
KRDMA_PIN(krdma_conn_query, qp_number, 36);
KRDMA_PIN(krdma_conn_query, send_depth, 40);
KRDMA_PIN(krdma_conn_query, recv_depth, 44);
KRDMA_PIN(krdma_conn_query, max_send_sge, 48);
KRDMA_PIN(krdma_conn_query, max_recv_sge, 52);
KRDMA_PIN(krdma_conn_query, max_inline, 56);
KRDMA_PIN(krdma_conn_query, read_depth, 60);
KRDMA_PIN(krdma_conn_query, read_depth_in, 64);
KRDMA_PIN(krdma_conn_query, path_mtu, 68);
KRDMA_PIN(krdma_conn_query, peer_is_krdma, 72);
KRDMA_PIN(krdma_conn_query, reserved, 76);
KRDMA_PIN(krdma_conn_query, sends_posted, 80);
KRDMA_PIN(krdma_conn_query, sends_completed, 88);
KRDMA_PIN(krdma_conn_query, receives_posted, 96);
KRDMA_PIN(krdma_conn_query, receives_completed, 104);
KRDMA_PIN(krdma_conn_query, local, 112);
KRDMA_PIN(krdma_conn_query, remote, 240);
static_assert(sizeof(struct krdma_conn_query) == 368);

KRDMA_PIN(krdma_memory_register, size, 0);
KRDMA_PIN(krdma_memory_register, flags, 4);
KRDMA_PIN(krdma_memory_register, addr, 8);
KRDMA_PIN(krdma_memory_register, length, 16);
KRDMA_PIN(krdma_memory_register, device_id, 24);
KRDMA_PIN(krdma_memory_register, access, 28);
KRDMA_PIN(krdma_memory_register, id, 32);
KRDMA_PIN(krdma_memory_register, remote_key, 36);
KRDMA_PIN(krdma_memory_register, remote_addr, 40);
static_assert(sizeof(struct krdma_memory_register) == 48);

KRDMA_PIN(krdma_memory_release, size, 0);
KRDMA_PIN(krdma_memory_release, flags, 4);
KRDMA_PIN(krdma_memory_release, id, 8);
KRDMA_PIN(krdma_memory_release, reserved, 12);
static_assert(sizeof(struct krdma_memory_release) == 16);

KRDMA_PIN(krdma_memory_query, size, 0);
KRDMA_PIN(krdma_memory_query, flags, 4);
KRDMA_PIN(krdma_memory_query, id, 8);
KRDMA_PIN(krdma_memory_query, access, 12);
KRDMA_PIN(krdma_memory_query, addr, 16);
KRDMA_PIN(krdma_memory_query, length, 24);
KRDMA_PIN(krdma_memory_query, remote_addr, 32);
KRDMA_PIN(krdma_memory_query, remote_key, 40);
KRDMA_PIN(krdma_memory_query, device_id, 44);
KRDMA_PIN(krdma_memory_query, part_offset, 48);
KRDMA_PIN(krdma_memory_query, part_length, 56);
KRDMA_PIN(krdma_memory_query, descriptor, 64);
KRDMA_PIN(krdma_memory_query, part_key, 96);
KRDMA_PIN(krdma_memory_query, key_count, 100);
KRDMA_PIN(krdma_memory_query, part_reach, 104);
static_assert(sizeof(struct krdma_memory_query) == 112);

KRDMA_PIN(krdma_memory_advise, size, 0);
KRDMA_PIN(krdma_memory_advise, flags, 4);
KRDMA_PIN(krdma_memory_advise, id, 8);
KRDMA_PIN(krdma_memory_advise, advice, 12);
KRDMA_PIN(krdma_memory_advise, offset, 16);
KRDMA_PIN(krdma_memory_advise, length, 24);
static_assert(sizeof(struct krdma_memory_advise) == 32);

KRDMA_PIN(krdma_limit_query, size, 0);
KRDMA_PIN(krdma_limit_query, flags, 4);
KRDMA_PIN(krdma_limit_query, limit, 8);
KRDMA_PIN(krdma_limit_query, scope, 12);
KRDMA_PIN(krdma_limit_query, session_used, 16);
KRDMA_PIN(krdma_limit_query, user_used, 24);
KRDMA_PIN(krdma_limit_query, owner_used, 32);
KRDMA_PIN(krdma_limit_query, max, 40);
KRDMA_PIN(krdma_limit_query, refused, 48);
static_assert(sizeof(struct krdma_limit_query) == 56);

KRDMA_PIN(krdma_ring, sq_entries, 0);
KRDMA_PIN(krdma_ring, cq_entries, 4);
KRDMA_PIN(krdma_ring, sqe_offset, 8);
KRDMA_PIN(krdma_ring, cqe_offset, 12);
KRDMA_PIN(krdma_ring, constant_padding, 16);
KRDMA_PIN(krdma_ring, sq_head, 64);
KRDMA_PIN(krdma_ring, sq_head_padding, 68);
KRDMA_PIN(krdma_ring, sq_tail, 128);
KRDMA_PIN(krdma_ring, sq_tail_padding, 132);
KRDMA_PIN(krdma_ring, cq_tail, 192);
KRDMA_PIN(krdma_ring, cq_flags, 196);
KRDMA_PIN(krdma_ring, cq_tail_padding, 200);
KRDMA_PIN(krdma_ring, cq_head, 256);
KRDMA_PIN(krdma_ring, cq_head_padding, 260);
static_assert(sizeof(struct krdma_ring) == 320);

KRDMA_PIN(krdma_piece, addr, 0);
KRDMA_PIN(krdma_piece, length, 8);
KRDMA_PIN(krdma_piece, memory, 12);
static_assert(sizeof(struct krdma_piece) == 16);

KRDMA_PIN(krdma_sqe, opcode, 0);
KRDMA_PIN(krdma_sqe, flags, 1);
KRDMA_PIN(krdma_sqe, piece_count, 2);
KRDMA_PIN(krdma_sqe, target, 4);
KRDMA_PIN(krdma_sqe, cookie, 8);
KRDMA_PIN(krdma_sqe, piece, 16);
KRDMA_PIN(krdma_sqe, remote_addr, 32);
KRDMA_PIN(krdma_sqe, remote_key, 40);
KRDMA_PIN(krdma_sqe, imm, 44);
KRDMA_PIN(krdma_sqe, operand, 48);
KRDMA_PIN(krdma_sqe, swap, 56);
static_assert(sizeof(struct krdma_sqe) == 64);

KRDMA_PIN(krdma_cqe, cookie, 0);
KRDMA_PIN(krdma_cqe, target, 8);
KRDMA_PIN(krdma_cqe, opcode, 12);
KRDMA_PIN(krdma_cqe, status, 13);
KRDMA_PIN(krdma_cqe, flags, 14);
KRDMA_PIN(krdma_cqe, length, 16);
KRDMA_PIN(krdma_cqe, imm, 20);
KRDMA_PIN(krdma_cqe, vendor_error, 24);
KRDMA_PIN(krdma_cqe, reserved, 28);
static_assert(sizeof(struct krdma_cqe) == 32);

KRDMA_PIN(krdma_queue_create, size, 0);
KRDMA_PIN(krdma_queue_create, flags, 4);
KRDMA_PIN(krdma_queue_create, fd, 8);
KRDMA_PIN(krdma_queue_create, device_id, 12);
KRDMA_PIN(krdma_queue_create, sq_entries, 16);
KRDMA_PIN(krdma_queue_create, cq_entries, 20);
KRDMA_PIN(krdma_queue_create, vector, 24);
KRDMA_PIN(krdma_queue_create, sqe_offset, 28);
KRDMA_PIN(krdma_queue_create, cqe_offset, 32);
KRDMA_PIN(krdma_queue_create, reserved, 36);
KRDMA_PIN(krdma_queue_create, ring_size, 40);
static_assert(sizeof(struct krdma_queue_create) == 48);

KRDMA_PIN(krdma_queue_enter, size, 0);
KRDMA_PIN(krdma_queue_enter, flags, 4);
KRDMA_PIN(krdma_queue_enter, to_submit, 8);
KRDMA_PIN(krdma_queue_enter, min_complete, 12);
KRDMA_PIN(krdma_queue_enter, deadline_ns, 16);
KRDMA_PIN(krdma_queue_enter, submitted, 24);
KRDMA_PIN(krdma_queue_enter, error, 28);
KRDMA_PIN(krdma_queue_enter, completed, 32);
KRDMA_PIN(krdma_queue_enter, reserved, 36);
static_assert(sizeof(struct krdma_queue_enter) == 40);

KRDMA_PIN(krdma_queue_post, size, 0);
KRDMA_PIN(krdma_queue_post, flags, 4);
KRDMA_PIN(krdma_queue_post, entries, 8);
KRDMA_PIN(krdma_queue_post, count, 16);
KRDMA_PIN(krdma_queue_post, accepted, 20);
KRDMA_PIN(krdma_queue_post, error, 24);
KRDMA_PIN(krdma_queue_post, reserved, 28);
static_assert(sizeof(struct krdma_queue_post) == 32);

KRDMA_PIN(krdma_queue_reap, size, 0);
KRDMA_PIN(krdma_queue_reap, flags, 4);
KRDMA_PIN(krdma_queue_reap, entries, 8);
KRDMA_PIN(krdma_queue_reap, count, 16);
KRDMA_PIN(krdma_queue_reap, min_complete, 20);
KRDMA_PIN(krdma_queue_reap, deadline_ns, 24);
KRDMA_PIN(krdma_queue_reap, reaped, 32);
KRDMA_PIN(krdma_queue_reap, reserved, 36);
static_assert(sizeof(struct krdma_queue_reap) == 40);

KRDMA_PIN(krdma_queue_confine, size, 0);
KRDMA_PIN(krdma_queue_confine, flags, 4);
KRDMA_PIN(krdma_queue_confine, memory, 8);
KRDMA_PIN(krdma_queue_confine, count, 16);
KRDMA_PIN(krdma_queue_confine, reserved, 20);
static_assert(sizeof(struct krdma_queue_confine) == 24);

KRDMA_PIN(krdma_queue_query, size, 0);
KRDMA_PIN(krdma_queue_query, flags, 4);
KRDMA_PIN(krdma_queue_query, device_id, 8);
KRDMA_PIN(krdma_queue_query, sq_entries, 12);
KRDMA_PIN(krdma_queue_query, cq_entries, 16);
KRDMA_PIN(krdma_queue_query, reserved, 20);
KRDMA_PIN(krdma_queue_query, submitted, 24);
KRDMA_PIN(krdma_queue_query, completed, 32);
KRDMA_PIN(krdma_queue_query, ring_size, 40);
KRDMA_PIN(krdma_queue_query, sqe_offset, 48);
KRDMA_PIN(krdma_queue_query, cqe_offset, 52);
KRDMA_PIN(krdma_queue_query, queue_flags, 56);
KRDMA_PIN(krdma_queue_query, vector, 60);
static_assert(sizeof(struct krdma_queue_query) == 64);

KRDMA_PIN(krdma_srq_create, size, 0);
KRDMA_PIN(krdma_srq_create, flags, 4);
KRDMA_PIN(krdma_srq_create, fd, 8);
KRDMA_PIN(krdma_srq_create, id, 12);
KRDMA_PIN(krdma_srq_create, queue_fd, 16);
KRDMA_PIN(krdma_srq_create, device_id, 20);
KRDMA_PIN(krdma_srq_create, depth, 24);
KRDMA_PIN(krdma_srq_create, max_sge, 28);
static_assert(sizeof(struct krdma_srq_create) == 32);

KRDMA_PIN(krdma_srq_query, size, 0);
KRDMA_PIN(krdma_srq_query, flags, 4);
KRDMA_PIN(krdma_srq_query, id, 8);
KRDMA_PIN(krdma_srq_query, device_id, 12);
KRDMA_PIN(krdma_srq_query, depth, 16);
KRDMA_PIN(krdma_srq_query, max_sge, 20);
static_assert(sizeof(struct krdma_srq_query) == 24);

/* Numbers are for ever too: requests carry no size in them. */
static_assert(KRDMA_INFO == 0xbc00);
static_assert(KRDMA_DEVICE_QUERY == 0xbc01);
static_assert(KRDMA_PORT_QUERY == 0xbc02);
static_assert(KRDMA_DEVICE_FIND == 0xbc03);
static_assert(KRDMA_WATCH == 0xbc04);
static_assert(KRDMA_LISTEN == 0xbc05);
static_assert(KRDMA_CONN_CREATE == 0xbc06);
static_assert(KRDMA_QUEUE_CREATE == 0xbc07);
static_assert(KRDMA_SRQ_CREATE == 0xbc08);
static_assert(KRDMA_MEMORY_REGISTER == 0xbc09);
static_assert(KRDMA_MEMORY_RELEASE == 0xbc0a);
static_assert(KRDMA_MEMORY_QUERY == 0xbc0b);
static_assert(KRDMA_MEMORY_ADVISE == 0xbc0c);
static_assert(KRDMA_LIMIT_QUERY == 0xbc0d);
static_assert(KRDMA_LISTENER_QUERY == 0xbc20);
static_assert(KRDMA_LISTENER_NEXT == 0xbc21);
static_assert(KRDMA_CONN_RESOLVE == 0xbc30);
static_assert(KRDMA_CONN_PREPARE == 0xbc31);
static_assert(KRDMA_CONN_CONNECT == 0xbc32);
static_assert(KRDMA_CONN_ACCEPT == 0xbc33);
static_assert(KRDMA_CONN_REJECT == 0xbc34);
static_assert(KRDMA_CONN_DISCONNECT == 0xbc35);
static_assert(KRDMA_CONN_WAIT == 0xbc36);
static_assert(KRDMA_CONN_QUERY == 0xbc37);
static_assert(KRDMA_QUEUE_ENTER == 0xbc40);
static_assert(KRDMA_QUEUE_POST == 0xbc41);
static_assert(KRDMA_QUEUE_REAP == 0xbc42);
static_assert(KRDMA_QUEUE_QUERY == 0xbc43);
static_assert(KRDMA_QUEUE_CONFINE == 0xbc44);
static_assert(KRDMA_SRQ_QUERY == 0xbc50);
static_assert(KRDMA_SRQ_POST == 0xbc51);

#undef KRDMA_PIN

#endif /* _KRDMA_USER_LAYOUT_H */
