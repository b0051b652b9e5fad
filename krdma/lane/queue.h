/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_QUEUE_H
#define _KRDMA_LANE_QUEUE_H

#include <linux/types.h>

struct krdma_conn_attr;
struct krdma_conn_lower;
struct krdma_lane;
struct krdma_lane_queue;
struct krdma_recv_wr;
struct krdma_send_wr;
struct krdma_srq_recv;

void krdma_lane_feed(struct krdma_lane *lane);
int krdma_lane_prepare_post(struct krdma_conn_lower *lower);
int krdma_lane_queues_create(struct krdma_lane *lane, const struct krdma_conn_attr *attr);
void krdma_lane_queues_end(struct krdma_lane *lane);
void krdma_lane_queues_free(struct krdma_lane *lane);
void krdma_lane_uncharge(struct krdma_lane *lane);
int krdma_lane_post_send(struct krdma_conn_lower *lower, const struct krdma_send_wr *wrs,
			 int count);
int krdma_lane_post_recv(struct krdma_conn_lower *lower, const struct krdma_recv_wr *wrs,
			 int count);
bool krdma_lane_push_recv(struct krdma_lane *lane, const struct krdma_srq_recv *recv);
bool krdma_lane_pop_recv(struct krdma_lane *lane, struct krdma_srq_recv *recv);
void krdma_lane_copy_sent(struct krdma_lane *lane, u8 *to, u32 length);
void krdma_lane_copy_received(struct krdma_lane *lane, const u8 *from, u32 length);
void krdma_lane_copy_result(struct krdma_lane *lane, u32 position, u32 offset, const u8 *from,
			    u32 length);
void krdma_lane_send_done(struct krdma_lane *lane);
void krdma_lane_recv_done(struct krdma_lane *lane, u8 status);
void krdma_lane_deliver(struct krdma_lane *lane, struct krdma_lane_queue *queue);

#endif /* _KRDMA_LANE_QUEUE_H */
