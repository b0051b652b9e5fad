// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for names and secrets, not for file data.
 */
#include <string.h>

#include "sha256.h"

#define BLOCK	64

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t get_be32(const unsigned char *byte)
{
	return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
}

static void put_be32(unsigned char *byte, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		byte[i] = (unsigned char)(value >> (24 - 8 * i));
}

static uint32_t rotate(uint32_t value, unsigned int by)
{
	return value >> by | value << (32 - by);
}

static void add_block(struct sha256 *sha, const unsigned char *block)
{
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = get_be32(block + 4 * i);
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, sha->state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t one = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
			       ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
		uint32_t two = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
			       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		sha->state[i] += s[i];
	/* Leave no secret data on the stack. */
	explicit_bzero(w, sizeof(w));
	explicit_bzero(s, sizeof(s));
}

void sha256_init(struct sha256 *sha)
{
	static const uint32_t begin[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memset(sha, 0, sizeof(*sha));
	memcpy(sha->state, begin, sizeof(begin));
}

void sha256_add(struct sha256 *sha, const void *data, size_t length)
{
	const unsigned char *from = data;

	while (length) {
		size_t used = (size_t)(sha->length % BLOCK);
		size_t some = BLOCK - used < length ? BLOCK - used : length;

		memcpy(sha->block + used, from, some);
		sha->length += some;
		from += some;
		length -= some;
		if (used + some == BLOCK)
			add_block(sha, sha->block);
	}
}

void sha256_end(struct sha256 *sha, unsigned char digest[SHA256_SIZE])
{
	static const unsigned char padding[BLOCK] = { 0x80 };
	uint64_t bits = sha->length * 8;
	size_t used = (size_t)(sha->length % BLOCK);
	unsigned char end[8];

	sha256_add(sha, padding, (used < 56 ? 56 : 56 + BLOCK) - used);
	put_be32(end, (uint32_t)(bits >> 32));
	put_be32(end + 4, (uint32_t)bits);
	sha256_add(sha, end, sizeof(end));
	for (int i = 0; i < 8; i++)
		put_be32(digest + 4 * i, sha->state[i]);
	explicit_bzero(sha, sizeof(*sha));
}

void sha256_hmac(const void *key, size_t key_length, const void *data, size_t length,
		 unsigned char digest[SHA256_SIZE])
{
	unsigned char block[BLOCK] = { 0 };
	struct sha256 sha;

	sha256_init(&sha);
	if (key_length > BLOCK) {
		sha256_add(&sha, key, key_length);
		sha256_end(&sha, block);
		sha256_init(&sha);
	} else {
		memcpy(block, key, key_length);
	}
	for (int i = 0; i < BLOCK; i++)
		block[i] ^= 0x36;
	sha256_add(&sha, block, BLOCK);
	sha256_add(&sha, data, length);
	sha256_end(&sha, digest);
	for (int i = 0; i < BLOCK; i++)
		block[i] ^= 0x36 ^ 0x5c;
	sha256_init(&sha);
	sha256_add(&sha, block, BLOCK);
	sha256_add(&sha, digest, SHA256_SIZE);
	sha256_end(&sha, digest);
	explicit_bzero(block, sizeof(block));
}
