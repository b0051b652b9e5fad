// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma: registered memory, what peers are told of it, and the cache.
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

FIXTURE(memory)
{
	struct lib_pair pair;
	struct krdma_cache *cache;
	char *pages;
};

FIXTURE_SETUP(memory)
{
	ASSERT_EQ(0, lib_pair_open(&self->pair, LIB_ADDRESS, 0));
	ASSERT_EQ(0, krdma_cache_create(self->pair.session, self->pair.device,
					KRDMA_ACCESS_LOCAL_WRITE, 16 * PAGE, &self->cache));
	self->pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->pages != MAP_FAILED);
}

FIXTURE_TEARDOWN(memory)
{
	lib_pair_close(&self->pair);
	krdma_cache_destroy(self->cache);
	EXPECT_EQ(0, krdma_close(self->pair.session));
	munmap(self->pages, PAGES * PAGE);
}

/* Registered memory of the process, in kB, as the kernel counts it. */
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

TEST_F(memory, created_memory_is_zero_and_goes)
{
	static const size_t lengths[] = { 1, PAGE, 100000, 2 << 20, (4 << 20) + 1 };
	long before = pinned_kb();

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct krdma_memory *memory;

		ASSERT_EQ(0, krdma_memory_create(self->pair.session, self->pair.device,
						 lengths[i], ACCESS_ALL, &memory));
		EXPECT_EQ(lengths[i], krdma_memory_length(memory));
		EXPECT_NE(0, krdma_memory_id(memory));
		EXPECT_NE(0, krdma_memory_key(memory));
		EXPECT_TRUE(zeroed(krdma_memory_data(memory), lengths[i]));
		EXPECT_EQ(0, krdma_memory_advise(memory, KRDMA_ADVICE_READ, 0, 1));
		EXPECT_EQ(-ERANGE, krdma_memory_advise(memory, KRDMA_ADVICE_READ, 0,
						       lengths[i] + 1));
		EXPECT_EQ(0, krdma_memory_release(memory, 0));
	}
	EXPECT_EQ(before, pinned_kb());
	EXPECT_EQ(0, krdma_memory_release(NULL, 0));
}

/* The pages that have been set aside and that nobody has. */
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

/* They are for the programs that were told to use them. */
TEST_F(memory, pages_that_were_set_aside_stay_aside)
{
	struct krdma_memory *memory;

	ASSERT_EQ(0, huge_page_get());
	EXPECT_EQ(1, huge_pages("HugePages_Free: %ld"));
	ASSERT_EQ(0, krdma_memory_create(self->pair.session, self->pair.device, 2 << 20,
					 KRDMA_ACCESS_LOCAL_WRITE, &memory));
	EXPECT_EQ(1, huge_pages("HugePages_Free: %ld"));
	EXPECT_EQ(0, huge_pages("HugePages_Rsvd: %ld"));
	EXPECT_EQ(0, krdma_memory_release(memory, 0));
	EXPECT_EQ(0, huge_page_put());
}

/* Proves: D3 */
TEST_F(memory, what_a_peer_is_told)
{
	unsigned char descriptor[KRDMA_DESCRIPTOR_SIZE], broken[KRDMA_DESCRIPTOR_SIZE];
	struct krdma_remote remote = {};
	struct krdma_memory *memory;
	int refused = 0;

	ASSERT_EQ(0, krdma_memory_register(self->pair.session, self->pair.device, self->pages,
					   8 * PAGE, KRDMA_ACCESS_LOCAL_WRITE |
					   KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE,
					   &memory));
	ASSERT_EQ(0, krdma_memory_describe(memory, PAGE, 100, descriptor));
	ASSERT_EQ(0, krdma_remote_read(descriptor, sizeof(descriptor), &remote));
	EXPECT_EQ((uintptr_t)self->pages + PAGE, remote.addr);
	EXPECT_EQ(100, remote.length);
	EXPECT_EQ(krdma_memory_key(memory), remote.key);
	EXPECT_EQ(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE, remote.access);
	ASSERT_EQ(0, krdma_memory_describe(memory, PAGE, 0, descriptor));
	ASSERT_EQ(0, krdma_remote_read(descriptor, sizeof(descriptor), &remote));
	EXPECT_EQ(7 * PAGE, remote.length);
	EXPECT_EQ(-ERANGE, krdma_memory_describe(memory, 0, 8 * PAGE + 1, descriptor));
	EXPECT_EQ(0, krdma_memory_release(memory, 0));

	/* What else may have come instead of it. */
	for (size_t length = 0; length < sizeof(descriptor); length++)
		EXPECT_EQ(-EINVAL, krdma_remote_read(descriptor, length, &remote));
	for (size_t i = 0; i < sizeof(descriptor); i++) {
		memcpy(broken, descriptor, sizeof(broken));
		broken[i] ^= 0xff;
		refused += !!krdma_remote_read(broken, sizeof(broken), &remote);
	}
	/* Magic, version, the field that is zero, unknown rights. */
	EXPECT_EQ(4 + 2 + 2 + 4, refused);
	/* To the end of all addresses, and beyond it; no length; no rights. */
	memset(descriptor + 8, 0xff, 8);
	memset(descriptor + 16, 0, 8);
	descriptor[16] = 1;
	EXPECT_EQ(-EINVAL, krdma_remote_read(descriptor, sizeof(descriptor), &remote));
	descriptor[8] = 0xfe;
	EXPECT_EQ(0, krdma_remote_read(descriptor, sizeof(descriptor), &remote));
	descriptor[16] = 0;
	EXPECT_EQ(-EINVAL, krdma_remote_read(descriptor, sizeof(descriptor), &remote));
	descriptor[16] = 1;
	descriptor[28] = 0;
	EXPECT_EQ(-EINVAL, krdma_remote_read(descriptor, sizeof(descriptor), &remote));

	ASSERT_EQ(0, krdma_memory_register(self->pair.session, self->pair.device, self->pages,
					   PAGE, KRDMA_ACCESS_LOCAL_WRITE, &memory));
	EXPECT_EQ(-EACCES, krdma_memory_describe(memory, 0, 0, descriptor));
	EXPECT_EQ(0, krdma_memory_release(memory, 0));
}

TEST_F(memory, released_while_in_use)
{
	struct krdma_memory *memory;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	size_t taken;

	ASSERT_EQ(0, krdma_memory_create(self->pair.session, self->pair.device, PAGE,
					 KRDMA_ACCESS_LOCAL_WRITE, &memory));
	entry = krdma_entry_receive(self->pair.b, 1, memory, 0, 64);
	ASSERT_EQ(0, krdma_queue_post(self->pair.queues[1], &entry, 1, NULL));
	EXPECT_EQ(-EBUSY, krdma_memory_release(memory, 0));
	EXPECT_EQ(-EOPNOTSUPP, krdma_memory_release(memory, 1u << 31));
	EXPECT_EQ(PAGE, krdma_memory_length(memory));
	EXPECT_EQ(0, krdma_memory_release(memory, KRDMA_RELEASE_LATER));
	entry = krdma_entry_send_inline(self->pair.a, 2, "late", 4);
	ASSERT_EQ(0, krdma_queue_post(self->pair.queues[0], &entry, 1, NULL));
	ASSERT_EQ(0, krdma_queue_wait(self->pair.queues[1], &cqe, 1, 1, LIB_PATIENCE, &taken));
	EXPECT_EQ(KRDMA_STATUS_SUCCESS, cqe.status);
}

TEST_F(memory, too_much)
{
	struct rlimit few = { .rlim_cur = PAGE, .rlim_max = PAGE };
	struct krdma_memory *memory;

	/* The one who is not limited gives that up. */
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &few));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	EXPECT_EQ(-ENOMEM, krdma_memory_create(self->pair.session, self->pair.device, 4 << 20,
					       ACCESS_ALL, &memory));
	EXPECT_EQ(-EINVAL, krdma_memory_create(self->pair.session, self->pair.device, 0,
					       ACCESS_ALL, &memory));
	EXPECT_EQ(-ENODEV, krdma_memory_create(self->pair.session, 0x7fffffff, PAGE, ACCESS_ALL,
					       &memory));
}

static uint32_t got(FIXTURE_DATA(memory) * self, size_t offset, size_t length,
		    struct krdma_memory **memory)
{
	int err = krdma_cache_get(self->cache, self->pages + offset, length, memory);

	return err ? 0 : krdma_memory_id(*memory);
}

TEST_F(memory, the_cache_finds_what_it_has)
{
	struct krdma_memory *one, *other, *third;
	uint32_t id, id2;

	id = got(self, 0, 100, &one);
	ASSERT_NE(0, id);
	/* In the same page, while it is in use and after that. */
	EXPECT_EQ(id, got(self, 200, PAGE - 200, &other));
	EXPECT_TRUE((char *)krdma_memory_data(one) <= self->pages);
	krdma_cache_put(self->cache, one);
	krdma_cache_put(self->cache, other);
	EXPECT_EQ(id, got(self, PAGE - 1, 1, &one));
	/* One byte more is another page. */
	id2 = got(self, PAGE - 1, 2, &other);
	EXPECT_NE(id, id2);
	EXPECT_NE(0, id2);
	/* From then on the wide one serves for both. */
	EXPECT_EQ(id2, got(self, 0, 10, &third));
	krdma_cache_put(self->cache, one);
	krdma_cache_put(self->cache, other);
	krdma_cache_put(self->cache, third);
	EXPECT_EQ(-EINVAL, krdma_cache_get(self->cache, self->pages, 0, &one));
	EXPECT_EQ(-EINVAL, krdma_cache_get(self->cache, self->pages, SIZE_MAX, &one));
	krdma_cache_put(self->cache, NULL);
}

TEST_F(memory, the_cache_works_for_operations)
{
	struct krdma_memory *from, *to;
	struct krdma_sqe entries[2];
	size_t accepted, taken;
	struct krdma_cqe cqe;

	fill(self->pages + 10, 300, 1);
	ASSERT_NE(0, got(self, 10, 300, &from));
	ASSERT_NE(0, got(self, 8 * PAGE + 77, 300, &to));
	entries[0] = krdma_entry_receive(self->pair.b, 1, to,
					 self->pages + 8 * PAGE + 77 -
					 (char *)krdma_memory_data(to), 300);
	ASSERT_EQ(0, krdma_queue_post(self->pair.queues[1], entries, 1, NULL));
	entries[1] = krdma_entry_send(self->pair.a, 2, from,
				      self->pages + 10 - (char *)krdma_memory_data(from), 300);
	ASSERT_EQ(0, krdma_queue_run(self->pair.queues[0], entries + 1, 1, &accepted, &cqe, 1, 1,
				     LIB_PATIENCE, &taken));
	ASSERT_EQ(0, krdma_queue_wait(self->pair.queues[1], &cqe, 1, 1, LIB_PATIENCE, &taken));
	EXPECT_TRUE(filled(self->pages + 8 * PAGE + 77, 300, 1));
	krdma_cache_put(self->cache, from);
	krdma_cache_put(self->cache, to);
}

TEST_F(memory, the_cache_keeps_no_more_than_it_may)
{
	struct krdma_memory *memory;
	uint32_t ids[24];
	long before = pinned_kb();

	/* Each second page: none can be joined. */
	for (int i = 0; i < 24; i++) {
		ids[i] = got(self, 2 * i * PAGE, 1, &memory);
		ASSERT_NE(0, ids[i]);
		krdma_cache_put(self->cache, memory);
	}
	EXPECT_EQ(before + 16 * (long)PAGE / 1024, pinned_kb());
	/* The last ones are there, the first are not. */
	EXPECT_EQ(ids[23], got(self, 2 * 23 * PAGE, 1, &memory));
	krdma_cache_put(self->cache, memory);
	EXPECT_EQ(ids[8], got(self, 2 * 8 * PAGE, 1, &memory));
	krdma_cache_put(self->cache, memory);
	EXPECT_NE(ids[7], got(self, 2 * 7 * PAGE, 1, &memory));
	krdma_cache_put(self->cache, memory);
	/* Which pushed out the one that was longest unused: not the one asked for just now. */
	EXPECT_EQ(ids[8], got(self, 2 * 8 * PAGE, 1, &memory));
	krdma_cache_put(self->cache, memory);
	krdma_cache_forget(self->cache, self->pages, PAGES * PAGE);
	EXPECT_EQ(before, pinned_kb());
}

TEST_F(memory, the_cache_forgets)
{
	struct krdma_memory *used, *unused, *again;
	long before = pinned_kb();
	uint32_t id;

	id = got(self, 0, PAGE, &used);
	ASSERT_NE(0, id);
	ASSERT_NE(0, got(self, 4 * PAGE, 2 * PAGE, &unused));
	krdma_cache_put(self->cache, unused);
	/* Beside them: nothing happens. */
	krdma_cache_forget(self->cache, self->pages + 6 * PAGE, PAGE);
	krdma_cache_forget(self->cache, self->pages + PAGE, 3 * PAGE);
	EXPECT_EQ(before + 3 * (long)PAGE / 1024, pinned_kb());
	/* One byte of it is enough. */
	krdma_cache_forget(self->cache, self->pages + 6 * PAGE - 1, 1);
	EXPECT_EQ(before + (long)PAGE / 1024, pinned_kb());
	/* In use: it ends with its user, and is found by nobody else. */
	krdma_cache_forget(self->cache, self->pages, 1);
	EXPECT_EQ(before + (long)PAGE / 1024, pinned_kb());
	EXPECT_NE(id, got(self, 0, PAGE, &again));
	krdma_cache_put(self->cache, again);
	krdma_cache_put(self->cache, used);
	EXPECT_EQ(before + (long)PAGE / 1024, pinned_kb());
}

/* What is kept for later makes way for what is needed now. */
TEST_F(memory, the_cache_and_a_limit)
{
	long before = pinned_kb() * 1024;
	struct rlimit few = { .rlim_cur = before + 8 * PAGE, .rlim_max = before + 8 * PAGE };
	struct krdma_memory *memory;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &few));
	ASSERT_EQ(0, setresuid(65534, 65534, 65534));
	for (int i = 0; i < 6; i++) {
		ASSERT_NE(0, got(self, 2 * i * PAGE, 1, &memory));
		krdma_cache_put(self->cache, memory);
	}
	EXPECT_EQ(0, krdma_cache_get(self->cache, self->pages + 32 * PAGE, 8 * PAGE, &memory));
	krdma_cache_put(self->cache, memory);
	EXPECT_EQ(-ENOMEM, krdma_cache_get(self->cache, self->pages + 32 * PAGE, 9 * PAGE,
					   &memory));
}

/* A peer that may reach a buffer does not reach what lies beside it. */
TEST_F(memory, the_cache_does_not_widen_what_peers_reach)
{
	struct krdma_memory *memory, *other;
	struct krdma_cache *cache;

	ASSERT_EQ(0, krdma_cache_create(self->pair.session, self->pair.device,
					KRDMA_ACCESS_REMOTE_READ, PAGE, &cache));
	ASSERT_EQ(0, krdma_cache_get(cache, self->pages + 100, 50, &memory));
	EXPECT_EQ(self->pages + 100, krdma_memory_data(memory));
	EXPECT_EQ(50, krdma_memory_length(memory));
	ASSERT_EQ(0, krdma_cache_get(cache, self->pages + 100, 51, &other));
	EXPECT_NE(krdma_memory_id(memory), krdma_memory_id(other));
	krdma_cache_put(cache, memory);
	krdma_cache_put(cache, other);
	krdma_cache_destroy(cache);
}

struct crowd {
	struct krdma_cache *cache;
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
		struct krdma_memory *memory;
		char *data;

		if (i % 16 == 0) {
			krdma_cache_forget(crowd->cache, crowd->pages + at, length);
			continue;
		}
		if (krdma_cache_get(crowd->cache, crowd->pages + at, length, &memory)) {
			crowd->errors++;
			continue;
		}
		data = krdma_memory_data(memory);
		if (data > crowd->pages + at ||
		    data + krdma_memory_length(memory) < crowd->pages + at + length)
			crowd->errors++;
		krdma_cache_put(crowd->cache, memory);
	}
	return NULL;
}

TEST_F(memory, the_cache_with_many_threads)
{
	struct crowd crowd = { .cache = self->cache, .pages = self->pages };
	long before = pinned_kb();
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, use_cache, &crowd));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, crowd.errors);
	krdma_cache_forget(self->cache, self->pages, PAGES * PAGE);
	EXPECT_EQ(before, pinned_kb());
}

TEST_HARNESS_MAIN
