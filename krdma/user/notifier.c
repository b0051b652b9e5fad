// SPDX-License-Identifier: GPL-2.0
/*
 * Device events for a session: KRDMA_DEVICE_NOTIFY, and read() and poll() of a session.
 *
 * Records wait in a circular buffer.  When it is full, further events are dropped until the
 * reader has got KRDMA_DEVICE_EVENT_MISSED, after which it queries all devices anyway.
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

#include "core/notifier.h"
#include "core/objects.h"
#include "user/notifier.h"
#include "user/record.h"
#include "user/user.h"

/* Records that can wait to be read.  A power of two. */
#define KRDMA_NOTIFIER_RECORDS	64

/**
 * struct krdma_user_notifier - device events of a session
 * @notifier: the core's device notifier
 * @session: the session
 * @read_lock: held by the reader: a record that cannot be copied stays
 * @lock: protects the members below
 * @records: circular buffer; the records from @head to @tail were not read, and do not change
 * @head: index of the next record to be read; runs freely
 * @tail: index where the next record is stored; runs freely
 * @missed: a record did not fit, and KRDMA_DEVICE_EVENT_MISSED was not read since
 */
struct krdma_user_notifier {
	struct krdma_device_notifier notifier;
	struct krdma_user_session *session;
	struct mutex read_lock;		/* see above */
	spinlock_t lock;		/* see above */
	struct krdma_device_record records[KRDMA_NOTIFIER_RECORDS];
	u32 head;
	u32 tail;
	bool missed;
};

/* In process context, for one event at a time. */
static void krdma_user_notifier_event(struct krdma_device_notifier *notifier,
				      const struct krdma_device_event *event)
{
	struct krdma_user_notifier *mine = container_of(notifier, struct krdma_user_notifier,
							notifier);
	struct krdma_device_record *record;

	spin_lock(&mine->lock);
	if (mine->tail - mine->head == KRDMA_NOTIFIER_RECORDS)
		mine->missed = true;
	if (!mine->missed) {
		record = &mine->records[mine->tail++ % KRDMA_NOTIFIER_RECORDS];
		*record = (struct krdma_device_record) {
			.size = sizeof(*record),
			.type = event->type,
			.device_id = event->device_id,
			.port = event->port,
		};
	}
	spin_unlock(&mine->lock);

	wake_up_interruptible_poll(&mine->session->wait, EPOLLIN | EPOLLRDNORM);
}

static bool krdma_user_notifier_has(struct krdma_user_notifier *notifier)
{
	bool has;

	spin_lock(&notifier->lock);
	has = notifier->head != notifier->tail || notifier->missed;
	spin_unlock(&notifier->lock);

	return has;
}

/* Returns the next record, which stays until it is dropped. */
static bool krdma_user_notifier_peek(struct krdma_user_notifier *notifier,
				     struct krdma_device_record *record)
{
	bool has = true;

	lockdep_assert_held(&notifier->read_lock);

	spin_lock(&notifier->lock);
	if (notifier->head != notifier->tail)
		*record = notifier->records[notifier->head % KRDMA_NOTIFIER_RECORDS];
	else if (notifier->missed)
		*record = (struct krdma_device_record) {
			.size = sizeof(*record),
			.type = KRDMA_DEVICE_EVENT_MISSED,
		};
	else
		has = false;
	spin_unlock(&notifier->lock);

	return has;
}

static void krdma_user_notifier_drop(struct krdma_user_notifier *notifier,
				     const struct krdma_device_record *record)
{
	lockdep_assert_held(&notifier->read_lock);

	spin_lock(&notifier->lock);
	if (record->type == KRDMA_DEVICE_EVENT_MISSED)
		notifier->missed = false;
	else
		notifier->head++;
	spin_unlock(&notifier->lock);
}

/* Copies as many records as there are and as fit.  Returns bytes, or a negative errno. */
static ssize_t krdma_user_notifier_copy(struct krdma_user_notifier *notifier, struct iov_iter *to)
{
	struct krdma_device_record record;
	size_t done = 0;
	size_t bytes;
	int ret;

	ret = mutex_lock_interruptible(&notifier->read_lock);
	if (ret)
		return -ERESTARTSYS;
	for (;;) {
		bytes = krdma_user_record_bytes(sizeof(record), iov_iter_count(to), done);
		if (!bytes || !krdma_user_notifier_peek(notifier, &record))
			break;
		if (copy_to_iter(&record, bytes, to) != bytes) {
			ret = -EFAULT;
			break;
		}
		krdma_user_notifier_drop(notifier, &record);
		done += bytes;
	}
	mutex_unlock(&notifier->read_lock);

	return done ?: ret;
}

/**
 * krdma_user_notifier_read() - Implement read() of a session
 * @session: the session
 * @iocb: iocb of the read
 * @to: destination of the records
 *
 * Context: process context of the caller; may sleep.
 * Return: bytes; -EINVAL: the session has no device notifier, or not even one record fits;
 * -EAGAIN: there is none, and the read does not block; -EFAULT; -ERESTARTSYS.
 */
ssize_t krdma_user_notifier_read(struct krdma_user_session *session, struct kiocb *iocb,
				 struct iov_iter *to)
{
	/* Pairs with the cmpxchg() in krdma_user_device_notify(). */
	struct krdma_user_notifier *notifier = smp_load_acquire(&session->notifier);
	ssize_t ret;

	if (!notifier || iov_iter_count(to) < KRDMA_USER_RECORD_MIN)
		return -EINVAL;

	for (;;) {
		ret = krdma_user_notifier_copy(notifier, to);
		if (ret)
			return ret;
		if (krdma_user_nowait(iocb))
			return -EAGAIN;
		if (wait_event_interruptible(session->wait, krdma_user_notifier_has(notifier)))
			return -ERESTARTSYS;
	}
}

/**
 * krdma_user_notifier_poll() - Implement poll() of a session
 * @session: the session
 * @file: its file
 * @table: table of the poller
 *
 * Context: process context of the caller; may sleep.
 * Return: EPOLLIN if there are records.
 */
__poll_t krdma_user_notifier_poll(struct krdma_user_session *session, struct file *file,
				  struct poll_table_struct *table)
{
	struct krdma_user_notifier *notifier;

	poll_wait(file, &session->wait, table);
	/* Pairs with the cmpxchg() in krdma_user_device_notify(). */
	notifier = smp_load_acquire(&session->notifier);
	return notifier && krdma_user_notifier_has(notifier) ? EPOLLIN | EPOLLRDNORM : 0;
}

static struct krdma_user_notifier *krdma_user_notifier_create(struct krdma_user_session *session)
{
	struct krdma_user_notifier *notifier;
	int ret;

	notifier = krdma_object_count(KRDMA_OBJECT_USER_NOTIFIER,
				      kzalloc_obj(*notifier, GFP_KERNEL_ACCOUNT));
	if (!notifier)
		return ERR_PTR(-ENOMEM);
	notifier->notifier.event = krdma_user_notifier_event;
	notifier->session = session;
	mutex_init(&notifier->read_lock);
	spin_lock_init(&notifier->lock);

	ret = krdma_device_notifier_register(&notifier->notifier, session->net);
	if (ret) {
		kfree(krdma_object_uncount(KRDMA_OBJECT_USER_NOTIFIER, notifier));
		return ERR_PTR(ret);
	}
	/* A caller that does not wait for records must find those of the devices present. */
	krdma_device_notifier_flush(&notifier->notifier);
	return notifier;
}

static void krdma_user_notifier_destroy(struct krdma_user_notifier *notifier)
{
	krdma_device_notifier_unregister(&notifier->notifier);
	mutex_destroy(&notifier->read_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_NOTIFIER, notifier));
}

/**
 * krdma_user_device_notify() - Handle KRDMA_DEVICE_NOTIFY
 * @ucmd: the ioctl
 *
 * Context: process context of the caller; may sleep.
 * Return: 0 or a negative errno, as documented in <linux/krdma.h>.
 */
int krdma_user_device_notify(struct krdma_ucmd *ucmd)
{
	struct krdma_user_session *session = ucmd->session;
	struct krdma_user_notifier *notifier;

	if (ucmd->buffer->notifier.flags)
		return -EOPNOTSUPP;
	if (READ_ONCE(session->notifier))
		return -EALREADY;

	notifier = krdma_user_notifier_create(session);
	if (IS_ERR(notifier))
		return PTR_ERR(notifier);
	/* Of several concurrent callers, one succeeds. */
	if (cmpxchg(&session->notifier, NULL, notifier)) {
		krdma_user_notifier_destroy(notifier);
		return -EALREADY;
	}
	/*
	 * For threads that wait already: events may have been recorded before the notifier was
	 * set.
	 */
	wake_up_interruptible_poll(&session->wait, EPOLLIN | EPOLLRDNORM);
	return 0;
}

/**
 * krdma_user_notifier_end() - Destroy the device notifier of a session
 * @session: the session, of which the file is released
 *
 * Context: process context; may sleep; waits for a record that is just being added.
 */
void krdma_user_notifier_end(struct krdma_user_session *session)
{
	if (session->notifier)
		krdma_user_notifier_destroy(session->notifier);
	session->notifier = NULL;
}
