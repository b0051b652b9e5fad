/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: the data that are sent.
 *
 * Every byte depends on a seed and on its position, so data that arrive at another place,
 * in another order, or from another operation are not mistaken for the right ones.  Pure.
 */
#ifndef KRDMA_CLI_SELFTEST_PATTERN_H
#define KRDMA_CLI_SELFTEST_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Bytes before and behind the data that must stay as they are. */
#define PATTERN_GUARD	64

/**
 * struct pattern_fault - what is wrong with data
 * @count: bytes that are wrong; 0: none, and the rest is not filled in
 * @offset: the first of them, from the beginning of the data; negative: before them
 * @is: the byte that is there
 * @expected: the byte that should be
 */
struct pattern_fault {
	uint64_t count;
	int64_t offset;
	uint8_t is;
	uint8_t expected;
};

/* The bytes from @position on of the pattern of @seed. */
void pattern_fill(void *to, uint64_t position, size_t length, uint64_t seed);

/* Adds what is wrong with them to @fault; @offset is where they are in the data. */
void pattern_compare(const void *data, uint64_t position, size_t length, uint64_t seed,
		     int64_t offset, struct pattern_fault *fault);

/*
 * A part of some memory, and a guard on each side as far as there is memory: clear fills
 * it with what the pattern of @seed is not, and check compares the part with the pattern,
 * and the guards with what they were filled with.
 */
void pattern_clear(uint8_t *mr, size_t size, size_t offset, size_t length, uint64_t seed);
void pattern_check(const uint8_t *mr, size_t size, size_t offset, size_t length,
		   uint64_t seed, struct pattern_fault *fault);

/* That nothing has been written since pattern_clear(), neither data nor guards. */
void pattern_check_clear(const uint8_t *mr, size_t size, size_t offset, size_t length,
			 uint64_t seed, struct pattern_fault *fault);

#endif /* KRDMA_CLI_SELFTEST_PATTERN_H */
