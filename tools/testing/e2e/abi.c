// SPDX-License-Identifier: GPL-2.0
/*
 * The general ioctl format, for each ioctl of each kind of file: each size, each
 * boundary of accessible memory, each flag, each number.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "examples.h"
#include "session.h"

#define CANARY		0xa5
#define HAMMER_MS	rounds(60, 50)

/* Two pages to use, an inaccessible one behind them, and as many bytes of canaries. */
struct arena {
	size_t page;
	unsigned char *start;
	unsigned char *end;
	unsigned char canaries[8192];
};

FIXTURE(request)
{
	struct scene scene;
	struct arena arena;
};

FIXTURE_VARIANT(request)
{
	const struct example *example;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(request, info) { .example = &examples[EXAMPLE_INFO] };
FIXTURE_VARIANT_ADD(request, device_query) { .example = &examples[EXAMPLE_DEVICE_QUERY] };
FIXTURE_VARIANT_ADD(request, port_query) { .example = &examples[EXAMPLE_PORT_QUERY] };
FIXTURE_VARIANT_ADD(request, device_find) { .example = &examples[EXAMPLE_DEVICE_FIND] };
FIXTURE_VARIANT_ADD(request, watch) { .example = &examples[EXAMPLE_DEVICE_NOTIFY] };
FIXTURE_VARIANT_ADD(request, listen) { .example = &examples[EXAMPLE_LISTEN] };
FIXTURE_VARIANT_ADD(request, conn_create) { .example = &examples[EXAMPLE_CONN_CREATE] };
FIXTURE_VARIANT_ADD(request, ring_create) { .example = &examples[EXAMPLE_RING_CREATE] };
FIXTURE_VARIANT_ADD(request, srq_create) { .example = &examples[EXAMPLE_SRQ_CREATE] };
FIXTURE_VARIANT_ADD(request, mr_register) { .example = &examples[EXAMPLE_MR_REGISTER] };
FIXTURE_VARIANT_ADD(request, mr_deregister) { .example = &examples[EXAMPLE_MR_DEREGISTER] };
FIXTURE_VARIANT_ADD(request, mr_query) { .example = &examples[EXAMPLE_MR_QUERY] };
FIXTURE_VARIANT_ADD(request, mr_advise) { .example = &examples[EXAMPLE_MR_ADVISE] };
FIXTURE_VARIANT_ADD(request, limit_query) { .example = &examples[EXAMPLE_LIMIT_QUERY] };
FIXTURE_VARIANT_ADD(request, conns_open) { .example = &examples[EXAMPLE_CONNS_OPEN] };
FIXTURE_VARIANT_ADD(request, conns_take) { .example = &examples[EXAMPLE_CONNS_TAKE] };
FIXTURE_VARIANT_ADD(request, conns_accept) { .example = &examples[EXAMPLE_CONNS_ACCEPT] };
FIXTURE_VARIANT_ADD(request, conns_close) { .example = &examples[EXAMPLE_CONNS_CLOSE] };
FIXTURE_VARIANT_ADD(request, conns_fd) { .example = &examples[EXAMPLE_CONNS_FD] };
FIXTURE_VARIANT_ADD(request, mr_set_name) { .example = &examples[EXAMPLE_MR_SET_NAME] };
FIXTURE_VARIANT_ADD(request, listener_query) { .example = &examples[EXAMPLE_LISTENER_QUERY] };
FIXTURE_VARIANT_ADD(request, listener_next) { .example = &examples[EXAMPLE_LISTENER_NEXT] };
FIXTURE_VARIANT_ADD(request, conn_resolve) { .example = &examples[EXAMPLE_CONN_RESOLVE] };
FIXTURE_VARIANT_ADD(request, conn_prepare) { .example = &examples[EXAMPLE_CONN_CREATE_QP] };
FIXTURE_VARIANT_ADD(request, conn_connect) { .example = &examples[EXAMPLE_CONN_CONNECT] };
FIXTURE_VARIANT_ADD(request, conn_accept) { .example = &examples[EXAMPLE_CONN_ACCEPT] };
FIXTURE_VARIANT_ADD(request, conn_reject) { .example = &examples[EXAMPLE_CONN_REJECT] };
FIXTURE_VARIANT_ADD(request, conn_disconnect) { .example = &examples[EXAMPLE_CONN_DISCONNECT] };
FIXTURE_VARIANT_ADD(request, conn_wait) { .example = &examples[EXAMPLE_CONN_WAIT] };
FIXTURE_VARIANT_ADD(request, conn_query) { .example = &examples[EXAMPLE_CONN_QUERY] };
FIXTURE_VARIANT_ADD(request, conn_find_mr) { .example = &examples[EXAMPLE_CONN_FIND_MR] };
FIXTURE_VARIANT_ADD(request, ring_enter) { .example = &examples[EXAMPLE_RING_ENTER] };
FIXTURE_VARIANT_ADD(request, ring_post) { .example = &examples[EXAMPLE_RING_POST] };
FIXTURE_VARIANT_ADD(request, ring_reap) { .example = &examples[EXAMPLE_RING_REAP] };
FIXTURE_VARIANT_ADD(request, ring_query) { .example = &examples[EXAMPLE_RING_QUERY] };
FIXTURE_VARIANT_ADD(request, ring_confine) { .example = &examples[EXAMPLE_RING_CONFINE] };
FIXTURE_VARIANT_ADD(request, srq_query) { .example = &examples[EXAMPLE_SRQ_QUERY] };
FIXTURE_VARIANT_ADD(request, srq_post) { .example = &examples[EXAMPLE_SRQ_POST] };

/* clang-format on */

FIXTURE_SETUP(request)
{
	struct arena *arena = &self->arena;

	ASSERT_EQ(0, scene_open_for(&self->scene, variant->example));
	ASSERT_EQ(0, example_arm(variant->example, &self->scene));
	arena->page = sysconf(_SC_PAGESIZE);
	arena->start = mmap(NULL, 3 * arena->page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE((void *)arena->start != MAP_FAILED);
	arena->end = arena->start + 2 * arena->page;
	ASSERT_EQ(0, mprotect(arena->end, arena->page, PROT_NONE));
	ASSERT_LE(2 * arena->page, sizeof(arena->canaries));
	memset(arena->canaries, CANARY, sizeof(arena->canaries));
}

FIXTURE_TEARDOWN(request)
{
	munmap(self->arena.start, 3 * self->arena.page);
	scene_close(&self->scene);
}

#define PLACE(at, room, size) example_place(variant->example, &self->scene, at, room, size)
#define ARM() example_arm(variant->example, &self->scene)
#define UNDO(bytes) example_undo(variant->example, &self->scene, bytes)
#define REQUEST(at) session_request(self->scene.fd, variant->example->number, at)

static bool untouched(const struct arena *arena, const unsigned char *from)
{
	return !memcmp(from, arena->canaries, arena->end - from);
}

/* If a success is expensive, only a few sizes are tried.  Sizes that fail are cheap. */
static bool worth_a_success(const struct example *example, uint32_t size)
{
	uint32_t known = example->known_size;

	return !example->once || size == example->first_size || size == known ||
	       size == known + 1 || size == known + 64 || size == KRDMA_STRUCT_SIZE_MAX;
}

TEST_F_TIMEOUT(request, every_size_with_a_zero_tail, 120)
{
	uint32_t first = variant->example->first_size;
	uint32_t known = variant->example->known_size;
	unsigned char *buffer = self->arena.start;

	/*
	 * Each size up to a little beyond the structure, and near the maximum.  Between them,
	 * the steps are odd, so that tails begin and end at every offset within a word.
	 */
	for (uint32_t size = 0; size <= KRDMA_STRUCT_SIZE_MAX + 8;
	     size += size > known + 64 && size + 64 < KRDMA_STRUCT_SIZE_MAX ?
		     stride(7, 37) : 1) {
		int expected = size < first ? -EINVAL : size > KRDMA_STRUCT_SIZE_MAX ? -E2BIG : 0;
		uint32_t room = size < sizeof(uint32_t) ? sizeof(uint32_t) : size;
		uint32_t written;

		if (!expected && !worth_a_success(variant->example, size))
			continue;
		if (!expected && variant->example->once)
			ASSERT_EQ(0, ARM());
		memset(buffer, CANARY, self->arena.end - buffer);
		PLACE(buffer, room, size);
		ASSERT_EQ(expected, REQUEST(buffer)) {
			TH_LOG("size %u", size);
		}
		memcpy(&written, buffer, sizeof(written));
		ASSERT_EQ(size, written);
		ASSERT_TRUE(untouched(&self->arena, buffer + room)) {
			TH_LOG("size %u: wrote past the caller's structure", size);
		}
		if (room > known) {
			ASSERT_TRUE(zeroed(buffer + known, room - known)) {
				TH_LOG("size %u: wrote into the unknown part", size);
			}
		}
		if (!expected)
			UNDO(buffer);
	}
}

TEST_F(request, a_refused_size_leaves_the_buffer_alone)
{
	static const uint32_t extreme[] = { 0, 1, 3, 4, 5, 7, 0x7fffffff, 0x80000000, 0xffffffff };
	unsigned char before[EXAMPLE_ROOM];
	unsigned char *buffer = self->arena.start;

	for (size_t i = 0; i < ARRAY_SIZE(extreme); i++) {
		PLACE(buffer, sizeof(before), extreme[i]);
		memcpy(before, buffer, sizeof(before));
		EXPECT_EQ(extreme[i] < EXAMPLE_ROOM ? -EINVAL : -E2BIG, REQUEST(buffer)) {
			TH_LOG("size %u", extreme[i]);
		}
		EXPECT_EQ(0, memcmp(before, buffer, sizeof(before)));
	}
}

TEST_F_TIMEOUT(request, every_size_with_a_tail_that_is_not_zero, 120)
{
	uint32_t known = variant->example->known_size;
	unsigned char *buffer = self->arena.start;
	unsigned int step = stride(7, 37);
	unsigned char before[KRDMA_STRUCT_SIZE_MAX];

	for (uint32_t size = known + 1; size <= sizeof(before); size += step) {
		const uint32_t places[] = { known, known + (size - known) / 2, size - 1 };

		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			PLACE(buffer, size, size);
			buffer[places[i]] = 1;
			memcpy(before, buffer, size);
			ASSERT_EQ(-E2BIG, REQUEST(buffer)) {
				TH_LOG("size %u, byte %u", size, places[i]);
			}
			ASSERT_EQ(0, memcmp(before, buffer, size));
		}
	}
}

TEST_F(request, memory_ends_at_each_byte)
{
	uint32_t size = variant->example->known_size;
	unsigned char *end = self->arena.end;

	for (uint32_t room = 0; room < size; room++) {
		PLACE(end - room, room, size);
		ASSERT_EQ(-EFAULT, REQUEST(end - room)) {
			TH_LOG("%u bytes of %u accessible", room, size);
		}
	}
	PLACE(end - size, size, size);
	ASSERT_EQ(0, REQUEST(end - size));
	UNDO(end - size);
}

/* The number that the next descriptor of this process would get. */
static int next_descriptor(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

TEST_F(request, memory_is_read_only_from_each_byte)
{
	unsigned char *middle = self->arena.start + self->arena.page;
	bool answers = variant->example->answers;
	uint32_t size = variant->example->known_size;
	uint32_t step = variant->example->once ? 7 : 1;
	int next;

	for (uint32_t room = 0; room <= size; room += room + step > size && room < size ?
	     size - room : step) {
		int expected = answers && room < size ? -EFAULT : 0;

		ASSERT_EQ(0, ARM());
		next = next_descriptor();
		ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_READ | PROT_WRITE));
		PLACE(middle - room, size, size);
		ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_READ));
		/* The memory need not be writable if the ioctl does not write it. */
		ASSERT_EQ(expected, REQUEST(middle - room)) {
			TH_LOG("%u bytes of %u writable", room, size);
		}
		/* The failed call has done nothing, so the ioctl succeeds now. */
		if (expected) {
			ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_READ | PROT_WRITE));
			ASSERT_EQ(0, REQUEST(middle - room)) {
				TH_LOG("%u bytes of %u were writable", room, size);
			}
		}
		UNDO(middle - room);
		/* The failed call has left no descriptor behind. */
		ASSERT_EQ(next, next_descriptor());
	}
}

TEST_F(request, the_unknown_part_is_read_but_not_written)
{
	unsigned char *middle = self->arena.start + self->arena.page;
	uint32_t known = variant->example->known_size;

	PLACE(middle - known, known + 64, known + 64);
	ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_READ));
	ASSERT_EQ(0, REQUEST(middle - known));
	UNDO(middle - known);

	ASSERT_EQ(0, ARM());
	PLACE(middle - known, known, known + 64);
	ASSERT_EQ(0, mprotect(middle, self->arena.page, PROT_NONE));
	EXPECT_EQ(-EFAULT, REQUEST(middle - known));
}

TEST_F(request, addresses_that_are_not_memory)
{
	const uintptr_t bad[] = {
		0, 1, 4, (uintptr_t)-1, (uintptr_t)-4096, (uintptr_t)1 << (sizeof(void *) * 8 - 1),
		/* An address of the kernel, for a 64-bit program. */
		sizeof(void *) == 8 ? (uintptr_t)0xffff888000000000ULL : (uintptr_t)-4,
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EFAULT, REQUEST((void *)bad[i])) {
			TH_LOG("address %#lx", (unsigned long)bad[i]);
		}
	}
}

TEST_F(request, every_unknown_flag_is_refused)
{
	unsigned char *buffer = self->arena.start;
	uint32_t size = variant->example->known_size;

	for (unsigned int bit = 0; bit < 32; bit++) {
		uint32_t flag = (uint32_t)1 << bit;
		uint32_t flags;

		if (flag & variant->example->known_flags)
			continue;
		/* With the flags of the example, and alone. */
		PLACE(buffer, size, size);
		memcpy(&flags, buffer + sizeof(uint32_t), sizeof(flags));
		flags |= flag;
		memcpy(buffer + sizeof(uint32_t), &flags, sizeof(flags));
		EXPECT_EQ(-EOPNOTSUPP, REQUEST(buffer)) {
			TH_LOG("flags %#x", flags);
		}
		PLACE(buffer, size, size);
		memcpy(buffer + sizeof(uint32_t), &flag, sizeof(flag));
		EXPECT_EQ(-EOPNOTSUPP, REQUEST(buffer)) {
			TH_LOG("flag %#x", flag);
		}
	}
	/* The failed calls have done nothing, so the ioctl succeeds. */
	PLACE(buffer, size, size);
	ASSERT_EQ(0, REQUEST(buffer));
	UNDO(buffer);
}

TEST_F(request, reserved_fields_are_refused)
{
	const struct example *example = variant->example;
	unsigned char *buffer = self->arena.start;
	uint32_t size = example->known_size;

	for (size_t i = 0; i < ARRAY_SIZE(example->reserved) && example->reserved[i]; i++) {
		for (unsigned int bit = 0; bit < 32; bit++) {
			uint32_t value = (uint32_t)1 << bit;

			PLACE(buffer, size, size);
			memcpy(buffer + example->reserved[i], &value, sizeof(value));
			EXPECT_EQ(-EOPNOTSUPP, REQUEST(buffer)) {
				TH_LOG("%#x at %u", value, example->reserved[i]);
			}
		}
	}
	PLACE(buffer, size, size);
	ASSERT_EQ(0, REQUEST(buffer));
	UNDO(buffer);
}

TEST_F(request, what_is_in_comes_back_as_it_was)
{
	const struct example *example = variant->example;
	unsigned char before[EXAMPLE_ROOM];
	unsigned char *buffer = self->arena.start;
	uint32_t size = example->known_size;

	PLACE(before, size, size);
	memcpy(buffer, before, size);
	ASSERT_EQ(0, REQUEST(buffer));
	/* Size and flags never change; if the ioctl writes nothing back, nothing does. */
	EXPECT_EQ(0, memcmp(before, buffer, example->answers ? 8 : size));
	UNDO(buffer);
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
 * Only the size that was checked counts: if the kernel used a larger one that it
 * read later, it would run past the end of its copy.
 */
/* Proves: A5 */
TEST_F_TIMEOUT(request, the_size_changes_while_the_request_runs, 60)
{
	const struct example *example = variant->example;
	unsigned char *buffer = self->arena.start;
	struct size_flipper flipper = {
		.size = (volatile uint32_t *)buffer,
		.known = example->known_size,
	};
	uint64_t deadline = now_ms() + HAMMER_MS;
	unsigned int passed = 0, refused = 0;
	pthread_t thread;

	PLACE(buffer, self->arena.end - buffer, example->known_size);
	ASSERT_EQ(0, pthread_create(&thread, NULL, flip_sizes, &flipper));
	do {
		int ret = REQUEST(buffer);

		/* The bytes behind the known part are zero: -E2BIG means a size too large. */
		if (ret == 0)
			UNDO(buffer);
		if (ret == -EINVAL || ret == -E2BIG)
			refused++;
		else if (ret == 0 || (example->once && (ret == example->again ||
							ret == -EISCONN || ret == -ENOTCONN)))
			passed++;
		else
			EXPECT_EQ(0, ret);
	} while ((now_ms() < deadline || !passed || !refused) && !_metadata->exit_code &&
		 now_ms() < deadline + PATIENCE_MS);
	flipper.stop = true;
	pthread_join(thread, NULL);

	EXPECT_TRUE(zeroed(buffer + example->known_size,
			   self->arena.end - buffer - example->known_size));
	EXPECT_LT(0, passed);
	EXPECT_LT(0, refused);
}

FIXTURE(numbers)
{
	struct scene scene;
	unsigned char buffer[4096];
};

FIXTURE_SETUP(numbers)
{
	ASSERT_EQ(0, scene_open(&self->scene));
	memset(self->buffer, 0, sizeof(self->buffer));
	self->buffer[0] = sizeof(struct krdma_info_args);
}

FIXTURE_TEARDOWN(numbers)
{
	scene_close(&self->scene);
}

static bool is_request(enum kind kind, unsigned int number)
{
	for (int i = 0; i < EXAMPLE_COUNT; i++)
		if (examples[i].kind == kind && _IOC_NR(examples[i].number) == number)
			return true;
	return false;
}

TEST_F(numbers, every_unknown_number_of_every_kind_of_file)
{
	for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
		for (unsigned int number = 0; number < 256; number++) {
			if (is_request(kind, number))
				continue;
			EXPECT_EQ(-ENOTTY, session_request(self->scene.objects[kind],
							   _IO(KRDMA_IOCTL_TYPE, number),
							   self->buffer)) {
				TH_LOG("kind %d, number %u", kind, number);
			}
		}
	}
}

TEST_F(numbers, every_request_to_every_wrong_kind_of_file)
{
	for (int i = 0; i < EXAMPLE_COUNT; i++) {
		const struct example *example = &examples[i];

		for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
			if (kind == example->kind)
				continue;
			ASSERT_EQ(0, example_arm(example, &self->scene));
			example_place(example, &self->scene, self->buffer, sizeof(self->buffer),
				      example->known_size);
			EXPECT_EQ(-ENOTTY, session_request(self->scene.objects[kind],
							   example->number, self->buffer)) {
				TH_LOG("%s to kind %d", example->name, kind);
			}
		}
	}
}

TEST_F(numbers, every_other_type)
{
	for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
		/* Types 0 and T have ioctls that the kernel handles for every file. */
		for (unsigned int type = 1; type < 256; type++) {
			if (type == KRDMA_IOCTL_TYPE || type == 'T')
				continue;
			for (int i = 0; i < EXAMPLE_COUNT; i++) {
				unsigned int number = _IOC_NR(examples[i].number);

				EXPECT_EQ(-ENOTTY, session_request(self->scene.objects[kind],
								   _IO(type, number),
								   self->buffer)) {
					TH_LOG("kind %d type %#x number %u", kind, type, number);
				}
			}
		}
	}
}

TEST_F(numbers, a_direction_or_a_length_makes_another_request)
{
	static const unsigned int lengths[] = { 0, 1, 4, 64, 112, 152, 4096 };
	const unsigned int variants = 4 * ARRAY_SIZE(lengths);

	/* The first variant is the ioctl itself: no direction, no length. */
	for (unsigned int i = 1; i < variants; i++) {
		unsigned int direction = i / ARRAY_SIZE(lengths);
		unsigned int length = lengths[i % ARRAY_SIZE(lengths)];

		for (int j = 0; j < EXAMPLE_COUNT; j++) {
			unsigned int number = _IOC_NR(examples[j].number);

			EXPECT_EQ(-ENOTTY,
				  session_request(self->scene.objects[examples[j].kind],
						  _IOC(direction, KRDMA_IOCTL_TYPE, number,
						       length),
						  self->buffer)) {
				TH_LOG("direction %u length %u %s", direction, length,
				       examples[j].name);
			}
		}
	}
}

/* Proves: F2 */
TEST_F(numbers, a_session_that_is_read_only_asks_and_cannot_act)
{
	int reader = open(SESSION_PATH, O_RDONLY | O_CLOEXEC), next = next_descriptor();

	ASSERT_LE(0, reader);
	for (int i = 0; i < EXAMPLE_COUNT; i++) {
		const struct example *example = &examples[i];
		/* The read-only session has no MR to query, and can register none. */
		int may = i == EXAMPLE_MR_QUERY ? -ENOENT : 0;

		if (example->kind != KIND_SESSION)
			continue;
		ASSERT_EQ(0, example_arm(example, &self->scene));
		example_place(example, &self->scene, self->buffer, sizeof(self->buffer),
			      example->known_size);
		EXPECT_EQ(example->reads ? may : -EBADF,
			  session_request(reader, example->number, self->buffer)) {
			TH_LOG("%s", example->name);
		}
	}
	/* What the last example needed goes. */
	ASSERT_EQ(0, example_arm(&examples[EXAMPLE_INFO], &self->scene));
	EXPECT_EQ(next, next_descriptor());
	/* It gets events of devices. */
	EXPECT_EQ(POLLIN, poll_mask(reader, POLLIN, PATIENCE_MS));
	EXPECT_LT(0, read(reader, self->buffer, sizeof(self->buffer)));
	close(reader);
}

TEST(the_first_sizes_are_those_of_this_header)
{
	/* If a structure grows, its known size does, and its first size stays. */
	for (int i = 0; i < EXAMPLE_COUNT; i++) {
		EXPECT_LE(examples[i].first_size, examples[i].known_size) {
			TH_LOG("%s", examples[i].name);
		}
		EXPECT_LT(examples[i].known_size, EXAMPLE_ROOM);
	}
}

TEST_HARNESS_MAIN
