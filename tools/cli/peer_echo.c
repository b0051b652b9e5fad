// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Server side: send each message back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "krdma_entry.h"
#include "peer_echo.h"

/* Minimum number of places beyond the window; with only one, answers go out one at a time. */
#define SPARE 3

static int post_receive(const struct echo *echo, uint32_t place)
{
	struct krdma_sqe entry = krdma_entry_recv(echo->client->conn, place, echo->mr,
						  (size_t)place * echo->length, echo->length);

	return krdma_ring_post(echo->client->ring, &entry, 1, NULL);
}

static int create_qp(struct echo *echo)
{
	uint32_t place;
	int err;

	err = client_memory(echo->client, (uint64_t)echo->places * echo->length,
			    KRDMA_ACCESS_LOCAL_WRITE, &echo->mr);
	if (!err)
		err = client_prepare(echo->client, echo->places, echo->places);
	if (err)
		return err;
	for (place = 0; !err && place < echo->places; place++)
		err = post_receive(echo, place);
	if (err)
		client_refuse(echo->client, VERDICT_FAILED, 0);
	return err;
}

int echo_begin(struct echo *echo, struct client *client, uint32_t length, uint32_t window)
{
	memset(echo, 0, sizeof(*echo));
	echo->client = client;
	echo->length = length;
	echo->window = window;
	echo->places = window + (window > SPARE ? window : SPARE);
	echo->waiting = calloc(echo->places, sizeof(*echo->waiting));
	if (!echo->waiting) {
		client_refuse(client, VERDICT_FULL, 0);
		return -ENOMEM;
	}
	return create_qp(echo);
}

void echo_end(struct echo *echo)
{
	free(echo->waiting);
}

static int answer(struct echo *echo)
{
	const struct waiting *message = &echo->waiting[echo->first];
	struct krdma_sqe entry = krdma_entry_send(echo->client->conn, message->place,
						  message->length ? echo->mr : NULL,
						  (size_t)message->place * echo->length,
						  message->length);

	echo->first = (echo->first + 1) % echo->places;
	echo->count--;
	echo->answers++;
	return krdma_ring_post(echo->client->ring, &entry, 1, NULL);
}

static int handle(struct echo *echo, const struct krdma_cqe *cqe)
{
	struct waiting *message;

	if (cqe->opcode != KRDMA_OP_RECV) {
		echo->answers--;
		return post_receive(echo, (uint32_t)cqe->wr_id);
	}
	echo->client->messages++;
	echo->client->bytes += cqe->length;
	message = &echo->waiting[(echo->first + echo->count) % echo->places];
	message->place = (uint32_t)cqe->wr_id;
	message->length = cqe->length;
	echo->count++;
	return 0;
}

int echo_run(struct echo *echo)
{
	struct krdma_cqe cqes[CLIENT_BATCH];
	size_t taken, i;
	int err;

	do {
		err = client_next(echo->client, cqes, &taken);
		for (i = 0; !err && i < taken; i++)
			err = handle(echo, &cqes[i]);
		while (!err && echo->count && echo->answers < echo->places - echo->window)
			err = answer(echo);
	} while (!err);
	/* The client left while it was answered. */
	return err == -ENOTCONN ? -ECONNRESET : err;
}
