/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this process uses, to notice leaks.
 */
#ifndef KRDMA_E2E_LIB_USAGE_H
#define KRDMA_E2E_LIB_USAGE_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct usage - memory and descriptors of this process
 * @bytes: allocated by malloc(); 0 under a sanitizer, which has a malloc() of its own
 * @descriptors: open descriptors
 */
struct usage {
	size_t bytes;
	unsigned int descriptors;
};

struct usage usage_now(void);

/* Bytes that a program may use more after many peers: what the library allocates once and keeps. */
#define USAGE_SPARE	32768

/*
 * The same when there are no more descriptors than before, and no more memory than that and
 * USAGE_SPARE, or after PATIENCE_MS: a server ends what a client used some time after the client
 * has its file, or has gone.
 */
struct usage usage_after(const struct usage *before);

/* Exists only if the program is built with the address sanitizer. */
#pragma weak __lsan_do_recoverable_leak_check
int __lsan_do_recoverable_leak_check(void);

/* Whether the address sanitizer, if the program is built with it, finds leaked memory. */
bool usage_leaks(void);

#endif
