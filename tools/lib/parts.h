/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: how a side describes a memory region with several rkeys (see krdma_mr_rkey_at()) to
 * its peer. The owner keeps a table with a memory descriptor for each part, in a memory region
 * of its own, and sends the memory descriptor of the table. The peer reads the table by RDMA.
 *
 *	 0  magic, 32 bits
 *	 4  count, 32 bits, at least 2
 *	 8  zero, 64 bits
 *	16  memory descriptors; each part begins where the previous one ends and has
 *	    the same access rights
 */
#ifndef KRDMA_PARTS_H
#define KRDMA_PARTS_H

#include "internal.h"

/* Larger tables from a peer are rejected. This covers 64 GiB if a part is 1 MiB. */
#define PARTS_MAX	65536

struct parts;

/*
 * Creates the owner's table for a range of a memory region. *@table is NULL if one rkey covers
 * the range, or if peers have no rights there. -EMSGSIZE: the table itself would need several
 * rkeys.
 */
int parts_offer(struct krdma *session, uint32_t device_id, struct krdma_mr *mr,
		size_t offset, size_t length, struct krdma_mr **table);

/* Whether it can be the memory descriptor of a table. */
bool parts_can_be(const struct krdma_remote_mr *table);

/*
 * Parses a peer's table; its content need not be valid: -EPROTO, -ENOMEM. @whole gets the rkey
 * of the first part.
 */
int parts_read(const void *wire, size_t length, struct krdma_remote_mr *whole,
	       struct parts **parts);
void parts_free(struct parts *parts);

/* Returns the rkey for an offset, which may equal the total length, and its reach in bytes. */
uint32_t parts_key(const struct parts *parts, uint64_t offset, uint64_t *reach);

#endif /* KRDMA_PARTS_H */
