/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a peer is told of a region of memory, so that it can reach it.  Pure.
 */
#ifndef _KRDMA_DESCRIPTOR_H
#define _KRDMA_DESCRIPTOR_H

#include "core/pure.h"

#define KRDMA_MR_DESC_RIGHTS	(KRDMA_MR_DESC_READ | KRDMA_MR_DESC_WRITE | KRDMA_MR_DESC_ATOMIC)

/**
 * struct krdma_descriptor - a region of a peer's memory
 * @addr: the remote address of its first byte
 * @length: its length in bytes, not 0
 * @key: the remote key
 * @rights: bits of &enum krdma_mr_desc_rights, at least one
 */
struct krdma_descriptor {
	u64 addr;
	u64 length;
	u32 key;
	u32 rights;
};

int krdma_descriptor_encode(const struct krdma_descriptor *descriptor, u8 *wire);
int krdma_descriptor_decode(const u8 *wire, size_t wire_length,
			    struct krdma_descriptor *descriptor);

#endif /* _KRDMA_DESCRIPTOR_H */
