// SPDX-License-Identifier: GPL-2.0
/*
 * The module's parsers: memory descriptors, private data, frames of lanes, and messages of
 * krdma_blk.
 */
#include <string.h>

#include "cm/private_data.h"
#include "lane/frame.h"
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

/* Both sides choose the same version, and what decodes gives the same bytes. */
int parser_lane_hello(const uint8_t *data, size_t size)
{
	struct krdma_lane_hello hello = { 0 };
	u8 again[KRDMA_LANE_HELLO_SIZE];
	u8 version = 0;

	if (krdma_lane_hello_decode(data, (u32)size, &hello))
		return 0;
	EXPECT(size >= sizeof(again));
	EXPECT(hello.version_min && hello.version_min <= hello.version_max);
	EXPECT(hello.frames >= KRDMA_LANE_FRAMES_MIN);
	krdma_lane_hello_encode(&hello, again);
	/* Later versions have flags. */
	EXPECT(!memcmp(again, data, 6) && !memcmp(again + 8, data + 8, sizeof(again) - 8));
	if (!krdma_lane_hello_choose(&hello, &version))
		EXPECT(version >= hello.version_min && version <= hello.version_max &&
		       version <= KRDMA_LANE_VERSION_MAX);
	return 0;
}

static void check_lane_record(const struct krdma_lane_record *record, const uint8_t *frame,
			      size_t size)
{
	EXPECT(record->data >= frame && record->length <= size);
	EXPECT(record->data + record->length <= frame + size);
	if (record->type == KRDMA_LANE_DATA || record->type == KRDMA_LANE_WRITE) {
		EXPECT(!(record->flags & KRDMA_LANE_FIRST) || record->length <= record->total);
		EXPECT((record->flags & KRDMA_LANE_IMM) || !record->value);
		EXPECT(record->length || record->flags & KRDMA_LANE_LAST);
	} else if (record->type == KRDMA_LANE_RESULT) {
		EXPECT(record->length || record->flags == KRDMA_LANE_LAST);
	} else if (record->type == KRDMA_LANE_ATOMIC) {
		EXPECT(!(record->addr % 8) && record->atomic && record->atomic <= 2);
	} else if (record->type == KRDMA_LANE_NAME) {
		EXPECT(record->length && record->length <= KRDMA_LANE_NAME_MAX);
		EXPECT(!memchr(record->data, 0, record->length));
	} else if (record->type == KRDMA_LANE_MR) {
		EXPECT(!record->length && record->value < KRDMA_LANE_MR_RESULTS);
		EXPECT(record->swap <= record->operand);
		EXPECT(!record->swap == !record->total && !(record->total & ~14U));
		EXPECT(record->addr + record->swap >= record->addr);
	} else if (record->type == KRDMA_LANE_WINDOW) {
		bool given = record->value == KRDMA_LANE_WINDOW_GIVEN;

		EXPECT(!record->length && record->value < KRDMA_LANE_WINDOW_RESULTS);
		EXPECT(given == !!record->operand && record->operand <= U32_MAX);
		EXPECT(given == !!record->swap && given == !!record->total);
		EXPECT(given || (!record->addr && !record->key));
		EXPECT(!(record->total & ~14U));
		EXPECT(record->addr + record->swap >= record->addr);
	} else if (record->type >= KRDMA_LANE_ASK && record->type <= KRDMA_LANE_REVOKED) {
		EXPECT(!record->flags && !record->length && !record->credits);
		EXPECT(!record->value || record->type == KRDMA_LANE_ASK);
	} else if (record->type == KRDMA_LANE_WANT || record->type == KRDMA_LANE_YIELD) {
		EXPECT(!record->length && record->value <= KRDMA_LANE_WANT_MAX);
		EXPECT(record->value || record->type == KRDMA_LANE_YIELD);
	} else if (record->type < KRDMA_LANE_OPTIONAL) {
		EXPECT(!record->flags && record->length <= KRDMA_LANE_DATA_MAX);
	}
	if (record->type == KRDMA_LANE_OPEN || record->type == KRDMA_LANE_FIND)
		EXPECT(record->value && record->value <= U16_MAX);
	EXPECT(record->early <= KRDMA_LANE_EARLY_MAX);
	EXPECT(!record->early || record->type == KRDMA_LANE_OPEN);
}

/* The first byte says whether the header's length is set to the true one. */
int parser_lane_frame(const uint8_t *data, size_t size)
{
	struct krdma_lane_reader reader;
	struct krdma_lane_record record;
	struct krdma_lane_writer writer;
	uint8_t *frame, *again;
	u32 records = 0;

	if (!size)
		return 0;
	size--;
	frame = malloc(size ? size : 1);
	again = malloc(size ? size : 1);
	EXPECT(frame && again);
	memcpy(frame, data + 1, size);
	if (size >= KRDMA_LANE_FRAME_HEADER && (data[0] & 1)) {
		memcpy(frame, "\x01\x00", 2);
		frame[4] = size & 0xff;
		frame[5] = (uint8_t)(size >> 8);
	}
	if (!krdma_lane_frame_read(&reader, frame, (u32)size)) {
		krdma_lane_frame_begin(&writer, again, (u32)size);
		while (krdma_lane_frame_next(&reader, &record)) {
			check_lane_record(&record, frame, size);
			krdma_lane_frame_add(&writer, &record);
			records++;
		}
		EXPECT(records <= KRDMA_LANE_RECORDS_MAX && records == writer.records);
		EXPECT(krdma_lane_frame_end(&writer, reader.grant) == size);
		EXPECT(!memcmp(again, frame, size));
	}
	free(again);
	free(frame);
	return 0;
}
