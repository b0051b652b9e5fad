/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two queues of a queue pair, from the post to the completion.
 */
#ifndef _KRDMA_WQ_H
#define _KRDMA_WQ_H

#include <linux/local_lock.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#include "core/cgroup.h"
#include "io/keepalive.h"
#include "io/op.h"
#include "core/private.h"
#include "io/cq.h"
#include "mr/split.h"

struct krdma_mr;
struct krdma_wq;

/* Requests that are given to the device in one chain. */
#define KRDMA_WR_LIST_MAX		16
/* Segments of local memory that one operation can have, over all its pieces. */
#define KRDMA_WR_SGES		128
/* The entries for these of all requests in a chain; each that has one has room for it. */
#define KRDMA_WR_LIST_SGES	(2 * KRDMA_WR_SGES)

/**
 * enum krdma_wqe_flags - bits of &struct krdma_wqe.flags
 * @KRDMA_WQE_LAST: the operation ends here
 * @KRDMA_WQE_UNSIGNALED: the consumer is told of a failure only
 */
enum krdma_wqe_flags {
	KRDMA_WQE_LAST = 1 << 0,
	KRDMA_WQE_UNSIGNALED = 1 << 1,
};

/**
 * struct krdma_wqe - a request that the device has
 * @cqe: leads from its completion to here
 * @wq: whose
 * @wr_id: the consumer's
 * @length: bytes of the operation
 * @opcode: &enum krdma_opcode
 * @flags: &enum krdma_wqe_flags
 * @mr_count: regions that are kept until it completes
 */
struct krdma_wqe {
	struct ib_cqe cqe;
	struct krdma_wq *wq;
	u64 wr_id;
	u32 length;
	u8 opcode;
	u8 flags;
	u16 mr_count;
};

/**
 * struct krdma_wr_scratch - where requests are made, one for each processor
 * @lock: see private.h; protects all of it
 * @wrs: the chain that is being made, of sends
 * @recv_wrs: or of receives
 * @sges: of the chain
 * @segments: of the operation that is being posted
 * @part_segments: of one piece of it
 * @segment_ends: for each piece of memory of the consumer's, where its segments end
 *
 * Nothing in it is of use when the call that posts has ended: a device has taken what it
 * needs.  So queue pairs share it, and it stays in the processor's cache.
 */
struct krdma_wr_scratch {
	local_lock_t lock;		/* see above */
	union {
		union krdma_wr wrs[KRDMA_WR_LIST_MAX];
		struct ib_recv_wr recv_wrs[KRDMA_WR_LIST_MAX];
	};
	struct ib_sge sges[KRDMA_WR_LIST_SGES];
	struct krdma_segment segments[KRDMA_WR_SGES];
	struct krdma_segment part_segments[KRDMA_WR_SGES];
	u16 segment_ends[KRDMA_WR_SGES];
};

/**
 * struct krdma_wr_list - one call of a consumer's that posts
 * @scratch: where its requests are made
 * @accepted: operations that the device has, from the first piece to the last
 * @open_parts: pieces that the device has of an operation of which it does not
 *	have the last
 * @count: requests that have slots and that the device does not have yet
 * @sges: entries of @scratch that these have
 * @parts: of these, those that are not the last, or only, one of an operation
 * @open: of these, those after the last such one
 * @mr: of the last of these that was plain: there is a use of it that cannot end
 *	before the device has the chain
 * @uses: further ones that slots of the chain have, and that it does not count yet
 */
struct krdma_wr_list {
	struct krdma_wr_scratch *scratch;
	int accepted;
	u32 open_parts;
	u32 count;
	u32 sges;
	u32 parts;
	u32 open;
	struct krdma_mr *mr;
	int uses;
};

/**
 * struct krdma_wq - the send queue or the receive queue of a queue pair
 * @qp: whose
 * @cq: where it completes
 * @lock: the post lock: protects @open, @tail, @credits.taken, @batch, @posted and
 *	what is used while posting; any context, inside a queue's poll lock and a
 *	connection's state_lock
 * @open: something can be posted
 * @credits: slots, and with them room in @cq
 * @mask: slots, a power of two, minus 1
 * @max_sge: of a request
 * @head: the next to complete; protected by the poll lock of @cq
 * @tail: the next to be posted
 * @batch: requests posted since the last one that completes in any case
 * @chain: the call that posts; protected by @lock
 * @wqes: the slots
 * @mrs: @max_sge of them for each slot
 * @failed: how the current operation failed, if a piece of it did; protected by
 *	the poll lock
 * @vendor_error: likewise
 * @posted: operations accepted
 * @completed: operations of which the consumer was told, or which ended
 *	silently; protected by the poll lock
 * @marker: completes after everything else
 * @drained: it has
 */
struct krdma_wq {
	struct krdma_qp *qp;
	struct krdma_cq *cq;

	spinlock_t lock;		/* see above */
	bool open;
	struct krdma_credits credits;
	u32 mask;
	u32 max_sge;
	u32 head;
	u32 tail;
	u32 batch;
	struct krdma_wr_list chain;
	struct krdma_wqe *wqes;
	struct krdma_mr **mrs;
	u8 failed;
	u32 vendor_error;
	u64 posted;
	u64 completed;

	struct ib_cqe marker;
	struct completion drained;
};

/**
 * struct krdma_qp_creator - for whom a queue pair was made
 * @node: in the list of all; protected by its lock (io/qp_list.c)
 * @pid: the process, as the initial namespace numbers it
 * @comm: what its thread was called then
 */
struct krdma_qp_creator {
	struct list_head node;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct krdma_qp - a queue pair
 * @conn: whose; it frees this with itself
 * @pd: the protection domain; kept until the end of the RDMA part
 * @pd_node: in its list of those that a peer can use
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
 * @fast_ops: of the operations, those of krdma_op_fast()
 * @max_message: bytes that the device takes in a request
 * @max_read_sge: scatter/gather entries of a read
 * @read_access: &enum krdma_access that the memory needs which a read fills
 * @max_inline: bytes of an operation with KRDMA_POST_INLINE
 * @device_inline: of these, bytes that the device takes inline; more is copied to @bounce
 * @number: of the queue pair
 * @heard: a message of the peer's has arrived; protected by the poll lock of @recv
 * @stray: completions of what had completed before
 * @partial: an operation was accepted in part, when the device refused the rest:
 *	the last one, for the queue is closed then.  Protected by @send.lock.
 * @partial_wqe: what is to be told of it
 * @partial_mrs: what is kept for it besides what its slots keep
 * @partial_mr_count: how many
 * @sink: 8 bytes for each slot of @send: local memory of operations that bring
 *	none
 * @sink_dma: their address for the device
 * @sink_mapped: they have one
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
	struct krdma_pd *pd;
	struct list_head pd_node;
	u32 scan;
	struct ib_qp *ib;
	struct krdma_charge charge;
	struct rdma_cm_id *cm_id;
	struct krdma_srq *srq;
	struct hlist_node srq_node;
	const struct ib_qp *ib_key;
	struct completion last_wqe;
	struct krdma_wq send;
	struct krdma_wq recv;
	u32 send_cqe;
	u32 recv_cqe;
	struct krdma_keepalive keepalive;
	struct krdma_frmr_pool *mr_pool;

	u64 caps;
	u32 fast_ops;
	u32 max_message;
	u32 max_read_sge;
	u32 read_access;
	u32 max_inline;
	u32 device_inline;
	u32 number;
	bool heard;
	u32 stray;

	bool partial;
	struct krdma_wqe partial_wqe;
	struct krdma_mr *partial_mrs[KRDMA_WR_SGES];
	u32 partial_mr_count;
	u64 *sink;
	u64 sink_dma;
	bool sink_mapped;
	struct krdma_qp_creator owner;
	struct krdma_session *session;
	u64 charged;
	u8 *bounce;
	u64 bounce_dma;
	u32 bounce_size;
	atomic_t mappings;
};

static inline struct krdma_wqe *krdma_wq_wqe(struct krdma_wq *wq, u32 position)
{
	return &wq->wqes[position & wq->mask];
}

static inline struct krdma_mr **krdma_wq_mrs(struct krdma_wq *wq, u32 position)
{
	return &wq->mrs[(position & wq->mask) * wq->max_sge];
}

u64 krdma_wq_bytes(u32 depth, u32 max_sge);
int krdma_wq_init(struct krdma_wq *wq, struct krdma_qp *qp, struct krdma_cq *cq,
		  u32 depth, u32 max_sge, void (*done)(struct ib_cq *ib_cq, struct ib_wc *wc));
void krdma_wq_free(struct krdma_wq *wq);
void krdma_wq_close(struct krdma_wq *wq);
void krdma_wq_put_mrs(struct krdma_wq *wq, u32 position);
bool krdma_wq_flush(struct krdma_wq *wq, u32 budget);
void krdma_wq_end_batch(struct krdma_cq *cq);

/* The completions of the two queues. */
void krdma_send_done(struct ib_cq *ib_cq, struct ib_wc *wc);
void krdma_recv_done(struct ib_cq *ib_cq, struct ib_wc *wc);

int krdma_recv_build(const struct krdma_recv_wr *wr, struct krdma_pd *pd,
		     u32 max_sge, struct ib_sge *sges, struct krdma_mr **mrs,
		     u16 *mr_count, struct ib_recv_wr *ib_wr);

/* Mappings of the consumer's: io/map.c. */
void krdma_qp_unmapped(struct krdma_qp *qp);
void krdma_qp_wait_unmapped(struct krdma_qp *qp);

/* A receive has completed, of the queue pair's own or of a shared queue. */
void krdma_qp_received(struct krdma_qp *qp, struct krdma_cq *cq,
		       struct krdma_credits *credits, u64 wr_id, const struct ib_wc *wc);

#endif /* _KRDMA_WQ_H */
