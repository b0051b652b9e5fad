// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: their ioctls and their accounting.
 *
 * Each test runs twice: with MRs of the device's driver, and with memory pinned by krdma.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

/* Small enough for one MR when krdma pins the pages: at most 512 pages. */
#define LENGTH		(16 * 4096)
#define PAGE		4096
#define LOCAL		KRDMA_ACCESS_LOCAL_WRITE

static void *pages(size_t length, int protection)
{
	void *data = mmap(NULL, length, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

FIXTURE(mr)
{
	int session;
	uint32_t device;
	unsigned char *data;
};

FIXTURE_VARIANT(mr)
{
	const char *force_pin;
	size_t longest;
};

FIXTURE_VARIANT_ADD(mr, driver)
{
	.force_pin = "0",
	.longest = 4 << 20,
};

FIXTURE_VARIANT_ADD(mr, pinned)
{
	.force_pin = "1",
	.longest = 4 << 20,
};

FIXTURE_SETUP(mr)
{
	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, boot_device(self->session, &self->device));
	self->data = pages(LENGTH, PROT_READ | PROT_WRITE);
	ASSERT_TRUE(!!self->data);
}

FIXTURE_TEARDOWN(mr)
{
	munmap(self->data, LENGTH);
	close(self->session);
	write_text(FORCE_PIN, "0");
}

/*
 * Requests
 */

TEST_F(mr, what_cannot_be_registered)
{
	const uint64_t data = (uintptr_t)self->data;
	/* PROT_NONE forbids any access, but older kernels let a device read the memory. */
	const uint64_t none = (uintptr_t)pages(LENGTH, PROT_NONE);
	const uint64_t readable = (uintptr_t)pages(LENGTH, PROT_READ);
	/* The second half is unmapped. */
	const uint64_t half = (uintptr_t)pages(LENGTH, PROT_READ | PROT_WRITE);
	const struct {
		uint64_t addr;
		uint64_t length;
		uint32_t device;
		uint32_t access;
		uint32_t flags;
		int error;
	} cases[] = {
		{ data, LENGTH, self->device, LOCAL, 4, -EOPNOTSUPP },
		{ data, LENGTH, self->device, LOCAL, KRDMA_MR_REGISTER_WINDOWS, -EINVAL },
		{ data, LENGTH, self->device, LOCAL, 1U << 31, -EOPNOTSUPP },
		{ data, 0, self->device, LOCAL, 0, -EINVAL },
		{ 0, 0, self->device, LOCAL, 0, -EINVAL },
		{ data, LENGTH, 0, LOCAL, 0, -ENODEV },
		{ data, LENGTH, UINT32_MAX, LOCAL, 0, -ENODEV },
		{ data, LENGTH, self->device, KRDMA_ACCESS_REMOTE_WRITE, 0, -EINVAL },
		{ data, LENGTH, self->device, KRDMA_ACCESS_REMOTE_ATOMIC, 0, -EINVAL },
		{ 0, LENGTH, self->device, LOCAL, 0, -EFAULT },
		{ none, LENGTH, self->device, LOCAL, 0, -EFAULT },
		{ readable, LENGTH, self->device, LOCAL, 0, -EFAULT },
		{ half, LENGTH, self->device, 0, 0, -EFAULT },
		{ half, LENGTH, self->device, LOCAL, 0, -EFAULT },
		{ half + LENGTH / 2 - 1, 2, self->device, LOCAL, 0, -EFAULT },
		{ data, UINT64_MAX, self->device, LOCAL, 0, -EFAULT },
		{ data, UINT64_MAX - data + 1, self->device, LOCAL, 0, -EFAULT },
		{ UINT64_MAX, 1, self->device, LOCAL, 0, -EFAULT },
		{ 0xffff888000000000, LENGTH, self->device, LOCAL, 0, -EFAULT },
		{ 1ULL << 63, LENGTH, self->device, LOCAL, 0, -EFAULT },
	};
	struct resources before;

	ASSERT_EQ(0, munmap((void *)(uintptr_t)(half + LENGTH / 2), LENGTH / 2));
	ASSERT_EQ(0, resources_read(&before));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct krdma_mr_register_args request = {
			.size = sizeof(request),
			.flags = cases[i].flags,
			.addr = cases[i].addr,
			.length = cases[i].length,
			.device_id = cases[i].device,
			.access = cases[i].access,
		};

		EXPECT_EQ(cases[i].error,
			  session_request(self->session, KRDMA_MR_REGISTER, &request)) {
			TH_LOG("case %zu", i);
		}
	}
	for (int bit = 4; bit < 32; bit++) {
		struct mr mr;

		EXPECT_EQ(-EOPNOTSUPP, mr_register(self->session, self->device, self->data,
						   LENGTH, 1U << bit | LOCAL, &mr)) {
			TH_LOG("right %d", bit);
		}
	}
	EXPECT_EQ(0, resources_await(&before, PATIENCE_MS));
}

TEST_F(mr, places_and_lengths)
{
	static const uint32_t offsets[] = { 0, 1, 8, 4095, 4096, 4097 };
	static const uint32_t lengths[] = { 1, 2, 4095, 4096, 4097, 8192, LENGTH - 2 * PAGE };
	struct resources before;
	struct mr first;

	/* The session has its PD from the first one on. */
	ASSERT_EQ(0, mr_register(self->session, self->device, self->data, 1, ACCESS_ALL, &first));
	ASSERT_EQ(0, mr_deregister(self->session, first.id, 0));
	ASSERT_EQ(0, resources_read(&before));
	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(lengths); j++) {
			struct mr mr;

			EXPECT_EQ(0, mr_register(self->session, self->device,
						 self->data + offsets[i], lengths[j],
						 ACCESS_ALL, &mr)) {
				TH_LOG("%u bytes at %u", lengths[j], offsets[i]);
			}
			EXPECT_NE(0, mr.id);
			EXPECT_NE(0, mr.rkey);
			EXPECT_EQ((uintptr_t)self->data + offsets[i], mr.remote_addr);
			EXPECT_EQ(0, mr_deregister(self->session, mr.id, 0));
		}
	}
	/* A successful deregistration leaves nothing behind. */
	EXPECT_EQ(0, resources_await(&before, 0));
}

static int query_part(int session, uint32_t id, uint64_t offset, uint64_t length,
		      struct krdma_mr_query_args *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	query->id = id;
	query->part_offset = offset;
	query->part_length = length;
	return session_request(session, KRDMA_MR_QUERY, query);
}

TEST_F(mr, the_longest)
{
	struct mr mr;

	EXPECT_EQ(0, mr_create(self->session, self->device, variant->longest, ACCESS_ALL,
			       &mr));
	mr_destroy(&mr);
}

#define TRACING		"/sys/kernel/tracing"
#define PIN		TRACING "/events/kprobes/krdma_pin"

/* Lines of the trace that name the probe; -1: it cannot be read. */
static int pins(void)
{
	FILE *trace = fopen(TRACING "/trace", "re");
	char line[256];
	int count = 0;

	if (!trace)
		return -1;
	while (fgets(line, sizeof(line), trace))
		count += line[0] != '#' && strstr(line, "krdma_pin:");
	fclose(trace);
	return count;
}

/*
 * Pages that are there are pinned with interrupts off: no more than 512 in one call, however long
 * the memory is.
 */
TEST_F(mr, no_call_pins_many_pages)
{
	const size_t length = variant->longest / PAGE * PAGE;
	struct mr mr;
	int ret;

	mount("tracefs", TRACING, "tracefs", 0, NULL);
	ret = write_text(TRACING "/kprobe_events", "p:krdma_pin pin_user_pages_fast nr=%si:u32");
	if (ret == -ENOENT)
		SKIP(return, "this kernel has no events at probes");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, close(open(TRACING "/trace", O_WRONLY | O_CLOEXEC | O_TRUNC)));
	ASSERT_EQ(0, write_text(PIN "/enable", "1"));
	EXPECT_EQ(0, mr_create(self->session, self->device, length, ACCESS_ALL, &mr));
	/* Some drivers register nothing for krdma, and some pin by another function. */
	EXPECT_LE(variant->force_pin[0] == '1' ? 2 : 0, pins());
	mr_destroy(&mr);

	EXPECT_EQ(0, write_text(PIN "/enable", "0"));
	EXPECT_EQ(0, write_text(PIN "/filter", "nr > 512"));
	ASSERT_EQ(0, close(open(TRACING "/trace", O_WRONLY | O_CLOEXEC | O_TRUNC)));
	EXPECT_EQ(0, write_text(PIN "/enable", "1"));
	EXPECT_EQ(0, mr_create(self->session, self->device, length, ACCESS_ALL, &mr));
	EXPECT_EQ(0, pins());
	mr_destroy(&mr);
	EXPECT_EQ(0, write_text(PIN "/enable", "0"));
	EXPECT_EQ(0, write_text(TRACING "/kprobe_events", "-:krdma_pin"));
}

/* Memory too long for one device MR has several rkeys, which all end with the MR. */
/* Proves: D3 */
TEST_F(mr, a_key_for_each_part)
{
	size_t length = (3 << 20) + 100, reach = 0;
	unsigned char *data = pages(length + 7, PROT_READ | PROT_WRITE);
	struct krdma_mr_query_args query;
	unsigned int keys = 0;
	struct mr mr;

	ASSERT_NE(0, (uintptr_t)data);
	ASSERT_EQ(0, mr_register(self->session, self->device, data + 7, length, ACCESS_ALL,
				 &mr));
	for (size_t offset = 0; offset < length; offset += reach) {
		ASSERT_EQ(0, query_part(self->session, mr.id, offset, 0, &query));
		EXPECT_NE(0, query.part_key);
		reach = query.part_reach;
		ASSERT_NE(0, reach);
		ASSERT_GE(length - offset, reach);
		EXPECT_EQ(0, query_part(self->session, mr.id, offset, reach, &query));
		EXPECT_EQ(offset + reach == length ? -ERANGE : -EMSGSIZE,
			  query_part(self->session, mr.id, offset, reach + 1, &query));
		keys++;
	}
	ASSERT_EQ(0, query_part(self->session, mr.id, 0, 0, &query));
	EXPECT_EQ(keys, query.key_count);
	EXPECT_EQ(keys == 1, !!mr.rkey);
	EXPECT_EQ(keys == 1, !!query.rkey);
	/* A fast registration of rxe, and of the fake, has 512 pages. */
	EXPECT_EQ(variant->force_pin[0] == '0' && boot_driver_registers() ? 1 : 2, keys);
	EXPECT_EQ(0, mr_deregister(self->session, mr.id, 0));
	munmap(data, length + 7);
}

/* Proves: D3, E3 */
TEST_F(mr, all_rights)
{
	void *readable = pages(LENGTH, PROT_READ);
	uint32_t all = access_of_device(self->session, self->device, ACCESS_ALL);

	/* ACCESS_ALL itself means what the device has. */
	for (uint32_t access = 0; access <= all; access++) {
		bool writes = access & (KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC);
		int expected = 0;
		struct mr mr;

		if (writes && !(access & LOCAL))
			expected = -EINVAL;
		else if (access & ~all)
			expected = -EOPNOTSUPP;
		EXPECT_EQ(expected, mr_register(self->session, self->device, self->data,
						LENGTH, access, &mr)) {
			TH_LOG("rights %#x", access);
		}
		if (expected)
			continue;
		EXPECT_EQ(!!(access & ~LOCAL), !!mr.rkey);
		EXPECT_EQ(0, mr_deregister(self->session, mr.id, 0));

		/* Without write access the memory need not be writable. */
		expected = access & LOCAL ? -EFAULT : 0;
		EXPECT_EQ(expected, mr_register(self->session, self->device, readable, LENGTH,
						access, &mr));
	}
	munmap(readable, LENGTH);
}

/* If the result cannot be copied to the program, no MR remains. */
TEST_F(mr, no_answer_no_memory)
{
	struct krdma_mr_register_args *request = pages(PAGE, PROT_READ | PROT_WRITE);
	struct resources before;

	ASSERT_EQ(0, resources_read(&before));
	*request = (struct krdma_mr_register_args) {
		.size = sizeof(*request),
		.addr = (uintptr_t)self->data,
		.length = LENGTH,
		.device_id = self->device,
		.access = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ,
	};
	ASSERT_EQ(0, mprotect(request, PAGE, PROT_READ));
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(-EFAULT, session_request(self->session, KRDMA_MR_REGISTER, request));
	EXPECT_EQ(0, resources_await(&before, 0));
	for (uint32_t id = 0; id < 100; id++)
		EXPECT_EQ(-ENOENT, mr_deregister(self->session, id, KRDMA_DEREGISTER_LATER));
	munmap(request, PAGE);
}

TEST_F(mr, what_cannot_be_released)
{
	struct krdma_mr_deregister_args release = { .size = sizeof(release) };
	struct mr mr;

	ASSERT_EQ(0, mr_register(self->session, self->device, self->data, LENGTH, LOCAL,
				 &mr));
	release.id = mr.id;
	for (int bit = 1; bit < 32; bit++) {
		release.flags = 1U << bit;
		EXPECT_EQ(-EOPNOTSUPP,
			  session_request(self->session, KRDMA_MR_DEREGISTER, &release));
	}
	release.flags = 0;
	release.reserved = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(self->session, KRDMA_MR_DEREGISTER, &release));

	EXPECT_EQ(-ENOENT, mr_deregister(self->session, 0, 0));
	EXPECT_EQ(-ENOENT, mr_deregister(self->session, mr.id + 1, 0));
	EXPECT_EQ(-ENOENT, mr_deregister(self->session, INT32_MAX, 0));
	EXPECT_EQ(-ENOENT, mr_deregister(self->session, UINT32_MAX, KRDMA_DEREGISTER_LATER));
	EXPECT_EQ(0, mr_deregister(self->session, mr.id, 0));
	EXPECT_EQ(-ENOENT, mr_deregister(self->session, mr.id, 0));
	EXPECT_EQ(-ENOENT, mr_deregister(self->session, mr.id, KRDMA_DEREGISTER_LATER));
}

/* The ID of a deregistered MR is not used again soon. */
TEST_F(mr, numbers_are_not_used_again)
{
	uint32_t last = 0;

	for (int i = 0; i < 50; i++) {
		struct mr mr;

		ASSERT_EQ(0, mr_register(self->session, self->device, self->data, PAGE, LOCAL,
					 &mr));
		EXPECT_LT(last, mr.id);
		last = mr.id;
		EXPECT_EQ(0, mr_deregister(self->session, mr.id, 0));
	}
}

/* Proves: D3 */
TEST_F(mr, query)
{
	static const struct {
		uint64_t offset;
		uint64_t length;
		int error;
	} parts[] = {
		{ 0, 0, 0 }, { 0, LENGTH, 0 }, { LENGTH - 1, 1, 0 }, { LENGTH - 1, 0, 0 },
		{ 100, LENGTH - 100, 0 }, { LENGTH, 0, -ERANGE }, { LENGTH, 1, -ERANGE },
		{ 0, LENGTH + 1, -ERANGE }, { 1, LENGTH, -ERANGE }, { UINT64_MAX, 1, -ERANGE },
		{ UINT64_MAX, 0, -ERANGE }, { 1, UINT64_MAX, -ERANGE }, { 0, UINT64_MAX, -ERANGE },
	};
	struct krdma_mr_query_args query;
	struct mr mr;

	ASSERT_EQ(0, mr_register(self->session, self->device, self->data, LENGTH, ACCESS_ALL,
				 &mr));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		EXPECT_EQ(parts[i].error, query_part(self->session, mr.id, parts[i].offset,
						     parts[i].length, &query)) {
			TH_LOG("part %zu", i);
		}
		if (parts[i].error)
			continue;
		EXPECT_EQ(access_of_device(self->session, self->device, ACCESS_ALL), query.access);
		EXPECT_EQ((uintptr_t)self->data, query.addr);
		EXPECT_EQ(LENGTH, query.length);
		EXPECT_EQ(mr.remote_addr, query.remote_addr);
		EXPECT_EQ(mr.rkey, query.rkey);
		EXPECT_EQ(self->device, query.device_id);
		EXPECT_FALSE(zeroed(&query.descriptor, sizeof(query.descriptor)));
	}
	query.flags = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(self->session, KRDMA_MR_QUERY, &query));
	EXPECT_EQ(-ENOENT, query_part(self->session, mr.id + 1, 0, 0, &query));
	EXPECT_EQ(0, mr_deregister(self->session, mr.id, 0));
	EXPECT_EQ(-ENOENT, query_part(self->session, mr.id, 0, 0, &query));
}

TEST_F(mr, query_without_remote_rights)
{
	struct krdma_mr_query_args query;
	struct mr mr;

	ASSERT_EQ(0, mr_register(self->session, self->device, self->data, LENGTH, LOCAL,
				 &mr));
	memset(&query.descriptor, 0xff, sizeof(query.descriptor));
	EXPECT_EQ(0, query_part(self->session, mr.id, 0, 0, &query));
	EXPECT_EQ(0, query.rkey);
	EXPECT_TRUE(zeroed(&query.descriptor, sizeof(query.descriptor)));
	EXPECT_EQ(-ERANGE, query_part(self->session, mr.id, LENGTH, 0, &query));
}

/* Proves: D3 */
TEST_F(mr, advise)
{
	struct mr readable, writable;

	ASSERT_EQ(0, mr_register(self->session, self->device, self->data, LENGTH, 0,
				 &readable));
	ASSERT_EQ(0, mr_register(self->session, self->device, self->data, LENGTH, LOCAL,
				 &writable));
	const struct {
		uint32_t id;
		uint32_t flags;
		uint32_t advice;
		uint64_t offset;
		uint64_t length;
		int error;
	} cases[] = {
		{ readable.id, 0, KRDMA_ADVICE_READ, 0, LENGTH, 0 },
		{ readable.id, 0, KRDMA_ADVICE_READ, LENGTH - 1, 1, 0 },
		{ readable.id, 0, KRDMA_ADVICE_WRITE, 0, LENGTH, -EACCES },
		{ writable.id, 0, KRDMA_ADVICE_WRITE, 0, LENGTH, 0 },
		{ writable.id, 0, KRDMA_ADVICE_READ, 0, LENGTH, 0 },
		{ writable.id, 0, KRDMA_ADVICE_READ, 0, LENGTH + 1, -ERANGE },
		{ writable.id, 0, KRDMA_ADVICE_READ, 1, LENGTH, -ERANGE },
		{ writable.id, 0, KRDMA_ADVICE_READ, UINT64_MAX, 2, -ERANGE },
		{ writable.id, 0, 0, 0, LENGTH, -EINVAL },
		{ writable.id, 0, KRDMA_ADVICE_WRITE + 1, 0, LENGTH, -EINVAL },
		{ writable.id, 0, UINT32_MAX, 0, LENGTH, -EINVAL },
		{ writable.id, 1, KRDMA_ADVICE_READ, 0, LENGTH, -EOPNOTSUPP },
		{ writable.id + 1, 0, KRDMA_ADVICE_READ, 0, LENGTH, -ENOENT },
		{ 0, 0, KRDMA_ADVICE_READ, 0, LENGTH, -ENOENT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct krdma_mr_advise_args advise = {
			.size = sizeof(advise),
			.flags = cases[i].flags,
			.id = cases[i].id,
			.advice = cases[i].advice,
			.offset = cases[i].offset,
			.length = cases[i].length,
		};

		EXPECT_EQ(cases[i].error,
			  session_request(self->session, KRDMA_MR_ADVISE, &advise)) {
			TH_LOG("case %zu", i);
		}
	}
}

/*
 * Several threads at a time
 */

struct race {
	int session;
	uint32_t id;
	pthread_barrier_t *barrier;
	int ret;
};

static void *race_release(void *context)
{
	struct race *race = context;

	pthread_barrier_wait(race->barrier);
	race->ret = mr_deregister(race->session, race->id, 0);
	return NULL;
}

#define RACERS	4

TEST_F(mr, of_several_who_release_one_does)
{
	for (unsigned int round = 0; round < rounds(100, 20); round++) {
		pthread_barrier_t barrier;
		struct race races[RACERS];
		pthread_t threads[RACERS];
		struct mr mr;
		int done = 0;

		ASSERT_EQ(0, mr_register(self->session, self->device, self->data, PAGE, LOCAL,
					 &mr));
		pthread_barrier_init(&barrier, NULL, RACERS);
		for (int i = 0; i < RACERS; i++) {
			races[i] = (struct race) { self->session, mr.id, &barrier, 1 };
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, race_release, &races[i]));
		}
		for (int i = 0; i < RACERS; i++) {
			pthread_join(threads[i], NULL);
			done += !races[i].ret;
			if (races[i].ret)
				EXPECT_EQ(-ENOENT, races[i].ret);
		}
		EXPECT_EQ(1, done);
		pthread_barrier_destroy(&barrier);
	}
}

/*
 * RLIMIT_MEMLOCK
 */

FIXTURE(locked)
{
	mode_t mode;
};

FIXTURE_VARIANT(locked)
{
	const char *force_pin;
};

FIXTURE_VARIANT_ADD(locked, driver)
{
	.force_pin = "0",
};

FIXTURE_VARIANT_ADD(locked, pinned)
{
	.force_pin = "1",
};

FIXTURE_SETUP(locked)
{
	struct stat status;

	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	self->mode = status.st_mode;
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
}

FIXTURE_TEARDOWN(locked)
{
	chmod(SESSION_PATH, self->mode & 07777);
	write_text(FORCE_PIN, "0");
}

static int lock_limit(size_t bytes)
{
	struct rlimit limit = { .rlim_cur = bytes, .rlim_max = 16 * LENGTH };

	return setrlimit(RLIMIT_MEMLOCK, &limit) ? -errno : 0;
}

static int memlock_child(void *context)
{
	struct mr first, second;
	uint32_t device;
	int session;

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));

	CHECK(!lock_limit(0));
	CHECK(mr_create(session, device, PAGE, LOCAL, &first) == -EPERM);
	CHECK(!lock_limit(LENGTH));
	CHECK(mr_create(session, device, LENGTH + PAGE, LOCAL, &first) == -ENOMEM);
	CHECK(!mr_create(session, device, LENGTH - PAGE, ACCESS_ALL, &first));
	CHECK(mr_create(session, device, 2 * PAGE, LOCAL, &second) == -ENOMEM);
	/* One byte takes a page. */
	CHECK(!mr_register(session, device, first.data + 1, 1, LOCAL, &second));
	CHECK(mr_create(session, device, 1, LOCAL, &first) == -ENOMEM);
	CHECK(!lock_limit(LENGTH + PAGE));
	CHECK(!mr_create(session, device, PAGE, LOCAL, &first));
	CHECK(!mr_deregister(session, second.id, 0));
	CHECK(!mr_create(session, device, PAGE, LOCAL, &first));
	/* The end of the session gives all of it back. */
	close(session);
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	for (unsigned int ms = 0; mr_create(session, device, LENGTH, LOCAL, &first); ms++) {
		CHECK(ms < PATIENCE_MS);
		sleep_ms(1);
	}
	return 0;
}

/* The value of a line of /proc/self/status, in bytes. */
static long status_bytes(const char *name)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name));
	}
	if (status)
		fclose(status);
	return kib < 0 ? kib : kib * 1024;
}

/* Memory that is both locked and registered is charged once for each, with separate limits. */
static int locked_too_child(void *context)
{
	struct mr first, second;
	uint32_t device;
	int session;
	void *locked = pages(LENGTH, PROT_READ | PROT_WRITE);

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!lock_limit(LENGTH));
	CHECK(locked);
	CHECK(!mlock(locked, LENGTH));
	CHECK(!mr_register(session, device, locked, LENGTH - PAGE, LOCAL, &first));
	CHECK(status_bytes("VmLck:") == LENGTH);
	CHECK(status_bytes("VmPin:") == LENGTH - PAGE);
	/* Each MR is charged for its pages, also if another MR has the same pages. */
	CHECK(!mr_register(session, device, locked, PAGE, LOCAL, &second));
	CHECK(status_bytes("VmPin:") == LENGTH);
	CHECK(mr_register(session, device, locked, PAGE, LOCAL, &second) == -ENOMEM);
	CHECK(!mr_deregister(session, first.id, 0));
	CHECK(status_bytes("VmPin:") == PAGE);
	CHECK(status_bytes("VmLck:") == LENGTH);
	return 0;
}

/* Proves: F6 */
TEST_F(locked, locked_memory_that_is_registered_counts_once_for_each)
{
	EXPECT_EQ(0, child_run_as(SOME_USER, locked_too_child, NULL));
}

/* Switch to the other way to pin pages, for MRs registered from here on. */
struct both_ways {
	int force_pin;
	const char *other;
};

/* There is one limit, whether krdma or the driver pins the pages. */
static int both_ways_child(void *context)
{
	const struct both_ways *ways = context;
	struct mr first, second;
	uint32_t device;
	int session;

	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!lock_limit(LENGTH));
	CHECK(!mr_create(session, device, LENGTH - PAGE, LOCAL, &first));
	CHECK(write(ways->force_pin, ways->other, 1) == 1);
	CHECK(mr_create(session, device, 2 * PAGE, LOCAL, &second) == -ENOMEM);
	CHECK(!mr_create(session, device, PAGE, LOCAL, &second));
	return 0;
}

/* Proves: F6 */
TEST_F(locked, the_limit_is_one_for_both_ways)
{
	struct both_ways ways = {
		.force_pin = open(FORCE_PIN, O_WRONLY | O_CLOEXEC),
		.other = *variant->force_pin == '0' ? "1" : "0",
	};

	ASSERT_LE(0, ways.force_pin);
	EXPECT_EQ(0, child_run_as(SOME_USER, both_ways_child, &ways));
	close(ways.force_pin);
}

/* Proves: F6 */
TEST_F(locked, memory_counts_as_locked)
{
	struct resources before;

	ASSERT_EQ(0, resources_read(&before));
	EXPECT_EQ(0, child_run_as(SOME_USER, memlock_child, NULL));
	EXPECT_EQ(0, resources_await(&before, PATIENCE_MS));
}

TEST_HARNESS_MAIN
