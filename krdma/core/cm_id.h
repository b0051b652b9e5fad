/* SPDX-License-Identifier: GPL-2.0 */
/* Destruction of the connection manager's cm_ids. */
#ifndef _KRDMA_CM_ID_H
#define _KRDMA_CM_ID_H

#include <rdma/ib_addr.h>
#include <rdma/rdma_cm.h>

/**
 * krdma_cm_id_destroy() - Destroy a cm_id
 * @cm_id: the cm_id; the caller has its last use
 *
 * Waits for its handlers; none runs afterwards.
 *
 * rdma_destroy_id() alone does not wait for the handler that reports the address: once that
 * step is done, it only takes the handler's mutex.  The task that unlocks a mutex may still
 * access it after the next owner has locked and unlocked it, and has freed the structure that
 * contains it.  The work item that called the handler therefore has to finish first.
 *
 * Context: process context, not in a handler; sleeps.
 */
static inline void krdma_cm_id_destroy(struct rdma_cm_id *cm_id)
{
	rdma_addr_cancel(&cm_id->route.addr.dev_addr);
	rdma_destroy_id(cm_id);
}

#endif /* _KRDMA_CM_ID_H */
