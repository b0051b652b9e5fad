// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: the test pattern.  Pure.
 */
#include <string.h>

#include "selftest_pattern.h"

/* Splitmix64, so that words of neighbouring positions or seeds are unrelated. */
static uint64_t word_at(uint64_t index, uint64_t seed)
{
	uint64_t word = seed * UINT64_C(0xd1342543de82ef95) +
			(index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

/* The result does not depend on the machine's byte order. */
static uint8_t byte_at(uint64_t position, uint64_t seed)
{
	return (uint8_t)(word_at(position / 8, seed) >> position % 8 * 8);
}

static void word_bytes(uint8_t bytes[8], uint64_t index, uint64_t seed)
{
	uint64_t word = word_at(index, seed);
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
}

void pattern_fill(void *to, uint64_t position, size_t length, uint64_t seed)
{
	uint8_t *bytes = to;
	size_t at = 0;

	while (at < length && (position + at) % 8) {
		bytes[at] = byte_at(position + at, seed);
		at++;
	}
	for (; length - at >= 8; at += 8)
		word_bytes(bytes + at, (position + at) / 8, seed);
	for (; at < length; at++)
		bytes[at] = byte_at(position + at, seed);
}

static void compare_bytes(const uint8_t *data, uint64_t position, size_t length, uint64_t seed,
			  int64_t offset, struct pattern_fault *fault)
{
	uint8_t expected;
	size_t at;

	for (at = 0; at < length; at++) {
		expected = byte_at(position + at, seed);
		if (data[at] == expected)
			continue;
		if (!fault->count++) {
			fault->offset = offset + (int64_t)at;
			fault->is = data[at];
			fault->expected = expected;
		}
	}
}

void pattern_compare(const void *data, uint64_t position, size_t length, uint64_t seed,
		     int64_t offset, struct pattern_fault *fault)
{
	const uint8_t *bytes = data;
	uint8_t word[8];
	size_t at = 0, part;

	while (at < length) {
		part = 8 - (position + at) % 8;
		if (part > length - at)
			part = length - at;
		if (part == 8) {
			word_bytes(word, (position + at) / 8, seed);
			if (!memcmp(bytes + at, word, 8)) {
				at += 8;
				continue;
			}
		}
		compare_bytes(bytes + at, position + at, part, seed, offset + (int64_t)at, fault);
		at += part;
	}
}

/* Begin and end of the guards around @length bytes at @offset. */
static size_t guard_begin(size_t offset)
{
	return offset < PATTERN_GUARD ? 0 : offset - PATTERN_GUARD;
}

static size_t guard_end(size_t size, size_t offset, size_t length)
{
	size_t end = offset + length;

	return size - end < PATTERN_GUARD ? size : end + PATTERN_GUARD;
}

/*
 * Memory is cleared with the complement of the pattern, which differs from it in every byte.  A
 * second pattern would agree with the first in one byte of 256, so a single missing byte would go
 * undetected that often.
 */
static void invert(uint8_t *bytes, size_t length)
{
	size_t at;

	for (at = 0; at < length; at++)
		bytes[at] = (uint8_t)~bytes[at];
}

/* The guard before the data has positions below 0, which wrap around as unsigned numbers. */
void pattern_clear(uint8_t *mr, size_t size, size_t offset, size_t length, uint64_t seed)
{
	size_t begin = guard_begin(offset), end = guard_end(size, offset, length);

	pattern_fill(mr + begin, begin - offset, offset - begin, seed);
	pattern_fill(mr + offset, 0, end - offset, seed);
	invert(mr + begin, end - begin);
}

static void check_cleared(const uint8_t *mr, size_t begin, size_t end, size_t offset,
			  uint64_t seed, struct pattern_fault *fault)
{
	uint8_t expected;
	size_t at;

	for (at = begin; at < end; at++) {
		expected = (uint8_t)~byte_at(at - offset, seed);
		if (mr[at] == expected)
			continue;
		if (!fault->count++) {
			fault->offset = (int64_t)at - (int64_t)offset;
			fault->is = mr[at];
			fault->expected = expected;
		}
	}
}

void pattern_check(const uint8_t *mr, size_t size, size_t offset, size_t length,
		   uint64_t seed, struct pattern_fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	check_cleared(mr, guard_begin(offset), offset, offset, seed, fault);
	pattern_compare(mr + offset, 0, length, seed, 0, fault);
	check_cleared(mr, offset + length, guard_end(size, offset, length), offset, seed,
		      fault);
}

void pattern_check_clear(const uint8_t *mr, size_t size, size_t offset, size_t length,
			 uint64_t seed, struct pattern_fault *fault)
{
	memset(fault, 0, sizeof(*fault));
	check_cleared(mr, guard_begin(offset), guard_end(size, offset, length), offset, seed,
		      fault);
}
