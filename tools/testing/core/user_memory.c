// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a program, used by the core: the core registers it in the program's own call, a peer
 * reads and writes it, and the program takes it away in all the ways that programs have.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include <linux/krdma.h>

#define LENDER		"/sys/kernel/debug/krdma_core_test/user_memory"
#define FORCE_PIN	"/sys/module/krdma/parameters/force_pin"

#define READ_ONLY	KRDMA_ACCESS_REMOTE_READ
#define ALL		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE)

/* The most that the peer transfers at a time. */
#define PEER_SIZE	(0x100000)

/* Writes a line to the file; returns 0 or a negative errno. */
static int __attribute__((format(printf, 2, 3))) say(int file, const char *format, ...)
{
	char line[128];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	return write(file, line, length) == length ? 0 : -errno;
}

static int lend(int file, const void *start, size_t length, int access)
{
	return say(file, "map %lu %zu %u", (unsigned long)start, length, access);
}

/* A fake device may lack what rxe and siw have. */
static int is_fake(void)
{
	return !access("/sys/module/krdma_fake", F_OK);
}

/* The same pattern as the peer's. */
static unsigned char pattern(size_t i, unsigned int seed)
{
	return (i * 31 + (i >> 8) * 7 + seed * 101) ^ (i >> 16);
}

static void fill(unsigned char *data, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		data[i] = pattern(i, seed);
}

static int is_filled(const unsigned char *data, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		if (data[i] != pattern(i, seed))
			return 0;
	return 1;
}

static unsigned char *pages(size_t length)
{
	unsigned char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

FIXTURE(user_memory)
{
	int file;
	unsigned char *memory;
	size_t length;
};

FIXTURE_VARIANT(user_memory)
{
	const char *address;
	const char *force_pin;
};

FIXTURE_VARIANT_ADD(user_memory, rxe)
{
	.address = "10.77.0.1", .force_pin = "0",
};

FIXTURE_VARIANT_ADD(user_memory, rxe_pinned)
{
	.address = "10.77.0.1", .force_pin = "1",
};

FIXTURE_VARIANT_ADD(user_memory, siw)
{
	.address = "10.78.0.1", .force_pin = "0",
};

FIXTURE_VARIANT_ADD(user_memory, siw_pinned)
{
	.address = "10.78.0.1", .force_pin = "1",
};

FIXTURE_SETUP(user_memory)
{
	int parameter, ret;

	self->file = -1;
	parameter = open(FORCE_PIN, O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, parameter);
	ASSERT_EQ(1, write(parameter, variant->force_pin, 1));
	close(parameter);
	self->file = open(LENDER, O_RDWR);
	ASSERT_LE(0, self->file);
	ret = say(self->file, "open %s", variant->address);
	if (is_fake() && ret == -EOPNOTSUPP)
		SKIP(return, "the device registers no memory for peers");
	ASSERT_EQ(0, ret);
	self->length = 64 * 1024;
	self->memory = pages(self->length);
	ASSERT_NE(NULL, self->memory);
}

FIXTURE_TEARDOWN(user_memory)
{
	if (self->file >= 0)
		close(self->file);
}

/* The peer writes and reads the memory, and sees what the program writes in between. */
TEST_F(user_memory, is_read_and_written_by_the_peer)
{
	const struct { size_t offset, length; } places[] = {
		{ 0, 4096 }, { 1, 1 }, { 4095, 2 }, { 123, 40000 }, { 4096, 8192 },
	};

	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		unsigned char *start = self->memory + places[i].offset;
		size_t length = places[i].length;

		memset(self->memory, 0xee, self->length);
		ASSERT_EQ(0, lend(self->file, start, length, ALL));
		EXPECT_EQ(0, say(self->file, "write 0 %zu %u", length, i));
		EXPECT_TRUE(is_filled(start, length, i));
		fill(start, length, i + 9);
		EXPECT_EQ(0, say(self->file, "read 0 %zu %u", length, i + 9));
		for (size_t at = 0; at < self->length; at++) {
			if (self->memory + at < start || self->memory + at >= start + length)
				ASSERT_EQ(0xee, self->memory[at]);
		}
		ASSERT_EQ(0, say(self->file, "release"));
	}
}

TEST_F(user_memory, of_three_mebibytes_begins_at_an_odd_address)
{
	size_t length = 3 * 1024 * 1024 + 100;
	unsigned char *memory = pages(length + 8192);
	unsigned char *start = memory + 4097;

	ASSERT_NE(NULL, memory);
	/* Pinned memory of this size has several rkeys. */
	ASSERT_EQ(0, lend(self->file, start, length, ALL));
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_EQ(0, say(self->file, "write %u %u %u", i * PEER_SIZE + 51, PEER_SIZE, i));
		EXPECT_TRUE(is_filled(start + i * PEER_SIZE + 51, PEER_SIZE, i));
	}
	fill(start + length - 1000, 1000, 7);
	EXPECT_EQ(0, say(self->file, "read %zu 1000 7", length - 1000));
	EXPECT_EQ(0, memory[4096]);
	EXPECT_EQ(0, say(self->file, "release"));
}

/* One work request, longer than the longest message of some devices. */
TEST_F_TIMEOUT(user_memory, is_written_nine_mebibytes_at_a_time, 150)
{
	unsigned char *memory = pages(9 * PEER_SIZE + 4096);
	int ret;

	ASSERT_NE(NULL, memory);
	ASSERT_EQ(0, lend(self->file, memory + 7, 9 * PEER_SIZE, ALL));
	ret = say(self->file, "bulk 9 4");
	/* Some drivers register no memory of programs for krdma: as if pinning were forced. */
	if ((variant->force_pin[0] == '1' || is_fake()) && ret == -EMSGSIZE)
		SKIP(return, "more pages than one key of this device covers");
	ASSERT_EQ(0, ret);
	/* When a later read completes, the write has arrived. */
	ASSERT_EQ(0, say(self->file, "read %u %u 4", 8 * PEER_SIZE, PEER_SIZE));
	for (unsigned int i = 0; i < 9; i++)
		EXPECT_TRUE(is_filled(memory + 7 + i * PEER_SIZE, PEER_SIZE, 4));
	EXPECT_EQ(0, memory[6] | memory[7 + 9 * PEER_SIZE]);
}

TEST_F(user_memory, takes_messages)
{
	ASSERT_EQ(0, lend(self->file, self->memory + 5, 1000, KRDMA_ACCESS_LOCAL_WRITE));
	ASSERT_EQ(0, say(self->file, "receive"));
	EXPECT_EQ(-EBUSY, say(self->file, "release"));
	ASSERT_EQ(0, say(self->file, "send"));
	EXPECT_TRUE(is_filled(self->memory + 5, 8, 99));
	EXPECT_EQ(0, self->memory[13]);
	EXPECT_EQ(0, say(self->file, "release"));
}

TEST_F(user_memory, without_sense_is_refused)
{
	EXPECT_EQ(-EINVAL, lend(self->file, self->memory, 0, ALL));
	EXPECT_EQ(-EINVAL, lend(self->file, self->memory, 10, KRDMA_ACCESS_REMOTE_WRITE));
	EXPECT_EQ(-EINVAL, lend(self->file, self->memory, 10, 0x100000));
	EXPECT_EQ(-EINVAL, lend(self->file, (void *)-10UL, 100, ALL));
}

TEST_F(user_memory, that_is_not_there_is_refused)
{
	unsigned char *memory = pages(3 * 4096);

	ASSERT_NE(NULL, memory);
	EXPECT_EQ(-EFAULT, lend(self->file, (void *)4096UL, 10, ALL));
	ASSERT_EQ(0, munmap(memory + 4096, 4096));
	EXPECT_EQ(-EFAULT, lend(self->file, memory, 3 * 4096, ALL));
	EXPECT_EQ(-EFAULT, lend(self->file, (void *)(1UL << 63), 4096, ALL));
	ASSERT_EQ(0, mprotect(memory, 4096, PROT_READ));
	EXPECT_EQ(-EFAULT, lend(self->file, memory, 4096, ALL));
	EXPECT_EQ(0, lend(self->file, memory, 4096, READ_ONLY));
}

TEST_F(user_memory, is_not_written_without_the_right)
{
	fill(self->memory, 4096, 3);
	ASSERT_EQ(0, lend(self->file, self->memory, 4096, READ_ONLY));
	EXPECT_EQ(0, say(self->file, "read 0 4096 3"));
	EXPECT_NE(0, say(self->file, "write 0 100 4"));
	EXPECT_TRUE(is_filled(self->memory, 4096, 3));
}

/* Proves: F6 */
TEST_F(user_memory, is_out_of_reach_after_the_release)
{
	ASSERT_EQ(0, lend(self->file, self->memory, 4096, ALL));
	ASSERT_EQ(0, say(self->file, "write 0 4096 3"));
	ASSERT_EQ(0, say(self->file, "release"));
	EXPECT_NE(0, say(self->file, "write 0 100 4"));
	EXPECT_TRUE(is_filled(self->memory, 4096, 3));
}

/* Memory that the program maps there later is its own. */
TEST_F(user_memory, stays_with_its_pages_when_it_is_unmapped)
{
	ASSERT_EQ(0, lend(self->file, self->memory, 8192, ALL));
	ASSERT_EQ(self->memory, mmap(self->memory, 8192, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(0, say(self->file, "write 0 8192 5"));
	EXPECT_EQ(0, say(self->file, "read 0 8192 5"));
	for (int i = 0; i < 8192; i++)
		ASSERT_EQ(0, self->memory[i]);
	EXPECT_EQ(0, say(self->file, "release"));
}

TEST_F(user_memory, stays_the_parents_after_a_fork)
{
	pid_t child;
	int status;

	fill(self->memory, 4096, 1);
	ASSERT_EQ(0, lend(self->file, self->memory, 4096, ALL));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int whole = is_filled(self->memory, 4096, 1);

		/* The child has a copy, whichever process writes first. */
		self->memory[0] ^= 0xff;
		_exit(whole ? 0 : 1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, say(self->file, "read 0 4096 1"));
	fill(self->memory, 4096, 2);
	EXPECT_EQ(0, say(self->file, "read 0 4096 2"));
	EXPECT_EQ(0, say(self->file, "write 0 4096 3"));
	EXPECT_TRUE(is_filled(self->memory, 4096, 3));
}

/* Proves: F6 */
TEST_F(user_memory, counts_as_locked)
{
	struct rlimit few = { 16 * 4096, 16 * 4096 };
	pid_t child = fork();
	int status, ret;

	ASSERT_LE(0, child);
	if (!child) {
		/* The limit does not apply to root. */
		if (setrlimit(RLIMIT_MEMLOCK, &few) || setuid(1000))
			_exit(1);
		ret = lend(self->file, self->memory, 16 * 4096 + 4096, ALL);
		if (ret != -ENOMEM && ret != -EFAULT && ret != -EPERM)
			_exit(2);
		ret = lend(self->file, self->memory, 4096, ALL);
		_exit(ret ? 3 : 0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* The process is gone, but its memory is not, as long as another process has the file open. */
/* Proves: F4 */
TEST_F(user_memory, outlives_its_process)
{
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (!child) {
		unsigned char *memory = pages(8192);

		if (!memory || lend(self->file, memory, 8192, ALL))
			_exit(1);
		fill(memory, 8192, 6);
		raise(SIGKILL);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	/* No memory of another process may be there: only its own, or none. */
	EXPECT_NE(-EBADMSG, say(self->file, "read 0 8192 6"));
	EXPECT_EQ(0, say(self->file, "release"));
}

/* The file closes with a receive in flight.  Nothing may be left; the log would report it. */
TEST_F(user_memory, goes_with_the_file)
{
	ASSERT_EQ(0, lend(self->file, self->memory, self->length, ALL));
	ASSERT_EQ(0, say(self->file, "receive"));
	ASSERT_EQ(0, say(self->file, "drop"));
	close(self->file);
	self->file = -1;
	memset(self->memory, 1, self->length);
}

TEST_HARNESS_MAIN
