// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Memory regions with several rkeys, as described to a peer: see parts.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "parts.h"
#include "wire.h"

/* "KRDp" */
#define MAGIC		0x7044524bu
#define HEADER_SIZE	16

struct part {
	uint64_t end;
	uint32_t key;
};

/**
 * struct parts - a peer's memory
 * @count: number of parts
 * @list: the end of each part, relative to the start of the first, and its rkey
 */
struct parts {
	uint32_t count;
	struct part list[];
};

static size_t wire_size(uint32_t count)
{
	return HEADER_SIZE + (size_t)count * KRDMA_MR_DESC_SIZE;
}

/*
 * The owner
 */

/* Counts the rkeys that cover a range. *@count is 0 if peers have no access rights. */
static int count_parts(struct krdma_mr *mr, size_t offset, size_t length, uint32_t *count)
{
	size_t reach, done;
	uint32_t key;
	int err;

	*count = 0;
	for (done = 0; done < length; done += reach) {
		err = krdma_mr_rkey_at(mr, offset + done, &key, &reach);
		if (err)
			return err == -EACCES ? 0 : err;
		if (++*count > PARTS_MAX)
			return -EMSGSIZE;
	}
	return 0;
}

static int describe_parts(struct krdma_mr *mr, size_t offset, size_t length,
			  uint32_t count, unsigned char *wire)
{
	size_t reach, done = 0;
	uint32_t key;
	int err;

	wire_put32(wire, MAGIC);
	wire_put32(wire + 4, count);
	wire_put64(wire + 8, 0);
	wire += HEADER_SIZE;
	for (; count; count--, done += reach, wire += KRDMA_MR_DESC_SIZE) {
		err = krdma_mr_rkey_at(mr, offset + done, &key, &reach);
		if (err)
			return err;
		if (reach > length - done)
			reach = length - done;
		err = krdma_mr_describe(mr, offset + done, reach, wire);
		if (err)
			return err;
	}
	return 0;
}

int parts_offer(struct krdma *session, uint32_t device_id, struct krdma_mr *mr,
		size_t offset, size_t length, struct krdma_mr **table)
{
	struct krdma_mr *new;
	uint32_t count;
	int err;

	*table = NULL;
	err = count_parts(mr, offset, length, &count);
	if (err || count < 2)
		return err;
	err = krdma_mr_alloc(session, device_id, wire_size(count), KRDMA_ACCESS_REMOTE_READ,
			     &new);
	if (err)
		return err;
	if (krdma_mr_rkey(new))
		err = describe_parts(mr, offset, length, count, krdma_mr_data(new));
	else
		err = -EMSGSIZE;
	if (err)
		krdma_mr_deregister(new, 0);
	else
		*table = new;
	return err;
}

/*
 * The peer
 */

bool parts_can_be(const struct krdma_remote_mr *table)
{
	return (table->access & KRDMA_ACCESS_REMOTE_READ) && table->length >= wire_size(2) &&
	       table->length <= wire_size(PARTS_MAX);
}

/* Parses one memory descriptor. @whole covers the previous parts and gets extended. */
static int add_part(struct parts *parts, const unsigned char *wire, struct krdma_remote_mr *whole)
{
	struct krdma_remote_mr one;

	if (krdma_remote_mr_from_desc(wire, KRDMA_MR_DESC_SIZE, &one))
		return -EPROTO;
	if (!parts->count) {
		*whole = one;
	} else {
		if (one.addr != whole->addr + whole->length || one.access != whole->access)
			return -EPROTO;
		/* The check above shows that this does not overflow the address space. */
		whole->length += one.length;
	}
	parts->list[parts->count++] = (struct part){ .end = whole->length, .key = one.key };
	return 0;
}

int parts_read(const void *wire, size_t length, struct krdma_remote_mr *whole, struct parts **parts)
{
	const unsigned char *byte = wire;
	struct krdma_remote_mr read = { 0 };
	struct parts *new;
	uint32_t count;
	int err = 0;

	if (length < wire_size(2) || wire_get32(byte) != MAGIC || wire_get64(byte + 8))
		return -EPROTO;
	count = wire_get32(byte + 4);
	if (count < 2 || count > PARTS_MAX || length != wire_size(count))
		return -EPROTO;
	new = malloc(sizeof(*new) + count * sizeof(*new->list));
	if (!new)
		return -ENOMEM;
	new->count = 0;
	for (byte += HEADER_SIZE; !err && new->count < count; byte += KRDMA_MR_DESC_SIZE)
		err = add_part(new, byte, &read);
	if (err) {
		free(new);
		return err;
	}
	*whole = read;
	*parts = new;
	return 0;
}

void parts_free(struct parts *parts)
{
	free(parts);
}

uint32_t parts_key(const struct parts *parts, uint64_t offset, uint64_t *reach)
{
	uint32_t low = 0, high = parts->count - 1;

	/* Find the first part that ends after @offset, or the last part. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (parts->list[middle].end > offset)
			high = middle;
		else
			low = middle + 1;
	}
	*reach = parts->list[low].end - offset;
	return parts->list[low].key;
}
