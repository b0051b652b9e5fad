/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: memory that has several keys (see krdma_mr_rkey_at()), as one side tells it
 * the other.  Its owner has a table with a descriptor of each part, in memory of its own, and
 * tells the descriptor of that; the other side reads the table by RDMA.
 *
 *	 0  magic, 32 bits
 *	 4  count, 32 bits, from 2 on
 *	 8  zero, 64 bits
 *	16  descriptors; each part begins where the one before ends, and has its rights
 */
#ifndef KRDMA_PARTS_H
#define KRDMA_PARTS_H

#include "internal.h"

/* Of a peer who says more, nothing is believed: 64 GiB, if a part is 1 MiB. */
#define PARTS_MAX	65536

struct parts;

/*
 * The owner's table, of a part of registered memory.  *@table is NULL if one key covers it,
 * or peers have no rights there.  -EMSGSIZE: the table itself would have several keys.
 */
int parts_offer(struct krdma *session, uint32_t device_id, struct krdma_mr *mr,
		size_t offset, size_t length, struct krdma_mr **table);

/* Can it be the descriptor of a table? */
bool parts_can_be(const struct krdma_remote_mr *table);

/* What a peer's table says, whatever is in it: -EPROTO, -ENOMEM.  @whole has the first key. */
int parts_read(const void *wire, size_t length, struct krdma_remote_mr *whole,
	       struct parts **parts);
void parts_free(struct parts *parts);

/* The key for a place, at most the end, and how far it reaches. */
uint32_t parts_key(const struct parts *parts, uint64_t offset, uint64_t *reach);

#endif /* KRDMA_PARTS_H */
