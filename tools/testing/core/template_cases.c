// SPDX-License-Identifier: GPL-2.0
/* Templates of send work requests: data that move by them, and their end. */
#include <linux/err.h>
#include <linux/slab.h>

#include "lanes.h"
#include "transfer.h"

/* The local and the remote range: where they begin, and their length. */
#define FROM		1000
#define TO		3000
#define LENGTH		20000
/* Work requests of a list. */
#define LIST		60

static struct krdma_template *template_make(struct transfer *transfer, u8 opcode)
{
	struct krdma_template_attr attr = {
		.opcode = opcode,
		.mr = transfer->from.mr,
		.addr = transfer->from.info.addr + FROM,
		.length = LENGTH,
	};

	if (opcode != KRDMA_OP_SEND && opcode != KRDMA_OP_SEND_IMM) {
		attr.remote_addr = transfer->to.info.remote_addr + TO;
		attr.remote_length = LENGTH;
		attr.rkey = transfer->to.info.rkey;
	}
	if (opcode == KRDMA_OP_SEND_IMM || opcode == KRDMA_OP_WRITE_IMM)
		attr.imm = 0x04030201;
	if (opcode == KRDMA_OP_FETCH_ADD)
		attr.operand = 5;
	return krdma_template_create(transfer->pair->client.conn, &attr);
}

/* A write and a read back, of every few lengths, at offsets that differ. */
static void write_and_read(struct core_test *test, struct transfer *transfer,
			   struct krdma_template *write, struct krdma_template *read)
{
	struct core_end *client = &transfer->pair->client;
	u8 *from = transfer->from.data + FROM;
	u8 *to = transfer->to.data + TO;

	for (u32 length = 1; length <= LENGTH / 2 && !test->failures; length = length * 3 + 1) {
		u32 offset = LENGTH / 2 - length, remote = length / 3;

		memset(transfer->to.data, 0, TRANSFER_SIZE);
		core_fill(from + offset, length, length);
		CORE_EQ(test, 0, krdma_template_post(write, 1, offset, remote, length, 0));
		core_expect_send(client, 1, KRDMA_WC_SUCCESS);
		/* Over iWARP a write that is complete is there only when a later read is. */
		if (!test->iwarp)
			CORE_TRUE(test, core_filled(to + remote, length, length));
		memset(transfer->from.data, 0, TRANSFER_SIZE);
		CORE_EQ(test, 0, krdma_template_post(read, 2, LENGTH - length, remote, length,
						     KRDMA_POST_FENCE));
		core_expect_send(client, 2, KRDMA_WC_SUCCESS);
		CORE_TRUE(test, core_filled(from + LENGTH - length, length, length));
		CORE_TRUE(test, !memchr_inv(transfer->from.data, 0, FROM + LENGTH - length));
		CORE_TRUE(test, core_filled(to + remote, length, length));
		CORE_TRUE(test, !memchr_inv(transfer->to.data, 0, TO + remote));
		CORE_TRUE(test, !memchr_inv(to + remote + length, 0,
					    TRANSFER_SIZE - TO - remote - length));
	}
	CORE_EQ(test, -ERANGE, krdma_template_post(write, 3, 1, 0, LENGTH, 0));
	CORE_EQ(test, -ERANGE, krdma_template_post(write, 3, 0, 1, LENGTH, 0));
	CORE_EQ(test, -ERANGE, krdma_template_post(read, 3, U64_MAX, 0, 2, 0));
	core_expect_nothing(client);
}

static void template_moves_data(struct core_test *test)
{
	struct krdma_template *write, *read;
	struct transfer transfer;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	write = template_make(&transfer, KRDMA_OP_WRITE);
	read = template_make(&transfer, KRDMA_OP_READ);
	if (CORE_OK_PTR(test, write) && CORE_OK_PTR(test, read))
		write_and_read(test, &transfer, write, read);
	if (!IS_ERR(write))
		krdma_template_destroy(write);
	if (!IS_ERR(read))
		krdma_template_destroy(read);
	transfer_end(&transfer);
}

/* Lists, of which one in three is signaled. */
static void template_lists(struct core_test *test)
{
	struct krdma_template_wr *posts;
	struct krdma_template *write;
	struct transfer transfer;
	u8 *from, *to;

	posts = kcalloc(LIST, sizeof(*posts), GFP_KERNEL);
	if (!CORE_TRUE(test, posts))
		return;
	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		goto out;
	from = transfer.from.data + FROM;
	to = transfer.to.data + TO;
	write = template_make(&transfer, KRDMA_OP_WRITE);
	if (!CORE_OK_PTR(test, write))
		goto out_end;
	for (u32 round = 0; round < 5 && !test->failures; round++) {
		core_fill(from, LENGTH, round);
		memset(to, 0, LENGTH);
		for (u32 i = 0; i < LIST; i++)
			posts[i] = (struct krdma_template_wr) {
				.wr_id = i, .offset = 100 * (LIST - 1 - i),
				.remote_offset = 200 * i, .length = 100,
				.flags = i % 3 < 2 ? KRDMA_POST_UNSIGNALED : 0,
			};
		CORE_EQ(test, LIST, krdma_template_post_many(write, posts, LIST));
		for (u32 i = 2; i < LIST; i += 3)
			core_expect_send(&transfer.pair->client, i, KRDMA_WC_SUCCESS);
		if (test->iwarp) {
			CORE_EQ(test, 1, core_rdma(&transfer.pair->client, LIST, KRDMA_OP_READ,
						   &transfer.from, 0, 1, &transfer.to, 0, 0));
			core_expect_send(&transfer.pair->client, LIST, KRDMA_WC_SUCCESS);
		}
		for (u32 i = 0; i < LIST; i++) {
			CORE_TRUE(test, !memcmp(to + 200 * i, from + 100 * (LIST - 1 - i), 100));
			CORE_TRUE(test, !memchr_inv(to + 200 * i + 100, 0, 100));
		}
	}
	core_expect_nothing(&transfer.pair->client);
	krdma_template_destroy(write);
out_end:
	transfer_end(&transfer);
out:
	kfree(posts);
}

static void messages(struct core_test *test, struct transfer *transfer,
		     struct krdma_template *template, bool imm)
{
	struct core_end *client = &transfer->pair->client, *server = &transfer->pair->server;
	struct krdma_template_wr posts[] = {
		{ .wr_id = 2, .offset = 5, .length = 1000 },
		{ .wr_id = 3, .offset = 2000, .length = 1 },
	};
	struct krdma_wc wc;

	core_fill(transfer->from.data, TRANSFER_SIZE, 3);
	for (u32 i = 1; i <= 3; i++)
		CORE_EQ(test, 1, core_receive(server, i, &transfer->to, 2000 * i, 2000));
	CORE_EQ(test, 0, krdma_template_post(template, 1, 0, 0, 100, KRDMA_POST_SOLICITED));
	CORE_EQ(test, 2, krdma_template_post_many(template, posts, 2));
	core_expect_receive(server, 1, KRDMA_WC_SUCCESS, 100, &wc);
	CORE_EQ(test, imm ? KRDMA_WC_WITH_IMM : 0, wc.flags);
	CORE_EQ(test, imm ? 0x04030201 : 0, wc.imm);
	core_expect_receive(server, 2, KRDMA_WC_SUCCESS, 1000, &wc);
	CORE_EQ(test, imm ? 0x04030201 : 0, wc.imm);
	core_expect_receive(server, 3, KRDMA_WC_SUCCESS, 1, NULL);
	for (u32 i = 1; i <= 3; i++)
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, !memcmp(transfer->to.data + 2000, transfer->from.data + FROM, 100));
	CORE_TRUE(test, !memcmp(transfer->to.data + 4000, transfer->from.data + FROM + 5, 1000));
	CORE_TRUE(test, !memcmp(transfer->to.data + 6000, transfer->from.data + FROM + 2000, 1));
	CORE_EQ(test, -EINVAL, krdma_template_post(template, 4, 0, 1, 100, 0));
}

static void template_messages(struct core_test *test)
{
	struct krdma_template *template;
	struct transfer transfer;
	bool caps_imm = test->attr.caps & KRDMA_DEVICE_CAP_IMM;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	template = template_make(&transfer, KRDMA_OP_SEND);
	if (CORE_OK_PTR(test, template)) {
		messages(test, &transfer, template, false);
		krdma_template_destroy(template);
	}
	template = template_make(&transfer, KRDMA_OP_SEND_IMM);
	if (!caps_imm) {
		CORE_ERR_PTR(test, -EOPNOTSUPP, template);
	} else if (CORE_OK_PTR(test, template)) {
		messages(test, &transfer, template, true);
		krdma_template_destroy(template);
	}
	template = template_make(&transfer, KRDMA_OP_WRITE_IMM);
	if (!caps_imm) {
		CORE_ERR_PTR(test, -EOPNOTSUPP, template);
	} else if (CORE_OK_PTR(test, template)) {
		struct krdma_wc wc;

		CORE_EQ(test, 1, core_receive_empty(&transfer.pair->server, 7));
		CORE_EQ(test, 0, krdma_template_post(template, 8, 10, 20, 300, 0));
		core_expect_receive(&transfer.pair->server, 7, KRDMA_WC_SUCCESS, 300, &wc);
		CORE_EQ(test, 0x04030201, wc.imm);
		core_expect_send(&transfer.pair->client, 8, KRDMA_WC_SUCCESS);
		CORE_TRUE(test, !memcmp(transfer.to.data + TO + 20,
					transfer.from.data + FROM + 10, 300));
		krdma_template_destroy(template);
	}
	transfer_end(&transfer);
}

static void template_atomics(struct core_test *test)
{
	struct krdma_template_wr posts[] = {
		{ .wr_id = 2, .offset = 8, .length = 8 },
		{ .wr_id = 3, .offset = 16, .remote_offset = 8, .length = 8 },
	};
	struct krdma_template *template;
	struct transfer transfer;
	u64 *from, *to;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	from = (u64 *)(transfer.from.data + FROM);
	to = (u64 *)(transfer.to.data + TO);
	template = template_make(&transfer, KRDMA_OP_FETCH_ADD);
	if (!(test->attr.caps & KRDMA_DEVICE_CAP_ATOMIC)) {
		CORE_ERR_PTR(test, -EOPNOTSUPP, template);
		goto out;
	}
	if (!CORE_OK_PTR(test, template))
		goto out;
	to[0] = 100;
	to[1] = U64_MAX;
	CORE_EQ(test, 0, krdma_template_post(template, 1, 0, 0, 8, 0));
	CORE_EQ(test, 2, krdma_template_post_many(template, posts, 2));
	for (u32 i = 1; i <= 3; i++)
		core_expect_send(&transfer.pair->client, i, KRDMA_WC_SUCCESS);
	CORE_EQ(test, 100, from[0]);
	CORE_EQ(test, 105, from[1]);
	CORE_EQ(test, -1, from[2]);
	CORE_EQ(test, 110, to[0]);
	CORE_EQ(test, 4, to[1]);
	CORE_EQ(test, -EINVAL, krdma_template_post(template, 1, 0, 4, 8, 0));
	CORE_EQ(test, -EINVAL, krdma_template_post(template, 1, 0, 0, 4, 0));
	krdma_template_destroy(template);
out:
	transfer_end(&transfer);
}

/* The MR ends while the template is there, and then the connection. */
static void template_outlives(struct core_test *test)
{
	struct krdma_template_wr posts[] = { { .length = 8 }, { .length = 8 } };
	struct krdma_template *of_mr, *of_conn;
	struct transfer transfer;
	struct core_end *client;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	of_mr = template_make(&transfer, KRDMA_OP_WRITE);
	of_conn = template_make(&transfer, KRDMA_OP_WRITE);
	if (!CORE_OK_PTR(test, of_mr) || !CORE_OK_PTR(test, of_conn))
		goto out;
	CORE_EQ(test, 0, krdma_template_post(of_mr, 1, 0, 0, 8, 0));
	core_expect_send(client, 1, KRDMA_WC_SUCCESS);
	CORE_EQ(test, 0, krdma_mr_close(transfer.from.mr));
	CORE_EQ(test, -ESTALE, krdma_template_post(of_mr, 1, 0, 0, 8, 0));
	CORE_EQ(test, -ESTALE, krdma_template_post_many(of_mr, posts, 2));
	krdma_conn_close(client->conn);
	CORE_EQ(test, -ENOTCONN, krdma_template_post(of_conn, 1, 0, 0, 8, 0));
	CORE_EQ(test, -ENOTCONN, krdma_template_post_many(of_conn, posts, 2));
	core_expect_nothing(client);
out:
	/* Closes the connection, and deregisters the MRs. */
	transfer_end(&transfer);
	if (!IS_ERR(of_conn)) {
		CORE_EQ(test, -ENOTCONN, krdma_template_post(of_conn, 1, 0, 0, 8, 0));
		krdma_template_destroy(of_conn);
	}
	if (!IS_ERR(of_mr))
		krdma_template_destroy(of_mr);
}

static void template_of_a_lane(struct core_test *test)
{
	struct krdma_template_attr attr = { .opcode = KRDMA_OP_SEND, .length = 8 };
	struct core_pair *pair = lane_open(test);
	struct core_buffer buffer;

	if (!pair)
		return;
	if (core_buffer_make(test, &buffer, pair->client_session, 4096, 0)) {
		attr.mr = buffer.mr;
		attr.addr = buffer.info.addr;
		CORE_ERR_PTR(test, -EOPNOTSUPP, krdma_template_create(pair->client.conn, &attr));
	}
	core_pair_close(pair);
	core_buffer_free(test, &buffer);
}

const struct core_case core_template_cases[] = {
	CORE_CASE_CONTEXTS(template_moves_data),
	CORE_CASE_CONTEXTS(template_lists),
	CORE_CASE(template_messages),
	CORE_CASE(template_atomics),
	CORE_CASE(template_outlives),
	CORE_CASE(template_of_a_lane),
	{}
};
