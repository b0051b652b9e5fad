// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel addresses are confidential: nothing that a program or a peer gets from krdma contains
 * one.
 *
 * The kernel's addresses are the upper half of all: on x86-64 those of its data begin with
 * 0xffff8 and more, those of its code with 0xffffffff8 and more.  Errors are up there, too.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "examples.h"
#include "pair.h"
#include "session.h"

#define DATA_FIRST	0xffff8000U
#define ERROR_FIRST	0xfffff000U
#define CODE_FIRST	0x80000000U
/* No text of krdma has so many hexadecimal digits, not even a hashed address of the kernel. */
#define DIGITS		12

static bool is_address(uint32_t low, uint32_t high, bool aligned)
{
	if (high >= DATA_FIRST && high < ERROR_FIRST)
		return true;
	/* Two adjacent 32-bit values can look like an address. */
	return aligned && high == UINT32_MAX && low >= CODE_FIRST && low < ERROR_FIRST;
}

/* Returns the offset of an address, or -1; krdma's values are aligned to four bytes. */
static long address_in(const void *data, size_t length)
{
	const unsigned char *bytes = data;
	uint32_t halves[2];

	for (size_t at = 0; at + sizeof(halves) <= length; at += 4) {
		memcpy(halves, bytes + at, sizeof(halves));
		if (is_address(halves[0], halves[1], at % 8 == 0))
			return (long)at;
	}
	return -1;
}

static bool address_in_text(const char *text)
{
	size_t digits = 0;
	bool decimal = true;

	for (; *text; text++) {
		digits = isxdigit(*text) ? digits + 1 : 0;
		decimal = digits ? (digits == 1 || decimal) && isdigit(*text) : true;
		if (digits >= DIGITS && !decimal)
			return true;
	}
	return false;
}

TEST(an_address_would_be_seen)
{
	unsigned char bytes[64] = { 0 };
	uint64_t address = 0xffff888004a1c000ULL;

	EXPECT_EQ(-1, address_in(bytes, sizeof(bytes)));
	for (size_t at = 0; at <= sizeof(bytes) - 8; at += 4) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes + at, &address, sizeof(address));
		EXPECT_EQ((long)at, address_in(bytes, sizeof(bytes)));
	}
	address = 0xffffffffc0321000ULL;
	memcpy(bytes + 16, &address, sizeof(address));
	EXPECT_EQ(16, address_in(bytes, 32));
	memset(bytes, 0xff, sizeof(bytes));
	EXPECT_EQ(-1, address_in(bytes, sizeof(bytes)));
	EXPECT_TRUE(address_in_text("queue:\tffff888004a1c000\n"));
	EXPECT_TRUE(address_in_text("queue:\t00000000d2c7a9e1\n"));
	EXPECT_FALSE(address_in_text("mr_bytes:\t123456789012345\nlocal:\t[fd77::1]:7471\n"));
}

/* Proves: F6 */
TEST(none_is_in_answers)
{
	for (size_t i = 0; i < EXAMPLE_COUNT; i++) {
		const struct example *example = &examples[i];
		unsigned char answer[EXAMPLE_ROOM] = { 0 };
		struct scene scene;

		ASSERT_EQ(0, scene_open(&scene));
		ASSERT_EQ(0, example_arm(example, &scene));
		example_place(example, &scene, answer, sizeof(answer), example->known_size);
		ASSERT_EQ(0, session_request(scene.fd, example->number, answer));
		EXPECT_EQ(-1, address_in(answer, sizeof(answer))) {
			TH_LOG("the answer of %s", example->name);
		}
		EXPECT_EQ(-1, address_in(&scene.completion, sizeof(scene.completion)));
		EXPECT_EQ(-1, address_in(scene.ring.header, scene.ring.size));
		example_undo(example, &scene, answer);
		scene_close(&scene);
	}
}

FIXTURE(leaks)
{
	struct pair pair;
	struct mr local;
	struct mr remote;
};

FIXTURE_VARIANT(leaks)
{
	const char *force_pin;
};

FIXTURE_VARIANT_ADD(leaks, driver)
{
	.force_pin = "0",
};

FIXTURE_VARIANT_ADD(leaks, pinned)
{
	.force_pin = "1",
};

FIXTURE_SETUP(leaks)
{
	static const char words[] = "seven";
	struct pair_options options = {
		.two_sessions = true,
		.a.param = { .private_data = (uintptr_t)words, .private_data_len = 5 },
		.b.param = { .private_data = (uintptr_t)words, .private_data_len = 5 },
	};

	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, 4096, ACCESS_ALL,
			       &self->local));
	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, 4096, ACCESS_ALL,
			       &self->remote));
}

FIXTURE_TEARDOWN(leaks)
{
	mr_destroy(&self->local);
	mr_destroy(&self->remote);
	pair_close(&self->pair);
	write_text(FORCE_PIN, "0");
}

/* The memory descriptor that a peer gets, and data that it gets by reads and messages. */
/* Proves: F6 */
TEST_F(leaks, none_is_in_what_peers_get)
{
	const int conns[] = { self->pair.a.conn, self->pair.b.conn };
	struct krdma_sqe receive = sqe_receive(self->pair.b.id, 1, &self->remote, 0, 4096);
	struct krdma_cqe cqe;

	EXPECT_EQ((uintptr_t)self->remote.data, self->remote.remote_addr);
	for (size_t i = 0; i < 2; i++) {
		unsigned char data[512] = { 0 };
		struct krdma_conn_query_args query;

		ASSERT_EQ(0, conn_query(conns[i], data, sizeof(data), &query));
		EXPECT_EQ(-1, address_in(data, sizeof(data)));
		/* All of the private data, not only the peer program's part. */
		EXPECT_EQ(-1, address_in(&query, sizeof(query)));
	}
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &self->local, &self->remote));
	EXPECT_EQ(-1, address_in(self->local.data, 4096));
	ASSERT_EQ(0, ring_submit(self->pair.b.ring, &receive, 1, NULL));
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_operate(&self->pair, sqe_send(self->pair.a.id, 1, &self->local, 0, 100)));
	ASSERT_EQ(0, ring_wait(self->pair.b.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(-1, address_in(&cqe, sizeof(cqe)));
	EXPECT_EQ(-1, address_in(self->remote.data, 4096));
}

/* Proves: F6 */
TEST_F(leaks, none_is_in_rings_and_completions)
{
	const struct ring *rings[] = { self->pair.a.ring, self->pair.b.ring };

	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->local, &self->remote));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &self->local, &self->remote));
	/* A refused operation completes with an error status. */
	self->remote.rkey ^= 1;
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, pair_write(&self->pair, &self->local, &self->remote));
	for (size_t i = 0; i < 2; i++)
		EXPECT_EQ(-1, address_in(rings[i]->header, rings[i]->size));
}

/* Proves: F6 */
TEST_F(leaks, none_is_in_records)
{
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };
	struct krdma_device_record devices[16] = { { .type = 0 } };
	struct krdma_event_record events[16] = { { .type = 0 } };

	ASSERT_EQ(0, session_request(self->pair.sessions[0], KRDMA_DEVICE_NOTIFY, &watch));
	ASSERT_GT(read(self->pair.sessions[0], devices, sizeof(devices)), 0);
	EXPECT_EQ(-1, address_in(devices, sizeof(devices)));
	ASSERT_EQ(0, conn_disconnect(self->pair.a.conn, 0));
	ASSERT_EQ(0, conn_await_closed(self->pair.a.conn, PATIENCE_MS));
	ASSERT_GT(read(self->pair.a.conn, events, sizeof(events)), 0);
	EXPECT_EQ(-1, address_in(events, sizeof(events)));
}

/* Read all of the fdinfo text; negative if there is none. */
static ssize_t read_fdinfo(int fd, char *text, size_t room)
{
	char path[64];
	FILE *file;
	size_t length;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	length = fread(text, 1, room - 1, file);
	text[length] = '\0';
	fclose(file);
	return length;
}

/* Proves: F6 */
TEST(none_is_in_fdinfo)
{
	struct scene scene;
	char text[4096];

	ASSERT_EQ(0, scene_open(&scene));
	for (int i = 0; i < KIND_COUNT; i++) {
		ASSERT_LT(0, read_fdinfo(scene.objects[i], text, sizeof(text)));
		EXPECT_FALSE(!strstr(text, "krdma:\t")) {
			TH_LOG("what there is: %s", text);
		}
		EXPECT_FALSE(address_in_text(text)) {
			TH_LOG("of kind %d: %s", i, text);
		}
	}
	scene_close(&scene);
}

/* Numbers of objects, for root alone. */
TEST(none_is_in_debugfs)
{
	struct krdma_device_query_args device;
	struct objects objects;
	struct stat status;
	uint32_t id = 0;
	int devices = 0;
	int session;

	session = session_open(O_CLOEXEC);
	ASSERT_LE(0, session);
	for (; !session_next(session, id, &device); id = device.id + 1)
		devices++;
	close(session);
	ASSERT_LE(1, devices);
	ASSERT_EQ(0, stat(OBJECTS_PATH, &status));
	EXPECT_EQ(0400, status.st_mode & 07777);
	ASSERT_EQ(0, objects_read(&objects));
	EXPECT_EQ(devices, objects_count(&objects, "device"));
	for (unsigned int i = 0; i < objects.kind_count; i++) {
		int64_t count = objects.kinds[i].count;

		EXPECT_FALSE(is_address(count, count >> 32, true));
	}
}

TEST_HARNESS_MAIN
