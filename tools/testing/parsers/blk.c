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
	int err = krdma_blk_read_welcome(data, size, &geometry);

	if (err) {
		EXPECT(err == -EPROTO);
		return 0;
	}
	EXPECT(geometry.block_size && geometry.size && !(geometry.size % geometry.block_size));
	EXPECT(geometry.chunks && geometry.chunks <= KRDMA_BLK_CHUNKS_MAX);
	EXPECT((u64)geometry.chunks * geometry.chunk_size >= geometry.size);
	EXPECT((u64)(geometry.chunks - 1) * geometry.chunk_size < geometry.size);
	EXPECT(geometry.table_addr + geometry.chunks * 16ull >= geometry.table_addr);
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
