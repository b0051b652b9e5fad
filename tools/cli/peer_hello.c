// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Messages that the two sides exchange while they connect.  The peer is not trusted, so everything
 * in them is checked.
 */
#include <errno.h>
#include <string.h>

#include "peer_hello.h"

/* "KRDt" and "KRDa" */
#define HELLO_MAGIC	0x7444524b
#define ANSWER_MAGIC	0x6144524b

#define AT_MAGIC	0
#define AT_VERSION	4
#define AT_SERVICE	5
#define AT_OPERATION	6
#define AT_LENGTH	8
#define AT_DEPTH	12

#define AT_VERDICT	5
#define AT_LIMIT	8
#define AT_DESCRIPTOR	16

/* Bytes with which every version begins. */
#define HEAD_SIZE	6

static void put32(uint8_t *to, uint32_t value)
{
	int i;

	for (i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get32(const uint8_t *from)
{
	return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
	       (uint32_t)from[3] << 24;
}

void hello_encode(const struct hello *hello, uint8_t wire[HELLO_SIZE])
{
	memset(wire, 0, HELLO_SIZE);
	put32(wire + AT_MAGIC, HELLO_MAGIC);
	wire[AT_VERSION] = HELLO_VERSION;
	wire[AT_SERVICE] = hello->service;
	wire[AT_OPERATION] = hello->operation;
	put32(wire + AT_LENGTH, hello->length);
	put32(wire + AT_DEPTH, hello->depth);
}

int hello_decode(const void *wire, size_t length, struct hello *hello)
{
	const uint8_t *bytes = wire;

	if (length < HEAD_SIZE || get32(bytes + AT_MAGIC) != HELLO_MAGIC)
		return -EINVAL;
	if (bytes[AT_VERSION] != HELLO_VERSION)
		return -EPROTONOSUPPORT;
	if (length < HELLO_SIZE || bytes[AT_OPERATION + 1])
		return -EINVAL;
	hello->service = bytes[AT_SERVICE];
	hello->operation = bytes[AT_OPERATION];
	hello->length = get32(bytes + AT_LENGTH);
	hello->depth = get32(bytes + AT_DEPTH);
	return 0;
}

void answer_encode(const struct hello_answer *answer, uint8_t wire[ANSWER_SIZE])
{
	memset(wire, 0, ANSWER_SIZE);
	put32(wire + AT_MAGIC, ANSWER_MAGIC);
	wire[AT_VERSION] = HELLO_VERSION;
	wire[AT_VERDICT] = answer->verdict;
	put32(wire + AT_LIMIT, answer->limit);
	memcpy(wire + AT_DESCRIPTOR, answer->descriptor, KRDMA_MR_DESC_SIZE);
}

int answer_decode(const void *wire, size_t length, struct hello_answer *answer)
{
	const uint8_t *bytes = wire;

	if (length < HEAD_SIZE || get32(bytes + AT_MAGIC) != ANSWER_MAGIC)
		return -EINVAL;
	memset(answer, 0, sizeof(*answer));
	answer->version = bytes[AT_VERSION];
	answer->verdict = bytes[AT_VERDICT];
	if (answer->version != HELLO_VERSION)
		return 0;
	if (length < ANSWER_SIZE)
		return -EINVAL;
	answer->limit = get32(bytes + AT_LIMIT);
	memcpy(answer->descriptor, bytes + AT_DESCRIPTOR, KRDMA_MR_DESC_SIZE);
	return 0;
}
