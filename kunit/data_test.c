// SPDX-License-Identifier: GPL-2.0
/*
 * From what a consumer posts to what the device gets, and back: work requests, their parts,
 * signaling, credits, bytes.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "conn_fixture.h"
#include "objects.h"
#include "io/wq.h"

#define REMOTE_ADDR	0x123456789000ULL
#define REMOTE_KEY	0xabcd01

/* Work requests of a batch with memory of both kinds. */
#define MAPPED_MOST	4
#define MAPPED_DEPTH	16

static const enum krdma_context contexts[] = {
	KRDMA_CONTEXT_WORKQUEUE,
	KRDMA_CONTEXT_SOFTIRQ,
	KRDMA_CONTEXT_POLL,
};

/*
 * Work requests
 */

/**
 * struct given - a work request, and what the device must get for it
 * @wr: what the consumer posts, without memory
 * @bytes: length of its memory
 * @opcode: opcode that the device gets
 * @flags: flags that the device gets besides IB_SEND_SIGNALED
 * @remote: the device gets the peer's address and rkey
 * @sink: bytes of krdma's own memory
 */
struct given {
	struct krdma_send_wr wr;
	u32 bytes;
	enum ib_wr_opcode opcode;
	int flags;
	bool remote;
	u32 sink;
};

#define REMOTE	.remote_addr = REMOTE_ADDR, .rkey = REMOTE_KEY
#define ASK(name, ...)	.wr = { .opcode = KRDMA_OP_##name, __VA_ARGS__ }

static const struct given given_cases[] = {
	{ ASK(SEND), .bytes = 100, .opcode = IB_WR_SEND },
	{ ASK(SEND, .flags = KRDMA_POST_FENCE), .opcode = IB_WR_SEND, .flags = IB_SEND_FENCE },
	{ ASK(SEND, .flags = KRDMA_POST_SOLICITED), .bytes = 1, .opcode = IB_WR_SEND,
	  .flags = IB_SEND_SOLICITED },
	{ ASK(SEND, .flags = KRDMA_POST_INLINE), .bytes = 20, .opcode = IB_WR_SEND,
	  .flags = IB_SEND_INLINE },
	{ ASK(SEND_INVALIDATE, .key = 77), .bytes = 9, .opcode = IB_WR_SEND_WITH_INV },
	{ ASK(WRITE, REMOTE), .bytes = 1000, .opcode = IB_WR_RDMA_WRITE, .remote = true },
	{ ASK(WRITE, REMOTE), .opcode = IB_WR_RDMA_WRITE, .remote = true },
	{ ASK(WRITE, REMOTE, .flags = KRDMA_POST_INLINE | KRDMA_POST_FENCE), .bytes = 32,
	  .opcode = IB_WR_RDMA_WRITE, .remote = true, .flags = IB_SEND_INLINE | IB_SEND_FENCE },
	{ ASK(READ, REMOTE), .bytes = 512, .opcode = IB_WR_RDMA_READ, .remote = true },
	/* siw refuses a fence on a read, and needs none. */
	{ ASK(READ, REMOTE, .flags = KRDMA_POST_FENCE), .bytes = 1, .opcode = IB_WR_RDMA_READ,
	  .remote = true },
	{ ASK(COMPARE_SWAP, REMOTE, .operand = 5, .swap = 6), .bytes = 8,
	  .opcode = IB_WR_ATOMIC_CMP_AND_SWP },
	{ ASK(FETCH_ADD, REMOTE, .operand = 7), .bytes = 8,
	  .opcode = IB_WR_ATOMIC_FETCH_AND_ADD },
	{ ASK(ATOMIC_WRITE, REMOTE, .operand = 0x1122334455667788ULL), .sink = 8,
	  .opcode = IB_WR_RDMA_WRITE, .remote = true, .flags = IB_SEND_FENCE },
	{ ASK(FLUSH, REMOTE, .flush = KRDMA_FLUSH_GLOBAL, .operand = 100), .sink = 1,
	  .opcode = IB_WR_RDMA_READ, .remote = true },
	{ ASK(FLUSH, REMOTE, .flush = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY), .sink = 1,
	  .opcode = IB_WR_RDMA_READ, .remote = true },
	{ ASK(FLUSH, REMOTE, .flags = KRDMA_POST_FENCE, .flush = KRDMA_FLUSH_GLOBAL,
	      .operand = U32_MAX), .sink = 1, .opcode = IB_WR_RDMA_READ,
	  .remote = true },
};

static void given_check_memory(struct kunit *test, struct conn_pair *pair,
			       const struct given *given, const struct fake_send *send,
			       const struct krdma_sge *sge)
{
	if (given->sink) {
		KUNIT_EXPECT_EQ(test, 1, send->wr.num_sge);
		KUNIT_EXPECT_EQ(test, given->sink, send->sge[0].length);
		KUNIT_EXPECT_EQ(test, krdma_conn_lkey(pair->client.conn), send->sge[0].lkey);
	} else if (given->bytes) {
		KUNIT_EXPECT_EQ(test, 1, send->wr.num_sge);
		KUNIT_EXPECT_EQ(test, sge->addr, send->sge[0].addr);
		KUNIT_EXPECT_EQ(test, sge->length, send->sge[0].length);
		KUNIT_EXPECT_EQ(test, sge->key, send->sge[0].lkey);
	} else {
		KUNIT_EXPECT_EQ(test, 0, send->wr.num_sge);
	}
	if (given->flags & IB_SEND_INLINE) {
		KUNIT_EXPECT_EQ(test, given->bytes, send->inline_length);
		KUNIT_EXPECT_MEMEQ(test, pair->client.buffer, send->inline_data, given->bytes);
	}
	if (given->wr.opcode == KRDMA_OP_ATOMIC_WRITE)
		KUNIT_EXPECT_EQ(test, given->wr.operand,
				*(u64 *)(uintptr_t)send->sge[0].addr);
}

static void given_check(struct kunit *test, struct conn_pair *pair, const struct given *given,
			const struct fake_send *send, const struct krdma_sge *sge)
{
	const struct krdma_send_wr *wr = &given->wr;

	KUNIT_EXPECT_EQ(test, given->opcode, send->wr.opcode);
	KUNIT_EXPECT_EQ(test, given->flags | IB_SEND_SIGNALED, send->wr.send_flags);
	if (given->remote) {
		KUNIT_EXPECT_EQ(test, REMOTE_ADDR, send->rdma.remote_addr);
		KUNIT_EXPECT_EQ(test, REMOTE_KEY, send->rdma.rkey);
	}
	switch (given->opcode) {
	case IB_WR_SEND_WITH_INV:
		KUNIT_EXPECT_EQ(test, wr->key, send->wr.ex.invalidate_rkey);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		KUNIT_EXPECT_EQ(test, wr->swap, send->atomic.swap);
		fallthrough;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		KUNIT_EXPECT_EQ(test, wr->operand, send->atomic.compare_add);
		KUNIT_EXPECT_EQ(test, REMOTE_ADDR, send->atomic.remote_addr);
		KUNIT_EXPECT_EQ(test, REMOTE_KEY, send->atomic.rkey);
		break;
	default:
		break;
	}
	given_check_memory(test, pair, given, send, sge);
}

/* The device has all operations, and can read into any memory. */
static void tune_all_operations(struct fake_device *fake)
{
	fake_device_offer_atomics(fake);
	fake->posts_atomics = true;
	fake_device_read_like_siw(fake);
}

static void test_operations_as_given(struct kunit *test)
{
	static const struct conn_setup setup = {
		.attr = { .max_inline = 32 },
		.tune = tune_all_operations,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct krdma_send_wr wr;
	struct fake_send *send;
	struct krdma_sge sge;
	unsigned int i;

	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	memset(pair->client.buffer, 0x3c, 64);
	fake_stall(pair->fake, NULL);

	for (i = 0; i < ARRAY_SIZE(given_cases); i++) {
		wr = given_cases[i].wr;
		sge = conn_sge(&pair->client, 0, given_cases[i].bytes);
		wr.sges = &sge;
		wr.sge_count = !!given_cases[i].bytes;
		KUNIT_ASSERT_EQ_MSG(test, 1, conn_post(&pair->client, &wr, 1), "case %u", i);
		/* The consumer may reuse its work request after the call. */
		memset(&wr, 0xff, sizeof(wr));
		KUNIT_ASSERT_EQ(test, i + 1, conn_given_count(&pair->client));
		conn_given(&pair->client, i, send);
		given_check(test, pair, &given_cases[i], send, &sge);
	}
	KUNIT_EXPECT_EQ(test, 0, conn_told(&pair->client.sends));

	conn_pair_close(pair);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(given_cases), conn_told(&pair->client.sends));
	conn_expect_whole(&pair->client);
	conn_expect_whole(&pair->server);
}

#define DEEP	1100

static void tune_deep_queues(struct fake_device *fake)
{
	fake->attr.max_qp_wr = 4 * DEEP;
	fake->attr.max_cqe = 8 * DEEP;
}

/* Each WQE of a deep queue has 8 bytes of its own, and they are in no allocation beyond a page. */
static void test_sinks_of_a_deep_queue(struct kunit *test)
{
	static const struct conn_setup setup = {
		.attr = { .send_depth = DEEP },
		.tune = tune_deep_queues,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct fake_send *send;
	const u64 *word;
	u64 i;

	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	fake_stall(pair->fake, NULL);
	for (i = 0; i < DEEP; i++) {
		struct krdma_send_wr wr = {
			.opcode = KRDMA_OP_ATOMIC_WRITE, REMOTE, .operand = i,
		};

		KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
	}
	for (i = 0; i < DEEP; i++) {
		conn_given(&pair->client, i, send);
		word = (const u64 *)(uintptr_t)send->sge[0].addr;
		KUNIT_ASSERT_EQ(test, i, *word);
		/* The first one of an allocation. */
		if (!i)
			KUNIT_EXPECT_LE(test, ksize(word), PAGE_SIZE);
	}
	conn_pair_close(pair);
	conn_expect_whole(&pair->client);
}

/*
 * Parts of a work request
 */

static void tune_short_messages(struct fake_device *fake)
{
	fake->port.max_msg_sz = 100;
	fake_device_read_like_siw(fake);
}

/* Each byte of a work request is in exactly one part, at the right place. */
static void check_pieces(struct kunit *test, struct conn_pair *pair, unsigned int first,
			 const struct krdma_send_wr *wr, u32 max_sge, u32 max_bytes)
{
	unsigned int pieces = conn_given_count(&pair->client) - first;
	u32 sge = 0, used = 0, done = 0;
	struct fake_send *send;
	unsigned int i;
	int j;

	send = kzalloc_obj(*send, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	for (i = 0; i < pieces; i++) {
		u32 bytes = 0;

		conn_given(&pair->client, first + i, send);
		KUNIT_EXPECT_LE(test, send->wr.num_sge, (int)max_sge);
		KUNIT_EXPECT_EQ(test, REMOTE_ADDR + done, send->rdma.remote_addr);
		KUNIT_EXPECT_EQ(test, REMOTE_KEY, send->rdma.rkey);
		for (j = 0; j < send->wr.num_sge; j++) {
			const struct ib_sge *piece = &send->sge[j];

			KUNIT_EXPECT_EQ(test, wr->sges[sge].addr + used, piece->addr);
			KUNIT_EXPECT_EQ(test, wr->sges[sge].key, piece->lkey);
			used += piece->length;
			bytes += piece->length;
			KUNIT_EXPECT_LE(test, used, wr->sges[sge].length);
			while (sge < wr->sge_count && used == wr->sges[sge].length) {
				sge++;
				used = 0;
			}
		}
		KUNIT_EXPECT_LE(test, bytes, max_bytes);
		done += bytes;
		/* Only the last part is signaled, unless half an SQ has no signaled one. */
		if (i + 1 == pieces)
			KUNIT_EXPECT_TRUE(test, send->wr.send_flags & IB_SEND_SIGNALED);
		else
			KUNIT_EXPECT_EQ(test, (i + 1) % 32 == 0,
					!!(send->wr.send_flags & IB_SEND_SIGNALED));
	}
	kfree(send);
	KUNIT_EXPECT_EQ(test, wr->sge_count, sge);
}

static u32 pieces_of(const struct krdma_sge *sges, u32 count, u32 max_sge, u32 max_bytes)
{
	u32 pieces = 1, entries = 0, bytes = 0, i;

	for (i = 0; i < count; i++) {
		u32 left = sges[i].length;

		while (left) {
			u32 part;

			if (entries == max_sge || bytes == max_bytes) {
				pieces++;
				entries = 0;
				bytes = 0;
			}
			part = min(left, max_bytes - bytes);
			entries++;
			bytes += part;
			left -= part;
		}
	}
	return pieces;
}

static void one_in_pieces(struct kunit *test, struct conn_pair *pair, u8 opcode, u32 count,
			  u32 length, u32 max_sge)
{
	struct krdma_sge sges[20];
	struct krdma_send_wr wr = {
		.opcode = opcode, .sges = sges, .sge_count = count, REMOTE,
	};
	unsigned int first = conn_given_count(&pair->client);
	u32 told = conn_told(&pair->client.sends);
	u32 i;

	for (i = 0; i < count; i++)
		sges[i] = conn_sge(&pair->client, 700 * i, length + i % 3);
	fake_stall(pair->fake, conn_qp(&pair->client));
	KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
	KUNIT_EXPECT_EQ_MSG(test, pieces_of(sges, count, max_sge, 100),
			    conn_given_count(&pair->client) - first, "%u of %u", count, length);
	check_pieces(test, pair, first, &wr, max_sge, 100);
	fake_go_on(pair->fake, conn_qp(&pair->client));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == told + 1));
	KUNIT_EXPECT_EQ(test, KRDMA_WC_SUCCESS, pair->client.last.status);
	KUNIT_EXPECT_EQ(test, opcode, pair->client.last.opcode);
}

/* With an imagined peer, which accepts everything. */
static void test_pieces(struct kunit *test)
{
	static const struct conn_setup setup = {
		.attr = { .max_send_sge = 5, .send_depth = 64 },
		.tune = tune_short_messages,
	};
	static const u32 lengths[] = { 1, 7, 24, 99, 100, 101, 250 };
	struct conn_pair *pair = conn_pair_new_within(test, &setup);
	u32 max_send_sge = pair->setup.attr.max_send_sge;
	u32 max_read_sge = min_t(u32, max_send_sge, pair->fake->attr.max_sge_rd);
	unsigned int i;
	u32 count;

	fake_qp_join(conn_qp(&pair->client), NULL);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (count = 1; count <= 20; count++) {
			if (count * (lengths[i] + 2) > 5000)
				break;
			one_in_pieces(test, pair, KRDMA_OP_WRITE, count, lengths[i],
				      max_send_sge);
			one_in_pieces(test, pair, KRDMA_OP_READ, count, lengths[i],
				      max_read_sge);
		}
	}
	conn_pair_close(pair);
	conn_expect_whole(&pair->client);
}

/*
 * Signaling
 */

static void silent_one(struct kunit *test, struct conn_pair *pair)
{
	int ret;

	for (;;) {
		unsigned int spaces = atomic_read(&pair->client.spaces);

		ret = conn_post_writes(&pair->client, KRDMA_POST_UNSIGNALED, 1);
		if (ret != -EAGAIN)
			break;
		/* If the WQEs were free already, posting would never fail. */
		KUNIT_ASSERT_TRUE(test, conn_until(pair, atomic_read(&pair->client.spaces) !=
						   spaces));
	}
	KUNIT_ASSERT_EQ(test, 1, ret);
}

/* Only unsignaled work requests: posting goes on for ever, without a completion. */
static void silent_sweep(struct kunit *test, enum krdma_context where, u32 depth)
{
	struct conn_setup setup = { .where = where, .attr = { .send_depth = depth } };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	unsigned int run = 0, longest = 0, i;
	struct fake_send *send;

	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	for (i = 0; i < 3 * depth + 7; i++) {
		silent_one(test, pair);
		conn_given(&pair->client, i, send);
		run = send->wr.send_flags & IB_SEND_SIGNALED ? 0 : run + 1;
		longest = max(longest, run);
	}
	KUNIT_EXPECT_EQ(test, 0, conn_told(&pair->client.sends));
	KUNIT_EXPECT_EQ(test, (depth + 1) / 2 - 1, longest);
	/* A signaled work request completes after all of them. */
	while (conn_post_writes(&pair->client, 0, 1) == -EAGAIN) {
		conn_pair_poll(pair);
		/* Completions may need this processor. */
		fsleep(20);
	}
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 1));
	KUNIT_EXPECT_EQ(test, 3 * depth + 8, conn_info(&pair->client).sends_posted);
	KUNIT_EXPECT_EQ(test, 3 * depth + 8, conn_info(&pair->client).sends_completed);
	conn_pair_close(pair);
	KUNIT_EXPECT_EQ(test, 1, conn_told(&pair->client.sends));
	conn_expect_whole(&pair->client);
	conn_pair_end(pair);
}

static void test_silent(struct kunit *test)
{
	static const u32 depths[] = { 1, 2, 3, 64 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(contexts); i++)
		for (j = 0; j < ARRAY_SIZE(depths); j++)
			silent_sweep(test, contexts[i], depths[j]);
}

/* Posts a write that the device gets in so many parts. */
static int post_parts(struct conn_pair *pair, u32 parts)
{
	struct krdma_sge sge = conn_sge(&pair->client, 0, 100 * parts);
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_WRITE, .sges = &sge, .sge_count = 1, REMOTE,
	};

	return conn_post(&pair->client, &wr, 1);
}

/*
 * The places of unsignaled work requests are free after a signaled one.  One that needs them itself
 * would be refused for ever with -EAGAIN.
 */
static void test_parts_behind_silent(struct kunit *test)
{
	static const u32 depths[] = { 1, 2, 4, 9 };
	/* Elsewhere completions can come between two posts, and change what is refused. */
	struct conn_setup setup = { .tune = tune_short_messages, .where = KRDMA_CONTEXT_POLL };
	u32 i, silent, parts, told = 0;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		u32 depth = depths[i];
		struct conn_pair *pair;

		setup.attr.send_depth = depth;
		pair = conn_pair_new(test, &setup);
		fake_qp_join(conn_qp(&pair->client), NULL);
		for (silent = 0, told = 0; silent < (depth + 1) / 2; silent++) {
			for (parts = 1; parts <= depth; parts++) {
				bool fits = silent + parts <= depth;

				if (silent)
					KUNIT_ASSERT_EQ(test, silent,
							conn_post_writes(&pair->client,
									 KRDMA_POST_UNSIGNALED,
									 silent));
				KUNIT_EXPECT_EQ_MSG(test, fits ? 1 : -EMSGSIZE,
						    post_parts(pair, parts), "%u behind %u of %u",
						    parts, silent, depth);
				if (!fits)
					KUNIT_EXPECT_EQ(test, 1, post_parts(pair, 1));
				told++;
				KUNIT_ASSERT_TRUE(test,
						  conn_until(pair,
							     conn_told(&pair->client.sends) ==
							     told));
			}
		}
		conn_pair_close(pair);
		conn_expect_whole(&pair->client);
		conn_pair_end(pair);
	}
}

/* The work request that fails completes, and so do those behind it; those before it do not. */
static void test_silent_failure(struct kunit *test)
{
	struct conn_setup setup = { };
	unsigned int i, nth;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair;

		setup.where = contexts[i];
		pair = conn_pair_new(test, &setup);
		for (nth = 1; nth <= 40; nth += 13) {
			struct fake_fault fault = { .nth = nth, .status = IB_WC_REM_ACCESS_ERR };
			u32 c;

			fault.qp = conn_qp(&pair->client);
			fake_stall(pair->fake, NULL);
			fake_set_fault(pair->fake, FAKE_SEND, &fault);
			KUNIT_ASSERT_EQ(test, 40, conn_post_writes(&pair->client,
								   KRDMA_POST_UNSIGNALED, 40));
			fake_go_on(pair->fake, NULL);
			KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) ==
							   41 - nth));
			for (c = 0; c < 40; c++)
				KUNIT_EXPECT_EQ(test, c + 1 < nth ? CONN_UNTOLD :
						c + 1 == nth ? KRDMA_WC_REM_ACCESS_ERR :
						KRDMA_WC_WR_FLUSH_ERR,
						pair->client.sends.status[c]);
			fake_set_fault(pair->fake, FAKE_SEND, NULL);
			conn_pair_again(pair);
		}
		conn_pair_end(pair);
	}
}

/* A work request that the device refuses must not be the one that was to be signaled. */
static void test_silent_refused(struct kunit *test)
{
	static const struct conn_setup setup = { .attr = { .send_depth = 4 } };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	unsigned int i;

	for (i = 0; i < 20; i++) {
		int ret;

		silent_one(test, pair);
		fake_device_fail(pair->fake, FAKE_POST_SEND, 1, -EINVAL);
		ret = conn_post_writes(&pair->client, KRDMA_POST_UNSIGNALED, 1);
		fake_device_fail(pair->fake, FAKE_POST_SEND, 0, 0);
		/* The SQ may be full for the moment, but not for ever: see above. */
		KUNIT_EXPECT_TRUE(test, ret == -EINVAL || ret == -EAGAIN);
	}
	KUNIT_EXPECT_EQ(test, 20, conn_info(&pair->client).sends_posted);
	conn_pair_close(pair);
	conn_expect_whole(&pair->client);
}

/*
 * Credits
 */

static void credits_sends(struct kunit *test, struct conn_pair *pair, u32 depth)
{
	struct conn_end *end = &pair->client;
	u32 told = conn_told(&end->sends);
	int spaces;

	fake_stall(pair->fake, conn_qp(end));
	spaces = atomic_read(&end->spaces);
	/* More work requests than there are free WQEs, in one call. */
	KUNIT_EXPECT_EQ(test, depth, conn_post_writes(end, 0, depth + 5));
	KUNIT_EXPECT_EQ(test, -EAGAIN, conn_post_writes(end, 0, 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, conn_post_writes(end, KRDMA_POST_UNSIGNALED, 1));
	KUNIT_EXPECT_EQ(test, spaces, atomic_read(&end->spaces));
	fake_go_on(pair->fake, conn_qp(end));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&end->sends) == told + depth));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, atomic_read(&end->spaces) == spaces + 1));
	/* All WQEs are free again, and no call waits for them any more. */
	fake_stall(pair->fake, conn_qp(end));
	KUNIT_EXPECT_EQ(test, depth, conn_post_writes(end, 0, depth));
	fake_go_on(pair->fake, conn_qp(end));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&end->sends) == told + 2 * depth));
	KUNIT_EXPECT_EQ(test, spaces + 1, atomic_read(&end->spaces));
}

static void credits_receives(struct kunit *test, struct conn_pair *pair, u32 depth)
{
	struct conn_end *end = &pair->server;
	struct fake_message message = {};
	int spaces = atomic_read(&end->spaces);
	u32 i;

	KUNIT_EXPECT_EQ(test, depth, conn_receive_empty(end, depth + 5));
	KUNIT_EXPECT_EQ(test, -EAGAIN, conn_receive_empty(end, 1));
	KUNIT_EXPECT_EQ(test, spaces, atomic_read(&end->spaces));
	for (i = 0; i < depth; i++)
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(conn_qp(end), &message));
	KUNIT_EXPECT_EQ(test, IB_WC_RNR_RETRY_EXC_ERR, fake_qp_receive(conn_qp(end), &message));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&end->recv_wrs) == depth));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, atomic_read(&end->spaces) == spaces + 1));
	KUNIT_EXPECT_EQ(test, depth, conn_receive_empty(end, depth));
}

static void test_credits(struct kunit *test)
{
	static const u32 depths[] = { 1, 2, 3, 16, 33 };
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		for (j = 0; j < ARRAY_SIZE(depths); j++) {
			struct conn_setup setup = {
				.where = contexts[i],
				.attr = { .send_depth = depths[j], .recv_depth = depths[j] },
			};
			struct conn_pair *pair = conn_pair_new(test, &setup);

			credits_sends(test, pair, depths[j]);
			credits_receives(test, pair, depths[j]);
			conn_pair_close(pair);
			conn_expect_whole(&pair->client);
			conn_expect_whole(&pair->server);
			conn_pair_end(pair);
		}
	}
}

/* A consumer that gets a completion has room for the next work request. */
static void test_repost(struct kunit *test)
{
	static const u32 depths[] = { 1, 2, 5, 16 };
	struct fake_message message = {};
	unsigned int i, j, n;

	for (i = 0; i < ARRAY_SIZE(contexts) * ARRAY_SIZE(depths); i++) {
		struct conn_setup setup = {
			.where = contexts[i / ARRAY_SIZE(depths)],
			.attr = { .recv_depth = depths[i % ARRAY_SIZE(depths)] },
		};
		struct conn_pair *pair = conn_pair_new(test, &setup);
		u32 depth = setup.attr.recv_depth;

		pair->server.refill = true;
		KUNIT_ASSERT_EQ(test, depth, conn_receive_empty(&pair->server, depth));
		for (n = 0; n < 4; n++) {
			for (j = 0; j < depth; j++)
				KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
						fake_qp_receive(conn_qp(&pair->server), &message));
			KUNIT_ASSERT_TRUE(test,
					  conn_until(pair,
						     READ_ONCE(pair->server.recv_wrs.accepted) ==
						     (n + 2) * depth));
		}
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&pair->server.spaces));
		conn_pair_close(pair);
		conn_expect_whole(&pair->server);
		conn_pair_end(pair);
	}
}

/* Batches of every length around that of a list of work requests. */
static void test_chains(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;
	u32 told = 0;
	int count, i;

	for (count = 1; count <= 49; count++) {
		struct fake_message message = {};

		KUNIT_ASSERT_EQ(test, count, conn_post_writes(client, 0, count));
		KUNIT_ASSERT_EQ(test, count, conn_receive_empty(server, count));
		for (i = 0; i < count; i++)
			fake_qp_receive(conn_qp(server), &message);
		told += count;
		KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) == told &&
						   conn_told(&server->recv_wrs) == told));
	}
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	KUNIT_EXPECT_EQ(test, 0, server->recv_wrs.failed);
	conn_expect_whole(client);
	conn_expect_whole(server);
	conn_pair_close(pair);
}

/*
 * Bytes
 */

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

/* What arrives, where, and what its completion says. */
static void test_bytes(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = fake_device_read_like_siw };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;
	struct krdma_mr_info info;
	struct krdma_sge from[2], to[1];
	struct krdma_send_wr wr = { .sges = from, .sge_count = 2 };
	struct krdma_recv_wr recv_wr = { .sges = to, .sge_count = 1 };
	u32 i;

	krdma_mr_query(map(test, server, KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE |
			   KRDMA_ACCESS_REMOTE_READ), &info);
	for (i = 0; i < CONN_BUFFER; i++)
		client->buffer[i] = i * 7 + i / 256;
	from[0] = conn_sge(client, 0, 1000);
	from[1] = conn_sge(client, 2000, 500);
	to[0] = conn_sge(server, 100, 4000);

	wr.opcode = KRDMA_OP_SEND;
	KUNIT_ASSERT_EQ(test, 1, conn_receive(server, &recv_wr, 1));
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 1 &&
					   conn_told(&server->recv_wrs) == 1));
	KUNIT_EXPECT_MEMEQ(test, client->buffer, server->buffer + 100, 1000);
	KUNIT_EXPECT_MEMEQ(test, client->buffer + 2000, server->buffer + 1100, 500);
	KUNIT_EXPECT_EQ(test, 1500, server->last.length);
	KUNIT_EXPECT_EQ(test, 0, server->last.flags);
	KUNIT_EXPECT_EQ(test, 1500, client->last.length);
	KUNIT_EXPECT_EQ(test, KRDMA_OP_SEND, client->last.opcode);

	wr.opcode = KRDMA_OP_WRITE;
	wr.remote_addr = info.remote_addr + 5000;
	wr.rkey = info.rkey;
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 2));
	KUNIT_EXPECT_MEMEQ(test, client->buffer, server->buffer + 5000, 1000);
	KUNIT_EXPECT_MEMEQ(test, client->buffer + 2000, server->buffer + 6000, 500);

	/* The eight bytes are the number in the processor's byte order. */
	wr = (struct krdma_send_wr) {
		.opcode = KRDMA_OP_ATOMIC_WRITE, .operand = 0x0102030405060708ULL,
		.remote_addr = info.remote_addr + 64, .rkey = info.rkey,
	};
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 3));
	KUNIT_EXPECT_EQ(test, 8, client->last.length);
	wr.opcode = KRDMA_OP_FLUSH;
	wr.flush = KRDMA_FLUSH_GLOBAL;
	wr.operand = 8;
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 4));
	KUNIT_EXPECT_EQ(test, 0x0102030405060708ULL, *(u64 *)(server->buffer + 64));

	memset(client->buffer, 0, CONN_BUFFER);
	wr = (struct krdma_send_wr) {
		.opcode = KRDMA_OP_READ, .sges = from, .sge_count = 2,
		.remote_addr = info.remote_addr + 5000, .rkey = info.rkey,
	};
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) == 5));
	KUNIT_EXPECT_MEMEQ(test, server->buffer + 5000, client->buffer, 1000);
	KUNIT_EXPECT_MEMEQ(test, server->buffer + 6000, client->buffer + 2000, 500);
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	conn_pair_close(pair);
	conn_expect_whole(client);
	conn_expect_whole(server);
}

/**
 * struct mapped - SGEs of a batch, in turn in memory that the consumer has mapped and in MRs
 * @sges: one for each work request
 * @wrs: writes, from @sges to the peer's MR
 */
struct mapped {
	struct krdma_sge sges[MAPPED_MOST];
	struct krdma_send_wr wrs[MAPPED_MOST];
};

/*
 * @kinds: a bit for each work request: set, it is in an MR.  @silent: all but the last one are
 * unsignaled.
 */
static void mapped_fill(struct mapped *mapped, struct conn_pair *pair, u32 count, u32 kinds,
			bool silent, const struct krdma_mr_info *to)
{
	u32 i;

	for (i = 0; i < count; i++) {
		mapped->sges[i] = conn_sge(&pair->client, 64 * i, 8 + i);
		if (kinds & BIT(i)) {
			mapped->sges[i].mr = pair->client.mr;
			mapped->sges[i].key = 0;
		}
		mapped->wrs[i] = (struct krdma_send_wr) {
			.opcode = KRDMA_OP_WRITE, .sges = &mapped->sges[i], .sge_count = 1,
			.remote_addr = to->remote_addr + 64 * i, .rkey = to->rkey,
			.flags = silent && i + 1 < count ? KRDMA_POST_UNSIGNALED : 0,
		};
	}
}

static void mapped_check(struct kunit *test, struct conn_pair *pair, const struct mapped *mapped,
			 u32 first, u32 count)
{
	struct fake_send send;
	u32 i;

	for (i = 0; i < count; i++) {
		const struct krdma_sge *sge = &mapped->sges[i];

		conn_given(&pair->client, first + i, &send);
		KUNIT_EXPECT_EQ(test, 1, send.wr.num_sge);
		KUNIT_EXPECT_EQ(test, sge->length, send.sge[0].length);
		if (sge->mr)
			continue;
		KUNIT_EXPECT_EQ(test, sge->addr, send.sge[0].addr);
		KUNIT_EXPECT_EQ(test, sge->key, send.sge[0].lkey);
	}
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_MEMEQ(test, pair->client.buffer + 64 * i,
				   pair->server.buffer + 64 * i, mapped->sges[i].length);
}

/* A batch with memory of both kinds: @count work requests. */
static void mapped_post(struct kunit *test, struct conn_pair *pair, struct mapped *mapped,
			u32 count, u32 kinds, bool silent)
{
	struct conn_end *client = &pair->client;
	u32 told = conn_told(&client->sends);
	u32 given = conn_given_count(client);
	struct krdma_mr_info info;
	u32 i;

	krdma_mr_query(pair->server.mr, &info);
	map(test, client, 0);
	mapped_fill(mapped, pair, count, kinds, silent, &info);
	for (i = 0; i < CONN_BUFFER; i++)
		client->buffer[i] = i + given;
	KUNIT_ASSERT_EQ(test, count, conn_post(client, mapped->wrs, count));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&client->sends) ==
					   told + (silent ? 1 : count)));
	mapped_check(test, pair, mapped, given, count);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(client->mr));
	client->mr = NULL;
}

/* Alone, one after the other, as many as fit. */
static void mapped_until_full(struct kunit *test, struct conn_pair *pair, struct mapped *mapped)
{
	u32 told = conn_told(&pair->client.sends);
	struct krdma_mr_info info;
	u32 i;

	krdma_mr_query(pair->server.mr, &info);
	mapped_fill(mapped, pair, 1, 0, false, &info);
	for (i = 0; i < MAPPED_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, mapped->wrs, 1));
	if (pair->setup.where == KRDMA_CONTEXT_POLL)
		KUNIT_EXPECT_EQ(test, -EAGAIN, conn_post(&pair->client, mapped->wrs, 1));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) >=
					   told + MAPPED_DEPTH));
}

/* Memory that the consumer has mapped, and memory of an MR, in each order. */
static void test_mapped_memory(struct kunit *test)
{
	struct mapped *mapped;
	u32 count, kinds;
	unsigned int i;

	mapped = kunit_kzalloc(test, sizeof(*mapped), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mapped);
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = {
			.where = contexts[i], .attr.send_depth = MAPPED_DEPTH,
		};
		struct conn_pair *pair = conn_pair_new(test, &setup);

		map(test, &pair->server, KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE);
		for (count = 1; count <= MAPPED_MOST; count++)
			for (kinds = 0; kinds < BIT(count); kinds++) {
				mapped_post(test, pair, mapped, count, kinds, false);
				mapped_post(test, pair, mapped, count, kinds, true);
			}
		mapped_until_full(test, pair, mapped);
		KUNIT_EXPECT_EQ(test, 0, pair->client.sends.failed);
		conn_pair_close(pair);
		conn_expect_whole(&pair->client);
		conn_pair_end(pair);
	}
}

/* What a message can bring besides its bytes. */
static void test_extras(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *server = &pair->server;
	struct fake_message message = {
		.flags = IB_WC_WITH_IMM, .imm_data = cpu_to_be32(0x11223344),
	};
	struct krdma_mr_info info;

	krdma_mr_query(map(test, server, KRDMA_ACCESS_REMOTE_READ), &info);
	KUNIT_ASSERT_EQ(test, 2, conn_receive_empty(server, 2));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(conn_qp(server), &message));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&server->recv_wrs) == 1));
	KUNIT_EXPECT_EQ(test, KRDMA_WC_WITH_IMM, server->last.flags);
	KUNIT_EXPECT_EQ(test, 0x11223344, server->last.imm);

	message = (struct fake_message) {
		.flags = IB_WC_WITH_INVALIDATE, .rkey = info.rkey,
	};
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(conn_qp(server), &message));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&server->recv_wrs) == 2));
	KUNIT_EXPECT_EQ(test, KRDMA_WC_WITH_INVALIDATE, server->last.flags);
	KUNIT_EXPECT_EQ(test, info.rkey, server->last.key);
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE(test_operations_as_given),
	KUNIT_CASE(test_sinks_of_a_deep_queue),
	KUNIT_CASE_SLOW(test_pieces),
	KUNIT_CASE_SLOW(test_silent),
	KUNIT_CASE(test_parts_behind_silent),
	KUNIT_CASE_SLOW(test_silent_failure),
	KUNIT_CASE(test_silent_refused),
	KUNIT_CASE_SLOW(test_credits),
	KUNIT_CASE_SLOW(test_repost),
	KUNIT_CASE_SLOW(test_chains),
	KUNIT_CASE(test_bytes),
	KUNIT_CASE(test_extras),
	KUNIT_CASE(test_mapped_memory),
	{}
};

static struct kunit_suite data_suite = {
	.name = "krdma_data",
	.init = test_objects_init,
	.test_cases = data_cases,
};

kunit_test_suite(data_suite);
