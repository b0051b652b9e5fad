// SPDX-License-Identifier: GPL-2.0
/*
 * What the targets share: texts, and messages of the tool, which must not control a terminal.
 */
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli.h"
#include "parsers.h"

static bool is_utf8;
static FILE *real_output;
static char *output;
static size_t output_size;

char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	EXPECT(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static bool is_harmless(uint32_t point)
{
	return point >= 0x20 && !(point >= 0x7f && point < 0xa0) &&
	       !(point >= 0x202a && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069) &&
	       point != 0x2028 && point != 0x2029 && !(point >= 0xd800 && point < 0xe000) &&
	       point <= 0x10ffff;
}

bool text_is_shown(const char *text, bool utf8)
{
	const uint8_t *at = (const uint8_t *)text;

	while (*at) {
		unsigned int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : *at >= 0xc0 ? 1 : 0;
		uint32_t point = more ? *at & (0x3fu >> more) : *at;

		if (*at >= 0xf8 || (*at >= 0x80 && (!more || !utf8)))
			return false;
		for (at++; more; more--, at++) {
			if ((*at & 0xc0) != 0x80)
				return false;
			point = point << 6 | (*at & 0x3f);
		}
		if (!is_harmless(point))
			return false;
	}
	return true;
}

void text_locale(bool utf8)
{
	static int was = -1;

	is_utf8 = utf8;
	if (was != utf8)
		setenv("LC_ALL", utf8 ? "C.UTF-8" : "C", 1);
	was = utf8;
}

void output_begin(void)
{
	real_output = stdout;
	stdout = open_memstream(&output, &output_size);
	EXPECT(stdout);
}

char *output_end(void)
{
	fclose(stdout);
	stdout = real_output;
	return output;
}

int memory_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("parsers", MFD_CLOEXEC);
	EXPECT(fd >= 0 && !ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET));
	EXPECT(!size || write(fd, data, size) == (ssize_t)size);
	return fd;
}

/* As errors.c does it, but only looks at the text. */
static void check_message(const char *format, va_list arguments)
{
	char *text = message_text(format, arguments), *line, *next;
	size_t lines = 1, allowed = 1;

	EXPECT(text);
	for (const char *c = format; *c; c++)
		allowed += *c == '\n';
	for (line = text; (next = strchr(line, '\n')); line = next + 1) {
		*next = '\0';
		lines++;
		EXPECT(text_is_shown(line, is_utf8));
	}
	EXPECT(text_is_shown(line, is_utf8) && lines <= allowed);
	free(text);
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	check_message(format, arguments);
	va_end(arguments);
}

void output_out_of_memory(void)
{
	abort();
}

int usage_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	check_message(format, arguments);
	va_end(arguments);
	return EXIT_USAGE;
}
