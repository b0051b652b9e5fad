/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the compared programs have in common: the same work, measured by the same code, and below it
 * one way to the device each (tools/bench/thin: libkrdma's thin layer; tools/bench/verbs:
 * libibverbs and librdmacm; tools/bench/rpma: librpma).
 *
 * Any failure ends the program with a message: an incomplete comparison is of no use.
 */
#ifndef _KRDMA_BENCH_PEER_H
#define _KRDMA_BENCH_PEER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdnoreturn.h>

/* Send work requests in flight on a connection, and receives that it can have posted. */
#define PEER_DEPTH		64
/* Entries of a connection's own CQ. */
#define PEER_COMPLETIONS	(2 * PEER_DEPTH)
/* Connections with one CQ, if they share it. */
#define PEER_SHARE		256
/* Receives of an SRQ. */
#define PEER_SHARED_RECEIVES	1024
/* Receives for echoes. */
#define PEER_RECEIVES		4
/* Bytes of the MR of each end, if it has its own. */
#define PEER_OWN_MEMORY		4096
/* Maximum bytes of a work request, and bytes of the MR of all other connections. */
#define PEER_MEMORY		(1024 * 1024)
/* Nothing takes so long, however busy the machine is. */
#define PEER_PATIENCE_S		600

/**
 * enum peer_kind - the objects of connections
 * @PEER_ONE: one connection; its server sleeps until a message arrives and answers it
 * @PEER_OWN: a CQ, an RQ and an MR of its own at both ends
 * @PEER_SHARED: PEER_SHARE of them have one CQ, and all have one SRQ and one MR, at both ends
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

/* Private data of the client's request; both ends are on one machine. */
struct peer_hello {
	uint32_t kind;
	uint32_t index;
};

/**
 * struct peer_plan - the connections of a measurement
 * @kind: their objects
 * @count: number of connections
 * @event: the client sleeps until there is a completion; otherwise it polls all the time
 */
struct peer_plan {
	enum peer_kind kind;
	unsigned int count;
	bool event;
};

/**
 * struct peer_batch - work requests that are posted together
 * @op: the operation
 * @length: bytes of each
 * @count: number of work requests, at most PEER_DEPTH
 * @first: the connection
 * @spread: each on a connection of its own, from @first on, and each is signaled; otherwise
 *	only the last one is
 * @wait: completions to wait for, which may be those of earlier batches; 0 for none
 */
struct peer_batch {
	enum peer_op op;
	uint32_t length;
	unsigned int count;
	unsigned int first;
	bool spread;
	unsigned int wait;
};

/* The way to the device: each program implements it once. */
struct peer;
struct peer_conns;

extern const char *const peer_name;

/* Whether it has that operation.  The default in peer.c returns true. */
bool peer_does(enum peer_op op);

/* Finds the device for the way to the server. */
struct peer *peer_open(const struct sockaddr_in *server);
void peer_close(struct peer *peer);

/* Objects that connections share; no connection exists yet. */
struct peer_conns *peer_conns_new(struct peer *peer, const struct peer_plan *plan);
void peer_conns_free(struct peer_conns *conns);

/* All of them at the same time; return when all are established, or none is left at this end. */
void peer_connect(struct peer_conns *conns, unsigned int first, unsigned int count);
void peer_disconnect(struct peer_conns *conns, unsigned int first, unsigned int count);

void peer_run(struct peer_conns *conns, const struct peer_batch *batch);

/*
 * PEER_ONE: a message of eight bytes, and the answer.  The answer to 0 is 0, that to anything else
 * is the time (CLOCK_MONOTONIC) at which the server got it.
 */
uint64_t peer_echo(struct peer_conns *conns, uint64_t ask);

/* With remote access rights. */
void *peer_register(struct peer *peer, void *data, size_t length);
void peer_release(void *registered);

/* The other end, which sleeps when it is idle; never returns. */
void peer_serve(const struct sockaddr_in *address);

/* peer.c: for all programs. */
noreturn void peer_fail(const char *what, int err);
void *peer_alloc(size_t length);
uint64_t peer_now(void);
/* Nanoseconds that programs have run, on all processors together. */
uint64_t peer_busy(void);
FILE *peer_proc(const char *name);

/* series.c: durations, and their output. */
struct series {
	unsigned int used, room;
	uint64_t *values;
};

void series_begin(struct series *series, unsigned int room);
void series_add(struct series *series, uint64_t value);
/* Prints "time NAME COUNT MEAN MIN", percentiles and the maximum; empties the series. */
void series_end(struct series *series, const char *name, double mean);
/* Prints "value NAME VALUE". */
void value_print(const char *name, double value);

/* work.c, many.c: the measurements. */
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

/* Reads all items, or only those that footprint_kernel() needs. */
void footprint_sums(struct footprint *footprint);
void footprint_take(struct footprint *footprint);
/* Bytes of the kernel: its objects, its mappings, and its page tables. */
double footprint_kernel(const struct footprint *footprint);
/* Prints the growth for each of @count connections, both ends together: "value NAME.ITEM" */
void footprint_print(const struct footprint *before, const struct footprint *after,
		     const char *name, unsigned int count);

#endif /* _KRDMA_BENCH_PEER_H */
