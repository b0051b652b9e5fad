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

/* The links of procfs, such as /dev/fd/63 of a shell, lead to open files.  Nobody places others. */
static bool is_of_proc(const struct stat *link)
{
	struct stat self;

	return !lstat("/proc/self", &self) && link->st_dev == self.st_dev;
}

/*
 * Open what must not be replaced: a pipe, a device, or a standard stream, which may be any of
 * these, a socket or a file.  Another user may have placed a link to a device.  Returns the file
 * descriptor, -ENOENT if @path can be replaced, or another negative errno.
 */
static int open_in_place(const char *path)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, fd = -1;
	struct stat link, there;

	if (lstat(path, &link) || stat(path, &there))
		return -ENOENT;
	if (S_ISDIR(there.st_mode))
		return -EISDIR;
	if (S_ISLNK(link.st_mode))
		fd = standard_stream(&there);
	if (fd < 0 && S_ISREG(there.st_mode))
		return -ENOENT;
	if (fd >= 0) {
		/* The text that was printed so far comes first. */
		fflush(stdout);
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	} else {
		fd = open(path, is_of_proc(&link) ? flags & ~O_NOFOLLOW : flags);
	}
	return fd < 0 ? -errno : fd;
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
