/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma: lists of addresses and networks. Pure. */
#ifndef KRDMA_NETS_H
#define KRDMA_NETS_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>

#define NETS_MAX	32

struct net {
	uint8_t family;
	uint8_t bits;
	uint8_t bytes[16];
};

struct nets {
	struct net of[NETS_MAX];
	unsigned int count;
};

/* Parses addresses and networks separated by commas or blanks. -EINVAL. */
int nets_parse(const char *text, struct nets *nets);
/* An empty list contains all addresses. */
bool nets_have(const struct nets *nets, const struct sockaddr_storage *address);
/* Whether both addresses belong to one peer, as far as the addresses show. */
bool nets_same_peer(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

#endif /* KRDMA_NETS_H */
