// SPDX-License-Identifier: GPL-2.0
/*
 * Pairs of ends that are lanes.
 */
#include <errno.h>
#include <string.h>

#include "lane_pair.h"

const struct pair_options lane_options = {
	.two_sessions = true,
	.listen_flags = KRDMA_LISTEN_LANES,
	.a.create_flags = KRDMA_CONN_CREATE_LANE,
	.a.max_inline = 128,
};

int lane_memory(struct pair *pair, int side, size_t length, struct mr *mr)
{
	return mr_create_with(pair->sessions[side], pair->device, length,
			      KRDMA_ACCESS_LOCAL_WRITE, KRDMA_MR_REGISTER_LANES, mr);
}

int memory_for_peers(struct pair *pair, int side, size_t length, struct mr *mr)
{
	return mr_create_with(pair->sessions[side], pair->device, length, ACCESS_ALL,
			      KRDMA_MR_REGISTER_LANES, mr);
}

int message(struct end *from, const struct mr *source, struct end *to, struct mr *target,
	    size_t place, uint32_t length)
{
	struct krdma_sqe receive = sqe_receive(to->id, 2, target, place, target->length - place);
	struct krdma_sqe send = sqe_send(from->id, 1, source, place, length);
	struct krdma_cqe cqe;
	int ret;

	fill(source->data + place, length, length);
	memset(target->data, 0, target->length);
	ret = ring_submit(to->recv_ring, &receive, 1, NULL);
	if (!ret)
		ret = ring_submit(from->ring, &send, 1, NULL);
	if (!ret)
		ret = ring_wait(from->ring, &cqe, PATIENCE_MS);
	if (!ret && (cqe.status || cqe.wr_id != 1 || cqe.dest != from->id))
		ret = -EPROTO;
	if (!ret)
		ret = ring_wait(to->recv_ring, &cqe, PATIENCE_MS);
	if (!ret && (cqe.status || cqe.wr_id != 2 || cqe.dest != to->id || cqe.length != length ||
		     cqe.opcode != KRDMA_OP_RECV || cqe.flags))
		ret = -EPROTO;
	if (!ret && (!filled(target->data + place, length, length) ||
		     !zeroed(target->data, place) ||
		     !zeroed(target->data + place + length, target->length - place - length)))
		ret = -EILSEQ;
	return ret;
}
