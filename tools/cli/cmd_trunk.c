// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma trunk: show the trunks that carry lanes, and the lanes of each.
 *
 * The kernel has no list of trunks.  What is shown is derived from the lanes that processes have
 * open, as /proc describes them; and root sees in debugfs how many trunks and lanes there are.
 * /proc describes descriptors, so of connections that a program has without any, many at a time,
 * there is only the number in each session.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"
#include "objects.h"
#include "rates.h"
#include "value.h"

static const char usage[] =
	"Usage: krdma trunk [OPTION]...\n"
	"\n"
	"Shows the trunks over which processes have lanes: the hosts at both ends, and\n"
	"what their lanes transfer.  With -d, each lane, too.  Other users' lanes are\n"
	"shown to root.  Lanes without a descriptor are not shown: a line for each\n"
	"session has the number of its connections without one, lanes or others.\n"
	"\n"
	"  -i, --interval TIME     update every TIME, with rates per second\n"
	"  -c, --count COUNT       end after COUNT updates; without -i, one a second\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-trunk(8)\n";

struct settings {
	uint64_t interval;
	uint64_t count;
};

static const struct own_option own_options[] = {
	{ "interval", 'i', true },
	{ "count", 'c', true },
	{ NULL, 0, false },
};

/* A trunk: lanes that follow each other in a sorted list, and their sums. */
struct trunk {
	const struct object *const *lanes;
	size_t count;
	size_t connected;
	size_t ended;
	int error;
	uint64_t pending;
	struct rates rates;
};

static int set(int key, const char *value, void *to)
{
	struct settings *settings = to;

	return key == 'i' ? rates_interval(value, &settings->interval) :
			    rates_count(value, &settings->count);
}

/*
 * From objects to trunks
 */

static int compare(const void *one, const void *other)
{
	const struct object *a = *(const struct object *const *)one;
	const struct object *b = *(const struct object *const *)other;

	if (a->trunk != b->trunk)
		return a->trunk < b->trunk ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* The lanes, sorted by trunk, followed by NULL.  Returns NULL without memory. */
static const struct object **sorted_lanes(const struct objects *now)
{
	const struct object **lanes = calloc(now->count + 1, sizeof(*lanes));
	size_t count = 0;

	if (!lanes)
		return NULL;
	for (size_t i = 0; i < now->count; i++) {
		if (now->list[i].kind == OBJECT_CONNECTION && now->list[i].trunk)
			lanes[count++] = &now->list[i];
	}
	qsort(lanes, count, sizeof(*lanes), compare);
	return lanes;
}

/* Get the trunk whose first lane is *@at, and set @at to that of the next one. */
static bool next_trunk(const struct object *const **at, const struct objects *now,
		       const struct objects *before, struct trunk *trunk)
{
	const struct object *lane = **at;

	if (!lane)
		return false;
	memset(trunk, 0, sizeof(*trunk));
	trunk->lanes = *at;
	for (uint64_t number = lane->trunk; lane && lane->trunk == number; lane = *++*at) {
		trunk->count++;
		trunk->pending += lane->sends_waiting;
		rates_add(&trunk->rates, now, before, lane);
		if (!strcmp(lane->state, "connected"))
			trunk->connected++;
		if (lane->error) {
			trunk->ended++;
			trunk->error = lane->error;
		}
	}
	return true;
}

/* The kernel does not tell the state of a trunk; that of its lanes shows whether it works. */
static const char *trunk_state(const struct trunk *trunk)
{
	if (trunk->connected)
		return "up";
	return trunk->ended == trunk->count ? "ended" : "opening";
}

/* The address without its port and brackets. */
static const char *host_text(char text[OBJECT_TEXT_MAX], const char *address)
{
	const char *end = strrchr(address, ':');
	size_t length = end ? (size_t)(end - address) : strlen(address);

	if (length > 1 && address[0] == '[' && address[length - 1] == ']') {
		address++;
		length -= 2;
	}
	snprintf(text, OBJECT_TEXT_MAX, "%.*s", (int)length, address);
	return text;
}

/* The name of a device, or its number if this user may not open a session. */
static const char *device_text(char text[KRDMA_NAME_MAX + 1], struct krdma *session, uint64_t id)
{
	struct krdma_device_query_args device;

	if (session && !krdma_device_query(session, (uint32_t)id, &device, sizeof(device)))
		printable(text, KRDMA_NAME_MAX + 1, device.name, sizeof(device.name));
	else
		snprintf(text, KRDMA_NAME_MAX + 1, "%llu", (unsigned long long)id);
	return text;
}

/*
 * Text
 */

static void print_lane(const struct object *lane, const struct objects *now,
		       const struct objects *before)
{
	struct rates rates = { 0 };
	int digits = before ? 1 : 0;

	rates_add(&rates, now, before, lane);
	printf("    lane %-8u %7d %-15.15s %-13s %-21s %-21s %12.*f %12.*f %12.*f\n", lane->id,
	       lane->pid, lane->command, lane->state, lane->local, lane->remote, digits,
	       rates.sends, digits, rates.direct, digits, rates.receives);
}

static void print_trunk(const struct trunk *trunk, const struct objects *now,
			const struct objects *before, struct krdma *session, bool details)
{
	const struct object *first = trunk->lanes[0];
	char device[KRDMA_NAME_MAX + 1], local[OBJECT_TEXT_MAX], peer[OBJECT_TEXT_MAX];
	int digits = before ? 1 : 0;

	printf("%-7llu %-10s %-7s %-20s %-20s %6zu %12.*f %12.*f %12.*f %7llu",
	       (unsigned long long)first->trunk, device_text(device, session, first->device),
	       trunk_state(trunk), host_text(local, first->local), host_text(peer, first->remote),
	       trunk->count - trunk->ended, digits, trunk->rates.sends, digits,
	       trunk->rates.direct, digits, trunk->rates.receives,
	       (unsigned long long)trunk->pending);
	if (trunk->error)
		printf("  %s", krdma_error_name(trunk->error));
	putchar('\n');
	for (size_t i = 0; details && i < trunk->count; i++)
		print_lane(trunk->lanes[i], now, before);
}

/* Has the session connections without a descriptor, of which some may be lanes? */
static bool has_others(const struct object *object)
{
	return object->kind == OBJECT_SESSION && object->conns;
}

static void print_others(const struct objects *now)
{
	for (size_t i = 0; i < now->count; i++) {
		const struct object *session = &now->list[i];

		if (has_others(session))
			printf("session %u of process %d, %.15s: %s: %llu\n", session->id,
			       session->pid, session->command,
			       "connections without a descriptor, lanes or others",
			       (unsigned long long)session->conns);
	}
}

static void print_text(const struct object *const *at, const struct objects *now,
		       const struct objects *before, struct krdma *session, bool details)
{
	const char *unit = before ? "/s" : "";
	struct kernel_objects host = objects_of_kernel();
	struct trunk trunk;

	printf("%-7s %-10s %-7s %-20s %-20s %6s %10s%-2s %10s%-2s %10s%-2s %7s\n", "TRUNK",
	       "DEVICE", "STATE", "LOCAL", "PEER", "LANES", "SENDS", unit, "DIRECT", unit,
	       "RECEIVES", unit, "PENDING");
	while (next_trunk(&at, now, before, &trunk))
		print_trunk(&trunk, now, before, session, details);
	print_others(now);
	if (host.trunks >= 0 && host.lanes >= 0 && host.windows >= 0)
		printf("the kernel has %lld trunks, %lld lanes, %lld windows\n", host.trunks,
		       host.lanes, host.windows);
}

/*
 * JSON
 */

static void put_rates(struct json_object *json, const struct rates *rates, bool per_second)
{
	if (per_second) {
		json_put_rate(json, "sends_per_second", rates->sends);
		json_put_rate(json, "sends_direct_per_second", rates->direct);
		json_put_rate(json, "receives_per_second", rates->receives);
	} else {
		json_put_number(json, "sends_completed", (uint64_t)rates->sends);
		json_put_number(json, "sends_direct", (uint64_t)rates->direct);
		json_put_number(json, "receives_completed", (uint64_t)rates->receives);
	}
}

static struct json_object *lane_json(const struct object *lane, const struct objects *now,
				     const struct objects *before)
{
	struct json_object *json = json_checked(json_object_new_object());
	struct rates rates = { 0 };

	rates_add(&rates, now, before, lane);
	json_put_number(json, "id", lane->id);
	json_put_number(json, "session", lane->session);
	json_put_number(json, "pid", (uint64_t)lane->pid);
	json_put_text(json, "command", lane->command);
	json_put_text(json, "state", lane->state);
	json_put_text(json, "error", krdma_error_name(lane->error));
	json_put_text(json, "local", lane->local);
	json_put_text(json, "remote", lane->remote);
	json_put_number(json, "sends_pending", lane->sends_waiting);
	put_rates(json, &rates, before);
	return json;
}

static struct json_object *trunk_json(const struct trunk *trunk, const struct objects *now,
				      const struct objects *before, struct krdma *session)
{
	struct json_object *json = json_checked(json_object_new_object());
	struct json_object *lanes = json_checked(json_object_new_array());
	const struct object *first = trunk->lanes[0];
	char device[KRDMA_NAME_MAX + 1], host[OBJECT_TEXT_MAX];

	json_put_number(json, "trunk", first->trunk);
	json_put_text(json, "device", device_text(device, session, first->device));
	json_put_text(json, "state", trunk_state(trunk));
	json_put_text(json, "error", krdma_error_name(trunk->error));
	json_put_text(json, "local", host_text(host, first->local));
	json_put_text(json, "peer", host_text(host, first->remote));
	json_put_number(json, "sends_pending", trunk->pending);
	put_rates(json, &trunk->rates, before);
	for (size_t i = 0; i < trunk->count; i++)
		json_append(lanes, lane_json(trunk->lanes[i], now, before));
	json_put(json, "lanes", lanes);
	return json;
}

static struct json_object *others_json(const struct objects *now)
{
	struct json_object *list = json_checked(json_object_new_array()), *json;

	for (size_t i = 0; i < now->count; i++) {
		const struct object *session = &now->list[i];

		if (!has_others(session))
			continue;
		json = json_checked(json_object_new_object());
		json_put_number(json, "session", session->id);
		json_put_number(json, "pid", (uint64_t)session->pid);
		json_put_text(json, "command", session->command);
		json_put_number(json, "conns", session->conns);
		json_append(list, json);
	}
	return list;
}

static void put_count(struct json_object *json, const char *key, long long count)
{
	/* JSON's null is a null pointer of json-c. */
	if (count < 0)
		json_object_object_add(json, key, NULL);
	else
		json_put_number(json, key, (uint64_t)count);
}

static void print_json(const struct object *const *at, const struct objects *now,
		       const struct objects *before, struct krdma *session,
		       const struct options *options)
{
	struct json_object *json = json_checked(json_object_new_object());
	struct json_object *trunks = json_checked(json_object_new_array());
	struct kernel_objects host = objects_of_kernel();
	struct trunk trunk;

	while (next_trunk(&at, now, before, &trunk))
		json_append(trunks, trunk_json(&trunk, now, before, session));
	json_put(json, "trunks", trunks);
	json_put(json, "without_descriptor", others_json(now));
	put_count(json, "kernel_trunks", host.trunks);
	put_count(json, "kernel_lanes", host.lanes);
	put_count(json, "kernel_windows", host.windows);
	json_put_number(json, "hidden_processes", now->hidden);
	json_print(json, options);
}

static int print(const struct objects *now, const struct objects *before, struct krdma *session,
		 const struct options *options)
{
	const struct object **lanes = sorted_lanes(now);

	if (!lanes)
		return -ENOMEM;
	if (options->json)
		print_json(lanes, now, before, session, options);
	else
		print_text(lanes, now, before, session, options->details);
	fflush(stdout);
	free(lanes);
	return 0;
}

static int show(const struct settings *settings, struct krdma *session,
		const struct options *options)
{
	bool again = settings->interval || settings->count;
	struct objects before = { 0 }, now;
	uint64_t shown = 0;
	int err;

	for (;;) {
		err = objects_read(&now);
		if (err)
			break;
		if (!shown && now.hidden && !options->json)
			complain("%u processes of other users are not shown; root sees all",
				 now.hidden);
		/* Rates need two readings. */
		if (!again || before.when_ns) {
			err = print(&now, again ? &before : NULL, session, options);
			shown++;
		}
		objects_free(&before);
		before = now;
		if (err || !again || (settings->count && shown == settings->count) ||
		    ferror(stdout))
			break;
		rates_sleep(settings->interval ? settings->interval : VALUE_SECOND);
	}
	objects_free(&before);
	if (err)
		complain("cannot look at the processes in /proc: %s", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}

int cmd_trunk(int argc, char **argv, struct options *options)
{
	struct settings settings = { 0 };
	int first = options_parse_own(argc, argv, options, own_options, set, &settings), status;
	struct krdma *session;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && is_help(argv[first]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first < argc)
		return usage_error("'krdma trunk' takes no argument '%s'; see 'krdma trunk help'",
				   argv[first]);
	if (require_module())
		return EXIT_FAILED;
	/* Only for the names of devices. */
	if (krdma_open(&session))
		session = NULL;
	status = show(&settings, session, options);
	krdma_close(session);
	return status;
}
