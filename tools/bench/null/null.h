/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the null device share.
 *
 * One lock protects all of it.  Who posts, polls or arms takes it once, for all that
 * is given at a time, and consumers are told that a queue has something with it held:
 * as with other providers, they must do no more then than wake somebody.
 */
#ifndef _KRDMA_BENCH_NULL_H
#define _KRDMA_BENCH_NULL_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "../../../krdma/compat/provider.h"

/* As many bytes as an event of iw_cm can bring. */
#define NULL_PRIVATE_DATA	U8_MAX

struct null_endpoint;

/**
 * struct null_device - the device
 * @ib: what ib_core knows
 * @lock: see above
 * @qps: the queue pairs by their numbers
 * @next_qp: where the next number is looked for
 * @listeners: those who wait for connections; protected by @lock
 * @endpoints: of connections, until they are over; likewise
 * @cm_work: where iw_cm is told what happens to connections, in order
 * @gid: the address of the interface
 */
struct null_device {
	struct ib_device ib;
	spinlock_t lock;	/* see above */
	struct xarray qps;
	u32 next_qp;
	struct list_head listeners;
	struct list_head endpoints;
	struct workqueue_struct *cm_work;
	u8 gid[ETH_ALEN];
};

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
 * @ib: what ib_core knows
 * @peer: the other end; NULL if there is none
 * @state: its state
 * @signal_all: every request completes
 * @receives: what receives are told as, a power of two of them
 * @mask: how many, minus 1
 * @head: the receive that the next message takes, counted without end
 * @tail: where the next one goes, likewise
 * @refs: of iw_cm and of endpoints, and one of its consumer
 * @unused: when there are none
 * @endpoint: of its connection
 */
struct null_qp {
	struct ib_qp ib;
	struct null_qp *peer;
	enum ib_qp_state state;
	bool signal_all;
	u64 *receives;
	u32 mask;
	u32 head;
	u32 tail;
	refcount_t refs;
	struct completion unused;
	struct null_endpoint *endpoint;
};

static inline struct null_device *to_null(struct ib_device *ib)
{
	return container_of(ib, struct null_device, ib);
}

static inline struct null_cq *to_null_cq(struct ib_cq *ib)
{
	return container_of(ib, struct null_cq, ib);
}

static inline struct null_qp *to_null_qp(struct ib_qp *ib)
{
	return container_of(ib, struct null_qp, ib);
}

/* post.c: where requests become completions */
int null_post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad);
int null_post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad);
int null_poll_cq(struct ib_cq *ib_cq, int count, struct ib_wc *wc);
int null_req_notify_cq(struct ib_cq *ib_cq, enum ib_cq_notify_flags notify);
/* With the lock held. */
void null_qp_to_error(struct null_qp *qp);

/* objects.c */
void null_qp_get(struct null_qp *qp);
void null_qp_put(struct null_qp *qp);
extern const struct ib_device_ops null_object_ops;

/* cm.c; with the lock held */
void null_cm_qp_left(struct null_qp *qp);
extern const struct ib_device_ops null_cm_ops;

#endif /* _KRDMA_BENCH_NULL_H */
