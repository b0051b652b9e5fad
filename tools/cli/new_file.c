// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A file that appears only when it is complete.
 */
#include <errno.h>
#include <fcntl.h>
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

int new_file_open(struct new_file *file, const char *path)
{
	int fd, err;

	*file = (struct new_file){ 0 };
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
	if (!err && keep && rename(file->path, path))
		err = -errno;
	if (err || !keep)
		unlink(file->path);
	free(file->path);
	*file = (struct new_file){ 0 };
	return err;
}
