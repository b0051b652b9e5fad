/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma/core/caps.c must make of a provider's attributes.  The expected values are written
 * out, not computed: a table that repeated the rules of the code would agree with any mistake in
 * it.
 */
#ifndef _KRDMA_KUNIT_LIMITS_CASES_H
#define _KRDMA_KUNIT_LIMITS_CASES_H

#include "core/caps.h"

#include "cases.h"

/* One number of a provider, and the result of each rule for it. */
struct limits_edge {
	s64 raw;
	u32 count;
	/* krdma reserves two WQEs of an SQ, one of an RQ, and three entries of a CQ. */
	u32 send_depth;
	u32 recv_depth;
	u32 cq_depth;
	u32 read_depth;
	/* No fast registration spans more than 4096. */
	u32 pages;
};

static const struct limits_edge limits_edges[] = {
	/* raw, count, send, recv, cq, read, pages */
	{ -0x7fffffffffffffffLL - 1, 0, 0, 0, 0, 1, 0 },
	{ -0x100000000LL, 0, 0, 0, 0, 1, 0 },
	{ -0xffffffffLL, 0, 0, 0, 0, 1, 0 },
	{ -0x80000000LL, 0, 0, 0, 0, 1, 0 },
	{ -2, 0, 0, 0, 0, 1, 0 },
	{ -1, 0, 0, 0, 0, 1, 0 },
	{ 0, 0, 0, 0, 0, 1, 0 },
	{ 1, 1, 0, 0, 0, 1, 1 },
	{ 2, 2, 0, 1, 0, 2, 2 },
	{ 3, 3, 1, 2, 0, 3, 3 },
	{ 4, 4, 2, 3, 1, 4, 4 },
	{ 128, 128, 126, 127, 125, 128, 128 },
	{ 254, 254, 252, 253, 251, 254, 254 },
	{ 255, 255, 253, 254, 252, 255, 255 },
	{ 256, 256, 254, 255, 253, 255, 256 },
	{ 4095, 4095, 4093, 4094, 4092, 255, 4095 },
	{ 4096, 4096, 4094, 4095, 4093, 255, 4096 },
	{ 4097, 4097, 4095, 4096, 4094, 255, 4096 },
	{ 65535, 65535, 65533, 65534, 65532, 255, 4096 },
	{ 65536, 65536, 65534, 65535, 65533, 255, 4096 },
	{ 0x7ffffffeLL, 0x7ffffffe, 0x7ffffffc, 0x7ffffffd, 0x7ffffffb, 255, 4096 },
	{ 0x7fffffffLL, 0x7fffffff, 0x7ffffffd, 0x7ffffffe, 0x7ffffffc, 255, 4096 },
	{ 0x80000000LL, 0x7fffffff, 0x7ffffffd, 0x7ffffffe, 0x7ffffffc, 255, 4096 },
	{ 0xffffffffLL, 0x7fffffff, 0x7ffffffd, 0x7ffffffe, 0x7ffffffc, 255, 4096 },
	{ 0x100000000LL, 0x7fffffff, 0x7ffffffd, 0x7ffffffe, 0x7ffffffc, 255, 4096 },
	{ 0x100000001LL, 0x7fffffff, 0x7ffffffd, 0x7ffffffe, 0x7ffffffc, 255, 4096 },
	{ 0x7fffffffffffffffLL, 0x7fffffff, 0x7ffffffd, 0x7ffffffe, 0x7ffffffc, 255, 4096 },
};

/* A device with room for everything, so that one field at a time can be changed. */
static inline struct krdma_raw_attr limits_ample(void)
{
	return (struct krdma_raw_attr) {
		.max_mr_size = ~0ULL,
		.max_qp = 1000,
		.max_qp_wr = 1000,
		.max_send_sge = 1000,
		.max_recv_sge = 1000,
		.max_sge_rd = 1000,
		.max_cqe = 1000,
		.max_srq = 1000,
		.max_srq_wr = 1000,
		.max_srq_sge = 1000,
		.max_qp_init_rd_atom = 100,
		.max_qp_rd_atom = 100,
		.max_fast_reg_pages = 1000,
		.has_atomic = true,
		.has_imm = true,
		.has_srq = true,
		.has_fast_reg = true,
		.has_odp = true,
		.has_read_local = true,
	};
}

static inline void limits_check_counts(struct case_report *report)
{
	for (unsigned int i = 0; i < CASES(limits_edges); i++) {
		const struct limits_edge *edge = &limits_edges[i];
		struct krdma_raw_attr raw = limits_ample();
		struct krdma_limits limits;

		raw.max_qp = edge->raw;
		raw.max_send_sge = edge->raw;
		raw.max_recv_sge = edge->raw;
		raw.max_srq_wr = edge->raw;
		raw.max_srq_sge = edge->raw;
		raw.max_fast_reg_pages = edge->raw;
		krdma_caps_derive(&raw, &limits);
		check_expect(report, "max_qp", edge->raw, edge->count, limits.max_qp);
		check_expect(report, "max_send_sge", edge->raw, edge->count, limits.max_send_sge);
		check_expect(report, "max_recv_sge", edge->raw, edge->count, limits.max_recv_sge);
		check_expect(report, "max_srq_wr", edge->raw, edge->count, limits.max_srq_wr);
		if (limits.max_srq_wr && limits.max_recv_sge)
			check_expect(report, "max_srq_sge", edge->raw, edge->count,
				     limits.max_srq_sge);
		check_expect(report, "max_fast_reg_pages", edge->raw, edge->pages,
			     limits.max_fast_reg_pages);
	}
}

/* At least one, and not more than a receive of an RQ can have. */
static inline void limits_check_srq_sge(struct case_report *report)
{
	static const struct {
		s64 srq;
		s64 recv;
		u32 expected;
	} cases[] = {
		{ 6, 13, 6 }, { 31, 32, 31 }, { 32, 32, 32 }, { 33, 32, 32 }, { 1, 1, 1 },
		{ 0, 32, 1 }, { -1, 32, 1 }, { 1LL << 40, 16, 16 },
	};

	for (unsigned int i = 0; i < CASES(cases); i++) {
		struct krdma_raw_attr raw = limits_ample();
		struct krdma_limits limits;

		raw.max_srq_sge = cases[i].srq;
		raw.max_recv_sge = cases[i].recv;
		krdma_caps_derive(&raw, &limits);
		check_expect(report, "max_srq_sge", cases[i].srq, cases[i].expected,
			     limits.max_srq_sge);
		raw.has_srq = false;
		krdma_caps_derive(&raw, &limits);
		check_expect(report, "max_srq_sge without SRQs", cases[i].srq, 0,
			     limits.max_srq_sge);
	}
}

static inline void limits_check_depths(struct case_report *report)
{
	for (unsigned int i = 0; i < CASES(limits_edges); i++) {
		const struct limits_edge *edge = &limits_edges[i];
		struct krdma_raw_attr raw = limits_ample();
		struct krdma_limits limits;

		raw.max_qp_wr = edge->raw;
		raw.max_cqe = edge->raw;
		raw.max_qp_init_rd_atom = edge->raw;
		raw.max_qp_rd_atom = edge->raw;
		krdma_caps_derive(&raw, &limits);
		check_expect(report, "max_send_wr", edge->raw, edge->send_depth,
			     limits.max_send_wr);
		check_expect(report, "max_recv_wr", edge->raw, edge->recv_depth,
			     limits.max_recv_wr);
		check_expect(report, "max_cqe", edge->raw, edge->cq_depth, limits.max_cqe);
		check_expect(report, "max_read_depth", edge->raw, edge->read_depth,
			     limits.max_read_depth);
		check_expect(report, "max_read_depth_in", edge->raw, edge->read_depth,
			     limits.max_read_depth_in);
	}
}

/* Each limit comes from its own field: the two directions are easily swapped. */
static inline void limits_check_sources(struct case_report *report)
{
	struct krdma_raw_attr raw = limits_ample();
	struct krdma_limits limits;

	raw.max_mr_size = 0x123456789abcdefULL;
	raw.max_qp = 11;
	raw.max_qp_wr = 22;
	raw.max_send_sge = 33;
	raw.max_recv_sge = 44;
	raw.max_sge_rd = 5;
	raw.max_cqe = 66;
	raw.max_srq = 77;
	raw.max_srq_wr = 88;
	raw.max_srq_sge = 43;
	raw.max_qp_init_rd_atom = 99;
	raw.max_qp_rd_atom = 110;
	raw.max_fast_reg_pages = 121;
	krdma_caps_derive(&raw, &limits);
	check_expect(report, "max_mr_size", 0, 0x123456789abcdefULL, limits.max_mr_size);
	check_expect(report, "max_qp", 11, 11, limits.max_qp);
	check_expect(report, "max_send_wr", 22, 20, limits.max_send_wr);
	check_expect(report, "max_recv_wr", 22, 21, limits.max_recv_wr);
	check_expect(report, "max_send_sge", 33, 33, limits.max_send_sge);
	check_expect(report, "max_recv_sge", 44, 44, limits.max_recv_sge);
	check_expect(report, "max_read_sge", 5, 5, limits.max_read_sge);
	check_expect(report, "max_cqe", 66, 63, limits.max_cqe);
	check_expect(report, "max_srq_wr", 88, 88, limits.max_srq_wr);
	check_expect(report, "max_srq_sge", 43, 43, limits.max_srq_sge);
	check_expect(report, "max_read_depth", 99, 99, limits.max_read_depth);
	check_expect(report, "max_read_depth_in", 110, 110, limits.max_read_depth_in);
	check_expect(report, "max_fast_reg_pages", 121, 121, limits.max_fast_reg_pages);
}

static inline void limits_check_read_sge(struct case_report *report)
{
	static const struct {
		s64 reads;
		s64 sends;
		u32 expected;
	} cases[] = {
		{ 0, 0, 0 },		/* cannot send at all */
		{ 0, 1, 1 },		/* the field was left empty */
		{ 0, 32, 1 },
		{ -1, 32, 1 },
		{ 1, 6, 1 },		/* siw */
		{ 32, 32, 32 },		/* rxe */
		{ 32, 6, 6 },
		{ 31, 32, 31 },
		{ 33, 32, 32 },
		{ 5, 0, 0 },
		{ 5, -1, 0 },
		{ 0x7fffffffffffffffLL, 4, 4 },
		{ 0x7fffffffffffffffLL, 0x7fffffffffffffffLL, 0x7fffffff },
		{ 0x100000000LL, 8, 8 },
	};

	for (unsigned int i = 0; i < CASES(cases); i++) {
		struct krdma_raw_attr raw = limits_ample();
		struct krdma_limits limits;

		raw.max_sge_rd = cases[i].reads;
		raw.max_send_sge = cases[i].sends;
		krdma_caps_derive(&raw, &limits);
		check_expect(report, "max_read_sge", cases[i].reads, cases[i].expected,
			     limits.max_read_sge);
	}
}

static inline void limits_check_caps(struct case_report *report)
{
	/* Bit n of the index is the n-th flag of the provider. */
	for (unsigned int claims = 0; claims < 64; claims++) {
		struct krdma_raw_attr raw = limits_ample();
		struct krdma_limits limits;

		raw.has_atomic = claims & 1;
		raw.has_imm = claims & 2;
		raw.has_srq = claims & 4;
		raw.has_fast_reg = claims & 8;
		raw.has_odp = claims & 16;
		raw.has_read_local = claims & 32;
		check_expect(report, "caps", claims, claims, krdma_caps_flags(&raw));
		krdma_caps_derive(&raw, &limits);
		check_expect(report, "max_srq_wr", claims, claims & 4 ? 1000 : 0,
			     limits.max_srq_wr);
		check_expect(report, "max_fast_reg_pages", claims, claims & 8 ? 1000 : 0,
			     limits.max_fast_reg_pages);
	}
}

/* Capabilities that the provider claims and that its own numbers contradict. */
static inline void limits_check_empty_claims(struct case_report *report)
{
	static const s64 useless[] = { 0, -1, -0x7fffffffffffffffLL - 1 };

	for (unsigned int i = 0; i < CASES(useless); i++) {
		struct krdma_raw_attr raw = limits_ample();
		struct krdma_limits limits;

		raw.max_srq = useless[i];
		raw.max_fast_reg_pages = useless[i];
		check_expect(report, "caps", useless[i],
			     KRDMA_DEVICE_CAP_ATOMIC | KRDMA_DEVICE_CAP_IMM |
			     KRDMA_DEVICE_CAP_ODP | KRDMA_DEVICE_CAP_READ_LOCAL,
			    krdma_caps_flags(&raw));
		krdma_caps_derive(&raw, &limits);
		check_expect(report, "max_srq_wr", useless[i], 0, limits.max_srq_wr);
		check_expect(report, "max_fast_reg_pages", useless[i], 0,
			     limits.max_fast_reg_pages);

		raw = limits_ample();
		raw.max_srq_wr = useless[i];
		check_expect(report, "caps", useless[i], 0,
			     krdma_caps_flags(&raw) & KRDMA_DEVICE_CAP_SRQ);
	}
}

/* What every consumer relies on, for any input. */
static inline void limits_check_promises(struct case_report *report)
{
	for (unsigned int i = 0; i < CASES(limits_edges); i++) {
		s64 value = limits_edges[i].raw;
		struct krdma_raw_attr raw = {
			.max_qp = value, .max_qp_wr = value, .max_send_sge = value,
			.max_recv_sge = value, .max_sge_rd = value, .max_cqe = value,
			.max_srq = value, .max_srq_wr = value, .max_qp_init_rd_atom = value,
			.max_qp_rd_atom = value, .max_fast_reg_pages = value, .has_srq = true,
			.has_fast_reg = true,
		};
		struct krdma_limits limits;
		u64 caps = krdma_caps_flags(&raw);

		krdma_caps_derive(&raw, &limits);
		check_expect(report, "send and receive add up", value, true,
			     (u64)limits.max_send_wr + limits.max_recv_wr + KRDMA_CQ_SLOTS <=
			    U32_MAX);
		check_expect(report, "ib_core takes the depth as int", value, true,
			     limits.max_send_wr <= S32_MAX - KRDMA_SEND_WQES &&
			    limits.max_recv_wr <= S32_MAX - KRDMA_RECV_WQES &&
			    limits.max_cqe <= S32_MAX - KRDMA_CQ_SLOTS);
		check_expect(report, "reads need no more entries than sends", value, true,
			     limits.max_read_sge <= limits.max_send_sge);
		check_expect(report, "the read depth fits rdma_conn_param's u8", value, true,
			     limits.max_read_depth <= 255 && limits.max_read_depth_in <= 255);
		check_expect(report, "SRQ cap and depth agree", value,
			     !!(caps & KRDMA_DEVICE_CAP_SRQ), limits.max_srq_wr > 0);
		check_expect(report, "fast registration cap and pages agree", value,
			     !!(caps & KRDMA_DEVICE_CAP_FAST_REG), limits.max_fast_reg_pages > 0);
	}
}

#endif /* _KRDMA_KUNIT_LIMITS_CASES_H */
