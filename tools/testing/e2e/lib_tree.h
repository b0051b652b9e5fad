/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a folder contains, for a comparison with what it contains later.
 */
#ifndef KRDMA_E2E_LIB_TREE_H
#define KRDMA_E2E_LIB_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#define TREE_ENTRIES	1024
#define TREE_PATH	288

/**
 * struct tree_entry - a file, a folder or something else
 * @path: relative to the tree
 * @inode: its number
 * @mode: type and permission bits
 * @owner: user ID
 * @size: of a regular file, in bytes
 * @changed: when its data were changed last; 0 for a folder
 * @sum: CRC-32C of a regular file's data, or of a symbolic link's target
 */
struct tree_entry {
	char path[TREE_PATH];
	ino_t inode;
	mode_t mode;
	uid_t owner;
	off_t size;
	struct timespec changed;
	uint32_t sum;
};

struct tree {
	struct tree_entry entries[TREE_ENTRIES];
	size_t count;
};

/* Read the folder or the file at @path: 0, or -errno; -E2BIG for more than TREE_ENTRIES. */
int tree_read(struct tree *tree, const char *path);

/*
 * Whether the trees are equal.  Otherwise *@which is set to an entry that only one of them has, or
 * that differs.
 */
bool tree_same(const struct tree *tree, const struct tree *other, const char **which);

#endif
