/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An RDMA device that exists in memory only, for tests of the core.
 *
 * A test creates one, changes its attributes, registers it with ib_core, and from then on scripts
 * it: which call fails and with which error, where a call stops until the test lets it continue,
 * what happens to a connection, how and when a work request completes.  Objects that a consumer has
 * created and not destroyed are counted.
 *
 * For tests of the core it is an iWARP device on the loopback interface, which every kernel has.
 * The interface gets the address FAKE_ADDRESS while there are such devices: an rdma_cm id that is
 * bound or resolved to it finds the first of them.  (It finds none by 127.0.0.1, which means "any
 * device" there.)
 *
 * For whole machines it is on any network interface, and its port can be RoCE as well
 * (fake_link.c).  Then ib_cm makes the connections, by management datagrams from one device to
 * another (fake_gsi.c), and QPs find each other by their addresses (fake_wire.c).
 *
 * Connections are made between ids of this kernel, and bytes move between them.  A work request is
 * carried out inside the call that posts it, and its completion is in the CQ when that call
 * returns; the consumer is notified as &enum fake_notify says.  Only on RoCE does a message without
 * a receive wait for one.
 *
 * The device is strict where real ones differ: a WQE of an SQ or RQ is free again only when its
 * completion was polled (or, for an unsignaled work request, when a later completion was polled).
 * Depths and numbers of SGEs are exactly those that were asked for.  All members of a failed
 * completion that the standard leaves undefined have meaningless values.
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

/* 192.0.2.1, which is reserved for examples. */
#define FAKE_ADDRESS	0xc0000201

/*
 * Calls that can be made to fail.  Posts count work requests, so the nth of a list can be the one
 * that fails.
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
 * enum fake_notify - where a CQ's handler is called
 * @FAKE_NOTIFY_IRQS_OFF: a worker with interrupts off
 * @FAKE_NOTIFY_INLINE: the call that made the completion, such as post_send,
 *	with interrupts off
 * @FAKE_NOTIFY_WORK: a worker with interrupts on
 * @FAKE_NOTIFY_TASKLET: a tasklet, which a hard interrupt schedules
 * @FAKE_NOTIFY_HARDIRQ: a hard interrupt
 * @FAKE_NOTIFY_NEVER: nowhere: only those that poll unasked find completions
 */
enum fake_notify {
	FAKE_NOTIFY_IRQS_OFF,
	FAKE_NOTIFY_INLINE,
	FAKE_NOTIFY_WORK,
	FAKE_NOTIFY_TASKLET,
	FAKE_NOTIFY_HARDIRQ,
	FAKE_NOTIFY_NEVER,
};

/*
 * What connections do by themselves, unless the test takes it over.
 *
 * CONNECT: iw_connect only leaves an endpoint in FAKE_CM_CONNECTING, for fake_cm_reply() or
 * fake_cm_go_on().
 * ACCEPT: iw_accept only leaves an endpoint in FAKE_CM_ACCEPTED, for fake_cm_establish() or
 * fake_cm_close().
 * CLOSE: a QP that leaves RTS does not end the connection; that is for fake_cm_disconnect() and
 * fake_cm_close().
 */
#define FAKE_MANUAL_CONNECT	BIT(0)
#define FAKE_MANUAL_ACCEPT	BIT(1)
#define FAKE_MANUAL_CLOSE	BIT(2)

/**
 * struct fake_script - what a verb does
 * @calls: number of calls since the script was set
 * @fail_at: number of the call that fails, from 1; 0 for none
 * @error: error of that call, negative
 */
struct fake_script {
	unsigned int calls;
	unsigned int fail_at;
	int error;
};

/* Directions of work requests, for the faults of their completions. */
enum fake_direction {
	FAKE_SEND,
	FAKE_RECEIVE,
	FAKE_DIRECTIONS,
};

/**
 * struct fake_fault - what happens to a completion
 * @qp: only completions of this QP; NULL for any QP
 * @nth: the nth completion that is not flushed, counted from 1, whether it is signaled or not;
 *	0: none
 * @status: its status instead of success.  The QP then goes to error and the rest is flushed.
 * @vendor_err: its vendor_err, with @status
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
 * struct fake_pause - a place where a call stops
 * @entered: completed by the call when it gets there
 * @go_on: completed by the test, to let the call continue
 */
struct fake_pause {
	struct completion entered;
	struct completion go_on;
};

/**
 * struct fake_user_mr - arguments of the last registration of process memory
 * @start: its first byte
 * @length: bytes
 * @virt_addr: the address that peers use
 * @access: access rights
 */
struct fake_user_mr {
	u64 start;
	u64 length;
	u64 virt_addr;
	int access;
};

struct fake_qp;

/**
 * struct fake_device - the device
 * @ib: the object of ib_core
 * @personality: its behaviour where drivers differ; to be changed before registering
 * @offered: features that a test adds, FAKE_LACKS_*
 * @posts_atomics: a test has it post atomics, whatever its behaviour
 * @attr: result of query_device; to be changed before registering.  Registering removes what
 *	the personality lacks.
 * @port: result of query_port, for every port; to be changed before registering, or at any time
 *	without concurrent queries
 * @netdev: interface of its ports; to be changed before registering
 * @port_kind: of its ports, one of FAKE_PORT_*: iWARP unless fake_device_set_kind() says so
 * @dma_device: device for which memory is mapped; NULL: DMA addresses are those of the kernel;
 *	before registering
 * @domain: of the IOMMU that translates the addresses of @dma_device; NULL: none does
 * @follows_netdev: the state of its port and its MTU are those of @netdev; before registering
 * @notify: context in which consumers are notified of completions; at any time
 * @roce_ports: a bit for each port, BIT(1) the first, that is RoCE and has no connection
 *	manager; change it before registering
 * @ib_ports: a bit for each port that is InfiniBand, with the LID of @port; before registering
 * @grh_ports: of @ib_ports, those on which every packet has a GRH; before registering
 * @down_ports: a bit for each port that is not active; before registering
 * @deaf_ports: a bit for each port on which no QP gets to RTR; at any time
 * @cm_manual: FAKE_MANUAL_* bits; at any time
 * @no_immediate: work requests with immediate data are refused; at any time
 * @starve_request: number of the allocation that fails in the consumer that gets the next
 *	request, from 1; 0 again when it has failed.  Final after fake_cm_flush().
 * @destroy_drops_cqes: destroying a QP removes its completions from CQs; at any time
 * @destroy_delivers: destroying a QP delivers its completions that are held back; at any time
 * @max_inline: QPs get no more bytes of inline data, and are not refused if more are asked for;
 *	at any time
 * @hold_receives: completions of receives are held back, as by fake_hold(), until
 *	fake_release(); at any time
 * @no_last_wqe: only the test raises IB_EVENT_QP_LAST_WQE_REACHED; at any time
 * @qps_noio: number of QPs that were created in a scope of memalloc_noio_save()
 * @wrongs: number of calls of a consumer that would crash the driver, or let the device use other
 *	memory than the consumer's
 * @user_mr: arguments of the last ib_reg_user_mr()
 * @lock: protects @scripts and the pauses
 * @scripts: by &enum fake_verb
 * @port_pause: where query_port stops; NULL for nowhere
 * @dereg_pause: where dereg_mr stops; NULL for nowhere
 * @live: by &enum fake_object, number of objects that were created and not destroyed
 * @faults: by &enum fake_direction
 * @fault_seen: completions since the fault was set
 * @hold: see fake_hold(); for QPs that are created later as well
 * @stall: see fake_stall(); for QPs that are created later as well
 * @dead: see fake_device_set_dead()
 * @entry: in the list of registered devices
 * @qps: the QPs
 * @mrs: the MRs
 * @endpoints: sides of connections, in the order of creation
 * @flush_work: flushes QPs in error, with a personality that does so late
 * @wait_work: ends the work requests that have waited too long for their peer
 * @qp_left: ends the connection of a QP that has left RTS; set by fake_device_alloc()
 * @cm_work: source of the events of connections, in order
 * @cq_work: calls the handlers of CQs
 *
 * What a test may change at any time is read once, without a lock.  From @faults on, the fake's one
 * lock protects everything.
 */
struct fake_device {
	struct ib_device ib;
	const struct fake_personality *personality;
	unsigned int offered;
	bool posts_atomics;
	struct ib_device_attr attr;
	struct ib_port_attr port;
	struct net_device *netdev;
	unsigned int port_kind;
	struct device *dma_device;
	struct iommu_domain *domain;
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
	bool destroy_delivers;
	u32 max_inline;
	bool hold_receives;
	bool no_last_wqe;
	atomic_t qps_noio;
	atomic_t wrongs;
	struct fake_user_mr user_mr;

	spinlock_t lock;	/* see above */
	struct fake_script scripts[FAKE_VERBS];
	struct fake_pause *port_pause;
	struct fake_pause *dereg_pause;

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
	void (*qp_left)(struct fake_qp *qp);
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

/* Has the personality that the module's parameter names, if there is one. */
struct fake_device *fake_device_alloc(unsigned int ports);

/* Before registering: sets another personality. */
void fake_device_become(struct fake_device *fake, const struct fake_personality *personality);

/* Before registering: SRQs; atomics. */
void fake_device_offer_srq(struct fake_device *fake);
void fake_device_offer_atomics(struct fake_device *fake);

/*
 * Before registering: the device says whose it is, and krdma does for it what it does for the
 * devices of that driver.
 */
void fake_device_name_driver(struct fake_device *fake);

/*
 * Before registering: reads can go to any memory, as with siw, whose driver id the device then has.
 * Otherwise reads need an rkey that allows remote writes, as with iWARP cards.
 */
void fake_device_read_like_siw(struct fake_device *fake);

/* Before registering: sets another kind of ports. */
void fake_device_set_kind(struct fake_device *fake, unsigned int kind);

int fake_device_add(struct fake_device *fake, const char *name);
int fake_device_register(struct fake_device *fake, const char *name);
void fake_device_unregister(struct fake_device *fake);
int fake_device_stop(struct fake_device *fake);
int fake_device_free(struct fake_device *fake);

/* The address by which it is found. */
static inline struct sockaddr_in fake_address(u16 port)
{
	return (struct sockaddr_in) {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(FAKE_ADDRESS),
		.sin_port = htons(port),
	};
}

/*
 * Everything that a test has stopped continues, and connections proceed by themselves
 * (fake_control.c).
 */
void fake_device_let_go(struct fake_device *fake);

/*
 * Scripts (fake_script.c)
 */

void fake_device_fail(struct fake_device *fake, enum fake_verb verb, unsigned int nth, int error);
unsigned int fake_device_calls(struct fake_device *fake, enum fake_verb verb);
void fake_device_pause_port(struct fake_device *fake, struct fake_pause *pause);
void fake_device_pause_dereg(struct fake_device *fake, struct fake_pause *pause);

/* Asynchronous events, with interrupts off (fake_event.c). */
void fake_device_event(struct fake_device *fake, enum ib_event_type type, u32 port);
void fake_qp_event(struct ib_qp *qp, enum ib_event_type type);

/*
 * Work requests (fake_faults.c, fake_control.c, fake_qp.c, fake_data.c)
 */

/* Sets the next fault of a direction, instead of the one before.  NULL: none. */
void fake_set_fault(struct fake_device *fake, enum fake_direction direction,
		    const struct fake_fault *fault);

/*
 * Late completions: work requests are carried out, and their completions (flushed ones, too) are
 * held back until they are released, in order.  For one QP, or with NULL for all QPs that the
 * device has and will have.
 */
void fake_hold(struct fake_device *fake, struct ib_qp *qp);
void fake_release(struct fake_device *fake, struct ib_qp *qp);
/* Of those that are held back, only the one that came last, before the others. */
void fake_release_last(struct ib_qp *qp);
unsigned int fake_held(struct ib_qp *qp);

/* Late work: what is posted to the SQ stays there, until fake_go_on() or a flush. */
void fake_stall(struct fake_device *fake, struct ib_qp *qp);
void fake_go_on(struct fake_device *fake, struct ib_qp *qp);

/*
 * A dead device flushes nothing.  When it lives again, it does what it has missed.  With some
 * personalities it refuses posts, and raises a fatal event.
 */
void fake_device_set_dead(struct fake_device *fake, bool dead);

/* The QP fails by itself: error, flush, end of the connection. */
void fake_qp_fail(struct ib_qp *qp);

/* Connects two QPs without a connection manager. */
void fake_qp_join(struct ib_qp *a, struct ib_qp *b);

/* The state of the QP on the device. */
enum ib_qp_state fake_qp_state(struct ib_qp *qp);

/**
 * struct fake_message - a message of an imagined peer
 * @data: its bytes, in kernel memory
 * @length: number of bytes
 * @flags: IB_WC_WITH_IMM, IB_WC_WITH_INVALIDATE
 * @imm_data: with IB_WC_WITH_IMM
 * @rkey: with IB_WC_WITH_INVALIDATE: the rkey that is invalidated
 * @solicited: the message is solicited
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
 * Delivers a message without a sender to a QP.  Returns the status that its sender's completion
 * would have.
 */
enum ib_wc_status fake_qp_receive(struct ib_qp *qp, const struct fake_message *message);

/* An imagined peer reads and writes MRs of the PD of a QP. */
enum ib_wc_status fake_qp_remote_write(struct ib_qp *qp, u64 address, u32 rkey, const void *data,
				       u32 length);
enum ib_wc_status fake_qp_remote_read(struct ib_qp *qp, u64 address, u32 rkey, void *data,
				      u32 length);

/*
 * Connections (fake_cm_script.c)
 *
 * An endpoint is one side of a connection.  Its peer is an endpoint too, or is imagined: then only
 * the test acts for it.
 */

enum fake_cm_state {
	FAKE_CM_CONNECTING,	/* iw_connect was called; no reply yet */
	FAKE_CM_REQUESTED,	/* the listener has got the request */
	FAKE_CM_ACCEPTED,	/* iw_accept was called; not established yet */
	FAKE_CM_CONNECTED,
	FAKE_CM_REJECTED,	/* iw_reject was called */
	FAKE_CM_CLOSED,		/* it is over; the last event may be pending */
};

struct fake_endpoint;

/*
 * fake_cm_await() waits for the oldest endpoint of the device in this state; NULL on timeout.
 * Rejected or closed endpoints are not found.  fake_cm_of_qp() returns the endpoint of a QP, NULL
 * if there is none.  Both need fake_cm_put().
 */
struct fake_endpoint *fake_cm_await(struct fake_device *fake, enum fake_cm_state state,
				    unsigned int timeout_ms);
struct fake_endpoint *fake_cm_of_qp(struct ib_qp *qp);
void fake_cm_put(struct fake_endpoint *endpoint);

enum fake_cm_state fake_cm_state_of(struct fake_endpoint *endpoint);

/* Waits until it is in this state; false on timeout. */
bool fake_cm_reaches(struct fake_endpoint *endpoint, enum fake_cm_state state,
		     unsigned int timeout_ms);

/* The private data that it passed with iw_connect, iw_accept or iw_reject. */
const void *fake_cm_private_data(struct fake_endpoint *endpoint, u16 *length);

/*
 * The following functions return before the device's worker reports their events; fake_cm_flush()
 * waits for it.  They return -EINVAL if the state does not fit: iw_cm has a BUG_ON for events that
 * it does not expect, so these are not reported.
 */

/* CONNECTING: starts the search for a listener that FAKE_MANUAL_CONNECT had stopped. */
int fake_cm_go_on(struct fake_endpoint *endpoint);

/*
 * CONNECTING, from an imagined peer.  With 0 the connection is established; errors are
 * -ECONNREFUSED,
 * -ECONNRESET (rejected), -ETIMEDOUT (unreachable) and others.
 */
int fake_cm_reply(struct fake_endpoint *endpoint, int status, const void *data, u8 length);

/* ACCEPTED: both sides get the event that the connection is established. */
int fake_cm_establish(struct fake_endpoint *endpoint);

/* CONNECTED: only DISCONNECT, as often as the test calls it. */
int fake_cm_disconnect(struct fake_endpoint *endpoint);

/*
 * CONNECTED: the QP goes to error and CLOSE is reported.  The peer follows unless its device has
 * FAKE_MANUAL_CLOSE.
 * ACCEPTED: ESTABLISHED, DISCONNECT and CLOSE, which is the sequence that iw_cm expects for a
 * failure; the peer gets the same.
 */
int fake_cm_close(struct fake_endpoint *endpoint);

/*
 * The consumer gets CLOSE once more, bypassing iw_cm, in the caller's context.  It must not have
 * destroyed its id.
 */
int fake_cm_close_again(struct fake_endpoint *endpoint);

/*
 * An imagined peer sends a request to the listener of a port, on this device.  Returns the passive
 * endpoint, for fake_cm_put(), or an ERR_PTR.
 */
struct fake_endpoint *fake_cm_request(struct fake_device *fake, u16 port, const void *data,
				      u8 length);

/* Waits until all events of connections have been handled.  Not for event handlers. */
void fake_cm_flush(struct fake_device *fake);

#endif /* _KRDMA_KUNIT_FAKE_DEVICE_H */
