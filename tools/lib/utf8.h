/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Checks characters of names that a peer chose; used by libkrdma and the tool. */
#ifndef KRDMA_UTF8_H
#define KRDMA_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Controls the terminal, breaks a line, is invisible, or changes the text direction. */
static inline bool utf8_is_control(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x061c ||
	       (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2060 && point <= 0x206f) || point == 0xfeff;
}

/*
 * Returns the length in bytes of the character at the NUL-terminated @text; 0 at its end, if it
 * is not UTF-8, or if it is a control character.
 */
static inline size_t utf8_shown(const char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *byte = (const unsigned char *)text;
	uint32_t point;
	size_t length;

	if (*byte < 0x80)
		return !utf8_is_control(*byte);
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
	return utf8_is_control(point) ? 0 : length;
}

#endif /* KRDMA_UTF8_H */
