// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: limits, and one more than each; shared receive queues (SRQs).
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "selftest.h"

#define DEPTH	32

/*
 * On a polled ring nothing completes unless the program polls, so the SQ is full after exactly
 * send_depth posts.
 */
static int fill_send_queue(struct selftest *test, struct link *link)
{
	uint32_t depth = link->is.send_depth, i;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	for (i = 0; i < depth; i++) {
		entry = op_remote(test, link, KRDMA_OP_WRITE, 0, 0, 8);
		try(op_post(test, link, &entry, 1));
	}
	try(op_refused(test, link, &entry, -EAGAIN));
	for (i = 0; i < depth; i++) {
		try(op_take(test, link, &cqe));
		if (cqe.status)
			return check_fail(test, "a write of a full queue: %s",
					  krdma_wc_status_name(cqe.status));
	}
	/* After the completions the SQ has room again. */
	entry = op_remote(test, link, KRDMA_OP_WRITE, 0, 0, 8);
	return op_do(test, link, &entry, 8);
}

static int run_send_depth(struct selftest *test)
{
	const struct link_options options = { .send_depth = DEPTH, .polled = true };
	struct link link;
	int err = link_open(test, &link, 1, &options);

	if (!err && link.is.send_depth < DEPTH)
		err = check_fail(test, "a send queue of %u is granted, not of %u",
				 link.is.send_depth, DEPTH);
	if (!err)
		err = fill_send_queue(test, &link);
	if (!err) {
		check_figure(test, "depth", link.is.send_depth);
		check_say(test, "%u writes; one more is refused until one completes",
			  link.is.send_depth);
	}
	link_close(&link);
	return err;
}

static int fill_recv_queue(struct selftest *test, struct link *link)
{
	uint32_t i;
	struct krdma_sqe entry;

	for (i = 0; i < link->is.recv_depth; i++) {
		entry = krdma_entry_recv(link->conn, op_wr_id(test), test->area, 0, 8);
		try(op_post(test, link, &entry, 1));
	}
	return op_refused(test, link, &entry, -EAGAIN);
}

static int run_recv_depth(struct selftest *test)
{
	const struct link_options options = { .recv_depth = DEPTH };
	struct link link;
	int err = link_open(test, &link, 1, &options);

	if (!err)
		err = fill_recv_queue(test, &link);
	if (!err) {
		check_figure(test, "depth", link.is.recv_depth);
		check_say(test, "%u receives; one more is refused", link.is.recv_depth);
	}
	link_close(&link);
	return err;
}

/* Check that a QP with one more than a limit of the device is refused. */
static int ask_beyond(struct selftest *test, const char *what, struct link_options options)
{
	struct link link;
	int result, err = link_try(test, &link, 1, &options, &result);

	link_close(&link);
	return err ? err : check_refused(test, what, -EINVAL, result);
}

static int run_beyond(struct selftest *test)
{
	const struct krdma_device_query_args *is = &test->device;
	struct link_options options = { 0 };

	options.send_depth = is->max_send_wr + 1;
	try(ask_beyond(test, "a send queue beyond max_send_wr", options));
	options = (struct link_options){ .recv_depth = is->max_recv_wr + 1 };
	try(ask_beyond(test, "a receive queue beyond max_recv_wr", options));
	options = (struct link_options){ .send_sge = is->max_send_sge + 1 };
	try(ask_beyond(test, "more SGEs than max_send_sge", options));
	options = (struct link_options){ .recv_sge = is->max_recv_sge + 1 };
	try(ask_beyond(test, "more SGEs than max_recv_sge", options));
	check_figure(test, "max_send_wr", is->max_send_wr);
	check_figure(test, "max_recv_wr", is->max_recv_wr);
	check_say(test, "queues and SGEs of one more than the device has are refused");
	return 0;
}

/* Post more reads than can be in flight: the others wait, and all of them complete. */
static int run_read_depth(struct selftest *test)
{
	const uint32_t length = 4096;
	struct krdma_sqe entries[64];
	struct pattern_fault fault = { 0 };
	uint64_t seed = new_seed(test);
	uint32_t count = ARRAY_SIZE(entries), i;

	try(far_fill(test, FAR_AREA, 0, (size_t)count * length, seed));
	memset(near_data(test, 0), 0, (size_t)count * length);
	/* The addresses are not in ascending order. */
	for (i = 0; i < count; i++)
		entries[i] = op_remote(test, &test->link, KRDMA_OP_READ,
				       (size_t)(i * 29 % count) * length,
				       (size_t)(i * 29 % count) * length, length);
	try(op_post(test, &test->link, entries, count));
	for (i = 0; i < count; i++)
		try(op_done(test, &test->link, &entries[i], length));
	pattern_compare(near_data(test, 0), 0, (size_t)count * length, seed, 0, &fault);
	if (fault.count)
		return check_fail(test, "reads at once: %llu bytes are wrong, the first at %lld",
				  (unsigned long long)fault.count, (long long)fault.offset);
	check_figure(test, "at_once", count);
	check_figure(test, "read_depth", test->link.is.read_depth);
	check_say(test, "%u reads posted at once, of which %u can be in flight", count,
		  test->link.is.read_depth);
	return 0;
}

/*
 * The longest message
 */

struct big {
	void *map;
	size_t length;
	struct krdma_mr *mr;
	struct krdma_remote_mr remote;
};

static int big_open(struct selftest *test, struct big *big, uint64_t length)
{
	int err, result;

	memset(big, 0, sizeof(*big));
	big->length = (size_t)length;
	big->map = mmap(NULL, big->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (big->map == MAP_FAILED) {
		big->map = NULL;
		err = check_leave_out(test, "out of memory");
		return err ? err : -ENOMEM;
	}
	err = krdma_mr_register(test->session, test->device.id, big->map, big->length,
				KRDMA_ACCESS_LOCAL_WRITE, &big->mr);
	if (!err) {
		try(far_register(test, FAR_OTHER, length, 0,
				 KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
				 KRDMA_ACCESS_REMOTE_WRITE, &big->remote, &result));
		err = result;
	}
	return err ? memory_refused(test, length, err) : 0;
}

static void big_close(struct big *big)
{
	krdma_mr_deregister(big->mr, KRDMA_DEREGISTER_LATER);
	if (big->map)
		munmap(big->map, big->length);
}

static int big_send(struct selftest *test, struct link *link, struct big *big, uint32_t length)
{
	struct wire_words in = {
		.word = { FAR_RECEIVE, link->far, FAR_OTHER, 0, length, 0, 1 },
	};
	struct krdma_sqe entry = krdma_entry_send(link->conn, op_wr_id(test), big->mr, 0,
						  length);
	uint64_t seed = new_seed(test);
	struct wire_words out;

	pattern_fill(big->map, 0, length, seed);
	try(far_clear(test, FAR_OTHER, 0, length, seed));
	try(far_call(test, &in, &out));
	if (out.word[0] || out.word[2])
		return check_errno(test, "post a receive at the far end",
				   (int)(int64_t)(out.word[0] ? out.word[0] : out.word[2]));
	try(op_do(test, link, &entry, length));
	try(far_received(test, link->far, length, 0, 0));
	return far_check(test, FAR_OTHER, 0, length, seed, "the longest send");
}

static int big_rdma(struct selftest *test, struct link *link, struct big *big, uint32_t length)
{
	struct krdma_sqe entry = krdma_entry_write(link->conn, op_wr_id(test), big->mr, 0,
						   length, &big->remote, 0);
	struct pattern_fault fault = { 0 };
	uint64_t seed = new_seed(test);

	pattern_fill(big->map, 0, length, seed);
	try(far_clear(test, FAR_OTHER, 0, length, seed));
	try(op_do(test, link, &entry, length));
	try(op_flush(test, link, &big->remote));
	try(far_check(test, FAR_OTHER, 0, length, seed, "the longest write"));
	memset(big->map, 0, length);
	entry = krdma_entry_read(link->conn, op_wr_id(test), big->mr, 0, length, &big->remote,
				 0);
	try(op_do(test, link, &entry, length));
	pattern_compare(big->map, 0, length, seed, 0, &fault);
	if (fault.count)
		return check_fail(test, "the longest read: %llu bytes are wrong, the first at %lld",
				  (unsigned long long)fault.count, (long long)fault.offset);
	return 0;
}

/*
 * If memory allows a message of the port's maximum size, a send of one more byte is refused, and a
 * longer write or read is split into parts and arrives whole.
 */
static int run_longest(struct selftest *test)
{
	uint64_t most = test->port.max_msg_size, length = test->settings->mr;
	bool whole = most && most < length;
	char size[SIZE_TEXT_MAX], of[SIZE_TEXT_MAX];
	struct krdma_sqe entry;
	struct big big = { 0 };
	int err;

	if (whole)
		length = most + 4097 < length ? most + 4097 : length;
	if (length > test->device.max_mr_size)
		length = test->device.max_mr_size;
	if (!whole)
		most = length;
	err = big_open(test, &big, length);
	if (!err)
		err = big_send(test, &test->link, &big, (uint32_t)most);
	if (!err && length > most) {
		entry = krdma_entry_send(test->link.conn, op_wr_id(test), big.mr, 0,
					 (uint32_t)most + 1);
		err = op_refused(test, &test->link, &entry, -EMSGSIZE);
	}
	if (!err)
		err = big_rdma(test, &test->link, &big, (uint32_t)length);
	big_close(&big);
	if (err)
		return err;
	check_figure(test, "message", most);
	check_figure(test, "write", length);
	check_figure(test, "max_msg_size", test->port.max_msg_size);
	check_say(test, whole ? "a message of %s; one byte more is refused; the device has %s" :
		  "a message, a write and a read of %s; the device has %s",
		  size_text(size, most), size_text(of, test->port.max_msg_size));
	return 0;
}

/*
 * SRQs
 */

#define SRQ_DEPTH	24
#define SRQ_LINKS	3

static int srq_create(struct selftest *test, uint32_t depth, uint64_t *granted)
{
	struct wire_words in = { .word = { FAR_SRQ, depth, 1 } }, out;

	try(far_call(test, &in, &out));
	if (out.word[0])
		return check_errno(test, "create a shared receive queue",
				   (int)(int64_t)out.word[0]);
	*granted = out.word[1];
	return 0;
}

/* Fill the SRQ: it takes as many receives as granted, and one more is refused. */
static int srq_fill(struct selftest *test, uint64_t granted)
{
	struct wire_words in = {
		.word = { FAR_RECEIVE, FAR_SHARED, FAR_AREA, 64, 2048, 4096, granted + 1 },
	};
	struct wire_words out;

	try(far_call(test, &in, &out));
	if (out.word[0])
		return check_errno(test, "post to a shared receive queue",
				   (int)(int64_t)out.word[0]);
	if (out.word[1] != granted)
		return check_fail(test, "a shared receive queue of %llu takes %llu receives",
				  (unsigned long long)granted, (unsigned long long)out.word[1]);
	return check_refused(test, "one receive more than a shared receive queue has room for",
			     -EAGAIN, (int)(int64_t)out.word[2]);
}

/* The wr_id of each receive gives the place of its data, whichever connection used it. */
static int srq_messages(struct selftest *test, struct link *links, uint64_t count)
{
	struct krdma_sqe entry;
	struct far_cqe cqe;
	uint32_t length;
	uint64_t i, seed;

	for (i = 0; i < count; i++) {
		struct link *link = &links[i % SRQ_LINKS];
		struct wire_words in, out;

		length = 100 + (uint32_t)i * 17;
		seed = new_seed(test);
		pattern_fill(near_data(test, 64), 0, length, seed);
		entry = op_send(test, link, 64, length);
		try(op_do(test, link, &entry, length));
		try(far_take(test, FAR_SHARED, &cqe));
		if (cqe.status || cqe.opcode != KRDMA_OP_RECV || cqe.length != length)
			return check_fail(test, "a shared receive: %s, %u bytes of %u",
					  krdma_wc_status_name(cqe.status), cqe.length, length);
		if (cqe.conn != link->far)
			return check_fail(test, "a shared receive names another connection");
		in = (struct wire_words){
			.word = { FAR_COMPARE, FAR_AREA, 64 + cqe.wr_id * 4096, length, seed },
		};
		try(far_call(test, &in, &out));
		if (out.word[0] || out.word[1])
			return check_fail(test, "a shared receive is wrong at byte %lld",
					  (long long)out.word[2]);
	}
	return 0;
}

static int run_srq(struct selftest *test)
{
	const struct link_options options = { .far_flags = FAR_ACCEPT_SHARED };
	uint32_t depth = test->far_srq_wr < SRQ_DEPTH ? test->far_srq_wr : SRQ_DEPTH;
	struct link links[SRQ_LINKS] = { 0 };
	uint64_t granted = 0;
	unsigned int i;
	int err = srq_create(test, depth, &granted);

	if (!err && (granted + 1) * 4096 + 64 > AREA)
		err = check_fail(test, "a shared receive queue of %llu is granted, for %u",
				 (unsigned long long)granted, depth);
	if (!err)
		err = srq_fill(test, granted);
	for (i = 0; !err && i < SRQ_LINKS; i++)
		err = link_open(test, &links[i], 1 + i, &options);
	if (!err)
		err = srq_messages(test, links, granted);
	for (i = 0; !err && i < SRQ_LINKS; i++)
		err = link_end(test, &links[i]);
	for (i = 0; i < SRQ_LINKS; i++)
		link_close(&links[i]);
	if (err)
		return err;
	check_figure(test, "depth", granted);
	check_figure(test, "connections", SRQ_LINKS);
	check_say(test, "%llu receives for %u connections; one more is refused",
		  (unsigned long long)granted, SRQ_LINKS);
	return 0;
}

const struct check selftest_limit_checks[] = {
	{ .name = "send-queue-full", .run = run_send_depth },
	{ .name = "receive-queue-full", .run = run_recv_depth },
	{ .name = "beyond-the-device", .run = run_beyond },
	{ .name = "reads-at-once", .run = run_read_depth },
	{ .name = "longest-message", .run = run_longest },
	{ .name = "shared-receive-queue", .caps = KRDMA_DEVICE_CAP_SRQ, .run = run_srq },
	{ 0 },
};
