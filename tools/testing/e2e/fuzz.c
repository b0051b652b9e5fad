// SPDX-License-Identifier: GPL-2.0
/*
 * A fuzzer: random calls of all ioctls, with valid, nearly valid and invalid values, from
 * several threads at a time.  No call may return an errno that <linux/krdma.h> does not
 * document, no call may hang, and when the last process has ended, none of its objects may
 * be left.  Everything else shows in the kernel log.
 *
 * Last, a privileged and an unprivileged fuzzer run side by side, and beside them a program of
 * another user whose data is compared, and whose longest wait has a bound.
 *
 * KRDMA_SEED repeats a run, as far as threads and timing allow; KRDMA_FUZZ_EPISODE runs
 * one episode of it; KRDMA_FUZZ_SECONDS sets its duration.  The stored inputs are in
 * fuzz.corpus, or in the file that KRDMA_FUZZ_CORPUS names.  If KRDMA_FUZZ_OUT names a file,
 * the inputs worth storing after the run are written to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fabric.h"
#include "fuzz.h"
#include "pair.h"
#include "rdma_link.h"
#include "resources.h"
#include "session.h"

/* Objects of a process must be gone this long after it has ended. */
#define GONE_MS		20000

/* The number of objects is checked each time after this many episodes. */
#define COUNT_EVERY	8
/* Some ioctls find a suitable object only once in a thousand calls. */
#define ENOUGH_CALLS	5000

/* On a slow kernel this time limits the number of calls. */
#define SLOW_MS		20000
/* On a slow kernel this time limits the number of stored inputs that are repeated. */
#define REPLAY_MS	20000
/*
 * Percentage of the recorded sights and edges of the stored inputs that a run must reach again.
 * What an input reaches depends on timing, and more so on a slow kernel.
 */
#define SIGHTS_PERCENT	(100 - rounds(10, 40))
#define EDGES_PERCENT	80

FIXTURE(fuzz)
{
	int session;
	uint64_t seed;
	unsigned int seconds;
	struct fuzz_shared *shared;
	struct fuzz_inputs inputs;
	struct resources before;
};

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* The corpus is next to the program, unless KRDMA_FUZZ_CORPUS names another one. */
static int read_corpus(struct fuzz_inputs *inputs)
{
	const char *given = getenv("KRDMA_FUZZ_CORPUS");
	char self[256] = "", path[512];
	unsigned int line;
	int ret;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return -errno;
	if (given)
		snprintf(path, sizeof(path), "%s", given);
	else
		snprintf(path, sizeof(path), "%s/fuzz.corpus", dirname(self));
	ret = fuzz_corpus_read(path, inputs, &line);
	if (ret)
		printf("# %s:%u: %s\n", path, line, strerror(-ret));
	return ret;
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
	ASSERT_EQ(0, read_corpus(&self->inputs));
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_await(self->session, FABRIC_DEVICE, true));
	ASSERT_EQ(0, resources_read(&self->before));
}

FIXTURE_TEARDOWN(fuzz)
{
	fabric_destroy();
	munmap(self->shared, sizeof(*self->shared));
	free(self->inputs.list);
	close(self->session);
}

/*
 * Stored inputs
 */

/* What the repeated inputs reached when they were stored, and the sights missing now. */
struct record {
	size_t inputs;
	unsigned int edges;
	unsigned int sights;
	unsigned int missed;
};

static void miss(struct record *record, unsigned int sight)
{
	char name[40];

	fuzz_sight_name(sight, name, sizeof(name));
	printf("# not seen again: %s\n", name);
	record->missed++;
}

static struct record compare(const struct fuzz_inputs *inputs, size_t count,
			     const struct fuzz_map *map)
{
	struct record record = { .inputs = count };

	for (size_t i = 0; i < count; i++) {
		const struct fuzz_input *input = &inputs->list[i];

		record.edges += input->edges;
		record.sights += input->sight_count;
		for (uint32_t j = 0; j < input->sight_count; j++) {
			unsigned int sight = input->sights[j];

			if (!map->sights[sight / FUZZ_VALUES][sight % FUZZ_VALUES])
				miss(&record, sight);
		}
	}
	return record;
}

/* Repeats inputs for at most @ms milliseconds.  Returns their number, or -errno. */
static int replay(struct fuzz_shared *shared, const struct fuzz_inputs *inputs, uint64_t ms)
{
	uint64_t deadline = now_ms() + ms;
	size_t count = 0;
	int ret = 0;

	while (count < inputs->count && !ret && (!count || now_ms() < deadline))
		ret = fuzz_sequence_run(shared, &inputs->list[count++].sequence);
	return ret ? ret : (int)count;
}

TEST_F_TIMEOUT(fuzz, the_corpus_reaches_what_it_did, 1000)
{
	const struct fuzz_map *map = &self->shared->maps[FUZZ_MAP_WHOLE];
	uint64_t begun = now_ms();
	struct record record;
	int count = replay(self->shared, &self->inputs, rounds(600000, REPLAY_MS));

	ASSERT_LT(0, count) {
		TH_LOG("%s", self->shared->failure);
	}
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
	record = compare(&self->inputs, count, map);
	printf("# %zu of %zu inputs in %u ms: %u of %u sights", record.inputs, self->inputs.count,
	       (unsigned int)(now_ms() - begun), record.sights - record.missed, record.sights);
	if (self->shared->has_coverage)
		printf(", %u edges where %u were", map->edge_count, record.edges);
	putchar('\n');
	EXPECT_LT(0, record.sights);
	EXPECT_LE(record.missed * 100, record.sights * (100 - SIGHTS_PERCENT));
	if (self->shared->has_coverage)
		EXPECT_LE(record.edges * EDGES_PERCENT, map->edge_count * 100);
}

/*
 * Random episodes
 */

static void plan(struct fuzz_episode *episode, uint64_t seed, unsigned int number)
{
	struct fuzz_random random = { fuzz_mix(seed, number) };

	memset(episode, 0, sizeof(*episode));
	episode->seed = fuzz_next(&random);
	episode->threads = fuzz_one_in(&random, 2) ? 1 : 2 + fuzz_below(&random, FUZZ_THREADS - 1);
	episode->actions = rounds(1200, 300) / episode->threads;
	episode->closes = fuzz_one_in(&random, 2);
	/* Short episodes of one thread can become inputs. */
	if (!fuzz_one_in(&random, 3)) {
		episode->threads = 1;
		episode->actions = 1 + fuzz_below(&random, FUZZ_SEQUENCE);
		episode->whole = true;
		return;
	}
	if (fuzz_one_in(&random, 3))
		episode->kill_ms = 1 + fuzz_below(&random, rounds(400, 2000));
	episode->unplug = number % 6 == 5;
}

static int run(struct fuzz_shared *shared, uint64_t seed, unsigned int number)
{
	struct fuzz_episode episode;

	plan(&episode, seed, number);
	return fuzz_episode_run(shared, &episode);
}

static unsigned long long total(const atomic_ulong *counts)
{
	unsigned long long sum = 0;

	for (int i = 0; i < FUZZ_CALLS; i++)
		sum += counts[i];
	return sum;
}

static void print_summary(const struct fuzz_shared *shared, unsigned int episodes,
			  uint64_t took_ms)
{
	const struct fuzz_map *maps = shared->maps;

	printf("# %u episodes, %llu calls in %u s, %llu succeeded\n", episodes,
	       total(shared->calls), (unsigned int)(took_ms / 1000), total(shared->successes));
	printf("# %u sights by short inputs and %u by long ones; %u and %u edges of the module%s\n",
	       maps[FUZZ_MAP_WHOLE].sight_count, maps[FUZZ_MAP_LONG].sight_count,
	       maps[FUZZ_MAP_WHOLE].edge_count, maps[FUZZ_MAP_LONG].edge_count,
	       shared->has_coverage ? "" : ": the kernel does not tell them (KCOV)");
	for (int i = 0; i < FUZZ_CALLS; i++)
		printf("# %-16s %8lu calls %8lu succeeded, the slowest %u ms\n",
		       fuzz_call_name(i), shared->calls[i], shared->successes[i],
		       shared->slowest_ms[i]);
}

/* Selects the inputs to store and writes them; goes_on() leaves a third of the time for it. */
static int distil(struct fuzz_shared *shared, const struct fuzz_inputs *given, const char *path,
		  uint64_t deadline_ms)
{
	struct fuzz_inputs kept;
	int ret = fuzz_distil(shared, given, deadline_ms, &kept);

	if (!ret)
		ret = fuzz_corpus_write(path, &kept);
	printf("# %zu inputs kept, of %zu that were there and %u found; ", kept.count,
	       given->count, shared->find_count);
	printf("they reach %u sights and %u edges\n", shared->maps[FUZZ_MAP_WHOLE].sight_count,
	       shared->maps[FUZZ_MAP_WHOLE].edge_count);
	free(kept.list);
	return ret;
}

/* Makes the stored inputs available for mutation. */
static void begin_with(struct fuzz_shared *shared, const struct fuzz_inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		shared->corpus[shared->corpus_count++ % FUZZ_CORPUS] = inputs->list[i].sequence;
}

static void print_strange(const struct fuzz_shared *shared)
{
	for (unsigned int i = 0; i < shared->strange_count && i < FUZZ_STRANGE; i++)
		printf("# not documented: %s\n", shared->strange[i]);
}

/* Until there were enough calls or the time is up. */
static bool goes_on(const struct fuzz_shared *shared, unsigned int seconds, uint64_t begun)
{
	uint64_t took = now_ms() - begun;

	if (seconds)
		return took < (uint64_t)seconds * (getenv("KRDMA_FUZZ_OUT") ? 667 : 1000);
	if (total(shared->calls) >= rounds(56000, 8000))
		return false;
	return rounds(1, 0) || took < SLOW_MS;
}

TEST_F_TIMEOUT(fuzz, calls_that_no_program_makes, 1000000)
{
	uint64_t only = setting("KRDMA_FUZZ_EPISODE", UINT64_MAX), begun = now_ms();
	struct fuzz_shared *shared = self->shared;
	unsigned int number = only == UINT64_MAX ? 0 : only;
	const char *out = getenv("KRDMA_FUZZ_OUT");
	unsigned int episodes = 0;
	int ret, left = 0;

	printf("# KRDMA_SEED=%#llx repeats this\n", (unsigned long long)self->seed);
	begin_with(shared, &self->inputs);
	/* Replay the stored inputs first, so that what they reach is not new. */
	if (out)
		EXPECT_LE(0, replay(shared, &self->inputs, self->seconds * 200));
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
	print_strange(shared);
	EXPECT_EQ(0, shared->strange_count);
	print_summary(shared, episodes, now_ms() - begun);
	if (out && !ret && !left)
		EXPECT_EQ(0, distil(shared, &self->inputs, out, begun + self->seconds * 1000UL));
	if (ret || only != UINT64_MAX)
		return;
	/* A run has not tested an ioctl that never succeeds, unless there were only few calls. */
	for (int i = 0; i < FUZZ_REQUESTS; i++) {
		EXPECT_TRUE(shared->successes[i] || shared->calls[i] < ENOUGH_CALLS) {
			TH_LOG("%s never succeeded", fuzz_call_name(i));
		}
	}
}

/*
 * Beside a program of another user
 */

/* The longest round of the other user's program, in microseconds. */
#define BOUND_US	rounds(100000, 1000000)
#define BESIDE_S	rounds(5, 3)
#define AREA		8192

/**
 * struct beside - shared with the processes of the test
 * @over: they are to end
 * @rounds: number of rounds of the honest program
 * @worst_us: the longest of them
 */
struct beside {
	atomic_bool over;
	atomic_ullong rounds;
	atomic_ullong worst_us;
};

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000ULL + now.tv_nsec / 1000;
}

/* What was written is read back, and differs in each round. */
static bool exchange(struct pair *pair, const struct mr *from, const struct mr *to,
		     const struct mr *back, uint64_t round)
{
	struct fuzz_random random = { fuzz_mix(round, 1) };
	struct mr mr;

	for (size_t i = 0; i < from->length; i += sizeof(uint64_t)) {
		uint64_t value = fuzz_next(&random);

		memcpy(from->data + i, &value, sizeof(value));
	}
	return !pair_write(pair, from, to) && !memcmp(from->data, to->data, from->length) &&
	       !pair_read(pair, back, to) && !memcmp(from->data, back->data, from->length) &&
	       !mr_register(pair->sessions[0], pair->device, from->data, from->length,
			    KRDMA_ACCESS_LOCAL_WRITE, &mr) &&
	       !mr_deregister(pair->sessions[0], mr.id, 0);
}

/* It has a higher priority, so that it waits for what others hold and not for a CPU. */
static int honest(void *context)
{
	const struct sched_param priority = { .sched_priority = 40 };
	struct beside *shared = context;
	struct mr from, to, back;
	struct pair pair;

	CHECK(!sched_setscheduler(0, SCHED_FIFO, &priority));
	CHECK(!child_become(OTHER_USER));
	CHECK(!pair_open(&pair, NULL));
	CHECK(!mr_create(pair.sessions[0], pair.device, AREA, KRDMA_ACCESS_LOCAL_WRITE, &from));
	CHECK(!mr_create(pair.sessions[0], pair.device, AREA, KRDMA_ACCESS_LOCAL_WRITE, &back));
	CHECK(!mr_create(pair.sessions[0], pair.device, AREA,
			 KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE |
			 KRDMA_ACCESS_REMOTE_READ, &to));
	while (!shared->over) {
		uint64_t begin = now_us(), took;

		CHECK(exchange(&pair, &from, &to, &back, shared->rounds));
		took = now_us() - begin;
		if (took > shared->worst_us)
			shared->worst_us = took;
		shared->rounds++;
		usleep(1000);
	}
	return 0;
}

/* One of the two fuzzers.  Neither removes the device, which the honest program uses too. */
struct side {
	struct beside *beside;
	struct fuzz_shared *shared;
	uint64_t seed;
	uid_t user;
};

static int fuzz_side(void *context)
{
	struct side *side = context;
	struct fuzz_episode episode;

	if (side->user)
		CHECK(!child_become(side->user));
	for (unsigned int number = 0; !side->beside->over; number++) {
		int ret;

		plan(&episode, side->seed, number);
		episode.unplug = false;
		ret = fuzz_episode_run(side->shared, &episode);
		if (ret)
			printf("# %s; episode %u\n", side->shared->failure, number);
		CHECK(!ret);
	}
	return 0;
}

static bool has_ended(pid_t child)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static int await_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1000 - WTERMSIG(status);
}

/* Proves: F6 */
TEST_F_TIMEOUT(fuzz, beside_a_program_of_another_user, 1000000)
{
	uint64_t end = now_ms() + (self->seconds ?: BESIDE_S) * 1000UL;
	struct beside *beside;
	struct side sides[2];
	struct stat status;
	pid_t children[3];

	beside = mmap(NULL, sizeof(*beside), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	ASSERT_TRUE((void *)beside != MAP_FAILED);
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
	children[0] = child_start(honest, beside);
	EXPECT_LT(0, children[0]);
	for (int i = 0; i < 2; i++) {
		sides[i] = (struct side) {
			.beside = beside, .seed = self->seed + i, .user = i ? SOME_USER : 0,
			.shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0),
		};
		ASSERT_TRUE((void *)sides[i].shared != MAP_FAILED);
		begin_with(sides[i].shared, &self->inputs);
		children[1 + i] = child_start(fuzz_side, &sides[i]);
		EXPECT_LT(0, children[1 + i]);
	}
	while (now_ms() < end && !has_ended(children[0]))
		sleep_ms(100);
	beside->over = true;
	for (int i = 2; i >= 0; i--)
		EXPECT_EQ(0, await_child(children[i]));
	EXPECT_EQ(0, chmod(SESSION_PATH, status.st_mode & 07777));
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));

	printf("# %llu rounds, all data right, the longest %llu us; beside %llu calls of root",
	       (unsigned long long)beside->rounds, (unsigned long long)beside->worst_us,
	       total(sides[0].shared->calls));
	printf(" and %llu of a user\n", total(sides[1].shared->calls));
	EXPECT_LT(0, beside->rounds);
	EXPECT_GT(BOUND_US, beside->worst_us);
	for (int i = 0; i < 2; i++) {
		EXPECT_LT(0, total(sides[i].shared->calls));
		print_strange(sides[i].shared);
		EXPECT_EQ(0, sides[i].shared->strange_count);
		munmap(sides[i].shared, sizeof(*self->shared));
	}
	munmap(beside, sizeof(*beside));
}

TEST_HARNESS_MAIN
