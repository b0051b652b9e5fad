// SPDX-License-Identifier: GPL-2.0
/* Templates of send work requests: what they check, what the device gets, and how they end. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "conn_fixture.h"
#include "core/objects.h"
#include "objects.h"

/* The local and the remote range of most templates, and where the local one begins in the MR. */
#define PLACE		100
#define LENGTH		1000
#define REMOTE_LENGTH	500
#define REMOTE_ADDR	0x123456789000ULL
#define REMOTE_KEY	0xabcd01
#define ALL		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE)
/* Of messages, in bytes. */
#define SHORT		100
/* Longer than two lists of work requests. */
#define MANY		150

static void tune_all_operations(struct fake_device *fake)
{
	fake_device_offer_atomics(fake);
	fake->posts_atomics = true;
	fake_device_read_like_siw(fake);
}

static void tune_short_messages(struct fake_device *fake)
{
	fake->port.max_msg_sz = SHORT;
}

static void tune_deep_queues(struct fake_device *fake)
{
	fake->attr.max_qp_wr = 4 * MANY;
}

static struct krdma_mr *map(struct kunit *test, struct conn_end *end, u32 access)
{
	struct krdma_mr *mr;

	mr = krdma_mr_register(end->pair->session, end->pair->dev, end->buffer, CONN_BUFFER,
			       access);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	return mr;
}

static bool is_remote(u8 opcode)
{
	return opcode != KRDMA_OP_SEND && opcode != KRDMA_OP_SEND_IMM;
}

static struct krdma_template_attr attr_of(struct conn_end *end, u8 opcode, struct krdma_mr *mr)
{
	struct krdma_template_attr attr = {
		.opcode = opcode, .mr = mr, .addr = (uintptr_t)end->buffer + PLACE,
		.length = LENGTH,
	};

	if (is_remote(opcode)) {
		attr.remote_addr = REMOTE_ADDR;
		attr.remote_length = REMOTE_LENGTH;
		attr.rkey = REMOTE_KEY;
	}
	return attr;
}

static void template_release(void *template)
{
	krdma_template_destroy(template);
}

/* The template is destroyed with the test, or by template_end(). */
static struct krdma_template *template_new(struct kunit *test, struct conn_end *end,
					   const struct krdma_template_attr *attr)
{
	struct krdma_template *template = krdma_template_create(end->conn, attr);

	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(template));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, template_release, template));
	return template;
}

static void template_end(struct kunit *test, struct krdma_template *template)
{
	kunit_release_action(test, template_release, template);
}

static struct krdma_template *template_of(struct kunit *test, struct conn_end *end, u8 opcode,
					  struct krdma_mr *mr)
{
	struct krdma_template_attr attr = attr_of(end, opcode, mr);

	return template_new(test, end, &attr);
}

/* Post as conn_post() does: with the next wr_ids, and counted. */
static int post(struct conn_end *end, struct krdma_template *template, u64 offset,
		u64 remote_offset, u32 length, u32 flags)
{
	struct conn_flow *flow = &end->sends;
	int ret;

	flow->silent[flow->accepted] = flags & KRDMA_POST_UNSIGNALED;
	ret = krdma_template_post(template, flow->accepted, offset, remote_offset, length, flags);
	if (!ret)
		WRITE_ONCE(flow->accepted, flow->accepted + 1);
	return ret;
}

static int post_many(struct conn_end *end, struct krdma_template *template,
		     struct krdma_template_wr *posts, int count)
{
	struct conn_flow *flow = &end->sends;
	int ret, i;

	for (i = 0; i < count; i++) {
		posts[i].wr_id = flow->accepted + i;
		flow->silent[flow->accepted + i] = posts[i].flags & KRDMA_POST_UNSIGNALED;
	}
	ret = krdma_template_post_many(template, posts, count);
	if (ret > 0)
		WRITE_ONCE(flow->accepted, flow->accepted + ret);
	return ret;
}

static bool all_told(struct conn_pair *pair)
{
	return conn_until(pair, conn_told(&pair->client.sends) == pair->client.sends.accepted);
}

/*
 * Creation
 */

/**
 * struct refused - a template that cannot be created
 * @opcode: its opcode
 * @change: changes valid attributes
 * @error: the errno
 */
struct refused {
	u8 opcode;
	void (*change)(struct krdma_template_attr *attr);
	int error;
};

static void no_change(struct krdma_template_attr *attr)
{
}

static void inline_data(struct krdma_template_attr *attr)
{
	attr->flags = KRDMA_POST_INLINE;
}

static void solicited(struct krdma_template_attr *attr)
{
	attr->flags = KRDMA_POST_SOLICITED;
}

static void unknown_flag(struct krdma_template_attr *attr)
{
	attr->flags = 0x80;
}

static void no_mr(struct krdma_template_attr *attr)
{
	attr->mr = NULL;
}

static void no_length(struct krdma_template_attr *attr)
{
	attr->length = 0;
}

static void no_remote_length(struct krdma_template_attr *attr)
{
	attr->remote_length = 0;
}

static void with_rkey(struct krdma_template_attr *attr)
{
	attr->rkey = 1;
}

static void with_remote_addr(struct krdma_template_attr *attr)
{
	attr->remote_addr = 1;
}

static void with_remote_length(struct krdma_template_attr *attr)
{
	attr->remote_length = 1;
}

static void with_imm(struct krdma_template_attr *attr)
{
	attr->imm = 1;
}

static void with_operand(struct krdma_template_attr *attr)
{
	attr->operand = 1;
}

static void with_swap(struct krdma_template_attr *attr)
{
	attr->swap = 1;
}

static void large_batch(struct krdma_template_attr *attr)
{
	attr->batch = 65;
}

static void largest_batch(struct krdma_template_attr *attr)
{
	attr->batch = 64;
}

static void odd_remote_addr(struct krdma_template_attr *attr)
{
	attr->remote_addr += 4;
}

static void before_the_mr(struct krdma_template_attr *attr)
{
	attr->addr -= PLACE + 1;
}

static void behind_the_mr(struct krdma_template_attr *attr)
{
	attr->length = CONN_BUFFER - PLACE + 1;
}

static void long_beyond_the_mr(struct krdma_template_attr *attr)
{
	attr->length = U64_MAX;
}

static void beyond_the_peer(struct krdma_template_attr *attr)
{
	attr->remote_addr = U64_MAX - REMOTE_LENGTH + 2;
}

static void up_to_the_end_of_the_peer(struct krdma_template_attr *attr)
{
	attr->remote_addr = U64_MAX - REMOTE_LENGTH + 1;
}

/* On a device with atomics and without immediate data. */
static const struct refused refused_cases[] = {
	{ KRDMA_OP_SEND, no_change, 0 },
	{ KRDMA_OP_WRITE, no_change, 0 },
	{ KRDMA_OP_READ, no_change, 0 },
	{ KRDMA_OP_FETCH_ADD, with_operand, 0 },
	{ KRDMA_OP_COMPARE_SWAP, with_swap, 0 },
	{ KRDMA_OP_SEND, solicited, 0 },
	{ KRDMA_OP_SEND, largest_batch, 0 },
	{ KRDMA_OP_WRITE, up_to_the_end_of_the_peer, 0 },
	{ 0, no_change, -EINVAL },
	{ 0xff, no_change, -EINVAL },
	{ KRDMA_OP_RECV, no_change, -EINVAL },
	{ KRDMA_OP_SEND_INVALIDATE, no_change, -EINVAL },
	{ KRDMA_OP_ATOMIC_WRITE, no_change, -EINVAL },
	{ KRDMA_OP_FLUSH, no_change, -EINVAL },
	{ KRDMA_OP_FLUSH + 1, no_change, -EINVAL },
	{ KRDMA_OP_SEND_IMM, with_imm, -EOPNOTSUPP },
	{ KRDMA_OP_WRITE_IMM, with_imm, -EOPNOTSUPP },
	{ KRDMA_OP_SEND, inline_data, -EINVAL },
	{ KRDMA_OP_WRITE, inline_data, -EINVAL },
	{ KRDMA_OP_WRITE, solicited, -EINVAL },
	{ KRDMA_OP_READ, unknown_flag, -EINVAL },
	{ KRDMA_OP_SEND, no_mr, -EINVAL },
	{ KRDMA_OP_WRITE, no_length, -EINVAL },
	{ KRDMA_OP_WRITE, large_batch, -EINVAL },
	{ KRDMA_OP_WRITE, no_remote_length, -EINVAL },
	{ KRDMA_OP_SEND, with_rkey, -EINVAL },
	{ KRDMA_OP_SEND, with_remote_addr, -EINVAL },
	{ KRDMA_OP_SEND, with_remote_length, -EINVAL },
	{ KRDMA_OP_SEND, with_imm, -EINVAL },
	{ KRDMA_OP_WRITE, with_operand, -EINVAL },
	{ KRDMA_OP_FETCH_ADD, with_swap, -EINVAL },
	{ KRDMA_OP_FETCH_ADD, odd_remote_addr, -EINVAL },
	{ KRDMA_OP_SEND, before_the_mr, -ERANGE },
	{ KRDMA_OP_READ, behind_the_mr, -ERANGE },
	{ KRDMA_OP_WRITE, long_beyond_the_mr, -ERANGE },
	{ KRDMA_OP_READ, beyond_the_peer, -EOVERFLOW },
};

static void test_refused(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = tune_all_operations };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_mr *mr = map(test, client, KRDMA_ACCESS_LOCAL_WRITE);
	struct krdma_device_attr device;
	struct krdma_template *template;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(pair->dev, &device));
	for (i = 0; i < ARRAY_SIZE(refused_cases); i++) {
		const struct refused *refused = &refused_cases[i];
		struct krdma_template_attr attr = attr_of(client, refused->opcode, mr);
		int error = refused->error;

		refused->change(&attr);
		if (error == -EOPNOTSUPP && (device.caps & KRDMA_DEVICE_CAP_IMM))
			error = 0;
		template = krdma_template_create(client->conn, &attr);
		KUNIT_EXPECT_EQ_MSG(test, error, PTR_ERR_OR_ZERO(template), "case %u", i);
		if (!IS_ERR(template))
			krdma_template_destroy(template);
	}
	krdma_template_destroy(NULL);
	/* None of them uses the MR. */
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, 0, conn_info(client).sends_posted);
	conn_pair_end(pair);
}

static int error_of(struct conn_end *end, u8 opcode, struct krdma_mr *mr)
{
	struct krdma_template_attr attr = attr_of(end, opcode, mr);
	struct krdma_template *template = krdma_template_create(end->conn, &attr);

	if (IS_ERR(template))
		return PTR_ERR(template);
	krdma_template_destroy(template);
	return 0;
}

static void test_rights(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = tune_all_operations };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_session *other = krdma_session_create(&init_net);
	struct krdma_mr *constant = map(test, client, 0);
	struct krdma_mr *foreign;

	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(other));
	foreign = krdma_mr_register(other, pair->dev, client->buffer, CONN_BUFFER,
				    KRDMA_ACCESS_LOCAL_WRITE);
	krdma_session_put(other);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(foreign));

	KUNIT_EXPECT_EQ(test, 0, error_of(client, KRDMA_OP_SEND, constant));
	KUNIT_EXPECT_EQ(test, 0, error_of(client, KRDMA_OP_WRITE, constant));
	KUNIT_EXPECT_EQ(test, -EACCES, error_of(client, KRDMA_OP_READ, constant));
	KUNIT_EXPECT_EQ(test, -EACCES, error_of(client, KRDMA_OP_FETCH_ADD, constant));
	KUNIT_EXPECT_EQ(test, -EACCES, error_of(client, KRDMA_OP_COMPARE_SWAP, constant));
	KUNIT_EXPECT_EQ(test, -EXDEV, error_of(client, KRDMA_OP_SEND, foreign));

	KUNIT_EXPECT_EQ(test, 0, krdma_mr_close(constant));
	KUNIT_EXPECT_EQ(test, -ESTALE, error_of(client, KRDMA_OP_SEND, constant));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(constant));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(foreign));
	conn_pair_end(pair);
}

/* The device of an iWARP card writes what is read by the rkey of its memory. */
static void test_rights_of_reads(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct krdma_mr *local = map(test, &pair->client, KRDMA_ACCESS_LOCAL_WRITE);
	struct krdma_device_attr device;
	bool any;

	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(pair->dev, &device));
	any = device.caps & KRDMA_DEVICE_CAP_READ_LOCAL;
	KUNIT_EXPECT_EQ(test, any ? 0 : -EACCES, error_of(&pair->client, KRDMA_OP_READ, local));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(local));
	conn_pair_end(pair);
}

/*
 * Posting
 */

static void expect_same(struct kunit *test, const struct fake_send *plain,
			const struct fake_send *send)
{
	KUNIT_EXPECT_EQ(test, plain->wr.opcode, send->wr.opcode);
	KUNIT_EXPECT_EQ(test, plain->wr.send_flags, send->wr.send_flags);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(plain->wr.ex.imm_data),
			be32_to_cpu(send->wr.ex.imm_data));
	KUNIT_ASSERT_EQ(test, 1, send->wr.num_sge);
	KUNIT_EXPECT_MEMEQ(test, &plain->sge[0], &send->sge[0], sizeof(plain->sge[0]));
	switch (plain->wr.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		KUNIT_EXPECT_EQ(test, plain->atomic.remote_addr, send->atomic.remote_addr);
		KUNIT_EXPECT_EQ(test, plain->atomic.rkey, send->atomic.rkey);
		KUNIT_EXPECT_EQ(test, plain->atomic.compare_add, send->atomic.compare_add);
		KUNIT_EXPECT_EQ(test, plain->atomic.swap, send->atomic.swap);
		KUNIT_EXPECT_EQ(test, 0, send->atomic.compare_add_mask);
		KUNIT_EXPECT_EQ(test, 0, send->atomic.swap_mask);
		break;
	default:
		KUNIT_EXPECT_EQ(test, plain->rdma.remote_addr, send->rdma.remote_addr);
		KUNIT_EXPECT_EQ(test, plain->rdma.rkey, send->rdma.rkey);
	}
}

static const u8 opcodes[] = {
	KRDMA_OP_SEND, KRDMA_OP_SEND_IMM, KRDMA_OP_WRITE, KRDMA_OP_WRITE_IMM, KRDMA_OP_READ,
	KRDMA_OP_COMPARE_SWAP, KRDMA_OP_FETCH_ADD,
};

/* The same work request three times: without a template, alone by one, and in a list by one. */
static void compare(struct kunit *test, struct conn_pair *pair, struct krdma_template *template,
		    const struct krdma_template_attr *attr, u32 flags, struct fake_send *sends)
{
	struct conn_end *client = &pair->client;
	bool atomic = attr->operand;
	struct krdma_template_wr posts[2] = {
		{ .offset = 64, .remote_offset = is_remote(attr->opcode) ? 16 : 0,
		  .length = atomic ? 8 : 33, .flags = flags },
	};
	struct krdma_sge sge = {
		.mr = attr->mr, .addr = attr->addr + 64, .length = posts[0].length,
	};
	struct krdma_send_wr wr = {
		.opcode = attr->opcode, .flags = attr->flags | flags, .imm = attr->imm,
		.remote_addr = attr->remote_addr + posts[0].remote_offset, .rkey = attr->rkey,
		.operand = attr->operand, .swap = attr->swap, .sges = &sge, .sge_count = 1,
	};
	unsigned int given = conn_given_count(client);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	KUNIT_ASSERT_EQ(test, 0, post(client, template, 64, posts[0].remote_offset,
				      posts[0].length, flags));
	client->sends.silent[client->sends.accepted - 1] = wr.flags & KRDMA_POST_UNSIGNALED;
	posts[1] = posts[0];
	KUNIT_ASSERT_EQ(test, 2, post_many(client, template, posts, 2));
	client->sends.silent[client->sends.accepted - 1] = wr.flags & KRDMA_POST_UNSIGNALED;
	client->sends.silent[client->sends.accepted - 2] = wr.flags & KRDMA_POST_UNSIGNALED;
	KUNIT_ASSERT_EQ(test, given + 4, conn_given_count(client));
	for (i = 0; i < 4; i++)
		conn_given(client, given + i, &sends[i]);
	for (i = 1; i < 4; i++)
		expect_same(test, &sends[0], &sends[i]);
}

static void test_as_without(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = tune_all_operations };
	static const u8 flags[] = {
		0, KRDMA_POST_UNSIGNALED, KRDMA_POST_FENCE,
		KRDMA_POST_FENCE | KRDMA_POST_UNSIGNALED, KRDMA_POST_SOLICITED,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_mr *mr = map(test, client, ALL);
	struct krdma_device_attr device;
	struct krdma_template *template;
	struct fake_send *sends;
	unsigned int i, j, k;

	sends = kunit_kcalloc(test, 4, sizeof(*sends), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sends);
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(pair->dev, &device));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct krdma_template_attr attr = attr_of(client, opcodes[i], mr);
		bool imm = opcodes[i] == KRDMA_OP_SEND_IMM || opcodes[i] == KRDMA_OP_WRITE_IMM;
		bool message = imm || opcodes[i] == KRDMA_OP_SEND;

		if (imm && !(device.caps & KRDMA_DEVICE_CAP_IMM))
			continue;
		attr.imm = imm ? 0x01020304 : 0;
		attr.operand = opcodes[i] >= KRDMA_OP_COMPARE_SWAP ? 77 : 0;
		attr.swap = opcodes[i] == KRDMA_OP_COMPARE_SWAP ? 78 : 0;
		/* Flags of the template, and of the post. */
		for (j = 0; j < 2 * ARRAY_SIZE(flags); j++) {
			k = flags[j / 2];
			if ((k & KRDMA_POST_SOLICITED) && !message)
				continue;
			attr.flags = j % 2 ? k : 0;
			template = template_new(test, client, &attr);
			fake_stall(pair->fake, NULL);
			compare(test, pair, template, &attr, j % 2 ? 0 : k, sends);
			template_end(test, template);
			/* Everything is flushed. */
			conn_pair_again(pair);
		}
	}
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	conn_pair_close(pair);
}

/**
 * struct bound - a post by a template of a write
 * @offset: its offset
 * @remote_offset: its remote offset
 * @length: its length
 * @error: the errno
 */
struct bound {
	u64 offset;
	u64 remote_offset;
	u32 length;
	int error;
};

static const struct bound bounds[] = {
	{ 0, 0, 1, 0 },
	{ 0, 0, REMOTE_LENGTH, 0 },
	{ LENGTH - REMOTE_LENGTH, 0, REMOTE_LENGTH, 0 },
	{ LENGTH - 1, REMOTE_LENGTH - 1, 1, 0 },
	{ LENGTH, REMOTE_LENGTH, 0, 0 },
	{ 0, 0, REMOTE_LENGTH + 1, -ERANGE },
	{ 0, 1, REMOTE_LENGTH, -ERANGE },
	{ 0, REMOTE_LENGTH, 1, -ERANGE },
	{ 0, REMOTE_LENGTH + 1, 0, -ERANGE },
	{ LENGTH, 0, 1, -ERANGE },
	{ LENGTH + 1, 0, 0, -ERANGE },
	{ LENGTH - REMOTE_LENGTH + 1, 0, REMOTE_LENGTH, -ERANGE },
	{ 0, 0, LENGTH + 1, -ERANGE },
	{ 0, 0, U32_MAX, -ERANGE },
	/* Sums that wrap, to the start of the range or to what is before it. */
	{ U64_MAX, 0, 1, -ERANGE },
	{ U64_MAX, 0, 2, -ERANGE },
	{ U64_MAX - PLACE + 1, 0, PLACE, -ERANGE },
	{ U64_MAX - PLACE + 1, 0, PLACE + 1, -ERANGE },
	{ 0, U64_MAX, 1, -ERANGE },
	{ 0, U64_MAX, 2, -ERANGE },
	{ 0, U64_MAX - 63, 64, -ERANGE },
	{ U64_MAX, U64_MAX, U32_MAX, -ERANGE },
	{ U64_MAX - U32_MAX + 1, 0, U32_MAX, -ERANGE },
	{ 1ULL << 32, 0, 1, -ERANGE },
	{ 0, 1ULL << 32, 1, -ERANGE },
};

static void expect_bound(struct kunit *test, struct conn_pair *pair,
			 struct krdma_template *template, unsigned int i)
{
	const struct bound *bound = &bounds[i];
	struct krdma_template_wr posts[] = {
		{ .length = 8 },
		{ .offset = bound->offset, .remote_offset = bound->remote_offset,
		  .length = bound->length },
		{ .length = 8 },
	};
	struct conn_end *client = &pair->client;

	KUNIT_EXPECT_EQ_MSG(test, bound->error, post(client, template, bound->offset,
						     bound->remote_offset, bound->length, 0),
			    "case %u", i);
	/* In a list, alone there, and among others. */
	KUNIT_EXPECT_EQ_MSG(test, bound->error ?: 1, post_many(client, template, &posts[1], 1),
			    "case %u", i);
	KUNIT_EXPECT_EQ_MSG(test, bound->error ? 1 : 3, post_many(client, template, posts, 3),
			    "case %u", i);
	KUNIT_ASSERT_TRUE(test, all_told(pair));
}

/* The peer's memory is there, so that all that are accepted succeed. */
static void test_bounds(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;
	struct krdma_template *template;
	struct krdma_template_attr attr;
	struct krdma_mr_info info;
	struct krdma_mr *mr;
	unsigned int i;

	test_needs_fast_reg(test);
	mr = map(test, client, 0);
	server->mr = map(test, server, ALL);
	krdma_mr_query(server->mr, &info);
	attr = attr_of(client, KRDMA_OP_WRITE, mr);
	attr.remote_addr = info.remote_addr + 64;
	attr.rkey = info.rkey;
	template = template_new(test, client, &attr);
	memset(client->buffer, 0x5a, CONN_BUFFER);
	for (i = 0; i < ARRAY_SIZE(bounds); i++)
		expect_bound(test, pair, template, i);
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	/* The range was written, and nothing else. */
	for (i = 0; i < CONN_BUFFER; i++) {
		bool written = server->buffer[i] == 0x5a;

		if (written != (i >= 64 && i < 64 + REMOTE_LENGTH))
			KUNIT_FAIL(test, "byte %u is %#x", i, server->buffer[i]);
	}
	/* Posts that were refused left no use behind. */
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	conn_pair_close(pair);
	conn_expect_whole(client);
}

static void test_bounds_of_messages(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;
	struct krdma_template *template;
	struct krdma_sge to = conn_sge(server, 0, 2000);
	struct krdma_recv_wr recv_wr = { .sges = &to, .sge_count = 1 };
	unsigned int i;

	client->mr = map(test, client, 0);
	template = template_of(test, client, KRDMA_OP_SEND, client->mr);
	for (i = 0; i < CONN_BUFFER; i++)
		client->buffer[i] = i * 7 + i / 256;
	KUNIT_EXPECT_EQ(test, -EINVAL, post(client, template, 0, 1, 8, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, post(client, template, 0, U64_MAX, 8, 0));
	KUNIT_EXPECT_EQ(test, -ERANGE, post(client, template, 1, 0, LENGTH, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, post(client, template, 0, 0, 8, KRDMA_POST_INLINE));
	KUNIT_EXPECT_EQ(test, -EINVAL, post(client, template, 0, 0, 8, 1 << 8));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_template_post_many(template, NULL, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_template_post_many(template, NULL, -1));
	KUNIT_EXPECT_EQ(test, 0, conn_info(client).sends_posted);

	KUNIT_ASSERT_EQ(test, 1, conn_receive(server, &recv_wr, 1));
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 17, 0, LENGTH - 17, 0));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&server->recv_wrs) == 1));
	KUNIT_EXPECT_EQ(test, LENGTH - 17, server->last.length);
	KUNIT_EXPECT_MEMEQ(test, client->buffer + PLACE + 17, server->buffer, LENGTH - 17);
	KUNIT_EXPECT_TRUE(test, all_told(pair));
	conn_pair_close(pair);
	conn_expect_whole(client);
}

static void test_bounds_of_atomics(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = tune_all_operations };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_template_attr attr;
	struct krdma_template *template;
	u64 offset;
	u32 length;

	client->mr = map(test, client, ALL);
	fake_stall(pair->fake, NULL);
	attr = attr_of(client, KRDMA_OP_FETCH_ADD, client->mr);
	attr.operand = 1;
	template = template_new(test, client, &attr);
	for (length = 0; length < 20; length++)
		KUNIT_EXPECT_EQ(test, length == 8 ? 0 : -EINVAL,
				post(client, template, 0, 0, length, 0));
	for (offset = 0; offset < 20; offset++)
		KUNIT_EXPECT_EQ(test, offset % 8 ? -EINVAL : 0,
				post(client, template, 3, offset, 8, 0));
	KUNIT_EXPECT_EQ(test, -ERANGE, post(client, template, LENGTH - 7, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, -ERANGE, post(client, template, 0, REMOTE_LENGTH - 4, 8, 0));
	template_end(test, template);

	/* One that is too short for any. */
	attr.remote_length = 7;
	template = template_new(test, client, &attr);
	KUNIT_EXPECT_EQ(test, -ERANGE, post(client, template, 0, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, post(client, template, 0, 0, 7, 0));
	conn_pair_close(pair);
	conn_expect_whole(client);
}

/* Lists of any length, with unsignaled work requests; @batch at a time. */
static void sweep_lists(struct kunit *test, u32 batch)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .attr = { .send_depth = MANY },
		.tune = tune_deep_queues,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;
	static const int counts[] = { 1, 2, 63, 64, 65, 127, 128, 129, MANY };
	struct krdma_template_attr attr;
	struct krdma_template *template;
	struct krdma_template_wr *posts;
	struct krdma_mr_info info;
	struct krdma_mr *mr;
	unsigned int i;
	int j;

	test_needs_fast_reg(test);
	posts = kunit_kcalloc(test, MANY, sizeof(*posts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, posts);
	mr = map(test, client, 0);
	server->mr = map(test, server, ALL);
	krdma_mr_query(server->mr, &info);
	attr = attr_of(client, KRDMA_OP_WRITE, mr);
	attr.remote_addr = info.remote_addr;
	attr.rkey = info.rkey;
	attr.batch = batch;
	template = template_new(test, client, &attr);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		memset(server->buffer, 0, CONN_BUFFER);
		for (j = 0; j < MANY; j++) {
			client->buffer[PLACE + 3 * j] = i + j + 1;
			posts[j] = (struct krdma_template_wr) {
				.offset = 3 * j, .remote_offset = 2 * j, .length = 1,
				.flags = j % 3 && j + 1 < counts[i] ? KRDMA_POST_UNSIGNALED : 0,
			};
		}
		KUNIT_ASSERT_EQ(test, counts[i], post_many(client, template, posts, counts[i]));
		KUNIT_ASSERT_TRUE(test, conn_until(pair, client->sends.next ==
						   client->sends.accepted));
		for (j = 0; j < MANY; j++)
			KUNIT_EXPECT_EQ(test, j < counts[i] ? (u8)(i + j + 1) : 0,
					server->buffer[2 * j]);
	}
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	conn_pair_close(pair);
	conn_expect_whole(client);
	template_end(test, template);
	conn_pair_end(pair);
}

static void test_lists(struct kunit *test)
{
	static const u32 batches[] = { 0, 1, 2, 7, 64 };

	for (unsigned int i = 0; i < ARRAY_SIZE(batches); i++)
		sweep_lists(test, batches[i]);
}

/* Unsignaled ones only, more than the SQ has: krdma signals some, and none completes. */
static void test_unsignaled(struct kunit *test)
{
	static const struct conn_setup setup = { .attr = { .send_depth = 4 } };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_template_wr wr = { .flags = KRDMA_POST_UNSIGNALED };
	struct krdma_template_attr attr;
	struct krdma_template *template;
	unsigned long deadline = jiffies + CONN_LONG;
	struct krdma_mr_info info;
	int done = 0;
	int ret;

	test_needs_fast_reg(test);
	client->mr = map(test, client, ALL);
	krdma_mr_query(client->mr, &info);
	/* Both ends are in the same session. */
	attr = attr_of(client, KRDMA_OP_WRITE, client->mr);
	attr.remote_addr = info.remote_addr;
	attr.rkey = info.rkey;
	template = template_new(test, client, &attr);
	wr.length = 1;
	while (done < 100 && time_before(jiffies, deadline)) {
		ret = done % 2 ? post(client, template, 0, 0, 1, KRDMA_POST_UNSIGNALED) :
				 min(post_many(client, template, &wr, 1), 0);
		KUNIT_ASSERT_TRUE(test, !ret || ret == -EAGAIN);
		done += !ret;
		if (ret)
			fsleep(100);
	}
	KUNIT_EXPECT_EQ(test, 100, done);
	KUNIT_EXPECT_EQ(test, 0, conn_told(&client->sends));
	conn_pair_close(pair);
	conn_expect_clean(client);
}

static void test_full(struct kunit *test)
{
	static const struct conn_setup setup = { .attr = { .send_depth = 4 } };
	struct krdma_template_wr posts[6] = {
		{ .length = 1 }, { .length = 1 }, { .length = 1 },
		{ .length = 1 }, { .length = 1 }, { .length = 1 },
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_template_attr attr;
	struct krdma_template *template;
	struct krdma_mr_info info;
	int i;

	test_needs_fast_reg(test);
	client->mr = map(test, client, ALL);
	krdma_mr_query(client->mr, &info);
	attr = attr_of(client, KRDMA_OP_WRITE, client->mr);
	attr.remote_addr = info.remote_addr;
	attr.rkey = info.rkey;
	template = template_new(test, client, &attr);

	fake_stall(pair->fake, conn_qp(client));
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, 0, post(client, template, 0, 0, 1, 0));
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(client, template, 0, 0, 1, 0));
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(client, template, 0, 0, 1, KRDMA_POST_UNSIGNALED));
	KUNIT_EXPECT_EQ(test, -EAGAIN, post_many(client, template, posts, 6));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&client->spaces));
	fake_go_on(pair->fake, conn_qp(client));
	KUNIT_ASSERT_TRUE(test, all_told(pair));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, atomic_read(&client->spaces) == 1));

	fake_stall(pair->fake, conn_qp(client));
	KUNIT_EXPECT_EQ(test, 4, post_many(client, template, posts, 6));
	fake_go_on(pair->fake, conn_qp(client));
	KUNIT_ASSERT_TRUE(test, all_told(pair));
	KUNIT_ASSERT_TRUE(test, conn_until(pair, atomic_read(&client->spaces) == 2));
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);
	conn_pair_close(pair);
	conn_expect_whole(client);
}

/* The provider refuses a post, or one in the middle of a list. */
static void test_provider_refuses(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct krdma_template_wr *posts;
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_mr *mr = map(test, client, 0);
	struct krdma_template *template;
	int nth, i;

	posts = kunit_kcalloc(test, 20, sizeof(*posts), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, posts);
	template = template_of(test, client, KRDMA_OP_WRITE, mr);
	fake_stall(pair->fake, NULL);
	fake_device_fail(pair->fake, FAKE_POST_SEND, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -EIO, post(client, template, 0, 0, 8, 0));
	fake_device_fail(pair->fake, FAKE_POST_SEND, 1, -EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL, post(client, template, 0, 0, 8, 0));
	for (nth = 1; nth < 5; nth++) {
		for (i = 0; i < 20; i++)
			posts[i].length = 8;
		fake_device_fail(pair->fake, FAKE_POST_SEND, nth, -ENOMEM);
		KUNIT_EXPECT_EQ(test, nth == 1 ? -EIO : nth - 1,
				post_many(client, template, posts, 20));
	}
	fake_device_fail(pair->fake, FAKE_POST_SEND, 0, 0);
	KUNIT_EXPECT_EQ(test, 6, conn_info(client).sends_posted);
	KUNIT_EXPECT_EQ(test, -EBUSY, krdma_mr_deregister(mr));
	krdma_conn_close(client->conn);
	/* Of those that were refused no use is left, and of the others none any more. */
	KUNIT_ASSERT_TRUE(test, all_told(pair));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	conn_pair_close(pair);
	conn_expect_whole(client);
}

/* Longer than a message of the device: it gets parts. */
static void test_parts(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .tune = tune_short_messages,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;
	struct krdma_template_wr posts[] = {
		{ .length = SHORT }, { .remote_offset = 1, .length = 2 * SHORT + 1 },
		{ .offset = 5, .remote_offset = 5, .length = 1 },
	};
	struct krdma_template_attr attr;
	struct krdma_template *template;
	struct krdma_mr_info info;
	unsigned int i;

	test_needs_fast_reg(test);
	client->mr = map(test, client, 0);
	server->mr = map(test, server, ALL);
	krdma_mr_query(server->mr, &info);
	attr = attr_of(client, KRDMA_OP_WRITE, client->mr);
	attr.remote_addr = info.remote_addr;
	attr.rkey = info.rkey;
	template = template_new(test, client, &attr);
	for (i = 0; i < CONN_BUFFER; i++)
		client->buffer[i] = i * 7 + i / 256;
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 0, 0, 3 * SHORT, 0));
	KUNIT_ASSERT_TRUE(test, all_told(pair));
	KUNIT_EXPECT_EQ(test, 3, conn_given_count(client));
	KUNIT_EXPECT_EQ(test, 3 * SHORT, client->last.length);
	KUNIT_EXPECT_MEMEQ(test, client->buffer + PLACE, server->buffer, 3 * SHORT);
	KUNIT_EXPECT_EQ(test, 3, post_many(client, template, posts, 3));
	KUNIT_ASSERT_TRUE(test, all_told(pair));
	KUNIT_EXPECT_EQ(test, 3 + 1 + 3 + 1, conn_given_count(client));
	KUNIT_EXPECT_EQ(test, client->buffer[PLACE], server->buffer[0]);
	KUNIT_EXPECT_MEMEQ(test, client->buffer + PLACE, server->buffer + 1, 4);
	KUNIT_EXPECT_EQ(test, client->buffer[PLACE + 5], server->buffer[5]);
	KUNIT_EXPECT_MEMEQ(test, client->buffer + PLACE + 5, server->buffer + 6,
			   2 * SHORT - 4);
	KUNIT_EXPECT_EQ(test, 0, client->sends.failed);

	/* A message cannot be split. */
	template_end(test, template);
	template = template_of(test, client, KRDMA_OP_SEND, client->mr);
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, post(client, template, 0, 0, SHORT + 1, 0));
	conn_pair_close(pair);
	conn_expect_whole(client);
}

/* Memory of two pages whose addresses are not contiguous: some posts take two SGEs. */
static void test_pages(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	struct krdma_template_attr attr;
	struct krdma_template *template;
	struct scatterlist sg[2];
	struct fake_send *send;
	struct krdma_mr_info info;
	struct krdma_mr *mr;

	send = kunit_kzalloc(test, sizeof(*send), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, send);
	/* In the reverse order. */
	sg_init_table(sg, 2);
	sg_set_buf(&sg[0], (void *)PAGE_ALIGN((uintptr_t)client->buffer) + PAGE_SIZE, PAGE_SIZE);
	sg_set_buf(&sg[1], (void *)PAGE_ALIGN((uintptr_t)client->buffer), PAGE_SIZE);
	mr = krdma_mr_register_sg(pair->session, pair->dev, sg, 2, 0);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	krdma_mr_query(mr, &info);
	attr = attr_of(client, KRDMA_OP_WRITE, mr);
	attr.addr = info.addr;
	attr.length = info.length;
	template = template_new(test, client, &attr);

	fake_stall(pair->fake, NULL);
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 10, 0, 20, 0));
	conn_given(client, 0, send);
	KUNIT_EXPECT_EQ(test, 1, send->wr.num_sge);
	KUNIT_EXPECT_EQ(test, 20, send->sge[0].length);
	KUNIT_EXPECT_EQ(test, 0, post(client, template, PAGE_SIZE - 10, 0, 20, 0));
	conn_given(client, 1, send);
	KUNIT_EXPECT_EQ(test, 2, send->wr.num_sge);
	KUNIT_EXPECT_EQ(test, 10, send->sge[0].length);
	KUNIT_EXPECT_EQ(test, 10, send->sge[1].length);
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE - 10, send->sge[0].addr - send->sge[1].addr);
	KUNIT_EXPECT_EQ(test, -ERANGE, post(client, template, 2 * PAGE_SIZE, 0, 1, 0));
	KUNIT_EXPECT_EQ(test, -EBUSY, krdma_mr_deregister(mr));
	krdma_conn_close(client->conn);
	KUNIT_ASSERT_TRUE(test, all_told(pair));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	conn_pair_close(pair);
	conn_expect_whole(client);
}

/*
 * The end
 */

static void expect_refused(struct kunit *test, struct conn_end *end,
			   struct krdma_template *template, int error)
{
	struct krdma_template_wr posts[] = { { .length = 8 }, { .length = 8 } };

	KUNIT_EXPECT_EQ(test, error, post(end, template, 0, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, error, post(end, template, 0, 0, 8, KRDMA_POST_UNSIGNALED));
	KUNIT_EXPECT_EQ(test, error, post_many(end, template, posts, 1));
	KUNIT_EXPECT_EQ(test, error, post_many(end, template, posts, 2));
}

/* Objects of a kind that are freed when the last reference is put, and not before. */
static void expect_objects(struct kunit *test, enum krdma_object_kind kind, int count)
{
	unsigned long deadline = jiffies + CONN_LONG;

	while (krdma_object_read(kind) > count && time_before(jiffies, deadline))
		fsleep(1000);
	KUNIT_EXPECT_EQ_MSG(test, count, krdma_object_read(kind), "%s", krdma_object_name(kind));
}

/* A template does not keep the memory, but the object, with which posts find out. */
static void test_mr_ends(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	int before = krdma_object_read(KRDMA_OBJECT_MR);
	int memory = krdma_object_read(KRDMA_OBJECT_MR_MEMORY);
	struct krdma_mr *mr = map(test, client, 0);
	struct krdma_template *template;

	template = template_of(test, client, KRDMA_OP_WRITE, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_close(mr));
	expect_refused(test, client, template, -ESTALE);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, memory, krdma_object_read(KRDMA_OBJECT_MR_MEMORY));
	KUNIT_EXPECT_EQ(test, before + 1, krdma_object_read(KRDMA_OBJECT_MR));
	expect_refused(test, client, template, -ESTALE);
	KUNIT_EXPECT_EQ(test, 0, conn_given_count(client));
	template_end(test, template);
	expect_objects(test, KRDMA_OBJECT_MR, before);
	conn_pair_close(pair);
	conn_expect_whole(client);
}

/* Work requests in flight keep the memory, as without a template. */
static void test_mr_is_dropped(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct krdma_template_wr posts[] = { { .length = 8 }, { .length = 8 }, { .length = 8 } };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client;
	int memory = krdma_object_read(KRDMA_OBJECT_MR_MEMORY);
	struct krdma_mr *mr = map(test, client, 0);
	struct krdma_template *template;

	template = template_of(test, client, KRDMA_OP_SEND, mr);
	fake_stall(pair->fake, NULL);
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 0, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, 3, post_many(client, template, posts, 3));
	KUNIT_EXPECT_EQ(test, -EBUSY, krdma_mr_close(mr));
	KUNIT_EXPECT_EQ(test, -EBUSY, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 0, 0, 8, 0));
	krdma_mr_drop(mr);
	expect_refused(test, client, template, -ESTALE);
	/* The template may go first. */
	template_end(test, template);
	KUNIT_EXPECT_EQ(test, memory + 1, krdma_object_read(KRDMA_OBJECT_MR_MEMORY));
	KUNIT_EXPECT_EQ(test, 5, conn_receive_empty(&pair->server, 5));
	krdma_conn_close(client->conn);
	KUNIT_ASSERT_TRUE(test, all_told(pair));
	expect_objects(test, KRDMA_OBJECT_MR_MEMORY, memory);
	conn_pair_close(pair);
	conn_expect_whole(client);
}

/* Memory that has to go ends the connection whose work requests use it, and no other one. */
static void test_mr_ends_its_users(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *client = &pair->client, *server = &pair->server;
	struct krdma_mr *idle = map(test, server, 0);
	struct krdma_mr *mr = map(test, client, 0);
	struct krdma_template *template, *other;

	template = template_of(test, client, KRDMA_OP_WRITE, mr);
	other = template_of(test, server, KRDMA_OP_WRITE, idle);
	fake_stall(pair->fake, NULL);
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 0, 0, 8, 0));
	/* A template is no work request, so nothing ends for this one. */
	krdma_mr_drop(idle);
	krdma_mr_end_users(idle);
	expect_refused(test, server, other, -ESTALE);
	msleep(50);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, conn_info(client).state);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, conn_info(server).state);
	krdma_mr_drop(mr);
	krdma_mr_end_users(mr);
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_heard(client, KRDMA_EVENT_CLOSED)));
	KUNIT_EXPECT_EQ(test, 1, conn_told(&client->sends));
	KUNIT_EXPECT_EQ(test, KRDMA_WC_WR_FLUSH_ERR, client->last.status);
	expect_refused(test, client, template, -ENOTCONN);
	conn_pair_close(pair);
	conn_expect_whole(client);
}

static void test_connection_ends(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct conn_end *client = &pair->client;
	int qps = krdma_object_read(KRDMA_OBJECT_QP);
	struct krdma_template *template;
	struct krdma_mr *mr;

	conn_client_resolve(pair);
	mr = map(test, client, 0);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, error_of(client, KRDMA_OP_WRITE, mr));
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(client));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, error_of(client, KRDMA_OP_WRITE, mr));
	conn_client_connect(pair);
	conn_server_take(pair);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(&pair->server));
	conn_server_accept(pair);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, CONN_LONG_MS));
	template = template_of(test, client, KRDMA_OP_WRITE, mr);

	fake_stall(pair->fake, NULL);
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 0, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(client->conn));
	expect_refused(test, client, template, -ENOTCONN);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, error_of(client, KRDMA_OP_WRITE, mr));
	krdma_conn_close(client->conn);
	KUNIT_EXPECT_EQ(test, 1, conn_told(&client->sends));
	expect_refused(test, client, template, -ENOTCONN);
	/* The end of the connection has ended the use of the MR, but not the template. */
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	expect_refused(test, client, template, -ENOTCONN);
	conn_pair_close(pair);
	expect_objects(test, KRDMA_OBJECT_QP, qps + 1);
	/* Nobody else refers to the connection any more. */
	expect_refused(test, client, template, -ENOTCONN);
	template_end(test, template);
	expect_objects(test, KRDMA_OBJECT_QP, qps);
	conn_expect_whole(client);
}

static void test_device_gone(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct krdma_sge to = conn_sge(&pair->server, 0, 8);
	struct krdma_recv_wr recv_wr = { .sges = &to, .sge_count = 1 };
	struct conn_end *client = &pair->client;
	struct krdma_mr *mr = map(test, client, 0);
	struct krdma_template *template;

	KUNIT_EXPECT_EQ(test, 1, conn_receive(&pair->server, &recv_wr, 1));
	/* It goes on before the device is gone, and succeeds: it does not end the connection. */
	template = template_of(test, client, KRDMA_OP_SEND, mr);
	fake_stall(pair->fake, NULL);
	KUNIT_EXPECT_EQ(test, 0, post(client, template, 0, 0, 8, 0));
	/* Neither the template nor its MR keeps the device. */
	test_device_unregister(pair->device);
	expect_refused(test, client, template, -ENODEV);
	KUNIT_EXPECT_EQ(test, -ENODEV, error_of(client, KRDMA_OP_WRITE, mr));
	KUNIT_EXPECT_EQ(test, 1, conn_told(&client->sends));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	expect_refused(test, client, template, -ENODEV);
	conn_pair_close(pair);
	conn_expect_whole(client);
}

static struct kunit_case template_cases[] = {
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_rights),
	KUNIT_CASE(test_rights_of_reads),
	KUNIT_CASE_SLOW(test_as_without),
	KUNIT_CASE(test_bounds),
	KUNIT_CASE(test_bounds_of_messages),
	KUNIT_CASE(test_bounds_of_atomics),
	KUNIT_CASE(test_lists),
	KUNIT_CASE(test_unsignaled),
	KUNIT_CASE(test_full),
	KUNIT_CASE(test_provider_refuses),
	KUNIT_CASE(test_parts),
	KUNIT_CASE(test_pages),
	KUNIT_CASE(test_mr_ends),
	KUNIT_CASE(test_mr_is_dropped),
	KUNIT_CASE(test_mr_ends_its_users),
	KUNIT_CASE(test_connection_ends),
	KUNIT_CASE(test_device_gone),
	{}
};

static struct kunit_suite template_suite = {
	.name = "krdma_template",
	.init = test_objects_init,
	.test_cases = template_cases,
};

kunit_test_suite(template_suite);
