// SPDX-License-Identifier: GPL-2.0
/*
 * The module's beginning and end.
 */
#include <linux/init.h>
#include <linux/module.h>

#include "io/wr.h"
#include "cm/conn.h"
#include "core/objects.h"
#include "core/private.h"
#include "core/resource.h"
#include "user/user.h"
#include "version.h"

static int __init krdma_init(void)
{
	int ret;

	krdma_objects_init();
	ret = krdma_conn_events_init();
	if (ret)
		goto err_objects;
	ret = krdma_resources_init();
	if (ret)
		goto err_events;

	ret = krdma_wr_scratches_init();
	if (ret)
		goto err_works;
	ret = krdma_devices_init();
	if (ret)
		goto err_workbenches;

	/* Programs come in from here on, so this is what comes last. */
	ret = krdma_user_init();
	if (ret)
		goto err_devices;

	return 0;

err_devices:
	krdma_devices_exit();
err_workbenches:
	krdma_wr_scratches_exit();
err_works:
	krdma_resources_exit();
err_events:
	krdma_conn_events_exit();
err_objects:
	krdma_objects_exit();
	return ret;
}

static void __exit krdma_exit(void)
{
	/* No session is open: each holds the module. */
	krdma_user_shut();
	krdma_devices_exit();
	/* Connections whose files were closed end, and tell of it. */
	flush_workqueue(krdma_reclaim_workqueue);
	flush_workqueue(krdma_workqueue);
	flush_workqueue(krdma_event_workqueue);
	krdma_user_exit();
	/* What ends objects leaves telling and freeing to the queue for events. */
	krdma_resources_exit();
	krdma_conn_events_exit();
	krdma_wr_scratches_exit();
	krdma_objects_exit();
}

module_init(krdma_init);
module_exit(krdma_exit);

MODULE_DESCRIPTION("RDMA as a kernel service");
MODULE_AUTHOR("The krdma authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(KRDMA_VERSION);
