// SPDX-License-Identifier: GPL-2.0
/*
 * Every allocation of every call fails once, and every copy from and to the
 * program: the first, then the second, until the call has no further one.  The
 * call then answers ENOMEM or EFAULT and nothing is left behind, which the
 * kernel log and the scan for leaks judge.
 *
 * Loading the module is not swept: the kernel's own tracing warns when one of
 * its allocations for a module's tracepoints fails.
 *
 * Needs the kernel's fault injection (/proc/self/fail-nth).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "kselftest_harness.h"
#include "session.h"

/* More allocations and copies than any one call makes. */
#define MOST_FAILURES	500

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
	/* Allocations that may sleep are left out unless told otherwise. */
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

/* Disarms; true when the failure has been used up, false when it never came. */
static bool has_failed(int control)
{
	char number[16] = "";
	bool failed = pread(control, number, sizeof(number) - 1, 0) > 0 && atoi(number) == 0;

	arm(control, 0);
	return failed;
}

/* One call of those below: 0 or -errno. */
typedef int call(int session);

/*
 * The number of failures that the call has met, each answered by ENOMEM, EFAULT
 * or @other_error; or the first other answer, negative.
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
		/* An allocation may be one that the call can do without. */
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
	struct krdma_info info;

	return session_info(session, &info);
}

static int call_device(int session)
{
	struct krdma_device_query device;

	return session_named(session, BOOT_DEVICE, &device);
}

static int call_port(int session)
{
	struct krdma_device_query device;
	struct krdma_port_query port;
	int ret = session_named(session, BOOT_DEVICE, &device);

	return ret ? ret : session_port(session, device.id, 1, &port);
}

TEST_F_TIMEOUT(fail_nth, open_a_session, 120)
{
	/* The file, its path and the session at the least. */
	EXPECT_LE(1, sweep(self->control, -1, call_open, -ENFILE));
}

TEST_F_TIMEOUT(fail_nth, requests, 120)
{
	int session = session_open(O_CLOEXEC);

	ASSERT_LE(0, session);
	/* The structure on its way in and on its way out at the least. */
	EXPECT_LE(2, sweep(self->control, session, call_info, 0));
	EXPECT_LE(2, sweep(self->control, session, call_device, 0));
	EXPECT_LE(4, sweep(self->control, session, call_port, 0));
	close(session);
}

TEST_HARNESS_MAIN
