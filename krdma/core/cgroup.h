/* SPDX-License-Identifier: GPL-2.0 */
/* Charges for the rdma controller of control groups. */
#ifndef _KRDMA_CGROUP_H
#define _KRDMA_CGROUP_H

#include <linux/cgroup_rdma.h>

struct ib_device;
struct krdma_session;

/**
 * struct krdma_charge - a charge to a control group
 * @group: the charged group; NULL if none is charged
 *
 * Embedded in the charged object: zeroed with it, charged before the object is created, and
 * uncharged when it is gone.
 */
struct krdma_charge {
	struct rdma_cgroup *group;
};

#ifdef CONFIG_CGROUP_RDMA
int krdma_cgroup_charge(struct krdma_charge *charge, struct krdma_session *session,
			struct ib_device *ibdev, enum rdmacg_resource_type kind);
void krdma_cgroup_uncharge(struct krdma_charge *charge, struct ib_device *ibdev,
			   enum rdmacg_resource_type kind);
#else
static inline int krdma_cgroup_charge(struct krdma_charge *charge, struct krdma_session *session,
				      struct ib_device *ibdev, enum rdmacg_resource_type kind)
{
	return 0;
}

static inline void krdma_cgroup_uncharge(struct krdma_charge *charge, struct ib_device *ibdev,
					 enum rdmacg_resource_type kind)
{
}
#endif

/* A queue pair, completion queue, MR, protection domain and so on: hca_object. */
static inline int krdma_charge_object(struct krdma_charge *charge, struct krdma_session *session,
				      struct ib_device *ibdev)
{
	return krdma_cgroup_charge(charge, session, ibdev, RDMACG_RESOURCE_HCA_OBJECT);
}

static inline void krdma_uncharge_object(struct krdma_charge *charge, struct ib_device *ibdev)
{
	krdma_cgroup_uncharge(charge, ibdev, RDMACG_RESOURCE_HCA_OBJECT);
}

/* The use of a device by a session: hca_handle. */
static inline int krdma_charge_handle(struct krdma_charge *charge, struct krdma_session *session,
				      struct ib_device *ibdev)
{
	return krdma_cgroup_charge(charge, session, ibdev, RDMACG_RESOURCE_HCA_HANDLE);
}

static inline void krdma_uncharge_handle(struct krdma_charge *charge, struct ib_device *ibdev)
{
	krdma_cgroup_uncharge(charge, ibdev, RDMACG_RESOURCE_HCA_HANDLE);
}

#endif /* _KRDMA_CGROUP_H */
