// SPDX-License-Identifier: GPL-2.0
/*
 * An rxe device that belongs to the test.
 */
#include <errno.h>

#include "fabric.h"
#include "net_link.h"
#include "rdma_link.h"
#include "session.h"

#define NAME_MS		20000

/*
 * A device that is removed together with its interface goes away in the background, and keeps its
 * name (-ENFILE) until the last consumer has released it.
 */
static int add_device(void)
{
	uint64_t deadline = now_ms() + NAME_MS;
	int ret;

	while ((ret = rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV)) == -ENFILE &&
	       now_ms() < deadline)
		sleep_ms(20);
	return ret;
}

int fabric_create(void)
{
	int ret;

	fabric_destroy();
	ret = net_link_add(FABRIC_NETDEV);
	if (!ret)
		ret = net_link_address(FABRIC_NETDEV, FABRIC_ADDRESS);
	if (!ret)
		ret = net_link_up(FABRIC_NETDEV, true);
	if (!ret)
		ret = add_device();
	if (ret)
		fabric_destroy();
	return ret;
}

void fabric_destroy(void)
{
	/* Errors do not matter: the test may have removed either already. */
	rdma_link_remove(FABRIC_DEVICE);
	net_link_remove(FABRIC_NETDEV);
}
