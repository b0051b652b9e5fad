// SPDX-License-Identifier: GPL-2.0
/*
 * The tool's parsers of messages that two sides exchange.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "parsers.h"
#include "peer_hello.h"
#include "ping_rping.h"
#include "selftest_wire.h"

int parser_hello(const uint8_t *data, size_t size)
{
	uint8_t again[HELLO_SIZE];
	struct hello hello;
	int err = hello_decode(data, size, &hello);

	if (err) {
		EXPECT(err == -EINVAL || err == -EPROTONOSUPPORT);
		return 0;
	}
	EXPECT(size >= HELLO_SIZE);
	hello_encode(&hello, again);
	EXPECT(!memcmp(again, data, sizeof(again)));
	return 0;
}

int parser_answer(const uint8_t *data, size_t size)
{
	uint8_t again[ANSWER_SIZE];
	struct hello_answer answer;
	int err = answer_decode(data, size, &answer);

	if (err) {
		EXPECT(err == -EINVAL);
		return 0;
	}
	if (answer.version != HELLO_VERSION)
		return 0;
	EXPECT(size >= ANSWER_SIZE);
	answer_encode(&answer, again);
	EXPECT(!memcmp(again, data, 6) && !memcmp(again + 8, data + 8, 4));
	EXPECT(!memcmp(again + 16, data + 16, KRDMA_MR_DESC_SIZE));
	return 0;
}

int parser_rping(const uint8_t *data, size_t size)
{
	struct krdma_remote_mr remote;
	uint8_t again[RPING_MESSAGE];

	/* The receive has this length; ping_rping.c refuses others. */
	if (size < RPING_MESSAGE)
		return 0;
	rping_message_decode(data, &remote);
	EXPECT(remote.length <= UINT32_MAX);
	rping_message_encode(remote.addr, remote.key, (uint32_t)remote.length, again);
	EXPECT(!memcmp(again, data, sizeof(again)));
	return 0;
}

/* Bytes in words, of any length that fits. */
int parser_selftest_words(const uint8_t *data, size_t size)
{
	uint64_t words[WIRE_WORDS] = { 0 };
	uint8_t bytes[sizeof(words)];

	if (size > sizeof(words))
		size = sizeof(words);
	wire_put_bytes(words, data, size);
	wire_get_bytes(words, bytes, size);
	EXPECT(!size || !memcmp(bytes, data, size));
	for (unsigned int i = 0; i < WIRE_WORDS; i++)
		EXPECT(wire_pair(wire_low(words[i]), wire_high(words[i])) == words[i]);
	return 0;
}
