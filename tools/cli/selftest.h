/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * krdma selftest: what its files share.
 *
 * Two ends.  The near end is this process; it tests.  The far end is a child of it, or a
 * process of another machine's "krdma selftest --serve", and does what the near end tells
 * it over a socket (selftest_wire.h).  Each check begins with new sessions at both ends,
 * so that one that fails says nothing of the next.
 *
 * Unless it says otherwise, a function that returns int returns 0; -EINTR: the end is
 * wanted; or another negative errno after check_fail() has said what is wrong.
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
/* The check that runs only when it is asked for. */
#define SELFTEST_UNPLUG	"unplug"

/* What each end has registered for most checks, with all rights that the device has. */
#define AREA		((size_t)(1 << 20) + (64 << 10))
/* Which memory of the far end that is, and the next one. */
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
	/* Checks whose names begin with it, or NULL. */
	const char *only;
	int family;
	uint16_t port;
	uint64_t timeout;
	/* For all of it. */
	uint64_t time;
	/* The most that each end registers at a time, and so the longest message. */
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
	/* The device does not have it. */
	CHECK_NOT_OFFERED,
	/* It could not be tried here, for a reason that is not the device's. */
	CHECK_NOT_RUN,
	/* Only when asked for. */
	CHECK_NOT_ASKED,
	CHECK_RESULTS,
};

struct check {
	const char *name;
	/* Capability bits of both devices, without which it is not offered. */
	uint64_t caps;
	/* It is not offered over this transport; 0: over all. */
	uint32_t not_transport;
	/* Made anew for it: no session, or no connection. */
	bool bare;
	int (*run)(struct selftest *test);
};

/* A connection, seen from the near end. */
struct link {
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	/* Its number at the far end. */
	unsigned int far;
	/* What both ends were granted. */
	struct krdma_conn_query_args is;
	uint32_t far_send_depth;
	uint32_t far_recv_depth;
	uint32_t far_send_sge;
	uint32_t far_recv_sge;
};

/* What a link is to have; 0 is the interface's default. */
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

	/* selftest_far_end.c: the far end; @child is 0 if it is another machine's. */
	int channel;
	pid_t child;
	struct sockaddr_storage far_address;
	char far_version[32];
	/* Of its device, from the last FAR_RESET. */
	uint64_t far_caps;
	uint32_t far_recv_wr;
	uint32_t far_recv_sge;
	uint32_t far_send_wr;
	uint32_t far_srq_wr;
	uint32_t far_transport;
	uint64_t far_mr_size;

	/* The near end: for the whole run, and for a check. */
	struct sockaddr_storage address;
	struct krdma_device_query_args device;
	struct krdma_port_query_args port;
	struct krdma_info_args info;
	struct krdma *session;
	struct link link;
	struct krdma_mr *area;
	struct krdma_remote_mr far_area;

	/* selftest_report.c: what has been found. */
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

/* The tables of checks, in the order in which they run; each ends with a name NULL. */
extern const struct check selftest_message_checks[];
extern const struct check selftest_rdma_checks[];
extern const struct check selftest_atomic_checks[];
extern const struct check selftest_limit_checks[];
extern const struct check selftest_memory_checks[];
extern const struct check selftest_end_checks[];

/* selftest_serve.c: --serve; an exit code. */
int selftest_serve(const struct selftest_settings *settings);

/* selftest_run.c: all checks; an exit code. */
int selftest_run(const struct selftest_settings *settings);
int selftest_list(void);

/* How the end of a connection that the peer has ended is called over this device. */
static inline int peer_ended(const struct selftest *test)
{
	return test->device.transport == KRDMA_TRANSPORT_IWARP ? -ECONNRESET : -EPIPE;
}

/* selftest_device.c: the device, its address, and what else the report says of it. */
int device_find(struct selftest *test);
void device_json(const struct selftest *test, struct json_object *object);
/* In the background, without this process's descriptors; its process, or -1. */
pid_t run_in_shell(const char *command);
/* The command that removes the device and the one that brings it back, or false. */
bool device_unplug_commands(const struct selftest *test, char *remove, char *bring_back,
			    size_t size);

/* selftest_report.c */

/* Says what is wrong; the first of them counts.  -EPROTO. */
ATTRIBUTE(format(printf, 2, 3)) int check_fail(struct selftest *test, const char *format, ...);
/* That something failed which should have worked, with its errno, which it returns. */
int check_errno(struct selftest *test, const char *what, int err);
/* Says what was done, for the line of a check that passes. */
ATTRIBUTE(format(printf, 2, 3)) void check_say(struct selftest *test, const char *format, ...);
/* It cannot be tried here, and why.  -ECANCELED. */
ATTRIBUTE(format(printf, 2, 3))
int check_leave_out(struct selftest *test, const char *format, ...);
/* The device does not have it, as is known only now.  -EOPNOTSUPP. */
ATTRIBUTE(format(printf, 2, 3))
int check_not_offered(struct selftest *test, const char *format, ...);
/* Memory of so many bytes cannot be registered: a limit of this user's, or a failure. */
int memory_refused(struct selftest *test, uint64_t length, int err);
/* A figure for the report. */
void check_figure(struct selftest *test, const char *name, uint64_t value);
void check_figure_text(struct selftest *test, const char *name, const char *value);
/* That @got is what is documented: errors of calls. */
int check_refused(struct selftest *test, const char *what, int expected, int got);

void report_begin(const struct selftest *test);
void report_check(struct selftest *test, enum check_result result, uint64_t ns);
/* The summary, and the file; 0 or an exit code. */
int report_end(struct selftest *test, bool complete);

/* selftest_far_end.c */
int far_start(struct selftest *test);
void far_stop(struct selftest *test);
int far_call(struct selftest *test, const struct wire_words *in, struct wire_words *out);
/* The two halves of it.  A request that is answered late has its answer fetched later. */
int far_ask(struct selftest *test, const struct wire_words *in);
int far_answer(struct selftest *test, struct wire_words *out);

/* selftest_link.c: connections, and what is done over them. */

/* Sessions at both ends, memory, and a connection unless it is not wanted. */
int near_begin(struct selftest *test);
void near_end(struct selftest *test);
int link_open(struct selftest *test, struct link *link, unsigned int far,
	      const struct link_options *options);
/* As link_open(), but it is known why it fails: *@result, and only other failures are told. */
int link_try(struct selftest *test, struct link *link, unsigned int far,
	     const struct link_options *options, int *result);
void link_close(struct link *link);
/* An orderly end, seen by both. */
int link_end(struct selftest *test, struct link *link);
/* Both ends are closed, whatever was why. */
int link_await_end(struct selftest *test, struct link *link, int *near, int *far);

/* Post one operation, or several; a refusal is a failure. */
int op_post(struct selftest *test, struct link *link, const struct krdma_sqe *entries,
	    size_t count);
/* That it is refused with this errno. */
int op_refused(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	       int expected);
/* The next completion, whatever it says. */
int op_take(struct selftest *test, struct link *link, struct krdma_cqe *cqe);
/* The next completion is of @entry, and successful. */
int op_done(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	    uint32_t length);
/* Post and await that. */
int op_do(struct selftest *test, struct link *link, const struct krdma_sqe *entry,
	  uint32_t length);
/* What was written has arrived at the far end. */
int op_flush(struct selftest *test, struct link *link, const struct krdma_remote_mr *remote);
uint64_t op_wr_id(struct selftest *test);

/* Entries between the two areas, at @near and @far in them. */
struct krdma_sqe op_send(struct selftest *test, struct link *link, size_t near, uint32_t length);
struct krdma_sqe op_remote(struct selftest *test, struct link *link, uint8_t opcode, size_t near,
			   size_t far, uint32_t length);

/* The pattern, at either end; the checks say what is wrong. */
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
/* Nothing has been written there since far_clear(). */
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

/* The far end's next completion, whatever it says. */
int far_take(struct selftest *test, unsigned int conn, struct far_cqe *cqe);
/* It is a receive's, and successful, of so many bytes. */
int far_received(struct selftest *test, unsigned int conn, uint32_t length, uint16_t flags,
		 uint32_t imm);

/* The sizes at which something may change, in order: 0 to @longest. */
#define SIZES_MAX 24
size_t message_sizes(const struct selftest *test, const struct link *link, uint32_t longest,
		     uint32_t sizes[SIZES_MAX]);
bool is_iwarp(const struct selftest *test);

#endif /* KRDMA_CLI_SELFTEST_H */
