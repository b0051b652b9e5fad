/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations: what each needs, and what the device is asked for it.
 */
#ifndef _KRDMA_OP_H
#define _KRDMA_OP_H

#include <rdma/ib_verbs.h>

#include "core/private.h"
#include "mr/split.h"

/* What a request to a device can be. */
union krdma_wr {
	struct ib_send_wr send;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
	struct ib_reg_wr reg;
};

/**
 * enum krdma_op_traits - bits of &struct krdma_op.traits
 * @KRDMA_OP_REMOTE: goes to memory of the peer's
 * @KRDMA_OP_SPLITS: can be cut in pieces
 * @KRDMA_OP_READS: its local memory is written, and the device's limit for reads
 *	applies
 * @KRDMA_OP_EIGHT: works on 8 aligned bytes of the peer's
 * @KRDMA_OP_SCRATCH: its local memory is krdma's
 * @KRDMA_OP_NO_DATA: has no local memory
 */
enum krdma_op_traits {
	KRDMA_OP_REMOTE = 1 << 0,
	KRDMA_OP_SPLITS = 1 << 1,
	KRDMA_OP_READS = 1 << 2,
	KRDMA_OP_EIGHT = 1 << 3,
	KRDMA_OP_SCRATCH = 1 << 4,
	KRDMA_OP_NO_DATA = 1 << 5,
};

/**
 * enum krdma_op_form - what a request to the device has besides its local memory
 * @KRDMA_FORM_OTHER: something of its own: krdma_op_fill() knows
 * @KRDMA_FORM_MESSAGE: nothing
 * @KRDMA_FORM_RDMA: the peer's memory
 * @KRDMA_FORM_ATOMIC: the peer's memory and operands
 */
enum krdma_op_form {
	KRDMA_FORM_OTHER,
	KRDMA_FORM_MESSAGE,
	KRDMA_FORM_RDMA,
	KRDMA_FORM_ATOMIC,
};

/**
 * struct krdma_op - an operation
 * @last: what the device is asked, or for the last piece
 * @part: for the pieces before it
 * @send_flags: set always
 * @post_flags: &enum krdma_post_flags that it knows
 * @caps: &enum krdma_device_cap that the device needs
 * @traits: &enum krdma_op_traits
 * @scratch_length: KRDMA_OP_SCRATCH: bytes of it
 * @form: &enum krdma_op_form
 */
struct krdma_op {
	enum ib_wr_opcode last;
	enum ib_wr_opcode part;
	u8 send_flags;
	u8 post_flags;
	u64 caps;
	u8 traits;
	u8 scratch_length;
	u8 form;
};

/* By &enum krdma_opcode, up to the last; some are not there. */
#define KRDMA_OPS	(KRDMA_OP_REG_MR + 1)
extern const struct krdma_op krdma_ops[KRDMA_OPS];

u32 krdma_op_fast(u64 caps);

const struct krdma_op *krdma_op_find(const struct krdma_send_wr *wr, u64 caps);
int krdma_op_check_length(const struct krdma_op *op, const struct krdma_send_wr *wr,
			  u64 length);
void krdma_op_fill(const struct krdma_op *op, const struct krdma_send_wr *wr,
		   const struct krdma_wr_part *part, bool last, union krdma_wr *ib_wr);

enum krdma_wc_status krdma_wc_status_from_ib(enum ib_wc_status status);

#endif /* _KRDMA_OP_H */
