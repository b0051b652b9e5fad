/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for the files of the counting module.
 *
 * Two ways lead to the same device: krdma's interface, and the verbs below it.  Each does the same
 * work in batches.  The difference between them is the cost of krdma.  A third way is krdma's with
 * templates, which post what was prepared, and a fourth one is krdma's with an SRQ, from which the
 * messages of all connections take their receives.
 */
#ifndef _KRDMA_BENCH_COST_H
#define _KRDMA_BENCH_COST_H

#include <linux/bits.h>
#include <linux/in.h>
#include <linux/types.h>

/* The largest batch. */
#define COST_BATCH		64
/* Completions per poll. */
#define COST_POLL		16
/* Timeout for everything that happens elsewhere. */
#define COST_TIMEOUT_MS		20000
/* Bytes of every work request. */
#define COST_LENGTH		8
/* Memory on each side. */
#define COST_MEMORY		4096

/**
 * enum cost_work - kinds of work
 * @COST_WRITE: writes
 * @COST_READ: reads
 * @COST_FETCH_ADD: atomics
 * @COST_MESSAGE: a receive, the message that consumes it, and both completions
 * @COST_WORKS: number of kinds
 */
enum cost_work {
	COST_WRITE,
	COST_READ,
	COST_FETCH_ADD,
	COST_MESSAGE,
	COST_WORKS,
};

#define COST_ONE_SIDED	(BIT(COST_WRITE) | BIT(COST_READ) | BIT(COST_FETCH_ADD))

/**
 * struct cost_plan - what is measured
 * @address: address of the device
 * @conns: number of connections, which take turns
 * @instant: the device completes at once, so nothing else has to run in between, and nothing
 *	does
 */
struct cost_plan {
	struct sockaddr_in address;
	unsigned int conns;
	bool instant;
};

/**
 * struct cost_way - a way to the device
 * @name: name in the results
 * @works: bits of &enum cost_work that it has
 * @begin: connects; returns the way's own data, or ERR_PTR
 * @run: posts so much work, and waits until it is done; returns 0 or an errno
 * @end: releases everything
 */
struct cost_way {
	const char *name;
	u32 works;
	void *(*begin)(const struct cost_plan *plan);
	int (*run)(void *data, enum cost_work work, unsigned int count);
	void (*end)(void *data);
};

extern const struct cost_way cost_raw;
extern const struct cost_way cost_krdma;
extern const struct cost_way cost_krdma_template;
extern const struct cost_way cost_krdma_srq;

/* Measures how connections are opened and closed; 0 or an errno. */
int cost_measure_lanes(const struct cost_plan *plan);
/* Only lanes, so many at a time, a divisor of 60; 0 or an errno. */
int cost_measure_lane_batch(const struct cost_plan *plan, unsigned int batch);

/* Adds to the results. */
__printf(1, 2) void cost_log(const char *format, ...);

/* Called around posting.  When cost_asked() returns, the device has done its deferred work. */
void cost_ask(const struct cost_plan *plan);
void cost_asked(const struct cost_plan *plan);
/*
 * Called if nothing has completed since @since, of cost_now(): returns 0, or an errno after a
 * timeout.
 */
int cost_patience(const struct cost_plan *plan, u64 since);
u64 cost_now(const struct cost_plan *plan);

#endif /* _KRDMA_BENCH_COST_H */
