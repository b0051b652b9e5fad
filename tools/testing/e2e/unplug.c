// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that are added and removed while they are queried.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fabric.h"
#include "interrupt.h"
#include "net_link.h"
#include "rdma_link.h"
#include "resources.h"
#include "rings.h"
#include "session.h"

/* As many as the machine has processors: more of them only keep the removals waiting. */
#define QUERY_THREADS	2

FIXTURE(unplug)
{
	int session;
};

FIXTURE_SETUP(unplug)
{
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, fabric_create());
}

FIXTURE_TEARDOWN(unplug)
{
	fabric_destroy();
	close(self->session);
}

/* Proves: A8 */
TEST_F(unplug, a_number_dies_with_its_device)
{
	struct krdma_device_query_args device, again;
	struct krdma_port_query_args port;

	ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	EXPECT_EQ(-ENOENT, session_named(self->session, FABRIC_DEVICE, &again));
	EXPECT_EQ(-ENOENT, session_device(self->session, device.id, &again));
	EXPECT_EQ(-ENOENT, session_port(self->session, device.id, 1, &port));
}

TEST_F(unplug, the_same_name_comes_back_under_a_new_number)
{
	struct krdma_device_query_args device, again;
	uint32_t last = 0;

	for (unsigned int i = 0; i < rounds(5, 2); i++) {
		ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
		EXPECT_LT(last, device.id);
		last = device.id;
		ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		ASSERT_EQ(0, rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV));
		EXPECT_EQ(-ENOENT, session_device(self->session, last, &again));
	}
}

TEST_F(unplug, the_interface_goes_and_takes_the_device_along)
{
	ASSERT_EQ(0, net_link_remove(FABRIC_NETDEV));
	EXPECT_EQ(0, session_await(self->session, FABRIC_DEVICE, false));
}

/* Memory that no work request uses is released as if its device were still there. */
TEST_F(unplug, idle_memory_is_released_without_its_device)
{
	static uint8_t data[2][4096];
	struct krdma_device_query_args device;
	struct mr mrs[2];

	ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
	for (unsigned int i = 0; i < ARRAY_SIZE(mrs); i++)
		ASSERT_EQ(0, mr_register(self->session, device.id, data[i], sizeof(data[i]),
					 KRDMA_ACCESS_LOCAL_WRITE, &mrs[i]));
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	ASSERT_EQ(0, session_await(self->session, FABRIC_DEVICE, false));
	EXPECT_EQ(0, mr_deregister(self->session, mrs[0].id, 0));
	EXPECT_EQ(-ENOENT, mr_deregister(self->session, mrs[0].id, 0));
	EXPECT_EQ(0, mr_deregister(self->session, mrs[1].id, KRDMA_DEREGISTER_LATER));
}

/*
 * Memory of which the program withholds a page while it is registered.
 */

FIXTURE(withheld)
{
	struct resources before;
	int session;
	uint32_t device;
	char *page;
	int faults;
};

FIXTURE_VARIANT(withheld)
{
	const char *force_pin;
	uint32_t flags;
};

FIXTURE_VARIANT_ADD(withheld, driver)
{
	.force_pin = "0",
};

FIXTURE_VARIANT_ADD(withheld, pinned)
{
	.force_pin = "1",
};

FIXTURE_VARIANT_ADD(withheld, lanes)
{
	.force_pin = "0",
	.flags = KRDMA_MR_REGISTER_LANES,
};

FIXTURE_SETUP(withheld)
{
	struct krdma_device_query_args device;

	ASSERT_EQ(0, write_text(FORCE_PIN, variant->force_pin));
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, fabric_create());
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
	self->device = device.id;
	self->page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	self->faults = -1;
}

FIXTURE_TEARDOWN(withheld)
{
	if (self->faults >= 0)
		close(self->faults);
	close(self->session);
	fabric_destroy();
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
	munmap(self->page, sysconf(_SC_PAGESIZE));
	write_text(FORCE_PIN, "0");
}

/* A call of another thread: its parameters, its result, and whether it has returned. */
struct call {
	int session;
	uint32_t device;
	uint32_t flags;
	char *page;
	struct mr mr;
	int ret;
	atomic_bool over;
};

static void *register_page(void *argument)
{
	struct call *call = argument;

	call->ret = mr_register_with(call->session, call->device, call->page,
				     sysconf(_SC_PAGESIZE), KRDMA_ACCESS_LOCAL_WRITE, call->flags,
				     &call->mr);
	call->over = true;
	return NULL;
}

static void *remove_device(void *argument)
{
	struct call *call = argument;

	call->ret = rdma_link_remove(FABRIC_DEVICE);
	call->over = true;
	return NULL;
}

/* Wait until the call waits for the page: 0.  If it returns without: its errno. */
static int await_fault(int faults, struct call *call)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	while (now_ms() < end) {
		if (poll_mask(faults, POLLIN, 20) == POLLIN)
			return 0;
		if (call->over)
			return call->ret ?: -EALREADY;
	}
	return -ETIMEDOUT;
}

static bool await_return(struct call *call)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	while (!call->over && now_ms() < end)
		sleep_ms(5);
	return call->over;
}

/* Older kernels, such as 6.1, do not wait for a page that is to be pinned for long: EFAULT. */
#define NO_WAIT		"this kernel does not wait for the page"

/* Proves: F5 */
TEST_F(withheld, the_device_goes_nevertheless)
{
	struct call registration = {
		.session = self->session, .device = self->device, .flags = variant->flags,
		.page = self->page,
	};
	struct call removal = {};
	pthread_t threads[2];
	int ret;

	self->faults = faults_open(self->page);
	if (self->faults < 0)
		SKIP(return, "no userfaultfd: %s", strerror(-self->faults));
	ASSERT_EQ(0, pthread_create(&threads[0], NULL, register_page, &registration));
	ret = await_fault(self->faults, &registration);
	if (ret == -EFAULT)
		SKIP(return, NO_WAIT);
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, pthread_create(&threads[1], NULL, remove_device, &removal));
	EXPECT_TRUE(await_return(&removal));
	EXPECT_FALSE(registration.over);

	EXPECT_EQ(0, faults_answer(self->faults, self->page));
	EXPECT_EQ(0, pthread_join(threads[0], NULL));
	EXPECT_EQ(0, pthread_join(threads[1], NULL));
	EXPECT_EQ(0, removal.ret);
	EXPECT_EQ(-ENODEV, registration.ret);
}

/* The memory is registered as any other when the page is there. */
TEST_F(withheld, a_page_that_comes_late_is_registered)
{
	struct call registration = {
		.session = self->session, .device = self->device, .flags = variant->flags,
		.page = self->page,
	};
	pthread_t thread;
	int ret;

	self->faults = faults_open(self->page);
	if (self->faults < 0)
		SKIP(return, "no userfaultfd: %s", strerror(-self->faults));
	ASSERT_EQ(0, pthread_create(&thread, NULL, register_page, &registration));
	ret = await_fault(self->faults, &registration);
	if (ret == -EFAULT)
		SKIP(return, NO_WAIT);
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, faults_answer(self->faults, self->page));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, registration.ret);
	EXPECT_EQ(0, mr_deregister(self->session, registration.mr.id, 0));
}

/* What a child needs to register its page, and tells. */
struct withholding {
	struct call call;
	int told;
};

static int withhold(void *context)
{
	struct withholding *child = context;
	pthread_t thread;
	int faults = faults_open(child->call.page);
	int ret;

	CHECK(faults >= 0);
	CHECK(!pthread_create(&thread, NULL, register_page, &child->call));
	ret = await_fault(faults, &child->call);
	CHECK(write(child->told, &ret, sizeof(ret)) == sizeof(ret));
	return pause();
}

TEST_F(withheld, a_program_ends_without_its_page)
{
	struct withholding child = {
		.call = {
			.session = self->session, .device = self->device,
			.flags = variant->flags, .page = self->page,
		},
	};
	int channel[2], ret;
	int64_t ms;
	pid_t pid;

	self->faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (self->faults < 0)
		SKIP(return, "no userfaultfd: %s", strerror(errno));
	ASSERT_EQ(0, pipe(channel));
	child.told = channel[1];
	pid = child_start(withhold, &child);
	ASSERT_LT(0, pid);
	ASSERT_EQ(POLLIN, poll_mask(channel[0], POLLIN, PATIENCE_MS));
	ASSERT_EQ(sizeof(ret), read(channel[0], &ret, sizeof(ret)));
	ms = child_kill(pid);
	EXPECT_LE(0, ms);
	EXPECT_GT(PATIENCE_MS, ms);
	close(channel[0]);
	close(channel[1]);
	if (ret == -EFAULT)
		SKIP(return, NO_WAIT);
	EXPECT_EQ(0, ret);
	/* Before the session ends, too. */
	EXPECT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

/* Devices come and go while no program reads: records are lost, and a record reports the loss. */
TEST_F_TIMEOUT(unplug, records_that_were_not_read_in_time, 600)
{
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };
	struct krdma_device_record records[80];
	ssize_t size;

	ASSERT_EQ(0, session_request(self->session, KRDMA_DEVICE_NOTIFY, &watch));
	/*
	 * Each round adds a record of a removal and a record of an addition: 66, which is more
	 * than are kept.  In the debug kernel, a round takes 8 seconds also without krdma.
	 */
	for (unsigned int i = 0; i < 33; i++) {
		ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		ASSERT_EQ(0, rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV));
	}
	/* A kernel thread delivers the records. */
	sleep_ms(rounds(500, 5000));
	size = read(self->session, records, sizeof(records));
	ASSERT_EQ(0, size % sizeof(records[0]));
	ASSERT_EQ(65, size / sizeof(records[0]));
	for (unsigned int i = 0; i < 64; i++)
		EXPECT_NE(KRDMA_DEVICE_EVENT_MISSED, records[i].type);
	for (unsigned int i = 0; i < 65; i++)
		EXPECT_EQ(sizeof(records[i]), records[i].size);
	EXPECT_EQ(KRDMA_DEVICE_EVENT_MISSED, records[64].type);
	/* After reading these, the program gets later records. */
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	ASSERT_LT(0, read(self->session, records, sizeof(records)));
	EXPECT_NE(KRDMA_DEVICE_EVENT_MISSED, records[0].type);
}

/* Parameters and findings of the threads. */
struct storm {
	int session;
	atomic_bool stop;
	atomic_uint found;
	atomic_uint missing;
	/* The first errno that is not documented; 0 if none. */
	atomic_int wrong;
};

static void judge(struct storm *storm, int ret)
{
	if (ret == 0)
		storm->found++;
	else if (ret == -ENOENT || ret == -ENODEV)
		storm->missing++;
	else
		storm->wrong = ret;
}

static void *query_storm(void *argument)
{
	struct storm *storm = argument;

	while (!storm->stop) {
		struct krdma_device_query_args device;
		struct krdma_port_query_args port;
		uint32_t id = 0;
		int ret;

		ret = session_named(storm->session, FABRIC_DEVICE, &device);
		judge(storm, ret);
		if (!ret) {
			judge(storm, session_port(storm->session, device.id, 1, &port));
			judge(storm, session_device(storm->session, device.id, &device));
		}
		while (!session_next(storm->session, id, &device))
			id = device.id + 1;
	}
	return NULL;
}

/* Proves: A1, A12, F5 */
TEST_F_TIMEOUT(unplug, devices_come_and_go_under_queries, 300)
{
	unsigned int cycles = rounds(40, 3);
	struct storm storm = { .session = self->session };
	uint64_t end = now_ms() + PATIENCE_MS;
	pthread_t threads[QUERY_THREADS];
	struct krdma_device_query_args device;
	uint32_t last = 0;

	for (int i = 0; i < QUERY_THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, query_storm, &storm));
	/* Continue until a query has found the device, and one has not. */
	for (unsigned int i = 0; !storm.wrong &&
	     (i < cycles || ((!storm.found || !storm.missing) && now_ms() < end)); i++) {
		ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
		ASSERT_LT(last, device.id);
		last = device.id;
		ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		ASSERT_EQ(-ENOENT, session_named(self->session, FABRIC_DEVICE, &device));
		ASSERT_EQ(0, rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV));
	}
	storm.stop = true;
	for (int i = 0; i < QUERY_THREADS; i++)
		ASSERT_EQ(0, pthread_join(threads[i], NULL));

	EXPECT_EQ(0, storm.wrong);
	/* The test proves nothing unless queries both found the device and missed it. */
	EXPECT_LT(0, storm.found);
	EXPECT_LT(0, storm.missing);
}

/* Proves: F5 */
TEST_F_TIMEOUT(unplug, sessions_come_and_go_under_unplugging, 120)
{
	unsigned int cycles = rounds(30, 3);

	for (unsigned int i = 0; i < cycles; i++) {
		struct krdma_device_query_args device;
		int session = session_open(O_CLOEXEC);

		ASSERT_LE(0, session);
		ASSERT_EQ(0, session_named(session, FABRIC_DEVICE, &device));
		ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		EXPECT_EQ(0, close(session));
		ASSERT_EQ(0, rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV));
	}
}

TEST_HARNESS_MAIN
