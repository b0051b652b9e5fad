/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the two sides of "krdma ping" and "krdma bench" tell each other while they connect.
 *
 * The side that asks sends a hello, in the private data of its request; the side that
 * listens sends an answer, in those of its acceptance or its refusal.  Numbers are
 * little-endian.  Hello, HELLO_SIZE bytes:
 *
 *	 0  magic, 32 bits: "KRDt"
 *	 4  version, 8 bits: 1
 *	 5  service, 8 bits: enum hello_service
 *	 6  operation, 8 bits: enum hello_operation
 *	 7  zero, 8 bits
 *	 8  the longest message or access, in bytes, 32 bits
 *	12  how many of them are under way at most, 32 bits
 *
 * Answer, ANSWER_SIZE bytes:
 *
 *	 0  magic, 32 bits: "KRDa"
 *	 4  version, 8 bits: the one that the listening side speaks
 *	 5  verdict, 8 bits: enum hello_verdict
 *	 6  zero, 16 bits
 *	 8  limit, 32 bits: what VERDICT_LENGTH and VERDICT_DEPTH refuse is above it
 *	12  zero, 32 bits
 *	16  KRDMA_MR_DESC_SIZE bytes: memory that is offered; zero if there is none
 *
 * Whatever follows is ignored: where lengths do not travel, zeroes do.  The first six
 * bytes of both stay what they are in later versions, so that each side can say that it
 * does not speak the other's.
 */
#ifndef KRDMA_CLI_PEER_HELLO_H
#define KRDMA_CLI_PEER_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "krdma.h"

#define HELLO_VERSION	1
#define HELLO_SIZE	16
#define ANSWER_SIZE	(16 + KRDMA_MR_DESC_SIZE)
/* Room for the private data of any message. */
#define HELLO_ROOM	256

enum hello_service {
	SERVICE_PING = 1,
	SERVICE_BENCH = 2,
};

enum hello_operation {
	/* Each message comes back; all there is for SERVICE_PING. */
	OPERATION_ECHO = 1,
	/* Messages in one direction, and now and then one back: so many have come. */
	OPERATION_STREAM = 2,
	/* Memory is offered for this. */
	OPERATION_WRITE = 3,
	OPERATION_READ = 4,
	OPERATION_ATOMIC = 5,
	/* Nothing but the connection. */
	OPERATION_CONNECT = 6,
};

enum hello_verdict {
	VERDICT_WELCOME = 0,
	/* The hello is none. */
	VERDICT_MALFORMED = 1,
	/* It is of a version that is not spoken here. */
	VERDICT_VERSION = 2,
	/* Another service than this one is meant, or an operation that it has not. */
	VERDICT_SERVICE = 3,
	VERDICT_LENGTH = 4,
	VERDICT_DEPTH = 5,
	/* So many are served that there is no room for one more. */
	VERDICT_FULL = 6,
	/* The RDMA device there cannot do it. */
	VERDICT_DEVICE = 7,
	/* It failed there, and was said there. */
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

/* -EINVAL: not a hello; -EPROTONOSUPPORT: one of another version. */
int hello_decode(const void *wire, size_t length, struct hello *hello);

void answer_encode(const struct hello_answer *answer, uint8_t wire[ANSWER_SIZE]);

/* -EINVAL: not an answer.  Of another version, only that and the verdict are filled in. */
int answer_decode(const void *wire, size_t length, struct hello_answer *answer);

#endif /* KRDMA_CLI_PEER_HELLO_H */
