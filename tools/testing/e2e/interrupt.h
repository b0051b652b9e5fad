/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What another thread does while a test is in a call.
 */
#ifndef KRDMA_E2E_INTERRUPT_H
#define KRDMA_E2E_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
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

/* Spins between nothing and some microseconds, another time each time. */
void dawdle(unsigned int *dice);

int interrupter_begin(struct interrupter *interrupter);
void interrupter_end(struct interrupter *interrupter);

#endif
