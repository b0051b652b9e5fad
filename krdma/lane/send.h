/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_SEND_H
#define _KRDMA_LANE_SEND_H

#include <linux/types.h>

struct krdma_lane;
struct krdma_trunk;
struct krdma_wc;

void krdma_link_answer(struct krdma_trunk *trunk, u8 type, u32 number, u8 value);
bool krdma_link_has_left(const struct krdma_trunk *trunk);
void krdma_link_notify_closed(struct krdma_lane *lane, u8 type);
int krdma_link_post_error(const struct krdma_trunk *trunk, int error);
void krdma_link_send(struct krdma_trunk *trunk);
bool krdma_link_send_one(struct krdma_trunk *trunk);
bool krdma_link_post_now(struct krdma_lane *lane);
void krdma_link_probe(struct krdma_trunk *trunk);
void krdma_link_end_closed(struct krdma_lane *lane);
void krdma_link_sent(struct krdma_trunk *trunk, const struct krdma_wc *wc);

#endif /* _KRDMA_LANE_SEND_H */
