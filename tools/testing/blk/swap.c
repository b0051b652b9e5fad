// SPDX-License-Identifier: GPL-2.0
/*
 * Uses more memory than the machine has, while no thread can be started and the swap device loses
 * its connections and establishes them again.
 *
 *	swap MIB
 *	swap MIB STARVE RECONNECTS TIMES SECONDS
 *
 * The former only locks so much memory, says "held", and waits to be killed.
 *
 * One process writes and reads MIB of memory in turn.  Each page has its own contents, which change
 * in each round.  The other process is locked in memory.  By the file STARVE it prevents new
 * threads.  It waits until the number in the file RECONNECTS has grown by TIMES, for SECONDS at
 * most, and then allows threads again.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096

/* Memory shared by both processes. */
struct shared {
	volatile int over;
	volatile uint64_t rounds;
};

static uint64_t value(uint64_t page, uint64_t round)
{
	return (page + 1) * 0x9e3779b97f4a7c15u ^ round;
}

static int use(struct shared *shared, uint64_t pages)
{
	unsigned char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return 2;
	/* After the end, one more round reads all pages back from swap. */
	for (uint64_t round = 0, last = 0; !last; round++) {
		last = shared->over && round;
		for (uint64_t i = 0; i < pages; i++) {
			volatile uint64_t *at = (uint64_t *)(memory + i * PAGE);

			if (round && *at != value(i, round - 1))
				return 1;
			*at = value(i, round);
		}
		shared->rounds = round + 1;
	}
	return 0;
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return length < 0 ? -1 : 0;
}

static long get(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return length < 0 ? -1 : atol(text);
}

static int hold(uint64_t bytes)
{
	if (mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1, 0) == MAP_FAILED ||
	    mlockall(MCL_CURRENT)) {
		perror("swap");
		return 2;
	}
	puts("held");
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	struct shared *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long before, now, times, seconds;
	int status = 2;
	time_t begin;
	pid_t pid;

	if (argc == 2)
		return hold(strtoull(argv[1], NULL, 10) << 20);
	if (argc != 6 || shared == MAP_FAILED)
		return 2;
	times = atol(argv[4]);
	seconds = atol(argv[5]);
	before = get(argv[3]);
	pid = fork();
	if (!pid)
		_exit(use(shared, strtoull(argv[1], NULL, 10) * (1024 * 1024 / PAGE)));
	if (pid < 0 || mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("swap");
		return 2;
	}
	/* After the first round some pages are in swap. */
	while (!shared->rounds && !waitpid(pid, &status, WNOHANG))
		usleep(100000);
	printf("threads can%s be taken away\n", put(argv[2], "1") ? "not" : "");
	begin = time(NULL);
	do {
		usleep(200000);
		now = get(argv[3]);
	} while (now - before < times && time(NULL) - begin < seconds);
	put(argv[2], "0");
	shared->over = 1;
	printf("connections were made again %ld times in %ld s\n", now - before,
	       (long)(time(NULL) - begin));
	waitpid(pid, &status, 0);
	printf("memory: status %#x after %llu rounds\n", status,
	       (unsigned long long)shared->rounds);
	return status || now - before < times;
}
