/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: messages as long as memory is.
 *
 * The sender registers the data and announces them; the receiver reads them by RDMA,
 * piece by piece, into memory of its own choice, and answers.  So nothing is copied, and
 * nothing is sent before there is room for it.
 *
 * A messenger is one end of a connection of the thin layer, whose queues it makes:
 *
 *	krdma_conn_resolve or krdma_listener_next	as ever
 *	krdma_messenger_create				instead of krdma_conn_create_qp
 *	krdma_conn_connect or krdma_conn_accept		as ever, and krdma_conn_wait
 *	krdma_message_send, krdma_message_recv	any number of times
 *	krdma_conn_close, krdma_messenger_destroy
 *
 * Both ends have one.  Each end sends one message at a time and receives one at a time,
 * both at once if it has two threads for it.  Calls of other threads wait for their
 * turn; krdma_conn_disconnect() brings all of them back.  Two programs that both send,
 * and receive only afterwards, wait for each other until the time of one is over.
 *
 * Functions return 0 or a negative errno.  Those that many have: EINVAL; ENOTCONN (not
 * connected, or ended here); ECONNRESET (the peer has ended the connection, or is gone);
 * ENODEV (the device is gone); EPROTO (the peer does not speak as a messenger does);
 * EINTR (a signal came first and nothing had begun; may be repeated).  Deadlines are as
 * of <krdma.h>; they also hold for the turn.
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
 * struct krdma_messenger_options - what a messenger is to be; 0 or NULL: the default
 * @size: sizeof(struct krdma_messenger_options)
 * @polled: 1: whoever waits asks the device again and again instead of sleeping
 * @piece_size: bytes that are read at a time, to 1 GiB; 0: 1 MiB
 * @pieces: how many such reads are under way, to 16; 0: 4
 * @progress: called by krdma_message_recv() after each piece, with @context, bytes
 *	received and the length of the message; what it returns, unless it is 0, ends
 *	the message, with ECANCELED at both ends.  It must not call the messenger.
 * @context: for @progress
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
 * krdma_messenger_create() - prepare a connection for long messages
 * @session: the session
 * @conn: resolved, or asked for by a peer, of that session.  It remains the caller's,
 *	and is not closed before the last call with the messenger.
 * @options: what it is to be, or NULL
 * @messenger: where to put it
 *
 * Errors: those of krdma_conn_create_qp() and krdma_mr_register(); E2BIG (options
 * that this version does not know).
 */
int krdma_messenger_create(struct krdma *session, struct krdma_conn *conn,
			   const struct krdma_messenger_options *options,
			   struct krdma_messenger **messenger);

/**
 * krdma_messenger_destroy() - take it back
 * @messenger: that nobody uses, or NULL
 *
 * Before or after its connection is closed.
 */
void krdma_messenger_destroy(struct krdma_messenger *messenger);

/**
 * krdma_message_send() - send a message
 * @messenger: one end, connected
 * @data: where it begins
 * @length: bytes, also 0
 * @deadline: how long to wait for the receiver
 *
 * When it returns 0, the peer has received it.
 *
 * Errors: EMSGSIZE (the receiver has too little room; or the message was not announced,
 * because the memory has several keys, see krdma_mr_rkey_at(): send it in parts);
 * ECANCELED (the receiver has given up on this message); after both the connection goes on.
 * ETIMEDOUT (the receiver may be reading, so the connection has been ended); those of
 * krdma_mr_register().
 */
int krdma_message_send(struct krdma_messenger *messenger, const void *data, size_t length,
		       uint64_t deadline);

/**
 * krdma_message_send_mr() - send a message from registered memory
 * @messenger: one end, connected
 * @mr: registered with KRDMA_ACCESS_REMOTE_READ
 * @offset: where the message begins in it
 * @length, @deadline: as of krdma_message_send()
 *
 * Errors: as of krdma_message_send(), and ERANGE (not in the memory), EACCES (memory
 * without that right).
 */
int krdma_message_send_mr(struct krdma_messenger *messenger, struct krdma_mr *mr,
			  size_t offset, size_t length, uint64_t deadline);

/**
 * krdma_message_recv() - receive a message
 * @messenger: one end, connected
 * @data: where to put it
 * @room: for how many bytes
 * @length: how long it is, also after EMSGSIZE and ECANCELED; or NULL
 * @deadline: how long to wait for it, and until it must be there
 *
 * Errors: EMSGSIZE (longer than @room: it is refused); ECANCELED (by the callback);
 * ETIMEDOUT (nobody has sent anything; or it was not all there in time, and the sender
 * is told ECANCELED).  The connection goes on after these, and @data may have been
 * written to.  Those of krdma_mr_register(): the message is kept for the next call.
 */
int krdma_message_recv(struct krdma_messenger *messenger, void *data, size_t room,
		       size_t *length, uint64_t deadline);

/**
 * krdma_message_recv_mr() - receive a message into registered memory
 * @messenger: one end, connected
 * @mr: registered with KRDMA_ACCESS_LOCAL_WRITE
 * @offset: where to put it in there
 * @room, @length, @deadline: as of krdma_message_recv()
 *
 * Errors: as of krdma_message_recv(), and ERANGE (not in the memory), EACCES (memory
 * without that right; the sender is told ECANCELED).
 */
int krdma_message_recv_mr(struct krdma_messenger *messenger, struct krdma_mr *mr,
			  size_t offset, size_t room, size_t *length, uint64_t deadline);

#ifdef __cplusplus
}
#endif

#endif /* KRDMA_MESSAGE_H */
