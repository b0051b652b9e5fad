// SPDX-License-Identifier: GPL-2.0
/* Connections: the time to establish and to end them, and the memory of a thousand of them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "peer.h"

/* So many are begun before the first wait. */
#define AT_ONCE		64
/* Time for deferred work to end, such as memory that is freed later. */
#define SETTLE_US	300000

static const char *const kind_names[] = {
	[PEER_OWN] = "own", [PEER_SHARED] = "shared",
};

static void cycles(const struct work *work, enum peer_kind kind, unsigned int at_once)
{
	/* If connections share an object, one more connection keeps it alive. */
	const struct peer_plan plan = { .kind = kind, .count = at_once + 1 };
	struct peer_conns *conns = peer_conns_new(work->peer, &plan);
	unsigned int rounds = work->count / (10 * at_once) + 1, i;
	uint64_t sum = 0, before, took, busy;
	struct series series;
	char name[64];

	peer_connect(conns, at_once, 1);
	peer_connect(conns, 0, at_once);
	peer_disconnect(conns, 0, at_once);
	series_begin(&series, rounds);
	busy = peer_busy();
	for (i = 0; i < rounds; i++) {
		before = peer_now();
		peer_connect(conns, 0, at_once);
		peer_disconnect(conns, 0, at_once);
		took = (peer_now() - before) / at_once;
		sum += took;
		series_add(&series, took);
	}
	busy = peer_busy() - busy;
	snprintf(name, sizeof(name), "connect.%s.at-once=%u.busy", kind_names[kind], at_once);
	value_print(name, (double)busy / ((double)rounds * at_once));
	snprintf(name, sizeof(name), "connect.%s.at-once=%u", kind_names[kind], at_once);
	series_end(&series, name, (double)sum / rounds);
	peer_disconnect(conns, at_once, 1);
	peer_conns_free(conns);
}

void work_connect(const struct work *work)
{
	cycles(work, PEER_OWN, 1);
	cycles(work, PEER_OWN, AT_ONCE);
	if (work->quick)
		return;
	cycles(work, PEER_SHARED, 1);
	cycles(work, PEER_SHARED, AT_ONCE);
}

static unsigned int chunk(const struct peer_plan *plan, unsigned int first)
{
	return plan->count - first < AT_ONCE ? plan->count - first : AT_ONCE;
}

/* Writes in batches, each on a connection of its own; returns nanoseconds of one. */
static double spread(const struct work *work, struct peer_conns *conns,
		     const struct peer_plan *plan, bool over_all)
{
	struct peer_batch batch = { .op = PEER_WRITE, .length = 8, .spread = true };
	unsigned int rounds = 4 * work->count / plan->count + 2, done = 0, i;
	uint64_t began = 0;

	/* The first round is for warming up. */
	for (i = 0; i <= rounds; i++) {
		if (i == 1)
			began = peer_now();
		for (unsigned int at = 0; at < plan->count; at += batch.count) {
			batch.count = chunk(plan, at);
			batch.wait = over_all ? batch.count : 1;
			batch.spread = over_all;
			batch.first = over_all ? at : 0;
			peer_run(conns, &batch);
			done += i ? batch.count : 0;
		}
	}
	return (double)(peer_now() - began) / done;
}

static void print_growth(const struct footprint *before, const char *kind, unsigned int conns)
{
	static struct footprint now;
	char name[64];

	footprint_sums(&now);
	snprintf(name, sizeof(name), "grown.%s.%u", kind, conns);
	value_print(name, footprint_kernel(&now) - footprint_kernel(before));
}

static void many(const struct work *work, enum peer_kind kind)
{
	const struct peer_plan plan = { .kind = kind, .count = work->conns };
	/* Static, so that they exist before anything is counted. */
	static struct footprint before, after;
	struct peer_conns *conns;
	unsigned int at;
	char name[64];
	uint64_t began, took = 0;

	usleep(SETTLE_US);
	footprint_take(&after);
	footprint_take(&before);
	conns = peer_conns_new(work->peer, &plan);
	for (at = 0; at < plan.count; at += AT_ONCE) {
		began = peer_now();
		peer_connect(conns, at, chunk(&plan, at));
		took += peer_now() - began;
		print_growth(&before, kind_names[kind], at + chunk(&plan, at));
	}
	snprintf(name, sizeof(name), "open.%s.%u", kind_names[kind], plan.count);
	value_print(name, (double)took / plan.count);

	usleep(SETTLE_US);
	footprint_take(&after);
	snprintf(name, sizeof(name), "memory.%s.%u", kind_names[kind], plan.count);
	footprint_print(&before, &after, name, plan.count);

	if (kind == PEER_SHARED) {
		snprintf(name, sizeof(name), "write.8.over=%u", plan.count);
		value_print(name, spread(work, conns, &plan, true));
		snprintf(name, sizeof(name), "write.8.over=1of%u", plan.count);
		value_print(name, spread(work, conns, &plan, false));
	}

	began = peer_now();
	for (at = 0; at < plan.count; at += AT_ONCE)
		peer_disconnect(conns, at, chunk(&plan, at));
	snprintf(name, sizeof(name), "close.%s.%u", kind_names[kind], plan.count);
	value_print(name, (double)(peer_now() - began) / plan.count);
	peer_conns_free(conns);
}

void work_many(const struct work *work)
{
	many(work, PEER_OWN);
	many(work, PEER_SHARED);
}
