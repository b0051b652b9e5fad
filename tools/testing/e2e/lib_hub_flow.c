// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's hubs where much waits: a peer that takes nothing of what is sent to it for a while, so
 * that what waits for it is limited and says nothing twice; a program that takes nothing for a
 * while of what many peers have sent, of which nothing is lost or late; and a peer that waits until
 * a hub can take requests again.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <hub_wire.h>
#include <krdma_hub.h>

#include "kselftest_harness.h"
#include "lib_both.h"
#include "lib_files.h"
#include "lib_hub_peer.h"
#include "lib_pair.h"
#include "session.h"

/* Far more frames than a peer has receives for. */
#define MANY		400

FIXTURE(flow)
{
	struct krdma_hub *hub;
	pthread_t thread;
	int stop;
	int left;
	char why[512];
	struct files at;
	struct hub_peer peer;
};

static int load(const int *number)
{
	return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/* A hub that answers every call. */
static void *serve(void *context)
{
	FIXTURE_DATA(flow) * self = context;
	struct krdma_ep_record record;

	while (!load(&self->stop)) {
		if (krdma_hub_next(self->hub, krdma_deadline(20), &record, sizeof(record)))
			continue;
		if (record.event == KRDMA_EP_MESSAGE && record.call)
			krdma_ep_answer(&record, record.tag, "answer", 6);
		krdma_ep_done(&record);
		if (record.event != KRDMA_EP_LEFT)
			continue;
		snprintf(self->why, sizeof(self->why), "%s", krdma_ep_why(record.ep));
		krdma_ep_close(record.ep, NULL);
		__atomic_store_n(&self->left, record.error ? record.error : 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

FIXTURE_SETUP(flow)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
	};
	unsigned char hello[HUB_GREETING_MAX];
	size_t length = hub_peer_greeting(hello);
	char at[64];

	memset(self, 0, sizeof(*self));
	snprintf(at, sizeof(at), "%s:0", both_address());
	ASSERT_EQ(0, krdma_hub_open(at, &options, &self->hub));
	ASSERT_EQ(0, krdma_hub_address(self->hub, &self->at.address));
	ASSERT_EQ(0, files_at(&self->at, both_address()));
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, serve, self));
	ASSERT_EQ(0, hub_peer_open(&self->peer));
	ASSERT_EQ(0, hub_peer_connect(&self->peer, (struct sockaddr *)&self->at.address, hello,
				      length, 0));
}

FIXTURE_TEARDOWN(flow)
{
	hub_peer_close(&self->peer);
	__atomic_store_n(&self->stop, 1, __ATOMIC_RELEASE);
	pthread_join(self->thread, NULL);
	krdma_hub_close(self->hub);
}

static int say(FIXTURE_DATA(flow) * self, struct hub_frame frame, const char *data)
{
	return hub_peer_send(&self->peer, &frame, data, data ? strlen(data) : 0, LIB_PATIENCE);
}

/* The peer was disconnected because of what it did, and not only because time has passed. */
static void expect_end(struct __test_metadata *_metadata, FIXTURE_DATA(flow) * self, int sent)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	while (!load(&self->left) && now_ms() < end)
		sleep_ms(10);
	EXPECT_EQ(-EPROTO, load(&self->left)) {
		TH_LOG("after %d frames: %s", sent, self->why);
	}
}

/* Each request for memory has a reply, which needs memory here until the peer takes it. */
/* Proves: F10 (library) */
TEST_F(flow, replies_that_are_not_taken_are_limited)
{
	struct hub_frame ask = { .kind = HUB_ASK, .code = KRDMA_ACCESS_REMOTE_READ };
	int sent = 0;

	while (sent < MANY) {
		ask.call = (uint32_t)(sent + 1) << 8 | sent % HUB_PEER_DEPTH;
		if (say(self, ask, "memory"))
			break;
		sent++;
	}
	expect_end(_metadata, self, sent);
}

/* Proves: F10 (library) */
TEST_F(flow, answers_that_are_not_taken_are_limited)
{
	struct hub_frame call = { .kind = HUB_CALL };
	int sent = 0;

	while (sent < MANY) {
		call.call = (uint32_t)(sent + 1) << 8 | sent % HUB_PEER_DEPTH;
		if (say(self, call, "call"))
			break;
		/* The hub has taken it and answered. */
		sleep_ms(10);
		sent++;
	}
	expect_end(_metadata, self, sent);
}

/*
 * A peer whose receives are late, as over a slow network.  Then the hub has no place for another
 * frame, and what it says later must not say the same twice: a hub ends such a peer.
 */
/* Proves: F10 (library) */
TEST_F(flow, room_is_said_once)
{
	struct hub_frame call = { .kind = HUB_CALL }, message = { .kind = HUB_MESSAGE }, frame;
	unsigned int number, frames = 0, rooms = 0, again = 0, calls = 3 * HUB_PEER_DEPTH;
	uint32_t told = 0;
	int err;

	for (unsigned int i = 0; i < calls; i++) {
		call.call = (i + 1) << 8 | i % HUB_PEER_DEPTH;
		ASSERT_EQ(0, say(self, call, "call"));
		sleep_ms(10);
	}
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++) {
		ASSERT_EQ(0, say(self, message, "message"));
		sleep_ms(10);
	}
	for (unsigned int i = 0; i < HUB_PEER_RECEIVES; i++)
		ASSERT_EQ(0, hub_peer_receive(&self->peer, i));
	while (!(err = hub_peer_next(&self->peer, krdma_deadline(5000), &frame, &number))) {
		frames++;
		EXPECT_EQ(0, hub_peer_receive(&self->peer, number));
		rooms += frame.kind == HUB_ROOM;
		again += frame.kind == HUB_ROOM && frame.taken == told;
		told = frame.taken;
	}
	EXPECT_EQ(-ETIMEDOUT, err);
	TH_LOG("%u frames, %u of them about room", frames, rooms);
	EXPECT_EQ(0, again);
	EXPECT_EQ(calls + HUB_PEER_DEPTH, told);
}

/*
 * Peers that send while the program does something else: far more than a hub takes at a time. One
 * thread has the hub and the peers. A hub that has records looks at everything else in one of some
 * records, so there are tests after each number of records before.
 */
#define CROWD		20
#define RECORDS		16

FIXTURE(busy)
{
	struct krdma_hub *hub;
	struct hub_peer crowd[CROWD];
	struct hub_peer peer;
	struct krdma_ep *ep;
};

FIXTURE_SETUP(busy)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
	};
	struct krdma_ep *ep;

	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->hub));
	ASSERT_EQ(0, hub_peer_open(&self->peer));
	for (unsigned int i = 0; i < CROWD; i++) {
		ASSERT_EQ(0, hub_peer_open(&self->crowd[i]));
		ASSERT_EQ(0, hub_peer_meet(self->hub, &self->crowd[i], HUB_PEER_RECEIVES, &ep));
	}
}

FIXTURE_TEARDOWN(busy)
{
	for (unsigned int i = 0; i < CROWD; i++)
		hub_peer_close(&self->crowd[i]);
	hub_peer_close(&self->peer);
	krdma_hub_close(self->hub);
}

/* The program takes @before records, and then all of the crowd send what they may. */
static void pile_up(struct __test_metadata *_metadata, FIXTURE_DATA(busy) * self,
		    unsigned int before)
{
	struct krdma_ep_record record;

	for (unsigned int i = 0; i < before; i++) {
		ASSERT_EQ(0, hub_peer_refill(&self->crowd[i]));
		ASSERT_EQ(0, krdma_hub_next(self->hub, LIB_PATIENCE, &record, sizeof(record)));
		krdma_ep_done(&record);
	}
	for (unsigned int i = 0; i < CROWD * HUB_PEER_DEPTH; i++)
		ASSERT_EQ(0, hub_peer_refill(&self->crowd[i / HUB_PEER_DEPTH]));
}

/*
 * Takes all that is there, and what follows until the peer has a record with this event, which
 * @last receives.  Returns how many messages of the peer came before.
 */
static unsigned int take_until(FIXTURE_DATA(busy) * self, uint32_t event,
			       struct krdma_ep_record *last)
{
	unsigned int messages = 0;
	struct krdma_ep_record record;

	memset(last, 0, sizeof(*last));
	while (!krdma_hub_next(self->hub, last->event ? 0 : LIB_PATIENCE, &record,
			       sizeof(record))) {
		krdma_ep_done(&record);
		if (record.ep != self->ep)
			continue;
		messages += record.event == KRDMA_EP_MESSAGE;
		if (record.event == event)
			*last = record;
	}
	return messages;
}

/* Proves: F10 (library) */
TEST_F_TIMEOUT(busy, all_that_a_peer_has_sent_comes_before_its_end, 300)
{
	const struct hub_frame bye = { .kind = HUB_BYE };
	struct krdma_ep_record left;

	for (unsigned int before = 0; before < RECORDS; before++) {
		ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
		pile_up(_metadata, self, before);
		for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++)
			ASSERT_EQ(0, hub_peer_refill(&self->peer));
		ASSERT_EQ(0, hub_peer_send(&self->peer, &bye, NULL, 0, LIB_PATIENCE));
		ASSERT_EQ(0, krdma_conn_disconnect(self->peer.conn, 0));
		ASSERT_EQ(0, krdma_conn_await_closed(self->peer.conn, LIB_PATIENCE));
		EXPECT_EQ(HUB_PEER_DEPTH, take_until(self, KRDMA_EP_LEFT, &left)) {
			TH_LOG("after %u records", before);
		}
		EXPECT_EQ(KRDMA_EP_LEFT, left.event);
		EXPECT_EQ(0, left.error) {
			TH_LOG("after %u records: %s", before, krdma_ep_why(self->ep));
		}
		krdma_ep_close(self->ep, NULL);
		hub_peer_leave(&self->peer);
	}
}

/* The answer is there before the program makes the call, and the deadline passes at once. */
/* Proves: F10 (library) */
TEST_F_TIMEOUT(busy, an_answer_that_has_arrived_is_not_late, 300)
{
	const struct hub_frame answer = { .kind = HUB_ANSWER, .call = 1 << 8, .taken = 1 };
	struct krdma_ep_record record;

	for (unsigned int before = 0; before < RECORDS; before++) {
		ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
		pile_up(_metadata, self, before);
		ASSERT_EQ(0, hub_peer_send(&self->peer, &answer, "a", 1, LIB_PATIENCE));
		ASSERT_EQ(0, krdma_ep_call_begin(self->ep, 1, "c", 1, 1, 41));
		take_until(self, KRDMA_EP_ANSWER, &record);
		EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
		EXPECT_EQ(41, record.user_data);
		EXPECT_EQ(0, record.error) {
			TH_LOG("after %u records", before);
		}
		krdma_ep_close(self->ep, NULL);
		hub_peer_leave(&self->peer);
	}
}

/*
 * Requests that cannot be taken
 */

#define WATCHES		"/proc/sys/fs/epoll/max_user_watches"

/* How many descriptors all epoll descriptors of this user may have together. */
static long watches(long wanted)
{
	FILE *file = fopen(WATCHES, wanted < 0 ? "r" : "w");
	long is = -1;

	if (!file)
		return -1;
	if (wanted < 0 && fscanf(file, "%ld", &is) != 1)
		is = -1;
	if (wanted >= 0)
		is = fprintf(file, "%ld\n", wanted) > 0 ? wanted : -1;
	return fclose(file) ? -1 : is;
}

/*
 * The hub has no descriptor for a request, stops watching its listener, and cannot watch it when it
 * tries again.
 */
/* Proves: F10 (library) */
TEST(a_server_without_watches)
{
	struct krdma_hub *server, *client;
	struct krdma_ep_record record;
	struct rlimit before, none;
	struct files at = { 0 };
	struct pollfd arrived;
	char text[64], to[64];
	struct krdma_ep *ep;
	long most = watches(-1);
	uint64_t end;

	ASSERT_LT(0, most);
	snprintf(text, sizeof(text), "%s:0", both_address());
	ASSERT_EQ(0, krdma_hub_open(text, NULL, &server));
	arrived = (struct pollfd){ .fd = krdma_hub_fd(server), .events = POLLIN };
	ASSERT_EQ(0, krdma_hub_address(server, &at.address));
	snprintf(to, sizeof(to), "%s:%u", both_address(),
		 ntohs(((struct sockaddr_in *)&at.address)->sin_port));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &client));
	ASSERT_EQ(0, krdma_ep_connect(client, to, NULL, 0, 0, &ep));
	/* Until the request waits at the server. */
	end = now_ms() + PATIENCE_MS;
	while (!poll(&arrived, 1, 0) && now_ms() < end)
		krdma_hub_next(client, krdma_deadline(10), &record, sizeof(record));
	ASSERT_EQ(POLLIN, arrived.revents);
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	none = before;
	none.rlim_cur = 3;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-ETIMEDOUT, krdma_hub_next(server, krdma_deadline(300), &record, sizeof(record)));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
	EXPECT_EQ(0, watches(0));
	EXPECT_EQ(-ETIMEDOUT, krdma_hub_next(server, krdma_deadline(2500), &record,
					     sizeof(record)));
	EXPECT_EQ(most, watches(most));
	end = now_ms() + PATIENCE_MS;
	while (krdma_hub_next(client, 0, &record, sizeof(record)) && now_ms() < end)
		krdma_hub_next(server, krdma_deadline(20), &record, sizeof(record));
	EXPECT_EQ(KRDMA_EP_JOINED, record.event);
	EXPECT_TRUE(record.ep == ep);
	krdma_hub_close(client);
	krdma_hub_close(server);
}

TEST_HARNESS_MAIN
