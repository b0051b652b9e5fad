/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma bench: what its files share.
 */
#ifndef KRDMA_CLI_BENCH_H
#define KRDMA_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli.h"
#include "krdma_entry.h"
#include "peer.h"
#include "stats.h"

#define BENCH_PORT		7178
#define BENCH_MAX_LENGTH	(UINT32_C(16) << 20)
/* What "all" goes to. */
#define BENCH_ALL_LENGTH	(UINT32_C(1) << 20)
#define BENCH_MAX_DEPTH		1024
#define BENCH_SIZES		32
#define BENCH_DEPTHS		8
/* Receives for what a stream's peer says: two messages can be there at once. */
#define BENCH_CREDITS		4

enum bench_operation {
	BENCH_WRITE,
	BENCH_READ,
	BENCH_SEND,
	BENCH_ATOMIC,
	BENCH_CONNECT,
	BENCH_OPERATIONS,
};

struct bench_settings {
	const struct options *common;
	const char *host;
	const char *source;
	int family;
	uint16_t port;
	enum bench_operation operations[BENCH_OPERATIONS];
	size_t operation_count;
	uint64_t sizes[BENCH_SIZES];
	size_t size_count;
	uint64_t depths[BENCH_DEPTHS];
	size_t depth_count;
	uint64_t batch;
	/* Each measurement ends with the one or with the other; 0: not by that one. */
	uint64_t count;
	uint64_t time;
	uint64_t warmup;
	uint64_t timeout;
	bool polled;
	const char *plot;
	bool listen;
	bool quiet;
	uint64_t max_clients;
	uint64_t max_memory;
	uint64_t max_length;
};

enum bench_data {
	BENCH_UNCHECKED,
	BENCH_RIGHT,
	BENCH_WRONG,
};

struct bench_result {
	enum bench_operation operation;
	uint64_t length;
	uint64_t depth;
	uint64_t batch;
	/* How many, and how long that took. */
	uint64_t count;
	uint64_t elapsed;
	enum bench_data data;
	/* Of each, where they were done one by one; otherwise NULL. */
	struct stats *times;
};

struct bench {
	const struct bench_settings *settings;
	char address[PEER_TEXT];
	char name[2 * PEER_TEXT];
	char device[KRDMA_NAME_MAX + 1];
	uint32_t path_mtu;
	struct bench_result *results;
	size_t result_count;
};

/* A connection on which one operation is measured, with one depth. */
struct lane {
	const struct bench_settings *settings;
	struct peer_options options;
	struct peer peer;
	enum bench_operation operation;
	uint32_t depth;
	uint32_t batch;
	/* The longest, and that of now. */
	uint32_t longest;
	uint32_t length;
	/* What goes there in its first half, what comes back in its second. */
	struct krdma_mr *mr;
	struct krdma_remote_mr remote;
	/* A batch. */
	struct krdma_sqe *entries;
	/* Messages of a stream that the peer has room for. */
	uint64_t credits;
	/* Operations since the connection was made, for what is counted there. */
	uint64_t operated;
	/* What the peer's counter was before. */
	uint64_t counted;
	uint64_t fill;
};

/* When a measurement has its end. */
struct goal {
	uint64_t count;
	uint64_t until;
};

bool goal_reached(const struct goal *goal, uint64_t count);

extern const char * const bench_operation_names[BENCH_OPERATIONS];

/* bench_ask.c and bench_listen.c: the two sides; exit codes. */
int bench_ask(const struct bench_settings *settings);
int bench_listen(const struct bench_settings *settings);

/*
 * What returns an int from here on returns 0 or a negative errno, and has said why;
 * -EINTR: the end is wanted, nothing is said.
 */

/* bench_run.c: operate until the goal is reached; times, if they are wanted. */
int lane_run(struct lane *lane, const struct goal *goal, struct stats *times, uint64_t *count);
/* One operation, as an entry of @lane's. */
int lane_operate(struct lane *lane, const struct krdma_sqe *entry);
/* Room for a message that comes. */
int lane_post_receive(struct lane *lane);
/* What went wrong with the connection. */
int lane_explain(struct lane *lane, int err);

/* bench_data.c: before and after what is measured. */
int lane_prepare_data(struct lane *lane);
int lane_check_data(struct lane *lane, enum bench_data *data);

/* bench_connect.c: connections instead of operations. */
int bench_connect(struct lane *lane, struct bench_result *result);

/* bench_report.c */
void bench_report_begin(const struct bench *bench);
void bench_report(const struct bench *bench, const struct bench_result *result);
void bench_report_end(const struct bench *bench, bool complete);
uint64_t bench_per_second(uint64_t amount, uint64_t elapsed);

/* bench_plot.c: what was measured, as a picture. */
int bench_plot(const struct bench *bench, FILE *file);

#endif /* KRDMA_CLI_BENCH_H */
