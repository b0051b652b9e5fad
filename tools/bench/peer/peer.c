// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the measurements that the command line selects.
 *
 *	PROGRAM serve ADDRESS PORT
 *	PROGRAM run ADDRESS PORT [OPTION]... WORK...
 *
 * Prints a line for each result: see series.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

/* File descriptors of a program with many connections, at one end. */
#define FILES	16384

static const struct {
	const char *name;
	void (*run)(const struct work *work);
} works[] = {
	{ "latency", work_latency },
	{ "echo", work_echo },
	{ "depth", work_depth },
	{ "bandwidth", work_bandwidth },
	{ "wake", work_wake },
	{ "register", work_register },
	{ "connect", work_connect },
	{ "many", work_many },
};

#define WORKS	(sizeof(works) / sizeof(*works))

static const char usage_text[] =
	"usage: %s serve ADDRESS PORT\n"
	"       %s run ADDRESS PORT [--event] [--quick] [--count N] [--conns N] WORK...\n"
	"--event  sleep until something has completed, instead of asking without end\n"
	"--quick  fewer sizes\n"
	"--count  operations of a figure (1000)\n"
	"--conns  connections of the work 'many' (1000)\n"
	"works:  ";

__attribute__((weak)) bool peer_does(enum peer_op op)
{
	(void)op;
	return true;
}

void peer_fail(const char *what, int err)
{
	fprintf(stderr, "%s: %s: %s\n", peer_name, what, strerror(err));
	exit(1);
}

void *peer_alloc(size_t length)
{
	void *data = calloc(1, length);

	if (!data)
		peer_fail("memory", ENOMEM);
	return data;
}

uint64_t peer_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

FILE *peer_proc(const char *name)
{
	FILE *file = fopen(name, "r");

	if (!file)
		peer_fail(name, errno);
	return file;
}

/* "cpuN" and nine numbers, of which the seventh is that time. */
uint64_t peer_busy(void)
{
	unsigned long long ran, sum = 0;
	char line[512];
	FILE *file;

	/* The time is accounted when a program yields its processor. */
	usleep(1);
	file = peer_proc("/proc/schedstat");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %llu", &ran) == 1)
			sum += ran;
	fclose(file);
	if (!sum)
		peer_fail("/proc/schedstat", EBADMSG);
	return sum;
}

static void usage(const char *problem, const char *word)
{
	fprintf(stderr, "%s: %s%s%s\n", peer_name, problem, word ? ": " : "", word ? word : "");
	fprintf(stderr, usage_text, peer_name, peer_name);
	for (size_t i = 0; i < WORKS; i++)
		fprintf(stderr, " %s", works[i].name);
	fputc('\n', stderr);
	exit(2);
}

static unsigned int parse(const char *what, const char *text, unsigned int most)
{
	unsigned long value = 0;
	char *end = NULL;

	if (text)
		value = strtoul(text, &end, 10);
	if (!text || !*text || *end || !value || value > most)
		usage("that wants a number above 0, and not so large", what);
	return (unsigned int)value;
}

static void run_works(const struct work *work, char **names, int count)
{
	size_t which;
	int i;

	/* All of them are checked before the first one runs. */
	for (i = 0; i < count; i++) {
		for (which = 0; which < WORKS; which++)
			if (!strcmp(works[which].name, names[i]))
				break;
		if (which == WORKS)
			usage("there is no such work", names[i]);
	}
	for (i = 0; i < count; i++)
		for (which = 0; which < WORKS; which++)
			if (!strcmp(works[which].name, names[i]))
				works[which].run(work);
}

int main(int argc, char **argv)
{
	const struct rlimit mr = { RLIM_INFINITY, RLIM_INFINITY };
	const struct rlimit files = { FILES, FILES };
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct work work = { .count = 1000, .conns = 1000 };
	int at;

	if (argc < 4 || (strcmp(argv[1], "serve") && strcmp(argv[1], "run")))
		usage("what is to be done, and where", NULL);
	if (inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
		usage("not an IPv4 address", argv[2]);
	address.sin_port = htons((uint16_t)parse("PORT", argv[3], UINT16_MAX));
	if (setrlimit(RLIMIT_NOFILE, &files) || setrlimit(RLIMIT_MEMLOCK, &mr))
		peer_fail("limits: to be run as root", errno);
	setvbuf(stdout, NULL, _IOLBF, 0);

	if (!strcmp(argv[1], "serve")) {
		if (argc > 4)
			usage("a server takes no more words", argv[4]);
		peer_serve(&address);
	}

	for (at = 4; at < argc && !strncmp(argv[at], "--", 2); at++) {
		if (!strcmp(argv[at], "--event")) {
			work.event = true;
		} else if (!strcmp(argv[at], "--quick")) {
			work.quick = true;
		} else if (!strcmp(argv[at], "--count")) {
			work.count = parse("--count", argv[at + 1], 1000000);
			at++;
		} else if (!strcmp(argv[at], "--conns")) {
			work.conns = parse("--conns", argv[at + 1], 8000);
			at++;
		} else {
			usage("there is no such option", argv[at]);
		}
	}
	if (at >= argc)
		usage("no work is named", NULL);
	alarm(PEER_PATIENCE_S);
	work.peer = peer_open(&address);
	run_works(&work, argv + at, argc - at);
	peer_close(work.peer);
	return 0;
}
