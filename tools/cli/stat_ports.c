// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma stat ports: what the ports of RDMA devices have counted.
 */
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "port_counters.h"
#include "rates.h"
#include "stat_ports.h"
#include "value.h"

/* Longer than any number that is printed. */
#define CELL_MAX 32

static double seconds_between(const struct ports *now, const struct ports *before)
{
	return (double)(now->when_ns - before->when_ns) / 1e9;
}

/*
 * What has been counted since @before, in a second.  False if that cannot be said: the counter is
 * new, or was reset.
 */
static bool rate_of(uint64_t now, uint64_t before, double seconds, double *rate)
{
	if (now < before || seconds <= 0)
		return false;
	*rate = (double)(now - before) / seconds;
	return true;
}

static bool sum_rate(const struct port *port, const struct port *was, enum port_sum sum,
		     double seconds, double *rate)
{
	uint64_t now, before;

	return was && port_add_up(port, sum, &now) && port_add_up(was, sum, &before) &&
	       rate_of(now, before, seconds, rate);
}

/*
 * Text
 */

static void print_cell(const struct port *port, const struct port *was, enum port_sum sum,
		       double seconds, int width)
{
	bool bytes = sum == PORT_SENT_BYTES || sum == PORT_RECEIVED_BYTES;
	char text[CELL_MAX] = "-", size[SIZE_TEXT_MAX];
	uint64_t value;
	double rate;

	if (seconds > 0) {
		if (sum_rate(port, was, sum, seconds, &rate)) {
			if (bytes)
				snprintf(text, sizeof(text), "%s",
					 bytes_text(size, (uint64_t)(rate + 0.5)));
			else
				snprintf(text, sizeof(text), "%.1f", rate);
		}
	} else if (port_add_up(port, sum, &value)) {
		if (bytes)
			snprintf(text, sizeof(text), "%s", bytes_text(size, value));
		else
			snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	}
	printf(" %*s", width, text);
}

/* With -d: every counter, under the driver's name. */
static void print_counters(const struct port *port, const struct port *was, double seconds)
{
	char name[64];
	size_t i;

	for (i = 0; i < port->count; i++) {
		const struct counter *counter = &port->counters[i], *before = NULL;
		double rate;

		printable(name, sizeof(name), counter->name, strlen(counter->name));
		printf("    %s/%s %llu", counter_group_names[counter->group], name,
		       (unsigned long long)counter->value);
		if (was)
			before = counter_find(was, counter);
		if (before && rate_of(counter->value, before->value, seconds, &rate))
			printf(" %.1f/s", rate);
		putchar('\n');
	}
	if (port->unreadable)
		printf("    %u more cannot be read\n", port->unreadable);
}

static void print_text(const struct ports *now, const struct ports *before,
		       const struct options *options)
{
	double seconds = before ? seconds_between(now, before) : 0;
	char name[64];
	size_t i;

	puts(before ?
	     "DEVICE       PORT    SENT/s    RECV/s  PKTSENT/s  PKTRECV/s RETRANS/s ERRORS" :
	     "DEVICE       PORT      SENT      RECV    PKTSENT    PKTRECV   RETRANS ERRORS");
	for (i = 0; i < now->count; i++) {
		const struct port *port = &now->list[i];
		const struct port *was = before ? port_find(before, port) : NULL;

		printable(name, sizeof(name), port->device, strlen(port->device));
		printf("%-12s %4u", name, port->number);
		print_cell(port, was, PORT_SENT_BYTES, seconds, 9);
		print_cell(port, was, PORT_RECEIVED_BYTES, seconds, 9);
		print_cell(port, was, PORT_SENT_PACKETS, seconds, 10);
		print_cell(port, was, PORT_RECEIVED_PACKETS, seconds, 10);
		print_cell(port, was, PORT_RETRANSMISSIONS, seconds, 9);
		/* The number of errors: their rate would be 0 in most lines. */
		print_cell(port, was, PORT_ERRORS, 0, 6);
		putchar('\n');
		if (options->details)
			print_counters(port, was, seconds);
	}
}

/*
 * JSON
 */

static struct json_object *group_json(const struct port *port, enum counter_group group)
{
	struct json_object *object = json_checked(json_object_new_object());
	char name[256];
	size_t i;

	for (i = 0; i < port->count; i++) {
		const struct counter *counter = &port->counters[i];

		if (counter->group != group)
			continue;
		printable(name, sizeof(name), counter->name, strlen(counter->name));
		json_put_number(object, name, counter->value);
	}
	return object;
}

/* A sum without a counter is null. */
static struct json_object *port_json(const struct port *port, const struct port *was,
				     double seconds)
{
	struct json_object *object = json_checked(json_object_new_object());
	char name[64];
	int sum, group;

	printable(name, sizeof(name), port->device, strlen(port->device));
	json_put_text(object, "device", name);
	json_put_number(object, "port", port->number);
	for (sum = 0; sum < PORT_SUMS; sum++) {
		uint64_t value;

		if (port_add_up(port, (enum port_sum)sum, &value))
			json_put_number(object, port_sum_names[sum], value);
		else
			json_object_object_add(object, port_sum_names[sum], NULL);
	}
	for (sum = 0; was && sum < PORT_SUMS; sum++) {
		double rate;

		snprintf(name, sizeof(name), "%s_per_second", port_sum_names[sum]);
		if (sum_rate(port, was, (enum port_sum)sum, seconds, &rate))
			json_put_rate(object, name, rate);
		else
			json_object_object_add(object, name, NULL);
	}
	for (group = 0; group < COUNTER_GROUPS; group++)
		json_put(object, counter_group_names[group],
			 group_json(port, (enum counter_group)group));
	json_put_number(object, "unreadable", port->unreadable);
	return object;
}

static void print_json(const struct ports *now, const struct ports *before,
		       const struct options *options)
{
	struct json_object *object = json_checked(json_object_new_object());
	struct json_object *array = json_checked(json_object_new_array());
	double seconds = before ? seconds_between(now, before) : 0;
	size_t i;

	for (i = 0; i < now->count; i++) {
		const struct port *port = &now->list[i];

		json_append(array, port_json(port, before ? port_find(before, port) : NULL,
					     seconds));
	}
	json_put(object, "ports", array);
	json_print(object, options);
}

int stat_ports(uint64_t interval, uint64_t count, const struct options *options)
{
	bool again = interval || count;
	struct ports before = { 0 }, now;
	uint64_t shown = 0;
	int err;

	for (;;) {
		err = ports_read(&now);
		if (err) {
			ports_free(&now);
			break;
		}
		if (!again || before.when_ns) {
			if (options->json)
				print_json(&now, again ? &before : NULL, options);
			else
				print_text(&now, again ? &before : NULL, options);
			fflush(stdout);
			shown++;
		}
		ports_free(&before);
		before = now;
		if (!again || (count && shown == count) || ferror(stdout))
			break;
		rates_sleep(interval ? interval : VALUE_SECOND);
	}
	ports_free(&before);
	if (err)
		complain("cannot read the counters in /sys/class/infiniband: %s", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}
