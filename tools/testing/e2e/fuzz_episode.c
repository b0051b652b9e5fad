// SPDX-License-Identifier: GPL-2.0
/*
 * An episode of the fuzzer, and its supervisor.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "fuzz.h"
#include "rdma_link.h"
#include "session.h"

/* A call that takes longer hangs: no call waits for more than some milliseconds. */
#define HANG_MS		20000

/*
 * The process of the episode
 */

static struct fuzz_pool pool;

/* Adds the last actions, which have led to a discovery, to the corpus in memory. */
static void keep_sequence(struct fuzz_shared *shared, const uint64_t *actions, uint32_t count)
{
	struct fuzz_sequence *sequence =
		&shared->corpus[atomic_fetch_add(&shared->corpus_count, 1) % FUZZ_CORPUS];
	uint32_t length = count < FUZZ_SEQUENCE ? count : FUZZ_SEQUENCE;

	sequence->length = 0;
	memcpy(sequence->actions, actions + count - length, length * sizeof(*actions));
	sequence->length = length;
}

/* Stores an input for the corpus; without a free place it is dropped, and found again later. */
static void keep_find(struct fuzz_shared *shared, const struct fuzz_sequence *find)
{
	uint32_t at = atomic_fetch_add(&shared->find_count, 1);

	if (at < FUZZ_FINDS)
		shared->finds[at] = *find;
}

/* Copies a sequence of the corpus, slightly mutated.  Returns the number of actions. */
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
	const struct fuzz_episode *episode;
	unsigned int index;
	pthread_t thread;
};

/* Random actions, mixed with mutated sequences that have discovered something. */
static void act_by_chance(struct worker *worker, struct fuzz_thread *thread,
			  struct fuzz_random *random)
{
	const struct fuzz_episode *episode = worker->episode;
	uint64_t history[FUZZ_SEQUENCE], recalled[FUZZ_SEQUENCE];
	uint32_t in_history = 0, at = 0, count = 0;
	struct fuzz_sequence find = { .seed = episode->seed };
	unsigned int odds = episode->whole ? 3 : 30;

	for (unsigned int i = 0; i < episode->actions && !worker->shared->failed; i++) {
		uint64_t action = fuzz_next(random);

		if (at == count && fuzz_one_in(random, odds)) {
			count = recall(worker->shared, random, recalled);
			at = 0;
		}
		if (at < count)
			action = recalled[at++];
		if (in_history == FUZZ_SEQUENCE)
			memmove(history, history + 1, --in_history * sizeof(*history));
		history[in_history++] = action;
		thread->discovered = false;
		thread->fresh = false;
		fuzz_act(thread, action);
		if (thread->discovered)
			keep_sequence(worker->shared, history, in_history);
		if (thread->fresh && episode->whole)
			find.length = in_history;
	}
	memcpy(find.actions, history, find.length * sizeof(*history));
	if (find.length)
		keep_find(worker->shared, &find);
}

static void act_again(struct worker *worker, struct fuzz_thread *thread)
{
	const struct fuzz_sequence *sequence = worker->episode->sequence;

	worker->shared->last_fresh = 0;
	for (uint32_t i = 0; i < sequence->length && !worker->shared->failed; i++) {
		thread->fresh = false;
		fuzz_act(thread, sequence->actions[i]);
		if (thread->fresh)
			worker->shared->last_fresh = i + 1;
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	const struct fuzz_episode *episode = worker->episode;
	bool whole = episode->whole || episode->sequence;
	struct fuzz_random random = { fuzz_mix(episode->seed, worker->index) };
	struct fuzz_thread thread = {
		.pool = &pool,
		.shared = worker->shared,
		.map = &worker->shared->maps[whole ? FUZZ_MAP_WHOLE : FUZZ_MAP_LONG],
		.index = worker->index,
		.alone = episode->threads == 1,
		.random = random,
	};

	if (fuzz_thread_begin(&thread)) {
		fuzz_fail(&thread, "a thread cannot begin: %s", strerror(errno));
		return NULL;
	}
	if (!worker->index)
		fuzz_prepare(&thread);
	if (episode->sequence)
		act_again(worker, &thread);
	else
		act_by_chance(worker, &thread, &random);
	return NULL;
}

static void close_all(struct worker *worker)
{
	struct fuzz_thread thread = {
		.pool = &pool,
		.shared = worker->shared,
		/* These closes are no actions, so an input cannot reach what is new with them. */
		.map = &worker->shared->maps[FUZZ_MAP_LONG],
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

static int devices(void)
{
	struct krdma_device_query_args device;
	int session = session_open(O_CLOEXEC), ret;

	if (session < 0)
		return session;
	ret = session_named(session, BOOT_DEVICE, &device);
	pool.devices[0] = device.id;
	/* The second device may be removed at the moment; 0 is no valid ID. */
	pool.devices[1] = session_named(session, FABRIC_DEVICE, &device) ? 0 : device.id;
	close(session);
	return ret;
}

static void __attribute__((noreturn)) run_episode(struct fuzz_shared *shared,
						  const struct fuzz_episode *episode)
{
	/* Without SA_RESTART, so that an interrupted call returns -EINTR. */
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct rlimit many = { 512, 512 };
	struct worker workers[FUZZ_THREADS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_NOFILE, &many);
	sigaction(SIGALRM, &action, NULL);
	if (fuzz_pool_begin(&pool) || devices())
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
 * The supervisor
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

/* Returns the name of a call that hangs, or NULL. */
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

/* Removes the device and adds it again while the episode runs. */
static int unplug(void)
{
	int ret = rdma_link_remove(FABRIC_DEVICE);

	if (!ret)
		ret = rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV);
	return ret;
}

/* Returns 0, or -errno: then @shared->failure says what went wrong. */
static int watch_episode(struct fuzz_shared *shared, const struct fuzz_episode *episode,
			 pid_t child)
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

int fuzz_episode_run(struct fuzz_shared *shared, const struct fuzz_episode *episode)
{
	pid_t child;

	memset(shared->busy, 0, sizeof(shared->busy));
	fflush(stdout);
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0)
		run_episode(shared, episode);
	return watch_episode(shared, episode, child);
}

int fuzz_sequence_run(struct fuzz_shared *shared, const struct fuzz_sequence *sequence)
{
	const struct fuzz_episode episode = {
		.seed = sequence->seed,
		.threads = 1,
		.closes = sequence->seed & 1,
		.sequence = sequence,
	};

	return fuzz_episode_run(shared, &episode);
}
