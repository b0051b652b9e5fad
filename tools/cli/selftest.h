/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: declarations that its files share.
 *
 * A test has two ends.  The near end is this process and runs the checks.  The far end is a child
 * of it, or a process of "krdma selftest --listen" on another machine, and carries out requests
 * that the near end sends over a socket (selftest_wire.h).  Each check begins with new sessions
 * at both ends, so that a failed check does not affect the next one.
 *
 * Unless its comment says otherwise, a function that returns int returns 0; -EINTR if a stop is
 * requested; or another negative errno after check_fail() has recorded the failure.
 */
#ifndef KRDMA_CLI_SELFTEST_H
#define KRDMA_CLI_SELFTEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "cli.h"
#include "krdma_entry.h"
#include "peer.h"
#include "selftest_pattern.h"
#include "selftest_wire.h"

struct json_object;
struct selftest;

#define SELFTEST_PORT	7179
#define SELFTEST_TEXT	200
/* The check that runs only with --unplug. */
#define SELFTEST_UNPLUG	"unplug"

/* Bytes that each end registers for most checks; the far end with all remote access rights. */
#define AREA		((size_t)(1 << 20) + (64 << 10))
/* Numbers of the far end's memories: the area, and a second one. */
#define FAR_AREA	0
#define FAR_OTHER	1

#define try(call) do {			\
	int try_err = (call);		\
					\
	if (try_err)			\
		return try_err;		\
} while (0)

struct selftest_settings {
	const struct options *common;
	const char *device;
	const char *peer;
	const char *source;
	const char *report;
	/* Only run checks whose names begin with this; NULL for all. */
	const char *only;
	int family;
	uint16_t port;
	uint64_t timeout;
	/* Time limit for all checks, in ns. */
	uint64_t time;
	/* Maximum bytes that each end registers at a time; also limits the longest message. */
	uint64_t mr;
	uint64_t seed;
	uint32_t cycles;
	bool addresses;
	bool unplug;
	bool serve;
	bool quiet;
	bool list;
	uint64_t max_memory;
};

enum check_result {
	CHECK_PASSED,
	CHECK_FAILED,
	/* The device does not support what the check tests. */
	CHECK_NOT_OFFERED,
	/* The check could not be run, for a reason other than the device. */
	CHECK_NOT_RUN,
	/* The check runs only on request. */
	CHECK_NOT_ASKED,
	CHECK_RESULTS,
};

struct check {
	const char *name;
	/* Capability bits that both devices need; without them the check is not offered. */
	uint64_t caps;
	/* The transport over which the check is not offered; 0 if it is offered over all. */
	uint32_t not_transport;
	/* Do not create the memory areas and the connection before the check. */
	bool bare;
	int (*run)(struct selftest *test);
};

/* A connection, seen from the near end. */
struct link {
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	/* Its number at the far end. */
	unsigned int far;
	/* Limits granted to the connection at both ends. */
	struct krdma_conn_query_args is;
	uint32_t far_send_depth;
	uint32_t far_recv_depth;
	uint32_t far_send_sge;
	uint32_t far_recv_sge;
};

/* Properties of a link; 0 means the default of the interface. */
struct link_options {
	uint32_t send_depth;
	uint32_t recv_depth;
	uint32_t send_sge;
	uint32_t recv_sge;
	uint32_t max_inline;
	/* &enum far_accept_flags */
	uint32_t far_flags;
	bool polled;
	bool no_rnr;
};

struct selftest {
	const struct selftest_settings *settings;
	uint64_t ends;
	uint64_t next_nonce;
	uint64_t next_wr_id;
	uint64_t next_seed;

	/* selftest_far_end.c: the far end; @child is 0 if it is on another machine. */
	int channel;
	pid_t child;
	struct sockaddr_storage far_address;
	char far_version[32];
	/* Limits and capabilities of its device, from the last FAR_RESET. */
	uint64_t far_caps;
	uint32_t far_recv_wr;
	uint32_t far_recv_sge;
	uint32_t far_send_wr;
	uint32_t far_srq_wr;
	uint32_t far_transport;
	uint64_t far_mr_size;

	/* The near end: up to @info for the whole run, from @session for one check. */
	struct sockaddr_storage address;
	struct krdma_device_query_args device;
	struct krdma_port_query_args port;
	struct krdma_info_args info;
	struct krdma *session;
	struct link link;
	struct krdma_mr *area;
	struct krdma_remote_mr far_area;

	/* selftest_report.c: results. */
	const struct check *check;
	struct json_object *checks;
	struct json_object *figures;
	char text[SELFTEST_TEXT];
	bool failed;
	bool left_out;
	bool not_offered;
	unsigned int counts[CHECK_RESULTS];
	bool unplugged;
	char next_command[256];
};

/* The tables of checks, in the order in which they run; each ends with an entry without name. */
extern const struct check selftest_message_checks[];
extern const struct check selftest_rdma_checks[];
extern const struct check selftest_atomic_checks[];
extern const struct check selftest_limit_checks[];
extern const struct check selftest_memory_checks[];
extern const struct check selftest_end_checks[];

/* selftest_serve.c: run --listen.  Returns an exit code. */
int selftest_serve(const struct selftest_settings *settings);

/* selftest_run.c: run all checks, or list them.  Both return an exit code. */
int selftest_run(const struct selftest_settings *settings);
int selftest_list(void);

/* The errno with which a connection ends over this device when the peer ends it. */
static inline int peer_ended(const struct selftest *test)
{
	return test->device.transport == KRDMA_TRANSPORT_IWARP ? -ECONNRESET : -EPIPE;
}

/* selftest_device.c: find the device and its address, and describe it in the report. */
int device_find(struct selftest *test);
void device_json(const struct selftest *test, struct json_object *object);
/* Run @command in the background, without this process's sessions and sockets.  PID, or -1. */
pid_t run_in_shell(const char *command);
/* Build the commands that remove the device and bring it back; false if they are not known. */
bool device_unplug_commands(const struct selftest *test, char *remove, char *bring_back,
			    size_t size);

/* selftest_report.c */

/* Record a failure of the check; only the first one is kept.  Returns -EPROTO. */
ATTRIBUTE(format(printf, 2, 3)) int check_fail(struct selftest *test, const char *format, ...);
/* Record that a call failed unexpectedly with @err.  Returns @err. */
int check_errno(struct selftest *test, const char *what, int err);
/* Set the text for the line of a check that passes. */
ATTRIBUTE(format(printf, 2, 3)) void check_say(struct selftest *test, const char *format, ...);
/* Record why the check cannot be run here.  Returns -ECANCELED. */
ATTRIBUTE(format(printf, 2, 3))
int check_leave_out(struct selftest *test, const char *format, ...);
/* Record that the device turned out not to support it.  Returns -EOPNOTSUPP. */
ATTRIBUTE(format(printf, 2, 3))
int check_not_offered(struct selftest *test, const char *format, ...);
/* Record why @length bytes cannot be registered: a limit of the user, or a failure. */
int memory_refused(struct selftest *test, uint64_t length, int err);
/* Add a figure to the report. */
void check_figure(struct selftest *test, const char *name, uint64_t value);
void check_figure_text(struct selftest *test, const char *name, const char *value);
/* Check that a call returned the documented error: @got must equal @expected. */
int check_refused(struct selftest *test, const char *what, int expected, int got);

void report_begin(const struct selftest *test);
void report_check(struct selftest *test, enum check_result result, uint64_t ns);
/* Print the summary and write the report file.  Returns an exit code. */
int report_end(struct selftest *test, bool complete);

/* selftest_far_end.c */
int far_start(struct selftest *test);
void far_stop(struct selftest *test);
int far_call(struct selftest *test, const struct wire_words *in, struct wire_words *out);
/* The two halves of far_call(), for a request whose answer is received later. */
int far_ask(struct selftest *test, const struct wire_words *in);
int far_answer(struct selftest *test, struct wire_words *out);

/* selftest_link.c: connections, and work requests over them. */

/* Create sessions at both ends and, unless the check is bare, memory and a connection. */
int near_begin(struct selftest *test);
void near_end(struct selftest *test);
int link_open(struct selftest *test, struct link *link, unsigned int far,
	      const struct link_options *options);
/* As link_open(), but an error of connecting goes to *@result and is not a failure. */
int link_try(struct selftest *test, struct link *link, unsigned int far,
	     const struct link_options *options, int *result);
void link_close(struct link *link);
/* Disconnect, and check that both ends see it. */
int link_end(struct selftest *test, struct link *link);
/* Wait until both ends are closed, for any reason; set @near and @far to the errnos. */
int link_await_end(struct selftest *test, struct link *link, int *near, int *far);

/* Post @count work requests; a refusal is a failure. */
int op_post(struct selftest *test, struct link *link, const struct krdma_sqe *entries,
	    size_t count);
/* Check that posting is refused with errno @expected. */
int op_refused(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	       int expected);
/* Take the next completion, with any status. */
int op_take(struct selftest *test, struct link *link, struct krdma_cqe *cqe);
/* Check that the next completion is that of @entry, and successful. */
int op_done(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	    uint32_t length);
/* op_post() of one work request, then op_done(). */
int op_do(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	  uint32_t length);
/* Flush: make sure that earlier writes have arrived at the far end. */
int op_flush(struct selftest *test, struct link *link, const struct krdma_remote_mr *remote);
uint64_t op_wr_id(struct selftest *test);

/* Build entries that transfer between the areas, at offsets @near and @far. */
struct krdma_sqe op_send(struct selftest *test, struct link *link, size_t near, uint32_t length);
struct krdma_sqe op_remote(struct selftest *test, struct link *link, uint8_t opcode, size_t near,
			   size_t far, uint32_t length);

/* Fill and check the pattern at either end; a difference is a failure. */
uint64_t new_seed(struct selftest *test);
uint8_t *near_data(const struct selftest *test, size_t offset);
int near_check(struct selftest *test, size_t offset, size_t length, uint64_t seed,
	       const char *what);
int far_fill(struct selftest *test, unsigned int mr, size_t offset, size_t length,
	     uint64_t seed);
int far_clear(struct selftest *test, unsigned int mr, size_t offset, size_t length,
	      uint64_t seed);
int far_check(struct selftest *test, unsigned int mr, size_t offset, size_t length,
	      uint64_t seed, const char *what);
/* Check that nothing has been written there since far_clear(). */
int far_check_clear(struct selftest *test, unsigned int mr, size_t offset, size_t length,
		    uint64_t seed, const char *what);
int far_peek(struct selftest *test, size_t offset, uint64_t *value);
int far_poke(struct selftest *test, size_t offset, uint64_t value);

int far_register(struct selftest *test, unsigned int mr, uint64_t length, uint64_t offset,
		 uint32_t access, struct krdma_remote_mr *remote, int *result);
int far_release(struct selftest *test, unsigned int mr);
int far_receive(struct selftest *test, unsigned int conn, size_t offset, uint32_t length,
		uint32_t stride, uint32_t count, uint32_t sges);
int far_send(struct selftest *test, unsigned int conn, size_t offset, uint32_t length,
	     uint32_t stride, uint32_t count);

struct far_cqe {
	uint64_t wr_id;
	uint8_t opcode;
	uint8_t status;
	uint16_t flags;
	uint32_t length;
	uint32_t imm;
	uint64_t conn;
};

/* Take the far end's next completion, with any status. */
int far_take(struct selftest *test, unsigned int conn, struct far_cqe *cqe);
/* Check that the far end's next completion is a successful receive of @length bytes. */
int far_received(struct selftest *test, unsigned int conn, uint32_t length, uint16_t flags,
		 uint32_t imm);

/* Collect the sizes worth testing, from 0 to @longest in ascending order.  Returns the count. */
#define SIZES_MAX 24
size_t message_sizes(const struct selftest *test, const struct link *link, uint32_t longest,
		     uint32_t sizes[SIZES_MAX]);
bool is_iwarp(const struct selftest *test);

#endif /* KRDMA_CLI_SELFTEST_H */
