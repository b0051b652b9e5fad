// SPDX-License-Identifier: GPL-2.0
/*
 * A connection of an iWARP device with itself, on which memory is registered.
 *
 * On iWARP only the connection manager can connect a queue pair.  So one end listens at an
 * address of the port, and the other end connects there.  The listener exists for a moment
 * only.  It accepts only the other end, which it recognizes by a random secret.  Both queue
 * pairs are in the PD of the memory.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/cm_id.h"
#include "mr/frwr.h"
#include "core/session.h"
#include "mr/frwr_cm.h"

/* For a step of the connection; the connection manager's own timeout ends slightly earlier. */
#define KRDMA_FRWR_CM_TIMEOUT		(5 * HZ)
#define KRDMA_FRWR_CM_TIMEOUT_MS	4000

/* The maximum number of addresses of a port to try. */
#define KRDMA_FRWR_CM_ADDRESSES		8

#define KRDMA_FRWR_CM_DEPTH		4

/**
 * struct krdma_frwr_cm - a connection of a device with itself
 * @pd: the PD of both queue pairs
 * @cq: the CQ of both queue pairs; owned by the caller
 * @net: the network namespace of the address; a reference is held
 * @addr: the address
 * @listener: waits for @passive; destroyed as soon as that exists
 * @active: the end that connects, and on which work requests are posted
 * @passive: the end that accepts.  Written by a handler before @step.
 * @ports: charges for the ports of @listener and @active
 * @secret: distinguishes @active from any other peer that connects
 * @step: completed when a step of the connection is done
 * @broken: the connection is no longer connected, or never was.  Written by handlers.
 * @connected: the connection was connected
 *
 * Protected by the PD's frwr_lock, except the fields that handlers write.
 */
struct krdma_frwr_cm {
	struct krdma_pd *pd;
	struct ib_cq *cq;
	struct net *net;
	struct sockaddr_storage addr;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *active;
	struct rdma_cm_id *passive;
	struct krdma_charged_port ports[2];
	u8 secret[16];
	struct completion step;
	bool broken;
	bool connected;
};

/*
 * Addresses
 */

/* Addresses of an interface and of those above it, in the order of the attempts. */
struct krdma_frwr_addrs {
	struct sockaddr_storage addr[KRDMA_FRWR_CM_ADDRESSES];
	unsigned int count;
};

static struct sockaddr_storage *krdma_frwr_next_addr(struct krdma_frwr_addrs *addrs)
{
	return addrs->count < KRDMA_FRWR_CM_ADDRESSES ? &addrs->addr[addrs->count++] : NULL;
}

static void krdma_frwr_add_ipv4(struct net_device *netdev, struct krdma_frwr_addrs *addrs)
{
	struct in_device *in_dev = __in_dev_get_rcu(netdev);
	struct in_ifaddr *ifa;

	if (!in_dev)
		return;

	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		struct sockaddr_in *to;

		/* rdma_cm accepts a loopback address for any device. */
		if (ipv4_is_loopback(ifa->ifa_local))
			continue;
		to = (struct sockaddr_in *)krdma_frwr_next_addr(addrs);
		if (!to)
			return;
		*to = (struct sockaddr_in) {
			.sin_family = AF_INET,
			.sin_addr.s_addr = ifa->ifa_local,
		};
	}
}

static void krdma_frwr_add_ipv6(struct net_device *netdev, struct krdma_frwr_addrs *addrs)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *in6_dev = rcu_dereference(netdev->ip6_ptr);
	struct inet6_ifaddr *ifa;

	if (!in6_dev)
		return;

	list_for_each_entry_rcu(ifa, &in6_dev->addr_list, if_list) {
		struct sockaddr_in6 *to;

		/* Skip an address while duplicate address detection runs or after it has failed. */
		if (ifa->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED) ||
		    ipv6_addr_loopback(&ifa->addr))
			continue;
		to = (struct sockaddr_in6 *)krdma_frwr_next_addr(addrs);
		if (!to)
			return;
		*to = (struct sockaddr_in6) {
			.sin6_family = AF_INET6,
			.sin6_addr = ifa->addr,
		};
		if (ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			to->sin6_scope_id = netdev->ifindex;
	}
#endif
}

/* Context: under rcu_read_lock(). */
static int krdma_frwr_add_addrs(struct net_device *netdev, struct netdev_nested_priv *priv)
{
	krdma_frwr_add_ipv4(netdev, priv->data);
	krdma_frwr_add_ipv6(netdev, priv->data);
	return 0;
}

/* Find the addresses of a port.  A reference to the namespace is returned; NULL: no interface. */
static struct net *krdma_frwr_find_addrs(struct ib_device *ibdev, u32 port,
					 struct krdma_frwr_addrs *addrs)
{
	struct net_device *netdev = ib_device_get_netdev(ibdev, port);
	struct netdev_nested_priv priv = { .data = addrs };
	struct net *net;

	if (!netdev)
		return NULL;

	rcu_read_lock();
	/*
	 * The interface may be moving to another namespace: then connecting fails.  The old one is
	 * not freed meanwhile.
	 */
	net = maybe_get_net(dev_net(netdev));
	krdma_frwr_add_addrs(netdev, &priv);
	netdev_walk_all_upper_dev_rcu(netdev, krdma_frwr_add_addrs, &priv);
	rcu_read_unlock();
	dev_put(netdev);
	return net;
}

/*
 * The connection
 */

static int krdma_frwr_cm_create_qp(struct krdma_frwr_cm *cm, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq = cm->cq,
		.recv_cq = cm->cq,
		.cap = {
			.max_send_wr = KRDMA_FRWR_CM_DEPTH,
			.max_recv_wr = KRDMA_FRWR_CM_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	/* A device found by its address may be another device. */
	if (id->device != cm->pd->ib->device)
		return -EADDRNOTAVAIL;
	return rdma_create_qp(id, cm->pd->ib, &attr);
}

static void krdma_frwr_cm_param(struct krdma_frwr_cm *cm, struct rdma_conn_param *param)
{
	*param = (struct rdma_conn_param) {
		.private_data = cm->secret,
		.private_data_len = sizeof(cm->secret),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};
}

/* A connection request has arrived at the listener.  An error rejects and destroys @id. */
static int krdma_frwr_cm_requested(struct krdma_frwr_cm *cm, struct rdma_cm_id *id,
				   const struct rdma_conn_param *wr)
{
	struct rdma_conn_param param;
	int ret;

	/* Some transports pad the private data. */
	if (cm->passive || wr->private_data_len < sizeof(cm->secret) ||
	    memcmp(wr->private_data, cm->secret, sizeof(cm->secret)))
		return -ECONNREFUSED;

	ret = krdma_frwr_cm_create_qp(cm, id);
	if (ret)
		return ret;

	krdma_frwr_cm_param(cm, &param);
	ret = rdma_accept(id, &param);
	if (ret) {
		rdma_destroy_qp(id);
		return ret;
	}
	cm->passive = id;
	return 0;
}

/* Context: process context, of the connection manager. */
static int krdma_frwr_cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krdma_frwr_cm *cm = id->context;
	unsigned int noio;
	int ret;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		/*
		 * Memory reclaim may wait for the registering task, see
		 * krdma_session_set_reclaim().
		 */
		noio = memalloc_noio_save();
		ret = krdma_frwr_cm_requested(cm, id, &event->param.conn);
		memalloc_noio_restore(noio);
		return ret;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		complete(&cm->step);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (id == cm->active)
			complete(&cm->step);
		return 0;
	default:
		/*
		 * After any of these events, the next registration creates a new connection.  A
		 * removal of the device ends the PD, and the PD ends this connection.
		 */
		WRITE_ONCE(cm->broken, true);
		complete(&cm->step);
		return 0;
	}
}

enum {
	KRDMA_FRWR_CM_LISTENER,
	KRDMA_FRWR_CM_ACTIVE,
};

/* Charge the port that the cm_id is about to get; the end of the cm_id uncharges it. */
static struct rdma_cm_id *krdma_frwr_cm_create_id(struct krdma_frwr_cm *cm,
						  struct krdma_charged_port *port)
{
	int ret = krdma_port_charge(port, cm->pd->session);

	if (ret)
		return ERR_PTR(ret);
	return rdma_create_id(cm->net, krdma_frwr_cm_handler, cm, RDMA_PS_TCP, IB_QPT_RC);
}

static int krdma_frwr_cm_listen(struct krdma_frwr_cm *cm)
{
	struct rdma_cm_id *id;
	int ret;

	id = krdma_frwr_cm_create_id(cm, &cm->ports[KRDMA_FRWR_CM_LISTENER]);
	if (IS_ERR(id))
		return PTR_ERR(id);
	cm->listener = id;

	ret = krdma_cm_id_bind(id, (struct sockaddr *)&cm->addr);
	if (ret)
		return ret;
	return krdma_cm_id_listen(id, 1);
}

static int krdma_frwr_cm_wait(struct krdma_frwr_cm *cm)
{
	long left;

	left = wait_for_completion_killable_timeout(&cm->step, KRDMA_FRWR_CM_TIMEOUT);
	if (left < 0)
		return -EINTR;
	if (!left)
		return -ETIMEDOUT;
	return READ_ONCE(cm->broken) ? -EADDRNOTAVAIL : 0;
}

static int krdma_frwr_cm_ask(struct krdma_frwr_cm *cm)
{
	struct sockaddr *to = (struct sockaddr *)&cm->listener->route.addr.src_addr;
	struct sockaddr *from = (struct sockaddr *)&cm->addr;
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	int ret;

	id = krdma_frwr_cm_create_id(cm, &cm->ports[KRDMA_FRWR_CM_ACTIVE]);
	if (IS_ERR(id))
		return PTR_ERR(id);
	cm->active = id;

	ret = krdma_cm_id_resolve(id, from, to, KRDMA_FRWR_CM_TIMEOUT_MS);
	if (!ret)
		ret = krdma_frwr_cm_wait(cm);
	if (!ret)
		ret = rdma_resolve_route(id, KRDMA_FRWR_CM_TIMEOUT_MS);
	if (!ret)
		ret = krdma_frwr_cm_wait(cm);
	if (!ret)
		ret = krdma_frwr_cm_create_qp(cm, id);
	if (ret)
		return ret;

	krdma_frwr_cm_param(cm, &param);
	ret = rdma_connect(id, &param);
	return ret ? ret : krdma_frwr_cm_wait(cm);
}

/* Set the queue pair of one end to the error state, if the end exists and has one. */
static void krdma_frwr_cm_fail_id(struct rdma_cm_id *id)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (id && id->qp)
		ib_modify_qp(id->qp, &attr, IB_QP_STATE);
}

static void krdma_frwr_cm_end_id(struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp)
		rdma_destroy_qp(id);
	krdma_cm_id_destroy(id);
}

static void krdma_frwr_cm_stop_listening(struct krdma_frwr_cm *cm)
{
	if (cm->listener)
		krdma_cm_id_destroy(cm->listener);
	cm->listener = NULL;
	krdma_port_uncharge(&cm->ports[KRDMA_FRWR_CM_LISTENER]);
}

static struct krdma_frwr_cm *krdma_frwr_cm_try(struct krdma_pd *pd, struct ib_cq *cq,
					       struct net *net,
					       const struct sockaddr_storage *addr)
{
	struct krdma_frwr_cm *cm;
	int ret;

	cm = kzalloc_obj(*cm, GFP_KERNEL_ACCOUNT);
	if (!cm)
		return ERR_PTR(-ENOMEM);

	cm->pd = pd;
	cm->cq = cq;
	cm->net = get_net(net);
	cm->addr = *addr;
	get_random_bytes(cm->secret, sizeof(cm->secret));
	init_completion(&cm->step);

	ret = krdma_frwr_cm_listen(cm);
	if (!ret)
		ret = krdma_frwr_cm_ask(cm);
	if (ret) {
		krdma_frwr_cm_destroy(cm);
		return ERR_PTR(ret);
	}
	cm->connected = true;
	krdma_frwr_cm_stop_listening(cm);
	return cm;
}

/**
 * krdma_frwr_cm_connect() - Connect an iWARP device with itself
 * @pd: the PD of the queue pairs; the caller holds its frwr_lock until krdma_frwr_cm_destroy()
 * @cq: the CQ of the queue pairs, with 4 work requests in flight; owned by the caller
 * @port: a port of the device
 *
 * Tries the addresses of the port's network interface and of those above it, such as VLANs,
 * bridges and bonds, one after the other, up to 8.  Each step of an attempt takes 5 seconds at
 * most.
 *
 * Context: process context; sleeps; returns if the caller is killed.
 * Return: the connection, to be released by krdma_frwr_cm_destroy(), or ERR_PTR of
 * -EADDRNOTAVAIL, -ENODEV: the port has no address at which it can reach itself;
 * -ETIMEDOUT: it does not answer there;
 * -EINTR: the caller is being killed;
 * -EDQUOT: the session has reached its limit of ports;
 * -ENOMEM, and the errors of rdma_cm and the provider.
 */
struct krdma_frwr_cm *krdma_frwr_cm_connect(struct krdma_pd *pd, struct ib_cq *cq,
					    u32 port)
{
	struct krdma_frwr_cm *cm = ERR_PTR(-EADDRNOTAVAIL);
	struct krdma_frwr_addrs *addrs;
	struct net *net;

	addrs = kzalloc_obj(*addrs, GFP_KERNEL_ACCOUNT);
	if (!addrs)
		return ERR_PTR(-ENOMEM);

	net = krdma_frwr_find_addrs(pd->ib->device, port, addrs);
	for (unsigned int i = 0; net && i < addrs->count; i++) {
		cm = krdma_frwr_cm_try(pd, cq, net, &addrs->addr[i]);
		if (!IS_ERR(cm) || PTR_ERR(cm) == -EINTR || PTR_ERR(cm) == -ENOMEM ||
		    PTR_ERR(cm) == -EDQUOT)
			break;
	}
	if (net)
		put_net(net);
	kfree(addrs);
	return cm;
}

/**
 * krdma_frwr_cm_qp() - Get the queue pair to post work requests on
 * @cm: the connection
 *
 * Context: any.
 * Return: the queue pair, valid until krdma_frwr_cm_destroy().
 */
struct ib_qp *krdma_frwr_cm_qp(struct krdma_frwr_cm *cm)
{
	return cm->active->qp;
}

/**
 * krdma_frwr_cm_broken() - Check whether the connection has ended
 * @cm: the connection
 *
 * Context: any.
 * Return: true if it can no longer be used.
 */
bool krdma_frwr_cm_broken(const struct krdma_frwr_cm *cm)
{
	return READ_ONCE(cm->broken);
}

/**
 * krdma_frwr_cm_destroy() - Destroy a connection of a device with itself
 * @cm: the connection; its work requests have completed, or nothing waits for them.  Freed.
 *
 * Context: process context; sleeps, for the handlers of the connection manager, and for the
 * provider while it has not answered a rdma_connect(): iw_cm waits for that, and nothing
 * shortens the wait.  Providers give up by themselves, siw after 10 seconds.
 */
void krdma_frwr_cm_destroy(struct krdma_frwr_cm *cm)
{
	krdma_frwr_cm_stop_listening(cm);
	if (cm->connected)
		rdma_disconnect(cm->active);
	/* Set both to the error state first: then neither end waits for the other. */
	krdma_frwr_cm_fail_id(cm->active);
	krdma_frwr_cm_fail_id(cm->passive);
	krdma_frwr_cm_end_id(cm->active);
	krdma_port_uncharge(&cm->ports[KRDMA_FRWR_CM_ACTIVE]);
	krdma_frwr_cm_end_id(cm->passive);
	put_net(cm->net);
	kfree(cm);
}
