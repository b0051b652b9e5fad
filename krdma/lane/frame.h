/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of a trunk: greetings, frames and their records.  Pure.
 */
#ifndef _KRDMA_LANE_FRAME_H
#define _KRDMA_LANE_FRAME_H

#include "core/pure.h"

/* The versions of the protocol that this file reads and writes. */
#define KRDMA_LANE_VERSION_MIN	1
#define KRDMA_LANE_VERSION_MAX	1

/* Length of a greeting; fits into the private data of a request, before krdma's trailer. */
#define KRDMA_LANE_HELLO_SIZE	24

/* A frame is one message of the link. */
#define KRDMA_LANE_FRAME_SIZE	4096
#define KRDMA_LANE_FRAME_SIZE_MIN	1024
#define KRDMA_LANE_FRAME_HEADER	16
#define KRDMA_LANE_RECORDS_MAX	64
#define KRDMA_LANE_RECORD_HEADER	16
#define KRDMA_LANE_RECORD_ALIGN	8

/*
 * Numbers before the private data of OPEN and ACCEPT, before the first part of a message, and of
 * requests for the peer's memory.
 */
#define KRDMA_LANE_OPEN_SIZE	8
#define KRDMA_LANE_TOTAL_SIZE	8
#define KRDMA_LANE_RANGE_SIZE	16
#define KRDMA_LANE_ATOMIC_SIZE	32

/* The number before a name, and those that describe an MR. */
#define KRDMA_LANE_OFFSET_SIZE	8
#define KRDMA_LANE_MR_SIZE	32

/* A name of an MR, in bytes. */
#define KRDMA_LANE_NAME_MAX	63

/* The rights of peers that an MR can have: &enum krdma_access. */
#define KRDMA_LANE_RIGHTS	14

/* Private data of OPEN, ACCEPT and REJECT, in bytes. */
#define KRDMA_LANE_DATA_MAX	251

/* A message that goes before ACCEPT, in bytes: it and its record fit into every frame. */
#define KRDMA_LANE_EARLY_MAX	(KRDMA_LANE_FRAME_SIZE_MIN - KRDMA_LANE_FRAME_HEADER - \
				 KRDMA_LANE_RECORD_HEADER)

/* Receives that a lane can want, or yield, at a time. */
#define KRDMA_LANE_WANT_MAX	65535

/* The fewest frames that a peer has to grant: two are for its grants. */
#define KRDMA_LANE_FRAMES_MIN	4

/* From this number on, a type that is not known is skipped. */
#define KRDMA_LANE_OPTIONAL	128

enum krdma_lane_record_type {
	KRDMA_LANE_FIND = 1,		/* does a listener at a port take lanes? */
	KRDMA_LANE_FOUND,		/* the answer */
	KRDMA_LANE_OPEN,		/* a lane to a port */
	KRDMA_LANE_ACCEPT,
	KRDMA_LANE_REJECT,
	KRDMA_LANE_CLOSE,
	KRDMA_LANE_DATA,		/* a message, or a part of one */
	KRDMA_LANE_CREDIT,		/* more receives were posted */
	KRDMA_LANE_WRITE,		/* to memory of the receiver, or a part of that */
	KRDMA_LANE_READ,		/* from memory of the receiver */
	KRDMA_LANE_ATOMIC,		/* on 8 bytes of it */
	KRDMA_LANE_RESULT,		/* answers READ and ATOMIC, or a part of that */
	KRDMA_LANE_DONE,		/* answers WRITE */
	KRDMA_LANE_NAME,		/* which MR of the receiver has this name? */
	KRDMA_LANE_MR,			/* the answer */
	KRDMA_LANE_WANT,		/* more receives are wanted */
	KRDMA_LANE_RECALL,		/* which receives are not needed? */
	KRDMA_LANE_YIELD,		/* the answer */
	KRDMA_LANE_ASK,			/* for a window to an MR of the receiver */
	KRDMA_LANE_WINDOW,		/* the answer */
	KRDMA_LANE_REVOKE,		/* use the window no longer */
	KRDMA_LANE_REVOKED,		/* the answer */
};

/* Flags of DATA, WRITE and RESULT. */
enum krdma_lane_data_flags {
	KRDMA_LANE_FIRST = 1 << 0,	/* the first part, except of RESULT */
	KRDMA_LANE_LAST = 1 << 1,	/* the last part */
	/* The value is immediate data: DATA with KRDMA_LANE_FIRST, WRITE with KRDMA_LANE_LAST. */
	KRDMA_LANE_IMM = 1 << 2,
};

#define KRDMA_LANE_DATA_FLAGS	(KRDMA_LANE_FIRST | KRDMA_LANE_LAST | KRDMA_LANE_IMM)

/* The operation of KRDMA_LANE_ATOMIC. */
enum krdma_lane_atomic {
	KRDMA_LANE_COMPARE_SWAP = 1,
	KRDMA_LANE_FETCH_ADD,
};

/* The value of KRDMA_LANE_FOUND. */
enum krdma_lane_find_result {
	KRDMA_LANE_NO_LISTENER,
	KRDMA_LANE_LISTENER,
	KRDMA_LANE_FOUNDS,
};

/* The value of KRDMA_LANE_REJECT. */
enum krdma_lane_reject_reason {
	KRDMA_LANE_REJECT_CONSUMER,	/* by the program, with its private data */
	KRDMA_LANE_REJECT_NO_LISTENER,	/* no listener at the port takes lanes */
	KRDMA_LANE_REJECT_FULL,		/* the listener's backlog, or a limit */
	KRDMA_LANE_REJECTS,
};

/* The value of KRDMA_LANE_CLOSE. */
enum krdma_lane_close_reason {
	KRDMA_LANE_CLOSE_DISCONNECT,	/* the program has disconnected */
	KRDMA_LANE_CLOSE_FAILED,	/* the lane cannot go on: a message did not fit, for one */
	KRDMA_LANE_CLOSE_ACCESS,	/* a request for memory that the peer may not access so */
	KRDMA_LANE_CLOSES,
};

/* The value of KRDMA_LANE_WINDOW. */
enum krdma_lane_window_result {
	KRDMA_LANE_WINDOW_NONE,		/* the MR is not to be accessed by a device */
	KRDMA_LANE_WINDOW_GIVEN,
	KRDMA_LANE_WINDOW_RESULTS,
};

/* The value of KRDMA_LANE_MR. */
enum krdma_lane_mr_result {
	KRDMA_LANE_MR_NONE,		/* no MR has the name */
	KRDMA_LANE_MR_FOUND,
	KRDMA_LANE_MR_LATER,		/* no memory for the answer now */
	KRDMA_LANE_MR_RESULTS,
};

/**
 * struct krdma_lane_hello - the greeting in the private data of a link's request or reply
 * @version_min: the lowest version that the sender speaks; in a reply: the chosen one
 * @version_max: the highest version that the sender speaks; in a reply: the chosen one
 * @frame_size: bytes of the longest frame that the sender takes
 * @frames: frames that the sender takes before it grants more
 * @lanes: lanes that the sender of a reply takes at a time; 0 in a request
 * @instance: a number of the sender's module, the same as long as it is loaded
 */
struct krdma_lane_hello {
	u8 version_min;
	u8 version_max;
	u16 frame_size;
	u16 frames;
	u32 lanes;
	u64 instance;
};

/**
 * struct krdma_lane_record - a record of a frame
 * @type: &enum krdma_lane_record_type, or an unknown type from KRDMA_LANE_OPTIONAL on
 * @flags: &enum krdma_lane_data_flags; 0 for the other types
 * @lane: number of the lane, of the question of FIND and FOUND, or of the window of REVOKE and
 *	REVOKED
 * @credits: ACCEPT, OPEN, CREDIT, DATA and WRITE: receives that the sender has for the lane since
 *	that began, with those that were yielded, modulo 2^32; otherwise 0
 * @value: FIND, OPEN: the port; with KRDMA_LANE_IMM: the immediate data; FOUND, MR, WINDOW,
 *	REJECT, CLOSE: the answer or the reason; DONE: WRITEs that the sender has carried out
 *	since the lane began, modulo 2^32; WANT, YIELD: a number of receives; ASK: the consumers'
 *	rkey; otherwise 0
 * @port: OPEN: port of the connecting side
 * @read_depth: OPEN, ACCEPT: reads and atomics that the sender issues at a time
 * @read_depth_in: OPEN, ACCEPT: reads and atomics that the sender serves at a time
 * @shared: OPEN, ACCEPT: the sender's receives are those of an SRQ
 * @early: OPEN: bytes of the longest message that may follow before ACCEPT; 0: none follows
 * @atomic: ATOMIC: &enum krdma_lane_atomic
 * @total: DATA and WRITE with KRDMA_LANE_FIRST: bytes of all parts; READ: bytes; MR, WINDOW: its
 *	rights
 * @key: WRITE with KRDMA_LANE_FIRST, READ, ATOMIC, MR: the rkey; WINDOW: the rkey of the link
 * @addr: with @key: the remote address; NAME: the offset in the MR
 * @operand: ATOMIC: what is compared, or added; MR: bytes of the whole MR; WINDOW: its number
 * @swap: ATOMIC, compare and swap: the new value; MR, WINDOW: bytes that the rkey covers
 * @data: the private data, the name, or the bytes of the message; NULL for krdma_lane_frame_add()
 *	if the caller fills them in
 * @length: bytes of @data
 */
struct krdma_lane_record {
	u8 type;
	u8 flags;
	u32 lane;
	u32 credits;
	u32 value;
	u16 port;
	u8 read_depth;
	u8 read_depth_in;
	bool shared;
	u16 early;
	u8 atomic;
	u32 total;
	u32 key;
	u64 addr;
	u64 operand;
	u64 swap;
	const u8 *data;
	u32 length;
};

/**
 * struct krdma_lane_reader - a frame that is being read
 * @grant: frames that the sender has granted since the link began, modulo 2^32
 * @next: the next record
 * @records: records that are left
 */
struct krdma_lane_reader {
	u32 grant;
	const u8 *next;
	u32 records;
};

/**
 * struct krdma_lane_writer - a frame that is being written
 * @frame: the frame
 * @size: size of @frame
 * @used: bytes written
 * @records: records written
 */
struct krdma_lane_writer {
	u8 *frame;
	u32 size;
	u32 used;
	u32 records;
};

void krdma_lane_hello_encode(const struct krdma_lane_hello *hello, u8 *bytes);
int krdma_lane_hello_decode(const void *data, u32 length, struct krdma_lane_hello *hello);
int krdma_lane_hello_choose(const struct krdma_lane_hello *hello, u8 *version);

int krdma_lane_frame_read(struct krdma_lane_reader *reader, const u8 *frame, u32 length);
bool krdma_lane_frame_next(struct krdma_lane_reader *reader, struct krdma_lane_record *record);

void krdma_lane_frame_begin(struct krdma_lane_writer *writer, u8 *frame, u32 size);
u32 krdma_lane_frame_left(const struct krdma_lane_writer *writer, u8 type, u8 flags);
u8 *krdma_lane_frame_add(struct krdma_lane_writer *writer,
			 const struct krdma_lane_record *record);
u32 krdma_lane_frame_end(struct krdma_lane_writer *writer, u32 grant);

#endif /* _KRDMA_LANE_FRAME_H */
