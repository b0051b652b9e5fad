// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of a user: those of the module, and those of file descriptors.
 *
 * The user that runs the tests is exempt, so other users do what is limited.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define PARAMETERS	"/sys/module/krdma/parameters/"
#define MIB		(1024UL * 1024)

/*
 * A user ID for each line that uses this: objects of an earlier test's user may be destroyed in
 * the background, and count against that user until then.
 */
#define LINE_USER	(10000 + __LINE__)

static const char *const parameters[] = { "max_sessions", "max_objects", "max_memory_mb" };

static int set_parameter(const char *name, unsigned int value)
{
	char path[128];
	FILE *file;
	int ret;

	snprintf(path, sizeof(path), PARAMETERS "%s", name);
	file = fopen(path, "we");
	if (!file)
		return -errno;
	ret = fprintf(file, "%u\n", value) < 0 ? -EIO : 0;
	return fclose(file) ? -errno : ret;
}

FIXTURE(limits)
{
	struct resources before;
	unsigned int saved[ARRAY_SIZE(parameters)];
	mode_t mode;
};

FIXTURE_SETUP(limits)
{
	struct stat status;
	char line[32];

	ASSERT_EQ(0, resources_read(&self->before));
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++) {
		ASSERT_EQ(0, read_line(line, sizeof(line), PARAMETERS "%s", parameters[i]));
		self->saved[i] = strtoul(line, NULL, 10);
	}
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	self->mode = status.st_mode;
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
}

FIXTURE_TEARDOWN(limits)
{
	chmod(SESSION_PATH, self->mode & 07777);
	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++)
		EXPECT_EQ(0, set_parameter(parameters[i], self->saved[i]));
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

TEST_F(limits, defaults)
{
	EXPECT_EQ(1024, self->saved[0]);
	EXPECT_EQ(65536, self->saved[1]);
	EXPECT_EQ(0, self->saved[2]);
}

/*
 * Sessions
 */

static int some_sessions(void *context)
{
	const int *limit = context;
	int sessions[16];

	for (int i = 0; i < *limit; i++) {
		sessions[i] = session_open(O_CLOEXEC);
		CHECK(sessions[i] >= 0);
	}
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	if (!*limit)
		return 0;
	close(sessions[0]);
	sessions[0] = session_open(O_CLOEXEC);
	CHECK(sessions[0] >= 0);
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	return 0;
}

/* While one user is at the limit, another user reaches it, too. */
static int sessions_beside(void *context)
{
	int session = session_open(O_CLOEXEC);

	CHECK(session >= 0);
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	return child_run(context, NULL);
}

static int sessions_of_another(void *context)
{
	(void)context;
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	return 0;
}

/* Proves: F6 */
TEST_F(limits, sessions)
{
	for (int limit = 0; limit < 5; limit++) {
		ASSERT_EQ(0, set_parameter("max_sessions", limit));
		EXPECT_EQ(0, child_run_as(LINE_USER, some_sessions, &limit));
		EXPECT_EQ(0, child_run_as(LINE_USER, some_sessions, &limit));
	}
	/* Processes of a user share the user's limit. */
	ASSERT_EQ(0, set_parameter("max_sessions", 1));
	EXPECT_EQ(0, child_run_as(SOME_USER, sessions_beside, sessions_of_another));
}

TEST_F(limits, users_do_not_count_for_one_another)
{
	int limit = 2;
	int channel[2];
	pid_t pid;

	ASSERT_EQ(0, set_parameter("max_sessions", limit));
	ASSERT_EQ(0, pipe(channel));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(channel[1]);
		if (child_become(SOME_USER) || session_open(0) < 0 || session_open(0) < 0)
			_exit(1);
		/* Blocks until the test closes the pipe. */
		_exit(read(channel[0], &limit, 1));
	}
	close(channel[0]);
	EXPECT_EQ(0, child_run_as(LINE_USER, some_sessions, &limit));
	close(channel[1]);
	waitpid(pid, NULL, 0);
}

TEST_F(limits, who_may_exceed_them)
{
	int sessions[8];

	ASSERT_EQ(0, set_parameter("max_sessions", 2));
	for (int i = 0; i < 8; i++) {
		sessions[i] = session_open(O_CLOEXEC);
		EXPECT_LE(0, sessions[i]);
	}
	for (int i = 0; i < 8; i++)
		close(sessions[i]);
}

/*
 * Objects
 */

static int make_conn(int session, uint32_t device)
{
	int fd;
	int ret = conn_create(session, &fd, NULL);

	(void)device;
	return ret ? ret : fd;
}

static int make_listener(int session, uint32_t device)
{
	int fd;
	int ret = listener_open(session, BOOT_ADDRESS, 0, 0, &fd, NULL);

	(void)device;
	return ret ? ret : fd;
}

static int make_queue(int session, uint32_t device)
{
	struct krdma_ring_create_args create = { .size = sizeof(create), .device_id = device };
	int ret = session_request(session, KRDMA_RING_CREATE, &create);

	return ret ? ret : create.fd;
}

static int make_unbound_queue(int session, uint32_t device)
{
	(void)device;
	return make_queue(session, 0);
}

static int (*const makers[])(int session, uint32_t device) = {
	make_conn, make_listener, make_queue, make_unbound_queue,
};

/* Create objects until one is refused; the rest of @fds is -1. */
static int fill_objects(int session, uint32_t device, int *fds, int room)
{
	int count;

	for (count = 0; count < room; count++) {
		fds[count] = makers[count % ARRAY_SIZE(makers)](session, device);
		if (fds[count] < 0)
			return fds[count] == -EDQUOT ? count : fds[count];
	}
	return count;
}

/* Retry: objects destroyed in the background are uncharged a little later. */
static int make_soon(int maker, int session, uint32_t device)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;
	int fd;

	while ((fd = makers[maker](session, device)) == -EDQUOT && now_ms() < deadline)
		sleep_ms(1);
	return fd;
}

static int some_objects(void *context)
{
	const int *limit = context;
	int sessions[2], fds[16];
	uint32_t device;
	int session;

	for (int i = 0; i < 2; i++) {
		sessions[i] = session_open(O_CLOEXEC);
		CHECK(sessions[i] >= 0);
	}
	session = sessions[0];
	CHECK(!boot_device(session, &device));
	CHECK(fill_objects(session, device, fds, 16) == *limit);
	/* Objects of any kind, in any session, count. */
	for (size_t maker = 0; maker < ARRAY_SIZE(makers); maker++)
		for (int i = 0; i < 2; i++)
			CHECK(makers[maker](sessions[i], device) == -EDQUOT);
	for (int i = 0; i < *limit; i++) {
		close(fds[i]);
		fds[i] = make_soon(i % ARRAY_SIZE(makers), sessions[1], device);
		CHECK(fds[i] >= 0);
		CHECK(makers[i % ARRAY_SIZE(makers)](session, device) == -EDQUOT);
	}
	return 0;
}

/* Proves: F6 */
TEST_F(limits, objects)
{
	for (int limit = 0; limit < 10; limit += 3) {
		ASSERT_EQ(0, set_parameter("max_objects", limit));
		EXPECT_EQ(0, child_run_as(LINE_USER + limit * 1000, some_objects, &limit));
	}
}

/* No file descriptor is available: the new object is destroyed again and uncharged. */
static int no_descriptors(void *context)
{
	struct rlimit limit, none;
	uint32_t device;
	int session, fd;

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	none = limit;
	none.rlim_cur = session + 1;
	for (int i = 0; i < 20; i++) {
		for (size_t maker = 0; maker < ARRAY_SIZE(makers); maker++) {
			CHECK(!setrlimit(RLIMIT_NOFILE, &none));
			CHECK(makers[maker](session, device) == -EMFILE);
			CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
		}
	}
	for (size_t maker = 0; maker < ARRAY_SIZE(makers); maker++) {
		fd = make_soon(maker, session, device);
		CHECK(fd >= 0);
		close(fd);
	}
	return 0;
}

TEST_F(limits, descriptors)
{
	ASSERT_EQ(0, set_parameter("max_objects", 1));
	EXPECT_EQ(0, child_run_as(LINE_USER, no_descriptors, NULL));
}

/* The limits change while a child uses them. */
struct change {
	int to_child[2];
	int to_test[2];
};

/* The test and its child take turns: each writes a byte for the other. */
static int say(int fd)
{
	return write(fd, "", 1) == 1 ? 0 : -errno;
}

static int hear(int fd)
{
	char word;

	return read(fd, &word, 1) == 1 ? 0 : -ECONNRESET;
}

static int use_while_it_changes(void *context)
{
	const struct change *change = context;
	struct mr mr, more;
	int session, conn, fd;
	uint32_t device, id;

	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!mr_create(session, device, MIB, ACCESS_ALL, &mr));
	CHECK(!conn_create(session, &conn, &id));
	CHECK(!say(change->to_test[1]) && !hear(change->to_child[0]));

	/* A limit below the current count: objects remain and work, new ones are refused. */
	CHECK(conn_create(session, &fd, &id) == -EDQUOT);
	CHECK(mr_create(session, device, 1, ACCESS_ALL, &more) == -EDQUOT);
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	CHECK(conn_disconnect(conn, 0) == -ENOTCONN);
	CHECK(!say(change->to_test[1]) && !hear(change->to_child[0]));

	CHECK(!conn_create(session, &fd, &id));
	CHECK(!mr_create(session, device, 1, ACCESS_ALL, &more));
	CHECK(session_open(O_CLOEXEC) >= 0);
	CHECK(!mr_deregister(session, mr.id, 0));
	return say(change->to_test[1]);
}

static void *change_limits(void *context)
{
	const struct change *change = context;
	uintptr_t ret = 0;

	for (unsigned int step = 0; step < 2; step++) {
		ret |= hear(change->to_test[0]);
		ret |= set_parameter("max_objects", step * 2);
		ret |= set_parameter("max_memory_mb", 1 + step);
		ret |= set_parameter("max_sessions", step * 2);
		ret |= say(change->to_child[1]);
	}
	return (void *)ret;
}

TEST_F(limits, they_can_be_changed_at_any_time)
{
	struct change change;
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pipe(change.to_child));
	ASSERT_EQ(0, pipe(change.to_test));
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_limits, &change));
	EXPECT_EQ(0, child_run_as(LINE_USER, use_while_it_changes, &change));
	/* In case the child ended early. */
	say(change.to_test[1]);
	say(change.to_test[1]);
	pthread_join(thread, &ret);
	EXPECT_TRUE(!ret);
	for (int i = 0; i < 2; i++) {
		close(change.to_child[i]);
		close(change.to_test[i]);
	}
}

/* Of many threads that create objects at the same time, no more than the limit succeed. */
struct crowd {
	int session;
	uint32_t device;
	pthread_barrier_t barrier;
	int made;
	int refused;
	int other;
};

static void *crowd_make(void *context)
{
	struct crowd *crowd = context;

	pthread_barrier_wait(&crowd->barrier);
	for (int i = 0; i < 8; i++) {
		int fd = make_conn(crowd->session, crowd->device);

		if (fd >= 0)
			__atomic_add_fetch(&crowd->made, 1, __ATOMIC_RELAXED);
		else if (fd == -EDQUOT)
			__atomic_add_fetch(&crowd->refused, 1, __ATOMIC_RELAXED);
		else
			__atomic_add_fetch(&crowd->other, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int crowded(void *context)
{
	const int *limit = context;
	struct crowd crowd = {};
	pthread_t threads[4];

	crowd.session = session_open(O_CLOEXEC);
	CHECK(crowd.session >= 0);
	CHECK(!boot_device(crowd.session, &crowd.device));
	CHECK(!pthread_barrier_init(&crowd.barrier, NULL, 4));
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, crowd_make, &crowd));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(!crowd.other);
	CHECK(crowd.made == *limit);
	CHECK(crowd.refused == 32 - *limit);
	return 0;
}

TEST_F(limits, a_crowd_gets_no_more)
{
	for (unsigned int round = 0; round < rounds(40, 8); round++) {
		int limit = 1 + round % 30;

		ASSERT_EQ(0, set_parameter("max_objects", limit));
		EXPECT_EQ(0, child_run_as(LINE_USER + round * 1000, crowded, &limit));
	}
}

/* The user that opened the session is charged, whichever user uses it. */
struct lent {
	int session;
	int error;
};

static int use_lent(void *context)
{
	const struct lent *lent = context;
	int fd;

	CHECK(conn_create(lent->session, &fd, NULL) == lent->error);
	return 0;
}

static int lend(void *context)
{
	struct lent lent = { .error = -EDQUOT };
	int fd;

	(void)context;
	/* Opened as one user, and used as another user that has no objects. */
	CHECK(!seteuid(0));
	CHECK(!setresuid(SOME_USER, 0, 0));
	lent.session = session_open(O_CLOEXEC);
	CHECK(lent.session >= 0);
	/* The limit is 2, and the user that creates the third object is exempt. */
	CHECK(!conn_create(lent.session, &fd, NULL));
	CHECK(!child_run_as(OTHER_USER, use_lent, &(struct lent){ lent.session, 0 }));
	CHECK(!conn_create(lent.session, &fd, NULL));
	CHECK(!conn_create(lent.session, &fd, NULL));
	CHECK(!child_run_as(OTHER_USER, use_lent, &lent));
	CHECK(!child_run_as(SOME_USER, use_lent, &lent));
	return 0;
}

TEST_F(limits, the_opener_is_charged)
{
	ASSERT_EQ(0, set_parameter("max_objects", 2));
	EXPECT_EQ(0, child_run(lend, NULL));
}

/*
 * Peers use up a server's limit, then give up.  Afterwards another peer can connect.
 */

#define VISITORS	8
#define VISITS		3
/* The server's limit allows a listener, a ring, and this many connections. */
#define VISITORS_MAX	4

struct visit {
	struct change words;
	struct __kernel_sockaddr_storage address;
};

/* Retry: a closed connection counts until its teardown is complete. */
static int next_soon(int listener, int *fd)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;
	int ret;

	while ((ret = listener_next(listener, deadline_in(PATIENCE_MS), fd, NULL)) == -EDQUOT &&
	       now_ms() < deadline)
		sleep_ms(1);
	return ret;
}

/* Private data of the visitor that stays. */
static const char honest[] = "honest";

static int is_honest(int conn)
{
	struct krdma_conn_query_args query;
	char asked[256] = "";
	int ret = conn_query(conn, asked, sizeof(asked), &query);

	if (!ret && memcmp(asked, honest, sizeof(honest)))
		ret = -EAGAIN;
	return ret;
}

static int host_one(int session, int listener, struct ring *ring)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;
	struct end server;
	int ret;

	/*
	 * An earlier peer may remain: the connection manager can miss that it gave up.  One that is
	 * about to give up can even be accepted.
	 */
	do {
		end_init(&server, session);
		ret = next_soon(listener, &server.conn);
		if (!ret)
			ret = is_honest(server.conn);
		if (!ret)
			ret = end_create_qp(&server, &(struct end_options){ .ring = ring });
		if (!ret)
			ret = end_accept(&server, NULL);
		if (!ret)
			ret = conn_wait(server.conn, deadline_in(2000), NULL);
		end_close(&server);
	} while (ret && now_ms() < deadline);
	return ret;
}

static int host_visitors(void *context)
{
	struct visit *visit = context;
	int session, listener, fds[VISITORS];
	struct ring ring;

	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!listener_open(session, BOOT_ADDRESS, 0, 0, &listener, &visit->address));
	CHECK(!ring_create(session, NULL, &ring));
	for (int i = 0; i < VISITS; i++) {
		CHECK(!say(visit->words.to_test[1]) && !hear(visit->words.to_child[0]));
		for (int j = 0; j < VISITORS_MAX; j++)
			CHECK(!next_soon(listener, &fds[j]));
		/* At the limit, the peers that wait keep waiting. */
		CHECK(poll_mask(listener, POLLIN, PATIENCE_MS) == POLLIN);
		CHECK(listener_next(listener, deadline_in(100), &fds[VISITORS_MAX], NULL) ==
		      -EDQUOT);
		CHECK(!say(visit->words.to_test[1]) && !hear(visit->words.to_child[0]));
		for (int j = 0; j < VISITORS_MAX; j++) {
			conn_await_closed(fds[j], 1000);
			close(fds[j]);
		}
	}
	CHECK(!say(visit->words.to_test[1]));
	CHECK(!host_one(session, listener, &ring));
	return 0;
}

static int visit_honestly(int session, const struct __kernel_sockaddr_storage *address)
{
	const struct end_options options = {
		.param.private_data = (uintptr_t)honest,
		.param.private_data_len = sizeof(honest),
	};
	struct end client;
	int ret = end_ask(&client, session, address, &options);

	if (!ret)
		ret = conn_wait(client.conn, deadline_in(PATIENCE_MS), NULL);
	/* The server ends the connection, perhaps before this process checks. */
	if (!ret || ret == -EPIPE)
		ret = conn_await_closed(client.conn, PATIENCE_MS);
	end_close(&client);
	return ret;
}

static void *come_and_go(void *context)
{
	struct visit *visit = context;
	struct end visitors[VISITORS];
	int session = session_open(O_CLOEXEC);
	intptr_t ret = session < 0 ? session : 0;

	for (int i = 0; i < VISITS && !ret; i++) {
		ret = hear(visit->words.to_test[0]);
		for (int j = 0; j < VISITORS; j++) {
			end_init(&visitors[j], session);
			if (!ret)
				ret = end_ask(&visitors[j], session, &visit->address, NULL);
		}
		say(visit->words.to_child[1]);
		if (!ret)
			ret = hear(visit->words.to_test[0]);
		for (int j = 0; j < VISITORS; j++)
			end_close(&visitors[j]);
		say(visit->words.to_child[1]);
	}
	if (!ret)
		ret = hear(visit->words.to_test[0]);
	if (!ret)
		ret = visit_honestly(session, &visit->address);
	close(session);
	return (void *)ret;
}

TEST_F(limits, peers_that_give_up_give_back_what_they_had)
{
	struct visit *visit;
	pthread_t thread;
	void *ret;

	visit = mmap(NULL, sizeof(*visit), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, visit);
	ASSERT_EQ(0, set_parameter("max_objects", 2 + VISITORS_MAX));
	ASSERT_EQ(0, pipe(visit->words.to_child));
	ASSERT_EQ(0, pipe(visit->words.to_test));
	ASSERT_EQ(0, pthread_create(&thread, NULL, come_and_go, visit));
	EXPECT_EQ(0, child_run_as(LINE_USER, host_visitors, visit));
	/* In case the child ended early. */
	for (int i = 0; i < 2 * VISITS + 1; i++)
		say(visit->words.to_test[1]);
	pthread_join(thread, &ret);
	EXPECT_EQ(0, (intptr_t)ret);
	for (int i = 0; i < 2; i++) {
		close(visit->words.to_child[i]);
		close(visit->words.to_test[i]);
	}
	munmap(visit, sizeof(*visit));
}

/*
 * Thousands
 */

static int many_objects(void *context)
{
	const unsigned int *count = context;
	struct rlimit limit = { .rlim_cur = *count + 64, .rlim_max = *count + 64 };
	unsigned char *data;
	struct mr mr;
	int session, fd;
	uint32_t device;

	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	for (unsigned int i = 0; i < *count; i++) {
		fd = i % 8 ? make_conn(session, device) : make_unbound_queue(session, device);
		CHECK(fd >= 0);
	}
	data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(data != MAP_FAILED);
	for (unsigned int i = 0; i < *count; i++)
		CHECK(!mr_register(session, device, data, 4096, ACCESS_ALL, &mr));
	/* The exit of the process closes all of them. */
	return 0;
}

TEST_F(limits, thousands)
{
	unsigned int count = rounds(4000, 400);

	EXPECT_EQ(0, child_run(many_objects, &count));
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

/*
 * File descriptors: each object takes one.  A ring has entries for a limited number of SRQ
 * receives.
 */

/* Number of open files of this process, without the directory that is read for it. */
static unsigned int open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	/* Nor the entries "." and "..". */
	return count - 3;
}

static int make_srq(const struct pair *pair)
{
	struct krdma_srq_create_args create = { .size = sizeof(create), .ring_fd = pair->a.ring->fd,
					   .depth = 1 };
	int ret = session_request(pair->sessions[0], KRDMA_SRQ_CREATE, &create);

	return ret ? ret : create.fd;
}

#define SRQS	ARRAY_SIZE(makers)

static int make_kind(const struct pair *pair, size_t kind)
{
	return kind == SRQS ? make_srq(pair) : makers[kind](pair->sessions[0], pair->device);
}

/* Free entries of the ring's CQ: a connection takes its depths, and those of krdma's own WQEs. */
static unsigned int room_beside(const struct end *end)
{
	struct krdma_conn_query_args query;

	if (conn_query(end->conn, NULL, 0, &query))
		return 0;
	return end->ring->cq_entries - query.send_depth - query.recv_depth - KRDMA_RING_EXTRA;
}

TEST_F_TIMEOUT(limits, thousands_of_one_kind_until_it_is_enough, 300)
{
	unsigned int most = rounds(1500, 150), others;
	const struct rlimit limit = { most, most };
	int *fds = calloc(most, sizeof(*fds));
	struct pair pair;

	ASSERT_TRUE(!!fds);
	ASSERT_EQ(0, pair_open(&pair, NULL));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	others = open_files();
	for (size_t kind = 0; kind <= SRQS; kind++) {
		unsigned int count = 0;
		int fd = 0;

		while (count < most) {
			fd = make_kind(&pair, kind);
			if (fd < 0)
				break;
			fds[count++] = fd;
		}
		EXPECT_EQ(kind == SRQS ? -ENOSPC : -EMFILE, fd) {
			TH_LOG("kind %zu: %s after %u", kind, strerror(-fd), count);
		}
		EXPECT_EQ(kind == SRQS ? room_beside(&pair.a) : most - others, count);
		while (count)
			close(fds[--count]);
		/* There is space again, at the latest when the closed object is destroyed. */
		for (uint64_t end = now_ms() + PATIENCE_MS;
		     (fd = make_kind(&pair, kind)) < 0 && now_ms() < end;)
			sleep_ms(20);
		EXPECT_LE(0, fd);
		close(fd);
	}
	pair_close(&pair);
	free(fds);
}

TEST_HARNESS_MAIN
