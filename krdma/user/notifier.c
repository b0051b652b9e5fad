// SPDX-License-Identifier: GPL-2.0
/*
 * What a session tells of devices: KRDMA_DEVICE_NOTIFY, and read() and poll() of a session.
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
#define KRDMA_NOTIFIER_RECORDS	64

/**
 * struct krdma_user_notifier - what a session is to tell
 * @notifier: the core's
 * @session: whose
 * @read_lock: held by the one who reads: a record that cannot be copied stays
 * @lock: protects what follows
 * @records: that nobody has read; those from @head to @tail stay as they are
 * @head: the next to be read
 * @tail: where the next one goes
 * @missed: there was no room for one, and nobody has read of that
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

/* The next record, which stays until it is dropped. */
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

/* As many whole records as there are and as fit: bytes, or a negative errno. */
static ssize_t krdma_user_notifier_copy(struct krdma_user_notifier *notifier, struct iov_iter *to)
{
	struct krdma_device_record record;
	size_t done = 0;
	int ret;

	ret = mutex_lock_interruptible(&notifier->read_lock);
	if (ret)
		return -ERESTARTSYS;
	while (iov_iter_count(to) >= sizeof(record) &&
	       krdma_user_notifier_peek(notifier, &record)) {
		if (copy_to_iter(&record, sizeof(record), to) != sizeof(record)) {
			ret = -EFAULT;
			break;
		}
		krdma_user_notifier_drop(notifier, &record);
		done += sizeof(record);
	}
	mutex_unlock(&notifier->read_lock);

	return done ?: ret;
}

/**
 * krdma_user_notifier_read - read() of a session
 * @session: the session
 * @iocb: of the program's read
 * @to: where the records go
 *
 * Context: process context, of the caller; may sleep.
 * Return: bytes; -EINVAL: the session watches nothing, or not even one record fits;
 * -EAGAIN: there is none, and it is not to wait; -EFAULT; -ERESTARTSYS.
 */
ssize_t krdma_user_notifier_read(struct krdma_user_session *session, struct kiocb *iocb,
				 struct iov_iter *to)
{
	/* Pairs with the one who has set it. */
	struct krdma_user_notifier *notifier = smp_load_acquire(&session->notifier);
	ssize_t ret;

	if (!notifier || iov_iter_count(to) < sizeof(struct krdma_device_record))
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
 * krdma_user_notifier_poll - poll() of a session
 * @session: the session
 * @file: its file
 * @table: the poller's
 *
 * Context: process context, of the caller; may sleep.
 * Return: EPOLLIN if there are records.
 */
__poll_t krdma_user_notifier_poll(struct krdma_user_session *session, struct file *file,
				  struct poll_table_struct *table)
{
	struct krdma_user_notifier *notifier;

	poll_wait(file, &session->wait, table);
	/* Pairs with the one who has set it. */
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
	return notifier;
}

static void krdma_user_notifier_destroy(struct krdma_user_notifier *notifier)
{
	krdma_device_notifier_unregister(&notifier->notifier);
	mutex_destroy(&notifier->read_lock);
	kfree(krdma_object_uncount(KRDMA_OBJECT_USER_NOTIFIER, notifier));
}

/**
 * krdma_user_device_notify - KRDMA_DEVICE_NOTIFY
 * @ucmd: the request
 *
 * Context: process context, of the caller; may sleep.
 * Return: 0 or a negative errno, as <linux/krdma.h> says.
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
	/* Of several at a time, one wins. */
	if (cmpxchg(&session->notifier, NULL, notifier)) {
		krdma_user_notifier_destroy(notifier);
		return -EALREADY;
	}
	/* Of those who wait already, for what was told before it was set. */
	wake_up_interruptible_poll(&session->wait, EPOLLIN | EPOLLRDNORM);
	return 0;
}

/**
 * krdma_user_notifier_end - a session's file is gone
 * @session: the session
 *
 * Context: process context; may sleep; waits for a record that is just being put.
 */
void krdma_user_notifier_end(struct krdma_user_session *session)
{
	if (session->notifier)
		krdma_user_notifier_destroy(session->notifier);
	session->notifier = NULL;
}
