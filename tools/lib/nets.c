// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Lists of addresses and networks that are admitted, and whether two addresses are one peer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "nets.h"

/* Same syntax as the lists of krdma_blk: ADDRESS or ADDRESS/BITS. */
static int parse_net(char *word, struct net *net)
{
	char *slash = strchr(word, '/'), *end;
	unsigned long bits;

	if (slash)
		*slash++ = '\0';
	*net = (struct net){ 0 };
	if (inet_pton(AF_INET, word, net->bytes) == 1) {
		net->family = AF_INET;
		net->bits = 32;
	} else if (inet_pton(AF_INET6, word, net->bytes) == 1) {
		net->family = AF_INET6;
		net->bits = 128;
	} else {
		return -EINVAL;
	}
	if (!slash)
		return 0;
	if (*slash < '0' || *slash > '9')
		return -EINVAL;
	bits = strtoul(slash, &end, 10);
	if (*end || bits > net->bits)
		return -EINVAL;
	net->bits = (uint8_t)bits;
	return 0;
}

int nets_parse(const char *text, struct nets *nets)
{
	char word[INET6_ADDRSTRLEN + 4];

	nets->count = 0;
	for (text += strspn(text, ", \t\n"); *text; text += strspn(text, ", \t\n")) {
		size_t length = strcspn(text, ", \t\n");

		if (length >= sizeof(word) || nets->count == NETS_MAX)
			return -EINVAL;
		memcpy(word, text, length);
		word[length] = '\0';
		if (parse_net(word, &nets->of[nets->count++]))
			return -EINVAL;
		text += length;
	}
	/* An empty list would allow all clients. */
	return nets->count ? 0 : -EINVAL;
}

/* Returns the address family. An IPv4-mapped IPv6 address counts as IPv4. */
static int address_bytes(const struct sockaddr_storage *address, const uint8_t **bytes)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET) {
		*bytes = (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;
		return AF_INET;
	}
	*bytes = in6->sin6_addr.s6_addr;
	if (address->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		*bytes += 12;
		return AF_INET;
	}
	return address->ss_family;
}

static bool bits_equal(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	uint8_t mask = (uint8_t)~(0xff >> bits % 8);

	if (memcmp(a, b, bits / 8))
		return false;
	return !(bits % 8) || !((a[bits / 8] ^ b[bits / 8]) & mask);
}

bool nets_have(const struct nets *nets, const struct sockaddr_storage *address)
{
	const uint8_t *bytes;
	int family = address_bytes(address, &bytes);

	for (unsigned int i = 0; i < nets->count; i++) {
		if (nets->of[i].family == family &&
		    bits_equal(nets->of[i].bytes, bytes, nets->of[i].bits))
			return true;
	}
	return !nets->count;
}

/*
 * A host in an IPv6 network can use all addresses of its 64-bit prefix, so they count as one
 * peer. Link-local addresses all have the same prefix, so they are compared as a whole, with
 * their interface.
 */
bool nets_same_peer(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in6 *b6 = (const struct sockaddr_in6 *)b;
	const uint8_t *a_bytes, *b_bytes;
	int family = address_bytes(a, &a_bytes);

	if (address_bytes(b, &b_bytes) != family)
		return false;
	if (family == AF_INET)
		return !memcmp(a_bytes, b_bytes, 4);
	if (family != AF_INET6)
		return true;
	if (IN6_IS_ADDR_LINKLOCAL(&a6->sin6_addr))
		return !memcmp(a_bytes, b_bytes, 16) && a6->sin6_scope_id == b6->sin6_scope_id;
	return !memcmp(a_bytes, b_bytes, 8);
}
