// SPDX-License-Identifier: GPL-2.0
/*
 * Hubs of libkrdma without a connection: RDMA reads of long messages that fail.
 */
#include <errno.h>

#include "hub.h"
#include "tap.h"

#define LENGTH	100000u

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
	(void)list;
	(void)link;
}

void hub_list_remove(struct hub_list *list, struct hub_link *link)
{
	(void)list;
	(void)link;
}

int hub_buffer_get(struct hub_device *device, size_t length, struct hub_buffer **buffer)
{
	(void)device;
	(void)length;
	(void)buffer;
	return -ENOMEM;
}

void hub_buffer_put(struct hub_device *device, struct hub_buffer *buffer)
{
	(void)device;
	(void)buffer;
}

int hub_post(struct krdma_ep *ep, struct hub_wr *wr, struct krdma_sqe *entry)
{
	(void)ep;
	(void)wr;
	(void)entry;
	return -ENOTCONN;
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
		.ep = &ep, .asked = LENGTH, .under_way = 1, .dropped = dropped,
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
	return tap_end();
}
