// SPDX-License-Identifier: GPL-2.0
/*
 * A session is a file descriptor, and behaves as one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "fd_pass.h"
#include "session.h"

#define NOBODY		65534

/* More sessions at a time than a fixed table is likely to hold. */
#define MANY_SESSIONS	500

static int works(int session)
{
	struct krdma_device_query_args device;

	return session_named(session, BOOT_DEVICE, &device);
}

/* The exit status of a child: a positive errno or 0; -1 if it did not exit by itself. */
static int child_errno(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

FIXTURE(fd)
{
	int session;
};

FIXTURE_SETUP(fd)
{
	self->session = session_open(0);
	ASSERT_LE(0, self->session);
}

FIXTURE_TEARDOWN(fd)
{
	close(self->session);
}

/* Proves: F2 */
TEST_F(fd, close_on_exec_is_the_opener_s_choice)
{
	int closing = session_open(O_CLOEXEC);

	ASSERT_LE(0, closing);
	EXPECT_EQ(FD_CLOEXEC, fcntl(closing, F_GETFD));
	EXPECT_EQ(0, fcntl(self->session, F_GETFD));
	close(closing);
}

/* Returns 0 if the descriptor is still open after exec, as `test -e` reports, or 1. */
static int survives_exec(int fd)
{
	char path[64];
	pid_t child;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	child = fork();
	if (child == 0) {
		execlp("test", "test", "-e", path, NULL);
		_exit(127);
	}
	return child_errno(child);
}

TEST_F(fd, what_exec_leaves_open)
{
	int closing = session_open(O_CLOEXEC);

	ASSERT_LE(0, closing);
	EXPECT_EQ(0, survives_exec(self->session));
	EXPECT_EQ(1, survives_exec(closing));
	close(closing);
}

/* Proves: F2 */
TEST_F(fd, a_child_goes_on_with_the_parent_s_session)
{
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (child == 0) {
		int ret = works(self->session);

		close(self->session);
		_exit(-ret);
	}
	EXPECT_EQ(0, child_errno(child));
	EXPECT_EQ(0, works(self->session));
}

/* Proves: F2 */
TEST_F(fd, the_session_outlives_the_process_that_opened_it)
{
	int pair[2], received;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	child = fork();
	ASSERT_LE(0, child);
	if (child == 0) {
		int session = session_open(O_CLOEXEC);

		_exit(session < 0 ? -session : -fd_send(pair[1], session));
	}
	ASSERT_EQ(0, child_errno(child));
	received = fd_receive(pair[0]);
	ASSERT_LE(0, received);
	EXPECT_EQ(0, works(received));
	close(received);
	close(pair[0]);
	close(pair[1]);
}

TEST_F(fd, a_session_that_nobody_received_is_closed)
{
	int pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	ASSERT_EQ(0, fd_send(pair[1], self->session));
	close(pair[1]);
	close(pair[0]);
	EXPECT_EQ(0, works(self->session));
}

/* Proves: A8 */
TEST_F(fd, a_closed_session)
{
	int session = session_open(0);

	ASSERT_LE(0, session);
	ASSERT_EQ(0, close(session));
	EXPECT_EQ(-EBADF, works(session));
}

TEST_F(fd, a_duplicate_keeps_the_session)
{
	int copy = dup(self->session);

	ASSERT_LE(0, copy);
	EXPECT_EQ(0, works(copy));
	ASSERT_EQ(0, close(copy));
	EXPECT_EQ(0, works(self->session));
}

TEST_F(fd, many_sessions)
{
	int sessions[MANY_SESSIONS];

	for (int i = 0; i < MANY_SESSIONS; i++) {
		sessions[i] = session_open(0);
		ASSERT_LE(0, sessions[i]) {
			TH_LOG("session %d", i);
		}
	}
	EXPECT_EQ(0, works(sessions[0]));
	EXPECT_EQ(0, works(sessions[MANY_SESSIONS - 1]));
	for (int i = 0; i < MANY_SESSIONS; i++)
		EXPECT_EQ(0, close(sessions[i]));
}

TEST_F(fd, what_a_session_is_not)
{
	char byte = 0;

	EXPECT_EQ(-1, read(self->session, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->session, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->session, 0) == MAP_FAILED);
	EXPECT_EQ(ENODEV, errno);
}

TEST_F(fd, the_file_is_for_its_owner_alone)
{
	struct stat file;

	ASSERT_EQ(0, stat(SESSION_PATH, &file));
	EXPECT_TRUE(S_ISCHR(file.st_mode));
	EXPECT_EQ(0600, file.st_mode & 07777);
	EXPECT_EQ(0, file.st_uid);
	EXPECT_EQ(0, file.st_gid);
}

TEST_F(fd, another_user_cannot_open_it_but_can_be_given_it)
{
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (child == 0) {
		int session;

		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		session = session_open(0);
		if (session != -EACCES)
			_exit(254);
		/* An open descriptor works for any user. */
		_exit(-works(self->session));
	}
	EXPECT_EQ(0, child_errno(child));
}

TEST_HARNESS_MAIN
