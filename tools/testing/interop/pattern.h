/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Patterns in memory, so that the other side can check what it reads or receives.
 */
#ifndef INTEROP_PATTERN_H
#define INTEROP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Each seed has its own pattern, without a period that would hide a shift. */
static inline unsigned char pattern_byte(size_t index, unsigned int seed)
{
	return (unsigned char)(seed + index + (index >> 8) * 7);
}

static inline void pattern_fill(void *data, size_t length, unsigned int seed)
{
	unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++)
		bytes[i] = pattern_byte(i, seed);
}

static inline bool pattern_is(const void *data, size_t length, unsigned int seed)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] != pattern_byte(i, seed))
			return false;
	}
	return true;
}

/* The result to print. */
static inline const char *pattern_verdict(const void *data, size_t length, unsigned int seed)
{
	return pattern_is(data, length, seed) ? "right" : "wrong";
}

#endif
