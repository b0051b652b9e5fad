// SPDX-License-Identifier: GPL-2.0
/*
 * The data of a file that a peer sends: file_flow.c over a link whose messages are the input.
 */
#include "file_flow.c"

#include <fcntl.h>
#include <string.h>

#include "parsers.h"

#define SLOTS		4
#define SLOT		4096u

/* The messages that are still to come; and the window. */
static const uint8_t *next;
static size_t left;
static unsigned char *slots;
static unsigned int credits;
static char name[KRDMA_FILE_NAME_MAX + 1];

/* Sent: only credits, and never more than there were pieces. */
int file_link_send(struct file_link *link, const struct file_message *message, const char *text)
{
	(void)link;
	EXPECT(!text && message->type == FILE_MESSAGE_CREDIT);
	credits++;
	return 0;
}

/*
 * A message is a byte with its type, and one with a bit for each difference from a right one:
 * those fields follow.
 */
static int take(struct file_link *link, struct file_message *message)
{
	unsigned char wire[FILE_MESSAGE_FIXED];
	struct file_message made = { 0 };
	uint8_t what;

	if (left < 2)
		return -EAGAIN;
	made.type = next[0] & 0x1f;
	what = next[1];
	next += 2;
	left -= 2;
	for (unsigned int bit = 0; bit < 4; bit++) {
		uint64_t value = 0;

		if (!(what & 1u << bit) || left < sizeof(value))
			continue;
		memcpy(&value, next, sizeof(value));
		next += sizeof(value);
		left -= sizeof(value);
		if (bit == 0)
			made.offset = value;
		else if (bit == 1)
			made.length = value;
		else if (bit == 2)
			made.slot = (uint32_t)value;
		else
			made.crc = (uint32_t)value;
	}
	file_message_encode(&made, NULL, wire);
	if (file_message_decode(wire, sizeof(wire), message, name))
		return file_link_fail(link, -EPROTO, KRDMA_FILE_SIDE_BETWEEN);
	return 0;
}

/* Where the connection of the last message that had to come was. */
static unsigned int last_stream;

int file_link_take_from(struct file_link *link, unsigned int stream, struct file_message *message)
{
	EXPECT(stream < link->stream_count);
	last_stream = stream;
	return take(link, message);
}

int file_link_take(struct file_link *link, struct file_message *message)
{
	return file_link_take_from(link, 0, message);
}

int file_link_send_on(struct file_link *link, unsigned int stream,
		      const struct file_message *message)
{
	EXPECT(stream < link->stream_count);
	return file_link_send(link, message, NULL);
}

bool file_link_has_more(const struct file_link *link)
{
	(void)link;
	return left >= 2;
}

int file_link_fail(struct file_link *link, int err, uint32_t side)
{
	(void)side;
	if (!link->error)
		link->error = err;
	return link->error;
}

/* Reads complete as soon as somebody waits; a link without messages is silent. */
int file_link_pump(struct file_link *link, bool wait)
{
	/* One connection at a time, so that slots become ready out of order. */
	for (unsigned int i = link->stream_count; i--;) {
		struct file_stream *stream = &link->streams[i];

		if (stream->completed < stream->posted) {
			stream->completed = stream->posted;
			return link->error;
		}
	}
	if (wait && left < 2)
		return file_link_fail(link, -ETIMEDOUT, KRDMA_FILE_SIDE_BETWEEN);
	return link->error;
}

int file_link_tick(struct file_link *link)
{
	return link->error;
}

int file_link_step(struct file_link *link)
{
	return link->error;
}

void file_link_leave(struct file_link *link)
{
	(void)link;
}

void file_link_enter(struct file_link *link)
{
	(void)link;
}

int file_link_receive(struct file_link *link, uint8_t type, struct file_message *message)
{
	(void)type;
	(void)message;
	return link->error;
}

int file_link_operate(struct file_link *link, unsigned int stream, uint8_t opcode,
		      const struct krdma_mr *mr, size_t offset, uint32_t length,
		      const struct krdma_remote_mr *remote, uint64_t remote_offset)
{
	(void)mr;
	/* A slot's data use the connection that its message came over. */
	EXPECT(stream == last_stream && stream == offset / SLOT % link->stream_count);
	EXPECT(opcode == KRDMA_OP_READ && length && offset == remote_offset);
	EXPECT(offset + length <= SLOTS * SLOT && offset + length <= remote->length);
	/* No read may be posted into a slot that waits to be stored. */
	memset(slots + offset, 1, length);
	link->streams[stream].posted++;
	return 0;
}

unsigned char *file_window_slot(const struct file_window *window, uint32_t slot)
{
	EXPECT(slot < window->slot_count);
	return slots + (size_t)slot * window->slot_size;
}

/*
 * The first byte: bit 0: at the server, bits 1 to 4: connections after the first one; the next
 * eight: the length of the file, up to 256 KiB.
 */
int parser_file_flow(const uint8_t *data, size_t size)
{
	struct file_link *link = calloc(1, sizeof(*link));
	struct file_flow flow = {
		.link = link, .window = { .slot_size = SLOT, .slot_count = SLOTS },
		.remote = { .length = SLOTS * SLOT },
	};
	static int null = -1;
	struct file_sink sink;
	int err;

	if (null < 0)
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	EXPECT(link && null >= 0);
	if (size < 5) {
		free(link);
		return 0;
	}
	slots = calloc(SLOTS, SLOT);
	EXPECT(slots);
	flow.server = data[0] & 1;
	link->stream_count = 1 + (data[0] >> 1) % FILE_STREAMS_MAX;
	flow.length = (uint64_t)(data[1] | data[2] << 8 | (data[3] & 3) << 16);
	flow.offset = data[4] * 16u < flow.length ? data[4] * 16u : 0;
	next = data + 5;
	left = size - 5;
	credits = 0;
	sink = (struct file_sink){ .fd = null };
	err = file_flow_receive(&flow, &sink);
	EXPECT(err <= 0 && flow.offset <= flow.length);
	EXPECT(err || flow.offset == flow.length);
	free(slots);
	free(link);
	return 0;
}

/* What a server makes of a client's window. */
int parser_file_accept(const uint8_t *data, size_t size)
{
	struct file_link *link = calloc(1, sizeof(*link));
	struct file_flow flow = {
		.link = link, .server = true,
		.window = { .slot_size = FILE_SLOT_DEFAULT, .slot_count = FILE_SLOTS_DEFAULT },
	};
	unsigned char wire[FILE_MESSAGE_FIXED] = { FILE_MESSAGE_OFFER };
	struct file_message message;
	size_t some = size < 40 ? size : 40;

	EXPECT(link);
	if (some)
		memcpy(wire + 48, data, some);
	if (!file_message_decode(wire, sizeof(wire), &message, name) &&
	    !file_flow_accept(&flow, &message)) {
		EXPECT(flow.window.slot_size && flow.window.slot_size <= FILE_SLOT_DEFAULT);
		EXPECT(flow.window.slot_count && flow.window.slot_count <= FILE_SLOTS_DEFAULT);
		EXPECT((uint64_t)flow.window.slot_size * flow.window.slot_count <=
		       flow.remote.length);
	}
	free(link);
	return 0;
}
