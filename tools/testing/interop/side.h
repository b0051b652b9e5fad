/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs at krdma's side have in common.  An error ends the program with 1 and
 * a sentence: what they have to say of the other side they print.
 */
#ifndef INTEROP_SIDE_H
#define INTEROP_SIDE_H

#include <stddef.h>
#include <stdint.h>

#include <krdma.h>
#include <krdma_entry.h>

/* Nothing takes so long, however busy the machine is. */
#define PATIENCE_MS	60000

/* The other side is not krdma: what it is given goes as it is. */
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

/* Says "listening at ..." when others can come. */
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
/* The same, and it must be a success. */
struct krdma_cqe side_done(struct krdma_ring *ring);
/*
 * The same of an answer after which the other side may leave: it may have done so before
 * its device has acknowledged what it has got.  That it has got it is for it to say.
 */
struct krdma_cqe side_done_or_left(struct krdma_ring *ring);

/* Until nothing is left of it; how it ended, as krdma_error_name() says. */
const char *side_ended(struct krdma_conn *conn);

#endif
