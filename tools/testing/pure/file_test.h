/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of libkrdma's files without a connection: declarations that the test's files share.
 */
#ifndef KRDMA_PURE_FILE_TEST_H
#define KRDMA_PURE_FILE_TEST_H

#include <dirent.h>
#include <sys/vfs.h>

#include "file_internal.h"

/* The linker replaces calls of a function by calls of __wrap_; __real_ is the function itself. */
int __real_fsync(int fd);
int __real_close(int fd);
int __real_renameat(int from, const char *name, int to, const char *other);
int __real_openat64(int folder, const char *name, int flags, ...);
int __real_fallocate64(int fd, int mode, off_t offset, off_t length);
int __real_ftruncate64(int fd, off_t length);
int __real_posix_fadvise64(int fd, off_t offset, off_t length, int advice);
struct dirent *__real_readdir64(DIR *entries);
int __real_fstatfs64(int fd, struct statfs *filesystem);
int __wrap_fsync(int fd);
int __wrap_close(int fd);
int __wrap_renameat(int from, const char *name, int to, const char *other);
int __wrap_openat64(int folder, const char *name, int flags, mode_t mode);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length);
int __wrap_ftruncate64(int fd, off_t length);
int __wrap_posix_fadvise64(int fd, off_t offset, off_t length, int advice);
struct dirent *__wrap_readdir64(DIR *entries);
int __wrap_fstatfs64(int fd, struct statfs *filesystem);

/* The folder in which the next openat() of its content fails, and how. */
extern const char *fail_open;
extern int fail_open_error;
/* readdir() fails when it has returned so many entries; 0: it does not. */
extern unsigned int fail_readdir;
/* Called once by the next fstatfs(), as if another program ran meanwhile. */
extern void (*meanwhile)(void);

/* A path in the folder of the tests.  One more call leaves the text valid, a second does not. */
char *path_of(const char *name);
void make_file(const char *name, const char *text);

/* file_others.c: checksums, peers that a server admits, files that are read. */
void test_others(void (*tell)(bool holds, const char *name));

#endif
