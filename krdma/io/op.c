// SPDX-License-Identifier: GPL-2.0
/*
 * The operations: what each requires, and the work request that the device gets for it.
 *
 * Two of them are emulated.  Kernel QPs have no flush and no atomic write: <rdma/ib_verbs.h>
 * defines the opcodes, but no structure with the range and type of a flush.  The one provider
 * that implements them (rxe of 6.12 and 7.2) takes rkey and address only from user QPs, and fails
 * those of the kernel.  So a flush is a read after the writes, which cannot overtake them, and an
 * atomic write is a fenced write of 8 aligned bytes.  No device sets the capabilities for the two
 * operations.
 */
#include <linux/err.h>
#include <linux/kernel.h>

#include "io/op.h"
#include "mr/mr.h"

const struct krdma_op krdma_ops[KRDMA_OPS_SIZE] = {
	[KRDMA_OP_SEND] = {
		.last = IB_WR_SEND,
		.post_flags = KRDMA_OP_SEND_FLAGS,
		.form = KRDMA_FORM_MESSAGE,
	},
	[KRDMA_OP_SEND_IMM] = {
		.last = IB_WR_SEND_WITH_IMM,
		.post_flags = KRDMA_OP_SEND_IMM_FLAGS,
		.caps = KRDMA_DEVICE_CAP_IMM,
	},
	[KRDMA_OP_SEND_INVALIDATE] = {
		.last = IB_WR_SEND_WITH_INV,
		.post_flags = KRDMA_OP_SEND_INVALIDATE_FLAGS,
		.caps = KRDMA_DEVICE_CAP_FAST_REG,
	},
	[KRDMA_OP_WRITE] = {
		.last = IB_WR_RDMA_WRITE,
		.part = IB_WR_RDMA_WRITE,
		.post_flags = KRDMA_OP_WRITE_FLAGS,
		.traits = KRDMA_OP_REMOTE | KRDMA_OP_SPLITS,
		.form = KRDMA_FORM_RDMA,
	},
	[KRDMA_OP_WRITE_IMM] = {
		.last = IB_WR_RDMA_WRITE_WITH_IMM,
		.part = IB_WR_RDMA_WRITE,
		.post_flags = KRDMA_OP_WRITE_IMM_FLAGS,
		.caps = KRDMA_DEVICE_CAP_IMM,
		.traits = KRDMA_OP_REMOTE | KRDMA_OP_SPLITS,
	},
	[KRDMA_OP_READ] = {
		.last = IB_WR_RDMA_READ,
		.part = IB_WR_RDMA_READ,
		.post_flags = KRDMA_OP_READ_FLAGS,
		.traits = KRDMA_OP_REMOTE | KRDMA_OP_SPLITS | KRDMA_OP_READS,
		.form = KRDMA_FORM_RDMA,
	},
	[KRDMA_OP_COMPARE_SWAP] = {
		.last = IB_WR_ATOMIC_CMP_AND_SWP,
		.post_flags = KRDMA_OP_COMPARE_SWAP_FLAGS,
		.caps = KRDMA_DEVICE_CAP_ATOMIC,
		.traits = KRDMA_OP_REMOTE | KRDMA_OP_READS | KRDMA_OP_EIGHT,
		.form = KRDMA_FORM_ATOMIC,
	},
	[KRDMA_OP_FETCH_ADD] = {
		.last = IB_WR_ATOMIC_FETCH_AND_ADD,
		.post_flags = KRDMA_OP_FETCH_ADD_FLAGS,
		.caps = KRDMA_DEVICE_CAP_ATOMIC,
		.traits = KRDMA_OP_REMOTE | KRDMA_OP_READS | KRDMA_OP_EIGHT,
		.form = KRDMA_FORM_ATOMIC,
	},
	[KRDMA_OP_ATOMIC_WRITE] = {
		.last = IB_WR_RDMA_WRITE,
		.send_flags = IB_SEND_FENCE,
		.post_flags = KRDMA_OP_ATOMIC_WRITE_FLAGS,
		.traits = KRDMA_OP_REMOTE | KRDMA_OP_EIGHT | KRDMA_OP_SCRATCH,
		.scratch_length = 8,
	},
	[KRDMA_OP_FLUSH] = {
		.last = IB_WR_RDMA_READ,
		.post_flags = KRDMA_OP_FLUSH_FLAGS,
		/* The read fills memory that is addressed by the local DMA lkey. */
		.caps = KRDMA_DEVICE_CAP_READ_LOCAL,
		.traits = KRDMA_OP_REMOTE | KRDMA_OP_SCRATCH,
		/* One byte, because the range that is flushed may be no longer. */
		.scratch_length = 1,
	},
};

/**
 * krdma_op_fast() - Find the operations that the fast path can post
 * @caps: capabilities of the device
 *
 * Context: any.
 * Return: a mask with a bit for each &enum krdma_opcode that the device supports and that has
 * another form than KRDMA_FORM_OTHER.
 */
u32 krdma_op_fast(u64 caps)
{
	u32 fast = 0;
	u32 i;

	static_assert(KRDMA_OPS <= 32);
	for (i = 0; i < KRDMA_OPS; i++)
		if (krdma_ops[i].form != KRDMA_FORM_OTHER && !(krdma_ops[i].caps & ~caps))
			fast |= BIT(i);
	return fast;
}

/* Checks range and type as the wire defines them, although the flush is emulated. */
static int krdma_op_check_flush(const struct krdma_send_wr *wr, u64 caps)
{
	const u32 placement = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_PERSISTENT;
	u64 end;

	if (wr->flush & ~(placement | KRDMA_FLUSH_MEMORY))
		return -EOPNOTSUPP;
	if (!(wr->flush & placement))
		return -EINVAL;
	/* A read does not make data persistent. */
	if ((wr->flush & KRDMA_FLUSH_PERSISTENT) &&
	    !(caps & KRDMA_DEVICE_CAP_FLUSH_PERSISTENT))
		return -EOPNOTSUPP;
	if (wr->flush & KRDMA_FLUSH_MEMORY)
		return wr->operand ? -EINVAL : 0;
	if (!wr->operand)
		return -EINVAL;
	if (wr->operand > U32_MAX)
		return -EMSGSIZE;
	if (check_add_overflow(wr->remote_addr, wr->operand - 1, &end))
		return -EOVERFLOW;
	return 0;
}

/**
 * krdma_op_find() - Find and check the operation of a work request
 * @wr: the work request
 * @caps: capabilities of the device
 *
 * Context: any.
 * Return: the operation, or ERR_PTR of
 * -EINVAL: unknown opcode, or flags or memory that the operation does not allow;
 * -EOPNOTSUPP: the device does not support it;
 * -EMSGSIZE, -EOVERFLOW: a flush of too long a range, or beyond the end of the peer's address
 * space.
 */
const struct krdma_op *krdma_op_find(const struct krdma_send_wr *wr, u64 caps)
{
	const struct krdma_op *op;
	int ret;

	if (wr->opcode >= ARRAY_SIZE(krdma_ops))
		return ERR_PTR(-EINVAL);
	op = &krdma_ops[wr->opcode];
	/* Every operation allows some flags, so an entry without any is not an operation. */
	if (!op->post_flags || (wr->flags & ~op->post_flags))
		return ERR_PTR(-EINVAL);
	if (op->caps & ~caps)
		return ERR_PTR(-EOPNOTSUPP);
	if ((op->traits & KRDMA_OP_SCRATCH) && wr->sge_count)
		return ERR_PTR(-EINVAL);
	if ((op->traits & KRDMA_OP_EIGHT) && !IS_ALIGNED(wr->remote_addr, 8))
		return ERR_PTR(-EINVAL);
	if (wr->opcode == KRDMA_OP_FLUSH) {
		ret = krdma_op_check_flush(wr, caps);
		if (ret)
			return ERR_PTR(ret);
	}

	return op;
}

/**
 * krdma_op_check_length() - Check the length of a work request
 * @op: the operation
 * @wr: the work request
 * @length: sum of the lengths of its SGEs
 *
 * Context: any.
 * Return: 0, or -EINVAL: an atomic that is not 8 bytes long; -EMSGSIZE: more than a work request
 * can carry; -EOVERFLOW: beyond the end of the peer's address space.
 */
int krdma_op_check_length(const struct krdma_op *op, const struct krdma_send_wr *wr,
			  u64 length)
{
	u64 end;

	/* Completions report lengths in 32 bits. */
	if (length > U32_MAX)
		return -EMSGSIZE;
	if ((op->traits & KRDMA_OP_EIGHT) && !(op->traits & KRDMA_OP_SCRATCH) && length != 8)
		return -EINVAL;
	if ((op->traits & KRDMA_OP_REMOTE) && length &&
	    check_add_overflow(wr->remote_addr, length - 1, &end))
		return -EOVERFLOW;
	return 0;
}

/**
 * krdma_op_fill() - Fill in the device's work request for one part
 * @op: the operation
 * @wr: the consumer's work request
 * @part: the part
 * @last: true for the last, or only, part
 * @ib_wr: filled in, except for SGEs, completion, IB_SEND_SIGNALED and the link to the next one
 *
 * Context: any.
 */
void krdma_op_fill(const struct krdma_op *op, const struct krdma_send_wr *wr,
		   const struct krdma_wr_part *part, bool last, union krdma_wr *ib_wr)
{
	u8 flags = op->send_flags;

	/* The fence goes with the first part, the solicited event with the last. */
	if ((wr->flags & KRDMA_POST_FENCE) && !part->offset)
		flags |= IB_SEND_FENCE;
	if ((wr->flags & KRDMA_POST_SOLICITED) && last)
		flags |= IB_SEND_SOLICITED;
	/* Without data the flag has no effect, and siw refuses it. */
	if ((wr->flags & KRDMA_POST_INLINE) && part->length)
		flags |= IB_SEND_INLINE;

	memset(ib_wr, 0, sizeof(*ib_wr));
	ib_wr->send.opcode = last ? op->last : op->part;
	ib_wr->send.send_flags = flags;

	switch (ib_wr->send.opcode) {
	case IB_WR_SEND_WITH_IMM:
		ib_wr->send.ex.imm_data = cpu_to_be32(wr->imm);
		break;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		ib_wr->send.ex.imm_data = cpu_to_be32(wr->imm);
		fallthrough;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
		ib_wr->rdma.remote_addr = wr->remote_addr + part->offset;
		ib_wr->rdma.rkey = wr->rkey;
		break;
	case IB_WR_SEND_WITH_INV:
		ib_wr->send.ex.invalidate_rkey = wr->key;
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		ib_wr->atomic.remote_addr = wr->remote_addr;
		ib_wr->atomic.rkey = wr->rkey;
		ib_wr->atomic.compare_add = wr->operand;
		ib_wr->atomic.swap = wr->swap;
		break;
	default:
		break;
	}
}

/**
 * krdma_wc_status_from_ib() - Convert a completion status of the device
 * @status: the device's status
 *
 * Context: any.
 * Return: krdma's status.
 */
enum krdma_wc_status krdma_wc_status_from_ib(enum ib_wc_status status)
{
	switch (status) {
	case IB_WC_SUCCESS:
		return KRDMA_WC_SUCCESS;
	case IB_WC_LOC_LEN_ERR:
		return KRDMA_WC_LOC_LEN_ERR;
	case IB_WC_LOC_QP_OP_ERR:
		return KRDMA_WC_LOC_QP_OP_ERR;
	case IB_WC_LOC_PROT_ERR:
		return KRDMA_WC_LOC_PROT_ERR;
	case IB_WC_WR_FLUSH_ERR:
		return KRDMA_WC_WR_FLUSH_ERR;
	case IB_WC_MW_BIND_ERR:
		return KRDMA_WC_MW_BIND_ERR;
	case IB_WC_BAD_RESP_ERR:
		return KRDMA_WC_BAD_RESP_ERR;
	case IB_WC_LOC_ACCESS_ERR:
		return KRDMA_WC_LOC_ACCESS_ERR;
	case IB_WC_REM_INV_REQ_ERR:
		return KRDMA_WC_REM_INV_REQ_ERR;
	case IB_WC_REM_ACCESS_ERR:
		return KRDMA_WC_REM_ACCESS_ERR;
	case IB_WC_REM_OP_ERR:
		return KRDMA_WC_REM_OP_ERR;
	case IB_WC_RETRY_EXC_ERR:
		return KRDMA_WC_RETRY_EXC_ERR;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return KRDMA_WC_RNR_RETRY_EXC_ERR;
	default:
		return KRDMA_WC_GENERAL_ERR;
	}
}
