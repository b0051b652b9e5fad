// SPDX-License-Identifier: GPL-2.0
/*
 * The exact length of the private data of a connection request, its acceptance and its rejection.
 * Pure.
 *
 * iWARP carries the length.  InfiniBand and RoCE do not: the receiver always gets the whole area
 * of the message, padded with zeroes.  For these, krdma writes a trailer to the last eight bytes
 * of the area, far from where the data begin:
 *
 *	0  magic, two bytes
 *	2  version
 *	3  length of the data
 *	4  check, 32 bits, little-endian
 *
 * A peer without krdma finds the data at the beginning, where it expects them, and ignores the
 * rest, as it must do with padding.  Data that leave no room for the trailer are sent without it,
 * and arrive with the padding.
 *
 * The check is the CRC-32 of the kind of the message, of the four bytes before it and of the
 * data; and the bytes between the data and the trailer are zero.  So the data of a foreign peer
 * are not taken for a trailer by accident, and a trailer that is copied to another kind of
 * message is invalid there.  It does not protect against a peer that makes one on purpose: such a
 * peer can only make fewer of its own bytes count.
 */
#include "cm/private_data.h"
#include "core/wire.h"

#define TRAILER_VERSION		1
#define TRAILER_HEAD		4

/* Neither ASCII nor a small number in any byte order. */
static const u8 krdma_private_data_magic[] = { 0xb5, 0xd7 };

/* CRC-32 of four bits at a time: bit by bit, a connection would take 8,000 instructions. */
static const u32 krdma_private_data_crc_table[] = {
	0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158,
	0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
	0xa00ae278, 0xbdbdf21c,
};

static u32 krdma_private_data_crc(u32 crc, const u8 *bytes, u32 length)
{
	const u32 *table = krdma_private_data_crc_table;

	for (u32 i = 0; i < length; i++) {
		crc ^= bytes[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

static u32 krdma_private_data_check(enum krdma_private_data_kind kind, const u8 *trailer,
				    const u8 *data, u32 length)
{
	u8 kind_byte = (u8)kind;
	u32 crc = ~0U;

	crc = krdma_private_data_crc(crc, &kind_byte, sizeof(kind_byte));
	crc = krdma_private_data_crc(crc, trailer, TRAILER_HEAD);
	return ~krdma_private_data_crc(crc, data, length);
}

static bool krdma_private_data_is_zero(const u8 *bytes, u32 length)
{
	for (u32 i = 0; i < length; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

/**
 * krdma_private_data_max() - Get the maximum length of private data
 * @kind: the message
 * @padded: true if the transport pads (InfiniBand, RoCE), false if it carries the length
 *
 * Data that are shorter by KRDMA_PRIVATE_DATA_TRAILER arrive with their exact length on every
 * transport.  Longer data arrive padded on a transport that pads.
 *
 * Context: any.
 * Return: the number of bytes; 0 if there is no such message.
 */
u32 krdma_private_data_max(enum krdma_private_data_kind kind, bool padded)
{
	switch (kind) {
	case KRDMA_PRIVATE_DATA_REQUEST:
		return padded ? KRDMA_PRIVATE_DATA_REQUEST_AREA : KRDMA_PRIVATE_DATA_EXACT_MAX;
	case KRDMA_PRIVATE_DATA_REPLY:
		return padded ? KRDMA_PRIVATE_DATA_REPLY_AREA : KRDMA_PRIVATE_DATA_EXACT_MAX;
	case KRDMA_PRIVATE_DATA_REJECT:
		return padded ? KRDMA_PRIVATE_DATA_REJECT_AREA : KRDMA_PRIVATE_DATA_EXACT_MAX;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_private_data_max);

/**
 * krdma_private_data_encode() - Convert the consumer's data to private data of the CM
 * @kind: the message that will carry the data
 * @padded: true if the transport pads
 * @plain: leave out the trailer, for a peer that checks the padding; a peer with krdma does not
 *	learn the length then
 * @data: the data; NULL if @length is 0; not inside @message
 * @length: bytes of @data
 * @message: filled in, at most KRDMA_PRIVATE_DATA_BUFFER bytes
 * @message_length: set to the number of bytes to be sent, 0 for none
 *
 * Context: any.
 * Return: 0; -EMSGSIZE if the data are longer than krdma_private_data_max(); -EINVAL if there is
 * no such message, or a length without data.  Nothing is filled in after an error.
 */
int krdma_private_data_encode(enum krdma_private_data_kind kind, bool padded, bool plain,
			      const void *data, u32 length, u8 *message, u32 *message_length)
{
	u32 max = krdma_private_data_max(kind, padded);
	u8 *trailer;

	if (!max || (length && !data))
		return -EINVAL;
	if (length > max)
		return -EMSGSIZE;

	if (length)
		memcpy(message, data, length);
	*message_length = length;
	if (!padded || plain || length > max - KRDMA_PRIVATE_DATA_TRAILER)
		return 0;

	trailer = message + max - KRDMA_PRIVATE_DATA_TRAILER;
	memset(message + length, 0, max - KRDMA_PRIVATE_DATA_TRAILER - length);
	memcpy(trailer, krdma_private_data_magic, sizeof(krdma_private_data_magic));
	trailer[2] = TRAILER_VERSION;
	trailer[3] = (u8)length;
	krdma_wire_put_le32(trailer + TRAILER_HEAD,
			    krdma_private_data_check(kind, trailer, message, length));
	*message_length = max;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_private_data_encode);

/* Finds a valid trailer in a whole area, and sets the length from it. */
static bool krdma_private_data_trailer(enum krdma_private_data_kind kind, const u8 *area,
				       u32 area_length, u32 *length)
{
	u32 room = area_length - KRDMA_PRIVATE_DATA_TRAILER;
	const u8 *trailer = area + room;

	if (memcmp(trailer, krdma_private_data_magic, sizeof(krdma_private_data_magic)) ||
	    trailer[2] != TRAILER_VERSION || trailer[3] > room)
		return false;
	if (!krdma_private_data_is_zero(area + trailer[3], room - trailer[3]))
		return false;
	if (krdma_wire_get_le32(trailer + TRAILER_HEAD) !=
	    krdma_private_data_check(kind, trailer, area, trailer[3]))
		return false;

	*length = trailer[3];
	return true;
}

/**
 * krdma_private_data_decode() - Get the length of the data in private data of the CM
 * @kind: the message that carried it
 * @padded: true if the transport pads
 * @message: what arrived; may be NULL
 * @message_length: its length in bytes
 * @peer_is_krdma: set to true if the sender's trailer was found.  The sender may have krdma also
 *	without it: it is not used for transports that carry the length, and for long data.
 *
 * The data are at the beginning of @message.  Without a trailer, or with one of an unknown
 * version, everything that arrived counts: krdma does not guess where the padding of a foreign
 * peer begins.
 *
 * Context: any.
 * Return: the length of the data, @message_length at most.
 */
u32 krdma_private_data_decode(enum krdma_private_data_kind kind, bool padded,
			      const void *message, u32 message_length, bool *peer_is_krdma)
{
	u32 max = krdma_private_data_max(kind, padded);
	u32 length;

	*peer_is_krdma = false;
	if (!message)
		return 0;
	if (!padded || !max || message_length != max)
		return message_length;
	if (!krdma_private_data_trailer(kind, message, message_length, &length))
		return message_length;

	*peer_is_krdma = true;
	return length;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_private_data_decode);
