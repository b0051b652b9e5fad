/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Rates per second, from counters at two points in time.
 */
#ifndef KRDMA_CLI_RATES_H
#define KRDMA_CLI_RATES_H

#include "cli.h"
#include "objects.h"

/* Rates of one object or the sum of several; totals if there are no earlier counters. */
struct rates {
	double sends;
	double direct;
	double receives;
	double submitted;
	double completed;
};

void rates_add(struct rates *rates, const struct objects *now, const struct objects *before,
	       const struct object *object);

/* Format bytes as a number with a unit: "1.5M". */
const char *bytes_text(char text[SIZE_TEXT_MAX], uint64_t bytes);

/* Sleep for @ns; a signal ends the sleep early. */
void rates_sleep(uint64_t ns);

/* Parse the values of -i (in nanoseconds) and -c.  Return 0, or -1 after printing an error. */
int rates_interval(const char *word, uint64_t *ns);
int rates_count(const char *word, uint64_t *count);

#endif /* KRDMA_CLI_RATES_H */
