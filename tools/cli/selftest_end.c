// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: how connections end.
 */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "peer_stop.h"
#include "selftest.h"

#define RECEIVES 8

static int post_receives(struct selftest *test, struct krdma_sqe entries[RECEIVES])
{
	unsigned int i;

	for (i = 0; i < RECEIVES; i++)
		entries[i] = krdma_entry_recv(test->link.conn, op_wr_id(test), test->area,
					      i * 64, 64);
	return op_post(test, &test->link, entries, RECEIVES);
}

/* Each posted receive completes once, flushed and in order, and nothing else completes. */
static int expect_flushed(struct selftest *test, const struct krdma_sqe entries[RECEIVES])
{
	struct krdma_cqe cqe;
	unsigned int i;
	size_t taken;
	int err;

	for (i = 0; i < RECEIVES; i++) {
		try(op_take(test, &test->link, &cqe));
		if (cqe.wr_id != entries[i].wr_id || cqe.status != KRDMA_WC_WR_FLUSH_ERR)
			return check_fail(test, "a receive of a connection that has ended: %s",
					  krdma_wc_status_name(cqe.status));
	}
	err = krdma_ring_poll(test->link.ring, &cqe, 1, &taken);
	if (err != -EAGAIN)
		return check_fail(test, "something else completes after the end");
	return op_refused(test, &test->link, &entries[0], -ENOTCONN);
}

static int ended(struct selftest *test, int near_expected, int far_expected)
{
	int near_end, far_end;

	try(link_await_end(test, &test->link, &near_end, &far_end));
	check_figure_text(test, "near_end", krdma_error_name(near_end));
	check_figure_text(test, "far_end", krdma_error_name(far_end));
	try(check_refused(test, "the end of the connection here", near_expected, near_end));
	return check_refused(test, "the end of the connection at the far end", far_expected,
			     far_end);
}

static int run_disconnect(struct selftest *test)
{
	struct krdma_sqe entries[RECEIVES];
	int err;

	try(post_receives(test, entries));
	err = krdma_conn_disconnect(test->link.conn, 0);
	if (err)
		return check_errno(test, "disconnect", err);
	try(ended(test, -ENOTCONN, peer_ended(test)));
	try(expect_flushed(test, entries));
	check_say(test, "both ends are closed, %u receives are flushed", RECEIVES);
	return 0;
}

static int run_peer_disconnects(struct selftest *test)
{
	struct wire_words in = { .word = { FAR_DISCONNECT, 0, 0 } }, out;
	struct krdma_sqe entries[RECEIVES];

	try(post_receives(test, entries));
	try(far_call(test, &in, &out));
	if (out.word[0])
		return check_errno(test, "disconnect at the far end", (int)(int64_t)out.word[0]);
	try(ended(test, peer_ended(test), -ENOTCONN));
	try(expect_flushed(test, entries));
	check_say(test, "both ends are closed, %u receives are flushed", RECEIVES);
	return 0;
}

static int run_abort(struct selftest *test)
{
	struct krdma_sqe entries[RECEIVES];
	int err;

	try(post_receives(test, entries));
	err = krdma_conn_disconnect(test->link.conn, KRDMA_DISCONNECT_ABORT);
	if (err)
		return check_errno(test, "abort the connection", err);
	try(ended(test, -ECONNABORTED, peer_ended(test)));
	try(expect_flushed(test, entries));
	check_say(test, "both ends are closed, %u receives are flushed", RECEIVES);
	return 0;
}

/* Close with writes in flight: the far end sees the end, and the MR can be deregistered. */
static int run_close(struct selftest *test)
{
	struct wire_words in = { .word = { FAR_AWAIT_CLOSED, 0 } }, out;
	struct krdma_sqe entry;
	uint64_t deadline;
	unsigned int i;
	int err;

	for (i = 0; i < 16; i++) {
		entry = op_remote(test, &test->link, KRDMA_OP_WRITE, 0, 0, 65536);
		try(op_post(test, &test->link, &entry, 1));
	}
	link_close(&test->link);
	try(far_call(test, &in, &out));
	if (out.word[0] || (int)(int64_t)out.word[1] != peer_ended(test))
		return check_refused(test, "the peer of a connection that was closed",
				     peer_ended(test),
				     (int)(int64_t)(out.word[0] ? out.word[0] : out.word[1]));
	/* Work requests in flight may use the MR for a moment after the close. */
	deadline = clock_ns() + test->settings->timeout;
	while ((err = krdma_mr_deregister(test->area, 0)) == -EBUSY && clock_ns() < deadline) {
		if (stop_wanted())
			return -EINTR;
		stop_sleep(clock_ns() + 1000000);
	}
	if (err)
		return check_errno(test, "release the memory of a closed connection", err);
	test->area = NULL;
	check_say(test, "with 16 writes in flight; the far end sees it");
	return 0;
}

static int run_refused(struct selftest *test)
{
	const struct link_options reject = { .far_flags = FAR_ACCEPT_REJECT };
	struct sockaddr_storage listener = test->far_address;
	struct link link;
	int err, result;

	err = link_try(test, &link, 1, &reject, &result);
	link_close(&link);
	if (!err)
		err = check_refused(test, "a connection that is rejected", -ECONNREFUSED, result);
	if (err)
		return err;
	/* Port 1 (tcpmux) has no listener. */
	address_set_port(&test->far_address, 1);
	err = link_try(test, &link, 1, NULL, &result);
	link_close(&link);
	test->far_address = listener;
	if (!err)
		err = check_refused(test, "a connection to a port without a listener",
				    -ECONNREFUSED, result);
	if (!err)
		check_say(test, "rejected, and no listener: both say so");
	return err;
}

static int run_cycles(struct selftest *test)
{
	uint64_t begun = clock_ns(), elapsed;
	uint32_t i, cycles = test->settings->cycles;
	struct krdma_sqe entry;
	struct link link;
	int err = 0;

	for (i = 0; !err && i < cycles; i++) {
		err = link_open(test, &link, 1, NULL);
		if (!err) {
			entry = op_remote(test, &link, KRDMA_OP_WRITE, 0, 0, 8);
			err = op_do(test, &link, &entry, 8);
		}
		if (!err)
			err = link_end(test, &link);
		link_close(&link);
	}
	if (err || !cycles)
		return err;
	elapsed = clock_ns() - begun;
	check_figure(test, "cycles", cycles);
	check_figure(test, "cycle_ns", elapsed / cycles);
	check_say(test, "%u times open, write, disconnect: %.1f ms each", cycles,
		  (double)elapsed / cycles / 1e6);
	return 0;
}

#define AT_ONCE (FAR_CONNS - 1)

static int run_at_once(struct selftest *test)
{
	struct link links[AT_ONCE] = { 0 };
	struct krdma_sqe entries[AT_ONCE];
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < AT_ONCE; i++)
		err = link_open(test, &links[i], 1 + i, NULL);
	for (i = 0; !err && i < AT_ONCE; i++) {
		entries[i] = op_remote(test, &links[i], KRDMA_OP_WRITE, 64, 64, 65536);
		err = op_post(test, &links[i], &entries[i], 1);
	}
	for (i = 0; !err && i < AT_ONCE; i++)
		err = op_done(test, &links[i], &entries[i], 65536);
	for (i = 0; !err && i < AT_ONCE; i++)
		err = link_end(test, &links[i]);
	for (i = 0; i < AT_ONCE; i++)
		link_close(&links[i]);
	if (!err)
		check_say(test, "%u connections, with writes at the same time", AT_ONCE);
	return err;
}

/*
 * Post writes until the connection has ended, and count them.  A connection that does not end is
 * a failure.
 */
static int write_to_the_end(struct selftest *test, uint64_t *writes)
{
	uint64_t deadline = clock_ns() + test->settings->timeout;
	struct krdma_cqe cqes[16];
	struct krdma_sqe entry;
	size_t taken;
	int err;

	for (;;) {
		if (stop_wanted())
			return -EINTR;
		if (clock_ns() > deadline)
			return check_fail(test, "writes go on although the peer is gone");
		entry = op_remote(test, &test->link, KRDMA_OP_WRITE, 0, 0, 16384);
		err = krdma_ring_post(test->link.ring, &entry, 1, NULL);
		if (err && err != -EAGAIN)
			break;
		if (!err)
			++*writes;
		krdma_ring_wait(test->link.ring, cqes, ARRAY_SIZE(cqes), 1,
				krdma_deadline(20), &taken);
	}
	if (err != -ENOTCONN && err != -ENODEV)
		return check_errno(test, "write to a peer that is gone", err);
	return 0;
}

static int await_near_closed(struct selftest *test, int *why)
{
	uint64_t deadline = clock_ns() + test->settings->timeout;
	int err;

	do {
		if (stop_wanted())
			return -EINTR;
		err = krdma_conn_await_closed(test->link.conn, stop_slice(deadline));
	} while ((err == -ETIMEDOUT || err == -EINTR) && clock_ns() < deadline);
	if (err)
		return check_fail(test, "the connection does not end: %s", krdma_error_name(err));
	*why = krdma_conn_wait(test->link.conn, 0, NULL);
	return 0;
}

static int run_killed(struct selftest *test)
{
	struct wire_words in = { .word = { FAR_DIE } };
	uint64_t begun, writes = 0;
	struct krdma_sqe entry;
	unsigned int i;
	int why;

	for (i = 0; i < 32; i++) {
		entry = op_remote(test, &test->link, KRDMA_OP_WRITE, 0, 0, 16384);
		try(op_post(test, &test->link, &entry, 1));
	}
	try(far_ask(test, &in));
	begun = clock_ns();
	try(write_to_the_end(test, &writes));
	try(await_near_closed(test, &why));
	begun = clock_ns() - begun;
	far_stop(test);
	if (why != peer_ended(test) && why != -ETIMEDOUT && why != -EIO)
		return check_refused(test, "the end of the connection to a process that was killed",
				     peer_ended(test), why);
	check_figure_text(test, "near_end", krdma_error_name(why));
	check_figure(test, "ended_after_ns", begun);
	check_figure(test, "writes", 32 + writes);
	check_say(test, "the connection has ended (%s) after %.1f ms and %llu writes",
		  krdma_error_name(why), (double)begun / 1e6,
		  (unsigned long long)(32 + writes));
	return 0;
}

/*
 * Unplug
 */

/* Check that calls see the removal of the device, and that its objects can be closed. */
static int check_gone(struct selftest *test)
{
	struct krdma_device_query_args device;
	uint64_t deadline = clock_ns() + test->settings->timeout;
	struct krdma_mr *mr;
	int err, why = 0;

	try(await_near_closed(test, &why));
	if (why != -ENODEV && why != peer_ended(test) && why != -EIO)
		return check_refused(test, "the end of the connection", -ENODEV, why);
	check_figure_text(test, "near_end", krdma_error_name(why));
	while ((err = krdma_device_query(test->session, test->device.id, &device,
					 sizeof(device))) != -ENOENT) {
		if (stop_wanted())
			return -EINTR;
		if (clock_ns() > deadline)
			return check_refused(test, "a query of the device", -ENOENT, err);
		stop_sleep(clock_ns() + 10000000);
	}
	err = krdma_mr_alloc(test->session, test->device.id, 4096, KRDMA_ACCESS_LOCAL_WRITE,
			     &mr);
	try(check_refused(test, "registering on a device that is gone", -ENODEV, err));
	err = krdma_mr_deregister(test->area, KRDMA_DEREGISTER_LATER);
	if (err)
		return check_errno(test, "release memory of a device that is gone", err);
	test->area = NULL;
	return 0;
}

static int await_command(struct selftest *test, pid_t child)
{
	uint64_t deadline = clock_ns() + 2 * test->settings->timeout;
	int status;

	while (!waitpid(child, &status, WNOHANG)) {
		/* The command continues; the check does not wait longer. */
		if (clock_ns() > deadline)
			return check_fail(test, "the device's removal does not end");
		stop_sleep(clock_ns() + 10000000);
		if (stop_wanted())
			return -EINTR;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return check_fail(test, "the device cannot be removed");
	return 0;
}

static int run_unplug(struct selftest *test)
{
	char command[sizeof(test->next_command)];
	uint64_t begun, writes = 0;
	pid_t child;

	if (!device_unplug_commands(test, command, test->next_command, sizeof(command)))
		return check_leave_out(test, "it is not known how this device is removed");
	child = run_in_shell(command);
	if (child < 0)
		return check_leave_out(test, "cannot run '%s'", command);
	begun = clock_ns();
	test->unplugged = true;
	try(write_to_the_end(test, &writes));
	try(check_gone(test));
	link_close(&test->link);
	krdma_close(test->session);
	test->session = NULL;
	/* The far end may use the same device and hold objects on it, so stop it too. */
	far_stop(test);
	try(await_command(test, child));
	begun = clock_ns() - begun;
	check_figure(test, "writes", writes);
	check_figure(test, "removed_after_ns", begun);
	check_say(test, "removed after %.1f ms, with %llu writes posted meanwhile",
		  (double)begun / 1e6, (unsigned long long)writes);
	return 0;
}

const struct check selftest_end_checks[] = {
	{ .name = "disconnect", .run = run_disconnect },
	{ .name = "peer-disconnects", .run = run_peer_disconnects },
	{ .name = "abort", .run = run_abort },
	{ .name = "close", .run = run_close },
	{ .name = "refused", .run = run_refused },
	{ .name = "open-and-close", .run = run_cycles },
	{ .name = "many-at-once", .run = run_at_once },
	{ .name = "peer-killed", .run = run_killed },
	{ .name = SELFTEST_UNPLUG, .run = run_unplug },
	{ 0 },
};
