/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RDMA device that exists in memory only, for tests of the core.
 *
 * A test makes one, changes what it says of itself, registers it with ib_core,
 * and from then on scripts it: which call fails and with what, where a call
 * stops until it is told to go on, what becomes of a connection, how and when a
 * work request completes.  What a consumer has made of it and not given back is
 * counted.
 *
 * For tests of the core it is an iWARP device, and it sits on the loopback interface, which
 * every kernel has.  That gets the address FAKE_ADDRESS while there are such devices: an
 * rdma_cm id that is bound or resolved to it finds the first of them.  (It finds none by
 * 127.0.0.1, which means "any device" there.)
 *
 * For whole machines it sits on any network interface, and its port can be RoCE as well
 * (fake_link.c): then ib_cm makes the connections, by management datagrams from one device
 * to another (fake_gsi.c), and queue pairs find each other by their addresses (fake_wire.c).
 *
 * Connections are made between ids of this kernel, and bytes move between them.
 * A work request is carried out inside the call that posts it, and its
 * completion is in the queue when that call returns; the consumer is told of it
 * as &enum fake_notify says.  Only a message that finds no receive is waited for, on RoCE.
 *
 * The device is strict where real ones differ: a slot of a send or receive
 * queue is free again only when the completion was polled (or, for a request
 * without one, when a later one was), depths and numbers of entries are exactly
 * those that were asked for, and of a failed completion everything but what the
 * standard promises is rubbish.
 */
#ifndef _KRDMA_KUNIT_FAKE_DEVICE_H
#define _KRDMA_KUNIT_FAKE_DEVICE_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "personality.h"

/* 192.0.2.1, which is nobody's but in examples. */
#define FAKE_ADDRESS	0xc0000201

/*
 * Calls that can be made to fail.  Posts count work requests, so the nth of a
 * chain can be the one.
 */
enum fake_verb {
	FAKE_QUERY_DEVICE,
	FAKE_QUERY_PORT,
	FAKE_ALLOC_PD,
	FAKE_CREATE_CQ,
	FAKE_CREATE_QP,
	FAKE_MODIFY_QP,
	FAKE_POST_SEND,
	FAKE_POST_RECV,
	FAKE_ALLOC_MR,
	FAKE_CREATE_SRQ,
	FAKE_POST_SRQ_RECV,
	FAKE_DEREG_MR,
	FAKE_MAP_MR_SG,
	FAKE_REG_USER_MR,
	FAKE_IW_CONNECT,
	FAKE_IW_ACCEPT,
	FAKE_IW_REJECT,
	FAKE_IW_LISTEN,
	FAKE_VERBS,
};

/* Objects that are counted. */
enum fake_object {
	FAKE_PD,
	FAKE_CQ,
	FAKE_QP,
	FAKE_MR,
	FAKE_SRQ,
	FAKE_LISTENER,
	FAKE_OBJECTS,
};

/**
 * enum fake_notify - where a completion queue's handler is called
 * @FAKE_NOTIFY_IRQS_OFF: a worker with interrupts off
 * @FAKE_NOTIFY_INLINE: the call that made the completion, such as post_send,
 *	with interrupts off
 * @FAKE_NOTIFY_WORK: a worker with interrupts on
 * @FAKE_NOTIFY_HARDIRQ: a hard interrupt
 */
enum fake_notify {
	FAKE_NOTIFY_IRQS_OFF,
	FAKE_NOTIFY_INLINE,
	FAKE_NOTIFY_WORK,
	FAKE_NOTIFY_HARDIRQ,
};

/*
 * What connections do by themselves unless the test takes it over.
 *
 * CONNECT: iw_connect only leaves an endpoint in FAKE_CM_CONNECTING, for
 *	fake_cm_reply() or fake_cm_go_on().
 * ACCEPT: iw_accept only leaves an endpoint in FAKE_CM_ACCEPTED, for
 *	fake_cm_establish() or fake_cm_close().
 * CLOSE: a queue pair that leaves RTS does not end the connection; that is
 *	for fake_cm_disconnect() and fake_cm_close().
 */
#define FAKE_MANUAL_CONNECT	BIT(0)
#define FAKE_MANUAL_ACCEPT	BIT(1)
#define FAKE_MANUAL_CLOSE	BIT(2)

/**
 * struct fake_script - what a verb is to do
 * @calls: how often it was called since the script was written
 * @fail_at: the call that fails, counted from 1; 0: none
 * @error: what it fails with, negative
 */
struct fake_script {
	unsigned int calls;
	unsigned int fail_at;
	int error;
};

/* Directions of work requests, for their completions' scripts. */
enum fake_direction {
	FAKE_SEND,
	FAKE_RECEIVE,
	FAKE_DIRECTIONS,
};

/**
 * struct fake_fault - what happens to a completion
 * @qp: of this queue pair; NULL: of any
 * @nth: the nth that is not flushed, counted from 1, whether it is signalled or
 *	not; 0: none
 * @status: what it says instead of success.  The queue pair then goes to error
 *	and the rest is flushed.
 * @vendor_err: what it says with that
 * @duplicate: it is delivered twice
 * @lost: it is not delivered at all, though it succeeded
 */
struct fake_fault {
	struct ib_qp *qp;
	unsigned int nth;
	enum ib_wc_status status;
	u32 vendor_err;
	bool duplicate;
	bool lost;
};

/**
 * struct fake_pause - where a call stops
 * @entered: completed by the call when it has come this far
 * @go_on: completed by the test, to let it go on
 */
struct fake_pause {
	struct completion entered;
	struct completion go_on;
};

/**
 * struct fake_user_mr - the last registration of a process's memory
 * @start: its first byte
 * @length: its bytes
 * @virt_addr: the address that peers use
 * @access: the rights
 */
struct fake_user_mr {
	u64 start;
	u64 length;
	u64 virt_addr;
	int access;
};

/**
 * struct fake_device - the device
 * @ib: what ib_core knows
 * @personality: what it does where drivers differ: change it before registering
 * @offered: what a test wants it to have, FAKE_LACKS_*
 * @attr: the answer to query_device: likewise.  Registering takes from it what the
 *	personality lacks
 * @port: the answer to query_port, for every port: likewise, or at any time
 *	while nobody asks
 * @netdev: the interface of its ports: change it before registering
 * @port_kind: of its ports, one of FAKE_PORT_*: iWARP unless fake_device_set_kind() says so
 * @follows_netdev: the state of its port and its MTU are those of @netdev; before registering
 * @notify: how consumers are told of completions; at any time
 * @roce_ports: a bit for each port, BIT(1) the first, that is RoCE and has no connection
 *	manager; change it before registering
 * @ib_ports: likewise, those that are InfiniBand, with the LID of @port
 * @grh_ports: of @ib_ports, those on which every packet has a GRH; before registering
 * @down_ports: likewise, those that are not active; before registering
 * @deaf_ports: likewise, those on which no queue pair gets ready to receive; at any time
 * @cm_manual: FAKE_MANUAL_* bits; at any time
 * @no_immediate: work requests with immediate data are refused; at any time
 * @starve_request: of whoever hears of the next request, this allocation fails,
 *	counted from 1; 0 again when it has.  Settled after fake_cm_flush().
 * @destroy_drops_cqes: what a queue pair has left in completion queues goes
 *	with it; at any time
 * @max_inline: queue pairs are granted no more bytes inline, and not refused if more are
 *	asked for; at any time
 * @hold_receives: completions of receives are held back, as by fake_hold(), until
 *	fake_release(); at any time
 * @no_last_wqe: IB_EVENT_QP_LAST_WQE_REACHED comes from the test only; at any time
 * @qps_noio: queue pairs that were created in a scope of memalloc_noio_save(), counted
 * @wrongs: what a consumer did that crashes the driver, counted
 * @user_mr: how ib_reg_user_mr() was called last
 * @lock: protects @scripts, @port_pause and @map_pause
 * @scripts: by &enum fake_verb
 * @port_pause: where query_port stops; NULL: nowhere
 * @map_pause: likewise, map_mr_sg
 * @live: by &enum fake_object, what was made and not given back
 * @faults: by &enum fake_direction
 * @fault_seen: completions since the fault was ordered
 * @hold: see fake_hold(); for queue pairs that are made later as well
 * @stall: see fake_stall(); likewise
 * @dead: see fake_device_set_dead()
 * @entry: in the list of those that are registered
 * @qps: the queue pairs
 * @mrs: the memory regions
 * @endpoints: sides of connections, in the order in which they were made
 * @flush_work: flushes queue pairs in error, with a personality that does so late
 * @wait_work: ends the requests that have waited too long for their peer
 * @cm_work: where the events of connections come from, in order
 * @cq_work: where the handlers of completion queues are called
 *
 * From @faults on, the fake's one lock protects everything.
 */
struct fake_device {
	struct ib_device ib;
	const struct fake_personality *personality;
	unsigned int offered;
	struct ib_device_attr attr;
	struct ib_port_attr port;
	struct net_device *netdev;
	unsigned int port_kind;
	bool follows_netdev;

	enum fake_notify notify;
	unsigned int roce_ports;
	unsigned int ib_ports;
	unsigned int grh_ports;
	unsigned int down_ports;
	unsigned int deaf_ports;
	unsigned int cm_manual;
	unsigned int starve_request;
	bool no_immediate;
	bool destroy_drops_cqes;
	u32 max_inline;
	bool hold_receives;
	bool no_last_wqe;
	atomic_t qps_noio;
	atomic_t wrongs;
	struct fake_user_mr user_mr;

	spinlock_t lock;	/* see above */
	struct fake_script scripts[FAKE_VERBS];
	struct fake_pause *port_pause;
	struct fake_pause *map_pause;

	atomic_t live[FAKE_OBJECTS];

	struct fake_fault faults[FAKE_DIRECTIONS];
	unsigned int fault_seen[FAKE_DIRECTIONS];
	bool hold;
	bool stall;
	bool dead;
	struct list_head entry;
	struct list_head qps;
	struct list_head mrs;
	struct list_head endpoints;
	struct delayed_work flush_work;
	struct delayed_work wait_work;
	struct workqueue_struct *cm_work;
	struct workqueue_struct *cq_work;
};

static inline struct fake_device *to_fake(struct ib_device *ib)
{
	return container_of(ib, struct fake_device, ib);
}

/*
 * Its life (fake_device.c)
 */

/* With the personality that the module's parameter names, if there is one. */
struct fake_device *fake_device_alloc(unsigned int ports);

/* Before registering: another personality. */
void fake_device_become(struct fake_device *fake, const struct fake_personality *personality);

/* Before registering: shared receive queues; atomics. */
void fake_device_offer_srq(struct fake_device *fake);
void fake_device_offer_atomics(struct fake_device *fake);

/*
 * Reads go to any memory, as with siw, whose driver id it has then: before registering.
 * Otherwise they need a key that lets peers write, as with iWARP cards.
 */
void fake_device_read_like_siw(struct fake_device *fake);

/* Before registering: ports of another kind. */
void fake_device_set_kind(struct fake_device *fake, unsigned int kind);

int fake_device_add(struct fake_device *fake, const char *name);
int fake_device_register(struct fake_device *fake, const char *name);
void fake_device_unregister(struct fake_device *fake);
int fake_device_stop(struct fake_device *fake);
int fake_device_free(struct fake_device *fake);

/* Where it is found (fake_address.c). */
struct sockaddr_in fake_address(u16 port);

/* Everything that a test has stopped goes on, and connections go their way (fake_faults.c). */
void fake_device_let_go(struct fake_device *fake);

/*
 * Scripts (fake_device.c)
 */

void fake_device_fail(struct fake_device *fake, enum fake_verb verb, unsigned int nth, int error);
unsigned int fake_device_calls(struct fake_device *fake, enum fake_verb verb);
void fake_device_pause_port(struct fake_device *fake, struct fake_pause *pause);
void fake_device_pause_map(struct fake_device *fake, struct fake_pause *pause);

/* Asynchronous events, with interrupts off. */
void fake_device_event(struct fake_device *fake, enum ib_event_type type, u32 port);
void fake_qp_event(struct ib_qp *qp, enum ib_event_type type);

/*
 * Work requests (fake_faults.c, fake_data.c, fake_post.c)
 */

/* The next fault of a direction; it replaces the one before.  NULL: none. */
void fake_fault(struct fake_device *fake, enum fake_direction direction,
		const struct fake_fault *fault);

/*
 * Late completions: work is carried out, and its completions (flushed ones, too)
 * are held back until they are released, in their order.  Of one queue pair, or
 * with NULL of all that the device has and will have.
 */
void fake_hold(struct fake_device *fake, struct ib_qp *qp);
void fake_release(struct fake_device *fake, struct ib_qp *qp);
unsigned int fake_held(struct ib_qp *qp);

/*
 * Late work: what is posted to the send queue stays there, until it is let go
 * on or is flushed.
 */
void fake_stall(struct fake_device *fake, struct ib_qp *qp);
void fake_go_on(struct fake_device *fake, struct ib_qp *qp);

/*
 * A dead device flushes nothing.  When it lives again, it does what it has
 * missed.  With some personalities it refuses posts, and says that it died.
 */
void fake_device_set_dead(struct fake_device *fake, bool dead);

/* The queue pair fails by itself: error, flush, end of the connection. */
void fake_qp_fail(struct ib_qp *qp);

/* Two queue pairs are connected without a connection manager. */
void fake_qp_join(struct ib_qp *a, struct ib_qp *b);

/* The state that the device has the queue pair in. */
enum ib_qp_state fake_qp_state(struct ib_qp *qp);

/**
 * struct fake_message - what an imagined peer sends
 * @data: the bytes, in kernel memory
 * @length: how many
 * @flags: IB_WC_WITH_IMM, IB_WC_WITH_INVALIDATE
 * @imm_data: with the former
 * @rkey: with the latter: what is invalidated
 * @solicited: it says so
 */
struct fake_message {
	const void *data;
	u32 length;
	int flags;
	__be32 imm_data;
	u32 rkey;
	bool solicited;
};

/*
 * A message arrives at a queue pair, from nobody.  Returns what its sender's
 * completion would say.
 */
enum ib_wc_status fake_qp_receive(struct ib_qp *qp, const struct fake_message *message);

/* An imagined peer reads and writes what was registered on a queue pair's domain. */
enum ib_wc_status fake_qp_remote_write(struct ib_qp *qp, u64 address, u32 rkey, const void *data,
				       u32 length);
enum ib_wc_status fake_qp_remote_read(struct ib_qp *qp, u64 address, u32 rkey, void *data,
				      u32 length);

/*
 * Connections (fake_cm_script.c)
 *
 * An endpoint is one side.  Its peer is an endpoint too, or imagined: there is
 * only what the test says.
 */

enum fake_cm_state {
	FAKE_CM_CONNECTING,	/* iw_connect was called; no reply yet */
	FAKE_CM_REQUESTED,	/* the listener has been asked */
	FAKE_CM_ACCEPTED,	/* iw_accept was called; not established yet */
	FAKE_CM_CONNECTED,
	FAKE_CM_REJECTED,	/* iw_reject was called */
	FAKE_CM_CLOSED,		/* it is over; the last event may be on its way */
};

struct fake_endpoint;

/*
 * The oldest endpoint of the device in this state, once there is one; NULL after
 * the time.  Those that are rejected or closed are not found any more.  The
 * endpoint of a queue pair, NULL if there is none.  Both are for
 * fake_cm_put().
 */
struct fake_endpoint *fake_cm_await(struct fake_device *fake, enum fake_cm_state state,
				    unsigned int timeout_ms);
struct fake_endpoint *fake_cm_of_qp(struct ib_qp *qp);
void fake_cm_put(struct fake_endpoint *endpoint);

enum fake_cm_state fake_cm_state(struct fake_endpoint *endpoint);

/* Waits until it is in this state, true, or the time is over. */
bool fake_cm_reaches(struct fake_endpoint *endpoint, enum fake_cm_state state,
		     unsigned int timeout_ms);

/* What the other side was told with iw_connect, iw_accept or iw_reject. */
const void *fake_cm_private_data(struct fake_endpoint *endpoint, u16 *length);

/*
 * The following give their events from the device's worker, and return before
 * that; fake_cm_flush() waits for it.  -EINVAL: not in this state; iw_cm stops
 * the kernel at events that it does not expect, so they are not given.
 */

/* CONNECTING: the search for a listener that FAKE_MANUAL_CONNECT had stopped. */
int fake_cm_go_on(struct fake_endpoint *endpoint);

/*
 * CONNECTING, from an imagined peer.  With 0 the connection stands; errors are
 * -ECONNREFUSED, -ECONNRESET (rejected), -ETIMEDOUT (unreachable) and others.
 */
int fake_cm_reply(struct fake_endpoint *endpoint, int status, const void *data, u8 length);

/* ACCEPTED: both sides hear that the connection stands. */
int fake_cm_establish(struct fake_endpoint *endpoint);

/* CONNECTED: only DISCONNECT, as often as wanted. */
int fake_cm_disconnect(struct fake_endpoint *endpoint);

/*
 * CONNECTED: the queue pair goes to error and CLOSE is given.  The peer follows
 * unless its device has FAKE_MANUAL_CLOSE.
 * ACCEPTED: ESTABLISHED, DISCONNECT and CLOSE, which is how iw_cm wants to hear
 * of a failure; the peer hears the same.
 */
int fake_cm_close(struct fake_endpoint *endpoint);

/*
 * The consumer hears of CLOSE once more, past iw_cm, in the caller's context.  It
 * must not have destroyed its id.
 */
int fake_cm_close_again(struct fake_endpoint *endpoint);

/*
 * An imagined peer asks the listener of a port, on this device.  Returns the
 * passive endpoint, for fake_cm_put(), or an ERR_PTR.
 */
struct fake_endpoint *fake_cm_request(struct fake_device *fake, u16 port, const void *data,
				      u8 length);

/* Whatever connections had to say was handled.  Not for event handlers. */
void fake_cm_flush(struct fake_device *fake);

#endif /* _KRDMA_KUNIT_FAKE_DEVICE_H */
