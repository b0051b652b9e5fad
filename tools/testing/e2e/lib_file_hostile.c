// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: peers that violate the protocol.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_files.h"
#include "lib_script.h"
#include "session.h"

#define LENGTH		20000

/* The server's timeout for a silent peer; some of the peers pause for a while. */
#define PATIENT_MS	5000

FIXTURE(hostile)
{
	struct files files;
	struct named_report report;
	struct krdma_file_result result;
	struct raw raw;
	unsigned char hello[16];
};

FIXTURE_SETUP(hostile)
{
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE,
		.patience_ms = PATIENT_MS,
		.max_clients = 2,
		.max_per_peer = 2,
	};

	ASSERT_EQ(0, files_open(&self->files));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
	raw_hello(self->hello, RAW_VERSION, 0);
}

FIXTURE_TEARDOWN(hostile)
{
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

/* The server has ended the connection with @error, and serves others as before. */
static void expect_refused(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
			   int error, const char *what)
{
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(error, self->report.is.error) {
		TH_LOG("%s: %s", what, strerror(-self->report.is.error));
	}
	raw_close(&self->raw);
	EXPECT_FALSE(files_exist(self->files.there, "evil"));
}

static void expect_served(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self)
{
	EXPECT_EQ(0, files_get(&self->files, "a", "b", NULL, &self->result));
	EXPECT_TRUE(files_are(self->files.here, "b", LENGTH, 1));
}

static void say(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		const struct message *message, int error, const char *what)
{
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	raw_send(&self->raw, message);
	expect_refused(_metadata, self, error, what);
}

TEST_F_TIMEOUT(hostile, first_words_are_judged, 240)
{
	struct message message = raw_make(GET, "a");

	message.length = 10;
	say(_metadata, self, &message, -EPROTO, "a short message");
	/* The client ends the connection, but not before the server has seen it. */
	message = raw_make(GET, "a");
	message.length = 5000;
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	sleep_ms(rounds(100, 1000));
	raw_send(&self->raw, &message);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-EPROTO, self->report.is.error);
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->report.is.side);
	raw_close(&self->raw);
	message = raw_make(GET, "a");
	raw_set(&message, 2, 2, 2);
	say(_metadata, self, &message, -EPROTO, "a name longer than the message");
	message = raw_make(GET, "a");
	raw_set(&message, 2, 0xffff, 2);
	say(_metadata, self, &message, -EPROTO, "a name longer than any");
	message = raw_make(GET, "a b");
	message.bytes[FIXED + 1] = '\0';
	say(_metadata, self, &message, -EPROTO, "a name with a zero");
	message = raw_make(GET, "a");
	raw_set(&message, 40, 1, 4);
	say(_metadata, self, &message, -EPROTO, "a field that is not of this message");
	message = raw_make(99, NULL);
	say(_metadata, self, &message, -EPROTO, "a message that is not known");
	message = raw_make(0, NULL);
	say(_metadata, self, &message, -EPROTO, "a message of no type");
	message = raw_make(FETCH, NULL);
	raw_set(&message, 48, 4096, 4);
	raw_set(&message, 52, 1, 4);
	say(_metadata, self, &message, -EPROTO, "an answer without a question");
	message = raw_make(PUT, "evil");
	raw_set(&message, 16, UINT64_MAX, 8);
	say(_metadata, self, &message, -EPROTO, "a length that none can have");
	message = raw_make(PUT, "evil");
	raw_set(&message, 36, 04777, 4);
	say(_metadata, self, &message, -EPROTO, "a bit that nobody may set");
	message = raw_make(ERROR, NULL);
	raw_set(&message, 4, 12345, 4);
	say(_metadata, self, &message, -EIO, "an error that nobody knows");
	expect_served(_metadata, self);
}

TEST_F_TIMEOUT(hostile, silent_clients_are_put_out, 240)
{
	struct message message = raw_make(ALIVE, NULL);
	uint64_t begin = now_ms();

	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	expect_refused(_metadata, self, -ETIMEDOUT, "silence");
	/* The time starts when the peer is accepted, and is checked twice a second. */
	EXPECT_LE(PATIENT_MS, now_ms() - begin);
	EXPECT_GE(PATIENT_MS + rounds(1000, 5000), now_ms() - begin);
	/* The server waits for a peer that only reports that it is alive. */
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	for (begin = now_ms(); now_ms() - begin < PATIENT_MS + 1000;) {
		sleep_ms(500);
		ASSERT_EQ(0, raw_send(&self->raw, &message));
	}
	message = raw_make(GET, "a");
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	EXPECT_EQ(FILE_IS, raw_receive(&self->raw, &message));
	raw_close(&self->raw);
	expect_served(_metadata, self);
}

TEST_F_TIMEOUT(hostile, strangers_are_not_let_in, 240)
{
	unsigned char other[16];

	EXPECT_EQ(-ECONNREFUSED, raw_connect(&self->raw, &self->files, NULL, 0));
	expect_refused(_metadata, self, -EPROTO, "no hello");
	EXPECT_EQ(-ECONNREFUSED, raw_connect(&self->raw, &self->files, "krdf", 4));
	expect_refused(_metadata, self, -EPROTO, "half a hello");
	raw_hello(other, RAW_VERSION + 1, 0);
	EXPECT_EQ(-ECONNREFUSED, raw_connect(&self->raw, &self->files, other, sizeof(other)));
	expect_refused(_metadata, self, -EPROTONOSUPPORT, "another version");
	expect_served(_metadata, self);
}

/* Get "a" into a window of @count buffers of @size bytes. */
static void fetch(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		  uint32_t size, uint32_t count)
{
	struct message message = raw_make(GET, "a");

	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raw, &message));
	message = raw_make(FETCH, NULL);
	raw_set_window(&self->raw, &message, size, count);
	raw_send(&self->raw, &message);
}

TEST_F_TIMEOUT(hostile, windows_are_judged, 240)
{
	struct message message;

	fetch(_metadata, self, 1 << 20, 8);
	expect_refused(_metadata, self, -EPROTO, "a window larger than the server's");
	fetch(_metadata, self, 4096, 17);
	expect_refused(_metadata, self, -EPROTO, "too many slots");
	fetch(_metadata, self, 1, 1);
	expect_refused(_metadata, self, -EPROTO, "slots too small");
	fetch(_metadata, self, 0, 0);
	expect_refused(_metadata, self, -EPROTO, "no slots");

	/* An rkey of no MR: the device reports an error. */
	message = raw_make(GET, "a");
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raw, &message));
	message = raw_make(FETCH, NULL);
	raw_set_window(&self->raw, &message, 4096, 1);
	for (int i = 0; i < KRDMA_MR_DESC_SIZE; i++)
		message.bytes[56 + i] ^= 0xff;
	raw_send(&self->raw, &message);
	expect_refused(_metadata, self, -EPROTO, "a descriptor that is none");
	expect_served(_metadata, self);
}

TEST_F_TIMEOUT(hostile, comparisons_are_judged, 240)
{
	struct message compare = raw_make(COMPARE, NULL), digest = raw_make(DIGEST, NULL), message;

	say(_metadata, self, &compare, -EPROTO, "a comparison of nothing");
	say(_metadata, self, &digest, -EPROTO, "a digest of nothing");
	message = raw_make(GET, "a");
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raw, &message));
	ASSERT_EQ(0, raw_send(&self->raw, &compare));
	ASSERT_EQ(DIGEST, raw_receive(&self->raw, &message));
	ASSERT_EQ(0, raw_send(&self->raw, &compare));
	expect_refused(_metadata, self, -EPROTO, "a second comparison");
	message = raw_make(PUT, "a");
	raw_set(&message, 4, PUT_COMPARE, 4);
	raw_set(&message, 16, LENGTH, 8);
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(COMPARE, raw_receive(&self->raw, &message));
	ASSERT_EQ(0, raw_send(&self->raw, &compare));
	expect_refused(_metadata, self, -EPROTO, "a comparison instead of a digest");
	EXPECT_TRUE(files_are(self->files.there, "a", LENGTH, 1));
	expect_served(_metadata, self);
}

TEST_F_TIMEOUT(hostile, credit_that_was_not_earned_is_refused, 240)
{
	struct message credit = raw_make(CREDIT, NULL), message;

	fetch(_metadata, self, 4096, 1);
	ASSERT_EQ(BEGIN, raw_receive(&self->raw, &message));
	for (int i = 0; i < 12; i++) {
		if (raw_send(&self->raw, &credit))
			break;
	}
	expect_refused(_metadata, self, -EPROTO, "credit");
	expect_served(_metadata, self);
}

/* Put "evil" of @length bytes with a window of one page, after its first page. */
static void offer(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		  uint64_t length)
{
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(CREDIT, raw_offer(&self->raw, length, 1));
}

TEST_F_TIMEOUT(hostile, pieces_are_judged, 240)
{
	static const struct {
		uint8_t type;
		uint64_t offset;
		uint64_t length;
		uint32_t slot;
		const char *what;
	} pieces[] = {
		{ DATA, 4096, 4096, 1, "another slot" },
		{ DATA, 0, 4096, 0, "the same again" },
		{ DATA, 8192, 4096, 0, "a gap" },
		{ DATA, 4096, 4097, 0, "more than a slot" },
		{ DATA, 4096, 0, 0, "nothing" },
		{ HOLE, 4096, 1 << 20, 0, "a hole longer than the file" },
		{ HOLE, INT64_MAX - 10, INT64_MAX - 10, 0, "a hole beyond everything" },
		{ GET, 0, 0, 0, "another question" },
		{ BEGIN, 0, 0, 0, "an answer" },
		{ DONE, 0, 0, 0, "another's words" },
	};
	struct message message;

	for (unsigned int i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		offer(_metadata, self, LENGTH);
		message = raw_piece(pieces[i].type, pieces[i].offset, pieces[i].length,
				    pieces[i].slot);
		raw_send(&self->raw, &message);
		expect_refused(_metadata, self, -EPROTO, pieces[i].what);
	}
	expect_served(_metadata, self);
}

TEST_F_TIMEOUT(hostile, an_end_is_judged, 240)
{
	struct message message;

	offer(_metadata, self, LENGTH);
	message = raw_make(END, NULL);
	raw_set(&message, 16, LENGTH, 8);
	raw_send(&self->raw, &message);
	expect_refused(_metadata, self, -EPROTO, "an end before the end");

	offer(_metadata, self, 4096);
	message = raw_make(END, NULL);
	raw_set(&message, 16, 4096, 8);
	raw_set(&message, 40, 0x12345678, 4);
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	EXPECT_EQ(ERROR, raw_receive(&self->raw, &message));
	expect_refused(_metadata, self, -EBADMSG, "a checksum");
	/* This attempt leaves no usable part, unlike the one before. */
	EXPECT_EQ(1, files_parts(self->files.there, NULL));
	expect_served(_metadata, self);
}

/*
 * The part of another client
 */

#define LONG		(600 * 1024 + 7)

/* The step at which a client leaves. */
enum step {
	STEP_PUT, STEP_COMPARE, STEP_HAVE, STEP_NEXT, STEP_OFFER_ANEW, STEP_OFFER,
	STEP_OFFER_WRONG, STEP_DATA, STEP_END, STEPS,
};

/* A client puts the same file, and leaves at @step. */
static void leave_at(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		     const struct stat *status, uint32_t code, enum step step)
{
	struct message put = raw_make(PUT, "long"), message;
	uint64_t have = 0;

	raw_set(&put, 4, code | (step == STEP_COMPARE ? PUT_COMPARE : 0), 4);
	raw_set(&put, 16, LONG, 8);
	raw_set(&put, 24, status->st_mtim.tv_sec, 8);
	raw_set(&put, 32, status->st_mtim.tv_nsec, 4);
	raw_set(&put, 36, 0644, 4);
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &put));
	if (step == STEP_COMPARE)
		ASSERT_EQ(COMPARE, raw_receive(&self->raw, &message));
	if (step >= STEP_HAVE) {
		ASSERT_EQ(HAVE, raw_receive(&self->raw, &message));
		memcpy(&have, message.bytes + 8, sizeof(have));
		EXPECT_EQ(code != 0, have >= LONG / 4);
	}
	if (step == STEP_NEXT) {
		message = raw_make(NEXT, NULL);
		raw_send(&self->raw, &message);
		/* Where no part is left to look for, the server ends the connection. */
		EXPECT_EQ(code ? HAVE : -ECONNRESET, raw_receive(&self->raw, &message));
	}
	if (step >= STEP_OFFER_ANEW) {
		message = raw_make(OFFER, NULL);
		if (step == STEP_OFFER_WRONG)
			raw_set(&message, 8, have + 1, 8);
		else if (step > STEP_OFFER_ANEW)
			raw_set(&message, 8, have, 8);
		else
			have = 0;
		raw_set_window(&self->raw, &message, 4096, 1);
		raw_send(&self->raw, &message);
	}
	if (step >= STEP_DATA) {
		message = raw_piece(HOLE, have, LONG - have - (step == STEP_DATA), 0);
		raw_send(&self->raw, &message);
		ASSERT_EQ(CREDIT, raw_next(&self->raw, &message));
	}
	if (step >= STEP_END) {
		message = raw_make(END, NULL);
		raw_set(&message, 16, LONG, 8);
		raw_send(&self->raw, &message);
		EXPECT_EQ(ERROR, raw_receive(&self->raw, &message));
	}
	raw_close(&self->raw);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
}

/* At whatever step a client leaves, the part that another client has left remains. */
TEST_F_TIMEOUT(hostile, clients_that_leave_spoil_no_part, 240)
{
	struct files_limit limit = { .at = LONG / 2 };
	struct krdma_file_options options = {
		.size = sizeof(options), .buffer_size = 4096, .progress = files_give_up,
		.context = &limit,
	};
	char path[FILES_PATH];
	struct stat status;

	ASSERT_EQ(0, files_make(self->files.here, "long", LONG, 5));
	ASSERT_EQ(0, stat(files_path(path, self->files.here, "long"), &status));
	/* Something to compare it with. */
	ASSERT_EQ(0, files_make(self->files.there, "long", LONG, 6));
	EXPECT_EQ(-ECANCELED, files_put(&self->files, "long", "long", &options, &self->result));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	ASSERT_EQ(1, files_parts(self->files.there, NULL));
	for (unsigned int code = 0; code < 2; code++) {
		for (unsigned int step = 0; step < STEPS; step++) {
			/* Data after a part extend it, unless they prove wrong. */
			if (code && step == STEP_DATA)
				continue;
			leave_at(_metadata, self, &status, code, step);
			EXPECT_LE(1, files_parts(self->files.there, NULL)) {
				TH_LOG("code %u, step %u", code, step);
			}
		}
	}
	options = (struct krdma_file_options){
		.size = sizeof(options), .flags = KRDMA_FILE_CONTINUE,
	};
	EXPECT_EQ(0, files_put(&self->files, "long", "long", &options, &self->result));
	EXPECT_LE(LONG / 4, self->result.resumed_from);
	EXPECT_TRUE(files_are(self->files.there, "long", LONG, 5));
	EXPECT_EQ(0, files_parts(self->files.there, NULL));
}

/* The offered memory is deregistered: the device reports an error. */
TEST_F_TIMEOUT(hostile, memory_that_is_gone_is_missed, 240)
{
	struct message message = raw_piece(DATA, 4096, 4096, 0);

	offer(_metadata, self, LENGTH);
	ASSERT_EQ(0, krdma_mr_deregister(self->raw.window, KRDMA_DEREGISTER_LATER));
	self->raw.window = NULL;
	raw_send(&self->raw, &message);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-EPROTO, self->report.is.error);
	raw_close(&self->raw);
	EXPECT_FALSE(files_exist(self->files.there, "evil"));
	expect_served(_metadata, self);
}

/*
 * A hostile server
 */

/* Its messages: a description of the file, then the others. */
struct lines {
	struct message file;
	struct message next[4];
	unsigned int count;
};

static void say_lines(struct raw *raw, void *context)
{
	const struct lines *lines = context;
	struct message message;

	if (raw_receive(raw, &message) != GET || raw_send(raw, &lines->file) ||
	    (lines->count && raw_receive(raw, &message) != FETCH))
		return;
	for (unsigned int i = 0; i < lines->count; i++) {
		if (raw_send(raw, &lines->next[i]))
			return;
	}
}

static struct message file_is(uint64_t length, const char *name)
{
	struct message message = raw_make(FILE_IS, name);

	raw_set(&message, 16, length, 8);
	raw_set(&message, 36, 0644, 4);
	raw_set(&message, 48, 4096, 4);
	raw_set(&message, 52, 2, 4);
	return message;
}

static int get_script(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		      struct script *script, const char *name, const char *as)
{
	struct krdma_file_options options = { .size = sizeof(options), .patience_ms = 5000 };
	int ret = script_get(script, &self->files, name, as, &options, &self->result);

	EXPECT_FALSE(files_exist(self->files.here, "x"));
	return ret;
}

static int get_from(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		    struct lines *lines, const char *name, const char *as)
{
	struct script script = { .length = HELLO_SHORT, .talk = say_lines, .context = lines };

	raw_hello(script.hello, RAW_VERSION, 0);
	return get_script(_metadata, self, &script, name, as);
}

TEST_F_TIMEOUT(hostile, servers_of_something_else_are_noticed, 240)
{
	struct script script = { .length = 0 };

	EXPECT_EQ(-EPROTO, get_script(_metadata, self, &script, "a", "x"));
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
	script.length = HELLO_SHORT;
	raw_hello(script.hello, RAW_VERSION, 18);
	EXPECT_EQ(-EUSERS, get_script(_metadata, self, &script, "a", "x"));
}

TEST_F_TIMEOUT(hostile, servers_do_not_choose_where_a_file_goes, 240)
{
	/* The last component of the name is used, if any, and then the file does not arrive. */
	static const struct {
		const char *name;
		int error;
	} names[] = {
		{ "../x", -ETIMEDOUT }, { "/tmp/x", -ETIMEDOUT }, { "a/", -ETIMEDOUT },
		{ "..", -EPROTO }, { "", -EPROTO }, { "/", -EPROTO },
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct lines lines = { .file = file_is(0, names[i].name), .count = 0 };

		EXPECT_EQ(names[i].error, get_from(_metadata, self, &lines, "", ".")) {
			TH_LOG("'%s'", names[i].name);
		}
	}
	EXPECT_FALSE(files_exist(self->files.top, "x"));
	EXPECT_FALSE(files_exist("/tmp", "x"));
}

/* A server that transfers an empty file of that name correctly. */
static struct lines gives(const char *name)
{
	struct lines lines = { .file = file_is(0, name), .count = 2 };

	lines.next[0] = raw_make(BEGIN, NULL);
	lines.next[1] = raw_make(END, NULL);
	return lines;
}

TEST_F_TIMEOUT(hostile, servers_do_not_choose_any_name, 240)
{
	static const char * const names[] = {
		".bashrc", "...", "-rf", "--", "a\033]0;b\007", "a\nb", "a\177", "a\302\2332J",
		"a\342\200\256b", "a\377",
	};
	struct lines lines;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		lines = gives(names[i]);
		EXPECT_EQ(-EILSEQ, get_from(_metadata, self, &lines, "", ".")) {
			TH_LOG("'%s'", names[i]);
		}
		EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
		EXPECT_FALSE(files_exist(self->files.here, names[i]));
	}
	lines = gives("a\303\244 b");
	EXPECT_EQ(0, get_from(_metadata, self, &lines, "", "."));
	EXPECT_TRUE(files_are(self->files.here, "a\303\244 b", 0, 1));
	/* The client's own choice of a name is used. */
	lines = gives(".bashrc");
	EXPECT_EQ(0, get_from(_metadata, self, &lines, "", "mine"));
	EXPECT_TRUE(files_are(self->files.here, "mine", 0, 1));
	lines = gives("other");
	EXPECT_EQ(0, get_from(_metadata, self, &lines, ".profile", "."));
	EXPECT_TRUE(files_are(self->files.here, ".profile", 0, 1));
}

TEST_F_TIMEOUT(hostile, servers_do_not_choose_what_is_replaced, 240)
{
	struct lines lines = gives("taken");
	char path[FILES_PATH];

	ASSERT_EQ(0, files_make(self->files.here, "taken", LENGTH, 9));
	EXPECT_EQ(-EEXIST, get_from(_metadata, self, &lines, "", "."));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_TRUE(files_are(self->files.here, "taken", LENGTH, 9));
	/* Not even a dangling symbolic link is replaced. */
	ASSERT_EQ(0, symlink("nowhere", files_path(path, self->files.here, "link")));
	lines = gives("link");
	EXPECT_EQ(-EEXIST, get_from(_metadata, self, &lines, "", "."));
	EXPECT_FALSE(files_exist(self->files.here, "nowhere"));
	lines = gives("taken");
	EXPECT_EQ(0, get_from(_metadata, self, &lines, "taken", "."));
	EXPECT_TRUE(files_are(self->files.here, "taken", 0, 1));
}

TEST_F_TIMEOUT(hostile, servers_are_judged_too, 240)
{
	struct message begin = raw_make(BEGIN, NULL);
	struct lines lines;

	lines = (struct lines){ .file = file_is(4096, NULL), .count = 3 };
	lines.next[0] = begin;
	lines.next[1] = raw_piece(DATA, 0, 4096, 0);
	lines.next[2] = raw_make(END, NULL);
	raw_set(&lines.next[2], 16, 4096, 8);
	raw_set(&lines.next[2], 40, 0xbad, 4);
	EXPECT_EQ(-EBADMSG, get_from(_metadata, self, &lines, "a", "x"));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_EQ(0, files_parts(self->files.here, NULL));

	lines.next[1] = raw_piece(DATA, 0, 8192, 0);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &lines, "a", "x"));
	lines.next[1] = raw_piece(DATA, 4096, 4096, 0);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &lines, "a", "x"));
	lines.next[1] = raw_piece(DATA, 0, 4096, 1);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &lines, "a", "x"));
	lines.next[1] = raw_make(CREDIT, NULL);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &lines, "a", "x"));
	/* The server resumes although there is no part. */
	raw_set(&lines.next[0], 8, 100, 8);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &lines, "a", "x"));
	lines.file = file_is(UINT64_MAX, NULL);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &lines, "a", "x"));
	/* The server sends nothing more. */
	lines = (struct lines){ .file = file_is(4096, NULL), .count = 1 };
	lines.next[0] = begin;
	EXPECT_EQ(-ETIMEDOUT, get_from(_metadata, self, &lines, "a", "x"));
}

/* The step at which a server leaves. */
enum leave {
	LEAVE_GET, LEAVE_FILE, LEAVE_BEGIN, LEAVE_DATA, LEAVE_END, LEAVES,
};

/**
 * struct leaver - such a server
 * @file: its description of the file
 * @fd: the file
 * @at: the step
 */
struct leaver {
	struct message file;
	int fd;
	enum leave at;
};

/* Puts a page of the file into the client's window, and prepares the message that says so. */
static bool write_page(struct raw *raw, const struct leaver *leaver, struct message *fetch,
		       uint64_t offset)
{
	struct krdma_remote_mr remote;

	if (pread(leaver->fd, krdma_mr_data(raw->window), 4096, offset) != 4096 ||
	    krdma_remote_mr_from_desc(fetch->bytes + 56, KRDMA_MR_DESC_SIZE, &remote) ||
	    raw_transfer(raw, KRDMA_OP_WRITE, 0, 4096, &remote, 0))
		return false;
	*fetch = raw_piece(DATA, offset, 4096, 0);
	return true;
}

/* Says what comes before that step.  A page is right, and what follows a part to the end is not. */
static void serve_until(struct raw *raw, const struct leaver *leaver)
{
	struct message message, begin = raw_make(BEGIN, NULL);
	uint64_t have;

	if (raw_receive(raw, &message) != GET || leaver->at == LEAVE_GET ||
	    raw_send(raw, &leaver->file) || leaver->at == LEAVE_FILE ||
	    raw_receive(raw, &message) != FETCH)
		return;
	memcpy(&have, message.bytes + 8, sizeof(have));
	raw_set(&begin, 8, have, 8);
	if (raw_send(raw, &begin) || leaver->at == LEAVE_BEGIN)
		return;
	if (leaver->at == LEAVE_END)
		message = raw_piece(HOLE, have, LONG - have, 0);
	else if (!write_page(raw, leaver, &message, have))
		return;
	if (raw_send(raw, &message) || raw_next(raw, &message) != CREDIT ||
	    leaver->at == LEAVE_DATA)
		return;
	message = raw_make(END, NULL);
	raw_set(&message, 16, LONG, 8);
	raw_send(raw, &message);
	raw_receive(raw, &message);
}

static void serve_and_leave(struct raw *raw, void *context)
{
	serve_until(raw, context);
	krdma_conn_disconnect(raw->conn, 0);
}

/* At whatever step a server leaves, the part of an earlier get remains. */
TEST_F_TIMEOUT(hostile, servers_that_leave_spoil_no_part, 240)
{
	struct files_limit limit = { .at = LONG / 2 };
	struct krdma_file_options options = {
		.size = sizeof(options), .buffer_size = 4096, .progress = files_give_up,
		.context = &limit,
	};
	struct leaver leaver = { .file = file_is(LONG, NULL) };
	struct script script = {
		.length = HELLO_SHORT, .talk = serve_and_leave, .context = &leaver,
	};
	char path[FILES_PATH];
	struct stat status;

	raw_hello(script.hello, RAW_VERSION, 0);
	ASSERT_EQ(0, files_make(self->files.there, "long", LONG, 5));
	leaver.fd = open(files_path(path, self->files.there, "long"), O_RDONLY | O_CLOEXEC);
	ASSERT_EQ(0, fstat(leaver.fd, &status));
	raw_set(&leaver.file, 24, status.st_mtim.tv_sec, 8);
	raw_set(&leaver.file, 32, status.st_mtim.tv_nsec, 4);
	raw_set(&leaver.file, 36, status.st_mode & 0777, 4);
	EXPECT_EQ(-ECANCELED, files_get(&self->files, "long", "long", &options, &self->result));
	ASSERT_EQ(1, files_parts(self->files.here, NULL));
	options = (struct krdma_file_options){
		.size = sizeof(options), .flags = KRDMA_FILE_CONTINUE,
	};
	for (leaver.at = 0; leaver.at < LEAVES; leaver.at++) {
		EXPECT_EQ(leaver.at == LEAVE_END ? -EBADMSG : -ECONNRESET,
			  script_get(&script, &self->files, "long", "long", &options,
				     &self->result)) {
			TH_LOG("step %u", leaver.at);
		}
		EXPECT_LE(1, files_parts(self->files.here, NULL)) {
			TH_LOG("step %u", leaver.at);
		}
	}
	close(leaver.fd);
	EXPECT_EQ(0, files_get(&self->files, "long", "long", &options, &self->result));
	EXPECT_LE(LONG / 4, self->result.resumed_from);
	EXPECT_TRUE(files_are(self->files.here, "long", LONG, 5));
	EXPECT_EQ(0, files_parts(self->files.here, NULL));
}

TEST_HARNESS_MAIN
