// SPDX-License-Identifier: GPL-2.0
/* The fake device does what its personality says: each member with an effect, for every driver. */
#include <linux/scatterlist.h>
#include <linux/string.h>

#include "fake_pair.h"
#include "fake_private.h"
#include "objects.h"

typedef void (*driver_test)(struct kunit *test, const struct fake_personality *driver,
			    struct pair *pair);

/* Runs a test on a device of each driver that has QPs for the kernel. */
static void each_driver(struct kunit *test, driver_test inner)
{
	struct pair *pair = pair_new(test);
	const struct fake_personality *driver;

	for (driver = fake_personalities; driver->name; driver++) {
		if (driver->lacks & FAKE_LACKS_KERNEL_RC)
			continue;
		pair_become(test, pair, driver);
		inner(test, driver, pair);
		pair_destroy(pair);
		if (test->status == KUNIT_FAILURE) {
			kunit_err(test, "this was %s", driver->name);
			return;
		}
	}
}

/* Waits for everything that is late. */
static void settle(struct pair *pair)
{
	flush_delayed_work(&pair->fake->flush_work);
}

static void test_names(struct kunit *test)
{
	const struct fake_personality *one, *other;
	unsigned int same;

	KUNIT_EXPECT_PTR_EQ(test, &fake_strict, fake_personality_find(""));
	KUNIT_EXPECT_PTR_EQ(test, &fake_strict, fake_personality_find(NULL));
	KUNIT_EXPECT_NULL(test, fake_personality_find("none"));
	for (one = fake_personalities; one->name; one++) {
		same = 0;
		for (other = fake_personalities; other->name; other++)
			same += !strcmp(one->name, other->name);
		KUNIT_EXPECT_EQ_MSG(test, 1, same, "%s", one->name);
		KUNIT_EXPECT_PTR_EQ(test, one, fake_personality_find(one->name));
		KUNIT_EXPECT_NE_MSG(test, 0, one->ports, "%s", one->name);
		KUNIT_EXPECT_NE_MSG(test, IB_WC_SUCCESS, one->remote_access, "%s", one->name);
	}
}

static void driver_leftovers(struct kunit *test, const struct fake_personality *driver,
			     struct pair *pair)
{
	struct side *a = &pair->a;
	bool dangles = driver->leftovers == FAKE_LEFTOVERS_DANGLE;
	struct ib_wc wc;

	pair_connect(test, pair, false);
	KUNIT_ASSERT_EQ(test, 0, side_modify(a, IB_QPS_ERR));
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 5, 0, 8, 0));
	settle(pair);
	KUNIT_ASSERT_EQ(test, 0, ib_destroy_qp(a->qp));
	a->qp = NULL;
	KUNIT_EXPECT_EQ(test, driver->leftovers != FAKE_LEFTOVERS_DROPPED,
			ib_poll_cq(a->cq, 1, &wc));
	KUNIT_EXPECT_EQ(test, dangles, atomic_xchg(&pair->fake->wrongs, 0));
}

static void test_leftovers(struct kunit *test)
{
	each_driver(test, driver_leftovers);
}

/* A message has arrived, and its QP is destroyed before the completion is polled. */
static void driver_slots_of_leftovers(struct kunit *test, const struct fake_personality *driver,
				      struct pair *pair)
{
	struct side *b = &pair->b;
	unsigned int i;

	if (driver->lacks & FAKE_LACKS_SRQ)
		return;
	pair_connect(test, pair, true);
	KUNIT_ASSERT_EQ(test, 0, side_receive(b, 1, 0, 8));
	KUNIT_ASSERT_EQ(test, 0, side_send(&pair->a, 1, 0, 8, 0));
	KUNIT_ASSERT_EQ(test, 0, ib_destroy_qp(b->qp));
	b->qp = NULL;
	for (i = 0; i < DEPTH - driver->srq_slots_lost; i++)
		KUNIT_EXPECT_EQ(test, 0, side_receive(b, i, 0, 8));
	KUNIT_EXPECT_EQ(test, -ENOMEM, side_receive(b, i, 0, 8));
}

static int try_qp(struct side *side, struct ib_qp_cap *cap, bool shared, u32 *number)
{
	struct ib_qp_init_attr attr = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.srq = shared ? side->srq : NULL,
		.cap = *cap,
		.qp_type = IB_QPT_RC,
	};
	struct ib_qp *qp = ib_create_qp(side->pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	*cap = attr.cap;
	*number = qp->qp_num;
	return ib_destroy_qp(qp);
}

static void test_slots_of_leftovers(struct kunit *test)
{
	each_driver(test, driver_slots_of_leftovers);
}

static void driver_queue_pairs(struct kunit *test, const struct fake_personality *driver,
			       struct pair *pair)
{
	struct ib_qp_cap cap = {
		.max_send_wr = 5, .max_recv_wr = 5, .max_send_sge = 1, .max_recv_sge = 1,
	};
	u32 first, second;

	pair_connect(test, pair, !(driver->lacks & FAKE_LACKS_SRQ));
	KUNIT_EXPECT_EQ(test, 0, try_qp(&pair->b, &cap, false, &first));
	KUNIT_EXPECT_EQ(test, driver->rounds_depth ? 8 : 5, cap.max_send_wr);
	KUNIT_EXPECT_EQ(test, driver->rounds_depth ? 8 : 5, cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, 0, try_qp(&pair->b, &cap, false, &second));
	KUNIT_EXPECT_EQ(test, driver->numbers_again, first == second);

	cap.max_recv_wr = 0;
	KUNIT_EXPECT_EQ(test, driver->wants_recv ? -EINVAL : 0,
			try_qp(&pair->b, &cap, false, &first));
	cap.max_recv_wr = 5;
	if (pair->b.srq)
		KUNIT_EXPECT_EQ(test, driver->srq_wants_no_recv ? -EINVAL : 0,
				try_qp(&pair->b, &cap, true, &first));
}

static void test_queue_pairs(struct kunit *test)
{
	each_driver(test, driver_queue_pairs);
}

static void driver_inline(struct kunit *test, const struct fake_personality *driver,
			  struct pair *pair)
{
	struct ib_qp_cap cap = {
		.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		.max_inline_data = 20,
	};
	int ret;
	u32 number;

	pair_connect(test, pair, false);
	ret = try_qp(&pair->a, &cap, false, &number);
	switch (driver->inline_grant) {
	case FAKE_INLINE_AS_ASKED:
		KUNIT_EXPECT_EQ(test, 20, cap.max_inline_data);
		break;
	case FAKE_INLINE_NONE:
		KUNIT_EXPECT_EQ(test, 0, cap.max_inline_data);
		break;
	case FAKE_INLINE_MORE:
		KUNIT_EXPECT_EQ(test, 48, cap.max_inline_data);
		break;
	case FAKE_INLINE_CAPPED:
		KUNIT_EXPECT_EQ(test, 32, cap.max_inline_data);
		break;
	case FAKE_INLINE_REFUSED:
		KUNIT_EXPECT_EQ(test, -EINVAL, ret);
		break;
	}
	if (driver->max_inline) {
		cap.max_inline_data = driver->max_inline + 1;
		ret = try_qp(&pair->a, &cap, false, &number);
		if (driver->inline_grant == FAKE_INLINE_CAPPED)
			KUNIT_EXPECT_EQ(test, driver->max_inline, cap.max_inline_data);
		else
			KUNIT_EXPECT_EQ(test, -EINVAL, ret);
	}

	/* If the driver does not look at the flag, the lkey matters. */
	KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, 1, 0, 8));
	ret = side_send(&pair->a, 1, 0, 8, IB_SEND_INLINE | IB_SEND_SIGNALED);
	if (driver->inline_grant == FAKE_INLINE_NONE && !driver->ignores_inline)
		KUNIT_EXPECT_EQ(test, -EINVAL, ret);
	else
		polls(test, &pair->a, 1, IB_WC_SUCCESS);
}

static void test_inline(struct kunit *test)
{
	each_driver(test, driver_inline);
}

static void driver_posts_are_refused(struct kunit *test, const struct fake_personality *driver,
				     struct pair *pair)
{
	struct ib_send_wr writes[DEPTH + 2] = {};
	struct ib_rdma_wr read = { .wr.opcode = IB_WR_RDMA_READ };
	const struct ib_send_wr *bad;
	struct side *a = &pair->a;
	unsigned int i;

	pair_connect(test, pair, false);
	KUNIT_EXPECT_EQ(test, driver->read_wants_sge ? -EINVAL : 0,
			ib_post_send(a->qp, &read.wr, NULL));
	KUNIT_EXPECT_EQ(test, driver->derefs_first_sge, atomic_xchg(&pair->fake->wrongs, 0));

	/* One more than there is room for. */
	fake_stall(pair->fake, NULL);
	for (i = 0; i < DEPTH + 2; i++) {
		writes[i].opcode = IB_WR_SEND;
		writes[i].wr_id = i;
		writes[i].next = i < DEPTH + 1 ? &writes[i + 1] : NULL;
	}
	KUNIT_EXPECT_EQ(test, -ENOMEM, ib_post_send(a->qp, writes, &bad));
	KUNIT_EXPECT_EQ(test, driver->full_blames_first, bad == writes);
	pair_destroy(pair);

	pair_connect(test, pair, false);
	fake_device_set_dead(pair->fake, true);
	KUNIT_EXPECT_EQ(test, driver->dead_post, side_send(a, 1, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, driver->dead_post, side_receive(a, 1, 0, 8));
	fake_device_set_dead(pair->fake, false);

	KUNIT_ASSERT_EQ(test, 0, side_modify(a, IB_QPS_RESET));
	KUNIT_EXPECT_EQ(test, driver->not_ready, side_send(a, 1, 0, 8, 0));
}

static void test_posts_are_refused(struct kunit *test)
{
	each_driver(test, driver_posts_are_refused);
}

/* The SGE is one of an earlier work request, and num_sge is 0. */
static void driver_first_entry(struct kunit *test, const struct fake_personality *driver,
			       struct pair *pair)
{
	struct ib_sge stale = { .length = 8 };
	struct ib_recv_wr recv_wr = { .sg_list = &stale };
	struct side *a = &pair->a;

	pair_connect(test, pair, false);
	stale.addr = (uintptr_t)a->buffer;
	stale.lkey = a->pd->local_dma_lkey;
	KUNIT_ASSERT_EQ(test, 0, ib_post_recv(a->qp, &recv_wr, NULL));
	KUNIT_ASSERT_EQ(test, 0, side_send(&pair->b, 1, 0, driver->takes_first_sge ? 8 : 0, 0));
	polls(test, a, 0, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, driver->takes_first_sge, !a->buffer[0]);
}

static void test_first_entry(struct kunit *test)
{
	each_driver(test, driver_first_entry);
}

/* An SGE without bytes; the peer allows access to no memory. */
static void driver_zero_length(struct kunit *test, const struct fake_personality *driver,
			       struct pair *pair)
{
	struct side *a = &pair->a;
	struct ib_sge sge = {};
	struct ib_recv_wr recv_wr = { .sg_list = &sge, .num_sge = 1 };

	pair_connect(test, pair, false);
	sge.lkey = a->pd->local_dma_lkey;
	KUNIT_ASSERT_EQ(test, 0, ib_post_recv(a->qp, &recv_wr, NULL));
	KUNIT_EXPECT_EQ(test, driver->zero_is_2g, atomic_xchg(&pair->fake->wrongs, 0));
	KUNIT_ASSERT_EQ(test, 0, side_rdma(a, IB_WR_RDMA_WRITE, 0, 0, 0));
	polls(test, a, IB_WR_RDMA_WRITE,
	      driver->zero_is_2g ? driver->remote_access : IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, driver->zero_is_2g, atomic_xchg(&pair->fake->wrongs, 0));
}

static void test_zero_length(struct kunit *test)
{
	each_driver(test, driver_zero_length);
}

static void driver_operations_lack(struct kunit *test, const struct fake_personality *driver,
				   struct pair *pair)
{
	static const struct {
		enum ib_wr_opcode opcode;
		unsigned int lack;
	} cases[] = {
		{ IB_WR_SEND_WITH_IMM, FAKE_LACKS_SEND_IMM },
		{ IB_WR_RDMA_WRITE_WITH_IMM, FAKE_LACKS_WRITE_IMM },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, FAKE_LACKS_ATOMICS | FAKE_LACKS_ATOMIC_POST },
		{ IB_WR_RDMA_READ_WITH_INV, FAKE_LACKS_READ_INV },
		{ IB_WR_LOCAL_INV, FAKE_LACKS_LOCAL_INV },
	};
	struct ib_atomic_wr wr = {};
	struct ib_sge sge = { .length = 8 };
	int ret, expected;
	unsigned int i;

	pair_connect(test, pair, false);
	fake_stall(pair->fake, NULL);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		wr.wr.opcode = cases[i].opcode;
		wr.wr.sg_list = &sge;
		wr.wr.num_sge = 1;
		expected = 0;
		if (driver->lacks & cases[i].lack)
			expected = -EINVAL;
		ret = ib_post_send(pair->a.qp, &wr.wr, NULL);
		KUNIT_EXPECT_EQ_MSG(test, expected, ret, "operation %d", cases[i].opcode);
	}
	KUNIT_EXPECT_EQ(test, !(driver->lacks & FAKE_LACKS_FAST_REG), !!pair->a.mr);
}

static void test_operations_lack(struct kunit *test)
{
	each_driver(test, driver_operations_lack);
}

static void driver_arming(struct kunit *test, const struct fake_personality *driver,
			  struct pair *pair)
{
	struct side *a = &pair->a;
	const int flags = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;

	pair_connect(test, pair, false);
	KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, 1, 0, 8));
	KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, 2, 0, 8));
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 1, 0, 8, IB_SEND_SIGNALED));
	KUNIT_EXPECT_EQ(test, driver->arm != FAKE_ARM_RINGS, ib_req_notify_cq(a->cq, flags));
	if (driver->arm == FAKE_ARM_RINGS)
		KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&a->rung, LONG_WHILE));
	KUNIT_EXPECT_FALSE(test, completion_done(&a->rung));

	KUNIT_ASSERT_EQ(test, 0, side_send(a, 2, 0, 8, IB_SEND_SIGNALED));
	if (driver->arm == FAKE_ARM_REPORTS)
		KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&a->rung, LONG_WHILE));
	else
		KUNIT_EXPECT_FALSE(test, completion_done(&a->rung));
}

static void test_arming(struct kunit *test)
{
	each_driver(test, driver_arming);
}

/* Two completions, of which one is polled. */
static void driver_arming_after_part(struct kunit *test, const struct fake_personality *driver,
				     struct pair *pair)
{
	struct side *a = &pair->a;
	const int flags = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct ib_wc wc;

	pair_connect(test, pair, false);
	for (unsigned int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, i, 0, 8));
		KUNIT_ASSERT_EQ(test, 0, side_send(a, i, 0, 8, IB_SEND_SIGNALED));
	}
	KUNIT_EXPECT_EQ(test, 1, ib_poll_cq(a->cq, 1, &wc));
	KUNIT_EXPECT_EQ(test, driver->arm != FAKE_ARM_RINGS && !driver->keeps_polled,
			ib_req_notify_cq(a->cq, flags));
	KUNIT_EXPECT_EQ(test, 1, ib_poll_cq(a->cq, 1, &wc));
}

static void test_arming_after_part(struct kunit *test)
{
	each_driver(test, driver_arming_after_part);
}

static void driver_flush_and_last_request(struct kunit *test,
					  const struct fake_personality *driver,
					  struct pair *pair)
{
	static const unsigned int times[] = { 1, 1, 2, 0 };
	struct fake_personality slow = *driver;
	struct side *b = &pair->b;

	/* Late enough for a poll before it. */
	if (driver->flush_ms)
		slow.flush_ms = 60000;
	pair->fake->personality = &slow;
	pair_connect(test, pair, !(driver->lacks & FAKE_LACKS_SRQ));
	fake_stall(pair->fake, b->qp);
	KUNIT_EXPECT_EQ(test, 0, side_send(b, 1, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, 0, side_modify(b, IB_QPS_ERR));
	if (driver->flush_ms) {
		polls_nothing(test, b);
		if (b->srq && driver->last_wqe == FAKE_LAST_WQE_ONCE)
			KUNIT_EXPECT_EQ(test, 0, b->events);
	}
	if (b->srq && driver->last_wqe != FAKE_LAST_WQE_ONCE)
		KUNIT_EXPECT_EQ(test, times[driver->last_wqe], b->events);
	settle(pair);
	polls(test, b, 1, IB_WC_WR_FLUSH_ERR);
	if (b->srq)
		KUNIT_EXPECT_EQ(test, times[driver->last_wqe], b->events);
	pair->fake->personality = driver;
}

static void test_flush_and_last_request(struct kunit *test)
{
	each_driver(test, driver_flush_and_last_request);
}

static void driver_statuses(struct kunit *test, const struct fake_personality *driver,
			    struct pair *pair)
{
	static const struct fake_fault general = { .nth = 1, .status = IB_WC_GENERAL_ERR };
	struct side *a = &pair->a;

	pair_connect(test, pair, false);
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 1, 0, 8, 0));
	polls(test, a, 1, driver->no_receive);
	pair_destroy(pair);

	pair_connect(test, pair, false);
	KUNIT_ASSERT_EQ(test, 0, side_rdma(a, IB_WR_RDMA_WRITE, 8, 0, 0x5a5a5a5a));
	polls(test, a, IB_WR_RDMA_WRITE, driver->remote_access);
	pair_destroy(pair);

	pair_connect(test, pair, false);
	a->pd->local_dma_lkey ^= 0x10;
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 1, 0, 8, 0));
	a->pd->local_dma_lkey ^= 0x10;
	polls(test, a, 1, driver->local_memory);
	pair_destroy(pair);

	pair_connect(test, pair, false);
	fake_set_fault(pair->fake, FAKE_SEND, &general);
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 1, 0, 8, 0));
	polls(test, a, 1, IB_WC_GENERAL_ERR);
	KUNIT_EXPECT_EQ(test, driver->general_err_stays ? IB_QPS_RTS : IB_QPS_ERR,
			fake_qp_state(a->qp));
}

static void test_statuses(struct kunit *test)
{
	each_driver(test, driver_statuses);
}

static void driver_memory(struct kunit *test, const struct fake_personality *driver,
			  struct pair *pair)
{
	struct side *a = &pair->a, *b = &pair->b;
	struct scatterlist list;
	unsigned int offset = 8;
	u64 address;

	pair_connect(test, pair, false);
	KUNIT_EXPECT_EQ(test, driver->reserved_lkey, !a->pd->__internal_mr);
	if (driver->reserved_lkey)
		KUNIT_EXPECT_EQ(test, driver->local_dma_lkey, a->pd->local_dma_lkey);
	/* Only the device itself can use it. */
	KUNIT_EXPECT_NE(test, IB_WC_SUCCESS,
			fake_qp_remote_write(a->qp, (uintptr_t)a->buffer, a->pd->local_dma_lkey,
					     "x", 1));
	if (!a->mr)
		return;

	fake_device_fail(pair->fake, FAKE_MAP_MR_SG, 1, -ENOSPC);
	KUNIT_EXPECT_EQ(test, driver->map_fails_with_0 ? 0 : -ENOSPC,
			ib_map_mr_sg(a->mr, NULL, 0, NULL, PAGE_SIZE));
	sg_init_one(&list, a->buffer, BUFFER);
	sg_dma_address(&list) = (uintptr_t)a->buffer;
	sg_dma_len(&list) = list.length;
	KUNIT_EXPECT_EQ(test, 1, ib_map_mr_sg(a->mr, &list, 1, &offset, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, (uintptr_t)a->buffer + (driver->map_offset_lost ? 0 : 8),
			a->mr->iova);

	address = pair_register(test, b);
	KUNIT_ASSERT_EQ(test, 0, side_rdma(a, IB_WR_RDMA_READ, 8, address, b->mr->rkey));
	polls(test, a, IB_WR_RDMA_READ, driver->read_sink_remote ? driver->local_memory :
	      IB_WC_SUCCESS);
}

static void test_memory(struct kunit *test)
{
	each_driver(test, driver_memory);
}

/* The second post of an MR that was mapped once. */
static void driver_posted_twice(struct kunit *test, const struct fake_personality *driver,
				struct pair *pair)
{
	struct side *a = &pair->a;
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED },
		.access = IB_ACCESS_LOCAL_WRITE,
	};

	pair_connect(test, pair, false);
	if (!a->mr || (driver->lacks & FAKE_LACKS_LOCAL_INV))
		return;
	pair_register(test, a);
	KUNIT_ASSERT_EQ(test, 0, side_invalidate(a, a->mr->rkey));
	polls(test, a, 0, IB_WC_SUCCESS);
	wr.mr = a->mr;
	wr.key = a->mr->rkey;
	KUNIT_ASSERT_EQ(test, 0, ib_post_send(a->qp, &wr.wr, NULL));
	KUNIT_EXPECT_EQ(test, driver->swaps_list, atomic_xchg(&pair->fake->wrongs, 0));
	settle(pair);
}

static void test_posted_twice(struct kunit *test)
{
	each_driver(test, driver_posted_twice);
}

/* mana: no QP can be created, and the error is returned at once. */
static void test_no_queue_pairs(struct kunit *test)
{
	struct pair *pair = pair_new(test);

	pair_become(test, pair, fake_personality_find("mana"));
	KUNIT_EXPECT_EQ(test, -EINVAL, side_create(pair->fake, &pair->a, false));
	pair_destroy(pair);
}

static struct kunit_case personality_cases[] = {
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_leftovers),
	KUNIT_CASE(test_slots_of_leftovers),
	KUNIT_CASE(test_queue_pairs),
	KUNIT_CASE(test_inline),
	KUNIT_CASE(test_posts_are_refused),
	KUNIT_CASE(test_first_entry),
	KUNIT_CASE(test_zero_length),
	KUNIT_CASE(test_operations_lack),
	KUNIT_CASE(test_arming),
	KUNIT_CASE(test_arming_after_part),
	KUNIT_CASE(test_flush_and_last_request),
	KUNIT_CASE(test_statuses),
	KUNIT_CASE(test_memory),
	KUNIT_CASE(test_posted_twice),
	KUNIT_CASE(test_no_queue_pairs),
	{}
};

static struct kunit_suite personality_suite = {
	.name = "krdma_personality",
	.init = test_objects_init,
	.test_cases = personality_cases,
};

kunit_test_suite(personality_suite);
