// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: the device, its address, and its description in the report.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/utsname.h>

#include <json-c/json.h>

#include "peer_stop.h"
#include "selftest.h"

#define SYSFS		"/sys/class/infiniband"
#define LOOK_UP_NS	UINT64_C(1000000000)

/* Read the first line of a file of the device in sysfs, made printable; empty if there is none. */
static void device_line(const struct selftest *test, const char *file, char *text, size_t size)
{
	char path[sizeof(SYSFS) + KRDMA_NAME_MAX + 64], line[128] = "";
	FILE *stream;

	snprintf(path, sizeof(path), SYSFS "/%.*s/%.60s", KRDMA_NAME_MAX - 1, test->device.name,
		 file);
	stream = fopen(path, "re");
	if (stream) {
		if (!fgets(line, sizeof(line), stream))
			line[0] = '\0';
		fclose(stream);
	}
	line[strcspn(line, "\n")] = '\0';
	printable(text, size, line, sizeof(line));
}

/*
 * Hardware devices have a parent with a driver.  Software devices have none, but their node
 * description begins with their type; that of a card has the host name.
 */
static void driver_name(const struct selftest *test, char *text, size_t size)
{
	char path[sizeof(SYSFS) + KRDMA_NAME_MAX + 64], target[256];
	const char *last;
	ssize_t length;

	snprintf(path, sizeof(path), SYSFS "/%.*s/device/driver", KRDMA_NAME_MAX - 1,
		 test->device.name);
	length = readlink(path, target, sizeof(target) - 1);
	if (length > 0) {
		target[length] = '\0';
		last = strrchr(target, '/');
		printable(text, size, last ? last + 1 : target, sizeof(target));
		return;
	}
	device_line(test, "node_desc", target, sizeof(target));
	if (!strncmp(target, "rxe", 3))
		snprintf(text, size, "rdma_rxe");
	else if (!strncmp(target, "siw", 3))
		snprintf(text, size, "siw");
	else
		snprintf(text, size, "unknown");
}

/* The connection manager accepts loopback addresses for any device, but none is reached by them. */
static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

static bool is_link_local(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* Rank an address: IPv4 first, then global IPv6, then link-local IPv6.  0: not usable. */
static int preference(const struct selftest *test, const struct sockaddr *address)
{
	int family = test->settings->family;

	if (!address || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
		return 0;
	if ((family != AF_UNSPEC && family != address->sa_family) || is_loopback(address))
		return 0;
	if (address->sa_family == AF_INET)
		return 3;
	return is_link_local(address) ? 1 : 2;
}

static bool is_of_device(const struct selftest *test, const struct sockaddr *address)
{
	uint32_t id;

	return !krdma_device_by_address(test->session, address, NULL, clock_ns() + LOOK_UP_NS,
					&id) && id == test->device.id;
}

static void find_address(struct selftest *test)
{
	struct ifaddrs *list, *each;
	int best = 0, rank;

	if (getifaddrs(&list))
		return;
	for (each = list; each; each = each->ifa_next) {
		rank = preference(test, each->ifa_addr);
		if (rank <= best || !(each->ifa_flags & IFF_UP) ||
		    !is_of_device(test, each->ifa_addr))
			continue;
		best = rank;
		memcpy(&test->address, each->ifa_addr,
		       each->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) :
							      sizeof(struct sockaddr_in6));
	}
	freeifaddrs(list);
	address_set_port(&test->address, 0);
}

/* Use the first active port, or the first port if none is active. */
static void find_port(struct selftest *test)
{
	struct krdma_port_query_args port;
	uint32_t i;

	for (i = 1; i <= test->device.port_count; i++) {
		if (krdma_port_query(test->session, test->device.id, i, &port, sizeof(port)))
			continue;
		if (!test->port.port || (test->port.state != KRDMA_PORT_ACTIVE &&
					 port.state == KRDMA_PORT_ACTIVE))
			test->port = port;
	}
}

static int complain_device(const struct selftest *test, int err)
{
	if (err == -ENOENT || err == -ENAMETOOLONG)
		complain("cannot test '%s': there is no RDMA device of that name here\n"
			 "See which there are with: krdma dev", test->settings->device);
	else
		complain_request("query the device", err);
	return err;
}

static int complain_address(const struct selftest *test)
{
	const char *source = test->settings->source;
	char netdev[KRDMA_NAME_MAX + 1];

	printable(netdev, sizeof(netdev), test->port.netdev_name, KRDMA_NAME_MAX);
	if (source)
		complain("cannot test %s: %s is not an address of it\n"
			 "See its network interface with: krdma dev", test->settings->device,
			 source);
	else if (test->port.netdev_ifindex)
		complain("cannot test %s: its network interface %s is down, or has no address\n"
			 "Give it one, as root: ip address add 10.0.0.1/24 dev %s",
			 test->settings->device, netdev,
			 name_is_plain(netdev) ? netdev : "INTERFACE");
	else
		complain("cannot test %s: no network interface of it has an address\n"
			 "See what is missing with: krdma doctor", test->settings->device);
	return -EADDRNOTAVAIL;
}

int device_find(struct selftest *test)
{
	const struct selftest_settings *settings = test->settings;
	int err = krdma_device_find(test->session, settings->device, &test->device,
				    sizeof(test->device));

	if (err)
		return complain_device(test, err);
	krdma_info_query(test->session, &test->info, sizeof(test->info));
	find_port(test);
	if (settings->source) {
		err = address_parse(settings->source, settings->family, &test->address);
		if (err)
			return err;
		if (!is_of_device(test, (struct sockaddr *)&test->address))
			return complain_address(test);
	} else {
		find_address(test);
	}
	return test->address.ss_family ? 0 : complain_address(test);
}

/*
 * The report has nothing that identifies the host or its user.  So it leaves out the node
 * description, which has the host name, and has GUIDs and addresses only on request.
 */

static void put_line(const struct selftest *test, struct json_object *object, const char *key,
		     const char *file)
{
	char text[64];

	device_line(test, file, text, sizeof(text));
	if (*text)
		json_put_text(object, key, text);
}

static struct json_object *limits_json(const struct krdma_device_query_args *is)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_number(object, "max_mr_size", is->max_mr_size);
	json_put_number(object, "max_fast_reg_pages", is->max_fast_reg_pages);
	json_put_number(object, "max_qp", is->max_qp);
	json_put_number(object, "max_cqe", is->max_cqe);
	json_put_number(object, "max_send_wr", is->max_send_wr);
	json_put_number(object, "max_recv_wr", is->max_recv_wr);
	json_put_number(object, "max_srq_wr", is->max_srq_wr);
	json_put_number(object, "max_send_sge", is->max_send_sge);
	json_put_number(object, "max_recv_sge", is->max_recv_sge);
	json_put_number(object, "max_read_sge", is->max_read_sge);
	json_put_number(object, "max_read_depth", is->max_read_depth);
	json_put_number(object, "max_read_depth_in", is->max_read_depth_in);
	return object;
}

static struct json_object *port_json(const struct selftest *test)
{
	const struct krdma_port_query_args *port = &test->port;
	struct json_object *object = json_checked(json_object_new_object());
	char name[KRDMA_NAME_MAX + 1];

	json_put_number(object, "port", port->port);
	json_put_text(object, "state", krdma_port_state_name(port->state));
	json_put_text(object, "link_layer", krdma_link_layer_name(port->link_layer));
	json_put_number(object, "max_mtu", port->max_mtu);
	json_put_number(object, "active_mtu", port->active_mtu);
	json_put_number(object, "max_msg_size", port->max_msg_size);
	json_put_number(object, "speed_mbps", port->speed_mbps);
	if (test->settings->addresses) {
		printable(name, sizeof(name), port->netdev_name, KRDMA_NAME_MAX);
		json_put_text(object, "netdev_name", name);
	}
	return object;
}

void device_json(const struct selftest *test, struct json_object *object)
{
	struct json_object *device = json_checked(json_object_new_object());
	char text[PEER_TEXT], version[sizeof(test->info.module_version) + 1];
	struct utsname system;

	if (!uname(&system)) {
		json_put_text(object, "kernel", system.release);
		json_put_text(object, "machine", system.machine);
	}
	printable(version, sizeof(version), test->info.module_version,
		  sizeof(test->info.module_version));
	json_put_text(object, "module_version", version);
	json_put_text(object, "tool_version", krdma_version());
	printable(text, sizeof(text), test->device.name, KRDMA_NAME_MAX);
	json_put_text(device, "name", text);
	driver_name(test, text, sizeof(text));
	json_put_text(device, "driver", text);
	put_line(test, device, "firmware", "fw_ver");
	put_line(test, device, "type", "hca_type");
	put_line(test, device, "board", "board_id");
	put_line(test, device, "revision", "hw_rev");
	put_line(test, device, "pci_vendor", "device/vendor");
	put_line(test, device, "pci_device", "device/device");
	json_put_text(device, "transport", krdma_transport_name(test->device.transport));
	json_put_flags(device, "caps", test->device.caps, krdma_device_cap_name);
	json_put(device, "limits", limits_json(&test->device));
	json_put(device, "port", port_json(test));
	if (test->settings->addresses) {
		json_put_text(device, "node_guid", guid_text(text, test->device.node_guid));
		address_text(&test->address, false, text);
		json_put_text(device, "address", text);
	}
	json_put(object, "device", device);
}

/*
 * Unplug
 */

pid_t run_in_shell(const char *command)
{
	const char * const argv[] = { "sh", "-c", command, NULL };
	pid_t child;

	return posix_spawn(&child, "/bin/sh", NULL, NULL, (char *const *)argv, environ) ? -1 :
											    child;
}

bool device_unplug_commands(const struct selftest *test, char *remove, char *bring_back,
			    size_t size)
{
	char path[sizeof(SYSFS) + KRDMA_NAME_MAX + 64], driver[64];
	char name[KRDMA_NAME_MAX + 1], netdev[KRDMA_NAME_MAX + 1];

	printable(name, sizeof(name), test->device.name, KRDMA_NAME_MAX);
	printable(netdev, sizeof(netdev), test->port.netdev_name, KRDMA_NAME_MAX);
	if (!name_is_plain(name))
		return false;
	snprintf(path, sizeof(path), SYSFS "/%s/device/remove", name);
	if (!access(path, W_OK)) {
		snprintf(remove, size, "echo 1 > %s", path);
		snprintf(bring_back, size, "echo 1 > /sys/bus/pci/rescan");
		return true;
	}
	driver_name(test, driver, sizeof(driver));
	if (!strcmp(driver, "unknown") || !name_is_plain(netdev))
		return false;
	snprintf(remove, size, "rdma link delete %s", name);
	snprintf(bring_back, size, "rdma link add %s type %s netdev %s", name,
		 !strcmp(driver, "siw") ? "siw" : "rxe", netdev);
	return true;
}
