// SPDX-License-Identifier: GPL-2.0
/*
 * Behavior of the drivers of RDMA devices; see personality.h.  File names and line numbers refer
 * to drivers/infiniband/hw/ in Linux 7.2, or to drivers/infiniband/sw/ for rxe and siw.
 *
 * A member without a reference follows the standard or the fake device.  A member that is left out
 * is zero, which is the strict choice: leftovers are kept, inline data is granted as asked for and
 * refused above the limit, and flushed completions come at once.
 */
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "personality.h"

static char *fake_personality_name = "";
module_param_named(personality, fake_personality_name, charp, 0444);
MODULE_PARM_DESC(personality, "The driver that fake devices behave like");

#define FAKE_STATUS_IB \
	.remote_access = IB_WC_REM_ACCESS_ERR, \
	.no_receive = IB_WC_RNR_RETRY_EXC_ERR, \
	.local_memory = IB_WC_LOC_PROT_ERR

/*
 * With iWARP, a peer that refuses an access sends a terminate message and closes the connection.
 * The requester gets no reason, and its work requests in flight are flushed.  iWARP has no
 * "receiver not ready".  (RFC 5040, section 7.)
 */
#define FAKE_STATUS_IWARP(local) \
	.remote_access = IB_WC_WR_FLUSH_ERR, \
	.no_receive = IB_WC_WR_FLUSH_ERR, \
	.local_memory = (local)

const struct fake_personality fake_strict = {
	.name = "strict",
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.ports = FAKE_PORT_IWARP,
	.map_sleeps = true,
	.swaps_list = true,
	.zero_is_2g = true,
	/* It is an iWARP device. */
	.read_sink_remote = true,
	.not_ready = -ENOTCONN,
	FAKE_STATUS_IB,
};

const struct fake_personality fake_personalities[] = {
	{
		.name = "mlx5",
		.driver_id = RDMA_DRIVER_MLX5,
		/* mlx5/main.c:3555 get_core_cap_flags() */
		.ports = FAKE_PORT_IB | FAKE_PORT_ROCE_V1 | FAKE_PORT_ROCE_V2,
		/*
		 * mlx5/wr.c:12 mlx5_ib_opcode[] has no IB_WR_RDMA_READ_WITH_INV; the check of
		 * wr.c:1085 accepts it, as a NOP.  wr.c:948 handle_qpt_rc() refuses atomics.
		 */
		.lacks = FAKE_LACKS_READ_INV | FAKE_LACKS_ATOMIC_POST,
		/* mlx5/qp.c:2751 destroy_qp_common(), cq.c:1148 __mlx5_ib_cq_clean() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* The firmware assigns the numbers; it is assumed to reuse them soon. */
		.numbers_again = true,
		/*
		 * mlx5/qp.c:622 calc_sq_size(): the size in bytes is rounded up to a power of two;
		 * max_post is the number of WQEs that fit.
		 */
		.rounds_depth = true,
		/* mlx5/qp.c:618 calc_sq_size(): the rest of a WQE of rounded size */
		.inline_grant = FAKE_INLINE_MORE,
		/* mlx5/wr.c:1053 mlx5_ib_post_send() does not check the state */
		.not_ready = 0,
		/* mlx5/wr.c:1073 mlx5_ib_post_send(), and 1222 for receives */
		.dead_post = -EIO,
		/* mlx5/cq.c:44 mlx5_ib_cq_comp(), called by mlx5_core's tasklet of the EQ */
		.told = FAKE_TOLD_SOFTIRQ,
		/* mlx5/cq.c:660 mlx5_ib_arm_cq() checks software completions only */
		.arm = FAKE_ARM_RINGS,
		/* mlx5/qp.c:365 mlx5_ib_handle_qp_event(): from a work item, so it comes late */
		.last_wqe = FAKE_LAST_WQE_ONCE,
		/* mlx5/cq.c:283 mlx5_handle_error_cqe() */
		FAKE_STATUS_IB,
		/* mlx5/main.c:3201 mlx5_ib_handle_sys_error_event() */
		.fatal_event = true,
		/* mlx5/main.c:4505: "not supported for now" */
		.reserved_lkey = false,
	}, {
		.name = "mlx4",
		.driver_id = RDMA_DRIVER_MLX4,
		/* mlx4/main.c:2483 mlx4_port_immutable() */
		.ports = FAKE_PORT_IB | FAKE_PORT_ROCE_V1 | FAKE_PORT_ROCE_V2,
		/* mlx4/qp.c:84 mlx4_ib_opcode[]: a NOP, as with mlx5 */
		.lacks = FAKE_LACKS_READ_INV,
		/* mlx4/qp.c:1428 destroy_qp_common(), cq.c:969 __mlx4_ib_cq_clean() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* mlx4/qp.c:416 set_kernel_sq_size(), 360 set_rq_size() */
		.rounds_depth = true,
		/* mlx4/qp.c:345 set_rq_size(): -EINVAL */
		.srq_wants_no_recv = true,
		/* mlx4/qp.c:441 set_kernel_sq_size(): "not for kernel QPs (yet)" */
		.inline_grant = FAKE_INLINE_NONE,
		/* mlx4/qp.c:3506 _mlx4_ib_post_send() ignores IB_SEND_INLINE for RC */
		.ignores_inline = true,
		.not_ready = 0,
		/* mlx4/qp.c:3546 _mlx4_ib_post_send(), 3843 for receives */
		.dead_post = -EIO,
		/* mlx4/qp.c:3454 set_data_seg() passes it on; libmlx4 has 0x80000000 for 0 bytes */
		.zero_is_2g = true,
		/* mlx4/cq.c:43 mlx4_ib_cq_comp(), called by mlx4_core's tasklet of the EQ */
		.told = FAKE_TOLD_SOFTIRQ,
		/* mlx4/cq.c:958 mlx4_ib_arm_cq() */
		.arm = FAKE_ARM_RINGS,
		/* mlx4/qp.c:211 mlx4_ib_handle_qp_event(): from a work item */
		.last_wqe = FAKE_LAST_WQE_ONCE,
		/* mlx4/cq.c:564 mlx4_ib_handle_error_cqe() */
		FAKE_STATUS_IB,
		/* mlx4/main.c:3263 mlx4_ib_event() */
		.fatal_event = true,
		/* mlx4/main.c:499 mlx4_ib_query_device(), 2668 mlx4_ib_probe() */
		.reserved_lkey = true,
		.local_dma_lkey = 0x100,
	}, {
		.name = "irdma",
		.driver_id = RDMA_DRIVER_IRDMA,
		/* irdma/verbs.c:4731 irdma_roce_port_immutable(); iWARP is "irdma-iw" */
		.ports = FAKE_PORT_ROCE_V2,
		/* Only generation 3 has atomics, irdma/verbs.c:4107, and SRQs, verbs.c:5444. */
		.lacks = FAKE_LACKS_ATOMICS,
		/* irdma/user.h:181 IRDMA_MAX_WQ_FRAGMENT_COUNT and IRDMA_MAX_SGE_RD are 13 */
		.max_send_sge = 13,
		.max_recv_sge = 13,
		.max_read_sge = 13,
		/* irdma/verbs.c:557 irdma_destroy_qp(), uk.c:1773 irdma_uk_clean_cq() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* irdma/uk.c:1299 irdma_uk_cq_poll_cmpl() moves the SRQ's tail, when polled */
		.srq_slots_lost = true,
		/* irdma/main.h:441 irdma_alloc_rsrc(): numbers are assigned cyclically */
		.numbers_again = false,
		/* irdma/verbs.c:757 irdma_setup_kmode_qp() */
		.rounds_depth = true,
		/* irdma/verbs.c:874 irdma_validate_qp_attrs() refuses more; cap stays */
		.inline_grant = FAKE_INLINE_AS_ASKED,
		.max_inline = 101,
		/* irdma/verbs.c:4080 irdma_post_send() does not check the state */
		.not_ready = 0,
		/*
		 * irdma/uk.c:273 irdma_uk_rdma_write(), 511 irdma_uk_rdma_read(), 1007
		 * irdma_uk_post_receive(): fragment 0 is sg_list[0] if sg_list is not NULL.
		 * 598 irdma_uk_send() checks num_sge; the fake does not distinguish them.
		 */
		.takes_first_sge = true,
		/* irdma/hw.c:535 irdma_dpc(), 549 irdma_ceq_dpc() */
		.told = FAKE_TOLD_SOFTIRQ,
		/* irdma/verbs.c:4650 irdma_req_notify_cq() */
		.arm = FAKE_ARM_REPORTS,
		/* irdma/verbs.h:7 IRDMA_FLUSH_DELAY_MS, verbs.c:4273 irdma_post_send() */
		.flush_ms = 20,
		/* No code in irdma/ raises the event. */
		.last_wqe = FAKE_LAST_WQE_NEVER,
		/* irdma/verbs.c:4379 irdma_flush_err_to_ib_wc_status(), user.h:598 */
		FAKE_STATUS_IB,
		/* irdma/verbs.c:33 irdma_query_device(); ib_device.local_dma_lkey is not set */
		.reserved_lkey = true,
		.local_dma_lkey = 0,
	}, {
		.name = "irdma-iw",
		.driver_id = RDMA_DRIVER_IRDMA,
		/* irdma/verbs.c:4749 irdma_iw_port_immutable(); SRQ: verbs.c:5444, generation 3 */
		.ports = FAKE_PORT_IWARP,
		/*
		 * irdma/verbs.c:1073 sets only IRDMA_WRITE_WITH_IMM; 4142 irdma_post_send()
		 * refuses a send with immediate data.
		 */
		.lacks = FAKE_LACKS_ATOMICS | FAKE_LACKS_SRQ | FAKE_LACKS_SEND_IMM,
		/* irdma/i40iw_hw.h:132 I40IW_MAX_WQ_FRAGMENT_COUNT, 133 I40IW_MAX_SGE_RD */
		.max_send_sge = 3,
		.max_recv_sge = 3,
		.max_read_sge = 1,
		/* As "irdma". */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		.rounds_depth = true,
		/* irdma/i40iw_hw.c:246 I40IW_MAX_INLINE_DATA_SIZE */
		.max_inline = 48,
		.not_ready = 0,
		.takes_first_sge = true,
		.told = FAKE_TOLD_SOFTIRQ,
		.arm = FAKE_ARM_REPORTS,
		.flush_ms = 20,
		.last_wqe = FAKE_LAST_WQE_NEVER,
		/* irdma/user.h:668: IRDMA_AE_LLP_TERMINATE_RECEIVED is FLUSH_GENERAL_ERR */
		FAKE_STATUS_IWARP(IB_WC_LOC_PROT_ERR),
		.reserved_lkey = true,
		.local_dma_lkey = 0,
		/* rdma_rw and every consumer in the kernel assume it for RDMA_NODE_RNIC. */
		.read_sink_remote = true,
	}, {
		.name = "bnxt_re",
		.driver_id = RDMA_DRIVER_BNXT_RE,
		/* bnxt_re/ib_verbs.c:344 bnxt_re_get_port_immutable() */
		.ports = FAKE_PORT_ROCE_V1 | FAKE_PORT_ROCE_V2,
		/* bnxt_re/ib_verbs.c:3297 bnxt_re_post_send(): -EINVAL; 231: atomics optional */
		.lacks = FAKE_LACKS_READ_INV | FAKE_LACKS_ATOMICS,
		/* bnxt_re/qplib_sp.h:374 BNXT_STATIC_MAX_SGE, if WQEs have a fixed size */
		.max_send_sge = 6,
		.max_recv_sge = 6,
		/* bnxt_re/qplib_fp.c:146 bnxt_qplib_clean_qp(), 1422 __clean_cq() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* bnxt_re/qplib_fp.c:2622 bnxt_qplib_cq_process_res_rc(): skipped without a QP */
		.srq_slots_lost = true,
		.numbers_again = true,
		/* bnxt_re/ib_verbs.c:1107 bnxt_re_setup_swqe_size(); 1901 refuses more */
		.inline_grant = FAKE_INLINE_MORE,
		.max_inline = 96,
		/* bnxt_re/qplib_fp.c:1764 bnxt_qplib_post_send() */
		.not_ready = -EINVAL,
		/* bnxt_re/qplib_fp.c:301 bnxt_qplib_service_nq() */
		.told = FAKE_TOLD_SOFTIRQ,
		/* bnxt_re/ib_verbs.c:4379 bnxt_re_req_notify_cq(): "goto exit" skips the arming */
		.arm = FAKE_ARM_INSTEAD,
		/* bnxt_re/ib_verbs.c bnxt_re_poll_cq(): those of bnxt_qplib_process_flush_list() */
		.keeps_polled = true,
		/* bnxt_re/qplib_fp.c:1989: after a post in ERR a work item calls the handler */
		.flush_ms = 1,
		/* bnxt_re/main.c:1626 bnxt_re_handle_qp_async_event(): not ordered with CQEs */
		.last_wqe = FAKE_LAST_WQE_EARLY,
		/* bnxt_re/ib_verbs.c:3728 __req_to_ib_wc_status() */
		FAKE_STATUS_IB,
		/* bnxt_re/main.c:459 */
		.fatal_event = true,
		/* bnxt_re/ib_verbs.c:221, main.c:1415, qplib_sp.h:120 BNXT_QPLIB_RSVD_LKEY */
		.reserved_lkey = true,
		.local_dma_lkey = 0xffffffff,
	}, {
		.name = "hns",
		.driver_id = RDMA_DRIVER_HNS,
		/* hns/hns_roce_main.c:589 hns_roce_port_immutable() */
		.ports = FAKE_PORT_ROCE_V1 | FAKE_PORT_ROCE_V2,
		/*
		 * hns/hns_roce_hw_v2.c:118 hns_roce_op_code[] and 517 set_rc_opcode(): -EINVAL,
		 * with a warning.  hns_roce_main.c:275 sets MEM_MGT_EXTENSIONS nevertheless.
		 */
		.lacks = FAKE_LACKS_READ_INV | FAKE_LACKS_LOCAL_INV,
		/* hns/hns_roce_hw_v2.c:5929 hns_roce_v2_destroy_qp_common(), 3807 cq_clean() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* hns/hns_roce_qp.c:222 alloc_qpn_with_bankid(): searches from bank->next on */
		.numbers_again = false,
		/* hns/hns_roce_qp.c:519 set_rq_size(); the same for the SQ */
		.rounds_depth = true,
		/* hns/hns_roce_qp.c:511 set_rq_size(); 504: with an SRQ the depth is set to 0 */
		.wants_recv = true,
		/* hns/hns_roce_qp.c:540 get_max_inline_data(): rounded up, within the limit */
		.inline_grant = FAKE_INLINE_CAPPED,
		.max_inline = 32,
		/* hns/hns_roce_hw_v2.c:377 check_send_valid() */
		.not_ready = -EINVAL,
		.dead_post = -EIO,
		/* hns/hns_roce_hw_v2.c:6573: from a work item of system_bh_wq */
		.told = FAKE_TOLD_SOFTIRQ,
		/* hns/hns_roce_hw_v2.c:3924 hns_roce_v2_req_notify_cq() */
		.arm = FAKE_ARM_RINGS,
		/* hns/hns_roce_hw_v2.c:4059 get_cqe_status(): flush_cqe() queues a work item */
		.flush_ms = 1,
		/* hns/hns_roce_qp.c:170 hns_roce_ib_qp_event() */
		.last_wqe = FAKE_LAST_WQE_ONCE,
		/* hns/hns_roce_hw_v2.c:4005 get_cqe_status() */
		FAKE_STATUS_IB,
		/* hns/hns_roce_hw_v2.c:4056 get_cqe_status(): the driver "must ignore it" */
		.general_err_stays = true,
		/* hns/hns_roce_mr.c:465 hns_roce_map_mr_sg(): kvzalloc_objs() */
		.map_sleeps = true,
		/* hns/hns_roce_mr.c:468 and 484 hns_roce_map_mr_sg() */
		.map_fails_with_0 = true,
		/* hns/hns_roce_main.c:819 sets the lkey, but not IBK_LOCAL_DMA_LKEY */
		.reserved_lkey = false,
	}, {
		.name = "cxgb4",
		.driver_id = RDMA_DRIVER_CXGB4,
		/* cxgb4/provider.c:434 c4iw_port_immutable() */
		.ports = FAKE_PORT_IWARP,
		/*
		 * cxgb4/qp.c:1148 c4iw_post_send() has none of these; 1161: newer firmware has
		 * IB_WR_RDMA_WRITE_WITH_IMM.
		 */
		.lacks = FAKE_LACKS_SEND_IMM | FAKE_LACKS_WRITE_IMM | FAKE_LACKS_ATOMICS,
		/* cxgb4/t4.h:93 T4_MAX_RECV_SGE, provider.c:290 c4iw_query_device() */
		.max_recv_sge = 4,
		.max_read_sge = 1,
		.max_srq_sge = 4,
		/* cxgb4/t4.h:82 T4_MAX_FR_IMMD_DEPTH without DSGL, provider.c:300 */
		.max_fast_reg_pages = 32,
		/* cxgb4/cq.c:565 poll_cq(): "skip cqe's not affiliated with a QP" */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* cxgb4/cq.c:944 c4iw_poll_cq_one(): without a QP no t4_srq_consume() */
		.srq_slots_lost = true,
		/* cxgb4/resource.c:178 c4iw_get_qpid(): released numbers are used first */
		.numbers_again = true,
		/* cxgb4/qp.c:2189 c4iw_create_qp(): always T4_MAX_SEND_INLINE */
		.inline_grant = FAKE_INLINE_MORE,
		/* cxgb4/qp.c:1074 c4iw_post_send() does not check the state before the flush */
		.not_ready = 0,
		/* cxgb4/qp.c:1123 c4iw_post_send(): a list of two; 1185: a read */
		.derefs_first_sge = true,
		/* cxgb4/qp.c:1008 complete_sq_drain_wr(), 1058 complete_rq_drain_wr() */
		.told = FAKE_TOLD_INLINE,
		/* cxgb4/cq.c:1174 c4iw_arm_cq() */
		.arm = FAKE_ARM_REPORTS,
		/* cxgb4/qp.c:1607 __flush_qp(): before the flush, at each call */
		.last_wqe = FAKE_LAST_WQE_TWICE,
		/* cxgb4/cq.c:859 __c4iw_poll_cq_one(): T4_ERR_STAG */
		FAKE_STATUS_IWARP(IB_WC_LOC_ACCESS_ERR),
		/* cxgb4/device.c:1258 c4iw_uld_state_change() */
		.fatal_event = true,
		/* cxgb4/qp.c:844 build_memreg(), of a list that is too long for the WQE */
		.swaps_list = true,
		/* cxgb4/provider.c:276 c4iw_query_device(), 539 c4iw_register_device() */
		.reserved_lkey = true,
		.local_dma_lkey = 0,
		.read_sink_remote = true,
	}, {
		.name = "qedr",
		.driver_id = RDMA_DRIVER_QEDR,
		/* qedr/main.c:96 qedr_roce_port_immutable(), 114 qedr_iw_port_immutable() */
		.ports = FAKE_PORT_ROCE_V1 | FAKE_PORT_ROCE_V2 | FAKE_PORT_IWARP,
		/* linux/qed/rdma_common.h:17 RDMA_MAX_SGE_PER_SQ_WQE and ..._RQ_WQE */
		.max_send_sge = 4,
		.max_recv_sge = 4,
		.max_read_sge = 4,
		/* qedr/verbs.c:3980 cqe_get_qp(): a pointer in the CQE; no code removes CQEs */
		.leftovers = FAKE_LEFTOVERS_DANGLE,
		/* Assumed: qed_rdma assigns the number, the first free bit of its bitmap. */
		.numbers_again = true,
		/* qedr/verbs.c:1197 qedr_check_qp_attrs() refuses more; cap stays */
		.inline_grant = FAKE_INLINE_AS_ASKED,
		/* linux/qed/roce_common.h:14 ROCE_REQ_MAX_INLINE_DATA_SIZE */
		.max_inline = 256,
		/* qedr/verbs.c:3744 qedr_post_send(), for RoCE */
		.not_ready = -EINVAL,
		/* qedr/main.c:473 qedr_irq_handler() */
		.told = FAKE_TOLD_HARDIRQ,
		/* qedr/verbs.c:851 qedr_arm_cq() */
		.arm = FAKE_ARM_RINGS,
		/* qedr/main.c: no such event among those of qedr_affiliated_event() */
		.last_wqe = FAKE_LAST_WQE_NEVER,
		/* qedr/verbs.c:4072 qedr_poll_cq_req() */
		FAKE_STATUS_IB,
		/* qedr/verbs.c:3174 qedr_map_mr_sg() passes NULL to ib_sg_to_pages() */
		.map_offset_lost = true,
		/* qedr/verbs.c:135 qedr_query_device(); ib_device.local_dma_lkey is not set */
		.reserved_lkey = true,
		.local_dma_lkey = 0,
	}, {
		.name = "erdma",
		.driver_id = RDMA_DRIVER_ERDMA,
		/* erdma/erdma_verbs.c:422 erdma_get_port_immutable(); RoCE v2 as well, 425 */
		.ports = FAKE_PORT_IWARP | FAKE_PORT_ROCE_V2,
		/* erdma/erdma_main.c:500: no create_srq */
		.lacks = FAKE_LACKS_SRQ,
		/* erdma/erdma_verbs.h:20 ERDMA_MAX_SGE_RD, 22 ..._SEND_SGE, 23 ..._RECV_SGE */
		.max_send_sge = 6,
		.max_recv_sge = 1,
		.max_read_sge = 1,
		/* erdma/erdma_cq.c:151 erdma_poll_one_cqe(): CQEs without a QP are skipped */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* erdma/erdma_verbs.c:1032 erdma_create_qp(): cyclically */
		.numbers_again = false,
		/* erdma/erdma_verbs.c:1042 erdma_create_qp() does not write cap */
		.rounds_depth = false,
		/* erdma/erdma_verbs.c:484 erdma_qp_validate_cap(); erdma has no SRQ */
		.wants_recv = true,
		/* erdma/erdma_verbs.c:483 erdma_qp_validate_cap(), ERDMA_MAX_INLINE */
		.inline_grant = FAKE_INLINE_AS_ASKED,
		.max_inline = 96,
		/* erdma/erdma_qp.c:660 erdma_post_send() does not check the state */
		.not_ready = 0,
		/* erdma/erdma_qp.c:678 erdma_post_send(): *bad_send_wr = send_wr */
		.full_blames_first = true,
		/* erdma/erdma_qp.c:509 erdma_push_one_sqe() */
		.read_wants_sge = true,
		/* erdma/erdma_eq.c:170 erdma_ceq_completion_handler(), 200 a tasklet */
		.told = FAKE_TOLD_SOFTIRQ,
		/* erdma/erdma_cq.c:43 erdma_req_notify_cq() */
		.arm = FAKE_ARM_REPORTS,
		/* erdma/erdma_qp.c:694 erdma_post_send(): 100 us, erdma_flush_worker() */
		.flush_ms = 1,
		.last_wqe = FAKE_LAST_WQE_NEVER,
		/* erdma/erdma_cq.c:71 map_cqe_status[]: REM_ACCESS_ERR is for receives only */
		FAKE_STATUS_IWARP(IB_WC_LOC_ACCESS_ERR),
		/* erdma/erdma_verbs.c:339 erdma_query_device() */
		.reserved_lkey = true,
		.local_dma_lkey = 0x200,
		.read_sink_remote = true,
	}, {
		.name = "mana",
		/* Not every kernel has an RDMA_DRIVER_* number for it. */
		.driver_id = RDMA_DRIVER_UNKNOWN,
		/* mana/main.c:557 mana_ib_get_port_immutable() */
		.ports = FAKE_PORT_ROCE_V2,
		/*
		 * mana/qp.c:562 mana_ib_create_rc_qp(): -EINVAL without udata.  mana/device.c:15
		 * has neither alloc_mr nor map_mr_sg nor create_srq.
		 */
		.lacks = FAKE_LACKS_KERNEL_RC | FAKE_LACKS_FAST_REG | FAKE_LACKS_SRQ |
			 FAKE_LACKS_ATOMICS,
		/* mana/cq.c:171 mana_ib_arm_cq() */
		.arm = FAKE_ARM_RINGS,
		.told = FAKE_TOLD_HARDIRQ,
		.last_wqe = FAKE_LAST_WQE_NEVER,
		FAKE_STATUS_IB,
	}, {
		.name = "ionic",
		/* Not every kernel has an RDMA_DRIVER_* number for it. */
		.driver_id = RDMA_DRIVER_UNKNOWN,
		/* ionic/ionic_ibdev.c:161 ionic_get_port_immutable() */
		.ports = FAKE_PORT_ROCE_V2,
		/*
		 * ionic/ionic_datapath.c:959 ionic_prep_rdma() has no IB_WR_RDMA_READ_WITH_INV;
		 * ionic_ibdev.c:215 ionic_dev_ops has no create_srq.
		 */
		.lacks = FAKE_LACKS_READ_INV | FAKE_LACKS_SRQ,
		/* ionic/ionic_controlpath.c:2446 ionic_clean_cq() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/*
		 * ionic/ionic_controlpath.c:252 ionic_get_qpid(): the lowest free number, in turn
		 * of each of two halves if the card has two.
		 */
		.numbers_again = true,
		/* ionic/ionic_queue.c:30 ionic_queue_init(): one less than a power of two */
		.rounds_depth = true,
		/* ionic/ionic_controlpath.c:1555 ionic_create_qp(): the rest of a WQE */
		.inline_grant = FAKE_INLINE_MORE,
		/* ionic/ionic_datapath.c:1241 ionic_post_send_common() */
		.not_ready = -EINVAL,
		/* ionic/ionic_datapath.c:778 ionic_prep_pld(): "sge length zero means 2GB" */
		.zero_is_2g = true,
		/* ionic/ionic_admin.c:955 ionic_poll_eq_isr(); also in a post after the error */
		.told = FAKE_TOLD_HARDIRQ,
		/* ionic/ionic_datapath.c:670 ionic_req_notify_vcq_cq() */
		.arm = FAKE_ARM_REPORTS,
		/* ionic/ionic_datapath.c ionic_poll_vcq_cq(): an entry completes many; poll_sq */
		.keeps_polled = true,
		.last_wqe = FAKE_LAST_WQE_NEVER,
		/* ionic/ionic_fw.h:185 ionic_to_ib_status() */
		FAKE_STATUS_IB,
		/* ionic/ionic_admin.c:703 ionic_kill_ibdev() */
		.fatal_event = true,
		/* ionic/ionic_ibdev.c:22 ionic_query_device() sets no IBK_LOCAL_DMA_LKEY */
		.reserved_lkey = false,
	}, {
		.name = "vmw_pvrdma",
		.driver_id = RDMA_DRIVER_VMW_PVRDMA,
		/* vmw_pvrdma/pvrdma_main.c:132 pvrdma_port_immutable() */
		.ports = FAKE_PORT_ROCE_V1 | FAKE_PORT_ROCE_V2,
		/* vmw_pvrdma/pvrdma_dev_api.h:80 PVRDMA_MAX_FAST_REG_PAGES is 128 */
		.max_fast_reg_pages = 128,
		/* vmw_pvrdma/pvrdma_cq.c:277 _pvrdma_flush_cqe() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* Assumed: the hypervisor assigns the numbers, and reuses them. */
		.numbers_again = true,
		/* vmw_pvrdma/pvrdma_qp.c:141 pvrdma_set_rq_size(), 166 pvrdma_set_sq_size() */
		.rounds_depth = true,
		/* vmw_pvrdma/pvrdma_qp.c:354 pvrdma_create_qp() */
		.inline_grant = FAKE_INLINE_NONE,
		/* vmw_pvrdma/pvrdma_qp.c:683 pvrdma_post_send() */
		.not_ready = -EINVAL,
		/* vmw_pvrdma/pvrdma_main.c:518 pvrdma_intrx_handler() */
		.told = FAKE_TOLD_HARDIRQ,
		/* vmw_pvrdma/pvrdma_cq.c:79 pvrdma_req_notify_cq() */
		.arm = FAKE_ARM_REPORTS,
		/* vmw_pvrdma/pvrdma_main.c:451: the hypervisor raises the event */
		.last_wqe = FAKE_LAST_WQE_ONCE,
		FAKE_STATUS_IB,
	}, {
		.name = "mthca",
		.driver_id = RDMA_DRIVER_MTHCA,
		/* mthca/mthca_provider.c:1063 mthca_port_immutable() */
		.ports = FAKE_PORT_IB,
		/* mthca/mthca_provider.c:1090: no alloc_mr, no map_mr_sg; mthca_qp.c:185 */
		.lacks = FAKE_LACKS_FAST_REG | FAKE_LACKS_LOCAL_INV | FAKE_LACKS_READ_INV,
		/* mthca/mthca_qp.c:1480 mthca_free_qp(), mthca_cq.c:273 mthca_cq_clean() */
		.leftovers = FAKE_LEFTOVERS_DROPPED,
		/* mthca/mthca_qp.c:1314 mthca_alloc(): cyclically */
		.numbers_again = false,
		/* mthca/mthca_qp.c:1255 mthca_set_qp_size() */
		.rounds_depth = true,
		/* mthca/mthca_qp.c:959 mthca_max_inline_data() is 0; 1262: -EINVAL for more */
		.inline_grant = FAKE_INLINE_REFUSED,
		/* mthca/mthca_qp.c:1626 mthca_tavor_post_send() ignores IB_SEND_INLINE */
		.ignores_inline = true,
		.not_ready = 0,
		/* mthca/mthca_wqe.h:116 mthca_set_data_seg(): as mlx4 */
		.zero_is_2g = true,
		/* mthca/mthca_cq.c:230 mthca_cq_completion(), from the EQ's interrupt */
		.told = FAKE_TOLD_HARDIRQ,
		/* mthca/mthca_cq.c:736 mthca_arbel_arm_cq() */
		.arm = FAKE_ARM_RINGS,
		/* mthca/mthca_eq.c:298 mthca_eq_int() */
		.last_wqe = FAKE_LAST_WQE_ONCE,
		FAKE_STATUS_IB,
		/* mthca/mthca_catas.c:95 handle_catas() */
		.fatal_event = true,
	}, {
		.name = "rxe",
		.driver_id = RDMA_DRIVER_RXE,
		/* rxe/rxe_verbs.c:207 rxe_port_immutable() */
		.ports = FAKE_PORT_ROCE_V2,
		/* rxe/rxe_verbs.c: no code removes a QP's CQEs; wc.qp dangles */
		.leftovers = FAKE_LEFTOVERS_KEPT,
		/* rxe/rxe_pool.c:141 __rxe_add_to_pool(): cyclically */
		.numbers_again = false,
		/* rxe/rxe_qp.c:272 rxe_init_sq(): as much as fits in a WQE */
		.inline_grant = FAKE_INLINE_MORE,
		/* rxe/rxe_verbs.c:934 rxe_post_send() */
		.not_ready = -EINVAL,
		/* rxe/rxe_cq.c:85 rxe_cq_post(): in the QP's work item, with a lock, irqs off */
		.told = FAKE_TOLD_IRQS_OFF,
		/* rxe/rxe_verbs.c:1188 rxe_req_notify_cq() */
		.arm = FAKE_ARM_REPORTS,
		/* rxe/rxe_resp.c:1550 the caller of flush_recv_queue(), on the way to ERR */
		.last_wqe = FAKE_LAST_WQE_TWICE,
		FAKE_STATUS_IB,
		/* rxe/rxe_verbs.c:1532 rxe_register_device() */
		.reserved_lkey = true,
		.local_dma_lkey = 0,
	}, {
		.name = "siw",
		.driver_id = RDMA_DRIVER_SIW,
		/* siw/siw_verbs.c:225 siw_get_port_immutable() */
		.ports = FAKE_PORT_IWARP,
		/* siw/siw_verbs.c:142 siw_query_device(), 880 siw_post_send() */
		.lacks = FAKE_LACKS_SEND_IMM | FAKE_LACKS_WRITE_IMM | FAKE_LACKS_ATOMICS,
		/* siw-abi.h:13 SIW_MAX_SGE; siw.h:27 SIW_MAX_SGE_RD */
		.max_send_sge = 6,
		.max_recv_sge = 6,
		.max_read_sge = 1,
		/* siw/siw_cq.c:48 siw_reap_cqe(): wc.qp dangles, and is not used */
		.leftovers = FAKE_LEFTOVERS_KEPT,
		/* siw/siw_qp.c:1284 siw_qp_add(): xa_alloc() gives the lowest free number */
		.numbers_again = true,
		/* siw/siw_verbs.c:349 siw_create_qp() refuses more; cap stays */
		.inline_grant = FAKE_INLINE_AS_ASKED,
		.max_inline = 80,
		/* siw/siw_verbs.c:824 siw_post_send() */
		.not_ready = -ENOTCONN,
		/* siw/siw_verbs.c:890 siw_post_send() */
		.read_wants_sge = true,
		/* siw/siw_qp.c:1074 siw_sqe_complete(), in the caller's context */
		.told = FAKE_TOLD_INLINE,
		/* siw/siw_verbs.c:1294 siw_req_notify_cq() */
		.arm = FAKE_ARM_REPORTS,
		.last_wqe = FAKE_LAST_WQE_NEVER,
		/* In siw a write completes when it is sent; the fake does not do this. */
		FAKE_STATUS_IWARP(IB_WC_LOC_PROT_ERR),
		/* siw/siw_verbs.c:1533 siw_map_mr_sg(): the list ignores the offset */
		.map_offset_lost = true,
		/* siw/siw_mem.c:258 siw_invalidate_stag() */
		.invalidates_any = true,
	},
	{}
};

const struct fake_personality *fake_personality_find(const char *name)
{
	const struct fake_personality *personality;

	if (!name || !*name)
		return &fake_strict;
	for (personality = fake_personalities; personality->name; personality++)
		if (!strcmp(personality->name, name))
			return personality;
	return NULL;
}

const struct fake_personality *fake_personality_default(void)
{
	return fake_personality_find(fake_personality_name);
}
