/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * How far something has come, on standard error: a line that is written over and over on
 * a terminal, a line each second elsewhere.
 */
#ifndef KRDMA_CLI_PROGRESS_H
#define KRDMA_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_when {
	/* If standard error is a terminal. */
	PROGRESS_TERMINAL,
	PROGRESS_NEVER,
	PROGRESS_ALWAYS,
};

struct progress {
	bool on;
	bool terminal;
	/* What is on its way, printable. */
	char name[256];
	/* When it began, was shown last, and was measured last, in ns. */
	uint64_t begin;
	uint64_t shown;
	uint64_t measured;
	/* How many bytes it was when it was measured. */
	uint64_t measured_done;
	/* Bytes a second, smoothed; 0: not known yet. */
	double rate;
	bool any;
};

void progress_begin(struct progress *progress, enum progress_when when, const char *name);
/* @done of @length bytes. */
void progress_show(struct progress *progress, uint64_t done, uint64_t length);
/* The last line, with what it took altogether: @from was there before, @done is there now. */
void progress_end(struct progress *progress, uint64_t from, uint64_t done, uint64_t length);

/* "1.5 MiB", "12 B". */
#define PROGRESS_BYTES_TEXT	24
const char *progress_bytes(char text[PROGRESS_BYTES_TEXT], double bytes);

uint64_t progress_now(void);

#endif /* KRDMA_CLI_PROGRESS_H */
