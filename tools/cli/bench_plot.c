// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench --plot: the distribution of latencies, and latency and bandwidth over the size.
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"
#include "bench_chart.h"
#include "value.h"

/* A series has one operation and one depth, and is drawn as one line. */
struct series {
	enum bench_operation operation;
	uint64_t depth;
};

/*
 * The distribution
 */

static int add_distribution(struct drawing *drawing, const struct bench_result *result)
{
	char size[SIZE_TEXT_MAX];
	struct svg_point *points;
	uint64_t value, count, sum = 0;
	size_t at = 0, used = 0;
	char *name = drawing->names[drawing->count];

	while (stats_next(result->times, &at, &value, &count))
		used++;
	points = chart_line(drawing, used + 1);
	if (!points)
		return -ENOMEM;
	points[0] = (struct svg_point) { (double)result->times->least, 0 };
	used = 1;
	at = 0;
	while (stats_next(result->times, &at, &value, &count)) {
		sum += count;
		points[used++] = (struct svg_point) {
			(double)value, 100.0 * (double)sum / (double)result->times->count
		};
	}
	drawing->lines[drawing->count - 1].count = used;
	if (result->operation == BENCH_CONNECT)
		snprintf(name, CHART_NAME_MAX, "connect");
	else if (result->depth > 1)
		snprintf(name, CHART_NAME_MAX, "%s %s, depth %llu",
			 bench_operation_names[result->operation],
			 size_text(size, result->length), (unsigned long long)result->depth);
	else
		snprintf(name, CHART_NAME_MAX, "%s %s",
			 bench_operation_names[result->operation],
			 size_text(size, result->length));
	return 0;
}

static bool has_times(const struct bench_result *result)
{
	return result->times && result->times->count;
}

/* If there are too many results, draw some at equal distances. */
static int draw_distribution(struct drawing *drawing, const struct bench *bench)
{
	size_t i, all = 0, seen = 0, lines;
	int err;

	for (i = 0; i < bench->result_count; i++)
		all += has_times(&bench->results[i]);
	lines = all < SVG_LINES_MAX ? all : SVG_LINES_MAX;
	for (i = 0; i < bench->result_count; i++) {
		if (!has_times(&bench->results[i]))
			continue;
		/* The first, the last, and some between them. */
		if (drawing->count < lines &&
		    (lines == 1 || seen * (lines - 1) >= drawing->count * (all - 1))) {
			err = add_distribution(drawing, &bench->results[i]);
			if (err)
				return err;
		}
		seen++;
	}
	return 0;
}

/*
 * Over the size
 */

static bool is_of(const struct bench_result *result, const struct series *series)
{
	return result->operation == series->operation && result->depth == series->depth;
}

static bool has_size(const struct bench_result *result)
{
	return result->operation != BENCH_ATOMIC && result->operation != BENCH_CONNECT;
}

/* The first measurement of a series begins a line. */
static bool begins_series(const struct bench *bench, size_t index, struct series *series)
{
	const struct bench_result *result = &bench->results[index];
	size_t i;

	series->operation = result->operation;
	series->depth = result->depth;
	for (i = 0; i < index; i++)
		if (is_of(&bench->results[i], series))
			return false;
	return has_size(result);
}

static double bandwidth(const struct bench *bench, const struct bench_result *result,
			unsigned int unused)
{
	(void)unused;
	return bench_in_unit(bench->settings->unit,
			     (double)bench_bytes_per_second(bench, result));
}

static double percentile(const struct bench *bench, const struct bench_result *result,
			 unsigned int per_100000)
{
	(void)bench;
	return has_times(result) ? (double)stats_percentile(result->times, per_100000) : 0;
}

static int by_size(const void *a, const void *b)
{
	const struct svg_point *left = a, *right = b;

	return (left->x > right->x) - (left->x < right->x);
}

/* Add the line of a series.  Series that exceed the maximum of lines are left out. */
static int add_series(struct drawing *drawing, const struct bench *bench,
		      const struct series *series,
		      double (*value)(const struct bench *bench, const struct bench_result *result,
				      unsigned int argument),
		      unsigned int argument)
{
	struct svg_point *points;
	size_t i, used = 0;

	if (drawing->count == SVG_LINES_MAX)
		return 0;
	points = chart_line(drawing, bench->result_count);
	if (!points)
		return -ENOMEM;
	for (i = 0; i < bench->result_count; i++)
		if (is_of(&bench->results[i], series))
			points[used++] = (struct svg_point) {
				(double)bench->results[i].length,
				value(bench, &bench->results[i], argument)
			};
	qsort(points, used, sizeof(*points), by_size);
	drawing->lines[drawing->count - 1].count = used;
	return 0;
}

/* With a single size, the distribution is enough. */
static bool has_sizes(const struct bench *bench)
{
	const struct bench_result *first = NULL;
	size_t i;

	for (i = 0; i < bench->result_count; i++) {
		if (!has_size(&bench->results[i]))
			continue;
		if (!first)
			first = &bench->results[i];
		else if (first->length != bench->results[i].length)
			return true;
	}
	return false;
}

static int draw_times(struct drawing *drawing, const struct bench *bench)
{
	static const struct {
		const char *name;
		unsigned int per_100000;
	} shown[] = {
		{ "median", STATS_P50 }, { "99 %", STATS_P99 },
	};
	struct series series;
	size_t i, k, kinds, all = 0;
	char *name;
	int err;

	for (i = 0; i < bench->result_count; i++)
		all += begins_series(bench, i, &series) && has_times(&bench->results[i]);
	/* All medians, and the other percentile if the lines suffice. */
	kinds = all > SVG_LINES_MAX / 2 ? 1 : 2;
	for (i = 0; i < bench->result_count; i++) {
		if (!begins_series(bench, i, &series) || !has_times(&bench->results[i]))
			continue;
		for (k = 0; k < kinds && drawing->count < SVG_LINES_MAX; k++) {
			name = drawing->names[drawing->count];
			err = add_series(drawing, bench, &series, percentile,
					 shown[k].per_100000);
			if (err)
				return err;
			if (series.depth > 1)
				snprintf(name, CHART_NAME_MAX, "%s, depth %llu, %s",
					 bench_operation_names[series.operation],
					 (unsigned long long)series.depth, shown[k].name);
			else
				snprintf(name, CHART_NAME_MAX, "%s, %s",
					 bench_operation_names[series.operation], shown[k].name);
		}
	}
	return 0;
}

static int draw_bandwidth(struct drawing *drawing, const struct bench *bench)
{
	struct series series;
	char *name;
	size_t i;
	int err;

	for (i = 0; i < bench->result_count; i++) {
		if (!begins_series(bench, i, &series) || drawing->count == SVG_LINES_MAX)
			continue;
		name = drawing->names[drawing->count];
		err = add_series(drawing, bench, &series, bandwidth, 0);
		if (err)
			return err;
		snprintf(name, CHART_NAME_MAX, "%s, depth %llu",
			 bench_operation_names[series.operation],
			 (unsigned long long)series.depth);
	}
	return 0;
}

static int write_charts(const struct bench *bench, struct drawing drawings[3], FILE *file)
{
	const struct svg_axis size = {
		.label = "message size", .scale = SVG_LOG2, .text = chart_size
	};
	const struct svg_chart all[3] = {
		{
			.title = "Latency distribution",
			.x = { .label = "time", .scale = SVG_LOG10, .text = chart_time },
			.y = { .label = "operations that took no longer, %", .high = 100 },
			.lines = drawings[0].lines, .count = drawings[0].count,
		}, {
			.title = "Latency over message size",
			.x = size,
			.y = { .label = "time", .scale = SVG_LOG10, .text = chart_time },
			.lines = drawings[1].lines, .count = drawings[1].count, .marks = 1,
		}, {
			.title = "Bandwidth over message size",
			.x = size,
			.y = {
				.label = bench_unit_names[bench->settings->unit],
				.scale = SVG_LINEAR,
			},
			.lines = drawings[2].lines, .count = drawings[2].count, .marks = 1,
		},
	};
	struct svg_chart charts[3];
	char title[160], description[240];
	size_t i, count = 0;

	/* A chart without measurements is left out. */
	for (i = 0; i < 3; i++)
		if (all[i].count)
			charts[count++] = all[i];
	snprintf(title, sizeof(title), "krdma bench: %.40s to %.60s", bench->ways[0].device,
		 bench->settings->host);
	snprintf(description, sizeof(description),
		 "Measured by krdma bench %s through %.40s to %.60s, mode %s.", krdma_version(),
		 bench->ways[0].device, bench->ways[0].address,
		 bench->settings->polled ? "poll" : "event");
	return svg_write(file, title, description, charts, count);
}

int bench_plot(const struct bench *bench, FILE *file)
{
	struct drawing drawings[3] = { 0 };
	int err, i;

	err = draw_distribution(&drawings[0], bench);
	if (!err && has_sizes(bench))
		err = draw_times(&drawings[1], bench);
	if (!err)
		err = draw_bandwidth(&drawings[2], bench);
	if (!err)
		err = write_charts(bench, drawings, file);
	for (i = 0; i < 3; i++)
		chart_free(&drawings[i]);
	return err;
}
