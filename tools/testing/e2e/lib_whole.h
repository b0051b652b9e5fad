/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Content that proves by itself that it is whole: its first 8 bytes are a version, from which the
 * length and all other bytes follow.
 */
#ifndef KRDMA_E2E_LIB_WHOLE_H
#define KRDMA_E2E_LIB_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum length in bytes, and room for the last word. */
#define WHOLE_MAX	24576
#define WHOLE_ROOM	(WHOLE_MAX + 8)

/* Write the content of @version to @data, which has WHOLE_ROOM bytes; returns its length. */
size_t whole_fill(void *data, uint64_t version);
bool whole_is(const void *data, size_t length);

/* Create a file with the content of @version: 0 or -errno. */
int whole_make(const char *folder, const char *name, uint64_t version);
/* Whether the regular file @name has such content; @name is not followed. */
bool whole_file(const char *folder, const char *name);

#endif
