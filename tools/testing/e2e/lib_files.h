/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directories with files, and a file server of libkrdma that offers one of them.  Calls return 0
 * or a negative errno.
 */
#ifndef KRDMA_E2E_LIB_FILES_H
#define KRDMA_E2E_LIB_FILES_H

#include <pthread.h>
#include <stdbool.h>

#include <krdma_file.h>

#include "pair.h"

#define FILES_PATH	512
#define FILES_REPORTS	64

/* A report of the server, with a copy of the name. */
struct named_report {
	struct krdma_file_report is;
	char name[KRDMA_FILE_NAME_MAX + 1];
};

/**
 * struct files - a directory that is served, and one that is not
 * @session: session of server and clients
 * @top: parent directory of both
 * @there: the directory that is served, or that contains the file that is served
 * @here: the other directory
 * @server: the server, run by @thread; or NULL
 * @address: address of the server
 * @thread: thread that runs @server
 * @ended: result of krdma_file_server_run()
 * @lock: protects @reports and @report_count
 * @reports: reports of the server, in order
 * @report_count: number of entries in @reports
 */
struct files {
	struct krdma *session;
	char top[64];
	char there[80];
	char here[80];
	struct krdma_file_server *server;
	struct sockaddr_storage address;
	pthread_t thread;
	int ended;
	pthread_mutex_t lock;
	struct named_report reports[FILES_REPORTS];
	unsigned int report_count;
};

/*
 * open: open the session and create the directories.  close: stop the server if it runs, close the
 * session and remove the directories.
 */
int files_open(struct files *files);
void files_close(struct files *files);

/*
 * Start a server at @at.  @path is NULL for files->there.  @options is NULL for the defaults; its
 * report and its context are ignored.
 */
int files_serve(struct files *files, const char *at, const char *path,
		const struct krdma_file_server_options *options);
int files_stop(struct files *files);
/* The server, which listens at all addresses, is reached at this one. */
int files_at(struct files *files, const char *at);

/* Wait for a report, and take the oldest one that was not taken yet. */
int files_report(struct files *files, struct named_report *report);

/* Write the path of @name in @folder to @path, and return @path. */
const char *files_path(char path[FILES_PATH], const char *folder, const char *name);

/*
 * make: create a file of @length bytes with the pattern of @seed.  are: does the file have exactly
 * these bytes?
 */
int files_make(const char *folder, const char *name, size_t length, unsigned int seed);
bool files_are(const char *folder, const char *name, size_t length, unsigned int seed);
bool files_exist(const char *folder, const char *name);
int files_write(const char *folder, const char *name, uint64_t offset, const void *data,
		size_t length);
int files_mode(const char *folder, const char *name);

/*
 * Returns the number of parts in @folder that unfinished or interrupted copies have left.  The
 * name of the last one is stored in @name, if that is not NULL.
 */
int files_parts(const char *folder, char *name);

/* Copy a file from the server to files->here, or from there to the server. */
int files_get(struct files *files, const char *name, const char *as,
	      const struct krdma_file_options *options, struct krdma_file_result *result);
int files_put(struct files *files, const char *file, const char *name,
	      const struct krdma_file_options *options, struct krdma_file_result *result);

/**
 * struct files_limit - context of files_give_up(), which ends a copy
 * @at: number of bytes after which the copy ends
 * @seen: number of bytes at the last call
 */
struct files_limit {
	uint64_t at;
	uint64_t seen;
};

int files_give_up(void *context, const struct krdma_file_progress *progress);

#endif
