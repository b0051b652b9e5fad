/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the front share: the objects behind file descriptors, and how
 * a request reaches its handler.  The front knows files, processes and the
 * structures of <linux/krdma.h>, and uses the core through <krdma/krdma.h>, like
 * any other consumer.
 *
 *
 * Locks and contexts of the front, outside of all the core's (private.h)
 *
 *	mmap_lock (of the process that calls, while user memory is copied)
 *	  krdma_user_ring.submit_lock
 *	  krdma_user_ring.reap_lock
 *	    the core's locks
 *	krdma_user_mm_lock
 *	  krdma_user_session.mr.xa_lock
 *	  krdma_pd.lock, and what is inside it
 *	krdma_user_ring.cq_lock
 *	  the core's poll lock, and what is inside it
 *	krdma_user_conn.read_lock, krdma_user_device_notify.read_lock
 *	  mmap_lock, while user memory is copied
 *	krdma_user_conn.create_qp_lock
 *	  krdma_user_ring.bind_lock, the core's locks
 *	krdma_user_dests.xa_lock, krdma_user_session.mr.xa_lock,
 *	krdma_user_conn.lock, krdma_user_device_notify.lock, krdma_user_accounts_lock,
 *	krdma_user_batches.lock
 *	  nothing
 *
 * krdma_user_ring.submit_lock
 *	kind:		mutex
 *	protects:	the taking of entries, from the ring or an array.  Held while
 *			user memory is copied, and while a batch is waited for.
 *	taken in:	process context, of a caller, interruptibly
 *
 * krdma_user_ring.reap_lock
 *	kind:		mutex
 *	protects:	the taking of completions by KRDMA_RING_REAP
 *	taken in:	process context, of a caller, interruptibly; never while it
 *			waits for completions
 *
 * krdma_user_ring.bind_lock
 *	kind:		mutex
 *	protects:	the making of krdma_user_ring.core.  Inside it, the core's.
 *			And changes of krdma_user_ring.confinement.
 *	taken in:	process context
 *
 * krdma_user_ring.cq_lock
 *	kind:		spinlock, softirqs off
 *	protects:	the completion ring against others who fill it, and whether
 *			the core will tell of more
 *	taken in:	softirq, by the core's word that there is something; process
 *			context, by requests
 *
 * krdma_user_conn.create_qp_lock
 *	kind:		mutex
 *	protects:	the setting of what the connection works with.  Inside it,
 *			bind_lock and the core's.
 *	taken in:	process context, of a caller, interruptibly
 *
 * krdma_user_conn.read_lock, krdma_user_device_notify.read_lock
 *	kind:		mutexes
 *	protects:	the next record, while it is copied to the one who reads
 *	taken in:	process context, of a caller, interruptibly; never while he
 *			waits for records
 *
 * krdma_user_conn.lock
 *	kind:		spinlock, interrupts off
 *	protects:	the records that nobody has read
 *	taken in:	any context, by the core's word of events, inside
 *			krdma_conn.state_lock; process context
 *
 * krdma_user_batches.lock
 *	kind:		spinlock
 *	protects:	batches that are not in use
 *	taken in:	process context, inside submit_lock
 *
 * krdma_user_dests, krdma_user_session.mrs
 *	kind:		xarrays
 *	protects:	themselves.  Readers go under RCU: what is found there is not
 *			freed before rcu_read_unlock(), and posting happens inside,
 *			which does not sleep.
 *
 * krdma_user_mm_lock, krdma_user_device_notify.lock, krdma_user_accounts_lock: see
 * user/mm.c, user/notifier.c, user/limits.c.
 */
#ifndef _KRDMA_USER_H
#define _KRDMA_USER_H

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
struct krdma_user_mm;
struct krdma_user_notifier;
struct net;
struct poll_table_struct;
struct sockaddr_storage;

/*
 * Objects
 */

/**
 * struct krdma_user_batches - a session's batches, for calls that post
 * @idle: one that is not in use, or NULL
 * @prepared: there is at least one, in use or not
 * @lock: protects what follows up to @wait
 * @spare: further ones that are not in use
 * @spare_count: how many
 * @wait: for one that is not in use, when there is no memory for another
 */
struct krdma_user_batches {
	struct krdma_user_batch *idle;
	bool prepared;
	spinlock_t lock;		/* see above */
	struct krdma_user_batch *spare;
	u32 spare_count;
	wait_queue_head_t wait;
};

void krdma_user_batches_init(struct krdma_user_batches *batches);
void krdma_user_batches_destroy(struct krdma_user_batches *batches);

/**
 * struct krdma_user_session - one opening of /dev/krdma
 * @id: krdma_user_number()
 * @refs: the file's, and one for each object that was made in it.  Memory has
 *	none: it ends with the last of these.
 * @core: the core's
 * @net: the namespace of the opener, whoever uses the file later.  A reference
 *	is held.  Never changes.
 * @account: whom objects and memory are charged to: the opener's user, and the owners of
 *	the user namespaces that the opener was in
 * @mrs: number to &struct krdma_user_mr
 * @mrs_next: where the search for the next number begins
 * @owner: whose memory was registered last, kept for the next time; NULL: nobody's
 *	was.  A reference is held; protected by krdma_user_mm_lock.
 * @batches: for those who post
 * @notifier: what is to be read; NULL before KRDMA_DEVICE_NOTIFY; set once
 * @wait: for what is to be read
 */
struct krdma_user_session {
	u32 id;
	refcount_t refs;
	struct krdma_session *core;
	struct net *net;
	struct krdma_user_account *account;
	struct xarray mrs;
	u32 mrs_next;
	struct krdma_user_mm *owner;
	struct krdma_user_batches batches;
	struct krdma_user_notifier *notifier;
	wait_queue_head_t wait;
};

/* What an entry of a queue can name. */
enum krdma_user_dest_kind {
	KRDMA_USER_DEST_CONN,
	KRDMA_USER_DEST_SRQ,
};

/**
 * struct krdma_user_dest - what an entry of a queue can name
 * @id: its number, unique in the module; also the core's context, because
 *	completions may outlive the object
 * @kind: what it is part of
 *
 * In krdma_user_dests from its making to its end, and freed after RCU's grace.
 */
struct krdma_user_dest {
	u32 id;
	enum krdma_user_dest_kind kind;
};

/* Records that a connection keeps: each event comes once, but one. */
#define KRDMA_USER_RECORDS	16

/**
 * struct krdma_user_conn - a connection's file
 * @dest: its number
 * @refs: the file's, the core's until it has told of KRDMA_EVENT_CLOSED, and those
 *	of calls under way
 * @session: a reference is held
 * @core: the core's; a reference is held.  NULL before krdma_user_conn_begin(), which
 *	others who find the connection by its number may meet.
 * @create_qp_lock: held while @ring, @recv_ring and @srq are set
 * @ring: where operations are asked for and complete: set once, when
 *	KRDMA_CONN_CREATE_QP has succeeded, with a reference; NULL before
 * @recv_ring: likewise for receives; NULL if they come from @srq
 * @srq: likewise
 * @full: an operation was refused for want of room, and nobody has said that there
 *	is some
 * @recv_full: likewise for a receive
 * @read_lock: held by the one who reads: a record that cannot be copied stays
 * @lock: protects what follows up to @wait
 * @records: that nobody has read
 * @record_head: the next to be read
 * @record_tail: where the next one goes
 * @closed: KRDMA_EVENT_CLOSED is or was among them
 * @hangup: the peer has ended it, or is gone: EPOLLRDHUP
 * @wait: for records and room
 * @free_work: frees it, and what it holds, after RCU's grace
 */
struct krdma_user_conn {
	struct krdma_user_dest dest;
	refcount_t refs;
	struct krdma_user_session *session;
	struct krdma_conn *core;
	struct mutex create_qp_lock;	/* see above */
	struct krdma_user_ring *ring;
	struct krdma_user_ring *recv_ring;
	struct krdma_user_srq *srq;
	bool full;
	bool recv_full;
	struct mutex read_lock;		/* see above */
	spinlock_t lock;		/* see above */
	struct krdma_event_record records[KRDMA_USER_RECORDS];
	u32 record_head;
	u32 record_tail;
	bool closed;
	bool hangup;
	wait_queue_head_t wait;
	struct rcu_work free_work;
};

/**
 * struct krdma_user_srq - a shared receive queue's file
 * @dest: its number
 * @refs: the file's, and one for each connection that uses it
 * @session: a reference is held
 * @core: the core's
 * @ring: where receives are asked for and complete; a reference is held
 * @full: a receive was refused for want of room; it still is if no receive has
 *	completed in @ring since
 * @full_since: how many receives had then
 * @depth: as granted
 * @max_sge: as granted
 * @device_id: its device
 * @rcu: frees it
 *
 * Whoever waits for room, or for the end of the device, does so at @ring.
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
 * @id: its number in the session
 * @device_id: its device
 * @mr: the core's; a reference is held as long as @numbered
 * @refs: the number's, and one until the region has ended
 * @session: whose number it is; there as long as @numbered
 * @account: whom it is charged to; a reference is held
 * @charged: bytes of whole pages
 * @cost: bytes that the registration costs the kernel, charged too
 * @owner: the process's memory that it is part of; a reference is held
 * @of_owner: in the owner's list, to the end of @refs
 * @numbered: it is in the session's table; protected by krdma_user_mm_lock
 * @held: its region has not ended; likewise
 * @rcu: frees it
 *
 * Found under RCU.
 */
struct krdma_user_mr {
	u32 id;
	u32 device_id;
	struct krdma_mr *mr;
	refcount_t refs;
	struct krdma_user_session *session;
	struct krdma_user_account *account;
	u64 charged;
	u64 cost;
	struct krdma_user_mm *owner;
	struct list_head of_owner;
	bool numbered;
	bool held;
	struct rcu_head rcu;
};

struct krdma_user_listener;
struct krdma_user_ring;

/*
 * Requests (user/ioctl.c)
 */

/* Room for the structure of any request, and the field they all begin with. */
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
	struct krdma_conn_create_qp_args conn_prepare;
	struct krdma_conn_param_args conn_terms;
	struct krdma_conn_reject_args conn_reject;
	struct krdma_conn_disconnect_args conn_disconnect;
	struct krdma_conn_wait_args conn_wait;
	struct krdma_conn_query_args conn_query;
	struct krdma_ring_create_args queue_create;
	struct krdma_ring_enter_args queue_enter;
	struct krdma_ring_post_args queue_post;
	struct krdma_ring_reap_args queue_reap;
	struct krdma_ring_query_args queue_query;
	struct krdma_ring_confine_args queue_confine;
	struct krdma_srq_create_args srq_create;
	struct krdma_srq_query_args srq_query;
	struct krdma_mr_register_args memory_register;
	struct krdma_mr_deregister_args memory_release;
	struct krdma_mr_query_args memory_query;
	struct krdma_mr_advise_args memory_advise;
	struct krdma_limit_query_args limit_query;
};

/**
 * struct krdma_ucmd - one ioctl under way
 * @session: of the file that was asked; which of the others is set depends on it
 * @listener: the file is a listener
 * @conn: the file is a connection
 * @ring: the file is a queue
 * @srq: the file is a shared receive queue
 * @buffer: the caller's structure, with zeroes for what the caller does not
 *	know.  A private copy: what is validated here cannot change.
 * @user: where the caller has it
 * @user_size: the caller's size of it
 * @kernel_size: our size of it
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
 * enum krdma_ioctl_kind - what a request does
 * @KRDMA_IOCTL_ASKS: it answers, and changes nothing
 * @KRDMA_IOCTL_READS: it changes what read() of the file gives, and nothing else
 * @KRDMA_IOCTL_ACTS: it changes something, and has no answer
 * @KRDMA_IOCTL_ANSWERS: it changes something, and answers: the caller's memory is
 *	known to take an answer before the handler is called
 */
enum krdma_ioctl_kind {
	KRDMA_IOCTL_ASKS,
	KRDMA_IOCTL_READS,
	KRDMA_IOCTL_ACTS,
	KRDMA_IOCTL_ANSWERS,
};

/**
 * struct krdma_ioctl_op - one line of a table of requests
 * @size: our size of its structure
 * @min_size: the end of the last field it had when the request was published
 * @kind: what it does
 * @handle: the handler; answers by krdma_ucmd_respond(), or if what it has done
 *	cannot be undone by krdma_ucmd_inform()
 */
struct krdma_ioctl_op {
	u32 size;
	u32 min_size;
	enum krdma_ioctl_kind kind;
	int (*handle)(struct krdma_ucmd *ucmd);
};

/* One line: the request's number is its place in the table, above the table's base. */
#define KRDMA_IOCTL_OP(base, command, does, type, last, handler)	\
	[_IOC_NR(command) - (base)] = {					\
		.size = sizeof(struct type),				\
		.min_size = offsetofend(struct type, last),		\
		.kind = KRDMA_IOCTL_##does,				\
		.handle = (handler),					\
	}

/**
 * struct krdma_ioctl_table - what a kind of file can be asked
 * @types: the requests
 * @base: the number of the first
 * @count: how many places there are
 */
struct krdma_ioctl_table {
	const struct krdma_ioctl_op *types;
	unsigned int base;
	unsigned int count;
};

long krdma_ioctl_dispatch(const struct file *file, const struct krdma_ioctl_table *table,
			  struct krdma_ucmd *ucmd, unsigned int cmd,
			  unsigned long arg);
int krdma_ucmd_respond(const struct krdma_ucmd *ucmd);
int krdma_ucmd_inform(const struct krdma_ucmd *ucmd);

/* Of a request: by the kernel's clock. */
u64 krdma_deadline_of_caller(u64 deadline_ns);
/* Milliseconds to a deadline, rounded up; 0: it has passed; KRDMA_FOREVER_MS: never. */
u32 krdma_deadline_ms(u64 deadline_ns);

/* Of a program's addresses; -EAFNOSUPPORT if the family is none that krdma knows. */
int krdma_address_from_user(const struct __kernel_sockaddr_storage *user,
			    struct sockaddr_storage *address);
void krdma_address_to_user(const struct sockaddr_storage *address,
			   struct __kernel_sockaddr_storage *user);

/*
 * Files (user/file.c)
 */

int krdma_user_init(void);
/* shut: nobody comes in any more; exit: after all connections have ended. */
void krdma_user_shut(void);
void krdma_user_exit(void);

/* What files leave behind, after RCU's grace. */
extern struct workqueue_struct *krdma_user_workqueue;

/**
 * struct krdma_user_fd - a file descriptor that is being made
 * @fd: reserved
 * @file: its file, not installed yet
 */
struct krdma_user_fd {
	int fd;
	struct file *file;
};

/*
 * reserve: a descriptor with a file around @object, close-on-exec; from here on the
 * file's release owns the object's reference.  install: it is visible, the last
 * step of a request, after krdma_ucmd_respond().  cancel: instead of it; the file
 * is released.  If reserve fails, the object is still the caller's.
 */
int krdma_user_fd_reserve(struct krdma_user_fd *ufd, const char *name,
			  const struct file_operations *fops, void *object, int mode);
void krdma_user_fd_install(struct krdma_user_fd *ufd);
void krdma_user_fd_cancel(struct krdma_user_fd *ufd);

u32 krdma_user_number(void);

/* What /proc/PID/fdinfo tells of each first: what it is, which, and in which session. */
static inline void krdma_user_fdinfo(struct seq_file *seq, const char *kind, u32 id,
				     const struct krdma_user_session *session)
{
	seq_printf(seq, "krdma:\t%s\nid:\t%u\nsession:\t%u\n", kind, id, session->id);
}

/* Not to wait is said of the file, or with one read. */
static inline bool krdma_user_nowait(const struct kiocb *iocb)
{
	return (iocb->ki_filp->f_flags & O_NONBLOCK) || (iocb->ki_flags & IOCB_NOWAIT);
}

/* The object behind a descriptor of a program's: -EBADF, -EPROTOTYPE.  fput() the file. */
void *krdma_user_fd_get(int fd, const struct file_operations *fops, struct file **file);

void krdma_user_session_get(struct krdma_user_session *session);
void krdma_user_session_put(struct krdma_user_session *session);

/*
 * Targets (user/id.c): the table of all connections and shared receive queues
 */

extern struct xarray krdma_user_dests;

int krdma_user_dest_add(struct krdma_user_dest *dest);
void krdma_user_dest_remove(struct krdma_user_dest *dest);

/*
 * Accounts (user/limits.c): what a user may have
 */

/* Numbered as enum krdma_limit. */
enum krdma_account_kind {
	KRDMA_ACCOUNT_SESSIONS,
	/* Listeners, connections, queues, shared receive queues. */
	KRDMA_ACCOUNT_OBJECTS,
	/* Bytes, of registered memory, of rings, and of queues with the device's share. */
	KRDMA_ACCOUNT_MEMORY,
	/* Of the connection manager: listeners', and of connections that a program begins. */
	KRDMA_ACCOUNT_PORTS,
	KRDMA_ACCOUNT_KINDS,
};

/*
 * What an object costs the kernel, about, beside what is charged for its queues: krdma's own
 * structures, the file's, those of the connection manager, and what rxe allocates for it.
 */
#define KRDMA_SESSION_BYTES	4096
#define KRDMA_LISTENER_BYTES	8192
#define KRDMA_CONN_BYTES	8192
#define KRDMA_RING_BYTES	4096

/* get: a new session's, of the calling process's user; NULL: no memory.  charge: 0 or -EDQUOT. */
struct krdma_user_account *krdma_user_account_get(void);
void krdma_user_account_hold(struct krdma_user_account *account);
void krdma_user_account_put(struct krdma_user_account *account);
int krdma_user_account_charge(struct krdma_user_account *account, enum krdma_account_kind kind,
			      u64 amount);
void krdma_user_account_uncharge(struct krdma_user_account *account,
				 enum krdma_account_kind kind, u64 amount);
/* An object, and @bytes of memory for it. */
int krdma_user_account_charge_object(struct krdma_user_account *account, u64 bytes);
void krdma_user_account_uncharge_object(struct krdma_user_account *account, u64 bytes);
/* What the core allocates for queues of the session, and its ports, are the user's. */
void krdma_user_account_pays(struct krdma_user_account *account, struct krdma_session *core);

/*
 * Memory (user/mr.c, user/mm.c)
 */

/* begin: of a new session.  end: it has no file and no object any more; process context. */
void krdma_user_mr_begin(struct krdma_user_session *session);
void krdma_user_mr_end(struct krdma_user_session *session);
/* It is in no table any more, and its region has been released or dropped. */
void krdma_user_mr_put(struct krdma_user_mr *umr);
/* Its number's memory, under rcu_read_lock(); NULL: none. */
struct krdma_user_mr *krdma_user_mr_find(struct krdma_user_session *session, u32 id);

/*
 * The owner of the calling process's memory.  join: it owns @umr, which has no
 * number yet; 0 or a negative errno.  leave: no longer.
 */
int krdma_user_mm_join(struct krdma_user_mr *umr);
void krdma_user_mm_leave(struct krdma_user_mr *umr);
/* A session registers no more. */
void krdma_user_mm_forget(struct krdma_user_session *session);
/* Its region has ended. */
void krdma_user_mm_ended(struct krdma_user_mr *umr);
/*
 * A number begins and ends.  number: it was reserved in the table.  take: whoever
 * gets it lets go of the region and puts it; -ENOENT: there is none, or another was
 * first; -EBUSY: its region cannot be closed, and @later is not set.  *@closed: it has
 * been closed.
 */
void krdma_user_mm_number(struct krdma_user_mr *umr);
struct krdma_user_mr *krdma_user_mm_take(struct krdma_user_session *session, u32 id,
					 bool later, bool *closed);
void krdma_user_mm_exit(void);

/*
 * Queues (user/ring.c, user/ring_layout.c, user/cq.c, user/post.c, user/srq.c)
 */

extern const struct file_operations krdma_user_ring_fops;
extern const struct file_operations krdma_user_srq_fops;

void krdma_user_ring_get(struct krdma_user_ring *ring);
void krdma_user_ring_put(struct krdma_user_ring *ring);
struct krdma_user_session *krdma_user_ring_session(struct krdma_user_ring *ring);
/*
 * The core's queue, on @device_id, made if it is the first time; kept as long as
 * @ring is.  ERR_PTR: -EXDEV: it is on another device; or why it cannot be made.
 */
struct krdma_cq *krdma_user_ring_bind(struct krdma_user_ring *ring, u32 device_id);
/* A connection that uses it says that there is room again.  Any context. */
void krdma_user_ring_space(struct krdma_user_ring *ring);

void krdma_user_srq_get(struct krdma_user_srq *srq);
void krdma_user_srq_put(struct krdma_user_srq *srq);

/*
 * Connections (user/conn.c, user/conn_call.c)
 */

extern const struct file_operations krdma_user_conn_fops;

/* How the core tells: what krdma_conn_create() and krdma_listener_next() are given. */
extern const struct krdma_conn_ops krdma_user_conn_ops;

/*
 * New, with its number in the table, charged, with one reference for the file, whose
 * descriptor is reserved.  begin: it gets the core's connection, the next of @listener
 * or, without one, a new one, whose context is the number.
 */
struct krdma_user_conn *krdma_user_conn_new(struct krdma_user_session *session,
					    struct krdma_user_fd *ufd);
int krdma_user_conn_begin(struct krdma_user_conn *conn, struct krdma_listener *listener,
			  u32 timeout_ms);
void krdma_user_conn_put(struct krdma_user_conn *conn);

/*
 * Handlers, each in the file of its object: krdma_user_<request>()
 */

int krdma_user_info(struct krdma_ucmd *ucmd);
int krdma_user_device_query(struct krdma_ucmd *ucmd);
int krdma_user_port_query(struct krdma_ucmd *ucmd);
int krdma_user_device_find(struct krdma_ucmd *ucmd);
int krdma_user_device_notify(struct krdma_ucmd *ucmd);
int krdma_user_listen(struct krdma_ucmd *ucmd);
int krdma_user_conn_create(struct krdma_ucmd *ucmd);
int krdma_user_ring_create(struct krdma_ucmd *ucmd);
int krdma_user_srq_create(struct krdma_ucmd *ucmd);
int krdma_user_mr_register(struct krdma_ucmd *ucmd);
int krdma_user_mr_deregister(struct krdma_ucmd *ucmd);
int krdma_user_mr_query(struct krdma_ucmd *ucmd);
int krdma_user_mr_advise(struct krdma_ucmd *ucmd);
int krdma_user_limit_query(struct krdma_ucmd *ucmd);

int krdma_user_conn_resolve(struct krdma_ucmd *ucmd);
int krdma_user_conn_create_qp(struct krdma_ucmd *ucmd);
int krdma_user_conn_connect(struct krdma_ucmd *ucmd);
int krdma_user_conn_accept(struct krdma_ucmd *ucmd);
int krdma_user_conn_reject(struct krdma_ucmd *ucmd);
int krdma_user_conn_disconnect(struct krdma_ucmd *ucmd);
int krdma_user_conn_wait(struct krdma_ucmd *ucmd);
int krdma_user_conn_query(struct krdma_ucmd *ucmd);

/* What read() and poll() of a session add when it watches (user/notifier.c). */
ssize_t krdma_user_notifier_read(struct krdma_user_session *session, struct kiocb *iocb,
				 struct iov_iter *to);
__poll_t krdma_user_notifier_poll(struct krdma_user_session *session, struct file *file,
				  struct poll_table_struct *table);
void krdma_user_notifier_end(struct krdma_user_session *session);

#endif /* _KRDMA_USER_H */
