/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the core's files share.  The front (user_*.c) does not include this: it
 * works with <krdma/krdma.h>, like any other consumer.
 *
 *
 * Locks and contexts
 *
 * This comment is the authority.  A lock or a gate that is not here does not
 * exist, and a new one comes with its card.
 *
 * Order, outermost first:
 *
 *	ib_core's own locks (held around the calls of struct ib_client)
 *	  krdma_device.gate
 *	    krdma_devices.xa_lock
 *	    krdma_device.name_lock
 *
 *	      rtnl (by the provider, who is asked for a port's state)
 *
 * ib_core's locks
 *	Add and rename are called with devices_rwsem and client_data_rwsem held
 *	for reading, remove with no lock for writing, but with the device's (or
 *	the client's) unregistration waiting for it.  So: whoever holds a gate
 *	must not register or unregister clients or devices, nor wait for
 *	anybody who does.
 *
 * krdma_device.gate
 *	kind:		percpu_ref, shown to lockdep as a reader/writer lock
 *	protects:	krdma_device.ibdev: the pointer, the device and the
 *			provider's module behind it
 *	enter, leave:	krdma_device_enter(), krdma_device_leave(), in any
 *			context, in one and the same context; the holder may
 *			sleep.  Entering never waits: it fails once the device
 *			is on its way out.
 *	closed by:	krdma_device_remove(), process context, which waits until
 *			everybody has left.  So a stay is as short as the one
 *			call that needs the device.
 *
 * krdma_devices.xa_lock
 *	kind:		spinlock, inside the xarray
 *	protects:	the table and krdma_devices_next_id against other writers.
 *			Readers go under RCU: a device that is found in the table
 *			is there until rcu_read_unlock(), and the table's own
 *			reference to it until the gate is left, if it could be
 *			entered.
 *	taken in:	process context
 *
 * krdma_device.name_lock
 *	kind:		spinlock
 *	protects:	krdma_device.name
 *	taken in:	process context, also under RCU
 *
 * rtnl
 *	kind:		mutex, the network stack's
 *	protects:	an interface's name and its namespace while they are copied
 *	taken in:	process context, by krdma_device_query_port(), outside the
 *			gate; by providers, inside
 *
 * Counts
 *
 * krdma_device.refs keeps the object, and nothing else: it says nothing about
 * the RDMA device being there.  The table holds one from add to remove, each
 * lookup gives one to its caller.  Given back in any context but NMI.
 */
#ifndef _KRDMA_PRIVATE_H
#define _KRDMA_PRIVATE_H

#include <krdma/krdma.h>

struct ib_device;

int krdma_devices_init(void);
void krdma_devices_exit(void);

struct ib_device *krdma_device_enter(struct krdma_device *dev);
void krdma_device_leave(struct krdma_device *dev);

#endif /* _KRDMA_PRIVATE_H */
