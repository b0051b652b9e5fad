// SPDX-License-Identifier: GPL-2.0
/*
 * Who wants to hear of devices, and what they are told.
 *
 * Between each watch and each device that it may see there is one structure, the
 * "sight".  It is made before the watch hears of the device, so that nothing
 * that happens later needs memory: it only sets a bit there.  A watch has a work
 * of its own, which turns bits into calls.  So
 *
 *  - nothing is lost, however slow the consumer is: what happens twice before it
 *    is told is told once;
 *  - a consumer that is slow, or waits for something, holds up neither other
 *    consumers nor the device: removal only leaves a bit, and the sight outlives
 *    the device until the end has been told;
 *  - a watch hears the end of exactly those devices of which it has heard the
 *    beginning, though the namespace's view may change in between.
 *
 * Of one device, ADDED comes first and REMOVED last.  Of a port that went up and
 * down, what is told last is how it is.  Devices come in the order in which they
 * first had something to tell.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>

#include "core/objects.h"
#include "core/port.h"
#include "core/private.h"
#include "core/resource.h"
#include "core/notifier.h"

/**
 * struct krdma_watched - a device, from before it is added until it is removed
 * @node: in krdma_watched_devices
 * @ibdev: the RDMA device
 * @ports: what is kept of its ports, and may change with an event
 * @handler: hears of its events
 * @id: its number, 0 until it is added.  Protected by krdma_watch_mutex.
 * @sights: of all watches that may see it.  Protected by krdma_watch_lock.
 */
struct krdma_watched {
	struct list_head node;
	struct ib_device *ibdev;
	struct krdma_ports *ports;
	struct ib_event_handler handler;
	u32 id;
	struct list_head sights;
};

/**
 * struct krdma_watcher - our part of a watch
 * @watch: the consumer's part
 * @node: in krdma_watchers
 * @work: tells the consumer
 * @teller: who runs in the consumer's callback now
 * @sights: of all devices.  Protected, like @news, by krdma_watch_lock.
 * @news: those of them with something to tell
 */
struct krdma_watcher {
	struct krdma_watch *watch;
	struct list_head node;
	struct work_struct work;
	struct task_struct *teller;
	struct list_head sights;
	struct list_head news;
};

/**
 * struct krdma_sight - a watch sees a device
 * @watcher: who
 * @watcher_node: in its sights
 * @news_node: in its news, while there are any
 * @watched: the device, until it is removed
 * @watched_node: in its sights, likewise
 * @device_id: the device's number, 0 until the watch is to hear of it
 * @port_count: the device's ports
 * @pending: what is to be told: of the device itself, and by port, bits by
 *	&enum krdma_device_event_type, and KRDMA_WATCH_DOWN_LAST
 *
 * Protected by krdma_watch_lock.  Belongs to the watch.
 */
struct krdma_sight {
	struct krdma_watcher *watcher;
	struct list_head watcher_node;
	struct list_head news_node;
	struct krdma_watched *watched;
	struct list_head watched_node;
	u32 device_id;
	u32 port_count;
	u8 pending[];
};

/* No event has the number 0, so its bit is free: which came last, up or down? */
#define KRDMA_WATCH_DOWN_LAST	BIT(0)
static_assert(KRDMA_DEVICE_EVENT_ADDED > 0 && KRDMA_DEVICE_EVENT_FATAL < 8);

static DEFINE_MUTEX(krdma_watch_mutex);
static DEFINE_SPINLOCK(krdma_watch_lock);
static LIST_HEAD(krdma_watched_devices);	/* protected by krdma_watch_mutex */
static LIST_HEAD(krdma_watchers);		/* protected by krdma_watch_mutex */

/*
 * What is pending
 */

static void krdma_sight_set(struct krdma_sight *sight, enum krdma_device_event_type type, u32 port)
{
	struct krdma_watcher *watcher = sight->watcher;
	u8 *pending = &sight->pending[port];

	lockdep_assert_held(&krdma_watch_lock);

	*pending |= BIT(type);
	if (type == KRDMA_DEVICE_EVENT_PORT_ERROR)
		*pending |= KRDMA_WATCH_DOWN_LAST;
	else if (type == KRDMA_DEVICE_EVENT_PORT_ACTIVE)
		*pending &= ~KRDMA_WATCH_DOWN_LAST;

	if (list_empty(&sight->news_node))
		list_add_tail(&sight->news_node, &watcher->news);
	queue_work(krdma_workqueue, &watcher->work);
}

/* Of one device or port, in the order in which it is told. */
static bool krdma_sight_take_one_of(struct krdma_sight *sight, u32 port,
				    const enum krdma_device_event_type *types, int count,
				    struct krdma_device_event *event)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!(sight->pending[port] & BIT(types[i])))
			continue;
		sight->pending[port] &= ~BIT(types[i]);
		*event = (struct krdma_device_event) {
			.type = types[i],
			.device_id = sight->device_id,
			.port = port,
		};
		return true;
	}
	return false;
}

static bool krdma_sight_take(struct krdma_sight *sight, struct krdma_device_event *event)
{
	static const enum krdma_device_event_type first[] = {
		KRDMA_DEVICE_EVENT_ADDED, KRDMA_DEVICE_EVENT_FATAL,
	};
	static const enum krdma_device_event_type port_up[] = {
		KRDMA_DEVICE_EVENT_PORT_ERROR, KRDMA_DEVICE_EVENT_PORT_ACTIVE,
		KRDMA_DEVICE_EVENT_ADDRESS_CHANGED,
	};
	static const enum krdma_device_event_type port_down[] = {
		KRDMA_DEVICE_EVENT_PORT_ACTIVE, KRDMA_DEVICE_EVENT_PORT_ERROR,
		KRDMA_DEVICE_EVENT_ADDRESS_CHANGED,
	};
	static const enum krdma_device_event_type last[] = {
		KRDMA_DEVICE_EVENT_REMOVED,
	};
	u32 port;

	lockdep_assert_held(&krdma_watch_lock);

	if (krdma_sight_take_one_of(sight, 0, first, ARRAY_SIZE(first), event))
		return true;
	for (port = 1; port <= sight->port_count; port++) {
		bool down = sight->pending[port] & KRDMA_WATCH_DOWN_LAST;

		if (krdma_sight_take_one_of(sight, port, down ? port_down : port_up,
					    ARRAY_SIZE(port_up), event))
			return true;
	}
	return krdma_sight_take_one_of(sight, 0, last, ARRAY_SIZE(last), event);
}

/*
 * Telling
 */

/* What the watch is to hear next; a sight ends when its last event is taken. */
static bool krdma_watcher_take(struct krdma_watcher *watcher, struct krdma_device_event *event)
{
	struct krdma_sight *over = NULL;
	struct krdma_sight *sight;
	bool taken = false;

	spin_lock_irq(&krdma_watch_lock);
	while (!taken && !list_empty(&watcher->news)) {
		sight = list_first_entry(&watcher->news, struct krdma_sight, news_node);
		taken = krdma_sight_take(sight, event);
		if (!taken)
			list_del_init(&sight->news_node);
		else if (event->type == KRDMA_DEVICE_EVENT_REMOVED)
			over = sight;
	}
	if (over) {
		list_del(&over->news_node);
		list_del(&over->watcher_node);
	}
	spin_unlock_irq(&krdma_watch_lock);

	kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, over));
	return taken;
}

static void krdma_watcher_tell(struct work_struct *work)
{
	struct krdma_watcher *watcher = container_of(work, struct krdma_watcher, work);
	struct krdma_watch *watch = watcher->watch;
	struct krdma_device_event event;

	while (krdma_watcher_take(watcher, &event)) {
		WRITE_ONCE(watcher->teller, current);
		watch->event(watch, &event);
		WRITE_ONCE(watcher->teller, NULL);
	}
}

/*
 * Pairs of watches and devices
 */

/* The watch has not heard of the device when this returns. */
static int krdma_watch_pair(struct krdma_watcher *watcher, struct krdma_watched *watched)
{
	u32 port_count = rdma_end_port(watched->ibdev);
	struct krdma_sight *sight;

	lockdep_assert_held(&krdma_watch_mutex);

	if (!rdma_dev_access_netns(watched->ibdev, watcher->watch->net))
		return 0;

	sight = krdma_object_count(KRDMA_OBJECT_NOTIFIER_LINK,
				   kzalloc(struct_size(sight, pending, port_count + 1),
					   GFP_KERNEL_ACCOUNT));
	if (!sight)
		return -ENOMEM;

	sight->watcher = watcher;
	sight->watched = watched;
	sight->port_count = port_count;
	INIT_LIST_HEAD(&sight->news_node);

	spin_lock_irq(&krdma_watch_lock);
	list_add_tail(&sight->watcher_node, &watcher->sights);
	list_add_tail(&sight->watched_node, &watched->sights);
	spin_unlock_irq(&krdma_watch_lock);

	return 0;
}

static void krdma_sight_begin(struct krdma_sight *sight, u32 device_id)
{
	sight->device_id = device_id;
	krdma_sight_set(sight, KRDMA_DEVICE_EVENT_ADDED, 0);
}

/*
 * Devices
 */

static u32 krdma_watch_translate(const struct ib_event *ib_event)
{
	switch (ib_event->event) {
	case IB_EVENT_PORT_ACTIVE:
		return KRDMA_DEVICE_EVENT_PORT_ACTIVE;
	case IB_EVENT_PORT_ERR:
		return KRDMA_DEVICE_EVENT_PORT_ERROR;
	case IB_EVENT_GID_CHANGE:
	/* For InfiniBand, this is when ib_core has read the table anew, and says no more. */
	case IB_EVENT_CLIENT_REREGISTER:
		return KRDMA_DEVICE_EVENT_ADDRESS_CHANGED;
	case IB_EVENT_DEVICE_FATAL:
		return KRDMA_DEVICE_EVENT_FATAL;
	default:
		return 0;
	}
}

/* Context: whatever the provider, or ib_core, calls from. */
static void krdma_watch_ib_event(struct ib_event_handler *handler, struct ib_event *ib_event)
{
	struct krdma_watched *watched = container_of(handler, struct krdma_watched, handler);
	u32 type = krdma_watch_translate(ib_event);
	struct krdma_sight *sight;
	unsigned long flags;
	u32 port = 0;

	if (!type)
		return;
	if (type != KRDMA_DEVICE_EVENT_FATAL) {
		port = ib_event->element.port_num;
		if (!port || !rdma_is_port_valid(watched->ibdev, port))
			return;
		krdma_ports_changed(watched->ports, port);
	}

	spin_lock_irqsave(&krdma_watch_lock, flags);
	list_for_each_entry(sight, &watched->sights, watched_node)
		if (sight->device_id)
			krdma_sight_set(sight, type, port);
	spin_unlock_irqrestore(&krdma_watch_lock, flags);
}

/**
 * krdma_watch_device_prepare - a device is about to be added
 * @ibdev: the RDMA device
 * @ports: its ports, there until krdma_watch_device_removed()
 *
 * Watches do not hear of it yet.
 *
 * Context: process context; may sleep.  Called by ib_core's "add".
 * Return: for krdma_watch_device_added() and krdma_watch_device_removed(), or an
 * ERR_PTR of -ENOMEM.
 */
struct krdma_watched *krdma_watch_device_prepare(struct ib_device *ibdev,
						 struct krdma_ports *ports)
{
	struct krdma_watched *watched;
	struct krdma_watcher *watcher;
	int ret = 0;

	watched = krdma_object_count(KRDMA_OBJECT_NOTIFIER_DEVICE,
				     kzalloc_obj(*watched, GFP_KERNEL));
	if (!watched)
		return ERR_PTR(-ENOMEM);

	watched->ibdev = ibdev;
	watched->ports = ports;
	INIT_LIST_HEAD(&watched->sights);
	INIT_IB_EVENT_HANDLER(&watched->handler, ibdev, krdma_watch_ib_event);
	ib_register_event_handler(&watched->handler);

	mutex_lock(&krdma_watch_mutex);
	list_add_tail(&watched->node, &krdma_watched_devices);
	list_for_each_entry(watcher, &krdma_watchers, node) {
		ret = krdma_watch_pair(watcher, watched);
		if (ret)
			break;
	}
	mutex_unlock(&krdma_watch_mutex);

	if (ret) {
		krdma_watch_device_removed(watched);
		return ERR_PTR(ret);
	}
	return watched;
}

/**
 * krdma_watch_device_added - others can find the device now
 * @watched: from krdma_watch_device_prepare()
 * @id: the device's number
 *
 * Context: process context; may sleep.  Called by ib_core's "add".
 */
void krdma_watch_device_added(struct krdma_watched *watched, u32 id)
{
	struct krdma_sight *sight;

	mutex_lock(&krdma_watch_mutex);
	watched->id = id;
	spin_lock_irq(&krdma_watch_lock);
	list_for_each_entry(sight, &watched->sights, watched_node)
		krdma_sight_begin(sight, id);
	spin_unlock_irq(&krdma_watch_lock);
	mutex_unlock(&krdma_watch_mutex);
}

/**
 * krdma_watch_device_removed - others no longer find the device
 * @watched: from krdma_watch_device_prepare(); freed.  If it was never added,
 *	nobody hears of it.
 *
 * Waits for event handlers of the device that run, and for those who start or
 * stop a watch; each of them only goes through lists and allocates memory.
 * No consumer's callback is waited for.
 *
 * Context: process context; may sleep.  Called by ib_core's "add" and "remove".
 */
void krdma_watch_device_removed(struct krdma_watched *watched)
{
	struct krdma_sight *sight, *next;
	LIST_HEAD(unknown);

	ib_unregister_event_handler(&watched->handler);

	mutex_lock(&krdma_watch_mutex);
	list_del(&watched->node);
	spin_lock_irq(&krdma_watch_lock);
	list_for_each_entry_safe(sight, next, &watched->sights, watched_node) {
		list_del_init(&sight->watched_node);
		if (sight->device_id)
			krdma_sight_set(sight, KRDMA_DEVICE_EVENT_REMOVED, 0);
		else
			list_move(&sight->watcher_node, &unknown);
	}
	spin_unlock_irq(&krdma_watch_lock);
	mutex_unlock(&krdma_watch_mutex);

	list_for_each_entry_safe(sight, next, &unknown, watcher_node)
		kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, sight));
	kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_DEVICE, watched));
}

/*
 * Watches
 */

/* Nobody finds the watch any more, and its callback does not run when this returns. */
static void krdma_watcher_free(struct krdma_watcher *watcher)
{
	struct krdma_sight *sight, *next;
	LIST_HEAD(sights);

	spin_lock_irq(&krdma_watch_lock);
	list_for_each_entry(sight, &watcher->sights, watcher_node)
		list_del_init(&sight->watched_node);
	list_splice_init(&watcher->sights, &sights);
	INIT_LIST_HEAD(&watcher->news);
	spin_unlock_irq(&krdma_watch_lock);

	/* Without sights nobody queues it again, and it finds no news. */
	cancel_work_sync(&watcher->work);

	list_for_each_entry_safe(sight, next, &sights, watcher_node)
		kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, sight));
	put_net(watcher->watch->net);
	kfree(krdma_object_uncount(KRDMA_OBJECT_DEVICE_NOTIFIER, watcher));
}

/**
 * krdma_watch_start - want to hear of devices
 * @watch: the watch, with &krdma_watch.event set; stays until krdma_watch_stop()
 * @net: whose devices; the watch keeps a reference
 *
 * Those that are there already are told as ADDED, like those that come later,
 * and maybe before this returns.  For each device, ADDED comes first and REMOVED
 * last, and both once.  Other events that happen again before they are told are
 * told once.  A device that is told can be found until REMOVED, or is just being
 * removed.
 *
 * Context: process context; may sleep.  Not in a watch's callback.
 * Return: 0, or -ENOMEM: the watch is not started, and nothing was told.
 */
int krdma_watch_start(struct krdma_watch *watch, struct net *net)
{
	struct krdma_watched *watched;
	struct krdma_watcher *watcher;
	struct krdma_sight *sight;
	int ret;

	watcher = krdma_object_count(KRDMA_OBJECT_DEVICE_NOTIFIER,
				     kzalloc_obj(*watcher, GFP_KERNEL_ACCOUNT));
	if (!watcher)
		return -ENOMEM;

	INIT_WORK(&watcher->work, krdma_watcher_tell);
	INIT_LIST_HEAD(&watcher->sights);
	INIT_LIST_HEAD(&watcher->news);
	watcher->watch = watch;
	watch->watcher = watcher;
	watch->net = get_net(net);

	mutex_lock(&krdma_watch_mutex);
	list_for_each_entry(watched, &krdma_watched_devices, node) {
		ret = krdma_watch_pair(watcher, watched);
		if (ret)
			goto err_unlock;
	}

	/* Of those that are not added yet, it hears when they are. */
	list_add_tail(&watcher->node, &krdma_watchers);
	spin_lock_irq(&krdma_watch_lock);
	list_for_each_entry(sight, &watcher->sights, watcher_node)
		if (sight->watched->id)
			krdma_sight_begin(sight, sight->watched->id);
	spin_unlock_irq(&krdma_watch_lock);
	mutex_unlock(&krdma_watch_mutex);

	return 0;

err_unlock:
	mutex_unlock(&krdma_watch_mutex);
	krdma_watcher_free(watcher);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_watch_start, "KRDMA");

/**
 * krdma_watch_stop - want to hear no more of devices
 * @watch: the watch, started
 *
 * The callback does not run when this returns, and is not called again.
 *
 * Context: process context; may sleep; waits for the callback.  Not in a watch's
 * callback.
 */
void krdma_watch_stop(struct krdma_watch *watch)
{
	struct krdma_watcher *watcher = watch->watcher;

	might_sleep();
	WARN_ON_ONCE(READ_ONCE(watcher->teller) == current);

	mutex_lock(&krdma_watch_mutex);
	list_del(&watcher->node);
	mutex_unlock(&krdma_watch_mutex);
	krdma_watcher_free(watcher);
}
EXPORT_SYMBOL_NS_GPL(krdma_watch_stop, "KRDMA");
