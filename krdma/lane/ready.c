// SPDX-License-Identifier: GPL-2.0
/*
 * The lanes of a trunk that have something to send.
 *
 * They wait in a list for their turn.  An entry holds a reference to the lane's connection.  A lane
 * may be there with nothing to send, but not after its end: the peer decides when the list is
 * looked at.
 */
#include "cm/conn.h"
#include "lane/lane.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/trunk.h"

/* Returns whether the holder of the trunk's lock sends it. */
static bool krdma_trunk_list_ready(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	unsigned long flags;
	bool served;

	spin_lock_irqsave(&trunk->ready_lock, flags);
	if (!trunk->dead && !lane->ended && list_empty(&lane->ready_node)) {
		krdma_conn_get(lane->conn);
		list_add_tail(&lane->ready_node, &trunk->ready);
	}
	served = READ_ONCE(trunk->served);
	spin_unlock_irqrestore(&trunk->ready_lock, flags);
	return served;
}

/**
 * krdma_trunk_add_ready() - A lane may have something that krdma_link_send() is to send
 * @lane: the lane
 *
 * Context: any but NMI, with the trunk's lock held; krdma_link_send() follows.
 */
void krdma_trunk_add_ready(struct krdma_lane *lane)
{
	lockdep_assert_held(&lane->trunk->lock);

	krdma_trunk_list_ready(lane);
}

/**
 * krdma_trunk_ready() - A lane may have something to send
 * @lane: the lane
 *
 * Sends it at once, in its turn, unless the trunk is in use.  Then its holder sends it, which may
 * be the caller's caller: a consumer's callback may post.  Or the work item does.
 *
 * Context: any but NMI.
 */
void krdma_trunk_ready(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	unsigned long flags;
	bool more;

	if (krdma_trunk_list_ready(lane))
		return;
	/* Interrupts stay off for one frame only. */
	if (in_hardirq() || !spin_trylock_irqsave(&trunk->lock, flags)) {
		krdma_trunk_schedule(trunk);
		return;
	}
	more = krdma_link_send_one(trunk);
	spin_unlock_irqrestore(&trunk->lock, flags);
	if (more)
		krdma_trunk_schedule(trunk);
}

/**
 * krdma_trunk_posted() - A lane may have send work requests to send
 * @lane: the lane
 *
 * As krdma_trunk_ready(), but first tries what needs no frame.  Only for the caller that has posted
 * them: nothing else that the lane may have to send is looked for.
 *
 * Context: any but NMI.
 */
void krdma_trunk_posted(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	unsigned long flags;
	bool all;

	if (READ_ONCE(lane->direct) && !in_hardirq() &&
	    spin_trylock_irqsave(&trunk->lock, flags)) {
		all = krdma_link_post_now(lane);
		spin_unlock_irqrestore(&trunk->lock, flags);
		if (all)
			return;
	}
	krdma_trunk_ready(lane);
}

/**
 * krdma_trunk_end_served() - From now on, threads that post send
 * @trunk: the trunk
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_end_served(struct krdma_trunk *trunk)
{
	unsigned long flags;

	lockdep_assert_held(&trunk->lock);

	if (!trunk->served)
		return;
	spin_lock_irqsave(&trunk->ready_lock, flags);
	trunk->served = false;
	spin_unlock_irqrestore(&trunk->ready_lock, flags);
}

/**
 * krdma_trunk_next_ready() - Take the lane whose turn it is
 * @trunk: the trunk
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: the lane, for krdma_conn_put(), or NULL.
 */
struct krdma_lane *krdma_trunk_next_ready(struct krdma_trunk *trunk)
{
	struct krdma_lane *lane;
	unsigned long flags;

	lockdep_assert_held(&trunk->lock);

	spin_lock_irqsave(&trunk->ready_lock, flags);
	lane = list_first_entry_or_null(&trunk->ready, struct krdma_lane, ready_node);
	if (lane)
		list_del_init(&lane->ready_node);
	spin_unlock_irqrestore(&trunk->ready_lock, flags);
	return lane;
}

/**
 * krdma_trunk_return_ready() - A frame is full before it has all of a lane
 * @lane: the lane, of krdma_trunk_next_ready()
 * @used: it has a part, so the lane has had its turn
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_return_ready(struct krdma_lane *lane, bool used)
{
	struct krdma_trunk *trunk = lane->trunk;
	unsigned long flags;

	lockdep_assert_held(&trunk->lock);

	spin_lock_irqsave(&trunk->ready_lock, flags);
	/* A consumer that posts meanwhile may have put it at the end. */
	if (list_empty(&lane->ready_node)) {
		krdma_conn_get(lane->conn);
		list_add_tail(&lane->ready_node, &trunk->ready);
	}
	if (!used)
		list_move(&lane->ready_node, &trunk->ready);
	spin_unlock_irqrestore(&trunk->ready_lock, flags);
}

/**
 * krdma_trunk_end_lane() - A lane has ended
 * @lane: the lane; it keeps its turn if it has an answer to the peer
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_trunk_end_lane(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	unsigned long flags;
	bool listed;

	lockdep_assert_held(&trunk->lock);

	spin_lock_irqsave(&trunk->ready_lock, flags);
	lane->ended = true;
	listed = !lane->due && !list_empty(&lane->ready_node);
	if (listed)
		list_del_init(&lane->ready_node);
	spin_unlock_irqrestore(&trunk->ready_lock, flags);
	if (listed)
		krdma_conn_put(lane->conn);
}
