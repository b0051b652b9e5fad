/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Devices: memory or a store of another host, used as a block device.
 */
#ifndef _KRDMA_BLK_DEVICE_H
#define _KRDMA_BLK_DEVICE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/configfs.h>
#include <linux/dma-direction.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
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

struct config_item_type;

/* SGEs that a request can have: as many as rxe and some other devices accept in a work request. */
#define KRDMA_BLK_SEGMENTS	32

/* Time until the first address is probed again for the first time. */
#define KRDMA_BLK_FAILBACK_MIN_MS	(10 * MSEC_PER_SEC)

/**
 * enum krdma_blk_wr_id - wr_ids of messages, in KRDMA_BLK_WR_KIND; all others are pointers, or 0
 * @KRDMA_BLK_WR_LEAVE: the message by which the client leaves
 * @KRDMA_BLK_WR_COMMAND: a command without data from here; from KRDMA_BLK_WR_TAG_SHIFT on, the
 *	wr_id has the tag of its request
 * @KRDMA_BLK_WR_REPLY: a receive, for a reply
 * @KRDMA_BLK_WR_DATA: data that are written to a slot, before a command; the end of that reports
 *	both
 */
enum krdma_blk_wr_id {
	KRDMA_BLK_WR_LEAVE = 1,
	KRDMA_BLK_WR_COMMAND = 2,
	KRDMA_BLK_WR_REPLY = 3,
	KRDMA_BLK_WR_DATA = 4,
};

#define KRDMA_BLK_WR_KIND	7
#define KRDMA_BLK_WR_TAG_SHIFT	3

/* Requests that can be in flight on a queue. */
#define KRDMA_BLK_DEPTH		64

static_assert(KRDMA_BLK_DEPTH <= KRDMA_BLK_COMMANDS_MAX);

/* All wr_ids that are no pointers are less than this, and no pointer is. */
#define KRDMA_BLK_WR_END	(KRDMA_BLK_DEPTH << KRDMA_BLK_WR_TAG_SHIFT)

static_assert(KRDMA_BLK_WR_END <= PAGE_SIZE);

/* A request that was refused this often, for an error of its own, would be refused again. */
#define KRDMA_BLK_FAILURES_MAX	3

/* After this number of keys that were refused, or posts that were, the next one may be, too. */
#define KRDMA_BLK_DENIALS_FAST	3

/* Requests that are posted at a time. */
#define KRDMA_BLK_BATCH		16

/**
 * enum krdma_blk_state - state of a device
 * @KRDMA_BLK_DETACHED: not attached
 * @KRDMA_BLK_LIVE: all connections are established
 * @KRDMA_BLK_HOLDING: they are not; requests are held while the connections are made again
 * @KRDMA_BLK_FAILING: as KRDMA_BLK_HOLDING, but for too long: requests fail
 * @KRDMA_BLK_DEAD: the memory that was attached does not exist any more: requests fail
 *	permanently
 */
enum krdma_blk_state {
	KRDMA_BLK_DETACHED,
	KRDMA_BLK_LIVE,
	KRDMA_BLK_HOLDING,
	KRDMA_BLK_FAILING,
	KRDMA_BLK_DEAD,
};

/**
 * enum krdma_blk_fence - can an earlier write still arrive?  See fence.c
 * @KRDMA_BLK_FENCE_DOWN: queues are open, or their connections are
 * @KRDMA_BLK_FENCE_RISING: all are closed on this side, and the server may still have its ends
 * @KRDMA_BLK_FENCE_UP: they are closed at the server, too
 */
enum krdma_blk_fence {
	KRDMA_BLK_FENCE_DOWN,
	KRDMA_BLK_FENCE_RISING,
	KRDMA_BLK_FENCE_UP,
};

/* Location of a chunk in the peer's memory: remote address and rkey. */
struct krdma_blk_chunk {
	u64 addr;
	u32 key;
};

/**
 * struct krdma_blk_queue - a queue of a device, with its own connection
 * @device: the device
 * @index: index of the queue
 * @lock: protects the members below, except that the context that sets up a connection which is
 *	not open for requests needs no lock for it, and that @open and @conn are also read without
 *	it.  Any context.
 * @conn: the connection, or NULL; a connection that was read here is valid until
 *	rcu_read_unlock()
 * @open: requests may be posted
 * @epoch: number of the last opening of the queue, from 1
 * @batch: list of &struct krdma_blk_request that are mapped, and posted together with the last
 *	one that the block layer has at hand
 * @batch_length: number of entries of @batch
 * @batch_max: number of entries that are posted at a time; does not change while @open
 * @fits: the SQ has space for all requests to a store; does not change while @open
 * @data_status: why the device, or the server's, has refused data of a write, &enum
 *	krdma_wc_status, while the end of the write's command is still to come; for the context of
 *	completions
 * @wrs: work requests of @batch, while they are posted
 * @unreported: the last request that was posted, if it was to be reported by one that was refused
 *	then; or NULL.  The next one reports it.
 * @held: list of &struct krdma_blk_request that wait
 * @denied: list of &struct krdma_blk_request that wait until the connections are made again: see
 *	krdma_blk_request_not_taken(); empty unless @open
 * @failed: list of &struct krdma_blk_request that have failed, and wait for the fence
 * @commands: list of &struct krdma_blk_request that are posted as commands, without a reply
 * @chunks: locations of the chunks, of the export or of the slots; do not change while @open
 * @chunk_max: number of entries allocated for @chunks
 * @chunk_shift: log2 of the size of a chunk
 * @read_sg: buffer into which the table is read
 * @read_end: completed when a read of the table has ended
 * @read_status: status of that read
 * @poll_lock: of a queue whose requests are polled for: protects @cq, and is held while
 *	completions are taken and handled.  Process context, outside all other locks here.
 * @complete: handles a completion
 * @cq: the connection's CQ, or NULL; also read without @poll_lock, to see whether there is one,
 *	and by the context that sets up the connection
 */
struct krdma_blk_queue {
	struct krdma_blk_device *device;
	unsigned int index;
	spinlock_t lock;		/* see above */
	struct krdma_conn *conn;
	bool open;
	u32 epoch;
	struct list_head batch;
	unsigned int batch_length;
	unsigned int batch_max;
	bool fits;
	u8 data_status;
	struct krdma_send_wr wrs[KRDMA_BLK_BATCH];
	struct krdma_blk_request *unreported;
	struct list_head held;
	struct list_head denied;
	struct list_head failed;
	struct list_head commands;
	struct krdma_blk_chunk *chunks;
	u32 chunk_max;
	unsigned int chunk_shift;
	struct scatterlist read_sg;
	struct completion read_end;
	u8 read_status;
	spinlock_t poll_lock;		/* see above */
	void (*complete)(const struct krdma_wc *wc);
	struct krdma_cq *cq;
};

/**
 * struct krdma_blk_request - driver data of a request
 * @node: entry of one of the lists of its queue
 * @posted: the device has the request, or the server has it as a command; protected by its queue's
 *	lock
 * @troubled: @since is set
 * @unmapped: @unmapped_at is set
 * @failures: how often the server, or this side's device, has refused it for an error of its own
 * @denials: how often the server has refused its key, or this side's device has refused to take it,
 *	or could not send it, up to KRDMA_BLK_DENIALS_FAST
 * @epoch: the epoch in which it was last posted, if it writes; 0: none
 * @last_epoch: @epoch before it was taken out of the batch
 * @unmapped_at: low 32 bits of the time in jiffies when its pages could first not be mapped, since
 *	they were last mapped, or it was held for want of a connection
 * @since: time in jiffies when it could first not be completed
 * @result: status for the block layer
 * @before: the request posted before it, whose success its completion reports, or NULL; written
 *	with the queue's lock held
 * @after: the request that reports its success, or NULL; protected by the queue's lock
 * @entries: number of entries of @sg
 * @replied: the server has executed the command, and its data are still being sent, or read
 * @mapped: number of entries of @sges; of a command, 0 when it has no pages that are mapped, and
 *	protected by the queue's lock
 * @sges: SGEs of the work request
 * @sg: pages of the request
 */
struct krdma_blk_request {
	struct list_head node;
	bool posted;
	bool troubled;
	bool unmapped;
	u8 failures;
	u8 denials;
	u32 epoch;
	u32 last_epoch;
	u32 unmapped_at;
	unsigned long since;
	blk_status_t result;
	struct krdma_blk_request *before;
	struct krdma_blk_request *after;
	unsigned int entries;
	bool replied;
	int mapped;
	struct krdma_sge sges[KRDMA_BLK_SEGMENTS];
	struct scatterlist sg[KRDMA_BLK_SEGMENTS];
};

/**
 * struct krdma_blk_device - a device
 * @item: configfs item; the disk has a reference too
 * @lock: serializes attaching, detaching and changes of the settings.  A mutex, outside all other
 *	locks here, held for the whole time of attaching.  So the settings and @disk change with
 *	@state_lock held, too, and code that shows them takes only that.
 * @remotes: addresses of the server; the first one is used if it answers
 * @name: name of the export
 * @secret: secret of the export
 * @read_only: only read, also while another client writes
 * @queue_count: number of queues whose completions interrupt
 * @poll_count: number of queues for requests that their submitters poll for
 * @hold_seconds: how long requests wait for connections; protected by @state_lock
 * @force: it may be detached while it is open; reset when it is attached
 * @error: why it could not be attached, as text; or "".  Protected by @state_lock.
 * @attached: there is a disk, and the settings do not change; also read without @lock
 * @session: session of the connections
 * @client: a random number for this attachment
 * @welcomed: the server has accepted a connection of this attachment, and knows @client
 * @agreed: all connections were made once: @geometry and @plain are settled, and requests may have
 *	been posted.  Earlier than @attached: the disk is used while it is being added.
 * @plain: the server does not know commands
 * @full: the server has refused a connection because there are too many; for the context that
 *	attaches
 * @left: completed when the server has ended a connection
 * @geometry: geometry of the attached export; its size can grow
 * @path_mtu: bytes in a packet of the first connection that was made; 0: not known
 * @set: tag set
 * @disk: the disk
 * @conn_count: number of @queues: @queue_count and then @poll_count
 * @queues: the queues
 * @table: buffer into which tables of rkeys are read, one part at a time; kept as long as @queues
 * @remote: index of the address of @remotes that is used
 * @failback_ms: time until the first of @remotes is probed again; for @failback, and for the
 *	context that attaches
 * @failback: returns to the first of @remotes
 * @probe_wait: woken when @probe_events changes
 * @probe_events: counts events of probes, and requests to stop them
 * @state_lock: protects the members below.  Any context; inside the queues' locks.
 * @state: state of the device
 * @stop: connections are not made any more
 * @broken: a loss was noticed since the queues were last opened
 * @live_at: time in jiffies when the device became live
 * @brief: how often in succession the connections were lost soon after that; as @paused and
 *	@attempts also for the context that makes them again, because none is lost meanwhile
 * @paused: the pause because of @brief has begun, if there is one
 * @ends: the connections are taken down at @ends_at: see krdma_blk_path_lost_soon()
 * @ends_at: time in jiffies
 * @moves: the connections were taken down to make them by another address, which answers
 * @lost_at: time in jiffies when the device was last live
 * @fence: can a write that was posted still arrive?
 * @fence_at: time in jiffies when it cannot, if @fence is KRDMA_BLK_FENCE_RISING
 * @epoch: number of openings of the queues
 * @attempts: attempts that have failed since the connections were lost
 * @reconnects: how often connections were lost and made again
 * @reconnect: makes the connections again
 * @expire: timer of the hold limit and of the fence
 * @grown: tells users that the disk has grown
 */
struct krdma_blk_device {
	struct config_item item;
	struct mutex lock;		/* see above */
	struct krdma_blk_addresses remotes;
	char name[KRDMA_BLK_NAME_MAX + 1];
	struct krdma_blk_secret secret;
	bool read_only;
	unsigned int queue_count;
	unsigned int poll_count;
	unsigned int hold_seconds;
	bool force;
	char error[96];
	bool attached;

	struct krdma_session *session;
	u64 client;
	bool welcomed;
	bool agreed;
	bool plain;
	bool full;
	struct completion left;
	struct krdma_blk_geometry geometry;
	u32 path_mtu;
	struct blk_mq_tag_set set;
	struct gendisk *disk;
	unsigned int conn_count;
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
	unsigned long live_at;
	unsigned int brief;
	bool paused;
	bool ends;
	unsigned long ends_at;
	bool moves;
	unsigned long lost_at;
	enum krdma_blk_fence fence;
	unsigned long fence_at;
	u32 epoch;
	unsigned int attempts;
	atomic64_t reconnects;
	struct delayed_work reconnect;
	struct delayed_work expire;
	struct work_struct grown;
};

/* Does the server execute the request, without data from here? */
static inline bool krdma_blk_is_command(const struct request *rq)
{
	return req_op(rq) == REQ_OP_WRITE_ZEROES || req_op(rq) == REQ_OP_DISCARD ||
	       req_op(rq) == REQ_OP_FLUSH;
}

/* Has the server the data in a store, so that they go through slots? */
static inline bool krdma_blk_is_stored(const struct krdma_blk_device *device)
{
	return device->geometry.slot_size;
}

static inline enum dma_data_direction krdma_blk_direction(struct request *rq)
{
	return rq_data_dir(rq) == WRITE ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

/*
 * Hands a request to the processor of its submitter, unless it is to be completed here: then it
 * returns false.  That processor may be switched off at any time, and what it gets after that is
 * lost; but it stays while this context is not preempted.
 */
static inline bool krdma_blk_request_hand_over(struct request *rq)
{
	bool handed;

	preempt_disable();
	handed = blk_mq_complete_request_remote(rq);
	preempt_enable();
	return handed;
}

/* Undo krdma_blk_request_map(); the device does not transfer the request. */
static inline void krdma_blk_request_unmap(struct krdma_conn *conn,
					   struct krdma_blk_request *request)
{
	krdma_conn_unmap_sg(conn, request->sg, request->entries,
			    krdma_blk_direction(blk_mq_rq_from_pdu(request)));
}

/*
 * Has the connection ended, so that another one may take the request?  A device that is being
 * reset may refuse work requests with any errno: drivers return -EIO or -EINVAL.
 */
static inline bool krdma_blk_is_lost(int error)
{
	return error == -ENOTCONN || error == -ENODEV || error == -EIO || error == -EINVAL;
}

/* Item types of configfs. */
extern const struct config_item_type krdma_blk_devices_type;

#endif /* _KRDMA_BLK_DEVICE_H */
