// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file client and a server that does many things that no server does.
 *
 * Each action is a message, mostly the one that the protocol wants next, an operation in the
 * memory that the client offers, or something that happens to one of the connections that the
 * server has granted.  KRDMA_ACTIONS is their number, and KRDMA_SEED determines them.  Some clients
 * list folders, and get all that is in them: the lists are those of lib_bad_list.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <file_internal.h>
#include <krdma_entry.h>

#include "kselftest_harness.h"
#include "lib_bad_list.h"
#include "lib_copy.h"
#include "lib_mutate.h"
#include "lib_tree.h"
#include "lib_usage.h"
#include "lib_whole.h"
#include "session.h"

#define ACTIONS		2000
/* Actions after which part files are removed: each failed get may leave one. */
#define CLEAN_AFTER	500
#define PATIENT_MS	1000
#define SLOT		4096
#define SLOTS		(WINDOW / SLOT)
/* Connections that a client asks for at most. */
#define STREAMS		4
#define REQUESTS	2
/* Actions among which each kind of list has come to its end; some kinds, and comparisons. */
#define ALL_LISTS	20000
#define SOME_LISTS	2000
#define SOME_KINDS	20
/* Lists of a visit at most. */
#define LISTS		32
/* How often the server looks whether its client has more to ask for. */
#define LOOK_MS		20
/* A client that ends later than this waits for something that nobody promises. */
#define LONGEST_MS	30000

/* What a client does. */
enum command {
	FILES,
	LIST,
	LIST_ALL,
	FOLDER_NEW,
	FOLDER_THERE,
	PATTERN,
	COMMANDS,
};

static const char * const commands[COMMANDS] = {
	"files", "list", "list of all", "folder", "folder that is there", "pattern",
};

/**
 * struct given - a list that the server has given
 * @id: its time, by which the client's end is found
 * @kind, @recursive, @entries: as in &struct bad_list
 * @fetched: the client has asked for the data
 * @complete: the client has taken them
 * @spoiled: something else was said, too
 * @rewritten: the data may have changed after the client has checked them
 */
struct given {
	int64_t id;
	unsigned int kind;
	bool recursive;
	size_t entries;
	bool fetched;
	bool complete;
	bool spoiled;
	bool rewritten;
};

/* What a client has of it. */
struct heard {
	int64_t id;
	int err;
	size_t entries;
};

FIXTURE(bad_server)
{
	struct files files;
	struct krdma_listener *listener;
	struct sockaddr_storage address;
	struct rng rng;
	/* The connections of a client, of which the first one has all messages but the data's. */
	struct raw raws[STREAMS];
	unsigned int count;
	/* Number of connections that the data use, which is more if some do not come. */
	unsigned int granted;
	struct message answer;
	unsigned char data[WHOLE_ROOM];
	char outside[FILES_PATH];
	char keep[FILES_PATH];
	unsigned int actions;
	unsigned int visits;
	unsigned int gets;
	unsigned int puts;
	unsigned int compared;
	/* The server has written to the window of this file again, so that it is its own. */
	bool rewritten;
	/* Such files, those of several connections, and hellos that no client has. */
	unsigned int changed;
	unsigned int shared;
	unsigned int wrong_joins;
	uint64_t longest_ms;
	/* The client has nothing more to ask for. */
	bool over;
	/* Something was said that the protocol does not want. */
	bool spoiled;
	struct bad_list list;
	struct given given[LISTS];
	unsigned int given_count;
	struct heard heard[LISTS];
	unsigned int heard_count;
	/* Where folders are got to, what was there before, and the command. */
	char there[FILES_PATH];
	char new[FILES_PATH];
	struct tree before;
	struct lib_copy copy;
	const struct choice *choice;
	/* How often the client has come, and its files and folders that were there afterwards. */
	unsigned int came[COMMANDS];
	unsigned int got_files[COMMANDS];
	unsigned int got_folders[COMMANDS];
	/* Lists, flat or recursive, that were taken or refused as they have to be. */
	unsigned int listed[BAD_LIST_KINDS][2];
	const char *wrong;
};

static unsigned int number_of(const char *name, unsigned int usual)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : usual;
}

/* Names that a server may want to replace. */
static const char * const taken[] = { "taken", ".bashrc", "-rf", "a b" };

/* A folder with files and with ways out, to which another folder is got. */
static int make_there(FIXTURE_DATA(bad_server) * self)
{
	static const char * const made[] = { "taken", ".bashrc", "have/b", "have/taken" };
	char path[FILES_PATH];
	int ret;

	files_path(self->new, self->files.top, "new");
	files_path(self->there, self->files.top, "into");
	ret = mkdir(self->there, 0755) || mkdir(files_path(path, self->there, "have"), 0755) ||
	      symlink("../outside", files_path(path, self->there, "out")) ||
	      symlink("../outside/x", files_path(path, self->there, "x")) ? -errno : 0;
	for (unsigned int i = 0; i < sizeof(made) / sizeof(*made) && !ret; i++)
		ret = whole_make(self->there, made[i], i);
	return ret ? ret : tree_read(&self->before, self->there);
}

FIXTURE_SETUP(bad_server)
{
	struct __kernel_sockaddr_storage address;

	self->rng.state = number_of("KRDMA_SEED", 1);
	TH_LOG("KRDMA_SEED=%u", number_of("KRDMA_SEED", 1));
	ASSERT_EQ(0, files_open(&self->files));
	files_path(self->outside, self->files.top, "outside");
	files_path(self->keep, self->files.top, "keep");
	ASSERT_EQ(0, mkdir(self->outside, 0755));
	ASSERT_EQ(0, mkdir(self->keep, 0755));
	ASSERT_EQ(0, whole_make(self->outside, "x", 1));
	for (unsigned int i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		ASSERT_EQ(0, whole_make(self->keep, taken[i], i));
	ASSERT_EQ(0, whole_make(self->files.here, "source", 2));
	ASSERT_EQ(0, make_there(self));
	ASSERT_GE(BAD_LIST_KINDS, bad_list_kinds());
	ASSERT_EQ(0, address_set(&address, BOOT_ADDRESS, 0));
	ASSERT_EQ(0, krdma_listen(self->files.session, (struct sockaddr *)&address, 0, 0,
				  &self->listener));
	ASSERT_EQ(0, krdma_listener_address(self->listener, &self->address));
}

FIXTURE_TEARDOWN(bad_server)
{
	for (unsigned int i = 0; i < STREAMS; i++)
		raw_close(&self->raws[i]);
	krdma_listener_close(self->listener);
	files_close(&self->files);
}

/*
 * The server
 */

/* One of the connections that are there. */
static struct raw *any_raw(FIXTURE_DATA(bad_server) * self)
{
	return &self->raws[rng_below(&self->rng, self->count)];
}

/* What is of no piece: an end of a connection, or of everything with a reason. */
static bool disturb(FIXTURE_DATA(bad_server) * self)
{
	struct message error = raw_make(ERROR, NULL);

	self->actions++;
	if (rng_once_in(&self->rng, 2))
		return !krdma_conn_disconnect(any_raw(self)->conn, 0);
	raw_set(&error, 4, rng_below(&self->rng, 40), 4);
	return !raw_send(any_raw(self), &error);
}

/* Sends the message over @raw, or another one.  Returns false when the server should leave. */
static bool say_over(FIXTURE_DATA(bad_server) * self, struct raw *raw,
		     const struct message *message)
{
	static const struct message alive = { .bytes = { ALIVE }, .length = FIXED };
	struct message other = *message;

	self->actions++;
	if (rng_once_in(&self->rng, 128))
		return false;
	if (rng_once_in(&self->rng, 256) && !disturb(self))
		return false;
	if (rng_once_in(&self->rng, 128))
		raw = any_raw(self);
	if (rng_once_in(&self->rng, 32)) {
		mutate(&self->rng, &other);
		self->spoiled = true;
	} else if (rng_once_in(&self->rng, 64)) {
		other = mutate_any(&self->rng, "x");
		self->spoiled = true;
	} else if (rng_once_in(&self->rng, 16)) {
		self->actions++;
		if (raw_send(self->raws, &alive))
			return false;
	}
	return !raw_send(raw, &other);
}

static bool say(FIXTURE_DATA(bad_server) * self, const struct message *message)
{
	return say_over(self, self->raws, message);
}

/* The connection of a slot, if it is there. */
static struct raw *raw_of(FIXTURE_DATA(bad_server) * self, uint32_t slot)
{
	return &self->raws[slot % self->granted % self->count];
}

static bool hear(FIXTURE_DATA(bad_server) * self, int type)
{
	return raw_next(self->raws, &self->answer) == type;
}

static uint64_t field(const struct message *message, unsigned int offset, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, message->bytes + offset, bytes);
	return value;
}

static const char *any_name(FIXTURE_DATA(bad_server) * self, char name[FILES_PATH])
{
	static const char * const names[] = {
		"x", "x", "chosen", "taken", ".bashrc", "-rf", "a b", "../outside/x", "/etc/passwd",
		"..", ".", "", "/", "a/", "a\nb", "a\033[2J", "\377", "../keep/taken", "keep",
		".krdma-00000000000000000000000000000000-0000000000000000.part",
	};
	unsigned int length;

	/* Most visits should come as far as the data. */
	if (rng_once_in(&self->rng, 2))
		return "chosen";
	if (!rng_once_in(&self->rng, 20))
		return RNG_PICK(&self->rng, names);
	length = rng_below(&self->rng, FILES_PATH - 1);
	memset(name, 'x', length);
	name[length] = '\0';
	return name;
}

/* Limits of the window that the server accepts. */
static void set_limits(FIXTURE_DATA(bad_server) * self, struct message *message)
{
	raw_set(message, 48, SLOT, 4);
	raw_set(message, 52, 1 + rng_below(&self->rng, SLOTS), 4);
}

/* Changes what a piece says, so that no sender would say it. */
static void lie(FIXTURE_DATA(bad_server) * self, struct message *piece, size_t length)
{
	switch (rng_below(&self->rng, 5)) {
	case 0:
		raw_set(piece, 44, field(piece, 44, 4) + 1 + rng_below(&self->rng, STREAMS), 4);
		break;
	case 1:
		/* A gap, or what is there. */
		raw_set(piece, 8, rng_below(&self->rng, length + 1), 8);
		break;
	case 2:
		raw_set(piece, 16, length - field(piece, 8, 8) + 1, 8);
		break;
	case 3:
		raw_set(piece, 16, SLOT + 1 + rng_below(&self->rng, WINDOW), 8);
		break;
	default:
		piece->bytes[0] = HOLE;
		break;
	}
}

/* Reads or writes around and beyond the client's window. */
static bool reach(FIXTURE_DATA(bad_server) * self, const struct krdma_remote_mr *remote)
{
	int op = rng_once_in(&self->rng, 2) ? KRDMA_OP_WRITE : KRDMA_OP_READ;
	uint32_t offset = rng_below(&self->rng, 2 * WINDOW);

	self->actions++;
	/* The client computes the checksum of a piece in its window, and then stores the piece. */
	if (op == KRDMA_OP_WRITE && offset < WINDOW)
		__atomic_store_n(&self->rewritten, true, __ATOMIC_RELAXED);
	return !raw_transfer(any_raw(self), op, 0, 1 + rng_below(&self->rng, SLOT), remote, offset);
}

/* An announcement that waits until one for another connection was sent. */
struct held {
	bool is;
	struct message message;
	struct raw *raw;
};

static bool release(FIXTURE_DATA(bad_server) * self, struct held *held)
{
	if (!held->is)
		return true;
	held->is = false;
	return say_over(self, held->raw, &held->message);
}

/* Sends it now or after the next one, which is right if that has another connection. */
static bool announce(FIXTURE_DATA(bad_server) * self, const struct message *piece, size_t length,
		     struct held *held)
{
	struct raw *raw = raw_of(self, field(piece, 44, 4));
	struct message message = *piece;

	if (rng_once_in(&self->rng, 128))
		lie(self, &message, length);
	if (!held->is && self->count > 1 && rng_once_in(&self->rng, 4)) {
		*held = (struct held){ .is = true, .message = message, .raw = raw };
		return true;
	}
	if (!say_over(self, raw, &message) || !release(self, held))
		return false;
	return !rng_once_in(&self->rng, 128) || say_over(self, raw, &message);
}

/* Writes a piece into the client's window over the connection of its slot. */
static bool write_piece(FIXTURE_DATA(bad_server) * self, const struct krdma_remote_mr *remote,
			size_t offset, size_t piece, uint32_t slot)
{
	struct raw *raw = rng_once_in(&self->rng, 128) ? any_raw(self) : raw_of(self, slot);
	unsigned char *window = krdma_mr_data(raw->window);
	uint32_t at = slot * SLOT;

	memcpy(window + at, self->data + offset, piece);
	if (rng_once_in(&self->rng, 128))
		window[at] ^= 1;
	return !raw_transfer(raw, KRDMA_OP_WRITE, at, piece, remote, at);
}

/*
 * Writes the data into the client's window and announces them; sometimes also other data.  After
 * them there is a hole up to the length @said.
 */
static bool give_data(FIXTURE_DATA(bad_server) * self, const struct krdma_remote_mr *remote,
		      size_t offset, size_t length, uint64_t said, uint32_t slots)
{
	unsigned int sent = 0, credited = 0;
	struct held held = { 0 };
	struct message message;

	for (size_t piece; offset < length; offset += piece) {
		piece = 1 + rng_below(&self->rng, SLOT);
		piece = piece < length - offset ? piece : length - offset;
		if (!write_piece(self, remote, offset, piece, sent % slots))
			return false;
		message = raw_piece(DATA, offset, piece, sent % slots);
		if (!announce(self, &message, length, &held))
			return false;
		if (rng_once_in(&self->rng, 32) && !reach(self, remote))
			return false;
		for (sent++; sent - credited == slots; credited++) {
			if (!release(self, &held) || !hear(self, CREDIT))
				return false;
		}
	}
	if (!release(self, &held))
		return false;
	if (said > length) {
		message = raw_piece(HOLE, length, said - length, sent % slots);
		if (!say_over(self, raw_of(self, sent++ % slots), &message))
			return false;
	}
	while (credited++ < sent) {
		if (!hear(self, CREDIT))
			return false;
	}
	return true;
}

/* The SHA-256 of the data, or something else. */
static struct message any_digest(FIXTURE_DATA(bad_server) * self, size_t length)
{
	struct message digest = raw_make(DIGEST, NULL);
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, self->data, length);
	sha256_end(&sha, digest.bytes + 56);
	if (rng_once_in(&self->rng, 8))
		digest.bytes[56 + rng_below(&self->rng, 32)] ^= 1;
	return digest;
}

/* Receives FETCH, if necessary after it has sent the digest; true: the client wants the data. */
static bool hear_fetch(FIXTURE_DATA(bad_server) * self, size_t length)
{
	int type = raw_next(self->raws, &self->answer);
	struct message digest;

	if (type != COMPARE)
		return type == FETCH;
	digest = any_digest(self, length);
	self->compared++;
	return say(self, &digest) && hear(self, FETCH);
}

/*
 * Offers self->data, of which the client is told another length, and gives them.  @fetched: the
 * client has asked for them.
 */
static bool give_all(FIXTURE_DATA(bad_server) * self, struct message *message, size_t length,
		     uint64_t said, bool *fetched)
{
	uint32_t slots, crc;
	struct krdma_remote_mr remote;
	size_t offset;

	*fetched = false;
	__atomic_store_n(&self->rewritten, false, __ATOMIC_RELAXED);
	raw_set(message, 16, said, 8);
	set_limits(self, message);
	if (!say(self, message) || !hear_fetch(self, length))
		return false;
	*fetched = true;
	slots = field(&self->answer, 52, 4);
	if (!slots || slots > SLOTS || field(&self->answer, 48, 4) != SLOT ||
	    krdma_remote_mr_from_desc(self->answer.bytes + 56, KRDMA_MR_DESC_SIZE, &remote))
		return false;
	/* Sometimes the server goes on from data that are not the file's. */
	offset = field(&self->answer, 8, 8);
	if (offset > length || (file_crc(0, self->data, offset) != field(&self->answer, 40, 4) &&
				!rng_once_in(&self->rng, 16)))
		offset = 0;
	*message = raw_make(BEGIN, NULL);
	raw_set(message, 8, offset, 8);
	if (!say(self, message) || !give_data(self, &remote, offset, length, said, slots))
		return false;
	*message = raw_make(END, NULL);
	crc = file_crc_zeroes(file_crc(0, self->data, length), said - length);
	raw_set(message, 16, said, 8);
	raw_set(message, 40, crc, 4);
	return say(self, message) && hear(self, DONE);
}

static bool give(FIXTURE_DATA(bad_server) * self)
{
	size_t length = whole_fill(self->data, rng_below(&self->rng, 1000));
	char name[FILES_PATH];
	struct message message = raw_make(FILE_IS, any_name(self, name));
	bool fetched;

	raw_set(&message, 24, rng_below(&self->rng, 3), 8);
	raw_set(&message, 36, rng_below(&self->rng, 01000), 4);
	return give_all(self, &message, length, length, &fetched);
}

static bool give_list(FIXTURE_DATA(bad_server) * self)
{
	struct message message = raw_make(FILE_IS, "");
	struct bad_list *list = &self->list;
	struct given *given;
	bool goes_on;

	if (self->given_count == LISTS)
		return false;
	given = &self->given[self->given_count++];
	list->recursive = field(&self->answer, 4, 4) & FILE_GET_RECURSIVE;
	/* A tree needs some list that a client takes. */
	list->kind = rng_once_in(&self->rng, 3) ? 0 :
		     bad_list_rarest(self->listed, list->recursive, &self->rng);
	bad_list_make(list, &self->rng);
	*given = (struct given){
		.id = rng_next(&self->rng) >> 16, .kind = list->kind, .recursive = list->recursive,
		.entries = list->entries,
	};
	memcpy(self->data, list->bytes, list->length);
	raw_set(&message, 24, given->id, 8);
	raw_set(&message, 36, 0755, 4);
	self->spoiled = false;
	goes_on = give_all(self, &message, list->length, list->said, &given->fetched);
	given->complete = goes_on;
	given->spoiled = self->spoiled;
	given->rewritten = __atomic_load_n(&self->rewritten, __ATOMIC_RELAXED);
	return goes_on;
}

/* Takes the pieces from the connections of their slots; false: not all of them have come. */
static bool take_data(FIXTURE_DATA(bad_server) * self, uint64_t length)
{
	const struct message credit = raw_make(CREDIT, NULL);
	uint64_t offset = field(&self->answer, 8, 8);
	uint32_t slots = field(&self->answer, 52, 4), slot = 0;
	struct krdma_remote_mr remote;
	struct raw *raw;
	int type;

	if (!slots || krdma_remote_mr_from_desc(self->answer.bytes + 56, KRDMA_MR_DESC_SIZE,
						&remote))
		return false;
	while (offset < length) {
		raw = raw_of(self, slot);
		type = raw_next(raw, &self->answer);
		if (type != DATA && type != HOLE)
			return false;
		offset += field(&self->answer, 16, 8);
		if (type == DATA && slot < SLOTS &&
		    raw_transfer(raw, KRDMA_OP_READ, slot * SLOT, SLOT, &remote, slot * SLOT))
			return false;
		if (rng_once_in(&self->rng, 32) && !reach(self, &remote))
			return false;
		if (!say(self, &credit))
			return false;
		slot = (slot + 1) % slots;
	}
	return hear(self, END);
}

static bool take(FIXTURE_DATA(bad_server) * self)
{
	const struct message done = raw_make(DONE, NULL);
	uint64_t length = field(&self->answer, 16, 8);
	struct message have = raw_make(HAVE, NULL), other;
	bool compares = field(&self->answer, 4, 4) & PUT_COMPARE;
	int type;

	if (compares ? !rng_once_in(&self->rng, 4) : rng_once_in(&self->rng, 64)) {
		other = raw_make(COMPARE, NULL);
		if (!say(self, &other) || !hear(self, DIGEST))
			return false;
		self->compared++;
		other = raw_make(SKIP, NULL);
		if (rng_once_in(&self->rng, 8))
			return say(self, &other);
	}
	do {
		if (rng_once_in(&self->rng, 4)) {
			raw_set(&have, 8, rng_below(&self->rng, WHOLE_MAX), 8);
			raw_set(&have, 40, rng_next(&self->rng), 4);
		}
		set_limits(self, &have);
		if (!say(self, &have))
			return false;
		type = raw_next(self->raws, &self->answer);
		have = raw_make(HAVE, NULL);
	} while (type == NEXT);
	if (type != OFFER)
		return false;
	return (take_data(self, length) || rng_once_in(&self->rng, 8)) && say(self, &done);
}

/*
 * Connections
 */

#define JOINS	FILE_HELLO_JOIN

/* Takes the next request for a connection: the first one of a client, or a further one. */
static struct krdma_conn *next_conn(FIXTURE_DATA(bad_server) * self, bool joins,
				    unsigned char hello[256])
{
	uint64_t deadline = krdma_deadline(joins ? PATIENT_MS : PATIENCE_MS);
	struct krdma_conn *conn;
	size_t length = 256;
	int err;

	for (;;) {
		err = krdma_listener_next(self->listener, krdma_deadline(LOOK_MS), &conn);
		if (err == -ETIMEDOUT && krdma_deadline(0) < deadline &&
		    !__atomic_load_n(&self->over, __ATOMIC_RELAXED))
			continue;
		if (err)
			break;
		memset(hello, 0, 256);
		length = 256;
		if (!krdma_conn_private_data(conn, hello, &length) &&
		    !(hello[6] & JOINS) == !joins)
			return conn;
		/* Of a client that has given up. */
		krdma_conn_close(conn);
	}
	return NULL;
}

/* What the server says of itself; mostly what the library's would. */
static size_t make_hello(FIXTURE_DATA(bad_server) * self, unsigned char hello[HELLO],
			 uint32_t streams)
{
	size_t length = streams > 1 ? HELLO : HELLO_SHORT;

	raw_hello(hello, RAW_VERSION, rng_once_in(&self->rng, 64) ? rng_below(&self->rng, 40) : 0);
	memcpy(hello + 12, &streams, sizeof(streams));
	for (unsigned int i = HELLO_SHORT; i < HELLO; i++)
		hello[i] = rng_next(&self->rng);
	if (rng_once_in(&self->rng, 32))
		hello[rng_below(&self->rng, HELLO_SHORT)] ^= 1 << rng_below(&self->rng, 8);
	return rng_once_in(&self->rng, 64) ? rng_below(&self->rng, length) : length;
}

/* The number of connections that the server grants to a client that asks for some. */
static uint32_t grant(FIXTURE_DATA(bad_server) * self, uint32_t asked)
{
	static const uint32_t many[] = { 5, 16, 17, 255, 1 << 16, UINT32_MAX };

	if (rng_once_in(&self->rng, 64))
		return RNG_PICK(&self->rng, many);
	if (asked < 2)
		return rng_once_in(&self->rng, 64) ? 2 : 0;
	return rng_once_in(&self->rng, 4) ? rng_below(&self->rng, asked + 1) : asked;
}

static bool accept_first(FIXTURE_DATA(bad_server) * self, unsigned char own[HELLO])
{
	unsigned char hello[256];
	struct krdma_conn *conn = next_conn(self, false, hello);
	size_t length;

	self->actions++;
	self->granted = 1;
	if (!conn)
		return false;
	length = make_hello(self, own, grant(self, hello[12]));
	self->count = 1;
	if (raw_take_again(self->raws, self->files.session, conn, own, length))
		return false;
	/* As the client sees it. */
	if (length == HELLO && own[12] > 1 && own[12] <= STREAMS)
		self->granted = own[12];
	return true;
}

/* Answers the request for a further connection. */
static bool accept_other(FIXTURE_DATA(bad_server) * self, struct krdma_conn *conn)
{
	struct raw *raw = &self->raws[self->count];
	unsigned char own[HELLO];
	/* Sometimes with the numbers and the token of a first one. */
	uint32_t streams = rng_once_in(&self->rng, 64) ? rng_below(&self->rng, STREAMS + 1) : 0;
	size_t length = make_hello(self, own, streams);

	self->actions++;
	switch (rng_below(&self->rng, 64)) {
	case 0:
		/* Not at all. */
		while (raw_next(self->raws, &self->answer) >= 0)
			;
		break;
	case 1:
		raw_hello(own, RAW_VERSION, rng_below(&self->rng, 40));
		krdma_conn_reject(conn, own, rng_once_in(&self->rng, 2) ? HELLO_SHORT : 0);
		break;
	case 2:
		break;
	default:
		if (!raw_take_again(raw, self->files.session, conn, own, length)) {
			self->count++;
			return true;
		}
		raw_leave(raw);
		return false;
	}
	krdma_conn_close(conn);
	return false;
}

/* Takes the client's further connections, which it makes in their order with the ticket. */
static bool accept_others(FIXTURE_DATA(bad_server) * self, const unsigned char own[HELLO])
{
	unsigned char hello[256], expected[HELLO];
	struct krdma_conn *conn;

	while (self->count < self->granted) {
		raw_hello_join(expected, JOINS, self->count, own + HELLO_SHORT);
		conn = next_conn(self, true, hello);
		if (!conn)
			return false;
		self->wrong_joins += !!memcmp(hello, expected, HELLO);
		if (rng_once_in(&self->rng, 256) && !disturb(self)) {
			krdma_conn_close(conn);
			return false;
		}
		if (!accept_other(self, conn))
			return false;
	}
	return true;
}

/* One connection of a client, until it leaves; the hello may be wrong, too. */
static void serve_once(FIXTURE_DATA(bad_server) * self)
{
	unsigned char own[HELLO];
	bool goes_on;

	self->count = 0;
	goes_on = accept_first(self, own);
	if (goes_on)
		goes_on = accept_others(self, own) || rng_once_in(&self->rng, 8);
	while (goes_on) {
		switch (raw_next(self->raws, &self->answer)) {
		case GET:
			goes_on = field(&self->answer, 4, 4) & FILE_GET_LIST ? give_list(self) :
									       give(self);
			break;
		case PUT:
			goes_on = take(self);
			break;
		default:
			goes_on = false;
		}
	}
	for (unsigned int i = 0; i < self->count; i++)
		raw_leave(&self->raws[i]);
}

/* A client that has to connect again may do so. */
static void *serve(void *context)
{
	FIXTURE_DATA(bad_server) * self = context;

	do {
		serve_once(self);
	} while (!__atomic_load_n(&self->over, __ATOMIC_RELAXED));
	return NULL;
}

/*
 * The client
 */

/* The file that a get has reported as complete. */
static void check_file(struct __test_metadata *_metadata, const char *folder, const char *name)
{
	char path[FILES_PATH];
	struct stat status;

	EXPECT_TRUE(whole_file(folder, name)) {
		TH_LOG("'%s' is not whole", name);
	}
	ASSERT_EQ(0, lstat(files_path(path, folder, name), &status));
	EXPECT_EQ(0, status.st_mode & 07000);
}

/* What one client does; chosen before the server begins, which uses @rng in its own thread. */
struct choice {
	enum command command;
	uint32_t flags;
	bool hidden;
	bool recursive;
	bool put;
	const char *name;
	const char *as;
	unsigned int requests;
	struct krdma_file_options options;
};

static struct choice choose(struct rng *rng)
{
	static const char * const asked[] = { "", "", "x", "a/x", "../x" };
	static const char * const own[] = { "own0", "own1", "own2" };
	static const uint32_t flags[] = {
		0, KRDMA_FILE_CONTINUE, KRDMA_FILE_NO_SYNC, KRDMA_FILE_TIMES, KRDMA_FILE_UPDATE,
		KRDMA_FILE_CHECKSUM, KRDMA_FILE_EXACT_MODE,
	};
	struct choice choice = {
		.command = rng_once_in(rng, 2) ? FILES : rng_below(rng, COMMANDS),
		.flags = RNG_PICK(rng, flags) | RNG_PICK(rng, flags),
		.hidden = rng_once_in(rng, 2),
		.recursive = rng_once_in(rng, 2),
		.put = rng_once_in(rng, 3),
		.as = rng_once_in(rng, 2) ? RNG_PICK(rng, own) : NULL,
		.requests = 1 + rng_below(rng, REQUESTS),
		.options = {
			.size = sizeof(choice.options),
			.flags = rng_below(rng, 8) |
				 (rng_once_in(rng, 2) ? KRDMA_FILE_CHECKSUM : 0),
			.patience_ms = PATIENT_MS,
			.buffer_size = SLOT,
			.buffer_count = 1 + rng_below(rng, SLOTS),
			.streams = rng_below(rng, STREAMS + 1),
		},
	};

	/* The server chooses names only in a folder with files that it must not replace. */
	choice.name = choice.as ? RNG_PICK(rng, asked) : "";
	return choice;
}

/* A request ends with one reason, and a file of the client's name is whole whatever it is. */
static void judge(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
		  const struct choice *choice, int ret, const struct krdma_file_result *result)
{
	EXPECT_GE(choice->options.streams > 1 ? choice->options.streams : 1, result->streams);
	if (ret) {
		EXPECT_TRUE(lib_copy_can_end(ret, result->side)) {
			TH_LOG("visit %u ends with %s of side %u", self->visits, strerror(-ret),
			       result->side);
		}
		EXPECT_EQ(0, result->crc32c);
		if (!choice->put && choice->as && files_exist(self->files.here, choice->as))
			check_file(_metadata, self->files.here, choice->as);
		return;
	}
	EXPECT_EQ(KRDMA_FILE_SIDE_NONE, result->side);
	self->shared += result->streams > 1;
}

static int get(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
	       struct krdma_file_client *client, const struct choice *choice)
{
	const char *folder = choice->as ? self->files.here : self->keep, *name;
	struct krdma_file_result result;
	char path[FILES_PATH];
	bool rewritten;
	int ret;

	files_path(path, folder, choice->as ? choice->as : "");
	ret = krdma_file_client_get(client, choice->name, AT_FDCWD, path, 0, &result,
				    sizeof(result));
	judge(_metadata, self, choice, ret, &result);
	if (ret)
		return ret;
	self->gets++;
	name = choice->as ? choice->as : result.last;
	/* All that the server has written it had written before it said the checksum. */
	rewritten = __atomic_load_n(&self->rewritten, __ATOMIC_RELAXED);
	if (rewritten)
		self->changed++;
	else
		check_file(_metadata, folder, name);
	if (!choice->as || rewritten)
		EXPECT_EQ(0, unlink(files_path(path, folder, name)));
	return 0;
}

static int put(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
	       struct krdma_file_client *client, const struct choice *choice)
{
	struct krdma_file_result result;
	char path[FILES_PATH];
	int ret = krdma_file_client_put(client, AT_FDCWD,
					files_path(path, self->files.here, "source"), "x", 0,
					&result, sizeof(result));

	judge(_metadata, self, choice, ret, &result);
	self->puts += !ret;
	return ret;
}

static void copy_files(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
		       struct choice *choice)
{
	struct krdma_file_client *client;
	int ret = 0;

	ASSERT_EQ(0, krdma_file_client_create(self->files.session,
					      (struct sockaddr *)&self->address, &choice->options,
					      &client));
	while (choice->requests-- && !ret)
		ret = choice->put ? put(_metadata, self, client, choice) :
				    get(_metadata, self, client, choice);
	krdma_file_client_destroy(client);
}

/*
 * Folders
 */

static void listed(void *context, int err, const struct krdma_file_result *result,
		   const struct krdma_file_entry *entries, size_t count)
{
	FIXTURE_DATA(bad_server) * self = context;

	if (self->heard_count < LISTS)
		self->heard[self->heard_count++] = (struct heard){
			.id = result->mtime_s, .err = err, .entries = count,
		};
	if (err && !lib_copy_can_end(err, result->side))
		self->wrong = "an error that no list can have";
	for (size_t i = 0; i < count; i++) {
		if (lib_copy_leads_out(entries[i].name))
			self->wrong = "a name that leads out";
	}
}

static void copied(void *context, const struct copy *copy, int err,
		   const struct krdma_file_result *result)
{
	FIXTURE_DATA(bad_server) * self = context;

	if (err && !lib_copy_can_end(err, result->side))
		self->wrong = "an error that no file can have";
	if (!err && !result->skipped && __atomic_load_n(&self->rewritten, __ATOMIC_RELAXED))
		unlinkat(copy->folder, copy->path, 0);
}

/* One list that the client has taken, refused, or not had to its end. */
static void judge_list(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
		       const struct heard *heard, const struct given *given)
{
	bool refused = bad_list_is_refused(given->kind, given->recursive);
	unsigned int *listed = &self->listed[given->kind][given->recursive];

	if (given->rewritten)
		return;
	if (bad_list_is_too_long(given->kind)) {
		*listed += heard->err == -EPROTO && !given->spoiled;
		EXPECT_TRUE(given->spoiled || !given->fetched);
	} else if (!heard->err) {
		(*listed)++;
		EXPECT_FALSE(refused);
		EXPECT_EQ(given->entries, heard->entries);
	} else if (given->complete && !given->spoiled) {
		(*listed)++;
		EXPECT_TRUE(refused);
		EXPECT_EQ(-EPROTO, heard->err);
	}
	if (_metadata->exit_code != KSFT_PASS)
		TH_LOG("%s (%s): %s", bad_list_kind(given->kind),
		       given->recursive ? "recursive" : "flat", strerror(-heard->err));
}

static void judge_lists(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self)
{
	for (unsigned int i = 0; i < self->heard_count; i++) {
		for (unsigned int j = 0; j < self->given_count; j++) {
			if (self->heard[i].id == self->given[j].id)
				judge_list(_metadata, self, &self->heard[i], &self->given[j]);
		}
	}
	EXPECT_EQ(NULL, self->wrong) {
		TH_LOG("%s", self->wrong);
	}
}

/* A folder that was there has what it had, and what the server may put there. */
static void judge_folder(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
			 const struct choice *choice, const char *folder)
{
	static const struct tree nothing;
	struct lib_copy_left left = {
		.before = folder == self->there ? &self->before : &nothing,
		.hidden = choice->hidden, .whole = whole_file, .folder = folder,
	};

	lib_copy_judge(&left);
	self->got_files[choice->command] += left.files;
	self->got_folders[choice->command] += left.folders;
	EXPECT_EQ(NULL, left.why) {
		TH_LOG("visit %u, %s: '%s' is wrong: %s", self->visits, commands[choice->command],
		       left.which, left.why);
	}
}

/* In a thread of its own: what malloc() keeps for that is given back with the thread. */
static void *run_command(void *context)
{
	FIXTURE_DATA(bad_server) * self = context;
	struct lib_copy *copy = &self->copy;

	switch (self->choice->command) {
	case LIST:
		lib_copy_list(copy, "", 0);
		break;
	case LIST_ALL:
		lib_copy_list(copy, "some", KRDMA_FILE_RECURSIVE);
		break;
	case PATTERN:
		lib_copy_glob(copy, self->choice->put ? "*/*" : "[!k]*", self->there);
		break;
	case FOLDER_NEW:
		lib_copy_get(copy, "some", self->new);
		break;
	default:
		lib_copy_get(copy, "some", self->there);
		break;
	}
	lib_copy_end(copy);
	return NULL;
}

/* In a folder that was there the user has not agreed that anything is replaced. */
#define AGREED	(KRDMA_FILE_UPDATE | KRDMA_FILE_CHECKSUM | KRDMA_FILE_EXACT_MODE)

static void copy_folder(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
			const struct choice *choice)
{
	bool is_new = choice->command == FOLDER_NEW;
	struct krdma_file_options options = choice->options;
	struct lib_copy *copy = &self->copy;
	pthread_t command;

	options.flags = is_new ? choice->flags : choice->flags & ~AGREED;
	lib_copy_begin(copy, self->files.session, (struct sockaddr *)&self->address, &options);
	copy->listed = listed;
	copy->ended = copied;
	copy->context = self;
	copy->copying.hidden = choice->hidden;
	copy->copying.recursive = choice->recursive;
	self->choice = choice;
	ASSERT_EQ(0, pthread_create(&command, NULL, run_command, self));
	pthread_join(command, NULL);
	judge_folder(_metadata, self, choice, is_new ? self->new : self->there);
}

static void visit(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self)
{
	struct choice choice = choose(&self->rng);
	uint64_t begun = now_ms(), took;
	pthread_t thread;

	self->visits++;
	self->came[choice.command]++;
	self->over = false;
	self->wrong = NULL;
	self->given_count = 0;
	self->heard_count = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, serve, self));
	if (choice.command == FILES)
		copy_files(_metadata, self, &choice);
	else
		copy_folder(_metadata, self, &choice);
	took = now_ms() - begun;
	__atomic_store_n(&self->over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	judge_lists(_metadata, self);
	self->longest_ms = took > self->longest_ms ? took : self->longest_ms;
}

static void remove_parts(const char *folder)
{
	char name[FILES_PATH], path[FILES_PATH];

	while (files_parts(folder, name)) {
		if (unlink(files_path(path, folder, name)))
			break;
	}
}

static void act(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
		unsigned int actions)
{
	unsigned int clean = 0;

	for (self->actions = 0; self->actions < actions && _metadata->exit_code == KSFT_PASS;) {
		visit(_metadata, self);
		if (self->actions < clean)
			continue;
		clean = self->actions + CLEAN_AFTER;
		remove_parts(self->files.here);
		remove_parts(self->keep);
	}
}

/* Each kind of list has come to its end, and each command has done something. */
static void check_counts(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
			 unsigned int actions)
{
	unsigned int lists = 0, kinds = 0;

	for (unsigned int kind = 0; kind < bad_list_kinds(); kind++) {
		for (unsigned int recursive = 0; recursive < 2; recursive++) {
			lists += self->listed[kind][recursive];
			kinds += !!self->listed[kind][recursive];
			if (actions < ALL_LISTS)
				continue;
			EXPECT_LT(0, self->listed[kind][recursive]) {
				TH_LOG("never: %s, %s", bad_list_kind(kind),
				       recursive ? "recursive" : "flat");
			}
		}
	}
	TH_LOG("%u lists of %u kinds of %u were taken or refused", lists, kinds,
	       2 * bad_list_kinds());
	for (unsigned int i = 0; i < COMMANDS; i++)
		TH_LOG("%s: %u, with %u files and %u folders", commands[i], self->came[i],
		       self->got_files[i], self->got_folders[i]);
	if (actions < SOME_LISTS)
		return;
	EXPECT_LT(SOME_KINDS, kinds);
	for (unsigned int i = 0; i < COMMANDS; i++)
		EXPECT_LT(0, self->came[i]);
	EXPECT_LT(0, self->got_files[FOLDER_NEW]);
	EXPECT_LT(0, self->got_folders[FOLDER_NEW]);
	if (actions < ALL_LISTS)
		return;
	EXPECT_LT(0, self->got_files[FOLDER_THERE]);
	EXPECT_LT(0, self->got_folders[FOLDER_THERE]);
	EXPECT_LT(0, self->got_files[PATTERN]);
}

TEST_F_TIMEOUT(bad_server, harms_neither_the_client_nor_its_files, 3600)
{
	static struct tree outside, keep, source, now;
	unsigned int actions = number_of("KRDMA_ACTIONS", ACTIONS);
	struct usage before, after;
	char path[FILES_PATH];
	const char *which;

	ASSERT_EQ(0, tree_read(&outside, self->outside));
	ASSERT_EQ(0, tree_read(&keep, self->keep));
	ASSERT_EQ(0, tree_read(&source, files_path(path, self->files.here, "source")));
	/* The first visits make the library allocate what it keeps. */
	act(_metadata, self, actions / 20);
	before = usage_now();
	act(_metadata, self, actions - actions / 20);
	/* A few visits may not lead to what has to be seen: so there are more. */
	for (int i = 0; i < 40 && (!self->gets || !self->puts || !self->shared); i++)
		act(_metadata, self, actions / 4);
	after = usage_after(&before);
	TH_LOG("%u actions in %u visits: %u files got and %u put; %zu and then %zu bytes",
	       actions, self->visits, self->gets, self->puts, before.bytes, after.bytes);
	TH_LOG("%u of them over several connections, %u rewritten; the longest visit took %u ms",
	       self->shared, self->changed, (unsigned int)self->longest_ms);
	EXPECT_LT(self->changed, self->gets);
	EXPECT_LT(0, self->puts);
	EXPECT_LT(0, self->shared);
	/* Only few of all actions lead there. */
	if (actions >= SOME_LISTS)
		EXPECT_LT(0, self->compared);
	EXPECT_EQ(0, self->wrong_joins);
	check_counts(_metadata, self, actions);
	EXPECT_GT(LONGEST_MS, self->longest_ms);
	EXPECT_GE(before.bytes + USAGE_SPARE, after.bytes);
	EXPECT_GE(before.descriptors, after.descriptors);
	EXPECT_FALSE(usage_leaks());

	ASSERT_EQ(0, tree_read(&now, self->outside));
	EXPECT_TRUE(tree_same(&outside, &now, &which)) {
		TH_LOG("outside the folder, '%s' has changed", which);
	}
	remove_parts(self->keep);
	ASSERT_EQ(0, tree_read(&now, self->keep));
	EXPECT_TRUE(tree_same(&keep, &now, &which)) {
		TH_LOG("in a folder where the server chooses names, '%s' has changed", which);
	}
	ASSERT_EQ(0, tree_read(&now, files_path(path, self->files.here, "source")));
	EXPECT_TRUE(tree_same(&source, &now, &which)) {
		TH_LOG("the file that was put has changed");
	}
	/* Nothing but the client's own names. */
	remove_parts(self->files.here);
	ASSERT_EQ(0, tree_read(&now, self->files.here));
	for (size_t i = 0; i < now.count; i++) {
		if (!S_ISREG(now.entries[i].mode) || !strcmp(now.entries[i].path, "/source"))
			continue;
		EXPECT_EQ(0, strncmp(now.entries[i].path, "/own", 4)) {
			TH_LOG("'%s' has appeared", now.entries[i].path);
		}
	}
	EXPECT_FALSE(files_exist(self->files.top, "x"));
}

TEST_HARNESS_MAIN
