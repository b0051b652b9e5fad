/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma's own count of its objects, by kind.  After each test the harness checks that all
 * objects of the test are gone.
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
 * Wait until no kind has more objects than @before.  Returns 0, or after @ms the number of kinds
 * that still have more, after printing their names.
 */
int objects_await(const struct objects *before, unsigned int ms);

/*
 * waitpid() for the harness, which waits with it for the process of a test.  A passed test fails
 * if krdma has more objects than before the test, and does not free them.
 */
pid_t objects_waitpid(pid_t pid, int *status, int options);

#endif
