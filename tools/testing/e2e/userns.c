// SPDX-License-Identifier: GPL-2.0
/*
 * User namespaces do not raise a user's limits.  krdma charges a user by the user ID in the
 * initial namespace, whatever ID and capabilities the user has in another namespace.  All users
 * of a namespace that a user owns share the limit of that owner.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
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
/* A user ID for each line: objects of another test's user may end in the background. */
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

	/* Without this, a process that has changed its user cannot write its own ID map. */
	if (prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER))
		return -errno;
	snprintf(map, sizeof(map), "0 %u 1", user);
	if (write_text("/proc/self/uid_map", map))
		return -EPERM;
	return getuid() ? -EPERM : 0;
}

/* Objects created outside the namespace count inside. */
static int one_more_inside(void *context)
{
	(void)context;
	CHECK(!become_root_there());
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	return 0;
}

static int one_more_outside(void *context)
{
	(void)context;
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

/* Objects created inside count outside, and in another namespace of the same user. */
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

/* Root of the namespace is not exempt from limits: neither krdma's nor RLIMIT_MEMLOCK. */
static int too_much_memory(void *context)
{
	const struct rlimit locked = { 64 * KIB, 64 * KIB };
	struct mr mr;
	uint32_t device;
	int session, ret;

	(void)context;
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &locked));
	CHECK(!become_root_there());
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!boot_device(session, &device));
	CHECK(!mr_create(session, device, 16 * KIB, ACCESS_ALL, &mr));
	ret = mr_create(session, device, 128 * KIB, ACCESS_ALL, &mr);
	CHECK(ret == -ENOMEM);
	return 0;
}

/* Proves: F6 */
TEST_F(userns, its_root_locks_no_more_memory)
{
	EXPECT_EQ(0, child_run_as(LINE_USER, too_much_memory, NULL));
}

/*
 * Further users: a namespace that maps a range of user IDs, as newuidmap does.
 */

#define SUB_USERS	4
#define SUB_FIRST	300000
#define EACH_MAX	2

/**
 * struct sub_users - the users of a namespace, and their sessions
 * @owner: user that creates the namespace; 0 is root, which is not mapped in it
 * @made: set by the child when the namespace exists, still without a map
 * @mapped: set for the child when SUB_USERS + 1 users are mapped, of which @owner is the first
 * @full: set by the child when each of its users has as many sessions as it can get
 * @sessions: number of sessions of each user
 * @nested: result for a user of a namespace inside the namespace
 */
struct sub_users {
	uid_t owner;
	int made[2];
	int mapped[2];
	int full[2];
	int sessions[SUB_USERS + 1];
	int nested;
};

static int open_one_nested(void *context)
{
	(void)context;
	CHECK(!prctl(PR_SET_DUMPABLE, 1) && !unshare(CLONE_NEWUSER));
	return session_open(O_CLOEXEC) == -EDQUOT ? 0 : 1;
}

/* Open sessions as each user of the namespace in turn, and keep them. */
static int open_as_each(void *context)
{
	struct sub_users *users = context;
	char word;

	CHECK(!users->owner || !child_become(users->owner));
	CHECK(!prctl(PR_SET_DUMPABLE, 1) && !unshare(CLONE_NEWUSER));
	CHECK(write(users->made[1], "", 1) == 1 && read(users->mapped[0], &word, 1) == 1);
	CHECK(!setresgid(0, 0, 0) && !setresuid(0, 0, 0));
	for (int user = 0; user <= SUB_USERS; user++) {
		CHECK(!setresuid(user, user, 0));
		while (users->sessions[user] < 4 * EACH_MAX && session_open(O_CLOEXEC) >= 0)
			users->sessions[user]++;
		if (user == SUB_USERS)
			users->nested = child_run(open_one_nested, NULL);
		CHECK(!setresuid(0, 0, 0));
	}
	CHECK(write(users->full[1], "", 1) == 1);
	/* Until it is killed. */
	return pause();
}

static int open_two(void *context)
{
	(void)context;
	CHECK(session_open(O_CLOEXEC) >= 0 && session_open(O_CLOEXEC) >= 0);
	CHECK(session_open(O_CLOEXEC) == -EDQUOT);
	return 0;
}

static pid_t sub_users_start(struct sub_users *users)
{
	static const char *const maps[] = { "uid_map", "gid_map" };
	char path[64], map[64], word;
	pid_t child;

	if (pipe(users->made) || pipe(users->mapped) || pipe(users->full))
		return -errno;
	child = child_start(open_as_each, users);
	if (child < 0)
		return child;
	close(users->made[1]);
	close(users->full[1]);
	if (read(users->made[0], &word, 1) != 1)
		return -ECONNRESET;
	if (users->owner)
		snprintf(map, sizeof(map), "0 %u 1\n1 %u %u\n", users->owner, SUB_FIRST, SUB_USERS);
	else
		snprintf(map, sizeof(map), "0 %u %u\n", SUB_FIRST, SUB_USERS + 1);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", child, maps[i]);
		if (write_text(path, map))
			return -EPERM;
	}
	if (write(users->mapped[1], "", 1) != 1 || read(users->full[0], &word, 1) != 1)
		return -ECONNRESET;
	return child;
}

static int sub_users_total(const struct sub_users *users)
{
	int total = 0;

	for (int user = 0; user <= SUB_USERS; user++)
		total += users->sessions[user];
	printf("# %d users of a namespace have %d sessions; one user may have %d\n",
	       SUB_USERS + 1, total, EACH_MAX);
	return total;
}

/* Proves: F6 */
TEST_F(userns, all_users_of_a_namespace_have_what_its_owner_may_have)
{
	struct sub_users *users = mmap(NULL, sizeof(*users), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	ASSERT_NE(MAP_FAILED, users);
	users->owner = LINE_USER;
	ASSERT_EQ(0, write_text(MAX_SESSIONS, "2"));
	child = sub_users_start(users);
	ASSERT_LT(0, child);
	EXPECT_EQ(EACH_MAX, sub_users_total(users));
	EXPECT_EQ(0, users->nested);
	/* The owner gets no more outside; another user still has its full limit. */
	EXPECT_EQ(0, child_run_as(users->owner, one_more_outside, NULL));
	EXPECT_EQ(0, child_run_as(OTHER_USER, open_two, NULL));
	EXPECT_LE(0, child_kill(child));
	EXPECT_EQ(0, child_run_as(users->owner, open_two, NULL));
	munmap(users, sizeof(*users));
}

/* A container manager that runs as root creates namespaces for users with separate limits. */
TEST_F(userns, users_of_a_namespace_of_root_count_each_for_themselves)
{
	struct sub_users *users = mmap(NULL, sizeof(*users), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;

	ASSERT_NE(MAP_FAILED, users);
	ASSERT_EQ(0, write_text(MAX_SESSIONS, "2"));
	child = sub_users_start(users);
	ASSERT_LT(0, child);
	EXPECT_EQ((SUB_USERS + 1) * EACH_MAX, sub_users_total(users));
	EXPECT_LE(0, child_kill(child));
	munmap(users, sizeof(*users));
}

TEST_HARNESS_MAIN
