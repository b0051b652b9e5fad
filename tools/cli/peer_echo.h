/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Server side: send each message back.
 *
 * If a message arrives without a posted receive, InfiniBand and RoCE send it again after a pause,
 * and iWARP ends the connection.  So the server always has a receive posted for a client that
 * keeps to its window, the number of its unanswered messages.  A place is in use from the arrival
 * of a message until its answer has completed, but the client may see the answer and send the
 * next message before that.  Therefore the number of answers in flight is limited to the places
 * beyond the window; further answers wait.
 */
#ifndef KRDMA_CLI_PEER_ECHO_H
#define KRDMA_CLI_PEER_ECHO_H

#include <stdint.h>

#include "peer_serve.h"

struct echo {
	struct client *client;
	struct krdma_mr *mr;
	uint32_t length;
	uint32_t window;
	uint32_t places;
	/* Answers in flight. */
	uint32_t answers;
	/* Messages that wait for their answer, oldest first: a circular buffer of @places. */
	struct waiting {
		uint32_t place;
		uint32_t length;
	} *waiting;
	uint32_t first;
	uint32_t count;
};

/*
 * Register the memory, create the QP and post the receives; then the client can be accepted.  Call
 * echo_end() whatever the result.  On an error the client has been rejected.
 */
int echo_begin(struct echo *echo, struct client *client, uint32_t length, uint32_t window);

/* Answer messages until the connection ends. */
int echo_run(struct echo *echo);

void echo_end(struct echo *echo);

#endif /* KRDMA_CLI_PEER_ECHO_H */
