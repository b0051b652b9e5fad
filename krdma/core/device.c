// SPDX-License-Identifier: GPL-2.0
/*
 * The table of RDMA devices.
 *
 * ib_core calls this file for every device that accepts kernel consumers, when the device is
 * added and when it is removed.  In between, other files find the device by number or name and
 * hold a struct krdma_device.  That structure stays valid as long as it is held; the RDMA
 * device behind it may be removed at any time, and calls then return -ENODEV.
 *
 * Two counts make that work (see private.h): "refs" keeps the object, and the "gate" keeps the
 * RDMA device for the length of one call.  Removal closes the gate, waits until all callers
 * have left it, and releases the device.
 */
#include <linux/build_bug.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/percpu-refcount.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "core/caps.h"
#include "core/device.h"
#include "core/objects.h"
#include "core/port.h"
#include "core/private.h"
#include "core/quirks.h"
#include "core/resource.h"
#include "trace.h"
#include "core/vector.h"
#include "core/notifier.h"

/* Uses that are notified with interrupts off: programs decide how many uses a device has. */
#define KRDMA_USES_AT_A_TIME	32

/**
 * struct krdma_device - an RDMA device, valid as long as it is referenced
 * @id: its number.  Set once, before the device can be found.
 * @refs: keeps this structure
 * @gate: keeps @ibdev; see private.h
 * @gate_map: @gate as lockdep sees it
 * @gate_closed: completed when every caller has left @gate for good
 * @ibdev: the RDMA device.  Protected by @gate, or by a use.
 * @uses_lock: protects @uses, @notified, @kept_pds and @going
 * @uses: users of the RDMA device that have not been notified of its removal: &struct krdma_use
 * @notified: users that have been notified of its removal
 * @kept_pds: PDs of ib_core of which a key could not be ended
 * @going: the device is being removed, and accepts no further uses
 * @unused: woken when both @uses and @notified become empty
 * @notifier_device: delivers its events to device notifiers
 * @ports: cached attributes of its ports.  Set once, before the device can be found.
 * @vectors: its completion vectors.  Set once, before the device can be found.
 * @node: its NUMA node, or NUMA_NO_NODE.  Set once, before the device can be found.
 * @caps: &enum krdma_device_cap.  Set once, before the device can be found.
 * @serves_atomics: it executes atomics of peers.  Set once, before the device can be found.
 * @limits: what a consumer may request.  Set once, before the device can be found.
 * @name_lock: protects @name
 * @name: a copy of ib_core's name, because ib_core's changes while it is read
 * @rcu: frees the structure; lookups run under RCU while the last reference is put
 */
struct krdma_device {
	u32 id;
	refcount_t refs;

	struct percpu_ref gate;
	struct lockdep_map gate_map;
	struct completion gate_closed;
	struct ib_device *ibdev;

	spinlock_t uses_lock;		/* see above */
	struct list_head uses;
	struct list_head notified;
	struct list_head kept_pds;
	bool going;
	wait_queue_head_t unused;
	struct krdma_notifier_device *notifier_device;
	struct krdma_ports *ports;
	struct krdma_vectors *vectors;
	int node;

	u64 caps;
	bool serves_atomics;
	struct krdma_limits limits;

	spinlock_t name_lock;		/* see above */
	char name[KRDMA_NAME_MAX];

	struct rcu_head rcu;
};

/*
 * Numbers are assigned cyclically, so that a recorded number is not soon assigned to another
 * device.
 */
#define KRDMA_DEVICE_IDS	XA_LIMIT(1, KRDMA_DEVICE_ID_MAX)

static DEFINE_XARRAY_ALLOC1(krdma_devices);
static u32 krdma_devices_next_id;		/* protected by krdma_devices.xa_lock */

/* ib_core's names fit. */
static_assert(KRDMA_NAME_MAX == IB_DEVICE_NAME_MAX);

/*
 * The gate
 */

/**
 * krdma_device_get_ibdev() - Enter the gate: get the RDMA device behind a device
 * @dev: the device, kept by a reference or by RCU
 *
 * The RDMA device, its provider's module and the table's reference to @dev stay until
 * krdma_device_put_ibdev().  Removal waits for that: leave soon, and do not wait for anything
 * that waits for a removal.
 *
 * Context: any but NMI.  Never waits.  The caller may sleep before it leaves.
 * Return: the RDMA device, or NULL if it was removed or is being removed.
 */
struct ib_device *krdma_device_get_ibdev(struct krdma_device *dev)
{
	if (!percpu_ref_tryget_live(&dev->gate))
		return NULL;

	rwsem_acquire_read(&dev->gate_map, 0, 1, _RET_IP_);
	return dev->ibdev;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_get_ibdev);

/**
 * krdma_device_put_ibdev() - Leave the gate that krdma_device_get_ibdev() has entered
 * @dev: the device
 *
 * Context: the same as that of krdma_device_get_ibdev().
 */
void krdma_device_put_ibdev(struct krdma_device *dev)
{
	rwsem_release(&dev->gate_map, _RET_IP_);
	percpu_ref_put(&dev->gate);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_put_ibdev);

static void krdma_device_gate_closed(struct percpu_ref *gate)
{
	struct krdma_device *dev = container_of(gate, struct krdma_device, gate);

	complete(&dev->gate_closed);
}

/* Close the gate: no caller can enter it any more, and all have left when this returns. */
static void krdma_device_close_gate(struct krdma_device *dev)
{
	might_sleep();

	percpu_ref_kill(&dev->gate);

	rwsem_acquire(&dev->gate_map, 0, 0, _RET_IP_);
	wait_for_completion(&dev->gate_closed);
	rwsem_release(&dev->gate_map, _RET_IP_);

	/* Later callers, under RCU, find the gate dead: that needs none of the data freed here. */
	percpu_ref_exit(&dev->gate);
}

/*
 * Uses
 */

/**
 * krdma_device_use() - Begin to use an RDMA device for longer than a call
 * @dev: the device; the caller holds a reference until krdma_device_unuse()
 * @use: the use, owned by the caller
 * @gone: see &struct krdma_use
 *
 * Context: any but NMI.
 * Return: 0, or -ENODEV if the RDMA device was removed or is being removed.
 */
int krdma_device_use(struct krdma_device *dev, struct krdma_use *use,
		     void (*gone)(struct krdma_use *use))
{
	unsigned long flags;
	int ret = -ENODEV;

	use->gone = gone;
	spin_lock_irqsave(&dev->uses_lock, flags);
	if (!dev->going) {
		list_add_tail(&use->node, &dev->uses);
		krdma_object_count(KRDMA_OBJECT_DEVICE_USE, use);
		ret = 0;
	}
	spin_unlock_irqrestore(&dev->uses_lock, flags);

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_use);

/**
 * krdma_device_unuse() - End the use that krdma_device_use() has begun
 * @dev: the device
 * @use: the use; not accessed after the call
 *
 * The caller must hold nothing of the RDMA device any more.
 *
 * Context: any but NMI.
 */
void krdma_device_unuse(struct krdma_device *dev, struct krdma_use *use)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->uses_lock, flags);
	krdma_object_uncount(KRDMA_OBJECT_DEVICE_USE, use);
	list_del(&use->node);
	/* Under the lock: @dev may be freed as soon as the removal sees the lists empty. */
	if (list_empty(&dev->uses) && list_empty(&dev->notified))
		wake_up_all(&dev->unused);
	spin_unlock_irqrestore(&dev->uses_lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_unuse);

/* Return whether both lists are empty.  Taking the lock ensures that no waker still uses @dev. */
static bool krdma_device_unused(struct krdma_device *dev)
{
	unsigned long flags;
	bool unused;

	spin_lock_irqsave(&dev->uses_lock, flags);
	unused = list_empty(&dev->uses) && list_empty(&dev->notified);
	spin_unlock_irqrestore(&dev->uses_lock, flags);

	return unused;
}

/* Notify some of the uses that have not been notified; false if those were the last. */
static bool krdma_device_notify_uses(struct krdma_device *dev)
{
	struct krdma_use *use;
	unsigned long flags;
	bool more;

	/* No use is added after this, and gone() ends none while the lock is held. */
	spin_lock_irqsave(&dev->uses_lock, flags);
	dev->going = true;
	for (int i = 0; i < KRDMA_USES_AT_A_TIME && !list_empty(&dev->uses); i++) {
		use = list_first_entry(&dev->uses, struct krdma_use, node);
		list_move_tail(&use->node, &dev->notified);
		use->gone(use);
	}
	more = !list_empty(&dev->uses);
	spin_unlock_irqrestore(&dev->uses_lock, flags);

	return more;
}

/* Notify all users, once each, and wait until they have released everything. */
static void krdma_device_end_uses(struct krdma_device *dev)
{
	might_sleep();

	while (krdma_device_notify_uses(dev))
		cond_resched();
	wait_event(dev->unused, krdma_device_unused(dev));
}

/**
 * krdma_device_ib() - Get the RDMA device of a use
 * @dev: the device; the caller has a use
 *
 * Context: any.
 * Return: the RDMA device, valid as long as the use.
 */
struct ib_device *krdma_device_ib(struct krdma_device *dev)
{
	return dev->ibdev;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_ib);

/**
 * krdma_device_limits() - Get the limits of a device
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 * Return: its limits, which do not change.
 */
const struct krdma_limits *krdma_device_limits(const struct krdma_device *dev)
{
	return &dev->limits;
}

/**
 * krdma_device_node() - Get the NUMA node for memory that is used together with a device
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 * Return: the NUMA node, or NUMA_NO_NODE.
 */
int krdma_device_node(const struct krdma_device *dev)
{
	return dev->node;
}

/**
 * krdma_device_vectors() - Get the completion vectors of a device
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 * Return: the vectors, valid as long as @dev.
 */
struct krdma_vectors *krdma_device_vectors(struct krdma_device *dev)
{
	return dev->vectors;
}

/**
 * krdma_device_max_message() - Get the longest message that a port of a device accepts
 * @dev: the device; the caller has a use of it
 * @port: the port, from 1
 * @reclaim: memory reclaim may wait for the caller
 * @bytes: filled in on success
 *
 * Context: process context; may sleep; may take rtnl on the first call and, without @reclaim, after
 * an event of the port.
 * Return: as krdma_ports_max_message().
 */
int krdma_device_max_message(struct krdma_device *dev, u32 port, bool reclaim, u32 *bytes)
{
	return krdma_ports_max_message(dev->ports, dev->ibdev, port, reclaim, bytes);
}

/**
 * krdma_device_caps() - Get the capabilities of a device
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 * Return: &enum krdma_device_cap, which do not change.
 */
u64 krdma_device_caps(const struct krdma_device *dev)
{
	return dev->caps;
}

/**
 * krdma_device_serves_atomics() - Check whether the device executes atomics of peers
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 * Return: true if memory can have KRDMA_ACCESS_REMOTE_ATOMIC.
 */
bool krdma_device_serves_atomics(const struct krdma_device *dev)
{
	return dev->serves_atomics;
}

/**
 * krdma_device_id() - Get the number of a device
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 * Return: its number.
 */
u32 krdma_device_id(const struct krdma_device *dev)
{
	return dev->id;
}

/*
 * The object
 */

/*
 * Registrations have pages of the kernel's size.  A driver need not check that its device has them:
 * irdma takes every size that it does not know for 4 KiB.  A provider that reports no size at all
 * is believed to have them: the sources do not show what each hypervisor reports.
 */
static bool krdma_device_has_pages(const struct ib_device *ibdev)
{
	u64 sizes = ibdev->attrs.page_size_cap;

	return !sizes || (sizes & PAGE_SIZE);
}

static bool krdma_device_has_fast_reg(const struct ib_device *ibdev)
{
	if (!(ibdev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    !ibdev->ops.alloc_mr || !ibdev->ops.map_mr_sg)
		return false;
	return krdma_device_has_pages(ibdev) && krdma_quirk_registers_right(ibdev);
}

static void krdma_device_read_raw(const struct ib_device *ibdev, struct krdma_raw_attr *raw)
{
	const struct ib_device_attr *attrs = &ibdev->attrs;

	*raw = (struct krdma_raw_attr) {
		.max_mr_size = attrs->max_mr_size,
		.max_qp = attrs->max_qp,
		.max_qp_wr = attrs->max_qp_wr,
		.max_send_sge = attrs->max_send_sge,
		.max_recv_sge = attrs->max_recv_sge,
		.max_sge_rd = attrs->max_sge_rd,
		.max_cqe = attrs->max_cqe,
		.max_srq = attrs->max_srq,
		.max_srq_wr = attrs->max_srq_wr,
		.max_srq_sge = attrs->max_srq_sge,
		.max_qp_init_rd_atom = attrs->max_qp_init_rd_atom,
		.max_qp_rd_atom = attrs->max_qp_rd_atom,
		.max_fast_reg_pages = krdma_quirk_fast_reg_pages(ibdev),
		.has_atomic = attrs->atomic_cap != IB_ATOMIC_NONE &&
			      krdma_quirk_posts_atomics(ibdev),
		/* No attribute reports it; in practice the InfiniBand transport has it. */
		.has_imm = rdma_node_get_transport(ibdev->node_type) == RDMA_TRANSPORT_IB,
		.has_srq = ibdev->ops.create_srq && ibdev->ops.post_srq_recv,
		.has_fast_reg = krdma_device_has_fast_reg(ibdev),
		.has_odp = attrs->kernel_cap_flags & IBK_ON_DEMAND_PAGING,
		.has_read_local = !krdma_quirk_reads_by_key(ibdev),
	};
}

static struct krdma_device *krdma_device_alloc(struct ib_device *ibdev)
{
	static struct lock_class_key gate_key;
	struct krdma_device *dev;
	struct krdma_raw_attr raw;
	int ret;

	dev = krdma_object_count(KRDMA_OBJECT_DEVICE, kzalloc_obj(*dev, GFP_KERNEL));
	if (!dev)
		return ERR_PTR(-ENOMEM);

	ret = -ENOMEM;
	dev->ports = krdma_ports_alloc(ibdev);
	dev->vectors = krdma_vectors_alloc(ibdev);
	if (dev->ports && dev->vectors)
		ret = percpu_ref_init(&dev->gate, krdma_device_gate_closed, 0, GFP_KERNEL);
	if (ret) {
		kfree(dev->vectors);
		kfree(dev->ports);
		kfree(krdma_object_uncount(KRDMA_OBJECT_DEVICE, dev));
		return ERR_PTR(ret);
	}

	lockdep_init_map(&dev->gate_map, "krdma_device.gate", &gate_key, 0);
	init_completion(&dev->gate_closed);
	spin_lock_init(&dev->uses_lock);
	INIT_LIST_HEAD(&dev->uses);
	INIT_LIST_HEAD(&dev->notified);
	INIT_LIST_HEAD(&dev->kept_pds);
	init_waitqueue_head(&dev->unused);
	refcount_set(&dev->refs, 1);
	dev->ibdev = ibdev;
	dev->node = ibdev_to_node(ibdev);

	krdma_device_read_raw(ibdev, &raw);
	dev->caps = krdma_caps_flags(&raw);
	dev->serves_atomics = ibdev->attrs.atomic_cap != IB_ATOMIC_NONE &&
			      krdma_quirk_serves_atomics(ibdev);
	krdma_caps_derive(&raw, &dev->limits);

	/* ib_core does not rename a device while it adds it, so the name is stable. */
	spin_lock_init(&dev->name_lock);
	strscpy_pad(dev->name, dev_name(&ibdev->dev), sizeof(dev->name));

	return dev;
}

/**
 * krdma_device_put() - Put a reference to a device
 * @dev: the device, or NULL
 *
 * Context: any but NMI.
 */
void krdma_device_put(struct krdma_device *dev)
{
	if (dev && refcount_dec_and_test(&dev->refs)) {
		krdma_object_uncount(KRDMA_OBJECT_DEVICE, dev);
		kfree(dev->vectors);
		kfree(dev->ports);
		kfree_rcu(dev, rcu);
	}
}
EXPORT_SYMBOL_NS_GPL(krdma_device_put, "KRDMA");

/**
 * krdma_device_copy_name() - Copy the current name of a device
 * @dev: the device; the caller holds a reference
 * @name: filled in, with KRDMA_NAME_MAX bytes
 *
 * Context: process context; does not sleep.
 */
void krdma_device_copy_name(struct krdma_device *dev, char *name)
{
	spin_lock(&dev->name_lock);
	memcpy(name, dev->name, sizeof(dev->name));
	spin_unlock(&dev->name_lock);
}

static bool krdma_device_has_name(struct krdma_device *dev, const char *name)
{
	bool same;

	spin_lock(&dev->name_lock);
	same = !strcmp(dev->name, name);
	spin_unlock(&dev->name_lock);

	return same;
}

/*
 * PDs that stay
 */

/* A PD of ib_core that is freed when the device is removed. */
struct krdma_kept_pd {
	struct list_head node;
	struct ib_pd *ib;
};

/**
 * krdma_device_keep_pd() - Free a PD only when its device is removed
 * @dev: the device; the caller has a use of it
 * @ib: the PD, in which the device may still know a key
 *
 * Without memory for that it is never freed, and ib_core warns when the device is removed.
 *
 * Context: process context; may sleep.
 */
void krdma_device_keep_pd(struct krdma_device *dev, struct ib_pd *ib)
{
	struct krdma_kept_pd *kept = kmalloc_obj(*kept, GFP_NOIO);

	if (!kept)
		return;
	kept->ib = ib;
	spin_lock_irq(&dev->uses_lock);
	list_add(&kept->node, &dev->kept_pds);
	spin_unlock_irq(&dev->uses_lock);
}

/*
 * The device has no use any more, so none is added.  It need not be gone: the module may be
 * unloaded, or the device may get another namespace.  The PDs are freed then, too, because nothing
 * could free them later.
 */
static void krdma_device_free_pds(struct krdma_device *dev)
{
	struct krdma_kept_pd *kept, *next;

	list_for_each_entry_safe(kept, next, &dev->kept_pds, node) {
		/* If the driver refuses, ib_core warns of what is left. */
		(void)ib_dealloc_pd_user(kept->ib, NULL);
		kfree(kept);
	}
	INIT_LIST_HEAD(&dev->kept_pds);
}

/*
 * Callbacks of ib_core
 */

static int krdma_device_add(struct ib_device *ibdev);
static void krdma_device_remove(struct ib_device *ibdev, void *client_data);
static void krdma_device_rename(struct ib_device *ibdev, void *client_data);

/* no_kverbs_req is 0: ib_core does not report devices that accept no kernel consumers. */
static struct ib_client krdma_client = {
	.name = KBUILD_MODNAME,
	.add = krdma_device_add,
	.remove = krdma_device_remove,
	.rename = krdma_device_rename,
};

static int krdma_device_add(struct ib_device *ibdev)
{
	struct krdma_device *dev;
	int ret;

	dev = krdma_device_alloc(ibdev);
	if (IS_ERR(dev)) {
		ret = PTR_ERR(dev);
		goto err_report;
	}

	dev->notifier_device = krdma_notifier_device_create(ibdev, dev->ports);
	if (IS_ERR(dev->notifier_device)) {
		ret = PTR_ERR(dev->notifier_device);
		goto err_free;
	}

	/* From here on the device can be found, so nothing may fail after this. */
	ret = xa_alloc_cyclic(&krdma_devices, &dev->id, dev, KRDMA_DEVICE_IDS,
			      &krdma_devices_next_id, GFP_KERNEL);
	if (ret < 0)
		goto err_notifier;

	/* ib_core calls neither remove nor rename before this function has returned. */
	ib_set_client_data(ibdev, &krdma_client, dev);
	trace_krdma_device_add(dev->id, dev->name);
	krdma_notifier_device_added(dev->notifier_device, dev->id);
	return 0;

err_notifier:
	krdma_notifier_device_removed(dev->notifier_device);
err_free:
	percpu_ref_exit(&dev->gate);
	kfree(dev->vectors);
	kfree(dev->ports);
	kfree(krdma_object_uncount(KRDMA_OBJECT_DEVICE, dev));
err_report:
	/* ib_core does not report the errno, and the device would just be missing. */
	dev_err(&ibdev->dev, "not served by " KBUILD_MODNAME ": %pe\n", ERR_PTR(ret));
	return ret;
}

static void krdma_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct krdma_device *dev = client_data;

	xa_erase(&krdma_devices, dev->id);
	krdma_device_end_uses(dev);
	krdma_device_free_pds(dev);
	krdma_device_close_gate(dev);
	krdma_notifier_device_removed(dev->notifier_device);

	dev->ibdev = NULL;
	trace_krdma_device_remove(dev->id, dev->name);
	krdma_device_put(dev);
}

static void krdma_device_rename(struct ib_device *ibdev, void *client_data)
{
	struct krdma_device *dev = client_data;

	spin_lock(&dev->name_lock);
	strscpy_pad(dev->name, dev_name(&ibdev->dev), sizeof(dev->name));
	spin_unlock(&dev->name_lock);
}

/*
 * Lookups
 */

/*
 * Get a reference to a device that the caller has found in the table.  Fails if @net may not
 * see the device or it is being removed.
 */
static bool krdma_device_tryget(struct krdma_device *dev, const struct net *net)
{
	struct ib_device *ibdev;
	bool visible;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a device looked up without RCU");

	ibdev = krdma_device_get_ibdev(dev);
	if (!ibdev)
		return false;

	/* The count is not zero: inside the gate the table holds its own reference. */
	visible = rdma_dev_access_netns(ibdev, net);
	if (visible)
		refcount_inc(&dev->refs);
	krdma_device_put_ibdev(dev);

	return visible;
}

/**
 * krdma_device_get_by_id() - Find a device by its number
 * @net: the network namespace of the caller
 * @id: the number
 *
 * Context: process context; does not sleep.
 * Return: the device, to be released by krdma_device_put(), or NULL if no device that @net may
 * see has this number.
 */
struct krdma_device *krdma_device_get_by_id(const struct net *net, u32 id)
{
	struct krdma_device *dev;

	rcu_read_lock();
	dev = xa_load(&krdma_devices, id);
	if (dev && !krdma_device_tryget(dev, net))
		dev = NULL;
	rcu_read_unlock();

	return dev;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_get_by_id, "KRDMA");

/**
 * krdma_device_next() - Find the next device
 * @net: the network namespace of the caller
 * @id: the lowest number to return
 *
 * Repeated calls, each with the last number plus 1, find every device that is present all the
 * time, even if other devices come and go meanwhile.
 *
 * Context: process context; does not sleep.
 * Return: the device with the lowest number that is not below @id, to be released by
 * krdma_device_put(), or NULL if there is none that @net may see.
 */
struct krdma_device *krdma_device_next(const struct net *net, u32 id)
{
	struct krdma_device *dev;
	unsigned long index;

	rcu_read_lock();
	xa_for_each_start(&krdma_devices, index, dev, id) {
		if (krdma_device_tryget(dev, net))
			break;
	}
	rcu_read_unlock();

	return dev;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_next, "KRDMA");

/**
 * krdma_device_get_by_name() - Find a device by its name
 * @net: the network namespace of the caller
 * @name: the name, zero-terminated
 *
 * Context: process context; does not sleep.
 * Return: the device, to be released by krdma_device_put(), or NULL if no device that @net may
 * see has this name.
 */
struct krdma_device *krdma_device_get_by_name(const struct net *net, const char *name)
{
	struct krdma_device *dev;
	unsigned long index;

	rcu_read_lock();
	xa_for_each(&krdma_devices, index, dev) {
		if (krdma_device_has_name(dev, name) && krdma_device_tryget(dev, net))
			break;
	}
	rcu_read_unlock();

	return dev;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_get_by_name, "KRDMA");

/**
 * krdma_device_of() - Find the device of an RDMA device
 * @ibdev: the RDMA device; the caller keeps it
 *
 * Context: any but NMI and hard interrupts; does not sleep.
 * Return: the device, to be released by krdma_device_put(), or NULL if krdma does not serve it
 * or it is being removed.
 */
struct krdma_device *krdma_device_of(const struct ib_device *ibdev)
{
	struct krdma_device *dev;
	unsigned long index;
	bool found = false;

	/* Not ib_get_client_data(): handlers of rdma_cm also call this after the removal. */
	rcu_read_lock();
	xa_for_each(&krdma_devices, index, dev) {
		if (!krdma_device_get_ibdev(dev))
			continue;
		found = dev->ibdev == ibdev;
		if (found)
			refcount_inc(&dev->refs);
		krdma_device_put_ibdev(dev);
		if (found)
			break;
	}
	rcu_read_unlock();

	return found ? dev : NULL;
}

/**
 * krdma_device_get() - Get another reference to a device
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 */
void krdma_device_get(struct krdma_device *dev)
{
	refcount_inc(&dev->refs);
}

/**
 * krdma_device_count() - Count the devices
 * @net: the network namespace of the caller
 *
 * Context: process context; does not sleep.
 * Return: the number of devices that @net may see now.
 */
u32 krdma_device_count(const struct net *net)
{
	struct krdma_device *dev;
	struct ib_device *ibdev;
	unsigned long index;
	u32 count = 0;

	rcu_read_lock();
	xa_for_each(&krdma_devices, index, dev) {
		ibdev = krdma_device_get_ibdev(dev);
		if (!ibdev)
			continue;
		count += rdma_dev_access_netns(ibdev, net);
		krdma_device_put_ibdev(dev);
	}
	rcu_read_unlock();

	return count;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_count, "KRDMA");

/*
 * Module init and exit
 */

/**
 * krdma_devices_init() - Register with ib_core
 *
 * The devices that are already present are in the table when this returns.
 *
 * Context: process context; may sleep.
 * Return: 0 or a negative errno.
 */
int krdma_devices_init(void)
{
	return ib_register_client(&krdma_client);
}

/**
 * krdma_devices_exit() - Unregister from ib_core and remove all devices
 *
 * The caller ensures that no lookup runs any more, and that every caller leaves its gate in
 * time.
 *
 * Context: process context; may sleep.
 */
void krdma_devices_exit(void)
{
	ib_unregister_client(&krdma_client);
	WARN_ON(!xa_empty(&krdma_devices));
	xa_destroy(&krdma_devices);
}
