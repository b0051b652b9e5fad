/* SPDX-License-Identifier: GPL-2.0 */
/* The linker replaces calls of a function by calls of __wrap_; __real_ is the function itself. */
#ifndef KRDMA_E2E_LIB_FILE_SLOW_H
#define KRDMA_E2E_LIB_FILE_SLOW_H

#include <sys/types.h>

ssize_t __real_pread64(int fd, void *to, size_t length, off64_t offset);
ssize_t __real_pwrite64(int fd, const void *from, size_t length, off64_t offset);
int __real_ftruncate64(int fd, off64_t length);
ssize_t __wrap_pread64(int fd, void *to, size_t length, off64_t offset);
ssize_t __wrap_pwrite64(int fd, const void *from, size_t length, off64_t offset);
int __wrap_ftruncate64(int fd, off64_t length);

#endif
