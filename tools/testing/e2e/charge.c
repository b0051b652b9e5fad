// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel memory of a program's rings and queues: to which user and control group it is charged.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "interrupt.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define PARAMETER	"/sys/module/krdma/parameters/max_memory_mb"
#define ROOT		"/tmp/krdma-charge"
#define GROUP		ROOT "/test"

/* Memory limit of a user, where a test sets it; the default is half of the machine's memory. */
#define LIMIT_MIB	64
/* The same where a test makes as many small objects as it allows, which takes long. */
#define OBJECTS_MIB	rounds(LIMIT_MIB, LIMIT_MIB / 4)
/* How much the kernel's memory may grow at a limit, and a margin for other activity. */
#define GROWTH_MIB(limit)	((limit) * 5 / 4)
#define NOISE_MIB		8
/* The debug kernel adds redzones and records of its own to each small object. */
#define OBJECTS_GROWTH_MIB	(OBJECTS_MIB * rounds(5, 7) / 4)

#define MIB		(1024 * 1024)
#define DEPTH		4096
#define CONNECTIONS	256
/* Devices may allow fewer SGEs in an SRQ than in an RQ. */
#define SRQ_SGE		16

/* krdma's memory for an SQ or RQ of DEPTH work requests: a pointer to an MR for each SGE. */
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

/*
 * A connection with its QP, DEPTH deep and with as many SGEs as the device allows, with a ring of
 * its own.  Returns 0 or -errno.
 */
static int deep_connection(struct pair *pair, struct end *end, bool shared)
{
	struct end_options options = {
		.send_depth = DEPTH,
		.ring_options.cq_entries = 2 * DEPTH + KRDMA_RING_EXTRA,
		.ring_options.device_id = pair->device,
	};
	struct krdma_device_query_args device;
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
	return ret ?: end_create_qp(end, &options);
}

/* The current memory limit of a user. */
static long limit_mib(void)
{
	char line[32];
	long mib;

	if (read_line(line, sizeof(line), PARAMETER))
		return -1;
	mib = strtol(line, NULL, 10);
	return mib ?: meminfo_mib("MemTotal: %ld") / 2;
}

/* Creates connections until one fails, or the kernel has grown more than it may. */
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
	/* The charge is not much more than the memory that is really used. */
	CHECK(grown >= limit / 4);
	/* After they are closed, new connections succeed again. */
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

/* With the default limit too, the machine keeps enough memory. */
TEST_F(charge, deep_connections_at_the_default_limit)
{
	ASSERT_EQ(0, set_limit(0));
	EXPECT_EQ(0, child_run_as(SOME_USER, deep_connections, NULL));
	EXPECT_LT(meminfo_mib("MemTotal: %ld") / 8, available_mib());
}

static int deep_shared_queues(void *context)
{
	struct krdma_srq_create_args create;
	struct krdma_device_query_args device;
	struct ring_options options = { .cq_entries = DEPTH + KRDMA_RING_EXTRA };
	struct ring *rings = calloc(CONNECTIONS, sizeof(*rings));
	long before, grown = 0;
	int session, count;
	int ret = 0;

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0 && rings);
	CHECK(!boot_device(session, &options.device_id));
	CHECK(!session_device(session, options.device_id, &device));
	before = available_mib();
	for (count = 0; !ret && count < CONNECTIONS && grown <= GROWTH_MIB(LIMIT_MIB) + NOISE_MIB;
	     count++) {
		ret = ring_create(session, &options, &rings[count]);
		create = (struct krdma_srq_create_args) {
			.size = sizeof(create),
			.ring_fd = rings[count].fd,
			.depth = DEPTH,
			.max_sge = device.max_recv_sge < SRQ_SGE ? device.max_recv_sge : SRQ_SGE,
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
 * Memory regions
 */

#define PIECE	(MIB / 64)

/*
 * Registers MRs of PIECE bytes until one fails, at most @room; *@mr becomes the last one.
 * Returns their number, or -errno.
 */
static int fill_memory(int session, uint32_t device, struct mr *mr, int room)
{
	struct mr one;
	int count, ret;

	for (count = 0; count < room; count++) {
		ret = mr_create(session, device, PIECE, ACCESS_ALL, &one);
		if (ret)
			return ret == -EDQUOT ? count : ret;
		*mr = one;
	}
	return count;
}

static int some_memory(void *context)
{
	struct mr mr = { }, more, none;
	struct ring ring;
	uint32_t device;
	int session;

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));

	CHECK(mr_create(session, device, MIB, ACCESS_ALL, &more) == -EDQUOT);
	/* An MR costs more than its pages, but less than half as much again. */
	CHECK(fill_memory(session, device, &mr, 65) < 64);
	CHECK(!mr_deregister(session, mr.id, 0));
	CHECK(fill_memory(session, device, &mr, 2) == 1);
	CHECK(mr_create(session, device, 1, ACCESS_ALL, &more) == -EDQUOT);
	/* Rings are charged too. */
	CHECK(ring_create(session, NULL, &ring) == -EDQUOT);
	CHECK(!mr_deregister(session, mr.id, 0));
	/* Whole pages are charged, and deregistering uncharges them at once. */
	for (int i = 0; i < 100; i++) {
		CHECK(!mr_register(session, device, mr.data, PIECE - 4095, ACCESS_ALL,
				   &more));
		CHECK(mr_register(session, device, mr.data, 1, 0, &none) == -EDQUOT);
		CHECK(!mr_deregister(session, more.id, 0));
	}
	/* A registration that fails is not charged. */
	for (int i = 0; i < 100; i++)
		CHECK(mr_register(session, device, NULL, PIECE, ACCESS_ALL, &more) == -EFAULT);
	CHECK(!mr_register(session, device, mr.data, PIECE, ACCESS_ALL, &more));
	return 0;
}

/* Proves: F6 */
TEST_F(charge, registered_memory)
{
	ASSERT_EQ(0, set_limit(1));
	EXPECT_EQ(0, child_run_as(SOME_USER + 1, some_memory, NULL));
}

/*
 * Many small objects: the kernel's cost of each is charged too
 */

/* More objects than LIMIT_MIB allows: an MR of a page costs 10 KiB more, another object 4 KiB. */
#define MANY		30000
/* MRs of a confined ring: those of a set cost 8 KiB. */
#define SET		2000

static struct small {
	int session;
	uint32_t device;
	struct __kernel_sockaddr_storage address;
	unsigned char *page;
	struct ring ring;
	uint32_t ids[SET];
} small;

static int one_session(void)
{
	int fd = session_open(O_CLOEXEC);

	return fd < 0 ? fd : 0;
}

static int one_registration(void)
{
	struct mr mr;

	return mr_register(small.session, small.device, small.page, 1,
			   KRDMA_ACCESS_LOCAL_WRITE, &mr);
}

static int one_listener(void)
{
	int fd;

	return listener_open(small.session, BOOT_ADDRESS, 0, 0, &fd, NULL);
}

static int one_resolved(void)
{
	int fd, ret = conn_create(small.session, &fd, NULL);

	if (!ret)
		ret = conn_resolve(fd, &small.address);
	return ret ?: conn_wait(fd, deadline_in(PATIENCE_MS), NULL);
}

static int one_prepared(void)
{
	struct end end;
	int ret;

	end_init(&end, small.session);
	ret = conn_create(end.session, &end.conn, &end.id);
	if (!ret)
		ret = conn_resolve(end.conn, &small.address);
	if (!ret)
		ret = conn_wait(end.conn, deadline_in(PATIENCE_MS), NULL);
	/* The CQ has room for the completions of a thousand connections. */
	return ret ?: end_create_qp(&end, &(struct end_options) {
		.send_depth = 1, .recv_depth = 1, .ring = &small.ring,
	});
}

static int one_queue(void)
{
	struct ring_options options = { .cq_entries = 1 };
	struct ring ring;

	return ring_create(small.session, &options, &ring);
}

static int one_confined(void)
{
	struct ring_options options = { .cq_entries = 1 };
	unsigned int count = rounds(SET, SET / 4);
	struct ring ring;
	int ret;

	for (unsigned int i = 0; i < count && !small.ids[i]; i++) {
		struct mr mr;

		ret = mr_register(small.session, small.device, small.page, 1,
				  KRDMA_ACCESS_LOCAL_WRITE, &mr);
		if (ret)
			return ret == -EDQUOT ? -EINVAL : ret;
		small.ids[i] = mr.id;
	}
	ret = ring_create(small.session, &options, &ring);
	return ret ?: ring_confine(ring.fd, small.ids, count);
}

struct kind {
	const char *what;
	int (*make)(void);
};

static const struct kind kinds[] = {
	{ "sessions", one_session },
	{ "registrations", one_registration },
	{ "listeners", one_listener },
	{ "resolved connections", one_resolved },
	{ "prepared connections", one_prepared },
	{ "queues", one_queue },
	{ "confined queues", one_confined },
};

/* Creates objects until a limit is reached, or the shared CQ is fully reserved (-ENOSPC). */
static int many_small(void *context)
{
	const struct kind *kind = context;
	const struct rlimit files = { MANY + 64, MANY + 64 };
	struct ring_options options = { .cq_entries = 4096 };
	long before, grown = 0;
	int count, ret;

	CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	CHECK(!child_become(SOME_USER + 10 + (kind - kinds)));
	small.session = session_open(O_CLOEXEC);
	CHECK(small.session >= 0);
	CHECK(!boot_device(small.session, &small.device));
	CHECK(!address_set(&small.address, BOOT_ADDRESS, 7601));
	CHECK(!ring_create(small.session, &options, &small.ring));
	small.page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(small.page != MAP_FAILED);
	before = available_mib();
	for (count = 0, ret = 0; count < MANY; count++) {
		ret = kind->make();
		if (!(count % 64))
			grown = before - available_mib();
		if (ret || grown > OBJECTS_GROWTH_MIB + NOISE_MIB)
			break;
	}
	grown = before - available_mib();
	printf("# %d %s, then %s; the kernel has grown by %ld MiB of %u\n", count, kind->what,
	       strerror(-ret), grown, OBJECTS_MIB);
	CHECK(ret == -EDQUOT || ret == -ENOSPC);
	CHECK(grown <= OBJECTS_GROWTH_MIB + NOISE_MIB);
	return 0;
}

/* Proves: F6 */
TEST_F_TIMEOUT(charge, what_is_small_counts_as_what_it_costs, 300)
{
	const struct rlimit locked = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit saved;

	ASSERT_EQ(0, set_limit(OBJECTS_MIB));
	ASSERT_EQ(0, getrlimit(RLIMIT_MEMLOCK, &saved));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &locked));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		EXPECT_EQ(0, child_run(many_small, (void *)&kinds[i]));
		EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
	}
	EXPECT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &saved));
}

/* What posts and calls for many connections need is charged, as long as the session keeps it. */
TEST_F(charge, what_a_session_keeps)
{
	struct krdma_conns_args conns = { .size = sizeof(conns), .count = 1 };
	struct krdma_conns_entry entry = { .id = 4711 };
	struct ring_options options = { .cq_entries = 1 };
	int64_t before, with_batch;
	struct ring ring;
	int session;

	session = session_open(O_CLOEXEC);
	ASSERT_LE(0, session);
	before = session_memory(session);
	ASSERT_EQ(0, ring_create(session, &options, &ring));
	ring_close(&ring);
	with_batch = session_memory(session);
	EXPECT_LE(before + 8192, with_batch);
	/* The next ring finds it. */
	ASSERT_EQ(0, ring_create(session, &options, &ring));
	ring_close(&ring);
	EXPECT_EQ(with_batch, session_memory(session));
	conns.entries = (uintptr_t)&entry;
	session_request(session, KRDMA_CONNS_CLOSE, &conns);
	EXPECT_LE(with_batch + 16384, session_memory(session));
	close(session);
}

/* A set is charged without duplicates, as long as the ring has it. */
TEST_F(charge, the_set_of_a_confined_queue)
{
	static uint32_t ids[KRDMA_CONFINE_MAX];
	struct ring_options options = { .cq_entries = 1 };
	struct mr mrs[200];
	uint32_t device;
	struct ring ring;
	int64_t before, other, first;
	int session;

	session = session_open(O_CLOEXEC);
	ASSERT_LE(0, session);
	ASSERT_EQ(0, boot_device(session, &device));
	for (size_t i = 0; i < ARRAY_SIZE(mrs); i++)
		ASSERT_EQ(0, mr_create(session, device, 4096, KRDMA_ACCESS_LOCAL_WRITE, &mrs[i]));
	/* The session keeps what a first ring needs. */
	ASSERT_EQ(0, ring_create(session, &options, &ring));
	ring_close(&ring);
	other = session_memory(session);
	ASSERT_EQ(0, ring_create(session, &options, &ring));
	before = session_memory(session);

	for (size_t i = 0; i < ARRAY_SIZE(mrs); i++)
		ids[i] = mrs[i].id;
	ASSERT_EQ(0, ring_confine(ring.fd, ids, ARRAY_SIZE(mrs)));
	first = session_memory(session);
	EXPECT_LE(before + sizeof(ids[0]) * ARRAY_SIZE(mrs), first);
	/* What is refused costs nothing. */
	ids[1] = 4711;
	EXPECT_EQ(-ENOENT, ring_confine(ring.fd, ids, ARRAY_SIZE(mrs)));
	EXPECT_EQ(first, session_memory(session));

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = mrs[i % 2].id;
	ASSERT_EQ(0, ring_confine(ring.fd, ids, ARRAY_SIZE(ids)));
	EXPECT_LT(before, session_memory(session));
	EXPECT_GE(before + 64, session_memory(session));
	ids[0] = mrs[2].id;
	EXPECT_EQ(-EPERM, ring_confine(ring.fd, ids, ARRAY_SIZE(ids)));
	EXPECT_GE(before + 64, session_memory(session));
	/* A lasting set of two still means these two. */
	ids[0] = mrs[1].id;
	EXPECT_EQ(0, ring_confine(ring.fd, ids, 1));

	ring_close(&ring);
	EXPECT_EQ(other, session_memory(session));
	for (size_t i = 0; i < ARRAY_SIZE(mrs); i++)
		mr_destroy(&mrs[i]);
	close(session);
}

/*
 * Calls that need no more than there is
 */

#define POSTER_USER	(SOME_USER + 20)
#define CONFINER_USER	(SOME_USER + 21)
/* Limits, and more pieces of memory than they allow. */
#define POST_MIB	4
#define NARROW_MIB	16
#define PIECES		(NARROW_MIB * 64)

/* Uses up the limit: less is left than a session costs, which is 4096 bytes. */
static int use_up(int session, uint32_t device)
{
	struct mr mr;
	int ret = fill_memory(session, device, &mr, PIECES);

	if (ret < 0 || ret == PIECES)
		return -EINVAL;
	do {
		ret = session_open(O_CLOEXEC);
	} while (ret >= 0);
	return ret == -EDQUOT ? 0 : ret;
}

/**
 * struct poster - a thread that posts an entry that it cannot read yet
 * @ring: its ring
 * @entry: the entry, in a page that nobody has provided
 */
struct poster {
	struct ring ring;
	const struct krdma_sqe *entry;
};

static void *post_unreadable(void *argument)
{
	struct poster *poster = argument;

	ring_post(poster->ring.fd, poster->entry, 1, NULL);
	return NULL;
}

static int post_beside_a_fault(void *context)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	struct ring_options options = { .cq_entries = 1 };
	struct krdma_sqe entry = sqe_receive(4711, 0, NULL, 0, 0);
	struct poster poster;
	pthread_t thread;
	struct ring ring;
	uint32_t device;
	int64_t before;
	int session, faults;
	void *page;

	(void)context;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	faults = faults_open(page);
	CHECK(faults >= 0);
	CHECK(!child_become(POSTER_USER));
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!ring_create(session, &options, &poster.ring));
	CHECK(!ring_create(session, &options, &ring));
	CHECK(!use_up(session, device));
	before = session_memory(session);

	poster.entry = page;
	CHECK(!pthread_create(&thread, NULL, post_unreadable, &poster));
	CHECK(poll_mask(faults, POLLIN, PATIENCE_MS) == POLLIN);
	/* The first post is in the kernel, and ends after the others.  A wait ends the process. */
	alarm(PATIENCE_MS / 1000);
	for (int i = 0; i < 3; i++)
		CHECK(ring_post(ring.fd, &entry, 1, NULL) == -ENOENT);
	alarm(0);
	CHECK(session_memory(session) == before);

	CHECK(!faults_answer(faults, page));
	CHECK(!pthread_join(thread, NULL));
	CHECK(ring_post(ring.fd, &entry, 1, NULL) == -ENOENT);
	CHECK(session_memory(session) == before);
	return 0;
}

/* Posts of a program at its limit do not wait for each other: one may provide another's memory. */
/* Proves: F6 */
TEST_F(charge, a_post_at_the_limit_waits_for_no_other)
{
	int faults = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (faults < 0)
		SKIP(return, "no userfaultfd: %s", strerror(errno));
	close(faults);
	ASSERT_EQ(0, set_limit(POST_MIB));
	EXPECT_EQ(0, child_run(post_beside_a_fault, NULL));
}

/* A set of so many costs more than use_up() leaves, and so does one of one less. */
#define NARROW		1100

static int take_rights_away(void *context)
{
	struct ring_options options = { .cq_entries = 1 };
	static uint32_t ids[NARROW];
	struct ring ring;
	uint32_t device;
	int session;
	void *page;
	int64_t before;

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(page != MAP_FAILED);
	for (int i = 0; i < NARROW; i++) {
		struct mr mr;

		CHECK(!mr_register(session, device, page, 1, KRDMA_ACCESS_LOCAL_WRITE, &mr));
		ids[i] = mr.id;
	}
	CHECK(!ring_create(session, &options, &ring));
	CHECK(!ring_confine(ring.fd, ids, NARROW));
	CHECK(!use_up(session, device));
	before = session_memory(session);
	CHECK(!ring_confine(ring.fd, ids, NARROW - 1));
	CHECK(session_memory(session) == before);
	CHECK(ring_confine(ring.fd, ids, NARROW) == -EPERM);
	CHECK(session_memory(session) == before);
	/* What is not needed any more is given back. */
	CHECK(!ring_confine(ring.fd, ids, 1));
	CHECK(session_memory(session) <= before - 4096);
	return 0;
}

/* Proves: F6 */
TEST_F(charge, a_program_at_the_limit_takes_rights_away)
{
	const struct rlimit locked = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit saved;

	ASSERT_EQ(0, set_limit(NARROW_MIB));
	ASSERT_EQ(0, getrlimit(RLIMIT_MEMLOCK, &saved));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &locked));
	EXPECT_EQ(0, child_run_as(CONFINER_USER, take_rights_away, NULL));
	EXPECT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &saved));
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
	struct krdma_device_query_args device;
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

/* Makes GROUP, with the memory controller; 0, or -ENOENT if there is none, or another errno. */
static int group_begin(void)
{
	char line[256] = "";
	int ret;

	mkdir(ROOT, 0755);
	if (!mount("none", ROOT, "cgroup2", 0, NULL))
		read_line(line, sizeof(line), ROOT "/cgroup.controllers");
	if (!strstr(line, "memory")) {
		printf("# no memory controller: '%s'\n", line);
		return -ENOENT;
	}
	ret = write_text(ROOT "/cgroup.subtree_control", "+memory");
	if (ret)
		return ret;
	return !mkdir(GROUP, 0755) || errno == EEXIST ? 0 : -errno;
}

static void group_end(void)
{
	rmdir(GROUP);
	write_text(ROOT "/cgroup.subtree_control", "-memory");
	umount(ROOT);
	rmdir(ROOT);
}

TEST_F(charge, a_control_group_has_it)
{
	int ret = group_begin();

	if (ret == -ENOENT)
		SKIP(return, "no memory controller");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, child_run(one_in_a_group, NULL));
	group_end();
}

/* More than the group is allowed, later, and nothing of it can be reclaimed. */
#define FILLED		(8 * MIB)
#define ALLOWED		"1M"

/**
 * struct full_group - a listener in a group that is full
 * @filled: the listener's process writes the address here when it has filled the group
 * @emptied: the test writes a byte here when there is room again
 * @waits: shared: a request waits at the listener
 */
struct full_group {
	int filled[2];
	int emptied[2];
	atomic_bool *waits;
};

static int listen_in_a_group(void *context)
{
	struct full_group *group = context;
	struct __kernel_sockaddr_storage address;
	int session, fd, taken;
	unsigned char *memory;
	char byte;

	/* It is not this process that the kernel would end. */
	CHECK(!write_text("/proc/self/oom_score_adj", "-1000"));
	CHECK(!write_text(GROUP "/cgroup.procs", "0"));
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!listener_open(session, BOOT_ADDRESS, 0, 0, &fd, &address));
	memory = mmap(NULL, FILLED, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(memory != MAP_FAILED);
	/* What this call needs is there before the group is full. */
	CHECK(!poll_mask(fd, POLLIN, 1));
	*group->waits = false;
	CHECK(write(group->filled[1], &address, sizeof(address)) == sizeof(address));
	*group->waits = poll_mask(fd, POLLIN, PATIENCE_MS) == POLLIN;
	CHECK(read(group->emptied[0], &byte, 1) == 1);
	CHECK(!listener_next(fd, deadline_in(PATIENCE_MS), &taken, NULL));
	return 0;
}

static int do_nothing(void *context)
{
	(void)context;
	pause();
	return 0;
}

/* Processes of the group that the kernel has ended for lack of memory. */
static int group_kills(void)
{
	char line[64];
	int kills = -1;
	FILE *file = fopen(GROUP "/memory.events", "re");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "oom_kill %d", &kills);
	if (file)
		fclose(file);
	return kills;
}

/*
 * A listener of a group at its limit gets its requests, and their memory exceeds the limit.  It is
 * not the connection manager's thread, for which all users wait, that makes room in the group.
 */
TEST_F(charge, a_request_makes_no_room_in_a_full_group)
{
	struct __kernel_sockaddr_storage address;
	struct full_group group;
	struct end end;
	pid_t listener, other;
	int session, status;
	char pid[16];
	int ret = group_begin();

	if (ret == -ENOENT)
		SKIP(return, "no memory controller");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, pipe2(group.filled, O_CLOEXEC));
	ASSERT_EQ(0, pipe2(group.emptied, O_CLOEXEC));
	group.waits = mmap(NULL, sizeof(*group.waits), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, group.waits);
	listener = child_start(listen_in_a_group, &group);
	other = child_start(do_nothing, NULL);
	ASSERT_TRUE(listener > 0 && other > 0);
	ASSERT_EQ((ssize_t)sizeof(address), read(group.filled[0], &address, sizeof(address)));
	ASSERT_EQ(0, write_text(GROUP "/memory.max", ALLOWED));
	snprintf(pid, sizeof(pid), "%d", other);
	ASSERT_EQ(0, write_text(GROUP "/cgroup.procs", pid));
	EXPECT_LT(strtoll(ALLOWED, NULL, 10) * MIB, group_bytes());

	session = session_open(O_CLOEXEC);
	ASSERT_LE(0, session);
	ASSERT_EQ(0, end_ask(&end, session, &address, NULL));
	for (int i = 0; i < PATIENCE_MS && !*group.waits; i++)
		sleep_ms(1);
	EXPECT_TRUE(*group.waits);
	EXPECT_LT(strtoll(ALLOWED, NULL, 10) * MIB, group_bytes());
	EXPECT_EQ(0, group_kills());
	EXPECT_EQ(0, waitpid(other, NULL, WNOHANG));

	/* The listener's own process takes it, for which the group needs memory. */
	ASSERT_EQ(0, write_text(GROUP "/memory.max", "max"));
	ASSERT_EQ(1, write(group.emptied[1], "", 1));
	ASSERT_EQ(listener, waitpid(listener, &status, 0));
	EXPECT_EQ(0, status);
	child_kill(other);
	end_close(&end);
	close(session);
	close(group.filled[0]);
	close(group.filled[1]);
	close(group.emptied[0]);
	close(group.emptied[1]);
	munmap(group.waits, sizeof(*group.waits));
	group_end();
}

/*
 * LIMIT_QUERY
 */

#define PARAMETERS	"/sys/module/krdma/parameters/"

static int limit_query(int session, uint32_t limit, uint32_t flags,
		       struct krdma_limit_query_args *query)
{
	*query = (struct krdma_limit_query_args) {
		.size = sizeof(*query), .limit = limit, .flags = flags,
	};
	return session_request(session, KRDMA_LIMIT_QUERY, query);
}

/* True if the last refusal was by @limit in @scope, and @limit has refused @count times. */
static bool refused(int session, uint32_t limit, uint32_t scope, uint64_t count)
{
	struct krdma_limit_query_args last, named;

	return !limit_query(session, 0, KRDMA_LIMIT_QUERY_REFUSED, &last) &&
	       last.limit == limit && last.scope == scope && last.refused == count &&
	       !limit_query(session, limit, 0, &named) && named.scope == scope &&
	       named.refused == count && named.max == last.max;
}

static bool uses(int session, uint32_t limit, uint64_t own, uint64_t user, uint64_t max)
{
	struct krdma_limit_query_args query;

	return !limit_query(session, limit, 0, &query) && query.limit == limit &&
	       query.session_used == own && query.user_used == user && !query.owner_used &&
	       query.max == max;
}

static int ask_limits(void *context)
{
	struct __kernel_sockaddr_storage address;
	struct krdma_limit_query_args query;
	struct mr mr;
	int first, session, conn, fd;
	uint32_t device;

	(void)context;
	first = session_open(O_CLOEXEC);
	session = session_open(O_CLOEXEC);
	CHECK(first >= 0 && session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!address_set(&address, BOOT_ADDRESS, 7600));

	/* Limits are numbered without gaps, and nothing has been refused so far. */
	for (uint32_t limit = 0; limit <= KRDMA_LIMIT_DEVICE; limit++) {
		CHECK(!limit_query(session, limit, 0, &query));
		CHECK(query.limit == limit && !query.scope && !query.refused);
	}
	CHECK(query.max == KRDMA_LIMIT_UNKNOWN);
	CHECK(limit_query(session, KRDMA_LIMIT_DEVICE + 1, 0, &query) == -ENOENT);
	CHECK(limit_query(session, UINT32_MAX, 0, &query) == -ENOENT);
	CHECK(limit_query(session, 0, KRDMA_LIMIT_QUERY_REFUSED, &query) == -ENOENT);
	CHECK(limit_query(session, 1, KRDMA_LIMIT_QUERY_REFUSED, &query) == -EINVAL);
	CHECK(limit_query(session, 0, 2, &query) == -EOPNOTSUPP);

	/* Usage of the session, and of all sessions of the user. */
	CHECK(uses(session, KRDMA_LIMIT_SESSIONS, 1, 2, 2));
	CHECK(!conn_create(first, &fd, NULL) && !conn_create(session, &conn, NULL));
	CHECK(uses(session, KRDMA_LIMIT_OBJECTS, 1, 2, 3));
	CHECK(!conn_resolve(conn, &address));
	CHECK(uses(session, KRDMA_LIMIT_PORTS, 1, 1, 1));
	CHECK(uses(first, KRDMA_LIMIT_PORTS, 0, 1, 1));

	/* A refusal is counted for the session whose call failed. */
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	CHECK(conn_resolve(fd, &address) == -EDQUOT);
	CHECK(refused(first, KRDMA_LIMIT_PORTS, KRDMA_LIMIT_SCOPE_USER, 1));
	CHECK(limit_query(session, 0, KRDMA_LIMIT_QUERY_REFUSED, &query) == -ENOENT);
	CHECK(!conn_create(first, &fd, NULL));
	for (int i = 1; i < 4; i++) {
		CHECK(conn_create(first, &fd, NULL) == -EDQUOT);
		CHECK(refused(first, KRDMA_LIMIT_OBJECTS, KRDMA_LIMIT_SCOPE_USER, i));
	}
	CHECK(mr_create(first, device, 128 * MIB, ACCESS_ALL, &mr) == -EDQUOT);
	CHECK(refused(first, KRDMA_LIMIT_MEMORY, KRDMA_LIMIT_SCOPE_USER, 1));
	CHECK(!limit_query(first, KRDMA_LIMIT_MEMORY, 0, &query));
	CHECK(query.max == (uint64_t)LIMIT_MIB * MIB && query.user_used <= query.max);
	return 0;
}

/* Proves: F6 */
TEST_F(charge, a_session_is_told_of_its_limits)
{
	static const char *const names[] = { "max_sessions", "max_objects", "max_ports" };
	static const char *const values[] = { "2", "3", "1" };
	char path[3][128], saved[3][32];

	for (int i = 0; i < 3; i++) {
		snprintf(path[i], sizeof(path[i]), PARAMETERS "%s", names[i]);
		ASSERT_EQ(0, read_line(saved[i], sizeof(saved[i]), "%s", path[i]));
		EXPECT_EQ(0, write_text(path[i], values[i]));
	}
	ASSERT_EQ(0, set_limit(LIMIT_MIB));
	EXPECT_EQ(0, child_run_as(SOME_USER + 2, ask_limits, NULL));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, write_text(path[i], saved[i]));
}

/*
 * Connection requests
 */

/* Of a request that waits at a listener, and of a connection. */
#define REQUEST_BYTES	4096
#define CONN_BYTES	8192
#define ASKERS		3
/* A limit that is more than they need, and more pieces of memory than it allows. */
#define SMALL_MIB	4
#define ENOUGH		(SMALL_MIB * 64)

static bool comes_to_use(int session, uint64_t bytes)
{
	const uint64_t end = now_ms() + PATIENCE_MS;
	struct krdma_limit_query_args query;

	do {
		if (limit_query(session, KRDMA_LIMIT_MEMORY, 0, &query))
			return false;
	} while (query.session_used != bytes && now_ms() < end && !usleep(1000));
	if (query.session_used != bytes)
		printf("# %llu bytes instead of %llu\n",
		       (unsigned long long)query.session_used, (unsigned long long)bytes);
	return query.session_used == bytes;
}

/* All steps of a client before end_connect(). */
static int get_ready(struct end *end, int session, const struct __kernel_sockaddr_storage *address)
{
	int ret;

	end_init(end, session);
	ret = conn_create(session, &end->conn, NULL);
	if (!ret)
		ret = conn_resolve(end->conn, address);
	if (!ret)
		ret = conn_wait(end->conn, deadline_in(PATIENCE_MS), NULL);
	return ret ?: end_create_qp(end, NULL);
}

static int wait_at_a_listener(void *context)
{
	int session, clients, fd, taken, one;
	struct __kernel_sockaddr_storage address;
	struct krdma_limit_query_args query, own;
	struct end asking[ASKERS], late;
	struct mr mr = { };
	struct ring ring;
	uint32_t device;

	(void)context;
	session = session_open(O_CLOEXEC);
	clients = session_open(O_CLOEXEC);
	CHECK(session >= 0 && clients >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!listener_open(session, BOOT_ADDRESS, 0, ASKERS, &fd, &address));
	/* The session keeps what its first ring needs. */
	CHECK(!ring_create(clients, &(struct ring_options) { .cq_entries = 1 }, &ring));
	ring_close(&ring);
	CHECK(!limit_query(session, KRDMA_LIMIT_MEMORY, 0, &query));
	CHECK(!limit_query(clients, KRDMA_LIMIT_MEMORY, 0, &own));

	/* Each request that waits is charged to the session that listens, until it is taken. */
	for (int i = 0; i < ASKERS; i++) {
		CHECK(!end_ask(&asking[i], clients, &address, NULL));
		CHECK(comes_to_use(session, query.session_used + (i + 1) * REQUEST_BYTES));
	}
	CHECK(!listener_next(fd, deadline_in(PATIENCE_MS), &taken, NULL));
	CHECK(comes_to_use(session, query.session_used + (ASKERS - 1) * REQUEST_BYTES +
				    CONN_BYTES));
	close(taken);
	CHECK(comes_to_use(session, query.session_used + (ASKERS - 1) * REQUEST_BYTES));
	/* A request for which there is no place in the backlog is not. */
	end_close(&asking[0]);
	CHECK(!end_ask(&asking[0], clients, &address, NULL));
	CHECK(comes_to_use(session, query.session_used + ASKERS * REQUEST_BYTES));
	CHECK(!end_ask(&late, clients, &address, NULL));
	CHECK(conn_wait(late.conn, deadline_in(PATIENCE_MS), NULL) == -ECONNREFUSED);
	CHECK(comes_to_use(session, query.session_used + ASKERS * REQUEST_BYTES));
	end_close(&late);
	/* The peers give up. */
	for (int i = 0; i < ASKERS; i++)
		end_close(&asking[i]);
	CHECK(comes_to_use(session, query.session_used));

	/* Their QPs end later, and must not make room below. */
	CHECK(comes_to_use(clients, own.session_used));

	/* A user at the limit gets no requests, and can query which limit it is. */
	CHECK(!get_ready(&late, clients, &address));
	CHECK(!get_ready(&asking[0], clients, &address));
	CHECK(fill_memory(clients, device, &mr, ENOUGH) < ENOUGH);
	/* A session costs as much as a request. */
	do {
		one = session_open(O_CLOEXEC);
	} while (one >= 0);
	CHECK(one == -EDQUOT);
	CHECK(!end_connect(&late, NULL));
	CHECK(conn_wait(late.conn, deadline_in(PATIENCE_MS), NULL) == -ECONNREFUSED);
	CHECK(refused(session, KRDMA_LIMIT_MEMORY, KRDMA_LIMIT_SCOPE_USER, 1));
	CHECK(!mr_deregister(clients, mr.id, 0));
	CHECK(!end_connect(&asking[0], NULL));
	CHECK(comes_to_use(session, query.session_used + REQUEST_BYTES));
	/* What waits ends with the listener. */
	close(fd);
	CHECK(comes_to_use(session, query.session_used - CONN_BYTES));
	return 0;
}

/* Proves: F6 */
TEST_F(charge, requests_that_wait_at_a_listener)
{
	ASSERT_EQ(0, set_limit(SMALL_MIB));
	EXPECT_EQ(0, child_run_as(SOME_USER + 3, wait_at_a_listener, NULL));
}

/*
 * The process of each QP
 */

#define QPS	"/sys/kernel/debug/krdma/qps"

/* Returns how many QPs of this process are listed, and in @found whether @number is one. */
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
	struct krdma_conn_query_args query;
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
