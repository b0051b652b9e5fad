// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * CRC-32C, the checksum of iSCSI, ext4 and others: "123456789" gives e3069283.
 *
 * With the instruction that many CPUs have for it, the checksum does not limit the throughput of
 * a transfer. If this code does not know such an instruction of the CPU, it uses a table.
 */
#include "file_internal.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* The polynomial in reflected bit order. */
#define POLYNOMIAL	0x82f63b78u
/* The polynomials x^0 and x^8 in reflected bit order. */
#define X0		0x80000000u
#define X8		0x00800000u

#define STEP		8

/* table[n][byte] is the CRC of the byte followed by n zero bytes. */
static uint32_t table[STEP][256];

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

static uint32_t by_table(uint32_t crc, const unsigned char *byte, size_t length)
{
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
	return crc;
}

/*
 * With the instruction: any alignment, eight bytes at a time if registers are that wide
 */

#if defined(__x86_64__)
#define INSTRUCTION	"sse4.2"
#define EXTENSION	__attribute__((target("sse4.2")))
#define take_byte	__builtin_ia32_crc32qi
#define take_word(crc, word) ((uint32_t)__builtin_ia32_crc32di(crc, word))
typedef uint64_t word_t;
#elif defined(__i386__)
#define INSTRUCTION	"sse4.2"
#define EXTENSION	__attribute__((target("sse4.2")))
#define take_byte	__builtin_ia32_crc32qi
#define take_word	__builtin_ia32_crc32si
typedef uint32_t word_t;
#elif defined(__aarch64__) && defined(__ORDER_LITTLE_ENDIAN__) && \
	__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define INSTRUCTION	"crc32"
#ifdef __clang__
#define EXTENSION	__attribute__((target("crc")))
#define take_byte	__builtin_arm_crc32cb
#define take_word	__builtin_arm_crc32cd
#else
#define EXTENSION	__attribute__((target("+crc")))
#define take_byte	__builtin_aarch64_crc32cb
#define take_word	__builtin_aarch64_crc32cx
#endif
typedef uint64_t word_t;
#endif

#ifdef INSTRUCTION
EXTENSION
static uint32_t by_instruction(uint32_t crc, const unsigned char *byte, size_t length)
{
	word_t word;

	for (; length >= sizeof(word); length -= sizeof(word), byte += sizeof(word)) {
		memcpy(&word, byte, sizeof(word));
		crc = take_word(crc, word);
	}
	for (; length; length--, byte++)
		crc = take_byte(crc, *byte);
	return crc;
}

static bool has_instruction(void)
{
#ifdef __aarch64__
	/* HWCAP_CRC32, which older headers do not define. */
	return getauxval(AT_HWCAP) & 1 << 7;
#else
	unsigned int a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
#endif
}
#endif

/*
 * Selection of the implementation
 */

static uint32_t (*best)(uint32_t crc, const unsigned char *byte, size_t length);
static const char *best_name;
static pthread_once_t best_once = PTHREAD_ONCE_INIT;

static void choose(void)
{
	fill_table();
	best = by_table;
	best_name = "table";
#ifdef INSTRUCTION
	if (has_instruction()) {
		best = by_instruction;
		best_name = INSTRUCTION;
	}
#endif
}

uint32_t file_crc(uint32_t crc, const void *data, size_t length)
{
	pthread_once(&best_once, choose);
	return ~best(~crc, data, length);
}

uint32_t file_crc_by_table(uint32_t crc, const void *data, size_t length)
{
	pthread_once(&best_once, choose);
	return ~by_table(~crc, data, length);
}

const char *file_crc_by(void)
{
	pthread_once(&best_once, choose);
	return best_name;
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

/* A zero byte multiplies the CRC by x^8. For @length of them, compute the power by squaring. */
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
