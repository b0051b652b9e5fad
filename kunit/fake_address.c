// SPDX-License-Identifier: GPL-2.0
/*
 * Registers fake devices at their address: the loopback interface gets one that is not a loopback
 * address, as rdma_cm takes those for "any device".
 */
#include <linux/if_addr.h>
#include <linux/in.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/uio.h>
#include <net/net_namespace.h>
#include <net/netlink.h>

#include "fake_private.h"

/* The message to rtnetlink, as there is no function for it. */
struct fake_address_request {
	struct nlmsghdr header;
	struct ifaddrmsg message;
	struct nlattr attribute;
	__be32 address;
};

struct fake_address_answer {
	struct nlmsghdr header;
	struct nlmsgerr error;
};

static DEFINE_MUTEX(fake_address_lock);
static unsigned int fake_address_users;

static int fake_address_ask(struct socket *sock, u16 type)
{
	struct fake_address_request request = {
		.header = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.message = {
			.ifa_family = AF_INET,
			.ifa_prefixlen = 32,
			.ifa_index = init_net.loopback_dev->ifindex,
		},
		.attribute = {
			.nla_len = nla_attr_size(sizeof(request.address)),
			.nla_type = IFA_LOCAL,
		},
		.address = htonl(FAKE_ADDRESS),
	};
	struct kvec vec = { .iov_base = &request, .iov_len = sizeof(request) };
	struct fake_address_answer answer = {};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	/* With a destination, the rights of the caller count, not those of the file. */
	struct msghdr message = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	int ret;

	ret = kernel_sendmsg(sock, &message, &vec, 1, sizeof(request));
	if (ret < 0)
		return ret;
	vec = (struct kvec) { .iov_base = &answer, .iov_len = sizeof(answer) };
	ret = kernel_recvmsg(sock, &message, &vec, 1, sizeof(answer), MSG_DONTWAIT);
	if (ret < 0)
		return ret;
	return answer.header.nlmsg_type == NLMSG_ERROR ? answer.error.error : -EPROTO;
}

static int fake_address_change(u16 type)
{
	struct socket *sock;
	int ret;

	ret = sock_create_kern(&init_net, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, &sock);
	if (ret)
		return ret;
	ret = fake_address_ask(sock, type);
	sock_release(sock);
	return ret;
}

/* Reference-counted. */
static int fake_address_get(void)
{
	int ret = 0;

	mutex_lock(&fake_address_lock);
	if (!fake_address_users)
		ret = fake_address_change(RTM_NEWADDR);
	if (!ret)
		fake_address_users++;
	mutex_unlock(&fake_address_lock);

	return ret;
}

static void fake_address_put(void)
{
	mutex_lock(&fake_address_lock);
	if (!--fake_address_users)
		WARN_ON_ONCE(fake_address_change(RTM_DELADDR));
	mutex_unlock(&fake_address_lock);
}

/**
 * fake_device_register() - Register the device, at FAKE_ADDRESS
 * @fake: the device, on the loopback interface
 * @name: its name; a "%d" in it becomes a number
 *
 * Return: 0 or a negative errno.
 */
int fake_device_register(struct fake_device *fake, const char *name)
{
	int ret;

	ret = fake_address_get();
	if (ret)
		return ret;
	ret = fake_device_add(fake, name);
	if (ret)
		fake_address_put();
	return ret;
}

/**
 * fake_device_unregister() - Unregister the device
 * @fake: the device, registered
 *
 * Returns when every consumer has let it go, for which it first does the same
 * with them.
 */
void fake_device_unregister(struct fake_device *fake)
{
	fake_device_let_go(fake);
	ib_unregister_device(&fake->ib);
	fake_address_put();
}
