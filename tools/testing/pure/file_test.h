/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of libkrdma's files without a connection: what their files share.
 */
#ifndef KRDMA_PURE_FILE_TEST_H
#define KRDMA_PURE_FILE_TEST_H

#include "file_internal.h"

/* The linker's, around calls and in their place. */
int __real_fsync(int fd);
int __real_close(int fd);
int __real_renameat(int from, const char *name, int to, const char *other);
int __wrap_fsync(int fd);
int __wrap_close(int fd);
int __wrap_renameat(int from, const char *name, int to, const char *other);

/* In the folder of the tests; the text is good for one more call. */
char *path_of(const char *name);
void make_file(const char *name, const char *text);

/* file_others.c: checksums, whom a server takes, files that are read. */
void test_others(void (*tell)(bool holds, const char *name));

#endif
