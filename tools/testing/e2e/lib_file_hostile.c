// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's whole files: peers that do not keep to what was agreed.  Messages are made
 * here by hand, as tools/lib/file_wire.c describes them.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <krdma_entry.h>

#include "kselftest_harness.h"
#include "lib_files.h"
#include "lib_pair.h"
#include "session.h"

#define LENGTH		20000

enum {
	GET = 1, FILE_IS = 2, FETCH = 3, BEGIN = 4, PUT = 5, HAVE = 6, OFFER = 7, DATA = 8,
	HOLE = 9, CREDIT = 10, END = 11, DONE = 12, ERROR = 13, ALIVE = 14,
};

#define FIXED		88
#define ROOM		8192
#define RECEIVES	48
#define WINDOW		65536

/* One end of a connection, which says what it is told to. */
struct raw {
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_queue *queue;
	/* Of messages, and of what is offered. */
	struct krdma_memory *memory;
	struct krdma_memory *window;
	/* What has come while something else was waited for; each receive comes once. */
	struct krdma_cqe early[RECEIVES];
	unsigned int early_count;
	unsigned int early_taken;
};

struct message {
	unsigned char bytes[ROOM];
	uint32_t length;
};

static void set(struct message *message, unsigned int offset, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		message->bytes[offset + i] = value >> 8 * i;
}

static struct message make(uint8_t type, const char *name)
{
	struct message message = { .length = FIXED + (name ? strlen(name) : 0) };

	message.bytes[0] = type;
	if (name) {
		set(&message, 2, strlen(name), 2);
		memcpy(message.bytes + FIXED, name, strlen(name));
	}
	return message;
}

static struct message piece(uint8_t type, uint64_t offset, uint64_t length, uint32_t slot)
{
	struct message message = make(type, NULL);

	set(&message, 8, offset, 8);
	set(&message, 16, length, 8);
	set(&message, 44, slot, 4);
	return message;
}

/* A window of what a raw end has registered, or of nothing at all. */
static void set_window(struct raw *raw, struct message *message, uint32_t size, uint32_t count)
{
	set(message, 48, size, 4);
	set(message, 52, count, 4);
	krdma_memory_describe(raw->window, 0, 0, message->bytes + 56);
}

static void hello(unsigned char bytes[16], uint16_t version, uint32_t code)
{
	memset(bytes, 0, 16);
	memcpy(bytes, "krdf", 4);
	bytes[4] = version;
	bytes[8] = code;
}

static int raw_prepare(struct raw *raw)
{
	struct krdma_conn_query query;
	int ret = krdma_queue_create(raw->session, NULL, &raw->queue);

	if (!ret)
		ret = krdma_conn_prepare(raw->conn, raw->queue, NULL, NULL, NULL);
	if (!ret)
		ret = krdma_conn_get(raw->conn, &query, sizeof(query));
	if (!ret)
		ret = krdma_memory_create(raw->session, query.device_id, (RECEIVES + 1) * ROOM,
					  KRDMA_ACCESS_LOCAL_WRITE, &raw->memory);
	if (!ret)
		ret = krdma_memory_create(raw->session, query.device_id, WINDOW, ACCESS_ALL,
					  &raw->window);
	for (unsigned int i = 0; i < RECEIVES && !ret; i++) {
		struct krdma_sqe entry = krdma_entry_receive(raw->conn, i, raw->memory, i * ROOM,
							     ROOM);

		ret = krdma_queue_post(raw->queue, &entry, 1, NULL);
	}
	return ret;
}

static int raw_connect(struct raw *raw, struct files *files, const void *data, size_t length)
{
	uint64_t deadline = krdma_deadline(PATIENCE_MS);
	int ret;

	memset(raw, 0, sizeof(*raw));
	raw->session = files->session;
	ret = krdma_conn_create(raw->session, &raw->conn);
	if (!ret)
		ret = krdma_conn_resolve(raw->conn, (struct sockaddr *)&files->address,
					 &lib_patient);
	if (!ret)
		ret = krdma_conn_wait(raw->conn, deadline, NULL);
	if (!ret)
		ret = raw_prepare(raw);
	if (!ret)
		ret = krdma_conn_connect(raw->conn, NULL, data, length);
	return ret ? ret : krdma_conn_wait(raw->conn, deadline, NULL);
}

static int raw_accept(struct raw *raw, struct krdma *session, struct krdma_listener *listener,
		      const void *data, size_t length)
{
	uint64_t deadline = krdma_deadline(PATIENCE_MS);
	int ret;

	memset(raw, 0, sizeof(*raw));
	raw->session = session;
	ret = krdma_listener_next(listener, deadline, &raw->conn);
	if (!ret)
		ret = raw_prepare(raw);
	if (!ret)
		ret = krdma_conn_accept(raw->conn, NULL, data, length);
	return ret ? ret : krdma_conn_wait(raw->conn, deadline, NULL);
}

static void raw_close(struct raw *raw)
{
	krdma_conn_close(raw->conn);
	krdma_queue_close(raw->queue);
	krdma_memory_release(raw->memory, KRDMA_RELEASE_LATER);
	krdma_memory_release(raw->window, KRDMA_RELEASE_LATER);
}

/* What is to be sent goes through the last room of the memory, silently. */
static int raw_send(struct raw *raw, const struct message *message)
{
	struct krdma_sqe entry = krdma_entry_send(raw->conn, RECEIVES, raw->memory,
						  RECEIVES * ROOM, message->length);
	unsigned char *room = krdma_memory_data(raw->memory);
	struct krdma_cqe cqe;
	size_t taken;
	int ret;

	memcpy(room + RECEIVES * ROOM, message->bytes, message->length);
	ret = krdma_queue_post(raw->queue, &entry, 1, NULL);
	/* Its own completion, before the room is used again; an answer may come before that. */
	while (!ret) {
		ret = krdma_queue_wait(raw->queue, &cqe, 1, 1, krdma_deadline(PATIENCE_MS),
				       &taken);
		if (!ret && cqe.cookie == RECEIVES)
			return cqe.status ? -EIO : 0;
		if (!ret)
			raw->early[raw->early_count++] = cqe;
	}
	return ret;
}

/* The next message that is no ALIVE: its type, or -errno. */
static int raw_next(struct raw *raw, struct message *message)
{
	unsigned char *room = krdma_memory_data(raw->memory);
	struct krdma_cqe cqe;
	size_t taken;
	int ret;

	for (;;) {
		if (raw->early_taken < raw->early_count) {
			cqe = raw->early[raw->early_taken++];
		} else {
			ret = krdma_queue_wait(raw->queue, &cqe, 1, 1,
					       krdma_deadline(PATIENCE_MS), &taken);
			if (ret)
				return ret;
		}
		if (cqe.status)
			return -ECONNRESET;
		if (cqe.cookie == RECEIVES)
			continue;
		message->length = cqe.length;
		memcpy(message->bytes, room + cqe.cookie * ROOM, cqe.length);
		if (message->bytes[0] != ALIVE)
			return message->bytes[0];
	}
}

/* The same without credit. */
static int raw_receive(struct raw *raw, struct message *message)
{
	int ret;

	do {
		ret = raw_next(raw, message);
	} while (ret == CREDIT);
	return ret;
}

/* How long the server waits for who says nothing; some of them stand still for a while. */
#define PATIENT_MS	5000

FIXTURE(hostile)
{
	struct files files;
	struct files_report report;
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
	};

	ASSERT_EQ(0, files_open(&self->files));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
	hello(self->hello, 1, 0);
}

FIXTURE_TEARDOWN(hostile)
{
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

/* The server has ended it for this reason, and serves others as before. */
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
	struct message message = make(GET, "a");

	message.length = 10;
	say(_metadata, self, &message, -EPROTO, "a short message");
	/* It ends the connection by itself: not before the server has seen it begin. */
	message = make(GET, "a");
	message.length = 5000;
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	sleep_ms(rounds(100, 1000));
	raw_send(&self->raw, &message);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-EPROTO, self->report.is.error);
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->report.is.side);
	raw_close(&self->raw);
	message = make(GET, "a");
	set(&message, 2, 2, 2);
	say(_metadata, self, &message, -EPROTO, "a name longer than the message");
	message = make(GET, "a");
	set(&message, 2, 0xffff, 2);
	say(_metadata, self, &message, -EPROTO, "a name longer than any");
	message = make(GET, "a b");
	message.bytes[FIXED + 1] = '\0';
	say(_metadata, self, &message, -EPROTO, "a name with a zero");
	message = make(GET, "a");
	set(&message, 40, 1, 4);
	say(_metadata, self, &message, -EPROTO, "a field that is not of this message");
	message = make(99, NULL);
	say(_metadata, self, &message, -EPROTO, "a message that is not known");
	message = make(0, NULL);
	say(_metadata, self, &message, -EPROTO, "a message of no type");
	message = make(FETCH, NULL);
	set(&message, 48, 4096, 4);
	set(&message, 52, 1, 4);
	say(_metadata, self, &message, -EPROTO, "an answer without a question");
	message = make(PUT, "evil");
	set(&message, 16, UINT64_MAX, 8);
	say(_metadata, self, &message, -EPROTO, "a length that none can have");
	message = make(PUT, "evil");
	set(&message, 36, 04777, 4);
	say(_metadata, self, &message, -EPROTO, "a bit that nobody may set");
	message = make(ERROR, NULL);
	set(&message, 4, 12345, 4);
	say(_metadata, self, &message, -EIO, "an error that nobody knows");
	expect_served(_metadata, self);
}

TEST_F_TIMEOUT(hostile, silent_clients_are_put_out, 240)
{
	struct message message = make(ALIVE, NULL);
	uint64_t begin = now_ms();

	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	expect_refused(_metadata, self, -ETIMEDOUT, "silence");
	/* From the moment on that it has been let in, and looked at twice a second. */
	EXPECT_LE(PATIENT_MS, now_ms() - begin);
	EXPECT_GE(PATIENT_MS + rounds(1000, 5000), now_ms() - begin);
	/* One that is alive and says no more than that is waited for. */
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	for (begin = now_ms(); now_ms() - begin < PATIENT_MS + 1000;) {
		sleep_ms(500);
		ASSERT_EQ(0, raw_send(&self->raw, &message));
	}
	message = make(GET, "a");
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
	hello(other, 2, 0);
	EXPECT_EQ(-ECONNREFUSED, raw_connect(&self->raw, &self->files, other, sizeof(other)));
	expect_refused(_metadata, self, -EPROTONOSUPPORT, "another version");
	expect_served(_metadata, self);
}

/* Asks for "a", and fetches it into such a window. */
static void fetch(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		  uint32_t size, uint32_t count)
{
	struct message message = make(GET, "a");

	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raw, &message));
	message = make(FETCH, NULL);
	set_window(&self->raw, &message, size, count);
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

	/* A key that is nobody's: the device says so. */
	message = make(GET, "a");
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raw, &message));
	message = make(FETCH, NULL);
	set_window(&self->raw, &message, 4096, 1);
	for (int i = 0; i < KRDMA_DESCRIPTOR_SIZE; i++)
		message.bytes[56 + i] ^= 0xff;
	raw_send(&self->raw, &message);
	expect_refused(_metadata, self, -EPROTO, "a descriptor that is none");
	expect_served(_metadata, self);
}

TEST_F_TIMEOUT(hostile, credit_that_was_not_earned_is_refused, 240)
{
	struct message credit = make(CREDIT, NULL), message;

	fetch(_metadata, self, 4096, 1);
	ASSERT_EQ(BEGIN, raw_receive(&self->raw, &message));
	for (int i = 0; i < 12; i++) {
		if (raw_send(&self->raw, &credit))
			break;
	}
	expect_refused(_metadata, self, -EPROTO, "credit");
	expect_served(_metadata, self);
}

/* Puts "evil" of that length with a window of one page, behind its first page. */
static void offer(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		  uint64_t length)
{
	struct message message = make(PUT, "evil");

	set(&message, 16, length, 8);
	set(&message, 36, 0644, 4);
	ASSERT_EQ(0, raw_connect(&self->raw, &self->files, self->hello, sizeof(self->hello)));
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(HAVE, raw_receive(&self->raw, &message));
	message = make(OFFER, NULL);
	set_window(&self->raw, &message, 4096, 1);
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	message = piece(DATA, 0, 4096, 0);
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	ASSERT_EQ(CREDIT, raw_next(&self->raw, &message));
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
		message = piece(pieces[i].type, pieces[i].offset, pieces[i].length,
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
	message = make(END, NULL);
	set(&message, 16, LENGTH, 8);
	raw_send(&self->raw, &message);
	expect_refused(_metadata, self, -EPROTO, "an end before the end");

	offer(_metadata, self, 4096);
	message = make(END, NULL);
	set(&message, 16, 4096, 8);
	set(&message, 40, 0x12345678, 4);
	ASSERT_EQ(0, raw_send(&self->raw, &message));
	EXPECT_EQ(ERROR, raw_receive(&self->raw, &message));
	expect_refused(_metadata, self, -EBADMSG, "a checksum");
	/* Of no use to anybody. */
	EXPECT_FALSE(files_exist(self->files.there, "evil.part"));
	expect_served(_metadata, self);
}

/* What was offered and is not there any more: the device says so. */
TEST_F_TIMEOUT(hostile, memory_that_is_gone_is_missed, 240)
{
	struct message message = piece(DATA, 4096, 4096, 0);

	offer(_metadata, self, LENGTH);
	ASSERT_EQ(0, krdma_memory_release(self->raw.window, KRDMA_RELEASE_LATER));
	self->raw.window = NULL;
	raw_send(&self->raw, &message);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-EPROTO, self->report.is.error);
	raw_close(&self->raw);
	EXPECT_FALSE(files_exist(self->files.there, "evil"));
	expect_served(_metadata, self);
}

/*
 * A server that is hostile
 */

struct script {
	struct krdma *session;
	struct krdma_listener *listener;
	pthread_t thread;
	/* Of what it says: a hello, then what the file is, then what comes. */
	uint32_t code;
	bool silent;
	struct message file;
	struct message next[4];
	unsigned int count;
	int ret;
};

static void *script_run(void *context)
{
	struct script *script = context;
	unsigned char own[16];
	struct message message;
	struct raw raw;

	hello(own, 1, script->code);
	script->ret = raw_accept(&raw, script->session, script->listener, own,
				 script->silent ? 0 : sizeof(own));
	if (!script->ret && !script->silent && !script->code &&
	    raw_receive(&raw, &message) == GET) {
		script->ret = raw_send(&raw, &script->file);
		for (unsigned int i = 0; i < script->count && !script->ret; i++) {
			if (!i && raw_receive(&raw, &message) != FETCH)
				break;
			raw_send(&raw, &script->next[i]);
		}
	}
	/* Until the client has had enough. */
	while (raw_receive(&raw, &message) > 0)
		;
	raw_close(&raw);
	return NULL;
}

static struct message file_is(uint64_t length, const char *name)
{
	struct message message = make(FILE_IS, name);

	set(&message, 16, length, 8);
	set(&message, 36, 0644, 4);
	set(&message, 48, 4096, 4);
	set(&message, 52, 2, 4);
	return message;
}

static int get_from(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) * self,
		    struct script *script, const char *name, const char *as)
{
	struct __kernel_sockaddr_storage address;
	struct krdma_file_options options = { .size = sizeof(options), .patience_ms = 5000 };
	struct sockaddr_storage at;
	char path[FILES_PATH];
	int ret;

	script->session = self->files.session;
	EXPECT_EQ(0, address_set(&address, BOOT_ADDRESS, 0));
	EXPECT_EQ(0, krdma_listen(script->session, (struct sockaddr *)&address, 0, 0,
				  &script->listener));
	EXPECT_EQ(0, krdma_listener_address(script->listener, &at));
	EXPECT_EQ(0, pthread_create(&script->thread, NULL, script_run, script));
	ret = krdma_file_get(self->files.session, (struct sockaddr *)&at, name,
			     files_path(path, self->files.here, as), &options, &self->result,
			     sizeof(self->result));
	pthread_join(script->thread, NULL);
	krdma_listener_close(script->listener);
	EXPECT_FALSE(files_exist(self->files.here, "x"));
	return ret;
}

TEST_F_TIMEOUT(hostile, servers_of_something_else_are_noticed, 240)
{
	struct script script = { .silent = true };

	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &script, "a", "x"));
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
	script = (struct script){ .code = 18 };
	EXPECT_EQ(-EUSERS, get_from(_metadata, self, &script, "a", "x"));
}

TEST_F_TIMEOUT(hostile, servers_do_not_choose_where_a_file_goes, 240)
{
	/* The last part of a name, if it has one, is taken: and then the file does not come. */
	static const struct {
		const char *name;
		int error;
	} names[] = {
		{ "../x", -ETIMEDOUT }, { "/tmp/x", -ETIMEDOUT }, { "a/", -ETIMEDOUT },
		{ "..", -EPROTO }, { "", -EPROTO }, { "/", -EPROTO },
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct script script = { .file = file_is(0, names[i].name), .count = 0 };

		EXPECT_EQ(names[i].error, get_from(_metadata, self, &script, "", ".")) {
			TH_LOG("'%s'", names[i].name);
		}
	}
	EXPECT_FALSE(files_exist(self->files.top, "x"));
	EXPECT_FALSE(files_exist("/tmp", "x"));
}

/* A server of an empty file of that name, which it hands over as it should. */
static struct script gives(const char *name)
{
	struct script script = { .file = file_is(0, name), .count = 2 };

	script.next[0] = make(BEGIN, NULL);
	script.next[1] = make(END, NULL);
	return script;
}

TEST_F_TIMEOUT(hostile, servers_do_not_choose_any_name, 240)
{
	static const char * const names[] = {
		".bashrc", "...", "-rf", "--", "a\033]0;b\007", "a\nb", "a\177", "a\302\233" "2J",
		"a\342\200\256" "b", "a\377",
	};
	struct script script;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		script = gives(names[i]);
		EXPECT_EQ(-EILSEQ, get_from(_metadata, self, &script, "", ".")) {
			TH_LOG("'%s'", names[i]);
		}
		EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
		EXPECT_FALSE(files_exist(self->files.here, names[i]));
	}
	script = gives("a\303\244 b");
	EXPECT_EQ(0, get_from(_metadata, self, &script, "", "."));
	EXPECT_TRUE(files_are(self->files.here, "a\303\244 b", 0, 1));
	/* Who has asked for a name has it. */
	script = gives(".bashrc");
	EXPECT_EQ(0, get_from(_metadata, self, &script, "", "mine"));
	EXPECT_TRUE(files_are(self->files.here, "mine", 0, 1));
	script = gives("other");
	EXPECT_EQ(0, get_from(_metadata, self, &script, ".profile", "."));
	EXPECT_TRUE(files_are(self->files.here, ".profile", 0, 1));
}

TEST_F_TIMEOUT(hostile, servers_do_not_choose_what_is_replaced, 240)
{
	struct script script = gives("taken");
	char path[FILES_PATH];

	ASSERT_EQ(0, files_make(self->files.here, "taken", LENGTH, 9));
	EXPECT_EQ(-EEXIST, get_from(_metadata, self, &script, "", "."));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_TRUE(files_are(self->files.here, "taken", LENGTH, 9));
	/* Not even a link that leads nowhere. */
	ASSERT_EQ(0, symlink("nowhere", files_path(path, self->files.here, "link")));
	script = gives("link");
	EXPECT_EQ(-EEXIST, get_from(_metadata, self, &script, "", "."));
	EXPECT_FALSE(files_exist(self->files.here, "nowhere"));
	script = gives("taken");
	EXPECT_EQ(0, get_from(_metadata, self, &script, "taken", "."));
	EXPECT_TRUE(files_are(self->files.here, "taken", 0, 1));
}

TEST_F_TIMEOUT(hostile, servers_are_judged_too, 240)
{
	struct message begin = make(BEGIN, NULL);
	struct script script;

	script = (struct script){ .file = file_is(4096, NULL), .count = 3 };
	script.next[0] = begin;
	script.next[1] = piece(DATA, 0, 4096, 0);
	script.next[2] = make(END, NULL);
	set(&script.next[2], 16, 4096, 8);
	set(&script.next[2], 40, 0xbad, 4);
	EXPECT_EQ(-EBADMSG, get_from(_metadata, self, &script, "a", "x"));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_FALSE(files_exist(self->files.here, "x.part"));

	script.next[1] = piece(DATA, 0, 8192, 0);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &script, "a", "x"));
	script.next[1] = piece(DATA, 4096, 4096, 0);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &script, "a", "x"));
	script.next[1] = piece(DATA, 0, 4096, 1);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &script, "a", "x"));
	script.next[1] = make(CREDIT, NULL);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &script, "a", "x"));
	/* It goes on from where nothing is. */
	set(&script.next[0], 8, 100, 8);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &script, "a", "x"));
	script.file = file_is(UINT64_MAX, NULL);
	EXPECT_EQ(-EPROTO, get_from(_metadata, self, &script, "a", "x"));
	/* It has nothing more to say. */
	script = (struct script){ .file = file_is(4096, NULL), .count = 1 };
	script.next[0] = begin;
	EXPECT_EQ(-ETIMEDOUT, get_from(_metadata, self, &script, "a", "x"));
}

TEST_HARNESS_MAIN
