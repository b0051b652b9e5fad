// SPDX-License-Identifier: GPL-2.0
/* The QPs of the fake device: by their numbers, their states, and their peers. */
#include <linux/list.h>

#include "fake_private.h"

struct fake_qp *fake_qp_find(struct fake_device *fake, u32 number)
{
	struct fake_qp *qp;

	fake_assert_locked();
	list_for_each_entry(qp, &fake->qps, entry)
		if (qp->ib.qp_num == number)
			return qp;
	return NULL;
}

enum ib_qp_state fake_qp_state(struct ib_qp *qp)
{
	unsigned long flags = fake_begin();
	enum ib_qp_state state = to_fake_qp(qp)->state;

	fake_end(flags);
	return state;
}

/* Disconnects both QPs of a connected pair. */
void fake_qp_part(struct fake_qp *qp)
{
	fake_assert_locked();
	if (qp->peer)
		qp->peer->peer = NULL;
	qp->peer = NULL;
}

/**
 * fake_qp_join() - Connect two queue pairs without a connection manager
 * @a: one
 * @b: the other, or NULL: an imagined one
 *
 * QPs that were connected to them before are not connected any more.
 */
void fake_qp_join(struct ib_qp *a, struct ib_qp *b)
{
	unsigned long flags = fake_begin();

	to_fake_qp(a)->state = IB_QPS_RTS;
	fake_qp_part(to_fake_qp(a));
	if (b) {
		fake_qp_part(to_fake_qp(b));
		to_fake_qp(b)->state = IB_QPS_RTS;
		to_fake_qp(a)->peer = to_fake_qp(b);
		to_fake_qp(b)->peer = to_fake_qp(a);
	}
	fake_end(flags);
}
