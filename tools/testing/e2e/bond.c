// SPDX-License-Identifier: GPL-2.0
/*
 * A device on a bond of two network interfaces, of which the one in use loses its link.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"
#include "net_link.h"
#include "pair.h"
#include "rdma_link.h"
#include "resources.h"
#include "session.h"

#define FIRST		"kport0"
#define SECOND		"kport1"
#define BOND		"kbond0"
#define DEVICE		"rxe_bond"
#define ADDRESS		"10.92.0.1"
#define IN_USE		"/sys/class/net/" BOND "/bonding/active_slave"
#define LENGTH		(4 * 4096)
#define NAME_MS		20000

FIXTURE(bond)
{
	uint32_t device;
	struct pair pair;
	struct resources before;
};

FIXTURE_VARIANT(bond)
{
	/* The bond's hardware address changes with the port in use. */
	bool follows;
};

FIXTURE_VARIANT_ADD(bond, of_one_hardware_address)
{
	.follows = false,
};

FIXTURE_VARIANT_ADD(bond, of_two_hardware_addresses)
{
	.follows = true,
};

static void take_down(void)
{
	rdma_link_remove(DEVICE);
	net_link_remove(BOND);
	net_link_remove(FIRST);
	net_link_remove(SECOND);
}

static int put_up(bool follows)
{
	uint64_t deadline = now_ms() + NAME_MS;
	int ret;

	take_down();
	ret = net_link_add(FIRST);
	if (!ret)
		ret = net_link_add(SECOND);
	if (!ret)
		ret = net_link_add_bond(BOND, FIRST, SECOND, follows);
	if (!ret)
		ret = net_link_address(BOND, ADDRESS);
	if (!ret)
		ret = net_link_up(BOND, true);
	/* Retry: the name of a removed device may still be in use. */
	while (!ret && (ret = rdma_link_add(DEVICE, BOND)) == -ENFILE && now_ms() < deadline) {
		sleep_ms(20);
		ret = 0;
	}
	return ret;
}

static bool in_use(const char *port)
{
	char text[64] = "";
	FILE *file = fopen(IN_USE, "re");

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, port);
}

/* Wait until the bond uses @port: 0 or -ETIMEDOUT. */
static int await_port(const char *port)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;

	while (!in_use(port)) {
		if (now_ms() > deadline)
			return -ETIMEDOUT;
		sleep_ms(5);
	}
	return 0;
}

FIXTURE_SETUP(bond)
{
	static const struct pair_options options = { .address = ADDRESS };
	struct krdma_device_query_args device;
	int session;

	ASSERT_EQ(0, put_up(variant->follows));
	ASSERT_EQ(0, await_port(FIRST));
	session = session_open(O_CLOEXEC);
	ASSERT_LE(0, session);
	ASSERT_EQ(0, session_await(session, DEVICE, true));
	ASSERT_EQ(0, session_named(session, DEVICE, &device));
	close(session);
	self->device = device.id;
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, pair_open(&self->pair, &options));
}

FIXTURE_TEARDOWN(bond)
{
	pair_close(&self->pair);
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
	take_down();
}

/* A write and what it wrote: 0, the completion's status or a negative errno. */
static int write_once(struct pair *pair, uint32_t device, unsigned int pattern)
{
	struct mr local, remote;
	int ret;

	ret = mr_create(pair->sessions[0], device, LENGTH, ACCESS_ALL, &local);
	if (ret)
		return ret;
	ret = mr_create(pair->sessions[1], device, LENGTH, ACCESS_ALL, &remote);
	if (!ret) {
		fill(local.data, LENGTH, pattern);
		ret = pair_write(pair, &local, &remote);
		if (!ret && !filled(remote.data, LENGTH, pattern))
			ret = -EBADMSG;
		mr_destroy(&remote);
	}
	mr_destroy(&local);
	return ret;
}

/* Read records of A until there is one of that type: 0 or a negative errno. */
static int await_event(struct pair *pair, uint32_t type)
{
	struct krdma_event_record record;
	int ret;

	do {
		ret = conn_event(pair->a.conn, &record, PATIENCE_MS);
	} while (!ret && record.type != type);
	return ret;
}

/*
 * The bond changes nothing that krdma could act on, except that it reports another hardware
 * address.  But the RDMA core replaces the bond's GIDs, and rxe looks up the source of a packet by
 * the old GID's place: the connection is lost with the next work request, and a new one works.
 */
/* Proves: D7 */
TEST_F(bond, a_link_fails)
{
	static const struct pair_options options = { .address = ADDRESS };
	struct krdma_event_record record;

	ASSERT_EQ(KRDMA_WC_SUCCESS, write_once(&self->pair, self->device, 5));
	ASSERT_EQ(0, await_event(&self->pair, KRDMA_EVENT_ESTABLISHED));

	ASSERT_EQ(0, net_link_up(FIRST, false));
	ASSERT_EQ(0, await_port(SECOND));
	if (variant->follows) {
		ASSERT_EQ(0, conn_event(self->pair.a.conn, &record, PATIENCE_MS));
		EXPECT_EQ(KRDMA_EVENT_ADDR_CHANGE, record.type);
	} else {
		EXPECT_EQ(-ETIMEDOUT, conn_event(self->pair.a.conn, &record, 500));
	}
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(self->pair.a.conn));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(self->pair.b.conn));

	/* Newer versions of rxe flush the work request that made the QP fail, too. */
	EXPECT_EQ(kernel_is("6.1.") ? KRDMA_WC_LOC_QP_OP_ERR : KRDMA_WC_WR_FLUSH_ERR,
		  write_once(&self->pair, self->device, 7));
	EXPECT_EQ(0, await_event(&self->pair, KRDMA_EVENT_LOST));
	pair_close(&self->pair);
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	EXPECT_EQ(KRDMA_WC_SUCCESS, write_once(&self->pair, self->device, 9));
}

TEST_HARNESS_MAIN
