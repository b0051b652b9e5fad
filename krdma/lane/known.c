// SPDX-License-Identifier: GPL-2.0
/*
 * What an active trunk knows of its peer's listeners.
 *
 * A lane to a port where a listener has just taken lanes needs no resolution by the connection
 * manager, and no question.  Both would find what they have found a short time ago.  Listeners and
 * routes change, so what is known is forgotten after KRDMA_TRUNK_KNOWN_MS, however often it is
 * used.  If a listener has gone meanwhile, the lane is rejected, as if the listener had gone
 * between the question and the request.
 *
 * Such a lane has no cm_id, so it has no port of its own.  It gets a number of the dynamic ports,
 * in turn, for the peer's records.
 */
#include <linux/in6.h>
#include <linux/jiffies.h>

#include "cm/conn.h"
#include "core/device.h"
#include "lane/known.h"
#include "lane/lane.h"
#include "lane/trunk.h"

#define KRDMA_TRUNK_KNOWN_MS	1000

/* The dynamic ports. */
#define KRDMA_LANE_LOCAL_PORT	49152
#define KRDMA_LANE_LOCAL_PORTS	16384

/**
 * krdma_trunk_forget_port() - Forget a listener
 * @trunk: the trunk
 * @port: its port, where no listener takes lanes
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_forget_port(struct krdma_trunk *trunk, u16 port)
{
	lockdep_assert_held(&trunk->lock);

	for (int i = 0; i < KRDMA_TRUNK_PORTS; i++) {
		if (trunk->ports[i].port == port)
			trunk->ports[i].port = 0;
	}
}

/**
 * krdma_trunk_learn() - Remember what the peer has answered
 * @trunk: the trunk
 * @lane: the lane for which it was asked
 * @taken: a listener takes it
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_learn(struct krdma_trunk *trunk, const struct krdma_lane *lane, bool taken)
{
	struct krdma_trunk_port *known = NULL;

	lockdep_assert_held(&trunk->lock);

	if (!taken) {
		krdma_trunk_forget_port(trunk, lane->port);
		return;
	}
	for (int i = 0; i < KRDMA_TRUNK_PORTS && !known; i++) {
		if (trunk->ports[i].port == lane->port && trunk->ports[i].routed == lane->routed)
			known = &trunk->ports[i];
	}
	known = known ?: &trunk->ports[trunk->next_port++ % KRDMA_TRUNK_PORTS];
	*known = (struct krdma_trunk_port) {
		.port = lane->port,
		.routed = lane->routed,
		.until = jiffies + msecs_to_jiffies(KRDMA_TRUNK_KNOWN_MS),
	};
}

/* A lane with a local address is the same one, however the address was chosen. */
static bool krdma_trunk_knows(const struct krdma_trunk *trunk, const struct krdma_lane *lane)
{
	for (int i = 0; i < KRDMA_TRUNK_PORTS; i++) {
		const struct krdma_trunk_port *known = &trunk->ports[i];

		if (known->port == lane->port && (known->routed || !lane->routed) &&
		    time_before(jiffies, known->until))
			return true;
	}
	return false;
}

/**
 * krdma_trunk_reach() - Take a lane to a listener that is known
 * @trunk: the trunk, which leads to the lane's peer
 * @lane: the lane
 * @path: its device, local address and MTU are filled in; with a reference to the device
 *
 * Context: process context, with the trunk's lock held.
 * Return: false: the listener is not known, or the trunk takes no lane.
 */
bool krdma_trunk_reach(struct krdma_trunk *trunk, struct krdma_lane *lane,
		       struct krdma_conn_path *path)
{
	lockdep_assert_held(&trunk->lock);

	if (trunk->state != KRDMA_TRUNK_UP || trunk->link_over || !krdma_trunk_takes_lane(trunk) ||
	    !krdma_trunk_knows(trunk, lane))
		return false;
	krdma_trunk_get(trunk);
	lane->trunk = trunk;
	krdma_lane_bind(lane);
	/* The link keeps it as long as the trunk is up. */
	krdma_device_get(trunk->key.dev);
	path->dev = trunk->key.dev;
	path->path_mtu = trunk->path_mtu;
	path->local = trunk->key.local;
	/* At the same place for IPv4. */
	path->local.sin6_port = htons(KRDMA_LANE_LOCAL_PORT +
				      trunk->local_ports++ % KRDMA_LANE_LOCAL_PORTS);
	return true;
}
