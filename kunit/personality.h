/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Behavior of the drivers of RDMA devices where the standard, or the practice of consumers, leaves
 * a choice.  There is one entry for each driver, and the fake device can behave like any of them.
 *
 * Each entry comes from the driver's source in Linux 7.2, and names the file and line.  Nothing
 * here was observed on a card.  What firmware or hardware decides is left out, or marked as
 * assumed.
 *
 * In tests of the core the fake device remains an iWARP device with its own small limits.  A limit
 * of a driver applies only if it is below that of the fake device.  Neither this file nor the table
 * needs KUnit.
 */
#ifndef _KRDMA_KUNIT_PERSONALITY_H
#define _KRDMA_KUNIT_PERSONALITY_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

/*
 * Kinds of ports that the devices of a driver have.  In tests of the core the fake device's port
 * is always iWARP.
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
 * @FAKE_INLINE_AS_ASKED: nothing; more than fake_personality.max_inline is refused
 * @FAKE_INLINE_NONE: 0, whatever was asked for
 * @FAKE_INLINE_MORE: at least what was asked for, more if it fits in the WQE; more than
 *	fake_personality.max_inline is refused
 * @FAKE_INLINE_CAPPED: what was asked for, rounded up to a power of two, at most
 *	fake_personality.max_inline
 * @FAKE_INLINE_REFUSED: create_qp refuses any length other than 0
 */
enum fake_inline {
	FAKE_INLINE_AS_ASKED,
	FAKE_INLINE_NONE,
	FAKE_INLINE_MORE,
	FAKE_INLINE_CAPPED,
	FAKE_INLINE_REFUSED,
};

/**
 * enum fake_arm - req_notify_cq with IB_CQ_REPORT_MISSED_EVENTS when the CQ has completions
 * @FAKE_ARM_REPORTS: it arms, and returns 1
 * @FAKE_ARM_INSTEAD: it returns 1 and does not arm
 * @FAKE_ARM_RINGS: it arms and always returns 0; the device sees that the consumer's index is
 *	behind, and raises the event at once
 */
enum fake_arm {
	FAKE_ARM_REPORTS,
	FAKE_ARM_INSTEAD,
	FAKE_ARM_RINGS,
};

/**
 * enum fake_told - context in which a CQ's handler is called, unless a test changes it
 * @FAKE_TOLD_IRQS_OFF: by a worker with interrupts off
 * @FAKE_TOLD_INLINE: inside the call that made the completion
 * @FAKE_TOLD_SOFTIRQ: by a tasklet
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
 * @FAKE_LAST_WQE_ONCE: once, after its sends are flushed
 * @FAKE_LAST_WQE_EARLY: once, before its sends are flushed
 * @FAKE_LAST_WQE_TWICE: twice, before its sends are flushed
 * @FAKE_LAST_WQE_NEVER: never
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
/* RC QPs for consumers in the kernel: krdma cannot use a device without them. */
#define FAKE_LACKS_KERNEL_RC	BIT(6)
/* IB_WR_LOCAL_INV, although the driver has fast registration. */
#define FAKE_LACKS_LOCAL_INV	BIT(7)
/* Atomics of this side, although the device has them. */
#define FAKE_LACKS_ATOMIC_POST	BIT(8)

/**
 * struct fake_personality - how a driver behaves
 * @name: name of the driver, with the variant if the driver has two
 * @driver_id: driver_id of devices of a whole machine; devices of tests of the core have
 *	RDMA_DRIVER_UNKNOWN
 * @ports: FAKE_PORT_*
 * @lacks: FAKE_LACKS_*
 *
 * Limits; 0: not below the limit of the fake device
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
 * @rounds_depth: create_qp rounds depths up to a power of two, and writes them to cap
 * @srq_wants_no_recv: create_qp refuses a receive depth together with an SRQ
 * @wants_recv: create_qp refuses a receive depth of 0, without an SRQ
 * @inline_grant: what create_qp writes for inline data
 * @max_inline: limit of inline data in bytes; 0: the limit of the fake device
 * @ignores_inline: IB_SEND_INLINE is ignored: the device reads the SGE with its lkey
 *
 * Posts
 * @not_ready: errno of a send before RTS; 0: the send is posted and stays in the SQ
 * @dead_post: errno of a post while the device is dead; 0: the work request is posted
 * @full_blames_first: if the SQ becomes full, bad_wr is the first work request of the list,
 *	although those before the failing one are posted
 * @takes_first_sge: the first SGE is used without a check of num_sge, if sg_list is not NULL
 * @derefs_first_sge: the first SGE of a read, or of a write in a list of a write and a send, is
 *	read without a check of num_sge, even if sg_list is NULL
 * @read_wants_sge: a read without an SGE is refused
 * @zero_is_2g: an SGE of length 0 is one of 2^31 bytes, as the standard has it
 *
 * Completions
 * @told: context in which the handler is called
 * @arm: what arming reports of existing completions
 * @keeps_polled: a poll moves all completions to a list of the driver's own, of which it returns as
 *	many as asked for; arming does not look at that list
 * @flush_ms: delay of flushed completions, in milliseconds; 0: none
 * @last_wqe: when IB_EVENT_QP_LAST_WQE_REACHED is raised
 * @remote_access: status of an access that the peer refuses
 * @no_receive: status of a message for which the peer had no receive
 * @local_memory: status of an lkey that is not valid for the memory
 * @general_err_stays: a completion with IB_WC_GENERAL_ERR does not change the QP's state
 * @fatal_event: IB_EVENT_DEVICE_FATAL is raised when the device dies
 *
 * Memory
 * @map_sleeps: ib_map_mr_sg() allocates with GFP_KERNEL
 * @map_fails_with_0: if it fails, ib_map_mr_sg() returns 0 instead of an errno
 * @map_offset_lost: ib_map_mr_sg() ignores sg_offset
 * @swaps_list: posting IB_WR_REG_MR changes the byte order of the MR's list of pages in place, so
 *	each post needs an ib_map_mr_sg() of its own
 * @reserved_lkey: there is an lkey for all local memory (IBK_LOCAL_DMA_LKEY)
 * @local_dma_lkey: that lkey, which may be 0
 * @read_sink_remote: the local memory of a read needs an lkey with IB_ACCESS_REMOTE_WRITE
 * @invalidates_any: IB_WR_LOCAL_INV also takes an MR of ib_reg_user_mr()
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
	bool zero_is_2g;

	enum fake_told told;
	enum fake_arm arm;
	bool keeps_polled;
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
	bool swaps_list;
	bool reserved_lkey;
	u32 local_dma_lkey;
	bool read_sink_remote;
	bool invalidates_any;
};

/* The default of the fake device: strict, and like no driver. */
extern const struct fake_personality fake_strict;

/* The personalities of drivers.  The name of the last entry is NULL. */
extern const struct fake_personality fake_personalities[];

/* Find a personality by name.  NULL or "": fake_strict.  Returns NULL if it does not exist. */
const struct fake_personality *fake_personality_find(const char *name);

/*
 * The personality that the module's parameter names.  Returns NULL if it does not exist; the module
 * is not loaded then.
 */
const struct fake_personality *fake_personality_default(void);

#endif /* _KRDMA_KUNIT_PERSONALITY_H */
