// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Put standard input.  The server wants the length before the data, so that they are collected in a
 * file without a name first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"

#define PIECE	(256u << 10)

/* Opens a new file without a name.  Returns a descriptor, or a negative errno. */
static int open_spool(const char *folder)
{
	char *name;
	int fd;

	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* The file system does not know such files. */
	if (asprintf(&name, "%s/krdma-XXXXXX", folder) < 0)
		return -ENOMEM;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(name);
	free(name);
	return fd;
}

static int write_all(int fd, const char *from, size_t length)
{
	while (length) {
		ssize_t written = write(fd, from, length);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0) {
			from += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

/* Returns 0 or a negative errno; *@failed: the same if it was reading that failed. */
static int collect(int fd, int *failed)
{
	char *piece = malloc(PIECE);
	ssize_t got = 1;
	int err = piece ? 0 : -ENOMEM;

	*failed = 0;
	while (!err && got) {
		got = read(STDIN_FILENO, piece, PIECE);
		if (copy_interrupted)
			err = -ECANCELED;
		else if (got < 0 && errno != EINTR)
			*failed = err = -errno;
		else if (got > 0)
			err = write_all(fd, piece, (size_t)got);
	}
	free(piece);
	return err;
}

/*
 * The file at the server gets the permission bits that a new file would get here.  No other thread
 * creates files meanwhile.
 */
static int set_mode(int fd)
{
	mode_t mask = umask(077);

	umask(mask);
	/* Some file systems have no permission bits. */
	return fchmod(fd, 0666 & ~mask) && errno != EPERM && errno != EOPNOTSUPP ? -errno : 0;
}

void copy_input(struct copying *copying, const struct url *url)
{
	const char *folder = getenv("TMPDIR");
	int fd, err, failed = 0;
	char path[32];
	const struct copy copy = {
		.put = true, .url = url, .name = url->path, .folder = AT_FDCWD, .path = path,
		.local = "-", .secret = copying->secret.length,
	};

	folder = folder && *folder ? folder : "/tmp";
	fd = open_spool(folder);
	err = fd < 0 ? fd : collect(fd, &failed);
	if (!err)
		err = set_mode(fd);
	if (err) {
		copying->total->failed++;
		if (failed)
			complain("cannot read standard input: %s", strerror(-err));
		else if (err == -ECANCELED)
			complain("cannot put standard input: interrupted");
		else
			complain("cannot collect standard input in '%s': %s\n"
				 "Set TMPDIR to a folder with enough space", folder,
				 strerror(-err));
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		copy_one(copying, &copy, 0);
	}
	if (fd >= 0)
		close(fd);
}
