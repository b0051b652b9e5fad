// SPDX-License-Identifier: GPL-2.0
/*
 * What other threads do while a test is in a call.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "meanwhile.h"
#include "session.h"

bool await_call(pid_t thread, long number)
{
	uint64_t end = now_ms() + 30000;
	char line[128], *rest;

	/* "running", where it does not sleep. */
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

static void *measure(void *argument)
{
	struct meter_thread *thread = argument;
	uint64_t begun, took;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(thread->processor, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!thread->meter->over) {
		begun = now_ms();
		sleep_ms(1);
		took = now_ms() - begun;
		/* Who is not the only one has to wait for his turn. */
		if (took > 10)
			thread->late_ms += took;
	}
	return NULL;
}

int meter_begin(struct meter *meter)
{
	cpu_set_t set;
	int ret;

	memset(meter, 0, sizeof(*meter));
	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	for (int i = 0; i < CPU_SETSIZE && meter->count < METERS; i++) {
		struct meter_thread *thread = &meter->threads[meter->count];

		if (!CPU_ISSET(i, &set))
			continue;
		thread->meter = meter;
		thread->processor = i;
		ret = pthread_create(&thread->thread, NULL, measure, thread);
		if (ret) {
			meter_end(meter);
			return -ret;
		}
		meter->count++;
	}
	return 0;
}

uint64_t meter_over(uint64_t over, uint64_t begun, unsigned int ms)
{
	uint64_t took = now_ms() - begun;

	return took > ms + over ? took - ms : over;
}

unsigned int meter_end(struct meter *meter)
{
	unsigned int late = 0;

	meter->over = true;
	for (unsigned int i = 0; i < meter->count; i++) {
		pthread_join(meter->threads[i].thread, NULL);
		late += meter->threads[i].late_ms;
	}
	return late;
}

void dawdle(unsigned int *dice)
{
	*dice = *dice * 1103515245 + 12345;
	for (unsigned int i = *dice >> 16 & 1023; i; i--)
		atomic_signal_fence(memory_order_seq_cst);
}
