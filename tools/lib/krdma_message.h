/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: messages of any length.
 *
 * The sender registers the data and announces them. The receiver reads them by RDMA, in several
 * reads, into memory of its choice, and replies. No data are copied, and no data are
 * transferred before the receiver has a buffer for them.
 *
 * A messenger is one end of a connection of the thin layer. It creates the rings and the QP of
 * the connection:
 *
 *	krdma_conn_resolve or krdma_listener_next	as without a messenger
 *	krdma_messenger_create				instead of krdma_conn_create_qp
 *	krdma_conn_connect or krdma_conn_accept		as usual, then krdma_conn_wait
 *	krdma_message_send, krdma_message_recv		any number of times
 *	krdma_conn_close, krdma_messenger_destroy
 *
 * Both ends need a messenger. Each end sends one message at a time and receives one message at
 * a time; with two threads it does both at once. Calls of further threads wait for their turn.
 * krdma_conn_disconnect() makes all calls return. If both programs send first and receive only
 * afterwards, they block each other until the deadline of one of them.
 *
 * Functions return 0 or a negative errno. Errors common to many functions: EINVAL; ENOTCONN
 * (not connected, or disconnected locally); ECONNRESET (the peer disconnected, or is gone);
 * ENODEV (the device is gone); EPROTO (the peer does not follow the messenger protocol); EINTR
 * (a signal arrived before the transfer began; the call can be repeated). Deadlines are as in
 * <krdma.h>; they include the wait for the turn.
 *
 * fork(): a messenger stays the parent's, with its connection. In a child, krdma_conn_close() and
 * krdma_messenger_destroy() release the child's copies; a child must not call any other function
 * with them.
 *
 * Cancellation: a thread that may be canceled must disable cancellation during a call, as with
 * <krdma.h>. A deadline or krdma_conn_disconnect() ends a call instead, and before the transfer
 * begins also a signal.
 */
#ifndef KRDMA_MESSAGE_H
#define KRDMA_MESSAGE_H

#include <krdma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One end of a connection. */
struct krdma_messenger;

/**
 * struct krdma_messenger_options - options of a messenger; 0 or NULL: the default
 * @size: sizeof(struct krdma_messenger_options)
 * @polled: 1: waiting threads poll the device instead of sleeping
 * @piece_size: bytes per RDMA read, at most 1 GiB; 0: 1 MiB
 * @pieces: number of RDMA reads in flight, at most 16; 0: 4
 * @progress: called by krdma_message_recv() after each read, with @context, the bytes received
 *	so far and the length of the message. A return value other than 0 cancels the message:
 *	both ends get ECANCELED. It must not call the messenger.
 * @context: argument for @progress
 */
struct krdma_messenger_options {
	uint32_t size;
	uint32_t polled;
	uint32_t piece_size;
	uint32_t pieces;
	int (*progress)(void *context, uint64_t done, uint64_t length);
	void *context;
};

/**
 * krdma_messenger_create() - Create a messenger and the QP of its connection
 * @session: the session
 * @conn: a connection of that session, resolved or requested by a peer. The caller keeps it and
 *	must not close it before the last call with the messenger.
 * @options: options, or NULL
 * @messenger: receives the messenger
 *
 * Errors: those of krdma_conn_create_qp() and krdma_mr_register(); E2BIG (options that this
 * version does not know).
 */
int krdma_messenger_create(struct krdma *session, struct krdma_conn *conn,
			   const struct krdma_messenger_options *options,
			   struct krdma_messenger **messenger);

/**
 * krdma_messenger_destroy() - Destroy a messenger
 * @messenger: the messenger, not in use by any thread; or NULL
 *
 * May be called before or after its connection is closed.
 */
void krdma_messenger_destroy(struct krdma_messenger *messenger);

/**
 * krdma_message_send() - Send a message
 * @messenger: one end, connected
 * @data: start of the message
 * @length: length in bytes, may be 0
 * @deadline: how long to wait for the receiver
 *
 * When the function returns 0, the peer has received the message.
 *
 * Errors: EMSGSIZE (the receiver's buffer is too small; or the message was not announced
 * because the memory has several rkeys, see krdma_mr_rkey_at(): send it in several messages);
 * ECANCELED (the receiver gave up on this message). After these two the connection remains
 * usable. ETIMEDOUT (the receiver may still be reading, so the connection has been
 * disconnected, unless the call has only waited for its turn); those of krdma_mr_register().
 */
int krdma_message_send(struct krdma_messenger *messenger, const void *data, size_t length,
		       uint64_t deadline);

/**
 * krdma_message_send_mr() - Send a message from a memory region
 * @messenger: one end, connected
 * @mr: a memory region with KRDMA_ACCESS_REMOTE_READ
 * @offset: start of the message in it, in bytes
 * @length: length in bytes, may be 0
 * @deadline: how long to wait for the receiver
 *
 * Errors: as for krdma_message_send(), and ERANGE (outside the memory region), EACCES (the
 * memory region lacks that right).
 */
int krdma_message_send_mr(struct krdma_messenger *messenger, struct krdma_mr *mr,
			  size_t offset, size_t length, uint64_t deadline);

/**
 * krdma_message_next() - Wait for the next message, and get its length
 * @messenger: one end, connected
 * @length: receives the length of the message
 * @deadline: how long to wait
 *
 * The message stays the next one, so that a buffer of its length can be found for
 * krdma_message_recv(). The sender waits until it is received or refused.
 *
 * Errors: ETIMEDOUT (the peer sent no message); ENOTCONN, ECONNRESET, ENODEV (the connection has
 * ended); EPROTO (the peer does not follow the protocol).
 */
int krdma_message_next(struct krdma_messenger *messenger, size_t *length, uint64_t deadline);

/**
 * krdma_message_recv() - Receive a message
 * @messenger: one end, connected
 * @data: buffer for the message
 * @room: size of the buffer in bytes
 * @length: receives the length of the message, also after EMSGSIZE and ECANCELED; or NULL
 * @deadline: how long to wait for the whole message
 *
 * Errors: EMSGSIZE (longer than @room: the message is refused; krdma_message_next() gives the
 * length without that); ECANCELED (by the callback); ETIMEDOUT (the peer sent no message; or the
 * message was not complete in time, and the sender gets ECANCELED). After these the connection
 * remains usable, and @data may have been written. Those of krdma_mr_register(): the message is
 * kept for the next call.
 */
int krdma_message_recv(struct krdma_messenger *messenger, void *data, size_t room,
		       size_t *length, uint64_t deadline);

/**
 * krdma_message_recv_mr() - Receive a message into a memory region
 * @messenger: one end, connected
 * @mr: a memory region with KRDMA_ACCESS_LOCAL_WRITE
 * @offset: start of the buffer in it, in bytes
 * @room: size of the buffer in bytes
 * @length: receives the length of the message, as for krdma_message_recv()
 * @deadline: how long to wait for the whole message
 *
 * Errors: as for krdma_message_recv(), and ERANGE (outside the memory region), EACCES (the
 * memory region lacks that right; the sender gets ECANCELED).
 */
int krdma_message_recv_mr(struct krdma_messenger *messenger, struct krdma_mr *mr,
			  size_t offset, size_t room, size_t *length, uint64_t deadline);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_MESSAGE_H */
