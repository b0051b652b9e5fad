// SPDX-License-Identifier: GPL-2.0
/*
 * Windows that a lane uses: its writes and reads as work requests of the link's QP.
 *
 * A lane that has written or read with an rkey a few times, or much at once, asks for a window, and
 * goes on by records meanwhile.  Once it has one, the device does what is in its range, and each
 * access is checked here before: one that the peer's device refused would end the link of all
 * lanes.  Everything else goes by records as before: other operations, and what is outside of the
 * window, which the peer then refuses to this lane alone.
 *
 * The link's QP keeps the order of what is posted there, frames and work requests alike.  But the
 * peer's processor carries out a record later than its device does what follows it.  So a work
 * request of the device waits until the writes and reads that went by records before are done.
 * A message need not be waited for: nothing says when its receiver looks at the memory.
 *
 * A long work request is posted in parts, so that lanes take turns.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "cm/conn.h"
#include "cm/conn_turn.h"
#include "io/op.h"
#include "lane/ask.h"
#include "lane/direct.h"
#include "lane/early.h"
#include "lane/lane.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/trunk.h"
#include "lane/window.h"
#include "mr/copy.h"
#include "mr/mr.h"

/* The longest part, and the bytes in flight at which further ones wait: others have their turn. */
#define KRDMA_DIRECT_PART	65536
#define KRDMA_DIRECT_BYTES	(4 * KRDMA_DIRECT_PART)
/* Bytes of a work request, or number of those with one rkey, at which a lane asks for a window. */
#define KRDMA_DIRECT_LONG	4096
#define KRDMA_DIRECT_OFTEN	4
/* Time for which the end of a lane waits for the device, in jiffies. */
#define KRDMA_DIRECT_END	(5 * HZ)
/*
 * Work requests with one rkey that go by records after there was no window, before the lane asks
 * again: there may be one by then.
 */
#define KRDMA_DIRECT_AGAIN	1024

/*
 * Which work requests
 */

static const struct krdma_lane_wqe *krdma_lane_next_wqe(const struct krdma_lane *lane)
{
	return krdma_lane_wqe_at(&lane->send, lane->send.next);
}

/* Can the device do that, if there is a window? */
static bool krdma_lane_suits_device(const struct krdma_lane *lane, const struct krdma_lane_wqe *wqe)
{
	const struct krdma_trunk *trunk = lane->trunk;

	if (!trunk->windows_work || !wqe->length)
		return false;
	if (wqe->opcode == KRDMA_OP_READ)
		return trunk->reads_work;
	return wqe->opcode == KRDMA_OP_WRITE &&
	       (!(wqe->flags & KRDMA_POST_INLINE) || wqe->length <= KRDMA_DIRECT_INLINE);
}

/* The window that a work request is within, or NULL: it is in none that the lane knows. */
static struct krdma_peer_window *krdma_lane_find_window(const struct krdma_lane *lane, u32 position)
{
	const struct krdma_lane_remote *remote = krdma_lane_remote_at(&lane->send, position);
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(&lane->send, position);
	u32 right = wqe->opcode == KRDMA_OP_READ ? KRDMA_ACCESS_REMOTE_READ :
						   KRDMA_ACCESS_REMOTE_WRITE;

	for (int i = 0; i < KRDMA_LANE_WINDOWS; i++) {
		const struct krdma_known_window *known = &lane->direct->known[i];
		u64 offset = remote->addr - known->addr;

		if (!known->window || known->rkey != remote->rkey || known->window->revoked)
			continue;
		/* For an address before the first one, the offset wraps. */
		if ((known->access & right) && offset < known->length &&
		    wqe->length <= known->length - offset)
			return known->window;
	}
	return NULL;
}

/* A short work request hardly adds to what is in flight, so it does not wait for bytes. */
static bool krdma_lane_is_short(const struct krdma_lane *lane)
{
	return krdma_lane_next_wqe(lane)->length <= KRDMA_DIRECT_LONG;
}

/*
 * Can the next work request of a lane have a place?  One is kept for the lane whose turn it is: a
 * lane that streams is in the list of ready lanes whenever a part of it has completed.  Short work
 * requests have the other places.
 */
static bool krdma_lane_has_place(const struct krdma_lane *lane)
{
	const struct krdma_trunk *trunk = lane->trunk;
	bool own = trunk->direct_turn == lane->direct;
	bool kept = trunk->direct_turn && !own;

	if (hweight_long(trunk->direct_free) <= kept)
		return false;
	/* For a long one, there were few enough bytes when the lane was given its turn. */
	if (own || krdma_lane_is_short(lane))
		return true;
	return !kept && trunk->direct_bytes < KRDMA_DIRECT_BYTES &&
	       list_empty(&trunk->direct_waiters);
}

/*
 * The window has ended, or the lane has forgotten it.  Nothing of the work request is in flight:
 * otherwise the device could still read into its memory when it is complete.
 */
static void krdma_lane_begin_again(struct krdma_lane *lane)
{
	lane->direct->begun = false;
	lane->send.offset = 0;
}

/**
 * krdma_lane_direct_way() - Find out whether the device does the next work request
 * @lane: the lane, open on both sides, with @direct
 * @window: set to the window of its memory, if the device does it
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: the way; %KRDMA_DIRECT_NOT also if there is none.
 */
enum krdma_direct_way krdma_lane_direct_way(struct krdma_lane *lane,
					    struct krdma_peer_window **window)
{
	const struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_asked *asked = &lane->asked;
	struct krdma_lane_direct *direct = lane->direct;
	const struct krdma_lane_wqe *wqe;

	lockdep_assert_held(&lane->trunk->lock);

	if (!krdma_lane_queued(queue) || queue->begun)
		return KRDMA_DIRECT_NOT;
	wqe = krdma_lane_next_wqe(lane);
	if (!krdma_lane_suits_device(lane, wqe))
		return KRDMA_DIRECT_NOT;
	*window = krdma_lane_find_window(lane, queue->next);
	if (!*window) {
		if (direct->begun && direct->in_flight)
			return KRDMA_DIRECT_WAIT;
		if (direct->begun)
			krdma_lane_begin_again(lane);
		return KRDMA_DIRECT_NOT;
	}
	if (asked->writes != asked->writes_done || asked->reads != asked->reads_done ||
	    krdma_lane_early_waits(lane))
		return KRDMA_DIRECT_WAIT;
	if (krdma_lane_is_fenced(wqe) && krdma_lane_reads_direct(lane))
		return KRDMA_DIRECT_WAIT;
	return krdma_lane_has_place(lane) ? KRDMA_DIRECT_NOW : KRDMA_DIRECT_WAIT;
}

/**
 * krdma_lane_reads_direct() - Check whether the device reads for a lane
 * @lane: the lane
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: whether the result of a read is not there yet.
 */
bool krdma_lane_reads_direct(const struct krdma_lane *lane)
{
	return lane->direct && lane->direct->reads != lane->direct->reads_done;
}

/*
 * Posting
 */

/* Finds the memory of the next part.  Returns the number of SGEs. */
static u32 krdma_lane_direct_sges(struct krdma_lane *lane, struct krdma_sge *sges, u32 room)
{
	const struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe = krdma_lane_next_wqe(lane);
	const struct krdma_sge *sge = krdma_lane_sges_at(queue, queue->next);
	u32 left = min_t(u32, wqe->length - queue->offset, KRDMA_DIRECT_PART);
	u32 lkey = krdma_conn_lkey(lane->trunk->conn);
	u32 skip = queue->offset;
	u32 count = 0;

	for (; left && count < room; sge++) {
		u32 part;

		if (skip >= sge->length) {
			skip -= sge->length;
			continue;
		}
		part = min(left, sge->length - skip);
		for (u64 addr = sge->addr + skip; part && count < room; count++) {
			if (!krdma_mr_ranges(sge->mr, addr, part, lkey, &sges[count], 1))
				return 0;
			addr += sges[count].length;
			part -= sges[count].length;
			left -= sges[count].length;
		}
		skip = 0;
	}
	return count;
}

static u32 krdma_sges_length(const struct krdma_sge *sges, u32 count)
{
	u32 length = 0;

	while (count)
		length += sges[--count].length;
	return length;
}

static void krdma_lane_posted_direct(struct krdma_lane *lane, struct krdma_peer_window *window,
				     u32 index, u32 length)
{
	struct krdma_direct_slot *slot = &lane->trunk->direct[index];
	struct krdma_lane_direct *direct = lane->direct;
	struct krdma_lane_queue *queue = &lane->send;
	struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->next);

	krdma_conn_get(lane->conn);
	/* A turn is for one place. */
	if (lane->trunk->direct_turn == direct)
		lane->trunk->direct_turn = NULL;
	lane->trunk->direct_free &= ~BIT(index);
	lane->trunk->direct_bytes += length;
	*slot = (struct krdma_direct_slot) {
		.lane = lane,
		.window = window,
		.length = length,
		.last = queue->offset + length == wqe->length,
		.read = wqe->opcode == KRDMA_OP_READ,
	};
	direct->in_flight++;
	window->in_flight++;
	if (!slot->last) {
		queue->offset += length;
		direct->begun = true;
		return;
	}
	wqe->direct = true;
	direct->begun = false;
	WRITE_ONCE(direct->sent, direct->sent + 1);
	direct->reads += slot->read;
	queue->next++;
	queue->offset = 0;
}

/**
 * krdma_lane_post_direct() - Have the device do the next work request, or its next part
 * @lane: the lane, with %KRDMA_DIRECT_NOW
 * @window: the window that its memory is in
 * @budget: bytes that the lane may still post in its turn; lowered
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: 0, or a negative errno: the link ends.
 */
int krdma_lane_post_direct(struct krdma_lane *lane, struct krdma_peer_window *window, u32 *budget)
{
	struct krdma_trunk *trunk = lane->trunk;
	const struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe = krdma_lane_next_wqe(lane);
	const struct krdma_lane_remote *remote = krdma_lane_remote_at(queue, queue->next);
	struct krdma_sge sges[KRDMA_DIRECT_SGES];
	u32 index = __ffs(trunk->direct_free);
	struct krdma_send_wr wr = {
		.wr_id = KRDMA_TRUNK_FRAMES + index,
		.opcode = wqe->opcode,
		.sges = sges,
		.remote_addr = remote->addr + queue->offset,
		.rkey = window->rkey,
	};
	u32 length;
	int ret;

	if (wqe->flags & KRDMA_POST_INLINE) {
		wr.flags = KRDMA_POST_INLINE;
		wr.sge_count = 1;
		sges[0] = (struct krdma_sge) {
			.addr = (uintptr_t)krdma_lane_inline_at(lane, queue->next),
			.length = wqe->length,
		};
	} else {
		wr.sge_count = krdma_lane_direct_sges(lane, sges, wqe->opcode == KRDMA_OP_READ ?
						      trunk->read_sges : trunk->write_sges);
	}
	length = krdma_sges_length(sges, wr.sge_count);
	if (WARN_ON_ONCE(!length))
		return -EIO;
	ret = krdma_conn_post_send(trunk->conn, &wr, 1);
	if (ret < 0)
		return ret;
	krdma_lane_posted_direct(lane, window, index, length);
	*budget -= min(*budget, length);
	return 0;
}

/**
 * krdma_lane_direct_wait() - Wait for a place among the link's work requests, if there is none
 * @lane: the lane, with %KRDMA_DIRECT_WAIT
 *
 * What else it may wait for has it sent when that comes.
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_direct_wait(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;

	if (!krdma_lane_has_place(lane) && list_empty(&lane->direct->node))
		list_add_tail(&lane->direct->node, krdma_lane_is_short(lane) ?
			      &trunk->direct_short_waiters : &trunk->direct_waiters);
}

/* Keeps a place for the next lane that waits, if one is free. */
static void krdma_trunk_pass_place(struct krdma_trunk *trunk)
{
	struct list_head *waiters = &trunk->direct_waiters;
	struct krdma_lane_direct *direct;

	if (trunk->direct_bytes >= KRDMA_DIRECT_BYTES || list_empty(waiters))
		waiters = &trunk->direct_short_waiters;
	direct = list_first_entry_or_null(waiters, struct krdma_lane_direct, node);
	if (!direct || trunk->direct_turn || !trunk->direct_free)
		return;
	list_del_init(&direct->node);
	trunk->direct_turn = direct;
	krdma_trunk_add_ready(direct->lane);
}

/**
 * krdma_lane_pass_place() - Let the next lane have a place among the link's work requests
 * @lane: the lane that has had its turn, whether or not it has taken a place, or that its peer has
 *	closed, or that ends
 *
 * Context: any but NMI, with the trunk's lock held; krdma_link_send() follows, or, if the caller
 * ends one of many lanes, krdma_lane_send() after the last of them.
 */
void krdma_lane_pass_place(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;

	if (lane->direct && trunk->direct_turn == lane->direct)
		trunk->direct_turn = NULL;
	krdma_trunk_pass_place(trunk);
}

/* Nothing that is in flight uses the window any more. */
static void krdma_peer_window_idle(struct krdma_trunk *trunk, struct krdma_peer_window *window)
{
	list_add_tail(&window->node, &trunk->revoked);
}

/**
 * krdma_trunk_direct_done() - A work request of the device for a lane has completed
 * @trunk: the trunk
 * @wc: its completion
 *
 * Context: softirqs are off, with the trunk's lock held; krdma_link_send() follows.
 */
void krdma_trunk_direct_done(struct krdma_trunk *trunk, const struct krdma_wc *wc)
{
	u32 index = wc->wr_id - KRDMA_TRUNK_FRAMES;
	struct krdma_direct_slot *slot = &trunk->direct[index];
	struct krdma_peer_window *window = slot->window;
	struct krdma_lane *lane = slot->lane;
	struct krdma_lane_direct *direct = lane->direct;

	lockdep_assert_held(&trunk->lock);

	if (wc->status != KRDMA_WC_SUCCESS && wc->status != KRDMA_WC_WR_FLUSH_ERR &&
	    !trunk->fail_status)
		trunk->fail_status = wc->status;
	if (!--window->in_flight && window->revoked)
		krdma_peer_window_idle(trunk, window);
	if (!--direct->in_flight && direct->ending)
		krdma_conn_queue(lane->conn);
	if (!wc->status && slot->last)
		direct->reads_done += slot->read;
	if (!wc->status && lane->attached) {
		/* The link completes in the order in which it was posted to. */
		lane->asked.acked += slot->last;
		krdma_lane_complete_sent(lane);
		krdma_link_end_closed(lane);
		if (krdma_lane_queued(&lane->send))
			krdma_trunk_add_ready(lane);
	}
	slot->lane = NULL;
	trunk->direct_free |= BIT(index);
	trunk->direct_bytes -= slot->length;
	krdma_trunk_pass_place(trunk);
	krdma_conn_put(lane->conn);
}

/*
 * Asking for windows
 */

/**
 * krdma_lane_consider_window() - A work request has gone by records: ask for a window?
 * @lane: the lane
 * @position: of the work request
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_consider_window(struct krdma_lane *lane, u32 position)
{
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(&lane->send, position);
	u32 rkey = krdma_lane_remote_at(&lane->send, position)->rkey;
	struct krdma_lane_direct *direct = lane->direct;
	bool waits;

	if (!krdma_lane_suits_device(lane, wqe))
		return;
	if (!direct) {
		direct = kzalloc_obj(*direct, GFP_NOWAIT | __GFP_NOWARN);
		if (!direct)
			return;
		direct->lane = lane;
		INIT_LIST_HEAD(&direct->node);
		/* A query reads it without this lock. */
		smp_store_release(&lane->direct, direct);
	}
	if (direct->ask_due || direct->ask_sent)
		return;
	waits = direct->wait;
	direct->wait -= waits;
	if (direct->refusals && direct->refused == rkey) {
		direct->refusals--;
		return;
	}
	/* It was outside of a window, or there is one by now. */
	for (int i = 0; i < KRDMA_LANE_WINDOWS; i++) {
		const struct krdma_known_window *known = &direct->known[i];

		if (known->window && known->rkey == rkey && !known->window->revoked)
			return;
	}
	if (waits)
		return;
	direct->seen = direct->candidate == rkey ? direct->seen + 1 : 1;
	direct->candidate = rkey;
	if (wqe->length < KRDMA_DIRECT_LONG && direct->seen < KRDMA_DIRECT_OFTEN)
		return;
	direct->seen = 0;
	direct->asks = rkey;
	direct->ask_due = true;
}

/**
 * krdma_lane_add_ask() - Ask for a window
 * @writer: the frame
 * @lane: the lane, attached and open, with @direct
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_lane_add_ask(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_direct *direct = lane->direct;
	struct krdma_lane_record record = { .type = KRDMA_LANE_ASK, .lane = lane->number };

	if (!direct->ask_due)
		return true;
	if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
		return false;
	record.value = direct->asks;
	krdma_lane_frame_add(writer, &record);
	direct->ask_due = false;
	direct->ask_sent = true;
	return true;
}

static void krdma_peer_window_put(struct krdma_peer_window *window)
{
	/* With a number it is in the trunk's table. */
	if (!--window->lanes && !window->number)
		kfree(window);
}

/* Finds or adds a window; NULL: there is no memory, or too many. */
static struct krdma_peer_window *krdma_peer_window_get(struct krdma_trunk *trunk, u32 number,
						       u32 rkey)
{
	struct krdma_peer_window *window = xa_load(&trunk->peer_windows, number);

	if (!window && trunk->peer_window_count < KRDMA_TRUNK_WINDOWS) {
		window = kzalloc_obj(*window, GFP_NOWAIT | __GFP_NOWARN);
		if (!window)
			return NULL;
		window->number = number;
		window->rkey = rkey;
		INIT_LIST_HEAD(&window->node);
		if (xa_err(xa_store(&trunk->peer_windows, number, window,
				    GFP_NOWAIT | __GFP_NOWARN))) {
			kfree(window);
			return NULL;
		}
		trunk->peer_window_count++;
	}
	if (window)
		window->lanes++;
	return window;
}

static void krdma_lane_refuse_window(struct krdma_lane_direct *direct)
{
	direct->refused = direct->asks;
	direct->refusals = KRDMA_DIRECT_AGAIN;
	direct->wait = BIT(direct->refused_in_turn);
	if (direct->wait < KRDMA_DIRECT_AGAIN)
		direct->refused_in_turn++;
}

/**
 * krdma_lane_window_given() - Handle WINDOW
 * @lane: the lane, attached and open
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: it answers nothing, or contradicts another one.
 */
int krdma_lane_window_given(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_direct *direct = lane->direct;
	struct krdma_peer_window *window;
	struct krdma_known_window *known;

	lockdep_assert_held(&lane->trunk->lock);

	if (!direct || !direct->ask_sent)
		return -EPROTO;
	direct->ask_sent = false;
	if (record->value == KRDMA_LANE_WINDOW_NONE) {
		krdma_lane_refuse_window(direct);
		return 0;
	}
	window = krdma_peer_window_get(lane->trunk, record->operand, record->key);
	if (!window) {
		/* REVOKE for it is answered, too. */
		krdma_lane_refuse_window(direct);
		return 0;
	}
	if (window->revoked || window->rkey != record->key) {
		krdma_peer_window_put(window);
		return -EPROTO;
	}
	direct->refused_in_turn = 0;
	known = &direct->known[direct->next++ % KRDMA_LANE_WINDOWS];
	if (known->window)
		krdma_peer_window_put(known->window);
	*known = (struct krdma_known_window) {
		.window = window,
		.rkey = direct->asks,
		.access = record->total,
		.addr = record->addr,
		.length = record->swap,
	};
	return 0;
}

/*
 * The end
 */

/**
 * krdma_trunk_revoke() - Handle REVOKE
 * @trunk: the trunk
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held; krdma_link_send() follows.
 * Return: 0, or -EPROTO: the window is revoked already.
 */
int krdma_trunk_revoke(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
{
	struct krdma_peer_window *window = xa_load(&trunk->peer_windows, record->lane);

	lockdep_assert_held(&trunk->lock);

	if (!window) {
		krdma_link_answer(trunk, KRDMA_LANE_REVOKED, record->lane, 0);
		return 0;
	}
	if (window->revoked)
		return -EPROTO;
	window->revoked = true;
	if (!window->in_flight)
		krdma_peer_window_idle(trunk, window);
	return 0;
}

static void krdma_peer_window_forget(struct krdma_trunk *trunk, struct krdma_peer_window *window)
{
	xa_erase(&trunk->peer_windows, window->number);
	trunk->peer_window_count--;
	list_del_init(&window->node);
	window->revoked = true;
	window->number = 0;
	if (!window->lanes)
		kfree(window);
}

/**
 * krdma_trunk_add_revoked() - Answer REVOKE, where nothing is in flight any more
 * @trunk: the trunk
 * @writer: the frame
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_trunk_add_revoked(struct krdma_trunk *trunk, struct krdma_lane_writer *writer)
{
	struct krdma_peer_window *window;

	while ((window = list_first_entry_or_null(&trunk->revoked, struct krdma_peer_window,
						  node))) {
		struct krdma_lane_record record = {
			.type = KRDMA_LANE_REVOKED,
			.lane = window->number,
		};

		if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
			return false;
		krdma_lane_frame_add(writer, &record);
		krdma_peer_window_forget(trunk, window);
	}
	return true;
}

/**
 * krdma_trunk_forget_windows() - Forget all windows of the peer
 * @trunk: the trunk, which has ended, with a closed link
 *
 * Context: process context.
 */
void krdma_trunk_forget_windows(struct krdma_trunk *trunk)
{
	struct krdma_peer_window *window;
	unsigned long number;

	spin_lock_bh(&trunk->lock);
	xa_for_each(&trunk->peer_windows, number, window) {
		WARN_ON_ONCE(window->in_flight);
		krdma_peer_window_forget(trunk, window);
	}
	spin_unlock_bh(&trunk->lock);
}

/**
 * krdma_lane_forget_windows() - A lane ends, and posts nothing to its link any more
 * @lane: the lane, with @direct
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_forget_windows(struct krdma_lane *lane)
{
	struct krdma_lane_direct *direct = lane->direct;

	list_del_init(&direct->node);
	/* It may have been given a place. */
	krdma_lane_pass_place(lane);
	for (int i = 0; i < KRDMA_LANE_WINDOWS; i++) {
		if (direct->known[i].window)
			krdma_peer_window_put(direct->known[i].window);
		direct->known[i].window = NULL;
	}
}

/* Has @drain run after some time, unless it runs earlier anyway. */
static void krdma_trunk_start_drain(struct krdma_trunk *trunk, unsigned long delay)
{
	lockdep_assert_held(&trunk->lock);

	/* Its end cancels @drain only once. */
	if (trunk->state == KRDMA_TRUNK_ENDED)
		return;
	krdma_trunk_get(trunk);
	if (!queue_delayed_work(krdma_lane_workqueue, &trunk->drain, delay))
		krdma_trunk_put(trunk);
}

/**
 * krdma_lane_direct_ended() - Check that no device uses the memory of a lane's work requests
 * @lane: the lane, detached, with @direct
 *
 * The link takes back no work request that it has, but by its own end.  The peer decides how long
 * they are carried out: it may have no receive for a frame that was posted before.  So the trunk
 * ends if that takes long, and with it the other lanes.
 *
 * Context: process context.
 * Return: false: some are in flight.  krdma_conn_queue() is called when they are not any more.
 */
bool krdma_lane_direct_ended(struct krdma_lane *lane)
{
	struct krdma_lane_direct *direct = lane->direct;
	struct krdma_trunk *trunk = lane->trunk;
	bool ended;

	spin_lock_bh(&trunk->lock);
	ended = !direct->in_flight;
	if (!ended && !direct->ending) {
		direct->ending = true;
		direct->ending_at = jiffies;
		krdma_trunk_start_drain(trunk, KRDMA_DIRECT_END);
	}
	spin_unlock_bh(&trunk->lock);
	return ended;
}

/**
 * krdma_trunk_drain() - End a trunk whose device keeps a lane from its end for too long
 * @work: drain of the trunk
 *
 * Context: process context, a work item.
 */
void krdma_trunk_drain(struct work_struct *work)
{
	struct krdma_trunk *trunk = container_of(work, struct krdma_trunk, drain.work);
	unsigned long until, oldest = 0;
	bool waits = false;

	spin_lock_bh(&trunk->lock);
	/* After that, the memory of the link goes. */
	for (u32 i = 0; i < KRDMA_TRUNK_DIRECT && trunk->state < KRDMA_TRUNK_ENDED; i++) {
		const struct krdma_lane *lane = trunk->direct[i].lane;

		if (!lane || !lane->direct->ending)
			continue;
		until = lane->direct->ending_at + KRDMA_DIRECT_END;
		if (!waits || time_before(until, oldest))
			oldest = until;
		waits = true;
	}
	if (waits && time_before(jiffies, oldest))
		krdma_trunk_start_drain(trunk, oldest - jiffies);
	else if (waits)
		krdma_trunk_fail(trunk, -ETIMEDOUT);
	spin_unlock_bh(&trunk->lock);
	krdma_trunk_put(trunk);
}
