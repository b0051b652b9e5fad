/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma bench --compare: measurements that two saved results have in common.
 */
#ifndef KRDMA_CLI_BENCH_COMPARE_H
#define KRDMA_CLI_BENCH_COMPARE_H

#include <stddef.h>
#include <stdio.h>

#include "bench.h"

#define COMPARE_NAME_MAX 32

/* Objects of the array "results" of both. */
struct pair {
	struct json_object *old;
	struct json_object *new;
};

struct pairs {
	struct pair *list;
	size_t count;
};

/* bench_compare.c: a number of a result, and one of its times in nanoseconds; 0: there is none. */
double compare_number(struct json_object *result, const char *key);
double compare_time(struct json_object *result, const char *key);
/* The name of the operation, for a terminal. */
const char *compare_operation(struct json_object *result, char name[COMPARE_NAME_MAX]);

/* bench_compare_plot.c: both as an SVG picture.  Returns 0 or a negative errno. */
int compare_plot(const struct pairs *pairs, enum bench_unit unit, FILE *file);

#endif /* KRDMA_CLI_BENCH_COMPARE_H */
