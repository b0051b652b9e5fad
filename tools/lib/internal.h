/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma: internal declarations shared by its source files. */
#ifndef KRDMA_INTERNAL_H
#define KRDMA_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "krdma.h"

/* All symbols are hidden except those marked with this and listed in libkrdma.map. */
#define KRDMA_PUBLIC __attribute__((visibility("default")))

/*
 * These fields do not change between open and close, so any thread may read them. The kernel
 * does the locking.
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
 * The size that each structure had in the first published version of its ioctl. A smaller size
 * is refused before anything is written to the caller's memory. The values are constants
 * because sizeof() grows while old callers remain.
 */
#define KRDMA_INFO_MIN_SIZE		64
#define KRDMA_DEVICE_QUERY_MIN_SIZE	152
#define KRDMA_PORT_QUERY_MIN_SIZE	112
#define KRDMA_CONN_QUERY_MIN_SIZE	368
#define KRDMA_LISTENER_QUERY_MIN_SIZE	136
#define KRDMA_RING_QUERY_MIN_SIZE	64
#define KRDMA_SRQ_QUERY_MIN_SIZE	24
#define KRDMA_LIMIT_QUERY_MIN_SIZE	56

/* The size of a read() record in the first published version. */
#define KRDMA_RECORD_MIN_SIZE		16

/*
 * options.c: structures of the caller.
 *
 * prepare: clears the caller's structure and sets its first field, the size.
 *
 * options: copies options from the caller into the library's structure of the same type. Bytes
 * that only the caller's version has must be zero, as with the kernel.
 */
int request_prepare(void *argument, size_t size, size_t min_size);
int request_options(void *options, size_t size, const void *from);

/* Copies an address for the kernel; EAFNOSUPPORT unless the family is supported. */
int request_address(struct __kernel_sockaddr_storage *to, const struct sockaddr *from);

/* Copies a name for the kernel, with zeroes behind it; EINVAL if it is too long. */
int request_name(char to[KRDMA_NAME_MAX], const char *from);

/*
 * request.c: one ioctl.
 *
 * issue: restarts after a signal; for ioctls that do not wait for anything a user might want to
 * interrupt. wait: does not restart.
 */
int request_issue(int fd, unsigned long request, void *argument);
int request_wait(int fd, unsigned long request, void *argument);

bool deadline_past(uint64_t deadline);

/* poll(): 0 when one of the events or a hangup occurs; -EAGAIN, -ETIMEDOUT, -EINTR. */
struct pollfd;
int request_await(int fd, short events, uint64_t deadline);
int request_await_any(struct pollfd *fds, size_t count, uint64_t deadline);

/* Reads one whole record from a descriptor and waits for it. */
int request_read(int fd, uint64_t deadline, void *record, size_t size);

/* Called after the kernel created @fd: if @err is set, closes @fd again. */
int object_made(int fd, int err);
/*
 * Whether this process created the object. A child of fork() inherits the handle, but the
 * mapping of a ring and the memory regions belong to the parent.
 */
bool object_is_own(pid_t maker);
/* Linux releases the descriptor even if close() returns an error. */
int object_close(void *object, int fd);

/* conn.c: makes a connection from a descriptor. After an error the caller still owns it. */
int conn_adopt(int fd, uint32_t id, struct krdma_conn **conn);

/*
 * mr.c: deregisters a memory region that should not be in use. If the kernel still sees work
 * requests in flight, it does so after they have completed.
 */
void mr_release(struct krdma_mr *mr);

/* mr.c: the cache's entry for a memory region that it handed out. */
struct cache_entry;
void mr_set_entry(struct krdma_mr *mr, struct cache_entry *entry);
struct cache_entry *mr_entry(const struct krdma_mr *mr);

#endif /* KRDMA_INTERNAL_H */
