/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dummy network interfaces for rxe devices, and interfaces above them.  Calls return 0 or a
 * negative errno.
 */
#ifndef KRDMA_E2E_NET_LINK_H
#define KRDMA_E2E_NET_LINK_H

#include <stdbool.h>

int net_link_add(const char *name);
int net_link_remove(const char *name);

/* Create an interface above @below: a VLAN, or a bridge that has @below as a port. */
int net_link_add_vlan(const char *name, const char *below, unsigned short id);
int net_link_add_bridge(const char *name, const char *below);

/*
 * Create a bond of two ports, of which one is used until its link fails.  Its hardware address is
 * that of the first port for good, or, if @follows, always that of the port in use.
 */
int net_link_add_bond(const char *name, const char *first, const char *second, bool follows);

int net_link_address(const char *name, const char *ipv4);
int net_link_up(const char *name, bool up);
int net_link_mtu(const char *name, int mtu);

/* Forget the hardware address of a neighbour; -ENOENT: it was not known. */
int net_link_forget(const char *name, const char *ipv4);

/*
 * Keep the known hardware address of a neighbour without asking for it again, or no longer keep it;
 * -EINVAL: it is not known.
 */
int net_link_keep(const char *name, const char *ipv4, bool keep);

/* Set the qdisc for outgoing packets; NULL sets the default one. */
int net_link_queue(const char *name, const char *kind);

#endif
