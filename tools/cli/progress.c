// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * How far something has come.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"

#define SECOND			1000000000ull
#define TERMINAL_PERIOD		(SECOND / 5)
#define LINE_PERIOD		SECOND
/* A rate is measured over so much time; the last one counts for so much. */
#define MEASURE_PERIOD		(SECOND / 2)
#define NEW_SHARE		0.3

#define LINE_MAX_TEXT		256
#define WIDTH_DEFAULT		80
/* What is behind the name. */
#define FIGURES_WIDTH		54

uint64_t progress_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

const char *progress_bytes(char text[PROGRESS_BYTES_TEXT], double bytes)
{
	static const char * const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t unit = 0;

	while (bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, PROGRESS_BYTES_TEXT, unit && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes,
		 units[unit]);
	return text;
}

/* "0:07", "1:02:03"; nothing beyond four days is worth being told. */
static const char *time_text(char *text, size_t size, double seconds)
{
	unsigned int whole;

	if (!(seconds < 100.0 * 3600)) {
		snprintf(text, size, "--:--");
		return text;
	}
	whole = (unsigned int)(seconds + 0.5);
	if (whole >= 3600)
		snprintf(text, size, "%u:%02u:%02u", whole / 3600, whole / 60 % 60, whole % 60);
	else
		snprintf(text, size, "%u:%02u", whole / 60, whole % 60);
	return text;
}

void progress_begin(struct progress *progress, enum progress_when when, const char *name)
{
	*progress = (struct progress){
		.terminal = isatty(STDERR_FILENO),
		.begin = progress_now(),
	};
	progress->on = when == PROGRESS_ALWAYS ||
		       (when == PROGRESS_TERMINAL && progress->terminal);
	printable(progress->name, sizeof(progress->name), name, sizeof(progress->name) - 1);
}

static void measure(struct progress *progress, uint64_t now, uint64_t done)
{
	double rate;

	if (!progress->any) {
		progress->any = true;
		progress->measured = now;
		progress->measured_done = done;
		return;
	}
	if (now - progress->measured < MEASURE_PERIOD)
		return;
	rate = (double)(done - progress->measured_done) * SECOND /
	       (double)(now - progress->measured);
	if (progress->rate > 0)
		rate = rate * NEW_SHARE + progress->rate * (1 - NEW_SHARE);
	progress->rate = rate;
	progress->measured = now;
	progress->measured_done = done;
}

static unsigned int width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return WIDTH_DEFAULT;
	return size.ws_col;
}

/* The name gives way to the figures, and one column to the cursor. */
static void print_line(const struct progress *progress, const char *figures)
{
	unsigned int room = progress->terminal ? width() - 1 : LINE_MAX_TEXT;
	char line[LINE_MAX_TEXT + 1];
	int name_width;

	if (room > LINE_MAX_TEXT)
		room = LINE_MAX_TEXT;
	name_width = room > FIGURES_WIDTH ? (int)(room - FIGURES_WIDTH) : 0;
	if (!progress->terminal)
		name_width = (int)strlen(progress->name);
	snprintf(line, sizeof(line), "%-*.*s %s", name_width, name_width, progress->name, figures);
	if (progress->terminal)
		fprintf(stderr, "\r%-*.*s", (int)room, (int)room, line);
	else
		fprintf(stderr, "%s\n", line);
}

static unsigned int percent(uint64_t done, uint64_t length)
{
	return length ? (unsigned int)((double)done * 100 / (double)length) : 100;
}

void progress_show(struct progress *progress, uint64_t done, uint64_t length)
{
	char bytes[PROGRESS_BYTES_TEXT], whole[PROGRESS_BYTES_TEXT], rate[PROGRESS_BYTES_TEXT];
	char figures[LINE_MAX_TEXT], left[16] = "--:--";
	uint64_t now = progress_now();

	if (!progress->on)
		return;
	measure(progress, now, done);
	if (now - progress->shown < (progress->terminal ? TERMINAL_PERIOD : LINE_PERIOD))
		return;
	progress->shown = now;
	if (progress->rate > 0)
		time_text(left, sizeof(left), (double)(length - done) / progress->rate);
	snprintf(figures, sizeof(figures), "%3u%% %9s of %9s %9s/s %8s left",
		 percent(done, length), progress_bytes(bytes, (double)done),
		 progress_bytes(whole, (double)length), progress_bytes(rate, progress->rate), left);
	print_line(progress, figures);
}

void progress_end(struct progress *progress, uint64_t from, uint64_t done, uint64_t length)
{
	char bytes[PROGRESS_BYTES_TEXT], whole[PROGRESS_BYTES_TEXT], rate[PROGRESS_BYTES_TEXT];
	char figures[LINE_MAX_TEXT], took[16];
	double seconds = (double)(progress_now() - progress->begin) / SECOND;

	if (!progress->on)
		return;
	/* What was there before was not brought. */
	progress_bytes(rate, seconds > 0 ? (double)(done - from) / seconds : 0);
	snprintf(figures, sizeof(figures), "%3u%% %9s of %9s %9s/s %8s     ",
		 percent(done, length), progress_bytes(bytes, (double)done),
		 progress_bytes(whole, (double)length), rate,
		 time_text(took, sizeof(took), seconds));
	print_line(progress, figures);
	if (progress->terminal)
		fputc('\n', stderr);
}
