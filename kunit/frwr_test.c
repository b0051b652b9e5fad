// SPDX-License-Identifier: GPL-2.0
/*
 * The QP that registers memory without a connection: on which port it is, how it is connected, how
 * long a caller waits for it, and which callers wait.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "fake_private.h"
#include "objects.h"
#include "stage.h"

#define LENGTH		5000
#define LID		0x21
#define ALL		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE)

/* Longest time of a work request and its flush together, and a short time. */
#define BOUND		(8 * HZ)
#define SOON		(2 * HZ)

/* A session on a device, and memory. */
struct site {
	struct stage *stage;
	struct fake_device *fake;
	struct krdma_device *dev;
	u8 *buffer;
};

static void site_put(void *context)
{
	struct site *site = context;

	/* Ends all waits for the device. */
	fake_device_let_go(site->fake);
	krdma_device_put(site->dev);
}

static struct site *site_new(struct kunit *test, void (*tune)(struct fake_device *fake))
{
	struct site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, site);
	site->buffer = kunit_kzalloc(test, LENGTH, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, site->buffer);
	site->stage = stage_new(test, tune);
	site->fake = site->stage->fake;
	site->dev = krdma_device_get_by_name(&init_net, STAGE_DEVICE);
	KUNIT_ASSERT_NOT_NULL(test, site->dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, site_put, site));
	return site;
}

static struct krdma_mr *site_map(struct site *site)
{
	return krdma_mr_register(site->stage->session, site->dev, site->buffer, LENGTH, ALL);
}

static struct krdma_mr *expect_map(struct kunit *test, struct site *site)
{
	struct krdma_mr *mr = site_map(site);

	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	return mr;
}

/* The QP that was created last; these tests create no others. */
static struct fake_qp *site_qp(struct kunit *test, struct site *site)
{
	struct fake_qp *qp = NULL;
	unsigned long flags;

	flags = fake_begin();
	if (!list_empty(&site->fake->qps))
		qp = list_last_entry(&site->fake->qps, struct fake_qp, entry);
	fake_end(flags);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	return qp;
}

/* The rkey is valid for all of the MR, in the PD. */
static void expect_reachable(struct kunit *test, struct site *site, struct krdma_mr *mr)
{
	struct ib_qp *qp = &site_qp(test, site)->ib;
	struct krdma_mr_info info;
	u8 *bytes;

	krdma_mr_query(mr, &info);
	bytes = kunit_kzalloc(test, LENGTH, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bytes);
	memset(bytes, 0x5a, LENGTH);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_remote_write(qp, info.remote_addr,
								  info.rkey, bytes, LENGTH));
	KUNIT_EXPECT_MEMEQ(test, bytes, site->buffer, LENGTH);
}

/*
 * Connection to itself
 */

static void roce(struct fake_device *fake)
{
	fake->roce_ports = BIT(1);
}

/* Proves: D3 */
static void test_connected_to_itself(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *mr = expect_map(test, site);
	struct fake_qp *qp = site_qp(test, site);

	expect_reachable(test, site, mr);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&site->fake->live[FAKE_QP]));
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, fake_qp_state(&qp->ib));
	KUNIT_EXPECT_EQ(test, 1, qp->attr.port_num);
	/* No other QP can connect to it, and no peer has access rights there. */
	KUNIT_EXPECT_EQ(test, qp->ib.qp_num, qp->attr.dest_qp_num);
	KUNIT_EXPECT_EQ(test, 0, qp->attr.qp_access_flags);
	KUNIT_EXPECT_EQ(test, qp->attr.sq_psn, qp->attr.rq_psn);
	KUNIT_EXPECT_EQ(test, 0, qp->attr.sq_psn >> 24);
	KUNIT_EXPECT_EQ(test, 0, qp->cqs[FAKE_RECEIVE].posted);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	/* The QP was destroyed with the PD. */
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&site->fake->live[FAKE_QP]));
}

/* The QP does not use the entry of a default GID, as long as there is another entry. */
static void test_default_entry_is_left_alone(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *mr = expect_map(test, site);
	const struct ib_gid_attr *entry = site_qp(test, site)->ib.av_sgid_attr;

	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_FALSE(test, rdma_link_local_addr((struct in6_addr *)&entry->gid));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* Another QP has another PSN. */
static void test_numbers_are_not_guessed(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *mr;
	unsigned int same = 0;
	u32 last = 0;

	for (int i = 0; i < 4; i++) {
		u32 psn;

		mr = expect_map(test, site);
		psn = site_qp(test, site)->attr.sq_psn;
		same += psn == last;
		last = psn;
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	}
	KUNIT_EXPECT_GT(test, 2, same);
}

static void three_ports(struct fake_device *fake)
{
	fake->ib.phys_port_cnt = 3;
	fake->roce_ports = BIT(1) | BIT(2) | BIT(3);
	fake->down_ports = BIT(1);
}

static void expect_port(struct kunit *test, struct site *site, u8 port)
{
	struct krdma_mr *mr = expect_map(test, site);

	expect_reachable(test, site, mr);
	KUNIT_EXPECT_EQ(test, port, site_qp(test, site)->attr.port_num);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&site->fake->live[FAKE_QP]));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* The first active port; if that one fails, another one; at last any port. */
static void test_every_port_is_tried(struct kunit *test)
{
	struct site *site = site_new(test, three_ports);

	expect_port(test, site, 2);
	site->fake->deaf_ports = BIT(2);
	expect_port(test, site, 3);
	site->fake->deaf_ports = BIT(2) | BIT(3);
	expect_port(test, site, 1);
	site->fake->deaf_ports = BIT(1) | BIT(2) | BIT(3);
	KUNIT_EXPECT_NE(test, 0, PTR_ERR_OR_ZERO(site_map(site)));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&site->fake->live[FAKE_QP]));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&site->fake->live[FAKE_CQ]));
	site->fake->deaf_ports = 0;
	expect_port(test, site, 2);
}

static void infiniband(struct fake_device *fake)
{
	fake->ib_ports = BIT(1);
	fake->port.lid = LID;
}

static void infiniband_by_gid(struct fake_device *fake)
{
	infiniband(fake);
	fake->grh_ports = BIT(1);
}

/* On ports with LIDs, the address is the LID; behind a router, also the GID. */
static void test_connected_by_lid(struct kunit *test)
{
	struct site *site = site_new(test, infiniband);
	struct krdma_mr *mr = expect_map(test, site);
	struct fake_qp *qp = site_qp(test, site);

	expect_reachable(test, site, mr);
	KUNIT_EXPECT_EQ(test, RDMA_AH_ATTR_TYPE_IB, qp->attr.ah_attr.type);
	KUNIT_EXPECT_EQ(test, LID, rdma_ah_get_dlid(&qp->attr.ah_attr));
	KUNIT_EXPECT_EQ(test, 0, rdma_ah_get_ah_flags(&qp->attr.ah_attr) & IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, qp->ib.qp_num, qp->attr.dest_qp_num);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

static void test_connected_by_lid_and_gid(struct kunit *test)
{
	struct site *site = site_new(test, infiniband_by_gid);
	struct krdma_mr *mr = expect_map(test, site);
	struct fake_qp *qp = site_qp(test, site);
	union ib_gid gid;

	expect_reachable(test, site, mr);
	KUNIT_ASSERT_EQ(test, 0, rdma_query_gid(&site->fake->ib, 1, 0, &gid));
	KUNIT_EXPECT_EQ(test, RDMA_AH_ATTR_TYPE_IB, qp->attr.ah_attr.type);
	KUNIT_EXPECT_EQ(test, LID, rdma_ah_get_dlid(&qp->attr.ah_attr));
	KUNIT_ASSERT_NE(test, 0, rdma_ah_get_ah_flags(&qp->attr.ah_attr) & IB_AH_GRH);
	KUNIT_EXPECT_MEMEQ(test, gid.raw, rdma_ah_read_grh(&qp->attr.ah_attr)->dgid.raw,
			   sizeof(gid));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* If the connection manager is needed, its allocations do not wait for writeback. */
static void test_manager_needs_no_io(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr *mr = expect_map(test, site);

	KUNIT_EXPECT_EQ(test, 2, atomic_read(&site->fake->live[FAKE_QP]));
	/* The accepting end.  The caller that registers creates the other one. */
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&site->fake->qps_noio));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* Whatever step the device refuses, another entry of the port's GID table may work. */
static void test_every_entry_is_tried(struct kunit *test)
{
	struct site *site = site_new(test, roce);

	for (unsigned int step = 1; step <= 3; step++) {
		fake_device_fail(site->fake, FAKE_MODIFY_QP, step, -EINVAL);
		expect_port(test, site, 1);
	}
	fake_device_fail(site->fake, FAKE_CREATE_QP, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, PTR_ERR_OR_ZERO(site_map(site)));
	fake_device_fail(site->fake, FAKE_CREATE_CQ, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, PTR_ERR_OR_ZERO(site_map(site)));
	expect_port(test, site, 1);
}

/* By the number of QPs that were created: some devices give a QP's number to the next one. */
static void expect_replaced(struct kunit *test, struct site *site, unsigned int times)
{
	KUNIT_EXPECT_EQ(test, times + 1, fake_device_calls(site->fake, FAKE_CREATE_QP));
}

/* A QP that has failed is replaced, whatever reports the failure. */
static void test_failed_one_is_replaced(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *first = expect_map(test, site);
	struct krdma_mr *mr;

	/* The QP went to error. */
	expect_replaced(test, site, 0);
	fake_qp_fail(&site_qp(test, site)->ib);
	mr = expect_map(test, site);
	expect_replaced(test, site, 1);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&site->fake->live[FAKE_QP]));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));

	/* The device raises an event. */
	fake_qp_event(&site_qp(test, site)->ib, IB_EVENT_QP_FATAL);
	mr = expect_map(test, site);
	expect_replaced(test, site, 2);
	expect_reachable(test, site, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(first));
}

/* A refused MR is invalid, and is not tried again.  The next one succeeds as usual. */
static void test_refused_registration(struct kunit *test)
{
	struct fake_fault fault = { .nth = 1, .status = IB_WC_LOC_PROT_ERR };
	struct site *site = site_new(test, roce);
	struct krdma_mr *mr = expect_map(test, site);
	int before = atomic_read(&site->fake->live[FAKE_MR]);

	fake_device_fail(site->fake, FAKE_POST_SEND, 0, 0);
	fake_set_fault(site->fake, FAKE_SEND, &fault);
	KUNIT_EXPECT_EQ(test, -EIO, PTR_ERR_OR_ZERO(site_map(site)));
	KUNIT_EXPECT_EQ(test, 1, fake_device_calls(site->fake, FAKE_POST_SEND));
	KUNIT_EXPECT_EQ(test, before, atomic_read(&site->fake->live[FAKE_MR]));
	fake_set_fault(site->fake, FAKE_SEND, NULL);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));

	mr = expect_map(test, site);
	expect_reachable(test, site, mr);
	expect_replaced(test, site, 1);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/*
 * What was posted and flushed is mapped again before it is posted again, because a driver may have
 * changed the list of pages.  What was not posted is not.
 */
static void test_flushed_registration_is_mapped_again(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *first = expect_map(test, site);
	struct krdma_mr *mr;

	fake_qp_fail(&site_qp(test, site)->ib);
	fake_device_fail(site->fake, FAKE_MAP_MR_SG, 0, 0);
	mr = expect_map(test, site);
	KUNIT_EXPECT_EQ(test, 2, fake_device_calls(site->fake, FAKE_MAP_MR_SG));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&site->fake->wrongs));
	expect_reachable(test, site, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));

	fake_device_fail(site->fake, FAKE_POST_SEND, 1, -EIO);
	fake_device_fail(site->fake, FAKE_MAP_MR_SG, 0, 0);
	mr = expect_map(test, site);
	KUNIT_EXPECT_EQ(test, 1, fake_device_calls(site->fake, FAKE_MAP_MR_SG));
	expect_reachable(test, site, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(first));
}

/*
 * A driver may accept no registration at all, or none with these rights, for as long as the device
 * exists.  That is not the QP's fault: another one would refuse it, too.
 */
static void test_refused_post(struct kunit *test)
{
	static const struct {
		int refusal;
		int error;
		unsigned int queue_pairs;
	} cases[] = {
		{ -EINVAL, -EOPNOTSUPP, 1 },
		{ -EOPNOTSUPP, -EOPNOTSUPP, 1 },
		/* Only the first post fails. */
		{ -EIO, 0, 2 },
		{ -ENOMEM, 0, 2 },
	};
	struct site *site = site_new(test, roce);

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct krdma_mr *mr;

		fake_device_fail(site->fake, FAKE_CREATE_QP, 0, 0);
		fake_device_fail(site->fake, FAKE_POST_SEND, 1, cases[i].refusal);
		mr = site_map(site);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].error, PTR_ERR_OR_ZERO(mr), "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].queue_pairs,
				    fake_device_calls(site->fake, FAKE_CREATE_QP), "case %u", i);
		if (!IS_ERR(mr))
			KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&site->fake->live[FAKE_QP]));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&site->fake->live[FAKE_MR]));
	}
}

/* A QP that has registered memory may be lost since: drivers refuse its posts in that way, too. */
static void test_refused_by_old_one(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *first = expect_map(test, site);
	struct krdma_mr *mr;

	fake_device_fail(site->fake, FAKE_CREATE_QP, 0, 0);
	fake_device_fail(site->fake, FAKE_POST_SEND, 1, -EINVAL);
	mr = expect_map(test, site);
	KUNIT_EXPECT_EQ(test, 1, fake_device_calls(site->fake, FAKE_CREATE_QP));
	expect_reachable(test, site, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(first));
}

/*
 * Waiting
 */

/* A thread that registers memory, and can be killed. */
struct caller {
	struct site *site;
	struct task_struct *task;
	struct completion done;
	int result;
};

static int caller_thread(void *context)
{
	struct caller *caller = context;
	struct krdma_mr *mr;

	allow_signal(SIGKILL);
	mr = site_map(caller->site);
	caller->result = PTR_ERR_OR_ZERO(mr);
	if (!IS_ERR(mr))
		krdma_mr_deregister(mr);
	complete_all(&caller->done);
	return 0;
}

static void caller_start(struct kunit *test, struct caller *caller, struct site *site)
{
	caller->site = site;
	init_completion(&caller->done);
	caller->task = kthread_create(caller_thread, caller, "caller");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, caller->task);
	get_task_struct(caller->task);
	wake_up_process(caller->task);
}

static bool caller_returns(struct caller *caller, unsigned long timeout)
{
	return wait_for_completion_timeout(&caller->done, timeout);
}

static void caller_kill(struct caller *caller)
{
	send_sig(SIGKILL, caller->task, 1);
}

/* The thread returns once the device works again, whatever the result. */
static void caller_end(struct kunit *test, struct caller *caller)
{
	fake_device_let_go(caller->site->fake);
	KUNIT_EXPECT_TRUE(test, caller_returns(caller, STAGE_LONG));
	put_task_struct(caller->task);
}

/*
 * The device takes work requests, and neither executes nor flushes any.  Some drivers refuse them
 * when the device is dead: there its completions do not come.
 */
static void site_hang(struct site *site)
{
	fake_stall(site->fake, NULL);
	if (site->fake->personality->dead_post)
		fake_hold(site->fake, NULL);
	else
		fake_device_set_dead(site->fake, true);
}

static void expect_bounded(struct kunit *test, struct site *site)
{
	struct caller caller;

	site_hang(site);
	caller_start(test, &caller, site);
	KUNIT_EXPECT_TRUE(test, caller_returns(&caller, BOUND));
	caller_end(test, &caller);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, caller.result);
}

static void test_no_answer_is_waited_for_in_bounds(struct kunit *test)
{
	struct site *site = site_new(test, roce);

	expect_bounded(test, site);
	expect_port(test, site, 1);
}

static void test_no_answer_of_iwarp_either(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr *mr = expect_map(test, site);

	expect_bounded(test, site);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* One thread waits for the device, and one waits for the first thread. */
static void test_waiters_can_be_killed(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *mr = expect_map(test, site);
	struct caller callers[2];

	site_hang(site);
	for (unsigned int i = 0; i < ARRAY_SIZE(callers); i++) {
		caller_start(test, &callers[i], site);
		KUNIT_EXPECT_FALSE(test, caller_returns(&callers[i], HZ / 10));
	}
	for (int i = ARRAY_SIZE(callers) - 1; i >= 0; i--) {
		caller_kill(&callers[i]);
		KUNIT_EXPECT_TRUE_MSG(test, caller_returns(&callers[i], SOON), "caller %d", i);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(callers); i++) {
		caller_end(test, &callers[i]);
		KUNIT_EXPECT_EQ(test, -EINTR, callers[i].result);
	}
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	expect_port(test, site, 1);
}

/*
 * While an iWARP device is being connected to itself, callers can be killed.  As long as the
 * provider reports nothing at all, iw_cm delays the end of the attempt, but no caller waits for its
 * success any more.
 */
static void test_connecting_can_be_killed(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct caller caller;

	site->fake->cm_manual = FAKE_MANUAL_CONNECT;
	caller_start(test, &caller, site);
	KUNIT_EXPECT_FALSE(test, caller_returns(&caller, HZ / 10));
	caller_kill(&caller);
	KUNIT_EXPECT_FALSE(test, caller_returns(&caller, HZ / 10));
	fake_device_let_go(site->fake);
	KUNIT_EXPECT_TRUE(test, caller_returns(&caller, SOON));
	caller_end(test, &caller);
	KUNIT_EXPECT_EQ(test, -EINTR, caller.result);
}

/* A caller that waits does not block the removal of the device. */
static void test_device_goes(struct kunit *test)
{
	struct site *site = site_new(test, roce);
	struct krdma_mr *mr = expect_map(test, site);

	test_device_unregister(site->stage->device);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&site->fake->live[FAKE_QP]));
	KUNIT_EXPECT_EQ(test, -ENODEV, PTR_ERR_OR_ZERO(site_map(site)));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

static struct kunit_case frwr_cases[] = {
	KUNIT_CASE(test_connected_to_itself),
	KUNIT_CASE(test_default_entry_is_left_alone),
	KUNIT_CASE(test_numbers_are_not_guessed),
	KUNIT_CASE(test_every_port_is_tried),
	KUNIT_CASE(test_connected_by_lid),
	KUNIT_CASE(test_connected_by_lid_and_gid),
	KUNIT_CASE(test_manager_needs_no_io),
	KUNIT_CASE(test_every_entry_is_tried),
	KUNIT_CASE(test_failed_one_is_replaced),
	KUNIT_CASE(test_refused_registration),
	KUNIT_CASE(test_flushed_registration_is_mapped_again),
	KUNIT_CASE(test_refused_post),
	KUNIT_CASE(test_refused_by_old_one),
	KUNIT_CASE_SLOW(test_no_answer_is_waited_for_in_bounds),
	KUNIT_CASE_SLOW(test_no_answer_of_iwarp_either),
	KUNIT_CASE(test_waiters_can_be_killed),
	KUNIT_CASE(test_connecting_can_be_killed),
	KUNIT_CASE(test_device_goes),
	{}
};

static int frwr_init(struct kunit *test)
{
	test_needs_fast_reg(test);
	return test_objects_init(test);
}

static struct kunit_suite frwr_suite = {
	.name = "krdma_frwr",
	.init = frwr_init,
	.test_cases = frwr_cases,
};

kunit_test_suite(frwr_suite);
