// SPDX-License-Identifier: GPL-2.0
/*
 * The messages of a trunk: greetings, frames and their records.  Pure.
 *
 * Documentation/lanes.rst is the reference of the format.  This file is the only place that reads
 * it: a frame is checked as a whole before any of its records is used, and one wrong bit makes
 * all of it invalid.  What is valid gives the same bytes when it is written again.
 */
#include "core/wire.h"
#include "lane/frame.h"

static const u8 krdma_lane_magic[] = { 'K', 'R', 'L', 'N' };

/*
 * Greetings
 */

/**
 * krdma_lane_hello_encode() - Write a greeting
 * @hello: the greeting
 * @bytes: filled in, KRDMA_LANE_HELLO_SIZE bytes
 *
 * Context: any.
 */
void krdma_lane_hello_encode(const struct krdma_lane_hello *hello, u8 *bytes)
{
	memcpy(bytes, krdma_lane_magic, sizeof(krdma_lane_magic));
	bytes[4] = hello->version_min;
	bytes[5] = hello->version_max;
	krdma_wire_put_le16(bytes + 6, 0);
	krdma_wire_put_le16(bytes + 8, hello->frame_size);
	krdma_wire_put_le16(bytes + 10, hello->frames);
	krdma_wire_put_le32(bytes + 12, hello->lanes);
	krdma_wire_put_le64(bytes + 16, hello->instance);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_hello_encode);

/**
 * krdma_lane_hello_decode() - Read a greeting
 * @data: private data of a peer; may be NULL
 * @length: bytes of @data; more than a greeting are allowed, because some transports pad
 * @hello: filled in
 *
 * Context: any.
 * Return: 0, or -EINVAL: not a greeting, or one that no version of the protocol allows.
 */
int krdma_lane_hello_decode(const void *data, u32 length, struct krdma_lane_hello *hello)
{
	const u8 *bytes = data;

	if (!bytes || length < KRDMA_LANE_HELLO_SIZE ||
	    memcmp(bytes, krdma_lane_magic, sizeof(krdma_lane_magic)))
		return -EINVAL;

	/* The flags at 6 are those of later versions. */
	hello->version_min = bytes[4];
	hello->version_max = bytes[5];
	hello->frame_size = krdma_wire_get_le16(bytes + 8);
	hello->frames = krdma_wire_get_le16(bytes + 10);
	hello->lanes = krdma_wire_get_le32(bytes + 12);
	hello->instance = krdma_wire_get_le64(bytes + 16);

	if (!hello->version_min || hello->version_min > hello->version_max ||
	    hello->frame_size < KRDMA_LANE_FRAME_SIZE_MIN ||
	    hello->frame_size % KRDMA_LANE_RECORD_ALIGN ||
	    hello->frames < KRDMA_LANE_FRAMES_MIN)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_hello_decode);

/**
 * krdma_lane_hello_choose() - Choose the version that a link speaks
 * @hello: the peer's greeting
 * @version: set to the highest version that both sides speak
 *
 * Context: any.
 * Return: 0, or -EPROTONOSUPPORT: there is none.
 */
int krdma_lane_hello_choose(const struct krdma_lane_hello *hello, u8 *version)
{
	if (hello->version_min > KRDMA_LANE_VERSION_MAX ||
	    hello->version_max < KRDMA_LANE_VERSION_MIN)
		return -EPROTONOSUPPORT;
	*version = hello->version_max < KRDMA_LANE_VERSION_MAX ? hello->version_max :
								 KRDMA_LANE_VERSION_MAX;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_hello_choose);

/*
 * Records
 */

/* Bytes of numbers that precede the data of a record. */
static u32 krdma_lane_prefix(u8 type, u8 flags)
{
	switch (type) {
	case KRDMA_LANE_OPEN:
	case KRDMA_LANE_ACCEPT:
		return KRDMA_LANE_OPEN_SIZE;
	case KRDMA_LANE_DATA:
		/* A message in one part is as long as the part. */
		return (flags & (KRDMA_LANE_FIRST | KRDMA_LANE_LAST)) == KRDMA_LANE_FIRST ?
			KRDMA_LANE_TOTAL_SIZE : 0;
	case KRDMA_LANE_WRITE:
		return flags & KRDMA_LANE_FIRST ? KRDMA_LANE_RANGE_SIZE : 0;
	case KRDMA_LANE_READ:
		return KRDMA_LANE_RANGE_SIZE;
	case KRDMA_LANE_ATOMIC:
		return KRDMA_LANE_ATOMIC_SIZE;
	case KRDMA_LANE_NAME:
		return KRDMA_LANE_OFFSET_SIZE;
	case KRDMA_LANE_MR:
	case KRDMA_LANE_WINDOW:
		return KRDMA_LANE_MR_SIZE;
	default:
		return 0;
	}
}

static u32 krdma_lane_padded(u32 length)
{
	return (length + KRDMA_LANE_RECORD_ALIGN - 1) & ~(u32)(KRDMA_LANE_RECORD_ALIGN - 1);
}

static bool krdma_lane_is_zero(const u8 *bytes, u32 length)
{
	for (u32 i = 0; i < length; i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

/* Does the part make progress, and does it leave as much to the next one as it says? */
static bool krdma_lane_part_is_valid(const struct krdma_lane_record *record)
{
	bool first = record->flags & KRDMA_LANE_FIRST;
	bool last = record->flags & KRDMA_LANE_LAST;

	/* A part without data makes no progress; without data there is one part. */
	if (!(first && last) && !record->length)
		return false;
	if (first && last)
		return record->length == record->total;
	/* The rest follows. */
	return !first || record->length < record->total;
}

/* Checks what a record of DATA or WRITE says of all parts. */
static bool krdma_lane_data_is_valid(const struct krdma_lane_record *record)
{
	u8 with_imm = record->type == KRDMA_LANE_WRITE ? KRDMA_LANE_LAST : KRDMA_LANE_FIRST;

	if (record->flags & ~KRDMA_LANE_DATA_FLAGS)
		return false;
	if ((record->flags & KRDMA_LANE_IMM) ? !(record->flags & with_imm) : record->value)
		return false;
	return krdma_lane_part_is_valid(record);
}

static bool krdma_lane_result_is_valid(const struct krdma_lane_record *record)
{
	if ((record->flags & ~KRDMA_LANE_LAST) || record->credits || record->value)
		return false;
	return (record->flags & KRDMA_LANE_LAST) || record->length;
}

static bool krdma_lane_atomic_is_valid(const struct krdma_lane_record *record)
{
	if (record->length || record->credits || record->value || record->addr % sizeof(u64))
		return false;
	return record->atomic == KRDMA_LANE_COMPARE_SWAP ||
	       (record->atomic == KRDMA_LANE_FETCH_ADD && !record->swap);
}

/* A name has no zeroes: the receiver terminates it with one. */
static bool krdma_lane_name_is_valid(const struct krdma_lane_record *record)
{
	if (record->credits || record->value || !record->length ||
	    record->length > KRDMA_LANE_NAME_MAX)
		return false;
	return !memchr(record->data, 0, record->length);
}

/* Without a byte that a key covers, there is no key. */
static bool krdma_lane_mr_is_valid(const struct krdma_lane_record *record)
{
	bool found = record->value == KRDMA_LANE_MR_FOUND;

	if (record->length || record->credits || record->value >= KRDMA_LANE_MR_RESULTS)
		return false;
	/* An MR has at least one byte. */
	if (found != !!record->operand || record->swap > record->operand)
		return false;
	if (!record->swap)
		return !record->addr && !record->key && !record->total;
	return record->total && !(record->total & ~KRDMA_LANE_RIGHTS) &&
	       record->addr + record->swap >= record->addr;
}

/* A window has a number, and at least one byte. */
static bool krdma_lane_window_is_valid(const struct krdma_lane_record *record)
{
	if (record->length || record->credits || record->value >= KRDMA_LANE_WINDOW_RESULTS)
		return false;
	if (record->value == KRDMA_LANE_WINDOW_NONE)
		return !record->addr && !record->key && !record->total && !record->operand &&
		       !record->swap;
	return record->operand && record->operand <= U32_MAX && record->swap &&
	       record->addr + record->swap >= record->addr && record->total &&
	       !(record->total & ~KRDMA_LANE_RIGHTS);
}

/* Checks the numbers of a record whose data are in the frame. */
static bool krdma_lane_record_is_valid(const struct krdma_lane_record *record)
{
	if (record->type == KRDMA_LANE_DATA || record->type == KRDMA_LANE_WRITE)
		return krdma_lane_data_is_valid(record);
	if (record->type == KRDMA_LANE_RESULT)
		return krdma_lane_result_is_valid(record);
	if (record->flags)
		return false;

	switch (record->type) {
	case KRDMA_LANE_FIND:
		return !record->length && !record->credits && record->value &&
		       record->value <= U16_MAX;
	case KRDMA_LANE_FOUND:
		return !record->length && !record->credits && record->value < KRDMA_LANE_FOUNDS;
	case KRDMA_LANE_OPEN:
		return record->length <= KRDMA_LANE_DATA_MAX && record->value &&
		       record->value <= U16_MAX && record->early <= KRDMA_LANE_EARLY_MAX;
	case KRDMA_LANE_ACCEPT:
		return record->length <= KRDMA_LANE_DATA_MAX && !record->value && !record->port &&
		       !record->early;
	case KRDMA_LANE_REJECT:
		return record->length <= KRDMA_LANE_DATA_MAX && !record->credits &&
		       record->value < KRDMA_LANE_REJECTS;
	case KRDMA_LANE_CLOSE:
		return !record->length && !record->credits && record->value < KRDMA_LANE_CLOSES;
	case KRDMA_LANE_CREDIT:
		return !record->length && !record->value;
	case KRDMA_LANE_READ:
		return !record->length && !record->credits && !record->value;
	case KRDMA_LANE_ATOMIC:
		return krdma_lane_atomic_is_valid(record);
	case KRDMA_LANE_DONE:
		return !record->length && !record->credits;
	case KRDMA_LANE_WANT:
		return !record->length && !record->credits && record->value &&
		       record->value <= KRDMA_LANE_WANT_MAX;
	case KRDMA_LANE_RECALL:
		return !record->length && !record->credits && !record->value;
	case KRDMA_LANE_YIELD:
		return !record->length && !record->credits &&
		       record->value <= KRDMA_LANE_WANT_MAX;
	case KRDMA_LANE_NAME:
		return krdma_lane_name_is_valid(record);
	case KRDMA_LANE_MR:
		return krdma_lane_mr_is_valid(record);
	case KRDMA_LANE_ASK:
		return !record->length && !record->credits;
	case KRDMA_LANE_WINDOW:
		return krdma_lane_window_is_valid(record);
	case KRDMA_LANE_REVOKE:
	case KRDMA_LANE_REVOKED:
		return !record->length && !record->credits && !record->value;
	default:
		return false;
	}
}

/* Reads the numbers before the data.  Returns false if they are invalid by themselves. */
static bool krdma_lane_prefix_read(const u8 *bytes, struct krdma_lane_record *record)
{
	switch (record->type) {
	case KRDMA_LANE_DATA:
		record->total = krdma_wire_get_le32(bytes);
		return krdma_lane_is_zero(bytes + 4, 4);
	case KRDMA_LANE_OPEN:
	case KRDMA_LANE_ACCEPT:
		record->port = krdma_wire_get_le16(bytes);
		record->read_depth = bytes[2];
		record->read_depth_in = bytes[3];
		record->shared = bytes[4];
		record->early = krdma_wire_get_le16(bytes + 6);
		return bytes[4] <= 1 && !bytes[5];
	case KRDMA_LANE_ATOMIC:
		record->atomic = bytes[12];
		record->operand = krdma_wire_get_le64(bytes + 16);
		record->swap = krdma_wire_get_le64(bytes + 24);
		if (!krdma_lane_is_zero(bytes + 13, 3))
			return false;
		break;
	case KRDMA_LANE_NAME:
		record->addr = krdma_wire_get_le64(bytes);
		return true;
	case KRDMA_LANE_MR:
	case KRDMA_LANE_WINDOW:
		record->operand = krdma_wire_get_le64(bytes + 16);
		record->swap = krdma_wire_get_le64(bytes + 24);
		record->total = krdma_wire_get_le32(bytes + 12);
		break;
	default:
		record->total = krdma_wire_get_le32(bytes + 12);
		break;
	}
	record->addr = krdma_wire_get_le64(bytes);
	record->key = krdma_wire_get_le32(bytes + 8);
	return true;
}

static void krdma_lane_prefix_write(u8 *bytes, const struct krdma_lane_record *record)
{
	switch (record->type) {
	case KRDMA_LANE_DATA:
		krdma_wire_put_le64(bytes, record->total);
		return;
	case KRDMA_LANE_OPEN:
	case KRDMA_LANE_ACCEPT:
		krdma_wire_put_le16(bytes, record->port);
		bytes[2] = record->read_depth;
		bytes[3] = record->read_depth_in;
		krdma_wire_put_le16(bytes + 4, record->shared);
		krdma_wire_put_le16(bytes + 6, record->early);
		return;
	case KRDMA_LANE_NAME:
		krdma_wire_put_le64(bytes, record->addr);
		return;
	case KRDMA_LANE_ATOMIC:
		krdma_wire_put_le32(bytes + 12, record->atomic);
		krdma_wire_put_le64(bytes + 16, record->operand);
		krdma_wire_put_le64(bytes + 24, record->swap);
		break;
	case KRDMA_LANE_MR:
	case KRDMA_LANE_WINDOW:
		krdma_wire_put_le32(bytes + 12, record->total);
		krdma_wire_put_le64(bytes + 16, record->operand);
		krdma_wire_put_le64(bytes + 24, record->swap);
		break;
	default:
		krdma_wire_put_le32(bytes + 12, record->total);
		break;
	}
	krdma_wire_put_le64(bytes, record->addr);
	krdma_wire_put_le32(bytes + 8, record->key);
}

/*
 * Reads the record at @bytes, of which @left bytes are in the frame.  Returns the number of bytes
 * that it takes, or 0 if it is invalid.
 */
static u32 krdma_lane_record_read(const u8 *bytes, u32 left, struct krdma_lane_record *record)
{
	u32 length, prefix, whole;

	if (left < KRDMA_LANE_RECORD_HEADER)
		return 0;
	*record = (struct krdma_lane_record) {
		.type = bytes[0],
		.flags = bytes[1],
		.lane = krdma_wire_get_le32(bytes + 4),
		.credits = krdma_wire_get_le32(bytes + 8),
		.value = krdma_wire_get_le32(bytes + 12),
	};
	length = krdma_wire_get_le16(bytes + 2);
	whole = KRDMA_LANE_RECORD_HEADER + krdma_lane_padded(length);
	prefix = krdma_lane_prefix(record->type, record->flags);
	if (whole > left || length < prefix)
		return 0;
	if (!krdma_lane_is_zero(bytes + KRDMA_LANE_RECORD_HEADER + length,
				whole - KRDMA_LANE_RECORD_HEADER - length))
		return 0;

	bytes += KRDMA_LANE_RECORD_HEADER;
	record->data = bytes + prefix;
	record->length = length - prefix;
	if (record->type >= KRDMA_LANE_OPTIONAL)
		return whole;

	if (prefix && !krdma_lane_prefix_read(bytes, record))
		return 0;
	if (!prefix && record->type == KRDMA_LANE_DATA && (record->flags & KRDMA_LANE_FIRST))
		record->total = record->length;
	return krdma_lane_record_is_valid(record) ? whole : 0;
}

/*
 * Reading frames
 */

/**
 * krdma_lane_frame_read() - Begin to read a frame
 * @reader: filled in
 * @frame: the frame, as it has arrived; does not change until the last record has been read
 * @length: its length
 *
 * Context: any.
 * Return: 0; -EINVAL: a part of the frame is invalid, and none of it may be used.
 */
int krdma_lane_frame_read(struct krdma_lane_reader *reader, const u8 *frame, u32 length)
{
	struct krdma_lane_record record;
	u32 used = KRDMA_LANE_FRAME_HEADER;
	u32 records, step;

	if (length < KRDMA_LANE_FRAME_HEADER || length > KRDMA_LANE_FRAME_SIZE)
		return -EINVAL;
	records = krdma_wire_get_le16(frame + 2);
	if (frame[0] != KRDMA_LANE_VERSION_MAX || frame[1] || records > KRDMA_LANE_RECORDS_MAX ||
	    krdma_wire_get_le16(frame + 4) != length || !krdma_lane_is_zero(frame + 6, 2) ||
	    !krdma_lane_is_zero(frame + 12, 4))
		return -EINVAL;

	for (u32 i = 0; i < records; i++) {
		step = krdma_lane_record_read(frame + used, length - used, &record);
		if (!step)
			return -EINVAL;
		used += step;
	}
	if (used != length)
		return -EINVAL;

	reader->grant = krdma_wire_get_le32(frame + 8);
	reader->next = frame + KRDMA_LANE_FRAME_HEADER;
	reader->records = records;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_frame_read);

/**
 * krdma_lane_frame_next() - Read the next record
 * @reader: from krdma_lane_frame_read(), which has returned 0
 * @record: filled in; its data are in the frame.  The caller ignores a record with a type from
 *	KRDMA_LANE_OPTIONAL on that it does not know.
 *
 * Context: any.
 * Return: false if there is none.
 */
bool krdma_lane_frame_next(struct krdma_lane_reader *reader, struct krdma_lane_record *record)
{
	if (!reader->records)
		return false;
	reader->records--;
	/* The whole frame was checked, so the length is the frame's concern no more. */
	reader->next += krdma_lane_record_read(reader->next, U32_MAX, record);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_frame_next);

/*
 * Writing frames
 */

/**
 * krdma_lane_frame_begin() - Begin to write a frame
 * @writer: filled in
 * @frame: where the frame is written
 * @size: size of @frame: what the peer takes, at most KRDMA_LANE_FRAME_SIZE
 *
 * Context: any.
 */
void krdma_lane_frame_begin(struct krdma_lane_writer *writer, u8 *frame, u32 size)
{
	*writer = (struct krdma_lane_writer) {
		.frame = frame,
		.size = size,
		.used = KRDMA_LANE_FRAME_HEADER,
	};
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_frame_begin);

/**
 * krdma_lane_frame_left() - Get the room for one more record
 * @writer: the frame
 * @type: type of the record
 * @flags: its flags
 *
 * Context: any.
 * Return: the bytes of data that fit, or U32_MAX if not even a record without data fits.
 */
u32 krdma_lane_frame_left(const struct krdma_lane_writer *writer, u8 type, u8 flags)
{
	u32 need = KRDMA_LANE_RECORD_HEADER + krdma_lane_prefix(type, flags);

	if (writer->records == KRDMA_LANE_RECORDS_MAX || writer->size - writer->used < need)
		return U32_MAX;
	return writer->size - writer->used - need;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_frame_left);

/**
 * krdma_lane_frame_add() - Write a record
 * @writer: the frame, with room for the record
 * @record: the record, which is valid
 *
 * Context: any.
 * Return: where the @record->length bytes of data are: the caller fills them in if @record->data
 * is NULL.
 */
u8 *krdma_lane_frame_add(struct krdma_lane_writer *writer, const struct krdma_lane_record *record)
{
	u32 prefix = krdma_lane_prefix(record->type, record->flags);
	u32 length = prefix + record->length;
	u8 *bytes = writer->frame + writer->used;
	u8 *data = bytes + KRDMA_LANE_RECORD_HEADER + prefix;

	bytes[0] = record->type;
	bytes[1] = record->flags;
	krdma_wire_put_le16(bytes + 2, (u16)length);
	krdma_wire_put_le32(bytes + 4, record->lane);
	krdma_wire_put_le32(bytes + 8, record->credits);
	krdma_wire_put_le32(bytes + 12, record->value);

	bytes += KRDMA_LANE_RECORD_HEADER;
	if (prefix)
		krdma_lane_prefix_write(bytes, record);
	if (record->data && record->length)
		memcpy(data, record->data, record->length);
	memset(data + record->length, 0, krdma_lane_padded(length) - length);

	writer->used += KRDMA_LANE_RECORD_HEADER + krdma_lane_padded(length);
	writer->records++;
	return data;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_frame_add);

/**
 * krdma_lane_frame_end() - Complete a frame
 * @writer: the frame
 * @grant: frames granted to the peer since the link began, modulo 2^32
 *
 * Context: any.
 * Return: the length of the frame.
 */
u32 krdma_lane_frame_end(struct krdma_lane_writer *writer, u32 grant)
{
	u8 *frame = writer->frame;

	frame[0] = KRDMA_LANE_VERSION_MAX;
	frame[1] = 0;
	krdma_wire_put_le16(frame + 2, (u16)writer->records);
	krdma_wire_put_le16(frame + 4, (u16)writer->used);
	krdma_wire_put_le16(frame + 6, 0);
	krdma_wire_put_le32(frame + 8, grant);
	krdma_wire_put_le32(frame + 12, 0);
	return writer->used;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_lane_frame_end);
