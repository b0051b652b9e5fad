// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Parses a peer's memory descriptor: &struct krdma_mr_desc.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "internal.h"

#define RIGHT_COUNT	3

/* Access rights by bit number in the descriptor. */
static const uint32_t rights[RIGHT_COUNT] = {
	KRDMA_ACCESS_REMOTE_READ, KRDMA_ACCESS_REMOTE_WRITE, KRDMA_ACCESS_REMOTE_ATOMIC,
};

static_assert(sizeof(struct krdma_mr_desc) == KRDMA_MR_DESC_SIZE, "the descriptor has padding");

KRDMA_PUBLIC int krdma_remote_mr_from_desc(const void *descriptor, size_t length,
					   struct krdma_remote_mr *remote)
{
	struct krdma_remote_mr read = { 0 };
	struct krdma_mr_desc wire;
	uint32_t bits;

	if (!descriptor || !remote || length < sizeof(wire))
		return -EINVAL;
	memcpy(&wire, descriptor, sizeof(wire));
	if (le32toh(wire.magic) != KRDMA_MR_DESC_MAGIC)
		return -EINVAL;
	if (le16toh(wire.version) != KRDMA_MR_DESC_VERSION)
		return -EPROTONOSUPPORT;

	read.addr = le64toh(wire.addr);
	read.length = le64toh(wire.length);
	read.key = le32toh(wire.key);
	bits = le32toh(wire.rights);
	if (wire.reserved || !read.length || read.addr + read.length < read.addr)
		return -EINVAL;
	if (!bits || bits >> RIGHT_COUNT)
		return -EINVAL;
	for (unsigned int i = 0; i < RIGHT_COUNT; i++) {
		if (bits & (1u << i))
			read.access |= rights[i];
	}
	*remote = read;
	return 0;
}
