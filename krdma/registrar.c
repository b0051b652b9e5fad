// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration where there is no connection to post it on.
 *
 * A registration is an operation of a queue pair, in the protection domain of
 * the memory, and a queue pair takes operations only while it is connected.  So
 * a domain in which memory is registered has a connection of its own, from the
 * device to itself.  Nothing ever goes through it.
 *
 * The one to whom it connects is in the same domain as the consumer's memory,
 * and listens on the network for a moment: it lets nobody in but its other end,
 * which it knows by a number that nobody could guess.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/inetdevice.h>
#include <linux/irq_poll.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cgroup.h"
#include "cm_id.h"
#include "objects.h"
#include "registrar.h"
#include "resource.h"
#include "session.h"

/* For a step of the connection, and for an operation. */
#define KRDMA_REGISTRAR_TIMEOUT		(20 * HZ)
#define KRDMA_REGISTRAR_TIMEOUT_MS	5000

/* One operation at a time, and the marker that drains it. */
#define KRDMA_REGISTRAR_DEPTH		4

/* Goes through the queue pair that asks, and what the other one would tell. */
#define KRDMA_REGISTRAR_CQE		(4 * KRDMA_REGISTRAR_DEPTH)

/* What counts against a control group: two queue pairs and where they complete. */
#define KRDMA_REGISTRAR_OBJECTS		3

/**
 * struct krdma_registrar - a connection of a device with itself
 * @domain: whose
 * @net: the namespace of the interface that it is on
 * @addr: its address there
 * @charges: of what counts
 * @cq: where both queue pairs complete
 * @listener: waits for @passive; gone as soon as it is there
 * @active: the end that asks, and on which operations are posted
 * @passive: the end that is asked
 * @secret: tells @active from anybody else who asks
 * @step: a step of the connection is done
 * @broken: it is not connected any more, or never was
 * @connected: it was, so the queue pairs have to be drained
 * @cqe: of the operation under way
 * @done: it has completed
 * @status: how
 *
 * All under the domain's registrar_lock but what the connection manager's
 * handlers write: @passive, before @step, and @broken.
 */
struct krdma_registrar {
	struct krdma_domain *domain;
	struct net *net;
	struct sockaddr_storage addr;
	struct krdma_charge charges[KRDMA_REGISTRAR_OBJECTS];
	struct ib_cq *cq;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *active;
	struct rdma_cm_id *passive;
	u8 secret[16];
	struct completion step;
	bool broken;
	bool connected;
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

/*
 * Addresses
 */

static bool krdma_netdev_ipv4(struct net_device *netdev, struct sockaddr_storage *addr)
{
	struct sockaddr_in *to = (struct sockaddr_in *)addr;
	struct in_device *in_dev;
	struct in_ifaddr *ifa;
	bool found = false;

	rcu_read_lock();
	in_dev = __in_dev_get_rcu(netdev);
	if (!in_dev)
		goto out;

	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		/* To rdma_cm, a loopback address is any device's. */
		if (ipv4_is_loopback(ifa->ifa_local))
			continue;
		*to = (struct sockaddr_in) {
			.sin_family = AF_INET,
			.sin_addr.s_addr = ifa->ifa_local,
		};
		found = true;
		break;
	}
out:
	rcu_read_unlock();

	return found;
}

#if IS_ENABLED(CONFIG_IPV6)
static bool krdma_netdev_ipv6(struct net_device *netdev, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *to = (struct sockaddr_in6 *)addr;
	struct inet6_ifaddr *ifa;
	struct inet6_dev *in6_dev;
	bool found = false;

	rcu_read_lock();
	in6_dev = rcu_dereference(netdev->ip6_ptr);
	if (!in6_dev)
		goto out;

	list_for_each_entry_rcu(ifa, &in6_dev->addr_list, if_list) {
		/* Not one that is being checked whether it is another's. */
		if (ifa->flags & (IFA_F_TENTATIVE | IFA_F_DADFAILED) ||
		    ipv6_addr_loopback(&ifa->addr))
			continue;
		*to = (struct sockaddr_in6) {
			.sin6_family = AF_INET6,
			.sin6_addr = ifa->addr,
		};
		if (ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL)
			to->sin6_scope_id = netdev->ifindex;
		found = true;
		break;
	}
out:
	rcu_read_unlock();
	return found;
}
#else
static bool krdma_netdev_ipv6(struct net_device *netdev, struct sockaddr_storage *addr)
{
	return false;
}
#endif

/* The interface behind a port, with a reference, or NULL. */
static struct net_device *krdma_registrar_netdev(struct ib_device *ibdev, u32 port)
{
	struct net_device *netdev = ib_device_get_netdev(ibdev, port);
	union ib_gid gid;
	u16 pkey;

	if (netdev || !rdma_protocol_ib(ibdev, port))
		return netdev;

	/* InfiniBand proper: the one that IP over InfiniBand has made of it. */
	if (ib_query_pkey(ibdev, port, 0, &pkey) || rdma_query_gid(ibdev, port, 0, &gid))
		return NULL;
	return ib_get_net_dev_by_params(ibdev, port, pkey, &gid, NULL);
}

/* An address of an interface of the device's, and a reference to its namespace. */
static int krdma_registrar_find_address(struct krdma_registrar *registrar)
{
	struct ib_device *ibdev = registrar->domain->pd->device;
	u32 port;

	rdma_for_each_port(ibdev, port) {
		struct net_device *netdev = krdma_registrar_netdev(ibdev, port);

		if (!netdev)
			continue;
		/* It may be on its way to another namespace: then connecting fails. */
		if (krdma_netdev_ipv4(netdev, &registrar->addr) ||
		    krdma_netdev_ipv6(netdev, &registrar->addr))
			registrar->net = maybe_get_net(dev_net(netdev));
		dev_put(netdev);
		if (registrar->net)
			return 0;
	}
	return -EADDRNOTAVAIL;
}

/*
 * The connection
 */

static int krdma_registrar_create_qp(struct krdma_registrar *registrar, struct rdma_cm_id *id)
{
	struct ib_qp_init_attr attr = {
		.send_cq = registrar->cq,
		.recv_cq = registrar->cq,
		.cap = {
			.max_send_wr = KRDMA_REGISTRAR_DEPTH,
			.max_recv_wr = KRDMA_REGISTRAR_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	/* Found by its address, a device may turn out to be another one. */
	if (id->device != registrar->domain->pd->device)
		return -EADDRNOTAVAIL;
	return rdma_create_qp(id, registrar->domain->pd, &attr);
}

static void krdma_registrar_param(struct krdma_registrar *registrar,
				  struct rdma_conn_param *param)
{
	*param = (struct rdma_conn_param) {
		.private_data = registrar->secret,
		.private_data_len = sizeof(registrar->secret),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};
}

/* Somebody asks for the passive end.  An error rejects and destroys @id. */
static int krdma_registrar_requested(struct krdma_registrar *registrar, struct rdma_cm_id *id,
				     const struct rdma_conn_param *request)
{
	struct rdma_conn_param param;
	int ret;

	/* What a peer is told with some transports is longer than what was sent. */
	if (registrar->passive || request->private_data_len < sizeof(registrar->secret) ||
	    memcmp(request->private_data, registrar->secret, sizeof(registrar->secret)))
		return -ECONNREFUSED;

	ret = krdma_registrar_create_qp(registrar, id);
	if (ret)
		return ret;

	krdma_registrar_param(registrar, &param);
	ret = rdma_accept(id, &param);
	if (ret) {
		rdma_destroy_qp(id);
		return ret;
	}
	registrar->passive = id;
	return 0;
}

/* Context: process context, of the connection manager. */
static int krdma_registrar_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct krdma_registrar *registrar = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return krdma_registrar_requested(registrar, id, &event->param.conn);
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		complete(&registrar->step);
		return 0;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (id == registrar->active)
			complete(&registrar->step);
		return 0;
	default:
		/*
		 * Whatever it is, the next one who registers makes a new connection.
		 * A removal of the device ends the domain, and the domain this.
		 */
		WRITE_ONCE(registrar->broken, true);
		complete(&registrar->step);
		return 0;
	}
}

static struct rdma_cm_id *krdma_registrar_create_id(struct krdma_registrar *registrar)
{
	return rdma_create_id(registrar->net, krdma_registrar_handler, registrar, RDMA_PS_TCP,
			      IB_QPT_RC);
}

static int krdma_registrar_listen(struct krdma_registrar *registrar)
{
	struct rdma_cm_id *id;
	int ret;

	id = krdma_registrar_create_id(registrar);
	if (IS_ERR(id))
		return PTR_ERR(id);
	registrar->listener = id;

	ret = rdma_bind_addr(id, (struct sockaddr *)&registrar->addr);
	if (ret)
		return ret;
	return rdma_listen(id, 1);
}

static int krdma_registrar_wait(struct krdma_registrar *registrar)
{
	if (!wait_for_completion_timeout(&registrar->step, KRDMA_REGISTRAR_TIMEOUT))
		return -ETIMEDOUT;
	return READ_ONCE(registrar->broken) ? -EADDRNOTAVAIL : 0;
}

static int krdma_registrar_connect(struct krdma_registrar *registrar)
{
	struct sockaddr *to = (struct sockaddr *)&registrar->listener->route.addr.src_addr;
	struct sockaddr *from = (struct sockaddr *)&registrar->addr;
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	int ret;

	id = krdma_registrar_create_id(registrar);
	if (IS_ERR(id))
		return PTR_ERR(id);
	registrar->active = id;

	ret = rdma_resolve_addr(id, from, to, KRDMA_REGISTRAR_TIMEOUT_MS);
	if (!ret)
		ret = krdma_registrar_wait(registrar);
	if (!ret)
		ret = rdma_resolve_route(id, KRDMA_REGISTRAR_TIMEOUT_MS);
	if (!ret)
		ret = krdma_registrar_wait(registrar);
	if (!ret)
		ret = krdma_registrar_create_qp(registrar, id);
	if (ret)
		return ret;

	krdma_registrar_param(registrar, &param);
	ret = rdma_connect(id, &param);
	return ret ? ret : krdma_registrar_wait(registrar);
}

/* An end of it; it may not be there, or have no queue pair. */
static void krdma_registrar_end_id(struct krdma_registrar *registrar, struct rdma_cm_id *id)
{
	if (!id)
		return;
	if (id->qp) {
		/* Nothing was ever posted on one that was not connected. */
		if (registrar->connected)
			ib_drain_qp(id->qp);
		rdma_destroy_qp(id);
	}
	krdma_cm_id_destroy(id);
}

static void krdma_registrar_stop_listening(struct krdma_registrar *registrar)
{
	if (registrar->listener)
		krdma_cm_id_destroy(registrar->listener);
	registrar->listener = NULL;
}

/*
 * ib_free_cq() waits for a softirq until that has said that it is done with the queue.  But it
 * asks the queue for more after that: so nobody begins any more, and who has begun has ended,
 * before the queue is freed.  Nothing completes there by now.
 */
static void krdma_registrar_free_cq(struct ib_cq *cq)
{
	irq_poll_disable(&cq->iop);
	synchronize_rcu();
	irq_poll_enable(&cq->iop);
	ib_free_cq(cq);
}

static void krdma_registrar_free(struct krdma_registrar *registrar)
{
	krdma_registrar_stop_listening(registrar);
	if (registrar->connected)
		rdma_disconnect(registrar->active);
	krdma_registrar_end_id(registrar, registrar->active);
	krdma_registrar_end_id(registrar, registrar->passive);
	if (registrar->cq)
		krdma_registrar_free_cq(registrar->cq);
	for (int i = 0; i < KRDMA_REGISTRAR_OBJECTS; i++)
		krdma_uncharge_object(&registrar->charges[i], registrar->domain->pd->device);
	if (registrar->net)
		put_net(registrar->net);
	kfree(krdma_object_uncount(KRDMA_OBJECT_FRWR_QP, registrar));
}

static int krdma_registrar_setup(struct krdma_registrar *registrar)
{
	struct ib_device *ibdev = registrar->domain->pd->device;
	struct ib_cq *cq;
	int ret;

	ret = krdma_registrar_find_address(registrar);
	if (ret)
		return ret;

	/* All of it here: the passive end is made by a thread of the connection manager. */
	for (int i = 0; i < KRDMA_REGISTRAR_OBJECTS; i++) {
		ret = krdma_charge_object(&registrar->charges[i], ibdev);
		if (ret)
			return ret;
	}
	cq = ib_alloc_cq_any(ibdev, registrar, KRDMA_REGISTRAR_CQE, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	registrar->cq = cq;

	ret = krdma_registrar_listen(registrar);
	if (!ret)
		ret = krdma_registrar_connect(registrar);
	if (ret)
		return ret;

	registrar->connected = true;
	krdma_registrar_stop_listening(registrar);
	return 0;
}

static int krdma_registrar_create(struct krdma_domain *domain)
{
	struct krdma_registrar *registrar;
	int ret;

	registrar = krdma_object_count(KRDMA_OBJECT_FRWR_QP, kzalloc_obj(*registrar, GFP_KERNEL));
	if (!registrar)
		return -ENOMEM;

	registrar->domain = domain;
	get_random_bytes(registrar->secret, sizeof(registrar->secret));
	init_completion(&registrar->step);
	init_completion(&registrar->done);

	ret = krdma_registrar_setup(registrar);
	if (ret) {
		krdma_registrar_free(registrar);
		return ret;
	}
	domain->registrar = registrar;
	return 0;
}

static void krdma_registrar_end(struct krdma_domain *domain)
{
	struct krdma_registrar *registrar = domain->registrar;

	domain->registrar = NULL;
	if (registrar)
		krdma_registrar_free(registrar);
}

/*
 * Operations
 */

/* Context: softirq. */
static void krdma_registrar_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_registrar *registrar = container_of(wc->wr_cqe, struct krdma_registrar, cqe);

	registrar->status = wc->status;
	complete(&registrar->done);
}

/*
 * Posts one operation and waits for it.  -ECONNRESET: the connection was gone
 * before, so it may be tried on a new one.  After any error the connection is of
 * no further use.
 */
static int krdma_registrar_try(struct krdma_registrar *registrar, struct ib_send_wr *wr)
{
	int ret;

	registrar->cqe.done = krdma_registrar_done;
	reinit_completion(&registrar->done);
	wr->wr_cqe = &registrar->cqe;
	wr->send_flags = IB_SEND_SIGNALED;

	if (READ_ONCE(registrar->broken))
		return -ECONNRESET;
	/*
	 * A device that does it in softirq, as its completion is told, has mostly done it
	 * when they are on again: nobody has to be woken.
	 */
	local_bh_disable();
	ret = ib_post_send(registrar->active->qp, wr, NULL);
	local_bh_enable();
	if (ret)
		return -ECONNRESET;
	if (!wait_for_completion_timeout(&registrar->done, KRDMA_REGISTRAR_TIMEOUT))
		return -ETIMEDOUT;

	switch (registrar->status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
	default:
		return -EIO;
	}
}

static int krdma_registrar_run(struct krdma_domain *domain, struct ib_send_wr *wr)
{
	int ret = -ECONNRESET;

	might_sleep();
	mutex_lock(&domain->registrar_lock);

	/* A second time, if the connection of the last time has been lost meanwhile. */
	for (int i = 0; i < 2 && ret == -ECONNRESET; i++) {
		if (!domain->registrar) {
			ret = krdma_registrar_create(domain);
			if (ret)
				break;
		}
		ret = krdma_registrar_try(domain->registrar, wr);
		if (ret)
			krdma_registrar_end(domain);
	}

	mutex_unlock(&domain->registrar_lock);

	switch (ret) {
	case 0:
	case -EADDRNOTAVAIL:
	case -EDQUOT:
	case -ETIMEDOUT:
		return ret;
	case -ENODEV:
		/* Nobody has a device at its address. */
		return -EADDRNOTAVAIL;
	default:
		return krdma_provider_error(ret);
	}
}

/**
 * krdma_registrar_register - make a registration valid
 * @domain: where; the caller holds a reference
 * @mr: the registration, of the domain's, mapped and with the key that it is to
 *	have; if this fails, all that can be done with it is to deregister it
 * @access: bits of enum ib_access_flags
 *
 * Context: process context; sleeps until the device has done it, and the first
 * time until the device is connected with itself.  Takes the domain's
 * registrar_lock.
 * Return: 0, or
 * -EADDRNOTAVAIL: the device has no network address that it can reach itself at;
 * -ETIMEDOUT: it does not answer;
 * -EDQUOT: the control group has as many objects as it may;
 * -ENOMEM, -EINTR, -ERESTARTSYS, -EIO.
 */
int krdma_registrar_register(struct krdma_domain *domain, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	return krdma_registrar_run(domain, &wr.wr);
}

/**
 * krdma_registrar_invalidate - make a registration invalid
 * @domain: where; the caller holds a reference
 * @key: its key, of the domain's
 *
 * Context: as krdma_registrar_register().
 * Return: likewise.
 */
int krdma_registrar_invalidate(struct krdma_domain *domain, u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = key,
	};

	return krdma_registrar_run(domain, &wr);
}

/**
 * krdma_registrar_destroy - end a domain's connection with itself
 * @domain: the domain, which nobody else has any more
 *
 * Context: process context; may sleep.
 */
void krdma_registrar_destroy(struct krdma_domain *domain)
{
	mutex_lock(&domain->registrar_lock);
	krdma_registrar_end(domain);
	mutex_unlock(&domain->registrar_lock);
}
