// SPDX-License-Identifier: GPL-2.0
/* Inline data on devices that grant all, some or none of what was asked for. */
#include <kunit/test.h>
#include <linux/slab.h>

#include <krdma/krdma.h>

#include "cm/conn.h"
#include "conn_fixture.h"
#include "core/caps.h"
#include "io/bounce.h"
#include "io/budget.h"
#include "io/wq.h"
#include "objects.h"

#define INLINE	32
#define DEPTH	4
#define ROUNDS	5
/* One message at least has nothing to copy, and one has the maximum. */
static const u32 lengths[] = { 0, 8, 20, INLINE };
/* Places of the messages of a round at the receiver. */
#define PLACE	64

static struct conn_pair *pair_with_grant(struct kunit *test, u32 grant)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL,
		.attr = { .max_inline = INLINE, .send_depth = DEPTH },
		/* A device that refuses inline data is not asked for any. */
		.tune = fake_device_name_driver,
	};
	struct conn_pair *pair = conn_pair_open(test, &setup);

	pair->fake->max_inline = grant;
	conn_pair_connect(pair);
	return pair;
}

/* What the device has granted of that. */
static u32 granted(struct kunit *test, struct conn_pair *pair, u32 grant)
{
	u32 bytes = to_fake_qp(conn_qp(&pair->client))->cap.max_inline_data;

	KUNIT_EXPECT_LE(test, bytes, grant);
	if (pair->fake->personality->inline_grant == FAKE_INLINE_AS_ASKED)
		KUNIT_EXPECT_EQ(test, min_t(u32, grant, INLINE), bytes);
	return bytes;
}

static void receive_all(struct kunit *test, struct conn_pair *pair)
{
	unsigned int i;

	memset(pair->server.buffer, 0, ARRAY_SIZE(lengths) * PLACE);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct krdma_sge sge = conn_sge(&pair->server, i * PLACE, PLACE);
		struct krdma_recv_wr recv_wr = { .sges = &sge, .sge_count = 1 };

		KUNIT_ASSERT_EQ(test, 1, conn_receive(&pair->server, &recv_wr, 1));
	}
}

/* In two SGEs, from memory that is overwritten as soon as the call has returned. */
static void send_inline(struct kunit *test, struct conn_pair *pair, u32 length, u8 mark, bool last)
{
	u8 *buffer = pair->client.buffer;
	struct krdma_sge sges[] = {
		conn_sge(&pair->client, 0, length / 3),
		conn_sge(&pair->client, length / 3, length - length / 3),
	};
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_SEND,
		.flags = KRDMA_POST_INLINE | (last ? 0 : KRDMA_POST_UNSIGNALED),
		.sges = sges,
		.sge_count = ARRAY_SIZE(sges),
	};
	u32 i;

	for (i = 0; i < length; i++)
		buffer[i] = mark + i;
	/* As a key, or as a DMA address, this one would be useless. */
	sges[0].key = 0;
	sges[1].key = 0;
	KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
	memset(buffer, 0xff, INLINE);
}

static void expect_received(struct kunit *test, struct conn_pair *pair, unsigned int round)
{
	unsigned int i;
	u32 j;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		const u8 *place = pair->server.buffer + i * PLACE;

		for (j = 0; j < lengths[i]; j++)
			KUNIT_EXPECT_EQ_MSG(test, (u8)(16 * round + i + j), place[j],
					    "round %u, message %u", round, i);
		KUNIT_EXPECT_EQ(test, 0, place[j]);
	}
}

/* The device takes inline what it grants, and the rest is copied. */
static void expect_given(struct kunit *test, struct conn_pair *pair, u32 grant)
{
	struct fake_send *send;
	unsigned int i;

	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		conn_given(&pair->client, i, send);
		KUNIT_EXPECT_EQ(test, lengths[i] && lengths[i] <= grant,
				!!(send->wr.send_flags & IB_SEND_INLINE));
	}
}

static void test_any_grant(struct kunit *test)
{
	static const u32 grants[] = { 0, 8, INLINE, 2 * INLINE };
	unsigned int i, j, round;

	for (i = 0; i < ARRAY_SIZE(grants); i++) {
		struct conn_pair *pair = pair_with_grant(test, grants[i]);
		u32 bytes = granted(test, pair, grants[i]);

		KUNIT_EXPECT_EQ(test, max_t(u32, bytes, INLINE),
				conn_info(&pair->client).max_inline);
		for (round = 0; round < ROUNDS; round++) {
			receive_all(test, pair);
			/* The device reads it later. */
			fake_stall(pair->fake, NULL);
			for (j = 0; j < ARRAY_SIZE(lengths); j++)
				send_inline(test, pair, lengths[j], 16 * round + j,
					    j + 1 == ARRAY_SIZE(lengths));
			if (!round)
				expect_given(test, pair, bytes);
			fake_go_on(pair->fake, NULL);
			KUNIT_ASSERT_TRUE(test, conn_until(pair,
							   conn_told(&pair->server.recv_wrs) ==
							   (round + 1) * ARRAY_SIZE(lengths)));
			expect_received(test, pair, round);
		}
		KUNIT_EXPECT_EQ(test, 0, pair->client.sends.failed);
		conn_pair_end(pair);
	}
}

/* krdma accepts what was granted, and no more. */
static void test_too_much(struct kunit *test)
{
	static const u32 grants[] = { 0, INLINE };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(grants); i++) {
		struct conn_pair *pair = pair_with_grant(test, grants[i]);
		struct krdma_sge sge = conn_sge(&pair->client, 0, INLINE + 1);
		struct krdma_send_wr wr = {
			.opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_INLINE,
			.sges = &sge, .sge_count = 1,
		};

		KUNIT_EXPECT_EQ(test, -EMSGSIZE, conn_post(&pair->client, &wr, 1));
		conn_pair_end(pair);
	}
}

/* Names of drivers that refuse the QP if more is asked for than they have, and what they have. */
static void be_irdma(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("irdma"));
}

static void be_bnxt_re(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("bnxt_re"));
}

static void be_mthca(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("mthca"));
}

/* A maximum that no attribute reports: krdma asks for less, and copies the rest. */
static void test_refused_by_driver(struct kunit *test)
{
	static const struct {
		void (*tune)(struct fake_device *fake);
		u32 asked;
	} cases[] = {
		{ be_irdma, 102 }, { be_irdma, 1024 }, { be_bnxt_re, 97 }, { be_bnxt_re, 1024 },
		{ be_mthca, 1 }, { be_mthca, 1024 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct conn_setup setup = {
			.where = KRDMA_CONTEXT_POLL, .attr = { .max_inline = cases[i].asked },
			.tune = cases[i].tune,
		};
		struct conn_pair *pair = conn_pair_open(test, &setup);
		u32 most = pair->fake->personality->max_inline, bytes;

		conn_pair_connect(pair);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].asked, conn_info(&pair->client).max_inline,
				    "case %u", i);
		bytes = to_fake_qp(conn_qp(&pair->client))->cap.max_inline_data;
		/* Not less than half of what there is. */
		KUNIT_EXPECT_LE_MSG(test, bytes, most, "case %u", i);
		KUNIT_EXPECT_GE_MSG(test, bytes, most / 2, "case %u", i);
		conn_pair_end(pair);
	}
}

/*
 * siw stops at a message that invalidates, with inline data: krdma copies these.  Other messages
 * remain inline.
 */
static void test_invalidates_on_siw(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .attr = { .max_inline = INLINE },
		.tune = fake_device_read_like_siw,
	};
	struct krdma_send_wr wr = { .flags = KRDMA_POST_INLINE, .sge_count = 1 };
	static const u32 bytes[] = { 0, 1, INLINE };
	struct fake_send *send;
	struct conn_pair *pair;
	struct krdma_sge sge;
	unsigned int i, j;

	test_needs_fast_reg(test);
	pair = conn_pair_new(test, &setup);
	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	fake_stall(pair->fake, NULL);
	wr.sges = &sge;
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		sge = conn_sge(&pair->client, 0, bytes[i]);
		memset(pair->client.buffer, 0x40 + i, INLINE);
		wr.opcode = KRDMA_OP_SEND_INVALIDATE;
		KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
		wr.opcode = KRDMA_OP_SEND;
		KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
		memset(pair->client.buffer, 0xff, INLINE);
	}
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		const u8 *copy;

		conn_given(&pair->client, 2 * i, send);
		KUNIT_EXPECT_EQ(test, IB_WR_SEND_WITH_INV, send->wr.opcode);
		KUNIT_EXPECT_EQ(test, IB_SEND_SIGNALED, send->wr.send_flags);
		KUNIT_ASSERT_EQ(test, !!bytes[i], send->wr.num_sge);
		copy = (const u8 *)(uintptr_t)send->sge[0].addr;
		for (j = 0; j < bytes[i]; j++)
			KUNIT_EXPECT_EQ(test, 0x40 + i, copy[j]);
		conn_given(&pair->client, 2 * i + 1, send);
		KUNIT_EXPECT_EQ(test, bytes[i] &&
				bytes[i] <= to_fake_qp(conn_qp(&pair->client))->cap.max_inline_data,
				!!(send->wr.send_flags & IB_SEND_INLINE));
	}
	conn_pair_end(pair);
}

/* Too much for inline data: neither the device nor krdma grants it. */
static void test_refused(struct kunit *test)
{
	static const struct {
		u32 asked, grant;
		int ret;
	} cases[] = {
		{ 1024, 0, 0 },
		{ 1025, 0, -EINVAL },
		{ 1025, 100, -EINVAL },
		{ U32_MAX, 100, -EINVAL },
		/* Too much for the device, and what is left is copied. */
		{ 1024, U32_MAX, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct conn_setup setup = {
			.where = KRDMA_CONTEXT_POLL, .attr = { .max_inline = cases[i].asked },
		};
		struct conn_pair *pair = conn_pair_open(test, &setup);

		pair->fake->max_inline = cases[i].grant;
		conn_client_resolve(pair);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].ret, conn_end_prepare(&pair->client),
				    "case %u", i);
		KUNIT_EXPECT_EQ(test, !cases[i].ret, atomic_read(&pair->fake->live[FAKE_QP]));
		conn_pair_end(pair);
	}
}

/* Of this size a page has seven copies, and a chunk, which is for a power of two, only four. */
#define WASTEFUL	520
#define WASTEFUL_DEPTH	16

/* What it takes of the allocator. */
static u64 taken_by(const struct krdma_wqe_memory *memory)
{
	u64 bytes = (u64)memory->count * sizeof(memory->chunks[0]);

	for (u32 i = 0; i < memory->count; i++)
		bytes += ksize(memory->chunks[i].data);
	return bytes;
}

static void test_copies_are_paid_for(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL,
		.attr = {
			.max_inline = WASTEFUL,
			.send_depth = WASTEFUL_DEPTH, .max_send_sge = 2,
			.recv_depth = WASTEFUL_DEPTH, .max_recv_sge = 1,
		},
		.tune = fake_device_name_driver,
	};
	static const struct krdma_budget budget = {
		.inline_data = WASTEFUL,
		.send_wr = WASTEFUL_DEPTH + KRDMA_SEND_WQES, .send_sge = 2,
		.recv_wr = WASTEFUL_DEPTH + KRDMA_RECV_WQES, .recv_sge = 1,
	};
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct krdma_qp *qp;
	u64 taken, wqes;

	pair->fake->max_inline = 0;
	conn_pair_connect(pair);
	qp = pair->client.conn->qp;
	KUNIT_ASSERT_NOT_NULL(test, qp->bounce.chunks);
	KUNIT_ASSERT_NOT_NULL(test, qp->sink.chunks);
	taken = taken_by(&qp->bounce);
	KUNIT_EXPECT_LE(test, taken, krdma_bounce_bytes(qp->send.mask + 1, WASTEFUL));
	KUNIT_EXPECT_EQ(test, 0, krdma_bounce_bytes(qp->send.mask + 1, 0));
	/* The charge has a part for each of these. */
	wqes = WASTEFUL_DEPTH * (2 * sizeof(struct krdma_wqe) + 3 * sizeof(struct krdma_mr *));
	KUNIT_EXPECT_LE(test,
			taken + taken_by(&qp->sink) + wqes + sizeof(*qp) +
			krdma_budget_device_bytes(&budget), qp->charged);
}

static struct kunit_case inline_cases[] = {
	KUNIT_CASE(test_any_grant),
	KUNIT_CASE(test_too_much),
	KUNIT_CASE(test_refused_by_driver),
	KUNIT_CASE(test_invalidates_on_siw),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_copies_are_paid_for),
	{}
};

static struct kunit_suite inline_suite = {
	.name = "krdma_inline",
	.init = test_objects_init,
	.test_cases = inline_cases,
};

kunit_test_suite(inline_suite);
