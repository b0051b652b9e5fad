// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: the wire formats. All numbers are little-endian.
 *
 * Private data:			A header:
 *	 0  magic, 32 bits			 0  kind, 8 bits
 *	 4  version, 16 bits			 1  notice, 8 bits
 *	 6  depth, 16 bits			 2  zero, 16 bits
 *	 8  message size, 32 bits		 4  taken, 32 bits
 *	12  memory descriptor; zeroes: none	 8  value, 32 bits
 *						12  zero, 32 bits
 *
 * Version 1 is for a buffer that has one rkey: the memory descriptor describes the buffer.
 * Version 2 is for a buffer that has several rkeys: the memory descriptor describes the table of
 * the buffer's parts, see parts.h.
 *
 * Immediate data: the notice in the upper two bits, the value in the others.
 */
#include <errno.h>
#include <string.h>

#include "simple.h"
#include "wire.h"

/* "KRDs" */
#define HELLO_MAGIC	0x7344524bu
#define HELLO_VERSION	1
#define HELLO_PARTS	2

#define NOTICE_SHIFT	30

void simple_hello_write(uint32_t depth, uint32_t message_size, const void *descriptor,
			bool in_parts, void *wire)
{
	unsigned char *byte = wire;

	wire_put32(byte, HELLO_MAGIC);
	wire_put16(byte + 4, in_parts ? HELLO_PARTS : HELLO_VERSION);
	wire_put16(byte + 6, (uint16_t)depth);
	wire_put32(byte + 8, message_size);
	memcpy(byte + 12, descriptor, KRDMA_MR_DESC_SIZE);
}

int simple_hello_read(const void *wire, size_t length, struct simple_hello *hello)
{
	static const unsigned char none[KRDMA_MR_DESC_SIZE];
	const unsigned char *byte = wire;
	struct simple_hello read = { 0 };
	uint32_t version;

	/* Additional bytes may be padding. */
	if (length < SIMPLE_HELLO_SIZE || wire_get32(byte) != HELLO_MAGIC)
		return -EPROTO;
	version = wire_get16(byte + 4);
	if (version != HELLO_VERSION && version != HELLO_PARTS)
		return -EPROTO;
	read.in_parts = version == HELLO_PARTS;
	read.depth = wire_get16(byte + 6);
	read.message_size = wire_get32(byte + 8);
	if (!read.depth || !read.message_size)
		return -EPROTO;
	if (memcmp(byte + 12, none, sizeof(none)) &&
	    krdma_remote_mr_from_desc(byte + 12, sizeof(none), &read.remote))
		return -EPROTO;
	if (read.in_parts && !parts_can_be(&read.remote))
		return -EPROTO;
	*hello = read;
	return 0;
}

static bool is_notice(uint32_t notice)
{
	return notice == KRDMA_SIMPLE_WRITTEN || notice == KRDMA_SIMPLE_READ;
}

void simple_header_write(const struct simple_header *header, void *wire)
{
	unsigned char *byte = wire;

	byte[0] = (unsigned char)header->kind;
	byte[1] = (unsigned char)header->notice;
	wire_put16(byte + 2, 0);
	wire_put32(byte + 4, header->taken);
	wire_put32(byte + 8, header->value);
	wire_put32(byte + 12, 0);
}

int simple_header_read(const void *wire, size_t length, struct simple_header *header)
{
	const unsigned char *byte = wire;

	if (length < SIMPLE_HEADER_SIZE || wire_get16(byte + 2) || wire_get32(byte + 12))
		return -EPROTO;
	*header = (struct simple_header) {
		.kind = byte[0],
		.notice = byte[1],
		.taken = wire_get32(byte + 4),
		.value = wire_get32(byte + 8),
	};
	switch (header->kind) {
	case SIMPLE_KIND_MESSAGE:
		return 0;
	case SIMPLE_KIND_NOTICE:
		return is_notice(header->notice) && header->value < KRDMA_SIMPLE_VALUE_END ?
		       0 : -EPROTO;
	case SIMPLE_KIND_ROOM:
		return 0;
	default:
		return -EPROTO;
	}
}

uint32_t simple_imm_write(uint32_t notice, uint32_t value)
{
	return notice << NOTICE_SHIFT | value;
}

int simple_imm_read(uint32_t imm, uint32_t *notice, uint32_t *value)
{
	*notice = imm >> NOTICE_SHIFT;
	*value = imm & (KRDMA_SIMPLE_VALUE_END - 1);
	return is_notice(*notice) ? 0 : -EPROTO;
}
