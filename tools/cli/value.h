/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Parse values of options.  Each function returns 0, or -EINVAL after printing an error that names
 * the option and the values that it takes.
 */
#ifndef KRDMA_CLI_VALUE_H
#define KRDMA_CLI_VALUE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define VALUE_SECOND	UINT64_C(1000000000)
#define VALUE_SIZE_TEXT	24
#define VALUE_TIME_TEXT	24
#define VALUE_MOMENT_TEXT	64

int value_number(const char *option, const char *word, uint64_t least, uint64_t most,
		 uint64_t *value);

/* Bytes: "64", "4k", "1MiB", "1MB"; 1k and 1KiB are 1024 bytes, 1kB is 1000. */
int value_size(const char *option, const char *word, uint64_t most, uint64_t *value);

/* Seconds, "1.5", or with a unit: ns, us, ms, s, min, h; the value is in nanoseconds. */
int value_time(const char *option, const char *word, uint64_t most, uint64_t *value);

/*
 * Sizes separated by commas, "64,4k", or "all" for the powers of two from 1 to @all.  They keep
 * their order; there are at most @room of them.
 */
int value_sizes(const char *option, const char *word, uint64_t most, uint64_t all,
		uint64_t *values, size_t room, size_t *count);

/* Numbers separated by commas. */
int value_numbers(const char *option, const char *word, uint64_t least, uint64_t most,
		  uint64_t *values, size_t room, size_t *count);

/* Format nanoseconds for people: "850 ns", "12.3 us", "1.20 ms", "2.50 s". */
const char *value_time_text(char text[VALUE_TIME_TEXT], uint64_t ns);

/*
 * Format a time of day as ISO 8601 wants it, with its offset from UTC: local time, with 3 or 6
 * @digits of a second.
 */
const char *value_moment_text(char text[VALUE_MOMENT_TEXT], const struct timespec *moment,
			      int digits);

#endif /* KRDMA_CLI_VALUE_H */
