/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: the test pattern.
 *
 * Every byte depends on a seed and on its position, so the checks detect data that arrive at the
 * wrong place, in the wrong order, or from another work request.  Pure.
 */
#ifndef KRDMA_CLI_SELFTEST_PATTERN_H
#define KRDMA_CLI_SELFTEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Bytes before and after the data that must not change. */
#define PATTERN_GUARD	64

/**
 * struct pattern_fault - differences between data and pattern
 * @count: number of wrong bytes; if it is 0, the other fields are not filled in
 * @offset: offset of the first wrong byte in the data; negative if it is in the guard before them
 * @is: value of the first wrong byte
 * @expected: its expected value
 */
struct pattern_fault {
	uint64_t count;
	int64_t offset;
	uint8_t is;
	uint8_t expected;
};

/* Fill @to with the pattern of @seed, from @position on. */
void pattern_fill(void *to, uint64_t position, size_t length, uint64_t seed);

/* Compare @data with the pattern, and add differences to @fault; @data begins at @offset. */
void pattern_compare(const void *data, uint64_t position, size_t length, uint64_t seed,
		     int64_t offset, struct pattern_fault *fault);

/*
 * These handle @length bytes at @offset of @mr, and a guard on each side as far as @mr has room for
 * it.  pattern_clear() fills data and guards with the complement of the pattern of @seed;
 * pattern_check() compares the data with the pattern, and the guards with the complement.
 */
void pattern_clear(uint8_t *mr, size_t size, size_t offset, size_t length, uint64_t seed);
void pattern_check(const uint8_t *mr, size_t size, size_t offset, size_t length,
		   uint64_t seed, struct pattern_fault *fault);

/* Check that neither data nor guards have changed since pattern_clear(). */
void pattern_check_clear(const uint8_t *mr, size_t size, size_t offset, size_t length,
			 uint64_t seed, struct pattern_fault *fault);

#endif /* KRDMA_CLI_SELFTEST_PATTERN_H */
