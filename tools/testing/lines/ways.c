// SPDX-License-Identifier: GPL-2.0
/*
 * Does what is to be counted, one thing at a time, and keeps the counts of the lines that the
 * kernel has executed meanwhile.
 *
 *   ways OUT
 *
 * The counts of each are in a folder OUT/NAME.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "objects.h"
#include "pair.h"
#include "session.h"

#define COUNTS	"/sys/kernel/debug/gcov"

/* Entries that are posted by one call. */
#define ENTRIES	16

static const char *out;
static struct pair pair;
static struct mr mr;

static void check(int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "ways: cannot %s: %s\n", what, strerror(-err));
	exit(1);
}

/* What was executed until now does not count. */
static void way_begin(void)
{
	check(write_text(COUNTS "/reset", "1"), "reset the counts");
}

static void way_end(const char *name)
{
	/* The files of debugfs have size 0: they must be read, not copied. */
	static const char *const keep =
		"while read -r f; do mkdir -p $to/${f%/*} && cat $f >$to/$f || exit 1; done";
	char command[1024];

	snprintf(command, sizeof(command),
		 "to=%s/%s; cd %s && find . -path '*/krdma/*.gcda' | %s", out, name, COUNTS, keep);
	if (system(command))
		check(-EIO, "keep the counts");
}

static void open_pair(void)
{
	const struct end_options polled = {
		.send_depth = 64, .recv_depth = 64,
		.ring_options = { .flags = KRDMA_RING_POLLED, .sq_entries = 64, .cq_entries = 256 },
	};

	check(pair_open(&pair, &(struct pair_options) { .a = polled, .b = polled }),
	      "connect");
}

static void post(void)
{
	struct krdma_sqe entries[ENTRIES];

	for (unsigned int i = 0; i < ENTRIES; i++)
		entries[i] = sqe_remote(KRDMA_OP_WRITE, pair.a.id, i, &mr, 0, 8, &mr, 1024);
	check(ring_put(pair.a.ring, entries, ENTRIES), "fill the ring");
	check(ring_enter(pair.a.ring, ENTRIES, 0, 0, NULL), "post");
}

static void complete(void)
{
	struct krdma_cqe cqe;

	check(ring_enter(pair.a.ring, 0, ENTRIES, deadline_in(PATIENCE_MS), NULL), "poll");
	for (unsigned int i = 0; i < ENTRIES; i++) {
		check(ring_take(pair.a.ring, &cqe), "take a completion");
		check(cqe.status ? -EIO : 0, "write");
	}
}

/* The ring is polled: what is complete stays in the device until it is asked for. */
static void post_and_complete(void)
{
	check(mr_create(pair.a.session, pair.device, 65536, ACCESS_ALL, &mr), "register");
	post();
	complete();
	way_begin();
	post();
	way_end("post");
	way_begin();
	complete();
	way_end("complete");
	mr_destroy(&mr);
}

/* Of a connected client, whose peer stays and is notified. */
static void close_one(void)
{
	struct objects before;

	check(objects_read(&before), "count the objects");
	way_begin();
	close(pair.a.conn);
	pair.a.conn = -1;
	/* Reading the counts of objects would count, too. */
	sleep_ms(5000);
	way_end("close");
	check(objects_await_kind("conn", objects_count(&before, "conn") - 1, 1), "close");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: ways OUT\n");
		return 2;
	}
	out = argv[1];
	way_begin();
	open_pair();
	way_end("connect");
	post_and_complete();
	close_one();
	pair_close(&pair);
	return 0;
}
