/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_POLL_H
#define _KRDMA_BLK_POLL_H

#include <linux/types.h>

struct blk_mq_tag_set;
struct completion;
struct krdma_blk_queue;
struct krdma_conn;
struct krdma_cq;

/* CQs, and queues without interrupts */
bool krdma_blk_queue_polls(const struct krdma_blk_queue *queue);
struct krdma_cq *krdma_blk_cq_create(const struct krdma_blk_queue *queue, u32 depth);
void krdma_blk_poll_open(struct krdma_blk_queue *queue, struct krdma_cq *cq);
void krdma_blk_poll_drain(struct krdma_blk_queue *queue, struct krdma_conn *conn);
void krdma_blk_poll_close(struct krdma_blk_queue *queue);
int krdma_blk_poll(struct krdma_blk_queue *queue);
void krdma_blk_poll_all(struct krdma_blk_queue *queue);
bool krdma_blk_poll_wait(struct krdma_blk_queue *queue, struct completion *end,
			 unsigned long timeout);
void krdma_blk_map_queues(struct blk_mq_tag_set *set);

#endif /* _KRDMA_BLK_POLL_H */
