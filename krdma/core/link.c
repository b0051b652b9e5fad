// SPDX-License-Identifier: GPL-2.0
/*
 * Conversion of the codes of link attributes to numbers.  Pure functions.
 *
 * The codes are those of the InfiniBand architecture's PortInfo, which ib_core uses for every
 * transport; device_query.c asserts that they are the same.
 */
#include "core/link.h"

/**
 * krdma_link_mtu_bytes() - Convert an MTU code to bytes
 * @mtu_code: InfiniBand codes 1 to 5, Omni-Path codes 6 and 7
 *
 * Context: any.
 * Return: bytes, 0 for an unknown code.
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

/* The nominal speed of one lane: 4 lanes of EDR are 100 Gbit/s. */
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
 * krdma_link_speed_mbps() - Compute the speed of a link
 * @speed_code: the speed of a lane, one bit
 * @width_code: the number of lanes, one bit
 *
 * The nominal speed, as for Ethernet links: the encoding overhead is not subtracted.
 *
 * Context: any.
 * Return: Mbit/s, 0 if either code is unknown.
 */
u32 krdma_link_speed_mbps(u32 speed_code, u32 width_code)
{
	return krdma_link_lane_mbps(speed_code) * krdma_link_lanes(width_code);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_speed_mbps);

/**
 * krdma_link_state() - Convert a port state code
 * @state_code: InfiniBand's code
 *
 * A port that recovers a link which is up (code 5, active deferred) counts as active.  An
 * unknown code does not promise a link.
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
 * krdma_link_ack_timeout() - Get the ACK timeout for an unknown path
 * @routed: there is a router on the path
 *
 * On Ethernet, rdma_cm assumes a constant that differs between kernels.
 *
 * Context: any.
 * Return: n, for a timeout of 4.096 us * 2^n.
 */
u8 krdma_link_ack_timeout(bool routed)
{
	return routed ? KRDMA_ACK_TIMEOUT_ROUTED : KRDMA_ACK_TIMEOUT;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_ack_timeout);

/**
 * krdma_link_knows_timeout() - Check whether the subnet manager's value for a path is long
 * enough
 * @packet_life_time: of the path: n, for 4.096 us * 2^n
 *
 * A round trip takes the path twice, and the connection manager adds the time that the devices
 * need.
 *
 * Context: any.
 * Return: true if the connection manager's timeout is at least KRDMA_ACK_TIMEOUT.
 */
bool krdma_link_knows_timeout(u8 packet_life_time)
{
	return packet_life_time + 1 >= KRDMA_ACK_TIMEOUT;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_link_knows_timeout);
