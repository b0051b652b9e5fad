// SPDX-License-Identifier: GPL-2.0
/*
 * Which of the server's addresses answers?
 *
 * All addresses are asked at nearly the same time, the first one a little earlier: so an
 * address that does not answer costs no time, and one that is written first is used if it
 * does.  The question is a request for a connection without a hello.  The server answers it
 * with a refusal, and keeps nothing of it.
 *
 * A device that does not use its first address asks there from time to time, and goes back.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/sched/mm.h>
#include <linux/wait.h>

#include "blk.h"
#include "device.h"

/* How long the first address is waited for before the others are asked. */
#define KRDMA_BLK_PROBE_AHEAD_MS	200
/* No server takes longer to refuse; but one that registers its memory for somebody does. */
#define KRDMA_BLK_PROBE_MS		10000
#define KRDMA_BLK_PROBE_ATTACH_MS	60000

/* The longest time until the first address is asked again, which doubles when it answers. */
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
 * krdma_blk_probe_wake - look again: something has happened
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

/* Does it answer?  1, 0: not yet, or a negative errno: it does not. */
static int krdma_blk_probe_step(struct krdma_conn *conn)
{
	static const struct krdma_conn_attr attr = {
		.send_depth = 1, .recv_depth = 1, .max_send_sge = 1,
		.where = KRDMA_CONTEXT_SOFTIRQ,
	};
	static const struct krdma_conn_param nothing;
	struct krdma_conn_info info;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_blk_refusal refusal;
	int length;

	krdma_conn_query(conn, &info);
	switch (info.state) {
	case KRDMA_CONN_RESOLVED:
		return krdma_conn_create_qp(conn, &attr) ?: krdma_conn_connect(conn, &nothing);
	case KRDMA_CONN_CONNECTED:
		/* No krdma_blk; the hello will show it. */
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

/* One look at each of them: an address that answers, -EAGAIN: not yet, or why none does. */
static int krdma_blk_probe_look(struct krdma_blk_device *device, struct krdma_conn **conns,
				unsigned int count)
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
			/* While another address is in use, that is no error of the device. */
			if (krdma_blk_path_state(device) != KRDMA_BLK_LIVE)
				krdma_blk_path_explain(device, NULL, ret);
			krdma_blk_probe_end(&conns[i]);
			conns[i] = ERR_PTR(ret);
		}
		failed = ret;
	}
	return waits ? -EAGAIN : failed;
}

/**
 * krdma_blk_probe - which of the server's addresses answers first?
 * @device: the device
 * @count: how many of its addresses are asked, from the first one on
 *
 * Context: process context; sleeps, until a signal.
 * Return: its index; -ECANCELED: the device is being detached; -EINTR; or why none answers.
 */
int krdma_blk_probe(struct krdma_blk_device *device, unsigned int count)
{
	unsigned long begin = jiffies, wait = msecs_to_jiffies(KRDMA_BLK_PROBE_AHEAD_MS);
	unsigned long limit = msecs_to_jiffies(device->attached ? KRDMA_BLK_PROBE_MS :
							KRDMA_BLK_PROBE_ATTACH_MS);
	struct krdma_conn *conns[KRDMA_BLK_ADDRESSES] = {};
	unsigned int begun = 0;
	int ret, seen;
	long left;

	for (;;) {
		seen = atomic_read(&device->probe_events);
		/* The first one; and the others, once it has had its time, or has failed. */
		if (!begun || (begun < count && time_after_eq(jiffies, begin + wait)))
			for (unsigned int end = begun ? count : 1; begun < end; begun++)
				conns[begun] = krdma_blk_probe_begin(device, begun);
		ret = krdma_blk_probe_look(device, conns, begun);
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
			if (krdma_blk_path_state(device) != KRDMA_BLK_LIVE)
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
 * Going back to the first address
 */

static void krdma_blk_failback_work(struct work_struct *work)
{
	struct krdma_blk_device *device = container_of(to_delayed_work(work),
						       struct krdma_blk_device, failback);

	/* Reclaim may wait for this device. */
	unsigned int noio = memalloc_noio_save();
	bool answers;

	answers = krdma_blk_path_state(device) == KRDMA_BLK_LIVE &&
		  krdma_blk_probe(device, 1) >= 0;
	memalloc_noio_restore(noio);
	if (!answers) {
		krdma_blk_failback_start(device);
		return;
	}
	device->failback_ms = min_t(unsigned int, device->failback_ms * 2,
				    KRDMA_BLK_FAILBACK_MAX_MS);
	/* The connections are made anew, and the first address is asked first. */
	krdma_blk_path_lost(device);
}

/**
 * krdma_blk_probe_init - make a device ready for probes
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
 * krdma_blk_failback_start - go back to the first address when it answers
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
