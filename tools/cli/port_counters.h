/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Counters of the ports of RDMA devices, which drivers show in /sys/class/infiniband.
 *
 * There are two groups: "counters" has the names and units of InfiniBand, and "hw_counters" has
 * those of the driver.  A driver may have neither.  A file that has no whole number is left out,
 * and counted.
 */
#ifndef KRDMA_CLI_PORT_COUNTERS_H
#define KRDMA_CLI_PORT_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_group {
	COUNTERS,
	HW_COUNTERS,
	COUNTER_GROUPS,
};

/* The names of the folders. */
extern const char * const counter_group_names[COUNTER_GROUPS];

struct counter {
	enum counter_group group;
	char *name;
	uint64_t value;
};

struct port {
	char *device;
	unsigned int number;
	struct counter *counters;
	size_t count;
	/* Files that could not be read, or had no number. */
	unsigned int unreadable;
};

struct ports {
	struct port *list;
	size_t count;
	uint64_t when_ns;
};

/* What most drivers count, under their own names. */
enum port_sum {
	PORT_SENT_BYTES,
	PORT_RECEIVED_BYTES,
	PORT_SENT_PACKETS,
	PORT_RECEIVED_PACKETS,
	/* Packets that were sent again, or events after which some were. */
	PORT_RETRANSMISSIONS,
	PORT_ERRORS,
	PORT_SUMS,
};

extern const char * const port_sum_names[PORT_SUMS];

/* Returns 0, with devices and ports in their order; or a negative errno.  Free them always. */
int ports_read(struct ports *ports);
void ports_free(struct ports *ports);

/* The same port, or counter, at another time; NULL if it was not there. */
const struct port *port_find(const struct ports *ports, const struct port *port);
const struct counter *counter_find(const struct port *port, const struct counter *counter);

/* False if the driver has no such counter. */
bool port_add_up(const struct port *port, enum port_sum sum, uint64_t *value);

/* The text of a counter's file: digits and perhaps a line break.  False if it is no number. */
bool counter_parse(const char *text, size_t length, uint64_t *value);

#endif /* KRDMA_CLI_PORT_COUNTERS_H */
