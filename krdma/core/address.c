// SPDX-License-Identifier: GPL-2.0
/*
 * Find the device for an address.
 *
 * The connection manager knows the device, and reports it by binding a cm_id to the device.
 * Each search therefore creates a cm_id, resolves or binds it, and destroys it in the calling
 * thread.  While a cm_id is bound to a device, the device stays: the connection manager's part
 * of a device removal waits for the cm_id.
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
#include "core/device.h"
#include "core/private.h"

#define KRDMA_ADDRESS_TIMEOUT_MS	2000

/**
 * struct krdma_search - a search for a device through the connection manager
 * @id: the cm_id of the search
 * @net: the network namespace of the caller
 * @answered: completed when the connection manager has answered
 * @error: the answer, 0 or a negative errno; written once, before @answered is completed
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

/* Copy an address without its port, so that it can be bound. */
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
 * Return whether a link-local address belongs to the interface in its scope ID.  For these
 * addresses the connection manager checks only the interface.
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
 * Search
 */

/* The connection manager has many errnos for a negative answer.  Map them to @no. */
static int krdma_search_error(int error, int no)
{
	switch (error) {
	case 0:
	case -EAFNOSUPPORT:
	case -EINVAL:
	case -ENOMEM:
	case -ETIMEDOUT:
		return error;
	/* Network code uses this errno for ENOMEM. */
	case -ENOBUFS:
		return -ENOMEM;
	default:
		return no;
	}
}

/* Called one at a time for a cm_id, possibly until the cm_id is destroyed. */
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
	/* Any other return value makes the connection manager destroy the cm_id. */
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

/* Bind to a specific address that is not a loopback address. */
static int krdma_search_bind(struct krdma_search *search, struct sockaddr_storage *local)
{
	int ret;

	ret = krdma_cm_id_bind(search->id, (struct sockaddr *)local);
	return krdma_search_error(ret, -EADDRNOTAVAIL);
}

static int krdma_search_resolve(struct krdma_search *search, struct sockaddr_storage *local,
				const struct sockaddr *remote, u32 timeout_ms)
{
	long left;
	int ret;

	/* The answer comes from a work item, so there is none without waiting. */
	if (!timeout_ms)
		return -ETIMEDOUT;

	ret = krdma_cm_id_resolve(search->id, (struct sockaddr *)local, remote,
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
 * Return the device that the search has found.  A loopback address leads to the first device
 * that exists, in any network namespace, so check the namespace.
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
 * krdma_device_towards() - Find the device that reaches an address
 * @net: the network namespace of the caller
 * @local: the local address; its port is ignored.  NULL, or the unspecified address: chosen by
 *	the routing tables
 * @remote: the address to reach
 * @timeout_ms: how long to wait; 0: not at all, which finds nothing; KRDMA_FOREVER_MS: until
 *	the connection manager gives up
 *
 * A connection to @remote would use this device, as far as can be known before the connection
 * is made.
 *
 * Context: process context; may sleep.  Not in ib_core's callbacks.
 * Return: the device, to be released by krdma_device_put(), or an ERR_PTR of
 * -EADDRNOTAVAIL: no device that @net may see has the address @local;
 * -EHOSTUNREACH: there is no route, or no device on it that @net may see;
 * -ETIMEDOUT: the neighbour on the route did not answer in time;
 * -EINTR: a signal arrived first;
 * -ENODEV: the device is being removed, or krdma does not serve it;
 * -EAFNOSUPPORT: neither IPv4 nor IPv6;
 * -EINVAL: an IPv4 and an IPv6 address, or a link-local address without its scope ID;
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

	/* Bind first: the error then says which of the two addresses is wrong. */
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
 * krdma_device_at() - Find the device that has an address
 * @net: the network namespace of the caller
 * @local: the address; its port is ignored
 *
 * A loopback address belongs to no device.  It finds the device by which the connection manager
 * reaches it, which is the same for all loopback addresses.
 *
 * Context: process context; may sleep.  Not in ib_core's callbacks.
 * Return: the device, to be released by krdma_device_put(), or an ERR_PTR of
 * -EADDRNOTAVAIL: no device that @net may see has this address;
 * -ENODEV: the device is being removed, or krdma does not serve it;
 * -EAFNOSUPPORT: neither IPv4 nor IPv6;
 * -EINVAL: the unspecified address, or a link-local address without its scope ID;
 * -EINTR, -ETIMEDOUT: for a loopback address: a signal arrived first, or the connection manager
 * did not answer;
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

	/* Binding to a loopback address binds to no device, so resolve it as the remote address. */
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
