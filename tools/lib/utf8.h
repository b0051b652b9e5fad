/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Checks characters of names that a peer chose; used by libkrdma and the tool. */
#ifndef KRDMA_UTF8_H
#define KRDMA_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Controls the terminal, breaks a line, is invisible, changes the text direction, or is no
 * character: two names that look the same may differ by it.
 */
static inline bool utf8_is_hidden(uint32_t point)
{
	static const struct {
		uint32_t first;
		uint32_t last;
	} hidden[] = {
		/* Controls. */
		{ 0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad },
		/* No width, direction, line separators, and other format characters. */
		{ 0x61c, 0x61c }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff },
		{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		/* Fillers and selectors, which are not shown. */
		{ 0x34f, 0x34f }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
		{ 0x3164, 0x3164 }, { 0xfe00, 0xfe0f }, { 0xffa0, 0xffa0 },
		/* Noncharacters. */
		{ 0xfdd0, 0xfdef },
		{ 0, 0 }
	};

	for (size_t i = 0; hidden[i].last; i++) {
		if (point >= hidden[i].first && point <= hidden[i].last)
			return true;
	}
	/* The last two code points of each plane are noncharacters. */
	return (point & 0xfffe) == 0xfffe;
}

/*
 * Returns the length in bytes of the character at the NUL-terminated @text; 0 at its end, if it
 * is not UTF-8, or if it is hidden.
 */
static inline size_t utf8_shown(const char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *byte = (const unsigned char *)text;
	uint32_t point;
	size_t length;

	if (*byte < 0x80)
		return !utf8_is_hidden(*byte);
	if ((*byte & 0xe0) == 0xc0)
		length = 2;
	else if ((*byte & 0xf0) == 0xe0)
		length = 3;
	else if ((*byte & 0xf8) == 0xf0)
		length = 4;
	else
		return 0;
	point = *byte & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		/* This also stops at the terminating NUL. */
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (byte[i] & 0x3f);
	}
	/* Overlong encoding, surrogate, or beyond Unicode. */
	if (point < least[length] || (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff)
		return 0;
	return utf8_is_hidden(point) ? 0 : length;
}

#endif /* KRDMA_UTF8_H */
