/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two ends of a connection in one kernel, their memory, and functions that wait for events and
 * completions.
 */
#ifndef _KRDMA_CORE_FIXTURE_H
#define _KRDMA_CORE_FIXTURE_H

#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include "core_test.h"

/* Much longer than any step takes on an idle machine. */
#define CORE_TIMEOUT_MS		20000
/* One second, with seven retries: an emulated device on a busy machine answers late. */
#define CORE_ACK_TIMEOUT	18
/* After so long without a completion, none is expected any more. */
#define CORE_QUIET_MS		50

#define CORE_EVENTS		16
#define CORE_COMPLETIONS	512

/* Completions that the case has not looked at yet. */
struct core_log {
	struct krdma_wc items[CORE_COMPLETIONS];
	u32 head;
	u32 tail;
};

/**
 * struct core_end - one end of a connection
 * @test: the case
 * @pair: the pair of this end
 * @conn: the connection
 * @lock: protects the rest
 * @wait: woken by events and completions
 * @events: events, in order
 * @event_count: number of @events
 * @sends: completions of send work requests
 * @recv_wrs: completions of receives
 * @spaces: number of calls of the space callback
 * @told: number of completions
 * @complete: called instead of keeping the completion, in the CQ's context
 * @context: for @complete
 */
struct core_end {
	struct core_test *test;
	struct core_pair *pair;
	struct krdma_conn *conn;
	spinlock_t lock;		/* see above */
	wait_queue_head_t wait;
	struct krdma_event events[CORE_EVENTS];
	unsigned int event_count;
	struct core_log *sends;
	struct core_log *recv_wrs;
	unsigned int spaces;
	u64 told;
	void (*complete)(struct core_end *end, const struct krdma_wc *wc);
	void *context;
};

/**
 * struct core_pair - two connected ends
 * @test: the case
 * @client: the end that connects
 * @server: the end that accepts
 * @client_session: session of @client
 * @server_session: session of @server
 * @listener: listener of the server
 * @listen_address: address of @listener, with its port
 * @cq: with KRDMA_CONTEXT_POLL, the CQ of both ends; NULL otherwise
 * @client_attr: attributes of the client's QP; may be changed before core_pair_connect()
 * @server_attr: attributes of the server's QP; may be changed before core_pair_connect()
 * @wr: connection parameters of the client; may be changed before core_pair_connect()
 * @answer: connection parameters of the server; may be changed before core_pair_connect()
 * @borrows: @server_session and @cq belong to the caller
 * @client_lane: the client is a lane, if the listener takes lanes
 * @server_lanes: the listener takes lanes
 * @prepared: called for each end when its QP exists, before it is connected
 */
struct core_pair {
	struct core_test *test;
	struct core_end client;
	struct core_end server;
	struct krdma_session *client_session;
	struct krdma_session *server_session;
	struct krdma_listener *listener;
	struct sockaddr_storage listen_address;
	struct krdma_cq *cq;
	struct krdma_conn_attr client_attr;
	struct krdma_conn_attr server_attr;
	struct krdma_conn_param wr;
	struct krdma_conn_param answer;
	bool borrows;
	bool client_lane;
	bool server_lanes;
	void (*prepared)(struct core_end *end);
};

extern const struct krdma_conn_ops core_ops;

bool core_end_init(struct core_end *end, struct core_test *test, struct core_pair *pair);
void core_end_free(struct core_end *end);
void core_end_close(struct core_end *end);
/*
 * For how long the device of a connected end waits for an ACK: n of 4.096 us * 2^n, or a negative
 * errno, -EOPNOTSUPP if the transport has no such time.
 */
int core_ack_timeout(struct core_end *end);

struct core_pair *core_pair_alloc(struct core_test *test);
bool core_pair_listen(struct core_pair *pair, u32 backlog);
bool core_pair_resolve(struct core_pair *pair);
bool core_pair_connect(struct core_pair *pair);
struct core_pair *core_pair_open(struct core_test *test);
void core_pair_close(struct core_pair *pair);

/* Waits for an event.  With a polled CQ, the waiter polls it. */
bool core_await_event(struct core_end *end, enum krdma_event_type type, u32 timeout_ms);
bool core_had_event(struct core_end *end, enum krdma_event_type type);
bool core_await_told(struct core_end *end, u64 count, u32 timeout_ms);
bool core_await_send(struct core_end *end, struct krdma_wc *wc, u32 timeout_ms);
bool core_await_receive(struct core_end *end, struct krdma_wc *wc, u32 timeout_ms);
void core_pump(struct core_pair *pair);

/* The next completion must be this one. */
bool core_expect_send(struct core_end *end, u64 wr_id, u8 status);
bool core_expect_receive(struct core_end *end, u64 wr_id, u8 status, u32 length,
			 struct krdma_wc *wc);
/* There must be no completion. */
bool core_expect_nothing(struct core_end *end);

/**
 * struct core_buffer - memory of an end
 * @data: the memory
 * @size: its size
 * @mr: its MR
 * @info: information about @mr
 */
struct core_buffer {
	u8 *data;
	size_t size;
	struct krdma_mr *mr;
	struct krdma_mr_info info;
};

#define CORE_ACCESS_ALL(test) \
	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE | \
	 ((test)->attr.caps & KRDMA_DEVICE_CAP_ATOMIC ? KRDMA_ACCESS_REMOTE_ATOMIC : 0))

/* How much memory, wherever it begins, one rkey of the device covers. */
static inline u32 core_rkey_room(const struct core_test *test)
{
	if (!(test->attr.caps & KRDMA_DEVICE_CAP_FAST_REG))
		return SZ_1G;
	return min_t(u64, SZ_1G, (test->attr.limits.max_fast_reg_pages - 1ULL) * PAGE_SIZE);
}

/* From now on the rkey of long memory is the first of several. */
void core_buffer_first_rkey(struct core_buffer *buffer);
bool core_buffer_make(struct core_test *test, struct core_buffer *buffer,
		      struct krdma_session *session, size_t size, u32 access);
void core_buffer_free(struct core_test *test, struct core_buffer *buffer);
void core_fill(void *data, size_t size, u32 seed);
bool core_filled(const void *data, size_t size, u32 seed);
/* What a peer has written is there.  Over iWARP it may arrive after the peer's completion. */
bool core_written(const struct core_test *test, const void *data, size_t size, u32 seed);
/* Whether the device below the interface of its first port has that driver. */
bool core_driver_is(const struct core_test *test, enum rdma_driver_id driver);

struct krdma_sge core_sge(const struct core_buffer *buffer, size_t offset, u32 length);
int core_receive(struct core_end *end, u64 wr_id, const struct core_buffer *buffer, size_t offset,
		 u32 length);
/* Posts a receive for a message without data. */
int core_receive_empty(struct core_end *end, u64 wr_id);
int core_send(struct core_end *end, u64 wr_id, const struct core_buffer *buffer, size_t offset,
	      u32 length, u8 flags);
/* KRDMA_OP_WRITE, KRDMA_OP_WRITE_IMM, KRDMA_OP_READ */
int core_rdma(struct core_end *end, u64 wr_id, u8 opcode, const struct core_buffer *local,
	      size_t offset, u32 length, const struct core_buffer *remote, size_t remote_offset,
	      u8 flags);

/* No thread can be started, and those of some pools are busy (starve.c). */
struct core_starve;
struct core_starve *core_starve_begin(struct core_test *test, unsigned int flags);
void core_starve_end(struct core_starve *starve);

#endif /* _KRDMA_CORE_FIXTURE_H */
