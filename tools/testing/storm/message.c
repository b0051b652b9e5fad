// SPDX-License-Identifier: GPL-2.0
/*
 * Messages.  Each contains its sequence number, its length and a checksum of its content.
 */
#include <stddef.h>

#include "traffic.h"

#define MAGIC	0x7374726d

uint64_t checksum(const void *data, size_t length)
{
	const unsigned char *byte = data;
	uint64_t sum = 0xcbf29ce484222325, word;

	for (; length >= sizeof(word); length -= sizeof(word), byte += sizeof(word)) {
		memcpy(&word, byte, sizeof(word));
		sum = (sum ^ word) * 0x100000001b3;
		sum ^= sum >> 29;
	}
	while (length--)
		sum = (sum ^ *byte++) * 0x100000001b3;
	return sum;
}

void fill(void *data, size_t length, uint64_t seed)
{
	unsigned char *byte = data;
	size_t part;

	seed = seed * 0x9e3779b97f4a7c15 + 1;
	for (; length; length -= part, byte += part) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		part = length < sizeof(seed) ? length : sizeof(seed);
		memcpy(byte, &seed, part);
	}
}

void message_make(struct message *message, uint32_t kind, uint64_t conn, uint64_t sequence,
		  uint32_t length)
{
	memset(message, 0, sizeof(*message));
	message->magic = MAGIC;
	message->kind = kind;
	message->conn = conn;
	message->sequence = sequence;
	message->length = length;
	fill(message->data, length, conn ^ (sequence << 8) ^ kind);
}

static uint64_t message_sum(const struct message *message)
{
	return checksum(message, offsetof(struct message, checksum)) ^
	       checksum(message->data, message->length);
}

void message_seal(struct message *message)
{
	message->checksum = message_sum(message);
}

/* Return what is wrong with a message of @length bytes, or NULL. */
const char *message_wrong(const struct message *message, uint32_t length, uint64_t conn)
{
	if (length < sizeof(*message))
		return "it is too short";
	if (message->magic != MAGIC)
		return "it does not begin as one";
	if (length - sizeof(*message) != message->length)
		return "it has not its length";
	if (message->checksum != message_sum(message))
		return "its data are wrong";
	if (message->conn != conn)
		return "it is another connection's";
	return NULL;
}
