// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ping with krdma's own protocol, client side: the peer sends each message back, and the
 * client compares it byte by byte.
 *
 * Answers arrive in the order of the messages, so each answer belongs to the oldest unanswered
 * message.  If an answer does not arrive in time, the client gives it up and still sends the next
 * message, because a peer that has stopped for a while may continue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "krdma_entry.h"
#include "peer_hello.h"
#include "peer_stop.h"
#include "ping.h"

struct echo {
	/* PING_WINDOW messages, then PING_WINDOW answers; NULL if messages have no data. */
	struct krdma_mr *mr;
	uint64_t sent;
	uint64_t answered;
	/* The client does not wait any more for answers with a lower index. */
	uint64_t given_up;
	/* The messages in flight. */
	struct {
		uint64_t number;
		uint64_t when;
	} messages[PING_WINDOW];
};

static size_t slot_offset(const struct ping *ping, uint64_t slot)
{
	return (size_t)(slot * ping->settings->length);
}

static uint8_t *slot_data(const struct ping *ping, uint64_t slot)
{
	const struct echo *echo = ping->state;

	return (uint8_t *)krdma_mr_data(echo->mr) + slot_offset(ping, slot);
}

/* Post the receive for answer number @index, from 0. */
static int post_receive(struct ping *ping, uint64_t index)
{
	const struct echo *echo = ping->state;
	uint64_t slot = PING_WINDOW + index % PING_WINDOW;
	struct krdma_sqe entry = krdma_entry_recv(ping->peer.conn, index, echo->mr,
						  slot_offset(ping, slot),
						  (uint32_t)ping->settings->length);

	return krdma_ring_post(ping->peer.ring, &entry, 1, NULL);
}

static int echo_open(struct ping *ping)
{
	struct hello hello = {
		.service = SERVICE_PING,
		.operation = OPERATION_ECHO,
		.length = (uint32_t)ping->settings->length,
		.depth = PING_WINDOW,
	};
	uint8_t wire[HELLO_SIZE];
	struct echo *echo;
	uint64_t i;
	int err;

	echo = calloc(1, sizeof(*echo));
	if (!echo) {
		complain("out of memory");
		return -ENOMEM;
	}
	ping->state = echo;
	if (ping->settings->length) {
		err = peer_memory(&ping->peer, slot_offset(ping, 2 * PING_WINDOW),
				  KRDMA_ACCESS_LOCAL_WRITE, &echo->mr);
		if (err)
			return err;
	}
	for (i = 0; i < PING_WINDOW; i++) {
		err = post_receive(ping, i);
		if (err) {
			complain_request("post receives for answers", err);
			return err;
		}
	}
	hello_encode(&hello, wire);
	err = peer_connect(&ping->peer, wire, sizeof(wire));
	return err ? err : peer_answer(&ping->peer, 0, NULL);
}

static void echo_close(struct ping *ping)
{
	struct echo *echo = ping->state;

	peer_end(&ping->peer);
	if (!echo)
		return;
	krdma_mr_deregister(echo->mr, KRDMA_DEREGISTER_LATER);
	free(echo);
	ping->state = NULL;
}

/* Consecutive messages differ in every byte. */
static void fill(uint8_t *data, uint64_t length, uint64_t number)
{
	uint64_t i;

	for (i = 0; i < length; i++)
		data[i] = (uint8_t)(number + i * 7 + (i >> 8));
}

static bool is_right(const struct ping *ping, uint64_t index, uint32_t length)
{
	uint64_t slot = index % PING_WINDOW;

	if (length != ping->settings->length)
		return false;
	/* The message that was sent is still in its slot. */
	return !length || !memcmp(slot_data(ping, slot), slot_data(ping, PING_WINDOW + slot),
				  length);
}

/* Process the next answer, which has just arrived. */
static int take_answer(struct ping *ping, const struct krdma_cqe *cqe, uint64_t now)
{
	struct echo *echo = ping->state;
	uint64_t index = echo->answered, slot = index % PING_WINDOW;
	enum ping_answer answer = PING_ANSWERED;

	if (index == echo->sent) {
		complain("%s violates the protocol: it has sent an answer to no message",
			 ping->settings->host);
		return -EPROTO;
	}
	echo->answered++;
	if (!is_right(ping, index, cqe->length))
		answer = PING_WRONG;
	else if (index < echo->given_up)
		answer = PING_LATE;
	/* A message that was given up has already been reported as unanswered. */
	if (index >= echo->given_up || answer == PING_LATE)
		ping_report(ping, echo->messages[slot].number, answer,
			    now - echo->messages[slot].when);
	return post_receive(ping, index + PING_WINDOW);
}

/* Sends are unsignaled, so each completion is an answer, or an error that ends the connection. */
static int take(struct ping *ping, const struct krdma_cqe *cqes, size_t count, uint64_t now)
{
	size_t i;
	int err;

	for (i = 0; i < count; i++) {
		if (cqes[i].status) {
			peer_failed(&ping->peer, cqes[i].status);
			return -ECONNRESET;
		}
		err = take_answer(ping, &cqes[i], now);
		if (err)
			return err;
	}
	return 0;
}

/* Wait once, at most for a slice; -ETIMEDOUT if no completion arrived. */
static int wait_once(struct ping *ping, uint64_t deadline)
{
	struct krdma_cqe cqes[PING_WINDOW];
	size_t taken;
	int err = krdma_ring_wait(ping->peer.ring, cqes, PING_WINDOW, 1, stop_slice(deadline),
				  &taken);

	if (err)
		return err == -EINTR ? -ETIMEDOUT : err;
	return take(ping, cqes, taken, clock_ns());
}

/* Wait until @answered messages have an answer; -ETIMEDOUT if @deadline passes first. */
static int await(struct ping *ping, uint64_t answered, uint64_t deadline)
{
	const struct echo *echo = ping->state;
	int err;

	while (echo->answered < answered) {
		deadline = ping_patience(ping, deadline);
		if (clock_ns() >= deadline)
			return -ETIMEDOUT;
		err = wait_once(ping, deadline);
		if (err && err != -ETIMEDOUT)
			return err;
	}
	return 0;
}

/* Post and wait with one system call, so that the round trip is measured and not the calls. */
static int send_message(struct ping *ping, uint64_t number)
{
	struct echo *echo = ping->state;
	uint64_t slot = echo->sent % PING_WINDOW, deadline;
	struct krdma_cqe cqes[PING_WINDOW];
	struct krdma_sqe entry;
	size_t accepted, taken;
	int err;

	if (echo->mr)
		fill(slot_data(ping, slot), ping->settings->length, number);
	entry = krdma_entry_send(ping->peer.conn, number, echo->mr, slot_offset(ping, slot),
				 (uint32_t)ping->settings->length);
	entry.flags = KRDMA_SQE_UNSIGNALED;
	echo->messages[slot].number = number;
	echo->messages[slot].when = clock_ns();
	deadline = echo->messages[slot].when + ping->settings->timeout;
	err = krdma_ring_enter(ping->peer.ring, &entry, 1, &accepted, cqes, PING_WINDOW, 1,
			       stop_slice(deadline), &taken);
	if (!accepted)
		return err;
	echo->sent++;
	if (err)
		return err == -ETIMEDOUT || err == -EINTR ? 0 : err;
	return take(ping, cqes, taken, clock_ns());
}

static int echo_exchange(struct ping *ping, uint64_t number)
{
	struct echo *echo = ping->state;
	uint64_t begun = clock_ns(), deadline = begun + ping->settings->timeout;
	int err = 0;

	if (echo->sent - echo->answered == PING_WINDOW)
		err = await(ping, echo->answered + 1, deadline);
	if (err == -ETIMEDOUT) {
		ping_report(ping, number, PING_UNSENT, clock_ns() - begun);
		return 0;
	}
	if (!err)
		err = send_message(ping, number);
	if (!err)
		err = await(ping, echo->sent, deadline);
	if (err == -ETIMEDOUT || (err && echo->answered < echo->sent)) {
		ping_report(ping, number, PING_UNANSWERED, clock_ns() - begun);
		echo->given_up = echo->sent;
	}
	return err == -ETIMEDOUT ? 0 : err;
}

static int echo_rest(struct ping *ping, uint64_t until)
{
	int err;

	while (!stop_wanted() && clock_ns() < until) {
		err = wait_once(ping, until);
		if (err && err != -ETIMEDOUT)
			return err;
	}
	return 0;
}

const struct ping_protocol ping_echo = {
	/* An answer can arrive before the send of its message has completed. */
	.send_depth = 4 * PING_WINDOW,
	.recv_depth = PING_WINDOW,
	.listener = "krdma ping --listen",
	.open = echo_open,
	.exchange = echo_exchange,
	.rest = echo_rest,
	.close = echo_close,
};
