// SPDX-License-Identifier: GPL-2.0
/*
 * Durations, sorted.  Where the clock counts instructions, a nanosecond is one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "peer.h"

/* In thousandths; tools/bench/report.py knows them too. */
static const unsigned int percentiles[] = {
	10, 50, 100, 250, 500, 750, 900, 950, 990, 999,
};

#define PERCENTILES	(sizeof(percentiles) / sizeof(*percentiles))

void series_begin(struct series *series, unsigned int room)
{
	series->used = 0;
	series->room = room;
	series->values = peer_alloc(room * sizeof(*series->values));
}

void series_add(struct series *series, uint64_t value)
{
	if (series->used < series->room)
		series->values[series->used++] = value;
}

static int compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

void series_end(struct series *series, const char *name, double mean)
{
	uint64_t *values = series->values;
	unsigned int last = series->used - 1;

	qsort(values, series->used, sizeof(*values), compare);
	printf("time %s %u %.2f %llu", name, series->used, mean, (unsigned long long)values[0]);
	for (size_t i = 0; i < PERCENTILES; i++)
		printf(" %llu", (unsigned long long)
		       values[(uint64_t)last * percentiles[i] / 1000]);
	printf(" %llu\n", (unsigned long long)values[last]);
	free(values);
}

void value_print(const char *name, double value)
{
	printf("value %s %.2f\n", name, value);
}
