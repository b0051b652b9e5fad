// SPDX-License-Identifier: GPL-2.0
/*
 * How QPs of fake RoCE devices reach each other: by a GID and a QP number.  How they wait for a
 * receive of the peer, or for a peer that does not answer.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "fake_private.h"

#define FAKE_NO_VLAN	0xffff

/* Retries have no limit. */
#define FAKE_RNR_FOREVER	7

/* Devices with addresses that can be resolved. */
static LIST_HEAD(fake_devices);

void fake_wire_add(struct fake_device *fake)
{
	unsigned long flags = fake_begin();

	list_add_tail(&fake->entry, &fake_devices);
	fake_end(flags);
}

void fake_wire_remove(struct fake_device *fake)
{
	unsigned long flags = fake_begin();

	list_del_init(&fake->entry);
	fake_end(flags);
}

/*
 * Addresses
 */

void fake_route_set(struct fake_route *route, const struct rdma_ah_attr *ah)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);
	const struct ib_gid_attr *source = grh->sgid_attr;

	*route = (struct fake_route) {
		.set = true,
		.sgid = source->gid,
		.dgid = grh->dgid,
		.gid_type = source->gid_type,
		.vlan = FAKE_NO_VLAN,
	};
	/* Without its interface the entry is being removed, and reaches no device. */
	if (rdma_read_gid_l2_fields(source, &route->vlan, NULL))
		route->dgid = (union ib_gid) {};
}

/* Returns true if an entry of a GID table has this address. */
static bool fake_route_ends_at(const struct fake_route *route, const struct ib_gid_attr *entry)
{
	u16 vlan = FAKE_NO_VLAN;

	return !memcmp(&entry->gid, &route->dgid, sizeof(route->dgid)) &&
	       entry->gid_type == route->gid_type &&
	       !rdma_read_gid_l2_fields(entry, &vlan, NULL) && vlan == route->vlan;
}

static bool fake_has_address(struct fake_device *fake, const struct fake_route *route)
{
	const struct ib_gid_attr *entry;
	bool found = false;
	int i;

	for (i = 0; i < fake->ib.port_data[1].immutable.gid_tbl_len && !found; i++) {
		entry = rdma_get_gid_attr(&fake->ib, 1, i);
		if (IS_ERR(entry))
			continue;
		found = fake_route_ends_at(route, entry);
		rdma_put_gid_attr(entry);
	}
	return found;
}

struct fake_device *fake_route_find(const struct fake_route *route)
{
	struct fake_device *fake;

	fake_assert_locked();
	list_for_each_entry(fake, &fake_devices, entry)
		if ((fake->port_kind & FAKE_PORT_ROCE) && fake_has_address(fake, route))
			return fake;
	return NULL;
}

/*
 * Peers
 */

static bool fake_wire_answers(const struct fake_qp *peer)
{
	return peer->state == IB_QPS_RTR || peer->state == IB_QPS_RTS;
}

/* Each must have the other as its destination. */
static struct fake_qp *fake_wire_find(struct fake_qp *qp)
{
	struct fake_device *fake = fake_route_find(&qp->route);
	struct fake_qp *peer;

	peer = fake ? fake_qp_find(fake, qp->attr.dest_qp_num) : NULL;
	if (!peer || !peer->route.set || peer->attr.dest_qp_num != qp->ib.qp_num)
		return NULL;
	return peer;
}

struct fake_qp *fake_wire_peer(struct fake_qp *qp)
{
	fake_assert_locked();
	if (!qp->peer) {
		struct fake_qp *peer = fake_wire_find(qp);

		if (!peer || !fake_wire_answers(peer) || peer->peer)
			return NULL;
		qp->peer = peer;
		peer->peer = qp;
	}
	if (!fake_wire_answers(qp->peer))
		return NULL;
	if (qp->peer->state == IB_QPS_RTR && !qp->peer->told_traffic) {
		qp->peer->told_traffic = true;
		fake_announce_traffic(qp->peer);
	}
	return qp->peer;
}

/*
 * Receiver not ready
 */

/* Meaning of the codes of min_rnr_timer, in hundredths of a millisecond. */
static unsigned int fake_rnr_time(u8 code)
{
	static const unsigned int times[] = {
		65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512,
		768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return times[code % ARRAY_SIZE(times)];
}

static bool fake_takes_receive(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return true;
	default:
		return false;
	}
}

static bool fake_has_receive(const struct fake_qp *qp)
{
	return !fake_queue_idle(qp->ib.srq ? &to_fake_srq(qp->ib.srq)->cq :
				&qp->cqs[FAKE_RECEIVE]);
}

/* The packets go to the QP itself, not to a peer. */
static bool fake_is_local(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_REG_MR || opcode == IB_WR_LOCAL_INV;
}

/* How long a QP retries to reach a peer that does not answer. */
static unsigned long fake_silence_ms(const struct fake_qp *qp)
{
	return (4096ULL << qp->attr.timeout) * (qp->attr.retry_cnt + 1) / NSEC_PER_MSEC;
}

/* The time is over, or there was none. */
static bool fake_wire_gives_up(struct fake_qp *qp, unsigned long ms)
{
	if (qp->wait_end)
		return time_after_eq(jiffies, qp->wait_end);
	qp->wait_end = (jiffies + msecs_to_jiffies(ms)) ?: 1;
	return !ms;
}

bool fake_wire_waits(struct fake_qp *qp)
{
	struct fake_queue *cq = &qp->cqs[FAKE_SEND];
	const struct fake_send *send = &qp->sends[cq->done % cq->depth];
	struct fake_device *fake = to_fake(qp->ib.device);

	fake_assert_locked();
	qp->waiting = false;
	if (!qp->route.set || fake_is_local(send->wr.opcode))
		return false;
	if (!fake_wire_peer(qp))
		qp->waiting = !fake_wire_gives_up(qp, fake_silence_ms(qp));
	else if (fake_takes_receive(send->wr.opcode) && !fake_has_receive(qp->peer))
		qp->waiting = qp->attr.rnr_retry == FAKE_RNR_FOREVER ||
			!fake_wire_gives_up(qp, qp->attr.rnr_retry *
					    fake_rnr_time(qp->peer->attr.min_rnr_timer) / 100);
	if (qp->waiting)
		queue_delayed_work(fake->cq_work, &fake->wait_work, FAKE_WAIT_INTERVAL);
	return qp->waiting;
}
