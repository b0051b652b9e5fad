// SPDX-License-Identifier: GPL-2.0
/* The fake device itself, its objects and its work requests: other tests rely on it. */
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "fake_pair.h"
#include "objects.h"

/*
 * Objects
 */

static void expect_live(struct kunit *test, struct fake_device *fake, int each)
{
	KUNIT_EXPECT_EQ(test, each, atomic_read(&fake->live[FAKE_PD]));
	KUNIT_EXPECT_EQ(test, each, atomic_read(&fake->live[FAKE_CQ]));
	KUNIT_EXPECT_EQ(test, each, atomic_read(&fake->live[FAKE_QP]));
	KUNIT_EXPECT_EQ(test, each, atomic_read(&fake->live[FAKE_SRQ]));
	/* Each PD has an MR, as the device has no lkey for all memory. */
	KUNIT_EXPECT_EQ(test, 2 * each, atomic_read(&fake->live[FAKE_MR]));
}

static void test_objects_are_counted(struct kunit *test)
{
	struct pair *pair = pair_new(test);

	expect_live(test, pair->fake, 0);
	KUNIT_ASSERT_EQ(test, 0, side_create(pair->fake, &pair->a, true));
	expect_live(test, pair->fake, 1);
	side_destroy(&pair->a);
	expect_live(test, pair->fake, 0);
}

static void test_scripts_fail_the_nth_call(struct kunit *test)
{
	static const enum fake_verb verbs[] = {
		FAKE_ALLOC_PD, FAKE_CREATE_CQ, FAKE_CREATE_QP, FAKE_CREATE_SRQ,
	};
	struct pair *pair = pair_new(test);
	struct fake_device *fake = pair->fake;
	struct side *side = &pair->a;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		fake_device_fail(fake, verbs[i], 2, -EREMOTEIO);
		KUNIT_ASSERT_EQ(test, 0, side_create(fake, side, true));
		side_destroy(side);
		KUNIT_EXPECT_EQ(test, -EREMOTEIO, side_create(fake, side, true));
		expect_live(test, fake, 0);
		KUNIT_ASSERT_EQ(test, 0, side_create(fake, side, true));
		side_destroy(side);
		KUNIT_EXPECT_EQ(test, 3, fake_device_calls(fake, verbs[i]));
	}
}

static void test_scripts_fail_work(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct fake_device *fake = pair->fake;
	struct ib_send_wr second = { .wr_id = 2, .opcode = IB_WR_SEND };
	struct ib_send_wr first = { .wr_id = 1, .opcode = IB_WR_SEND, .next = &second };
	const struct ib_send_wr *bad = NULL;

	fake_device_fail(fake, FAKE_POST_SEND, 2, -EREMOTEIO);
	fake_stall(fake, pair->a.qp);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, ib_post_send(pair->a.qp, &first, &bad));
	KUNIT_EXPECT_PTR_EQ(test, (const struct ib_send_wr *)&second, bad);
	fake_device_fail(fake, FAKE_POST_RECV, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, side_receive(&pair->a, 0, 0, 1));
	fake_device_fail(fake, FAKE_MODIFY_QP, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, side_modify(&pair->a, IB_QPS_ERR));
	polls_nothing(test, &pair->a);
	KUNIT_EXPECT_EQ(test, 0, side_modify(&pair->a, IB_QPS_ERR));
	polls(test, &pair->a, 1, IB_WC_WR_FLUSH_ERR);
	polls_nothing(test, &pair->a);

	fake_device_fail(fake, FAKE_MAP_MR_SG, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EINVAL, side_register(&pair->b, 0, ALL_RIGHTS));
	fake_device_fail(fake, FAKE_ALLOC_MR, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO,
			PTR_ERR_OR_ZERO(ib_alloc_mr(pair->a.pd, IB_MR_TYPE_MEM_REG, 1)));
	fake_device_fail(fake, FAKE_DEREG_MR, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, ib_dereg_mr(pair->a.mr));
	pair_destroy(pair);
}

static void test_depths_are_kept(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a;
	int i;

	for (i = 0; i < DEPTH; i++) {
		KUNIT_EXPECT_EQ(test, 0, side_receive(&pair->b, i, 0, 1));
		KUNIT_EXPECT_EQ(test, 0,
				side_send(a, i, 0, 1, i == DEPTH - 2 ? IB_SEND_SIGNALED : 0));
	}
	/* The work requests are done, but only polling frees the WQEs, all up to the one polled. */
	KUNIT_EXPECT_EQ(test, -ENOMEM, side_send(a, 0, 0, 1, 0));
	KUNIT_EXPECT_EQ(test, -ENOMEM, side_receive(&pair->b, 0, 0, 1));
	polls(test, a, DEPTH - 2, IB_WC_SUCCESS);
	polls_nothing(test, a);
	polls(test, &pair->b, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 0, side_receive(&pair->b, DEPTH, 0, 1));
	KUNIT_EXPECT_EQ(test, -ENOMEM, side_receive(&pair->b, 0, 0, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL, side_send(a, 0, 0, INLINE + 1, IB_SEND_INLINE));
	fake_stall(pair->fake, a->qp);
	for (i = 0; i < DEPTH - 1; i++)
		KUNIT_EXPECT_EQ(test, 0, side_send(a, 0, 0, INLINE, IB_SEND_INLINE));
	KUNIT_EXPECT_EQ(test, -ENOMEM, side_send(a, 0, 0, 1, 0));
	pair_destroy(pair);
}

/*
 * Data
 */

static void test_messages_arrive(struct kunit *test)
{
	static const int flags[] = {
		IB_SEND_SIGNALED, IB_SEND_SIGNALED | IB_SEND_INLINE, 0, IB_SEND_SOLICITED,
	};
	struct pair *pair = pair_connected(test);
	unsigned int i;
	struct ib_wc wc;

	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		memset(pair->b.buffer, 0, BUFFER);
		KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, i, 10, 50));
		KUNIT_ASSERT_EQ(test, 0, side_send(&pair->a, i, 5, 40, flags[i]));
		wc = polls(test, &pair->b, i, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, IB_WC_RECV, wc.opcode);
		KUNIT_EXPECT_EQ(test, 40, wc.byte_len);
		KUNIT_EXPECT_EQ(test, 0, wc.wc_flags);
		KUNIT_EXPECT_MEMEQ(test, pair->b.buffer + 10, pair->a.buffer + 5, 40);
		if (flags[i] & IB_SEND_SIGNALED)
			polls(test, &pair->a, i, IB_WC_SUCCESS);
		polls_nothing(test, &pair->a);
	}
	pair_destroy(pair);
}

static void test_memory_is_reached(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a, *b = &pair->b;
	u64 *word = (u64 *)(b->buffer + PAGE_SIZE);
	u64 base = pair_register(test, b);
	struct ib_wc wc;

	/* Across a page boundary. */
	KUNIT_ASSERT_EQ(test, 0, side_rdma(a, IB_WR_RDMA_WRITE, 100, base + PAGE_SIZE - 50,
					   b->mr->rkey));
	polls(test, a, IB_WR_RDMA_WRITE, IB_WC_SUCCESS);
	KUNIT_EXPECT_MEMEQ(test, b->buffer + PAGE_SIZE - 50, a->buffer, 100);
	polls_nothing(test, b);

	KUNIT_ASSERT_EQ(test, 0, side_receive(b, 7, 0, 0));
	KUNIT_ASSERT_EQ(test, 0, side_rdma(a, IB_WR_RDMA_WRITE_WITH_IMM, 9, base, b->mr->rkey));
	polls(test, a, IB_WR_RDMA_WRITE_WITH_IMM, IB_WC_SUCCESS);
	wc = polls(test, b, 7, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, IB_WC_RECV_RDMA_WITH_IMM, wc.opcode);
	KUNIT_EXPECT_EQ(test, IB_WC_WITH_IMM, wc.wc_flags);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE_WITH_IMM, be32_to_cpu(wc.ex.imm_data));
	KUNIT_EXPECT_EQ(test, 9, wc.byte_len);

	strscpy(b->buffer, "something to be read", BUFFER);
	/* Into memory by its lkey. */
	fake_device_read_like_siw(pair->fake);
	KUNIT_ASSERT_EQ(test, 0, side_rdma(a, IB_WR_RDMA_READ, 20, base, b->mr->rkey));
	wc = polls(test, a, IB_WR_RDMA_READ, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, 20, wc.byte_len);
	KUNIT_EXPECT_MEMEQ(test, a->buffer, b->buffer, 20);

	*word = 40;
	KUNIT_ASSERT_EQ(test, 0, fake_qp_remote_write(b->qp, base, b->mr->rkey, "x", 1));
	KUNIT_EXPECT_EQ(test, 'x', b->buffer[0]);
	KUNIT_ASSERT_EQ(test, 0, fake_qp_remote_read(b->qp, base + 1, b->mr->rkey, a->buffer, 1));
	KUNIT_EXPECT_EQ(test, 'o', a->buffer[0]);
	pair_destroy(pair);
}

/* As with iWARP cards: the response to a read needs an rkey that allows remote writes. */
static void test_reads_need_a_sink(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	u64 base = pair_register(test, &pair->b);

	KUNIT_ASSERT_EQ(test, 0, side_rdma(&pair->a, IB_WR_RDMA_READ, 20, base,
					   pair->b.mr->rkey));
	polls(test, &pair->a, IB_WR_RDMA_READ, IB_WC_LOC_PROT_ERR);
	pair_destroy(pair);
}

static void test_atomics(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a, *b = &pair->b;
	u64 *word = (u64 *)(b->buffer + PAGE_SIZE);
	u64 base = pair_register(test, b) + PAGE_SIZE;
	u64 *old = (u64 *)a->buffer;
	static const struct {
		enum ib_wr_opcode opcode;
		u64 add, swap, after;
	} steps[] = {
		{ IB_WR_ATOMIC_FETCH_AND_ADD, 2, 0, 42 },
		{ IB_WR_ATOMIC_CMP_AND_SWP, 41, 7, 42 },
		{ IB_WR_ATOMIC_CMP_AND_SWP, 42, 7, 7 },
	};
	unsigned int i;

	*word = 40;
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		u64 before = *word;

		KUNIT_ASSERT_EQ(test, 0, side_atomic(a, steps[i].opcode, steps[i].add,
						     steps[i].swap, base, b->mr->rkey));
		polls(test, a, 0, IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, before, *old);
		KUNIT_EXPECT_EQ(test, steps[i].after, *word);
	}
	pair_destroy(pair);
}

static void test_wrong_memory_is_refused(struct kunit *test)
{
	static const struct {
		enum ib_wr_opcode opcode;
		int access;
		s64 offset;
		u32 length;
		bool other_key;
		enum ib_wc_status status;
	} cases[] = {
		{ IB_WR_RDMA_WRITE, ALL_RIGHTS, 0, BUFFER, false, IB_WC_SUCCESS },
		{ IB_WR_RDMA_WRITE, ALL_RIGHTS, BUFFER - 1, 1, false, IB_WC_SUCCESS },
		{ IB_WR_RDMA_WRITE, ALL_RIGHTS, BUFFER, 1, false, IB_WC_REM_ACCESS_ERR },
		{ IB_WR_RDMA_WRITE, ALL_RIGHTS, -1, 1, false, IB_WC_REM_ACCESS_ERR },
		{ IB_WR_RDMA_WRITE, ALL_RIGHTS, 1, BUFFER, false, IB_WC_REM_ACCESS_ERR },
		{ IB_WR_RDMA_WRITE, ALL_RIGHTS, 0, 1, true, IB_WC_REM_ACCESS_ERR },
		{ IB_WR_RDMA_WRITE, IB_ACCESS_REMOTE_READ, 0, 1, false, IB_WC_REM_ACCESS_ERR },
		{ IB_WR_RDMA_READ, IB_ACCESS_REMOTE_READ, 0, 1, false, IB_WC_SUCCESS },
		{ IB_WR_RDMA_READ, IB_ACCESS_LOCAL_WRITE, 0, 1, false, IB_WC_REM_ACCESS_ERR },
		{ IB_WR_RDMA_READ, ALL_RIGHTS, BUFFER, 1, false, IB_WC_REM_ACCESS_ERR },
	};
	struct pair *pair = pair_new(test);
	struct side *a = &pair->a, *b = &pair->b;
	unsigned int i;

	/* A read can go to memory by its lkey. */
	fake_device_read_like_siw(pair->fake);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pair_connect(test, pair, false);
		KUNIT_ASSERT_EQ(test, 0, side_register(b, 0, cases[i].access));
		polls(test, b, 0, IB_WC_SUCCESS);
		KUNIT_ASSERT_EQ(test, 0, side_rdma(a, cases[i].opcode, cases[i].length,
						   b->mr->iova + cases[i].offset,
						   b->mr->rkey + cases[i].other_key));
		polls(test, a, cases[i].opcode, cases[i].status);
		KUNIT_EXPECT_EQ(test, cases[i].status != IB_WC_SUCCESS,
				fake_qp_state(a->qp) == IB_QPS_ERR);
		pair_destroy(pair);
	}
}

static void test_wrong_messages_are_refused(struct kunit *test)
{
	static const struct {
		u32 room, length;
		bool recv_wr;
		enum ib_wc_status sent, received;
	} cases[] = {
		{ 4, 4, true, IB_WC_SUCCESS, IB_WC_SUCCESS },
		{ 3, 4, true, IB_WC_REM_INV_REQ_ERR, IB_WC_LOC_LEN_ERR },
		{ 0, 4, false, IB_WC_RNR_RETRY_EXC_ERR, IB_WC_SUCCESS },
	};
	struct pair *pair = pair_new(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pair_connect(test, pair, false);
		if (cases[i].recv_wr)
			KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, 2, 0, cases[i].room));
		KUNIT_ASSERT_EQ(test, 0, side_send(&pair->a, 1, 0, cases[i].length,
						   IB_SEND_SIGNALED));
		polls(test, &pair->a, 1, cases[i].sent);
		if (cases[i].recv_wr)
			polls(test, &pair->b, 2, cases[i].received);
		polls_nothing(test, &pair->b);
		pair_destroy(pair);
	}
}

static void test_registrations_end(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a, *b = &pair->b;
	u64 base = pair_register(test, b);
	u32 key = b->mr->rkey;
	struct ib_wc wc;
	struct fake_message message = {
		.data = "bye", .length = 3, .flags = IB_WC_WITH_INVALIDATE, .rkey = key,
	};

	KUNIT_ASSERT_EQ(test, 0, side_invalidate(b, key));
	polls(test, b, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, fake_qp_remote_write(b->qp, base, key, "x", 1));

	/* An MR can be registered again only with another rkey. */
	message.rkey = 0;
	KUNIT_ASSERT_EQ(test, 0, side_receive(b, 3, 0, 8));
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR, fake_qp_receive(b->qp, &message));
	pair_register(test, b);
	KUNIT_EXPECT_NE(test, key, b->mr->rkey);
	message.rkey = b->mr->rkey;
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(b->qp, &message));
	wc = polls(test, b, 3, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, IB_WC_WITH_INVALIDATE, wc.wc_flags);
	KUNIT_EXPECT_EQ(test, b->mr->rkey, wc.ex.invalidate_rkey);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR,
			fake_qp_remote_write(b->qp, base, b->mr->rkey, "x", 1));
	KUNIT_ASSERT_EQ(test, 0, side_invalidate(b, b->mr->rkey));
	polls(test, b, 0, IB_WC_LOC_PROT_ERR);

	pair_register(test, a);
	KUNIT_ASSERT_EQ(test, 0, side_register(a, 0, ALL_RIGHTS));
	polls(test, a, 0, IB_WC_LOC_PROT_ERR);
	pair_destroy(pair);
}

static void test_shared_receives(struct kunit *test)
{
	struct pair *pair = pair_new(test);
	int i;

	pair_connect(test, pair, true);
	for (i = 0; i < DEPTH; i++)
		KUNIT_EXPECT_EQ(test, 0, side_receive(&pair->b, i, 0, 8));
	KUNIT_EXPECT_EQ(test, -ENOMEM, side_receive(&pair->b, 0, 0, 8));
	KUNIT_EXPECT_EQ(test, 0, side_send(&pair->a, 1, 0, 8, 0));
	polls(test, &pair->b, 0, IB_WC_SUCCESS);
	fake_device_fail(pair->fake, FAKE_POST_SRQ_RECV, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, side_receive(&pair->b, 0, 0, 8));

	/* They are not flushed, as they do not belong to the QP. */
	KUNIT_EXPECT_EQ(test, 0, side_modify(&pair->b, IB_QPS_ERR));
	KUNIT_EXPECT_EQ(test, IB_EVENT_QP_LAST_WQE_REACHED, pair->b.event);
	polls_nothing(test, &pair->b);
	pair_destroy(pair);
}

static void test_process_memory(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *b = &pair->b;
	unsigned long memory;
	struct ib_mr *mr;
	char byte = 0;

	memory = kunit_vm_mmap(test, NULL, 0, BUFFER, PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, memory);
	fake_device_fail(pair->fake, FAKE_REG_USER_MR, 2, -EREMOTEIO);
	mr = ib_reg_user_mr(b->pd, memory + 100, PAGE_SIZE, 0x10064, ALL_RIGHTS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, memory + 100, pair->fake->user_mr.start);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE, pair->fake->user_mr.length);
	KUNIT_EXPECT_EQ(test, 0x10064, pair->fake->user_mr.virt_addr);
	KUNIT_EXPECT_EQ(test, ALL_RIGHTS, pair->fake->user_mr.access);

	KUNIT_EXPECT_EQ(test, 0, fake_qp_remote_write(b->qp, 0x10064 + PAGE_SIZE - 1, mr->rkey,
						      "z", 1));
	KUNIT_EXPECT_EQ(test, 0, copy_from_user(&byte, (void __user *)memory + 99 + PAGE_SIZE, 1));
	KUNIT_EXPECT_EQ(test, 'z', byte);
	KUNIT_EXPECT_EQ(test, IB_WC_REM_ACCESS_ERR,
			fake_qp_remote_write(b->qp, 0x10064 + PAGE_SIZE, mr->rkey, "z", 1));
	ib_dereg_mr(mr);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO,
			PTR_ERR_OR_ZERO(ib_reg_user_mr(b->pd, memory, 1, 0, ALL_RIGHTS)));
	pair_destroy(pair);
}

static struct kunit_case fake_cases[] = {
	KUNIT_CASE(test_objects_are_counted),
	KUNIT_CASE(test_scripts_fail_the_nth_call),
	KUNIT_CASE(test_scripts_fail_work),
	KUNIT_CASE(test_depths_are_kept),
	KUNIT_CASE(test_messages_arrive),
	KUNIT_CASE(test_memory_is_reached),
	KUNIT_CASE(test_reads_need_a_sink),
	KUNIT_CASE(test_atomics),
	KUNIT_CASE(test_wrong_memory_is_refused),
	KUNIT_CASE(test_wrong_messages_are_refused),
	KUNIT_CASE(test_registrations_end),
	KUNIT_CASE(test_shared_receives),
	KUNIT_CASE(test_process_memory),
	{}
};

static struct kunit_suite fake_suite = {
	.name = "krdma_fake_device",
	.init = test_objects_init,
	.test_cases = fake_cases,
};

kunit_test_suite(fake_suite);
