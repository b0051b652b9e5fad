// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Rates per second, from counters at two points in time.
 */
#include <stdio.h>
#include <time.h>

#include "cli.h"
#include "rates.h"
#include "value.h"

#define DAY		(86400 * VALUE_SECOND)
/* Rates over a shorter interval are not meaningful. */
#define RATES_LEAST	(VALUE_SECOND / 10)

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return seconds > 0 && now > before ? (double)(now - before) / seconds : 0;
}

void rates_add(struct rates *rates, const struct objects *now, const struct objects *before,
	       const struct object *object)
{
	/* The counters of a new object started at 0. */
	static const struct object nothing;
	const struct object *was;
	double seconds;

	if (!before) {
		rates->sends += (double)object->sends;
		rates->direct += (double)object->sends_direct;
		rates->receives += (double)object->receives;
		rates->submitted += (double)object->submitted;
		rates->completed += (double)object->completed;
		return;
	}
	was = objects_find(before, object);
	if (!was)
		was = &nothing;
	seconds = (double)(now->when_ns - before->when_ns) / 1e9;
	rates->sends += rate(object->sends, was->sends, seconds);
	rates->direct += rate(object->sends_direct, was->sends_direct, seconds);
	rates->receives += rate(object->receives, was->receives, seconds);
	rates->submitted += rate(object->submitted, was->submitted, seconds);
	rates->completed += rate(object->completed, was->completed, seconds);
}

void rates_sleep(uint64_t ns)
{
	struct timespec span = {
		.tv_sec = (time_t)(ns / VALUE_SECOND),
		.tv_nsec = (long)(ns % VALUE_SECOND),
	};

	nanosleep(&span, NULL);
}

int rates_interval(const char *word, uint64_t *ns)
{
	if (value_time("-i", word, DAY, ns))
		return -1;
	if (*ns >= RATES_LEAST)
		return 0;
	complain("-i: '%s' is too short; the minimum is a tenth of a second, '0.1'", word);
	return -1;
}

int rates_count(const char *word, uint64_t *count)
{
	return value_number("-c", word, 1, UINT64_MAX / 2, count) ? -1 : 0;
}

const char *bytes_text(char text[SIZE_TEXT_MAX], uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	double value = (double)bytes;
	int unit = -1;

	while (value >= 1024 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(text, SIZE_TEXT_MAX, "%llu", (unsigned long long)bytes);
	else
		snprintf(text, SIZE_TEXT_MAX, "%.1f%c", value, units[unit]);
	return text;
}
