// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: connect and send checks.
 */
#include <errno.h>
#include <string.h>

#include "selftest.h"

/* Return an unaligned offset that varies with @number, with room for a guard before it. */
static size_t place(size_t number)
{
	return PATTERN_GUARD + number * 13 % 61;
}

/* More than any device grants to kernel QPs; halved until the device grants it. */
#define INLINE_WISH	512

static int run_connect(struct selftest *test)
{
	const struct link *link = &test->link;
	uint32_t state;
	int err = krdma_conn_wait(link->conn, 0, &state);

	if (err || state != KRDMA_CONN_CONNECTED)
		return check_fail(test, "the state of an established connection is %s",
				  err ? krdma_error_name(err) : krdma_conn_state_name(state));
	if (link->is.send_depth < 64 || link->is.recv_depth < 64 || !link->is.max_send_sge ||
	    !link->is.max_recv_sge)
		return check_fail(test, "the connection has lower limits than requested");
	check_figure(test, "path_mtu", link->is.path_mtu);
	check_figure(test, "read_depth", link->is.read_depth);
	check_figure(test, "read_depth_in", link->is.read_depth_in);
	check_figure(test, "max_inline", link->is.max_inline);
	check_figure(test, "private_data", WIRE_PRIVATE);
	check_say(test, "private data both ways; path MTU %u", link->is.path_mtu);
	return link_end(test, &test->link);
}

/* Send @length bytes at @near in the area to a receive of exactly this length. */
static int send_one(struct selftest *test, struct link *link, struct krdma_sqe *entry,
		    size_t near, uint32_t length, uint16_t flags, const char *what)
{
	uint64_t seed = new_seed(test);
	size_t far = place((size_t)seed);

	pattern_fill(near_data(test, near), 0, length, seed);
	try(far_clear(test, FAR_AREA, far, length, seed));
	try(far_receive(test, link->far, far, length, 0, 1, 0));
	try(op_do(test, link, entry, length));
	try(far_received(test, link->far, length, flags, entry->imm));
	return far_check(test, FAR_AREA, far, length, seed, what);
}

static int run_send(struct selftest *test)
{
	uint32_t sizes[SIZES_MAX];
	size_t count = message_sizes(test, &test->link, 1 << 20, sizes), i;
	struct krdma_sqe entry;

	for (i = 0; i < count; i++) {
		entry = op_send(test, &test->link, place(i), sizes[i]);
		try(send_one(test, &test->link, &entry, place(i), sizes[i], 0, "send"));
	}
	check_figure(test, "sizes", count);
	check_figure(test, "longest", sizes[count - 1]);
	check_say(test, "%zu sizes from 0 to %u bytes", count, sizes[count - 1]);
	return 0;
}

static int run_send_imm(struct selftest *test)
{
	static const uint32_t sizes[] = { 0, 1, 8, 4096, 65537 };
	struct krdma_sqe entry;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		entry = op_send(test, &test->link, place(i), sizes[i]);
		entry.opcode = KRDMA_OP_SEND_IMM;
		entry.imm = i ? 0x12345678 + (uint32_t)i : UINT32_MAX;
		try(send_one(test, &test->link, &entry, place(i), sizes[i], KRDMA_CQE_IMM,
			     "send with immediate"));
	}
	check_say(test, "%zu sizes, with 32 bits each", ARRAY_SIZE(sizes));
	return 0;
}

static int run_solicited(struct selftest *test)
{
	struct krdma_sqe entry;
	size_t i;

	for (i = 0; i < 8; i++) {
		entry = op_send(test, &test->link, place(i), 100);
		entry.flags = i & 1 ? KRDMA_SQE_SOLICITED : 0;
		try(send_one(test, &test->link, &entry, place(i), 100, 0, "solicited send"));
	}
	check_say(test, "8 messages, every other one solicited");
	return 0;
}

/* Connect with as much inline data as the device grants; @offered is false if it grants none. */
static int open_inline(struct selftest *test, struct link *link, bool *offered)
{
	struct link_options options = { .max_inline = INLINE_WISH };
	int result;

	*offered = false;
	for (; options.max_inline >= 8; options.max_inline /= 2) {
		try(link_try(test, link, 1, &options, &result));
		if (!result) {
			*offered = link->is.max_inline;
			return 0;
		}
		link_close(link);
		/* No limit can be queried: a device refuses a size that is too large. */
		if (result != -EINVAL && result != -EOPNOTSUPP && result != -EIO)
			return check_errno(test, "connect with inline data", result);
	}
	return 0;
}

/* Post an inline send or write, and overwrite its data when the call returns. */
static int inline_one(struct selftest *test, struct link *link, uint8_t opcode, uint32_t length)
{
	uint8_t data[4096];
	uint64_t seed = new_seed(test);
	size_t far = place((size_t)seed);
	struct krdma_sqe entry = krdma_entry_send_inline(link->conn, op_wr_id(test), data,
							 length);

	pattern_fill(data, 0, length, seed);
	try(far_clear(test, FAR_AREA, far, length, seed));
	if (opcode == KRDMA_OP_SEND) {
		try(far_receive(test, link->far, far, length, 0, 1, 0));
	} else {
		entry.opcode = opcode;
		entry.remote_addr = test->far_area.addr + far;
		entry.rkey = test->far_area.key;
	}
	try(op_post(test, link, &entry, 1));
	memset(data, 0, sizeof(data));
	try(op_done(test, link, &entry, length));
	if (opcode == KRDMA_OP_SEND)
		try(far_received(test, link->far, length, 0, 0));
	else
		try(op_flush(test, link, &test->far_area));
	return far_check(test, FAR_AREA, far, length, seed,
			 opcode == KRDMA_OP_SEND ? "inline send" : "inline write");
}

static int inline_sizes(struct selftest *test, struct link *link, uint8_t opcode)
{
	const uint32_t limit = link->is.max_inline;
	const uint32_t sizes[] = { 0, 1, 7, 8, limit / 2, limit - 1, limit };
	static uint8_t data[65536];
	struct krdma_sqe entry;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i] <= 4096)
			try(inline_one(test, link, opcode, sizes[i]));
	if (limit >= sizeof(data))
		return 0;
	entry = krdma_entry_send_inline(link->conn, op_wr_id(test), data, limit + 1);
	if (opcode == KRDMA_OP_WRITE) {
		entry.opcode = opcode;
		entry.remote_addr = test->far_area.addr;
		entry.rkey = test->far_area.key;
	}
	return op_refused(test, link, &entry, -EMSGSIZE);
}

static int run_inline(struct selftest *test)
{
	struct link link;
	bool offered;
	int err = open_inline(test, &link, &offered);

	if (!err && offered) {
		check_figure(test, "max_inline", link.is.max_inline);
		err = inline_sizes(test, &link, KRDMA_OP_SEND);
		if (!err)
			err = inline_sizes(test, &link, KRDMA_OP_WRITE);
	}
	if (!err && offered)
		check_say(test, "send and write to the limit, %u bytes; one more is refused",
			  link.is.max_inline);
	link_close(&link);
	if (!err && !offered)
		return check_not_offered(test, "the device grants no inline data");
	return err;
}

/*
 * Build @count SGEs of the near area with different lengths at unaligned offsets in descending
 * order, and fill them with one pattern.  Return their total length.
 */
static uint32_t scatter(struct selftest *test, struct krdma_ring_sge *pieces, uint32_t count,
			uint64_t seed)
{
	uint32_t total = 0, i;
	size_t offset;

	for (i = 0; i < count; i++) {
		offset = (size_t)(count - 1 - i) * 1031 + 3;
		pieces[i].addr = (uintptr_t)near_data(test, offset);
		pieces[i].length = 1 + i * 37 % 900;
		pieces[i].mr = krdma_mr_id(test->area);
		pattern_fill(near_data(test, offset), total, pieces[i].length, seed);
		total += pieces[i].length;
	}
	return total;
}

static void use_pieces(struct krdma_sqe *entry, struct krdma_ring_sge *pieces, uint32_t count)
{
	memset(&entry->sge, 0, sizeof(entry->sge));
	if (count == 1)
		entry->sge = pieces[0];
	else
		entry->sge.addr = (uintptr_t)pieces;
	entry->sge_count = (uint16_t)count;
}

static int send_pieces(struct selftest *test, struct link *link, uint32_t count,
		       uint32_t far_count)
{
	struct krdma_ring_sge pieces[KRDMA_RING_SGES_MAX];
	uint64_t seed = new_seed(test);
	uint32_t total = scatter(test, pieces, count, seed);
	struct krdma_sqe entry = op_send(test, link, 0, 0);
	size_t far = place(count);

	if (far_count > total)
		far_count = total;
	use_pieces(&entry, pieces, count);
	try(far_clear(test, FAR_AREA, far, total, seed));
	try(far_receive(test, link->far, far, total, 0, 1, far_count));
	try(op_do(test, link, &entry, total));
	try(far_received(test, link->far, total, 0, 0));
	return far_check(test, FAR_AREA, far, total, seed, "send of several SGEs");
}

static int send_all_pieces(struct selftest *test, struct link *link, uint32_t limit)
{
	const uint32_t counts[] = { 1, 2, 3, limit / 2, limit - 1, limit };
	struct krdma_ring_sge pieces[KRDMA_RING_SGES_MAX];
	struct krdma_sqe entry;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (!counts[i] || counts[i] > limit)
			continue;
		try(send_pieces(test, link, counts[i], 1));
		try(send_pieces(test, link, counts[i], link->far_recv_sge));
	}
	if (limit == KRDMA_RING_SGES_MAX)
		return 0;
	scatter(test, pieces, limit + 1, 0);
	entry = op_send(test, link, 0, 0);
	use_pieces(&entry, pieces, limit + 1);
	return op_refused(test, link, &entry, -EMSGSIZE);
}

static int run_send_sge(struct selftest *test)
{
	uint32_t most = test->device.max_send_sge, limit;
	struct link_options options = { 0 };
	struct link link;
	int err;

	options.send_sge = most < KRDMA_RING_SGES_MAX ? most : KRDMA_RING_SGES_MAX;
	options.recv_sge = test->far_recv_sge < KRDMA_RING_SGES_MAX ? test->far_recv_sge :
								  KRDMA_RING_SGES_MAX;
	options.recv_sge = options.recv_sge < test->device.max_recv_sge ? options.recv_sge :
									 test->device.max_recv_sge;
	err = link_open(test, &link, 1, &options);
	limit = link.is.max_send_sge < KRDMA_RING_SGES_MAX ? link.is.max_send_sge :
							     KRDMA_RING_SGES_MAX;
	if (!err) {
		check_figure(test, "max_send_sge", link.is.max_send_sge);
		check_figure(test, "max_recv_sge", link.far_recv_sge);
		err = send_all_pieces(test, &link, limit);
	}
	if (!err)
		check_say(test, "to the limit, %u into %u; one more is refused", limit,
			  link.far_recv_sge);
	link_close(&link);
	return err;
}

#define STREAM_ROUNDS	8
#define STREAM_BATCH	32
#define STREAM_STRIDE	4096

/* Both ends send a batch at the same time; each message has its own seed. */
static int stream_round(struct selftest *test, struct link *link, unsigned int round)
{
	const size_t near_in = AREA / 2, far_out = AREA / 2;
	struct krdma_sqe sends[STREAM_BATCH], receives[STREAM_BATCH];
	uint64_t seed = new_seed(test), seeds = seed << 32;
	const uint32_t length = 1 + round * 577;
	unsigned int sent = 0, come = 0, i;
	uint64_t expected;
	struct krdma_cqe cqe;

	for (i = 0; i < STREAM_BATCH; i++) {
		pattern_fill(near_data(test, i * STREAM_STRIDE + 1), 0, length, seeds + i);
		sends[i] = op_send(test, link, i * STREAM_STRIDE + 1, length);
		receives[i] = krdma_entry_recv(link->conn, op_wr_id(test), test->area,
					       near_in + i * STREAM_STRIDE, length);
		try(far_fill(test, FAR_AREA, far_out + i * STREAM_STRIDE, length,
			     seeds + 100 + i));
	}
	try(op_post(test, link, receives, STREAM_BATCH));
	try(far_receive(test, link->far, 0, length, STREAM_STRIDE, STREAM_BATCH, 0));
	try(op_post(test, link, sends, STREAM_BATCH));
	try(far_send(test, link->far, far_out, length, STREAM_STRIDE, STREAM_BATCH));
	while (sent + come < 2 * STREAM_BATCH) {
		try(op_take(test, link, &cqe));
		if (cqe.status)
			return check_fail(test, "%s of a stream: %s", krdma_opcode_name(cqe.opcode),
					  krdma_wc_status_name(cqe.status));
		if (cqe.opcode == KRDMA_OP_SEND)
			expected = sent < STREAM_BATCH ? sends[sent++].wr_id : 0;
		else
			expected = come < STREAM_BATCH ? receives[come++].wr_id : 0;
		if (cqe.wr_id != expected)
			return check_fail(test, "completions and posts differ in order");
		if (cqe.length != length)
			return check_fail(test, "a message of %u bytes has %u", length, cqe.length);
	}
	for (i = 0; i < STREAM_BATCH; i++) {
		struct pattern_fault fault = { 0 };

		pattern_compare(near_data(test, near_in + i * STREAM_STRIDE), 0, length,
				seeds + 100 + i, 0, &fault);
		if (fault.count)
			return check_fail(test, "message %u here is wrong at byte %lld", i,
					  (long long)fault.offset);
	}
	return 0;
}

/* Check the far end's completions and their order: its sends and receives share one CQ. */
static int stream_far(struct selftest *test, struct link *link, unsigned int round)
{
	const uint32_t length = 1 + round * 577;
	unsigned int i, received = 0;
	uint64_t before = 0;
	struct far_cqe cqe;

	for (i = 0; i < 2 * STREAM_BATCH; i++) {
		try(far_take(test, link->far, &cqe));
		if (cqe.status || cqe.length != length)
			return check_fail(test, "%s of a stream at the far end: %s, %u bytes",
					  krdma_opcode_name(cqe.opcode),
					  krdma_wc_status_name(cqe.status), cqe.length);
		if (cqe.opcode != KRDMA_OP_RECV)
			continue;
		if (received++ && cqe.wr_id <= before)
			return check_fail(test, "receives complete in another order than posts");
		before = cqe.wr_id;
	}
	if (received != STREAM_BATCH)
		return check_fail(test, "%u of %u messages have arrived", received, STREAM_BATCH);
	return 0;
}

static int run_stream(struct selftest *test)
{
	unsigned int round, i;
	uint64_t seeds;

	for (round = 0; round < STREAM_ROUNDS; round++) {
		try(stream_round(test, &test->link, round));
		try(stream_far(test, &test->link, round));
		seeds = (test->settings->seed + test->next_seed) << 32;
		for (i = 0; i < STREAM_BATCH; i++) {
			struct wire_words in = {
				.word = { FAR_COMPARE, FAR_AREA, (uint64_t)i * STREAM_STRIDE,
					  1 + round * 577, seeds + i },
			};
			struct wire_words out;

			try(far_call(test, &in, &out));
			if (out.word[0] || out.word[1])
				return check_fail(test, "message %u is wrong at byte %lld", i,
						  (long long)out.word[2]);
		}
	}
	check_figure(test, "messages", 2 * STREAM_ROUNDS * STREAM_BATCH);
	check_say(test, "%u messages each way at the same time, in order",
		  STREAM_ROUNDS * STREAM_BATCH);
	return 0;
}

/* Drivers report this error with different statuses at both ends; the check accepts each. */
static int run_too_long(struct selftest *test)
{
	struct krdma_sqe entry = op_send(test, &test->link, 0, 101);
	const char *at_far, *at_near;
	struct krdma_cqe cqe;
	struct far_cqe far;
	int near_end, far_end;

	try(far_clear(test, FAR_AREA, 256, 100, 1));
	try(far_receive(test, 0, 256, 100, 0, 1, 0));
	try(op_post(test, &test->link, &entry, 1));
	try(far_take(test, 0, &far));
	at_far = krdma_wc_status_name(far.status);
	if (far.status != KRDMA_WC_LOC_LEN_ERR && far.status != KRDMA_WC_LOC_QP_OP_ERR &&
	    !(is_iwarp(test) && far.status))
		return check_fail(test, "a receive that is too short: %s", at_far);
	try(op_take(test, &test->link, &cqe));
	at_near = krdma_wc_status_name(cqe.status);
	/* With iWARP a send completes once it is sent, so it may have succeeded. */
	if (!is_iwarp(test) && cqe.status != KRDMA_WC_REM_INV_REQ_ERR &&
	    cqe.status != KRDMA_WC_REM_OP_ERR)
		return check_fail(test, "a message longer than its receive: %s", at_near);
	try(link_await_end(test, &test->link, &near_end, &far_end));
	check_figure_text(test, "status", at_near);
	check_figure_text(test, "receive_status", at_far);
	check_say(test, "%s, at the receive %s, and the connection ends", at_near, at_far);
	return 0;
}

static int run_no_receive(struct selftest *test)
{
	const struct link_options options = { .no_rnr = true, .far_flags = FAR_ACCEPT_NO_RNR };
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct link link;
	int err, near_end, far_end;

	err = link_open(test, &link, 1, &options);
	if (!err) {
		entry = op_send(test, &link, 0, 8);
		err = op_post(test, &link, &entry, 1);
	}
	if (!err)
		err = op_take(test, &link, &cqe);
	if (!err && cqe.status != KRDMA_WC_RNR_RETRY_EXC_ERR)
		err = check_fail(test, "a message without a receive: %s instead of %s",
				 krdma_wc_status_name(cqe.status),
				 krdma_wc_status_name(KRDMA_WC_RNR_RETRY_EXC_ERR));
	if (!err)
		err = link_await_end(test, &link, &near_end, &far_end);
	if (!err)
		check_say(test, "%s, and the connection ends", krdma_wc_status_name(cqe.status));
	link_close(&link);
	return err;
}

/*
 * An MR of a program may have an rkey that the device can invalidate, or one that it cannot.  In
 * the second case the message is an error, and the rkey stays valid.
 */
static int check_invalidated(struct selftest *test, const struct krdma_remote_mr *remote)
{
	struct krdma_sqe entry = krdma_entry_write(test->link.conn, op_wr_id(test), test->area, 0,
						   8, remote, 0);
	struct krdma_cqe cqe;
	int near_end, far_end;

	try(op_post(test, &test->link, &entry, 1));
	try(op_take(test, &test->link, &cqe));
	if (cqe.status != KRDMA_WC_REM_ACCESS_ERR && !is_iwarp(test))
		return check_fail(test, "a write with an invalidated rkey: %s",
				  krdma_wc_status_name(cqe.status));
	try(link_await_end(test, &test->link, &near_end, &far_end));
	check_figure_text(test, "key", "invalidated");
	check_say(test, "the rkey is invalidated, and a write with it is refused");
	return 0;
}

static int run_send_invalidate(struct selftest *test)
{
	struct krdma_sqe entry = op_send(test, &test->link, 0, 0);
	struct krdma_remote_mr remote;
	struct krdma_cqe cqe;
	struct far_cqe far;
	int result, near_end, far_end;

	try(far_register(test, FAR_OTHER, 8192, 0,
			 KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE, &remote, &result));
	if (result)
		return check_errno(test, "register memory at the far end", result);
	try(far_receive(test, 0, 0, 8, 0, 1, 0));
	entry.opcode = KRDMA_OP_SEND_INVALIDATE;
	entry.imm = remote.key;
	try(op_post(test, &test->link, &entry, 1));
	try(op_take(test, &test->link, &cqe));
	try(far_take(test, 0, &far));
	if (!far.status) {
		if (far.flags != KRDMA_CQE_INVALIDATED || far.imm != remote.key)
			return check_fail(test, "the receive does not report the invalidated rkey");
		return check_invalidated(test, &remote);
	}
	try(link_await_end(test, &test->link, &near_end, &far_end));
	check_figure_text(test, "key", "kept");
	check_figure_text(test, "receive_status", krdma_wc_status_name(far.status));
	check_say(test, "refused, as the rkey of a program's memory cannot be invalidated: %s",
		  krdma_wc_status_name(far.status));
	return 0;
}

const struct check selftest_message_checks[] = {
	{ .name = "connect", .run = run_connect },
	{ .name = "send", .run = run_send },
	{ .name = "send-immediate", .caps = KRDMA_DEVICE_CAP_IMM, .run = run_send_imm },
	{ .name = "send-solicited", .run = run_solicited },
	{ .name = "send-sge", .run = run_send_sge },
	{ .name = "send-invalidate", .caps = KRDMA_DEVICE_CAP_FAST_REG,
	  .run = run_send_invalidate },
	{ .name = "inline", .run = run_inline },
	{ .name = "send-both-ways", .run = run_stream },
	{ .name = "send-too-long", .run = run_too_long },
	{ .name = "send-no-receive", .not_transport = KRDMA_TRANSPORT_IWARP,
	  .run = run_no_receive },
	{ 0 },
};
