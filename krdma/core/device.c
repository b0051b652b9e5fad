// SPDX-License-Identifier: GPL-2.0
/*
 * The table of RDMA devices.
 *
 * ib_core tells this file of every device that takes kernel consumers, and of
 * its end.  In between, others find the device by number or name and hold a
 * struct krdma_device, which stays valid however long they hold it; the RDMA
 * device behind it may go at any time, and they are told so by -ENODEV.
 *
 * Two counts make that work (see private.h): "refs" keeps the object, and the
 * "gate" keeps the RDMA device for the length of one call.  Removal closes the
 * gate, waits until everybody is out, and lets the device go.
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
#include "core/objects.h"
#include "core/port.h"
#include "core/private.h"
#include "core/quirks.h"
#include "core/resource.h"
#include "trace.h"
#include "core/vector.h"
#include "core/notifier.h"

/* Uses that are told with interrupts off: programs decide how many a device has. */
#define KRDMA_USES_AT_A_TIME	32

/**
 * struct krdma_device - one RDMA device, for as long as anybody refers to it
 * @id: its number.  Set once, before others can find the device.
 * @refs: keeps this structure
 * @gate: keeps @ibdev; see private.h
 * @gate_map: @gate in lockdep's eyes
 * @gate_closed: everybody has left @gate for good
 * @ibdev: the RDMA device.  Protected by @gate, or by a use.
 * @uses_lock: protects @uses, @told and @going
 * @uses: who has something of the RDMA device: &struct krdma_use
 * @told: of them those that have been told that the device goes
 * @going: the device is being removed, and takes no further uses
 * @unused: woken when @uses and @told get empty
 * @notifier_device: tells watches of it
 * @ports: what is kept of its ports.  Set once, before others can find the device.
 * @vectors: its completion vectors.  Set once, before others can find the device.
 * @node: its NUMA node, or NUMA_NO_NODE.  Set once, before others can find the device.
 * @caps: what it can do.  Set once, before others can find the device.
 * @limits: what may be asked of it.  Likewise.
 * @name_lock: protects @name
 * @name: ib_core's name for it; ours, because ib_core's changes under readers
 * @rcu: lookups go on under RCU while the last reference is given back
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
	struct list_head told;
	bool going;
	wait_queue_head_t unused;
	struct krdma_notifier_device *notifier_device;
	struct krdma_ports *ports;
	struct krdma_vectors *vectors;
	int node;

	u64 caps;
	struct krdma_limits limits;

	spinlock_t name_lock;		/* see above */
	char name[KRDMA_NAME_MAX];

	struct rcu_head rcu;
};

/*
 * Numbers are given out in a circle, so that one that somebody has written down
 * is not soon another device's.
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
 * krdma_device_get_ibdev - use the RDMA device behind a device
 * @dev: the device, kept by a reference or by RCU
 *
 * The RDMA device, its provider's module and the table's reference to @dev stay
 * until krdma_device_put_ibdev().  Removal waits for that: leave soon, and wait for
 * nothing that waits for a removal.
 *
 * Context: any but NMI.  Never waits.  The caller may sleep before it leaves.
 * Return: the RDMA device, or NULL when it is gone or going.
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
 * krdma_device_put_ibdev - end what krdma_device_get_ibdev() began
 * @dev: the device
 *
 * Context: the one that entered.
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

/* Nobody gets in from here on, and nobody is in when this returns. */
static void krdma_device_close_gate(struct krdma_device *dev)
{
	might_sleep();

	percpu_ref_kill(&dev->gate);

	rwsem_acquire(&dev->gate_map, 0, 0, _RET_IP_);
	wait_for_completion(&dev->gate_closed);
	rwsem_release(&dev->gate_map, _RET_IP_);

	/* Those who come later, under RCU, find it dead: that needs no data of it. */
	percpu_ref_exit(&dev->gate);
}

/*
 * Uses
 */

/**
 * krdma_device_use - begin to use an RDMA device for longer than a call
 * @dev: the device; the caller holds a reference until krdma_device_unuse()
 * @use: the user's
 * @gone: see &struct krdma_use
 *
 * Context: any but NMI.
 * Return: 0, or -ENODEV if the RDMA device has been removed or is going.
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
 * krdma_device_unuse - end what krdma_device_use() began
 * @dev: the device
 * @use: the user's; not looked at any more after the call
 *
 * Nothing of the RDMA device is left with the user.
 *
 * Context: any but NMI.
 */
void krdma_device_unuse(struct krdma_device *dev, struct krdma_use *use)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->uses_lock, flags);
	krdma_object_uncount(KRDMA_OBJECT_DEVICE_USE, use);
	list_del(&use->node);
	/* Under the lock: @dev may be gone as soon as the remover sees the lists empty. */
	if (list_empty(&dev->uses) && list_empty(&dev->told))
		wake_up_all(&dev->unused);
	spin_unlock_irqrestore(&dev->uses_lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_unuse);

/* Have the lists become empty?  By their lock, so that nobody is still about to wake us. */
static bool krdma_device_unused(struct krdma_device *dev)
{
	unsigned long flags;
	bool unused;

	spin_lock_irqsave(&dev->uses_lock, flags);
	unused = list_empty(&dev->uses) && list_empty(&dev->told);
	spin_unlock_irqrestore(&dev->uses_lock, flags);

	return unused;
}

/* Some of those that have not been told; false: it was the last of them. */
static bool krdma_device_notify_uses(struct krdma_device *dev)
{
	struct krdma_use *use;
	unsigned long flags;
	bool more;

	/* No use is added after this, and gone() takes none away while the lock is held. */
	spin_lock_irqsave(&dev->uses_lock, flags);
	dev->going = true;
	for (int i = 0; i < KRDMA_USES_AT_A_TIME && !list_empty(&dev->uses); i++) {
		use = list_first_entry(&dev->uses, struct krdma_use, node);
		list_move_tail(&use->node, &dev->told);
		use->gone(use);
	}
	more = !list_empty(&dev->uses);
	spin_unlock_irqrestore(&dev->uses_lock, flags);

	return more;
}

/* Tells all users, once each, and waits until they have given everything back. */
static void krdma_device_end_uses(struct krdma_device *dev)
{
	might_sleep();

	while (krdma_device_notify_uses(dev))
		cond_resched();
	wait_event(dev->unused, krdma_device_unused(dev));
}

/**
 * krdma_device_ib - the RDMA device of one who uses it
 * @dev: the device; the caller has a use
 *
 * Context: any.
 * Return: the RDMA device, there as long as the use.
 */
struct ib_device *krdma_device_ib(struct krdma_device *dev)
{
	return dev->ibdev;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_device_ib);

/**
 * krdma_device_limits - what may be asked of a device
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
 * krdma_device_node - where memory that is used together with a device should be
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
 * krdma_device_vectors - the completion vectors of a device
 * @dev: the device; the caller holds a reference
 *
 * Context: any.
 * Return: the vectors, kept as long as @dev.
 */
struct krdma_vectors *krdma_device_vectors(struct krdma_device *dev)
{
	return dev->vectors;
}

/**
 * krdma_device_max_message - the largest message that a port of a device takes
 * @dev: the device; the caller has a use of it
 * @port: the port, from 1
 * @bytes: filled in, unless it fails
 *
 * Context: process context; may sleep; the first time, and after an event of the port, may
 * take rtnl.
 * Return: as krdma_ports_max_message().
 */
int krdma_device_max_message(struct krdma_device *dev, u32 port, u32 *bytes)
{
	return krdma_ports_max_message(dev->ports, dev->ibdev, port, bytes);
}

/**
 * krdma_device_caps - what a device can do
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
 * krdma_device_id - the number of a device
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
		.max_qp_init_rd_atom = attrs->max_qp_init_rd_atom,
		.max_qp_rd_atom = attrs->max_qp_rd_atom,
		.max_fast_reg_pages = attrs->max_fast_reg_page_list_len,
		.has_atomic = attrs->atomic_cap != IB_ATOMIC_NONE,
		/* Nothing says it; in practice it is InfiniBand's transport that has it. */
		.has_imm = rdma_node_get_transport(ibdev->node_type) == RDMA_TRANSPORT_IB,
		.has_srq = ibdev->ops.create_srq && ibdev->ops.post_srq_recv,
		.has_fast_reg = (attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
				ibdev->ops.alloc_mr && ibdev->ops.map_mr_sg,
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
	INIT_LIST_HEAD(&dev->told);
	init_waitqueue_head(&dev->unused);
	refcount_set(&dev->refs, 1);
	dev->ibdev = ibdev;
	dev->node = ibdev_to_node(ibdev);

	krdma_device_read_raw(ibdev, &raw);
	dev->caps = krdma_caps_flags(&raw);
	krdma_caps_derive(&raw, &dev->limits);

	/* ib_core renames nothing while it adds: the name is a steady one. */
	spin_lock_init(&dev->name_lock);
	strscpy_pad(dev->name, dev_name(&ibdev->dev), sizeof(dev->name));

	return dev;
}

/**
 * krdma_device_put - give back a reference to a device
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
 * krdma_device_copy_name - the name that a device has now
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
 * What ib_core calls
 */

static int krdma_device_add(struct ib_device *ibdev);
static void krdma_device_remove(struct ib_device *ibdev, void *client_data);
static void krdma_device_rename(struct ib_device *ibdev, void *client_data);

/* Devices that take no kernel consumers are not offered: no_kverbs_req is 0. */
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

	dev->notifier_device = krdma_notifier_device_prepare(ibdev, dev->ports);
	if (IS_ERR(dev->notifier_device)) {
		ret = PTR_ERR(dev->notifier_device);
		goto err_free;
	}

	/* From here on others find it: nothing fails any more. */
	ret = xa_alloc_cyclic(&krdma_devices, &dev->id, dev, KRDMA_DEVICE_IDS,
			      &krdma_devices_next_id, GFP_KERNEL);
	if (ret < 0)
		goto err_watched;

	/* Neither removal nor renaming comes before this function has returned. */
	ib_set_client_data(ibdev, &krdma_client, dev);
	trace_krdma_device_add(dev->id, dev->name);
	krdma_notifier_device_added(dev->notifier_device, dev->id);
	return 0;

err_watched:
	krdma_notifier_device_removed(dev->notifier_device);
err_free:
	percpu_ref_exit(&dev->gate);
	kfree(dev->vectors);
	kfree(dev->ports);
	kfree(krdma_object_uncount(KRDMA_OBJECT_DEVICE, dev));
err_report:
	/* ib_core keeps the errno to itself, and the device would just be missing. */
	dev_err(&ibdev->dev, "not served by " KBUILD_MODNAME ": %pe\n", ERR_PTR(ret));
	return ret;
}

static void krdma_device_remove(struct ib_device *ibdev, void *client_data)
{
	struct krdma_device *dev = client_data;

	xa_erase(&krdma_devices, dev->id);
	krdma_device_end_uses(dev);
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
 * A reference to a device that the caller has found in the table, or nothing if
 * @net may not see it or it is going.
 */
static bool krdma_device_tryget(struct krdma_device *dev, const struct net *net)
{
	struct ib_device *ibdev;
	bool visible;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a device looked up without RCU");

	ibdev = krdma_device_get_ibdev(dev);
	if (!ibdev)
		return false;

	/* No need to ask whether it is zero: inside the gate the table has its own. */
	visible = rdma_dev_access_netns(ibdev, net);
	if (visible)
		refcount_inc(&dev->refs);
	krdma_device_put_ibdev(dev);

	return visible;
}

/**
 * krdma_device_get_by_id - find a device by its number
 * @net: the network namespace on whose behalf
 * @id: the number
 *
 * Context: process context; does not sleep.
 * Return: the device, for krdma_device_put(), or NULL if there is none with
 * this number that @net may see.
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
 * krdma_device_next - find the next device
 * @net: the network namespace on whose behalf
 * @id: where to begin
 *
 * One after the other, with the last number plus 1, this finds every device
 * that was there all the time, whatever comes and goes meanwhile.
 *
 * Context: process context; does not sleep.
 * Return: the device with the lowest number that is not below @id, for
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
 * krdma_device_get_by_name - find a device by its name
 * @net: the network namespace on whose behalf
 * @name: the name, zero-terminated
 *
 * Context: process context; does not sleep.
 * Return: the device, for krdma_device_put(), or NULL if there is none with
 * this name that @net may see.
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
 * krdma_device_of - the device that stands for an RDMA device
 * @ibdev: the RDMA device; the caller keeps it
 *
 * Context: any but NMI and hard interrupts; does not sleep.
 * Return: the device, for krdma_device_put(), or NULL if krdma does not serve it
 * or it is going.
 */
struct krdma_device *krdma_device_of(const struct ib_device *ibdev)
{
	struct krdma_device *dev;
	unsigned long index;
	bool found = false;

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
 * krdma_device_get - one more reference to a device
 * @dev: the device; the caller holds one
 *
 * Context: any.
 */
void krdma_device_get(struct krdma_device *dev)
{
	refcount_inc(&dev->refs);
}

/**
 * krdma_device_count - count devices
 * @net: the network namespace on whose behalf
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
 * Start and end
 */

/**
 * krdma_devices_init - begin to know devices
 *
 * Those that are there already are in the table when this returns.
 *
 * Context: process context; may sleep.
 * Return: 0 or a negative errno.
 */
int krdma_devices_init(void)
{
	return ib_register_client(&krdma_client);
}

/**
 * krdma_devices_exit - forget all devices
 *
 * Nobody looks up devices any more, and every gate is left in time.
 *
 * Context: process context; may sleep.
 */
void krdma_devices_exit(void)
{
	ib_unregister_client(&krdma_client);
	WARN_ON(!xa_empty(&krdma_devices));
	xa_destroy(&krdma_devices);
}
