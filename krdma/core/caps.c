// SPDX-License-Identifier: GPL-2.0
/*
 * Derive the capabilities and limits that krdma offers from a provider's attributes.  Pure
 * functions.
 */
#include "core/caps.h"

/*
 * Counts are passed to ib_core as int.  A negative value can only be a provider's mistake, and
 * zero is the safe reading of it.
 */
static u32 krdma_caps_count(s64 value)
{
	if (value < 0)
		return 0;
	return value > S32_MAX ? S32_MAX : (u32)value;
}

static u32 krdma_caps_depth(s64 value, u32 own_slots)
{
	u32 depth = krdma_caps_count(value);

	return depth > own_slots ? depth - own_slots : 0;
}

static u32 krdma_caps_read_depth(s64 value)
{
	if (value < KRDMA_READ_DEPTH_MIN)
		return KRDMA_READ_DEPTH_MIN;
	return value > KRDMA_READ_DEPTH_MAX ? KRDMA_READ_DEPTH_MAX : (u32)value;
}

static u32 krdma_caps_fast_reg_pages(s64 value)
{
	u32 pages = krdma_caps_count(value);

	return pages < KRDMA_FAST_REG_PAGES_MAX ? pages : KRDMA_FAST_REG_PAGES_MAX;
}

/*
 * A read takes its SGEs from the send queue, so it cannot have more than a send.  Some
 * providers leave the field empty: every device supports one SGE.
 */
static u32 krdma_caps_read_sge(s64 value, u32 max_send_sge)
{
	u32 read_sge = krdma_caps_count(value);

	if (!read_sge)
		read_sge = 1;
	return read_sge < max_send_sge ? read_sge : max_send_sge;
}

/*
 * Some drivers write as many SGEs into a WQE of an SRQ as they are given, and it has room for
 * fewer than a WQE of an RQ.
 */
static u32 krdma_caps_srq_sge(s64 max_srq_sge, u32 max_recv_sge)
{
	u32 srq_sge = krdma_caps_count(max_srq_sge);

	if (!srq_sge)
		srq_sge = 1;
	return srq_sge < max_recv_sge ? srq_sge : max_recv_sge;
}

/**
 * krdma_caps_flags() - Derive the capabilities of a device
 * @raw: the provider's attributes
 *
 * A provider may claim a capability that its own numbers make useless, such as SRQs of depth 0.
 * A capability is reported only if it can be used.
 *
 * Context: any.
 * Return: bits of &enum krdma_device_cap.
 */
u64 krdma_caps_flags(const struct krdma_raw_attr *raw)
{
	u64 caps = 0;

	if (raw->has_atomic)
		caps |= KRDMA_DEVICE_CAP_ATOMIC;
	if (raw->has_imm)
		caps |= KRDMA_DEVICE_CAP_IMM;
	if (raw->has_srq && raw->max_srq > 0 && raw->max_srq_wr > 0)
		caps |= KRDMA_DEVICE_CAP_SRQ;
	if (raw->has_fast_reg && raw->max_fast_reg_pages > 0)
		caps |= KRDMA_DEVICE_CAP_FAST_REG;
	if (raw->has_odp)
		caps |= KRDMA_DEVICE_CAP_ODP;
	if (raw->has_read_local)
		caps |= KRDMA_DEVICE_CAP_READ_LOCAL;

	return caps;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_caps_flags);

/**
 * krdma_caps_derive() - Derive the limits of a device
 * @raw: the provider's attributes
 * @limits: filled in, every field
 *
 * For any input the limits are safe to add up and to pass to ib_core.
 *
 * Context: any.
 */
void krdma_caps_derive(const struct krdma_raw_attr *raw, struct krdma_limits *limits)
{
	u64 caps = krdma_caps_flags(raw);
	u32 max_send_sge = krdma_caps_count(raw->max_send_sge);

	*limits = (struct krdma_limits) {
		.max_mr_size = raw->max_mr_size,
		.max_qp = krdma_caps_count(raw->max_qp),
		.max_send_wr = krdma_caps_depth(raw->max_qp_wr, KRDMA_SEND_WQES),
		.max_recv_wr = krdma_caps_depth(raw->max_qp_wr, KRDMA_RECV_WQES),
		.max_send_sge = max_send_sge,
		.max_recv_sge = krdma_caps_count(raw->max_recv_sge),
		.max_read_sge = krdma_caps_read_sge(raw->max_sge_rd, max_send_sge),
		.max_cqe = krdma_caps_depth(raw->max_cqe, KRDMA_CQ_SLOTS),
		.max_read_depth = krdma_caps_read_depth(raw->max_qp_init_rd_atom),
		.max_read_depth_in = krdma_caps_read_depth(raw->max_qp_rd_atom),
	};

	if (caps & KRDMA_DEVICE_CAP_SRQ) {
		limits->max_srq_wr = krdma_caps_count(raw->max_srq_wr);
		limits->max_srq_sge = krdma_caps_srq_sge(raw->max_srq_sge, limits->max_recv_sge);
	}
	if (caps & KRDMA_DEVICE_CAP_FAST_REG)
		limits->max_fast_reg_pages = krdma_caps_fast_reg_pages(raw->max_fast_reg_pages);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_caps_derive);
