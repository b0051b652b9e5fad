/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Messages that the two sides of "krdma ping" and "krdma bench" exchange while they connect.
 *
 * The client sends a hello in the private data of its connection request; the server sends an
 * answer in the private data of its accept or reject.  Numbers are little-endian.  Hello,
 * HELLO_SIZE bytes:
 *
 *	 0  magic, 32 bits: "KRDt"
 *	 4  version, 8 bits: 1
 *	 5  service, 8 bits: enum hello_service
 *	 6  operation, 8 bits: enum hello_operation
 *	 7  zero, 8 bits
 *	 8  maximum length of a message or access in bytes, 32 bits
 *	12  maximum number of them in flight, 32 bits
 *
 * Answer, ANSWER_SIZE bytes:
 *
 *	 0  magic, 32 bits: "KRDa"
 *	 4  version, 8 bits: that of the server
 *	 5  verdict, 8 bits: enum hello_verdict
 *	 6  zero, 16 bits
 *	 8  limit, 32 bits: the maximum, for VERDICT_LENGTH and VERDICT_DEPTH
 *	12  zero, 32 bits
 *	16  memory descriptor, KRDMA_MR_DESC_SIZE bytes; zero if no memory is offered
 *
 * Bytes that follow are ignored: transports that do not transmit the length of private data append
 * zeroes.  The first six bytes of both messages are the same in all versions, so that each side can
 * report an unsupported version.
 */
#ifndef KRDMA_CLI_PEER_HELLO_H
#define KRDMA_CLI_PEER_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "krdma.h"

#define HELLO_VERSION	1
#define HELLO_SIZE	16
#define ANSWER_SIZE	(16 + KRDMA_MR_DESC_SIZE)
/* Buffer size for the private data of any message. */
#define HELLO_ROOM	256

enum hello_service {
	SERVICE_PING = 1,
	SERVICE_BENCH = 2,
};

enum hello_operation {
	/* Send each message back; the only operation of SERVICE_PING. */
	OPERATION_ECHO = 1,
	/* Messages in one direction, and now and then one back with the number received. */
	OPERATION_STREAM = 2,
	/* The answer has the memory descriptor for these. */
	OPERATION_WRITE = 3,
	OPERATION_READ = 4,
	OPERATION_ATOMIC = 5,
	/* Only connect. */
	OPERATION_CONNECT = 6,
};

enum hello_verdict {
	VERDICT_WELCOME = 0,
	/* The private data are not a hello. */
	VERDICT_MALFORMED = 1,
	/* The version of the hello is not supported. */
	VERDICT_VERSION = 2,
	/* The hello is for another service, or for an operation that this one does not have. */
	VERDICT_SERVICE = 3,
	VERDICT_LENGTH = 4,
	VERDICT_DEPTH = 5,
	/* The limit of clients or of memory is reached. */
	VERDICT_FULL = 6,
	/* The server's RDMA device does not support it. */
	VERDICT_DEVICE = 7,
	/* The server failed, and has printed why. */
	VERDICT_FAILED = 8,
};

struct hello {
	uint8_t service;
	uint8_t operation;
	uint32_t length;
	uint32_t depth;
};

struct hello_answer {
	uint8_t version;
	uint8_t verdict;
	uint32_t limit;
	uint8_t descriptor[KRDMA_MR_DESC_SIZE];
};

void hello_encode(const struct hello *hello, uint8_t wire[HELLO_SIZE]);

/* Returns 0; -EINVAL if it is not a hello; -EPROTONOSUPPORT if it has another version. */
int hello_decode(const void *wire, size_t length, struct hello *hello);

void answer_encode(const struct hello_answer *answer, uint8_t wire[ANSWER_SIZE]);

/* -EINVAL if it is not an answer.  Of another version only version and verdict are filled in. */
int answer_decode(const void *wire, size_t length, struct hello_answer *answer);

#endif /* KRDMA_CLI_PEER_HELLO_H */
