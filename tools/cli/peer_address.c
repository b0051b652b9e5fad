// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Format and parse addresses.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "peer.h"

void address_text(const struct sockaddr_storage *address, bool with_port, char text[PEER_TEXT])
{
	const struct sockaddr *any = (const struct sockaddr *)address;
	socklen_t length = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
							    sizeof(struct sockaddr_in);
	char host[NI_MAXHOST], port[8];

	if (getnameinfo(any, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV)) {
		snprintf(text, PEER_TEXT, "unknown");
		return;
	}
	if (!with_port)
		snprintf(text, PEER_TEXT, "%s", host);
	else
		snprintf(text, PEER_TEXT, address->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
			 host, port);
}

/* Parse an address of this machine: numeric only, no name. */
int address_parse(const char *word, int family, struct sockaddr_storage *address)
{
	struct addrinfo hints = {
		.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST
	};
	struct addrinfo *found;

	memset(address, 0, sizeof(*address));
	if (getaddrinfo(word, NULL, &hints, &found)) {
		complain("'%s' is not an %s address\n"
			 "Give an address of this machine: 'ip address' shows them", word,
			 family == AF_INET ? "IPv4" : family == AF_INET6 ? "IPv6" : "IP");
		return -EINVAL;
	}
	memcpy(address, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return 0;
}

void address_set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}
