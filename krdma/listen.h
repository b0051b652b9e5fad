/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Listeners, as connections see them.
 */
#ifndef _KRDMA_LISTEN_H
#define _KRDMA_LISTEN_H

#include "private.h"

/*
 * A connection comes to its end: it does not wait at its listener any more, if it
 * has one and still did.  After the end of its id, so that the handler that has
 * brought it is over.  Process context.
 */
void krdma_listener_forget(struct krdma_conn *conn);

#endif /* _KRDMA_LISTEN_H */
