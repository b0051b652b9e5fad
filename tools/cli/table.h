/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Text in columns that are as wide as what is in them.
 */
#ifndef KRDMA_CLI_TABLE_H
#define KRDMA_CLI_TABLE_H

#include <stddef.h>

#include "cli.h"

/**
 * struct table - a table; begins with zeroes but for @columns
 * @columns: a character for each column: 'l' or 'r', the side at which its text is
 * @cells: the text, line by line, the heads first
 * @count: number of @cells
 */
struct table {
	const char *columns;
	char **cells;
	size_t count;
};

/* Adds a cell, to the right of the one before; or at the beginning of the next line. */
ATTRIBUTE(format(printf, 2, 3)) void table_put(struct table *table, const char *format, ...);

/* Adds a cell for each of the words between blanks. */
void table_put_words(struct table *table, const char *words);

/* Prints the table, and empties it. */
void table_print(struct table *table);

#endif /* KRDMA_CLI_TABLE_H */
