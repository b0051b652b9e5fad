// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer is told of a region of memory, so that it can reach it.  Pure.
 *
 * In a message it is &struct krdma_mr_desc, at any address.
 */
#include "mr/desc.h"
#include "core/wire.h"

/* Where a field is. */
#define AT(wire, field)		((wire) + offsetof(struct krdma_mr_desc, field))

static bool krdma_mr_desc_valid(const struct krdma_mr_desc_fields *descriptor)
{
	if (!descriptor->length || descriptor->addr + descriptor->length < descriptor->addr)
		return false;
	return descriptor->rights && !(descriptor->rights & ~KRDMA_MR_DESC_RIGHTS);
}

/**
 * krdma_mr_desc_encode - write a descriptor into a message
 * @descriptor: the region
 * @wire: filled in unless it fails, KRDMA_MR_DESC_SIZE bytes
 *
 * Context: any.
 * Return: 0; -EINVAL if the region is empty or goes beyond the end of all
 * addresses, or if there is no right or an unknown one.
 */
int krdma_mr_desc_encode(const struct krdma_mr_desc_fields *descriptor, u8 *wire)
{
	if (!krdma_mr_desc_valid(descriptor))
		return -EINVAL;

	krdma_wire_put_le32(AT(wire, magic), KRDMA_MR_DESC_MAGIC);
	krdma_wire_put_le16(AT(wire, version), KRDMA_MR_DESC_VERSION);
	krdma_wire_put_le16(AT(wire, reserved), 0);
	krdma_wire_put_le64(AT(wire, addr), descriptor->addr);
	krdma_wire_put_le64(AT(wire, length), descriptor->length);
	krdma_wire_put_le32(AT(wire, key), descriptor->key);
	krdma_wire_put_le32(AT(wire, rights), descriptor->rights);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_mr_desc_encode);

/**
 * krdma_mr_desc_decode - read a descriptor from a peer's message
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
int krdma_mr_desc_decode(const u8 *wire, size_t wire_length,
			 struct krdma_mr_desc_fields *descriptor)
{
	struct krdma_mr_desc_fields read;

	if (wire_length < KRDMA_MR_DESC_SIZE ||
	    krdma_wire_get_le32(AT(wire, magic)) != KRDMA_MR_DESC_MAGIC)
		return -EINVAL;
	if (krdma_wire_get_le16(AT(wire, version)) != KRDMA_MR_DESC_VERSION)
		return -EPROTONOSUPPORT;
	if (krdma_wire_get_le16(AT(wire, reserved)))
		return -EINVAL;

	read = (struct krdma_mr_desc_fields) {
		.addr = krdma_wire_get_le64(AT(wire, addr)),
		.length = krdma_wire_get_le64(AT(wire, length)),
		.key = krdma_wire_get_le32(AT(wire, key)),
		.rights = krdma_wire_get_le32(AT(wire, rights)),
	};
	if (!krdma_mr_desc_valid(&read))
		return -EINVAL;

	*descriptor = read;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_mr_desc_decode);
