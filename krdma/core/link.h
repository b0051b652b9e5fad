/* SPDX-License-Identifier: GPL-2.0 */
/* Conversion of the codes of link attributes to numbers.  Pure functions. */
#ifndef _KRDMA_LINK_H
#define _KRDMA_LINK_H

#include "core/pure.h"

u32 krdma_link_mtu_bytes(u32 mtu_code);
u32 krdma_link_speed_mbps(u32 speed_code, u32 width_code);
enum krdma_port_state krdma_link_state(u32 state_code);

/*
 * 4.096 us * 2^14 = 67 ms: the time that a device may need to answer, also if a busy machine
 * emulates it.  A hardware device answers in microseconds, but rxe answers in a thread that has
 * to be scheduled.
 */
#define KRDMA_ACK_TIMEOUT	14
/* 537 ms, which rdma_cm of Linux 6.12 and 7.2 assumes for RoCE; that of 6.1 assumes 2.1 s. */
#define KRDMA_ACK_TIMEOUT_ROUTED	17

u8 krdma_link_ack_timeout(bool routed);
bool krdma_link_knows_timeout(u8 packet_life_time);

#endif /* _KRDMA_LINK_H */
