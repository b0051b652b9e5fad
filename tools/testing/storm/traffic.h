/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traffic that verifies itself: clients and servers over libkrdma's thin layer.  Connections may
 * be lost at any time; nevertheless each work request completes exactly once, and successful ones
 * have the right data.
 */
#ifndef STORM_TRAFFIC_H
#define STORM_TRAFFIC_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <krdma.h>
#include <krdma_entry.h>

/* Steps with a time limit; the tally has the longest duration of each. */
enum call {
	CALL_RESOLVE,
	CALL_PREPARE,
	CALL_CONNECT,
	CALL_ACCEPT,
	CALL_POST,
	CALL_TAKE,
	CALL_OPERATION,
	CALL_DISCONNECT,
	CALL_END,
	CALL_CLOSE,
	CALL_REGISTER,
	CALL_RELEASE,
	CALL_LISTEN,
	CALL_NEXT,
	CALL_COUNT,
};

/* Time for a peer to answer; then the connection is closed while it is connecting. */
#define CONNECT_MS	10000
/* Time without completions after which a side probes whether the peer lives. */
#define SILENCE_MS	2000

#define MESSAGE_MAX	4096
#define BULK_SIZE	16384
/* Messages that may be in flight in one direction. */
#define MESSAGES	8
#define ROUND_MESSAGES	4
/* Work requests of one end that may be in flight. */
#define SLOTS		64

/* Counters of both sides, written by any thread. */
struct tally {
	atomic_uint_least64_t connected;
	atomic_uint_least64_t refused;
	atomic_uint_least64_t lost;
	atomic_uint_least64_t rounds;
	atomic_uint_least64_t messages;
	atomic_uint_least64_t bytes;
	atomic_uint_least64_t accepted;
	atomic_uint_least64_t completed;
	atomic_uint_least64_t failed;
	atomic_uint_least64_t short_of;
	atomic_uint_least64_t forgotten;
	atomic_uint_least64_t longest[CALL_COUNT];
	atomic_uint_least64_t statuses[KRDMA_WC_GENERAL_ERR + 1];
};

struct traffic {
	struct krdma *session;
	struct tally tally;
	const char *address;
	unsigned int port;
	unsigned int connections;
	unsigned int seed;
	/* A call or a work request that takes longer than this is a violation. */
	unsigned int limit_ms;
	/* After this a work request counts as forgotten, and its connection is closed; 0: never. */
	unsigned int forgotten_ms;
	/* Memory, file descriptors and similar resources may run out. */
	bool short_of;
	/* Fault injection makes allocations of client threads fail. */
	bool may_fail;
	/* Between two machines, packets can be lost. */
	bool over_cable;
	/* The storm is over: each client must be served once more. */
	atomic_bool calm;
};

/* A work request, from when it was accepted until it completes. */
struct slot {
	uint64_t wr_id;
	uint64_t since;
	uint32_t tag;
	uint8_t opcode;
	bool accepted;
};

/* One end of a connection; used by one thread. */
struct end {
	struct traffic *traffic;
	const char *role;
	unsigned int number;
	unsigned int random;

	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	struct krdma_mr *bulk;

	struct slot slots[SLOTS];
	unsigned int under_way;
	uint64_t serial;
	uint64_t sends;
	uint64_t receives;
	/* The first status that was no success, @serial at that time, and whether a work request
	 * other than a receive has failed.
	 */
	uint8_t broken;
	uint64_t broken_at;
	bool order_broken;
	/* The device has forgotten a work request: only closing the connection completes it. */
	bool forgotten;
	/* The QP is created, so the guarantees about the connection's end apply. */
	bool prepared;

	/* The call in progress, or -1; for the thread that looks for stuck threads. */
	atomic_int doing;
	/* The call in progress, or the last one. */
	enum call called;
	atomic_uint_least64_t since;

	/* Called for each success, with the tag and the completion of the work request. */
	void (*complete)(struct end *end, uint32_t tag, const struct krdma_cqe *cqe);
};

enum message_kind {
	MESSAGE_DATA = 1,
	MESSAGE_REPLY,
	MESSAGE_BYE,
	MESSAGE_PROBE,
};

struct message {
	uint32_t magic;
	uint32_t kind;
	uint64_t conn;
	uint64_t sequence;
	uint32_t length;
	uint32_t reserved;
	/* MESSAGE_BYE: number of fetch-and-adds, and checksum of the server's memory. */
	uint64_t adds;
	uint64_t bulk;
	/* Covers all other fields and @data. */
	uint64_t checksum;
	unsigned char data[];
};

/* account.c */
uint64_t now_ms(void);
unsigned int roll(struct end *end, unsigned int below);
void fail(struct end *end, const char *format, ...)
	__attribute__((__noreturn__, __format__(printf, 2, 3)));
void begin(struct end *end, enum call call);
void done(struct end *end);
bool expected(struct end *end, enum call call, int err);
int end_post(struct end *end, struct krdma_sqe *entries, const uint32_t *tags, size_t count);
int end_take(struct end *end, unsigned int ms);
void end_finish(struct end *end, bool abort, bool ended);
void print_tally(const struct traffic *traffic, const char *role);
const char *call_name(int call);

/* message.c */
uint64_t checksum(const void *data, size_t length);
void fill(void *data, size_t length, uint64_t seed);
void message_make(struct message *message, uint32_t kind, uint64_t conn, uint64_t sequence,
		  uint32_t length);
void message_seal(struct message *message);
const char *message_wrong(const struct message *message, uint32_t length, uint64_t conn);

/* client.c, server.c */
void *run_client(void *end);
int serve(struct traffic *traffic, const atomic_bool *stop);

#endif
