/* SPDX-License-Identifier: GPL-2.0 */
/* Names of opcodes, states and events.  Pure functions. */
#ifndef _KRDMA_NAMES_H
#define _KRDMA_NAMES_H

#include "core/pure.h"

/* Has the other names. */
#include <krdma/krdma.h>

const char *krdma_device_event_name(enum krdma_device_event_type type);

#endif /* _KRDMA_NAMES_H */
