// SPDX-License-Identifier: GPL-2.0
/*
 * The rdma controller of control groups limits how many objects of a device a group has.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define ROOT		"/tmp/krdma-cgroup"
#define GROUP		ROOT "/test"
#define LENGTH		4096

static int set_max(const char *text)
{
	char line[128];

	snprintf(line, sizeof(line), "%s %s", BOOT_DEVICE, text);
	return write_text(GROUP "/rdma.max", line);
}

FIXTURE(cgroup)
{
	struct resources before;
	bool mounted;
};

FIXTURE_SETUP(cgroup)
{
	char line[256] = "";

	mkdir(ROOT, 0755);
	self->mounted = !mount("none", ROOT, "cgroup2", 0, NULL);
	if (self->mounted)
		read_line(line, sizeof(line), ROOT "/cgroup.controllers");
	if (!strstr(line, "rdma"))
		SKIP(return, "no rdma controller: cgroup2 %s, controllers '%s'",
		     self->mounted ? "mounted" : "not mounted", line);
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, write_text(ROOT "/cgroup.subtree_control", "+rdma"));
	ASSERT_TRUE(!mkdir(GROUP, 0755) || errno == EEXIST);
}

FIXTURE_TEARDOWN(cgroup)
{
	/*
	 * In some kernels, a group that is removed while it has a limit leaves a record of the
	 * limit behind.  The next removal of the device then uses freed memory.
	 */
	set_max("hca_handle=max hca_object=max");
	rmdir(GROUP);
	write_text(ROOT "/cgroup.subtree_control", "-rdma");
	if (self->mounted)
		umount(ROOT);
	rmdir(ROOT);
}

/* Reads the usage of the group.  The file has no line for the device if the group uses none. */
static int get_current(unsigned int *handles, unsigned int *objects)
{
	char line[128];
	int ret = read_line(line, sizeof(line), GROUP "/rdma.current");

	*handles = 0;
	*objects = 0;
	if (ret == -EIO)
		return 0;
	if (!ret && sscanf(line, BOOT_DEVICE " hca_handle=%u hca_object=%u", handles, objects) != 2)
		ret = -EPROTO;
	return ret;
}

static bool current_is(unsigned int handles, unsigned int objects)
{
	unsigned int has_handles, has_objects;

	if (get_current(&has_handles, &has_objects))
		return false;
	if (has_handles != handles || has_objects != objects)
		ksft_print_msg("the group has %u handles and %u objects, not %u and %u\n",
			       has_handles, has_objects, handles, objects);
	return has_handles == handles && has_objects == objects;
}

static bool current_becomes_nothing(void)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;
	unsigned int handles, objects;

	while (now_ms() < deadline) {
		if (!get_current(&handles, &objects) && !handles && !objects)
			return true;
		sleep_ms(5);
	}
	return current_is(0, 0);
}

static int enter_group(void)
{
	return write_text(GROUP "/cgroup.procs", "0");
}

/* Where the driver does not register memory of processes, krdma does, by its own QP and CQ. */
static unsigned int own_objects(void)
{
	return boot_driver_registers() ? 0 : 2;
}

static int counted(void *context)
{
	struct ring_options on_device = {};
	struct mr mr, second;
	unsigned int own = own_objects();
	struct ring ring;
	struct pair pair;
	int session;

	(void)context;
	CHECK(!enter_group());
	CHECK(!set_max("hca_handle=max hca_object=max"));
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &on_device.device_id));
	CHECK(current_is(0, 0));

	/* The PD, which all objects share, and the MR. */
	CHECK(!mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &mr));
	CHECK(current_is(1, own + 2));
	CHECK(!mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &second));
	CHECK(current_is(1, own + 3));
	CHECK(!mr_deregister(session, second.id, 0));
	CHECK(current_is(1, own + 2));
	CHECK(!ring_create(session, &on_device, &ring));
	CHECK(current_is(1, own + 3));
	ring_close(&ring);
	close(session);
	CHECK(current_becomes_nothing());

	/* A pair: a PD, two CQs and two QPs. */
	CHECK(!pair_open(&pair, NULL));
	CHECK(current_is(1, 1 + 2 + 2));
	pair_close(&pair);
	CHECK(current_becomes_nothing());
	return 0;
}

TEST_F(cgroup, everything_counts)
{
	EXPECT_EQ(0, child_run(counted, NULL));
	EXPECT_TRUE(current_becomes_nothing());
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

static int limited(void *context)
{
	struct krdma_limit_query_args refused = {
		.size = sizeof(refused), .flags = KRDMA_LIMIT_QUERY_REFUSED,
	};
	struct ring_options on_device = {};
	unsigned int own = own_objects();
	struct mr mr, second;
	struct ring ring;
	int session, other;
	char max[64];

	(void)context;
	CHECK(!enter_group());
	session = session_open(O_CLOEXEC);
	other = session_open(O_CLOEXEC);
	CHECK(session >= 0 && other >= 0);
	CHECK(!boot_device(session, &on_device.device_id));

	CHECK(!set_max("hca_handle=0 hca_object=max"));
	CHECK(mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &mr) == -EDQUOT);
	CHECK(!set_max("hca_handle=1 hca_object=0"));
	CHECK(mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &mr) == -EDQUOT);
	CHECK(ring_create(session, &on_device, &ring) == -EDQUOT);
	CHECK(!session_request(session, KRDMA_LIMIT_QUERY, &refused));
	CHECK(refused.limit == KRDMA_LIMIT_DEVICE && refused.scope == KRDMA_LIMIT_SCOPE_GROUP);
	snprintf(max, sizeof(max), "hca_handle=1 hca_object=%u", own + 1);
	CHECK(!set_max(max));
	CHECK(mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &mr) == -EDQUOT);
	CHECK(current_becomes_nothing());

	snprintf(max, sizeof(max), "hca_handle=1 hca_object=%u", own + 2);
	CHECK(!set_max(max));
	CHECK(!mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &mr));
	for (int i = 0; i < 20; i++) {
		CHECK(mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &second) ==
		      -EDQUOT);
		CHECK(ring_create(session, &on_device, &ring) == -EDQUOT);
	}
	CHECK(current_is(1, own + 2));
	/* A second session needs a second handle. */
	CHECK(!set_max("hca_handle=1 hca_object=max"));
	CHECK(mr_create(other, on_device.device_id, LENGTH, ACCESS_ALL, &second) == -EDQUOT);
	CHECK(!mr_create(session, on_device.device_id, LENGTH, ACCESS_ALL, &second));
	return 0;
}

/* Proves: F6 */
TEST_F(cgroup, no_more_than_may_be)
{
	EXPECT_EQ(0, child_run(limited, NULL));
	EXPECT_TRUE(current_becomes_nothing());
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

/* Creates a pair under a limit: each limit makes another step fail, and nothing is left. */
static int squeezed(void *context)
{
	const unsigned int *objects = context;
	struct pair_options options = {};
	struct pair pair;
	char text[64];
	int ret;

	CHECK(!enter_group());
	snprintf(text, sizeof(text), "hca_handle=max hca_object=%u", *objects);
	CHECK(!set_max(text));
	ret = pair_open(&pair, &options);
	pair_close(&pair);
	CHECK(ret == (*objects < 5 ? -EDQUOT : 0));
	return 0;
}

TEST_F(cgroup, connections_that_are_refused_on_the_way)
{
	for (unsigned int objects = 0; objects <= 5; objects++) {
		EXPECT_EQ(0, child_run(squeezed, &objects)) {
			TH_LOG("%u objects", objects);
		}
		EXPECT_TRUE(current_becomes_nothing());
	}
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

/* Milliseconds of processor time of the process. */
static uint64_t used_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

struct sender {
	struct end *end;
	struct mr *from;
};

static void *send_later(void *context)
{
	const struct sender *sender = context;
	struct krdma_sqe send = sqe_send(sender->end->id, 2, sender->from, 0, 8);

	sleep_ms(2000);
	CHECK(!ring_submit(sender->end->ring, &send, 1, NULL));
	return NULL;
}

/*
 * A tenth of a processor.  The call waits until its deadline all the same, also if it has posted
 * something, which it cannot do again.
 */
static int spins_within_its_quota(void *context)
{
	struct pair_options options = { .a.ring_options.flags = KRDMA_RING_POLLED };
	struct krdma_ring_enter_args enter;
	struct krdma_sqe receive;
	struct sender sender;
	uint64_t before, since;
	pthread_t thread;
	struct pair pair;
	struct mr mr;

	(void)context;
	CHECK(!pair_open(&pair, &options));
	CHECK(!mr_create(pair.sessions[0], pair.device, LENGTH, ACCESS_ALL, &mr));
	receive = sqe_receive(pair.a.id, 1, &mr, 0, LENGTH);
	CHECK(!write_text(GROUP "/cpu.max", "10000 100000"));
	CHECK(!enter_group());
	before = used_ms();
	since = now_ms();
	CHECK(!ring_put(pair.a.recv_ring, &receive, 1));
	CHECK(!ring_enter(pair.a.recv_ring, 1, 1, deadline_in(3000), &enter));
	CHECK(enter.submitted == 1 && !enter.completed);
	CHECK(now_ms() - since >= 3000);
	CHECK(ring_enter(pair.a.recv_ring, 0, 1, deadline_in(3000), NULL) == -ETIMEDOUT);
	/* And it returns when there is something. */
	sender = (struct sender) { .end = &pair.b, .from = &mr };
	CHECK(!pthread_create(&thread, NULL, send_later, &sender));
	CHECK(!ring_enter(pair.a.recv_ring, 0, 1, deadline_in(PATIENCE_MS), &enter));
	CHECK(enter.completed == 1);
	CHECK(!pthread_join(thread, NULL));
	CHECK(now_ms() - since < 6000 + PATIENCE_MS / 2);
	CHECK(used_ms() - before < 5000);
	CHECK(!write_text(GROUP "/cpu.max", "max"));
	pair_close(&pair);
	mr_destroy(&mr);
	return 0;
}

/* A thread that polls in the kernel gets no more of the processors than its group may have. */
TEST_F(cgroup, a_quota_holds_while_polling)
{
	if (write_text(ROOT "/cgroup.subtree_control", "+cpu"))
		SKIP(return, "no cpu controller");
	if (access(GROUP "/cpu.max", F_OK)) {
		write_text(ROOT "/cgroup.subtree_control", "-cpu");
		SKIP(return, "this kernel has no quotas of processors");
	}
	EXPECT_EQ(0, child_run(spins_within_its_quota, NULL));
	write_text(GROUP "/cpu.max", "max");
	write_text(ROOT "/cgroup.subtree_control", "-cpu");
}

TEST_HARNESS_MAIN
