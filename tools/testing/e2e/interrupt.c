// SPDX-License-Identifier: GPL-2.0
/*
 * Signals and waiting from another thread while a test is in a system call.
 */
#include <signal.h>
#include <stdlib.h>

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
