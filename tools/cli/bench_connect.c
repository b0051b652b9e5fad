// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench HOST connect: the time from an address to an accepted connection.
 */
#include "bench.h"
#include "peer_hello.h"
#include "peer_stop.h"

/* Measure the time from an address to an accepted connection.  The meter is not connected. */
static int connect_once(struct meter *meter, struct stats *times)
{
	static const struct hello hello = {
		.service = SERVICE_BENCH,
		.operation = OPERATION_CONNECT,
		.depth = 1,
	};
	uint64_t begun = clock_ns();
	uint8_t wire[HELLO_SIZE];
	int err = peer_begin(&meter->peer);

	if (err)
		return err;
	hello_encode(&hello, wire);
	err = peer_connect(&meter->peer, wire, sizeof(wire));
	if (err)
		return err;
	if (times)
		stats_add(times, clock_ns() - begun);
	err = peer_answer(&meter->peer, 0, NULL);
	peer_end(&meter->peer);
	return err;
}

/*
 * Connecting is slow: the number of operations that warms up the other measurements would take
 * very long here.  One connection is enough to warm up.
 */
int bench_connect(struct meter *meter, struct bench_result *result)
{
	const struct bench_settings *settings = meter->settings;
	struct goal goal = { .count = settings->count };
	uint64_t begun;
	int err = 0;

	/* This connection was only needed to learn the address and the device. */
	peer_end(&meter->peer);
	if (settings->warmup)
		err = connect_once(meter, NULL);
	begun = clock_ns();
	goal.until = settings->time ? begun + settings->time : UINT64_MAX;
	for (result->count = 0; !err && !goal_reached(&goal, result->count); result->count++)
		err = connect_once(meter, result->times);
	result->elapsed = clock_ns() - begun;
	return err;
}
