// SPDX-License-Identifier: GPL-2.0
/*
 * Content that proves by itself that it is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib_files.h"
#include "lib_whole.h"
#include "rng.h"

size_t whole_fill(void *data, uint64_t version)
{
	struct rng rng = { .state = version };
	size_t length = 8 + rng_below(&rng, WHOLE_MAX - 8);
	uint64_t word = version;

	for (size_t at = 0; at < length; at += 8) {
		memcpy((char *)data + at, &word, 8);
		word = rng_next(&rng);
	}
	return length;
}

bool whole_is(const void *data, size_t length)
{
	unsigned char expected[WHOLE_ROOM];
	uint64_t version;

	if (length < 8)
		return false;
	memcpy(&version, data, 8);
	return whole_fill(expected, version) == length && !memcmp(data, expected, length);
}

int whole_make(const char *folder, const char *name, uint64_t version)
{
	unsigned char data[WHOLE_ROOM];
	size_t length = whole_fill(data, version);
	char path[FILES_PATH];

	unlink(files_path(path, folder, name));
	return files_write(folder, name, 0, data, length);
}

bool whole_file(const char *folder, const char *name)
{
	unsigned char data[WHOLE_ROOM];
	char path[FILES_PATH];
	int fd = open(files_path(path, folder, name),
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, data, sizeof(data));

	if (fd >= 0)
		close(fd);
	return length > 0 && whole_is(data, length);
}
