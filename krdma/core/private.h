/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the core's files share.  The front (user/) does not include this: it
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
 *	  krdma_notifier_mutex
 *	  krdma_device.gate
 *	    krdma_devices.xa_lock
 *	    krdma_device.name_lock
 *
 *	      rtnl (by the provider, who is asked for a port's state)
 *
 *	krdma_mr_cache.lock
 *	  krdma_conn.cm_lock, krdma_listener.cm_lock
 *	    rdma_cm's handler mutex (of the id)
 *	    krdma_session.lock
 *	    krdma_qp_list_mutex
 *	      krdma_device.name_lock
 *	    krdma_pd.frwr_lock
 *	      rdma_cm's handler mutex (of the ids of an iWARP device's connection with itself)
 *	    mmap_lock (of the process whose memory is pinned)
 *	    the mutex of the rdma controller of control groups
 *
 *	krdma_cq.ready_lock
 *	  a consumer's ready(), and what it calls
 *
 *	krdma_cq.poll_mutex, or krdma_cq.poll_lock
 *	  a consumer's callback, and what it calls
 *	  krdma_device.uses_lock
 *	    krdma_listener.lock, krdma_conn.state_lock
 *	      a consumer's notify(), and what it calls: krdma_user_conn.lock
 *	      krdma_ring.lock, krdma_srq.lock
 *	        krdma_wr_scratch.lock
 *	          the provider's locks for posting
 *	krdma_pd.lock
 *	  krdma_conn.state_lock, krdma_ring.lock, krdma_srq.lock
 *	krdma_notifier_lock, krdma_frmr.lock, krdma_frmr_pool.lock, krdma_cq.reserve_lock
 *	  nothing of krdma's
 *
 * The second group sleeps, those after it do not, but for poll_mutex.  What is on
 * one line is never held together.
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
 *	enter, leave:	krdma_device_get_ibdev(), krdma_device_put_ibdev(), in any
 *			context, in one and the same context; the holder may
 *			sleep.  Entering never waits: it fails once the device
 *			is on its way out.
 *	closed by:	krdma_device_remove(), process context, which waits until
 *			everybody has left.  So a stay is as short as the one
 *			call that needs the device.
 *
 * krdma_qp.mappings
 *	kind:		a count; its end is waited for
 *	protects:	the device and the domain, for those who have pages mapped for
 *			an operation
 *	enter, leave:	krdma_conn_map_sg(), with the post lock of the sends, where a
 *			closed queue pair is seen; krdma_conn_unmap_sg().  Whoever has
 *			entered posts without sleeping, and leaves when that completes
 *			or was refused.
 *	closed by:	the end of the queue pair, in process context
 *
 * krdma_device.uses_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the list of uses, and whether the device is going
 *	taken in:	any context.  Held while users are told that the device
 *			goes: what they do then must not sleep, and must not end
 *			a use.
 *
 *	A use keeps the RDMA device for longer than a call, and the removal waits
 *	until the last one has ended.  So whoever has one ends it when it is told
 *	to, on krdma_workqueue or krdma_reclaim_workqueue, and without waiting for
 *	a consumer.
 *
 * krdma_session.lock
 *	kind:		mutex
 *	protects:	the session's protection domains: their making and ending
 *	taken in:	process context
 *
 * krdma_conn.cm_lock, krdma_listener.cm_lock
 *	kind:		mutex
 *	protects:	the connection manager's id, and what belongs to it, against
 *			its end.  Calls that use the id hold it; the end takes the
 *			id away under it and destroys it afterwards.  A handler uses
 *			its id without: destroying waits for handlers.
 *	taken in:	process context, and never in a handler of the connection
 *			manager: rdma_accept() and others hold the handlers' mutex
 *			inside.  Some iWARP providers connect their socket in
 *			rdma_connect(): it may be held for that long.
 *
 * krdma_conn.state_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the state, the events that nobody has taken, and what is
 *			known of the peer
 *	taken in:	any context: handlers of the connection manager, completions,
 *			the device's events, removal (inside uses_lock)
 *
 * krdma_listener.lock
 *	kind:		spinlock, interrupts off
 *	protects:	the requests that wait, and whether the listener is at its end
 *	taken in:	any context
 *
 * krdma_cq.poll_mutex, krdma_cq.poll_lock: the poll lock
 *	kind:		mutex where completions are told in process context;
 *			spinlock otherwise, with interrupts off where a consumer polls
 *	protects:	the taking of completions: the device's queue, the heads of
 *			the rings that complete there, and the credits given back
 *	taken in:	the context of the queue; process context by the end of a queue
 *			pair.  The consumer is called with it held: so it must not
 *			close a connection there, which waits for it.
 *
 * krdma_cq.ready_lock
 *	kind:		spinlock, softirqs off
 *	protects:	the consumer's ready(): one call at a time, and none after
 *			krdma_cq_put() has taken it away
 *	taken in:	softirq, with no other lock of krdma's; process context by
 *			krdma_cq_put() and the end of the device's queue.  ready()
 *			is called with it held, and polls and arms inside.
 *
 * krdma_cq.reserve_lock
 *	kind:		spinlock
 *	protects:	how much of the queue is spoken for
 *	taken in:	process context
 *
 * krdma_ring.lock, krdma_srq.lock: the post lock
 *	kind:		spinlock, interrupts off
 *	protects:	the tail of a ring, and the chain of requests that is being
 *			made; whether anything may be posted; the queue pairs of a
 *			shared receive queue
 *	taken in:	any context, also in a consumer's callback.  The provider is
 *			given the requests with it held, so that they are in the
 *			order of their slots.
 *
 * krdma_wr_scratch.lock
 *	kind:		local_lock, inside a post lock
 *	protects:	the processor's place where requests are made
 *	taken in:	any context; with interrupts off already, but where spinlocks
 *			sleep
 *
 * krdma_pd.frwr_lock
 *	kind:		mutex
 *	protects:	krdma_pd.frwr, its making and its end, and lets one work request
 *			at a time through it.  Held while the queue pair is connected and
 *			while the device executes a work request: up to 6 s if it does not
 *			answer, and on iWARP up to 5 s for each step of the connection.
 *	taken in:	process context, by krdma_frwr_*(), outside rdma_cm's locks.  Who
 *			registers can be killed while waiting for it, or inside.  Never in a
 *			handler of the connection manager: the handler in mr/frwr_cm.c writes
 *			"passive" and "broken" without it, and those are read after the step
 *			that the handler completes, or after the ids are destroyed.
 *
 * krdma_pd.lock
 *	kind:		spinlock
 *	protects:	krdma_pd.connections, .srqs and .retired: whether memory that
 *			a device lingers in can go, or has to wait, and who may be using
 *			memory.  A connection that is in the list is there.
 *	taken in:	process context.  Nothing is taken inside it: a pass over a list
 *			lets it go between one entry and the next.
 *
 * krdma_mr_cache.lock
 *	kind:		mutex
 *	protects:	the cache's table, its list of idle entries, and the entries
 *	taken in:	process context, by the consumer.  Held while regions are
 *			mapped and released: everything that they take is inside.
 *
 * krdma_frmr.lock
 *	kind:		spinlock, interrupts off
 *	protects:	krdma_frmr.mr, krdma_frmr.busy and what is mapped: the consumer maps
 *			and puts while the queue pair may be ending
 *	taken in:	any context; dma_unmap_sg inside.  Not held while the device maps,
 *			which may sleep: krdma_frmr.busy keeps krdma_frmr.mr so long, and the
 *			end of the queue pair waits for it.
 *
 * krdma_frmr_pool.lock
 *	kind:		spinlock, interrupts off
 *	protects:	krdma_frmr_pool.idle and .ended, and krdma_frmr.node; not .failed, which
 *			is only ever set
 *	taken in:	any context.  Nothing is called under it.
 *
 * krdma_notifier_mutex
 *	kind:		mutex
 *	protects:	the lists of watched devices and of watches, the number of
 *			a watched device, and the making of pairs of both.  An RDMA
 *			device that is in the list is there.
 *	taken in:	process context, by ib_core's "add" and "remove" and by
 *			those who start and stop watches.  Memory is allocated
 *			under it, and nothing else is waited for: no callback of a
 *			consumer.
 *
 * krdma_notifier_lock
 *	kind:		spinlock, interrupts off
 *	protects:	what is between a watch and a device: its membership in both
 *			lists, and what is pending
 *	taken in:	any context: ib_core, or a provider, tells of events
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
 * krdma_qp_list_mutex
 *	kind:		mutex
 *	protects:	the list of all queue pairs
 *	taken in:	process context, also where memory reclaim waits: nothing is
 *			allocated under it.  Inside it, krdma_device.name_lock.
 *
 * krdma_ports.lock
 *	kind:		spinlock, interrupts off
 *	protects:	what is kept of a device's ports
 *	taken in:	any context, by events of ports.  Nothing is called under it.
 *
 * krdma_vectors.lock
 *	kind:		spinlock
 *	protects:	how many completion queues each vector has
 *	taken in:	process context.  Nothing is called under it.
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
 * Works
 *
 *	krdma_workqueue		ends connections, listeners and parts of devices,
 *				tells watches, asks silent peers whether they are
 *				there; unbound, so one that waits holds up no other
 *	krdma_reclaim_workqueue	the same for the connections, their own completion
 *				queues and the regions of sessions that memory
 *				reclaim waits for.  Its rescuer runs one work item at a
 *				time: none waits for a lock whose holder allocates
 *				memory without NOIO, or for krdma_workqueue.
 *	krdma_event_workqueue	tells consumers of events, who may sleep there: nothing
 *				that a removal waits for is queued here.  Works of the
 *				others queue to it, so it ends last.
 *	krdma_cq_workqueue
 *				takes and tells completions in process context
 *
 * Counts
 *
 * krdma_device.refs keeps the object, and nothing else: it says nothing about
 * the RDMA device being there.  The table holds one from add to remove, each
 * lookup gives one to its caller.  Given back in any context but NMI.
 *
 * krdma_conn.refs and krdma_listener.refs keep the object alone.  One is the RDMA
 * part's, from its making (a search, a request, or the end of a new one) until the
 * consumer has been told of its end.  Each work that is queued has one.  A
 * connection that came in at a listener keeps that listener to the end of the RDMA
 * part.
 *
 * krdma_mr.refs keeps the object: the consumer's, from map to release or
 * drop, and the part's, to krdma_resource.forget().  It is freed after RCU's grace
 * period, for those who post with what they have found under rcu_read_lock().
 * krdma_mr.uses counts operations in flight; krdma_mr_deregister() makes it
 * negative if it is 0, in one step, and refuses otherwise.  Each use also has a
 * reference to the part (krdma_mr.res), which keeps memory and domain; "uses"
 * is given back first, so that whoever finds it 0 may wait for the part.
 * krdma_frmr_pool.refs keeps a connection's registrations: the queue pair's, and one
 * for each that the consumer has.
 *
 * Retired memory (struct krdma_mem in krdma_pd.retired) refers to the domain
 * without a reference: the connections that it waits for keep it, and
 * krdma_pd_disconnected() is called before a queue pair puts its domain.
 */
#ifndef _KRDMA_PRIVATE_H
#define _KRDMA_PRIVATE_H

#include <linux/jiffies.h>
#include <linux/sched.h>

#include <krdma/krdma.h>

struct ib_device;

int krdma_devices_init(void);
void krdma_devices_exit(void);

struct ib_device *krdma_device_get_ibdev(struct krdma_device *dev);
void krdma_device_put_ibdev(struct krdma_device *dev);
void krdma_device_get(struct krdma_device *dev);
struct krdma_device *krdma_device_of(const struct ib_device *ibdev);
void krdma_device_copy_name(struct krdma_device *dev, char *name);
u32 krdma_device_id(const struct krdma_device *dev);
int krdma_provider_error(int error);

/* What the kernel's waits take for a timeout_ms of <krdma/krdma.h>. */
static inline long krdma_timeout_jiffies(u32 timeout_ms)
{
	return timeout_ms == KRDMA_FOREVER_MS ? MAX_SCHEDULE_TIMEOUT :
						msecs_to_jiffies(timeout_ms);
}

#endif /* _KRDMA_PRIVATE_H */
