/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is in memory, so that the other side can tell whether it is what it should be.
 */
#ifndef INTEROP_PATTERN_H
#define INTEROP_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* A pattern that each seed has one of, without a period that would hide a shift. */
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

/* What is said of it. */
static inline const char *pattern_verdict(const void *data, size_t length, unsigned int seed)
{
	return pattern_is(data, length, seed) ? "right" : "wrong";
}

#endif
