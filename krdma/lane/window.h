/* SPDX-License-Identifier: GPL-2.0 */
/* Windows: memory of one side of a trunk that the device of the other side accesses. */
#ifndef _KRDMA_WINDOW_H
#define _KRDMA_WINDOW_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "lane/lane.h"
#include "mr/view.h"

struct krdma_lane_record;
struct krdma_lane_wqe;
struct krdma_lane_writer;
struct krdma_trunk;
struct krdma_wc;

/* Windows that a side of a trunk gives, and that it uses. */
#define KRDMA_TRUNK_WINDOWS	256
/* Windows that a lane is given. */
#define KRDMA_LANE_WINDOWS	16
/* Work requests of lanes that a link carries out at a time. */
#define KRDMA_TRUNK_DIRECT	32
/* SGEs of one of them, and its longest inline data. */
#define KRDMA_DIRECT_SGES	8
#define KRDMA_DIRECT_INLINE	64

/*
 * The side with the memory
 */

enum krdma_window_state {
	KRDMA_WINDOW_NEW,		/* it is being registered */
	KRDMA_WINDOW_OPEN,
	KRDMA_WINDOW_REVOKED,		/* REVOKE is due or was sent */
	KRDMA_WINDOW_ENDED,		/* the peer does not use it any more */
};

/**
 * struct krdma_window - a window that a trunk gives to its peer
 * @view: the key in the PD of the link
 * @trunk: the trunk, with a reference
 * @asked: the rkey that was asked for, of the PD of the view's MR
 * @number: its number in the trunk's table, and on the wire
 * @asked_node: entry of the trunk's tree of windows that can be given; under the trunk's lock
 * @due_node: entry of the trunk's list of windows that are to be revoked; under the trunk's lock,
 *	as everything from here on
 * @waiters: lanes that wait until it is registered
 * @lanes: lanes that were given it, and have not ended
 * @state: &enum krdma_window_state
 * @until: with KRDMA_WINDOW_REVOKED: when the peer must have answered, in jiffies
 * @closing: its MR ends; written in any context
 * @work: registers it, revokes it, and frees it
 */
struct krdma_window {
	struct krdma_mr_view view;
	struct krdma_trunk *trunk;
	u32 asked;
	u32 number;
	struct rb_node asked_node;
	struct list_head due_node;
	struct list_head waiters;
	u32 lanes;
	u8 state;
	unsigned long until;
	bool closing;
	struct delayed_work work;
};

/**
 * struct krdma_lane_given - windows that a lane was given
 * @lane: the lane
 * @node: entry of the window that it waits for
 * @waits: it is in the list of a window
 * @answer_due: the answer to ASK is to be sent
 * @answer: number of the window that is the answer; 0: none
 * @windows: numbers of the windows, of which some may have ended; 0: none
 *
 * Protected by the trunk's lock.
 */
struct krdma_lane_given {
	struct krdma_lane *lane;
	struct list_head node;
	bool waits;
	bool answer_due;
	u32 answer;
	u32 windows[KRDMA_LANE_WINDOWS];
};

/* Is the answer to ASK to be sent?  Under the trunk's lock. */
static inline bool krdma_lane_owes_window(const struct krdma_lane *lane)
{
	return lane->ask_refused || (lane->given && lane->given->answer_due);
}

int krdma_lane_serve_ask(struct krdma_lane *lane, const struct krdma_lane_record *record);
bool krdma_lane_add_window(struct krdma_lane_writer *writer, struct krdma_lane *lane);
void krdma_lane_return_windows(struct krdma_lane *lane);
bool krdma_trunk_add_revokes(struct krdma_trunk *trunk, struct krdma_lane_writer *writer);
int krdma_trunk_revoked(struct krdma_trunk *trunk, const struct krdma_lane_record *record);
void krdma_trunk_end_windows(struct krdma_trunk *trunk);

/*
 * The side that uses it
 */

/**
 * struct krdma_peer_window - a window to memory of the peer
 * @number: its number on the wire
 * @rkey: the key of the link
 * @in_flight: work requests of the device with @rkey that have not completed
 * @lanes: lanes that know of it
 * @revoked: no work request may be posted with it; the peer awaits the answer
 * @node: entry of the trunk's list of windows to be answered
 *
 * Protected by the trunk's lock.
 */
struct krdma_peer_window {
	u32 number;
	u32 rkey;
	u32 in_flight;
	u32 lanes;
	bool revoked;
	struct list_head node;
};

/**
 * struct krdma_known_window - what a lane knows of a window
 * @window: the window; NULL: none
 * @rkey: the consumers' rkey
 * @access: rights of the lane
 * @addr: first address
 * @length: bytes
 */
struct krdma_known_window {
	struct krdma_peer_window *window;
	u32 rkey;
	u32 access;
	u64 addr;
	u64 length;
};

/**
 * struct krdma_lane_direct - what a lane has its link do with the peer's memory
 * @lane: the lane
 * @known: windows that it knows of
 * @next: the one that is replaced next
 * @asks: the rkey that it asks for, with @ask_due or @ask_sent
 * @ask_due: ASK is to be sent
 * @ask_sent: the answer is awaited
 * @refused: the last rkey for which there was no window
 * @refusals: work requests with @refused that still do not ask; 0: none
 * @refused_in_turn: questions that were refused one after the other, up to a limit
 * @wait: work requests with any rkey that still do not ask; doubled by each of @refused_in_turn
 * @candidate: the rkey of the last work request for which no window was known
 * @seen: such work requests one after the other
 * @begun: a part of the work request at the lane's next position is posted
 * @in_flight: work requests of the device that have not completed
 * @ending: the lane has ended, and waits for those of @in_flight
 * @ending_at: since when, in jiffies
 * @sent: work requests of the lane that were posted
 * @reads: reads among the posted ones
 * @reads_done: those that the device has completed
 * @node: entry of the trunk's list of lanes that wait for a place
 *
 * Counts run modulo 2^32.  Protected by the trunk's lock.
 */
struct krdma_lane_direct {
	struct krdma_lane *lane;
	struct krdma_known_window known[KRDMA_LANE_WINDOWS];
	u8 next;
	u8 refused_in_turn;
	u32 asks;
	bool ask_due;
	bool ask_sent;
	u32 refused;
	u32 refusals;
	u32 wait;
	u32 candidate;
	u32 seen;
	bool begun;
	u32 in_flight;
	bool ending;
	unsigned long ending_at;
	u32 sent;
	u32 reads;
	u32 reads_done;
	struct list_head node;
};

/**
 * struct krdma_direct_slot - a work request of the device for a lane
 * @lane: the lane, with a reference to its connection; NULL: the slot is free
 * @window: the window
 * @length: its bytes
 * @last: it is the last part of the lane's work request
 * @read: it is a read
 */
struct krdma_direct_slot {
	struct krdma_lane *lane;
	struct krdma_peer_window *window;
	u32 length;
	bool last;
	bool read;
};

/* Whether, and how, the next work request of a lane goes to the device. */
enum krdma_direct_way {
	KRDMA_DIRECT_NOT,		/* by records */
	KRDMA_DIRECT_NOW,
	KRDMA_DIRECT_WAIT,
};

#endif /* _KRDMA_WINDOW_H */
