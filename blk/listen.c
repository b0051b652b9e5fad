// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners for clients.
 *
 * There are listeners while an export is enabled.  A listener at an address of an RDMA device
 * ends with that device, and one at all addresses does not.  The exports keep their data
 * meanwhile, so listening starts again as soon as the address exists again.  It is tried every
 * second, because the address may appear later than the device.  So are requests for which there
 * was no memory.
 */
#include <linux/err.h>
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "address.h"
#include "blk.h"
#include "export.h"
#include "listen.h"
#include "root.h"

#define KRDMA_BLK_LISTEN_INTERVAL	HZ

/* Protects the variables below. */
static DEFINE_MUTEX(listen_lock);
static unsigned int listen_users;
/* Set before the first listener exists, and not changed while there is one. */
static const struct krdma_blk_listen_ops *listen_ops;
static struct krdma_session *listen_session;
static struct krdma_listener *listeners[KRDMA_BLK_ADDRESSES];
static struct krdma_blk_addresses listen_addresses;
/* This host hibernates, and has no export until it is awake. */
static bool listen_hibernates;

static void krdma_blk_listen_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(listen_work, krdma_blk_listen_again);

static void krdma_blk_listen_ready(struct krdma_listener *listener)
{
	switch (listen_ops->requested(listener)) {
	case -ENODEV:
		/* Closing it here would wait for this callback. */
		krdma_blk_listen_schedule();
		break;
	case -ENOMEM:
		queue_delayed_work(krdma_blk_export_workqueue, &listen_work,
				   KRDMA_BLK_LISTEN_INTERVAL);
		break;
	default:
		break;
	}
}

/**
 * krdma_blk_listen_schedule() - Schedule a check of all listeners
 *
 * Context: any.
 */
void krdma_blk_listen_schedule(void)
{
	mod_delayed_work(krdma_blk_export_workqueue, &listen_work, 0);
}

static int krdma_blk_listen_at(unsigned int i)
{
	struct krdma_listen_attr attr = {
		.local = (struct sockaddr *)&listen_addresses.of[i],
		.ready = krdma_blk_listen_ready,
	};
	struct krdma_listener *listener;

	lockdep_assert_held(&listen_lock);
	listener = krdma_listen(listen_session, &attr);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	listeners[i] = listener;
	return 0;
}

static void krdma_blk_listen_stop(unsigned int i)
{
	lockdep_assert_held(&listen_lock);
	if (!listeners[i])
		return;
	krdma_listener_close(listeners[i]);
	krdma_listener_put(listeners[i]);
	listeners[i] = NULL;
}

static void krdma_blk_listen_again(struct work_struct *work)
{
	bool again = false;

	mutex_lock(&listen_lock);
	for (unsigned int i = 0; listen_users && i < listen_addresses.count; i++) {
		int ret = listeners[i] ? listen_ops->requested(listeners[i]) : -ENODEV;

		if (ret == -ENOMEM)
			again = true;
		if (ret != -ENODEV)
			continue;
		krdma_blk_listen_stop(i);
		if (krdma_blk_listen_at(i))
			again = true;
		else
			pr_info("krdma_blk: listening at %pISpc again\n", &listen_addresses.of[i]);
	}
	if (again)
		queue_delayed_work(krdma_blk_export_workqueue, &listen_work,
				   KRDMA_BLK_LISTEN_INTERVAL);
	mutex_unlock(&listen_lock);
}

static void krdma_blk_listen_default(void)
{
	struct sockaddr_in6 *any = (struct sockaddr_in6 *)&listen_addresses.of[0];

	lockdep_assert_held(&listen_lock);
	if (listen_addresses.count)
		return;
	*any = (struct sockaddr_in6) {
		.sin6_family = AF_INET6, .sin6_port = htons(KRDMA_BLK_PORT),
	};
	listen_addresses.count = 1;
}

static void krdma_blk_listen_put(void)
{
	lockdep_assert_held(&listen_lock);

	if (--listen_users)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(listeners); i++)
		krdma_blk_listen_stop(i);
	/* Refused connections belong to no export, so no other code waits for them. */
	listen_ops->wait();
	krdma_session_put(listen_session);
	listen_session = NULL;
}

static int krdma_blk_listen_get(const struct krdma_blk_listen_ops *ops)
{
	int ret;

	lockdep_assert_held(&listen_lock);

	if (listen_hibernates)
		return -EBUSY;
	if (listen_users++)
		return 0;
	listen_session = krdma_session_create(&init_net);
	if (IS_ERR(listen_session)) {
		listen_users--;
		return PTR_ERR(listen_session);
	}
	listen_ops = ops;
	krdma_blk_listen_default();
	for (unsigned int i = 0; i < listen_addresses.count; i++) {
		ret = krdma_blk_listen_at(i);
		if (ret) {
			krdma_blk_listen_put();
			return ret;
		}
	}
	return 0;
}

/**
 * krdma_blk_listen_begin() - Start listening, or share the listeners
 * @ops: answers connection requests; the same for all exports
 *
 * Context: process context; may sleep.
 * Return: 0, and krdma_blk_listen_end() is to be called once; or an error of krdma_listen().
 */
int krdma_blk_listen_begin(const struct krdma_blk_listen_ops *ops)
{
	int ret;

	mutex_lock(&listen_lock);
	ret = krdma_blk_listen_get(ops);
	mutex_unlock(&listen_lock);
	return ret;
}

/**
 * krdma_blk_listen_end() - Stop listening, unless other exports need the listeners
 *
 * Context: process context; sleeps, uninterruptibly.
 */
void krdma_blk_listen_end(void)
{
	mutex_lock(&listen_lock);
	krdma_blk_listen_put();
	mutex_unlock(&listen_lock);
}

/*
 * A host that is restored from an image has the data that its exports had when the image was made.
 * The network works while the image is written, and what clients write then is lost, or missing in
 * the file system of a store.  The clients would not notice.  So there is no image with exports.
 */
static int krdma_blk_listen_sleep(struct notifier_block *block, unsigned long event, void *unused)
{
	int ret = 0;

	mutex_lock(&listen_lock);
	if (event == PM_HIBERNATION_PREPARE && listen_users) {
		pr_err("krdma_blk: cannot hibernate while an export is enabled\n");
		ret = -EBUSY;
	} else if (event == PM_HIBERNATION_PREPARE) {
		listen_hibernates = true;
	} else if (event == PM_POST_HIBERNATION) {
		listen_hibernates = false;
	}
	mutex_unlock(&listen_lock);
	return notifier_from_errno(ret);
}

static struct notifier_block listen_sleep = { .notifier_call = krdma_blk_listen_sleep };

/**
 * krdma_blk_listen_init() - Get ready when the module is loaded
 *
 * Context: process context; may sleep.
 * Return: 0, and krdma_blk_listen_exit() is to be called once; or a negative errno.
 */
int krdma_blk_listen_init(void)
{
	return register_pm_notifier(&listen_sleep);
}

/**
 * krdma_blk_listen_exit() - Undo krdma_blk_listen_init(), and stop the work item
 *
 * No export is enabled any more.
 *
 * Context: process context; sleeps.
 */
void krdma_blk_listen_exit(void)
{
	unregister_pm_notifier(&listen_sleep);
	cancel_delayed_work_sync(&listen_work);
}

/**
 * krdma_blk_listen_show() - Show the addresses of the listeners
 * @page: filled in
 *
 * Context: process context; may sleep.
 * Return: number of bytes.
 */
ssize_t krdma_blk_listen_show(char *page)
{
	ssize_t length;

	mutex_lock(&listen_lock);
	krdma_blk_listen_default();
	length = krdma_blk_print_addresses(&listen_addresses, page);
	mutex_unlock(&listen_lock);
	return length;
}

/**
 * krdma_blk_listen_store() - Set the addresses of the listeners
 * @page: addresses, separated by blanks
 * @count: bytes of @page
 *
 * Context: process context; may sleep.
 * Return: @count; -EINVAL: invalid addresses; -EBUSY: an export is enabled.
 */
ssize_t krdma_blk_listen_store(const char *page, size_t count)
{
	struct krdma_blk_addresses *addresses;
	int ret;

	addresses = kzalloc_obj(*addresses, GFP_KERNEL);
	if (!addresses)
		return -ENOMEM;
	ret = krdma_blk_parse_addresses(page, count, addresses);
	mutex_lock(&listen_lock);
	if (!ret && listen_users)
		ret = -EBUSY;
	if (!ret)
		listen_addresses = *addresses;
	mutex_unlock(&listen_lock);
	kfree(addresses);
	return ret ?: count;
}
