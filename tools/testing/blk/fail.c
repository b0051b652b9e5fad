// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to a file of the kernel repeatedly, and makes another allocation or copy from user space
 * fail each time: the first one, then the second one, until the write has none left to fail.  After
 * the first FEW it takes every STEPth only.
 *
 *	fail FILE VALUE UNDO
 *
 * After each write of VALUE that succeeds it writes UNDO.  The exit status is 0 if the write
 * succeeds when nothing fails, and if at least one of the injected failures made it fail.  The
 * kernel's own checks find leaks.  Needs the kernel's fault injection (/proc/self/fail-nth).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FEW		50
#define STEP		13
#define MOST_FAILURES	5000

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static const char *const settings[][2] = {
	/* By default, allocations that may sleep do not fail. */
	{ "/sys/kernel/debug/failslab/ignore-gfp-wait", "N" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N" },
	/* A stack trace of each failure would flood the kernel log. */
	{ "/sys/kernel/debug/failslab/verbose", "0" },
	{ "/sys/kernel/debug/fail_page_alloc/verbose", "0" },
	{ "/sys/kernel/debug/fail_usercopy/verbose", "0" },
};

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	printf("%s: %s\n", path, strerror(errno));
	exit(1);
}

static int put(int fd, const char *value)
{
	return pwrite(fd, value, strlen(value), 0) < 0 ? -errno : 0;
}

static int arm(int control, unsigned int nth)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", nth);
	return put(control, number);
}

/*
 * Disarm, and return true if the failure was injected.  If it was not, it may hit the read here.
 * The error of the read then says the same: nothing was injected before.
 */
static bool has_failed(int control)
{
	char number[16] = "";
	bool failed = pread(control, number, sizeof(number) - 1, 0) > 0 && !atoi(number);

	arm(control, 0);
	return failed;
}

int main(int argc, char **argv)
{
	unsigned int tried = 0, failures = 0;
	int control, file;

	if (argc != 4)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		int fd = open_or_die(settings[i][0], O_WRONLY);

		if (write(fd, settings[i][1], 1) != 1) {
			printf("%s: %s\n", settings[i][0], strerror(errno));
			return 1;
		}
		close(fd);
	}
	control = open_or_die("/proc/self/fail-nth", O_RDWR);
	file = open_or_die(argv[1], O_WRONLY);

	for (unsigned int nth = 1; nth < MOST_FAILURES; nth += nth < FEW ? 1 : STEP) {
		bool failed;
		int err;

		err = arm(control, nth);
		if (err) {
			printf("nothing can be made to fail: %s\n", strerror(-err));
			return 1;
		}
		err = put(file, argv[2]);
		failed = has_failed(control);
		if (!err && put(file, argv[3])) {
			printf("number %u has failed, and then %s could not be written\n", nth,
			       argv[3]);
			return 1;
		}
		if (!failed) {
			printf("tried %u of some %u, of which %u are not done without\n", tried,
			       nth - 1, failures);
			if (err)
				printf("and without a failure: %s\n", strerror(-err));
			return err || !failures;
		}
		tried++;
		failures += err != 0;
	}
	printf("it makes more than %u\n", MOST_FAILURES);
	return 1;
}
