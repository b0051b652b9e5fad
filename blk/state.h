/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_STATE_H
#define _KRDMA_BLK_STATE_H

#include <linux/types.h>

#include "device.h"

struct krdma_blk_device;

/* The state, and the error text */
const char *krdma_blk_state_name(enum krdma_blk_state state);
void krdma_blk_path_say(struct krdma_blk_device *device, const char *text);
void krdma_blk_path_explain(struct krdma_blk_device *device, const char *refused, int error);
unsigned long krdma_blk_path_limit(const struct krdma_blk_device *device);
void krdma_blk_path_set_timer(struct krdma_blk_device *device);
bool krdma_blk_fence_is_up(struct krdma_blk_device *device);
bool krdma_blk_fence_lower(struct krdma_blk_device *device);
void krdma_blk_path_live(struct krdma_blk_device *device);
void krdma_blk_path_lost(struct krdma_blk_device *device);
void krdma_blk_path_lost_soon(struct krdma_blk_device *device);
void krdma_blk_path_end(struct krdma_blk_device *device);
bool krdma_blk_path_move(struct krdma_blk_device *device);
bool krdma_blk_path_is_moving(struct krdma_blk_device *device);
bool krdma_blk_path_stop(struct krdma_blk_device *device);
void krdma_blk_path_set_hold(struct krdma_blk_device *device, unsigned int seconds);
enum krdma_blk_state krdma_blk_path_state(struct krdma_blk_device *device);
bool krdma_blk_path_gives_up(struct krdma_blk_device *device);

#endif /* _KRDMA_BLK_STATE_H */
