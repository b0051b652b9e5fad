/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Statistics of any number of times, in memory of constant size.
 *
 * Values are counted in buckets: one for each value below 2^STATS_EXACT_BITS, and above that
 * 2^(STATS_EXACT_BITS - 1) of equal width for each power of two.  So the error of a percentile is
 * at most one part in 2^(STATS_EXACT_BITS - 1), less than 0.8 %; minimum, maximum and mean are
 * exact.
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
	/* Sum of the squared distances from the mean. */
	double spread;
	uint64_t buckets[STATS_BUCKETS];
};

void stats_init(struct stats *stats);
void stats_add(struct stats *stats, uint64_t value);

/* Add all values of @from. */
void stats_merge(struct stats *stats, const struct stats *from);

/* Standard deviation; 0 if there are fewer than two values. */
uint64_t stats_deviation(const struct stats *stats);

/*
 * Percentile: the least value that is not exceeded by this share of the values, rounded up to the
 * end of its bucket; 0 if there are no values.
 */
uint64_t stats_percentile(const struct stats *stats, unsigned int per_100000);

/*
 * Iterate over the non-empty buckets: @value is the upper end of the next one, @count the number
 * of its values.  Set *@at to 0 before the first call.  Returns false at the end.
 */
bool stats_next(const struct stats *stats, size_t *at, uint64_t *value, uint64_t *count);

/* stats_json.c: min, avg, max, mdev and percentiles as integers. */
struct json_object *stats_json(const struct stats *stats);

#endif /* KRDMA_CLI_STATS_H */
