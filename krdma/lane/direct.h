/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_DIRECT_H
#define _KRDMA_LANE_DIRECT_H

#include <linux/types.h>

#include "lane/window.h"

struct krdma_lane;
struct krdma_lane_record;
struct krdma_lane_writer;
struct krdma_peer_window;
struct krdma_trunk;
struct krdma_wc;
struct work_struct;

enum krdma_direct_way krdma_lane_direct_way(struct krdma_lane *lane,
					    struct krdma_peer_window **window);
bool krdma_lane_reads_direct(const struct krdma_lane *lane);
int krdma_lane_post_direct(struct krdma_lane *lane, struct krdma_peer_window *window, u32 *budget);
void krdma_lane_pass_place(struct krdma_lane *lane);
void krdma_lane_direct_wait(struct krdma_lane *lane);
void krdma_lane_consider_window(struct krdma_lane *lane, u32 position);
int krdma_lane_window_given(struct krdma_lane *lane, const struct krdma_lane_record *record);
bool krdma_lane_add_ask(struct krdma_lane_writer *writer, struct krdma_lane *lane);
void krdma_lane_forget_windows(struct krdma_lane *lane);
bool krdma_lane_direct_ended(struct krdma_lane *lane);
void krdma_trunk_drain(struct work_struct *work);
int krdma_trunk_revoke(struct krdma_trunk *trunk, const struct krdma_lane_record *record);
bool krdma_trunk_add_revoked(struct krdma_trunk *trunk, struct krdma_lane_writer *writer);
void krdma_trunk_direct_done(struct krdma_trunk *trunk, const struct krdma_wc *wc);
void krdma_trunk_forget_windows(struct krdma_trunk *trunk);

#endif /* _KRDMA_LANE_DIRECT_H */
