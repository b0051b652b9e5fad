/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma: little-endian numbers of any alignment. */
#ifndef KRDMA_WIRE_H
#define KRDMA_WIRE_H

#include <stdint.h>

static inline void wire_put16(unsigned char *byte, uint16_t value)
{
	byte[0] = (unsigned char)value;
	byte[1] = (unsigned char)(value >> 8);
}

static inline void wire_put32(unsigned char *byte, uint32_t value)
{
	wire_put16(byte, (uint16_t)value);
	wire_put16(byte + 2, (uint16_t)(value >> 16));
}

static inline void wire_put64(unsigned char *byte, uint64_t value)
{
	wire_put32(byte, (uint32_t)value);
	wire_put32(byte + 4, (uint32_t)(value >> 32));
}

static inline uint16_t wire_get16(const unsigned char *byte)
{
	return (uint16_t)(byte[0] | byte[1] << 8);
}

static inline uint32_t wire_get32(const unsigned char *byte)
{
	return wire_get16(byte) | (uint32_t)wire_get16(byte + 2) << 16;
}

static inline uint64_t wire_get64(const unsigned char *byte)
{
	return wire_get32(byte) | (uint64_t)wire_get32(byte + 4) << 32;
}

#endif /* KRDMA_WIRE_H */
