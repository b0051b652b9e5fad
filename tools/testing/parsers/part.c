// SPDX-License-Identifier: GPL-2.0
/*
 * Notes in part files, which may be damaged: file_part.c, which is included because its parser is
 * not a function of the library.
 */
#include "file_part.c"
#include "parsers.h"

/* The first byte: bit 0: all checksums are right; bit 1: and the lengths. */
int parser_file_part(const uint8_t *data, size_t size)
{
	struct file_part part = { .folder = -1, .fd = -1 };
	struct note note = { 0 };
	uint8_t *file;
	uint64_t length;
	int fd;

	if (!size)
		return 0;
	file = malloc(size);
	EXPECT(file);
	size--;
	memcpy(file, data + 1, size);
	length = size < NOTE_PLACES * NOTE_SIZE ? 0 : size - NOTE_PLACES * NOTE_SIZE;
	for (size_t at = length; size >= NOTE_PLACES * NOTE_SIZE && at < size; at += NOTE_SIZE) {
		if (data[0] & 2)
			put(file + at + 8, length, 8);
		if (data[0] & 4)
			memcpy(file + at, NOTE_MAGIC, 8);
		if (data[0] & 1)
			put(file + at + 60, file_crc(0, file + at, 60), 4);
	}
	fd = memory_file(file, size);
	if (read_note(&part, fd, &note)) {
		EXPECT(note.length == length && note.offset <= length);
		EXPECT(note.place < NOTE_PLACES);
		is_same(&part, &note);
	}
	free(file);
	return 0;
}
