/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a peer is told of a region of memory, so that it can reach it.  Pure.
 */
#ifndef _KRDMA_MR_DESC_H
#define _KRDMA_MR_DESC_H

#include "core/pure.h"

#define KRDMA_MR_DESC_RIGHTS	(KRDMA_MR_DESC_READ | KRDMA_MR_DESC_WRITE | KRDMA_MR_DESC_ATOMIC)

/**
 * struct krdma_mr_desc_fields - a region of a peer's memory
 * @addr: the remote address of its first byte
 * @length: its length in bytes, not 0
 * @key: the remote key
 * @rights: bits of &enum krdma_mr_desc_rights, at least one
 */
struct krdma_mr_desc_fields {
	u64 addr;
	u64 length;
	u32 key;
	u32 rights;
};

int krdma_mr_desc_encode(const struct krdma_mr_desc_fields *descriptor, u8 *wire);
int krdma_mr_desc_decode(const u8 *wire, size_t wire_length,
			 struct krdma_mr_desc_fields *descriptor);

#endif /* _KRDMA_MR_DESC_H */
