/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of a test that run in other processes.
 */
#ifndef KRDMA_E2E_CHILD_H
#define KRDMA_E2E_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The function of a child.  Returns 0, or the line where CHECK() failed.  It must not use the
 * macros of the harness, because it runs in a process of its own.
 */
typedef int child_function(void *context);

/* If @condition is false, the child exits, with the line as its result. */
#define CHECK(condition)	child_check(condition, __LINE__)

void child_check(bool condition, int line);

/* User IDs without any privileges. */
#define SOME_USER	4711
#define OTHER_USER	4712

/*
 * Runs @function in a child and waits for it.  Returns its result, or -errno, or -1000 - N if
 * signal N has ended the child.  With @user, the child runs as that user, without capabilities.
 */
int child_run(child_function *function, void *context);
int child_run_as(uid_t user, child_function *function, void *context);

/* Makes this process run as @user; returns 0 or -errno. */
int child_become(uid_t user);

/* Starts a child and does not wait for it; returns its PID or -errno. */
pid_t child_start(child_function *function, void *context);
/* Kills a child and waits for it; returns the milliseconds that this took, or -errno. */
int64_t child_kill(pid_t pid);

#endif
