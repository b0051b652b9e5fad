/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma get -r, krdma put -r and krdma ls do with a server, without their words.  The files of
 * tools/cli that walk through folders are used as they are; this one has what they call.
 */
#ifndef KRDMA_E2E_LIB_COPY_H
#define KRDMA_E2E_LIB_COPY_H

#include <copy.h>

#include "lib_tree.h"

/**
 * struct lib_copy - a command
 * @copying: the command, as tools/cli has it; the caller may set its flags
 * @total: what its files have come to
 * @server: the server
 * @options: for the client that each command creates
 * @listed: called after each list; @entries is valid if @err is 0.  Or NULL
 * @begins: called before each file is copied; or NULL
 * @ended: called after that; or NULL
 * @context: argument for these
 * @found: names that the server's lists had for a pattern
 * @complaints: number of error messages
 */
struct lib_copy {
	struct copying copying;
	struct total total;
	const struct sockaddr *server;
	struct krdma_file_options options;
	void (*listed)(void *context, int err, const struct krdma_file_result *result,
		       const struct krdma_file_entry *entries, size_t count);
	void (*begins)(void *context, const struct copy *copy);
	void (*ended)(void *context, const struct copy *copy, int err,
		      const struct krdma_file_result *result);
	void *context;
	unsigned int found;
	unsigned int complaints;
};

/* Only one command at a time.  @options is NULL for the defaults. */
void lib_copy_begin(struct lib_copy *copy, struct krdma *session, const struct sockaddr *server,
		    const struct krdma_file_options *options);
/* Disconnects. */
void lib_copy_end(struct lib_copy *copy);

/* Get the folder @name to @path, which may exist.  Failures are counted in @total. */
int lib_copy_get(struct lib_copy *copy, const char *name, const char *path);
/* Put the folder @path as @name. */
void lib_copy_put(struct lib_copy *copy, const char *path, const char *name);
/* Get the files that the pattern fits to the folder @path. */
int lib_copy_glob(struct lib_copy *copy, const char *pattern, const char *path);
/* List the folder, with KRDMA_FILE_RECURSIVE or without. */
int lib_copy_list(struct lib_copy *copy, const char *name, uint32_t flags);

/**
 * struct lib_copy_left - what a command has left in the folder that it has filled
 * @before: what was there before, @count is 0 if the folder was not
 * @hidden: the user has agreed to hidden names
 * @whole: whether a file, a path in @folder, has all of its data
 * @folder: the folder
 * @files, @folders: number of new ones
 * @why, @which: what is wrong, and where; or NULL
 */
struct lib_copy_left {
	const struct tree *before;
	bool hidden;
	bool (*whole)(const char *folder, const char *name);
	const char *folder;
	unsigned int files;
	unsigned int folders;
	const char *why;
	char which[TREE_PATH];
};

/* Judges the folder, if it is there, counts what is new there, and removes that. */
void lib_copy_judge(struct lib_copy_left *left);

/* What a peer can say of itself, and what a client can have of it; anything else is a fault. */
bool lib_copy_can_end(int error, uint32_t side);
/* Whether a name leads out of the folder that was listed. */
bool lib_copy_leads_out(const char *name);

#endif
