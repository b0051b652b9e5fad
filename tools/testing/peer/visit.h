/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The peer's side of one visit: a program of verbs with queue pairs of its own.
 */
#ifndef PEER_VISIT_H
#define PEER_VISIT_H

#include <netinet/in.h>

#include "plan.h"

/* In memory that a worker shares with those who are there after it was killed. */
struct diary {
	/* The visit that is made now, and how many were begun. */
	uint64_t number;
	uint64_t begun;
	uint64_t actions;
	uint64_t done;
	uint64_t refused;
	uint64_t turned_away;
	/* The server has ended it, and no word of that came. */
	uint64_t untold;
	uint64_t honest;
	uint64_t findings;
};

struct host;

/* What all visits of a process have in common; the device is opened by the first one. */
struct host *host_new(const struct sockaddr_in *server, struct diary *diary);

/* Comes from this port.  Does not return if the plan says so. */
void visit_make(struct host *host, const struct visit *visit, unsigned int port);

#endif
