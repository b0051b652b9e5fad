/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work queues (SQ and RQ) of a QP, from the post to the completion.
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
#include "io/wqe_memory.h"
#include "mr/split.h"

struct krdma_mr;
struct krdma_wq;

/* Work requests that are posted to the device at once, in one list. */
#define KRDMA_WR_LIST_MAX		64
/* SGEs for the device that one work request can have, over all its parts. */
#define KRDMA_WR_SGES		128
/* SGEs of all work requests in a list; each work request always has room for one. */
#define KRDMA_WR_LIST_SGES	(2 * KRDMA_WR_SGES)

/**
 * enum krdma_wqe_flags - bits of &struct krdma_wqe.flags
 * @KRDMA_WQE_LAST: last, or only, part of a work request
 * @KRDMA_WQE_UNSIGNALED: complete to the consumer only on failure
 */
enum krdma_wqe_flags {
	KRDMA_WQE_LAST = 1 << 0,
	KRDMA_WQE_UNSIGNALED = 1 << 1,
};

/**
 * struct krdma_wqe - an entry of a work queue; a part of a work request that the device has
 * @cqe: leads from the completion to this WQE
 * @wq: the work queue
 * @wr_id: wr_id of the consumer
 * @length: bytes of the whole work request
 * @opcode: &enum krdma_opcode
 * @flags: &enum krdma_wqe_flags
 * @mr_count: MRs that are kept in use until the WQE completes
 * @kind: the three members before it
 */
struct krdma_wqe {
	struct ib_cqe cqe;
	struct krdma_wq *wq;
	u64 wr_id;
	u32 length;
	union {
		struct {
			u8 opcode;
			u8 flags;
			u16 mr_count;
		};
		u32 kind;
	};
};

/* A value of &struct krdma_wqe.kind. */
#ifdef __LITTLE_ENDIAN
#define KRDMA_WQE_KIND(opcode, flags, mr_count)	((opcode) | (flags) << 8 | (u32)(mr_count) << 16)
#else
#define KRDMA_WQE_KIND(opcode, flags, mr_count)	((u32)(opcode) << 24 | (flags) << 16 | (mr_count))
#endif

/**
 * struct krdma_wr_scratch - per-CPU buffers where work requests are built
 * @lone: a send work request that is posted without a list, with @lone_sge and no immediate data
 * @lone_sge: its SGE
 * @lock: see private.h; protects all members
 * @wrs: list of send work requests that is being built
 * @recv_wrs: list of receive work requests that is being built
 * @sges: SGEs of the list
 * @wr_sges: SGEs for the device of the work request that is being posted
 * @part_sges: SGEs for the device of one part of it
 * @sge_ends: for each SGE of the consumer, the end of its entries in @wr_sges
 * @bad: where the provider stores the work request that it refuses
 *
 * But for what krdma_wr_scratches_init() sets in @lone, the contents are not used after the call
 * that posts, because a device has then copied what it needs.  So all QPs share the buffers, which
 * stay in the CPU's cache.
 */
struct krdma_wr_scratch {
	/* First, so that they have the address of the buffers. */
	union krdma_wr lone;
	struct ib_sge lone_sge;
	local_lock_t lock;		/* see above */
	union {
		union krdma_wr wrs[KRDMA_WR_LIST_MAX];
		struct ib_recv_wr recv_wrs[KRDMA_WR_LIST_MAX];
	};
	struct ib_sge sges[KRDMA_WR_LIST_SGES];
	struct ib_sge wr_sges[KRDMA_WR_SGES];
	struct ib_sge part_sges[KRDMA_WR_SGES];
	u16 sge_ends[KRDMA_WR_SGES];
	const struct ib_send_wr *bad;
};

/**
 * struct krdma_wr_list - state of one call that posts
 * @scratch: buffers where the work requests are built
 * @accepted: work requests of which the device has all parts
 * @open_parts: parts that the device has of a work request of which it does not have the last
 *	part
 * @count: parts in the list: they have WQEs, and the device does not have them yet
 * @sges: SGEs of @scratch that these parts use
 * @parts: those of @count that are not the last, or only, part of a work request
 * @open: those of @count after the last part of a work request
 * @mr: MR of the previous work request on the fast path: a use of it cannot end before the device
 *	has the list
 * @uses: further uses of @mr by WQEs of the list, not yet counted in the MR
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
 * struct krdma_wq - the SQ or the RQ of a QP
 * @qp: the QP
 * @cq: the CQ
 * @lock: the post lock: protects @open, @tail, @credits.taken, @batch, @posted and what is used
 *	while posting; any context, inside a CQ's poll lock and a connection's state_lock
 * @open: work requests can be posted
 * @credits: free WQEs, each with an entry of @cq
 * @mask: number of WQEs, a power of two, minus 1
 * @max_sge: SGEs of a work request of the device
 * @head: the next WQE to complete; protected by the poll lock of @cq
 * @tail: the next WQE to be posted
 * @batch: work requests posted since the last signaled one
 * @list: state of the call that posts; protected by @lock
 * @wqes: the WQEs
 * @mrs: MRs in use, @max_sge for each WQE
 * @failed: status of the current work request if a part of it failed; protected by the poll lock
 * @vendor_error: vendor error that belongs to @failed; protected by the poll lock
 * @posted: work requests accepted
 * @completed: work requests that completed to the consumer, or that were unsignaled and
 *	succeeded; protected by the poll lock
 * @early: for each WQE, 0, or 1 and its status if it completed while one before it had not; NULL
 *	if WQEs complete in order; protected by the poll lock
 * @broken: a WQE has failed; protected by the poll lock, and used only with @early
 * @marker: completes after everything else
 * @drained: @marker has completed
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
	struct krdma_wr_list list;
	struct krdma_wqe *wqes;
	struct krdma_mr **mrs;
	u8 failed;
	u32 vendor_error;
	u64 posted;
	u64 completed;
	u8 *early;
	bool broken;

	struct ib_cqe marker;
	struct completion drained;
};

/**
 * struct krdma_qp_creator - the process for which a QP was created
 * @node: entry of the list of all QPs; protected by that list's lock (io/qp_list.c)
 * @pid: process ID in the initial PID namespace
 * @comm: name of the creating thread at that time
 */
struct krdma_qp_creator {
	struct list_head node;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct krdma_qp - a queue pair
 * @owner: the owner, which frees the QP with itself
 * @conn: connection that completions name; not used here
 * @context: context that completions name; not used here
 * @complete: gets the completions
 * @pd: the PD; valid until krdma_qp_end()
 * @pd_node: entry of the PD's list of QPs that a peer can use
 * @scan: number of the PD's last pass over that list that visited this QP; under the PD's lock
 * @ib: the device's QP; valid until krdma_qp_end()
 * @charge: charge for @ib in the RDMA control group
 * @cm_id: the connection's rdma_cm ID; valid until krdma_qp_end()
 * @srq: the SRQ where receives come from, or NULL; valid until krdma_qp_end()
 * @srq_node: entry of the SRQ's list of QPs that are ending
 * @ib_key: key in that list: the value of @ib, also after @ib is destroyed
 * @last_wqe: IB_EVENT_QP_LAST_WQE_REACHED was raised: the device has completed all receives that
 *	it took from @srq; any context
 * @send: the SQ
 * @recv: the RQ; without WQEs if there is an @srq
 * @send_cqe: entries reserved in @send.cq
 * @recv_cqe: entries reserved in @recv.cq
 * @keepalive: detects that the peer is gone, if the consumer asked for that
 * @caps: capabilities of the device
 * @fast_ops: operations that the fast path can post: those of krdma_op_fast(), without reads
 *	unless @fences_reads
 * @max_message: bytes that the device accepts in a work request
 * @max_read_sge: SGEs of a read
 * @read_access: &enum krdma_access that the local memory of a read needs
 * @empty_read: SGEs of length 0 that a read of 0 bytes has, or the negative errno that refuses it
 * @max_inline: bytes of a work request with KRDMA_POST_INLINE
 * @device_inline: bytes that the device accepts inline; longer data is copied to @bounce
 * @fences_reads: the device accepts IB_SEND_FENCE with reads
 * @inlines_invalidate: the device accepts IB_SEND_INLINE with IB_WR_SEND_WITH_INV; otherwise the
 *	data is copied to @bounce
 * @number: QP number
 * @heard: a message of the peer has arrived; protected by the poll lock of @recv
 * @stray: completions for WQEs that had already completed
 * @partial: a work request was posted partially, when the device refused the rest.  It is the
 *	last one, because the SQ is closed then.  Protected by @send.lock.
 * @partial_wqe: what the completion of that work request reports
 * @partial_first: position of the first WQE that the device did not accept
 * @partial_mr_count: MRs that it keeps in use besides those of its WQEs: krdma_partial_mr()
 * @sink: local memory for operations that bring none, 8 bytes for each WQE of @send
 * @creator: process for which the QP was created; listed until krdma_qp_end()
 * @session: session to which the queues are charged; kept by @owner
 * @charged: bytes charged to @session; 0 if nothing was charged
 * @bounce: copies of inline data, one for each WQE of @send; none if the device accepts
 *	@max_inline itself, with each operation
 * @mappings: mappings of the consumer for work requests, and 1 until the device's QP is destroyed;
 *	see io/map.c
 */
struct krdma_qp {
	struct krdma_qp_owner *owner;
	struct krdma_conn *conn;
	void *context;
	void (*complete)(const struct krdma_wc *wc);
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

	u64 caps;
	u32 fast_ops;
	u32 max_message;
	u32 max_read_sge;
	u32 read_access;
	int empty_read;
	u32 max_inline;
	u32 device_inline;
	bool fences_reads;
	bool inlines_invalidate;
	u32 number;
	bool heard;
	u32 stray;

	bool partial;
	struct krdma_wqe partial_wqe;
	u32 partial_first;
	u32 partial_mr_count;
	struct krdma_wqe_memory sink;
	struct krdma_qp_creator creator;
	struct krdma_session *session;
	u64 charged;
	struct krdma_wqe_memory bounce;
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

/* Where a partially posted work request keeps an MR: in the WQEs that follow those it has. */
static inline struct krdma_mr **krdma_partial_mr(struct krdma_qp *qp, u32 index)
{
	u32 first = (qp->partial_first & qp->send.mask) * qp->send.max_sge;

	return &qp->send.mrs[(first + index) % ((qp->send.mask + 1) * qp->send.max_sge)];
}

u64 krdma_wq_bytes(u32 depth, u32 max_sge);
int krdma_wq_init(struct krdma_wq *wq, struct krdma_qp *qp, struct krdma_cq *cq,
		  u32 depth, u32 max_sge, void (*done)(struct ib_cq *ib_cq, struct ib_wc *wc));
int krdma_wq_disorder(struct krdma_wq *wq);
void krdma_wq_free(struct krdma_wq *wq);
void krdma_wq_close(struct krdma_wq *wq);
void krdma_wq_put_mrs(struct krdma_wq *wq, u32 position);
bool krdma_wq_flush(struct krdma_wq *wq, u32 budget);
void krdma_wq_end_batch(struct krdma_cq *cq);

int krdma_send_complete(struct krdma_cq *cq, const struct ib_wc *wcs, int count);

/* Completion handlers of the SQ and the RQ. */
void krdma_send_done(struct ib_cq *ib_cq, struct ib_wc *wc);
void krdma_send_done_unordered(struct ib_cq *ib_cq, struct ib_wc *wc);
void krdma_recv_done(struct ib_cq *ib_cq, struct ib_wc *wc);

/* Complete a receive of the QP's RQ or of an SRQ. */
void krdma_qp_received(struct krdma_qp *qp, struct krdma_cq *cq,
		       struct krdma_credits *credits, u64 wr_id, const struct ib_wc *wc);

#endif /* _KRDMA_WQ_H */
