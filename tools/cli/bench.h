/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma bench: declarations that its files share.
 */
#ifndef KRDMA_CLI_BENCH_H
#define KRDMA_CLI_BENCH_H

#include <pthread.h>
#include <stdatomic.h>
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
/* As many as a listening side serves by default: lanes, and connections to one host. */
#define BENCH_MAX_LANES		1000
#define BENCH_MAX_CONNECTIONS	1000
#define BENCH_MAX_THREADS	64
#define BENCH_MAX_HOSTS		16
#define BENCH_MAX_LOAD		64
/* What each connection of --load writes. */
#define BENCH_LOAD_LENGTH	(UINT32_C(64) << 10)
#define BENCH_LOAD_DEPTH	16

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
	/* As given, and its words between commas. */
	const char *host;
	const char *hosts[BENCH_MAX_HOSTS];
	size_t host_count;
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
	/* To each host: measured connections, threads that share them, and others that write. */
	uint64_t connections;
	uint64_t threads;
	uint64_t load;
	/* Data goes in both directions. */
	bool both;
	/* Connections to measure in turn, lanes unless @plain; 0: one, which is no lane. */
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
	/* Latency of each batch, from its post on. */
	struct stats *times;
	/* Fewest and most operations of a connection. */
	uint64_t least;
	uint64_t most;
	/* Of all connections of --load. */
	uint64_t load_per_second;
};

/* The way to a host, as its first connection has found it. */
struct bench_way {
	char address[PEER_TEXT];
	char name[2 * PEER_TEXT];
	char device[KRDMA_NAME_MAX + 1];
	uint32_t path_mtu;
	/* Number of the trunk that carries the lanes; 0: the connections are plain ones. */
	uint64_t trunk;
};

struct bench {
	const struct bench_settings *settings;
	/* One for each host, once @found. */
	struct bench_way ways[BENCH_MAX_HOSTS];
	bool found;
	struct bench_result *results;
	size_t result_count;
};

struct crew;

/* A connection, or several in turn, that measures one operation with one depth. */
struct meter {
	const struct bench_settings *settings;
	struct crew *crew;
	/* Place in the crew, which is the upper half of the wr_id of each work request. */
	uint32_t index;
	/* It adds to the rate only: the other direction of an operation that was named. */
	bool opposite;
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
	/* Operations of the current run: posted, and completed. */
	uint64_t asked;
	uint64_t done;
	/* When the work requests in flight that will be noticed were posted: @depth places. */
	uint64_t *started;
	uint64_t begun;
	uint64_t ended;
	/* Messages of a stream for which the peer has posted receives. */
	uint64_t credits;
	/* Operations since connecting, compared with the counter of the peer. */
	uint64_t operated;
	/* Value of the peer's counter at the start. */
	uint64_t counted;
	uint64_t fill;
};

/* What the threads of a measurement have in common. */
struct group {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Crews, and those of them that have warmed up. */
	unsigned int crew_count;
	unsigned int ready;
	/* When all were ready. */
	uint64_t begin;
	/* The number of the first that has failed; only its errors are printed.  0: none. */
	atomic_int failed;
	/* The measurement is done: --load ends, too. */
	atomic_bool over;
};

/* A thread, and its meters, which share a ring and measure the same. */
struct crew {
	const struct bench_settings *settings;
	struct group *group;
	/* From 1 on. */
	int number;
	const char *host;
	enum bench_operation operation;
	uint32_t depth;
	/* Its connections are those of --load. */
	bool load;
	struct meter *meters;
	uint32_t meter_count;
	/* The meter that posts first; it changes, so that all have the same chances. */
	uint32_t turn;
	/* Entries of a batch. */
	struct krdma_sqe *entries;
	/* Parameters of a measurement, and what it has found. */
	uint64_t length;
	struct stats *times;
	uint64_t count;
	uint64_t end;
	enum bench_data data;
	pthread_t thread;
	bool started;
	int err;
};

/* When a run ends: at one of both, or when @over is true. */
struct goal {
	/* Of each connection; 0: none. */
	uint64_t count;
	uint64_t until;
	/* May be NULL. */
	const atomic_bool *over;
};

bool goal_reached(const struct crew *crew, const struct goal *goal, uint64_t count);

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

/* bench_run.c: all meters of a crew operate until the goal is reached.  @times may be NULL. */
int crew_run(struct crew *crew, const struct goal *goal, struct stats *times);
/* Post one work request and wait for its completion, while no other is in flight. */
int meter_operate(struct meter *meter, const struct krdma_sqe *entry);
uint64_t meter_wr_id(const struct meter *meter, uint32_t value);
/* Each message comes back. */
bool meter_echoes(const struct meter *meter);
/* Post @count receives. */
int meter_post_receives(struct meter *meter, uint32_t count);

/* bench_data.c: data before and after a measurement. */
int meter_prepare_data(struct meter *meter);
int meter_check_data(struct meter *meter, enum bench_data *data);

/*
 * bench_crew.c: the threads.  A crew is opened and closed by one thread; crews_measure() then runs
 * each in its own.
 */
int crew_open(struct crew *crew, struct bench_way *way);
void crew_close(struct crew *crew);
int crews_measure(struct crew *crews, size_t count, uint64_t length, struct bench_result *result);
/* The number of operations of a connection of the crew; 0: no limit. */
uint64_t crew_share(const struct crew *crew);
/* Wait until all crews are ready, and get the time at which the measurement begins. */
int crew_ready(struct crew *crew, uint64_t *begin);
int meter_connect(struct meter *meter);

/*
 * bench_connect.c: measure connecting instead of operations; and open and close the connections
 * that take turns.  The first one is open already, or NULL.
 */
int crew_connect(struct crew *crew);
int meter_open_all(struct meter *meter, struct stats *times);
void meter_close_all(struct meter *meter);

/* bench_report.c */
void bench_report_begin(const struct bench *bench);
void bench_report(const struct bench *bench, const struct bench_result *result);
void bench_report_end(const struct bench *bench, bool complete);
uint64_t bench_per_second(uint64_t amount, uint64_t elapsed);
uint64_t bench_bytes_per_second(const struct bench *bench, const struct bench_result *result);

/* bench_plot.c: results as an SVG picture. */
int bench_plot(const struct bench *bench, FILE *file);

#endif /* KRDMA_CLI_BENCH_H */
