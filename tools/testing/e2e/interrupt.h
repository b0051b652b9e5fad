/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Signals and waiting from another thread while a test is in a system call.
 */
#ifndef KRDMA_E2E_INTERRUPT_H
#define KRDMA_E2E_INTERRUPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits until a thread of this process sleeps in system call @number.  Returns false if it does not
 * within 30 s.
 */
bool await_call(pid_t thread, long number);

/*
 * A thread that first accesses the page, also in a system call, waits there until faults_answer().
 * As root.  Returns a descriptor that is readable when a thread waits, or -errno.
 */
int faults_open(void *page);

/* Fill the page with zeros.  Returns 0 or -errno. */
int faults_answer(int faults, void *page);

/*
 * Sends SIGUSR1 to the thread that has called interrupter_begin(), every 100 ms until
 * interrupter_end().  Repeating it is necessary, because the first signal may come before the call
 * that it is to interrupt.  interrupter_begin() returns 0 or -errno.
 */
struct interrupter {
	pthread_t whom;
	pthread_t thread;
	atomic_bool over;
};

/* Spins for a random time, of at most some microseconds. */
void dawdle(unsigned int *dice);

int interrupter_begin(struct interrupter *interrupter);
void interrupter_end(struct interrupter *interrupter);

#endif
