// SPDX-License-Identifier: GPL-2.0
/*
 * Hostile peers, several at a time, and honest ones beside them.  Violations are printed as
 * "FOUND: ...", with the visit.  The same seed makes the same visits.
 *
 *	peer HOST PORT SEED VISITS ACTIONS HOSTILE HONEST [NUMBER]
 *
 * VISITS is a file that the server maps too.  HOSTILE and HONEST are numbers of processes, which
 * run until the hostile ones have done ACTIONS actions in total.  With NUMBER, one hostile process
 * makes that visit only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "visit.h"

/* Memory that all processes of a run share. */
struct board {
	/* No hostile process is left. */
	uint64_t stop;
	struct diary diaries[WORKERS_MAX];
};

struct run {
	struct sockaddr_in server;
	uint64_t seed;
	uint64_t goal;
	struct visits *visits;
	struct board *board;
	unsigned int hostile;
	unsigned int workers;
	/* The only visit to make; 0: as many as are needed. */
	uint64_t only;
};

static void *map_shared(const char *path, size_t size)
{
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *mr;

	if (path && fd < 0)
		return NULL;
	mr = mmap(NULL, size, PROT_READ | PROT_WRITE,
		  MAP_SHARED | (path ? 0 : MAP_ANONYMOUS), fd, 0);
	if (path)
		close(fd);
	return mr == MAP_FAILED ? NULL : mr;
}

static bool is_over(const struct run *run)
{
	uint64_t actions = 0;

	for (unsigned int i = 0; i < run->hostile; i++)
		actions += __atomic_load_n(&run->board->diaries[i].actions, __ATOMIC_RELAXED);
	return actions >= run->goal || __atomic_load_n(&run->board->stop, __ATOMIC_RELAXED);
}

static void work(struct run *run, unsigned int worker)
{
	struct diary *diary = &run->board->diaries[worker];
	struct host *host = host_new(&run->server, diary);
	bool honest = worker >= run->hostile;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Honest processes make at least one visit. */
	while (host && (!is_over(run) || (honest && !diary->begun))) {
		unsigned int index = worker * PORTS_EACH + diary->begun % PORTS_EACH;
		struct visit visit;

		diary->number = run->only ? run->only : 1 + diary->begun * run->workers + worker;
		if (honest)
			diary->number |= VISIT_HONEST;
		diary->begun++;
		visit = visit_of(run->seed, diary->number);
		__atomic_store_n(&run->visits->number[index], diary->number, __ATOMIC_RELEASE);
		visit_make(host, &visit, PORT_FIRST + index);
		if (run->only)
			break;
	}
	exit(0);
}

static pid_t start(struct run *run, unsigned int worker)
{
	pid_t process;

	fflush(stdout);
	process = fork();
	if (!process)
		work(run, worker);
	return process;
}

/* A process that its plan kills is started again, and goes on with the next visit. */
static void work_all(struct run *run)
{
	pid_t processes[WORKERS_MAX], ended;
	unsigned int left = run->workers, hostile = run->hostile;
	int status;

	for (unsigned int i = 0; i < run->workers; i++)
		processes[i] = start(run, i);
	while (left && (ended = wait(&status)) > 0) {
		unsigned int i;

		for (i = 0; i < run->workers && processes[i] != ended;)
			i++;
		if (i == run->workers)
			continue;
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !run->only) {
			processes[i] = start(run, i);
			continue;
		}
		left--;
		hostile -= i < run->hostile;
		__atomic_store_n(&run->board->stop, !hostile, __ATOMIC_RELAXED);
		if (!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL)
			continue;
		printf("FOUND: visit %llu: %s\n", (unsigned long long)run->board->diaries[i].number,
		       strsignal(WTERMSIG(status)));
		run->board->diaries[i].findings++;
	}
}

static int report(const struct run *run)
{
	struct diary sum = { .number = 0 };

	for (unsigned int i = 0; i < run->workers; i++) {
		const struct diary *diary = &run->board->diaries[i];

		sum.begun += diary->begun;
		sum.actions += i < run->hostile ? diary->actions : 0;
		sum.done += diary->done;
		sum.refused += diary->refused;
		sum.turned_away += diary->turned_away;
		sum.untold += diary->untold;
		sum.honest += diary->honest;
		sum.findings += diary->findings;
	}
	printf("%llu visits, %llu of them honest; ", (unsigned long long)sum.begun,
	       (unsigned long long)sum.honest);
	printf("%llu hostile actions; %llu done, %llu refused, ",
	       (unsigned long long)sum.actions, (unsigned long long)sum.done,
	       (unsigned long long)sum.refused);
	printf("%llu turned away, %llu not told of the end; %llu findings\n",
	       (unsigned long long)sum.turned_away, (unsigned long long)sum.untold,
	       (unsigned long long)sum.findings);
	return !!sum.findings;
}

int main(int argc, char **argv)
{
	struct run run = { .only = argc == 9 ? strtoull(argv[8], NULL, 0) : 0 };

	if (argc < 8 || argc > 9) {
		fputs("usage: peer HOST PORT SEED VISITS ACTIONS HOSTILE HONEST [NUMBER]\n",
		      stderr);
		return 2;
	}
	run.server.sin_family = AF_INET;
	run.server.sin_port = htons((uint16_t)atoi(argv[2]));
	inet_pton(AF_INET, argv[1], &run.server.sin_addr);
	run.seed = strtoull(argv[3], NULL, 0);
	run.visits = map_shared(argv[4], sizeof(*run.visits));
	run.goal = strtoull(argv[5], NULL, 0);
	run.hostile = (unsigned int)atoi(argv[6]);
	run.workers = run.hostile + (unsigned int)atoi(argv[7]);
	run.board = map_shared(NULL, sizeof(*run.board));
	if (!run.visits || !run.board || !run.workers || run.workers > WORKERS_MAX) {
		fprintf(stderr, "peer: %s\n", run.workers > WORKERS_MAX ? "too many" :
			strerror(errno));
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	work_all(&run);
	return report(&run);
}
