/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two queues of a queue pair, from the post to the completion.
 */
#ifndef _KRDMA_RING_H
#define _KRDMA_RING_H

#include <linux/local_lock.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#include "core/cgroup.h"
#include "io/keepalive.h"
#include "io/op.h"
#include "core/private.h"
#include "io/cq.h"
#include "mr/split.h"

struct krdma_region;
struct krdma_work_ring;

/* Requests that are given to the device in one chain. */
#define KRDMA_CHAIN		16
/* Segments of local memory that one operation can have, over all its pieces. */
#define KRDMA_SEGMENTS		128
/* The entries for these of all requests in a chain; each that has one has room for it. */
#define KRDMA_CHAIN_SGES	(2 * KRDMA_SEGMENTS)

/**
 * enum krdma_slot_flags - bits of &struct krdma_slot.flags
 * @KRDMA_SLOT_LAST: the operation ends here
 * @KRDMA_SLOT_SILENT: the consumer is told of a failure only
 */
enum krdma_slot_flags {
	KRDMA_SLOT_LAST = 1 << 0,
	KRDMA_SLOT_SILENT = 1 << 1,
};

/**
 * struct krdma_slot - a request that the device has
 * @cqe: leads from its completion to here
 * @ring: whose
 * @cookie: the consumer's
 * @length: bytes of the operation
 * @opcode: &enum krdma_opcode
 * @flags: &enum krdma_slot_flags
 * @region_count: regions that are kept until it completes
 */
struct krdma_slot {
	struct ib_cqe cqe;
	struct krdma_work_ring *ring;
	u64 cookie;
	u32 length;
	u8 opcode;
	u8 flags;
	u16 region_count;
};

/**
 * struct krdma_workbench - where requests are made, one for each processor
 * @lock: see private.h; protects all of it
 * @wrs: the chain that is being made, of sends
 * @recv_wrs: or of receives
 * @sges: of the chain
 * @segments: of the operation that is being posted
 * @piece_segments: of one piece of it
 * @segment_ends: for each piece of memory of the consumer's, where its segments end
 *
 * Nothing in it is of use when the call that posts has ended: a device has taken what it
 * needs.  So queue pairs share it, and it stays in the processor's cache.
 */
struct krdma_workbench {
	local_lock_t lock;		/* see above */
	union {
		union krdma_wr wrs[KRDMA_CHAIN];
		struct ib_recv_wr recv_wrs[KRDMA_CHAIN];
	};
	struct ib_sge sges[KRDMA_CHAIN_SGES];
	struct krdma_segment segments[KRDMA_SEGMENTS];
	struct krdma_segment piece_segments[KRDMA_SEGMENTS];
	u16 segment_ends[KRDMA_SEGMENTS];
};

/**
 * struct krdma_chain - one call of a consumer's that posts
 * @bench: where its requests are made
 * @accepted: operations that the device has, from the first piece to the last
 * @open_pieces: pieces that the device has of an operation of which it does not
 *	have the last
 * @count: requests that have slots and that the device does not have yet
 * @sges: entries of @bench that these have
 * @pieces: of these, those that are not the last, or only, one of an operation
 * @open: of these, those after the last such one
 * @region: of the last of these that was plain: there is a use of it that cannot end
 *	before the device has the chain
 * @uses: further ones that slots of the chain have, and that it does not count yet
 */
struct krdma_chain {
	struct krdma_workbench *bench;
	int accepted;
	u32 open_pieces;
	u32 count;
	u32 sges;
	u32 pieces;
	u32 open;
	struct krdma_region *region;
	int uses;
};

/**
 * struct krdma_work_ring - the send queue or the receive queue of a queue pair
 * @qp: whose
 * @queue: where it completes
 * @lock: the post lock: protects @open, @tail, @credits.taken, @run, @posted and
 *	what is used while posting; any context, inside a queue's poll lock and a
 *	connection's state_lock
 * @open: something can be posted
 * @credits: slots, and with them room in @queue
 * @mask: slots, a power of two, minus 1
 * @max_sge: of a request
 * @head: the next to complete; protected by the poll lock of @queue
 * @tail: the next to be posted
 * @run: requests posted since the last one that completes in any case
 * @chain: the call that posts; protected by @lock
 * @slots: the slots
 * @regions: @max_sge of them for each slot
 * @failed: how the current operation failed, if a piece of it did; protected by
 *	the poll lock
 * @vendor_error: likewise
 * @posted: operations accepted
 * @completed: operations of which the consumer was told, or which ended
 *	silently; protected by the poll lock
 * @marker: completes after everything else
 * @drained: it has
 */
struct krdma_work_ring {
	struct krdma_qp *qp;
	struct krdma_queue *queue;

	spinlock_t lock;		/* see above */
	bool open;
	struct krdma_credits credits;
	u32 mask;
	u32 max_sge;
	u32 head;
	u32 tail;
	u32 run;
	struct krdma_chain chain;
	struct krdma_slot *slots;
	struct krdma_region **regions;
	u8 failed;
	u32 vendor_error;
	u64 posted;
	u64 completed;

	struct ib_cqe marker;
	struct completion drained;
};

/**
 * struct krdma_qp_owner - for whom a queue pair was made
 * @node: in the list of all; protected by its lock (io/qp_list.c)
 * @pid: the process, as the initial namespace numbers it
 * @comm: what its thread was called then
 */
struct krdma_qp_owner {
	struct list_head node;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct krdma_qp - a queue pair
 * @conn: whose; it frees this with itself
 * @domain: the protection domain; kept until the end of the RDMA part
 * @domain_node: in its list of those that a peer can use
 * @scan: the domain's last pass over that list that came here; under the domain's lock
 * @ib: the device's queue pair, until the end of the RDMA part
 * @charge: of it
 * @cm_id: the connection manager's part of the connection, likewise
 * @srq: where receives come from, or NULL; likewise
 * @srq_node: in its table of queue pairs
 * @ib_key: what @ib was, for that table
 * @last_wqe: the device has completed all that it took from @srq; any context
 * @send: operations
 * @recv: receives; without slots if there is @srq
 * @send_cqe: what it takes of @send.queue
 * @recv_cqe: what it takes of @recv.queue
 * @keepalive: looks after the peer, if it is to be
 * @mr_pool: registrations of the connection's own
 * @caps: of the device
 * @plain_ops: of the operations, those of krdma_op_plain()
 * @max_message: bytes that the device takes in a request
 * @max_read_sge: scatter/gather entries of a read
 * @read_access: &enum krdma_access that the memory needs which a read fills
 * @max_inline: bytes of an operation with KRDMA_POST_INLINE
 * @device_inline: of these, bytes that the device takes inline; more is copied to @bounce
 * @number: of the queue pair
 * @heard: a message of the peer's has arrived; protected by the poll lock of @recv
 * @stray: completions of what had completed before
 * @cut: an operation was accepted in part, when the device refused the rest:
 *	the last one, for the queue is closed then.  Protected by @send.lock.
 * @cut_slot: what is to be told of it
 * @cut_regions: what is kept for it besides what its slots keep
 * @cut_region_count: how many
 * @scratch: 8 bytes for each slot of @send: local memory of operations that bring
 *	none
 * @scratch_dma: their address for the device
 * @scratch_mapped: they have one
 * @owner: for whom it was made, until the end of the RDMA part
 * @session: whose account is charged for the queues; kept by @conn
 * @charged: how many bytes; 0: nothing was
 * @bounce: copies of inline data, one for each slot of @send; NULL if the device takes
 *	@max_inline itself
 * @bounce_dma: their address for the device
 * @bounce_size: bytes of each
 * @mappings: of the consumer's for operations that have not completed: io/map.c
 */
struct krdma_qp {
	struct krdma_conn *conn;
	struct krdma_domain *domain;
	struct list_head domain_node;
	u32 scan;
	struct ib_qp *ib;
	struct krdma_charge charge;
	struct rdma_cm_id *cm_id;
	struct krdma_srq *srq;
	struct hlist_node srq_node;
	const struct ib_qp *ib_key;
	struct completion last_wqe;
	struct krdma_work_ring send;
	struct krdma_work_ring recv;
	u32 send_cqe;
	u32 recv_cqe;
	struct krdma_keepalive keepalive;
	struct krdma_mr_pool *mr_pool;

	u64 caps;
	u32 plain_ops;
	u32 max_message;
	u32 max_read_sge;
	u32 read_access;
	u32 max_inline;
	u32 device_inline;
	u32 number;
	bool heard;
	u32 stray;

	bool cut;
	struct krdma_slot cut_slot;
	struct krdma_region *cut_regions[KRDMA_SEGMENTS];
	u32 cut_region_count;
	u64 *scratch;
	u64 scratch_dma;
	bool scratch_mapped;
	struct krdma_qp_owner owner;
	struct krdma_session *session;
	u64 charged;
	u8 *bounce;
	u64 bounce_dma;
	u32 bounce_size;
	atomic_t mappings;
};

static inline struct krdma_slot *krdma_ring_slot(struct krdma_work_ring *ring, u32 position)
{
	return &ring->slots[position & ring->mask];
}

static inline struct krdma_region **krdma_ring_regions(struct krdma_work_ring *ring, u32 position)
{
	return &ring->regions[(position & ring->mask) * ring->max_sge];
}

u64 krdma_ring_bytes(u32 depth, u32 max_sge);
int krdma_ring_init(struct krdma_work_ring *ring, struct krdma_qp *qp, struct krdma_queue *queue,
		    u32 depth, u32 max_sge, void (*done)(struct ib_cq *cq, struct ib_wc *wc));
void krdma_ring_free(struct krdma_work_ring *ring);
void krdma_ring_close(struct krdma_work_ring *ring);
void krdma_ring_drop_regions(struct krdma_work_ring *ring, u32 position);
bool krdma_ring_flush(struct krdma_work_ring *ring, u32 budget);
void krdma_ring_end_run(struct krdma_queue *queue);

/* The completions of the two queues. */
void krdma_send_done(struct ib_cq *cq, struct ib_wc *wc);
void krdma_receive_done(struct ib_cq *cq, struct ib_wc *wc);

int krdma_receive_build(const struct krdma_receive *receive, struct krdma_domain *domain,
			u32 max_sge, struct ib_sge *sges, struct krdma_region **regions,
			u16 *region_count, struct ib_recv_wr *wr);

/* Mappings of the consumer's: io/map.c. */
void krdma_qp_unmapped(struct krdma_qp *qp);
void krdma_qp_wait_unmapped(struct krdma_qp *qp);

/* A receive has completed, of the queue pair's own or of a shared queue. */
void krdma_qp_received(struct krdma_qp *qp, struct krdma_queue *queue,
		       struct krdma_credits *credits, u64 cookie, const struct ib_wc *wc);

#endif /* _KRDMA_RING_H */
