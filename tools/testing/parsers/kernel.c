// SPDX-License-Identifier: GPL-2.0
/*
 * The module's parsers: memory descriptors, private data, and messages of krdma_blk.
 */
#include <string.h>

#include "cm/private_data.h"
#include "mr/desc.h"
#include "parsers.h"

/* What decodes gives the same bytes when it is encoded. */
int parser_mr_desc(const uint8_t *data, size_t size)
{
	struct krdma_mr_desc_fields fields;
	u8 again[KRDMA_MR_DESC_SIZE];
	int err = krdma_mr_desc_decode(data, size, &fields);

	if (err) {
		EXPECT(err == -EINVAL || err == -EPROTONOSUPPORT);
		return 0;
	}
	EXPECT(size >= sizeof(again) && fields.length);
	EXPECT(fields.addr + fields.length >= fields.addr);
	EXPECT(!krdma_mr_desc_encode(&fields, again));
	EXPECT(!memcmp(again, data, sizeof(again)));
	return 0;
}

int parser_desc_of_module(const uint8_t *data, size_t size, uint64_t *addr, uint64_t *length,
			  uint32_t *key, uint32_t *rights)
{
	struct krdma_mr_desc_fields fields = { 0 };
	int err = krdma_mr_desc_decode(data, size, &fields);

	*addr = fields.addr;
	*length = fields.length;
	*key = fields.key;
	*rights = fields.rights;
	return err;
}

static void check_private_data(enum krdma_private_data_kind kind, bool padded,
			       const uint8_t *data, size_t size)
{
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	u32 length, sent = 0;
	bool is_krdma = true;
	int err;

	length = krdma_private_data_decode(kind, padded, data, (u32)size, &is_krdma);
	EXPECT(length <= size);
	if (is_krdma) {
		/* The trailer is what krdma itself would have sent. */
		EXPECT(padded && !krdma_private_data_encode(kind, true, false, data, length,
							    message, &sent));
		EXPECT(sent == size && !memcmp(message, data, size));
	} else {
		EXPECT(length == (data ? size : 0));
	}

	/* And what krdma sends of these bytes arrives whole. */
	err = krdma_private_data_encode(kind, padded, false, data, (u32)size, message, &sent);
	if (err) {
		EXPECT(err == -EINVAL || (err == -EMSGSIZE &&
					  size > krdma_private_data_max(kind, padded)));
		return;
	}
	EXPECT(sent <= krdma_private_data_max(kind, padded));
	length = krdma_private_data_decode(kind, padded, message, sent, &is_krdma);
	EXPECT(length >= size || is_krdma);
	EXPECT(!is_krdma || length == size || sent == size);
}

/* The first byte says which message it is; the second, to what length the rest is extended. */
int parser_private_data(const uint8_t *data, size_t size)
{
	uint8_t *message = NULL;
	u32 max;

	if (size < 2)
		return 0;
	check_private_data(data[0] & 3, data[0] & 4, data + 2, size - 2);
	max = krdma_private_data_max(data[0] & 3, true);
	if (!(data[1] & 1) || !max)
		return 0;
	message = calloc(1, max);
	EXPECT(message);
	memcpy(message, data + 2, size - 2 < max ? size - 2 : max);
	/* A trailer with the right magic and version, at its place. */
	if (data[1] & 2)
		memcpy(message + max - KRDMA_PRIVATE_DATA_TRAILER, "\xb5\xd7\x01", 3);
	check_private_data(data[0] & 3, true, message, max);
	free(message);
	return 0;
}
