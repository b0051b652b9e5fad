/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state table of a connection.  Pure.
 */
#ifndef _KRDMA_CONN_STATE_H
#define _KRDMA_CONN_STATE_H

#include "core/conn_input.h"
#include "core/pure.h"

/* One past the last state. */
#define KRDMA_CONN_STATES	(KRDMA_CONN_CLOSED + 1)

/* Result of an input.  0 is not valid: each entry of the table must have a value. */
enum krdma_conn_verdict {
	KRDMA_STEP_REFUSE = 1,		/* nothing happens, and the call returns an errno */
	KRDMA_STEP_IGNORE,		/* nothing happens */
	KRDMA_STEP_STAY,		/* the input applies, and the state stays the same */
	KRDMA_STEP_MOVE,		/* the input applies, and the state changes */
};

/* Actions of a step besides the new state and the event. */
enum krdma_conn_action {
	KRDMA_ACTION_KEEP = 1 << 0,	/* the connection starts: take its own reference */
	KRDMA_ACTION_SCHEDULE = 1 << 1,	/* schedule the work item for the new state */
	KRDMA_ACTION_OWE = 1 << 2,	/* the peer has to be disconnected at the end */
	KRDMA_ACTION_OPEN = 1 << 3,	/* send work requests can be posted */
	KRDMA_ACTION_CLOSE = 1 << 4,	/* nothing can be posted any more */
	KRDMA_ACTION_END = 1 << 5,	/* set the reason of the end */
	KRDMA_ACTION_REASON = 1 << 6,	/* with END: use the input's errno, if it has one */
	KRDMA_ACTION_COMPLETE = 1 << 7,	/* complete the end */
};

/**
 * struct krdma_conn_step - result of an input in a state
 * @verdict: &enum krdma_conn_verdict
 * @next: with KRDMA_STEP_MOVE: the new state
 * @event: event for the consumer, &enum krdma_event_type; 0: none
 * @actions: &enum krdma_conn_action
 * @error: with KRDMA_STEP_REFUSE: the errno of the call.  With KRDMA_ACTION_END: the reason of
 *	the end.
 */
struct krdma_conn_step {
	u8 verdict;
	u8 next;
	u8 event;
	u8 actions;
	int error;
};

const struct krdma_conn_step *krdma_conn_find_step(enum krdma_conn_state state,
						   enum krdma_conn_input input);
int krdma_conn_call_refusal(enum krdma_conn_state state, enum krdma_conn_input call);
bool krdma_conn_is_settled(enum krdma_conn_state state);

#endif /* _KRDMA_CONN_STATE_H */
