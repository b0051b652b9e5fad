// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Stop on request of the user.
 */
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "peer_stop.h"

#define SLICE_NS UINT64_C(200000000)

/* Set once, by a signal handler or by any thread; lock-free on every machine with Linux. */
static atomic_bool stopping;

/* The first signal that has requested a stop. */
static atomic_int first_signal;

void stop_note(int number)
{
	int none = 0;

	atomic_compare_exchange_strong(&first_signal, &none, number);
}

static void handle(int number)
{
	stop_note(number);
	stopping = true;
}

/*
 * Without SA_RESTART, so that a signal interrupts waits.  With SA_RESETHAND, so that a second
 * signal ends the process at once, without waiting for an orderly end.
 */
void stop_catch(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	/* Also if a shell has set it to be ignored for a background job. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* A process started by nohup(1) continues after SIGHUP. */
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

bool stop_wanted(void)
{
	return stopping;
}

void stop_now(void)
{
	stopping = true;
}

int stop_end(int status)
{
	if (atomic_load(&first_signal) != SIGINT)
		return status;
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
	/* A filter of system calls keeps the process from sending itself signals. */
	return 128 + SIGINT;
}

uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t stop_slice(uint64_t deadline)
{
	uint64_t end = clock_ns() + SLICE_NS;

	return deadline < end ? deadline : end;
}

void stop_sleep(uint64_t until)
{
	struct timespec end;
	uint64_t slice;

	while (!stop_wanted() && clock_ns() < until) {
		slice = stop_slice(until);
		end.tv_sec = (time_t)(slice / UINT64_C(1000000000));
		end.tv_nsec = (long)(slice % UINT64_C(1000000000));
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
	}
}
