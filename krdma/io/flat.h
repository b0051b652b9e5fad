/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Work requests and completions in the layout of a ring that a consumer shares with a program.
 *
 * They are read and written in place: a work request becomes the device's in one reading, and the
 * device's completion becomes an entry of the ring.  The program may write all of this memory at
 * any time, so each member of a work request is read once, and no member of a completion is read.
 */
#ifndef _KRDMA_FLAT_H
#define _KRDMA_FLAT_H

#include <linux/types.h>

struct krdma_cq;
struct krdma_mr;

/**
 * union krdma_flat_head - the first members of a work request
 * @opcode: &enum krdma_opcode
 * @flags: &enum krdma_post_flags
 * @sge_count: number of SGEs
 * @dest: destination, a number of the consumer
 * @first: all but @dest
 * @word: all of them, to be read at once
 */
union krdma_flat_head {
	struct {
		u8 opcode;
		u8 flags;
		u16 sge_count;
		u32 dest;
	};
	u32 first;
	u64 word;
};

/**
 * struct krdma_flat_wr - work request
 * @head: see there
 * @wr_id: returned in the completion
 * @addr: the SGE: start address in the MR
 * @length: the SGE: bytes
 * @mr: the SGE: the MR, a number of the consumer; 0: none
 * @remote_addr: the remote address
 * @rkey: the rkey
 * @imm: see &struct krdma_send_wr
 * @operand: see &struct krdma_send_wr
 * @swap: see &struct krdma_send_wr
 */
struct krdma_flat_wr {
	union krdma_flat_head head;
	u64 wr_id;
	u64 addr;
	u32 length;
	u32 mr;
	u64 remote_addr;
	u32 rkey;
	u32 imm;
	u64 operand;
	u64 swap;
};

/**
 * struct krdma_flat_wc - completion
 * @wr_id: from the work request
 * @dest: the lower half of the consumer's context of the connection or SRQ
 * @opcode: operation of the work request, &enum krdma_opcode
 * @status: &enum krdma_wc_status
 * @flags: &enum krdma_wc_flags
 * @length: bytes received, or bytes of the operation; 0 if it failed
 * @imm: the peer's immediate data, or the rkey that the peer has invalidated, or 0
 * @vendor_error: the device's vendor error; 0 if the work request succeeded
 * @reserved: 0
 */
struct krdma_flat_wc {
	u64 wr_id;
	u32 dest;
	u8 opcode;
	u8 status;
	u16 flags;
	u32 length;
	u32 imm;
	u32 vendor_error;
	u32 reserved;
};

/**
 * struct krdma_flat_post - work requests to be posted to one destination
 * @wrs: the ring's entries
 * @mask: number of entries, a power of two, minus 1
 * @index: index of the first work request; runs freely
 * @count: number of work requests, at least 1
 * @dest: those for another destination are left
 * @mr_id: number of @mr; 0: none
 * @mr: result of @find for the last number, under the same rcu_read_lock() or
 *	rcu_read_lock_bh()
 * @find: finds the MR that a number stands for; returns NULL if there is none.  Does not sleep.
 * @context: argument of @find
 */
struct krdma_flat_post {
	const struct krdma_flat_wr *wrs;
	u32 mask;
	u32 index;
	u32 count;
	u32 dest;
	u32 mr_id;
	struct krdma_mr *mr;
	struct krdma_mr *(*find)(void *context, u32 id);
	void *context;
};

/**
 * struct krdma_flat_ring - where completions are stored
 * @wcs: the ring's entries
 * @mask: number of entries, a power of two, minus 1
 * @tail: index of the next entry; runs freely; advanced
 * @received: incremented for each receive
 */
struct krdma_flat_ring {
	struct krdma_flat_wc *wcs;
	u32 mask;
	u32 tail;
	u32 received;
};

/* io/cq.c: krdma_cq_poll() into a ring. */
int krdma_cq_poll_flat(struct krdma_cq *cq, struct krdma_flat_ring *ring, int count);
bool krdma_cq_has_more(const struct krdma_cq *cq);

#endif /* _KRDMA_FLAT_H */
