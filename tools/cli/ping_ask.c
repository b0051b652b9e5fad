// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ping HOST: send messages until the count is reached, a stop is requested, or the peer is
 * gone.
 */
#include <errno.h>

#include "peer_stop.h"
#include "ping.h"

/* How long to wait for an answer after a stop is requested. */
#define GRACE_NS UINT64_C(1000000000)

uint64_t ping_patience(const struct ping *ping, uint64_t deadline)
{
	uint64_t grace;

	if (deadline > ping->end)
		deadline = ping->end;
	if (!stop_wanted())
		return deadline;
	grace = clock_ns() + GRACE_NS;
	return grace < deadline ? grace : deadline;
}

/* Each exchange starts one interval after the previous start, or at once if that took longer. */
static int exchange_all(struct ping *ping, const struct ping_protocol *protocol)
{
	const struct ping_settings *settings = ping->settings;
	uint64_t number, next;
	int err = 0;

	for (number = 1; !err && !stop_wanted() && clock_ns() < ping->end; number++) {
		next = clock_ns() + settings->interval;
		err = protocol->exchange(ping, number);
		if (err || (settings->count && number >= settings->count))
			break;
		if (settings->interval)
			err = protocol->rest(ping, next < ping->end ? next : ping->end);
	}
	return err;
}

static bool all_is_well(const struct ping *ping)
{
	return ping->transmitted && ping->answers[PING_ANSWERED] == ping->transmitted;
}

int ping_ask(const struct ping_settings *settings)
{
	const struct ping_protocol *protocol = settings->rping ? &ping_rping : &ping_echo;
	/* The statistics are too large for the stack. */
	static struct ping ping;
	uint64_t whole = settings->whole;
	int err;

	stop_catch();
	ping.settings = settings;
	ping.end = whole ? clock_ns() + whole : UINT64_MAX;
	ping.options = (struct peer_options) {
		.host = settings->host,
		.source = settings->source,
		.family = settings->family,
		.port = settings->port,
		.timeout = whole && whole < settings->timeout ? whole : settings->timeout,
		.send_depth = protocol->send_depth,
		.recv_depth = protocol->recv_depth,
		.plain = protocol->plain,
		.lane = settings->lane,
		.listener = protocol->listener,
	};
	stats_init(&ping.times);
	err = peer_open(&ping.peer, &ping.options);
	if (!err)
		err = protocol->open(&ping);
	if (err) {
		protocol->close(&ping);
		peer_close(&ping.peer);
		return EXIT_FAILED;
	}
	ping_report_begin(&ping);
	ping.begun = clock_ns();
	err = exchange_all(&ping, protocol);
	if (err && err != -EINTR && err != -EPROTO)
		peer_explain_end(&ping.peer);
	ping_report_end(&ping);
	protocol->close(&ping);
	peer_close(&ping.peer);
	return !err && all_is_well(&ping) ? EXIT_OK : EXIT_FAILED;
}
