// SPDX-License-Identifier: GPL-2.0
/*
 * What a session tells of devices: KRDMA_WATCH, and read() and poll() of a session.
 *
 * Records wait in a ring.  When it is full, nothing more is kept until the reader
 * has been told so, by KRDMA_DEVICE_EVENT_MISSED: he then looks at all devices
 * anyway.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include <krdma/krdma.h>

#include "core/objects.h"
#include "user/user.h"

/* Records that wait to be read.  A power of two. */
#define KRDMA_WATCH_RECORDS	64

/**
 * struct krdma_user_watch - what a session is to tell
 * @watch: the core's
 * @session: whose
 * @read_lock: held by the one who reads: a record that cannot be copied stays
 * @lock: protects what follows
 * @records: that nobody has read; those from @head to @tail stay as they are
 * @head: the next to be read
 * @tail: where the next one goes
 * @missed: there was no room for one, and nobody has read of that
 */
struct krdma_user_watch {
	struct krdma_watch watch;
	struct krdma_user_session *session;
	struct mutex read_lock;		/* see above */
	spinlock_t lock;		/* see above */
	struct krdma_device_record records[KRDMA_WATCH_RECORDS];
	u32 head;
	u32 tail;
	bool missed;
};

/* In process context, for one event at a time. */
static void krdma_user_watch_event(struct krdma_watch *watch,
				   const struct krdma_device_event *event)
{
	struct krdma_user_watch *mine = container_of(watch, struct krdma_user_watch, watch);

	spin_lock(&mine->lock);
	if (mine->tail - mine->head == KRDMA_WATCH_RECORDS)
		mine->missed = true;
	if (!mine->missed)
		mine->records[mine->tail++ % KRDMA_WATCH_RECORDS] = (struct krdma_device_record) {
			.size = sizeof(struct krdma_device_record),
			.type = event->type,
			.device_id = event->device_id,
			.port = event->port,
		};
	spin_unlock(&mine->lock);

	wake_up_interruptible_poll(&mine->session->wait, EPOLLIN | EPOLLRDNORM);
}

static bool krdma_user_watch_has(struct krdma_user_watch *watch)
{
	bool has;

	spin_lock(&watch->lock);
	has = watch->head != watch->tail || watch->missed;
	spin_unlock(&watch->lock);

	return has;
}

/* The next record, which stays until it is dropped. */
static bool krdma_user_watch_peek(struct krdma_user_watch *watch,
				  struct krdma_device_record *record)
{
	bool has = true;

	lockdep_assert_held(&watch->read_lock);

	spin_lock(&watch->lock);
	if (watch->head != watch->tail)
		*record = watch->records[watch->head % KRDMA_WATCH_RECORDS];
	else if (watch->missed)
		*record = (struct krdma_device_record) {
			.size = sizeof(*record),
			.type = KRDMA_DEVICE_EVENT_MISSED,
		};
	else
		has = false;
	spin_unlock(&watch->lock);

	return has;
}

static void krdma_user_watch_drop(struct krdma_user_watch *watch,
				  const struct krdma_device_record *record)
{
	lockdep_assert_held(&watch->read_lock);

	spin_lock(&watch->lock);
	if (record->type == KRDMA_DEVICE_EVENT_MISSED)
		watch->missed = false;
	else
		watch->head++;
	spin_unlock(&watch->lock);
}

/* As many whole records as there are and as fit: bytes, or a negative errno. */
static ssize_t krdma_user_watch_copy(struct krdma_user_watch *watch, struct iov_iter *to)
{
	struct krdma_device_record record;
	size_t done = 0;
	int ret;

	ret = mutex_lock_interruptible(&watch->read_lock);
	if (ret)
		return -ERESTARTSYS;
	while (iov_iter_count(to) >= sizeof(record) && krdma_user_watch_peek(watch, &record)) {
		if (copy_to_iter(&record, sizeof(record), to) != sizeof(record)) {
			ret = -EFAULT;
			break;
		}
		krdma_user_watch_drop(watch, &record);
		done += sizeof(record);
	}
	mutex_unlock(&watch->read_lock);

	return done ?: ret;
}

/**
 * krdma_user_watch_read - read() of a session
 * @session: the session
 * @iocb: of the program's read
 * @to: where the records go
 *
 * Context: process context, of the caller; may sleep.
 * Return: bytes; -EINVAL: the session watches nothing, or not even one record fits;
 * -EAGAIN: there is none, and it is not to wait; -EFAULT; -ERESTARTSYS.
 */
ssize_t krdma_user_watch_read(struct krdma_user_session *session, struct kiocb *iocb,
			      struct iov_iter *to)
{
	/* Pairs with the one who has set it. */
	struct krdma_user_watch *watch = smp_load_acquire(&session->watch);
	ssize_t ret;

	if (!watch || iov_iter_count(to) < sizeof(struct krdma_device_record))
		return -EINVAL;

	for (;;) {
		ret = krdma_user_watch_copy(watch, to);
		if (ret)
			return ret;
		if (krdma_user_nowait(iocb))
			return -EAGAIN;
		if (wait_event_interruptible(session->wait, krdma_user_watch_has(watch)))
			return -ERESTARTSYS;
	}
}

/**
 * krdma_user_watch_poll - poll() of a session
 * @session: the session
 * @file: its file
 * @table: the poller's
 *
 * Context: process context, of the caller; may sleep.
 * Return: EPOLLIN if there are records.
 */
__poll_t krdma_user_watch_poll(struct krdma_user_session *session, struct file *file,
			       struct poll_table_struct *table)
{
	struct krdma_user_watch *watch;

	poll_wait(file, &session->wait, table);
	/* Pairs with the one who has set it. */
	watch = smp_load_acquire(&session->watch);
	return watch && krdma_user_watch_has(watch) ? EPOLLIN | EPOLLRDNORM : 0;
}

static struct krdma_user_watch *krdma_user_watch_create(struct krdma_user_session *session)
{
	struct krdma_user_watch *watch;
	int ret;

	watch = krdma_object_count(KRDMA_OBJECT_USER_NOTIFIER,
				   kzalloc_obj(*watch, GFP_KERNEL_ACCOUNT));
	if (!watch)
		return ERR_PTR(-ENOMEM);
	watch->watch.event = krdma_user_watch_event;
	watch->session = session;
	mutex_init(&watch->read_lock);
	spin_lock_init(&watch->lock);

	ret = krdma_watch_start(&watch->watch, session->net);
	if (ret) {
		kfree(krdma_object_uncount(KRDMA_OBJECT_USER_NOTIFIER, watch));
		return ERR_PTR(ret);
	}
	return watch;
}

static void krdma_user_watch_destroy(struct krdma_user_watch *watch)
{
	krdma_watch_stop(&watch->watch);
	mutex_destroy(&watch->read_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_NOTIFIER, watch));
}

/**
 * krdma_user_watch - KRDMA_WATCH
 * @request: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
 */
int krdma_user_watch(struct krdma_user_request *request)
{
	struct krdma_user_session *session = request->session;
	struct krdma_user_watch *watch;

	if (request->buffer->watch.flags)
		return -EOPNOTSUPP;
	if (READ_ONCE(session->watch))
		return -EALREADY;

	watch = krdma_user_watch_create(session);
	if (IS_ERR(watch))
		return PTR_ERR(watch);
	/* Of several at a time, one wins. */
	if (cmpxchg(&session->watch, NULL, watch)) {
		krdma_user_watch_destroy(watch);
		return -EALREADY;
	}
	/* Of those who wait already, for what was told before it was set. */
	wake_up_interruptible_poll(&session->wait, EPOLLIN | EPOLLRDNORM);
	return 0;
}

/**
 * krdma_user_watch_end - a session's file is gone
 * @session: the session
 *
 * Context: process context; may sleep; waits for a record that is just being put.
 */
void krdma_user_watch_end(struct krdma_user_session *session)
{
	if (session->watch)
		krdma_user_watch_destroy(session->watch);
	session->watch = NULL;
}
