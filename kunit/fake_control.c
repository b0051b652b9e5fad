// SPDX-License-Identifier: GPL-2.0
/*
 * Functions by which a test controls the fake device: completions come late or never, and what was
 * stopped continues.
 */
#include <linux/kernel.h>
#include <linux/slab.h>

#include "fake_private.h"

/*
 * Late
 */

static void fake_qp_set_hold(struct fake_qp *qp, bool hold)
{
	struct fake_wc *entry, *next;

	qp->hold = hold;
	if (hold)
		return;
	list_for_each_entry_safe(entry, next, &qp->held, entry) {
		list_del(&entry->entry);
		fake_deliver(entry);
		kfree(entry);
	}
}

static void fake_qp_set_stall(struct fake_qp *qp, bool stall)
{
	qp->stall = stall;
	fake_qp_run(qp);
}

/* For one QP, or for all QPs of the device. */
static void fake_each_qp(struct fake_device *fake, struct ib_qp *one, bool flag,
			 void (*set)(struct fake_qp *qp, bool flag))
{
	struct fake_qp *qp;

	if (one) {
		set(to_fake_qp(one), flag);
		return;
	}
	list_for_each_entry(qp, &fake->qps, entry)
		set(qp, flag);
}

static void fake_set_hold(struct fake_device *fake, struct ib_qp *qp, bool hold)
{
	unsigned long flags = fake_begin();

	if (!qp)
		fake->hold = hold;
	fake_each_qp(fake, qp, hold, fake_qp_set_hold);
	fake_end(flags);
}

void fake_hold(struct fake_device *fake, struct ib_qp *qp)
{
	fake_set_hold(fake, qp, true);
}

void fake_release(struct fake_device *fake, struct ib_qp *qp)
{
	fake_set_hold(fake, qp, false);
}

void fake_release_last(struct ib_qp *ib_qp)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags = fake_begin();
	struct fake_wc *entry;

	if (!WARN_ON_ONCE(list_empty(&qp->held))) {
		entry = list_last_entry(&qp->held, struct fake_wc, entry);
		list_del(&entry->entry);
		fake_deliver(entry);
		kfree(entry);
	}
	fake_end(flags);
}

unsigned int fake_held(struct ib_qp *qp)
{
	unsigned long flags = fake_begin();
	unsigned int held = list_count_nodes(&to_fake_qp(qp)->held);

	fake_end(flags);
	return held;
}

static void fake_set_stall(struct fake_device *fake, struct ib_qp *qp, bool stall)
{
	unsigned long flags = fake_begin();

	if (!qp)
		fake->stall = stall;
	fake_each_qp(fake, qp, stall, fake_qp_set_stall);
	fake_end(flags);
}

void fake_stall(struct fake_device *fake, struct ib_qp *qp)
{
	fake_set_stall(fake, qp, true);
}

void fake_go_on(struct fake_device *fake, struct ib_qp *qp)
{
	fake_set_stall(fake, qp, false);
}

/*
 * Never
 */

static void fake_qp_revive(struct fake_qp *qp, bool flag)
{
	if (qp->state != IB_QPS_ERR)
		return;
	fake_flush(qp);
	fake_announce_last_wqe(qp, qp->last_wqe_owed);
	qp->last_wqe_owed = 0;
}

void fake_device_set_dead(struct fake_device *fake, bool dead)
{
	unsigned long flags;

	if (dead && !fake->dead && fake->personality->fatal_event)
		fake_device_event(fake, IB_EVENT_DEVICE_FATAL, 0);
	flags = fake_begin();
	if (fake->dead && !dead) {
		fake->dead = false;
		fake_each_qp(fake, NULL, false, fake_qp_revive);
	}
	fake->dead = dead;
	fake_end(flags);
}

void fake_qp_fail(struct ib_qp *qp)
{
	unsigned long flags = fake_begin();

	fake_qp_to_error(to_fake_qp(qp));
	fake_end(flags);
}

/**
 * fake_device_let_go() - End everything that a test has stopped
 * @fake: the device
 *
 * The device lives, releases what it held back, and connects by itself.  Endpoints that wait for a
 * reply get the event that there is none.
 */
void fake_device_let_go(struct fake_device *fake)
{
	WRITE_ONCE(fake->cm_manual, 0);
	fake_device_set_dead(fake, false);
	fake_go_on(fake, NULL);
	fake_release(fake, NULL);
	fake_cm_let_go(fake);
}
