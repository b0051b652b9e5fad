// SPDX-License-Identifier: GPL-2.0
/*
 * A hostile program: it rewrites rings while the kernel reads them, unmaps memory during a
 * call, uses objects of other sessions, and closes objects that are in use.  Whatever it does,
 * it gets a documented error, and its objects are gone when it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define PAGE		4096
#define GONE_MS		20000
/* Bytes of inline data that a send of A can have. */
#define INLINED		32

/* An address of the kernel, and a non-canonical one. */
#define KERNEL_ADDRESS	0xffff888000000000ULL
#define NO_ADDRESS	0x8000000000000000ULL

FIXTURE(hostile)
{
	struct pair pair;
	struct mr mr;
	struct resources before;
};

FIXTURE_SETUP(hostile)
{
	/* Some drivers grant none unless it is asked for. */
	struct pair_options options = { .a.max_inline = INLINED };

	/* Objects of an earlier program may still be going away. */
	sleep_ms(rounds(100, 1000));
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, mr_create(self->pair.a.session, self->pair.device, 4 * PAGE, ACCESS_ALL,
			       &self->mr));
}

FIXTURE_TEARDOWN(hostile)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
}

/* The leak check of the teardown works only if held objects are counted. */
TEST_F(hostile, what_is_held_is_counted)
{
	struct resources now;

	ASSERT_EQ(0, resources_read(&now));
	for (int kind = 0; kind < RESOURCE_KINDS; kind++) {
		if (kind == RESOURCE_SRQ)
			continue;
		EXPECT_LT(self->before.count[kind], now.count[kind]) {
			TH_LOG("%s", resource_name(kind));
		}
	}
	EXPECT_LE(self->before.count[RESOURCE_QP] + 2, now.count[RESOURCE_QP]);
	EXPECT_LE(self->before.count[RESOURCE_PINS] + 4, now.count[RESOURCE_PINS]);
}

/* End of a short test period, whose length depends on the kernel. */
static uint64_t soon(void)
{
	return now_ms() + rounds(700, 1500);
}

/*
 * Threads that repeat an action until @stop is set
 */

struct storm {
	struct pair *pair;
	struct mr *mr;
	atomic_bool stop;
	/* The first errno that the ioctl may not return; 0 if there was none. */
	atomic_int wrong;
	atomic_uint good;
	atomic_uint refused;
	pthread_t thread;
	void *more;
};

static int storm_begin(struct storm *storm, void *(*act)(void *))
{
	return -pthread_create(&storm->thread, NULL, act, storm);
}

static int storm_end(struct storm *storm)
{
	storm->stop = true;
	return -pthread_join(storm->thread, NULL);
}

/* Continue until @end, and longer while @some, the number of wanted outcomes, is 0. */
static bool storms(const struct storm *storm, uint64_t end, unsigned int some)
{
	return !storm->wrong && (now_ms() < end || (!some && now_ms() < end + PATIENCE_MS));
}

static bool among(int ret, const int *errors)
{
	while (*errors)
		if (ret == -*errors++)
			return true;
	return false;
}

static void judge(struct storm *storm, int ret, const int *errors)
{
	if (!ret)
		storm->good++;
	else if (among(ret, errors))
		storm->refused++;
	else
		storm->wrong = ret;
}

/*
 * Rings
 */

/* clang-format off */
static const uint32_t wrong_distances[] = { 1, 2, 0x7fffffff, 0x80000000, 0xf0000000, };

/* clang-format on */

TEST_F(hostile, a_submission_index_that_makes_no_sense)
{
	struct ring *ring = self->pair.a.ring;
	struct krdma_ring_enter_args enter;

	for (size_t i = 0; i < ARRAY_SIZE(wrong_distances); i++) {
		ring->header->sq_tail =
			ring->header->sq_head + ring->sq_entries + wrong_distances[i];
		EXPECT_EQ(-EBADMSG, ring_enter(ring, 1, 0, 0, &enter)) {
			TH_LOG("%#x beyond what is in the ring", wrong_distances[i]);
		}
	}
	ring->header->sq_tail = ring->header->sq_head;
	EXPECT_EQ(0, ring_enter(ring, 1, 0, 0, &enter));
	EXPECT_EQ(0, enter.submitted);
}

TEST_F(hostile, a_completion_index_that_makes_no_sense)
{
	struct ring *ring = self->pair.a.ring;
	struct krdma_cqe cqe;
	uint32_t reaped;

	for (size_t i = 0; i < ARRAY_SIZE(wrong_distances); i++) {
		ring->header->cq_head = ring->header->cq_tail + wrong_distances[i];
		/* An index too far behind is as wrong as one ahead of the tail. */
		if (wrong_distances[i] == 0xf0000000)
			ring->header->cq_head = ring->header->cq_tail - ring->cq_entries - 1;
		EXPECT_EQ(-EBADMSG, ring_enter(ring, 0, 1, deadline_in(50), NULL)) {
			TH_LOG("%#x", ring->header->cq_head);
		}
		EXPECT_EQ(-EBADMSG, ring_reap(ring->fd, &cqe, 1, 1, deadline_in(50), &reaped));
	}
	ring->header->cq_head = ring->header->cq_tail;
	EXPECT_EQ(-ETIMEDOUT, ring_enter(ring, 0, 1, deadline_in(20), NULL));
}

TEST_F(hostile, what_is_the_kernel_s_own_in_a_ring_does_not_matter)
{
	struct ring *ring = self->pair.a.ring;
	struct krdma_ring_header kept = *ring->header;
	struct krdma_sqe entry = sqe_send(self->pair.a.id, 1, &self->mr, 0, 8);
	struct krdma_sqe room = sqe_receive(self->pair.b.id, 2, &self->mr, PAGE, 8);
	struct krdma_cqe cqe;

	memset(ring->header, 0xff, offsetof(struct krdma_ring_header, sq_tail));
	ring->header->cq_flags = UINT32_MAX;
	ASSERT_EQ(0, ring_post(self->pair.b.ring->fd, &room, 1, NULL));
	ring->sqes[kept.sq_tail % ring->sq_entries] = entry;
	__atomic_store_n(&ring->header->sq_tail, kept.sq_tail + 1, __ATOMIC_RELEASE);
	EXPECT_EQ(0, ring_enter(ring, 1, 1, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(0, ring_take(ring, &cqe));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	EXPECT_EQ(1, cqe.wr_id);
}

static void *scribble(void *argument)
{
	struct storm *storm = argument;
	struct ring *ring = storm->pair->a.ring;
	unsigned int seed = 1;

	while (!storm->stop) {
		volatile uint32_t *header = (void *)ring->header;

		seed = seed * 1103515245 + 12345;
		ring->header->sq_tail =
			ring->header->sq_head + (seed >> 16) % (ring->sq_entries + 2);
		header[(seed >> 8) % (ring->size / 4)] = seed;
		if (!(seed & 0x700))
			ring->header->cq_head = ring->header->cq_tail;
	}
	return NULL;
}

TEST_F_TIMEOUT(hostile, rings_are_rewritten_while_the_kernel_reads_them, 120)
{
	/* Errors of entries without a valid destination: checks up to that of the destination. */
	static const int entry[] = { EINVAL, EMSGSIZE, EFAULT, ENOENT, 0 };
	static const int submitting[] = { EBADMSG, 0 }, waiting[] = { EBADMSG, ETIMEDOUT, 0 };
	struct storm storm = { .pair = &self->pair };
	struct ring *ring = self->pair.a.ring;
	struct krdma_ring_enter_args enter;
	struct krdma_cqe cqes[8];
	uint64_t end = soon();
	uint32_t reaped;

	ASSERT_EQ(0, storm_begin(&storm, scribble));
	while (storms(&storm, end, storm.refused)) {
		int ret = ring_enter(ring, 16, 0, 0, &enter);

		judge(&storm, ret, submitting);
		if (!ret) {
			judge(&storm, enter.error, entry);
			EXPECT_EQ(0, enter.submitted);
		}
		judge(&storm, ring_enter(ring, 0, 2, deadline_in(1), &enter), waiting);
		judge(&storm, ring_reap(ring->fd, cqes, 8, 1, deadline_in(1), &reaped),
		      waiting);
	}
	ASSERT_EQ(0, storm_end(&storm));
	EXPECT_EQ(0, storm.wrong) {
		TH_LOG("%s", strerror(-storm.wrong));
	}
	EXPECT_LT(0, storm.refused);
}

TEST_F(hostile, mappings_that_there_are_not)
{
	struct ring *ring = self->pair.a.ring;
	const struct {
		size_t size;
		int protection;
		int flags;
		off_t offset;
	} wrong[] = {
		{ ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE },
		{ PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE },
		{ PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0x7ffff000 },
		{ ring->size + PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0 },
		{ ring->size * 2, PROT_READ | PROT_WRITE, MAP_SHARED, 0 },
		{ ring->size - PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, 0 },
		{ ring->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0 },
		{ ring->size, PROT_READ, MAP_PRIVATE, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		void *at = mmap(NULL, wrong[i].size, wrong[i].protection, wrong[i].flags, ring->fd,
				wrong[i].offset);

		EXPECT_TRUE(at == MAP_FAILED) {
			TH_LOG("line %zu", i);
			munmap(at, wrong[i].size);
		}
	}
	/* A connection cannot be mapped. */
	EXPECT_TRUE(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->pair.a.conn, 0) == MAP_FAILED);
	EXPECT_EQ(ENODEV, errno);
}

/* What the kernel or another process writes to a ring must not be executable. */
TEST_F(hostile, a_ring_cannot_be_run)
{
	struct ring *ring = self->pair.a.ring;
	void *at = mmap(NULL, ring->size, PROT_READ | PROT_EXEC, MAP_SHARED, ring->fd, 0);

	EXPECT_TRUE(at == MAP_FAILED);
	EXPECT_EQ(-1, mprotect(ring->header, ring->size, PROT_READ | PROT_EXEC));
}

TEST_F(hostile, a_mapping_is_moved_grown_and_cut)
{
	struct ring *ring = self->pair.a.ring;
	void *at = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	char *moved;

	ASSERT_TRUE(at != MAP_FAILED);
	EXPECT_TRUE(mremap(at, ring->size, ring->size + PAGE, MREMAP_MAYMOVE) == MAP_FAILED);
	moved = mremap(at, ring->size, ring->size, MREMAP_MAYMOVE | MREMAP_FIXED,
		       (char *)self->mr.data + (1 << 24));
	if (moved == MAP_FAILED)
		moved = at;
	/* The whole ring can be read and written, wherever it is mapped. */
	for (size_t i = 0; i < ring->size; i += PAGE)
		((volatile char *)moved)[i] = ((volatile char *)moved)[i];
	EXPECT_EQ(0, munmap(moved, PAGE));
	EXPECT_EQ(0, ring_enter(ring, 0, 0, 0, NULL));
	EXPECT_EQ(0, munmap(moved + PAGE, ring->size - PAGE));
	EXPECT_EQ(0, ring_enter(ring, 0, 0, 0, NULL));
}

TEST_F(hostile, another_process_maps_a_ring_and_keeps_it)
{
	struct ring *ring = self->pair.a.ring;
	unsigned int wrong = 0;
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (child == 0) {
		struct krdma_ring_header *header = mmap(NULL, ring->size, PROT_READ | PROT_WRITE,
							MAP_SHARED, ring->fd, 0);

		if (header == MAP_FAILED)
			_exit(1);
		/*
		 * Not with pair_close(): the addresses that it unmaps may be those of the new
		 * mapping.
		 */
		close_range(3, ~0U, 0);
		for (int i = 0; i < 100; i++) {
			header->sq_tail++;
			header->cq_head++;
			sleep_ms(1);
		}
		_exit(0);
	}
	for (int i = 0; i < 50; i++) {
		int ret = ring_enter(ring, 4, 0, 0, NULL);

		/* The indices are valid until the other process begins. */
		EXPECT_EQ(ret ? -EBADMSG : 0, ret);
		wrong += !!ret;
		sleep_ms(1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_LT(0, wrong);
	/* The other process has moved cq_head beyond cq_tail. */
	EXPECT_EQ(-EBADMSG, ring_enter(ring, 4, 0, 0, NULL));
}

TEST_F(hostile, a_ring_is_unmapped_while_operations_run)
{
	struct krdma_sqe room[8], entries[8];
	struct krdma_cqe cqes[8];
	uint32_t reaped, total = 0;

	for (int i = 0; i < 8; i++) {
		room[i] = sqe_receive(self->pair.b.id, i, &self->mr, PAGE, 64);
		entries[i] = sqe_send(self->pair.a.id, i, &self->mr, 0, 64);
	}
	ASSERT_EQ(0, munmap(self->pair.a.ring->header, self->pair.a.ring->size));
	self->pair.a.ring->header = mmap(NULL, self->pair.a.ring->size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_EQ(0, ring_post(self->pair.b.ring->fd, room, 8, NULL));
	ASSERT_EQ(0, ring_post(self->pair.a.ring->fd, entries, 8, NULL));
	/* RING_REAP still returns the completions. */
	while (total < 8 && !ring_reap(self->pair.a.ring->fd, cqes, 8, 1,
				       deadline_in(PATIENCE_MS), &reaped))
		total += reaped;
	EXPECT_EQ(8, total);
}

/*
 * Memory that goes away
 */

static void *replace_pages(void *argument)
{
	struct storm *storm = argument;
	char *at = storm->more;

	while (!storm->stop) {
		munmap(at, 2 * PAGE);
		mmap(at, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		mprotect(at, 2 * PAGE, PROT_READ | PROT_WRITE);
	}
	return NULL;
}

/* Entries, SGEs and inline data in pages that another thread unmaps. */
TEST_F_TIMEOUT(hostile, arrays_go_away_under_the_kernel_s_eyes, 120)
{
	void *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	struct storm storm = { .pair = &self->pair, .more = pages };
	struct ring *ring = self->pair.a.ring;
	struct krdma_sqe entry = {
		.opcode = KRDMA_OP_SEND,
		.dest = self->pair.a.id,
		.sge_count = 3,
		.sge.addr = (uintptr_t)pages + PAGE - 24,
	};
	struct krdma_sqe inlined = {
		.opcode = KRDMA_OP_SEND,
		.flags = KRDMA_SQE_INLINE,
		.dest = self->pair.a.id,
		.sge_count = 1,
		.sge = { .addr = (uintptr_t)pages + PAGE - 16, .length = INLINED },
	};
	/* New pages are zero: SGEs without an MR, entries without opcode, structures of size 0. */
	static const int pieces[] = { EFAULT, ENOENT, 0 }, entries[] = { EFAULT, EINVAL, 0 };
	/* The peer has posted no receive, so the sends can use up the SQ. */
	static const int sends[] = { EFAULT, EAGAIN, 0 };
	uint64_t end = soon();
	uint32_t reaped;

	ASSERT_TRUE(pages != MAP_FAILED);
	ASSERT_EQ(0, storm_begin(&storm, replace_pages));
	while (storms(&storm, end, storm.refused)) {
		void *array = (char *)pages + PAGE - sizeof(entry);

		judge(&storm, ring_post(ring->fd, &entry, 1, NULL), pieces);
		judge(&storm, ring_post(ring->fd, &inlined, 1, NULL), sends);
		judge(&storm, ring_post(ring->fd, array, 3, NULL), entries);
		EXPECT_EQ(-EAGAIN, ring_reap(ring->fd, array, 4, 0, 0, &reaped));
		judge(&storm, session_request(ring->fd, KRDMA_RING_QUERY, array), entries);
	}
	ASSERT_EQ(0, storm_end(&storm));
	EXPECT_EQ(0, storm.wrong) {
		TH_LOG("%s", strerror(-storm.wrong));
	}
	EXPECT_LT(0, storm.refused);
	munmap(pages, 4 * PAGE);
}

/* Registers memory that another thread unmaps; a successful registration pins its pages. */
TEST_F_TIMEOUT(hostile, memory_goes_away_while_it_is_registered, 120)
{
	static const int errors[] = { EFAULT, 0 };
	void *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0);
	struct storm storm = { .more = pages };
	uint64_t end = soon();

	ASSERT_TRUE(pages != MAP_FAILED);
	ASSERT_EQ(0, storm_begin(&storm, replace_pages));
	while (storms(&storm, end, storm.good)) {
		struct mr mr;
		int ret = mr_register(self->pair.a.session, self->pair.device, pages, 4 * PAGE,
				      ACCESS_ALL, &mr);

		judge(&storm, ret, errors);
		if (!ret)
			EXPECT_EQ(0, mr_deregister(mr.session, mr.id, 0));
	}
	ASSERT_EQ(0, storm_end(&storm));
	EXPECT_EQ(0, storm.wrong);
	EXPECT_LT(0, storm.good);
	munmap(pages, 4 * PAGE);
}

TEST_F(hostile, addresses_that_are_none_of_the_program_s)
{
	const uint64_t addresses[] = {
		KERNEL_ADDRESS, NO_ADDRESS, ~0ULL, ~0ULL - 4096, 1, 0, 0xffffffff80000000ULL,
	};
	struct krdma_ring_post_args post = { .size = sizeof(post), .count = 1 };
	struct krdma_sqe entry = { .opcode = KRDMA_OP_SEND, .dest = self->pair.a.id };
	int ring = self->pair.a.ring->fd;

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct krdma_mr_register_args reg = {
			.size = sizeof(reg),
			.addr = addresses[i],
			.length = PAGE,
			.device_id = self->pair.device,
		};

		post.entries = addresses[i];
		EXPECT_EQ(-EFAULT, session_request(ring, KRDMA_RING_POST, &post)) {
			TH_LOG("entries at %llx", (unsigned long long)addresses[i]);
		}
		entry.flags = 0;
		entry.sge_count = 2;
		entry.sge = (struct krdma_ring_sge){ .addr = addresses[i] };
		EXPECT_EQ(-EFAULT, ring_post(ring, &entry, 1, NULL)) {
			TH_LOG("pieces at %llx", (unsigned long long)addresses[i]);
		}
		EXPECT_EQ(-EFAULT,
			  session_request(self->pair.a.session, KRDMA_MR_REGISTER, &reg)) {
			TH_LOG("memory at %llx", (unsigned long long)addresses[i]);
		}
	}
}

TEST_F(hostile, unaligned_arrays_are_arrays_too)
{
	char bytes[3 * sizeof(struct krdma_sqe)] = {};
	struct krdma_sqe room = sqe_receive(self->pair.b.id, 7, &self->mr, PAGE, 8);
	struct krdma_sqe entry = sqe_send(self->pair.a.id, 8, &self->mr, 0, 8);
	struct krdma_cqe cqe;
	uint32_t reaped;

	ASSERT_EQ(0, ring_post(self->pair.b.ring->fd, &room, 1, NULL));
	memcpy(bytes + 1, &entry, sizeof(entry));
	ASSERT_EQ(0, ring_post(self->pair.a.ring->fd, (void *)(bytes + 1), 1, NULL));
	ASSERT_EQ(0, ring_reap(self->pair.a.ring->fd, (void *)(bytes + 3), 1, 1,
			       deadline_in(PATIENCE_MS), &reaped));
	memcpy(&cqe, bytes + 3, sizeof(cqe));
	EXPECT_EQ(8, cqe.wr_id);
}

/*
 * Objects of other sessions
 */

TEST_F(hostile, memory_and_connections_of_another_session_are_not_there)
{
	struct krdma_mr_query_args query = { .size = sizeof(query) };
	struct krdma_sqe entry;
	struct mr stolen;
	struct pair other;

	ASSERT_EQ(0, pair_open(&other, NULL));
	stolen = self->mr;
	for (uint32_t guess = 0; guess < 64; guess++) {
		query.id = guess;
		EXPECT_EQ(-ENOENT, session_request(other.a.session, KRDMA_MR_QUERY, &query));
		EXPECT_EQ(-ENOENT, mr_deregister(other.a.session, guess, 0));
		stolen.id = guess + 1;
		entry = sqe_send(other.a.id, 0, &stolen, 0, 8);
		EXPECT_EQ(-ENOENT, ring_post(other.a.ring->fd, &entry, 1, NULL)) {
			TH_LOG("memory %u", stolen.id);
		}
	}
	/* A ring reaches only connections whose QP was created with it. */
	for (int64_t id = (int64_t)self->pair.a.id - 20; id < other.b.id + 20; id++) {
		if (id == other.a.id)
			continue;
		entry = (struct krdma_sqe){ .opcode = KRDMA_OP_SEND, .dest = id };
		EXPECT_EQ(-ENOENT, ring_post(other.a.ring->fd, &entry, 1, NULL)) {
			TH_LOG("target %lld", (long long)id);
		}
	}
	pair_close(&other);
}

TEST_F(hostile, queues_and_shared_receives_of_another_session_are_refused)
{
	struct krdma_srq_create_args srq = { .size = sizeof(srq), .depth = 4 };
	struct krdma_conn_create_qp_args args = { .size = sizeof(args) };
	struct pair other;

	ASSERT_EQ(0, pair_begin(&other, NULL));
	ASSERT_EQ(0, pair_resolve(&other));
	args.ring_fd = self->pair.a.ring->fd;
	EXPECT_EQ(-EXDEV, session_request(other.a.conn, KRDMA_CONN_CREATE_QP, &args));
	args.ring_fd = self->pair.a.conn;
	EXPECT_EQ(-EPROTOTYPE, session_request(other.a.conn, KRDMA_CONN_CREATE_QP, &args));
	args.ring_fd = 9999;
	EXPECT_EQ(-EBADF, session_request(other.a.conn, KRDMA_CONN_CREATE_QP, &args));
	srq.ring_fd = self->pair.a.ring->fd;
	srq.device_id = other.device;
	EXPECT_EQ(-EXDEV, session_request(other.sessions[0], KRDMA_SRQ_CREATE, &srq));
	pair_close(&other);
}

/*
 * Closing descriptors in use
 */

enum closed_part {
	CLOSED_CONN,
	CLOSED_QUEUE,
	CLOSED_SESSION,
	CLOSED_PEER,
	CLOSED_LISTENER,
	CLOSED_PARTS,
};

/* Descriptors of a pair that are being closed (@begun), and that are closed (@done). */
struct closing {
	struct pair *pair;
	atomic_bool begun[CLOSED_PARTS];
	atomic_bool done[CLOSED_PARTS];
};

/*
 * Judges one call on a descriptor.  If the descriptor was closed before the call, the call must
 * return -EBADF.  If closing began only after the call had returned, it must not.
 */
static void judge_closing(struct storm *storm, enum closed_part part, bool closed, int ret,
			  const int *errors)
{
	static const int none[] = { 0 };
	const struct closing *closing = storm->more;

	if (closed || (ret == -EBADF && closing->begun[part]))
		judge(storm, ret == -EBADF ? 0 : ret ?: -ENOMSG, none);
	else
		judge(storm, ret, errors);
}

static void *use_without_end(void *argument)
{
	/* The peer closes, which ends the wait. */
	static const int waits[] = { EPIPE, ETIMEDOUT, 0 };
	/* No receive is posted: the SQ fills up until the connection ends. */
	static const int posts[] = { EAGAIN, ENOTCONN, ENOENT, 0 };
	static const int reaps[] = { ETIMEDOUT, 0 }, no_errors[] = { 0 };
	struct storm *storm = argument;
	const struct closing *closing = storm->more;
	struct pair *pair = storm->pair;

	while (!storm->stop) {
		struct krdma_sqe entry = { .opcode = KRDMA_OP_SEND, .dest = pair->a.id };
		struct krdma_info_args info = { .size = sizeof(info) };
		struct krdma_conn_query_args query;
		struct krdma_cqe cqe;
		uint32_t reaped;
		bool closed;

		closed = closing->done[CLOSED_CONN];
		judge_closing(storm, CLOSED_CONN, closed,
			      conn_query(pair->a.conn, NULL, 0, &query), no_errors);
		closed = closing->done[CLOSED_CONN];
		judge_closing(storm, CLOSED_CONN, closed,
			      conn_wait(pair->a.conn, deadline_in(1), NULL), waits);
		closed = closing->done[CLOSED_QUEUE];
		judge_closing(storm, CLOSED_QUEUE, closed,
			      ring_post(pair->a.own[0].fd, &entry, 1, NULL), posts);
		closed = closing->done[CLOSED_QUEUE];
		judge_closing(storm, CLOSED_QUEUE, closed,
			      ring_reap(pair->a.own[0].fd, &cqe, 1, 1, deadline_in(1), &reaped),
			      reaps);
		closed = closing->done[CLOSED_SESSION];
		judge_closing(storm, CLOSED_SESSION, closed,
			      session_request(pair->sessions[0], KRDMA_INFO, &info), no_errors);
	}
	return NULL;
}

/* Closes the descriptors of a pair in the given order, while threads use them. */
static void close_in_order(struct closing *closing, unsigned int order)
{
	struct pair *pair = closing->pair;
	int *const fds[CLOSED_PARTS] = {
		[CLOSED_CONN] = &pair->a.conn,
		[CLOSED_QUEUE] = &pair->a.own[0].fd,
		[CLOSED_SESSION] = &pair->sessions[0],
		[CLOSED_PEER] = &pair->b.conn,
		[CLOSED_LISTENER] = &pair->listener,
	};

	for (int i = 0; i < CLOSED_PARTS; i++) {
		unsigned int part = (order + i * (1 + order % 4)) % CLOSED_PARTS;

		if (*fds[part] >= 0) {
			closing->begun[part] = true;
			close(*fds[part]);
			*fds[part] = -1;
			closing->done[part] = true;
		}
		sleep_ms(order % 3);
	}
	pair->owned[0] = false;
}

TEST_F_TIMEOUT(hostile, everything_is_closed_by_another_thread_in_every_order, 300)
{
	unsigned int count = rounds(20, 10);

	for (unsigned int order = 0; order < count; order++) {
		struct closing closing = {};
		struct storm storms[2] = {};
		struct pair pair;

		ASSERT_EQ(0, pair_open(&pair, NULL));
		closing.pair = &pair;
		for (int i = 0; i < 2; i++) {
			storms[i].pair = &pair;
			storms[i].more = &closing;
			ASSERT_EQ(0, storm_begin(&storms[i], use_without_end));
		}
		sleep_ms(rounds(3, 20));
		close_in_order(&closing, order);
		for (int i = 0; i < 2; i++) {
			ASSERT_EQ(0, storm_end(&storms[i]));
			EXPECT_EQ(0, storms[i].wrong) {
				TH_LOG("order %u: %s", order, strerror(-storms[i].wrong));
			}
		}
		pair_close(&pair);
	}
}

TEST_F(hostile, the_session_is_closed_first)
{
	struct krdma_sqe room = sqe_receive(self->pair.b.id, 1, &self->mr, PAGE, 8);
	struct krdma_sqe entry = sqe_send(self->pair.a.id, 2, &self->mr, 0, 8);
	struct krdma_cqe cqe;

	close(self->pair.sessions[0]);
	self->pair.owned[0] = false;
	ASSERT_EQ(0, ring_post(self->pair.b.ring->fd, &room, 1, NULL));
	ASSERT_EQ(0, ring_submit(self->pair.a.ring, &entry, 1, NULL));
	EXPECT_EQ(0, ring_wait(self->pair.a.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
}

/* Connections that use a ring keep it, but no program can see their completions any more. */
TEST_F(hostile, a_queue_is_closed_while_connections_use_it)
{
	struct krdma_sqe room = sqe_receive(self->pair.b.id, 1, &self->mr, PAGE, 8);
	struct krdma_sqe entry = sqe_send(self->pair.a.id, 2, &self->mr, 0, 8);
	uint32_t state;

	ASSERT_EQ(0, ring_post(self->pair.b.ring->fd, &room, 1, NULL));
	ASSERT_EQ(0, ring_post(self->pair.a.ring->fd, &entry, 1, NULL));
	ring_close(&self->pair.a.own[0]);
	EXPECT_EQ(0, conn_wait(self->pair.a.conn, deadline_in(PATIENCE_MS), &state));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state);
	EXPECT_EQ(0, conn_disconnect(self->pair.a.conn, 0));
	EXPECT_EQ(0, conn_await_closed(self->pair.a.conn, PATIENCE_MS));
}

TEST_HARNESS_MAIN
