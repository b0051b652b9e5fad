/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server's side of one visit: what the server offers, and what it must find afterwards.
 */
#ifndef PEER_GUEST_H
#define PEER_GUEST_H

#include <krdma.h>
#include <krdma_entry.h>

#include "plan.h"

/* Objects and counters of a server. */
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
 * Receives of the SRQ, each with one slot.  All slots are one MR, and over rxe an MR that krdma
 * pins itself has at most 512 pages.
 */
#define SHARED_SLOTS	240

/* Report a violation.  It is counted, and the run fails. */
void finding(struct server *server, const struct guest *guest, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void server_share(struct server *server);
/* Post one more receive to the SRQ, for a message of any guest. */
void server_share_slot(struct server *server, uint64_t slot);

/* Takes over @conn, or returns NULL if the peer is not known. */
struct guest *guest_new(struct server *server, struct krdma_conn *conn);
/* Accept, or do what else the plan says.  Returns false if the visit is over. */
bool guest_answer(struct guest *guest);
void guest_established(struct guest *guest);
void guest_completed(struct guest *guest, const struct krdma_cqe *cqe, uint64_t slot);
/* Check all of the guest's memory, and free everything. */
void guest_free(struct guest *guest);

#endif
