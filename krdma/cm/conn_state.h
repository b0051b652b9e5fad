/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states of a connection: one table, one function.  Pure.
 */
#ifndef _KRDMA_CONN_STATE_H
#define _KRDMA_CONN_STATE_H

#include "core/pure.h"

/* One past the last state. */
#define KRDMA_CONN_STATES	(KRDMA_CONN_CLOSED + 1)

/*
 * What can happen to a connection: calls of the consumer, events of the
 * connection manager, and things that come from elsewhere.
 */
enum krdma_conn_input {
	/* Calls.  Refused with an errno where they do not fit. */
	KRDMA_INPUT_RESOLVE,
	KRDMA_INPUT_CREATE_QP,		/* asks only: changes nothing */
	KRDMA_INPUT_CONNECT,
	KRDMA_INPUT_ACCEPT,
	KRDMA_INPUT_REJECT,
	KRDMA_INPUT_DISCONNECT,		/* the consumer wants to end it, telling the peer */
	KRDMA_INPUT_ABORT,		/* at once */

	/* Events of the connection manager.  Ignored where they do not fit. */
	KRDMA_INPUT_CM_ADDR_RESOLVED,
	KRDMA_INPUT_CM_ADDR_ERROR,
	KRDMA_INPUT_CM_ROUTE_RESOLVED,
	KRDMA_INPUT_CM_ROUTE_ERROR,
	KRDMA_INPUT_CM_CONNECT_REQUEST,
	KRDMA_INPUT_CM_CONNECT_RESPONSE,
	KRDMA_INPUT_CM_CONNECT_ERROR,
	KRDMA_INPUT_CM_UNREACHABLE,
	KRDMA_INPUT_CM_REJECTED,
	KRDMA_INPUT_CM_ESTABLISHED,
	KRDMA_INPUT_CM_DISCONNECTED,
	KRDMA_INPUT_CM_DEVICE_REMOVAL,
	KRDMA_INPUT_CM_ADDR_CHANGE,
	KRDMA_INPUT_CM_TIMEWAIT_EXIT,
	KRDMA_INPUT_CM_OTHER,

	/* From elsewhere.  Likewise. */
	KRDMA_INPUT_TRAFFIC,		/* a message of the peer's has arrived */
	KRDMA_INPUT_FATAL,		/* the queue pair is broken, or a step failed */
	KRDMA_INPUT_DEVICE_GONE,	/* the device is being removed */
	KRDMA_INPUT_GRACE_EXPIRED,		/* nobody answers the end, or tells of it */
	KRDMA_INPUT_TORN_DOWN,		/* nothing is left */

	KRDMA_INPUTS,
};

/* What becomes of an input.  0 is nothing: the table has to say. */
enum krdma_conn_verdict {
	KRDMA_STEP_REFUSE = 1,		/* nothing happens, and the caller is told why */
	KRDMA_STEP_IGNORE,		/* nothing happens */
	KRDMA_STEP_STAY,		/* it fits, in the same state */
	KRDMA_STEP_MOVE,		/* it fits, and leads to another state */
};

/* What a step entails besides the new state and the event. */
enum krdma_conn_action {
	KRDMA_ACTION_KEEP = 1 << 0,	/* the RDMA part begins: it keeps the object */
	KRDMA_ACTION_KICK = 1 << 1,	/* the work has something to do in the new state */
	KRDMA_ACTION_OWE = 1 << 2,	/* from here on the peer has to be told of the end */
	KRDMA_ACTION_OPEN = 1 << 3,	/* operations can be posted */
	KRDMA_ACTION_CLOSE = 1 << 4,	/* nothing can be posted any more */
	KRDMA_ACTION_END = 1 << 5,	/* the reason of the end is known now */
	KRDMA_ACTION_REASON = 1 << 6,	/* with END: the input's errno counts, if it has one */
	KRDMA_ACTION_COMPLETE = 1 << 7,	/* those who wait for the end have waited enough */
};

/**
 * struct krdma_conn_step - what an input does in a state
 * @verdict: &enum krdma_conn_verdict
 * @next: with KRDMA_STEP_MOVE: the new state
 * @event: what the consumer is told, &enum krdma_event_type; 0: nothing
 * @actions: &enum krdma_conn_action
 * @error: with KRDMA_STEP_REFUSE: what the caller is told.  With KRDMA_ACTION_END:
 *	why it ended.
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

#endif /* _KRDMA_CONN_STATE_H */
