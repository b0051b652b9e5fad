/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Ending when a person wants it: signals, and waits that notice them.
 *
 * Nothing waits longer than a slice without looking: a signal that comes just before a
 * wait begins does not interrupt it.
 */
#ifndef KRDMA_CLI_PEER_STOP_H
#define KRDMA_CLI_PEER_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* SIGINT, SIGTERM and SIGHUP ask for the end; a second one does not ask. */
void stop_catch(void);

/* Has the end been asked for, by a signal or by stop_now()? */
bool stop_wanted(void);
void stop_now(void);

/* CLOCK_MONOTONIC, in nanoseconds: what libkrdma's deadlines are made of. */
uint64_t clock_ns(void);

/* @deadline, or the end of a slice that begins now, if that is earlier. */
uint64_t stop_slice(uint64_t deadline);

/* Until then, or until the end is wanted. */
void stop_sleep(uint64_t until);

#endif /* KRDMA_CLI_PEER_STOP_H */
