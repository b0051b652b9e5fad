// SPDX-License-Identifier: GPL-2.0
/*
 * The general ioctl format, swept for every request: each size, each boundary
 * of accessible memory, each flag, each number.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "session.h"

#define CANARY		0xa5
#define HAMMER_MS	1000

/* Two pages to use, then one that nothing can touch. */
struct arena {
	size_t page;
	unsigned char *start;
	unsigned char *end;
};

FIXTURE(request)
{
	int session;
	uint32_t device;
	struct arena arena;
};

FIXTURE_VARIANT(request)
{
	unsigned long number;
	/* What the request took when it was first published: pinned for ever. */
	uint32_t first_size;
	uint32_t known_size;
	uint32_t known_flags;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(request, info) {
	.number = KRDMA_INFO,
	.first_size = 64,
	.known_size = sizeof(struct krdma_info),
};

FIXTURE_VARIANT_ADD(request, device_query) {
	.number = KRDMA_DEVICE_QUERY,
	.first_size = 152,
	.known_size = sizeof(struct krdma_device_query),
	.known_flags = KRDMA_DEVICE_QUERY_NEXT | KRDMA_DEVICE_QUERY_NAME,
};

FIXTURE_VARIANT_ADD(request, port_query) {
	.number = KRDMA_PORT_QUERY,
	.first_size = 112,
	.known_size = sizeof(struct krdma_port_query),
};

/* clang-format on */

FIXTURE_SETUP(request)
{
	struct krdma_device_query device;
	struct arena *arena = &self->arena;

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, session_named(self->session, BOOT_DEVICE, &device));
	self->device = device.id;

	arena->page = sysconf(_SC_PAGESIZE);
	arena->start = mmap(NULL, 3 * arena->page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE((void *)arena->start != MAP_FAILED);
	arena->end = arena->start + 2 * arena->page;
	ASSERT_EQ(0, mprotect(arena->end, arena->page, PROT_NONE));
}

FIXTURE_TEARDOWN(request)
{
	munmap(self->arena.start, 3 * self->arena.page);
	close(self->session);
}

/* Copies into @at the first @room bytes of a request that succeeds, of @size. */
static void place(unsigned char *at, size_t room, unsigned long number, uint32_t device,
		  uint32_t size)
{
	union {
		uint32_t size;
		struct krdma_info info;
		struct krdma_device_query device;
		struct krdma_port_query port;
		unsigned char bytes[256];
	} valid;

	memset(&valid, 0, sizeof(valid));
	if (number == KRDMA_DEVICE_QUERY) {
		valid.device.id = device;
	} else if (number == KRDMA_PORT_QUERY) {
		valid.port.device_id = device;
		valid.port.port = 1;
	}
	valid.size = size;
	memcpy(at, valid.bytes, room < sizeof(valid) ? room : sizeof(valid));
	if (room > sizeof(valid))
		memset(at + sizeof(valid), 0, room - sizeof(valid));
}

#define PLACE(at, room, size) place(at, room, variant->number, self->device, size)

static bool all_bytes(const unsigned char *from, const unsigned char *to, unsigned char value)
{
	for (; from < to; from++)
		if (*from != value)
			return false;
	return true;
}

TEST_F_TIMEOUT(request, every_size_with_a_zero_tail, 120)
{
	unsigned char *buffer = self->arena.start;
	unsigned char *end = self->arena.end;
	uint32_t known = variant->known_size;

	for (uint32_t size = 0; size <= self->arena.page + 8; size++) {
		int expected = size < variant->first_size || size > self->arena.page ? -EINVAL : 0;
		uint32_t room = size < sizeof(uint32_t) ? sizeof(uint32_t) : size;
		uint32_t written;

		memset(buffer, CANARY, end - buffer);
		PLACE(buffer, room, size);
		ASSERT_EQ(expected, session_request(self->session, variant->number, buffer)) {
			TH_LOG("size %u", size);
		}
		memcpy(&written, buffer, sizeof(written));
		ASSERT_EQ(size, written);
		ASSERT_TRUE(all_bytes(buffer + room, end, CANARY)) {
			TH_LOG("size %u: wrote past the caller's structure", size);
		}
		if (room > known) {
			ASSERT_TRUE(all_bytes(buffer + known, buffer + room, 0)) {
				TH_LOG("size %u: wrote into the unknown part", size);
			}
		}
	}
}

TEST_F_TIMEOUT(request, a_refused_size_leaves_the_buffer_alone, 120)
{
	static const uint32_t extreme[] = { 0, 1, 3, 4, 5, 8, 0x7fffffff, 0x80000000, 0xffffffff };
	unsigned char before[512];
	unsigned char *buffer = self->arena.start;

	for (size_t i = 0; i < ARRAY_SIZE(extreme); i++) {
		PLACE(buffer, sizeof(before), extreme[i]);
		memcpy(before, buffer, sizeof(before));
		EXPECT_EQ(-EINVAL, session_request(self->session, variant->number, buffer)) {
			TH_LOG("size %u", extreme[i]);
		}
		EXPECT_EQ(0, memcmp(before, buffer, sizeof(before)));
	}
}

TEST_F_TIMEOUT(request, every_size_with_a_tail_that_is_not_zero, 120)
{
	unsigned char *buffer = self->arena.start;
	uint32_t known = variant->known_size;
	unsigned char before[4096];

	ASSERT_LE(self->arena.page, sizeof(before));
	for (uint32_t size = known + 1; size <= self->arena.page; size++) {
		const uint32_t places[] = { known, known + (size - known) / 2, size - 1 };

		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			PLACE(buffer, size, size);
			buffer[places[i]] = 1;
			memcpy(before, buffer, size);
			ASSERT_EQ(-E2BIG, session_request(self->session, variant->number, buffer)) {
				TH_LOG("size %u, byte %u", size, places[i]);
			}
			ASSERT_EQ(0, memcmp(before, buffer, size));
		}
	}
}

TEST_F(request, memory_ends_at_each_byte)
{
	unsigned char *end = self->arena.end;
	uint32_t size = variant->known_size;

	for (uint32_t room = 0; room < size; room++) {
		PLACE(end - room, room, size);
		ASSERT_EQ(-EFAULT, session_request(self->session, variant->number, end - room)) {
			TH_LOG("%u bytes of %u accessible", room, size);
		}
	}
	PLACE(end - size, size, size);
	EXPECT_EQ(0, session_request(self->session, variant->number, end - size));
}

TEST_F(request, memory_is_read_only_from_each_byte)
{
	unsigned char *middle = self->arena.start + self->arena.page;
	uint32_t size = variant->known_size;

	for (uint32_t room = 0; room <= size; room++) {
		ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_READ | PROT_WRITE));
		PLACE(middle - room, size, size);
		ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_READ));
		ASSERT_EQ(room < size ? -EFAULT : 0,
			  session_request(self->session, variant->number, middle - room)) {
			TH_LOG("%u bytes of %u writable", room, size);
		}
	}
}

TEST_F(request, the_unknown_part_is_read_but_not_written)
{
	unsigned char *middle = self->arena.start + self->arena.page;
	uint32_t known = variant->known_size;

	PLACE(middle - known, known + 64, known + 64);
	ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_READ));
	EXPECT_EQ(0, session_request(self->session, variant->number, middle - known));

	ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_NONE));
	EXPECT_EQ(-EFAULT, session_request(self->session, variant->number, middle - known));
}

TEST_F(request, addresses_that_are_not_memory)
{
	const uintptr_t bad[] = {
		0, 1, 4, (uintptr_t)-1, (uintptr_t)-4096, (uintptr_t)1 << (sizeof(void *) * 8 - 1),
		/* The kernel's own memory, for a 64-bit program. */
		sizeof(void *) == 8 ? (uintptr_t)0xffff888000000000ULL : (uintptr_t)-4,
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		void *address = (void *)bad[i];

		EXPECT_EQ(-EFAULT, session_request(self->session, variant->number, address)) {
			TH_LOG("address %p", address);
		}
	}
}

TEST_F(request, every_unknown_flag_is_refused)
{
	unsigned char *buffer = self->arena.start;

	for (unsigned int bit = 0; bit < 32; bit++) {
		uint32_t flag = (uint32_t)1 << bit;

		if (flag & variant->known_flags)
			continue;
		PLACE(buffer, variant->known_size, variant->known_size);
		memcpy(buffer + sizeof(uint32_t), &flag, sizeof(flag));
		EXPECT_EQ(-EOPNOTSUPP, session_request(self->session, variant->number, buffer)) {
			TH_LOG("flag %#x", flag);
		}
	}
}

struct size_flipper {
	volatile uint32_t *size;
	uint32_t known;
	atomic_bool stop;
};

static void *flip_sizes(void *argument)
{
	struct size_flipper *flipper = argument;
	const uint32_t sizes[] = {
		flipper->known, 0, 4, flipper->known - 1, flipper->known + 1, flipper->known + 64,
		4096, 4097, 8192, 0x7fffffff, 0xffffffff,
	};

	for (unsigned int i = 0; !flipper->stop; i++)
		*flipper->size = sizes[i % ARRAY_SIZE(sizes)];
	return NULL;
}

/*
 * The size must be read once: a second look that believed a larger number than
 * the one that was checked would run off the kernel's copy.
 */
TEST_F_TIMEOUT(request, the_size_changes_while_the_request_runs, 60)
{
	unsigned char *buffer = self->arena.start;
	struct size_flipper flipper = {
		.size = (volatile uint32_t *)buffer,
		.known = variant->known_size,
	};
	uint64_t deadline = now_ms() + HAMMER_MS;
	unsigned int succeeded = 0, refused = 0;
	pthread_t thread;

	PLACE(buffer, self->arena.end - buffer, variant->known_size);
	ASSERT_EQ(0, pthread_create(&thread, NULL, flip_sizes, &flipper));
	do {
		int ret = session_request(self->session, variant->number, buffer);

		/* What is behind the known part is zero, so E2BIG would be a lie. */
		if (ret == 0)
			succeeded++;
		else if (ret == -EINVAL)
			refused++;
		else
			EXPECT_EQ(0, ret);
	} while (now_ms() < deadline && !_metadata->exit_code);
	flipper.stop = true;
	pthread_join(thread, NULL);

	EXPECT_TRUE(all_bytes(buffer + variant->known_size, self->arena.end, 0));
	EXPECT_LT(0, succeeded);
	EXPECT_LT(0, refused);
}

static bool is_request(unsigned int number)
{
	return number == KRDMA_CMD_INFO || number == KRDMA_CMD_DEVICE_QUERY ||
	       number == KRDMA_CMD_PORT_QUERY;
}

FIXTURE(numbers)
{
	int session;
	unsigned char buffer[4096];
};

FIXTURE_SETUP(numbers)
{
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	memset(self->buffer, 0, sizeof(self->buffer));
	self->buffer[0] = sizeof(struct krdma_info);
}

FIXTURE_TEARDOWN(numbers)
{
	close(self->session);
}

TEST_F(numbers, every_unknown_number)
{
	for (unsigned int number = 0; number < 256; number++) {
		if (is_request(number))
			continue;
		EXPECT_EQ(-ENOTTY, session_request(self->session, _IO(KRDMA_IOCTL_TYPE, number),
						   self->buffer)) {
			TH_LOG("number %u", number);
		}
	}
}

TEST_F(numbers, every_other_type)
{
	/* Type 0 has requests that the kernel answers for every file. */
	for (unsigned int type = 1; type < 256; type++) {
		if (type == KRDMA_IOCTL_TYPE)
			continue;
		for (unsigned int number = 0; number <= KRDMA_CMD_PORT_QUERY; number++) {
			EXPECT_EQ(-ENOTTY, session_request(self->session, _IO(type, number),
							   self->buffer)) {
				TH_LOG("type %#x number %u", type, number);
			}
		}
	}
}

TEST_F(numbers, a_direction_or_a_length_makes_another_request)
{
	static const unsigned int lengths[] = { 0, 1, 4, 64, 112, 152, 4096 };
	const unsigned int variants = 4 * ARRAY_SIZE(lengths);

	/* The first is the request itself: no direction, no length. */
	for (unsigned int i = 1; i < variants; i++) {
		unsigned int direction = i / ARRAY_SIZE(lengths);
		unsigned int length = lengths[i % ARRAY_SIZE(lengths)];

		for (unsigned int number = 0; number <= KRDMA_CMD_PORT_QUERY; number++) {
			EXPECT_EQ(-ENOTTY,
				  session_request(self->session, _IOC(direction, KRDMA_IOCTL_TYPE,
								      number, length),
						  self->buffer)) {
				TH_LOG("direction %u length %u number %u", direction, length,
				       number);
			}
		}
	}
}

TEST_F(numbers, the_first_sizes_are_those_of_this_header)
{
	/* Grows with the header: a longer structure keeps its first size above. */
	EXPECT_LE(64, sizeof(struct krdma_info));
	EXPECT_LE(152, sizeof(struct krdma_device_query));
	EXPECT_LE(112, sizeof(struct krdma_port_query));
}

TEST_HARNESS_MAIN
