// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's hubs with a secret: both sides prove that they know it, before the program of a hub
 * sees anything of its peer.
 *
 * A hub is in a thread of its own.  Its peers are hubs, or connections whose frames the test makes.
 */
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <krdma_entry.h>
#include <krdma_hub.h>

#include "kselftest_harness.h"
#include "lib_both.h"
#include "lib_hub_peer.h"
#include "lib_pair.h"
#include "lib_usage.h"
#include "session.h"

#define PATIENCE	LIB_PATIENCE
#define SECRET		"a secret of 24 bytes....", 24
#define OTHER		"a secret of 24 bytes...,", 24
#define LONGER		"a secret of 24 bytes.....", 25
#define CALL(count)	((uint32_t)(count) << 8)
/* How long a hub waits for proofs, where a test waits for that. */
#define IDLE_MS		4000

/**
 * struct server - a hub in a thread of its own
 * @hub: the hub
 * @at: where it listens
 * @address: the same as text
 * @thread: the thread
 * @stop: set by the test
 * @to, @connect: an address, and that the hub is to connect to it
 * @joined, @messages, @left, @asked: number of records, and of calls of @admit
 * @allowed: number of requests for named memory
 * @error, @why: of the last record LEFT
 * @hello: of the last call of @admit
 * @answer: what @admit returns for "foe"
 */
struct server {
	struct krdma_hub *hub;
	struct sockaddr_storage at;
	char address[64];
	pthread_t thread;
	int stop;
	char to[HUB_PEER_TO];
	int connect;
	unsigned int joined;
	unsigned int messages;
	unsigned int left;
	unsigned int asked;
	unsigned int allowed;
	int error;
	char why[512];
	char hello[KRDMA_HELLO_MAX + 1];
	int answer;
	char memory[64];
};

static unsigned int load(const unsigned int *number)
{
	return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static void add(unsigned int *number)
{
	__atomic_add_fetch(number, 1, __ATOMIC_ACQ_REL);
}

/* Waits until a number that the server counts is there. */
static bool counts(const unsigned int *number, unsigned int expected)
{
	for (int i = 0; i < 6000 && load(number) < expected; i++)
		sleep_ms(10);
	return load(number) == expected;
}

static int admit(void *context, const struct sockaddr *peer, const void *hello, size_t length)
{
	struct server *server = context;

	memset(server->hello, 0, sizeof(server->hello));
	memcpy(server->hello, hello, length);
	add(&server->asked);
	if (peer->sa_family != AF_INET)
		return -EAFNOSUPPORT;
	if (strcmp(server->hello, "foe"))
		return 0;
	return __atomic_load_n(&server->answer, __ATOMIC_ACQUIRE);
}

static int allow(void *context, struct krdma_ep *ep)
{
	(void)ep;
	add(&((struct server *)context)->allowed);
	return 0;
}

static void take(struct server *server, struct krdma_ep_record *record)
{
	switch (record->event) {
	case KRDMA_EP_JOINED:
		add(&server->joined);
		break;
	case KRDMA_EP_MESSAGE:
		if (record->call)
			krdma_ep_answer(record, record->tag, record->data, record->length);
		add(&server->messages);
		break;
	case KRDMA_EP_LEFT:
		/* Of the first one, which the test reads once it is counted. */
		if (!load(&server->left)) {
			server->error = record->error;
			snprintf(server->why, sizeof(server->why), "%s", krdma_ep_why(record->ep));
		}
		krdma_ep_close(record->ep, NULL);
		add(&server->left);
		break;
	}
	krdma_ep_done(record);
}

static void *serve(void *context)
{
	struct server *server = context;
	struct krdma_ep_record record;
	struct krdma_ep *ep;

	while (!__atomic_load_n(&server->stop, __ATOMIC_ACQUIRE)) {
		if (__atomic_exchange_n(&server->connect, 0, __ATOMIC_ACQ_REL))
			krdma_ep_connect(server->hub, server->to, NULL, 0, 0, &ep);
		if (!krdma_hub_next(server->hub, krdma_deadline(20), &record, sizeof(record)))
			take(server, &record);
	}
	return NULL;
}

static struct krdma_hub_options options_of(const void *secret, uint32_t length)
{
	return (struct krdma_hub_options){
		.size = sizeof(struct krdma_hub_options), .depth = HUB_PEER_DEPTH,
		.eager = HUB_PEER_EAGER, .secret = secret, .secret_length = length,
	};
}

/* Opens the hub at a free port; its program admits all but "foe". */
static int server_start(struct server *server, struct krdma_hub_options options)
{
	char at[64];
	int err;

	memset(server, 0, sizeof(*server));
	options.admit = admit;
	options.context = server;
	snprintf(at, sizeof(at), "%s:0", both_address());
	err = krdma_hub_open(at, &options, &server->hub);
	if (!err)
		err = krdma_hub_share(server->hub, "memory", server->memory,
				      sizeof(server->memory), KRDMA_ACCESS_REMOTE_READ, allow,
				      server);
	if (!err)
		err = krdma_hub_address(server->hub, &server->at);
	if (!err)
		err = -pthread_create(&server->thread, NULL, serve, server);
	snprintf(server->address, sizeof(server->address), "%s:%u", both_address(),
		 ntohs(((struct sockaddr_in *)&server->at)->sin_port));
	return err;
}

static void server_stop(struct server *server)
{
	__atomic_store_n(&server->stop, 1, __ATOMIC_RELEASE);
	if (server->thread)
		pthread_join(server->thread, NULL);
	server->thread = 0;
	krdma_hub_close(server->hub);
	server->hub = NULL;
}

/* Sets what the program of the server says to "foe" from now on. */
static void set_answer(struct server *server, int answer)
{
	__atomic_store_n(&server->answer, answer, __ATOMIC_RELEASE);
}

/* Whether the program of the server has seen nothing of any peer. */
static bool saw_nothing(const struct server *server)
{
	return !load(&server->joined) && !load(&server->messages) && !load(&server->left) &&
	       !load(&server->asked) && !load(&server->allowed);
}

static int open_client(const void *secret, uint32_t length, struct krdma_hub **client)
{
	const struct krdma_hub_options options = options_of(secret, length);

	return krdma_hub_open(NULL, &options, client);
}

static bool echoes(struct krdma_ep *ep)
{
	struct krdma_ep_record answer = { 0 };
	bool same;

	if (krdma_ep_call(ep, 1, "hello", 5, PATIENCE, &answer, sizeof(answer)))
		return false;
	same = answer.length == 5 && !memcmp(answer.data, "hello", 5);
	krdma_ep_done(&answer);
	return same;
}

FIXTURE(secret)
{
	struct server server;
	struct krdma_hub *client;
	struct krdma_ep *ep;
	struct hub_peer peer;
	struct hub_peer second;
	struct secret *secret;
	struct hub_peer_nonces nonces;
	struct krdma_listener *listener;
	char to[HUB_PEER_TO];
};

FIXTURE_SETUP(secret)
{
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, server_start(&self->server, options_of(SECRET)));
	ASSERT_EQ(0, open_client(SECRET, &self->client));
	ASSERT_EQ(0, hub_peer_open(&self->peer));
	ASSERT_EQ(0, hub_peer_open(&self->second));
	ASSERT_EQ(0, secret_set(&self->secret, SECRET));
	ASSERT_EQ(0, hub_peer_listen(self->peer.session, &self->listener, self->to));
}

FIXTURE_TEARDOWN(secret)
{
	krdma_listener_close(self->listener);
	hub_peer_close(&self->second);
	hub_peer_close(&self->peer);
	krdma_hub_close(self->client);
	server_stop(&self->server);
	secret_free(self->secret);
}

/*
 * Hubs
 */

/* Proves: F10 (library) */
TEST_F(secret, peers_that_know_it_join)
{
	struct krdma_ep_record record;
	struct krdma_ep *ep;

	ASSERT_EQ(0, krdma_ep_connect(self->client, self->server.address, "friend", 6, PATIENCE,
				      &self->ep)) {
		TH_LOG("%s", self->server.why);
	}
	EXPECT_TRUE(echoes(self->ep));
	EXPECT_EQ(1, load(&self->server.joined));
	EXPECT_EQ(1, load(&self->server.asked));
	EXPECT_STREQ("friend", self->server.hello);
	/* Without waiting: the record comes after the proof. */
	ASSERT_EQ(0, krdma_ep_connect(self->client, self->server.address, NULL, 0, 0, &ep));
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_JOINED, record.event);
	EXPECT_TRUE(record.ep == ep && echoes(ep));
	EXPECT_STREQ("", self->server.hello);
	EXPECT_EQ(2, load(&self->server.joined));
	krdma_ep_close(ep, "bye");
	EXPECT_TRUE(counts(&self->server.left, 1));
	EXPECT_NE(NULL, strstr(self->server.why, "\"bye\""));
	EXPECT_TRUE(echoes(self->ep));
}

/* Proves: F10 (library) */
TEST(other_peers_do_not_join)
{
	static const struct {
		const void *server;
		uint32_t server_length;
		const void *client;
		uint32_t client_length;
		int error;
		const char *why;
	} cases[] = {
		{ SECRET, OTHER, -EKEYREJECTED, "\"the secrets differ\"" },
		{ SECRET, LONGER, -EKEYREJECTED, "\"the secrets differ\"" },
		{ SECRET, NULL, 0, -ENOKEY, "\"a secret is needed\"" },
		{ NULL, 0, SECRET, -EKEYREJECTED, "\"this hub has no secret\"" },
	};
	struct krdma_ep_record record;
	struct krdma_hub *client;
	struct server server;
	struct krdma_ep *ep;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, server_start(&server, options_of(cases[i].server,
							      cases[i].server_length)));
		ASSERT_EQ(0, open_client(cases[i].client, cases[i].client_length, &client));
		EXPECT_EQ(cases[i].error, krdma_ep_connect(client, server.address, "hi", 2,
							   PATIENCE, &ep)) {
			TH_LOG("case %u", i);
		}
		ASSERT_EQ(0, krdma_ep_connect(client, server.address, "hi", 2, 0, &ep));
		ASSERT_EQ(0, krdma_hub_next(client, PATIENCE, &record, sizeof(record)));
		EXPECT_EQ(KRDMA_EP_LEFT, record.event);
		EXPECT_EQ(cases[i].error, record.error);
		EXPECT_NE(NULL, strstr(krdma_ep_why(ep), cases[i].why)) {
			TH_LOG("case %u: %s", i, krdma_ep_why(ep));
		}
		krdma_hub_close(client);
		EXPECT_TRUE(saw_nothing(&server));
		server_stop(&server);
	}
}

/* The address comes first, then the proof, then the program, which gets the hello. */
/* Proves: F10 (library) */
TEST_F(secret, the_program_is_asked_after_the_proof)
{
	struct krdma_hub_options options = options_of(SECRET);
	struct krdma_ep_record record;
	struct krdma_hub *other;
	struct server closed;

	ASSERT_EQ(0, open_client(OTHER, &other));
	set_answer(&self->server, -EPERM);
	EXPECT_EQ(-EKEYREJECTED, krdma_ep_connect(other, self->server.address, "foe", 3, PATIENCE,
						  &self->ep));
	EXPECT_EQ(0, load(&self->server.asked));
	EXPECT_EQ(-EPERM, krdma_ep_connect(self->client, self->server.address, "foe", 3, PATIENCE,
					   &self->ep));
	EXPECT_EQ(1, load(&self->server.asked));
	ASSERT_EQ(0, krdma_ep_connect(self->client, self->server.address, "foe", 3, 0, &self->ep));
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-EPERM, record.error);
	EXPECT_NE(NULL, strstr(krdma_ep_why(self->ep), "does not admit"));
	/* Errors that a peer must not take for its own. */
	set_answer(&self->server, -EAGAIN);
	EXPECT_EQ(-ECONNREFUSED, krdma_ep_connect(self->client, self->server.address, "foe", 3,
						  PATIENCE, &self->ep));
	set_answer(&self->server, 1);
	EXPECT_EQ(-EACCES, krdma_ep_connect(self->client, self->server.address, "foe", 3, PATIENCE,
					    &self->ep));
	EXPECT_EQ(4, load(&self->server.asked));
	EXPECT_EQ(0, load(&self->server.joined));
	EXPECT_EQ(0, load(&self->server.left));

	options.allow = "192.0.2.0/24, 2001:db8::/32";
	ASSERT_EQ(0, server_start(&closed, options));
	EXPECT_EQ(-EACCES, krdma_ep_connect(other, closed.address, NULL, 0, PATIENCE, &self->ep));
	EXPECT_EQ(-EACCES, krdma_ep_connect(self->client, closed.address, NULL, 0, PATIENCE,
					    &self->ep));
	EXPECT_TRUE(saw_nothing(&closed));
	server_stop(&closed);
	krdma_hub_close(other);
}

TEST(options_with_a_secret)
{
	struct krdma_hub_options options = options_of(SECRET);
	static unsigned char bytes[KRDMA_HUB_SECRET_MAX + 1];
	struct krdma_hub *hub, *client;
	struct server server;
	struct krdma_ep *ep;
	char secret[] = "0123456789abcdef";

	options.secret_length = KRDMA_HUB_SECRET_MIN - 1;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	options.secret_length = 0;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	options.secret = bytes;
	options.secret_length = KRDMA_HUB_SECRET_MAX + 1;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	options.secret_length = KRDMA_HUB_SECRET_MAX;
	EXPECT_EQ(0, krdma_hub_open(NULL, &options, &hub));
	krdma_hub_close(hub);
	options.secret = NULL;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	/* What a program of an earlier version has: there is no secret behind its structure. */
	options.size = offsetof(struct krdma_hub_options, secret);
	ASSERT_EQ(0, server_start(&server, options));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &client));
	EXPECT_EQ(0, krdma_ep_connect(client, server.address, NULL, 0, PATIENCE, &ep));
	EXPECT_TRUE(echoes(ep));
	krdma_hub_close(client);
	server_stop(&server);
	/* The hub has a copy. */
	ASSERT_EQ(0, server_start(&server, options_of(secret, 16)));
	ASSERT_EQ(0, open_client(secret, 16, &client));
	memset(secret, 0, sizeof(secret));
	EXPECT_EQ(0, krdma_ep_connect(client, server.address, NULL, 0, PATIENCE, &ep));
	krdma_hub_close(client);
	server_stop(&server);
}

/*
 * Strangers that connect
 */

static int greet(struct hub_peer *peer, const struct server *server)
{
	unsigned char wire[HUB_GREETING_MAX];
	size_t length = hub_peer_greeting_with_secret(wire);

	return hub_peer_connect(peer, (struct sockaddr *)&server->at, wire, length,
				HUB_PEER_RECEIVES);
}

/* Connects, and takes the challenge. */
static int be_challenged(struct hub_peer *peer, const struct server *server,
			 struct hub_peer_nonces *nonces)
{
	int err = greet(peer, server);

	return err ? err : hub_peer_hear(peer, HUB_CHALLENGE, nonces->server);
}

static int say(struct hub_peer *peer, struct hub_frame frame, const void *data, size_t length)
{
	return hub_peer_send(peer, &frame, data, length, PATIENCE);
}

/* What works, so that it is not the test that fails elsewhere. */
TEST_F(secret, a_stranger_that_knows_it_joins)
{
	const struct hub_frame message = { .kind = HUB_MESSAGE };

	ASSERT_EQ(0, greet(&self->peer, &self->server));
	ASSERT_EQ(0, hub_peer_prove(&self->peer, self->secret, false, &self->nonces));
	EXPECT_TRUE(counts(&self->server.joined, 1));
	ASSERT_EQ(0, say(&self->peer, message, NULL, 0));
	EXPECT_TRUE(counts(&self->server.messages, 1));
	EXPECT_EQ(1, load(&self->server.asked));
}

/* Each has the nonces of the connection, and something else is wrong. */
enum wrong_proof {
	RANDOM, ONE_BIT, LAST_BIT, OF_THE_SERVER, OF_FILES, EXCHANGED, OF_OTHER_SECRET, OF_ITSELF,
	WRONG_PROOFS,
};

static void make_wrong(FIXTURE_DATA(secret) * self, enum wrong_proof wrong,
		       unsigned char proof[SECRET_PROOF])
{
	const unsigned char *s = self->nonces.server, *c = self->nonces.client;
	struct secret *other = NULL;

	secret_set(&other, OTHER);
	secret_proof(self->secret, HUB_PEER_LABEL, 'c', s, c, proof);
	switch (wrong) {
	case RANDOM:
		secret_nonce(proof);
		break;
	case ONE_BIT:
		proof[0] ^= 1;
		break;
	case LAST_BIT:
		proof[SECRET_PROOF - 1] ^= 0x80;
		break;
	case OF_THE_SERVER:
		secret_proof(self->secret, HUB_PEER_LABEL, 's', s, c, proof);
		break;
	case OF_FILES:
		secret_proof(self->secret, "krdma-file-1", 'c', s, c, proof);
		break;
	case EXCHANGED:
		secret_proof(self->secret, HUB_PEER_LABEL, 'c', c, s, proof);
		break;
	case OF_OTHER_SECRET:
		secret_proof(other, HUB_PEER_LABEL, 'c', s, c, proof);
		break;
	default:
		memcpy(proof, c, SECRET_PROOF);
		break;
	}
	secret_free(other);
}

/* And the right one comes too late: a connection is worth one guess. */
/* Proves: F10 (library) */
TEST_F_TIMEOUT(secret, a_wrong_proof_ends_the_connection, 300)
{
	unsigned char wrong[SECRET_PROOF], right[SECRET_PROOF], proof[SECRET_PROOF];

	for (enum wrong_proof i = 0; i < WRONG_PROOFS; i++) {
		ASSERT_EQ(0, be_challenged(&self->peer, &self->server, &self->nonces));
		ASSERT_EQ(0, secret_nonce(self->nonces.client));
		make_wrong(self, i, wrong);
		secret_proof(self->secret, HUB_PEER_LABEL, 'c', self->nonces.server,
			     self->nonces.client, right);
		ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE, self->nonces.client));
		ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_PROOF, wrong));
		hub_peer_tell(&self->peer, HUB_PROOF, right);
		EXPECT_EQ(-EKEYREJECTED, hub_peer_hear(&self->peer, HUB_PROOF, proof)) {
			TH_LOG("proof %u", i);
		}
		EXPECT_EQ(0, krdma_conn_await_closed(self->peer.conn, PATIENCE));
		hub_peer_leave(&self->peer);
	}
	EXPECT_TRUE(saw_nothing(&self->server));
}

/* Proves: F10 (library) */
TEST_F(secret, a_proof_is_for_one_connection)
{
	struct hub_peer_nonces replayed;
	unsigned char proof[SECRET_PROOF];

	ASSERT_EQ(0, greet(&self->peer, &self->server));
	ASSERT_EQ(0, hub_peer_prove(&self->peer, self->secret, false, &self->nonces));
	ASSERT_TRUE(counts(&self->server.joined, 1));
	ASSERT_EQ(0, be_challenged(&self->second, &self->server, &replayed));
	EXPECT_NE(0, memcmp(replayed.server, self->nonces.server, SECRET_NONCE));
	secret_proof(self->secret, HUB_PEER_LABEL, 'c', self->nonces.server, self->nonces.client,
		     proof);
	ASSERT_EQ(0, hub_peer_tell(&self->second, HUB_CHALLENGE, self->nonces.client));
	ASSERT_EQ(0, hub_peer_tell(&self->second, HUB_PROOF, proof));
	EXPECT_EQ(-EKEYREJECTED, hub_peer_hear(&self->second, HUB_PROOF, proof));
	EXPECT_EQ(1, load(&self->server.joined));
}

/* The challenge of the hub comes back, with anything but a proof. */
/* Proves: F10 (library) */
TEST_F(secret, a_challenge_that_comes_back_proves_nothing)
{
	unsigned char proof[SECRET_PROOF];

	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(0, be_challenged(&self->peer, &self->server, &self->nonces));
		ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE, self->nonces.server));
		/* Even a right proof for it would be of the hub itself. */
		secret_proof(self->secret, HUB_PEER_LABEL, 'c', self->nonces.server,
			     self->nonces.server, proof);
		hub_peer_tell(&self->peer, HUB_PROOF, i ? proof : self->nonces.server);
		EXPECT_EQ(-EKEYREJECTED, hub_peer_hear(&self->peer, HUB_PROOF, proof));
		hub_peer_leave(&self->peer);
	}
	EXPECT_TRUE(saw_nothing(&self->server));
}

/* Frames that are not due before the proof, each with its data. */
static const struct {
	struct hub_frame frame;
	const char *data;
	size_t length;
} early[] = {
	{ { .kind = HUB_MESSAGE, .tag = 1 }, "hello", 5 },
	{ { .kind = HUB_CALL, .call = CALL(1) }, "hello", 5 },
	{ { .kind = HUB_ASK, .call = CALL(1), .code = KRDMA_ACCESS_REMOTE_READ }, "memory", 6 },
	{ { .kind = HUB_ROOM }, NULL, 0 },
	{ { .kind = HUB_DONE }, NULL, 0 },
	{ { .kind = HUB_ANSWER, .call = CALL(1) }, "hello", 5 },
	{ { .kind = HUB_GRANT, .call = CALL(1), .code = 1 }, NULL, 0 },
	{ { .kind = HUB_REVOKE, .tag = 1 }, NULL, 0 },
	{ { .kind = HUB_REVOKED, .tag = 1 }, NULL, 0 },
	{ { .kind = HUB_PROOF }, "0123456789abcdef0123456789abcdef", 32 },
};

/* At once, or after the challenge. */
/* Proves: F10 (library) */
TEST_F_TIMEOUT(secret, nothing_is_taken_before_the_proof, 300)
{
	unsigned char bytes[HUB_PROOF_SIZE];
	int err;

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(early); i++) {
		ASSERT_EQ(0, greet(&self->peer, &self->server));
		if (i % 2)
			ASSERT_EQ(0, hub_peer_hear(&self->peer, HUB_CHALLENGE, bytes));
		ASSERT_EQ(0, say(&self->peer, early[i / 2].frame, early[i / 2].data,
				 early[i / 2].length));
		err = i % 2 ? 0 : hub_peer_hear(&self->peer, HUB_CHALLENGE, bytes);
		if (!err)
			err = hub_peer_hear(&self->peer, HUB_PROOF, bytes);
		EXPECT_EQ(-EPROTO, err) {
			TH_LOG("frame %u", i);
		}
		EXPECT_EQ(0, krdma_conn_await_closed(self->peer.conn, PATIENCE));
		hub_peer_leave(&self->peer);
	}
	/* Two challenges. */
	ASSERT_EQ(0, be_challenged(&self->peer, &self->server, &self->nonces));
	ASSERT_EQ(0, secret_nonce(bytes));
	ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE, bytes));
	ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE, bytes));
	EXPECT_EQ(-EPROTO, hub_peer_hear(&self->peer, HUB_PROOF, bytes));
	hub_peer_leave(&self->peer);
	EXPECT_TRUE(saw_nothing(&self->server));
}

/* Sends HUB_BYE and the frame together, so that both arrive before the hub has looked. */
static int say_behind_bye(struct hub_peer *peer, struct hub_frame frame, const void *data,
			  size_t length)
{
	const struct hub_frame bye = { .kind = HUB_BYE };
	unsigned char *wire = krdma_mr_data(peer->mr), *behind = wire + HUB_PEER_ROOM / 2;
	struct krdma_sqe entries[2];

	hub_frame_write(&bye, wire);
	hub_frame_write(&frame, behind);
	if (length)
		memcpy(behind + HUB_HEADER_SIZE, data, length);
	entries[0] = krdma_entry_send(peer->conn, HUB_PEER_RECEIVES, peer->mr, 0, HUB_HEADER_SIZE);
	entries[1] = krdma_entry_send(peer->conn, HUB_PEER_RECEIVES, peer->mr, HUB_PEER_ROOM / 2,
				      HUB_HEADER_SIZE + length);
	return krdma_ring_post(peer->ring, entries, 2, NULL);
}

/* Who leaves instead of proving the secret has nothing more to say. */
/* Proves: F10 (library) */
TEST_F_TIMEOUT(secret, nothing_is_taken_behind_a_farewell, 300)
{
	unsigned char bytes[HUB_PROOF_SIZE];

	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(early); i++) {
		ASSERT_EQ(0, greet(&self->peer, &self->server));
		if (i % 2)
			ASSERT_EQ(0, hub_peer_hear(&self->peer, HUB_CHALLENGE, bytes));
		ASSERT_EQ(0, say_behind_bye(&self->peer, early[i / 2].frame, early[i / 2].data,
					    early[i / 2].length));
		EXPECT_EQ(0, krdma_conn_await_closed(self->peer.conn, PATIENCE));
		hub_peer_leave(&self->peer);
	}
	EXPECT_TRUE(saw_nothing(&self->server));
	/* The hub has all its receives, and still takes peers. */
	ASSERT_EQ(0, greet(&self->peer, &self->server));
	ASSERT_EQ(0, hub_peer_prove(&self->peer, self->secret, false, &self->nonces));
	EXPECT_TRUE(counts(&self->server.joined, 1));
}

/* The same frames are not due after the proof, nor where there is no secret. */
TEST_F(secret, proofs_are_not_due_later)
{
	unsigned char bytes[HUB_PROOF_SIZE] = { 0 }, wire[HUB_GREETING_MAX];
	struct server open;

	ASSERT_EQ(0, server_start(&open, options_of(NULL, 0)));
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(0, greet(&self->peer, &self->server));
		ASSERT_EQ(0, hub_peer_prove(&self->peer, self->secret, false, &self->nonces));
		ASSERT_EQ(0, hub_peer_tell(&self->peer, i ? HUB_PROOF : HUB_CHALLENGE, bytes));
		EXPECT_EQ(-EPROTO, hub_peer_hear(&self->peer, HUB_PROOF, bytes));
		EXPECT_TRUE(counts(&self->server.left, i + 1));
		hub_peer_leave(&self->peer);

		ASSERT_EQ(0, hub_peer_connect(&self->second, (struct sockaddr *)&open.at, wire,
					      hub_peer_greeting(wire), HUB_PEER_RECEIVES));
		ASSERT_EQ(0, hub_peer_tell(&self->second, i ? HUB_PROOF : HUB_CHALLENGE, bytes));
		EXPECT_EQ(-EPROTO, hub_peer_hear(&self->second, HUB_PROOF, bytes));
		EXPECT_TRUE(counts(&open.left, i + 1));
		hub_peer_leave(&self->second);
	}
	server_stop(&open);
}

/* Connects as soon as the hub has the place of the last peer back; *@begin is when. */
static int take_place(struct hub_peer *peer, const struct server *server,
		      struct hub_peer_nonces *nonces, uint64_t *begin)
{
	uint64_t first = now_ms();
	int err;

	for (;;) {
		*begin = now_ms();
		err = be_challenged(peer, server, nonces);
		if (err != -ECONNREFUSED || now_ms() - first > PATIENCE_MS)
			return err;
		hub_peer_leave(peer);
		sleep_ms(20);
	}
}

/* It has a place of its address until then, whatever part of its proof has come. */
/* Proves: F10 (library) */
TEST_F_TIMEOUT(secret, a_silent_peer_has_its_place_for_a_while, 300)
{
	struct krdma_hub_options options = options_of(SECRET);
	struct server small;
	struct krdma_ep *ep;
	uint64_t begin;

	options.peers = 1;
	options.idle_ms = IDLE_MS;
	ASSERT_EQ(0, server_start(&small, options));
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(0, take_place(&self->peer, &small, &self->nonces, &begin));
		ASSERT_EQ(0, secret_nonce(self->nonces.client));
		if (i)
			ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE,
						   self->nonces.client));
		EXPECT_EQ(-EUSERS, krdma_ep_connect(self->client, small.address, NULL, 0, PATIENCE,
						    &ep));
		EXPECT_EQ(0, krdma_conn_await_closed(self->peer.conn, PATIENCE));
		EXPECT_LE(IDLE_MS - 200, now_ms() - begin);
		EXPECT_GT(20000, now_ms() - begin);
		hub_peer_leave(&self->peer);
	}
	EXPECT_TRUE(saw_nothing(&small));
	while (krdma_ep_connect(self->client, small.address, NULL, 0, PATIENCE, &ep) == -EUSERS &&
	       now_ms() - begin < 60000)
		sleep_ms(20);
	EXPECT_TRUE(counts(&small.joined, 1));
	EXPECT_TRUE(echoes(ep));
	server_stop(&small);
}

/*
 * Strangers to which a hub connects
 */

/* Takes the request of a hub for a connection with this greeting. */
static int accept_hub(FIXTURE_DATA(secret) * self, struct krdma_hub *hub, struct hub_peer *peer,
		      bool has_secret)
{
	unsigned char wire[HUB_GREETING_MAX];
	struct krdma_ep_record record;
	struct krdma_conn *conn;
	uint64_t begin = now_ms();
	size_t length = has_secret ? hub_peer_greeting_with_secret(wire) : hub_peer_greeting(wire);
	int err;

	while ((err = krdma_listener_next(self->listener, krdma_deadline(10), &conn)) &&
	       now_ms() - begin < PATIENCE_MS) {
		if (hub)
			krdma_hub_next(hub, krdma_deadline(10), &record, sizeof(record));
	}
	return err ? err : hub_peer_accept(peer, conn, wire, length, HUB_PEER_RECEIVES);
}

/* Connects the client's hub to the test, and takes what it says. */
static int meet(FIXTURE_DATA(secret) * self, bool has_secret)
{
	int err = krdma_ep_connect(self->client, self->to, NULL, 0, 0, &self->ep);

	return err ? err : accept_hub(self, self->client, &self->peer, has_secret);
}

/* The record with which the client's hub ends, and no other one. */
static int left(FIXTURE_DATA(secret) * self)
{
	struct krdma_ep_record record;
	int err = krdma_hub_next(self->client, PATIENCE, &record, sizeof(record));

	if (!err && record.event != KRDMA_EP_LEFT)
		err = 1000 + (int)record.event;
	return err ? err : record.error;
}

/* The client proves first, so it gives away one proof; the server's own one must be another. */
/* Proves: F10 (library) */
TEST_F(secret, a_server_must_prove_it_too)
{
	unsigned char proof[SECRET_PROOF];
	struct krdma_ep_record record;

	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(0, meet(self, true));
		ASSERT_EQ(0, secret_nonce(self->nonces.server));
		ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE, self->nonces.server));
		krdma_hub_next(self->client, krdma_deadline(100), &record, sizeof(record));
		ASSERT_EQ(0, hub_peer_hear(&self->peer, HUB_CHALLENGE, self->nonces.client));
		ASSERT_EQ(0, hub_peer_hear(&self->peer, HUB_PROOF, proof));
		/* Its own proof, or something else. */
		if (i == 1)
			memcpy(proof, self->nonces.client, sizeof(proof));
		if (i == 2)
			memset(proof, 0, sizeof(proof));
		ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_PROOF, proof));
		EXPECT_EQ(-EKEYREJECTED, left(self));
		EXPECT_STREQ("the secrets differ", krdma_ep_why(self->ep));
		EXPECT_EQ(-EKEYREJECTED, hub_peer_hear(&self->peer, HUB_PROOF, proof));
		krdma_ep_close(self->ep, NULL);
		hub_peer_leave(&self->peer);
	}
}

/* One without the flag would not prove anything; a hub without a secret expects no proof. */
/* Proves: F10 (library) */
TEST_F(secret, a_server_says_that_it_has_one)
{
	ASSERT_EQ(0, meet(self, false));
	EXPECT_EQ(-EKEYREJECTED, left(self));
	EXPECT_STREQ("the peer has no secret", krdma_ep_why(self->ep));
	krdma_hub_close(self->client);
	hub_peer_leave(&self->peer);
	ASSERT_EQ(0, open_client(NULL, 0, &self->client));
	ASSERT_EQ(0, meet(self, true));
	EXPECT_EQ(-EPROTO, left(self));
}

/* Proves: F10 (library) */
TEST_F(secret, nothing_of_a_server_is_taken_before_its_proof)
{
	const struct hub_frame message = { .kind = HUB_MESSAGE };

	ASSERT_EQ(0, meet(self, true));
	ASSERT_EQ(0, say(&self->peer, message, "hello", 5));
	EXPECT_EQ(-EPROTO, left(self));
	krdma_ep_close(self->ep, NULL);
	hub_peer_leave(&self->peer);
	/* Without a proof it is the same as with a wrong one. */
	ASSERT_EQ(0, meet(self, true));
	ASSERT_EQ(0, secret_nonce(self->nonces.server));
	ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE, self->nonces.server));
	ASSERT_EQ(0, say(&self->peer, message, "hello", 5));
	EXPECT_EQ(-EPROTO, left(self));
}

/* Proves: F10 (library) */
TEST_F_TIMEOUT(secret, a_silent_server_is_given_up, 300)
{
	struct krdma_hub_options options = options_of(SECRET);
	uint64_t begin;

	krdma_hub_close(self->client);
	options.idle_ms = IDLE_MS;
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->client));
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(0, meet(self, true));
		begin = now_ms();
		ASSERT_EQ(0, secret_nonce(self->nonces.server));
		if (i)
			ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE,
						   self->nonces.server));
		EXPECT_EQ(-ETIMEDOUT, left(self));
		EXPECT_GT(20000, now_ms() - begin);
		krdma_ep_close(self->ep, NULL);
		hub_peer_leave(&self->peer);
	}
}

/* A hub that connects and listens: a stranger gives it its own challenge. */
/* Proves: F10 (library) */
TEST_F(secret, a_hub_proves_nothing_to_itself)
{
	unsigned char bytes[HUB_PROOF_SIZE];

	ASSERT_EQ(0, be_challenged(&self->second, &self->server, &self->nonces));
	snprintf(self->server.to, sizeof(self->server.to), "%s", self->to);
	__atomic_store_n(&self->server.connect, 1, __ATOMIC_RELEASE);
	ASSERT_EQ(0, accept_hub(self, NULL, &self->peer, true));
	ASSERT_EQ(0, hub_peer_tell(&self->peer, HUB_CHALLENGE, self->nonces.server));
	EXPECT_EQ(-EKEYREJECTED, hub_peer_hear(&self->peer, HUB_CHALLENGE, bytes)) {
		TH_LOG("the hub answers its own challenge");
	}
	EXPECT_TRUE(counts(&self->server.left, 1));
	EXPECT_EQ(-EKEYREJECTED, self->server.error);
	EXPECT_EQ(0, load(&self->server.joined));
}

/*
 * Many times
 */

/*
 * Right and wrong secrets, silence, and an end in the middle of the proofs.  Runs in a thread: its
 * end empties its cache of malloc(), so that what is in use can be compared.
 */
static void *come_and_go(void *context)
{
	unsigned int *failures = context;
	struct krdma_hub *clients[3];
	struct hub_peer_nonces nonces;
	struct server server;
	struct hub_peer peer;
	struct krdma_ep *ep;

	*failures += !!server_start(&server, options_of(SECRET));
	*failures += !!open_client(SECRET, &clients[0]);
	*failures += !!open_client(OTHER, &clients[1]);
	*failures += !!open_client(NULL, 0, &clients[2]);
	*failures += !!hub_peer_open(&peer);
	if (*failures)
		return NULL;
	for (unsigned int i = 0; i < 5; i++) {
		*failures += !!krdma_ep_connect(clients[0], server.address, "hi", 2, PATIENCE, &ep);
		*failures += !*failures && !echoes(ep);
		*failures += krdma_ep_connect(clients[1], server.address, NULL, 0, PATIENCE,
					      &ep) != -EKEYREJECTED;
		*failures += krdma_ep_connect(clients[2], server.address, NULL, 0, PATIENCE,
					      &ep) != -ENOKEY;
		*failures += !!be_challenged(&peer, &server, &nonces);
		/* One of them is there until the end. */
		hub_peer_leave(&peer);
	}
	*failures += !!be_challenged(&peer, &server, &nonces);
	for (unsigned int i = 0; i < ARRAY_SIZE(clients); i++)
		krdma_hub_close(clients[i]);
	server_stop(&server);
	hub_peer_close(&peer);
	return NULL;
}

/* Proves: F10 (library) */
TEST(nothing_is_left)
{
	struct usage before = { 0 }, after;
	unsigned int failures = 0;
	pthread_t thread;

	/* What other threads allocate counts, too. */
	mallopt(M_ARENA_MAX, 1);
	for (unsigned int i = 0; i < 6; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, come_and_go, &failures));
		pthread_join(thread, NULL);
		after = usage_now();
		if (i == 2)
			before = after;
	}
	EXPECT_EQ(0, failures);
	EXPECT_GE(before.bytes, after.bytes);
	EXPECT_EQ(before.descriptors, after.descriptors);
	EXPECT_FALSE(usage_leaks());
}

TEST_HARNESS_MAIN
