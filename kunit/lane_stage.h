/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client and a server with lanes, on a fake device.
 */
#ifndef _KRDMA_KUNIT_LANE_STAGE_H
#define _KRDMA_KUNIT_LANE_STAGE_H

#include <linux/delay.h>
#include <linux/jiffies.h>

#include "stage.h"

struct krdma_lane;

/* Waits for what a work item or a timer does. */
#define lane_until(condition) ({						\
	unsigned long until_end = jiffies + STAGE_LONG;				\
	bool until_true;							\
										\
	do {									\
		msleep(20);							\
		until_true = (condition);					\
	} while (!until_true && time_before(jiffies, until_end));		\
	until_true;								\
})

/* As stage_new(), with a listener that takes lanes. */
struct stage *lane_stage(struct kunit *test);
struct stage *lane_stage_tuned(struct kunit *test, void (*tune)(struct fake_device *fake));

/* The steps; each must succeed. */
void lane_listen(struct stage *stage);
void lane_begin(struct stage *stage, struct actor *actor, u16 port);
void lane_resolve(struct stage *stage, struct actor *actor);
void lane_ask(struct stage *stage, struct actor *client, struct krdma_conn_attr *attr);
/* Both ends of a lane, with queues of so many work requests. */
void lane_join(struct stage *stage, struct actor *client, struct actor *server, u32 depth);
void lane_connect(struct stage *stage, u32 depth);

struct krdma_lane *lane_of(struct actor *actor);
/* Sends a message without data. */
int actor_message(struct actor *actor);

#endif /* _KRDMA_KUNIT_LANE_STAGE_H */
