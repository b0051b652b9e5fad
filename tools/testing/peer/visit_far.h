/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of a hostile peer, step by step.
 */
#ifndef PEER_VISIT_FAR_H
#define PEER_VISIT_FAR_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "visit.h"

/* Of each action that is under way, and of each answer. */
#define BUFFER		32768
#define ANSWERS		32
#define ANSWER_ROOM	4608
/* So much of it is looked at. */
#define ANSWER_SEEN	64
#define MEMORY		(SPAN_MAX * BUFFER + ANSWERS * ANSWER_ROOM)
/* In room where nothing came. */
#define EMPTY		0xee

struct host {
	struct sockaddr_in server;
	struct diary *diary;
	struct ibv_pd *domain;
	struct ibv_mr *registered;
	unsigned char *mr;
	/* What the visit before was offered. */
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
	/* How far it is, for a visit that hangs. */
	const char *where;
	unsigned int posted;
	unsigned int ended;
	/* The server has ended it. */
	bool over;
	/* What memory at the server should hold, as far as this visit can know. */
	unsigned char model[SLOTS_OFFSET];
};

struct far_event {
	enum rdma_cm_event_type type;
	int status;
	unsigned int length;
	unsigned char data[256];
};

/* Something that must not be; counted, and the run has failed. */
void far_finding(struct far *far, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* An id with a way to the server; from any port if 0.  Ends the process if there is none. */
struct rdma_cm_id *far_way(struct far *far, unsigned int port);
/* Queue pair and completion queues; receives are posted. */
void far_pair(struct far *far);
void far_answer_room(struct far *far, unsigned int which);
int far_connect(struct far *far, struct rdma_cm_id *id, uint32_t pair);
struct far_event far_event(struct far *far);
/* What is under way ends; and, if word of the end has come, likewise. */
void far_give_up(struct far *far);
void far_look(struct far *far);
/* Politely. */
void far_disconnect(struct far *far);
/* 0: the connection stands; -1: it cannot. */
int far_establish(struct far *far);
void far_close(struct far *far, bool pair_first);

/* Actions, until the script or the connection ends. */
void far_talk(struct far *far);

#endif
