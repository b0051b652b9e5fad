/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma ping: declarations that its files share.
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
/* Maximum number of messages of one side in flight. */
#define PING_WINDOW		8

/* Message lengths of programs that speak rping's format. */
#define RPING_MIN_LENGTH	16
#define RPING_MAX_LENGTH	65536

struct ping_settings {
	const struct options *common;
	const char *host;
	const char *source;
	int family;
	uint16_t port;
	/* Number of messages; 0 for no limit. */
	uint64_t count;
	uint64_t interval;
	uint64_t timeout;
	/* From the start to the end, in ns; 0 for no limit. */
	uint64_t whole;
	/* Print the time of day before each message's line. */
	bool stamped;
	uint64_t length;
	bool listen;
	bool rping;
	/* Over a lane; with @listen: take lanes, too. */
	bool lane;
	bool quiet;
	uint64_t max_clients;
	uint64_t max_memory;
	uint64_t max_length;
};

enum ping_answer {
	PING_ANSWERED,
	/* Answered with other data. */
	PING_WRONG,
	/* Not answered in time. */
	PING_UNANSWERED,
	/* Not sent, because PING_WINDOW messages are unanswered. */
	PING_UNSENT,
	/* Late answer to an earlier message that was reported as unanswered. */
	PING_LATE,
	PING_ANSWERS,
};

struct ping {
	const struct ping_settings *settings;
	struct peer_options options;
	struct peer peer;
	struct stats times;
	uint64_t begun;
	/* When to end; UINT64_MAX for no limit. */
	uint64_t end;
	uint64_t transmitted;
	uint64_t answers[PING_ANSWERS];
	/* State of the protocol. */
	void *state;
};

/* Protocol for exchanging messages: krdma's own, or rping's. */
struct ping_protocol {
	uint32_t send_depth;
	uint32_t recv_depth;
	bool plain;
	const char *listener;
	/* Connect; prints its errors. */
	int (*open)(struct ping *ping);
	/*
	 * Send one message, and report its answer or that there is none.  An error ends the ping.
	 * For errors other than -EINTR (a stop is requested) and -EPROTO (already explained) the
	 * caller calls peer_explain_end().
	 */
	int (*exchange)(struct ping *ping, uint64_t number);
	/* Wait until @until; take late answers, but send nothing.  Errors as for exchange(). */
	int (*rest)(struct ping *ping, uint64_t until);
	/* Also called if open() has failed. */
	void (*close)(struct ping *ping);
};

extern const struct ping_protocol ping_echo;
extern const struct ping_protocol ping_rping;

/* The client and the two servers; they return exit codes. */
int ping_ask(const struct ping_settings *settings);
int ping_listen(const struct ping_settings *settings);
int ping_rping_listen(const struct ping_settings *settings);

void ping_report_begin(const struct ping *ping);
/* Report an answer after @ns; without an answer, @ns is how long the client has waited. */
void ping_report(struct ping *ping, uint64_t number, enum ping_answer answer, uint64_t ns);
void ping_report_end(const struct ping *ping);

/* Return when to give up waiting: earlier than @deadline if a stop is requested, or at the end. */
uint64_t ping_patience(const struct ping *ping, uint64_t deadline);

#endif /* KRDMA_CLI_PING_H */
