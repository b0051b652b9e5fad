/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's test harness, with another time limit.  It gives a test half a minute, which
 * an emulated machine with a kernel that checks everything can need for what takes a
 * second elsewhere; whoever waits for something has a limit of their own.
 */
#ifndef E2E_KSELFTEST_HARNESS_H
#define E2E_KSELFTEST_HARNESS_H

#include_next <kselftest_harness.h>

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 120

#endif
