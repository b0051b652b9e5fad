// SPDX-License-Identifier: GPL-2.0
/* Module init and exit. */
#include <linux/init.h>
#include <linux/module.h>

#include "cm/conn.h"
#include "cm/conn_event.h"
#include "core/device.h"
#include "core/objects.h"
#include "core/private.h"
#include "core/resource.h"
#include "core/session.h"
#include "io/qp.h"
#include "io/qp_list.h"
#include "io/revoke.h"
#include "io/wr.h"
#include "lane/lane.h"
#include "lane/trunk.h"
#include "mr/frwr.h"
#include "user/file.h"
#include "user/user.h"
#include "version.h"

static const struct krdma_pd_ops krdma_pd_ops = {
	.end_users = krdma_pd_end_users,
	.destroy = krdma_frwr_destroy,
};

static int __init krdma_init(void)
{
	int ret;

	krdma_pd_set_ops(&krdma_pd_ops);
	krdma_qp_list_init(krdma_objects_init());
	ret = krdma_conns_init();
	if (ret)
		goto err_objects;
	ret = krdma_resources_init();
	if (ret)
		goto err_conns;

	ret = krdma_wr_scratches_init();
	if (ret)
		goto err_works;
	ret = krdma_lanes_init();
	if (ret)
		goto err_wr_scratches;
	ret = krdma_devices_init();
	if (ret)
		goto err_lanes;

	/* Programs can open the device from here on, so this step comes last. */
	ret = krdma_user_init();
	if (ret)
		goto err_devices;

	return 0;

err_devices:
	krdma_devices_exit();
err_lanes:
	krdma_lanes_exit();
err_wr_scratches:
	krdma_wr_scratches_exit();
err_works:
	krdma_resources_exit();
err_conns:
	krdma_conns_exit();
err_objects:
	krdma_objects_exit();
	return ret;
}

static void __exit krdma_exit(void)
{
	/* No session is open: each holds a reference to the module. */
	krdma_user_shut();
	krdma_trunks_exit();
	krdma_devices_exit();
	/* Wait for connections whose files were closed: they end, and deliver events. */
	krdma_resources_flush();
	flush_workqueue(krdma_event_workqueue);
	krdma_user_exit();
	/* Work items that end objects queue event delivery and freeing to the event workqueue. */
	krdma_resources_exit();
	krdma_conns_exit();
	/* Those free lanes. */
	krdma_lanes_exit();
	krdma_wr_scratches_exit();
	krdma_objects_exit();
}

module_init(krdma_init);
module_exit(krdma_exit);

MODULE_DESCRIPTION("RDMA as a kernel service");
MODULE_AUTHOR("The krdma authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
