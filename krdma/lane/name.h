/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_NAME_H
#define _KRDMA_LANE_NAME_H

#include <linux/types.h>

struct krdma_conn_lower;
struct krdma_found_mr;
struct krdma_lane;
struct krdma_lane_record;
struct krdma_lane_writer;

int krdma_lane_find_mr(struct krdma_conn_lower *lower, const char *name, u64 offset,
		       struct krdma_found_mr *found, u32 timeout_ms);
int krdma_lane_mr_found(struct krdma_lane *lane, const struct krdma_lane_record *record);
int krdma_lane_serve_name(struct krdma_lane *lane, const struct krdma_lane_record *record);
bool krdma_lane_add_names(struct krdma_lane_writer *writer, struct krdma_lane *lane);
void krdma_lane_names_free(struct krdma_lane *lane);

#endif /* _KRDMA_LANE_NAME_H */
