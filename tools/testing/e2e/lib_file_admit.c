// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: which clients a server accepts, for how long, and what they may do
 * in which directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lib_raw.h"
#include "session.h"

#define LENGTH		20000
#define SECRET		"0123456789abcdef"
#define OTHER_SECRET	"0123456789abcdeF"
/* Timeouts of the server for a client's request, and for progress after it. */
#define REQUEST_MS	2000
#define PROGRESS_MS	3000
#define IDLE		2
/* Messages that a server sends before one has arrived. */
#define SENDS		20

FIXTURE(admit)
{
	struct files files;
	struct named_report report;
	struct krdma_file_server_options server;
	struct krdma_file_options options;
	struct krdma_file_result result;
	struct raw raws[IDLE];
	unsigned char hello[16];
};

FIXTURE_SETUP(admit)
{
	ASSERT_EQ(0, files_open(&self->files));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	ASSERT_EQ(0, files_make(self->files.here, "b", LENGTH, 2));
	self->server.flags = KRDMA_FILE_SERVER_WRITABLE;
	self->server.request_ms = REQUEST_MS;
	self->server.progress_ms = PROGRESS_MS;
	self->options.size = sizeof(self->options);
	raw_hello(self->hello, RAW_VERSION, 0);
}

FIXTURE_TEARDOWN(admit)
{
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

static int serve(FIXTURE_DATA(admit) * self)
{
	files_stop(&self->files);
	return files_serve(&self->files, BOOT_ADDRESS, NULL, &self->server);
}

static int get(FIXTURE_DATA(admit) * self, const char *name)
{
	return files_get(&self->files, name, "x", &self->options, &self->result);
}

static int put(FIXTURE_DATA(admit) * self, const char *name)
{
	return files_put(&self->files, "b", name, &self->options, &self->result);
}

/* Get from another address; retry until the server has noticed that other clients have gone. */
static int get_from_6(FIXTURE_DATA(admit) * self)
{
	struct sockaddr_storage ours = self->files.address;
	int ret = files_at(&self->files, BOOT_ADDRESS_6);

	if (!ret)
		ret = get(self, "a");
	self->files.address = ours;
	return ret;
}

/*
 * Time
 */

/* Report being alive until the server disconnects.  Returns its error, and the time in *@ms. */
static int live(FIXTURE_DATA(admit) * self, struct raw *raw, uint64_t *ms)
{
	struct message alive = raw_make(ALIVE, NULL);
	uint64_t begin = now_ms();

	while (now_ms() - begin < 10 * PROGRESS_MS && !raw_send(raw, &alive))
		sleep_ms(250);
	*ms = now_ms() - begin;
	raw_close(raw);
	return files_report(&self->files, &self->report) ?: self->report.is.error;
}

/* Idle clients take all places of their address.  Others still get in, and the idle ones end. */
TEST_F_TIMEOUT(admit, idle_clients_do_not_keep_their_places, 240)
{
	struct sockaddr_in in;
	struct __kernel_sockaddr_storage address;
	uint64_t ms;

	self->server.max_clients = 2 * IDLE;
	/* Serve at all addresses; each client then uses a different one. */
	ASSERT_EQ(0, files_serve(&self->files, "::", NULL, &self->server));
	memcpy(&in, &self->files.address, sizeof(in));
	ASSERT_EQ(0, address_set(&address, BOOT_ADDRESS, ntohs(in.sin_port)));
	memcpy(&self->files.address, &address, sizeof(self->files.address));
	for (unsigned int i = 0; i < IDLE; i++)
		ASSERT_EQ(0, raw_connect(&self->raws[i], &self->files, self->hello, 16));
	/* This address has reached its limit of clients. */
	EXPECT_EQ(-EUSERS, get(self, "a"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(0, get_from_6(self));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[0], &ms));
	EXPECT_EQ(KRDMA_FILE_NOTHING, self->report.is.operation);
	EXPECT_GE(REQUEST_MS + rounds(1000, 5000), ms);
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[1], &ms));
	EXPECT_EQ(0, get(self, "a"));
}

TEST_F_TIMEOUT(admit, clients_that_do_nothing_are_put_out, 240)
{
	struct message message = raw_make(GET, "a");
	uint64_t ms;

	ASSERT_EQ(0, serve(self));
	/* The client sends its request, and never fetches. */
	ASSERT_EQ(0, raw_connect(&self->raws[0], &self->files, self->hello, 16));
	ASSERT_EQ(0, raw_send(&self->raws[0], &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raws[0], &message));
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[0], &ms));
	EXPECT_EQ(KRDMA_FILE_GET, self->report.is.operation);
	EXPECT_LE(PROGRESS_MS - 1000, ms);
	EXPECT_GE(PROGRESS_MS + rounds(1000, 5000), ms);
	/* The client fetches, and never reports data as received. */
	message = raw_make(GET, "a");
	ASSERT_EQ(0, raw_connect(&self->raws[0], &self->files, self->hello, 16));
	ASSERT_EQ(0, raw_send(&self->raws[0], &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raws[0], &message));
	message = raw_make(FETCH, NULL);
	raw_set_window(&self->raws[0], &message, 4096, 1);
	ASSERT_EQ(0, raw_send(&self->raws[0], &message));
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[0], &ms));
	EXPECT_LE(PROGRESS_MS - 1000, ms);
	/* The client requests a put, and sends no data. */
	message = raw_make(PUT, "c");
	raw_set(&message, 16, LENGTH, 8);
	ASSERT_EQ(0, raw_connect(&self->raws[0], &self->files, self->hello, 16));
	ASSERT_EQ(0, raw_send(&self->raws[0], &message));
	ASSERT_EQ(HAVE, raw_receive(&self->raws[0], &message));
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[0], &ms));
	EXPECT_EQ(KRDMA_FILE_PUT, self->report.is.operation);
	EXPECT_EQ(0, get(self, "a"));
}

/* Report that a file is being examined, for longer than a client may do nothing. */
static int examine(struct raw *raw, unsigned int step)
{
	struct message alive = raw_make(ALIVE, NULL);
	uint64_t begin = now_ms(), offset = 1;

	while (now_ms() - begin < 2 * PROGRESS_MS) {
		raw_set(&alive, 8, offset, 8);
		offset += step;
		if (raw_send(raw, &alive))
			return -ECONNRESET;
		sleep_ms(250);
	}
	return 0;
}

TEST_F_TIMEOUT(admit, clients_that_examine_a_file_do_something, 240)
{
	struct message put = raw_make(PUT, "a"), message = raw_make(DIGEST, NULL);
	uint64_t ms;

	ASSERT_EQ(0, serve(self));
	raw_set(&put, 4, PUT_COMPARE, 4);
	raw_set(&put, 16, LENGTH, 8);
	ASSERT_EQ(0, raw_connect(&self->raws[0], &self->files, self->hello, 16));
	ASSERT_EQ(0, raw_send(&self->raws[0], &put));
	ASSERT_EQ(COMPARE, raw_receive(&self->raws[0], &message));
	EXPECT_EQ(0, examine(&self->raws[0], 1));
	message = raw_make(DIGEST, NULL);
	ASSERT_EQ(0, raw_send(&self->raws[0], &message));
	ASSERT_EQ(HAVE, raw_receive(&self->raws[0], &message));
	/* So does one that computes a checksum. */
	EXPECT_EQ(0, examine(&self->raws[0], 1));
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[0], &ms));
	/* It may examine one file after another. */
	message = raw_make(GET, "a");
	ASSERT_EQ(0, raw_connect(&self->raws[0], &self->files, self->hello, 16));
	ASSERT_EQ(0, raw_send(&self->raws[0], &message));
	ASSERT_EQ(FILE_IS, raw_receive(&self->raws[0], &message));
	EXPECT_EQ(0, examine(&self->raws[0], 1000));
	EXPECT_EQ(0, examine(&self->raws[0], 1));
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[0], &ms));
	/* But not if it comes no further. */
	ASSERT_EQ(0, raw_connect(&self->raws[0], &self->files, self->hello, 16));
	ASSERT_EQ(0, raw_send(&self->raws[0], &put));
	ASSERT_EQ(COMPARE, raw_receive(&self->raws[0], &message));
	EXPECT_EQ(-ECONNRESET, examine(&self->raws[0], 0));
	EXPECT_EQ(-ETIMEDOUT, live(self, &self->raws[0], &ms));
	EXPECT_EQ(0, get(self, "a"));
}

/* A peer learns how far the other one has come with a long file. */
TEST_F_TIMEOUT(admit, examining_a_file_is_reported, 240)
{
	struct message get = raw_make(GET, "long"), compare = raw_make(COMPARE, NULL), message;
	struct raw *raw = &self->raws[0];

	ASSERT_EQ(0, serve(self));
	/* How long this takes depends on the processor. */
	for (off_t length = 16 << 20; length <= 128 << 20 && !raw->examined; length *= 2) {
		raw_close(raw);
		ASSERT_EQ(0, files_make(self->files.there, "long", length, 1));
		ASSERT_EQ(0, raw_connect(raw, &self->files, self->hello, 16));
		ASSERT_EQ(0, raw_send(raw, &get));
		ASSERT_EQ(FILE_IS, raw_receive(raw, &message));
		ASSERT_EQ(0, raw_send(raw, &compare));
		ASSERT_EQ(DIGEST, raw_receive(raw, &message));
		EXPECT_GT(length, raw->examined);
	}
	EXPECT_LT(0, raw->examined);
	raw_close(raw);
}

/*
 * A client that takes no answer, so that the server has no room for another one, and says that it
 * is alive.
 */
TEST_F_TIMEOUT(admit, clients_that_take_nothing_are_put_out, 240)
{
	struct message message = raw_make(GET, "none"), answer;
	struct raw *raw = &self->raws[0];
	uint64_t begin;
	int type;

	self->server.max_clients = 1;
	ASSERT_EQ(0, serve(self));
	ASSERT_EQ(0, raw_connect(raw, &self->files, self->hello, 16));
	/* Those for which there are receives, and what the server can send besides. */
	for (unsigned int i = 0; i < RECEIVES + SENDS + 2; i++) {
		ASSERT_EQ(0, raw_send(raw, &message));
		type = i < RECEIVES / 2 ? raw_next(raw, &answer) : REFUSE;
		ASSERT_EQ(REFUSE, type);
		if (i >= RECEIVES / 2)
			sleep_ms(50);
	}
	message = raw_make(ALIVE, NULL);
	for (begin = now_ms(); now_ms() - begin < PROGRESS_MS + 40000;) {
		if (raw_send(raw, &message))
			break;
		sleep_ms(250);
	}
	EXPECT_GE(PROGRESS_MS + 30000, now_ms() - begin);
	raw_close(raw);
	EXPECT_EQ(0, get(self, "a"));
}

/*
 * Addresses and secrets
 */

TEST_F_TIMEOUT(admit, addresses_that_are_not_allowed_are_sent_away, 120)
{
	self->server.allow = "10.88.0.0/16, fd77::/16";
	ASSERT_EQ(0, serve(self));
	EXPECT_EQ(-ECONNREFUSED, get(self, "a"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	self->server.allow = "10.88.0.0/16," BOOT_ADDRESS;
	ASSERT_EQ(0, serve(self));
	EXPECT_EQ(0, get(self, "a"));
	files_stop(&self->files);
	self->server.allow = "";
	EXPECT_EQ(-EINVAL, serve(self));
	self->server.allow = "10.88.0.0/33";
	EXPECT_EQ(-EINVAL, serve(self));
	self->server.allow = NULL;
}

static void set_secret(FIXTURE_DATA(admit) * self, const char *server, const char *client)
{
	self->server.secret = server;
	self->server.secret_length = server ? strlen(server) : 0;
	self->options.secret = client;
	self->options.secret_length = client ? strlen(client) : 0;
}

TEST_F_TIMEOUT(admit, both_sides_know_the_secret, 240)
{
	set_secret(self, SECRET, SECRET);
	ASSERT_EQ(0, serve(self));
	EXPECT_EQ(0, get(self, "a"));
	EXPECT_TRUE(files_are(self->files.here, "x", LENGTH, 1));
	EXPECT_EQ(0, put(self, "c"));
	EXPECT_TRUE(files_are(self->files.there, "c", LENGTH, 2));
	files_report(&self->files, &self->report);
	files_report(&self->files, &self->report);

	set_secret(self, SECRET, OTHER_SECRET);
	EXPECT_EQ(-EKEYREJECTED, get(self, "a"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-EKEYREJECTED, self->report.is.error);
	set_secret(self, SECRET, NULL);
	EXPECT_EQ(-ENOKEY, get(self, "a"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(-ENOKEY, put(self, "d"));
	EXPECT_FALSE(files_exist(self->files.there, "d"));

	/* A server without the secret cannot be authenticated. */
	set_secret(self, NULL, SECRET);
	ASSERT_EQ(0, serve(self));
	EXPECT_EQ(-EKEYREJECTED, get(self, "a"));
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
	files_stop(&self->files);
	set_secret(self, "too short", NULL);
	EXPECT_EQ(-EINVAL, serve(self));
	set_secret(self, NULL, NULL);
}

/* Replayed messages of another connection, and requests before the proof. */
TEST_F_TIMEOUT(admit, nothing_is_done_before_the_proof, 240)
{
	struct raw *raw = &self->raws[0];
	struct message message, challenge, proof = raw_make(PROOF, NULL);

	set_secret(self, SECRET, SECRET);
	ASSERT_EQ(0, serve(self));
	self->hello[6] = 1;
	for (unsigned int what = 0; what < 4; what++) {
		ASSERT_EQ(0, raw_connect(raw, &self->files, self->hello, 16));
		ASSERT_EQ(CHALLENGE, raw_next(raw, &challenge));
		if (!what) {
			message = raw_make(GET, "a");
			raw_send(raw, &message);
		} else if (what == 1) {
			raw_send(raw, &proof);
		} else {
			/* An own challenge, or the server's one reflected; then the proof. */
			message = raw_make(CHALLENGE, NULL);
			if (what == 3)
				message = challenge;
			raw_send(raw, &message);
			raw_send(raw, &proof);
		}
		EXPECT_EQ(ERROR, raw_next(raw, &message) < 0 ? ERROR : message.bytes[0]);
		ASSERT_EQ(0, files_report(&self->files, &self->report));
		EXPECT_EQ(what < 2 ? -EPROTO : -EKEYREJECTED, self->report.is.error);
		EXPECT_EQ(KRDMA_FILE_NOTHING, self->report.is.operation);
		raw_close(raw);
	}
	/* An unknown flag has a meaning that the server cannot know. */
	self->hello[6] = 4;
	EXPECT_EQ(-ECONNREFUSED, raw_connect(raw, &self->files, self->hello, 16));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	EXPECT_EQ(-EPROTONOSUPPORT, self->report.is.error);
	raw_close(raw);
	EXPECT_EQ(0, get(self, "a"));
}

/*
 * Directories with rules
 */

TEST_F_TIMEOUT(admit, folders_have_rules, 240)
{
	const struct krdma_file_rule rules[] = {
		{ .path = "public", .access = KRDMA_FILE_READ },
		{ .path = "incoming", .access = KRDMA_FILE_WRITE },
		{ .path = "incoming/deep/none", .access = 0 },
	};
	const char *there = self->files.there;
	char path[FILES_PATH], other[FILES_PATH];

	ASSERT_EQ(0, mkdir(files_path(path, there, "public"), 0755));
	ASSERT_EQ(0, mkdir(files_path(path, there, "incoming"), 0755));
	ASSERT_EQ(0, mkdir(files_path(path, there, "incoming/deep"), 0755));
	ASSERT_EQ(0, mkdir(files_path(path, there, "incoming/deep/none"), 0755));
	ASSERT_EQ(0, files_make(there, "public/a", LENGTH, 3));
	ASSERT_EQ(0, files_make(there, "incoming/a", LENGTH, 4));
	ASSERT_EQ(0, files_make(there, "incoming/deep/none/a", LENGTH, 5));
	ASSERT_EQ(0, symlink("../incoming", files_path(path, there, "public/in")));
	ASSERT_EQ(0, symlink("../incoming/a", files_path(path, there, "public/file")));
	ASSERT_EQ(0, symlink("public", files_path(path, there, "out")));
	self->server.rules = rules;
	self->server.rule_count = 3;
	ASSERT_EQ(0, serve(self));
	/* A directory without a rule. */
	EXPECT_EQ(0, get(self, "a"));
	EXPECT_EQ(0, put(self, "a"));

	EXPECT_EQ(0, get(self, "public/a"));
	EXPECT_EQ(-EROFS, put(self, "public/c"));
	EXPECT_EQ(-EROFS, put(self, "out/c"));
	EXPECT_EQ(-EROFS, put(self, "public/a"));
	EXPECT_EQ(-EACCES, get(self, "incoming/a"));
	EXPECT_EQ(-EACCES, get(self, "incoming/deep/nothing"));
	/* The rule applies whichever path leads there. */
	EXPECT_EQ(-EACCES, get(self, "public/in/a"));
	EXPECT_EQ(-EACCES, get(self, "public/file"));
	EXPECT_EQ(-EACCES, get(self, "./incoming//a"));
	EXPECT_EQ(0, put(self, "incoming/new"));
	EXPECT_EQ(0, put(self, "public/in/deep/new"));
	EXPECT_TRUE(files_are(there, "incoming/deep/new", LENGTH, 2));
	EXPECT_EQ(-EACCES, get(self, "incoming/new"));
	/* A file that may not be read is not replaced. */
	EXPECT_EQ(-EEXIST, put(self, "incoming/a"));
	EXPECT_TRUE(files_are(there, "incoming/a", LENGTH, 4));
	EXPECT_EQ(-EROFS, put(self, "incoming/deep/none/c"));
	EXPECT_EQ(-EACCES, get(self, "incoming/deep/none/a"));

	/* The rule applies to a new directory of that name, and still to the renamed one. */
	ASSERT_EQ(0, rename(files_path(path, there, "incoming"),
			    files_path(other, there, "moved")));
	ASSERT_EQ(0, mkdir(path, 0755));
	ASSERT_EQ(0, files_make(there, "incoming/b", LENGTH, 4));
	EXPECT_EQ(-EACCES, get(self, "incoming/b"));
	EXPECT_EQ(-EACCES, get(self, "moved/a"));

	files_stop(&self->files);
	self->server.rule_count = 1;
	self->server.rules = &(struct krdma_file_rule){ .path = "../here", .access = 1 };
	EXPECT_EQ(-EACCES, serve(self));
	self->server.rules = &(struct krdma_file_rule){ .path = "nothing", .access = 1 };
	EXPECT_EQ(-ENOENT, serve(self));
	self->server.rules = &(struct krdma_file_rule){ .path = "public", .access = 4 };
	EXPECT_EQ(-EINVAL, serve(self));
	self->server.rules = NULL;
	EXPECT_EQ(-EINVAL, serve(self));
	self->server.rule_count = 0;
}

/*
 * Special files
 */

TEST_F_TIMEOUT(admit, files_without_a_length_are_what_can_be_read, 120)
{
	const char *name = "/proc/self/limits";
	char proc[4096], got[4096], path[FILES_PATH];
	ssize_t length;
	int fd;

	ASSERT_EQ(0, serve(self));
	ASSERT_EQ(0, krdma_file_put(self->files.session, (struct sockaddr *)&self->files.address,
				    name, "limits", &self->options, &self->result,
				    sizeof(self->result)));
	fd = open(name, O_RDONLY);
	length = read(fd, proc, sizeof(proc));
	close(fd);
	ASSERT_LT(100, length);
	EXPECT_EQ(length, self->result.length);
	fd = open(files_path(path, self->files.there, "limits"), O_RDONLY);
	ASSERT_LE(0, fd);
	EXPECT_EQ(length, read(fd, got, sizeof(got)));
	EXPECT_EQ(0, memcmp(proc, got, length));
	close(fd);
	/* A file whose size exceeds its data, like those of sysfs. */
	EXPECT_EQ(0, krdma_file_put(self->files.session, (struct sockaddr *)&self->files.address,
				    "/sys/kernel/mm/transparent_hugepage/enabled", "sys",
				    &self->options, &self->result, sizeof(self->result)));
	EXPECT_GT(100, self->result.length);
	EXPECT_LT(0, self->result.length);
}

/* Opening a device may rewind a tape or start a watchdog; stat() has no such effect. */
TEST_F_TIMEOUT(admit, devices_are_not_opened, 120)
{
	const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	char path[FILES_PATH];

	ASSERT_LE(0, watch);
	ASSERT_EQ(0, serve(self));
	ASSERT_EQ(0, mknod(files_path(path, self->files.there, "device"), S_IFCHR | 0600,
			   makedev(1, 3)));
	ASSERT_LE(0, inotify_add_watch(watch, path, IN_OPEN));
	EXPECT_EQ(-EOPNOTSUPP, get(self, "device"));
	ASSERT_EQ(0, mknod(files_path(path, self->files.here, "device"), S_IFCHR | 0600,
			   makedev(1, 3)));
	ASSERT_LE(0, inotify_add_watch(watch, path, IN_OPEN));
	EXPECT_EQ(-EOPNOTSUPP, krdma_file_put(self->files.session,
					      (struct sockaddr *)&self->files.address, path, "c",
					      &self->options, &self->result,
					      sizeof(self->result)));
	EXPECT_EQ(-1, read(watch, &event, sizeof(event)));
	EXPECT_EQ(EAGAIN, errno);
	/* Check that an open would have been noticed. */
	close(open(path, O_RDONLY | O_CLOEXEC));
	EXPECT_EQ(sizeof(event), read(watch, &event, sizeof(event)));
	close(watch);
}

TEST_HARNESS_MAIN
