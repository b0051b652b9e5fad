/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_ASK_H
#define _KRDMA_LANE_ASK_H

#include <linux/types.h>

struct krdma_lane;
struct krdma_lane_record;
struct krdma_lane_wqe;

bool krdma_lane_is_message(const struct krdma_lane_wqe *wqe);
u32 krdma_lane_credits_left(const struct krdma_lane *lane);
bool krdma_lane_lacks_receive(const struct krdma_lane *lane);
u32 krdma_lane_receives_needed(const struct krdma_lane *lane);
bool krdma_lane_may_send(const struct krdma_lane *lane);
bool krdma_lane_is_fenced(const struct krdma_lane_wqe *wqe);
u32 krdma_lane_wire_length(const struct krdma_lane_wqe *wqe);
void krdma_lane_fill_request(const struct krdma_lane *lane, struct krdma_lane_record *record);
void krdma_lane_sent(struct krdma_lane *lane);
bool krdma_lane_awaits_ack(const struct krdma_lane *lane);
void krdma_lane_complete_sent(struct krdma_lane *lane);
int krdma_lane_result(struct krdma_lane *lane, const struct krdma_lane_record *record);
int krdma_lane_writes_done(struct krdma_lane *lane, u32 count);
void krdma_lane_set_depths(struct krdma_lane *lane);

#endif /* _KRDMA_LANE_ASK_H */
