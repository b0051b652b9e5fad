/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma ping: what its files share.
 */
#ifndef KRDMA_CLI_PING_H
#define KRDMA_CLI_PING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "peer.h"
#include "stats.h"

#define PING_PORT		7177
#define RPING_PORT		7174

#define PING_MAX_LENGTH		(UINT32_C(1) << 20)
/* Messages of one side that can be under way. */
#define PING_WINDOW		8

/* What the programs that speak rping's format can do. */
#define RPING_MIN_LENGTH	16
#define RPING_MAX_LENGTH	65536

struct ping_settings {
	const struct options *common;
	const char *host;
	const char *source;
	int family;
	uint16_t port;
	/* 0: until the end is wanted. */
	uint64_t count;
	uint64_t interval;
	uint64_t timeout;
	uint64_t length;
	bool listen;
	bool rping;
	bool quiet;
	uint64_t max_clients;
	uint64_t max_memory;
	uint64_t max_length;
};

enum ping_answer {
	PING_ANSWERED,
	/* Answered, with other data. */
	PING_WRONG,
	/* Not in time. */
	PING_UNANSWERED,
	/* Not even sent: too many wait for an answer. */
	PING_UNSENT,
	/* An answer to an earlier message, that had been given up. */
	PING_LATE,
	PING_ANSWERS,
};

struct ping {
	const struct ping_settings *settings;
	struct peer_options options;
	struct peer peer;
	struct stats times;
	uint64_t begun;
	uint64_t transmitted;
	uint64_t answers[PING_ANSWERS];
	/* Of the protocol. */
	void *state;
};

/* How messages are exchanged: krdma's own way, and rping's. */
struct ping_protocol {
	uint32_t send_depth;
	uint32_t recv_depth;
	bool plain;
	const char *listener;
	/* Connect; it complains. */
	int (*open)(struct ping *ping);
	/*
	 * One message and its answer, or that there is none, to the report.  An error is the
	 * end: -EINTR quietly; otherwise peer_explain_end() is to be called for all but
	 * -EPROTO, which has been explained.
	 */
	int (*exchange)(struct ping *ping, uint64_t number);
	/* Until then nothing is sent; late answers are taken.  Errors as of exchange(). */
	int (*rest)(struct ping *ping, uint64_t until);
	/* Also after open() has failed. */
	void (*close)(struct ping *ping);
};

extern const struct ping_protocol ping_echo;
extern const struct ping_protocol ping_rping;

/* The side that asks, and those that listen; exit codes. */
int ping_ask(const struct ping_settings *settings);
int ping_listen(const struct ping_settings *settings);
int ping_rping_listen(const struct ping_settings *settings);

void ping_report_begin(const struct ping *ping);
/* An answer after @ns; of one that did not come, how long it was waited for. */
void ping_report(struct ping *ping, uint64_t number, enum ping_answer answer, uint64_t ns);
void ping_report_end(const struct ping *ping);

/* When to give up waiting: earlier if the end is wanted. */
uint64_t ping_patience(uint64_t deadline);

#endif /* KRDMA_CLI_PING_H */
