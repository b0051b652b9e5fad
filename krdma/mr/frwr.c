// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration by work requests (FRWR) without a consumer's connection.
 *
 * A fast registration is a work request, and a queue pair executes work requests only while it
 * is connected.  A PD in which memory is registered therefore has a queue pair of its own,
 * which is connected to itself: by the port's own GID or LID, and its own QP number.  It needs
 * no connection manager, no IP address and no link, and no packet is ever sent on it.
 *
 * No other QP reaches it.  It accepts only packets from its own port with its own QP number as
 * their source and with a PSN that is random.  It has no remote rights, and no receives are
 * posted.
 *
 * An iWARP queue pair cannot be connected without the connection manager: see mr/frwr_cm.c.
 */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/irq_poll.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "core/cgroup.h"
#include "core/device_query.h"
#include "mr/frwr.h"
#include "core/objects.h"
#include "core/resource.h"
#include "core/session.h"
#include "mr/frwr_cm.h"

/*
 * Timeouts for a work request, and for its flush after that.  The device has next to nothing to
 * do for either.  A device that takes longer is broken, and krdma does not wait for it.
 */
#define KRDMA_FRWR_TIMEOUT	(5 * HZ)
#define KRDMA_FRWR_DRAIN	HZ

/*
 * Only one work request is in flight at a time, but some devices round up, and some require
 * more.
 */
#define KRDMA_FRWR_DEPTH	4
#define KRDMA_FRWR_CQE		(4 * KRDMA_FRWR_DEPTH)

/* Charged objects: the CQ, the queue pair, and a second queue pair on iWARP. */
enum krdma_frwr_object {
	KRDMA_FRWR_CQ,
	KRDMA_FRWR_QP,
	KRDMA_FRWR_PASSIVE_QP,
	KRDMA_FRWR_OBJECTS,
};

/* Valid on every port, independent of the port's MTU. */
#define KRDMA_FRWR_MTU		IB_MTU_256

/**
 * struct krdma_frwr_qp - the queue pair of a PD that registers memory
 * @pd: the PD
 * @charges: charges for the objects on the device
 * @cq: the CQ of its work requests
 * @qp: connected to itself, or an end of @cm; work requests are posted on it
 * @cm: the connection through the connection manager, on iWARP; NULL otherwise
 * @failed: the device has reported that @qp can no longer be used.  Written in any context.
 * @posted: a work request may be executing
 * @proven: it has executed a work request
 * @cqe: of that work request
 * @done: completed when the work request completes
 * @status: its completion status; valid after @done
 *
 * Protected by the PD's frwr_lock, except @failed, and @status, which the completion handler
 * writes before @done.
 */
struct krdma_frwr_qp {
	struct krdma_pd *pd;
	struct krdma_charge charges[KRDMA_FRWR_OBJECTS];
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct krdma_frwr_cm *cm;
	bool failed;
	bool posted;
	bool proven;
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

/*
 * Connection setup
 */

/* Context: any. */
static void krdma_frwr_event(struct ib_event *event, void *context)
{
	struct krdma_frwr_qp *frwr = context;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		WRITE_ONCE(frwr->failed, true);
		break;
	default:
		break;
	}
}

static struct ib_qp *krdma_frwr_create_qp(struct krdma_frwr_qp *frwr, u32 port)
{
	struct ib_qp_init_attr attr = {
		.event_handler = krdma_frwr_event,
		.qp_context = frwr,
		.send_cq = frwr->cq,
		.recv_cq = frwr->cq,
		.cap = {
			.max_send_wr = KRDMA_FRWR_DEPTH,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = port,
	};

	return ib_create_qp(frwr->pd->ib, &attr);
}

static int krdma_frwr_to_init(struct ib_qp *qp, u32 port)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.pkey_index = 0,
		.port_num = port,
		/* An rkey has its own access rights; these apply to packets for this QP. */
		.qp_access_flags = 0,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

static int krdma_frwr_to_rtr(struct ib_qp *qp, const struct rdma_ah_attr *ah, u32 psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = KRDMA_FRWR_MTU,
		.dest_qp_num = qp->qp_num,
		.rq_psn = psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = *ah,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_MIN_RNR_TIMER);
}

static int krdma_frwr_to_rts(struct ib_qp *qp, u32 psn)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = psn,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

/* Connected, or an error that does not depend on the path, so that no other path is tried. */
static bool krdma_frwr_settled(int ret)
{
	return !ret || ret == -EINTR || ret == -ENOMEM || ret == -EDQUOT;
}

/*
 * Connect a queue pair to itself.  Each attempt uses a new queue pair, because not every
 * provider lets a queue pair start again.
 */
static int krdma_frwr_connect_path(struct krdma_frwr_qp *frwr, const struct rdma_ah_attr *ah)
{
	u32 port = rdma_ah_get_port_num(ah);
	u32 psn = get_random_u32() & 0xffffff;
	struct ib_qp *qp;
	int ret;

	qp = krdma_frwr_create_qp(frwr, port);
	if (IS_ERR(qp))
		return PTR_ERR(qp);

	ret = krdma_frwr_to_init(qp, port);
	if (!ret)
		ret = krdma_frwr_to_rtr(qp, ah, psn);
	if (!ret)
		ret = krdma_frwr_to_rts(qp, psn);
	if (ret) {
		ib_destroy_qp(qp);
		return ret;
	}
	frwr->qp = qp;
	return 0;
}

/* Connect by a GID of the port; with RoCE also by the MAC address of the GID's interface. */
static int krdma_frwr_connect_gid(struct krdma_frwr_qp *frwr, struct rdma_ah_attr *ah,
				  const struct ib_gid_attr *gid_attr)
{
	union ib_gid gid = gid_attr->gid;
	int ret;

	if (ah->type == RDMA_AH_ATTR_TYPE_ROCE) {
		ret = rdma_read_gid_l2_fields(gid_attr, NULL, ah->roce.dmac);
		if (ret)
			return ret;
	}
	/* The path holds its own reference. */
	rdma_hold_gid_attr(gid_attr);
	rdma_move_grh_sgid_attr(ah, &gid, 0, 1, 0, gid_attr);
	ret = krdma_frwr_connect_path(frwr, ah);
	rdma_destroy_ah_attr(ah);
	return ret;
}

static struct rdma_ah_attr krdma_frwr_ah(struct ib_device *ibdev, u32 port)
{
	struct rdma_ah_attr ah = { .type = rdma_ah_find_type(ibdev, port) };

	rdma_ah_set_port_num(&ah, port);
	return ah;
}

/*
 * Try every entry of the port's GID table, link-local entries last.  A link-local entry exists
 * independent of the IP addresses and of the interface that has them.  But its table slot is
 * reserved for it, and a queue pair occupies the slot of its GID as long as the queue pair
 * exists: a port that loses and regains that GID, by a failover of its bond or by a new MAC
 * address, would not get it back.  Entries of IP addresses can use any slot.
 */
static int krdma_frwr_connect_roce(struct krdma_frwr_qp *frwr, u32 port)
{
	struct ib_device *ibdev = frwr->pd->ib->device;
	int entries = ibdev->port_data[port].immutable.gid_tbl_len;
	int ret = -EADDRNOTAVAIL;

	for (int i = 0; i < 2 * entries; i++) {
		struct rdma_ah_attr ah = krdma_frwr_ah(ibdev, port);
		const struct ib_gid_attr *gid_attr;
		bool local, last = i >= entries;

		gid_attr = rdma_get_gid_attr(ibdev, port, i % entries);
		if (IS_ERR(gid_attr))
			continue;
		local = rdma_link_local_addr((struct in6_addr *)&gid_attr->gid);
		if (local == last)
			ret = krdma_frwr_connect_gid(frwr, &ah, gid_attr);
		rdma_put_gid_attr(gid_attr);
		if (krdma_frwr_settled(ret))
			return ret;
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return ret;
}

/* Connect by the port's LID, and by its GID if the port requires a GRH. */
static int krdma_frwr_connect_ib(struct krdma_frwr_qp *frwr, u32 port)
{
	struct ib_device *ibdev = frwr->pd->ib->device;
	struct rdma_ah_attr ah = krdma_frwr_ah(ibdev, port);
	const struct ib_gid_attr *gid_attr;
	struct ib_port_attr attr;
	int ret;

	ret = ib_query_port(ibdev, port, &attr);
	if (ret)
		return ret;
	rdma_ah_set_dlid(&ah, attr.lid);
	if (!rdma_is_grh_required(ibdev, port))
		return krdma_frwr_connect_path(frwr, &ah);

	gid_attr = rdma_get_gid_attr(ibdev, port, 0);
	if (IS_ERR(gid_attr))
		return PTR_ERR(gid_attr);
	ret = krdma_frwr_connect_gid(frwr, &ah, gid_attr);
	rdma_put_gid_attr(gid_attr);
	return ret;
}

static int krdma_frwr_connect_cm(struct krdma_frwr_qp *frwr, u32 port)
{
	struct krdma_charge *charge = &frwr->charges[KRDMA_FRWR_PASSIVE_QP];
	struct ib_device *ibdev = frwr->pd->ib->device;
	struct krdma_frwr_cm *cm;
	int ret;

	/* Charge here: a thread of the connection manager creates that end. */
	ret = krdma_charge_object(charge, frwr->pd->session, ibdev);
	if (ret)
		return ret;
	cm = krdma_frwr_cm_connect(frwr->pd, frwr->cq, port);
	if (IS_ERR(cm)) {
		krdma_uncharge_object(charge, ibdev);
		return PTR_ERR(cm);
	}
	frwr->cm = cm;
	frwr->qp = krdma_frwr_cm_qp(cm);
	return 0;
}

static int krdma_frwr_connect_port(struct krdma_frwr_qp *frwr, u32 port)
{
	struct ib_device *ibdev = frwr->pd->ib->device;

	if (rdma_protocol_iwarp(ibdev, port))
		return krdma_frwr_connect_cm(frwr, port);
	if (rdma_protocol_roce(ibdev, port))
		return krdma_frwr_connect_roce(frwr, port);
	if (rdma_protocol_ib(ibdev, port))
		return krdma_frwr_connect_ib(frwr, port);
	return -EADDRNOTAVAIL;
}

static bool krdma_port_active(struct ib_device *ibdev, u32 port)
{
	enum ib_port_state state;

	return !ib_get_cached_port_state(ibdev, port, &state) && state == IB_PORT_ACTIVE;
}

/* Try every port, active ones first, because not every provider accepts other ports. */
static int krdma_frwr_connect(struct krdma_frwr_qp *frwr)
{
	struct ib_device *ibdev = frwr->pd->ib->device;
	int ret = -EADDRNOTAVAIL;
	u32 port;

	for (int active = 1; active >= 0; active--) {
		rdma_for_each_port(ibdev, port) {
			if (krdma_port_active(ibdev, port) != active)
				continue;
			ret = krdma_frwr_connect_port(frwr, port);
			if (krdma_frwr_settled(ret))
				return ret;
			if (fatal_signal_pending(current))
				return -EINTR;
		}
	}
	return ret;
}

/*
 * Creation and destruction
 */

/*
 * ib_free_cq() waits until the softirq has reported that it is done with the CQ, but the
 * softirq polls the CQ once more after that.  So disable polling, and wait for running polls,
 * before the CQ is freed.  Nothing completes there by now.
 */
static void krdma_frwr_free_cq(struct ib_cq *cq)
{
	irq_poll_disable(&cq->iop);
	synchronize_rcu();
	irq_poll_enable(&cq->iop);
	ib_free_cq(cq);
}

/*
 * Only one work request is in flight at a time, so it serves as its own drain marker.  A caller
 * that is being killed does not wait for it.  Whether it completes or not, the device is done
 * with it when the queue pair is destroyed.
 */
static void krdma_frwr_drain(struct krdma_frwr_qp *frwr)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	if (!frwr->posted || ib_modify_qp(frwr->qp, &attr, IB_QP_STATE))
		return;
	if (!wait_for_completion_killable_timeout(&frwr->done, KRDMA_FRWR_DRAIN))
		dev_warn_ratelimited(&frwr->qp->device->dev,
				     "queue pair %u was not flushed in time, and is destroyed\n",
				     frwr->qp->qp_num);
}

static void krdma_frwr_free(struct krdma_frwr_qp *frwr)
{
	if (frwr->qp)
		krdma_frwr_drain(frwr);
	if (frwr->cm)
		krdma_frwr_cm_destroy(frwr->cm);
	else if (frwr->qp)
		ib_destroy_qp(frwr->qp);
	if (frwr->cq)
		krdma_frwr_free_cq(frwr->cq);
	for (int i = 0; i < KRDMA_FRWR_OBJECTS; i++)
		krdma_uncharge_object(&frwr->charges[i], frwr->pd->ib->device);
	kfree(krdma_object_uncount(KRDMA_OBJECT_FRWR_QP, frwr));
}

static int krdma_frwr_setup(struct krdma_frwr_qp *frwr)
{
	struct krdma_session *session = frwr->pd->session;
	struct ib_device *ibdev = frwr->pd->ib->device;
	struct ib_cq *cq;
	int ret;

	ret = krdma_charge_object(&frwr->charges[KRDMA_FRWR_CQ], session, ibdev);
	if (ret)
		return ret;
	ret = krdma_charge_object(&frwr->charges[KRDMA_FRWR_QP], session, ibdev);
	if (ret)
		return ret;
	cq = ib_alloc_cq_any(ibdev, frwr, KRDMA_FRWR_CQE, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	frwr->cq = cq;
	return krdma_frwr_connect(frwr);
}

static int krdma_frwr_create(struct krdma_pd *pd)
{
	struct krdma_frwr_qp *frwr;
	int ret;

	frwr = krdma_object_count(KRDMA_OBJECT_FRWR_QP, kzalloc_obj(*frwr, GFP_KERNEL_ACCOUNT));
	if (!frwr)
		return -ENOMEM;

	frwr->pd = pd;
	init_completion(&frwr->done);
	ret = krdma_frwr_setup(frwr);
	if (ret) {
		krdma_frwr_free(frwr);
		return ret;
	}
	WRITE_ONCE(pd->frwr, frwr);
	krdma_pd_unkeep(pd);
	return 0;
}

static void krdma_frwr_end(struct krdma_pd *pd)
{
	struct krdma_frwr_qp *frwr = pd->frwr;

	pd->frwr = NULL;
	if (frwr)
		krdma_frwr_free(frwr);
}

/*
 * Work requests
 */

/* Context: softirq. */
static void krdma_frwr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_frwr_qp *frwr = container_of(wc->wr_cqe, struct krdma_frwr_qp, cqe);

	frwr->status = wc->status;
	complete_all(&frwr->done);
}

/* Returns 0, -ETIMEDOUT, or -EINTR if the caller is being killed. */
static int krdma_frwr_wait(struct krdma_frwr_qp *frwr, bool killable)
{
	long left;

	if (killable)
		left = wait_for_completion_killable_timeout(&frwr->done, KRDMA_FRWR_TIMEOUT);
	else
		left = wait_for_completion_timeout(&frwr->done, KRDMA_FRWR_TIMEOUT);
	if (left < 0)
		return -EINTR;
	return left ? 0 : -ETIMEDOUT;
}

static bool krdma_frwr_lost(const struct krdma_frwr_qp *frwr)
{
	return READ_ONCE(frwr->failed) || (frwr->cm && krdma_frwr_cm_broken(frwr->cm));
}

/*
 * What a refused post means.  A queue pair in another state refuses it in any way, with -EINVAL on
 * many devices.  But one that was just connected refuses so only what the driver never takes: mlx5
 * atomics of peers if its firmware cannot give that right to an MR, hns every registration on its
 * older cards.  No other queue pair would help then.
 */
static int krdma_frwr_refused(const struct krdma_frwr_qp *frwr, int error)
{
	if (frwr->proven || krdma_frwr_lost(frwr))
		return -ECONNRESET;
	return error == -EINVAL || error == -EOPNOTSUPP ? -EOPNOTSUPP : -ECONNRESET;
}

/*
 * Post one work request and wait for it.  -ECONNRESET: it was not posted, because the queue pair
 * could not be used; -ECANCELED: it was, and the device has flushed it.  In both cases the caller
 * may retry on a new one.  After any error the queue pair cannot be used any more.
 */
static int krdma_frwr_try(struct krdma_frwr_qp *frwr, struct ib_send_wr *wr, bool killable)
{
	int ret;

	frwr->cqe.done = krdma_frwr_done;
	reinit_completion(&frwr->done);
	wr->wr_cqe = &frwr->cqe;
	wr->send_flags = IB_SEND_SIGNALED;

	if (krdma_frwr_lost(frwr))
		return -ECONNRESET;
	/*
	 * A device that executes the work request in softirq, where its completion is
	 * delivered, has usually finished when softirqs are enabled again: then no task has to
	 * be woken.
	 */
	local_bh_disable();
	ret = ib_post_send(frwr->qp, wr, NULL);
	local_bh_enable();
	if (ret)
		return krdma_frwr_refused(frwr, ret);

	frwr->posted = true;
	ret = krdma_frwr_wait(frwr, killable);
	if (ret)
		return ret;
	frwr->posted = false;

	switch (frwr->status) {
	case IB_WC_SUCCESS:
		frwr->proven = true;
		return 0;
	case IB_WC_WR_FLUSH_ERR:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

static int krdma_frwr_lock(struct krdma_pd *pd, bool killable)
{
	if (killable)
		return mutex_lock_killable(&pd->frwr_lock);
	mutex_lock(&pd->frwr_lock);
	return 0;
}

static int krdma_frwr_run(struct krdma_pd *pd, struct ib_send_wr *wr, bool killable)
{
	int ret;

	might_sleep();
	ret = krdma_frwr_lock(pd, killable);
	if (ret)
		return ret;

	/* Retry once, in case the existing queue pair was lost meanwhile. */
	ret = -ECONNRESET;
	for (int i = 0; i < 2 && ret == -ECONNRESET; i++) {
		if (!pd->frwr) {
			ret = krdma_frwr_create(pd);
			if (ret)
				break;
		}
		ret = krdma_frwr_try(pd->frwr, wr, killable);
		if (ret)
			krdma_frwr_end(pd);
	}

	mutex_unlock(&pd->frwr_lock);

	switch (ret) {
	case 0:
	case -EADDRNOTAVAIL:
	case -ECANCELED:
	case -EDQUOT:
	case -EOPNOTSUPP:
	case -ETIMEDOUT:
		return ret;
	case -ENODEV:
		/* The connection manager finds no device at the port's address. */
		return -EADDRNOTAVAIL;
	default:
		return krdma_provider_error(ret);
	}
}

/**
 * krdma_frwr_register() - Register an MR
 * @pd: the PD; the caller holds a reference
 * @mr: an MR of the PD, mapped and with the rkey that it is to have; after an error but -ECANCELED
 *	it can only be deregistered
 * @access: bits of enum ib_access_flags
 *
 * Context: process context; sleeps until the device has executed it, and the first time until
 * the PD's queue pair is connected; returns if the caller is killed.  Takes the PD's
 * frwr_lock.
 * Return: 0, or
 * -EADDRNOTAVAIL: no port of the device can be connected to itself: a RoCE port needs an entry
 * in its GID table, an iWARP port an address on its network interface;
 * -ETIMEDOUT: the device does not answer;
 * -ECANCELED: the existing queue pair was lost, and the device has flushed what was posted.  The
 * driver may have changed the MR's list of pages for the device, as cxgb4 does: the caller may map
 * it again, and try once more;
 * -EOPNOTSUPP: the driver refuses it, also on a new queue pair;
 * -EDQUOT: the control group has reached its limit of objects;
 * -EINTR: the caller is being killed;
 * -ENOMEM, -ERESTARTSYS, -EIO.
 */
int krdma_frwr_register(struct krdma_pd *pd, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	return krdma_frwr_run(pd, &wr.wr, true);
}

/**
 * krdma_frwr_invalidate() - Invalidate an MR
 * @pd: the PD; the caller holds a reference
 * @key: an rkey of the PD
 *
 * Context: as krdma_frwr_register(), but a killed caller does not return early: an rkey that is
 * to end must not stay valid for that reason.
 * Return: as krdma_frwr_register(), without -ECANCELED.
 */
int krdma_frwr_invalidate(struct krdma_pd *pd, u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = key,
	};
	int ret = krdma_frwr_run(pd, &wr, false);

	/* It has nothing that a driver could have changed. */
	if (ret == -ECANCELED)
		ret = krdma_frwr_run(pd, &wr, false);
	return ret == -ECANCELED ? -EIO : ret;
}

/**
 * krdma_frwr_destroy() - Destroy the registering QP of a PD, if there is one
 * @pd: the PD; it has no other users
 *
 * Context: process context; may sleep.
 */
void krdma_frwr_destroy(struct krdma_pd *pd)
{
	mutex_lock(&pd->frwr_lock);
	krdma_frwr_end(pd);
	mutex_unlock(&pd->frwr_lock);
}
