// SPDX-License-Identifier: GPL-2.0
/* Work requests with special flags, and work requests that krdma or the peer refuses. */
#include <linux/err.h>
#include <linux/slab.h>

#include "transfer.h"

/*
 * Operations on eight bytes
 */

/* Proves: E4 */
static void atomics(struct core_test *test)
{
	struct krdma_send_wr wr = { .sge_count = 1, .wr_id = 4 };
	struct transfer transfer;
	struct krdma_sge sge;
	u64 *local, *remote;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	local = (u64 *)transfer.from.data;
	remote = (u64 *)transfer.to.data + 3;
	sge = core_sge(&transfer.from, 0, 8);
	wr.sges = &sge;
	wr.remote_addr = transfer.to.info.remote_addr + 24;
	wr.rkey = transfer.to.info.rkey;
	wr.opcode = KRDMA_OP_FETCH_ADD;
	wr.operand = 5;
	if (!(test->attr.caps & KRDMA_DEVICE_CAP_ATOMIC)) {
		CORE_EQ(test, -EOPNOTSUPP, transfer_post(&transfer, &wr));
		wr.opcode = KRDMA_OP_COMPARE_SWAP;
		CORE_EQ(test, -EOPNOTSUPP, transfer_post(&transfer, &wr));
		goto out;
	}

	*remote = U64_MAX - 1;
	CORE_EQ(test, 1, transfer_post(&transfer, &wr));
	core_expect_send(&transfer.pair->client, 4, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, *local == U64_MAX - 1 && *remote == 3);

	wr.opcode = KRDMA_OP_COMPARE_SWAP;
	wr.swap = 0x1122334455667788;
	CORE_EQ(test, 1, transfer_post(&transfer, &wr));
	core_expect_send(&transfer.pair->client, 4, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, *local == 3 && *remote == 3);
	wr.operand = 3;
	CORE_EQ(test, 1, transfer_post(&transfer, &wr));
	core_expect_send(&transfer.pair->client, 4, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, *local == 3 && *remote == 0x1122334455667788);

	wr.remote_addr++;
	CORE_EQ(test, -EINVAL, transfer_post(&transfer, &wr));
	wr.remote_addr--;
	sge.length = 4;
	CORE_EQ(test, -EINVAL, transfer_post(&transfer, &wr));
	sge.length = 16;
	CORE_EQ(test, -EINVAL, transfer_post(&transfer, &wr));
out:
	transfer_end(&transfer);
}

/* Proves: D10, D11 */
static void atomic_write_and_flush(struct core_test *test)
{
	struct krdma_send_wr wr = { .wr_id = 4 };
	struct transfer transfer;
	struct core_end *client;
	u64 *remote;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	remote = (u64 *)transfer.to.data;
	core_fill(transfer.from.data, TRANSFER_SIZE, 8);
	wr.rkey = transfer.to.info.rkey;
	for (u64 i = 0; i < 5 && !test->failures; i++) {
		/* Unsignaled, so that only the last of the three completes. */
		CORE_EQ(test, 1, core_rdma(client, 1, KRDMA_OP_WRITE, &transfer.from, 0, 30000,
					   &transfer.to, 64, KRDMA_POST_UNSIGNALED));
		wr.opcode = KRDMA_OP_ATOMIC_WRITE;
		wr.operand = ~i;
		wr.remote_addr = transfer.to.info.remote_addr + i * 8;
		wr.flags = KRDMA_POST_UNSIGNALED;
		CORE_EQ(test, 1, transfer_post(&transfer, &wr));
		wr.opcode = KRDMA_OP_FLUSH;
		wr.flush = KRDMA_FLUSH_GLOBAL;
		wr.operand = 30000;
		wr.remote_addr = transfer.to.info.remote_addr + 64;
		wr.flags = 0;
		if (!(test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL)) {
			/* A flush is a read into memory of krdma's. */
			CORE_EQ(test, -EOPNOTSUPP, transfer_post(&transfer, &wr));
			break;
		}
		CORE_EQ(test, 1, transfer_post(&transfer, &wr));
		core_expect_send(client, 4, KRDMA_WC_SUCCESS);
		CORE_EQ(test, ~i, remote[i]);
		CORE_TRUE(test, core_filled(transfer.to.data + 64, 30000, 8));
	}
	core_expect_nothing(client);

	wr.opcode = KRDMA_OP_ATOMIC_WRITE;
	wr.remote_addr = transfer.to.info.remote_addr + 4;
	CORE_EQ(test, -EINVAL, transfer_post(&transfer, &wr));
	transfer_end(&transfer);
}

/*
 * Flags
 */

/* Proves: E4, E11 */
static void inline_data(struct core_test *test)
{
	const u32 room = test->iwarp ? 48 : 256;
	struct krdma_conn_attr attr = { .max_inline = room };
	struct krdma_send_wr wr = { .sge_count = 2, .flags = KRDMA_POST_INLINE };
	struct krdma_conn_info info;
	struct krdma_sge sges[2];
	struct transfer transfer;
	struct core_end *client, *server;
	u8 data[256];

	core_fill(data, sizeof(data), 4);
	if (!transfer_begin(&transfer, test, &attr, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	krdma_conn_query(client->conn, &info);
	wr.sges = sges;
	wr.remote_addr = transfer.to.info.remote_addr + 4096;
	wr.rkey = transfer.to.info.rkey;
	for (u32 length = 0; length <= room && !test->failures; length += 16) {
		/* On the stack, and invalid after the call. */
		sges[0] = (struct krdma_sge) { .addr = (u64)data, .length = length / 2 };
		sges[1] = (struct krdma_sge) { .addr = (u64)data + length / 2,
					       .length = length - length / 2 };
		CORE_EQ(test, 1, core_receive(server, length, &transfer.to, 0, 512));
		wr.opcode = KRDMA_OP_SEND;
		wr.wr_id = length;
		CORE_EQ(test, 1, transfer_post(&transfer, &wr));
		wr.opcode = KRDMA_OP_WRITE;
		CORE_EQ(test, 1, transfer_post(&transfer, &wr));
		memset(data, 0, sizeof(data));
		core_expect_send(client, length, KRDMA_WC_SUCCESS);
		core_expect_send(client, length, KRDMA_WC_SUCCESS);
		core_expect_receive(server, length, KRDMA_WC_SUCCESS, length, NULL);
		CORE_TRUE(test, core_filled(transfer.to.data, length, 4));
		core_fill(data, sizeof(data), 4);
	}
	/*
	 * A completed write on iWARP was only sent.  When a later read completes, the write has
	 * arrived.
	 */
	CORE_EQ(test, 1, core_rdma(client, 9, KRDMA_OP_READ, &transfer.from, 0, room,
				   &transfer.to, 4096, 0));
	core_expect_send(client, 9, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_filled(transfer.from.data, room, 4));

	sges[0].length = info.max_inline;
	sges[1].length = 1;
	CORE_EQ(test, -EMSGSIZE, transfer_post(&transfer, &wr));
	wr.opcode = KRDMA_OP_READ;
	CORE_EQ(test, -EINVAL, transfer_post(&transfer, &wr));
	transfer_end(&transfer);
}

#define FENCED	20

/* A fenced write sends what the read before it has returned. */
/* Proves: D11, E4 */
static void fence(struct core_test *test)
{
	struct transfer transfer;
	struct core_end *client;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	core_fill(transfer.to.data, 1000, 1);
	for (u32 i = 0; i < FENCED; i++) {
		CORE_EQ(test, 1, core_rdma(client, i, KRDMA_OP_READ, &transfer.from, i * 1000, 1000,
					   &transfer.to, i * 1000, 0));
		CORE_EQ(test, 1, core_rdma(client, i, KRDMA_OP_WRITE, &transfer.from, i * 1000,
					   1000, &transfer.to, (i + 1) * 1000, KRDMA_POST_FENCE));
	}
	for (u32 i = 0; i < FENCED && !test->failures; i++) {
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
	}
	CORE_EQ(test, 1, core_rdma(client, 99, KRDMA_OP_READ, &transfer.from, 0, 1000,
				   &transfer.to, FENCED * 1000, 0));
	core_expect_send(client, 99, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_filled(transfer.from.data, 1000, 1));
	transfer_end(&transfer);
}

/* Unsignaled work requests do not complete until one fails; then that and all later ones do. */
/* Proves: D9 */
static void silent(struct core_test *test)
{
	struct core_buffer wrong;
	struct transfer transfer;
	struct krdma_wc got;
	struct krdma_conn_info info;
	struct core_end *client;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	for (u64 i = 0; i < 10; i++)
		CORE_EQ(test, 1, core_rdma(client, i, KRDMA_OP_WRITE, &transfer.from, 0, 100,
					   &transfer.to, 0, KRDMA_POST_UNSIGNALED));
	core_expect_nothing(client);
	CORE_EQ(test, 1, core_rdma(client, 10, KRDMA_OP_READ, &transfer.from, 0, 100,
				   &transfer.to, 0, 0));
	core_expect_send(client, 10, KRDMA_WC_SUCCESS);
	krdma_conn_query(client->conn, &info);
	CORE_EQ(test, 11, info.sends_posted);
	CORE_EQ(test, 11, info.sends_completed);

	wrong = transfer.to;
	wrong.info.rkey ^= 0x5500;
	CORE_EQ(test, 1, core_rdma(client, 11, KRDMA_OP_READ, &transfer.from, 0, 100, &wrong, 0,
				   KRDMA_POST_UNSIGNALED));
	if (CORE_TRUE(test, core_await_send(client, &got, CORE_TIMEOUT_MS))) {
		CORE_EQ(test, 11, got.wr_id);
		CORE_TRUE(test, got.status);
	}
	transfer_end(&transfer);
}

/* Many work requests in one call. */
/* Proves: B1 (core-debug), E4, E11 */
static void batches(struct core_test *test)
{
	struct krdma_send_wr *wrs = kcalloc(64, sizeof(*wrs), GFP_KERNEL);
	struct krdma_recv_wr *recv_wrs = kcalloc(64, sizeof(*recv_wrs), GFP_KERNEL);
	struct krdma_sge *sges = kcalloc(128, sizeof(*sges), GFP_KERNEL);
	struct transfer transfer;
	struct core_end *client, *server;

	if (!CORE_TRUE(test, wrs && recv_wrs && sges) ||
	    !transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		goto out;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	core_fill(transfer.from.data, 64 * 512, 6);
	for (int count = 1; count <= 64 && !test->failures; count += count < 5 ? 1 : 13) {
		for (int i = 0; i < count; i++) {
			sges[i] = core_sge(&transfer.from, i * 512, 512);
			sges[64 + i] = core_sge(&transfer.to, i * 1024, 1024);
			wrs[i] = (struct krdma_send_wr) {
				.wr_id = i, .opcode = KRDMA_OP_SEND,
				.sges = &sges[i], .sge_count = 1,
			};
			recv_wrs[i] = (struct krdma_recv_wr) {
				.wr_id = i, .sges = &sges[64 + i], .sge_count = 1,
			};
		}
		CORE_EQ(test, count, krdma_conn_post_recv(server->conn, recv_wrs, count));
		CORE_EQ(test, count, krdma_conn_post_send(client->conn, wrs, count));
		for (int i = 0; i < count; i++) {
			core_expect_send(client, i, KRDMA_WC_SUCCESS);
			core_expect_receive(server, i, KRDMA_WC_SUCCESS, 512, NULL);
			CORE_TRUE(test, !memcmp(transfer.to.data + i * 1024,
						transfer.from.data + i * 512, 512));
		}
	}
	/* Those before an invalid one are accepted.  Alone, the invalid one returns its error. */
	CORE_EQ(test, 3, krdma_conn_post_recv(server->conn, recv_wrs, 3));
	wrs[2].opcode = 0;
	CORE_EQ(test, 2, krdma_conn_post_send(client->conn, wrs, 5));
	CORE_EQ(test, -EINVAL, krdma_conn_post_send(client->conn, wrs + 2, 3));
	CORE_EQ(test, -EINVAL, krdma_conn_post_send(client->conn, wrs, 0));
	for (int i = 0; i < 2; i++) {
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
		core_expect_receive(server, i, KRDMA_WC_SUCCESS, 512, NULL);
	}
	core_expect_nothing(client);
	transfer_end(&transfer);
out:
	kfree(sges);
	kfree(recv_wrs);
	kfree(wrs);
}

/*
 * Refused by krdma
 */

/* Proves: E3 */
static void refused_requests(struct core_test *test)
{
	struct krdma_send_wr wr;
	struct core_buffer readable, foreign;
	struct transfer transfer;
	struct krdma_sge sge;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	if (!core_buffer_make(test, &readable, transfer.pair->client_session, 8192, 0))
		goto out;
	if (!core_buffer_make(test, &foreign, transfer.pair->server_session, 8192,
			      KRDMA_ACCESS_LOCAL_WRITE))
		goto out_readable;

#define REFUSED(error, ...) do {							\
	wr = (struct krdma_send_wr) {						\
		.opcode = KRDMA_OP_WRITE, .sges = &sge, .sge_count = 1,			\
		.remote_addr = transfer.to.info.remote_addr,					\
		.rkey = transfer.to.info.rkey, __VA_ARGS__ };		\
	CORE_EQ(test, error, transfer_post(&transfer, &wr));			\
} while (0)
	sge = core_sge(&transfer.from, 0, 100);
	REFUSED(-EINVAL, .opcode = 0);
	REFUSED(-EINVAL, .opcode = KRDMA_OP_RECV);
	REFUSED(-EINVAL, .opcode = 200);
	REFUSED(-EINVAL, .flags = 1 << 4);
	REFUSED(-EINVAL, .flags = KRDMA_POST_SOLICITED);
	REFUSED(test->attr.caps & KRDMA_DEVICE_CAP_READ_LOCAL ? -EINVAL : -EOPNOTSUPP,
		.opcode = KRDMA_OP_FLUSH);
	REFUSED(-EINVAL, .opcode = KRDMA_OP_FLUSH + 1, .sge_count = 0);
	REFUSED(-EOVERFLOW, .remote_addr = U64_MAX - 50);
	sge = core_sge(&transfer.from, TRANSFER_SIZE - 50, 51);
	REFUSED(-ERANGE);
	sge = core_sge(&transfer.from, -1, 1);
	REFUSED(-ERANGE);
	sge.addr = U64_MAX;
	sge.length = U32_MAX;
	REFUSED(-ERANGE);
	sge = core_sge(&foreign, 0, 10);
	REFUSED(-EXDEV);
	sge = core_sge(&readable, 0, 10);
	REFUSED(-EACCES, .opcode = KRDMA_OP_READ);
#undef REFUSED
	CORE_EQ(test, -EACCES, core_receive(&transfer.pair->client, 0, &readable, 0, 10));
	CORE_EQ(test, -EXDEV, core_receive(&transfer.pair->client, 0, &foreign, 0, 10));
	CORE_EQ(test, -ERANGE, core_receive(&transfer.pair->client, 0, &transfer.from, 0,
					    TRANSFER_SIZE + 1));
	CORE_EQ(test, -EINVAL, krdma_conn_post_recv(transfer.pair->client.conn, NULL, 0));

	/* None of this has affected the connection, and sending needs no access right. */
	CORE_EQ(test, 1, core_rdma(&transfer.pair->client, 3, KRDMA_OP_WRITE, &readable, 0, 8192,
				   &transfer.to, 0, 0));
	core_expect_send(&transfer.pair->client, 3, KRDMA_WC_SUCCESS);
	core_buffer_free(test, &foreign);
out_readable:
	core_buffer_free(test, &readable);
out:
	transfer_end(&transfer);
}

/*
 * Refused by the peer
 */

/* The peer refuses: the work request fails, and both ends get an event. */
static void expect_refusal(struct transfer *transfer, u8 opcode, const struct core_buffer *remote,
			   size_t offset)
{
	struct core_test *test = transfer->test;
	struct core_end *client = &transfer->pair->client;
	struct core_end *server = &transfer->pair->server;
	struct krdma_wc got = {};
	struct krdma_sge sge = core_sge(&transfer->from, 0, 8);
	struct krdma_send_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.sges = &sge,
		.sge_count = 1,
		.remote_addr = remote->info.remote_addr + offset,
		.rkey = remote->info.rkey,
	};

	CORE_EQ(test, 1, transfer_post(transfer, &wr));
	CORE_TRUE(test, core_await_send(client, &got, CORE_TIMEOUT_MS));
	CORE_EQ(test, 1, got.wr_id);
	/*
	 * On iWARP a successful write was only sent, and a refused read reports no reason: the peer
	 * ends the connection.  If that is noticed first, the write is flushed.
	 */
	if (!test->iwarp)
		CORE_EQ(test, KRDMA_WC_REM_ACCESS_ERR, got.status);
	else if (opcode == KRDMA_OP_READ)
		CORE_EQ(test, KRDMA_WC_WR_FLUSH_ERR, got.status);
	else if (got.status != KRDMA_WC_WR_FLUSH_ERR)
		CORE_EQ(test, KRDMA_WC_SUCCESS, got.status);
	CORE_TRUE(test, core_await_event(client, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
}

struct refusal {
	u8 opcode;
	u32 access;
	bool wrong_key;
	long offset;
};

/* The same operation succeeds on memory with all access rights. */
static void expect_no_refusal(struct transfer *transfer, u8 opcode)
{
	struct core_test *test = transfer->test;
	struct core_buffer memory;

	if (core_buffer_make(test, &memory, transfer->pair->server_session, 8192,
			     CORE_ACCESS_ALL(test))) {
		core_fill(memory.data, 8192, 3);
		CORE_EQ(test, 1, core_rdma(&transfer->pair->client, 2, opcode, &transfer->from, 0,
					   8, &memory, 0, 0));
		core_expect_send(&transfer->pair->client, 2, KRDMA_WC_SUCCESS);
		if (opcode == KRDMA_OP_WRITE && !test->iwarp)
			CORE_TRUE(test, !memchr_inv(memory.data, 0, 8));
		else if (opcode != KRDMA_OP_WRITE)
			CORE_TRUE(test, core_filled(transfer->from.data, 8, 3));
		memset(transfer->from.data, 0, 8);
	}
	core_buffer_free(test, &memory);
}

static void remote_refusal(struct core_test *test, const struct refusal *refusal)
{
	struct core_buffer memory;
	struct transfer transfer;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	expect_no_refusal(&transfer, refusal->opcode);
	if (core_buffer_make(test, &memory, transfer.pair->server_session, 8192,
			     refusal->access)) {
		core_fill(memory.data, 8192, 3);
		if (refusal->wrong_key)
			memory.info.rkey ^= 0xff;
		expect_refusal(&transfer, refusal->opcode, &memory, refusal->offset);
		CORE_TRUE(test, core_filled(memory.data, 8192, 3));
		CORE_TRUE(test, !memchr_inv(transfer.from.data, 0, 8));
	}
	transfer_end(&transfer);
	core_buffer_free(test, &memory);
}

/* Proves: D3, E3 */
static void remote_rights(struct core_test *test)
{
	const u32 write = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE;
	const u32 read = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ;
	const struct refusal refusals[] = {
		{ .opcode = KRDMA_OP_WRITE, .access = read },
		{ .opcode = KRDMA_OP_READ, .access = write },
		{ .opcode = KRDMA_OP_WRITE, .access = write, .wrong_key = true },
		{ .opcode = KRDMA_OP_READ, .access = read, .wrong_key = true },
		{ .opcode = KRDMA_OP_WRITE, .access = write, .offset = 8185 },
		{ .opcode = KRDMA_OP_READ, .access = read, .offset = -1 },
		{ .opcode = KRDMA_OP_FETCH_ADD, .access = read | write },
		{ .opcode = KRDMA_OP_COMPARE_SWAP, .access = read | write },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(refusals) && !test->failures; i++) {
		if (refusals[i].opcode >= KRDMA_OP_COMPARE_SWAP &&
		    !(test->attr.caps & KRDMA_DEVICE_CAP_ATOMIC))
			continue;
		/* siw lets a peer read any memory for which it has an rkey. */
		if (test->iwarp && refusals[i].opcode == KRDMA_OP_READ &&
		    !(refusals[i].access & KRDMA_ACCESS_REMOTE_READ))
			continue;
		remote_refusal(test, &refusals[i]);
		if (test->failures)
			core_note(test, "refusal %u", i);
	}
}

/* Peers of this session cannot use the rkey of another session. */
/* Proves: D7 */
static void foreign_key(struct core_test *test)
{
	struct transfer transfer;
	struct core_buffer mine;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	if (core_buffer_make(test, &mine, transfer.pair->client_session, 8192,
			     CORE_ACCESS_ALL(test))) {
		core_fill(mine.data, 8192, 2);
		expect_refusal(&transfer, KRDMA_OP_READ, &mine, 0);
	}
	transfer_end(&transfer);
	core_buffer_free(test, &mine);
}

/* A listener's consumer can give each peer a session, with memory of its own. */
/* Proves: F3 */
static void session_of_its_own(struct core_test *test)
{
	struct krdma_session *session = krdma_session_create(test->net);
	struct transfer transfer = { .test = test };
	struct core_buffer memory = {};

	if (!CORE_OK_PTR(test, session))
		return;
	transfer.pair = core_pair_alloc(test);
	if (!transfer.pair)
		goto out;
	transfer.pair->server_attr.session = session;
	if (!core_buffer_make(test, &transfer.from, transfer.pair->client_session, TRANSFER_SIZE,
			      CORE_ACCESS_ALL(test)) ||
	    !core_buffer_make(test, &transfer.to, transfer.pair->server_session, TRANSFER_SIZE,
			      CORE_ACCESS_ALL(test)) ||
	    !core_buffer_make(test, &memory, session, TRANSFER_SIZE, CORE_ACCESS_ALL(test)) ||
	    !core_pair_listen(transfer.pair, 0) || !core_pair_resolve(transfer.pair) ||
	    !core_pair_connect(transfer.pair))
		goto out;

	core_fill(memory.data, TRANSFER_SIZE, 6);
	CORE_EQ(test, 1, core_rdma(&transfer.pair->client, 2, KRDMA_OP_READ, &transfer.from, 0,
				   TRANSFER_SIZE, &memory, 0, 0));
	core_expect_send(&transfer.pair->client, 2, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_filled(transfer.from.data, TRANSFER_SIZE, 6));
	/* This peer cannot use the memory of the listener's session. */
	expect_refusal(&transfer, KRDMA_OP_READ, &transfer.to, 0);
out:
	krdma_session_put(session);
	transfer_end(&transfer);
	core_buffer_free(test, &memory);
}

/* After the release the rkey is invalid, and is not reused soon. */
static void released(struct core_test *test)
{
	struct core_buffer memory, stale;
	struct transfer transfer;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	if (!core_buffer_make(test, &memory, transfer.pair->server_session, 8192,
			      CORE_ACCESS_ALL(test)))
		goto out;
	CORE_EQ(test, 1, core_rdma(&transfer.pair->client, 3, KRDMA_OP_WRITE, &transfer.from, 0, 8,
				   &memory, 0, 0));
	core_expect_send(&transfer.pair->client, 3, KRDMA_WC_SUCCESS);
	stale = memory;
	core_buffer_free(test, &memory);
	for (int i = 0; i < 8; i++) {
		if (!core_buffer_make(test, &memory, transfer.pair->server_session, 8192,
				      CORE_ACCESS_ALL(test)))
			break;
		CORE_TRUE(test, memory.info.rkey != stale.info.rkey);
		core_buffer_free(test, &memory);
	}
	expect_refusal(&transfer, KRDMA_OP_WRITE, &stale, 0);
out:
	transfer_end(&transfer);
}

const struct core_case core_right_cases[] = {
	CORE_CASE_CONTEXTS(atomics),
	CORE_CASE_CONTEXTS(atomic_write_and_flush),
	CORE_CASE_CONTEXTS(inline_data),
	CORE_CASE(fence),
	CORE_CASE_CONTEXTS(silent),
	CORE_CASE_CONTEXTS(batches),
	CORE_CASE(refused_requests),
	CORE_CASE(remote_rights),
	CORE_CASE(foreign_key),
	CORE_CASE(session_of_its_own),
	CORE_CASE_CONTEXTS(released),
	{},
};
