/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations shared by the files of the core.  The user interface (user/) does not
 * include this file: it uses <krdma/krdma.h>, like any other consumer.
 *
 *
 * Locks and contexts
 *
 * This comment is the authority.  A lock or a gate that is not listed here does not
 * exist.  A new one comes with its entry.
 *
 * Order, outermost first:
 *
 *	ib_core's own locks (held around the calls of struct ib_client)
 *	  krdma_notifier_mutex
 *	  krdma_device.gate
 *	    krdma_devices.xa_lock
 *	    krdma_device.name_lock
 *
 *	      rtnl (taken by the provider when it is asked for a port's state)
 *
 *	krdma_conn.end_lock
 *	  what the end of a lane's connection takes: krdma_conn.cm_lock, krdma_trunk.offer_lock,
 *	  krdma_trunk.lock, krdma_cq.ready_lock, and what is inside these
 *
 *	krdma_conn.cm_lock, krdma_listener.cm_lock
 *	  krdma_trunks_mutex (of a lane's connection)
 *	  rdma_cm's handler mutex (of the cm_id)
 *	  krdma_session.lock
 *	    krdma_device.uses_lock
 *	  krdma_qp_list_mutex
 *	    krdma_device.name_lock
 *	  krdma_pd.frwr_lock
 *	    rdma_cm's handler mutex (of the cm_ids of an iWARP device's connection with itself)
 *	  krdma_pd.connect_lock
 *	    krdma_pd.lock
 *	  mmap_lock (of the process whose memory is pinned)
 *	  the mutex of the rdma controller of control groups
 *
 *	krdma_lane_port_mutex
 *	  krdma_listener.cm_lock (of the listeners at the port of trunks)
 *	  krdma_trunks_mutex
 *	    krdma_trunk.lock
 *
 *	krdma_trunk.offer_lock
 *	  krdma_device.uses_lock
 *	    krdma_listener.lock, krdma_conn.state_lock
 *
 *	krdma_conn.cm_lock (of a lane), krdma_cq.poll_lock (of a link)
 *	  krdma_trunk.lock
 *	    krdma_cq.poll_lock (of a lane)
 *	    krdma_conn.state_lock
 *	      krdma_lane.lock
 *	    krdma_wq.lock (of a link)
 *	    krdma_lane_listeners_lock
 *	    krdma_trunk.ready_lock
 *	    krdma_pd.reach_lock
 *	    krdma_turns_lock
 *
 *	krdma_cq.poll_lock (of a lane)
 *	  krdma_trunk.lock, which a consumer's callback only tries to take
 *
 *	krdma_cq.ready_lock
 *	  a consumer's ready(), and what it calls
 *
 *	krdma_cq.poll_mutex, or krdma_cq.poll_lock
 *	  a consumer's callback, and what it calls
 *	  krdma_device.uses_lock
 *	    krdma_pd.reach_lock (of an MR with windows)
 *	    krdma_listener.lock, krdma_conn.state_lock
 *	      a consumer's notify(), and what it calls: krdma_user_conn.lock
 *	      krdma_lane.lock, krdma_trunk.ready_lock
 *	      krdma_wq.lock, krdma_srq.lock
 *	        krdma_lane.lock (of a lane that takes receives of the SRQ)
 *	        krdma_wr_scratch.lock
 *	          the provider's locks for posting
 *	            krdma_turns_lock
 *	  krdma_cq.reserve_lock
 *	krdma_pd.lock, krdma_notifier_lock
 *	  nothing of krdma's
 *
 * The entry of each lock says by its kind whether it sleeps.  Locks listed together in one entry
 * are never held together.
 *
 * ib_core's locks
 *	Add and rename are called with devices_rwsem and client_data_rwsem held
 *	for reading.  Remove is called with no lock held for writing, but the
 *	unregistration of the device (or of the client) waits for it.  The holder of
 *	a gate must therefore not register or unregister clients or devices, nor
 *	wait for a task that does.
 *
 * krdma_device.gate
 *	kind:		percpu_ref, shown to lockdep as a reader/writer lock
 *	protects:	krdma_device.ibdev: the pointer, the device and the
 *			provider's module behind it
 *	enter, leave:	krdma_device_get_ibdev(), krdma_device_put_ibdev(), in any
 *			context, both in the same context; the holder may sleep.
 *			Entering never waits: it fails once the device is being
 *			removed.
 *	closed by:	krdma_device_remove(), in process context, which waits until
 *			every holder has left.  Hold the gate only for the one call
 *			that needs the device.
 *
 * krdma_qp.mappings
 *	kind:		a count; the end of the queue pair goes on at 0
 *	protects:	the device and the PD, for callers that have pages mapped for
 *			a work request
 *	enter, leave:	krdma_conn_map_sg(), under the post lock of the send queue,
 *			where it detects a closed queue pair; krdma_conn_unmap_sg().
 *			After it has entered, the caller posts without sleeping, and
 *			leaves when the work request completes or was refused.
 *	closed by:	the end of the queue pair, in process context, which does not wait:
 *			the last caller that leaves has it continued
 *
 * krdma_device.uses_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the list of uses, and whether the device is being removed
 *	taken in:	any context.  Held while users are notified of the removal:
 *			their callback must not sleep, and must not end a use.
 *
 *	A use keeps the RDMA device for longer than a call, and the removal waits
 *	until the last use has ended.  A user therefore ends its use when it is
 *	notified, on a workqueue of those below that end objects, and without waiting
 *	for a consumer.
 *	No call of krdma's waits for a program while it has a use, or is in the gate: the
 *	pages of a process, which a program may have to provide first, are brought in
 *	before.  A driver that pins them itself can wait, see mr/mem_user.c.
 *
 * krdma_session.lock
 *	kind:		mutex
 *	protects:	creation and destruction of the session's PDs, and whether it
 *			keeps them
 *	taken in:	process context
 *
 * krdma_conn.cm_lock, krdma_listener.cm_lock
 *	kind:		mutex
 *	protects:	the cm_id, and what belongs to it, against its destruction.
 *			Calls that use the cm_id hold the lock.  The teardown takes
 *			the cm_id from them under it, see krdma_conn_cm_id(), and
 *			destroys the cm_id afterwards.  A handler uses its cm_id
 *			without the lock: destruction waits for handlers.
 *	released by:	krdma_conn_unlock(), which continues the end of a connection:
 *			a program can hold the lock for long, in a call that waits
 *			for memory or for a peer, and the connection's work item only
 *			tries to take it
 *	taken in:	process context, and never in a handler of the connection
 *			manager: rdma_accept() and others take the handler mutex
 *			inside.  Some iWARP providers connect their socket in
 *			rdma_connect(): the lock may be held for that long.
 *
 * krdma_conn.end_lock
 *	kind:		mutex
 *	protects:	the end of a connection that has a lower half: the work item and
 *			threads that close it may come at the same time
 *	taken in:	process context, by krdma_conn_close(), and by the connection's
 *			work item, which only tries to take it: a thread that holds it
 *			completes the end.  The consumer gets its last completions and
 *			events with it held.
 *
 * krdma_conn.state_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the state, the events that the consumer has not taken, and what
 *			is known of the peer
 *	taken in:	any context: handlers of the connection manager, completions,
 *			the device's events, removal (inside uses_lock)
 *
 * krdma_turns_lock
 *	kind:		spinlock, interrupts off
 *	protects:	which work items of connections and of device parts wait, in a list
 *			of their session or in the workqueue, and which run: struct
 *			krdma_turns, krdma_session.turn_lists, krdma_resource.turn_item, and
 *			krdma_conn.turn, .turn_item and .turn_session
 *	taken in:	any context, also inside krdma_conn.state_lock, under the locks for
 *			posting, where a use of an MR ends, and under the provider's
 *			locks when a work request is flushed.  Work is queued under it,
 *			and no other lock is taken.
 *
 * krdma_listener.lock
 *	kind:		spinlock, interrupts off
 *	protects:	the connection requests that wait, and whether the listener is
 *			closed
 *	taken in:	any context
 *
 * krdma_cq.poll_mutex, krdma_cq.poll_lock: the poll lock
 *	kind:		mutex if completions are delivered in process context;
 *			otherwise spinlock, with interrupts off if a consumer polls
 *	protects:	polling: the device's CQ, the heads of the send and receive
 *			queues that complete there, the credits returned, and the queue
 *			pairs of an SRQ that are ending
 *	taken in:	the context of the CQ; process context at the end of a queue
 *			pair.  The consumer's callback runs with it held, so it must
 *			not close a connection there: closing waits for this lock.
 *
 * krdma_cq.ready_lock
 *	kind:		spinlock, softirqs off
 *	protects:	the consumer's ready(): one call at a time, and none after
 *			krdma_cq_put() has removed it
 *	taken in:	softirq, with no other lock of krdma's; process context by
 *			krdma_cq_put(), at the end of the device's CQ, when an SRQ
 *			has ended by itself, and when a connection has ended: inside
 *			krdma_conn.end_lock, if it has a lower half.  ready() is
 *			called with it held, and polls and arms inside.
 *
 * krdma_cq.reserve_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the number of reserved CQ entries
 *	taken in:	process context; any context when a completion is taken whose
 *			owner has been detached (inside poll_lock)
 *
 * krdma_wq.lock, krdma_srq.lock: the post lock
 *	kind:		spinlock, interrupts off
 *	protects:	the tail of a send or receive queue, and the list of work
 *			requests that is being built, or the one that a template has;
 *			whether anything may be posted
 *	taken in:	any context, also in a consumer's callback.  The provider gets
 *			the work requests with it held, so that they are in the order
 *			of their WQEs.  That of an SRQ for lanes also protects its pool and
 *			shares, and is held while a lane gets a receive, or gives one back.
 *
 * krdma_wr_scratch.lock
 *	kind:		local_lock, inside a post lock
 *	protects:	the CPU's scratch area in which work requests are built
 *	taken in:	any context; interrupts are off already, except where
 *			spinlocks sleep (PREEMPT_RT)
 *
 * krdma_lane_port_mutex
 *	kind:		mutex
 *	protects:	the list of ports of trunks, and krdma_listener.lane_node against
 *			other changes.  Held while a port is opened and closed, so that a
 *			new one finds the old one closed.
 *	taken in:	process context, by krdma_listen() and krdma_listener_close() of
 *			listeners that take lanes.  The accepting of trunks, which the
 *			closing waits for, does not need it.
 *
 * krdma_lane_listeners_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the table of listeners that take lanes, and changes of the
 *			ports of trunks
 *	taken in:	any context.  Nothing is called under it.
 *
 * krdma_trunks_mutex
 *	kind:		mutex
 *	protects:	the list of trunks, their number, and the hosts without trunks
 *	taken in:	process context, never in a handler of the connection manager
 *
 * krdma_trunk.offer_lock
 *	kind:		mutex
 *	protects:	the connection of a passive lane while it is offered to a
 *			listener: its end waits until that has returned.  Memory is
 *			allocated under it.
 *	taken in:	process context, by the trunk's work item and by the end of a
 *			passive lane
 *
 * krdma_trunk.lock
 *	kind:		spinlock, softirqs off
 *	protects:	a trunk and what its lanes have sent and received: one frame is
 *			written or read at a time.  Messages are copied under it, and
 *			completions delivered to consumers that do not sleep; a consumer
 *			that may sleep is called from a work item.
 *	taken in:	softirq: completions of the link (inside its CQ's poll_lock);
 *			process context: the trunk's work items, the events of the link,
 *			and the calls and the end of a lane's connection.  Never in a
 *			handler of the connection manager.  A thread that posts, also in
 *			a consumer's callback, only tries to take it, with interrupts
 *			off, and not in a hard interrupt.  If that fails, the holder or the
 *			work item sends.  The end of a trunk, and the reading of a
 *			record that takes memory, release it in between.
 *
 * krdma_trunk.ready_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the list of lanes that have something to send, and whether the
 *			holder of krdma_trunk.lock will look at it
 *	taken in:	any context, also in a consumer's callback.  Nothing is called
 *			under it.
 *
 * krdma_lane.lock
 *	kind:		spinlock, interrupts off
 *	protects:	the tails of a lane's queues, whether anything may be posted,
 *			and whether the lane may look for another trunk
 *	taken in:	any context, as the post lock
 *
 * krdma_pd.connect_lock
 *	kind:		reader/writer semaphore
 *	protects:	memory of a process that is freed on siw because the PD has no
 *			connection (readers) against a queue pair that is added (writer)
 *	taken in:	process context
 *
 * krdma_pd.frwr_lock
 *	kind:		mutex
 *	protects:	krdma_pd.frwr, its creation and destruction, and lets one work
 *			request at a time through it.  Held while the queue pair is
 *			connected and while the device executes a work request: up to
 *			6 s if the device does not answer, and on iWARP up to 5 s for
 *			each step of the connection.
 *	taken in:	process context, by krdma_frwr_*(), outside rdma_cm's locks.
 *			A task that registers can be killed while it waits for the
 *			lock, or inside.  Never in a handler of the connection manager:
 *			the handler in mr/frwr_cm.c writes "passive" and "broken"
 *			without it, and those are read after the step that the handler
 *			completes, or after the cm_ids are destroyed.
 *
 * krdma_pd.lock
 *	kind:		spinlock
 *	protects:	krdma_pd.qps, .srqs and .retired: whether memory that
 *			the device may still use can be freed or has to wait, and which
 *			objects may use memory.  A QP in the list exists.
 *	taken in:	process context.  Nothing is taken inside it: a pass over a list
 *			drops it between one entry and the next.
 *
 * krdma_pd.reach_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the trees of the rkeys that peers of lanes can use, and of the names by
 *			which they find MRs, and the lists of the views of MRs.  An MR in a tree
 *			exists.
 *	taken in:	process context by the registration, the naming (under RCU) and the end
 *			of an MR and of a view; any context by the drop of an MR with windows,
 *			also inside krdma_device.uses_lock by the removal of its device, which
 *			has the work items of its views queued under it; inside
 *			krdma_trunk.lock for a record of a peer, or for its answer, which a
 *			thread that posts may send.  Nothing else is called under it.
 *
 * krdma_notifier_mutex
 *	kind:		mutex
 *	protects:	the lists of devices and of notifiers, the number of a device
 *			in the list, the creation of links between both, and passes
 *			over the links of a device.  An RDMA device in the list exists.
 *	taken in:	process context, by ib_core's "add" and "remove", by callers
 *			that register or unregister a notifier, and by work items that
 *			pass events.  Memory is allocated under it, for no control group,
 *			and it is held during no other wait: not for a callback of a
 *			consumer.
 *
 * krdma_notifier_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the link between a notifier and a device: its membership in
 *			both lists, and its pending events; those of a device
 *	taken in:	any context: ib_core, or a provider, raises events.  Passes
 *			over links hold it for 32 at a time.
 *
 * krdma_devices.xa_lock
 *	kind:		spinlock, inside the xarray
 *	protects:	the table and krdma_devices_next_id against other writers.
 *			Readers run under RCU: a device that is found in the table
 *			exists until rcu_read_unlock().  The table's own reference to
 *			the device exists until the gate is left, if the reader could
 *			enter it.
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
 *	protects:	the cached attributes of a device's ports
 *	taken in:	any context, by events of ports.  Nothing is called under it.
 *
 * krdma_vectors.lock
 *	kind:		spinlock
 *	protects:	the number of CQs of each completion vector
 *	taken in:	process context.  Nothing is called under it.
 *
 * krdma_device.name_lock
 *	kind:		spinlock
 *	protects:	krdma_device.name
 *	taken in:	process context, also under RCU
 *
 * rtnl
 *	kind:		mutex, of the network stack
 *	protects:	an interface's name and its network namespace while they are
 *			copied
 *	taken in:	process context, by krdma_device_query_port(), outside the
 *			gate; by providers, inside
 *
 * Workqueues
 *
 *	krdma_workqueue		ends listeners and the device parts of objects, probes
 *				peers that do not answer.  Threads of other users wait for its
 *				items, which therefore wait for the device alone, and not for
 *				what a program or a peer can delay.  Few at a time; of a
 *				user's MRs, CQs and SRQs, which are many, one is queued
 *				there that does not run yet, and half of those that run.
 *	krdma_conn_workqueue	ends connections.  Few at a time, so none waits for a
 *				call, or for a time.  Of each user one is queued there
 *				that does not run yet, and half of those that run.
 *	krdma_peer_workqueue
 *				ends connections whose peer has not answered, on iWARP,
 *				where the end waits for the answer; as many at a time as
 *				there are
 *	krdma_reclaim_workqueue	the same for the connections, their own CQs and the MRs
 *				of sessions that memory reclaim waits for.  Its rescuer
 *				runs one work item at a time: none waits for a lock
 *				whose holder allocates memory without NOIO, or for
 *				krdma_workqueue.
 *	krdma_event_workqueue	delivers events to consumers, which may sleep there:
 *				nothing that a removal waits for is queued here.  Work
 *				items of the others queue to it, so it is destroyed
 *				last.
 *	krdma_notifier_workqueue
 *				delivers device events to notifiers, which may sleep there,
 *				and wait for what krdma_workqueue ends
 *	krdma_cq_workqueue
 *				polls and delivers completions in process context
 *	krdma_lane_workqueue	ends trunks, accepts lanes, sends what no other context could
 *				send; finds trunks for lanes.  An item may wait for the end
 *				of a link, with no lock held.
 *	krdma_trunk_workqueue	connects trunks.  An item waits for the peer, so many of them
 *				must not keep those of krdma_lane_workqueue from running.
 *	krdma_window_workqueue	registers, revokes and ends windows of trunks.  An item waits for
 *				the device, with krdma_pd.frwr_lock, and not for a peer, whose
 *				answer queues it again.  The end of a trunk, which is an item of
 *				krdma_lane_workqueue, waits for it.
 *
 * Counts
 *
 * krdma_device.refs keeps the object, and nothing else: it does not keep the RDMA
 * device.  The table holds one reference from add to remove, and each lookup returns
 * one to its caller.  Put in any context but NMI.
 *
 * krdma_conn.refs and krdma_listener.refs keep only the object.  The RDMA part holds
 * one reference from its creation (a resolution, a connection request, or the end of
 * a new connection) until the consumer has been notified of its end.  Each queued work
 * item holds one.  A connection that came in at a listener keeps that listener until
 * the RDMA part ends.
 *
 * krdma_mr.refs keeps the object.  The consumer holds one reference from registration
 * to krdma_mr_deregister() or krdma_mr_drop(), and the device part holds one until
 * krdma_resource.forget().  The object is freed after RCU's grace period, for callers
 * that post with an MR that they have found under rcu_read_lock().  krdma_mr.uses
 * counts work requests in flight; krdma_mr_deregister() makes it negative if it is 0,
 * in one step, and refuses otherwise.  Each use also has a reference to the device
 * part (krdma_mr.res), which keeps memory and PD.  "uses" is decremented first, so a
 * task that finds it 0 may wait for the device part.
 *
 * krdma_trunk.refs keeps the object.  Its end puts the first reference; each lane and each
 * queued work item holds one.  A lane belongs to its connection.  These hold a reference to the
 * connection: queued work items of the lane, and its entries in the trunk's lists and frames.
 * The trunk's table of lanes holds none: krdma_lane_detach() removes the lane at its end.
 *
 * A window (struct krdma_window) is not counted.  It is freed by the context that removes it from
 * the table of its trunk, under the trunk's lock: its work item, when the peer has answered, or the
 * end of the trunk, which first waits until that does not run.  It holds a reference to the trunk,
 * and by its view to the device part of the MR and, once it has that, to the PD of the link.  The
 * device part is left last: it keeps the device.
 * krdma_window.lanes counts the lanes that were given it, and keeps nothing: at 0 it is revoked.  A
 * window of the peer (struct krdma_peer_window) is freed when it is not in the table and no lane
 * knows of it.
 *
 * Retired memory (struct krdma_mem in krdma_pd.retired) refers to the PD without a
 * reference: the connections that it waits for keep the PD, and krdma_pd_disconnected()
 * is called before a queue pair puts its PD.
 */
#ifndef _KRDMA_PRIVATE_H
#define _KRDMA_PRIVATE_H

#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/sched.h>

#include <krdma/krdma.h>

/*
 * Allocation for a control group in a thread that all users share, such as the connection
 * manager's.  A group at its limit would have the thread reclaim its memory and kill its
 * processes, again and again if they fill what is freed, and everyone would wait.  Refusing it
 * would be no better: a group that has read large files is always at its limit.  So the charge may
 * exceed the limit (__GFP_HIGH), and the next allocation of the group's own processes makes room.
 * Code that uses this bounds by other means what a peer can cause: a listener's backlog, and for
 * each trunk KRDMA_TRUNK_UNSENT_ANSWERS lanes.
 */
#define KRDMA_GFP_OTHERS	(GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN)

struct ib_device;

/* Convert a timeout_ms of <krdma/krdma.h> to what the kernel's wait functions take. */
static inline long krdma_timeout_jiffies(u32 timeout_ms)
{
	return timeout_ms == KRDMA_FOREVER_MS ? MAX_SCHEDULE_TIMEOUT :
						msecs_to_jiffies(timeout_ms);
}

#endif /* _KRDMA_PRIVATE_H */
