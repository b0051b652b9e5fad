// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners over a fake device: which requests are accepted, in which order, and what happens to
 * pending requests when the listener, or its device, is removed.
 */
#include <linux/delay.h>
#include <linux/in6.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "cm/conn_turn.h"
#include "cm/listen.h"
#include "objects.h"
#include "stage.h"

#define AT(address)	((const struct sockaddr *)&(address))
#define BACKLOG		128

/* What a listener's consumer has. */
struct host {
	atomic_t calls;
	wait_queue_head_t wait;
};

static void host_ready(struct krdma_listener *listener)
{
	struct host *host = krdma_listener_context(listener);

	atomic_inc(&host->calls);
	wake_up_all(&host->wait);
}

static bool host_hears(struct host *host, int calls)
{
	return wait_event_timeout(host->wait, atomic_read(&host->calls) >= calls, STAGE_LONG);
}

static struct host *host_listen(struct stage *stage, struct krdma_listen_attr *attr)
{
	struct sockaddr_in at = fake_address(STAGE_PORT);
	struct host *host = kunit_kzalloc(stage->test, sizeof(*host), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(stage->test, host);
	init_waitqueue_head(&host->wait);
	attr->local = AT(at);
	attr->context = host;
	stage->listener = krdma_listen(stage->session, attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, stage->listener);
	KUNIT_EXPECT_PTR_EQ(stage->test, host, krdma_listener_context(stage->listener));
	return host;
}

static struct host *host_new(struct stage *stage, u32 backlog)
{
	struct krdma_listen_attr attr = { .backlog = backlog, .ready = host_ready };

	return host_listen(stage, &attr);
}

/* Sends a connection request from an endpoint without a consumer. */
static struct fake_endpoint *guest_asks(struct stage *stage, u8 number)
{
	struct fake_endpoint *guest;

	guest = fake_cm_request(stage->fake, STAGE_PORT, &number, sizeof(number));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, guest);
	return guest;
}

/* Takes the next pending request, checks its private data, and puts the connection. */
static void expect_guest(struct stage *stage, u8 number)
{
	struct krdma_conn *conn;
	u8 said = 0;

	conn = krdma_listener_next(stage->listener, NULL, NULL, STAGE_LONG_MS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, conn);
	KUNIT_EXPECT_EQ(stage->test, 1, krdma_conn_private_data(conn, &said, 1));
	KUNIT_EXPECT_EQ(stage->test, number, said);
	krdma_conn_close(conn);
	krdma_conn_put(conn);
}

static void expect_rejected(struct kunit *test, struct fake_endpoint *guest)
{
	KUNIT_EXPECT_TRUE(test, fake_cm_reaches(guest, FAKE_CM_REJECTED, STAGE_LONG_MS));
	fake_cm_put(guest);
}

static long next_error(struct stage *stage, u32 timeout_ms)
{
	return PTR_ERR_OR_ZERO(krdma_listener_next(stage->listener, NULL, NULL, timeout_ms));
}

static u32 host_waiting(struct stage *stage)
{
	u32 waiting;

	spin_lock_irq(&stage->listener->lock);
	waiting = stage->listener->waiting;
	spin_unlock_irq(&stage->listener->lock);
	return waiting;
}

static bool host_has_waiting(struct stage *stage, u32 waiting)
{
	unsigned long end = jiffies + STAGE_LONG;

	while (host_waiting(stage) != waiting && time_before(jiffies, end))
		fsleep(100);
	return host_waiting(stage) == waiting;
}

/*
 * The first pending request, if there is one, is withdrawn by its peer.  InfiniBand's connection
 * manager reports this.  That of iWARP, which the fake device uses, does not, so the test reports
 * it instead.
 */
static void guest_gives_up(struct stage *stage)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_REJECTED, .status = IB_CM_REJ_TIMEOUT,
	};
	struct krdma_listener *listener = stage->listener;
	struct krdma_conn *conn;

	spin_lock_irq(&listener->lock);
	conn = list_first_entry_or_null(&listener->requests, struct krdma_conn, pending);
	if (conn)
		krdma_conn_get(conn);
	spin_unlock_irq(&listener->lock);
	if (!conn)
		return;

	/* Teardown destroys the id with this lock held, and waits for it as for a handler. */
	mutex_lock(&conn->cm_lock);
	if (krdma_conn_cm_id(conn))
		conn->cm_id->event_handler(conn->cm_id, &event);
	krdma_conn_unlock(conn);
	krdma_conn_put(conn);
}

/*
 * Addresses
 */

static long listen_error(struct stage *stage, const struct krdma_listen_attr *attr)
{
	struct krdma_listener *listener = krdma_listen(stage->session, attr);

	if (IS_ERR(listener))
		return PTR_ERR(listener);
	krdma_listener_close(listener);
	krdma_listener_put(listener);
	return 0;
}

static void test_bad_addresses(struct kunit *test)
{
	static const struct sockaddr neither = { .sa_family = AF_UNIX };
	struct sockaddr_in at = fake_address(STAGE_PORT);
	struct stage *stage = stage_new(test, NULL);
	struct krdma_listen_attr attr = {};

	KUNIT_EXPECT_EQ(test, -EINVAL, listen_error(stage, &attr));
	attr.local = &neither;
	KUNIT_EXPECT_EQ(test, -EAFNOSUPPORT, listen_error(stage, &attr));
	attr.local = AT(at);
	/* An address reserved for documentation, which no interface here has. */
	at.sin_addr.s_addr = htonl(0xc6336401);
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, listen_error(stage, &attr));

	at = fake_address(STAGE_PORT);
	fake_device_fail(stage->fake, FAKE_IW_LISTEN, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, listen_error(stage, &attr));
	fake_device_fail(stage->fake, FAKE_IW_LISTEN, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EIO, listen_error(stage, &attr));
	/* The failures left nothing behind. */
	KUNIT_EXPECT_EQ(test, 0, listen_error(stage, &attr));
}

static void test_port_in_use(struct kunit *test)
{
	struct sockaddr_in6 any6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(STAGE_PORT),
	};
	struct sockaddr_in any4 = {
		.sin_family = AF_INET, .sin_port = htons(STAGE_PORT),
	};
	struct sockaddr_in at = fake_address(STAGE_PORT);
	struct krdma_listen_attr one = { .local = AT(at) };
	struct krdma_listen_attr all = { .local = AT(any4) };
	struct krdma_listen_attr both = { .local = AT(any6) };
	struct krdma_listen_attr only6 = { .local = AT(any6), .v6only = true };
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	KUNIT_EXPECT_EQ(test, -EADDRINUSE, listen_error(stage, &one));
	/* For rdma_cm the port is free, but not on all addresses. */
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, listen_error(stage, &all));
	stage_close(stage);
	KUNIT_EXPECT_EQ(test, 0, listen_error(stage, &one));

	stage->listener = krdma_listen(stage->session, &all);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stage->listener);
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, listen_error(stage, &one));
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, listen_error(stage, &both));
	KUNIT_EXPECT_EQ(test, 0, listen_error(stage, &only6));
}

/* Port 0 gives a port that a peer can connect to. */
static void test_any_port(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct sockaddr_in at = fake_address(0);
	struct krdma_listen_attr attr = { .local = AT(at) };
	struct krdma_conn_param param = {};
	struct sockaddr_storage local;
	struct krdma_route route = { .remote = AT(local) };

	stage->listener = krdma_listen(stage->session, &attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stage->listener);
	KUNIT_EXPECT_EQ(test, 0, krdma_listener_address(stage->listener, &local));
	KUNIT_EXPECT_EQ(test, AF_INET, local.ss_family);
	KUNIT_EXPECT_TRUE(test, at.sin_addr.s_addr ==
				((struct sockaddr_in *)&local)->sin_addr.s_addr);
	KUNIT_EXPECT_TRUE(test, ((struct sockaddr_in *)&local)->sin_port != 0);

	stage_create(stage);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_resolve(stage->client.conn, &route));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_connect(stage->client.conn, &param));
	stage_take(stage);
	KUNIT_EXPECT_EQ(test, 0, actor_accept(&stage->server, ""));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
}

/*
 * Requests
 */

static void test_requests_come_in_order(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct host *host = host_new(stage, 0);
	struct fake_endpoint *guests[5];
	u8 i;

	for (i = 0; i < ARRAY_SIZE(guests); i++) {
		guests[i] = guest_asks(stage, i);
		/* The callback may run once for several requests that arrive together. */
		fake_cm_flush(stage->fake);
		KUNIT_EXPECT_TRUE(test, host_hears(host, 1));
	}
	for (i = 0; i < ARRAY_SIZE(guests); i++) {
		expect_guest(stage, i);
		expect_rejected(test, guests[i]);
	}
	KUNIT_EXPECT_EQ(test, -EAGAIN, next_error(stage, 0));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, next_error(stage, 20));
}

/* The callback runs for each request if each is taken before the next one arrives. */
static void test_ready(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct host *host = host_new(stage, 0);
	int calls;
	u8 i;

	for (i = 1; i < 6; i++) {
		fake_cm_put(guest_asks(stage, i));
		KUNIT_EXPECT_TRUE(test, host_hears(host, i));
		expect_guest(stage, i);
	}
	krdma_listener_close(stage->listener);
	calls = atomic_read(&host->calls);
	KUNIT_EXPECT_EQ(test, 5, calls);
	krdma_listener_close(stage->listener);
	KUNIT_EXPECT_EQ(test, calls, atomic_read(&host->calls));
}

/* When the callback runs, the request can be taken, or the device is gone. */
/* Proves: B6 */
static void test_notified(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct krdma_listen_attr attr = { .notify = host_ready };
	struct host *host = host_listen(stage, &attr);

	for (u8 i = 1; i < 6; i++) {
		fake_cm_put(guest_asks(stage, i));
		fake_cm_flush(stage->fake);
		KUNIT_EXPECT_EQ(test, i, atomic_read(&host->calls));
		expect_guest(stage, i);
	}
	krdma_listener_close(stage->listener);
	KUNIT_EXPECT_EQ(test, 5, atomic_read(&host->calls));
}

static void test_backlog(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *guests[3];
	u8 i;

	host_new(stage, 2);
	for (i = 0; i < 3; i++)
		guests[i] = guest_asks(stage, i);
	expect_rejected(test, guests[2]);
	KUNIT_EXPECT_EQ(test, FAKE_CM_REQUESTED, fake_cm_state_of(guests[0]));
	KUNIT_EXPECT_EQ(test, FAKE_CM_REQUESTED, fake_cm_state_of(guests[1]));

	/* A taken request makes room for another one. */
	expect_guest(stage, 0);
	expect_rejected(test, guests[0]);
	guests[0] = guest_asks(stage, 3);
	guests[2] = guest_asks(stage, 4);
	expect_rejected(test, guests[2]);
	expect_guest(stage, 1);
	expect_guest(stage, 3);
	expect_rejected(test, guests[1]);
	expect_rejected(test, guests[0]);
	KUNIT_EXPECT_EQ(test, -EAGAIN, next_error(stage, 0));
}

static void test_default_backlog(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *guest;
	u8 i;

	host_new(stage, 0);
	for (i = 0; i < BACKLOG; i++) {
		fake_cm_put(guest_asks(stage, i));
		fake_cm_flush(stage->fake);
	}
	guest = guest_asks(stage, i);
	expect_rejected(test, guest);
	for (i = 0; i < BACKLOG; i++)
		expect_guest(stage, i);
}

/*
 * More requests are withdrawn than the backlog holds, and none is taken: there is room for others.
 */
static void test_those_who_give_up_make_room(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *guests[3];
	u8 i;

	host_new(stage, 2);
	for (int round = 0; round < 5; round++) {
		for (i = 0; i < ARRAY_SIZE(guests); i++) {
			guests[i] = guest_asks(stage, i);
			/* iw_cm handles no more requests at a time than the backlog holds. */
			fake_cm_flush(stage->fake);
		}
		expect_rejected(test, guests[2]);
		KUNIT_ASSERT_EQ(test, 2, host_waiting(stage));
		for (i = 2; i > 0; i--) {
			guest_gives_up(stage);
			KUNIT_ASSERT_TRUE(test, host_has_waiting(stage, i - 1));
		}
		expect_rejected(test, guests[0]);
		expect_rejected(test, guests[1]);
		KUNIT_EXPECT_EQ(test, -EAGAIN, next_error(stage, 0));
	}
	stage_connect(stage);
}

struct quitter {
	struct work_struct work;
	struct stage *stage;
};

static void quitter_work(struct work_struct *work)
{
	guest_gives_up(container_of(work, struct quitter, work)->stage);
}

/* The peer withdraws its request while it is taken, or shortly before or after. */
static void test_giving_up_races_with_taking(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct quitter quitter = { .stage = stage };
	struct fake_endpoint *guest;
	struct krdma_conn *conn;

	host_new(stage, 1);
	for (u8 round = 0; round < 50; round++) {
		guest = guest_asks(stage, round);
		fake_cm_flush(stage->fake);
		INIT_WORK_ONSTACK(&quitter.work, quitter_work);
		queue_work(stage->works, &quitter.work);
		if (round % 2)
			fsleep(4 * round);
		conn = krdma_listener_next(stage->listener, NULL, NULL, 0);
		if (IS_ERR(conn)) {
			KUNIT_EXPECT_EQ(test, -EAGAIN, PTR_ERR(conn));
		} else {
			krdma_conn_close(conn);
			krdma_conn_put(conn);
		}
		flush_work(&quitter.work);
		destroy_work_on_stack(&quitter.work);
		expect_rejected(test, guest);
		KUNIT_ASSERT_TRUE(test, host_has_waiting(stage, 0));
	}
	stage_connect(stage);
}

/* A request that fails for lack of memory, at any allocation, gives its place back. */
static void test_requests_without_memory_make_room(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *guest;
	bool starved = true;

	host_new(stage, 1);
	for (u8 nth = 1; nth < 50 && starved; nth++) {
		stage->fake->starve_request = nth;
		guest = guest_asks(stage, nth);
		fake_cm_flush(stage->fake);
		starved = !stage->fake->starve_request;
		stage->fake->starve_request = 0;
		/* Some allocations are not essential: the request may be pending all the same. */
		if (krdma_listener_pending(stage->listener))
			expect_guest(stage, nth);
		fake_cm_put(guest);
		KUNIT_ASSERT_TRUE(test, host_has_waiting(stage, 0));
	}
	stage_connect(stage);
}

/* Close rejects pending requests, and leaves connections that were taken alone. */
static void test_close_rejects(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *guests[3];
	u8 i;

	host_new(stage, 0);
	stage_connect(stage);
	for (i = 0; i < ARRAY_SIZE(guests); i++)
		guests[i] = guest_asks(stage, i);
	fake_cm_flush(stage->fake);
	krdma_listener_close(stage->listener);
	for (i = 0; i < ARRAY_SIZE(guests); i++)
		expect_rejected(test, guests[i]);
	KUNIT_EXPECT_EQ(test, -ESHUTDOWN, next_error(stage, 0));
	KUNIT_EXPECT_EQ(test, -ESHUTDOWN, next_error(stage, U32_MAX));
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED,
			PTR_ERR_OR_ZERO(fake_cm_request(stage->fake, STAGE_PORT, "", 0)));

	/* A connection that was taken survives, even after the last reference to the listener. */
	krdma_listener_get(stage->listener);
	krdma_listener_put(stage->listener);
	krdma_listener_put(stage->listener);
	stage->listener = NULL;
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, actor_state(&stage->client));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, actor_state(&stage->server));
	KUNIT_EXPECT_EQ(test, 1, actor_post(&stage->client));
	KUNIT_EXPECT_TRUE(test, actor_completes(&stage->client, 1));
	krdma_listener_put(NULL);
}

/* Whatever happens between a request and the close, the connecting peer gets an answer. */
static void test_close_races_with_requests(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	for (int round = 0; round < 20; round++) {
		stage_listen(stage);
		stage_ask(stage, "");
		if (round % 2)
			fsleep(50 * round);
		krdma_listener_close(stage->listener);
		KUNIT_EXPECT_EQ(test, -ECONNREFUSED,
				krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		stage_close(stage);
		KUNIT_EXPECT_STREQ(test, RESOLVED "rejected -111, closed -111",
				   stage->client.story);
	}
}

/*
 * A request that does not come by the connection manager, whose handlers close() waits for
 */

struct late_lane {
	struct krdma_conn_lower lower;
	struct kunit *test;
	struct krdma_listener *listener;
	struct workqueue_struct *works;
	struct work_struct close_work;
	struct completion closed;
	struct completion freed;
	struct krdma_conn *conn;
	int asked;
};

static void late_close(struct work_struct *work)
{
	struct late_lane *late = container_of(work, struct late_lane, close_work);

	krdma_listener_close(late->listener);
	complete(&late->closed);
}

/* The listener is closed while the request is being made: close() has to wait for it. */
static void late_attach(struct krdma_conn_lower *lower, struct krdma_conn *conn)
{
	struct late_lane *late = container_of(lower, struct late_lane, lower);

	queue_work(late->works, &late->close_work);
	KUNIT_EXPECT_EQ(late->test, 0UL, wait_for_completion_timeout(&late->closed, HZ / 5));
}

static void late_nothing(struct krdma_conn_lower *lower)
{
}

static void late_free(struct krdma_conn_lower *lower)
{
	complete(&container_of(lower, struct late_lane, lower)->freed);
}

static bool late_ended(struct krdma_conn_lower *lower)
{
	return true;
}

static const struct krdma_conn_lower_ops late_ops = {
	.close = late_nothing,
	.end = late_nothing,
	.ended = late_ended,
	.free = late_free,
};

static void host_notify(struct krdma_listener *listener)
{
	struct host *host = krdma_listener_context(listener);

	atomic_inc(&host->calls);
}

/* Fills in the rest of @offer. */
static struct late_lane *late_new(struct stage *stage, const struct krdma_conn_lower_ops *ops,
				  struct krdma_conn_offer *offer)
{
	struct late_lane *late = kunit_kzalloc(stage->test, sizeof(*late), GFP_KERNEL);
	struct sockaddr_in at = fake_address(STAGE_PORT);

	KUNIT_ASSERT_NOT_NULL(stage->test, late);
	offer->dev = krdma_device_at(&init_net, AT(at));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, offer->dev);
	offer->lower = &late->lower;
	memcpy(&offer->local, &at, sizeof(at));
	memcpy(&offer->remote, &at, sizeof(at));
	late->lower.ops = ops;
	late->lower.used = true;
	late->test = stage->test;
	late->listener = stage->listener;
	late->works = stage->works;
	INIT_WORK(&late->close_work, late_close);
	init_completion(&late->closed);
	init_completion(&late->freed);
	return late;
}

static void test_close_waits_for_an_offer(struct kunit *test)
{
	struct krdma_listen_attr attr = { .notify = host_notify };
	struct krdma_conn_offer offer = { .attach = late_attach, .data = "" };
	struct stage *stage = stage_new(test, NULL);
	struct host *host = host_listen(stage, &attr);
	struct late_lane *late = late_new(stage, &late_ops, &offer);

	KUNIT_EXPECT_EQ(test, 0, krdma_listener_offer(stage->listener, &offer));
	/* It was announced before close() returned, and then aborted. */
	KUNIT_EXPECT_NE(test, 0UL, wait_for_completion_timeout(&late->closed, STAGE_LONG));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&host->calls));
	KUNIT_EXPECT_NE(test, 0UL, wait_for_completion_timeout(&late->freed, STAGE_LONG));
	KUNIT_EXPECT_EQ(test, 0U, host_waiting(stage));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&host->calls));
	krdma_device_put(offer.dev);
	flush_work(&late->close_work);
}

/*
 * A lower half that something still uses at its end
 */

static void used_attach(struct krdma_conn_lower *lower, struct krdma_conn *conn)
{
	container_of(lower, struct late_lane, lower)->conn = conn;
}

/*
 * The thread that ends the connection asks twice, and meanwhile nothing uses the lower half any
 * more.  The work item finds that thread at the end of the connection.
 */
static bool used_ended(struct krdma_conn_lower *lower)
{
	struct late_lane *late = container_of(lower, struct late_lane, lower);

	late->asked++;
	if (late->asked == 2) {
		krdma_conn_queue(late->conn);
		flush_work(&late->conn->work);
	}
	return late->asked > 2;
}

static const struct krdma_conn_lower_ops used_ops = {
	.close = late_nothing,
	.end = late_nothing,
	.ended = used_ended,
	.free = late_free,
};

static void test_end_goes_on(struct kunit *test)
{
	struct krdma_conn_offer offer = { .attach = used_attach, .data = "" };
	struct stage *stage = stage_new(test, NULL);
	struct late_lane *late;
	struct krdma_conn *conn;

	host_new(stage, 0);
	late = late_new(stage, &used_ops, &offer);
	KUNIT_ASSERT_EQ(test, 0, krdma_listener_offer(stage->listener, &offer));
	conn = krdma_listener_next(stage->listener, NULL, NULL, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	krdma_conn_end(conn);
	for (int i = 0; i < STAGE_LONG_MS && !READ_ONCE(conn->closed); i++)
		fsleep(1000);
	KUNIT_ASSERT_TRUE(test, READ_ONCE(conn->closed));
	KUNIT_EXPECT_EQ(test, 3, late->asked);
	krdma_conn_close(conn);
	krdma_conn_put(conn);
	KUNIT_EXPECT_NE(test, 0UL, wait_for_completion_timeout(&late->freed, STAGE_LONG));
	krdma_device_put(offer.dev);
}

/*
 * Waiting for requests
 */

struct taker {
	struct work_struct work;
	struct krdma_listener *listener;
	struct completion begun;
	struct krdma_conn *conn;
};

static void taker_work(struct work_struct *work)
{
	struct taker *taker = container_of(work, struct taker, work);

	complete(&taker->begun);
	taker->conn = krdma_listener_next(taker->listener, NULL, taker, U32_MAX);
}

static void taker_begin(struct taker *taker, struct stage *stage)
{
	taker->listener = stage->listener;
	taker->conn = NULL;
	init_completion(&taker->begun);
	INIT_WORK_ONSTACK(&taker->work, taker_work);
	queue_work(stage->works, &taker->work);
	wait_for_completion(&taker->begun);
}

static void taker_end(struct taker *taker)
{
	flush_work(&taker->work);
	destroy_work_on_stack(&taker->work);
}

/* Proves: A3 */
static void test_each_goes_to_one(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct taker takers[4] = {};
	u32 seen = 0;
	u8 said = 0;
	u8 i;

	host_new(stage, 0);
	for (i = 0; i < ARRAY_SIZE(takers); i++)
		taker_begin(&takers[i], stage);
	for (i = 0; i < ARRAY_SIZE(takers) - 1; i++)
		fake_cm_put(fake_cm_request(stage->fake, STAGE_PORT, &i, sizeof(i)));
	/* The close wakes the last waiter. */
	fake_cm_flush(stage->fake);
	while (seen < ARRAY_SIZE(takers) - 1) {
		for (i = 0, seen = 0; i < ARRAY_SIZE(takers); i++)
			seen += !!READ_ONCE(takers[i].conn);
		fsleep(100);
	}
	krdma_listener_close(stage->listener);
	for (i = 0; i < ARRAY_SIZE(takers); i++)
		taker_end(&takers[i]);

	seen = 0;
	for (i = 0; i < ARRAY_SIZE(takers); i++) {
		if (IS_ERR(takers[i].conn)) {
			KUNIT_EXPECT_EQ(test, -ESHUTDOWN, PTR_ERR(takers[i].conn));
			continue;
		}
		KUNIT_EXPECT_PTR_EQ(test, &takers[i], krdma_conn_context(takers[i].conn));
		KUNIT_EXPECT_EQ(test, 1, krdma_conn_private_data(takers[i].conn, &said, 1));
		KUNIT_EXPECT_EQ(test, 0, seen & BIT(said));
		seen |= BIT(said);
		krdma_conn_close(takers[i].conn);
		krdma_conn_put(takers[i].conn);
	}
	KUNIT_EXPECT_EQ(test, BIT(ARRAY_SIZE(takers) - 1) - 1, seen);
}

struct sleeper {
	struct krdma_listener *listener;
	struct completion begun;
	struct completion done;
	long said;
};

static int sleeper_thread(void *data)
{
	struct sleeper *sleeper = data;

	allow_signal(SIGUSR1);
	complete(&sleeper->begun);
	sleeper->said = PTR_ERR(krdma_listener_next(sleeper->listener, NULL, NULL, U32_MAX));
	complete(&sleeper->done);
	return 0;
}

static void test_wait_ends_by_a_signal(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct sleeper sleeper = {};
	struct task_struct *task;

	host_new(stage, 0);
	sleeper.listener = stage->listener;
	init_completion(&sleeper.begun);
	init_completion(&sleeper.done);
	task = kthread_run(sleeper_thread, &sleeper, "krdma_sleeper");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	wait_for_completion(&sleeper.begun);
	send_sig(SIGUSR1, task, 1);
	wait_for_completion(&sleeper.done);
	KUNIT_EXPECT_EQ(test, -EINTR, sleeper.said);
}

static void close_work(struct work_struct *work)
{
	krdma_listener_close(container_of(work, struct taker, work)->listener);
}

static void test_many_close(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *guest;
	struct taker closers[4];
	unsigned int i;

	for (int round = 0; round < 10; round++) {
		host_new(stage, 0);
		/*
		 * Without private data: iw_cm loses those of a request that its listener does not
		 * get.
		 */
		guest = fake_cm_request(stage->fake, STAGE_PORT, "", 0);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, guest);
		fake_cm_put(guest);
		for (i = 0; i < ARRAY_SIZE(closers); i++) {
			closers[i].listener = stage->listener;
			INIT_WORK_ONSTACK(&closers[i].work, close_work);
			queue_work(stage->works, &closers[i].work);
		}
		for (i = 0; i < ARRAY_SIZE(closers); i++)
			taker_end(&closers[i]);
		KUNIT_EXPECT_EQ(test, -ESHUTDOWN, next_error(stage, 0));
		stage_close(stage);
	}
}

/*
 * Removal of devices
 */

static void test_device_goes(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct host *host = host_new(stage, 0);
	struct fake_endpoint *guest;
	struct taker taker;

	taker_begin(&taker, stage);
	test_device_unregister(stage->device);
	taker_end(&taker);
	KUNIT_EXPECT_EQ(test, -ENODEV, PTR_ERR_OR_ZERO(taker.conn));
	KUNIT_EXPECT_TRUE(test, host_hears(host, 1));
	KUNIT_EXPECT_EQ(test, -ENODEV, next_error(stage, 0));
	KUNIT_EXPECT_EQ(test, -ENODEV, next_error(stage, U32_MAX));
	stage_close(stage);

	/* With a request pending. */
	test_device_replace(stage->device);
	stage->fake = stage->device->fake;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(stage->device, STAGE_DEVICE));
	host_new(stage, 0);
	guest = guest_asks(stage, 0);
	fake_cm_flush(stage->fake);
	test_device_unregister(stage->device);
	expect_rejected(test, guest);
	KUNIT_EXPECT_EQ(test, -ENODEV, next_error(stage, 0));
	krdma_listener_close(stage->listener);
	KUNIT_EXPECT_EQ(test, -ESHUTDOWN, next_error(stage, 0));
}

/* A listener on all devices survives the removal of one, and listens on those added later. */
static void test_wildcard_stays(struct kunit *test)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(STAGE_PORT) };
	struct krdma_listen_attr attr = { .local = AT(any) };
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *guest;

	stage->listener = krdma_listen(stage->session, &attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stage->listener);
	guest = guest_asks(stage, 0);
	fake_cm_flush(stage->fake);
	test_device_unregister(stage->device);
	expect_rejected(test, guest);
	/* The device of this request is gone. */
	KUNIT_EXPECT_EQ(test, -EAGAIN, next_error(stage, 0));

	test_device_replace(stage->device);
	stage->fake = stage->device->fake;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(stage->device, STAGE_DEVICE));
	guest = guest_asks(stage, 1);
	expect_guest(stage, 1);
	expect_rejected(test, guest);
	stage_connect(stage);
}

/* Reports to @handler, the listener's, what a bond reports when its active interface changes. */
static void move_listener(struct stage *stage, rdma_cm_event_handler handler)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ADDR_CHANGE };
	/* The listener's own id may be being destroyed already. */
	struct rdma_cm_id id = { .context = stage->listener };

	KUNIT_EXPECT_EQ(stage->test, 0, handler(&id, &event));
}

static bool has_moved(struct stage *stage)
{
	for (int i = 0; i < STAGE_LONG_MS && !fake_device_calls(stage->fake, FAKE_IW_LISTEN); i++)
		usleep_range(1000, 2000);
	return fake_device_calls(stage->fake, FAKE_IW_LISTEN) == 1;
}

/* The address moves: the listener follows it, and pending requests stay. */
static void test_moves(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	rdma_cm_event_handler handler;

	stage_listen(stage);
	handler = stage->listener->cm_id->event_handler;
	for (int i = 0; i < 3; i++) {
		fake_device_fail(stage->fake, FAKE_IW_LISTEN, 0, 0);
		stage_reach_requested(stage);
		move_listener(stage, handler);
		KUNIT_EXPECT_TRUE(test, has_moved(stage));
		KUNIT_EXPECT_EQ(test, 0, actor_accept(&stage->server, ""));
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		actor_close(&stage->client);
		actor_close(&stage->server);
		stage_connect(stage);
		actor_close(&stage->client);
		actor_close(&stage->server);
	}
	/* Many moves at a time, and the close among them. */
	for (int i = 0; i < 10; i++)
		move_listener(stage, handler);
	stage_close(stage);
}

/*
 * If the listener cannot listen at the new place, the consumer is notified as if the device were
 * gone.
 */
static void test_moves_away(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	fake_device_fail(stage->fake, FAKE_IW_LISTEN, 1, -EIO);
	move_listener(stage, stage->listener->cm_id->event_handler);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			PTR_ERR(krdma_listener_next(stage->listener, NULL, NULL, STAGE_LONG_MS)));
	stage_close(stage);
}

static struct kunit_case listen_cases[] = {
	KUNIT_CASE(test_bad_addresses),
	KUNIT_CASE(test_port_in_use),
	KUNIT_CASE(test_any_port),
	KUNIT_CASE(test_requests_come_in_order),
	KUNIT_CASE(test_ready),
	KUNIT_CASE(test_notified),
	KUNIT_CASE(test_backlog),
	KUNIT_CASE(test_default_backlog),
	KUNIT_CASE(test_those_who_give_up_make_room),
	KUNIT_CASE(test_giving_up_races_with_taking),
	KUNIT_CASE(test_requests_without_memory_make_room),
	KUNIT_CASE(test_close_rejects),
	KUNIT_CASE(test_close_races_with_requests),
	KUNIT_CASE(test_close_waits_for_an_offer),
	KUNIT_CASE(test_end_goes_on),
	KUNIT_CASE(test_each_goes_to_one),
	KUNIT_CASE(test_wait_ends_by_a_signal),
	KUNIT_CASE(test_many_close),
	KUNIT_CASE(test_device_goes),
	KUNIT_CASE(test_wildcard_stays),
	KUNIT_CASE(test_moves),
	KUNIT_CASE(test_moves_away),
	{}
};

static struct kunit_suite listen_suite = {
	.name = "krdma_listen",
	.init = test_objects_init,
	.test_cases = listen_cases,
};

kunit_test_suite(listen_suite);
