// SPDX-License-Identifier: GPL-2.0
/*
 * A user reaches a limit, stays there, and goes, for each limit of Documentation/limits.rst.
 * Meanwhile a program of another user writes to a peer, registers and deregisters memory, opens and
 * closes a listener and a session that hears of devices, and now and then has a child that exits
 * with memory that a connection uses.  The longest time that one of its rounds took is printed for
 * each phase, and has a bound.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define PARAMETERS	"/sys/module/krdma/parameters/"
#define ROOT		"/tmp/krdma-bystander"
#define GROUP		ROOT "/test"

#define PAGE		4096
#define PIECE		(64 * 1024)
#define FILES		16384
#define GONE_MS		30000
/*
 * Longest round of the other user's program, in microseconds.  The debug kernel is many times
 * slower.
 */
#define BOUND_US	rounds(100000, 1000000)
/*
 * The same while a program with many pairs of connections is killed.  7.2 processes each message of
 * a connection in a thread that shares the CPUs with those that end the connections.
 */
#define PAIRS_BOUND_US	rounds(kernel_is("7.") ? 300000 : 100000, 3000000)
/* How long each phase is watched. */
#define PHASE_MS	rounds(200, 2000)
/* Between two rounds, so that the program that reaches the limit has a CPU most of the time. */
#define PAUSE_US	rounds(1000, 100000)
/* Rounds from one child to the next. */
#define CHILD_ROUNDS	16
/* The users of a user namespace, outside of it. */
#define SUB_FIRST	200000
#define SUB_USERS	1000

/**
 * struct bystander - shared with the program of the other user
 * @ready: it has made its first round
 * @over: it is to end
 * @worst_us: duration of its longest round; the test sets it to 0
 * @worst_step: what took longest in that round
 * @rounds: number of rounds
 * @reached: the user has reached its limit
 * @made: the user has made a user namespace
 * @mapped: it has users
 */
struct bystander {
	atomic_bool ready;
	atomic_bool over;
	atomic_ullong worst_us;
	atomic_uintptr_t worst_step;
	atomic_ullong rounds;
	atomic_bool reached;
	atomic_bool made;
	atomic_bool mapped;
};

/*
 * The other user
 */

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

/*
 * The exit of a process waits until no device can use its memory: until a connection that has it in
 * a receive has ended.
 */
static int exit_with_memory(void *context)
{
	const struct pair *pair = context;
	struct pair own;
	struct krdma_sqe entry;
	struct mr mr;
	int ret;

	ret = pair_open(&own, &(struct pair_options) {
		.sessions = { pair->sessions[0], pair->sessions[0] },
		.a = { .send_depth = 1, .recv_depth = 1 },
		.b = { .send_depth = 1, .recv_depth = 1 } });
	ret = ret ?: mr_create(pair->sessions[0], pair->device, PAGE, KRDMA_ACCESS_LOCAL_WRITE,
			       &mr);
	if (ret)
		return ret;
	entry = sqe_receive(own.a.id, 1, &mr, 0, PAGE);
	return ring_post(own.a.ring->fd, &entry, 1, NULL);
}

static int have_child(struct pair *pair)
{
	pid_t child = child_start(exit_with_memory, pair);
	int status;

	if (child < 0)
		return child;
	return waitpid(child, &status, 0) == child && !status ? 0 : -ECHILD;
}

/* The close of a session with notifications of devices waits for nobody else's. */
static int hear_of_devices(void)
{
	struct krdma_device_notify_args notify = { .size = sizeof(notify) };
	int session = session_open(O_CLOEXEC);
	int ret;

	if (session < 0)
		return session;
	ret = session_request(session, KRDMA_DEVICE_NOTIFY, &notify);
	close(session);
	return ret;
}

static int use_memory(struct pair *pair, void *page)
{
	struct mr mr;
	int ret;

	ret = mr_register(pair->sessions[0], pair->device, page, PAGE, KRDMA_ACCESS_LOCAL_WRITE,
			  &mr);
	return ret ?: mr_deregister(pair->sessions[0], mr.id, 0);
}

/* The end of a listener is a work item. */
static int listen_for_a_moment(struct pair *pair)
{
	int fd, ret;

	ret = listener_open(pair->sessions[0], BOOT_ADDRESS, 0, 1, &fd, NULL);
	if (!ret)
		close(fd);
	return ret;
}

/* The step of a round that took longest so far. */
struct longest {
	const char *step;
	uint64_t us;
	uint64_t begun;
};

static int step_took(struct longest *longest, const char *step, int ret)
{
	uint64_t now = now_us();

	if (now - longest->begun > longest->us) {
		longest->us = now - longest->begun;
		longest->step = step;
	}
	longest->begun = now;
	return ret;
}

static int one_round(struct pair *pair, const struct mr *from, const struct mr *to, void *page,
		     bool child, struct longest *longest)
{
	int ret;

	ret = step_took(longest, "write", pair_write(pair, from, to));
	ret = ret ?: step_took(longest, "memory", use_memory(pair, page));
	ret = ret ?: step_took(longest, "listener", listen_for_a_moment(pair));
	ret = ret ?: step_took(longest, "session", hear_of_devices());
	if (child)
		ret = ret ?: step_took(longest, "child", have_child(pair));
	return ret;
}

/* It has a higher priority, so that it waits for what others hold and not for a CPU. */
static int go_on(void *context)
{
	const struct sched_param priority = { .sched_priority = 40 };
	struct bystander *shared = context;
	struct mr from, to;
	struct pair pair;
	void *page;

	CHECK(!sched_setscheduler(0, SCHED_FIFO, &priority));
	CHECK(!child_become(OTHER_USER));
	CHECK(!pair_open(&pair, NULL));
	CHECK(!mr_create(pair.sessions[0], pair.device, PAGE, KRDMA_ACCESS_LOCAL_WRITE, &from));
	CHECK(!mr_create(pair.sessions[0], pair.device, PAGE,
			 KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE, &to));
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	while (!shared->over) {
		uint64_t begin = now_us(), took;
		struct longest longest = { .begun = begin };

		CHECK(!one_round(&pair, &from, &to, page, shared->rounds % CHILD_ROUNDS == 0,
				 &longest));
		took = longest.begun - begin;
		if (took > shared->worst_us) {
			shared->worst_us = took;
			shared->worst_step = (uintptr_t)longest.step;
		}
		shared->rounds++;
		shared->ready = true;
		usleep(PAUSE_US);
	}
	return 0;
}

/*
 * The user who reaches a limit: each function returns the errno that ended it, or 0.
 */

static int many_sessions(void)
{
	int ret;

	do {
		ret = session_open(O_CLOEXEC);
	} while (ret >= 0);
	return ret;
}

static int sessions_of_a_namespace(void)
{
	if (unshare(CLONE_NEWUSER))
		return -errno;
	return many_sessions();
}

static int many_conns(void)
{
	int session = session_open(O_CLOEXEC);
	int ret, fd;

	do {
		ret = conn_create(session, &fd, NULL);
	} while (!ret);
	return ret;
}

static int many_listeners(void)
{
	int session = session_open(O_CLOEXEC);
	int ret, fd;

	do {
		ret = listener_open(session, BOOT_ADDRESS, 0, 1, &fd, NULL);
	} while (!ret);
	return ret;
}

static int memory_in_pieces(size_t length)
{
	int session = session_open(O_CLOEXEC);
	uint32_t device;
	struct mr mr;
	int ret;

	ret = boot_device(session, &device);
	while (!ret)
		ret = mr_create(session, device, length, KRDMA_ACCESS_LOCAL_WRITE, &mr);
	return ret;
}

static int much_memory(void)
{
	return memory_in_pieces(PIECE);
}

/* As many MRs as the memory allows. */
static int many_pages(void)
{
	return memory_in_pieces(PAGE);
}

static int many_rings(void)
{
	const struct ring_options options = { .cq_entries = 8192 };
	int session = session_open(O_CLOEXEC);
	struct ring ring;
	int ret;

	do {
		ret = ring_create(session, &options, &ring);
	} while (!ret);
	return ret;
}

static void *hear_again_and_again(void *unused)
{
	for (;;)
		hear_of_devices();
	return unused;
}

/* While threads use what all sessions have in common, and need memory for it. */
static int many_rings_and_notifiers(void)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		int ret = -pthread_create(&thread, NULL, hear_again_and_again, NULL);

		if (ret)
			return ret;
	}
	return many_rings();
}

static int deep_queues(void)
{
	int session = session_open(O_CLOEXEC);
	struct __kernel_sockaddr_storage address;
	struct krdma_device_query_args device;
	struct end_options options = {};
	uint32_t id;
	int ret;

	ret = boot_device(session, &id) ?: session_device(session, id, &device) ?:
	      address_set(&address, BOOT_ADDRESS, 7611);
	options.recv_depth = device.max_recv_wr + 1;
	for (int i = 0; !ret && i < 100; i++) {
		struct end end;

		end_init(&end, session);
		ret = conn_create(session, &end.conn, &end.id) ?:
		      conn_resolve(end.conn, &address) ?:
		      conn_wait(end.conn, deadline_in(PATIENCE_MS), NULL);
		if (!ret && end_create_qp(&end, &options) != -EINVAL)
			return 0;
		end_close(&end);
	}
	return ret ?: -EINVAL;
}

/* Clients of the same user; they share a ring. */
static int many_requests(void)
{
	const struct ring_options ring_options = { .cq_entries = 4096 };
	static struct end clients[256];
	int session = session_open(O_CLOEXEC);
	struct __kernel_sockaddr_storage address;
	struct end_options options = { .send_depth = 4, .recv_depth = 4 };
	struct ring ring;
	int fd, ret;

	ret = listener_open(session, BOOT_ADDRESS, 0, 0, &fd, &address) ?:
	      ring_create(session, &ring_options, &ring);
	options.ring = &ring;
	for (size_t i = 0; !ret && i < ARRAY_SIZE(clients); i++) {
		ret = end_ask(&clients[i], session, &address, &options);
		for (size_t j = 0; !ret && j <= i; j++) {
			int state = conn_wait(clients[j].conn, 0, NULL);

			ret = state == -EINPROGRESS ? 0 : state;
		}
	}
	/* The answer may come when the last one has asked. */
	return ret ?: conn_wait(clients[ARRAY_SIZE(clients) - 1].conn, deadline_in(PATIENCE_MS),
				NULL);
}

/* Connections that all end by a remote access error: the error is the limit. */
static int denied_accesses(void)
{
	const struct ring_options ring_options = { .cq_entries = 4096 };
	const unsigned int count = rounds(128, 64);
	static struct pair pairs[128];
	int session = session_open(O_CLOEXEC);
	struct pair_options options = {
		.sessions = { session, session },
		.a = { .send_depth = 4, .recv_depth = 4 },
		.b = { .send_depth = 4, .recv_depth = 4 },
	};
	struct ring ring;
	struct mr mr;
	int ret;

	ret = ring_create(session, &ring_options, &ring);
	options.a.ring = &ring;
	options.b.ring = &ring;
	for (size_t i = 0; !ret && i < count; i++)
		ret = pair_open(&pairs[i], &options);
	/* Without the right to write. */
	ret = ret ?: mr_create(session, pairs[0].device, PAGE, KRDMA_ACCESS_REMOTE_READ, &mr);
	for (size_t i = 0; !ret && i < count; i++) {
		struct krdma_sqe entry = sqe_remote(KRDMA_OP_WRITE, pairs[i].a.id, 1, &mr, 0, 8,
						    &mr, 0);

		ret = ring_submit(&ring, &entry, 1, NULL);
	}
	for (size_t i = 0; !ret && i < count; i++) {
		ret = conn_await_closed(pairs[i].a.conn, PATIENCE_MS) ?:
		      conn_await_closed(pairs[i].b.conn, PATIENCE_MS);
	}
	return ret ?: -EACCES;
}

/*
 * Connections that all end when the program is killed.  They have memory in a receive, so the exit
 * of the program waits until the last one has ended.
 */
static int many_pairs(void)
{
	const struct ring_options ring_options = { .cq_entries = 4096 };
	static struct pair pairs[512];
	int session = session_open(O_CLOEXEC);
	struct pair_options options = {
		.sessions = { session, session },
		.a = { .send_depth = 1, .recv_depth = 1 },
		.b = { .send_depth = 1, .recv_depth = 1 },
	};
	struct ring rings[2];
	struct mr mr;
	int ret;

	ret = ring_create(session, &ring_options, &rings[0]) ?:
	      ring_create(session, &ring_options, &rings[1]);
	options.a.ring = &rings[0];
	options.b.ring = &rings[1];
	for (size_t i = 0; !ret && i < ARRAY_SIZE(pairs); i++) {
		struct krdma_sqe entry;

		ret = pair_open(&pairs[i], &options);
		if (!ret && !i)
			ret = mr_create(session, pairs[0].device, PAGE, KRDMA_ACCESS_LOCAL_WRITE,
					&mr);
		if (ret)
			break;
		entry = sqe_receive(pairs[i].a.id, 1, &mr, 0, PAGE);
		ret = ring_post(rings[0].fd, &entry, 1, NULL);
	}
	return ret;
}

/* The same, and each pair has a session of its own; with @users, that of another user. */
static int pairs_in_sessions(bool users)
{
	const struct ring_options ring_options = { .cq_entries = 16 };
	static struct pair pairs[512];
	static struct ring rings[512];
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(pairs); i++) {
		int session = users && setresuid(i + 1, 0, 0) ? -errno : session_open(O_CLOEXEC);
		const struct pair_options options = {
			.sessions = { session, session },
			.a = { .ring = &rings[i], .send_depth = 1, .recv_depth = 1 },
			.b = { .ring = &rings[i], .send_depth = 1, .recv_depth = 1 },
		};

		ret = session < 0 ? session : ring_create(session, &ring_options, &rings[i]) ?:
		      pair_open(&pairs[i], &options);
	}
	return ret;
}

static int many_sessions_with_a_pair(void)
{
	return pairs_in_sessions(false);
}

/* In a namespace that the user owns. */
static int many_users_with_a_pair(void)
{
	return pairs_in_sessions(true);
}

FIXTURE(bystander)
{
	struct bystander *shared;
	struct resources before;
	char saved[32];
	mode_t mode;
	bool mounted;
	pid_t other;
};

/**
 * struct limit - a row of the table
 * @reach: reaches the limit; returns the errno that ended it
 * @errors: errnos of which one ends it
 * @parameter: parameter of the module that is set meanwhile, or NULL: the default is reached
 * @value: its value
 * @slow_value: its value in the debug kernel; NULL: the same
 * @controller: controller of the control group in which the user is, or NULL
 * @file: file of the limit in that group
 * @max: what is written to the file
 * @resource: resource limit that is set, if @most is not 0
 * @most: its value
 * @killed: the user's program may be killed instead
 * @users: it is root of a namespace of the user's with more users
 * @pairs: it has many pairs of connections when it is killed
 *
 * The default limits of objects and of memory would take minutes to reach.
 */
struct limit {
	int (*reach)(void);
	int errors[2];
	const char *parameter;
	const char *value;
	const char *slow_value;
	const char *controller;
	const char *file;
	const char *max;
	int resource;
	unsigned long most;
	bool killed;
	bool users;
	bool pairs;
};

FIXTURE_VARIANT(bystander)
{
	struct limit limit;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(bystander, sessions) { {
	.reach = many_sessions, .errors = { -EDQUOT } } };
FIXTURE_VARIANT_ADD(bystander, objects) { {
	.reach = many_conns, .errors = { -EDQUOT }, .parameter = "max_objects", .value = "4096" } };
FIXTURE_VARIANT_ADD(bystander, ports) { {
	.reach = many_listeners, .errors = { -EDQUOT },
	.parameter = "max_ports", .value = "1024" } };
FIXTURE_VARIANT_ADD(bystander, memory) { {
	.reach = much_memory, .errors = { -EDQUOT }, .parameter = "max_memory_mb", .value = "64",
	.resource = RLIMIT_MEMLOCK, .most = RLIM_INFINITY } };
FIXTURE_VARIANT_ADD(bystander, pages) { {
	.reach = many_pages, .errors = { -EDQUOT },
	.parameter = "max_memory_mb", .value = "256", .slow_value = "64",
	.resource = RLIMIT_MEMLOCK, .most = RLIM_INFINITY } };
FIXTURE_VARIANT_ADD(bystander, user_namespace) { {
	.reach = sessions_of_a_namespace, .errors = { -EDQUOT } } };
FIXTURE_VARIANT_ADD(bystander, pinned_memory) { {
	.reach = much_memory, .errors = { -ENOMEM },
	.resource = RLIMIT_MEMLOCK, .most = 8 << 20 } };
FIXTURE_VARIANT_ADD(bystander, descriptors) { {
	.reach = many_conns, .errors = { -EMFILE },
	.resource = RLIMIT_NOFILE, .most = 1024 } };
FIXTURE_VARIANT_ADD(bystander, device_of_a_group) { {
	.reach = much_memory, .errors = { -EDQUOT }, .controller = "rdma", .file = "rdma.max",
	.max = BOOT_DEVICE " hca_handle=max hca_object=64" } };
FIXTURE_VARIANT_ADD(bystander, memory_of_a_group) { {
	.reach = many_rings_and_notifiers, .errors = { -ENOMEM, -EDQUOT }, .controller = "memory",
	.file = "memory.max", .max = "64M", .killed = true } };
FIXTURE_VARIANT_ADD(bystander, backlog) { {
	.reach = many_requests, .errors = { -ECONNREFUSED } } };
FIXTURE_VARIANT_ADD(bystander, depth) { {
	.reach = deep_queues, .errors = { -EINVAL } } };
FIXTURE_VARIANT_ADD(bystander, connections) { {
	.reach = many_pairs, .errors = { -EDQUOT }, .parameter = "max_ports",
	.value = "1000", .slow_value = "200", .pairs = true } };
FIXTURE_VARIANT_ADD(bystander, connections_of_sessions) { {
	.reach = many_sessions_with_a_pair, .errors = { -EDQUOT },
	.parameter = "max_sessions", .value = "499", .slow_value = "99",
	.pairs = true } };
FIXTURE_VARIANT_ADD(bystander, connections_of_users) { {
	.reach = many_users_with_a_pair, .errors = { -EDQUOT },
	.parameter = "max_sessions", .value = "499", .slow_value = "99",
	.users = true, .pairs = true } };
FIXTURE_VARIANT_ADD(bystander, denied) { {
	.reach = denied_accesses, .errors = { -EACCES } } };

/* clang-format on */

/* The program of the user who reaches the limit. */
struct reacher {
	struct bystander *shared;
	const struct limit *limit;
};

/* Without a map, nobody is root there. */
static void become_root_of_users(struct bystander *shared)
{
	CHECK(!prctl(PR_SET_DUMPABLE, 1) && !unshare(CLONE_NEWUSER));
	shared->made = true;
	while (!shared->mapped)
		sleep_ms(1);
	CHECK(!setresuid(0, 0, 0));
}

/* Root is the owner, and the others are users whom no other test has. */
static int map_users(pid_t child)
{
	char path[64], map[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", child);
	snprintf(map, sizeof(map), "0 %u 1\n1 %u %u\n", SOME_USER, SUB_FIRST, SUB_USERS);
	return write_text(path, map);
}

static int reach(void *context)
{
	const struct rlimit files = { FILES, FILES };
	struct reacher *reacher = context;
	const struct limit *limit = reacher->limit;
	const struct rlimit most = { limit->most, limit->most };
	int ret;

	if (limit->controller)
		CHECK(!write_text(GROUP "/cgroup.procs", "0"));
	CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	if (limit->most)
		CHECK(!setrlimit(limit->resource, &most));
	CHECK(!child_become(SOME_USER));
	if (limit->users)
		become_root_of_users(reacher->shared);
	ret = limit->reach();
	if (ret != limit->errors[0] && ret != limit->errors[1])
		printf("# ended by %s\n", strerror(-ret));
	CHECK(ret && (ret == limit->errors[0] || ret == limit->errors[1]));
	reacher->shared->reached = true;
	pause();
	return 0;
}

FIXTURE_SETUP(bystander)
{
	const struct limit *limit = &variant->limit;
	struct stat status;

	if (limit->controller) {
		char line[256] = "";

		mkdir(ROOT, 0755);
		self->mounted = !mount("none", ROOT, "cgroup2", 0, NULL);
		if (self->mounted)
			read_line(line, sizeof(line), ROOT "/cgroup.controllers");
		if (!strstr(line, limit->controller))
			SKIP(return, "no %s controller: '%s'", limit->controller, line);
		snprintf(line, sizeof(line), "+%s", limit->controller);
		ASSERT_EQ(0, write_text(ROOT "/cgroup.subtree_control", line));
		ASSERT_TRUE(!mkdir(GROUP, 0755) || errno == EEXIST);
		snprintf(line, sizeof(line), GROUP "/%s", limit->file);
		ASSERT_EQ(0, write_text(line, limit->max));
	}
	if (limit->parameter) {
		bool slow = limit->slow_value && stride(0, 1);
		char path[128];

		snprintf(path, sizeof(path), PARAMETERS "%s", limit->parameter);
		ASSERT_EQ(0, read_line(self->saved, sizeof(self->saved), "%s", path));
		ASSERT_EQ(0, write_text(path, slow ? limit->slow_value : limit->value));
	}
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	self->mode = status.st_mode;
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
	self->shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	self->other = child_start(go_on, self->shared);
	ASSERT_LT(0, self->other);
	for (int i = 0; i < PATIENCE_MS && !self->shared->ready; i++)
		sleep_ms(1);
	ASSERT_TRUE(self->shared->ready);
}

FIXTURE_TEARDOWN(bystander)
{
	const struct limit *limit = &variant->limit;

	chmod(SESSION_PATH, self->mode & 07777);
	if (limit->parameter) {
		char path[128];

		snprintf(path, sizeof(path), PARAMETERS "%s", limit->parameter);
		EXPECT_EQ(0, write_text(path, self->saved));
	}
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
	if (limit->controller) {
		char line[64];

		/* A group that goes with a limit leaves a record of it in some kernels. */
		if (!strcmp(limit->controller, "rdma"))
			write_text(GROUP "/rdma.max",
				   BOOT_DEVICE " hca_handle=max hca_object=max");
		rmdir(GROUP);
		snprintf(line, sizeof(line), "-%s", limit->controller);
		write_text(ROOT "/cgroup.subtree_control", line);
	}
	if (self->mounted)
		umount(ROOT);
	rmdir(ROOT);
}

/* One phase: the longest round, and what took longest in it. */
struct phase {
	uint64_t us;
	const char *step;
};

static struct phase worst_since(struct bystander *shared)
{
	const uint64_t us = atomic_exchange(&shared->worst_us, 0);

	return (struct phase) { us, us ? (const char *)shared->worst_step : "nothing" };
}

/* Proves: F6 */
TEST_F_TIMEOUT(bystander, goes_on, 600)
{
	const struct limit *limit = &variant->limit;
	struct reacher reacher = { self->shared, limit };
	const uint64_t bound = limit->pairs ? PAIRS_BOUND_US : BOUND_US;
	struct phase before, reaching, there, after;
	uint64_t made;
	bool killed = false;
	int status;
	pid_t child;

	worst_since(self->shared);
	sleep_ms(PHASE_MS);
	before = worst_since(self->shared);

	child = child_start(reach, &reacher);
	ASSERT_LT(0, child);
	while (!self->shared->reached && !killed) {
		if (self->shared->made && !self->shared->mapped) {
			EXPECT_EQ(0, map_users(child));
			self->shared->mapped = true;
		}
		killed = waitpid(child, &status, WNOHANG) == child;
		sleep_ms(1);
	}
	reaching = worst_since(self->shared);
	if (killed && !(limit->killed && WIFSIGNALED(status)))
		EXPECT_EQ(0, status);

	made = self->shared->rounds;
	sleep_ms(PHASE_MS);
	there = worst_since(self->shared);
	EXPECT_LT(made, self->shared->rounds);
	if (!killed)
		EXPECT_LE(0, child_kill(child));
	sleep_ms(PHASE_MS);
	after = worst_since(self->shared);

	self->shared->over = true;
	EXPECT_EQ(self->other, waitpid(self->other, &status, 0));
	EXPECT_EQ(0, status);
	printf("# longest round of another user, in us: %llu (%s) before, %llu (%s) on the way%s, ",
	       (unsigned long long)before.us, before.step, (unsigned long long)reaching.us,
	       reaching.step, killed ? " until the program was killed" : "");
	printf("%llu (%s) at the limit, %llu (%s) after it\n", (unsigned long long)there.us,
	       there.step, (unsigned long long)after.us, after.step);
	EXPECT_GE(bound, reaching.us);
	EXPECT_GE(bound, there.us);
	EXPECT_GE(bound, after.us);
}

TEST_HARNESS_MAIN
