// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A file that appears only when it is complete.  A pipe or a device is written in place: rename()
 * would replace it by a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Set the mode that the umask gives to new files, instead of the one of temporary files. */
static int set_mode(int fd)
{
	mode_t mask = umask(0);

	umask(mask);
	return fchmod(fd, 0666 & ~mask) ? -errno : 0;
}

/* The standard stream that a link such as /dev/stdout leads to, or -1. */
static int standard_stream(const struct stat *there)
{
	struct stat stream;
	int fd;

	for (fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &stream) && stream.st_dev == there->st_dev &&
		    stream.st_ino == there->st_ino)
			return fd;
	return -1;
}

/*
 * Users place no links in /proc, and in a /dev that is mounted: such as /dev/fd/63 of a shell, or
 * /dev/stdout, which lead to open files.
 */
static bool is_of_system(const struct stat *link)
{
	struct stat place, root;

	return S_ISLNK(link->st_mode) &&
	       ((!lstat("/proc/self", &place) && link->st_dev == place.st_dev) ||
		(!stat("/dev", &place) && !stat("/", &root) && place.st_dev != root.st_dev &&
		 link->st_dev == place.st_dev));
}

/* Opens the pipe or device that @path was when it was examined. */
static int open_same(const char *path, int flags, const struct stat *there)
{
	struct stat opened;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &opened) && opened.st_dev == there->st_dev &&
	    opened.st_ino == there->st_ino && opened.st_mode == there->st_mode)
		return fd;
	close(fd);
	return -EACCES;
}

/*
 * Open what must not be replaced: a pipe, a device, or a standard stream, which may be any of
 * these, a socket or a file.  Another user may have placed a link to a device, or a pipe to read
 * from.  Returns the file descriptor, -ENOENT if @path can be replaced, or another negative errno.
 */
static int open_in_place(const char *path)
{
	struct stat link, there;
	bool of_system;
	int fd = -1;

	if (lstat(path, &link))
		return -ENOENT;
	of_system = is_of_system(&link);
	/* The link of a standard stream that is closed leads nowhere. */
	if (stat(path, &there))
		return of_system ? -EBADF : -ENOENT;
	if (S_ISDIR(there.st_mode))
		return -EISDIR;
	if (S_ISLNK(link.st_mode))
		fd = standard_stream(&there);
	if (fd >= 0) {
		/* One that was closed is reserved: reserve_standard_streams(). */
		if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
			return -EBADF;
		/* The text that was printed so far comes first. */
		fflush(stdout);
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return fd < 0 ? -errno : fd;
	}
	if (S_ISREG(there.st_mode))
		return of_system ? -EACCES : -ENOENT;
	if (S_ISFIFO(there.st_mode) && !of_system && there.st_uid && there.st_uid != geteuid())
		return -EACCES;
	return open_same(path, of_system ? 0 : O_NOFOLLOW, &there);
}

int new_file_open(struct new_file *file, const char *path)
{
	int fd, err;

	*file = (struct new_file){ 0 };
	fd = open_in_place(path);
	if (fd >= 0) {
		file->stream = fdopen(fd, "w");
		if (file->stream)
			return 0;
		err = -errno;
		close(fd);
		return err;
	}
	if (fd != -ENOENT)
		return fd;
	if (asprintf(&file->path, "%s.XXXXXX", path) < 0) {
		file->path = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(file->path, O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		goto out_path;
	}
	err = set_mode(fd);
	if (!err) {
		file->stream = fdopen(fd, "w");
		if (file->stream)
			return 0;
		err = -errno;
	}
	close(fd);
	unlink(file->path);
out_path:
	free(file->path);
	file->path = NULL;
	return err;
}

int new_file_close(struct new_file *file, const char *path, bool keep)
{
	int err = 0;

	if (ferror(file->stream))
		err = -EIO;
	if (fclose(file->stream) && !err)
		err = -errno;
	if (!err && keep && file->path && rename(file->path, path))
		err = -errno;
	if (file->path && (err || !keep))
		unlink(file->path);
	free(file->path);
	*file = (struct new_file){ 0 };
	return err;
}
