// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Ioctls and read() records of the module. Every structure of an ioctl starts with its size, and
 * fields that the module does not fill in read as zero.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define NS_PER_MS	1000000ull
#define NS_PER_S	1000000000ull

/*
 * Callers must pass at least the first published version of each structure, up to the end of
 * the last field that it had.
 */
#define FIRST(type, last, bytes, size) \
	static_assert(offsetof(struct type, last) + (bytes) == (size), \
		      "what callers may not fall below has changed")

FIRST(krdma_info_args, module_version, 32, KRDMA_INFO_MIN_SIZE);
FIRST(krdma_device_query_args, max_fast_reg_pages, 4, KRDMA_DEVICE_QUERY_MIN_SIZE);
FIRST(krdma_port_query_args, netdev_name, 64, KRDMA_PORT_QUERY_MIN_SIZE);
FIRST(krdma_conn_query_args, remote, 128, KRDMA_CONN_QUERY_MIN_SIZE);
FIRST(krdma_listener_query_args, address, 128, KRDMA_LISTENER_QUERY_MIN_SIZE);
FIRST(krdma_ring_query_args, vector, 4, KRDMA_RING_QUERY_MIN_SIZE);
FIRST(krdma_srq_query_args, max_sge, 4, KRDMA_SRQ_QUERY_MIN_SIZE);
FIRST(krdma_event_record, reason, 4, KRDMA_RECORD_MIN_SIZE);
FIRST(krdma_device_record, port, 4, KRDMA_RECORD_MIN_SIZE);

/*
 * A module returns as many whole records as fit. Of a program that was built with longer ones, the
 * buffer may hold several of those that there are now, and only the first would reach it. So no
 * more is read than one record that this library knows.
 */
#define RECORD_SIZE	sizeof(struct krdma_event_record)

static_assert(sizeof(struct krdma_device_record) == RECORD_SIZE &&
	      RECORD_SIZE < 2 * KRDMA_RECORD_MIN_SIZE,
	      "a read returns two records of an older module");

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

KRDMA_PUBLIC uint64_t krdma_deadline(unsigned int ms)
{
	return now() + ms * NS_PER_MS;
}

bool deadline_past(uint64_t deadline)
{
	return deadline <= now();
}

int request_wait(int fd, unsigned long request, void *argument)
{
	/* musl declares the second parameter as int, glibc as unsigned long. */
	return ioctl(fd, (int)request, argument) < 0 ? -errno : 0;
}

int request_issue(int fd, unsigned long request, void *argument)
{
	int err;

	do {
		err = request_wait(fd, request, argument);
	} while (err == -EINTR);
	return err;
}

int request_await_any(struct pollfd *fds, size_t count, uint64_t deadline)
{
	struct timespec left, *timeout = NULL;
	uint64_t time;
	int ready;

	if (deadline != KRDMA_FOREVER) {
		time = now();
		time = deadline > time ? deadline - time : 0;
		left.tv_sec = (time_t)(time / NS_PER_S);
		left.tv_nsec = (long)(time % NS_PER_S);
		timeout = &left;
	}
	ready = ppoll(fds, count, timeout, NULL);
	if (ready < 0)
		return -errno;
	if (ready)
		return 0;
	return deadline ? -ETIMEDOUT : -EAGAIN;
}

int request_await(int fd, short events, uint64_t deadline)
{
	struct pollfd poll = { .fd = fd, .events = events };

	return request_await_any(&poll, 1, deadline);
}

/*
 * The descriptor may be blocking. Another thread can take the record that poll() reported, and
 * a plain read would then sleep past the deadline. preadv2() with RWF_NOWAIT avoids this.
 */
int request_read(int fd, uint64_t deadline, void *record, size_t size)
{
	for (;;) {
		struct iovec room = {
			.iov_base = record, .iov_len = size < RECORD_SIZE ? size : RECORD_SIZE,
		};
		ssize_t got;
		int err;

		err = request_await(fd, POLLIN, deadline);
		if (err)
			return err;
		got = preadv2(fd, &room, 1, -1, RWF_NOWAIT);
		if (!got)
			return -ENODATA;
		if (got > 0) {
			/* An older module has a shorter record, and so may this library. */
			memset((char *)record + got, 0, size - got);
			return 0;
		}
		if (errno != EAGAIN)
			return -errno;
		/* Another thread took the record: wait for the next one. */
	}
}

int object_made(int fd, int err)
{
	if (err)
		close(fd);
	return err;
}

bool object_is_own(pid_t maker)
{
	return maker == getpid();
}

int object_close(void *object, int fd)
{
	close(fd);
	free(object);
	return 0;
}
