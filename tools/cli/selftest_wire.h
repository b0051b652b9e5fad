/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: protocol between the near end and the far end.
 *
 * It does not use the device under test, but a local or TCP socket.  A request and its reply are
 * WIRE_WORDS numbers of 64 bits each, little-endian.  The first word of a request is
 * &enum far_request.  The first word of a reply is 0, or a negative errno and then all other
 * words are 0.  Replies come in the order of the requests.
 */
#ifndef KRDMA_CLI_SELFTEST_WIRE_H
#define KRDMA_CLI_SELFTEST_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_WORDS	8
#define WIRE_VERSION	1
/* "krdmaST1": the magic in FAR_HELLO. */
#define WIRE_MAGIC	UINT64_C(0x315453616d64726b)

/* Bytes of private data in both directions: the nonce of FAR_ACCEPT, and its complement. */
#define WIRE_PRIVATE	16

/* Limits of the far end. */
#define FAR_CONNS	16
#define FAR_MEMORIES	8
#define FAR_DEPTH_MAX	65536
/* Stands for the SRQ in place of a connection number. */
#define FAR_SHARED	FAR_CONNS

/*
 * Each comment gives the words of the request and, after a semicolon, those of the reply.  conn is
 * 0 to FAR_CONNS - 1; memory is 0 to FAR_MEMORIES - 1.
 */
enum far_request {
	/* magic, version, operation timeout in ns; magic, version, krdma's version in 4 words */
	FAR_HELLO = 1,
	/*
	 * Close all objects, and listen again; port, device's caps, max_recv_wr and
	 * max_recv_sge, max_send_wr and max_srq_wr, max_mr_size, max_read_depth_in and transport
	 */
	FAR_RESET,
	/* End a FAR_ACCEPT that waits. */
	FAR_NOTHING,
	/*
	 * conn, nonce, send and receive depth, send and receive SGEs, &enum far_accept_flags;
	 * granted depths, SGEs and read depths, peer_is_krdma
	 */
	FAR_ACCEPT,
	/* conn, flags of krdma_conn_disconnect() */
	FAR_DISCONNECT,
	/* conn: wait until it is closed; the negative errno of its end */
	FAR_AWAIT_CLOSED,
	/* conn */
	FAR_CLOSE,
	/* memory, length, offset in its page, access; its memory descriptor in 4 words */
	FAR_REGISTER,
	/* memory */
	FAR_RELEASE,
	/* memory, offset, length, seed: see selftest_pattern.h */
	FAR_FILL,
	FAR_CLEAR,
	/*
	 * memory, offset, length, seed; count, offset, is, expected of struct pattern_fault.
	 * FAR_COMPARE does not check guards.
	 */
	FAR_COMPARE,
	FAR_CHECK,
	FAR_CHECK_CLEAR,
	/* memory, offset; the 8 bytes there */
	FAR_PEEK,
	/* memory, offset, value */
	FAR_POKE,
	/* depth, SGEs: create the SRQ; granted depth and SGEs */
	FAR_SRQ,
	/* conn or FAR_SHARED, memory, offset, length, stride, count, SGEs; count posted, error */
	FAR_RECEIVE,
	/* conn, memory, offset, length, stride, count, SGEs; count posted, error */
	FAR_SEND,
	/*
	 * conn or FAR_SHARED; wr_id, opcode | status << 8 | flags << 16, length | imm << 32,
	 * conn
	 */
	FAR_TAKE,
	/* Kill the process with SIGKILL; no reply. */
	FAR_DIE,
};

/* Flags of FAR_ACCEPT. */
enum far_accept_flags {
	FAR_ACCEPT_SHARED = 1 << 0,
	FAR_ACCEPT_POLLED = 1 << 1,
	FAR_ACCEPT_NO_RNR = 1 << 2,
	/* Reject the connection instead. */
	FAR_ACCEPT_REJECT = 1 << 3,
};

struct wire_words {
	uint64_t word[WIRE_WORDS];
};

/*
 * Send or receive a whole message.  Returns 0; -ETIMEDOUT at @deadline; -EINTR if a stop is
 * requested; -ECONNRESET if the other end is gone.
 */
int wire_send(int fd, const struct wire_words *words, uint64_t deadline);
int wire_receive(int fd, struct wire_words *words, uint64_t deadline);

/* Pack two numbers of 32 bits into a word, and unpack them. */
static inline uint64_t wire_pair(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

static inline uint32_t wire_low(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint32_t wire_high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* Pack bytes into words and unpack them, independently of the byte order of the two ends. */
void wire_put_bytes(uint64_t *words, const void *bytes, size_t length);
void wire_get_bytes(const uint64_t *words, void *bytes, size_t length);

/* Build the private data with this nonce, of the near end or of the end that accepts. */
void wire_private(uint8_t data[WIRE_PRIVATE], uint64_t nonce, int accepting);

#endif /* KRDMA_CLI_SELFTEST_WIRE_H */
