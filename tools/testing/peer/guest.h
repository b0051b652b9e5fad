/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server's side of one visit: what it offers, and what it must find afterwards.
 */
#ifndef PEER_GUEST_H
#define PEER_GUEST_H

#include <krdma.h>
#include <krdma_entry.h>

#include "plan.h"

/* What a server has, and counts. */
struct server {
	uint64_t seed;
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_ring *ring;
	struct krdma_ring *shared_queue;
	struct krdma_srq *srq;
	struct krdma_mr *shared;
	const struct visits *visits;
	uint32_t device;
	unsigned long guests, strangers, honest, messages, answers, broken, findings;
};

struct guest {
	struct server *server;
	struct krdma_conn *conn;
	struct visit visit;
	struct script script;
	unsigned int posted;
	unsigned int came;
	bool prepared;
	bool over;
	unsigned char *arena;
	struct krdma_mr *regions[REGIONS];
	struct krdma_mr *rooms;
	struct offer offer;
};

/*
 * Which receive of the shared queue, in which slot.  All slots are one registration, and
 * what krdma pins itself takes 512 pages over rxe.
 */
#define SHARED_SLOTS	240

/* Something that must not be; it is counted, and the run has failed. */
void finding(struct server *server, const struct guest *guest, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void server_share(struct server *server);
/* Room for one more message of anybody's. */
void server_share_slot(struct server *server, uint64_t slot);

/* Takes over @conn.  NULL: nobody that is known. */
struct guest *guest_new(struct server *server, struct krdma_conn *conn);
/* Accepts, or does what else the plan says; false: it is over. */
bool guest_answer(struct guest *guest);
void guest_established(struct guest *guest);
void guest_completed(struct guest *guest, const struct krdma_cqe *cqe, uint64_t slot);
/* Looks at all of its memory, and frees everything. */
void guest_free(struct guest *guest);

#endif
