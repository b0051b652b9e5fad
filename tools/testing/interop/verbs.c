// SPDX-License-Identifier: GPL-2.0
/*
 * A verbs program that creates its own QPs, and that behaves well or makes errors.
 *
 *	verbs connect HOST PORT HOW
 *	verbs listen HOST PORT HOW
 *
 * HOW with connect: good, wrong-key (a wrong rkey), shared (a wrong rkey, to a side that uses an
 * SRQ), shared-leaves (the same, and disconnects without waiting for an event), beyond, too-long,
 * unexpected, asks (sends a connection request and waits to be killed), answered (gets the response
 * and waits to be killed), lengths (private data of every length).
 * HOW with listen: good, wrong-key, too-long, unexpected, refuses (rejects, and sends the private
 * data back), deaf (does not respond).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "verbs.h"
#include "verbs_far.h"

/* The program's memory: OFFERED bytes, and then messages that are received and sent. */
#define COME_AT		OFFERED
#define GO_AT		(OFFERED + ROOM)
#define SIZE		(GO_AT + 2 * ROOM)

static bool is(const char *how, const char *what)
{
	return !strcmp(how, what);
}

static void tell(const char *what, struct verbs_far *far)
{
	printf("%s: %s\n", what, ibv_wc_status_str(far_take(far).status));
}

/* Wait until the other side has ended the connection; then end it here, too. */
static void await_end(struct verbs_far *far)
{
	printf("then: %s\n", rdma_event_str(far_event(far).type));
	rdma_disconnect(far->id);
}

/* Read one half of the offered memory, compare it, write the other half, and send a message. */
static void behave(struct verbs_far *far, uint64_t addr, uint32_t key)
{
	far_post(far, IBV_WR_RDMA_READ, 0, HALF, addr, key);
	far_done(far);
	printf("read: %s\n", pattern_verdict(far->data, HALF, SEED_OF_OWNER));
	pattern_fill(far->data + HALF, HALF, SEED_OF_WRITER);
	far_post(far, IBV_WR_RDMA_WRITE, HALF, HALF, addr + HALF, key);
	far_post(far, IBV_WR_SEND, GO_AT, ROOM, 0, 0);
	/* Completions of the write, of the message, and of the answer. */
	far_done(far);
	far_done(far);
	far_done(far);
	printf("answered\n");
	rdma_disconnect(far->id);
	far_wait(far, RDMA_CM_EVENT_DISCONNECTED);
}

static void misbehave(struct verbs_far *far, const char *how, uint64_t addr, uint32_t key)
{
	if (is(how, "wrong-key") || is(how, "shared") || is(how, "shared-leaves"))
		far_post(far, IBV_WR_RDMA_WRITE, 0, HALF, addr, key ^ 0x10000);
	else if (is(how, "beyond"))
		/* Only the end is beyond, because what is offered ends in whole pages. */
		far_post(far, IBV_WR_RDMA_READ, 0, HALF, addr + HALF + 8192, key);
	else
		far_post(far, IBV_WR_SEND, GO_AT, is(how, "too-long") ? ROOM + 1 : ROOM, 0, 0);
	tell(how, far);
	/* Here the other side does not notice that anything is wrong. */
	if (is(how, "unexpected") || is(how, "shared-leaves"))
		rdma_disconnect(far->id);
	await_end(far);
}

static void connect_as(struct verbs_far *far, const char *how)
{
	struct verbs_event event;
	struct offer offer;
	int err;

	far_prepare(far, SIZE);
	far_receive(far, COME_AT, ROOM);
	err = far_connect(far, how, (uint8_t)strlen(how));
	if (err)
		far_fail("connect", err);
	if (is(how, "asks")) {
		printf("asked\n");
		pause();
	}
	event = far_wait(far, RDMA_CM_EVENT_CONNECT_RESPONSE);
	if (is(how, "answered")) {
		printf("answered\n");
		pause();
	}
	far_ready(far);
	if (rdma_establish(far->id))
		far_fail("establish", errno);
	memcpy(&offer, event.data, sizeof(offer));
	if (be32toh(offer.size) != OFFERED)
		far_fail("offered", EMSGSIZE);
	if (is(how, "good"))
		behave(far, be64toh(offer.addr), be32toh(offer.key));
	else
		misbehave(far, how, be64toh(offer.addr), be32toh(offer.key));
}

/* The private data must come back unchanged, followed by zeroes. */
static bool mirrored(const struct verbs_event *event, const unsigned char *data, size_t length)
{
	const unsigned char *back = event->data + 1;

	if (event->type != RDMA_CM_EVENT_REJECTED || event->length < MIRROR_SIZE ||
	    event->data[0] != REQUEST_MAX || memcmp(back, data, length))
		return false;
	for (; length < REQUEST_MAX; length++) {
		if (back[length])
			return false;
	}
	return true;
}

static void connect_lengths(struct verbs_far *far, const char *host, const char *port)
{
	unsigned char data[REQUEST_MAX + 1];
	struct verbs_event event;
	size_t length, right = 0;
	int err;

	for (length = 0; length <= REQUEST_MAX; length++) {
		/* The data must not end with a zero, which the padding would hide. */
		pattern_fill(data, sizeof(data), 100 + (unsigned int)length);
		far_resolve(far, host, port);
		err = far_connect(far, data, (uint8_t)length);
		if (err)
			far_fail("connect", err);
		event = far_event(far);
		right += mirrored(&event, data, length);
		far_forget(far);
	}
	printf("%zu of %d lengths\n", right, REQUEST_MAX + 1);
}

static void listen_as(struct verbs_far *far, const char *how)
{
	struct offer offer;

	far_next(far);
	if (is(how, "deaf")) {
		printf("asked\n");
		pause();
	}
	far_prepare(far, SIZE);
	pattern_fill(far->data, HALF, SEED_OF_OWNER);
	offer = offer_of(far->data, far->registered->rkey ^ (is(how, "wrong-key") ? 0x10000 : 0),
			 OFFERED);
	if (!is(how, "unexpected"))
		far_receive(far, COME_AT, is(how, "too-long") ? ROOM - 1 : ROOM);
	far_accept(far, &offer, sizeof(offer));
	if (is(how, "good")) {
		far_done(far);
		printf("written: %s\n", pattern_verdict(far->data + HALF, HALF, SEED_OF_WRITER));
		far_post(far, IBV_WR_SEND, GO_AT, ROOM, 0, 0);
		/* The other side may leave when it has the message, before it acknowledges it. */
		far_take(far);
	}
	await_end(far);
}

/* Reject each connection request, and send its private data back. */
static void refuse(struct verbs_far *far)
{
	unsigned char mirror[MIRROR_SIZE];
	struct verbs_event event;

	for (int count = 0; count <= REQUEST_MAX; count++) {
		event = far_next(far);
		memset(mirror, 0, sizeof(mirror));
		mirror[0] = (unsigned char)event.length;
		memcpy(mirror + 1, event.data, REQUEST_MAX);
		if (rdma_reject(far->id, mirror, sizeof(mirror)))
			far_fail("reject", errno);
		far_forget(far);
	}
}

int main(int argc, char **argv)
{
	struct verbs_far far;

	if (argc != 5 || (!is(argv[1], "connect") && !is(argv[1], "listen"))) {
		fputs("usage: verbs connect|listen HOST PORT HOW\n", stderr);
		return 2;
	}
	far_open(&far);
	if (is(argv[1], "listen")) {
		far_listen(&far, argv[2], argv[3]);
		if (is(argv[4], "refuses"))
			refuse(&far);
		else
			listen_as(&far, argv[4]);
	} else if (is(argv[4], "lengths")) {
		connect_lengths(&far, argv[2], argv[3]);
	} else {
		far_resolve(&far, argv[2], argv[3]);
		connect_as(&far, argv[4]);
	}
	far_close(&far);
	return 0;
}
