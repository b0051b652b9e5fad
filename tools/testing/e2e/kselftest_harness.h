/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test harness, with another time limit.  It gives a test half a minute, which
 * an emulated machine with a kernel that checks everything can need for what takes a
 * second elsewhere; whoever waits for something has a limit of their own.
 *
 * And when the process of a test has ended, all of krdma's objects that it had must go.
 */
#ifndef E2E_KSELFTEST_HARNESS_H
#define E2E_KSELFTEST_HARNESS_H

#include <sys/wait.h>

#include "objects.h"

#define waitpid(pid, status, options) objects_waitpid(pid, status, options)
#include_next <kselftest_harness.h>
#undef waitpid

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 120

#endif
