/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connections of krdma that are connected to each other over a fake device, a client and a
 * server, and the events and completions that they got.
 *
 * Work requests are posted through these functions, which assign wr_ids and check the completions:
 * each work request completes once, in order, one at a time, in the right context.
 */
#ifndef _KRDMA_KUNIT_CONN_FIXTURE_H
#define _KRDMA_KUNIT_CONN_FIXTURE_H

#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/wait.h>

#include <krdma/krdma.h>

#include "device_fixture.h"
#include "fake_private.h"

#define CONN_DEVICE	"kfake%d"
/* Work requests of each kind that an end can have in its life. */
#define CONN_COOKIES	2048
#define CONN_CQE	1000
#define CONN_BUFFER	(4 * PAGE_SIZE)
#define CONN_LONG	(60 * HZ)
#define CONN_LONG_MS	60000

/* Set in the wr_id of a receive. */
#define CONN_RECEIVE	BIT_ULL(63)

/* Status of a work request that has not completed yet. */
#define CONN_UNTOLD	0xff

/**
 * struct conn_flow - the send work requests, or the receives, of an end
 * @accepted: number of accepted work requests; their wr_ids count from 0
 * @told: number of completions
 * @failed: number of completions that were not successful
 * @next: the lowest wr_id that may complete next
 * @disorders: completions that came twice, in the wrong order, or without a work request
 * @status: by wr_id, status of the completion
 * @silent: by wr_id, the work request is unsignaled
 */
struct conn_flow {
	u32 accepted;
	u32 told;
	u32 failed;
	u32 next;
	u32 disorders;
	u8 status[CONN_COOKIES];
	bool silent[CONN_COOKIES];
};

/* The completions so far; the members that they have written can be read after it. */
static inline u32 conn_told(const struct conn_flow *flow)
{
	/* Pairs with conn_flow_note() and conn_shared_note(). */
	return smp_load_acquire(&flow->told);
}

/**
 * struct conn_end - one end of a pair
 * @pair: the pair
 * @conn: the connection; NULL before it is created and after it was put
 * @sends: its send work requests
 * @recv_wrs: its receives
 * @last: the last completion
 * @failure: the first failed completion that was not flushed
 * @refill: each receive that succeeds is posted again
 * @lock: protects posting, so that wr_ids are in the order of posting
 * @spaces: calls of space()
 * @heard: by &enum krdma_event_type, number of events
 * @events: in order
 * @event_count: entries of @events
 * @overlaps: completion callbacks during another one of the CQ
 * @misplaced: calls of complete() and space() in the wrong context, or for another end
 * @nested: completion callbacks inside a post
 * @mr: MR of @buffer, for the peer
 * @buffer: its memory
 */
struct conn_end {
	struct conn_pair *pair;
	struct krdma_conn *conn;
	struct conn_flow sends;
	struct conn_flow recv_wrs;
	struct krdma_wc last;
	struct krdma_wc failure;
	bool refill;
	spinlock_t lock;		/* see above */
	atomic_t spaces;
	unsigned int heard[KRDMA_EVENT_CLOSED + 1];
	struct krdma_event events[16];
	unsigned int event_count;
	atomic_t overlaps;
	atomic_t misplaced;
	atomic_t nested;
	struct krdma_mr *mr;
	u8 *buffer;
};

/* Number of events of a type, which another thread counts. */
static inline unsigned int conn_heard(const struct conn_end *end, enum krdma_event_type type)
{
	return READ_ONCE(end->heard[type]);
}

/**
 * struct conn_setup - attributes of a pair
 * @where: context of completions
 * @attr: attributes of both QPs
 * @shared: both ends have one CQ, which KRDMA_CONTEXT_POLL and @srq_depth imply
 * @srq_depth: depth of an SRQ of both ends; 0 for none
 * @srq_apart: the SRQ has a CQ of its own
 * @tune: changes the device before it is registered
 */
struct conn_setup {
	enum krdma_context where;
	struct krdma_conn_attr attr;
	bool shared;
	u32 srq_depth;
	bool srq_apart;
	void (*tune)(struct fake_device *fake);
};

/**
 * struct conn_pair - both ends, and the objects that they use
 * @test: the test
 * @setup: its attributes
 * @device: the fake device
 * @fake: the fake device
 * @dev: krdma's device
 * @session: session of both ends
 * @listener: listener of the server
 * @cq: CQ of both ends; NULL if each has its own
 * @srq: SRQ of both ends, or NULL
 * @srq_queue: CQ of @srq, if that is not @cq
 * @shared: receives of @srq
 * @given_back: number of receives of @srq that were flushed
 * @client: the active end
 * @server: the passive end
 * @wait: woken by every event and completion
 * @hook: called for each completion of an end, in its callback; or NULL
 * @inside: callbacks of @cq in progress
 * @srq_inside: callbacks of @srq_queue in progress
 */
struct conn_pair {
	struct kunit *test;
	struct conn_setup setup;
	struct test_device *device;
	struct fake_device *fake;
	struct krdma_device *dev;
	struct krdma_session *session;
	struct krdma_listener *listener;
	struct krdma_cq *cq;
	struct krdma_srq *srq;
	struct krdma_cq *srq_queue;
	struct conn_flow shared;
	atomic_t given_back;
	struct conn_end client;
	struct conn_end server;
	wait_queue_head_t wait;
	void (*hook)(struct conn_end *end, const struct krdma_wc *wc);
	atomic_t inside;
	atomic_t srq_inside;
};

/* The steps of the setup; if a step fails, an assertion ends the test. */
struct conn_pair *conn_pair_open(struct kunit *test, const struct conn_setup *setup);
void conn_client_create(struct conn_pair *pair);
int conn_client_begin(struct conn_pair *pair);
void conn_client_resolve(struct conn_pair *pair);
int conn_end_prepare(struct conn_end *end);
void conn_client_connect(struct conn_pair *pair);
void conn_server_take(struct conn_pair *pair);
void conn_server_accept(struct conn_pair *pair);
void conn_pair_connect(struct conn_pair *pair);

/* All of the steps. */
struct conn_pair *conn_pair_new(struct kunit *test, const struct conn_setup *setup);

/*
 * The same, with no more SGEs of a send and of a receive than the device has; the pair's setup then
 * has those that it got.
 */
struct conn_pair *conn_pair_new_within(struct kunit *test, const struct conn_setup *setup);

/* Both ends again, over the same device, with all counters reset. */
void conn_pair_renew(struct conn_pair *pair);
void conn_pair_again(struct conn_pair *pair);

/* Closes one end, or all; the counters stay. */
void conn_end_close(struct conn_end *end);
void conn_pair_close(struct conn_pair *pair);

/* Also removes the device, on which nothing may be left. */
void conn_pair_end(struct conn_pair *pair);

/* Polls, if the pair has a polled CQ; returns the number of completions. */
int conn_pair_poll(struct conn_pair *pair);

/* Waits, with a limit; returns whether the condition became true. */
#define conn_until(pair, condition) ({					\
	unsigned long until_end = jiffies + CONN_LONG;			\
	struct conn_pair *until_pair = (pair);				\
	bool until_true;						\
									\
	do {								\
		conn_pair_poll(until_pair);				\
		until_true = wait_event_timeout(until_pair->wait, (condition), HZ / 50); \
	} while (!until_true && time_before(jiffies, until_end));	\
	until_true;							\
})

/*
 * Posting.  The functions without memory post writes of no bytes, which need no memory of the peer.
 * They return krdma's result.
 */
int conn_post(struct conn_end *end, struct krdma_send_wr *wrs, int count);
int conn_post_writes(struct conn_end *end, u8 flags, int count);
int conn_receive(struct conn_end *end, struct krdma_recv_wr *recv_wrs, int count);
int conn_receive_empty(struct conn_end *end, int count);

/* A range of the end's buffer, with the connection's own lkey. */
struct krdma_sge conn_sge(struct conn_end *end, u32 offset, u32 length);

struct ib_qp *conn_qp(struct conn_end *end);
struct krdma_conn_info conn_info(struct conn_end *end);

/*
 * Returns a work request that the device got, counted from the first, unless its WQE was used
 * again.
 */
void conn_given(struct conn_end *end, unsigned int index, struct fake_send *send);
unsigned int conn_given_count(struct conn_end *end);

/* All completions so far were correct. */
void conn_expect_clean(struct conn_end *end);

/* Also, none is missing: the connection has ended, or has nothing in flight. */
void conn_expect_whole(struct conn_end *end);
void conn_expect_srq_whole(struct conn_pair *pair);

#endif /* _KRDMA_KUNIT_CONN_FIXTURE_H */
