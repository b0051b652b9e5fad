// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Charts as SVG.
 */
#include <errno.h>
#include <stdbool.h>

#include "svg.h"

#define NAMESPACE "http://www.w3.org/2000/svg"

/* Layout in pixels: the picture, each chart in it, and the field of the lines in a chart. */
#define WIDTH		960
#define TOP		44
#define CHART_HEIGHT	420
#define FIELD_LEFT	96
#define FIELD_TOP	44
#define FIELD_WIDTH	620
#define FIELD_HEIGHT	296
#define LEGEND_LEFT	(FIELD_LEFT + FIELD_WIDTH + 20)
#define LEGEND_STEP	24

/*
 * The colours of Okabe and Ito.  Those dark enough for thin lines on white come first.  The last
 * style has the colour of the first, but another mark and other dashes.
 */
static const struct style {
	const char *colour;
	const char *dashes;
} styles[SVG_LINES_MAX] = {
	{ "#0072b2", "none" },
	{ "#d55e00", "8 3" },
	{ "#009e73", "2 3" },
	{ "#000000", "12 3 3 3" },
	{ "#cc79a7", "none" },
	{ "#e69f00", "8 3" },
	{ "#56b4e9", "2 3" },
	{ "#0072b2", "12 3 3 3" },
};

/* A chart while it is drawn. */
struct canvas {
	FILE *file;
	const struct svg_chart *chart;
	int top;
	struct svg_ticks x;
	struct svg_ticks y;
};

/* Escape the characters that XML reserves, and replace control characters by '?'. */
static void put_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '&':
			fputs("&amp;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		default:
			/* The encoding of characters other than ASCII is not known. */
			fputc(*text >= ' ' && *text <= '~' ? *text : '?', file);
			break;
		}
	}
}

static void put_label(const struct canvas *canvas, double x, double y, const char *attributes,
		      const char *text)
{
	fprintf(canvas->file, "<text x=\"%.1f\" y=\"%.1f\"%s%s>", x, y, *attributes ? " " : "",
		attributes);
	put_text(canvas->file, text);
	fputs("</text>\n", canvas->file);
}

static double field_x(const struct canvas *canvas, double value)
{
	return FIELD_LEFT +
	       FIELD_WIDTH * svg_axis_place(&canvas->chart->x, &canvas->x, value);
}

static double field_y(const struct canvas *canvas, double value)
{
	return canvas->top + FIELD_TOP +
	       FIELD_HEIGHT * (1 - svg_axis_place(&canvas->chart->y, &canvas->y, value));
}

static void tick_text(const struct svg_axis *axis, double value, char text[SVG_TEXT_MAX])
{
	if (axis->text)
		axis->text(text, value);
	else
		snprintf(text, SVG_TEXT_MAX, "%.6g", value);
}

static bool can_show(const struct svg_chart *chart, const struct svg_point *point)
{
	return (chart->x.scale == SVG_LINEAR || point->x > 0) &&
	       (chart->y.scale == SVG_LINEAR || point->y > 0);
}

static size_t line_count(const struct svg_chart *chart)
{
	return chart->count < SVG_LINES_MAX ? chart->count : SVG_LINES_MAX;
}

/* Set the ticks of both axes from the range of the points. */
static void find_ticks(struct canvas *canvas)
{
	const struct svg_chart *chart = canvas->chart;
	struct svg_point low = { 0, 0 }, high = { 0, 0 };
	const struct svg_point *point;
	bool any = false;
	size_t i, k;

	for (i = 0; i < line_count(chart); i++) {
		for (k = 0; k < chart->lines[i].count; k++) {
			point = &chart->lines[i].points[k];
			if (!can_show(chart, point))
				continue;
			if (!any || point->x < low.x)
				low.x = point->x;
			if (!any || point->y < low.y)
				low.y = point->y;
			if (!any || point->x > high.x)
				high.x = point->x;
			if (!any || point->y > high.y)
				high.y = point->y;
			any = true;
		}
	}
	/* Readers compare heights, so a linear axis starts at 0. */
	if (chart->y.scale == SVG_LINEAR && low.y > 0)
		low.y = 0;
	svg_axis_ticks(&chart->x, low.x, high.x, &canvas->x);
	svg_axis_ticks(&chart->y, low.y, high.y, &canvas->y);
}

static void draw_rule(const struct canvas *canvas, double x1, double y1, double x2, double y2,
		      const char *kind)
{
	fprintf(canvas->file,
		"<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind, x1,
		y1, x2, y2);
}

static void draw_x_axis(const struct canvas *canvas)
{
	const struct svg_axis *axis = &canvas->chart->x;
	double top = canvas->top + FIELD_TOP, bottom = top + FIELD_HEIGHT, x;
	char text[SVG_TEXT_MAX];
	size_t i;

	for (i = 0; i < canvas->x.count; i++) {
		x = field_x(canvas, canvas->x.at[i]);
		draw_rule(canvas, x, top, x, bottom, "grid");
		draw_rule(canvas, x, bottom, x, bottom + 6, "axis");
		tick_text(axis, canvas->x.at[i], text);
		put_label(canvas, x, bottom + 22, "text-anchor=\"middle\"", text);
	}
	draw_rule(canvas, FIELD_LEFT, bottom, FIELD_LEFT + FIELD_WIDTH, bottom, "axis");
	put_label(canvas, FIELD_LEFT + FIELD_WIDTH / 2.0, bottom + 44, "text-anchor=\"middle\"",
		  axis->label);
}

static void draw_y_axis(const struct canvas *canvas)
{
	const struct svg_axis *axis = &canvas->chart->y;
	double top = canvas->top + FIELD_TOP, bottom = top + FIELD_HEIGHT, y;
	double middle = (top + bottom) / 2;
	char text[SVG_TEXT_MAX], turned[96];
	size_t i;

	for (i = 0; i < canvas->y.count; i++) {
		y = field_y(canvas, canvas->y.at[i]);
		draw_rule(canvas, FIELD_LEFT, y, FIELD_LEFT + FIELD_WIDTH, y, "grid");
		draw_rule(canvas, FIELD_LEFT - 6, y, FIELD_LEFT, y, "axis");
		tick_text(axis, canvas->y.at[i], text);
		put_label(canvas, FIELD_LEFT - 10, y + 5, "text-anchor=\"end\"", text);
	}
	draw_rule(canvas, FIELD_LEFT, top, FIELD_LEFT, bottom, "axis");
	snprintf(turned, sizeof(turned),
		 "text-anchor=\"middle\" transform=\"rotate(-90 20 %.1f)\"", middle);
	put_label(canvas, 20, middle, turned, axis->label);
}

/* Each line has its own shape; all have about the same size. */
static void draw_mark(const struct canvas *canvas, size_t index, double x, double y)
{
	static const char * const shapes[SVG_LINES_MAX] = {
		"M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
		"M-4,-4h8v8h-8z",
		"M0,-5.5L5,4H-5z",
		"M0,-6L5,0L0,6L-5,0z",
		"M0,5.5L5,-4H-5z",
		"M-5,-1.5H-1.5V-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5z",
		"M-5,-5L-3,-5L0,-2L3,-5L5,-5L5,-3L2,0L5,3L5,5L3,5L0,2L-3,5L-5,5L-5,3L-2,0L-5,-3z",
		"M-5,-2h10v4h-10z",
	};

	fprintf(canvas->file,
		"<path d=\"%s\" transform=\"translate(%.1f %.1f)\" fill=\"%s\"/>\n", shapes[index],
		x, y, styles[index].colour);
}

static void draw_line(const struct canvas *canvas, size_t index)
{
	const struct svg_line *line = &canvas->chart->lines[index];
	const char *separator = "";
	size_t i;

	fprintf(canvas->file,
		"<polyline class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" points=\"",
		styles[index].colour, styles[index].dashes);
	for (i = 0; i < line->count; i++) {
		if (!can_show(canvas->chart, &line->points[i]))
			continue;
		fprintf(canvas->file, "%s%.1f,%.1f", separator, field_x(canvas, line->points[i].x),
			field_y(canvas, line->points[i].y));
		separator = " ";
	}
	fputs("\"/>\n", canvas->file);
	for (i = 0; canvas->chart->marks && i < line->count; i++)
		if (can_show(canvas->chart, &line->points[i]))
			draw_mark(canvas, index, field_x(canvas, line->points[i].x),
				  field_y(canvas, line->points[i].y));
}

static void draw_legend(const struct canvas *canvas)
{
	double y = canvas->top + FIELD_TOP + 10;
	size_t i;

	for (i = 0; i < line_count(canvas->chart); i++, y += LEGEND_STEP) {
		fprintf(canvas->file,
			"<line class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n",
			styles[i].colour, styles[i].dashes, LEGEND_LEFT, y, LEGEND_LEFT + 36, y);
		if (canvas->chart->marks)
			draw_mark(canvas, i, LEGEND_LEFT + 18, y);
		put_label(canvas, LEGEND_LEFT + 44, y + 5, "", canvas->chart->lines[i].name);
	}
}

static void draw_chart(FILE *file, const struct svg_chart *chart, int top)
{
	struct canvas canvas = { .file = file, .chart = chart, .top = top };
	size_t i;

	find_ticks(&canvas);
	fputs("<g>\n", file);
	put_label(&canvas, FIELD_LEFT, top + 26, "class=\"title\"", chart->title);
	draw_x_axis(&canvas);
	draw_y_axis(&canvas);
	for (i = 0; i < line_count(chart); i++)
		draw_line(&canvas, i);
	draw_legend(&canvas);
	fputs("</g>\n", file);
}

int svg_write(FILE *file, const char *title, const char *description,
	      const struct svg_chart *charts, size_t count)
{
	int height = TOP + CHART_HEIGHT * (int)count;
	size_t i;

	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"%s\"", NAMESPACE);
	fprintf(file, " role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
		WIDTH, height, WIDTH, height);
	put_text(file, title);
	fputs("</title>\n<desc>", file);
	put_text(file, description);
	fputs("</desc>\n"
	      "<style>\n"
	      "text { font: 14px sans-serif; fill: #222 }\n"
	      ".head { font-size: 18px; font-weight: bold }\n"
	      ".title { font-size: 16px; font-weight: bold }\n"
	      ".axis { stroke: #222; stroke-width: 1 }\n"
	      ".grid { stroke: #ddd; stroke-width: 1 }\n"
	      ".line { fill: none; stroke-width: 2 }\n"
	      "</style>\n", file);
	fprintf(file, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", WIDTH, height);
	fprintf(file, "<text class=\"head\" x=\"%d\" y=\"30\">", FIELD_LEFT);
	put_text(file, title);
	fputs("</text>\n", file);
	for (i = 0; i < count; i++)
		draw_chart(file, &charts[i], TOP + CHART_HEIGHT * (int)i);
	fputs("</svg>\n", file);
	return fflush(file) || ferror(file) ? -EIO : 0;
}
