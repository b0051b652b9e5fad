/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_READY_H
#define _KRDMA_LANE_READY_H

#include <linux/types.h>

struct krdma_lane;
struct krdma_trunk;

void krdma_trunk_add_ready(struct krdma_lane *lane);
void krdma_trunk_ready(struct krdma_lane *lane);
void krdma_trunk_posted(struct krdma_lane *lane);
void krdma_trunk_end_served(struct krdma_trunk *trunk);
struct krdma_lane *krdma_trunk_next_ready(struct krdma_trunk *trunk);
void krdma_trunk_return_ready(struct krdma_lane *lane, bool used);
void krdma_trunk_end_lane(struct krdma_lane *lane);

#endif /* _KRDMA_LANE_READY_H */
