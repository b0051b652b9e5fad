/* SPDX-License-Identifier: GPL-2.0 */
/* How krdma/mr/desc.c must encode a memory descriptor, and what it must not decode. */
#ifndef _KRDMA_KUNIT_DESCRIPTOR_CASES_H
#define _KRDMA_KUNIT_DESCRIPTOR_CASES_H

#include "mr/desc.h"

#include "cases.h"

#define DESCRIPTOR_SIZE		32

/* The format on the wire is fixed. */
static const u8 descriptor_wire[DESCRIPTOR_SIZE] = {
	'K', 'R', 'D', 'm',	0x01, 0x00,	0x00, 0x00,
	0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01,
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
	0xd4, 0xc3, 0xb2, 0xa1,	0x05, 0x00, 0x00, 0x00,
};

static inline struct krdma_mr_desc_fields descriptor_region(void)
{
	return (struct krdma_mr_desc_fields) {
		.addr = 0x0123456789abcdefULL,
		.length = 0x1112131415161718ULL,
		.key = 0xa1b2c3d4,
		.rights = KRDMA_MR_DESC_READ | KRDMA_MR_DESC_ATOMIC,
	};
}

static inline void descriptor_expect(struct case_report *report, s64 input,
				     const struct krdma_mr_desc_fields *expected,
				     const struct krdma_mr_desc_fields *got)
{
	check_expect(report, "address", input, expected->addr, got->addr);
	check_expect(report, "length", input, expected->length, got->length);
	check_expect(report, "key", input, expected->key, got->key);
	check_expect(report, "rights", input, expected->rights, got->rights);
}

static inline void descriptor_check_wire(struct case_report *report)
{
	struct krdma_mr_desc_fields mr = descriptor_region();
	struct krdma_mr_desc_fields read = { 0 };
	u8 wire[DESCRIPTOR_SIZE + 1];

	check_expect(report, "size", 0, DESCRIPTOR_SIZE, KRDMA_MR_DESC_SIZE);
	check_expect(report, "structure", 0, DESCRIPTOR_SIZE, sizeof(struct krdma_mr_desc));
	check_expect(report, "right to read", 0, 1, KRDMA_MR_DESC_READ);
	check_expect(report, "right to write", 0, 2, KRDMA_MR_DESC_WRITE);
	check_expect(report, "right to atomics", 0, 4, KRDMA_MR_DESC_ATOMIC);

	memset(wire, 0xa5, sizeof(wire));
	check_expect(report, "encoding", 0, 0, krdma_mr_desc_encode(&mr, wire));
	for (u32 i = 0; i < DESCRIPTOR_SIZE; i++)
		check_expect(report, "byte", i, descriptor_wire[i], wire[i]);
	check_expect(report, "byte behind the end", 0, 0xa5, wire[DESCRIPTOR_SIZE]);

	check_expect(report, "decoding", 0, 0,
		     krdma_mr_desc_decode(descriptor_wire, DESCRIPTOR_SIZE, &read));
	descriptor_expect(report, 0, &mr, &read);
}

/* Both directions agree on what is a valid MR. */
static inline void descriptor_both_ways(struct case_report *report, s64 input,
					const struct krdma_mr_desc_fields *mr, int error)
{
	struct krdma_mr_desc_fields kept = descriptor_region();
	struct krdma_mr_desc_fields read = kept;
	u8 wire[DESCRIPTOR_SIZE];
	u32 wrong = 0;

	memset(wire, 0xa5, sizeof(wire));
	check_expect(report, "encoding", input, error, krdma_mr_desc_encode(mr, wire));
	for (u32 i = 0; error && i < sizeof(wire); i++)
		wrong += wire[i] != 0xa5;
	check_expect(report, "bytes written by a failure", input, 0, wrong);

	/* The same by hand, which encodes anything. */
	memcpy(wire, descriptor_wire, sizeof(wire));
	for (u32 i = 0; i < 8; i++) {
		wire[8 + i] = (u8)(mr->addr >> 8 * i);
		wire[16 + i] = (u8)(mr->length >> 8 * i);
	}
	for (u32 i = 0; i < 4; i++) {
		wire[24 + i] = (u8)(mr->key >> 8 * i);
		wire[28 + i] = (u8)(mr->rights >> 8 * i);
	}
	check_expect(report, "decoding", input, error,
		     krdma_mr_desc_decode(wire, sizeof(wire), &read));
	descriptor_expect(report, input, error ? &kept : mr, &read);
}

static inline void descriptor_check_ranges(struct case_report *report)
{
	static const struct {
		u64 addr;
		u64 length;
		int error;
	} cases[] = {
		{ 0,			0,			-EINVAL },
		{ 0x1000,		0,			-EINVAL },
		{ 0xffffffffffffffffULL, 0,			-EINVAL },
		{ 0,			1,			0 },
		{ 0,			0xffffffffffffffffULL,	0 },
		{ 1,			0xffffffffffffffffULL,	-EINVAL },
		{ 1,			0xfffffffffffffffeULL,	0 },
		{ 0xfffffffffffffffeULL, 1,			0 },
		{ 0xffffffffffffffffULL, 1,			-EINVAL },
		{ 0xffffffffffffffffULL, 0xffffffffffffffffULL, -EINVAL },
		{ 0x8000000000000000ULL, 0x8000000000000000ULL,	-EINVAL },
		{ 0x8000000000000000ULL, 0x7fffffffffffffffULL,	0 },
		{ 0x7fffffffffffffffULL, 0x8000000000000000ULL,	0 },
		{ 0xffffffff,		1,			0 },
		{ 0xffffffff,		0x100000000ULL,		0 },
	};

	for (u32 i = 0; i < CASES(cases); i++) {
		struct krdma_mr_desc_fields mr = descriptor_region();

		mr.addr = cases[i].addr;
		mr.length = cases[i].length;
		descriptor_both_ways(report, i, &mr, cases[i].error);
	}
}

static inline void descriptor_check_rights(struct case_report *report)
{
	struct krdma_mr_desc_fields mr = descriptor_region();

	for (u32 rights = 0; rights < 1024; rights++) {
		mr.rights = rights;
		descriptor_both_ways(report, rights, &mr,
				     rights >= 1 && rights <= 7 ? 0 : -EINVAL);
	}
	for (u32 bit = 3; bit < 32; bit++) {
		mr.rights = 1U << bit;
		descriptor_both_ways(report, mr.rights, &mr, -EINVAL);
		mr.rights |= KRDMA_MR_DESC_READ;
		descriptor_both_ways(report, mr.rights, &mr, -EINVAL);
	}
}

/* Every bit of a number has its own place, in both directions. */
static inline void descriptor_check_bits(struct case_report *report)
{
	for (u32 bit = 0; bit < 64; bit++) {
		struct krdma_mr_desc_fields mr = descriptor_region();

		mr.length = 1;
		mr.addr = 1ULL << bit;
		descriptor_both_ways(report, bit, &mr, 0);
		mr.addr = 0;
		mr.length = 1ULL << bit;
		descriptor_both_ways(report, bit, &mr, 0);
		mr.key = (u32)(1ULL << bit);
		descriptor_both_ways(report, bit, &mr, 0);
	}
}

/* The part that is the same in all descriptors, with every value of every byte. */
static inline void descriptor_check_head(struct case_report *report)
{
	struct krdma_mr_desc_fields mr = descriptor_region();

	for (u32 at = 0; at < 8; at++) {
		for (u32 byte = 0; byte < 256; byte++) {
			struct krdma_mr_desc_fields read = { .key = 4321 };
			struct krdma_mr_desc_fields kept = read;
			u8 wire[DESCRIPTOR_SIZE];
			int error = 0;

			memcpy(wire, descriptor_wire, sizeof(wire));
			wire[at] = (u8)byte;
			if (byte != descriptor_wire[at])
				error = at == 4 || at == 5 ? -EPROTONOSUPPORT : -EINVAL;
			check_expect(report, "wrong byte", at * 1000 + byte, error,
				     krdma_mr_desc_decode(wire, sizeof(wire), &read));
			descriptor_expect(report, at, error ? &kept : &mr, &read);
		}
	}
}

/* Truncated anywhere, at the very end of a buffer; and followed by more bytes. */
static inline void descriptor_check_lengths(struct case_report *report)
{
	struct krdma_mr_desc_fields mr = descriptor_region();
	struct krdma_mr_desc_fields kept = { .key = 4321 };
	u8 buffer[DESCRIPTOR_SIZE * 2];

	for (u32 length = 0; length <= sizeof(buffer); length++) {
		u8 *wire = buffer + sizeof(buffer) - length;
		struct krdma_mr_desc_fields read = kept;
		int error = length < DESCRIPTOR_SIZE ? -EINVAL : 0;

		memset(buffer, 0xa5, sizeof(buffer));
		memcpy(wire, descriptor_wire, error ? length : DESCRIPTOR_SIZE);
		check_expect(report, "message", length, error,
			     krdma_mr_desc_decode(wire, length, &read));
		descriptor_expect(report, length, error ? &kept : &mr, &read);
	}
	check_expect(report, "no message", 0, -EINVAL, krdma_mr_desc_decode(NULL, 0, &kept));
}

#endif /* _KRDMA_KUNIT_DESCRIPTOR_CASES_H */
