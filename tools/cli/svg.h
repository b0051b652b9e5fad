/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Charts as SVG: lines over two axes, one chart below the other.
 *
 * Lines differ in colour (a palette that people with any kind of colour vision can distinguish), in
 * their marks and in their dashes.  The file has no scripts and no external fonts or other
 * resources; its text is not drawn as shapes.
 */
#ifndef KRDMA_CLI_SVG_H
#define KRDMA_CLI_SVG_H

#include <stddef.h>
#include <stdio.h>

/* Number of distinguishable lines. */
#define SVG_LINES_MAX	8
#define SVG_TICKS_MAX	24
#define SVG_TEXT_MAX	32

enum svg_scale {
	SVG_LINEAR,
	SVG_LOG2,
	SVG_LOG10,
};

struct svg_axis {
	const char *label;
	enum svg_scale scale;
	/* Format a value as the text of a tick; NULL for the plain number. */
	void (*text)(char text[SVG_TEXT_MAX], double value);
	/* Ends of the axis; both 0 to take them from the points. */
	double low;
	double high;
};

struct svg_point {
	double x;
	double y;
};

struct svg_line {
	const char *name;
	const struct svg_point *points;
	size_t count;
};

struct svg_chart {
	const char *title;
	struct svg_axis x;
	struct svg_axis y;
	const struct svg_line *lines;
	size_t count;
	/* Draw a mark at each point; 0 if there are too many points. */
	int marks;
};

/*
 * Points that are not above 0 on a logarithmic axis are left out, and so are the lines of a chart
 * above SVG_LINES_MAX.  Returns 0 or a negative errno.
 */
int svg_write(FILE *file, const char *title, const char *description,
	      const struct svg_chart *charts, size_t count);

/* svg_axis.c: ends and ticks of an axis. */
struct svg_ticks {
	double low;
	double high;
	double at[SVG_TICKS_MAX];
	size_t count;
};

/* @low and @high: range of the values to show. */
void svg_axis_ticks(const struct svg_axis *axis, double low, double high,
		    struct svg_ticks *ticks);

/* Return the position of a value on the axis, from 0 (low end) to 1. */
double svg_axis_place(const struct svg_axis *axis, const struct svg_ticks *ticks, double value);

#endif /* KRDMA_CLI_SVG_H */
