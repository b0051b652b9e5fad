// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench --plot: lines of a chart, and texts of its axes.
 */
#include <stdlib.h>

#include "bench_chart.h"
#include "cli.h"

void chart_size(char text[SVG_TEXT_MAX], double value)
{
	char size[SIZE_TEXT_MAX];

	snprintf(text, SVG_TEXT_MAX, "%s", size_text(size, (uint64_t)value));
}

void chart_time(char text[SVG_TEXT_MAX], double value)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 },
	};
	size_t i = 0;

	while (i < 3 && value < units[i].ns * 0.9999)
		i++;
	snprintf(text, SVG_TEXT_MAX, "%.6g %s", value / units[i].ns, units[i].name);
}

struct svg_point *chart_line(struct drawing *drawing, size_t points)
{
	struct svg_point *room = calloc(points ? points : 1, sizeof(*room));
	size_t index = drawing->count;

	if (!room)
		return NULL;
	drawing->points[index] = room;
	drawing->lines[index] = (struct svg_line) {
		.name = drawing->names[index], .points = room
	};
	drawing->count++;
	return room;
}

void chart_free(struct drawing *drawing)
{
	size_t i;

	for (i = 0; i < drawing->count; i++)
		free(drawing->points[i]);
}
