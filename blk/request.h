/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_REQUEST_H
#define _KRDMA_BLK_REQUEST_H

struct blk_mq_ops;
struct krdma_blk_queue;
struct krdma_conn;
struct krdma_wc;

/* Requests */
extern const struct blk_mq_ops krdma_blk_mq_ops;
void krdma_blk_request_done(const struct krdma_wc *completion);
void krdma_blk_queue_unbatch(struct krdma_blk_queue *queue, struct krdma_conn *conn);
void krdma_blk_queue_unreported(struct krdma_blk_queue *queue, struct krdma_conn *conn);
void krdma_blk_queue_push(struct krdma_blk_queue *queue);

#endif /* _KRDMA_BLK_REQUEST_H */
