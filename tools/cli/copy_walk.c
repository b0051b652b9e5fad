// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Paths in a folder here, of which no symbolic link is followed: another user may be able to put
 * one there while files are copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"

int copy_walk(int root, const char *path, const char **last)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0), next, err = 0;
	char part[NAME_MAX + 1];
	size_t length;

	if (at < 0)
		return -errno;
	for (;;) {
		length = strcspn(path, "/");
		if (!path[length])
			break;
		if (length > NAME_MAX) {
			err = -ENAMETOOLONG;
			break;
		}
		memcpy(part, path, length);
		part[length] = '\0';
		next = openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			err = -errno;
		close(at);
		if (err)
			return err;
		at = next;
		path += length + 1;
	}
	if (err) {
		close(at);
		return err;
	}
	*last = path;
	return at;
}

int folder_id_of(int fd, struct folder_id *id)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	*id = (struct folder_id){ status.st_dev, status.st_ino };
	return 0;
}

int copy_walk_to(int root, const char *path, const struct folder_id *id, const char **last)
{
	int fd = copy_walk(root, path, last), err;
	struct folder_id found = { 0 };

	if (fd < 0 || !id)
		return fd;
	err = folder_id_of(fd, &found);
	if (!err && (found.device != id->device || found.inode != id->inode))
		err = -ESTALE;
	if (!err)
		return fd;
	close(fd);
	return err;
}
