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
 * struct file_joining - a client and its further connections
 * @next: the next client
 * @peer: its address
 * @ticket: what each further connection must know
 * @further: number of further connections that were granted
 * @conns: connections that have come and were not taken, by number
 * @came: bitmap of those that have come
 * @closed: no more can come
 */
struct file_joining {
	struct file_joining *next;
	struct sockaddr_storage peer;
	unsigned char ticket[FILE_TOKEN];
	unsigned int further;
	struct krdma_conn *conns[FILE_STREAMS_MAX];
	uint32_t came;
	bool closed;
};

/**
 * struct krdma_file_server - a server
 * @maker: the process that owns it
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
 * @join_lock: protects @joinings
 * @joined: signalled when a connection has come
 * @joinings: the clients that are served
 */
struct krdma_file_server {
	pid_t maker;
	struct krdma *session;
	struct krdma_file_server_options options;
	struct file_root root;
	struct nets nets;
	struct secret *secret;
	struct krdma_listener *listener;
	int wake;
	atomic_bool stopping;
	struct file_worker *workers;
	unsigned int worker_count;
	pthread_mutex_t join_lock;
	pthread_cond_t joined;
	struct file_joining *joinings;
};

/* file_session.c: serves one client from its connection request to the end; owns @conn. */
void file_server_serve(struct krdma_file_server *server, struct krdma_conn *conn);

/*
 * file_join.c: the further connections of clients. The thread that accepts clients gives them to
 * that of their client.
 */
/* A client from @peer.  Call file_joining_exit() in the end. */
void file_joining_init(struct krdma_file_server *server, struct file_joining *joining,
		       const struct sockaddr_storage *peer);
void file_joining_exit(struct krdma_file_server *server, struct file_joining *joining);
/* Returns the number of connections that the client may have, of those that it asks for; >= 1. */
uint32_t file_joining_grant(struct krdma_file_server *server, struct file_joining *joining,
			    uint32_t asked);
/* No more connections can join.  Closes those that were not taken. */
void file_joining_close(struct krdma_file_server *server, struct file_joining *joining);
/* Waits for at most @ms milliseconds.  NULL: it has not come. */
struct krdma_conn *file_joining_take(struct krdma_file_server *server,
				     struct file_joining *joining, unsigned int number,
				     unsigned int ms);
/* The client owns @conn after 0; -EACCES: no client expects it. */
int file_joining_give(struct krdma_file_server *server, const struct sockaddr_storage *peer,
		      const struct file_hello *hello, struct krdma_conn *conn);

#endif /* KRDMA_FILE_SERVER_H */
