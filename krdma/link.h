/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The codes in which ports speak of their links, as numbers for people.  Pure.
 */
#ifndef _KRDMA_LINK_H
#define _KRDMA_LINK_H

#include "pure.h"

u32 krdma_link_mtu_bytes(u32 mtu_code);
u32 krdma_link_speed_mbps(u32 speed_code, u32 width_code);
enum krdma_port_state krdma_link_state(u32 state_code);

#endif /* _KRDMA_LINK_H */
