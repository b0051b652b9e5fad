// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a QP with an SRQ, on a device that does as cards do: destroying the QP removes its
 * completions that were not polled.  To the peer these messages are acknowledged.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include <krdma/krdma.h>

#include "cm/conn.h"
#include "conn_fixture.h"
#include "objects.h"
#include "io/cq.h"

#define DEPTH	400
/* Completions of another connection; more than any poller takes at a time. */
#define OTHERS	300
#define MESSAGES	20

/* Shorter than krdma waits for a device that does not report the last WQE. */
#define AT_ONCE	(HZ / 4)
/* Longer than that, and shorter than krdma waits for a device that does not flush. */
#define SOON	(2 * HZ)

static const enum krdma_context contexts[] = {
	KRDMA_CONTEXT_WORKQUEUE,
	KRDMA_CONTEXT_SOFTIRQ,
	KRDMA_CONTEXT_POLL,
};

static void like_a_card(struct fake_device *fake)
{
	fake->attr.max_srq_wr = DEPTH;
	fake->destroy_drops_cqes = true;
}

/* A device that never reports the last WQE is one of a driver of which krdma knows that. */
static void like_a_known_card(struct fake_device *fake)
{
	like_a_card(fake);
	if (fake->personality->last_wqe == FAKE_LAST_WQE_NEVER)
		fake_device_name_driver(fake);
}

static struct conn_pair *srq_pair_on(struct kunit *test, void (*tune)(struct fake_device *fake),
				     enum krdma_context where, bool apart)
{
	struct conn_setup setup = {
		.where = where,
		.srq_depth = DEPTH,
		.srq_apart = apart,
		.tune = tune,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);

	KUNIT_ASSERT_EQ(test, DEPTH, conn_receive_empty(&pair->server, DEPTH));
	return pair;
}

static struct conn_pair *srq_pair(struct kunit *test, enum krdma_context where, bool apart)
{
	return srq_pair_on(test, like_a_card, where, apart);
}

static void send_messages(struct kunit *test, struct conn_end *end, u32 count)
{
	struct fake_message message = {};

	while (count--)
		KUNIT_ASSERT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(conn_qp(end), &message));
}

/* Every work request has completed or was flushed, and none completed twice. */
static void expect_end(struct kunit *test, struct conn_pair *pair, u32 received)
{
	conn_end_close(&pair->client);
	conn_end_close(&pair->server);
	KUNIT_EXPECT_EQ(test, received, conn_told(&pair->shared));
	KUNIT_EXPECT_EQ(test, 0, pair->shared.failed);
	/* Completed receives give back their credits. */
	KUNIT_EXPECT_EQ(test, (int)received ?: -EAGAIN, conn_receive_empty(&pair->server, DEPTH));
	krdma_srq_close(pair->srq);
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) ==
					   pair->shared.accepted));
	conn_expect_srq_whole(pair);
	conn_expect_whole(&pair->client);
	conn_expect_whole(&pair->server);
	conn_pair_end(pair);
}

/*
 * Messages that the peer saw acknowledged are delivered, although the QP is destroyed before their
 * completions are polled, and although these are behind those of other connections.
 */
/* Proves: D12 */
static void test_acknowledged_messages(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair = srq_pair(test, contexts[i / 2], i % 2);

		send_messages(test, &pair->client, OTHERS);
		send_messages(test, &pair->server, MESSAGES);
		conn_end_close(&pair->server);
		expect_end(test, pair, OTHERS + MESSAGES);
	}
}

/**
 * struct late_word - a device that reports the last WQE late
 * @work: raises the event
 * @fake: the device
 * @qp: the QP
 */
struct late_word {
	struct delayed_work work;
	struct fake_device *fake;
	struct ib_qp *qp;
};

static void late_word_say(struct work_struct *work)
{
	struct late_word *word = container_of(work, struct late_word, work.work);

	word->fake->hold_receives = false;
	fake_release(word->fake, word->qp);
	fake_qp_event(word->qp, IB_EVENT_QP_LAST_WQE_REACHED);
	fake_qp_event(word->qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* Completions may arrive after the flush of the sends, until the device reports the last WQE. */
static void test_late_word(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair = srq_pair(test, contexts[i / 2], i % 2);
		struct late_word word = { .fake = pair->fake, .qp = conn_qp(&pair->server) };

		INIT_DELAYED_WORK_ONSTACK(&word.work, late_word_say);
		pair->fake->no_last_wqe = true;
		pair->fake->hold_receives = true;
		send_messages(test, &pair->server, MESSAGES);
		schedule_delayed_work(&word.work, HZ / 20);
		conn_end_close(&pair->server);
		flush_delayed_work(&word.work);
		destroy_delayed_work_on_stack(&word.work);
		pair->fake->no_last_wqe = false;
		expect_end(test, pair, MESSAGES);
	}
}

static void expect_server(struct conn_end *end, const struct krdma_wc *wc)
{
	if (!wc->status)
		KUNIT_EXPECT_PTR_EQ(end->pair->test, end->pair->server.conn, wc->conn);
}

/*
 * Completions arrive while the device's QP is destroyed: they are taken when it does not exist any
 * more, and belong to its connection.
 */
/* Proves: D12 */
static void test_destroyed_meanwhile(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair = srq_pair(test, contexts[i / 2], i % 2);

		pair->fake->destroy_drops_cqes = false;
		pair->fake->destroy_delivers = true;
		pair->fake->no_last_wqe = true;
		pair->fake->hold_receives = true;
		pair->hook = expect_server;
		send_messages(test, &pair->server, MESSAGES);
		conn_end_close(&pair->server);
		pair->fake->hold_receives = false;
		pair->fake->no_last_wqe = false;
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == MESSAGES));
		pair->hook = NULL;
		expect_end(test, pair, MESSAGES);
	}
}

/* The QP has failed by itself, and the device reported the last WQE then: only once. */
static void test_early_word(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair = srq_pair_on(test, like_a_known_card, contexts[i], true);
		unsigned long start;

		send_messages(test, &pair->server, MESSAGES);
		start = jiffies;
		fake_qp_fail(conn_qp(&pair->server));
		conn_end_close(&pair->server);
		KUNIT_EXPECT_LT(test, jiffies - start, AT_ONCE);
		expect_end(test, pair, MESSAGES);
	}
}

/* Some devices never report the last WQE. */
static void test_no_word(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair = srq_pair(test, contexts[i], true);
		unsigned long start = jiffies;

		pair->fake->no_last_wqe = true;
		send_messages(test, &pair->server, MESSAGES);
		conn_end_close(&pair->server);
		KUNIT_EXPECT_LT(test, jiffies - start, SOON);
		expect_end(test, pair, MESSAGES);
	}
}

static void like_siw(struct fake_device *fake)
{
	fake->attr.max_srq_wr = DEPTH;
	fake->no_last_wqe = true;
	fake_device_read_like_siw(fake);
}

/* Teardown does not wait for the event on a device that is known not to raise it. */
static void test_known_silence(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .srq_depth = DEPTH, .srq_apart = true,
		.tune = like_siw,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	unsigned long start;

	KUNIT_ASSERT_EQ(test, DEPTH, conn_receive_empty(&pair->server, DEPTH));
	send_messages(test, &pair->server, MESSAGES);
	start = jiffies;
	conn_end_close(&pair->server);
	KUNIT_EXPECT_LT(test, jiffies - start, AT_ONCE);
	expect_end(test, pair, MESSAGES);
}

/* A QP that was never connected has never got a message. */
static void test_never_connected(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .srq_depth = DEPTH, .tune = like_a_card,
	};
	struct conn_pair *pair = conn_pair_open(test, &setup);
	unsigned long start;

	pair->fake->no_last_wqe = true;
	conn_client_resolve(pair);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(&pair->client));
	start = jiffies;
	conn_end_close(&pair->client);
	KUNIT_EXPECT_LT(test, jiffies - start, AT_ONCE);
	conn_pair_end(pair);
}

/*
 * A consumer gives up while the answer arrives: the connection was never established to it, but the
 * peer has sent messages, and their completions arrive after the flush of the sends.
 */
/* Proves: D12 */
static void test_answered_meanwhile(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .srq_depth = DEPTH, .tune = like_a_card,
	};
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct late_word word = { .fake = pair->fake };
	struct fake_endpoint *endpoint;

	conn_client_resolve(pair);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(&pair->client));
	KUNIT_ASSERT_EQ(test, DEPTH, conn_receive_empty(&pair->client, DEPTH));
	pair->fake->cm_manual = FAKE_MANUAL_ACCEPT;
	conn_client_connect(pair);
	conn_server_take(pair);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(&pair->server));
	conn_server_accept(pair);

	/* The end of the connection waits for this lock. */
	mutex_lock(&pair->client.conn->cm_lock);
	krdma_conn_abort(pair->client.conn);
	word.qp = conn_qp(&pair->client);
	endpoint = fake_cm_of_qp(conn_qp(&pair->server));
	KUNIT_EXPECT_NOT_NULL(test, endpoint);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_establish(endpoint));
	fake_cm_put(endpoint);
	fake_cm_flush(pair->fake);
	INIT_DELAYED_WORK_ONSTACK(&word.work, late_word_say);
	pair->fake->no_last_wqe = true;
	pair->fake->hold_receives = true;
	send_messages(test, &pair->client, MESSAGES);
	schedule_delayed_work(&word.work, HZ / 20);
	krdma_conn_unlock(pair->client.conn);
	conn_end_close(&pair->client);
	flush_delayed_work(&word.work);
	destroy_delayed_work_on_stack(&word.work);
	pair->fake->no_last_wqe = false;
	fake_device_let_go(pair->fake);
	expect_end(test, pair, MESSAGES);
}

/*
 * A QP fails by itself, and neither the connection manager nor a completion reports it: there is
 * nothing to be flushed.  Devices that do not report the last WQE raise another event.
 */
static void test_failure_is_heard(struct kunit *test)
{
	struct conn_pair *pair = srq_pair(test, KRDMA_CONTEXT_POLL, true);

	pair->fake->cm_manual = FAKE_MANUAL_CLOSE;
	fake_qp_fail(conn_qp(&pair->server));
	if (pair->fake->personality->last_wqe == FAKE_LAST_WQE_NEVER)
		fake_qp_event(conn_qp(&pair->server), IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_heard(&pair->server, KRDMA_EVENT_LOST)));
	fake_device_let_go(pair->fake);
	expect_end(test, pair, 0);
}

/**
 * struct busy_poller - the end of a connection during a completion callback
 * @told: a completion callback is running
 * @go_on: completed by the test
 * @work: closes @end
 * @end: the connection to be closed
 */
struct busy_poller {
	struct completion told;
	struct completion go_on;
	struct work_struct work;
	struct conn_end *end;
};

static struct busy_poller *busy_poller;

static void busy_poller_hook(struct conn_end *end, const struct krdma_wc *wc)
{
	if (end == busy_poller->end || wc->status || completion_done(&busy_poller->told))
		return;
	complete(&busy_poller->told);
	wait_for_completion_timeout(&busy_poller->go_on, CONN_LONG);
}

static void busy_poller_close(struct work_struct *work)
{
	struct busy_poller *poller = container_of(work, struct busy_poller, work);

	conn_end_close(poller->end);
}

/* Meanwhile a completion callback of another connection runs for a long time. */
static void test_busy_poller(struct kunit *test)
{
	unsigned int apart;

	for (apart = 0; apart < 2; apart++) {
		struct conn_pair *pair = srq_pair(test, KRDMA_CONTEXT_WORKQUEUE, apart);
		struct busy_poller poller = { .end = &pair->server };

		init_completion(&poller.told);
		init_completion(&poller.go_on);
		INIT_WORK_ONSTACK(&poller.work, busy_poller_close);
		busy_poller = &poller;
		pair->hook = busy_poller_hook;
		send_messages(test, &pair->client, 1);
		KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&poller.told, CONN_LONG));
		send_messages(test, &pair->server, MESSAGES);
		queue_work(system_unbound_wq, &poller.work);
		schedule_timeout_uninterruptible(HZ / 20);
		/*
		 * The completion is neither delivered nor lost: only that of the other connection
		 * was delivered.
		 */
		KUNIT_EXPECT_EQ(test, 1, conn_told(&pair->shared));
		complete_all(&poller.go_on);
		flush_work(&poller.work);
		destroy_work_on_stack(&poller.work);
		pair->hook = NULL;
		expect_end(test, pair, MESSAGES + 1);
	}
}

/* Posts from the completion callback, as many work requests as there are wr_ids. */
static void post_again(struct conn_end *end, const struct krdma_wc *wc)
{
	if (READ_ONCE(end->sends.accepted) < CONN_COOKIES - 1)
		conn_post_writes(end, 0, 1);
}

/* The teardown takes the completions that exist when it begins, not those that arrive meanwhile. */
static void test_endless_completions(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_WORKQUEUE, .shared = true,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	unsigned int i;

	pair->hook = post_again;
	/* No other context takes any. */
	pair->fake->notify = FAKE_NOTIFY_NEVER;
	KUNIT_EXPECT_EQ(test, 1, conn_post_writes(&pair->client, 0, 1));
	krdma_cq_empty(pair->cq);
	KUNIT_EXPECT_GE(test, conn_told(&pair->client.sends), CONN_CQE);
	KUNIT_EXPECT_LT(test, conn_told(&pair->client.sends), CONN_CQE + 100);
	for (i = 0; i < 3 && conn_told(&pair->client.sends) < CONN_COOKIES - 1; i++)
		krdma_cq_empty(pair->cq);
	KUNIT_EXPECT_EQ(test, CONN_COOKIES - 1, conn_told(&pair->client.sends));
	conn_end_close(&pair->client);
	conn_expect_whole(&pair->client);
	conn_pair_end(pair);
}

/* A receive that the device has consumed and lost gives back its credit when the SRQ is closed. */
static void test_lost_receive(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair = srq_pair(test, contexts[i], false);
		struct fake_fault lost = { .nth = 2, .lost = true };

		fake_set_fault(pair->fake, FAKE_RECEIVE, &lost);
		send_messages(test, &pair->server, 3);
		conn_end_close(&pair->server);
		conn_end_close(&pair->client);
		/* It is unknown which receive that was: another connection may have it. */
		KUNIT_EXPECT_EQ(test, 2, conn_told(&pair->shared));
		KUNIT_EXPECT_EQ(test, 2, conn_receive_empty(&pair->client, DEPTH));
		krdma_srq_close(pair->srq);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) ==
						   pair->shared.accepted));
		KUNIT_EXPECT_EQ(test, DEPTH, atomic_read(&pair->given_back));
		conn_expect_srq_whole(pair);
		conn_pair_end(pair);
	}
}

static struct kunit_case srq_end_cases[] = {
	KUNIT_CASE_SLOW(test_acknowledged_messages),
	KUNIT_CASE_SLOW(test_late_word),
	KUNIT_CASE_SLOW(test_destroyed_meanwhile),
	KUNIT_CASE(test_early_word),
	KUNIT_CASE(test_no_word),
	KUNIT_CASE(test_known_silence),
	KUNIT_CASE(test_never_connected),
	KUNIT_CASE(test_answered_meanwhile),
	KUNIT_CASE(test_failure_is_heard),
	KUNIT_CASE(test_busy_poller),
	KUNIT_CASE(test_endless_completions),
	KUNIT_CASE_SLOW(test_lost_receive),
	{}
};

static struct kunit_suite srq_end_suite = {
	.name = "krdma_srq_end",
	.init = test_objects_init,
	.test_cases = srq_end_cases,
};

kunit_test_suite(srq_end_suite);
