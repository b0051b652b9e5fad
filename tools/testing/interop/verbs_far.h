/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of a program that has queue pairs of its own, made ready by itself, and the
 * connection manager only for the handshake.  It knows nothing of krdma.  An error ends the
 * program with 1 and a sentence.
 */
#ifndef INTEROP_VERBS_FAR_H
#define INTEROP_VERBS_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

struct verbs_far {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_pd *domain;
	struct ibv_cq *completions;
	struct ibv_qp *pair;
	struct ibv_mr *registered;
	char *data;
};

/* Of what event: its own private data, or none. */
struct verbs_event {
	enum rdma_cm_event_type type;
	size_t length;
	unsigned char data[256];
};

void far_fail(const char *what, int err) __attribute__((noreturn));

void far_open(struct verbs_far *far);
void far_close(struct verbs_far *far);

/* The next event, whatever it is; the next one, which must be this. */
struct verbs_event far_event(struct verbs_far *far);
struct verbs_event far_wait(struct verbs_far *far, enum rdma_cm_event_type type);

void far_listen(struct verbs_far *far, const char *host, const char *port);
/* The next request: far->id is its connection. */
struct verbs_event far_next(struct verbs_far *far);
void far_resolve(struct verbs_far *far, const char *host, const char *port);
void far_forget(struct verbs_far *far);

/* Queue pair and memory, in a state in which receives can be posted. */
void far_prepare(struct verbs_far *far, size_t length);
/* All the way, when the connection manager knows the other side. */
void far_ready(struct verbs_far *far);

/* Ask; errno if that is refused here.  Let in. */
int far_connect(struct verbs_far *far, const void *data, uint8_t length);
void far_accept(struct verbs_far *far, const void *data, uint8_t length);

void far_receive(struct verbs_far *far, size_t offset, uint32_t length);
void far_post(struct verbs_far *far, enum ibv_wr_opcode opcode, size_t offset, uint32_t length,
	      uint64_t remote, uint32_t key);
/* The next completion, of whatever status; the next one, which must be a success. */
struct ibv_wc far_take(struct verbs_far *far);
struct ibv_wc far_done(struct verbs_far *far);

#endif
