// SPDX-License-Identifier: GPL-2.0
/*
 * Charges for the rdma controller of control groups.
 *
 * ib_core charges only for programs that use its own character devices and leaves the charges
 * for kernel callers to them.  krdma therefore charges for its callers: the same resources with
 * the same meaning.
 */
#include <linux/errno.h>
#include <rdma/ib_verbs.h>

#include "core/cgroup.h"
#include "core/session.h"

#ifdef CONFIG_CGROUP_RDMA
/**
 * krdma_cgroup_charge() - Charge a handle or object before it is created
 * @charge: the charge to fill in, not charged yet
 * @session: the session of the object, which is notified of a refusal; NULL: none
 * @ibdev: the device; the caller keeps it until the charge is undone
 * @kind: handle or object
 *
 * The function charges the group of the calling process.  For a kernel thread that is the root
 * group, which has no limits.  A session that memory reclaim waits for is not charged: the
 * controller has one mutex for all groups, and may wait for memory while it holds it.
 *
 * Context: process context; may sleep.
 * Return: 0; -EDQUOT: the group has reached its limit; -ENOMEM.
 */
int krdma_cgroup_charge(struct krdma_charge *charge, struct krdma_session *session,
			struct ib_device *ibdev, enum rdmacg_resource_type kind)
{
	int ret;

	if (session && session->reclaim)
		return 0;
	ret = rdmacg_try_charge(&charge->group, &ibdev->cg_device, kind);
	if (ret != -EAGAIN)
		return ret;
	if (session)
		krdma_session_refused(session);
	/* Most callers give EAGAIN another meaning, and a retry would not help. */
	return -EDQUOT;
}

/**
 * krdma_cgroup_uncharge() - Undo a charge after the object is gone or was not created
 * @charge: the charge; nothing happens if it is not charged
 * @ibdev: the device of the charge
 * @kind: the kind of the charge
 *
 * Context: process context; may sleep.
 */
void krdma_cgroup_uncharge(struct krdma_charge *charge, struct ib_device *ibdev,
			   enum rdmacg_resource_type kind)
{
	if (charge->group)
		rdmacg_uncharge(charge->group, &ibdev->cg_device, kind);
	charge->group = NULL;
}
#endif
