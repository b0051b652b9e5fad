// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Progress of a transfer.
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
/* The rate is measured over this period; a new value has this weight in the average. */
#define MEASURE_PERIOD		(SECOND / 2)
#define NEW_SHARE		0.3

#define LINE_MAX_TEXT		256
#define WIDTH_DEFAULT		80
/* Columns for percentage, bytes, rate and time. */
#define FIGURES_WIDTH		54
/* Columns of the bar between name and figures; narrower than BAR_LEAST it is left out. */
#define BAR_LEAST		8
#define BAR_MOST		40

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

/* "0:07", "1:02:03"; "--:--" from 100 hours on. */
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

/* A file may have grown since its length was taken, or its server may have lied. */
static unsigned int percent(uint64_t done, uint64_t length)
{
	return done < length ? (unsigned int)((double)done * 100 / (double)length) : 100;
}

/* "[####----]" of @size columns; empty if @size is less than BAR_LEAST. */
static const char *bar_text(char text[BAR_MOST + 1], int size, unsigned int share)
{
	int filled;

	text[0] = 0;
	if (size < BAR_LEAST)
		return text;
	if (size > BAR_MOST)
		size = BAR_MOST;
	filled = (int)((unsigned int)(size - 2) * share / 100);
	memset(text, '-', (size_t)size);
	memset(text + 1, '#', (size_t)filled);
	text[0] = '[';
	text[size - 1] = ']';
	text[size] = 0;
	return text;
}

/* On a narrow terminal first the bar and then the name shrink; one column is for the cursor. */
static void print_line(const struct progress *progress, unsigned int share, const char *figures)
{
	unsigned int room = progress->terminal ? width() - 1 : LINE_MAX_TEXT;
	int name_width = (int)strlen(progress->name), space = 0;
	char line[LINE_MAX_TEXT + 1], bar[BAR_MOST + 1] = "";

	if (room > LINE_MAX_TEXT)
		room = LINE_MAX_TEXT;
	if (progress->terminal) {
		space = room > FIGURES_WIDTH ? (int)(room - FIGURES_WIDTH) : 0;
		if (name_width > space)
			name_width = space;
		bar_text(bar, space - name_width - 1, share);
		space -= name_width;
	}
	snprintf(line, sizeof(line), "%-.*s%*s %3u%% %s", name_width, progress->name, space, bar,
		 share, figures);
	if (progress->terminal)
		fprintf(stderr, "\r%-*.*s", (int)room, (int)room, line);
	else
		fprintf(stderr, "%s\n", line);
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
		time_text(left, sizeof(left),
			  done < length ? (double)(length - done) / progress->rate : 0);
	snprintf(figures, sizeof(figures), "%9s of %9s %9s/s %8s left",
		 progress_bytes(bytes, (double)done), progress_bytes(whole, (double)length),
		 progress_bytes(rate, progress->rate), left);
	print_line(progress, percent(done, length), figures);
}

void progress_end(struct progress *progress, uint64_t from, uint64_t done, uint64_t length)
{
	char bytes[PROGRESS_BYTES_TEXT], whole[PROGRESS_BYTES_TEXT], rate[PROGRESS_BYTES_TEXT];
	char figures[LINE_MAX_TEXT], took[16];
	double seconds = (double)(progress_now() - progress->begin) / SECOND;

	if (!progress->on)
		return;
	/* The first @from bytes were not transferred this time. */
	progress_bytes(rate, seconds > 0 ? (double)(done - from) / seconds : 0);
	snprintf(figures, sizeof(figures), "%9s of %9s %9s/s %8s     ",
		 progress_bytes(bytes, (double)done), progress_bytes(whole, (double)length), rate,
		 time_text(took, sizeof(took), seconds));
	print_line(progress, percent(done, length), figures);
	if (progress->terminal)
		fputc('\n', stderr);
}
