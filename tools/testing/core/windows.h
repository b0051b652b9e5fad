/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the cases of windows share: a stranger that has a link to this host, and lane 1 there to a
 * listener with memory.  It uses windows to that memory, or gives windows to its own.
 */
#ifndef _KRDMA_CORE_WINDOWS_H
#define _KRDMA_CORE_WINDOWS_H

#include "lanes.h"

/* Bytes of the memory of each side. */
#define WINDOW_MEMORY	8192

/* What a record of WINDOW says. */
struct window {
	bool given;
	u64 addr;
	u64 length;
	u32 rkey;
	u32 rights;
	u32 number;
};

/**
 * struct windows - a stranger with a link to this host
 * @test: the case
 * @pair: has the listener, and a lane of another trunk
 * @stranger: the stranger
 * @lane: the listener's end of the stranger's lane 1
 * @memory: of the listener's session, for windows
 * @own: of the stranger
 * @frame: the frame that is read
 * @at: offset of its next record
 * @length: its length
 * @frames: frames that were read
 * @told: @frames when the last frame was sent
 * @grant: frames that are granted, beside @frames
 * @fixed: those are all that are granted
 */
struct windows {
	struct core_test *test;
	struct core_pair *pair;
	struct lane_stranger *stranger;
	struct core_end lane;
	struct core_buffer memory;
	struct core_buffer own;
	u8 frame[LANE_FRAME];
	u32 at;
	u32 length;
	u32 frames;
	u32 told;
	u32 grant;
	bool fixed;
};

struct windows *windows_begin(struct core_test *test);
/* Another stranger, with another lane 1. */
bool windows_again(struct windows *windows, u16 frames);
void windows_close(struct windows *windows);
/* Opens the next lane, and has it accepted. */
bool windows_open(struct windows *windows, struct core_end *end, u32 number);

void windows_post(struct windows *windows, u32 used);
void windows_violate(struct windows *windows, u32 used);
/* One record without data. */
void windows_say(struct windows *windows, u8 type, u32 lane, u32 value);
/* Adds an answer to ASK. */
u32 windows_add(struct windows *windows, u32 used, u32 lane, const struct window *window);
/* The next record, which stays as it is until the one after it, or NULL. */
const u8 *windows_next(struct windows *windows, u32 timeout_ms);
/* The next record has @type, and is of @lane. */
const u8 *windows_expect(struct windows *windows, u8 type, u32 lane);
bool windows_expect_none(struct windows *windows);
/* Violation @number has ended the link. */
bool windows_ended(struct windows *windows, const char *function, int line, int number);

#endif /* _KRDMA_CORE_WINDOWS_H */
