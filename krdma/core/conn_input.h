/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inputs of a connection's state table (cm/conn_state.h).  Tracepoints print them, and all
 * rooms have tracepoints.
 */
#ifndef _KRDMA_CONN_INPUT_H
#define _KRDMA_CONN_INPUT_H

/*
 * Inputs of the state table: calls of the consumer, events of the connection manager, and others.
 */
enum krdma_conn_input {
	/* Calls.  Refused with an errno in states where they are not possible. */
	KRDMA_INPUT_RESOLVE,
	KRDMA_INPUT_CREATE_QP,		/* a check only: changes nothing */
	KRDMA_INPUT_CONNECT,
	KRDMA_INPUT_ACCEPT,
	KRDMA_INPUT_REJECT,
	KRDMA_INPUT_DISCONNECT,		/* disconnect from the peer */
	KRDMA_INPUT_ABORT,		/* end at once */

	/* Events of the connection manager.  Ignored in states where they do not apply. */
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

	/* Other inputs.  Ignored in states where they do not apply. */
	KRDMA_INPUT_TRAFFIC,		/* a message of the peer has arrived */
	KRDMA_INPUT_FATAL,		/* the QP has failed, or a call failed */
	KRDMA_INPUT_DEVICE_GONE,	/* the device is being removed */
	KRDMA_INPUT_UNANSWERED,		/* no answer to the connection request */
	KRDMA_INPUT_GRACE_EXPIRED,		/* no answer, or no cause of a flush */
	KRDMA_INPUT_TORN_DOWN,		/* the teardown is complete */

	KRDMA_INPUTS,
};

#endif /* _KRDMA_CONN_INPUT_H */
