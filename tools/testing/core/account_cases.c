// SPDX-License-Identifier: GPL-2.0
/* Accounting of the memory of queues. */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>

#include "fixture.h"

/* An account with a limit. */
struct purse {
	atomic64_t limit;
	atomic64_t used;
	atomic_t puts;
};

static int purse_charge(void *account, u64 bytes)
{
	struct purse *purse = account;

	might_sleep();
	if (atomic64_add_return(bytes, &purse->used) <= atomic64_read(&purse->limit))
		return 0;
	atomic64_sub(bytes, &purse->used);
	return -EDQUOT;
}

static void purse_uncharge(void *account, u64 bytes)
{
	struct purse *purse = account;

	might_sleep();
	atomic64_sub(bytes, &purse->used);
}

static void purse_put(void *account)
{
	struct purse *purse = account;

	atomic_inc(&purse->puts);
}

static const struct krdma_account_ops purse_ops = {
	.charge = purse_charge,
	.uncharge = purse_uncharge,
	.put = purse_put,
};

/* Waits for memory that is freed by a work item, or after an RCU grace period. */
static bool purse_becomes(struct core_test *test, struct purse *purse, s64 used)
{
	for (int i = 0; i < CORE_TIMEOUT_MS && atomic64_read(&purse->used) != used; i += 20)
		msleep(20);
	return CORE_EQ(test, used, atomic64_read(&purse->used));
}

static struct core_pair *purse_pair(struct core_test *test, struct purse *purse)
{
	struct core_pair *pair = core_pair_alloc(test);

	if (!pair)
		return NULL;
	krdma_session_set_account(pair->client_session, &purse_ops, purse);
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair))
		return pair;
	core_pair_close(pair);
	return NULL;
}

/*
 * A queue is charged when it is created, not if that is refused or fails, and uncharged when it is
 * freed.
 */
/* Proves: F6 */
static void queues_are_paid_for(struct core_test *test)
{
	static struct purse purse;
	struct core_pair *pair;
	s64 shallow, deep;

	purse = (struct purse) {};
	pair = purse_pair(test, &purse);
	if (!pair)
		return;
	CORE_EQ(test, -EDQUOT, krdma_conn_create_qp(pair->client.conn, &pair->client_attr));
	CORE_EQ(test, 0, atomic64_read(&purse.used));
	atomic64_set(&purse.limit, S64_MAX);
	pair->client_attr.send_depth = U32_MAX;
	CORE_EQ(test, -EINVAL, krdma_conn_create_qp(pair->client.conn, &pair->client_attr));
	CORE_EQ(test, 0, atomic64_read(&purse.used));
	pair->client_attr.send_depth = 16;
	CORE_EQ(test, 0, krdma_conn_create_qp(pair->client.conn, &pair->client_attr));
	shallow = atomic64_read(&purse.used);
	CORE_TRUE(test, shallow > 0);
	/* The second call is refused, and costs nothing. */
	CORE_EQ(test, -EALREADY, krdma_conn_create_qp(pair->client.conn, &pair->client_attr));
	CORE_EQ(test, shallow, atomic64_read(&purse.used));
	core_pair_close(pair);
	purse_becomes(test, &purse, 0);
	CORE_EQ(test, 1, atomic_read(&purse.puts));

	pair = purse_pair(test, &purse);
	if (!pair)
		return;
	pair->client_attr.send_depth = 256;
	pair->client_attr.max_send_sge = test->attr.limits.max_send_sge;
	CORE_EQ(test, 0, krdma_conn_create_qp(pair->client.conn, &pair->client_attr));
	deep = atomic64_read(&purse.used);
	/* At least the pointers to the MRs of each WQE. */
	CORE_TRUE(test, deep >= shallow + 240 * test->attr.limits.max_send_sge * sizeof(void *));
	core_pair_close(pair);
	purse_becomes(test, &purse, 0);
	CORE_EQ(test, 2, atomic_read(&purse.puts));
}

/* An unpolled completion keeps the connection, which stays charged. */
/* Proves: F6 */
static void what_waits_to_be_polled_is_paid_for(struct core_test *test)
{
	struct krdma_wc wcs[4];
	static struct purse purse;
	struct krdma_cq_attr attr = {
		.depth = 1024, .where = KRDMA_CONTEXT_POLL, .vector = -1,
	};
	struct krdma_recv_wr recv_wr = {};
	struct krdma_cq *cq;
	struct core_pair *pair;
	s64 own, all;

	purse = (struct purse) { .limit = ATOMIC64_INIT(S64_MAX) };
	pair = purse_pair(test, &purse);
	if (!pair)
		return;
	attr.session = pair->client_session;
	cq = krdma_cq_create(test->dev, &attr);
	if (!CORE_OK_PTR(test, cq))
		goto out;
	own = atomic64_read(&purse.used);
	CORE_TRUE(test, own >= 1024 * sizeof(struct krdma_wc));
	pair->client_attr.cq = cq;
	pair->client_attr.where = KRDMA_CONTEXT_POLL;
	if (!CORE_EQ(test, 0, krdma_conn_create_qp(pair->client.conn, &pair->client_attr)) ||
	    !CORE_EQ(test, 1, krdma_conn_post_recv(pair->client.conn, &recv_wr, 1)))
		goto out;
	all = atomic64_read(&purse.used);
	CORE_TRUE(test, all > own);

	krdma_conn_close(pair->client.conn);
	krdma_conn_put(pair->client.conn);
	pair->client.conn = NULL;
	msleep(CORE_QUIET_MS);
	CORE_EQ(test, all, atomic64_read(&purse.used));
	CORE_EQ(test, 1, krdma_cq_poll(cq, wcs, ARRAY_SIZE(wcs)));
	purse_becomes(test, &purse, own);
out:
	if (!IS_ERR_OR_NULL(cq))
		krdma_cq_put(cq);
	core_pair_close(pair);
	purse_becomes(test, &purse, 0);
	CORE_EQ(test, 1, atomic_read(&purse.puts));
}

const struct core_case core_account_cases[] = {
	CORE_CASE(queues_are_paid_for),
	CORE_CASE(what_waits_to_be_polled_is_paid_for),
	{},
};
