/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma/cm/private_data.c must write at the end of an area, and what it may accept there as
 * its own.
 */
#ifndef _KRDMA_KUNIT_PRIVATE_DATA_CASES_H
#define _KRDMA_KUNIT_PRIVATE_DATA_CASES_H

#include "cm/private_data.h"

#include "cases.h"

#define PRIVATE_DATA_KINDS	3
/* Size of the trailer, and of the part of it that the checksum covers. */
#define PRIVATE_DATA_TRAILER	8
#define PRIVATE_DATA_HEAD	4
/* More than the CM ever delivers. */
#define PRIVATE_DATA_LONGEST	256

static const struct {
	u32 padded;
	u32 exact;
} private_data_max[PRIVATE_DATA_KINDS] = {
	[KRDMA_PRIVATE_DATA_REQUEST] = { 56, 251 },
	[KRDMA_PRIVATE_DATA_REPLY] = { 196, 251 },
	[KRDMA_PRIVATE_DATA_REJECT] = { 148, 251 },
};

/* What consumers may send: bytes that vary, and bytes that look like padding. */
enum private_data_filling {
	PRIVATE_DATA_COUNTING,
	PRIVATE_DATA_ZEROES,
	PRIVATE_DATA_ONES,
	PRIVATE_DATA_FILLINGS,
};

static inline void private_data_fill(u8 *data, u32 length, enum private_data_filling filling)
{
	for (u32 i = 0; i < length; i++)
		data[i] = filling == PRIVATE_DATA_COUNTING ? (u8)(7 * i + 1) :
			  filling == PRIVATE_DATA_ZEROES ? 0 : 0xff;
}

static inline void private_data_expect(struct case_report *report, const char *what, s64 input,
				       enum krdma_private_data_kind kind, bool padded,
				       const u8 *message, u32 message_length,
				       u32 expected_length, bool expected_krdma)
{
	bool krdma = !expected_krdma;

	check_expect(report, what, input, expected_length,
		     krdma_private_data_decode(kind, padded, message, message_length, &krdma));
	check_expect(report, what, input, expected_krdma, krdma);
}

static inline void private_data_check_max(struct case_report *report)
{
	for (u32 kind = 0; kind < PRIVATE_DATA_KINDS; kind++) {
		check_expect(report, "padded maximum", kind, private_data_max[kind].padded,
			     krdma_private_data_max(kind, true));
		check_expect(report, "exact maximum", kind, private_data_max[kind].exact,
			     krdma_private_data_max(kind, false));
	}
	for (u32 kind = PRIVATE_DATA_KINDS; kind < 300; kind++) {
		check_expect(report, "maximum of no message", kind, 0,
			     krdma_private_data_max(kind, true));
		check_expect(report, "maximum of no message", kind, 0,
			     krdma_private_data_max(kind, false));
	}
	check_expect(report, "trailer", 0, PRIVATE_DATA_TRAILER, KRDMA_PRIVATE_DATA_TRAILER);
}

/*
 * The format of the trailers on the wire is fixed; the checksums come from another program's
 * CRC-32.
 */
static inline void private_data_check_wire(struct case_report *report)
{
	static const struct {
		enum krdma_private_data_kind kind;
		enum private_data_filling filling;
		u32 length;
		u8 trailer[PRIVATE_DATA_TRAILER];
	} cases[] = {
		{ KRDMA_PRIVATE_DATA_REQUEST, PRIVATE_DATA_COUNTING, 0,
		  { 0xb5, 0xd7, 0x01, 0x00, 0x41, 0x5b, 0x53, 0x7d } },
		{ KRDMA_PRIVATE_DATA_REQUEST, PRIVATE_DATA_COUNTING, 1,
		  { 0xb5, 0xd7, 0x01, 0x01, 0x07, 0xcc, 0xb8, 0xbd } },
		{ KRDMA_PRIVATE_DATA_REQUEST, PRIVATE_DATA_COUNTING, 5,
		  { 0xb5, 0xd7, 0x01, 0x05, 0xca, 0x97, 0x0d, 0x97 } },
		{ KRDMA_PRIVATE_DATA_REQUEST, PRIVATE_DATA_ZEROES, 8,
		  { 0xb5, 0xd7, 0x01, 0x08, 0x68, 0x5c, 0x47, 0x91 } },
		{ KRDMA_PRIVATE_DATA_REQUEST, PRIVATE_DATA_ONES, 47,
		  { 0xb5, 0xd7, 0x01, 0x2f, 0x2c, 0xd2, 0xfd, 0x5c } },
		{ KRDMA_PRIVATE_DATA_REQUEST, PRIVATE_DATA_COUNTING, 48,
		  { 0xb5, 0xd7, 0x01, 0x30, 0x7b, 0x89, 0xd6, 0xca } },
		{ KRDMA_PRIVATE_DATA_REPLY, PRIVATE_DATA_COUNTING, 0,
		  { 0xb5, 0xd7, 0x01, 0x00, 0xf1, 0x72, 0x33, 0x40 } },
		{ KRDMA_PRIVATE_DATA_REPLY, PRIVATE_DATA_COUNTING, 1,
		  { 0xb5, 0xd7, 0x01, 0x01, 0xa2, 0x1f, 0xe4, 0x76 } },
		{ KRDMA_PRIVATE_DATA_REPLY, PRIVATE_DATA_COUNTING, 5,
		  { 0xb5, 0xd7, 0x01, 0x05, 0xf4, 0xfc, 0xcf, 0x78 } },
		{ KRDMA_PRIVATE_DATA_REPLY, PRIVATE_DATA_ZEROES, 8,
		  { 0xb5, 0xd7, 0x01, 0x08, 0xed, 0x85, 0xd1, 0x4c } },
		{ KRDMA_PRIVATE_DATA_REPLY, PRIVATE_DATA_ONES, 187,
		  { 0xb5, 0xd7, 0x01, 0xbb, 0xe1, 0x03, 0xdd, 0x11 } },
		{ KRDMA_PRIVATE_DATA_REPLY, PRIVATE_DATA_COUNTING, 188,
		  { 0xb5, 0xd7, 0x01, 0xbc, 0x78, 0x07, 0x56, 0xee } },
		{ KRDMA_PRIVATE_DATA_REJECT, PRIVATE_DATA_COUNTING, 0,
		  { 0xb5, 0xd7, 0x01, 0x00, 0x21, 0x08, 0x93, 0x07 } },
		{ KRDMA_PRIVATE_DATA_REJECT, PRIVATE_DATA_COUNTING, 1,
		  { 0xb5, 0xd7, 0x01, 0x01, 0x0c, 0x6d, 0x70, 0xf0 } },
		{ KRDMA_PRIVATE_DATA_REJECT, PRIVATE_DATA_COUNTING, 5,
		  { 0xb5, 0xd7, 0x01, 0x05, 0xf7, 0x47, 0xf8, 0x93 } },
		{ KRDMA_PRIVATE_DATA_REJECT, PRIVATE_DATA_ZEROES, 8,
		  { 0xb5, 0xd7, 0x01, 0x08, 0x23, 0xe9, 0x1b, 0xf1 } },
		{ KRDMA_PRIVATE_DATA_REJECT, PRIVATE_DATA_ONES, 139,
		  { 0xb5, 0xd7, 0x01, 0x8b, 0xb4, 0xec, 0xc6, 0x30 } },
		{ KRDMA_PRIVATE_DATA_REJECT, PRIVATE_DATA_COUNTING, 140,
		  { 0xb5, 0xd7, 0x01, 0x8c, 0x5d, 0x47, 0xdf, 0xfa } },
	};

	for (u32 i = 0; i < CASES(cases); i++) {
		u32 max = private_data_max[cases[i].kind].padded;
		u8 message[KRDMA_PRIVATE_DATA_BUFFER];
		u8 data[KRDMA_PRIVATE_DATA_BUFFER];
		u32 message_length = 0;

		private_data_fill(data, sizeof(data), cases[i].filling);
		check_expect(report, "encoding", i, 0,
			     krdma_private_data_encode(cases[i].kind, true, false, data,
						       cases[i].length, message,
						       &message_length));
		check_expect(report, "message length", i, max, message_length);
		for (u32 at = 0; at < PRIVATE_DATA_TRAILER; at++)
			check_expect(report, "trailer", i * 100 + at, cases[i].trailer[at],
				     message[max - PRIVATE_DATA_TRAILER + at]);
	}
}

/*
 * One message from end to end.  The receiver gets what the CM would deliver, in a buffer that ends
 * where the message does: the sanitizers detect every read behind it.
 */
static inline void private_data_round_trip(struct case_report *report,
					   enum krdma_private_data_kind kind, bool padded,
					   bool plain, enum private_data_filling filling,
					   u32 length)
{
	u32 max = padded ? private_data_max[kind].padded : private_data_max[kind].exact;
	bool marked = padded && !plain && length + PRIVATE_DATA_TRAILER <= max;
	u8 buffer[PRIVATE_DATA_LONGEST] = { 0 };
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	u8 data[KRDMA_PRIVATE_DATA_BUFFER];
	u32 arrives = padded ? max : length;
	u8 *arrived = buffer + sizeof(buffer) - arrives;
	u32 message_length = ~0U;
	u32 wrong = 0;

	private_data_fill(data, length, filling);
	memset(message, 0xa5, sizeof(message));
	check_expect(report, "encoding", length, 0,
		     krdma_private_data_encode(kind, padded, plain, data, length, message,
					       &message_length));
	check_expect(report, "message length", length, marked ? max : length, message_length);
	if (message_length > arrives)
		return;
	for (u32 i = message_length; i < sizeof(message); i++)
		wrong += message[i] != 0xa5;
	check_expect(report, "bytes written behind the message", length, 0, wrong);

	/* A peer without krdma sees the data in front, and zeroes up to the trailer. */
	memcpy(arrived, message, message_length);
	wrong = 0;
	for (u32 i = 0; i < arrives - (marked ? PRIVATE_DATA_TRAILER : 0); i++)
		wrong += arrived[i] != (i < length ? data[i] : 0);
	check_expect(report, "bytes that a foreign peer does not expect", length, 0, wrong);

	private_data_expect(report, "decoding", length, kind, padded, arrived, arrives,
			    marked ? length : arrives, marked);
}

static inline void private_data_check_lengths(struct case_report *report)
{
	for (u32 kind = 0; kind < PRIVATE_DATA_KINDS; kind++)
		for (u32 filling = 0; filling < PRIVATE_DATA_FILLINGS; filling++) {
			u32 exact = private_data_max[kind].exact;
			u32 padded = private_data_max[kind].padded;

			for (u32 i = 0; i <= exact; i++) {
				private_data_round_trip(report, kind, false, false, filling, i);
				private_data_round_trip(report, kind, false, true, filling, i);
			}
			for (u32 i = 0; i <= padded; i++) {
				private_data_round_trip(report, kind, true, false, filling, i);
				private_data_round_trip(report, kind, true, true, filling, i);
			}
		}
}

/* Returns an error, and writes nothing. */
static inline void private_data_refused(struct case_report *report, int error, u32 kind,
					bool padded, bool plain, const u8 *data, u32 length)
{
	u8 message[KRDMA_PRIVATE_DATA_BUFFER];
	u32 message_length = 4321;
	u32 wrong = 0;

	memset(message, 0xa5, sizeof(message));
	check_expect(report, "encoding", length, error,
		     krdma_private_data_encode(kind, padded, plain, data, length, message,
					       &message_length));
	for (u32 i = 0; i < sizeof(message); i++)
		wrong += message[i] != 0xa5;
	check_expect(report, "bytes written by a failure", length, 0, wrong);
	check_expect(report, "message length after a failure", length, 4321, message_length);
}

static inline void private_data_check_refusals(struct case_report *report)
{
	static const u32 far[] = { 1000, 0x10000, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff };
	static const u8 data[PRIVATE_DATA_LONGEST * 2];

	for (u32 variant = 0; variant < 4; variant++) {
		bool padded = variant & 1;
		bool plain = variant & 2;

		for (u32 kind = 0; kind < PRIVATE_DATA_KINDS; kind++) {
			u32 max = padded ? private_data_max[kind].padded :
					   private_data_max[kind].exact;

			for (u32 length = max + 1; length < sizeof(data); length++)
				private_data_refused(report, -EMSGSIZE, kind, padded, plain, data,
						     length);
			for (u32 i = 0; i < CASES(far); i++) {
				private_data_refused(report, -EMSGSIZE, kind, padded, plain, data,
						     far[i]);
				private_data_refused(report, -EINVAL, kind, padded, plain, NULL,
						     far[i]);
			}
			private_data_refused(report, -EINVAL, kind, padded, plain, NULL, 1);
		}
		private_data_refused(report, -EINVAL, PRIVATE_DATA_KINDS, padded, plain, data, 1);
		private_data_refused(report, -EINVAL, PRIVATE_DATA_KINDS, padded, plain, NULL, 0);
	}
}

/*
 * With any one bit of an area flipped, a trailer is not valid any more.  The area is at the end of
 * its buffer, see private_data_round_trip().
 */
static inline void private_data_flip(struct case_report *report, enum krdma_private_data_kind kind,
				     u8 *area, u32 bit)
{
	u32 max = private_data_max[kind].padded;

	area[bit / 8] ^= (u8)(1U << bit % 8);
	private_data_expect(report, "one wrong bit", bit, kind, true, area, max, max, false);
	area[bit / 8] ^= (u8)(1U << bit % 8);
}

static inline void private_data_check_wrong_bits(struct case_report *report)
{
	for (u32 kind = 0; kind < PRIVATE_DATA_KINDS; kind++) {
		u32 max = private_data_max[kind].padded;
		u32 room = max - PRIVATE_DATA_TRAILER;
		u8 buffer[KRDMA_PRIVATE_DATA_BUFFER];
		u8 message[KRDMA_PRIVATE_DATA_BUFFER];
		u8 *area = buffer + sizeof(buffer) - max;
		u8 data[KRDMA_PRIVATE_DATA_BUFFER];
		u32 message_length;

		private_data_fill(data, sizeof(data), PRIVATE_DATA_COUNTING);
		for (u32 length = 0; length <= room; length++) {
			/* The bits of the trailer for each length, all bits for some lengths. */
			bool all = length < 2 || length == room / 2 || length == room;

			krdma_private_data_encode(kind, true, false, data, length, message,
						  &message_length);
			memcpy(area, message, max);
			for (u32 bit = all ? 0 : room * 8; bit < max * 8; bit++)
				private_data_flip(report, kind, area, bit);
			private_data_expect(report, "no wrong bit", length, kind, true, area, max,
					    length, true);
		}
	}
}

/* CRC-32 once more, in another way: a polynomial division, highest power first. */
static inline u32 private_data_crc(u32 remainder, const u8 *bytes, u32 length)
{
	for (u32 bit = 0; bit < length * 8; bit++) {
		u32 in = bytes[bit / 8] >> bit % 8 & 1;

		remainder = remainder << 1 ^ ((remainder >> 31 ^ in) ? 0x04c11db7 : 0);
	}
	return remainder;
}

/* Writes a trailer with a valid checksum, whatever the rest is. */
static inline void private_data_forge(u8 *area, u32 area_length, u8 kind, u8 version, u8 length,
				      u32 covered)
{
	u8 *trailer = area + area_length - PRIVATE_DATA_TRAILER;
	u32 crc = ~0U;

	trailer[0] = 0xb5;
	trailer[1] = 0xd7;
	trailer[2] = version;
	trailer[3] = length;
	crc = private_data_crc(crc, &kind, 1);
	crc = private_data_crc(crc, trailer, PRIVATE_DATA_HEAD);
	crc = ~private_data_crc(crc, area, covered);
	memset(trailer + PRIVATE_DATA_HEAD, 0, PRIVATE_DATA_TRAILER - PRIVATE_DATA_HEAD);
	for (u32 bit = 0; bit < 32; bit++)
		trailer[PRIVATE_DATA_HEAD + bit / 8] |= (u8)((crc >> (31 - bit) & 1) << bit % 8);
}

static inline void private_data_check_forgeries(struct case_report *report)
{
	for (u32 kind = 0; kind < PRIVATE_DATA_KINDS; kind++) {
		u32 max = private_data_max[kind].padded;
		u32 room = max - PRIVATE_DATA_TRAILER;
		u8 buffer[KRDMA_PRIVATE_DATA_BUFFER] = { 0 };
		u8 *area = buffer + sizeof(buffer) - max;

		/* All 256 lengths: the data, as far as they do not overlap the checksum. */
		for (u32 length = 0; length < 256; length++) {
			u32 covered = length < room + PRIVATE_DATA_HEAD ? length :
									  room + PRIVATE_DATA_HEAD;

			private_data_forge(area, max, (u8)kind, 1, (u8)length, covered);
			private_data_expect(report, "told length", length, kind, true, area, max,
					    length <= room ? length : max, length <= room);
		}
		for (u32 version = 0; version < 256; version++) {
			private_data_forge(area, max, (u8)kind, (u8)version, 3, 3);
			private_data_expect(report, "version", version, kind, true, area, max,
					    version == 1 ? 3 : max, version == 1);
		}
		for (u32 other = 0; other < 256; other++) {
			private_data_forge(area, max, (u8)other, 1, 3, 3);
			private_data_expect(report, "kind", other, kind, true, area, max,
					    other == kind ? 3 : max, other == kind);
		}
		/* A byte between the data and the trailer, which no checksum covers. */
		private_data_forge(area, max, (u8)kind, 1, 3, 3);
		for (u32 at = 3; at < room; at++) {
			area[at] = 1;
			private_data_expect(report, "padding", at, kind, true, area, max, max,
					    false);
			area[at] = 0;
		}
	}
}

/* A message that does not have the length of an area has no trailer, wherever one may be in it. */
static inline void private_data_check_arrivals(struct case_report *report)
{
	for (u32 kind = 0; kind < PRIVATE_DATA_KINDS; kind++) {
		u32 max = private_data_max[kind].padded;

		for (u32 length = 0; length <= PRIVATE_DATA_LONGEST; length++) {
			u8 buffer[PRIVATE_DATA_LONGEST] = { 0 };
			u8 *arrived = buffer + sizeof(buffer) - length;
			bool marked = length == max;

			if (length >= PRIVATE_DATA_TRAILER)
				private_data_forge(arrived, length, (u8)kind, 1, 0, 0);
			private_data_expect(report, "arrival", length, kind, true, arrived, length,
					    marked ? 0 : length, marked);
			private_data_expect(report, "exact arrival", length, kind, false, arrived,
					    length, length, false);
			private_data_expect(report, "arrival of no message", length,
					    PRIVATE_DATA_KINDS, true, arrived, length, length,
					    false);
			private_data_expect(report, "no arrival", length, kind, true, NULL, length,
					    0, false);
			private_data_expect(report, "no exact arrival", length, kind, false, NULL,
					    length, 0, false);
		}
	}
}

static inline void private_data_check_foreign(struct case_report *report)
{
	u8 area[KRDMA_PRIVATE_DATA_BUFFER];

	for (u32 kind = 0; kind < PRIVATE_DATA_KINDS; kind++) {
		u32 max = private_data_max[kind].padded;

		for (u32 byte = 0; byte < 256; byte++) {
			/* Full of this byte, and padded behind each length. */
			memset(area, (int)byte, sizeof(area));
			for (u32 length = max + 1; length--; ) {
				memset(area + length, 0, max - length);
				private_data_expect(report, "foreign data", byte, kind, true, area,
						    max, max, false);
			}
		}
	}
}

#endif /* _KRDMA_KUNIT_PRIVATE_DATA_CASES_H */
