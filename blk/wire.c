// SPDX-License-Identifier: GPL-2.0
/*
 * What a peer has said, looked at before anything of it is used.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "wire.h"

/**
 * krdma_blk_read_welcome - what has the server exported?
 * @data: what came with its acceptance
 * @length: how much that is
 * @geometry: filled in, unless it fails
 *
 * Context: any.
 * Return: 0; -EPROTO: it is not a server of this kind, or of another version, or what
 * it says is not possible.
 */
int krdma_blk_read_welcome(const void *data, size_t length, struct krdma_blk_geometry *geometry)
{
	struct krdma_blk_welcome welcome;
	u64 chunks;

	if (length < sizeof(welcome))
		return -EPROTO;
	memcpy(&welcome, data, sizeof(welcome));
	if (welcome.magic != cpu_to_le32(KRDMA_BLK_MAGIC) ||
	    welcome.version != KRDMA_BLK_VERSION || (welcome.flags & ~KRDMA_BLK_FLAGS) ||
	    welcome.reserved || welcome.reserved2)
		return -EPROTO;

	*geometry = (struct krdma_blk_geometry) {
		.generation = le64_to_cpu(welcome.generation),
		.size = le64_to_cpu(welcome.size),
		.table_addr = le64_to_cpu(welcome.table_addr),
		.table_key = le32_to_cpu(welcome.table_key),
		.block_size = le32_to_cpu(welcome.block_size),
		.chunk_size = le32_to_cpu(welcome.chunk_size),
		.read_only = welcome.flags & KRDMA_BLK_READ_ONLY,
	};
	if (geometry->block_size != SZ_512 && geometry->block_size != SZ_4K)
		return -EPROTO;
	if (geometry->chunk_size < PAGE_SIZE || geometry->chunk_size > SZ_1G ||
	    !is_power_of_2(geometry->chunk_size))
		return -EPROTO;
	if (!geometry->size || geometry->size % geometry->block_size)
		return -EPROTO;

	/* Division first: rounding up could overflow. */
	chunks = geometry->size / geometry->chunk_size + !!(geometry->size % geometry->chunk_size);
	if (chunks > KRDMA_BLK_CHUNKS_MAX)
		return -EPROTO;
	if (geometry->table_addr + chunks * sizeof(struct krdma_blk_entry) < geometry->table_addr)
		return -EPROTO;
	geometry->chunks = chunks;
	return 0;
}

/**
 * krdma_blk_same_secret - are two secrets the same?
 * @a: one of them
 * @b: the other
 *
 * Takes the same time wherever they differ.  crypto_memneq() does the same, and not
 * every kernel has it.
 *
 * Context: any.
 * Return: whether they are.
 */
bool krdma_blk_same_secret(const u8 *a, const u8 *b)
{
	u8 difference = 0;

	for (unsigned int i = 0; i < KRDMA_BLK_SECRET_MAX; i++) {
		difference |= a[i] ^ b[i];
		/* The compiler must not know when it has seen enough. */
		OPTIMIZER_HIDE_VAR(difference);
	}
	return !difference;
}

static const char *const krdma_blk_reasons[] = {
	[KRDMA_BLK_NOT_UNDERSTOOD] = "the server does not understand this client",
	[KRDMA_BLK_OTHER_VERSION] = "the server speaks another version",
	[KRDMA_BLK_NO_EXPORT] = "the server has no enabled export of that name",
	[KRDMA_BLK_BAD_ADDRESS] = "the export does not allow this address",
	[KRDMA_BLK_BAD_SECRET] = "the secret is wrong",
	[KRDMA_BLK_BUSY] = "the export is exclusive, and another client has it",
	[KRDMA_BLK_FULL] = "the export has as many connections as it can",
	[KRDMA_BLK_NO_MEMORY] = "the server could not register its memory",
	[KRDMA_BLK_NO_FABRIC] = "the server's device speaks iWARP or cannot register memory",
};

/**
 * krdma_blk_read_refusal - why has the server refused?
 * @data: what came with its rejection
 * @length: how much that is
 *
 * Context: any.
 * Return: in words; NULL: it did not say, so that nobody listens there, or somebody else.
 */
const char *krdma_blk_read_refusal(const void *data, size_t length)
{
	struct krdma_blk_refusal refusal;

	if (length < sizeof(refusal))
		return NULL;
	memcpy(&refusal, data, sizeof(refusal));
	if (refusal.magic != cpu_to_le32(KRDMA_BLK_MAGIC))
		return NULL;
	if (refusal.version != KRDMA_BLK_VERSION)
		return krdma_blk_reasons[KRDMA_BLK_OTHER_VERSION];
	if (refusal.reason >= ARRAY_SIZE(krdma_blk_reasons) || !krdma_blk_reasons[refusal.reason])
		return "the server has refused, for a reason that is not known here";
	return krdma_blk_reasons[refusal.reason];
}
