// SPDX-License-Identifier: GPL-2.0
/*
 * Many MRs, and other parts of a device, that end at a time, over a fake device: those of one user
 * keep nothing of another user waiting.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "core/resource.h"
#include "mr/mr.h"
#include "objects.h"
#include "stage.h"
#include "user/limits.h"
#include "user/user.h"

/* More than the MRs that end at the same time. */
#define CROWD		20
/* Longer than the end of an MR takes on any machine. */
#define PROMPT_MS	10000
#define PROMPT		(10 * HZ)

#define SOME_USER	1000

/**
 * struct site - what a test has
 * @stage: a device, a listener, and a session of a kernel module
 * @dev: the device
 * @buffer: memory of all MRs, a page
 * @wake: ends the sleep of all crowds, because one can wait for the places of another one
 */
struct site {
	struct stage *stage;
	struct krdma_device *dev;
	void *buffer;
	struct completion wake;
};

static void site_put(void *context)
{
	struct site *site = context;

	krdma_device_put(site->dev);
}

static struct site *site_new(struct kunit *test, void (*tune)(struct fake_device *fake))
{
	struct site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, site);
	site->buffer = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, site->buffer);
	init_completion(&site->wake);
	site->stage = stage_new(test, tune);
	stage_listen(site->stage);
	site->dev = krdma_device_get_by_name(&init_net, STAGE_DEVICE);
	KUNIT_ASSERT_NOT_NULL(test, site->dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, site_put, site));
	return site;
}

static struct krdma_mr *site_register(struct site *site, struct krdma_session *session)
{
	return krdma_mr_register(session, site->dev, site->buffer, PAGE_SIZE,
				 KRDMA_ACCESS_LOCAL_WRITE);
}

/**
 * struct other - what another user has, and ends while a crowd does
 * @work: closes @listener in a thread of its own, because that can wait without end
 * @listener: the listener; NULL: it is an MR
 * @ended: it has ended
 */
struct other {
	struct work_struct work;
	struct krdma_listener *listener;
	struct completion ended;
};

static void other_close(struct work_struct *work)
{
	struct other *other = container_of(work, struct other, work);

	krdma_listener_close(other->listener);
	complete(&other->ended);
}

static void other_ended(void *context)
{
	struct other *other = context;

	complete(&other->ended);
}

/* If it does not end, neither would the test. */
static void expect_ended(struct kunit *test, struct site *site, struct other *other)
{
	if (wait_for_completion_timeout(&other->ended, PROMPT))
		return;
	KUNIT_FAIL(test, "%s waits for the MRs of others",
		   other->listener ? "a listener" : "an MR");
	complete_all(&site->wake);
	wait_for_completion(&other->ended);
}

static void expect_other_listener_ends(struct kunit *test, struct site *site)
{
	struct other other = { .listener = site->stage->listener };

	init_completion(&other.ended);
	INIT_WORK_ONSTACK(&other.work, other_close);
	queue_work(site->stage->works, &other.work);
	expect_ended(test, site, &other);
	flush_work(&other.work);
	destroy_work_on_stack(&other.work);
}

static void expect_mr_ends(struct kunit *test, struct site *site, struct krdma_mr *mr)
{
	struct other other = {};

	init_completion(&other.ended);
	KUNIT_ASSERT_EQ(test, 0, krdma_mr_notify(mr, other_ended, NULL, &other));
	krdma_mr_drop(mr);
	expect_ended(test, site, &other);
}

static void expect_other_mr_ends(struct kunit *test, struct site *site)
{
	struct krdma_mr *mr = site_register(site, site->stage->session);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	expect_mr_ends(test, site, mr);
}

static void expect_others_end(struct kunit *test, struct site *site)
{
	expect_other_mr_ends(test, site);
	expect_other_listener_ends(test, site);
}

/**
 * struct dawdler - an MR whose consumer keeps the work item that ends it
 * @crowd: its crowd
 * @mr: the MR; valid until @asleep
 * @asleep: the consumer has heard of the end, and keeps it
 */
struct dawdler {
	struct dawdlers *crowd;
	struct krdma_mr *mr;
	bool asleep;
};

/**
 * struct dawdlers - a crowd of them
 * @site: what the test has
 * @asleep: number of consumers that have heard of the end
 * @over: number of those that do not keep it any more
 * @dropped: number of MRs that were dropped
 * @account: of their sessions; NULL: they are of a kernel module
 * @sessions: their sessions: one, or one for each
 * @dawdler: the MRs
 */
struct dawdlers {
	struct site *site;
	atomic_t asleep;
	atomic_t over;
	int dropped;
	struct krdma_user_account *account;
	struct krdma_session *sessions[CROWD];
	struct dawdler dawdler[CROWD];
};

static void dawdler_ended(void *context)
{
	struct dawdler *dawdler = context;
	struct dawdlers *crowd = dawdler->crowd;

	WRITE_ONCE(dawdler->asleep, true);
	atomic_inc(&crowd->asleep);
	wait_for_completion(&crowd->site->wake);
	atomic_inc(&crowd->over);
}

/* Also when the test has failed: otherwise the work items would keep those of all later tests. */
static void dawdlers_release(void *context)
{
	struct dawdlers *crowd = context;

	complete_all(&crowd->site->wake);
	while (atomic_read(&crowd->over) != crowd->dropped)
		msleep(20);
	for (unsigned int i = 0; i < CROWD && crowd->sessions[i]; i++)
		krdma_session_put(crowd->sessions[i]);
	if (crowd->account)
		krdma_user_account_put(crowd->account);
}

static void dawdler_drop(struct kunit *test, struct dawdlers *crowd, struct dawdler *dawdler,
			 struct krdma_session *session)
{
	dawdler->crowd = crowd;
	dawdler->mr = site_register(crowd->site, session);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dawdler->mr);
	KUNIT_ASSERT_EQ(test, 0, krdma_mr_notify(dawdler->mr, dawdler_ended, NULL, dawdler));
	crowd->dropped++;
	krdma_mr_drop(dawdler->mr);
}

/* A crowd with sessions of a user, or of no user.  All its MRs are to end, and none does. */
static struct dawdlers *dawdlers_begin(struct kunit *test, struct site *site,
				       unsigned int sessions, unsigned int user)
{
	struct dawdlers *crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, crowd);
	crowd->site = site;
	crowd->account = user ? stage_account(test, user, 0) : NULL;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dawdlers_release, crowd));
	for (unsigned int i = 0; i < sessions; i++) {
		crowd->sessions[i] = krdma_session_create(&init_net);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, crowd->sessions[i]);
		if (user)
			krdma_user_account_pays(crowd->account, crowd->sessions[i]);
	}
	for (unsigned int i = 0; i < CROWD; i++)
		dawdler_drop(test, crowd, &crowd->dawdler[i], crowd->sessions[i % sessions]);
	return crowd;
}

static void expect_asleep(struct kunit *test, struct dawdlers *crowd, int count)
{
	for (int i = 0; i < PROMPT_MS / 20 && atomic_read(&crowd->asleep) != count; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, count, atomic_read(&crowd->asleep));
}

/* While none of the MRs begins to end. */
static unsigned int queued_of(struct dawdlers *crowd)
{
	unsigned int queued = 0;

	for (unsigned int i = 0; i < CROWD; i++) {
		struct dawdler *dawdler = &crowd->dawdler[i];

		queued += !READ_ONCE(dawdler->asleep) && work_pending(&dawdler->mr->res.work.work);
	}
	return queued;
}

/* Each crowd has @sessions, of a user of its own or of none. */
static void expect_turns(struct kunit *test, unsigned int sessions, unsigned int user)
{
	struct site *site = site_new(test, NULL);
	struct dawdlers *crowds[3];

	crowds[0] = dawdlers_begin(test, site, sessions, user);
	expect_asleep(test, crowds[0], KRDMA_ENDS_AT_ONCE / 2);
	KUNIT_EXPECT_EQ(test, 0, queued_of(crowds[0]));
	expect_others_end(test, site);

	/* Two crowds have all places; of a third one, a single MR is in the queue. */
	crowds[1] = dawdlers_begin(test, site, sessions, user ? user + 1 : 0);
	expect_asleep(test, crowds[1], KRDMA_ENDS_AT_ONCE / 2);
	crowds[2] = dawdlers_begin(test, site, sessions, user ? user + 2 : 0);
	KUNIT_EXPECT_EQ(test, 0, queued_of(crowds[0]) + queued_of(crowds[1]));
	KUNIT_EXPECT_EQ(test, 1, queued_of(crowds[2]));

	complete_all(&site->wake);
	for (unsigned int i = 0; i < ARRAY_SIZE(crowds); i++)
		expect_asleep(test, crowds[i], CROWD);
}

/*
 * MRs of a session that end keep neither an MR nor a listener of another one waiting, however many
 * they are: they have half of the work items, and one place in the queue.
 */
/* Proves: F6 */
static void test_turns_of_sessions(struct kunit *test)
{
	expect_turns(test, 1, 0);
}

/* Those of a user have no more, however many sessions they are in. */
/* Proves: F6 */
static void test_turns_of_users(struct kunit *test)
{
	expect_turns(test, CROWD, SOME_USER);
}

/* The sessions of a user take turns: one with many MRs keeps no other one waiting. */
/* Proves: F6 */
static void test_turns_in_a_user(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct dawdlers *many, *few;

	many = dawdlers_begin(test, site, 1, SOME_USER);
	expect_asleep(test, many, KRDMA_ENDS_AT_ONCE / 2);
	few = dawdlers_begin(test, site, 1, SOME_USER);
	KUNIT_EXPECT_EQ(test, 0, queued_of(few));
	/* The first of two places goes to the one that waits for longer. */
	complete(&site->wake);
	complete(&site->wake);
	expect_asleep(test, few, 1);
	expect_asleep(test, many, KRDMA_ENDS_AT_ONCE / 2 + 1);

	complete_all(&site->wake);
	expect_asleep(test, many, CROWD);
	expect_asleep(test, few, CROWD);
}

/*
 * A CQ, and an SRQ with another one.  A CQ ends after a grace period, and that of the SRQ after it.
 */
static void queues_come_and_go(struct kunit *test, struct site *site,
			       struct krdma_session *session)
{
	struct krdma_cq_attr cq_attr = {
		.depth = 4, .where = KRDMA_CONTEXT_POLL, .vector = -1, .session = session,
	};
	struct krdma_srq_attr srq_attr = { .depth = 4 };
	struct krdma_srq *srq;
	struct krdma_cq *cq;

	cq = krdma_cq_create(site->dev, &cq_attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	krdma_cq_put(cq);

	cq = krdma_cq_create(site->dev, &cq_attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, cq);
	srq_attr.cq = cq;
	srq = krdma_srq_create(session, &srq_attr);
	krdma_cq_put(cq);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, srq);
	krdma_srq_close(srq);
	krdma_srq_put(srq);
}

static void expect_queues(struct kunit *test, struct site *site, int cqs, int srqs)
{
	atomic_t *live = site->stage->fake->live;

	for (int i = 0; i < PROMPT_MS / 20 && (atomic_read(&live[FAKE_CQ]) != cqs ||
					       atomic_read(&live[FAKE_SRQ]) != srqs); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, cqs, atomic_read(&live[FAKE_CQ]));
	KUNIT_EXPECT_EQ(test, srqs, atomic_read(&live[FAKE_SRQ]));
}

/* CQs and SRQs have turns with the MRs of their user. */
/* Proves: F6 */
static void test_turns_of_queues(struct kunit *test)
{
	struct site *site = site_new(test, fake_device_offer_srq);
	int cqs = atomic_read(&site->stage->fake->live[FAKE_CQ]);
	struct dawdlers *crowd;

	crowd = dawdlers_begin(test, site, 1, SOME_USER);
	expect_asleep(test, crowd, KRDMA_ENDS_AT_ONCE / 2);
	queues_come_and_go(test, site, crowd->sessions[0]);
	/* Those of another user are younger. */
	queues_come_and_go(test, site, site->stage->session);
	expect_queues(test, site, cqs + 2, 1);

	complete_all(&site->wake);
	expect_queues(test, site, cqs, 0);
	expect_asleep(test, crowd, CROWD);
}

/* A thread that waits for the end of an MR ends it itself, and needs no turn. */
static void test_deregistration_needs_no_turn(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct dawdlers *crowd;
	struct krdma_mr *mr;

	crowd = dawdlers_begin(test, site, 1, 0);
	expect_asleep(test, crowd, KRDMA_ENDS_AT_ONCE / 2);
	mr = site_register(site, crowd->sessions[0]);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, KRDMA_ENDS_AT_ONCE / 2, atomic_read(&crowd->asleep));
	complete_all(&site->wake);
	expect_asleep(test, crowd, CROWD);
}

/* The session, which has the turns, stays until the last MR in it has had its turn. */
/* Proves: B8 */
static void test_last_turn_of_a_session(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_session *session;
	struct krdma_mr *mr;

	session = krdma_session_create(&init_net);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
	mr = site_register(site, session);
	krdma_session_put(session);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	expect_mr_ends(test, site, mr);
}

/* The removal of a device ends: all MRs for which it waits have their turns. */
/* Proves: B8 */
static void test_device_goes_during_turns(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct dawdlers *crowd;

	crowd = dawdlers_begin(test, site, 1, SOME_USER);
	expect_asleep(test, crowd, KRDMA_ENDS_AT_ONCE / 2);
	complete_all(&site->wake);
	test_device_unregister(site->stage->device);
	KUNIT_EXPECT_EQ(test, CROWD, atomic_read(&crowd->over));
}

static struct kunit_case mr_turn_cases[] = {
	KUNIT_CASE(test_turns_of_sessions),
	KUNIT_CASE(test_turns_of_users),
	KUNIT_CASE(test_turns_in_a_user),
	KUNIT_CASE(test_turns_of_queues),
	KUNIT_CASE(test_deregistration_needs_no_turn),
	KUNIT_CASE(test_last_turn_of_a_session),
	KUNIT_CASE(test_device_goes_during_turns),
	{}
};

static struct kunit_suite mr_turn_suite = {
	.name = "krdma_mr_turns",
	.init = test_objects_init,
	.test_cases = mr_turn_cases,
};

kunit_test_suite(mr_turn_suite);
