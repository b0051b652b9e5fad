// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of a peer's messages, before any of their contents is used.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "wire.h"

/* Reads the keys of the table.  They may cover more than the table. */
static int krdma_blk_read_keys(const struct krdma_blk_welcome *welcome,
			       struct krdma_blk_geometry *geometry)
{
	u32 bytes = geometry->chunks * sizeof(struct krdma_blk_entry);
	u32 part = le32_to_cpu(welcome->table_part);
	u16 more = le16_to_cpu(welcome->more);

	geometry->table_keys[0] = le32_to_cpu(welcome->table_key);
	geometry->table_part = more ? part : bytes;
	if (!more)
		return 0;
	if (more >= KRDMA_BLK_TABLE_KEYS_MAX || !part || part % sizeof(struct krdma_blk_entry) ||
	    (bytes - 1) / part > more)
		return -EPROTO;
	for (unsigned int i = 1; i < KRDMA_BLK_TABLE_KEYS_MAX; i++) {
		geometry->table_keys[i] = le32_to_cpu(welcome->more_keys[i - 1]);
		if (i > more && geometry->table_keys[i])
			return -EPROTO;
	}
	return 0;
}

/**
 * krdma_blk_read_welcome() - Check and convert a server's welcome
 * @data: private data of the acceptance
 * @length: bytes of @data
 * @geometry: filled in on success
 *
 * Context: any.
 * Return: 0; -EPROTO: the peer is no krdma_blk server, or one of another version, or its values
 * are invalid.
 */
int krdma_blk_read_welcome(const void *data, size_t length, struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_welcome welcome = {};
	u64 chunks, memory;

	if (length < KRDMA_BLK_WELCOME_SHORT)
		return -EPROTO;
	memcpy(&welcome, data, min(length, sizeof(welcome)));
	if (welcome.magic != cpu_to_le32(KRDMA_BLK_MAGIC) ||
	    welcome.version != KRDMA_BLK_VERSION || (welcome.flags & ~KRDMA_BLK_FLAGS) ||
	    (welcome.more && length < sizeof(welcome)) ||
	    !(welcome.flags & KRDMA_BLK_STORED) != !welcome.slot_size)
		return -EPROTO;

	*geometry = (struct krdma_blk_geometry) {
		.generation = le64_to_cpu(welcome.generation),
		.size = le64_to_cpu(welcome.size),
		.table_addr = le64_to_cpu(welcome.table_addr),
		.block_size = le32_to_cpu(welcome.block_size),
		.chunk_size = le32_to_cpu(welcome.chunk_size),
		.slot_size = le32_to_cpu(welcome.slot_size),
		.read_only = welcome.flags & KRDMA_BLK_READ_ONLY,
		.offers = welcome.flags & KRDMA_BLK_OFFERS,
	};
	if (geometry->read_only && geometry->offers)
		return -EPROTO;
	if (geometry->block_size != SZ_512 && geometry->block_size != SZ_4K)
		return -EPROTO;
	if (geometry->chunk_size < PAGE_SIZE || geometry->chunk_size > SZ_1G ||
	    !is_power_of_2(geometry->chunk_size))
		return -EPROTO;
	if (!geometry->size || geometry->size > S64_MAX || geometry->size % geometry->block_size)
		return -EPROTO;
	memory = geometry->size;
	if (geometry->slot_size) {
		if (geometry->slot_size < PAGE_SIZE || geometry->slot_size > SZ_1M ||
		    !is_power_of_2(geometry->slot_size))
			return -EPROTO;
		memory = KRDMA_BLK_SLOTS * (u64)geometry->slot_size;
	}

	/* Divide first, because rounding up could overflow. */
	chunks = memory / geometry->chunk_size + !!(memory % geometry->chunk_size);
	if (chunks > KRDMA_BLK_CHUNKS_MAX)
		return -EPROTO;
	if (geometry->table_addr + chunks * sizeof(struct krdma_blk_entry) < geometry->table_addr)
		return -EPROTO;
	geometry->chunks = chunks;
	return krdma_blk_read_keys(&welcome, geometry);
}

static const char *const krdma_blk_reasons[] = {
	[KRDMA_BLK_NOT_UNDERSTOOD] = "the server does not understand this client",
	[KRDMA_BLK_OTHER_VERSION] = "the server speaks another version",
	[KRDMA_BLK_REFUSED] =
		"there is no such export, or not for this address, or the secret is wrong",
	[KRDMA_BLK_CHALLENGE] =
		"there is no such export, or not for this address, or it wants a secret",
	[KRDMA_BLK_BUSY] = "another client writes the export, or has it alone",
	[KRDMA_BLK_FULL] = "there are too many connections, or too many requests from this address",
	[KRDMA_BLK_NO_MEMORY] = "the server could not register its memory",
	[KRDMA_BLK_NO_FABRIC] = "the server's device speaks iWARP or cannot register memory",
	[KRDMA_BLK_FENCED] = "the export is made anew or another client's, or this one was evicted",
};

/**
 * krdma_blk_read_refusal() - Convert a server's refusal
 * @data: private data of the rejection
 * @length: bytes of @data
 * @refusal: filled in; its reason is 0 if there is no valid refusal
 *
 * Context: any.
 * Return: the reason as text; NULL: the rejection contains no refusal, so there is no listener,
 * or one of another program.
 */
const char *krdma_blk_read_refusal(const void *data, size_t length,
				   struct krdma_blk_refusal *refusal)
{
	*refusal = (struct krdma_blk_refusal) {};
	/* The structure of another version may be shorter. */
	if (length < offsetof(struct krdma_blk_refusal, challenge))
		return NULL;
	memcpy(refusal, data, min(length, sizeof(*refusal)));
	if (refusal->magic == cpu_to_le32(KRDMA_BLK_MAGIC) &&
	    refusal->version == KRDMA_BLK_VERSION && length >= sizeof(*refusal)) {
		if (refusal->reason < ARRAY_SIZE(krdma_blk_reasons) &&
		    krdma_blk_reasons[refusal->reason])
			return krdma_blk_reasons[refusal->reason];
		return "the server has refused, for a reason that is not known here";
	}
	refusal->reason = 0;
	if (refusal->magic != cpu_to_le32(KRDMA_BLK_MAGIC))
		return NULL;
	return krdma_blk_reasons[KRDMA_BLK_OTHER_VERSION];
}

/* Returns false if the range is not one for the command's opcode. */
static bool krdma_blk_range_fits(const struct krdma_blk_range *range)
{
	switch (range->opcode) {
	case KRDMA_BLK_READ:
	case KRDMA_BLK_WRITE:
		return range->length && range->length <= KRDMA_BLK_SLOT_SIZE &&
		       range->tag < KRDMA_BLK_SLOTS;
	case KRDMA_BLK_FLUSH:
		return !range->offset && !range->length;
	default:
		return range->length && range->length <= KRDMA_BLK_ZERO_MAX;
	}
}

/**
 * krdma_blk_read_command() - Check and convert a client's command
 * @command: the command; a copy that the client cannot change
 * @bounds: what it may do
 * @range: filled in on success; on failure, only its tag is valid
 *
 * Context: any.
 * Return: &enum krdma_blk_status: KRDMA_BLK_DONE: it may be executed; KRDMA_BLK_INVALID: another
 * opcode, a flag or a slot that does not exist, or a range that is empty, too long, not in whole
 * blocks, or not within the export.
 */
int krdma_blk_read_command(const struct krdma_blk_command *command,
			   const struct krdma_blk_bounds *bounds, struct krdma_blk_range *range)
{
	*range = (struct krdma_blk_range) {
		.offset = le64_to_cpu(command->offset),
		.length = le32_to_cpu(command->length),
		.tag = le16_to_cpu(command->tag),
		.opcode = command->opcode,
		.stable = command->flags & KRDMA_BLK_STABLE,
	};
	if (range->opcode > KRDMA_BLK_FLUSH || !(bounds->opcodes & 1 << range->opcode))
		return KRDMA_BLK_INVALID;
	if (command->flags & ~(range->opcode == KRDMA_BLK_WRITE ? KRDMA_BLK_STABLE : 0))
		return KRDMA_BLK_INVALID;
	if (!krdma_blk_range_fits(range) ||
	    (range->length | range->offset) & (bounds->block_size - 1))
		return KRDMA_BLK_INVALID;
	/* The sum of the two could overflow. */
	if (range->offset > bounds->size || range->length > bounds->size - range->offset)
		return KRDMA_BLK_INVALID;
	return KRDMA_BLK_DONE;
}
