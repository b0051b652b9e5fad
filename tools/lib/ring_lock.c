// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Waits for a lock of a ring.
 */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring_lock.h"

/* Newer 32-bit machines have only the call with the wider time, which is not used here. */
#ifndef SYS_futex
#define SYS_futex	SYS_futex_time64
#endif

void ring_lock_wait(struct ring_lock *lock)
{
	/* A thread that has slept does not know of others that sleep, so it expects them. */
	while (__atomic_exchange_n(&lock->state, RING_LOCK_WANTED, __ATOMIC_ACQUIRE) !=
	       RING_LOCK_FREE)
		/* Returns at once if the state has changed; a signal only repeats the loop. */
		(void)syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, RING_LOCK_WANTED,
			      NULL, NULL, 0);
}

void ring_lock_wake(struct ring_lock *lock)
{
	(void)syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
