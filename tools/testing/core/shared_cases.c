// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues (SRQ). */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "fixture.h"

#define SRQ_DEPTH	32
#define SRQ_CONNS	3
#define SRQ_MESSAGES	100
#define SRQ_QUEUE_DEPTH	1024

/**
 * struct sharing - connections with one SRQ
 * @test: the case
 * @session: session of the accepting ends
 * @memory: buffer of 64 bytes for each receive
 * @cq: CQ of the receives
 * @srq: the SRQ
 * @pairs: the connections
 * @received: number of messages of each connection
 * @returned: receives that were flushed
 */
struct sharing {
	struct core_test *test;
	struct krdma_session *session;
	struct core_buffer memory;
	struct krdma_cq *cq;
	struct krdma_srq *srq;
	struct core_pair *pairs[SRQ_CONNS];
	atomic_t received[SRQ_CONNS];
	atomic_t returned;
};

static int sharing_receive(struct sharing *sharing, u64 wqe)
{
	struct krdma_sge sge = core_sge(&sharing->memory, wqe * 64, 64);
	struct krdma_recv_wr recv_wr = { .wr_id = wqe, .sges = &sge, .sge_count = 1 };

	return krdma_srq_post_recv(sharing->srq, &recv_wr, 1);
}

/* The message contains the number of its connection, and its own number. */
static void sharing_received(struct core_end *end, const struct krdma_wc *wc)
{
	struct sharing *sharing = end->context;
	struct core_test *test = end->test;
	u32 *message = (u32 *)(sharing->memory.data + wc->wr_id * 64);
	u32 from;

	if (wc->opcode != KRDMA_OP_RECV || wc->status)
		return;
	CORE_TRUE(test, wc->conn == end->conn);
	from = message[0];
	if (!CORE_TRUE(test, from < SRQ_CONNS) ||
	    !CORE_TRUE(test, end == &sharing->pairs[from]->server))
		return;
	CORE_EQ(test, message[1], atomic_inc_return(&sharing->received[from]) - 1);
	CORE_EQ(test, 1,
		sharing_receive(sharing, (wc->wr_id + SRQ_DEPTH - 1) % SRQ_DEPTH));
}

static void sharing_returned(const struct krdma_wc *wc)
{
	struct sharing *sharing = wc->context;

	CORE_TRUE(sharing->test, !wc->conn);
	CORE_EQ(sharing->test, KRDMA_WC_WR_FLUSH_ERR, wc->status);
	atomic_inc(&sharing->returned);
}

static void sharing_messages(struct sharing *sharing)
{
	struct core_test *test = sharing->test;
	u32 message[2];
	struct krdma_sge sge = { .addr = (u64)message, .length = sizeof(message) };
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_INLINE, .sges = &sge, .sge_count = 1,
	};
	struct krdma_wc got;

	for (u32 i = 0; i < SRQ_MESSAGES && !test->failures; i++) {
		for (u32 n = 0; n < SRQ_CONNS; n++) {
			message[0] = n;
			message[1] = i;
			wr.wr_id = i;
			CORE_EQ(test, 1,
				krdma_conn_post_send(sharing->pairs[n]->client.conn, &wr, 1));
		}
		for (u32 n = 0; n < SRQ_CONNS; n++)
			CORE_TRUE(test, core_await_send(&sharing->pairs[n]->client, &got,
							CORE_TIMEOUT_MS));
	}
	for (u32 n = 0; n < SRQ_CONNS; n++) {
		CORE_TRUE(test, core_await_told(&sharing->pairs[n]->server, SRQ_MESSAGES,
						CORE_TIMEOUT_MS));
		CORE_EQ(test, SRQ_MESSAGES, atomic_read(&sharing->received[n]));
	}
}

static bool sharing_connect(struct sharing *sharing, u32 n)
{
	struct core_pair *pair = core_pair_alloc(sharing->test);

	sharing->pairs[n] = pair;
	if (!pair)
		return false;
	/* All accepting ends have the session of the SRQ. */
	krdma_session_put(pair->server_session);
	pair->server_session = sharing->session;
	if (pair->cq)
		krdma_cq_put(pair->cq);
	if (sharing->test->where == KRDMA_CONTEXT_POLL)
		pair->cq = sharing->cq;
	pair->borrows = true;
	pair->server_attr = (struct krdma_conn_attr) { .cq = sharing->cq,
						       .srq = sharing->srq };
	pair->client_attr.max_inline = 8;
	pair->client_attr.cq = pair->cq;
	pair->server.context = sharing;
	pair->server.complete = sharing_received;
	return core_pair_listen(pair, 0) && core_pair_resolve(pair) && core_pair_connect(pair);
}

/* Unused receives are flushed. */
static void sharing_end(struct sharing *sharing)
{
	struct core_test *test = sharing->test;
	struct krdma_wc got;
	u32 posted = 0;
	int ret;

	while (!test->failures && (ret = sharing_receive(sharing, SRQ_DEPTH - 1)) == 1)
		posted++;
	if (!test->failures)
		CORE_EQ(test, -EAGAIN, ret);
	krdma_srq_close(sharing->srq);
	CORE_EQ(test, -ESHUTDOWN, sharing_receive(sharing, 0));
	for (int i = 0; i < CORE_TIMEOUT_MS / 20; i++) {
		if (atomic_read(&sharing->returned) == SRQ_DEPTH)
			break;
		while (test->where == KRDMA_CONTEXT_POLL &&
		       krdma_cq_poll(sharing->cq, &got, 1) == 1)
			sharing_returned(&got);
		msleep(20);
	}
	if (!test->failures) {
		CORE_TRUE(test, posted > 0);
		CORE_EQ(test, SRQ_DEPTH, atomic_read(&sharing->returned));
	}
	krdma_srq_put(sharing->srq);
}

static void sharing_run(struct sharing *sharing)
{
	struct core_test *test = sharing->test;
	struct krdma_srq_attr attr = {
		.depth = SRQ_DEPTH,
		.cq = sharing->cq,
		.complete = sharing_returned,
		.context = sharing,
	};
	ktime_t begun;

	if (!(test->attr.caps & KRDMA_DEVICE_CAP_SRQ)) {
		CORE_ERR_PTR(test, -EOPNOTSUPP, krdma_srq_create(sharing->session, &attr));
		test->skipped = "the device has no SRQs";
		return;
	}
	CORE_ERR_PTR(test, -EINVAL, krdma_srq_create(sharing->session, &(struct krdma_srq_attr) {
		.depth = SRQ_DEPTH }));
	CORE_ERR_PTR(test, -EINVAL, krdma_srq_create(sharing->session, &(struct krdma_srq_attr) {
		.cq = sharing->cq }));
	CORE_ERR_PTR(test, -ENOSPC, krdma_srq_create(sharing->session, &(struct krdma_srq_attr) {
		.cq = sharing->cq, .depth = SRQ_QUEUE_DEPTH + 1 }));
	sharing->srq = krdma_srq_create(sharing->session, &attr);
	if (!CORE_OK_PTR(test, sharing->srq))
		return;
	for (u32 wqe = 0; wqe < SRQ_DEPTH - 1; wqe++)
		CORE_EQ(test, 1, sharing_receive(sharing, wqe));
	for (u32 n = 0; n < SRQ_CONNS; n++)
		if (!sharing_connect(sharing, n))
			break;
	if (!test->failures) {
		CORE_EQ(test, -EINVAL, krdma_conn_post_recv(sharing->pairs[0]->server.conn,
							    &(struct krdma_recv_wr) {}, 1));
		sharing_messages(sharing);
	}
	begun = ktime_get();
	for (u32 n = 0; n < SRQ_CONNS; n++)
		core_pair_close(sharing->pairs[n]);
	/* A teardown that waited for siw to report the last WQE would wait for a minute. */
	CORE_TRUE(test, ktime_ms_delta(ktime_get(), begun) < CORE_TIMEOUT_MS);
	sharing_end(sharing);
}

/* Proves: D4, D12 */
static void shared_receives(struct core_test *test)
{
	struct krdma_cq_attr attr = {
		.depth = SRQ_QUEUE_DEPTH, .where = test->where, .vector = -1,
	};
	struct sharing *sharing = kzalloc_obj(*sharing, GFP_KERNEL);

	if (!CORE_TRUE(test, sharing))
		return;
	sharing->test = test;
	sharing->session = krdma_session_create(&init_net);
	sharing->cq = krdma_cq_create(test->dev, &attr);
	if (CORE_OK_PTR(test, sharing->session) && CORE_OK_PTR(test, sharing->cq) &&
	    core_buffer_make(test, &sharing->memory, sharing->session, SRQ_DEPTH * 64,
			     KRDMA_ACCESS_LOCAL_WRITE))
		sharing_run(sharing);
	core_buffer_free(test, &sharing->memory);
	if (!IS_ERR_OR_NULL(sharing->cq))
		krdma_cq_put(sharing->cq);
	if (!IS_ERR_OR_NULL(sharing->session))
		krdma_session_put(sharing->session);
	kfree(sharing);
}

const struct core_case core_shared_cases[] = {
	CORE_CASE_CONTEXTS(shared_receives),
	{},
};
