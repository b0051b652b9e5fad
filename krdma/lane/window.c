// SPDX-License-Identifier: GPL-2.0
/*
 * Windows that a trunk gives: memory of lanes' sessions that the peer's device accesses.
 *
 * The peer asks for one by an rkey of the lane's session, as often as it likes, and gets another
 * key, of the PD of the link, for what that rkey covers.  All lanes of a trunk with the same rkey
 * have the same window.  The kernel of the peer's host checks what its programs ask for.
 *
 * A key must not end while the device of the peer may use it: the access would fail, and with it
 * the link of all lanes.  So REVOKE asks the peer first, which answers when nothing is in flight.
 * Its answer follows everything that it has sent, so this has all arrived.  If it does not answer
 * in time, the trunk ends, and with the link's QP all access.
 *
 * A window is revoked when its MR is dropped, or when the last lane with it has ended.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "cm/conn.h"
#include "core/objects.h"
#include "core/session.h"
#include "lane/lane.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/trunk.h"
#include "lane/window.h"
#include "mr/mr.h"

/* How long the peer may take until nothing is in flight, and to say so. */
#define KRDMA_WINDOW_REVOKE_MS	5000
/* Lanes that are answered with softirqs off. */
#define KRDMA_WINDOW_ANSWERS	32

/* Has the work item look at the window; in any context but NMI. */
static void krdma_window_schedule(struct krdma_window *window, unsigned long delay)
{
	mod_delayed_work(krdma_window_workqueue, &window->work, delay);
}

/* The MR ends. */
static void krdma_window_close(struct krdma_mr_view *view)
{
	struct krdma_window *window = container_of(view, struct krdma_window, view);

	WRITE_ONCE(window->closing, true);
	krdma_window_schedule(window, 0);
}

static bool krdma_window_is_open(const struct krdma_window *window)
{
	return window->state <= KRDMA_WINDOW_OPEN && !READ_ONCE(window->closing);
}

/* What is asked for. */
struct krdma_window_key {
	const struct krdma_pd *of;
	u32 asked;
};

static struct krdma_window_key krdma_window_key_of(const struct rb_node *node)
{
	const struct krdma_window *window = rb_entry(node, struct krdma_window, asked_node);

	return (struct krdma_window_key) { .of = window->view.mr->pd, .asked = window->asked };
}

static int krdma_window_compare(const void *key, const struct rb_node *node)
{
	const struct krdma_window_key *wanted = key, own = krdma_window_key_of(node);

	if (wanted->asked != own.asked)
		return wanted->asked < own.asked ? -1 : 1;
	if (wanted->of != own.of)
		return wanted->of < own.of ? -1 : 1;
	return 0;
}

static bool krdma_window_less(struct rb_node *node, const struct rb_node *other)
{
	const struct krdma_window_key key = krdma_window_key_of(node);

	return krdma_window_compare(&key, other) < 0;
}

/*
 * There are others with the same key only for a moment: their MR was dropped, or their registration
 * has failed.  Their work items take them out of the tree.
 */
static struct krdma_window *krdma_window_find(struct krdma_trunk *trunk, const struct krdma_pd *of,
					      u32 asked)
{
	const struct krdma_window_key key = { .of = of, .asked = asked };
	struct krdma_window *window;
	struct rb_node *node;

	lockdep_assert_held(&trunk->lock);

	rb_for_each(node, &key, &trunk->windows_asked, krdma_window_compare) {
		window = rb_entry(node, struct krdma_window, asked_node);
		if (krdma_window_is_open(window))
			return window;
	}
	return NULL;
}

/* It is not given any more. */
static void krdma_window_hide(struct krdma_window *window)
{
	lockdep_assert_held(&window->trunk->lock);

	if (!RB_EMPTY_NODE(&window->asked_node))
		rb_erase(&window->asked_node, &window->trunk->windows_asked);
	RB_CLEAR_NODE(&window->asked_node);
}

/*
 * The place of a window among those of a lane: its own, or one that is free, as that of a window
 * that has ended.  With @number 0, one that is free.
 */
static u32 *krdma_lane_window_place(struct krdma_lane_given *given, u32 number)
{
	struct xarray *windows = &given->lane->trunk->windows;
	u32 *place = NULL;

	for (int i = 0; i < KRDMA_LANE_WINDOWS; i++) {
		if (given->windows[i] == number)
			return &given->windows[i];
		if (!place && !(given->windows[i] && xa_load(windows, given->windows[i])))
			place = &given->windows[i];
	}
	return place;
}

/* The answer to ASK is known; NULL: there is no window. */
static void krdma_lane_answer_ask(struct krdma_lane_given *given, struct krdma_window *window)
{
	u32 *place = window ? krdma_lane_window_place(given, window->number) : NULL;

	lockdep_assert_held(&given->lane->trunk->lock);

	given->answer = 0;
	given->answer_due = true;
	if (place) {
		window->lanes += *place != window->number;
		*place = window->number;
		given->answer = window->number;
	}
	krdma_trunk_add_ready(given->lane);
}

/*
 * All lanes of the trunk may wait.  The lock is released between some of them and the next ones,
 * whose ends remove them from the list, too.
 */
static void krdma_window_answer(struct krdma_window *window)
	__must_hold(&window->trunk->lock)
{
	struct krdma_lane_given *waiter;
	u32 left = KRDMA_WINDOW_ANSWERS;

	while ((waiter = list_first_entry_or_null(&window->waiters, struct krdma_lane_given,
						  node))) {
		if (!left--) {
			krdma_link_send(window->trunk);
			spin_unlock_bh(&window->trunk->lock);
			cond_resched();
			spin_lock_bh(&window->trunk->lock);
			left = KRDMA_WINDOW_ANSWERS;
			continue;
		}
		list_del(&waiter->node);
		waiter->waits = false;
		krdma_lane_answer_ask(waiter, krdma_window_is_open(window) ? window : NULL);
	}
}

static int krdma_window_make_key(struct krdma_window *window)
{
	struct krdma_trunk *trunk = window->trunk;
	struct krdma_pd *pd;

	pd = krdma_pd_get(trunk->session, trunk->key.dev);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	return krdma_mr_view_register(&window->view, pd);
}

static void krdma_window_register(struct krdma_window *window)
{
	struct krdma_trunk *trunk = window->trunk;
	int ret = -ESHUTDOWN;

	/* Without a need it is not registered. */
	if (!READ_ONCE(window->closing))
		ret = krdma_window_make_key(window);
	spin_lock_bh(&trunk->lock);
	/* Otherwise the trunk has ended meanwhile. */
	if (window->state == KRDMA_WINDOW_NEW)
		window->state = ret ? KRDMA_WINDOW_ENDED : KRDMA_WINDOW_OPEN;
	krdma_window_answer(window);
	krdma_link_send(trunk);
	spin_unlock_bh(&trunk->lock);
}

/* Under the trunk's lock; krdma_link_send() follows. */
static void krdma_window_revoke(struct krdma_window *window)
{
	unsigned long patience = msecs_to_jiffies(KRDMA_WINDOW_REVOKE_MS);

	krdma_window_hide(window);
	window->state = KRDMA_WINDOW_REVOKED;
	window->until = jiffies + patience;
	list_add_tail(&window->due_node, &window->trunk->revokes);
	krdma_window_schedule(window, patience);
}

/* Frees a window that is not in the table any more, and whose view has ended. */
static void krdma_window_free(struct krdma_window *window)
{
	struct krdma_trunk *trunk = window->trunk;

	kfree(krdma_object_uncount(KRDMA_OBJECT_WINDOW, window));

	spin_lock_bh(&trunk->lock);
	WRITE_ONCE(trunk->window_count, trunk->window_count - 1);
	spin_unlock_bh(&trunk->lock);
	/* wake_up_var() looks for waiters without a lock.  Pairs with prepare_to_wait(). */
	smp_mb();
	wake_up_var(&trunk->window_count);
	krdma_trunk_put(trunk);
}

/* Releases the trunk's lock meanwhile.  Returns false if another thread ends it. */
static bool krdma_window_remove(struct krdma_window *window)
	__must_hold(&window->trunk->lock)
{
	bool is_own;

	window->state = KRDMA_WINDOW_ENDED;
	krdma_window_hide(window);
	list_del_init(&window->due_node);
	is_own = xa_erase(&window->trunk->windows, window->number);
	krdma_window_answer(window);
	return is_own;
}

/* What is due, under the trunk's lock, which may be released.  Returns whether it has ended. */
static bool krdma_window_look(struct krdma_window *window)
{
	struct krdma_trunk *trunk = window->trunk;

	switch (window->state) {
	case KRDMA_WINDOW_OPEN:
		if (READ_ONCE(window->closing) || !window->lanes) {
			krdma_window_revoke(window);
			krdma_link_send(trunk);
		}
		return false;
	case KRDMA_WINDOW_REVOKED:
		if (time_after_eq(jiffies, window->until))
			krdma_trunk_fail(trunk, -ETIMEDOUT);
		else
			/* It was scheduled for something else meanwhile. */
			krdma_window_schedule(window, window->until - jiffies);
		return false;
	default:
		return krdma_window_remove(window);
	}
}

static void krdma_window_work(struct work_struct *work)
{
	struct krdma_window *window = container_of(work, struct krdma_window, work.work);
	struct krdma_trunk *trunk = window->trunk;
	bool is_new, ended;

	spin_lock_bh(&trunk->lock);
	is_new = window->state == KRDMA_WINDOW_NEW;
	spin_unlock_bh(&trunk->lock);
	/* Once: nothing changes it to that. */
	if (is_new)
		krdma_window_register(window);
	spin_lock_bh(&trunk->lock);
	ended = krdma_window_look(window);
	spin_unlock_bh(&trunk->lock);
	if (!ended)
		return;
	krdma_mr_view_end(&window->view);
	/* The MR may have queued it until now; it runs once at a time. */
	cancel_delayed_work(&window->work);
	krdma_window_free(window);
}

/*
 * Asking, and answering
 */

static struct krdma_window *krdma_window_make(struct krdma_trunk *trunk, struct krdma_pd *of,
					      u32 asked)
{
	struct krdma_window *window;

	lockdep_assert_held(&trunk->lock);

	/* A number is given once, and 0 stands for none: records go on without. */
	if (trunk->window_count == KRDMA_TRUNK_WINDOWS || trunk->last_window == U32_MAX)
		return NULL;
	window = krdma_object_count(KRDMA_OBJECT_WINDOW,
				    kzalloc_obj(*window, GFP_NOWAIT | __GFP_NOWARN));
	if (!window)
		return NULL;
	window->view.revoke = krdma_window_close;
	window->trunk = trunk;
	window->asked = asked;
	window->number = trunk->last_window + 1;
	RB_CLEAR_NODE(&window->asked_node);
	INIT_LIST_HEAD(&window->due_node);
	INIT_LIST_HEAD(&window->waiters);
	INIT_DELAYED_WORK(&window->work, krdma_window_work);
	if (xa_reserve(&trunk->windows, window->number, GFP_NOWAIT | __GFP_NOWARN))
		goto err_free;
	/* From now on the MR may queue the work item. */
	if (krdma_mr_view_begin(&window->view, of, asked))
		goto err_release;
	xa_store(&trunk->windows, window->number, window, GFP_NOWAIT);
	rb_add(&window->asked_node, &trunk->windows_asked, krdma_window_less);
	krdma_trunk_get(trunk);
	trunk->last_window = window->number;
	trunk->window_count++;
	krdma_window_schedule(window, 0);
	return window;

err_release:
	xa_release(&trunk->windows, window->number);
err_free:
	kfree(krdma_object_uncount(KRDMA_OBJECT_WINDOW, window));
	return NULL;
}

/* The window that is asked for, which may have to be made; NULL: none. */
static struct krdma_window *krdma_lane_ask_for(struct krdma_lane *lane, u32 asked)
{
	struct krdma_trunk *trunk = lane->trunk;
	struct krdma_window *window;

	if (!trunk->windows_work || !lane->pd)
		return NULL;
	window = krdma_window_find(trunk, lane->pd, asked);
	/* A peer must not have keys made, and ended, that the lane has no place for. */
	if (!window && (!lane->given || krdma_lane_window_place(lane->given, 0)))
		window = krdma_window_make(trunk, lane->pd, asked);
	return window;
}

/* What the lane has for windows, or NULL: there is no memory. */
static struct krdma_lane_given *krdma_lane_make_given(struct krdma_lane *lane)
{
	if (!lane->given)
		lane->given = kzalloc_obj(*lane->given, GFP_NOWAIT | __GFP_NOWARN);
	if (lane->given)
		lane->given->lane = lane;
	return lane->given;
}

/**
 * krdma_lane_serve_ask() - Handle ASK
 * @lane: the lane, attached and open, which has refused nothing so far
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0; -EPROTO: the peer has not waited for the last answer.
 */
int krdma_lane_serve_ask(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_trunk *trunk = lane->trunk;
	struct krdma_lane_given *given = lane->given;
	struct krdma_window *window;

	lockdep_assert_held(&trunk->lock);

	if (lane->ask_refused || (given && (given->waits || given->answer_due)))
		return -EPROTO;
	window = krdma_lane_ask_for(lane, record->value);
	/*
	 * A peer must not have memory allocated by asking for nothing.  A window that is made in
	 * vain ends when it is registered, as one whose lanes have ended.
	 */
	if (window)
		given = krdma_lane_make_given(lane);
	if (!given) {
		lane->ask_refused = true;
		krdma_trunk_add_ready(lane);
		return 0;
	}
	if (window && window->state == KRDMA_WINDOW_NEW) {
		given->waits = true;
		list_add_tail(&given->node, &window->waiters);
	} else {
		krdma_lane_answer_ask(given, window);
	}
	return 0;
}

/**
 * krdma_lane_add_window() - Send the answer to ASK
 * @writer: the frame
 * @lane: the lane, attached and open, with an answer
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_lane_add_window(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_given *given = lane->given;
	struct krdma_lane_record record = { .type = KRDMA_LANE_WINDOW, .lane = lane->number };
	struct krdma_window *window = NULL;

	lockdep_assert_held(&lane->trunk->lock);

	if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
		return false;
	if (given && given->answer)
		window = xa_load(&lane->trunk->windows, given->answer);
	/* It may be closed already. */
	if (window && krdma_window_is_open(window)) {
		record.value = KRDMA_LANE_WINDOW_GIVEN;
		record.addr = window->view.addr;
		record.key = window->view.rkey;
		record.total = window->view.access;
		record.operand = window->number;
		record.swap = window->view.length;
	}
	krdma_lane_frame_add(writer, &record);
	lane->ask_refused = false;
	if (given)
		given->answer_due = false;
	return true;
}

/**
 * krdma_lane_return_windows() - A lane ends, and uses no window any more
 * @lane: the lane, with @given
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_return_windows(struct krdma_lane *lane)
{
	struct krdma_lane_given *given = lane->given;

	if (given->waits)
		list_del(&given->node);
	given->waits = false;
	given->answer_due = false;
	for (int i = 0; i < KRDMA_LANE_WINDOWS; i++) {
		struct krdma_window *window = NULL;

		if (given->windows[i])
			window = xa_load(&lane->trunk->windows, given->windows[i]);
		given->windows[i] = 0;
		if (window && !--window->lanes)
			krdma_window_schedule(window, 0);
	}
}

/*
 * Revoking
 */

/**
 * krdma_trunk_add_revokes() - Tell the peer which windows it must not use any more
 * @trunk: the trunk
 * @writer: the frame
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_trunk_add_revokes(struct krdma_trunk *trunk, struct krdma_lane_writer *writer)
{
	struct krdma_window *window;

	while ((window = list_first_entry_or_null(&trunk->revokes, struct krdma_window,
						  due_node))) {
		struct krdma_lane_record record = {
			.type = KRDMA_LANE_REVOKE,
			.lane = window->number,
		};

		if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
			return false;
		krdma_lane_frame_add(writer, &record);
		list_del_init(&window->due_node);
	}
	return true;
}

/**
 * krdma_trunk_revoked() - Handle REVOKED
 * @trunk: the trunk
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: it answers nothing.
 */
int krdma_trunk_revoked(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
{
	struct krdma_window *window = xa_load(&trunk->windows, record->lane);

	lockdep_assert_held(&trunk->lock);

	if (!window || window->state != KRDMA_WINDOW_REVOKED || !list_empty(&window->due_node))
		return -EPROTO;
	window->state = KRDMA_WINDOW_ENDED;
	krdma_window_schedule(window, 0);
	return 0;
}

/**
 * krdma_trunk_end_windows() - End all windows
 * @trunk: the trunk, which has ended, with a closed link
 *
 * Context: process context; may sleep.
 */
void krdma_trunk_end_windows(struct krdma_trunk *trunk)
{
	struct krdma_window *window;
	unsigned long number = 0;

	do {
		spin_lock_bh(&trunk->lock);
		window = xa_find(&trunk->windows, &number, ULONG_MAX, XA_PRESENT);
		/* Its work item, which may run, leaves it alone from now on. */
		if (window)
			krdma_window_remove(window);
		spin_unlock_bh(&trunk->lock);
		if (!window)
			break;
		cancel_delayed_work_sync(&window->work);
		krdma_mr_view_end(&window->view);
		/* The MR may have queued it until now. */
		cancel_delayed_work_sync(&window->work);
		krdma_window_free(window);
	} while (true);
	/* Those that end by themselves. */
	wait_var_event(&trunk->window_count, !READ_ONCE(trunk->window_count));
}
