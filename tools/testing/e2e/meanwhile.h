/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What other threads do while a test is in a call.
 */
#ifndef KRDMA_E2E_MEANWHILE_H
#define KRDMA_E2E_MEANWHILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Until that thread of this process sleeps in the system call of that number; or 30 s. */
bool await_call(pid_t thread, long number);

/*
 * SIGUSR1 to the thread that begins it, every 100 ms until that one ends it: the first one may
 * come before the call that is to be interrupted.  0 or -errno.
 */
struct interrupter {
	pthread_t whom;
	pthread_t thread;
	atomic_bool over;
};

int interrupter_begin(struct interrupter *interrupter);
void interrupter_end(struct interrupter *interrupter);

/* Between nothing and some microseconds, another time each time. */
void dawdle(unsigned int *dice);

/*
 * How long the machine has stood still: a thread on each processor wants to run every
 * millisecond.  0 or -errno; and how late all of them were together, in ms.
 */
#define METERS	16

struct meter {
	struct meter_thread {
		struct meter *meter;
		pthread_t thread;
		int processor;
		unsigned int late_ms;
	} threads[METERS];
	unsigned int count;
	atomic_bool over;
};

/* What has begun then was to last @ms: by how much it lasts longer; or @over, which is more. */
uint64_t meter_over(uint64_t over, uint64_t begun, unsigned int ms);

int meter_begin(struct meter *meter);
unsigned int meter_end(struct meter *meter);

#endif
