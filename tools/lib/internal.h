/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: what its files share and programs do not see.
 */
#ifndef KRDMA_INTERNAL_H
#define KRDMA_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "krdma.h"

/* Everything is hidden but what is marked so and listed in libkrdma.map. */
#define KRDMA_PUBLIC __attribute__((visibility("default")))

/*
 * These are never changed between open and close, and so free for any thread to
 * read; the kernel has the locks.
 */
struct krdma {
	int fd;
};

struct krdma_listener {
	int fd;
};

struct krdma_conn {
	int fd;
	uint32_t id;
};

struct krdma_srq {
	int fd;
	uint32_t id;
};

/*
 * The size that a structure had when its request was first published.  A
 * caller with less is refused before anything is written to its memory; it is
 * a constant because sizeof() grows and these callers remain.
 */
#define KRDMA_INFO_MIN_SIZE		64
#define KRDMA_DEVICE_QUERY_MIN_SIZE	152
#define KRDMA_PORT_QUERY_MIN_SIZE	112
#define KRDMA_CONN_QUERY_MIN_SIZE	368
#define KRDMA_RING_QUERY_MIN_SIZE	64
#define KRDMA_SRQ_QUERY_MIN_SIZE	24
#define KRDMA_LIMIT_QUERY_MIN_SIZE	56

/* What a caller of an earlier version has for a record of read(). */
#define KRDMA_RECORD_MIN_SIZE		16

/*
 * request.c: one request to the kernel.
 *
 * prepare: clear the caller's structure and enter its size, its first field.
 * issue: repeated when a signal came first; for what waits for nothing that a person
 * would want to interrupt.  wait: not repeated.
 */
int request_prepare(void *argument, size_t size, size_t min_size);
int request_issue(int fd, unsigned long request, void *argument);
int request_wait(int fd, unsigned long request, void *argument);

/*
 * Options that a caller hands in, into the library's own structure of the same kind:
 * what is longer on the caller's side must be zero there, as with the kernel.
 */
int request_options(void *options, size_t size, const void *from);

/* Where the kernel wants an address: EAFNOSUPPORT unless it is of a family it knows. */
int request_address(struct __kernel_sockaddr_storage *to, const struct sockaddr *from);

bool deadline_past(uint64_t deadline);

/* poll(): 0 when there is one of the events, or its end; -EAGAIN, -ETIMEDOUT, -EINTR. */
struct pollfd;
int request_await(int fd, short events, uint64_t deadline);
int request_await_any(struct pollfd *fds, size_t count, uint64_t deadline);

/* One whole record of a descriptor's, waiting for it. */
int request_read(int fd, uint64_t deadline, void *record, size_t size);

/* The kernel has made it; if there was no memory for the rest, it ends again. */
int object_made(int fd, int err);
/*
 * Made by this process?  A child of fork() has the handle, and not the mapping of a ring
 * nor a registration: these are the parent's.
 */
bool object_is_own(pid_t maker);
/* Linux has released the descriptor whatever close() returns. */
int object_close(void *object, int fd);

/* conn.c: a connection for a descriptor, which stays the caller's if it fails. */
int conn_adopt(int fd, uint32_t id, struct krdma_conn **conn);

/* memory.c: the cache's own mark of what it has given out. */
struct cache_entry;
void memory_set_entry(struct krdma_mr *mr, struct cache_entry *entry);
struct cache_entry *memory_entry(const struct krdma_mr *mr);

#endif /* KRDMA_INTERNAL_H */
