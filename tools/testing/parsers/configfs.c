// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of krdma_blk, as the tool reads them: blk_config.c, with a file in memory in place
 * of the attribute.
 */
#include <string.h>

#include "blk_config.h"

#undef BLK_CONFIG
#define BLK_CONFIG "/proc/self"

#include "blk_config.c"
#include "parsers.h"

int parser_blk_config(const uint8_t *data, size_t size)
{
	char *text = malloc(BLK_TEXT_MAX), number[16];

	EXPECT(text);
	snprintf(number, sizeof(number), "%d", memory_file(data, size));
	EXPECT(blk_config_read(text, "fd", number, NULL) == text);
	EXPECT(memchr(text, '\0', BLK_TEXT_MAX) && !strchr(text, '\n'));
	/* A name leads to no other folder. */
	if (size && size < 100) {
		char *name = text_of(data, size), path[PATH_MAX];

		if (!blk_path(path, BLK_EXPORTS, name, NULL))
			EXPECT(*name && *name != '.' && !strchr(name, '/'));
		free(name);
	}
	free(text);
	return 0;
}
