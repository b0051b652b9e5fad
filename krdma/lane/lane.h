/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lanes and trunks, as the files of this folder see them.
 *
 * A lane is the lower half of a connection (cm/lower.h).  Its trunk carries what it sends, as
 * records of frames (lane/frame.h), over a link: a connection of krdma's own, with a session and
 * so with a PD of its own.
 */
#ifndef _KRDMA_LANE_H
#define _KRDMA_LANE_H

#include <linux/in6.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "cm/lower.h"
#include "core/session.h"
#include "io/cq.h"
#include "io/srq_share.h"
#include "lane/frame.h"

struct krdma_conn;
struct krdma_lane_lookup;
struct krdma_direct_slot;
struct krdma_lane_direct;
struct krdma_lane_given;
struct krdma_lane_share;
struct krdma_pd;
struct krdma_trunk;

/* The port of trunks, below 1024, so that only privileged programs can listen there. */
#define KRDMA_LANE_PORT		1019

/*
 * The lowest port that a lane comes from.  The peer says which one it is, and any program can be a
 * peer.  So lanes have none of the ports that take a right: a consumer may rely on that right.
 */
#define KRDMA_LANE_PORT_FREE	1024

/* Frames that a trunk takes, and frames that it can have in flight. */
#define KRDMA_TRUNK_FRAMES	16
/* Answers that a trunk can have to send: twice what all granted frames can ask for. */
#define KRDMA_TRUNK_ANSWERS	(2 * KRDMA_TRUNK_FRAMES * KRDMA_LANE_RECORDS_MAX)
/*
 * Lanes that have ended, and that wait for their answer to be sent, or for the end of their
 * connection; with that many, a trunk takes no new one.
 */
#define KRDMA_TRUNK_UNSENT_ANSWERS	(KRDMA_TRUNK_FRAMES * KRDMA_LANE_RECORDS_MAX)
/* Reads and atomics of a lane that a side issues, and that it serves, at a time. */
#define KRDMA_LANE_READS	8
/*
 * Work requests of a lane that are sent and not done, while some of them wait for an answer of the
 * peer: one answer completes no more than these.
 */
#define KRDMA_LANE_PENDING_MAX	128
/* A part of a message, a write or a result that is not the last one is not shorter than this. */
#define KRDMA_LANE_PART_MIN	256
/* Ports that an active trunk remembers. */
#define KRDMA_TRUNK_PORTS	8
/* Lanes of a trunk, and trunks of the host. */
#define KRDMA_TRUNK_LANES_MAX	65536
#define KRDMA_TRUNKS_MAX	1024
/* Passive trunks of one peer: a host that returns has some that have not ended yet. */
#define KRDMA_TRUNKS_PEER_MAX	16

/*
 * Queues
 */

/**
 * struct krdma_lane_wqe - a work request of a lane
 * @wr_id: wr_id of the consumer
 * @length: send: bytes of the message; receive: bytes of its memory
 * @received: receive: bytes of the message
 * @imm: immediate data
 * @sge_count: entries of its SGEs, none of them empty
 * @opcode: &enum krdma_opcode
 * @direct: send: the device does it, not the peer's processor
 * @flags: send: &enum krdma_post_flags; receive: &enum krdma_wc_flags
 * @status: &enum krdma_wc_status, when it is done
 */
struct krdma_lane_wqe {
	u64 wr_id;
	u32 length;
	u32 received;
	u32 imm;
	u8 sge_count;
	u8 opcode : 7;
	u8 direct : 1;
	u8 flags;
	u8 status;
};

/**
 * struct krdma_lane_remote - what a work request for memory of the peer has besides its WQE
 * @addr: the remote address
 * @operand: operand of the consumer
 * @swap: operand of the consumer
 * @rkey: the rkey
 */
struct krdma_lane_remote {
	u64 addr;
	u64 operand;
	u64 swap;
	u32 rkey;
};

/**
 * struct krdma_lane_queue - the send or the receive queue of a lane
 * @cq: the CQ, attached; NULL before krdma_lane_queues_create() and after the end
 * @cqe: entries that are reserved in @cq
 * @credits: free entries, each with an entry of @cq, or of the SRQ's
 * @mask: number of WQEs, a power of two, minus 1
 * @max_sge: SGEs of a WQE
 * @open: work requests can be posted; protected by the lane's lock
 * @done: the first one that is not done; written under the trunk's lock
 * @next: send: the next one to send; receive: the next one to fill; under the trunk's lock
 * @offset: bytes of the message or write at @next that are sent or filled; under the trunk's lock
 * @begun: the message or write at @next has begun; under the trunk's lock
 * @total: receive: bytes of the whole message; under the trunk's lock
 * @tail: the next one to be posted; written under the lane's lock
 * @posted: work requests accepted; written under the lane's lock
 * @completed: work requests that completed, and with its low bits the next one to complete to the
 *	consumer; protected by the poll lock of @cq, read without
 * @wqes: the WQEs; behind them, their SGEs, @max_sge for each, and, send: a &struct
 *	krdma_lane_remote for each.  NULL before the first post, and after the end.
 */
struct krdma_lane_queue {
	struct krdma_cq *cq;
	struct krdma_credits credits;
	u64 posted;
	u64 completed;
	struct krdma_lane_wqe *wqes;
	u32 cqe;
	u32 mask;
	u32 max_sge;
	u32 done;
	u32 next;
	u32 offset;
	u32 total;
	u32 tail;
	/* Under two locks. */
	bool open;
	bool begun;
};

/*
 * Lanes
 */

/**
 * struct krdma_lane_asked - what a lane has asked of the peer's memory (lane/ask.c)
 * @acked: the first WQE, in the order of posting, of which the peer may not have the frames, or
 *	that the device has not completed
 * @messages: messages, and writes with immediate data, that were sent
 * @writes: writes that were sent
 * @writes_done: those that the peer has carried out
 * @writes_completed: those that are done
 * @reads: reads and atomics that were sent
 * @reads_done: those of which the result is here
 * @reads_completed: those that are done
 * @read_offset: bytes of the next result that are here
 * @yielded: receives of the peer that were given back to it
 * @to_yield: those of them that it does not know of
 * @yield_due: it awaits their number
 * @wanted: it knows that messages wait for receives
 * @reads_max: results that are awaited at a time
 *
 * Counts run modulo 2^32.  Protected by the trunk's lock.
 */
struct krdma_lane_asked {
	u32 acked;
	u32 messages;
	u32 writes;
	u32 writes_done;
	u32 writes_completed;
	u32 reads;
	u32 reads_done;
	u32 reads_completed;
	u32 read_offset;
	u32 yielded;
	u32 to_yield;
	bool yield_due;
	bool wanted;
	u8 reads_max;
};

/**
 * struct krdma_lane_read - a read of the peer, or the result of its atomic
 * @addr: the next byte to send; atomic: the result
 * @rkey: the rkey
 * @left: bytes to send
 */
struct krdma_lane_read {
	u64 addr;
	u32 rkey;
	u32 left;
};

/**
 * struct krdma_lane_served - what the peer has asked of a lane's memory (lane/serve.c)
 * @addr: the next byte of the write that has begun
 * @rkey: its rkey
 * @left: bytes that it has left
 * @total: bytes of all its parts
 * @writing: a write has begun
 * @refused: why a request or a message was refused, &enum krdma_lane_close_reason; otherwise 0.
 *	What follows is ignored, and the lane ends when the results of what was before are sent.
 * @results_last: in the next frame, results come after what the lane itself sends
 * @atomics: bits of @reads that are results of atomics
 * @writes: writes that are carried out
 * @writes_reported: those that the peer knows of
 * @head: count of the first read or atomic of which the result is not sent
 * @tail: count after the last one
 * @reads: reads and atomics, by the last bits of their count
 *
 * Counts run modulo 2^32.  Protected by the trunk's lock.
 */
struct krdma_lane_served {
	u64 addr;
	u32 rkey;
	u32 left;
	u32 total;
	bool writing;
	u8 refused;
	bool results_last;
	u8 atomics;
	u32 writes;
	u32 writes_reported;
	u32 head;
	u32 tail;
	struct krdma_lane_read reads[KRDMA_LANE_READS];
};

/**
 * struct krdma_lane_share - what a lane with an SRQ has besides
 * @taker: takes receives; its SRQ is NULL after the end of the queues
 * @lane: the lane
 * @recall_due: the peer is to be asked for receives that it does not need
 * @recall_sent: it was, and has not answered; under the trunk's lock
 *
 * Freed with the lane: the thread that gives a receive has a reference to the lane alone.
 */
struct krdma_lane_share {
	struct krdma_srq_taker taker;
	struct krdma_lane *lane;
	bool recall_due;
	bool recall_sent;
};

/**
 * struct krdma_lane_delivery - what a lane whose consumer may sleep in its completions has besides
 * @work: completes; the end of the queues cancels it
 * @lane: the lane
 */
struct krdma_lane_delivery {
	struct work_struct work;
	struct krdma_lane *lane;
};

/**
 * struct krdma_lane_early - the first message of the peer, before the lane is accepted
 * @size: bytes of @data
 * @kept: there is one
 * @flags: those of its record
 * @imm: its immediate data
 * @length: its length
 * @data: its bytes
 */
struct krdma_lane_early {
	u32 size;
	bool kept;
	u8 flags;
	u32 imm;
	u32 length;
	u8 data[];
};

/**
 * struct krdma_lane_named - the answer to the peer that asks for an MR by its name
 * @result: &enum krdma_lane_mr_result
 * @found: what was found, with %KRDMA_LANE_MR_FOUND
 */
struct krdma_lane_named {
	u8 result;
	struct krdma_found_mr found;
};

/* Bits of &struct krdma_lane.due: records that are to be sent. */
enum krdma_lane_due {
	KRDMA_LANE_DUE_OPEN,
	KRDMA_LANE_DUE_ACCEPT,
	KRDMA_LANE_DUE_REJECT,
	KRDMA_LANE_DUE_CLOSE,
};

/* Life of a lane in its trunk. */
enum krdma_lane_stage {
	KRDMA_LANE_NEW,			/* active: nothing was sent; passive: to be accepted */
	KRDMA_LANE_ASKED,		/* active: OPEN was sent */
	KRDMA_LANE_UP,			/* ACCEPT was sent or has arrived */
	KRDMA_LANE_OVER,		/* the peer does not send, or expect, anything more */
};

/**
 * struct krdma_lane - a lane
 * @lower: the connection's side
 * @conn: the connection, which keeps the lane; NULL before the attach of a passive one
 * @passive: a peer has opened it
 * @trunk: the trunk, with a reference; set once, before @lower.used
 * @find_work: active: finds or makes a trunk; passive: takes the message of @early; allocates
 *	@queues, if @starved; holds a reference to @conn while it is queued
 * @searched: @find_work was queued
 * @ending: it is queued no more
 * @tries: trunks that were tried; by @find_work and under the trunk's lock, never at once
 * @routed: the consumer left the local address to the routing tables
 * @find_node: entry of one of the trunk's three lists of lanes that wait for an answer; under the
 *	trunk's lock
 * @ticket: number of its question there, while that waits for the answer; otherwise 0
 * @asked_at: when it began to wait there, in jiffies; under the trunk's lock
 * @stage: &enum krdma_lane_stage; under the trunk's lock
 * @accepted: active: ACCEPT has arrived; under the trunk's lock
 * @broken: it ends, because a message did not fit or a request was refused; under the trunk's lock
 * @peer_closed: the peer has closed it, and completions of sends that it got are awaited; under the
 *	trunk's lock
 * @peer_status: with @peer_closed: status of the first work request that the peer has not carried
 *	out, or 0; under the trunk's lock
 * @bound: it counts in the trunk's @bound; under the trunk's lock
 * @attached: it is in the trunk's table; under the trunk's lock
 * @taken_back: passive: the peer has closed it before it was accepted; under the trunk's lock
 * @number: its number there; under the trunk's lock
 * @ready_node: entry of the trunk's list of lanes that have something to send; under the trunk's
 *	ready_lock.  An entry holds a reference to @conn.
 * @ended: nothing that is posted lists it any more; under the trunk's ready_lock
 * @due: bits of &enum krdma_lane_due; written under the trunk's lock
 * @close_reason: &enum krdma_lane_close_reason; under the trunk's lock
 * @port: the peer's port, of an active one
 * @data: private data to be sent with OPEN, ACCEPT or REJECT; NULL: none, or sent; set before the
 *	bit of @due; under the trunk's lock
 * @data_len: bytes of @data; under the trunk's lock
 * @early_max: active: bytes of the longest message that may be sent before the lane is accepted; 0:
 *	none; under the trunk's lock
 * @early_waits: passive: the message of @early may wait for a receive; written under the trunk's
 *	lock
 * @early: passive: the peer's first message; NULL: it has been received, or there is none; under
 *	the trunk's lock
 * @peer_credits: receives that the peer has had for the lane; under the trunk's lock
 * @peer_shares: those are of an SRQ; under the trunk's lock
 * @advertised: own receives that the peer knows of, with @yielded; under the trunk's lock, read
 *	without
 * @yielded: own receives that the peer has given back; under the trunk's lock and @lock, read
 *	without
 * @share: takes receives of an SRQ; NULL: the lane never had one
 * @asked: what it has asked of the peer's memory
 * @served: what the peer has asked of its memory
 * @direct: what it has the link do with the peer's memory; NULL: nothing so far
 * @given: windows to memory of its session that the peer has for it; NULL: none so far
 * @lookup: the caller that looks for an MR of the peer, or NULL; under the trunk's lock
 * @lookup_late: the answer to one that has given up is awaited; under the trunk's lock
 * @ask_refused: without @given, the refusal of the window is to be sent; under the trunk's lock
 * @named: the answer to the peer's question for an MR, which is to be sent, or NULL; under the
 *	trunk's lock
 * @fail_status: status of the first send that was not acknowledged; under the trunk's lock
 * @lock: protects posting, @made, @starved, @queues, @searched and @ending; any context
 * @made: the queues exist
 * @starved: there was no memory for @queues when the SRQ had a receive: @find_work allocates it,
 *	and lets the SRQ try again, which is why nothing else clears this
 * @pd: the PD of the MRs that can be used
 * @pd_user: entry of its list, from the creation of the queues to their end
 * @send: the send queue
 * @recv: the receive queue
 * @queues: memory of both: WQEs of the reads and atomics that wait for their result, by the last
 *	bits of their count, KRDMA_LANE_READS of them; the queues; and copies of inline data.
 *	NULL after the end, and before the first post if the session prepares, unless it is large.
 * @max_inline: bytes of a copy of inline data; each WQE of @send has one
 * @delivery: completes to a consumer that may sleep; NULL: no CQ has one, or there are no queues
 * @session: session that pays for the queues, kept by @conn
 * @charged: bytes charged for the queues
 * @kept: bytes charged for the lane and @conn, which completions keep until they are taken
 */
struct krdma_lane {
	struct krdma_conn_lower lower;
	struct krdma_conn *conn;
	struct krdma_trunk *trunk;

	struct work_struct find_work;
	struct list_head find_node;
	unsigned long asked_at;

	struct list_head ready_node;
	u8 *data;
	struct krdma_lane_early *early;
	struct krdma_lane_share *share;
	struct krdma_lane_asked asked;
	struct krdma_lane_served served;
	struct krdma_lane_direct *direct;
	struct krdma_lane_given *given;
	struct krdma_lane_lookup *lookup;
	const struct krdma_lane_named *named;

	/* Under several locks; together, so that there are no holes: a host may have many lanes. */
	bool passive;
	bool searched;
	bool ending;
	u8 tries;
	bool routed;
	u8 stage;
	bool accepted;
	bool broken;
	bool peer_closed;
	u8 peer_status;
	bool bound;
	bool attached;
	bool taken_back;
	bool ended;
	u8 due;
	u8 close_reason;
	u8 data_len;
	bool early_waits;
	bool peer_shares;
	bool lookup_late;
	bool ask_refused;
	u8 fail_status;
	bool made;
	bool starved;
	u16 port;
	u16 early_max;
	u32 ticket;
	u32 number;
	u32 peer_credits;
	u32 advertised;
	u32 yielded;
	u32 max_inline;
	u32 kept;

	spinlock_t lock;		/* see above */
	struct krdma_pd *pd;
	struct krdma_pd_user pd_user;
	struct krdma_lane_queue send;
	struct krdma_lane_queue recv;
	u32 *queues;
	struct krdma_lane_delivery *delivery;
	struct krdma_session *session;
	u64 charged;
};

static inline struct krdma_lane *krdma_lane_of(struct krdma_conn_lower *lower)
{
	return container_of(lower, struct krdma_lane, lower);
}

/*
 * Trunks
 */

enum krdma_trunk_state {
	KRDMA_TRUNK_CONNECTING,
	KRDMA_TRUNK_UP,
	KRDMA_TRUNK_ENDING,		/* only frames that have arrived count */
	KRDMA_TRUNK_ENDED,
};

/**
 * struct krdma_trunk_key - what a trunk connects
 * @net: the network namespace; kept by the trunk's session
 * @dev: the device
 * @local: the local address, without a port
 * @remote: the peer's address, without a port
 */
struct krdma_trunk_key {
	struct net *net;
	struct krdma_device *dev;
	struct sockaddr_in6 local;
	struct sockaddr_in6 remote;
};

/* A lane of which work requests are complete in a frame; with a reference to its connection. */
struct krdma_frame_sent {
	struct krdma_lane *lane;
	u32 count;
};

/**
 * struct krdma_frame_slot - a frame that is being sent
 * @node: entry of the trunk's list of free ones
 * @data: the frame
 * @sent: lanes of which work requests are complete with it
 * @sent_count: entries of @sent
 */
struct krdma_frame_slot {
	struct list_head node;
	u8 *data;
	struct krdma_frame_sent sent[KRDMA_LANE_RECORDS_MAX];
	u32 sent_count;
};

/* A frame that has arrived: its receive, and its length. */
struct krdma_frame_late {
	u32 index;
	u32 length;
};

/**
 * struct krdma_trunk_port - a port of the peer where a listener takes lanes
 * @port: the port, 0: none
 * @routed: the lane that has asked left its local address to the routing tables
 * @until: when this is too old, in jiffies
 */
struct krdma_trunk_port {
	u16 port;
	bool routed;
	unsigned long until;
};

/* A record that answers the peer. */
struct krdma_trunk_answer {
	u8 type;
	u8 value;
	u32 number;
};

/**
 * struct krdma_trunk - a trunk
 * @refs: one until its end, one for each lane, and one for each queued work item
 * @id: its number
 * @node: entry of the list of trunks; under krdma_trunks_mutex
 * @passive: the peer has connected it, and opens its lanes
 * @key: what it connects; constant
 * @pads: the transport pads private data; constant once it is up
 * @max_message: longest message of a connection on this path; constant once it is up
 * @path_mtu: path MTU; constant once it is up
 * @windows_work: devices can access memory of the other side; constant once it is up
 * @reads_work: they can read into memory without a key, too; constant once it is up
 * @write_sges: SGEs of a write; constant once it is up
 * @read_sges: SGEs of a read; constant once it is up
 * @offer_lock: held while a lane is offered to a listener, which allocates memory
 * @lock: protects the members from here to @direct, and what the lanes say
 * @state: &enum krdma_trunk_state
 * @error: why it ended, a negative errno
 * @was_up: it was connected before it ended
 * @up_at: when it was connected, in jiffies; before: active: when it began to connect
 * @fail_status: status of the first frame that the peer did not acknowledge
 * @unused_at: when it was left without a lane, in jiffies; passive: valid with @timer_asks
 * @timer_asks: @timer waits for an answer, not for the end of the idle time; passive: it waits for
 *	the peer to take what was sent
 * @violated: the peer has violated the protocol: its frames are ignored
 * @bound: lanes that use it, whether or not they have a number
 * @in_flight: frames that are being sent
 * @lanes: table by number, of lanes, which are attached, and of ends of lanes, of which the peer
 *	does not know yet: the reason, with KRDMA_TRUNK_END
 * @lane_count: number of entries of @lanes
 * @end_count: number of these that are ends
 * @ends_last: the last frame was full of ends: in the next one, lanes come first
 * @patient: the ends wait for another record
 * @unsent_answers: lanes that have ended, with an answer to the peer that waits for their turn
 * @taken_back: passive: lanes that the peer has closed before they were accepted, until their
 *	connections end.  The listener's backlog does not count those that the consumer has passed
 *	over.
 * @lanes_max: the number that the peer takes
 * @last_lane: number of the last lane that was opened
 * @unasked: active: lanes for which the question is to be sent, the oldest first; each holds a
 *	reference to its connection
 * @finders: active: lanes that wait for the answer, so do these
 * @questions: active: the lanes of @finders, by the number of their question
 * @last_ticket: number of the last question
 * @unanswered: active: lanes of which the peer has not answered OPEN, the oldest first
 * @ports: active: ports of the peer where a listener took lanes a short time ago
 * @next_port: the oldest of them
 * @local_ports: number of lanes that had a local port of the trunk's
 * @answers: circular buffer of KRDMA_TRUNK_ANSWERS answers to the peer
 * @answer_head: index of the next answer to send; runs freely
 * @answer_tail: index after the last one; runs freely
 * @arrived: frames that have arrived
 * @received: frames that were read
 * @late: circular buffer of frames that have arrived and are not read to their end
 * @reader: the oldest of these, if @begun
 * @begun: the oldest of these was begun
 * @reading: @work reads them, and may have released @lock
 * @granted: frames granted to the peer
 * @sent_grant: the part of @granted that the peer knows of
 * @sent_frames: frames sent
 * @probed_frames: passive: those when @timer has looked
 * @peer_grant: frames that the peer has granted
 * @frame_size: bytes of a frame that the peer takes
 * @windows: windows that it gives to the peer, by number
 * @windows_asked: those of them that can be given, by what is asked for
 * @window_count: number of them, with those that are being freed
 * @last_window: number of the last one
 * @revokes: those that end, as the peer has to know
 * @peer_windows: windows that it has got from the peer, by number
 * @peer_window_count: number of them
 * @revoked: those that end, and that nothing in flight uses any more
 * @direct_free: places of @direct that are free, as bits
 * @direct_bytes: bytes of those that are not
 * @direct_waiters: lanes that wait for one, and for bytes
 * @direct_short_waiters: lanes that wait for one, whatever bytes are in flight
 * @direct_turn: the one of them for which a free one is kept until it has its turn, or NULL
 * @free: frames that are not in use
 * @slots: the frames to be sent
 * @direct: work requests of lanes that the link carries out
 * @ready_lock: protects @ready, @dead and the end of @served; any context, inside every other lock
 *	of a trunk or lane
 * @ready: lanes that have something to send
 * @dead: nothing is sent any more
 * @served: the holder of @lock sends what is ready before the release
 * @session: the session of the link, with the PD of the trunk
 * @payer: active: the session that is charged for the trunk, with a reference; NULL: none
 * @conn: the link
 * @buffers: memory of all frames
 * @mr: the MR of @buffers
 * @work: reads what needs memory, sends what no other context could send, and ends the trunk when
 *	the link has ended
 * @connect_work: connects an active trunk
 * @timer: an active trunk has no lane, or the peer does not answer; a passive one is not used any
 *	more, and its peer does not take what was sent, or sends nothing for long
 * @later: sends the ends of lanes that nothing else has taken along; queued with a reference
 * @give_up: ends lanes of @unanswered that have waited too long; queued with a reference
 * @hurry: ends that do not wait for @later; under @lock
 * @drain: ends the trunk if its device keeps a lane from its end; queued with a reference
 * @busy: @connect_work has not finished; under @lock
 * @link_over: the link has ended, or is to end; under @lock
 */
struct krdma_trunk {
	struct kref refs;
	u64 id;
	struct list_head node;
	bool passive;
	struct krdma_trunk_key key;
	bool pads;
	u32 max_message;
	u32 path_mtu;
	bool windows_work;
	bool reads_work;
	u32 write_sges;
	u32 read_sges;

	struct mutex offer_lock;	/* see above */
	spinlock_t lock;		/* see above */
	enum krdma_trunk_state state;
	int error;
	bool was_up;
	unsigned long up_at;
	u8 fail_status;
	unsigned long unused_at;
	bool timer_asks;
	bool violated;
	u32 bound;
	u32 in_flight;
	struct xarray lanes;
	u32 lane_count;
	u32 end_count;
	bool ends_last;
	bool patient;
	u32 unsent_answers;
	u32 taken_back;
	u32 lanes_max;
	u32 last_lane;
	struct list_head unasked;
	struct list_head finders;
	struct xarray questions;
	u32 last_ticket;
	struct list_head unanswered;
	struct krdma_trunk_port ports[KRDMA_TRUNK_PORTS];
	u32 next_port;
	u32 local_ports;
	struct krdma_trunk_answer *answers;
	u32 answer_head;
	u32 answer_tail;
	u32 arrived;
	u32 received;
	struct krdma_frame_late late[KRDMA_TRUNK_FRAMES];
	struct krdma_lane_reader reader;
	bool begun;
	bool reading;
	u32 granted;
	u32 sent_grant;
	u32 sent_frames;
	u32 probed_frames;
	u32 peer_grant;
	u32 frame_size;
	struct xarray windows;
	struct rb_root windows_asked;
	u32 window_count;
	u32 last_window;
	struct list_head revokes;
	struct xarray peer_windows;
	u32 peer_window_count;
	struct list_head revoked;
	unsigned long direct_free;
	u32 direct_bytes;
	struct list_head direct_waiters;
	struct list_head direct_short_waiters;
	struct krdma_lane_direct *direct_turn;
	struct list_head free;
	struct krdma_frame_slot *slots;
	struct krdma_direct_slot *direct;

	spinlock_t ready_lock;		/* see above */
	struct list_head ready;
	bool dead;
	bool served;

	struct krdma_session *session;
	struct krdma_session *payer;
	struct krdma_conn *conn;
	u8 *buffers;
	struct krdma_mr *mr;
	struct work_struct work;
	struct work_struct connect_work;
	struct delayed_work timer;
	struct delayed_work later;
	struct delayed_work drain;
	struct delayed_work give_up;
	u32 hurry;
	bool busy;
	bool link_over;
};

/* The mark of an end in &struct krdma_trunk.lanes. */
#define KRDMA_TRUNK_END		XA_MARK_0

/* The peer has no lane here, but may not know that the last ones have ended. */
static inline bool krdma_trunk_is_empty(const struct krdma_trunk *trunk)
{
	return trunk->lane_count == trunk->end_count;
}

extern struct workqueue_struct *krdma_lane_workqueue;
extern struct workqueue_struct *krdma_trunk_workqueue;
/* Work items that wait for a device: as long as one does not answer, others go on. */
extern struct workqueue_struct *krdma_window_workqueue;

/* lane/lane.c */
struct krdma_lane *krdma_lane_alloc(gfp_t gfp);
void krdma_lane_free(struct krdma_lane *lane);
void krdma_lane_attach(struct krdma_conn_lower *lower, struct krdma_conn *conn);
void krdma_lane_bind(struct krdma_lane *lane);
void krdma_lane_found(struct krdma_lane *lane, bool found);
void krdma_lane_retry(struct krdma_lane *lane);
void krdma_lane_queue_find(struct krdma_lane *lane);
void krdma_lane_lost(struct krdma_lane *lane, int error, u8 status);
void krdma_lane_detach(struct krdma_lane *lane);

static inline struct krdma_lane_wqe *krdma_lane_wqe_at(const struct krdma_lane_queue *queue,
						       u32 position)
{
	return &queue->wqes[position & queue->mask];
}

/* Work requests that are posted and that the trunk has not begun with. */
static inline u32 krdma_lane_queued(const struct krdma_lane_queue *queue)
{
	/* Pairs with the release of the functions that post. */
	return smp_load_acquire(&queue->tail) - queue->next;
}

/* The SRQ, from the creation of the queues to their end, or NULL. */
static inline struct krdma_srq *krdma_lane_srq(const struct krdma_lane *lane)
{
	const struct krdma_lane_share *share = READ_ONCE(lane->share);

	return share ? READ_ONCE(share->taker.srq) : NULL;
}

/* Receives that messages have used, and that the peer has given back. */
static inline u32 krdma_lane_recvs_used(const struct krdma_lane *lane)
{
	const struct krdma_lane_queue *queue = &lane->recv;

	return READ_ONCE(queue->next) + READ_ONCE(queue->begun) + READ_ONCE(lane->yielded);
}

/*
 * Has the peer to know of more receives?  Each message has them, too.  So a record of its own waits
 * until the peer knows of fewer receives than it does not know of.  The counts are read without a
 * lock by the thread that posts: see krdma_lane_post_recv().
 */
static inline bool krdma_lane_owes_credits(const struct krdma_lane *lane)
{
	const struct krdma_lane_queue *queue = &lane->recv;
	u32 advertised = READ_ONCE(lane->advertised);

	return (s32)(READ_ONCE(queue->tail) + READ_ONCE(lane->yielded) - advertised) >
	       (s32)(advertised - krdma_lane_recvs_used(lane));
}

static inline struct krdma_sge *krdma_lane_sges(const struct krdma_lane_queue *queue)
{
	return (struct krdma_sge *)(queue->wqes + queue->mask + 1);
}

/* Of the send queue. */
static inline struct krdma_lane_remote *
krdma_lane_remote_at(const struct krdma_lane_queue *queue, u32 position)
{
	struct krdma_sge *end = krdma_lane_sges(queue) + (queue->mask + 1) * queue->max_sge;

	return (struct krdma_lane_remote *)end + (position & queue->mask);
}

/* The SGEs of a work request, none of them empty. */
static inline struct krdma_sge *krdma_lane_sges_at(const struct krdma_lane_queue *queue,
						   u32 position)
{
	return krdma_lane_sges(queue) + (position & queue->mask) * queue->max_sge;
}

/* The WQE of a read or atomic that waits for its result, by its count. */
static inline u32 *krdma_lane_position_of(const struct krdma_lane *lane, u32 count)
{
	return &lane->queues[count % KRDMA_LANE_READS];
}

static inline u8 *krdma_lane_inline_at(const struct krdma_lane *lane, u32 position)
{
	const struct krdma_lane_queue *last = &lane->recv;
	struct krdma_sge *end = krdma_lane_sges(last) + (last->mask + 1) * last->max_sge;

	return (u8 *)end + (size_t)(position & lane->send.mask) * lane->max_inline;
}

/* Writes that are carried out, and of which the peer does not know; under the trunk's lock. */
static inline bool krdma_lane_owes_done(const struct krdma_lane *lane)
{
	return lane->served.writes != lane->served.writes_reported;
}

int krdma_lanes_init(void);
void krdma_lanes_exit(void);

#endif /* _KRDMA_LANE_H */
