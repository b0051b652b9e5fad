// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading of the module: with open sessions, with devices present, after its users
 * were killed.  Each test leaves the module loaded.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "kmod.h"
#include "lane_pair.h"
#include "pair.h"
#include "rdma_link.h"
#include "session.h"

#define VICTIM_THREADS	4

FIXTURE(module)
{
	/* So that the fixture is not empty; nothing is held between tests. */
	int unused;
};

FIXTURE_SETUP(module)
{
	ASSERT_EQ(0, access(kmod_krdma(), R_OK)) {
		TH_LOG("%s: set KRDMA_KO to the module's file", kmod_krdma());
	}
	if (!kmod_loaded("krdma"))
		ASSERT_EQ(0, kmod_load(kmod_krdma()));
}

FIXTURE_TEARDOWN(module)
{
	if (!kmod_loaded("krdma"))
		kmod_load(kmod_krdma());
}

TEST_F(module, an_open_session_keeps_it)
{
	struct krdma_device_query_args device;
	int session = session_open(O_CLOEXEC);

	ASSERT_LE(0, session);
	EXPECT_EQ(-EAGAIN, kmod_unload("krdma"));
	EXPECT_EQ(0, session_named(session, BOOT_DEVICE, &device));
	ASSERT_EQ(0, close(session));
	EXPECT_EQ(0, kmod_unload_soon("krdma"));
	EXPECT_EQ(-ENOENT, session_open(O_CLOEXEC));
	EXPECT_EQ(0, kmod_load(kmod_krdma()));
}

/* Proves: A18 (e2e-debug), F1 */
TEST_F_TIMEOUT(module, load_and_unload, 180)
{
	unsigned int cycles = rounds(20, 8);

	for (unsigned int i = 0; i < cycles; i++) {
		struct krdma_device_query_args device;
		int session;

		ASSERT_EQ(0, kmod_unload_soon("krdma"));
		ASSERT_EQ(-ENOENT, session_open(O_CLOEXEC));
		ASSERT_EQ(0, kmod_load(kmod_krdma()));
		session = session_open(O_CLOEXEC);
		ASSERT_LE(0, session);
		/* Devices that exist before the module is loaded are found at once. */
		ASSERT_EQ(0, session_named(session, BOOT_DEVICE, &device));
		ASSERT_EQ(0, close(session));
	}
}

/* The trunk has not ended yet when the module goes. */
/* Proves: F1 */
TEST_F_TIMEOUT(module, a_lane_was_closed_just_before, 60)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct pair pair;

		ASSERT_EQ(0, pair_open(&pair, &lane_options));
		ASSERT_NE(0, trunk_of(pair.a.conn));
		pair_close(&pair);
		ASSERT_EQ(0, kmod_unload_soon("krdma"));
		ASSERT_EQ(0, kmod_load(kmod_krdma()));
	}
}

TEST_F(module, it_cannot_be_loaded_twice)
{
	EXPECT_EQ(-EEXIST, kmod_load(kmod_krdma()));
	EXPECT_TRUE(kmod_loaded("krdma"));
}

TEST_F_TIMEOUT(module, a_device_goes_while_a_session_is_open, 60)
{
	struct krdma_device_query_args device;
	int session = session_open(O_CLOEXEC);

	ASSERT_LE(0, session);
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_named(session, FABRIC_DEVICE, &device));
	/* The removal would block for ever if the session held the device. */
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	EXPECT_EQ(-ENOENT, session_device(session, device.id, &device));
	fabric_destroy();
	ASSERT_EQ(0, close(session));
}

/*
 * The module of the boot device's provider, and the command that loads it as it is now.  The fake
 * device is loaded with the driver that it behaves like.
 */
static const char *provider(char *load, size_t size)
{
	char driver[64] = "", kind[64] = "";

	if (strcmp(getenv("KRDMA_LINK") ?: "", "krdma_fake")) {
		snprintf(load, size, "modprobe rdma_rxe");
		return "rdma_rxe";
	}
	read_line(driver, sizeof(driver), "/sys/module/krdma_fake/parameters/personality");
	read_line(kind, sizeof(kind), "/sys/module/krdma_fake/parameters/kind");
	snprintf(load, size, "insmod /vm/krdma_fake.ko personality=%s kind=%s", driver, kind);
	return "krdma_fake";
}

/* Proves: B8 */
TEST_F_TIMEOUT(module, the_provider_goes_while_a_session_is_open, 120)
{
	struct krdma_device_query_args device;
	int session = session_open(O_CLOEXEC);
	struct krdma_info_args info;
	const char *name;
	unsigned int others;
	char load[192];

	ASSERT_LE(0, session);
	name = provider(load, sizeof(load));
	ASSERT_EQ(0, session_info(session, &info));
	ASSERT_LE(1, info.device_count);
	others = info.device_count - 1;
	/* In some kernels a link keeps its provider, and has to go first. */
	if (kmod_unload(name)) {
		ASSERT_EQ(0, rdma_link_remove(BOOT_DEVICE));
		ASSERT_EQ(0, kmod_unload_soon(name));
	}
	EXPECT_EQ(0, session_info(session, &info));
	EXPECT_EQ(others, info.device_count);
	EXPECT_EQ(-ENOENT, session_named(session, BOOT_DEVICE, &device));
	for (device.id = 0; !session_next(session, device.id + 1, &device); others--)
		EXPECT_NE(0, strcmp(BOOT_DEVICE, device.name));
	EXPECT_EQ(0, others);

	/* Bring the machine back to where it was. */
	EXPECT_EQ(0, system(load));
	EXPECT_EQ(0, rdma_link_add(BOOT_DEVICE, "dummy0"));
	EXPECT_EQ(0, session_named(session, BOOT_DEVICE, &device));
	ASSERT_EQ(0, close(session));
}

static void *query_without_end(void *argument)
{
	int session = *(int *)argument;

	for (;;) {
		struct krdma_device_query_args device;
		struct krdma_port_query_args port;

		if (!session_named(session, BOOT_DEVICE, &device))
			session_port(session, device.id, 1, &port);
	}
	return NULL;
}

static void be_a_victim(void)
{
	int session = session_open(O_CLOEXEC);

	if (session < 0)
		_exit(1);
	for (int i = 0; i < VICTIM_THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, query_without_end, &session))
			_exit(2);
	}
	pause();
	_exit(3);
}

/* Proves: F4 */
TEST_F_TIMEOUT(module, killed_users_leave_nothing, 180)
{
	unsigned int cycles = rounds(20, 6);

	for (unsigned int i = 0; i < cycles; i++) {
		pid_t victim = fork();
		int status;

		ASSERT_LE(0, victim);
		if (victim == 0)
			be_a_victim();
		/* Kill each victim at a different stage of its life. */
		sleep_ms(7 * i);
		ASSERT_EQ(0, kill(victim, SIGKILL));
		ASSERT_EQ(victim, waitpid(victim, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		ASSERT_EQ(SIGKILL, WTERMSIG(status));
		ASSERT_EQ(0, kmod_unload_soon("krdma"));
		ASSERT_EQ(0, kmod_load(kmod_krdma()));
	}
}

TEST_HARNESS_MAIN
