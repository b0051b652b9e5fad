/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma bench: declarations that its files share.
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
/* The largest size of "all". */
#define BENCH_ALL_LENGTH	(UINT32_C(1) << 20)
#define BENCH_MAX_DEPTH		1024
#define BENCH_SIZES		32
#define BENCH_DEPTHS		8
/* Receives for a stream's credit messages, of which two can arrive at once. */
#define BENCH_CREDITS		4
/* As many as a listening side serves by default. */
#define BENCH_MAX_LANES		1000

enum bench_operation {
	BENCH_WRITE,
	BENCH_READ,
	BENCH_SEND,
	BENCH_ATOMIC,
	BENCH_CONNECT,
	BENCH_OPERATIONS,
};

/* In what a rate of bytes is printed. */
enum bench_unit {
	BENCH_MIB,
	BENCH_MB,
	BENCH_GBIT,
	BENCH_UNITS,
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
	/* A measurement ends when the first of both is reached; 0: no such limit. */
	uint64_t count;
	uint64_t time;
	uint64_t warmup;
	uint64_t timeout;
	bool polled;
	/* Connections to measure at a time, lanes unless @plain; 0: one, which is no lane. */
	uint64_t lanes;
	bool plain;
	/* With @listen: take lanes, too. */
	bool take_lanes;
	const char *plot;
	enum bench_unit unit;
	bool csv;
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
	/* Number of operations, and the nanoseconds that they took. */
	uint64_t count;
	uint64_t elapsed;
	enum bench_data data;
	/* Latency of each operation with depth 1; otherwise NULL. */
	struct stats *times;
};

struct bench {
	const struct bench_settings *settings;
	char address[PEER_TEXT];
	char name[2 * PEER_TEXT];
	char device[KRDMA_NAME_MAX + 1];
	uint32_t path_mtu;
	/* Number of the trunk that carries the lanes; 0: the connections are plain ones. */
	uint64_t trunk;
	struct bench_result *results;
	size_t result_count;
};

/* A connection, or several in turn, that measures one operation with one depth. */
struct meter {
	const struct bench_settings *settings;
	struct peer_options options;
	struct peer peer;
	enum bench_operation operation;
	uint32_t depth;
	uint32_t batch;
	/* Largest size, and size of the current measurement, in bytes. */
	uint32_t longest;
	uint32_t length;
	/* The first half is sent or written; the second half receives data. */
	struct krdma_mr *mr;
	/* With several connections: all of them, of which @peer has the one whose turn it is. */
	struct krdma_conn **conns;
	uint32_t conn_count;
	uint32_t turn;
	struct krdma_remote_mr remote;
	/* Entries of a batch. */
	struct krdma_sqe *entries;
	/* Messages of a stream for which the peer has posted receives. */
	uint64_t credits;
	/* Operations since connecting, compared with the counter of the peer. */
	uint64_t operated;
	/* Value of the peer's counter at the start. */
	uint64_t counted;
	uint64_t fill;
};

/* When a measurement ends. */
struct goal {
	uint64_t count;
	uint64_t until;
};

bool goal_reached(const struct goal *goal, uint64_t count);

extern const char * const bench_operation_names[BENCH_OPERATIONS];

/* bench_report.c: the units by name, and a rate in one of them. */
extern const char * const bench_unit_names[BENCH_UNITS];
double bench_in_unit(enum bench_unit unit, double bytes_per_second);

/* bench_ask.c and bench_listen.c: the two sides.  They return exit codes. */
int bench_ask(const struct bench_settings *settings);
int bench_listen(const struct bench_settings *settings);
/* bench_compare.c: print two results of "krdma bench -j" side by side.  Returns an exit code. */
int bench_compare(const struct bench_settings *settings, const char *old, const char *new);

/*
 * The functions below that return an int return 0 or a negative errno, after printing an error
 * message.  -EINTR: the user has stopped the program; no message is printed.
 */

/* bench_run.c: operate until the goal is reached.  @times may be NULL. */
int meter_run(struct meter *meter, const struct goal *goal, struct stats *times, uint64_t *count);
/* Post one work request and wait for its completion. */
int meter_operate(struct meter *meter, const struct krdma_sqe *entry);
/* Post a receive. */
int meter_post_receive(struct meter *meter);
/* Print why the connection failed with @err, and return @err. */
int meter_explain(struct meter *meter, int err);

/* bench_data.c: data before and after a measurement. */
int meter_prepare_data(struct meter *meter);
int meter_check_data(struct meter *meter, enum bench_data *data);

/* bench_ask.c: connect for the operation of the meter. */
int meter_connect(struct meter *meter);

/*
 * bench_connect.c: measure connecting instead of operations; and open and close the connections
 * that take turns.  The first one is open already, or NULL.
 */
int bench_connect(struct meter *meter, struct bench_result *result);
int meter_open_all(struct meter *meter, struct stats *times);
void meter_close_all(struct meter *meter);

/* bench_report.c */
void bench_report_begin(const struct bench *bench);
void bench_report(const struct bench *bench, const struct bench_result *result);
void bench_report_end(const struct bench *bench, bool complete);
uint64_t bench_per_second(uint64_t amount, uint64_t elapsed);

/* bench_plot.c: results as an SVG picture. */
int bench_plot(const struct bench *bench, FILE *file);

#endif /* KRDMA_CLI_BENCH_H */
