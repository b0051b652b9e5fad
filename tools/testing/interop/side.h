/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common parts of the programs at krdma's side.  After an error a program prints a line and ends
 * with status 1.  Programs print what they find out about the other side.
 */
#ifndef INTEROP_SIDE_H
#define INTEROP_SIDE_H

#include <stddef.h>
#include <stdint.h>

#include <krdma.h>
#include <krdma_entry.h>

/* Nothing takes longer, even on a busy machine. */
#define PATIENCE_MS	60000

/* The other side is not krdma: private data are sent without krdma's trailer. */
extern const struct krdma_conn_param_args side_plain;

struct side {
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_ring *ring;
};

void side_usage(const char *usage) __attribute__((noreturn));
void side_check(const char *what, int err);

void side_open(struct side *side, uint32_t completions);
void side_close(struct side *side);

/* Prints "listening at ..." when the peer can connect. */
void side_listen(struct side *side, const char *host, const char *port);
struct krdma_conn *side_next(struct side *side);
struct krdma_conn *side_resolve(struct krdma *session, const char *host, const char *port);
struct krdma_mr *side_memory(struct krdma *session, struct krdma_conn *conn, size_t length,
			     uint32_t access);

void side_prepare(struct side *side, struct krdma_conn *conn, uint32_t sends, uint32_t receives);
void side_accept(struct krdma_conn *conn);
void side_connect(struct krdma_conn *conn);
void side_connected(struct krdma_conn *conn);

void side_post(struct krdma_ring *ring, struct krdma_sqe entry);
struct krdma_cqe side_take(struct krdma_ring *ring);
/* Like side_take(), and the status must be success. */
struct krdma_cqe side_done(struct krdma_ring *ring);
/*
 * Like side_done(), for an answer after which the other side may leave.  The other side may leave
 * before its device has acknowledged the answer, so a send may also be flushed.  The other side
 * reports whether it has got the answer.
 */
struct krdma_cqe side_done_or_left(struct krdma_ring *ring);

/* Wait until the connection is closed.  Returns how it ended, as krdma_error_name() names it. */
const char *side_ended(struct krdma_conn *conn);

#endif
