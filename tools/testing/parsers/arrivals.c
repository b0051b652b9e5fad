// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that arrive in the simple layer: simple_receive.c, which is included because its
 * parser is not a function of the library.
 */
#include "simple_receive.c"
#include "parsers.h"
#include "stub.h"

#define DEPTH		4
#define SLOTS		(DEPTH + SIMPLE_EXTRA)
#define MESSAGE		32

/* Takes an item, as a program would, and checks that it is inside its slot. */
static void take(struct krdma_simple *simple, struct simple_list *list, uint32_t *busy)
{
	struct simple_item item = list_take(simple, list);

	EXPECT(item.slot < SLOTS && item.length <= MESSAGE && *busy & 1u << item.slot);
	EXPECT(list != &simple->notices || item.value < KRDMA_SIMPLE_VALUE_END);
	*busy &= ~(1u << item.slot);
	simple->taken++;
}

/*
 * Each step begins with two bytes: the first says what happens; of a message the second is its
 * length, of immediate data four bytes follow.
 */
int parser_simple_arrivals(const uint8_t *data, size_t size)
{
	struct krdma_simple *simple = calloc(1, sizeof(*simple));
	struct krdma_cqe cqe = { 0 };
	uint32_t busy = 0;
	int err = 0;

	EXPECT(simple);
	simple->options.depth = DEPTH;
	simple->options.message_size = MESSAGE;
	simple->ch.slot_size = SIMPLE_HEADER_SIZE + MESSAGE;
	simple->ch.slot_length = SIMPLE_HEADER_SIZE + MESSAGE;
	simple->ch.slots = krdma_stub_mr(SLOTS * simple->ch.slot_size);
	EXPECT(!simple_lists_create(simple));
	while (size >= 2 && !err) {
		uint8_t what = data[0], length = data[1];
		uint32_t slot = 0, before;
		size_t some;

		data += 2;
		size -= 2;
		if (what & 1 && simple->messages.count)
			take(simple, &simple->messages, &busy);
		if (what & 2 && simple->notices.count)
			take(simple, &simple->notices, &busy);
		if (what & 4 && simple->sent - simple->peer_taken < DEPTH)
			simple->sent++;
		/* Without a receive nothing arrives. */
		while (busy & 1u << slot)
			slot++;
		if (slot >= SLOTS)
			continue;
		cqe.wr_id = slot;
		cqe.flags = what & 8 ? KRDMA_CQE_IMM : 0;
		cqe.length = length % (simple->ch.slot_size + 1);
		some = what & 8 ? sizeof(cqe.imm) : cqe.length;
		if (some > size)
			break;
		if (what & 8)
			memcpy(&cqe.imm, data, sizeof(cqe.imm));
		else
			memcpy(channel_slot(&simple->ch, slot), data, some);
		data += some;
		size -= some;
		before = simple->messages.count + simple->notices.count;
		err = arrived(simple, &cqe);
		EXPECT(!err || err == -EPROTO);
		if (simple->messages.count + simple->notices.count > before)
			busy |= 1u << slot;
		EXPECT(simple->sent - simple->peer_taken <= DEPTH);
		EXPECT(simple->messages.count <= SLOTS && simple->notices.count <= SLOTS);
	}
	while (simple->messages.count)
		take(simple, &simple->messages, &busy);
	while (simple->notices.count)
		take(simple, &simple->notices, &busy);
	EXPECT(!busy);
	simple_lists_destroy(simple);
	krdma_stub_mr_free(simple->ch.slots);
	free(simple);
	return 0;
}
