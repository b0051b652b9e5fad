// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's hubs and names with several addresses: which of them a hub tries, and what is left of
 * those where nothing listens.
 *
 * One thread has all hubs.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <address.h>
#include <krdma_hub.h>

#include "kselftest_harness.h"
#include "lib_hub_peer.h"
#include "lib_pair.h"
#include "lib_usage.h"
#include "session.h"

#define PATIENCE	LIB_PATIENCE

/* A hub that connects, and those that listen, the first at the address that is tried first. */
FIXTURE(name)
{
	struct krdma_hub *hub;
	struct krdma_ep *ep;
	struct krdma_hub *servers[2];
};

FIXTURE_SETUP(name)
{
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &self->hub));
}

FIXTURE_TEARDOWN(name)
{
	krdma_hub_close(self->hub);
	krdma_hub_close(self->servers[0]);
	krdma_hub_close(self->servers[1]);
}

/* Sets the two addresses of the device in the order in which the hub tries them. */
static int order(const char *name, const char *hosts[2])
{
	struct sockaddr_storage addresses[ADDRESSES_MAX];
	unsigned int count;
	int err = hub_peer_name(name, BOOT_ADDRESS, BOOT_ADDRESS_6);

	if (!err)
		err = address_resolve(name, 1, false, addresses, &count);
	if (err || count != 2)
		return err ? err : -ENXIO;
	for (unsigned int i = 0; i < 2; i++)
		hosts[i] = addresses[i].ss_family == AF_INET ? BOOT_ADDRESS :
			   "[" BOOT_ADDRESS_6 "]";
	return 0;
}

/* Opens a hub at an address; *@port 0: any, which it is then. */
static int open_at(const char *host, uint16_t *port, const char *allow, struct krdma_hub **hub)
{
	const struct krdma_hub_options options = { .size = sizeof(options), .allow = allow };
	struct sockaddr_storage address;
	char at[HUB_PEER_TO];
	int err;

	snprintf(at, sizeof(at), "%s:%u", host, *port);
	err = krdma_hub_open(at, &options, hub);
	if (!err)
		err = krdma_hub_address(*hub, &address);
	if (!err)
		*port = ntohs(((struct sockaddr_in *)&address)->sin_port);
	return err;
}

/* Waits for a record of one hub, while the others work. */
static int await(FIXTURE_DATA(name) * self, struct krdma_hub *of, uint32_t event,
		 struct krdma_ep_record *record)
{
	struct krdma_hub *hubs[] = { self->hub, self->servers[0], self->servers[1] };
	uint64_t end = now_ms() + PATIENCE_MS;
	struct krdma_ep_record other;

	while (now_ms() < end) {
		for (unsigned int i = 0; i < ARRAY_SIZE(hubs); i++) {
			if (hubs[i] != of)
				krdma_hub_next(hubs[i], 0, &other, sizeof(other));
		}
		if (krdma_hub_next(of, krdma_deadline(20), record, sizeof(*record)))
			continue;
		if (record->event == event)
			return 0;
		if (record->event == KRDMA_EP_LEFT)
			return record->error ? record->error : -EPIPE;
	}
	return -ETIMEDOUT;
}

static int connect_to(FIXTURE_DATA(name) * self, const char *name, uint16_t port)
{
	struct krdma_ep_record record;
	char to[HUB_PEER_TO];
	int err;

	snprintf(to, sizeof(to), "%s:%u", name, port);
	err = krdma_ep_connect(self->hub, to, NULL, 0, 0, &self->ep);
	return err ? err : await(self, self->hub, KRDMA_EP_JOINED, &record);
}

static void settle(struct krdma_hub *hub)
{
	struct pollfd pollfd = { .fd = krdma_hub_fd(hub), .events = POLLIN };
	struct krdma_ep_record record;

	while (poll(&pollfd, 1, 0))
		krdma_hub_next(hub, 0, &record, sizeof(record));
}

/* Nothing listens at the first address. The endpoint is one of the second, and works. */
static void use_second(struct __test_metadata *_metadata, FIXTURE_DATA(name) * self, uint16_t port,
		       sa_family_t family)
{
	struct krdma_hub *server = self->servers[1];
	struct sockaddr_storage address;
	struct krdma_ep_record record;

	ASSERT_EQ(0, connect_to(self, "next-of-two", port)) {
		TH_LOG("%s", krdma_ep_why(self->ep));
	}
	EXPECT_STREQ("", krdma_ep_why(self->ep));
	ASSERT_EQ(0, krdma_ep_address(self->ep, &address));
	EXPECT_EQ(family, address.ss_family);
	ASSERT_EQ(0, krdma_ep_send(self->ep, 9, "a", 1, PATIENCE));
	ASSERT_EQ(0, await(self, server, KRDMA_EP_MESSAGE, &record));
	krdma_ep_done(&record);
	krdma_ep_close(self->ep, NULL);
	ASSERT_EQ(0, await(self, server, KRDMA_EP_LEFT, &record));
	krdma_ep_close(record.ep, NULL);
	settle(self->hub);
}

/* Proves: F10 (library) */
TEST_F(name, the_next_address_is_tried)
{
	struct usage before = { 0 };
	const char *hosts[2];
	uint16_t port = 0;

	ASSERT_EQ(0, order("next-of-two", hosts));
	ASSERT_EQ(0, open_at(hosts[1], &port, NULL, &self->servers[1]));
	for (unsigned int i = 0; i < 20; i++) {
		if (i == 10)
			before = usage_now();
		use_second(_metadata, self, port, *hosts[1] == '[' ? AF_INET6 : AF_INET);
	}
	/* Nothing is left of the attempts. */
	EXPECT_EQ(before.descriptors, usage_after(&before).descriptors);
	EXPECT_GE(before.bytes + USAGE_SPARE, usage_now().bytes);
}

TEST_F(name, a_refusal_is_final)
{
	const char *hosts[2];
	uint16_t port = 0;

	ASSERT_EQ(0, order("strict-of-two", hosts));
	ASSERT_EQ(0, open_at(hosts[0], &port, "192.0.2.1", &self->servers[0]));
	ASSERT_EQ(0, open_at(hosts[1], &port, NULL, &self->servers[1]));
	EXPECT_EQ(-EACCES, connect_to(self, "strict-of-two", port));
	EXPECT_NE(NULL, strstr(krdma_ep_why(self->ep), "not admitted"));
}

/* The error is that of an address to which there is a route. */
TEST_F(name, nothing_listens_at_any)
{
	ASSERT_EQ(0, hub_peer_name("none-of-two", BOOT_ADDRESS, BOOT_ADDRESS_6));
	ASSERT_EQ(0, hub_peer_name("none-or-nowhere", BOOT_ADDRESS, "192.0.2.1"));
	for (unsigned int i = 0; i < 4; i++) {
		const char *to = i % 2 ? "none-or-nowhere:7" : "none-of-two:7";

		EXPECT_EQ(-ECONNREFUSED, krdma_ep_connect(self->hub, to, NULL, 0, PATIENCE,
							  &self->ep)) {
			TH_LOG("%s", to);
		}
	}
}

TEST_HARNESS_MAIN
