// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_fake: fake RDMA devices on the network interfaces of a whole machine.
 *
 *	insmod krdma_fake.ko personality=mlx5
 *	rdma link add fake0 type krdma_fake netdev eth0
 *
 * All devices of a machine behave like one driver, and reach each other; no packet goes through an
 * interface.  A device is removed with its interface, or by "rdma link del".
 *
 * With iommu=1, memory is mapped as for a PCI device behind an IOMMU that translates: QEMU's
 * pci-testdev, which no driver uses.
 */
#include <linux/iommu.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait_bit.h>
#include <net/addrconf.h>
#include <rdma/rdma_netlink.h>

#include "fake_private.h"

static char *kind = "";
module_param(kind, charp, 0444);
MODULE_PARM_DESC(kind, "Of the ports: roce or iwarp; default: what the driver has, RoCE first");

static bool iommu;
module_param(iommu, bool, 0444);
MODULE_PARM_DESC(iommu, "Map memory as for QEMU's pci-testdev, behind an IOMMU");

#define FAKE_PCI_VENDOR	0x1b36
#define FAKE_PCI_DEVICE	0x0005

/* Keeps the PCI device. */
static struct pci_dev *fake_pci;

/* Protects both, and keeps the interfaces of devices. */
static DEFINE_MUTEX(fake_links_lock);
static LIST_HEAD(fake_links);
static unsigned int fake_links_live;

/**
 * struct fake_link - a device on an interface
 * @entry: in fake_links
 * @fake: the device
 * @up: the last state of the port that its consumers were notified of
 */
struct fake_link {
	struct list_head entry;
	struct fake_device *fake;
	bool up;
};

static struct rdma_link_ops fake_link_ops;
static unsigned int fake_kind;

/*
 * One device
 */

static void fake_link_forget(struct fake_device *fake)
{
	struct fake_link *link, *next;

	mutex_lock(&fake_links_lock);
	list_for_each_entry_safe(link, next, &fake_links, entry)
		if (link->fake == fake) {
			list_del(&link->entry);
			kfree(link);
		}
	mutex_unlock(&fake_links_lock);
}

/* The device has no users any more. */
static void fake_link_dealloc(struct ib_device *ib)
{
	struct fake_device *fake = to_fake(ib);

	fake_link_forget(fake);
	WARN(fake_device_stop(fake), "%s: objects were not given back, or it was misused\n",
	     dev_name(&ib->dev));
	mutex_lock(&fake_links_lock);
	WRITE_ONCE(fake_links_live, fake_links_live - 1);
	/* Pairs with prepare_to_wait(). */
	smp_mb();
	wake_up_var(&fake_links_live);
	mutex_unlock(&fake_links_lock);
}

static const struct ib_device_ops fake_link_device_ops = {
	.dealloc_driver = fake_link_dealloc,
};

/* Gives the device the capacity of a card, where the driver does not have less. */
static void fake_link_furnish(struct fake_device *fake, struct net_device *netdev)
{
	fake_device_offer_srq(fake);
	fake_device_offer_atomics(fake);
	/* "rdma link del" asks for it. */
	fake->attr.kernel_cap_flags |= IBK_ALLOW_USER_UNREG;
	fake->attr.max_mr_size = 1ULL << 40;
	fake->attr.max_qp = 1 << 16;
	fake->attr.max_qp_wr = FAKE_MAX_WR;
	fake->attr.max_cq = 1 << 16;
	fake->attr.max_cqe = FAKE_MAX_CQE - 1;
	fake->attr.max_mr = 1 << 19;
	fake->attr.max_pd = 1 << 16;
	fake->attr.max_ah = 1 << 16;
	fake->attr.max_pkeys = 1;
	fake->attr.max_send_sge = FAKE_MAX_SGE;
	fake->attr.max_recv_sge = FAKE_MAX_SGE;
	fake->attr.max_sge_rd = FAKE_MAX_SGE;
	fake->attr.max_qp_rd_atom = 128;
	fake->attr.max_qp_init_rd_atom = 128;
	fake->attr.max_fast_reg_page_list_len = 512;
	fake->attr.max_srq = 1 << 16;
	fake->attr.max_srq_wr = FAKE_MAX_WR;
	fake->attr.max_srq_sge = FAKE_MAX_SGE;
	fake->port.max_msg_sz = 1 << 23;
	fake->netdev = netdev;
	fake->follows_netdev = true;
	fake->ib.num_comp_vectors = num_possible_cpus();
	fake->ib.link_ops = &fake_link_ops;
	fake->ib.ops.driver_id = fake->personality->driver_id;
	addrconf_addr_eui48((u8 *)&fake->ib.node_guid, netdev->dev_addr);
	ib_set_device_ops(&fake->ib, &fake_link_device_ops);
	fake_device_set_kind(fake, fake_kind);
	if (fake_pci) {
		fake->dma_device = &fake_pci->dev;
		fake->domain = iommu_get_domain_for_dev(fake->dma_device);
	}
}

/* The device that maps the memory.  An IOMMU that does not translate would show nothing. */
static int fake_link_find_pci(void)
{
#ifdef CONFIG_IOMMU_API
	struct iommu_domain *domain;

	fake_pci = pci_get_device(FAKE_PCI_VENDOR, FAKE_PCI_DEVICE, NULL);
	domain = fake_pci ? iommu_get_domain_for_dev(&fake_pci->dev) : NULL;
	if (domain && iommu_is_dma_domain(domain))
		return 0;
	pci_dev_put(fake_pci);
	fake_pci = NULL;
#endif
	return -ENODEV;
}

static bool fake_link_is_up(const struct net_device *netdev)
{
	return netif_running(netdev) && netif_carrier_ok(netdev);
}

static int fake_newlink(const char *name, struct net_device *netdev)
{
	struct fake_device *fake;
	struct fake_link *link;
	int ret;

	link = kzalloc_obj(*link, GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	fake = fake_device_alloc(1);
	if (!fake) {
		kfree(link);
		return -ENOMEM;
	}
	fake_link_furnish(fake, netdev);
	link->fake = fake;
	link->up = fake_link_is_up(netdev);
	mutex_lock(&fake_links_lock);
	fake_links_live++;
	list_add_tail(&link->entry, &fake_links);
	mutex_unlock(&fake_links_lock);

	/* From here on the device can be removed by others. */
	ret = fake_device_add(fake, name);
	if (ret)
		ib_dealloc_device(&fake->ib);
	return ret;
}

static struct rdma_link_ops fake_link_ops = {
	.type = "krdma_fake",
	.newlink = fake_newlink,
};

/*
 * The interfaces
 */

static void fake_link_changed(struct fake_link *link)
{
	bool up = fake_link_is_up(link->fake->netdev);

	if (up == link->up)
		return;
	link->up = up;
	fake_device_event(link->fake, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR, 1);
}

static int fake_link_notify(struct notifier_block *block, unsigned long event, void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);
	struct fake_link *link;

	mutex_lock(&fake_links_lock);
	list_for_each_entry(link, &fake_links, entry) {
		if (link->fake->netdev != netdev || !ib_device_try_get(&link->fake->ib))
			continue;
		switch (event) {
		case NETDEV_UNREGISTER:
			ib_unregister_device_queued(&link->fake->ib);
			break;
		case NETDEV_UP:
		case NETDEV_DOWN:
		case NETDEV_CHANGE:
			fake_link_changed(link);
			break;
		}
		ib_device_put(&link->fake->ib);
	}
	mutex_unlock(&fake_links_lock);
	return NOTIFY_DONE;
}

static struct notifier_block fake_link_notifier = {
	.notifier_call = fake_link_notify,
};

/*
 * The module
 */

static int fake_link_choose_kind(const struct fake_personality *driver)
{
	unsigned int roce = driver->ports & FAKE_PORT_ROCE;

	if (!*kind)
		fake_kind = roce ?: FAKE_PORT_IWARP;
	else if (!strcmp(kind, "roce"))
		fake_kind = roce ?: FAKE_PORT_ROCE_V2;
	else if (!strcmp(kind, "iwarp"))
		fake_kind = FAKE_PORT_IWARP;
	return fake_kind ? 0 : -EINVAL;
}

static int __init fake_link_init(void)
{
	const struct fake_personality *driver = fake_personality_default();
	int ret;

	if (!driver)
		return -EINVAL;
	ret = fake_link_choose_kind(driver);
	if (ret)
		return ret;
	if (iommu)
		ret = fake_link_find_pci();
	if (ret)
		return ret;
	ret = register_netdevice_notifier(&fake_link_notifier);
	if (ret) {
		pci_dev_put(fake_pci);
		return ret;
	}
	rdma_link_register(&fake_link_ops);
	return 0;
}
module_init(fake_link_init);

/* Finds a device that is not being removed already. */
static struct fake_device *fake_link_next(void)
{
	struct fake_device *fake = NULL;
	struct fake_link *link;

	mutex_lock(&fake_links_lock);
	list_for_each_entry(link, &fake_links, entry)
		if (ib_device_try_get(&link->fake->ib)) {
			fake = link->fake;
			break;
		}
	mutex_unlock(&fake_links_lock);
	return fake;
}

static void __exit fake_link_exit(void)
{
	struct fake_device *fake;

	rdma_link_unregister(&fake_link_ops);
	unregister_netdevice_notifier(&fake_link_notifier);
	while ((fake = fake_link_next()))
		ib_unregister_device_and_put(&fake->ib);
	wait_var_event(&fake_links_live, !READ_ONCE(fake_links_live));
	/* A thread that has decremented the counter has released the mutex then. */
	mutex_lock(&fake_links_lock);
	mutex_unlock(&fake_links_lock);
	pci_dev_put(fake_pci);
}
module_exit(fake_link_exit);

MODULE_DESCRIPTION("RDMA devices that exist in memory only, for tests");
MODULE_AUTHOR("The krdma authors");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RDMA_LINK("krdma_fake");
