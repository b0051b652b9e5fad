// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer is told of a region of memory, so that it can reach it.  Pure.
 *
 * In a message it is 32 bytes at any address, all numbers little-endian:
 *
 *	 0  magic, 32 bits
 *	 4  version, 16 bits
 *	 6  zero, 16 bits
 *	 8  address, 64 bits
 *	16  length, 64 bits
 *	24  key, 32 bits
 *	28  rights, 32 bits
 *
 * It has no check of its own: it travels in messages that the transport
 * protects, and what it says of the region the peer's device verifies.
 */
#include "descriptor.h"
#include "wire.h"

/* "KRDm" */
#define DESCRIPTOR_MAGIC	0x6d44524b
#define DESCRIPTOR_VERSION	1

#define AT_MAGIC		0
#define AT_VERSION		4
#define AT_RESERVED		6
#define AT_ADDR			8
#define AT_LENGTH		16
#define AT_KEY			24
#define AT_RIGHTS		28

static bool krdma_descriptor_valid(const struct krdma_descriptor *descriptor)
{
	if (!descriptor->length || descriptor->addr + descriptor->length < descriptor->addr)
		return false;
	return descriptor->rights && !(descriptor->rights & ~KRDMA_DESC_RIGHTS);
}

/**
 * krdma_descriptor_encode - write a descriptor into a message
 * @descriptor: the region
 * @wire: filled in unless it fails, KRDMA_DESCRIPTOR_SIZE bytes
 *
 * Context: any.
 * Return: 0; -EINVAL if the region is empty or goes beyond the end of all
 * addresses, or if there is no right or an unknown one.
 */
int krdma_descriptor_encode(const struct krdma_descriptor *descriptor, u8 *wire)
{
	if (!krdma_descriptor_valid(descriptor))
		return -EINVAL;

	krdma_wire_put_le32(wire + AT_MAGIC, DESCRIPTOR_MAGIC);
	krdma_wire_put_le16(wire + AT_VERSION, DESCRIPTOR_VERSION);
	krdma_wire_put_le16(wire + AT_RESERVED, 0);
	krdma_wire_put_le64(wire + AT_ADDR, descriptor->addr);
	krdma_wire_put_le64(wire + AT_LENGTH, descriptor->length);
	krdma_wire_put_le32(wire + AT_KEY, descriptor->key);
	krdma_wire_put_le32(wire + AT_RIGHTS, descriptor->rights);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_descriptor_encode);

/**
 * krdma_descriptor_decode - read a descriptor from a peer's message
 * @wire: where it begins; anything may be there
 * @wire_length: how much of the message is there; what follows the descriptor is
 *	not looked at
 * @descriptor: filled in unless it fails
 *
 * Context: any.
 * Return: 0; -EPROTONOSUPPORT if it is a descriptor of another version; -EINVAL if
 * it is not all there or not a descriptor, if the region is empty or goes beyond
 * the end of all addresses, or if there is no right or an unknown one.
 */
int krdma_descriptor_decode(const u8 *wire, size_t wire_length,
			    struct krdma_descriptor *descriptor)
{
	struct krdma_descriptor read;

	if (wire_length < KRDMA_DESCRIPTOR_SIZE ||
	    krdma_wire_get_le32(wire + AT_MAGIC) != DESCRIPTOR_MAGIC)
		return -EINVAL;
	if (krdma_wire_get_le16(wire + AT_VERSION) != DESCRIPTOR_VERSION)
		return -EPROTONOSUPPORT;
	if (krdma_wire_get_le16(wire + AT_RESERVED))
		return -EINVAL;

	read = (struct krdma_descriptor) {
		.addr = krdma_wire_get_le64(wire + AT_ADDR),
		.length = krdma_wire_get_le64(wire + AT_LENGTH),
		.key = krdma_wire_get_le32(wire + AT_KEY),
		.rights = krdma_wire_get_le32(wire + AT_RIGHTS),
	};
	if (!krdma_descriptor_valid(&read))
		return -EINVAL;

	*descriptor = read;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_descriptor_decode);
