/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_PORT_H
#define _KRDMA_LANE_PORT_H

#include <linux/types.h>

struct krdma_listener;
struct krdma_trunk;
struct net;

void krdma_lane_ports_init(void);
int krdma_lane_listen(struct krdma_listener *listener);
void krdma_lane_unlisten(struct krdma_listener *listener);
struct krdma_listener *krdma_lane_listener_get(const struct krdma_trunk *trunk, u16 port);
bool krdma_lane_is_taken(const struct net *net);

#endif /* _KRDMA_LANE_PORT_H */
