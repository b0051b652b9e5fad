// SPDX-License-Identifier: GPL-2.0
/*
 * Hubs of libkrdma without a connection: RDMA reads of long messages that fail, and the order in
 * which these messages get memory.
 */
#include <errno.h>
#include <string.h>

#include "hub.h"
#include "tap.h"

#define LENGTH	100000u
#define MIB		(1024ull * 1024)

/* The error with which the endpoint was ended, and how often. */
static int failed;
static unsigned int failures;

void hub_ep_fail(struct krdma_ep *ep, int error, const char *format, ...)
{
	(void)ep;
	(void)format;
	failed = error;
	failures++;
}

/*
 * What else hub_long.c calls.
 */

static unsigned int controls;
static unsigned int ready;
static unsigned int released;

void hub_send_control(struct krdma_ep *ep, struct hub_frame *frame, const void *data,
		      size_t length)
{
	(void)ep;
	(void)data;
	(void)length;
	controls += frame->kind == HUB_DONE;
}

void hub_ep_check_ready(struct krdma_ep *ep)
{
	(void)ep;
	ready++;
}

void hub_slot_release(struct hub_slot *slot)
{
	(void)slot;
	released++;
}

void hub_send_room(struct krdma_ep *ep)
{
	(void)ep;
}

void hub_list_add(struct hub_list *list, struct hub_link *link)
{
	link->next = NULL;
	*(list->first ? list->end : &list->first) = link;
	list->end = &link->next;
}

void hub_list_remove(struct hub_list *list, struct hub_link *link)
{
	struct hub_link **at = &list->first;

	while (*at && *at != link)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = link->next;
	if (list->end == &link->next)
		list->end = at;
}

size_t hub_buffer_size(const struct krdma_hub *of, size_t length)
{
	(void)of;
	return length;
}

/* Memory that no function looks into. */
static struct hub_buffer any_buffer = { .mr = (struct krdma_mr *)&any_buffer };
/* There is memory for messages up to this length. */
static size_t most_memory;

int hub_buffer_get(struct hub_device *device, size_t length, struct hub_buffer **buffer)
{
	(void)device;
	*buffer = &any_buffer;
	return length <= most_memory ? 0 : -ENOMEM;
}

void hub_buffer_put(struct hub_device *device, struct hub_buffer *buffer)
{
	(void)device;
	(void)buffer;
}

/* RDMA reads that were posted: of which message, and how long. */
static struct hub_slot *posted[64];
static uint32_t posted_lengths[64];
static unsigned int posted_count;

int hub_post(struct krdma_ep *ep, struct hub_wr *wr, struct krdma_sqe *entry)
{
	(void)ep;
	posted[posted_count] = HUB_OF(wr, struct hub_slot, fetch);
	posted_lengths[posted_count++] = entry->sge.length;
	return 0;
}

uint32_t krdma_conn_id(const struct krdma_conn *conn)
{
	(void)conn;
	return 1;
}

void *krdma_mr_data(const struct krdma_mr *mr)
{
	(void)mr;
	return NULL;
}

uint32_t krdma_mr_id(const struct krdma_mr *mr)
{
	(void)mr;
	return 1;
}

const char *krdma_error_name(int error)
{
	(void)error;
	return "";
}

const char *krdma_wc_status_name(uint32_t status)
{
	(void)status;
	return "";
}

/* A long message of which all was asked for by one read, which completes with @status. */
static void read_ends(uint8_t status, bool dropped)
{
	static struct krdma_hub hub;
	static struct krdma_ep ep;
	static struct hub_slot slot;
	const struct krdma_cqe cqe = {
		.status = status, .length = status == KRDMA_WC_SUCCESS ? LENGTH : 0,
	};

	ep = (struct krdma_ep){ .hub = &hub, .state = HUB_UP, .reads_out = 1 };
	slot = (struct hub_slot){
		.ep = &ep, .asked = LENGTH, .in_flight = 1, .dropped = dropped,
		.frame = {
			.kind = HUB_MESSAGE, .is_long = true, .remote = { .length = LENGTH },
		},
	};
	failed = 0;
	failures = 0;
	controls = 0;
	ready = 0;
	released = 0;
	hub_fetch_done(&slot, &cqe);
}

/* No failure of this machine or of the network is a violation of the protocol. */
static bool others_are_left_to_the_connection(void)
{
	static const uint8_t others[] = {
		KRDMA_WC_LOC_LEN_ERR, KRDMA_WC_LOC_QP_OP_ERR, KRDMA_WC_LOC_PROT_ERR,
		KRDMA_WC_WR_FLUSH_ERR, KRDMA_WC_BAD_RESP_ERR, KRDMA_WC_LOC_ACCESS_ERR,
		KRDMA_WC_REM_INV_REQ_ERR, KRDMA_WC_REM_OP_ERR, KRDMA_WC_RETRY_EXC_ERR,
		KRDMA_WC_RNR_RETRY_EXC_ERR, KRDMA_WC_GENERAL_ERR,
	};
	bool all = true;

	for (size_t i = 0; i < sizeof(others); i++) {
		read_ends(others[i], false);
		if (failures || ready || controls) {
			printf("# status %u: error %d, %u times\n", others[i], failed, failures);
			all = false;
		}
	}
	return all;
}

/*
 * Long messages of one peer, whose share is 16 MiB.
 */

static struct krdma_hub hub;
static struct krdma_ep ep;
static struct hub_slot slots[3];

static void peer_joins(void)
{
	memset(slots, 0, sizeof(slots));
	hub = (struct krdma_hub){ .options = { .longest = 16 * MIB, .budget = 64 * MIB } };
	ep = (struct krdma_ep){ .hub = &hub, .state = HUB_UP };
	most_memory = SIZE_MAX;
	posted_count = 0;
	failures = 0;
}

static void announce(unsigned int number, uint64_t length)
{
	struct hub_slot *slot = &slots[number];

	slot->ep = &ep;
	slot->item.waits = true;
	slot->frame = (struct hub_frame){
		.kind = HUB_MESSAGE, .is_long = true, .remote = { .length = length },
	};
	hub_fetch_add(slot);
}

/* All reads complete, also those that follow. */
static void read_all(void)
{
	for (unsigned int i = 0; i < posted_count; i++) {
		const struct krdma_cqe cqe = { .length = posted_lengths[i] };

		hub_fetch_done(posted[i], &cqe);
	}
	posted_count = 0;
}

/* The program gives the message back. */
static void give_back(unsigned int number)
{
	hub_slot_done(&slots[number]);
	hub_fetch_next(&hub);
	read_all();
}

/* Whether the first messages, as many as @there, were read, and no other one. */
static bool are_there(unsigned int there)
{
	for (unsigned int i = 0; i < 3; i++) {
		bool waits = i >= there;

		if (slots[i].item.waits != waits)
			return false;
	}
	return true;
}

/* The record of a message comes after those of the messages before it, and with it its memory. */
static bool come_in_order(void)
{
	peer_joins();
	announce(0, 8 * MIB);
	announce(1, 10 * MIB);
	announce(2, 8 * MIB);
	read_all();
	if (!are_there(1))
		return false;
	give_back(0);
	if (!are_there(2))
		return false;
	give_back(1);
	return are_there(3) && ep.held == 8 * MIB && !failures;
}

static bool stay_in_order_without_memory(void)
{
	peer_joins();
	announce(0, 8 * MIB);
	most_memory = 0;
	announce(1, 3 * MIB);
	announce(2, 3 * MIB);
	most_memory = SIZE_MAX;
	/* There is memory for one of both. */
	hub.options.budget = 11 * MIB;
	hub_fetch_next(&hub);
	read_all();
	return are_there(2) && !failures;
}

/* Another peer's message, for which there is memory, does not wait for one without. */
static bool peers_do_not_wait_for_memory_of_others(void)
{
	struct krdma_ep other;

	peer_joins();
	other = ep;
	announce(0, MIB);
	most_memory = MIB;
	announce(1, 8 * MIB);
	slots[2].ep = &other;
	slots[2].item.waits = true;
	slots[2].frame = slots[0].frame;
	hub_fetch_add(&slots[2]);
	return posted_count == 2 && posted[1] == &slots[2] && slots[1].item.waits && !failures;
}

/* The program waits for the answer, and gives nothing back until it is there. */
static bool an_awaited_answer_overtakes(void)
{
	struct hub_call call = { .state = HUB_CALL_ANSWERED, .sync = true };

	peer_joins();
	announce(0, 8 * MIB);
	announce(1, 10 * MIB);
	slots[2].call = &call;
	announce(2, MIB);
	read_all();
	return call.is_there && !slots[0].item.waits && slots[1].item.waits;
}

int main(void)
{
	read_ends(KRDMA_WC_SUCCESS, false);
	tap_result(!failures && ready == 1 && controls == 1, "a long message that was read");
	read_ends(KRDMA_WC_REM_ACCESS_ERR, false);
	tap_result(failures == 1 && failed == -EPROTO && !ready && !controls,
		   "memory that the peer has described wrongly is a violation of the protocol");
	tap_result(others_are_left_to_the_connection(),
		   "the connection says why another read has failed");
	read_ends(KRDMA_WC_RETRY_EXC_ERR, true);
	tap_result(!failures && released == 1, "a message that was dropped is given back");
	tap_result(come_in_order(), "long messages of a peer get memory in their order");
	tap_result(stay_in_order_without_memory(), "a message without memory keeps its turn");
	tap_result(peers_do_not_wait_for_memory_of_others(),
		   "a message without memory keeps no other peer waiting");
	tap_result(an_awaited_answer_overtakes(), "an answer that is waited for is read at once");
	return tap_end();
}
