// SPDX-License-Identifier: GPL-2.0
/*
 * Each allocation of each call fails once, and each copy from and to the program:
 * the first, then the second, until the call makes no further one.  The call then
 * fails with ENOMEM or EFAULT and leaves nothing behind; the kernel log and the
 * scan for leaks prove that.
 *
 * Loading the module is not covered: the kernel's tracing warns when one of its
 * own allocations for a module's tracepoints fails.
 *
 * Needs the kernel's fault injection (/proc/self/fail-nth).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include <sys/mman.h>

#include "kselftest_harness.h"
#include "lane_pair.h"
#include "resources.h"
#include "session.h"

/* More allocations and copies than any one call makes. */
#define MOST_FAILURES	500

#define GONE_MS		30000

/* The name of memory for lanes. */
#define MR_NAME		"memory"

FIXTURE(fail_nth)
{
	int control;
};

static int write_setting(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

FIXTURE_SETUP(fail_nth)
{
	self->control = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	if (self->control < 0)
		SKIP(return, "this kernel has no fault injection (/proc/self/fail-nth)");
	/* By default, allocations that may sleep do not fail. */
	ASSERT_EQ(0, write_setting("/sys/kernel/debug/failslab/ignore-gfp-wait", "N"));
	ASSERT_EQ(0, write_setting("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N"));
	ASSERT_EQ(0, write_setting("/sys/kernel/debug/fail_usercopy/verbose", "0"));
	/* A trace of each would bury what matters in the kernel log. */
	ASSERT_EQ(0, write_setting("/sys/kernel/debug/failslab/verbose", "0"));
	ASSERT_EQ(0, write_setting("/sys/kernel/debug/fail_page_alloc/verbose", "0"));
}

FIXTURE_TEARDOWN(fail_nth)
{
	close(self->control);
}

static int arm(int control, unsigned int nth)
{
	char number[16];
	int length = snprintf(number, sizeof(number), "%u", nth);

	return pwrite(control, number, length, 0) == length ? 0 : -errno;
}

/* Disarms the failure; true if it has been injected. */
static bool has_failed(int control)
{
	char number[16] = "";
	bool failed = pread(control, number, sizeof(number) - 1, 0) > 0 && atoi(number) == 0;

	arm(control, 0);
	return failed;
}

/* One of the calls below; returns 0 or -errno. */
typedef int call(int session);

/*
 * Returns the number of failures injected into the call, if it returned 0, -ENOMEM,
 * -EFAULT or @other_error for each; otherwise the first other errno, negative.
 */
static int sweep(int control, int session, call *call, int other_error)
{
	for (unsigned int nth = 1; nth < MOST_FAILURES; nth++) {
		bool failed;
		int ret;

		if (arm(control, nth))
			return -EIO;
		ret = call(session);
		failed = has_failed(control);
		if (!failed)
			return ret ? ret : (int)nth - 1;
		/* The call may succeed: it can do without some allocations. */
		if (ret && ret != -ENOMEM && ret != -EFAULT && ret != other_error)
			return ret;
	}
	return -E2BIG;
}

static int call_open(int unused)
{
	int session = session_open(O_CLOEXEC);

	(void)unused;
	if (session < 0)
		return session;
	close(session);
	return 0;
}

static int call_info(int session)
{
	struct krdma_info_args info;

	return session_info(session, &info);
}

static int call_device(int session)
{
	struct krdma_device_query_args device;

	return session_named(session, BOOT_DEVICE, &device);
}

static int call_port(int session)
{
	struct krdma_device_query_args device;
	struct krdma_port_query_args port;
	int ret = session_named(session, BOOT_DEVICE, &device);

	return ret ? ret : session_port(session, device.id, 1, &port);
}

/* Proves: E12 (e2e-debug) */
TEST_F_TIMEOUT(fail_nth, open_a_session, 120)
{
	/* At least the file, its path and the session are allocated. */
	EXPECT_LE(1, sweep(self->control, -1, call_open, -ENFILE));
}

/* Proves: E12 (e2e-debug) */
TEST_F_TIMEOUT(fail_nth, requests, 120)
{
	int session = session_open(O_CLOEXEC);

	ASSERT_LE(0, session);
	/* At least the structure is copied in and out. */
	EXPECT_LE(2, sweep(self->control, session, call_info, 0));
	EXPECT_LE(2, sweep(self->control, session, call_device, 0));
	EXPECT_LE(4, sweep(self->control, session, call_port, 0));
	close(session);
}

/*
 * Calls that need objects, or change or create them.  The objects are created again for each
 * failure, by calls without fault injection.
 */

/* Objects that the steps use. */
struct context {
	struct pair pair;
	struct mr mr;
	struct ring ring;
	struct krdma_cqe cqe;
	int fd;
};

/**
 * struct step - one call
 * @name: for messages
 * @prepare: creates the objects that the call needs
 * @call: the call; returns 0 or -errno
 * @over: a failure can end the object, so the call is not repeated
 * @other_error: negative errno that the call may return besides -ENOMEM and -EFAULT
 * @done: negative errno of the repeated call if only the first call's result could not be written
 * @least: minimum number of failures that the call must meet
 */
struct step {
	const char *name;
	int (*prepare)(struct context *context);
	int (*call)(struct context *context);
	bool over;
	int other_error;
	int done;
	int least;
};

static int nothing(struct context *context)
{
	return pair_begin(&context->pair, NULL);
}

static int created(struct context *context)
{
	int ret = pair_begin(&context->pair, NULL);

	return ret ? ret : conn_create(context->pair.sessions[0], &context->pair.a.conn,
				       &context->pair.a.id);
}

static int resolved(struct context *context)
{
	int ret = pair_begin(&context->pair, NULL);

	return ret ? ret : pair_resolve(&context->pair);
}

static int queue_there(struct context *context)
{
	int ret = pair_begin(&context->pair, NULL);

	return ret ? ret : ring_create(context->pair.sessions[0], NULL, &context->ring);
}

static int resolved_with_queue(struct context *context)
{
	int ret = queue_there(context);

	return ret ? ret : pair_resolve(&context->pair);
}

static int prepared(struct context *context)
{
	int ret = resolved(context);

	return ret ? ret : end_create_qp(&context->pair.a, NULL);
}

static int asked(struct context *context)
{
	int ret = prepared(context);

	if (!ret)
		ret = end_connect(&context->pair.a, NULL);
	if (!ret && !(poll_mask(context->pair.listener, POLLIN, PATIENCE_MS) & POLLIN))
		ret = -ETIMEDOUT;
	return ret;
}

static int requested(struct context *context)
{
	int ret = resolved(context);

	return ret ? ret : pair_meet(&context->pair, NULL);
}

static int requested_and_prepared(struct context *context)
{
	int ret = requested(context);

	return ret ? ret : end_create_qp(&context->pair.b, NULL);
}

static int connected(struct context *context)
{
	int ret = pair_open(&context->pair, NULL);

	return ret ? ret : mr_create(context->pair.sessions[0], context->pair.device, 16384,
				     ACCESS_ALL, &context->mr);
}

/* Memory that peers of lanes may read. */
static int lane_memory_of(struct context *context, int side)
{
	return mr_create_with(context->pair.sessions[side], context->pair.device, 16384,
			      KRDMA_ACCESS_REMOTE_READ, KRDMA_MR_REGISTER_LANES, &context->mr);
}

static int lane_memory_there(struct context *context)
{
	int ret = pair_begin(&context->pair, NULL);

	return ret ? ret : lane_memory_of(context, 0);
}

static int call_memory_set_name(struct context *context)
{
	struct krdma_mr_set_name_args name = {
		.size = sizeof(name),
		.id = context->mr.id,
		.name = MR_NAME,
	};

	return session_request(context->mr.session, KRDMA_MR_SET_NAME, &name);
}

/* A lane, whose peer has memory with a name. */
static int lane_named(struct context *context)
{
	int ret = pair_open(&context->pair, &lane_options);

	if (!ret)
		ret = lane_memory_of(context, 1);
	return ret ? ret : call_memory_set_name(context);
}

/* The CQ has a completion. */
static int completed(struct context *context)
{
	struct krdma_sqe entry;
	int ret = connected(context);

	if (ret)
		return ret;
	entry = sqe_remote(KRDMA_OP_WRITE, context->pair.a.id, 1, &context->mr, 0, 64,
			   &context->mr, 8192);
	ret = ring_submit(context->pair.a.ring, &entry, 1, NULL);
	if (!ret)
		ret = ring_enter(context->pair.a.ring, 0, 1, deadline_in(PATIENCE_MS), NULL);
	return ret;
}

static int call_watch(struct context *context)
{
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };
	int ret = session_request(context->pair.sessions[0], KRDMA_DEVICE_NOTIFY, &watch);

	return ret == -EALREADY ? 0 : ret;
}

static int call_find(struct context *context)
{
	struct krdma_device_find_args find = {
		.size = sizeof(find),
		.flags = KRDMA_DEVICE_FIND_LOCAL | KRDMA_DEVICE_FIND_REMOTE,
		.deadline_ns = deadline_in(PATIENCE_MS),
	};

	address_set(&find.local, BOOT_ADDRESS, 0);
	address_set(&find.remote, BOOT_ADDRESS, 0);
	return session_request(context->pair.sessions[0], KRDMA_DEVICE_FIND, &find);
}

static int call_listen(struct context *context)
{
	return listener_open(context->pair.sessions[0], BOOT_ADDRESS, 0, 0, &context->fd, NULL);
}

static int call_listener_query(struct context *context)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };

	return session_request(context->pair.listener, KRDMA_LISTENER_QUERY, &query);
}

static int call_conn_create(struct context *context)
{
	return conn_create(context->pair.sessions[0], &context->fd, NULL);
}

static int call_queue_create(struct context *context)
{
	struct krdma_ring_create_args create = {
		.size = sizeof(create),
		.device_id = context->pair.device,
	};
	int ret = session_request(context->pair.sessions[0], KRDMA_RING_CREATE, &create);

	if (!ret)
		context->fd = create.fd;
	return ret;
}

static int call_srq_create(struct context *context)
{
	struct krdma_srq_create_args create = {
		.size = sizeof(create),
		.ring_fd = context->ring.fd,
		.device_id = context->pair.device,
		.depth = 8,
	};
	int ret = session_request(context->pair.sessions[0], KRDMA_SRQ_CREATE, &create);

	if (!ret)
		context->fd = create.fd;
	return ret;
}

static int call_memory_register(struct context *context)
{
	return mr_create(context->pair.sessions[0], context->pair.device, 65536, ACCESS_ALL,
			 &context->mr);
}

static int call_memory_query(struct context *context)
{
	struct krdma_mr_query_args query = { .size = sizeof(query), .id = context->mr.id };

	return session_request(context->pair.sessions[0], KRDMA_MR_QUERY, &query);
}

static int call_memory_advise(struct context *context)
{
	struct krdma_mr_advise_args advise = {
		.size = sizeof(advise),
		.id = context->mr.id,
		.advice = KRDMA_ADVICE_READ,
		.length = 64,
	};

	return session_request(context->pair.sessions[0], KRDMA_MR_ADVISE, &advise);
}

static int call_limit_query(struct context *context)
{
	struct krdma_limit_query_args query = { .size = sizeof(query),
						.limit = KRDMA_LIMIT_MEMORY };

	return session_request(context->pair.sessions[0], KRDMA_LIMIT_QUERY, &query);
}

static int call_memory_release(struct context *context)
{
	return mr_deregister(context->pair.sessions[0], context->mr.id, 0);
}

static int call_resolve(struct context *context)
{
	return conn_resolve(context->pair.a.conn, &context->pair.address);
}

static int call_prepare(struct context *context)
{
	const struct end_options options = { .ring = &context->ring };

	/* No ring of its own: only the ioctl may fail. */
	context->pair.a.recv_ring = NULL;
	return end_create_qp(&context->pair.a, &options);
}

static int call_connect(struct context *context)
{
	struct end_options options = {
		.param.private_data = (uintptr_t)"hello",
		.param.private_data_len = 5,
	};

	return end_connect(&context->pair.a, &options);
}

static int call_next(struct context *context)
{
	return listener_next(context->pair.listener, 0, &context->pair.b.conn,
			     &context->pair.b.id);
}

static int call_accept(struct context *context)
{
	return end_accept(&context->pair.b, NULL);
}

static int call_reject(struct context *context)
{
	return conn_reject(context->pair.b.conn, "no", 2);
}

static int call_disconnect(struct context *context)
{
	return conn_disconnect(context->pair.a.conn, 0);
}

static int call_wait(struct context *context)
{
	return conn_wait(context->pair.a.conn, 0, NULL);
}

static int call_query(struct context *context)
{
	struct krdma_conn_query_args query;

	return conn_query(context->pair.a.conn, NULL, 0, &query);
}

static int call_find_mr(struct context *context)
{
	struct krdma_conn_find_mr_args find = {
		.size = sizeof(find),
		.deadline_ns = deadline_in(PATIENCE_MS),
		.name = MR_NAME,
	};

	return session_request(context->pair.a.conn, KRDMA_CONN_FIND_MR, &find);
}

static int call_enter(struct context *context)
{
	struct krdma_sqe entry = sqe_remote(KRDMA_OP_READ, context->pair.a.id, 1,
					    &context->mr, 0, 64, &context->mr, 8192);

	return ring_submit(context->pair.a.ring, &entry, 1, NULL);
}

/* Two SGEs, because an array of them is copied as well. */
static int call_post(struct context *context)
{
	struct krdma_sqe entry = sqe_send(context->pair.a.id, 1, &context->mr, 0, 64);
	struct krdma_ring_sge pieces[2] = { entry.sge, entry.sge };

	entry.sge_count = 2;
	entry.sge = (struct krdma_ring_sge){ .addr = (uintptr_t)pieces };
	return ring_post(context->pair.a.ring->fd, &entry, 1, NULL);
}

static int call_reap(struct context *context)
{
	uint32_t reaped;

	return ring_reap(context->pair.a.ring->fd, &context->cqe, 1, 1, 0, &reaped);
}

static int call_mmap(struct context *context)
{
	void *at = mmap(NULL, context->ring.size, PROT_READ | PROT_WRITE, MAP_SHARED,
			context->ring.fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	/* Faults the page in, if the mapping has not. */
	((volatile char *)at)[0] = 0;
	return munmap(at, context->ring.size) ? -errno : 0;
}

static int call_read(struct context *context)
{
	struct krdma_event_record record;
	ssize_t got = read(context->pair.a.conn, &record, sizeof(record));

	return got < 0 ? -errno : 0;
}

static int call_poll(struct context *context)
{
	int ret = poll_mask(context->pair.a.conn, POLLIN | POLLOUT, 0);

	return ret < 0 ? ret : 0;
}

static int call_close(struct context *context)
{
	int fd = context->pair.a.conn;

	context->pair.a.conn = -1;
	return close(fd) ? -errno : 0;
}

static void undo(struct context *context)
{
	mr_destroy(&context->mr);
	pair_close(&context->pair);
	ring_close(&context->ring);
	if (context->fd >= 0)
		close(context->fd);
}

/* Returns 0 if the failure was injected, 1 if there was nothing to fail, or a wrong -errno. */
static int fail_once(int control, const struct step *step, unsigned int nth)
{
	struct context context = { .fd = -1, .ring.fd = -1 };
	bool failed;
	int ret;

	ret = step->prepare(&context);
	if (ret) {
		printf("# %s: what it needs: %s\n", step->name, strerror(-ret));
		undo(&context);
		return ret;
	}
	ret = arm(control, nth);
	if (!ret)
		ret = step->call(&context);
	failed = has_failed(control);
	if (failed && (ret == -ENOMEM || ret == -EFAULT || (ret && ret == step->other_error)))
		ret = step->over ? 0 : step->call(&context);
	if (failed && ret && ret == step->done)
		ret = 0;
	if (ret)
		printf("# %s, failure %u: %s\n", step->name, nth, strerror(-ret));
	undo(&context);
	return ret ? ret : !failed;
}

/* Returns the number of failures injected into the step, or the first wrong -errno. */
static int sweep_step(int control, const struct step *step)
{
	for (unsigned int nth = 1; nth < MOST_FAILURES; nth++) {
		int ret = fail_once(control, step, nth);

		if (ret)
			return ret < 0 ? ret : (int)nth - 1;
	}
	return -E2BIG;
}

/* clang-format off */
static const struct step steps[] = {
	{ "DEVICE_NOTIFY", nothing, call_watch, .least = 2 },
	{ "DEVICE_FIND", nothing, call_find, .least = 3, .other_error = -EHOSTUNREACH },
	{ "LISTEN", nothing, call_listen, .least = 4, .other_error = -ENFILE },
	{ "LISTENER_QUERY", nothing, call_listener_query, .least = 2 },
	{ "CONN_CREATE", nothing, call_conn_create, .least = 4, .other_error = -ENFILE },
	{ "RING_CREATE", nothing, call_queue_create, .least = 5, .other_error = -ENFILE },
	{ "SRQ_CREATE", queue_there, call_srq_create, .least = 4, .other_error = -ENFILE },
	{ "mmap()", queue_there, call_mmap, .least = 1 },
	{ "MR_REGISTER", nothing, call_memory_register, .least = 4, .other_error = -EAGAIN },
	{ "MR_QUERY", connected, call_memory_query, .least = 2 },
	{ "MR_ADVISE", connected, call_memory_advise, .least = 1 },
	{ "MR_SET_NAME", lane_memory_there, call_memory_set_name, .least = 1 },
	{ "LIMIT_QUERY", nothing, call_limit_query, .least = 2 },
	{ "MR_DEREGISTER", connected, call_memory_release, .least = 1, .over = true },
	{ "CONN_RESOLVE", created, call_resolve, .least = 2, .over = true },
	/* rxe has a socket for each QP, and reports -EIO when it cannot create it. */
	{ "CONN_CREATE_QP", resolved_with_queue, call_prepare, .least = 4, .done = -EALREADY,
	  .other_error = -EIO },
	{ "CONN_CONNECT", prepared, call_connect, .least = 2, .over = true },
	{ "LISTENER_NEXT", asked, call_next, .least = 3, .over = true, .other_error = -ENFILE },
	{ "CONN_ACCEPT", requested_and_prepared, call_accept, .least = 1, .over = true },
	{ "CONN_REJECT", requested, call_reject, .least = 1, .over = true },
	{ "CONN_WAIT", connected, call_wait, .least = 2 },
	{ "CONN_QUERY", connected, call_query, .least = 2 },
	{ "CONN_FIND_MR", lane_named, call_find_mr, .least = 2 },
	/* An entry of the usual kind is posted without memory or copies that could fail. */
	{ "RING_ENTER", connected, call_enter, .least = 0 },
	/* If the result cannot be written, the entry is posted, and the program gets none. */
	{ "RING_POST", connected, call_post, .least = 3, .done = -EPROTO },
	{ "RING_REAP", completed, call_reap, .least = 2, .over = true },
	{ "read()", connected, call_read, .least = 1 },
	{ "poll()", connected, call_poll, .least = 0 },
	{ "CONN_DISCONNECT", connected, call_disconnect, .least = 1, .over = true },
	{ "close()", connected, call_close, .least = 0 },
};

/* clang-format on */

TEST_F_TIMEOUT(fail_nth, every_request_of_every_object, 1200)
{
	struct resources before;

	ASSERT_EQ(0, resources_read(&before));
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int met = sweep_step(self->control, &steps[i]);

		EXPECT_LE(steps[i].least, met) {
			TH_LOG("%s: %s", steps[i].name, met < 0 ? strerror(-met) : "too few");
		}
		printf("# %s: %d failures\n", steps[i].name, met);
		EXPECT_EQ(0, resources_await(&before, GONE_MS)) {
			TH_LOG("%s has left something", steps[i].name);
		}
	}
}

/*
 * Posting without memory
 */

#define POSTERS		4
#define POSTS		3000
/* Before it, the structure is copied in, and written back to check that it is writable. */
#define FIRST_ALLOCATION	3

/**
 * struct poster - a thread with a connection and a ring of its own, in a shared session
 * @pair: the connection
 * @mr: memory region of the session
 * @accepted: number of accepted entries of this thread
 * @waited: number of calls, of all threads, that had to wait for a batch
 * @error: the first wrong errno, negative
 */
struct poster {
	struct pair pair;
	struct mr *mr;
	unsigned int accepted;
	atomic_uint *waited;
	int error;
};

static int take_all(struct poster *poster, unsigned int *taken)
{
	struct krdma_cqe cqes[16];
	uint32_t reaped;
	int ret = 0;

	while (!ret && *taken < poster->accepted) {
		ret = ring_reap(poster->pair.a.ring->fd, cqes, 16, 1, deadline_in(PATIENCE_MS),
				&reaped);
		for (uint32_t i = 0; !ret && i < reaped; i++)
			ret = cqes[i].status ? -EIO : 0;
		*taken += ret ? 0 : reaped;
	}
	return ret;
}

/*
 * If the call needs memory for another batch, this allocation fails and the call waits for a free
 * batch.  Otherwise the copy of the entries fails.
 */
static void *post_without_memory(void *argument)
{
	int control = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	struct poster *poster = argument;
	struct krdma_sqe entries[3];
	unsigned int taken = 0;
	uint32_t accepted;

	for (int i = 0; i < 3; i++)
		entries[i] = sqe_remote(KRDMA_OP_WRITE, poster->pair.a.id, i, poster->mr, 0, 64,
					poster->mr, 64);
	for (unsigned int i = 0; i < POSTS && *poster->waited < POSTERS && !poster->error; i++) {
		poster->error = arm(control, FIRST_ALLOCATION);
		if (poster->error)
			break;
		poster->error = ring_post(poster->pair.a.ring->fd, entries, 3, &accepted);
		if (has_failed(control) && accepted)
			(*poster->waited)++;
		poster->accepted += accepted;
		if (poster->error == -EFAULT)
			poster->error = 0;
		if (!poster->error)
			poster->error = take_all(poster, &taken);
	}
	close(control);
	return NULL;
}

/*
 * The threads of a session share its batches.  A thread that finds none free, and no memory for
 * another one, waits.
 */
/* Proves: E12 (e2e-debug) */
TEST_F_TIMEOUT(fail_nth, who_posts_needs_no_memory, 300)
{
	struct poster posters[POSTERS] = {};
	atomic_uint waited = 0;
	pthread_t threads[POSTERS];
	struct mr mr;
	int session = session_open(O_CLOEXEC);

	ASSERT_LE(0, session);
	for (int i = 0; i < POSTERS; i++) {
		ASSERT_EQ(0, pair_open(&posters[i].pair, &(struct pair_options) {
			.sessions = { session, session } }));
		posters[i].mr = &mr;
		posters[i].waited = &waited;
	}
	ASSERT_EQ(0, mr_create(session, posters[0].pair.device, 4096, ACCESS_ALL, &mr));
	for (int i = 0; i < POSTERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, post_without_memory, &posters[i]));
	for (int i = 0; i < POSTERS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, posters[i].error);
	}
	EXPECT_LT(0, waited);
	mr_destroy(&mr);
	for (int i = 0; i < POSTERS; i++)
		pair_close(&posters[i].pair);
	close(session);
}

TEST_HARNESS_MAIN
