// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Ending when a person wants it.
 */
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "peer_stop.h"

#define SLICE_NS UINT64_C(200000000)

/* Set once, by a handler or by any thread; free of locks wherever Linux runs. */
static atomic_bool stopping;

static void handle(int number)
{
	(void)number;
	stopping = true;
}

/*
 * Without SA_RESTART, so that waits come back.  With SA_RESETHAND: whoever is tired of
 * waiting for an orderly end sends the signal again.
 */
void stop_catch(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	/* Also where a shell has a job in the background ignore it. */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* But what nohup(1) has started goes on. */
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
