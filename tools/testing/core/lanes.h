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

#endif /* _KRDMA_CORE_LANES_H */
