// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests that are not posted: every errno of krdma_conn_post_send() and
 * krdma_conn_post_recv().  A refused work request has no effect.
 */
#include <kunit/test.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "conn_fixture.h"
#include "objects.h"

#define INLINE	16
#define REMOTE	.remote_addr = 0x123456789000ULL, .rkey = 0xabcd01
#define ASK(name, ...)	.wr = { .opcode = KRDMA_OP_##name, __VA_ARGS__ }

/**
 * struct refused - a work request that is invalid, or not possible here
 * @wr: the work request, without memory
 * @entries: number of SGEs
 * @length: length of each SGE
 * @error: expected errno
 */
struct refused {
	struct krdma_send_wr wr;
	u16 entries;
	u32 length;
	int error;
};

/* On a device with 3 SGEs, messages of 100 bytes, 16 bytes of inline data, and no atomics. */
static const struct refused refused_cases[] = {
	{ .error = -EINVAL },
	{ .wr.opcode = KRDMA_OP_RECV, .error = -EINVAL },
	{ .wr.opcode = KRDMA_OP_FLUSH + 1, .error = -EINVAL },
	{ .wr.opcode = KRDMA_OP_FLUSH + 2, .error = -EINVAL },
	{ .wr.opcode = KRDMA_OP_EVENT, .error = -EINVAL },
	{ .wr.opcode = 0xff, .error = -EINVAL },
	{ ASK(SEND, .flags = 0x10), .error = -EINVAL },
	{ ASK(SEND, .flags = 0x80), .error = -EINVAL },
	{ ASK(WRITE, .flags = KRDMA_POST_SOLICITED), .error = -EINVAL },
	{ ASK(READ, .flags = KRDMA_POST_SOLICITED), .error = -EINVAL },
	{ ASK(READ, .flags = KRDMA_POST_INLINE), .error = -EINVAL },
	{ ASK(SEND, .flags = 0x10), .entries = 1, .length = 1, .error = -EINVAL },
	{ ASK(WRITE, REMOTE, .flags = KRDMA_POST_SOLICITED), .entries = 1, .length = 1,
	  .error = -EINVAL },
	{ ASK(READ, REMOTE, .flags = KRDMA_POST_INLINE), .entries = 1, .length = 1,
	  .error = -EINVAL },
	{ ASK(FLUSH, .flags = KRDMA_POST_INLINE), .error = -EINVAL },
	{ ASK(ATOMIC_WRITE, .flags = KRDMA_POST_INLINE), .error = -EINVAL },
	{ ASK(FLUSH, REMOTE), .entries = 1, .length = 1, .error = -EINVAL },
	{ ASK(FLUSH, REMOTE, .operand = 1), .error = -EINVAL },
	{ ASK(FLUSH, REMOTE, .operand = 1, .flush = KRDMA_FLUSH_MEMORY), .error = -EINVAL },
	{ ASK(FLUSH, REMOTE, .flush = KRDMA_FLUSH_GLOBAL), .error = -EINVAL },
	{ ASK(FLUSH, REMOTE, .operand = 1, .flush = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY),
	  .error = -EINVAL },
	{ ASK(FLUSH, REMOTE, .operand = 1, .flush = KRDMA_FLUSH_GLOBAL | 1 << 2),
	  .error = -EOPNOTSUPP },
	{ ASK(FLUSH, REMOTE, .operand = 1, .flush = KRDMA_FLUSH_PERSISTENT),
	  .error = -EOPNOTSUPP },
	{ ASK(FLUSH, REMOTE, .operand = U32_MAX + 1ULL, .flush = KRDMA_FLUSH_GLOBAL),
	  .error = -EMSGSIZE },
	{ ASK(FLUSH, .remote_addr = U64_MAX, .operand = 2, .flush = KRDMA_FLUSH_GLOBAL),
	  .error = -EOVERFLOW },
	{ ASK(ATOMIC_WRITE, REMOTE), .entries = 1, .length = 8, .error = -EINVAL },
	{ ASK(ATOMIC_WRITE, .remote_addr = 4), .error = -EINVAL },
	{ ASK(SEND_IMM), .error = -EOPNOTSUPP },
	{ ASK(WRITE_IMM), .error = -EOPNOTSUPP },
	{ ASK(COMPARE_SWAP, REMOTE), .entries = 1, .length = 8, .error = -EOPNOTSUPP },
	{ ASK(FETCH_ADD, REMOTE), .entries = 1, .length = 8, .error = -EOPNOTSUPP },
	{ ASK(SEND), .entries = 4, .length = 1, .error = -EMSGSIZE },
	{ ASK(SEND), .entries = 1, .length = 101, .error = -EMSGSIZE },
	{ ASK(SEND), .entries = 3, .length = 34, .error = -EMSGSIZE },
	{ ASK(SEND_INVALIDATE), .entries = 1, .length = 101, .error = -EMSGSIZE },
	{ ASK(SEND, .flags = KRDMA_POST_INLINE), .entries = 1, .length = 17, .error = -EMSGSIZE },
	{ ASK(SEND, .flags = KRDMA_POST_INLINE), .entries = 3, .length = 6, .error = -EMSGSIZE },
	{ ASK(WRITE, .flags = KRDMA_POST_INLINE), .entries = 4, .length = 1, .error = -EMSGSIZE },
	{ ASK(WRITE), .entries = 1, .length = 501, .error = -EMSGSIZE },
	{ ASK(READ), .entries = 16, .length = 1, .error = -EMSGSIZE },
	{ ASK(WRITE), .entries = 129, .length = 1, .error = -EMSGSIZE },
	{ ASK(WRITE), .entries = 129, .error = -EMSGSIZE },
	{ ASK(WRITE), .entries = 2, .length = U32_MAX, .error = -EMSGSIZE },
	{ ASK(WRITE, .remote_addr = U64_MAX), .entries = 1, .length = 2, .error = -EOVERFLOW },
	{ ASK(READ, .remote_addr = U64_MAX - 98), .entries = 1, .length = 100,
	  .error = -EOVERFLOW },
};

static void tune_for_errors(struct fake_device *fake)
{
	fake->port.max_msg_sz = 100;
	fake->attr.max_sge_rd = 3;
	fake_device_read_like_siw(fake);
	/* No more than is asked for, and nothing if the device refuses to be asked. */
	fake->max_inline = INLINE;
	if (fake->personality->inline_grant == FAKE_INLINE_REFUSED)
		fake->max_inline = 0;
}

static const struct conn_setup for_errors = {
	.attr = { .max_send_sge = 3, .max_inline = INLINE, .send_depth = 5, .max_recv_sge = 2 },
	.tune = tune_for_errors,
};

/*
 * Without fast registration nothing is invalidated.  That is found after flags that
 * the opcode does not have, and before everything else.
 */
static int refused_with(const struct refused *refused, const struct conn_pair *pair)
{
	if (refused->wr.flags ||
	    pair->fake->attr.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)
		return refused->error;

	return refused->wr.opcode == KRDMA_OP_SEND_INVALIDATE ? -EOPNOTSUPP : refused->error;
}

static void test_refused(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new_within(test, &for_errors);
	struct krdma_sge *sges;
	unsigned int i, j;

	sges = kunit_kcalloc(test, 129, sizeof(*sges), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sges);
	for (i = 0; i < ARRAY_SIZE(refused_cases); i++) {
		struct krdma_send_wr wr = refused_cases[i].wr;

		for (j = 0; j < refused_cases[i].entries; j++)
			sges[j] = conn_sge(&pair->client, 0, refused_cases[i].length);
		wr.sges = sges;
		wr.sge_count = refused_cases[i].entries;
		KUNIT_EXPECT_EQ_MSG(test, refused_with(&refused_cases[i], pair),
				    conn_post(&pair->client, &wr, 1), "case %u", i);
		/* One that was accepted may end the connection, and the others with it. */
		KUNIT_ASSERT_EQ_MSG(test, 0, pair->client.sends.accepted, "case %u", i);
	}
	/* None of them has used a credit, and none has reached the device. */
	KUNIT_EXPECT_EQ(test, 0, conn_given_count(&pair->client));
	fake_stall(pair->fake, NULL);
	KUNIT_EXPECT_EQ(test, 5, conn_post_writes(&pair->client, 0, 6));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pair->client.spaces));
	fake_go_on(pair->fake, NULL);
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 5));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_conn_post_send(pair->client.conn, NULL, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_conn_post_send(pair->client.conn, NULL, -1));
	conn_pair_close(pair);
	conn_expect_whole(&pair->client);
}

/*
 * An invalid work request in a batch: those before it are posted, and alone it returns its error.
 */
static void test_refused_in_batch(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct krdma_send_wr *wrs;
	u32 told = 0;
	int at;

	wrs = kunit_kcalloc(test, 40, sizeof(*wrs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, wrs);
	for (at = 0; at < 40; at++)
		wrs[at].opcode = KRDMA_OP_WRITE;
	for (at = 0; at < 40; at++) {
		wrs[at].opcode = KRDMA_OP_SEND_IMM;
		KUNIT_EXPECT_EQ(test, at ?: -EOPNOTSUPP, conn_post(&pair->client, wrs, 40));
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, conn_post(&pair->client, &wrs[at], 1));
		wrs[at].opcode = KRDMA_OP_WRITE;
		told += at;
		KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == told));
	}
	conn_pair_close(pair);
	conn_expect_whole(&pair->client);
}

/* Errors of the provider when it refuses a post. */
static void test_provider_refuses(struct kunit *test)
{
	static const int errors[][2] = {
		{ -EINVAL, -EINVAL }, { -EOPNOTSUPP, -EOPNOTSUPP }, { -ENOTCONN, -ENOTCONN },
		{ -ENOMEM, -EIO }, { -EAGAIN, -EIO }, { -EFAULT, -EIO }, { -ENOBUFS, -EIO },
	};
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(errors); i++) {
		fake_device_fail(pair->fake, FAKE_POST_SEND, 1, errors[i][0]);
		KUNIT_EXPECT_EQ(test, errors[i][1], conn_post_writes(&pair->client, 0, 1));
		fake_device_fail(pair->fake, FAKE_POST_RECV, 1, errors[i][0]);
		KUNIT_EXPECT_EQ(test, errors[i][1], conn_receive_empty(&pair->client, 1));
	}
	KUNIT_EXPECT_EQ(test, 0, conn_info(&pair->client).sends_posted);
	KUNIT_EXPECT_EQ(test, 0, conn_info(&pair->client).receives_posted);
}

static void expect_posts(struct kunit *test, struct conn_end *end, int send, int recv_wr)
{
	KUNIT_EXPECT_EQ(test, send, conn_post_writes(end, 0, 1));
	KUNIT_EXPECT_EQ(test, recv_wr, conn_receive_empty(end, 1));
}

/* States in which send work requests and receives can be posted, and others. */
static void test_states(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;

	conn_client_resolve(pair);
	expect_posts(test, client, -ENOTCONN, -ENOTCONN);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(client));
	expect_posts(test, client, -ENOTCONN, 1);
	conn_client_connect(pair);
	expect_posts(test, client, -ENOTCONN, 1);
	conn_server_take(pair);
	expect_posts(test, server, -ENOTCONN, -ENOTCONN);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(server));
	expect_posts(test, server, -ENOTCONN, 1);
	conn_server_accept(pair);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, CONN_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(server->conn, CONN_LONG_MS));
	expect_posts(test, client, 1, 1);
	expect_posts(test, server, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(client->conn));
	expect_posts(test, client, -ENOTCONN, -ENOTCONN);
	krdma_conn_close(client->conn);
	expect_posts(test, client, -ENOTCONN, -ENOTCONN);
	test_device_unregister(pair->device);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, conn_post_writes(client, 0, 1));
	conn_pair_close(pair);
	conn_expect_whole(client);
	conn_expect_whole(server);
}

static void test_device_gone(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);

	test_device_unregister(pair->device);
	expect_posts(test, &pair->client, -ENODEV, -ENODEV);
	expect_posts(test, &pair->server, -ENODEV, -ENODEV);
}

static void test_receive_errors(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new_within(test, &for_errors);
	u32 max_sge = pair->setup.attr.max_recv_sge;
	struct krdma_sge sges[4];
	struct krdma_recv_wr recv_wr = { .sges = sges };
	unsigned int i;

	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_conn_post_recv(pair->client.conn, NULL, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_conn_post_recv(pair->client.conn, NULL, -5));
	for (i = 0; i < ARRAY_SIZE(sges); i++)
		sges[i] = conn_sge(&pair->client, 64 * i, 64);
	for (recv_wr.sge_count = 0; recv_wr.sge_count <= 4; recv_wr.sge_count++)
		KUNIT_EXPECT_EQ(test, recv_wr.sge_count <= max_sge ? 1 : -EMSGSIZE,
				conn_receive(&pair->client, &recv_wr, 1));
	/* Empty SGEs do not count. */
	sges[0].length = 0;
	sges[2].length = 0;
	if (max_sge < 2)
		sges[3].length = 0;
	recv_wr.sge_count = 4;
	KUNIT_EXPECT_EQ(test, 1, conn_receive(&pair->client, &recv_wr, 1));
	conn_pair_close(pair);
	conn_expect_whole(&pair->client);
}

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

static int post_region(struct conn_end *end, u8 opcode, struct krdma_mr *mr, u64 addr,
		       u32 length)
{
	struct krdma_sge sge = { .mr = mr, .addr = addr, .length = length };
	struct krdma_send_wr wr = { .opcode = opcode, .sges = &sge, .sge_count = 1 };

	return conn_post(end, &wr, 1);
}

static void test_local_memory(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct krdma_session *other = krdma_session_create(&init_net);
	struct conn_end *client = &pair->client;
	u64 addr = (uintptr_t)client->buffer;
	struct krdma_mr *mr;
	struct krdma_sge sge = { .addr = addr, .length = 8 };
	struct krdma_recv_wr recv_wr = { .sges = &sge, .sge_count = 1 };

	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	mr = map(test, client, 0);
	sge.mr = mr;
	KUNIT_EXPECT_EQ(test, -EACCES, post_region(client, KRDMA_OP_READ, mr, addr, 8));
	KUNIT_EXPECT_EQ(test, -EACCES, conn_receive(client, &recv_wr, 1));
	KUNIT_EXPECT_EQ(test, -ERANGE, post_region(client, KRDMA_OP_SEND, mr, addr - 1, 8));
	KUNIT_EXPECT_EQ(test, -ERANGE, post_region(client, KRDMA_OP_SEND, mr,
						   addr + CONN_BUFFER - 7, 8));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	client->mr = NULL;

	mr = krdma_mr_register(other, pair->dev, client->buffer, 64, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, -EXDEV, post_region(client, KRDMA_OP_SEND, mr, addr, 8));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	krdma_session_put(other);
}

static struct kunit_case post_error_cases[] = {
	KUNIT_CASE(test_refused),
	KUNIT_CASE_SLOW(test_refused_in_batch),
	KUNIT_CASE(test_provider_refuses),
	KUNIT_CASE(test_states),
	KUNIT_CASE(test_device_gone),
	KUNIT_CASE(test_receive_errors),
	KUNIT_CASE(test_local_memory),
	{}
};

static struct kunit_suite post_error_suite = {
	.name = "krdma_post_errors",
	.init = test_objects_init,
	.test_cases = post_error_cases,
};

kunit_test_suite(post_error_suite);
