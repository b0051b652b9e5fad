// SPDX-License-Identifier: GPL-2.0
/*
 * What a folder contains.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <file_internal.h>

#include "lib_tree.h"

static uint32_t sum_of_file(const char *path)
{
	unsigned char data[4096];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	uint32_t sum = 0;
	ssize_t got;

	while (fd >= 0 && (got = read(fd, data, sizeof(data))) > 0)
		sum = file_crc(sum, data, got);
	if (fd >= 0)
		close(fd);
	return sum;
}

static uint32_t sum_of_link(const char *path)
{
	char target[4096];
	ssize_t length = readlink(path, target, sizeof(target));

	return length < 0 ? 0 : file_crc(0, target, length);
}

/* nftw() has no argument for its caller. */
static __thread struct tree *reading;
static __thread size_t skipped;

static int read_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	struct tree_entry *entry = &reading->entries[reading->count];

	(void)type;
	(void)where;
	if (reading->count == TREE_ENTRIES)
		return -E2BIG;
	reading->count++;
	*entry = (struct tree_entry){
		.inode = status->st_ino,
		.mode = status->st_mode,
		.owner = status->st_uid,
	};
	snprintf(entry->path, sizeof(entry->path), "%s", path + skipped);
	if (S_ISDIR(status->st_mode))
		return 0;
	entry->size = status->st_size;
	entry->changed = status->st_mtim;
	entry->sum = S_ISREG(status->st_mode) ? sum_of_file(path) : sum_of_link(path);
	return 0;
}

int tree_read(struct tree *tree, const char *path)
{
	int ret;

	tree->count = 0;
	reading = tree;
	skipped = strlen(path);
	ret = nftw(path, read_one, 16, FTW_PHYS);
	return ret < -1 ? ret : ret ? -errno : 0;
}

static const struct tree_entry *find(const struct tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (!strcmp(tree->entries[i].path, path))
			return &tree->entries[i];
	}
	return NULL;
}

static bool entry_same(const struct tree_entry *one, const struct tree_entry *other)
{
	return one->inode == other->inode && one->mode == other->mode &&
	       one->owner == other->owner && one->size == other->size &&
	       one->changed.tv_sec == other->changed.tv_sec &&
	       one->changed.tv_nsec == other->changed.tv_nsec && one->sum == other->sum;
}

bool tree_same(const struct tree *tree, const struct tree *other, const char **which)
{
	const struct tree_entry *found;

	for (size_t i = 0; i < tree->count; i++) {
		*which = tree->entries[i].path;
		found = find(other, *which);
		if (!found || !entry_same(&tree->entries[i], found))
			return false;
	}
	for (size_t i = 0; i < other->count; i++) {
		*which = other->entries[i].path;
		if (!find(tree, *which))
			return false;
	}
	return true;
}
