/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of a hostile peer, step by step.
 */
#ifndef PEER_VISIT_FAR_H
#define PEER_VISIT_FAR_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "visit.h"

/* Bytes for each action in flight; receives for answers, and bytes for each. */
#define BUFFER		32768
#define ANSWERS		32
#define ANSWER_ROOM	4608
/* Bytes of each answer that are checked. */
#define ANSWER_SEEN	64
#define MEMORY		(SPAN_MAX * BUFFER + ANSWERS * ANSWER_ROOM)
/* Fills buffers where no data arrived. */
#define EMPTY		0xee

struct host {
	struct sockaddr_in server;
	struct diary *diary;
	struct ibv_pd *domain;
	struct ibv_mr *registered;
	unsigned char *mr;
	/* The offer to the previous visit. */
	struct offer last;
};

struct far {
	struct host *host;
	const struct visit *visit;
	unsigned int port;
	struct rdma_event_channel *events;
	struct rdma_cm_id *id;
	struct ibv_cq *sent;
	struct ibv_cq *received;
	struct ibv_qp *pair;
	struct offer offer;
	/* The current step, to report a visit that hangs. */
	const char *where;
	unsigned int posted;
	unsigned int ended;
	/* The server has ended the connection. */
	bool over;
	/* Expected content of the server's memory, as far as this visit can know. */
	unsigned char model[SLOTS_OFFSET];
};

struct far_event {
	enum rdma_cm_event_type type;
	int status;
	unsigned int length;
	unsigned char data[256];
};

/* Report a violation.  It is counted, and the run fails. */
void far_finding(struct far *far, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Get an id with a route to the server; 0 means any source port.  Exits if there is no route. */
struct rdma_cm_id *far_way(struct far *far, unsigned int port);
/* Create the QP and its CQs, and post receives. */
void far_pair(struct far *far);
void far_answer_room(struct far *far, unsigned int which);
int far_connect(struct far *far, struct rdma_cm_id *id, uint32_t pair);
struct far_event far_next_event(struct far *far);
/*
 * Flush what is in flight, by moving the QP to the error state.  far_look() does so only if an
 * event says that the connection has ended.
 */
void far_give_up(struct far *far);
void far_look(struct far *far);
/* Disconnect and wait for the end. */
void far_disconnect(struct far *far);
/* Returns 0 if the connection is established, -1 if it cannot be. */
int far_establish(struct far *far);
void far_close(struct far *far, bool pair_first);

/* Post actions until the script or the connection ends. */
void far_talk(struct far *far);

#endif
