// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: creates and closes contexts.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simple.h"

#define DEFAULT_BUFFER_SIZE	(1024 * 1024)
#define DEFAULT_TIMEOUT_MS	30000
#define DEFAULT_DEPTH		16
#define DEFAULT_MESSAGE_SIZE	4096

#define DEPTH_MAX		UINT16_MAX
/* A message and its header are one work request, and its length has 32 bits. */
#define MESSAGE_SIZE_MAX	(1024u * 1024 * 1024)

#define REMOTE_ACCESS		(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE)

#define NS_PER_S		1000000000ull

/*
 * Helpers for all files
 */

uint64_t simple_deadline(uint32_t ms)
{
	return ms == KRDMA_SIMPLE_FOREVER ? KRDMA_FOREVER : krdma_deadline(ms);
}

int simple_check(const struct krdma_simple *simple, size_t offset, size_t length)
{
	size_t size = simple->options.buffer_size;

	return offset <= size && length <= size - offset ? 0 : -ERANGE;
}

int simple_enter(struct krdma_simple *simple)
{
	int err = 0;

	pthread_mutex_lock(&simple->ch.lock);
	if (simple->up && !simple->ended_here)
		simple->users++;
	else
		err = -ENOTCONN;
	pthread_mutex_unlock(&simple->ch.lock);
	return err;
}

void simple_leave(struct krdma_simple *simple)
{
	pthread_mutex_lock(&simple->ch.lock);
	simple->users--;
	pthread_cond_broadcast(&simple->ch.changed);
	pthread_mutex_unlock(&simple->ch.lock);
}

/*
 * Options
 */

static int check_options(struct krdma_simple_options *options)
{
	if (options->cq_notify > KRDMA_SIMPLE_WAIT_POLL)
		return -EINVAL;
	if (!options->cq_notify)
		options->cq_notify = KRDMA_SIMPLE_WAIT_EVENT;
	if (options->access & ~(REMOTE_ACCESS | KRDMA_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (options->buffer && !options->buffer_size)
		return -EINVAL;
	if (options->depth > DEPTH_MAX || options->message_size > MESSAGE_SIZE_MAX)
		return -EINVAL;
	if (!options->buffer_size)
		options->buffer_size = DEFAULT_BUFFER_SIZE;
	/* A message longer than the buffer could never be taken, nor any message after it. */
	if (options->message_size > options->buffer_size)
		return -EINVAL;
	if (!options->access)
		options->access = REMOTE_ACCESS;
	options->access |= KRDMA_ACCESS_LOCAL_WRITE;
	if (!options->timeout_ms)
		options->timeout_ms = DEFAULT_TIMEOUT_MS;
	if (!options->depth)
		options->depth = DEFAULT_DEPTH;
	if (!options->message_size)
		options->message_size = options->buffer_size < DEFAULT_MESSAGE_SIZE ?
					(uint32_t)options->buffer_size : DEFAULT_MESSAGE_SIZE;
	return 0;
}

/*
 * Allocated before the device is known, so that a server can fill its buffer before the first
 * client connects.
 */
static int make_buffer(struct krdma_simple *simple)
{
	void *buffer;

	if (simple->options.buffer)
		return 0;
	buffer = mmap(NULL, simple->options.buffer_size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buffer == MAP_FAILED)
		return -errno;
	simple->options.buffer = buffer;
	simple->made = true;
	return 0;
}

/*
 * Creating
 */

/* Creates a context, which krdma_simple_close() can release in any state. */
static int make(const struct krdma_simple_options *options, struct krdma_simple **simple)
{
	struct krdma_simple *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->maker = getpid();
	new->poll_fd = -1;
	new->ready_fd = -1;
	err = request_options(&new->options, sizeof(new->options), options);
	if (!err)
		err = check_options(&new->options);
	if (!err)
		err = channel_init(&new->ch);
	if (err) {
		free(new);
		return err;
	}
	new->ch.polled = new->options.cq_notify == KRDMA_SIMPLE_WAIT_POLL;
	new->ch.arrived = simple_arrived;
	new->ch.is_there = simple_is_there;
	err = make_buffer(new);
	if (!err)
		err = simple_lists_create(new);
	if (!err)
		err = krdma_open(&new->ch.session);
	if (err)
		krdma_simple_close(new);
	else
		*simple = new;
	return err;
}

static int listener_port(struct krdma_listener *listener, uint16_t *port)
{
	struct sockaddr_storage address;
	int err = krdma_listener_address(listener, &address);

	if (err)
		return err;
	/* The port has the same offset in both address families. */
	*port = ntohs(((struct sockaddr_in *)&address)->sin_port);
	return 0;
}

KRDMA_PUBLIC int krdma_simple_server(const char *where, uint16_t *port,
				     const struct krdma_simple_options *options,
				     struct krdma_simple **simple)
{
	struct krdma_simple *new;
	int err;

	if (!port || !simple || (where && !*where))
		return -EINVAL;
	err = make(options, &new);
	if (err)
		return err;
	err = address_listen(new->ch.session, where, *port, &new->listener);
	if (!err)
		err = listener_port(new->listener, port);
	if (err)
		krdma_simple_close(new);
	else
		*simple = new;
	return err;
}

KRDMA_PUBLIC int krdma_simple_client(const char *host, uint16_t port,
				     const struct krdma_simple_options *options,
				     struct krdma_simple **simple)
{
	struct krdma_simple *new;
	int err;

	if (!host || !*host || !port || !simple)
		return -EINVAL;
	err = make(options, &new);
	if (err)
		return err;
	err = address_resolve(host, port, false, new->addresses, &new->address_count);
	if (!err)
		err = simple_link_resolve(new);
	if (err)
		krdma_simple_close(new);
	else
		*simple = new;
	return err;
}

/*
 * Connecting
 */

static int read_hello(struct krdma_conn *conn, struct simple_hello *hello)
{
	unsigned char data[256];
	size_t length = sizeof(data);
	int err;

	err = krdma_conn_private_data(conn, data, &length);
	if (err)
		return err;
	return simple_hello_read(data, length < sizeof(data) ? length : sizeof(data), hello);
}

/* Accepts a client if it uses this layer. -EAGAIN: the client was skipped. */
static int let_in(struct krdma_simple *simple, struct krdma_conn *conn, uint64_t deadline)
{
	unsigned char answer[SIMPLE_HELLO_SIZE];
	struct simple_hello peer;
	int err;

	if (read_hello(conn, &peer)) {
		/* Ignore errors: the client may have left, and closing rejects it too. */
		krdma_conn_reject(conn, NULL, 0);
		krdma_conn_close(conn);
		return -EAGAIN;
	}
	err = simple_link_create_qp(simple, conn);
	if (!err)
		err = simple_link_hello(simple, answer);
	/*
	 * The client has disconnected, or the device of its connection was removed. Skip it,
	 * because other clients may be waiting. If the listener's device was removed, the next
	 * call of krdma_listener_next() reports that.
	 */
	if (err)
		return err == -ENOTCONN || err == -ENODEV ? -EAGAIN : err;
	err = krdma_conn_accept(conn, NULL, answer, sizeof(answer));
	if (!err)
		err = channel_wait(conn, deadline);
	return err ? -EAGAIN : simple_link_up(simple, &peer, deadline);
}

static bool is_past(uint64_t deadline)
{
	return deadline != KRDMA_FOREVER && krdma_deadline(0) >= deadline;
}

KRDMA_PUBLIC int krdma_simple_wait_for_client(struct krdma_simple *simple)
{
	struct krdma_conn *conn;
	uint64_t deadline;
	int err;

	if (!simple || !simple->listener)
		return -EINVAL;
	err = simple_link_check_gone(simple);
	if (err)
		return err;
	simple_link_end(simple);
	deadline = simple_deadline_of(simple);
	do {
		err = krdma_listener_next(simple->listener, deadline, &conn);
		if (err)
			return err;
		err = let_in(simple, conn, deadline);
		if (err)
			simple_link_end(simple);
		if (err == -EAGAIN && is_past(deadline))
			err = -ETIMEDOUT;
	} while (err == -EAGAIN);
	return err;
}

/* Connects to the address that was resolved last. */
static int ask(struct krdma_simple *simple, uint64_t deadline)
{
	unsigned char hello[SIMPLE_HELLO_SIZE];
	struct simple_hello peer;
	int err;

	err = simple_link_hello(simple, hello);
	if (!err)
		err = krdma_conn_connect(simple->ch.conn, NULL, hello, sizeof(hello));
	if (!err)
		err = channel_wait(simple->ch.conn, deadline);
	if (!err)
		err = read_hello(simple->ch.conn, &peer);
	return err ? err : simple_link_up(simple, &peer, deadline);
}

KRDMA_PUBLIC int krdma_simple_connect(struct krdma_simple *simple)
{
	uint64_t deadline;
	int err;

	if (!simple || !simple->address_count)
		return -EINVAL;
	err = simple_link_check_gone(simple);
	if (err)
		return err;
	deadline = simple_deadline_of(simple);
	/* Use the route resolved by krdma_simple_client(), unless it was used before. */
	if (simple->up || !simple->ch.conn) {
		simple_link_end(simple);
		simple->address = 0;
		err = simple_link_resolve(simple);
	}
	while (!err) {
		err = ask(simple, deadline);
		if (!err)
			break;
		simple_link_end(simple);
		if (err != -ECONNREFUSED && err != -EHOSTUNREACH && err != -ETIMEDOUT)
			break;
		if (++simple->address == simple->address_count || is_past(deadline))
			break;
		/*
		 * Try the next address of the name. If none has a route, the last refusal is
		 * the error.
		 */
		if (!simple_link_resolve(simple))
			err = 0;
	}
	return err;
}

/*
 * Closing
 */

KRDMA_PUBLIC int krdma_simple_disconnect(struct krdma_simple *simple)
{
	if (!simple)
		return -EINVAL;
	if (simple_enter(simple))
		return 0;
	pthread_mutex_lock(&simple->ch.lock);
	simple->ended_here = true;
	if (!simple->ch.failed)
		simple->ch.failed = -ENOTCONN;
	simple_lists_clear(simple);
	simple_poll_unlink(simple);
	pthread_mutex_unlock(&simple->ch.lock);
	simple_link_disconnect(simple);
	simple_leave(simple);
	return 0;
}

KRDMA_PUBLIC int krdma_simple_close(struct krdma_simple *simple)
{
	if (!simple)
		return 0;
	/*
	 * A child of fork() closes its descriptors without ending the connection, and does not
	 * take the lock, which another thread of the parent may have held.
	 */
	if (object_is_own(simple->maker))
		simple_link_end(simple);
	else
		simple_link_release(simple);
	simple_poll_close(simple);
	krdma_listener_close(simple->listener);
	mr_release(simple->mr);
	mr_release(simple->table);
	if (simple->made)
		munmap(simple->options.buffer, simple->options.buffer_size);
	krdma_close(simple->ch.session);
	simple_lists_destroy(simple);
	/* In a child's copy, threads that do not exist may be registered as waiting. */
	if (object_is_own(simple->maker))
		channel_destroy(&simple->ch);
	free(simple);
	return 0;
}
