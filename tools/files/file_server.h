/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma, file transfer: the server. */
#ifndef KRDMA_FILE_SERVER_H
#define KRDMA_FILE_SERVER_H

#include "file_internal.h"
#include "nets.h"

#include <pthread.h>
#include <stdatomic.h>

struct file_worker;

/**
 * struct krdma_file_server - a server
 * @session: the session
 * @options: options with the defaults filled in
 * @root: the offered folder or file
 * @nets: addresses from which clients are allowed
 * @secret: the secret that clients must know, or NULL
 * @listener: the listener for clients
 * @wake: eventfd that wakes the running thread for work other than new clients
 * @stopping: the server is shutting down
 * @workers: threads started and not yet joined; used only by the running thread
 * @worker_count: number of @workers; used only by the running thread
 */
struct krdma_file_server {
	struct krdma *session;
	struct krdma_file_server_options options;
	struct file_root root;
	struct nets nets;
	struct file_secret *secret;
	struct krdma_listener *listener;
	int wake;
	atomic_bool stopping;
	struct file_worker *workers;
	unsigned int worker_count;
};

/* file_session.c: serves one client from its connection request to the end; owns @conn. */
void file_server_serve(struct krdma_file_server *server, struct krdma_conn *conn);

#endif /* KRDMA_FILE_SERVER_H */
