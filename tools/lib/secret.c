// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A shared secret, and the proof to know it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "secret.h"

int secret_set(struct secret **secret, const void *bytes, size_t length)
{
	*secret = NULL;
	if (!bytes)
		return length ? -EINVAL : 0;
	if (length < SECRET_MIN || length > SECRET_MAX)
		return -EINVAL;
	*secret = calloc(1, sizeof(**secret));
	if (!*secret)
		return -ENOMEM;
	memcpy((*secret)->bytes, bytes, length);
	(*secret)->length = length;
	return 0;
}

void secret_free(struct secret *secret)
{
	if (secret)
		explicit_bzero(secret, sizeof(*secret));
	free(secret);
}

int secret_nonce(unsigned char nonce[SECRET_NONCE])
{
	return getrandom(nonce, SECRET_NONCE, 0) == SECRET_NONCE ? 0 : -EIO;
}

void secret_proof(const struct secret *secret, const char *label, char side,
		  const unsigned char server[SECRET_NONCE],
		  const unsigned char client[SECRET_NONCE], unsigned char proof[SECRET_PROOF])
{
	unsigned char text[SECRET_LABEL_MAX + 1 + 2 * SECRET_NONCE];
	size_t length = strnlen(label, SECRET_LABEL_MAX);

	memcpy(text, label, length);
	text[length++] = (unsigned char)side;
	memcpy(text + length, server, SECRET_NONCE);
	memcpy(text + length + SECRET_NONCE, client, SECRET_NONCE);
	sha256_hmac(secret->bytes, secret->length, text, length + 2 * SECRET_NONCE, proof);
}

bool secret_same(const unsigned char a[SECRET_PROOF], const unsigned char b[SECRET_PROOF])
{
	unsigned int differ = 0;

	for (size_t i = 0; i < SECRET_PROOF; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}
