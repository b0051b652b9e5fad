// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma doctor: which RDMA devices the kernel has, and if none, which drivers could make one.
 */
#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

#define DEVICES_FOLDER	"/sys/class/infiniband"
#define NETDEV_FOLDER	"/sys/class/net"
#define NAMES_MAX	128

/* Drivers of network cards that have a driver of their own for RDMA. */
static const struct {
	const char *net;
	const char *rdma;
} cards[] = {
	{ "bnxt_en", "bnxt_re" },
	{ "cxgb4", "iw_cxgb4" },
	{ "hns3", "hns_roce_hw_v2" },
	{ "i40e", "irdma" },
	{ "ice", "irdma" },
	{ "idpf", "irdma" },
	{ "ionic", "ionic_rdma" },
	{ "mana", "mana_ib" },
	{ "mlx4_core", "mlx4_ib" },
	{ "mlx5_core", "mlx5_ib" },
	{ "qede", "qedr" },
	{ "vmxnet3", "vmw_pvrdma" },
};

/* Count the devices in sysfs, whether krdma may use them or not. */
static unsigned int list_devices(char names[NAMES_MAX])
{
	DIR *folder = opendir(DEVICES_FOLDER);
	unsigned int count = 0;
	char name[KRDMA_NAME_MAX + 1];
	struct dirent *entry;
	size_t length = 0;

	names[0] = '\0';
	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		printable(name, sizeof(name), entry->d_name, KRDMA_NAME_MAX);
		if (length + strlen(name) + 3 < NAMES_MAX)
			length += (size_t)snprintf(names + length, NAMES_MAX - length, "%s%s",
						   length ? ", " : "", name);
	}
	closedir(folder);
	return count;
}

/*
 * The first interface that could carry a device: it is up and not the loopback.  Its name becomes a
 * part of a command.
 */
static void any_interface(char name[IF_NAMESIZE])
{
	struct ifaddrs *list, *each;

	snprintf(name, IF_NAMESIZE, "eth0");
	if (getifaddrs(&list))
		return;
	for (each = list; each; each = each->ifa_next) {
		if (!(each->ifa_flags & IFF_UP) || (each->ifa_flags & IFF_LOOPBACK) ||
		    !name_is_plain(each->ifa_name))
			continue;
		snprintf(name, IF_NAMESIZE, "%s", each->ifa_name);
		break;
	}
	freeifaddrs(list);
}

/* The driver of an interface's card; NULL: it has none. */
static const char *driver_of(const char *interface, char target[PATH_MAX])
{
	char place[PATH_MAX], *slash;
	ssize_t length;

	snprintf(place, sizeof(place), NETDEV_FOLDER "/%s/device/driver", interface);
	length = readlink(place, target, PATH_MAX - 1);
	if (length <= 0)
		return NULL;
	target[length] = '\0';
	slash = strrchr(target, '/');
	return slash ? slash + 1 : target;
}

/* The driver for RDMA of an interface's card; NULL: there is none, or it is not known. */
static const char *rdma_driver_of(const char *interface)
{
	char target[PATH_MAX];
	const char *driver = driver_of(interface, target);

	for (size_t i = 0; driver && i < ARRAY_SIZE(cards); i++)
		if (!strcmp(driver, cards[i].net))
			return cards[i].rdma;
	return NULL;
}

/* Report cards whose driver for RDMA is missing.  Returns false if there is none. */
static bool explain_cards(struct doctor *doctor)
{
	DIR *folder = opendir(NETDEV_FOLDER);
	struct installed installed;
	const char *driver, *last = NULL;
	char name[KRDMA_NAME_MAX + 1];
	struct dirent *entry;

	if (!folder)
		return false;
	while ((entry = readdir(folder))) {
		driver = rdma_driver_of(entry->d_name);
		/* A card may have many interfaces. */
		if (!driver || driver == last)
			continue;
		doctor_find_module(driver, &installed);
		if (installed.loaded)
			continue;
		last = driver;
		printable(name, sizeof(name), entry->d_name, KRDMA_NAME_MAX);
		doctor_say(doctor, "device", VERDICT_FAIL,
			   "the card of %s can do RDMA, but its driver %s is not %s", name, driver,
			   installed.here || !installed.known ? "loaded" :
			   "installed for this kernel");
		if (installed.here || !installed.known)
			doctor_mend(doctor, "as root", "modprobe %s", driver);
	}
	closedir(folder);
	return last;
}

/* What makes a device of any interface. */
static void explain_software(struct doctor *doctor)
{
	struct installed rxe, siw;
	char interface[IF_NAMESIZE];

	doctor_find_module("rdma_rxe", &rxe);
	doctor_find_module("siw", &siw);
	any_interface(interface);
	if (rxe.loaded || rxe.here || !rxe.known) {
		doctor_say(doctor, "device", VERDICT_FAIL,
			   "there is no RDMA device here; rxe makes one of any network interface");
		doctor_mend(doctor, "as root", "rdma link add rxe0 type rxe netdev %s", interface);
	} else if (siw.loaded || siw.here) {
		doctor_say(doctor, "device", VERDICT_FAIL,
			   "there is no RDMA device here; siw makes one of any network interface");
		doctor_mend(doctor, "as root", "rdma link add siw0 type siw netdev %s", interface);
	} else {
		doctor_say(doctor, "device", VERDICT_FAIL,
			   "there is no RDMA device here, and this kernel, %s, has neither rdma_rxe nor siw to make one",
			   rxe.running);
	}
}

void doctor_driver(struct doctor *doctor)
{
	char names[NAMES_MAX];
	unsigned int count = list_devices(names);

	if (count && doctor->unloaded) {
		doctor_say(doctor, "device", VERDICT_OK, "the kernel has %u RDMA device%s: %s",
			   count, count == 1 ? "" : "s", names);
	} else if (count) {
		doctor_say(doctor, "device", VERDICT_FAIL,
			   "there are RDMA devices, but not in this network namespace");
		doctor_mend(doctor, "as root, where the device is; NAME is this namespace's",
			    "rdma dev set DEVICE netns NAME");
	} else if (!explain_cards(doctor)) {
		explain_software(doctor);
	}
}
