// SPDX-License-Identifier: GPL-2.0
/*
 * No kernel memory leaks to programs.  On a kernel that fills freed memory with patterns, no
 * data that a program gets may contain one: results, records, private data, rings.  Such a
 * kernel is booted with
 *
 *	slub_debug=P page_poison=1 init_on_alloc=0 init_on_free=0
 *
 * and the test checks this first.
 */
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "examples.h"
#include "pair.h"
#include "session.h"

/* This number of consecutive pattern bytes is not a coincidence. */
#define RUN		4

/* Patterns of freed objects, padding and freed pages.  No test fills memory with one of them. */
static const unsigned char patterns[] = { 0x6b, 0x5a, 0xaa };

static bool is_pattern(unsigned char byte)
{
	return memchr(patterns, byte, sizeof(patterns));
}

/* Returns the offset of a pattern, or -1. */
static long poison_at(const void *data, size_t length)
{
	const unsigned char *bytes = data;
	size_t run = 0;

	for (size_t i = 0; i < length; i++) {
		if (!is_pattern(bytes[i]))
			run = 0;
		else
			run = i && bytes[i] == bytes[i - 1] ? run + 1 : 1;
		if (run == RUN)
			return (long)(i + 1 - RUN);
	}
	return -1;
}

TEST(what_is_freed_is_poisoned)
{
	unsigned char sample[16] = { 1, 2, 0x6b, 0x6b, 0x6b, 0x6b, 3 };
	char line[8];

	ASSERT_EQ(0, read_line(line, sizeof(line), "/sys/kernel/slab/kmalloc-256/poison"));
	EXPECT_STREQ("1", line);
	/* poison_at() finds the pattern. */
	EXPECT_EQ(2, poison_at(sample, sizeof(sample)));
	sample[4] = 0;
	EXPECT_EQ(-1, poison_at(sample, sizeof(sample)));
}

TEST(none_of_it_is_in_answers)
{
	for (size_t i = 0; i < EXAMPLE_COUNT; i++) {
		const struct example *example = &examples[i];
		unsigned char answer[EXAMPLE_ROOM] = { 0 };
		struct scene scene;

		ASSERT_EQ(0, scene_open(&scene));
		ASSERT_EQ(0, example_arm(example, &scene));
		example_place(example, &scene, answer, sizeof(answer), example->known_size);
		ASSERT_EQ(0, session_request(scene.fd, example->number, answer));
		EXPECT_EQ(-1, poison_at(answer, sizeof(answer)))
			TH_LOG("the answer of %s", example->name);
		EXPECT_EQ(-1, poison_at(&scene.completion, sizeof(scene.completion)));
		example_undo(example, &scene, answer);
		scene_close(&scene);
	}
}

FIXTURE(poison)
{
	struct pair pair;
	struct mr local;
	struct mr remote;
};

FIXTURE_SETUP(poison)
{
	static const char words[] = "seven";
	struct pair_options options = {
		.a.param = { .private_data = (uintptr_t)words, .private_data_len = 5 },
		.b.param = { .private_data = (uintptr_t)words, .private_data_len = 5 },
	};

	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, 4096, ACCESS_ALL,
			       &self->local));
	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, 4096, ACCESS_ALL,
			       &self->remote));
}

FIXTURE_TEARDOWN(poison)
{
	mr_destroy(&self->local);
	mr_destroy(&self->remote);
	pair_close(&self->pair);
}

TEST_F(poison, none_of_it_is_in_rings)
{
	const struct ring *ring = self->pair.a.ring;

	EXPECT_EQ(-1, poison_at(ring->header, ring->size));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->local, &self->remote));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &self->local, &self->remote));
	EXPECT_EQ(-1, poison_at(ring->header, ring->size));
}

TEST_F(poison, none_of_it_is_in_private_data)
{
	const int conns[] = { self->pair.a.conn, self->pair.b.conn };

	for (size_t i = 0; i < 2; i++) {
		unsigned char data[512] = { 0 };
		struct krdma_conn_query_args query;

		ASSERT_EQ(0, conn_query(conns[i], data, sizeof(data), &query));
		EXPECT_EQ(5, query.private_data_len);
		EXPECT_EQ(-1, poison_at(data, sizeof(data)));
		EXPECT_EQ(-1, poison_at(&query, sizeof(query)));
	}
}

TEST_F(poison, none_of_it_is_in_records)
{
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };
	struct krdma_device_record devices[16] = { { .type = 0 } };
	struct krdma_event_record events[16] = { { .type = 0 } };

	ASSERT_EQ(0, session_request(self->pair.sessions[0], KRDMA_DEVICE_NOTIFY, &watch));
	ASSERT_GT(read(self->pair.sessions[0], devices, sizeof(devices)), 0);
	EXPECT_EQ(-1, poison_at(devices, sizeof(devices)));
	ASSERT_EQ(0, conn_disconnect(self->pair.a.conn, 0));
	ASSERT_EQ(0, conn_await_closed(self->pair.a.conn, PATIENCE_MS));
	ASSERT_GT(read(self->pair.a.conn, events, sizeof(events)), 0);
	EXPECT_EQ(-1, poison_at(events, sizeof(events)));
}

TEST_HARNESS_MAIN
