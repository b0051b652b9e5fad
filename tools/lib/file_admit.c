// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Decides which clients a server accepts: by address, and by a shared secret that both sides
 * prove to know.
 *
 * A side with a secret sets flag 1 in its hello. A server with a secret accepts no client
 * without one, and a client with a secret accepts no server without one. Then each side sends
 * 32 random bytes and proves with an HMAC over both values that it knows the secret:
 *
 *	client                          server
 *
 *	                          <-    CHALLENGE S
 *	CHALLENGE C               ->
 *	PROOF                     ->                          HMAC("krdma-file-1" "c" S C)
 *	                          <-    PROOF                 HMAC("krdma-file-1" "s" S C)
 *	GET or PUT                ->
 *
 * The HMAC is HMAC-SHA-256 with the secret as its key. S, C and the proofs use the 32 bytes
 * that hold a memory descriptor in other messages. Only the proofs depend on the secret. An
 * eavesdropper can test guesses offline, so the secret must be random. A proof is valid for one
 * connection. The data that follow are neither encrypted nor signed: an attacker that can change
 * packets can change files.
 */
#include "file_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * Addresses
 */

/* Same syntax as the lists of krdma_blk: ADDRESS or ADDRESS/BITS. */
static int parse_net(char *word, struct file_net *net)
{
	char *slash = strchr(word, '/'), *end;
	unsigned long bits;

	if (slash)
		*slash++ = '\0';
	*net = (struct file_net){ 0 };
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

int file_nets_parse(const char *text, struct file_nets *nets)
{
	char word[INET6_ADDRSTRLEN + 4];

	nets->count = 0;
	for (text += strspn(text, ", \t\n"); *text; text += strspn(text, ", \t\n")) {
		size_t length = strcspn(text, ", \t\n");

		if (length >= sizeof(word) || nets->count == FILE_NETS)
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

bool file_nets_have(const struct file_nets *nets, const struct sockaddr_storage *address)
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
bool file_same_peer(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
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

/*
 * The secret
 */

#define LABEL	"krdma-file-1"

void file_proof(const struct file_secret *secret, char side,
		const unsigned char server[FILE_NONCE], const unsigned char client[FILE_NONCE],
		unsigned char proof[FILE_SHA256_SIZE])
{
	unsigned char text[sizeof(LABEL) + 2 * FILE_NONCE];

	memcpy(text, LABEL, sizeof(LABEL) - 1);
	text[sizeof(LABEL) - 1] = (unsigned char)side;
	memcpy(text + sizeof(LABEL), server, FILE_NONCE);
	memcpy(text + sizeof(LABEL) + FILE_NONCE, client, FILE_NONCE);
	file_hmac(secret->bytes, secret->length, text, sizeof(text), proof);
}

/* Compares in constant time, which does not reveal where the values differ. */
static bool is_same(const unsigned char *a, const unsigned char *b)
{
	unsigned int differ = 0;

	for (size_t i = 0; i < FILE_SHA256_SIZE; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

static int challenge(struct file_link *link, unsigned char nonce[FILE_NONCE])
{
	struct file_message message = { .type = FILE_MESSAGE_CHALLENGE };

	if (getrandom(nonce, FILE_NONCE, 0) != FILE_NONCE)
		return file_link_fail(link, -EIO, KRDMA_FILE_SIDE_HERE);
	memcpy(message.descriptor, nonce, FILE_NONCE);
	return file_link_send(link, &message, NULL);
}

static int hear(struct file_link *link, uint8_t type, unsigned char bytes[FILE_NONCE])
{
	struct file_message message;
	int err = file_link_receive(link, type, &message);

	if (!err)
		memcpy(bytes, message.descriptor, FILE_NONCE);
	return err;
}

static int prove(struct file_link *link, char side, const unsigned char server[FILE_NONCE],
		 const unsigned char client[FILE_NONCE])
{
	struct file_message message = { .type = FILE_MESSAGE_PROOF };

	file_proof(link->secret, side, server, client, message.descriptor);
	return file_link_send(link, &message, NULL);
}

/* Receives and checks the proof of the other side. @side: 'c' or 's', the other side. */
static int check(struct file_link *link, char side, const unsigned char server[FILE_NONCE],
		 const unsigned char client[FILE_NONCE])
{
	unsigned char proof[FILE_SHA256_SIZE], expected[FILE_SHA256_SIZE];
	int err = hear(link, FILE_MESSAGE_PROOF, proof);

	if (err)
		return err;
	file_proof(link->secret, side, server, client, expected);
	return is_same(proof, expected) ? 0 : -EKEYREJECTED;
}

int file_admit(struct file_link *link)
{
	unsigned char server[FILE_NONCE], client[FILE_NONCE];
	int err;

	if (!link->secret)
		return 0;
	err = challenge(link, server);
	if (!err)
		err = hear(link, FILE_MESSAGE_CHALLENGE, client);
	if (!err)
		err = check(link, 'c', server, client);
	if (err)
		/* file_link_close() sends this error to the client, without details. */
		return file_link_fail(link, err, KRDMA_FILE_SIDE_HERE);
	return prove(link, 's', server, client);
}

int file_be_admitted(struct file_link *link)
{
	unsigned char server[FILE_NONCE], client[FILE_NONCE];
	int err;

	if (!link->secret)
		return 0;
	err = hear(link, FILE_MESSAGE_CHALLENGE, server);
	if (!err)
		err = challenge(link, client);
	if (!err)
		err = prove(link, 'c', server, client);
	if (!err)
		err = check(link, 's', server, client);
	return err ? file_link_fail(link, err, KRDMA_FILE_SIDE_BETWEEN) : 0;
}

int file_secret_set(struct file_secret **secret, const void *bytes, size_t length)
{
	*secret = NULL;
	if (!bytes)
		return length ? -EINVAL : 0;
	if (length < KRDMA_FILE_SECRET_MIN || length > KRDMA_FILE_SECRET_MAX)
		return -EINVAL;
	*secret = calloc(1, sizeof(**secret));
	if (!*secret)
		return -ENOMEM;
	memcpy((*secret)->bytes, bytes, length);
	(*secret)->length = length;
	return 0;
}

void file_secret_free(struct file_secret *secret)
{
	if (secret)
		explicit_bzero(secret, sizeof(*secret));
	free(secret);
}
