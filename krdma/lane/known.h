/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_KNOWN_H
#define _KRDMA_LANE_KNOWN_H

#include <linux/types.h>

struct krdma_conn_path;
struct krdma_lane;
struct krdma_trunk;

void krdma_trunk_learn(struct krdma_trunk *trunk, const struct krdma_lane *lane, bool taken);
void krdma_trunk_forget_port(struct krdma_trunk *trunk, u16 port);
bool krdma_trunk_reach(struct krdma_trunk *trunk, struct krdma_lane *lane,
		       struct krdma_conn_path *path);

#endif /* _KRDMA_LANE_KNOWN_H */
