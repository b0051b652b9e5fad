/* SPDX-License-Identifier: GPL-2.0 */
/* Two QPs of the fake device that are connected to each other, for tests of the device itself. */
#ifndef _KRDMA_KUNIT_FAKE_PAIR_H
#define _KRDMA_KUNIT_FAKE_PAIR_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/jiffies.h>

#include "device_fixture.h"

#define PAIR_NAME	"kfake"
#define LONG_WHILE	(60 * HZ)
#define BUFFER		(2 * PAGE_SIZE)
#define DEPTH		8
#define INLINE		64
#define ALL_RIGHTS \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE | \
	 IB_ACCESS_REMOTE_ATOMIC)

/**
 * struct side - a QP and what it needs, as a consumer in the kernel has it
 * @pd: its PD
 * @cq: its CQ, polled by the test
 * @qp: the QP
 * @mr: an MR
 * @srq: its SRQ, if it has one
 * @buffer: memory to work with
 * @rung: calls of the CQ's handler
 * @hardirq: the last call was in a hard interrupt
 * @irqs_off: the last call was with interrupts off
 * @caller: task of the last call
 * @event: the last event of the QP
 * @events: number of these events
 */
struct side {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	struct ib_srq *srq;
	u8 *buffer;

	struct completion rung;
	bool hardirq;
	bool irqs_off;
	struct task_struct *caller;
	enum ib_event_type event;
	unsigned int events;
};

/* Two connected sides, which every test has. */
struct pair {
	struct test_device *device;
	struct fake_device *fake;
	struct side a;
	struct side b;
};

int side_create_qp(struct side *side);
int side_create(struct fake_device *fake, struct side *side, bool shared);
void side_destroy(struct side *side);
int side_modify(struct side *side, enum ib_qp_state state);
int side_receive(struct side *side, u64 id, u32 offset, u32 length);
int side_send(struct side *side, u64 id, u32 offset, u32 length, int flags);
int side_rdma(struct side *side, enum ib_wr_opcode opcode, u32 length, u64 address, u32 rkey);
int side_atomic(struct side *side, enum ib_wr_opcode opcode, u64 add, u64 swap, u64 address,
		u32 rkey);
int side_register(struct side *side, u32 skip, int access);
int side_invalidate(struct side *side, u32 key);
struct ib_wc polls(struct kunit *test, struct side *side, u64 id, enum ib_wc_status status);
void polls_nothing(struct kunit *test, struct side *side);
struct pair *pair_new(struct kunit *test);
/* After both sides were destroyed: on a new device, with this personality. */
void pair_become(struct kunit *test, struct pair *pair,
		 const struct fake_personality *personality);
struct pair *pair_connected(struct kunit *test);
void pair_connect(struct kunit *test, struct pair *pair, bool shared);
void pair_destroy(struct pair *pair);
u64 pair_register(struct kunit *test, struct side *side);

#endif /* _KRDMA_KUNIT_FAKE_PAIR_H */
