/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the counting module share.
 *
 * Two ways lead to the same device: krdma's interface, and the verbs below it.  Each
 * does the same work in batches, and what the one takes more than the other is what
 * krdma costs.
 */
#ifndef _KRDMA_BENCH_COST_H
#define _KRDMA_BENCH_COST_H

#include <linux/in.h>
#include <linux/types.h>

/* The largest batch. */
#define COST_BATCH		64
/* Completions that are taken at a time. */
#define COST_POLL		16
/* For whatever has to happen elsewhere. */
#define COST_TIMEOUT_MS		20000
/* Bytes of every operation. */
#define COST_LENGTH		8
/* Memory on each side. */
#define COST_MEMORY		4096

/**
 * enum cost_work - what is done
 * @COST_WRITE: writes
 * @COST_READ: reads
 * @COST_FETCH_ADD: atomics
 * @COST_MESSAGE: a receive, the message that takes it, and both completions
 * @COST_WORKS: how many there are
 */
enum cost_work {
	COST_WRITE,
	COST_READ,
	COST_FETCH_ADD,
	COST_MESSAGE,
	COST_WORKS,
};

/**
 * struct cost_plan - what is measured
 * @address: where the device is
 * @conns: over how many connections operations go in turn
 * @instant: the device completes at once: nothing else has to run in between, and
 *	nothing does
 */
struct cost_plan {
	struct sockaddr_in address;
	unsigned int conns;
	bool instant;
};

/**
 * struct cost_way - a way to the device
 * @name: for the results
 * @begin: connects; the way's own data, or ERR_PTR
 * @run: asks for so much work, and waits until it is done; 0 or an errno
 * @end: releases all
 */
struct cost_way {
	const char *name;
	void *(*begin)(const struct cost_plan *plan);
	int (*run)(void *data, enum cost_work work, unsigned int count);
	void (*end)(void *data);
};

extern const struct cost_way cost_raw;
extern const struct cost_way cost_krdma;

/* Around asking: what the device does later it has done when cost_asked() returns. */
void cost_ask(const struct cost_plan *plan);
void cost_asked(const struct cost_plan *plan);
/* Nothing has completed since @since, of cost_now(): 0, or that it takes too long. */
int cost_patience(const struct cost_plan *plan, u64 since);
u64 cost_now(const struct cost_plan *plan);

#endif /* _KRDMA_BENCH_COST_H */
