/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client and a server on a fake device, for tests of how connections begin and end.  They post
 * nothing by themselves, and their events are recorded as a story.
 */
#ifndef _KRDMA_KUNIT_STAGE_H
#define _KRDMA_KUNIT_STAGE_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <krdma/krdma.h>

#include "device_fixture.h"

struct krdma_user_account;

#define STAGE_DEVICE	"kfake"
#define STAGE_PORT	7471
#define STAGE_LONG	(60 * HZ)
#define STAGE_LONG_MS	60000
#define STAGE_STORY	256

/**
 * struct actor - one side of a connection
 * @conn: the connection, NULL if there is none
 * @lock: protects @story, @heard and @asleep
 * @story: the names of the events so far, with their errors, such as
 *	"established, disconnected -104, closed -104"
 * @heard: bits of &enum krdma_event_type
 * @reason: reason of the last rejection
 * @wait: for changes of @heard, @asleep and @completed
 * @abort_at: the event at which the consumer aborts the connection; 0 for none
 * @sleep_at: the event at which the consumer sleeps in its callback; 0 for none
 * @asleep: the consumer sleeps
 * @wake: ends the sleep
 * @completed: number of completed work requests
 * @flushed: number of these that failed
 * @atomic: bits of the events that came with interrupts off
 */
struct actor {
	struct krdma_conn *conn;
	spinlock_t lock;	/* see above; interrupts off */
	char story[STAGE_STORY];
	unsigned long heard;
	int reason;
	wait_queue_head_t wait;
	enum krdma_event_type abort_at;
	enum krdma_event_type sleep_at;
	bool asleep;
	struct completion wake;
	unsigned int completed;
	unsigned int flushed;
	unsigned long atomic;
};

/**
 * struct stage - what a test has
 * @test: the test
 * @device: the fake device
 * @fake: the fake device
 * @session: session of both
 * @listener: listener of the server, NULL if there is none
 * @works: for concurrent calls of tests
 * @pause: where a call of the device stops; stays until the device is gone
 * @client: the active side
 * @server: the passive side
 */
struct stage {
	struct kunit *test;
	struct test_device *device;
	struct fake_device *fake;
	struct krdma_session *session;
	struct krdma_listener *listener;
	struct workqueue_struct *works;
	struct fake_pause pause;
	struct actor client;
	struct actor server;
};

extern const struct krdma_conn_ops actor_ops;
/* For a consumer with a notify() callback; it neither aborts nor sleeps. */
extern const struct krdma_conn_ops actor_notified_ops;

/* On a device that @tune has changed, if it is not NULL.  There is no listener. */
struct stage *stage_new(struct kunit *test, void (*tune)(struct fake_device *fake));

/* Everything that is open is closed and put; stories stay until actor_begin(). */
void actor_begin(struct actor *actor);
void actor_close(struct actor *actor);
void stage_close(struct stage *stage);

/* The steps; each must succeed. */
void stage_listen(struct stage *stage);
void stage_create(struct stage *stage);
void stage_resolve(struct stage *stage);
void stage_ask(struct stage *stage, const char *words);
void stage_take(struct stage *stage);
void stage_connect(struct stage *stage);

/*
 * Takes the client, or the server where the state is one of servers only or the name says so, from
 * only a listener to a state.
 */
void stage_reach_new(struct stage *stage);
void stage_reach_connecting(struct stage *stage);
void stage_reach_requested(struct stage *stage);
void stage_reach_accepting(struct stage *stage);
void stage_reach_disconnecting(struct stage *stage);
void stage_reach_closing(struct stage *stage);
void stage_reach_closed(struct stage *stage);
void stage_reach_closed_server(struct stage *stage);

/* Connects both sides, on a stage of its own. */
struct stage *stage_connected(struct kunit *test);

/* Calls with default arguments.  They return krdma's result. */
int actor_resolve(struct actor *actor);
int actor_connect(struct actor *actor, const char *words);
int actor_accept(struct actor *actor, const char *words);
int actor_post(struct actor *actor);
int actor_receive(struct actor *actor);

enum krdma_conn_state actor_state(struct actor *actor);
struct ib_qp *actor_qp(struct actor *actor);

/* Waits for an event, or for the number of completions. */
bool actor_hears(struct actor *actor, enum krdma_event_type type);
bool actor_completes(struct actor *actor, unsigned int count);

/* Closes it, and returns all its events. */
const char *actor_end(struct actor *actor);

#define EXPECT_STORY(test, actor, told) \
	KUNIT_EXPECT_STREQ(test, told, actor_end(actor))

/* An account of a user, in a user namespace that @owner has made; 0: in the initial one. */
struct krdma_user_account *stage_account(struct kunit *test, unsigned int user,
					 unsigned int owner);

/* The first events of a client. */
#define RESOLVED	"address resolved, route resolved, "

#endif /* _KRDMA_KUNIT_STAGE_H */
