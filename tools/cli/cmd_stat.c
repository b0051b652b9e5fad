// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma stat: show sessions, connections and other objects, and their use of RDMA.
 */
#include <errno.h>
#include <string.h>

#include <json-c/json.h>

#include "cli.h"
#include "objects.h"
#include "rates.h"
#include "stat_ports.h"
#include "table.h"
#include "value.h"

static const char usage[] =
	"Usage: krdma stat [sessions|listeners|connections|rings|srqs|ports] [OPTION]...\n"
	"\n"
	"Shows the objects that processes have opened through krdma: a line for each\n"
	"session, or for each object of one kind.  Only root sees other users' processes.\n"
	"For ports: what the ports of RDMA devices have counted, with retransmissions;\n"
	"-d: all counters.\n"
	"\n"
	"  -i, --interval TIME     repeat, with rates per second\n"
	"  -c, --count COUNT       number of outputs; without -i, every second\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-stat(8)\n";

struct settings {
	uint64_t interval;
	uint64_t count;
};

static const struct own_option own_options[] = {
	{ "interval", 'i', true },
	{ "count", 'c', true },
	{ NULL, 0, false },
};

static int set(int key, const char *value, void *to)
{
	struct settings *settings = to;

	return key == 'i' ? rates_interval(value, &settings->interval) :
			    rates_count(value, &settings->count);
}

/*
 * Text
 */

/* Add a line: the number of objects of a session by kind, and the sums of its connections. */
static void put_session(struct table *table, const struct objects *now,
			const struct objects *before, const struct object *session)
{
	unsigned int counts[OBJECT_KINDS] = { 0 };
	int digits = before ? 1 : 0;
	struct rates sum = { 0 };
	char mr[SIZE_TEXT_MAX];

	for (size_t i = 0; i < now->count; i++) {
		const struct object *object = &now->list[i];

		if (object->session != session->id)
			continue;
		counts[object->kind]++;
		rates_add(&sum, now, before, object);
	}
	table_put(table, "%u", session->id);
	table_put(table, "%d", session->pid);
	table_put(table, "%.15s", session->command);
	table_put(table, "%llu",
		  (unsigned long long)(counts[OBJECT_CONNECTION] + session->conns));
	table_put(table, "%u", counts[OBJECT_LISTENER]);
	table_put(table, "%u", counts[OBJECT_RING]);
	table_put(table, "%u", counts[OBJECT_SRQ]);
	table_put(table, "%s", bytes_text(mr, session->mr_bytes));
	table_put(table, "%.*f", digits, sum.sends);
	table_put(table, "%.*f", digits, sum.receives);
}

/* Objects keep their session alive after its descriptor is closed. */
static void print_sessions(const struct objects *now, const struct objects *before)
{
	struct table table = { .columns = "lrlrrrrrrr" };

	table_put_words(&table, "SESSION PID COMMAND CONNS LISTEN RINGS SRQS MEMORY");
	table_put_words(&table, before ? "SENDS/s RECEIVES/s" : "SENDS RECEIVES");
	for (size_t i = 0; i < now->count; i++) {
		const struct object *object = &now->list[i];
		struct object closed = *object;
		bool seen = object->kind != OBJECT_SESSION;

		if (!seen) {
			put_session(&table, now, before, object);
			continue;
		}
		/* A session without a descriptor is printed at its first object. */
		closed.kind = OBJECT_SESSION;
		closed.id = object->session;
		closed.mr_bytes = 0;
		seen = objects_find(now, &closed);
		for (size_t j = 0; j < i && !seen; j++)
			seen = now->list[j].session == object->session;
		if (!seen)
			put_session(&table, now, before, &closed);
	}
	table_print(&table);
}

/* The columns of each kind behind those of all kinds, and their heads without and with rates. */
static const struct {
	const char *columns;
	const char *heads[2];
} kind_tables[OBJECT_KINDS] = {
	[OBJECT_CONNECTION] = { "lrrllllrrr", {
		"CONNECTION SESSION PID COMMAND STATE LOCAL REMOTE SENDS RECEIVES PENDING",
		"CONNECTION SESSION PID COMMAND STATE LOCAL REMOTE SENDS/s RECEIVES/s PENDING" } },
	[OBJECT_LISTENER] = { "lrrlll", {
		"ID SESSION PID COMMAND LOCAL WAITING", "ID SESSION PID COMMAND LOCAL WAITING" } },
	[OBJECT_RING] = { "lrrlrrrr", {
		"ID SESSION PID COMMAND DEVICE SUBMITTED COMPLETED UNTAKEN",
		"ID SESSION PID COMMAND DEVICE SUBMITTED/s COMPLETED/s UNTAKEN" } },
	[OBJECT_SRQ] = { "lrrlrr", {
		"ID SESSION PID COMMAND DEVICE DEPTH", "ID SESSION PID COMMAND DEVICE DEPTH" } },
};

static void print_kind(const struct objects *now, const struct objects *before,
		       enum object_kind kind)
{
	struct table table = { .columns = kind_tables[kind].columns };
	int digits = before ? 1 : 0;

	table_put_words(&table, kind_tables[kind].heads[before ? 1 : 0]);
	for (size_t i = 0; i < now->count; i++) {
		const struct object *object = &now->list[i];
		struct rates rates = { 0 };

		if (object->kind != kind)
			continue;
		rates_add(&rates, now, before, object);
		table_put(&table, "%u", object->id);
		table_put(&table, "%u", object->session);
		table_put(&table, "%d", object->pid);
		table_put(&table, "%.15s", object->command);
		if (kind == OBJECT_CONNECTION) {
			table_put(&table, "%s", object->state);
			table_put(&table, "%s", object->local);
			table_put(&table, "%s", object->remote);
			table_put(&table, "%.*f", digits, rates.sends);
			table_put(&table, "%.*f", digits, rates.receives);
			table_put(&table, "%llu", (unsigned long long)object->sends_waiting);
		} else if (kind == OBJECT_LISTENER) {
			table_put(&table, "%s", object->local);
			table_put(&table, "%s", object->waiting ? "yes" : "no");
		} else {
			table_put(&table, "%llu", (unsigned long long)object->device);
		}
		if (kind == OBJECT_RING) {
			table_put(&table, "%.*f", digits, rates.submitted);
			table_put(&table, "%.*f", digits, rates.completed);
			table_put(&table, "%llu", (unsigned long long)object->untaken);
		} else if (kind == OBJECT_SRQ) {
			table_put(&table, "%llu", (unsigned long long)object->depth);
		}
	}
	table_print(&table);
}

/*
 * JSON
 */

static struct json_object *object_json(const struct objects *now, const struct objects *before,
				       const struct object *object)
{
	struct json_object *json = json_checked(json_object_new_object());
	struct rates rates = { 0 };

	rates_add(&rates, now, before, object);
	json_put_number(json, "id", object->id);
	if (object->kind != OBJECT_SESSION)
		json_put_number(json, "session", object->session);
	json_put_number(json, "pid", (uint64_t)object->pid);
	json_put_text(json, "command", object->command);
	json_put_number(json, "descriptors", object->holders);
	switch (object->kind) {
	case OBJECT_SESSION:
		json_put_number(json, "mr_count", object->mr_count);
		json_put_number(json, "mr_bytes", object->mr_bytes);
		json_put_number(json, "conns", object->conns);
		break;
	case OBJECT_LISTENER:
		json_put_text(json, "local", object->local);
		json_put(json, "lanes", json_object_new_boolean(object->lanes != 0));
		json_put(json, "waiting", json_object_new_boolean(object->waiting != 0));
		break;
	case OBJECT_CONNECTION:
		json_put_text(json, "state", object->state);
		json_put_text(json, "error", krdma_error_name(object->error));
		json_put_number(json, "device", object->device);
		json_put_number(json, "qp", object->qp);
		json_put_text(json, "kind", object->lane ? "lane" : "plain");
		json_put_number(json, "trunk", object->trunk);
		json_put_text(json, "local", object->local);
		json_put_text(json, "remote", object->remote);
		json_put_number(json, "sends_completed", object->sends);
		json_put_number(json, "sends_pending", object->sends_waiting);
		json_put_number(json, "receives_completed", object->receives);
		json_put_number(json, "receives_pending", object->receives_waiting);
		if (before) {
			json_put_rate(json, "sends_per_second", rates.sends);
			json_put_rate(json, "receives_per_second", rates.receives);
		}
		break;
	case OBJECT_RING:
		json_put_number(json, "device", object->device);
		json_put_number(json, "submitted", object->submitted);
		json_put_number(json, "completed", object->completed);
		json_put_number(json, "untaken", object->untaken);
		if (before) {
			json_put_rate(json, "submitted_per_second", rates.submitted);
			json_put_rate(json, "completed_per_second", rates.completed);
		}
		break;
	default:
		json_put_number(json, "device", object->device);
		json_put_number(json, "depth", object->depth);
		break;
	}
	return json;
}

static void print_json(const struct objects *now, const struct objects *before, int only,
		       const struct options *options)
{
	struct json_object *json = json_checked(json_object_new_object());

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		struct json_object *array;

		if (only >= 0 && only != kind)
			continue;
		array = json_checked(json_object_new_array());
		for (size_t i = 0; i < now->count; i++) {
			if (now->list[i].kind == (enum object_kind)kind)
				json_append(array, object_json(now, before, &now->list[i]));
		}
		json_put(json, object_kind_names((enum object_kind)kind), array);
	}
	json_put_number(json, "hidden_processes", now->hidden);
	json_print(json, options);
}

static void print(const struct objects *now, const struct objects *before, int only,
		  const struct options *options)
{
	if (options->json)
		print_json(now, before, only, options);
	else if (only < 0 || only == OBJECT_SESSION)
		print_sessions(now, before);
	else
		print_kind(now, before, (enum object_kind)only);
	fflush(stdout);
}

/* Print once; or repeatedly, with rates since the previous reading. */
static int show(const struct settings *settings, int only, const struct options *options)
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
		if (!again || before.when_ns) {
			print(&now, again ? &before : NULL, only, options);
			shown++;
		}
		objects_free(&before);
		before = now;
		if (!again || (settings->count && shown == settings->count) || ferror(stdout))
			break;
		rates_sleep(settings->interval ? settings->interval : VALUE_SECOND);
	}
	objects_free(&before);
	if (err)
		complain("cannot read the processes in /proc: %s", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}

/* Besides kinds of objects. */
#define PORTS OBJECT_KINDS

/* Returns the first kind whose name begins with @word, or PORTS; -2: there is none. */
static int find_kind(const char *word)
{
	size_t length = strlen(word);

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		if (!strncmp(word, object_kind_names((enum object_kind)kind), length))
			return kind;
	}
	return strncmp(word, "ports", length) ? -2 : PORTS;
}

int cmd_stat(int argc, char **argv, struct options *options)
{
	struct settings settings = { 0 };
	int first = options_parse_own(argc, argv, options, own_options, set, &settings);
	int only = -1;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && is_help(argv[first]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first < argc)
		only = find_kind(argv[first++]);
	if (only == -2)
		return usage_error("'%s' is not a kind of object; see 'krdma stat help'",
				   argv[first - 1]);
	if (first < argc)
		return usage_error("'krdma stat' takes no further argument '%s'", argv[first]);
	if (require_module())
		return EXIT_FAILED;
	if (only == PORTS)
		return stat_ports(settings.interval, settings.count, options);
	return show(&settings, only, options);
}
