// SPDX-License-Identifier: GPL-2.0
/*
 * krdma_blk's parsers of private data.  The Makefile makes the kernel's headers that it
 * includes, each with the line that includes blk_kernel.h.
 */
#include "wire.c"
#include "parsers.h"

int parser_blk_welcome(const uint8_t *data, size_t size)
{
	struct krdma_blk_geometry geometry;
	u64 memory;
	u32 part;
	int err = krdma_blk_read_welcome(data, size, &geometry);

	if (err) {
		EXPECT(err == -EPROTO);
		return 0;
	}
	EXPECT(geometry.block_size && geometry.size && !(geometry.size % geometry.block_size));
	EXPECT(geometry.chunks && geometry.chunks <= KRDMA_BLK_CHUNKS_MAX);
	memory = geometry.slot_size ? KRDMA_BLK_SLOTS * (u64)geometry.slot_size : geometry.size;
	EXPECT((u64)geometry.chunks * geometry.chunk_size >= memory);
	EXPECT((u64)(geometry.chunks - 1) * geometry.chunk_size < memory);
	EXPECT(!(geometry.slot_size & (geometry.slot_size - 1)));
	EXPECT(!geometry.slot_size || geometry.slot_size >= geometry.block_size);
	EXPECT(geometry.table_addr + geometry.chunks * 16ull >= geometry.table_addr);
	EXPECT(!geometry.read_only || !geometry.offers);
	/* Each entry has one of the keys. */
	part = geometry.table_part / 16;
	EXPECT(part && !(geometry.table_part % 16));
	EXPECT((geometry.chunks - 1) / part < KRDMA_BLK_TABLE_KEYS_MAX);
	EXPECT(size >= 96 || geometry.chunks <= part);
	return 0;
}

int parser_blk_refusal(const uint8_t *data, size_t size)
{
	struct krdma_blk_refusal refusal;
	const char *text = krdma_blk_read_refusal(data, size, &refusal);

	EXPECT(text || !refusal.reason);
	EXPECT(!text || text_is_shown(text, false));
	return 0;
}

/* The export's size, which also gives the block size and what is offered, and a command. */
int parser_blk_command(const uint8_t *data, size_t size)
{
	struct krdma_blk_command command;
	struct krdma_blk_bounds bounds;
	struct krdma_blk_range range;
	u32 block_size;
	u64 export;
	int status;

	if (size < sizeof(export) + sizeof(command))
		return 0;
	memcpy(&export, data, sizeof(export));
	memcpy(&command, data + sizeof(export), sizeof(command));
	block_size = export & 1 ? SZ_512 : SZ_4K;
	bounds = (struct krdma_blk_bounds) {
		.block_size = block_size, .opcodes = export >> 1 & 0xff,
	};
	export &= ~(u64)(block_size - 1);
	bounds.size = export;

	status = krdma_blk_read_command(&command, &bounds, &range);
	EXPECT(status == KRDMA_BLK_DONE || status == KRDMA_BLK_INVALID);
	EXPECT(range.tag == le16toh(command.tag));
	EXPECT(KRDMA_BLK_REPLY_TAG(KRDMA_BLK_REPLY(status, range.tag)) == range.tag);
	EXPECT(KRDMA_BLK_REPLY_STATUS(KRDMA_BLK_REPLY(status, range.tag)) == (u32)status);
	if (status != KRDMA_BLK_DONE)
		return 0;
	EXPECT(bounds.opcodes & 1 << range.opcode);
	EXPECT(!range.length == (range.opcode == KRDMA_BLK_FLUSH));
	EXPECT(!range.stable || range.opcode == KRDMA_BLK_WRITE);
	EXPECT(range.length <= KRDMA_BLK_ZERO_MAX);
	if (range.opcode == KRDMA_BLK_READ || range.opcode == KRDMA_BLK_WRITE)
		EXPECT(range.tag < KRDMA_BLK_SLOTS && range.length <= KRDMA_BLK_SLOT_SIZE);
	EXPECT(!(range.length % block_size) && !(range.offset % block_size));
	EXPECT(range.offset <= export && range.length <= export - range.offset);
	return 0;
}
