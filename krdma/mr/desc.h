/* SPDX-License-Identifier: GPL-2.0 */
/* Memory descriptors: what a peer needs to access a memory region.  Pure functions. */
#ifndef _KRDMA_MR_DESC_H
#define _KRDMA_MR_DESC_H

#include "core/pure.h"

#define KRDMA_MR_DESC_RIGHTS	(KRDMA_MR_DESC_READ | KRDMA_MR_DESC_WRITE | KRDMA_MR_DESC_ATOMIC)

/**
 * struct krdma_mr_desc_fields - memory descriptor in host byte order
 * @addr: the remote address of the first byte
 * @length: bytes, not 0
 * @key: the rkey
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
