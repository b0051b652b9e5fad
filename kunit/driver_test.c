// SPDX-License-Identifier: GPL-2.0
/* Behaviour of krdma that single drivers need, on a device that behaves as theirs. */
#include "conn_fixture.h"
#include "objects.h"
#include "stage.h"

static void as_irdma(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("irdma"));
}

static void as_cxgb4(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("cxgb4"));
}

static void as_mlx4(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("mlx4"));
}

static void as_mana(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("mana"));
}

/*
 * A work request without memory follows one with memory, in the same WQE: none of that memory is
 * sent, and nothing arrives there.
 */
static void test_requests_without_memory(struct kunit *test)
{
	static void (*const drivers[])(struct fake_device *fake) = { as_irdma, as_cxgb4 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(drivers); i++) {
		struct conn_setup setup = { .tune = drivers[i] };
		struct conn_pair *pair = conn_pair_new(test, &setup);
		struct krdma_sge from, to;
		struct krdma_send_wr wrs[2] = {};
		struct krdma_recv_wr recv_wr = { .sges = &to, .sge_count = 1 };

		from = conn_sge(&pair->client, 0, 100);
		to = conn_sge(&pair->server, 0, 100);
		memset(pair->client.buffer, 'c', 100);
		for (j = 0; j < 2; j++) {
			/* With memory first. */
			if (j)
				to.length = 0;
			else
				wrs[0].sges = &from;
			wrs[0].opcode = KRDMA_OP_SEND;
			wrs[0].sge_count = !j;
			KUNIT_ASSERT_EQ(test, 1, conn_receive(&pair->server, &recv_wr, 1));
			KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, wrs, 1));
			KUNIT_EXPECT_TRUE(test, conn_until(pair, j + 1 ==
							   conn_told(&pair->server.recv_wrs)));
		}
		/* One write, and a write and a message in one list. */
		KUNIT_EXPECT_EQ(test, 1, conn_receive_empty(&pair->server, 1));
		KUNIT_EXPECT_EQ(test, 1, conn_post_writes(&pair->client, 0, 1));
		wrs[0] = (struct krdma_send_wr) { .opcode = KRDMA_OP_WRITE };
		wrs[1] = (struct krdma_send_wr) { .opcode = KRDMA_OP_SEND };
		KUNIT_EXPECT_EQ(test, 2, conn_post(&pair->client, wrs, 2));
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 5));
		KUNIT_EXPECT_EQ(test, 0, pair->client.sends.failed);
		KUNIT_EXPECT_EQ(test, 0, pair->server.recv_wrs.failed);

		/* Bytes for which there is no memory. */
		memset(pair->server.buffer, 0, 100);
		KUNIT_EXPECT_EQ(test, 1, conn_receive_empty(&pair->server, 1));
		wrs[0] = (struct krdma_send_wr) {
			.opcode = KRDMA_OP_SEND, .sges = &from, .sge_count = 1,
		};
		KUNIT_EXPECT_EQ(test, 1, conn_post(&pair->client, wrs, 1));
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->server.recv_wrs) == 4));
		KUNIT_EXPECT_EQ(test, 1, pair->server.recv_wrs.failed);
		KUNIT_EXPECT_EQ(test, 0, pair->server.buffer[0]);
		conn_pair_end(pair);
	}
}

/* An event in place of a report is enough, and completions arrive in their usual context. */
static void test_events_for_reports(struct kunit *test)
{
	static const enum krdma_context contexts[] = {
		KRDMA_CONTEXT_WORKQUEUE, KRDMA_CONTEXT_SOFTIRQ,
	};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i], .tune = as_mlx4 };
		struct conn_pair *pair = conn_pair_new(test, &setup);

		for (j = 1; j <= 100; j++) {
			KUNIT_ASSERT_EQ(test, 1, conn_post_writes(&pair->client, 0, 1));
			if (j % 10)
				continue;
			KUNIT_EXPECT_TRUE(test, conn_until(pair,
							   conn_told(&pair->client.sends) == j));
		}
		conn_expect_whole(&pair->client);
		conn_pair_end(pair);
	}
}

/* There are no QPs for the kernel: the call fails, and nothing is left behind. */
static void test_no_queue_pairs(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = as_mana };
	struct conn_pair *pair = conn_pair_open(test, &setup);

	conn_client_resolve(pair);
	KUNIT_EXPECT_EQ(test, -EINVAL, conn_end_prepare(&pair->client));
	conn_pair_end(pair);
}

static void be(struct fake_device *fake, const char *driver)
{
	fake_device_become(fake, fake_personality_find(driver));
	fake_device_name_driver(fake);
}

static void be_mthca(struct fake_device *fake)
{
	be(fake, "mthca");
}

/* A client before it connects, on a device of the driver. */
static struct krdma_conn *resolved(struct kunit *test, void (*tune)(struct fake_device *fake))
{
	struct stage *stage = stage_new(test, tune);

	stage_listen(stage);
	stage_resolve(stage);
	return stage->client.conn;
}

/* A driver that refuses every QP with inline data. */
static void test_inline_that_is_refused(struct kunit *test)
{
	struct krdma_conn_attr attr = { .recv_depth = 4, .max_inline = 64 };
	struct krdma_conn *conn = resolved(test, be_mthca);
	struct krdma_conn_info info;

	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(conn, &attr));
	krdma_conn_query(conn, &info);
	KUNIT_EXPECT_EQ(test, 64, info.max_inline);
}

/* The driver of the next device, whose reads go to any memory. */
static const char *reader;

static void be_reader(struct fake_device *fake)
{
	be(fake, reader);
	/* It stays siw's kind, and krdma takes the others for RoCE. */
	if (fake->personality->driver_id != RDMA_DRIVER_SIW)
		fake->ib.node_type = RDMA_NODE_IB_CA;
}

static struct conn_pair *reader_pair(struct kunit *test, const char *driver)
{
	static const struct conn_setup setup = { .tune = be_reader };

	reader = driver;
	return conn_pair_new(test, &setup);
}

/*
 * A read of 0 bytes, without an SGE and with one, has none on the device: many take an SGE of
 * length 0 for one of 2 GiB.  Only siw needs one.
 */
static void test_reads_of_nothing(struct kunit *test)
{
	static const char * const drivers[] = {
		"mlx5", "mlx4", "irdma", "bnxt_re", "ionic", "vmw_pvrdma", "mthca", "rxe", "siw",
	};
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_READ };
	struct fake_send *send;
	unsigned int i, j;

	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	for (i = 0; i < ARRAY_SIZE(drivers); i++) {
		struct conn_pair *pair = reader_pair(test, drivers[i]);
		struct conn_end *client = &pair->client;
		struct krdma_sge sge = conn_sge(client, 0, 0);

		wr.sges = &sge;
		for (j = 0; j < 2; j++) {
			wr.sge_count = j;
			KUNIT_EXPECT_EQ_MSG(test, 1, conn_post(client, &wr, 1), "%s", drivers[i]);
			conn_given(client, j, send);
			KUNIT_EXPECT_EQ_MSG(test, !strcmp(drivers[i], "siw"), send->wr.num_sge,
					    "%s", drivers[i]);
		}
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 2));
		KUNIT_EXPECT_EQ_MSG(test, 0, client->sends.failed, "%s", drivers[i]);
		conn_pair_end(pair);
	}
}

/* What the firmware of erdma makes of an SGE of length 0 is unknown, and it wants one. */
static void test_refused_reads_of_nothing(struct kunit *test)
{
	struct conn_pair *pair = reader_pair(test, "erdma");
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_FLUSH, .flush = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY,
	};
	struct krdma_sge sge = conn_sge(&pair->client, 0, 0);

	/* A flush reads one byte. */
	fake_stall(pair->fake, NULL);
	KUNIT_EXPECT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
	wr = (struct krdma_send_wr) { .opcode = KRDMA_OP_READ, .sges = &sge };
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(&pair->client, &wr, 1));
	wr.sge_count = 1;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(&pair->client, &wr, 1));
	KUNIT_EXPECT_EQ(test, 1, conn_given_count(&pair->client));
	conn_pair_end(pair);
}

static struct kunit_case driver_cases[] = {
	KUNIT_CASE(test_requests_without_memory),
	KUNIT_CASE(test_events_for_reports),
	KUNIT_CASE(test_no_queue_pairs),
	KUNIT_CASE(test_inline_that_is_refused),
	KUNIT_CASE(test_reads_of_nothing),
	KUNIT_CASE(test_refused_reads_of_nothing),
	{}
};

static struct kunit_suite driver_suite = {
	.name = "krdma_drivers",
	.init = test_objects_init,
	.test_cases = driver_cases,
};

kunit_test_suite(driver_suite);
