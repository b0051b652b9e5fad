// SPDX-License-Identifier: GPL-2.0
/*
 * Dummy network interfaces for rxe devices, and interfaces above them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "net_link.h"
#include "netlink.h"

int net_link_add(const char *name)
{
	const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
	struct netlink_request request;
	struct nlattr *nest;

	netlink_begin(&request, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &head,
		      sizeof(head));
	netlink_put_string(&request, IFLA_IFNAME, name);
	nest = netlink_nest(&request, IFLA_LINKINFO);
	netlink_put(&request, IFLA_INFO_KIND, "dummy", strlen("dummy"));
	netlink_nest_end(&request, nest);
	return netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
}

int net_link_add_vlan(const char *name, const char *below, unsigned short id)
{
	const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
	uint32_t index = if_nametoindex(below);
	struct netlink_request request;
	struct nlattr *nest, *data;

	netlink_begin(&request, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &head,
		      sizeof(head));
	netlink_put_string(&request, IFLA_IFNAME, name);
	netlink_put(&request, IFLA_LINK, &index, sizeof(index));
	nest = netlink_nest(&request, IFLA_LINKINFO);
	netlink_put(&request, IFLA_INFO_KIND, "vlan", strlen("vlan"));
	data = netlink_nest(&request, IFLA_INFO_DATA);
	netlink_put(&request, IFLA_VLAN_ID, &id, sizeof(id));
	netlink_nest_end(&request, data);
	netlink_nest_end(&request, nest);
	return netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
}

/* Makes @below a port of the bridge or bond @name. */
static int net_link_add_port(const char *name, const char *below)
{
	const struct ifinfomsg head = {
		.ifi_family = AF_UNSPEC,
		.ifi_index = if_nametoindex(below),
	};
	uint32_t index = if_nametoindex(name);
	struct netlink_request request;

	netlink_begin(&request, RTM_NEWLINK, NLM_F_ACK, &head, sizeof(head));
	netlink_put(&request, IFLA_MASTER, &index, sizeof(index));
	return netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
}

int net_link_add_bridge(const char *name, const char *below)
{
	const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
	struct netlink_request request;
	struct nlattr *nest;
	int ret;

	netlink_begin(&request, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &head,
		      sizeof(head));
	netlink_put_string(&request, IFLA_IFNAME, name);
	nest = netlink_nest(&request, IFLA_LINKINFO);
	netlink_put(&request, IFLA_INFO_KIND, "bridge", strlen("bridge"));
	netlink_nest_end(&request, nest);
	ret = netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
	return ret ? ret : net_link_add_port(name, below);
}

/* Values of the bonding driver; its ports' links are looked at every BOND_POLL_MS. */
#define BOND_POLL_MS	10
#define BOND_ACTIVE_BACKUP	1
#define BOND_MAC_FOLLOWS	1

int net_link_add_bond(const char *name, const char *first, const char *second, bool follows)
{
	const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
	const uint8_t mode = BOND_ACTIVE_BACKUP;
	const uint8_t mac = follows ? BOND_MAC_FOLLOWS : 0;
	const uint32_t poll_ms = BOND_POLL_MS;
	struct netlink_request request;
	struct nlattr *nest, *data;
	int ret;

	netlink_begin(&request, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &head,
		      sizeof(head));
	netlink_put_string(&request, IFLA_IFNAME, name);
	nest = netlink_nest(&request, IFLA_LINKINFO);
	netlink_put(&request, IFLA_INFO_KIND, "bond", strlen("bond"));
	data = netlink_nest(&request, IFLA_INFO_DATA);
	netlink_put(&request, IFLA_BOND_MODE, &mode, sizeof(mode));
	netlink_put(&request, IFLA_BOND_FAIL_OVER_MAC, &mac, sizeof(mac));
	netlink_put(&request, IFLA_BOND_MIIMON, &poll_ms, sizeof(poll_ms));
	netlink_nest_end(&request, data);
	netlink_nest_end(&request, nest);
	ret = netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
	if (!ret)
		ret = net_link_add_port(name, first);
	return ret ? ret : net_link_add_port(name, second);
}

int net_link_remove(const char *name)
{
	const struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
	struct netlink_request request;

	netlink_begin(&request, RTM_DELLINK, NLM_F_ACK, &head, sizeof(head));
	netlink_put_string(&request, IFLA_IFNAME, name);
	return netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
}

static int interface_ioctl(unsigned long request, struct ifreq *interface)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return -errno;
	ret = ioctl(fd, request, interface) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static struct ifreq interface_named(const char *name)
{
	struct ifreq interface;

	memset(&interface, 0, sizeof(interface));
	snprintf(interface.ifr_name, IFNAMSIZ, "%s", name);
	return interface;
}

int net_link_address(const char *name, const char *ipv4)
{
	struct ifreq interface = interface_named(name);
	struct sockaddr_in address = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, ipv4, &address.sin_addr) != 1)
		return -EINVAL;
	memcpy(&interface.ifr_addr, &address, sizeof(address));
	return interface_ioctl(SIOCSIFADDR, &interface);
}

int net_link_up(const char *name, bool up)
{
	struct ifreq interface = interface_named(name);
	int ret = interface_ioctl(SIOCGIFFLAGS, &interface);

	if (ret)
		return ret;
	if (up)
		interface.ifr_flags |= IFF_UP;
	else
		interface.ifr_flags &= ~IFF_UP;
	return interface_ioctl(SIOCSIFFLAGS, &interface);
}

int net_link_mtu(const char *name, int mtu)
{
	struct ifreq interface = interface_named(name);

	interface.ifr_mtu = mtu;
	return interface_ioctl(SIOCSIFMTU, &interface);
}

int net_link_forget(const char *name, const char *ipv4)
{
	const struct ndmsg head = {
		.ndm_family = AF_INET,
		.ndm_ifindex = if_nametoindex(name),
	};
	struct netlink_request request;
	struct in_addr address;

	if (inet_pton(AF_INET, ipv4, &address) != 1)
		return -EINVAL;
	netlink_begin(&request, RTM_DELNEIGH, NLM_F_ACK, &head, sizeof(head));
	netlink_put(&request, NDA_DST, &address, sizeof(address));
	return netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
}

int net_link_keep(const char *name, const char *ipv4, bool keep)
{
	const struct ndmsg head = {
		.ndm_family = AF_INET,
		.ndm_ifindex = if_nametoindex(name),
		.ndm_state = keep ? NUD_PERMANENT : NUD_STALE,
	};
	struct netlink_request request;
	struct in_addr address;

	if (inet_pton(AF_INET, ipv4, &address) != 1)
		return -EINVAL;
	netlink_begin(&request, RTM_NEWNEIGH, NLM_F_ACK | NLM_F_REPLACE, &head, sizeof(head));
	netlink_put(&request, NDA_DST, &address, sizeof(address));
	return netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
}

int net_link_queue(const char *name, const char *kind)
{
	const struct tcmsg head = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = if_nametoindex(name),
		.tcm_parent = TC_H_ROOT,
	};
	struct netlink_request request;

	netlink_begin(&request, kind ? RTM_NEWQDISC : RTM_DELQDISC,
		      NLM_F_ACK | (kind ? NLM_F_CREATE | NLM_F_REPLACE : 0), &head, sizeof(head));
	if (kind)
		netlink_put_string(&request, TCA_KIND, kind);
	return netlink_exchange(NETLINK_ROUTE, &request, NULL, NULL);
}
