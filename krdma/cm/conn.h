/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections, as the core's files see them.
 */
#ifndef _KRDMA_CONN_H
#define _KRDMA_CONN_H

#include <linux/completion.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "cm/conn_state.h"
#include "core/private.h"
#include "core/resource.h"
#include "core/session.h"

struct krdma_pd;
struct krdma_qp;
struct rdma_cm_event;
struct rdma_cm_id;
struct rdma_conn_param;

/* Room for events that nobody has taken yet; each type is there once at most. */
#define KRDMA_CONN_EVENTS	16

/**
 * struct krdma_conn - a connection
 * @refs: the consumer's (until it has one: the listener's), one of the RDMA
 *	part's from its making to its end, one for each of the works that is queued
 * @session: whose
 * @passive: a peer has asked for it
 * @state_lock: protects what follows up to @wait.  Any context.
 * @state: where it is; changed by krdma_conn_advance() alone
 * @error: why it ended; set once
 * @owes_peer: the peer has to be told of the end
 * @ops: the consumer's; NULL as long as the connection waits at its listener, and
 *	set before anything can call them
 * @context: likewise
 * @events: a ring: what the consumer has not taken yet
 * @event_head: the next to be taken
 * @event_tail: where the next one goes
 * @local: one's own address, as soon as @dev is known; family 0 until then.  Of IPv4 or
 *	IPv6, and that of IPv6 is the larger.
 * @remote: the peer's; likewise
 * @peer_data: the peer's private data; set before the state that tells of them,
 *	and once
 * @peer_data_len: how many; 0 until then
 * @peer_is_krdma: they said so
 * @reject_reason: the connection manager's code for KRDMA_EVENT_REJECTED
 * @read_depth: of one's own reads and atomics, once that is agreed
 * @read_depth_in: of the peer's; likewise
 * @path_mtu: bytes, 0 if not known
 * @wait: for changes of any of these
 * @cm_lock: held around calls that use @cm_id, and while @cm_id, @pd or @qp are
 *	set or taken away.  Never taken in a handler of the connection manager,
 *	whose own lock is inside it, and which the end of the id waits for.
 * @cm_id: the connection manager's part; NULL before and after
 * @port: the port that @cm_id holds, of a connection that was resolved; uncharged by @work
 * @pd: of the queue pair; likewise
 * @qp: the queue pair; set once, under @state_lock too, and kept to the end of the
 *	object; read without lock
 * @lkey: of the protection domain, set before @qp
 * @timeout_ms: for the route
 * @ack_timeout: what the consumer wants; 0: what fits the route
 * @dev: the device; set before the state that tells of it, under @state_lock, and
 *	kept to the end of the object
 * @use: of @dev, from then to the end of the RDMA part
 * @peer_serves: how many reads and atomics the peer serves at a time; 0: it has not
 *	said.  Set before anybody else sees the connection, and with @passive only.
 * @peer_reads: how many it does; likewise
 * @replied: the peer has answered; for the connection manager's handler alone,
 *	which is called once at a time
 * @confirmed: the connection manager has said that the connection stands
 * @peer_told: of the end; for @work alone
 * @grace_pending: @grace_work waits for the peer's answer; likewise
 * @flushed: requests were, before anybody here has ended it
 * @workqueue: where @work and @grace_work run: krdma_workqueue, or krdma_reclaim_workqueue for
 *	a session that memory reclaim waits for.  Set when the connection is made.
 * @work: does what sleeps: the goodbye, and the end
 * @grace_work: the peer's answer to the end did not come, or the reason of a flush;
 *	queued with a reference, which it gives back
 * @event_work: tells the consumer of events
 * @free_work: frees the object when nobody refers to it any more
 * @closed: the RDMA part is gone and the consumer has been told everything
 * @pending: in the listener's list of requests; protected by the listener's lock
 * @listener: where the request came in; NULL if there was none.  Set before anybody
 *	else sees the connection, and kept to the end of the RDMA part.
 */
struct krdma_conn {
	refcount_t refs;
	struct krdma_session *session;
	bool passive;

	spinlock_t state_lock;		/* see above */
	enum krdma_conn_state state;
	int error;
	bool owes_peer;
	const struct krdma_conn_ops *ops;
	void *context;
	struct krdma_event events[KRDMA_CONN_EVENTS];
	unsigned int event_head;
	unsigned int event_tail;
	struct sockaddr_in6 local;
	struct sockaddr_in6 remote;
	u8 peer_data[KRDMA_PRIVATE_DATA_MAX];
	u8 peer_data_len;
	bool peer_is_krdma;
	int reject_reason;
	u8 read_depth;
	u8 read_depth_in;
	u32 path_mtu;
	wait_queue_head_t wait;

	struct mutex cm_lock;		/* see above */
	struct rdma_cm_id *cm_id;
	struct krdma_charged_port port;
	struct krdma_pd *pd;
	struct krdma_qp *qp;
	u32 lkey;
	u32 timeout_ms;
	u8 ack_timeout;

	struct krdma_device *dev;
	struct krdma_use use;

	u8 peer_serves;
	u8 peer_reads;
	bool replied;
	bool confirmed;
	bool peer_told;
	bool grace_pending;
	bool flushed;

	struct workqueue_struct *workqueue;
	struct work_struct work;
	struct delayed_work grace_work;
	struct work_struct event_work;
	struct work_struct free_work;
	struct completion closed;

	struct list_head pending;
	struct krdma_listener *listener;
};

/*
 * Something happened.  @error is the reason if the input ends the connection and
 * has one of its own.  Any context but NMI, also with interrupts off; no lock of
 * the core's held but cm_lock, a queue's poll lock, the device's uses_lock or a
 * listener's lock.  The caller keeps the connection, or the part of it that
 * speaks.  Returns 0, or the negative errno with which a call is refused in this
 * state.
 */
int krdma_conn_advance(struct krdma_conn *conn, enum krdma_conn_input input, int error);
void krdma_conn_flushed(struct krdma_conn *conn);

/* The object (conn.c) */
struct krdma_conn *krdma_conn_alloc(struct krdma_session *session,
				    const struct krdma_conn_ops *ops, void *context);
int krdma_conn_take_device(struct krdma_conn *conn, struct rdma_cm_id *cm_id);
bool krdma_conn_give(struct krdma_conn *conn, const struct krdma_conn_ops *ops, void *context);
void krdma_conn_closed(struct krdma_conn *conn);

/* The connection manager's errno, as krdma hands it on (cm/conn_cm.c). */
int krdma_cm_error(int error);
bool krdma_address_is_bound(const struct sockaddr *address);

/* A request for a connection; in its id's handler (cm/conn_cm.c). */
struct krdma_conn *krdma_conn_from_request(struct krdma_listener *listener,
					   struct krdma_session *session,
					   struct rdma_cm_id *cm_id,
					   const struct rdma_cm_event *event);
int krdma_conn_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event);

/* Does the transport pad private data? */
bool krdma_cm_pads(const struct rdma_cm_id *cm_id);

/* Events (cm/conn_event.c) */
int krdma_conn_events_init(void);
void krdma_conn_events_exit(void);
void krdma_conn_event_work(struct work_struct *work);
void krdma_conn_finish(struct krdma_conn *conn);
/* With state_lock held. */
void krdma_conn_add_event(struct krdma_conn *conn, enum krdma_event_type type);
bool krdma_conn_has_pending(const struct krdma_conn *conn);
void krdma_conn_schedule_events(struct krdma_conn *conn);

/*
 * Consumers are told of events and requests here, and may sleep as long as they like.
 * Ended after krdma_workqueue, whose works queue to it.
 */
extern struct workqueue_struct *krdma_event_workqueue;

#endif /* _KRDMA_CONN_H */
