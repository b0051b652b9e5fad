/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs (QP), which carry the work requests of their owner, such as a connection.
 */
#ifndef _KRDMA_QP_H
#define _KRDMA_QP_H

#include <linux/dma-direction.h>

#include "core/private.h"

struct krdma_conn;
struct krdma_conn_attr;
struct krdma_conn_info;
struct krdma_flat_post;
struct krdma_pd;
struct krdma_qp;
struct krdma_qp_owner;
struct krdma_recv_wr;
struct krdma_send_wr;
struct krdma_wc;
struct rdma_cm_id;
struct scatterlist;
struct workqueue_struct;

/**
 * struct krdma_qp_owner_ops - what a QP reports to its owner
 * @get: keep the owner, and so the QP; the caller has a reference already
 * @put: drop a reference of @get
 * @space: the SQ or RQ was full when work requests were posted, and is not full any more
 * @heard: a message of the peer has arrived, or the device reports that the peer has answered
 * @flushed: work requests were flushed, and the owner may not have closed the QP
 * @failed: the QP cannot go on, for this reason, a negative errno
 * @abort: memory that work requests in flight use has to go: the QP has to end
 * @refusal: the negative errno with which a closed QP refuses to post
 * @answered: the peer may have sent messages.  Called when the QP is in the error state, and the
 *	connection manager cannot connect it any more.
 * @unmapped: the consumer has unmapped what krdma_qp_end() has found mapped; drops a reference that
 *	krdma_qp_end() has taken by @get
 *
 * Context: any but NMI, also with interrupts off and with a CQ's poll lock; none may sleep.
 */
struct krdma_qp_owner_ops {
	void (*get)(struct krdma_qp_owner *owner);
	void (*put)(struct krdma_qp_owner *owner);
	void (*space)(struct krdma_qp_owner *owner);
	void (*heard)(struct krdma_qp_owner *owner);
	void (*flushed)(struct krdma_qp_owner *owner);
	void (*failed)(struct krdma_qp_owner *owner, int error);
	void (*abort)(struct krdma_qp_owner *owner);
	int (*refusal)(struct krdma_qp_owner *owner);
	bool (*answered)(struct krdma_qp_owner *owner);
	void (*unmapped)(struct krdma_qp_owner *owner);
};

/**
 * struct krdma_qp_owner - the owner of a QP, such as a connection
 * @ops: what the QP calls
 * @workqueue: where the QP's work items run
 * @conn: the owner if it is a connection, which completions name; not used by the QP
 * @context: context that completions name; not used by the QP
 * @complete: gets the completions, see &struct krdma_conn_ops.complete
 * @keepalive_ms: keepalive interval if the attributes of the QP have none; 0: that of the module's
 *	parameter; KRDMA_KEEPALIVE_NEVER
 *
 * Set before krdma_qp_create(), and not changed until krdma_qp_free().
 */
struct krdma_qp_owner {
	const struct krdma_qp_owner_ops *ops;
	struct workqueue_struct *workqueue;
	struct krdma_conn *conn;
	void *context;
	void (*complete)(const struct krdma_wc *wc);
	u32 keepalive_ms;
};

/*
 * The life cycle of a QP, as its owner drives it:
 *
 *	create	receives can be posted
 *	open	send work requests can be posted
 *	close	nothing can be posted any more; any context, also twice
 *	end	everything that was posted has completed, and the device's QP is destroyed; called
 *		again if the consumer has not unmapped everything then
 *	free	the memory is freed; no caller posts, because no reference to the owner
 *		is left
 *
 * The owner serializes them.  Create and end are called in process context; open and close may be
 * called in any.
 */
struct krdma_qp *krdma_qp_create(struct krdma_qp_owner *owner, struct rdma_cm_id *cm_id,
				 struct krdma_pd *pd,
				 const struct krdma_conn_attr *attr);
void krdma_qp_open(struct krdma_qp *qp);
void krdma_qp_close(struct krdma_qp *qp);
bool krdma_qp_end(struct krdma_qp *qp);
void krdma_qp_free(struct krdma_qp *qp);

/* Fills in the members of @info that describe the queues.  Any context. */
void krdma_qp_query(struct krdma_qp *qp, struct krdma_conn_info *info);

#endif /* _KRDMA_QP_H */
