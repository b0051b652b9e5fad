// SPDX-License-Identifier: GPL-2.0
/* An RDMA device that exists in memory only: its life cycle, and its attributes. */
#include <linux/etherdevice.h>
#include <linux/if_link.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>

#include "fake_private.h"

#define FAKE_GUID	0x0200c0ffee000000ULL

/* More addresses than the interface below it has. */
#define FAKE_ROCE_GIDS	16

/*
 * Attributes
 */

static int fake_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	struct fake_device *fake = to_fake(ib);
	int ret;

	might_sleep();
	ret = fake_device_follow_script(fake, FAKE_QUERY_DEVICE);
	if (ret)
		return ret;

	*attr = fake->attr;
	return 0;
}

static int fake_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct fake_device *fake = to_fake(ib);
	int ret;

	/* irdma, bnxt_re, cxgb4, rxe and siw take RTNL. */
	might_sleep();
	fake_device_stop_at(fake, &fake->port_pause);
	ret = fake_device_follow_script(fake, FAKE_QUERY_PORT);
	if (ret)
		return ret;

	*attr = fake->port;
	if (fake->follows_netdev) {
		bool up = netif_running(fake->netdev) && netif_carrier_ok(fake->netdev);

		attr->active_mtu = iboe_get_mtu(READ_ONCE(fake->netdev->mtu));
		attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
		attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
					IB_PORT_PHYS_STATE_DISABLED;
	}
	if (fake->down_ports & BIT(port)) {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	}
	if ((fake->roce_ports & BIT(port)) || (fake->port_kind & FAKE_PORT_ROCE))
		attr->gid_tbl_len = FAKE_ROCE_GIDS;
	return 0;
}

static u32 fake_core_caps(unsigned int kind)
{
	u32 caps = 0;

	if (kind & FAKE_PORT_ROCE_V1)
		caps |= RDMA_CORE_PORT_IBA_ROCE;
	if (kind & FAKE_PORT_ROCE_V2)
		caps |= RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	return caps ?: RDMA_CORE_PORT_IWARP;
}

static int fake_get_port_immutable(struct ib_device *ib, u32 port,
				   struct ib_port_immutable *immutable)
{
	struct fake_device *fake = to_fake(ib);

	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = fake_core_caps(fake->port_kind);
	if (fake->port_kind & FAKE_PORT_ROCE) {
		immutable->gid_tbl_len = FAKE_ROCE_GIDS;
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	}
	/* RoCE without management datagrams. */
	if (fake->roce_ports & BIT(port)) {
		immutable->gid_tbl_len = FAKE_ROCE_GIDS;
		immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP |
					    RDMA_CORE_CAP_ETH_AH;
	}
	if (fake->ib_ports & BIT(port))
		immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	if (fake->grh_ports & BIT(port))
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	return 0;
}

static enum rdma_link_layer fake_get_link_layer(struct ib_device *ib, u32 port)
{
	return to_fake(ib)->ib_ports & BIT(port) ? IB_LINK_LAYER_INFINIBAND :
						   IB_LINK_LAYER_ETHERNET;
}

/* Its addresses can be resolved, and no consumer has got it yet. */
static int fake_enable_driver(struct ib_device *ib)
{
	fake_wire_add(to_fake(ib));
	return 0;
}

/* ib_core ignores an address of zeroes. */
static int fake_query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	/* Older kernels find an iWARP device by the address of its interface. */
	if (to_fake(ib)->follows_netdev) {
		memcpy(gid->raw, to_fake(ib)->netdev->dev_addr, ETH_ALEN);
		return 0;
	}
	gid->raw[0] = 2;
	gid->raw[5] = port;
	return 0;
}

static int fake_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static const struct ib_device_ops fake_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,

	.query_device = fake_query_device,
	.query_port = fake_query_port,
	.get_port_immutable = fake_get_port_immutable,
	.get_link_layer = fake_get_link_layer,
	.enable_driver = fake_enable_driver,
	.query_gid = fake_query_gid,
	.query_pkey = fake_query_pkey,
};

/*
 * Life cycle
 */

static enum fake_notify fake_notify_of(enum fake_told told)
{
	switch (told) {
	case FAKE_TOLD_INLINE:
		return FAKE_NOTIFY_INLINE;
	case FAKE_TOLD_SOFTIRQ:
		return FAKE_NOTIFY_TASKLET;
	case FAKE_TOLD_HARDIRQ:
		return FAKE_NOTIFY_HARDIRQ;
	default:
		return FAKE_NOTIFY_IRQS_OFF;
	}
}

/**
 * fake_device_become() - Give a device another personality
 * @fake: the device, not registered
 * @personality: the personality
 */
void fake_device_become(struct fake_device *fake, const struct fake_personality *personality)
{
	fake->personality = personality;
	fake->notify = fake_notify_of(personality->told);
	fake->destroy_drops_cqes = personality->leftovers == FAKE_LEFTOVERS_DROPPED;
}

/**
 * fake_device_set_kind() - Set the kind of the ports of a device
 * @fake: the device, not registered
 * @kind: FAKE_PORT_IWARP, or FAKE_PORT_ROCE_V1 and FAKE_PORT_ROCE_V2 or one of them
 */
void fake_device_set_kind(struct fake_device *fake, unsigned int kind)
{
	fake->port_kind = kind;
	fake->ib.node_type = kind & FAKE_PORT_IWARP ? RDMA_NODE_RNIC : RDMA_NODE_IB_CA;
	if (!(kind & FAKE_PORT_IWARP))
		ib_set_device_ops(&fake->ib, &fake_gsi_ops);
}

static void fake_narrow(int *limit, int to)
{
	if (to)
		*limit = min(*limit, to);
}

/* Removes what the personality lacks, whatever a test offers. */
static void fake_device_narrow(struct fake_device *fake)
{
	const struct fake_personality *personality = fake->personality;
	struct ib_device_attr *attr = &fake->attr;

	fake_narrow(&attr->max_send_sge, personality->max_send_sge);
	fake_narrow(&attr->max_recv_sge, personality->max_recv_sge);
	fake_narrow(&attr->max_sge_rd, personality->max_read_sge);
	fake_narrow(&attr->max_srq_sge, personality->max_srq_sge);
	if (personality->max_fast_reg_pages)
		attr->max_fast_reg_page_list_len =
			min_t(u32, attr->max_fast_reg_page_list_len,
			      personality->max_fast_reg_pages);
	if (personality->lacks & FAKE_LACKS_ATOMICS)
		attr->atomic_cap = IB_ATOMIC_NONE;
	if (personality->lacks & FAKE_LACKS_SRQ)
		attr->max_srq = 0;
	if (personality->lacks & FAKE_LACKS_FAST_REG)
		attr->device_cap_flags &= ~IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (personality->reserved_lkey) {
		attr->kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
		fake->ib.local_dma_lkey = personality->local_dma_lkey;
	}
}

/**
 * fake_device_alloc() - Allocate a device, not registered
 * @ports: number of ports
 *
 * Return: the device, for fake_device_free(), or NULL.
 */
struct fake_device *fake_device_alloc(unsigned int ports)
{
	struct fake_device *fake;

	fake = ib_alloc_device(fake_device, ib);
	if (!fake)
		return NULL;

	spin_lock_init(&fake->lock);
	INIT_LIST_HEAD(&fake->qps);
	INIT_LIST_HEAD(&fake->mrs);
	INIT_LIST_HEAD(&fake->endpoints);
	INIT_LIST_HEAD(&fake->entry);
	INIT_DELAYED_WORK(&fake->flush_work, fake_flush_work);
	INIT_DELAYED_WORK(&fake->wait_work, fake_wait_work);
	fake->qp_left = fake_cm_qp_left;
	fake_device_become(fake, fake_personality_default());
	fake->cm_work = alloc_ordered_workqueue("fake_cm", WQ_MEM_RECLAIM);
	fake->cq_work = alloc_workqueue("fake_cq", WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_UNBOUND, 0);
	if (!fake->cm_work || !fake->cq_work) {
		fake_device_free(fake);
		return NULL;
	}
	fake->netdev = init_net.loopback_dev;
	fake->attr = (struct ib_device_attr) {
		.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
		.max_mr_size = 1ULL << 32,
		.max_qp = 64,
		.max_qp_wr = 128,
		.max_send_sge = 8,
		.max_recv_sge = 6,
		.max_sge_rd = 4,
		.max_cq = 64,
		.max_cqe = 256,
		.max_mr = 64,
		.max_pd = 64,
		.max_qp_init_rd_atom = 16,
		.max_qp_rd_atom = 32,
		.max_fast_reg_page_list_len = 64,
	};
	fake->port = (struct ib_port_attr) {
		.state = IB_PORT_ACTIVE,
		.phys_state = IB_PORT_PHYS_STATE_LINK_UP,
		.max_mtu = IB_MTU_4096,
		.active_mtu = IB_MTU_2048,
		.gid_tbl_len = 1,
		.pkey_tbl_len = 1,
		.max_msg_sz = 1 << 30,
		.active_width = IB_WIDTH_4X,
		.active_speed = IB_SPEED_EDR,
	};

	fake->max_inline = U32_MAX;
	fake_device_set_kind(fake, FAKE_PORT_IWARP);
	fake->ib.node_guid = cpu_to_be64(FAKE_GUID);
	fake->ib.phys_port_cnt = ports;
	fake->ib.num_comp_vectors = 1;
	fake->ib.iw_driver_flags = IW_F_NO_PORT_MAP;
	ib_set_device_ops(&fake->ib, &fake_device_ops);
	ib_set_device_ops(&fake->ib, &fake_cq_ops);
	ib_set_device_ops(&fake->ib, &fake_verbs_ops);
	ib_set_device_ops(&fake->ib, &fake_mr_ops);
	ib_set_device_ops(&fake->ib, &fake_cm_ops);

	return fake;
}

/**
 * fake_device_name_driver() - Let a device say whose it is
 * @fake: the device, not registered
 *
 * Otherwise its driver is unknown, whatever its personality.
 */
void fake_device_name_driver(struct fake_device *fake)
{
	fake->ib.ops.driver_id = fake->personality->driver_id;
}

/**
 * fake_device_read_like_siw() - Let reads go to any memory
 * @fake: the device, not registered
 */
void fake_device_read_like_siw(struct fake_device *fake)
{
	fake->ib.ops.driver_id = RDMA_DRIVER_SIW;
}

/**
 * fake_device_offer_srq() - Let the device have SRQs
 * @fake: the device, not registered
 */
void fake_device_offer_srq(struct fake_device *fake)
{
	fake->offered |= FAKE_LACKS_SRQ;
	fake->attr.max_srq = 8;
	fake->attr.max_srq_wr = 64;
	fake->attr.max_srq_sge = 4;
	ib_set_device_ops(&fake->ib, &fake_srq_ops);
}

/**
 * fake_device_offer_atomics() - Let the device have atomic operations
 * @fake: the device, not registered
 */
void fake_device_offer_atomics(struct fake_device *fake)
{
	fake->offered |= FAKE_LACKS_ATOMICS;
	fake->attr.atomic_cap = IB_ATOMIC_HCA;
}

/**
 * fake_device_add() - Register the device
 * @fake: the device
 * @name: its name; a "%d" in it becomes a number
 *
 * Return: 0 or a negative errno.
 */
int fake_device_add(struct fake_device *fake, const char *name)
{
	unsigned int port;
	int ret;

	fake_device_narrow(fake);
	for (port = 1; port <= fake->ib.phys_port_cnt; port++) {
		ret = ib_device_set_netdev(&fake->ib, fake->netdev, port);
		if (ret)
			return ret;
	}
	return ib_register_device(&fake->ib, name, fake->dma_device);
}

/**
 * fake_device_stop() - Stop all activity of the device
 * @fake: the device, not registered
 *
 * Return: how many objects its consumers did not give back, and how often they did
 * something that crashes the driver.
 */
int fake_device_stop(struct fake_device *fake)
{
	int left = atomic_read(&fake->wrongs);
	int i;

	fake_wire_remove(fake);
	cancel_delayed_work_sync(&fake->flush_work);
	cancel_delayed_work_sync(&fake->wait_work);
	if (fake->cm_work)
		destroy_workqueue(fake->cm_work);
	if (fake->cq_work)
		destroy_workqueue(fake->cq_work);
	for (i = 0; i < FAKE_OBJECTS; i++)
		left += atomic_read(&fake->live[i]);
	return left;
}

/**
 * fake_device_free() - Free a device that is not registered
 * @fake: the device
 *
 * Return: as fake_device_stop().
 */
int fake_device_free(struct fake_device *fake)
{
	int left = fake_device_stop(fake);

	ib_dealloc_device(&fake->ib);
	return left;
}
