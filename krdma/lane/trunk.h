/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_LANE_TRUNK_H
#define _KRDMA_LANE_TRUNK_H

#include <linux/types.h>

struct krdma_conn_path;
struct krdma_lane;
struct krdma_listener;
struct krdma_session;
struct krdma_trunk;
struct krdma_trunk_key;
struct net;

int krdma_trunk_find(struct krdma_lane *lane, const struct krdma_trunk_key *key);
bool krdma_trunk_find_known(struct krdma_lane *lane, struct krdma_conn_path *path);
bool krdma_trunk_takes_lane(const struct krdma_trunk *trunk);
void krdma_trunk_end_finder(struct krdma_lane *lane);
void krdma_trunk_get(struct krdma_trunk *trunk);
void krdma_trunk_put(struct krdma_trunk *trunk);
void krdma_trunk_schedule(struct krdma_trunk *trunk);
void krdma_trunk_send_later(struct krdma_trunk *trunk);
void krdma_trunk_fail(struct krdma_trunk *trunk, int error);
void krdma_trunk_set_timer(struct krdma_trunk *trunk);
struct krdma_session *krdma_trunk_session_create(struct net *net);
void krdma_trunks_accept(struct krdma_listener *listener);
void krdma_trunks_forget(const struct net *net);
void krdma_trunks_shut(const struct net *net);
void krdma_trunks_init(void);
void krdma_trunks_exit(void);

#endif /* _KRDMA_LANE_TRUNK_H */
