/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What happens in a second, from what was counted at two moments.
 */
#ifndef KRDMA_CLI_RATES_H
#define KRDMA_CLI_RATES_H

#include "cli.h"
#include "objects.h"

/* Of one object, or of several together; totals if there is no moment before. */
struct rates {
	double sends;
	double receives;
	double submitted;
	double completed;
};

void rates_add(struct rates *rates, const struct objects *now, const struct objects *before,
	       const struct object *object);

/* Bytes in at most four digits and a unit: "1.5M". */
const char *bytes_text(char text[SIZE_TEXT_MAX], uint64_t bytes);

/* Until the next moment, in nanoseconds from now; a signal ends it early. */
void rates_sleep(uint64_t ns);

/* Values of -i, nanoseconds, and of -c: 0, or -1 after a complaint. */
int rates_interval(const char *word, uint64_t *ns);
int rates_count(const char *word, uint64_t *count);

#endif /* KRDMA_CLI_RATES_H */
