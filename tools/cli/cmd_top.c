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
	"q ends it.\n"
	"\n"
	"  -i, --interval SECONDS  between two updates, at least 0.1\n"
	"  -c, --count COUNT       end after COUNT updates\n"
	"  -b, --batch             one screen after another, for files and pipes\n"
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

struct settings {
	uint64_t interval;
	uint64_t count;
	bool batch;
};

static const struct own_option own_options[] = {
	{ "interval", 'i', true },
	{ "count", 'c', true },
	{ "batch", 'b', false },
	{ NULL, 0, false },
};

static int set(int key, const char *value, void *to)
{
	struct settings *settings = to;

	switch (key) {
	case 'b':
		settings->batch = true;
		return 0;
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

/* Wait for @ns, or until a key is pressed.  Returns true if the key ends the program. */
static bool wait_for_key(uint64_t ns)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (poll(&keys, 1, (int)(ns / (VALUE_SECOND / 1000))) <= 0)
		return false;
	return read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q';
}

/*
 * The screen
 */

struct row {
	const struct object *object;
	struct rates rates;
};

static int compare(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	double first = a->rates.sends + a->rates.receives;
	double second = b->rates.sends + b->rates.receives;

	if (first != second)
		return first < second ? 1 : -1;
	return (a->object->id > b->object->id) - (a->object->id < b->object->id);
}

/* Print a line, cut at the width of the screen. */
static void put_line(const char *text, unsigned int columns, bool batch)
{
	if (batch)
		puts(text);
	else
		printf("%.*s" CLEAR_LINE "\n", (int)columns, text);
}

static void put_totals(const struct objects *now, const struct rates *sum, unsigned int columns,
		       bool batch)
{
	unsigned int counts[OBJECT_KINDS] = { 0 };
	uint64_t mr = 0, bytes = 0;
	char line[256], size[SIZE_TEXT_MAX];

	for (size_t i = 0; i < now->count; i++) {
		counts[now->list[i].kind]++;
		mr += now->list[i].mr_count;
		bytes += now->list[i].mr_bytes;
	}
	snprintf(line, sizeof(line), "krdma: %u sessions, %u listeners, %u connections, %u rings",
		 counts[OBJECT_SESSION], counts[OBJECT_LISTENER], counts[OBJECT_CONNECTION],
		 counts[OBJECT_RING]);
	put_line(line, columns, batch);
	snprintf(line, sizeof(line), "memory: %llu regions, %s   sends: %.1f/s   receives: %.1f/s",
		 (unsigned long long)mr, bytes_text(size, bytes), sum->sends, sum->receives);
	put_line(line, columns, batch);
	if (now->hidden)
		snprintf(line, sizeof(line), "%u processes of other users are not shown",
			 now->hidden);
	else
		line[0] = '\0';
	put_line(line, columns, batch);
}

static int put_screen(const struct objects *now, const struct objects *before, bool batch)
{
	struct row *rows = calloc(now->count + 1, sizeof(*rows));
	unsigned int lines, columns;
	struct rates sum = { 0 };
	size_t count = 0;
	char line[300];

	if (!rows)
		return -ENOMEM;
	terminal_size(&lines, &columns);
	for (size_t i = 0; i < now->count; i++) {
		if (now->list[i].kind != OBJECT_CONNECTION)
			continue;
		rows[count].object = &now->list[i];
		rates_add(&rows[count].rates, now, before, rows[count].object);
		rates_add(&sum, now, before, rows[count].object);
		count++;
	}
	qsort(rows, count, sizeof(*rows), compare);

	if (!batch)
		fputs(HOME, stdout);
	put_totals(now, &sum, columns, batch);
	snprintf(line, sizeof(line), "%10s %10s %7s %-10s %7s %-12s %s", "SENDS/s", "RECEIVES/s",
		 "PID", "COMMAND", "CONN", "STATE", "PEER");
	put_line(line, columns, batch);
	for (size_t i = 0; i < count && (batch || i + 5 < lines); i++) {
		const struct object *object = rows[i].object;

		snprintf(line, sizeof(line), "%10.1f %10.1f %7d %-10.10s %7u %-12.12s %s",
			 rows[i].rates.sends, rows[i].rates.receives, object->pid, object->command,
			 object->id, object->state, object->remote);
		put_line(line, columns, batch);
	}
	fputs(batch ? "\n" : CLEAR_REST, stdout);
	fflush(stdout);
	free(rows);
	return ferror(stdout) ? -EIO : 0;
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
			err = put_screen(&now, &before, settings->batch);
			shown++;
		}
		objects_free(&before);
		before = now;
		if (err || (settings->count && shown == settings->count))
			break;
		if (!settings->batch && shown) {
			if (wait_for_key(settings->interval))
				break;
		} else {
			rates_sleep(shown ? settings->interval : VALUE_SECOND / 10);
		}
	} while (!stop_wanted());
	objects_free(&before);
	return err;
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
		settings.batch = true;
	if (settings.batch) {
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
