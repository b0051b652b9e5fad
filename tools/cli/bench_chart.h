/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma bench --plot: lines of a chart, and texts of its axes.
 */
#ifndef KRDMA_CLI_BENCH_CHART_H
#define KRDMA_CLI_BENCH_CHART_H

#include <stddef.h>

#include "svg.h"

#define CHART_NAME_MAX 48

/* The lines of a chart, and the memory of their points and names. */
struct drawing {
	struct svg_line lines[SVG_LINES_MAX];
	struct svg_point *points[SVG_LINES_MAX];
	char names[SVG_LINES_MAX][CHART_NAME_MAX];
	size_t count;
};

/* Allocate a line of at most @points points.  NULL: out of memory. */
struct svg_point *chart_line(struct drawing *drawing, size_t points);
void chart_free(struct drawing *drawing);

/* Texts of ticks: bytes, and nanoseconds. */
void chart_size(char text[SVG_TEXT_MAX], double value);
void chart_time(char text[SVG_TEXT_MAX], double value);

#endif /* KRDMA_CLI_BENCH_CHART_H */
