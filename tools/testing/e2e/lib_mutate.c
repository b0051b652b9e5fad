// SPDX-License-Identifier: GPL-2.0
/*
 * Random changes of a message for libkrdma's file transfers.
 */
#include <string.h>

#include "lib_mutate.h"

static const uint64_t values[] = {
	0, 1, 2, 7, 8, 15, 16, 17, 255, 4095, 4096, 4097, 0777, 01000, 04777, 65535, 65536,
	999999999, 1000000000, 1 << 20, 4 << 20, INT32_MAX, UINT32_MAX, 1ull << 32,
	INT64_MAX - 1, INT64_MAX, 1ull << 63, UINT64_MAX,
};

/* Offset and bytes of each field, as tools/lib/file_wire.c describes them. */
static const struct {
	uint8_t offset;
	uint8_t bytes;
} fields[] = {
	{ 0, 1 }, { 1, 1 }, { 2, 2 }, { 4, 4 }, { 8, 8 }, { 16, 8 }, { 24, 8 }, { 32, 4 },
	{ 36, 4 }, { 40, 4 }, { 44, 4 }, { 48, 4 }, { 52, 4 }, { 56, 8 }, { 64, 8 }, { 72, 8 },
	{ 80, 8 },
};

static uint64_t any_value(struct rng *rng)
{
	return rng_once_in(rng, 4) ? rng_next(rng) : RNG_PICK(rng, values);
}

static void set_field(struct rng *rng, struct message *message)
{
	unsigned int field = rng_below(rng, sizeof(fields) / sizeof(*fields));

	raw_set(message, fields[field].offset, any_value(rng), fields[field].bytes);
}

void mutate(struct rng *rng, struct message *message)
{
	unsigned int bits = 1 + rng_below(rng, 8);

	switch (rng_below(rng, 6)) {
	case 0:
		while (bits--)
			message->bytes[rng_below(rng, message->length)] ^= 1 << rng_below(rng, 8);
		break;
	case 1:
		message->length = 1 + rng_below(rng, message->length);
		break;
	case 2:
		message->length += rng_below(rng, 300);
		break;
	case 3:
		message->bytes[0] = rng_below(rng, DIGEST + 2);
		break;
	default:
		set_field(rng, message);
		break;
	}
}

struct message mutate_any(struct rng *rng, const char *name)
{
	struct message message = raw_make(rng_below(rng, DIGEST + 2),
					  rng_once_in(rng, 2) ? name : NULL);
	unsigned int count = rng_below(rng, 4);

	while (count--)
		set_field(rng, &message);
	return message;
}
