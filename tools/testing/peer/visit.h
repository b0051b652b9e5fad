/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The peer's side of one visit: a verbs program with QPs of its own.
 */
#ifndef PEER_VISIT_H
#define PEER_VISIT_H

#include <netinet/in.h>

#include "plan.h"

/* Counters of a worker, in memory that its successor shares after it was killed. */
struct diary {
	/* The current visit, and the number of visits begun. */
	uint64_t number;
	uint64_t begun;
	uint64_t actions;
	uint64_t done;
	uint64_t refused;
	uint64_t turned_away;
	/* Connections that the server ended without an event to the peer. */
	uint64_t untold;
	uint64_t honest;
	uint64_t findings;
};

struct host;

/* State of all visits of a process.  The first visit opens the device. */
struct host *host_new(const struct sockaddr_in *server, struct diary *diary);

/* Make a visit from source port @port.  Does not return if the plan kills the process. */
void visit_make(struct host *host, const struct visit *visit, unsigned int port);

#endif
