/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Where a file is on another machine: HOST[:PORT]/PATH.
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets, which may be left out
 * where no port follows: [fd00::1]:7476/x, fd00::1/x, [fe80::1%eth0]/x.  PATH is taken as it
 * is, and has no slash in front: what the server offers is its beginning.
 */
#ifndef KRDMA_CLI_URL_H
#define KRDMA_CLI_URL_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* More addresses than that are not tried. */
#define URL_ADDRESSES	8
/* HOST:PORT, with brackets where they are needed. */
#define URL_PLACE_TEXT	(NI_MAXHOST + 16)

struct url {
	char host[NI_MAXHOST];
	uint16_t port;
	/* There was a slash behind the host. */
	bool slash;
	/* In the word that was taken apart. */
	const char *path;
};

/* 0, or -EINVAL after a complaint. */
int url_parse(const char *word, uint16_t default_port, struct url *url);

/* Whether a word could be meant as one: for messages. */
bool url_looks_like(const char *word);

/* How many addresses the host has; 0 after a complaint. */
size_t url_addresses(const struct url *url, struct sockaddr_storage addresses[URL_ADDRESSES]);

const char *url_place(const struct url *url, char text[URL_PLACE_TEXT]);

#endif /* KRDMA_CLI_URL_H */
