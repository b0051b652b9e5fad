/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: the locks of a ring.
 *
 * A ring mostly has one thread, and an operation takes a lock twice. To take and to release one
 * that no other thread wants is one instruction each here, and no function call. A thread that
 * has to wait sleeps in the kernel.
 */
#ifndef KRDMA_RING_LOCK_H
#define KRDMA_RING_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "internal.h"

/**
 * enum ring_lock_state - values of &struct ring_lock.state
 * @RING_LOCK_FREE: no thread has it
 * @RING_LOCK_TAKEN: a thread has it, and no other one sleeps
 * @RING_LOCK_WANTED: a thread has it, and others may sleep
 */
enum ring_lock_state {
	RING_LOCK_FREE,
	RING_LOCK_TAKEN,
	RING_LOCK_WANTED,
};

/* A lock; zeroed, it is free. */
struct ring_lock {
	uint32_t state;
};

/* ring_lock.c: what takes longer. */
void ring_lock_wait(struct ring_lock *lock);
void ring_lock_wake(struct ring_lock *lock);

static inline bool ring_lock_try(struct ring_lock *lock)
{
	uint32_t state = RING_LOCK_FREE;

	return __atomic_compare_exchange_n(&lock->state, &state, RING_LOCK_TAKEN, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void ring_lock_take(struct ring_lock *lock)
{
	if (!ring_lock_try(lock))
		ring_lock_wait(lock);
}

static inline void ring_lock_release(struct ring_lock *lock)
{
	if (__atomic_exchange_n(&lock->state, RING_LOCK_FREE, __ATOMIC_RELEASE) ==
	    RING_LOCK_WANTED)
		ring_lock_wake(lock);
}

#endif /* KRDMA_RING_LOCK_H */
