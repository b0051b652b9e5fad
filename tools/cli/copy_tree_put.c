// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Put a folder, and all that is in it.  Symbolic links in it are not followed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "copy.h"

/* A folder that is made at the server. */
struct made {
	char *path;
	struct stat status;
};

/**
 * struct tree - a folder that is put
 * @copying: the command
 * @url: the server
 * @from: name of the folder here
 * @name: its name at the server
 * @root: the folder here
 * @queue: the files in it
 * @folders: the folders in it and the folder itself, relative to @root, those made so far first
 * @count: their number
 * @room: number of folders for which there is memory
 */
struct tree {
	struct copying *copying;
	const struct url *url;
	const char *from;
	const char *name;
	int root;
	struct copy_queue *queue;
	struct made *folders;
	size_t count;
	size_t room;
};

static int fail(struct tree *tree, const char *what, const char *path, int err)
{
	tree->copying->total->failed++;
	complain("cannot %s '%s%s%s': %s", what, tree->from, *path ? "/" : "", path,
		 strerror(-err));
	return err;
}

/* The name at the server of a path in the folder, for free(). */
static char *name_of(const struct tree *tree, const char *path)
{
	size_t length = strlen(tree->name);
	bool slash = length && *path && tree->name[length - 1] != '/';
	char *name;

	return asprintf(&name, "%s%s%s", tree->name, slash ? "/" : "", path) < 0 ? NULL : name;
}

static int add_folder(struct tree *tree, const char *path, const struct stat *status)
{
	size_t room = tree->room ? 2 * tree->room : 16;
	struct made *folders;
	char *copy;

	if (tree->count == tree->room) {
		folders = realloc(tree->folders, room * sizeof(*folders));
		if (!folders)
			return -ENOMEM;
		tree->folders = folders;
		tree->room = room;
	}
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	tree->folders[tree->count++] = (struct made){ .path = copy, .status = *status };
	return 0;
}

static int add_file(struct tree *tree, const char *path, uint64_t length)
{
	char *name = name_of(tree, path);
	int err;

	if (!name)
		return -ENOMEM;
	err = copy_queue_add(tree->queue, name, path, length, KRDMA_FILE_NO_FOLLOW, NULL);
	free(name);
	return err;
}

/* @path: of the entry, relative to the folder that is put. */
static int add_entry(struct tree *tree, int folder, const char *path, const char *last)
{
	struct stat status;

	if (fstatat(folder, last, &status, AT_SYMLINK_NOFOLLOW)) {
		fail(tree, "examine", path, -errno);
		return 0;
	}
	if (S_ISDIR(status.st_mode))
		return add_folder(tree, path, &status);
	if (S_ISREG(status.st_mode))
		return add_file(tree, path, (uint64_t)status.st_size);
	complain("'%s/%s' was not copied: %s", tree->from, path,
		 S_ISLNK(status.st_mode) ? "a symbolic link" : "neither a file nor a folder");
	return 0;
}

static int read_entries(struct tree *tree, DIR *entries, const char *within)
{
	struct dirent *entry;
	char *path;
	int err = 0;

	while (!err && !copy_interrupted) {
		errno = 0;
		entry = readdir(entries);
		if (!entry) {
			if (errno)
				fail(tree, "read all of", within, -errno);
			break;
		}
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (asprintf(&path, "%s%s%s", within, *within ? "/" : "", entry->d_name) < 0)
			return -ENOMEM;
		err = add_entry(tree, dirfd(entries), path, entry->d_name);
		free(path);
	}
	return err;
}

static int read_folder(struct tree *tree, const char *within)
{
	const char *last = ".";
	DIR *entries;
	int folder, fd, err;

	folder = *within ? copy_walk(tree->root, within, &last) :
			   fcntl(tree->root, F_DUPFD_CLOEXEC, 0);
	if (folder < 0) {
		fail(tree, "read", within, folder);
		return 0;
	}
	fd = openat(folder, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	close(folder);
	entries = fd < 0 ? NULL : fdopendir(fd);
	if (!entries) {
		if (fd >= 0)
			close(fd);
		fail(tree, "read", within, err ? err : -ENOMEM);
		return 0;
	}
	err = read_entries(tree, entries, within);
	closedir(entries);
	return err;
}

/* Makes the folder, or with @settle gives it exactly its permission bits, and its time. */
static int make(struct tree *tree, const struct made *folder, bool settle)
{
	char *name = name_of(tree, folder->path);
	int err;

	if (!name)
		return fail(tree, "put", folder->path, -ENOMEM);
	err = copy_make_folder(tree->copying, tree->url, name, &folder->status, !settle);
	free(name);
	return err;
}

static void put_all(struct tree *tree)
{
	struct stat status;
	size_t made = 0;
	int err = 0;

	if (fstat(tree->root, &status))
		err = -errno;
	if (!err)
		err = add_folder(tree, "", &status);
	/* Those that are found meanwhile come at the end. */
	for (; made < tree->count && !err && !copy_interrupted; made++) {
		if (make(tree, &tree->folders[made], false)) {
			if (tree->copying->lost || !made)
				return;
			continue;
		}
		err = read_folder(tree, tree->folders[made].path);
	}
	if (err) {
		fail(tree, "put", "", err);
		return;
	}
	copy_queue_run(tree->queue);
	if (!(tree->copying->flags & (KRDMA_FILE_TIMES | KRDMA_FILE_EXACT_MODE)))
		return;
	for (; made && !tree->copying->lost && !copy_interrupted; made--)
		make(tree, &tree->folders[made - 1], true);
}

void copy_tree_put(struct copying *copying, const char *from, const struct url *url,
		   const char *name)
{
	struct tree tree = { .copying = copying, .url = url, .from = from, .name = name };

	tree.root = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tree.root < 0) {
		fail(&tree, "read", "", -errno);
		return;
	}
	tree.queue = copy_queue_create(copying, url, tree.root, from);
	if (tree.queue) {
		put_all(&tree);
		copy_queue_destroy(tree.queue);
	} else {
		copying->total->failed++;
	}
	for (size_t i = 0; i < tree.count; i++)
		free(tree.folders[i].path);
	free(tree.folders);
	close(tree.root);
}
