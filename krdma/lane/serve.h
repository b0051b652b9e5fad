/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_SERVE_H
#define _KRDMA_LANE_SERVE_H

#include <linux/types.h>

struct krdma_lane;
struct krdma_lane_record;
struct krdma_lane_writer;

int krdma_lane_serve(struct krdma_lane *lane, const struct krdma_lane_record *record);
void krdma_lane_refuse(struct krdma_lane *lane, u8 reason);
bool krdma_lane_add_results(struct krdma_lane_writer *writer, struct krdma_lane *lane);
bool krdma_lane_add_done(struct krdma_lane_writer *writer, struct krdma_lane *lane);

#endif /* _KRDMA_LANE_SERVE_H */
