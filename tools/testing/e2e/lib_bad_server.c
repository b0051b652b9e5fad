// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file client and a server that does many things that no server does.
 *
 * Each action is a message, mostly the one that the protocol wants next, or an operation in the
 * memory that the client offers.  KRDMA_ACTIONS is their number, and KRDMA_SEED determines them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <file_internal.h>
#include <krdma_entry.h>

#include "kselftest_harness.h"
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
/* Bytes that a program may use more after many visits. */
#define SPARE		32768

FIXTURE(bad_server)
{
	struct files files;
	struct krdma_listener *listener;
	struct sockaddr_storage address;
	struct rng rng;
	struct raw raw;
	struct message answer;
	unsigned char data[WHOLE_ROOM];
	char outside[FILES_PATH];
	char keep[FILES_PATH];
	unsigned int actions;
	unsigned int visits;
	unsigned int gets;
	unsigned int puts;
};

static unsigned int number_of(const char *name, unsigned int usual)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : usual;
}

/* Names that a server may want to replace. */
static const char * const taken[] = { "taken", ".bashrc", "-rf", "a b" };

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
	ASSERT_EQ(0, address_set(&address, BOOT_ADDRESS, 0));
	ASSERT_EQ(0, krdma_listen(self->files.session, (struct sockaddr *)&address, 0, 0,
				  &self->listener));
	ASSERT_EQ(0, krdma_listener_address(self->listener, &self->address));
}

FIXTURE_TEARDOWN(bad_server)
{
	krdma_listener_close(self->listener);
	files_close(&self->files);
}

/*
 * The server
 */

/* Sends the message, or another one.  Returns false when the server should leave. */
static bool say(FIXTURE_DATA(bad_server) * self, const struct message *message)
{
	static const struct message alive = { .bytes = { ALIVE }, .length = FIXED };
	struct message other = *message;

	self->actions++;
	if (rng_once_in(&self->rng, 128))
		return false;
	if (rng_once_in(&self->rng, 32)) {
		mutate(&self->rng, &other);
	} else if (rng_once_in(&self->rng, 64)) {
		other = mutate_any(&self->rng, "x");
	} else if (rng_once_in(&self->rng, 16)) {
		self->actions++;
		if (raw_send(&self->raw, &alive))
			return false;
	}
	return !raw_send(&self->raw, &other);
}

static bool hear(FIXTURE_DATA(bad_server) * self, int type)
{
	return raw_next(&self->raw, &self->answer) == type;
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

/* Writes the data into the client's window and announces them; sometimes also other data. */
static bool give_data(FIXTURE_DATA(bad_server) * self, const struct krdma_remote_mr *remote,
		      size_t offset, size_t length, uint32_t slots)
{
	unsigned char *window = krdma_mr_data(self->raw.window);
	unsigned int sent = 0, credited = 0;
	struct message message;
	uint32_t at;

	for (size_t piece; offset < length; offset += piece) {
		piece = 1 + rng_below(&self->rng, SLOT);
		piece = piece < length - offset ? piece : length - offset;
		at = sent % slots * SLOT;
		memcpy(window + at, self->data + offset, piece);
		if (rng_once_in(&self->rng, 128))
			window[at] ^= 1;
		if (raw_transfer(&self->raw, KRDMA_OP_WRITE, at, piece, remote, at))
			return false;
		message = raw_piece(DATA, offset, piece, sent % slots);
		if (!say(self, &message))
			return false;
		if (rng_once_in(&self->rng, 32)) {
			/* Around and beyond the client's window. */
			self->actions++;
			if (raw_transfer(&self->raw, rng_once_in(&self->rng, 2) ? KRDMA_OP_WRITE :
					 KRDMA_OP_READ, 0, 1 + rng_below(&self->rng, SLOT), remote,
					 rng_below(&self->rng, 2 * WINDOW)))
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

static void give(FIXTURE_DATA(bad_server) * self)
{
	size_t length = whole_fill(self->data, rng_below(&self->rng, 1000)), offset;
	struct krdma_remote_mr remote;
	char name[FILES_PATH];
	struct message message = raw_make(FILE_IS, any_name(self, name));
	uint32_t slots;

	raw_set(&message, 16, length, 8);
	raw_set(&message, 24, rng_below(&self->rng, 3), 8);
	raw_set(&message, 36, rng_below(&self->rng, 01000), 4);
	set_limits(self, &message);
	if (!say(self, &message) || !hear(self, FETCH))
		return;
	slots = field(&self->answer, 52, 4);
	if (!slots || slots > SLOTS || field(&self->answer, 48, 4) != SLOT ||
	    krdma_remote_mr_from_desc(self->answer.bytes + 56, KRDMA_MR_DESC_SIZE, &remote))
		return;
	/* Sometimes the server goes on from data that are not the file's. */
	offset = field(&self->answer, 8, 8);
	if (offset > length || (file_crc(0, self->data, offset) != field(&self->answer, 40, 4) &&
				!rng_once_in(&self->rng, 16)))
		offset = 0;
	message = raw_make(BEGIN, NULL);
	raw_set(&message, 8, offset, 8);
	if (!say(self, &message) || !give_data(self, &remote, offset, length, slots))
		return;
	message = raw_make(END, NULL);
	raw_set(&message, 16, length, 8);
	raw_set(&message, 40, file_crc(0, self->data, length), 4);
	if (say(self, &message))
		hear(self, DONE);
}

static void take(FIXTURE_DATA(bad_server) * self)
{
	struct message have = raw_make(HAVE, NULL), credit = raw_make(CREDIT, NULL), message;
	int type;

	do {
		if (rng_once_in(&self->rng, 4)) {
			raw_set(&have, 8, rng_below(&self->rng, WHOLE_MAX), 8);
			raw_set(&have, 40, rng_next(&self->rng), 4);
		}
		set_limits(self, &have);
		if (!say(self, &have))
			return;
		type = raw_next(&self->raw, &self->answer);
		have = raw_make(HAVE, NULL);
	} while (type == NEXT);
	if (type != OFFER)
		return;
	do {
		type = raw_next(&self->raw, &self->answer);
	} while ((type == DATA || type == HOLE) && say(self, &credit));
	message = raw_make(DONE, NULL);
	if (type == END || rng_once_in(&self->rng, 8))
		say(self, &message);
}

/* One client; the hello may be wrong, too. */
static void *serve(void *context)
{
	FIXTURE_DATA(bad_server) * self = context;
	unsigned char hello[16];

	raw_hello(hello, RAW_VERSION, rng_once_in(&self->rng, 64) ? rng_below(&self->rng, 40) : 0);
	if (rng_once_in(&self->rng, 32))
		hello[rng_below(&self->rng, sizeof(hello))] ^= 1 << rng_below(&self->rng, 8);
	self->actions++;
	if (!raw_accept(&self->raw, self->files.session, self->listener, hello,
			rng_once_in(&self->rng, 64) ? rng_below(&self->rng, 16) : 16)) {
		switch (raw_next(&self->raw, &self->answer)) {
		case GET:
			give(self);
			break;
		case PUT:
			take(self);
			break;
		}
	}
	raw_close(&self->raw);
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
	bool put;
	const char *name;
	const char *as;
	struct krdma_file_options options;
};

static struct choice choose(struct rng *rng)
{
	static const char * const asked[] = { "", "", "x", "a/x", "../x" };
	static const char * const own[] = { "own0", "own1", "own2" };
	struct choice choice = {
		.put = rng_once_in(rng, 3),
		.as = rng_once_in(rng, 2) ? RNG_PICK(rng, own) : NULL,
		.options = {
			.size = sizeof(choice.options),
			.flags = rng_below(rng, 8),
			.patience_ms = PATIENT_MS,
			.buffer_size = SLOT,
			.buffer_count = 1 + rng_below(rng, SLOTS),
		},
	};

	/* The server chooses names only in a folder with files that it must not replace. */
	choice.name = choice.as ? RNG_PICK(rng, asked) : "";
	return choice;
}

static void get(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self,
		const struct choice *choice)
{
	const char *folder = choice->as ? self->files.here : self->keep, *name;
	struct krdma_file_result result;
	char path[FILES_PATH];

	files_path(path, folder, choice->as ? choice->as : "");
	if (krdma_file_get(self->files.session, (struct sockaddr *)&self->address, choice->name,
			   path, &choice->options, &result, sizeof(result)))
		return;
	self->gets++;
	name = choice->as ? choice->as : result.last;
	check_file(_metadata, folder, name);
	if (!choice->as)
		EXPECT_EQ(0, unlink(files_path(path, folder, name)));
}

static void put(FIXTURE_DATA(bad_server) * self, const struct choice *choice)
{
	struct krdma_file_result result;
	char path[FILES_PATH];

	if (!krdma_file_put(self->files.session, (struct sockaddr *)&self->address,
			    files_path(path, self->files.here, "source"), "x", &choice->options,
			    &result, sizeof(result)))
		self->puts++;
}

static void visit(struct __test_metadata *_metadata, FIXTURE_DATA(bad_server) * self)
{
	struct choice choice = choose(&self->rng);
	pthread_t thread;

	self->visits++;
	ASSERT_EQ(0, pthread_create(&thread, NULL, serve, self));
	if (choice.put)
		put(self, &choice);
	else
		get(_metadata, self, &choice);
	pthread_join(thread, NULL);
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
	after = usage_after(&before);
	TH_LOG("%u actions in %u visits: %u files got and %u put; %zu and then %zu bytes",
	       actions, self->visits, self->gets, self->puts, before.bytes, after.bytes);
	EXPECT_LT(0, self->gets);
	EXPECT_LT(0, self->puts);
	EXPECT_GE(before.bytes + SPARE, after.bytes);
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
