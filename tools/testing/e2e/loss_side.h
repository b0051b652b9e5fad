/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One machine's half of a test in which something is lost: a program with a connection in each
 * state that a connection can have, and a listener, all with default settings.  Its peer is the
 * same program on the other machine.  It polls, so that one thread sees all.
 */
#ifndef KRDMA_E2E_LOSS_SIDE_H
#define KRDMA_E2E_LOSS_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "pair.h"

/**
 * enum loss_state - state of an object when the loss comes
 * @LOSS_RESOLVING: an address that was not resolved before; begins right after the loss
 * @LOSS_CONNECTING: resolved before, connects right after the loss: the peer has no request
 * @LOSS_ASKING: connecting, and the peer's listener has the request
 * @LOSS_ASKED: connecting, the peer's program has taken the request and accepts after the loss
 * @LOSS_IDLE: connected by this side, nothing in flight
 * @LOSS_WRITING: the same, with writes in flight
 * @LOSS_READING: the same, with reads in flight
 * @LOSS_SENDING: the same, with sends in flight
 * @LOSS_LEAVING: connected by this side, which disconnects right after the loss
 * @LOSS_WAITING: a listener, in which a connection request waits
 * @LOSS_ACCEPTING: taken before, accepted right after the loss
 * @LOSS_IDLE_TOO: accepted by this side, nothing in flight
 * @LOSS_WRITTEN: accepted by this side, the peer writes
 * @LOSS_READ: accepted by this side, the peer reads
 * @LOSS_SENT: accepted by this side, the peer sends and receives are posted
 * @LOSS_LEFT: accepted by this side, the peer disconnects right after the loss
 * @LOSS_ALONE: a listener without requests
 * @LOSS_STATES: number of states
 */
enum loss_state {
	LOSS_RESOLVING,
	LOSS_CONNECTING,
	LOSS_ASKING,
	LOSS_ASKED,
	LOSS_IDLE,
	LOSS_WRITING,
	LOSS_READING,
	LOSS_SENDING,
	LOSS_LEAVING,
	LOSS_WAITING,
	LOSS_ACCEPTING,
	LOSS_IDLE_TOO,
	LOSS_WRITTEN,
	LOSS_READ,
	LOSS_SENT,
	LOSS_LEFT,
	LOSS_ALONE,
	LOSS_STATES
};

/**
 * enum loss_news - what a program was told, besides &enum krdma_event_type
 * @LOSS_NOTHING: no news
 * @LOSS_EXPIRED: the listener has rejected a request that waited for too long
 * @LOSS_WITHDRAWN: a request that waited is gone
 * @LOSS_GONE: the listener has no device any more
 */
enum loss_news {
	LOSS_NOTHING = 0,
	LOSS_EXPIRED = 100,
	LOSS_WITHDRAWN = 101,
	LOSS_GONE = 102,
};

/**
 * struct loss_told - what a program was told about one object
 * @news: &enum loss_news, or the event that ended the connection, or the last other one after the
 *	loss
 * @error: its errno, negative
 * @ms: milliseconds after the loss, or after the call that was made because of it
 * @call: errno of that call, or 0
 * @status: status of the first completion that was not a success, or 0
 * @status_ms: milliseconds after the loss
 */
struct loss_told {
	uint32_t news;
	int32_t error;
	uint32_t ms;
	int32_t call;
	uint32_t status;
	uint32_t status_ms;
};

/**
 * struct loss_cell - one object
 * @end: the connection, unless it is a listener
 * @remote: the peer's memory
 * @begun: the connection was created
 * @connects: the connection request was sent
 * @ready: the object has the state in which the loss is to find it
 * @since: when the object was ready; from the loss on when it began to wait
 * @retry: no earlier attempt to connect again
 * @flying: work requests in flight
 * @over: no further events
 * @told: result
 */
struct loss_cell {
	struct end end;
	struct mr remote;
	bool begun;
	bool connects;
	bool ready;
	uint64_t since;
	uint64_t retry;
	unsigned int flying;
	bool over;
	struct loss_told told;
};

#define LOSS_LISTENERS	4

/**
 * struct loss_side - the program
 * @session: its session
 * @device: its device
 * @local: its memory, which it offers to the peer
 * @own: address of this machine
 * @peer: address of the other machine
 * @other: another address of the other machine, which nothing has used
 * @listeners: listeners
 * @cells: objects by state
 * @late: connection whose request came after the loss
 * @lost: the loss has happened, at that time in ms
 */
struct loss_side {
	int session;
	uint32_t device;
	struct mr local;
	char own[16];
	char peer[16];
	char other[16];
	int listeners[LOSS_LISTENERS];
	struct loss_cell cells[LOSS_STATES];
	struct end late;
	uint64_t lost;
};

const char *loss_state_name(enum loss_state state);
const char *loss_news_name(uint32_t news);

/* @node is this machine's number, 1 or 2.  Returns 0 or a negative errno, as the others do. */
int loss_side_open(struct loss_side *side, unsigned int node);
void loss_side_close(struct loss_side *side);

/* Do what is due.  To be called every few milliseconds. */
void loss_side_step(struct loss_side *side);

/* Has each object the state in which the loss is to find it? */
bool loss_side_ready(const struct loss_side *side);

/* Milliseconds until the next keepalive of a connection that is ready. */
unsigned int loss_side_quiet(const struct loss_side *side, unsigned int interval);

/* The loss comes now: what the program is told from now on is recorded. */
void loss_side_mark(struct loss_side *side);

/* The loss has come: make the calls that follow it, and resolve another address. */
void loss_side_strike(struct loss_side *side);
void loss_side_resolve(struct loss_side *side);

#endif
