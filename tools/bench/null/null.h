/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for the files of the null device.
 *
 * It uses the connection manager of the fake device (kunit/fake_cm.c), which sees it as a device
 * with QPs like any other; it handles the work requests of these QPs itself.
 *
 * One lock protects everything.  A call that posts, polls or arms takes it once, for all work
 * requests or completions of the call.  Completion handlers run with it held: as with other
 * providers, they may only wake a thread.
 */
#ifndef _KRDMA_BENCH_NULL_H
#define _KRDMA_BENCH_NULL_H

#include <linux/etherdevice.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "../../../kunit/fake_private.h"

/**
 * struct null_device - the device
 * @fake: the part that ib_core and the connection manager know
 * @qps: the QPs by their numbers
 * @next_qp: where the search for the next number begins
 * @gid: the address of the interface
 */
struct null_device {
	struct fake_device fake;
	struct xarray qps;
	u32 next_qp;
	u8 gid[ETH_ALEN];
};

extern spinlock_t null_lock;	/* see above */

struct null_pd {
	struct ib_pd ib;
};

/**
 * struct null_entry - a completion
 * @wr_id: wr_id of the work request
 * @qp: its QP
 * @byte_len: bytes received
 * @imm: immediate data
 * @opcode: &enum ib_wc_opcode
 * @status: &enum ib_wc_status
 * @flags: &enum ib_wc_flags
 */
struct null_entry {
	u64 wr_id;
	struct ib_qp *qp;
	u32 byte_len;
	__be32 imm;
	u8 opcode;
	u8 status;
	u8 flags;
};

/**
 * struct null_cq - a CQ
 * @ib: the object of ib_core
 * @entries: the entries, a power of two of them
 * @mask: number of @entries minus 1
 * @head: the next entry to be polled, a free-running counter
 * @tail: the next entry to be written, a free-running counter
 * @armed: the consumer wants to be notified of the next completion
 * @solicited: only of a solicited one, or of one that failed
 */
struct null_cq {
	struct ib_cq ib;
	struct null_entry *entries;
	u32 mask;
	u32 head;
	u32 tail;
	bool armed;
	bool solicited;
};

/**
 * struct null_receives - an RQ or an SRQ
 * @wr_ids: wr_ids of posted receives, a power of two of them
 * @mask: number of @wr_ids minus 1
 * @head: the receive that the next message takes, a free-running counter
 * @tail: the next receive to be posted, a free-running counter
 */
struct null_receives {
	u64 *wr_ids;
	u32 mask;
	u32 head;
	u32 tail;
};

struct null_srq {
	struct ib_srq ib;
	struct null_receives receives;
};

/**
 * struct null_qp - a QP
 * @fake: the part that ib_core and the connection manager know: its state, and its peer, NULL
 *	if there is none
 * @receives: its RQ, or its SRQ
 * @own: its RQ; empty if it has an SRQ
 */
struct null_qp {
	struct fake_qp fake;
	struct null_receives *receives;
	struct null_receives own;
};

static inline struct null_device *to_null(struct ib_device *ib)
{
	return container_of(to_fake(ib), struct null_device, fake);
}

static inline struct null_cq *to_null_cq(struct ib_cq *ib)
{
	return container_of(ib, struct null_cq, ib);
}

static inline struct null_srq *to_null_srq(struct ib_srq *ib)
{
	return container_of(ib, struct null_srq, ib);
}

static inline struct null_qp *to_null_qp(struct ib_qp *ib)
{
	return container_of(to_fake_qp(ib), struct null_qp, fake);
}

/* post.c: turns work requests into completions */
int null_post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad);
int null_post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad);
int null_post_srq_recv(struct ib_srq *ib_srq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad);
int null_poll_cq(struct ib_cq *ib_cq, int count, struct ib_wc *wc);
int null_req_notify_cq(struct ib_cq *ib_cq, enum ib_cq_notify_flags notify);

/* objects.c */
extern const struct ib_device_ops null_object_ops;

#endif /* _KRDMA_BENCH_NULL_H */
