/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma/lane/frame.c must write on a link, and what it may accept there.
 */
#ifndef _KRDMA_KUNIT_LANE_FRAME_CASES_H
#define _KRDMA_KUNIT_LANE_FRAME_CASES_H

#include "lane/frame.h"

#include "cases.h"

/* Room for the longest frame of the cases, and the shortest that a peer may take. */
#define LANE_ROOM	2048
#define LANE_SMALL	1024

/* One record of each type, with the largest numbers that it may have. */
static const u8 lane_bytes[] = { 1, 2, 3, 4, 5 };

#define LANE_RECORD(kind, rest...) { .type = KRDMA_LANE_##kind, .lane = 0x81828384, rest }
#define LANE_GIVEN(at, rights, number, bytes, rest...)					\
	LANE_RECORD(WINDOW, .value = KRDMA_LANE_WINDOW_GIVEN, .addr = at, .total = rights,	\
		    .operand = number, .swap = bytes, rest)
static const struct krdma_lane_record lane_records[] = {
	LANE_RECORD(FIND, .value = 0xfffe),
	LANE_RECORD(FOUND, .value = KRDMA_LANE_LISTENER),
	LANE_RECORD(OPEN, .value = 1, .credits = 0xf1f2f3f4, .port = 0x9192, .read_depth = 16,
		    .read_depth_in = 255, .early = 0x0293, .data = lane_bytes, .length = 5),
	LANE_RECORD(ACCEPT, .credits = 7, .read_depth = 1, .read_depth_in = 2,
		    .data = lane_bytes, .length = 3),
	LANE_RECORD(REJECT, .value = KRDMA_LANE_REJECT_FULL, .data = lane_bytes, .length = 1),
	LANE_RECORD(CLOSE, .value = KRDMA_LANE_CLOSE_FAILED),
	LANE_RECORD(DATA, .flags = KRDMA_LANE_FIRST | KRDMA_LANE_IMM, .credits = 9,
		    .value = 0xa1a2a3a4, .total = 0xffffffff, .data = lane_bytes, .length = 4),
	LANE_RECORD(DATA, .data = lane_bytes, .length = 2),
	LANE_RECORD(DATA, .flags = KRDMA_LANE_LAST, .data = lane_bytes, .length = 1),
	LANE_RECORD(DATA, .flags = KRDMA_LANE_FIRST | KRDMA_LANE_LAST),
	LANE_RECORD(CREDIT, .credits = 0xffffffff),
	LANE_RECORD(WRITE, .flags = KRDMA_LANE_FIRST, .credits = 9, .addr = 0xc1c2c3c4c5c6c7c8,
		    .key = 0xd1d2d3d4, .total = 0xffffffff, .data = lane_bytes, .length = 5),
	LANE_RECORD(WRITE, .data = lane_bytes, .length = 2),
	LANE_RECORD(WRITE, .flags = KRDMA_LANE_LAST | KRDMA_LANE_IMM, .value = 0xa1a2a3a4,
		    .data = lane_bytes, .length = 1),
	LANE_RECORD(WRITE, .flags = KRDMA_LANE_DATA_FLAGS, .value = 1, .key = 2, .total = 3,
		    .data = lane_bytes, .length = 3),
	LANE_RECORD(READ, .addr = 0xc1c2c3c4c5c6c7c8, .key = 0xd1d2d3d4, .total = 0xe1e2e3e4),
	LANE_RECORD(ATOMIC, .addr = 0xc1c2c3c4c5c6c7c8, .key = 0xd1d2d3d4,
		    .atomic = KRDMA_LANE_COMPARE_SWAP, .operand = 0x1112131415161718,
		    .swap = 0x2122232425262728),
	LANE_RECORD(ATOMIC, .atomic = KRDMA_LANE_FETCH_ADD, .operand = (u64)-1),
	LANE_RECORD(RESULT, .data = lane_bytes, .length = 4),
	LANE_RECORD(RESULT, .flags = KRDMA_LANE_LAST),
	LANE_RECORD(DONE, .value = 0xffffffff),
	LANE_RECORD(NAME, .addr = 0xc1c2c3c4c5c6c7c8, .data = lane_bytes, .length = 5),
	LANE_RECORD(MR),
	LANE_RECORD(MR, .value = KRDMA_LANE_MR_LATER),
	LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1),
	LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .addr = 0xc1c2c3c4c5c6c7c8,
		    .key = 0xd1d2d3d4, .total = 14, .operand = 0x1112131415161718,
		    .swap = 0x1112131415161718),
	LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .total = 2, .operand = (u64)-1,
		    .swap = 1),
	LANE_RECORD(OPEN, .value = 1, .shared = true),
	LANE_RECORD(OPEN, .value = 1, .early = KRDMA_LANE_EARLY_MAX),
	LANE_RECORD(ACCEPT, .shared = true, .data = lane_bytes, .length = 3),
	LANE_RECORD(WANT, .value = 1),
	LANE_RECORD(WANT, .value = KRDMA_LANE_WANT_MAX),
	LANE_RECORD(RECALL),
	LANE_RECORD(YIELD),
	LANE_RECORD(YIELD, .value = KRDMA_LANE_WANT_MAX),
	LANE_RECORD(ASK),
	LANE_RECORD(ASK, .value = 0xffffffff),
	LANE_RECORD(WINDOW),
	LANE_GIVEN(0xc1c2c3c4c5c6c7c8, 14, 0xffffffff, 0x1112131415161718, .key = 0xd1d2d3d4),
	LANE_GIVEN((u64)-2, 2, 1, 1),
	LANE_RECORD(REVOKE),
	LANE_RECORD(REVOKED),
};

static inline u32 lane_write(u8 *frame, const struct krdma_lane_record *records, u32 count)
{
	struct krdma_lane_writer writer;

	krdma_lane_frame_begin(&writer, frame, LANE_ROOM);
	for (u32 i = 0; i < count; i++)
		krdma_lane_frame_add(&writer, &records[i]);
	return krdma_lane_frame_end(&writer, 0xb1b2b3b4);
}

static inline bool lane_is_valid(const u8 *frame, u32 length)
{
	struct krdma_lane_reader reader;

	return !krdma_lane_frame_read(&reader, frame, length);
}

static inline void lane_expect_same(struct case_report *report, s64 input,
				    const struct krdma_lane_record *expected,
				    const struct krdma_lane_record *got)
{
	u32 total = expected->total;

	if (expected->type == KRDMA_LANE_DATA && (expected->flags & KRDMA_LANE_FIRST) &&
	    (expected->flags & KRDMA_LANE_LAST))
		total = expected->length;
	check_expect(report, "type", input, expected->type, got->type);
	check_expect(report, "flags", input, expected->flags, got->flags);
	check_expect(report, "lane", input, expected->lane, got->lane);
	check_expect(report, "credits", input, expected->credits, got->credits);
	check_expect(report, "value", input, expected->value, got->value);
	check_expect(report, "port", input, expected->port, got->port);
	check_expect(report, "read depth", input, expected->read_depth, got->read_depth);
	check_expect(report, "read depth in", input, expected->read_depth_in, got->read_depth_in);
	check_expect(report, "shared", input, expected->shared, got->shared);
	check_expect(report, "early", input, expected->early, got->early);
	check_expect(report, "total", input, total, got->total);
	check_expect(report, "atomic", input, expected->atomic, got->atomic);
	check_expect(report, "key", input, expected->key, got->key);
	check_expect(report, "address", input, 0, expected->addr != got->addr);
	check_expect(report, "operand", input, 0, expected->operand != got->operand);
	check_expect(report, "swap", input, 0, expected->swap != got->swap);
	check_expect(report, "length", input, expected->length, got->length);
	check_expect(report, "data", input, 0,
		     expected->length && memcmp(expected->data, got->data, expected->length));
}

/* What is written is read, alone and with all the others in one frame. */
static inline void lane_frame_check_records(struct case_report *report)
{
	struct krdma_lane_record record;
	struct krdma_lane_reader reader;
	static u8 frame[LANE_ROOM];
	u32 length;

	for (u32 i = 0; i < CASES(lane_records); i++) {
		length = lane_write(frame, &lane_records[i], 1);
		check_expect(report, "read", i, 0, krdma_lane_frame_read(&reader, frame, length));
		check_expect(report, "grant", i, 0xb1b2b3b4, reader.grant);
		check_expect(report, "next", i, true, krdma_lane_frame_next(&reader, &record));
		lane_expect_same(report, i, &lane_records[i], &record);
		check_expect(report, "end", i, false, krdma_lane_frame_next(&reader, &record));
	}
	length = lane_write(frame, lane_records, CASES(lane_records));
	check_expect(report, "read", length, 0, krdma_lane_frame_read(&reader, frame, length));
	for (u32 i = 0; i < CASES(lane_records); i++) {
		check_expect(report, "next", i, true, krdma_lane_frame_next(&reader, &record));
		lane_expect_same(report, i, &lane_records[i], &record);
	}
	check_expect(report, "end", length, false, krdma_lane_frame_next(&reader, &record));
}

/* The bytes of the reference: they may not change within a version. */
static inline void lane_frame_check_wire(struct case_report *report)
{
	static const u8 expected[] = {
		1, 0, 9, 0, 32, 1, 0, 0, 0xb4, 0xb3, 0xb2, 0xb1, 0, 0, 0, 0,
		3, 0, 13, 0, 0x84, 0x83, 0x82, 0x81, 0xf4, 0xf3, 0xf2, 0xf1, 1, 0, 0, 0,
		0x92, 0x91, 16, 255, 0, 0, 0x93, 2, 1, 2, 3, 4, 5, 0, 0, 0,
		7, 2, 1, 0, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0, 0, 0, 0, 0,
		1, 0, 0, 0, 0, 0, 0, 0,
		9, 1, 21, 0, 0x84, 0x83, 0x82, 0x81, 9, 0, 0, 0, 0, 0, 0, 0,
		0xc8, 0xc7, 0xc6, 0xc5, 0xc4, 0xc3, 0xc2, 0xc1, 0xd4, 0xd3, 0xd2, 0xd1,
		0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 0, 0, 0,
		10, 0, 16, 0, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0, 0, 0, 0, 0,
		0xc8, 0xc7, 0xc6, 0xc5, 0xc4, 0xc3, 0xc2, 0xc1, 0xd4, 0xd3, 0xd2, 0xd1,
		0xe4, 0xe3, 0xe2, 0xe1,
		11, 0, 32, 0, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0, 0, 0, 0, 0,
		0xc8, 0xc7, 0xc6, 0xc5, 0xc4, 0xc3, 0xc2, 0xc1, 0xd4, 0xd3, 0xd2, 0xd1,
		1, 0, 0, 0, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
		0x28, 0x27, 0x26, 0x25, 0x24, 0x23, 0x22, 0x21,
		19, 0, 0, 0, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0, 0xd4, 0xd3, 0xd2, 0xd1,
		20, 0, 32, 0, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0, 1, 0, 0, 0,
		0xc8, 0xc7, 0xc6, 0xc5, 0xc4, 0xc3, 0xc2, 0xc1, 0xd4, 0xd3, 0xd2, 0xd1,
		14, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0,
		0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
		21, 0, 0, 0, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0, 0, 0, 0, 0,
		22, 0, 0, 0, 0x84, 0x83, 0x82, 0x81, 0, 0, 0, 0, 0, 0, 0, 0,
	};
	static const u8 hello_expected[] = {
		'K', 'R', 'L', 'N', 1, 2, 0, 0, 0, 16, 32, 0, 4, 3, 2, 1,
		8, 7, 6, 5, 4, 3, 2, 1,
	};
	static const struct krdma_lane_hello hello = {
		.version_min = 1,
		.version_max = 2,
		.frame_size = 4096,
		.frames = 32,
		.lanes = 0x01020304,
		.instance = 0x0102030405060708,
	};
	struct krdma_lane_record records[] = {
		lane_records[2], lane_records[8], lane_records[11], lane_records[15],
		lane_records[16],
		LANE_RECORD(ASK, .value = 0xd1d2d3d4),
		LANE_GIVEN(0xc1c2c3c4c5c6c7c8, 14, 0xffffffff, 0x1112131415161718,
			   .key = 0xd1d2d3d4),
		LANE_RECORD(REVOKE),
		LANE_RECORD(REVOKED),
	};
	static u8 frame[LANE_ROOM];
	u8 bytes[KRDMA_LANE_HELLO_SIZE];

	check_expect(report, "length of a frame", 0, sizeof(expected),
		     lane_write(frame, records, CASES(records)));
	for (u32 i = 0; i < sizeof(expected); i++)
		check_expect(report, "byte of a frame", i, expected[i], frame[i]);

	krdma_lane_hello_encode(&hello, bytes);
	for (u32 i = 0; i < sizeof(bytes); i++)
		check_expect(report, "byte of a greeting", i, hello_expected[i], bytes[i]);
}

/* No part of a frame is a frame, and nothing may follow one. */
static inline void lane_frame_check_lengths(struct case_report *report)
{
	static u8 frame[LANE_ROOM];
	u32 length;

	memset(frame, 0, sizeof(frame));
	length = lane_write(frame, lane_records, CASES(lane_records));
	for (u32 i = 0; i < LANE_ROOM; i++)
		check_expect(report, "length", i, i == length, lane_is_valid(frame, i));
	check_expect(report, "length", KRDMA_LANE_FRAME_SIZE + 8, false,
		     lane_is_valid(frame, KRDMA_LANE_FRAME_SIZE + 8));

	/* The same where the header says so. */
	for (u32 i = KRDMA_LANE_FRAME_HEADER; i < LANE_ROOM; i++) {
		frame[4] = (u8)(i & 0xff);
		frame[5] = (u8)(i >> 8);
		check_expect(report, "length in the header", i, i == length,
			     lane_is_valid(frame, i));
	}
	frame[4] = (u8)(length & 0xff);
	frame[5] = (u8)(length >> 8);
	for (u32 i = 0; i <= KRDMA_LANE_RECORDS_MAX + 1; i++) {
		frame[2] = (u8)i;
		check_expect(report, "records", i, i == CASES(lane_records),
			     lane_is_valid(frame, length));
	}
}

/* A frame with one other bit is invalid, or it is another frame, which gives the same bytes. */
static inline void lane_frame_check_bits(struct case_report *report)
{
	struct krdma_lane_record record;
	struct krdma_lane_reader reader;
	struct krdma_lane_writer writer;
	static u8 frame[LANE_ROOM], again[LANE_ROOM];
	u32 length = lane_write(frame, lane_records, CASES(lane_records));

	for (u32 bit = 0; bit < 8 * length; bit++) {
		frame[bit / 8] ^= (u8)(1 << bit % 8);
		if (!krdma_lane_frame_read(&reader, frame, length)) {
			krdma_lane_frame_begin(&writer, again, sizeof(again));
			while (krdma_lane_frame_next(&reader, &record))
				krdma_lane_frame_add(&writer, &record);
			check_expect(report, "length with another bit", bit, length,
				     krdma_lane_frame_end(&writer, reader.grant));
			check_expect(report, "bytes with another bit", bit, 0,
				     memcmp(again, frame, length));
		}
		frame[bit / 8] ^= (u8)(1 << bit % 8);
	}
}

/* Records that are invalid for what they say. */
static inline void lane_frame_check_refusals(struct case_report *report)
{
	static const struct krdma_lane_record wrong[] = {
		LANE_RECORD(FIND, .value = 0),
		LANE_RECORD(FIND, .value = 0x10000),
		LANE_RECORD(FIND, .value = 1, .credits = 1),
		LANE_RECORD(FIND, .value = 1, .flags = 1),
		LANE_RECORD(FIND, .value = 1, .data = lane_bytes, .length = 1),
		LANE_RECORD(FOUND, .value = KRDMA_LANE_FOUNDS),
		LANE_RECORD(FOUND, .credits = 1),
		LANE_RECORD(OPEN, .value = 0),
		LANE_RECORD(OPEN, .value = 0x10000),
		LANE_RECORD(OPEN, .value = 1, .flags = 1),
		LANE_RECORD(OPEN, .value = 1, .early = KRDMA_LANE_EARLY_MAX + 1),
		LANE_RECORD(OPEN, .value = 1, .early = U16_MAX),
		LANE_RECORD(ACCEPT, .value = 1),
		LANE_RECORD(ACCEPT, .port = 1),
		LANE_RECORD(ACCEPT, .early = 1),
		LANE_RECORD(ACCEPT, .early = KRDMA_LANE_EARLY_MAX),
		LANE_RECORD(REJECT, .value = KRDMA_LANE_REJECTS),
		LANE_RECORD(REJECT, .credits = 1),
		LANE_RECORD(CLOSE, .value = KRDMA_LANE_CLOSES),
		LANE_RECORD(CLOSE, .credits = 1),
		LANE_RECORD(CLOSE, .data = lane_bytes, .length = 1),
		LANE_RECORD(DATA, .flags = 8 | KRDMA_LANE_LAST, .data = lane_bytes, .length = 1),
		LANE_RECORD(DATA, .flags = KRDMA_LANE_IMM, .data = lane_bytes, .length = 1),
		LANE_RECORD(DATA, .flags = KRDMA_LANE_FIRST | KRDMA_LANE_LAST, .value = 1),
		LANE_RECORD(DATA),
		LANE_RECORD(DATA, .flags = KRDMA_LANE_LAST),
		LANE_RECORD(DATA, .flags = KRDMA_LANE_FIRST, .total = 1),
		LANE_RECORD(DATA, .flags = KRDMA_LANE_FIRST, .total = 2, .data = lane_bytes,
			    .length = 2),
		LANE_RECORD(CREDIT, .value = 1),
		LANE_RECORD(CREDIT, .data = lane_bytes, .length = 1),
		LANE_RECORD(WRITE, .flags = 8 | KRDMA_LANE_LAST, .data = lane_bytes, .length = 1),
		LANE_RECORD(WRITE, .flags = KRDMA_LANE_FIRST | KRDMA_LANE_IMM, .total = 2,
			    .data = lane_bytes, .length = 1),
		LANE_RECORD(WRITE, .flags = KRDMA_LANE_LAST, .value = 1, .data = lane_bytes,
			    .length = 1),
		LANE_RECORD(WRITE),
		LANE_RECORD(WRITE, .flags = KRDMA_LANE_LAST),
		LANE_RECORD(WRITE, .flags = KRDMA_LANE_FIRST, .total = 1),
		LANE_RECORD(WRITE, .flags = KRDMA_LANE_FIRST, .total = 2, .data = lane_bytes,
			    .length = 2),
		LANE_RECORD(WRITE, .flags = KRDMA_LANE_FIRST | KRDMA_LANE_LAST, .total = 1),
		LANE_RECORD(WRITE, .flags = KRDMA_LANE_FIRST | KRDMA_LANE_LAST, .total = 1,
			    .data = lane_bytes, .length = 2),
		LANE_RECORD(READ, .flags = 1),
		LANE_RECORD(READ, .credits = 1),
		LANE_RECORD(READ, .value = 1),
		LANE_RECORD(READ, .data = lane_bytes, .length = 1),
		LANE_RECORD(ATOMIC),
		LANE_RECORD(ATOMIC, .atomic = 3),
		LANE_RECORD(ATOMIC, .atomic = 1, .addr = 4),
		LANE_RECORD(ATOMIC, .atomic = 1, .flags = 1),
		LANE_RECORD(ATOMIC, .atomic = 1, .credits = 1),
		LANE_RECORD(ATOMIC, .atomic = 1, .value = 1),
		LANE_RECORD(ATOMIC, .atomic = 1, .data = lane_bytes, .length = 1),
		LANE_RECORD(ATOMIC, .atomic = KRDMA_LANE_FETCH_ADD, .swap = 1),
		LANE_RECORD(RESULT),
		LANE_RECORD(RESULT, .flags = KRDMA_LANE_FIRST | KRDMA_LANE_LAST),
		LANE_RECORD(RESULT, .flags = KRDMA_LANE_LAST, .credits = 1),
		LANE_RECORD(RESULT, .flags = KRDMA_LANE_LAST, .value = 1),
		LANE_RECORD(DONE, .flags = 1),
		LANE_RECORD(DONE, .credits = 1),
		LANE_RECORD(DONE, .data = lane_bytes, .length = 1),
		{ .type = 0 },
		LANE_RECORD(NAME),
		LANE_RECORD(NAME, .flags = 1, .data = lane_bytes, .length = 1),
		LANE_RECORD(NAME, .credits = 1, .data = lane_bytes, .length = 1),
		LANE_RECORD(NAME, .value = 1, .data = lane_bytes, .length = 1),
		LANE_RECORD(NAME, .data = (const u8 *)"a\0b", .length = 3),
		LANE_RECORD(NAME, .data = (const u8 *)"ab", .length = 3),
		LANE_RECORD(MR, .flags = 1),
		LANE_RECORD(MR, .credits = 1),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_RESULTS),
		LANE_RECORD(MR, .data = lane_bytes, .length = 1),
		LANE_RECORD(MR, .addr = 1),
		LANE_RECORD(MR, .key = 1),
		LANE_RECORD(MR, .total = 1),
		LANE_RECORD(MR, .operand = 1),
		LANE_RECORD(MR, .swap = 1),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_LATER, .operand = 1),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1, .swap = 2, .total = 2),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1, .swap = 1),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1, .swap = 1, .total = 3),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1, .swap = 1,
			    .total = 16),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 2, .swap = 2, .total = 2,
			    .addr = (u64)-1),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1, .addr = 1),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1, .key = 1),
		LANE_RECORD(MR, .value = KRDMA_LANE_MR_FOUND, .operand = 1, .total = 2),
		LANE_RECORD(WANT),
		LANE_RECORD(WANT, .value = KRDMA_LANE_WANT_MAX + 1),
		LANE_RECORD(WANT, .value = 1, .credits = 1),
		LANE_RECORD(WANT, .value = 1, .flags = 1),
		LANE_RECORD(WANT, .value = 1, .data = lane_bytes, .length = 1),
		LANE_RECORD(RECALL, .value = 1),
		LANE_RECORD(RECALL, .credits = 1),
		LANE_RECORD(RECALL, .data = lane_bytes, .length = 1),
		LANE_RECORD(YIELD, .value = KRDMA_LANE_WANT_MAX + 1),
		LANE_RECORD(YIELD, .credits = 1),
		LANE_RECORD(YIELD, .data = lane_bytes, .length = 1),
		LANE_RECORD(ASK, .flags = 1),
		LANE_RECORD(ASK, .credits = 1),
		LANE_RECORD(ASK, .data = lane_bytes, .length = 1),
		LANE_RECORD(WINDOW, .flags = 1),
		LANE_RECORD(WINDOW, .credits = 1),
		LANE_RECORD(WINDOW, .value = KRDMA_LANE_WINDOW_RESULTS),
		LANE_RECORD(WINDOW, .data = lane_bytes, .length = 1),
		LANE_RECORD(WINDOW, .addr = 1),
		LANE_RECORD(WINDOW, .key = 1),
		LANE_RECORD(WINDOW, .total = 2),
		LANE_RECORD(WINDOW, .operand = 1),
		LANE_RECORD(WINDOW, .swap = 1),
		LANE_GIVEN(8, 2, 1, 8, .flags = 1),
		LANE_GIVEN(8, 2, 1, 8, .credits = 1),
		LANE_GIVEN(8, 2, 1, 8, .data = lane_bytes, .length = 1),
		LANE_GIVEN(8, 2, 0, 8),
		LANE_GIVEN(8, 2, 0x100000000, 8),
		LANE_GIVEN(8, 2, (u64)-1, 8),
		LANE_GIVEN(8, 2, 1, 0),
		LANE_GIVEN(8, 0, 1, 8),
		LANE_GIVEN(8, 1, 1, 8),
		LANE_GIVEN(8, 3, 1, 8),
		LANE_GIVEN(8, 16, 1, 8),
		LANE_GIVEN(8, 0x80000002, 1, 8),
		LANE_GIVEN((u64)-1, 2, 1, 2),
		LANE_GIVEN(1, 2, 1, (u64)-1),
		LANE_RECORD(REVOKE, .flags = 1),
		LANE_RECORD(REVOKE, .credits = 1),
		LANE_RECORD(REVOKE, .value = 1),
		LANE_RECORD(REVOKE, .data = lane_bytes, .length = 1),
		LANE_RECORD(REVOKED, .flags = 1),
		LANE_RECORD(REVOKED, .credits = 1),
		LANE_RECORD(REVOKED, .value = 1),
		LANE_RECORD(REVOKED, .data = lane_bytes, .length = 1),
		{ .type = KRDMA_LANE_REVOKED + 1 },
		{ .type = KRDMA_LANE_OPTIONAL - 1 },
	};
	struct krdma_lane_record record = lane_records[2];
	struct krdma_lane_writer writer;
	static u8 frame[LANE_ROOM], data[KRDMA_LANE_DATA_MAX + 1];

	for (u32 i = 0; i < CASES(wrong); i++)
		check_expect(report, "invalid record", i, false,
			     lane_is_valid(frame, lane_write(frame, &wrong[i], 1)));

	record.data = data;
	record.length = KRDMA_LANE_DATA_MAX;
	check_expect(report, "longest private data", record.length, true,
		     lane_is_valid(frame, lane_write(frame, &record, 1)));
	record.length++;
	check_expect(report, "longer private data", record.length, false,
		     lane_is_valid(frame, lane_write(frame, &record, 1)));

	/* The byte before the early message has no meaning. */
	record = lane_records[2];
	lane_write(frame, &record, 1);
	frame[KRDMA_LANE_FRAME_HEADER + KRDMA_LANE_RECORD_HEADER + 5] = 1;
	check_expect(report, "byte without a meaning", 0, false,
		     lane_is_valid(frame, KRDMA_LANE_FRAME_HEADER + 32));

	record = (struct krdma_lane_record) { .type = KRDMA_LANE_NAME, .data = data };
	memset(data, 'a', sizeof(data));
	record.length = KRDMA_LANE_NAME_MAX;
	check_expect(report, "longest name", record.length, true,
		     lane_is_valid(frame, lane_write(frame, &record, 1)));
	record.length++;
	check_expect(report, "longer name", record.length, false,
		     lane_is_valid(frame, lane_write(frame, &record, 1)));

	/* A type of a later version, and what has to follow it. */
	record = (struct krdma_lane_record) {
		.type = KRDMA_LANE_OPTIONAL, .flags = 0xff, .credits = 1, .value = 2,
		.data = data, .length = 9,
	};
	check_expect(report, "later type", 0, true,
		     lane_is_valid(frame, lane_write(frame, &record, 1)));
	frame[KRDMA_LANE_FRAME_HEADER + KRDMA_LANE_RECORD_HEADER + 9] = 1;
	check_expect(report, "padding", 0, false,
		     lane_is_valid(frame, KRDMA_LANE_FRAME_HEADER + KRDMA_LANE_RECORD_HEADER + 16));

	krdma_lane_frame_begin(&writer, frame, sizeof(frame));
	check_expect(report, "no record", 0, true,
		     lane_is_valid(frame, krdma_lane_frame_end(&writer, 0)));
}

/* The room is what fits, to the byte. */
static inline void lane_frame_check_room(struct case_report *report)
{
	struct krdma_lane_record record = {
		.type = KRDMA_LANE_DATA, .flags = KRDMA_LANE_FIRST, .total = U32_MAX,
	};
	struct krdma_lane_writer writer;
	static u8 frame[LANE_SMALL];
	u32 count = 0;

	krdma_lane_frame_begin(&writer, frame, LANE_SMALL);
	record.length = krdma_lane_frame_left(&writer, record.type, record.flags);
	check_expect(report, "room", 0, LANE_SMALL - 16 - 16 - 8, record.length);
	memset(krdma_lane_frame_add(&writer, &record), 1, record.length);
	check_expect(report, "used", 0, LANE_SMALL, writer.used);
	check_expect(report, "room when full", 0, U32_MAX,
		     krdma_lane_frame_left(&writer, KRDMA_LANE_CREDIT, 0));
	check_expect(report, "full", 0, true,
		     lane_is_valid(frame, krdma_lane_frame_end(&writer, 1)));

	/* 15 bytes are not enough for a header. */
	krdma_lane_frame_begin(&writer, frame, LANE_SMALL);
	record.length = LANE_SMALL - 16 - 16 - 8 - 16;
	record.flags = KRDMA_LANE_FIRST;
	memset(krdma_lane_frame_add(&writer, &record), 1, record.length);
	check_expect(report, "room for a header", 0, 0,
		     krdma_lane_frame_left(&writer, KRDMA_LANE_CREDIT, 0));
	check_expect(report, "room for more than a header", 0, U32_MAX,
		     krdma_lane_frame_left(&writer, KRDMA_LANE_OPEN, 0));

	record = (struct krdma_lane_record) { .type = KRDMA_LANE_CREDIT };
	krdma_lane_frame_begin(&writer, frame, LANE_SMALL);
	while (krdma_lane_frame_left(&writer, record.type, 0) != U32_MAX) {
		krdma_lane_frame_add(&writer, &record);
		count++;
	}
	check_expect(report, "records in a small frame", 0, (LANE_SMALL - 16) / 16, count);
	writer.records = KRDMA_LANE_RECORDS_MAX;
	writer.used = KRDMA_LANE_FRAME_HEADER;
	check_expect(report, "room after the last record", 0, U32_MAX,
		     krdma_lane_frame_left(&writer, record.type, 0));
}

static inline void lane_frame_check_hello(struct case_report *report)
{
	static const struct krdma_lane_hello good = {
		.version_min = 1,
		.version_max = 3,
		.frame_size = KRDMA_LANE_FRAME_SIZE_MIN,
		.frames = KRDMA_LANE_FRAMES_MIN,
		.lanes = 5,
		.instance = 6,
	};
	struct krdma_lane_hello wrong[] = { good, good, good, good, good };
	struct krdma_lane_hello hello;
	u8 bytes[64] = {};
	u8 version = 0;

	krdma_lane_hello_encode(&good, bytes);
	for (u32 length = 0; length <= sizeof(bytes); length++)
		check_expect(report, "greeting of length", length,
			     length < KRDMA_LANE_HELLO_SIZE ? -EINVAL : 0,
			     krdma_lane_hello_decode(bytes, length, &hello));
	check_expect(report, "no greeting", 0, -EINVAL, krdma_lane_hello_decode(NULL, 64, &hello));
	check_expect(report, "lanes", 0, 5, hello.lanes);
	check_expect(report, "instance", 0, 6, hello.instance);
	check_expect(report, "frames", 0, KRDMA_LANE_FRAMES_MIN, hello.frames);
	for (u32 i = 0; i < 4; i++) {
		bytes[i] ^= 1;
		check_expect(report, "magic", i, -EINVAL,
			     krdma_lane_hello_decode(bytes, sizeof(bytes), &hello));
		bytes[i] ^= 1;
	}

	wrong[0].version_min = 0;
	wrong[1].version_min = 4;
	wrong[2].frame_size -= 8;
	wrong[3].frame_size += 4;
	wrong[4].frames--;
	for (u32 i = 0; i < CASES(wrong); i++) {
		krdma_lane_hello_encode(&wrong[i], bytes);
		check_expect(report, "invalid greeting", i, -EINVAL,
			     krdma_lane_hello_decode(bytes, sizeof(bytes), &hello));
	}

	hello = good;
	check_expect(report, "version of 1 to 3", 0, 0, krdma_lane_hello_choose(&hello, &version));
	check_expect(report, "version of 1 to 3", 0, KRDMA_LANE_VERSION_MAX, version);
	hello.version_min = KRDMA_LANE_VERSION_MAX + 1;
	check_expect(report, "later versions only", 0, -EPROTONOSUPPORT,
		     krdma_lane_hello_choose(&hello, &version));
	hello.version_min = 1;
	hello.version_max = 1;
	check_expect(report, "version 1 only", 0, 0, krdma_lane_hello_choose(&hello, &version));
	check_expect(report, "version 1 only", 0, 1, version);
}

#endif /* _KRDMA_KUNIT_LANE_FRAME_CASES_H */
