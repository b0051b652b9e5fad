// SPDX-License-Identifier: GPL-2.0
/*
 * How the receives of an SRQ for lanes are shared.  The takers here keep what they get in an array,
 * and do with it what a case says.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include <krdma/krdma.h>

#include "conn_fixture.h"
#include "io/cq.h"
#include "io/srq.h"
#include "io/srq_share.h"
#include "mr/mr.h"
#include "objects.h"

#define DEPTH	16
#define SHARE	(DEPTH / KRDMA_SRQ_PARTS)

/**
 * struct holder - a taker
 * @taker: see there
 * @ids: what it has, the oldest first
 * @sges: the first SGE of each
 * @count: how many
 * @references: taken and not dropped
 * @told: calls of given()
 * @recalls: calls of recall()
 * @deaf: it takes nothing
 * @added: to the SRQ
 */
struct holder {
	struct krdma_srq_taker taker;
	u64 ids[KRDMA_SRQ_HOLDS];
	struct krdma_sge sges[KRDMA_SRQ_HOLDS];
	u32 count;
	int references;
	u32 told;
	u32 recalls;
	bool deaf;
	bool added;
};

/**
 * struct sharing - an SRQ and its takers
 * @test: the case
 * @pair: for the device and a session
 * @cq: the CQ of @srq
 * @srq: the SRQ
 * @holders: the takers
 * @next: wr_id of the next receive
 */
struct sharing {
	struct kunit *test;
	struct conn_pair *pair;
	struct krdma_cq *cq;
	struct krdma_srq *srq;
	struct holder holders[6];
	u64 next;
};

static struct holder *holder_of(struct krdma_srq_taker *taker)
{
	return container_of(taker, struct holder, taker);
}

static void holder_get(struct krdma_srq_taker *taker)
{
	holder_of(taker)->references++;
}

static void holder_put(struct krdma_srq_taker *taker)
{
	holder_of(taker)->references--;
}

static bool holder_give(struct krdma_srq_taker *taker, const struct krdma_srq_recv *recv)
{
	struct holder *holder = holder_of(taker);

	if (holder->deaf || holder->count == KRDMA_SRQ_HOLDS)
		return false;
	if (recv->sge_count)
		holder->sges[holder->count] = recv->sges[0];
	holder->ids[holder->count++] = recv->wr_id;
	return true;
}

static bool holder_take(struct krdma_srq_taker *taker, struct krdma_srq_recv *recv)
{
	struct holder *holder = holder_of(taker);

	if (!holder->count)
		return false;
	holder->count--;
	*recv = (struct krdma_srq_recv) {
		.wr_id = holder->ids[holder->count],
		.sges = &holder->sges[holder->count],
		.sge_count = !!holder->sges[holder->count].mr,
	};
	return true;
}

static void holder_given(struct krdma_srq_taker *taker)
{
	holder_of(taker)->told++;
}

static void holder_recall(struct krdma_srq_taker *taker)
{
	holder_of(taker)->recalls++;
}

static const struct krdma_srq_taker_ops holder_ops = {
	.get = holder_get,
	.put = holder_put,
	.give = holder_give,
	.take = holder_take,
	.given = holder_given,
	.recall = holder_recall,
};

static struct sharing *sharing_begin(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .tune = fake_device_offer_srq,
	};
	struct sharing *sharing = kunit_kzalloc(test, sizeof(*sharing), GFP_KERNEL);
	struct krdma_srq_attr attr = { .depth = DEPTH, .lanes = true };

	KUNIT_ASSERT_NOT_NULL(test, sharing);
	sharing->test = test;
	sharing->pair = conn_pair_open(test, &setup);
	sharing->cq = krdma_cq_create(sharing->pair->dev, &(struct krdma_cq_attr) {
		.depth = DEPTH, .where = KRDMA_CONTEXT_POLL,
	});
	KUNIT_ASSERT_FALSE(test, IS_ERR(sharing->cq));
	attr.cq = sharing->cq;
	sharing->srq = krdma_srq_create(sharing->pair->session, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(sharing->srq));
	return sharing;
}

static struct holder *sharing_add(struct sharing *sharing, u32 index, u64 peer)
{
	struct holder *holder = &sharing->holders[index];

	KUNIT_ASSERT_EQ(sharing->test, 0, krdma_srq_taker_add(&holder->taker, sharing->srq, peer,
							      &holder_ops));
	holder->added = true;
	krdma_srq_taker_start(&holder->taker);
	return holder;
}

/* The message has come, and the consumer has the completion. */
static u64 sharing_use(struct sharing *sharing, struct holder *holder)
{
	u64 id = holder->ids[0];

	KUNIT_ASSERT_NE(sharing->test, 0, holder->count);
	holder->count--;
	memmove(holder->ids, holder->ids + 1, holder->count * sizeof(holder->ids[0]));
	krdma_srq_used(&holder->taker);
	krdma_credits_give(&sharing->srq->credits, 1);
	return id;
}

static void sharing_remove(struct sharing *sharing, struct holder *holder)
{
	krdma_srq_taker_stop(&holder->taker);
	KUNIT_EXPECT_EQ(sharing->test, 0, holder->count);
	krdma_srq_taker_remove(&holder->taker);
	KUNIT_EXPECT_EQ(sharing->test, 0, holder->references);
	holder->added = false;
}

static void sharing_post(struct sharing *sharing, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		struct krdma_recv_wr wr = { .wr_id = sharing->next };

		KUNIT_ASSERT_EQ(sharing->test, 1, krdma_srq_post_recv(sharing->srq, &wr, 1));
		sharing->next++;
	}
}

static void sharing_end(struct sharing *sharing)
{
	for (u32 i = 0; i < ARRAY_SIZE(sharing->holders); i++) {
		if (sharing->holders[i].added)
			sharing_remove(sharing, &sharing->holders[i]);
	}
	KUNIT_EXPECT_EQ(sharing->test, 0, sharing->srq->pool->held);
	krdma_srq_close(sharing->srq);
	krdma_srq_put(sharing->srq);
	krdma_cq_put(sharing->cq);
}

/* Without being asked for, a peer gets half of its share, and half of what is posted is kept. */
static void test_standing(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b, *c;

	sharing_post(sharing, 4);
	a = sharing_add(sharing, 0, 1);
	KUNIT_EXPECT_EQ(test, SHARE / 2, a->count);
	KUNIT_EXPECT_EQ(test, 1, a->told);
	b = sharing_add(sharing, 1, 1);
	c = sharing_add(sharing, 2, 2);
	KUNIT_EXPECT_EQ(test, 0, b->count);
	KUNIT_EXPECT_EQ(test, 0, c->count);
	sharing_post(sharing, DEPTH - 4);
	KUNIT_EXPECT_EQ(test, SHARE / 2, a->count);
	KUNIT_EXPECT_EQ(test, 0, b->count);
	KUNIT_EXPECT_EQ(test, SHARE / 2, c->count);
	/* In the order in which they were posted. */
	KUNIT_EXPECT_EQ(test, 0, sharing_use(sharing, a));
	KUNIT_EXPECT_EQ(test, 1, sharing_use(sharing, a));
	sharing_end(sharing);
}

/* What is used counts until it is replaced, the oldest first. */
static void test_share(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b, *c;

	sharing_post(sharing, DEPTH);
	a = sharing_add(sharing, 0, 1);
	b = sharing_add(sharing, 1, 1);
	c = sharing_add(sharing, 2, 2);
	krdma_srq_want(&a->taker, 100);
	krdma_srq_want(&b->taker, 100);
	KUNIT_EXPECT_EQ(test, SHARE, a->count + b->count);
	while (a->count)
		sharing_use(sharing, a);
	while (b->count)
		sharing_use(sharing, b);
	KUNIT_EXPECT_EQ(test, 0, a->count + b->count);
	/* The other peer has its own. */
	krdma_srq_want(&c->taker, 100);
	KUNIT_EXPECT_EQ(test, SHARE, c->count);
	sharing_use(sharing, c);
	for (u32 i = 1; i <= SHARE; i++) {
		sharing_post(sharing, 1);
		KUNIT_EXPECT_EQ(test, i, a->count + b->count);
		KUNIT_EXPECT_EQ(test, SHARE - 1, c->count);
	}
	sharing_post(sharing, 1);
	KUNIT_EXPECT_EQ(test, SHARE, c->count);
	KUNIT_EXPECT_EQ(test, 0, a->recalls + b->recalls + c->recalls);
	sharing_end(sharing);
}

/* A share outlives its takers: a peer gets nothing more by opening new lanes. */
static void test_share_outlives(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b;

	sharing_post(sharing, DEPTH);
	a = sharing_add(sharing, 0, 1);
	krdma_srq_want(&a->taker, SHARE);
	while (a->count)
		sharing_use(sharing, a);
	sharing_remove(sharing, a);
	b = sharing_add(sharing, 1, 1);
	krdma_srq_want(&b->taker, SHARE);
	KUNIT_EXPECT_EQ(test, 0, b->count);
	sharing_post(sharing, SHARE);
	KUNIT_EXPECT_EQ(test, SHARE, b->count);
	sharing_end(sharing);
}

/* Who wants receives gets those that others hold and do not need. */
static void test_recall(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b, *c;

	sharing_post(sharing, 4);
	a = sharing_add(sharing, 0, 1);
	b = sharing_add(sharing, 1, 2);
	c = sharing_add(sharing, 2, 3);
	KUNIT_ASSERT_EQ(test, 2, a->count);
	krdma_srq_want(&b->taker, 3);
	KUNIT_EXPECT_EQ(test, 2, b->count);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	/* It is asked once, and so is the one that has got some since. */
	krdma_srq_want(&c->taker, 1);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	KUNIT_EXPECT_LE(test, b->recalls, 1);
	krdma_srq_yielded(&a->taker, 2);
	KUNIT_EXPECT_EQ(test, 0, a->count);
	KUNIT_EXPECT_EQ(test, 3, b->count);
	KUNIT_EXPECT_EQ(test, 1, c->count);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	KUNIT_EXPECT_EQ(test, 0, sharing->srq->pool->count);
	sharing_end(sharing);
}

/* Also if only the share of its peer is used up. */
static void test_recall_of_a_share(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b, *c;

	sharing_post(sharing, DEPTH);
	a = sharing_add(sharing, 0, 1);
	c = sharing_add(sharing, 1, 2);
	KUNIT_ASSERT_EQ(test, SHARE / 2, a->count);
	b = sharing_add(sharing, 2, 1);
	krdma_srq_want(&b->taker, SHARE);
	KUNIT_EXPECT_EQ(test, SHARE / 2, b->count);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	KUNIT_EXPECT_EQ(test, 0, c->recalls);
	krdma_srq_yielded(&a->taker, 1);
	KUNIT_EXPECT_EQ(test, SHARE / 2 + 1, b->count);
	KUNIT_EXPECT_EQ(test, SHARE / 2 - 1, a->count);
	sharing_end(sharing);
}

/* Who needs what it holds is not asked again before it gets more. */
static void test_recall_in_vain(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b;

	sharing_post(sharing, 2);
	a = sharing_add(sharing, 0, 1);
	KUNIT_ASSERT_EQ(test, 1, a->count);
	b = sharing_add(sharing, 1, 2);
	krdma_srq_want(&b->taker, 2);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	krdma_srq_yielded(&a->taker, 0);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	krdma_srq_want(&b->taker, 2);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	sharing_use(sharing, a);
	sharing_post(sharing, 1);
	KUNIT_EXPECT_EQ(test, 2, b->count);
	sharing_end(sharing);
}

/*
 * One that has asked may have got more than it needs: what it got unasked was under way.  So after
 * each use it may be asked for the rest, by those who want some then, and by those who do already.
 */
static void test_recall_of_too_many(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b;

	sharing_post(sharing, 2);
	a = sharing_add(sharing, 0, 1);
	b = sharing_add(sharing, 1, 2);
	KUNIT_ASSERT_EQ(test, 1, a->count);
	krdma_srq_want(&a->taker, 1);
	KUNIT_ASSERT_EQ(test, 2, a->count);
	sharing_use(sharing, a);
	krdma_srq_want(&b->taker, 1);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	krdma_srq_yielded(&a->taker, 1);
	KUNIT_EXPECT_EQ(test, 0, a->count);
	KUNIT_EXPECT_EQ(test, 1, b->count);

	sharing_use(sharing, b);
	krdma_srq_want(&a->taker, 2);
	sharing_post(sharing, 2);
	KUNIT_ASSERT_EQ(test, 2, a->count);
	krdma_srq_want(&b->taker, 1);
	KUNIT_EXPECT_EQ(test, 1, a->recalls);
	sharing_use(sharing, a);
	KUNIT_EXPECT_EQ(test, 2, a->recalls);
	sharing_end(sharing);
}

/* Those who want some take turns: the peers, and the takers of a peer. */
static void test_turns(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *holders = sharing->holders;

	for (u32 i = 0; i < 4; i++) {
		sharing_add(sharing, i, i / 2);
		krdma_srq_want(&holders[i].taker, 8);
	}
	sharing_post(sharing, 4);
	for (u32 i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, 1, holders[i].count);
	KUNIT_EXPECT_EQ(test, 0, holders[0].ids[0]);
	KUNIT_EXPECT_EQ(test, 1, holders[2].ids[0]);
	KUNIT_EXPECT_EQ(test, 2, holders[1].ids[0]);
	KUNIT_EXPECT_EQ(test, 3, holders[3].ids[0]);
	sharing_end(sharing);
}

/* One without room is passed over, and gets its turn when it has used one. */
static void test_without_room(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *a, *b;

	a = sharing_add(sharing, 0, 1);
	b = sharing_add(sharing, 1, 2);
	krdma_srq_want(&a->taker, 2);
	sharing_post(sharing, 1);
	KUNIT_ASSERT_EQ(test, 1, a->count);
	a->deaf = true;
	krdma_srq_want(&b->taker, 1);
	sharing_post(sharing, 3);
	KUNIT_EXPECT_EQ(test, 1, a->count);
	KUNIT_EXPECT_NE(test, 0, b->count);
	a->deaf = false;
	sharing_use(sharing, a);
	KUNIT_EXPECT_NE(test, 0, a->count);
	sharing_end(sharing);
}

/* What a taker holds when it ends goes to others, with its memory. */
static void test_end(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	u8 *buffer = kunit_kzalloc(test, 64, GFP_KERNEL);
	struct krdma_sge sge = { .addr = (uintptr_t)buffer, .length = 64 };
	struct krdma_recv_wr wr = { .wr_id = 99, .sges = &sge, .sge_count = 1 };
	struct holder *a, *b;
	int uses;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	/* Lanes cannot use memory without an MR. */
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, krdma_srq_post_recv(sharing->srq, &wr, 1));
	sge.mr = krdma_mr_register(sharing->pair->session, sharing->pair->dev, buffer, 64,
				   KRDMA_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(sge.mr));
	uses = atomic_read(&sge.mr->uses);
	KUNIT_ASSERT_EQ(test, 1, krdma_srq_post_recv(sharing->srq, &wr, 1));
	a = sharing_add(sharing, 0, 1);
	KUNIT_ASSERT_EQ(test, 1, a->count);
	KUNIT_EXPECT_EQ(test, uses + 1, atomic_read(&sge.mr->uses));
	b = sharing_add(sharing, 1, 2);
	krdma_srq_want(&b->taker, 1);
	KUNIT_EXPECT_EQ(test, 0, b->count);
	sharing_remove(sharing, a);
	KUNIT_EXPECT_EQ(test, 1, b->count);
	KUNIT_EXPECT_EQ(test, 99, b->ids[0]);
	KUNIT_EXPECT_EQ(test, 64, b->sges[0].length);
	KUNIT_EXPECT_PTR_EQ(test, sge.mr, b->sges[0].mr);
	KUNIT_EXPECT_EQ(test, uses + 1, atomic_read(&sge.mr->uses));
	sharing_end(sharing);
	/* No taker has used it: the end of the SRQ gives it back. */
	KUNIT_EXPECT_TRUE(test, conn_until(sharing->pair, atomic_read(&sge.mr->uses) == uses));
	krdma_mr_deregister(sge.mr);
}

/* The device gets half, and with takers not more than the pool keeps. */
static void test_share_of_device(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct krdma_srq_pool *pool = sharing->srq->pool;
	struct holder *a;

	sharing_post(sharing, 2);
	KUNIT_EXPECT_EQ(test, 0, pool->on_device);
	krdma_srq_pool_feed(sharing->srq, 1);
	KUNIT_EXPECT_EQ(test, 2, pool->on_device);
	sharing_post(sharing, DEPTH - 2);
	KUNIT_EXPECT_EQ(test, DEPTH / 2, pool->on_device);
	KUNIT_EXPECT_EQ(test, DEPTH / 2, pool->count);
	a = sharing_add(sharing, 0, 1);
	krdma_srq_want(&a->taker, SHARE);
	KUNIT_EXPECT_EQ(test, SHARE, a->count);
	krdma_srq_pool_feed(sharing->srq, -1);
	sharing_end(sharing);
}

static void note_ended(void *context)
{
	atomic_inc(context);
}

/*
 * A receive of which the MR has been dropped meanwhile goes to the device like any other, and so do
 * those behind it.  It keeps the MR.
 */
static void test_device_and_dropped_mr(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct krdma_srq_pool *pool = sharing->srq->pool;
	atomic_t *ended = kunit_kzalloc(test, sizeof(*ended), GFP_KERNEL);
	u8 *buffer = kunit_kzalloc(test, 64, GFP_KERNEL);
	struct krdma_sge sge = { .addr = (uintptr_t)buffer, .length = 64 };
	struct krdma_recv_wr wr = { .wr_id = 99, .sges = &sge, .sge_count = 1 };

	KUNIT_ASSERT_NOT_NULL(test, ended);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	sge.mr = krdma_mr_register(sharing->pair->session, sharing->pair->dev, buffer, 64,
				   KRDMA_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(sge.mr));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_notify(sge.mr, note_ended, NULL, ended));
	KUNIT_EXPECT_EQ(test, 1, krdma_srq_post_recv(sharing->srq, &wr, 1));
	sharing_post(sharing, 3);
	krdma_mr_drop(sge.mr);
	krdma_srq_pool_feed(sharing->srq, 1);
	KUNIT_EXPECT_EQ(test, 4, pool->on_device);
	KUNIT_EXPECT_EQ(test, 0, pool->count);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(ended));
	krdma_srq_pool_feed(sharing->srq, -1);
	sharing_end(sharing);
	KUNIT_EXPECT_TRUE(test, conn_until(sharing->pair, atomic_read(ended) == 1));
}

/* The only receive stays where a lane can get it. */
static void test_device_and_takers(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct krdma_srq_pool *pool = sharing->srq->pool;
	struct holder *a;

	a = sharing_add(sharing, 0, 1);
	krdma_srq_pool_feed(sharing->srq, 1);
	sharing_post(sharing, 1);
	KUNIT_EXPECT_EQ(test, 0, pool->on_device);
	KUNIT_EXPECT_EQ(test, 1, a->count);
	sharing_remove(sharing, a);
	KUNIT_EXPECT_EQ(test, 1, pool->on_device);
	krdma_srq_pool_feed(sharing->srq, -1);
	sharing_end(sharing);
}

/* A peer that asks without end gets no more than its share, and no taker more than it may hold. */
static void test_greed(struct kunit *test)
{
	struct sharing *sharing = sharing_begin(test);
	struct holder *holders = sharing->holders;
	u32 sum;

	sharing_post(sharing, DEPTH);
	for (u32 i = 0; i < 5; i++)
		sharing_add(sharing, i, 1);
	for (u32 round = 0; round < 1000; round++)
		krdma_srq_want(&holders[round % 5].taker, U32_MAX);
	sum = 0;
	for (u32 i = 0; i < 5; i++)
		sum += holders[i].count;
	KUNIT_EXPECT_EQ(test, SHARE, sum);
	KUNIT_EXPECT_EQ(test, DEPTH - SHARE, sharing->srq->pool->count);
	sharing_end(sharing);
}

static struct kunit_case krdma_srq_share_cases[] = {
	KUNIT_CASE(test_standing),
	KUNIT_CASE(test_share),
	KUNIT_CASE(test_share_outlives),
	KUNIT_CASE(test_recall),
	KUNIT_CASE(test_recall_of_a_share),
	KUNIT_CASE(test_recall_in_vain),
	KUNIT_CASE(test_recall_of_too_many),
	KUNIT_CASE(test_turns),
	KUNIT_CASE(test_without_room),
	KUNIT_CASE(test_end),
	KUNIT_CASE(test_share_of_device),
	KUNIT_CASE(test_device_and_dropped_mr),
	KUNIT_CASE(test_device_and_takers),
	KUNIT_CASE(test_greed),
	{}
};

static struct kunit_suite krdma_srq_share_suite = {
	.name = "krdma_srq_share",
	.init = test_objects_init,
	.test_cases = krdma_srq_share_cases,
};

kunit_test_suite(krdma_srq_share_suite);
