// SPDX-License-Identifier: GPL-2.0
/*
 * Calls as no program makes them: a grammar of all requests, with values that are
 * right, nearly right and wrong, from several threads at a time.  Nothing may answer
 * what <linux/krdma.h> does not say, nothing may hang, and when the last process has
 * ended, nothing may be left of it.  The rest is for the kernel log to tell.
 *
 * KRDMA_SEED repeats a run, as far as threads and time allow; KRDMA_FUZZ_EPISODE runs
 * one episode of it; KRDMA_FUZZ_SECONDS goes on for so long.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "fuzz.h"
#include "rdma_link.h"
#include "resources.h"
#include "session.h"

/* A call that takes longer hangs: none waits for more than some milliseconds. */
#define HANG_MS		20000

/* What a process leaves must be gone after so long. */
#define GONE_MS		20000

/* After so many episodes it is counted whether something is left. */
#define COUNT_EVERY	8
/* Some requests find what they need once in a thousand calls. */
#define ENOUGH_CALLS	5000

/* On a slow kernel the calls are as many as can be made in this time. */
#define SLOW_MS		20000

FIXTURE(fuzz)
{
	int session;
	uint64_t seed;
	unsigned int seconds;
	struct fuzz_shared *shared;
	struct resources before;
};

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

FIXTURE_SETUP(fuzz)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	self->seed = setting("KRDMA_SEED", (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec);
	self->seconds = setting("KRDMA_FUZZ_SECONDS", 0);
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE((void *)self->shared != MAP_FAILED);
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_await(self->session, FABRIC_DEVICE, true));
	ASSERT_EQ(0, resources_read(&self->before));
}

FIXTURE_TEARDOWN(fuzz)
{
	fabric_destroy();
	munmap(self->shared, sizeof(*self->shared));
	close(self->session);
}

/*
 * An episode, in a process of its own
 */

/* How an episode is to be. */
struct episode {
	uint64_t seed;
	unsigned int threads;
	unsigned int actions;
	/* Killed after so many milliseconds; 0: not. */
	unsigned int kill_ms;
	/* The second device goes and comes meanwhile. */
	bool unplug;
	/* Everything is closed in the end, instead of left to the kernel. */
	bool closes;
};

static struct fuzz_pool pool;

/* Keeps what has led to something new. */
static void keep_sequence(struct fuzz_shared *shared, const uint64_t *actions, uint32_t count)
{
	struct fuzz_sequence *sequence =
		&shared->corpus[atomic_fetch_add(&shared->corpus_count, 1) % FUZZ_CORPUS];
	uint32_t length = count < FUZZ_SEQUENCE ? count : FUZZ_SEQUENCE;

	sequence->length = 0;
	memcpy(sequence->actions, actions + count - length, length * sizeof(*actions));
	sequence->length = length;
}

/* One that was kept, nearly as it was; how many actions. */
static uint32_t recall(struct fuzz_shared *shared, struct fuzz_random *random, uint64_t *actions)
{
	uint32_t kept = shared->corpus_count, length, count = 0;
	const struct fuzz_sequence *sequence;

	if (!kept)
		return 0;
	sequence = &shared->corpus[fuzz_below(random, kept < FUZZ_CORPUS ? kept : FUZZ_CORPUS)];
	length = sequence->length;
	for (uint32_t i = 0; i < length && i < FUZZ_SEQUENCE; i++) {
		uint64_t action = sequence->actions[i];

		if (fuzz_one_in(random, 12))
			continue;
		actions[count++] = fuzz_one_in(random, 12) ? fuzz_next(random) : action;
	}
	return count;
}

struct worker {
	struct fuzz_shared *shared;
	const struct episode *episode;
	unsigned int index;
	pthread_t thread;
};

static void *work(void *argument)
{
	struct worker *worker = argument;
	const struct episode *episode = worker->episode;
	struct fuzz_random random = { fuzz_mix(episode->seed, worker->index) };
	struct fuzz_thread thread = {
		.pool = &pool,
		.shared = worker->shared,
		.index = worker->index,
		.alone = episode->threads == 1,
		.random = random,
	};
	uint64_t history[FUZZ_SEQUENCE], recalled[FUZZ_SEQUENCE];
	uint32_t in_history = 0, at = 0, count = 0;

	if (fuzz_thread_begin(&thread)) {
		fuzz_fail(&thread, "a thread cannot begin: %s", strerror(errno));
		return NULL;
	}
	if (!worker->index)
		fuzz_prepare(&thread);
	for (unsigned int i = 0; i < episode->actions && !worker->shared->failed; i++) {
		uint64_t action = fuzz_next(&random);

		if (at == count && fuzz_one_in(&random, 30)) {
			count = recall(worker->shared, &random, recalled);
			at = 0;
		}
		if (at < count)
			action = recalled[at++];
		if (in_history == FUZZ_SEQUENCE)
			memmove(history, history + 1, --in_history * sizeof(*history));
		history[in_history++] = action;
		thread.discovered = false;
		fuzz_act(&thread, action);
		if (thread.discovered)
			keep_sequence(worker->shared, history, in_history);
	}
	return NULL;
}

static void close_all(struct worker *worker)
{
	struct fuzz_thread thread = {
		.pool = &pool,
		.shared = worker->shared,
		.random = { worker->episode->seed },
	};
	unsigned int start = fuzz_below(&thread.random, FUZZ_SLOTS);

	for (unsigned int i = 0; i < FUZZ_SLOTS; i++)
		fuzz_close(&thread, (start + i * 7) % FUZZ_SLOTS);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static int devices(struct fuzz_shared *shared)
{
	struct krdma_device_query device;
	int session = session_open(O_CLOEXEC), ret;

	(void)shared;
	if (session < 0)
		return session;
	ret = session_named(session, BOOT_DEVICE, &device);
	pool.devices[0] = device.id;
	/* May be away at the moment: then a number that is none. */
	pool.devices[1] = session_named(session, FABRIC_DEVICE, &device) ? 0 : device.id;
	close(session);
	return ret;
}

static void run_episode(struct fuzz_shared *shared, const struct episode *episode)
{
	/* Without SA_RESTART: a call that is interrupted says so. */
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct rlimit many = { 512, 512 };
	struct worker workers[FUZZ_THREADS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_NOFILE, &many);
	sigaction(SIGALRM, &action, NULL);
	if (fuzz_pool_begin(&pool) || devices(shared))
		_exit(3);
	for (unsigned int i = 0; i < episode->threads; i++) {
		workers[i].shared = shared;
		workers[i].episode = episode;
		workers[i].index = i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			_exit(4);
	}
	for (unsigned int i = 0; i < episode->threads; i++)
		pthread_join(workers[i].thread, NULL);
	if (episode->closes)
		close_all(&workers[0]);
	_exit(0);
}

/*
 * The watcher
 */

static void print_stack(pid_t thread)
{
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stack", thread);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		printf("#   %s", line);
	if (file)
		fclose(file);
}

/* A call that does not come back, by its name; NULL: none. */
static const char *hanging(struct fuzz_shared *shared)
{
	for (int i = 0; i <= FUZZ_THREADS; i++) {
		uint64_t since = shared->busy[i].since_ms;

		if (since && now_ms() > since + HANG_MS) {
			print_stack(shared->busy[i].thread);
			return fuzz_call_name(shared->busy[i].call);
		}
	}
	return NULL;
}

/* The device goes and comes again while the episode runs. */
static int unplug(void)
{
	int ret = rdma_link_remove(FABRIC_DEVICE);

	if (!ret)
		ret = rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV);
	return ret;
}

/* 0, or what went wrong is in @shared. */
static int watch_episode(struct fuzz_shared *shared, const struct episode *episode, pid_t child)
{
	uint64_t begun = now_ms();
	const char *name;
	int status = 0;

	while (waitpid(child, &status, WNOHANG) == 0) {
		name = hanging(shared);
		if (name) {
			snprintf(shared->failure, sizeof(shared->failure), "%s hangs", name);
			kill(child, SIGKILL);
			return -ETIMEDOUT;
		}
		if (episode->kill_ms && now_ms() - begun >= episode->kill_ms)
			kill(child, SIGKILL);
		if (episode->unplug && unplug()) {
			snprintf(shared->failure, sizeof(shared->failure),
				 "the second device does not go or come");
			kill(child, SIGKILL);
			waitpid(child, NULL, 0);
			return -EBUSY;
		}
		sleep_ms(2);
	}
	if (shared->failed)
		return -EPROTO;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && episode->kill_ms)
		return 0;
	if (!status)
		return 0;
	snprintf(shared->failure, sizeof(shared->failure), "a process ended with status %#x",
		 status);
	return -EPROTO;
}

static void plan(struct episode *episode, uint64_t seed, unsigned int number)
{
	struct fuzz_random random = { fuzz_mix(seed, number) };

	memset(episode, 0, sizeof(*episode));
	episode->seed = fuzz_next(&random);
	episode->threads = fuzz_one_in(&random, 2) ? 1 : 2 + fuzz_below(&random, FUZZ_THREADS - 1);
	episode->actions = rounds(1200, 300) / episode->threads;
	if (fuzz_one_in(&random, 3))
		episode->kill_ms = 1 + fuzz_below(&random, rounds(400, 2000));
	episode->unplug = number % 6 == 5;
	episode->closes = fuzz_one_in(&random, 2);
}

static int run(struct fuzz_shared *shared, uint64_t seed, unsigned int number)
{
	struct episode episode;
	pid_t child;

	plan(&episode, seed, number);
	memset(shared->busy, 0, sizeof(shared->busy));
	fflush(stdout);
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0)
		run_episode(shared, &episode);
	return watch_episode(shared, &episode, child);
}

static unsigned long long total(const atomic_ulong *counts)
{
	unsigned long long sum = 0;

	for (int i = 0; i < FUZZ_CALLS; i++)
		sum += counts[i];
	return sum;
}

static void print_summary(struct fuzz_shared *shared, unsigned int episodes, uint64_t took_ms)
{
	printf("# %u episodes, %llu calls in %u s, %llu succeeded\n", episodes,
	       total(shared->calls), (unsigned int)(took_ms / 1000), total(shared->successes));
	printf("# %u different answers, %u sequences kept, ", shared->errors,
	       shared->corpus_count);
	if (shared->has_coverage)
		printf("%u edges of the module reached\n", shared->kernel_edges);
	else
		printf("the kernel does not tell edges (KCOV)\n");
	for (int i = 0; i < FUZZ_CALLS; i++)
		printf("# %-16s %8lu calls %8lu succeeded, the slowest %u ms\n",
		       fuzz_call_name(i), shared->calls[i], shared->successes[i],
		       shared->slowest_ms[i]);
}

/* As many calls as there are to be, or as can be made on a slow kernel. */
static bool goes_on(const struct fuzz_shared *shared, unsigned int seconds, uint64_t begun)
{
	uint64_t took = now_ms() - begun;

	if (seconds)
		return took < (uint64_t)seconds * 1000;
	if (total(shared->calls) >= rounds(66000, 8000))
		return false;
	return rounds(1, 0) || took < SLOW_MS;
}

TEST_F_TIMEOUT(fuzz, calls_that_no_program_makes, 1000000)
{
	uint64_t only = setting("KRDMA_FUZZ_EPISODE", UINT64_MAX), begun = now_ms();
	struct fuzz_shared *shared = self->shared;
	unsigned int number = only == UINT64_MAX ? 0 : only;
	unsigned int episodes = 0;
	int ret, left = 0;

	printf("# KRDMA_SEED=%#llx repeats this\n", (unsigned long long)self->seed);
	do {
		ret = run(shared, self->seed, number);
		EXPECT_EQ(0, ret) {
			TH_LOG("%s; KRDMA_SEED=%#llx KRDMA_FUZZ_EPISODE=%u", shared->failure,
			       (unsigned long long)self->seed, number);
		}
		if (ret || number % COUNT_EVERY == COUNT_EVERY - 1)
			left = resources_await(&self->before, GONE_MS);
		EXPECT_EQ(0, left) {
			TH_LOG("left behind by episode %u or before", number);
		}
		number++;
		episodes++;
	} while (!ret && !left && only == UINT64_MAX && goes_on(shared, self->seconds, begun));

	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
	EXPECT_EQ(0, shared->strange_count);
	for (unsigned int i = 0; i < shared->strange_count && i < FUZZ_STRANGE; i++)
		printf("# not documented: %s\n", shared->strange[i]);
	print_summary(shared, episodes, now_ms() - begun);
	if (ret || only != UINT64_MAX)
		return;
	/* A run in which a request never succeeds has not tested it, but few calls are few. */
	for (int i = 0; i < FUZZ_REQUESTS; i++) {
		EXPECT_TRUE(shared->successes[i] || shared->calls[i] < ENOUGH_CALLS) {
			TH_LOG("%s never succeeded", fuzz_call_name(i));
		}
	}
}

TEST_HARNESS_MAIN
