// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench --compare --plot: two saved results in one picture.
 *
 * Each chart has a line of the old result and one of the new one for each series.  A series is an
 * operation of one depth, over the size; or, if there is only one size, an operation over the
 * depth.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench_chart.h"
#include "bench_compare.h"

#define CHARTS 3

struct comparison {
	const struct pairs *pairs;
	enum bench_unit unit;
	bool over_depth;
};

/* Results with a size, or a depth, of their own. */
static bool has_size(struct json_object *result)
{
	char name[COMPARE_NAME_MAX];

	compare_operation(result, name);
	return strcmp(name, "connect") && strcmp(name, "atomic");
}

static bool has_several(const struct pairs *pairs, const char *key)
{
	struct json_object *first = NULL;
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		struct json_object *result = pairs->list[i].old;

		if (!has_size(result))
			continue;
		if (!first)
			first = result;
		else if (compare_number(first, key) != compare_number(result, key))
			return true;
	}
	return false;
}

static double place(const struct comparison *comparison, struct json_object *result)
{
	return compare_number(result, comparison->over_depth ? "depth" : "size");
}

/* What is the same in all results of a series, besides the operation. */
static double constant(const struct comparison *comparison, struct json_object *result)
{
	return compare_number(result, comparison->over_depth ? "size" : "depth");
}

static bool same_series(const struct comparison *comparison, struct json_object *a,
			struct json_object *b)
{
	char left[COMPARE_NAME_MAX], right[COMPARE_NAME_MAX];

	return !strcmp(compare_operation(a, left), compare_operation(b, right)) &&
	       constant(comparison, a) == constant(comparison, b);
}

static double median(struct json_object *result, enum bench_unit unit)
{
	(void)unit;
	return compare_time(result, "p50");
}

static double high(struct json_object *result, enum bench_unit unit)
{
	(void)unit;
	return compare_time(result, "p99");
}

static double bandwidth(struct json_object *result, enum bench_unit unit)
{
	return bench_in_unit(unit, compare_number(result, "bytes_per_second"));
}

typedef double value_of(struct json_object *result, enum bench_unit unit);

static int by_place(const void *a, const void *b)
{
	const struct svg_point *left = a, *right = b;

	return (left->x > right->x) - (left->x < right->x);
}

/* The line of one side: @new, or the old one.  @first is the series' first pair. */
static int add_line(struct drawing *drawing, const struct comparison *comparison, size_t first,
		    bool new, value_of *value)
{
	const struct pairs *pairs = comparison->pairs;
	struct json_object *example = pairs->list[first].old;
	char operation[COMPARE_NAME_MAX], *name = drawing->names[drawing->count];
	struct svg_point *points = chart_line(drawing, pairs->count);
	size_t i, used = 0;

	if (!points)
		return -ENOMEM;
	for (i = first; i < pairs->count; i++) {
		const struct pair *pair = &pairs->list[i];

		if (same_series(comparison, pair->old, example))
			points[used++] = (struct svg_point) {
				place(comparison, pair->old),
				value(new ? pair->new : pair->old, comparison->unit),
			};
	}
	qsort(points, used, sizeof(*points), by_place);
	drawing->lines[drawing->count - 1].count = used;
	compare_operation(example, operation);
	if (!comparison->over_depth && constant(comparison, example) > 1)
		snprintf(name, CHART_NAME_MAX, "%.16s, depth %.0f, %s", operation,
			 constant(comparison, example), new ? "new" : "old");
	else
		snprintf(name, CHART_NAME_MAX, "%.16s, %s", operation, new ? "new" : "old");
	return 0;
}

/* The first pair of a series begins its lines.  Series that exceed the maximum are left out. */
static int draw(struct drawing *drawing, const struct comparison *comparison, value_of *value)
{
	const struct pairs *pairs = comparison->pairs;
	size_t i, k;
	int err = 0;

	for (i = 0; !err && i < pairs->count && drawing->count + 2 <= SVG_LINES_MAX; i++) {
		struct json_object *result = pairs->list[i].old;

		if (!has_size(result) || value(result, comparison->unit) <= 0)
			continue;
		for (k = 0; k < i; k++)
			if (same_series(comparison, pairs->list[k].old, result))
				break;
		if (k < i)
			continue;
		err = add_line(drawing, comparison, i, false, value);
		if (!err)
			err = add_line(drawing, comparison, i, true, value);
	}
	return err;
}

static void depth_label(char text[SVG_TEXT_MAX], double value)
{
	snprintf(text, SVG_TEXT_MAX, "%.0f", value);
}

static int write_charts(const struct comparison *comparison, const struct drawing *drawings,
			FILE *file)
{
	const struct svg_axis over = {
		.label = comparison->over_depth ? "operations in flight" : "message size",
		.scale = SVG_LOG2,
		.text = comparison->over_depth ? depth_label : chart_size,
	};
	const struct svg_axis time = { .label = "time", .scale = SVG_LOG10, .text = chart_time };
	const struct svg_chart all[CHARTS] = {
		{ .title = "Median latency", .x = over, .y = time, .marks = 1 },
		{ .title = "99th percentile of latency", .x = over, .y = time, .marks = 1 },
		{
			.title = "Bandwidth", .x = over, .marks = 1,
			.y = {
				.label = bench_unit_names[comparison->unit], .scale = SVG_LINEAR,
			},
		},
	};
	struct svg_chart charts[CHARTS];
	size_t i, count = 0;

	/* A chart without measurements is left out. */
	for (i = 0; i < CHARTS; i++) {
		if (!drawings[i].count)
			continue;
		charts[count] = all[i];
		charts[count].lines = drawings[i].lines;
		charts[count++].count = drawings[i].count;
	}
	return svg_write(file, "krdma bench: two results",
			 "Two saved results of krdma bench, old and new.", charts, count);
}

int compare_plot(const struct pairs *pairs, enum bench_unit unit, FILE *file)
{
	static value_of * const values[CHARTS] = { median, high, bandwidth };
	const struct comparison comparison = {
		.pairs = pairs,
		.unit = unit,
		.over_depth = !has_several(pairs, "size") && has_several(pairs, "depth"),
	};
	struct drawing drawings[CHARTS] = { 0 };
	int err = 0, i;

	for (i = 0; !err && i < CHARTS; i++)
		err = draw(&drawings[i], &comparison, values[i]);
	if (!err)
		err = write_charts(&comparison, drawings, file);
	for (i = 0; i < CHARTS; i++)
		chart_free(&drawings[i]);
	return err;
}
