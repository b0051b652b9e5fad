// SPDX-License-Identifier: GPL-2.0
/* Instantiates the tracepoints of trace.h. */
#define CREATE_TRACE_POINTS
#include "trace.h"

/* Each input has a name. */
#define KRDMA_COUNT(value, name)	+ 1
static_assert(0 KRDMA_INPUT_NAMES(KRDMA_COUNT, KRDMA_COUNT) == KRDMA_INPUTS);
