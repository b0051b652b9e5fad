// SPDX-License-Identifier: GPL-2.0
/*
 * The locks of libkrdma's rings.
 */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

#include "ring_lock.h"
#include "tap.h"

#define THREADS	4
#define TURNS	200000

struct counted {
	struct ring_lock lock;
	pthread_barrier_t begin;
	unsigned long inside;
	unsigned long turns;
	bool two;
};

/* Holds the lock for a moment now and then, so that others have to sleep. */
static void *count(void *context)
{
	struct counted *counted = context;

	pthread_barrier_wait(&counted->begin);
	for (unsigned int i = 0; i < TURNS; i++) {
		ring_lock_take(&counted->lock);
		counted->two |= counted->inside++ != 0;
		if (i % 64 == 0)
			sched_yield();
		counted->turns++;
		counted->inside--;
		ring_lock_release(&counted->lock);
	}
	return NULL;
}

static bool one_thread_is_inside(void)
{
	struct counted counted = { .turns = 0 };
	pthread_t threads[THREADS];
	int started = 0;

	pthread_barrier_init(&counted.begin, NULL, THREADS);
	while (started < THREADS && !pthread_create(&threads[started], NULL, count, &counted))
		started++;
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&counted.begin);
	return started == THREADS && !counted.two && counted.turns == THREADS * TURNS &&
	       counted.lock.state == RING_LOCK_FREE;
}

static bool a_taken_lock_is_not_taken(void)
{
	struct ring_lock lock = { RING_LOCK_FREE };
	bool first = ring_lock_try(&lock), second = ring_lock_try(&lock);

	ring_lock_release(&lock);
	return first && !second && ring_lock_try(&lock);
}

struct waiting {
	struct ring_lock lock;
	bool had;
};

static void *wait_for_it(void *context)
{
	struct waiting *waiting = context;

	ring_lock_take(&waiting->lock);
	waiting->had = true;
	ring_lock_release(&waiting->lock);
	return NULL;
}

/* All threads that sleep get the lock, one after the other. */
static bool all_that_sleep_are_woken(void)
{
	struct waiting waiting = { .had = false };
	pthread_t threads[THREADS];
	int started = 0;

	ring_lock_take(&waiting.lock);
	while (started < THREADS &&
	       !pthread_create(&threads[started], NULL, wait_for_it, &waiting))
		started++;
	while (__atomic_load_n(&waiting.lock.state, __ATOMIC_RELAXED) != RING_LOCK_WANTED)
		sched_yield();
	ring_lock_release(&waiting.lock);
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return started == THREADS && waiting.had && ring_lock_try(&waiting.lock);
}

#define RESULT(test) tap_result(test(), #test)

int main(void)
{
	/* A thread that is not woken waits forever. */
	alarm(60);
	RESULT(one_thread_is_inside);
	RESULT(a_taken_lock_is_not_taken);
	RESULT(all_that_sleep_are_woken);
	return tap_end();
}
