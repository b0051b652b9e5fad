// SPDX-License-Identifier: GPL-2.0
/*
 * Which branches have run: the compiler calls __sanitizer_cov_trace_pc() in each block of the
 * code under test.  This file is compiled without that.
 */
#include "parsers.h"

uint16_t cover_reached[COVER_PLACES];
unsigned int cover_count;

static uint8_t was_reached[COVER_PLACES];
static uintptr_t last;
static bool enabled;

/* A place is a pair of blocks that run one after the other. */
void __sanitizer_cov_trace_pc(void)
{
	uintptr_t pc = (uintptr_t)__builtin_return_address(0);
	uint64_t place = (pc ^ last << 1) * UINT64_C(0x9e3779b97f4a7c15) >> 48;

	if (!enabled)
		return;
	last = pc;
	if (was_reached[place])
		return;
	was_reached[place] = 1;
	cover_reached[cover_count++] = (uint16_t)place;
}

void cover_begin(void)
{
	for (unsigned int i = 0; i < cover_count; i++)
		was_reached[cover_reached[i]] = 0;
	cover_count = 0;
	last = 0;
	enabled = true;
}

void cover_end(void)
{
	enabled = false;
}
