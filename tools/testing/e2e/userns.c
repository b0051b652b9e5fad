// SPDX-License-Identifier: GPL-2.0
/*
 * User namespaces: they make nobody richer.  A user has what he has as the initial
 * namespace knows him, whoever he is and whatever he may in one of his own.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define MAX_SESSIONS	"/sys/module/krdma/parameters/max_sessions"
#define KIB		1024UL
/* A user of the line's own: what another test's user had may end in the background. */
#define LINE_USER	(20000 + __LINE__)

FIXTURE(userns)
{
	struct resources before;
	char max_sessions[32];
	mode_t mode;
};

FIXTURE_SETUP(userns)
{
	struct stat status;

	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, read_line(self->max_sessions, sizeof(self->max_sessions), MAX_SESSIONS));
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	self->mode = status.st_mode;
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
}

FIXTURE_TEARDOWN(userns)
{
	chmod(SESSION_PATH, self->mode & 07777);
	EXPECT_EQ(0, write_text(MAX_SESSIONS, self->max_sessions));
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

/* Root in a user namespace of its own, with all capabilities there. */
static int become_root_there(void)
{
	uid_t user = getuid();
	char map[64];

	/* Who has changed its user may not write its own map otherwise. */
	if (prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER))
		return -errno;
	snprintf(map, sizeof(map), "0 %u 1", user);
	if (write_text("/proc/self/uid_map", map))
		return -EPERM;
	return getuid() ? -EPERM : 0;
}

/* What is had outside counts inside. */
static int one_more_inside(void *context)
{
	(void)context;
	CHECK(!become_root_there());
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	return 0;
}

static int one_outside(void *context)
{
	CHECK(session_open(O_CLOEXEC) >= 0);
	return child_run(one_more_inside, context);
}

/* Proves: F6 */
TEST_F(userns, what_is_had_outside_counts_inside)
{
	ASSERT_EQ(0, write_text(MAX_SESSIONS, "1"));
	EXPECT_EQ(0, child_run_as(LINE_USER, one_outside, NULL));
}

/* And the other way round; and what is had in one counts in another one. */
static int one_inside(void *context)
{
	int *ready = context;

	CHECK(!become_root_there());
	CHECK(session_open(O_CLOEXEC) >= 0);
	CHECK(write(ready[1], "", 1) == 1);
	/* Until it is killed. */
	return pause();
}

static int two_namespaces(void *context)
{
	int ready[2];
	char word;
	pid_t first;

	CHECK(!pipe(ready));
	first = child_start(one_inside, ready);
	CHECK(first > 0);
	close(ready[1]);
	CHECK(read(ready[0], &word, 1) == 1);
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	CHECK(!child_run(one_more_inside, context));
	CHECK(child_kill(first) >= 0);
	return 0;
}

/* Proves: F6 */
TEST_F(userns, namespaces_of_a_user_have_one_share)
{
	ASSERT_EQ(0, write_text(MAX_SESSIONS, "1"));
	EXPECT_EQ(0, child_run_as(LINE_USER, two_namespaces, NULL));
}

/* Root there may not exceed what root may: neither krdma's limits nor RLIMIT_MEMLOCK. */
static int too_much_memory(void *context)
{
	const struct rlimit locked = { 64 * KIB, 64 * KIB };
	struct memory memory;
	uint32_t device;
	int session, ret;

	(void)context;
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &locked));
	CHECK(!become_root_there());
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!memory_create(session, device, 16 * KIB, ACCESS_ALL, &memory));
	ret = memory_create(session, device, 128 * KIB, ACCESS_ALL, &memory);
	CHECK(ret == -ENOMEM);
	return 0;
}

/* Proves: F6 */
TEST_F(userns, its_root_locks_no_more_memory)
{
	EXPECT_EQ(0, child_run_as(LINE_USER, too_much_memory, NULL));
}

TEST_HARNESS_MAIN
