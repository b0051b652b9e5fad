// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench HOST connect: the time from an address to an accepted connection; and connections
 * that take turns, which are opened one after the other.
 */
#include <errno.h>

#include "bench.h"
#include "peer_hello.h"
#include "peer_stop.h"

/* Connect and do nothing else. */
static int only_connect(struct meter *meter)
{
	static const struct hello hello = {
		.service = SERVICE_BENCH,
		.operation = OPERATION_CONNECT,
		.depth = 1,
	};
	uint8_t wire[HELLO_SIZE];

	hello_encode(&hello, wire);
	return peer_connect(&meter->peer, wire, sizeof(wire));
}

/* Measure the time from an address to an accepted connection.  The meter is not connected. */
static int open_one(struct meter *meter, struct stats *times)
{
	uint64_t begun = clock_ns();
	int err = peer_begin(&meter->peer);

	if (err)
		return err;
	if (meter->operation != BENCH_CONNECT)
		return meter_connect(meter);
	err = only_connect(meter);
	if (err)
		return err;
	if (times)
		stats_add(times, clock_ns() - begun);
	return peer_answer(&meter->peer, 0, NULL);
}

int meter_open_all(struct meter *meter, struct stats *times)
{
	uint32_t i;
	int err = 0;

	for (i = meter->conns[0] ? 1 : 0; !err && i < meter->conn_count; i++) {
		meter->peer.conn = NULL;
		err = open_one(meter, times);
		meter->conns[i] = meter->peer.conn;
		if (!err && stop_wanted())
			err = -EINTR;
	}
	return err;
}

void meter_close_all(struct meter *meter)
{
	uint32_t i;

	/* The current one is one of them, or there are none. */
	for (i = 0; i < meter->conn_count && meter->conns; i++) {
		if (!meter->conns[i])
			continue;
		meter->peer.conn = meter->conns[i];
		peer_end(&meter->peer);
		meter->conns[i] = NULL;
	}
	peer_end(&meter->peer);
}

/* The connection of each meter, or all that take turns, open and closed again. */
static int connect_once(struct crew *crew, struct stats *times, uint64_t *count)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < crew->meter_count; i++) {
		struct meter *meter = &crew->meters[i];

		if (meter->conns) {
			err = meter_open_all(meter, times);
			*count += err ? 0 : meter->conn_count;
			meter_close_all(meter);
		} else {
			err = open_one(meter, times);
			*count += err ? 0 : 1;
			peer_end(&meter->peer);
		}
		meter->operated += !err;
	}
	return err;
}

/*
 * Connecting is slow: the number of operations that warms up the other measurements would take
 * very long here.  One connection of each meter, or all of them once, is enough to warm up.
 */
int crew_connect(struct crew *crew)
{
	const struct bench_settings *settings = crew->settings;
	struct goal goal = { .count = crew_share(crew) };
	uint64_t begin, warm = 0;
	uint32_t i;
	int err = 0;

	/* These connections were only needed to learn the address and the device. */
	for (i = 0; i < crew->meter_count; i++)
		peer_end(&crew->meters[i].peer);
	if (settings->warmup)
		err = connect_once(crew, NULL, &warm);
	if (!err)
		err = crew_ready(crew, &begin);
	if (err)
		return err;
	for (i = 0; i < crew->meter_count; i++)
		crew->meters[i].operated = 0;
	goal.until = settings->time ? begin + settings->time : UINT64_MAX;
	goal.count *= crew->meter_count;
	while (!err && !goal_reached(crew, &goal, crew->count))
		err = connect_once(crew, crew->times, &crew->count);
	crew->end = clock_ns();
	return err;
}
