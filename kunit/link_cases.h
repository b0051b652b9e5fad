/* SPDX-License-Identifier: GPL-2.0 */
/* What krdma/core/link.c must make of the codes of ports. */
#ifndef _KRDMA_KUNIT_LINK_CASES_H
#define _KRDMA_KUNIT_LINK_CASES_H

#include "core/link.h"

#include "cases.h"

/* Every code that a provider could put into 16 bits, and the ends of 32. */
#define LINK_CODES	0x10000
static const u32 link_far_codes[] = {
	0x10000, 0x10001, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
};

static inline void link_check_mtu(struct case_report *report)
{
	static const u32 bytes[] = { 0, 256, 512, 1024, 2048, 4096, 8192, 10240 };

	for (u32 code = 0; code < LINK_CODES; code++)
		check_expect(report, "MTU", code, code < CASES(bytes) ? bytes[code] : 0,
			     krdma_link_mtu_bytes(code));
	for (u32 i = 0; i < CASES(link_far_codes); i++)
		check_expect(report, "MTU", link_far_codes[i], 0,
			     krdma_link_mtu_bytes(link_far_codes[i]));
}

/* One row per speed, one column per width: 1x 2x 4x 8x 12x. */
static const struct {
	u32 speed_code;
	u32 mbps[5];
} link_speeds[] = {
	{ 1,	{ 2500,		5000,	10000,	20000,		30000 } },	/* SDR */
	{ 2,	{ 5000,		10000,	20000,	40000,		60000 } },	/* DDR */
	{ 4,	{ 10000,	20000,	40000,	80000,		120000 } },	/* QDR */
	{ 8,	{ 10000,	20000,	40000,	80000,		120000 } },	/* FDR-10 */
	{ 16,	{ 14000,	28000,	56000,	112000,		168000 } },	/* FDR */
	{ 32,	{ 25000,	50000,	100000,	200000,		300000 } },	/* EDR */
	{ 64,	{ 50000,	100000,	200000,	400000,		600000 } },	/* HDR */
	{ 128,	{ 100000,	200000,	400000,	800000,		1200000 } },	/* NDR */
	{ 256,	{ 200000,	400000,	800000,	1600000,	2400000 } },	/* XDR */
};

static const u32 link_widths[] = { 1, 16, 2, 4, 8 };

static inline void link_check_speed(struct case_report *report)
{
	for (u32 i = 0; i < CASES(link_speeds); i++) {
		u32 speed = link_speeds[i].speed_code;

		for (u32 j = 0; j < CASES(link_widths); j++)
			check_expect(report, "speed", speed, link_speeds[i].mbps[j],
				     krdma_link_speed_mbps(speed, link_widths[j]));
	}
}

static inline bool link_is_width(u32 code)
{
	for (u32 i = 0; i < CASES(link_widths); i++)
		if (link_widths[i] == code)
			return true;
	return false;
}

static inline bool link_is_speed(u32 code)
{
	for (u32 i = 0; i < CASES(link_speeds); i++)
		if (link_speeds[i].speed_code == code)
			return true;
	return false;
}

/* An unknown code makes the speed unknown, whatever the other code is. */
static inline void link_check_unknown_speed(struct case_report *report)
{
	for (u32 code = 0; code < LINK_CODES; code++) {
		check_expect(report, "speed code", code, link_is_speed(code),
			     krdma_link_speed_mbps(code, 1) > 0);
		check_expect(report, "width code", code, link_is_width(code),
			     krdma_link_speed_mbps(1, code) > 0);
	}
	for (u32 i = 0; i < CASES(link_far_codes); i++) {
		check_expect(report, "speed code", link_far_codes[i], 0,
			     krdma_link_speed_mbps(link_far_codes[i], 1));
		check_expect(report, "width code", link_far_codes[i], 0,
			     krdma_link_speed_mbps(1, link_far_codes[i]));
	}
}

static inline void link_check_state(struct case_report *report)
{
	static const u32 states[] = {
		KRDMA_PORT_DOWN, KRDMA_PORT_DOWN, KRDMA_PORT_INIT, KRDMA_PORT_ARMED,
		KRDMA_PORT_ACTIVE, KRDMA_PORT_ACTIVE,
	};

	for (u32 code = 0; code < LINK_CODES; code++)
		check_expect(report, "state", code,
			     code < CASES(states) ? states[code] : KRDMA_PORT_DOWN,
			    krdma_link_state(code));
	for (u32 i = 0; i < CASES(link_far_codes); i++)
		check_expect(report, "state", link_far_codes[i], KRDMA_PORT_DOWN,
			     krdma_link_state(link_far_codes[i]));
}

/* The larger of the minimum and what is known of the path. */
static inline void link_check_ack_timeout(struct case_report *report)
{
	check_expect(report, "ack timeout", 0, 14, krdma_link_ack_timeout(false));
	check_expect(report, "ack timeout", 1, 17, krdma_link_ack_timeout(true));
	for (u8 life = 0; life < 64; life++)
		check_expect(report, "packet life time", life, life >= 13,
			     krdma_link_knows_timeout(life));
}

#endif /* _KRDMA_KUNIT_LINK_CASES_H */
