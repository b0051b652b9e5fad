/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of the user interface share: the objects behind file descriptors,
 * and how an ioctl reaches its handler.  The user interface handles files, processes and the
 * structures of <linux/krdma.h>, and uses the core through <krdma/krdma.h>, like any other
 * consumer.
 *
 *
 * Locks and contexts of the user interface, outside of all locks of the core (private.h)
 *
 *	mmap_lock (of the calling process, while user memory is copied)
 *	  krdma_user_ring.submit_lock
 *	  krdma_user_ring.reap_lock
 *	    the core's locks
 *	krdma_user_mm_lock
 *	  krdma_user_session.mrs.xa_lock
 *	  krdma_pd.lock, and the locks inside it
 *	krdma_user_ring.cq_lock
 *	  the core's poll lock, and the locks inside it
 *	  krdma_conn.state_lock of the core
 *	  krdma_user_conn.lock
 *	krdma_user_conn.read_lock, krdma_user_notifier.read_lock
 *	  mmap_lock, while user memory is copied
 *	  krdma_conn.state_lock of the core
 *	krdma_user_conn.create_qp_lock
 *	  krdma_user_ring.bind_lock, the core's locks
 *	krdma_conn.state_lock of the core
 *	  krdma_user_conn.lock
 *	    krdma_user_ring.event_lock
 *	krdma_user_dests.xa_lock, krdma_user_session.mrs.xa_lock,
 *	krdma_user_ring.event_lock, krdma_user_session.conns_lock,
 *	krdma_user_notifier.lock, krdma_user_accounts_lock,
 *	krdma_user_batches.lock
 *	  nothing
 *
 * krdma_user_ring.submit_lock
 *	kind:		mutex
 *	protects:	taking entries, from the ring or an array.  Held while user
 *			memory is copied, and while waiting for a batch.
 *	taken in:	process context of the caller, interruptibly
 *
 * krdma_user_ring.reap_lock
 *	kind:		mutex
 *	protects:	taking completions by KRDMA_RING_REAP
 *	taken in:	process context of the caller, interruptibly; never held
 *			while waiting for completions
 *
 * krdma_user_ring.bind_lock
 *	kind:		mutex
 *	protects:	the creation of krdma_user_ring.core, with the core's locks
 *			inside it, and changes of krdma_user_ring.confinement
 *	taken in:	process context
 *
 * krdma_user_ring.cq_lock
 *	kind:		spinlock, softirqs off
 *	protects:	the CQ ring against concurrent filling, and whether the core's
 *			CQ is armed
 *	taken in:	softirq, when the core's CQ is ready; process context, by ioctls and
 *			when a connection has ended
 *
 * krdma_user_conn.create_qp_lock
 *	kind:		mutex
 *	protects:	setting the rings and the SRQ of the connection.  Inside it,
 *			bind_lock and the core's locks.
 *	taken in:	process context of the caller, interruptibly
 *
 * krdma_user_conn.read_lock, krdma_user_notifier.read_lock
 *	kind:		mutexes
 *	protects:	the next record, while it is copied to the reader
 *	taken in:	process context of the caller, interruptibly; never held
 *			while waiting for records
 *
 * krdma_user_conn.lock
 *	kind:		spinlock, interrupts off
 *	protects:	event_ring, and hangup.  Not held to take an event, for which
 *			the core takes state_lock.
 *	taken in:	any context, when the core raises an event, inside
 *			krdma_conn.state_lock; process context; any context that
 *			fills a CQ ring, inside cq_lock
 *
 * krdma_user_ring.event_lock
 *	kind:		spinlock, interrupts off
 *	protects:	the list of connections that have events for the CQ ring.  An
 *			event cannot take cq_lock, which is outside of state_lock.
 *	taken in:	as krdma_user_conn.lock, and inside it
 *
 * krdma_user_session.conns_lock
 *	kind:		spinlock
 *	protects:	which connections have a number of the session and no
 *			descriptor
 *	taken in:	process context
 *
 * krdma_user_batches.lock
 *	kind:		spinlock
 *	protects:	batches that are not in use
 *	taken in:	process context, inside submit_lock
 *
 * krdma_user_dests, krdma_user_session.mrs
 *	kind:		xarrays
 *	protects:	themselves.  Readers use RCU: an entry is not freed before
 *			rcu_read_unlock(), and posting, which does not sleep, runs
 *			inside.  A ring remembers the last entries that it has found,
 *			with the number of entries that had been removed before it
 *			looked: while that is the same, an entry is in its table, or
 *			is just being removed, as if it had been found now.
 *
 * krdma_user_mm_lock, krdma_user_notifier.lock, krdma_user_accounts_lock: see user/mm.c,
 * user/notifier.c, user/limits.c.
 */
#ifndef _KRDMA_USER_H
#define _KRDMA_USER_H

#include <linux/atomic.h>
#include <linux/compiler_types.h>
#include <linux/fs.h>
#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <krdma/krdma.h>

struct file;
struct file_operations;
struct krdma_user_account;
struct krdma_user_batch;
struct krdma_user_group;
struct krdma_user_mm;
struct krdma_user_notifier;
struct net;
struct poll_table_struct;
struct sockaddr_storage;

/*
 * Objects
 */

/**
 * struct krdma_user_batches - batches of a session, for calls that post
 * @idle: a batch that is not in use, or NULL
 * @prepared: there is at least one batch, in use or not
 * @lock: protects the members from here to @wait
 * @spare: list of further batches that are not in use
 * @spare_count: number of batches in @spare
 * @wait: woken when a batch is given back, for callers that cannot allocate another one
 */
struct krdma_user_batches {
	struct krdma_user_batch *idle;
	bool prepared;
	spinlock_t lock;		/* see above */
	struct krdma_user_batch *spare;
	u32 spare_count;
	wait_queue_head_t wait;
};

/**
 * struct krdma_user_session - one open file of /dev/krdma
 * @id: krdma_user_number()
 * @refs: references: one of the file, and one for each object that was created in the session.
 *	MRs have none: they end with the last reference.
 * @core: the core's session
 * @net: network namespace of the opener, with a reference, whichever process uses the file later.
 *	Never changes.
 * @account: account for objects and memory: that of the opener's user, and of the owners of the
 *	user namespaces that the opener was in
 * @mrs: xarray from ID to &struct krdma_user_mr
 * @mrs_next: where the search for the next ID begins
 * @mrs_removed: number of MRs that were removed from @mrs
 * @mrs_made: number of MRs that were registered, or begun to be
 * @umm: address space of the last registration, kept for the next one, with a reference; NULL:
 *	none was registered; protected by krdma_user_mm_lock
 * @batches: batches for calls that post
 * @notifier: records for read(); NULL before KRDMA_DEVICE_NOTIFY; set once
 * @wait: woken when there are records
 * @conns_lock: see above
 * @conns: connections without a descriptor, which end with the session's file
 * @conn_count: their number
 * @group: memory for the next call with many of them; NULL: none is kept
 */
struct krdma_user_session {
	u32 id;
	refcount_t refs;
	struct krdma_session *core;
	struct net *net;
	struct krdma_user_account *account;
	struct xarray mrs;
	u32 mrs_next;
	atomic64_t mrs_removed;
	atomic64_t mrs_made;
	struct krdma_user_mm *umm;
	struct krdma_user_batches batches;
	struct krdma_user_notifier *notifier;
	wait_queue_head_t wait;
	spinlock_t conns_lock;		/* see above */
	struct list_head conns;
	u32 conn_count;
	struct krdma_user_group *group;
};

/* Kinds of objects that an entry of a ring can have as its destination. */
enum krdma_user_dest_kind {
	KRDMA_USER_DEST_CONN,
	KRDMA_USER_DEST_SRQ,
};

/**
 * struct krdma_user_dest - destination of entries of a ring
 * @id: ID, unique in the module; also the context for the core, because completions may outlive
 *	the object
 * @kind: kind of the object that contains this structure
 *
 * In krdma_user_dests from its creation to its end, and freed after an RCU grace period.
 */
struct krdma_user_dest {
	u32 id;
	enum krdma_user_dest_kind kind;
};

/**
 * struct krdma_user_conn - a connection: its file, or its number in the session
 * @dest: its ID
 * @refs: references: one of the file or of the number, one of the core until it has raised
 *	KRDMA_EVENT_CLOSED, and those of calls in progress
 * @lock: protects @hangup, @event_ring and @event_over
 * @session: the session, with a reference
 * @core: the core's connection, with a reference.  NULL before it was set, when
 *	other contexts can already find the connection by its ID.
 * @ring: ring where sends are posted and complete, with a reference; set once, when
 *	KRDMA_CONN_CREATE_QP has succeeded; NULL before
 * @recv_ring: ring where receives are posted and complete, as @ring; NULL if they come from @srq
 * @srq: SRQ where receives come from, with a reference, or NULL; set with @ring
 * @event_ring: without a descriptor: ring of the events, one of @ring and @recv_ring; NULL before
 *	and after
 * @event_wr_id: wr_id of the completions of events; set before @event_ring
 * @event_node: entry of the list of @event_ring; under the ring's event_lock
 * @wait: woken when there are events or space
 * @full: a send was refused because the SQ is full, and no space was reported since
 * @recv_full: a receive was refused because the RQ is full, and no space was reported since
 * @hangup: the peer has ended the connection, or is gone: EPOLLRDHUP; read without the lock
 * @event_over: it does not get an @event_ring any more
 * @numbered: the connection is in the session's list; under conns_lock
 * @create_qp_lock: held while @ring, @recv_ring and @srq are set
 * @read_lock: held by the reader: an event that cannot be copied stays in the core's queue
 * @session_node: entry of the session's list; under conns_lock
 * @free_work: frees the object, and what it holds, an RCU grace period after the last reference, so
 *	in the place of what only the holder of one uses
 */
struct krdma_user_conn {
	struct krdma_user_dest dest;
	refcount_t refs;
	spinlock_t lock;		/* see above */
	struct krdma_user_session *session;
	struct krdma_conn *core;
	struct krdma_user_ring *ring;
	struct krdma_user_ring *recv_ring;
	struct krdma_user_srq *srq;
	struct krdma_user_ring *event_ring;
	u64 event_wr_id;
	struct list_head event_node;
	wait_queue_head_t wait;
	/* Under several locks; together, so that there are no holes. */
	bool full;
	bool recv_full;
	bool hangup;
	bool event_over;
	bool numbered;
	union {
		struct {
			struct mutex create_qp_lock;	/* see above */
			struct mutex read_lock;		/* see above */
			struct list_head session_node;
		};
		struct rcu_work free_work;
	};
};

/**
 * struct krdma_user_srq - the file of a shared receive queue
 * @dest: its ID
 * @refs: references: one of the file, and one for each connection that uses the SRQ
 * @session: the session, with a reference
 * @core: the core's SRQ
 * @ring: ring where receives are posted and complete, with a reference
 * @full: a receive was refused because the SRQ is full; still true if no receive has completed in
 *	@ring since
 * @full_since: value of @ring->received at that time
 * @depth: depth that was granted
 * @max_sge: SGEs of a receive that were granted
 * @device_id: ID of the device
 * @rcu: for freeing
 *
 * Callers that wait for space, or for the removal of the device, wait at @ring.
 */
struct krdma_user_srq {
	struct krdma_user_dest dest;
	refcount_t refs;
	struct krdma_user_session *session;
	struct krdma_srq *core;
	struct krdma_user_ring *ring;
	bool full;
	u64 full_since;
	u32 depth;
	u32 max_sge;
	u32 device_id;
	struct rcu_head rcu;
};

/**
 * struct krdma_user_mr - memory that a program has registered
 * @id: ID in the session
 * @device_id: ID of the device
 * @serial: number in the session, by which it differs from others that have had its ID; see
 *	user/confine.c
 * @mr: the core's MR; with a reference as long as @numbered
 * @refs: references: one of the ID, one until the core's MR has ended, and one until its memory is
 *	freed
 * @session: session of the ID; exists as long as @numbered
 * @account: the account that is charged, with a reference
 * @charged: bytes of whole pages
 * @cost: bytes that the MR itself costs the kernel, charged too
 * @umm: the process's memory that it is part of, with a reference
 * @mm_node: entry of the owner's list, until the last of @refs
 * @numbered: the MR is in the session's table; protected by krdma_user_mm_lock
 * @held: the core's MR has not ended; protected by krdma_user_mm_lock
 * @rcu: for freeing
 *
 * Looked up under RCU.
 */
struct krdma_user_mr {
	u32 id;
	u32 device_id;
	u64 serial;
	struct krdma_mr *mr;
	refcount_t refs;
	struct krdma_user_session *session;
	struct krdma_user_account *account;
	u64 charged;
	u64 cost;
	struct krdma_user_mm *umm;
	struct list_head mm_node;
	bool numbered;
	bool held;
	struct rcu_head rcu;
};

struct krdma_user_listener;
struct krdma_user_ring;

/*
 * Ioctls (user/ioctl.c)
 */

/* A buffer for the structure of any ioctl, and the field they all begin with. */
union krdma_user_buffer {
	u32 size;
	struct krdma_info_args info;
	struct krdma_device_query_args device_query;
	struct krdma_port_query_args port_query;
	struct krdma_device_find_args device_find;
	struct krdma_device_notify_args notifier;
	struct krdma_listen_args listen;
	struct krdma_listener_query_args listener_query;
	struct krdma_listener_next_args listener_next;
	struct krdma_conn_create_args conn_create;
	struct krdma_conn_resolve_args conn_resolve;
	struct krdma_conn_create_qp_args conn_create_qp;
	struct krdma_conn_param_args conn_param;
	struct krdma_conn_reject_args conn_reject;
	struct krdma_conn_disconnect_args conn_disconnect;
	struct krdma_conn_wait_args conn_wait;
	struct krdma_conn_query_args conn_query;
	struct krdma_conn_find_mr_args conn_find_mr;
	struct krdma_ring_create_args ring_create;
	struct krdma_ring_enter_args ring_enter;
	struct krdma_ring_post_args ring_post;
	struct krdma_ring_reap_args ring_reap;
	struct krdma_ring_query_args ring_query;
	struct krdma_ring_confine_args ring_confine;
	struct krdma_srq_create_args srq_create;
	struct krdma_srq_query_args srq_query;
	struct krdma_mr_register_args mr_register;
	struct krdma_mr_deregister_args mr_deregister;
	struct krdma_mr_query_args mr_query;
	struct krdma_mr_advise_args mr_advise;
	struct krdma_mr_set_name_args mr_set_name;
	struct krdma_limit_query_args limit_query;
	struct krdma_conns_args conns;
	struct krdma_conns_fd_args conns_fd;
};

/**
 * struct krdma_ucmd - an ioctl in progress
 * @session: session of the file; which of the other objects is set depends on the file
 * @listener: the file is a listener
 * @conn: the file is a connection
 * @ring: the file is a ring
 * @srq: the file is an SRQ
 * @buffer: the caller's structure, with zeroes for fields that the caller does not know.  A
 *	private copy: what is validated here cannot change.
 * @user: address of the caller's structure
 * @user_size: size of the caller's structure in bytes
 * @kernel_size: size of this module's structure in bytes
 */
struct krdma_ucmd {
	struct krdma_user_session *session;
	union {
		struct krdma_user_listener *listener;
		struct krdma_user_conn *conn;
		struct krdma_user_ring *ring;
		struct krdma_user_srq *srq;
	};
	union krdma_user_buffer *buffer;
	void __user *user;
	u32 user_size;
	u32 kernel_size;
};

/**
 * enum krdma_ioctl_kind - effect of an ioctl
 * @KRDMA_IOCTL_ASKS: returns data, and changes nothing
 * @KRDMA_IOCTL_READS: changes what read() of the file returns, and nothing else
 * @KRDMA_IOCTL_ACTS: changes something, and returns no data
 * @KRDMA_IOCTL_ANSWERS: changes something, and returns data: the caller's memory is known to be
 *	writable before the handler is called
 */
enum krdma_ioctl_kind {
	KRDMA_IOCTL_ASKS,
	KRDMA_IOCTL_READS,
	KRDMA_IOCTL_ACTS,
	KRDMA_IOCTL_ANSWERS,
};

/**
 * struct krdma_ioctl_op - entry of a table of ioctls
 * @size: size of this module's structure in bytes
 * @min_size: end of the last field that the structure had when the ioctl was published
 * @kind: its effect
 * @handle: the handler; returns data by krdma_ucmd_respond(), or, if what it has done cannot be
 *	undone, by krdma_ucmd_inform()
 */
struct krdma_ioctl_op {
	u32 size;
	u32 min_size;
	enum krdma_ioctl_kind kind;
	int (*handle)(struct krdma_ucmd *ucmd);
};

/* One entry: its index in the table is the number of the ioctl minus the base of the table. */
#define KRDMA_IOCTL_OP(base, command, does, type, last, handler)	\
	[_IOC_NR(command) - (base)] = {					\
		.size = sizeof(struct type),				\
		.min_size = offsetofend(struct type, last),		\
		.kind = KRDMA_IOCTL_##does,				\
		.handle = (handler),					\
	}

/**
 * struct krdma_ioctl_table - ioctls of a kind of file
 * @types: the ioctls
 * @base: number of the first one
 * @count: size of @types
 */
struct krdma_ioctl_table {
	const struct krdma_ioctl_op *types;
	unsigned int base;
	unsigned int count;
};

/*
 * Files (user/file.c)
 */

/**
 * struct krdma_user_fd - a file descriptor that is being created
 * @fd: reserved descriptor
 * @file: its file, not installed yet
 */
struct krdma_user_fd {
	int fd;
	struct file *file;
};

/* The first lines of /proc/PID/fdinfo: kind, number and session of the file. */
static inline void krdma_user_fdinfo(struct seq_file *seq, const char *kind, u32 id,
				     const struct krdma_user_session *session)
{
	seq_printf(seq, "krdma:\t%s\nid:\t%u\nsession:\t%u\n", kind, id, session->id);
}

/* Non-blocking by the file's flags, or for this read only. */
static inline bool krdma_user_nowait(const struct kiocb *iocb)
{
	return (iocb->ki_filp->f_flags & O_NONBLOCK) || (iocb->ki_flags & IOCB_NOWAIT);
}

/*
 * Accounts (user/limits.c): limits of users
 */

/* Same numbers as enum krdma_limit. */
enum krdma_account_kind {
	KRDMA_ACCOUNT_SESSIONS,
	/* Listeners, connections, rings and SRQs. */
	KRDMA_ACCOUNT_OBJECTS,
	/* Bytes of registered memory, of rings, and of queues with the device's part. */
	KRDMA_ACCOUNT_MEMORY,
	/*
	 * Ports of the connection manager: of listeners, and of connections that a program
	 * starts.
	 */
	KRDMA_ACCOUNT_PORTS,
	KRDMA_ACCOUNT_KINDS,
};

/*
 * Approximate kernel memory of an object, besides what is charged for its queues: structures of
 * krdma, of the file and of the connection manager, and what rxe allocates for it.
 */
#define KRDMA_SESSION_BYTES	4096
#define KRDMA_LISTENER_BYTES	8192
#define KRDMA_CONN_BYTES	8192
#define KRDMA_RING_BYTES	4096

/*
 * MRs (user/mr.c, user/mm.c)
 */

/* Removes an ID: from here on no context finds the MR.  Any context. */
static inline void krdma_user_mr_remove(struct krdma_user_session *session, u32 id)
{
	xa_erase(&session->mrs, id);
	/* After the erasure, and before the MR is freed: see above. */
	(void)atomic64_fetch_inc_release(&session->mrs_removed);
}

#endif /* _KRDMA_USER_H */
