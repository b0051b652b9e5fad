// SPDX-License-Identifier: GPL-2.0
/*
 * The effect of one user's program on all others: a user without capabilities allocates all that
 * the default limits allow, then exits.  Meanwhile another user keeps working, and on each CPU a
 * thread must run every millisecond.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fabric.h"
#include "pair.h"
#include "rdma_link.h"
#include "session.h"

/* Longest delay allowed for others.  The debug kernel is about twenty times slower. */
#define BOUND_US	rounds(100000, 2000000)

#define PORT		7499
#define PAGE		4096
/* One page each, of eight megabytes. */
#define MEMORIES	1200
#define CONNS		16
#define DEPTH		3900
#define PROCESSORS	8
#define TICK_NS		1000000

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/**
 * struct watcher - a thread that must not be delayed
 * @thread: the thread
 * @processor: CPU on which it runs, if it is bound to one
 * @over: the thread is to end
 * @worst_us: longest delay in microseconds; the test resets it to 0
 * @error: error of the thread
 * @session: session in which the other user registers memory
 * @device: device for which the other user registers memory
 */
struct watcher {
	pthread_t thread;
	int processor;
	atomic_bool over;
	atomic_ullong worst_us;
	atomic_int error;
	int session;
	uint32_t device;
};

static void watcher_saw(struct watcher *watcher, uint64_t ns)
{
	if (ns / 1000 > watcher->worst_us)
		watcher->worst_us = ns / 1000;
}

/* A real-time thread measures how late its timer wakes it. */
static void *watch_timer(void *argument)
{
	struct watcher *watcher = argument;
	const struct sched_param priority = { .sched_priority = 50 };
	struct timespec due;
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(watcher->processor, &here);
	watcher->error = pthread_setaffinity_np(pthread_self(), sizeof(here), &here) ?:
			 pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
	while (!watcher->over && !watcher->error) {
		uint64_t at = now_ns() + TICK_NS;

		due = (struct timespec) { .tv_sec = at / 1000000000, .tv_nsec = at % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		watcher_saw(watcher, now_ns() - at);
	}
	return NULL;
}

/* A thread with normal priority measures how late it runs on its CPU. */
static void *watch_turn(void *argument)
{
	struct watcher *watcher = argument;
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(watcher->processor, &here);
	watcher->error = pthread_setaffinity_np(pthread_self(), sizeof(here), &here);
	while (!watcher->over && !watcher->error) {
		uint64_t at = now_ns() + TICK_NS;
		struct timespec due = {
			.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000,
		};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		watcher_saw(watcher, now_ns() - at);
	}
	return NULL;
}

/*
 * Another user's program measures the time to register and to deregister.  It has a higher
 * priority, so that it waits for locks and not for the CPU.
 */
static void *watch_memory(void *argument)
{
	const struct sched_param priority = { .sched_priority = 40 };
	struct watcher *watcher = argument;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mr mr;

	watcher->error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
	while (!watcher->over && !watcher->error) {
		uint64_t begin = now_ns();

		watcher->error = mr_register(watcher->session, watcher->device, page, PAGE,
					     ACCESS_ALL, &mr) ?:
				 mr_deregister(watcher->session, mr.id, 0);
		watcher_saw(watcher, now_ns() - begin);
		sleep_ms(1);
	}
	munmap(page, PAGE);
	return NULL;
}

FIXTURE(neighbours)
{
	struct watcher timers[PROCESSORS];
	struct watcher turns[PROCESSORS];
	struct watcher mr;
	int processors;
	mode_t mode;
};

FIXTURE_SETUP(neighbours)
{
	struct stat status;

	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	self->mode = status.st_mode;
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
	self->mr.session = session_open(0);
	ASSERT_LE(0, self->mr.session);
	ASSERT_EQ(0, boot_device(self->mr.session, &self->mr.device));
	ASSERT_EQ(0, pthread_create(&self->mr.thread, NULL, watch_memory, &self->mr));
	self->processors = sysconf(_SC_NPROCESSORS_ONLN);
	ASSERT_GE(PROCESSORS, self->processors);
	for (int i = 0; i < self->processors; i++) {
		self->timers[i].processor = i;
		ASSERT_EQ(0, pthread_create(&self->timers[i].thread, NULL, watch_timer,
					    &self->timers[i]));
		self->turns[i].processor = i;
		ASSERT_EQ(0, pthread_create(&self->turns[i].thread, NULL, watch_turn,
					    &self->turns[i]));
	}
	/* Measure before the load, for comparison. */
	sleep_ms(200);
}

FIXTURE_TEARDOWN(neighbours)
{
	for (int i = 0; i < self->processors; i++) {
		self->timers[i].over = true;
		pthread_join(self->timers[i].thread, NULL);
		EXPECT_EQ(0, self->timers[i].error);
		self->turns[i].over = true;
		pthread_join(self->turns[i].thread, NULL);
		EXPECT_EQ(0, self->turns[i].error);
	}
	self->mr.over = true;
	pthread_join(self->mr.thread, NULL);
	EXPECT_EQ(0, self->mr.error);
	close(self->mr.session);
	EXPECT_EQ(0, chmod(SESSION_PATH, self->mode & 07777));
}

/* The longest delay since the last call, in microseconds, of the watchers of all CPUs. */
static uint64_t worst_of(struct watcher *timers, int processors)
{
	uint64_t worst = 0;

	for (int i = 0; i < processors; i++) {
		uint64_t one = atomic_exchange(&timers[i].worst_us, 0);

		worst = one > worst ? one : worst;
	}
	return worst;
}

/*
 * The program that causes the load
 */

/**
 * struct hoarder - a program that uses up its limits
 * @ready: the program has allocated everything
 * @failed: line in which it failed, or 0
 */
struct hoarder {
	atomic_bool ready;
	atomic_int failed;
};

/* In the hoarder: record the line that failed. */
#define HAVE(condition) do {					\
	const bool had = (condition);				\
								\
	if (!had)						\
		hoarder->failed = __LINE__;			\
	CHECK(had);						\
} while (0)

/* Create connections without a peer, of maximum depth; each receive uses a different MR. */
static int hoard(void *context)
{
	const struct rlimit limit = { .rlim_cur = 8 << 20, .rlim_max = 8 << 20 };
	static struct mr memories[MEMORIES];
	struct __kernel_sockaddr_storage address;
	static struct krdma_sqe receives[DEPTH];
	static struct end ends[CONNS];
	struct hoarder *hoarder = context;
	unsigned int turn = 0;
	uint32_t device;
	char *pages;
	int session;

	HAVE(!setrlimit(RLIMIT_MEMLOCK, &limit));
	HAVE(!child_become(SOME_USER));
	pages = mmap(NULL, MEMORIES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	HAVE(pages != MAP_FAILED);
	session = session_open(0);
	HAVE(session >= 0);
	HAVE(!boot_device(session, &device));
	HAVE(!address_set(&address, BOOT_ADDRESS, PORT));
	for (int i = 0; i < MEMORIES; i++)
		HAVE(!mr_register(session, device, pages + i * PAGE, PAGE,
				  KRDMA_ACCESS_LOCAL_WRITE, &memories[i]));
	for (int i = 0; i < CONNS; i++) {
		const struct end_options options = {
			.recv_depth = DEPTH,
			.ring_options.cq_entries = 4096,
		};
		uint32_t accepted;

		end_init(&ends[i], session);
		HAVE(!conn_create(session, &ends[i].conn, &ends[i].id));
		HAVE(!conn_resolve(ends[i].conn, &address));
		HAVE(!conn_wait(ends[i].conn, deadline_in(PATIENCE_MS), NULL));
		HAVE(!end_create_qp(&ends[i], &options));
		for (int j = 0; j < DEPTH; j++)
			receives[j] = sqe_receive(ends[i].id, 0, &memories[turn++ % MEMORIES], 0,
						  PAGE);
		for (uint32_t done = 0; done < DEPTH; done += accepted)
			HAVE(!ring_post(ends[i].ring->fd, receives + done,
					DEPTH - done < 256 ? DEPTH - done : 256, &accepted));
	}
	hoarder->ready = true;
	pause();
	return 0;
}

/* Print the delays of the others since the last call, and check them. */
#define OTHERS(when, bound) do {							\
	uint64_t timer = worst_of(self->timers, self->processors);			\
	uint64_t turn = worst_of(self->turns, self->processors);			\
	uint64_t mr = atomic_exchange(&self->mr.worst_us, 0);			\
	const uint64_t most = (bound);							\
											\
	printf("# %s: timer %llu us, turn on a processor %llu us, register and release %llu us\n", \
	       when, (unsigned long long)timer, (unsigned long long)turn,		\
	       (unsigned long long)mr);						\
	EXPECT_GE(most, timer);							\
	EXPECT_GE(most, turn);								\
	EXPECT_GE(most, mr);							\
} while (0)

TEST_F_TIMEOUT(neighbours, a_program_with_all_that_it_may_have_ends, 600)
{
	struct hoarder *hoarder;
	char when[64];
	int64_t took;
	pid_t child;

	hoarder = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, hoarder);
	OTHERS("before", UINT64_MAX);
	child = child_start(hoard, hoarder);
	ASSERT_LT(0, child);
	for (int i = 0; i < 24000 && !hoarder->ready && !hoarder->failed; i++)
		sleep_ms(5);
	ASSERT_EQ(0, hoarder->failed);
	ASSERT_TRUE(hoarder->ready);
	OTHERS("while it gets what it may have", BOUND_US);

	took = child_kill(child);
	EXPECT_LE(0, took);
	sleep_ms(500);
	snprintf(when, sizeof(when), "its end took %lld ms", (long long)took);
	OTHERS(when, BOUND_US);
	munmap(hoarder, PAGE);
}

/*
 * A device is removed while a program has many MRs on it, and many sessions hear of it.  The
 * program has no limit of locked memory, as is usual for programs that use RDMA.
 */

#define MANY	12000
/* Sessions that hear of devices; a user may have 1024. */
#define HEARERS	900

/* Each session hears that the device goes. */
static int hear_often(void)
{
	const struct rlimit files = { HEARERS + 64, HEARERS + 64 };
	struct krdma_device_notify_args notify = { .size = sizeof(notify) };
	int ret = setrlimit(RLIMIT_NOFILE, &files) ? -errno : 0;

	for (int i = 0; i < HEARERS && !ret; i++) {
		int session = session_open(0);

		ret = session < 0 ? session :
		      session_request(session, KRDMA_DEVICE_NOTIFY, &notify);
	}
	return ret;
}

static int hold_many(void *context)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct hoarder *hoarder = context;
	struct krdma_device_query_args device;
	struct mr mr;
	char *page;
	int session;

	HAVE(!setrlimit(RLIMIT_MEMLOCK, &limit));
	HAVE(!child_become(SOME_USER));
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	HAVE(page != MAP_FAILED);
	session = session_open(0);
	HAVE(session >= 0);
	HAVE(!session_named(session, FABRIC_DEVICE, &device));
	for (int i = 0; i < MANY; i++)
		HAVE(!mr_register(session, device.id, page, PAGE, KRDMA_ACCESS_LOCAL_WRITE,
				  &mr));
	HAVE(!hear_often());
	hoarder->ready = true;
	pause();
	return 0;
}

TEST_F_TIMEOUT(neighbours, a_device_goes_of_which_a_program_has_much, 600)
{
	struct hoarder *hoarder;
	char path[64], line[256];
	FILE *file;
	pid_t child;

	hoarder = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, hoarder);
	ASSERT_EQ(0, fabric_create());
	OTHERS("before", UINT64_MAX);
	child = child_start(hold_many, hoarder);
	ASSERT_LT(0, child);
	for (int i = 0; i < 24000 && !hoarder->ready && !hoarder->failed; i++)
		sleep_ms(5);
	EXPECT_EQ(0, hoarder->failed);
	OTHERS("while it registers", BOUND_US);

	/* The session has the first free file descriptor. */
	for (int fd = 0; fd < 64; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", child, fd);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			if (!strncmp(line, "mr_count", 8))
				printf("# fdinfo: %s", line);
		if (file)
			fclose(file);
	}
	OTHERS("while its descriptors are looked at", BOUND_US);

	EXPECT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	OTHERS("while the device goes", BOUND_US);
	EXPECT_LE(0, child_kill(child));
	OTHERS("while the program ends", BOUND_US);
	fabric_destroy();
	munmap(hoarder, PAGE);
}

TEST_HARNESS_MAIN
