/* SPDX-License-Identifier: GPL-2.0 */
/* What the cases of lanes share. */
#ifndef _KRDMA_CORE_LANES_H
#define _KRDMA_CORE_LANES_H

#include "fixture.h"

/* A pair, neither listening nor resolved, whose ends will be those of a lane. */
struct core_pair *lane_alloc(struct core_test *test);
/* The number of the trunk, 0 if the connection is not a lane. */
u64 lane_trunk(struct core_end *end);
bool lane_resolve(struct core_pair *pair);
/* Two ends of a lane. */
struct core_pair *lane_open(struct core_test *test);
/* Two more, of the same trunk and the same listener. */
struct core_pair *lane_open_beside(struct core_pair *pair);
void lane_close_beside(struct core_pair *other);

/*
 * The other side of a trunk, made by hand: in lane_peer_cases.c
 */

#define LANE_PORT	1019
#define LANE_FRAME	4096
#define LANE_FRAMES	16
#define LANE_HEADER	16

/* Types of records, see Documentation/lanes.rst. */
enum {
	FIND = 1, FOUND, OPEN, ACCEPT, REJECT, CLOSE, DATA, CREDIT,
	MEM_WRITE, MEM_READ, MEM_ATOMIC, RESULT, DONE, NAME, MR, WANT, RECALL, YIELD,
	ASK, WINDOW, REVOKE, REVOKED
};

/* As many lanes in a frame take longer to open than the next frame takes to arrive. */
#define LANE_OPENS	60

struct lane_stranger {
	struct core_end end;
	struct krdma_session *session;
	struct core_buffer from;
	struct core_buffer to;
};

extern const u8 lane_hello[24];

/* One that connects, with a receive for each frame. */
struct lane_stranger *lane_stranger_open(struct core_test *test, const u8 *hello, u8 length);
void lane_stranger_close(struct lane_stranger *stranger);

/* Writes a frame: each record has no data, and lane_add() returns the length so far. */
void lane_put(u8 *to, u32 value);
u32 lane_begin(struct lane_stranger *stranger);
u32 lane_add(struct lane_stranger *stranger, u32 used, u8 type, u8 flags, u32 lane, u32 value);
void lane_post(struct lane_stranger *stranger, u32 length, u32 grant);
/* The other end closes the connection at once, so the status is that of either. */
void lane_post_violation(struct lane_stranger *stranger, u32 length, u32 grant);

/* A message from the client of @pair arrives at its server. */
void lane_expect_alive(struct core_pair *pair);

/* Flags of parts. */
#define FIRST	1
#define LAST	2
#define IMM	4

/* Memory of the peer that a record names. */
struct lane_range {
	u64 addr;
	u32 key;
	/* MEM_ATOMIC: 1 or 2, compare and swap or fetch and add. */
	u32 length;
};

/*
 * Records with data: in lane_memory_cases.c
 */

void lane_put64(u8 *to, u64 value);
u32 lane_get(const u8 *from);
u64 lane_get64(const u8 *from);

/* Adds a record with @length bytes of @body, and returns the length of the frame so far. */
u32 lane_add_body(struct lane_stranger *stranger, u32 used, u8 type, u8 flags, u32 lane, u32 value,
		  const void *body, u16 length);
/* Adds a part of a write, of 64 bytes at most. */
u32 lane_add_write(struct lane_stranger *stranger, u32 used, u32 lane, u8 flags, u32 imm,
		   const struct lane_range *range, const void *data, u16 length);

#define LANE_HOST_PORT	4243

/* One that accepts, and has just answered that a listener at LANE_HOST_PORT takes lanes. */
struct lane_stranger *lane_host_open(struct core_test *test);
/* A client of the host, which is being resolved; and whether it is a lane then. */
struct krdma_conn *lane_host_resolve(struct lane_stranger *host, u16 port,
				     const struct sockaddr *local);
bool lane_host_resolved(struct lane_stranger *host, struct krdma_conn *conn);

extern const struct krdma_conn_attr lane_small;

u16 lane_port_of(struct core_pair *pair);
void lane_drop(struct krdma_conn *conn);
/* Closes what was asked for and given up. */
void lane_drop_requests(struct krdma_listener *listener);

#endif /* _KRDMA_CORE_LANES_H */
