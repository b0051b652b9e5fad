// SPDX-License-Identifier: GPL-2.0
/*
 * Find the address of the server that answers first.
 *
 * All addresses are probed nearly at the same time, the first one a little earlier.  So an
 * address that does not answer costs no time, and the first one is used if it answers.  A probe
 * is a connection request without a hello.  The server answers it with a refusal, and keeps no
 * state for it.
 *
 * A device that does not use its first address probes that from time to time, and returns to it.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/wait.h>

#include "blk.h"
#include "device.h"
#include "probe.h"
#include "root.h"
#include "state.h"

/* How long to wait for the first address before the others are probed. */
#define KRDMA_BLK_PROBE_AHEAD_MS	200
/* A server refuses faster than this, but not while it registers its memory for another client. */
#define KRDMA_BLK_PROBE_MS		10000
#define KRDMA_BLK_PROBE_ATTACH_MS	60000
/* When one of them has answered, but could not be used, and for a device that connects again. */
#define KRDMA_BLK_PROBE_OTHER_ATTACH_MS	10000
#define KRDMA_BLK_PROBE_OTHER_MS	1000

/* Maximum time until the first address is probed again; the time doubles whenever it answers. */
#define KRDMA_BLK_FAILBACK_MAX_MS	(60 * 60 * MSEC_PER_SEC)

static void krdma_blk_probe_notify(struct krdma_conn *conn, const struct krdma_event *event)
{
	krdma_blk_probe_wake(krdma_conn_context(conn));
}

static void krdma_blk_probe_complete(const struct krdma_wc *completion)
{
}

static const struct krdma_conn_ops krdma_blk_probe_ops = {
	.notify = krdma_blk_probe_notify,
	.complete = krdma_blk_probe_complete,
};

/**
 * krdma_blk_probe_wake() - Make a probe check again
 * @device: the device
 *
 * Context: any but NMI.
 */
void krdma_blk_probe_wake(struct krdma_blk_device *device)
{
	atomic_inc(&device->probe_events);
	wake_up(&device->probe_wait);
}

static struct krdma_conn *krdma_blk_probe_begin(struct krdma_blk_device *device,
						unsigned int remote)
{
	struct krdma_route route = { .remote = (struct sockaddr *)&device->remotes.of[remote] };
	struct krdma_conn *conn;
	int ret;

	conn = krdma_conn_create(device->session, &krdma_blk_probe_ops, device);
	if (IS_ERR(conn))
		return conn;
	ret = krdma_conn_resolve(conn, &route);
	if (!ret)
		return conn;
	krdma_conn_close(conn);
	krdma_conn_put_sync(conn);
	return ERR_PTR(ret);
}

/* On iWARP, the end of an attempt could wait for the peer, and keep those of other devices. */
static noinline_for_stack int krdma_blk_probe_ask(struct krdma_conn *conn)
{
	static const struct krdma_conn_attr attr = {
		.send_depth = 1, .recv_depth = 1, .max_send_sge = 1,
		.where = KRDMA_CONTEXT_SOFTIRQ,
	};
	static const struct krdma_conn_param nothing;
	struct krdma_device_attr dev;
	int ret;

	ret = krdma_device_query_attr(krdma_conn_device(conn), &dev);
	if (!ret && dev.transport != KRDMA_TRANSPORT_IB)
		ret = -EOPNOTSUPP;
	return ret ?: krdma_conn_create_qp(conn, &attr) ?: krdma_conn_connect(conn, &nothing);
}

/* Returns 1 if the address answers, 0 if it does not yet, or a negative errno if it will not. */
static int krdma_blk_probe_step(struct krdma_conn *conn)
{
	struct krdma_conn_info info;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_blk_refusal refusal;
	int length;

	krdma_conn_query(conn, &info);
	switch (info.state) {
	case KRDMA_CONN_RESOLVED:
		return krdma_blk_probe_ask(conn);
	case KRDMA_CONN_CONNECTED:
		/* Not a krdma_blk server; the hello will find out. */
		return 1;
	case KRDMA_CONN_CLOSED:
		if (info.error != -ECONNREFUSED)
			return info.error ?: -EIO;
		length = krdma_conn_private_data(conn, data, sizeof(data));
		return krdma_blk_read_refusal(data, length, &refusal) ? 1 : -ECONNREFUSED;
	default:
		return 0;
	}
}

static void krdma_blk_probe_end(struct krdma_conn **conn)
{
	if (IS_ERR_OR_NULL(*conn))
		return;
	krdma_conn_abort(*conn);
	krdma_conn_close(*conn);
	krdma_conn_put_sync(*conn);
	*conn = NULL;
}

/*
 * Checks each probe once.  @says: why an address does not answer is why the device is not
 * connected.  Returns the index of an address that answers, -EAGAIN if none does yet, or why none
 * will.
 */
static int krdma_blk_probe_look(struct krdma_blk_device *device, struct krdma_conn **conns,
				unsigned int count, bool says)
{
	int failed = -EIO;
	bool waits = false;

	for (unsigned int i = 0; i < count; i++) {
		int ret = IS_ERR(conns[i]) ? PTR_ERR(conns[i]) : krdma_blk_probe_step(conns[i]);

		if (ret > 0)
			return i;
		if (!ret) {
			waits = true;
			continue;
		}
		if (!IS_ERR(conns[i])) {
			if (says)
				krdma_blk_path_explain(device, NULL, ret);
			krdma_blk_probe_end(&conns[i]);
			conns[i] = ERR_PTR(ret);
		}
		failed = ret;
	}
	return waits ? -EAGAIN : failed;
}

static unsigned long krdma_blk_probe_limit(const struct krdma_blk_device *device, bool first)
{
	if (first)
		return msecs_to_jiffies(device->agreed ? KRDMA_BLK_PROBE_MS :
							 KRDMA_BLK_PROBE_ATTACH_MS);
	return msecs_to_jiffies(device->agreed ? KRDMA_BLK_PROBE_OTHER_MS :
						 KRDMA_BLK_PROBE_OTHER_ATTACH_MS);
}

/**
 * krdma_blk_probe() - Find the address of the server that answers first
 * @device: the device
 * @count: number of its addresses to probe, from the first one on
 * @tried: bit map of those that have answered already, and could not be used.  The others get less
 *	time, and the device's error text stays.
 *
 * Context: process context; sleeps, until a signal.
 * Return: its index; -ECANCELED: the device is being detached; -EINTR; or why none answers.
 */
int krdma_blk_probe(struct krdma_blk_device *device, unsigned int count, unsigned long tried)
{
	unsigned long begin = jiffies, wait = msecs_to_jiffies(KRDMA_BLK_PROBE_AHEAD_MS);
	unsigned long limit = krdma_blk_probe_limit(device, !tried);
	/* While another address is in use, this is no error of the device. */
	bool says = !tried && krdma_blk_path_state(device) != KRDMA_BLK_LIVE;
	struct krdma_conn *conns[KRDMA_BLK_ADDRESSES] = {};
	unsigned int begun = 0;
	int ret, seen;
	long left;

	for (;;) {
		seen = atomic_read(&device->probe_events);
		/*
		 * The first one; and the others, after the first one has had its time, or has
		 * failed.
		 */
		if (!begun || (begun < count && time_after_eq(jiffies, begin + wait)))
			for (unsigned int end = begun ? count : 1; begun < end; begun++)
				conns[begun] = tried & BIT(begun) ? ERR_PTR(-EIO) :
					       krdma_blk_probe_begin(device, begun);
		ret = krdma_blk_probe_look(device, conns, begun, says);
		if (ret != -EAGAIN && (ret >= 0 || begun == count))
			break;
		/* If the first one has failed, the others need not wait. */
		if (ret != -EAGAIN)
			begin = jiffies - wait;
		ret = -ECANCELED;
		if (READ_ONCE(device->stop))
			break;
		ret = -ETIMEDOUT;
		left = begin + (begun < count ? wait : limit) - jiffies;
		if (left <= 0 && begun == count) {
			if (says)
				krdma_blk_path_say(device, "the server does not answer");
			break;
		}
		ret = -EINTR;
		if (left > 0 && wait_event_interruptible_timeout(device->probe_wait, seen !=
						atomic_read(&device->probe_events), left) < 0)
			break;
	}
	for (unsigned int i = 0; i < begun; i++)
		krdma_blk_probe_end(&conns[i]);
	return ret;
}

/*
 * Failback: returning to the first address
 */

static void krdma_blk_failback_work(struct work_struct *work)
{
	struct krdma_blk_device *device = container_of(to_delayed_work(work),
						       struct krdma_blk_device, failback);

	/* As where a device reconnects: memory reclaim may wait for this one, or for its thread. */
	unsigned int noio = memalloc_noio_save();
	unsigned int noreclaim = memalloc_noreclaim_save();
	bool answers;

	answers = krdma_blk_path_state(device) == KRDMA_BLK_LIVE &&
		  krdma_blk_probe(device, 1, 0) >= 0;
	memalloc_noreclaim_restore(noreclaim);
	memalloc_noio_restore(noio);
	if (!answers) {
		krdma_blk_failback_start(device);
		return;
	}
	device->failback_ms = min_t(unsigned int, device->failback_ms * 2,
				    KRDMA_BLK_FAILBACK_MAX_MS);
	/* The connections are made again, and the first address is probed first. */
	krdma_blk_path_move(device);
}

/**
 * krdma_blk_probe_init() - Initialize a device for probes
 * @device: the device, new
 *
 * Context: any.
 */
void krdma_blk_probe_init(struct krdma_blk_device *device)
{
	init_waitqueue_head(&device->probe_wait);
	atomic_set(&device->probe_events, 0);
	INIT_DELAYED_WORK(&device->failback, krdma_blk_failback_work);
}

/**
 * krdma_blk_failback_start() - Return to the first address when it answers
 * @device: the device, live
 *
 * Context: process context.
 */
void krdma_blk_failback_start(struct krdma_blk_device *device)
{
	if (device->remote && !READ_ONCE(device->stop))
		queue_delayed_work(krdma_blk_workqueue, &device->failback,
				   msecs_to_jiffies(device->failback_ms));
}
