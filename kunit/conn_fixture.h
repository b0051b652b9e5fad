/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connections of krdma's that are joined with each other over a fake device,
 * a client and a server, and what they were told.
 *
 * Operations are posted through here, which gives them their cookies and notes
 * what comes back: each must, once, in order, one at a time, in the right context.
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
/* Operations of each kind that an end can have in its life. */
#define CONN_COOKIES	2048
#define CONN_CQE	1000
#define CONN_BUFFER	(4 * PAGE_SIZE)
#define CONN_LONG	(60 * HZ)
#define CONN_LONG_MS	60000

/* In the cookie of a receive. */
#define CONN_RECEIVE	BIT_ULL(63)

/* What was not told yet. */
#define CONN_UNTOLD	0xff

/**
 * struct conn_flow - the operations, or the receives, of an end
 * @accepted: cookies 0 to here were accepted
 * @told: how many completions there were
 * @failed: of those, how many did not succeed
 * @next: the lowest cookie that may come next
 * @disorders: completions that came twice, in the wrong order, or that nobody
 *	has asked for
 * @status: by cookie, how it ended
 * @silent: by cookie, it is told of only if it fails
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

/**
 * struct conn_end - one of both
 * @pair: of which it is
 * @conn: the connection, NULL before it is made and after it was put
 * @sends: its operations
 * @recv_wrs: its receives
 * @last: the last completion
 * @failure: the first that failed with something else than being flushed
 * @refill: each receive that succeeds is posted again
 * @lock: protects what is posted, so that cookies are in the order of posting
 * @spaces: calls of space()
 * @heard: by &enum krdma_event_type, how often it came
 * @events: in order
 * @event_count: of @events
 * @overlaps: completions that were told while another one of the queue was
 * @misplaced: completions and spaces in the wrong context, or for somebody else
 * @nested: completions that were told inside a post
 * @mr: its memory, for the peer
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

/* How often it has been told of that; by another thread. */
static inline unsigned int conn_heard(const struct conn_end *end, enum krdma_event_type type)
{
	return READ_ONCE(end->heard[type]);
}

/**
 * struct conn_setup - what a pair is to be
 * @where: where completions are told
 * @attr: the queues of both
 * @shared: both ends complete in one queue, which KRDMA_CONTEXT_POLL and
 *	@srq_depth bring along
 * @srq_depth: the receives of both come from a shared receive queue
 * @srq_apart: which completes in a queue of its own
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
 * struct conn_pair - both, and what they stand on
 * @test: whose
 * @setup: what was asked for
 * @device: the fake device
 * @fake: likewise
 * @dev: krdma's
 * @session: of both
 * @listener: of the server
 * @cq: of both, NULL if each has its own
 * @srq: of both, or NULL
 * @srq_queue: where it completes, if that is not @cq
 * @shared: what was posted there
 * @given_back: of those, how many came back unused
 * @client: who has asked
 * @server: who was asked
 * @wait: for anything to be told
 * @hook: called with each completion of an end's, where that is told; or NULL
 * @inside: callbacks of @cq that are under way
 * @srq_inside: those of @srq_queue
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

/* The way there, step by step; an assertion ends the test where a step fails. */
struct conn_pair *conn_pair_open(struct kunit *test, const struct conn_setup *setup);
void conn_client_create(struct conn_pair *pair);
int conn_client_begin(struct conn_pair *pair);
void conn_client_resolve(struct conn_pair *pair);
int conn_end_prepare(struct conn_end *end);
void conn_client_connect(struct conn_pair *pair);
void conn_server_take(struct conn_pair *pair);
void conn_server_accept(struct conn_pair *pair);
void conn_pair_connect(struct conn_pair *pair);

/* All of it. */
struct conn_pair *conn_pair_new(struct kunit *test, const struct conn_setup *setup);

/* Both ends again, over the same device, with nothing told yet. */
void conn_pair_renew(struct conn_pair *pair);
void conn_pair_again(struct conn_pair *pair);

/* The end of one end, or of everything; what was told stays. */
void conn_end_close(struct conn_end *end);
void conn_pair_close(struct conn_pair *pair);

/* And of the device, on which nothing may be left. */
void conn_pair_end(struct conn_pair *pair);

/* Takes completions, if nobody is told of them; how many. */
int conn_pair_poll(struct conn_pair *pair);

/* Waits, with a limit; whether it came true. */
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
 * Posting.  What has no memory of its own is a write of no bytes, which needs
 * nothing at the peer's.  They return what krdma does.
 */
int conn_post(struct conn_end *end, struct krdma_send_wr *wrs, int count);
int conn_post_writes(struct conn_end *end, u8 flags, int count);
int conn_receive(struct conn_end *end, struct krdma_recv_wr *recv_wrs, int count);
int conn_receive_empty(struct conn_end *end, int count);

/* A piece of the end's buffer, by the connection's own key. */
struct krdma_sge conn_sge(struct conn_end *end, u32 offset, u32 length);

struct ib_qp *conn_qp(struct conn_end *end);
struct krdma_conn_info conn_info(struct conn_end *end);

/* What the device was given, counted from the first, unless its slot was used again. */
void conn_given(struct conn_end *end, unsigned int index, struct fake_send *send);
unsigned int conn_given_count(struct conn_end *end);

/* What was told so far was told as it has to be. */
void conn_expect_clean(struct conn_end *end);

/* And nothing is missing: the connection is at its end, or has nothing to do. */
void conn_expect_whole(struct conn_end *end);
void conn_expect_srq_whole(struct conn_pair *pair);

#endif /* _KRDMA_KUNIT_CONN_FIXTURE_H */
