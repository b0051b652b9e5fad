// SPDX-License-Identifier: GPL-2.0
/*
 * What counts against the rdma controller of control groups.
 *
 * ib_core charges for programs that come through its own character devices, and
 * for nobody else: what is made for kernel callers is theirs to charge.  So krdma
 * does, for whoever calls it: the same kinds with the same meaning.
 */
#include <linux/errno.h>
#include <rdma/ib_verbs.h>

#include "core/cgroup.h"
#include "core/session.h"

#ifdef CONFIG_CGROUP_RDMA
/**
 * krdma_cgroup_charge - something is about to be made
 * @charge: of what, not charged
 * @session: whose it is to be, which is told of a refusal; NULL: nobody is
 * @ibdev: on which device; the caller keeps it until the charge is undone
 * @kind: handle or object
 *
 * Charged is the group of the calling process; of a thread of the kernel, the root,
 * which has no limits.
 *
 * Context: process context; may sleep.
 * Return: 0; -EDQUOT: the group has as many as it may; -ENOMEM.
 */
int krdma_cgroup_charge(struct krdma_charge *charge, struct krdma_session *session,
			struct ib_device *ibdev, enum rdmacg_resource_type kind)
{
	int ret;

	ret = rdmacg_try_charge(&charge->group, &ibdev->cg_device, kind);
	if (ret != -EAGAIN)
		return ret;
	if (session)
		krdma_session_refused(session);
	/* EAGAIN has other meanings for most who ask, and waiting would not help. */
	return -EDQUOT;
}

/**
 * krdma_cgroup_uncharge - it is gone, or was not made
 * @charge: as charged; nothing happens if it is not
 * @ibdev: likewise
 * @kind: likewise
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
