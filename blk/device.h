/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices: memory of another host, used as a block device.
 */
#ifndef _KRDMA_BLK_DEVICE_H
#define _KRDMA_BLK_DEVICE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/configfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "../krdma/compat/blk.h"

#include <krdma/krdma.h>

#include "address.h"
#include "auth.h"
#include "wire.h"

/* Pieces of memory that a request can have: what rxe takes in one, and some others. */
#define KRDMA_BLK_SEGMENTS	32

/* Requests that a queue can have under way. */
#define KRDMA_BLK_DEPTH		64

/**
 * enum krdma_blk_state - how a device is
 * @KRDMA_BLK_DETACHED: there is none
 * @KRDMA_BLK_LIVE: all of its connections stand
 * @KRDMA_BLK_HOLDING: they do not; requests wait while they are made anew
 * @KRDMA_BLK_FAILING: the same, but the wait has been too long: requests fail
 * @KRDMA_BLK_DEAD: the memory that was attached is no more: requests fail for ever
 */
enum krdma_blk_state {
	KRDMA_BLK_DETACHED,
	KRDMA_BLK_LIVE,
	KRDMA_BLK_HOLDING,
	KRDMA_BLK_FAILING,
	KRDMA_BLK_DEAD,
};

/* Where a chunk of the device is, in the peer's memory. */
struct krdma_blk_chunk {
	u64 addr;
	u32 key;
};

/**
 * struct krdma_blk_queue - one of a device's queues, with a connection of its own
 * @device: the device
 * @index: which
 * @lock: protects what follows, but who works with a connection that is not open for
 *	requests needs no lock for it.  Any context.
 * @conn: the connection, or NULL; one that was found here stays until rcu_read_unlock()
 * @open: requests may be posted
 * @held: &struct krdma_blk_request: those that wait
 * @chunks: where the memory is; does not change while @open
 * @chunk_shift: of the size of one
 * @read_end: the table has been read, or could not be
 * @read_status: how that ended
 */
struct krdma_blk_queue {
	struct krdma_blk_device *device;
	unsigned int index;
	spinlock_t lock;		/* see above */
	struct krdma_conn *conn;
	bool open;
	struct list_head held;
	struct krdma_blk_chunk *chunks;
	unsigned int chunk_shift;
	struct completion read_end;
	u8 read_status;
};

/**
 * struct krdma_blk_request - what krdma_blk keeps of a request
 * @node: in its queue's list of those that wait
 * @posted: the device has it; protected by its queue's lock
 * @failures: how often it, and no other one, has broken a connection
 * @result: what the block layer will be told
 * @entries: of @sg
 * @sges: the same, for krdma
 * @sg: its pages
 */
struct krdma_blk_request {
	struct list_head node;
	bool posted;
	u8 failures;
	blk_status_t result;
	unsigned int entries;
	struct krdma_sge sges[KRDMA_BLK_SEGMENTS];
	struct scatterlist sg[KRDMA_BLK_SEGMENTS];
};

/**
 * struct krdma_blk_device - a device
 * @item: in configfs; the disk has a reference too
 * @lock: protects the settings, and lets one attach or detach it at a time.  A mutex,
 *	outside all other locks here.
 * @remotes: where the server is; one is as good as another
 * @name: of the export
 * @secret: for it
 * @read_only: only read, beside a client that writes
 * @queue_count: how many queues
 * @hold_seconds: how long requests wait for connections
 * @force: it may be detached while it is open
 * @error: why it could not be attached, in words; or "".  Protected by @state_lock.
 * @attached: there is a disk
 * @session: of the connections
 * @client: a random number for this time of being attached
 * @welcomed: the server has accepted a connection since, and knows that number
 * @left: the server has ended a connection
 * @geometry: what is attached
 * @set: tags
 * @disk: the disk
 * @queues: as many as @queue_count
 * @remote: which of @remotes is used
 * @state_lock: protects what follows.  Any context; inside the queues' locks.
 * @state: how it is
 * @stop: connections are not made any more
 * @attempts: that have failed since there was a connection
 * @reconnects: how often connections were lost and made anew
 * @reconnect: makes them
 * @expire: ends the waiting
 */
struct krdma_blk_device {
	struct config_item item;
	struct mutex lock;		/* see above */
	struct krdma_blk_addresses remotes;
	char name[KRDMA_BLK_NAME_MAX + 1];
	struct krdma_blk_secret secret;
	bool read_only;
	unsigned int queue_count;
	unsigned int hold_seconds;
	bool force;
	char error[96];
	bool attached;

	struct krdma_session *session;
	u64 client;
	bool welcomed;
	struct completion left;
	struct krdma_blk_geometry geometry;
	struct blk_mq_tag_set set;
	struct gendisk *disk;
	struct krdma_blk_queue *queues;
	unsigned int remote;

	spinlock_t state_lock;		/* see above */
	enum krdma_blk_state state;
	bool stop;
	unsigned int attempts;
	atomic64_t reconnects;
	struct delayed_work reconnect;
	struct delayed_work expire;
};

/* path.c: its connections */
void krdma_blk_path_init(struct krdma_blk_device *device);
void krdma_blk_path_say(struct krdma_blk_device *device, const char *text);
int krdma_blk_path_open(struct krdma_blk_device *device);
void krdma_blk_path_start(struct krdma_blk_device *device);
void krdma_blk_path_lost(struct krdma_blk_device *device);
void krdma_blk_path_close(struct krdma_blk_device *device);
enum krdma_blk_state krdma_blk_path_state(struct krdma_blk_device *device);
bool krdma_blk_path_gives_up(struct krdma_blk_device *device);
void krdma_blk_path_give_up(struct krdma_blk_device *device);

/* request.c: its requests */
extern const struct blk_mq_ops krdma_blk_mq_ops;
void krdma_blk_request_done(const struct krdma_completion *completion);
void krdma_blk_queue_push(struct krdma_blk_queue *queue);
void krdma_blk_queue_fail(struct krdma_blk_queue *queue);

/* disk.c: the disk */
int krdma_blk_disk_add(struct krdma_blk_device *device);
int krdma_blk_disk_shut(struct krdma_blk_device *device, bool force);
void krdma_blk_disk_remove(struct krdma_blk_device *device);

/* device.c */
const char *krdma_blk_state_name(enum krdma_blk_state state);

#endif /* _KRDMA_BLK_DEVICE_H */
