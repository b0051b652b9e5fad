// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_null: an RDMA device that does nothing, at once.
 *
 * It serves to measure the cost of a consumer of RDMA, as null_blk does for what is above a block
 * device: work requests complete when they are posted, and no data move.  It looks like an iWARP
 * device, connects its own connecting ids to its own listeners, and has the addresses of an
 * interface that does not carry a packet for it:
 *
 *	ip link add null0 type dummy && ip link set null0 up
 *	ip addr add 10.80.0.1/24 dev null0
 *	insmod krdma_null.ko netdev=null0
 *
 * It holds the interface, so the module must be removed first.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>

#include "null.h"

#define NULL_GUID	0x0200c0ffee80ULL

static char *netdev = "null0";
module_param(netdev, charp, 0444);
MODULE_PARM_DESC(netdev, "The interface at the addresses of which the device is");

static struct null_device *null_device;

/*
 * Attributes
 */

static int null_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	*attr = (struct ib_device_attr) {
		.device_cap_flags = IB_DEVICE_MEM_MGT_EXTENSIONS,
		.atomic_cap = IB_ATOMIC_HCA,
		.max_mr_size = 1ULL << 40,
		.max_qp = 1 << 20,
		.max_qp_wr = 1 << 14,
		.max_send_sge = 16,
		.max_recv_sge = 16,
		.max_sge_rd = 16,
		.max_srq = 1 << 16,
		.max_srq_wr = 1 << 14,
		.max_srq_sge = 16,
		.max_cq = 1 << 16,
		.max_cqe = 1 << 22,
		.max_mr = 1 << 20,
		.max_pd = 1 << 16,
		.max_qp_init_rd_atom = 128,
		.max_qp_rd_atom = 128,
		.max_fast_reg_page_list_len = 512,
	};
	return 0;
}

static int null_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	*attr = (struct ib_port_attr) {
		.state = IB_PORT_ACTIVE,
		.phys_state = IB_PORT_PHYS_STATE_LINK_UP,
		.max_mtu = IB_MTU_4096,
		.active_mtu = IB_MTU_4096,
		.gid_tbl_len = 1,
		.pkey_tbl_len = 1,
		.max_msg_sz = 1U << 31,
		.active_width = IB_WIDTH_4X,
		.active_speed = IB_SPEED_EDR,
	};
	return 0;
}

static int null_get_port_immutable(struct ib_device *ib, u32 port,
				   struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_PORT_IWARP;
	return 0;
}

/* Older kernels find an iWARP device by the address of its interface. */
static int null_query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	memcpy(gid->raw, to_null(ib)->gid, ETH_ALEN);
	return 0;
}

static int null_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

static const struct ib_device_ops null_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,

	.query_device = null_query_device,
	.query_port = null_query_port,
	.get_port_immutable = null_get_port_immutable,
	.query_gid = null_query_gid,
	.query_pkey = null_query_pkey,
};

/*
 * Life cycle
 */

static int null_register(struct null_device *null)
{
	struct net_device *interface = dev_get_by_name(&init_net, netdev);
	int ret;

	if (!interface)
		return -ENODEV;
	memcpy(null->gid, interface->dev_addr, ETH_ALEN);
	/* ib_core holds the interface from here on. */
	ret = ib_device_set_netdev(&null->fake.ib, interface, 1);
	dev_put(interface);
	return ret ? ret : ib_register_device(&null->fake.ib, "null%d", NULL);
}

static int __init null_init(void)
{
	struct null_device *null = ib_alloc_device(null_device, fake.ib);
	int ret = -ENOMEM;

	if (!null)
		return -ENOMEM;
	xa_init_flags(&null->qps, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	INIT_LIST_HEAD(&null->fake.endpoints);
	null->fake.cm_work = alloc_ordered_workqueue("krdma_null", 0);
	if (!null->fake.cm_work)
		goto err_free;

	null->fake.ib.node_type = RDMA_NODE_RNIC;
	null->fake.ib.node_guid = cpu_to_be64(NULL_GUID);
	null->fake.ib.phys_port_cnt = 1;
	null->fake.ib.num_comp_vectors = 1;
	null->fake.ib.iw_driver_flags = IW_F_NO_PORT_MAP;
	ib_set_device_ops(&null->fake.ib, &null_device_ops);
	ib_set_device_ops(&null->fake.ib, &null_object_ops);
	ib_set_device_ops(&null->fake.ib, &fake_cm_ops);
	ret = null_register(null);
	if (ret)
		goto err_workqueue;
	null_device = null;
	return 0;

err_workqueue:
	destroy_workqueue(null->fake.cm_work);
err_free:
	ib_dealloc_device(&null->fake.ib);
	return ret;
}
module_init(null_init);

static void __exit null_exit(void)
{
	ib_unregister_device(&null_device->fake.ib);
	destroy_workqueue(null_device->fake.cm_work);
	WARN_ON(!list_empty(&null_device->fake.endpoints));
	WARN_ON(!xa_empty(&null_device->qps));
	ib_dealloc_device(&null_device->fake.ib);
}
module_exit(null_exit);

MODULE_DESCRIPTION("An RDMA device that does nothing, at once");
MODULE_LICENSE("GPL");
