// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of a device: their making, their loss, and their making anew.
 *
 * They live and end together.  When one is lost, all are taken down, and requests are
 * held until all of them stand again: so every connection that had a write under way
 * has been replaced, and the server has ended it, before anything else is written.
 *
 * What stands again must be what was there before: the server makes a random number
 * when it makes the memory.  If that is another one, what was written is lost, and no
 * request must ever succeed again.
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "blk.h"
#include "device.h"

/* For the way to the server, and for its answer: it may have to register its memory. */
#define KRDMA_BLK_RESOLVE_MS	5000
#define KRDMA_BLK_ATTACH_MS	60000
#define KRDMA_BLK_CONNECT_MS	10000
#define KRDMA_BLK_READ_TIMEOUT	(20 * HZ)
#define KRDMA_BLK_LEAVE_TIMEOUT	(2 * HZ)

/* How long until the next attempt: doubled from one to the other, and not the same twice. */
#define KRDMA_BLK_RETRY_MIN_MS	100
#define KRDMA_BLK_RETRY_MAX_MS	5000

/* As much of the table as is surely in no more places than an operation can have. */
#define KRDMA_BLK_READ_BYTES	SZ_64K

/*
 * What the user is told
 */

/**
 * krdma_blk_path_say - why there is no connection
 * @device: the device
 * @text: in words; empty: there is nothing to be said
 *
 * Context: any.
 */
void krdma_blk_path_say(struct krdma_blk_device *device, const char *text)
{
	unsigned long flags;

	spin_lock_irqsave(&device->state_lock, flags);
	strscpy(device->error, text, sizeof(device->error));
	spin_unlock_irqrestore(&device->state_lock, flags);
}

/* @refused: why, in words, as the server has it; NULL: it was not the server. */
static void krdma_blk_path_explain(struct krdma_blk_device *device, const char *refused, int error)
{
	const char *text = refused;

	if (!text) {
		switch (error) {
		case -ECONNREFUSED:
			text = "no krdma_blk listens at this address and port";
			break;
		case -EHOSTUNREACH:
		case -EADDRNOTAVAIL:
			text = "there is no way to the server over an RDMA device";
			break;
		case -ETIMEDOUT:
			text = "the server does not answer";
			break;
		case -EPROTO:
			text = "what listens there is no krdma_blk, or one of another version";
			break;
		case -EKEYREJECTED:
			text = "the server has not proved that it knows the secret";
			break;
		case -EOPNOTSUPP:
			text = "the device on the way to the server speaks iWARP";
			break;
		default:
			text = "the connection could not be made";
			break;
		}
	}
	krdma_blk_path_say(device, text);
}

/*
 * One connection
 */

/* Not by a work item, which would need a thread: in a lock of the connection's. */
static void krdma_blk_conn_notify(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct krdma_blk_queue *queue = krdma_conn_context(conn);

	switch (event->type) {
	case KRDMA_EVENT_DISCONNECTED:
	case KRDMA_EVENT_LOST:
	case KRDMA_EVENT_DEVICE_REMOVED:
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

/* Room for every request that can be under way, in as many pieces as it is cut to. */
static int krdma_blk_conn_prepare(struct krdma_blk_queue *queue)
{
	struct krdma_conn_attr attr = { .recv_depth = 1, .where = KRDMA_CONTEXT_SOFTIRQ };
	struct krdma_device_attr dev;
	u32 sge, pieces;
	int ret;

	ret = krdma_device_query_attr(krdma_conn_device(queue->conn), &dev);
	if (ret)
		return ret;
	/* There, a write that has completed need not have arrived. */
	if (dev.transport != KRDMA_TRANSPORT_IB)
		return -EOPNOTSUPP;

	sge = min3(dev.limits.max_send_sge, dev.limits.max_read_sge, (u32)KRDMA_BLK_SEGMENTS);
	pieces = DIV_ROUND_UP(KRDMA_BLK_SEGMENTS, max(sge, 1U));
	attr.max_send_sge = sge;
	attr.send_depth = min(KRDMA_BLK_DEPTH * pieces, dev.limits.max_send_wr);
	return krdma_conn_prepare(queue->conn, &attr);
}

static int krdma_blk_conn_welcomed(struct krdma_blk_queue *queue,
				   const struct krdma_blk_nonces *nonces,
				   struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_device *device = queue->device;
	struct krdma_blk_welcome welcome;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	int length;
	int ret;

	length = krdma_conn_private_data(queue->conn, data, sizeof(data));
	ret = krdma_blk_read_welcome(data, length, geometry);
	if (ret)
		return ret;
	memcpy(&welcome, data, sizeof(welcome));
	if (device->secret.length && !krdma_blk_server_knows(&device->secret, nonces, &welcome))
		return -EKEYREJECTED;
	device->welcomed = true;
	return 0;
}

/* With a challenge in @nonces the hello is its answer. */
static int krdma_blk_conn_connect(struct krdma_blk_queue *queue,
				  const struct sockaddr_storage *remote, bool answers,
				  struct krdma_blk_nonces *nonces,
				  struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_device *device = queue->device;
	struct krdma_route route = { .remote = (const struct sockaddr *)remote };
	struct krdma_blk_hello hello = {
		.magic = cpu_to_le32(KRDMA_BLK_MAGIC),
		.version = KRDMA_BLK_VERSION,
		.flags = (answers ? KRDMA_BLK_ANSWER : 0) |
			 (device->welcomed ? KRDMA_BLK_RETURN : 0) |
			 (device->read_only ? KRDMA_BLK_READER : 0),
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
	      krdma_conn_wait(queue->conn, device->attached ? KRDMA_BLK_CONNECT_MS :
							      KRDMA_BLK_ATTACH_MS);
	return ret ?: krdma_blk_conn_welcomed(queue, nonces, geometry);
}

/*
 * The table of keys
 */

static int krdma_blk_table_check(struct krdma_blk_queue *queue,
				 const struct krdma_blk_geometry *geometry,
				 const struct krdma_blk_entry *table)
{
	for (u32 i = 0; i < geometry->chunks; i++) {
		u64 addr = le64_to_cpu(table[i].addr);

		if (table[i].reserved || addr + geometry->chunk_size < addr)
			return -EPROTO;
		queue->chunks[i] = (struct krdma_blk_chunk) {
			.addr = addr, .key = le32_to_cpu(table[i].key),
		};
	}
	queue->chunk_shift = ilog2(geometry->chunk_size);
	return 0;
}

static int krdma_blk_table_fetch(struct krdma_blk_queue *queue,
				 const struct krdma_blk_geometry *geometry,
				 struct krdma_region *region, size_t size)
{
	struct krdma_sge sge = { .region = region };
	struct krdma_request read = {
		.opcode = KRDMA_OP_READ, .sges = &sge, .sge_count = 1,
		.remote_key = geometry->table_key,
	};
	struct krdma_region_info info;
	int ret;

	krdma_region_query(region, &info);
	for (size_t at = 0; at < size; at += sge.length) {
		sge.addr = info.addr + at;
		sge.length = min_t(size_t, size - at, KRDMA_BLK_READ_BYTES);
		read.remote_addr = geometry->table_addr + at;
		reinit_completion(&queue->read_end);
		ret = krdma_conn_post(queue->conn, &read, 1);
		if (ret != 1)
			return ret;
		if (!wait_for_completion_timeout(&queue->read_end, KRDMA_BLK_READ_TIMEOUT))
			return -ETIMEDOUT;
		if (queue->read_status)
			return -EIO;
	}
	return 0;
}

/* After an error the connection is over. */
static int krdma_blk_table_read(struct krdma_blk_queue *queue,
				const struct krdma_blk_geometry *geometry)
{
	size_t size = array_size(geometry->chunks, sizeof(struct krdma_blk_entry));
	struct krdma_blk_entry *table = kvzalloc(size, GFP_KERNEL);
	struct krdma_region *region;
	int ret = -ENOMEM;

	kvfree(queue->chunks);
	queue->chunks = kvmalloc_objs(*queue->chunks, geometry->chunks, GFP_KERNEL);
	if (!table || !queue->chunks)
		goto out;
	region = krdma_region_map(queue->device->session, krdma_conn_device(queue->conn), table,
				  size, KRDMA_ACCESS_LOCAL_WRITE);
	ret = PTR_ERR_OR_ZERO(region);
	if (ret)
		goto out;
	ret = krdma_blk_table_fetch(queue, geometry, region, size);
	/* The end of the connection gives back what is under way. */
	if (ret)
		krdma_conn_close(queue->conn);
	WARN_ON_ONCE(krdma_region_release(region));
	if (!ret)
		ret = krdma_blk_table_check(queue, geometry, table);
out:
	kvfree(table);
	return ret;
}

/*
 * All of them
 */

/* Takes down all connections; when this returns, no request is posted. */
static void krdma_blk_path_drop(struct krdma_blk_device *device)
{
	struct krdma_conn *conns[KRDMA_BLK_QUEUES_MAX];
	unsigned long flags;

	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		spin_lock_irqsave(&queue->lock, flags);
		queue->open = false;
		if (queue->conn)
			krdma_conn_abort(queue->conn);
		spin_unlock_irqrestore(&queue->lock, flags);
	}
	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		conns[i] = queue->conn;
		if (!conns[i])
			continue;
		krdma_conn_close(conns[i]);
		spin_lock_irqsave(&queue->lock, flags);
		queue->conn = NULL;
		spin_unlock_irqrestore(&queue->lock, flags);
	}
	/* Requests may be mapped with what they have found: see krdma_blk_request_send(). */
	synchronize_rcu();
	for (unsigned int i = 0; i < device->queue_count; i++)
		if (conns[i])
			krdma_conn_put_sync(conns[i]);
}

static bool krdma_blk_same(const struct krdma_blk_geometry *a, const struct krdma_blk_geometry *b)
{
	return a->generation == b->generation && a->size == b->size &&
	       a->block_size == b->block_size && a->read_only == b->read_only;
}

/* The queue's connection ends, which has not been open for requests. */
static void krdma_blk_queue_forget(struct krdma_blk_queue *queue)
{
	struct krdma_conn *conn = queue->conn;
	unsigned long flags;

	krdma_conn_close(conn);
	spin_lock_irqsave(&queue->lock, flags);
	queue->conn = NULL;
	spin_unlock_irqrestore(&queue->lock, flags);
	krdma_conn_put_sync(conn);
}

/* One hello; @refusal says what the server has said to it if it was refused. */
static int krdma_blk_queue_ask(struct krdma_blk_queue *queue,
			       const struct sockaddr_storage *remote, bool answers,
			       struct krdma_blk_nonces *nonces,
			       struct krdma_blk_geometry *geometry,
			       struct krdma_blk_refusal *refusal)
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
	queue->conn = conn;
	/* Whoever stops this from here on finds the connection, and aborts it. */
	stop = READ_ONCE(device->stop);
	spin_unlock_irqrestore(&queue->lock, flags);
	if (stop)
		return -ECANCELED;

	*refusal = (struct krdma_blk_refusal) {};
	ret = krdma_blk_conn_connect(queue, remote, answers, nonces, geometry) ?:
	      krdma_blk_table_read(queue, geometry);
	if (ret == -ECONNREFUSED) {
		length = krdma_conn_private_data(conn, data, sizeof(data));
		text = krdma_blk_read_refusal(data, length, refusal);
	}
	if (ret)
		krdma_blk_path_explain(device, text, ret);
	return ret;
}

/* -EKEYREVOKED: the server will never have this client again. */
static int krdma_blk_queue_connect(struct krdma_blk_queue *queue,
				   const struct sockaddr_storage *remote,
				   struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_refusal refusal;
	struct krdma_blk_nonces nonces;
	int ret;

	get_random_bytes(nonces.nonce, sizeof(nonces.nonce));
	ret = krdma_blk_queue_ask(queue, remote, false, &nonces, geometry, &refusal);
	if (ret == -ECONNREFUSED && refusal.reason == KRDMA_BLK_CHALLENGE &&
	    queue->device->secret.length) {
		krdma_blk_queue_forget(queue);
		memcpy(nonces.challenge, refusal.challenge, sizeof(nonces.challenge));
		ret = krdma_blk_queue_ask(queue, remote, true, &nonces, geometry, &refusal);
	}
	if (ret == -ECONNREFUSED && refusal.reason == KRDMA_BLK_FENCED)
		ret = -EKEYREVOKED;
	return ret;
}

/*
 * Tells the server that this client does not return, and waits until the server has taken
 * notice, which ends the connection.  If that fails, the server knows the client as one
 * that may come back.
 */
static void krdma_blk_path_leave(struct krdma_blk_device *device)
{
	static const struct krdma_request goodbye = {
		.opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_SILENT,
	};
	struct krdma_conn *conn = device->queues[0].conn;

	if (!device->welcomed || !conn)
		return;
	reinit_completion(&device->left);
	if (krdma_conn_post(conn, &goodbye, 1) == 1)
		wait_for_completion_timeout(&device->left, KRDMA_BLK_LEAVE_TIMEOUT);
}

/* All connections to one address. */
static int krdma_blk_path_try(struct krdma_blk_device *device,
			      const struct sockaddr_storage *remote,
			      struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_geometry other;
	int ret;

	ret = krdma_blk_queue_connect(&device->queues[0], remote, geometry);
	for (unsigned int i = 1; i < device->queue_count && !ret; i++) {
		ret = krdma_blk_queue_connect(&device->queues[i], remote, &other);
		/* Between the two, the export was made anew. */
		if (!ret && (!krdma_blk_same(geometry, &other) ||
			     geometry->chunk_size != other.chunk_size))
			ret = -EAGAIN;
	}
	/* Requests are cut for the chunks that were there when the disk was made. */
	if (!ret && device->attached && geometry->chunk_size < device->geometry.chunk_size)
		ret = -EPROTO;
	return ret;
}

/* All connections, to the first address where they can be had. */
static int krdma_blk_path_make(struct krdma_blk_device *device,
			       struct krdma_blk_geometry *geometry)
{
	unsigned int count = device->remotes.count;
	int ret = -EINVAL;

	for (unsigned int i = 0; i < count; i++) {
		unsigned int remote = (device->remote + i) % count;

		if (READ_ONCE(device->stop))
			return -ECANCELED;
		ret = krdma_blk_path_try(device, &device->remotes.of[remote], geometry);
		if (!ret) {
			WRITE_ONCE(device->remote, remote);
			return 0;
		}
		/* It has not been of use to anybody. */
		if (!device->attached)
			krdma_blk_path_leave(device);
		krdma_blk_path_drop(device);
		if (ret == -EINTR || ret == -EKEYREVOKED)
			break;
	}
	return ret;
}

/*
 * Losing them, and making them anew
 */

static void krdma_blk_path_fail(struct krdma_blk_device *device)
{
	for (unsigned int i = 0; i < device->queue_count; i++)
		krdma_blk_queue_fail(&device->queues[i]);
}

static void krdma_blk_path_abort(struct krdma_blk_device *device)
{
	unsigned long flags;

	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		spin_lock_irqsave(&queue->lock, flags);
		if (queue->conn)
			krdma_conn_abort(queue->conn);
		spin_unlock_irqrestore(&queue->lock, flags);
	}
}

/**
 * krdma_blk_path_lost - a connection does not stand any more
 * @device: the device
 *
 * Context: any but NMI.
 */
void krdma_blk_path_lost(struct krdma_blk_device *device)
{
	unsigned long flags;

	spin_lock_irqsave(&device->state_lock, flags);
	if (device->state == KRDMA_BLK_LIVE) {
		bool fail = device->stop || !device->hold_seconds;

		WRITE_ONCE(device->state, KRDMA_BLK_HOLDING);
		device->attempts = 0;
		mod_delayed_work(krdma_blk_workqueue, &device->expire,
				 fail ? 0 : device->hold_seconds * HZ);
		queue_delayed_work(krdma_blk_workqueue, &device->reconnect, 0);
	}
	spin_unlock_irqrestore(&device->state_lock, flags);
}

static void krdma_blk_path_expire(struct work_struct *work)
{
	struct krdma_blk_device *device = container_of(to_delayed_work(work),
						       struct krdma_blk_device, expire);
	unsigned long flags;
	bool expired;

	spin_lock_irqsave(&device->state_lock, flags);
	expired = device->state == KRDMA_BLK_HOLDING;
	if (expired)
		WRITE_ONCE(device->state, KRDMA_BLK_FAILING);
	spin_unlock_irqrestore(&device->state_lock, flags);
	if (!expired)
		return;

	if (!READ_ONCE(device->stop))
		pr_warn("%s: no connection for %u s: requests fail until there is one\n",
			config_item_name(&device->item), device->hold_seconds);
	krdma_blk_path_fail(device);
}

/* One that has none is being made anew already. */
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
 * krdma_blk_path_start - let requests through
 * @device: the device, all of whose connections stand
 *
 * Context: process context.
 */
void krdma_blk_path_start(struct krdma_blk_device *device)
{
	unsigned long flags;

	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		spin_lock_irqsave(&queue->lock, flags);
		queue->open = true;
		spin_unlock_irqrestore(&queue->lock, flags);
		krdma_blk_queue_push(queue);
	}
	/* Until here nobody has taken notice of a loss, and the connections were ours alone. */
	spin_lock_irqsave(&device->state_lock, flags);
	WRITE_ONCE(device->state, KRDMA_BLK_LIVE);
	device->error[0] = '\0';
	spin_unlock_irqrestore(&device->state_lock, flags);
	cancel_delayed_work(&device->expire);

	for (unsigned int i = 0; i < device->queue_count; i++) {
		if (krdma_blk_queue_is_lost(&device->queues[i]))
			krdma_blk_path_lost(device);
	}
}

/* Why has been said. */
static void krdma_blk_path_die(struct krdma_blk_device *device)
{
	unsigned long flags;

	spin_lock_irqsave(&device->state_lock, flags);
	WRITE_ONCE(device->state, KRDMA_BLK_DEAD);
	spin_unlock_irqrestore(&device->state_lock, flags);

	pr_err("%s: %s: requests fail\n", config_item_name(&device->item), device->error);
	krdma_blk_path_drop(device);
	krdma_blk_path_fail(device);
}

static void krdma_blk_path_retry(struct krdma_blk_device *device)
{
	unsigned int wait = KRDMA_BLK_RETRY_MIN_MS << min(device->attempts, 6U);

	device->attempts++;
	wait = min_t(unsigned int, wait, KRDMA_BLK_RETRY_MAX_MS);
	/* Not with all others that have lost the same server. */
	wait = wait / 2 + get_random_u32() % wait;
	if (!READ_ONCE(device->stop))
		queue_delayed_work(krdma_blk_workqueue, &device->reconnect,
				   msecs_to_jiffies(wait));
}

static void krdma_blk_path_reconnect(struct work_struct *work)
{
	struct krdma_blk_device *device = container_of(to_delayed_work(work),
						       struct krdma_blk_device, reconnect);
	struct krdma_blk_geometry geometry;
	/* Memory may be what this device has to be written to for. */
	unsigned int noio = memalloc_noio_save();
	int ret;

	krdma_blk_path_drop(device);
	ret = krdma_blk_path_make(device, &geometry);
	if (ret == -EKEYREVOKED) {
		/* Its answer has been said. */
		krdma_blk_path_die(device);
	} else if (ret) {
		krdma_blk_path_retry(device);
	} else if (!krdma_blk_same(&device->geometry, &geometry)) {
		krdma_blk_path_say(device,
				   "the export was made anew, and what was written is lost");
		krdma_blk_path_die(device);
	} else {
		atomic64_inc(&device->reconnects);
		krdma_blk_path_start(device);
	}
	memalloc_noio_restore(noio);
}

/**
 * krdma_blk_path_state - how is a device?
 * @device: the device
 *
 * Context: any.
 * Return: its state, at the time of the call.
 */
enum krdma_blk_state krdma_blk_path_state(struct krdma_blk_device *device)
{
	return READ_ONCE(device->state);
}

/**
 * krdma_blk_path_gives_up - must requests fail that cannot be posted?
 * @device: the device
 *
 * Whoever asks with a queue's lock held and puts a request into its list, because this
 * was false, is not forgotten: when it becomes true, the list is emptied with the lock.
 *
 * Context: any.
 * Return: whether they must.
 */
bool krdma_blk_path_gives_up(struct krdma_blk_device *device)
{
	enum krdma_blk_state state = READ_ONCE(device->state);

	return state == KRDMA_BLK_FAILING || state == KRDMA_BLK_DEAD;
}

/*
 * Beginning and end
 */

/**
 * krdma_blk_path_init - make a device ready for krdma_blk_path_open()
 * @device: the device, new
 *
 * Context: any.
 */
void krdma_blk_path_init(struct krdma_blk_device *device)
{
	spin_lock_init(&device->state_lock);
	init_completion(&device->left);
	INIT_DELAYED_WORK(&device->reconnect, krdma_blk_path_reconnect);
	INIT_DELAYED_WORK(&device->expire, krdma_blk_path_expire);
}

/**
 * krdma_blk_path_open - make the connections for the first time
 * @device: the device, detached; its lock is held.  Its geometry is filled in, and if
 *	this fails, its error.
 *
 * Context: process context; sleeps, until a signal.
 * Return: 0, or a negative errno: the server is not there, or has refused.
 */
int krdma_blk_path_open(struct krdma_blk_device *device)
{
	int ret;

	device->queues = kzalloc_objs(*device->queues, device->queue_count, GFP_KERNEL);
	if (!device->queues)
		return -ENOMEM;
	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct krdma_blk_queue *queue = &device->queues[i];

		queue->device = device;
		queue->index = i;
		spin_lock_init(&queue->lock);
		INIT_LIST_HEAD(&queue->held);
		init_completion(&queue->read_end);
	}
	device->client = get_random_u64();
	device->welcomed = false;
	device->remote = 0;
	device->stop = false;
	atomic64_set(&device->reconnects, 0);
	device->session = krdma_session_create(&init_net);
	ret = PTR_ERR_OR_ZERO(device->session);
	if (!ret) {
		krdma_session_set_reclaim(device->session);
		ret = krdma_blk_path_make(device, &device->geometry);
	}
	if (ret)
		krdma_blk_path_close(device);
	return ret;
}

/**
 * krdma_blk_path_give_up - hold requests no more
 * @device: the device, whose disk is about to be removed
 *
 * Those that can be done are done.
 *
 * Context: process context.
 */
void krdma_blk_path_give_up(struct krdma_blk_device *device)
{
	unsigned long flags;

	spin_lock_irqsave(&device->state_lock, flags);
	WRITE_ONCE(device->stop, true);
	spin_unlock_irqrestore(&device->state_lock, flags);

	if (krdma_blk_path_state(device) == KRDMA_BLK_LIVE)
		return;
	/* Somebody may be waiting for the peer's answer. */
	krdma_blk_path_abort(device);
	mod_delayed_work(krdma_blk_workqueue, &device->expire, 0);
}

/**
 * krdma_blk_path_close - end all connections
 * @device: the device, without a disk; its lock is held
 *
 * Context: process context; may sleep.
 */
void krdma_blk_path_close(struct krdma_blk_device *device)
{
	krdma_blk_path_give_up(device);
	/* From here on a loss is of no interest, and sets nothing in motion. */
	spin_lock_irq(&device->state_lock);
	WRITE_ONCE(device->state, KRDMA_BLK_DETACHED);
	spin_unlock_irq(&device->state_lock);
	cancel_delayed_work_sync(&device->reconnect);
	cancel_delayed_work_sync(&device->expire);

	krdma_blk_path_leave(device);
	krdma_blk_path_drop(device);
	for (unsigned int i = 0; i < device->queue_count; i++) {
		WARN_ON_ONCE(!list_empty(&device->queues[i].held));
		kvfree(device->queues[i].chunks);
	}
	kfree(device->queues);
	device->queues = NULL;
	if (!IS_ERR(device->session))
		krdma_session_put(device->session);
	device->session = NULL;
}
