/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of a program that creates its own QPs and changes their state itself.  It uses the
 * connection manager only for the handshake, and knows nothing of krdma.  After an error the
 * program prints a line and ends with status 1.
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

/* An event, with a copy of its private data. */
struct verbs_event {
	enum rdma_cm_event_type type;
	size_t length;
	unsigned char data[256];
};

void far_fail(const char *what, int err) __attribute__((noreturn));

void far_open(struct verbs_far *far);
void far_close(struct verbs_far *far);

/* Wait for the next event; far_wait(): it must be of this type. */
struct verbs_event far_event(struct verbs_far *far);
struct verbs_event far_wait(struct verbs_far *far, enum rdma_cm_event_type type);

void far_listen(struct verbs_far *far, const char *host, const char *port);
/* Wait for the next connection request: far->id is its connection. */
struct verbs_event far_next(struct verbs_far *far);
void far_resolve(struct verbs_far *far, const char *host, const char *port);
void far_forget(struct verbs_far *far);

/* Create the QP and an MR; the QP is in the INIT state, so receives can be posted. */
void far_prepare(struct verbs_far *far, size_t length);
/* Move the QP to RTS, when the connection manager knows the other side. */
void far_ready(struct verbs_far *far);

/* far_connect(): send a connection request; returns an errno if that fails on this machine. */
int far_connect(struct verbs_far *far, const void *data, uint8_t length);
void far_accept(struct verbs_far *far, const void *data, uint8_t length);

void far_receive(struct verbs_far *far, size_t offset, uint32_t length);
void far_post(struct verbs_far *far, enum ibv_wr_opcode opcode, size_t offset, uint32_t length,
	      uint64_t remote, uint32_t key);
/* Wait for the next completion; far_done(): it must be a success. */
struct ibv_wc far_take(struct verbs_far *far);
struct ibv_wc far_done(struct verbs_far *far);

#endif
