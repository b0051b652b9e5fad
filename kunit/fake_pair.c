// SPDX-License-Identifier: GPL-2.0
/* Two QPs of the fake device that are connected to each other. */
#include <linux/minmax.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_pair.h"

static void side_rung(struct ib_cq *cq, void *context)
{
	struct side *side = context;

	side->hardirq = in_hardirq();
	side->irqs_off = irqs_disabled();
	side->caller = current;
	complete(&side->rung);
}

static void side_event(struct ib_event *event, void *context)
{
	struct side *side = context;

	side->event = event->event;
	side->events++;
}

void side_destroy(struct side *side)
{
	if (!IS_ERR_OR_NULL(side->mr))
		ib_dereg_mr(side->mr);
	if (!IS_ERR_OR_NULL(side->qp))
		ib_destroy_qp(side->qp);
	if (!IS_ERR_OR_NULL(side->srq))
		ib_destroy_srq(side->srq);
	if (!IS_ERR_OR_NULL(side->cq))
		ib_destroy_cq(side->cq);
	if (!IS_ERR_OR_NULL(side->pd))
		ib_dealloc_pd(side->pd);
	kfree(side->buffer);
	memset(side, 0, sizeof(*side));
}

static int side_create_srq(struct side *side)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = DEPTH, .max_sge = 2 } };

	side->srq = ib_create_srq(side->pd, &attr);
	return PTR_ERR_OR_ZERO(side->srq);
}

/* As much as the device has, if that is little. */
static u32 side_inline(const struct fake_personality *personality)
{
	if (personality->inline_grant == FAKE_INLINE_REFUSED)
		return 0;
	return min_t(u32, INLINE, personality->max_inline ?: INLINE);
}

int side_create_qp(struct side *side)
{
	struct ib_qp_init_attr attr = {
		.event_handler = side_event,
		.qp_context = side,
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.srq = side->srq,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = side->srq ? 0 : DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = min(2, side->pd->device->attrs.max_recv_sge),
			.max_inline_data = side_inline(to_fake(side->pd->device)->personality),
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	side->qp = ib_create_qp(side->pd, &attr);
	return PTR_ERR_OR_ZERO(side->qp);
}

int side_create(struct fake_device *fake, struct side *side, bool shared)
{
	struct ib_cq_init_attr attr = { .cqe = 4 * DEPTH };
	int ret = -ENOMEM;

	memset(side, 0, sizeof(*side));
	init_completion(&side->rung);
	side->buffer = kzalloc(BUFFER, GFP_KERNEL);
	if (!side->buffer)
		return -ENOMEM;
	side->pd = ib_alloc_pd(&fake->ib, 0);
	ret = PTR_ERR_OR_ZERO(side->pd);
	if (!ret) {
		side->cq = ib_create_cq(&fake->ib, side_rung, NULL, side, &attr);
		ret = PTR_ERR_OR_ZERO(side->cq);
	}
	if (!ret && shared)
		ret = side_create_srq(side);
	if (!ret)
		ret = side_create_qp(side);
	if (!ret && fake->attr.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) {
		side->mr = ib_alloc_mr(side->pd, IB_MR_TYPE_MEM_REG, 4);
		ret = PTR_ERR_OR_ZERO(side->mr);
	}
	if (ret)
		side_destroy(side);
	return ret;
}

int side_modify(struct side *side, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(side->qp, &attr, IB_QP_STATE);
}

static struct ib_sge side_sge(struct side *side, u32 offset, u32 length)
{
	return (struct ib_sge) {
		.addr = (uintptr_t)side->buffer + offset,
		.length = length,
		.lkey = side->pd->local_dma_lkey,
	};
}

int side_receive(struct side *side, u64 id, u32 offset, u32 length)
{
	struct ib_sge sge = side_sge(side, offset, length);
	struct ib_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = !!length };

	return side->srq ? ib_post_srq_recv(side->srq, &wr, NULL) :
			   ib_post_recv(side->qp, &wr, NULL);
}

int side_send(struct side *side, u64 id, u32 offset, u32 length, int flags)
{
	struct ib_sge sge = side_sge(side, offset, length);
	struct ib_send_wr wr = {
		.wr_id = id,
		.opcode = IB_WR_SEND,
		.send_flags = flags,
		.sg_list = &sge,
		.num_sge = !!length,
	};

	return ib_post_send(side->qp, &wr, NULL);
}

/* From the beginning of the side's own buffer, which has @length bytes. */
int side_rdma(struct side *side, enum ib_wr_opcode opcode, u32 length, u64 address, u32 rkey)
{
	struct ib_sge sge = side_sge(side, 0, length);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_id = opcode,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
			.ex.imm_data = cpu_to_be32(opcode),
		},
		.remote_addr = address,
		.rkey = rkey,
	};

	return ib_post_send(side->qp, &wr.wr, NULL);
}

int side_atomic(struct side *side, enum ib_wr_opcode opcode, u64 add, u64 swap, u64 address,
		u32 rkey)
{
	struct ib_sge sge = side_sge(side, 0, sizeof(u64));
	struct ib_atomic_wr wr = {
		.wr = {
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = address,
		.compare_add = add,
		.swap = swap,
		.rkey = rkey,
	};

	return ib_post_send(side->qp, &wr.wr, NULL);
}

/* Registers all of the buffer but the first bytes, with the next key. */
int side_register(struct side *side, u32 skip, int access)
{
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED },
		.mr = side->mr,
		.access = access,
	};
	struct scatterlist list;

	sg_init_one(&list, side->buffer + skip, BUFFER - skip);
	sg_dma_address(&list) = (uintptr_t)sg_virt(&list);
	sg_dma_len(&list) = list.length;
	if (ib_map_mr_sg(side->mr, &list, 1, NULL, PAGE_SIZE) != 1)
		return -EINVAL;
	ib_update_fast_reg_key(side->mr, (side->mr->rkey & 0xff) + 1);
	wr.key = side->mr->rkey;
	return ib_post_send(side->qp, &wr.wr, NULL);
}

int side_invalidate(struct side *side, u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	return ib_post_send(side->qp, &wr, NULL);
}

/* The next completion must exist, with this wr_id and status. */
struct ib_wc polls(struct kunit *test, struct side *side, u64 id, enum ib_wc_status status)
{
	struct ib_wc wc = {};

	KUNIT_EXPECT_EQ(test, 1, ib_poll_cq(side->cq, 1, &wc));
	KUNIT_EXPECT_EQ(test, id, wc.wr_id);
	KUNIT_EXPECT_EQ(test, status, wc.status);
	KUNIT_EXPECT_PTR_EQ(test, side->qp, wc.qp);
	return wc;
}

void polls_nothing(struct kunit *test, struct side *side)
{
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, 0, ib_poll_cq(side->cq, 1, &wc));
}

void pair_connect(struct kunit *test, struct pair *pair, bool shared)
{
	KUNIT_ASSERT_EQ(test, 0, side_create(pair->fake, &pair->a, false));
	KUNIT_ASSERT_EQ(test, 0, side_create(pair->fake, &pair->b, shared));
	fake_qp_join(pair->a.qp, pair->b.qp);
	strscpy(pair->a.buffer, "what a side has to say", BUFFER);
}

void pair_destroy(struct pair *pair)
{
	side_destroy(&pair->a);
	side_destroy(&pair->b);
}

/* Runs also if the test is aborted. */
static void pair_release(void *context)
{
	pair_destroy(context);
}

void pair_become(struct kunit *test, struct pair *pair,
		 const struct fake_personality *personality)
{
	if (pair->device->registered)
		test_device_replace(pair->device);
	pair->fake = pair->device->fake;
	fake_device_become(pair->fake, personality);
	fake_device_offer_srq(pair->fake);
	fake_device_offer_atomics(pair->fake);
	KUNIT_ASSERT_EQ(test, 0, test_device_register(pair->device, PAIR_NAME));
}

/* The device as its own tests use it. */
struct pair *pair_new(struct kunit *test)
{
	struct test_device *device = test_device_alloc(test, 1);
	struct pair *pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->device = device;
	pair_become(test, pair, &fake_strict);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, pair_release, pair));
	return pair;
}

struct pair *pair_connected(struct kunit *test)
{
	struct pair *pair = pair_new(test);

	pair_connect(test, pair, false);
	return pair;
}

/* Registers the buffer with all access rights; returns the address that the other side uses. */
u64 pair_register(struct kunit *test, struct side *side)
{
	KUNIT_ASSERT_EQ(test, 0, side_register(side, 0, ALL_RIGHTS));
	polls(test, side, 0, IB_WC_SUCCESS);
	return side->mr->iova;
}
