// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Open the file of a secret, and read that of krdma serve, krdma get, krdma put and krdma ls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

/* Whether systemd has made the file, by LoadCredential= or the like. */
static bool is_credential(const char *path)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	size_t length = folder ? strlen(folder) : 0;

	return length && !strncmp(path, folder, length) && path[length] == '/' &&
	       !strchr(path + length + 1, '/');
}

/*
 * Returns NULL if the file may have the secret, or why not.  A credential belongs to root, and an
 * ACL lets the unit's user read it; the permission bits have its mask in place of the group's.
 */
static const char *judge(const char *path, int fd, struct stat *status)
{
	const mode_t others = is_credential(path) ? 037 : 077;

	if (fstat(fd, status))
		return strerror(errno);
	if (!S_ISREG(status->st_mode))
		return "it is not a regular file";
	if (status->st_mode & others)
		return "other users can read it";
	return NULL;
}

/* Opens the file that was examined.  Without /proc, opens the name again and compares. */
static int open_examined(int examined, const char *path, const struct stat *status)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	struct stat opened;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", examined);
	fd = open(name, flags);
	if (fd < 0 && errno == ENOENT)
		fd = open(path, flags);
	if (fd >= 0 && (fstat(fd, &opened) || opened.st_dev != status->st_dev ||
			opened.st_ino != status->st_ino)) {
		close(fd);
		errno = ESTALE;
		return -1;
	}
	return fd;
}

/* Opening a device can have effects, and opening a pipe wakes its writer, so O_PATH comes first. */
int secret_open(const char *path)
{
	int examined = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct stat status;
	const char *why;

	if (examined < 0)
		return refuse(path, strerror(errno));
	why = judge(path, examined, &status);
	if (!why) {
		fd = open_examined(examined, path, &status);
		if (fd < 0)
			why = strerror(errno);
	}
	close(examined);
	return why ? refuse(path, why) : fd;
}

int secret_read(const char *path, struct secret_file *secret)
{
	int fd = secret_open(path);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read_all(fd, secret->bytes, sizeof(secret->bytes));
	close(fd);
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
