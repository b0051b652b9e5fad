/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the drivers of RDMA devices do where the standard, or the habit of consumers, leaves them a
 * choice: one entry for each driver, for the fake device to do the same.
 *
 * Each entry was read from the driver's source in Linux 7.2, and names the place.  Nothing here was
 * observed on a card.  What firmware or hardware decides is left out, or marked as assumed.
 *
 * In tests of the core the fake device remains an iWARP device with its own small numbers: a limit
 * of a driver counts if it is below that of the fake.  Neither this file nor the table needs KUnit.
 */
#ifndef _KRDMA_KUNIT_PERSONALITY_H
#define _KRDMA_KUNIT_PERSONALITY_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/*
 * Kinds of ports a driver's devices have.  In tests of the core the fake's port is iWARP all
 * the same.
 */
#define FAKE_PORT_IB		BIT(0)
#define FAKE_PORT_ROCE_V1	BIT(1)
#define FAKE_PORT_ROCE_V2	BIT(2)
#define FAKE_PORT_IWARP		BIT(3)
#define FAKE_PORT_ROCE		(FAKE_PORT_ROCE_V1 | FAKE_PORT_ROCE_V2)

/**
 * enum fake_leftovers - completions of a QP that were not polled when it was destroyed
 * @FAKE_LEFTOVERS_KEPT: they are polled later
 * @FAKE_LEFTOVERS_DROPPED: they are removed with the QP
 * @FAKE_LEFTOVERS_DANGLE: they stay, and polling one uses the freed QP
 */
enum fake_leftovers {
	FAKE_LEFTOVERS_KEPT,
	FAKE_LEFTOVERS_DROPPED,
	FAKE_LEFTOVERS_DANGLE,
};

/**
 * enum fake_inline - what create_qp writes to cap.max_inline_data
 * @FAKE_INLINE_AS_ASKED: nothing
 * @FAKE_INLINE_NONE: 0, whatever was asked for
 * @FAKE_INLINE_MORE: at least what was asked for, more if there is room
 * @FAKE_INLINE_CAPPED: what was asked for, at most fake_personality.max_inline; the others
 *	refuse to exceed that
 * @FAKE_INLINE_REFUSED: create_qp refuses every other length than 0
 */
enum fake_inline {
	FAKE_INLINE_AS_ASKED,
	FAKE_INLINE_NONE,
	FAKE_INLINE_MORE,
	FAKE_INLINE_CAPPED,
	FAKE_INLINE_REFUSED,
};

/**
 * enum fake_arm - req_notify_cq with IB_CQ_REPORT_MISSED_EVENTS, completions being there
 * @FAKE_ARM_REPORTS: it arms, and returns 1
 * @FAKE_ARM_INSTEAD: it returns 1 and does not arm
 * @FAKE_ARM_RINGS: it arms and returns 0, always: the device sees that the consumer's index
 *	is behind, and raises the event at once
 */
enum fake_arm {
	FAKE_ARM_REPORTS,
	FAKE_ARM_INSTEAD,
	FAKE_ARM_RINGS,
};

/**
 * enum fake_told - where a CQ's handler is called, unless a test changes it
 * @FAKE_TOLD_IRQS_OFF: by a worker with interrupts off
 * @FAKE_TOLD_INLINE: inside the call that made the completion
 * @FAKE_TOLD_SOFTIRQ: by a tasklet; the fake does it by a worker with interrupts on
 * @FAKE_TOLD_HARDIRQ: by the interrupt handler
 */
enum fake_told {
	FAKE_TOLD_IRQS_OFF,
	FAKE_TOLD_INLINE,
	FAKE_TOLD_SOFTIRQ,
	FAKE_TOLD_HARDIRQ,
};

/**
 * enum fake_last_wqe - IB_EVENT_QP_LAST_WQE_REACHED of a QP with an SRQ
 * @FAKE_LAST_WQE_ONCE: when its sends were flushed
 * @FAKE_LAST_WQE_EARLY: before they are
 * @FAKE_LAST_WQE_TWICE: before they are, twice
 * @FAKE_LAST_WQE_NEVER: not at all
 */
enum fake_last_wqe {
	FAKE_LAST_WQE_ONCE,
	FAKE_LAST_WQE_EARLY,
	FAKE_LAST_WQE_TWICE,
	FAKE_LAST_WQE_NEVER,
};

/* Operations that a driver lacks. */
#define FAKE_LACKS_SEND_IMM	BIT(0)
#define FAKE_LACKS_WRITE_IMM	BIT(1)
#define FAKE_LACKS_ATOMICS	BIT(2)
#define FAKE_LACKS_READ_INV	BIT(3)
#define FAKE_LACKS_SRQ		BIT(4)
#define FAKE_LACKS_FAST_REG	BIT(5)
/* QPs for consumers in the kernel: krdma cannot use such a device. */
#define FAKE_LACKS_KERNEL_RC	BIT(6)
/* IB_WR_LOCAL_INV, although there is fast registration. */
#define FAKE_LACKS_LOCAL_INV	BIT(7)

/**
 * struct fake_personality - how a driver behaves
 * @name: of the driver, and of the variant where it has two
 * @driver_id: what devices of a whole machine say that their driver is; those of tests of the
 *	core say RDMA_DRIVER_UNKNOWN
 * @ports: FAKE_PORT_*
 * @lacks: FAKE_LACKS_*
 *
 * Limits; 0: not below the fake's
 * @max_send_sge: SGEs of a send
 * @max_recv_sge: SGEs of a receive
 * @max_read_sge: SGEs of a read
 * @max_srq_sge: SGEs of a receive of an SRQ
 * @max_fast_reg_pages: pages of a fast registration
 *
 * QPs
 * @leftovers: what happens to unpolled completions of a QP that is destroyed
 * @srq_slots_lost: dropped completions of an SRQ's receives do not free their WQEs
 * @numbers_again: the next QP gets the number of one that was destroyed
 * @rounds_depth: depths become a power of two, which cap says
 * @srq_wants_no_recv: create_qp refuses a receive depth together with an SRQ
 * @wants_recv: create_qp refuses a receive depth of 0, without an SRQ
 * @inline_grant: what create_qp says of inline data
 * @max_inline: the most there is; 0: as much as the fake has
 * @ignores_inline: IB_SEND_INLINE is not looked at: the entry is read by its key
 *
 * Posts
 * @not_ready: errno of a send before RTS; 0: it is taken and stays there
 * @dead_post: errno while the device is dead; 0: it is taken
 * @full_blames_first: where the queue gets full, bad_wr is the first request of the list,
 *	though those up to there were taken
 * @takes_first_sge: the first entry is used without a look at num_sge, if sg_list is not
 *	NULL
 * @derefs_first_sge: the first entry of a write's or read's sg_list is looked at without a
 *	look at num_sge, even if sg_list is NULL
 * @read_wants_sge: a read without an SGE is refused
 *
 * Completions
 * @told: where the handler is called
 * @arm: what arming reports of existing completions
 * @flush_ms: flushed completions come so much later; 0: at once
 * @last_wqe: the event
 * @remote_access: status of an access that the peer refuses
 * @no_receive: status of a message for which the peer had no receive
 * @local_memory: status of an lkey that is not valid for the memory
 * @general_err_stays: a completion with IB_WC_GENERAL_ERR leaves the QP in its state
 * @fatal_event: IB_EVENT_DEVICE_FATAL comes when the device dies
 *
 * Memory
 * @map_sleeps: ib_map_mr_sg() allocates with GFP_KERNEL
 * @map_fails_with_0: where it fails it returns 0, no errno
 * @map_offset_lost: it ignores sg_offset
 * @reserved_lkey: there is an lkey for all local memory (IBK_LOCAL_DMA_LKEY)
 * @local_dma_lkey: that lkey, which may be 0
 * @read_sink_remote: a read's memory needs a key with IB_ACCESS_REMOTE_WRITE
 */
struct fake_personality {
	const char *name;
	enum rdma_driver_id driver_id;
	unsigned int ports;
	unsigned int lacks;

	u8 max_send_sge;
	u8 max_recv_sge;
	u8 max_read_sge;
	u8 max_srq_sge;
	u16 max_fast_reg_pages;

	enum fake_leftovers leftovers;
	bool srq_slots_lost;
	bool numbers_again;
	bool rounds_depth;
	bool srq_wants_no_recv;
	bool wants_recv;
	enum fake_inline inline_grant;
	u16 max_inline;
	bool ignores_inline;

	int not_ready;
	int dead_post;
	bool full_blames_first;
	bool takes_first_sge;
	bool derefs_first_sge;
	bool read_wants_sge;

	enum fake_told told;
	enum fake_arm arm;
	unsigned int flush_ms;
	enum fake_last_wqe last_wqe;
	enum ib_wc_status remote_access;
	enum ib_wc_status no_receive;
	enum ib_wc_status local_memory;
	bool general_err_stays;
	bool fatal_event;

	bool map_sleeps;
	bool map_fails_with_0;
	bool map_offset_lost;
	bool reserved_lkey;
	u32 local_dma_lkey;
	bool read_sink_remote;
};

/* The fake's own: strict, and like no driver. */
extern const struct fake_personality fake_strict;

/* The personalities of drivers; the last one has no name. */
extern const struct fake_personality fake_personalities[];

/* Finds one by name; NULL or "" is fake_strict.  Returns NULL if there is none. */
const struct fake_personality *fake_personality_find(const char *name);

/* The personality that the module's parameter names (module.c). */
const struct fake_personality *fake_personality_default(void);

#endif /* _KRDMA_KUNIT_PERSONALITY_H */
