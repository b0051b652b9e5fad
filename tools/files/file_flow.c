// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The data of one file in transfer.
 *
 * Slots are used in turn, one for each piece of the file. The sender fills a slot again when
 * the receiver has reported with a CREDIT that it has stored the content. The amount in flight
 * is therefore bounded, and neither side waits for each piece separately. The server always
 * moves the data, in both directions: it writes to the client's slots before it announces them,
 * or reads them after the client has announced them.
 */
#include "file_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define ZEROES	65536

/* Sets the error for a local failure, not one of the connection or the peer; 0: no error. */
static int here(struct file_flow *flow, int err)
{
	return err ? file_link_fail(flow->link, err, KRDMA_FILE_SIDE_HERE) : 0;
}

/* Sets the error for a peer that violates the protocol. */
static int nonsense(struct file_flow *flow)
{
	return file_link_fail(flow->link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
}

int file_flow_offer(struct file_flow *flow, struct file_message *message)
{
	int err;

	message->slot_size = flow->window.slot_size;
	message->slot_count = flow->window.slot_count;
	if (flow->server)
		return 0;
	err = krdma_mr_describe(flow->window.mr, 0, 0, message->descriptor);
	return here(flow, err);
}

/* Refuses more or larger slots than this side has. */
int file_flow_accept(struct file_flow *flow, const struct file_message *message)
{
	if (message->slot_size > flow->window.slot_size ||
	    message->slot_count > flow->window.slot_count)
		return nonsense(flow);
	if (krdma_remote_mr_from_desc(message->descriptor, sizeof(message->descriptor),
				      &flow->remote) ||
	    flow->remote.length < (uint64_t)message->slot_size * message->slot_count)
		return nonsense(flow);
	flow->window.slot_size = message->slot_size;
	flow->window.slot_count = message->slot_count;
	return 0;
}

/* The connection for a slot: the slots are dealt out among all of them. */
static unsigned int stream_of(const struct file_flow *flow, uint32_t slot)
{
	return slot % flow->link->stream_count;
}

/* Whether the reads and writes of a slot that were posted up to @count have completed. */
static bool is_complete(const struct file_flow *flow, uint32_t slot, uint64_t count)
{
	return flow->link->streams[stream_of(flow, slot)].completed >= count;
}

/*
 * Sending
 */

/* State of a sender: number of pieces sent, and of those that the receiver has credited. */
struct sending {
	uint64_t begun;
	uint64_t credited;
	/*
	 * At the server, for each slot: the number of reads and writes of its connection that must
	 * have completed before the slot can be filled again.
	 */
	uint64_t written[FILE_SLOTS_MAX];
};

static int take_credits(struct file_flow *flow, struct sending *sending)
{
	struct file_message message;

	while (!file_link_take(flow->link, &message)) {
		if (message.type != FILE_MESSAGE_CREDIT || sending->credited == sending->begun)
			return nonsense(flow);
		sending->credited++;
	}
	return 0;
}

/* Waits for the slot of the next piece. */
static int await_slot(struct file_flow *flow, struct sending *sending, uint32_t *slot)
{
	int err;

	*slot = (uint32_t)(sending->begun % flow->window.slot_count);
	for (;;) {
		err = take_credits(flow, sending);
		if (err)
			return err;
		if (sending->begun - sending->credited < flow->window.slot_count &&
		    is_complete(flow, *slot, sending->written[*slot]))
			return 0;
		err = file_link_pump(flow->link, true);
		if (err)
			return err;
	}
}

static int send_data(struct file_flow *flow, struct sending *sending, uint32_t slot,
		     struct file_source *source, uint32_t length)
{
	unsigned char *data = file_window_slot(&flow->window, slot);
	size_t offset = (size_t)slot * flow->window.slot_size;
	int err;

	file_link_leave(flow->link);
	err = file_source_read(source, flow->offset, data, length);
	if (!err)
		flow->crc = file_crc(flow->crc, data, length);
	file_link_enter(flow->link);
	if (err)
		return here(flow, err);
	flow->transferred += length;
	if (!flow->server)
		return 0;
	err = file_link_operate(flow->link, stream_of(flow, slot), KRDMA_OP_WRITE, flow->window.mr,
				offset, length, &flow->remote, offset);
	sending->written[slot] = flow->link->streams[stream_of(flow, slot)].posted;
	return err;
}

static int send_piece(struct file_flow *flow, struct sending *sending,
		      struct file_source *source)
{
	struct file_message message = { .offset = flow->offset };
	uint64_t length;
	uint32_t slot;
	bool hole;
	int err;

	file_link_leave(flow->link);
	err = file_source_extent(source, flow->offset, flow->window.slot_size, &length, &hole);
	file_link_enter(flow->link);
	err = here(flow, err);
	if (!err)
		err = await_slot(flow, sending, &slot);
	if (err)
		return err;
	if (hole)
		flow->crc = file_crc_zeroes(flow->crc, length);
	else
		err = send_data(flow, sending, slot, source, (uint32_t)length);
	if (err)
		return err;
	message.type = hole ? FILE_MESSAGE_HOLE : FILE_MESSAGE_DATA;
	message.length = length;
	message.slot = slot;
	sending->begun++;
	flow->offset += length;
	/*
	 * The connection of the data: only a message that follows them there says that they are in
	 * the peer's memory.
	 */
	err = file_link_send_on(flow->link, stream_of(flow, slot), &message);
	return err ? err : file_link_step(flow->link);
}

int file_flow_send(struct file_flow *flow, struct file_source *source)
{
	struct file_message message = { .type = FILE_MESSAGE_END };
	struct sending sending = { 0 };
	int err = 0;

	while (flow->offset < flow->length && !err)
		err = send_piece(flow, &sending, source);
	if (!err)
		err = here(flow, file_source_unchanged(source));
	if (err)
		return err;
	message.length = flow->length;
	message.crc = flow->crc;
	err = file_link_send(flow->link, &message, NULL);
	for (; !err && sending.credited < sending.begun; sending.credited++)
		err = file_link_receive(flow->link, FILE_MESSAGE_CREDIT, &message);
	return err ? err : file_link_receive(flow->link, FILE_MESSAGE_DONE, &message);
}

/*
 * Receiving
 */

/* An announced piece. */
struct piece {
	uint64_t length;
	bool hole;
	/*
	 * At the server: the number of reads and writes of the slot's connection that must have
	 * completed before the data are in the slot; else 0.
	 */
	uint64_t read;
};

/*
 * State of a receiver: numbers of pieces announced and stored, the offset at which the announced
 * pieces end, and whether the sender has sent the END message, and with which checksum.
 */
struct receiving {
	struct piece pieces[FILE_SLOTS_MAX];
	uint64_t announced;
	uint64_t done;
	uint64_t end;
	bool ended;
	uint32_t crc;
};

static int hear_piece(struct file_flow *flow, struct receiving *receiving,
		      const struct file_message *message)
{
	bool hole = message->type == FILE_MESSAGE_HOLE;
	uint32_t slot = (uint32_t)(receiving->announced % flow->window.slot_count);
	size_t offset = (size_t)slot * flow->window.slot_size;
	struct piece *piece = &receiving->pieces[slot];
	int err = 0;

	if (receiving->announced - receiving->done >= flow->window.slot_count ||
	    message->slot != slot || message->offset != receiving->end || !message->length ||
	    message->length > flow->length - receiving->end ||
	    (!hole && message->length > flow->window.slot_size))
		return nonsense(flow);
	piece->length = message->length;
	piece->hole = hole;
	piece->read = 0;
	if (flow->server && !hole) {
		err = file_link_operate(flow->link, stream_of(flow, slot), KRDMA_OP_READ,
					flow->window.mr, offset, (uint32_t)message->length,
					&flow->remote, offset);
		piece->read = flow->link->streams[stream_of(flow, slot)].posted;
	}
	receiving->announced++;
	receiving->end += message->length;
	return err;
}

/* The connection of the next message: that of the next piece, or the first one for the end. */
static unsigned int next_stream(const struct file_flow *flow, const struct receiving *receiving)
{
	if (receiving->end == flow->length)
		return 0;
	return stream_of(flow, (uint32_t)(receiving->announced % flow->window.slot_count));
}

static int hear(struct file_flow *flow, struct receiving *receiving)
{
	struct file_link *link = flow->link;
	struct file_message message;
	int err = 0;

	while (!err && !receiving->ended &&
	       !file_link_take_from(link, next_stream(flow, receiving), &message)) {
		switch (message.type) {
		case FILE_MESSAGE_DATA:
		case FILE_MESSAGE_HOLE:
			err = hear_piece(flow, receiving, &message);
			break;
		case FILE_MESSAGE_END:
			if (message.length != flow->length || receiving->end != flow->length)
				return nonsense(flow);
			receiving->ended = true;
			receiving->crc = message.crc;
			break;
		default:
			return nonsense(flow);
		}
	}
	if (!err && receiving->ended && file_link_has_more(link))
		return nonsense(flow);
	return err;
}

/* Waits until @fd takes data, so that the progress callback is called and can stop the transfer. */
static int await_reader(struct file_flow *flow, int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int err = 0;

	/* An error of @fd is one of write(), too. */
	while (!err && poll(&poll_fd, 1, FILE_TICK_MS) <= 0)
		err = file_link_step(flow->link);
	return err;
}

/* A pipe that takes data takes at least PIPE_BUF bytes without waiting for its reader. */
static size_t writable(int fd, size_t length)
{
	struct stat status;

	if (length <= PIPE_BUF || fstat(fd, &status))
		return length;
	return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ? PIPE_BUF : length;
}

static int write_stream(struct file_flow *flow, int fd, const void *data, size_t length)
{
	const size_t most = writable(fd, length);
	const char *from = data;

	while (length) {
		int err = await_reader(flow, fd);
		ssize_t written;

		if (err)
			return err;
		file_link_leave(flow->link);
		written = write(fd, from, length < most ? length : most);
		err = written < 0 ? -errno : 0;
		file_link_enter(flow->link);
		if (err == -EINTR)
			err = file_link_step(flow->link);
		if (err && err != -EAGAIN)
			return here(flow, err);
		if (written > 0) {
			from += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

static int write_hole(struct file_flow *flow, int fd, uint64_t length)
{
	static const char zeroes[ZEROES];
	int err = 0;

	while (length && !err) {
		size_t some = length < ZEROES ? (size_t)length : ZEROES;

		err = write_stream(flow, fd, zeroes, some);
		length -= some;
		if (!err)
			err = file_link_tick(flow->link);
	}
	return err;
}

static int store(struct file_flow *flow, const struct file_sink *sink, const struct piece *piece,
		 const unsigned char *data)
{
	int err;

	if (piece->hole) {
		flow->crc = file_crc_zeroes(flow->crc, piece->length);
	} else {
		flow->crc = file_crc(flow->crc, data, (size_t)piece->length);
		flow->transferred += piece->length;
	}
	if (!sink->part)
		return piece->hole ? write_hole(flow, sink->fd, piece->length) :
				     write_stream(flow, sink->fd, data, (size_t)piece->length);
	if (piece->hole)
		return here(flow, file_part_skip(sink->part, piece->length, flow->link));
	file_link_leave(flow->link);
	err = file_part_write(sink->part, data, (size_t)piece->length, flow->crc);
	file_link_enter(flow->link);
	return here(flow, err);
}

/* Stores the pieces that have arrived, in order. */
static int store_pieces(struct file_flow *flow, struct receiving *receiving,
			const struct file_sink *sink)
{
	struct file_message credit = { .type = FILE_MESSAGE_CREDIT };
	int err = 0;

	while (receiving->done < receiving->announced && !err) {
		uint32_t slot = (uint32_t)(receiving->done % flow->window.slot_count);
		struct piece *piece = &receiving->pieces[slot];

		if (!is_complete(flow, slot, piece->read))
			break;
		err = store(flow, sink, piece, file_window_slot(&flow->window, slot));
		if (err)
			break;
		flow->offset += piece->length;
		receiving->done++;
		err = file_link_send(flow->link, &credit, NULL);
		if (!err)
			err = file_link_step(flow->link);
		if (!err)
			err = hear(flow, receiving);
	}
	return err;
}

int file_flow_receive(struct file_flow *flow, const struct file_sink *sink)
{
	struct receiving receiving = { .end = flow->offset };
	int err;

	for (;;) {
		err = hear(flow, &receiving);
		if (!err)
			err = store_pieces(flow, &receiving, sink);
		if (err)
			return err;
		if (receiving.ended && receiving.done == receiving.announced)
			break;
		err = file_link_pump(flow->link, true);
		if (err)
			return err;
	}
	return here(flow, receiving.crc == flow->crc ? 0 : -EBADMSG);
}

int file_flow_done(struct file_flow *flow)
{
	struct file_message message = { .type = FILE_MESSAGE_DONE };

	return file_link_send(flow->link, &message, NULL);
}
