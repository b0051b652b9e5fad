// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Colors of standard output.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static enum {
	AUTO,
	ALWAYS,
	NEVER,
} chosen;

int color_choose(const char *when)
{
	if (!when || !strcmp(when, "always")) {
		chosen = ALWAYS;
	} else if (!strcmp(when, "never")) {
		chosen = NEVER;
	} else if (!strcmp(when, "auto")) {
		chosen = AUTO;
	} else {
		complain("--color needs always, never or auto, not '%s'", when);
		return -EINVAL;
	}
	return 0;
}

static bool is_colored(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (chosen != AUTO)
		return chosen == ALWAYS;
	return isatty(STDOUT_FILENO) && !(none && *none) && term && strcmp(term, "dumb");
}

/* Bold where it matters, and no yellow, so that they are read on light and on dark ground. */
const char *color_begin(enum color color)
{
	static const char * const sequences[] = {
		[COLOR_GOOD] = "\033[32m",
		[COLOR_DOUBTFUL] = "\033[1;35m",
		[COLOR_BAD] = "\033[1;31m",
	};

	return is_colored() ? sequences[color] : "";
}

const char *color_end(void)
{
	return is_colored() ? "\033[0m" : "";
}
