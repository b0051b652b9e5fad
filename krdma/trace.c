// SPDX-License-Identifier: GPL-2.0
/* Instantiates the tracepoints of trace.h. */
#define CREATE_TRACE_POINTS
#include "trace.h"

/* Each input has a name. */
#define KRDMA_VALUE(value, ...)	value,
static_assert(sizeof((u8[]){ KRDMA_INPUT_NAMES(KRDMA_VALUE, KRDMA_VALUE) }) == KRDMA_INPUTS);
