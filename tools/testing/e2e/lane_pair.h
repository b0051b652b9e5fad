/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pairs of ends that are lanes.  Calls return 0 or a negative errno.
 */
#ifndef KRDMA_E2E_LANE_PAIR_H
#define KRDMA_E2E_LANE_PAIR_H

#include "pair.h"

/* Bytes of the memory that the tests use. */
#define LENGTH		(64 * 4096)
/* A little more than a fast registration covers, over rxe. */
#define LONG_LENGTH	(5 << 20)

/* A lane between two sessions. */
extern const struct pair_options lane_options;

/* Memory for lanes, of one of the sessions of a pair. */
int lane_memory(struct pair *pair, int side, size_t length, struct mr *mr);

/* The same with all rights of peers. */
int memory_for_peers(struct pair *pair, int side, size_t length, struct mr *mr);

/* Sends @length bytes, and checks both completions and the data, which are at @place. */
int message(struct end *from, const struct mr *source, struct end *to, struct mr *target,
	    size_t place, uint32_t length);

#endif
