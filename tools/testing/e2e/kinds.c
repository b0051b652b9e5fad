// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of all kinds that a program can have, written and read by a peer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

#define HUGE_SIZE	(2ul << 20)
#define PAGE		4096

FIXTURE(kinds)
{
	struct pair pair;
	struct mr local;
};

FIXTURE_VARIANT(kinds)
{
	const char *force_pin;
};

FIXTURE_VARIANT_ADD(kinds, driver)
{
	.force_pin = "0",
};

FIXTURE_VARIANT_ADD(kinds, pinned)
{
	.force_pin = "1",
};

FIXTURE_SETUP(kinds)
{
	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	ASSERT_EQ(0, pair_open(&self->pair, &(struct pair_options){ .two_sessions = true }));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, HUGE_SIZE,
			       ACCESS_ALL, &self->local));
}

FIXTURE_TEARDOWN(kinds)
{
	mr_destroy(&self->local);
	pair_close(&self->pair);
	write_text(FORCE_PIN, "0");
}

/* A peer writes @data, and reads what the program then stores there.  Unmaps @data. */
static void use(struct __test_metadata *_metadata, FIXTURE_DATA(kinds) * self, void *data,
		size_t length)
{
	struct mr local = self->local, remote;

	ASSERT_TRUE(data != MAP_FAILED);
	local.length = length;
	ASSERT_EQ(0, mr_register(self->pair.sessions[1], self->pair.device, data, length,
				 ACCESS_ALL, &remote));
	fill(local.data, length, 1);
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &local, &remote));
	EXPECT_TRUE(filled(data, length, 1));
	fill(data, length, 2);
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &local, &remote));
	EXPECT_TRUE(filled(local.data, length, 2));
	EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], remote.id, 0));
	EXPECT_EQ(0, munmap(data, length));
}

/* Proves: E11 */
TEST_F(kinds, huge_pages)
{
	void *data;

	ASSERT_EQ(0, huge_page_get());
	data = mmap(NULL, HUGE_SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	use(_metadata, self, data, HUGE_SIZE);
	data = mmap(NULL, HUGE_SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	use(_metadata, self, data, HUGE_SIZE);
	EXPECT_EQ(0, huge_page_put());
}

/* Proves: E11 */
TEST_F(kinds, transparent_huge_pages)
{
	char *room = mmap(NULL, 2 * HUGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t aligned = ((uintptr_t)room + HUGE_SIZE - 1) & ~(HUGE_SIZE - 1);

	ASSERT_TRUE(room != MAP_FAILED);
	madvise((void *)aligned, HUGE_SIZE, MADV_HUGEPAGE);
	memset((void *)aligned, 1, HUGE_SIZE);
	use(_metadata, self, (void *)aligned, HUGE_SIZE);
	munmap(room, 2 * HUGE_SIZE);
}

TEST_F(kinds, shared_between_processes)
{
	use(_metadata, self, mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0), 16 * PAGE);
}

/* What a peer writes is in the file, even after the file is unmapped. */
TEST_F(kinds, a_file_in_memory)
{
	int file = memfd_create("kinds", MFD_CLOEXEC);
	unsigned char data[PAGE];

	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, 16 * PAGE));
	use(_metadata, self, mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
	    16 * PAGE);
	ASSERT_EQ(PAGE, pread(file, data, PAGE, 0));
	EXPECT_TRUE(filled(data, PAGE, 2));
	close(file);
}

/* The file is truncated while a peer writes: it writes to pages that no longer belong to it. */
TEST_F(kinds, a_file_that_is_cut)
{
	int file = memfd_create("kinds", MFD_CLOEXEC);
	struct mr local = self->local, remote;
	unsigned char data[PAGE];
	void *mapping;

	ASSERT_LE(0, file);
	ASSERT_EQ(0, ftruncate(file, 16 * PAGE));
	mapping = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_TRUE(mapping != MAP_FAILED);
	ASSERT_EQ(0, mr_register(self->pair.sessions[1], self->pair.device, mapping,
				 16 * PAGE, ACCESS_ALL, &remote));
	ASSERT_EQ(0, ftruncate(file, 0));
	ASSERT_EQ(0, ftruncate(file, 16 * PAGE));
	local.length = 16 * PAGE;
	fill(local.data, local.length, 3);
	/* The peer writes to the former pages, which do not belong to the file any more. */
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &local, &remote));
	ASSERT_EQ(PAGE, pread(file, data, PAGE, 0));
	EXPECT_TRUE(zeroed(data, PAGE));
	EXPECT_TRUE(zeroed(mapping, 16 * PAGE));
	EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], remote.id, 0));
	munmap(mapping, 16 * PAGE);
	close(file);
}

TEST_HARNESS_MAIN
