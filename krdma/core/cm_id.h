/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of the connection manager that concern all of its cm_ids, or all of their handlers. */
#ifndef _KRDMA_CM_ID_H
#define _KRDMA_CM_ID_H

#include <linux/sched/mm.h>
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

/*
 * The connection manager has one mutex for the ports and listeners of all, and allocates memory
 * with it.  Memory reclaim may wait for a connection of krdma_blk, whose cm_id is being bound or
 * destroyed, and so for that mutex.  So no caller waits for reclaim while it has it.
 */

/**
 * krdma_cm_id_bind() - Bind a cm_id to an address
 * @cm_id: the cm_id
 * @address: the address
 *
 * Context: process context; may sleep.
 * Return: as rdma_bind_addr().
 */
static inline int krdma_cm_id_bind(struct rdma_cm_id *cm_id, struct sockaddr *address)
{
	unsigned int noio = memalloc_noio_save();
	int ret = rdma_bind_addr(cm_id, address);

	memalloc_noio_restore(noio);
	return ret;
}

/**
 * krdma_cm_id_listen() - Listen with a cm_id
 * @cm_id: the cm_id, bound
 * @backlog: requests that may wait
 *
 * Context: process context; may sleep.
 * Return: as rdma_listen().
 */
static inline int krdma_cm_id_listen(struct rdma_cm_id *cm_id, int backlog)
{
	unsigned int noio = memalloc_noio_save();
	int ret = rdma_listen(cm_id, backlog);

	memalloc_noio_restore(noio);
	return ret;
}

/**
 * krdma_cm_id_resolve() - Have a cm_id resolve an address
 * @cm_id: the cm_id
 * @from: the local address, or NULL
 * @to: the address
 * @timeout_ms: how long that may take
 *
 * Context: process context; may sleep.
 * Return: as rdma_resolve_addr().
 */
static inline int krdma_cm_id_resolve(struct rdma_cm_id *cm_id, struct sockaddr *from,
				      const struct sockaddr *to, unsigned long timeout_ms)
{
	unsigned int noio = memalloc_noio_save();
	int ret = rdma_resolve_addr(cm_id, from, to, timeout_ms);

	memalloc_noio_restore(noio);
	return ret;
}

#endif /* _KRDMA_CM_ID_H */
