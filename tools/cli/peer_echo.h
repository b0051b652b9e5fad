/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The side that listens: messages that go back as they came.
 *
 * A message that finds no receive is sent again on InfiniBand and RoCE, after a pause, and
 * is the end of the connection on iWARP.  So a client that keeps to its window, the
 * messages that it has sent and that are not answered, always finds one.  A place is taken
 * from a message's arrival until its answer has completed; the client may see the answer
 * and send the next message before that.  Therefore no more answers are under way than
 * there are places beyond the window; others wait.
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
	/* Answers under way. */
	uint32_t answers;
	/* Messages that wait for their answer, oldest first: a ring of all places. */
	struct waiting {
		uint32_t place;
		uint32_t length;
	} *waiting;
	uint32_t first;
	uint32_t count;
};

/*
 * Memory, the connection prepared, and receives posted; it can be let in.  To be ended
 * whatever the result; an error has been answered to the client.
 */
int echo_begin(struct echo *echo, struct client *client, uint32_t length, uint32_t window);

/* Until the connection ends. */
int echo_run(struct echo *echo);

void echo_end(struct echo *echo);

#endif /* KRDMA_CLI_PEER_ECHO_H */
