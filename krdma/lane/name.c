// SPDX-License-Identifier: GPL-2.0
/*
 * MRs of the peer by their names: both sides of the question.
 *
 * A lane asks for one MR at a time, and the peer's kernel answers in the session of its end of the
 * lane.  The next question follows the answer, so a peer keeps at most one answer for each lane.
 * A caller that gives up leaves its question: the next caller waits for the answer to it, which it
 * could not distinguish from its own.
 */
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "cm/conn.h"
#include "lane/lane.h"
#include "lane/name.h"
#include "lane/ready.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "mr/name.h"

/**
 * struct krdma_lane_lookup - a caller that looks for an MR of the peer
 * @name: the name
 * @length: bytes of @name, without a terminating zero
 * @offset: bytes from the start of the MR
 * @found: filled in on success
 * @sent: the question was sent
 * @over: @result is known
 * @result: 0 or a negative errno
 *
 * On the caller's stack, under the trunk's lock.
 */
struct krdma_lane_lookup {
	const char *name;
	u8 length;
	u64 offset;
	struct krdma_found_mr *found;
	bool sent;
	bool over;
	int result;
};

/* Answers that take no memory. */
static const struct krdma_lane_named krdma_lane_named_none = { .result = KRDMA_LANE_MR_NONE };
static const struct krdma_lane_named krdma_lane_named_later = { .result = KRDMA_LANE_MR_LATER };

static_assert(KRDMA_LANE_NAME_MAX + 1 == KRDMA_NAME_MAX);
static_assert(KRDMA_ACCESS_REMOTE == KRDMA_LANE_RIGHTS);

/*
 * Asking
 */

/* Can the peer be asked, and answer?  Under the trunk's lock. */
static bool krdma_lane_is_open(const struct krdma_lane *lane)
{
	return lane->stage == KRDMA_LANE_UP && lane->attached && !lane->peer_closed &&
	       READ_ONCE(lane->conn->state) == KRDMA_CONN_CONNECTED;
}

/* Returns false while another question waits for its answer. */
static bool krdma_lane_begin_lookup(struct krdma_lane *lane, struct krdma_lane_lookup *lookup)
{
	bool begun = true;

	spin_lock_bh(&lane->trunk->lock);
	if (!krdma_lane_is_open(lane)) {
		lookup->over = true;
		lookup->result = -ENOTCONN;
	} else if (lane->lookup || lane->lookup_late) {
		begun = false;
	} else {
		lane->lookup = lookup;
	}
	spin_unlock_bh(&lane->trunk->lock);
	return begun;
}

static bool krdma_lane_lookup_is_over(struct krdma_lane *lane, struct krdma_lane_lookup *lookup)
{
	bool over;

	spin_lock_bh(&lane->trunk->lock);
	if (!lookup->over && !krdma_lane_is_open(lane)) {
		lookup->over = true;
		lookup->result = -ENOTCONN;
	}
	over = lookup->over;
	spin_unlock_bh(&lane->trunk->lock);
	return over;
}

/*
 * Waits for the turn of the caller.  Those that wait are woken one by one: a program can have any
 * number of threads here, and others have lanes on the trunk.  Returns as
 * wait_event_interruptible_timeout().
 */
static long krdma_lane_await_turn(struct krdma_lane *lane, struct krdma_lane_lookup *lookup,
				  long left)
{
	DEFINE_WAIT(wait);

	for (;;) {
		prepare_to_wait_exclusive(&lane->conn->wait, &wait, TASK_INTERRUPTIBLE);
		if (krdma_lane_begin_lookup(lane, lookup)) {
			left = max(left, 1L);
			break;
		}
		if (!left)
			break;
		if (signal_pending(current)) {
			left = -ERESTARTSYS;
			break;
		}
		left = schedule_timeout(left);
	}
	finish_wait(&lane->conn->wait, &wait);
	return left;
}

/* No other thread knows of the lookup any more when this returns. */
static void krdma_lane_end_lookup(struct krdma_lane *lane, struct krdma_lane_lookup *lookup)
{
	spin_lock_bh(&lane->trunk->lock);
	if (lane->lookup == lookup) {
		lane->lookup = NULL;
		lane->lookup_late = lookup->sent;
	}
	spin_unlock_bh(&lane->trunk->lock);
	/* The next caller: this one may have been woken for its turn, and not have taken it. */
	wake_up(&lane->conn->wait);
}

/**
 * krdma_lane_find_mr() - Find an MR of the peer
 * @lower: of the lane
 * @name: the name, 1 to KRDMA_LANE_NAME_MAX bytes
 * @offset: bytes from the start of the MR
 * @found: filled in on success
 * @timeout_ms: timeout in milliseconds; KRDMA_FOREVER_MS: no limit
 *
 * Context: process context; sleeps, until a signal.
 * Return: as krdma_conn_find_mr().
 */
int krdma_lane_find_mr(struct krdma_conn_lower *lower, const char *name, u64 offset,
		       struct krdma_found_mr *found, u32 timeout_ms)
{
	struct krdma_lane *lane = krdma_lane_of(lower);
	struct krdma_lane_lookup lookup = {
		.name = name,
		.length = strlen(name),
		.offset = offset,
		.found = found,
	};
	long left;

	left = krdma_lane_await_turn(lane, &lookup, krdma_timeout_jiffies(timeout_ms));
	if (left > 0) {
		krdma_trunk_ready(lane);
		left = wait_event_interruptible_timeout(lane->conn->wait,
							krdma_lane_lookup_is_over(lane, &lookup),
							left);
	}
	krdma_lane_end_lookup(lane, &lookup);
	if (lookup.over)
		return lookup.result;
	return left ? -EINTR : -ETIMEDOUT;
}

/**
 * krdma_lane_mr_found() - Handle MR
 * @lane: the lane, attached and open
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0; -EPROTO: it answers no question, or not as it was asked.
 */
int krdma_lane_mr_found(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_lookup *lookup = lane->lookup;

	lockdep_assert_held(&lane->trunk->lock);

	if (lane->lookup_late) {
		lane->lookup_late = false;
		wake_up(&lane->conn->wait);
		return 0;
	}
	if (!lookup || !lookup->sent)
		return -EPROTO;
	if (record->value == KRDMA_LANE_MR_NONE) {
		lookup->result = -ENOENT;
	} else if (record->value == KRDMA_LANE_MR_LATER) {
		lookup->result = -EAGAIN;
	} else if (lookup->offset >= record->operand) {
		lookup->result = -ERANGE;
	} else {
		if (!record->swap || record->swap > record->operand - lookup->offset)
			return -EPROTO;
		*lookup->found = (struct krdma_found_mr) {
			.remote_addr = record->addr,
			.length = record->operand,
			.reach = record->swap,
			.rkey = record->key,
			.access = record->total,
		};
	}
	lookup->over = true;
	lane->lookup = NULL;
	/* The caller, and the next one. */
	wake_up(&lane->conn->wait);
	return 0;
}

/*
 * Answering
 */

static void krdma_lane_named_free(const struct krdma_lane_named *named)
{
	if (named != &krdma_lane_named_none && named != &krdma_lane_named_later)
		kfree(named);
}

static const struct krdma_lane_named *krdma_lane_find_named(struct krdma_lane *lane,
							    const char *name, u64 offset)
{
	struct krdma_found_mr found;
	struct krdma_lane_named *named;

	if (!krdma_mr_find_named(lane->pd, name, offset, &found))
		return &krdma_lane_named_none;
	named = kmalloc_obj(*named, GFP_NOWAIT | __GFP_NOWARN);
	if (!named)
		return &krdma_lane_named_later;
	named->result = KRDMA_LANE_MR_FOUND;
	named->found = found;
	return named;
}

/**
 * krdma_lane_serve_name() - Handle NAME
 * @lane: the lane, attached and open, which has refused nothing so far
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0; -EPROTO: the peer has not waited for the last answer.
 */
int krdma_lane_serve_name(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	char name[KRDMA_LANE_NAME_MAX + 1];

	lockdep_assert_held(&lane->trunk->lock);

	if (lane->named)
		return -EPROTO;
	memcpy(name, record->data, record->length);
	name[record->length] = '\0';
	lane->named = krdma_lane_find_named(lane, name, record->addr);
	krdma_trunk_add_ready(lane);
	return 0;
}

/*
 * Sending
 */

static bool krdma_lane_add_lookup(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_lookup *lookup = lane->lookup;
	struct krdma_lane_record record;
	u32 room;

	if (!lookup || lookup->sent)
		return true;
	record = (struct krdma_lane_record) {
		.type = KRDMA_LANE_NAME,
		.lane = lane->number,
		.addr = lookup->offset,
		.data = (const u8 *)lookup->name,
		.length = lookup->length,
	};
	room = krdma_lane_frame_left(writer, record.type, 0);
	if (room == U32_MAX || room < record.length)
		return false;
	krdma_lane_frame_add(writer, &record);
	lookup->sent = true;
	return true;
}

static bool krdma_lane_add_named(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	const struct krdma_lane_named *named = lane->named;
	struct krdma_lane_record record;

	if (!named)
		return true;
	record = (struct krdma_lane_record) {
		.type = KRDMA_LANE_MR,
		.lane = lane->number,
		.value = named->result,
		.addr = named->found.remote_addr,
		.key = named->found.rkey,
		.total = named->found.access,
		.operand = named->found.length,
		.swap = named->found.reach,
	};
	if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
		return false;
	krdma_lane_frame_add(writer, &record);
	lane->named = NULL;
	krdma_lane_named_free(named);
	return true;
}

/**
 * krdma_lane_add_names() - Send the question for an MR of the peer, and the answer to its one
 * @writer: the frame
 * @lane: the lane, attached and open
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_lane_add_names(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	return krdma_lane_add_lookup(writer, lane) && krdma_lane_add_named(writer, lane);
}

/**
 * krdma_lane_names_free() - Free the answer that was not sent
 * @lane: the lane; nothing refers to it any more
 *
 * Context: any but NMI.
 */
void krdma_lane_names_free(struct krdma_lane *lane)
{
	krdma_lane_named_free(lane->named);
	lane->named = NULL;
}
