/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations for the files of the fake device.  Of the tests, only conn_fixture.c needs them.
 *
 * One lock protects all fakes together, because work requests go from one QP to another and back.
 * fake_begin() takes it.  fake_end() releases it, and then calls the handlers of consumers that
 * have something to get.
 */
#ifndef _KRDMA_KUNIT_FAKE_PRIVATE_H
#define _KRDMA_KUNIT_FAKE_PRIVATE_H

#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <rdma/iw_cm.h>

#include "../krdma/compat/provider.h"
#include "fake_device.h"

/* More than any test sets in fake_device.attr. */
#define FAKE_MAX_WR		16384
#define FAKE_MAX_CQE		65536
#define FAKE_MAX_SGE		8
#define FAKE_GSI_NUMBER		1
#define FAKE_MAX_INLINE		256

/* Interval at which waiting QPs are checked, in jiffies. */
#define FAKE_WAIT_INTERVAL	2

/* The maximum length of private data in an event of iw_cm. */
#define FAKE_PRIVATE_DATA	U8_MAX

struct fake_pd {
	struct ib_pd ib;
};

/**
 * struct fake_wc - an entry of a CQ
 * @wc: what the consumer polls
 * @qp: its QP; NULL if the QP gets nothing from it any more
 * @direction: direction of its work request
 * @wqe: polling this frees the WQEs of all work requests before this one
 * @dangles: the driver would use the freed QP to poll it
 * @solicited: wakes also consumers that wait for solicited completions only
 * @entry: in fake_qp.held, otherwise unused
 */
struct fake_wc {
	struct ib_wc wc;
	struct fake_qp *qp;
	enum fake_direction direction;
	unsigned int wqe;
	bool dangles;
	bool solicited;
	struct list_head entry;
};

/**
 * struct fake_cq - a CQ
 * @ib: the object of ib_core
 * @wq: ib.cqe entries
 * @head: the next entry to be polled, a free-running counter
 * @tail: the next entry to be written, a free-running counter
 * @seen: the next entry that no poll has seen, a free-running counter
 * @armed: the consumer wants to be notified of the next completion
 * @armed_for: which completions that are
 * @bell: in the list of CQs whose handler fake_end() calls
 * @ringing: calls of the handler in progress
 * @work: calls the handler
 * @irq_work: calls the handler from a hard interrupt, or schedules the tasklet
 * @tasklet: calls the handler
 */
struct fake_cq {
	struct ib_cq ib;
	struct fake_wc *wq;
	unsigned int head;
	unsigned int tail;
	unsigned int seen;
	bool armed;
	enum ib_cq_notify_flags armed_for;
	struct list_head bell;
	unsigned int ringing;
	struct work_struct work;
	struct irq_work irq_work;
	struct tasklet_struct tasklet;
};

/**
 * struct fake_receive - a posted receive
 * @wr_id: wr_id of its completion
 * @num_sge: entries of @sge
 * @sge: its memory
 */
struct fake_receive {
	u64 wr_id;
	int num_sge;
	struct ib_sge sge[FAKE_MAX_SGE];
};

/**
 * struct fake_send - a posted send work request
 * @wr: a full copy, without pointers to memory that the consumer may reuse
 * @sge: its memory
 * @inline_data: its data, with IB_SEND_INLINE
 * @inline_length: bytes of @inline_data
 */
struct fake_send {
	union {
		struct ib_ud_wr ud;
		struct ib_send_wr wr;
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
		struct ib_reg_wr reg;
	};
	struct ib_sge sge[FAKE_MAX_SGE];
	u8 inline_data[FAKE_MAX_INLINE];
	u32 inline_length;
};

/**
 * struct fake_queue - free-running counters of an SQ, RQ or SRQ
 * @depth: number of WQEs
 * @posted: work requests that were posted
 * @done: work requests that were carried out or flushed
 * @released: work requests with WQEs that can be used again
 * @lost: WQEs that can never be used again
 */
struct fake_queue {
	unsigned int depth;
	unsigned int posted;
	unsigned int done;
	unsigned int released;
	unsigned int lost;
};

struct fake_srq {
	struct ib_srq ib;
	struct fake_queue cq;
	unsigned int max_sge;
	struct fake_receive *recv_wrs;
};

/**
 * struct fake_route - path of the packets of a QP or an address handle
 * @set: the path is known
 * @sgid: source GID
 * @dgid: destination GID
 * @gid_type: type of both GIDs
 * @vlan: VLAN; 0xffff for none
 */
struct fake_route {
	bool set;
	union ib_gid sgid;
	union ib_gid dgid;
	enum ib_gid_type gid_type;
	u16 vlan;
};

struct fake_ah {
	struct ib_ah ib;
	struct fake_route route;
};

/**
 * struct fake_qp - a QP
 * @ib: the object of ib_core
 * @entry: in fake_device.qps
 * @refs: references of iw_cm and of endpoints, and one of its consumer
 * @unused: completed when @refs is 0
 * @state: its state
 * @attr: what it was given on its way there: port_num, qp_access_flags, dest_qp_num,
 *	rq_psn, sq_psn, min_rnr_timer, rnr_retry, timeout, retry_cnt,
 *	ah_attr
 * @route: to the QP attr.dest_qp_num; not set with iWARP
 * @cap: its capabilities
 * @signal_all: every work request is signaled
 * @cqs: by &enum fake_direction
 * @sends: the SQ
 * @recv_wrs: the RQ; not used with an SRQ
 * @hold: see fake_hold()
 * @stall: see fake_stall()
 * @held: completions that were held back
 * @last_wqe: in the list of QPs for which fake_end() raises IB_EVENT_QP_LAST_WQE_REACHED
 * @last_wqe_owed: number of these events to be raised when the QP is flushed
 * @last_wqe_times: number of these events, while the QP is in the list
 * @comm_est: IB_EVENT_COMM_EST is to be raised, from the same list
 * @told_traffic: IB_EVENT_COMM_EST was, or will be, raised; it is raised once
 * @waiting: the next work request waits for the peer, or for a receive of the peer
 * @wait_end: end of that wait, in jiffies; 0: it has no end, or there is no wait
 * @peer: the other end of the wire; NULL: imagined, if @state is RTS
 * @endpoint: the endpoint of its connection
 */
struct fake_qp {
	struct ib_qp ib;
	struct list_head entry;
	refcount_t refs;
	struct completion unused;

	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct fake_route route;
	struct ib_qp_cap cap;
	bool signal_all;
	struct fake_queue cqs[FAKE_DIRECTIONS];
	struct fake_send *sends;
	struct fake_receive *recv_wrs;

	bool hold;
	bool stall;
	struct list_head held;
	struct list_head last_wqe;
	unsigned int last_wqe_owed;
	unsigned int last_wqe_times;
	bool comm_est;
	bool told_traffic;
	bool waiting;
	unsigned long wait_end;

	struct fake_qp *peer;
	struct fake_endpoint *endpoint;
};

/**
 * struct fake_mr - a memory region
 * @ib: the object of ib_core
 * @entry: in fake_device.mrs
 * @pd: its PD
 * @valid: it can be used
 * @all: it covers all kernel memory
 * @key: lkey and rkey, while it is valid
 * @access: access rights
 * @iova: start address that peers use
 * @length: bytes
 * @offset: offset of its first byte in its first page
 * @page_size: size of its pages
 * @pages: addresses of the pages
 * @max_pages: capacity of @pages
 * @mapped: pages of the last ib_map_mr_sg(), which REG_MR copies to @pages
 * @mapped_count: entries of @mapped
 * @posts: REG_MRs that were posted since the last ib_map_mr_sg()
 * @umem: set for memory of a process
 */
struct fake_mr {
	struct ib_mr ib;
	struct list_head entry;
	struct ib_pd *pd;
	bool valid;
	bool all;
	u32 key;
	int access;
	u64 iova;
	u64 length;
	u32 offset;
	u32 page_size;
	u64 *pages;
	unsigned int max_pages;
	u64 *mapped;
	unsigned int mapped_count;
	unsigned int posts;
	struct ib_umem *umem;
};

/**
 * struct fake_span - a range of memory
 * @fake: the device whose DMA addresses these are; NULL for addresses of the kernel
 * @mr: the MR that contains @address; NULL if @address needs none
 * @address: start of the range
 * @length: bytes
 */
struct fake_span {
	const struct fake_device *fake;
	const struct fake_mr *mr;
	u64 address;
	u32 length;
};

/**
 * struct fake_spans - memory that a work request reads or writes
 * @span: ranges, in order
 * @count: number of ranges
 * @length: bytes of all ranges
 */
struct fake_spans {
	struct fake_span span[FAKE_MAX_SGE];
	int count;
	u32 length;
};

/**
 * struct fake_datagram - a management datagram on its way
 * @spans: its memory: @header, and that of the sender
 * @header: the header in front of it
 * @wc: the completion of its receive
 */
struct fake_datagram {
	struct fake_spans spans;
	union rdma_network_hdr header;
	struct ib_wc wc;
};

/**
 * struct fake_listener - a listener
 * @refs: its own until it is closed, and those of endpoints and of work
 * @entry: in fake_listeners
 * @fake: the device
 * @cm_id: iw_cm's id; valid until @closed
 * @handler: the consumer's event handler
 * @closed: it does not listen any more
 * @work: ends the requests that the consumer will not get
 */
struct fake_listener {
	struct kref refs;
	struct list_head entry;
	struct fake_device *fake;
	struct iw_cm_id *cm_id;
	iw_cm_handler handler;
	bool closed;
	struct work_struct work;
};

/**
 * struct fake_endpoint - one side of a connection
 * @refs: its own until it is over, and those of tests, of its peer and of work
 * @entry: in fake_device.endpoints until it is over
 * @fake: the device
 * @state: its state
 * @passive: it belongs to the side that got the request
 * @asked: the listener's consumer has got the request
 * @abandoned: its peer gave up before the connection was established
 * @cm_id: of iw_cm, with a reference from connecting or accepting to the last
 *	event
 * @qp: the QP, with a reference for the same time
 * @peer: the other side; NULL: imagined
 * @listener: the listener that gets the request
 * @local: address of this side
 * @remote: address of the other side
 * @ird: reads that it can serve
 * @ord: reads that it can have in flight
 * @length: bytes of @data
 * @data: the private data for the other side
 */
struct fake_endpoint {
	struct kref refs;
	struct list_head entry;
	struct fake_device *fake;
	enum fake_cm_state state;
	bool passive;
	bool asked;
	bool abandoned;
	struct iw_cm_id *cm_id;
	struct fake_qp *qp;
	struct fake_endpoint *peer;
	struct fake_listener *listener;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	u8 ird;
	u8 ord;
	u16 length;
	u8 data[FAKE_PRIVATE_DATA];
};

static inline const struct fake_personality *fake_personality_of(const struct ib_qp *qp)
{
	return to_fake(qp->device)->personality;
}

static inline struct fake_cq *to_fake_cq(struct ib_cq *cq)
{
	return container_of(cq, struct fake_cq, ib);
}

static inline struct fake_qp *to_fake_qp(struct ib_qp *qp)
{
	return container_of(qp, struct fake_qp, ib);
}

static inline struct fake_ah *to_fake_ah(struct ib_ah *ah)
{
	return container_of(ah, struct fake_ah, ib);
}

static inline struct fake_srq *to_fake_srq(struct ib_srq *srq)
{
	return container_of(srq, struct fake_srq, ib);
}

static inline struct fake_mr *to_fake_mr(struct ib_mr *mr)
{
	return container_of(mr, struct fake_mr, ib);
}

static inline void fake_qp_get(struct fake_qp *qp)
{
	refcount_inc(&qp->refs);
}

static inline void fake_qp_put(struct fake_qp *qp)
{
	if (refcount_dec_and_test(&qp->refs))
		complete(&qp->unused);
}

/* A QP has left RTS, or is about to be destroyed; with the lock held. */
static inline void fake_qp_left(struct fake_qp *qp)
{
	to_fake(qp->ib.device)->qp_left(qp);
}

static inline bool fake_queue_full(const struct fake_queue *cq)
{
	return cq->posted - cq->released + cq->lost >= cq->depth;
}

static inline bool fake_queue_idle(const struct fake_queue *cq)
{
	return cq->posted == cq->done;
}

/* fake_script.c: returns 0, or the error that the script orders; in any context. */
int fake_device_follow_script(struct fake_device *fake, enum fake_verb verb);

/* fake_script.c: stops where the test orders it; may sleep. */
void fake_device_stop_at(struct fake_device *fake, struct fake_pause **where);

/* fake_lock.c; fake_end() notifies the consumers that were announced */
unsigned long fake_begin(void);
void fake_end(unsigned long flags);
void fake_assert_locked(void);
void fake_announce_completion(struct fake_cq *cq);
void fake_announce_last_wqe(struct fake_qp *qp, unsigned int times);
void fake_announce_traffic(struct fake_qp *qp);

/* fake_faults.c: counts a completion; returns its fault, or NULL.  With the lock held. */
const struct fake_fault *fake_meet_fault(struct fake_qp *qp, enum fake_direction direction);

/* fake_qp.c; with the lock held */
struct fake_qp *fake_qp_find(struct fake_device *fake, u32 number);
void fake_qp_part(struct fake_qp *qp);

/* fake_cq.c; with the lock held */
void fake_deliver(struct fake_wc *entry);
void fake_forget_completions(struct fake_qp *qp);
extern const struct ib_device_ops fake_cq_ops;

/* fake_wire.c; all but the first two with the lock held */
void fake_wire_add(struct fake_device *fake);
void fake_wire_remove(struct fake_device *fake);

void fake_route_set(struct fake_route *route, const struct rdma_ah_attr *ah);
/* Finds the device that packets reach; NULL for none. */
struct fake_device *fake_route_find(const struct fake_route *route);

/* Finds the QP at the other end of the wire; NULL if none would answer. */
struct fake_qp *fake_wire_peer(struct fake_qp *qp);

/* Returns true if the next work request cannot be carried out yet. */
bool fake_wire_waits(struct fake_qp *qp);

/*
 * fake_gsi.c: builds a datagram and finds the QP that gets it; NULL if none does.  With the lock
 * held.
 */
struct fake_qp *fake_gsi_address(struct fake_qp *qp, const struct fake_send *send,
				 struct fake_datagram *datagram);
extern const struct ib_device_ops fake_gsi_ops;

/* fake_verbs.c */
extern const struct ib_device_ops fake_verbs_ops;
extern const struct ib_device_ops fake_srq_ops;

/* fake_mr.c */
struct fake_mr *fake_mr_find(struct fake_device *fake, u32 key);

/* Finds memory by lkeys; returns false if they are not valid for it. */
bool fake_spans_local(struct fake_spans *spans, struct fake_qp *qp, const struct ib_sge *sge,
		      int count, int access);
bool fake_spans_remote(struct fake_spans *spans, struct fake_qp *qp, u64 address, u32 length,
		       u32 rkey, int access);

/* Memory of the fake itself. */
void fake_spans_kernel(struct fake_spans *spans, const void *data, u32 length);

/* Uses up both; @to has room for all of @from. */
void fake_spans_copy(struct fake_spans *to, struct fake_spans *from);

/* Returns the start of the span, and in @length how many bytes are contiguous there. */
void *fake_span_memory(const struct fake_span *span, u32 *length);

extern const struct ib_device_ops fake_mr_ops;

/* fake_post.c */
int fake_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int fake_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
int fake_post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

/* fake_data.c; with the lock held */
void fake_qp_run(struct fake_qp *qp);
void fake_qp_to_error(struct fake_qp *qp);
void fake_flush(struct fake_qp *qp);
void fake_flush_now(struct fake_qp *qp);

/* fake_data.c; without the lock */
void fake_flush_work(struct work_struct *work);
void fake_wait_work(struct work_struct *work);

/*
 * fake_cm.c; all but fake_flush_iw_cm() with the lock held
 */

extern struct wait_queue_head fake_cm_changed;

void fake_cm_qp_left(struct fake_qp *qp);
struct fake_listener *fake_find_listener(struct fake_device *fake,
					 const struct sockaddr_storage *address, bool others);

/* Creates an endpoint that sends a request to a listener.  Returns NULL without memory. */
struct fake_endpoint *fake_cm_ask(struct fake_listener *listener,
				  const struct fake_endpoint *from);
void fake_cm_seek(struct fake_endpoint *active);
void fake_cm_stand(struct fake_endpoint *endpoint);
void fake_cm_link(struct fake_endpoint *passive);
void fake_cm_tell(struct fake_endpoint *endpoint, enum iw_cm_event_type type, int status,
		  const void *data, u8 length, bool last);
void fake_cm_abandon(struct fake_endpoint *active, int status, const void *data, u8 length);
void fake_cm_end(struct fake_endpoint *endpoint, bool disconnect);
void fake_flush_iw_cm(struct fake_device *fake);
extern const struct ib_device_ops fake_cm_ops;

/* fake_cm_script.c: see fake_device_let_go() */
void fake_cm_let_go(struct fake_device *fake);

#endif /* _KRDMA_KUNIT_FAKE_PRIVATE_H */
