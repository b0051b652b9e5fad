// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Encode and decode the messages of rping(1).
 */
#include <stdio.h>
#include <string.h>

#include "ping_rping.h"

static void put64(uint8_t *to, uint64_t value)
{
	int i;

	for (i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> (56 - 8 * i));
}

static uint64_t get(const uint8_t *from, int bytes)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < bytes; i++)
		value = value << 8 | from[i];
	return value;
}

void rping_message_encode(uint64_t addr, uint32_t key, uint32_t length,
			  uint8_t wire[RPING_MESSAGE])
{
	put64(wire, addr);
	put64(wire + 8, (uint64_t)key << 32 | length);
}

void rping_message_decode(const uint8_t wire[RPING_MESSAGE], struct krdma_remote_mr *remote)
{
	memset(remote, 0, sizeof(*remote));
	remote->addr = get(wire, 8);
	remote->key = (uint32_t)get(wire + 8, 4);
	remote->length = get(wire + 12, 4);
}

/* Build the text as rping does: it starts one letter later in each round. */
void rping_text(char *text, size_t length, uint64_t number)
{
	int begun = snprintf(text, length, "rdma-ping-%llu: ", (unsigned long long)number);
	char letter = (char)('A' + number % ('z' - 'A' + 1));
	size_t i;

	for (i = (size_t)begun; i < length; i++) {
		text[i] = letter;
		letter = letter == 'z' ? 'A' : (char)(letter + 1);
	}
	text[length - 1] = '\0';
}
