// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A shared secret, which both sides prove to know.
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

#include <assert.h>
#include <errno.h>
#include <string.h>

#define LABEL	"krdma-file-1"

static_assert(KRDMA_FILE_SECRET_MIN == SECRET_MIN && KRDMA_FILE_SECRET_MAX == SECRET_MAX,
	      "a secret of a program has place here");

void file_proof(const struct secret *secret, char side, const unsigned char server[SECRET_NONCE],
		const unsigned char client[SECRET_NONCE], unsigned char proof[SECRET_PROOF])
{
	secret_proof(secret, LABEL, side, server, client, proof);
}

static int challenge(struct file_link *link, unsigned char nonce[SECRET_NONCE])
{
	struct file_message message = { .type = FILE_MESSAGE_CHALLENGE };

	int err = secret_nonce(nonce);

	if (err)
		return file_link_fail(link, err, KRDMA_FILE_SIDE_HERE);
	memcpy(message.descriptor, nonce, SECRET_NONCE);
	return file_link_send(link, &message, NULL);
}

static int hear(struct file_link *link, uint8_t type, unsigned char bytes[SECRET_NONCE])
{
	struct file_message message;
	int err = file_link_receive(link, type, &message);

	if (!err)
		memcpy(bytes, message.descriptor, SECRET_NONCE);
	return err;
}

static int prove(struct file_link *link, char side, const unsigned char server[SECRET_NONCE],
		 const unsigned char client[SECRET_NONCE])
{
	struct file_message message = { .type = FILE_MESSAGE_PROOF };

	file_proof(link->secret, side, server, client, message.descriptor);
	return file_link_send(link, &message, NULL);
}

/* Receives and checks the proof of the other side. @side: 'c' or 's', the other side. */
static int check(struct file_link *link, char side, const unsigned char server[SECRET_NONCE],
		 const unsigned char client[SECRET_NONCE])
{
	unsigned char proof[SECRET_PROOF], expected[SECRET_PROOF];
	int err = hear(link, FILE_MESSAGE_PROOF, proof);

	if (err)
		return err;
	file_proof(link->secret, side, server, client, expected);
	return secret_same(proof, expected) ? 0 : -EKEYREJECTED;
}

int file_admit(struct file_link *link)
{
	unsigned char server[SECRET_NONCE], client[SECRET_NONCE];
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
	unsigned char server[SECRET_NONCE], client[SECRET_NONCE];
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
