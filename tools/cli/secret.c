// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Read the secret of krdma serve, krdma get and krdma put from a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"

static int refuse(const char *path, const char *why)
{
	complain("cannot use the secret in '%s': %s\n"
		 "Make one: (umask 077; head -c 32 /dev/urandom | base64 >%s)", path, why, path);
	return -EINVAL;
}

static ssize_t read_all(int fd, unsigned char *to, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length < size) {
		got = read(fd, to + length, size - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

int secret_read(const char *path, struct secret *secret)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err = 0;
	struct stat status;
	ssize_t length = 0;

	if (fd < 0)
		return refuse(path, strerror(errno));
	if (fstat(fd, &status))
		err = refuse(path, strerror(errno));
	else if (!S_ISREG(status.st_mode))
		err = refuse(path, "it is not a regular file");
	else if (status.st_mode & 077)
		err = refuse(path, "other users can read it");
	if (!err)
		length = read_all(fd, secret->bytes, sizeof(secret->bytes));
	close(fd);
	if (err)
		return err;
	if (length < 0)
		return refuse(path, strerror((int)-length));
	/* Editors and base64(1) append a line break. */
	if (length && secret->bytes[length - 1] == '\n')
		length--;
	if (length < KRDMA_FILE_SECRET_MIN)
		return refuse(path, "it has less than 16 bytes");
	if (length > KRDMA_FILE_SECRET_MAX)
		return refuse(path, "it has more than 1024 bytes");
	secret->length = (uint32_t)length;
	return 0;
}
