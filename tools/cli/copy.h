/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma get and krdma put: declarations that their files share.
 */
#ifndef KRDMA_CLI_COPY_H
#define KRDMA_CLI_COPY_H

#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "krdma_file.h"
#include "progress.h"
#include "url.h"

/* secret.c */
struct secret_file {
	/* One byte more for a line break, and one to detect a secret that is too long. */
	unsigned char bytes[KRDMA_FILE_SECRET_MAX + 2];
	/* 0: no secret. */
	uint32_t length;
};

/* Returns 0, or -EINVAL after an error message. */
int secret_read(const char *path, struct secret_file *secret);

/* With one of these, the user has agreed that files are replaced. */
#define COPY_SYNC	(KRDMA_FILE_UPDATE | KRDMA_FILE_CHECKSUM)

/**
 * struct copy - one file to copy
 * @put: the file is copied to the server, not from it
 * @verb: the command, if it is neither get nor put; or NULL
 * @url: address of the server
 * @name: name of the file on the server
 * @folder: descriptor of the folder of @path, or AT_FDCWD
 * @path: the file on this machine, in @folder
 * @local: the same in words; "-": standard input or output
 * @flags: flags for the library, in addition to those of the command
 * @secret: --secret was given
 */
struct copy {
	bool put;
	const char *verb;
	const struct url *url;
	const char *name;
	int folder;
	const char *path;
	const char *local;
	uint32_t flags;
	bool secret;
};

/**
 * struct total - what several files have come to, together
 * @lock: protects all of it
 * @progress: what is shown, if @shown
 * @shown: the files are shown together, not one after another
 * @length: bytes of all of them, as far as it is known
 * @done: bytes there
 * @transferred: bytes that went over the network
 * @files: files copied
 * @skipped: files that were up to date
 * @failed: files that were not copied, and other failures
 */
struct total {
	pthread_mutex_t lock;
	struct progress progress;
	bool shown;
	uint64_t length;
	uint64_t done;
	uint64_t transferred;
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
};

/**
 * struct copying - state of one command, or of one of its threads
 * @options: the common options
 * @put: the command is krdma put, not krdma get
 * @verb: the command, if it is neither
 * @recursive: --recursive was given
 * @hidden: --hidden was given
 * @streams: number of connections of the command at a time
 * @connections: how many of them each file uses
 * @flags: flags for the library
 * @secret: secret of --secret
 * @when: when progress is shown
 * @session: the session
 * @client: the client of the last server, or NULL
 * @host: the host of that server
 * @port: its port
 * @file: progress of the current file
 * @seen: bytes of the current file that are counted in @total
 * @lost: the last request ended so that others would, too
 * @total: progress of all files
 * @stream: destination that is not a regular file: standard output, a device or a pipe; or -1
 * @array: results for JSON, or NULL for text
 */
struct copying {
	const struct options *options;
	bool put;
	const char *verb;
	bool recursive;
	bool hidden;
	unsigned int streams;
	unsigned int connections;
	uint32_t flags;
	struct secret_file secret;
	enum progress_when when;
	struct krdma *session;
	struct krdma_file_client *client;
	char host[NI_MAXHOST];
	uint16_t port;
	struct progress file;
	uint64_t seen;
	bool lost;
	struct total *total;
	int stream;
	struct json_object *array;
};

/* copy_one.c */
/* The number of the signal that asks the command to end, or 0. */
extern atomic_int copy_interrupted;

/*
 * Copies one file, and says what went wrong.  @quiet: a negative errno of the server that is
 * returned without an error message, and without being counted; or 0.
 */
int copy_one(struct copying *copying, const struct copy *copy, int quiet);
/*
 * Makes a folder at the server, with @status of the folder here.  @fresh: it is to be filled, so
 * one that is there keeps what it has; otherwise it has been, and gets what the flags say.
 */
int copy_make_folder(struct copying *copying, const struct url *url, const char *name,
		     const struct stat *status, bool fresh);
/*
 * Lists a folder at the server.  The entries are sorted by name.  @quiet: a negative errno of
 * the server that is returned without an error message; 1: each that is about the name; 0: none.
 * @status: receives permission bits and time of the folder; or NULL.
 */
int copy_list(struct copying *copying, const struct url *url, const char *name, uint32_t flags,
	      int quiet, struct krdma_file_entry **entries, size_t *count, struct stat *status);
/*
 * Takes what the server could not read out of a list of the folder @name, and returns how many
 * entries remain.  Each that is @wanted is a failure, and has an error message; NULL: all are.
 */
size_t copy_list_readable(struct copying *copying, const struct url *url, const char *name,
			  bool (*wanted)(const char *entry, const void *context),
			  const void *context, struct krdma_file_entry *entries, size_t count);
/* Disconnects. */
void copy_disconnect(struct copying *copying);

/*
 * Whether a file of this name, which the server chose, may be created; else prints why not.
 * @place: for the message, where it would be.
 */
bool copy_name_is_fine(struct copying *copying, const char *last, bool hidden, const char *place);

/*
 * copy_tree_get.c, copy_tree_put.c: a folder, and all that is in it.  Failures are counted in the
 * total, after an error message.
 */
/*
 * @name: the folder at the server; "": what it offers. @path: the folder here, in @folder, made if
 * missing; a symbolic link is followed only if @folder is AT_FDCWD. @to: the same in words.
 * -ENOTDIR: it is a file, of which nothing is said.
 */
int copy_tree_get(struct copying *copying, const struct url *url, const char *name, int folder,
		  const char *path, const char *to);
/* @from: the folder here.  @name: the folder at the server, made if missing. */
void copy_tree_put(struct copying *copying, const char *from, const struct url *url,
		   const char *name);

/*
 * copy_walk.c: paths in a folder here, of which no symbolic link is followed.  Another user may be
 * able to put another folder in the place of one that was looked at.
 */
struct folder_id {
	dev_t device;
	ino_t inode;
};

/* Which folder @fd is: 0 or a negative errno. */
int folder_id_of(int fd, struct folder_id *id);
/*
 * Opens the folder of @path, which is relative to @root, with O_PATH.  Returns it or a negative
 * errno; @last: the last component.
 */
int copy_walk(int root, const char *path, const char **last);
/* The same; -ESTALE if that is not the folder @id.  NULL: any is. */
int copy_walk_to(int root, const char *path, const struct folder_id *id, const char **last);

/* copy_input.c: puts standard input under the name of @url. */
void copy_input(struct copying *copying, const struct url *url);

/* copy_queue.c: files of a tree, which several threads copy. */
struct copy_queue;

/* @root: the folder here; @local: the same in words. */
struct copy_queue *copy_queue_create(struct copying *copying, const struct url *url, int root,
				     const char *local);
/*
 * @path: of the file here, relative to @root.  @folder: the folder in which it is, whose permission
 * to take such a file was judged; NULL: whatever is there by its name.  Returns 0 or -ENOMEM after
 * an error message.
 */
int copy_queue_add(struct copy_queue *queue, const char *name, const char *path, uint64_t length,
		   uint32_t flags, const struct folder_id *folder);
/* Returns when all files are copied, or nothing more can be. */
void copy_queue_run(struct copy_queue *queue);
void copy_queue_destroy(struct copy_queue *queue);

/* copy_glob.c: names with *, ? and [ at the server. */
bool copy_glob_is(const char *path);

/**
 * enum copy_naming - how much of a name the user has given
 * @COPY_TYPED: all of it
 * @COPY_LAST_TYPED: its last component; the server chose the folder, so there may be several
 * @COPY_FOUND: a pattern, which its last component fits
 */
enum copy_naming { COPY_TYPED, COPY_LAST_TYPED, COPY_FOUND };

typedef void (*copy_glob_function)(struct copying *copying, const struct url *url, const char *name,
				   enum copy_naming naming, bool folder, void *context);
/*
 * Calls @each for each file and folder that the pattern fits, sorted.  Without any, the pattern is
 * the name of a file.  Returns 0, or a negative errno after an error message.
 */
int copy_glob(struct copying *copying, const struct url *url, const char *pattern,
	      copy_glob_function each, void *context);

/* copy_explain.c: print what failed, why, and what to do. */
void copy_explain(const struct copy *copy, const struct krdma_file_result *result, int err);

/* copy_json.c: also used by krdma serve. */
struct copy_figures {
	int error;
	uint32_t crc32c;
	uint64_t length;
	uint64_t transferred;
	uint64_t resumed_from;
	uint64_t nanoseconds;
};

struct json_object;

void copy_json(struct json_object *object, const struct copy_figures *figures);

#endif /* KRDMA_CLI_COPY_H */
