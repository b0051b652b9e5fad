// SPDX-License-Identifier: GPL-2.0
/*
 * An MR ends with the process that owns its memory, whichever process has the session then.
 *
 * The processes that own memory here are children.  The session and its objects are also held by
 * the test, or by the test alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fd_pass.h"
#include "interrupt.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define LENGTH		(16 * 4096)

/* Memory shared between a child and the test. */
struct shared {
	struct mr mr;
	bool ready;
	bool go;
	int ret;
};

static bool shared_ready(struct shared *shared)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;

	while (!__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE)) {
		if (now_ms() > deadline)
			return false;
		sleep_ms(1);
	}
	return !shared->ret;
}

static void shared_tell(struct shared *shared, int ret)
{
	shared->ret = ret;
	__atomic_store_n(&shared->ready, true, __ATOMIC_RELEASE);
}

FIXTURE(owner)
{
	struct resources before;
	struct pair pair;
	struct mr local;
	struct shared *shared;
};

FIXTURE_VARIANT(owner)
{
	const char *force_pin;
};

FIXTURE_VARIANT_ADD(owner, driver)
{
	.force_pin = "0",
};

FIXTURE_VARIANT_ADD(owner, pinned)
{
	.force_pin = "1",
};

FIXTURE_SETUP(owner)
{
	static const struct pair_options options = { .two_sessions = true };

	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, LENGTH, ACCESS_ALL,
			       &self->local));
	fill(self->local.data, LENGTH, 1);
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->shared != MAP_FAILED);
}

FIXTURE_TEARDOWN(owner)
{
	mr_destroy(&self->local);
	pair_close(&self->pair);
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
	munmap(self->shared, sizeof(*self->shared));
	write_text(FORCE_PIN, "0");
}

/* A child registers its memory in B's session, and keeps it until it is killed. */
struct child_memory {
	int session;
	uint32_t device;
	struct shared *shared;
};

static int own_memory(void *context)
{
	const struct child_memory *child = context;
	struct mr mr;
	int ret = mr_create(child->session, child->device, LENGTH, ACCESS_ALL, &mr);

	if (!ret)
		fill(mr.data, LENGTH, 5);
	child->shared->mr = mr;
	shared_tell(child->shared, ret);
	return pause();
}

/* The memory is free at once; the objects that registered it can take a little longer. */
static int memory_is(const struct resources *with)
{
	static const enum resource_kind kinds[] = { RESOURCE_MR, RESOURCE_PINS };
	struct resources now;
	int more = 0;

	if (resources_read(&now))
		return -EIO;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (now.count[kinds[i]] <= with->count[kinds[i]])
			continue;
		ksft_print_msg("%s: %lld, not %lld\n", resource_name(kinds[i]),
			       (long long)now.count[kinds[i]], (long long)with->count[kinds[i]]);
		more++;
	}
	return more;
}

static pid_t start_owner(struct pair *pair, struct shared *shared, child_function *function)
{
	struct child_memory child = { pair->sessions[1], pair->device, shared };

	return child_start(function, &child);
}

/* Kill the child and wait for its end.  Returns whether that took too long. */
static bool end_owner(pid_t pid)
{
	/* Time in ms by which working devices may delay the exit of a process. */
	const unsigned int most = rounds(100, 2000);
	int64_t ms = child_kill(pid);

	if (ms < 0 || ms > most)
		ksft_print_msg("the end of the process took %lld ms\n", (long long)ms);
	return ms >= 0 && ms <= most;
}

/* Proves: F6 */
TEST_F(owner, peers_do_not_reach_the_memory_of_a_dead_process)
{
	pid_t pid = start_owner(&self->pair, self->shared, own_memory);

	ASSERT_LT(0, pid);
	ASSERT_TRUE(shared_ready(self->shared));
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_read(&self->pair, &self->local, &self->shared->mr));
	EXPECT_TRUE(filled(self->local.data, LENGTH, 5));

	EXPECT_TRUE(end_owner(pid));
	EXPECT_EQ(-ENOENT, mr_deregister(self->pair.sessions[1], self->shared->mr.id, 0));
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR,
		  pair_read(&self->pair, &self->local, &self->shared->mr));
}

/* The child opens the session, and sends it to the test by a socket. */
static int send_session(void *context)
{
	const struct child_memory *child = context;
	struct child_memory own = *child;
	int session = session_open(O_CLOEXEC);

	if (session < 0 || fd_send(child->session, session))
		shared_tell(child->shared, -ECOMM);
	own.session = session;
	return own_memory(&own);
}

TEST_F(owner, a_session_that_was_handed_on_outlives_the_memory)
{
	struct pair_options options = {};
	struct child_memory child;
	struct resources with;
	struct pair pair;
	int channel[2];
	pid_t pid;
	int ret;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, channel));
	child = (struct child_memory) { channel[1], self->pair.device, self->shared };
	pid = child_start(send_session, &child);
	ASSERT_LT(0, pid);
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = fd_receive(channel[0]);
	ASSERT_LE(0, options.sessions[1]);
	ASSERT_TRUE(shared_ready(self->shared));

	ret = pair_open(&pair, &options);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, resources_read(&with));
	if (!ret)
		EXPECT_EQ(KRDMA_WC_SUCCESS,
			  pair_read(&pair, &self->local, &self->shared->mr));
	EXPECT_TRUE(end_owner(pid));
	with.count[RESOURCE_MR]--;
	with.count[RESOURCE_PINS] -= LENGTH / sysconf(_SC_PAGESIZE);
	EXPECT_EQ(0, memory_is(&with));
	if (!ret)
		EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR,
			  pair_read(&pair, &self->local, &self->shared->mr));

	pair_close(&pair);
	close(options.sessions[1]);
	close(channel[0]);
	close(channel[1]);
}

/* Another process has work requests in flight that use the memory: their connection ends. */
/* Proves: F4 */
TEST_F(owner, operations_with_the_memory_of_a_dead_process_end)
{
	const struct pair_options options = {
		.sessions = { self->pair.sessions[0], self->pair.sessions[1] },
	};
	pid_t pid = start_owner(&self->pair, self->shared, own_memory);
	struct krdma_conn_query_args query;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct pair other;

	ASSERT_LT(0, pid);
	ASSERT_TRUE(shared_ready(self->shared));
	ASSERT_EQ(0, pair_open(&other, &options));

	entry = sqe_receive(self->pair.b.id, 9, &self->shared->mr, 0, LENGTH);
	ASSERT_EQ(0, ring_submit(self->pair.b.ring, &entry, 1, NULL));
	EXPECT_EQ(-EBUSY, mr_deregister(self->pair.sessions[1], self->shared->mr.id, 0));

	EXPECT_TRUE(end_owner(pid));
	EXPECT_EQ(-ENOENT, mr_deregister(self->pair.sessions[1], self->shared->mr.id, 0));
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_query(self->pair.b.conn, NULL, 0, &query));
	EXPECT_EQ(-ECONNABORTED, query.error);
	ASSERT_EQ(0, ring_wait(self->pair.b.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(9, cqe.wr_id);
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
	/* The peer gets the disconnect. */
	EXPECT_EQ(0, conn_await_closed(self->pair.a.conn, PATIENCE_MS));

	/* Other connections of the same sessions keep working. */
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_operate(&other, sqe_remote(KRDMA_OP_WRITE, other.a.id, 3, NULL, 0, 0,
						  &self->local, 0)));
	pair_close(&other);
}

/* The same, when the MR's ID was released before. */
TEST_F(owner, memory_to_be_released_later_ends_with_its_process)
{
	pid_t pid = start_owner(&self->pair, self->shared, own_memory);
	struct resources with;
	struct krdma_sqe entry;

	ASSERT_LT(0, pid);
	ASSERT_TRUE(shared_ready(self->shared));
	entry = sqe_receive(self->pair.b.id, 9, &self->shared->mr, 0, LENGTH);
	ASSERT_EQ(0, ring_submit(self->pair.b.ring, &entry, 1, NULL));
	EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], self->shared->mr.id,
				   KRDMA_DEREGISTER_LATER));
	ASSERT_EQ(0, resources_read(&with));
	EXPECT_TRUE(end_owner(pid));
	with.count[RESOURCE_MR]--;
	EXPECT_EQ(0, memory_is(&with));
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
}

/* A thread that waits for nothing but the end of what it polls. */
static void *await_hangup(void *context)
{
	poll(context, 1, PATIENCE_MS);
	return NULL;
}

/* Receives posted to an SRQ keep memory in use, too. */
TEST_F(owner, receives_in_a_shared_queue_end)
{
	struct krdma_srq_create_args create = { .size = sizeof(create), .depth = 16 };
	struct pair_options options = {
		.sessions = { self->pair.sessions[0], self->pair.sessions[1] },
	};
	pid_t pid = start_owner(&self->pair, self->shared, own_memory);
	struct krdma_conn_create_qp_args prepare = {
		.size = sizeof(prepare), .flags = KRDMA_CREATE_QP_SRQ,
	};
	struct pollfd watch = { .events = POLLOUT }, hangup = { .events = 0 };
	pthread_t thread;
	struct krdma_sqe entry;
	struct resources with;
	struct ring ring;
	struct pair other;
	int conn;

	ASSERT_LT(0, pid);
	ASSERT_TRUE(shared_ready(self->shared));
	ASSERT_EQ(0, ring_create(self->pair.sessions[1],
				 &(struct ring_options){ .device_id = self->pair.device },
				 &ring));
	create.ring_fd = ring.fd;
	ASSERT_EQ(0, session_request(self->pair.sessions[1], KRDMA_SRQ_CREATE, &create));
	options.b.srq = create.fd;
	watch.fd = create.fd;
	hangup.fd = create.fd;
	ASSERT_EQ(0, pair_open(&other, &options));
	entry = sqe_receive(create.id, 9, &self->shared->mr, 0, LENGTH);
	ASSERT_EQ(0, ring_submit(&ring, &entry, 1, NULL));
	ASSERT_EQ(0, resources_read(&with));
	ASSERT_EQ(0, pthread_create(&thread, NULL, await_hangup, &hangup));
	/* If it does not wait yet, the test notices less. */
	sleep_ms(100);

	EXPECT_TRUE(end_owner(pid));
	with.count[RESOURCE_MR]--;
	EXPECT_EQ(0, memory_is(&with));
	EXPECT_EQ(0, conn_await_closed(other.b.conn, PATIENCE_MS));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(POLLERR | POLLHUP, hangup.revents);
	/* The connection without the SRQ keeps working. */
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_operate(&self->pair, sqe_remote(KRDMA_OP_WRITE, self->pair.a.id, 3, NULL,
						       0, 0, &self->local, 0)));
	EXPECT_EQ(-ENOENT, ring_submit(&ring, &entry, 1, NULL));
	/* Nothing can be posted to the SRQ, and no connection can use it. */
	EXPECT_EQ(1, poll(&watch, 1, 0));
	EXPECT_EQ(POLLERR | POLLHUP, watch.revents);
	pair_close(&other);
	ASSERT_EQ(0, conn_create(self->pair.sessions[1], &conn, NULL));
	ASSERT_EQ(0, conn_resolve(conn, &self->pair.address));
	ASSERT_EQ(0, conn_wait(conn, deadline_in(PATIENCE_MS), NULL));
	prepare.ring_fd = ring.fd;
	prepare.srq_fd = create.fd;
	EXPECT_EQ(-ENOENT, session_request(conn, KRDMA_CONN_CREATE_QP, &prepare));
	close(conn);
	close(create.fd);
	ring_close(&ring);
}

/* execve() replaces the memory of the process. */
static int become_another(void *context)
{
	const struct child_memory *child = context;
	struct mr mr;
	int ret = mr_create(child->session, child->device, LENGTH, ACCESS_ALL, &mr);
	uint64_t deadline = now_ms() + PATIENCE_MS;

	child->shared->mr = mr;
	shared_tell(child->shared, ret);
	while (!__atomic_load_n(&child->shared->go, __ATOMIC_ACQUIRE) && now_ms() < deadline)
		sleep_ms(1);
	execl("/bin/sleep", "sleep", "1000", NULL);
	return __LINE__;
}

TEST_F(owner, memory_ends_with_exec)
{
	pid_t pid = start_owner(&self->pair, self->shared, become_another);
	struct resources with;

	ASSERT_LT(0, pid);
	ASSERT_TRUE(shared_ready(self->shared));
	ASSERT_EQ(0, resources_read(&with));
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_read(&self->pair, &self->local, &self->shared->mr));
	__atomic_store_n(&self->shared->go, true, __ATOMIC_RELEASE);
	with.count[RESOURCE_MR]--;
	EXPECT_EQ(0, resources_await(&with, PATIENCE_MS));
	EXPECT_EQ(0, kill(pid, 0));
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR,
		  pair_read(&self->pair, &self->local, &self->shared->mr));
	EXPECT_TRUE(end_owner(pid));
}

/**
 * struct reader - a thread that reads memory of a process
 * @memory: the file
 * @address: the address there
 * @page: the destination
 * @read: its result
 */
struct reader {
	int memory;
	uint64_t address;
	void *page;
	ssize_t read;
};

static void *read_memory(void *argument)
{
	struct reader *reader = argument;

	reader->read = pread(reader->memory, reader->page, 1, reader->address);
	return NULL;
}

/* The reader keeps the address space until it has read, and the process is over long before. */
TEST_F(owner, memory_ends_when_another_process_has_read_it)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	struct resources with;
	struct reader reader;
	pthread_t thread;
	char path[32];
	int faults;
	pid_t pid;

	reader.page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, reader.page);
	faults = faults_open(reader.page);
	if (faults < 0)
		SKIP(return, "no userfaultfd: %s", strerror(-faults));
	pid = start_owner(&self->pair, self->shared, own_memory);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(shared_ready(self->shared));
	reader.address = (uintptr_t)self->shared->mr.data;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	reader.memory = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, reader.memory);
	ASSERT_EQ(0, pthread_create(&thread, NULL, read_memory, &reader));
	ASSERT_EQ(POLLIN, poll_mask(faults, POLLIN, PATIENCE_MS));

	ASSERT_EQ(0, resources_read(&with));
	EXPECT_TRUE(end_owner(pid));
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_read(&self->pair, &self->local, &self->shared->mr));
	EXPECT_EQ(0, faults_answer(faults, reader.page));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(1, reader.read);
	with.count[RESOURCE_MR]--;
	EXPECT_EQ(0, resources_await(&with, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR,
		  pair_read(&self->pair, &self->local, &self->shared->mr));
	close(reader.memory);
	close(faults);
	munmap(reader.page, size);
}

/* A process that shares the address space of another process is not an owner by itself. */
static int share_memory(void *context)
{
	struct child_memory *child = context;

	child->shared->ret = mr_create(child->session, child->device, LENGTH, ACCESS_ALL,
				       &child->shared->mr);
	return 0;
}

TEST_F(owner, memory_stays_with_those_who_share_it)
{
	struct child_memory child = { self->pair.sessions[1], self->pair.device, self->shared };
	size_t size = 1 << 18;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	ASSERT_TRUE(stack != MAP_FAILED);
	pid = clone(share_memory, stack + size, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD,
		    &child);
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(0, self->shared->ret);
	fill(self->shared->mr.data, LENGTH, 6);
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_read(&self->pair, &self->local, &self->shared->mr));
	EXPECT_TRUE(filled(self->local.data, LENGTH, 6));
	EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], self->shared->mr.id, 0));
	munmap(self->shared->mr.data, LENGTH);
	munmap(stack, size);
}

/* A child has a copy of its parent's registered memory, which peers cannot access. */
struct copy {
	unsigned char *data;
	struct shared *shared;
};

static int look_at_copy(void *context)
{
	const struct copy *copy = context;
	uint64_t deadline = now_ms() + PATIENCE_MS;

	CHECK(filled(copy->data, LENGTH, 3));
	shared_tell(copy->shared, 0);
	while (!__atomic_load_n(&copy->shared->go, __ATOMIC_ACQUIRE)) {
		CHECK(now_ms() < deadline);
		sleep_ms(1);
	}
	CHECK(filled(copy->data, LENGTH, 3));
	/* The child writes to its own copy. */
	fill(copy->data, LENGTH, 4);
	return 0;
}

TEST_F(owner, peers_reach_the_parent_and_not_the_child)
{
	struct copy copy = { .shared = self->shared };
	struct mr remote;
	int status;
	pid_t pid;

	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, ACCESS_ALL,
			       &remote));
	fill(remote.data, LENGTH, 3);
	copy.data = remote.data;
	pid = child_start(look_at_copy, &copy);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(shared_ready(self->shared));

	/* The parent writes, too, and the device still accesses the parent's pages. */
	remote.data[0] ^= 0xff;
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_operate(&self->pair, sqe_remote(KRDMA_OP_WRITE, self->pair.a.id, 1,
						       &self->local, 0, LENGTH, &remote, 0)));
	EXPECT_TRUE(filled(remote.data, LENGTH, 1));
	__atomic_store_n(&self->shared->go, true, __ATOMIC_RELEASE);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);

	/* The child's exit does not affect the parent's MR. */
	EXPECT_TRUE(filled(remote.data, LENGTH, 1));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &self->local, &remote));
	mr_destroy(&remote);
}

/* A process exits while its threads register and deregister. */
static void *register_for_ever(void *context)
{
	const struct child_memory *child = context;

	for (;;) {
		struct mr mr;

		if (!mr_create(child->session, child->device, LENGTH, ACCESS_ALL, &mr)) {
			shared_tell(child->shared, 0);
			if (mr.id % 2)
				mr_destroy(&mr);
		}
	}
	return NULL;
}

static int register_and_exit(void *context)
{
	const struct child_memory *child = context;
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&thread, NULL, register_for_ever, context));
	CHECK(shared_ready(child->shared));
	sleep_ms(20);
	return 0;
}

TEST_F(owner, processes_that_end_while_they_register)
{
	struct resources with;

	ASSERT_EQ(0, resources_read(&with));
	for (unsigned int round = 0; round < rounds(20, 4); round++) {
		pid_t pid;

		self->shared->ready = false;
		pid = start_owner(&self->pair, self->shared, register_and_exit);
		ASSERT_LT(0, pid);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		/* After the exit no MR of the process is left. */
		EXPECT_EQ(0, memory_is(&with));
	}
}

/* The session and the owners of its memory end at the same time. */
TEST_F(owner, the_session_ends_with_its_owners)
{
	for (unsigned int round = 0; round < rounds(30, 5); round++) {
		struct shared *shared = self->shared;
		struct child_memory child = { .device = self->pair.device, .shared = shared };
		pid_t pid;

		child.session = session_open(O_CLOEXEC);
		ASSERT_LE(0, child.session);
		shared->ready = false;
		pid = child_start(own_memory, &child);
		ASSERT_LT(0, pid);
		ASSERT_TRUE(shared_ready(shared));
		ASSERT_EQ(0, kill(pid, SIGKILL));
		close(child.session);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
}

/*
 * On the first registration of a process, krdma registers an MMU notifier, which takes the locks
 * of all mappings.  It must not do this again each time that the process has no MR left.
 */
static uint64_t register_ns(const struct child_memory *child, void *data)
{
	struct timespec before, after;
	struct mr mr;

	clock_gettime(CLOCK_MONOTONIC, &before);
	CHECK(!mr_register(child->session, child->device, data, 4096, ACCESS_ALL, &mr));
	CHECK(!mr_deregister(child->session, mr.id, 0));
	clock_gettime(CLOCK_MONOTONIC, &after);
	return (uint64_t)(after.tv_sec - before.tv_sec) * 1000000000 + (uint64_t)after.tv_nsec -
	       (uint64_t)before.tv_nsec;
}

/*
 * Compare with the first registration, not with one that has few mappings.  A registration that
 * waits for the provider's thread varies by a factor of five with the load of the CPUs; the
 * locks of so many mappings take a hundred times as long.
 */
static int register_among_mappings(void *context)
{
	const size_t count = rounds(20000, 4000), page = 4096;
	const struct child_memory *child = context;
	uint64_t first, again = UINT64_MAX;
	char *data, *many;

	data = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	many = mmap(NULL, 2 * count * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(data != MAP_FAILED && many != MAP_FAILED);
	data[0] = 1;
	for (size_t i = 0; i < count; i++)
		CHECK(!mprotect(many + 2 * i * page, page, PROT_READ));
	first = register_ns(child, data);
	for (int i = 0; i < 20; i++) {
		uint64_t took = register_ns(child, data);

		again = took < again ? took : again;
	}
	printf("# %llu ns the first time, %llu again, among %zu mappings\n",
	       (unsigned long long)first, (unsigned long long)again, 2 * count);
	CHECK(4 * again < first);
	return 0;
}

TEST_F(owner, registering_again_does_not_look_at_all_mappings)
{
	struct child_memory child = {
		.session = self->pair.sessions[1],
		.device = self->pair.device,
	};

	EXPECT_EQ(0, child_run(register_among_mappings, &child));
}

TEST_HARNESS_MAIN
