/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RDMA devices as `rdma link` and `rdma dev` manage them.  Calls return 0 or a
 * negative errno.
 */
#ifndef KRDMA_E2E_RDMA_LINK_H
#define KRDMA_E2E_RDMA_LINK_H

#include <stdint.h>

enum rdma_netns_mode {
	RDMA_NETNS_EXCLUSIVE = 0,
	RDMA_NETNS_SHARED = 1,
};

int rdma_link_add(const char *name, const char *netdev);
int rdma_link_remove(const char *name);
int rdma_link_rename(const char *name, const char *new_name);

/* Returns -EBUSY while other network namespaces exist. */
int rdma_netns_mode_set(enum rdma_netns_mode mode);

#endif
