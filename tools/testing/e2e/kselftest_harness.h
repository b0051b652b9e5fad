/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test harness, with a longer time limit.  The kernel's limit is half a minute, but an
 * emulated machine with a debug kernel can need that long for what takes a second elsewhere.  A
 * test that waits for something has its own, shorter limit.
 *
 * When the process of a test has ended, krdma must also release all objects of the process.
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
