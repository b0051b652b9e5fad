/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations: what each requires, and the work request that the device gets for it.
 */
#ifndef _KRDMA_OP_H
#define _KRDMA_OP_H

#include <rdma/ib_verbs.h>

#include "core/private.h"
#include "io/op_flags.h"
#include "mr/split.h"

/* A work request for the device, of any kind. */
union krdma_wr {
	struct ib_send_wr send;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
};

/**
 * enum krdma_op_traits - bits of &struct krdma_op.traits
 * @KRDMA_OP_REMOTE: accesses memory of the peer
 * @KRDMA_OP_SPLITS: can be split into parts
 * @KRDMA_OP_READS: writes to local memory; the device's limit of SGEs for reads applies
 * @KRDMA_OP_EIGHT: accesses 8 aligned bytes of the peer's memory
 * @KRDMA_OP_SCRATCH: its local memory is provided by krdma
 */
enum krdma_op_traits {
	KRDMA_OP_REMOTE = 1 << 0,
	KRDMA_OP_SPLITS = 1 << 1,
	KRDMA_OP_READS = 1 << 2,
	KRDMA_OP_EIGHT = 1 << 3,
	KRDMA_OP_SCRATCH = 1 << 4,
};

/**
 * enum krdma_op_form - what the device's work request has besides its SGEs
 * @KRDMA_FORM_OTHER: fields that only krdma_op_fill() sets
 * @KRDMA_FORM_MESSAGE: nothing
 * @KRDMA_FORM_RDMA: remote address and rkey
 * @KRDMA_FORM_ATOMIC: remote address, rkey and operands
 */
enum krdma_op_form {
	KRDMA_FORM_OTHER,
	KRDMA_FORM_MESSAGE,
	KRDMA_FORM_RDMA,
	KRDMA_FORM_ATOMIC,
};

/**
 * struct krdma_op - an operation
 * @last: opcode of the device's work request, for the last or only part
 * @part: opcode for the parts before the last
 * @send_flags: &enum ib_send_flags that are always set
 * @post_flags: &enum krdma_post_flags that are allowed
 * @caps: &enum krdma_device_cap that the device needs
 * @traits: &enum krdma_op_traits
 * @scratch_length: with KRDMA_OP_SCRATCH: bytes of local memory
 * @form: &enum krdma_op_form
 */
struct krdma_op {
	enum ib_wr_opcode last;
	enum ib_wr_opcode part;
	u32 send_flags;
	u8 post_flags;
	u64 caps;
	u8 traits;
	u8 scratch_length;
	u8 form;
};

/* Indexed by &enum krdma_opcode, up to the last; some entries are empty. */
#define KRDMA_OPS	(KRDMA_OP_FLUSH + 1)
/* A power of two: an index that is masked by the size is also one for a processor that guesses. */
#define KRDMA_OPS_SIZE	16
extern const struct krdma_op krdma_ops[KRDMA_OPS_SIZE];

u32 krdma_op_fast(u64 caps);

const struct krdma_op *krdma_op_find(const struct krdma_send_wr *wr, u64 caps);
int krdma_op_check_length(const struct krdma_op *op, const struct krdma_send_wr *wr,
			  u64 length);
void krdma_op_fill(const struct krdma_op *op, const struct krdma_send_wr *wr,
		   const struct krdma_wr_part *part, bool last, union krdma_wr *ib_wr);

enum krdma_wc_status krdma_wc_status_from_ib(enum ib_wc_status status);

#endif /* _KRDMA_OP_H */
