// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma: MRs, memory descriptors for peers, and the MR cache.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <krdma_entry.h>

#include "kselftest_harness.h"
#include "lib_pair.h"
#include "session.h"

#define PAGE	4096ul
#define PAGES	64

FIXTURE(mr)
{
	struct lib_pair pair;
	struct krdma_mr_cache *cache;
	char *pages;
};

FIXTURE_SETUP(mr)
{
	ASSERT_EQ(0, lib_pair_open(&self->pair, LIB_ADDRESS, 0));
	ASSERT_EQ(0, krdma_mr_cache_create(self->pair.session, self->pair.device,
					   KRDMA_ACCESS_LOCAL_WRITE, 16 * PAGE, &self->cache));
	self->pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->pages != MAP_FAILED);
}

FIXTURE_TEARDOWN(mr)
{
	lib_pair_close(&self->pair);
	krdma_mr_cache_destroy(self->cache);
	EXPECT_EQ(0, krdma_close(self->pair.session));
	munmap(self->pages, PAGES * PAGE);
}

/* Pinned memory of the process, in kB, as the kernel counts it. */
static long pinned_kb(void)
{
	char line[128];
	FILE *status = fopen("/proc/self/status", "r");
	long value = -1;

	while (status && fgets(line, sizeof(line), status)) {
		if (sscanf(line, "VmPin: %ld", &value) == 1)
			break;
	}
	if (status)
		fclose(status);
	return value;
}

TEST_F(mr, created_memory_is_zero_and_goes)
{
	static const size_t lengths[] = { 1, PAGE, 100000, 2 << 20, (4 << 20) + 1 };
	long before = pinned_kb();

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct krdma_mr *mr;

		ASSERT_EQ(0, krdma_mr_alloc(self->pair.session, self->pair.device,
					    lengths[i], lib_pair_access(&self->pair), &mr));
		EXPECT_EQ(lengths[i], krdma_mr_length(mr));
		EXPECT_NE(0, krdma_mr_id(mr));
		/* Memory that krdma registers itself has an rkey for each 2 MiB. */
		EXPECT_EQ(boot_driver_registers() || lengths[i] <= 2 << 20, !!krdma_mr_rkey(mr));
		EXPECT_TRUE(zeroed(krdma_mr_data(mr), lengths[i]));
		EXPECT_EQ(0, krdma_mr_advise(mr, KRDMA_ADVICE_READ, 0, 1));
		EXPECT_EQ(-ERANGE, krdma_mr_advise(mr, KRDMA_ADVICE_READ, 0,
						   lengths[i] + 1));
		EXPECT_EQ(0, krdma_mr_deregister(mr, 0));
	}
	EXPECT_EQ(before, pinned_kb());
	EXPECT_EQ(0, krdma_mr_deregister(NULL, 0));
}

/* A counter of the huge page pool, from the line @format of /proc/meminfo. */
static long huge_pages(const char *format)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long value = -1;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, format, &value) == 1)
			break;
	}
	if (file)
		fclose(file);
	return value;
}

/* The pool is reserved for programs that are configured to use it. */
TEST_F(mr, pages_that_were_set_aside_stay_aside)
{
	struct krdma_mr *mr;

	ASSERT_EQ(0, huge_page_get());
	EXPECT_EQ(1, huge_pages("HugePages_Free: %ld"));
	ASSERT_EQ(0, krdma_mr_alloc(self->pair.session, self->pair.device, 2 << 20,
				    KRDMA_ACCESS_LOCAL_WRITE, &mr));
	EXPECT_EQ(1, huge_pages("HugePages_Free: %ld"));
	EXPECT_EQ(0, huge_pages("HugePages_Rsvd: %ld"));
	EXPECT_EQ(0, krdma_mr_deregister(mr, 0));
	EXPECT_EQ(0, huge_page_put());
}

/* Proves: D3 */
TEST_F(mr, what_a_peer_is_told)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE], broken[KRDMA_MR_DESC_SIZE];
	struct krdma_remote_mr remote = {};
	struct krdma_mr *mr;
	int refused = 0;

	ASSERT_EQ(0, krdma_mr_register(self->pair.session, self->pair.device, self->pages,
				       8 * PAGE, KRDMA_ACCESS_LOCAL_WRITE |
				       KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE,
				       &mr));
	ASSERT_EQ(0, krdma_mr_describe(mr, PAGE, 100, descriptor));
	ASSERT_EQ(0, krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote));
	EXPECT_EQ((uintptr_t)self->pages + PAGE, remote.addr);
	EXPECT_EQ(100, remote.length);
	EXPECT_EQ(krdma_mr_rkey(mr), remote.key);
	EXPECT_EQ(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE, remote.access);
	ASSERT_EQ(0, krdma_mr_describe(mr, PAGE, 0, descriptor));
	ASSERT_EQ(0, krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote));
	EXPECT_EQ(7 * PAGE, remote.length);
	EXPECT_EQ(-ERANGE, krdma_mr_describe(mr, 0, 8 * PAGE + 1, descriptor));
	EXPECT_EQ(0, krdma_mr_deregister(mr, 0));

	/* Data that are no memory descriptor. */
	for (size_t length = 0; length < sizeof(descriptor); length++)
		EXPECT_EQ(-EINVAL, krdma_remote_mr_from_desc(descriptor, length, &remote));
	for (size_t i = 0; i < sizeof(descriptor); i++) {
		memcpy(broken, descriptor, sizeof(broken));
		broken[i] ^= 0xff;
		refused += !!krdma_remote_mr_from_desc(broken, sizeof(broken), &remote);
	}
	/* Magic, version, the reserved field, unknown access rights. */
	EXPECT_EQ(4 + 2 + 2 + 4, refused);
	/* To the end of the address space, and beyond it; no length; no access rights. */
	memset(descriptor + 8, 0xff, 8);
	memset(descriptor + 16, 0, 8);
	descriptor[16] = 1;
	EXPECT_EQ(-EINVAL, krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote));
	descriptor[8] = 0xfe;
	EXPECT_EQ(0, krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote));
	descriptor[16] = 0;
	EXPECT_EQ(-EINVAL, krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote));
	descriptor[16] = 1;
	descriptor[28] = 0;
	EXPECT_EQ(-EINVAL, krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote));

	ASSERT_EQ(0, krdma_mr_register(self->pair.session, self->pair.device, self->pages,
				       PAGE, KRDMA_ACCESS_LOCAL_WRITE, &mr));
	EXPECT_EQ(-EACCES, krdma_mr_describe(mr, 0, 0, descriptor));
	EXPECT_EQ(0, krdma_mr_deregister(mr, 0));
}

TEST_F(mr, released_while_in_use)
{
	struct krdma_mr *mr;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	size_t taken;

	ASSERT_EQ(0, krdma_mr_alloc(self->pair.session, self->pair.device, PAGE,
				    KRDMA_ACCESS_LOCAL_WRITE, &mr));
	entry = krdma_entry_recv(self->pair.b, 1, mr, 0, 64);
	ASSERT_EQ(0, krdma_ring_post(self->pair.rings[1], &entry, 1, NULL));
	EXPECT_EQ(-EBUSY, krdma_mr_deregister(mr, 0));
	EXPECT_EQ(-EOPNOTSUPP, krdma_mr_deregister(mr, 1u << 31));
	EXPECT_EQ(PAGE, krdma_mr_length(mr));
	EXPECT_EQ(0, krdma_mr_deregister(mr, KRDMA_DEREGISTER_LATER));
	entry = krdma_entry_send_inline(self->pair.a, 2, "late", 4);
	ASSERT_EQ(0, krdma_ring_post(self->pair.rings[0], &entry, 1, NULL));
	ASSERT_EQ(0, krdma_ring_wait(self->pair.rings[1], &cqe, 1, 1, LIB_PATIENCE, &taken));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
}

TEST_F(mr, too_much)
{
	struct rlimit few = { .rlim_cur = PAGE, .rlim_max = PAGE };
	struct krdma_mr *mr;

	/* Drop the privilege that exempts this process from the limit. */
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &few));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	EXPECT_EQ(-ENOMEM, krdma_mr_alloc(self->pair.session, self->pair.device, 4 << 20,
					  lib_pair_access(&self->pair), &mr));
	EXPECT_EQ(-EINVAL, krdma_mr_alloc(self->pair.session, self->pair.device, 0,
					  lib_pair_access(&self->pair), &mr));
	EXPECT_EQ(-ENODEV, krdma_mr_alloc(self->pair.session, 0x7fffffff, PAGE, ACCESS_ALL,
					  &mr));
}

static uint32_t got(FIXTURE_DATA(mr) * self, size_t offset, size_t length,
		    struct krdma_mr **mr)
{
	int err = krdma_mr_cache_get(self->cache, self->pages + offset, length, mr);

	return err ? 0 : krdma_mr_id(*mr);
}

/* Proves: E11 */
TEST_F(mr, the_cache_finds_what_it_has)
{
	struct krdma_mr *one, *other, *third;
	uint32_t id, id2;

	id = got(self, 0, 100, &one);
	ASSERT_NE(0, id);
	/* The same page, while the MR is in use and afterwards. */
	EXPECT_EQ(id, got(self, 200, PAGE - 200, &other));
	EXPECT_TRUE((char *)krdma_mr_data(one) <= self->pages);
	krdma_mr_cache_put(self->cache, one);
	krdma_mr_cache_put(self->cache, other);
	EXPECT_EQ(id, got(self, PAGE - 1, 1, &one));
	/* One byte more extends into another page. */
	id2 = got(self, PAGE - 1, 2, &other);
	EXPECT_NE(id, id2);
	EXPECT_NE(0, id2);
	/* From then on the larger MR serves both ranges. */
	EXPECT_EQ(id2, got(self, 0, 10, &third));
	krdma_mr_cache_put(self->cache, one);
	krdma_mr_cache_put(self->cache, other);
	krdma_mr_cache_put(self->cache, third);
	EXPECT_EQ(-EINVAL, krdma_mr_cache_get(self->cache, self->pages, 0, &one));
	EXPECT_EQ(-EINVAL, krdma_mr_cache_get(self->cache, self->pages, SIZE_MAX, &one));
	krdma_mr_cache_put(self->cache, NULL);
}

TEST_F(mr, the_cache_works_for_operations)
{
	struct krdma_mr *from, *to;
	struct krdma_sqe entries[2];
	size_t accepted, taken;
	struct krdma_cqe cqe;

	fill(self->pages + 10, 300, 1);
	ASSERT_NE(0, got(self, 10, 300, &from));
	ASSERT_NE(0, got(self, 8 * PAGE + 77, 300, &to));
	entries[0] = krdma_entry_recv(self->pair.b, 1, to,
				      self->pages + 8 * PAGE + 77 -
				      (char *)krdma_mr_data(to), 300);
	ASSERT_EQ(0, krdma_ring_post(self->pair.rings[1], entries, 1, NULL));
	entries[1] = krdma_entry_send(self->pair.a, 2, from,
				      self->pages + 10 - (char *)krdma_mr_data(from), 300);
	ASSERT_EQ(0, krdma_ring_enter(self->pair.rings[0], entries + 1, 1, &accepted, &cqe, 1, 1,
				      LIB_PATIENCE, &taken));
	ASSERT_EQ(0, krdma_ring_wait(self->pair.rings[1], &cqe, 1, 1, LIB_PATIENCE, &taken));
	EXPECT_TRUE(filled(self->pages + 8 * PAGE + 77, 300, 1));
	krdma_mr_cache_put(self->cache, from);
	krdma_mr_cache_put(self->cache, to);
}

TEST_F(mr, the_cache_keeps_no_more_than_it_may)
{
	struct krdma_mr *mr;
	uint32_t ids[24];
	long before = pinned_kb();

	/* Every second page, so that no MRs can be merged. */
	for (int i = 0; i < 24; i++) {
		ids[i] = got(self, 2 * i * PAGE, 1, &mr);
		ASSERT_NE(0, ids[i]);
		krdma_mr_cache_put(self->cache, mr);
	}
	EXPECT_EQ(before + 16 * (long)PAGE / 1024, pinned_kb());
	/* The cache holds the last MRs, but not the first. */
	EXPECT_EQ(ids[23], got(self, 2 * 23 * PAGE, 1, &mr));
	krdma_mr_cache_put(self->cache, mr);
	EXPECT_EQ(ids[8], got(self, 2 * 8 * PAGE, 1, &mr));
	krdma_mr_cache_put(self->cache, mr);
	EXPECT_NE(ids[7], got(self, 2 * 7 * PAGE, 1, &mr));
	krdma_mr_cache_put(self->cache, mr);
	/* That evicted the least recently used MR, not the one that was just used. */
	EXPECT_EQ(ids[8], got(self, 2 * 8 * PAGE, 1, &mr));
	krdma_mr_cache_put(self->cache, mr);
	krdma_mr_cache_forget(self->cache, self->pages, PAGES * PAGE);
	EXPECT_EQ(before, pinned_kb());
}

TEST_F(mr, the_cache_forgets)
{
	struct krdma_mr *used, *unused, *again;
	long before = pinned_kb();
	uint32_t id;

	id = got(self, 0, PAGE, &used);
	ASSERT_NE(0, id);
	ASSERT_NE(0, got(self, 4 * PAGE, 2 * PAGE, &unused));
	krdma_mr_cache_put(self->cache, unused);
	/* Ranges next to cached MRs have no effect. */
	krdma_mr_cache_forget(self->cache, self->pages + 6 * PAGE, PAGE);
	krdma_mr_cache_forget(self->cache, self->pages + PAGE, 3 * PAGE);
	EXPECT_EQ(before + 3 * (long)PAGE / 1024, pinned_kb());
	/* A range that overlaps by one byte suffices. */
	krdma_mr_cache_forget(self->cache, self->pages + 6 * PAGE - 1, 1);
	EXPECT_EQ(before + (long)PAGE / 1024, pinned_kb());
	/* An MR in use ends when it is put, and no other lookup finds it. */
	krdma_mr_cache_forget(self->cache, self->pages, 1);
	EXPECT_EQ(before + (long)PAGE / 1024, pinned_kb());
	EXPECT_NE(id, got(self, 0, PAGE, &again));
	krdma_mr_cache_put(self->cache, again);
	krdma_mr_cache_put(self->cache, used);
	EXPECT_EQ(before + (long)PAGE / 1024, pinned_kb());
}

/* The cache drops unused MRs when a registration would exceed the limit. */
TEST_F(mr, the_cache_and_a_limit)
{
	long before = pinned_kb() * 1024;
	struct rlimit few = { .rlim_cur = before + 8 * PAGE, .rlim_max = before + 8 * PAGE };
	struct krdma_mr *mr;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &few));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	for (int i = 0; i < 6; i++) {
		ASSERT_NE(0, got(self, 2 * i * PAGE, 1, &mr));
		krdma_mr_cache_put(self->cache, mr);
	}
	EXPECT_EQ(0, krdma_mr_cache_get(self->cache, self->pages + 32 * PAGE, 8 * PAGE, &mr));
	krdma_mr_cache_put(self->cache, mr);
	EXPECT_EQ(-ENOMEM, krdma_mr_cache_get(self->cache, self->pages + 32 * PAGE, 9 * PAGE,
					      &mr));
}

/* A peer with access to a buffer has no access to the memory next to it. */
TEST_F(mr, the_cache_does_not_widen_what_peers_reach)
{
	struct krdma_mr *mr, *other;
	struct krdma_mr_cache *cache;

	ASSERT_EQ(0, krdma_mr_cache_create(self->pair.session, self->pair.device,
					   KRDMA_ACCESS_REMOTE_READ, PAGE, &cache));
	ASSERT_EQ(0, krdma_mr_cache_get(cache, self->pages + 100, 50, &mr));
	EXPECT_EQ(self->pages + 100, krdma_mr_data(mr));
	EXPECT_EQ(50, krdma_mr_length(mr));
	ASSERT_EQ(0, krdma_mr_cache_get(cache, self->pages + 100, 51, &other));
	EXPECT_NE(krdma_mr_id(mr), krdma_mr_id(other));
	krdma_mr_cache_put(cache, mr);
	krdma_mr_cache_put(cache, other);
	krdma_mr_cache_destroy(cache);
}

struct crowd {
	struct krdma_mr_cache *cache;
	char *pages;
	atomic_int errors;
};

static void *use_cache(void *argument)
{
	struct crowd *crowd = argument;
	unsigned int seed = (unsigned int)(uintptr_t)&seed;

	for (unsigned int i = 0; i < rounds(400, 60); i++) {
		size_t at = rand_r(&seed) % (PAGES * PAGE - 4 * PAGE);
		size_t length = 1 + rand_r(&seed) % (4 * PAGE);
		struct krdma_mr *mr;
		char *data;

		if (i % 16 == 0) {
			krdma_mr_cache_forget(crowd->cache, crowd->pages + at, length);
			continue;
		}
		if (krdma_mr_cache_get(crowd->cache, crowd->pages + at, length, &mr)) {
			crowd->errors++;
			continue;
		}
		data = krdma_mr_data(mr);
		if (data > crowd->pages + at ||
		    data + krdma_mr_length(mr) < crowd->pages + at + length)
			crowd->errors++;
		krdma_mr_cache_put(crowd->cache, mr);
	}
	return NULL;
}

TEST_F(mr, the_cache_with_many_threads)
{
	struct crowd crowd = { .cache = self->cache, .pages = self->pages };
	long before = pinned_kb();
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, use_cache, &crowd));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, crowd.errors);
	krdma_mr_cache_forget(self->cache, self->pages, PAGES * PAGE);
	EXPECT_EQ(before, pinned_kb());
}

TEST_HARNESS_MAIN
