/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: how the end that tests tells the other end what to do.
 *
 * Not over the device under test: over a socket, of this machine or TCP.  A request and its
 * reply are WIRE_WORDS numbers of 64 bits each, little-endian.  The first of a request is
 * &enum far_request; the first of a reply is 0, or a negative errno, and then all others
 * are 0.  Replies come in the order of the requests.
 */
#ifndef KRDMA_CLI_SELFTEST_WIRE_H
#define KRDMA_CLI_SELFTEST_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_WORDS	8
#define WIRE_VERSION	1
/* "krdmaST1": what a conversation begins with. */
#define WIRE_MAGIC	UINT64_C(0x315453616d64726b)

/* Private data of a connection, both ways: the nonce of FAR_ACCEPT, and its complement. */
#define WIRE_PRIVATE	16

/* What the far end has of each. */
#define FAR_CONNS	16
#define FAR_MEMORIES	8
#define FAR_DEPTH_MAX	65536
/* In place of a connection: the shared receive queue. */
#define FAR_SHARED	FAR_CONNS

/*
 * Words of each request, and then of its reply.  conn: 0 to FAR_CONNS - 1; memory: 0 to
 * FAR_MEMORIES - 1.
 */
enum far_request {
	/* magic, version, operation timeout in ns; magic, version, krdma's version in 4 words */
	FAR_HELLO = 1,
	/*
	 * Give up all there is, and begin anew; port, device's caps, max_recv_wr and
	 * max_recv_sge, max_send_wr and max_srq_wr, max_mr_size, max_read_depth_in and transport
	 */
	FAR_RESET,
	/* Ends a FAR_ACCEPT that waits. */
	FAR_NOTHING,
	/* conn, nonce, send and receive depth, send and receive SGEs, flags; granted. */
	FAR_ACCEPT,
	/* conn, flags of krdma_conn_disconnect() */
	FAR_DISCONNECT,
	/* conn: waits until it is closed; why, a negative errno */
	FAR_AWAIT_CLOSED,
	/* conn */
	FAR_CLOSE,
	/* memory, length, offset in its page, access; its descriptor, 4 words */
	FAR_REGISTER,
	/* memory */
	FAR_RELEASE,
	/* memory, offset, length, seed: see selftest_pattern.h */
	FAR_FILL,
	FAR_CLEAR,
	/* The same; struct pattern_fault: count, offset, is, expected.  COMPARE: no guards. */
	FAR_COMPARE,
	FAR_CHECK,
	FAR_CHECK_CLEAR,
	/* memory, offset; the 8 bytes there */
	FAR_PEEK,
	/* memory, offset, value */
	FAR_POKE,
	/* depth, SGEs: a shared receive queue; depth and SGEs granted */
	FAR_SRQ,
	/* conn or FAR_SHARED, memory, offset, length, stride, how many, SGEs; how many */
	FAR_RECEIVE,
	/* conn, memory, offset, length, stride, how many; how many */
	FAR_SEND,
	/*
	 * conn or FAR_SHARED; wr_id, opcode | status << 8 | flags << 16, length | imm << 32,
	 * conn
	 */
	FAR_TAKE,
	/* Dies of SIGKILL. */
	FAR_DIE,
};

/* Flags of FAR_ACCEPT. */
enum far_accept_flags {
	FAR_ACCEPT_SHARED = 1 << 0,
	FAR_ACCEPT_POLLED = 1 << 1,
	FAR_ACCEPT_NO_RNR = 1 << 2,
	/* Rejects the connection instead. */
	FAR_ACCEPT_REJECT = 1 << 3,
};

struct wire_words {
	uint64_t word[WIRE_WORDS];
};

/*
 * The whole of a message, until @deadline.  0; -ETIMEDOUT; -EINTR: the end is wanted;
 * -ECONNRESET: the other end has gone.
 */
int wire_send(int fd, const struct wire_words *words, uint64_t deadline);
int wire_receive(int fd, struct wire_words *words, uint64_t deadline);

/* Two numbers of 32 bits in a word. */
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

/* Bytes in words, whatever the byte order of the two ends. */
void wire_put_bytes(uint64_t *words, const void *bytes, size_t length);
void wire_get_bytes(const uint64_t *words, void *bytes, size_t length);

/* The private data of a connection with that nonce: the asking end's or the other's. */
void wire_private(uint8_t data[WIRE_PRIVATE], uint64_t nonce, int accepting);

#endif /* KRDMA_CLI_SELFTEST_WIRE_H */
