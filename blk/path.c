// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of a device: how they are made, lost, and made again.
 *
 * All connections are made and taken down together.  When one is lost, all are taken down, and
 * requests are held until all are established again.  So every connection that had a write in
 * flight has been replaced, and the server has ended it, before anything else is written.
 *
 * A new connection must lead to the same memory: the server chooses a random number, the
 * generation, when it allocates the memory.  If the generation has changed, what was written is
 * lost, and no request may ever succeed again.
 */
#include <linux/delay.h>
#include <linux/dma-direction.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/scatterlist.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "blk.h"
#include "device.h"
#include "disk.h"
#include "fence.h"
#include "hold.h"
#include "path.h"
#include "poll.h"
#include "probe.h"
#include "request.h"
#include "root.h"
#include "staged.h"
#include "state.h"
#include "table.h"

/* For address and route, and for the server's answer: it may have to register its memory. */
#define KRDMA_BLK_RESOLVE_MS	5000
#define KRDMA_BLK_ATTACH_MS	60000
#define KRDMA_BLK_CONNECT_MS	10000
#define KRDMA_BLK_LEAVE_TIMEOUT	(2 * HZ)

/* How long a server with too many connections is asked again, and how often. */
#define KRDMA_BLK_FULL_WAIT	(10 * HZ)
#define KRDMA_BLK_FULL_PAUSE_MS	200

/* How long it takes to notice that a server is gone, also without requests. */
#define KRDMA_BLK_KEEPALIVE_MS	5000

/*
 * After this number of brief connections in succession there is a pause before the next ones, of up
 * to this time.
 */
#define KRDMA_BLK_BRIEF_FAST	3
#define KRDMA_BLK_BRIEF_MS	1000

/*
 * One connection
 */

/* Called under the connection's lock, not from a work item, which would need a thread. */
static void krdma_blk_conn_notify(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct krdma_blk_queue *queue = krdma_conn_context(conn);

	switch (event->type) {
	case KRDMA_EVENT_DISCONNECTED:
	case KRDMA_EVENT_LOST:
	case KRDMA_EVENT_DEVICE_REMOVAL:
		complete(&queue->device->left);
		krdma_blk_path_lost(queue->device);
		break;
	default:
		break;
	}
}

static void krdma_blk_conn_space(struct krdma_conn *conn)
{
	krdma_blk_queue_push(krdma_conn_context(conn));
}

static const struct krdma_conn_ops krdma_blk_conn_ops = {
	.notify = krdma_blk_conn_notify,
	.complete = krdma_blk_request_done,
	.space = krdma_blk_conn_space,
};

/* Posts the receives for replies: as many as commands can be in flight. */
static int krdma_blk_conn_post_recv(struct krdma_conn *conn)
{
	static const struct krdma_recv_wr reply = { .wr_id = KRDMA_BLK_WR_REPLY };
	int ret = 1;

	for (unsigned int i = 0; i < KRDMA_BLK_DEPTH && ret == 1; i++)
		ret = krdma_conn_post_recv(conn, &reply, 1);
	return ret == 1 ? 0 : ret;
}

/*
 * Creates a QP, and its CQ, for all requests that can be in flight, each in as many parts as it is
 * split into, and with a command.  Up to half of the SQ can be work requests that have been
 * executed, and are not signaled.
 */
static noinline_for_stack int krdma_blk_conn_prepare(struct krdma_blk_queue *queue)
{
	struct krdma_conn_attr attr = {
		.recv_depth = 1, .keepalive_ms = KRDMA_BLK_KEEPALIVE_MS,
	};
	bool plain = queue->device->plain;
	struct krdma_device_attr dev;
	u32 sge, parts;
	int ret;

	ret = krdma_device_query_attr(krdma_conn_device(queue->conn), &dev);
	if (ret)
		return ret;
	/* On other transports, a write that has completed need not have arrived. */
	if (dev.transport != KRDMA_TRANSPORT_IB)
		return -EOPNOTSUPP;

	sge = min3(dev.limits.max_send_sge, dev.limits.max_read_sge, (u32)KRDMA_BLK_SEGMENTS);
	parts = DIV_ROUND_UP(KRDMA_BLK_SEGMENTS, max(sge, 1U));
	attr.max_send_sge = sge;
	attr.send_depth = min(KRDMA_BLK_DEPTH * (plain ? parts : 2 * (parts + 1)),
			      dev.limits.max_send_wr);
	queue->fits = attr.send_depth == KRDMA_BLK_DEPTH * 2 * (parts + 1);
	/* Requests that are not signaled stay in the SQ until one that is completes. */
	queue->batch_max = attr.send_depth >= KRDMA_BLK_DEPTH * parts ? KRDMA_BLK_BATCH : 1;
	if (!plain) {
		attr.recv_depth = KRDMA_BLK_DEPTH;
		attr.max_inline = sizeof(struct krdma_blk_command);
	}
	attr.cq = krdma_blk_cq_create(queue, attr.send_depth + attr.recv_depth);
	if (IS_ERR(attr.cq))
		return PTR_ERR(attr.cq);
	if (krdma_blk_queue_polls(queue))
		krdma_blk_poll_open(queue, attr.cq);
	ret = krdma_conn_create_qp(queue->conn, &attr);
	/* The QP keeps it. */
	if (!krdma_blk_queue_polls(queue))
		krdma_cq_put(attr.cq);
	return ret ?: plain ? 0 : krdma_blk_conn_post_recv(queue->conn);
}

static noinline_for_stack int
krdma_blk_conn_welcomed(struct krdma_blk_queue *queue, const struct krdma_blk_nonces *nonces,
			struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_device *device = queue->device;
	struct krdma_blk_welcome welcome = {};
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int length;
	int ret;

	length = krdma_conn_private_data(queue->conn, data, sizeof(data));
	ret = krdma_blk_read_welcome(data, length, geometry);
	if (ret)
		return ret;
	/* It has a record of this client, also if this one leaves it because of what follows. */
	device->welcomed = true;
	/* Who asked to read only would attach a disk that can be written. */
	if (device->read_only && !geometry->read_only)
		return -EPROTO;
	/* There are no receives for replies. */
	if (device->plain && (geometry->offers || geometry->slot_size))
		return -EPROTO;
	/* A write whose command does not fit would end the connection. */
	if (geometry->slot_size && !queue->fits)
		return -ENOBUFS;
	memcpy(&welcome, data, min_t(size_t, length, sizeof(welcome)));
	if (device->secret.length && !krdma_blk_server_knows(&device->secret, nonces, &welcome))
		return -EKEYREJECTED;
	return 0;
}

/* If @answers, the hello answers the challenge in @nonces. */
static noinline_for_stack int
krdma_blk_conn_connect(struct krdma_blk_queue *queue, const struct sockaddr_storage *remote,
		       bool answers, struct krdma_blk_nonces *nonces,
		       struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_device *device = queue->device;
	struct krdma_route route = { .remote = (const struct sockaddr *)remote };
	struct krdma_blk_hello hello = {
		.magic = cpu_to_le32(KRDMA_BLK_MAGIC),
		.version = KRDMA_BLK_VERSION,
		.flags = (answers ? KRDMA_BLK_ANSWER : 0) |
			 (device->welcomed ? KRDMA_BLK_RETURN : 0) |
			 (device->read_only ? KRDMA_BLK_READER : 0) |
			 (device->plain ? 0 : KRDMA_BLK_COMMANDS),
		.queue = cpu_to_le16(queue->index),
		.client = cpu_to_le64(device->client),
	};
	struct krdma_conn_param param = {
		.private_data = &hello, .private_data_len = sizeof(hello),
	};
	int ret;

	memcpy(hello.name, device->name, sizeof(hello.name));
	if (answers)
		krdma_blk_prove_client(&device->secret, nonces, &hello);
	else
		memcpy(hello.proof, nonces->nonce, sizeof(hello.proof));
	ret = krdma_conn_resolve(queue->conn, &route) ?:
	      krdma_conn_wait(queue->conn, KRDMA_BLK_RESOLVE_MS) ?:
	      krdma_blk_conn_prepare(queue) ?:
	      krdma_conn_connect(queue->conn, &param) ?:
	      krdma_conn_wait(queue->conn, device->agreed ? KRDMA_BLK_CONNECT_MS :
							    KRDMA_BLK_ATTACH_MS);
	return ret ?: krdma_blk_conn_welcomed(queue, nonces, geometry);
}

/*
 * All connections
 */

/* Is @b the same memory as @a, possibly grown? */
static bool krdma_blk_same(const struct krdma_blk_geometry *a, const struct krdma_blk_geometry *b)
{
	return a->generation == b->generation && a->size <= b->size &&
	       a->block_size == b->block_size && a->read_only == b->read_only &&
	       a->offers == b->offers && a->slot_size == b->slot_size;
}

/*
 * Waits until everything that was posted has completed, if nothing will report some of it.  The
 * connection was aborted, and cannot end before that is unmapped.
 */
static void krdma_blk_queue_settle(struct krdma_blk_queue *queue, struct krdma_conn *conn)
{
	struct krdma_conn_info info;

	while (READ_ONCE(queue->unreported)) {
		krdma_conn_query(conn, &info);
		if (info.sends_completed == info.sends_posted) {
			/* They were counted before they were handled, without sleeping. */
			krdma_blk_poll_all(queue);
			synchronize_rcu();
			krdma_blk_queue_unreported(queue, conn);
		} else if (!krdma_blk_poll(queue)) {
			usleep_range(500, 1000);
		}
	}
}

/* Takes down all connections; when this returns, no request is posted. */
static void krdma_blk_path_drop(struct krdma_blk_device *device)
{
	struct krdma_conn *conns[KRDMA_BLK_QUEUES_MAX];
	unsigned long flags;

	for (unsigned int i = 0; i < device->conn_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		spin_lock_irqsave(&queue->lock, flags);
		WRITE_ONCE(queue->open, false);
		list_splice_tail_init(&queue->denied, &queue->held);
		if (queue->conn)
			krdma_conn_abort(queue->conn);
		spin_unlock_irqrestore(&queue->lock, flags);
		/* From here on nothing is added to the batch, and no command is posted. */
		krdma_blk_queue_unbatch(queue, queue->conn);
		krdma_blk_queue_unmap_commands(queue, queue->conn);
	}
	for (unsigned int i = 0; i < device->conn_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		conns[i] = queue->conn;
		if (!conns[i])
			continue;
		krdma_blk_queue_settle(queue, conns[i]);
		krdma_blk_poll_drain(queue, conns[i]);
		krdma_conn_close(conns[i]);
		spin_lock_irqsave(&queue->lock, flags);
		WRITE_ONCE(queue->conn, NULL);
		spin_unlock_irqrestore(&queue->lock, flags);
		krdma_blk_poll_close(queue);
	}
	/* Requests may be being mapped with the old connection: see krdma_blk_request_send(). */
	synchronize_rcu();
	for (unsigned int i = 0; i < device->conn_count; i++) {
		if (!conns[i])
			continue;
		krdma_blk_queue_return(&device->queues[i]);
		krdma_conn_put_sync(conns[i]);
	}
	krdma_blk_fence_raise(device);
}

/* Closes a queue's connection that was not open for requests. */
static void krdma_blk_queue_forget(struct krdma_blk_queue *queue)
{
	struct krdma_conn *conn = queue->conn;
	unsigned long flags;

	krdma_blk_poll_drain(queue, conn);
	krdma_conn_close(conn);
	spin_lock_irqsave(&queue->lock, flags);
	WRITE_ONCE(queue->conn, NULL);
	spin_unlock_irqrestore(&queue->lock, flags);
	krdma_blk_poll_close(queue);
	krdma_conn_put_sync(conn);
}

static int krdma_blk_queue_read_table(struct krdma_blk_queue *queue,
				      const struct krdma_blk_geometry *geometry)
{
	const struct krdma_blk_device *device = queue->device;

	/* Requests are split for the chunk size of the first time. */
	if (device->agreed && geometry->chunk_size < device->geometry.chunk_size)
		return -EPROTO;
	return krdma_blk_table_read(queue, geometry);
}

/* Sends one hello; sets @refusal to the server's refusal, if it has refused. */
static noinline_for_stack int
krdma_blk_queue_ask(struct krdma_blk_queue *queue, const struct sockaddr_storage *remote,
		    bool answers, struct krdma_blk_nonces *nonces,
		    struct krdma_blk_geometry *geometry, struct krdma_blk_refusal *refusal)
{
	struct krdma_blk_device *device = queue->device;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	const char *text = NULL;
	struct krdma_conn *conn;
	unsigned long flags;
	int length, ret;
	bool stop;

	conn = krdma_conn_create(device->session, &krdma_blk_conn_ops, queue);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	spin_lock_irqsave(&queue->lock, flags);
	WRITE_ONCE(queue->conn, conn);
	/* A context that stops the device from here on finds the connection, and aborts it. */
	stop = READ_ONCE(device->stop);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (stop)
		return -ECANCELED;

	*refusal = (struct krdma_blk_refusal) {};
	ret = krdma_blk_conn_connect(queue, remote, answers, nonces, geometry);
	/* A device whose memory was replaced will be dead, and needs no table. */
	if (!ret && (!device->agreed || krdma_blk_same(&device->geometry, geometry)))
		ret = krdma_blk_queue_read_table(queue, geometry);
	if (ret == -ECONNREFUSED) {
		length = krdma_conn_private_data(conn, data, sizeof(data));
		text = krdma_blk_read_refusal(data, length, refusal);
	}
	if (ret)
		krdma_blk_path_explain(device, text, ret);
	return ret;
}

/* Returns -EKEYREVOKED if the server has refused this client permanently. */
static int krdma_blk_queue_connect(struct krdma_blk_queue *queue,
				   const struct sockaddr_storage *remote,
				   struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_refusal refusal;
	struct krdma_blk_nonces nonces = {};
	int ret;

	get_random_bytes(nonces.nonce, sizeof(nonces.nonce));
	ret = krdma_blk_queue_ask(queue, remote, false, &nonces, geometry, &refusal);
	/*
	 * A server of this version that refuses the flags does not know commands.  Later it does
	 * not forget them, so a false refusal is not believed.
	 */
	if (ret == -ECONNREFUSED && refusal.reason == KRDMA_BLK_OTHER_VERSION &&
	    !queue->device->plain && !queue->device->agreed) {
		queue->device->plain = true;
		krdma_blk_queue_forget(queue);
		ret = krdma_blk_queue_ask(queue, remote, false, &nonces, geometry, &refusal);
	}
	if (ret == -ECONNREFUSED && refusal.reason == KRDMA_BLK_CHALLENGE &&
	    queue->device->secret.length) {
		krdma_blk_queue_forget(queue);
		memcpy(nonces.challenge, refusal.challenge, sizeof(nonces.challenge));
		ret = krdma_blk_queue_ask(queue, remote, true, &nonces, geometry, &refusal);
	}
	if (ret == -ECONNREFUSED && refusal.reason == KRDMA_BLK_FENCED)
		ret = -EKEYREVOKED;
	if (ret == -ECONNREFUSED && refusal.reason == KRDMA_BLK_FULL)
		queue->device->full = true;
	return ret;
}

/*
 * Sends that this client does not return, and waits until the server has received that, and ends
 * the connection.  If that fails, the server keeps the record of the client as one that may
 * return.
 */
static void krdma_blk_path_leave(struct krdma_blk_device *device)
{
	static const struct krdma_send_wr leave = {
		.opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_UNSIGNALED,
		.wr_id = KRDMA_BLK_WR_LEAVE,
	};
	struct krdma_conn *conn = device->queues[0].conn;

	if (!device->welcomed || !conn)
		return;
	reinit_completion(&device->left);
	if (krdma_conn_post_send(conn, &leave, 1) == 1)
		wait_for_completion_timeout(&device->left, KRDMA_BLK_LEAVE_TIMEOUT);
}

/* Makes all connections to one address. */
static int krdma_blk_path_try(struct krdma_blk_device *device,
			      const struct sockaddr_storage *remote,
			      struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_geometry other;
	int ret;

	ret = krdma_blk_queue_connect(&device->queues[0], remote, geometry);
	for (unsigned int i = 1; i < device->conn_count && !ret; i++) {
		ret = krdma_blk_queue_connect(&device->queues[i], remote, &other);
		/* The export was enabled again between the two. */
		if (!ret && (!krdma_blk_same(geometry, &other) ||
			     geometry->size != other.size ||
			     geometry->chunk_size != other.chunk_size))
			ret = -EAGAIN;
	}
	return ret;
}

/* Tries one address.  On failure nothing is left of the attempt. */
static int krdma_blk_path_try_once(struct krdma_blk_device *device, unsigned int remote,
				   struct krdma_blk_geometry *geometry)
{
	int ret = krdma_blk_path_try(device, &device->remotes.of[remote], geometry);

	if (!ret) {
		WRITE_ONCE(device->remote, remote);
		return 0;
	}
	/* The client has not used the export, so it need not be able to return. */
	if (!device->agreed) {
		krdma_blk_path_leave(device);
		device->welcomed = false;
	}
	krdma_blk_path_drop(device);
	return ret;
}

/*
 * Makes all connections, to the first address that answers, or else to another one that does, as
 * long as any is being asked.
 */
static int krdma_blk_path_make(struct krdma_blk_device *device,
			       struct krdma_blk_geometry *geometry)
{
	unsigned int count = device->remotes.count;
	struct krdma_blk_probes probes;
	int ret = 0;

	krdma_blk_probes_begin(device, &probes, count);
	for (;;) {
		int remote = count > 1 ? krdma_blk_probe(device, &probes) : 0;

		if (remote < 0) {
			/* Why one could not be used says more than that others do not answer. */
			ret = ret && remote != -EINTR ? ret : remote;
			break;
		}
		if (READ_ONCE(device->stop)) {
			ret = -ECANCELED;
			break;
		}
		ret = krdma_blk_path_try_once(device, remote, geometry);
		if (!ret || count == 1 || ret == -EINTR || ret == -EKEYREVOKED)
			break;
		krdma_blk_probe_again(device, &probes, remote);
	}
	krdma_blk_probes_end(&probes);
	return ret;
}

/*
 * Losing the connections, and making them again
 */

static void krdma_blk_path_abort(struct krdma_blk_device *device)
{
	unsigned long flags;

	for (unsigned int i = 0; i < device->conn_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		spin_lock_irqsave(&queue->lock, flags);
		if (queue->conn)
			krdma_conn_abort(queue->conn);
		spin_unlock_irqrestore(&queue->lock, flags);
	}
}

/* A queue without a connection is already being connected again. */
static bool krdma_blk_queue_is_lost(struct krdma_blk_queue *queue)
{
	struct krdma_conn_info info = { .state = KRDMA_CONN_CLOSED };
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->conn)
		krdma_conn_query(queue->conn, &info);
	spin_unlock_irqrestore(&queue->lock, flags);
	return info.state != KRDMA_CONN_CONNECTED;
}

/**
 * krdma_blk_path_start() - Open the queues for requests
 * @device: the device; all of its connections are established, and replace the earlier ones
 *
 * Context: process context.
 */
void krdma_blk_path_start(struct krdma_blk_device *device)
{
	unsigned long flags;

	/* Failed requests complete before anything new is written. */
	krdma_blk_fence_up(device);
	if (!krdma_blk_fence_lower(device))
		return;
	for (unsigned int i = 0; i < device->conn_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		spin_lock_irqsave(&queue->lock, flags);
		queue->epoch = device->epoch;
		queue->data_status = KRDMA_WC_SUCCESS;
		WRITE_ONCE(queue->open, true);
		spin_unlock_irqrestore(&queue->lock, flags);
		/* Those whose hold limit has expired since the fence was lowered. */
		krdma_blk_queue_fail(queue);
		krdma_blk_queue_push(queue);
	}
	krdma_blk_path_live(device);

	/* A loss before the queues were opened had no effect. */
	for (unsigned int i = 0; i < device->conn_count; i++) {
		if (krdma_blk_queue_is_lost(&device->queues[i]))
			krdma_blk_path_lost(device);
	}
	krdma_blk_failback_start(device);
}

/* The error text has been set. */
static void krdma_blk_path_die(struct krdma_blk_device *device)
{
	const char *name = config_item_name(&device->item);

	pr_err("krdma_blk: cannot use '%s': %s; krdma blk detach %s\n",
	       name, device->error, name);
	krdma_blk_path_drop(device);
	krdma_blk_path_kill(device);
}

static void krdma_blk_path_retry(struct krdma_blk_device *device)
{
	unsigned int wait = krdma_blk_probe_pause(device->attempts++);

	if (!READ_ONCE(device->stop))
		queue_delayed_work(krdma_blk_workqueue, &device->reconnect,
				   msecs_to_jiffies(wait));
}

/*
 * A server may end connections as soon as they are made, or refuse a key for ever, or invalidate it
 * each time.  It must not be asked again without a pause.  Other requests are carried out meanwhile
 * only if connections last, and a client that invalidates the server's keys can bring that about,
 * so the pause is not a long one.  Returns true if this is called again later.
 */
static bool krdma_blk_path_pause(struct krdma_blk_device *device)
{
	unsigned int wait;

	if (device->brief <= KRDMA_BLK_BRIEF_FAST || device->paused || READ_ONCE(device->stop))
		return false;
	device->paused = true;
	krdma_blk_path_say(device, "the connections are lost as soon as they are made");
	wait = krdma_blk_probe_pause(device->brief - KRDMA_BLK_BRIEF_FAST - 1);
	wait = min_t(unsigned int, wait, KRDMA_BLK_BRIEF_MS);
	return queue_delayed_work(krdma_blk_workqueue, &device->reconnect, msecs_to_jiffies(wait));
}

static void krdma_blk_path_reconnect(struct work_struct *work)
{
	struct krdma_blk_device *device = container_of(to_delayed_work(work),
						       struct krdma_blk_device, reconnect);
	struct krdma_blk_geometry geometry;
	/*
	 * Memory reclaim may have to write to this device: so allocations here do not wait for
	 * reclaim, and may use the reserves.
	 */
	unsigned int noio = memalloc_noio_save();
	unsigned int noreclaim = memalloc_noreclaim_save();
	int ret;

	krdma_blk_path_drop(device);
	if (krdma_blk_path_pause(device))
		goto out;
	ret = krdma_blk_path_make(device, &geometry);
	if (ret == -EKEYREVOKED) {
		/* The error text is the server's reason. */
		krdma_blk_path_die(device);
	} else if (ret) {
		krdma_blk_path_retry(device);
	} else if (!krdma_blk_same(&device->geometry, &geometry)) {
		krdma_blk_path_say(device,
				   "the export was made anew, and what was written is lost");
		krdma_blk_path_die(device);
	} else {
		atomic64_inc(&device->reconnects);
		if (device->geometry.size != geometry.size)
			krdma_blk_disk_resize(device, geometry.size);
		krdma_blk_path_start(device);
	}
out:
	memalloc_noreclaim_restore(noreclaim);
	memalloc_noio_restore(noio);
}

/*
 * Begin and end
 */

/**
 * krdma_blk_path_init() - Initialize a device for krdma_blk_path_open()
 * @device: the device, new
 *
 * Context: any.
 */
void krdma_blk_path_init(struct krdma_blk_device *device)
{
	krdma_blk_fence_init(device);
	krdma_blk_probe_init(device);
	krdma_blk_disk_init(device);
	init_completion(&device->left);
	INIT_DELAYED_WORK(&device->reconnect, krdma_blk_path_reconnect);
}

/*
 * Makes all connections for the first time.  A server that answers too many requests of this host
 * is asked again: a host may attach many devices at the same time.
 */
static int krdma_blk_path_begin(struct krdma_blk_device *device)
{
	unsigned long deadline = jiffies + KRDMA_BLK_FULL_WAIT;
	unsigned int wait;
	int ret;

	for (;;) {
		device->full = false;
		ret = krdma_blk_path_make(device, &device->geometry);
		if (!ret || ret == -EINTR || ret == -EKEYREVOKED || ret == -ECANCELED)
			return ret;
		if (!device->full || time_after(jiffies, deadline))
			return ret;
		/* Randomized, as in krdma_blk_path_retry(). */
		wait = KRDMA_BLK_FULL_PAUSE_MS / 2 + get_random_u32() % KRDMA_BLK_FULL_PAUSE_MS;
		schedule_timeout_interruptible(msecs_to_jiffies(wait));
		if (signal_pending(current))
			return -EINTR;
	}
}

/**
 * krdma_blk_path_open() - Make the connections for the first time
 * @device: the device, detached; the caller holds its lock.  Its geometry is filled in, and if
 *	this fails, its error text.
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0, or a negative errno: the server does not answer, or has refused.
 */
int krdma_blk_path_open(struct krdma_blk_device *device)
{
	struct krdma_conn_info info;
	unsigned int noio;
	int ret;

	device->conn_count = device->queue_count + device->poll_count;
	device->queues = kzalloc_objs(*device->queues, device->conn_count, GFP_KERNEL);
	if (!device->queues)
		return -ENOMEM;
	for (unsigned int i = 0; i < device->conn_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		queue->device = device;
		queue->index = i;
		spin_lock_init(&queue->lock);
		spin_lock_init(&queue->poll_lock);
		queue->complete = krdma_blk_request_done;
		INIT_LIST_HEAD(&queue->batch);
		queue->batch_max = 1;
		INIT_LIST_HEAD(&queue->held);
		INIT_LIST_HEAD(&queue->denied);
		INIT_LIST_HEAD(&queue->failed);
		INIT_LIST_HEAD(&queue->commands);
		init_completion(&queue->read_end);
	}
	device->client = get_random_u64();
	device->welcomed = false;
	device->agreed = false;
	device->plain = false;
	device->remote = 0;
	device->failback_ms = KRDMA_BLK_FAILBACK_MIN_MS;
	device->stop = false;
	device->brief = 0;
	atomic64_set(&device->reconnects, 0);
	device->session = krdma_session_create(&init_net);
	ret = PTR_ERR_OR_ZERO(device->session);
	if (!ret) {
		krdma_session_set_reclaim(device->session);
		/* The ends of its connections run between those of other devices. */
		noio = memalloc_noio_save();
		ret = krdma_blk_path_begin(device);
		memalloc_noio_restore(noio);
	}
	if (ret) {
		krdma_blk_path_close(device);
		return ret;
	}
	/* Later the connection belongs to the context that reconnects, and may have gone. */
	krdma_conn_query(device->queues[0].conn, &info);
	device->path_mtu = info.path_mtu;
	device->agreed = true;
	return 0;
}

/**
 * krdma_blk_path_give_up() - Stop holding requests
 * @device: the device; its disk is about to be removed
 *
 * Requests that can be completed are completed.
 *
 * Context: process context.
 */
void krdma_blk_path_give_up(struct krdma_blk_device *device)
{
	/* Another context may be waiting for the peer's answer. */
	if (!krdma_blk_path_stop(device))
		krdma_blk_path_abort(device);
	krdma_blk_probe_wake(device);
}

/**
 * krdma_blk_path_close() - Close all connections
 * @device: the device, without a disk; the caller holds its lock
 *
 * Context: process context; may sleep.
 */
void krdma_blk_path_close(struct krdma_blk_device *device)
{
	krdma_blk_path_give_up(device);
	/* From here on a loss has no effect. */
	spin_lock_irq(&device->state_lock);
	WRITE_ONCE(device->state, KRDMA_BLK_DETACHED);
	spin_unlock_irq(&device->state_lock);
	cancel_delayed_work_sync(&device->reconnect);
	cancel_delayed_work_sync(&device->failback);
	cancel_delayed_work_sync(&device->expire);
	/* The context that reconnects may have queued it again. */
	cancel_work_sync(&device->grown);

	krdma_blk_path_leave(device);
	krdma_blk_path_drop(device);
	for (unsigned int i = 0; i < device->conn_count; i++) {
		WARN_ON_ONCE(!list_empty(&device->queues[i].held));
		WARN_ON_ONCE(!list_empty(&device->queues[i].denied));
		WARN_ON_ONCE(!list_empty(&device->queues[i].failed));
		WARN_ON_ONCE(!list_empty(&device->queues[i].commands));
		kvfree(device->queues[i].chunks);
	}
	kfree(device->queues);
	device->queues = NULL;
	kfree(device->table);
	device->table = NULL;
	if (!IS_ERR(device->session))
		krdma_session_put(device->session);
	device->session = NULL;
}
