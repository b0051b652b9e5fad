// SPDX-License-Identifier: GPL-2.0
/*
 * MRs of memory that krdma pins and registers itself, on a device whose network address is not on
 * the device's own network interface, but on an interface above it.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "net_link.h"
#include "pair.h"
#include "rdma_link.h"
#include "resources.h"
#include "session.h"

#define BELOW		"kbelow0"
#define ABOVE		"kabove0"
#define DEVICE		"rxe_upper"
#define ADDRESS		"10.91.0.1"
#define LENGTH		(16 * 4096)
#define NAME_MS		20000

enum kind {
	NONE,
	VLAN,
	BRIDGE,
};

FIXTURE(upper)
{
	int session;
	uint32_t device;
	struct resources before;
};

FIXTURE_VARIANT(upper)
{
	enum kind kind;
};

FIXTURE_VARIANT_ADD(upper, no_address)
{
	.kind = NONE,
};

FIXTURE_VARIANT_ADD(upper, vlan)
{
	.kind = VLAN,
};

FIXTURE_VARIANT_ADD(upper, bridge)
{
	.kind = BRIDGE,
};

static void take_down(void)
{
	rdma_link_remove(DEVICE);
	net_link_remove(ABOVE);
	net_link_remove(BELOW);
}

/* An address that the interface assigns to itself would be enough to register memory. */
static void no_addresses_of_its_own(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", name);
	write_text(path, "1");
}

static int put_above(enum kind kind)
{
	int ret = 0;

	if (kind == VLAN)
		ret = net_link_add_vlan(ABOVE, BELOW, 7);
	if (kind == BRIDGE)
		ret = net_link_add_bridge(ABOVE, BELOW);
	if (ret || kind == NONE)
		return ret;
	no_addresses_of_its_own(ABOVE);
	ret = net_link_address(ABOVE, ADDRESS);
	return ret ? ret : net_link_up(ABOVE, true);
}

static int put_up(enum kind kind)
{
	uint64_t deadline = now_ms() + NAME_MS;
	int ret;

	take_down();
	ret = net_link_add(BELOW);
	if (ret)
		return ret;
	no_addresses_of_its_own(BELOW);
	ret = net_link_up(BELOW, true);
	if (!ret)
		ret = put_above(kind);
	/* Retry: the name of a removed device may still be in use. */
	while (!ret && (ret = rdma_link_add(DEVICE, BELOW)) == -ENFILE && now_ms() < deadline) {
		sleep_ms(20);
		ret = 0;
	}
	return ret;
}

FIXTURE_SETUP(upper)
{
	struct krdma_device_query_args device;

	ASSERT_EQ(0, write_text(FORCE_PIN, "1"));
	ASSERT_EQ(0, put_up(variant->kind));
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, session_named(self->session, DEVICE, &device));
	self->device = device.id;
}

FIXTURE_TEARDOWN(upper)
{
	close(self->session);
	take_down();
	write_text(FORCE_PIN, "0");
}

/* Proves: D3 */
TEST_F(upper, memory_is_registered)
{
	struct mr mr;

	ASSERT_EQ(0, mr_create(self->session, self->device, LENGTH, ACCESS_ALL, &mr));
	EXPECT_NE(0, mr.rkey);
	mr_destroy(&mr);
}

/* If the device can connect, the peer can access the memory. */
TEST_F(upper, a_peer_reaches_it)
{
	static const struct pair_options options = { .address = ADDRESS };
	struct mr local, remote;
	struct pair pair;

	if (variant->kind == NONE)
		SKIP(return, "no connection works without an address");
	ASSERT_EQ(0, pair_open(&pair, &options));
	ASSERT_EQ(0, mr_create(pair.sessions[0], self->device, LENGTH, ACCESS_ALL, &local));
	ASSERT_EQ(0, mr_create(pair.sessions[1], self->device, LENGTH, ACCESS_ALL, &remote));
	fill(local.data, LENGTH, 3);
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&pair, &local, &remote));
	EXPECT_TRUE(filled(remote.data, LENGTH, 3));
	mr_destroy(&local);
	mr_destroy(&remote);
	pair_close(&pair);
}

TEST_HARNESS_MAIN
