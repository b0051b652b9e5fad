/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_STAGED_H
#define _KRDMA_BLK_STAGED_H

#include <linux/types.h>

struct krdma_blk_queue;
struct krdma_blk_request;
struct krdma_conn;
struct krdma_wc;

/* Requests that the server executes */
int krdma_blk_command_place(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			    int mapped);
void krdma_blk_command_unsent(struct krdma_blk_queue *queue, const struct krdma_wc *completion);
void krdma_blk_command_data_ended(struct krdma_blk_queue *queue, u8 status);
void krdma_blk_command_sent(struct krdma_blk_queue *queue, struct krdma_blk_request *request,
			    const struct krdma_wc *completion);
bool krdma_blk_command_waits(struct krdma_blk_queue *queue, struct krdma_blk_request *request);
void krdma_blk_command_replied(struct krdma_blk_queue *queue, const struct krdma_wc *completion);
void krdma_blk_queue_unmap_commands(struct krdma_blk_queue *queue, struct krdma_conn *conn);
void krdma_blk_queue_return(struct krdma_blk_queue *queue);

#endif /* _KRDMA_BLK_STAGED_H */
