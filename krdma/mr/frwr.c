// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration where there is no connection to post it on.
 *
 * A fast registration is a work request, and a queue pair executes work requests only
 * while it is connected.  So a protection domain in which memory is registered has a
 * queue pair of its own, which is connected to itself: the port's own GID or LID, and
 * its own number.  It needs no connection manager, no IP address and no link, and nothing
 * ever goes through it.
 *
 * Nobody else reaches it.  It accepts packets of its own port only that have its own
 * number as their source and a PSN that nobody could guess; it has no remote rights, and
 * no receives are posted.
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
#include "mr/frwr.h"
#include "core/objects.h"
#include "core/resource.h"
#include "core/session.h"

/*
 * How long a device may take for a work request, and to flush it after that.  It has next
 * to nothing to do for either; a device that takes longer is broken, and is not waited for.
 */
#define KRDMA_FRWR_TIMEOUT	(5 * HZ)
#define KRDMA_FRWR_DRAIN	HZ

/* One work request at a time; some devices round up, and some take no less. */
#define KRDMA_FRWR_DEPTH	4
#define KRDMA_FRWR_CQE		(4 * KRDMA_FRWR_DEPTH)

/* What is charged: the completion queue, the queue pair, and a second one on iWARP. */
enum krdma_frwr_object {
	KRDMA_FRWR_CQ,
	KRDMA_FRWR_QP,
	KRDMA_FRWR_PASSIVE_QP,
	KRDMA_FRWR_OBJECTS,
};

/* Valid on every port, whatever its own MTU is. */
#define KRDMA_FRWR_MTU		IB_MTU_256

/**
 * struct krdma_frwr_qp - the queue pair of a domain that registers memory
 * @pd: the domain
 * @charges: of what is created on the device
 * @cq: where work requests complete
 * @qp: connected to itself, or an end of @cm; work requests are posted on it
 * @cm: a connection of the connection manager's, on iWARP; NULL otherwise
 * @failed: the device reported that @qp is of no further use.  Written in any context.
 * @posted: a work request may be executing
 * @cqe: of that work request
 * @done: it has completed
 * @status: with this status; valid after @done
 *
 * Protected by the domain's frwr_lock, but for @failed and what the completion handler
 * writes, @status, before @done.
 */
struct krdma_frwr_qp {
	struct krdma_pd *pd;
	struct krdma_charge charges[KRDMA_FRWR_OBJECTS];
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct krdma_frwr_cm *cm;
	bool failed;
	bool posted;
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

/*
 * Connecting
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
		/* A key says itself what peers may do: this is for what comes in here. */
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

/* Connected, or an error that says nothing of the path: no other one is to be tried. */
static bool krdma_frwr_settled(int ret)
{
	return !ret || ret == -EINTR || ret == -ENOMEM || ret == -EDQUOT;
}

/*
 * Connects a queue pair to itself.  A new one for each attempt: not every provider lets one
 * begin again.
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

/* By a GID of the port's; with RoCE, by the address of the interface that has it, too. */
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
	/* The path has a reference of its own. */
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
 * By any entry of the port's GID table, link-local ones last.  One of these is there whatever
 * addresses there are, and on which interface above.  But it is in a slot that is reserved for
 * it, and a queue pair keeps the slot of its entry occupied for as long as it lives: a port
 * that loses and regains that GID, by a failover of its bond or with another MAC address,
 * would not get it back.  Entries of addresses can go into any slot.
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

/* By the port's LID, and by its GID where addresses are beyond LIDs. */
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

	/* Here: that end is made by a thread of the connection manager. */
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

/* By any port; first by those that are active, as not every provider takes another one. */
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
 * Creating and destroying
 */

/*
 * ib_free_cq() waits until the softirq has reported that it is done with the queue.  But the
 * softirq polls the queue once more after that.  So polling is disabled, and polls under way
 * end, before the queue is freed.  Nothing completes there by now.
 */
static void krdma_frwr_free_cq(struct ib_cq *cq)
{
	irq_poll_disable(&cq->iop);
	synchronize_rcu();
	irq_poll_enable(&cq->iop);
	ib_free_cq(cq);
}

/*
 * The work request that is under way is its own marker: there is one at a time.  A caller that
 * is being killed does not wait for it.  Whether it comes or not, the device is done with it
 * when the queue pair is destroyed.
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
	pd->frwr = frwr;
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

/* 0, -ETIMEDOUT, or -EINTR: the caller is being killed. */
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

/*
 * Posts one work request and waits for it.  -ECONNRESET: the queue pair was of no use, so it
 * may be tried on a new one.  After any error the queue pair is of no further use.
 */
static int krdma_frwr_try(struct krdma_frwr_qp *frwr, struct ib_send_wr *wr, bool killable)
{
	int ret;

	frwr->cqe.done = krdma_frwr_done;
	reinit_completion(&frwr->done);
	wr->wr_cqe = &frwr->cqe;
	wr->send_flags = IB_SEND_SIGNALED;

	if (READ_ONCE(frwr->failed) || (frwr->cm && krdma_frwr_cm_broken(frwr->cm)))
		return -ECONNRESET;
	/*
	 * A device that does it in softirq, as its completion is told, has mostly done it
	 * when they are on again: nobody has to be woken.
	 */
	local_bh_disable();
	ret = ib_post_send(frwr->qp, wr, NULL);
	local_bh_enable();
	if (ret)
		return -ECONNRESET;

	frwr->posted = true;
	ret = krdma_frwr_wait(frwr, killable);
	if (ret)
		return ret;
	frwr->posted = false;

	switch (frwr->status) {
	case IB_WC_SUCCESS:
		return 0;
	case IB_WC_WR_FLUSH_ERR:
		return -ECONNRESET;
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

	/* A second time, if the queue pair of the last time has been lost meanwhile. */
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
	case -EDQUOT:
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
 * krdma_frwr_register - make a registration valid
 * @pd: the domain; the caller holds a reference
 * @mr: a registration of the domain's, mapped and with the key that it is to
 *	have; if this fails, all that can be done with it is to deregister it
 * @access: bits of enum ib_access_flags
 *
 * Context: process context; sleeps until the device has done it, and the first time
 * until the domain's queue pair is connected; a caller that is killed returns.  Takes
 * the domain's frwr_lock.
 * Return: 0, or
 * -EADDRNOTAVAIL: no port of the device can be connected to itself: a RoCE port needs an
 *	entry in its GID table, an iWARP port an address on its network interface;
 * -ETIMEDOUT: the device does not answer;
 * -EDQUOT: the control group has as many objects as it may;
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
 * krdma_frwr_invalidate - make a registration invalid
 * @pd: the domain; the caller holds a reference
 * @key: a key of the domain's
 *
 * Context: as krdma_frwr_register(), but also on behalf of a process that is killed:
 * a key that is to end does not stay valid because of that.
 * Return: as krdma_frwr_register().
 */
int krdma_frwr_invalidate(struct krdma_pd *pd, u32 key)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = key,
	};

	return krdma_frwr_run(pd, &wr, false);
}

/**
 * krdma_frwr_destroy - end the queue pair of a domain that registers memory
 * @pd: the domain, which nobody else has any more
 *
 * Context: process context; may sleep.
 */
void krdma_frwr_destroy(struct krdma_pd *pd)
{
	mutex_lock(&pd->frwr_lock);
	krdma_frwr_end(pd);
	mutex_unlock(&pd->frwr_lock);
}
