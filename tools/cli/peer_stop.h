/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Stop on request of the user: signals, and waits that notice them.
 *
 * No wait is longer than a slice without checking for a stop, because a signal that arrives just
 * before a wait begins does not interrupt it.
 */
#ifndef KRDMA_CLI_PEER_STOP_H
#define KRDMA_CLI_PEER_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* SIGINT, SIGTERM and SIGHUP request a stop; a second signal ends the process at once. */
void stop_catch(void);

/* For other handlers: remember that this signal has requested the end; async-signal-safe. */
void stop_note(int number);

/*
 * After an orderly end because of Ctrl-C: end the process by that signal, so that the parent
 * process sees why.  Returns @status if it was not SIGINT that has requested the end.
 */
int stop_end(int status);

/* True if a stop is requested, by a signal or by stop_now(). */
bool stop_wanted(void);
void stop_now(void);

/* CLOCK_MONOTONIC in nanoseconds, the clock of libkrdma's deadlines. */
uint64_t clock_ns(void);

/* Return @deadline, or the end of a slice that begins now if that is earlier. */
uint64_t stop_slice(uint64_t deadline);

/* Sleep until @until, or until a stop is requested. */
void stop_sleep(uint64_t until);

#endif /* KRDMA_CLI_PEER_STOP_H */
