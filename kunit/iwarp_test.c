// SPDX-License-Identifier: GPL-2.0
/*
 * Reads on an iWARP device that needs a key with remote write access for the memory that a read
 * fills, as cards do.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include <krdma/krdma.h>

#include "conn_fixture.h"
#include "objects.h"

#define BOTH		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE)
#define LENGTH		1000

static struct krdma_mr *map(struct kunit *test, struct conn_end *end, u32 access)
{
	struct krdma_mr *mr;

	mr = krdma_mr_register(end->pair->session, end->pair->dev, end->buffer, CONN_BUFFER,
			       access);
	if (IS_ERR(mr))
		KUNIT_FAIL_AND_ABORT(test, "no region: %ld", PTR_ERR(mr));
	end->mr = mr;
	return mr;
}

/* A read of memory that the server allows to be read. */
static struct krdma_send_wr reader(struct kunit *test, struct conn_pair *pair)
{
	struct krdma_mr_info info;
	u32 i;

	for (i = 0; i < CONN_BUFFER; i++)
		pair->server.buffer[i] = i * 7 + i / 256;
	krdma_mr_query(map(test, &pair->server, KRDMA_ACCESS_REMOTE_READ), &info);
	return (struct krdma_send_wr) {
		.opcode = KRDMA_OP_READ,
		.remote_addr = info.remote_addr,
		.rkey = info.rkey,
	};
}

static bool reads_local(struct conn_pair *pair)
{
	struct krdma_device_attr attr;

	KUNIT_EXPECT_EQ(pair->test, 0, krdma_device_query_attr(pair->dev, &attr));
	return attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL;
}

/* No work request that the device would fail reaches it, and the connection stays established. */
static void test_refused_reads(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_send_wr wr = reader(test, pair);
	struct krdma_send_wr flush = wr;
	struct krdma_send_wr several[2];
	struct krdma_sge sges[2];

	KUNIT_EXPECT_FALSE(test, reads_local(pair));
	flush.opcode = KRDMA_OP_FLUSH;
	flush.flush = KRDMA_FLUSH_GLOBAL;
	flush.operand = 1;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(client, &flush, 1));
	/* Of length 0: without memory, and with memory. */
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(client, &wr, 1));
	wr.sges = sges;
	wr.sge_count = 1;
	sges[0] = conn_sge(client, 0, 0);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(client, &wr, 1));
	/* With the lkey for all memory: alone, in a batch, and in two SGEs. */
	sges[0] = conn_sge(client, 0, LENGTH);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(client, &wr, 1));
	several[0] = wr;
	several[1] = wr;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(client, several, 2));
	sges[1] = conn_sge(client, LENGTH, LENGTH);
	wr.sge_count = 2;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(client, &wr, 1));

	/* An MR without remote write access. */
	sges[0] = (struct krdma_sge) {
		.mr = map(test, client, KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ),
		.addr = (uintptr_t)client->buffer, .length = LENGTH,
	};
	wr.sge_count = 1;
	KUNIT_EXPECT_EQ(test, -EACCES, conn_post(client, &wr, 1));
	sges[1] = sges[0];
	wr.sge_count = 2;
	KUNIT_EXPECT_EQ(test, -EACCES, conn_post(client, &wr, 1));
	KUNIT_EXPECT_EQ(test, 0, conn_given_count(client));

	/* Nothing uses the memory, and the connection is unchanged. */
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(client->mr));
	client->mr = NULL;
	KUNIT_EXPECT_EQ(test, 1, conn_post_writes(client, 0, 1));
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 1));
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	conn_pair_end(pair);
}

/* Into an MR with remote write access, in one SGE and in several. */
static void test_read_to_region(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_send_wr wr = reader(test, pair);
	struct krdma_sge sges[3];
	u32 count, i;

	map(test, client, BOTH);
	wr.sges = sges;
	for (count = 1; count <= ARRAY_SIZE(sges); count++) {
		memset(client->buffer, 0, CONN_BUFFER);
		for (i = 0; i < count; i++)
			sges[i] = (struct krdma_sge) {
				.mr = client->mr,
				.addr = (uintptr_t)client->buffer + 2 * i * LENGTH,
				.length = LENGTH,
			};
		wr.sge_count = count;
		KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
		KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) == count));
		KUNIT_EXPECT_EQ(test, KRDMA_WC_SUCCESS, client->last.status);
		for (i = 0; i < count; i++)
			KUNIT_EXPECT_MEMEQ(test, pair->server.buffer + i * LENGTH,
					   client->buffer + 2 * i * LENGTH, LENGTH);
	}
	conn_pair_end(pair);
}

/* The device gets the fence of a read, alone, in a batch, and in several SGEs. */
static void test_fenced_read(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_send_wr wr = reader(test, pair);
	struct krdma_send_wr several[2];
	struct krdma_sge sges[2];
	struct fake_send *send;
	u32 i;

	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	map(test, client, BOTH);
	for (i = 0; i < ARRAY_SIZE(sges); i++)
		sges[i] = (struct krdma_sge) {
			.mr = client->mr, .addr = (uintptr_t)client->buffer + i * LENGTH,
			.length = LENGTH,
		};
	wr.flags = KRDMA_POST_FENCE;
	wr.sges = sges;
	wr.sge_count = 1;
	several[0] = wr;
	several[1] = wr;
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_ASSERT_EQ(test, 2, conn_post(client, several, 2));
	wr.sge_count = 2;
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	for (i = 0; i < 4; i++) {
		conn_given(client, i, send);
		KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ, send->wr.opcode);
		/* The last one may be the first of two parts, which is not signaled. */
		KUNIT_EXPECT_EQ(test, IB_SEND_FENCE, send->wr.send_flags & ~IB_SEND_SIGNALED);
	}
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 4));
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	conn_pair_end(pair);
}

/* siw stops at a read with a fence.  It gets none: alone, in a batch, and of a flush. */
static void test_fenced_read_on_siw(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .tune = fake_device_read_like_siw,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_send_wr wr = reader(test, pair);
	struct krdma_sge sge = conn_sge(client, 0, LENGTH);
	struct krdma_send_wr several[2];

	wr.flags = KRDMA_POST_FENCE;
	wr.sges = &sge;
	wr.sge_count = 1;
	several[0] = wr;
	several[1] = wr;
	KUNIT_EXPECT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_EXPECT_EQ(test, 2, conn_post(client, several, 2));
	wr.sge_count = 0;
	KUNIT_EXPECT_EQ(test, 1, conn_post(client, &wr, 1));
	wr.opcode = KRDMA_OP_FLUSH;
	wr.flush = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY;
	KUNIT_EXPECT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_EXPECT_EQ(test, 1, conn_post_writes(client, KRDMA_POST_FENCE, 1));
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 6));
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	conn_pair_end(pair);
}

/* siw does not need it. */
static void test_siw(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .tune = fake_device_read_like_siw,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_send_wr wr = reader(test, pair);
	struct krdma_sge sge = conn_sge(client, 0, LENGTH);

	KUNIT_EXPECT_TRUE(test, reads_local(pair));
	KUNIT_EXPECT_EQ(test, 1, conn_post(client, &wr, 1));
	wr.sges = &sge;
	wr.sge_count = 1;
	KUNIT_EXPECT_EQ(test, 1, conn_post(client, &wr, 1));
	wr.sge_count = 0;
	wr.opcode = KRDMA_OP_FLUSH;
	wr.flush = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY;
	KUNIT_EXPECT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 3));
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	conn_pair_end(pair);
}

static struct kunit_case iwarp_cases[] = {
	KUNIT_CASE(test_refused_reads),
	KUNIT_CASE(test_read_to_region),
	KUNIT_CASE(test_fenced_read),
	KUNIT_CASE(test_siw),
	KUNIT_CASE(test_fenced_read_on_siw),
	{}
};

/* All of them read memory that is registered. */
static int iwarp_init(struct kunit *test)
{
	test_needs_fast_reg(test);
	return test_objects_init(test);
}

static struct kunit_suite iwarp_suite = {
	.name = "krdma_iwarp",
	.init = iwarp_init,
	.test_cases = iwarp_cases,
};

kunit_test_suite(iwarp_suite);
