// SPDX-License-Identifier: GPL-2.0
/*
 * Hubs of libkrdma: what a peer greets with, refuses with and sends.
 */
#include <errno.h>
#include <string.h>

#include "hub_wire.h"
#include "parsers.h"

static void check_words(const char *words)
{
	EXPECT(strlen(words) <= KRDMA_WHY_MAX && text_is_shown(words, false));
}

int parser_hub_greeting(const uint8_t *data, size_t size)
{
	struct hub_greeting greeting = { 0 };
	uint8_t again[HUB_GREETING_MAX];
	int err = hub_greeting_read(data, size, &greeting);
	size_t length;

	if (err) {
		EXPECT(err == -EPROTO || (err == -EPROTONOSUPPORT &&
					  hub_version_read(data, size) != HUB_VERSION));
		EXPECT(!greeting.depth);
		return 0;
	}
	EXPECT(greeting.depth && greeting.depth <= HUB_DEPTH_MAX);
	EXPECT(greeting.eager >= HUB_EAGER_MIN && greeting.eager <= HUB_EAGER_MAX);
	EXPECT(greeting.longest >= greeting.eager && greeting.longest <= HUB_LONGEST_MAX);
	EXPECT(greeting.hello_length <= KRDMA_HELLO_MAX);
	length = hub_greeting_write(&greeting, again);
	EXPECT(length <= size && length <= sizeof(again) && !memcmp(again, data, length));
	return 0;
}

int parser_hub_refusal(const uint8_t *data, size_t size)
{
	char words[KRDMA_WHY_MAX + 1];
	int error = 0, err = hub_refusal_read(data, size, &error, words);

	if (err) {
		EXPECT(err == -EPROTO || (err == -EPROTONOSUPPORT &&
					  hub_version_read(data, size) != HUB_VERSION));
		return 0;
	}
	EXPECT(error < 0);
	check_words(words);
	return 0;
}

int parser_hub_frame(const uint8_t *data, size_t size)
{
	char words[KRDMA_WHY_MAX + 1];
	uint8_t again[HUB_HEADER_SIZE];
	struct hub_frame frame = { 0 };
	int err = hub_frame_read(data, size, &frame);

	if (err) {
		EXPECT(err == -EPROTO && !frame.kind);
		return 0;
	}
	EXPECT(frame.kind && frame.kind < HUB_KINDS && frame.ticket < HUB_TICKETS);
	EXPECT(frame.length <= size - HUB_HEADER_SIZE && hub_code_error(frame.code) <= 0);
	/* What is in the frame are bytes or memory, and each byte is inside of the input. */
	if (frame.remote.length || frame.remote.key || frame.remote.addr) {
		EXPECT(frame.is_long || frame.kind == HUB_GRANT);
		EXPECT(!frame.data && !frame.length && frame.remote.access);
		EXPECT(frame.remote.addr + frame.remote.length >= frame.remote.addr);
	} else if (frame.data) {
		EXPECT(frame.data == data + HUB_HEADER_SIZE);
		EXPECT(frame.length == size - HUB_HEADER_SIZE);
	}
	EXPECT(!frame.is_long || (frame.remote.length &&
				  frame.remote.access & KRDMA_ACCESS_REMOTE_READ));
	if (frame.kind == HUB_CHALLENGE || frame.kind == HUB_PROOF)
		EXPECT(frame.data && frame.length == HUB_PROOF_SIZE);
	EXPECT(frame.kind != HUB_ASK || hub_name_is_valid(frame.data, frame.length));
	if (frame.kind == HUB_BYE) {
		hub_words_read(frame.data, frame.length, words);
		check_words(words);
	}
	hub_frame_write(&frame, again);
	EXPECT(!memcmp(again, data, sizeof(again)));
	return 0;
}
