// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: RDMA devices, their ports, and the network interfaces behind them.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doctor.h"

/* The largest size of RoCE's headers in an Ethernet packet, in bytes. */
#define ROCE_HEADERS	96

/* How long to wait for an active port, in milliseconds. */
#define PATIENCE_MS	2000
#define STEP_MS		100

/* A port to check, with its device. */
struct port {
	struct krdma_device_query_args device;
	struct krdma_port_query_args is;
	char name[KRDMA_NAME_MAX + 1];
	char netdev[KRDMA_NAME_MAX + 1];
};

/* State of a network interface.  @running: it has a link. */
struct interface {
	bool there;
	bool up;
	bool running;
	bool address;
	int mtu;
};

static const char *netdev_of(const struct port *port)
{
	return doctor_name(port->netdev, "INTERFACE");
}

static struct interface look_at_interface(const char *name)
{
	struct ifaddrs *list, *each;
	struct interface interface = { 0 };
	struct ifreq request = { 0 };
	size_t length;
	int fd;

	/* Interfaces cannot have a longer name. */
	length = strnlen(name, KRDMA_NAME_MAX);
	if (length >= sizeof(request.ifr_name))
		return interface;
	memcpy(request.ifr_name, name, length);

	if (!getifaddrs(&list)) {
		for (each = list; each; each = each->ifa_next) {
			if (strcmp(each->ifa_name, request.ifr_name))
				continue;
			interface.there = true;
			interface.up = each->ifa_flags & IFF_UP;
			interface.running = each->ifa_flags & IFF_RUNNING;
			if (!each->ifa_addr)
				continue;
			if (each->ifa_addr->sa_family == AF_INET ||
			    each->ifa_addr->sa_family == AF_INET6)
				interface.address = true;
		}
		freeifaddrs(list);
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		if (!ioctl(fd, SIOCGIFMTU, &request))
			interface.mtu = request.ifr_mtu;
		close(fd);
	}
	return interface;
}

static void mend_mtu(struct doctor *doctor, const struct port *port)
{
	doctor_mend(doctor, "as root; everywhere on the network, or nowhere",
		    "ip link set %s mtu %u", netdev_of(port), port->is.max_mtu + ROCE_HEADERS);
}

/* The path MTU of RDMA is a power of two: 1024 with an Ethernet MTU of 1500. */
static void check_mtu(struct doctor *doctor, const struct port *port, int mtu)
{
	if (port->is.active_mtu < 1024) {
		doctor_say(doctor, "mtu", VERDICT_WARN,
			   "packets of %s carry only %u bytes, because the MTU of %s is %d",
			   port->name, port->is.active_mtu, port->netdev, mtu);
		mend_mtu(doctor, port);
	} else if (port->is.active_mtu < port->is.max_mtu) {
		doctor_say(doctor, "mtu", VERDICT_OK,
			   "packets of %s carry %u bytes, because the MTU of %s is %d; %u are faster",
			   port->name, port->is.active_mtu, port->netdev, mtu, port->is.max_mtu);
		mend_mtu(doctor, port);
	} else {
		doctor_say(doctor, "mtu", VERDICT_OK, "packets of %s carry %u bytes", port->name,
			   port->is.active_mtu);
	}
}

/* Report the first problem of an interface.  Returns false if there is one. */
static bool check_interface(struct doctor *doctor, const struct port *port, enum verdict bad)
{
	struct interface interface = look_at_interface(port->is.netdev_name);

	if (interface.there && !interface.up) {
		doctor_say(doctor, "interface", bad, "%s, behind %s, is down", port->netdev,
			   port->name);
		doctor_mend(doctor, "as root", "ip link set %s up", netdev_of(port));
	} else if (interface.there && !interface.running) {
		doctor_say(doctor, "interface", bad, "%s, behind %s, has no link", port->netdev,
			   port->name);
		doctor_mend(doctor, "is the cable plugged in?", "ip link show %s", netdev_of(port));
	} else if (interface.there && !interface.address) {
		doctor_say(doctor, "interface", bad, "%s, behind %s, has no address",
			   port->netdev, port->name);
		doctor_mend(doctor, "as root; an address of your network",
			    "ip address add 10.0.0.1/24 dev %s", netdev_of(port));
	} else {
		doctor_say(doctor, "interface", VERDICT_OK, "%s, behind %s, has an address",
			   port->netdev, port->name);
		check_mtu(doctor, port, interface.mtu);
		return true;
	}
	return false;
}

static void explain_inactive(struct doctor *doctor, const struct port *port, enum verdict bad)
{
	doctor_say(doctor, "port", bad, "port %u of %s is %s, not active", port->is.port,
		   port->name, krdma_port_state_name(port->is.state));
	if (port->is.link_layer == KRDMA_LINK_ETHERNET)
		doctor_mend(doctor, "as root", "ip link set %s up", netdev_of(port));
	else
		doctor_mend(doctor, "is the cable plugged in, and does a subnet manager run?",
			    "rdma link show %s/%u", doctor_name(port->name, "DEVICE"),
			    port->is.port);
}

/* @only: no other port works, so that a problem of this one is a failure. */
static void check_port(struct doctor *doctor, const struct port *port, bool only)
{
	enum verdict bad = only ? VERDICT_FAIL : VERDICT_WARN;
	bool active = port->is.state == KRDMA_PORT_ACTIVE, fine = true;
	bool ethernet = port->is.link_layer == KRDMA_LINK_ETHERNET;

	if (ethernet && !port->is.netdev_ifindex) {
		doctor_say(doctor, "interface", bad,
			   "the interface behind %s is in another network namespace", port->name);
		doctor_mend(doctor, "as root; 'ip netns list' shows the names",
			    "ip netns exec NAME krdma doctor");
		return;
	}
	if (port->is.netdev_ifindex)
		fine = check_interface(doctor, port, bad);
	/* The port is inactive for the same reason; one report is enough. */
	if (!fine)
		return;
	if (!active) {
		explain_inactive(doctor, port, bad);
		return;
	}
	doctor_say(doctor, "port", VERDICT_OK, "port %u of %s is active", port->is.port,
		   port->name);
	if (doctor_manager_is_dead(port->name, port->is.port)) {
		doctor_say(doctor, "manager", bad,
			   "cannot connect over port %u of %s: the connection manager's QP is in the error state",
			   port->is.port, port->name);
		doctor_mend(doctor, "as root; this is for a device of rxe: its connections end",
			    "rdma link delete %s && rdma link add %s type rxe netdev %s",
			    doctor_name(port->name, "DEVICE"), doctor_name(port->name, "DEVICE"),
			    netdev_of(port));
		return;
	}
	if (!doctor->device)
		doctor->device = port->device.id;
	if (ethernet && port->device.transport == KRDMA_TRANSPORT_IB)
		doctor->roce = true;
}

static bool port_get(struct doctor *doctor, struct port *port, uint32_t number)
{
	if (krdma_port_query(doctor->session, port->device.id, number, &port->is, sizeof(port->is)))
		return false;
	printable(port->name, sizeof(port->name), port->device.name, KRDMA_NAME_MAX);
	printable(port->netdev, sizeof(port->netdev), port->is.netdev_name, KRDMA_NAME_MAX);
	return true;
}

/* Count active ports, and check each port if @check is set. */
static unsigned int each_port(struct doctor *doctor, bool check, unsigned int others,
			      unsigned int *devices)
{
	struct port port = { 0 };
	unsigned int active = 0;

	*devices = 0;
	while (!krdma_device_next(doctor->session, port.device.id, &port.device,
				  sizeof(port.device))) {
		(*devices)++;
		for (uint32_t i = 1; i <= port.device.port_count; i++) {
			if (!port_get(doctor, &port, i))
				continue;
			active += port.is.state == KRDMA_PORT_ACTIVE;
			if (check)
				check_port(doctor, &port,
					   others <= (port.is.state == KRDMA_PORT_ACTIVE));
		}
	}
	return active;
}

/* Right after a start, a device or its link may come a moment later.  Returns the active ports. */
static unsigned int await_port(struct doctor *doctor, unsigned int *devices)
{
	unsigned int active = 0;

	for (unsigned int tried = 0; !active && tried <= PATIENCE_MS; tried += STEP_MS) {
		if (tried)
			usleep(STEP_MS * 1000);
		active = each_port(doctor, false, 0, devices);
	}
	return active;
}

void doctor_device(struct doctor *doctor)
{
	unsigned int devices, active;

	if (doctor->unloaded)
		doctor_driver(doctor);
	if (!doctor->session)
		return;
	active = await_port(doctor, &devices);
	if (!devices) {
		doctor_driver(doctor);
		return;
	}
	doctor_say(doctor, "device", VERDICT_OK, "there %s %u RDMA device%s",
		   devices == 1 ? "is" : "are", devices, devices == 1 ? "" : "s");
	each_port(doctor, true, active, &devices);
	if (doctor->device || doctor->failed)
		return;
	doctor_say(doctor, "port", VERDICT_FAIL, "no port of any device works");
	doctor_mend(doctor, "shows the state of each", "krdma dev");
}
