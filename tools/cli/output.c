// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Text on standard output.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/*
 * Started with a standard stream closed, the next file that is opened would
 * take its number, and what is meant for a person would go to the RDMA device.
 * The wrong direction on purpose: writing must still fail, and be noticed.
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

/* A full disk shows at the latest here; it must not pass as success. */
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

/*
 * Names come from whoever made the device: nothing that could steer a terminal
 * or break JSON's encoding gets through.
 */
size_t printable(char *to, size_t to_size, const char *from, size_t from_size)
{
	size_t i;

	for (i = 0; i + 1 < to_size && i < from_size && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = '\0';
	return i;
}

/* In the largest unit that it is a whole number of. */
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

/* As rdma(8) writes it. */
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
