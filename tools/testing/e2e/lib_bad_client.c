// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file server and a client that does many things that no client does.
 *
 * Each action is a message, mostly the one that the protocol wants next, a change of the memory
 * that the client offers, or something that happens to one of its connections.  KRDMA_ACTIONS is
 * their number, and KRDMA_SEED determines them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <file_internal.h>

#include "kselftest_harness.h"
#include "lib_mutate.h"
#include "lib_tree.h"
#include "lib_usage.h"
#include "lib_whole.h"
#include "session.h"

#define ACTIONS		2000
/* Actions among which there are comparisons. */
#define COMPARES	2000
/* Actions after which an honest client must be served. */
#define HONEST_AFTER	500
#define PATIENT_MS	1000
#define SLOT		4096
#define SLOTS		(WINDOW / SLOT)
#define SECRET		"never to be sent"
/* Connections that the client asks for at most. */
#define STREAMS		4
/* Folders in "many", whose list needs more than one slot, and levels of a deep one. */
#define MANY		60
#define DEPTH		60
/* Bytes of a list at most. */
#define LIST_ROOM	65536
/* How often a client says nothing until the server has had enough, which takes a second. */
#define SILENCES	10

/* What has no place among the messages of a file, and how often each was done and ended well. */
enum client_act {
	LIST_A_FOLDER,
	LIST_WHAT_MOVES,
	LIST_AND_DO_NOT_READ,
	MAKE_A_FOLDER,
	PUT_INTO_A_LINK,
	SAY_NOTHING,
	JOIN_TWICE,
	JOIN_BEYOND_THE_GRANT,
	JOIN_WITH_AN_OLD_TICKET,
	ACTS,
};

static const struct {
	const char *what;
	/* Number of actions of this program among which there must be one. */
	unsigned int among;
	/* The server may carry it out; or refuse it. */
	bool done;
	bool refused;
} acts[ACTS] = {
	[LIST_A_FOLDER] = { "a list", 1000, true, true },
	[LIST_WHAT_MOVES] = { "a list of a folder that is renamed", 5000, true, false },
	[LIST_AND_DO_NOT_READ] = { "a list that is not read", 5000, true, false },
	[MAKE_A_FOLDER] = { "a folder is made", 5000, true, true },
	[PUT_INTO_A_LINK] = { "a file is put through a symbolic link", 2000, false, true },
	[SAY_NOTHING] = { "half a request", 5000, true, false },
	[JOIN_TWICE] = { "a number that has joined", 5000, false, true },
	[JOIN_BEYOND_THE_GRANT] = { "more connections than granted", 5000, false, true },
	[JOIN_WITH_AN_OLD_TICKET] = { "a ticket of a client that is gone", 5000, false, true },
};

FIXTURE(bad_client)
{
	struct files files;
	struct rng rng;
	struct raw raw;
	/* Its further connections, of those that the server has granted. */
	struct raw others[STREAMS - 1];
	unsigned int joined;
	unsigned int granted;
	struct message answer;
	unsigned char data[WHOLE_ROOM];
	unsigned char hello[HELLO_SHORT];
	char outside[FILES_PATH];
	unsigned int actions;
	unsigned int visits;
	unsigned int puts;
	unsigned int gets;
	unsigned int joins;
	unsigned int compared;
	bool rules;
	unsigned int done[ACTS];
	unsigned int refused[ACTS];
	/* Numbers of the further connections that the client has, and its ticket. */
	uint32_t numbers;
	unsigned char ticket[TOKEN];
	/* The ticket of a client all of whose connections had come. */
	unsigned char old_ticket[TOKEN];
	bool has_old_ticket;
	unsigned char list[LIST_ROOM];
	size_t list_length;
	const char *wrong;
};

FIXTURE_VARIANT(bad_client)
{
	bool rules;
};

FIXTURE_VARIANT_ADD(bad_client, of_a_folder)
{
};

FIXTURE_VARIANT_ADD(bad_client, of_folders_with_rules)
{
	.rules = true,
};

static unsigned int number_of(const char *name, unsigned int usual)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : usual;
}

static int make_folder(const char *folder, const char *name)
{
	char path[FILES_PATH];

	return mkdir(files_path(path, folder, name), 0755) ? -errno : 0;
}

static int make_link(const char *target, const char *folder, const char *name)
{
	char path[FILES_PATH];

	return symlink(target, files_path(path, folder, name)) ? -errno : 0;
}

/* Files that clients may replace, files that they may not, and ways out of the folder. */
static int make_all(FIXTURE_DATA(bad_client) * self)
{
	static const char * const folders[] = { "sub", "read", "drop", "many", "moving" };
	static const char * const made[] = { "a", "setuid", "keep", "sub/b", "read/c", "drop/d" };
	char from[FILES_PATH], to[FILES_PATH];
	struct files *files = &self->files;
	int ret = make_folder(files->top, "outside");

	files_path(self->outside, files->top, "outside");
	if (!ret)
		ret = files_write(self->outside, "secret", 0, SECRET, strlen(SECRET));
	if (!ret)
		ret = whole_make(self->outside, "linked", 1);
	for (unsigned int i = 0; i < 5 && !ret; i++)
		ret = make_folder(files->there, folders[i]);
	for (unsigned int i = 0; i < 6 && !ret; i++)
		ret = whole_make(files->there, made[i], i);
	for (unsigned int i = 0; i < MANY && !ret; i++) {
		snprintf(to, sizeof(to), "many/%0100u", i);
		ret = make_folder(files->there, to);
	}
	for (unsigned int i = 0; i < 10 && !ret; i++) {
		snprintf(to, sizeof(to), "moving/%u", i);
		ret = make_folder(files->there, to);
	}
	if (!ret)
		ret = make_link("../outside", files->there, "out");
	if (!ret)
		ret = make_link("sub", files->there, "in");
	if (!ret)
		ret = make_link("nowhere", files->there, "dangling");
	if (!ret)
		ret = make_link("../outside/secret", files->there, "secret");
	if (!ret && (link(files_path(from, self->outside, "linked"),
			  files_path(to, files->there, "hard")) ||
		     chmod(files_path(to, files->there, "setuid"), 04755)))
		ret = -errno;
	return ret;
}

FIXTURE_SETUP(bad_client)
{
	static const struct krdma_file_rule rules[] = {
		{ .path = "", .access = KRDMA_FILE_READ | KRDMA_FILE_WRITE },
		{ .path = "read", .access = KRDMA_FILE_READ },
		{ .path = "drop", .access = KRDMA_FILE_WRITE },
	};
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE,
		.patience_ms = PATIENT_MS,
		.request_ms = PATIENT_MS,
		.progress_ms = 2 * PATIENT_MS,
		.max_clients = 8,
		.max_per_peer = 8,
		.rules = variant->rules ? rules : NULL,
		.rule_count = variant->rules ? 3 : 0,
	};

	self->rules = variant->rules;
	self->rng.state = number_of("KRDMA_SEED", 1);
	TH_LOG("KRDMA_SEED=%u", number_of("KRDMA_SEED", 1));
	ASSERT_EQ(0, files_open(&self->files));
	ASSERT_EQ(0, make_all(self));
	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
	raw_hello(self->hello, RAW_VERSION, 0);
}

FIXTURE_TEARDOWN(bad_client)
{
	for (unsigned int i = 0; i < STREAMS - 1; i++)
		raw_close(&self->others[i]);
	raw_close(&self->raw);
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

static const char * const usual[] = { "a", "new0", "new1", "new2", "sub/b", "sub/new" };

static const char * const names[] = {
	"a", "a", "new0", "new1", "new2", "new3", "sub/b", "sub/new", "read/c", "read/new",
	"drop/d", "drop/new", "hard", "setuid", "secret", "out", "out/secret", "out/new",
	"sub/../a", "../outside/secret", "../outside/new", "..", ".", "", "/", "//a", "/etc/passwd",
	"in/new", "dangling/new", "moving/new", "made/new",
	"sub", "sub/", "a/", "a/b", "none/new", "sub//b", "./a", "\001", "a\nb", "-rf",
	".krdma-00000000000000000000000000000000-0000000000000000.part",
	"sub/.krdma-00000000000000000000000000000000-0000000000000000.part",
};

static const char *any_name(FIXTURE_DATA(bad_client) * self, char name[FILES_PATH])
{
	/* Most visits should come as far as the data. */
	if (rng_once_in(&self->rng, 2))
		return RNG_PICK(&self->rng, usual);
	if (rng_once_in(&self->rng, 50)) {
		unsigned int length = rng_below(&self->rng, FILES_PATH - 1);

		memset(name, 'x', length);
		name[length] = '\0';
		return name;
	}
	if (rng_once_in(&self->rng, 20) && files_parts(self->files.there, name))
		return name;
	return RNG_PICK(&self->rng, names);
}

/* One of the connections that are there; number 0 is the first one. */
static struct raw *raw_of(FIXTURE_DATA(bad_client) * self, unsigned int number)
{
	return number && number <= self->joined ? &self->others[number - 1] : &self->raw;
}

/* Mostly over the connection that has the slot. */
static int send_over(FIXTURE_DATA(bad_client) * self, const struct message *message)
{
	bool is_piece = message->bytes[0] == DATA || message->bytes[0] == HOLE;
	unsigned int number = is_piece ? message->bytes[44] % self->granted : 0;

	if (self->joined && rng_once_in(&self->rng, 128))
		number = rng_below(&self->rng, self->joined + 1);
	return raw_send(raw_of(self, number), message);
}

/* One of several connections ends, or says why everything does. */
static bool disturb(FIXTURE_DATA(bad_client) * self)
{
	struct raw *raw = raw_of(self, rng_below(&self->rng, self->joined + 1));
	struct message error = raw_make(ERROR, NULL);

	self->actions++;
	if (rng_once_in(&self->rng, 2))
		return !krdma_conn_disconnect(raw->conn, 0);
	raw_set(&error, 4, rng_below(&self->rng, 40), 4);
	return !raw_send(raw, &error);
}

/* Sends the message, or another one.  Returns false when the client should leave. */
static bool say(FIXTURE_DATA(bad_client) * self, const struct message *message)
{
	static const struct message alive = { .bytes = { ALIVE }, .length = FIXED };
	struct message other = *message;

	self->actions++;
	if (rng_once_in(&self->rng, 128))
		return false;
	if (self->joined && rng_once_in(&self->rng, 256) && !disturb(self))
		return false;
	if (rng_once_in(&self->rng, 32)) {
		mutate(&self->rng, &other);
	} else if (rng_once_in(&self->rng, 64)) {
		other = mutate_any(&self->rng, RNG_PICK(&self->rng, names));
	} else if (rng_once_in(&self->rng, 16)) {
		self->actions++;
		if (raw_send(&self->raw, &alive))
			return false;
	}
	return !send_over(self, &other);
}

static uint64_t field(const struct message *message, unsigned int offset, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, message->bytes + offset, bytes);
	return value;
}

/* Receives the next message, and returns whether it is of that type. */
static bool hear(FIXTURE_DATA(bad_client) * self, int type)
{
	return raw_next(&self->raw, &self->answer) == type;
}

static struct message window_message(FIXTURE_DATA(bad_client) * self, uint8_t type, uint32_t slots)
{
	struct message message = raw_make(type, NULL);

	raw_set_window(&self->raw, &message, SLOT, slots);
	return message;
}

/* Sends the data of a put in pieces of any length, and sometimes spoils them. */
static bool put_data(FIXTURE_DATA(bad_client) * self, size_t offset, size_t length, uint32_t slots)
{
	unsigned char *window = krdma_mr_data(self->raw.window);
	unsigned int sent = 0, credited = 0;
	struct message message;

	for (size_t piece; offset < length; offset += piece) {
		piece = 1 + rng_below(&self->rng, SLOT);
		piece = piece < length - offset ? piece : length - offset;
		memcpy(window + sent % slots * SLOT, self->data + offset, piece);
		message = raw_piece(DATA, offset, piece, sent % slots);
		if (!say(self, &message))
			return false;
		/* The same again. */
		if (rng_once_in(&self->rng, 256) && !say(self, &message))
			return false;
		if (rng_once_in(&self->rng, 64)) {
			window[rng_below(&self->rng, slots * SLOT)] ^= 1;
			self->actions++;
		}
		if (rng_once_in(&self->rng, 128)) {
			krdma_mr_deregister(self->raw.window, KRDMA_DEREGISTER_LATER);
			self->raw.window = NULL;
			self->actions++;
			return false;
		}
		for (sent++; sent - credited == slots; credited++) {
			if (!hear(self, CREDIT))
				return false;
		}
	}
	while (credited++ < sent) {
		if (!hear(self, CREDIT))
			return false;
	}
	return true;
}

/* Receives HAVE, if necessary after the SHA-256 of the file; or of something else. */
static bool hear_have(FIXTURE_DATA(bad_client) * self, size_t length)
{
	int type = raw_next(&self->raw, &self->answer);
	struct message digest = raw_make(DIGEST, NULL);
	struct sha256 sha;

	if (type != COMPARE)
		return type == HAVE;
	sha256_init(&sha);
	sha256_add(&sha, self->data, length);
	sha256_end(&sha, digest.bytes + 56);
	if (rng_once_in(&self->rng, 8))
		digest.bytes[56 + rng_below(&self->rng, 32)] ^= 1;
	self->compared++;
	return say(self, &digest) && hear(self, HAVE);
}

static void put(FIXTURE_DATA(bad_client) * self, const char *name)
{
	size_t length = whole_fill(self->data, rng_below(&self->rng, 1000)), offset;
	struct message message = raw_make(PUT, name);
	uint32_t slots = 1 + rng_below(&self->rng, SLOTS);

	raw_set(&message, 4, rng_below(&self->rng, rng_once_in(&self->rng, 2) ? 8 : 256), 4);
	raw_set(&message, 16, length, 8);
	raw_set(&message, 24, rng_below(&self->rng, 3), 8);
	raw_set(&message, 36, rng_below(&self->rng, 01000), 4);
	if (!say(self, &message) || !hear_have(self, length))
		return;
	message = raw_make(NEXT, NULL);
	for (;;) {
		offset = field(&self->answer, 8, 8);
		if (!offset || (offset <= length &&
				file_crc(0, self->data, offset) == field(&self->answer, 40, 4)))
			break;
		if (!say(self, &message) || !hear(self, HAVE))
			return;
	}
	if (rng_once_in(&self->rng, 4))
		offset = 0;
	if (slots > field(&self->answer, 52, 4))
		slots = field(&self->answer, 52, 4);
	message = window_message(self, OFFER, slots);
	raw_set(&message, 8, offset, 8);
	if (!slots || !say(self, &message) || !put_data(self, offset, length, slots))
		return;
	message = raw_make(END, NULL);
	raw_set(&message, 16, length, 8);
	raw_set(&message, 40, file_crc(0, self->data, length), 4);
	if (say(self, &message) && hear(self, DONE))
		self->puts++;
}

/* Takes the pieces from the connections of their slots, and the end; false: not all have come. */
static bool get_data(FIXTURE_DATA(bad_client) * self, uint64_t length, uint32_t slots)
{
	const struct message credit = raw_make(CREDIT, NULL);
	uint64_t offset = field(&self->answer, 8, 8);
	int type;

	for (uint32_t slot = 0; offset < length; slot = (slot + 1) % slots) {
		type = raw_next(raw_of(self, slot % self->granted), &self->answer);
		if (type != DATA && type != HOLE)
			return false;
		offset += field(&self->answer, 16, 8);
		if (!say(self, &credit))
			return false;
	}
	return hear(self, END);
}

static void get(struct __test_metadata *_metadata, FIXTURE_DATA(bad_client) * self,
		const char *name)
{
	struct message message = raw_make(GET, name);
	uint32_t slots = 1 + rng_below(&self->rng, SLOTS);
	uint64_t length;
	bool whole;

	/* Sometimes the list of a file. */
	if (rng_once_in(&self->rng, 8))
		raw_set(&message, 4, rng_below(&self->rng, 4), 4);
	if (!say(self, &message) || !hear(self, FILE_IS))
		return;
	length = field(&self->answer, 16, 8);
	if (slots > field(&self->answer, 52, 4))
		slots = field(&self->answer, 52, 4);
	if (rng_once_in(&self->rng, 3)) {
		message = raw_make(COMPARE, NULL);
		if (!say(self, &message) || !hear(self, DIGEST))
			return;
		self->compared++;
	}
	message = window_message(self, FETCH, slots);
	if (rng_once_in(&self->rng, 4)) {
		raw_set(&message, 8, rng_below(&self->rng, WHOLE_MAX), 8);
		raw_set(&message, 40, rng_next(&self->rng), 4);
	}
	if (!slots || !say(self, &message) || !hear(self, BEGIN))
		return;
	whole = get_data(self, length, slots);
	EXPECT_EQ(NULL, memmem(krdma_mr_data(self->raw.window), WINDOW, SECRET,
			       strlen(SECRET))) {
		TH_LOG("'%s' leads to a file outside the folder", name);
	}
	if (whole) {
		message = raw_make(DONE, NULL);
		say(self, &message);
		self->gets++;
	}
}

static void count(FIXTURE_DATA(bad_client) * self, enum client_act act, int type)
{
	self->done[act] += type == DONE || type == END;
	self->refused[act] += type == REFUSE;
}

/*
 * Lists
 */

/* Takes the pieces of a list and keeps them; returns the type of the last message. */
static int take_list(FIXTURE_DATA(bad_client) * self, uint64_t length, uint32_t slots)
{
	const struct message credit = raw_make(CREDIT, NULL);
	const unsigned char *window;
	uint64_t piece;
	int type;

	self->list_length = 0;
	for (uint32_t slot = 0; self->list_length < length; slot = (slot + 1) % slots) {
		type = raw_next(raw_of(self, slot % self->granted), &self->answer);
		piece = field(&self->answer, 16, 8);
		if ((type != DATA && type != HOLE) || piece > SLOT ||
		    self->list_length + piece > LIST_ROOM)
			return type < 0 ? type : ERROR;
		window = krdma_mr_data(self->raw.window);
		if (type == DATA)
			memcpy(self->list + self->list_length, window + slot * SLOT, piece);
		else
			memset(self->list + self->list_length, 0, piece);
		self->list_length += piece;
		if (!say(self, &credit))
			return ERROR;
	}
	return raw_next(&self->raw, &self->answer);
}

/* A list that has come to its end is one, and has nothing of what is outside. */
static void judge_list(FIXTURE_DATA(bad_client) * self, bool recursive)
{
	struct krdma_file_entry *entries;
	const char *last;
	size_t number;

	if (file_list_decode(self->list, self->list_length, recursive, &entries, &number)) {
		self->wrong = "the server has made a list that is none";
		return;
	}
	for (size_t i = 0; i < number; i++) {
		last = strrchr(entries[i].name, '/');
		if (!strcmp(last ? last + 1 : entries[i].name, "linked"))
			self->wrong = "a list has what is outside";
		if (file_part_is_name(last ? last + 1 : entries[i].name))
			self->wrong = "a list has a part file";
	}
	krdma_file_list_free(entries);
}

/* The folder is renamed, and a way out has its name for a moment. */
static void move_folder(FIXTURE_DATA(bad_client) * self)
{
	char from[FILES_PATH], to[FILES_PATH];

	files_path(from, self->files.there, "moving");
	files_path(to, self->files.there, "moved");
	for (unsigned int i = 0; i < 20; i++) {
		if (rename(from, to))
			self->wrong = "the folder is not there";
		if (i % 2 && symlink("../outside", from))
			self->wrong = "somebody else has taken the name";
		usleep(rng_below(&self->rng, 300));
		if (i % 2)
			unlink(from);
		rename(to, from);
	}
	self->actions++;
}

/* The server sends no more pieces than it has slots, however long it waits. */
static int do_not_read(FIXTURE_DATA(bad_client) * self, uint32_t slots)
{
	unsigned int pieces = 0;
	int type;

	do {
		type = raw_next(&self->raw, &self->answer);
		pieces += type == DATA || type == HOLE;
	} while (type == DATA || type == HOLE);
	if (pieces > slots)
		self->wrong = "the server sends more than there are slots";
	/* It ends the connection when the client is silent for too long. */
	return pieces ? END : type;
}

/* A list of any folder, or of what is none. */
static void ask_for_list(FIXTURE_DATA(bad_client) * self)
{
	static const char * const folders[] = {
		"", "", ".", "sub", "sub/", "many", "moving", "moving", "in", "out", "out/",
		"secret", "a", "a/", "none", "dangling", "..", "../outside", "/etc", "/",
		"sub/../..", "read", "drop", "made", "hard",
	};
	const char *folder = RNG_PICK(&self->rng, folders);
	bool recursive = rng_once_in(&self->rng, 2);
	bool moves = rng_once_in(&self->rng, 3), waits;
	uint32_t slots = 1 + rng_below(&self->rng, SLOTS);
	struct message message;
	uint64_t length;
	int type;

	waits = !self->joined && self->done[LIST_AND_DO_NOT_READ] < SILENCES &&
		rng_once_in(&self->rng, 4);
	if (waits) {
		folder = "many";
		moves = false;
	} else if (moves) {
		folder = rng_once_in(&self->rng, 2) ? "moving" : "";
		recursive = recursive || !*folder;
	}
	message = raw_make(GET, folder);
	raw_set(&message, 4, FILE_GET_LIST | (recursive ? FILE_GET_RECURSIVE : 0), 4);
	if (!say(self, &message))
		return;
	if (moves)
		move_folder(self);
	type = raw_next(&self->raw, &self->answer);
	count(self, LIST_A_FOLDER, type);
	if (type != FILE_IS)
		return;
	length = field(&self->answer, 16, 8);
	if (slots > field(&self->answer, 52, 4))
		slots = field(&self->answer, 52, 4);
	if (waits)
		slots = 1;
	message = window_message(self, FETCH, slots);
	if (!slots || !say(self, &message) || !hear(self, BEGIN))
		return;
	type = waits ? do_not_read(self, slots) : take_list(self, length, slots);
	count(self, waits ? LIST_AND_DO_NOT_READ : moves ? LIST_WHAT_MOVES : LIST_A_FOLDER, type);
	if (waits || type != END)
		return;
	judge_list(self, recursive);
	message = raw_make(DONE, NULL);
	say(self, &message);
}

/*
 * Folders
 */

static const char *any_folder(FIXTURE_DATA(bad_client) * self, char name[FILES_PATH])
{
	static const char * const folders[] = {
		"made", "made/in/made", "sub/made", "drop/made", "read/made", "out/made", "",
		"../outside/made", "/etc/made", "a", "a/made", "sub/../made", "made//x/", "made/..",
		"in/made", "dangling", "dangling/made", "secret", "moving/made", "out",
	};

	if (!rng_once_in(&self->rng, 32))
		return RNG_PICK(&self->rng, folders);
	snprintf(name, FILES_PATH, "deep");
	for (unsigned int i = 0; i < DEPTH; i++)
		strcat(name, "/x");
	return name;
}

static void ask_for_folder(FIXTURE_DATA(bad_client) * self)
{
	char name[FILES_PATH];
	struct message message = raw_make(FOLDER, any_folder(self, name));

	raw_set(&message, 4, rng_below(&self->rng, 32), 4);
	raw_set(&message, 24, rng_below(&self->rng, 3), 8);
	raw_set(&message, 36, 0700 | rng_below(&self->rng, 0100), 4);
	if (say(self, &message))
		count(self, MAKE_A_FOLDER, raw_next(&self->raw, &self->answer));
}

/* Through a link that leads out, with the folders that are missing. */
static void put_into_link(FIXTURE_DATA(bad_client) * self)
{
	static const char * const ways[] = {
		"out/new", "out/made/new", "out/made/more/new", "sub/../out/new",
	};
	struct message message = raw_make(PUT, RNG_PICK(&self->rng, ways));
	int type;

	raw_set(&message, 4, FILE_PUT_PARENTS, 4);
	raw_set(&message, 16, 8, 8);
	raw_set(&message, 36, 0644, 4);
	if (!say(self, &message))
		return;
	type = raw_next(&self->raw, &self->answer);
	count(self, PUT_INTO_A_LINK, type);
	/* The message may have been changed to one with another name. */
	if (type == HAVE)
		self->actions++;
}

/* Half a request, and then nothing until the server has had enough. */
static void say_nothing(FIXTURE_DATA(bad_client) * self)
{
	struct message message = raw_make(PUT, "silent");
	int type;

	if (self->done[SAY_NOTHING] >= SILENCES)
		return;
	self->actions++;
	raw_set(&message, 16, 4096, 8);
	raw_set(&message, 36, 0644, 4);
	if (rng_once_in(&self->rng, 2) && raw_send(&self->raw, &message))
		return;
	do {
		type = raw_next(&self->raw, &self->answer);
	} while (type >= 0 && type != ERROR);
	self->done[SAY_NOTHING]++;
	if (files_exist(self->files.there, "silent"))
		self->wrong = "there is a file of which only the name was said";
}

/* Messages in any order. */
static void babble(FIXTURE_DATA(bad_client) * self)
{
	unsigned int count = 1 + rng_below(&self->rng, 8);
	struct message message;

	while (count--) {
		message = mutate_any(&self->rng, RNG_PICK(&self->rng, names));
		if (!say(self, &message))
			return;
	}
	raw_next(&self->raw, &self->answer);
}

/* The number of the next further connection; sometimes one that is there, or that no one has. */
static unsigned int any_number(FIXTURE_DATA(bad_client) * self)
{
	static const unsigned int wrong[] = { 0, 1, 3, 4, 15, 16, 255 };

	return rng_once_in(&self->rng, 32) ? RNG_PICK(&self->rng, wrong) : self->joined + 1;
}

/* A connection that no client may have: it is refused. */
static void join_wrongly(FIXTURE_DATA(bad_client) * self)
{
	enum client_act act = JOIN_TWICE + rng_below(&self->rng, 3);
	const unsigned char *ticket = self->ticket;
	unsigned char hello[HELLO];
	unsigned int number = 1;
	struct raw raw = { 0 };

	switch (act) {
	case JOIN_TWICE:
		while (number < STREAMS && !(self->numbers & 1u << number))
			number++;
		if (number == STREAMS)
			return;
		break;
	case JOIN_BEYOND_THE_GRANT:
		if (self->granted < 2)
			return;
		number = self->granted + rng_below(&self->rng, 16 - self->granted);
		break;
	default:
		if (!self->has_old_ticket)
			return;
		/* All of its connections have come once, so that none is expected. */
		ticket = self->old_ticket;
		break;
	}
	self->actions++;
	raw_hello_join(hello, FILE_HELLO_JOIN, number, ticket);
	if (raw_connect(&raw, &self->files, hello, sizeof(hello)))
		self->refused[act]++;
	else
		self->wrong = acts[act].what;
	raw_close(&raw);
}

/* Makes the further connections that the server has granted, or something like them. */
static void join(FIXTURE_DATA(bad_client) * self)
{
	unsigned char hello[HELLO], answer[256] = { 0 };
	size_t length = sizeof(answer);
	struct raw *raw;

	if (krdma_conn_private_data(self->raw.conn, answer, &length))
		return;
	memcpy(self->ticket, answer + HELLO_SHORT, TOKEN);
	self->numbers = 0;
	if (answer[12] > 1 && answer[12] <= STREAMS)
		self->granted = answer[12];
	/* One too many, or some too few. */
	while (self->joined < STREAMS - 1 &&
	       (self->joined + 1 < self->granted || rng_once_in(&self->rng, 32)) &&
	       !rng_once_in(&self->rng, 64)) {
		self->actions++;
		raw_hello_join(hello, FILE_HELLO_JOIN, any_number(self), answer + HELLO_SHORT);
		if (rng_once_in(&self->rng, 16))
			hello[rng_below(&self->rng, HELLO)] ^= 1 << rng_below(&self->rng, 8);
		raw = &self->others[self->joined];
		if (raw_connect_again(raw, &self->files, hello, sizeof(hello))) {
			raw_leave(raw);
			break;
		}
		self->joined++;
		if (hello[12] < 32)
			self->numbers |= 1u << hello[12];
		if (rng_once_in(&self->rng, 8))
			join_wrongly(self);
	}
	if (self->joined && self->joined + 1 == self->granted) {
		self->joins++;
		memcpy(self->old_ticket, self->ticket, TOKEN);
		self->has_old_ticket = true;
	}
	if (rng_once_in(&self->rng, 4))
		join_wrongly(self);
}

static void visit(struct __test_metadata *_metadata, FIXTURE_DATA(bad_client) * self)
{
	unsigned char hello[HELLO_SHORT];
	char name[FILES_PATH];

	self->visits++;
	self->actions++;
	memcpy(hello, self->hello, sizeof(hello));
	self->granted = 1;
	if (rng_once_in(&self->rng, 3))
		hello[12] = 2 + rng_below(&self->rng, STREAMS - 1);
	if (rng_once_in(&self->rng, 32))
		hello[rng_below(&self->rng, sizeof(hello))] ^= 1 << rng_below(&self->rng, 8);
	if (!raw_connect_again(&self->raw, &self->files, hello, sizeof(hello))) {
		if (hello[12] > 1 || rng_once_in(&self->rng, 32))
			join(self);
		/* Another request may follow, also on a connection that the server has ended. */
		do {
			switch (rng_below(&self->rng, 18)) {
			case 0:
				babble(self);
				break;
			case 1:
			case 2:
			case 3:
				get(_metadata, self, any_name(self, name));
				break;
			case 4:
			case 5:
				ask_for_folder(self);
				break;
			case 6:
			case 7:
			case 8:
				ask_for_list(self);
				break;
			case 9:
				put_into_link(self);
				break;
			case 10:
				if (rng_once_in(&self->rng, 8))
					say_nothing(self);
				break;
			default:
				put(self, any_name(self, name));
				break;
			}
		} while (self->raw.window && rng_once_in(&self->rng, 3));
	}
	while (self->joined)
		raw_leave(&self->others[--self->joined]);
	raw_leave(&self->raw);
}

/* Each failed put may leave a part file. */
static void remove_parts(FIXTURE_DATA(bad_client) * self)
{
	static const char * const folders[] = { ".", "sub", "read", "drop", "moving", "made" };
	char name[FILES_PATH], folder[FILES_PATH];
	char path[2 * FILES_PATH];

	for (unsigned int i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		files_path(folder, self->files.there, folders[i]);
		while (files_parts(folder, name)) {
			snprintf(path, sizeof(path), "%s/%s", folder, name);
			if (unlink(path))
				break;
		}
	}
}

static void act(struct __test_metadata *_metadata, FIXTURE_DATA(bad_client) * self,
		unsigned int actions)
{
	struct krdma_file_result result;
	unsigned int honest = 0;

	for (self->actions = 0; self->actions < actions && _metadata->exit_code == KSFT_PASS;) {
		visit(_metadata, self);
		EXPECT_EQ(NULL, self->wrong) {
			TH_LOG("visit %u: %s", self->visits, self->wrong);
		}
		if (self->actions < honest)
			continue;
		honest = self->actions + HONEST_AFTER;
		EXPECT_EQ(0, files_get(&self->files, "keep", "kept", NULL, &result)) {
			TH_LOG("after %u actions: an honest client is not served", self->actions);
		}
		EXPECT_TRUE(whole_file(self->files.here, "kept"));
		remove_parts(self);
	}
}

/* Each file has all the data of one version, and none of the bits that no client can give it. */
static void check_files(struct __test_metadata *_metadata, FIXTURE_DATA(bad_client) * self)
{
	static struct tree tree;
	const char *path, *last;

	ASSERT_EQ(0, tree_read(&tree, self->files.there));
	for (size_t i = 0; i < tree.count; i++) {
		path = tree.entries[i].path;
		last = strrchr(path, '/');
		if (!S_ISREG(tree.entries[i].mode) || (last && file_part_is_name(last + 1)))
			continue;
		EXPECT_TRUE(whole_file(self->files.there, path)) {
			TH_LOG("'%s' is not whole", path);
		}
		if (strcmp(path, "/setuid"))
			EXPECT_EQ(0, tree.entries[i].mode & 07000);
	}
}

/* Each was done, and has ended in each way in which it can. */
static void check_acts(struct __test_metadata *_metadata, FIXTURE_DATA(bad_client) * self,
		       unsigned int actions)
{
	for (unsigned int i = 0; i < ACTS; i++) {
		TH_LOG("%s: %u were carried out, %u refused", acts[i].what, self->done[i],
		       self->refused[i]);
		if (actions < acts[i].among)
			continue;
		if (acts[i].done)
			EXPECT_LT(0, self->done[i]);
		if (acts[i].refused)
			EXPECT_LT(0, self->refused[i]);
	}
}

TEST_F_TIMEOUT(bad_client, harms_neither_the_server_nor_its_files, 3600)
{
	static struct tree outside, keep, read_only, drop, now;
	struct usage before, after;
	char path[FILES_PATH];
	const char *which;
	unsigned int actions = number_of("KRDMA_ACTIONS", ACTIONS) / 2;

	ASSERT_EQ(0, tree_read(&outside, self->outside));
	ASSERT_EQ(0, tree_read(&keep, files_path(path, self->files.there, "keep")));
	ASSERT_EQ(0, tree_read(&read_only, files_path(path, self->files.there, "read")));
	ASSERT_EQ(0, tree_read(&drop, files_path(path, self->files.there, "drop/d")));
	/* The first clients make the library allocate what it keeps. */
	act(_metadata, self, actions / 20);
	before = usage_now();
	act(_metadata, self, actions - actions / 20);
	/* A few visits may not lead to what has to be seen: so there are more. */
	for (int i = 0; i < 40 && (!self->puts || !self->joins || !self->gets); i++)
		act(_metadata, self, actions / 4);
	after = usage_after(&before);
	TH_LOG("%u actions in %u visits: %u files put and %u got; %zu and then %zu bytes",
	       actions, self->visits, self->puts, self->gets, before.bytes, after.bytes);
	TH_LOG("%u visits had several connections", self->joins);
	EXPECT_LT(0, self->puts);
	EXPECT_LT(0, self->joins);
	EXPECT_LT(0, self->gets);
	/* Only few of all actions lead there. */
	if (actions >= COMPARES)
		EXPECT_LT(0, self->compared);
	check_acts(_metadata, self, actions);
	EXPECT_GE(before.bytes + USAGE_SPARE, after.bytes);
	EXPECT_GE(before.descriptors + 8, after.descriptors);
	EXPECT_FALSE(usage_leaks());

	ASSERT_EQ(0, tree_read(&now, self->outside));
	EXPECT_TRUE(tree_same(&outside, &now, &which)) {
		TH_LOG("outside the folder, '%s' has changed", which);
	}
	ASSERT_EQ(0, tree_read(&now, files_path(path, self->files.there, "keep")));
	EXPECT_TRUE(tree_same(&keep, &now, &which)) {
		TH_LOG("a file of another name has changed");
	}
	remove_parts(self);
	if (self->rules) {
		ASSERT_EQ(0, tree_read(&now, files_path(path, self->files.there, "read")));
		EXPECT_TRUE(tree_same(&read_only, &now, &which)) {
			TH_LOG("in a folder that may only be read, '%s' has changed", which);
		}
		ASSERT_EQ(0, tree_read(&now, files_path(path, self->files.there, "drop/d")));
		EXPECT_TRUE(tree_same(&drop, &now, &which)) {
			TH_LOG("a file was replaced where none may be");
		}
	}
	check_files(_metadata, self);
}

TEST_HARNESS_MAIN
