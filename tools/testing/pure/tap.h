/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Test Anything Protocol, as much of it as a program needs.
 */
#ifndef KRDMA_PURE_TAP_H
#define KRDMA_PURE_TAP_H

#include <stdbool.h>
#include <stdio.h>

static unsigned int tap_results;
static unsigned int tap_failures;

__attribute__((unused))
static void tap_result(bool holds, const char *name)
{
	tap_results++;
	tap_failures += !holds;
	printf("%sok %u %s\n", holds ? "" : "not ", tap_results, name);
}

/* The plan comes last: a program that dies has none. */
static int tap_end(void)
{
	printf("1..%u\n", tap_results);
	return tap_failures || !tap_results;
}

#endif
