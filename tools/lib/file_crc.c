// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * CRC-32C, the checksum of iSCSI, ext4 and many others: "123456789" gives e3069283.
 */
#include "file_internal.h"

#include <pthread.h>

/* The polynomial with its bits in the order in which bytes are taken. */
#define POLYNOMIAL	0x82f63b78u
/* In that order: the polynomials x^0 and x^8. */
#define X0		0x80000000u
#define X8		0x00800000u

#define STEP		8

/* What becomes of a byte that is followed by so many bytes of zeroes. */
static uint32_t table[STEP][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
		table[0][byte] = crc;
	}
	for (int step = 1; step < STEP; step++) {
		for (int byte = 0; byte < 256; byte++) {
			uint32_t crc = table[step - 1][byte];

			table[step][byte] = crc >> 8 ^ table[0][crc & 0xff];
		}
	}
}

uint32_t file_crc(uint32_t crc, const void *data, size_t length)
{
	const unsigned char *byte = data;

	pthread_once(&table_once, fill_table);
	crc = ~crc;
	for (; length >= STEP; length -= STEP, byte += STEP) {
		crc ^= (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
		       (uint32_t)byte[3] << 24;
		crc = table[7][crc & 0xff] ^ table[6][crc >> 8 & 0xff] ^
		      table[5][crc >> 16 & 0xff] ^ table[4][crc >> 24] ^
		      table[3][byte[4]] ^ table[2][byte[5]] ^ table[1][byte[6]] ^
		      table[0][byte[7]];
	}
	for (; length; length--, byte++)
		crc = crc >> 8 ^ table[0][(crc ^ *byte) & 0xff];
	return ~crc;
}

static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (uint32_t bit = X0; bit; bit >>= 1) {
		if (a & bit)
			product ^= b;
		b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
	}
	return product;
}

/* A zero byte multiplies by x^8; so many of them by its power, found by squaring. */
uint32_t file_crc_zeroes(uint32_t crc, uint64_t length)
{
	uint32_t power = X8;

	crc = ~crc;
	for (; length; length >>= 1) {
		if (length & 1)
			crc = multiply(power, crc);
		power = multiply(power, power);
	}
	return ~crc;
}
