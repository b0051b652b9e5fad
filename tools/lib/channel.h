/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: one connection with its rings, and the threads that use it. krdma_simple and the
 * messengers consist of one, and add what their messages mean.
 *
 * Waiting
 *
 * Of the threads that wait for arrivals, one waits on the receive ring and passes each completion
 * to @arrived. The other threads sleep until it finds something. When it has what it needs it
 * leaves, and another thread takes over.
 *
 * Sends, writes and reads have a ring of their own. A thread waits on it only while it has the
 * turn @is_busy.
 *
 * Ends
 *
 * Any failure ends the connection, and @failed is the reason. What arrived before may still be
 * taken, unless the peer violated the protocol or this side has disconnected.
 */
#ifndef KRDMA_CHANNEL_H
#define KRDMA_CHANNEL_H

#include <pthread.h>
#include <stdbool.h>

#include "internal.h"

/* Completions taken at a time. */
#define CHANNEL_BATCH	16

/**
 * struct channel - a connection
 * @session: its session
 * @conn: the connection, in any state
 * @ring: ring for sends, writes and reads
 * @recv_ring: ring for receives
 * @slots: memory region that begins with the slots for receives; its owner allocates it
 * @slot_size: bytes from one slot to the next
 * @slot_length: bytes of a receive
 * @polled: waiting threads poll the device instead of sleeping
 * @arrived: called with the lock held for each completed receive. -EPROTO ends the connection to
 *	the peer, whose later messages are not trusted; other errors end it as well
 * @is_there: called with the lock held: whether there is what a caller of channel_await() wants
 *
 * The fields above change only while no other thread uses the connection.
 *
 * @lock: protects the fields below, and those of the owner; never held while waiting
 * @changed: broadcast when such a field changes
 * @is_busy: a thread may wait on @ring
 * @is_looking: a thread waits on the receive ring
 * @failed: negative errno after which the connection is unusable; 0: usable
 */
struct channel {
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_ring *recv_ring;
	struct krdma_mr *slots;
	size_t slot_size;
	uint32_t slot_length;
	bool polled;
	int (*arrived)(struct channel *channel, const struct krdma_cqe *cqe);
	bool (*is_there)(const struct channel *channel, uint32_t what);

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_busy;
	bool is_looking;
	int failed;
};

/*
 * The lock of a zeroed structure. destroy: only in the process that called init. In a child of
 * fork(), it would wait for threads that were waiting in the parent.
 */
int channel_init(struct channel *channel);
void channel_destroy(struct channel *channel);

/* Creates the rings for the depths in @options, and the QP of @conn. */
int channel_create_qp(struct channel *channel, struct krdma_conn_create_qp_args *options);
/* Posts the receives of @count slots; their wr_id is the slot. */
int channel_post_receives(struct channel *channel, uint32_t first, uint32_t count);
unsigned char *channel_slot(const struct channel *channel, uint64_t slot);
/* Closes the rings and releases the slots, but not the connection. */
void channel_release(struct channel *channel);

/* krdma_conn_wait() through signals. */
int channel_wait(struct krdma_conn *conn, uint64_t deadline);

/* Call with the lock held: sleeps until a field changes; -ETIMEDOUT. */
int channel_sleep(struct channel *channel, uint64_t deadline);

/* A turn: of the calls between these two, one thread at a time is past the first. */
int channel_begin(struct channel *channel, bool *turn, uint64_t deadline);
void channel_end(struct channel *channel, bool *turn);

/* The first reason counts: sets it, and returns the one that is set. */
int channel_fail(struct channel *channel, int err);
/* Call without the lock once the connection has ended: finds the reason, and returns it. */
int channel_over(struct channel *channel);

/*
 * The lock is held before and after. look: waits once on the receive ring while other threads
 * sleep; sets @failed for errors other than -ETIMEDOUT and -EINTR. await: until there is @what,
 * which the owner's function understands; if it is there after a failure, that is no error.
 */
int channel_look(struct channel *channel, uint64_t deadline);
int channel_await(struct channel *channel, uint32_t what, uint64_t deadline);

/*
 * Call with the lock held; drops it. In a polled ring, unsignaled work requests free their places
 * only when a thread polls. If no other thread does, this one polls.
 */
void channel_poll(struct channel *channel);

#endif /* KRDMA_CHANNEL_H */
