// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The descriptors of librpma, and its flush.
 *
 * Memory:			Private data of its examples:
 *	 0  address, 64 bits		 0  data offset, 16 bits
 *	 8  size, 64 bits		 2  length of the first descriptor, 8 bits
 *	16  rkey, 32 bits		 3  length of the second one, 8 bits
 *	20  usage, 8 bits		 4  memory descriptor, directly followed by
 *					    that of the configuration; 24 bytes
 *
 * All numbers are little-endian.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"
#include "krdma_entry.h"
#include "krdma_rpma.h"
#include "wire.h"

#define USAGE_ALL	0xffu
#define USAGE_FLUSH	(KRDMA_RPMA_FLUSH_VISIBILITY | KRDMA_RPMA_FLUSH_PERSISTENT)
#define ACCESS_ALL	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)

/* Offset and length of the descriptors in the examples' private data. */
#define EXAMPLE_AT	4
#define EXAMPLE_ROOM	(KRDMA_RPMA_EXAMPLE_SIZE - EXAMPLE_AT)

/*
 * Descriptors
 */

static int check_usage(uint32_t usage)
{
	return usage && !(usage & ~USAGE_ALL) ? 0 : -EINVAL;
}

KRDMA_PUBLIC int krdma_rpma_memory_write(const struct krdma_rpma_memory *mr, void *wire)
{
	unsigned char *byte = wire;

	if (!mr || !wire || check_usage(mr->usage))
		return -EINVAL;
	wire_put64(byte, mr->addr);
	wire_put64(byte + 8, mr->size);
	wire_put32(byte + 16, mr->key);
	byte[20] = (unsigned char)mr->usage;
	return 0;
}

KRDMA_PUBLIC int krdma_rpma_memory_read(const void *wire, size_t length,
					struct krdma_rpma_memory *mr)
{
	const unsigned char *byte = wire;
	struct krdma_rpma_memory read;

	if (!wire || !mr || length < KRDMA_RPMA_MEMORY_SIZE)
		return -EINVAL;
	read.addr = wire_get64(byte);
	read.size = wire_get64(byte + 8);
	read.key = wire_get32(byte + 16);
	read.usage = byte[20];
	if (check_usage(read.usage) || read.addr + read.size < read.addr)
		return -EINVAL;
	*mr = read;
	return 0;
}

KRDMA_PUBLIC int krdma_rpma_peer_write(const struct krdma_rpma_peer *peer, void *wire)
{
	if (!peer || !wire)
		return -EINVAL;
	*(unsigned char *)wire = !!peer->direct_write;
	return 0;
}

KRDMA_PUBLIC int krdma_rpma_peer_read(const void *wire, size_t length,
				      struct krdma_rpma_peer *peer)
{
	if (!wire || !peer || length < KRDMA_RPMA_PEER_SIZE)
		return -EINVAL;
	peer->direct_write = !!*(const unsigned char *)wire;
	return 0;
}

KRDMA_PUBLIC int krdma_rpma_example_write(const struct krdma_rpma_example *example, void *wire)
{
	unsigned char bytes[KRDMA_RPMA_EXAMPLE_SIZE] = { 0 };
	unsigned char *next = bytes + EXAMPLE_AT;
	int err = 0;

	if (!example || !wire || example->data_offset > UINT16_MAX)
		return -EINVAL;
	wire_put16(bytes, (uint16_t)example->data_offset);
	if (example->has_memory) {
		bytes[2] = KRDMA_RPMA_MEMORY_SIZE;
		err = krdma_rpma_memory_write(&example->mr, next);
		next += KRDMA_RPMA_MEMORY_SIZE;
	}
	if (!err && example->has_peer) {
		bytes[3] = KRDMA_RPMA_PEER_SIZE;
		err = krdma_rpma_peer_write(&example->peer, next);
	}
	if (!err)
		memcpy(wire, bytes, sizeof(bytes));
	return err;
}

KRDMA_PUBLIC int krdma_rpma_example_read(const void *wire, size_t length,
					 struct krdma_rpma_example *example)
{
	const unsigned char *byte = wire, *next = byte + EXAMPLE_AT;
	struct krdma_rpma_example read = { 0 };
	int err = 0;

	if (!wire || !example || length < KRDMA_RPMA_EXAMPLE_SIZE)
		return -EINVAL;
	if (byte[2] + byte[3] > EXAMPLE_ROOM)
		return -EINVAL;
	read.data_offset = wire_get16(byte);
	read.has_memory = !!byte[2];
	read.has_peer = !!byte[3];
	if (read.has_memory)
		err = krdma_rpma_memory_read(next, byte[2], &read.mr);
	if (!err && read.has_peer)
		err = krdma_rpma_peer_read(next + byte[2], byte[3], &read.peer);
	if (!err)
		*example = read;
	return err;
}

/*
 * Access rights
 */

/* Number of usages; each has an entry. */
#define NEEDS	8

static const struct {
	uint32_t usage;
	uint32_t access;
} needs[NEEDS] = {
	{ KRDMA_RPMA_READ_SOURCE, KRDMA_ACCESS_REMOTE_READ },
	{ KRDMA_RPMA_READ_DESTINATION, KRDMA_ACCESS_LOCAL_WRITE },
	{ KRDMA_RPMA_WRITE_SOURCE, KRDMA_ACCESS_LOCAL_WRITE },
	{ KRDMA_RPMA_WRITE_DESTINATION, KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_LOCAL_WRITE },
	{ KRDMA_RPMA_FLUSH_VISIBILITY, KRDMA_ACCESS_REMOTE_READ },
	{ KRDMA_RPMA_FLUSH_PERSISTENT, KRDMA_ACCESS_REMOTE_READ },
	{ KRDMA_RPMA_SEND, 0 },
	{ KRDMA_RPMA_RECV, KRDMA_ACCESS_LOCAL_WRITE },
};

KRDMA_PUBLIC int krdma_rpma_access(uint32_t usage, uint32_t transport, uint32_t *access)
{
	uint32_t all = 0;

	if (!access || check_usage(usage))
		return -EINVAL;
	for (size_t i = 0; i < NEEDS; i++) {
		if (usage & needs[i].usage)
			all |= needs[i].access;
	}
	/* On iWARP the response to a read is a write by the peer into the local memory. */
	if (transport == KRDMA_TRANSPORT_IWARP && (usage & KRDMA_RPMA_READ_DESTINATION))
		all |= KRDMA_ACCESS_REMOTE_WRITE;
	*access = all;
	return 0;
}

KRDMA_PUBLIC int krdma_rpma_usage(uint32_t access, uint32_t *usage)
{
	uint32_t all = 0;

	if (!usage || (access & ~ACCESS_ALL))
		return -EINVAL;
	for (size_t i = 0; i < NEEDS; i++) {
		if (!(needs[i].access & ~access))
			all |= needs[i].usage;
	}
	*usage = all & ~(uint32_t)USAGE_FLUSH;
	return 0;
}

/* Returns the access rights that a peer needs for a usage. */
static uint32_t remote_access(uint32_t usage)
{
	uint32_t access = 0;

	if (usage & (KRDMA_RPMA_READ_SOURCE | USAGE_FLUSH))
		access |= KRDMA_ACCESS_REMOTE_READ;
	if (usage & KRDMA_RPMA_WRITE_DESTINATION)
		access |= KRDMA_ACCESS_REMOTE_WRITE;
	return access;
}

KRDMA_PUBLIC int krdma_rpma_describe(struct krdma_mr *mr, size_t offset, size_t length,
				     uint32_t usage, void *wire)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_rpma_memory told;
	struct krdma_remote_mr remote;
	int err;

	if (!mr || !wire || check_usage(usage))
		return -EINVAL;
	/* With a length of 0, krdma_mr_describe() might stop at the end of the first rkey. */
	if (!length && offset < krdma_mr_length(mr))
		length = krdma_mr_length(mr) - offset;
	err = krdma_mr_describe(mr, offset, length, descriptor);
	if (!err)
		err = krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &remote);
	if (err)
		return err;
	if (remote_access(usage) & ~remote.access)
		return -EACCES;
	told = (struct krdma_rpma_memory) {
		.addr = remote.addr, .size = remote.length, .key = remote.key, .usage = usage,
	};
	return krdma_rpma_memory_write(&told, wire);
}

KRDMA_PUBLIC int krdma_rpma_remote(const struct krdma_rpma_memory *mr,
				   struct krdma_remote_mr *remote)
{
	if (!mr || !remote || check_usage(mr->usage))
		return -EINVAL;
	if (!remote_access(mr->usage))
		return -EACCES;
	*remote = (struct krdma_remote_mr) {
		.addr = mr->addr, .length = mr->size, .key = mr->key,
		.access = remote_access(mr->usage),
	};
	return 0;
}

/*
 * Flushing
 */

static int check_flush(const struct krdma_rpma_memory *mr, uint32_t type,
		       const struct krdma_rpma_peer *peer)
{
	uint32_t usage;

	switch (type) {
	case KRDMA_RPMA_FLUSH_TYPE_PERSISTENT:
		if (!peer || !peer->direct_write)
			return -EOPNOTSUPP;
		usage = KRDMA_RPMA_FLUSH_PERSISTENT;
		break;
	case KRDMA_RPMA_FLUSH_TYPE_VISIBILITY:
		usage = KRDMA_RPMA_FLUSH_VISIBILITY;
		break;
	default:
		return -EINVAL;
	}
	return mr->usage & usage ? 0 : -EOPNOTSUPP;
}

KRDMA_PUBLIC int krdma_rpma_flush_entry(const struct krdma_conn *conn, uint64_t wr_id,
					const struct krdma_rpma_memory *mr, uint64_t offset,
					uint64_t length, uint32_t type,
					const struct krdma_rpma_peer *peer,
					struct krdma_sqe *entry)
{
	struct krdma_remote_mr remote;
	int err;

	if (!conn || !mr || !mr->size || !entry)
		return -EINVAL;
	err = check_flush(mr, type, peer);
	if (!err)
		err = krdma_rpma_remote(mr, &remote);
	if (err)
		return err;
	if (offset > mr->size || length > mr->size - offset)
		return -ERANGE;
	/*
	 * The address must be inside the memory, because without a flush operation of the device
	 * krdma reads a byte there. At the end of the memory, use the last byte.
	 */
	remote.addr += offset < mr->size ? offset : offset - 1;
	*entry = krdma_entry_flush(conn, wr_id, &remote);
	if (length && length <= UINT32_MAX) {
		entry->imm = KRDMA_FLUSH_GLOBAL;
		entry->operand = length;
	}
	return 0;
}

KRDMA_PUBLIC int krdma_rpma_flush(struct krdma_ring *ring, const struct krdma_conn *conn,
				  uint64_t wr_id, const struct krdma_rpma_memory *mr,
				  uint64_t offset, uint64_t length, uint32_t type,
				  const struct krdma_rpma_peer *peer)
{
	struct krdma_sqe entry;
	int err;

	err = krdma_rpma_flush_entry(conn, wr_id, mr, offset, length, type, peer, &entry);
	return err ? err : krdma_ring_post(ring, &entry, 1, NULL);
}
