/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, whole files: a server.
 */
#ifndef KRDMA_FILE_SERVER_H
#define KRDMA_FILE_SERVER_H

#include "file_internal.h"

#include <pthread.h>
#include <stdatomic.h>

struct file_worker;

/**
 * struct krdma_file_server - a server
 * @session: in which
 * @options: as they are to be, without zeroes that stand for something else
 * @root: what it offers
 * @nets: where clients may be
 * @secret: what they must know, or NULL
 * @listener: where clients come
 * @wake: an eventfd: there is something to do besides new clients
 * @stopping: it is ending
 * @lock: for @ended
 * @workers: threads that were started and not joined; whoever runs the server has it
 * @worker_count: how many; likewise
 */
struct krdma_file_server {
	struct krdma *session;
	struct krdma_file_server_options options;
	struct file_root root;
	struct file_nets nets;
	struct file_secret *secret;
	struct krdma_listener *listener;
	int wake;
	atomic_bool stopping;
	struct file_worker *workers;
	unsigned int worker_count;
};

/* file_session.c: from the request to the end; @conn is its own. */
void file_server_serve(struct krdma_file_server *server, struct krdma_conn *conn);

#endif /* KRDMA_FILE_SERVER_H */
