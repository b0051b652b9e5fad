/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: a secret that both ends of a connection share, and the proof to know it. The libraries
 * beside this one use it, too.
 *
 * Each side sends random bytes, its nonce. A proof is
 *
 *	HMAC-SHA-256(secret, label | side | nonce of the server | nonce of the client)
 *
 * where @label, without its NUL, names the protocol and @side is 'c' or 's' for the side that
 * sends the proof. So a proof is valid in one protocol, in one direction, for one connection.
 */
#ifndef KRDMA_SECRET_H
#define KRDMA_SECRET_H

#include <stdbool.h>

#include "sha256.h"

#define SECRET_MIN	16
#define SECRET_MAX	1024

#define SECRET_NONCE	32
#define SECRET_PROOF	SHA256_SIZE
/* The longest label. */
#define SECRET_LABEL_MAX	15

struct secret {
	unsigned char bytes[SECRET_MAX];
	size_t length;
};

/* Copies it. If @bytes is NULL, there is no secret. -EINVAL: the length is wrong. */
int secret_set(struct secret **secret, const void *bytes, size_t length);
/* Clears the copy. */
void secret_free(struct secret *secret);
/* -EIO: there are no random bytes. */
int secret_nonce(unsigned char nonce[SECRET_NONCE]);
void secret_proof(const struct secret *secret, const char *label, char side,
		  const unsigned char server[SECRET_NONCE],
		  const unsigned char client[SECRET_NONCE], unsigned char proof[SECRET_PROOF]);
/* Compares in constant time, which does not reveal where the proofs differ. */
bool secret_same(const unsigned char a[SECRET_PROOF], const unsigned char b[SECRET_PROOF]);

#endif /* KRDMA_SECRET_H */
