// SPDX-License-Identifier: GPL-2.0
/*
 * What a hostile peer does on an established connection: it posts work requests, several of which
 * may be in flight, and each must end as the plan says.
 */
#include <endian.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "visit_far.h"

/* Length and content of the server's answers. */
#define ANSWER_SIZE	24
#define ANSWER_BYTE	0x5c
/* The CQ is polled QUICK times without a pause, and then every PAUSE_US. */
#define QUICK		200
#define PAUSE_US	500
#define UNTOLD_US	5000000

struct talk {
	struct far *far;
	struct action actions[SPAN_MAX];
	bool broken;
	/* An rkey has been invalidated that further actions may use. */
	bool loose;
	/* Number of posted actions after which the peer kills itself. */
	unsigned int dies_at;
};

static unsigned char *buffer_of(struct far *far, unsigned int which)
{
	return far->host->mr + which % SPAN_MAX * BUFFER;
}

static enum ibv_wr_opcode opcode_of(enum act act)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[ACT_SEND] = IBV_WR_SEND,
		[ACT_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[ACT_SEND_INVALIDATE] = IBV_WR_SEND_WITH_INV,
		[ACT_WRITE] = IBV_WR_RDMA_WRITE,
		[ACT_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[ACT_READ] = IBV_WR_RDMA_READ,
		[ACT_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[ACT_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
	};

	return opcodes[act];
}

/* Fill the buffer with the data to send, or with EMPTY where data will arrive. */
static void fill(struct far *far, const struct action *action, unsigned char *buffer)
{
	switch (action->act) {
	case ACT_READ:
	case ACT_ADD:
	case ACT_SWAP:
		memset(buffer, EMPTY, action->length);
		break;
	case ACT_WRITE:
	case ACT_WRITE_IMM:
		memset(buffer, (int)action->noise, action->length);
		break;
	default:
		pattern_fill(buffer, action->length, far->visit->number,
			     SALT_MESSAGE(action->receive));
	}
}

static int post(struct far *far, const struct action *action, unsigned int which)
{
	const struct offer *offer = action->key == KEY_LAST ? &far->host->last : &far->offer;
	unsigned char *buffer = buffer_of(far, which);
	uint64_t address = offer->addr[action->region] + action->offset;
	uint32_t key = key_of(action, offer);
	struct ibv_sge sge = {
		(uintptr_t)buffer, action->length, far->host->registered->lkey,
	};
	struct ibv_send_wr request = {
		.wr_id = which, .sg_list = &sge, .num_sge = action->length ? 1 : 0,
		.opcode = opcode_of(action->act),
	}, *bad;

	fill(far, action, buffer);
	if (action->act == ACT_SEND_INVALIDATE)
		request.invalidate_rkey = key;
	else if (action->act == ACT_SEND_IMM || action->act == ACT_WRITE_IMM)
		request.imm_data = htobe32(action->imm);
	if (action->act == ACT_ADD || action->act == ACT_SWAP) {
		request.wr.atomic.remote_addr = address;
		request.wr.atomic.rkey = key;
		request.wr.atomic.compare_add = action->noise;
		request.wr.atomic.swap = action->imm;
	} else {
		request.wr.rdma.remote_addr = address;
		request.wr.rdma.rkey = key;
	}
	far->host->diary->actions++;
	return ibv_post_send(far->pair, &request, &bad);
}

/* Check the result only with one action in flight at a time: others would change it. */
static void model_atomic(struct far *far, const struct action *action,
			 const unsigned char *buffer)
{
	unsigned char *at = far->model + regions[action->region].offset + action->offset;
	uint64_t was, came;

	memcpy(&was, at, sizeof(was));
	memcpy(&came, buffer, sizeof(came));
	if (far->visit->span == 1 && came != was)
		far_finding(far, "an atomic found %#llx instead of %#llx",
			    (unsigned long long)came, (unsigned long long)was);
	if (action->act == ACT_ADD)
		was += action->noise;
	else if (was == action->noise)
		was = action->imm;
	memcpy(at, &was, sizeof(was));
}

/* Apply a successful action to the model, or compare what it has read. */
static void model(struct far *far, const struct action *action, const unsigned char *buffer)
{
	unsigned char *at = far->model + regions[action->region].offset + action->offset;
	bool constant = action->region == REGION_READ || far->visit->span == 1;

	switch (action->act) {
	case ACT_WRITE:
	case ACT_WRITE_IMM:
		memcpy(at, buffer, action->length);
		break;
	case ACT_READ:
		if (constant && memcmp(at, buffer, action->length))
			far_finding(far, "a read of %u bytes brought others", action->length);
		break;
	case ACT_ADD:
	case ACT_SWAP:
		model_atomic(far, action, buffer);
		break;
	default:
		break;
	}
}

static void judge_wrong(struct far *far, const struct action *action, const char *how)
{
	far_finding(far, "action %u (%d, region %d, offset %#llx, length %u, key %d): %s",
		    far->ended, action->act, action->region,
		    (unsigned long long)action->offset, action->length, action->key, how);
}

/* Status of a refused action.  A message that its receive cannot hold fails at the server. */
static enum ibv_wc_status refusal_of(const struct action *action)
{
	if (action->act == ACT_SEND || action->act == ACT_SEND_IMM)
		return IBV_WC_REM_OP_ERR;
	return refused_as_invalid(action) ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_ACCESS_ERR;
}

static void judge(struct talk *talk, const struct ibv_wc *wc)
{
	struct far *far = talk->far;
	const struct action *action = &talk->actions[far->ended % SPAN_MAX];

	if (wc->status == IBV_WC_SUCCESS) {
		far->host->diary->done++;
		talk->loose |= action->act == ACT_SEND_INVALIDATE;
		if (talk->broken)
			far_finding(far, "action %u: success after a failure", far->ended);
		if (action->fate == FATE_REFUSED)
			judge_wrong(far, action, "not refused");
		else if (action->key != KEY_LAST)
			model(far, action, buffer_of(far, far->ended));
	} else {
		far->host->diary->refused += !talk->broken;
		if (!talk->broken && action->fate == FATE_DONE && !far->over &&
		    !talk->loose)
			judge_wrong(far, action, ibv_wc_status_str(wc->status));
		if (!talk->broken && action->fate == FATE_REFUSED && !far->over &&
		    !talk->loose && wc->status != refusal_of(action))
			judge_wrong(far, action, ibv_wc_status_str(wc->status));
		talk->broken = true;
	}
	far->ended++;
}

static void take_answers(struct far *far)
{
	const unsigned char *room;
	struct ibv_wc wc;

	while (ibv_poll_cq(far->received, 1, &wc) > 0) {
		if (wc.status)
			continue;
		room = far->host->mr + SPAN_MAX * BUFFER + wc.wr_id * ANSWER_ROOM;
		for (unsigned int i = 0; i < ANSWER_SEEN; i++) {
			if (wc.byte_len == ANSWER_SIZE &&
			    room[i] == (i < ANSWER_SIZE ? ANSWER_BYTE : EMPTY))
				continue;
			far_finding(far, "an answer of %u bytes has %#x at %u", wc.byte_len,
				    room[i], i);
			break;
		}
		far_answer_room(far, (unsigned int)wc.wr_id);
	}
}

/*
 * Wait for the oldest action; the alarm ends the process if it does not complete.  If the server
 * disconnects while the peer's confirmation (RTU) is in flight, the peer may not get an event.
 */
static void take(struct talk *talk)
{
	struct far *far = talk->far;
	struct ibv_wc wc;
	int count, empty = 0;

	while (!(count = ibv_poll_cq(far->sent, 1, &wc))) {
		take_answers(far);
		far_look(far);
		if (++empty > QUICK)
			usleep(PAUSE_US);
		if (empty > QUICK + UNTOLD_US / PAUSE_US && !far->over &&
		    far->visit->server != SERVER_STAYS) {
			far->host->diary->untold++;
			far_give_up(far);
		}
	}
	if (count < 0 || wc.wr_id != far->ended)
		far_finding(far, "completion %llu instead of %u", (unsigned long long)wc.wr_id,
			    far->ended);
	judge(talk, &wc);
	take_answers(far);
}

void far_talk(struct far *far)
{
	const struct visit *visit = far->visit;
	struct script script = { .visit = visit };
	struct talk talk = { .far = far, .dies_at = visit->actions / 2 };

	pattern_fill(far->model, sizeof(far->model), visit->number, SALT_ARENA);
	while (!talk.broken &&
	       script_next(&script, &talk.actions[far->posted % SPAN_MAX])) {
		if (post(far, &talk.actions[far->posted % SPAN_MAX], far->posted))
			break;
		far->posted++;
		if (visit->end == PEER_DIES && far->posted >= talk.dies_at)
			raise(SIGKILL);
		if (far->posted - far->ended >= visit->span)
			take(&talk);
	}
	/* Here the QP is destroyed with work requests in flight. */
	if (visit->end == PEER_DESTROYS_PAIR)
		return;
	while (far->ended < far->posted)
		take(&talk);
}
