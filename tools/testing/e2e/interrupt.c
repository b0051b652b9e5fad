// SPDX-License-Identifier: GPL-2.0
/*
 * Signals and waiting from another thread while a test is in a system call.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interrupt.h"
#include "session.h"

bool await_call(pid_t thread, long number)
{
	uint64_t end = now_ms() + 30000;
	char line[128], *rest;

	/* The file says "running" while the thread does not sleep. */
	while (read_line(line, sizeof(line), "/proc/self/task/%d/syscall", thread) ||
	       strtol(line, &rest, 10) != number || rest == line) {
		if (now_ms() > end)
			return false;
		sleep_ms(5);
	}
	return true;
}

int faults_open(void *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)page, .len = sysconf(_SC_PAGESIZE) },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range))
		return -errno;
	return fd;
}

int faults_answer(int faults, void *page)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)page, .len = sysconf(_SC_PAGESIZE) },
	};

	return ioctl(faults, UFFDIO_ZEROPAGE, &zero) ? -errno : 0;
}

static void *interrupt(void *argument)
{
	struct interrupter *interrupter = argument;

	while (!interrupter->over) {
		sleep_ms(100);
		pthread_kill(interrupter->whom, SIGUSR1);
	}
	return NULL;
}

int interrupter_begin(struct interrupter *interrupter)
{
	interrupter->whom = pthread_self();
	interrupter->over = false;
	return -pthread_create(&interrupter->thread, NULL, interrupt, interrupter);
}

void interrupter_end(struct interrupter *interrupter)
{
	interrupter->over = true;
	pthread_join(interrupter->thread, NULL);
}

void dawdle(unsigned int *dice)
{
	*dice = *dice * 1103515245 + 12345;
	for (unsigned int i = *dice >> 16 & 1023; i; i--)
		atomic_signal_fence(memory_order_seq_cst);
}
