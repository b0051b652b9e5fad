// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Keeps a link alive while the thread that uses it may wait for a disk.
 *
 * That thread leaves the link before a call that may wait for long, and enters it again afterwards.
 * If it is away at the end of a tick, another thread processes completions and sends keepalives.
 * Nearly all such calls return at once, so leaving and entering cost an atomic operation each.
 *
 * The other thread exists from the first such call of a request to the end of the request. So a
 * program that forks between two requests has no such thread.
 */
#include "file_internal.h"

#include <signal.h>
#include <time.h>

/* Values of keeper->turn: the thread that may use the link. A zeroed keeper has the first one. */
enum {
	TURN_USER,
	TURN_FREE,
	TURN_KEEPER,
};

/* Waits for one tick. Returns whether the thread is to end. */
static bool is_over(struct file_keeper *keeper)
{
	struct timespec until;
	int err = 0;
	bool ended;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += FILE_TICK_MS * 1000000l;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&keeper->lock);
	while (!keeper->ended && !err)
		err = pthread_cond_timedwait(&keeper->changed, &keeper->lock, &until);
	ended = keeper->ended;
	pthread_mutex_unlock(&keeper->lock);
	return ended;
}

static void give(struct file_keeper *keeper)
{
	pthread_mutex_lock(&keeper->lock);
	atomic_store_explicit(&keeper->turn, TURN_FREE, memory_order_release);
	pthread_cond_signal(&keeper->changed);
	pthread_mutex_unlock(&keeper->lock);
}

static bool take(struct file_keeper *keeper, int turn)
{
	int from = TURN_FREE;

	return atomic_compare_exchange_strong_explicit(&keeper->turn, &from, turn,
						       memory_order_acquire,
						       memory_order_relaxed);
}

static void *keep(void *context)
{
	struct file_link *link = context;
	struct file_keeper *keeper = &link->keeper;

	while (!is_over(keeper)) {
		if (!take(keeper, TURN_KEEPER))
			continue;
		/* The thread that uses the link finds an error there. */
		file_link_keep(link);
		give(keeper);
	}
	return NULL;
}

/* Without such a thread, the peer waits as long as it does. */
static void start(struct file_link *link)
{
	struct file_keeper *keeper = &link->keeper;
	pthread_condattr_t monotonic;
	sigset_t all, before;

	pthread_mutex_init(&keeper->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&keeper->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* Block all signals in the new thread, so that the program's own threads get them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	keeper->started = !pthread_create(&keeper->thread, NULL, keep, link);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!keeper->started) {
		pthread_cond_destroy(&keeper->changed);
		pthread_mutex_destroy(&keeper->lock);
	}
}

static void enter(struct file_keeper *keeper)
{
	if (take(keeper, TURN_USER))
		return;
	pthread_mutex_lock(&keeper->lock);
	while (!take(keeper, TURN_USER))
		pthread_cond_wait(&keeper->changed, &keeper->lock);
	pthread_mutex_unlock(&keeper->lock);
}

void file_link_leave(struct file_link *link)
{
	if (!link || link->keeper.depth++)
		return;
	if (!link->keeper.started)
		start(link);
	atomic_store_explicit(&link->keeper.turn, TURN_FREE, memory_order_release);
}

void file_link_enter(struct file_link *link)
{
	if (link && !--link->keeper.depth)
		enter(&link->keeper);
}

unsigned int file_link_enter_all(struct file_link *link)
{
	unsigned int depth = link->keeper.depth;

	if (depth)
		enter(&link->keeper);
	link->keeper.depth = 0;
	return depth;
}

void file_link_leave_again(struct file_link *link, unsigned int depth)
{
	link->keeper.depth = depth;
	if (depth)
		atomic_store_explicit(&link->keeper.turn, TURN_FREE, memory_order_release);
}

void file_link_rest(struct file_link *link)
{
	struct file_keeper *keeper = &link->keeper;

	if (!keeper->started)
		return;
	pthread_mutex_lock(&keeper->lock);
	keeper->ended = true;
	pthread_cond_signal(&keeper->changed);
	pthread_mutex_unlock(&keeper->lock);
	pthread_join(keeper->thread, NULL);
	pthread_cond_destroy(&keeper->changed);
	pthread_mutex_destroy(&keeper->lock);
	keeper->started = false;
	keeper->ended = false;
}
