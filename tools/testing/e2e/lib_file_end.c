// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's file transfers: clients and servers that end, many of them at once, and transfers
 * of what is not a regular file.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lib_files.h"
#include "lib_raw.h"
#include "lib_tree.h"
#include "session.h"

#define LENGTH		(2 * 1024 * 1024 + 7)
#define CLIENTS		6

/* Time within which the end of a peer must be noticed. */
#define NOTICED_MS	rounds(500, 5000)

FIXTURE(end)
{
	struct files files;
	struct named_report report;
	struct krdma_file_result result;
	struct krdma_file_options options;
};

FIXTURE_SETUP(end)
{
	ASSERT_EQ(0, files_open(&self->files));
	self->options.size = sizeof(self->options);
	self->options.buffer_size = 4096;
	self->options.buffer_count = 2;
}

FIXTURE_TEARDOWN(end)
{
	EXPECT_EQ(0, files_stop(&self->files));
	files_close(&self->files);
}

static int serve(FIXTURE_DATA(end) * self, uint32_t max_clients)
{
	struct krdma_file_server_options options = {
		.flags = KRDMA_FILE_SERVER_WRITABLE,
		.max_clients = max_clients,
		.max_per_peer = max_clients,
	};

	return files_serve(&self->files, BOOT_ADDRESS, NULL, &options);
}

static int get(FIXTURE_DATA(end) * self, const char *name, const char *as)
{
	return files_get(&self->files, name, as, &self->options, &self->result);
}

/* Retry: an earlier client's place becomes free a little after the server's report. */
static int get_soon(FIXTURE_DATA(end) * self, const char *name, const char *as)
{
	int ret = get(self, name, as);

	for (int i = 0; i < 100 && ret == -EUSERS; i++) {
		sleep_ms(50);
		ret = get(self, name, as);
	}
	return ret;
}

static int put(FIXTURE_DATA(end) * self, const char *file, const char *name)
{
	return files_put(&self->files, file, name, &self->options, &self->result);
}

/*
 * A client that stops in the middle.
 */

/* Report once that the transfer has begun, and do not return. */
static int stay(void *context, const struct krdma_file_progress *progress)
{
	int *pipe = context;

	if (progress->done < LENGTH / 4)
		return 0;
	if (write(*pipe, "x", 1) != 1)
		return -1;
	for (;;)
		pause();
}

struct stayer {
	struct sockaddr_storage address;
	char path[FILES_PATH];
	bool putting;
	int pipe[2];
};

static int stayer_run(void *context)
{
	struct stayer *stayer = context;
	struct krdma_file_options options = {
		.size = sizeof(options),
		.buffer_size = 4096,
		.buffer_count = 2,
		.progress = stay,
		.context = &stayer->pipe[1],
	};
	const struct sockaddr *server = (struct sockaddr *)&stayer->address;
	struct krdma *session;
	int ret = krdma_open(&session);

	if (ret)
		return ret;
	if (stayer->putting)
		return krdma_file_put(session, server, stayer->path, "a", &options, NULL, 0);
	return krdma_file_get(session, server, "a", stayer->path, &options, NULL, 0);
}

/*
 * Start a process that stops in the middle of a copy of "a" as @name.  Returns its ID or -errno.
 * The server has written all that it can to the process's memory.  Otherwise a late write could
 * be refused first, because a killed process loses its memory before its connections.
 */
static pid_t stayer_start(FIXTURE_DATA(end) * self, bool putting, const char *name)
{
	struct stayer stayer = { .address = self->files.address, .putting = putting };
	char byte;
	pid_t pid;

	files_path(stayer.path, self->files.here, name);
	if (pipe(stayer.pipe))
		return -errno;
	pid = child_start(stayer_run, &stayer);
	close(stayer.pipe[1]);
	if (pid > 0 && read(stayer.pipe[0], &byte, 1) != 1) {
		child_kill(pid);
		pid = -EPIPE;
	}
	sleep_ms(rounds(100, 1000));
	close(stayer.pipe[0]);
	return pid;
}

static void expect_reset(struct __test_metadata *_metadata, const struct named_report *report)
{
	EXPECT_EQ(-ECONNRESET, report->is.error);
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, report->is.side);
}

TEST_F_TIMEOUT(end, a_client_that_is_killed_leaves_nothing_at_the_server, 120)
{
	pid_t pid;

	ASSERT_EQ(0, serve(self, 1));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	pid = stayer_start(self, false, "b");
	ASSERT_LT(0, pid);
	ASSERT_LE(0, child_kill(pid));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	expect_reset(_metadata, &self->report);
	/* The only place of the server is free again. */
	EXPECT_EQ(0, get_soon(self, "a", "c"));

	/* The part that the client has left can be used. */
	EXPECT_EQ(1, files_parts(self->files.here, NULL));
	self->options.flags = KRDMA_FILE_CONTINUE;
	EXPECT_EQ(0, get_soon(self, "a", "b"));
	EXPECT_LT(0, self->result.resumed_from);
	EXPECT_TRUE(files_are(self->files.here, "b", LENGTH, 1));
}

TEST_F_TIMEOUT(end, a_client_that_is_killed_while_it_puts_can_go_on, 120)
{
	pid_t pid;

	ASSERT_EQ(0, serve(self, 0));
	ASSERT_EQ(0, files_make(self->files.here, "b", LENGTH, 1));
	pid = stayer_start(self, true, "b");
	ASSERT_LT(0, pid);
	/* No other client can resume the part meanwhile. */
	self->options.flags = KRDMA_FILE_CONTINUE;
	EXPECT_EQ(-EBUSY, put(self, "b", "a"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	ASSERT_LE(0, child_kill(pid));
	ASSERT_EQ(0, files_report(&self->files, &self->report));
	expect_reset(_metadata, &self->report);
	EXPECT_EQ(1, files_parts(self->files.there, NULL));
	EXPECT_FALSE(files_exist(self->files.there, "a"));
	self->options.flags = KRDMA_FILE_CONTINUE;
	EXPECT_EQ(0, put(self, "b", "a"));
	EXPECT_LT(0, self->result.resumed_from);
	EXPECT_TRUE(files_are(self->files.there, "a", LENGTH, 1));
}

/*
 * A server in its own process
 */

static int serve_alone(void *context)
{
	struct stayer *stayer = context;
	struct krdma_file_server_options options = {
		.size = sizeof(options),
		.flags = KRDMA_FILE_SERVER_WRITABLE,
	};
	struct krdma_file_server *server;
	struct sockaddr_storage address;
	struct krdma *session;

	CHECK(!krdma_open(&session));
	CHECK(!krdma_file_server_create(session, (struct sockaddr *)&stayer->address,
					stayer->path, &options, &server));
	CHECK(!krdma_file_server_address(server, &address));
	CHECK(write(stayer->pipe[1], &address, sizeof(address)) == sizeof(address));
	return krdma_file_server_run(server);
}

static pid_t server_start(FIXTURE_DATA(end) * self)
{
	struct stayer stayer = { 0 };
	pid_t pid = -EPIPE;

	address_set((struct __kernel_sockaddr_storage *)&stayer.address, BOOT_ADDRESS, 0);
	snprintf(stayer.path, sizeof(stayer.path), "%s", self->files.there);
	if (pipe(stayer.pipe))
		return -errno;
	pid = child_start(serve_alone, &stayer);
	close(stayer.pipe[1]);
	if (pid > 0 && read(stayer.pipe[0], &self->files.address, sizeof(self->files.address)) !=
	    sizeof(self->files.address)) {
		child_kill(pid);
		pid = -EPIPE;
	}
	close(stayer.pipe[0]);
	return pid;
}

/* The server is killed in the middle, while the client continues. */
struct killer {
	pid_t server;
	uint64_t killed;
};

static int kill_server(void *context, const struct krdma_file_progress *progress)
{
	struct killer *killer = context;

	if (!killer->killed && progress->done >= LENGTH / 4) {
		killer->killed = now_ms();
		child_kill(killer->server);
	}
	return 0;
}

static void lose_server(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self,
			bool putting)
{
	struct killer killer = { .server = server_start(self) };
	int ret;

	ASSERT_LT(0, killer.server);
	self->options.progress = kill_server;
	self->options.context = &killer;
	ret = putting ? put(self, "a", "b") : get(self, "a", "b");
	EXPECT_EQ(-ECONNRESET, ret);
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
	EXPECT_GT(NOTICED_MS, now_ms() - killer.killed);

	killer.server = server_start(self);
	ASSERT_LT(0, killer.server);
	self->options.progress = NULL;
	self->options.flags = KRDMA_FILE_CONTINUE;
	EXPECT_EQ(0, putting ? put(self, "a", "b") : get(self, "a", "b"));
	EXPECT_LT(0, self->result.resumed_from);
	child_kill(killer.server);
}

TEST_F_TIMEOUT(end, a_server_that_is_killed_is_missed_at_once, 120)
{
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	lose_server(_metadata, self, false);
	EXPECT_TRUE(files_are(self->files.here, "b", LENGTH, 1));
}

TEST_F_TIMEOUT(end, what_a_killed_server_has_taken_is_used, 120)
{
	ASSERT_EQ(0, files_make(self->files.here, "a", LENGTH, 1));
	lose_server(_metadata, self, true);
	EXPECT_TRUE(files_are(self->files.there, "b", LENGTH, 1));
}

/* A stopped server sends nothing more. */
TEST_F_TIMEOUT(end, a_server_that_is_stopped_is_waited_for_as_long_as_patience_lasts, 120)
{
	pid_t server = server_start(self);

	ASSERT_LT(0, server);
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	ASSERT_EQ(0, kill(server, SIGSTOP));
	self->options.patience_ms = 2000;
	EXPECT_EQ(-ETIMEDOUT, get(self, "a", "b"));
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
	ASSERT_EQ(0, kill(server, SIGCONT));
	child_kill(server);
}

/*
 * In this process
 */

static int stop_server(void *context, const struct krdma_file_progress *progress)
{
	if (progress->done >= LENGTH / 4)
		krdma_file_server_stop(context);
	return 0;
}

TEST_F_TIMEOUT(end, clients_of_a_server_that_ends_are_told, 120)
{
	ASSERT_EQ(0, serve(self, 0));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	self->options.progress = stop_server;
	self->options.context = self->files.server;
	EXPECT_EQ(-ESHUTDOWN, get(self, "a", "b"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(0, files_stop(&self->files));
	/* There is no listener at the same address now. */
	self->options.progress = NULL;
	EXPECT_EQ(-ECONNREFUSED, get(self, "a", "b"));
	EXPECT_EQ(KRDMA_FILE_SIDE_BETWEEN, self->result.side);
}

/*
 * A server that is stopped while it receives files keeps what it has of them, and nothing else; it
 * removes no part of an earlier run.  Another server goes on from there.
 */
TEST_F_TIMEOUT(end, a_server_that_is_stopped_keeps_what_it_has_taken, 120)
{
	static struct tree before, now;
	char part[FILES_PATH];
	struct raw idle;
	unsigned char hello[HELLO_SHORT];
	uint64_t begun;

	ASSERT_EQ(0, serve(self, 0));
	ASSERT_EQ(0, files_make(self->files.here, "a", LENGTH, 1));
	ASSERT_EQ(0, files_make(self->files.there, "other", 100, 2));
	ASSERT_EQ(0, tree_read(&before, self->files.there));
	/* One client has asked for nothing yet. */
	raw_hello(hello, RAW_VERSION, 0);
	ASSERT_EQ(0, raw_connect(&idle, &self->files, hello, sizeof(hello)));
	self->options.progress = stop_server;
	self->options.context = self->files.server;
	self->options.flags = KRDMA_FILE_PARENTS;
	EXPECT_EQ(-ESHUTDOWN, files_put(&self->files, "a", "new/a", &self->options, &self->result));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	begun = now_ms();
	EXPECT_EQ(0, files_stop(&self->files));
	EXPECT_GT(rounds(5000, 20000), now_ms() - begun);
	raw_close(&idle);

	/* The folder that the client has asked for, and the part. */
	ASSERT_EQ(0, tree_read(&now, self->files.there));
	EXPECT_EQ(before.count + 2, now.count);
	snprintf(part, sizeof(part), "%s/new", self->files.there);
	EXPECT_EQ(1, files_parts(part, part));
	EXPECT_FALSE(files_exist(self->files.there, "new/a"));

	ASSERT_EQ(0, serve(self, 0));
	self->options.progress = NULL;
	EXPECT_EQ(0, files_put(&self->files, "a", "new/b", &self->options, &self->result));
	self->options.flags |= KRDMA_FILE_CONTINUE;
	EXPECT_EQ(0, files_put(&self->files, "a", "new/a", &self->options, &self->result));
	EXPECT_LT(0, self->result.resumed_from);
	EXPECT_TRUE(files_are(self->files.there, "new/a", LENGTH, 1));
	/* The files, and nothing of the part. */
	ASSERT_EQ(0, tree_read(&now, self->files.there));
	EXPECT_EQ(before.count + 3, now.count);
}

struct client {
	FIXTURE_DATA(end) * self;
	unsigned int number;
	pthread_t thread;
	int ret;
};

static void *client_run(void *context)
{
	struct client *client = context;
	struct files *files = &client->self->files;
	struct krdma_file_result result;
	char name[16];

	snprintf(name, sizeof(name), "%u", client->number);
	if (client->number % 2)
		client->ret = files_put(files, name, name, NULL, &result);
	else
		client->ret = files_get(files, name, name, NULL, &result);
	return NULL;
}

TEST_F_TIMEOUT(end, several_clients_are_served_at_once, 240)
{
	struct client clients[CLIENTS];
	char name[16];

	ASSERT_EQ(0, serve(self, CLIENTS));
	for (unsigned int i = 0; i < CLIENTS; i++) {
		snprintf(name, sizeof(name), "%u", i);
		ASSERT_EQ(0, files_make(i % 2 ? self->files.here : self->files.there, name,
					LENGTH, i));
		clients[i] = (struct client){ .self = self, .number = i };
	}
	for (unsigned int i = 0; i < CLIENTS; i++)
		ASSERT_EQ(0, pthread_create(&clients[i].thread, NULL, client_run, &clients[i]));
	for (unsigned int i = 0; i < CLIENTS; i++) {
		pthread_join(clients[i].thread, NULL);
		snprintf(name, sizeof(name), "%u", i);
		EXPECT_EQ(0, clients[i].ret);
		EXPECT_TRUE(files_are(i % 2 ? self->files.there : self->files.here, name, LENGTH,
				      i));
	}
}

TEST_F_TIMEOUT(end, there_are_no_more_clients_than_allowed, 120)
{
	pid_t pid;

	ASSERT_EQ(0, serve(self, 1));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	pid = stayer_start(self, false, "b");
	ASSERT_LT(0, pid);
	EXPECT_EQ(-EUSERS, get(self, "a", "c"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	child_kill(pid);
}

/* A copy of a file that changes meanwhile is discarded, at whichever end it changes. */
struct changer {
	const char *folder;
	bool done;
};

static int change(void *context, const struct krdma_file_progress *progress)
{
	struct changer *changer = context;

	if (!changer->done && progress->done >= LENGTH / 4) {
		changer->done = true;
		sleep_ms(20);
		if (files_write(changer->folder, "a", 0, "changed", 7))
			return 1;
	}
	return 0;
}

TEST_F_TIMEOUT(end, a_source_that_changes_is_noticed, 120)
{
	struct changer changer = { .folder = self->files.there };

	ASSERT_EQ(0, serve(self, 0));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	self->options.progress = change;
	self->options.context = &changer;
	EXPECT_EQ(-ESTALE, get(self, "a", "b"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_FALSE(files_exist(self->files.here, "b"));

	changer = (struct changer){ .folder = self->files.here };
	ASSERT_EQ(0, files_make(self->files.here, "a", LENGTH, 1));
	EXPECT_EQ(-ESTALE, put(self, "a", "c"));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	EXPECT_FALSE(files_exist(self->files.there, "c"));
}

/*
 * Streams
 */

struct reader {
	int fd;
	size_t most;
	size_t length;
	unsigned char *data;
	pthread_t thread;
};

static void *reader_run(void *context)
{
	struct reader *reader = context;
	ssize_t got;

	do {
		got = read(reader->fd, reader->data + reader->length,
			   reader->most - reader->length);
		reader->length += got > 0 ? got : 0;
	} while (got > 0);
	close(reader->fd);
	return NULL;
}

static int get_stream(FIXTURE_DATA(end) * self, const char *name, struct reader *reader)
{
	int ends[2], ret;

	if (pipe(ends))
		return -errno;
	reader->fd = ends[0];
	ret = -pthread_create(&reader->thread, NULL, reader_run, reader);
	if (ret)
		return ret;
	ret = krdma_file_get_fd(self->files.session, (struct sockaddr *)&self->files.address,
				name, ends[1], &self->options, &self->result,
				sizeof(self->result));
	close(ends[1]);
	pthread_join(reader->thread, NULL);
	return ret;
}

TEST_F_TIMEOUT(end, a_file_goes_into_a_pipe, 120)
{
	struct reader reader = { .most = LENGTH + 1, .data = calloc(1, LENGTH + 1) };
	char path[FILES_PATH];

	ASSERT_NE(NULL, reader.data);
	ASSERT_EQ(0, serve(self, 0));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	ASSERT_EQ(0, get_stream(self, "a", &reader));
	EXPECT_EQ(LENGTH, reader.length);
	EXPECT_TRUE(filled(reader.data, LENGTH, 1));

	/* Holes arrive as zeroes. */
	ASSERT_EQ(0, files_write(self->files.there, "b", 0, "", 0));
	ASSERT_EQ(0, truncate(files_path(path, self->files.there, "b"), LENGTH));
	reader.length = 0;
	ASSERT_EQ(0, get_stream(self, "b", &reader));
	EXPECT_EQ(LENGTH, reader.length);
	EXPECT_EQ(0, self->result.transferred);
	EXPECT_TRUE(zeroed(reader.data, LENGTH));
	self->options.flags = KRDMA_FILE_CONTINUE;
	EXPECT_EQ(-EINVAL, get_stream(self, "a", &reader));
	free(reader.data);
}

TEST_F_TIMEOUT(end, a_pipe_without_a_reader_is_noticed, 120)
{
	struct reader reader = { .most = 1000, .data = calloc(1, 1000) };

	ASSERT_NE(NULL, reader.data);
	signal(SIGPIPE, SIG_IGN);
	ASSERT_EQ(0, serve(self, 0));
	ASSERT_EQ(0, files_make(self->files.there, "a", LENGTH, 1));
	EXPECT_EQ(-EPIPE, get_stream(self, "a", &reader));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	free(reader.data);
}

/*
 * Little memory
 */

struct poor {
	FIXTURE_DATA(end) * self;
	rlim_t limit;
	int ret;
};

static int poor_run(void *context)
{
	struct poor *poor = context;
	struct rlimit limit = { poor->limit, poor->limit };
	struct krdma_file_result result;

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
	CHECK(!child_become(SOME_USER));
	CHECK(files_get(&poor->self->files, "a", "b", NULL, &result) == poor->ret);
	return 0;
}

TEST_F_TIMEOUT(end, with_little_memory_buffers_are_small, 120)
{
	struct poor poor = { .self = self, .limit = 1 << 20 };

	ASSERT_EQ(0, serve(self, 0));
	ASSERT_EQ(0, files_make(self->files.there, "a", 3 * LENGTH, 1));
	ASSERT_EQ(0, chmod(self->files.top, 0755));
	ASSERT_EQ(0, chmod(self->files.here, 0777));
	EXPECT_EQ(0, child_run(poor_run, &poor));
	EXPECT_TRUE(files_are(self->files.here, "b", 3 * LENGTH, 1));
	poor = (struct poor){ .self = self, .limit = 4096, .ret = -ENOMEM };
	EXPECT_EQ(0, child_run(poor_run, &poor));
}

/* A device that does not exist, wrong addresses, and invalid arguments. */
TEST_F(end, what_cannot_be_is_refused)
{
	struct krdma_file_server_options options = { .max_clients = 100000 };
	struct krdma_file_server *server;
	struct sockaddr *address = (struct sockaddr *)&self->files.address;

	EXPECT_EQ(-EINVAL, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
	options = (struct krdma_file_server_options){ .flags = 1u << 31 };
	EXPECT_EQ(-EOPNOTSUPP, files_serve(&self->files, BOOT_ADDRESS, NULL, &options));
	EXPECT_EQ(-ENOENT, files_serve(&self->files, BOOT_ADDRESS, "/nothing", NULL));
	EXPECT_EQ(-EOPNOTSUPP, files_serve(&self->files, BOOT_ADDRESS, "/dev/null", NULL));
	EXPECT_EQ(-EADDRNOTAVAIL, files_serve(&self->files, "10.99.0.1", NULL, NULL));
	EXPECT_EQ(-EINVAL, krdma_file_server_create(self->files.session, NULL, "/", NULL, &server));
	EXPECT_EQ(-EINVAL, krdma_file_server_run(NULL));
	EXPECT_EQ(-EINVAL, krdma_file_server_stop(NULL));
	krdma_file_server_destroy(NULL);

	ASSERT_EQ(0, files_serve(&self->files, BOOT_ADDRESS_6, NULL, NULL));
	ASSERT_EQ(0, files_make(self->files.there, "a", 100, 1));
	EXPECT_EQ(0, get(self, "a", "b"));
	EXPECT_TRUE(files_are(self->files.here, "b", 100, 1));
	EXPECT_EQ(-EROFS, put(self, "b", "c"));
	EXPECT_EQ(KRDMA_FILE_SIDE_PEER, self->result.side);
	EXPECT_EQ(-ENOENT, put(self, "nothing", "c"));
	EXPECT_EQ(KRDMA_FILE_SIDE_HERE, self->result.side);
	self->options.buffer_size = 100;
	EXPECT_EQ(-EINVAL, get(self, "a", "b"));
	self->options.buffer_size = 0;
	self->options.flags = 1u << 31;
	EXPECT_EQ(-EOPNOTSUPP, get(self, "a", "b"));
	self->options.flags = 0;
	EXPECT_EQ(-EINVAL, krdma_file_get(NULL, address, "a", "b", NULL, NULL, 0));
	EXPECT_EQ(-EINVAL, krdma_file_get(self->files.session, address, "a", NULL, NULL, NULL, 0));
	EXPECT_EQ(-EINVAL, krdma_file_get(self->files.session, address, "a", "b", NULL,
					  &self->result, 8));
}

TEST_HARNESS_MAIN
