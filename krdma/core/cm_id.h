/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of the connection manager's ids.
 */
#ifndef _KRDMA_CM_ID_H
#define _KRDMA_CM_ID_H

#include <rdma/ib_addr.h>
#include <rdma/rdma_cm.h>

/**
 * krdma_cm_id_destroy - the end of an id
 * @cm_id: the id; nobody else uses it any more
 *
 * Waits for its handlers, and nothing comes from there afterwards.
 *
 * rdma_destroy_id() alone does not wait for the one that tells of the address: past
 * that step, it waits for its mutex only.  Who unlocks a mutex may still look at it
 * when the next one has locked and unlocked it, and freed what it is in.  So the work
 * that called the handler has to be over first.
 *
 * Context: process context, not in a handler; sleeps.
 */
static inline void krdma_cm_id_destroy(struct rdma_cm_id *cm_id)
{
	rdma_addr_cancel(&cm_id->route.addr.dev_addr);
	rdma_destroy_id(cm_id);
}

#endif /* _KRDMA_CM_ID_H */
