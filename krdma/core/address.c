// SPDX-License-Identifier: GPL-2.0
/*
 * Which device is behind an address.
 *
 * The connection manager knows, and tells by binding an id of its own to the
 * device.  So each question makes an id, asks, and ends the id in the asking
 * thread.  As long as the id is there, a device that it is bound to stays: the
 * connection manager's part of a removal waits for it.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inetdevice.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/cm_id.h"
#include "core/private.h"

#define KRDMA_ADDRESS_TIMEOUT_MS	2000

/**
 * struct krdma_search - a question to the connection manager
 * @id: what it is asked with
 * @net: on whose behalf
 * @answered: it has said something
 * @error: what it said; set once, before @answered
 */
struct krdma_search {
	struct rdma_cm_id *id;
	struct net *net;
	struct completion answered;
	int error;
};

/*
 * Addresses
 */

/* A copy that can be bound: without a port. */
static int krdma_address_copy(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));

	switch (from->sa_family) {
	case AF_INET:
		memcpy(to, from, sizeof(struct sockaddr_in));
		((struct sockaddr_in *)to)->sin_port = 0;
		return 0;
	case AF_INET6:
		memcpy(to, from, sizeof(struct sockaddr_in6));
		((struct sockaddr_in6 *)to)->sin6_port = 0;
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}

static bool krdma_address_is_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ((const struct sockaddr_in *)addr)->sin_addr.s_addr == htonl(INADDR_ANY);
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

static bool krdma_address_is_loopback(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return ipv4_is_loopback(((const struct sockaddr_in *)addr)->sin_addr.s_addr);
	return ipv6_addr_loopback(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

/*
 * Whether an address of one link is on the interface that comes with it: for
 * these the connection manager looks at the interface only.
 */
static bool krdma_address_on_its_link(struct net *net, const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *sin6 = (const struct sockaddr_in6 *)addr;
	struct net_device *netdev;
	bool found;

	if (addr->ss_family != AF_INET6 ||
	    !(ipv6_addr_type(&sin6->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return true;

	rcu_read_lock();
	netdev = dev_get_by_index_rcu(net, sin6->sin6_scope_id);
	found = netdev && ipv6_chk_addr(net, &sin6->sin6_addr, netdev, 1);
	rcu_read_unlock();

	return found;
}

/*
 * Searches
 */

/* The connection manager has many words for "no"; @no is ours. */
static int krdma_search_error(int error, int no)
{
	switch (error) {
	case 0:
	case -EAFNOSUPPORT:
	case -EINVAL:
	case -ENOMEM:
	case -ETIMEDOUT:
		return error;
	/* What networks call it. */
	case -ENOBUFS:
		return -ENOMEM;
	default:
		return no;
	}
}

/* One at a time for an id, and maybe until the id has been destroyed. */
static int krdma_search_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krdma_search *search = id->context;
	int error;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		error = 0;
		break;
	case RDMA_CM_EVENT_ADDR_ERROR:
		error = krdma_search_error(event->status, -EHOSTUNREACH);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		error = -ENODEV;
		break;
	default:
		return 0;
	}

	if (!completion_done(&search->answered)) {
		search->error = error;
		complete_all(&search->answered);
	}
	/* Anything else would end the id here. */
	return 0;
}

static int krdma_search_begin(struct krdma_search *search, struct net *net)
{
	*search = (struct krdma_search) { .net = net };
	init_completion(&search->answered);
	search->id = rdma_create_id(net, krdma_search_event, search, RDMA_PS_TCP, IB_QPT_RC);

	return PTR_ERR_OR_ZERO(search->id);
}

static void krdma_search_end(struct krdma_search *search)
{
	krdma_cm_id_destroy(search->id);
}

/* To a specific address that is not a loopback one. */
static int krdma_search_bind(struct krdma_search *search, struct sockaddr_storage *local)
{
	int ret;

	ret = rdma_bind_addr(search->id, (struct sockaddr *)local);
	return krdma_search_error(ret, -EADDRNOTAVAIL);
}

static int krdma_search_resolve(struct krdma_search *search, struct sockaddr_storage *local,
				const struct sockaddr *remote, u32 timeout_ms)
{
	long left;
	int ret;

	/* The answer comes from a work. */
	if (!timeout_ms)
		return -ETIMEDOUT;

	ret = rdma_resolve_addr(search->id, (struct sockaddr *)local, remote,
				min_t(u32, timeout_ms, INT_MAX));
	if (ret)
		return krdma_search_error(ret, -EHOSTUNREACH);

	left = wait_for_completion_interruptible_timeout(&search->answered,
							 krdma_timeout_jiffies(timeout_ms));
	if (left < 0)
		return -EINTR;
	if (!left)
		return -ETIMEDOUT;
	return search->error;
}

/*
 * The device that was found.  Loopback addresses lead to the first device that
 * there is, in whichever namespace.
 */
static struct krdma_device *krdma_search_device(struct krdma_search *search, int no)
{
	struct ib_device *ibdev = search->id->device;
	struct krdma_device *dev;

	if (!ibdev || !rdma_dev_access_netns(ibdev, search->net))
		return ERR_PTR(no);

	dev = krdma_device_of(ibdev);
	return dev ? dev : ERR_PTR(-ENODEV);
}

/**
 * krdma_device_towards - the device by which an address is reached
 * @net: the network namespace on whose behalf
 * @local: from which address; its port is not looked at.  NULL, or the
 *	unspecified address: as the routing tables say
 * @remote: the address to be reached
 * @timeout_ms: how long to wait; 0: not at all, which finds nothing;
 *	KRDMA_FOREVER_MS: until the connection manager gives up
 *
 * A connection to @remote would go by this device, as far as can be known before
 * it is made.
 *
 * Context: process context; may sleep.  Not in ib_core's callbacks.
 * Return: the device, for krdma_device_put(), or an ERR_PTR of
 * -EADDRNOTAVAIL: no device that @net may see has the address @local;
 * -EHOSTUNREACH: there is no way, or no device on it that @net may see;
 * -ETIMEDOUT: the neighbour on the way did not answer in time;
 * -EINTR: a signal came first;
 * -ENODEV: the device is just being removed, or krdma does not serve it;
 * -EAFNOSUPPORT: neither IPv4 nor IPv6;
 * -EINVAL: an IPv4 and an IPv6 address, or a link-local address without its link;
 * -ENOMEM.
 */
struct krdma_device *krdma_device_towards(struct net *net, const struct sockaddr *local,
					  const struct sockaddr *remote, u32 timeout_ms)
{
	struct sockaddr_storage from, to;
	struct krdma_search search;
	struct krdma_device *dev;
	int ret;

	might_sleep();

	ret = krdma_address_copy(&to, remote);
	if (!ret && local)
		ret = krdma_address_copy(&from, local);
	if (ret)
		return ERR_PTR(ret);
	if (local && from.ss_family != to.ss_family)
		return ERR_PTR(-EINVAL);
	if (local && krdma_address_is_any(&from))
		local = NULL;

	ret = krdma_search_begin(&search, net);
	if (ret)
		return ERR_PTR(ret);

	/* Bound first: then it is clear which of the two addresses was the wrong one. */
	if (local && !krdma_address_is_loopback(&from)) {
		ret = krdma_search_bind(&search, &from);
		if (!ret && !krdma_address_on_its_link(net, &from))
			ret = -EADDRNOTAVAIL;
	}
	if (!ret)
		ret = krdma_search_resolve(&search, local ? &from : NULL,
					   (struct sockaddr *)&to, timeout_ms);
	dev = ret ? ERR_PTR(ret) : krdma_search_device(&search, -EHOSTUNREACH);

	krdma_search_end(&search);
	return dev;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_towards, "KRDMA");

/**
 * krdma_device_at - the device that has an address
 * @net: the network namespace on whose behalf
 * @local: the address; its port is not looked at
 *
 * A loopback address is no device's.  It stands for the one by which the
 * connection manager reaches it, which is the same for all of them.
 *
 * Context: process context; may sleep.  Not in ib_core's callbacks.
 * Return: the device, for krdma_device_put(), or an ERR_PTR of
 * -EADDRNOTAVAIL: no device that @net may see has this address;
 * -ENODEV: the device is just being removed, or krdma does not serve it;
 * -EAFNOSUPPORT: neither IPv4 nor IPv6;
 * -EINVAL: the unspecified address, or a link-local one without its link;
 * -EINTR, -ETIMEDOUT: for a loopback address: a signal came first, or the
 * connection manager did not answer;
 * -ENOMEM.
 */
struct krdma_device *krdma_device_at(struct net *net, const struct sockaddr *local)
{
	struct sockaddr_storage addr;
	struct krdma_search search;
	struct krdma_device *dev;
	int ret;

	might_sleep();

	ret = krdma_address_copy(&addr, local);
	if (ret)
		return ERR_PTR(ret);
	if (krdma_address_is_any(&addr))
		return ERR_PTR(-EINVAL);

	ret = krdma_search_begin(&search, net);
	if (ret)
		return ERR_PTR(ret);

	/* Binding to a loopback address binds to no device, so it goes there instead. */
	if (krdma_address_is_loopback(&addr))
		ret = krdma_search_resolve(&search, NULL, (struct sockaddr *)&addr,
					   KRDMA_ADDRESS_TIMEOUT_MS);
	else
		ret = krdma_search_bind(&search, &addr);
	if (ret == -EHOSTUNREACH || (!ret && !krdma_address_on_its_link(net, &addr)))
		ret = -EADDRNOTAVAIL;
	dev = ret ? ERR_PTR(ret) : krdma_search_device(&search, -EADDRNOTAVAIL);

	krdma_search_end(&search);
	return dev;
}
EXPORT_SYMBOL_NS_GPL(krdma_device_at, "KRDMA");
