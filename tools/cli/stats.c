// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Statistics of any number of times, in memory of constant size.
 */
#include <math.h>
#include <string.h>

#include "stats.h"

#define EXACT		(UINT64_C(1) << STATS_EXACT_BITS)
#define HALF_BITS	(STATS_EXACT_BITS - 1)

/*
 * The value is shifted right until STATS_EXACT_BITS remain, the highest of which is set.  A value
 * that is shifted by n is in one of the buckets from (n + 1) * EXACT / 2 on.
 */
static size_t bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < EXACT)
		return (size_t)value;
	shift = 64 - (unsigned int)__builtin_clzll(value) - STATS_EXACT_BITS;
	return ((size_t)shift << HALF_BITS) + (size_t)(value >> shift);
}

/* The greatest value of a bucket. */
static uint64_t bucket_end(size_t bucket)
{
	unsigned int shift;
	uint64_t next;

	if (bucket < EXACT)
		return bucket;
	shift = (unsigned int)(bucket >> HALF_BITS) - 1;
	/* For the last bucket 2^64 wraps to 0, and the result is still right. */
	next = bucket - ((size_t)shift << HALF_BITS) + 1;
	return (next << shift) - 1;
}

void stats_init(struct stats *stats)
{
	memset(stats, 0, sizeof(*stats));
}

void stats_add(struct stats *stats, uint64_t value)
{
	double distance = (double)value - stats->mean;

	if (!stats->count || value < stats->least)
		stats->least = value;
	if (value > stats->greatest)
		stats->greatest = value;
	stats->count++;
	/* Welford's method: a sum of squares would lose precision. */
	stats->mean += distance / (double)stats->count;
	stats->spread += distance * ((double)value - stats->mean);
	stats->buckets[bucket_of(value)]++;
}

void stats_merge(struct stats *stats, const struct stats *from)
{
	uint64_t count = stats->count + from->count;
	double distance = from->mean - stats->mean;
	size_t i;

	if (!from->count)
		return;
	if (!stats->count || from->least < stats->least)
		stats->least = from->least;
	if (from->greatest > stats->greatest)
		stats->greatest = from->greatest;
	/* The sums of the squares, about the mean of both. */
	stats->spread += from->spread + distance * distance * (double)stats->count *
					 (double)from->count / (double)count;
	stats->mean += distance * (double)from->count / (double)count;
	stats->count = count;
	for (i = 0; i < STATS_BUCKETS; i++)
		stats->buckets[i] += from->buckets[i];
}

uint64_t stats_deviation(const struct stats *stats)
{
	if (stats->count < 2)
		return 0;
	return (uint64_t)(sqrt(stats->spread / (double)stats->count) + 0.5);
}

static uint64_t clamp(const struct stats *stats, uint64_t value)
{
	if (value > stats->greatest)
		return stats->greatest;
	return value < stats->least ? stats->least : value;
}

uint64_t stats_percentile(const struct stats *stats, unsigned int per_100000)
{
	uint64_t whole = stats->count / STATS_P100, rest = stats->count % STATS_P100;
	uint64_t rank, passed = 0;
	size_t i;

	if (!stats->count)
		return 0;
	/* Round up, and avoid a product that overflows. */
	rank = whole * per_100000 + (rest * per_100000 + STATS_P100 - 1) / STATS_P100;
	if (rank < 1)
		rank = 1;
	for (i = 0; i < STATS_BUCKETS; i++) {
		passed += stats->buckets[i];
		if (passed >= rank)
			return clamp(stats, bucket_end(i));
	}
	return stats->greatest;
}

bool stats_next(const struct stats *stats, size_t *at, uint64_t *value, uint64_t *count)
{
	for (; *at < STATS_BUCKETS; (*at)++) {
		if (!stats->buckets[*at])
			continue;
		*value = clamp(stats, bucket_end(*at));
		*count = stats->buckets[*at];
		(*at)++;
		return true;
	}
	return false;
}
