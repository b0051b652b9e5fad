/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, the simple layer: what its files share.
 *
 * What travels
 *
 * Each side has receives posted for its depth of messages and notices, and two more.
 * Whoever sends a message or a notice counts it, and counts how many of its own the
 * other side has taken: it never has more of them under way than the other's depth.
 * That count comes with every message, and when half a depth has been taken and no
 * message has told it, in a message of its own, word of room.  Of those no more than
 * two can be at the other side without having been looked at: by the first, half a
 * depth can be sent, by the second the rest, and for a third one something would have
 * to be sent that only looking at them gives room for.  That is what the two receives
 * are for.  So a send always finds a receive, on every transport.
 *
 * Who waits
 *
 * Of the threads that wait for something to arrive, one asks the receive queue and
 * sorts what comes: messages and notices into a list each, word of room into the
 * count.  The others sleep until it has found something; when it has what it wants it
 * goes, and another one takes over.
 *
 * What is sent, written and read has a queue of its own, on which one thread at a time
 * has an operation and waits for its end.
 */
#ifndef KRDMA_SIMPLE_INTERNAL_H
#define KRDMA_SIMPLE_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "internal.h"
#include "krdma_entry.h"
#include "krdma_simple.h"
#include "parts.h"

/* Receives for word of room. */
#define SIMPLE_EXTRA	2

/* Operations under way: one that is waited for, word of room, and what ran out of time. */
#define SIMPLE_SENDS	64

/* Of a name: more are not tried. */
#define SIMPLE_ADDRESSES	8

/*
 * simple_wire.c: what the two sides tell each other
 */

/* Private data of the request and of the answer. */
#define SIMPLE_HELLO_SIZE	(12 + KRDMA_MR_DESC_SIZE)

/**
 * struct simple_hello - what a side says of itself
 * @depth: messages and notices that it has room for
 * @message_size: the longest message
 * @remote: its buffer; all zero if nobody may reach it
 * @in_parts: its buffer has several keys, and @remote is the table of them, until that has
 *	been read
 */
struct simple_hello {
	uint32_t depth;
	uint32_t message_size;
	struct krdma_remote_mr remote;
	bool in_parts;
};

void simple_hello_write(uint32_t depth, uint32_t message_size, const void *descriptor,
			bool in_parts, void *wire);
int simple_hello_read(const void *wire, size_t length, struct simple_hello *hello);

/* Before each message. */
#define SIMPLE_HEADER_SIZE	16

enum simple_kind {
	SIMPLE_KIND_MESSAGE = 1,
	SIMPLE_KIND_NOTICE = 2,
	SIMPLE_KIND_ROOM = 3,
};

/**
 * struct simple_header - what a message is
 * @kind: &enum simple_kind
 * @taken: messages and notices that its sender has taken, counted without end
 * @notice: SIMPLE_KIND_NOTICE: &enum krdma_simple_notice
 * @value: SIMPLE_KIND_NOTICE: the program's number
 */
struct simple_header {
	uint32_t kind;
	uint32_t taken;
	uint32_t notice;
	uint32_t value;
};

void simple_header_write(const struct simple_header *header, void *wire);
int simple_header_read(const void *wire, size_t length, struct simple_header *header);

/* A notice as immediate data. */
uint32_t simple_imm_write(uint32_t notice, uint32_t value);
int simple_imm_read(uint32_t imm, uint32_t *notice, uint32_t *value);

/*
 * The context
 */

/**
 * struct simple_item - what has arrived and was not taken
 * @slot: where; its receive is posted again when it has been taken
 * @length: of a message
 * @notice, @value: of a notice
 */
struct simple_item {
	uint32_t slot;
	uint32_t length;
	uint32_t notice;
	uint32_t value;
};

/* In the order of arrival; never more than the depth. */
struct simple_list {
	struct simple_item *items;
	uint32_t first;
	uint32_t count;
};

/**
 * struct krdma_simple - a context
 * @session: its session
 * @maker: the process that has it
 * @listener: a server's
 * @addresses: a client's: where the server may be
 * @address_count: how many
 * @address: which of them is, or was, tried
 * @options: all of them, none 0
 * @made: the buffer was made
 * @device_id: on which the buffer is registered, 0: on none
 * @has_imm: the device has immediate data
 * @mr: the buffer
 * @table: of its parts, if it has several keys; otherwise NULL
 * @conn: the connection, of any state; and what belongs to it:
 * @ring: for what is sent, written and read
 * @recv_ring: for what is received
 * @slots: memory for receives, and behind them for headers
 * @slot_size: of one receive
 * @headers: how many
 * @peer: what the other side has said of itself
 * @parts: the parts of its buffer, if that has several keys; otherwise NULL
 *
 * Those above change only in calls that are for one thread, while no other is between
 * simple_enter() and simple_leave().
 *
 * @lock: for all below, never held while something is waited for
 * @changed: of anything below; broadcast
 * @up: there is a connection to be used, or one that was and has left something
 * @ended_here: it was ended by krdma_simple_disconnect(), and is not to be used
 * @failed: why it cannot be used any more, a negative errno; 0: it can
 * @users: threads that use it
 * @receiving: a thread asks the receive queue
 * @sending: a thread has an operation in the other queue
 * @wr_id: of the last of those
 * @messages, @notices: what has arrived
 * @sent: messages and notices sent, counted without end
 * @peer_taken: of them, what the other side has taken, as far as it has told
 * @taken: messages and notices taken here, counted without end
 * @told: the last of it that the other side was told
 * @header: the next header to be used
 * @poll_fd: krdma_simple_fd(), -1: nobody has asked for it
 * @in_poll: the connection takes part in that
 * @ready_fd: readable while a list is not empty
 * @ready_said: it is readable
 */
struct krdma_simple {
	struct krdma *session;
	pid_t maker;
	struct krdma_listener *listener;
	struct sockaddr_storage addresses[SIMPLE_ADDRESSES];
	unsigned int address_count;
	unsigned int address;
	struct krdma_simple_options options;
	bool made;

	uint32_t device_id;
	bool has_imm;
	struct krdma_mr *mr;
	struct krdma_mr *table;

	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_ring *recv_ring;
	struct krdma_mr *slots;
	size_t slot_size;
	uint32_t headers;
	struct simple_hello peer;
	struct parts *parts;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool up;
	bool ended_here;
	int failed;
	unsigned int users;
	bool receiving;
	bool sending;
	uint64_t wr_id;
	struct simple_list messages;
	struct simple_list notices;
	uint32_t sent;
	uint32_t peer_taken;
	uint32_t taken;
	uint32_t told;
	uint32_t header;
	int poll_fd;
	bool in_poll;
	int ready_fd;
	bool ready_said;
};

static inline bool simple_is_polled(const struct krdma_simple *simple)
{
	return simple->options.cq_notify == KRDMA_SIMPLE_WAIT_POLL;
}

/* When the context's timeout is over, or another one. */
uint64_t simple_deadline(uint32_t ms);
static inline uint64_t simple_deadline_of(const struct krdma_simple *simple)
{
	return simple_deadline(simple->options.timeout_ms);
}

/* Nothing is under way with it; if the device has other ideas of that, later. */
static inline void simple_release(struct krdma_mr **mr)
{
	if (krdma_mr_deregister(*mr, 0))
		krdma_mr_deregister(*mr, KRDMA_DEREGISTER_LATER);
	*mr = NULL;
}

/* Is it a part of the buffer?  0, or -ERANGE. */
int simple_check(const struct krdma_simple *simple, size_t offset, size_t length);

/*
 * Between the two the connection stays what it is.  -ENOTCONN: there is none.  The lock
 * is not held.
 */
int simple_enter(struct krdma_simple *simple);
void simple_leave(struct krdma_simple *simple);

/* With the lock: sleep until something has changed; -ETIMEDOUT. */
int simple_sleep(struct krdma_simple *simple, uint64_t deadline);

/* Without the lock: the connection is over, asks it why.  The errno, negative. */
int simple_over(struct krdma_simple *simple);

/*
 * simple_address.c: a name, or an address as text; -ENXIO if it is none.  passive: of
 * this machine, for a server, also NULL.
 */
int simple_addresses(const char *host, uint16_t port, bool passive,
		     struct sockaddr_storage *addresses, unsigned int *count);
/* An address of an RDMA device. */
int simple_device_address(struct krdma *session, uint32_t device_id, uint16_t port,
			  struct sockaddr_storage *address);

/*
 * simple_link.c: connections
 */
/*
 * prepare: of the server's next client, @conn, which is the context's from here on.
 * resolve: of a client, that has found its way to the server.  After an error of the
 * former, simple_link_end().
 */
int simple_link_prepare(struct krdma_simple *simple, struct krdma_conn *conn);
int simple_link_resolve(struct krdma_simple *simple);
/* Tells the peer that it ends, and waits until nothing is left, but not without an end. */
void simple_link_disconnect(struct krdma_simple *simple);
/* Takes it down: nobody uses it when this returns. */
void simple_link_end(struct krdma_simple *simple);
/* What to tell the peer. */
int simple_link_hello(struct krdma_simple *simple, void *wire);
/* It is connected: learns what there is of the peer's buffer. */
int simple_link_up(struct krdma_simple *simple, struct simple_hello *peer, uint64_t deadline);
/* -EISCONN: there is one that is not over. */
int simple_link_check_gone(struct krdma_simple *simple);

/*
 * simple_receive.c: what arrives
 */
int simple_lists_create(struct krdma_simple *simple);
void simple_lists_destroy(struct krdma_simple *simple);
void simple_lists_clear(struct krdma_simple *simple);
/* Posts receives for @count slots. */
int simple_post_receives(struct krdma_simple *simple, uint32_t first, uint32_t count);
/* Waits for one of &enum krdma_simple_readiness; the lock is held before and after. */
int simple_await(struct krdma_simple *simple, uint32_t wanted, uint64_t deadline);

/*
 * simple_poll.c: the descriptor for poll()
 */
/* With the lock: it is readable, or not. */
void simple_poll_ready(struct krdma_simple *simple);
/* With the lock: there is a connection; it is about to be closed. */
int simple_poll_link(struct krdma_simple *simple);
void simple_poll_unlink(struct krdma_simple *simple);
void simple_poll_close(struct krdma_simple *simple);

/*
 * simple_send.c: what is sent
 */
/* Before anybody uses the connection: reads the table of the peer's parts. */
int simple_fetch_parts(struct krdma_simple *simple, struct simple_hello *peer,
		       uint64_t deadline);
/* Tells the peer how much was taken if it is time; never waits. */
void simple_tell_room(struct krdma_simple *simple);

#endif /* KRDMA_SIMPLE_INTERNAL_H */
