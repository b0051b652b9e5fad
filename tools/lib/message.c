// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Messages of any length.
 *
 * The ends exchange two kinds of short messages: announcements, which carry the memory
 * descriptor of the data, and replies. An end has at most one announcement in flight, until the
 * peer has replied, and at most one reply. Two receives are therefore always enough. When an
 * end sends a message of one kind, the peer has received the previous message of that kind, so
 * its buffer can be reused. The sends are unsignaled: if one fails, the connection ends, and
 * the flushed receives report that.
 *
 * All numbers are little-endian:
 *
 *	 0  magic, 32 bits
 *	 4  kind, 8 bits
 *	 5  zero, 8 bits
 *	 6  verdict, 16 bits; of a reply
 *	 8  length, 64 bits; of an announcement
 *	16  memory descriptor; of an announcement, zeroes if the length is 0
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"
#include "krdma_entry.h"
#include "krdma_message.h"
#include "wire.h"

/* "KRDb" */
#define MAGIC		0x6244524bu
#define WIRE_SIZE	(16 + KRDMA_MR_DESC_SIZE)

#define RECEIVES	2
#define PIECES_MAX	16
#define DEFAULT_PIECES	4
#define DEFAULT_PIECE	(1024 * 1024)
#define PIECE_MAX	(1024 * 1024 * 1024)
/* Announcements and replies in flight: a generous upper bound. */
#define SENDS		16

/* How long to wait for the reason after the connection has ended, in ms. */
#define REASON_MS	2000

#define NS_PER_S	1000000000ull

enum kind {
	ANNOUNCEMENT = 1,
	ANSWER = 2,
};

enum verdict {
	RECEIVED = 0,
	TOO_LONG = 1,
	GIVEN_UP = 2,
};

/* Slots for messages to send, after those for receives. */
enum {
	SLOT_ANNOUNCEMENT = RECEIVES,
	SLOT_ANSWER,
	SLOTS,
};

/**
 * struct krdma_messenger - one end of a connection
 * @session, @conn: owned by the caller
 * @options: options with the defaults filled in
 * @device_id: device of the connection
 * @ring: ring for announcements, replies and reads
 * @recv_ring: ring for receives
 * @mr: memory region with slots of WIRE_SIZE bytes
 * @lock: protects the fields below; never held while waiting
 * @changed: broadcast when a field below changes
 * @sending, @receiving: a thread has the turn; others wait
 * @looking: a thread waits on the receive ring
 * @reading: a thread waits on the other ring
 * @failed: negative errno after which the messenger is unusable
 * @announced: the peer announced a message that this end has not replied to
 * @length: length of that message in bytes
 * @remote: its data
 * @answered: the peer has replied
 * @verdict: content of the reply
 */
struct krdma_messenger {
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_messenger_options options;
	uint32_t device_id;
	struct krdma_ring *ring;
	struct krdma_ring *recv_ring;
	struct krdma_mr *mr;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool sending;
	bool receiving;
	bool looking;
	bool reading;
	int failed;
	bool announced;
	uint64_t length;
	struct krdma_remote_mr remote;
	bool answered;
	uint32_t verdict;
};

/*
 * Creating
 */

static int check_options(struct krdma_messenger_options *options)
{
	if (options->polled > 1 || options->pieces > PIECES_MAX ||
	    options->piece_size > PIECE_MAX)
		return -EINVAL;
	if (!options->piece_size)
		options->piece_size = DEFAULT_PIECE;
	if (!options->pieces)
		options->pieces = DEFAULT_PIECES;
	return 0;
}

static int make_lock(struct krdma_messenger *messenger)
{
	pthread_condattr_t attributes;
	int err;

	err = pthread_condattr_init(&attributes);
	if (err)
		return -err;
	err = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	if (!err)
		err = pthread_cond_init(&messenger->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (err)
		return -err;
	err = pthread_mutex_init(&messenger->lock, NULL);
	if (err)
		pthread_cond_destroy(&messenger->changed);
	return -err;
}

/*
 * The send depth: the reads in flight, each counted with the number of parts into which the
 * device splits it, and the announcements and replies. Twice that, because unsignaled work
 * requests free their places only after half a depth of later ones.
 */
static int find_depth(struct krdma_messenger *messenger, uint32_t *depth)
{
	struct krdma_device_query_args device;
	struct krdma_port_query_args port;
	uint32_t longest = PIECE_MAX;
	int err;

	err = krdma_device_query(messenger->session, messenger->device_id, &device, sizeof(device));
	for (uint32_t number = 1; !err && number <= device.port_count; number++) {
		err = krdma_port_query(messenger->session, messenger->device_id, number, &port,
				       sizeof(port));
		if (!err && port.max_msg_size && port.max_msg_size < longest)
			longest = port.max_msg_size;
	}
	/* The device existed when the connection was resolved. */
	if (err)
		return err == -ENOENT ? -ENODEV : err;
	*depth = 2 * (messenger->options.pieces *
		      ((messenger->options.piece_size - 1) / longest + 1) + SENDS);
	return 0;
}

static int make_rings(struct krdma_messenger *messenger, uint32_t depth)
{
	struct krdma_ring_create_args options = {
		.size = sizeof(options),
		.flags = messenger->options.polled ? KRDMA_RING_POLLED : 0,
		.cq_entries = depth + KRDMA_RING_EXTRA,
	};
	int err;

	err = krdma_ring_create(messenger->session, &options, &messenger->ring);
	if (err)
		return err;
	options.cq_entries = RECEIVES + KRDMA_RING_EXTRA;
	return krdma_ring_create(messenger->session, &options, &messenger->recv_ring);
}

static int post_receive(struct krdma_messenger *messenger, uint64_t slot)
{
	struct krdma_sqe entry = krdma_entry_recv(messenger->conn, slot, messenger->mr,
						  slot * WIRE_SIZE, WIRE_SIZE);

	return krdma_ring_post(messenger->recv_ring, &entry, 1, NULL);
}

static int create_qp(struct krdma_messenger *messenger)
{
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options), .recv_depth = RECEIVES, .max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct krdma_conn_query_args query;
	int err;

	err = krdma_conn_query(messenger->conn, &query, sizeof(query));
	if (err)
		return err;
	messenger->device_id = query.device_id;
	err = find_depth(messenger, &options.send_depth);
	if (!err)
		err = make_rings(messenger, options.send_depth);
	if (!err)
		err = krdma_mr_alloc(messenger->session, messenger->device_id,
				     SLOTS * WIRE_SIZE, KRDMA_ACCESS_LOCAL_WRITE,
				     &messenger->mr);
	if (!err)
		err = krdma_conn_create_qp(messenger->conn, messenger->ring, messenger->recv_ring,
					   NULL, &options);
	for (uint64_t slot = 0; slot < RECEIVES && !err; slot++)
		err = post_receive(messenger, slot);
	return err;
}

KRDMA_PUBLIC int krdma_messenger_create(struct krdma *session, struct krdma_conn *conn,
					const struct krdma_messenger_options *options,
					struct krdma_messenger **messenger)
{
	struct krdma_messenger *new;
	int err;

	if (!session || !conn || !messenger)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->session = session;
	new->conn = conn;
	err = request_options(&new->options, sizeof(new->options), options);
	if (!err)
		err = check_options(&new->options);
	if (!err)
		err = make_lock(new);
	if (err) {
		free(new);
		return err;
	}
	err = create_qp(new);
	if (err)
		krdma_messenger_destroy(new);
	else
		*messenger = new;
	return err;
}

KRDMA_PUBLIC void krdma_messenger_destroy(struct krdma_messenger *messenger)
{
	if (!messenger)
		return;
	krdma_ring_close(messenger->ring);
	krdma_ring_close(messenger->recv_ring);
	/* Posted receives use the memory region as long as the connection exists. */
	krdma_mr_deregister(messenger->mr, KRDMA_DEREGISTER_LATER);
	pthread_mutex_destroy(&messenger->lock);
	pthread_cond_destroy(&messenger->changed);
	free(messenger);
}

/*
 * Waiting
 */

/* Call with the lock held: sleeps until a field changes; -ETIMEDOUT if none does in time. */
static int doze(struct krdma_messenger *messenger, uint64_t deadline)
{
	struct timespec until;

	if (deadline == KRDMA_FOREVER)
		return -pthread_cond_wait(&messenger->changed, &messenger->lock);
	until.tv_sec = (time_t)(deadline / NS_PER_S);
	until.tv_nsec = (long)(deadline % NS_PER_S);
	return -pthread_cond_timedwait(&messenger->changed, &messenger->lock, &until);
}

static int begin_turn(struct krdma_messenger *messenger, bool *turn, uint64_t deadline)
{
	int err = 0;

	pthread_mutex_lock(&messenger->lock);
	while (*turn && !err)
		err = doze(messenger, deadline);
	if (!*turn)
		err = messenger->failed;
	if (!err)
		*turn = true;
	pthread_mutex_unlock(&messenger->lock);
	return err;
}

static void end_turn(struct krdma_messenger *messenger, bool *turn)
{
	pthread_mutex_lock(&messenger->lock);
	*turn = false;
	pthread_cond_broadcast(&messenger->changed);
	pthread_mutex_unlock(&messenger->lock);
}

static int fail(struct krdma_messenger *messenger, int err)
{
	pthread_mutex_lock(&messenger->lock);
	if (!messenger->failed)
		messenger->failed = err;
	err = messenger->failed;
	pthread_cond_broadcast(&messenger->changed);
	pthread_mutex_unlock(&messenger->lock);
	return err;
}

/*
 * Called after a failure, which ends the connection. Stores the errno for the reason in
 * messenger->failed, unless that has one already, and returns it.
 */
static int over(struct krdma_messenger *messenger)
{
	uint64_t deadline = krdma_deadline(REASON_MS);
	int err;

	do {
		err = krdma_conn_wait(messenger->conn, deadline, NULL);
	} while (err == -EINTR);
	switch (err) {
	case 0:
		krdma_conn_disconnect(messenger->conn, KRDMA_DISCONNECT_ABORT);
		return fail(messenger, -ECONNRESET);
	case -ENOTCONN:
	case -ECONNABORTED:
		return fail(messenger, -ENOTCONN);
	case -ENODEV:
		return fail(messenger, err);
	default:
		return fail(messenger, -ECONNRESET);
	}
}

/*
 * Arrivals
 */

static unsigned char *slot_data(const struct krdma_messenger *messenger, uint64_t slot)
{
	return (unsigned char *)krdma_mr_data(messenger->mr) + slot * WIRE_SIZE;
}

static int read_announcement(struct krdma_messenger *messenger, const unsigned char *wire)
{
	if (messenger->announced)
		return -EPROTO;
	messenger->length = wire_get64(wire + 8);
	if (messenger->length) {
		if (krdma_remote_mr_from_desc(wire + 16, KRDMA_MR_DESC_SIZE, &messenger->remote) ||
		    messenger->remote.length != messenger->length)
			return -EPROTO;
	}
	messenger->announced = true;
	return 0;
}

static int read_answer(struct krdma_messenger *messenger, const unsigned char *wire)
{
	if (messenger->answered || !messenger->sending)
		return -EPROTO;
	messenger->verdict = wire_get16(wire + 6);
	messenger->answered = true;
	return messenger->verdict > GIVEN_UP ? -EPROTO : 0;
}

/* Call with the lock held. */
static int arrived(struct krdma_messenger *messenger, const struct krdma_cqe *cqe)
{
	const unsigned char *wire = slot_data(messenger, cqe->wr_id);
	int err;

	if (cqe->length != WIRE_SIZE || (cqe->flags & KRDMA_CQE_IMM) || wire_get32(wire) != MAGIC)
		return -EPROTO;
	if (wire[4] == ANNOUNCEMENT)
		err = read_announcement(messenger, wire);
	else if (wire[4] == ANSWER)
		err = read_answer(messenger, wire);
	else
		err = -EPROTO;
	/* Post the receive again before sending anything that the peer replies to. */
	return err ? err : post_receive(messenger, cqe->wr_id);
}

/*
 * Waits on the receive ring while other threads sleep. Called with the lock held; drops it while
 * waiting.
 */
static int look(struct krdma_messenger *messenger, uint64_t deadline)
{
	struct krdma_cqe cqes[RECEIVES];
	size_t taken = 0;
	int err, bad = 0;

	messenger->looking = true;
	pthread_mutex_unlock(&messenger->lock);
	err = krdma_ring_wait(messenger->recv_ring, cqes, RECEIVES, 1, deadline, &taken);

	pthread_mutex_lock(&messenger->lock);
	for (size_t i = 0; !err && i < taken && !bad; i++)
		bad = cqes[i].status == KRDMA_WC_SUCCESS ? arrived(messenger, &cqes[i]) :
							       -ECONNRESET;
	pthread_mutex_unlock(&messenger->lock);

	if (err == -EAGAIN)
		err = -ETIMEDOUT;
	if (bad == -EPROTO) {
		fail(messenger, bad);
		krdma_conn_disconnect(messenger->conn, KRDMA_DISCONNECT_ABORT);
	} else if (bad || (err && err != -ETIMEDOUT && err != -EINTR)) {
		over(messenger);
	}

	pthread_mutex_lock(&messenger->lock);
	messenger->looking = false;
	pthread_cond_broadcast(&messenger->changed);
	return err;
}

/* Waits until the flag *@what is set. A set flag stays valid after the connection has ended. */
static int await(struct krdma_messenger *messenger, const bool *what, uint64_t deadline)
{
	int err = 0;

	pthread_mutex_lock(&messenger->lock);
	while (!*what) {
		if (messenger->failed)
			err = messenger->failed;
		if (err)
			break;
		err = messenger->looking ? doze(messenger, deadline) : look(messenger, deadline);
	}
	if (*what)
		err = 0;
	pthread_mutex_unlock(&messenger->lock);
	return err;
}

/*
 * Sending
 */

/*
 * In a polled ring, unsignaled work requests free their places only when a thread polls. If no
 * other thread does, this one polls.
 */
static void poll_unsignaled(struct krdma_messenger *messenger)
{
	struct krdma_cqe cqes[SENDS];
	size_t taken;
	bool mine;

	if (!messenger->options.polled)
		return;
	pthread_mutex_lock(&messenger->lock);
	mine = !messenger->reading;
	messenger->reading = true;
	pthread_mutex_unlock(&messenger->lock);
	if (!mine)
		return;
	/*
	 * Ignore the completions: here only failed work requests have one. A failure ends the
	 * connection, and the receive ring reports that.
	 */
	krdma_ring_poll(messenger->ring, cqes, SENDS, &taken);
	end_turn(messenger, &messenger->reading);
}

static int post(struct krdma_messenger *messenger, unsigned int slot)
{
	struct krdma_sqe entry = krdma_entry_send(messenger->conn, 0, messenger->mr,
						  slot * WIRE_SIZE, WIRE_SIZE);
	int err;

	poll_unsignaled(messenger);
	entry.flags = KRDMA_SQE_UNSIGNALED;
	err = krdma_ring_post(messenger->ring, &entry, 1, NULL);
	return err == -ENOTCONN || err == -ENODEV ? over(messenger) : err;
}

static int announce(struct krdma_messenger *messenger, struct krdma_mr *mr, size_t offset,
		    size_t length)
{
	unsigned char *wire = slot_data(messenger, SLOT_ANNOUNCEMENT);
	int err = 0;

	memset(wire, 0, WIRE_SIZE);
	wire_put32(wire, MAGIC);
	wire[4] = ANNOUNCEMENT;
	wire_put64(wire + 8, length);
	if (length)
		err = krdma_mr_describe(mr, offset, length, wire + 16);
	if (err)
		return err;
	pthread_mutex_lock(&messenger->lock);
	messenger->answered = false;
	pthread_mutex_unlock(&messenger->lock);
	return post(messenger, SLOT_ANNOUNCEMENT);
}

/*
 * Waits for the reply. The announcement cannot be withdrawn, because the peer may be reading.
 */
static int await_answer(struct krdma_messenger *messenger, uint64_t deadline)
{
	int err;

	do {
		err = await(messenger, &messenger->answered, deadline);
	} while (err == -EINTR);
	if (err == -ETIMEDOUT) {
		fail(messenger, -ENOTCONN);
		krdma_conn_disconnect(messenger->conn, KRDMA_DISCONNECT_ABORT);
	}
	if (err)
		return err;
	switch (messenger->verdict) {
	case RECEIVED:
		return 0;
	case TOO_LONG:
		return -EMSGSIZE;
	default:
		return -ECANCELED;
	}
}

/* Call while having the turn. */
static int send_from(struct krdma_messenger *messenger, struct krdma_mr *mr, size_t offset,
		     size_t length, uint64_t deadline)
{
	int err = announce(messenger, mr, offset, length);

	return err ? err : await_answer(messenger, deadline);
}

KRDMA_PUBLIC int krdma_message_send_mr(struct krdma_messenger *messenger,
				       struct krdma_mr *mr, size_t offset,
				       size_t length, uint64_t deadline)
{
	int err;

	if (!messenger || !mr)
		return -EINVAL;
	if (offset > krdma_mr_length(mr) || length > krdma_mr_length(mr) - offset)
		return -ERANGE;
	err = begin_turn(messenger, &messenger->sending, deadline);
	if (err)
		return err;
	err = send_from(messenger, mr, offset, length, deadline);
	end_turn(messenger, &messenger->sending);
	return err;
}

/*
 * After an abort, work requests may use the memory region for a short time. The kernel then
 * deregisters it later.
 */
static void release(struct krdma_mr *mr)
{
	if (krdma_mr_deregister(mr, 0))
		krdma_mr_deregister(mr, KRDMA_DEREGISTER_LATER);
}

KRDMA_PUBLIC int krdma_message_send(struct krdma_messenger *messenger, const void *data,
				    size_t length, uint64_t deadline)
{
	struct krdma_mr *mr = NULL;
	int err;

	if (!messenger || (length && !data))
		return -EINVAL;
	err = begin_turn(messenger, &messenger->sending, deadline);
	if (err)
		return err;
	/* The cast is safe: the peer may only read. */
	if (length)
		err = krdma_mr_register(messenger->session, messenger->device_id, (void *)data,
					length, KRDMA_ACCESS_REMOTE_READ, &mr);
	if (!err)
		err = send_from(messenger, mr, 0, length, deadline);
	release(mr);
	end_turn(messenger, &messenger->sending);
	return err;
}

/*
 * Receiving
 */

/**
 * struct reading - a message being received
 * @mr: destination
 * @offset: offset of the message in @mr, in bytes
 * @length: length of the message in bytes
 * @asked: bytes for which reads have been posted
 * @done: bytes received
 * @under_way: number of reads in flight
 * @stopped: negative errno after which no more reads are posted
 */
struct reading {
	struct krdma_mr *mr;
	size_t offset;
	uint64_t length;
	uint64_t asked;
	uint64_t done;
	unsigned int under_way;
	int stopped;
};

/* Posts reads until the maximum number is in flight. Stops if one is refused. */
static void ask(struct krdma_messenger *messenger, struct reading *reading)
{
	while (reading->asked < reading->length && !reading->stopped &&
	       reading->under_way < messenger->options.pieces) {
		uint64_t left = reading->length - reading->asked;
		uint32_t length = messenger->options.piece_size;
		struct krdma_sqe entry;
		int err;

		if (left < length)
			length = (uint32_t)left;
		entry = krdma_entry_read(messenger->conn, length, reading->mr,
					 reading->offset + reading->asked, length,
					 &messenger->remote, reading->asked);
		err = krdma_ring_post(messenger->ring, &entry, 1, NULL);
		if (err) {
			reading->stopped = err;
			return;
		}
		reading->asked += length;
		reading->under_way++;
	}
}

/* Handles the completion of a read, or of a failed unsignaled work request. */
static void ended(const struct krdma_messenger *messenger, struct reading *reading,
		  const struct krdma_cqe *cqe)
{
	const struct krdma_messenger_options *options = &messenger->options;

	if (cqe->opcode == KRDMA_OP_READ)
		reading->under_way--;
	if (cqe->status != KRDMA_WC_SUCCESS) {
		reading->stopped = -ENOTCONN;
		return;
	}
	reading->done += cqe->wr_id;
	if (!reading->stopped && options->progress &&
	    options->progress(options->context, reading->done, reading->length))
		reading->stopped = -ECANCELED;
}

/*
 * Takes completions of reads, at least one. Every read in flight completes: if the peer does
 * not respond, the device gives up after some seconds.
 */
static void take(struct krdma_messenger *messenger, struct reading *reading, uint64_t deadline)
{
	struct krdma_cqe cqes[PIECES_MAX];
	size_t taken = 0;
	int err;

	err = krdma_ring_wait(messenger->ring, cqes, PIECES_MAX, 1,
			      reading->stopped ? KRDMA_FOREVER : deadline, &taken);
	if (err == -EINTR)
		return;
	if (err) {
		if (!reading->stopped)
			reading->stopped = err == -EAGAIN ? -ETIMEDOUT : err;
		else
			/* The device is gone, and with it all work requests. */
			reading->under_way = 0;
		return;
	}
	for (size_t i = 0; i < taken; i++)
		ended(messenger, reading, &cqes[i]);
}

static void read_all(struct krdma_messenger *messenger, struct reading *reading, uint64_t deadline)
{
	while (reading->done < reading->length) {
		ask(messenger, reading);
		if (!reading->under_way)
			break;
		take(messenger, reading, deadline);
	}
	/* All data have arrived, although after the deadline. */
	if (reading->done == reading->length && reading->stopped == -ETIMEDOUT)
		reading->stopped = 0;
}

static int answer(struct krdma_messenger *messenger, enum verdict verdict)
{
	unsigned char *wire = slot_data(messenger, SLOT_ANSWER);

	pthread_mutex_lock(&messenger->lock);
	messenger->announced = false;
	pthread_mutex_unlock(&messenger->lock);
	memset(wire, 0, WIRE_SIZE);
	wire_put32(wire, MAGIC);
	wire[4] = ANSWER;
	wire_put16(wire + 6, (uint16_t)verdict);
	return post(messenger, SLOT_ANSWER);
}

/* Call while having the turn, for an announced message that fits. */
static int receive_into(struct krdma_messenger *messenger, struct krdma_mr *mr,
			size_t offset, uint64_t deadline)
{
	struct reading reading = {
		.mr = mr, .offset = offset, .length = messenger->length,
	};
	int err;

	/* Another thread has this turn only to poll once, which does not wait. */
	err = begin_turn(messenger, &messenger->reading, KRDMA_FOREVER);
	if (err)
		return err;
	read_all(messenger, &reading, deadline);
	end_turn(messenger, &messenger->reading);
	switch (reading.stopped) {
	case 0:
		return answer(messenger, RECEIVED);
	case -ENOTCONN:
	case -ENODEV:
		return over(messenger);
	default:
		err = answer(messenger, GIVEN_UP);
		return err ? err : reading.stopped;
	}
}

/* Call while having the turn: waits for an announcement, and returns the message's length. */
static int await_announcement(struct krdma_messenger *messenger, size_t *length, uint64_t deadline)
{
	int err = await(messenger, &messenger->announced, deadline);

	if (!err)
		*length = messenger->length < SIZE_MAX ? (size_t)messenger->length : SIZE_MAX;
	return err;
}

/* Like await_announcement(), but refuses a message of more than @room bytes: -EMSGSIZE. */
static int await_message(struct krdma_messenger *messenger, size_t room, size_t *length,
			 uint64_t deadline)
{
	int err = await_announcement(messenger, length, deadline);

	if (err || messenger->length <= room)
		return err;
	err = answer(messenger, TOO_LONG);
	return err ? err : -EMSGSIZE;
}

KRDMA_PUBLIC int krdma_message_next(struct krdma_messenger *messenger, size_t *length,
				    uint64_t deadline)
{
	int err;

	if (!messenger || !length)
		return -EINVAL;
	err = begin_turn(messenger, &messenger->receiving, deadline);
	if (err)
		return err;
	err = await_announcement(messenger, length, deadline);
	end_turn(messenger, &messenger->receiving);
	return err;
}

KRDMA_PUBLIC int krdma_message_recv_mr(struct krdma_messenger *messenger,
				       struct krdma_mr *mr, size_t offset,
				       size_t room, size_t *length, uint64_t deadline)
{
	size_t is = 0;
	int err;

	if (!messenger || !mr)
		return -EINVAL;
	if (offset > krdma_mr_length(mr) || room > krdma_mr_length(mr) - offset)
		return -ERANGE;
	err = begin_turn(messenger, &messenger->receiving, deadline);
	if (err)
		return err;
	err = await_message(messenger, room, &is, deadline);
	if (!err)
		err = receive_into(messenger, mr, offset, deadline);
	end_turn(messenger, &messenger->receiving);
	if (length && (!err || err == -EMSGSIZE || err == -ECANCELED))
		*length = is;
	return err;
}

KRDMA_PUBLIC int krdma_message_recv(struct krdma_messenger *messenger, void *data, size_t room,
				    size_t *length, uint64_t deadline)
{
	struct krdma_mr *mr = NULL;
	size_t is = 0;
	int err;

	if (!messenger || (room && !data))
		return -EINVAL;
	err = begin_turn(messenger, &messenger->receiving, deadline);
	if (err)
		return err;
	err = await_message(messenger, room, &is, deadline);
	if (!err && is)
		err = krdma_mr_register(messenger->session, messenger->device_id, data, is,
					KRDMA_ACCESS_LOCAL_WRITE, &mr);
	if (!err)
		err = receive_into(messenger, mr, 0, deadline);
	release(mr);
	end_turn(messenger, &messenger->receiving);
	if (length && (!err || err == -EMSGSIZE || err == -ECANCELED))
		*length = is;
	return err;
}
