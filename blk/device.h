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
#include <linux/time64.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../krdma/compat/blk.h"

#include <krdma/krdma.h>

#include "address.h"
#include "auth.h"
#include "wire.h"

/* Pieces of memory that a request can have: what rxe takes in one, and some others. */
#define KRDMA_BLK_SEGMENTS	32

/* When the first address is asked again, for the first time. */
#define KRDMA_BLK_FAILBACK_MIN_MS	(10 * MSEC_PER_SEC)

/* The cookie of the message that the client leaves; all others are pointers, or 0. */
#define KRDMA_BLK_GOODBYE	1

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

/**
 * enum krdma_blk_fence - can a write of before still arrive?  See fence.c
 * @KRDMA_BLK_FENCE_DOWN: queues are open, or connections of theirs are
 * @KRDMA_BLK_FENCE_RISING: all are closed here, and the server has some time left
 * @KRDMA_BLK_FENCE_UP: they are closed at the server, too
 */
enum krdma_blk_fence {
	KRDMA_BLK_FENCE_DOWN,
	KRDMA_BLK_FENCE_RISING,
	KRDMA_BLK_FENCE_UP,
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
 * @epoch: which opening of the queue is the last one, from 1
 * @held: &struct krdma_blk_request: those that wait
 * @failed: likewise: those whose error the block layer is told behind the fence
 * @chunks: where the memory is; does not change while @open
 * @chunk_room: how many @chunks has room for
 * @chunk_shift: of the size of one
 * @read_sg: where the table is read to
 * @read_end: the table has been read, or could not be
 * @read_status: how that ended
 */
struct krdma_blk_queue {
	struct krdma_blk_device *device;
	unsigned int index;
	spinlock_t lock;		/* see above */
	struct krdma_conn *conn;
	bool open;
	u32 epoch;
	struct list_head held;
	struct list_head failed;
	struct krdma_blk_chunk *chunks;
	u32 chunk_room;
	unsigned int chunk_shift;
	struct scatterlist read_sg;
	struct completion read_end;
	u8 read_status;
};

/**
 * struct krdma_blk_request - what krdma_blk keeps of a request
 * @node: in one of its queue's lists
 * @posted: the device has it; protected by its queue's lock
 * @troubled: @since is set
 * @failures: how often the server, or this end's device, has refused it for its own sake
 * @epoch: that in which it was last posted, if it writes; 0: in none
 * @since: in jiffies: when it could first not be done
 * @result: what the block layer will be told
 * @entries: of @sg
 * @sges: the same, for krdma
 * @sg: its pages
 */
struct krdma_blk_request {
	struct list_head node;
	bool posted;
	bool troubled;
	u8 failures;
	u32 epoch;
	unsigned long since;
	blk_status_t result;
	unsigned int entries;
	struct krdma_sge sges[KRDMA_BLK_SEGMENTS];
	struct scatterlist sg[KRDMA_BLK_SEGMENTS];
};

/**
 * struct krdma_blk_device - a device
 * @item: in configfs; the disk has a reference too
 * @lock: lets one attach or detach it at a time, or change its settings.  A mutex,
 *	outside all other locks here, and held as long as attaching takes: the settings and
 *	@disk change with @state_lock, too, and those who show them take that alone.
 * @remotes: where the server is; the first one is used if it answers
 * @name: of the export
 * @secret: for it
 * @read_only: only read, beside a client that writes
 * @queue_count: how many queues
 * @hold_seconds: how long requests wait for connections; protected by @state_lock
 * @force: it may be detached while it is open
 * @error: why it could not be attached, in words; or "".  Protected by @state_lock.
 * @attached: there is a disk
 * @session: of the connections
 * @client: a random number for this time of being attached
 * @welcomed: the server has accepted a connection since, and knows that number
 * @left: the server has ended a connection
 * @geometry: what is attached; its size can grow
 * @set: tags
 * @disk: the disk
 * @queues: as many as @queue_count
 * @table: where tables of keys are read to, one at a time; kept as long as @queues
 * @remote: which of @remotes is used
 * @failback_ms: how long until the first of @remotes is asked again; for @failback, and
 *	for who attaches
 * @failback: goes back to the first of @remotes
 * @probe_wait: for changes of @probe_events
 * @probe_events: something happened to a probe, or it shall end
 * @state_lock: protects what follows.  Any context; inside the queues' locks.
 * @state: how it is
 * @stop: connections are not made any more
 * @broken: a loss was noticed since the queues were last opened
 * @lost_at: in jiffies: when the device was last live
 * @fence: can what was posted still arrive?
 * @fence_at: in jiffies: when it cannot, if @fence is KRDMA_BLK_FENCE_RISING
 * @epoch: how often queues were opened
 * @attempts: that have failed since there was a connection
 * @reconnects: how often connections were lost and made anew
 * @reconnect: makes them
 * @expire: the timer of the limit and of the fence
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
	struct krdma_blk_entry *table;
	unsigned int remote;
	unsigned int failback_ms;
	struct delayed_work failback;
	wait_queue_head_t probe_wait;
	atomic_t probe_events;

	spinlock_t state_lock;		/* see above */
	enum krdma_blk_state state;
	bool stop;
	bool broken;
	unsigned long lost_at;
	enum krdma_blk_fence fence;
	unsigned long fence_at;
	u32 epoch;
	unsigned int attempts;
	atomic64_t reconnects;
	struct delayed_work reconnect;
	struct delayed_work expire;
};

/* path.c: its connections */
void krdma_blk_path_init(struct krdma_blk_device *device);
void krdma_blk_path_say(struct krdma_blk_device *device, const char *text);
void krdma_blk_path_explain(struct krdma_blk_device *device, const char *refused, int error);
int krdma_blk_path_open(struct krdma_blk_device *device);
void krdma_blk_path_start(struct krdma_blk_device *device);
void krdma_blk_table_read_done(struct krdma_blk_queue *queue,
			       const struct krdma_wc *completion);
void krdma_blk_path_close(struct krdma_blk_device *device);
void krdma_blk_path_give_up(struct krdma_blk_device *device);

/* probe.c: which address answers */
void krdma_blk_probe_init(struct krdma_blk_device *device);
void krdma_blk_probe_wake(struct krdma_blk_device *device);
int krdma_blk_probe(struct krdma_blk_device *device, unsigned int count);
void krdma_blk_failback_start(struct krdma_blk_device *device);

/* fence.c: when they fail */
void krdma_blk_fence_init(struct krdma_blk_device *device);
void krdma_blk_fence_raise(struct krdma_blk_device *device);
void krdma_blk_fence_up(struct krdma_blk_device *device);
bool krdma_blk_fence_is_up(struct krdma_blk_device *device);
bool krdma_blk_fence_lower(struct krdma_blk_device *device);
void krdma_blk_path_live(struct krdma_blk_device *device);
void krdma_blk_path_lost(struct krdma_blk_device *device);
bool krdma_blk_path_stop(struct krdma_blk_device *device);
void krdma_blk_path_kill(struct krdma_blk_device *device);
void krdma_blk_path_set_hold(struct krdma_blk_device *device, unsigned int seconds);
enum krdma_blk_state krdma_blk_path_state(struct krdma_blk_device *device);
bool krdma_blk_path_gives_up(struct krdma_blk_device *device);

/* request.c: its requests */
extern const struct blk_mq_ops krdma_blk_mq_ops;
void krdma_blk_request_done(const struct krdma_wc *completion);
void krdma_blk_queue_push(struct krdma_blk_queue *queue);
void krdma_blk_queue_fail(struct krdma_blk_queue *queue);

/* disk.c: the disk */
int krdma_blk_disk_add(struct krdma_blk_device *device);
void krdma_blk_disk_resize(struct krdma_blk_device *device, u64 size);
int krdma_blk_disk_shut(struct krdma_blk_device *device, bool force);
void krdma_blk_disk_remove(struct krdma_blk_device *device);

/* device.c */
const char *krdma_blk_state_name(enum krdma_blk_state state);

#endif /* _KRDMA_BLK_DEVICE_H */
