/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, the simple layer: one context for a server or a client, one buffer on each
 * side, and calls that do one thing and wait until it is done.
 *
 *	server:	krdma_simple_server, krdma_simple_wait_for_client
 *	client:	krdma_simple_client, krdma_simple_connect
 *	both:	krdma_simple_send and krdma_simple_recv: messages
 *		krdma_simple_write and krdma_simple_read: the peer's buffer
 *		krdma_simple_notify_write, krdma_simple_notify_read and
 *		krdma_simple_wait_notice: word of what was done there
 *		krdma_simple_disconnect, krdma_simple_close
 *
 * Both sides use this layer: who asks without it is refused.
 *
 * Messages are received ahead: each side has room for as many messages and notices as
 * its depth says, before it is connected and ever after, and the other side counts how
 * much of that is left.  So a message never comes to one who is not ready, whether
 * krdma_simple_recv() has been called by then or not; and who sends waits, in
 * krdma_simple_send(), while the other side does not take what it has.  Nothing is
 * lost, and the order is kept: among messages, and among notices.
 *
 * Unless a function says otherwise:
 *  - it returns 0 or a negative errno, and waits at most as long as the context's
 *    timeout says;
 *  - what it gives through a pointer is untouched after an error.
 *
 * Errors that many have: EINVAL (an argument that makes no sense); ERANGE (outside of
 * the buffer); ENOTCONN (not connected, or ended here); ECONNRESET (the peer has ended
 * the connection, or is gone); ENODEV (the device is gone); ETIMEDOUT (the time is
 * over); EPROTO (the peer does not speak as this layer does); EIO (the device failed).
 *
 * Threads: krdma_simple_send(), _write(), _read() and both _notify_ calls may be
 * called by any thread, also at a time: they have their turns.  So may
 * krdma_simple_recv(), _wait_notice() and _ready(): each message, each notice, goes to
 * one; and these run beside the former.  krdma_simple_disconnect() may be called
 * beside all of them and brings them back.  The others are for one thread: that which
 * made the context, or took it over; krdma_simple_close() once no other is in a call.
 *
 * fork(): the context, the connection, and the memory that it has registered, stay the
 * parent's.  In a child, krdma_simple_close() gives back what is the child's and leaves
 * those as they are; no other call is for a child.
 */
#ifndef KRDMA_SIMPLE_H
#define KRDMA_SIMPLE_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context: a server with at most one client at a time, or a client. */
struct krdma_simple;

/* &struct krdma_simple_options.timeout_ms and others: without an end. */
#define KRDMA_SIMPLE_FOREVER	UINT32_MAX

/* Notices carry a number below this one. */
#define KRDMA_SIMPLE_VALUE_END	0x40000000u

/**
 * enum krdma_simple_wait - how calls of a context wait
 * @KRDMA_SIMPLE_WAIT_EVENT: the thread sleeps until the device has an event
 * @KRDMA_SIMPLE_WAIT_POLL: the thread asks the device again and again, which keeps a
 *	processor busy and is fastest
 */
enum krdma_simple_wait {
	KRDMA_SIMPLE_WAIT_EVENT = 1,
	KRDMA_SIMPLE_WAIT_POLL = 2,
};

/**
 * struct krdma_simple_options - what a context is to be; 0 or NULL: the default
 * @size: sizeof(struct krdma_simple_options)
 * @cq_notify: &enum krdma_simple_wait: how calls wait; 0: KRDMA_SIMPLE_WAIT_EVENT
 * @buffer: memory of one's own, which stays there until the context is closed;
 *	NULL: it is made, zeroed
 * @buffer_size: its length; 0, only without @buffer: 1 MiB
 * @access: what the peer may do there, &enum krdma_access: KRDMA_ACCESS_REMOTE_READ
 *	and KRDMA_ACCESS_REMOTE_WRITE, which is also the default; for nothing at all
 *	KRDMA_ACCESS_LOCAL_WRITE
 * @timeout_ms: how long a call waits; 0: 30000
 * @depth: messages and notices that the peer can send before they are taken; 0: 16
 * @message_size: bytes of the longest message that the peer can send, no more than
 *	@buffer_size, or there is no place to take it to; 0: 4096, or @buffer_size if that
 *	is less
 */
struct krdma_simple_options {
	uint32_t size;
	uint32_t cq_notify;
	void *buffer;
	size_t buffer_size;
	uint32_t access;
	uint32_t timeout_ms;
	uint32_t depth;
	uint32_t message_size;
};

/**
 * enum krdma_simple_notice - what a notice says
 * @KRDMA_SIMPLE_WRITTEN: the peer has written, by krdma_simple_notify_write()
 * @KRDMA_SIMPLE_READ: the peer has read, by krdma_simple_notify_read()
 */
enum krdma_simple_notice {
	KRDMA_SIMPLE_WRITTEN = 1,
	KRDMA_SIMPLE_READ = 2,
};

/**
 * enum krdma_simple_readiness - what would not have to wait, bits
 * @KRDMA_SIMPLE_MESSAGE: krdma_simple_recv()
 * @KRDMA_SIMPLE_NOTICE: krdma_simple_wait_notice()
 * @KRDMA_SIMPLE_ROOM: krdma_simple_send() and both notify calls: the peer has room
 */
enum krdma_simple_readiness {
	KRDMA_SIMPLE_MESSAGE = 1 << 0,
	KRDMA_SIMPLE_NOTICE = 1 << 1,
	KRDMA_SIMPLE_ROOM = 1 << 2,
};

/**
 * krdma_simple_server() - wait for clients
 * @where: an address or a name of this machine, or the name of an RDMA device; NULL:
 *	all of them.  Of a device: its first IPv4 address, or if there is none its first
 *	IPv6 address.
 * @port: at which port; 0: a free one.  Then the one that it got.
 * @options: what the context is to be, or NULL
 * @simple: where to put it
 *
 * From here on clients can ask; krdma_simple_wait_for_client() lets them in.
 *
 * Errors: ENXIO (no such name, address or device); EAGAIN (the name cannot be looked up
 * now); EADDRNOTAVAIL (not of an RDMA device); EADDRINUSE; EACCES (a privileged port, or
 * /dev/krdma may not be used); ENOENT (krdma is not loaded); E2BIG (options that this
 * version does not know).
 */
int krdma_simple_server(const char *where, uint16_t *port,
			const struct krdma_simple_options *options, struct krdma_simple **simple);

/**
 * krdma_simple_wait_for_client() - the next client
 * @simple: a server
 *
 * Clients that do not use this layer, and those that leave before they are connected,
 * are passed over.  May be called again when a client has gone; what that one has
 * sent and nobody has taken is forgotten.
 *
 * Errors: EISCONN (the last client is still there: see krdma_simple_disconnect());
 * EINTR (a signal came first; may be repeated); ENOMEM, EPERM, EDQUOT (the buffer
 * cannot be registered, as of krdma_mr_register()).
 */
int krdma_simple_wait_for_client(struct krdma_simple *simple);

/**
 * krdma_simple_client() - find the way to a server
 * @host: its name, its IPv4 address or its IPv6 address
 * @port: its port
 * @options: what the context is to be, or NULL
 * @simple: where to put it
 *
 * Of a name's addresses, the first to which there is a way.
 *
 * Errors: ENXIO (no such name); EAGAIN (it cannot be looked up now); EHOSTUNREACH (no way
 * there by an RDMA device); EACCES, ENOENT, E2BIG as of krdma_simple_server(); ENOMEM,
 * EPERM, EDQUOT as of krdma_simple_wait_for_client().
 */
int krdma_simple_client(const char *host, uint16_t port,
			const struct krdma_simple_options *options, struct krdma_simple **simple);

/**
 * krdma_simple_connect() - connect to the server
 * @simple: a client
 *
 * May be called again after a failure, and when the connection has ended; what the
 * server has sent and nobody has taken is forgotten then.
 *
 * Errors: EISCONN (it is connected); ECONNREFUSED (nobody listens there, or not with
 * this layer); EHOSTUNREACH; EPROTO (whoever accepted does not use this layer).
 */
int krdma_simple_connect(struct krdma_simple *simple);

/**
 * krdma_simple_send() - send a message
 * @simple: connected
 * @offset: where it begins in the buffer
 * @length: bytes, also 0
 *
 * When it returns, the message is in the peer's memory, and krdma_simple_recv() there
 * can take it.  Waits for room at the peer.
 *
 * Errors: EMSGSIZE (more than krdma_simple_message_max()); EINTR (a signal came while
 * there was no room; nothing was sent); ETIMEDOUT (there was no room, and nothing was
 * sent; or the peer's device does not answer, and it may arrive yet).
 */
int krdma_simple_send(struct krdma_simple *simple, size_t offset, size_t length);

/**
 * krdma_simple_recv() - take a message
 * @simple: connected, or connected before: what had come can still be taken
 * @offset: where to put it in the buffer
 * @room: for how many bytes
 * @length: how long it is, also after EMSGSIZE; or NULL
 *
 * Errors: EMSGSIZE (longer than @room: it is kept, for the next call); EINTR (a signal
 * came first; may be repeated).
 */
int krdma_simple_recv(struct krdma_simple *simple, size_t offset, size_t room, size_t *length);

/**
 * krdma_simple_write() - write to the peer's buffer
 * @simple: connected
 * @offset: from where in the buffer
 * @remote_offset: where to in the peer's
 * @length: bytes; 0 only finds out whether the peer is there
 *
 * When it returns, the peer has the data; its program is neither asked nor told.
 *
 * Errors: ERANGE (also: outside of the peer's buffer); EACCES (the peer has not allowed
 * it); ETIMEDOUT (the peer's device does not answer; it may happen yet, so
 * leave that part of the buffer as it is until a later call succeeds).
 */
int krdma_simple_write(struct krdma_simple *simple, size_t offset, uint64_t remote_offset,
		       size_t length);

/**
 * krdma_simple_read() - read from the peer's buffer
 * @simple: connected
 * @offset: where to in the buffer
 * @remote_offset: from where in the peer's
 * @length: bytes; 0 only finds out whether the peer is there
 *
 * The same the other way round, with the same errors.
 */
int krdma_simple_read(struct krdma_simple *simple, size_t offset, uint64_t remote_offset,
		      size_t length);

/**
 * krdma_simple_notify_write() - tell the peer that a write is done
 * @simple: connected
 * @value: a number for the peer, below KRDMA_SIMPLE_VALUE_END
 *
 * By a write with immediate data, or a message where the device has none; either way
 * the peer takes it with krdma_simple_wait_notice(), and sees what was written before.
 * Waits for room at the peer, as krdma_simple_send(), with the same errors.
 */
int krdma_simple_notify_write(struct krdma_simple *simple, uint32_t value);

/**
 * krdma_simple_notify_read() - tell the peer that a read is done
 * @simple: connected
 * @value: a number for the peer, below KRDMA_SIMPLE_VALUE_END
 *
 * The same, of a read: the peer may change what was read.
 */
int krdma_simple_notify_read(struct krdma_simple *simple, uint32_t value);

/**
 * krdma_simple_wait_notice() - take a notice
 * @simple: connected, or connected before: what had come can still be taken
 * @notice: &enum krdma_simple_notice; or NULL
 * @value: the peer's number; or NULL
 *
 * Errors: EINTR (a signal came first; may be repeated).
 */
int krdma_simple_wait_notice(struct krdma_simple *simple, uint32_t *notice, uint32_t *value);

/**
 * krdma_simple_ready() - what would not have to wait?
 * @simple: connected, or connected before
 * @wanted: bits of &enum krdma_simple_readiness
 * @timeout_ms: wait so long for one of @wanted; 0: do not wait
 * @ready: which of @wanted would not have to wait
 *
 * For programs around poll(), see krdma_simple_fd(), and for a timeout that is not
 * the context's.
 *
 * Errors: ETIMEDOUT (none of them); EINTR.
 */
int krdma_simple_ready(struct krdma_simple *simple, uint32_t wanted, uint32_t timeout_ms,
		       uint32_t *ready);

/**
 * krdma_simple_disconnect() - end the connection
 * @simple: connected or not
 *
 * The peer is told, and can take what was sent before; what it has sent and nobody has
 * taken is forgotten.  Calls of other threads come back with ENOTCONN.  A server can
 * then wait for the next client, a client connect again.
 *
 * Errors: none but EINVAL.
 */
int krdma_simple_disconnect(struct krdma_simple *simple);

/**
 * krdma_simple_close() - end all of it
 * @simple: the context, however far it came, or NULL
 *
 * Disconnects, and takes back the buffer: when this returns, no peer reaches it any
 * more, and one that was made is gone.  Waits for a peer that does not answer for some
 * seconds at most.
 *
 * Errors: none; whatever it returns, the context is gone.
 */
int krdma_simple_close(struct krdma_simple *simple);

/* The buffer, and how long it is; NULL and 0 of NULL. */
void *krdma_simple_buffer(const struct krdma_simple *simple);
size_t krdma_simple_buffer_size(const struct krdma_simple *simple);

/**
 * krdma_simple_remote() - the peer's buffer
 * @simple: connected
 * @remote: what the peer has told of it, from its beginning as far as one key covers it
 *
 * That is all of it, unless its memory has several keys: see krdma_mr_rkey_at().  The
 * calls of this layer find the right one by themselves.
 *
 * Errors: EACCES (the peer lets nobody reach it).
 */
int krdma_simple_remote(struct krdma_simple *simple, struct krdma_remote_mr *remote);

/**
 * krdma_simple_remote_at() - the peer's buffer, from a place on
 * @simple: connected
 * @offset: the place, in bytes from its beginning
 * @remote: what begins there, as far as one key covers it
 *
 * Errors: EACCES (the peer lets nobody reach it); ERANGE (not in the buffer).
 */
int krdma_simple_remote_at(struct krdma_simple *simple, uint64_t offset,
			   struct krdma_remote_mr *remote);

/**
 * krdma_simple_message_max() - the longest message that can be sent
 * @simple: connected
 *
 * Return: the peer's &struct krdma_simple_options.message_size; 0 if not connected.
 */
size_t krdma_simple_message_max(struct krdma_simple *simple);

/**
 * krdma_simple_fd() - a descriptor for poll()
 * @simple: the context
 *
 * Readable while there is a message, a notice, word of the connection's end, until
 * krdma_simple_disconnect(), or, of a server that is not connected, a client that
 * asks; sometimes for none of them.  Ask krdma_simple_ready() with no timeout.  It is
 * the context's: do not close it.
 *
 * Return: the descriptor, or a negative errno.
 */
int krdma_simple_fd(struct krdma_simple *simple);

/*
 * What is below, for whatever this layer does not offer; NULL if it is not there.
 * They are the context's: conn and the queues end with the connection, memory may be
 * another one with the next.  What is posted through them must be silent, with the
 * cookie 0 (see KRDMA_SQE_UNSIGNALED), and receives are the context's alone.
 */
struct krdma *krdma_simple_session(struct krdma_simple *simple);
struct krdma_listener *krdma_simple_listener(struct krdma_simple *simple);
struct krdma_conn *krdma_simple_conn(struct krdma_simple *simple);
struct krdma_ring *krdma_simple_ring(struct krdma_simple *simple);
struct krdma_ring *krdma_simple_recv_ring(struct krdma_simple *simple);
struct krdma_mr *krdma_simple_mr(struct krdma_simple *simple);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_SIMPLE_H */
