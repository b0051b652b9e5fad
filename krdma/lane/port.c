// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners that take lanes, and the port of trunks.
 *
 * In each network namespace the port is open as long as a listener takes lanes.  The two listeners
 * there have a session of their own, without an account.
 */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/in.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "cm/listen.h"
#include "core/session.h"
#include "lane/lane.h"
#include "lane/port.h"
#include "lane/trunk.h"

/**
 * struct krdma_lane_port - the port of trunks in a network namespace
 * @node: entry of krdma_lane_ports; changes under krdma_lane_listeners_lock, too
 * @net: the namespace; kept by @session
 * @session: session of the listeners
 * @ipv6: listener at all IPv6 addresses, or why there was none when it was last asked for
 * @ipv4: listener at all IPv4 addresses, or why there was none when it was last asked for
 * @users: listeners that take lanes; changes under krdma_lane_listeners_lock, too
 * @open_work: opens what is not open, in a thread that may use a privileged port
 */
struct krdma_lane_port {
	struct list_head node;
	struct net *net;
	struct krdma_session *session;
	struct krdma_listener *ipv6;
	struct krdma_listener *ipv4;
	unsigned int users;
	struct work_struct open_work;
};

/* See core/private.h. */
static DEFINE_MUTEX(krdma_lane_port_mutex);
static LIST_HEAD(krdma_lane_ports);
static DEFINE_SPINLOCK(krdma_lane_listeners_lock);

/*
 * Listeners that take lanes, by namespace and port: a peer asks for them, and there may be
 * thousands.
 */
#define KRDMA_LANE_LISTENERS_BITS	10
static struct list_head krdma_lane_listeners[BIT(KRDMA_LANE_LISTENERS_BITS)];

static struct list_head *krdma_lane_listeners_at(const struct net *net, u16 port)
{
	u32 hash = hash_ptr(net, KRDMA_LANE_LISTENERS_BITS) ^
		   hash_32(port, KRDMA_LANE_LISTENERS_BITS);

	return &krdma_lane_listeners[hash];
}

static u16 krdma_lane_listener_port(const struct krdma_listener *listener)
{
	/* At the same place for IPv4. */
	return ntohs(((const struct sockaddr_in6 *)&listener->local)->sin6_port);
}

/**
 * krdma_lane_ports_init() - Begin without listeners
 *
 * Context: process context.
 */
void __init krdma_lane_ports_init(void)
{
	for (u32 i = 0; i < ARRAY_SIZE(krdma_lane_listeners); i++)
		INIT_LIST_HEAD(&krdma_lane_listeners[i]);
}

/*
 * The port
 */

static struct krdma_listener *krdma_lane_port_listen(struct krdma_lane_port *port, int family)
{
	struct sockaddr_in6 local = { .sin6_family = family, .sin6_port = htons(KRDMA_LANE_PORT) };
	struct krdma_listen_attr attr = {
		.local = (struct sockaddr *)&local,
		/*
		 * With iWARP, a listener at the IPv6 wildcard does not get IPv4, so there is one
		 * for each.
		 */
		.v6only = true,
		.ready = krdma_trunks_accept,
	};
	struct krdma_listener *listener;

	listener = krdma_listen(port->session, &attr);
	/* At all addresses, this means that there is a listener with the same port. */
	return listener == ERR_PTR(-EADDRNOTAVAIL) ? ERR_PTR(-EADDRINUSE) : listener;
}

static void krdma_lane_port_open(struct work_struct *work)
{
	struct krdma_lane_port *port = container_of(work, struct krdma_lane_port, open_work);

	if (IS_ERR_OR_NULL(port->ipv6))
		port->ipv6 = krdma_lane_port_listen(port, AF_INET6);
	if (IS_ERR_OR_NULL(port->ipv4))
		port->ipv4 = krdma_lane_port_listen(port, AF_INET);
}

static void krdma_lane_port_reopen(struct krdma_lane_port *port)
{
	lockdep_assert_held(&krdma_lane_port_mutex);

	queue_work(krdma_lane_workqueue, &port->open_work);
	flush_work(&port->open_work);
}

static void krdma_lane_port_stop(struct krdma_listener *listener)
{
	if (IS_ERR(listener))
		return;
	krdma_listener_close(listener);
	krdma_listener_put(listener);
}

static void krdma_lane_port_close(struct krdma_lane_port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&krdma_lane_listeners_lock, flags);
	list_del(&port->node);
	spin_unlock_irqrestore(&krdma_lane_listeners_lock, flags);
	krdma_lane_port_stop(port->ipv4);
	krdma_lane_port_stop(port->ipv6);
	krdma_session_put(port->session);
	kfree(port);
}

static struct krdma_lane_port *krdma_lane_port_create(struct net *net)
{
	struct krdma_lane_port *port;
	unsigned long flags;
	int ret;

	port = kzalloc_obj(*port, GFP_KERNEL_ACCOUNT);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->session = krdma_trunk_session_create(net);
	if (IS_ERR(port->session)) {
		ret = PTR_ERR(port->session);
		kfree(port);
		return ERR_PTR(ret);
	}
	port->net = net;
	INIT_WORK(&port->open_work, krdma_lane_port_open);
	krdma_lane_port_reopen(port);
	spin_lock_irqsave(&krdma_lane_listeners_lock, flags);
	list_add(&port->node, &krdma_lane_ports);
	spin_unlock_irqrestore(&krdma_lane_listeners_lock, flags);
	return port;
}

static struct krdma_lane_port *krdma_lane_port_find(const struct net *net)
{
	struct krdma_lane_port *port;

	lockdep_assert_held(&krdma_lane_port_mutex);

	list_for_each_entry(port, &krdma_lane_ports, node) {
		if (port->net == net)
			return port;
	}
	return NULL;
}

static bool krdma_lane_address_is_any(const struct sockaddr_in6 *address)
{
	if (address->sin6_family == AF_INET)
		return ((const struct sockaddr_in *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
	return ipv6_addr_any(&address->sin6_addr);
}

/* Does the listener get what arrives at addresses of the other family, too? */
static bool krdma_lane_is_for_both(const struct krdma_listener *listener)
{
	const struct sockaddr_in6 *local = (const struct sockaddr_in6 *)&listener->local;

	return local->sin6_family == AF_INET6 && !listener->v6only &&
	       krdma_lane_address_is_any(local);
}

/* Why trunks do not reach the listener at each of its addresses; 0 if they do. */
static int krdma_lane_port_error(const struct krdma_lane_port *port,
				 const struct krdma_listener *listener)
{
	int ret = 0;

	lockdep_assert_held(&krdma_lane_port_mutex);

	if (listener->local.ss_family == AF_INET6)
		ret = PTR_ERR_OR_ZERO(port->ipv6);
	if (!ret && (listener->local.ss_family == AF_INET || krdma_lane_is_for_both(listener)))
		ret = PTR_ERR_OR_ZERO(port->ipv4);
	return ret;
}

/**
 * krdma_lane_listen() - Take lanes at a listener
 * @listener: the listener, which listens
 *
 * Context: process context; may sleep.
 * Return: 0; -EOPNOTSUPP: memory reclaim waits for the session; or an errno of krdma_listen() for
 * the port of trunks.
 */
int krdma_lane_listen(struct krdma_listener *listener)
{
	struct net *net = listener->session->net;
	struct krdma_lane_port *port;
	unsigned long flags;
	int ret = 0;

	if (listener->session->reclaim)
		return -EOPNOTSUPP;

	/*
	 * Held also while the port is opened and closed: a new port must find the old one closed.
	 */
	mutex_lock(&krdma_lane_port_mutex);
	port = krdma_lane_port_find(net);
	if (!port) {
		port = krdma_lane_port_create(net);
		if (IS_ERR(port)) {
			ret = PTR_ERR(port);
			goto out;
		}
		/* Its own addresses may be known as those of a host without lanes. */
		krdma_trunks_forget(net);
	}
	ret = krdma_lane_port_error(port, listener);
	if (ret && port->users) {
		/* The user of one half of the port, when the other was opened, may be gone. */
		krdma_lane_port_reopen(port);
		ret = krdma_lane_port_error(port, listener);
		if (!ret)
			krdma_trunks_forget(net);
	}
	if (ret) {
		if (!port->users)
			krdma_lane_port_close(port);
		goto out;
	}
	spin_lock_irqsave(&krdma_lane_listeners_lock, flags);
	port->users++;
	list_add_tail(&listener->lane_node,
		      krdma_lane_listeners_at(net, krdma_lane_listener_port(listener)));
	spin_unlock_irqrestore(&krdma_lane_listeners_lock, flags);
out:
	mutex_unlock(&krdma_lane_port_mutex);
	return ret;
}

/**
 * krdma_lane_unlisten() - Take no more lanes at a listener
 * @listener: the listener
 *
 * Trunks without lanes end with the last listener of a namespace.
 *
 * Context: process context; may sleep.
 */
void krdma_lane_unlisten(struct krdma_listener *listener)
{
	struct net *net = listener->session->net;
	struct krdma_lane_port *port;
	unsigned long flags;
	bool last;

	mutex_lock(&krdma_lane_port_mutex);
	if (list_empty(&listener->lane_node))
		goto out;
	port = krdma_lane_port_find(net);
	spin_lock_irqsave(&krdma_lane_listeners_lock, flags);
	list_del_init(&listener->lane_node);
	last = !--port->users;
	spin_unlock_irqrestore(&krdma_lane_listeners_lock, flags);

	if (last) {
		krdma_lane_port_close(port);
		krdma_trunks_shut(net);
	}
out:
	mutex_unlock(&krdma_lane_port_mutex);
}

/*
 * Listeners
 */

static bool krdma_lane_address_is_same(const struct sockaddr_in6 *a, const struct sockaddr_in6 *b)
{
	if (a->sin6_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&a->sin6_addr, &b->sin6_addr) &&
	       a->sin6_scope_id == b->sin6_scope_id;
}

/* Does a listener get what arrives at this address? */
static bool krdma_lane_is_for(const struct krdma_listener *listener,
			      const struct sockaddr_in6 *address)
{
	const struct sockaddr_in6 *local = (const struct sockaddr_in6 *)&listener->local;

	if (local->sin6_family != address->sin6_family)
		return krdma_lane_is_for_both(listener);
	return krdma_lane_address_is_any(local) || krdma_lane_address_is_same(local, address);
}

/**
 * krdma_lane_listener_get() - Find the listener of a lane
 * @trunk: the trunk on which the lane is opened
 * @port: the port
 *
 * A listener whose device was removed takes no connection, and another one may have its port.
 *
 * Context: any but NMI.
 * Return: the listener, for krdma_listener_put(), or NULL.
 */
struct krdma_listener *krdma_lane_listener_get(const struct krdma_trunk *trunk, u16 port)
{
	struct krdma_listener *listener, *found = NULL;
	unsigned long flags;

	spin_lock_irqsave(&krdma_lane_listeners_lock, flags);
	list_for_each_entry(listener, krdma_lane_listeners_at(trunk->key.net, port), lane_node) {
		if (listener->session->net == trunk->key.net && !READ_ONCE(listener->dead) &&
		    krdma_lane_listener_port(listener) == port &&
		    krdma_lane_is_for(listener, &trunk->key.local)) {
			found = listener;
			krdma_listener_get(found);
			break;
		}
	}
	spin_unlock_irqrestore(&krdma_lane_listeners_lock, flags);
	return found;
}

/**
 * krdma_lane_is_taken() - Check whether a listener takes lanes
 * @net: the network namespace
 *
 * Context: any but NMI.
 * Return: true if one does.
 */
bool krdma_lane_is_taken(const struct net *net)
{
	struct krdma_lane_port *port;
	unsigned long flags;
	bool taken = false;

	spin_lock_irqsave(&krdma_lane_listeners_lock, flags);
	list_for_each_entry(port, &krdma_lane_ports, node)
		taken |= port->net == net && port->users;
	spin_unlock_irqrestore(&krdma_lane_listeners_lock, flags);
	return taken;
}
