// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Where a file is to appear on this machine.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Opens the parent folder of @path and returns the last component of @path, which does not exist
 * or is not a folder.
 */
static int open_parent(const char *path, char *last, int *folder)
{
	char *copy = strdup(path), *slash;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	slash = strrchr(copy, '/');
	if (strlen(slash ? slash + 1 : copy) > KRDMA_FILE_LAST_MAX) {
		free(copy);
		return -ENAMETOOLONG;
	}
	file_last_name(path, last);
	if (slash)
		slash[slash == copy] = '\0';
	*folder = open(slash ? copy : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*folder < 0)
		err = -errno;
	free(copy);
	return err;
}

/*
 * The path of the file that a symbolic link refers to; NULL sets errno. realpath() follows every
 * link, but the kernel refuses one that another user has created in a sticky folder. Another user
 * may also have created or changed the link just now. So the path counts only if the kernel
 * follows the link to the same file.
 */
static char *follow(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat status, named;
	char *real;

	if (fd < 0)
		return NULL;
	real = realpath(path, NULL);
	if (real && (fstat(fd, &status) || lstat(real, &named) ||
		     status.st_dev != named.st_dev || status.st_ino != named.st_ino)) {
		free(real);
		real = NULL;
		errno = ESTALE;
	}
	close(fd);
	return real;
}

/*
 * Opens the destination folder. If @path is not a folder, @last replaces the name from the
 * server, and @named is set.
 */
static int open_folder(const char *path, char *last, int *folder, bool *named)
{
	struct stat status;
	char *real;
	int err;

	*folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*named = *folder < 0;
	if (*folder >= 0)
		return 0;
	if (errno != ENOENT && errno != ENOTDIR)
		return -errno;
	/* A name with a trailing slash must be a folder. */
	if (!*path || path[strlen(path) - 1] == '/')
		return -errno;
	if (lstat(path, &status) || !S_ISLNK(status.st_mode))
		return open_parent(path, last, folder);
	/* Replace the file that a symbolic link refers to, not the link. */
	real = follow(path);
	if (!real)
		return -errno;
	err = open_parent(real, last, folder);
	free(real);
	return err;
}

/*
 * Checks a name that the server chose: without this check, it could be that of a shell start-up
 * file, look like an option, or replace any file.
 */
static int judge_chosen_name(int folder, const char *last)
{
	struct stat status;

	if (!file_name_is_harmless(last))
		return -EILSEQ;
	if (!fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return errno == ENOENT ? 0 : -errno;
}

int file_destination_open(struct file_destination *to, int folder, const char *path,
			  const char *last, bool chosen, bool no_replace)
{
	bool named = true;
	int err = 0;

	snprintf(to->last, sizeof(to->last), "%s", last);
	if (folder == AT_FDCWD) {
		err = open_folder(path, to->last, &to->folder, &named);
	} else if (!file_last_is_plain(path)) {
		err = -EINVAL;
	} else if (strlen(path) > KRDMA_FILE_LAST_MAX) {
		err = -ENAMETOOLONG;
	} else {
		file_last_name(path, to->last);
		to->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
		if (to->folder < 0)
			err = -errno;
	}
	if (err)
		return err;
	chosen = chosen && !named;
	to->no_replace = chosen || no_replace;
	if (chosen)
		err = judge_chosen_name(to->folder, to->last);
	else
		err = file_can_replace(to->folder, to->last);
	if (err)
		close(to->folder);
	return err;
}

int file_destination_judge(const struct file_destination *to, bool update, uint64_t length,
			   int64_t mtime_s, uint32_t mtime_ns)
{
	struct stat status;

	if (fstatat(to->folder, to->last, &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (update && S_ISREG(status.st_mode) && (uint64_t)status.st_size == length &&
	    file_has_mtime(&status, mtime_s, mtime_ns))
		return 1;
	return to->no_replace ? -EEXIST : 0;
}
