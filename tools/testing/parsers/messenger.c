// SPDX-License-Identifier: GPL-2.0
/*
 * Announcements and replies that arrive at a messenger: message.c, which is included because its
 * parser is not a function of the library.
 */
#include "message.c"
#include "parsers.h"
#include "stub.h"

/*
 * Each message begins with a byte: bit 0: the turn to send is taken; bit 1: with immediate data;
 * bit 2: shorter; bit 3: what was announced is taken; bit 4: the reply is taken.
 */
int parser_message(const uint8_t *data, size_t size)
{
	struct krdma_messenger messenger = { 0 };
	struct krdma_cqe cqe = { 0 };
	int err = 0;

	messenger.ch.slot_size = WIRE_SIZE;
	messenger.ch.slot_length = WIRE_SIZE;
	messenger.ch.slots = krdma_stub_mr(SLOTS * WIRE_SIZE);
	while (size > 1 && !err) {
		uint8_t flags = *data++;
		size_t some = --size < WIRE_SIZE ? size : WIRE_SIZE;

		cqe.wr_id = flags >> 7;
		cqe.length = flags & 4 ? (uint32_t)some : WIRE_SIZE;
		cqe.flags = flags & 2 ? KRDMA_CQE_IMM : 0;
		messenger.sending = flags & 1;
		if (flags & 8)
			messenger.announced = false;
		if (flags & 16)
			messenger.answered = false;
		memset(channel_slot(&messenger.ch, cqe.wr_id), 0, WIRE_SIZE);
		memcpy(channel_slot(&messenger.ch, cqe.wr_id), data, some);
		data += some;
		size -= some;
		err = arrived(&messenger.ch, &cqe);
		EXPECT(!err || err == -EPROTO);
		if (err)
			break;
		if (messenger.announced && messenger.length)
			EXPECT(messenger.remote.length == messenger.length);
		if (messenger.answered)
			EXPECT(messenger.verdict <= GIVEN_UP);
	}
	krdma_stub_mr_free(messenger.ch.slots);
	return 0;
}
