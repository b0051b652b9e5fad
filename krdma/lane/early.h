/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_EARLY_H
#define _KRDMA_LANE_EARLY_H

#include <linux/types.h>

struct krdma_lane;
struct krdma_lane_record;

void krdma_lane_open_early(struct krdma_lane *lane);
bool krdma_lane_has_early(const struct krdma_lane *lane);
bool krdma_lane_early_waits(const struct krdma_lane *lane);
int krdma_lane_early_alloc(struct krdma_lane *lane, u32 size, gfp_t gfp);
int krdma_lane_keep_early(struct krdma_lane *lane, const struct krdma_lane_record *record);
int krdma_lane_take_early(struct krdma_lane *lane);
int krdma_lane_follow_early(struct krdma_lane *lane, const struct krdma_lane_record *record);
void krdma_lane_early_work(struct krdma_lane *lane);

#endif /* _KRDMA_LANE_EARLY_H */
