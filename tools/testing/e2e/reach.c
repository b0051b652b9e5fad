// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions, and the access that peers have to them.
 *
 * Each test runs with MRs of the device's driver, with memory pinned by krdma, and with lanes.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define LENGTH		(16 * 4096)
#define PAGE		4096
#define LOCAL		KRDMA_ACCESS_LOCAL_WRITE

static void *pages(size_t length, int protection)
{
	void *data = mmap(NULL, length, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

FIXTURE(reach)
{
	struct pair pair;
	struct resources before;
	struct mr local;
};

FIXTURE_VARIANT(reach)
{
	const char *force_pin;
	/* The connections are lanes. */
	bool lane;
};

FIXTURE_VARIANT_ADD(reach, driver)
{
	.force_pin = "0",
};

FIXTURE_VARIANT_ADD(reach, pinned)
{
	.force_pin = "1",
};

FIXTURE_VARIANT_ADD(reach, lane)
{
	.force_pin = "0",
	.lane = true,
};

FIXTURE_SETUP(reach)
{
	static const struct pair_options options = { .two_sessions = true };

	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	ASSERT_EQ(0, resources_read(&self->before));
	lanes_by_default = variant->lane;
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(variant->lane, trunk_of(self->pair.a.conn) != 0);
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, LENGTH, ACCESS_ALL,
			       &self->local));
	fill(self->local.data, LENGTH, 1);
}

FIXTURE_TEARDOWN(reach)
{
	mr_destroy(&self->local);
	pair_close(&self->pair);
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
	lanes_by_default = false;
	write_text(FORCE_PIN, "0");
}

TEST_F(reach, what_a_peer_writes_is_there)
{
	struct mr remote;

	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, ACCESS_ALL,
			       &remote));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->local, &remote));
	EXPECT_TRUE(filled(remote.data, LENGTH, 1));
	fill(remote.data, LENGTH, 2);
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &self->local, &remote));
	EXPECT_TRUE(filled(self->local.data, LENGTH, 2));
	mr_destroy(&remote);
}

/* Ways in which a program can replace memory under an MR. */
static int take_unmap(unsigned char *data)
{
	if (munmap(data, LENGTH))
		return -errno;
	return mmap(data, LENGTH, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == data ? 0 : -errno;
}

static int take_dontneed(unsigned char *data)
{
	return madvise(data, LENGTH, MADV_DONTNEED) ? -errno : 0;
}

static int take_replace(unsigned char *data)
{
	return mmap(data, LENGTH, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == data ? 0 : -errno;
}

static int take_move(unsigned char *data)
{
	void *there = pages(LENGTH, PROT_NONE);

	if (mremap(data, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, there) != there)
		return -errno;
	return mmap(data, LENGTH, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == data ? 0 : -errno;
}

struct writer {
	struct pair *pair;
	const struct mr *local;
	const struct mr *remote;
	bool stop;
	bool released;
	/* The last write began after the MR was deregistered. */
	bool late;
	int ret;
	unsigned int writes;
};

static void *keep_writing(void *context)
{
	struct writer *writer = context;

	while (!__atomic_load_n(&writer->stop, __ATOMIC_ACQUIRE) && !writer->ret) {
		writer->late = __atomic_load_n(&writer->released, __ATOMIC_ACQUIRE);
		writer->ret = pair_write(writer->pair, writer->local, writer->remote);
		__atomic_add_fetch(&writer->writes, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static bool has_written(struct writer *writer, unsigned int times)
{
	unsigned int begin = __atomic_load_n(&writer->writes, __ATOMIC_ACQUIRE);
	uint64_t deadline = now_ms() + PATIENCE_MS;

	while (__atomic_load_n(&writer->writes, __ATOMIC_ACQUIRE) - begin < times) {
		if (now_ms() > deadline)
			return false;
		sleep_ms(1);
	}
	return true;
}

/* A peer keeps writing, and memory mapped later at this address does not change. */
TEST_F(reach, what_is_mapped_later_is_not_reached)
{
	int (*const takes[])(unsigned char *data) = {
		take_unmap, take_dontneed, take_replace, take_move,
	};

	for (size_t i = 0; i < ARRAY_SIZE(takes); i++) {
		struct writer writer = { .pair = &self->pair, .local = &self->local };
		struct mr remote;
		pthread_t thread;

		ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH,
				       ACCESS_ALL, &remote));
		writer.remote = &remote;
		ASSERT_EQ(0, pthread_create(&thread, NULL, keep_writing, &writer));
		EXPECT_TRUE(has_written(&writer, 2));
		EXPECT_TRUE(filled(remote.data, LENGTH, 1));

		EXPECT_EQ(0, takes[i](remote.data)) {
			TH_LOG("way %zu", i);
		}
		EXPECT_TRUE(has_written(&writer, 3));
		EXPECT_TRUE(zeroed(remote.data, LENGTH)) {
			TH_LOG("way %zu", i);
		}

		__atomic_store_n(&writer.stop, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		EXPECT_EQ(0, writer.ret);
		/* Deregistration frees the pages, and nothing does so before. */
		EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], remote.id, 0));
		EXPECT_TRUE(zeroed(remote.data, LENGTH));
		munmap(remote.data, LENGTH);
	}
}

/* The rkey of a deregistered MR is invalid, and so is one of another session. */
TEST_F(reach, keys_that_a_peer_may_not_use)
{
	struct mr remote;

	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, ACCESS_ALL,
			       &remote));
	/* The rkey is valid until the MR is deregistered. */
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->local, &remote));
	EXPECT_TRUE(filled(remote.data, LENGTH, 1));
	memset(remote.data, 0, LENGTH);
	ASSERT_EQ(0, mr_deregister(self->pair.sessions[1], remote.id, 0));
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, pair_write(&self->pair, &self->local, &remote));
	EXPECT_TRUE(zeroed(remote.data, LENGTH));
	munmap(remote.data, LENGTH);
}

/* Proves: F6 */
TEST_F(reach, keys_of_another_session)
{
	struct mr remote, right;

	/* An MR of A's session, while the peer's operations arrive at B, in the other session. */
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, LENGTH, ACCESS_ALL,
			       &remote));
	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, ACCESS_ALL,
			       &right));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->local, &right));
	EXPECT_TRUE(filled(right.data, LENGTH, 1));
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, pair_write(&self->pair, &self->local, &remote));
	EXPECT_TRUE(zeroed(remote.data, LENGTH));
	mr_destroy(&remote);
	mr_destroy(&right);
}

TEST_F(reach, numbers_of_another_session)
{
	struct mr far, last;
	struct krdma_sqe entry;

	/* An MR ID that A's session does not have, because it has fewer MRs. */
	do {
		ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, PAGE, LOCAL,
				       &far));
	} while (far.id <= self->local.id);
	last = far;
	entry = sqe_send(self->pair.a.id, 1, &last, 0, 16);
	EXPECT_EQ(-ENOENT, ring_submit(self->pair.a.ring, &entry, 1, NULL));
	EXPECT_EQ(-ENOENT, mr_deregister(self->pair.sessions[0], far.id, 0));
}

/* Do one operation with 8 bytes of an MR with @access.  Returns its status. */
static int try_right(FIXTURE_DATA(reach) * self, uint8_t opcode, uint32_t access,
		     struct mr *remote)
{
	int ret = mr_create(self->pair.sessions[1], self->pair.device, LENGTH, access,
			    remote);

	if (ret)
		return ret;
	fill(remote->data, LENGTH, 3);
	ret = pair_operate(&self->pair, sqe_remote(opcode, self->pair.a.id, 1, &self->local, 0, 8,
						   remote, 0));
	if (ret <= 0)
		return ret;
	/* The refusal has ended the connection: create another one. */
	end_close(&self->pair.a);
	end_close(&self->pair.b);
	return pair_connect(&self->pair, NULL) ?: ret;
}

/* Each access right permits its own operations, and no others. */
/* Proves: D3, E3 */
TEST_F(reach, rights_hold)
{
	static const uint32_t rights[] = {
		0, KRDMA_ACCESS_REMOTE_READ, LOCAL | KRDMA_ACCESS_REMOTE_WRITE,
		LOCAL | KRDMA_ACCESS_REMOTE_ATOMIC,
		LOCAL | KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE,
		KRDMA_ACCESS_REMOTE_READ | LOCAL | KRDMA_ACCESS_REMOTE_ATOMIC,
		LOCAL | KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC,
		ACCESS_ALL,
	};
	static const struct {
		uint8_t opcode;
		uint32_t right;
	} operations[] = {
		{ KRDMA_OP_READ, KRDMA_ACCESS_REMOTE_READ },
		{ KRDMA_OP_WRITE, KRDMA_ACCESS_REMOTE_WRITE },
		{ KRDMA_OP_FETCH_ADD, KRDMA_ACCESS_REMOTE_ATOMIC },
		{ KRDMA_OP_COMPARE_SWAP, KRDMA_ACCESS_REMOTE_ATOMIC },
	};
	bool atomics = device_has_atomics(self->pair.sessions[1], self->pair.device);

	for (size_t i = 0; i < ARRAY_SIZE(rights); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(operations); j++) {
			bool may = rights[i] & operations[j].right;
			struct mr remote;

			if (!atomics && (rights[i] | operations[j].right) &
					KRDMA_ACCESS_REMOTE_ATOMIC)
				continue;
			fill(self->local.data, LENGTH, 1);
			EXPECT_EQ(may ? KRDMA_WC_SUCCESS : KRDMA_WC_REM_ACCESS_ERR,
				  try_right(self, operations[j].opcode, rights[i], &remote)) {
				TH_LOG("operation %u with rights %#x", operations[j].opcode,
				       rights[i]);
			}
			if (!may) {
				EXPECT_TRUE(filled(remote.data, LENGTH, 3));
				EXPECT_TRUE(filled(self->local.data, LENGTH, 1));
			}
			mr_destroy(&remote);
		}
	}
}

/*
 * Deregistering an MR in use
 */

TEST_F(reach, busy_memory_stays_and_works)
{
	struct mr room;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, LOCAL,
			       &room));
	entry = sqe_receive(self->pair.b.id, 7, &room, 0, LENGTH);
	ASSERT_EQ(0, ring_submit(self->pair.b.ring, &entry, 1, NULL));

	for (int i = 0; i < 3; i++)
		EXPECT_EQ(-EBUSY, mr_deregister(self->pair.sessions[1], room.id, 0));
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_operate(&self->pair, sqe_send(self->pair.a.id, 1, &self->local, 0, LENGTH)));
	ASSERT_EQ(0, ring_wait(self->pair.b.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	EXPECT_TRUE(filled(room.data, LENGTH, 1));
	/* After the completion the MR can be deregistered. */
	EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], room.id, 0));
	munmap(room.data, LENGTH);
}

TEST_F(reach, released_later)
{
	struct resources with, now;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct mr room;

	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, ACCESS_ALL,
			       &room));
	entry = sqe_receive(self->pair.b.id, 7, &room, 0, LENGTH);
	ASSERT_EQ(0, ring_submit(self->pair.b.ring, &entry, 1, NULL));
	ASSERT_EQ(0, resources_read(&with));

	EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], room.id, KRDMA_DEREGISTER_LATER));
	EXPECT_EQ(-ENOENT, mr_deregister(self->pair.sessions[1], room.id, 0));
	EXPECT_EQ(-ENOENT, ring_submit(self->pair.b.ring, &entry, 1, NULL));
	ASSERT_EQ(0, resources_read(&now));
	EXPECT_EQ(with.count[RESOURCE_MR], now.count[RESOURCE_MR]);

	/* The work request in flight is not affected. */
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_operate(&self->pair, sqe_send(self->pair.a.id, 1, &self->local, 0, LENGTH)));
	ASSERT_EQ(0, ring_wait(self->pair.b.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	EXPECT_TRUE(filled(room.data, LENGTH, 1));
	with.count[RESOURCE_MR]--;
	EXPECT_EQ(0, resources_await(&with, PATIENCE_MS));
	munmap(room.data, LENGTH);
}

/* A post finds the MR ID or not, but never uses freed memory. */
TEST_F(reach, release_races_with_posts)
{
	unsigned char *data = pages(LENGTH, PROT_READ | PROT_WRITE);
	struct writer writer = { .pair = &self->pair };
	struct mr changing = { .data = data };
	struct mr remote;
	unsigned int wins = 0;
	uint64_t deadline;

	fill(data, LENGTH, 1);
	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, ACCESS_ALL,
			       &remote));
	deadline = now_ms() + rounds(3000, 1000);
	while (now_ms() < deadline) {
		struct mr next;
		pthread_t thread;
		int ret;

		ASSERT_EQ(0, mr_register(self->pair.sessions[0], self->pair.device, data,
					 LENGTH, LOCAL, &next));
		changing = next;
		writer.local = &changing;
		writer.remote = &remote;
		writer.ret = 0;
		writer.stop = false;
		writer.released = false;
		ASSERT_EQ(0, pthread_create(&thread, NULL, keep_writing, &writer));
		while ((ret = mr_deregister(self->pair.sessions[0], next.id, 0)) == -EBUSY)
			;
		__atomic_store_n(&writer.released, true, __ATOMIC_RELEASE);
		EXPECT_EQ(0, ret);
		pthread_join(thread, NULL);
		/* Found during deregistration, or not found; never found afterwards. */
		EXPECT_EQ(writer.late || writer.ret != -ESTALE ? -ENOENT : -ESTALE, writer.ret);
		EXPECT_EQ(-ENOENT, pair_write(&self->pair, &changing, &remote));
		wins++;
	}
	EXPECT_LT(0, wins);
	mr_destroy(&remote);
	munmap(data, LENGTH);
}

TEST_HARNESS_MAIN
