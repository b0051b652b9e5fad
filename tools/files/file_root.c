// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The folder or file that a server offers, and the confinement of clients to it.
 *
 * Since version 5.6 the kernel can confine path lookups to a folder, by openat2(). If the kernel
 * is older, or a sandbox forbids the call, the path is walked one component at a time and
 * symbolic links are not followed.
 */
#include "file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* <linux/openat2.h> does not exist on some supported build systems. */
struct how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};

#define HOW_NO_MAGICLINKS	0x02
#define HOW_BENEATH		0x08
/* The number is the same on every architecture. */
#ifndef SYS_openat2
#define SYS_openat2		437
#endif

/* Flags for opening a file that is, or just was, a regular file. */
#define READ_FLAGS		(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Attempts when folders are renamed during the lookup. */
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

/* Checks that no component leads up and that the path is relative. */
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

/* @name has been checked by judge(). */
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

	/* The path leads out of the folder. */
	return fd == -EXDEV || fd == -ELOOP ? -EACCES : fd;
}

/* If one file is offered, it can be requested by its name or by an empty name. */
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
	/* Incomplete files of other clients are treated as missing. */
	return file_part_is_name(last) ? -ENOENT : 0;
}

/*
 * Files
 */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Checks the file type of an O_PATH descriptor: an error unless it is a regular file. */
static int judge_file(int path)
{
	struct stat status;

	if (fstat(path, &status))
		return -errno;
	if (S_ISLNK(status.st_mode))
		return -EACCES;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return S_ISREG(status.st_mode) ? 0 : -EOPNOTSUPP;
}

/* Without /proc, an O_PATH descriptor cannot be reopened. Open the name again and compare. */
static int open_by_name(int path, int folder, const char *name, int flags)
{
	struct stat status, wanted;
	int fd, err = 0;

	do {
		fd = openat(folder, name, flags);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || fstat(path, &wanted))
		err = -errno;
	else if (!is_same(&status, &wanted))
		err = -ESTALE;
	if (err)
		close(fd);
	return err ? err : fd;
}

int file_open_regular(int folder, const char *name, bool follow)
{
	int path = openat(folder, name, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)), fd;

	if (path < 0)
		return -errno;
	fd = file_reopen(path);
	if (fd == -ESRCH)
		fd = open_by_name(path, folder, name, READ_FLAGS | (follow ? 0 : O_NOFOLLOW));
	close(path);
	return fd;
}

int file_reopen(int path)
{
	char name[32];
	int err = judge_file(path), fd;

	if (err)
		return err;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	do {
		fd = open(name, READ_FLAGS);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

/*
 * Folders with rules
 */

/*
 * Whether a rule applies to the folder. A rule applies to the folder that has the rule's path
 * now, and to the folder that had it when the server was created.
 */
static bool is_of(const struct file_root *root, const struct file_rule *rule,
		  const struct stat *folder)
{
	struct stat status;
	bool same;
	int fd;

	if (!fstat(rule->folder, &status) && is_same(&status, folder))
		return true;
	fd = open_inside(root, rule->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	same = !fstat(fd, &status) && is_same(&status, folder);
	close(fd);
	return same;
}

/*
 * Gets the access rights in a folder. Symbolic links may have led there, so its path does not
 * show which rules apply. The function goes up through the parent folders to the offered one.
 */
static int access_of(const struct file_root *root, int folder, uint32_t *access)
{
	struct stat top, status, before;
	int fd, up;

	*access = root->access;
	if (!root->rule_count)
		return 0;
	fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	if (fd < 0 || fstat(root->folder, &top) || fstat(fd, &status))
		goto out;
	for (;;) {
		for (unsigned int i = 0; i < root->rule_count; i++) {
			if (!is_of(root, &root->rules[i], &status))
				continue;
			*access = root->rules[i].access;
			close(fd);
			return 0;
		}
		if (is_same(&status, &top)) {
			close(fd);
			return 0;
		}
		before = status;
		up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = up;
		if (fd < 0 || fstat(fd, &status) || is_same(&status, &before))
			break;
	}
out:
	/* The folder was moved out, or a parent may not be searched. */
	if (fd >= 0)
		close(fd);
	return -EACCES;
}

/* Opens the folder of a name with O_PATH. */
static int open_folder_of(const struct file_root *root, const char *name, const char *last)
{
	char path[KRDMA_FILE_NAME_MAX + 1];
	size_t length = strlen(name) - strlen(last);

	memcpy(path, name, length);
	path[length] = '\0';
	return open_inside(root, *path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Opens a file for reading if the access rights depend on its folder. The file must be a regular
 * file, not a symbolic link, in a folder that the client may read.
 */
static int open_ruled(const struct file_root *root, const char *name)
{
	char last[KRDMA_FILE_LAST_MAX + 1];
	uint32_t access = 0;
	int folder, fd, err;

	file_last_name(name, last);
	if (!file_last_is_plain(last) || name[strlen(name) - 1] == '/')
		return -EISDIR;
	folder = open_folder_of(root, name, last);
	if (folder < 0)
		return folder;
	err = access_of(root, folder, &access);
	if (!err && !(access & KRDMA_FILE_READ))
		err = -EACCES;
	if (err) {
		close(folder);
		return err;
	}
	fd = file_open_regular(folder, last, false);
	close(folder);
	return fd;
}

int file_root_add_rule(struct file_root *root, const char *path, uint32_t access)
{
	struct file_rule *rules;
	int err = judge(path);

	if (err)
		return err;
	if (root->only)
		return -EINVAL;
	rules = realloc(root->rules, (root->rule_count + 1) * sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	root->rules = rules;
	rules += root->rule_count;
	rules->access = access;
	rules->folder = open_inside(root, *path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rules->folder < 0)
		return rules->folder;
	rules->path = strdup(*path ? path : ".");
	if (!rules->path) {
		close(rules->folder);
		return -ENOMEM;
	}
	root->rule_count++;
	return 0;
}

int file_root_read(const struct file_root *root, const char *name, int *fd)
{
	int err = which(root, name, &name), path;

	if (err)
		return err;
	if (root->rule_count || !(root->access & KRDMA_FILE_READ)) {
		*fd = open_ruled(root, name);
		return *fd < 0 ? *fd : 0;
	}
	/*
	 * Open with O_PATH first: opening a device can have effects, and opening a FIFO can
	 * block.
	 */
	path = open_inside(root, name, O_PATH | O_CLOEXEC);
	if (path < 0)
		return path;
	*fd = file_reopen(path);
	if (*fd == -ESRCH) {
		*fd = open_inside(root, name, READ_FLAGS);
		if (*fd >= 0 && judge_file(*fd)) {
			close(*fd);
			*fd = -ESTALE;
		}
	}
	close(path);
	return *fd < 0 ? *fd : 0;
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

int file_root_parent(const struct file_root *root, const char *name, int *folder, char *last,
		     bool *no_replace)
{
	uint32_t access = 0;
	struct stat status;
	size_t length;
	int err = which(root, name, &name);

	if (!(root->access & KRDMA_FILE_WRITE) && !root->rule_count)
		return -EROFS;
	/*
	 * If a client puts a file with a part file's name, report no access rather than a
	 * missing file.
	 */
	if (err)
		return err == -ENOENT && !root->only ? -EACCES : err;
	length = strlen(name);
	if (length > KRDMA_FILE_NAME_MAX)
		return -ENAMETOOLONG;
	/* A folder cannot be put. */
	if (name[length - 1] == '/')
		return -EISDIR;
	file_last_name(name, last);
	if (!file_last_is_plain(last))
		return -EISDIR;
	*folder = open_folder_of(root, name, last);
	if (*folder < 0)
		return *folder;
	err = access_of(root, *folder, &access);
	if (!err && !(access & KRDMA_FILE_WRITE))
		err = -EROFS;
	if (!err)
		err = file_can_replace(*folder, last);
	*no_replace = !(access & KRDMA_FILE_READ);
	/* Refuse before the whole file is transferred. */
	if (!err && *no_replace && !fstatat(*folder, last, &status, AT_SYMLINK_NOFOLLOW))
		err = -EEXIST;
	if (err)
		close(*folder);
	return err;
}

/*
 * Folders
 */

int file_root_open_folder(const struct file_root *root, const char *name, int flags,
			  uint32_t access)
{
	uint32_t has = 0;
	int err = judge(name), fd;

	if (err)
		return err;
	fd = open_inside(root, *name ? name : ".", flags | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	err = access_of(root, fd, &has);
	if (!err && access & ~has)
		err = access & ~has & KRDMA_FILE_WRITE ? -EROFS : -EACCES;
	if (err)
		close(fd);
	return err ? err : fd;
}

int file_root_examine(const struct file_root *root, const char *name)
{
	int err = judge(name);

	return err ? err : open_inside(root, name, O_PATH | O_CLOEXEC);
}

int file_root_find(const struct file_root *root, const char *name, int *folder, char *last)
{
	uint32_t access = 0;
	int err = which(root, name, &name);

	if (err)
		return err;
	file_last_name(name, last);
	if (!file_last_is_plain(last) || name[strlen(name) - 1] == '/')
		return -ENOTDIR;
	*folder = open_folder_of(root, name, last);
	if (*folder < 0)
		return *folder;
	err = access_of(root, *folder, &access);
	if (!err && !(access & KRDMA_FILE_READ))
		err = -EACCES;
	if (err)
		close(*folder);
	return err;
}

/* Makes one folder, in a folder that exists. @path: its name, which the function changes. */
static int make_folder(const struct file_root *root, char *path, mode_t mode,
		       struct file_link *link)
{
	char last[KRDMA_FILE_LAST_MAX + 1];
	int parent, made, err = 0;

	file_last_name(path, last);
	if (file_part_is_name(last))
		return -EACCES;
	path[strlen(path) - strlen(last)] = '\0';
	parent = file_root_open_folder(root, path, O_PATH, KRDMA_FILE_WRITE);
	if (parent < 0)
		return parent;
	if (mkdirat(parent, last, mode))
		err = errno == EEXIST ? 0 : -errno;
	made = openat(parent, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made >= 0) {
		if (!err && link)
			err = file_sync_folder(parent, made, link);
		close(made);
	}
	close(parent);
	return err;
}

int file_root_make_folders(const struct file_root *root, const char *name, mode_t mode,
			   struct file_link *link)
{
	char path[KRDMA_FILE_NAME_MAX + 1];
	size_t end = 0;
	int err = judge(name), fd;

	if (root->only)
		return -ENOTDIR;
	while (!err) {
		end += strcspn(name + end, "/");
		if (!name[end])
			return 0;
		memcpy(path, name, end);
		path[end] = '\0';
		end += strspn(name + end, "/");
		fd = open_inside(root, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			close(fd);
		else
			err = fd == -ENOENT ? make_folder(root, path, name[end] ? 0777 : mode,
							  link) : fd;
		/* A name can have two thousand of them, and each waits for the disk. */
		if (!err && fd < 0 && link)
			err = file_link_step(link);
	}
	return err;
}

/*
 * A sandbox may return another error for an unknown system call, so test whether the call
 * works.
 */
static bool can_keep_beneath(int folder)
{
	int fd = open_beneath(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int file_root_open(struct file_root *root, const char *path, uint32_t access)
{
	struct stat status;
	char *real, *last;
	int err = 0;

	*root = (struct file_root){ .access = access };
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
	for (unsigned int i = 0; i < root->rule_count; i++) {
		close(root->rules[i].folder);
		free(root->rules[i].path);
	}
	free(root->rules);
	close(root->folder);
	free(root->only);
}
