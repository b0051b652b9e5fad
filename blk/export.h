/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports: memory of this host that others use as a block device.
 */
#ifndef _KRDMA_BLK_EXPORT_H
#define _KRDMA_BLK_EXPORT_H

#include <linux/atomic.h>
#include <linux/configfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "address.h"
#include "auth.h"
#include "memory.h"
#include "wire.h"

struct krdma_listener;

/**
 * enum krdma_blk_role - what a client may do
 * @KRDMA_BLK_READS: read
 * @KRDMA_BLK_WRITES: read and write
 */
enum krdma_blk_role {
	KRDMA_BLK_READS,
	KRDMA_BLK_WRITES,
};

#define KRDMA_BLK_ROLES		2

#define KRDMA_BLK_PATH_MAX	256

/**
 * struct krdma_blk_export - an export
 * @item: in configfs; counts who has it
 * @lock: protects the settings, and lets one enable or disable it at a time.  A mutex,
 *	outside all others here.
 * @size: in bytes
 * @block_size: in bytes
 * @read_only: clients only read
 * @exclusive: one client at a time
 * @shared: any number of clients may write at a time
 * @force: it may be disabled though it has clients
 * @secret: what a client must know
 * @file: where the data are kept while the export is disabled; "": nowhere
 * @allow: where clients may be; if there are none, @secret alone decides
 * @enabled: it is to be had; with it, the settings do not change but for @force
 * @name: padded with zeroes; set once
 * @generation: a random number for this time of being enabled
 * @sessions: for each &enum krdma_blk_role: whose peers reach the memory.  A key of the
 *	writers' session means nothing in that of the readers.
 * @memory: the memory
 * @node: in the list of those that are enabled; protected by the list's lock, as @users
 * @users: who has found it in the list and works on a request for it
 * @windows_lock: protects @windows.  A mutex, taken alone: registering takes its time.
 * @windows: for each role: &struct krdma_blk_window
 * @clients_lock: protects what follows.  A mutex, inside @lock.
 * @closing: no client is let in any more
 * @clients: &struct krdma_blk_client: those that may return
 * @client_count: how many
 * @conns: &struct krdma_blk_export_conn, the newest first
 * @conn_count: how many
 * @idle: woken when a connection has gone
 * @accepted: connections so far
 * @refused_address: connections that were refused, because of their address
 * @refused_secret: because of their secret
 * @refused_busy: because another client has it
 * @refused_fenced: because the client must not return
 * @refused_other: for other reasons
 */
struct krdma_blk_export {
	struct config_item item;
	struct mutex lock;		/* see above */
	u64 size;
	u32 block_size;
	bool read_only;
	bool exclusive;
	bool shared;
	bool force;
	struct krdma_blk_secret secret;
	char file[KRDMA_BLK_PATH_MAX];
	struct krdma_blk_nets allow;
	bool enabled;

	char name[KRDMA_BLK_NAME_MAX];
	u64 generation;
	struct krdma_session *sessions[KRDMA_BLK_ROLES];
	struct krdma_blk_memory memory;

	struct list_head node;
	unsigned int users;

	struct mutex windows_lock;	/* see above */
	struct list_head windows[KRDMA_BLK_ROLES];

	struct mutex clients_lock;	/* see above */
	bool closing;
	struct list_head clients;
	unsigned int client_count;
	struct list_head conns;
	unsigned int conn_count;
	wait_queue_head_t idle;
	atomic64_t accepted;
	atomic64_t refused_address;
	atomic64_t refused_secret;
	atomic64_t refused_busy;
	atomic64_t refused_fenced;
	atomic64_t refused_other;
};

/* serve.c: its clients' connections */
void krdma_blk_serve_init(struct krdma_blk_export *export);
int krdma_blk_serve_begin(struct krdma_blk_export *export);
int krdma_blk_serve_end(struct krdma_blk_export *export, bool force);
int krdma_blk_serve_requested(struct krdma_listener *listener);
void krdma_blk_serve_wait(void);

/**
 * struct krdma_blk_client - an attachment of a host's, with all of its connections
 * @node: in its export's list; empty: it has been forgotten, and must not return
 * @refs: its connections, the list, and who waits for its end
 * @id: the number that it has given itself
 * @role: what it may do
 * @conn_count: its connections, also those at their end
 * @from: the address of the last one
 * @seen: when the last one began or ended, in jiffies
 *
 * Protected by the export's clients_lock.
 */
struct krdma_blk_client {
	struct list_head node;
	unsigned int refs;
	u64 id;
	enum krdma_blk_role role;
	unsigned int conn_count;
	struct sockaddr_storage from;
	unsigned long seen;
};

/* client.c: who they are, and who may be one */
int krdma_blk_client_admit(struct krdma_blk_export *export, const struct krdma_blk_hello *hello,
			   const struct sockaddr_storage *from, struct krdma_blk_client **client);
void krdma_blk_client_put(struct krdma_blk_client *client);
void krdma_blk_client_forget(struct krdma_blk_export *export, struct krdma_blk_client *client);
struct krdma_blk_client *krdma_blk_client_find(struct krdma_blk_export *export, u64 id);
ssize_t krdma_blk_clients_show(struct krdma_blk_export *export, char *page);
int krdma_blk_clients_evict(struct krdma_blk_export *export, u64 id);
void krdma_blk_client_disconnect(struct krdma_blk_export *export,
				 const struct krdma_blk_client *client);

/* listen.c: where they ask */
int krdma_blk_listen_begin(void);
void krdma_blk_listen_end(void);
void krdma_blk_listen_kick(void);

#endif /* _KRDMA_BLK_EXPORT_H */
