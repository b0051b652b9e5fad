// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ping --rping, client side: to a server that speaks rping's format.
 *
 * Each round must end before the next one begins, because a message does not say to which round
 * it belongs.  So a round that does not end in time ends the ping.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "krdma_entry.h"
#include "peer_stop.h"
#include "ping.h"
#include "ping_rping.h"

struct rping {
	struct krdma_mr *source;
	struct krdma_mr *sink;
	/* The message to send, then two buffers for receives. */
	struct krdma_mr *messages;
	uint64_t come;
	uint64_t awaited;
};

static int post_receive(struct ping *ping, uint64_t index)
{
	const struct rping *rping = ping->state;
	struct krdma_sqe entry = krdma_entry_recv(ping->peer.conn, index, rping->messages,
						  RPING_MESSAGE * (1 + index % 2),
						  RPING_MESSAGE);

	return krdma_ring_post(ping->peer.ring, &entry, 1, NULL);
}

static int allocate(struct ping *ping, struct rping *rping)
{
	size_t length = (size_t)ping->settings->length;
	int err;

	err = peer_memory(&ping->peer, length, KRDMA_ACCESS_REMOTE_READ, &rping->source);
	if (!err)
		err = peer_memory(&ping->peer, length,
				  KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE,
				  &rping->sink);
	if (!err)
		err = peer_memory(&ping->peer, (size_t)3 * RPING_MESSAGE,
				  KRDMA_ACCESS_LOCAL_WRITE, &rping->messages);
	return err;
}

static int rping_open(struct ping *ping)
{
	struct rping *rping = calloc(1, sizeof(*rping));
	int err;

	if (!rping) {
		complain("out of memory");
		return -ENOMEM;
	}
	ping->state = rping;
	err = allocate(ping, rping);
	if (err)
		return err;
	err = post_receive(ping, 0);
	if (!err)
		err = post_receive(ping, 1);
	if (err) {
		complain_request("post receives for messages", err);
		return err;
	}
	return peer_connect(&ping->peer, NULL, 0);
}

static void rping_close(struct ping *ping)
{
	struct rping *rping = ping->state;

	peer_end(&ping->peer);
	if (!rping)
		return;
	krdma_mr_deregister(rping->source, KRDMA_DEREGISTER_LATER);
	krdma_mr_deregister(rping->sink, KRDMA_DEREGISTER_LATER);
	krdma_mr_deregister(rping->messages, KRDMA_DEREGISTER_LATER);
	free(rping);
	ping->state = NULL;
}

/* Sends are unsignaled, so each completion is a message, or an error that ends the connection. */
static int take(struct ping *ping, const struct krdma_cqe *cqes, size_t count)
{
	struct rping *rping = ping->state;
	size_t i;
	int err;

	for (i = 0; i < count; i++) {
		if (cqes[i].status) {
			peer_failed(&ping->peer, cqes[i].status);
			return -ECONNRESET;
		}
		if (cqes[i].length != RPING_MESSAGE || rping->come == rping->awaited) {
			complain("%s does not speak rping's protocol: it sent a wrong message",
				 ping->settings->host);
			return -EPROTO;
		}
		err = post_receive(ping, rping->come + 2);
		if (err)
			return err;
		rping->come++;
	}
	return 0;
}

/* Wait until all awaited messages have arrived; -ETIMEDOUT if @deadline passes first. */
static int wait_message(struct ping *ping, uint64_t deadline)
{
	struct rping *rping = ping->state;
	struct krdma_cqe cqes[2];
	size_t taken;
	int err;

	while (rping->come < rping->awaited) {
		deadline = ping_patience(ping, deadline);
		if (clock_ns() >= deadline)
			return -ETIMEDOUT;
		err = krdma_ring_wait(ping->peer.ring, cqes, 2, 1, stop_slice(deadline),
				      &taken);
		if (!err)
			err = take(ping, cqes, taken);
		if (err && err != -ETIMEDOUT && err != -EINTR)
			return err;
	}
	return 0;
}

/* Send address, rkey and length of @mr to the server, and wait for its message. */
static int advertise(struct ping *ping, const struct krdma_mr *mr, uint64_t deadline)
{
	struct rping *rping = ping->state;
	struct krdma_sqe entry;
	int err;

	rping_message_encode((uintptr_t)krdma_mr_data(mr), krdma_mr_rkey(mr),
			     (uint32_t)ping->settings->length,
			     krdma_mr_data(rping->messages));
	entry = krdma_entry_send(ping->peer.conn, 0, rping->messages, 0, RPING_MESSAGE);
	entry.flags = KRDMA_SQE_UNSIGNALED;
	rping->awaited++;
	err = krdma_ring_post(ping->peer.ring, &entry, 1, NULL);
	return err ? err : wait_message(ping, deadline);
}

static int rping_exchange(struct ping *ping, uint64_t number)
{
	struct rping *rping = ping->state;
	size_t length = (size_t)ping->settings->length;
	char *text = krdma_mr_data(rping->source);
	uint64_t begun, time;
	int err;

	rping_text(text, length, number - 1);
	memset(krdma_mr_data(rping->sink), 0, length);
	begun = clock_ns();
	err = advertise(ping, rping->source, begun + ping->settings->timeout);
	if (!err)
		err = advertise(ping, rping->sink, begun + ping->settings->timeout);
	time = clock_ns() - begun;
	if (err) {
		ping_report(ping, number, PING_UNANSWERED, time);
		if (err != -ETIMEDOUT)
			return err;
		/* After -w, it had not the time to end it. */
		if (clock_ns() >= ping->end)
			return 0;
		complain("%s has not ended the round in time: rping's protocol cannot continue",
			 ping->settings->host);
		return -EPROTO;
	}
	ping_report(ping, number,
		    memcmp(text, krdma_mr_data(rping->sink), length) ? PING_WRONG :
		    PING_ANSWERED, time);
	return 0;
}

/* Between rounds no message may arrive, only the end of the connection. */
static int rping_rest(struct ping *ping, uint64_t until)
{
	struct krdma_cqe cqe;
	size_t taken;
	int err;

	while (!stop_wanted() && clock_ns() < until) {
		err = krdma_ring_wait(ping->peer.ring, &cqe, 1, 1, stop_slice(until), &taken);
		if (!err)
			err = take(ping, &cqe, taken);
		if (err && err != -ETIMEDOUT && err != -EINTR)
			return err;
	}
	return 0;
}

const struct ping_protocol ping_rping = {
	.send_depth = PING_WINDOW,
	.recv_depth = 2,
	.plain = true,
	.listener = "krdma ping --rping --listen (or rping -s)",
	.open = rping_open,
	.exchange = rping_exchange,
	.rest = rping_rest,
	.close = rping_close,
};
