/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Location of a file on another machine: HOST[:PORT]/PATH, rdma://HOST[:PORT]/PATH, or HOST:PATH.
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets, which may be left out if no port
 * follows: [fd00::1]:7476/x, fd00::1/x, [fe80::1%eth0]/x.  PATH is used unchanged, has no leading
 * slash, and is relative to the folder that the server offers.
 */
#ifndef KRDMA_CLI_URL_H
#define KRDMA_CLI_URL_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Maximum number of addresses of a host that are tried. */
#define URL_ADDRESSES	8
#define URL_SCHEME	"rdma://"
/* HOST:PORT, with brackets around an IPv6 address. */
#define URL_PLACE_TEXT	(NI_MAXHOST + 16)

struct url {
	char host[NI_MAXHOST];
	uint16_t port;
	/* A slash follows the host. */
	bool slash;
	/* Points into the word given to url_parse(). */
	const char *path;
};

/* Returns 0, or -EINVAL after printing an error. */
int url_parse(const char *word, uint16_t default_port, struct url *url);

/* True if a word may be meant as HOST[:PORT]/PATH; used to choose messages. */
bool url_looks_like(const char *word);

/*
 * Look up the host.  Returns the number of addresses, and prints nothing; if there are none,
 * url_error() says why.
 */
size_t url_find(const struct url *url, struct sockaddr_storage addresses[URL_ADDRESSES],
		int *error);
const char *url_error(int error);

/* Look up the host.  Returns the number of addresses; 0 after printing an error. */
size_t url_addresses(const struct url *url, struct sockaddr_storage addresses[URL_ADDRESSES]);

const char *url_place(const struct url *url, char text[URL_PLACE_TEXT]);

#endif /* KRDMA_CLI_URL_H */
