// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Ends and ticks of the axes of charts.
 */
#include <math.h>
#include <stdbool.h>

#include "svg.h"

/* Approximate number of ticks of an axis; there are never more than twice as many. */
#define WANTED 8
/* Maximum number of steps between labels of sizes. */
#define SIZES 12
/* Tolerance for rounding errors. */
#define A_LITTLE 0.000000001

static void add(struct svg_ticks *ticks, double value)
{
	if (ticks->count < SVG_TICKS_MAX)
		ticks->at[ticks->count++] = value;
}

/* Steps of 1, 2 or 5 times a power of ten. */
static void linear(struct svg_ticks *ticks, bool fixed)
{
	double step = pow(10, floor(log10((ticks->high - ticks->low) / WANTED)));
	double span = ticks->high - ticks->low;
	long i, first, last;

	if (span / step > 5 * WANTED)
		step *= 10;
	else if (span / step > 2 * WANTED)
		step *= 5;
	else if (span / step > WANTED)
		step *= 2;
	if (!fixed) {
		ticks->low = floor(ticks->low / step) * step;
		ticks->high = ceil(ticks->high / step) * step;
	}
	first = lround(ceil(ticks->low / step - A_LITTLE));
	last = lround(floor(ticks->high / step + A_LITTLE));
	for (i = first; i <= last; i++)
		add(ticks, (double)i * step);
}

/* Ticks at powers of two, or at every n-th one, so that labels such as 128KiB do not overlap. */
static void binary(struct svg_ticks *ticks)
{
	int first = (int)floor(log2(ticks->low)), last = (int)ceil(log2(ticks->high));
	int step, i;

	/* Put a single value in the middle. */
	if (last == first) {
		first--;
		last++;
	}
	step = (last - first) / SIZES + 1;
	ticks->low = exp2(first);
	ticks->high = exp2(last);
	for (i = first; i <= last; i += step)
		add(ticks, exp2(i));
}

/* Ticks at powers of ten, and over a few decades also at 2 and 5 times these. */
static void decimal(struct svg_ticks *ticks)
{
	static const double parts[] = { 1, 2, 5 };
	int first = (int)floor(log10(ticks->low)), last = (int)ceil(log10(ticks->high));
	double low = ticks->low, high = ticks->high, value;
	bool fine = last - first <= 3;
	int step, i, k;

	if (last == first)
		last++;
	step = (last - first) / (2 * WANTED) + 1;
	ticks->low = pow(10, first);
	ticks->high = pow(10, last);
	for (i = first; i <= last; i += step) {
		for (k = 0; k < (fine ? 3 : 1); k++) {
			value = parts[k] * pow(10, i);
			/* End the axis at the nearest ticks, which need not be powers of ten. */
			if (fine && value <= low * (1 + A_LITTLE))
				ticks->low = value;
			if (fine && value >= high * (1 - A_LITTLE) && value < ticks->high)
				ticks->high = value;
		}
	}
	if (ticks->high <= ticks->low)
		ticks->high = ticks->low * 10;
	for (i = first; i <= last; i += step) {
		for (k = 0; k < (fine ? 3 : 1); k++) {
			value = parts[k] * pow(10, i);
			if (value >= ticks->low * (1 - A_LITTLE) &&
			    value <= ticks->high * (1 + A_LITTLE))
				add(ticks, value);
		}
	}
}

void svg_axis_ticks(const struct svg_axis *axis, double low, double high,
		    struct svg_ticks *ticks)
{
	bool fixed = axis->low < axis->high;

	ticks->low = fixed ? axis->low : low;
	ticks->high = fixed ? axis->high : high;
	ticks->count = 0;
	if (axis->scale != SVG_LINEAR && ticks->low <= 0)
		ticks->low = 1;
	if (ticks->high < ticks->low)
		ticks->high = ticks->low;
	switch (axis->scale) {
	case SVG_LOG2:
		binary(ticks);
		break;
	case SVG_LOG10:
		decimal(ticks);
		break;
	case SVG_LINEAR:
		if (ticks->high - ticks->low <= 0)
			ticks->high = ticks->low + (ticks->low > 0 ? ticks->low : 1);
		linear(ticks, fixed);
		break;
	}
}

double svg_axis_place(const struct svg_axis *axis, const struct svg_ticks *ticks, double value)
{
	double place;

	if (axis->scale == SVG_LINEAR)
		place = (value - ticks->low) / (ticks->high - ticks->low);
	else
		place = log(value / ticks->low) / log(ticks->high / ticks->low);
	return place < 0 ? 0 : place > 1 ? 1 : place;
}
