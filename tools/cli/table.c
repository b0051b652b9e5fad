// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Text in columns that are as wide as what is in them.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

/* Cells are added this many at a time. */
#define CELLS 64

void table_put(struct table *table, const char *format, ...)
{
	va_list arguments;
	int length;

	if (table->count % CELLS == 0) {
		size_t size = (table->count + CELLS) * sizeof(*table->cells);

		table->cells = realloc(table->cells, size);
		if (!table->cells)
			output_out_of_memory();
	}
	va_start(arguments, format);
	length = vasprintf(&table->cells[table->count], format, arguments);
	va_end(arguments);
	if (length < 0)
		output_out_of_memory();
	table->count++;
}

void table_put_words(struct table *table, const char *words)
{
	while (*words) {
		size_t length = strcspn(words, " ");

		table_put(table, "%.*s", (int)length, words);
		words += length + strspn(words + length, " ");
	}
}

static int widest(const struct table *table, size_t column, size_t columns)
{
	size_t width = 0;

	for (size_t i = column; i < table->count; i += columns) {
		size_t length = strlen(table->cells[i]);

		if (length > width)
			width = length;
	}
	return (int)width;
}

void table_print(struct table *table)
{
	size_t columns = strlen(table->columns);
	int *widths = calloc(columns, sizeof(*widths));

	if (!widths)
		output_out_of_memory();
	for (size_t i = 0; i < columns; i++)
		widths[i] = widest(table, i, columns);
	for (size_t i = 0; i < table->count; i++) {
		size_t column = i % columns;
		bool last = column == columns - 1;

		if (table->columns[column] == 'r')
			printf("%*s", widths[column], table->cells[i]);
		else
			printf("%-*s", last ? 0 : widths[column], table->cells[i]);
		putchar(last ? '\n' : ' ');
		free(table->cells[i]);
	}
	free(widths);
	free(table->cells);
	table->cells = NULL;
	table->count = 0;
}
