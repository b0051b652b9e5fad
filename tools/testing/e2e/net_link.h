/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dummy network interfaces, which rxe devices are put on.  Calls answer 0 or a
 * negative errno.
 */
#ifndef KRDMA_E2E_NET_LINK_H
#define KRDMA_E2E_NET_LINK_H

#include <stdbool.h>

int net_link_add(const char *name);
int net_link_remove(const char *name);

/* Interfaces above another one: a VLAN; a bridge, of which it becomes a port. */
int net_link_add_vlan(const char *name, const char *below, unsigned short id);
int net_link_add_bridge(const char *name, const char *below);

int net_link_address(const char *name, const char *ipv4);
int net_link_up(const char *name, bool up);
int net_link_mtu(const char *name, int mtu);

/* Set the qdisc for outgoing packets; NULL sets the default one. */
int net_link_queue(const char *name, const char *kind);

#endif
