// SPDX-License-Identifier: GPL-2.0
/*
 * The state table of a connection: what each input does in each state.  Pure.
 *
 *	NEW -> RESOLVING_ADDRESS -> RESOLVING_ROUTE -> RESOLVED -> CONNECTING --.
 *	                                                                         \
 *	                                REQUESTED -> ACCEPTING -> CONNECTED <----'
 *	                                                              |
 *	                                                        DISCONNECTING
 *	                                                              |
 *	every state but CLOSED ----------------------------------> CLOSING -> CLOSED
 *
 * The tests check three rules:
 *
 * - CLOSING is entered once, and left by TORN_DOWN alone, so only one context tears the
 *   connection down.
 * - A connection that was CONNECTED ends with one of the events DISCONNECTED, LOST and
 *   DEVICE_REMOVAL.  A connection that was not ends with one event that gives the reason, or with
 *   none if its own consumer gave it up.  CLOSED comes last.
 * - Events of the connection manager that are late, or repeated, change nothing.
 */
#include "cm/conn_state.h"

#define REFUSE(errno) { .verdict = KRDMA_STEP_REFUSE, .error = -(errno) }
#define IGNORE { .verdict = KRDMA_STEP_IGNORE }
#define STAY { .verdict = KRDMA_STEP_STAY }
#define STAY_SCHEDULE { .verdict = KRDMA_STEP_STAY, .actions = KRDMA_ACTION_SCHEDULE }
#define STAY_EVENT(type) { .verdict = KRDMA_STEP_STAY, .event = KRDMA_EVENT_##type }

#define MOVE(state, what) {			\
	.verdict = KRDMA_STEP_MOVE,		\
	.next = KRDMA_CONN_##state,		\
	.actions = (what),			\
}

#define MOVE_EVENT(state, type, what) {		\
	.verdict = KRDMA_STEP_MOVE,		\
	.next = KRDMA_CONN_##state,		\
	.event = KRDMA_EVENT_##type,		\
	.actions = (what),			\
}

/* The transition to CLOSING; without an event if the consumer asked for it. */
#define END_ACTIONS (KRDMA_ACTION_CLOSE | KRDMA_ACTION_END | KRDMA_ACTION_SCHEDULE)
#define END(errno, what) {			\
	.verdict = KRDMA_STEP_MOVE,		\
	.next = KRDMA_CONN_CLOSING,		\
	.actions = END_ACTIONS | (what),	\
	.error = -(errno),			\
}

#define END_EVENT(type, errno) {			\
	.verdict = KRDMA_STEP_MOVE,		\
	.next = KRDMA_CONN_CLOSING,		\
	.event = KRDMA_EVENT_##type,		\
	.actions = END_ACTIONS,			\
	.error = -(errno),			\
}

/* The errno of the input takes precedence over that of the table. */
#define END_BY_INPUT(type, errno) {		\
	.verdict = KRDMA_STEP_MOVE,		\
	.next = KRDMA_CONN_CLOSING,		\
	.event = KRDMA_EVENT_##type,		\
	.actions = END_ACTIONS | KRDMA_ACTION_REASON, \
	.error = -(errno),			\
}

/* The consumer has asked for the disconnect, and the connection ends for whatever reason. */
#define END_ASKED END_EVENT(DISCONNECTED, ENOTCONN)

/* The peer knows of the connection, and messages can be exchanged. */
#define ESTABLISH MOVE_EVENT(CONNECTED, ESTABLISHED, KRDMA_ACTION_OWE | KRDMA_ACTION_OPEN)

/* The rows of the table use the order of the states, so ranges are readable. */
#define NEW			KRDMA_CONN_NEW
#define RESOLVING_ADDRESS	KRDMA_CONN_RESOLVING_ADDRESS
#define RESOLVING_ROUTE		KRDMA_CONN_RESOLVING_ROUTE
#define RESOLVED		KRDMA_CONN_RESOLVED
#define REQUESTED		KRDMA_CONN_REQUESTED
#define CONNECTING		KRDMA_CONN_CONNECTING
#define ACCEPTING		KRDMA_CONN_ACCEPTING
#define CONNECTED		KRDMA_CONN_CONNECTED
#define DISCONNECTING		KRDMA_CONN_DISCONNECTING
#define CLOSING			KRDMA_CONN_CLOSING
#define CLOSED			KRDMA_CONN_CLOSED

static const struct krdma_conn_step krdma_conn_steps[KRDMA_INPUTS][KRDMA_CONN_STATES] = {
	/*
	 * Calls
	 */
	[KRDMA_INPUT_RESOLVE] = {
		[NEW] = MOVE(RESOLVING_ADDRESS, KRDMA_ACTION_KEEP),
		[RESOLVING_ADDRESS ... ACCEPTING] = REFUSE(EALREADY),
		[CONNECTED] = REFUSE(EISCONN),
		[DISCONNECTING ... CLOSED] = REFUSE(ENOTCONN),
	},
	[KRDMA_INPUT_CREATE_QP] = {
		[NEW] = REFUSE(ENOTCONN),
		[RESOLVING_ADDRESS ... RESOLVING_ROUTE] = REFUSE(EBUSY),
		[RESOLVED ... REQUESTED] = STAY,
		[CONNECTING ... ACCEPTING] = REFUSE(EALREADY),
		[CONNECTED] = REFUSE(EISCONN),
		[DISCONNECTING ... CLOSED] = REFUSE(ENOTCONN),
	},
	[KRDMA_INPUT_CONNECT] = {
		[NEW] = REFUSE(ENOTCONN),
		[RESOLVING_ADDRESS ... RESOLVING_ROUTE] = REFUSE(EBUSY),
		[RESOLVED] = MOVE(CONNECTING, 0),
		[REQUESTED] = REFUSE(EINVAL),
		[CONNECTING ... ACCEPTING] = REFUSE(EALREADY),
		[CONNECTED] = REFUSE(EISCONN),
		[DISCONNECTING ... CLOSED] = REFUSE(ENOTCONN),
	},
	[KRDMA_INPUT_ACCEPT] = {
		[NEW ... RESOLVED] = REFUSE(EINVAL),
		/* The peer may consider itself connected before this side gets the event. */
		[REQUESTED] = MOVE(ACCEPTING, KRDMA_ACTION_OWE),
		[CONNECTING] = REFUSE(EINVAL),
		[ACCEPTING] = REFUSE(EALREADY),
		[CONNECTED] = REFUSE(EISCONN),
		[DISCONNECTING ... CLOSED] = REFUSE(ENOTCONN),
	},
	[KRDMA_INPUT_REJECT] = {
		[NEW ... RESOLVED] = REFUSE(EINVAL),
		[REQUESTED] = END(ECONNABORTED, 0),
		[CONNECTING] = REFUSE(EINVAL),
		[ACCEPTING] = REFUSE(EALREADY),
		[CONNECTED] = REFUSE(EISCONN),
		[DISCONNECTING ... CLOSED] = REFUSE(ENOTCONN),
	},
	[KRDMA_INPUT_DISCONNECT] = {
		[NEW ... ACCEPTING] = REFUSE(ENOTCONN),
		[CONNECTED] = MOVE(DISCONNECTING, KRDMA_ACTION_CLOSE | KRDMA_ACTION_SCHEDULE),
		[DISCONNECTING] = REFUSE(EALREADY),
		[CLOSING ... CLOSED] = REFUSE(ENOTCONN),
	},
	[KRDMA_INPUT_ABORT] = {
		[NEW] = END(ECONNABORTED, KRDMA_ACTION_KEEP),
		[RESOLVING_ADDRESS ... ACCEPTING] = END(ECONNABORTED, 0),
		[CONNECTED ... DISCONNECTING] = END_EVENT(DISCONNECTED, ECONNABORTED),
		[CLOSING ... CLOSED] = REFUSE(ENOTCONN),
	},

	/*
	 * Events of the connection manager
	 */
	[KRDMA_INPUT_CM_ADDR_RESOLVED] = {
		[NEW] = IGNORE,
		/* The handler itself resolves the route. */
		[RESOLVING_ADDRESS] = MOVE_EVENT(RESOLVING_ROUTE, ADDR_RESOLVED, 0),
		[RESOLVING_ROUTE ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_ADDR_ERROR] = {
		[NEW] = IGNORE,
		[RESOLVING_ADDRESS] = END_EVENT(ADDR_ERROR, EHOSTUNREACH),
		[RESOLVING_ROUTE ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_ROUTE_RESOLVED] = {
		[NEW ... RESOLVING_ADDRESS] = IGNORE,
		[RESOLVING_ROUTE] = MOVE_EVENT(RESOLVED, ROUTE_RESOLVED, 0),
		[RESOLVED ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_ROUTE_ERROR] = {
		[NEW ... RESOLVING_ADDRESS] = IGNORE,
		[RESOLVING_ROUTE] = END_EVENT(ROUTE_ERROR, EHOSTUNREACH),
		[RESOLVED ... CLOSED] = IGNORE,
	},
	/* For listeners only: it creates a connection. */
	[KRDMA_INPUT_CM_CONNECT_REQUEST] = {
		[NEW ... CLOSED] = IGNORE,
	},
	/* Only for consumers that change the state of their QP themselves. */
	[KRDMA_INPUT_CM_CONNECT_RESPONSE] = {
		[NEW ... CLOSED] = IGNORE,
	},
	/*
	 * The connection manager has moved the QP to the error state before it raises one of
	 * these two events.  A connection that the peer's first message had made CONNECTED is not
	 * connected any more.
	 */
	[KRDMA_INPUT_CM_CONNECT_ERROR] = {
		[NEW ... REQUESTED] = IGNORE,
		[CONNECTING ... ACCEPTING] = END_EVENT(CONNECT_ERROR, EIO),
		[CONNECTED] = END_EVENT(LOST, EIO),
		[DISCONNECTING] = END_ASKED,
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_REJECTED] = {
		[NEW ... RESOLVED] = IGNORE,
		/* The peer has given up. */
		[REQUESTED] = END_EVENT(REJECTED, ECONNRESET),
		[CONNECTING] = END_EVENT(REJECTED, ECONNREFUSED),
		[ACCEPTING] = END_EVENT(REJECTED, ECONNRESET),
		[CONNECTED] = END_EVENT(LOST, ECONNRESET),
		[DISCONNECTING] = END_ASKED,
		[CLOSING ... CLOSED] = IGNORE,
	},
	/*
	 * Also raised when the peer's link address has changed: the QP, or the route for it, has
	 * the old address.
	 */
	[KRDMA_INPUT_CM_UNREACHABLE] = {
		[NEW ... RESOLVING_ADDRESS] = IGNORE,
		[RESOLVING_ROUTE ... ACCEPTING] = END_EVENT(UNREACHABLE, ETIMEDOUT),
		[CONNECTED] = END_EVENT(LOST, ETIMEDOUT),
		[DISCONNECTING] = END_ASKED,
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_ESTABLISHED] = {
		[NEW ... REQUESTED] = IGNORE,
		[CONNECTING ... ACCEPTING] = ESTABLISH,
		[CONNECTED] = IGNORE,
		/* From here on the connection manager sends a disconnect. */
		[DISCONNECTING] = STAY_SCHEDULE,
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_DISCONNECTED] = {
		[NEW ... RESOLVED] = IGNORE,
		/* The peer was connected and has disconnected before this side got either event. */
		[REQUESTED ... ACCEPTING] = END_EVENT(CONNECT_ERROR, ECONNRESET),
		/* The input tells whether it was a disconnect, on transports that have one. */
		[CONNECTED] = END_BY_INPUT(DISCONNECTED, ECONNRESET),
		[DISCONNECTING] = END_ASKED,
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_DEVICE_REMOVAL] = {
		[NEW] = IGNORE,
		[RESOLVING_ADDRESS ... DISCONNECTING] = END_EVENT(DEVICE_REMOVAL, ENODEV),
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_ADDR_CHANGE] = {
		[NEW ... RESOLVING_ADDRESS] = IGNORE,
		[RESOLVING_ROUTE ... CONNECTED] = STAY_EVENT(ADDR_CHANGE),
		[DISCONNECTING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_TIMEWAIT_EXIT] = {
		[NEW ... CONNECTED] = IGNORE,
		[DISCONNECTING] = END_ASKED,
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_CM_OTHER] = {
		[NEW ... CLOSED] = IGNORE,
	},

	/*
	 * Other inputs
	 */
	/* A message does not go through the connection manager, so it can overtake its event. */
	[KRDMA_INPUT_TRAFFIC] = {
		[NEW ... CONNECTING] = IGNORE,
		[ACCEPTING] = ESTABLISH,
		[CONNECTED ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_FATAL] = {
		[NEW] = IGNORE,
		[RESOLVING_ADDRESS] = END_BY_INPUT(ADDR_ERROR, EIO),
		[RESOLVING_ROUTE] = END_BY_INPUT(ROUTE_ERROR, EIO),
		[RESOLVED ... ACCEPTING] = END_BY_INPUT(CONNECT_ERROR, EIO),
		[CONNECTED] = END_BY_INPUT(LOST, EIO),
		[DISCONNECTING] = END_ASKED,
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_DEVICE_GONE] = {
		[NEW] = IGNORE,
		[RESOLVING_ADDRESS ... DISCONNECTING] = END_EVENT(DEVICE_REMOVAL, ENODEV),
		[CLOSING ... CLOSED] = IGNORE,
	},
	/*
	 * The peer has the request and asked for patience, or has vanished since: the connection
	 * manager repeats the request for some 18 minutes.
	 */
	[KRDMA_INPUT_UNANSWERED] = {
		[NEW ... REQUESTED] = IGNORE,
		[CONNECTING] = END_EVENT(UNREACHABLE, ETIMEDOUT),
		[ACCEPTING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_GRACE_EXPIRED] = {
		[NEW ... REQUESTED] = IGNORE,
		/* Work requests were flushed, and no cause was reported. */
		[CONNECTING ... ACCEPTING] = END_EVENT(CONNECT_ERROR, EIO),
		[CONNECTED] = END_EVENT(LOST, EIO),
		[DISCONNECTING] = END_ASKED,
		[CLOSING ... CLOSED] = IGNORE,
	},
	[KRDMA_INPUT_TORN_DOWN] = {
		[NEW ... DISCONNECTING] = IGNORE,
		[CLOSING] = MOVE_EVENT(CLOSED, CLOSED, KRDMA_ACTION_COMPLETE),
		[CLOSED] = IGNORE,
	},
};

/* The states in between change by themselves, or by the peer's answer. */
static const bool krdma_conn_settled_states[KRDMA_CONN_STATES] = {
	[NEW] = true,
	[RESOLVED ... REQUESTED] = true,
	[CONNECTED] = true,
	[CLOSED] = true,
};

/**
 * krdma_conn_find_step() - Look up a step in the state table
 * @state: current state of the connection
 * @input: what has happened
 *
 * Context: any.
 * Return: the step; never NULL.
 */
const struct krdma_conn_step *krdma_conn_find_step(enum krdma_conn_state state,
						   enum krdma_conn_input input)
{
	return &krdma_conn_steps[input][state];
}
EXPORT_SYMBOL_IF_KUNIT(krdma_conn_find_step);

/**
 * krdma_conn_call_refusal() - Find out whether a state refuses a call
 * @state: current state of the connection
 * @call: the call, up to KRDMA_INPUT_ABORT
 *
 * Context: any.
 * Return: 0, or the negative errno with which the call is refused.
 */
int krdma_conn_call_refusal(enum krdma_conn_state state, enum krdma_conn_input call)
{
	const struct krdma_conn_step *step = krdma_conn_find_step(state, call);

	return step->verdict == KRDMA_STEP_REFUSE ? step->error : 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_conn_call_refusal);

/**
 * krdma_conn_is_settled() - Check whether a call is complete in a state
 * @state: the state
 *
 * Context: any.
 * Return: false while the connection is on its way from one settled state to another.
 */
bool krdma_conn_is_settled(enum krdma_conn_state state)
{
	return krdma_conn_settled_states[state];
}
EXPORT_SYMBOL_IF_KUNIT(krdma_conn_is_settled);
