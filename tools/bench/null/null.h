/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the null device share.
 *
 * It has the connection manager of the fake device (kunit/fake_cm.c), and is to it a device
 * with queue pairs like any other; what goes through these is its own.
 *
 * One lock protects all of it.  Who posts, polls or arms takes it once, for all that
 * is given at a time, and consumers are told that a queue has something with it held:
 * as with other providers, they must do no more then than wake somebody.
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
 * @fake: what ib_core and the connection manager know
 * @qps: the queue pairs by their numbers
 * @next_qp: where the next number is looked for
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
 * @wr_id: the request's
 * @qp: whose
 * @byte_len: bytes received
 * @imm: what came with it
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
 * struct null_cq - a completion queue
 * @ib: what ib_core knows
 * @entries: a power of two of them
 * @mask: how many, minus 1
 * @head: the next to be polled, counted without end
 * @tail: where the next one goes, likewise
 * @armed: the consumer wants to hear of the next one
 * @solicited: of one that is important to the peer, or that failed
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
 * struct null_qp - a queue pair
 * @fake: what ib_core and the connection manager know: its state, and its peer, NULL if there
 *	is none
 * @recv_wrs: what receives are told as, a power of two of them
 * @mask: how many, minus 1
 * @head: the receive that the next message takes, counted without end
 * @tail: where the next one goes, likewise
 */
struct null_qp {
	struct fake_qp fake;
	u64 *recv_wrs;
	u32 mask;
	u32 head;
	u32 tail;
};

static inline struct null_device *to_null(struct ib_device *ib)
{
	return container_of(to_fake(ib), struct null_device, fake);
}

static inline struct null_cq *to_null_cq(struct ib_cq *ib)
{
	return container_of(ib, struct null_cq, ib);
}

static inline struct null_qp *to_null_qp(struct ib_qp *ib)
{
	return container_of(to_fake_qp(ib), struct null_qp, fake);
}

/* post.c: where requests become completions */
int null_post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad);
int null_post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad);
int null_poll_cq(struct ib_cq *ib_cq, int count, struct ib_wc *wc);
int null_req_notify_cq(struct ib_cq *ib_cq, enum ib_cq_notify_flags notify);

/* objects.c */
extern const struct ib_device_ops null_object_ops;

#endif /* _KRDMA_BENCH_NULL_H */
