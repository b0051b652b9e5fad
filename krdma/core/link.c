// SPDX-License-Identifier: GPL-2.0
/*
 * The codes in which ports speak of their links, as numbers for people.  Pure.
 *
 * The codes are those of the InfiniBand architecture's PortInfo, which ib_core
 * uses for every transport; device.c checks that they are the same.
 */
#include "core/link.h"

/**
 * krdma_link_mtu_bytes - an MTU in bytes
 * @mtu_code: InfiniBand's codes 1 to 5, Omni-Path's 6 and 7
 *
 * Context: any.
 * Return: bytes, 0 for a code that means nothing.
 */
u32 krdma_link_mtu_bytes(u32 mtu_code)
{
	switch (mtu_code) {
	case 1: return 256;
	case 2: return 512;
	case 3: return 1024;
	case 4: return 2048;
	case 5: return 4096;
	case 6: return 8192;
	case 7: return 10240;
	default: return 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_mtu_bytes);

/* The speed of one lane, as it is written on the box: 4 lanes of EDR are 100 Gbit/s. */
static u32 krdma_link_lane_mbps(u32 speed_code)
{
	switch (speed_code) {
	case 1: return 2500;		/* SDR */
	case 2: return 5000;		/* DDR */
	case 4: return 10000;		/* QDR */
	case 8: return 10000;		/* FDR-10 */
	case 16: return 14000;		/* FDR */
	case 32: return 25000;		/* EDR */
	case 64: return 50000;		/* HDR */
	case 128: return 100000;	/* NDR */
	case 256: return 200000;	/* XDR */
	default: return 0;
	}
}

static u32 krdma_link_lanes(u32 width_code)
{
	switch (width_code) {
	case 1: return 1;
	case 2: return 4;
	case 4: return 8;
	case 8: return 12;
	case 16: return 2;
	default: return 0;
	}
}

/**
 * krdma_link_speed_mbps - a link's speed
 * @speed_code: the speed of a lane, one bit
 * @width_code: the number of lanes, one bit
 *
 * The nominal speed, as for Ethernet links: what encoding costs is not taken
 * off.
 *
 * Context: any.
 * Return: Mbit/s, 0 if either code means nothing.
 */
u32 krdma_link_speed_mbps(u32 speed_code, u32 width_code)
{
	return krdma_link_lane_mbps(speed_code) * krdma_link_lanes(width_code);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_speed_mbps);

/**
 * krdma_link_state - the state of a port
 * @state_code: InfiniBand's code
 *
 * A port that recovers a link which is up (code 5, active deferred) is in use.
 * A code that means nothing is no promise of a link.
 *
 * Context: any.
 * Return: the state.
 */
enum krdma_port_state krdma_link_state(u32 state_code)
{
	switch (state_code) {
	case 2: return KRDMA_PORT_INIT;
	case 3: return KRDMA_PORT_ARMED;
	case 4: return KRDMA_PORT_ACTIVE;
	case 5: return KRDMA_PORT_ACTIVE;
	default: return KRDMA_PORT_DOWN;
	}
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_state);

/**
 * krdma_link_ack_timeout - how long an answer may take where nobody knows the way
 * @routed: there is a router on it
 *
 * On Ethernet, rdma_cm assumes a constant, which is not the same in all kernels.
 *
 * Context: any.
 * Return: n, of 4.096 us * 2^n.
 */
u8 krdma_link_ack_timeout(bool routed)
{
	return routed ? KRDMA_ACK_TIMEOUT_ROUTED : KRDMA_ACK_TIMEOUT;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_ack_timeout);

/**
 * krdma_link_knows_timeout - is what the subnet manager says of a way long enough?
 * @packet_life_time: of the path: n, of 4.096 us * 2^n
 *
 * An answer takes two ways, and the connection manager adds what the devices need.
 *
 * Context: any.
 * Return: whether the connection manager's own is at least KRDMA_ACK_TIMEOUT.
 */
bool krdma_link_knows_timeout(u8 packet_life_time)
{
	return packet_life_time + 1 >= KRDMA_ACK_TIMEOUT;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_knows_timeout);
