// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: the data of one file over several connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_files.h"
#include "lib_script.h"
#include "session.h"

/* Many rounds of all buffers. */
#define LONG		(600 * 1024 + 7)
#define SLOT		4096
#define SLOTS		4
#define REQUEST_MS	2000
#define LONG_MS		20000
#define JOIN		2
#define SECRET		"sixteen bytes or more"

FIXTURE(streams)
{
	struct files files;
	struct named_report report;
	struct krdma_file_result result;
	struct krdma_file_options options;
	struct krdma_file_server_options server;
	struct files_limit limit;
	/* The first connection of a client that does what it should not, and the second one. */
	struct raw raw;
	struct raw other;
	unsigned char ticket[TOKEN];
};

FIXTURE_SETUP(streams)
{
	ASSERT_EQ(0, files_open(&self->files));
	self->server = (struct krdma_file_server_options){
		.flags = KRDMA_FILE_SERVER_WRITABLE, .request_ms = REQUEST_MS,
		.buffer_size = SLOT,
	};
	self->options.size = sizeof(self->options);
	self->options.buffer_size = SLOT;
}

FIXTURE_TEARDOWN(streams)
{
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

static int serve(FIXTURE_DATA(streams) * self)
{
	return files_serve(&self->files, BOOT_ADDRESS, NULL, &self->server);
}

static int get(FIXTURE_DATA(streams) * self, const char *name, const char *as)
{
	return files_get(&self->files, name, as, &self->options, &self->result);
}

static int put(FIXTURE_DATA(streams) * self, const char *file, const char *name)
{
	return files_put(&self->files, file, name, &self->options, &self->result);
}

/*
 * A file's data go over all connections that were asked for, and arrive in order.
 *
 * Proves: F11 (library)
 */
TEST_F_TIMEOUT(streams, of_any_number_carry_a_file, 240)
{
	static const uint32_t counts[] = { 1, 2, 3, 8, 16 };

	ASSERT_EQ(0, serve(self));
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		self->options.streams = counts[i];
		ASSERT_EQ(0, files_make(self->files.there, "a", LONG, i));
		ASSERT_EQ(0, get(self, "a", "b"));
		EXPECT_EQ(counts[i], self->result.streams);
		EXPECT_TRUE(files_are(self->files.here, "b", LONG, i));
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(counts[i], self->report.is.streams);

		ASSERT_EQ(0, put(self, "b", "c"));
		EXPECT_EQ(counts[i], self->result.streams);
		EXPECT_TRUE(files_are(self->files.there, "c", LONG, i));
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(counts[i], self->report.is.streams);
		EXPECT_EQ(self->result.crc32c, self->report.is.crc32c);
	}
	self->options.streams = KRDMA_FILE_STREAMS_MAX + 1;
	EXPECT_EQ(-EINVAL, get(self, "a", "b"));
}

TEST_F_TIMEOUT(streams, serve_files_of_all_lengths_one_after_another, 240)
{
	static const size_t lengths[] = { 0, 1, SLOT, SLOT + 1, 3 * SLOT, LONG };
	struct krdma_file_client *client;
	char path[FILES_PATH];

	ASSERT_EQ(0, serve(self));
	self->options.streams = 3;
	ASSERT_EQ(0, krdma_file_client_create(self->files.session,
					      (struct sockaddr *)&self->files.address,
					      &self->options, &client));
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		ASSERT_EQ(0, files_make(self->files.there, "a", lengths[i], i));
		EXPECT_EQ(0, krdma_file_client_get(client, "a", AT_FDCWD,
						   files_path(path, self->files.here, "b"), 0,
						   &self->result, sizeof(self->result)));
		EXPECT_EQ(3, self->result.streams);
		EXPECT_TRUE(files_are(self->files.here, "b", lengths[i], i));
		EXPECT_EQ(0, krdma_file_client_put(client, AT_FDCWD, path, "c", 0, &self->result,
						   sizeof(self->result)));
		EXPECT_TRUE(files_are(self->files.there, "c", lengths[i], i));
	}
	/* A server that has ended an idle client gets the same connections again. */
	sleep_ms(REQUEST_MS + rounds(500, 5000));
	EXPECT_EQ(0, krdma_file_client_get(client, "a", AT_FDCWD,
					   files_path(path, self->files.here, "d"), 0,
					   &self->result, sizeof(self->result)));
	EXPECT_EQ(3, self->result.streams);
	krdma_file_client_destroy(client);
}

TEST_F_TIMEOUT(streams, keep_holes, 120)
{
	char byte = 'x';

	ASSERT_EQ(0, serve(self));
	self->options.streams = 4;
	ASSERT_EQ(0, files_write(self->files.there, "a", 100 * SLOT, &byte, 1));
	ASSERT_EQ(0, files_write(self->files.there, "a", 200 * SLOT, &byte, 1));
	ASSERT_EQ(0, get(self, "a", "b"));
	/* 200 pages are not there. */
	EXPECT_GE(4 * SLOT, self->result.transferred);
	EXPECT_EQ(200 * SLOT + 1, self->result.length);
}

static void give_up_at(FIXTURE_DATA(streams) * self, uint64_t at)
{
	self->limit.at = at;
	self->options.progress = files_give_up;
	self->options.context = &self->limit;
	self->options.flags = 0;
}

static void go_on(FIXTURE_DATA(streams) * self, uint32_t count)
{
	self->options.progress = NULL;
	self->options.flags = KRDMA_FILE_CONTINUE;
	self->options.streams = count;
}

/*
 * What several connections have brought is continued by any number of them.
 *
 * Proves: F11 (library)
 */
TEST_F_TIMEOUT(streams, that_are_interrupted_are_continued, 240)
{
	static const uint32_t counts[][2] = { { 8, 8 }, { 8, 1 }, { 1, 5 } };

	ASSERT_EQ(0, serve(self));
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		ASSERT_EQ(0, files_make(self->files.there, "a", LONG, i));
		self->options.streams = counts[i][0];
		give_up_at(self, LONG / 2);
		EXPECT_EQ(-ECANCELED, get(self, "a", "b"));
		EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
		EXPECT_EQ(1, files_parts(self->files.here, NULL));
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(-ECANCELED, self->report.is.error);
		EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->report.is.side);
		go_on(self, counts[i][1]);
		ASSERT_EQ(0, get(self, "a", "b"));
		EXPECT_LE(LONG / 2, self->result.resumed_from);
		EXPECT_EQ(LONG, self->result.resumed_from + self->result.transferred);
		EXPECT_TRUE(files_are(self->files.here, "b", LONG, i));
		EXPECT_EQ(0, files_parts(self->files.here, NULL));
		ASSERT_EQ(0, files_report(&self->files, &self->report));

		self->options.streams = counts[i][0];
		give_up_at(self, LONG / 2);
		EXPECT_EQ(-ECANCELED, put(self, "b", "c"));
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(-ECANCELED, self->report.is.error);
		EXPECT_EQ(1, files_parts(self->files.there, NULL));
		go_on(self, counts[i][1]);
		ASSERT_EQ(0, put(self, "b", "c"));
		EXPECT_LT(0, self->result.resumed_from);
		EXPECT_EQ(LONG, self->result.resumed_from + self->result.transferred);
		EXPECT_TRUE(files_are(self->files.there, "c", LONG, i));
		EXPECT_EQ(0, files_parts(self->files.there, NULL));
		ASSERT_EQ(0, files_report(&self->files, &self->report));
	}
}

/*
 * Clients that do what they should not
 */

/* Ask for @count connections.  Returns how many the server grants, and learns the ticket. */
static int ask(FIXTURE_DATA(streams) * self, struct raw *raw, uint32_t count)
{
	unsigned char bytes[HELLO_SHORT], answer[256] = { 0 };
	size_t length = sizeof(answer);
	int ret;

	raw_hello(bytes, RAW_VERSION, 0);
	bytes[12] = count;
	ret = raw_connect(raw, &self->files, bytes, sizeof(bytes));
	if (!ret)
		ret = krdma_conn_private_data(raw->conn, answer, &length);
	if (ret)
		return ret;
	memcpy(self->ticket, answer + HELLO_SHORT, TOKEN);
	return answer[12];
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(streams) * self, uint32_t count)
{
	ASSERT_EQ(count < 16 ? count : 16, ask(self, &self->raw, count));
}

static int join(FIXTURE_DATA(streams) * self, struct raw *raw, uint32_t number,
		const unsigned char token[TOKEN])
{
	unsigned char bytes[HELLO];

	raw_hello_join(bytes, JOIN, number, token);
	return raw_connect(raw, &self->files, bytes, sizeof(bytes));
}

/* Put "evil" over two connections, up to the first piece, which is stored. */
static void offer(struct __test_metadata *_metadata, FIXTURE_DATA(streams) * self)
{
	begin(_metadata, self, 2);
	ASSERT_EQ(0, join(self, &self->other, 1, self->ticket));
	ASSERT_EQ(CREDIT, raw_offer(&self->raw, 10 * SLOT, SLOTS));
}

static void expect_refused(struct __test_metadata *_metadata, FIXTURE_DATA(streams) * self,
			   int error, const char *what)
{
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(error, self->report.is.error) {
		TH_LOG("%s: %s", what, strerror(-self->report.is.error));
	}
	raw_close(&self->raw);
	raw_close(&self->other);
	memset(&self->other, 0, sizeof(self->other));
	EXPECT_FALSE(files_exist(self->files.there, "evil"));
}

/*
 * Each piece has one connection and one turn; another order ends the transfer.
 *
 * Proves: F11 (library)
 */
TEST_F_TIMEOUT(streams, have_their_own_pieces_in_turn, 240)
{
	static const struct {
		bool first;
		uint8_t type;
		uint64_t offset;
		uint64_t length;
		uint32_t slot;
		const char *what;
	} pieces[] = {
		{ true, DATA, SLOT, SLOT, 1, "the other connection's piece" },
		{ false, DATA, 2 * SLOT, SLOT, 2, "the first connection's piece" },
		{ false, DATA, 3 * SLOT, SLOT, 3, "the next but one" },
		{ false, DATA, 2 * SLOT, SLOT, 1, "a gap" },
		{ false, DATA, 0, SLOT, 1, "what is there" },
		{ false, DATA, SLOT, SLOT + 1, 1, "more than a slot" },
		{ false, HOLE, SLOT, 10 * SLOT, 1, "a hole beyond the end" },
		{ false, END, 0, 10 * SLOT, 0, "an end" },
		{ false, ALIVE, 0, 0, 0, "a word" },
		{ false, ERROR, 0, 0, 0, "an error" },
	};
	struct message message;

	ASSERT_EQ(0, serve(self));
	for (unsigned int i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		offer(_metadata, self);
		message = raw_piece(pieces[i].type, pieces[i].offset, pieces[i].length,
				    pieces[i].slot);
		raw_send(pieces[i].first ? &self->raw : &self->other, &message);
		expect_refused(_metadata, self, -EPROTO, pieces[i].what);
	}
	/* An end before the pieces of the other connection. */
	offer(_metadata, self);
	message = raw_make(END, NULL);
	raw_set(&message, 16, 10 * SLOT, 8);
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	message = raw_piece(DATA, SLOT, SLOT, 1);
	raw_send(&self->other, &message);
	expect_refused(_metadata, self, -EPROTO, "an end before the end");
}

/* When one connection of several ends, the transfer does, and its part remains. */
TEST_F_TIMEOUT(streams, that_lose_one_end_the_transfer, 120)
{
	ASSERT_EQ(0, serve(self));
	offer(_metadata, self);
	ASSERT_EQ(0, krdma_conn_disconnect(self->other.conn, 0));
	expect_refused(_metadata, self, -ECONNRESET, "a connection that has ended");
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->report.is.side);
	EXPECT_EQ(1, files_parts(self->files.there, NULL));
}

/* A connection joins a client only with its ticket, and each number once. */
TEST_F_TIMEOUT(streams, are_joined_by_their_client_alone, 240)
{
	unsigned char wrong[TOKEN];
	struct raw stranger;
	uint64_t begun;

	self->server.request_ms = LONG_MS;
	ASSERT_EQ(0, serve(self));
	memset(wrong, 0, sizeof(wrong));
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 1, wrong));
	raw_close(&stranger);

	begin(_metadata, self, 3);
	memcpy(wrong, self->ticket, sizeof(wrong));
	wrong[31] ^= 1;
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 1, wrong));
	raw_close(&stranger);
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 0, self->ticket));
	raw_close(&stranger);
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 16, self->ticket));
	raw_close(&stranger);
	/* One more than granted is refused at once: it would wait with the others. */
	begun = now_ms();
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 3, self->ticket));
	EXPECT_GT(LONG_MS / 2, now_ms() - begun);
	raw_close(&stranger);
	ASSERT_EQ(0, join(self, &self->other, 1, self->ticket));
	/* At once: it does not wait for its client's end. */
	begun = now_ms();
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 1, self->ticket));
	EXPECT_GT(LONG_MS / 2, now_ms() - begun);
	raw_close(&stranger);
	/* The third one does not come: its client has no more time than one without a request. */
	expect_refused(_metadata, self, -ETIMEDOUT, "a connection that is missing");
	/* The ticket is of no use afterwards. */
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 2, self->ticket));
	raw_close(&stranger);

	begin(_metadata, self, 200);
	expect_refused(_metadata, self, -ETIMEDOUT, "more connections than there can be");
}

/* Also a file that is shorter than a usual buffer. */
TEST_F_TIMEOUT(streams, share_a_short_file, 120)
{
	struct message message = raw_make(GET, "a");
	uint64_t begun = now_ms();
	struct raw stranger;

	self->server.request_ms = LONG_MS;
	self->server.buffer_size = 0;
	ASSERT_EQ(0, serve(self));
	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	begin(_metadata, self, 2);
	ASSERT_EQ(0, join(self, &self->other, 1, self->ticket));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raw, &message));
	/* The number of buffers. */
	EXPECT_LE(4, message.bytes[52]);
	/* All that were granted are there. */
	EXPECT_EQ(-ECONNREFUSED, join(self, &stranger, 2, self->ticket));
	EXPECT_GT(LONG_MS / 2, now_ms() - begun);
	raw_close(&stranger);
	raw_close(&self->raw);
	raw_close(&self->other);
}

TEST_F_TIMEOUT(streams, are_there_before_a_request, 120)
{
	struct message message = raw_make(GET, "a");

	ASSERT_EQ(0, serve(self));
	begin(_metadata, self, 2);
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	expect_refused(_metadata, self, -EPROTO, "a request before its connections");
}

/*
 * The clients of one address get no more further connections than their share, and those of another
 * one get theirs.
 */
TEST_F_TIMEOUT(streams, of_one_address_leave_those_of_others, 240)
{
	struct raw third;
	int granted = 0;
	uint64_t end;

	self->server.request_ms = LONG_MS;
	self->server.max_clients = 4;
	/* One for each client, and four others, of which an address gets two. */
	self->server.max_conns = 8;
	ASSERT_EQ(0, files_serve(&self->files, "::", NULL, &self->server));
	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	ASSERT_EQ(0, files_at(&self->files, BOOT_ADDRESS));
	EXPECT_EQ(3, ask(self, &self->raw, 16));
	/* A client whose address has no more has one. */
	self->options.streams = 4;
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_EQ(1, self->result.streams);
	EXPECT_TRUE(files_are(self->files.here, "b", LONG, 1));
	ASSERT_EQ(0, files_report(&self->files, &self->report));

	ASSERT_EQ(0, files_at(&self->files, BOOT_ADDRESS_6));
	EXPECT_EQ(2, ask(self, &self->other, 2));
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_EQ(2, self->result.streams);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	/* What a client had is there for the next one. */
	raw_close(&self->other);
	memset(&self->other, 0, sizeof(self->other));
	for (end = now_ms() + PATIENCE_MS; granted != 3 && now_ms() < end; sleep_ms(20)) {
		granted = ask(self, &third, 16);
		raw_close(&third);
	}
	EXPECT_EQ(3, granted);
	raw_close(&self->raw);
}

TEST_F(streams, are_at_least_one_for_each_client)
{
	self->server.max_clients = 4;
	self->server.max_conns = 3;
	EXPECT_EQ(-EINVAL, serve(self));
	self->server.max_conns = 16385;
	EXPECT_EQ(-EINVAL, serve(self));
	self->server.max_conns = 4;
	ASSERT_EQ(0, serve(self));
	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	self->options.streams = 16;
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_EQ(1, self->result.streams);
}

/* With a secret, a ticket that was overheard joins nothing. */
TEST_F_TIMEOUT(streams, of_a_secret_need_it_each, 120)
{
	unsigned char bytes[HELLO], answer[256] = { 0 };
	size_t length = sizeof(answer);
	struct raw stranger;
	uint64_t begun;

	self->server.request_ms = LONG_MS;
	self->server.secret = SECRET;
	self->server.secret_length = strlen(SECRET);
	ASSERT_EQ(0, serve(self));
	ASSERT_EQ(0, files_make(self->files.there, "a", LONG, 1));
	self->options.secret = SECRET;
	self->options.secret_length = strlen(SECRET);
	self->options.streams = 4;
	ASSERT_EQ(0, get(self, "a", "b"));
	EXPECT_EQ(4, self->result.streams);
	EXPECT_TRUE(files_are(self->files.here, "b", LONG, 1));
	ASSERT_EQ(0, files_report(&self->files, &self->report));

	raw_hello(bytes, RAW_VERSION, 0);
	bytes[6] = 1;
	bytes[12] = 2;
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, bytes, HELLO_SHORT));
	ASSERT_EQ(0, krdma_conn_private_data(self->raw.conn, answer, &length));
	raw_hello_join(bytes, 1 | JOIN, 1, answer + HELLO_SHORT);
	/* At once: it does not wait for its client's proof. */
	begun = now_ms();
	EXPECT_EQ(-ECONNREFUSED, raw_connect(&stranger, &self->files, bytes, sizeof(bytes)));
	EXPECT_GT(LONG_MS / 2, now_ms() - begun);
	raw_close(&stranger);
	raw_close(&self->raw);
}

/*
 * Servers of another kind
 */

/* Refuses requests. */
static void refuse(struct raw *raw, void *context)
{
	struct message message;

	(void)context;
	while (raw_receive(raw, &message) > 0) {
		if (message.bytes[0] != GET)
			continue;
		message = raw_make(REFUSE, NULL);
		raw_set(&message, 4, 2, 4);
		raw_send(raw, &message);
	}
}

static int get_from(struct __test_metadata *_metadata, FIXTURE_DATA(streams) * self,
		    uint32_t granted, size_t length)
{
	struct script script = { .length = length, .talk = refuse };
	int ret;

	raw_hello(script.hello, RAW_VERSION, 0);
	script.hello[12] = granted;
	self->options.streams = 4;
	self->options.patience_ms = 2000;
	ret = script_get(&script, &self->files, "a", "x", &self->options, &self->result);
	EXPECT_FALSE(files_exist(self->files.here, "x"));
	return ret;
}

/* A server that knows one connection is asked over one. */
TEST_F_TIMEOUT(streams, are_one_with_a_server_that_does_not_know_them, 120)
{
	EXPECT_EQ(-ENOENT, get_from(_metadata, self, 0, HELLO_SHORT));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(1, self->result.streams);
	EXPECT_EQ(-ENOENT, get_from(_metadata, self, 1, HELLO_SHORT));
	EXPECT_EQ(1, self->result.streams);
}

/* Answers the request for a second connection with a hello that is not of it. */
struct answer {
	struct script script;
	uint16_t flags;
	uint32_t streams;
};

static void answer_join(struct raw *raw, void *context)
{
	struct answer *answer = context;
	unsigned char hello[HELLO];
	struct krdma_conn *conn;
	struct raw other;

	raw_hello(hello, RAW_VERSION, 0);
	hello[6] = answer->flags;
	hello[12] = answer->streams;
	if (krdma_listener_next(answer->script.listener, krdma_deadline(PATIENCE_MS), &conn))
		return;
	raw_take(&other, raw->session, conn, hello, HELLO_SHORT);
	refuse(raw, NULL);
	raw_close(&other);
}

static int get_over_two(FIXTURE_DATA(streams) * self, uint16_t flags, uint32_t number)
{
	struct answer answer = {
		.script = { .length = HELLO, .talk = answer_join, .context = &answer },
		.flags = flags, .streams = number,
	};

	raw_hello(answer.script.hello, RAW_VERSION, 0);
	answer.script.hello[12] = 2;
	self->options.streams = 2;
	return script_get(&answer.script, &self->files, "a", "x", &self->options, &self->result);
}

TEST_F_TIMEOUT(streams, are_answered_each, 120)
{
	EXPECT_EQ(-ENOENT, get_over_two(self, 0, 0));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(-EPROTO, get_over_two(self, 0, 1));
	EXPECT_EQ(-EPROTO, get_over_two(self, 0, 2));
	EXPECT_EQ(-EPROTO, get_over_two(self, 1, 0));
	EXPECT_EQ(-EPROTO, get_over_two(self, JOIN, 0));
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
}

TEST_F_TIMEOUT(streams, that_a_server_grants_are_judged, 120)
{
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, 5, HELLO));
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, 2, HELLO_SHORT));
	/* It takes no second connection. */
	EXPECT_EQ(-ETIMEDOUT, get_from(_metadata, self, 2, HELLO));
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
}

TEST_HARNESS_MAIN
