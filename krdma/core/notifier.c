// SPDX-License-Identifier: GPL-2.0
/*
 * Device notifiers: delivery of device events to consumers.
 *
 * For each device notifier and each device that it may see there is one structure,
 * the link.  It is allocated before the notifier hears of the device, so no later
 * event needs memory: an event only sets a bit in the device, and a work item of the
 * device sets it in the links.  Each notifier has a work item of its own, which turns
 * bits into calls.  This has three consequences:
 *
 *  - No event is lost, however slow the consumer is: an event that happens again
 *    before it is delivered is delivered once.
 *  - A slow consumer delays neither other consumers nor the device: removal only sets
 *    a bit, and the link outlives the device until the removal was delivered.
 *  - A notifier gets the removal of exactly those devices that were reported to it as
 *    added, even if the network namespace's view changes in between.
 *
 * For one device, ADDED comes first and REMOVED last.  If a port went up and down, the
 * event that is delivered last is its current state.  Devices come in the order in
 * which they first had a pending event.
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
#include <linux/string.h>
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
 * @node: entry of krdma_notifier_devices
 * @ibdev: the RDMA device
 * @ports: the cached attributes of its ports, which an event invalidates
 * @handler: receives its events
 * @id: its number, 0 until it is added.  Protected by krdma_notifier_mutex.
 * @links: the links of all notifiers that may see it.  Protected by krdma_notifier_lock; removed
 *	without krdma_notifier_mutex, too.
 * @work: passes events to the links
 * @passing: those that it passes.  Protected by krdma_notifier_mutex.
 * @pending: events to pass to the links, by port, as in &struct krdma_notifier_link.  Protected by
 *	krdma_notifier_lock.
 */
struct krdma_notifier_device {
	struct list_head node;
	struct ib_device *ibdev;
	struct krdma_ports *ports;
	struct ib_event_handler handler;
	u32 id;
	struct list_head links;
	struct work_struct work;
	u8 *passing;
	u8 pending[];
};

/**
 * struct krdma_notifier - krdma's part of a device notifier
 * @notifier: the consumer's part
 * @node: entry of krdma_notifiers
 * @work: delivers events to the consumer
 * @caller: the task that runs the consumer's callback now
 * @links: links to all devices.  Protected by krdma_notifier_lock.
 * @news: those links that have pending events.  Protected by krdma_notifier_lock.
 */
struct krdma_notifier {
	struct krdma_device_notifier *notifier;
	struct list_head node;
	struct work_struct work;
	struct task_struct *caller;
	struct list_head links;
	struct list_head news;
};

/**
 * struct krdma_notifier_link - link between a device notifier and a device
 * @state: the notifier
 * @state_node: entry of @state's list links
 * @news_node: entry of @state's list news, while events are pending
 * @notifier_device: the device, until it is removed
 * @device_node: entry of @notifier_device's list links, until it is removed
 * @device_id: the device's number, 0 until the notifier reports it
 * @port_count: the device's ports
 * @pending: events to deliver, by port, with 0 for the device itself: bits by
 *	&enum krdma_device_event_type, and KRDMA_NOTIFIER_DOWN_LAST
 *
 * Protected by krdma_notifier_lock.  Belongs to the notifier.
 */
struct krdma_notifier_link {
	struct krdma_notifier *state;
	struct list_head state_node;
	struct list_head news_node;
	struct krdma_notifier_device *notifier_device;
	struct list_head device_node;
	u32 device_id;
	u32 port_count;
	u8 pending[];
};

/* No event has the number 0, so its bit is free: set if the last port event was "down". */
#define KRDMA_NOTIFIER_DOWN_LAST	BIT(0)
static_assert(KRDMA_DEVICE_EVENT_ADDED > 0 && KRDMA_DEVICE_EVENT_FATAL < 8);

/* Events of which the last one matters. */
#define KRDMA_NOTIFIER_STATES	(BIT(KRDMA_DEVICE_EVENT_PORT_ERROR) | \
				 BIT(KRDMA_DEVICE_EVENT_PORT_ACTIVE))

/* Links of a device that are visited with interrupts off: users decide how many there are. */
#define KRDMA_LINKS_AT_A_TIME	32

static DEFINE_MUTEX(krdma_notifier_mutex);
static DEFINE_SPINLOCK(krdma_notifier_lock);
static LIST_HEAD(krdma_notifier_devices);	/* protected by krdma_notifier_mutex */
static LIST_HEAD(krdma_notifiers);		/* protected by krdma_notifier_mutex */

/*
 * Pending events
 */

static u8 krdma_notifier_bits(enum krdma_device_event_type type)
{
	return BIT(type) | (type == KRDMA_DEVICE_EVENT_PORT_ERROR ? KRDMA_NOTIFIER_DOWN_LAST : 0);
}

/* Adds later events to pending ones. */
static u8 krdma_notifier_merge(u8 pending, u8 later)
{
	if (later & KRDMA_NOTIFIER_STATES)
		pending &= ~KRDMA_NOTIFIER_DOWN_LAST;
	return pending | later;
}

/* @port has pending events. */
static void krdma_notifier_link_set(struct krdma_notifier_link *link, u8 bits, u32 port)
{
	struct krdma_notifier *state = link->state;

	lockdep_assert_held(&krdma_notifier_lock);

	link->pending[port] = krdma_notifier_merge(link->pending[port], bits);
	if (list_empty(&link->news_node))
		list_add_tail(&link->news_node, &state->news);
	queue_work(krdma_notifier_workqueue, &state->work);
}

/* Take the first pending event of one device or port, in the given order. */
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
 * Delivery
 */

/* Take the next event to deliver; a link ends when its last event is taken. */
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
		list_del(&over->state_node);
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
		WRITE_ONCE(state->caller, current);
		notifier->event(notifier, &event);
		WRITE_ONCE(state->caller, NULL);
	}
}

/*
 * Links between notifiers and devices
 */

/* The notifier has not heard of the device when this returns. */
static int krdma_notifier_link_create(struct krdma_notifier *state,
				      struct krdma_notifier_device *notifier_device)
{
	u32 port_count = rdma_end_port(notifier_device->ibdev);
	struct krdma_notifier_link *link;

	lockdep_assert_held(&krdma_notifier_mutex);

	if (!rdma_dev_access_netns(notifier_device->ibdev, state->notifier->net))
		return 0;

	/*
	 * For no control group: one that is full would let its processes wait here, and all others
	 * for the mutex.  Nor must the group of a process that adds a device refuse that.
	 */
	link = krdma_object_count(KRDMA_OBJECT_NOTIFIER_LINK,
				  kzalloc(struct_size(link, pending, port_count + 1),
					  GFP_KERNEL));
	if (!link)
		return -ENOMEM;

	link->state = state;
	link->notifier_device = notifier_device;
	link->port_count = port_count;
	INIT_LIST_HEAD(&link->news_node);

	spin_lock_irq(&krdma_notifier_lock);
	list_add_tail(&link->state_node, &state->links);
	list_add_tail(&link->device_node, &notifier_device->links);
	spin_unlock_irq(&krdma_notifier_lock);

	return 0;
}

static void krdma_notifier_link_begin(struct krdma_notifier_link *link, u32 device_id)
{
	link->device_id = device_id;
	krdma_notifier_link_set(link, krdma_notifier_bits(KRDMA_DEVICE_EVENT_ADDED), 0);
}

/* Visits all links of a device, a few at a time with the lock held. */
static void
krdma_notifier_visit(struct krdma_notifier_device *notifier_device,
		     void (*visit)(struct krdma_notifier_link *link, void *argument),
		     void *argument)
{
	struct krdma_notifier_link *link;
	unsigned int count = 0;
	LIST_HEAD(rest);

	/* So there are no new links meanwhile, and no other visit. */
	lockdep_assert_held(&krdma_notifier_mutex);

	spin_lock_irq(&krdma_notifier_lock);
	list_splice_init(&notifier_device->links, &rest);
	while (!list_empty(&rest)) {
		link = list_first_entry(&rest, struct krdma_notifier_link, device_node);
		list_move_tail(&link->device_node, &notifier_device->links);
		visit(link, argument);
		if (++count % KRDMA_LINKS_AT_A_TIME)
			continue;
		spin_unlock_irq(&krdma_notifier_lock);
		cond_resched();
		spin_lock_irq(&krdma_notifier_lock);
	}
	spin_unlock_irq(&krdma_notifier_lock);
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
	/* InfiniBand raises only this one after ib_core has read the GID table again. */
	case IB_EVENT_CLIENT_REREGISTER:
		return KRDMA_DEVICE_EVENT_ADDRESS_CHANGED;
	case IB_EVENT_DEVICE_FATAL:
		return KRDMA_DEVICE_EVENT_FATAL;
	default:
		return 0;
	}
}

/* Context: any context from which the provider, or ib_core, raises events. */
static void krdma_notifier_ib_event(struct ib_event_handler *handler, struct ib_event *ib_event)
{
	struct krdma_notifier_device *notifier_device =
		container_of(handler, struct krdma_notifier_device, handler);
	u32 type = krdma_notifier_event_type(ib_event);
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
	notifier_device->pending[port] = krdma_notifier_merge(notifier_device->pending[port],
							      krdma_notifier_bits(type));
	spin_unlock_irqrestore(&krdma_notifier_lock, flags);
	queue_work(krdma_notifier_workqueue, &notifier_device->work);
}

static void krdma_notifier_pass_link(struct krdma_notifier_link *link, void *argument)
{
	const u8 *passing = argument;

	/* The notifier has not heard of the device yet, and gets its state then. */
	if (!link->device_id)
		return;
	for (u32 port = 0; port <= link->port_count; port++)
		if (passing[port])
			krdma_notifier_link_set(link, passing[port], port);
}

/* Passes the events so far to all links. */
static void krdma_notifier_pass(struct krdma_notifier_device *notifier_device)
{
	u32 count = rdma_end_port(notifier_device->ibdev) + 1;

	lockdep_assert_held(&krdma_notifier_mutex);

	spin_lock_irq(&krdma_notifier_lock);
	memcpy(notifier_device->passing, notifier_device->pending, count);
	memset(notifier_device->pending, 0, count);
	spin_unlock_irq(&krdma_notifier_lock);
	if (memchr_inv(notifier_device->passing, 0, count))
		krdma_notifier_visit(notifier_device, krdma_notifier_pass_link,
				     notifier_device->passing);
}

static void krdma_notifier_pass_work(struct work_struct *work)
{
	mutex_lock(&krdma_notifier_mutex);
	krdma_notifier_pass(container_of(work, struct krdma_notifier_device, work));
	mutex_unlock(&krdma_notifier_mutex);
}

static struct krdma_notifier_device *krdma_notifier_device_alloc(u32 ports)
{
	struct krdma_notifier_device *notifier_device;

	notifier_device = krdma_object_count(KRDMA_OBJECT_NOTIFIER_DEVICE,
					     kzalloc(struct_size(notifier_device, pending,
								 2 * (ports + 1)), GFP_KERNEL));
	if (notifier_device)
		notifier_device->passing = &notifier_device->pending[ports + 1];
	return notifier_device;
}

/**
 * krdma_notifier_device_create() - Set up event delivery for a device that is about to be
 * added
 * @ibdev: the RDMA device
 * @ports: its ports, valid until krdma_notifier_device_removed()
 *
 * Device notifiers do not hear of the device yet.
 *
 * Context: process context; may sleep.  Called by ib_core's "add".
 * Return: a handle for krdma_notifier_device_added() and krdma_notifier_device_removed(), or an
 * ERR_PTR of -ENOMEM.
 */
struct krdma_notifier_device *krdma_notifier_device_create(struct ib_device *ibdev,
							   struct krdma_ports *ports)
{
	struct krdma_notifier_device *notifier_device;
	struct krdma_notifier *state;
	int ret = 0;

	notifier_device = krdma_notifier_device_alloc(rdma_end_port(ibdev));
	if (!notifier_device)
		return ERR_PTR(-ENOMEM);

	notifier_device->ibdev = ibdev;
	notifier_device->ports = ports;
	INIT_LIST_HEAD(&notifier_device->links);
	INIT_WORK(&notifier_device->work, krdma_notifier_pass_work);
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

static void krdma_notifier_added_link(struct krdma_notifier_link *link, void *argument)
{
	const u32 *id = argument;

	krdma_notifier_link_begin(link, *id);
}

/**
 * krdma_notifier_device_added() - Report that a device can be found now
 * @notifier_device: from krdma_notifier_device_create()
 * @id: the device's number
 *
 * Context: process context; may sleep.  Called by ib_core's "add".
 */
void krdma_notifier_device_added(struct krdma_notifier_device *notifier_device, u32 id)
{
	mutex_lock(&krdma_notifier_mutex);
	notifier_device->id = id;
	krdma_notifier_visit(notifier_device, krdma_notifier_added_link, &id);
	mutex_unlock(&krdma_notifier_mutex);
}

static void krdma_notifier_removed_link(struct krdma_notifier_link *link, void *argument)
{
	struct list_head *unknown = argument;

	list_del_init(&link->device_node);
	if (link->device_id)
		krdma_notifier_link_set(link, krdma_notifier_bits(KRDMA_DEVICE_EVENT_REMOVED), 0);
	else
		list_move(&link->state_node, unknown);
}

/**
 * krdma_notifier_device_removed() - Report that a device can no longer be found
 * @notifier_device: from krdma_notifier_device_create(); freed.  If the device was never
 *	added, no notifier hears of it.
 *
 * Waits for running event handlers of the device, and for callers that register or unregister a
 * notifier; each of them only walks lists and allocates memory.  It does not wait for a
 * consumer's callback.
 *
 * Context: process context; may sleep.  Called by ib_core's "add" and "remove".
 */
void krdma_notifier_device_removed(struct krdma_notifier_device *notifier_device)
{
	struct krdma_notifier_link *link, *next;
	LIST_HEAD(unknown);

	ib_unregister_event_handler(&notifier_device->handler);
	/* It may be queued behind callbacks of consumers: what it would pass is passed below. */
	cancel_work_sync(&notifier_device->work);

	mutex_lock(&krdma_notifier_mutex);
	list_del(&notifier_device->node);
	krdma_notifier_pass(notifier_device);
	krdma_notifier_visit(notifier_device, krdma_notifier_removed_link, &unknown);
	mutex_unlock(&krdma_notifier_mutex);

	list_for_each_entry_safe(link, next, &unknown, state_node)
		kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, link));
	kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_DEVICE, notifier_device));
}

/*
 * Notifiers
 */

/* The notifier can no longer be found.  Its callback does not run when this returns. */
static void krdma_notifier_free(struct krdma_notifier *state)
{
	struct krdma_notifier_link *link, *next;
	LIST_HEAD(links);

	spin_lock_irq(&krdma_notifier_lock);
	list_for_each_entry(link, &state->links, state_node)
		list_del_init(&link->device_node);
	list_splice_init(&state->links, &links);
	INIT_LIST_HEAD(&state->news);
	spin_unlock_irq(&krdma_notifier_lock);

	/* Without links nothing queues the work again, and it finds no pending events. */
	cancel_work_sync(&state->work);

	list_for_each_entry_safe(link, next, &links, state_node)
		kfree(krdma_object_uncount(KRDMA_OBJECT_NOTIFIER_LINK, link));
	put_net(state->notifier->net);
	kfree(krdma_object_uncount(KRDMA_OBJECT_DEVICE_NOTIFIER, state));
}

/**
 * krdma_device_notifier_register() - Register a device notifier
 * @notifier: the notifier, with &krdma_device_notifier.event set; valid until
 *	krdma_device_notifier_unregister()
 * @net: the network namespace of the reported devices; the notifier keeps a reference
 *
 * Devices that are already present are reported as ADDED, like those that come later, possibly
 * before this returns.  For each device, ADDED comes first and REMOVED last, each once.  Other
 * events that happen again before they are delivered are delivered once.  A reported device can
 * be found until REMOVED, or is being removed.
 *
 * Context: process context; may sleep.  Not in a notifier's callback.
 * Return: 0, or -ENOMEM: the notifier is not registered, and nothing was delivered.
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
	INIT_LIST_HEAD(&state->links);
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

	/* Devices that are not added yet are reported when they are. */
	list_add_tail(&state->node, &krdma_notifiers);
	spin_lock_irq(&krdma_notifier_lock);
	list_for_each_entry(link, &state->links, state_node)
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
 * krdma_device_notifier_flush() - Wait until the devices of the registration are delivered
 * @notifier: the notifier, registered
 *
 * These are the devices that krdma_device_notifier_register() has found.  A later event is first
 * noted for its device, and may be delivered after this returns.
 *
 * Context: process context; may sleep; waits for the callback.  Not in a notifier's callback.
 */
void krdma_device_notifier_flush(struct krdma_device_notifier *notifier)
{
	flush_work(&notifier->state->work);
}

/**
 * krdma_device_notifier_unregister() - Unregister a device notifier
 * @notifier: the notifier, registered
 *
 * The callback does not run when this returns, and is not called again.
 *
 * Context: process context; may sleep; waits for the callback.  Not in a notifier's callback.
 */
void krdma_device_notifier_unregister(struct krdma_device_notifier *notifier)
{
	struct krdma_notifier *state = notifier->state;

	might_sleep();
	WARN_ON_ONCE(READ_ONCE(state->caller) == current);

	mutex_lock(&krdma_notifier_mutex);
	list_del(&state->node);
	mutex_unlock(&krdma_notifier_mutex);
	krdma_notifier_free(state);
}
EXPORT_SYMBOL_NS_GPL(krdma_device_notifier_unregister, "KRDMA");
