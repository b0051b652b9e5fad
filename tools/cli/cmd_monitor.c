// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma monitor: show events of RDMA devices and their ports as they happen.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli.h"
#include "value.h"

static const char usage[] =
	"Usage: krdma monitor [-c COUNT]\n"
	"\n"
	"Prints a line for each event of RDMA devices and their ports, until Ctrl-C.  The\n"
	"first lines are the devices present.\n"
	"\n"
	"  -c, --count COUNT  end after COUNT events\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-monitor(8)\n";

static const struct own_option own_options[] = {
	{ "count", 'c', true },
	{ NULL, 0, false },
};

/* Name of a device, kept because a removed device cannot be queried. */
struct known {
	struct known *next;
	uint32_t id;
	/* The device was present at the start, and that has not been printed yet. */
	bool present;
	char name[KRDMA_NAME_MAX + 1];
};

struct monitor {
	const struct options *options;
	struct krdma *session;
	struct known *known;
	/* Number of events after which to end; 0: no limit. */
	uint64_t count;
	uint64_t said;
};

/* An event, with properties of its device. */
struct event {
	const char *name;
	uint32_t device_id;
	uint32_t port;
	/* Name of the device, or NULL. */
	const char *device;
	uint32_t port_count;
	struct timespec time;
};

static struct known *find(struct monitor *monitor, uint32_t id)
{
	struct known *known;

	for (known = monitor->known; known; known = known->next)
		if (known->id == id)
			return known;
	return NULL;
}

static struct known *learn(struct monitor *monitor, const struct krdma_device_query_args *device)
{
	struct known *known = find(monitor, device->id);

	if (!known) {
		known = calloc(1, sizeof(*known));
		if (!known)
			return NULL;
		known->id = device->id;
		known->next = monitor->known;
		monitor->known = known;
	}
	/* The device may have been renamed. */
	printable(known->name, sizeof(known->name), device->name, KRDMA_NAME_MAX);
	return known;
}

static void forget(struct monitor *monitor, uint32_t id)
{
	struct known **link = &monitor->known, *known;

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	known = *link;
	if (!known)
		return;
	*link = known->next;
	free(known);
}

/* Learn the devices that the first records report as present. */
static int learn_present(struct monitor *monitor)
{
	struct krdma_device_query_args device = { 0 };
	struct known *known;
	int err;

	for (;;) {
		err = krdma_device_next(monitor->session, device.id, &device, sizeof(device));
		if (err)
			return err == -ENOENT ? 0 : err;
		known = learn(monitor, &device);
		if (!known)
			return -ENOMEM;
		known->present = true;
	}
}

static bool port_get(struct monitor *monitor, const struct event *event, uint32_t number,
		     struct krdma_port_query_args *port)
{
	return !krdma_port_query(monitor->session, event->device_id, number, port, sizeof(*port));
}

/* First port that an event applies to.  An event of the device applies to all ports. */
static uint32_t first_port(const struct event *event)
{
	return event->port ? event->port : 1;
}

static uint32_t last_port(const struct event *event)
{
	return event->port ? event->port : event->port_count;
}

static void say_text(struct monitor *monitor, const struct event *event)
{
	char time[VALUE_MOMENT_TEXT], netdev[KRDMA_NAME_MAX + 1];
	struct krdma_port_query_args port;

	printf("%s ", value_moment_text(time, &event->time, 3));
	if (!event->device_id) {
		printf("%s: look again with 'krdma dev'\n", event->name);
		return;
	}
	printf("%s (%u)", event->device ? event->device : "?", event->device_id);
	if (event->port)
		printf(" port %u", event->port);
	printf(": %s", event->name);
	for (uint32_t i = first_port(event); i <= last_port(event); i++) {
		if (!port_get(monitor, event, i, &port))
			continue;
		if (!event->port)
			printf("; port %u", i);
		else
			fputs("; now", stdout);
		printf(" %s", krdma_port_state_name(port.state));
		printable(netdev, sizeof(netdev), port.netdev_name, KRDMA_NAME_MAX);
		if (port.netdev_ifindex)
			printf(" on %s", netdev);
	}
	putchar('\n');
}

static struct json_object *port_json(uint32_t number, const struct krdma_port_query_args *port)
{
	struct json_object *object = json_checked(json_object_new_object());
	char netdev[KRDMA_NAME_MAX + 1];

	json_put_number(object, "port", number);
	json_put_text(object, "state", krdma_port_state_name(port->state));
	json_put_number(object, "active_mtu", port->active_mtu);
	if (port->netdev_ifindex) {
		printable(netdev, sizeof(netdev), port->netdev_name, KRDMA_NAME_MAX);
		json_put_text(object, "netdev_name", netdev);
	}
	return object;
}

static void say_json(struct monitor *monitor, const struct event *event)
{
	struct json_object *object = json_checked(json_object_new_object());
	struct json_object *ports = json_checked(json_object_new_array());
	struct krdma_port_query_args port;
	char second[32], time[64];
	struct tm utc;

	gmtime_r(&event->time.tv_sec, &utc);
	strftime(second, sizeof(second), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(time, sizeof(time), "%s.%03ldZ", second, event->time.tv_nsec / 1000000);
	json_put_text(object, "time", time);
	json_put_text(object, "event", event->name);
	if (event->device_id) {
		json_put_number(object, "device_id", event->device_id);
		if (event->device)
			json_put_text(object, "device", event->device);
		if (event->port)
			json_put_number(object, "port", event->port);
	}
	for (uint32_t i = first_port(event); i <= last_port(event); i++)
		if (port_get(monitor, event, i, &port))
			json_append(ports, port_json(i, &port));
	json_put(object, "ports", ports);
	json_print(object, monitor->options);
}

static void say(struct monitor *monitor, const struct krdma_device_record *record)
{
	struct event event = {
		.name = krdma_device_event_name(record->type),
		.device_id = record->device_id,
		.port = record->port,
	};
	struct krdma_device_query_args device;
	struct known *known;

	clock_gettime(CLOCK_REALTIME, &event.time);
	if (record->device_id &&
	    !krdma_device_query(monitor->session, record->device_id, &device, sizeof(device))) {
		learn(monitor, &device);
		event.port_count = device.port_count;
	}
	known = find(monitor, record->device_id);
	if (known) {
		event.device = known->name;
		if (known->present && record->type == KRDMA_DEVICE_EVENT_ADDED)
			event.name = "present";
		known->present = false;
	}
	if (monitor->options->json)
		say_json(monitor, &event);
	else
		say_text(monitor, &event);
	/* A reader may be waiting for this event. */
	fflush(stdout);
	if (record->type == KRDMA_DEVICE_EVENT_REMOVED)
		forget(monitor, record->device_id);
	monitor->said++;
}

/* Wait for an event.  Returns 0 or a negative errno; -EPIPE: standard output has no reader. */
static int await(struct monitor *monitor)
{
	struct pollfd polls[2] = {
		{ .fd = krdma_fd(monitor->session), .events = POLLIN },
		{ .fd = STDOUT_FILENO },
	};

	while (poll(polls, 2, -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	/* A pipe without a reader has POLLERR, a socket without a peer POLLHUP. */
	return !polls[0].revents && polls[1].revents ? -EPIPE : 0;
}

static int watch(struct monitor *monitor)
{
	struct krdma_device_record record;
	int err;

	err = learn_present(monitor);
	if (!err)
		err = krdma_device_notify(monitor->session);
	while (!err && !ferror(stdout) && (!monitor->count || monitor->said < monitor->count)) {
		err = await(monitor);
		if (!err)
			err = krdma_device_next_event(monitor->session, 0, &record, sizeof(record));
		if (!err)
			say(monitor, &record);
		else if (err == -EAGAIN || err == -ETIMEDOUT)
			err = 0;
	}
	return err == -EPIPE ? 0 : err;
}

static int set_option(int key, const char *value, void *to)
{
	struct monitor *monitor = to;

	(void)key;
	return value_number("--count", value, 1, UINT64_MAX / 2, &monitor->count);
}

int cmd_monitor(int argc, char **argv, struct options *options)
{
	struct monitor monitor = { .options = options };
	int first = options_parse_own(argc, argv, options, own_options, set_option, &monitor);
	int err;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && is_help(argv[first]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first < argc)
		return usage_error("'krdma monitor' takes no '%s'; see 'krdma monitor help'",
				   argv[first]);
	if (open_session(&monitor.session))
		return EXIT_FAILED;
	err = watch(&monitor);
	krdma_close(monitor.session);
	while (monitor.known)
		forget(&monitor, monitor.known->id);
	if (err) {
		complain_request("watch the RDMA devices", err);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}
