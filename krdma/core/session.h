/* SPDX-License-Identifier: GPL-2.0 */
/* Sessions, and their protection domains (PDs). */
#ifndef _KRDMA_SESSION_H
#define _KRDMA_SESSION_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "core/cgroup.h"
#include "core/private.h"
#include "core/resource.h"
#include "core/turn.h"

struct ib_pd;
struct krdma_frwr_qp;
struct krdma_pd_user;
struct mem_cgroup;

/**
 * struct krdma_pd_user_ops - what the end of memory needs of a user of a PD that is no QP
 * @get: take a reference; under the PD's lock
 * @put: drop it; process context
 * @is_condemned: does a work request of the user use an MR with &struct krdma_mr.condemned?
 *	Process context; may sleep
 * @abort: end the user; process context
 */
struct krdma_pd_user_ops {
	void (*get)(struct krdma_pd_user *user);
	void (*put)(struct krdma_pd_user *user);
	bool (*is_condemned)(struct krdma_pd_user *user);
	void (*abort)(struct krdma_pd_user *user);
};

/**
 * struct krdma_pd_user - a user of a PD that is no QP
 * @ops: constant
 * @node: entry of &struct krdma_pd.users, protected by the PD's lock
 * @scan: number of the last pass of &struct krdma_pd.end_users that has visited it; 0: none
 */
struct krdma_pd_user {
	const struct krdma_pd_user_ops *ops;
	struct list_head node;
	u32 scan;
};

/**
 * struct krdma_session - the session that a consumer's objects belong to
 * @refs: the consumer's reference, and one for each object in the session
 * @net: the network namespace of the creator; the session keeps it
 * @memcg: memory control group of the creator
 * @reclaim: memory reclaim waits for its connections; set before any of them is created
 * @prepares: its consumer calls krdma_conn_prepare_post() when a post returns -ENOMEM, so queues
 *	may take no memory before the first post; set before any of its connections is created
 * @account_ops: callbacks of the account for its queues; NULL: no account.  Set before any
 *	object is created.
 * @account: argument of @account_ops
 * @lock: protects @keeps_pds, @pds and the creation and destruction of PDs
 * @keeps_pds: its PDs stay without objects: krdma_session_keep_pds()
 * @pds: the session's PDs, &struct krdma_pd, by device number
 * @turns: those that its connections and device parts need to end; never changes when there are
 *	objects
 * @own_turns: @turns of a session that shares them with no other
 * @turn_lists: what waits for a turn in the session, by &enum krdma_turn_kind
 */
struct krdma_session {
	refcount_t refs;
	struct net *net;
	struct mem_cgroup *memcg;
	bool reclaim;
	bool prepares;
	const struct krdma_account_ops *account_ops;
	void *account;
	struct mutex lock;		/* see above */
	bool keeps_pds;
	struct xarray pds;
	struct krdma_turns *turns;
	struct krdma_turns own_turns;
	struct krdma_turn_list turn_lists[KRDMA_TURN_KINDS];
};

/*
 * Bits of &struct krdma_pd.flags: krdma_pd_keep() or krdma_pd_unkeep() was called; the session has
 * a reference to the PD, which is put by the function that clears the bit; the PD has a use of the
 * device and a reference to the session.
 */
enum {
	KRDMA_PD_TRIED,
	KRDMA_PD_KEPT,
	KRDMA_PD_USES,
	KRDMA_PD_STUCK,
};

/**
 * struct krdma_pd - a session's protection domain on a device
 * @session: the session
 * @dev: the device; the holder of a reference to the PD has a use of the device, and a PD that its
 *	session keeps has one of its own
 * @refs: one for each queue pair, SRQ and MR in the PD, and one of a session that keeps it;
 *	protected by @session's lock where it becomes 0
 * @flags: KRDMA_PD_*
 * @use: the PD's use of the device, see KRDMA_PD_USES
 * @unkeep: puts the session's reference
 * @ib: ib_core's PD
 * @handle_charge: charge for the session's use of the device
 * @pd_charge: charge for @ib
 * @frwr_lock: protects the creation and destruction of @frwr, and lets one registration at a
 *	time through it
 * @frwr: registers memory without a connection; created on first use, NULL until then
 * @connect_lock: held for writing while a queue pair is added to @qps, and for reading
 *	while memory is freed because there is none
 * @end_users: ends the objects that use revoked MRs: &struct krdma_pd_ops
 * @scan: number of its current or last pass; used by @end_users only
 * @reach_lock: protects @reaches, @names and the views of the MRs
 * @reaches: rkeys that peers of lanes can use (mr/reach.c)
 * @names: names by which peers of lanes find MRs (mr/name.c)
 * @lock: protects the fields below
 * @qps: &struct krdma_qp that a peer can use
 * @srqs: &struct krdma_srq
 * @users: &struct krdma_pd_user
 * @retired: memory that is released when @qps is empty, because the device continues to
 *	use it after its rkey was invalidated
 */
struct krdma_pd {
	struct krdma_session *session;
	struct krdma_device *dev;
	refcount_t refs;
	unsigned long flags;
	struct krdma_use use;
	struct work_struct unkeep;
	struct ib_pd *ib;
	struct krdma_charge handle_charge;
	struct krdma_charge pd_charge;

	struct mutex frwr_lock;	/* see above */
	struct krdma_frwr_qp *frwr;

	struct rw_semaphore connect_lock;	/* see above */

	struct work_struct end_users;
	u32 scan;

	spinlock_t reach_lock;		/* see above */
	struct rb_root reaches;
	struct rb_root names;

	spinlock_t lock;		/* see above */
	struct list_head qps;
	struct list_head srqs;
	struct list_head users;
	struct list_head retired;
};

/**
 * struct krdma_pd_ops - what a PD needs of the rooms above
 * @end_users: work function of &struct krdma_pd.end_users
 * @destroy: the PD has no other users: destroy its @frwr, if there is one; may sleep
 */
struct krdma_pd_ops {
	work_func_t end_users;
	void (*destroy)(struct krdma_pd *pd);
};

/* Called once, before there is a session. */
void krdma_pd_set_ops(const struct krdma_pd_ops *ops);

void krdma_session_get(struct krdma_session *session);

/* Before any object is created; the turns stay as long as the session. */
static inline void krdma_session_set_turns(struct krdma_session *session,
					   struct krdma_turns *turns)
{
	session->turns = turns;
}

void krdma_session_keep_pds(struct krdma_session *session);
/* Process context; may sleep. */
void krdma_session_drop_pds(struct krdma_session *session);

/* Charge the bytes of queues; process context.  charge: 0 or a negative errno. */
int krdma_session_charge(struct krdma_session *session, u64 bytes);
void krdma_session_uncharge(struct krdma_session *session, u64 bytes);

/* Charge a trunk that a lane needs; process context.  charge: 0 or a negative errno. */
int krdma_session_charge_trunk(struct krdma_session *session);
void krdma_session_uncharge_trunk(struct krdma_session *session);

/* The control group of the caller refuses a charge for the session.  Process context. */
void krdma_session_refused(struct krdma_session *session);

/**
 * struct krdma_charged_port - charge for a port of the connection manager
 * @session: the charged session; a reference is held.  NULL: none is charged.
 *
 * Embedded next to the cm_id that holds the port: zeroed with it, charged before the cm_id can
 * get the port, and uncharged after the cm_id was destroyed.
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

/* The caller has a reference to the PD, and an object in it.  Process context; may sleep. */
void krdma_pd_keep(struct krdma_pd *pd);
void krdma_pd_unkeep(struct krdma_pd *pd);

/* The user has a reference to the PD from add to remove.  Process context. */
void krdma_pd_add_user(struct krdma_pd *pd, struct krdma_pd_user *user);
void krdma_pd_remove_user(struct krdma_pd *pd, struct krdma_pd_user *user);

#endif /* _KRDMA_SESSION_H */
