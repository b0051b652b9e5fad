// SPDX-License-Identifier: GPL-2.0
/* Work requests: what arrives, and what completes. */
#include <linux/dma-direction.h>
#include <linux/err.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "transfer.h"

/* A place in the receiver's buffer for each of several messages. */
#define SLOT_SIZE	SZ_4K

/*
 * Messages
 */

/* Proves: B1, B6, D9, F3 */
static void messages(struct core_test *test)
{
	static const u32 lengths[] = { 0, 1, 7, 8, 1023, 1024, 1025, SLOT_SIZE };
	struct transfer transfer;
	struct core_end *client, *server;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	core_fill(transfer.from.data, TRANSFER_SIZE, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		CORE_EQ(test, 1, core_receive(server, 100 + i, &transfer.to, i * SLOT_SIZE,
					      SLOT_SIZE));
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		CORE_EQ(test, 1, core_send(client, i, &transfer.from, i, lengths[i],
					   i % 2 ? KRDMA_POST_SOLICITED : 0));
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths) && !test->failures; i++) {
		struct krdma_wc got;

		core_expect_send(client, i, KRDMA_WC_SUCCESS);
		core_expect_receive(server, 100 + i, KRDMA_WC_SUCCESS, lengths[i], &got);
		CORE_EQ(test, KRDMA_OP_RECV, got.opcode);
		CORE_EQ(test, 0, got.flags);
		CORE_TRUE(test, got.conn == server->conn && got.context == server);
		CORE_TRUE(test, !memcmp(transfer.to.data + i * SLOT_SIZE, transfer.from.data + i,
					lengths[i]));
		CORE_TRUE(test, !memchr_inv(transfer.to.data + i * SLOT_SIZE + lengths[i], 0,
					    SLOT_SIZE - lengths[i]));
	}
	core_expect_nothing(client);
	core_expect_nothing(server);
	transfer_end(&transfer);
}

/* A message from several SGEs into several SGEs. */
/* Proves: E4 */
static void message_pieces(struct core_test *test)
{
	struct krdma_wc got;
	struct transfer transfer;
	struct krdma_sge from[2], to[2];
	struct krdma_recv_wr recv_wr = { .wr_id = 5, .sges = to, .sge_count = 2 };
	struct krdma_send_wr send = {
		.wr_id = 6, .opcode = KRDMA_OP_SEND, .sges = from, .sge_count = 2,
	};

	if (test->attr.limits.max_recv_sge < 2) {
		test->skipped = "receives of this device have one SGE";
		return;
	}
	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	core_fill(transfer.from.data, 3000, 2);
	from[0] = core_sge(&transfer.from, 0, 1000);
	from[1] = core_sge(&transfer.from, 1000, 2000);
	to[0] = core_sge(&transfer.to, 100, 1700);
	to[1] = core_sge(&transfer.to, 8192, 1300);
	CORE_EQ(test, 1, krdma_conn_post_recv(transfer.pair->server.conn, &recv_wr, 1));
	CORE_EQ(test, 1, transfer_post(&transfer, &send));
	core_expect_send(&transfer.pair->client, 6, KRDMA_WC_SUCCESS);
	core_expect_receive(&transfer.pair->server, 5, KRDMA_WC_SUCCESS, 3000, &got);
	CORE_TRUE(test, !memcmp(transfer.to.data + 100, transfer.from.data, 1700));
	CORE_TRUE(test, !memcmp(transfer.to.data + 8192, transfer.from.data + 1700, 1300));
	transfer_end(&transfer);
}

/* Proves: D9, E8 */
static void immediate(struct core_test *test)
{
	struct transfer transfer;
	struct core_end *client, *server;
	struct krdma_wc got;
	struct krdma_send_wr wr = { .imm = 0x12345678, .sge_count = 1 };
	struct krdma_sge sge;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	sge = core_sge(&transfer.from, 0, 500);
	core_fill(transfer.from.data, 500, 3);
	wr.sges = &sge;
	wr.opcode = KRDMA_OP_SEND_IMM;
	if (!(test->attr.caps & KRDMA_DEVICE_CAP_IMM)) {
		CORE_EQ(test, -EOPNOTSUPP, transfer_post(&transfer, &wr));
		wr.opcode = KRDMA_OP_WRITE_IMM;
		CORE_EQ(test, -EOPNOTSUPP, transfer_post(&transfer, &wr));
		transfer_end(&transfer);
		return;
	}
	for (u64 i = 0; i < 3; i++)
		CORE_EQ(test, 1, core_receive(server, i, &transfer.to, i * SLOT_SIZE, SLOT_SIZE));

	CORE_EQ(test, 1, transfer_post(&transfer, &wr));
	core_expect_send(client, 0, KRDMA_WC_SUCCESS);
	if (core_expect_receive(server, 0, KRDMA_WC_SUCCESS, 500, &got)) {
		CORE_EQ(test, KRDMA_WC_WITH_IMM, got.flags);
		CORE_EQ(test, 0x12345678, got.imm);
	}
	CORE_TRUE(test, core_filled(transfer.to.data, 500, 3));

	wr.opcode = KRDMA_OP_WRITE_IMM;
	wr.imm = 0xffffffff;
	wr.remote_addr = transfer.to.info.remote_addr + 3 * SLOT_SIZE;
	wr.rkey = transfer.to.info.rkey;
	CORE_EQ(test, 1, transfer_post(&transfer, &wr));
	core_expect_send(client, 0, KRDMA_WC_SUCCESS);
	if (core_expect_receive(server, 1, KRDMA_WC_SUCCESS, 500, &got)) {
		CORE_EQ(test, KRDMA_WC_WITH_IMM | KRDMA_WC_WRITTEN, got.flags);
		CORE_EQ(test, 0xffffffffU, got.imm);
	}
	CORE_TRUE(test, core_filled(transfer.to.data + 3 * SLOT_SIZE, 500, 3));
	CORE_TRUE(test, !memchr_inv(transfer.to.data + SLOT_SIZE, 0, SLOT_SIZE));

	/* Only the immediate data. */
	wr.sge_count = 0;
	wr.imm = 7;
	CORE_EQ(test, 1, transfer_post(&transfer, &wr));
	core_expect_send(client, 0, KRDMA_WC_SUCCESS);
	if (core_expect_receive(server, 2, KRDMA_WC_SUCCESS, 0, &got))
		CORE_EQ(test, 7, got.imm);
	transfer_end(&transfer);
}

/* Posts before there is a connection; the peer sends as soon as there is one. */
static void receive_early(struct core_end *end)
{
	struct core_test *test = end->test;
	struct krdma_recv_wr recv_wr = { .wr_id = 77 };

	/* Messages without data need no memory. */
	CORE_EQ(test, 1, krdma_conn_post_recv(end->conn, &recv_wr, 1));
	CORE_EQ(test, -ENOTCONN, core_send(end, 0, &(struct core_buffer) {}, 0, 0, 0));
}

/* Proves: D6 */
static void receives_come_first(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);
	struct core_buffer none = {};

	if (!pair)
		return;
	pair->prepared = receive_early;
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair) && core_pair_connect(pair)) {
		CORE_EQ(test, 1, core_send(&pair->client, 1, &none, 0, 0, 0));
		core_expect_receive(&pair->server, 77, KRDMA_WC_SUCCESS, 0, NULL);
		CORE_EQ(test, 1, core_send(&pair->server, 2, &none, 0, 0, 0));
		core_expect_receive(&pair->client, 77, KRDMA_WC_SUCCESS, 0, NULL);
		core_expect_send(&pair->client, 1, KRDMA_WC_SUCCESS);
		core_expect_send(&pair->server, 2, KRDMA_WC_SUCCESS);
	}
	core_pair_close(pair);
}

/* A message longer than its receive ends the connection, and both ends get an event. */
static void message_too_long(struct core_test *test)
{
	struct krdma_wc got;
	struct transfer transfer;
	struct core_end *client, *server;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	CORE_EQ(test, 1, core_receive(server, 1, &transfer.to, 0, 100));
	CORE_EQ(test, 1, core_send(client, 2, &transfer.from, 0, 101, 0));
	if (CORE_TRUE(test, core_await_receive(server, &got, CORE_TIMEOUT_MS)))
		CORE_TRUE(test, got.status);
	CORE_TRUE(test, core_await_event(server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(client, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_send(client, &got, CORE_TIMEOUT_MS));
	/* On iWARP a completed send was only sent. */
	if (!test->iwarp)
		CORE_TRUE(test, got.status);
	transfer_end(&transfer);
}

/*
 * Writes and reads
 */

/*
 * Whether this was a read of nothing on a device whose reads need an MR to fill, and which refuses
 * it.
 */
static bool core_reads_nothing(struct core_test *test, u32 length, int ret)
{
	if (length || test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL)
		return false;
	CORE_EQ(test, -EOPNOTSUPP, ret);
	return true;
}

/* Proves: D9, E9 (core-debug siw) */
static void writes_and_reads(struct core_test *test)
{
	static const u32 lengths[] = { 0, 1, 8, 1024, 4095, 4096, 4097, 10000, TRANSFER_SIZE };
	struct transfer transfer;
	struct core_end *client;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths) && !test->failures; i++) {
		u32 length = lengths[i];
		u32 offset = min_t(u32, i * 3, TRANSFER_SIZE - length);
		int ret;

		core_fill(transfer.from.data, TRANSFER_SIZE, i);
		memset(transfer.to.data, 0xaa, TRANSFER_SIZE);
		CORE_EQ(test, 1, core_rdma(client, i, KRDMA_OP_WRITE, &transfer.from, 0, length,
					   &transfer.to, offset, 0));
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
		/* Read back what was written. */
		memset(transfer.from.data, 0, TRANSFER_SIZE);
		ret = core_rdma(client, i + 50, KRDMA_OP_READ, &transfer.from, 0, length,
				&transfer.to, offset, 0);
		if (core_reads_nothing(test, length, ret))
			continue;
		CORE_EQ(test, 1, ret);
		core_expect_send(client, i + 50, KRDMA_WC_SUCCESS);
		CORE_TRUE(test, core_filled(transfer.from.data, length, i));
		CORE_TRUE(test, !memchr_inv(transfer.from.data + length, 0,
					    TRANSFER_SIZE - length));
		CORE_TRUE(test, !memchr_inv(transfer.to.data, 0xaa, offset));
		CORE_TRUE(test, core_filled(transfer.to.data + offset, length, i));
		CORE_TRUE(test, !memchr_inv(transfer.to.data + offset + length, 0xaa,
					    TRANSFER_SIZE - offset - length));
	}
	core_expect_nothing(&transfer.pair->server);
	transfer_end(&transfer);
}

#define BEHIND_ROUNDS	10

/**
 * struct behind - a read and a write behind it
 * @data: memory of the read
 * @size: bytes of the read
 * @next: wr_id of the next completion: twice the round of the read, and one more of the write
 * @wrong: completions out of order, failed, or of a read without its data
 */
struct behind {
	const u8 *data;
	u32 size;
	u64 next;
	u32 wrong;
};

/* Looks at once: a little later the data may have come. */
static void behind_complete(struct core_end *end, const struct krdma_wc *wc)
{
	struct behind *behind = end->context;

	if (wc->status || wc->wr_id != behind->next++ ||
	    (!(wc->wr_id % 2) && !core_filled(behind->data, behind->size, wc->wr_id / 2)))
		behind->wrong++;
}

/*
 * A short write behind a long read is sent before the data of the read have come, and completes
 * after them.
 */
/* Proves: B3 */
static void write_behind_read(struct core_test *test)
{
	/* Both begin within a page, so that neither needs more pages than its bytes. */
	const u32 size = round_down(min_t(u32, SZ_256K, core_rkey_room(test)) - PAGE_SIZE,
				    PAGE_SIZE);
	struct behind behind = { .size = size };
	struct transfer transfer;
	struct core_end *client;

	if (!transfer_begin(&transfer, test, NULL, size + 8))
		return;
	client = &transfer.pair->client;
	behind.data = transfer.from.data;
	client->context = &behind;
	client->complete = behind_complete;
	for (u64 i = 0; i < BEHIND_ROUNDS && !test->failures; i++) {
		core_fill(transfer.to.data, size, i);
		memset(transfer.from.data, 0, size);
		CORE_EQ(test, 1, core_rdma(client, 2 * i, KRDMA_OP_READ, &transfer.from, 0, size,
					   &transfer.to, 0, 0));
		CORE_EQ(test, 1, core_rdma(client, 2 * i + 1, KRDMA_OP_WRITE, &transfer.from, size,
					   8, &transfer.to, size, 0));
		CORE_TRUE(test, core_await_told(client, 2 * i + 2, CORE_TIMEOUT_MS));
		CORE_EQ(test, 0, behind.wrong);
	}
	transfer_end(&transfer);
}

/*
 * Reads of both ends at once, each with a write behind it: neither end waits for the other to
 * complete its read.
 */
static void reads_of_both_ends(struct core_test *test)
{
	struct transfer transfer;
	struct core_end *ends[2];

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	ends[0] = &transfer.pair->client;
	ends[1] = &transfer.pair->server;
	for (u64 i = 0; i < BEHIND_ROUNDS && !test->failures; i++) {
		for (int end = 0; end < 2; end++) {
			const struct core_buffer *local = end ? &transfer.to : &transfer.from;
			const struct core_buffer *remote = end ? &transfer.from : &transfer.to;

			CORE_EQ(test, 1, core_rdma(ends[end], 2 * i, KRDMA_OP_READ, local, 0,
						   TRANSFER_SIZE / 2, remote, TRANSFER_SIZE / 2,
						   0));
			CORE_EQ(test, 1, core_rdma(ends[end], 2 * i + 1, KRDMA_OP_WRITE, local, 0,
						   0, remote, 0, 0));
		}
		for (int end = 0; end < 2; end++) {
			core_expect_send(ends[end], 2 * i, KRDMA_WC_SUCCESS);
			core_expect_send(ends[end], 2 * i + 1, KRDMA_WC_SUCCESS);
		}
	}
	transfer_end(&transfer);
}

/*
 * A fence that has nothing to wait for, and one behind a read; a message that invalidates, with
 * inline data.  What follows is executed, too.
 */
static void fences_and_inline_data(struct core_test *test)
{
	/* What the devices of these drivers say of a local key that has ended. */
	bool access_error = core_driver_is(test, RDMA_DRIVER_CXGB4) ||
			    core_driver_is(test, RDMA_DRIVER_ERDMA);
	const struct krdma_conn_attr attr = { .max_inline = 16, .recv_depth = 4 };
	struct krdma_send_wr flush = {
		.wr_id = 3, .opcode = KRDMA_OP_FLUSH, .flags = KRDMA_POST_FENCE,
		.flush = KRDMA_FLUSH_GLOBAL, .operand = 8,
	};
	struct krdma_send_wr invalidate = {
		.wr_id = 5, .opcode = KRDMA_OP_SEND_INVALIDATE, .flags = KRDMA_POST_INLINE,
		.sge_count = 1,
	};
	u8 eight[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct krdma_sge sge = { .addr = (uintptr_t)eight, .length = sizeof(eight) };
	struct transfer transfer;
	struct core_end *client, *server;
	struct krdma_wc got;

	if (!transfer_begin(&transfer, test, &attr, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	for (u64 i = 0; i < 2; i++) {
		CORE_EQ(test, 1, core_rdma(client, i, KRDMA_OP_READ, &transfer.from, 0, 100,
					   &transfer.to, 0, KRDMA_POST_FENCE));
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
	}
	CORE_EQ(test, 1, core_rdma(client, 2, KRDMA_OP_WRITE, &transfer.from, 0, 100, &transfer.to,
				   0, 0));
	core_expect_send(client, 2, KRDMA_WC_SUCCESS);
	flush.remote_addr = transfer.to.info.remote_addr;
	flush.rkey = transfer.to.info.rkey;
	if (test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL) {
		CORE_EQ(test, 1, transfer_post(&transfer, &flush));
		core_expect_send(client, 3, KRDMA_WC_SUCCESS);
	}
	CORE_EQ(test, 1, core_rdma(client, 4, KRDMA_OP_WRITE, &transfer.from, 0, 100, &transfer.to,
				   0, KRDMA_POST_FENCE));
	core_expect_send(client, 4, KRDMA_WC_SUCCESS);

	for (u64 i = 0; i < 2; i++)
		CORE_EQ(test, 1, core_receive(server, i, &transfer.to, i * SLOT_SIZE, SLOT_SIZE));
	if (test->attr.caps & KRDMA_DEVICE_CAP_FAST_REG) {
		/* Nothing accesses that memory any more. */
		invalidate.key = transfer.to.info.rkey;
		invalidate.sges = &sge;
		CORE_EQ(test, 1, transfer_post(&transfer, &invalidate));
		memset(eight, 0xff, sizeof(eight));
		core_expect_send(client, 5, KRDMA_WC_SUCCESS);
		if (core_expect_receive(server, 0, KRDMA_WC_SUCCESS, 8, &got))
			CORE_TRUE(test, got.flags & KRDMA_WC_WITH_INVALIDATE);
		for (u8 i = 0; i < 8; i++)
			CORE_EQ(test, i + 1, transfer.to.data[i]);
		/* The receive uses the local DMA lkey, or the one that was invalidated. */
		CORE_EQ(test, 1, core_send(client, 6, &transfer.from, 0, 100, 0));
		if (test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL) {
			core_expect_send(client, 6, KRDMA_WC_SUCCESS);
			core_expect_receive(server, 1, KRDMA_WC_SUCCESS, 100, NULL);
		} else {
			core_expect_send(client, 6, KRDMA_WC_REM_OP_ERR);
			core_expect_receive(server, 1, access_error ? KRDMA_WC_LOC_ACCESS_ERR :
					    KRDMA_WC_LOC_PROT_ERR, 0, NULL);
		}
	}
	transfer_end(&transfer);
}

#define PIECES	40

/* More SGEs than a WQE of the device can have. */
/* Proves: E4 */
static void many_pieces(struct core_test *test)
{
	struct krdma_sge *sges = kcalloc(PIECES, sizeof(*sges), GFP_KERNEL);
	struct krdma_send_wr wr = { .sges = sges };
	struct krdma_conn_info info;
	struct transfer transfer;
	struct core_end *client;
	u32 length = 0;
	int ret;

	if (!CORE_TRUE(test, sges))
		return;
	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		goto out;
	client = &transfer.pair->client;
	krdma_conn_query(client->conn, &info);
	wr.remote_addr = transfer.to.info.remote_addr;
	wr.rkey = transfer.to.info.rkey;
	for (u32 count = 1; count <= PIECES && !test->failures; count++) {
		/* Of many lengths, also 0, and not adjacent. */
		for (u32 i = 0; i < count; i++)
			sges[i] = core_sge(&transfer.from, i * 1500, i % 5 ? i * 37 % 1400 : 0);
		length = 0;
		for (u32 i = 0; i < count; i++) {
			core_fill(transfer.from.data + i * 1500, sges[i].length, i + count);
			length += sges[i].length;
		}
		memset(transfer.to.data, 0, TRANSFER_SIZE);
		wr.opcode = KRDMA_OP_WRITE;
		wr.wr_id = count;
		wr.sge_count = count;
		CORE_EQ(test, 1, transfer_post(&transfer, &wr));
		core_expect_send(client, count, KRDMA_WC_SUCCESS);
		memset(transfer.from.data, 0, TRANSFER_SIZE);
		wr.opcode = KRDMA_OP_READ;
		ret = transfer_post(&transfer, &wr);
		if (core_reads_nothing(test, length, ret))
			continue;
		CORE_EQ(test, 1, ret);
		core_expect_send(client, count, KRDMA_WC_SUCCESS);
		for (u32 i = 0, at = 0; i < count; at += sges[i++].length) {
			CORE_TRUE(test, core_filled(transfer.from.data + i * 1500,
						    sges[i].length, i + count));
			CORE_TRUE(test, core_filled(transfer.to.data + at, sges[i].length,
						    i + count));
		}
		CORE_TRUE(test, !memchr_inv(transfer.to.data + length, 0, TRANSFER_SIZE - length));
	}
	/* A message is never split. */
	wr.opcode = KRDMA_OP_SEND;
	for (u32 i = 0; i < PIECES; i++)
		sges[i] = core_sge(&transfer.from, i * 1500, 1);
	wr.sge_count = info.max_send_sge + 1;
	CORE_EQ(test, -EMSGSIZE, transfer_post(&transfer, &wr));
	transfer_end(&transfer);
out:
	kfree(sges);
}

/* All of a large buffer, window by window: every byte is in its place. */
/* Proves: E4 */
static void large(struct core_test *test)
{
	const u32 size = SZ_8M + SZ_1M + 12345;
	const u32 window = min(100 * PAGE_SIZE, core_rkey_room(test) - 1000);
	/* What some devices ask of memory that a read fills. */
	const u32 sink = test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL ? 0 :
			 KRDMA_ACCESS_REMOTE_WRITE;
	struct transfer transfer;
	struct core_buffer big;
	struct core_end *client;

	if (!transfer_begin(&transfer, test, NULL, SZ_1M))
		return;
	client = &transfer.pair->client;
	/* A peer can access no more than one MR can span; local memory is accessible as a whole. */
	if (!core_buffer_make(test, &big, transfer.pair->client_session, size,
			      KRDMA_ACCESS_LOCAL_WRITE | sink))
		goto out;
	core_buffer_first_rkey(&transfer.to);
	core_fill(big.data, size, 9);
	for (u32 at = 77; at + window <= size && !test->failures; at += 3 * SZ_1M) {
		CORE_EQ(test, 1, core_rdma(client, 1, KRDMA_OP_WRITE, &big, at, window,
					   &transfer.to, at % 1000, 0));
		core_expect_send(client, 1, KRDMA_WC_SUCCESS);
		memset(big.data + at, 0, window);
		CORE_EQ(test, 1, core_rdma(client, 2, KRDMA_OP_READ, &big, at, window,
					   &transfer.to, at % 1000, 0));
		core_expect_send(client, 2, KRDMA_WC_SUCCESS);
	}
	CORE_TRUE(test, core_filled(big.data, size, 9));
	core_buffer_free(test, &big);
out:
	transfer_end(&transfer);
}

/* Pages without an MR, mapped for one work request. */
/* Proves: F3 */
static void mapped_pages(struct core_test *test)
{
	struct krdma_sge sges[2];
	struct krdma_send_wr wr = { .sges = sges };
	struct scatterlist sg[2];
	struct transfer transfer;
	struct krdma_conn *conn;
	int mapped;
	u8 *pages;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	conn = transfer.pair->client.conn;
	pages = kzalloc(2 * PAGE_SIZE, GFP_KERNEL);
	if (!CORE_TRUE(test, pages))
		goto out;

	core_fill(transfer.to.data, 3000, 3);
	for (int round = 0; round < 2 && !test->failures; round++) {
		enum dma_data_direction direction = round ? DMA_TO_DEVICE : DMA_FROM_DEVICE;

		sg_init_table(sg, 2);
		sg_set_buf(&sg[0], pages, 1000);
		sg_set_buf(&sg[1], pages + PAGE_SIZE, 2000);
		mapped = krdma_conn_map_sg(conn, sg, 2, direction);
		if (!CORE_TRUE(test, mapped == 1 || mapped == 2))
			break;
		for (int i = 0; i < mapped; i++)
			sges[i] = (struct krdma_sge) {
				.addr = sg_dma_address(&sg[i]), .length = sg_dma_len(&sg[i]),
				.key = krdma_conn_lkey(conn),
			};
		wr.sge_count = mapped;
		wr.opcode = round ? KRDMA_OP_WRITE : KRDMA_OP_READ;
		wr.remote_addr = transfer.to.info.remote_addr + round * 5000;
		wr.rkey = transfer.to.info.rkey;
		if (round || test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL) {
			CORE_EQ(test, 1, transfer_post(&transfer, &wr));
			core_expect_send(&transfer.pair->client, 0, KRDMA_WC_SUCCESS);
		} else {
			CORE_EQ(test, -EOPNOTSUPP, transfer_post(&transfer, &wr));
		}
		krdma_conn_unmap_sg(conn, sg, 2, direction);
		if (!round && !(test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL)) {
			memcpy(pages, transfer.to.data, 1000);
			memcpy(pages + PAGE_SIZE, transfer.to.data + 1000, 2000);
		}
	}
	CORE_TRUE(test, !memcmp(pages, transfer.to.data, 1000));
	CORE_TRUE(test, !memcmp(pages + PAGE_SIZE, transfer.to.data + 1000, 2000));
	CORE_TRUE(test, !memcmp(transfer.to.data + 5000, transfer.to.data, 3000) || test->iwarp);

	/* If nothing can be posted, nothing is mapped. */
	krdma_conn_close(conn);
	CORE_EQ(test, -ENOTCONN, krdma_conn_map_sg(conn, sg, 2, DMA_TO_DEVICE));
	kfree(pages);
out:
	transfer_end(&transfer);
}

const struct core_case core_transfer_cases[] = {
	CORE_CASE_CONTEXTS(messages),
	CORE_CASE(message_pieces),
	CORE_CASE_CONTEXTS(immediate),
	CORE_CASE_CONTEXTS(receives_come_first),
	CORE_CASE_CONTEXTS(message_too_long),
	CORE_CASE_CONTEXTS(writes_and_reads),
	CORE_CASE_CONTEXTS(write_behind_read),
	CORE_CASE(reads_of_both_ends),
	CORE_CASE(fences_and_inline_data),
	CORE_CASE(many_pieces),
	CORE_CASE(mapped_pages),
	CORE_CASE(large),
	{},
};
