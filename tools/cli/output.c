// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Text on standard output.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "utf8.h"

/* Stands for a line break of a message's format while arguments are filled in. */
#define BREAK	'\1'

/*
 * If the tool is started with a standard stream closed, the next file that it opens gets that
 * file descriptor, and messages would go to the RDMA device.  The stream is opened in the wrong
 * direction on purpose, so that writes still fail and the failure is noticed.
 */
void reserve_standard_streams(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) != -1 || errno != EBADF)
			continue;
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			exit(EXIT_FAILED);
	}
}

/* A full disk may be reported only at close; it must not pass as success. */
int close_standard_output(int status)
{
	bool failed_before = ferror(stdout);

	errno = 0;
	if (fclose(stdout) || failed_before) {
		complain("cannot write to standard output: %s",
			 errno ? strerror(errno) : "an earlier write failed");
		return EXIT_FAILED;
	}
	return status;
}

void seconds_text(char text[SECONDS_TEXT_MAX], int64_t seconds, uint32_t nanoseconds)
{
	const bool before = seconds < 0 && nanoseconds;

	if (before) {
		seconds++;
		nanoseconds = 1000000000 - nanoseconds;
	}
	snprintf(text, SECONDS_TEXT_MAX, "%s%lld.%09u", before && !seconds ? "-" : "",
		 (long long)seconds, nanoseconds);
}

/*
 * UTF-8 is used for JSON, which is always UTF-8, and in UTF-8 locales.  In other encodings its
 * bytes can be control characters.
 */
static bool utf8_always;

void output_is_utf8(void)
{
	utf8_always = true;
}

static bool utf8_wanted(void)
{
	static const char * const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	if (utf8_always)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		/* The first variable that is set and not empty counts. */
		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* Return the length of the UTF-8 character at @from, and set @character; 0 if it is invalid. */
static size_t decode(const unsigned char *from, size_t size, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = 0;

	if (from[0] < 0x80)
		length = 1;
	else if (from[0] >= 0xc2 && from[0] < 0xe0)
		length = 2;
	else if (from[0] >= 0xe0 && from[0] < 0xf0)
		length = 3;
	else if (from[0] >= 0xf0 && from[0] < 0xf5)
		length = 4;
	if (!length || length > size)
		return 0;
	*character = length == 1 ? from[0] : from[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((from[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (from[i] & 0x3f);
	}
	if (*character < least[length] || *character > 0x10ffff ||
	    (*character >= 0xd800 && *character < 0xe000))
		return 0;
	return length;
}

/*
 * Names of devices and files are untrusted: bytes that could control a terminal or break JSON's
 * encoding are replaced by '?'.
 */
size_t printable(char *to, size_t to_size, const char *from, size_t from_size)
{
	const unsigned char *byte = (const unsigned char *)from;
	size_t at = 0, length, room, used = 0;
	bool utf8 = utf8_wanted();
	uint32_t character;

	room = to_size - 1;
	while (used < room && at < from_size && byte[at]) {
		length = decode(byte + at, from_size - at, &character);
		if (!length || utf8_is_hidden(character) || (length > 1 && !utf8)) {
			to[used++] = '?';
			/* In another encoding each byte is a character. */
			at += length && utf8 ? length : 1;
			continue;
		}
		if (length > room - used)
			break;
		memcpy(to + used, from + at, length);
		used += length;
		at += length;
	}
	to[used] = '\0';
	return used;
}

/* In other encodings a byte of a UTF-8 character may be a control character. */
static bool terminal_has_utf8(void)
{
	static const char * const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);

		/* The first variable that is set and not empty counts. */
		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
	}
	return false;
}

static size_t escape(char *to, size_t to_size, const char *from, bool utf8)
{
	size_t length, used = 0;

	for (; *from; from += length) {
		length = utf8_shown(from);
		if (length > 1 && !utf8)
			length = 0;
		if (used + (length ? length : 4) >= to_size)
			break;
		if (length) {
			memcpy(to + used, from, length);
			used += length;
		} else {
			length = 1;
			used += (size_t)sprintf(to + used, "\\x%02x", (unsigned char)*from);
		}
	}
	to[used] = '\0';
	return used;
}

/* Format a name for a terminal: bytes that could control it are written as \xNN. */
size_t name_text(char *to, size_t to_size, const char *from)
{
	return escape(to, to_size, from, terminal_has_utf8());
}

/* Format a name for JSON, which is always UTF-8. */
size_t name_json(char *to, size_t to_size, const char *from)
{
	return escape(to, to_size, from, true);
}

/* True if the name has no characters that are special to a shell, so it is safe in a command. */
bool name_is_plain(const char *name)
{
	const char *at;

	for (at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.-", *at))
			return false;
	return *name && *name != '-';
}

static size_t count_breaks(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == BREAK;
	return count;
}

/*
 * Format a message.  Its arguments may be names chosen by a peer, so only @format may break lines:
 * its line breaks are replaced by a mark before the arguments are filled in, and any control
 * character found afterwards comes from an argument and is escaped.
 */
char *message_text(const char *format, va_list arguments)
{
	char *own = strdup(format), *text = NULL, *escaped = NULL, *at, *line;
	size_t size, used = 0;
	bool forged;

	if (!own)
		return NULL;
	for (at = own; (at = strchr(at, '\n')); )
		*at = BREAK;
	if (vasprintf(&text, own, arguments) < 0)
		text = NULL;
	size = text ? strlen(text) * 4 + 1 : 0;
	escaped = text ? malloc(size) : NULL;
	if (escaped) {
		/* If an argument contains the mark, no line is broken. */
		forged = count_breaks(text) != count_breaks(own);
		for (line = text; line; line = at) {
			at = forged ? NULL : strchr(line, BREAK);
			if (at)
				*at++ = '\0';
			used += name_text(escaped + used, size - used, line);
			if (at)
				escaped[used++] = '\n';
		}
		escaped[used] = '\0';
	}
	free(own);
	free(text);
	return escaped;
}

/* Format @bytes in the largest unit that divides it. */
const char *size_text(char text[SIZE_TEXT_MAX], uint64_t bytes)
{
	static const char * const units[] = {
		"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL
	};
	size_t unit = 0;

	if (bytes == UINT64_MAX)
		return "unlimited";
	while (bytes && bytes % 1024 == 0 && units[unit + 1]) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, SIZE_TEXT_MAX, "%llu%s", (unsigned long long)bytes, units[unit]);
	return text;
}

/* Format a GUID as rdma(8) does. */
const char *guid_text(char text[GUID_TEXT_MAX], uint64_t guid)
{
	snprintf(text, GUID_TEXT_MAX, "%04x:%04x:%04x:%04x",
		 (unsigned int)(guid >> 48 & 0xffff), (unsigned int)(guid >> 32 & 0xffff),
		 (unsigned int)(guid >> 16 & 0xffff), (unsigned int)(guid & 0xffff));
	return text;
}

/* A bit that a newer module sets is shown as a number, not hidden. */
const char *flag_text(char text[FLAG_TEXT_MAX], uint64_t flag, const char *(*name)(uint64_t))
{
	const char *known = name(flag);

	if (strcmp(known, "unknown"))
		return known;
	snprintf(text, FLAG_TEXT_MAX, "0x%llx", (unsigned long long)flag);
	return text;
}

void print_flags(uint64_t flags, const char *(*name)(uint64_t))
{
	char text[FLAG_TEXT_MAX];
	const char *separator = "";
	int bit;

	if (!flags)
		fputs("none", stdout);
	for (bit = 0; bit < 64; bit++) {
		if (!(flags & UINT64_C(1) << bit))
			continue;
		printf("%s%s", separator, flag_text(text, UINT64_C(1) << bit, name));
		separator = ",";
	}
}
