// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Counters of the ports of RDMA devices, which drivers show in /sys/class/infiniband.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "peer_stop.h"
#include "port_counters.h"

#define DEVICES_FOLDER	"/sys/class/infiniband"
/* No driver has nearly as many counters, or a device as many ports. */
#define COUNTERS_MAX	1024
#define PORTS_MAX	1024

const char * const counter_group_names[COUNTER_GROUPS] = {
	[COUNTERS] = "counters",
	[HW_COUNTERS] = "hw_counters",
};

const char * const port_sum_names[PORT_SUMS] = {
	[PORT_SENT_BYTES] = "sent_bytes",
	[PORT_RECEIVED_BYTES] = "received_bytes",
	[PORT_SENT_PACKETS] = "sent_packets",
	[PORT_RECEIVED_PACKETS] = "received_packets",
	[PORT_RETRANSMISSIONS] = "retransmissions",
	[PORT_ERRORS] = "errors",
};

/* In which counters a sum is.  Of sums that are not @all, the first counter that exists counts. */
static const struct source {
	enum port_sum sum;
	enum counter_group group;
	const char *name;
	unsigned int unit;
	bool all;
} sources[] = {
	/* InfiniBand counts data in words of four bytes. */
	{ PORT_SENT_BYTES, COUNTERS, "port_xmit_data", 4, false },
	{ PORT_SENT_BYTES, HW_COUNTERS, "sent_bytes", 1, false },
	{ PORT_SENT_BYTES, HW_COUNTERS, "tx_bytes", 1, false },
	{ PORT_RECEIVED_BYTES, COUNTERS, "port_rcv_data", 4, false },
	{ PORT_RECEIVED_BYTES, HW_COUNTERS, "rcvd_bytes", 1, false },
	{ PORT_RECEIVED_BYTES, HW_COUNTERS, "rx_bytes", 1, false },
	{ PORT_SENT_PACKETS, COUNTERS, "port_xmit_packets", 1, false },
	{ PORT_SENT_PACKETS, HW_COUNTERS, "sent_pkts", 1, false },
	{ PORT_SENT_PACKETS, HW_COUNTERS, "tx_pkts", 1, false },
	{ PORT_RECEIVED_PACKETS, COUNTERS, "port_rcv_packets", 1, false },
	{ PORT_RECEIVED_PACKETS, HW_COUNTERS, "rcvd_pkts", 1, false },
	{ PORT_RECEIVED_PACKETS, HW_COUNTERS, "rx_pkts", 1, false },
	/* mlx5 and bnxt_re; then rxe, efa, irdma and cxgb4. */
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "local_ack_timeout_err", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "packet_seq_err", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "implied_nak_seq_err", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "rnr_nak_retry_err", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "completer_retry_err", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "retrans_pkts", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "RetransSegs", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "ip4RetransSegs", 1, true },
	{ PORT_RETRANSMISSIONS, HW_COUNTERS, "ip6RetransSegs", 1, true },
	{ PORT_ERRORS, COUNTERS, "symbol_error", 1, true },
	{ PORT_ERRORS, COUNTERS, "link_error_recovery", 1, true },
	{ PORT_ERRORS, COUNTERS, "link_downed", 1, true },
	{ PORT_ERRORS, COUNTERS, "port_rcv_errors", 1, true },
	{ PORT_ERRORS, COUNTERS, "port_rcv_remote_physical_errors", 1, true },
	{ PORT_ERRORS, COUNTERS, "port_rcv_switch_relay_errors", 1, true },
	{ PORT_ERRORS, COUNTERS, "port_rcv_constraint_errors", 1, true },
	{ PORT_ERRORS, COUNTERS, "port_xmit_discards", 1, true },
	{ PORT_ERRORS, COUNTERS, "port_xmit_constraint_errors", 1, true },
	{ PORT_ERRORS, COUNTERS, "local_link_integrity_errors", 1, true },
	{ PORT_ERRORS, COUNTERS, "excessive_buffer_overrun_errors", 1, true },
	{ PORT_ERRORS, COUNTERS, "VL15_dropped", 1, true },
	{ PORT_ERRORS, HW_COUNTERS, "retry_exceeded_err", 1, true },
	{ PORT_ERRORS, HW_COUNTERS, "retry_rnr_exceeded_err", 1, true },
	{ PORT_ERRORS, HW_COUNTERS, "max_retry_exceeded", 1, true },
	{ PORT_ERRORS, HW_COUNTERS, "send_err", 1, true },
	{ PORT_ERRORS, HW_COUNTERS, "link_downed", 1, true },
};

/*
 * Reading
 */

bool counter_parse(const char *text, size_t length, uint64_t *value)
{
	uint64_t number = 0;
	size_t i;

	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		length--;
	if (!length)
		return false;
	for (i = 0; i < length; i++) {
		unsigned int digit = (unsigned int)(text[i] - '0');

		if (text[i] < '0' || text[i] > '9' || number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	*value = number;
	return true;
}

/* Returns false if it is no file with a number. */
static bool read_number(int folder, const char *name, uint64_t *value)
{
	/* The drivers' numbers are shorter. */
	char text[64];
	struct stat status;
	ssize_t length = -1;
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		length = read(fd, text, sizeof(text));
	close(fd);
	return length > 0 && (size_t)length < sizeof(text) &&
	       counter_parse(text, (size_t)length, value);
}

static int add_counter(struct port *port, enum counter_group group, const char *name,
		       uint64_t value)
{
	struct counter *counters;
	char *own = strdup(name);

	counters = !own ? NULL : realloc(port->counters, (port->count + 1) * sizeof(*counters));
	if (!counters) {
		free(own);
		return -ENOMEM;
	}
	port->counters = counters;
	counters[port->count++] = (struct counter) { group, own, value };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct counter *left = a, *right = b;

	if (left->group != right->group)
		return left->group < right->group ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* A group that is not there has no counters. */
static int read_group(struct port *port, int folder, enum counter_group group)
{
	int fd = openat(folder, counter_group_names[group], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;
	uint64_t value;
	DIR *files;
	int err = 0;

	if (fd < 0)
		return 0;
	files = fdopendir(fd);
	if (!files) {
		close(fd);
		return -errno;
	}
	while (!err && port->count < COUNTERS_MAX && (entry = readdir(files))) {
		/* "lifespan" is how long the kernel keeps a reading, and can be written. */
		if (*entry->d_name == '.' || !strcmp(entry->d_name, "lifespan"))
			continue;
		if (read_number(fd, entry->d_name, &value))
			err = add_counter(port, group, entry->d_name, value);
		else
			port->unreadable++;
	}
	closedir(files);
	return err;
}

static int read_port(struct ports *ports, int folder, const char *device, const char *number)
{
	struct port *list, *port;
	int err = 0, group, fd = openat(folder, number, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *name;

	/* Removed since it was found. */
	if (fd < 0)
		return 0;
	list = realloc(ports->list, (ports->count + 1) * sizeof(*list));
	if (list)
		ports->list = list;
	name = list ? strdup(device) : NULL;
	if (!name) {
		close(fd);
		return -ENOMEM;
	}
	port = &ports->list[ports->count++];
	memset(port, 0, sizeof(*port));
	port->device = name;
	port->number = (unsigned int)atoi(number);
	for (group = 0; !err && group < COUNTER_GROUPS; group++)
		err = read_group(port, fd, (enum counter_group)group);
	close(fd);
	if (port->count)
		qsort(port->counters, port->count, sizeof(*port->counters), by_name);
	return err;
}

static int is_port(const struct dirent *entry)
{
	size_t length = strspn(entry->d_name, "0123456789");

	return length && length < 6 && !entry->d_name[length];
}

static int is_device(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

static int read_device(struct ports *ports, const char *device)
{
	char path[sizeof(DEVICES_FOLDER) + NAME_MAX + sizeof("//ports")];
	struct dirent **numbers;
	int i, count, fd, err = 0;

	snprintf(path, sizeof(path), DEVICES_FOLDER "/%s/ports", device);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	count = scandirat(fd, ".", &numbers, is_port, versionsort);
	for (i = 0; i < count; i++) {
		if (!err && ports->count < PORTS_MAX)
			err = read_port(ports, fd, device, numbers[i]->d_name);
		free(numbers[i]);
	}
	if (count >= 0)
		free(numbers);
	close(fd);
	return err;
}

int ports_read(struct ports *ports)
{
	struct dirent **devices;
	int i, count, err = 0;

	memset(ports, 0, sizeof(*ports));
	ports->when_ns = clock_ns();
	count = scandir(DEVICES_FOLDER, &devices, is_device, versionsort);
	/* Without the kernel's RDMA there is no folder. */
	if (count < 0)
		return errno == ENOENT ? 0 : -errno;
	for (i = 0; i < count; i++) {
		if (!err)
			err = read_device(ports, devices[i]->d_name);
		free(devices[i]);
	}
	free(devices);
	return err;
}

void ports_free(struct ports *ports)
{
	size_t i, k;

	for (i = 0; i < ports->count; i++) {
		for (k = 0; k < ports->list[i].count; k++)
			free(ports->list[i].counters[k].name);
		free(ports->list[i].counters);
		free(ports->list[i].device);
	}
	free(ports->list);
	memset(ports, 0, sizeof(*ports));
}

/*
 * Looking up
 */

const struct port *port_find(const struct ports *ports, const struct port *port)
{
	size_t i;

	for (i = 0; i < ports->count; i++)
		if (ports->list[i].number == port->number &&
		    !strcmp(ports->list[i].device, port->device))
			return &ports->list[i];
	return NULL;
}

const struct counter *counter_find(const struct port *port, const struct counter *counter)
{
	if (!port->count)
		return NULL;
	return bsearch(counter, port->counters, port->count, sizeof(*counter), by_name);
}

bool port_add_up(const struct port *port, enum port_sum sum, uint64_t *value)
{
	bool any = false;
	size_t i;

	*value = 0;
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		const struct source *source = &sources[i];
		const struct counter key = { source->group, (char *)(uintptr_t)source->name, 0 };
		const struct counter *counter;

		if (source->sum != sum)
			continue;
		counter = counter_find(port, &key);
		if (!counter)
			continue;
		*value += counter->value * source->unit;
		any = true;
		if (!source->all)
			break;
	}
	return any;
}
