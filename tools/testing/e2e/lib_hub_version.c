// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's hubs and peers that have another version of the protocol, or none: each side learns
 * which version the other one has.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <hub_wire.h>
#include <krdma_hub.h>
#include <wire.h>

#include "kselftest_harness.h"
#include "lib_both.h"
#include "lib_hub_peer.h"
#include "lib_raw.h"
#include "session.h"

#define PATIENCE	krdma_deadline(60000)
/* A version that no hub has yet. */
#define OTHER		77

static size_t greet(unsigned char *wire, uint16_t version)
{
	static const struct hub_greeting greeting = {
		.depth = 8, .eager = 2048, .longest = 1 << 24,
	};
	size_t length = hub_greeting_write(&greeting, wire);

	wire_put16(wire + 4, version);
	return length;
}

/* Whether the words name both versions. */
static bool names_versions(const char *words)
{
	return strstr(words, "version 1") && strstr(words, "version 77");
}

/*
 * A client of another version
 */

static int stop;

static void *serve(void *context)
{
	struct krdma_ep_record record;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		if (!krdma_hub_next(context, krdma_deadline(20), &record, sizeof(record)))
			krdma_ep_done(&record);
	}
	return NULL;
}

/* How a hub refuses private data: its error, and what the client sees. */
struct refusal {
	int err;
	int error;
	char words[KRDMA_WHY_MAX + 1];
};

static void be_refused(struct __test_metadata *_metadata, const void *hello, size_t length,
		       struct refusal *refusal)
{
	unsigned char data[HUB_REFUSAL_MAX + 64];
	struct files peer = { 0 };
	struct krdma_hub *hub;
	pthread_t thread;
	struct raw raw;
	char at[64];

	memset(refusal, 0, sizeof(*refusal));
	snprintf(at, sizeof(at), "%s:0", both_address());
	ASSERT_EQ(0, krdma_hub_open(at, NULL, &hub));
	ASSERT_EQ(0, krdma_hub_address(hub, &peer.address));
	stop = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, serve, hub));
	ASSERT_EQ(0, krdma_open(&peer.session));
	EXPECT_EQ(0, files_at(&peer, both_address()));
	EXPECT_EQ(-ECONNREFUSED, raw_connect(&raw, &peer, hello, length));
	length = sizeof(data);
	refusal->err = krdma_conn_private_data(raw.conn, data, &length);
	if (!refusal->err)
		refusal->err = hub_refusal_read(data, length, &refusal->error, refusal->words);
	raw_close(&raw);
	krdma_close(peer.session);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	krdma_hub_close(hub);
}

/* Proves: F10 (library) */
TEST(a_client_of_another_version_is_told)
{
	unsigned char hello[HUB_GREETING_MAX];
	struct refusal refusal;

	be_refused(_metadata, hello, greet(hello, OTHER), &refusal);
	EXPECT_EQ(0, refusal.err);
	EXPECT_EQ(-EPROTONOSUPPORT, refusal.error);
	EXPECT_TRUE(names_versions(refusal.words)) {
		TH_LOG("it says: %s", refusal.words);
	}
	/* What is no hub has no version. */
	be_refused(_metadata, "hello, hub", 10, &refusal);
	EXPECT_EQ(0, refusal.err);
	EXPECT_EQ(-EPROTO, refusal.error);
	EXPECT_EQ(NULL, strstr(refusal.words, "version")) {
		TH_LOG("another program is told: %s", refusal.words);
	}
}

/*
 * A server of another version
 */

/* Refuses or accepts a connection request; with @version 0 as a program that is no hub. */
static void answer(struct krdma *session, struct krdma_conn *conn, bool refuse, uint16_t version)
{
	unsigned char wire[HUB_REFUSAL_MAX] = { 0 };
	size_t length = 0;
	struct raw raw;

	if (!refuse) {
		if (version)
			length = greet(wire, version);
		/* The client may end the connection at once. */
		raw_take(&raw, session, conn, wire, length);
		raw_close(&raw);
		return;
	}
	if (version) {
		length = hub_refusal_write(-EPROTONOSUPPORT, "not this one", wire);
		wire_put16(wire + 4, version);
	}
	krdma_conn_reject(conn, wire, length);
	krdma_conn_close(conn);
}

/* Connects a hub to such a server; @record receives its end, and @why the words. */
static void meet(struct __test_metadata *_metadata, bool refuse, uint16_t version,
		 struct krdma_ep_record *record, char why[512])
{
	struct krdma_listener *listener;
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_hub *hub;
	struct krdma_ep *ep;
	char to[HUB_PEER_TO];

	ASSERT_EQ(0, krdma_open(&session));
	ASSERT_EQ(0, hub_peer_listen(session, &listener, to));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &hub));
	ASSERT_EQ(0, krdma_ep_connect(hub, to, NULL, 0, 0, &ep));
	while (krdma_listener_next(listener, 0, &conn))
		krdma_hub_next(hub, krdma_deadline(20), record, sizeof(*record));
	answer(session, conn, refuse, version);
	ASSERT_EQ(0, krdma_hub_next(hub, PATIENCE, record, sizeof(*record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record->event);
	snprintf(why, 512, "%s", krdma_ep_why(ep));
	krdma_hub_close(hub);
	krdma_listener_close(listener);
	krdma_close(session);
}

/* "Nothing listens" would send its reader to look for a server that is there. */
/* Proves: F10 (library) */
TEST(a_server_of_another_version_is_named)
{
	struct krdma_ep_record record;
	char why[512];

	for (int refuse = 0; refuse < 2; refuse++) {
		meet(_metadata, refuse, OTHER, &record, why);
		EXPECT_EQ(-EPROTONOSUPPORT, record.error);
		EXPECT_TRUE(names_versions(why)) {
			TH_LOG("%s, it says: %s", refuse ? "refused" : "accepted", why);
		}
		meet(_metadata, refuse, 0, &record, why);
		EXPECT_EQ(refuse ? -ECONNREFUSED : -EPROTO, record.error);
		EXPECT_EQ(NULL, strstr(why, "version")) {
			TH_LOG("%s by another program, it says: %s",
			       refuse ? "refused" : "accepted", why);
		}
	}
}

/*
 * A client that waits: the endpoint is gone when the attempt has failed.
 */

/**
 * struct stranger - a program that takes one connection request, in a thread
 * @session, @listener: of the program
 * @refuse: it refuses the request
 */
struct stranger {
	struct krdma *session;
	struct krdma_listener *listener;
	bool refuse;
};

static void *be_stranger(void *context)
{
	struct stranger *stranger = context;
	struct krdma_conn *conn;

	if (!krdma_listener_next(stranger->listener, PATIENCE, &conn))
		answer(stranger->session, conn, stranger->refuse, OTHER);
	return NULL;
}

/* Proves: F10 (library) */
TEST(a_client_that_waits_learns_why)
{
	struct stranger stranger = { 0 };
	struct krdma_hub *hub;
	struct krdma_ep *ep;
	char to[HUB_PEER_TO];
	pthread_t thread;

	ASSERT_EQ(0, krdma_open(&stranger.session));
	ASSERT_EQ(0, hub_peer_listen(stranger.session, &stranger.listener, to));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &hub));
	EXPECT_STREQ("", krdma_hub_why(hub));
	for (int refuse = 0; refuse < 2; refuse++) {
		stranger.refuse = refuse;
		ASSERT_EQ(0, pthread_create(&thread, NULL, be_stranger, &stranger));
		EXPECT_EQ(-EPROTONOSUPPORT, krdma_ep_connect(hub, to, NULL, 0, PATIENCE, &ep));
		pthread_join(thread, NULL);
		EXPECT_TRUE(names_versions(krdma_hub_why(hub))) {
			TH_LOG("it says: %s", krdma_hub_why(hub));
		}
	}
	krdma_listener_close(stranger.listener);
	EXPECT_EQ(-ECONNREFUSED, krdma_ep_connect(hub, to, NULL, 0, PATIENCE, &ep));
	EXPECT_NE(NULL, strstr(krdma_hub_why(hub), "nothing listens there"));
	/* These are the words of the last attempt alone. */
	ASSERT_EQ(0, krdma_ep_connect(hub, to, NULL, 0, 0, &ep));
	EXPECT_STREQ("", krdma_hub_why(hub));
	EXPECT_STREQ("", krdma_hub_why(NULL));
	krdma_hub_close(hub);
	krdma_close(stranger.session);
}

TEST_HARNESS_MAIN
