/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_SHARE_H
#define _KRDMA_LANE_SHARE_H

#include <linux/types.h>

struct krdma_lane;
struct krdma_lane_record;
struct krdma_lane_writer;
struct krdma_srq;

int krdma_lane_share_create(struct krdma_lane *lane, struct krdma_srq *srq);
void krdma_lane_share_destroy(struct krdma_lane *lane);
void krdma_lane_share_free(struct krdma_lane *lane);
void krdma_lane_share_start(struct krdma_lane *lane);
int krdma_lane_wanted(struct krdma_lane *lane, const struct krdma_lane_record *record);
int krdma_lane_recalled(struct krdma_lane *lane);
int krdma_lane_yielded(struct krdma_lane *lane, const struct krdma_lane_record *record);
bool krdma_lane_add_recall(struct krdma_lane_writer *writer, struct krdma_lane *lane);
bool krdma_lane_add_want(struct krdma_lane_writer *writer, struct krdma_lane *lane);

#endif /* _KRDMA_LANE_SHARE_H */
