// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * What a server offers, and that nobody gets out of it.
 *
 * The kernel itself keeps a path beneath a folder (openat2(), since 5.6).  Where it does
 * not, or may not, the path is walked part by part and no symbolic link is followed.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <linux/openat2.h> is younger than some systems that this can be compiled on. */
struct how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};

#define HOW_NO_MAGICLINKS	0x02
#define HOW_BENEATH		0x08
/* The same on every architecture since then. */
#ifndef SYS_openat2
#define SYS_openat2		437
#endif

/* Somebody renames folders while they are looked through. */
#define TRIES			16

void file_last_name(const char *path, char *last)
{
	size_t end = strlen(path), begin;

	while (end && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/';)
		begin--;
	if (end - begin > KRDMA_FILE_LAST_MAX)
		end = begin + KRDMA_FILE_LAST_MAX;
	memcpy(last, path + begin, end - begin);
	last[end - begin] = '\0';
}

bool file_last_is_plain(const char *last)
{
	return *last && strcmp(last, ".") && strcmp(last, "..") && !strchr(last, '/');
}

/* Each part of it is a name: none leads up, and none is missing. */
static int judge(const char *name)
{
	if (*name == '/')
		return -EACCES;
	while (*name) {
		size_t length = strcspn(name, "/");

		if (length == 2 && name[0] == '.' && name[1] == '.')
			return -EACCES;
		if (length > KRDMA_FILE_LAST_MAX)
			return -ENAMETOOLONG;
		name += length;
		while (*name == '/')
			name++;
	}
	return 0;
}

static int open_beneath(int folder, const char *name, int flags)
{
	struct how how = {
		.flags = (uint64_t)flags,
		.resolve = HOW_BENEATH | HOW_NO_MAGICLINKS,
	};
	int fd;

	for (int tries = 0; tries < TRIES; tries++) {
		fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));
		if (fd >= 0)
			return fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return -errno;
}

static int open_part(int folder, const char *part, size_t length, int flags)
{
	char text[KRDMA_FILE_LAST_MAX + 1];
	int fd;

	memcpy(text, part, length);
	text[length] = '\0';
	do {
		fd = openat(folder, text, flags | O_NOFOLLOW);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

/* @name has been judged. */
static int open_walking(int folder, const char *name, int flags)
{
	int at = folder, next;

	for (;;) {
		size_t length = strcspn(name, "/");
		const char *rest = name + length;

		while (*rest == '/')
			rest++;
		if (*rest)
			next = open_part(at, name, length, O_PATH | O_DIRECTORY | O_CLOEXEC);
		else
			next = open_part(at, name, length, flags);
		if (at != folder)
			close(at);
		if (next < 0 || !*rest)
			return next;
		at = next;
		name = rest;
	}
}

static int open_inside(const struct file_root *root, const char *name, int flags)
{
	int fd = root->beneath ? open_beneath(root->folder, name, flags) :
				 open_walking(root->folder, name, flags);

	/* It would lead out. */
	return fd == -EXDEV || fd == -ELOOP ? -EACCES : fd;
}

/* The one file goes by its name, or by none. */
static int which(const struct file_root *root, const char *name, const char **which)
{
	char last[KRDMA_FILE_LAST_MAX + 1];
	int err = judge(name);

	if (err)
		return err;
	if (root->only) {
		if (*name && strcmp(name, root->only))
			return -ENOENT;
		name = root->only;
	} else if (!*name) {
		return -EISDIR;
	}
	file_last_name(name, last);
	*which = name;
	/* What others put is not there before all of it is. */
	return file_part_is_name(last) ? -ENOENT : 0;
}

int file_root_read(const struct file_root *root, const char *name, int *fd)
{
	struct stat status;
	int err = which(root, name, &name);

	if (err)
		return err;
	/* A pipe without a writer would keep us waiting. */
	*fd = open_inside(root, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0)
		return *fd == -ENXIO || *fd == -ENODEV ? -EOPNOTSUPP : *fd;
	if (fstat(*fd, &status))
		err = -errno;
	else if (S_ISDIR(status.st_mode))
		err = -EISDIR;
	else if (!S_ISREG(status.st_mode))
		err = -EOPNOTSUPP;
	if (err)
		close(*fd);
	return err;
}

int file_can_replace(int folder, const char *last)
{
	struct stat status;

	if (file_part_is_name(last))
		return -EACCES;
	if (fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return S_ISREG(status.st_mode) || S_ISLNK(status.st_mode) ? 0 : -EOPNOTSUPP;
}

int file_root_parent(const struct file_root *root, const char *name, int *folder, char *last)
{
	char path[KRDMA_FILE_NAME_MAX + 1];
	size_t length;
	int err = which(root, name, &name);

	/* To a client that puts it, a part is not missing. */
	if (err)
		return err == -ENOENT && !root->only ? -EACCES : err;
	length = strlen(name);
	if (length > KRDMA_FILE_NAME_MAX)
		return -ENAMETOOLONG;
	/* A folder is not put. */
	if (name[length - 1] == '/')
		return -EISDIR;
	file_last_name(name, last);
	if (!file_last_is_plain(last))
		return -EISDIR;
	memcpy(path, name, length - strlen(last));
	path[length - strlen(last)] = '\0';
	*folder = open_inside(root, *path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*folder < 0)
		return *folder;
	err = file_can_replace(*folder, last);
	if (err)
		close(*folder);
	return err;
}

/* A sandbox may have another word for a call that it does not know. */
static bool can_keep_beneath(int folder)
{
	int fd = open_beneath(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int file_root_open(struct file_root *root, const char *path)
{
	struct stat status;
	char *real, *last;
	int err = 0;

	root->only = NULL;
	real = realpath(path, NULL);
	if (!real)
		return -errno;
	if (stat(real, &status)) {
		err = -errno;
		goto out;
	}
	if (S_ISREG(status.st_mode)) {
		last = strrchr(real, '/');
		root->only = strdup(last + 1);
		if (!root->only)
			err = -ENOMEM;
		last[last == real] = '\0';
	} else if (!S_ISDIR(status.st_mode)) {
		err = -EOPNOTSUPP;
	}
	if (!err) {
		root->folder = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root->folder < 0)
			err = -errno;
	}
	if (err)
		free(root->only);
	else
		root->beneath = can_keep_beneath(root->folder);
out:
	free(real);
	return err;
}

void file_root_close(struct file_root *root)
{
	close(root->folder);
	free(root->only);
}
