/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of a test that are done by other processes.
 */
#ifndef KRDMA_E2E_CHILD_H
#define KRDMA_E2E_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a child does: 0, or where it failed, see CHECK().  It is a process of its own:
 * the harness's macros are not for it.
 */
typedef int child_function(void *context);

/* In a child: unless @condition, it ends here, and the line is its answer. */
#define CHECK(condition)	child_check(condition, __LINE__)

void child_check(bool condition, int line);

/* A user who may nothing but what everybody may. */
#define SOME_USER	4711
#define OTHER_USER	4712

/*
 * Runs @function in a child, waits for it, and answers what it has answered; or
 * -errno; or -1000 - N if it was ended by signal N.  user: as a user without
 * capabilities.
 */
int child_run(child_function *function, void *context);
int child_run_as(uid_t user, child_function *function, void *context);

/* This process from here on; 0 or -errno. */
int child_become(uid_t user);

/* A child that goes on by itself until it is killed, or -errno. */
pid_t child_start(child_function *function, void *context);
/* Kills it, and waits until it is gone: the milliseconds that took, or -errno. */
int64_t child_kill(pid_t pid);

#endif
