/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Progress of a transfer on standard error: on a terminal one line that is overwritten, elsewhere a
 * new line each second.
 */
#ifndef KRDMA_CLI_PROGRESS_H
#define KRDMA_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_when {
	/* Only if standard error is a terminal. */
	PROGRESS_TERMINAL,
	PROGRESS_NEVER,
	PROGRESS_ALWAYS,
};

struct progress {
	bool on;
	bool terminal;
	/* Name of the file in transfer, printable. */
	char name[256];
	/* Times of the begin, the last output and the last measurement, in ns. */
	uint64_t begin;
	uint64_t shown;
	uint64_t measured;
	/* Bytes done at the last measurement. */
	uint64_t measured_done;
	/* Bytes per second, smoothed; 0 if not known yet. */
	double rate;
	bool any;
};

void progress_begin(struct progress *progress, enum progress_when when, const char *name);
/* Show that @done of @length bytes are done. */
void progress_show(struct progress *progress, uint64_t done, uint64_t length);
/* Show the last line, with the total time.  Bytes before @from were done before the start. */
void progress_end(struct progress *progress, uint64_t from, uint64_t done, uint64_t length);

/* "1.5 MiB", "12 B". */
#define PROGRESS_BYTES_TEXT	24
const char *progress_bytes(char text[PROGRESS_BYTES_TEXT], double bytes);

uint64_t progress_now(void);

#endif /* KRDMA_CLI_PROGRESS_H */
