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
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
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

enum kind {
	ANNOUNCEMENT = 1,
	ANSWER = 2,
};

enum verdict {
	RECEIVED = 0,
	TOO_LONG = 1,
	GIVEN_UP = 2,
};

/* What a thread waits for. */
enum {
	AN_ANNOUNCEMENT,
	AN_ANSWER,
};

/* Slots for messages to send, after those for receives. */
enum {
	SLOT_ANNOUNCEMENT = RECEIVES,
	SLOT_ANSWER,
	SLOTS,
};

/**
 * struct krdma_messenger - one end of a connection
 * @ch: session and connection are the caller's. The slots are of WIRE_SIZE bytes. The turn in
 *	there is for reads
 * @options: options with the defaults filled in
 * @device_id: device of the connection
 * @maker: the process that owns it
 *
 * The lock protects the fields below.
 *
 * @sending, @receiving: a thread has the turn; others wait
 * @announced: the peer announced a message that this end has not replied to
 * @length: length of that message in bytes
 * @remote: its data
 * @answered: the peer has replied
 * @verdict: content of the reply
 */
struct krdma_messenger {
	struct channel ch;
	struct krdma_messenger_options options;
	uint32_t device_id;
	pid_t maker;

	bool sending;
	bool receiving;
	bool announced;
	uint64_t length;
	struct krdma_remote_mr remote;
	bool answered;
	uint32_t verdict;
};

/*
 * Arrivals
 */

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
	const uint32_t verdict = wire_get16(wire + 6);

	/* The caller does not take a reply for an answer if it ends the connection. */
	if (messenger->answered || !messenger->sending || verdict > GIVEN_UP)
		return -EPROTO;
	messenger->verdict = verdict;
	messenger->answered = true;
	return 0;
}

static int arrived(struct channel *channel, const struct krdma_cqe *cqe)
{
	struct krdma_messenger *messenger = (struct krdma_messenger *)channel;
	const unsigned char *wire = channel_slot(channel, cqe->wr_id);
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
	return err ? err : channel_post_receives(channel, (uint32_t)cqe->wr_id, 1);
}

static bool is_there(const struct channel *channel, uint32_t what)
{
	const struct krdma_messenger *messenger = (const struct krdma_messenger *)channel;

	return what == AN_ANSWER ? messenger->answered : messenger->announced;
}

static int await(struct krdma_messenger *messenger, uint32_t what, uint64_t deadline)
{
	int err;

	pthread_mutex_lock(&messenger->ch.lock);
	err = channel_await(&messenger->ch, what, deadline);
	pthread_mutex_unlock(&messenger->ch.lock);
	return err;
}

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

	err = krdma_device_query(messenger->ch.session, messenger->device_id, &device,
				 sizeof(device));
	for (uint32_t number = 1; !err && number <= device.port_count; number++) {
		err = krdma_port_query(messenger->ch.session, messenger->device_id, number, &port,
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

static int create_qp(struct krdma_messenger *messenger)
{
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options), .recv_depth = RECEIVES, .max_send_sge = 1,
		.max_recv_sge = 1,
	};
	struct krdma_conn_query_args query;
	int err;

	err = krdma_conn_query(messenger->ch.conn, &query, sizeof(query));
	if (err)
		return err;
	messenger->device_id = query.device_id;
	err = find_depth(messenger, &options.send_depth);
	if (!err)
		err = channel_create_qp(&messenger->ch, &options);
	if (!err)
		err = krdma_mr_alloc(messenger->ch.session, messenger->device_id,
				     SLOTS * WIRE_SIZE, KRDMA_ACCESS_LOCAL_WRITE,
				     &messenger->ch.slots);
	if (!err)
		err = channel_post_receives(&messenger->ch, 0, RECEIVES);
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
	new->maker = getpid();
	new->ch.session = session;
	new->ch.conn = conn;
	new->ch.slot_size = WIRE_SIZE;
	new->ch.slot_length = WIRE_SIZE;
	new->ch.arrived = arrived;
	new->ch.is_there = is_there;
	err = request_options(&new->options, sizeof(new->options), options);
	if (!err)
		err = check_options(&new->options);
	if (!err)
		err = channel_init(&new->ch);
	if (err) {
		free(new);
		return err;
	}
	new->ch.polled = new->options.polled;
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
	/* Posted receives use the slots as long as the connection exists. */
	channel_release(&messenger->ch);
	/* In a child's copy, threads that do not exist may be registered as waiting. */
	if (object_is_own(messenger->maker))
		channel_destroy(&messenger->ch);
	free(messenger);
}

/*
 * Sending
 */

static int post(struct krdma_messenger *messenger, unsigned int slot)
{
	struct krdma_sqe entry = krdma_entry_send(messenger->ch.conn, 0, messenger->ch.slots,
						  slot * WIRE_SIZE, WIRE_SIZE);
	int err;

	pthread_mutex_lock(&messenger->ch.lock);
	channel_poll(&messenger->ch);
	pthread_mutex_unlock(&messenger->ch.lock);
	entry.flags = KRDMA_SQE_UNSIGNALED;
	err = krdma_ring_post(messenger->ch.ring, &entry, 1, NULL);
	return err == -ENOTCONN || err == -ENODEV ? channel_over(&messenger->ch) : err;
}

static int announce(struct krdma_messenger *messenger, struct krdma_mr *mr, size_t offset,
		    size_t length)
{
	unsigned char *wire = channel_slot(&messenger->ch, SLOT_ANNOUNCEMENT);
	int err = 0;

	memset(wire, 0, WIRE_SIZE);
	wire_put32(wire, MAGIC);
	wire[4] = ANNOUNCEMENT;
	wire_put64(wire + 8, length);
	if (length)
		err = krdma_mr_describe(mr, offset, length, wire + 16);
	if (err)
		return err;
	pthread_mutex_lock(&messenger->ch.lock);
	messenger->answered = false;
	pthread_mutex_unlock(&messenger->ch.lock);
	return post(messenger, SLOT_ANNOUNCEMENT);
}

/*
 * Waits for the reply. The announcement cannot be withdrawn, because the peer may be reading.
 */
static int await_answer(struct krdma_messenger *messenger, uint64_t deadline)
{
	int err;

	do {
		err = await(messenger, AN_ANSWER, deadline);
	} while (err == -EINTR);
	if (err == -ETIMEDOUT) {
		channel_fail(&messenger->ch, -ENOTCONN);
		krdma_conn_disconnect(messenger->ch.conn, KRDMA_DISCONNECT_ABORT);
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
	err = channel_begin(&messenger->ch, &messenger->sending, deadline);
	if (err)
		return err;
	err = send_from(messenger, mr, offset, length, deadline);
	channel_end(&messenger->ch, &messenger->sending);
	return err;
}

KRDMA_PUBLIC int krdma_message_send(struct krdma_messenger *messenger, const void *data,
				    size_t length, uint64_t deadline)
{
	struct krdma_mr *mr = NULL;
	int err;

	if (!messenger || (length && !data))
		return -EINVAL;
	err = channel_begin(&messenger->ch, &messenger->sending, deadline);
	if (err)
		return err;
	/* The cast is safe: the peer may only read. */
	if (length)
		err = krdma_mr_register(messenger->ch.session, messenger->device_id, (void *)data,
					length, KRDMA_ACCESS_REMOTE_READ, &mr);
	if (!err)
		err = send_from(messenger, mr, 0, length, deadline);
	mr_release(mr);
	channel_end(&messenger->ch, &messenger->sending);
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
 * @in_flight: number of reads in flight
 * @stopped: negative errno after which no more reads are posted
 */
struct reading {
	struct krdma_mr *mr;
	size_t offset;
	uint64_t length;
	uint64_t asked;
	uint64_t done;
	unsigned int in_flight;
	int stopped;
};

/* Posts reads until the maximum number is in flight. Stops if one is refused. */
static void ask(struct krdma_messenger *messenger, struct reading *reading)
{
	while (reading->asked < reading->length && !reading->stopped &&
	       reading->in_flight < messenger->options.pieces) {
		uint64_t left = reading->length - reading->asked;
		uint32_t length = messenger->options.piece_size;
		struct krdma_sqe entry;
		int err;

		if (left < length)
			length = (uint32_t)left;
		entry = krdma_entry_read(messenger->ch.conn, length, reading->mr,
					 reading->offset + reading->asked, length,
					 &messenger->remote, reading->asked);
		err = krdma_ring_post(messenger->ch.ring, &entry, 1, NULL);
		if (err) {
			reading->stopped = err;
			return;
		}
		reading->asked += length;
		reading->in_flight++;
	}
}

/* Handles the completion of a read, or of a failed unsignaled work request. */
static void ended(const struct krdma_messenger *messenger, struct reading *reading,
		  const struct krdma_cqe *cqe)
{
	const struct krdma_messenger_options *options = &messenger->options;

	if (cqe->opcode == KRDMA_OP_READ)
		reading->in_flight--;
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

	err = krdma_ring_wait(messenger->ch.ring, cqes, PIECES_MAX, 1,
			      reading->stopped ? KRDMA_FOREVER : deadline, &taken);
	if (err == -EINTR)
		return;
	if (err) {
		if (!reading->stopped)
			reading->stopped = err == -EAGAIN ? -ETIMEDOUT : err;
		else
			/* The device is gone, and with it all work requests. */
			reading->in_flight = 0;
		return;
	}
	for (size_t i = 0; i < taken; i++)
		ended(messenger, reading, &cqes[i]);
}

static void read_all(struct krdma_messenger *messenger, struct reading *reading, uint64_t deadline)
{
	while (reading->done < reading->length) {
		ask(messenger, reading);
		if (!reading->in_flight)
			break;
		take(messenger, reading, deadline);
	}
	/* All data have arrived, although after the deadline. */
	if (reading->done == reading->length && reading->stopped == -ETIMEDOUT)
		reading->stopped = 0;
}

static int answer(struct krdma_messenger *messenger, enum verdict verdict)
{
	unsigned char *wire = channel_slot(&messenger->ch, SLOT_ANSWER);

	pthread_mutex_lock(&messenger->ch.lock);
	messenger->announced = false;
	pthread_mutex_unlock(&messenger->ch.lock);
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
	err = channel_begin(&messenger->ch, &messenger->ch.is_busy, KRDMA_FOREVER);
	if (err)
		return err;
	read_all(messenger, &reading, deadline);
	channel_end(&messenger->ch, &messenger->ch.is_busy);
	switch (reading.stopped) {
	case 0:
		return answer(messenger, RECEIVED);
	case -ENOTCONN:
	case -ENODEV:
		return channel_over(&messenger->ch);
	default:
		err = answer(messenger, GIVEN_UP);
		return err ? err : reading.stopped;
	}
}

/* Call while having the turn: waits for an announcement, and returns the message's length. */
static int await_announcement(struct krdma_messenger *messenger, size_t *length, uint64_t deadline)
{
	int err = await(messenger, AN_ANNOUNCEMENT, deadline);

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
	err = channel_begin(&messenger->ch, &messenger->receiving, deadline);
	if (err)
		return err;
	err = await_announcement(messenger, length, deadline);
	channel_end(&messenger->ch, &messenger->receiving);
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
	err = channel_begin(&messenger->ch, &messenger->receiving, deadline);
	if (err)
		return err;
	err = await_message(messenger, room, &is, deadline);
	if (!err)
		err = receive_into(messenger, mr, offset, deadline);
	channel_end(&messenger->ch, &messenger->receiving);
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
	err = channel_begin(&messenger->ch, &messenger->receiving, deadline);
	if (err)
		return err;
	err = await_message(messenger, room, &is, deadline);
	if (!err && is)
		err = krdma_mr_register(messenger->ch.session, messenger->device_id, data, is,
					KRDMA_ACCESS_LOCAL_WRITE, &mr);
	if (!err)
		err = receive_into(messenger, mr, 0, deadline);
	mr_release(mr);
	channel_end(&messenger->ch, &messenger->receiving);
	if (length && (!err || err == -EMSGSIZE || err == -ECANCELED))
		*length = is;
	return err;
}
