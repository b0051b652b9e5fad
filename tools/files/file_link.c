// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * One end of a connection for file transfers.
 *
 * Each side sends a message at least twice a second. If the peer is gone, the device reports that
 * for such a message. If the peer exists but sends nothing for link->patience_ms, the link fails
 * with -ETIMEDOUT. A peer whose disk stalls sends keepalives: link->progress_ms limits that at a
 * server, and a client waits until link->on_tick ends the transfer.
 */
#include "file_internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "krdma_entry.h"

#define NS_PER_MS	1000000ull

#define ALIVE_MS	500
/*
 * The retransmission timeout of the device: 4.096 us * 2^18, about one second. Data may have to
 * wait behind data of other files, and a retransmission because of a late acknowledgment costs
 * more than the delay after a loss.
 */
#define ACK_TIMEOUT	18
/*
 * How long to wait for the last message to arrive without any progress, and for the disconnect,
 * in ms.
 */
#define FAREWELL_MS	2000
/* How long to wait for the last message in any case, in ms. */
#define FAREWELL_MAX_MS	20000

/*
 * Layout of the memory region: received messages of the first connection, those to send, then the
 * received ones of the other connections, which have no names.
 */
#define STRIDE		((FILE_MESSAGE_MAX + 63u) / 64 * 64)
#define SHORT_STRIDE	((FILE_MESSAGE_FIXED + 63u) / 64 * 64)
#define ALL_FREE	((1u << FILE_MESSAGES) - 1)

/* Work requests of each connection at a time. */
#define SEND_DEPTH	(FILE_MESSAGES + FILE_SLOTS_MAX)

/* The wr_id of a work request: its connection, its kind, and the slot of a receive or send. */
enum {
	KIND_RECEIVE = 1 << 8,
	KIND_SEND = 2 << 8,
	KIND_OPERATION = 3 << 8,
	KIND_MASK = 0xff << 8,
	SLOT_MASK = 0xff,
	STREAM_SHIFT = 16,
};

static uint64_t id_of(unsigned int stream, unsigned int kind, unsigned int slot)
{
	return stream << STREAM_SHIFT | kind | slot;
}

uint64_t file_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int file_link_fail(struct file_link *link, int err, uint32_t side)
{
	if (!link->error) {
		link->error = err;
		link->side = side;
	}
	return link->error;
}

/* Calls @on_tick, at most once per tick. A value other than 0 stops the transfer. */
static int call_on_tick(struct file_link *link, uint64_t now)
{
	int err;

	if (!link->on_tick || now - link->ticked < FILE_TICK_MS * NS_PER_MS)
		return 0;
	link->ticked = now;
	err = link->on_tick(link->tick_context);
	return err ? file_link_fail(link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

/*
 * Returns the errno for a connection that has ended. Waits, because the device may report the
 * end before the connection does.
 */
static int reason(struct krdma_conn *conn)
{
	int err = krdma_conn_wait(conn, krdma_deadline(FAREWELL_MS), NULL);

	return err == -ETIMEDOUT || err == -ENODEV ? err : -ECONNRESET;
}

static int status_error(const struct file_stream *stream, const struct krdma_cqe *cqe)
{
	switch (cqe->status) {
	case KRDMA_WC_WR_FLUSH_ERR:
		return reason(stream->conn);
	case KRDMA_WC_RETRY_EXC_ERR:
	case KRDMA_WC_RNR_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	/* The peer described memory that is not accessible. */
	case KRDMA_WC_REM_ACCESS_ERR:
		return -EPROTO;
	/* rxe also reports these after heavy packet loss. */
	case KRDMA_WC_REM_INV_REQ_ERR:
	case KRDMA_WC_REM_OP_ERR:
	case KRDMA_WC_BAD_RESP_ERR:
		return -ECONNRESET;
	default:
		/*
		 * The receives are long enough for any valid message. Devices report a longer
		 * one with different statuses.
		 */
		return cqe->opcode == KRDMA_OP_RECV ? -EPROTO : -EIO;
	}
}

static int pump(struct file_link *link, bool wait, bool calls);

/*
 * Called when the connection has ended, by the thread that uses the link. The peer's last message
 * may still be in the CQ, behind other completions, so process completions until a flushed receive
 * or another failure follows.
 */
static int ended(struct file_link *link)
{
	uint64_t until = file_now() + FAREWELL_MS * NS_PER_MS;
	int err;

	do {
		err = pump(link, true, true);
	} while (!err && file_now() < until);
	if (err)
		return err;
	return file_link_fail(link, reason(link->streams->conn), KRDMA_FILE_SIDE_BETWEEN);
}

static int post(struct file_link *link, const struct krdma_sqe *entry)
{
	int err = krdma_ring_post(link->ring, entry, 1, NULL);

	/* The thread that uses the link finds that out too, and may wait: @on_tick is called. */
	if (err == -ENOTCONN)
		return link->keeping ? err : ended(link);
	return err ? file_link_fail(link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

static unsigned int receives_of(unsigned int stream)
{
	return stream ? FILE_STREAM_MESSAGES : FILE_MESSAGES;
}

/* Where a received message is in the memory region, and how long it can be. */
static size_t receive_offset(unsigned int stream, unsigned int slot)
{
	if (!stream)
		return (size_t)slot * STRIDE;
	return 2 * FILE_MESSAGES * STRIDE +
	       ((size_t)(stream - 1) * FILE_STREAM_MESSAGES + slot) * SHORT_STRIDE;
}

static uint32_t receive_length(unsigned int stream)
{
	return stream ? FILE_MESSAGE_FIXED : FILE_MESSAGE_MAX;
}

static int post_receive(struct file_link *link, unsigned int stream, unsigned int slot)
{
	struct krdma_sqe entry = krdma_entry_recv(link->streams[stream].conn,
						  id_of(stream, KIND_RECEIVE, slot),
						  link->control, receive_offset(stream, slot),
						  receive_length(stream));
	int err = krdma_ring_post(link->ring, &entry, 1, NULL);

	/* The end of the connection is handled by the functions that send. */
	return err == -ENOTCONN ? 0 : err;
}

/* Only messages of the data use the connections after the first one, each that of its slot. */
static bool is_right_stream(const struct file_link *link, unsigned int stream,
			    const struct file_message *message)
{
	if (message->type == FILE_MESSAGE_DATA || message->type == FILE_MESSAGE_HOLE)
		return message->slot % link->stream_count == stream;
	return !stream;
}

static int received(struct file_link *link, unsigned int number, unsigned int slot,
		    uint32_t length)
{
	struct file_stream *stream = &link->streams[number];
	struct file_message message;
	int err = file_message_decode((char *)krdma_mr_data(link->control) +
				      receive_offset(number, slot), length, &message, link->name);

	if (!err && !is_right_stream(link, number, &message))
		err = -EPROTO;
	if (!err)
		err = post_receive(link, number, slot);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	link->heard = file_now();
	if (message.type == FILE_MESSAGE_ALIVE) {
		/*
		 * A peer that goes on with a long file is not one that only occupies a place. It
		 * may examine one file after another, each from its beginning.
		 */
		if (message.offset > link->peer_examined)
			link->advanced = link->heard;
		link->peer_examined = message.offset;
		return 0;
	}
	link->peer_examined = 0;
	link->advanced = link->heard;
	if (message.type == FILE_MESSAGE_ERROR)
		return file_link_fail(link, file_code_error(message.code),
				      KRDMA_FILE_SIDE_PEER);
	if (stream->inbox_count == FILE_MESSAGES)
		return file_link_fail(link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	stream->inbox[(stream->inbox_first + stream->inbox_count) % FILE_MESSAGES] = message;
	stream->inbox_count++;
	return 0;
}

static int completed(struct file_link *link, const struct krdma_cqe *cqe)
{
	unsigned int number = (unsigned int)(cqe->wr_id >> STREAM_SHIFT);
	unsigned int slot = cqe->wr_id & SLOT_MASK;
	struct file_stream *stream = &link->streams[number];

	if (cqe->status)
		return file_link_fail(link, status_error(stream, cqe), KRDMA_FILE_SIDE_BETWEEN);
	switch (cqe->wr_id & KIND_MASK) {
	case KIND_RECEIVE:
		return received(link, number, slot, cqe->length);
	case KIND_SEND:
		link->free |= 1u << slot;
		return 0;
	default:
		stream->completed++;
		link->advanced = file_now();
		return 0;
	}
}

/*
 * Fails if the deadline has passed, or if the peer sends only keepalives for longer than
 * link->progress_ms: such a peer occupies a place that another client could use.
 */
static int judge_progress(struct file_link *link, uint64_t now, bool wait)
{
	/* Local work counts as progress. */
	if (!wait)
		link->advanced = now;
	if ((link->deadline && now > link->deadline) ||
	    (link->progress_ms && now - link->advanced > link->progress_ms * NS_PER_MS))
		return file_link_fail(link, -ETIMEDOUT, KRDMA_FILE_SIDE_HERE);
	return 0;
}

static int send_now(struct file_link *link, unsigned int stream,
		    const struct file_message *message, const char *name)
{
	unsigned int slot = (unsigned int)__builtin_ctz(link->free);
	size_t offset = (FILE_MESSAGES + slot) * STRIDE;
	size_t length = file_message_encode(message, name, (char *)
					    krdma_mr_data(link->control) + offset);
	struct krdma_sqe entry = krdma_entry_send(link->streams[stream].conn,
						  id_of(stream, KIND_SEND, slot), link->control,
						  offset, (uint32_t)length);
	int err;

	link->free &= ~(1u << slot);
	link->said = file_now();
	err = post(link, &entry);
	/* Nothing was posted, so no completion gives it back. */
	if (link->keeping && err == -ENOTCONN) {
		link->free |= 1u << slot;
		return 0;
	}
	return err;
}

/* Sends at most one keepalive at a time: a peer that does not receive gets no more messages. */
static int say_alive(struct file_link *link, uint64_t now)
{
	struct file_message message = {
		.type = FILE_MESSAGE_ALIVE, .offset = link->examined,
	};

	if (link->quiet || now - link->said < ALIVE_MS * NS_PER_MS || link->free != ALL_FREE)
		return 0;
	return send_now(link, 0, &message, NULL);
}

static int pump(struct file_link *link, bool wait, bool calls)
{
	struct krdma_cqe cqes[2 * FILE_MESSAGES];
	size_t taken = 0;
	uint64_t now;
	int err;

	if (link->error)
		return link->error;
	err = krdma_ring_wait(link->ring, cqes, sizeof(cqes) / sizeof(*cqes), 1,
			      wait ? krdma_deadline(FILE_TICK_MS) : 0, &taken);
	if (err && err != -EAGAIN && err != -ETIMEDOUT && err != -EINTR)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	if (err)
		taken = 0;
	/* The signal handler may have made @on_tick stop the transfer, so call it at once. */
	if (err == -EINTR)
		link->ticked = 0;
	for (size_t i = 0; i < taken; i++) {
		err = completed(link, &cqes[i]);
		if (err)
			return err;
	}
	now = file_now();
	err = calls ? call_on_tick(link, now) : 0;
	if (err)
		return err;
	if (!taken && now - link->heard > link->patience_ms * NS_PER_MS)
		return file_link_fail(link, -ETIMEDOUT, KRDMA_FILE_SIDE_BETWEEN);
	err = judge_progress(link, now, wait);
	return err ? err : say_alive(link, now);
}

int file_link_pump(struct file_link *link, bool wait)
{
	unsigned int depth = file_link_enter_all(link);
	int err = pump(link, wait, true);

	file_link_leave_again(link, depth);
	return err;
}

void file_link_keep(struct file_link *link)
{
	link->keeping = true;
	pump(link, false, false);
	link->keeping = false;
}

int file_link_tick(struct file_link *link)
{
	return file_link_pump(link, false);
}

int file_link_step(struct file_link *link)
{
	link->ticked = 0;
	return file_link_tick(link);
}

static int send_over(struct file_link *link, unsigned int stream,
		     const struct file_message *message, const char *name)
{
	int err;

	while (!link->free) {
		err = file_link_pump(link, true);
		if (err)
			return err;
	}
	return link->error ? link->error : send_now(link, stream, message, name);
}

int file_link_send(struct file_link *link, const struct file_message *message,
		   const char *name)
{
	return send_over(link, 0, message, name);
}

int file_link_send_on(struct file_link *link, unsigned int stream,
		      const struct file_message *message)
{
	return send_over(link, stream, message, NULL);
}

int file_link_take_from(struct file_link *link, unsigned int number, struct file_message *message)
{
	struct file_stream *stream = &link->streams[number];

	if (!stream->inbox_count)
		return -EAGAIN;
	*message = stream->inbox[stream->inbox_first];
	stream->inbox_first = (stream->inbox_first + 1) % FILE_MESSAGES;
	stream->inbox_count--;
	return 0;
}

int file_link_take(struct file_link *link, struct file_message *message)
{
	return file_link_take_from(link, 0, message);
}

bool file_link_has_more(const struct file_link *link)
{
	for (unsigned int i = 0; i < FILE_STREAMS_MAX; i++) {
		if (link->streams[i].inbox_count)
			return true;
	}
	return false;
}

int file_link_await(struct file_link *link, struct file_message *message)
{
	int err;

	link->ticked = 0;
	/* Messages that arrived before an error are still valid. */
	while (file_link_take(link, message)) {
		err = file_link_pump(link, true);
		if (err && !link->streams->inbox_count)
			return err;
	}
	return 0;
}

int file_link_receive(struct file_link *link, uint8_t type, struct file_message *message)
{
	int err = file_link_await(link, message);

	if (err || message->type == type)
		return err;
	return file_link_fail(link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
}

int file_link_operate(struct file_link *link, unsigned int stream, uint8_t opcode,
		      const struct krdma_mr *mr, size_t offset, uint32_t length,
		      const struct krdma_remote_mr *remote, uint64_t remote_offset)
{
	struct krdma_sqe entry = krdma_entry_remote(opcode, link->streams[stream].conn,
						    id_of(stream, KIND_OPERATION, 0), mr, offset,
						    length, remote, remote_offset);

	link->streams[stream].posted++;
	return post(link, &entry);
}

/*
 * Connecting and disconnecting
 */

static bool is_closed(struct krdma_conn *conn)
{
	struct krdma_conn_query_args query;

	return krdma_conn_query(conn, &query, sizeof(query)) ||
	       query.state == KRDMA_CONN_CLOSED;
}

/* Waits until a connection is resolved or connected. Does not set the error of the link. */
static int await_state(struct file_link *link, struct krdma_conn *conn)
{
	uint64_t begin = file_now();
	int err;

	for (;;) {
		err = krdma_conn_wait(conn, krdma_deadline(FILE_TICK_MS), NULL);
		if (err != -EINTR && (err != -ETIMEDOUT || is_closed(conn)))
			return err == -EIO || err == -EPIPE ? -ECONNRESET : err;
		if (err == -EINTR)
			link->ticked = 0;
		err = call_on_tick(link, file_now());
		if (err)
			return err;
		if (file_now() - begin > link->patience_ms * NS_PER_MS ||
		    (link->deadline && file_now() > link->deadline))
			return -ETIMEDOUT;
	}
}

/*
 * Creates the ring of all connections, and their memory for messages, on the device of the first
 * connection.
 */
static int create_ring(struct file_link *link, unsigned int streams)
{
	const uint32_t others = streams - 1;
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.cq_entries = 2 * FILE_MESSAGES + FILE_SLOTS_MAX + KRDMA_RING_EXTRA +
			      others * (SEND_DEPTH + FILE_STREAM_MESSAGES +
					KRDMA_RING_EXTRA),
	};
	struct krdma_conn_query_args query;
	int err;

	err = krdma_ring_create(link->session, &ring, &link->ring);
	if (!err)
		err = krdma_conn_query(link->streams->conn, &query, sizeof(query));
	if (err)
		return err;
	link->device = query.device_id;
	link->free = ALL_FREE;
	return krdma_mr_alloc(link->session, link->device,
			      receive_offset(1 + others, 0), KRDMA_ACCESS_LOCAL_WRITE,
			      &link->control);
}

/* Creates the QP of a connection, and posts the receives, so that the peer can send. */
static int create_qp(struct file_link *link, unsigned int stream)
{
	struct krdma_conn *conn = link->streams[stream].conn;
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options),
		.send_depth = SEND_DEPTH,
		.recv_depth = receives_of(stream),
		.max_send_sge = 1,
	};
	struct krdma_conn_query_args query;
	int err = krdma_conn_query(conn, &query, sizeof(query));

	/* The memory of the data is registered with one device. */
	if (!err && query.device_id != link->device)
		err = -EXDEV;
	if (!err)
		err = krdma_conn_create_qp(conn, link->ring, NULL, NULL, &options);
	for (unsigned int slot = 0; slot < receives_of(stream) && !err; slot++)
		err = post_receive(link, stream, slot);
	return err;
}

static void established(struct file_link *link)
{
	link->said = file_now();
	link->heard = link->said;
	link->advanced = link->said;
}

/*
 * Reads the hello in the peer's private data. Returns 0, or the errno if it is not valid or if
 * it rejects this side.
 */
static int hear_hello(struct file_link *link, struct krdma_conn *conn, struct file_hello *hello)
{
	unsigned char data[256];
	size_t length = sizeof(data);
	int err = krdma_conn_private_data(conn, data, &length);

	if (!err)
		err = file_hello_decode(data, length < sizeof(data) ? length : sizeof(data),
					hello);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	if (hello->code)
		return file_link_fail(link, file_code_error(hello->code), KRDMA_FILE_SIDE_PEER);
	return 0;
}

static uint16_t own_flags(const struct file_link *link)
{
	return link->secret ? FILE_HELLO_SECRET : 0;
}

void file_link_token(const struct secret *secret, const unsigned char ticket[FILE_TOKEN],
		     uint32_t number, unsigned char token[FILE_TOKEN])
{
	const unsigned char text[SECRET_NONCE] = { (unsigned char)number };

	if (secret)
		file_proof(secret, 'j', ticket, text, token);
	else
		memcpy(token, ticket, FILE_TOKEN);
}

/* Resolves the server's address, and creates the QP. */
static int resolve(struct file_link *link, unsigned int stream, const struct sockaddr *server)
{
	const struct krdma_conn_resolve_args options = {
		.size = sizeof(options),
		.ack_timeout = ACK_TIMEOUT,
	};
	struct krdma_conn **conn = &link->streams[stream].conn;
	int err = krdma_conn_create(link->session, conn);

	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_HERE);
	err = krdma_conn_resolve(*conn, server, &options);
	if (!err)
		err = await_state(link, *conn);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	if (!stream)
		err = create_ring(link, link->streams_wanted);
	if (!err)
		err = create_qp(link, stream);
	return err ? file_link_fail(link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

static int connect_stream(struct file_link *link, unsigned int stream,
			  const struct file_hello *own, struct file_hello *hello)
{
	struct krdma_conn *conn = link->streams[stream].conn;
	unsigned char data[FILE_HELLO_SIZE];
	size_t length = file_hello_encode(data, own);
	int err = krdma_conn_connect(conn, NULL, data, (uint32_t)length);

	if (!err)
		err = await_state(link, conn);
	/*
	 * A server rejects with a reason. Other services reject without one, and there may be
	 * no listener.
	 */
	if (err == -ECONNREFUSED) {
		err = hear_hello(link, conn, hello);
		if (link->side != KRDMA_FILE_SIDE_PEER && err != -EPROTONOSUPPORT)
			link->error = 0;
		err = -ECONNREFUSED;
	}
	return err ? file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN) : 0;
}

/* Makes the connections that the server grants after the first one. */
static int connect_others(struct file_link *link, const struct sockaddr *server)
{
	struct file_hello own = { .flags = own_flags(link) | FILE_HELLO_JOIN, .has_token = true };
	struct file_hello hello;
	int err = 0;

	for (unsigned int i = 1; i < link->stream_count && !err; i++) {
		own.streams = i;
		file_link_token(link->secret, link->hello.token, i, own.token);
		err = resolve(link, i, server);
		if (!err)
			err = connect_stream(link, i, &own, &hello);
		if (!err)
			err = hear_hello(link, link->streams[i].conn, &hello);
		/* It has no number, and grants nothing. */
		if (!err && (hello.flags != own_flags(link) || hello.streams))
			err = file_link_fail(link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	}
	established(link);
	return err;
}

int file_link_connect(struct file_link *link, const struct sockaddr *server)
{
	struct file_hello own = { .flags = own_flags(link) };
	int err;

	if (link->streams_wanted < 2)
		link->streams_wanted = 1;
	else
		own.streams = link->streams_wanted;
	link->stream_count = 1;
	err = resolve(link, 0, server);
	if (!err)
		err = connect_stream(link, 0, &own, &link->hello);
	if (err)
		return err;
	established(link);
	err = hear_hello(link, link->streams->conn, &link->hello);
	if (err)
		return err;
	/*
	 * A server with the secret sets the flag. Refuse a server that would not authenticate
	 * itself.
	 */
	if (link->hello.flags != own_flags(link))
		return file_link_fail(link, link->secret ? -EKEYREJECTED : -EPROTO,
				      KRDMA_FILE_SIDE_BETWEEN);
	if (link->hello.streams > link->streams_wanted ||
	    (link->hello.streams > 1 && !link->hello.has_token))
		return file_link_fail(link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	err = file_be_admitted(link);
	if (!err && link->hello.streams > 1) {
		link->stream_count = link->hello.streams;
		err = connect_others(link, server);
	}
	return err;
}

static int reject(struct file_link *link, struct krdma_conn *conn, int why)
{
	const struct file_hello hello = { .flags = own_flags(link), .code = file_code_of(why) };
	unsigned char data[FILE_HELLO_SIZE];
	size_t length = file_hello_encode(data, &hello);

	krdma_conn_reject(conn, data, (uint8_t)length);
	return file_link_fail(link, why, KRDMA_FILE_SIDE_HERE);
}

static int accept_stream(struct file_link *link, unsigned int stream,
			 const struct file_hello *own)
{
	struct krdma_conn *conn = link->streams[stream].conn;
	unsigned char data[FILE_HELLO_SIZE];
	size_t length = file_hello_encode(data, own);
	int err = create_qp(link, stream);

	if (err)
		return reject(link, conn, err);
	err = krdma_conn_accept(conn, NULL, data, (uint32_t)length);
	if (!err)
		err = await_state(link, conn);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	established(link);
	return 0;
}

int file_link_accept(struct file_link *link, struct krdma_conn *conn)
{
	struct file_hello own = { .flags = own_flags(link) };
	int err;

	link->streams->conn = conn;
	link->stream_count = 1;
	err = hear_hello(link, conn, &link->hello);
	if (err) {
		reject(link, conn, err);
		return err;
	}
	if (link->secret && !(link->hello.flags & FILE_HELLO_SECRET))
		return reject(link, conn, -ENOKEY);
	if (link->hello.streams > 1 && link->streams_wanted > 1) {
		link->stream_count = link->hello.streams < link->streams_wanted ?
				     link->hello.streams : link->streams_wanted;
		own.streams = link->stream_count;
		own.has_token = true;
		memcpy(own.token, link->ticket, FILE_TOKEN);
	}
	err = create_ring(link, link->stream_count);
	if (err)
		return reject(link, conn, err);
	err = accept_stream(link, 0, &own);
	return err ? err : file_admit(link);
}

int file_link_join(struct file_link *link, unsigned int number, struct krdma_conn *conn)
{
	const struct file_hello own = { .flags = own_flags(link) };

	link->streams[number].conn = conn;
	return accept_stream(link, number, &own);
}

/* Number of reads and writes that have completed. */
static uint64_t operations(const struct file_link *link)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < FILE_STREAMS_MAX; i++)
		sum += link->streams[i].completed;
	return sum;
}

static void farewell(struct file_link *link, int err)
{
	struct file_message message = { .type = FILE_MESSAGE_ERROR };
	uint64_t limit = file_now() + FAREWELL_MAX_MS * NS_PER_MS;
	uint64_t until = file_now() + FAREWELL_MS * NS_PER_MS;
	uint64_t completed = operations(link);
	uint32_t side = link->side;
	int error = link->error;

	/*
	 * The error that ended the transfer must not prevent the sending of the last message,
	 * and errors here must not replace it.
	 */
	link->on_tick = NULL;
	link->deadline = limit;
	link->progress_ms = 0;
	link->error = 0;
	if (err) {
		message.code = file_code_of(err);
		file_link_send(link, &message, NULL);
	}
	while (link->free != ALL_FREE && file_now() < until && file_now() < limit) {
		if (file_link_pump(link, true))
			break;
		/* A window full of data is sent before the message, and may take long. */
		if (operations(link) != completed)
			until = file_now() + FAREWELL_MS * NS_PER_MS;
		completed = operations(link);
		/* Discard received messages. */
		for (unsigned int i = 0; i < FILE_STREAMS_MAX; i++)
			link->streams[i].inbox_count = 0;
	}
	link->error = error;
	link->side = side;
}

void file_link_release(struct file_link *link)
{
	for (unsigned int i = 0; i < FILE_STREAMS_MAX; i++)
		krdma_conn_close(link->streams[i].conn);
	krdma_ring_close(link->ring);
	krdma_mr_deregister(link->control, KRDMA_DEREGISTER_LATER);
}

void file_link_close(struct file_link *link, int err)
{
	bool ends[FILE_STREAMS_MAX];
	uint64_t until;

	file_link_rest(link);
	if (link->heard && (!link->error || link->side == KRDMA_FILE_SIDE_HERE))
		farewell(link, err);
	until = krdma_deadline(FAREWELL_MS);
	for (unsigned int i = 0; i < FILE_STREAMS_MAX; i++) {
		struct krdma_conn *conn = link->streams[i].conn;

		ends[i] = conn && !krdma_conn_disconnect(conn, 0);
	}
	for (unsigned int i = 0; i < FILE_STREAMS_MAX; i++) {
		if (ends[i])
			krdma_conn_await_closed(link->streams[i].conn, until);
	}
	file_link_release(link);
}
