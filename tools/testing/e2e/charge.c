// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the kernel's that a program's queues take: to whom it is charged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define PARAMETER	"/sys/module/krdma/parameters/max_memory_mb"
#define ROOT		"/tmp/krdma-charge"
#define GROUP		ROOT "/test"

/* What the user may have, where a test says so; otherwise half of the machine's memory. */
#define LIMIT_MIB	64
/* What the kernel's memory may grow by, and what else goes on in the machine. */
#define GROWTH_MIB(limit)	((limit) * 5 / 4)
#define NOISE_MIB		8

#define MIB		(1024 * 1024)
#define DEPTH		4096
#define CONNECTIONS	256
/* Devices may take fewer in a shared receive queue than in another one. */
#define SRQ_SGE		16

/* Of krdma's own, for a queue of DEPTH requests with 32 entries each: pointers to regions. */
#define OWN_BYTES(sge)	((int64_t)DEPTH * (sge) * 8)

/* A line of /proc/meminfo, such as "MemTotal: %ld". */
static long meminfo_mib(const char *format)
{
	char line[128];
	long kib = -1;
	FILE *file = fopen("/proc/meminfo", "re");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, format, &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib / 1024;
}

static long available_mib(void)
{
	return meminfo_mib("MemAvailable: %ld");
}

static int set_limit(unsigned int mib)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", mib);
	return write_text(PARAMETER, text);
}

FIXTURE(charge)
{
	struct resources before;
	unsigned int saved;
	mode_t mode;
};

FIXTURE_SETUP(charge)
{
	struct stat status;
	char line[32];

	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, read_line(line, sizeof(line), PARAMETER));
	self->saved = strtoul(line, NULL, 10);
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	self->mode = status.st_mode;
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
}

FIXTURE_TEARDOWN(charge)
{
	chmod(SESSION_PATH, self->mode & 07777);
	EXPECT_EQ(0, set_limit(self->saved));
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

/* A resolved connection as deep as the device can, in a queue of its own: 0 or -errno. */
static int deep_connection(struct pair *pair, struct end *end, bool shared)
{
	struct end_options options = {
		.send_depth = DEPTH,
		.queue_options.cq_entries = 2 * DEPTH + 2,
		.queue_options.device_id = pair->device,
	};
	struct krdma_device_query device;
	int ret;

	ret = session_device(pair->sessions[0], pair->device, &device);
	if (ret)
		return ret;
	options.max_send_sge = device.max_send_sge;
	if (!shared) {
		options.recv_depth = DEPTH;
		options.max_recv_sge = device.max_recv_sge;
	}
	end_init(end, pair->sessions[0]);
	ret = conn_create(end->session, &end->conn, &end->id);
	if (!ret)
		ret = conn_resolve(end->conn, &pair->address);
	if (!ret)
		ret = conn_wait(end->conn, deadline_in(PATIENCE_MS), NULL);
	return ret ?: end_prepare(end, &options);
}

/* What the user may have now. */
static long limit_mib(void)
{
	char line[32];
	long mib;

	if (read_line(line, sizeof(line), PARAMETER))
		return -1;
	mib = strtol(line, NULL, 10);
	return mib ?: meminfo_mib("MemTotal: %ld") / 2;
}

/* Until it is refused, and no further than the kernel may grow. */
static int deep_connections(void *context)
{
	struct end *ends = calloc(CONNECTIONS, sizeof(*ends));
	long limit = limit_mib();
	long before, grown = 0;
	struct pair pair;
	int ret = 0;
	int count;

	(void)context;
	CHECK(ends && limit > 0);
	CHECK(!pair_begin(&pair, NULL));
	before = available_mib();
	for (count = 0; !ret && count < CONNECTIONS && grown <= GROWTH_MIB(limit) + NOISE_MIB;
	     count++) {
		ret = deep_connection(&pair, &ends[count], false);
		grown = before - available_mib();
	}
	printf("# %d connections, then %d; the kernel has grown by %ld of %ld MiB\n", count, ret,
	       grown, limit);
	CHECK(ret == -EDQUOT);
	CHECK(grown <= GROWTH_MIB(limit) + NOISE_MIB);
	/* And what is charged is not much more than there is. */
	CHECK(grown >= limit / 4);
	/* Without those, the same again. */
	for (int i = 0; i < count; i++)
		end_close(&ends[i]);
	for (int round = 0; round < 50; round++) {
		end_init(&ends[0], pair.sessions[0]);
		for (int tries = 0; tries < PATIENCE_MS; tries += 10) {
			ret = deep_connection(&pair, &ends[0], false);
			if (ret != -EDQUOT)
				break;
			end_close(&ends[0]);
			sleep_ms(10);
		}
		CHECK(!ret);
		end_close(&ends[0]);
	}
	return 0;
}

/* Proves: F6 */
TEST_F(charge, deep_connections_count_as_memory)
{
	ASSERT_EQ(0, set_limit(LIMIT_MIB));
	EXPECT_EQ(0, child_run_as(SOME_USER, deep_connections, NULL));
}

/* Also where nobody has set a limit, the machine goes on. */
TEST_F(charge, deep_connections_at_the_default_limit)
{
	ASSERT_EQ(0, set_limit(0));
	EXPECT_EQ(0, child_run_as(SOME_USER, deep_connections, NULL));
	EXPECT_LT(meminfo_mib("MemTotal: %ld") / 8, available_mib());
}

static int deep_shared_queues(void *context)
{
	struct krdma_srq_create create;
	struct queue_options options = { .cq_entries = DEPTH + 2 };
	struct queue *queues = calloc(CONNECTIONS, sizeof(*queues));
	long before, grown = 0;
	int session, count;
	int ret = 0;

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0 && queues);
	CHECK(!boot_device(session, &options.device_id));
	before = available_mib();
	for (count = 0; !ret && count < CONNECTIONS && grown <= GROWTH_MIB(LIMIT_MIB) + NOISE_MIB;
	     count++) {
		ret = queue_create(session, &options, &queues[count]);
		create = (struct krdma_srq_create) {
			.size = sizeof(create),
			.queue_fd = queues[count].fd,
			.depth = DEPTH,
			.max_sge = SRQ_SGE,
		};
		if (!ret)
			ret = session_request(session, KRDMA_SRQ_CREATE, &create);
		grown = before - available_mib();
	}
	printf("# %d shared queues, then %d; the kernel has grown by %ld MiB\n", count, ret, grown);
	CHECK(ret == -EDQUOT);
	CHECK(grown <= GROWTH_MIB(LIMIT_MIB) + NOISE_MIB);
	return 0;
}

/* Proves: F6 */
TEST_F(charge, deep_shared_receive_queues_too)
{
	ASSERT_EQ(0, set_limit(LIMIT_MIB));
	EXPECT_EQ(0, child_run_as(OTHER_USER, deep_shared_queues, NULL));
}

/*
 * Control groups
 */

static int64_t group_bytes(void)
{
	char line[64];

	return read_line(line, sizeof(line), GROUP "/memory.current") ? -1 :
		strtoll(line, NULL, 10);
}

static int one_in_a_group(void *context)
{
	struct krdma_device_query device;
	struct pair pair;
	struct end end;
	int64_t before, grown;

	(void)context;
	CHECK(!write_text(GROUP "/cgroup.procs", "0"));
	CHECK(!pair_begin(&pair, NULL));
	CHECK(!session_device(pair.sessions[0], pair.device, &device));
	before = group_bytes();
	CHECK(before >= 0);
	CHECK(!deep_connection(&pair, &end, false));
	grown = group_bytes() - before;
	printf("# the group has grown by %lld KiB\n", (long long)grown / 1024);
	CHECK(grown >= OWN_BYTES(device.max_send_sge) + OWN_BYTES(device.max_recv_sge));
	return 0;
}

TEST_F(charge, a_control_group_has_it)
{
	char line[256] = "";
	bool mounted;

	mkdir(ROOT, 0755);
	mounted = !mount("none", ROOT, "cgroup2", 0, NULL);
	if (mounted)
		read_line(line, sizeof(line), ROOT "/cgroup.controllers");
	if (!strstr(line, "memory"))
		SKIP(return, "no memory controller: '%s'", line);
	ASSERT_EQ(0, write_text(ROOT "/cgroup.subtree_control", "+memory"));
	ASSERT_TRUE(!mkdir(GROUP, 0755) || errno == EEXIST);
	EXPECT_EQ(0, child_run(one_in_a_group, NULL));
	rmdir(GROUP);
	write_text(ROOT "/cgroup.subtree_control", "-memory");
	umount(ROOT);
	rmdir(ROOT);
}

/*
 * And to whom queue pairs belong
 */

#define QPS	"/sys/kernel/debug/krdma/qps"

/* How many of this process the list has, and whether @number is one of them. */
static int own_qps(uint32_t number, bool *found)
{
	char device[64], comm[32];
	unsigned int listed;
	FILE *file = fopen(QPS, "re");
	int count = 0;
	int pid;

	*found = false;
	while (file && fscanf(file, "%63s %u %d %31[^\n]", device, &listed, &pid, comm) == 4) {
		if (pid != getpid())
			continue;
		count++;
		*found |= listed == number && !strcmp(device, BOOT_DEVICE);
	}
	if (file)
		fclose(file);
	return count;
}

TEST_F(charge, queue_pairs_have_a_process)
{
	struct krdma_conn_query query;
	struct pair pair;
	bool found;

	ASSERT_EQ(0, pair_open(&pair, NULL));
	ASSERT_EQ(0, conn_query(pair.a.conn, NULL, 0, &query));
	EXPECT_EQ(2, own_qps(query.qp_number, &found));
	EXPECT_TRUE(found);
	ASSERT_EQ(0, conn_query(pair.b.conn, NULL, 0, &query));
	EXPECT_EQ(2, own_qps(query.qp_number, &found));
	EXPECT_TRUE(found);
	pair_close(&pair);
	for (int i = 0; i < PATIENCE_MS && own_qps(0, &found); i += 10)
		sleep_ms(10);
	EXPECT_EQ(0, own_qps(0, &found));
}

TEST_HARNESS_MAIN
