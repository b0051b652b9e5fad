// SPDX-License-Identifier: GPL-2.0
/*
 * Memory descriptors: what a peer needs to access a memory region.  Pure functions.
 *
 * A message carries a descriptor as &struct krdma_mr_desc, at any address.
 */
#include "mr/desc.h"
#include "core/wire.h"

/* The address of a field in the message. */
#define AT(wire, field)		((wire) + offsetof(struct krdma_mr_desc, field))

static bool krdma_mr_desc_valid(const struct krdma_mr_desc_fields *descriptor)
{
	if (!descriptor->length || descriptor->addr + descriptor->length < descriptor->addr)
		return false;
	return descriptor->rights && !(descriptor->rights & ~KRDMA_MR_DESC_RIGHTS);
}

/**
 * krdma_mr_desc_encode() - Encode a memory descriptor into a message
 * @descriptor: the memory descriptor
 * @wire: filled in on success, KRDMA_MR_DESC_SIZE bytes
 *
 * Context: any.
 * Return: 0; -EINVAL if the range is empty or goes beyond the end of the address space, or if
 * there is no right or an unknown one.
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
 * krdma_mr_desc_decode() - Decode a memory descriptor from a peer's message
 * @wire: start of the descriptor; the contents are not trusted
 * @wire_length: bytes of the message from @wire on; those after the descriptor are ignored
 * @descriptor: filled in on success
 *
 * Context: any.
 * Return: 0; -EPROTONOSUPPORT if it is a descriptor of another version; -EINVAL if it is
 * truncated or not a descriptor, if the range is empty or goes beyond the end of the address
 * space, or if there is no right or an unknown one.
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
