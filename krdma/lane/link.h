/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_LINK_H
#define _KRDMA_LANE_LINK_H

struct krdma_lane;
struct krdma_lane_hello;
struct krdma_lane_record;
struct krdma_trunk;
struct krdma_wc;
struct work_struct;

int krdma_link_create(struct krdma_trunk *trunk);
void krdma_link_close(struct krdma_trunk *trunk);
void krdma_link_destroy(struct krdma_trunk *trunk);
void krdma_link_up(struct krdma_trunk *trunk, const struct krdma_lane_hello *hello);
void krdma_link_read_late(struct krdma_trunk *trunk);
void krdma_link_complete(const struct krdma_wc *wc);
void krdma_link_await_answer(struct krdma_lane *lane);
void krdma_link_give_up(struct work_struct *work);
int krdma_link_message(struct krdma_lane *lane, const struct krdma_lane_record *record);

#endif /* _KRDMA_LANE_LINK_H */
