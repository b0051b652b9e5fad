/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs that are compared have in common: the same work, measured by the same
 * code, and below it one way to the device each (tools/bench/thin: libkrdma's thin layer;
 * tools/bench/verbs: libibverbs and librdmacm; tools/bench/rpma: librpma).
 *
 * Whatever fails ends the program with a message: a comparison that lacks a part is none.
 */
#ifndef _KRDMA_BENCH_PEER_H
#define _KRDMA_BENCH_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdnoreturn.h>

/* Operations that a connection can have under way, and receives that it has room for. */
#define PEER_DEPTH		64
/* Completions that a connection's own completion queue has room for. */
#define PEER_COMPLETIONS	(2 * PEER_DEPTH)
/* Connections that share a completion queue where they share one. */
#define PEER_SHARE		256
/* Receives of a shared receive queue. */
#define PEER_SHARED_RECEIVES	1024
/* Receives that wait for echoes. */
#define PEER_RECEIVES		4
/* Bytes that each end of a connection has registered for itself. */
#define PEER_OWN_MEMORY		4096
/* Bytes of an operation at most, which is also what is registered for all others. */
#define PEER_MEMORY		(1024 * 1024)
/* Nothing takes so long, however busy the machine is. */
#define PEER_PATIENCE_S		600

/**
 * enum peer_kind - what connections are made of
 * @PEER_ONE: one connection, whose server sleeps until a message comes and answers it
 * @PEER_OWN: a completion queue, a receive queue and memory of its own at both ends
 * @PEER_SHARED: PEER_SHARE of them have a completion queue, and all a receive queue and
 *	memory, at both ends
 */
enum peer_kind {
	PEER_ONE,
	PEER_OWN,
	PEER_SHARED,
};

enum peer_op {
	PEER_WRITE,
	PEER_READ,
	PEER_FETCH_ADD,
};

/* What the client says with its request; both ends are on one machine. */
struct peer_hello {
	uint32_t kind;
	uint32_t index;
};

/**
 * struct peer_plan - which connections
 * @kind: what they are made of
 * @count: how many
 * @event: the client sleeps until something has completed; otherwise it asks without end
 */
struct peer_plan {
	enum peer_kind kind;
	unsigned int count;
	bool event;
};

/**
 * struct peer_batch - operations that are asked for at once
 * @op: what is done
 * @length: bytes of each
 * @count: how many, at most PEER_DEPTH
 * @first: the connection
 * @spread: each on a connection of its own, from @first on, and each tells its end;
 *	otherwise only the last one does
 * @wait: ends to wait for, which may be those of earlier batches; 0: not at all
 */
struct peer_batch {
	enum peer_op op;
	uint32_t length;
	unsigned int count;
	unsigned int first;
	bool spread;
	unsigned int wait;
};

/* The way to the device: one program implements it once. */
struct peer;
struct peer_conns;

extern const char *const peer_name;

/* Whether it has that operation at all: peer.c says yes for who says nothing else. */
bool peer_does(enum peer_op op);

/* Finds the device for the way to the server. */
struct peer *peer_open(const struct sockaddr_in *server);
void peer_close(struct peer *peer);

/* What connections share; none is there yet. */
struct peer_conns *peer_conns_new(struct peer *peer, const struct peer_plan *plan);
void peer_conns_free(struct peer_conns *conns);

/* All of them at once; returns when all are there, or none is left at this end. */
void peer_connect(struct peer_conns *conns, unsigned int first, unsigned int count);
void peer_disconnect(struct peer_conns *conns, unsigned int first, unsigned int count);

void peer_run(struct peer_conns *conns, const struct peer_batch *batch);

/*
 * PEER_ONE: a message of eight bytes, and the answer.  0 is answered by 0, anything else
 * by the moment (CLOCK_MONOTONIC) when the server had it.
 */
uint64_t peer_echo(struct peer_conns *conns, uint64_t ask);

/* With remote rights. */
void *peer_register(struct peer *peer, void *data, size_t length);
void peer_release(void *registered);

/* The other end, which sleeps unless it has something to do; never returns. */
void peer_serve(const struct sockaddr_in *address);

/* peer.c: for all. */
noreturn void peer_fail(const char *what, int err);
void *peer_alloc(size_t length);
uint64_t peer_now(void);
/* Nanoseconds that programs have run on all processors together. */
uint64_t peer_busy(void);
FILE *peer_proc(const char *name);

/* series.c: durations, and what is printed of them. */
struct series {
	unsigned int used, room;
	uint64_t *values;
};

void series_begin(struct series *series, unsigned int room);
void series_add(struct series *series, uint64_t value);
/* "time NAME COUNT MEAN MIN", percentiles and the largest; forgets them. */
void series_end(struct series *series, const char *name, double mean);
/* "value NAME VALUE" */
void value_print(const char *name, double value);

/* work.c, many.c: what is measured. */
struct work {
	struct peer *peer;
	unsigned int count;
	unsigned int conns;
	bool event;
	bool quick;
};

void work_latency(const struct work *work);
void work_echo(const struct work *work);
void work_depth(const struct work *work);
void work_bandwidth(const struct work *work);
void work_wake(const struct work *work);
void work_register(const struct work *work);
void work_connect(const struct work *work);
void work_many(const struct work *work);

/* footprint.c: the kernel's memory. */
#define FOOTPRINT_ITEMS	2048
#define FOOTPRINT_NAME	64

struct footprint {
	unsigned int count;
	struct {
		char name[FOOTPRINT_NAME];
		double bytes;
	} items[FOOTPRINT_ITEMS];
};

/* All of it, or no more than what footprint_kernel() wants. */
void footprint_sums(struct footprint *footprint);
void footprint_take(struct footprint *footprint);
/* What the kernel has of it: its objects, what it maps, and its tables. */
double footprint_kernel(const struct footprint *footprint);
/* By what it has grown, for each of @count connections, both ends in it: "value NAME.ITEM" */
void footprint_print(const struct footprint *before, const struct footprint *after,
		     const char *name, unsigned int count);

#endif /* _KRDMA_BENCH_PEER_H */
