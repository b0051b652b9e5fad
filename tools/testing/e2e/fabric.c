// SPDX-License-Identifier: GPL-2.0
/*
 * A rxe device of a test's own.
 */
#include <errno.h>

#include "fabric.h"
#include "net_link.h"
#include "rdma_link.h"
#include "session.h"

#define NAME_MS		20000

/*
 * A device that went along with its interface does so in the background, and
 * keeps its name (ENFILE) until the last consumer has let it go.
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
	/* Either may be gone already: the test may have done so itself. */
	rdma_link_remove(FABRIC_DEVICE);
	net_link_remove(FABRIC_NETDEV);
}
