// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma top: show the busiest connections, updated repeatedly.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli.h"
#include "objects.h"
#include "peer_stop.h"
#include "rates.h"
#include "value.h"

static const char usage[] =
	"Usage: krdma top [OPTION]...\n"
	"\n"
	"Shows the busiest connections, and the totals of all, updated every two seconds.\n"
	"Keys: t s r p c n a e sort by total, sends, receives, pid, command, connection,\n"
	"state, peer; / filters, Escape removes the filter; q ends it.\n"
	"\n"
	"  -i, --interval TIME     between two updates, at least 0.1 (2 seconds)\n"
	"  -c, --count COUNT       end after COUNT updates\n"
	"  -b, --pipe              one screen after another, for files and pipes\n"
	"      --sort KEY          by total (the default), sends, receives, pid, command,\n"
	"                          conn, state or peer\n"
	"      --filter TEXT       only connections with TEXT in their command, state,\n"
	"                          peer or process number\n"
	"  -h, --help              this help\n"
	"\n"
	"Manual: krdma-stat(8)\n";

#define ESCAPE "\033["
/* Move to the upper left corner; clear the rest of a line; clear the rest of the screen. */
#define HOME ESCAPE "H"
#define CLEAR_LINE ESCAPE "K"
#define CLEAR_REST ESCAPE "J"
#define OTHER_SCREEN ESCAPE "?1049h"
#define FORMER_SCREEN ESCAPE "?1049l"

#define LINE_SIZE 300
#define FILTER_MAX 32
#define ESCAPE_KEY 27

/* What the rows are sorted by, with the key that selects it. */
enum sorting {
	SORT_TOTAL,
	SORT_SENDS,
	SORT_RECEIVES,
	SORT_PID,
	SORT_COMMAND,
	SORT_CONN,
	SORT_STATE,
	SORT_PEER,
	SORTINGS,
};

static const struct {
	const char *name;
	char key;
} sortings[SORTINGS] = {
	[SORT_TOTAL] = { "total", 't' },
	[SORT_SENDS] = { "sends", 's' },
	[SORT_RECEIVES] = { "receives", 'r' },
	[SORT_PID] = { "pid", 'p' },
	[SORT_COMMAND] = { "command", 'c' },
	[SORT_CONN] = { "conn", 'n' },
	[SORT_STATE] = { "state", 'a' },
	[SORT_PEER] = { "peer", 'e' },
};

struct settings {
	uint64_t interval;
	uint64_t count;
	bool piped;
};

/**
 * struct view - which connections are shown, and in which order; keys change it
 * @sorting: the order
 * @filter: text that a shown connection has; empty: all are shown
 * @typing: keys are letters of @filter
 */
static struct view {
	enum sorting sorting;
	char filter[FILTER_MAX];
	bool typing;
} view;

enum {
	OPTION_SORT = OWN_OPTION,
	OPTION_FILTER,
};

static const struct own_option own_options[] = {
	{ "interval", 'i', true },
	{ "count", 'c', true },
	{ "pipe", 'b', false },
	{ "sort", OPTION_SORT, true },
	{ "filter", OPTION_FILTER, true },
	{ NULL, 0, false },
};

static int set_sorting(const char *word)
{
	for (int i = 0; i < SORTINGS; i++) {
		if (!strcmp(word, sortings[i].name)) {
			view.sorting = (enum sorting)i;
			return 0;
		}
	}
	return usage_error("--sort knows no '%s'; 'krdma top help' lists what there is", word);
}

static int set_filter(const char *text)
{
	if (strlen(text) >= FILTER_MAX)
		return usage_error("--filter wants at most %d letters", FILTER_MAX - 1);
	memcpy(view.filter, text, strlen(text) + 1);
	return 0;
}

static int set(int key, const char *value, void *to)
{
	struct settings *settings = to;

	switch (key) {
	case 'b':
		settings->piped = true;
		return 0;
	case OPTION_SORT:
		return set_sorting(value);
	case OPTION_FILTER:
		return set_filter(value);
	case 'i':
		return rates_interval(value, &settings->interval);
	default:
		return rates_count(value, &settings->count);
	}
}

/*
 * The terminal, whose settings are restored at the end
 */

static struct termios former;

static bool terminal_begin(void)
{
	struct termios now;

	stop_catch();
	/* Read single keys, without echo. */
	if (tcgetattr(STDIN_FILENO, &former))
		return false;
	now = former;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &now);
	fputs(OTHER_SCREEN, stdout);
	return true;
}

static void terminal_end(void)
{
	fputs(FORMER_SCREEN, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &former);
}

static void terminal_size(unsigned int *lines, unsigned int *columns)
{
	struct winsize size;

	*lines = 24;
	*columns = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
		*lines = size.ws_row;
		*columns = size.ws_col;
	}
}

/*
 * The screen
 */

struct row {
	const struct object *object;
	struct rates rates;
};

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

/* Rates descend, and all others ascend; equal ones are in the order of their numbers. */
static int compare(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	int order = 0;

	switch (view.sorting) {
	case SORT_SENDS:
		order = compare_numbers(b->rates.sends, a->rates.sends);
		break;
	case SORT_RECEIVES:
		order = compare_numbers(b->rates.receives, a->rates.receives);
		break;
	case SORT_PID:
		order = compare_numbers(a->object->pid, b->object->pid);
		break;
	case SORT_COMMAND:
		order = strcmp(a->object->command, b->object->command);
		break;
	case SORT_STATE:
		order = strcmp(a->object->state, b->object->state);
		break;
	case SORT_PEER:
		order = strcmp(a->object->remote, b->object->remote);
		break;
	case SORT_CONN:
		break;
	default:
		order = compare_numbers(b->rates.sends + b->rates.receives,
					a->rates.sends + a->rates.receives);
		break;
	}
	return order ? order : (a->object->id > b->object->id) - (a->object->id < b->object->id);
}

static bool is_shown(const struct object *object)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", object->pid);
	return strstr(object->command, view.filter) || strstr(object->state, view.filter) ||
	       strstr(object->remote, view.filter) || !strcmp(pid, view.filter);
}

/* Print a line, cut at the width of the screen. */
static void put_line(const char *text, unsigned int columns, bool piped)
{
	char cut[LINE_SIZE];

	if (piped) {
		puts(text);
		return;
	}
	printable(cut, columns < sizeof(cut) ? columns + 1 : sizeof(cut), text, strlen(text));
	printf("%s" CLEAR_LINE "\n", cut);
}

/* The line with the order, the filter and the hidden processes, which may be empty. */
static void put_view(unsigned int hidden, unsigned int columns, bool piped)
{
	char line[256] = "", more[96] = "";

	if (hidden)
		snprintf(more, sizeof(more), "%u processes of other users are not shown", hidden);
	if (view.typing)
		snprintf(line, sizeof(line), "filter: %s_", view.filter);
	else if (view.sorting || *view.filter)
		snprintf(line, sizeof(line), "by %s%s%s%s%s", sortings[view.sorting].name,
			 *view.filter ? ", only with: " : "", view.filter, hidden ? "   " : "",
			 more);
	else
		snprintf(line, sizeof(line), "%s", more);
	put_line(line, columns, piped);
}

static void put_totals(const struct objects *now, const struct rates *sum, unsigned int columns,
		       bool piped)
{
	unsigned int counts[OBJECT_KINDS] = { 0 };
	uint64_t mr = 0, bytes = 0, conns = 0;
	char line[256], size[SIZE_TEXT_MAX];

	for (size_t i = 0; i < now->count; i++) {
		counts[now->list[i].kind]++;
		mr += now->list[i].mr_count;
		bytes += now->list[i].mr_bytes;
		conns += now->list[i].conns;
	}
	conns += counts[OBJECT_CONNECTION];
	snprintf(line, sizeof(line), "krdma: %u sessions, %u listeners, %llu connections, %u rings",
		 counts[OBJECT_SESSION], counts[OBJECT_LISTENER], (unsigned long long)conns,
		 counts[OBJECT_RING]);
	put_line(line, columns, piped);
	snprintf(line, sizeof(line), "memory: %llu regions, %s   sends: %.1f/s   receives: %.1f/s",
		 (unsigned long long)mr, bytes_text(size, bytes), sum->sends, sum->receives);
	put_line(line, columns, piped);
	put_view(now->hidden, columns, piped);
}

static int put_screen(const struct objects *now, const struct objects *before, bool piped)
{
	struct row *rows = calloc(now->count + 1, sizeof(*rows));
	unsigned int lines, columns;
	struct rates sum = { 0 };
	size_t count = 0;
	char line[LINE_SIZE], command[11];

	if (!rows)
		return -ENOMEM;
	terminal_size(&lines, &columns);
	for (size_t i = 0; i < now->count; i++) {
		const struct object *object = &now->list[i];

		if (object->kind != OBJECT_CONNECTION)
			continue;
		rates_add(&sum, now, before, object);
		if (!is_shown(object))
			continue;
		rows[count].object = object;
		rates_add(&rows[count].rates, now, before, object);
		count++;
	}
	qsort(rows, count, sizeof(*rows), compare);

	if (!piped)
		fputs(HOME, stdout);
	put_totals(now, &sum, columns, piped);
	snprintf(line, sizeof(line), "%10s %10s %7s %-10s %7s %-12s %s", "SENDS/s", "RECEIVES/s",
		 "PID", "COMMAND", "CONN", "STATE", "PEER");
	put_line(line, columns, piped);
	for (size_t i = 0; i < count && (piped || i + 5 < lines); i++) {
		const struct object *object = rows[i].object;

		/* Cut between characters. */
		printable(command, sizeof(command), object->command, strlen(object->command));
		snprintf(line, sizeof(line), "%10.1f %10.1f %7d %-10s %7u %-12.12s %s",
			 rows[i].rates.sends, rows[i].rates.receives, object->pid, command,
			 object->id, object->state, object->remote);
		put_line(line, columns, piped);
	}
	fputs(piped ? "\n" : CLEAR_REST, stdout);
	fflush(stdout);
	free(rows);
	return ferror(stdout) ? -EIO : 0;
}

/*
 * Keys
 */

/* A key while a filter is typed. */
static void type_filter(char key)
{
	size_t length = strlen(view.filter);

	switch (key) {
	case ESCAPE_KEY:
		view.filter[0] = '\0';
		view.typing = false;
		break;
	case '\r':
	case '\n':
		view.typing = false;
		break;
	case '\b':
	case 0x7f:
		if (length)
			view.filter[length - 1] = '\0';
		break;
	default:
		/* Only what can be printed as it is. */
		if (key >= ' ' && key <= '~' && length + 1 < FILTER_MAX) {
			view.filter[length] = key;
			view.filter[length + 1] = '\0';
		}
		break;
	}
}

/* Returns true if the key ends the program. */
static bool take_key(char key)
{
	if (view.typing) {
		type_filter(key);
		return false;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return true;
	case '/':
		view.filter[0] = '\0';
		view.typing = true;
		break;
	case ESCAPE_KEY:
		view.filter[0] = '\0';
		break;
	default:
		for (int i = 0; i < SORTINGS; i++)
			if (key == sortings[i].key)
				view.sorting = (enum sorting)i;
		break;
	}
	return false;
}

/*
 * Take keys until @ns have passed, and show the same readings anew after each.  Returns 1 if a key
 * or a signal ends the program, and a negative errno after an error.
 */
static int take_keys(const struct objects *now, const struct objects *before, uint64_t ns)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t until = clock_ns() + ns, at;
	int err = 0;
	char key;

	while (!err && (at = clock_ns()) < until && !stop_wanted()) {
		/* As short as stop_slice(), because a signal may arrive just before poll(). */
		at = (stop_slice(until) - at) / (VALUE_SECOND / 1000);
		if (poll(&keys, 1, (int)at + 1) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1 || take_key(key))
			return 1;
		err = put_screen(now, before, false);
	}
	return stop_wanted() ? 1 : err;
}

static int show(const struct settings *settings)
{
	struct objects before = { 0 }, now;
	uint64_t shown = 0;
	int err;

	do {
		err = objects_read(&now);
		if (err)
			break;
		/* Rates need two readings.  The second follows a tenth of a second later. */
		if (before.when_ns) {
			err = put_screen(&now, &before, settings->piped);
			shown++;
		}
		if (!err && !(settings->count && shown == settings->count)) {
			if (!settings->piped && shown)
				err = take_keys(&now, &before, settings->interval);
			else
				rates_sleep(shown ? settings->interval : VALUE_SECOND / 10);
		} else if (!err) {
			err = 1;
		}
		objects_free(&before);
		before = now;
	} while (!err && !stop_wanted());
	objects_free(&before);
	return err > 0 ? 0 : err;
}

int cmd_top(int argc, char **argv, struct options *options)
{
	struct settings settings = { .interval = 2 * VALUE_SECOND };
	int first = options_parse_own(argc, argv, options, own_options, set, &settings);
	int err;

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && is_help(argv[first]))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first < argc)
		return usage_error("'krdma top' takes no argument '%s'; see 'krdma top help'",
				   argv[first]);
	if (options->json)
		return usage_error("'krdma top' has no JSON; use 'krdma stat -j -i 2'");
	if (require_module())
		return EXIT_FAILED;
	/* Only a terminal can be overwritten. */
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		settings.piped = true;
	if (settings.piped) {
		err = show(&settings);
	} else {
		if (!terminal_begin()) {
			complain("cannot set up the terminal: %s; 'krdma top -b' needs none",
				 strerror(errno));
			return EXIT_FAILED;
		}
		err = show(&settings);
		terminal_end();
	}
	if (err && err != -EIO)
		complain("cannot read the processes in /proc: %s", strerror(-err));
	return err ? EXIT_FAILED : EXIT_OK;
}
