/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_HOLD_H
#define _KRDMA_BLK_HOLD_H

#include <linux/types.h>

struct krdma_blk_queue;
struct krdma_blk_request;
struct krdma_conn;
struct list_head;

/* Requests that are not posted */
int krdma_blk_request_map(struct krdma_conn *conn, struct krdma_blk_request *request);
bool krdma_blk_request_fail(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			    blk_status_t result);
void krdma_blk_request_wait(struct krdma_blk_queue *queue, struct krdma_blk_request *request);
bool krdma_blk_request_hold(struct krdma_blk_queue *queue, struct krdma_blk_request *request);
bool krdma_blk_request_refused(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			       int error);
bool krdma_blk_request_is_last(const struct krdma_blk_request *request);
int krdma_blk_request_not_taken(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
				int error);
void krdma_blk_request_blame(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			     u8 status);
void krdma_blk_request_return(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			      struct list_head *ended);
void krdma_blk_request_complete(struct krdma_blk_request *request);
void krdma_blk_requests_fail(struct list_head *ended);
void krdma_blk_queue_fail(struct krdma_blk_queue *queue);

#endif /* _KRDMA_BLK_HOLD_H */
