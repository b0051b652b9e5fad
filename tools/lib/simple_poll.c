// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: a descriptor for poll().
 *
 * It is an epoll descriptor to which other descriptors are added: the listener while there is no
 * connection; otherwise the receive ring and the connection; and always an eventfd that is
 * readable while a list contains items, which are no longer in the receive ring.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "simple.h"

static int control(struct krdma_simple *simple, int operation, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	return epoll_ctl(simple->poll_fd, operation, fd, &event) ? -errno : 0;
}

void simple_poll_ready(struct krdma_simple *simple)
{
	bool ready = simple->messages.count || simple->notices.count;
	uint64_t count = 1;
	ssize_t done;

	if (simple->ready_fd < 0 || ready == simple->ready_said)
		return;
	/* Neither call can fail: each value written is read before the next write. */
	done = ready ? write(simple->ready_fd, &count, sizeof(count)) :
		       read(simple->ready_fd, &count, sizeof(count));
	if (done == sizeof(count))
		simple->ready_said = ready;
}

int simple_poll_link(struct krdma_simple *simple)
{
	int err;

	if (simple->poll_fd < 0)
		return 0;
	simple->in_poll = true;
	err = control(simple, EPOLL_CTL_ADD, krdma_ring_fd(simple->ch.recv_ring), EPOLLIN);
	if (!err)
		err = control(simple, EPOLL_CTL_ADD, krdma_conn_fd(simple->ch.conn), EPOLLRDHUP);
	/*
	 * While there is a connection, requests of other clients wait and cause no event.
	 */
	if (!err && simple->listener)
		err = control(simple, EPOLL_CTL_MOD, krdma_listener_fd(simple->listener), 0);
	return err;
}

/*
 * Removes the descriptors explicitly: closing is not enough, because a child of fork() may have
 * copies.
 */
void simple_poll_unlink(struct krdma_simple *simple)
{
	if (!simple->in_poll)
		return;
	simple->in_poll = false;
	control(simple, EPOLL_CTL_DEL, krdma_ring_fd(simple->ch.recv_ring), 0);
	control(simple, EPOLL_CTL_DEL, krdma_conn_fd(simple->ch.conn), 0);
	if (simple->listener)
		control(simple, EPOLL_CTL_MOD, krdma_listener_fd(simple->listener), EPOLLIN);
}

void simple_poll_close(struct krdma_simple *simple)
{
	if (simple->poll_fd >= 0)
		close(simple->poll_fd);
	if (simple->ready_fd >= 0)
		close(simple->ready_fd);
	simple->poll_fd = -1;
	simple->ready_fd = -1;
	simple->ready_said = false;
	simple->in_poll = false;
}

static int open_poll(struct krdma_simple *simple)
{
	int err;

	simple->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (simple->poll_fd < 0)
		return -errno;
	simple->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (simple->ready_fd < 0)
		return -errno;
	err = control(simple, EPOLL_CTL_ADD, simple->ready_fd, EPOLLIN);
	if (!err && simple->listener)
		err = control(simple, EPOLL_CTL_ADD, krdma_listener_fd(simple->listener), EPOLLIN);
	if (!err && simple->up && !simple->ended_here)
		err = simple_poll_link(simple);
	simple_poll_ready(simple);
	return err;
}

KRDMA_PUBLIC int krdma_simple_fd(struct krdma_simple *simple)
{
	int err = 0;
	int fd;

	if (!simple)
		return -EINVAL;
	pthread_mutex_lock(&simple->ch.lock);
	if (simple->poll_fd < 0) {
		err = open_poll(simple);
		if (err)
			simple_poll_close(simple);
	}
	fd = simple->poll_fd;
	pthread_mutex_unlock(&simple->ch.lock);
	return err ? err : fd;
}
