// SPDX-License-Identifier: GPL-2.0
/*
 * KRDMA_PORT_QUERY: the attributes of a port, and how they follow its network interface.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "net_link.h"
#include "session.h"

#define FOLLOW_MS	10000

FIXTURE(port)
{
	int session;
	uint32_t device;
	struct krdma_port_query_args port;
};

FIXTURE_SETUP(port)
{
	struct krdma_device_query_args device;

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
	self->device = device.id;
	ASSERT_EQ(0, session_port(self->session, self->device, 1, &self->port));
}

FIXTURE_TEARDOWN(port)
{
	fabric_destroy();
	close(self->session);
}

static int count_entries(const char *path)
{
	struct dirent *entry;
	DIR *folder = opendir(path);
	int count = 0;

	if (!folder)
		return -errno;
	while ((entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

#define PORT_SYSFS	"/sys/class/infiniband/" FABRIC_DEVICE "/ports/1/"

TEST_F(port, only_the_ports_that_there_are)
{
	static const uint32_t none[] = { 0, 2, 3, 255, 256, 257, 65537, 0x80000000, UINT32_MAX };
	struct krdma_port_query_args port;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		EXPECT_EQ(-ENOENT, session_port(self->session, self->device, none[i], &port)) {
			TH_LOG("port %u", none[i]);
		}
	}
}

TEST_F(port, only_the_devices_that_there_are)
{
	struct krdma_port_query_args port;

	EXPECT_EQ(-ENOENT, session_port(self->session, 0, 1, &port));
	EXPECT_EQ(-ENOENT, session_port(self->session, 0x7fffffff, 1, &port));
	EXPECT_EQ(-ENOENT, session_port(self->session, UINT32_MAX, 1, &port));
}

/* Proves: E5 */
TEST_F(port, what_sysfs_says)
{
	unsigned int whole, tenth = 0;
	int fields;
	char line[64];

	ASSERT_EQ(0, read_line(line, sizeof(line), PORT_SYSFS "state"));
	EXPECT_STREQ("4: ACTIVE", line);
	EXPECT_EQ(KRDMA_PORT_ACTIVE, self->port.state);

	ASSERT_EQ(0, read_line(line, sizeof(line), PORT_SYSFS "link_layer"));
	EXPECT_STREQ("Ethernet", line);
	EXPECT_EQ(KRDMA_LINK_ETHERNET, self->port.link_layer);

	/* "2.5 Gb/sec (1X SDR)" or "100 Gb/sec (4X EDR)" */
	ASSERT_EQ(0, read_line(line, sizeof(line), PORT_SYSFS "rate"));
	fields = sscanf(line, "%u.%u", &whole, &tenth);
	ASSERT_LE(1, fields);
	EXPECT_EQ(whole * 1000 + tenth * 100, self->port.speed_mbps) {
		TH_LOG("sysfs says %s", line);
	}

	EXPECT_EQ(count_entries(PORT_SYSFS "gids"), self->port.gid_count);
	EXPECT_LT(0, self->port.gid_count);
	EXPECT_LE(1 << 20, self->port.max_msg_size);
}

TEST_F(port, what_the_caller_left_in_the_answer_is_not_looked_at)
{
	struct krdma_port_query_args dirty;

	memset(&dirty, 0xff, sizeof(dirty));
	dirty.size = sizeof(dirty);
	dirty.flags = 0;
	dirty.device_id = self->device;
	dirty.port = 1;
	ASSERT_EQ(0, session_request(self->session, KRDMA_PORT_QUERY, &dirty));
	EXPECT_EQ(0, memcmp(&self->port, &dirty, sizeof(dirty)));
}

/* Proves: E5 */
TEST_F(port, the_network_interface)
{
	EXPECT_EQ(if_nametoindex(FABRIC_NETDEV), self->port.netdev_ifindex);
	EXPECT_NE(0, self->port.netdev_ifindex);
	EXPECT_STREQ(FABRIC_NETDEV, self->port.netdev_name);
	for (size_t i = strlen(FABRIC_NETDEV); i < sizeof(self->port.netdev_name); i++)
		EXPECT_EQ(0, self->port.netdev_name[i]);
}

/* Wait until the port is in @state, or return -ETIMEDOUT.  Providers notice a change late. */
static int await_state(int session, uint32_t device, uint32_t state,
		       struct krdma_port_query_args *port)
{
	uint64_t deadline = now_ms() + FOLLOW_MS;
	int ret;

	while (!(ret = session_port(session, device, 1, port)) && port->state != state) {
		if (now_ms() > deadline)
			return -ETIMEDOUT;
		sleep_ms(10);
	}
	return ret;
}

TEST_F(port, the_state_follows_the_link)
{
	struct krdma_port_query_args port;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, net_link_up(FABRIC_NETDEV, false));
		ASSERT_EQ(0, await_state(self->session, self->device, KRDMA_PORT_DOWN, &port));
		EXPECT_EQ(self->port.netdev_ifindex, port.netdev_ifindex);
		ASSERT_EQ(0, net_link_up(FABRIC_NETDEV, true));
		ASSERT_EQ(0, await_state(self->session, self->device, KRDMA_PORT_ACTIVE, &port));
	}
}

TEST_F(port, the_mtu_follows_the_interface)
{
	/* The MTU of the interface minus the headers, rounded down to a path MTU. */
	static const struct {
		int interface;
		uint32_t path;
	} cases[] = {
		{ 9000, 4096 }, { 4200, 4096 }, { 4000, 2048 }, { 1500, 1024 }, { 1000, 512 },
		{ 400, 256 },
	};
	struct krdma_port_query_args port;

	EXPECT_EQ(4096, self->port.max_mtu);
	EXPECT_EQ(1024, self->port.active_mtu);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t deadline = now_ms() + FOLLOW_MS;

		ASSERT_EQ(0, net_link_mtu(FABRIC_NETDEV, cases[i].interface));
		do {
			ASSERT_EQ(0, session_port(self->session, self->device, 1, &port));
		} while (port.active_mtu != cases[i].path && now_ms() < deadline);
		EXPECT_EQ(cases[i].path, port.active_mtu) {
			TH_LOG("interface MTU %d", cases[i].interface);
		}
		EXPECT_EQ(4096, port.max_mtu);
	}
}

TEST_HARNESS_MAIN
