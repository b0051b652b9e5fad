/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: what its files share and programs do not see.
 */
#ifndef KRDMA_INTERNAL_H
#define KRDMA_INTERNAL_H

#include "krdma.h"

/* Everything is hidden but what is marked so and listed in libkrdma.map. */
#define KRDMA_PUBLIC __attribute__((visibility("default")))

/* Never changed between open and close, and so free for any thread to read. */
struct krdma {
	int fd;
};

/*
 * The size that a structure had when its request was first published.  A
 * caller with less is refused before anything is written to its memory; it is
 * a constant because sizeof() grows and these callers remain.
 */
#define KRDMA_INFO_MIN_SIZE		64
#define KRDMA_DEVICE_QUERY_MIN_SIZE	152
#define KRDMA_PORT_QUERY_MIN_SIZE	112

int request_prepare(const struct krdma *session, void *argument, size_t size, size_t min_size);
int request_issue(const struct krdma *session, unsigned long request, void *argument);

#endif /* KRDMA_INTERNAL_H */
