/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Statistics of times: of any number of them, in memory that does not grow.
 *
 * Values are counted in buckets: up to 2^STATS_EXACT_BITS one for each value, above that
 * 2^(STATS_EXACT_BITS - 1) of the same width for each power of two.  A percentile is so
 * never wrong by more than one part in 2^(STATS_EXACT_BITS - 1), less than 0.8 %; least,
 * greatest and mean are exact.
 */
#ifndef KRDMA_CLI_STATS_H
#define KRDMA_CLI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

#define STATS_EXACT_BITS	8
#define STATS_BUCKETS		((66 - STATS_EXACT_BITS) << (STATS_EXACT_BITS - 1))

/* Percentiles, in thousandths of a percent. */
#define STATS_P50	50000
#define STATS_P90	90000
#define STATS_P99	99000
#define STATS_P99_9	99900
#define STATS_P100	100000

struct stats {
	uint64_t count;
	uint64_t least;
	uint64_t greatest;
	double mean;
	/* The sum of the squares of the distances from the mean. */
	double spread;
	uint64_t buckets[STATS_BUCKETS];
};

void stats_init(struct stats *stats);
void stats_add(struct stats *stats, uint64_t value);

/* The standard deviation; 0 of fewer than two values. */
uint64_t stats_deviation(const struct stats *stats);

/*
 * The least value that so many of all are not above, as its bucket's upper end; 0 if
 * there are no values.
 */
uint64_t stats_percentile(const struct stats *stats, unsigned int per_100000);

/*
 * Walk through the buckets that are not empty: the upper end of the next one, and how
 * many values are in it.  *@at begins with 0.
 */
bool stats_next(const struct stats *stats, size_t *at, uint64_t *value, uint64_t *count);

/* stats_json.c: min, avg, max, mdev and percentiles, as whole numbers. */
struct json_object *stats_json(const struct stats *stats);

#endif /* KRDMA_CLI_STATS_H */
