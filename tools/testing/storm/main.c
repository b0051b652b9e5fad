// SPDX-License-Identifier: GPL-2.0
/*
 * traffic serve|ask: see traffic.h.  SIGTERM means that the storm is over.  Then each client must
 * be served once more, and a server waits until its clients have gone.  The exit status is 0 on
 * success, and 3 after a violation, which is printed.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "traffic.h"

#define CONNECTIONS_MAX	64

static struct traffic traffic = {
	.address = "10.77.0.1",
	.port = 7480,
	.connections = 2,
	.seed = 1,
	.limit_ms = 60000,
};

static struct end ends[CONNECTIONS_MAX];
static atomic_bool stop;

static void on_term(int signal)
{
	(void)signal;
	stop = true;
}

static void explain(void)
{
	fprintf(stderr,
		"usage: traffic serve|ask [-a ADDRESS] [-p PORT] [-n CONNECTIONS] [-s SEED]\n"
		"               [-t LIMIT_MS] [-o FORGOTTEN_MS] [-u USER] [-f DESCRIPTORS]\n"
		"               [-l LOCKED_BYTES] [-F]\n"
		"  -o: a connection whose operation takes so long is closed\n"
		"  -u, -f, -l: as this user, and with so little, until SIGTERM\n"
		"  -F: allocations of the threads may be made to fail\n");
	exit(2);
}

/* Set only the soft limit, so that it can be raised again. */
static void limit(int resource, rlim_t value)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits))
		return;
	limits.rlim_cur = value < limits.rlim_max ? value : limits.rlim_max;
	if (setrlimit(resource, &limits)) {
		perror("setrlimit");
		exit(2);
	}
}

static int ask(void)
{
	pthread_t threads[CONNECTIONS_MAX];

	for (unsigned int i = 0; i < traffic.connections; i++) {
		ends[i].traffic = &traffic;
		ends[i].role = "client";
		ends[i].number = i;
		ends[i].random = traffic.seed * 977 + i;
		ends[i].doing = -1;
		if (pthread_create(&threads[i], NULL, run_client, &ends[i])) {
			perror("pthread_create");
			return 2;
		}
	}
	printf("asking\n");
	fflush(stdout);
	while (!stop) {
		usleep(100000);
		for (unsigned int i = 0; i < traffic.connections; i++) {
			uint64_t since = ends[i].since;

			if (ends[i].doing >= 0 && now_ms() > since + 2 * traffic.limit_ms)
				fail(&ends[i], "it is in '%s' for %llu ms",
				     call_name(ends[i].doing),
				     (unsigned long long)(now_ms() - since));
		}
	}
	limit(RLIMIT_NOFILE, RLIM_INFINITY);
	limit(RLIMIT_MEMLOCK, RLIM_INFINITY);
	traffic.calm = true;
	for (unsigned int i = 0; i < traffic.connections; i++)
		pthread_join(threads[i], NULL);
	print_tally(&traffic, "client");
	return 0;
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text)
		explain();
	return value;
}

static void options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "a:p:n:s:t:o:u:f:l:F")) != -1) {
		switch (option) {
		case 'a':
			traffic.address = optarg;
			break;
		case 'p':
			traffic.port = number(optarg);
			break;
		case 'n':
			traffic.connections = number(optarg);
			break;
		case 's':
			traffic.seed = number(optarg);
			break;
		case 't':
			traffic.limit_ms = number(optarg);
			break;
		case 'o':
			traffic.forgotten_ms = number(optarg);
			break;
		case 'u':
			if (setgid(number(optarg)) || setuid(number(optarg))) {
				perror("setuid");
				exit(2);
			}
			break;
		case 'f':
			traffic.short_of = true;
			limit(RLIMIT_NOFILE, number(optarg));
			break;
		case 'l':
			traffic.short_of = true;
			limit(RLIMIT_MEMLOCK, number(optarg));
			break;
		case 'F':
			traffic.short_of = true;
			traffic.may_fail = true;
			break;
		default:
			explain();
		}
	}
	if (traffic.connections > CONNECTIONS_MAX)
		explain();
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_term };
	const char *role = argc > 1 ? argv[1] : "";
	const char *nodes = getenv("NODES");
	int err;

	if (strcmp(role, "serve") && strcmp(role, "ask"))
		explain();
	sigaction(SIGTERM, &action, NULL);
	options(argc - 1, argv + 1);
	traffic.over_cable = nodes && strcmp(nodes, "1");
	err = krdma_open(&traffic.session);
	if (err) {
		fprintf(stderr, "%s: %s\n", KRDMA_DEVICE_PATH, krdma_error_name(err));
		return 2;
	}
	err = strcmp(role, "serve") ? ask() : serve(&traffic, &stop);
	krdma_close(traffic.session);
	return err;
}
