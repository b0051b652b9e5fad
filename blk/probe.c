// SPDX-License-Identifier: GPL-2.0
/*
 * Find the address of the server that answers first.
 *
 * All addresses are probed nearly at the same time, the first one a little earlier.  So an
 * address that does not answer costs no time, and the first one is used if it answers.  A probe
 * is a connection request without a hello.  The server answers it with a refusal, and keeps no
 * state for it.
 *
 * Each address has its own time to answer.  One that refuses is asked again while others have not
 * answered yet, and takes no time from them.
 *
 * A device that does not use its first address probes that from time to time, and returns to it.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/wait.h>

#include "blk.h"
#include "device.h"
#include "probe.h"
#include "root.h"
#include "state.h"

/* How long to wait for the first address before the others are probed. */
#define KRDMA_BLK_PROBE_AHEAD_MS	200
/*
 * Time of each address.  A server refuses faster than this, but not while it registers its memory
 * for another client.
 */
#define KRDMA_BLK_PROBE_MS		10000
#define KRDMA_BLK_PROBE_ATTACH_MS	60000
/* When one of them has answered, but could not be used, while a device is attached. */
#define KRDMA_BLK_PROBE_OTHER_ATTACH_MS	10000

/* Time until the next attempt: doubled with each attempt, and randomized. */
#define KRDMA_BLK_PAUSE_MIN_MS		100
#define KRDMA_BLK_PAUSE_MAX_MS		5000

/* Maximum time until the first address is probed again; the time doubles with each return to it. */
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

/**
 * krdma_blk_probe_pause() - Get the time until an address that has failed is tried again
 * @failures: how often that has happened before
 *
 * Context: any.
 * Return: milliseconds: doubled with each failure, and randomized, so that not all clients of a
 * server connect again at the same time.
 */
unsigned int krdma_blk_probe_pause(unsigned int failures)
{
	unsigned int pause = KRDMA_BLK_PAUSE_MIN_MS << min(failures, 6U);

	pause = min_t(unsigned int, pause, KRDMA_BLK_PAUSE_MAX_MS);
	return pause / 2 + get_random_u32() % pause;
}

static bool krdma_blk_probe_is_asked(const struct krdma_blk_probe_state *probe)
{
	return !IS_ERR_OR_NULL(probe->conn);
}

/*
 * An address has failed.  A device that connects again tries it again after a pause, whatever the
 * others do meanwhile.
 */
static void krdma_blk_probe_failed(struct krdma_blk_device *device,
				   struct krdma_blk_probes *probes, unsigned int i, int error)
{
	struct krdma_blk_probe_state *probe = &probes->of[i];
	unsigned int pause = krdma_blk_probe_pause(device->attempts + probe->failures++);
	bool again;

	krdma_blk_probe_end(&probe->conn);
	probe->at = jiffies + msecs_to_jiffies(pause);
	again = device->agreed && time_before_eq(probe->at, probes->until);
	probe->conn = again ? NULL : ERR_PTR(error);
	probes->error = error;
	/* If the first one has failed, the others need not wait. */
	for (unsigned int other = 1; probes->ahead && other < probes->count; other++)
		probes->of[other].at = jiffies;
	probes->ahead = false;
}

static unsigned long krdma_blk_probe_limit(const struct krdma_blk_device *device, bool first)
{
	if (device->agreed)
		return msecs_to_jiffies(KRDMA_BLK_PROBE_MS);
	return msecs_to_jiffies(first ? KRDMA_BLK_PROBE_ATTACH_MS :
					KRDMA_BLK_PROBE_OTHER_ATTACH_MS);
}

/*
 * Checks one address.  @says: why it does not answer is why the device is not connected.  Returns
 * true if it answers.
 */
static bool krdma_blk_probe_look(struct krdma_blk_device *device, struct krdma_blk_probes *probes,
				 unsigned int i, bool says)
{
	struct krdma_blk_probe_state *probe = &probes->of[i];
	int ret = 0;

	if (!probe->conn && time_after_eq(jiffies, probe->at)) {
		probe->conn = krdma_blk_probe_begin(device, i);
		probe->at = jiffies + krdma_blk_probe_limit(device, !probes->tried);
		probes->ahead &= !i;
		if (IS_ERR(probe->conn))
			ret = PTR_ERR(probe->conn);
	}
	if (krdma_blk_probe_is_asked(probe))
		ret = krdma_blk_probe_step(probe->conn);
	if (ret > 0)
		return true;
	if (ret < 0) {
		if (says && krdma_blk_probe_is_asked(probe))
			krdma_blk_path_explain(device, NULL, ret);
		krdma_blk_probe_failed(device, probes, i, ret);
	} else if (krdma_blk_probe_is_asked(probe) && time_after_eq(jiffies, probe->at)) {
		if (says)
			krdma_blk_path_explain(device, NULL, -ETIMEDOUT);
		krdma_blk_probe_end(&probe->conn);
		probe->conn = ERR_PTR(-ETIMEDOUT);
		probes->error = -ETIMEDOUT;
	}
	return false;
}

/*
 * Returns how long to wait, in jiffies: until a probe begins or ends.  Returns a negative errno if
 * no address is being asked any more.
 */
static long krdma_blk_probe_left(const struct krdma_blk_probes *probes)
{
	long left = MAX_SCHEDULE_TIMEOUT - 1;
	bool asked = false;

	for (unsigned int i = 0; i < probes->count; i++) {
		const struct krdma_blk_probe_state *probe = &probes->of[i];

		asked |= krdma_blk_probe_is_asked(probe);
		if (!IS_ERR(probe->conn))
			left = min_t(long, left, probe->at - jiffies);
	}
	return asked ? max(left, 0L) : probes->error;
}

/**
 * krdma_blk_probes_begin() - Begin to find the address of the server that answers first
 * @device: the device
 * @probes: filled in
 * @count: number of its addresses to probe, from the first one on
 *
 * Context: process context.
 */
void krdma_blk_probes_begin(const struct krdma_blk_device *device, struct krdma_blk_probes *probes,
			    unsigned int count)
{
	*probes = (struct krdma_blk_probes) {
		.count = count, .ahead = true, .error = -EIO,
		.until = jiffies + krdma_blk_probe_limit(device, true),
	};
	probes->of[0].at = jiffies;
	for (unsigned int i = 1; i < count; i++)
		probes->of[i].at = jiffies + msecs_to_jiffies(KRDMA_BLK_PROBE_AHEAD_MS);
}

/**
 * krdma_blk_probes_end() - End the probes
 * @probes: the probes
 *
 * Context: process context; may sleep.
 */
void krdma_blk_probes_end(struct krdma_blk_probes *probes)
{
	for (unsigned int i = 0; i < probes->count; i++)
		krdma_blk_probe_end(&probes->of[i].conn);
}

/**
 * krdma_blk_probe() - Find the address of the server that answers first
 * @device: the device
 * @probes: the probes
 *
 * The others are still being asked when it returns.
 *
 * Context: process context; sleeps, until a signal.
 * Return: its index; -ECANCELED: the device is being detached; -EINTR; or why none answers.
 */
int krdma_blk_probe(struct krdma_blk_device *device, struct krdma_blk_probes *probes)
{
	/* While another address is in use, this is no error of the device. */
	bool says = !probes->tried && krdma_blk_path_state(device) != KRDMA_BLK_LIVE;

	for (;;) {
		int seen = atomic_read(&device->probe_events);
		long left;

		for (unsigned int i = 0; i < probes->count; i++) {
			if (!krdma_blk_probe_look(device, probes, i, says))
				continue;
			krdma_blk_probe_end(&probes->of[i].conn);
			probes->left_at = jiffies;
			return i;
		}
		left = krdma_blk_probe_left(probes);
		if (left < 0)
			return left;
		if (READ_ONCE(device->stop))
			return -ECANCELED;
		if (left && wait_event_interruptible_timeout(device->probe_wait, seen !=
						atomic_read(&device->probe_events), left) < 0)
			return -EINTR;
	}
}

/**
 * krdma_blk_probe_again() - Go on, with the others and then with this one again
 * @device: the device
 * @probes: the probes
 * @tried: the address that answered, and could not be used.  From now on the device's error text
 *	stays; and while the device is attached, the others get less time.
 *
 * Context: process context; may sleep.
 */
void krdma_blk_probe_again(struct krdma_blk_device *device, struct krdma_blk_probes *probes,
			   unsigned int tried)
{
	probes->tried = true;
	krdma_blk_probe_failed(device, probes, tried, -ECONNREFUSED);
	for (unsigned int i = 0; i < probes->count; i++) {
		struct krdma_blk_probe_state *probe = &probes->of[i];

		if (!krdma_blk_probe_is_asked(probe))
			continue;
		/* It was not checked meanwhile, and that time does not count. */
		probe->at += jiffies - probes->left_at;
		if (!device->agreed)
			probe->at = jiffies + krdma_blk_probe_limit(device, false);
	}
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
	struct krdma_blk_probes probes;
	bool answers;

	krdma_blk_probes_begin(device, &probes, 1);
	answers = krdma_blk_path_state(device) == KRDMA_BLK_LIVE &&
		  krdma_blk_probe(device, &probes) >= 0;
	krdma_blk_probes_end(&probes);
	memalloc_noreclaim_restore(noreclaim);
	memalloc_noio_restore(noio);
	if (!answers) {
		krdma_blk_failback_start(device);
		return;
	}
	/* The connections are made again, and the first address is probed first. */
	if (krdma_blk_path_move(device))
		device->failback_ms = min_t(unsigned int, device->failback_ms * 2,
					    KRDMA_BLK_FAILBACK_MAX_MS);
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
