// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * One end of a connection for file transfers.
 *
 * No wait is unlimited. Each side sends a message at least twice a second. If the peer is gone,
 * the device reports that for such a message. If the peer exists but sends nothing for
 * link->patience_ms, the link fails with -ETIMEDOUT.
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

/* Layout of the memory region: received messages first, then those to send. */
#define STRIDE		((FILE_MESSAGE_MAX + 63u) / 64 * 64)
#define ALL_FREE	((1u << FILE_MESSAGES) - 1)

/* The wr_id of a work request: its kind, plus the slot of a receive or send. */
enum {
	KIND_RECEIVE = 1 << 8,
	KIND_SEND = 2 << 8,
	KIND_OPERATION = 3 << 8,
	KIND_MASK = 0xff << 8,
};

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

/* Calls @watch, at most once per tick. A value other than 0 stops the transfer. */
static int watch(struct file_link *link, uint64_t now)
{
	int err;

	if (!link->watch || now - link->watched < FILE_TICK_MS * NS_PER_MS)
		return 0;
	link->watched = now;
	err = link->watch(link->watch_context);
	return err ? file_link_fail(link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

/*
 * Returns the errno for a connection that has ended. Waits, because the device may report the
 * end before the connection does.
 */
static int reason(struct file_link *link)
{
	int err = krdma_conn_wait(link->conn, krdma_deadline(FAREWELL_MS), NULL);

	return err == -ETIMEDOUT || err == -ENODEV ? err : -ECONNRESET;
}

static int status_error(struct file_link *link, const struct krdma_cqe *cqe)
{
	switch (cqe->status) {
	case KRDMA_WC_WR_FLUSH_ERR:
		return reason(link);
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

/*
 * Called when the connection has ended. The peer's last message may still be in the CQ, behind
 * other completions, so process completions until a flushed receive or another failure follows.
 */
static int ended(struct file_link *link)
{
	uint64_t until = file_now() + FAREWELL_MS * NS_PER_MS;
	int err;

	do {
		err = file_link_pump(link, true);
	} while (!err && file_now() < until);
	return err ? err : file_link_fail(link, reason(link), KRDMA_FILE_SIDE_BETWEEN);
}

static int post(struct file_link *link, const struct krdma_sqe *entry)
{
	int err = krdma_ring_post(link->ring, entry, 1, NULL);

	if (err == -ENOTCONN)
		return ended(link);
	return err ? file_link_fail(link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

static int post_receive(struct file_link *link, unsigned int slot)
{
	struct krdma_sqe entry = krdma_entry_recv(link->conn, KIND_RECEIVE | slot,
						  link->control, slot * STRIDE,
						  FILE_MESSAGE_MAX);
	int err = krdma_ring_post(link->ring, &entry, 1, NULL);

	/* The end of the connection is handled by the functions that send. */
	return err == -ENOTCONN ? 0 : err;
}

static int received(struct file_link *link, unsigned int slot, uint32_t length)
{
	struct file_message message;
	int err = file_message_decode((char *)krdma_mr_data(link->control) + slot * STRIDE,
				      length, &message, link->name);

	if (!err)
		err = post_receive(link, slot);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	link->heard = file_now();
	if (message.type == FILE_MESSAGE_ALIVE)
		return 0;
	link->advanced = link->heard;
	if (message.type == FILE_MESSAGE_ERROR)
		return file_link_fail(link, file_code_error(message.code),
				      KRDMA_FILE_SIDE_PEER);
	if (link->inbox_count == FILE_MESSAGES)
		return file_link_fail(link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	link->inbox[(link->inbox_first + link->inbox_count) % FILE_MESSAGES] = message;
	link->inbox_count++;
	return 0;
}

static int completed(struct file_link *link, const struct krdma_cqe *cqe)
{
	unsigned int slot = cqe->wr_id & ~KIND_MASK;

	if (cqe->status)
		return file_link_fail(link, status_error(link, cqe), KRDMA_FILE_SIDE_BETWEEN);
	switch (cqe->wr_id & KIND_MASK) {
	case KIND_RECEIVE:
		return received(link, slot, cqe->length);
	case KIND_SEND:
		link->free |= 1u << slot;
		return 0;
	default:
		link->completed++;
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

static int send_now(struct file_link *link, const struct file_message *message,
		    const char *name)
{
	unsigned int slot = (unsigned int)__builtin_ctz(link->free);
	size_t offset = (FILE_MESSAGES + slot) * STRIDE;
	size_t length = file_message_encode(message, name, (char *)
					    krdma_mr_data(link->control) + offset);
	struct krdma_sqe entry = krdma_entry_send(link->conn, KIND_SEND | slot, link->control,
						  offset, (uint32_t)length);

	link->free &= ~(1u << slot);
	link->said = file_now();
	return post(link, &entry);
}

/* Sends at most one keepalive at a time: a peer that does not receive gets no more messages. */
static int say_alive(struct file_link *link, uint64_t now)
{
	struct file_message message = { .type = FILE_MESSAGE_ALIVE };

	if (link->quiet || now - link->said < ALIVE_MS * NS_PER_MS || link->free != ALL_FREE)
		return 0;
	return send_now(link, &message, NULL);
}

int file_link_pump(struct file_link *link, bool wait)
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
	/* The signal handler may have made @watch stop the transfer, so call it at once. */
	if (err == -EINTR)
		link->watched = 0;
	for (size_t i = 0; i < taken; i++) {
		err = completed(link, &cqes[i]);
		if (err)
			return err;
	}
	now = file_now();
	err = watch(link, now);
	if (err)
		return err;
	if (!taken && now - link->heard > link->patience_ms * NS_PER_MS)
		return file_link_fail(link, -ETIMEDOUT, KRDMA_FILE_SIDE_BETWEEN);
	err = judge_progress(link, now, wait);
	return err ? err : say_alive(link, now);
}

int file_link_tick(struct file_link *link)
{
	return file_link_pump(link, false);
}

int file_link_step(struct file_link *link)
{
	link->watched = 0;
	return file_link_tick(link);
}

int file_link_send(struct file_link *link, const struct file_message *message,
		   const char *name)
{
	int err;

	while (!link->free) {
		err = file_link_pump(link, true);
		if (err)
			return err;
	}
	return link->error ? link->error : send_now(link, message, name);
}

int file_link_take(struct file_link *link, struct file_message *message)
{
	if (!link->inbox_count)
		return -EAGAIN;
	*message = link->inbox[link->inbox_first];
	link->inbox_first = (link->inbox_first + 1) % FILE_MESSAGES;
	link->inbox_count--;
	return 0;
}

int file_link_await(struct file_link *link, struct file_message *message)
{
	int err;

	link->watched = 0;
	/* Messages that arrived before an error are still valid. */
	while (file_link_take(link, message)) {
		err = file_link_pump(link, true);
		if (err && !link->inbox_count)
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

int file_link_operate(struct file_link *link, uint8_t opcode, const struct krdma_mr *mr,
		      size_t offset, uint32_t length, const struct krdma_remote_mr *remote,
		      uint64_t remote_offset)
{
	struct krdma_sqe entry = krdma_entry_remote(opcode, link->conn, KIND_OPERATION, mr,
						    offset, length, remote, remote_offset);

	link->posted++;
	return post(link, &entry);
}

/*
 * Connecting and disconnecting
 */

static bool is_closed(struct file_link *link)
{
	struct krdma_conn_query_args query;

	return krdma_conn_query(link->conn, &query, sizeof(query)) ||
	       query.state == KRDMA_CONN_CLOSED;
}

/* Waits until the connection is resolved or connected. Does not set the error of the link. */
static int await_state(struct file_link *link)
{
	uint64_t begin = file_now();
	int err;

	for (;;) {
		err = krdma_conn_wait(link->conn, krdma_deadline(FILE_TICK_MS), NULL);
		if (err != -EINTR && (err != -ETIMEDOUT || is_closed(link)))
			return err == -EIO || err == -EPIPE ? -ECONNRESET : err;
		if (err == -EINTR)
			link->watched = 0;
		err = watch(link, file_now());
		if (err)
			return err;
		if (file_now() - begin > link->patience_ms * NS_PER_MS ||
		    (link->deadline && file_now() > link->deadline))
			return -ETIMEDOUT;
	}
}

/* Creates the ring and the QP, and posts the receives, so that the peer can send. */
static int create_qp(struct file_link *link)
{
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options),
		.send_depth = FILE_MESSAGES + FILE_SLOTS_MAX,
		.recv_depth = FILE_MESSAGES,
		.max_send_sge = 1,
	};
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.cq_entries = 2 * FILE_MESSAGES + FILE_SLOTS_MAX + KRDMA_RING_EXTRA,
	};
	struct krdma_conn_query_args query;
	int err;

	err = krdma_ring_create(link->session, &ring, &link->ring);
	if (!err)
		err = krdma_conn_create_qp(link->conn, link->ring, NULL, NULL, &options);
	if (!err)
		err = krdma_conn_query(link->conn, &query, sizeof(query));
	if (err)
		return err;
	link->device = query.device_id;
	err = krdma_mr_alloc(link->session, link->device, 2 * FILE_MESSAGES * STRIDE,
			     KRDMA_ACCESS_LOCAL_WRITE, &link->control);
	for (unsigned int slot = 0; slot < FILE_MESSAGES && !err; slot++)
		err = post_receive(link, slot);
	link->free = ALL_FREE;
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
static int hear_hello(struct file_link *link)
{
	unsigned char hello[256];
	size_t length = sizeof(hello);
	uint32_t code = 0;
	int err = krdma_conn_private_data(link->conn, hello, &length);

	if (!err)
		err = file_hello_decode(hello, length < sizeof(hello) ? length : sizeof(hello),
					&code, &link->flags);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	return code ? file_link_fail(link, file_code_error(code), KRDMA_FILE_SIDE_PEER) : 0;
}

static uint16_t own_flags(const struct file_link *link)
{
	return link->secret ? FILE_HELLO_SECRET : 0;
}

int file_link_connect(struct file_link *link, const struct sockaddr *server)
{
	const struct krdma_conn_resolve_args options = {
		.size = sizeof(options),
		.ack_timeout = ACK_TIMEOUT,
	};
	unsigned char hello[FILE_HELLO_SIZE];
	int err = krdma_conn_create(link->session, &link->conn);

	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_HERE);
	err = krdma_conn_resolve(link->conn, server, &options);
	if (!err)
		err = await_state(link);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	err = create_qp(link);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_HERE);
	file_hello_encode(hello, 0, own_flags(link));
	err = krdma_conn_connect(link->conn, NULL, hello, sizeof(hello));
	if (!err)
		err = await_state(link);
	/*
	 * A server rejects with a reason. Other services reject without one, and there may be
	 * no listener.
	 */
	if (err == -ECONNREFUSED) {
		err = hear_hello(link);
		if (link->side != KRDMA_FILE_SIDE_PEER && err != -EPROTONOSUPPORT)
			link->error = 0;
		err = -ECONNREFUSED;
	}
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	established(link);
	err = hear_hello(link);
	if (err)
		return err;
	/*
	 * A server with the secret sets the flag. Refuse a server that would not authenticate
	 * itself.
	 */
	if (link->flags != own_flags(link))
		return file_link_fail(link, link->secret ? -EKEYREJECTED : -EPROTO,
				      KRDMA_FILE_SIDE_BETWEEN);
	return file_be_admitted(link);
}

static void reject(struct file_link *link, int why)
{
	unsigned char hello[FILE_HELLO_SIZE];

	file_hello_encode(hello, file_code_of(why), own_flags(link));
	krdma_conn_reject(link->conn, hello, sizeof(hello));
}

int file_link_accept(struct file_link *link, struct krdma_conn *conn)
{
	unsigned char hello[FILE_HELLO_SIZE];
	int err;

	link->conn = conn;
	err = hear_hello(link);
	if (err) {
		reject(link, err);
		return err;
	}
	if (link->secret && !(link->flags & FILE_HELLO_SECRET)) {
		reject(link, -ENOKEY);
		return file_link_fail(link, -ENOKEY, KRDMA_FILE_SIDE_HERE);
	}
	err = create_qp(link);
	if (err) {
		reject(link, err);
		return file_link_fail(link, err, KRDMA_FILE_SIDE_HERE);
	}
	file_hello_encode(hello, 0, own_flags(link));
	err = krdma_conn_accept(link->conn, NULL, hello, sizeof(hello));
	if (!err)
		err = await_state(link);
	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN);
	established(link);
	return file_admit(link);
}

static void farewell(struct file_link *link, int err)
{
	struct file_message message = { .type = FILE_MESSAGE_ERROR };
	uint64_t limit = file_now() + FAREWELL_MAX_MS * NS_PER_MS;
	uint64_t until = file_now() + FAREWELL_MS * NS_PER_MS;
	uint64_t completed = link->completed;
	uint32_t side = link->side;
	int error = link->error;

	/*
	 * The error that ended the transfer must not prevent the sending of the last message,
	 * and errors here must not replace it.
	 */
	link->watch = NULL;
	link->deadline = 0;
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
		if (link->completed != completed)
			until = file_now() + FAREWELL_MS * NS_PER_MS;
		completed = link->completed;
		/* Discard received messages. */
		link->inbox_count = 0;
	}
	link->error = error;
	link->side = side;
}

void file_link_close(struct file_link *link, int err)
{
	if (link->heard && (!link->error || link->side == KRDMA_FILE_SIDE_HERE))
		farewell(link, err);
	if (link->conn) {
		if (!krdma_conn_disconnect(link->conn, 0))
			krdma_conn_await_closed(link->conn, krdma_deadline(FAREWELL_MS));
		krdma_conn_close(link->conn);
	}
	krdma_ring_close(link->ring);
	krdma_mr_deregister(link->control, KRDMA_DEREGISTER_LATER);
}
