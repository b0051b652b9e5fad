/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma holds: its own count of its objects, by kind.  The harness looks after each
 * test whether all that the test has made is gone.
 */
#ifndef KRDMA_E2E_OBJECTS_H
#define KRDMA_E2E_OBJECTS_H

#include <sys/types.h>

#define OBJECTS_PATH	"/sys/kernel/debug/krdma/objects"
#define OBJECT_KINDS	64

struct object_count {
	char kind[32];
	long count;
};

struct objects {
	struct object_count kinds[OBJECT_KINDS];
	unsigned int kind_count;
};

/* 0 or -errno; -ENOENT: krdma is not loaded. */
int objects_read(struct objects *objects);

/* Waits until there are no more than @most of a kind; -ETIMEDOUT, or why they cannot be counted. */
int objects_await_kind(const char *kind, long most, unsigned int ms);
long objects_count(const struct objects *objects, const char *kind);

/*
 * Waits until no kind has more than @before: 0; or, after @ms, the number of kinds that
 * have, each of which has been named on the standard output.
 */
int objects_await(const struct objects *before, unsigned int ms);

/*
 * For the harness, which waits with it for the process of a test: waitpid(), and a test that
 * has passed has failed if krdma has more objects than before it, and does not free them.
 */
pid_t objects_waitpid(pid_t pid, int *status, int options);

#endif
