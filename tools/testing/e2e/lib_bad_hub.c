// SPDX-License-Identifier: GPL-2.0
/*
 * A hub of libkrdma and a peer that does many things that no peer does, once as a client of the
 * hub and once as the server to which the hub connects; each without a secret and with one, which
 * the bad peer mostly proves.
 *
 * Each action is a frame, mostly one that the protocol allows now, an RDMA operation in memory of
 * the hub's program or beside it, or an end.  KRDMA_ACTIONS is their number, and KRDMA_SEED
 * determines them.  The hub's program answers, calls, sends long messages, asks for memory and
 * withdraws its own.  Beside it there is an honest peer.
 */
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <krdma_entry.h>
#include <krdma_hub.h>
#include <wire.h>

#include "kselftest_harness.h"
#include "lib_both.h"
#include "lib_files.h"
#include "lib_hub_peer.h"
#include "lib_pair.h"
#include "lib_usage.h"
#include "rng.h"
#include "session.h"

#define ACTIONS		2000
#define HONEST_AFTER	500
#define PATIENCE	LIB_PATIENCE
/* How long the hub's program waits for a bad peer. */
#define IMPATIENCE	krdma_deadline(50)
#define IDLE_MS		1500
/* Bytes that a program may use more while there are peers. */
#define SPARE_MEANWHILE	1048576
#define PEERS		16
#define WINDOW_SIZE	65536
#define PAGE		4096
#define HELD		12
/* A tag that the hub's program always answers at once with the same data. */
#define ECHO		0x6f686365

#define SECRET		"a secret that a bad peer knows"

/* Pages of the hub's program, of which the peers may change one. */
enum page {
	GUARD, OPEN, GUARD_2, CLOSED, GUARD_3, READABLE, GUARD_4, PAGES,
};

/* What the bad peer knows of one connection. */
struct talk {
	uint32_t sent;
	uint32_t sent_taken;
	uint32_t received;
	uint32_t told;
	uint32_t count;
	uint32_t calls[HUB_PEER_DEPTH];
	/* The hub's calls and requests that were not answered, and its long messages. */
	uint32_t open[HUB_PEER_DEPTH];
	unsigned int open_count;
	uint32_t asks[HUB_PEER_DEPTH];
	unsigned int ask_count;
	uint32_t tickets[HUB_TICKETS];
	unsigned int ticket_count;
	/* Memory of the hub's, which it may want back, and tags that the hub got. */
	struct krdma_remote_mr remote;
	uint64_t revoke[4];
	unsigned int revoke_count;
	uint64_t given;
	bool has_given;
	unsigned int receives;
};

FIXTURE(bad_hub)
{
	struct krdma_hub *hub;
	pthread_t thread;
	struct rng own_rng;
	int stop;
	int give_back;
	/* The hub is to connect: 1; it cannot: 2. */
	int connect;
	struct krdma_ep_record held[HELD];
	unsigned int joined;
	unsigned int left;
	unsigned int messages;
	unsigned int long_messages;
	unsigned int memories;
	unsigned int wrong;
	char wrong_what[128];
	unsigned char *pages;

	struct rng rng;
	struct files at;
	char to[HUB_PEER_TO];
	char from[64];
	struct krdma_listener *listener;
	struct hub_peer peer;
	struct krdma_mr *window;
	struct talk talk;
	unsigned int actions;
	unsigned int visits;
	size_t most;
	/* The nonces of the last connection with a proof, and the number of right proofs. */
	struct secret *secret;
	struct hub_peer_nonces nonces;
	unsigned int proofs;

	struct krdma_hub *honest;
	struct krdma_ep *ep;
	struct krdma_ep_memory *memory;
};

FIXTURE_VARIANT(bad_hub)
{
	bool is_server;
	bool has_secret;
};

FIXTURE_VARIANT_ADD(bad_hub, as_a_client)
{
};

FIXTURE_VARIANT_ADD(bad_hub, as_a_server)
{
	.is_server = true,
};

FIXTURE_VARIANT_ADD(bad_hub, as_a_client_with_a_secret)
{
	.has_secret = true,
};

FIXTURE_VARIANT_ADD(bad_hub, as_a_server_with_a_secret)
{
	.is_server = true,
	.has_secret = true,
};

static unsigned int number_of(const char *name, unsigned int usual)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : usual;
}

static int load(const int *number)
{
	return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static void store(int *number, int value)
{
	__atomic_store_n(number, value, __ATOMIC_RELEASE);
}

/*
 * The hub's program, in a thread of its own
 */

static void complain(FIXTURE_DATA(bad_hub) * self, const char *what, int error)
{
	if (!self->wrong++)
		snprintf(self->wrong_what, sizeof(self->wrong_what), "%s: %d", what, error);
}

/* What a hub can say of a bad peer: its own errors, and those that have numbers on the wire. */
static bool can_be(int error)
{
	return !error || error == -ECONNRESET || error == -EPROTONOSUPPORT ||
	       hub_code_error(hub_code_of(error)) == error;
}

static bool is_text(const char *words)
{
	for (; *words; words++) {
		if (*words < ' ' || *words > '~')
			return false;
	}
	return true;
}

static int refuse(void *context, struct krdma_ep *ep)
{
	(void)context;
	(void)ep;
	return 1;
}

static int share(FIXTURE_DATA(bad_hub) * self, const char *name, enum page page, uint32_t access)
{
	return krdma_hub_share(self->hub, name, self->pages + page * PAGE, PAGE, access,
			       page == CLOSED ? refuse : NULL, NULL);
}

static void give_back(FIXTURE_DATA(bad_hub) * self)
{
	for (unsigned int i = 0; i < HELD; i++)
		krdma_ep_done(&self->held[i]);
}

/* Keeps the record, and gives back one that was kept; a call is answered then, or never. */
static void hold(FIXTURE_DATA(bad_hub) * self, struct krdma_ep_record *record)
{
	struct krdma_ep_record *place = &self->held[rng_below(&self->own_rng, HELD)];

	if (place->lent && place->call && rng_once_in(&self->own_rng, 2))
		krdma_ep_answer(place, place->tag, "late", 4);
	krdma_ep_done(place);
	*place = *record;
	record->lent = NULL;
}

/* Asks the peer for memory, and reads and writes there. */
static void use_memory(FIXTURE_DATA(bad_hub) * self, struct krdma_ep *ep)
{
	static unsigned char data[PAGE];
	struct krdma_ep_memory *memory;
	uint64_t length;

	if (krdma_ep_memory_open(ep, "theirs", KRDMA_ACCESS_REMOTE_READ, IMPATIENCE, &memory))
		return;
	self->memories++;
	length = krdma_ep_memory_length(memory);
	krdma_ep_memory_read(memory, 0, data, length < PAGE ? length : PAGE, IMPATIENCE);
	krdma_ep_memory_write(memory, length / 2, data, length ? 1 : 0, IMPATIENCE);
	krdma_ep_memory_close(memory);
}

/* Something that the peer has not asked for. */
static void begin_something(FIXTURE_DATA(bad_hub) * self, struct krdma_ep *ep)
{
	static unsigned char data[4 * PAGE];
	size_t length = rng_below(&self->own_rng, rng_once_in(&self->own_rng, 4) ?
				  sizeof(data) : HUB_PEER_EAGER);

	switch (rng_below(&self->own_rng, 10)) {
	case 0:
		krdma_ep_send(ep, 1, data, length, 0);
		break;
	case 1:
		krdma_ep_send_lent(ep, 2, data, length, 3, 0);
		break;
	case 2:
		krdma_ep_call_begin(ep, 4, data, length, IMPATIENCE, 5);
		break;
	case 3:
		krdma_ep_send(ep, 1, data, length, IMPATIENCE);
		break;
	case 4:
		if (rng_once_in(&self->own_rng, 16))
			krdma_ep_close(ep, rng_once_in(&self->own_rng, 2) ? "enough" : NULL);
		break;
	default:
		use_memory(self, ep);
		break;
	}
}

static void take_message(FIXTURE_DATA(bad_hub) * self, struct krdma_ep_record *record)
{
	const unsigned char *data = record->data;
	unsigned char sum = 0;

	self->messages++;
	self->long_messages += record->length > HUB_PEER_EAGER;
	if (!data || (uintptr_t)data % 8 || record->length > HUB_PEER_LONGEST)
		complain(self, "a message has wrong data", (int)record->length);
	/* All of it can be read. */
	for (size_t i = 0; i < record->length; i++)
		sum ^= data[i];
	if (record->tag == ECHO && record->call) {
		krdma_ep_answer(record, sum, record->data, record->length);
		return;
	}
	if (rng_once_in(&self->own_rng, 3))
		begin_something(self, record->ep);
	if (rng_once_in(&self->own_rng, 4)) {
		hold(self, record);
		return;
	}
	if (record->call)
		krdma_ep_answer(record, sum, record->data, rng_once_in(&self->own_rng, 2) ?
				record->length : 0);
}

static void take_end(FIXTURE_DATA(bad_hub) * self, struct krdma_ep_record *record)
{
	const char *why = krdma_ep_why(record->ep);

	if (!can_be(record->error))
		complain(self, "a peer has left with a wrong error", record->error);
	if (!*why || !is_text(why))
		complain(self, "the reason of an end is no text", record->error);
	krdma_ep_close(record->ep, NULL);
	__atomic_add_fetch(&self->left, 1, __ATOMIC_ACQ_REL);
}

static void take_record(FIXTURE_DATA(bad_hub) * self, struct krdma_ep_record *record)
{
	switch (record->event) {
	case KRDMA_EP_JOINED:
		__atomic_add_fetch(&self->joined, 1, __ATOMIC_ACQ_REL);
		break;
	case KRDMA_EP_MESSAGE:
		take_message(self, record);
		break;
	case KRDMA_EP_ANSWER:
		if (record->user_data != 5 || !can_be(record->error))
			complain(self, "an answer to nothing", record->error);
		break;
	case KRDMA_EP_SENT:
		if (record->user_data != 3 || !can_be(record->error))
			complain(self, "something was sent that was not", record->error);
		break;
	case KRDMA_EP_LEFT:
		take_end(self, record);
		break;
	default:
		complain(self, "an unknown record", (int)record->event);
		break;
	}
	krdma_ep_done(record);
}

static void *serve(void *context)
{
	FIXTURE_DATA(bad_hub) * self = context;
	struct krdma_ep_record record;
	struct krdma_ep *ep;

	while (!load(&self->stop)) {
		if (load(&self->connect) == 1)
			store(&self->connect, krdma_ep_connect(self->hub, self->to, "hi", 2, 0,
							       &ep) ? 2 : 0);
		if (load(&self->give_back)) {
			give_back(self);
			store(&self->give_back, 0);
		}
		if (krdma_hub_next(self->hub, krdma_deadline(20), &record, sizeof(record)))
			continue;
		take_record(self, &record);
		if (!rng_once_in(&self->own_rng, 500))
			continue;
		if (krdma_hub_unshare(self->hub, "open", IMPATIENCE) ||
		    share(self, "open", OPEN, KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE))
			complain(self, "memory cannot be withdrawn", 0);
	}
	give_back(self);
	return NULL;
}

/*
 * Both sides
 */

static void fill_pages(unsigned char *pages)
{
	for (unsigned int i = 0; i < PAGES; i++)
		fill(pages + i * PAGE, PAGE, i + 1);
}

/* The first page that is another one than before; PAGES: there is none. */
static unsigned int changed_page(const unsigned char *pages)
{
	for (unsigned int i = 0; i < PAGES; i++) {
		if (i != OPEN && !filled(pages + i * PAGE, PAGE, i + 1))
			return i;
	}
	return PAGES;
}

FIXTURE_SETUP(bad_hub)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .peers = PEERS, .per_address = PEERS,
		.depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER, .longest = HUB_PEER_LONGEST,
		.budget = 2 * HUB_PEER_LONGEST, .idle_ms = IDLE_MS,
		.secret = variant->has_secret ? SECRET : NULL,
		.secret_length = variant->has_secret ? strlen(SECRET) : 0,
	};
	const uint32_t read = KRDMA_ACCESS_REMOTE_READ, write = KRDMA_ACCESS_REMOTE_WRITE;
	char at[64];

	/* What the other thread allocates counts, too. */
	mallopt(M_ARENA_MAX, 1);
	memset(self, 0, sizeof(*self));
	self->rng.state = number_of("KRDMA_SEED", 1);
	self->own_rng.state = ~self->rng.state;
	TH_LOG("KRDMA_SEED=%u", number_of("KRDMA_SEED", 1));
	ASSERT_EQ(0, secret_set(&self->secret, options.secret, options.secret_length));
	self->pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->pages);
	fill_pages(self->pages);
	snprintf(at, sizeof(at), "%s:0", both_address());
	ASSERT_EQ(0, krdma_hub_open(at, &options, &self->hub));
	ASSERT_EQ(0, krdma_hub_address(self->hub, &self->at.address));
	ASSERT_EQ(0, files_at(&self->at, both_address()));
	snprintf(self->from, sizeof(self->from), "%s:%u", both_address(),
		 ntohs(((struct sockaddr_in *)&self->at.address)->sin_port));
	ASSERT_EQ(0, share(self, "open", OPEN, read | write));
	ASSERT_EQ(0, share(self, "closed", CLOSED, read | write));
	ASSERT_EQ(0, share(self, "readable", READABLE, read));
	ASSERT_EQ(0, hub_peer_open(&self->peer));
	ASSERT_EQ(0, hub_peer_listen(self->peer.session, &self->listener, self->to));
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, serve, self));
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->honest));
	ASSERT_EQ(0, krdma_ep_connect(self->honest, self->from, NULL, 0, PATIENCE, &self->ep));
	ASSERT_EQ(0, krdma_ep_memory_open(self->ep, "readable", read, PATIENCE, &self->memory));
}

/* What the thread has counted can be read then. */
static void stop_serving(FIXTURE_DATA(bad_hub) * self)
{
	store(&self->stop, 1);
	if (self->thread)
		pthread_join(self->thread, NULL);
	self->thread = 0;
}

FIXTURE_TEARDOWN(bad_hub)
{
	stop_serving(self);
	krdma_hub_close(self->honest);
	krdma_hub_close(self->hub);
	krdma_listener_close(self->listener);
	krdma_mr_deregister(self->window, KRDMA_DEREGISTER_LATER);
	hub_peer_close(&self->peer);
	secret_free(self->secret);
	munmap(self->pages, PAGES * PAGE);
}

/* Makes as many endpoints as the hub takes: it keeps the receives of each for the next one. */
static void fill_hub(struct __test_metadata *_metadata, FIXTURE_DATA(bad_hub) * self)
{
	struct krdma_ep *eps[PEERS] = { 0 };
	unsigned int count = 0;
	int err = 0;

	while (count < PEERS - 1 && !err) {
		err = krdma_ep_connect(self->honest, self->from, NULL, 0, PATIENCE, &eps[count]);
		count += !err;
	}
	EXPECT_EQ(PEERS - 1, count);
	for (unsigned int i = 0; i < count; i++)
		krdma_ep_close(eps[i], NULL);
}

/* The honest peer is answered, also at length, and sees the memory that is offered. */
static void be_honest(struct __test_metadata *_metadata, FIXTURE_DATA(bad_hub) * self)
{
	static const size_t lengths[] = { 0, 10, 5 * PAGE };
	static unsigned char data[5 * PAGE], page[PAGE];
	struct krdma_ep_record answer;

	for (unsigned int i = 0; i < 3; i++) {
		fill(data, lengths[i], self->actions);
		ASSERT_EQ(0, krdma_ep_call(self->ep, ECHO, data, lengths[i], PATIENCE, &answer,
					   sizeof(answer))) {
			TH_LOG("after %u actions: %s", self->actions, krdma_ep_why(self->ep));
		}
		EXPECT_EQ(lengths[i], answer.length);
		EXPECT_EQ(0, memcmp(answer.data, data, answer.length));
		krdma_ep_done(&answer);
	}
	EXPECT_EQ(0, krdma_ep_memory_read(self->memory, 0, page, PAGE, PATIENCE));
	EXPECT_TRUE(filled(page, PAGE, READABLE + 1));
	EXPECT_EQ(PAGES, changed_page(self->pages));
}

/*
 * The bad peer
 */

static uint64_t any_value(FIXTURE_DATA(bad_hub) * self)
{
	static const uint64_t values[] = {
		0, 1, 2, 7, 8, 9, 63, 64, 255, 256, 257, 4095, 4096, 65535, HUB_PEER_LONGEST,
		HUB_PEER_LONGEST + 1, INT32_MAX, UINT32_MAX, 1ull << 32, INT64_MAX, UINT64_MAX,
	};

	return rng_once_in(&self->rng, 3) ? rng_next(&self->rng) : RNG_PICK(&self->rng, values);
}

/* Takes what the hub has sent, and knows afterwards what can be said. */
static void note(struct talk *talk, const struct hub_frame *frame)
{
	talk->sent_taken = frame->taken;
	talk->received += frame->kind == HUB_MESSAGE || frame->kind == HUB_CALL ||
			  frame->kind == HUB_ASK;
	if (frame->is_long && talk->ticket_count < HUB_TICKETS)
		talk->tickets[talk->ticket_count++] = frame->ticket;
	switch (frame->kind) {
	case HUB_CALL:
		if (talk->open_count < HUB_PEER_DEPTH)
			talk->open[talk->open_count++] = frame->call;
		break;
	case HUB_ASK:
		if (talk->ask_count < HUB_PEER_DEPTH)
			talk->asks[talk->ask_count++] = frame->call;
		break;
	case HUB_ANSWER:
		talk->calls[frame->call % HUB_PEER_DEPTH] = 0;
		break;
	case HUB_GRANT:
		talk->calls[frame->call % HUB_PEER_DEPTH] = 0;
		if (!frame->code)
			talk->remote = frame->remote;
		break;
	case HUB_REVOKE:
		if (talk->revoke_count < 4)
			talk->revoke[talk->revoke_count++] = frame->tag;
		break;
	default:
		break;
	}
}

/* Returns false when the hub has ended the connection. */
static bool hear(FIXTURE_DATA(bad_hub) * self)
{
	struct hub_frame frame;
	unsigned int number;
	int err = 0;

	while (!err) {
		err = hub_peer_next(&self->peer, 0, &frame, &number);
		if (err)
			break;
		note(&self->talk, &frame);
		if (frame.kind == HUB_BYE)
			return false;
		if (rng_once_in(&self->rng, 64))
			self->talk.receives--;
		else if (hub_peer_receive(&self->peer, number))
			return false;
	}
	return err == -EAGAIN;
}

/* The memory of long messages, and of what the hub asks for. */
static void describe(FIXTURE_DATA(bad_hub) * self, unsigned char wire[KRDMA_MR_DESC_SIZE])
{
	size_t length = 1 + rng_below(&self->rng, WINDOW_SIZE);

	memset(wire, 0, KRDMA_MR_DESC_SIZE);
	if (!self->window && krdma_mr_alloc(self->peer.session, self->peer.device, WINDOW_SIZE,
					    KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
					    KRDMA_ACCESS_REMOTE_WRITE, &self->window))
		return;
	krdma_mr_describe(self->window, 0, length, wire);
	switch (rng_below(&self->rng, 192)) {
	case 0:
		/* More than there is. */
		wire_put64(wire + 16, any_value(self));
		break;
	case 1:
		/* Memory elsewhere, as that of the hub's program. */
		wire_put64(wire + 8, rng_once_in(&self->rng, 2) ? any_value(self) :
			   (uintptr_t)self->pages);
		break;
	case 2:
		wire_put32(wire + 24, rng_next(&self->rng));
		break;
	case 3:
		wire_put32(wire + 28, rng_below(&self->rng, 8));
		break;
	case 4:
		wire[rng_below(&self->rng, KRDMA_MR_DESC_SIZE)] ^= 1 << rng_below(&self->rng, 8);
		break;
	case 5:
		krdma_mr_deregister(self->window, KRDMA_DEREGISTER_LATER);
		self->window = NULL;
		self->actions++;
		break;
	default:
		break;
	}
}

static uint32_t new_call(FIXTURE_DATA(bad_hub) * self)
{
	struct talk *talk = &self->talk;
	unsigned int at = rng_below(&self->rng, HUB_PEER_DEPTH);

	/* Sometimes one that is there. */
	for (unsigned int i = 0; i < HUB_PEER_DEPTH && talk->calls[at]; i++)
		at = rng_once_in(&self->rng, 64) ? at : (at + 1) % HUB_PEER_DEPTH;
	talk->calls[at] = ++talk->count << 8 | at;
	return talk->calls[at];
}

/* Whether the hub has a receive for another message; sometimes that does not matter. */
static bool has_room(FIXTURE_DATA(bad_hub) * self)
{
	return self->talk.sent - self->talk.sent_taken < HUB_PEER_DEPTH ||
	       rng_once_in(&self->rng, 64);
}

/* Makes a message or a call, with its data; returns their length. */
static size_t make_message(FIXTURE_DATA(bad_hub) * self, struct hub_frame *frame,
			   unsigned char *data)
{
	frame->kind = rng_once_in(&self->rng, 2) ? HUB_MESSAGE : HUB_CALL;
	frame->tag = rng_once_in(&self->rng, 8) ? ECHO : rng_next(&self->rng);
	if (frame->kind == HUB_CALL)
		frame->call = new_call(self);
	self->talk.sent++;
	if (!rng_once_in(&self->rng, 5)) {
		fill(data, 64, self->actions);
		return rng_once_in(&self->rng, 4) ? HUB_PEER_EAGER : rng_below(&self->rng, 64);
	}
	frame->is_long = true;
	frame->ticket = rng_below(&self->rng, HUB_TICKETS);
	describe(self, data);
	return KRDMA_MR_DESC_SIZE;
}

static size_t make_ask(FIXTURE_DATA(bad_hub) * self, struct hub_frame *frame, unsigned char *data)
{
	static const char * const names[] = {
		"open", "open", "closed", "readable", "none", "", "a b", "\033[2J", "openn",
	};
	const char *name = RNG_PICK(&self->rng, names);

	frame->kind = HUB_ASK;
	frame->call = new_call(self);
	frame->code = 1 + rng_below(&self->rng, rng_once_in(&self->rng, 32) ? 8 : 3);
	self->talk.sent++;
	memcpy(data, name, strlen(name));
	return strlen(name);
}

/* Makes a reply to what the hub has asked or wants back, or to nothing. */
static size_t make_reply(FIXTURE_DATA(bad_hub) * self, struct hub_frame *frame,
			 unsigned char *data)
{
	struct talk *talk = &self->talk;

	if (talk->ticket_count && rng_once_in(&self->rng, 2)) {
		frame->kind = HUB_DONE;
		frame->ticket = talk->tickets[--talk->ticket_count];
		return 0;
	}
	if (talk->revoke_count) {
		frame->kind = HUB_REVOKED;
		frame->tag = talk->revoke[--talk->revoke_count];
		return 0;
	}
	if (talk->ask_count) {
		frame->kind = HUB_GRANT;
		frame->call = talk->asks[--talk->ask_count];
		if (rng_once_in(&self->rng, 4)) {
			frame->code = 1 + rng_below(&self->rng, 40);
			return 0;
		}
		talk->given = rng_below(&self->rng, 66);
		frame->tag = talk->given;
		talk->has_given = true;
		describe(self, data);
		return KRDMA_MR_DESC_SIZE;
	}
	if (talk->has_given && rng_once_in(&self->rng, 2)) {
		frame->kind = HUB_REVOKE;
		frame->tag = talk->given;
		talk->has_given = false;
		return 0;
	}
	frame->kind = HUB_ANSWER;
	frame->call = talk->open_count ? talk->open[--talk->open_count] :
		      (uint32_t)any_value(self);
	frame->tag = rng_next(&self->rng);
	if (rng_once_in(&self->rng, 4)) {
		frame->is_long = true;
		frame->ticket = rng_below(&self->rng, HUB_TICKETS);
		describe(self, data);
		return KRDMA_MR_DESC_SIZE;
	}
	return rng_below(&self->rng, HUB_PEER_EAGER);
}

/* Any frame at all. */
static size_t make_any(FIXTURE_DATA(bad_hub) * self, struct hub_frame *frame, unsigned char *data)
{
	*frame = (struct hub_frame){
		.kind = rng_below(&self->rng, HUB_KINDS + 1),
		.is_long = rng_once_in(&self->rng, 8),
		.ticket = rng_below(&self->rng, HUB_TICKETS + 1),
		.taken = rng_once_in(&self->rng, 4) ? (uint32_t)any_value(self) : frame->taken,
	};
	if (rng_once_in(&self->rng, 2))
		frame->call = (uint32_t)any_value(self);
	if (rng_once_in(&self->rng, 4))
		frame->code = (uint32_t)any_value(self);
	if (rng_once_in(&self->rng, 3))
		frame->tag = any_value(self);
	memset(data, 0x80 + rng_below(&self->rng, 0x80), 256);
	return rng_below(&self->rng, 256);
}

/* Whether there is something to reply to. */
static bool is_asked(const struct talk *talk)
{
	return talk->ticket_count || talk->revoke_count || talk->ask_count || talk->open_count ||
	       talk->has_given;
}

static size_t make_frame(FIXTURE_DATA(bad_hub) * self, struct hub_frame *frame,
			 unsigned char *data)
{
	struct talk *talk = &self->talk;

	frame->taken = talk->received;
	if (rng_once_in(&self->rng, 48))
		return make_any(self, frame, data);
	if (rng_once_in(&self->rng, 96)) {
		frame->kind = HUB_BYE;
		frame->code = rng_below(&self->rng, 40);
		memset(data, '\033', 64);
		return rng_below(&self->rng, 64);
	}
	if (is_asked(talk) ? !rng_once_in(&self->rng, 3) : rng_once_in(&self->rng, 128))
		return make_reply(self, frame, data);
	if (has_room(self))
		return rng_once_in(&self->rng, 6) ? make_ask(self, frame, data) :
						   make_message(self, frame, data);
	if (talk->told != talk->received || rng_once_in(&self->rng, 16))
		frame->kind = HUB_ROOM;
	return 0;
}

/* Reads or writes in memory that was granted, around it, or with an rkey that is guessed. */
static bool reach(FIXTURE_DATA(bad_hub) * self)
{
	const struct krdma_mr *mr = self->peer.mr;
	struct krdma_remote_mr remote = self->talk.remote;
	uint32_t length = 1 + rng_below(&self->rng, PAGE / 4);
	uint64_t offset = rng_below(&self->rng, PAGE - length + 1);

	if (rng_once_in(&self->rng, 64))
		offset += rng_once_in(&self->rng, 2) ? PAGE : -(uint64_t)PAGE;
	if (rng_once_in(&self->rng, 96))
		remote.key = rng_once_in(&self->rng, 2) ? rng_next(&self->rng) :
			     remote.key ^ 1u << rng_below(&self->rng, 32);
	if (rng_once_in(&self->rng, 128))
		remote.addr = (uintptr_t)self->pages + CLOSED * PAGE;
	self->actions++;
	return !hub_peer_operate(&self->peer,
				 krdma_entry_remote(rng_once_in(&self->rng, 2) ? KRDMA_OP_READ :
						    KRDMA_OP_WRITE, self->peer.conn, 0, mr,
						    HUB_PEER_ROOM / 2, length / 2 + 1, &remote,
						    offset), IMPATIENCE);
}

/* Sends the frame, or a changed one.  Returns false when the connection has ended. */
static bool say(FIXTURE_DATA(bad_hub) * self, const struct hub_frame *frame,
		const unsigned char *data, size_t length)
{
	unsigned char wire[HUB_PEER_ROOM] = { 0 };

	self->actions++;
	hub_frame_write(frame, wire);
	memcpy(wire + HUB_HEADER_SIZE, data, length);
	length += HUB_HEADER_SIZE;
	if (rng_once_in(&self->rng, 64)) {
		wire[rng_below(&self->rng, length)] ^= 1 << rng_below(&self->rng, 8);
	} else if (rng_once_in(&self->rng, 128)) {
		length = 1 + rng_below(&self->rng, sizeof(wire) - 1);
	} else if (rng_once_in(&self->rng, 256)) {
		struct krdma_sqe entry = krdma_entry_send_imm(self->peer.conn, 0, self->peer.mr, 0,
							      HUB_HEADER_SIZE, 4711);

		return !hub_peer_operate(&self->peer, entry, PATIENCE);
	}
	self->talk.told = frame->taken;
	return !hub_peer_send_raw(&self->peer, wire, length, PATIENCE);
}

/* The same request again and again, whatever comes back. */
static bool flood(FIXTURE_DATA(bad_hub) * self)
{
	unsigned int count = rng_below(&self->rng, 300);
	struct hub_frame frame = { .kind = HUB_ASK, .code = KRDMA_ACCESS_REMOTE_READ };

	frame.taken = self->talk.received;
	while (count--) {
		frame.call = new_call(self);
		self->talk.calls[frame.call % HUB_PEER_DEPTH] = 0;
		self->talk.sent++;
		self->actions++;
		if (hub_peer_send(&self->peer, &frame, "open", 4, PATIENCE))
			return false;
	}
	return true;
}

static void speak(FIXTURE_DATA(bad_hub) * self)
{
	unsigned char data[HUB_PEER_ROOM];
	struct hub_frame frame;
	bool goes_on = true;
	size_t length;

	while (goes_on && hear(self)) {
		if (rng_once_in(&self->rng, 256))
			return;
		if (rng_once_in(&self->rng, 512) && !flood(self))
			return;
		if (self->talk.remote.key && rng_once_in(&self->rng, 4)) {
			goes_on = reach(self);
			continue;
		}
		frame = (struct hub_frame){ 0 };
		length = make_frame(self, &frame, data);
		if (frame.kind || rng_once_in(&self->rng, 64)) {
			goes_on = say(self, &frame, data, length);
			continue;
		}
		/* Nothing can be said now; the hub takes its time. */
		self->actions++;
		sleep_ms(1 + rng_below(&self->rng, 4));
	}
}

/* Private data, sometimes other ones; returns their length. */
static size_t make_hello(FIXTURE_DATA(bad_hub) * self, unsigned char wire[HUB_GREETING_MAX])
{
	size_t length = !self->secret != !rng_once_in(&self->rng, 64) ?
			hub_peer_greeting_with_secret(wire) : hub_peer_greeting(wire);

	if (rng_once_in(&self->rng, 32))
		wire[rng_below(&self->rng, length)] ^= 1 << rng_below(&self->rng, 8);
	if (rng_once_in(&self->rng, 64))
		length = rng_below(&self->rng, length);
	return length;
}

/* The number of receives: some peers have too few of them for what they ask for. */
static unsigned int any_receives(FIXTURE_DATA(bad_hub) * self)
{
	return rng_once_in(&self->rng, 16) ? rng_below(&self->rng, 4) : HUB_PEER_RECEIVES;
}

static void refuse_hub(FIXTURE_DATA(bad_hub) * self, struct krdma_conn *conn)
{
	unsigned char wire[HUB_REFUSAL_MAX];
	size_t length = hub_refusal_write(-1 - (int)rng_below(&self->rng, 130), "no \033[2J", wire);

	if (rng_once_in(&self->rng, 2))
		wire[rng_below(&self->rng, length)] ^= 1 << rng_below(&self->rng, 8);
	if (rng_once_in(&self->rng, 4))
		length = rng_below(&self->rng, length);
	krdma_conn_reject(conn, wire, length);
	krdma_conn_close(conn);
}

/* The request of the hub; NULL if it makes none. */
static struct krdma_conn *await_hub(FIXTURE_DATA(bad_hub) * self)
{
	struct krdma_conn *conn;

	store(&self->connect, 1);
	while (krdma_listener_next(self->listener, krdma_deadline(50), &conn)) {
		if (load(&self->connect) == 2)
			return NULL;
	}
	return conn;
}

static bool meet(FIXTURE_DATA(bad_hub) * self, bool is_server)
{
	unsigned char hello[HUB_GREETING_MAX];
	size_t length = make_hello(self, hello);
	struct krdma_conn *conn;

	self->talk.receives = any_receives(self);
	if (!is_server)
		return !hub_peer_connect(&self->peer, (struct sockaddr *)&self->at.address, hello,
					 length, self->talk.receives);
	conn = await_hub(self);
	if (!conn)
		return false;
	if (rng_once_in(&self->rng, 16)) {
		refuse_hub(self, conn);
		return false;
	}
	return !hub_peer_accept(&self->peer, conn, hello, length, self->talk.receives);
}

/* Bytes of a nonce or a proof, which may be those of another connection, or of the hub. */
static void any_bytes(FIXTURE_DATA(bad_hub) * self, unsigned char bytes[HUB_PROOF_SIZE])
{
	switch (rng_below(&self->rng, 4)) {
	case 0:
		memcpy(bytes, self->nonces.server, HUB_PROOF_SIZE);
		break;
	case 1:
		memcpy(bytes, self->nonces.client, HUB_PROOF_SIZE);
		break;
	case 2:
		secret_proof(self->secret, HUB_PEER_LABEL, rng_once_in(&self->rng, 2) ? 's' : 'c',
			     self->nonces.server, self->nonces.client, bytes);
		break;
	default:
		memset(bytes, rng_below(&self->rng, 256), HUB_PROOF_SIZE);
		break;
	}
}

/* Frames of a proof that prove nothing, in any order. */
static void prove_badly(FIXTURE_DATA(bad_hub) * self)
{
	unsigned char bytes[HUB_PROOF_SIZE];
	struct hub_frame frame = { 0 };
	unsigned int number;

	for (unsigned int i = 0; i < 4; i++) {
		self->actions++;
		if (rng_once_in(&self->rng, 2) &&
		    !hub_peer_next(&self->peer, IMPATIENCE, &frame, &number) &&
		    frame.kind == HUB_CHALLENGE && rng_once_in(&self->rng, 2))
			memcpy(self->nonces.server, frame.data, HUB_PROOF_SIZE);
		any_bytes(self, bytes);
		if (hub_peer_tell(&self->peer, rng_once_in(&self->rng, 2) ? HUB_CHALLENGE :
				  HUB_PROOF, bytes))
			return;
	}
}

/* Proves the secret, or does not.  Returns whether the hub may have admitted the peer. */
static bool prove(FIXTURE_DATA(bad_hub) * self, bool is_server)
{
	if (!self->secret)
		return true;
	switch (rng_below(&self->rng, 16)) {
	case 0:
		prove_badly(self);
		return rng_once_in(&self->rng, 2);
	case 1:
		/* Everything else comes first. */
		return true;
	case 2:
		sleep_ms(rng_below(&self->rng, 2 * IDLE_MS) / 4);
		return rng_once_in(&self->rng, 2);
	default:
		break;
	}
	self->actions++;
	self->proofs++;
	return !hub_peer_prove(&self->peer, self->secret, is_server, &self->nonces);
}

static void visit(FIXTURE_DATA(bad_hub) * self, bool is_server)
{
	self->visits++;
	self->actions++;
	self->talk = (struct talk){ 0 };
	if (meet(self, is_server) && prove(self, is_server))
		speak(self);
	else
		/* Endpoints that end have places of the hub for a moment. */
		sleep_ms(20);
	if (rng_once_in(&self->rng, 4))
		krdma_conn_disconnect(self->peer.conn, 0);
	hub_peer_leave(&self->peer);
}

/* Waits until the hub has closed all bad peers, and returns what the program uses then. */
static struct usage rest(FIXTURE_DATA(bad_hub) * self, const struct usage *before)
{
	store(&self->give_back, 1);
	while (load(&self->give_back))
		sleep_ms(10);
	/* What is left in a grace of three seconds, and the idle ones. */
	sleep_ms(2 * IDLE_MS + 4000);
	return before ? usage_after(before) : usage_now();
}

static void act(struct __test_metadata *_metadata, FIXTURE_DATA(bad_hub) * self, bool is_server,
		unsigned int actions)
{
	unsigned int honest = 0;
	size_t bytes;

	for (self->actions = 0; self->actions < actions && _metadata->exit_code == KSFT_PASS;) {
		visit(self, is_server);
		bytes = usage_now().bytes;
		self->most = bytes > self->most ? bytes : self->most;
		if (self->actions < honest)
			continue;
		honest = self->actions + HONEST_AFTER;
		be_honest(_metadata, self);
	}
}

TEST_F_TIMEOUT(bad_hub, harms_neither_the_hub_nor_its_other_peers, 3600)
{
	unsigned int actions = number_of("KRDMA_ACTIONS", ACTIONS) / (variant->has_secret ? 8 : 2);
	struct usage before, after;

	/* The first visits make the library allocate what it keeps. */
	fill_hub(_metadata, self);
	act(_metadata, self, variant->is_server, actions / 10);
	before = rest(self, NULL);
	self->most = 0;
	act(_metadata, self, variant->is_server, actions - actions / 10);
	after = rest(self, &before);
	be_honest(_metadata, self);
	stop_serving(self);
	TH_LOG("%u actions in %u visits: %u messages, %u of them long; memory of the peer %u times",
	       actions, self->visits, self->messages, self->long_messages, self->memories);
	TH_LOG("%zu and then %zu bytes, %zu meanwhile", before.bytes, after.bytes, self->most);
	EXPECT_EQ(0, self->wrong) {
		TH_LOG("%u times, first: %s", self->wrong, self->wrong_what);
	}
	EXPECT_LT(0, self->joined);
	/* No other peers have joined than the honest ones and those that have proved the secret. */
	if (self->secret) {
		EXPECT_LT(0, self->proofs);
		EXPECT_GE(self->proofs + PEERS, self->joined);
	}
	EXPECT_LT(0, self->left);
	/* Fewer actions may miss what is rare. */
	if (actions >= 5 * ACTIONS / 2) {
		EXPECT_LT(0, self->long_messages);
		EXPECT_LT(0, self->memories);
	}
	EXPECT_GE(before.bytes + USAGE_SPARE, after.bytes);
	EXPECT_GE(before.bytes + SPARE_MEANWHILE, self->most);
	EXPECT_GE(before.descriptors, after.descriptors);
	EXPECT_FALSE(usage_leaks());
	EXPECT_EQ(PAGES, changed_page(self->pages));
}

TEST_HARNESS_MAIN
