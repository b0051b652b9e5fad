/* SPDX-License-Identifier: GPL-2.0 */
/* Names of opcodes, states and events.  Pure functions. */
#ifndef _KRDMA_NAMES_H
#define _KRDMA_NAMES_H

#include "core/pure.h"

/* <krdma/krdma.h> declares these too, but a user-space program cannot include it. */
const char *krdma_opcode_name(enum krdma_opcode opcode);
const char *krdma_wc_status_name(enum krdma_wc_status status);
const char *krdma_conn_state_name(enum krdma_conn_state state);
const char *krdma_event_name(enum krdma_event_type type);

const char *krdma_device_event_name(enum krdma_device_event_type type);

#endif /* _KRDMA_NAMES_H */
