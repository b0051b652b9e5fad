/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, the simple layer: one context for a server or a client, one buffer on each side,
 * and calls that do one operation and wait for its completion.
 *
 *	server:	krdma_simple_server, krdma_simple_wait_for_client
 *	client:	krdma_simple_client, krdma_simple_connect
 *	both:	krdma_simple_send and krdma_simple_recv: messages
 *		krdma_simple_write and krdma_simple_read: the peer's buffer
 *		krdma_simple_notify_write, krdma_simple_notify_read and
 *		krdma_simple_wait_notice: notices of writes and reads
 *		krdma_simple_disconnect, krdma_simple_close
 *
 * Both sides must use this layer: a server refuses other clients.
 *
 * Receives are posted in advance: before it is connected and at all times after that, each side
 * has receives for as many messages and notices as its depth says, and the other side counts
 * the free ones. A message therefore always finds a receive, whether or not krdma_simple_recv()
 * has been called. While the other side does not take its messages, the sender waits in
 * krdma_simple_send(). Nothing is lost. The order of messages is kept, and so is the order of
 * notices.
 *
 * Unless a function says otherwise:
 *  - It returns 0 or a negative errno, and waits at most for the timeout of the context.
 *  - Output pointers are not written after an error.
 *
 * Errors common to many functions: EINVAL (an invalid argument); ERANGE (outside the buffer);
 * ENOTCONN (not connected, or disconnected locally); ECONNRESET (the peer disconnected, or is
 * gone); ENODEV (the device is gone); ETIMEDOUT (the timeout has passed); EPROTO (the peer does
 * not follow the protocol of this layer); EIO (the device failed).
 *
 * Threads: any thread may call krdma_simple_send(), _write(), _read() and both _notify_
 * functions, also at the same time: the calls are serialized. The same holds for
 * krdma_simple_recv(), _wait_notice() and _ready(): each message and each notice goes to one
 * caller. The two groups run in parallel. krdma_simple_disconnect() may be called at the same
 * time as any of them and makes them return. The other functions are for one thread: the one
 * that created the context, or took it over. krdma_simple_close() may be called once no other
 * thread is in a call.
 *
 * fork(): the context, the connection and the registered memory stay the parent's. In a child,
 * krdma_simple_close() releases the child's copies and leaves the parent's objects as they are.
 * A child must not call any other function.
 */
#ifndef KRDMA_SIMPLE_H
#define KRDMA_SIMPLE_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A context: a client, or a server with at most one client at a time. */
struct krdma_simple;

/* For &struct krdma_simple_options.timeout_ms and other timeouts: wait without limit. */
#define KRDMA_SIMPLE_FOREVER	UINT32_MAX

/* Upper bound (exclusive) of the value of a notice. */
#define KRDMA_SIMPLE_VALUE_END	0x40000000u

/**
 * enum krdma_simple_wait - how calls of a context wait
 * @KRDMA_SIMPLE_WAIT_EVENT: the thread sleeps until the device signals an event
 * @KRDMA_SIMPLE_WAIT_POLL: the thread polls the device, which keeps a CPU busy and has the
 *	lowest latency
 */
enum krdma_simple_wait {
	KRDMA_SIMPLE_WAIT_EVENT = 1,
	KRDMA_SIMPLE_WAIT_POLL = 2,
};

/**
 * struct krdma_simple_options - options of a context; 0 or NULL: the default
 * @size: sizeof(struct krdma_simple_options)
 * @cq_notify: how calls wait, &enum krdma_simple_wait; 0: KRDMA_SIMPLE_WAIT_EVENT
 * @buffer: the caller's memory, which must stay mapped until the context is closed; NULL: the
 *	library allocates zeroed memory
 * @buffer_size: its length in bytes; 0, only without @buffer: 1 MiB
 * @access: the peer's rights, &enum krdma_access: KRDMA_ACCESS_REMOTE_READ and
 *	KRDMA_ACCESS_REMOTE_WRITE, which together are the default; KRDMA_ACCESS_LOCAL_WRITE
 *	gives the peer no rights
 * @timeout_ms: how long a call waits, in milliseconds; 0: 30000
 * @depth: number of messages and notices that the peer can send before they are taken; 0: 16
 * @message_size: length in bytes of the longest message that the peer can send. At most
 *	@buffer_size, because the message is taken into the buffer. 0: 4096, or @buffer_size if
 *	that is less
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
 * enum krdma_simple_notice - kinds of notices
 * @KRDMA_SIMPLE_WRITTEN: the peer has written, by krdma_simple_notify_write()
 * @KRDMA_SIMPLE_READ: the peer has read, by krdma_simple_notify_read()
 */
enum krdma_simple_notice {
	KRDMA_SIMPLE_WRITTEN = 1,
	KRDMA_SIMPLE_READ = 2,
};

/**
 * enum krdma_simple_readiness - functions that would not wait, as bits
 * @KRDMA_SIMPLE_MESSAGE: krdma_simple_recv()
 * @KRDMA_SIMPLE_NOTICE: krdma_simple_wait_notice()
 * @KRDMA_SIMPLE_ROOM: krdma_simple_send() and both notify functions: the peer has a free
 *	receive
 */
enum krdma_simple_readiness {
	KRDMA_SIMPLE_MESSAGE = 1 << 0,
	KRDMA_SIMPLE_NOTICE = 1 << 1,
	KRDMA_SIMPLE_ROOM = 1 << 2,
};

/**
 * krdma_simple_server() - Create a server context and listen for clients
 * @where: a local address or host name, or the name of an RDMA device; NULL: all addresses. A
 *	device name stands for its first IPv4 address or, if it has none, its first IPv6
 *	address.
 * @port: in: the port; 0: any free port; out: the assigned port
 * @options: options, or NULL
 * @simple: receives the context
 *
 * From now on clients can send connection requests. krdma_simple_wait_for_client() accepts
 * them.
 *
 * Errors: ENXIO (no such name, address or device); EAGAIN (temporary failure of name
 * resolution); EADDRNOTAVAIL (not an address of an RDMA device); EADDRINUSE; EACCES (a
 * privileged port, or no permission for /dev/krdma); ENOENT (krdma is not loaded); E2BIG
 * (options that this version does not know).
 */
int krdma_simple_server(const char *where, uint16_t *port,
			const struct krdma_simple_options *options, struct krdma_simple **simple);

/**
 * krdma_simple_wait_for_client() - Accept the next client
 * @simple: a server context
 *
 * Skips clients that do not use this layer, and clients that leave before they are connected.
 * It may be called again when a client has disconnected; messages and notices of that client
 * that were not taken are discarded.
 *
 * Errors: EISCONN (the last client is still connected: see krdma_simple_disconnect()); EINTR (a
 * signal arrived first; the call can be repeated); ENOMEM, EPERM, EDQUOT (the buffer cannot be
 * registered, as for krdma_mr_register()).
 */
int krdma_simple_wait_for_client(struct krdma_simple *simple);

/**
 * krdma_simple_client() - Create a client context and resolve the server
 * @host: the server's name, IPv4 address or IPv6 address
 * @port: the server's port
 * @options: options, or NULL
 * @simple: receives the context
 *
 * If the name has several addresses, the first one with a route is used.
 *
 * Errors: ENXIO (no such name); EAGAIN (temporary failure of name resolution); EHOSTUNREACH (no
 * route through an RDMA device); EACCES, ENOENT, E2BIG as for krdma_simple_server(); ENOMEM,
 * EPERM, EDQUOT as for krdma_simple_wait_for_client().
 */
int krdma_simple_client(const char *host, uint16_t port,
			const struct krdma_simple_options *options, struct krdma_simple **simple);

/**
 * krdma_simple_connect() - Connect to the server
 * @simple: a client context
 *
 * May be called again after a failure, and when the connection has ended. Messages and notices
 * of the server that were not taken are then discarded.
 *
 * Errors: EISCONN (already connected); ECONNREFUSED (no listener, or one for another service);
 * EHOSTUNREACH; EPROTO (the peer that accepted does not use this layer).
 */
int krdma_simple_connect(struct krdma_simple *simple);

/**
 * krdma_simple_send() - Send a message
 * @simple: a context, connected
 * @offset: start of the message in the buffer, in bytes
 * @length: length in bytes, may be 0
 *
 * When the function returns, the message is in the peer's memory and krdma_simple_recv() there
 * can take it. The function waits until the peer has a free receive.
 *
 * Errors: EMSGSIZE (longer than krdma_simple_message_max()); EINTR (a signal arrived while the
 * peer had no free receive; nothing was sent); ETIMEDOUT (the peer had no free receive, and
 * nothing was sent; or the peer's device does not respond, and the message may still arrive).
 */
int krdma_simple_send(struct krdma_simple *simple, size_t offset, size_t length);

/**
 * krdma_simple_recv() - Take a message
 * @simple: a context that is or was connected: messages that arrived can still be taken after
 *	the connection has ended
 * @offset: where to store the message in the buffer, in bytes
 * @room: space at @offset, in bytes
 * @length: receives the length of the message, also after EMSGSIZE; or NULL
 *
 * Errors: EMSGSIZE (longer than @room: the message is kept for the next call); EINTR (a signal
 * arrived first; the call can be repeated).
 */
int krdma_simple_recv(struct krdma_simple *simple, size_t offset, size_t room, size_t *length);

/**
 * krdma_simple_write() - Write to the peer's buffer
 * @simple: a context, connected
 * @offset: start of the data in the local buffer, in bytes
 * @remote_offset: destination in the peer's buffer, in bytes
 * @length: length in bytes; 0 only checks that the peer is reachable
 *
 * When the function returns, the data are in the peer's memory. The peer's program is not
 * involved and gets no notice.
 *
 * Errors: ERANGE (also outside the peer's buffer); EACCES (the peer does not allow writes);
 * ETIMEDOUT (the peer's device does not respond; the write may still happen, so leave that part
 * of the buffer unchanged until a later call succeeds).
 */
int krdma_simple_write(struct krdma_simple *simple, size_t offset, uint64_t remote_offset,
		       size_t length);

/**
 * krdma_simple_read() - Read from the peer's buffer
 * @simple: a context, connected
 * @offset: destination in the local buffer, in bytes
 * @remote_offset: start of the data in the peer's buffer, in bytes
 * @length: length in bytes; 0 only checks that the peer is reachable
 *
 * Errors: as for krdma_simple_write().
 */
int krdma_simple_read(struct krdma_simple *simple, size_t offset, uint64_t remote_offset,
		      size_t length);

/**
 * krdma_simple_notify_write() - Notify the peer that a write is done
 * @simple: a context, connected
 * @value: a number for the peer, below KRDMA_SIMPLE_VALUE_END
 *
 * Uses a write with immediate data, or a message if the device does not support it. In both
 * cases the peer takes the notice with krdma_simple_wait_notice(), and sees the data of all
 * earlier writes. The function waits until the peer has a free receive, like
 * krdma_simple_send().
 *
 * Errors: as for krdma_simple_send().
 */
int krdma_simple_notify_write(struct krdma_simple *simple, uint32_t value);

/**
 * krdma_simple_notify_read() - Notify the peer that a read is done
 * @simple: a context, connected
 * @value: a number for the peer, below KRDMA_SIMPLE_VALUE_END
 *
 * Like krdma_simple_notify_write(), for a read: the peer may now change the data that were
 * read.
 *
 * Errors: as for krdma_simple_send().
 */
int krdma_simple_notify_read(struct krdma_simple *simple, uint32_t value);

/**
 * krdma_simple_wait_notice() - Take a notice
 * @simple: a context that is or was connected: notices that arrived can still be taken after
 *	the connection has ended
 * @notice: receives &enum krdma_simple_notice; or NULL
 * @value: receives the peer's number; or NULL
 *
 * Errors: EINTR (a signal arrived first; the call can be repeated).
 */
int krdma_simple_wait_notice(struct krdma_simple *simple, uint32_t *notice, uint32_t *value);

/**
 * krdma_simple_ready() - Check which functions would not wait
 * @simple: a context that is or was connected
 * @wanted: bits of &enum krdma_simple_readiness
 * @timeout_ms: how long to wait for one of @wanted, in milliseconds; 0: do not wait
 * @ready: receives the bits of @wanted for which the functions would not wait
 *
 * For programs that use poll(), see krdma_simple_fd(), and for a timeout other than that of the
 * context.
 *
 * Errors: ETIMEDOUT (none of them); EINTR.
 */
int krdma_simple_ready(struct krdma_simple *simple, uint32_t wanted, uint32_t timeout_ms,
		       uint32_t *ready);

/**
 * krdma_simple_disconnect() - Disconnect
 * @simple: a context, connected or not
 *
 * The peer is notified and can take what was sent before. Messages and notices from the peer
 * that were not taken are discarded. Calls of other threads return ENOTCONN. After that a
 * server can wait for the next client, and a client can connect again.
 *
 * Errors: none except EINVAL.
 */
int krdma_simple_disconnect(struct krdma_simple *simple);

/**
 * krdma_simple_close() - Disconnect and free a context
 * @simple: a context in any state, or NULL
 *
 * Deregisters the buffer: when the function returns, no peer can access it, and a buffer that
 * the library allocated is freed. If a peer does not respond, the function waits for a few
 * seconds at most.
 *
 * Errors: none; the context is gone whatever the function returns.
 */
int krdma_simple_close(struct krdma_simple *simple);

/* The buffer and its length in bytes; NULL and 0 if @simple is NULL. */
void *krdma_simple_buffer(const struct krdma_simple *simple);
size_t krdma_simple_buffer_size(const struct krdma_simple *simple);

/**
 * krdma_simple_remote() - Get the peer's buffer
 * @simple: a context, connected
 * @remote: receives the peer's buffer, from its start as far as one rkey covers it
 *
 * That is the whole buffer, unless its memory region has several rkeys: see krdma_mr_rkey_at().
 * The functions of this layer choose the right rkey themselves.
 *
 * Errors: EACCES (the peer does not allow access).
 */
int krdma_simple_remote(struct krdma_simple *simple, struct krdma_remote_mr *remote);

/**
 * krdma_simple_remote_at() - Get the peer's buffer from a position on
 * @simple: a context, connected
 * @offset: the position, in bytes from the start of the peer's buffer
 * @remote: receives the memory from @offset on, as far as one rkey covers it
 *
 * Errors: EACCES (the peer does not allow access); ERANGE (outside the buffer).
 */
int krdma_simple_remote_at(struct krdma_simple *simple, uint64_t offset,
			   struct krdma_remote_mr *remote);

/**
 * krdma_simple_message_max() - Get the length of the longest message that can be sent
 * @simple: a context, connected
 *
 * Return: the peer's &struct krdma_simple_options.message_size; 0 if not connected.
 */
size_t krdma_simple_message_max(struct krdma_simple *simple);

/**
 * krdma_simple_fd() - Get a file descriptor for poll()
 * @simple: the context
 *
 * The descriptor is readable while there is a message, a notice, the end of the connection
 * (until krdma_simple_disconnect()) or, for a server that is not connected, a connection
 * request. Sometimes it is readable without any of these: call krdma_simple_ready() with a
 * timeout of 0. The context owns the descriptor: do not close it.
 *
 * Return: the descriptor, or a negative errno.
 */
int krdma_simple_fd(struct krdma_simple *simple);

/*
 * The objects of the thin layer below, for operations that this layer does not offer; NULL if
 * the object does not exist. The context owns them: the connection and its rings end with the
 * connection, and the memory region may be another one for the next connection. Work requests
 * posted through them must be unsignaled and have wr_id 0 (see KRDMA_SQE_UNSIGNALED). Only the
 * context may post receives.
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
