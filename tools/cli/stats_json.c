// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Statistics as JSON, in whole nanoseconds: the clock is no finer.
 */
#include <json-c/json.h>

#include "cli.h"
#include "stats.h"

struct json_object *stats_json(const struct stats *stats)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_number(object, "min", stats->least);
	json_put_number(object, "avg", (uint64_t)(stats->mean + 0.5));
	json_put_number(object, "max", stats->greatest);
	json_put_number(object, "mdev", stats_deviation(stats));
	json_put_number(object, "p50", stats_percentile(stats, STATS_P50));
	json_put_number(object, "p90", stats_percentile(stats, STATS_P90));
	json_put_number(object, "p99", stats_percentile(stats, STATS_P99));
	json_put_number(object, "p99_9", stats_percentile(stats, STATS_P99_9));
	return object;
}
