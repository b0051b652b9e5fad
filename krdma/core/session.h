/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sessions, and their protection domains.
 */
#ifndef _KRDMA_SESSION_H
#define _KRDMA_SESSION_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/cgroup.h"
#include "core/private.h"

struct ib_pd;
struct krdma_frwr_qp;

/**
 * struct krdma_session - what a consumer's objects belong to
 * @refs: the consumer's, and one for each object in it
 * @net: the network namespace of its creator, which it keeps
 * @reclaim: memory reclaim waits for its connections; set before any of them is made
 * @account_ops: who pays for its queues; NULL: nobody.  Set as @reclaim is.
 * @account: given to these
 * @lock: protects @domains and the making and ending of domains
 * @domains: by the device's number
 */
struct krdma_session {
	refcount_t refs;
	struct net *net;
	bool reclaim;
	const struct krdma_account_ops *account_ops;
	void *account;
	struct mutex lock;		/* see above */
	struct xarray domains;
};

/**
 * struct krdma_pd - a session's protection domain on a device
 * @session: whose
 * @dev: on which device; whoever holds a reference to the domain has a use of the
 *	device, and the domain none of its own
 * @refs: one for each queue pair, shared receive queue and region in it;
 *	protected by @session's lock where it becomes 0
 * @ib: the protection domain
 * @handle_charge: of the session's use of the device
 * @pd_charge: of @pd
 * @frwr_lock: protects @frwr's making and ending, and lets one
 *	registration at a time through it
 * @frwr: registers memory without a connection; made by the first who needs
 *	it, NULL until then
 * @end_users: ends what uses regions that have to go: io/revoke.c
 * @scan: number of its current or last pass; for @end_users alone
 * @lock: protects what follows
 * @connections: &struct krdma_qp that a peer can use
 * @srqs: &struct krdma_srq
 * @retired: regions that are released when there is none left, because the
 *	device goes on using memory of which the key is gone
 */
struct krdma_pd {
	struct krdma_session *session;
	struct krdma_device *dev;
	refcount_t refs;
	struct ib_pd *ib;
	struct krdma_charge handle_charge;
	struct krdma_charge pd_charge;

	struct mutex frwr_lock;	/* see above */
	struct krdma_frwr_qp *frwr;

	struct work_struct end_users;
	u32 scan;

	spinlock_t lock;		/* see above */
	struct list_head connections;
	struct list_head srqs;
	struct list_head retired;
};

void krdma_session_get(struct krdma_session *session);

/* Bytes of queues; process context.  charge: 0 or a negative errno. */
int krdma_session_charge(struct krdma_session *session, u64 bytes);
void krdma_session_uncharge(struct krdma_session *session, u64 bytes);

/* The control group of the caller refuses what the session needs.  Process context. */
void krdma_session_refused(struct krdma_session *session);

/**
 * struct krdma_charged_port - a port of the connection manager's that counts
 * @session: which session it counts for; a reference is held.  NULL: none is charged.
 *
 * Beside the id that holds the port: zeroed with it, charged before the id can get the port,
 * and uncharged when the id has been destroyed.
 */
struct krdma_charged_port {
	struct krdma_session *session;
};

/* charge: 0 or a negative errno.  uncharge: nothing, if it is not charged.  Process context. */
int krdma_port_charge(struct krdma_charged_port *charge, struct krdma_session *session);
void krdma_port_uncharge(struct krdma_charged_port *charge);

/* The caller has a use of @dev.  Process context; may sleep. */
struct krdma_pd *krdma_pd_get(struct krdma_session *session, struct krdma_device *dev);
void krdma_pd_put(struct krdma_pd *pd);

#endif /* _KRDMA_SESSION_H */
