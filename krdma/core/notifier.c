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
 * struct krdma_notifier_device - a device, from before it is added until it is removed
 * @node: in krdma_notifier_devices
 * @ibdev: the RDMA device
 * @ports: what is kept of its ports, and may change with an event
 * @handler: hears of its events
 * @id: its number, 0 until it is added.  Protected by krdma_notifier_mutex.
 * @sights: of all watches that may see it.  Protected by krdma_notifier_lock.
 */
struct krdma_notifier_device {
	struct list_head node;
	struct ib_device *ibdev;
	struct krdma_ports *ports;
	struct ib_event_handler handler;
	u32 id;
	struct list_head sights;
};

/**
 * struct krdma_notifier - our part of a watch
 * @notifier: the consumer's part
 * @node: in krdma_notifiers
 * @work: tells the consumer
 * @teller: who runs in the consumer's callback now
 * @sights: of all devices.  Protected, like @news, by krdma_notifier_lock.
 * @news: those of them with something to tell
 */
struct krdma_notifier {
	struct krdma_device_notifier *notifier;
	struct list_head node;
	struct work_struct work;
	struct task_struct *teller;
	struct list_head sights;
	struct list_head news;
};

/**
 * struct krdma_notifier_link - a watch sees a device
 * @state: who
 * @watcher_node: in its sights
 * @news_node: in its news, while there are any
 * @notifier_device: the device, until it is removed
 * @watched_node: in its sights, likewise
 * @device_id: the device's number, 0 until the watch is to hear of it
 * @port_count: the device's ports
 * @pending: what is to be told: of the device itself, and by port, bits by
 *	&enum krdma_device_event_type, and KRDMA_NOTIFIER_DOWN_LAST
 *
 * Protected by krdma_notifier_lock.  Belongs to the watch.
 */
struct krdma_notifier_link {
	struct krdma_notifier *state;
	struct list_head watcher_node;
	struct list_head news_node;
	struct krdma_notifier_device *notifier_device;
	struct list_head watched_node;
	u32 device_id;
	u32 port_count;
	u8 pending[];
};

/* No event has the number 0, so its bit is free: which came last, up or down? */
#define KRDMA_NOTIFIER_DOWN_LAST	BIT(0)
static_assert(KRDMA_DEVICE_EVENT_ADDED > 0 && KRDMA_DEVICE_EVENT_FATAL < 8);

static DEFINE_MUTEX(krdma_notifier_mutex);
static DEFINE_SPINLOCK(krdma_notifier_lock);
static LIST_HEAD(krdma_notifier_devices);	/* protected by krdma_notifier_mutex */
static LIST_HEAD(krdma_notifiers);		/* protected by krdma_notifier_mutex */

/*
 * What is pending
 */

static void krdma_notifier_link_set(struct krdma_notifier_link *link,
				    enum krdma_device_event_type type, u32 port)
{
	struct krdma_notifier *state = link->state;
	u8 *pending = &link->pending[port];

	lockdep_assert_held(&krdma_notifier_lock);

	*pending |= BIT(type);
	if (type == KRDMA_DEVICE_EVENT_PORT_ERROR)
		*pending |= KRDMA_NOTIFIER_DOWN_LAST;
	else if (type == KRDMA_DEVICE_EVENT_PORT_ACTIVE)
		*pending &= ~KRDMA_NOTIFIER_DOWN_LAST;

	if (list_empty(&link->news_node))
		list_add_tail(&link->news_node, &state->news);
	queue_work(krdma_workqueue, &state->work);
}

/* Of one device or port, in the order in which it is told. */
static bool krdma_notifier_link_take_one_of(struct krdma_notifier_link *link, u32 port,
					    const enum krdma_device_event_type *types, int count,
					    struct krdma_device_event *event)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!(link->pending[port] & BIT(types[i])))
			continue;
		link->pending[port] &= ~BIT(types[i]);
		*event = (struct krdma_device_event) {
			.type = types[i],
			.device_id = link->device_id,
			.port = port,
		};
		return true;
	}
	return false;
}

static bool krdma_notifier_link_take(struct krdma_notifier_link *link,
				     struct krdma_device_event *event)
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

	lockdep_assert_held(&krdma_notifier_lock);

	if (krdma_notifier_link_take_one_of(link, 0, first, ARRAY_SIZE(first), event))
		return true;
	for (port = 1; port <= link->port_count; port++) {
		bool down = link->pending[port] & KRDMA_NOTIFIER_DOWN_LAST;

		if (krdma_notifier_link_take_one_of(link, port, down ? port_down : port_up,
						    ARRAY_SIZE(port_up), event))
			return true;
	}
	return krdma_notifier_link_take_one_of(link, 0, last, ARRAY_SIZE(last), event);
}

/*
 * Telling
 */

/* What the watch is to hear next; a sight ends when its last event is taken. */
static bool krdma_notifier_take(struct krdma_notifier *state, struct krdma_device_event *event)
{
	struct krdma_notifier_link *over = NULL;
	struct krdma_notifier_link *link;
	bool taken = false;

	spin_lock_irq(&krdma_notifier_lock);
	while (!taken && !list_empty(&state->news)) {
		link = list_first_entry(&state->news, struct krdma_notifier_link, news_node);
		taken = krdma_notifier_link_take(link, event);
		if (!taken)
			list_del_init(&link->news_node);
		else if (event->type == KRDMA_DEVICE_EVENT_REMOVED)
			over = link;
	}
	if (over) {
		list_del(&over->news_node);
		list_del(&over->watcher_node);
	}
	spin_unlock_irq(&krdma_notifier_lock);

	kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, over));
	return taken;
}

static void krdma_notifier_work(struct work_struct *work)
{
	struct krdma_notifier *state = container_of(work, struct krdma_notifier, work);
	struct krdma_device_notifier *notifier = state->notifier;
	struct krdma_device_event event;

	while (krdma_notifier_take(state, &event)) {
		WRITE_ONCE(state->teller, current);
		notifier->event(notifier, &event);
		WRITE_ONCE(state->teller, NULL);
	}
}

/*
 * Pairs of watches and devices
 */

/* The watch has not heard of the device when this returns. */
static int krdma_notifier_link_create(struct krdma_notifier *state,
				      struct krdma_notifier_device *notifier_device)
{
	u32 port_count = rdma_end_port(notifier_device->ibdev);
	struct krdma_notifier_link *link;

	lockdep_assert_held(&krdma_notifier_mutex);

	if (!rdma_dev_access_netns(notifier_device->ibdev, state->notifier->net))
		return 0;

	link = krdma_object_count(KRDMA_OBJECT_NOTIFIER_LINK,
				  kzalloc(struct_size(link, pending, port_count + 1),
					  GFP_KERNEL_ACCOUNT));
	if (!link)
		return -ENOMEM;

	link->state = state;
	link->notifier_device = notifier_device;
	link->port_count = port_count;
	INIT_LIST_HEAD(&link->news_node);

	spin_lock_irq(&krdma_notifier_lock);
	list_add_tail(&link->watcher_node, &state->sights);
	list_add_tail(&link->watched_node, &notifier_device->sights);
	spin_unlock_irq(&krdma_notifier_lock);

	return 0;
}

static void krdma_notifier_link_begin(struct krdma_notifier_link *link, u32 device_id)
{
	link->device_id = device_id;
	krdma_notifier_link_set(link, KRDMA_DEVICE_EVENT_ADDED, 0);
}

/*
 * Devices
 */

static u32 krdma_notifier_event_type(const struct ib_event *ib_event)
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
static void krdma_notifier_ib_event(struct ib_event_handler *handler, struct ib_event *ib_event)
{
	struct krdma_notifier_device *notifier_device =
		container_of(handler, struct krdma_notifier_device, handler);
	u32 type = krdma_notifier_event_type(ib_event);
	struct krdma_notifier_link *link;
	unsigned long flags;
	u32 port = 0;

	if (!type)
		return;
	if (type != KRDMA_DEVICE_EVENT_FATAL) {
		port = ib_event->element.port_num;
		if (!port || !rdma_is_port_valid(notifier_device->ibdev, port))
			return;
		krdma_ports_changed(notifier_device->ports, port);
	}

	spin_lock_irqsave(&krdma_notifier_lock, flags);
	list_for_each_entry(link, &notifier_device->sights, watched_node)
		if (link->device_id)
			krdma_notifier_link_set(link, type, port);
	spin_unlock_irqrestore(&krdma_notifier_lock, flags);
}

/**
 * krdma_notifier_device_prepare - a device is about to be added
 * @ibdev: the RDMA device
 * @ports: its ports, there until krdma_notifier_device_removed()
 *
 * Watches do not hear of it yet.
 *
 * Context: process context; may sleep.  Called by ib_core's "add".
 * Return: for krdma_notifier_device_added() and krdma_notifier_device_removed(), or an
 * ERR_PTR of -ENOMEM.
 */
struct krdma_notifier_device *krdma_notifier_device_prepare(struct ib_device *ibdev,
							    struct krdma_ports *ports)
{
	struct krdma_notifier_device *notifier_device;
	struct krdma_notifier *state;
	int ret = 0;

	notifier_device = krdma_object_count(KRDMA_OBJECT_NOTIFIER_DEVICE,
					     kzalloc_obj(*notifier_device, GFP_KERNEL));
	if (!notifier_device)
		return ERR_PTR(-ENOMEM);

	notifier_device->ibdev = ibdev;
	notifier_device->ports = ports;
	INIT_LIST_HEAD(&notifier_device->sights);
	INIT_IB_EVENT_HANDLER(&notifier_device->handler, ibdev, krdma_notifier_ib_event);
	ib_register_event_handler(&notifier_device->handler);

	mutex_lock(&krdma_notifier_mutex);
	list_add_tail(&notifier_device->node, &krdma_notifier_devices);
	list_for_each_entry(state, &krdma_notifiers, node) {
		ret = krdma_notifier_link_create(state, notifier_device);
		if (ret)
			break;
	}
	mutex_unlock(&krdma_notifier_mutex);

	if (ret) {
		krdma_notifier_device_removed(notifier_device);
		return ERR_PTR(ret);
	}
	return notifier_device;
}

/**
 * krdma_notifier_device_added - others can find the device now
 * @notifier_device: from krdma_notifier_device_prepare()
 * @id: the device's number
 *
 * Context: process context; may sleep.  Called by ib_core's "add".
 */
void krdma_notifier_device_added(struct krdma_notifier_device *notifier_device, u32 id)
{
	struct krdma_notifier_link *link;

	mutex_lock(&krdma_notifier_mutex);
	notifier_device->id = id;
	spin_lock_irq(&krdma_notifier_lock);
	list_for_each_entry(link, &notifier_device->sights, watched_node)
		krdma_notifier_link_begin(link, id);
	spin_unlock_irq(&krdma_notifier_lock);
	mutex_unlock(&krdma_notifier_mutex);
}

/**
 * krdma_notifier_device_removed - others no longer find the device
 * @notifier_device: from krdma_notifier_device_prepare(); freed.  If it was never added,
 *	nobody hears of it.
 *
 * Waits for event handlers of the device that run, and for those who start or
 * stop a watch; each of them only goes through lists and allocates memory.
 * No consumer's callback is waited for.
 *
 * Context: process context; may sleep.  Called by ib_core's "add" and "remove".
 */
void krdma_notifier_device_removed(struct krdma_notifier_device *notifier_device)
{
	struct krdma_notifier_link *link, *next;
	LIST_HEAD(unknown);

	ib_unregister_event_handler(&notifier_device->handler);

	mutex_lock(&krdma_notifier_mutex);
	list_del(&notifier_device->node);
	spin_lock_irq(&krdma_notifier_lock);
	list_for_each_entry_safe(link, next, &notifier_device->sights, watched_node) {
		list_del_init(&link->watched_node);
		if (link->device_id)
			krdma_notifier_link_set(link, KRDMA_DEVICE_EVENT_REMOVED, 0);
		else
			list_move(&link->watcher_node, &unknown);
	}
	spin_unlock_irq(&krdma_notifier_lock);
	mutex_unlock(&krdma_notifier_mutex);

	list_for_each_entry_safe(link, next, &unknown, watcher_node)
		kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, link));
	kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_DEVICE, notifier_device));
}

/*
 * Watches
 */

/* Nobody finds the watch any more, and its callback does not run when this returns. */
static void krdma_notifier_free(struct krdma_notifier *state)
{
	struct krdma_notifier_link *link, *next;
	LIST_HEAD(sights);

	spin_lock_irq(&krdma_notifier_lock);
	list_for_each_entry(link, &state->sights, watcher_node)
		list_del_init(&link->watched_node);
	list_splice_init(&state->sights, &sights);
	INIT_LIST_HEAD(&state->news);
	spin_unlock_irq(&krdma_notifier_lock);

	/* Without sights nobody queues it again, and it finds no news. */
	cancel_work_sync(&state->work);

	list_for_each_entry_safe(link, next, &sights, watcher_node)
		kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, link));
	put_net(state->notifier->net);
	kfree(krdma_object_uncount(KRDMA_OBJECT_DEVICE_NOTIFIER, state));
}

/**
 * krdma_device_notifier_register - want to hear of devices
 * @notifier: the notifier, with &krdma_device_notifier.event set; stays until
 *	krdma_device_notifier_unregister()
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
int krdma_device_notifier_register(struct krdma_device_notifier *notifier, struct net *net)
{
	struct krdma_notifier_device *notifier_device;
	struct krdma_notifier *state;
	struct krdma_notifier_link *link;
	int ret;

	state = krdma_object_count(KRDMA_OBJECT_DEVICE_NOTIFIER,
				   kzalloc_obj(*state, GFP_KERNEL_ACCOUNT));
	if (!state)
		return -ENOMEM;

	INIT_WORK(&state->work, krdma_notifier_work);
	INIT_LIST_HEAD(&state->sights);
	INIT_LIST_HEAD(&state->news);
	state->notifier = notifier;
	notifier->state = state;
	notifier->net = get_net(net);

	mutex_lock(&krdma_notifier_mutex);
	list_for_each_entry(notifier_device, &krdma_notifier_devices, node) {
		ret = krdma_notifier_link_create(state, notifier_device);
		if (ret)
			goto err_unlock;
	}

	/* Of those that are not added yet, it hears when they are. */
	list_add_tail(&state->node, &krdma_notifiers);
	spin_lock_irq(&krdma_notifier_lock);
	list_for_each_entry(link, &state->sights, watcher_node)
		if (link->notifier_device->id)
			krdma_notifier_link_begin(link, link->notifier_device->id);
	spin_unlock_irq(&krdma_notifier_lock);
	mutex_unlock(&krdma_notifier_mutex);

	return 0;

err_unlock:
	mutex_unlock(&krdma_notifier_mutex);
	krdma_notifier_free(state);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_notifier_register, "KRDMA");

/**
 * krdma_device_notifier_unregister - want to hear no more of devices
 * @notifier: the watch, started
 *
 * The callback does not run when this returns, and is not called again.
 *
 * Context: process context; may sleep; waits for the callback.  Not in a watch's
 * callback.
 */
void krdma_device_notifier_unregister(struct krdma_device_notifier *notifier)
{
	struct krdma_notifier *state = notifier->state;

	might_sleep();
	WARN_ON_ONCE(READ_ONCE(state->teller) == current);

	mutex_lock(&krdma_notifier_mutex);
	list_del(&state->node);
	mutex_unlock(&krdma_notifier_mutex);
	krdma_notifier_free(state);
}
EXPORT_SYMBOL_NS_GPL(krdma_device_notifier_unregister, "KRDMA");
