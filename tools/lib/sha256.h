/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma: SHA-256 and HMAC-SHA-256. Pure. The libraries beside this one use them, too. */
#ifndef KRDMA_SHA256_H
#define KRDMA_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE	32

struct sha256 {
	uint32_t state[8];
	uint64_t length;
	unsigned char block[64];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t length);
/* Clears @sha, so that no secret data remain in it. */
void sha256_end(struct sha256 *sha, unsigned char digest[SHA256_SIZE]);
void sha256_hmac(const void *key, size_t key_length, const void *data, size_t length,
		 unsigned char digest[SHA256_SIZE]);

#endif /* KRDMA_SHA256_H */
