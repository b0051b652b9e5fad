/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma, the simple layer: declarations shared by its source files.
 *
 * Flow control
 *
 * Each side has receives posted for its depth of messages and notices, and two more. A sender
 * counts its messages and notices, and those that the peer has taken: it never has more
 * in flight than the peer's depth. The count of taken ones travels with every message. When
 * half the depth has been taken and no message has carried the count, the receiver sends it in
 * a separate credit message. At most two credit messages can be unprocessed at the other side:
 * after the first, the peer can send half a depth, after the second the rest, and a third one
 * needs a send for which only processing the first two gives credit. The two extra receives are
 * for these. A send therefore always finds a receive, on every transport.
 *
 * Waiting
 *
 * Threads wait as channel.h describes. Arrivals are messages and notices, which go into one list
 * each, and credit, which goes into the count. One thread at a time has a work request in the
 * other ring and waits for its completion.
 */
#ifndef KRDMA_SIMPLE_INTERNAL_H
#define KRDMA_SIMPLE_INTERNAL_H

#include <stdbool.h>

#include "address.h"
#include "channel.h"
#include "internal.h"
#include "krdma_entry.h"
#include "krdma_simple.h"
#include "parts.h"

/* Extra receives for credit messages. */
#define SIMPLE_EXTRA	2

/* Work requests in flight: the awaited one, credit messages, and timed-out ones. */
#define SIMPLE_SENDS	64

/*
 * simple_wire.c: the wire formats
 */

/* Private data of the connection request and of the reply. */
#define SIMPLE_HELLO_SIZE	(12 + KRDMA_MR_DESC_SIZE)

/**
 * struct simple_hello - parameters that a side announces
 * @depth: number of messages and notices that it can receive
 * @message_size: length of its longest message in bytes
 * @remote: its buffer; all zero if the peer has no access
 * @in_parts: the buffer has several rkeys, and @remote is the table of them until the table has
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

/* The header of each message. */
#define SIMPLE_HEADER_SIZE	16

enum simple_kind {
	SIMPLE_KIND_MESSAGE = 1,
	SIMPLE_KIND_NOTICE = 2,
	SIMPLE_KIND_ROOM = 3,
};

/**
 * struct simple_header - header of a message
 * @kind: &enum simple_kind
 * @taken: number of messages and notices that the sender of the header has taken, modulo 2^32
 * @notice: for SIMPLE_KIND_NOTICE: &enum krdma_simple_notice
 * @value: for SIMPLE_KIND_NOTICE: the program's number
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
 * struct simple_item - a message or notice that arrived and was not taken
 * @slot: its receive slot, which is posted again once the item is taken
 * @length: length of a message in bytes
 * @notice, @value: content of a notice
 */
struct simple_item {
	uint32_t slot;
	uint32_t length;
	uint32_t notice;
	uint32_t value;
};

/* In order of arrival; never more than the depth. */
struct simple_list {
	struct simple_item *items;
	uint32_t first;
	uint32_t count;
};

/**
 * struct krdma_simple - a context
 * @ch: its session, its connection, and the lock. After the slots follow headers. The turn in
 *	there is for the one work request that a thread waits for
 * @maker: the process that owns it
 * @listener: of a server
 * @addresses: of a client: addresses of the server
 * @address_count: number of @addresses
 * @address: index of the address being tried, or last tried
 * @options: options with the defaults filled in
 * @made: the library allocated the buffer
 * @device_id: device with which the buffer is registered, 0: none
 * @has_imm: the device supports immediate data
 * @mr: memory region of the buffer
 * @table: table of its parts, if it has several rkeys; otherwise NULL
 * @headers: number of headers
 * @peer: parameters that the peer announced
 * @parts: parts of the peer's buffer, if it has several rkeys; otherwise NULL
 *
 * The fields above change only in functions for a single thread, while no other thread is
 * between simple_enter() and simple_leave(). The lock protects all fields below.
 *
 * @up: there is a connection to use, or one has ended with items left to take
 * @ended_here: krdma_simple_disconnect() ended it, and it must not be used
 * @users: number of threads that use it
 * @wr_id: wr_id of the last of those work requests
 * @messages, @notices: items that arrived
 * @sent: number of messages and notices sent, modulo 2^32
 * @peer_taken: number of those that the peer has reported as taken
 * @taken: number of messages and notices taken locally, modulo 2^32
 * @sent_taken: the last value of @taken that was sent to the peer
 * @header: index of the next header to use
 * @poll_fd: descriptor of krdma_simple_fd(), -1: not created
 * @in_poll: the connection is registered with @poll_fd
 * @ready_fd: readable while a list is not empty
 * @ready_said: @ready_fd is readable
 */
struct krdma_simple {
	struct channel ch;
	pid_t maker;
	struct krdma_listener *listener;
	struct sockaddr_storage addresses[ADDRESSES_MAX];
	unsigned int address_count;
	unsigned int address;
	struct krdma_simple_options options;
	bool made;

	uint32_t device_id;
	bool has_imm;
	struct krdma_mr *mr;
	struct krdma_mr *table;

	uint32_t headers;
	struct simple_hello peer;
	struct parts *parts;

	bool up;
	bool ended_here;
	unsigned int users;
	uint64_t wr_id;
	struct simple_list messages;
	struct simple_list notices;
	uint32_t sent;
	uint32_t peer_taken;
	uint32_t taken;
	uint32_t sent_taken;
	uint32_t header;
	int poll_fd;
	bool in_poll;
	int ready_fd;
	bool ready_said;
};

/* Deadline for a timeout; the second function uses that of the context. */
uint64_t simple_deadline(uint32_t ms);
static inline uint64_t simple_deadline_of(const struct krdma_simple *simple)
{
	return simple_deadline(simple->options.timeout_ms);
}

/* 0 if the range is inside the buffer, otherwise -ERANGE. */
int simple_check(const struct krdma_simple *simple, size_t offset, size_t length);

/*
 * Between these calls the connection does not change. -ENOTCONN: there is none. Call them
 * without the lock.
 */
int simple_enter(struct krdma_simple *simple);
void simple_leave(struct krdma_simple *simple);

/*
 * simple_link.c: connections
 */
/*
 * prepare: creates the QP for @conn, the server's next client; the context owns @conn from now
 * on. resolve: creates the QP for a client once the route to the server is resolved. After an
 * error of the former, call simple_link_end().
 */
int simple_link_create_qp(struct krdma_simple *simple, struct krdma_conn *conn);
int simple_link_resolve(struct krdma_simple *simple);
/* Disconnects and waits, for a limited time, until the connection is closed. */
void simple_link_disconnect(struct krdma_simple *simple);
/* Tears the connection down; when it returns, no thread uses the connection. */
void simple_link_end(struct krdma_simple *simple);
/* Gives back what belongs to the connection. */
void simple_link_release(struct krdma_simple *simple);
/* Writes the private data for the peer. */
int simple_link_hello(struct krdma_simple *simple, void *wire);
/* Called when connected: learns the layout of the peer's buffer. */
int simple_link_up(struct krdma_simple *simple, struct simple_hello *peer, uint64_t deadline);
/* -EISCONN: a connection still exists. */
int simple_link_check_gone(struct krdma_simple *simple);

/* simple_receive.c: arrivals */
int simple_lists_create(struct krdma_simple *simple);
void simple_lists_destroy(struct krdma_simple *simple);
void simple_lists_clear(struct krdma_simple *simple);
/* For &struct channel. What there can be is &enum krdma_simple_readiness. */
int simple_arrived(struct channel *channel, const struct krdma_cqe *cqe);
bool simple_is_there(const struct channel *channel, uint32_t wanted);

/*
 * simple_poll.c: the descriptor for poll()
 */
/* Call with the lock held: updates whether the descriptor is readable. */
void simple_poll_ready(struct krdma_simple *simple);
/* Call with the lock held: adds the connection; removes it before it is closed. */
int simple_poll_link(struct krdma_simple *simple);
void simple_poll_unlink(struct krdma_simple *simple);
void simple_poll_close(struct krdma_simple *simple);

/* simple_send.c: sends */
/* Called before the connection is used: reads the table of the parts of the peer's buffer. */
int simple_fetch_parts(struct krdma_simple *simple, struct simple_hello *peer,
		       uint64_t deadline);
/* Sends the count of taken messages to the peer if it is due; never waits. */
void simple_send_credits(struct krdma_simple *simple);

#endif /* KRDMA_SIMPLE_INTERNAL_H */
